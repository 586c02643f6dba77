"""Planned contrasts of algorithms over a profile of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.anova.contrast_weights import Weights, check_weights
from xcurves.anova.kinds import CONTRAST
from xcurves.core import labels, provenance, run_checks, validation
from xcurves.core.chunking import coarsen
from xcurves.core.packing import Floats
from xcurves.core.task_blocks import Block, alike, apply_block, as_float, block_options, in_given_order, in_label_order
from xcurves.core.validation import check_curves
from xcurves.kernels import contrasts
from xcurves.kernels.contrasts import Alternative


def contrast(
    curves: xr.DataArray,
    weights: Weights,
    *,
    training_weights: xr.DataArray | Sequence[float] | None = None,
    n_resamples: int | None = None,
    paired: bool = False,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Test one planned comparison of algorithms, over all of training or a profile of it.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, as for `randomized_anova`.
    weights : mapping, Series or DataArray
        Weights of the algorithms, which sum to zero; algorithms that are not named have none. A DataArray of dims
        (algorithm, training) must be separable, one profile over training times one weight per algorithm.
    training_weights : DataArray with dim training, or sequence, optional
        Profile over training. Nonnegative weights are divided by their sum: a mask gives the mean of its levels.
        Weights of both signs (a slope) are used as they are. By default the mean over the task's grid.
    n_resamples : int, optional
        Largest number of reassignments, as for `randomized_anova`. A contrast has a sign: 3 v 3 runs have 20, not 10.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms.
    alternative : {"two-sided", "less", "greater"}
        The alternative hypothesis about the contrast, as in SciPy.
    confidence_level : float, default 0.95
        Of the interval, which is one-sided if `alternative` is.
    rng : int, Generator or None
        Seed of the random reassignments.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front: `pvalue`, `statistic` (T), `estimate` and `estimate_ci` (ci_bound) in
        score units, `n_resamples`, `n_assignments`; and what was given, `weights` (algorithm) and
        `training_weights` (training; NaN for the mean over each task's grid). `n_runs` (algorithm), 0 where there is no
        weight.

    Raises
    ------
    ValueError, TypeError
        If weights do not sum to zero, are all equal, name unknown algorithms or levels, or are not separable; if an
        algorithm with a weight has fewer than two runs; and as `randomized_anova`.

    Warns
    -----
    UserWarning
        If so few reassignments exist that no p-value can reach ``1 - confidence_level``. Not for dask-backed curves.

    Notes
    -----
    Every curve is reduced to one number by the same profile, :math:`u_{ij} = \sum_h b_h y_{ijh}`, and

    .. math:: T = \frac{\sum_i a_i \bar u_i}{\sqrt{\sum_i a_i^2 s_i^2 / l_i}}

    is recomputed for each relabelling of the curves of the algorithms with a weight, and of these only; paired, it is
    the one-sample t of :math:`D_j = \sum_i a_i u_{ij}` under relabelling within runs. Exact if curves are exchangeable,
    otherwise asymptotically right, since T is studentized. From few runs it need not hold its level: with standard
    deviations 1 v 4 it rejects .06 of true nulls at a level of .05 for 10 v 10 runs, .08 for 15 v 5 and .05 for 60 v 20
    (unstudentized .21 and .004), and .10 for skewed (exponential) scores, 10 v 10. The two-sided p is the share of
    relabellings with :math:`|T^*| \ge |T|`; twice the smaller one-sided one, as in SciPy, would reject .16 there. The
    interval goes from the smallest to the largest shift that the test does not reject; it assumes that algorithms
    differ by a shift, which the test does not. Runs of algorithms without a weight are not shuffled: otherwise the
    level would depend on the scores of those algorithms.

    References
    ----------
    .. [1] Janssen, A. (1997). Studentized permutation tests for non-i.i.d. hypotheses and the generalized
       Behrens-Fisher problem. Statistics & Probability Letters 36, 9-21. doi:10.1016/S0167-7152(97)00043-6
    .. [2] Chung, E. & Romano, J. P. (2013). Exact and asymptotically robust permutation tests.
       Annals of Statistics 41, 484-507. doi:10.1214/13-AOS1090

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> late = scores.training > 2000
    >>> test = scores.curves.contrast({"rate 0.1": 1, "rate 0.8": -1}, training_weights=late, rng=0)
    >>> round(test.estimate.item(), 3)
    3.433
    >>> int(test.n_assignments)
    184756
    """
    given, curves = curves, check_curves(curves, reserved=CONTRAST.reserved())
    validation.check_choice("alternative", alternative, ("two-sided", "less", "greater"))
    over_algorithms, profile = check_weights(curves, weights, training_weights)
    every = in_label_order(curves)
    of_every = in_label_order(over_algorithms).to_numpy()
    ordered = every.isel(algorithm=of_every != 0)
    block = _ContrastBlock(
        CONTRAST.layout({"ci_bound": 2, "algorithm": len(of_every)}),
        **block_options(curves, ordered, n_resamples, paired, confidence_level, rng),
        weights=of_every,
        alternative=alternative,
    )
    arrays = _reduce(ordered, profile, paired=block.paired)
    packed = apply_block(
        block, arrays, [["algorithm", "run"], ["algorithm", "run"], [], []], block.layout.length, given
    )
    variables: dict[str, xr.Variable] = block.layout.unpack(packed)
    variables |= {"weights": over_algorithms.variable, "training_weights": profile.variable}
    variables["n_runs"] = in_given_order(variables["n_runs"], every, curves)
    attrs = CONTRAST.attrs(
        curves,
        block.entropy,
        confidence_level,
        n_resamples=n_resamples,
        paired=paired,
        alternative=alternative,
    )
    coords = {**packed.coords, **over_algorithms.coords, **profile.coords}
    result = CONTRAST.dataset(variables, coords, attrs, curves)
    if curves.chunks is None:
        _warn(result, block)
        provenance.record_exact_rng(result, rng)
    return result


@dataclass(frozen=True)
class _ContrastBlock(Block):
    """One contrast in a block of tasks; `weights` are those of all algorithms, also of those that have none."""

    weights: Floats
    alternative: Alternative

    def __call__(
        self, u: Floats, counts: Floats, n_levels: Floats, uncovered: Floats, numbers: NDArray[np.int64]
    ) -> Floats:
        """Test the contrast in tasks whose reduced curves and counts, shape (..., algorithm, run), are given."""
        names = [self.names[number] for number in numbers.ravel()]
        n_levels, u = n_levels.ravel(), u.reshape(len(names), -1)
        present = run_checks.check_runs(counts, n_levels, names, self.algorithms, self.runs)
        out = self.layout.blank(len(names))
        out["n_resamples"][:] = out["n_runs"][:] = 0
        out["n_runs"][:, self.weights != 0] = present.sum(axis=-1)
        for task in np.flatnonzero((uncovered.ravel() > 0) & (n_levels > 0))[:1]:
            raise ValueError(
                f"{names[task]}training_weights gives weight to levels that no run has. "
                "Give weight to the task's own training levels"
            )
        for tasks in alike(present, n_levels):
            run_checks.check_contrasted(
                present[tasks[0]], names[tasks[0]], self.algorithms, self.runs, paired=self.paired
            )
            sizes = tuple(present[tasks[0]].sum(axis=1).tolist())
            plan = self.plan(sizes, labelled=True)
            chosen = u[np.ix_(tasks, np.flatnonzero(present[tasks[0]]))]
            design = contrasts.ContrastDesign(chosen, sizes, self.weights[self.weights != 0], self.paired)
            found = contrasts.contrast_tests(design, plan, self.alternative, self.alpha)
            found.pop("estimate_ci_gap")
            for name, values in found.items():
                out[name][tasks] = values
            out["n_resamples"][tasks] = plan.n_resamples
            out["n_assignments"][tasks] = as_float(plan.n_assignments)
        return self.layout.pack(out, numbers.shape)


def _warn(result: xr.Dataset, block: _ContrastBlock) -> None:
    """Warn once if no p-value can be small enough: then no shift at all is rejected."""
    n_resamples = result["n_resamples"].to_numpy().ravel()
    unbounded = (abs(result["estimate_ci"]) == np.inf).all("ci_bound").to_numpy().ravel()
    provenance.warn_of(
        unbounded & (n_resamples > 0),
        block.names,
        lambda task: (
            f"{n_resamples[task]} reassignments allow no p of {block.alpha:g} or below, and the interval is unbounded"
        ),
    )


def _reduce(curves: xr.DataArray, profile: xr.DataArray, *, paired: bool) -> tuple[xr.DataArray, ...]:
    """Reduce every curve by the profile: numbers, counts of levels, the tasks' levels, weight outside them.

    Sums are divided by the number of levels at the end, so that chunked curves are read once.
    """
    curves = coarsen(curves, labels.DIMS)
    curves = curves if curves.chunks is None else curves.chunk(algorithm=-1, run=-1)
    has = curves.notnull()
    finite = curves.where(np.isfinite(curves))
    in_grid = has.any(["algorithm", "run"])
    n_levels = in_grid.sum("training").astype(np.float64)
    means = profile.isnull().all()  # then the mean over each task's grid
    by, divisor = (xr.ones_like(profile), n_levels.where(n_levels > 0, 1)) if means else (profile, 1.0)
    common = finite.mean("algorithm" if paired else ["algorithm", "run"])  # taking it away leaves every contrast
    centred = (finite - common).fillna(0)
    counts = has.sum("training").where(has.sum("training") == finite.notnull().sum("training"))
    uncovered = (abs(profile).fillna(0) * ~in_grid).sum("training")
    return (centred * by).sum("training") / divisor, counts, n_levels, uncovered
