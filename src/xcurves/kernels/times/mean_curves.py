"""Mean curves of runs that have levels of their own, and the test statistics along them, exactly.

Between neighbouring levels of any run the mean is linear in u (training, or its logarithm) and its variance quadratic:
D / √(V + v) is broken at D = 0 and at its one other stationary point, and taken as monotone between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from xcurves.array_types import Floats
from xcurves.kernels.resampling.bisection import halve

# From places of pieces that are accepted and rejected to the last one accepted between them.
End = Callable[[NDArray[np.intp], Floats, Floats], Floats]

_ROUNDING = 16 * np.finfo(float).eps
# Of each piece: its start, and the two inside at which the statistic may turn.
_POINTS = 3


class MeanCurve(NamedTuple):
    """The runs of one algorithm in one task, read from their largest first to their smallest last level."""

    u: Floats  # the levels of all runs in that range; empty if there is none
    runs: Floats  # (run, level): scores of each run there
    last: float  # the smallest last level
    n_ended_early: int  # runs that end earlier than another by more than a step of that


NO_CURVE = MeanCurve(np.full(1, np.nan), np.full((2, 1), np.nan), np.nan, 0)


def curve_of_runs(levels: Floats, scores: Floats) -> MeanCurve:
    """Read runs, shape (run, evaluation), at all their levels; evaluations without score are NaN, absent runs too."""
    known = np.isfinite(scores) & np.isfinite(levels)
    own = [
        (at[there], y[there])
        for at, y, there in zip(levels, scores, known, strict=True)
        if there.any()
    ]
    if not own:
        return MeanCurve(np.zeros(0), np.zeros((0, 0)), np.nan, 0)
    ends = np.array([at[-1] for at, _ in own])
    first, last = max(at[0] for at, _ in own), ends.min()
    before = np.array([at[-2:][0] for at, _ in own])  # a step before the end
    u = np.unique(np.concatenate([at for at, _ in own]))
    u = u[(u >= first) & (u <= last)]
    runs = np.array([np.interp(u, at, y) for at, y in own])
    return MeanCurve(u, runs, float(last), int((ends < before.max()).sum()))


class Tracks(NamedTuple):
    """Statistics D / √(V + v) along mean curves, shape (point, curve), padded with the last point."""

    log: bool  # whether u is the logarithm of training
    u: Floats
    d: Floats
    v: Floats
    h: Floats  # place of a point in its piece, from 0 to 1
    pieces: Floats  # (7, piece, curve): u0, du, d0, dd, v0, v1, v2, linear and quadratic in h
    added: Floats  # (curve,): v, the variance of what the mean is compared with
    df: Floats  # of V
    df_added: Floats  # of v

    def take(self, rows: NDArray[np.intp]) -> Tracks:
        """Return the tracks of these curves."""
        return Tracks(self.log, *(each[..., rows] for each in self[1:]))

    def training(self, u: Floats) -> Floats:
        """Return the training of u, 0 where that is -inf."""
        return np.exp(u) if self.log else np.maximum(u, 0.0)

    def piece(self, index: NDArray[np.intp]) -> Floats:
        """Return one piece of every curve, shape (7, curve)."""
        return self.pieces[:, index, np.arange(len(index))]

    def within(
        self, index: NDArray[np.intp], h: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return u, D and V of every curve at one place of one of its pieces."""
        return _at(self.piece(index), h)

    def statistic(self, d: Floats, v: Floats) -> Floats:
        """Return |D| / √(V + v); 0 where D is 0, infinite where only V + v is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(d == 0, 0.0, np.abs(d) / np.sqrt(v + self.added))

    def degrees(self, v: Floats) -> Floats:
        """Return Satterthwaite's degrees of freedom; those of V where nothing is added."""
        # no overflow of squares
        largest = np.maximum(np.maximum(v, self.added), np.finfo(float).tiny)
        v, added = v / largest, self.added / largest
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (v + added) ** 2 / (
                v**2 / self.df + np.where(added > 0, added**2 / self.df_added, 0.0)
            )
        return np.where(v + added > 0, found, self.df)

    def pvalues(self, d: Floats, v: Floats) -> Floats:
        """Return two-sided p-values of D = 0."""
        return np.asarray(
            2 * scipy.special.stdtr(self.degrees(v), -self.statistic(d, v))
        )


def _at(piece: Floats, h: Floats) -> tuple[Floats, Floats, Floats]:
    u0, du, d0, dd, v0, v1, v2 = piece
    return u0 + h * du, d0 + h * dd, np.maximum(v0 + h * (v1 + h * v2), 0.0)


def tracks(
    curves: Sequence[MeanCurve],
    level: Sequence[float | Floats],
    added: ArrayLike = 0.0,
    df_added: ArrayLike = 1.0,
    *,
    log: bool = False,
) -> Tracks:
    """Return the statistics of mean curves less a level (a number, or one for each run), with at least two runs."""
    # a piece of length 0 ends each curve
    places = np.arange(1 + max(len(curve.u) for curve in curves))
    made = np.empty((4, len(places), len(curves)))
    n_runs = np.array([len(curve.runs) for curve in curves], float)
    for row, (curve, at) in enumerate(zip(curves, level, strict=True)):
        at = np.reshape(at, (-1, 1))
        shifted = curve.runs - at
        size = np.maximum(np.abs(curve.runs), np.abs(at)).max(axis=0) * _ROUNDING
        centre = shifted.mean(axis=0)
        rest = shifted - centre
        centre[np.abs(centre) <= size] = 0.0  # equal but for rounding
        rest[np.abs(rest) <= size] = 0.0
        after = np.concatenate([rest[:, 1:], rest[:, -1:]], axis=1)
        own = np.stack(
            [curve.u, centre, (rest**2).sum(axis=0), (rest * after).sum(axis=0)]
        )
        made[..., row] = own[:, np.minimum(places, len(curve.u) - 1)]
    u, mean, square, cross = made
    square, cross = (
        square / (n_runs * (n_runs - 1)),
        cross[:-1] / (n_runs * (n_runs - 1)),
    )
    du, d0, dd, v0 = np.diff(u, axis=0), mean[:-1], np.diff(mean, axis=0), square[:-1]
    v1, v2 = 2 * (cross - v0), np.maximum(v0 - 2 * cross + square[1:], 0.0)
    added, df_added = (
        np.broadcast_to(np.asarray(each, float), (len(curves),))
        for each in (added, df_added)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -d0 / dd
        turn = (d0 * v1 - 2 * dd * (v0 + added)) / (dd * v1 - 2 * d0 * v2)
    inside = np.stack([np.zeros_like(zero), zero, turn])
    h = np.sort(np.where((inside > 0) & (inside < 1), inside, 0.0), axis=0)
    pieces = np.stack([u[:-1], du, d0, dd, v0, v1, v2])
    of_u, of_d, of_v = _at(pieces, h)
    of_d[h == zero] = 0.0
    u, d, v, h = (
        each.swapaxes(0, 1).reshape(-1, len(curves)) for each in (of_u, of_d, of_v, h)
    )
    return Tracks(log, u, d, v, h, pieces, added, n_runs - 1, df_added)


def first_crossing(track: Tracks) -> tuple[Floats, NDArray[np.intp]]:
    """Return where each mean first is at or above its level, and the number of the point; inf and -1 where never."""
    reached = track.d >= 0
    point = np.where(reached.any(axis=0), reached.argmax(axis=0), -1)
    return np.where(point >= 0, track.u[point, np.arange(len(point))], np.inf), point


def slope_error(track: Tracks, point: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return √(V + v) / |dD/du|, in the piece that ends there, and the degrees of freedom at the points."""
    _, du, _, dd, *_ = track.piece(np.maximum(point - 1, 0) // _POINTS)
    v = track.v[point, np.arange(len(point))]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(v + track.added) / np.abs(dd / du), track.degrees(v)


class Hull(NamedTuple):
    """Where levels are not rejected, each of shape (curve,), in u."""

    lower: Floats  # -inf where the curve does not show that it was below before
    upper: Floats  # inf where it does not show that it is above after
    # 1 where what is accepted along the curve has several pieces
    gap: NDArray[np.int64]


def hull_by_pvalue(track: Tracks, alpha: float | Floats) -> Hull:
    """Return the hull of what has p > alpha, which is one number or one for each curve."""

    def end(piece: NDArray[np.intp], inner: Floats, outer: Floats) -> Floats:
        return halve(
            lambda h: track.pvalues(*track.within(piece, h)[1:]) > alpha, inner, outer
        )[0]

    return _hull(track, track.pvalues(track.d, track.v) > alpha, end)


def hull_by_statistic(track: Tracks, critical: Floats) -> Hull:
    """Return the hull of what has a statistic of at most its critical value, shape (curve,)."""

    def end(piece: NDArray[np.intp], inner: Floats, outer: Floats) -> Floats:
        _, _, d0, dd, v0, v1, v2 = track.piece(piece)
        square = critical**2
        a, b, c = (
            dd**2 - square * v2,
            2 * d0 * dd - square * v1,
            d0**2 - square * (v0 + track.added),
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            larger = b + np.copysign(np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0)), b)
            roots = np.nan_to_num(
                np.stack([-larger / (2 * a), -2 * c / larger]), nan=np.inf
            )
        inside = np.clip(roots, np.minimum(inner, outer), np.maximum(inner, outer))
        first, second = np.abs(roots - inside)
        return np.asarray(np.where(first <= second, *inside))

    return _hull(track, track.statistic(track.d, track.v) <= critical, end)


def _hull(track: Tracks, accepted: NDArray[np.bool_], end: End) -> Hull:
    last = len(track.u) - 1
    some = accepted.any(axis=0)
    first_in = accepted.argmax(axis=0)
    last_in = last - accepted[::-1].argmax(axis=0)

    def u_of_end(point: NDArray[np.intp], *, rising: bool) -> Floats:
        """Return the last place accepted between a point and the next one; `rising` if the next one is accepted."""
        curves = np.arange(len(point))
        start, stop = (
            track.h[point, curves],
            np.where(point % _POINTS == _POINTS - 1, 1.0, track.h[point + 1, curves]),
        )
        piece = point // _POINTS
        return track.within(
            piece, end(piece, *((stop, start) if rising else (start, stop)))
        )[0]

    opens_below = (track.d[0] >= 0) | accepted[0]
    opens_above = (track.d[-1] <= 0) | accepted[-1]
    # Where nothing is accepted the level lies after the curve, or before it.
    lower = np.where(
        some, u_of_end(np.maximum(first_in - 1, 0), rising=True), track.u[-1]
    )
    upper = np.where(
        some, u_of_end(np.minimum(last_in, last - 1), rising=False), track.u[0]
    )
    gap = (accepted[0] + (accepted[1:] & ~accepted[:-1]).sum(axis=0) > 1).astype(
        np.int64
    )
    return Hull(
        np.where(opens_below, -np.inf, lower), np.where(opens_above, np.inf, upper), gap
    )


def pvalue_of(track: Tracks, u: Floats) -> Floats:
    """Return the smallest alpha whose hull leaves out u, shape (curve,)."""
    p = track.pvalues(track.d, track.v)
    before, after = (
        np.where(track.d[0] < 0, p[0], 1.0),
        np.where(track.d[-1] > 0, p[-1], 1.0),
    )
    index = np.maximum((track.pieces[0] <= u).sum(axis=0) - 1, 0)
    u0, du, *_ = track.piece(index)
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.nan_to_num(np.clip((u - u0) / du, 0.0, 1.0))
    own = track.pvalues(*track.within(index, h)[1:])
    own = np.where(u < track.u[0], before, np.where(u > track.u[-1], after, own))
    up_to, from_there = (
        np.where(mine, p, 0.0).max(axis=0) for mine in (track.u <= u, track.u >= u)
    )
    left, right = (
        np.max([before, own, up_to], axis=0),
        np.max([after, own, from_there], axis=0),
    )
    return np.asarray(np.minimum(left, right))
