"""Mean curves of runs that have levels of their own, and the test statistics along them, exactly.

Between neighbouring levels of any run the mean is linear in u (training, or its logarithm) and its variance quadratic:
D / √(V + v) is broken at D = 0 and at its one other stationary point, and taken as monotone between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from xcurves.array_types import Bools, Floats, Index, Ints
from xcurves.kernels.intervals import satterthwaite
from xcurves.kernels.resampling.shifts import halve

# From places of pieces that are accepted and rejected to the last one accepted between them.
End = Callable[[Index, Floats, Floats], Floats]

_ROUNDING = 16 * np.finfo(float).eps  # of a mean of runs, relative to the largest of them
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
    of_runs = [
        (level[there], score[there]) for level, score, there in zip(levels, scores, known, strict=True) if there.any()
    ]
    if not of_runs:
        return MeanCurve(np.zeros(0), np.zeros((0, 0)), np.nan, 0)

    # Only where all runs are is the mean of all of them: no run is read beyond its own range, or dropped.
    first = max(level[0] for level, _ in of_runs)
    ends = np.array([level[-1] for level, _ in of_runs])
    last = ends.min()
    # Between levels of any run the mean is linear: all of them are its corners.
    u = np.unique(np.concatenate([level for level, _ in of_runs]))
    u = u[(u >= first) & (u <= last)]
    runs = np.array([np.interp(u, level, score) for level, score in of_runs])

    # a step before its end, of each run; its end, if it has one level only
    before_end = np.array([level[-2:][0] for level, _ in of_runs])
    n_ended_early = int((ends < before_end.max()).sum())
    return MeanCurve(u, runs, float(last), n_ended_early)


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

    def take(self, rows: Index) -> Tracks:
        """Return the tracks of these curves."""
        return Tracks(self.log, *(each[..., rows] for each in self[1:]))

    def training(self, u: Floats) -> Floats:
        """Return the training of u, 0 where that is -inf."""
        return np.exp(u) if self.log else np.maximum(u, 0.0)

    def piece(self, index: Index) -> Floats:
        """Return one piece of every curve, shape (7, curve)."""
        return self.pieces[:, index, np.arange(len(index))]

    def within(self, index: Index, h: Floats) -> tuple[Floats, Floats, Floats]:
        """Return u, D and V of every curve at one place of one of its pieces."""
        return _at(self.piece(index), h)

    def statistic(self, d: Floats, v: Floats) -> Floats:
        """Return |D| / √(V + v); 0 where D is 0, infinite where only V + v is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(d == 0, 0.0, np.abs(d) / np.sqrt(v + self.added))

    def degrees(self, v: Floats) -> Floats:
        """Return Satterthwaite's degrees of freedom; those of V where nothing is added."""
        # relative to the larger one: squares of variances overflow and underflow
        largest = np.maximum(np.maximum(v, self.added), np.finfo(float).tiny)
        share = v / largest
        share_added = self.added / largest
        with np.errstate(divide="ignore", invalid="ignore"):
            # nothing added may have no degrees of freedom
            term_added = np.where(share_added > 0, share_added**2 / self.df_added, 0.0)
            squares = share**2 / self.df + term_added
        found = satterthwaite(share + share_added, squares)
        return np.where(share + share_added > 0, found, self.df)

    def pvalues(self, d: Floats, v: Floats) -> Floats:
        """Return two-sided p-values of D = 0."""
        return np.asarray(2 * scipy.special.stdtr(self.degrees(v), -self.statistic(d, v)))


def _at(piece: Floats, h: Floats) -> tuple[Floats, Floats, Floats]:
    """Return u, D and V at places of pieces; V is not negative but for rounding."""
    u0, du, d0, dd, v0, v1, v2 = piece
    return u0 + h * du, d0 + h * dd, np.maximum(v0 + h * (v1 + h * v2), 0.0)


def tracks(
    curves: Sequence[MeanCurve],
    level: Sequence[float],
    added: ArrayLike = 0.0,
    df_added: ArrayLike = 1.0,
    *,
    log: bool = False,
) -> Tracks:
    """Return the statistics of mean curves less a level, with at least two runs."""
    corners = _corners(curves, level)
    n_runs = np.array([len(curve.runs) for curve in curves], float)
    variances = np.broadcast_to(np.asarray(added, float), (len(curves),))
    df_of_added = np.broadcast_to(np.asarray(df_added, float), (len(curves),))
    pieces = _pieces(corners, n_runs)
    h, is_zero = _turns(pieces, variances)

    # (place, piece, curve) to points in the order of the curve
    u, d, v = _at(pieces, h)
    d[is_zero] = 0.0  # rounding leaves it a sign
    u, d, v, h = (values.swapaxes(0, 1).reshape(-1, len(curves)) for values in (u, d, v, h))
    return Tracks(log, u, d, v, h, pieces, variances, n_runs - 1, df_of_added)


def _corners(curves: Sequence[MeanCurve], level: Sequence[float]) -> Floats:
    """Return u, D, and sums over runs of squares, and of products with the next level, (4, corner, curve)."""
    # A piece of length 0 ends each curve, shorter ones have more of them: all have pieces of one number.
    places = np.arange(1 + max(len(curve.u) for curve in curves))
    corners = np.empty((4, len(places), len(curves)))
    for row, (curve, at) in enumerate(zip(curves, level, strict=True)):
        shifted = curve.runs - at
        mean = shifted.mean(axis=0)
        rest = shifted - mean

        # Runs that are equal but for rounding are equal: else they would have a variance, and a tiny p-value.
        largest = np.maximum(np.abs(curve.runs), abs(at)).max(axis=0)
        rounding = largest * _ROUNDING
        mean[np.abs(mean) <= rounding] = 0.0
        rest[np.abs(rest) <= rounding] = 0.0

        following = np.concatenate([rest[:, 1:], rest[:, -1:]], axis=1)
        squares = (rest**2).sum(axis=0)
        products = (rest * following).sum(axis=0)
        of_curve = np.stack([curve.u, mean, squares, products])
        corners[..., row] = of_curve[:, np.minimum(places, len(curve.u) - 1)]
    return corners


def _pieces(corners: Floats, n_runs: Floats) -> Floats:
    """Return the coefficients of `Tracks.pieces`, between neighbouring corners."""
    # A run is linear in between: its rest is (1 - h) r + h s, and the sum over runs of squares is, with Σr², Σrs, Σs²,
    #     Σr² + 2h (Σrs - Σr²) + h² (Σr² - 2 Σrs + Σs²).
    u, mean, squares, products = corners
    per = n_runs * (n_runs - 1)
    variance = squares / per
    v0 = variance[:-1]
    cross = products[:-1] / per
    v1 = 2 * (cross - v0)
    v2 = np.maximum(v0 - 2 * cross + variance[1:], 0.0)
    return np.stack([u[:-1], np.diff(u, axis=0), mean[:-1], np.diff(mean, axis=0), v0, v1, v2])


def _turns(pieces: Floats, added: Floats) -> tuple[Floats, Bools]:
    """Return the start of each piece and where in it |D| / √(V + v) may turn, ascending, and which are D = 0."""
    # D² / W, W = V + v, is stationary where D = 0 or 2 D' W = D W'. With D' = dd and W' = v1 + 2h v2,
    #     2 dd (v0 + v + h v1 + h² v2) = (d0 + h dd) (v1 + 2h v2)
    # has the same h² on both sides: there is one other h.
    _, _, d0, dd, v0, v1, v2 = pieces
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -d0 / dd
        turn = (d0 * v1 - 2 * dd * (v0 + added)) / (dd * v1 - 2 * d0 * v2)
    places = np.stack([np.zeros_like(zero), zero, turn])
    # what is outside of the piece repeats its start
    h = np.sort(np.where((places > 0) & (places < 1), places, 0.0), axis=0)
    return h, h == zero


def first_crossing(track: Tracks) -> tuple[Floats, Index]:
    """Return where each mean first is at or above its level, and the number of the point; inf and -1 where never."""
    # D = 0 is a point of its own: no search between points
    reached = track.d >= 0
    point = np.where(reached.any(axis=0), reached.argmax(axis=0), -1)
    u = track.u[point, np.arange(len(point))]
    return np.where(point >= 0, u, np.inf), point


def slope_error(track: Tracks, point: Index) -> tuple[Floats, Floats]:
    """Return √(V + v) / |dD/du|, in the piece that ends there, and the degrees of freedom at the points."""
    # the delta method; at a kink the piece before it, in which the curve came to the level
    _, du, _, dd, *_ = track.piece(np.maximum(point - 1, 0) // _POINTS)
    v = track.v[point, np.arange(len(point))]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(v + track.added) / np.abs(dd / du)
    return error, track.degrees(v)


class Hull(NamedTuple):
    """Where levels are not rejected, each of shape (curve,), in u."""

    lower: Floats  # -inf where the curve does not show that it was below before
    upper: Floats  # inf where it does not show that it is above after
    # 1 where what is accepted along the curve has several pieces
    gap: Ints


def hull_by_pvalue(track: Tracks, alpha: float | Floats) -> Hull:
    """Return the hull of what has p > alpha, which is one number or one for each curve."""

    # p depends on h by the degrees of freedom too: no formula for where it is alpha
    def end(piece: Index, inner: Floats, outer: Floats) -> Floats:
        def is_accepted(h: Floats) -> Bools:
            _, d, v = track.within(piece, h)
            return track.pvalues(d, v) > alpha

        return halve(is_accepted, inner, outer)[0]

    return _hull(track, track.pvalues(track.d, track.v) > alpha, end)


def hull_by_statistic(track: Tracks, critical: Floats) -> Hull:
    """Return the hull of what has a statistic of at most its critical value, shape (curve,)."""

    # |D| = k √(V + v) where a h² + b h + c = D² - k² (V + v) = 0
    def end(piece: Index, inner: Floats, outer: Floats) -> Floats:
        _, _, d0, dd, v0, v1, v2 = track.piece(piece)
        square = critical**2
        a = dd**2 - square * v2
        b = 2 * d0 * dd - square * v1
        c = d0**2 - square * (v0 + track.added)

        # The sum with the sign of b has no cancellation; the other root is from the product of both, c / a.
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0))
            larger = b + np.copysign(root, b)
            both = np.stack([-larger / (2 * a), -2 * c / larger])
        roots = np.nan_to_num(both, nan=np.inf)

        # One root is between accepted and rejected, but for rounding: the one that is nearest to there.
        low = np.minimum(inner, outer)
        high = np.maximum(inner, outer)
        inside = np.clip(roots, low, high)
        first, second = np.abs(roots - inside)
        return np.asarray(np.where(first <= second, *inside))

    return _hull(track, track.statistic(track.d, track.v) <= critical, end)


def _hull(track: Tracks, accepted: Bools, end: End) -> Hull:
    """Return the hull of what is accepted, of the points that are and of what is accepted beside them."""
    last = len(track.u) - 1
    is_any = accepted.any(axis=0)
    first_in = accepted.argmax(axis=0)
    last_in = last - accepted[::-1].argmax(axis=0)

    def u_of_end(point: Index, *, rising: bool) -> Floats:
        """Return the last place accepted between a point and the next one; `rising` if the next one is accepted."""
        curves = np.arange(len(point))
        # the last point of a piece goes up to its end, the first one of the next
        is_last = point % _POINTS == _POINTS - 1
        start = track.h[point, curves]
        stop = np.where(is_last, 1.0, track.h[point + 1, curves])
        piece = point // _POINTS
        if rising:
            h = end(piece, stop, start)
        else:
            h = end(piece, start, stop)
        return track.within(piece, h)[0]

    # The statistic is taken as monotone between points: outside of the outermost accepted ones each side ends once.
    # Where nothing is accepted the level lies after the curve, or before it.
    before = u_of_end(np.maximum(first_in - 1, 0), rising=True)
    after = u_of_end(np.minimum(last_in, last - 1), rising=False)
    lower = np.where(is_any, before, track.u[-1])
    upper = np.where(is_any, after, track.u[0])

    # What lies beyond the curve is rejected only if the curve shows its side at that end.
    opens_below = (track.d[0] >= 0) | accepted[0]
    opens_above = (track.d[-1] <= 0) | accepted[-1]
    begins = accepted[1:] & ~accepted[:-1]
    n_stretches = accepted[0] + begins.sum(axis=0)
    return Hull(
        np.where(opens_below, -np.inf, lower),
        np.where(opens_above, np.inf, upper),
        (n_stretches > 1).astype(np.int64),
    )


def pvalue_of(track: Tracks, u: Floats) -> Floats:
    """Return the smallest alpha whose hull leaves out u, shape (curve,)."""
    # The hull leaves out u if it ends before u, or begins after it: the largest p of a side, u included, must be at
    # most alpha. A side goes on beyond the curve: p is that of its end there, or 1 if D does not show the side.
    p = track.pvalues(track.d, track.v)
    before = np.where(track.d[0] < 0, p[0], 1.0)
    after = np.where(track.d[-1] > 0, p[-1], 1.0)

    piece = np.maximum((track.pieces[0] <= u).sum(axis=0) - 1, 0)
    u0, du, *_ = track.piece(piece)
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.nan_to_num(np.clip((u - u0) / du, 0.0, 1.0))  # length 0
    _, d, v = track.within(piece, h)
    on_curve = track.pvalues(d, v)
    there = np.where(u > track.u[-1], after, on_curve)
    there = np.where(u < track.u[0], before, there)

    # p is taken as monotone between points: it is largest at one, or at u
    up_to = np.where(track.u <= u, p, 0.0).max(axis=0)
    from_there = np.where(track.u >= u, p, 0.0).max(axis=0)
    left = np.max([before, there, up_to], axis=0)
    right = np.max([after, there, from_there], axis=0)
    return np.asarray(np.minimum(left, right))
