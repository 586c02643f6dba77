"""Where along training the curves differ: sums of squares level by level, with their inference."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels, provenance, run_checks, scales, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.jobs import Group
from xcurves.core.labels import pairs_in_label_order
from xcurves.core.run_checks import Context, as_float
from xcurves.core.validation import check_curves
from xcurves.kernels.differences import level_differences, level_tests
from xcurves.kernels.resampling.batches import in_stretches, rows_that_fit
from xcurves.kernels.resampling.engine import Progress
from xcurves.kernels.resampling.plans import RunPlan
from xcurves.plotting.matrices import MOST_PAIRS
from xcurves.profile.intervals import Intervals, Stretches, check_intervals
from xcurves.profile.kinds import SS_PROFILE

_BANDS = {
    "ss_null_upper": "critical",
    "ss_null_upper_simultaneous": "critical_simultaneous",
}


def ss_profile(
    curves: xr.DataArray,
    *,
    intervals: Intervals | None = None,
    margin: float | None = None,
    step_down: bool = True,
    cluster_threshold: float | None = None,
    n_resamples: int | None = None,
    paired: bool = False,
    confidence_level: float = 0.95,
    batch: int | None = None,
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
    step_down : bool, default True
        Adjust p-values over levels (and over intervals) by the step-down procedure; False: single-step.
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
    batch : int, optional
        Largest number of reassignments multiplied at once, at most 256; changes no p-value.
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
    curves = check_curves(curves, reserved=SS_PROFILE.reserved(), any_offset=True)
    n_resamples = validation.check_count("n_resamples", n_resamples, least=0)
    if validation.check_margin(margin) is not None and n_resamples == 0:
        raise ValueError(
            "margin needs reassignments; got n_resamples=0. Leave n_resamples out for the default"
        )
    if (
        cluster_threshold is not None
        and validation.check_number("cluster_threshold", cluster_threshold) <= 0
    ):
        raise ValueError(
            f"cluster_threshold must be above 0; got {cluster_threshold}. Leave it out for the default"
        )
    context = Context.of(
        curves,
        n_resamples,
        paired,
        confidence_level,
        rng,
        least=0,
        random=n_resamples != 0,
    )
    lazy = is_lazy(curves)
    pairs = pairs_in_label_order(curves)
    few = n_resamples != 0 and 0 < len(pairs) <= MOST_PAIRS
    training = curves["training"]
    stretches = check_intervals(intervals, training.to_numpy())
    options = ProfileOptions(
        stretches=stretches,
        margin=margin,
        rules=level_tests.Rules(
            context.alpha,
            validation.check_flag("step_down", step_down),
            cluster_threshold,
        ),
        batch=validation.check_count("batch", batch),
        training=training.to_numpy(),
        progress=validation.check_progress(progress, lazy=lazy),
        inference=n_resamples != 0,
        pairs=pairs if few else None,
    )
    asked = {
        "inference": options.inference,
        "intervals": len(stretches.left) > 0,
        "interval tests": len(stretches.left) > 0 and options.inference,
        "margin": margin is not None,
        "few pairs": few,
    }
    return per_task(
        SS_PROFILE,
        partial(profile_kernel, options=options),
        curves,
        context=context,
        sizes={"interval": len(stretches.left), "pair": len(pairs)},
        when=[option for option, wanted in asked.items() if wanted],
        attrs={
            "n_resamples": n_resamples,
            "paired": paired,
            "step_down": step_down,
            "margin": margin,
            "cluster_threshold": cluster_threshold,
        },
        coords=(stretches.coords() if len(stretches.left) else {})
        | (labels.pair_coords(curves) if few else {}),
        warn=partial(_warn_of_profile, context=context, options=options),
    )


def _warn_of_profile(
    result: xr.Dataset, context: Context, options: ProfileOptions
) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first task."""
    ss = result["ss"].sel(effect="simple").transpose(..., "training").to_numpy()
    in_grid = ~np.isnan(ss.reshape(len(context.names), -1))
    profiled = np.asarray(in_grid.any(axis=1))
    provenance.warn_of(
        ~profiled, context.names, lambda _: "no run has a value; the result is NaN"
    )
    if len(options.stretches.left):
        holds = options.stretches.hold(np.arange(in_grid.shape[1]))
        empty = profiled[:, np.newaxis] & (in_grid.astype(float) @ holds.T == 0)
        ends = list(zip(options.stretches.left, options.stretches.right, strict=True))
        where = [
            f"{name}interval {left:g} to {right:g}"
            for name in context.names
            for left, right in ends
        ]
        provenance.warn_of(
            empty.ravel(),
            where,
            lambda _: " holds no training level; it is NaN",
            "intervals",
        )
    if not options.inference:
        return
    f = result["f"].transpose(..., "training").to_numpy().reshape(in_grid.shape)
    undefined = (in_grid & np.isnan(f)).ravel()
    if undefined.any():
        where = [
            f"{name}training {level:g}: "
            for name in context.names
            for level in result["training"].to_numpy()
        ]
        provenance.warn_of(
            undefined,
            where,
            lambda _: "all scores are equal; F and p are NaN there",
            "levels",
        )
    n_resamples, smallest = (
        result["n_resamples"].to_numpy().ravel(),
        provenance.smallest_reachable(result).ravel(),
    )
    provenance.warn_of(
        in_grid.any(axis=1) & (smallest > context.alpha + 1e-12),
        context.names,
        lambda task: (
            f"{n_resamples[task]} reassignments allow no p below {smallest[task]:.3g}"
        ),
    )


class ProfileOptions(NamedTuple):
    """What a profile is made of besides the curves."""

    stretches: Stretches
    margin: float | None
    rules: level_tests.Rules
    batch: int | None
    training: Floats
    progress: Progress
    inference: bool  # whether any reassignment is evaluated
    pairs: NDArray[np.intp] | None  # whose differences are returned


def profile_kernel(group: Group, *, options: ProfileOptions) -> dict[str, Any]:
    """Profile alike tasks."""
    context, curves, sizes = group.context, group.data[0], group.sizes
    run_checks.check_groups(
        group.present,
        group.names[0],
        group.algorithms,
        context.runs,
        paired=context.paired,
    )
    if curves.shape[-1] == 1:
        raise ValueError(
            f"{group.names[0]}there is one training level ({options.training[group.grid[0, 0]]:g}); a profile over "
            "training needs two. Use .curves.randomized_anova()"
        )
    measured = level_tests.measure_levels(curves, sizes, paired=context.paired)
    squares = measured.simple.sum(axis=-1) + measured.error.sum(axis=-1)
    scales.check_squares(
        squares, np.asarray(measured.deviations.any(axis=(1, 2))), group.names
    )
    plan = context.plan(sizes, work=curves.shape[-1])
    out: dict[str, Any] = dict(_describe_levels(group, measured, options.stretches))
    out |= {
        "n_resamples": plan.n_resamples,
        "n_assignments": as_float(plan.n_assignments),
    }
    if not options.inference:
        return out
    df = _degrees_of_freedom(group)
    with np.errstate(divide="ignore", invalid="ignore"):
        out["f"] = np.asarray(measured.simple * (df[1] / df[0]) / measured.error)
    out["fraction_corrected"] = level_tests.corrected_share(
        measured.simple, measured.error, df
    )
    width = rows_that_fit(
        8 * plan.n_resamples * max(curves.shape[-1], len(options.stretches.left))
    )
    return out | in_stretches(
        lambda some: _infer(group, measured, some, plan, options),
        len(group.tasks),
        width,
    )


def _degrees_of_freedom(group: Group) -> tuple[float, float]:
    """Return the degrees of freedom of the F of a level."""
    sizes, between = group.sizes, len(group.sizes) - 1
    return between, between * (sizes[0] - 1) if group.context.paired else sum(
        sizes
    ) - len(sizes)


def _describe_levels(
    group: Group, measured: level_tests.Levels, stretches: Stretches
) -> dict[str, Floats]:
    """Return sums of squares and their shares, by level and by interval."""
    ss = level_tests.effects(measured, group.sizes)
    fraction, cumulative = level_tests.shares(
        ss, measured.simple.sum(axis=-1) + measured.error.sum(axis=-1)
    )
    out = {"ss": ss, "fraction": fraction, "cumulative_fraction": cumulative}
    if len(stretches.left):
        holds = stretches.hold(group.grid)
        held = np.asarray(holds.any(axis=-1))[:, np.newaxis]
        share = fraction @ holds.swapaxes(1, 2).astype(float)
        out["interval_fraction"] = np.where(held, share, np.nan)
    return out


def _infer(
    group: Group,
    measured: level_tests.Levels,
    tasks: slice,
    plan: RunPlan,
    options: ProfileOptions,
) -> dict[str, Floats]:
    """Return the inference about some of the tasks."""
    curves, levels_of, simple = (
        group.data[0][tasks],
        group.grid[tasks],
        measured.simple[tasks],
    )
    total = simple + measured.error[tasks]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = level_tests.centre_groups(
            curves, group.sizes, paired=group.context.paired
        )
        scaled *= np.where(total > 0, 1 / np.sqrt(total), 0.0)[:, np.newaxis]
        within = options.stretches.hold(levels_of) * total[:, np.newaxis]
        scaled, share = np.ascontiguousarray(np.moveaxis(scaled, 1, 2)), simple / total
    found = level_tests.profile_tests(
        level_tests.ProfileDesign(scaled, share, within, _degrees_of_freedom(group)),
        plan,
        options.rules,
        options.batch,
        options.progress,
    )
    for name, critical in _BANDS.items():
        found[name] = np.where(total > 0, total * found.pop(critical), np.nan)
    marked = provenance.significant(found["pvalue_adjusted"], group.context.alpha)
    at = options.training[levels_of]
    ends = {
        "first": np.where(marked, at, np.inf).min(axis=-1),
        "last": np.where(marked, at, -np.inf).max(axis=-1),
    }
    found |= {
        f"{which}_significant": np.where(np.isfinite(end), end, np.nan)
        for which, end in ends.items()
    }
    if options.margin is None and options.pairs is None:
        return found
    apart = level_differences.level_differences(curves, plan)
    if options.margin is not None:
        shown = level_differences.are_equivalent(
            apart, plan, group.context.alpha, options.margin
        )
        found["equivalent"] = np.where(total > 0, shown, np.nan)
    if options.pairs is not None:
        found |= _of_pairs(
            apart.difference,
            level_differences.bands(apart, plan, group.context.alpha),
            group,
            options.pairs,
        )
    return found


def _of_pairs(
    difference: Floats, band: Floats, group: Group, pairs: NDArray[np.intp]
) -> dict[str, Floats]:
    """Return differences along training and their bands for all pairs, given those of the groups that are present."""
    present = np.flatnonzero(group.present.any(axis=1))
    known = {
        pair: place for place, pair in enumerate(combinations(present.tolist(), 2))
    }
    n_tasks, _, n_levels = difference.shape
    found = np.full((n_tasks, len(pairs), n_levels), np.nan)
    bands = np.full((*found.shape, 2), np.nan)
    for place, (a, b) in enumerate(pairs.tolist()):
        at = known.get((min(a, b), max(a, b)))
        if at is not None:
            found[:, place] = difference[:, at] if a < b else -difference[:, at]
            bands[:, place] = band[:, at] if a < b else -band[:, at, :, ::-1]
    return {"curve_difference": found, "curve_difference_band": bands}
