"""Sums of squares level by level: where along training groups of curves differ, and by how much.

With deviations ``d_ih`` of group means, effects are sums of ``l_i d_i d_ih`` (algorithm), ``l_i (d_ih - d_i)²``
(interaction) and both together ``l_i d_ih²`` (simple).
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import numpy as np

from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import CACHE, stretches

_CACHE = CACHE // 16  # doubles of the curves that are worked on at once
_NOTHING = 1e-21  # share of the sum of squares that is only rounding error


class Levels(NamedTuple):
    """Groups of curves, reduced level by level."""

    deviations: Floats  # (task, group, level): means of the groups less that of all curves
    simple: Floats  # (task, level): sum of squares between groups
    error: Floats  # within groups, or group by run if paired


def measure_levels(curves: Floats, sizes: tuple[int, ...], *, paired: bool) -> Levels:
    """Reduce complete curves, shape (task, curve, level), group after group, in stretches that fit the cache."""
    n_tasks, n_curves, n_levels = curves.shape
    found = Levels(np.empty((n_tasks, len(sizes), n_levels)), *np.empty((2, n_tasks, n_levels)))
    width = min(n_levels, max(64, _CACHE // n_curves))
    tasks = stretches(n_tasks, max(1, _CACHE // (n_curves * width)))
    with np.errstate(over="ignore", invalid="ignore"):  # the caller refuses infinite and huge scores
        for part in ((some, ..., levels) for some in tasks for levels in stretches(n_levels, width)):
            for whole, reduced in zip(found, _measure_part(curves[part], sizes, paired), strict=True):
                whole[part] = reduced
    return found


def effects(measured: Levels, sizes: tuple[int, ...]) -> Floats:
    """Return the profiles simple, algorithm and interaction as sums of squares, shape (task, 3, level)."""
    weights, own = np.array(sizes, float), measured.deviations.mean(axis=-1)
    algorithm = ((weights * own)[:, np.newaxis] @ measured.deviations)[:, 0]
    apart = measured.deviations - own[..., np.newaxis]
    return np.stack([measured.simple, algorithm, np.einsum("g,tgh,tgh->th", weights, apart, apart)], axis=1)


def shares(ss: Floats, everything: Floats) -> tuple[Floats, Floats]:
    """Return fractions of totals and their running sums; where all is rounding error NaN, and `ss` is set to 0."""
    total = ss.sum(axis=-1, keepdims=True)
    nothing = total <= _NOTHING * everything[:, np.newaxis, np.newaxis]
    np.copyto(ss, 0.0, where=nothing)
    fraction = ss / np.where(nothing, np.nan, total)
    return fraction, fraction.cumsum(axis=-1)


def corrected_share(simple: Floats, error: Floats, df: tuple[float, float]) -> Floats:
    """Return shares of levels less the share expected of noise; NaN where noise explains the whole sum."""
    rest = simple - df[0] / df[1] * error
    total = rest.sum(axis=-1, keepdims=True)
    return np.asarray(rest / np.where(total > _NOTHING * (simple + error).sum(axis=-1, keepdims=True), total, np.nan))


def centre_groups(curves: Floats, sizes: tuple[int, ...], *, paired: bool) -> Floats:
    """Subtract the mean of all curves from every level, and if paired the mean of the groups from every run."""
    # Differences from one curve are exact where curves are close (Sterbenz): equal scores give exact zeros.
    apart = np.subtract(curves, curves[:, :1], order="C")
    apart -= apart.mean(axis=1, keepdims=True)
    if paired:
        grid = apart.reshape(len(apart), len(sizes), sizes[0], -1)
        grid -= grid.mean(axis=1, keepdims=True)
    return apart


def _measure_part(curves: Floats, sizes: tuple[int, ...], paired: bool) -> tuple[Floats, Floats, Floats]:
    spread = np.zeros(())
    if paired:
        apart = curves - curves[:, :1]
        spread = np.einsum("tnh,tnh->th", apart, apart)
        curves = centre_groups(curves, sizes, paired=True)
    weights = np.array(sizes, float)
    means, error = _group_means(curves, sizes)
    deviations = means - np.einsum("g,tgh->th", weights / curves.shape[1], means)[:, np.newaxis]
    simple = np.einsum("g,tgh,tgh->th", weights, deviations, deviations)
    for ss in (simple, error):
        ss[ss <= 64 * np.finfo(float).eps ** 2 * spread] = 0.0  # rounding errors of run means, where the sum is zero
    return deviations, simple, error


def _group_means(curves: Floats, sizes: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the means of the groups less the first curve, shape (task, group, level), and the SS within them."""
    n_tasks, _, n_levels = curves.shape
    means, within = [], np.zeros((n_tasks, n_levels))
    start = 0
    for size, alike in groupby(sizes):
        end = start + size * len(list(alike))
        groups = curves[:, start:end].reshape(n_tasks, -1, size, n_levels)
        # A sum of squares about a member is at most l + 1 times the one about the mean: little cancels.
        apart = groups[:, :, 1:] - groups[:, :, :1]
        mean = np.add.reduce(apart, axis=2)
        mean /= size
        within += np.einsum("tgnh,tgnh->th", apart, apart)
        within -= size * np.einsum("tgh,tgh->th", mean, mean)
        mean += groups[:, :, 0] - curves[:, :1]  # in one step, so that an offset loses no precision
        means.append(mean)
        start = end
    return np.concatenate(means, axis=1), within
