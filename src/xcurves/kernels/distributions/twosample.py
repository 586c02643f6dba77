"""Two samples: which is greater how often, and the Kolmogorov-Smirnov distance with its permutation distribution.

Samples are rows of shape (task, trial), missing trials NaN; the first has ``m`` trials, the second ``n``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.array_types import Floats, Ints
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.distributions.ecdf import limits_at
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.binomial_limits import clopper_pearson
from xcurves.kernels.resampling.bisection import halve
from xcurves.kernels.resampling.plans import Plan

# (m + n) · max(min(m, n), FEW_TRIALS) <= EXACT_WORK: exact p
EXACT_WORK, FEW_TRIALS = (50_000_000, 500)

_HELD = 2**20


class Merged(NamedTuple):
    """Both samples in one ascending order, shape (task, trial)."""

    order: Ints  # indices of the trials in the concatenated samples
    # whether the next trial is greater: only there can distribution functions be compared
    end: NDArray[np.bool_]
    k: Ints  # how many trials of the first sample are up to each place
    j: Ints  # how many of the second
    m: Ints  # (task, 1), as n: numbers of trials
    n: Ints


def merge_samples(x: Floats, y: Floats) -> Merged:
    """Put the trials of two samples into one order."""
    both = np.concatenate([x, y], axis=-1)
    order = both.argsort(axis=-1, kind="stable")
    values = np.take_along_axis(both, order, axis=-1)
    present = ~np.isnan(values)
    end = present.copy()
    end[:, :-1] &= values[:, 1:] != values[:, :-1]
    m, n = (
        np.count_nonzero(~np.isnan(each), axis=-1)[:, np.newaxis] for each in (x, y)
    )
    k = np.cumsum((order < x.shape[-1]) & present, axis=-1, dtype=np.int64)
    return Merged(order, end, k, np.arange(1, k.shape[-1] + 1) - k, m, n)


def prob_greater(merged: Merged) -> Floats:
    """Return P(X > Y) + P(X = Y) / 2, shape (task,): the area below the second's CDF over the first's."""
    k, j = (
        np.maximum.accumulate(np.where(merged.end, each, 0), axis=-1)
        for each in (merged.k, merged.j)
    )
    wins = (np.diff(k, prepend=0) * (j - np.diff(j, prepend=0) / 2)).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(wins / (merged.m * merged.n)[:, 0])


def newcombe(probability: Floats, m: Ints, n: Ints, alpha: float) -> Floats:
    """Return Newcombe's (2006) interval by his method 5, (task, 2): θ within z errors by Hanley & McNeil's variance."""
    z = -scipy.special.ndtri(alpha / 2)
    more = (m + n) / 2 - 1

    def near(theta: Floats) -> NDArray[np.bool_]:
        variance = (
            theta
            * (1 - theta)
            * (1 + more * ((1 - theta) / (2 - theta) + theta / (1 + theta)))
            / (m * n)
        )
        return np.asarray((theta - probability) ** 2 <= z**2 * variance)

    ends = [
        np.where(probability == end, end, halve(near, probability, end)[1])
        for end in (0.0, 1.0)
    ]
    return np.where(
        np.isnan(probability)[:, np.newaxis], np.nan, np.stack(ends, axis=-1)
    )


def paired_probability(x: Floats, y: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return the share of runs in which the first is greater and its interval: Clopper & Pearson's or Tango's."""
    n = np.count_nonzero(~np.isnan(x), axis=-1)
    wins = np.count_nonzero(x > y, axis=-1)
    ties = np.count_nonzero(x == y, axis=-1)
    some = np.maximum(n, 1)
    probability = np.where(n > 0, (wins + ties / 2) / some, np.nan)
    exact = np.stack(clopper_pearson(wins, some, alpha), axis=-1)
    limits = np.where(
        (ties > 0)[:, np.newaxis], tango(wins, n - wins - ties, some, alpha), exact
    )
    return probability, np.where((n == 0)[:, np.newaxis], np.nan, limits)


def tango(wins: Ints, losses: Ints, n: Ints, alpha: float) -> Floats:
    """Return Tango's (1998) score interval of P(X > Y) + P(X = Y) / 2 from `n` pairs, shape (task, 2)."""
    z = -scipy.special.ndtri(alpha / 2)
    observed = (wins - losses) / n

    def near(d: Floats) -> NDArray[np.bool_]:
        b = (2 * n - wins + losses) * d - wins - losses
        # the most likely P(X < Y) of a difference d
        q = (np.sqrt(np.maximum(b**2 + 8 * n * losses * d * (1 - d), 0.0)) - b) / (
            4 * n
        )
        return np.asarray(
            (wins - losses - n * d) ** 2 <= z**2 * n * np.maximum(2 * q + d - d**2, 0.0)
        )

    return (
        1 + np.stack([halve(near, observed, end)[1] for end in (-1.0, 1.0)], axis=-1)
    ) / 2


def gaps(merged: Merged) -> Ints:
    """Return m n times the greatest distance of the distribution functions, shape (task,)."""
    return np.asarray(
        np.abs(np.where(merged.end, merged.j * merged.m - merged.k * merged.n, 0)).max(
            axis=-1
        )
    )


def outside_bands(
    merged: Merged, alpha: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether the first, and the second, is higher at some score: its CDF's band is below the other's."""
    sides = ((merged.k, merged.m), (merged.j, merged.n))
    x, y = (
        limits_at(np.minimum(count, size), size[:, 0], alpha) for count, size in sides
    )
    above, below = (
        merged.end & apart for apart in (x.upper < y.lower, y.upper < x.lower)
    )
    return np.asarray(above.any(axis=-1)), np.asarray(below.any(axis=-1))


def ks_pvalue(merged: Merged, gap: Ints) -> Floats:
    """Return P(D >= D observed), (task,), all assignments being equally likely: exact, or of many Kolmogorov's."""
    pvalue = np.full(len(gap), np.nan)
    sizes = np.column_stack([merged.m, merged.n])
    for m, n in np.unique(sizes[(sizes > 0).all(axis=-1)], axis=0):
        tasks = np.flatnonzero((sizes == (m, n)).all(axis=-1))
        if int(m + n) * max(int(min(m, n)), FEW_TRIALS) > EXACT_WORK:
            pvalue[tasks] = scipy.special.kolmogorov(
                gap[tasks] / (m * n) * np.sqrt(m * n / (m + n))
            )
            continue
        for part in stretches(len(tasks), max(1, int(_HELD // (min(m, n) + 1)))):
            some = tasks[part]
            pvalue[some] = _lattice_paths(
                merged.end[some, : m + n], gap[some], int(min(m, n)), int(max(m, n))
            )
    return pvalue


def _lattice_paths(end: NDArray[np.bool_], gap: Ints, m: int, n: int) -> Floats:
    """Add up the probabilities of paths from (0, 0) to (m, n), m <= n, that reach the gap at a block's end."""
    k = np.arange(m + 1)
    mass = np.zeros((len(gap), m + 1))
    mass[:, 0] = 1.0
    reached = np.zeros(len(gap))
    for step in range(1, m + n + 1):
        left = m + n - step + 1
        right = mass * ((m - k) / left)  # the next trial is of the first sample
        mass *= np.maximum(n - (step - 1 - k), 0) / left
        mass[:, 1:] += right[:, :-1]
        far = end[:, step - 1, np.newaxis] & (
            np.abs((step - k) * m - k * n) >= gap[:, np.newaxis]
        )
        reached += np.where(far, mass, 0.0).sum(axis=-1)
        mass[far] = 0.0
    return np.minimum(reached, 1.0)


def paired_ks_pvalue(merged: Merged, gap: Ints, plan: Plan) -> Floats:
    """Return the p-value of D when the two trials of a run may change places, (task,), all of as many runs."""
    n_tasks, width = merged.order.shape
    hits = np.full(n_tasks, plan.besides)
    n_runs = width // 2
    for labels in plan.blocks():
        sign = 2 * labels - 1
        for part in stretches(n_tasks, max(1, _HELD // sign.size)):
            # (task, trial, shuffle)
            walk = np.cumsum(sign.T[merged.order[part]], axis=1, dtype=np.int32)
            if not merged.end[part].all():
                walk[~merged.end[part]] = 0
            furthest = np.maximum(walk.max(axis=1), -walk.min(axis=1)).astype(np.int64)
            hits[part] += np.count_nonzero(
                furthest * n_runs >= gap[part, np.newaxis], axis=-1
            )
    return np.asarray(hits / plan.n_total)


def stratified_probability(x: Floats, y: Floats) -> Floats:
    """Return the mean over strata of P(X > Y) + P(X = Y) / 2, of trials of shape (task, stratum, trial)."""
    beats, m, n = _comparisons(x, y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((beats.sum(axis=(-1, -2)) / (m * n)).mean(axis=-1))


def stratified_interval(
    x: Floats, y: Floats, n_resamples: int, entropy: int, alpha: float
) -> Floats:
    """Return the bootstrap interval of that mean, (task, 2), of sorted trials of strata of the same sizes."""
    x, y = (
        each[..., : np.count_nonzero(~np.isnan(each), axis=-1).max()] for each in (x, y)
    )
    beats, m, n = _comparisons(x, y)
    beats = beats / (m * n)[..., np.newaxis, np.newaxis] / m.shape[-1]
    sizes = [tuple(int(size) for size in each[0]) for each in (m, n)]
    designs = [
        bootstrap.BootstrapDesign(size, None, n_resamples, entropy + i)
        for i, size in enumerate(sizes)
    ]
    places = [
        np.arange(width) < np.array(size)[:, np.newaxis]
        for width, size in zip(beats.shape[-2:], sizes, strict=True)
    ]
    rows = max(1, _HELD // (8 * places[0].size * beats.shape[-1]))
    drawn = []
    for number, some in enumerate(stretches(n_resamples, rows)):
        count, weights = some.stop - some.start, []
        for design, place in zip(designs, places, strict=True):
            weight = np.zeros((count, *place.shape))
            weight[:, place] = design.block(number, count)
            weights.append(weight.swapaxes(0, 1))  # (stratum, resample, trial)
        wins = weights[0] @ beats  # (task, stratum, resample, trial of the second)
        drawn.append((wins * weights[1]).sum(axis=(1, -1)))
    tails = np.array([alpha / 2, 1 - alpha / 2])
    return bootstrap.bootstrap_percentiles(
        np.concatenate(drawn, axis=-1)[..., np.newaxis], tails
    )[:, 0]


def _comparisons(x: Floats, y: Floats) -> tuple[Floats, Ints, Ints]:
    first, second = x[..., :, np.newaxis], y[..., np.newaxis, :]
    beats = (first > second) + (first == second) / 2
    m, n = (np.count_nonzero(~np.isnan(each), axis=-1) for each in (x, y))
    return beats, m, n
