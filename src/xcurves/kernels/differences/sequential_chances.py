"""How often the looks that are left would show a pair: normal runs go on as those so far, looked at as planned.

Boundaries are those of a normal statistic that spends the plan's share of the level at each look (Armitage, McPherson
& Rowe 1969, doi:10.2307/2343787); a continuation crosses one where the p-value of Welch's t is at most its level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, stdtr

from xcurves.array_types import Floats, Index
from xcurves.kernels.differences.sequential_pvalues import Spending, spent
from xcurves.kernels.resampling.batches import stretches
from xcurves.kernels.resampling.streams import make_generator

N_CONTINUATIONS = 2000
# chances below which a pair is futile: as seen, and at the better end of the interval
UNLIKELY, AT_BEST = (0.1, 0.5)
_POINTS = 201  # at which the statistic's density is carried from look to look
_FAR = 12.0  # standard deviations beyond which no statistic gets
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
    batch = np.zeros((u.shape[1], 2), np.intp)
    centred = np.full(u.shape, np.nan)
    for number in range(k + 1):
        there = look == number
        of_batch = u[:, :, there]
        sizes = np.count_nonzero(~np.isnan(of_batch), axis=-1).T
        both = (sizes > 0).all(axis=-1)
        batch[both] = sizes[both]
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = np.nansum(of_batch, axis=(0, 2)) / sizes.sum(axis=-1)
        of_batch = np.where(
            both[:, np.newaxis], of_batch - middle[:, np.newaxis], np.nan
        )
        centred[:, :, there] = of_batch
    present = ~np.isnan(centred)
    n_runs = present.sum(axis=-1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        totals = np.where(present, centred, 0.0).sum(axis=-1)
        mean = totals / n_runs
        squares = ((centred - mean[..., np.newaxis]) ** 2).sum(axis=-1, where=present)
        sd = np.sqrt(squares / (n_runs - 1)) / scale
    some = (batch > 0).all(axis=-1)
    weights = np.asarray(some / max(int(np.count_nonzero(some)), 1))
    return Seen(difference, weights, n_runs.T, sd.T, batch)


def can_show(
    sizes: Index, share: Floats, alpha: float, n_resamples: int
) -> NDArray[np.bool_]:
    """Return at which looks, batches of `sizes` (look, task, 2), the smallest sequential p is at most the level."""
    n_assignments, found, alike = 1, [], True
    for of_look, spent_by_then in zip(sizes.tolist(), share.tolist(), strict=True):
        dealt = [(a, b) for a, b in of_look if min(a, b) > 0]
        n_assignments = min(
            n_assignments * prod(comb(a + b, a) for a, b in dealt), n_resamples + 1
        )
        alike &= all(a == b for a, b in dealt)
        # the observed and its mirror have one statistic
        mirrored = alike and n_assignments <= n_resamples
        found.append((1 + mirrored) / (spent_by_then * n_assignments) <= alpha)
    return np.array(found)


def information_at(sizes: Index) -> Floats:
    """Return the precision of the difference until each look, batches of `sizes` (look, task, 2), 1 at the last."""
    dealt = np.where((sizes > 0).all(axis=-1, keepdims=True), sizes, 0)
    n_runs = dealt.cumsum(axis=0)
    some = (n_runs > 0).all(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (
            np.where(some, (1 / n_runs).sum(axis=-1), 0.0).sum(axis=-1)
            / some.sum(axis=-1) ** 2
        )
        precision = np.where(some.any(axis=-1), 1 / variance, 0.0)
    precision = np.maximum.accumulate(precision)
    last = float(precision[-1])
    return np.asarray(precision / last) if last > 0 else precision


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
    sizes = np.concatenate(
        [past, np.broadcast_to(seen.batch, (n_looks - done, *seen.batch.shape))]
    )
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
    return np.array(
        _levels(
            spending,
            tuple(round(float(each), 9) for each in information),
            tuple(map(bool, tested)),
            alpha,
        )
    )


@lru_cache(maxsize=256)
def _levels(
    spending: Spending,
    information: tuple[float, ...],
    tested: tuple[bool, ...],
    alpha: float,
) -> tuple[float, ...]:
    share = alpha * spent(spending, len(information))
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    used, before = 0.0, 0.0
    # of the sum of the increments so far, where no look has rejected
    x, mass = (np.zeros(1), np.ones(1))
    found = []
    for total, by_then, is_tested in zip(
        information, share.tolist(), tested, strict=True
    ):
        step = np.sqrt(max(total - before, 0.0))
        if not is_tested or step == 0.0:
            found.append(0.0)
            continue

        def excess(
            end: float,
            x: Floats = x,
            mass: Floats = mass,
            step: float = step,
            rise: float = by_then - used,
        ) -> float:
            return (
                float(mass @ (ndtr((x - end) / step) + ndtr((-x - end) / step))) - rise
            )

        end = brentq(excess, 0.0, _FAR * np.sqrt(total))
        new = end * nodes
        density = (
            np.exp(-(((new[:, np.newaxis] - x) / step) ** 2) / 2)
            @ mass
            / (np.sqrt(2 * np.pi) * step)
        )
        x, mass = new, density * end * weights
        used, before = by_then, total
        found.append(float(2 * ndtr(-end / np.sqrt(total))))
    return tuple(found)


def chances(
    seen: Seen, levels: Floats, differences: Sequence[float], entropy: int, k: int
) -> Floats:
    """Return in which share of continuations from look `k` on some look left shows the pair, true differences given.

    `levels` are those of the looks left. NaN where the runs so far do not tell a spread or the difference is not known.
    """
    some = seen.weights > 0
    seen = Seen(
        seen.difference,
        seen.weights[some],
        seen.n_runs[some],
        seen.sd[some],
        seen.batch[some],
    )
    true = np.array(differences, float)
    known = np.isfinite(true)
    if not some.any() or not np.isfinite(seen.sd).all():
        return np.full(len(true), np.nan)
    shift = np.where(known, true - seen.difference, 0.0)[:, np.newaxis]
    shape = (len(levels), len(true), N_CONTINUATIONS)
    d = np.full(shape, seen.difference)
    v, squared_v = np.zeros(shape), np.zeros(shape)
    for place, tasks in enumerate(stretches(len(seen.weights), _TASKS)):
        _add_tasks(
            d,
            v,
            squared_v,
            seen,
            tasks,
            shift,
            make_generator([entropy, k, place]),
        )
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * stdtr(np.where(v > 0, v**2 / squared_v, 1.0), -np.abs(d) / np.sqrt(v))
    shown = (p <= levels[:, np.newaxis, np.newaxis]).any(axis=0).mean(axis=-1)
    # any look shows an endless difference
    shown = np.where(np.isinf(true), float((levels > 0).any()), shown)
    return np.where(np.isnan(true), np.nan, shown)


def _add_tasks(
    d: Floats,
    v: Floats,
    squared_v: Floats,
    seen: Seen,
    tasks: slice,
    shift: Floats,
    rng: np.random.Generator,
) -> None:
    """Add some tasks to D, V and the denominator of the degrees of freedom, (look left, difference, continuation)."""
    weights, n_runs, sd, batch = (
        each[tasks, np.newaxis]
        for each in (seen.weights, seen.n_runs, seen.sd, seen.batch)
    )
    # task, difference, continuation, algorithm; less that of the runs so far
    mean = np.zeros((len(weights), 1, 1, 2))
    n, size, spread = (
        each[:, :, np.newaxis]
        for each in (n_runs, batch.astype(float), np.nan_to_num(sd))
    )
    squares = spread**2 * (n - 1)
    # Numbers are less the mean of their batch: of a shift the first algorithm keeps the share of the other's runs.
    share = size[..., ::-1] / size.sum(axis=-1, keepdims=True)
    moved = shift[..., np.newaxis] * share * np.array([1.0, -1.0])
    for look in range(len(d)):
        drawn = (len(weights), 1, N_CONTINUATIONS, 2)
        noise = rng.normal(size=drawn) / np.sqrt(np.maximum(size, 1))
        within = rng.chisquare(np.broadcast_to(np.maximum(size - 1, 1e-12), drawn))
        apart = moved + spread * noise - mean
        after = n + size
        mean = mean + apart * size / after
        squares = (
            squares + spread**2 * within * (size > 1) + apart**2 * n * size / after
        )
        n = after
        w = weights[..., np.newaxis]
        of_mean = squares / np.maximum(n - 1, 1) / n * w[..., np.newaxis] ** 2
        d[look] += (w * (mean[..., 0] - mean[..., 1])).sum(axis=0)
        v[look] += of_mean.sum(axis=(0, -1))
        squared_v[look] += (of_mean**2 / np.maximum(n - 1, 1)).sum(axis=(0, -1))
