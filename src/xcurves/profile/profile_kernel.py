"""The profile of alike tasks, level by level."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core import provenance, run_checks
from xcurves.core.driver import Group
from xcurves.core.run_checks import as_float
from xcurves.kernels import level_tests, profiles
from xcurves.kernels.engine import Progress
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import RunPlan
from xcurves.profile.intervals import Stretches

_BANDS = {"ss_null_upper": "critical", "ss_null_upper_simultaneous": "critical_simultaneous"}


class ProfileOptions(NamedTuple):
    """What a profile is made of besides the curves.

    Attributes
    ----------
    stretches : Stretches
        Intervals of training.
    margin : float or None
        Largest difference that would not matter.
    rules : level_tests.Rules
        How levels and clusters are judged.
    batch : int or None
        Largest number of reassignments multiplied at once.
    training : ndarray
        All levels.
    progress : callable
        Wraps the blocks of reassignments.
    inference : bool
        Whether any reassignment is evaluated.
    pairs : ndarray, shape (pair, 2), or None
        The algorithms of the pairs whose differences are returned, in the order of their labels.
    """

    stretches: Stretches
    margin: float | None
    rules: level_tests.Rules
    batch: int | None
    training: Floats
    progress: Progress
    inference: bool
    pairs: NDArray[np.intp] | None


def profile_kernel(group: Group, *, options: ProfileOptions) -> dict[str, Any]:
    """Profile alike tasks."""
    context, curves, sizes = group.context, group.data[0], group.sizes
    run_checks.check_groups(group.present, group.names[0], group.algorithms, context.runs, paired=context.paired)
    if curves.shape[-1] == 1:
        raise ValueError(
            f"{group.names[0]}there is one training level ({options.training[group.grid[0, 0]]:g}); a profile over "
            "training needs two. Use .curves.randomized_anova()"
        )
    measured = profiles.measure_levels(curves, sizes, paired=context.paired)
    _check_scale(measured, group.names)
    plan = context.plan(sizes, work=curves.shape[-1])
    out: dict[str, Any] = dict(_describe(group, measured, options.stretches))
    out |= {"n_resamples": plan.n_resamples, "n_assignments": as_float(plan.n_assignments)}
    if not options.inference:
        return out
    df = _degrees_of_freedom(group)
    with np.errstate(divide="ignore", invalid="ignore"):
        out["f"] = np.asarray(measured.simple * (df[1] / df[0]) / measured.error)
    out["fraction_corrected"] = profiles.corrected_share(measured.simple, measured.error, df)
    width = level_tests.tasks_at_once(plan, curves.shape[-1], len(options.stretches))
    parts = [
        _infer(group, measured, slice(start, start + width), plan, options)
        for start in range(0, len(group.tasks), width)
    ]
    return out | (
        parts[0] if len(parts) == 1 else {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
    )


def _check_scale(measured: profiles.Levels, names: list[str]) -> None:
    """Refuse tasks whose squares overflow or vanish."""
    squares = measured.simple.sum(axis=-1) + measured.error.sum(axis=-1)
    differ = np.zeros(len(squares), bool)
    tiny = squares < 1e-280
    differ[tiny] = measured.deviations[tiny].any(axis=(1, 2))
    run_checks.check_scale(squares, differ, names)


def _degrees_of_freedom(group: Group) -> tuple[float, float]:
    """Return the degrees of freedom of the F of a level."""
    sizes, between = group.sizes, len(group.sizes) - 1
    return between, between * (sizes[0] - 1) if group.context.paired else sum(sizes) - len(sizes)


def _describe(group: Group, measured: profiles.Levels, stretches: Stretches) -> dict[str, Floats]:
    """Return sums of squares and their shares, by level and by interval."""
    n_tasks, n_levels = group.grid.shape
    out = {name: np.empty((n_tasks, 3, n_levels)) for name in ("ss", "fraction", "cumulative_fraction")}
    profiles.effects(measured, measured.deviations.mean(axis=-1), group.sizes, out["ss"])
    everything = measured.simple.sum(axis=-1) + measured.error.sum(axis=-1)
    profiles.write_fractions(out["ss"], out["ss"].sum(axis=-1), everything, out["fraction"], out["cumulative_fraction"])
    if len(stretches):
        holds = stretches.hold(group.grid)
        held = np.asarray(holds.any(axis=-1))[:, np.newaxis]
        share = out["fraction"] @ holds.swapaxes(1, 2).astype(float)
        out["interval_fraction"] = np.where(held, share, np.nan)
    return out


def _infer(
    group: Group, measured: profiles.Levels, tasks: slice, plan: RunPlan, options: ProfileOptions
) -> dict[str, Floats]:
    """Return the inference about some of the tasks."""
    curves, levels_of, simple = group.data[0][tasks], group.grid[tasks], measured.simple[tasks]
    total = simple + measured.error[tasks]
    found = level_tests.profile_tests(
        _design(group, curves, simple, total, options.stretches.hold(levels_of)),
        plan,
        options.rules,
        options.batch,
        options.progress,
    )
    for name, critical in _BANDS.items():
        found[name] = np.where(total > 0, total * found.pop(critical), np.nan)
    marked = provenance.significant(found["pvalue_adjusted"], group.context.alpha)
    at = options.training[levels_of]
    first, last = np.where(marked, at, np.inf).min(axis=-1), np.where(marked, at, -np.inf).max(axis=-1)
    found["first_significant"] = np.where(np.isfinite(first), first, np.nan)
    found["last_significant"] = np.where(np.isfinite(last), last, np.nan)
    if options.margin is None and options.pairs is None:
        return found
    apart = level_tests.level_differences(curves, plan)
    if options.margin is not None:
        shown = level_tests.are_equivalent(apart, plan, group.context.alpha, options.margin)
        found["equivalent"] = np.where(total > 0, shown, np.nan)
    if options.pairs is not None:
        found |= _of_pairs(apart.difference, level_tests.bands(apart, plan, group.context.alpha), group, options.pairs)
    return found


def _of_pairs(difference: Floats, band: Floats, group: Group, pairs: NDArray[np.intp]) -> dict[str, Floats]:
    """Return differences along training and their bands for all pairs, given those of the groups that are present."""
    present = np.flatnonzero(group.present.any(axis=1))
    known = {pair: place for place, pair in enumerate(combinations(present.tolist(), 2))}
    n_tasks, _, n_levels = difference.shape
    out = {
        "curve_difference": np.full((n_tasks, len(pairs), n_levels), np.nan),
        "curve_difference_band": np.full((n_tasks, len(pairs), n_levels, 2), np.nan),
    }
    for place, (a, b) in enumerate(pairs.tolist()):
        at = known.get((min(a, b), max(a, b)))
        if at is None:
            continue
        out["curve_difference"][:, place] = difference[:, at] if a < b else -difference[:, at]
        out["curve_difference_band"][:, place] = band[:, at] if a < b else -band[:, at, :, ::-1]
    return out


def _design(group: Group, curves: Floats, simple: Floats, total: Floats, holds: Any) -> level_tests.ProfileDesign:
    """Return the input of the randomization for tasks with given sums of squares, shape (task, level)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = profiles.centre_groups(curves, group.sizes, paired=group.context.paired)
        scaled *= np.where(total > 0, 1 / np.sqrt(total), 0.0)[:, np.newaxis]
        within = holds * total[:, np.newaxis]
        return level_tests.ProfileDesign(
            np.ascontiguousarray(np.moveaxis(scaled, 1, 2)), simple / total, within, _degrees_of_freedom(group)
        )
