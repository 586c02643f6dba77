"""Where along the budget algorithms differ over all tasks of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats, Index
from xcurves.core import direction, labels, magnitudes, task_dims, validation
from xcurves.core.driver import is_lazy, number_of_run, per_task, reduce_runs
from xcurves.core.jobs import Group
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.core.weights import run_numbers
from xcurves.frames.budgets import check_fractions
from xcurves.kernels import ragged
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.over_tasks import t_scale, task_flips
from xcurves.kernels.over_tasks.pair_members import OwnMembers, PairTotals, totals
from xcurves.kernels.over_tasks.sign_plans import Signs
from xcurves.kernels.resampling import plans
from xcurves.kernels.resampling.plans import DEFAULT_RESAMPLES
from xcurves.multi_task import kinds, task_options
from xcurves.multi_task.comparison import JoinedTasks
from xcurves.multi_task.task_options import TaskGroups, at_common_levels, refuse_strangers

_OF_MEAN = ("difference", "difference_ci_simultaneous")
_INTERVALS = ("difference_ci", "difference_ci_simultaneous")


def profile_across_tasks(
    curves: xr.DataArray,
    *,
    fractions: int | Sequence[float] = 20,
    task: str | Sequence[str] = "task",
    task_groups: TaskGroups | None = None,
    paired: bool = False,
    reference: Hashable | None = None,
    higher_is_better: bool | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    progress: bool | None = None,
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
    task, task_groups, paired, reference : str or sequence of str, str, sequence or DataArray, bool, and label
        As for `across_tasks`.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    n_resamples : int, optional
        Ceiling on the number of flips of signs for the difference: all distinct ones if they fit, else so many random
        ones. None: all up to a million, else 9,999. And the number of replicates for the band of a mean curve, 9,999
        by default.
    confidence_level : float, default 0.95
        Of each band.
    progress, rng : bool, and int, Generator or None
        As for `across_tasks`.

    Returns
    -------
    Dataset
        With the extra dims of `curves` but `task` in front. For tasks like these, in score units: `difference` (pair,
        budget_fraction), its `difference_ci` at the fraction by itself, `difference_ci_simultaneous` at all fractions
        of all pairs together and `difference_band` at all fractions of the pair (pair, budget_fraction, ci_bound);
        `pvalue` and `pvalue_adjusted` (pair, budget_fraction), over all fractions of all pairs; `band_method` (pair),
        how the band was made: 0 not at all, 1 by residuals, 2 by subset means. Of the mean over training:
        `mean_difference` (pair) with `mean_difference_ci_simultaneous` (pair, ci_bound), for all pairs together, in
        score units, and `mean_pvalue_adjusted` (pair), adjusted over pairs. For these tasks, in score units:
        `mean_curve` (algorithm, budget_fraction) over the tasks that have all algorithms and `mean_curve_band`
        (algorithm, budget_fraction, ci_bound). Counts: `n_tasks` and `n_resamples` (pair). NaN at fractions below the
        first level of a task.

    Raises
    ------
    ValueError, TypeError
        As `across_tasks`; if fractions are not increasing numbers in (0, 1].
    ImportError
        If `progress` is asked for and tqdm is not installed.

    Notes
    -----
    The signs of whole tasks or families are flipped, one vector for all fractions of all pairs, over which p is
    adjusted by step-down min-p, as in `across_tasks`. This holds where differences are symmetric over tasks; of
    exponential ones some fraction is shown in .07 to .10 of data sets without a difference.

    `difference_ci` is the exact interval of the subset means, `difference_ci_simultaneous` that at a level divided by
    the number of fractions of all pairs, of those that have tasks enough for a p of the level, and
    `mean_difference_ci_simultaneous` that of the mean at a level divided by the number of these pairs. The band of six
    families or more that weigh alike, the heaviest at most 1.5 times the lightest, is :math:`\Delta(f) \pm c \cdot
    s(f)`, where ``c`` is the critical value of the largest \|T\| over ``f`` of the differences less their mean. Of
    unlike families that band would hold as seldom as .62, since a heavy family pulls the mean towards itself: their
    band is that of subset means at a level of :math:`1 - \alpha / K` for ``K`` fractions, NaN where no p is so small.
    Of tasks with single answers that are 0 or 1 at the last fraction, intervals at fractions are the hulls with those
    of two further tasks, as in `across_tasks`.

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
    curves = check_curves(
        curves,
        reserved=kinds.PROFILE_ACROSS_TASKS.reserved(),
        named=task_dims.named_dims(task),
    )
    curves, higher_is_better = direction.resolved(curves, higher_is_better)
    curves, dim = task_dims.check_task(curves, task)
    refuse_strangers(curves, dim)
    curves = at_common_levels(curves, dim, task)
    task = dim
    at = check_fractions("fractions", fractions)
    groups = task_options.check_task_groups(curves, task, task_groups)
    core = (task, "algorithm", "run", "budget_fraction")
    scores = _with_means(curves, score_fractions(curves, at)).transpose(..., *core)
    context = Context.of(scores, n_resamples, paired, confidence_level, rng, core=core)
    profile = _Profile.of(
        curves,
        context,
        task,
        reference,
        groups,
        progress=validation.check_progress(progress, "pairs", "pair", lazy=is_lazy(curves)),
    )
    result = per_task(
        kinds.PROFILE_ACROSS_TASKS,
        profile,
        scores,
        context=context,
        core=core,
        sizes={"pair": len(profile.pairs), "budget_fraction": len(at)},
        attrs={
            "task": task,
            "task_groups": groups.name,
            "paired": paired,
            "reference": reference,
            "higher_is_better": higher_is_better,
            "n_resamples": n_resamples,
        },
        coords={
            **labels.pair_coords(curves, reference),
            "budget_fraction": (
                "budget_fraction",
                at,
                {"long_name": "fraction of the training budget", "units": "1"},
            ),
        },
    )
    flags = {
        "flag_values": np.arange(3, dtype=np.int8),
        "flag_meanings": "none residuals subset_means",
    }
    result["band_method"].attrs |= flags
    return result


@dataclass(frozen=True)
class _Profile(JoinedTasks):
    """What `profile_across_tasks` says of one benchmark."""

    progress: Callable[..., Iterable[Any]]

    def fill(self, out: Mapping[str, Floats], scores: Floats, name: str) -> None:
        """Fill in the variables of one benchmark, scores of shape (task, algorithm, run, fraction), the mean last."""
        magnitudes.check_size(scores, [f"{name}{each}: " for each in self.tasks])
        at_fractions = scores[..., :-1]
        of_curves = scores[..., -1:]
        for count_of in ("n_tasks", "n_resamples", "band_method"):
            out[count_of][:] = 0

        # Fractions at which every run that there is has a score.
        has = np.asarray(~np.isnan(at_fractions).all(axis=-1))
        lacks = np.isnan(at_fractions) & has[..., np.newaxis]
        begun = np.asarray(~lacks.any(axis=(0, 1, 2)))
        count = has.sum(axis=-1)
        means = _means_of_runs(at_fractions, count)[..., begun]
        of_training = _means_of_runs(of_curves, count)
        is_rare = self._may_rarely_differ(at_fractions[..., begun], count)
        self._pairs(out, means, of_training, count > 0, begun, is_rare=is_rare)
        self._mean_curves(out, at_fractions, has, begun)

    def _may_rarely_differ(self, scores: Floats, count: Index) -> bool:
        """Return whether these are items alike and alone, with one answer of 0 or 1 at the last fraction."""
        known = scores[~np.isnan(scores)]
        last = scores[..., -1:]
        are_answers = np.isnan(last) | (last == 0) | (last == 1)
        is_alone = len(set(self.groups)) == len(self.groups) and count.max() == 1
        # between checkpoints scores are between 0 and 1
        return bool(is_alone and known.size and known.min() >= 0 and known.max() <= 1 and are_answers.all())

    def _mean_curves(self, out: Mapping[str, Floats], scores: Floats, has: Bools, begun: Bools) -> None:
        """Fill in mean curves over the tasks that have all algorithms, at fractions `begun`."""
        complete = np.asarray(has.any(axis=-1)).all(axis=1)
        if not complete.any():
            return
        # Runs in front, and NaN behind.
        front = np.argsort(~has, axis=-1, kind="stable")[..., np.newaxis]
        compact = np.take_along_axis(scores, front, axis=2)[complete][..., begun]
        n_replicates = self.context.n_resamples
        if n_replicates is None:
            n_replicates = DEFAULT_RESAMPLES
        for algorithm in range(scores.shape[1]):
            curve = bootstrap.mean_curve(
                compact[:, algorithm],
                n_replicates,
                self.context.alpha,
                self.context.entropy,
            )
            for variable, values in curve.items():
                out[variable][algorithm][begun] = values

    def _pairs(
        self,
        out: Mapping[str, Floats],
        means: Floats,
        of_training: Floats,
        has: Bools,
        begun: Bools,
        *,
        is_rare: bool,
    ) -> None:
        """Fill in the differences of pairs, given means of shape (task, algorithm, fraction), at fractions `begun`."""
        here = has[:, self.pairs].all(axis=-1).T
        n_tasks = here.sum(axis=-1)
        out["n_tasks"][:] = n_tasks
        if not here.any():
            return
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(here, 1 / n_tasks[:, np.newaxis], np.nan)
        weights = self.family_sums(share)
        kept, plan = self.flips(weights)
        weights = weights[:, kept]
        x, x_of_training = (self._contributions(each, share)[..., kept] for each in (means, of_training))

        n_families = np.count_nonzero(~np.isnan(weights), axis=-1)
        in_family = task_flips.can_be_shown(n_families, self.context.alpha)
        n_in_family = int(np.count_nonzero(in_family))
        n_tests = n_in_family * int(begun.sum())
        takes_ranks = task_flips.takes_ranks(len(kept), n_tests, self.context.n_resamples, self.context.alpha)
        own_plans = [task_flips.own_flips(each, plan)[1] for each in weights]
        # A pair with few tasks of its own has its exact intervals.
        by_t = np.array([not takes_ranks and not own.exact for own in own_plans])
        if by_t.any():
            self._by_t(out, (x, x_of_training), weights, plan, begun, by_t, is_rare=is_rare)

        # All fractions of all pairs are one family of tests, flipped alike.
        members = x.reshape(1, -1, len(kept))
        if not by_t.any():
            tested = task_flips.pvalues(members, plan, self.context.alpha)
            for name, values in zip(("pvalue", "pvalue_adjusted"), tested, strict=True):
                out[name][:, begun] = values.reshape(x.shape[:-1])
            out["mean_pvalue_adjusted"][:] = task_flips.pvalues(x_of_training[:, 0], plan, self.context.alpha)[1]
        tested_pairs = np.flatnonzero((n_families > 0) & ~by_t)
        for pair in self.progress(tested_pairs, total=len(tested_pairs)):
            families, own = task_flips.own_flips(weights[pair], plan)
            out["n_resamples"][pair] = own.n_resamples
            difference = task_flips.profile_difference(
                x[pair][:, families],
                weights[pair, families],
                own,
                self.context.alpha,
                n_tests,
            )
            out["band_method"][pair] = difference.pop("band_method")
            if is_rare:
                of_pair = x[pair][:, families]
                self._widen(difference, of_pair, own, n_tests)
            for name, values in difference.items():
                out[name][pair][begun] = values
            mean = task_flips.profile_difference(
                x_of_training[pair][:, families], weights[pair, families], own, self.context.alpha, n_in_family
            )
            if is_rare:
                self._widen(mean, x_of_training[pair][:, families], own, n_in_family)
            for name in _OF_MEAN:
                out[f"mean_{name}"][pair] = mean[name][0]

    def _widen(self, difference: dict[str, Floats], x: Floats, own: plans.FlipPlan, n_tests: int) -> None:
        """Replace intervals by their hulls with those of two further items, of which each side leads in one."""
        n_families = np.full(len(x), float(x.shape[-1]))
        more, of_more = task_flips.with_two_further(x, n_families, own)
        alpha = self.context.alpha
        both = task_flips.flip_intervals(*more, of_more, alpha, alpha / max(1, n_tests))
        for name, ends in zip(_INTERVALS, both, strict=True):
            difference[name] = t_scale.hull(difference[name], ends)

    def _by_t(
        self,
        out: Mapping[str, Floats],
        sums_of_families: tuple[Floats, Floats],
        weights: Floats,
        plan: plans.FlipPlan,
        begun: Bools,
        chosen: Bools,
        *,
        is_rare: bool,
    ) -> None:
        """Fill in p of all pairs on the scale of t, and intervals and bands of those `chosen`: of many tasks."""
        x, x_of_training = sums_of_families
        alpha = self.context.alpha
        found, sums = _flipped(x, weights, plan, alpha, two_more=is_rare)
        shape = x.shape[:-1]
        pvalue, adjusted = (each.reshape(shape) for each in (found.pvalue, found.pvalue_adjusted))
        pvalue[np.isnan(x).all(axis=-1)] = np.nan
        out["pvalue"][:, begun] = pvalue
        out["pvalue_adjusted"][:, begun] = np.maximum(adjusted, pvalue)
        of_training, sums_of_training = _flipped(x_of_training, weights, plan, alpha, two_more=is_rare)
        out["mean_pvalue_adjusted"][:] = np.maximum(of_training.pvalue_adjusted, of_training.pvalue)
        ends_of_mean = t_scale.intervals(sums_of_training, of_training.together)
        if is_rare:
            more = t_scale.intervals(t_scale.with_two_more(sums_of_training), of_training.together_of_more)
            ends_of_mean = t_scale.hull(ends_of_mean, more)
        out["mean_difference"][chosen] = np.nansum(x_of_training[chosen, 0], axis=-1)
        out["mean_difference_ci_simultaneous"][chosen] = ends_of_mean[chosen]

        estimate = np.nansum(x, axis=-1)
        limits = (found.own, found.own_of_more), (found.together, found.together_of_more)
        for name, (ratio, ratio_of_more) in zip(_INTERVALS, limits, strict=True):
            ends = t_scale.intervals(sums, ratio)
            if is_rare:
                ends = t_scale.hull(ends, t_scale.intervals(t_scale.with_two_more(sums), ratio_of_more))
            ends = ends.reshape(*shape, 2)
            for pair in np.flatnonzero(chosen):
                out[name][pair][begun] = ends[pair]
        for pair in np.flatnonzero(chosen):
            out["difference"][pair][begun] = estimate[pair]
            out["n_resamples"][pair] = plan.n_resamples
            if task_flips.are_many_and_alike(weights[pair]):
                out["band_method"][pair] = task_flips.RESIDUALS
                out["difference_band"][pair][begun] = task_flips.band_of_residuals(
                    x[pair], weights[pair], estimate[pair], plan, alpha
                )

    def _contributions(self, means: Floats, share: Floats) -> Floats:
        """Return the sums over families of weighted differences of pairs, shape (pair, fraction, family)."""
        first, second = (means[:, side] for side in self.pairs.T)
        d = (first - second).transpose(1, 2, 0) * share[:, np.newaxis]
        return self.family_sums(d)


def _flipped(
    x: Floats, weights: Floats, plan: plans.FlipPlan, alpha: float, *, two_more: bool = False
) -> tuple[t_scale.FlipTests, PairTotals]:
    """Return what flips say on the scale of t of sums of families, (pair, level, family), one family of tests."""
    n_levels = x.shape[1]
    numbers, weights = x.reshape(-1, x.shape[-1]), np.repeat(weights, n_levels, axis=0)
    if two_more:
        # of weight 1, as the further ones
        n_families = np.count_nonzero(~np.isnan(weights), axis=-1)[:, np.newaxis]
        numbers, weights = numbers * n_families, weights * n_families
    members = OwnMembers(np.nan_to_num(numbers), np.nan_to_num(weights))
    sums = totals(members, len(members.x))
    tested = task_flips.can_be_shown(sums.n_families.astype(np.intp), alpha)
    return t_scale.flip_tests(members, sums, Signs(plan), tested, alpha, two_more=two_more), sums


def _means_of_runs(scores: Floats, count: Floats) -> Floats:
    """Return the means over runs, shape (task, algorithm, fraction), NaN where there is no run."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(scores, axis=2) / np.where(count > 0, count, np.nan)[..., np.newaxis])


def _with_means(curves: xr.DataArray, scores: xr.DataArray) -> xr.DataArray:
    """Return scores at fractions with the mean over training behind the last of them."""
    means = number_of_run(curves, run_numbers(None)).expand_dims("budget_fraction")
    return xr.concat(
        [scores, means],
        "budget_fraction",
        coords="minimal",
        compat="override",
        join="override",
    )


def score_fractions(curves: xr.DataArray, fractions: Sequence[float]) -> xr.DataArray:
    """Return scores at fractions of each task's budget, dims (..., algorithm, run, budget_fraction)."""
    kernel = partial(_score_at, levels=curves["training"].to_numpy(), fractions=np.array(fractions))
    return reduce_runs(
        "score_at",
        kernel,
        curves,
        ("algorithm", "run", "budget_fraction"),
        sizes={"budget_fraction": len(fractions)},
    )


def _score_at(group: Group, *, levels: Floats, fractions: Floats) -> dict[str, Floats]:
    scores = np.full((len(group.tasks), group.present.size, len(fractions)), np.nan)
    scores[:, group.curves] = ragged.at_fractions(group.data[0], levels[group.grid], fractions)
    return {"score_at": scores.reshape(len(scores), *group.present.shape, -1)}
