"""Mean curves of runs that have levels of their own, and the test statistics along them, exactly.

Between neighbouring levels of any run the mean is linear in u (training, or its logarithm) and its variance quadratic:
D / √(V + v) is broken at D = 0 and at its one other stationary point, and taken as monotone between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import halve

# From places of pieces that are accepted and rejected to the last one accepted between them.
End = Callable[[NDArray[np.intp], Floats, Floats], Floats]

_ROUNDING = 16 * np.finfo(float).eps
_POINTS = 3  # of each piece: its start, and the two inside at which the statistic may turn


class MeanCurve(NamedTuple):
    """The runs of one algorithm in one task, read from their largest first to their smallest last level."""

    u: Floats  # the levels of all runs in that range; empty if there is none
    runs: Floats  # (run, level): scores of each run there
    last: Floats  # (run,): the last level of each run
    step: Floats  # (run,): the distance of its last two levels


def curve_of_runs(levels: Floats, scores: Floats) -> MeanCurve:
    """Read runs, shape (run, evaluation), at all their levels; evaluations without score are NaN, absent runs too."""
    known = np.isfinite(scores) & np.isfinite(levels)
    present = known.any(axis=-1)
    levels, scores, known = levels[present], scores[present], known[present]
    if not len(levels):
        return MeanCurve(np.zeros(0), np.zeros((0, 0)), np.zeros(0), np.zeros(0))
    own = [(at[there], y[there]) for at, y, there in zip(levels, scores, known, strict=True)]
    first = max(at[0] for at, _ in own)
    last = min(at[-1] for at, _ in own)
    ends = np.array([at[-1] for at, _ in own])
    step = np.array([at[-1] - at[-2] if len(at) > 1 else 0.0 for at, _ in own])
    if known.all() and (levels == levels[0]).all():  # one grid: nothing to read between levels
        return MeanCurve(levels[0], scores, ends, step)
    u = np.unique(np.concatenate([at for at, _ in own]))
    u = u[(u >= first) & (u <= last)]
    return MeanCurve(u, np.array([np.interp(u, at, y) for at, y in own]).reshape(len(own), len(u)), ends, step)


@dataclass(frozen=True)
class Tracks:
    """Statistics D / √(V + v) along mean curves; (curve, point) and (curve, piece), padded with the last point."""

    u: Floats  # (curve, point), as D, V and h
    d: Floats
    v: Floats
    h: Floats  # place of a point in its piece, from 0 to 1
    pieces: Floats  # (curve, piece, 7): u0, du, d0, dd, v0, v1, v2, linear and quadratic in h
    added: Floats  # (curve,): v, the variance of what the mean is compared with
    df: Floats  # of V
    df_added: Floats  # of v
    log: bool  # whether u is the logarithm of training

    def __len__(self) -> int:
        return len(self.u)

    def take(self, rows: NDArray[np.intp]) -> Tracks:
        """Return the tracks of these rows."""
        by_curve = ("u", "d", "v", "h", "pieces", "added", "df", "df_added")
        return replace(self, **{name: getattr(self, name)[rows] for name in by_curve})

    def training(self, u: Floats) -> Floats:
        """Return the training of u, 0 where that is -inf."""
        return np.exp(u) if self.log else np.maximum(u, 0.0)

    def interval(self, hull: Hull) -> Floats:
        """Return the ends of hulls as training, shape (curve, 2)."""
        return self.training(np.stack([hull.lower, hull.upper], axis=-1))

    def log_training(self, u: Floats) -> Floats:
        """Return the logarithm of the training of u; -inf where training is not positive."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return u if self.log else np.log(np.maximum(u, 0.0))

    def within(self, piece: NDArray[np.intp], h: Floats) -> tuple[Floats, Floats, Floats]:
        """Return u, D and V of every track at one place of one of its pieces."""
        u0, du, d0, dd, v0, v1, v2 = self.pieces[np.arange(len(self)), piece].T
        return u0 + h * du, d0 + h * dd, np.maximum(v0 + h * (v1 + h * v2), 0.0)

    def statistic(self, d: Floats, v: Floats) -> Floats:
        """Return |D| / √(V + v); 0 where D is 0, infinite where only V + v is."""
        total = v + self.added.reshape(-1, *[1] * (d.ndim - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(d == 0, 0.0, np.abs(d) / np.sqrt(total))

    def degrees(self, v: Floats) -> Floats:
        """Return Satterthwaite's degrees of freedom; those of V where nothing is added."""
        added, df, df_added = (each.reshape(-1, *[1] * (v.ndim - 1)) for each in (self.added, self.df, self.df_added))
        largest = np.maximum(np.maximum(v, added), np.finfo(float).tiny)  # no overflow of squares
        v, added = v / largest, added / largest
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (v + added) ** 2 / (v**2 / df + np.where(added > 0, added**2 / df_added, 0.0))
        return np.where(v + added > 0, found, df)

    def pvalues(self, d: Floats, v: Floats) -> Floats:
        """Return two-sided p-values of D = 0."""
        return np.asarray(2 * scipy.special.stdtr(self.degrees(v), -self.statistic(d, v)))


def tracks(
    curves: Sequence[MeanCurve],
    level: Sequence[float | Floats],
    added: Sequence[float] | Floats | None = None,
    df_added: Sequence[float] | Floats | None = None,
    *,
    log: bool = False,
) -> Tracks:
    """Return the statistics of mean curves less a level (a number, or one for each run), with at least two runs."""
    extra = np.zeros(len(curves)) if added is None else np.asarray(added, float)
    extra_df = np.ones(len(curves)) if df_added is None else np.asarray(df_added, float)
    n_levels = max(len(curve.u) for curve in curves)
    n_pieces = max(n_levels - 1, 1)
    u, mean, square = np.empty((3, len(curves), n_levels))
    cross = np.zeros((len(curves), n_pieces))
    n_runs = np.array([len(curve.runs) for curve in curves], float)
    for row, (curve, at) in enumerate(zip(curves, level, strict=True)):
        k = len(curve.u)
        shifted = curve.runs - np.reshape(at, (-1, 1))
        size = np.maximum(np.abs(curve.runs), np.abs(np.reshape(at, (-1, 1)))).max(axis=0) * _ROUNDING
        centre = shifted.mean(axis=0)
        rest = shifted - centre
        centre[np.abs(centre) <= size] = 0.0  # equal but for rounding
        rest[np.abs(rest) <= size] = 0.0
        u[row, :k], mean[row, :k], square[row, :k] = curve.u, centre, (rest**2).sum(axis=0)
        cross[row, : k - 1] = (rest[:, 1:] * rest[:, :-1]).sum(axis=0)
        u[row, k:], mean[row, k:], square[row, k:] = u[row, k - 1], mean[row, k - 1], square[row, k - 1]
        cross[row, k - 1 :] = square[row, k - 1]
    scale = (n_runs * (n_runs - 1))[:, np.newaxis]
    square, cross = square / scale, cross / scale
    if n_levels == 1:
        u, mean, square = (np.repeat(each, 2, axis=1) for each in (u, mean, square))
        cross = square[:, :1]
    du, dd = np.diff(u), np.diff(mean)
    v1 = 2 * (cross - square[:, :-1])
    v2 = square[:, :-1] - 2 * cross + square[:, 1:]
    pieces = np.stack([u[:, :-1], du, mean[:, :-1], dd, square[:, :-1], v1, np.maximum(v2, 0.0)], axis=-1)
    return _with_points(pieces, u[:, -1], mean[:, -1], square[:, -1], (extra, n_runs - 1, extra_df), log)


def _with_points(
    pieces: Floats, u: Floats, d: Floats, v: Floats, others: tuple[Floats, Floats, Floats], log: bool
) -> Tracks:
    """Return tracks, given their pieces, and u, D and V at their last levels."""
    _, _, d0, dd, v0, v1, v2 = np.moveaxis(pieces, -1, 0)
    v0 = v0 + others[0][:, np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -d0 / dd
        turn = (d0 * v1 - 2 * dd * v0) / (dd * v1 - 2 * d0 * v2)
    inside = np.stack([zero, turn], axis=-1)
    inside = np.sort(np.where((inside > 0) & (inside < 1), inside, 0.0), axis=-1)
    h = np.concatenate([np.zeros((*d0.shape, 1)), inside], axis=-1)
    at = pieces[..., np.newaxis, :]
    of_d = at[..., 2] + h * at[..., 3]
    of_d[h == zero[..., np.newaxis]] = 0.0
    of_v = np.maximum(at[..., 4] + h * (at[..., 5] + h * at[..., 6]), 0.0)
    n = len(pieces)
    points = [each.reshape(n, -1) for each in (at[..., 0] + h * at[..., 1], of_d, of_v, h)]
    ends = [u, d, v, np.ones(n)]
    u, d, v, h = (np.column_stack([each, end]) for each, end in zip(points, ends, strict=True))
    return Tracks(u, d, v, h, pieces, *others, log)


def first_crossing(track: Tracks) -> tuple[Floats, NDArray[np.intp]]:
    """Return where each mean first is at or above its level, and the number of the point; inf and -1 where never."""
    reached = track.d >= 0
    point = np.where(reached.any(axis=-1), reached.argmax(axis=-1), -1)
    return np.where(point >= 0, track.u[np.arange(len(track)), point], np.inf), point


def slope_error(track: Tracks, point: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return √(V + v) / |dD/du|, in the piece that ends there, and the degrees of freedom at the points."""
    rows = np.arange(len(track))
    piece = np.maximum(point - 1, 0) // _POINTS
    v = track.v[rows, point]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.abs(track.pieces[rows, piece, 3] / track.pieces[rows, piece, 1])
        return np.sqrt(v + track.added) / slope, track.degrees(v)


class Hull(NamedTuple):
    """Where levels are not rejected, each of shape (curve,), in u."""

    lower: Floats  # -inf where the curve does not show that it was below before
    upper: Floats  # inf where it does not show that it is above after
    gap: NDArray[np.int64]  # 1 where what is accepted along the curve has several pieces


def hull_by_pvalue(track: Tracks, alpha: float) -> Hull:
    """Return the hull of what has p > alpha."""

    def end(piece: NDArray[np.intp], inner: Floats, outer: Floats) -> Floats:
        return halve(lambda h: track.pvalues(*track.within(piece, h)[1:]) > alpha, inner, outer)[0]

    return _hull(track, track.pvalues(track.d, track.v) > alpha, end)


def hull_by_statistic(track: Tracks, critical: Floats) -> Hull:
    """Return the hull of what has a statistic of at most its critical value, shape (curve,)."""

    def end(piece: NDArray[np.intp], inner: Floats, outer: Floats) -> Floats:
        _, _, d0, dd, v0, v1, v2 = track.pieces[np.arange(len(track)), piece].T
        square = critical**2
        a = dd**2 - square * v2
        b = 2 * d0 * dd - square * v1
        c = d0**2 - square * (v0 + track.added)
        with np.errstate(divide="ignore", invalid="ignore"):
            larger = b + np.copysign(np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0)), b)
            roots = np.nan_to_num(np.stack([-larger / (2 * a), -2 * c / larger]), nan=np.inf)
        inside = np.clip(roots, np.minimum(inner, outer), np.maximum(inner, outer))
        nearest = np.abs(roots - inside).argmin(axis=0)
        return np.asarray(np.take_along_axis(inside, nearest[np.newaxis], axis=0)[0])

    accepted = track.statistic(track.d, track.v) <= critical[:, np.newaxis]
    return _hull(track, accepted, end)


def _hull(track: Tracks, accepted: NDArray[np.bool_], end: End) -> Hull:
    last = track.u.shape[1] - 1
    some = accepted.any(axis=-1)
    first_in = accepted.argmax(axis=-1)
    last_in = last - accepted[:, ::-1].argmax(axis=-1)
    opens_below = (track.d[:, 0] >= 0) | accepted[:, 0]
    opens_above = (track.d[:, -1] <= 0) | accepted[:, -1]
    # Where nothing is accepted the level lies after the curve, or before it.
    lower = np.where(some, _end_of_hull(track, np.maximum(first_in - 1, 0), end, rising=True), track.u[:, -1])
    upper = np.where(some, _end_of_hull(track, np.minimum(last_in, last - 1), end, rising=False), track.u[:, 0])
    gap = (accepted[:, 0] + (accepted[:, 1:] & ~accepted[:, :-1]).sum(axis=-1) > 1).astype(np.int64)
    return Hull(np.where(opens_below, -np.inf, lower), np.where(opens_above, np.inf, upper), gap)


def _end_of_hull(track: Tracks, point: NDArray[np.intp], end: End, *, rising: bool) -> Floats:
    """Return u of the last place accepted between a point and the next one; `rising` if the next one is accepted."""
    piece, start = point // _POINTS, track.h[np.arange(len(track)), point]
    stop = np.where(point % _POINTS == _POINTS - 1, 1.0, track.h[np.arange(len(track)), point + 1])
    h = end(piece, stop, start) if rising else end(piece, start, stop)
    return track.within(piece, h)[0]


def pvalue_of(track: Tracks, u: Floats) -> Floats:
    """Return the smallest alpha whose hull leaves out u, shape (curve,)."""
    p = track.pvalues(track.d, track.v)
    before = np.where(track.d[:, 0] < 0, p[:, 0], 1.0)
    after = np.where(track.d[:, -1] > 0, p[:, -1], 1.0)
    starts = track.pieces[..., 0]
    piece = np.maximum((starts <= u[:, np.newaxis]).sum(axis=-1) - 1, 0)
    rows = np.arange(len(track))
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.clip((u - starts[rows, piece]) / track.pieces[rows, piece, 1], 0.0, 1.0)
    own = track.pvalues(*track.within(piece, np.nan_to_num(h))[1:])
    early, late = u < track.u[:, 0], u > track.u[:, -1]
    own = np.where(early, before, np.where(late, after, own))
    at = u[:, np.newaxis]
    up_to = np.where(track.u <= at, p, 0.0).max(axis=-1)
    from_there = np.where(track.u >= at, p, 0.0).max(axis=-1)
    left = np.maximum(np.maximum(before, own), up_to)
    right = np.maximum(np.maximum(after, own), from_there)
    return np.asarray(np.minimum(left, right))
