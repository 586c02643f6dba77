"""How often the looks that are left would show a pair: normal runs go on as those so far, looked at as planned.

The true difference of each continuation is drawn from its own uncertainty, Welch's t about the difference seen.
Boundaries are those of a normal statistic that spends the plan's share of the level at each look (Armitage, McPherson
& Rowe 1969, doi:10.2307/2343787); a continuation crosses one where the p-value of Welch's t is at most its level.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, stdtr

from xcurves.array_types import Floats, Index
from xcurves.kernels.intervals import satterthwaite
from xcurves.kernels.looks.sequential_pvalues import Spending, spent
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.plans import make_generator

# Of a chance of one half the standard error is .011.
N_CONTINUATIONS = 2000
UNLIKELY = 0.1  # chance below which a pair is futile
_POINTS = 201  # at which the statistic's density is carried from look to look
_FAR = 12.0  # standard deviations beyond which no statistic gets: a level of 4e-33
_TASKS = 8  # whose runs are drawn at once


class Seen(NamedTuple):
    """What a pair of algorithms has shown by a look; both are on the last axis of arrays (task, 2)."""

    difference: float  # weighted mean over tasks
    weights: Floats  # (task,)
    n_runs: Floats
    sd: Floats  # of a run, on the scale of Welch's t
    batch: Index  # runs of each look to come


def seen_by(u: Floats, look: Index, k: int, difference: float, scale: float) -> Seen:
    """Return what numbers `u`, shape (2, task, run), NaN where a run is absent, have shown by look `k`.

    `scale` is what T is to be multiplied by to read it as a t statistic.
    """
    # Less the mean of their batch, as the test has them; batches that lack one of the two do not count.
    batch = np.zeros((u.shape[1], 2), np.intp)
    centred = np.full(u.shape, np.nan)
    for number in range(k + 1):
        is_in_batch = look == number
        of_batch = u[:, :, is_in_batch]
        sizes = np.count_nonzero(~np.isnan(of_batch), axis=-1).T
        has_both = (sizes > 0).all(axis=-1)
        # the looks to come are taken to be as the last one that counted
        batch[has_both] = sizes[has_both]
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = np.nansum(of_batch, axis=(0, 2)) / sizes.sum(axis=-1)
        less_middle = of_batch - middle[:, np.newaxis]
        centred[:, :, is_in_batch] = np.where(has_both[:, np.newaxis], less_middle, np.nan)

    is_present = ~np.isnan(centred)
    n_runs = is_present.sum(axis=-1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(is_present, centred, 0.0).sum(axis=-1) / n_runs
        deviations = centred - mean[..., np.newaxis]
        squares = (deviations**2).sum(axis=-1, where=is_present)
        # Batches take degrees of freedom: T is too large by 1 / scale, and so are standard deviations too small.
        sd = np.sqrt(squares / (n_runs - 1)) / scale
    has_runs = (batch > 0).all(axis=-1)
    weights = np.asarray(has_runs / max(int(np.count_nonzero(has_runs)), 1))
    return Seen(difference, weights, n_runs.T, sd.T, batch)


def can_show(sizes: Index, share: Floats, alpha: float, n_resamples: int) -> NDArray[np.bool_]:
    """Return at which looks, batches of `sizes` (look, task, 2), the smallest sequential p is at most the level."""
    # The smallest q is 1 / (s_k B), B the assignments: as many as there are, or the random ones and the observed one.
    # As long as all are enumerated and all batches have equal numbers, the observed one and its mirror have one
    # statistic, and it is twice that.
    n_assignments, are_equal = 1, True
    shows = []
    for of_look, spent_by_then in zip(sizes.tolist(), share.tolist(), strict=True):
        dealt = [(a, b) for a, b in of_look if min(a, b) > 0]
        n_deals = prod(comb(a + b, a) for a, b in dealt)
        n_assignments = min(n_assignments * n_deals, n_resamples + 1)
        are_equal &= all(a == b for a, b in dealt)
        is_mirrored = are_equal and n_assignments <= n_resamples
        n_least = 2 if is_mirrored else 1
        shows.append(n_least / (spent_by_then * n_assignments) <= alpha)
    return np.array(shows)


def information_at(sizes: Index) -> Floats:
    """Return the precision of the difference until each look, batches of `sizes` (look, task, 2), 1 at the last."""
    # The mean over T tasks of differences with the variances 1 / n_a + 1 / n_b has the variance Σ (…) / T².
    dealt = np.where((sizes > 0).all(axis=-1, keepdims=True), sizes, 0)
    n_runs = dealt.cumsum(axis=0)
    has_runs = (n_runs > 0).all(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_tasks = np.where(has_runs, (1 / n_runs).sum(axis=-1), 0.0)
        variance = of_tasks.sum(axis=-1) / has_runs.sum(axis=-1) ** 2
        precision = np.where(has_runs.any(axis=-1), 1 / variance, 0.0)
    # a task that comes later must not take information away
    precision = np.maximum.accumulate(precision)
    last = float(precision[-1])
    if not last > 0:
        return precision
    return np.asarray(precision / last)


def levels_left(
    seen: Seen,
    past: Index,
    n_looks: int,
    spending: Spending,
    alpha: float,
    n_resamples: int,
) -> Floats:
    """Return the two-sided levels of the looks left of a pair, given its batches so far, (look, task, 2)."""
    done = len(past)
    sizes = np.concatenate([past, np.broadcast_to(seen.batch, (n_looks - done, *seen.batch.shape))])
    tested = can_show(sizes, spent(spending, n_looks), alpha, n_resamples)
    return nominal_levels(spending, information_at(sizes), tested, alpha)[done:]


def nominal_levels(
    spending: Spending,
    information: Iterable[float],
    tested: Iterable[bool],
    alpha: float,
) -> Floats:
    """Return the two-sided level of a normal statistic at each look, 0 where nothing is tested.

    `information` is the sum of the variances of independent increments until each look. A share of the level that is
    not spent at one look is at the next.
    """
    # rounded, so that plans that only differ by rounding have one entry in the cache
    rounded = tuple(round(float(by_look), 9) for by_look in information)
    return np.array(_levels(spending, rounded, tuple(map(bool, tested)), alpha))


@lru_cache(maxsize=256)
def _levels(
    spending: Spending,
    information: tuple[float, ...],
    tested: tuple[bool, ...],
    alpha: float,
) -> tuple[float, ...]:
    # Of the sum S of the increments so far, where no look has rejected: its density as masses at points x. A look is
    # crossed by |S + increment| > end with the probability that may be spent since the last one; the new density within
    # (-end, end) is the convolution with the increment's, at the nodes of Gauss's rule (Armitage et al.).
    share = alpha * spent(spending, len(information))
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    used, before = 0.0, 0.0
    x, mass = np.zeros(1), np.ones(1)
    levels = []
    for total, by_then, is_tested in zip(information, share.tolist(), tested, strict=True):
        step = np.sqrt(max(total - before, 0.0))
        if not is_tested or step == 0.0:
            levels.append(0.0)
            continue
        far = _FAR * np.sqrt(total)
        end = brentq(_excess_crossed, 0.0, far, args=(x, mass, step, by_then - used))
        new_x = end * nodes
        distance = (new_x[:, np.newaxis] - x) / step
        density = np.exp(-(distance**2) / 2) @ mass / (np.sqrt(2 * np.pi) * step)
        x, mass = new_x, density * end * weights
        used, before = by_then, total
        # the two-sided level of a normal statistic of this variance
        levels.append(float(2 * ndtr(-end / np.sqrt(total))))
    return tuple(levels)


def _excess_crossed(end: float, x: Floats, mass: Floats, step: float, allowed: float) -> float:
    """Return by how much the probability that ``|x + step z| > end``, z normal, exceeds what is allowed."""
    crossed = ndtr((x - end) / step) + ndtr((-x - end) / step)
    return float(mass @ crossed) - allowed


def chances(seen: Seen, levels: Floats, ends: Floats, entropy: int, k: int) -> Floats:
    """Return in which share of continuations from look `k` on some look left shows the pair.

    First with the true difference drawn anew for each of them, then with each of `ends` for the true one. `levels` are
    those of the looks left. NaN where the runs so far do not tell a spread or an end is not known.
    """
    has_runs = seen.weights > 0
    seen = Seen(
        seen.difference,
        seen.weights[has_runs],
        seen.n_runs[has_runs],
        seen.sd[has_runs],
        seen.batch[has_runs],
    )
    if not has_runs.any() or not np.isfinite(seen.sd).all():
        return np.full(1 + len(ends), np.nan)

    # Runs to come are like those so far, but for the true difference: by so much they are shifted.
    uncertain = _draw_errors(seen, make_generator([entropy, k, 0]))
    at_ends = np.where(np.isfinite(ends), ends - seen.difference, 0.0)
    fixed = np.broadcast_to(at_ends[:, np.newaxis], (len(ends), N_CONTINUATIONS))
    shift = np.concatenate([uncertain[np.newaxis], fixed])
    shape = (len(levels), *shift.shape)
    d = np.full(shape, seen.difference)
    v, squared_v = np.zeros(shape), np.zeros(shape)
    for number, tasks in enumerate(stretches(len(seen.weights), _TASKS), 1):
        _add_tasks(
            d,
            v,
            squared_v,
            seen,
            tasks,
            shift,
            make_generator([entropy, k, number]),
        )
    df = _welch_df(v, squared_v)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * stdtr(df, -np.abs(d) / np.sqrt(v))
    shown = (p <= levels[:, np.newaxis, np.newaxis]).any(axis=0).mean(axis=-1)
    # any look shows an endless difference
    true = np.array([seen.difference, *ends])
    shown = np.where(np.isinf(true), float((levels > 0).any()), shown)
    return np.where(np.isnan(true), np.nan, shown)


def _draw_errors(seen: Seen, rng: np.random.Generator) -> Floats:
    """Return by how much true differences may exceed the one seen, (continuation,): Welch's t of the runs so far."""
    of_mean = seen.sd**2 / seen.n_runs * seen.weights[:, np.newaxis] ** 2
    v = of_mean.sum()
    df = _welch_df(v, (of_mean**2 / (seen.n_runs - 1)).sum())
    return np.asarray(np.sqrt(v) * rng.standard_t(df, size=N_CONTINUATIONS))


def _welch_df(v: Floats, squared_v: Floats) -> Floats:
    """Return Satterthwaite's degrees of freedom, V² / Σ v² / (n - 1); 1 where nothing varies."""
    return np.where(v > 0, satterthwaite(v, squared_v), 1.0)


def _add_tasks(
    d: Floats,
    v: Floats,
    squared_v: Floats,
    seen: Seen,
    tasks: slice,
    shift: Floats,
    rng: np.random.Generator,
) -> None:
    """Add some tasks to D, V and the denominator of the degrees of freedom, (look left, case, continuation)."""
    # (task, case, continuation, algorithm): numbers so far, of the next batch, and standard deviations
    w = seen.weights[tasks, np.newaxis, np.newaxis]
    n = seen.n_runs[tasks, np.newaxis, np.newaxis]
    size = seen.batch[tasks, np.newaxis, np.newaxis].astype(float)
    spread = np.nan_to_num(seen.sd[tasks, np.newaxis, np.newaxis])
    mean = np.zeros((len(w), 1, 1, 2))  # less that of the runs so far
    squares = spread**2 * (n - 1)
    # Numbers are less the mean of their batch: of a shift the first algorithm keeps the share of the other's runs.
    share = size[..., ::-1] / size.sum(axis=-1, keepdims=True)
    moved = shift[..., np.newaxis] * share * np.array([1.0, -1.0])
    drawn = (len(w), 1, N_CONTINUATIONS, 2)
    for look in range(len(d)):
        # Of a batch of normal runs mean and sum of squares are drawn, not the runs: they are independent.
        noise = rng.normal(size=drawn) / np.sqrt(np.maximum(size, 1))
        df_within = np.maximum(size - 1, 1e-12)  # of a single run there is none
        within = rng.chisquare(np.broadcast_to(df_within, drawn))

        # Two samples together: their means differ by `apart`, which adds apart² n_1 n_2 / (n_1 + n_2) to the squares.
        apart = moved + spread * noise - mean
        n_after = n + size
        mean = mean + apart * size / n_after
        of_batch = spread**2 * within * (size > 1)
        squares = squares + of_batch + apart**2 * n * size / n_after
        n = n_after
        of_mean = squares / np.maximum(n - 1, 1) / n * w[..., np.newaxis] ** 2
        d[look] += (w * (mean[..., 0] - mean[..., 1])).sum(axis=0)
        v[look] += of_mean.sum(axis=(0, -1))
        squared_v[look] += (of_mean**2 / np.maximum(n - 1, 1)).sum(axis=(0, -1))
