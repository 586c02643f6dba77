"""Times at which runs reach a target, performance profiles of them (Dolan & Moré 2002), and ratios of times over tasks.

Intervals of ratios combine by root sum of squares (MOVER; Zou & Donner 2008, doi:10.1002/sim.3095). Bounds of ratios,
low and high, are equal where known, 0 or infinite where nothing bounds them there, NaN where a task says nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.differences import task_flips
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.bisection import halve
from xcurves.kernels.resampling.plans import FlipPlan
from xcurves.kernels.resampling.streams import make_generator
from xcurves.kernels.times import mean_curves
from xcurves.kernels.times.mean_curves import Tracks

_AT_ONCE = 2**21  # evaluations of all runs of a batch


def first_times(
    scores: Floats, target: Floats, levels: Floats, *, sustained: int, higher: bool
) -> tuple[Floats, Floats]:
    """Return the first level of `sustained` known evaluations in a row that meet the target, else inf, and the last.

    Scores have the shape (..., algorithm, run, evaluation), NaN where a run has none; absent runs have NaN.
    """
    shape = scores.shape
    c = np.broadcast_to(
        np.asarray(target)[..., np.newaxis, np.newaxis], shape[:-1]
    ).reshape(-1, 1)
    y, own = (
        scores.reshape(-1, shape[-1]),
        np.broadcast_to(levels, shape).reshape(-1, shape[-1]),
    )
    times, last = np.full((2, len(y)), np.nan)
    for some in stretches(len(y), max(1, _AT_ONCE // shape[-1])):
        known = ~np.isnan(y[some])
        order = np.argsort(~known, axis=-1, kind="stable")  # known evaluations first
        met = np.take_along_axis(
            y[some] >= c[some] if higher else y[some] <= c[some], order, axis=-1
        )
        number = np.pad(met.cumsum(axis=-1), ((0, 0), (1, 0)))
        long = number[:, sustained:] - number[:, :-sustained] == sustained
        first = np.take_along_axis(order, long.argmax(axis=-1)[:, np.newaxis], axis=-1)
        time = np.where(
            long.any(axis=-1),
            np.take_along_axis(own[some], first, axis=-1)[:, 0],
            np.inf,
        )
        times[some] = np.where(known.any(axis=-1), time, np.nan)
        last[some] = np.where(known, own[some], -np.inf).max(axis=-1)
    last[np.isnan(times)] = np.nan
    return times.reshape(shape[:-1]), last.reshape(shape[:-1])


def medians(times: Floats) -> Floats:
    """Return medians along the last axis, NaN where all are; the middle two are averaged, infinite if either is."""
    ordered = np.sort(times, axis=-1)  # NaN last
    n = np.count_nonzero(~np.isnan(times), axis=-1)[..., np.newaxis]
    low = np.take_along_axis(ordered, np.maximum(n - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ordered, n // 2, axis=-1)
    return np.asarray((low + high)[..., 0] / 2)


def ratios(times: Floats, bases: NDArray[np.intp] | None, tau_max: float) -> Floats:
    """Return times over the best, (..., task, algorithm); variants and their `bases` gate each other (AlgoPerf)."""
    times = np.where(np.isnan(times), np.inf, times)
    if bases is not None:
        variants = np.flatnonzero(bases >= 0)
        times[..., variants, :] = np.where(
            np.isinf(times[..., bases[variants], :]), np.inf, times[..., variants, :]
        )
    best = times.min(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # the best of 0 is 0
        found = np.where((times == best) & np.isfinite(best), 1.0, times / best)
    found = np.where(np.isnan(found), np.inf, found)
    if bases is None:
        return found
    found[found > tau_max] = np.inf
    for variant in variants:
        base = found[..., bases[variant], :]
        base[np.isinf(found[..., variant, :])] = np.inf
    return np.asarray(found[..., bases < 0, :])


def contributions(found: Floats, tau_max: float, points: int | None) -> Floats:
    """Return the share of each task in a score: the area under its profile, trapezoidal with so many `points`."""
    if points is None:
        return np.asarray(np.maximum(0.0, (tau_max - found) / (tau_max - 1)))
    tau = np.linspace(1.0, tau_max, points)
    weight = np.full(points, 1 / (points - 1))
    weight[[0, -1]] /= 2
    return np.asarray((found[..., np.newaxis] <= tau) @ weight)


def bootstrap_scores(
    times: Floats,
    bases: NDArray[np.intp] | None,
    tau_max: float,
    points: int | None,
    n_draws: int,
    entropy: int,
) -> Floats:
    """Return scores, (draw, algorithm), of runs of times (task, algorithm, run) drawn with replacement."""
    rng = make_generator(np.random.SeedSequence(entropy, spawn_key=(11,)))
    drawn = np.full((n_draws, *times.shape), np.nan)
    n_runs = np.count_nonzero(~np.isnan(times), axis=-1)
    ordered = np.sort(times, axis=-1)
    for cell in zip(*np.nonzero(n_runs), strict=True):
        picked = rng.integers(n_runs[cell], size=(n_draws, n_runs[cell]))
        drawn[(slice(None), *cell, slice(n_runs[cell]))] = ordered[cell][picked]
    found = ratios(medians(drawn), bases, tau_max)
    return np.asarray(contributions(found, tau_max, points).mean(axis=-2))


def over_tasks(
    bounds: Floats,
    families: Index,
    plan: FlipPlan,
    alpha: float,
    n_algorithms: int | None = None,
) -> tuple[dict[str, Floats], NDArray[np.int64]]:
    """Return claims about tasks like these, and how many families make them, of bounds (2, algorithm, task).

    Geometric means are by flips of whole tasks or families, medians are over tasks. So many algorithms, one after the
    other, are of one benchmark, over which p is adjusted and intervals hold together: by default all.
    """
    n_algorithms = bounds.shape[1] if n_algorithms is None else n_algorithms
    with np.errstate(divide="ignore"):
        bounds = np.log(bounds)
    present = ~np.isnan(bounds[0])
    n_tasks = present.sum(axis=-1)
    weight = np.where(present, 1 / np.maximum(n_tasks, 1)[:, np.newaxis], np.nan)
    of_families, *sums = task_flips.family_sums(
        np.stack([weight, *weight * bounds]), families
    )
    x, n_families = np.array(sums), (~np.isnan(of_families)).sum(axis=-1)
    open_sides = np.isinf(x).any(axis=-1)
    x[open_sides] = np.nan
    mean = np.where(open_sides | (n_tasks == 0), np.nan, np.nansum(x, axis=-1))
    pvalues, adjusted = _pvalues(
        x.reshape(-1, n_algorithms, x.shape[-1]), plan, alpha
    ).reshape(2, 2, -1)
    alphas = (
        alpha,
        alpha
        / max(
            1, int((n_tasks > 0).reshape(-1, n_algorithms).sum(axis=-1).max(initial=1))
        ),
    )
    low, high = (
        task_flips.flip_intervals(each, of_families, plan, *alphas) for each in x
    )
    ends, together = (
        np.where(
            open_sides, [[-np.inf], [np.inf]], [low[place, :, 0], high[place, :, 1]]
        )
        for place in (0, 1)
    )
    # A bound shows what it is the worst case of: "sooner" if even the lower ones are, "later" if even the upper ones.
    proves = np.array([mean[0] > 0, mean[1] < 0])
    shown = np.where(proves, pvalues, 1.0).min(axis=0)
    shown_of_all = np.where(proves & ~np.isnan(adjusted), adjusted, 1.0).min(axis=0)
    exact = (~present | (bounds[0] == bounds[1])).all(axis=-1)
    middle, median_ends = _medians(bounds, alpha)
    alone = plan.n_units == len(families)  # tasks of a family are no draws of their own
    logs = {
        "speedup": np.where(exact, mean[0], np.nan),
        "speedup_ci": np.where(n_tasks > 0, ends, np.nan).T,
        "speedup_ci_simultaneous": np.where(n_tasks > 0, together, np.nan).T,
        "median_speedup": np.where(alone, middle, np.nan),
        "median_speedup_ci": np.where(alone, median_ends, np.nan).T,
    }
    claims = {name: np.exp(each) for name, each in logs.items()}
    few = n_families < 2
    return claims | {
        "pvalue": np.where(few, np.nan, shown),
        "pvalue_adjusted": np.where(few, np.nan, shown_of_all),
    }, n_families


def _pvalues(x: Floats, plan: FlipPlan, alpha: float) -> Floats:
    """Return p and adjusted p of benchmarks (benchmark, algorithm, family), of which some lack algorithms."""
    found = np.empty((2, *x.shape[:2]))
    patterns, which = np.unique(
        np.count_nonzero(~np.isnan(x), axis=-1), axis=0, return_inverse=True
    )
    # those that are adjusted together have the same families
    for number in range(len(patterns)):
        alike = np.flatnonzero(which.ravel() == number)
        found[:, alike] = task_flips.pvalues(x[alike], plan, alpha)
    return found


def _medians(bounds: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return medians of tasks, NaN where bounds leave them open, and exact intervals, shape (2, algorithm)."""
    least, most = medians(bounds)
    n = np.count_nonzero(~np.isnan(bounds[0]), axis=-1)
    order = scipy.stats.binom.ppf(alpha / 2, n, 0.5)
    # from 1; 0: none
    order = np.nan_to_num(
        order + (scipy.stats.binom.cdf(order, n, 0.5) <= alpha / 2)
    ).astype(int)
    rows = np.arange(len(n))
    found = [np.sort(bounds[0])[rows, order - 1], -np.sort(-bounds[1])[rows, order - 1]]
    ends = np.where(order > 0, found, [[-np.inf], [np.inf]])
    return np.where(least == most, least, np.nan), np.where(n > 0, ends, np.nan)


# powers of two between which critical values are looked for
_LEAST, _LARGEST = (-60.0, 200.0)


class LogTimes(NamedTuple):
    """Weighted logarithms of times, whose sums are the logarithms of ratios, one in each cell."""

    track: Tracks
    rows: Index  # of `track`, shape (cell, time)
    weight: Floats  # shape (time,)
    offset: Floats  # that the sum of a cell is added to

    def geometric_means(
        self, cells: Index, owner: Index, *alphas: float | Floats
    ) -> tuple[list[Floats], Floats]:
        """Return intervals and p-values of the geometric means of the ratios of cells with one owner each.

        There is an interval, (owner, 2), for each alpha, which is one number or one for each owner.
        """
        share = 1.0 / np.bincount(owner)[owner]
        offset = np.asarray(np.bincount(owner, share * self.offset[cells]), float)
        track, n = self.track.take(self.rows[cells].ravel()), len(offset)
        weight, owner = (
            np.outer(share, self.weight).ravel(),
            np.repeat(owner, len(self.weight)),
        )
        u, point = mean_curves.first_crossing(track)
        time = track.training(u)
        with np.errstate(invalid="ignore", divide="ignore"):
            log_time = np.log(time)
            error, df = mean_curves.slope_error(track, point)
            error = (
                np.abs(weight)
                * error
                * (1.0 if track.log else 1 / np.maximum(time, np.finfo(float).tiny))
            )
            joint = np.bincount(owner, error**2, n) ** 2 / np.bincount(
                owner, error**4 / df, n
            )
        least = np.full(n, np.inf)
        np.minimum.at(least, owner, df)
        joint = np.where(np.isfinite(joint), joint, least)  # without spread
        estimate = offset + np.bincount(owner, weight * log_time, n)

        def reach(critical: Floats) -> Floats:
            """Return how far limits are below and above the estimate, by root sum of squares."""
            hull = mean_curves.hull_by_statistic(track, critical[owner])
            with np.errstate(divide="ignore"):
                ends = np.abs(
                    np.log([track.training(hull.lower), track.training(hull.upper)])
                    - log_time
                )
            turned = np.where(weight > 0, ends, ends[::-1])
            return np.sqrt(
                [np.bincount(owner, (weight * each) ** 2, n) for each in turned]
            )

        def covers(power: Floats) -> NDArray[np.bool_]:
            below, above = reach(2.0**power)
            return np.asarray(
                np.where(estimate < 0, estimate + above, below - estimate) >= 0
            )

        high, _ = halve(covers, np.full(n, _LARGEST), np.full(n, _LEAST), 64)
        pvalue = np.where(
            high > _LARGEST - 1, 0.0, 2 * scipy.special.stdtr(joint, -(2.0**high))
        )
        intervals = []
        for alpha in alphas:
            below, above = reach(scipy.special.stdtrit(joint, 1 - alpha / 2))
            intervals.append(
                np.exp(np.stack([estimate - below, estimate + above], axis=-1))
            )
        return intervals, np.where(estimate == 0, 1.0, pvalue)
