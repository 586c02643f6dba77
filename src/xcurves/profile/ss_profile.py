"""Where along training the curves differ: sums of squares level by level, with their inference."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats
from xcurves.core import labels, magnitudes, provenance, run_checks, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.jobs import Group
from xcurves.core.labels import pairs_in_label_order
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, call
from xcurves.core.run_checks import Context, as_float
from xcurves.core.validation import check_curves
from xcurves.kernels.one_task import level_differences, level_tests
from xcurves.kernels.resampling.batches import in_stretches, rows_that_fit
from xcurves.kernels.resampling.engine import Progress
from xcurves.kernels.resampling.plans import RunPlan
from xcurves.profile import kinds
from xcurves.profile.training_intervals import Intervals, Stretches, check_intervals
from xcurves.say.pairs import MOST_PAIRS

_BANDS = {
    "ss_null_upper": "critical",
    "ss_null_upper_simultaneous": "critical_simultaneous",
}


def ss_profile(
    curves: xr.DataArray,
    *,
    intervals: Intervals | None = None,
    margin: float | None = None,
    cluster_threshold: float | None = None,
    n_resamples: int | None = None,
    paired: bool = False,
    confidence_level: float = 0.95,
    progress: bool | None = None,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Find where along training the algorithms differ, and by how much, with p-values.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, as for `randomized_anova`, at two training levels or more. Of dask-backed curves, the levels of a task
        are put into one chunk if they make no more than 64 MB, and stay in their chunks if they make more. Then a
        pandas.RangeIndex of levels stays one.
    intervals : sequence of float or pandas.IntervalIndex, optional
        Intervals of training to sum over, in the units of `training`. Each edge belongs to the interval that begins
        with it, and the last edge to the last interval.
    margin : float, optional
        Largest difference of mean scores that would not matter, in score units; needed for `equivalent`.
    cluster_threshold : float, optional
        F above which neighbouring levels form a cluster; by default each level's own critical value.
    n_resamples : int, optional
        Largest number of reassignments, as for `randomized_anova`; by default all distinct ones if there are at most
        9,999 of them, or at most a million divided by the number of levels. With 0 only the profile is returned,
        without inference.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms.
    confidence_level : float, default 0.95
        One minus the significance level of bands, clusters, marks and `equivalent`.
    progress : bool, optional
        Show a tqdm bar (extra ``progress``); by default in a terminal or notebook, if the call will take more than 5 s.
        Of dask-backed curves use dask's own.
    rng : int, Generator or None
        Seed of the random reassignments.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front.

        * On (effect, training), with effects ``simple``, ``algorithm`` and ``interaction``: `ss` (in squared score
          units), its `fraction` of the effect's total, and `cumulative_fraction`.
        * On (training): `fraction_corrected`, of the simple sum of squares less what noise adds on average; NaN
          where noise explains the whole sum. `f` of each level by itself, `pvalue_adjusted` over levels, `pvalue`;
          `ss_null_upper` and `ss_null_upper_simultaneous`, which the simple `ss` exceeds by chance at one given level,
          or at any level, in no more than ``1 - confidence_level`` of cases; `cluster` (numbered from 1) and
          `cluster_pvalue`, NaN outside.
        * Scalars `first_significant` and `last_significant`, in units of `training`, NaN where there is none.
        * With `intervals`, on (effect, interval) `interval_fraction`, on (interval) `interval_pvalue` and
          `interval_pvalue_adjusted` of the simple profile; NaN for an interval without levels or differences. The ends
          are coordinates `interval_left` and `interval_right`.
        * Of at most eight pairs of algorithms, on (pair, training) `curve_difference` of mean scores (first minus
          second) and `curve_difference_band` (ci_bound), which holds for all pairs and levels together; infinite where
          runs are too few.
        * With `margin`, on (training) `equivalent`, 0 or 1 (NaN where all scores are equal or a task has no scores).
        * Coordinates `n_runs` (algorithm), `n_resamples` and `n_assignments`.

    Raises
    ------
    ValueError, TypeError
        As `randomized_anova`; if a task has one training level; if intervals overlap or do not increase; if
        `margin` is negative or `cluster_threshold` not positive.

    Warns
    -----
    UserWarning
        If so few assignments exist that no p-value can reach ``1 - confidence_level``; if an interval holds no level;
        if all scores are equal at a level, where F is NaN. Not for dask-backed curves.

    Notes
    -----
    With :math:`\bar y_{ih}` the mean of the :math:`l_i` runs of algorithm *i* at level *h*,
    :math:`d_{ih} = \bar y_{ih} - \bar y_h` and :math:`d_i` its mean over levels,

    .. math:: s_h = \sum_i l_i d_{ih}^2, \quad a_h = \sum_i l_i d_i d_{ih}, \quad t_h = \sum_i l_i (d_{ih} - d_i)^2

    are the profiles *simple* ("do the curves differ here?"), *algorithm* and *interaction*. They add up to
    SS_algorithm + SS_interaction, SS_algorithm and SS_interaction of the ANOVA table [1]_. The summand of
    SS_algorithm itself is the same at every level, so its running sum is a straight line; :math:`a_h` is the
    contribution of each level, negative where the order of the algorithms is reversed.

    *p-values* come from one plan of whole-curve shuffles. The F of a level uses that level alone, so `pvalue_adjusted`
    (largest F over levels, step-down [2]_) controls the chance of any false mark even where other levels do
    differ. What is tested is that runs are jointly exchangeable between algorithms at the levels that do not differ:
    that whole stretches of runs, not only their values at each level, have one distribution. Unequal spread is found as
    a difference too; with few runs and many levels even if numbers of runs are equal. The fractions of algorithm and
    interaction in an interval have no p-value, since they depend on the whole curves.

    *Clusters* [3]_ say that the curves differ somewhere in a stretch. Their edges are no estimate of where a
    difference begins or ends: only the mass of the whole was tested.

    `last_significant` is a lower bound: with the given confidence the curves still differ there. It is not where the
    difference ends. To show that a difference has gone needs a margin: `equivalent` is 1 where the simultaneous
    intervals, over levels and pairs, of all differences of mean scores lie within ± `margin`. They assume that
    residual curves are exchangeable, that is, algorithms differ in their means only, and that scores are not coarse: a
    level at which all runs of an algorithm score the same, or an algorithm has one run, is never shown equivalent.

    References
    ----------
    .. [1] Piater, J. H. & Cohen, P. R. A randomized ANOVA procedure for comparing performance curves, Section 5.
    .. [2] Westfall, P. H. & Young, S. S. (1993). Resampling-based multiple testing. Wiley, Algorithm 2.8.
    .. [3] Maris, E. & Oostenveld, R. (2007). Nonparametric statistical testing of EEG- and MEG-data. J. Neurosci.
       Methods 164(1), 177-190. doi:10.1016/j.jneumeth.2007.03.024

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> late = scores.sel(algorithm=["rate 0.001", "rate 0.1"])
    >>> profile = late.curves.ss_profile(intervals=[0, 1000, 8000], rng=0)
    >>> profile.interval_fraction.sel(effect="simple").round(2).values.tolist()
    [0.68, 0.32]
    >>> profile.pvalue_adjusted.sizes
    Frozen({'training': 8})
    """
    scores = check_curves(curves, reserved=kinds.SS_PROFILE.reserved(), any_offset=True)
    n_asked = validation.check_count("n_resamples", n_resamples, least=0)
    if validation.check_margin(margin) is not None and n_asked == 0:
        raise Refusal(
            "margin",
            UNSAID,
            "needs reassignments; got n_resamples=0",
            "Leave n_resamples out for the default",
        )
    if cluster_threshold is not None:
        threshold = validation.check_number("cluster_threshold", cluster_threshold)
        if threshold <= 0:
            raise Refusal(
                "cluster_threshold",
                Verbatim(cluster_threshold),
                "must be above 0",
                "Leave it out for the default",
            )
    inference = n_asked != 0
    context = Context.of(
        scores,
        n_asked,
        paired,
        confidence_level,
        rng,
        least=0,
        random=inference,
    )
    training = scores["training"].to_numpy()
    stretches = check_intervals(intervals, training)
    has_intervals = len(stretches.left) > 0

    # Differences along training are those of a few pairs, which a picture can show.
    all_pairs = pairs_in_label_order(scores)
    pairs = None
    if inference and 0 < len(all_pairs) <= MOST_PAIRS:
        pairs = all_pairs
    coords: dict[Hashable, Any] = {}
    if has_intervals:
        coords |= stretches.coords()
    if pairs is not None:
        coords |= labels.pair_coords(scores)
    options = ProfileOptions(
        stretches=stretches,
        margin=margin,
        rules=level_tests.Rules(context.alpha, cluster_threshold),
        training=training,
        progress=validation.check_progress(progress, lazy=is_lazy(scores)),
        inference=inference,
        pairs=pairs,
    )
    conditions = {
        "inference": inference,
        "intervals": has_intervals,
        "interval tests": has_intervals and inference,
        "margin": margin is not None,
        "few pairs": pairs is not None,
    }
    return per_task(
        kinds.SS_PROFILE,
        partial(profile_kernel, options=options),
        scores,
        context=context,
        sizes={"interval": len(stretches.left), "pair": len(all_pairs)},
        when=[name for name, holds in conditions.items() if holds],
        attrs={
            "n_resamples": n_asked,
            "paired": paired,
            "margin": margin,
            "cluster_threshold": cluster_threshold,
        },
        coords=coords,
        warn=partial(_warn_of_profile, context=context, options=options),
    )


def _warn_of_profile(result: xr.Dataset, context: Context, options: ProfileOptions) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first task."""
    ss = result["ss"].sel(effect="simple").transpose(..., "training").to_numpy()
    in_grid = ~np.isnan(ss.reshape(len(context.names), -1))
    profiled = np.asarray(in_grid.any(axis=1))
    provenance.warn_of(~profiled, context.names, lambda _: "no run has a value; the result is NaN")
    _warn_of_intervals(in_grid, context, options.stretches)
    if not options.inference:
        return
    _warn_of_levels(result, in_grid, context)
    n_resamples = result["n_resamples"].to_numpy().ravel()
    smallest = provenance.smallest_reachable(result).ravel()
    too_large = smallest > context.alpha + 1e-12

    def unreachable(task: int) -> str:
        return f"{n_resamples[task]} reassignments allow no p below {smallest[task]:.3g}"

    provenance.warn_of(profiled & too_large, context.names, unreachable)


def _warn_of_intervals(in_grid: Bools, context: Context, stretches: Stretches) -> None:
    """Warn of intervals that hold no level of a task that has some, `in_grid` of shape (task, training)."""
    if not len(stretches.left):
        return
    holds = stretches.hold(np.arange(in_grid.shape[1]))
    has_levels = np.asarray(in_grid.any(axis=1))[:, np.newaxis]
    empty = has_levels & (in_grid.astype(float) @ holds.T == 0)
    ends = list(zip(stretches.left, stretches.right, strict=True))
    intervals = [f"{name}interval {left:g} to {right:g}" for name in context.names for left, right in ends]
    why = " holds no training level; it is NaN"
    provenance.warn_of(empty.ravel(), intervals, lambda _: why, "intervals")


def _warn_of_levels(result: xr.Dataset, in_grid: Bools, context: Context) -> None:
    """Warn of levels at which F is undefined."""
    f = result["f"].transpose(..., "training").to_numpy().reshape(in_grid.shape)
    undefined = (in_grid & np.isnan(f)).ravel()
    # Names of all levels take long.
    if not undefined.any():
        return
    levels = [f"{name}training {level:g}: " for name in context.names for level in result["training"].to_numpy()]
    why = "all scores are equal; F and p are NaN there"
    provenance.warn_of(undefined, levels, lambda _: why, "levels")


class ProfileOptions(NamedTuple):
    """What a profile is made of besides the curves."""

    stretches: Stretches
    margin: float | None
    rules: level_tests.Rules
    training: Floats
    progress: Progress
    inference: bool  # whether any reassignment is evaluated
    pairs: NDArray[np.intp] | None  # whose differences are returned


def profile_kernel(group: Group, *, options: ProfileOptions) -> dict[str, Any]:
    """Profile alike tasks."""
    context = group.context
    curves = group.data[0]
    n_levels = curves.shape[-1]
    run_checks.check_groups(
        group.present,
        group.names[0],
        group.algorithms,
        context.runs,
        paired=context.paired,
    )
    if n_levels == 1:
        raise Refusal(
            "curves",
            UNSAID,
            f"{group.names[0]}there is one training level ({options.training[group.grid[0, 0]]:g}); "
            "a profile over training needs two",
            Cure("Use ", call(".curves.randomized_anova")),
        )
    measured = level_tests.measure_levels(curves, group.sizes, paired=context.paired)
    squares = measured.simple.sum(axis=-1) + measured.error.sum(axis=-1)
    differ = np.asarray(measured.deviations.any(axis=(1, 2)))
    magnitudes.check_squares(squares, differ, group.names)
    plan = context.plan(group.sizes, work=n_levels)
    profile: dict[str, Any] = dict(_describe_levels(group, measured, options.stretches))
    profile["n_resamples"] = plan.n_resamples
    profile["n_assignments"] = as_float(plan.n_assignments)
    if not options.inference:
        return profile

    between, within = _degrees_of_freedom(group)
    with np.errstate(divide="ignore", invalid="ignore"):
        profile["f"] = np.asarray(measured.simple * (within / between) / measured.error)
    profile["fraction_corrected"] = level_tests.corrected_share(measured.simple, measured.error, (between, within))

    # Reassignments keep a number for each level or interval.
    n_numbers = max(n_levels, len(options.stretches.left))
    n_tasks = rows_that_fit(8 * plan.n_resamples * n_numbers)

    def infer(tasks: slice) -> dict[str, Floats]:
        return _infer(group, measured, tasks, plan, options)

    return profile | in_stretches(infer, len(group.tasks), n_tasks)


def _degrees_of_freedom(group: Group) -> tuple[float, float]:
    """Return the degrees of freedom of the F of a level, between and within algorithms."""
    between = len(group.sizes) - 1
    if group.context.paired:
        return between, between * (group.sizes[0] - 1)
    return between, sum(group.sizes) - len(group.sizes)


def _describe_levels(group: Group, measured: level_tests.Levels, stretches: Stretches) -> dict[str, Floats]:
    """Return sums of squares and their shares, by level and by interval."""
    ss = level_tests.effects(measured, group.sizes)
    total = measured.simple.sum(axis=-1) + measured.error.sum(axis=-1)
    fraction, cumulative = level_tests.shares(ss, total)
    levels = {"ss": ss, "fraction": fraction, "cumulative_fraction": cumulative}
    if len(stretches.left):
        holds = stretches.hold(group.grid)
        has_levels = np.asarray(holds.any(axis=-1))[:, np.newaxis]
        share = fraction @ holds.swapaxes(1, 2).astype(float)
        levels["interval_fraction"] = np.where(has_levels, share, np.nan)
    return levels


def _infer(
    group: Group,
    measured: level_tests.Levels,
    tasks: slice,
    plan: RunPlan,
    options: ProfileOptions,
) -> dict[str, Floats]:
    """Return the inference about some of the tasks."""
    alpha = group.context.alpha
    curves = group.data[0][tasks]
    levels = group.grid[tasks]
    total = measured.simple[tasks] + measured.error[tasks]

    # The scores of every level in units of the root of its total sum of squares.
    with np.errstate(divide="ignore", invalid="ignore"):
        centred = level_tests.centre_groups(curves, group.sizes, paired=group.context.paired)
        centred *= np.where(total > 0, 1 / np.sqrt(total), 0.0)[:, np.newaxis]
        share = measured.simple[tasks] / total
    design = level_tests.ProfileDesign(
        np.ascontiguousarray(np.moveaxis(centred, 1, 2)),
        share,
        options.stretches.hold(levels) * total[:, np.newaxis],
        _degrees_of_freedom(group),
    )
    tests = level_tests.profile_tests(design, plan, options.rules, options.progress)
    for name, critical in _BANDS.items():
        tests[name] = np.where(total > 0, total * tests.pop(critical), np.nan)

    # The first and the last level at which algorithms are shown to differ.
    is_shown = provenance.significant(tests["pvalue_adjusted"], alpha)
    training = options.training[levels]
    first = np.where(is_shown, training, np.inf).min(axis=-1)
    last = np.where(is_shown, training, -np.inf).max(axis=-1)
    tests["first_significant"] = np.where(np.isfinite(first), first, np.nan)
    tests["last_significant"] = np.where(np.isfinite(last), last, np.nan)
    if options.margin is None and options.pairs is None:
        return tests

    differences = level_differences.level_differences(curves, plan)
    if options.margin is not None:
        equivalent = level_differences.are_equivalent(differences, plan, alpha, options.margin)
        tests["equivalent"] = np.where(total > 0, equivalent, np.nan)
    if options.pairs is not None:
        bands = level_differences.bands(differences, plan, alpha)
        tests |= _of_pairs(differences.difference, bands, group, options.pairs)
    return tests


def _of_pairs(difference: Floats, band: Floats, group: Group, pairs: NDArray[np.intp]) -> dict[str, Floats]:
    """Return differences along training and their bands for all pairs, given those of the groups that are present."""
    present = np.flatnonzero(group.present.any(axis=1)).tolist()
    column = {pair: number for number, pair in enumerate(combinations(present, 2))}
    n_tasks, _, n_levels = difference.shape
    of_pairs = np.full((n_tasks, len(pairs), n_levels), np.nan)
    bands = np.full((n_tasks, len(pairs), n_levels, 2), np.nan)
    for number, (a, b) in enumerate(pairs.tolist()):
        # Those at hand are of the algorithm whose label is first.
        if (a, b) in column:
            of_pairs[:, number] = difference[:, column[a, b]]
            bands[:, number] = band[:, column[a, b]]
        elif (b, a) in column:
            of_pairs[:, number] = -difference[:, column[b, a]]
            bands[:, number] = -band[:, column[b, a], :, ::-1]
    return {"curve_difference": of_pairs, "curve_difference_band": bands}
