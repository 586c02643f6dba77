"""The randomized two-way analysis of variance of performance curves."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.anova import kinds
from xcurves.anova.designs import design_of, reductions
from xcurves.array_types import Floats
from xcurves.core import labels, provenance, run_checks, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.jobs import AtMost, Group, Reduce
from xcurves.core.refusal import Refusal
from xcurves.core.run_checks import Context, as_float
from xcurves.core.validation import check_curves
from xcurves.kernels.one_task import welch
from xcurves.kernels.resampling import plans, sums
from xcurves.kernels.resampling.engine import Progress


def randomized_anova(
    curves: xr.DataArray,
    *,
    n_resamples: int | None = None,
    paired: bool = False,
    level_test: Literal["f", "welch"] | None = None,
    confidence_level: float = 0.95,
    keep_null: bool = False,
    progress: bool | None = None,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Test whether algorithms differ in level and in shape, by shuffling whole curves.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores. A run that an algorithm does not have is NaN along all of `training`; any further dims (tasks)
        broadcast, each task with its own runs, algorithms and training levels.
    n_resamples : int, optional
        Largest number of reassignments: all distinct ones, each once, if there are no more than this, else
        this many random ones. By default all up to a million, else 9,999 random ones.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms (same fold, seed or data). Then algorithms are permuted within
        each run. Never inferred from equal labels.
    level_test : {None, "f", "welch"}
        Which test of the algorithm effect speaks in sentences and tables: F by `split_plot`, or Welch's. Choose before
        you look at scores. By default Welch's in a task with unequal numbers of unpaired runs, F otherwise.
    confidence_level : float, default 0.95
        One minus the significance level of `critical_value`.
    keep_null : bool, default False
        Return the F ratio of every reassignment too. With dask-backed curves this means random shuffles.
    progress : bool, optional
        Show a tqdm bar (extra ``progress``); by default in a terminal or notebook, if the call will take more than 5 s.
        Of dask-backed curves use dask's own.
    rng : int, Generator or None
        Seed of the random reassignments. An int gives the same ones each time; from a Generator the seed is drawn.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front. On (effect, error_term), with effects ``algorithm`` and
        ``interaction`` and error terms ``pooled``, ``split_plot`` and ``welch``: `pvalue`, `f`, `critical_value`,
        `pvalue_stderr`, `pvalue_parametric`, `eta_sq_partial`, `omega_sq_partial`, `eta_sq_generalized` (the same for
        both terms), `error_ss`, `error_df`. ``welch`` has only the algorithm effect of unpaired runs, without sums of
        squares and effect sizes; the rest is NaN. If an algorithm has one run, all of ``welch`` is NaN. On (source):
        `ss` (in squared score units) and `df` of interaction, algorithm, training, error and total. On (algorithm):
        `n_runs`. Scalars: `sd_ratio`, the largest over the smallest standard deviation of the algorithms' curve means,
        and `sd_ratio_limit`, its 0.95 quantile under equal normal spread (NaN if paired); `level_test`, which test of
        level speaks, 0 for F and 1 for Welch's; `n_levels`, `n_resamples`, `n_assignments`. With `keep_null` also
        `null_distribution` (effect, error_term, resample) and the paper's `pvalue_rank`.

    Raises
    ------
    ValueError, TypeError
        If dims, coordinates or options are not as described; if a run lacks some of its task's levels or is
        infinite; if fewer than two algorithms have runs, or none has two; if `paired` and runs do not match.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    Warns
    -----
    UserWarning
        If so few assignments exist that no p-value can reach ``1 - confidence_level``; if an F ratio is 0 / 0 or a
        task has no runs. Not for dask-backed curves, where these are facts in the result.

    Notes
    -----
    The shuffled unit is the whole curve, so dependence along training is preserved [1]_. With ``l_i`` of ``N``
    curves and ``k`` levels,

    .. math:: F_{alg} = \frac{k \sum_i l_i (\bar y_i - \bar y)^2 / (m - 1)}{SS_{error} / df_{error}}, \quad
              F_{int} = \frac{\sum_{ih} l_i (\bar y_{ih} - \bar y_i - \bar y_h + \bar y)^2 / ((m-1)(k-1))}
              {SS_{error} / df_{error}}

    *Two error terms.* The paper's ``pooled`` error, ``k (N - m)`` df, mixes differences between runs with changes
    within runs. Shuffling tests the joint null of no effect at all; with the pooled error a real effect of one kind
    can make the test of the other reject. ``split_plot`` is the split-plot error: runs within algorithms for the
    algorithm effect, runs by training within algorithms for the interaction. Conclusions should rest on it. If
    paired, they are algorithm by run, and algorithm by run by training.

    *Unequal spread.* ``welch`` is Welch's statistic [4]_ of curve means, recomputed in every reassignment. If spreads
    differ, F rejects too often with three algorithms or more and with unequal numbers; ``welch`` is nearer to its
    level, at the price of power where spreads are equal. It is no cure: with 2, 5 and 5 runs and standard deviations 4,
    1 and 1 it rejects .16 of true nulls at .05, F .32. Which of the two speaks does not depend on scores: to choose by
    `sd_ratio`, which only describes, makes one test of two and rejects .14 to .19.

    *Effect sizes.* Partial omega squared is
    :math:`df (F - 1) / (df (F - 1) + n)`, the share of the effect's variance in its sum with that of its error [2]_.
    The values that vary are N means of curves for the algorithm effect by ``split_plot``, so that n = N, and otherwise
    N k scores. Its mean is about 0 without an effect, where that of eta squared is (m - 1) / (N - 1) for the algorithm
    effect by ``split_plot``, unpaired: 4 / 14 for five algorithms of three runs.

    *p-values.* Exact: the share of distinct assignments, the observed one included, whose F is at least the observed.
    Random: ``(1 + count) / (1 + n_resamples)``. Ties count as at least the observed: sums of squares are tied if they
    agree within 1e-10 of the sum of squares of the effect and its own error.

    References
    ----------
    .. [1] Piater, J. H., Cohen, P. R., Zhang, X. & Atighetchi, M. (1998). A randomized ANOVA procedure for comparing
       performance curves. Proc. 15th Int. Conf. on Machine Learning, 430-438.
    .. [2] Olejnik, S. & Algina, J. (2003). Generalized eta and omega squared statistics.
       Psychological Methods 8(4), 434-447. doi:10.1037/1082-989X.8.4.434
    .. [3] Phipson, B. & Smyth, G. K. (2010). Permutation p-values should never be zero.
       Stat. Appl. Genet. Mol. Biol. 9(1). doi:10.2202/1544-6115.1585
    .. [4] Welch, B. L. (1951). On the comparison of several mean values: an alternative approach.
       Biometrika 38, 330-336. doi:10.1093/biomet/38.3-4.330

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> result = scores.curves.randomized_anova(rng=0)
    >>> result.pvalue.dims
    ('effect', 'error_term')
    >>> int(result.n_resamples)
    9999
    """
    scores = check_curves(curves, levels=False, reserved=kinds.RANDOMIZED_ANOVA.reserved())
    context = Context.of(scores, n_resamples, paired, confidence_level, rng)
    if level_test is not None:
        validation.check_choice("level_test", level_test, ("f", "welch"))
    if paired and level_test == "welch":
        raise Refusal(
            "level_test",
            "welch",
            "needs unpaired runs; paired ones have one group",
            "Leave level_test out",
        )
    lazy = is_lazy(scores)
    # A lazy result keeps random reassignments, so that their number is known beforehand.
    n_kept = 0
    when: list[str] = []
    if validation.check_flag("keep_null", keep_null):
        n_kept = context.n_resamples or plans.DEFAULT_RESAMPLES
        when.append("keep_null")
    kernel = partial(
        anova_kernel,
        level_test=level_test,
        keep=bool(keep_null),
        allow_exact=not (keep_null and lazy),
        progress=validation.check_progress(progress, lazy=lazy),
    )
    result = per_task(
        kinds.RANDOMIZED_ANOVA,
        kernel,
        scores,
        context=context,
        sizes={"resample": AtMost(n_kept)},
        when=when,
        reduce=Reduce(by=reductions(paired=context.paired)),
        attrs={"n_resamples": n_resamples, "paired": paired, "level_test": level_test},
        cure=curves,
        warn=partial(_warn_of_anova, context=context),
    )
    result["level_test"].attrs |= {
        "flag_values": np.arange(2, dtype=np.int8),
        "flag_meanings": "f welch",
    }
    return result


def anova_kernel(
    group: Group,
    *,
    level_test: str | None,
    keep: bool,
    allow_exact: bool,
    progress: Progress,
) -> dict[str, Any]:
    """Test alike tasks by F, and unpaired ones by Welch's statistic too."""
    context = group.context
    run_checks.check_groups(
        group.present,
        group.names[0],
        group.algorithms,
        context.runs,
        paired=context.paired,
    )
    design = design_of(group)
    plan = context.plan(group.sizes, allow_exact=allow_exact)
    moments_of_curves = group.data[0]
    by_f = sums.sums_of_squares_table(design, moments_of_curves.level_ss)
    by_f |= sums.f_tests(design, plan, context.alpha, keep=keep, progress=progress)

    # Matched runs have one spread: Welch's statistic is of unpaired ones.
    by_welch: dict[str, Floats] = {}
    spreads: dict[str, Any] = {}
    if not context.paired:
        by_welch = welch.welch_tests(design.means, plan, context.alpha, keep=keep)
        spreads = _spreads(design)
    tests = {name: _with_welch(values, by_welch.get(name)) for name, values in by_f.items()}
    return {
        **tests,
        **spreads,
        "level_test": int(_is_by_welch(group, level_test)),
        "n_levels": moments_of_curves.n_levels,
        "n_resamples": plan.n_resamples,
        "n_assignments": as_float(plan.n_assignments),
    }


def _is_by_welch(group: Group, level_test: str | None) -> bool:
    """Return whether Welch's test of level speaks: where it was asked for, or numbers of runs are unequal."""
    if group.context.paired or min(group.sizes) < 2:
        return False
    if level_test is None:
        return len(set(group.sizes)) > 1
    return level_test == "welch"


def _with_welch(values: Floats, of_welch: Floats | None) -> Floats:
    """Add Welch's error term, of the algorithm effect only, to variables of shape (task, effect, error_term, ...)."""
    if values.ndim < 3:
        return values
    every = np.full((*values.shape[:2], 3, *values.shape[3:]), np.nan)
    every[:, :, :2] = values
    if of_welch is not None:
        every[:, 0, 2] = of_welch
    return every


def _spreads(design: sums.AnovaDesign) -> dict[str, Any]:
    """Return the ratio of spreads and its 0.95 quantile under equal spread; nothing if fewer than two are known."""
    several = tuple(size for size in design.sizes if size > 1)
    if len(several) < 2:
        return {}
    ratio = welch.spread_ratio(design.means, design.sizes)
    return {
        "sd_ratio": ratio,
        "sd_ratio_limit": welch.ratio_quantile(tuple(sorted(several)), 0.95),
    }


def _warn_of_anova(result: xr.Dataset, context: Context) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first task."""
    n_tasks = len(context.names)
    n_levels = result.variables["n_levels"].to_numpy().ravel()
    sizes = result.variables["n_runs"].to_numpy().reshape(n_tasks, -1)
    n_assignments = result.variables["n_assignments"].to_numpy().ravel()
    exact = provenance.is_exact(result).ravel()
    smallest = provenance.smallest_reachable(result).ravel()
    too_small = ~provenance.significant(smallest, context.alpha) & (n_levels > 0)

    # F is expected of the level from one training level, of the shape from two.
    f = result.variables["f"].to_numpy().reshape(n_tasks, 2, 3)[..., :2]
    has_effect = n_levels[:, np.newaxis] > np.array([0, 1])
    undefined = np.isnan(f) & has_effect[..., np.newaxis]

    def no_run(_: int) -> str:
        return "no run has a value; the result is NaN"

    def zero_by_zero(task: int) -> str:
        effects = " and ".join(np.array(labels.EFFECTS)[undefined[task].any(axis=-1)])
        return f"differences and error are both zero: F is 0 / 0 and p is NaN ({effects})"

    def unreachable(task: int) -> str:
        few = "n_resamples is small"
        if exact[task]:
            runs = " v ".join(str(size) for size in sizes[task] if size)
            few = f"{runs} runs allow {n_assignments[task]:g} assignments"
        return f"{few}; no p below {smallest[task]:.3g} exists"

    provenance.warn_of(n_levels == 0, context.names, no_run)
    provenance.warn_of(undefined.any(axis=(1, 2)), context.names, zero_by_zero)
    provenance.warn_of(too_small, context.names, unreachable)
