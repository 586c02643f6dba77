"""Where along the budget algorithms differ over all tasks of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import run_checks, validation
from xcurves.core.packing import Floats
from xcurves.core.progress import progress_bar
from xcurves.core.validation import check_curves
from xcurves.kernels import task_profiles
from xcurves.kernels.shuffles import DEFAULT_RESAMPLES
from xcurves.multi_task import joining, options
from xcurves.multi_task.comparison_block import TaskBlock
from xcurves.multi_task.kinds import PROFILE_ACROSS_TASKS
from xcurves.multi_task.options import TaskGroups
from xcurves.multi_task.run_scores import score_fractions
from xcurves.preprocessing.budgets import check_fractions


def profile_across_tasks(
    curves: xr.DataArray,
    *,
    fractions: int | Sequence[float] = 20,
    task: str = "task",
    task_groups: TaskGroups | None = None,
    paired: bool = False,
    reference: Hashable | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    progress: bool = False,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Compare algorithms along the budget, over all tasks of a benchmark.

    Parameters
    ----------
    curves : DataArray, dims (..., task, algorithm, run, training)
        Scores, as for `across_tasks`.
    fractions : int or sequence of float, default 20
        Fractions of a task's budget, its last level: so many equal steps, or increasing numbers in (0, 1]. Scores
        between two levels of the task's grid are on the line between them.
    task : str, default "task"
        The dim of tasks.
    task_groups : str, sequence or DataArray, optional
        Families of tasks, as for `across_tasks`.
    paired : bool, default False
        Whether run ``j`` of a task is matched over algorithms, by seed or by data.
    reference : label, optional
        Compare every other algorithm with this one alone, "other - reference".
    n_resamples : int, optional
        Ceiling on the number of flips of signs for the difference: all distinct ones if they fit, else so many random
        ones. None: all up to a million, else 9,999. And the number of replicates for the band of a mean curve, 9,999
        by default.
    confidence_level : float, default 0.95
        Of each band.
    progress : bool, default False
        Show a bar over pairs while a result in memory is computed.
    rng : int, Generator or None
        Seed of the random flips and signs.

    Returns
    -------
    Dataset
        With the extra dims of `curves` but `task` in front. For tasks like these: `difference` (pair, budget_fraction)
        and `difference_band` (pair, budget_fraction, ci_bound) in score units, `pvalue` and `pvalue_adjusted` (pair,
        budget_fraction). For these tasks, in score units: `mean_curve` (algorithm, budget_fraction) over the tasks that
        have all algorithms and `mean_curve_band` (algorithm, budget_fraction, ci_bound). Counts: `n_tasks` and
        `n_resamples` (pair). NaN at fractions below the first level of a task.

    Raises
    ------
    ValueError, TypeError
        As `across_tasks`; if fractions are not increasing numbers in (0, 1].
    ImportError
        If `progress` is asked for and tqdm is not installed.

    Notes
    -----
    The signs of whole tasks or families are flipped, one vector for all fractions; p is adjusted over fractions by
    step-down max-\|T\|. The band of the difference is :math:`\Delta(f) \pm c \cdot s(f)`, where ``c`` is the critical
    value of the largest \|T\| over ``f`` of the differences less their mean; left out of fewer than four families.
    With four or five it is finite although no p of at most .05 exists.

    For the band of a mean curve whole residual runs get random signs, and every replicate is studentized by its own
    standard error. It is NaN where a task has one run, or runs are too few for a finite band.

    References
    ----------
    .. [1] Westfall, P. H. & Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.
    .. [2] Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical precipice. Advances in
       Neural Information Processing Systems 34. doi:10.48550/arXiv.2108.13264

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> rng = np.random.default_rng(0)
    >>> scores = xr.DataArray(
    ...     rng.normal(size=(8, 2, 5, 4)) + np.array([0.0, 1.0])[:, np.newaxis, np.newaxis],
    ...     dims=("task", "algorithm", "run", "training"),
    ...     coords={"task": list("abcdefgh"), "algorithm": ["old", "new"], "training": [1, 2, 3, 4]},
    ... )
    >>> profile = scores.curves.profile_across_tasks(fractions=4, reference="old", rng=0)
    >>> profile.budget_fraction.values.tolist()
    [0.25, 0.5, 0.75, 1.0]
    """
    curves = check_curves(curves, reserved=PROFILE_ACROSS_TASKS.reserved())
    task = options.check_task(curves, task)
    at = check_fractions("fractions", fractions)
    joined = joining.Joined.of(curves, task, reference, task_groups)
    sizes = {"pair": len(joined.pairs), "ci_bound": 2, "budget_fraction": len(at)}
    block = _ProfileBlock(
        PROFILE_ACROSS_TASKS.layout(sizes | {"algorithm": curves.sizes["algorithm"]}),
        **joined.options(n_resamples, paired, confidence_level, rng),
        progress=progress_bar(validation.check_flag("progress", progress) and curves.chunks is None, "pairs", "pair"),
    )
    scores = score_fractions(joined.ordered, task, at)
    packed = joining.apply(block, scores, task, block.layout.length, ["budget_fraction"])
    of_fractions = ("budget_fraction", at, {"long_name": "fraction of the training budget", "units": "1"})
    attrs = PROFILE_ACROSS_TASKS.attrs(
        curves,
        block.entropy,
        confidence_level,
        task=task,
        task_groups=joined.groups.name,
        paired=paired,
        reference=reference,
        n_resamples=n_resamples,
    )
    coords = {name: coord for name, coord in joined.coords.items() if task not in getattr(coord, "dims", coord[0])}
    variables = joined.unpack(block.layout, packed)
    return PROFILE_ACROSS_TASKS.dataset(
        variables, {**packed.coords, **coords, "budget_fraction": of_fractions}, attrs, curves
    )


@dataclass(frozen=True)
class _ProfileBlock(TaskBlock):
    """`profile_across_tasks` in a block of what is left when the tasks are joined."""

    progress: Callable[..., Iterable[Any]]

    def __call__(self, scores: Floats, numbers: NDArray[np.intp]) -> Floats:
        """Compare pairs, given scores of shape (..., task, algorithm, run, fraction)."""
        out = self.layout.blank(numbers.size)
        for name in ("n_tasks", "n_resamples"):
            out[name][:] = 0
        for place, own in enumerate(scores.reshape(numbers.size, *scores.shape[-4:])):
            name = self.names[numbers.ravel()[place]]
            self.check_matched(own, name)
            run_checks.check_size(own, [f"{name}{each}: " for each in self.tasks])
            self._profile({name: values[place] for name, values in out.items()}, own)
        return self.layout.pack(out, numbers.shape)

    def _profile(self, out: dict[str, Floats], scores: Floats) -> None:
        """Fill in the variables of one benchmark, scores of shape (task, algorithm, run, fraction)."""
        has = np.asarray(~np.isnan(scores).all(axis=-1))
        begun = np.asarray(~(np.isnan(scores) & has[..., np.newaxis]).any(axis=(0, 1, 2)))
        count = has.sum(axis=-1)
        with np.errstate(invalid="ignore"):
            means = np.nansum(scores, axis=2) / np.where(count > 0, count, np.nan)[..., np.newaxis]
        for number, (a, b) in enumerate(self.progress(self.pairs, total=len(self.pairs))):
            here = (count[:, a] > 0) & (count[:, b] > 0)
            out["n_tasks"][number] = here.sum()
            if not here.any():
                continue
            d = np.where(here[:, np.newaxis], means[:, a] - means[:, b], np.nan)[:, begun].T / here.sum()
            w = self.family_sums(np.where(here, 1 / here.sum(), np.nan))
            x, plan = self.flips(self.family_sums(d))
            found = task_profiles.profile_difference(x, w[~np.isnan(w)], plan, self.alpha)
            out["n_resamples"][number] = plan.n_flips
            for name in ("difference", "difference_band", "pvalue", "pvalue_adjusted"):
                out[name][number][begun] = found[name]
        complete = (count > 0).all(axis=1)
        if not complete.any():
            return
        front = np.argsort(~has, axis=-1, kind="stable")[..., np.newaxis]
        compact = np.take_along_axis(scores, front, axis=2)[complete][..., begun]
        n_replicates = DEFAULT_RESAMPLES if self.n_resamples is None else self.n_resamples
        for algorithm in range(scores.shape[1]):
            own = task_profiles.mean_curve(compact[:, algorithm], n_replicates, self.alpha, self.entropy)
            for name, values in own.items():
                out[name][algorithm][begun] = values
