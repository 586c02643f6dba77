"""Times at which runs reach a target, performance profiles of them (Dolan & Moré 2002), and ratios of times over tasks.

Intervals of ratios combine by root sum of squares (MOVER; Zou & Donner 2008, doi:10.1002/sim.3095). Bounds of ratios,
low and high, are equal where known, 0 or infinite where nothing bounds them there, NaN where a task says nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index, Ints
from xcurves.kernels.intervals import satterthwaite
from xcurves.kernels.over_tasks import task_flips
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.plans import FlipPlan, make_generator
from xcurves.kernels.resampling.shifts import halve
from xcurves.kernels.times import curve_tracks
from xcurves.kernels.times.curve_tracks import Tracks

_AT_ONCE = 2**21  # evaluations of all runs of a batch


def first_times(
    scores: Floats, target: Floats, levels: Floats, *, sustained: int, higher: bool
) -> tuple[Floats, Floats]:
    """Return the first level of `sustained` known evaluations in a row that meet the target, else inf, and the last.

    Scores have the shape (..., algorithm, run, evaluation), NaN where a run has none; absent runs have NaN.
    """
    shape = scores.shape
    n_evaluations = shape[-1]
    y = scores.reshape(-1, n_evaluations)
    targets = np.asarray(target)[..., np.newaxis, np.newaxis]
    c = np.broadcast_to(targets, shape[:-1]).reshape(-1, 1)
    of_runs = np.broadcast_to(levels, shape).reshape(-1, n_evaluations)
    times, last = np.full((2, len(y)), np.nan)
    for some in stretches(len(y), max(1, _AT_ONCE // n_evaluations)):
        known = ~np.isnan(y[some])
        if higher:
            met = y[some] >= c[some]
        else:
            met = y[some] <= c[some]

        # Known evaluations come first: those without a score do not break a row of them.
        order = np.argsort(~known, axis=-1, kind="stable")
        in_order = np.take_along_axis(met, order, axis=-1)
        # so many in a row meet the target where the count rises by as many
        number = np.pad(in_order.cumsum(axis=-1), ((0, 0), (1, 0)))
        rises = number[:, sustained:] - number[:, :-sustained] == sustained
        first = rises.argmax(axis=-1)[:, np.newaxis]
        evaluation = np.take_along_axis(order, first, axis=-1)
        at_first = np.take_along_axis(of_runs[some], evaluation, axis=-1)[:, 0]

        time = np.where(rises.any(axis=-1), at_first, np.inf)
        times[some] = np.where(known.any(axis=-1), time, np.nan)
        last[some] = np.where(known, of_runs[some], -np.inf).max(axis=-1)
    last[np.isnan(times)] = np.nan
    return times.reshape(shape[:-1]), last.reshape(shape[:-1])


def medians(times: Floats) -> Floats:
    """Return medians along the last axis, NaN where all are; the middle two are averaged, infinite if either is."""
    ordered = np.sort(times, axis=-1)  # NaN last
    n = np.count_nonzero(~np.isnan(times), axis=-1)[..., np.newaxis]
    low = np.take_along_axis(ordered, np.maximum(n - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ordered, n // 2, axis=-1)
    return np.asarray((low + high)[..., 0] / 2)


def ratios(times: Floats, bases: Index | None, tau_max: float) -> Floats:
    """Return times over the best, (..., task, algorithm); variants and their `bases` gate each other (AlgoPerf)."""
    # In the order of AlgoPerf's rules. Who has no time did not reach the target.
    reached = np.where(np.isnan(times), np.inf, times)
    if bases is not None:
        # a held-out variant counts only where its base reached the target
        variants = np.flatnonzero(bases >= 0)
        of_bases = reached[..., bases[variants], :]
        of_variants = reached[..., variants, :]
        reached[..., variants, :] = np.where(np.isinf(of_bases), np.inf, of_variants)
    best = reached.min(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # the best is 1, also where its time is 0
        is_best = (reached == best) & np.isfinite(best)
        found = np.where(is_best, 1.0, reached / best)
    found = np.where(np.isnan(found), np.inf, found)  # nobody reached it
    if bases is None:
        return found

    found[found > tau_max] = np.inf
    # a base counts only where its variant is within the limit; variants do not count by themselves
    for variant in variants:
        of_base = found[..., bases[variant], :]
        of_base[np.isinf(found[..., variant, :])] = np.inf
    return np.asarray(found[..., bases < 0, :])


def contributions(found: Floats, tau_max: float, points: int | None) -> Floats:
    """Return the share of each task in a score: the area under its profile, trapezoidal with so many `points`."""
    # A task of ratio r adds its part to the profile from r to tau_max: the share that this is of the length is exact.
    if points is None:
        return np.asarray(np.maximum(0.0, (tau_max - found) / (tau_max - 1)))
    # AlgoPerf's own sum over a grid, to reproduce its scores
    tau = np.linspace(1.0, tau_max, points)
    weight = np.full(points, 1 / (points - 1))
    weight[[0, -1]] /= 2
    return np.asarray((found[..., np.newaxis] <= tau) @ weight)


def bootstrap_scores(
    times: Floats,
    bases: Index | None,
    tau_max: float,
    points: int | None,
    n_draws: int,
    entropy: int,
) -> Floats:
    """Return scores, (draw, algorithm), of runs of times (task, algorithm, run) drawn with replacement."""
    # a stream of its own: not that of other draws by the same seed
    rng = make_generator(np.random.SeedSequence(entropy, spawn_key=(11,)))
    drawn = np.full((n_draws, *times.shape), np.nan)
    n_runs = np.count_nonzero(~np.isnan(times), axis=-1)
    ordered = np.sort(times, axis=-1)  # NaN last
    for cell in zip(*np.nonzero(n_runs), strict=True):
        picked = rng.integers(n_runs[cell], size=(n_draws, n_runs[cell]))
        drawn[(slice(None), *cell, slice(n_runs[cell]))] = ordered[cell][picked]
    # all algorithms at once: the best of each draw defines the unit
    drawn_ratios = ratios(medians(drawn), bases, tau_max)
    return np.asarray(contributions(drawn_ratios, tau_max, points).mean(axis=-2))


def over_tasks(
    bounds: Floats,
    families: Index,
    plan: FlipPlan,
    alpha: float,
    n_algorithms: int | None = None,
) -> tuple[dict[str, Floats], Ints]:
    """Return claims about tasks like these, and how many families make them, of bounds (2, algorithm, task).

    Geometric means are by flips of whole tasks or families, medians are over tasks. So many algorithms, one after the
    other, are of one benchmark, over which p is adjusted and intervals hold together: by default all.
    """
    together = bounds.shape[1] if n_algorithms is None else n_algorithms
    with np.errstate(divide="ignore"):
        logs = np.log(bounds)
    present = ~np.isnan(logs[0])
    n_tasks = present.sum(axis=-1)

    # Each family has the sum of its tasks' parts of the mean: it is flipped as a whole.
    weight = np.where(present, 1 / np.maximum(n_tasks, 1)[:, np.newaxis], np.nan)
    of_families, *sums = task_flips.family_sums(np.stack([weight, *weight * logs]), families)
    x = np.array(sums)
    n_families = (~np.isnan(of_families)).sum(axis=-1)

    # A mean of which one task may be anything may be anything on that side.
    is_open = np.isinf(x).any(axis=-1)
    x[is_open] = np.nan
    mean = np.where(is_open | (n_tasks == 0), np.nan, np.nansum(x, axis=-1))
    shown, shown_together = _shown(x, mean, together, plan, alpha)
    by_itself, simultaneous = _flip_limits(x, is_open, of_families, n_tasks, together, plan, alpha)

    # of bounds that are equal everywhere the mean is known
    exact = (~present | (logs[0] == logs[1])).all(axis=-1)
    median, median_limits = _medians(logs, alpha)
    is_alone = plan.n_units == len(families)  # tasks of a family are no own draws
    has_tasks = n_tasks > 0
    of_logs = {
        "speedup": np.where(exact, mean[0], np.nan),
        "speedup_ci": np.where(has_tasks, by_itself, np.nan).T,
        "speedup_ci_simultaneous": np.where(has_tasks, simultaneous, np.nan).T,
        "median_speedup": np.where(is_alone, median, np.nan),
        "median_speedup_ci": np.where(is_alone, median_limits, np.nan).T,
    }
    claims = {name: np.exp(log) for name, log in of_logs.items()}
    # one family says nothing about the spread of families
    few = n_families < 2
    claims["pvalue"] = np.where(few, np.nan, shown)
    claims["pvalue_adjusted"] = np.where(few, np.nan, shown_together)
    return claims, n_families


def _shown(x: Floats, mean: Floats, together: int, plan: FlipPlan, alpha: float) -> tuple[Floats, Floats]:
    """Return p and adjusted p, shape (algorithm,), of sums of bounds (2, algorithm, family) and their means."""
    by_benchmark = x.reshape(-1, together, x.shape[-1])
    pvalues, adjusted = _pvalues(by_benchmark, plan, alpha).reshape(2, 2, -1)
    # A bound shows what it is the worst case of: "sooner" if even the lower ones are, "later" if even the upper ones.
    proves = np.array([mean[0] > 0, mean[1] < 0])
    shown = np.where(proves, pvalues, 1.0).min(axis=0)
    is_adjusted = proves & ~np.isnan(adjusted)
    return shown, np.where(is_adjusted, adjusted, 1.0).min(axis=0)


def _flip_limits(
    x: Floats,
    is_open: Bools,
    of_families: Floats,
    n_tasks: Index,
    together: int,
    plan: FlipPlan,
    alpha: float,
) -> tuple[Floats, Floats]:
    """Return limits of means, (2, algorithm): each by itself, and all of a benchmark by Bonferroni."""
    n_compared = (n_tasks > 0).reshape(-1, together).sum(axis=-1).max(initial=1)
    alphas = (alpha, alpha / max(1, int(n_compared)))
    # the lower end is that of the lower bounds, the upper end that of the upper ones
    low = task_flips.flip_intervals(x[0], of_families, plan, *alphas)
    high = task_flips.flip_intervals(x[1], of_families, plan, *alphas)
    unbounded = [[-np.inf], [np.inf]]
    by_itself = np.where(is_open, unbounded, [low[0, :, 0], high[0, :, 1]])
    simultaneous = np.where(is_open, unbounded, [low[1, :, 0], high[1, :, 1]])
    return by_itself, simultaneous


def _pvalues(x: Floats, plan: FlipPlan, alpha: float) -> Floats:
    """Return p and adjusted p of benchmarks (benchmark, algorithm, family), of which some lack algorithms."""
    found = np.empty((2, *x.shape[:2]))
    patterns, which = np.unique(np.count_nonzero(~np.isnan(x), axis=-1), axis=0, return_inverse=True)
    # those that are adjusted together have the same families
    for number in range(len(patterns)):
        alike = np.flatnonzero(which.ravel() == number)
        found[:, alike] = task_flips.pvalues(x[alike], plan, alpha)
    return found


def _medians(bounds: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return medians of tasks, NaN where bounds leave them open, and exact intervals, shape (2, algorithm)."""
    least, most = medians(bounds)
    n = np.count_nonzero(~np.isnan(bounds[0]), axis=-1)
    # The r-th lowest is above the median with P(Bin(n, 1/2) < r): r is the largest for which that is alpha / 2 at most,
    # from 1, and 0 where there is none. `ppf` is the smallest count whose probability is at least alpha / 2.
    count = scipy.stats.binom.ppf(alpha / 2, n, 0.5)
    is_within = scipy.stats.binom.cdf(count, n, 0.5) <= alpha / 2
    order = np.nan_to_num(count + is_within).astype(int)

    rows = np.arange(len(n))
    lower = np.sort(bounds[0])[rows, order - 1]
    upper = -np.sort(-bounds[1])[rows, order - 1]
    ends = np.where(order > 0, [lower, upper], [[-np.inf], [np.inf]])
    return np.where(least == most, least, np.nan), np.where(n > 0, ends, np.nan)


# powers of two between which critical values are looked for
_LEAST, _LARGEST = (-60.0, 200.0)


class LogTimes(NamedTuple):
    """Weighted logarithms of times, whose sums are the logarithms of ratios, one in each cell."""

    track: Tracks
    rows: Index  # of `track`, shape (cell, time)
    weight: Floats  # shape (time,)
    offset: Floats  # that the sum of a cell is added to

    def geometric_means(self, cells: Index, owner: Index, *alphas: float | Floats) -> tuple[list[Floats], Floats]:
        """Return intervals and p-values of the geometric means of the ratios of cells with one owner each.

        There is an interval, (owner, 2), for each alpha, which is one number or one for each owner.
        """
        share = 1.0 / np.bincount(owner)[owner]
        offset = np.bincount(owner, share * self.offset[cells]).astype(float)
        means = _WeightedTimes.of(
            self.track.take(self.rows[cells].ravel()),
            np.outer(share, self.weight).ravel(),
            np.repeat(owner, len(self.weight)),
            offset,
        )
        df = means.degrees
        estimate = means.estimate

        # p is where an end of the interval reaches a ratio of 1, whose logarithm is 0: found among powers of two, as
        # critical values of any size are possible.
        def covers(power: Floats) -> Bools:
            below, above = means.reach(2.0**power)
            distance = np.where(estimate < 0, estimate + above, below - estimate)
            return np.asarray(distance >= 0)

        n = len(offset)
        power, _ = halve(covers, np.full(n, _LARGEST), np.full(n, _LEAST), 64)
        is_beyond = power > _LARGEST - 1
        tails = 2 * scipy.special.stdtr(df, -(2.0**power))
        pvalue = np.where(is_beyond, 0.0, tails)

        intervals = []
        for alpha in alphas:
            below, above = means.reach(scipy.special.stdtrit(df, 1 - alpha / 2))
            ends = np.stack([estimate - below, estimate + above], axis=-1)
            intervals.append(np.exp(ends))
        return intervals, np.where(estimate == 0, 1.0, pvalue)


class _WeightedTimes(NamedTuple):
    """Times at which mean curves reach their level, and the sums of their logarithms by owner."""

    track: Tracks
    weight: Floats  # (time,)
    owner: Index  # (time,)
    log_time: Floats
    estimate: Floats  # (owner,): the sum of weighted logarithms, with an offset
    degrees: Floats  # (owner,): of freedom

    @classmethod
    def of(cls, track: Tracks, weight: Floats, owner: Index, offset: Floats) -> _WeightedTimes:
        n = len(offset)
        u, point = curve_tracks.first_crossing(track)
        time = track.training(u)
        error, df = curve_tracks.slope_error(track, point)
        with np.errstate(invalid="ignore", divide="ignore"):
            log_time = np.log(time)
            log_error = np.abs(weight) * error
            if not track.log:
                # d ln t = dt / t; where training is read in logs u is one already
                log_error *= 1 / np.maximum(time, np.finfo(float).tiny)
            variance = np.bincount(owner, log_error**2, n).astype(float)
            squares = np.bincount(owner, log_error**4 / df, n).astype(float)
        degrees = satterthwaite(variance, squares)

        # without spread, or a time: the least of those that are summed
        least = np.full(n, np.inf)
        np.minimum.at(least, owner, df)
        known_degrees = np.where(np.isfinite(degrees), degrees, least)
        estimate = offset + np.bincount(owner, weight * log_time, n)
        return cls(track, weight, owner, log_time, estimate, known_degrees)

    def reach(self, critical: Floats) -> Floats:
        """Return how far limits are below and above the estimate, by root sum of squares."""
        hull = curve_tracks.hull_by_statistic(self.track, critical[self.owner])
        lower = self.track.training(hull.lower)
        upper = self.track.training(hull.upper)
        with np.errstate(divide="ignore"):
            distances = np.abs(np.log([lower, upper]) - self.log_time)
        # a time with a negative weight lowers the sum where it is long: its ends change places
        in_sum = np.where(self.weight > 0, distances, distances[::-1])
        n = len(self.estimate)
        squares = [np.bincount(self.owner, (self.weight * distance) ** 2, n) for distance in in_sum]
        return np.sqrt(squares)
