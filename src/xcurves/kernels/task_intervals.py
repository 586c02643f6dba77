"""Intervals by inversion of a test whose statistic is a linear over the root of a quadratic function of the shift.

After a shift δ, measured from the estimate in units of its standard error, the observed ``|T|`` is ``|δ|`` and that of
a reassignment ``|n - eδ| / sqrt(v0 + v1 δ + v2 δ²)``. A reassignment counts at δ where the quartic

    (n - eδ)² - δ² (v0 + v1 δ + v2 δ²)

is not negative. The interval runs between the outermost shifts at which more than a given number count: they are found
from the roots of those quartics that can change sign there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import TIE

_DOUBLINGS = 60
_HALVINGS = 30
# Row i, column j: binomial(i, j) / binomial(4, j), from powers to the Bernstein basis of degree 4.
_BERNSTEIN = np.array(
    [[1, 0, 0, 0, 0], [1, 1 / 4, 0, 0, 0], [1, 2 / 4, 1 / 6, 0, 0], [1, 3 / 4, 3 / 6, 1 / 4, 0], [1] * 5]
)


class ShiftedTasks(NamedTuple):
    """How ``T`` of every reassignment depends on the shift; each of shape (reassignment,).

    Attributes
    ----------
    n, e : ndarray
        Estimate at shift 0, and by how much it falls per unit of shift.
    v0, v1, v2 : ndarray
        Coefficients of its variance; `v1` and `v2` are exactly 0 where the variance does not depend on the shift.
    """

    n: Floats
    e: Floats
    v0: Floats
    v1: Floats
    v2: Floats


def hull(shifted: ShiftedTasks, most: float) -> Floats:
    """Return the outermost shifts, shape (2,), at which more than `most` reassignments count; infinite if everywhere.

    The interval is closed.
    """
    mirrored = shifted._replace(n=-shifted.n, v1=-shifted.v1)
    return np.array([-_end(_quartics(mirrored), most), _end(_quartics(shifted), most)])


def _quartics(shifted: ShiftedTasks) -> Floats:
    """Return coefficients of the quartics in s = 1 / δ, from that of 1 to that of s⁴, shape (5, reassignment)."""
    n, e, v0, v1, v2 = shifted
    more, less = 1 + TIE, 1 - TIE
    e = np.broadcast_to(e, n.shape)
    quartics = [np.broadcast_to(-less * v2, n.shape), -less * v1, more * e * e - less * v0, -2 * more * n * e]
    return np.stack([*quartics, more * n * n])


def _end(quartics: Floats, most: float) -> float:
    """Return the largest δ > 0 at which more than `most` quartics are not negative."""
    outer, inner = _bracket(quartics, most)
    bernstein = _on_interval(quartics, 0.0, inner)
    undecided = (bernstein >= 0).any(axis=0)
    always = undecided & (bernstein >= 0).all(axis=0)
    if np.count_nonzero(always) > most:
        return np.inf
    most -= np.count_nonzero(always)
    quartics = quartics[:, undecided & ~always]
    outer, inner = _narrow(quartics, most, outer, inner)
    bernstein = _on_interval(quartics, outer, inner)
    changing = (bernstein >= 0).any(axis=0) & (bernstein < 0).any(axis=0)
    most -= np.count_nonzero((bernstein >= 0).all(axis=0))
    s = outer + (inner - outer) * _first_excess(_on_interval(quartics[:, changing], outer, inner, basis=False), most)
    return 1 / s if s > 0 else np.inf


def _bracket(quartics: Floats, most: float) -> tuple[float, float]:
    """Return s of a shift that is rejected, 0 if none was met, and s of a smaller one that is not."""
    outer, inner = 0.0, 1.0
    if _n_counted(quartics, inner) > most:
        for _ in range(_DOUBLINGS):
            if _n_counted(quartics, inner / 2) <= most:
                return inner / 2, inner
            inner /= 2
        return outer, inner
    while _n_counted(quartics, inner) <= most:
        outer, inner = inner, 2 * inner
    return outer, inner


def _narrow(quartics: Floats, most: float, rejected: float, inner: float) -> tuple[float, float]:
    """Return an `outer` beyond which no more than `most` quartics can count, and an `inner` where more do."""
    for _ in range(_HALVINGS // 2):
        middle = (rejected + inner) / 2
        if _n_counted(quartics, middle) > most:
            inner = middle
        else:
            rejected = middle
    outer, step = 0.0, inner / 2
    for _ in range(_HALVINGS):
        if np.count_nonzero((_on_interval(quartics, outer, outer + step) >= 0).any(axis=0)) <= most:
            outer += step
        step /= 2
    return outer, inner


def _n_counted(quartics: Floats, s: float) -> int:
    value = quartics[4] * s
    for coefficient in quartics[3:0:-1]:
        value += coefficient
        value *= s
    value += quartics[0]
    return int(np.count_nonzero(value >= 0))


def _on_interval(quartics: Floats, start: float, stop: float, *, basis: bool = True) -> Floats:
    """Return coefficients over [start, stop] as [0, 1], in the Bernstein basis, whose signs bound values, or powers."""
    # s = start + (stop - start) σ: the coefficient of σ^j is Σ_k binomial(k, j) start^(k-j) (stop - start)^j c_k.
    powers = start ** np.arange(5.0)
    shift = np.zeros((5, 5))
    for j, row in enumerate(([1, 1, 1, 1, 1], [1, 2, 3, 4], [1, 3, 6], [1, 4], [1])):
        shift[j, j:] = np.array(row) * powers[: 5 - j] * (stop - start) ** j
    return np.asarray((_BERNSTEIN @ shift if basis else shift) @ quartics)


def _first_excess(quartics: Floats, most: float) -> float:
    """Return the smallest σ in [0, 1] at which more than `most` quartics are not negative; 1 if there is none."""
    breaks = np.concatenate([np.zeros((1, quartics.shape[1])), _real_parts(quartics), np.ones((1, quartics.shape[1]))])
    middle = (breaks[1:] + breaks[:-1]) / 2
    counts = (np.einsum("kq,kiq->iq", quartics, middle ** np.arange(5.0)[:, np.newaxis, np.newaxis]) >= 0) & (
        breaks[1:] > breaks[:-1]
    )
    counts = _without_gaps(counts, breaks)
    before = np.pad(counts[:-1], ((1, 0), (0, 0)))
    after = np.pad(counts[1:], ((0, 1), (0, 0)))
    begins, ends = breaks[:-1][counts & ~before], breaks[1:][counts & ~after]
    where = np.concatenate([begins, ends])
    change = np.repeat([1, -1], [len(begins), len(ends)])
    order = np.lexsort([-change, where])  # closed: at one place begins stand before ends
    excess = np.flatnonzero(change[order].cumsum() > most)
    return float(where[order[excess[0]]]) if excess.size else 1.0


def _without_gaps(counts: NDArray[np.bool_], breaks: Floats) -> NDArray[np.bool_]:
    """Let intervals of no length do as the one before them."""
    out = counts.copy()
    for i in range(1, len(counts)):
        out[i] = np.where(breaks[i + 1] > breaks[i], counts[i], out[i - 1])
    return out


def _real_parts(quartics: Floats) -> Floats:
    """Return the real parts of the four roots within [0, 1], ascending, those of real roots to the last digits."""
    largest = np.abs(quartics).max(axis=0)
    swapped = np.abs(quartics[0]) > np.abs(quartics[4])
    monic = np.where(swapped, quartics, quartics[::-1]) / largest  # from the leading coefficient down
    monic[0] = np.where(np.abs(monic[0]) < 1e-30, 1e-30, monic[0])
    companion = np.zeros((quartics.shape[1], 4, 4))
    companion[:, 0] = -(monic[1:] / monic[0]).T
    companion[:, [1, 2, 3], [0, 1, 2]] = 1.0
    roots = np.linalg.eigvals(companion).T.astype(complex)
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.where(swapped, 1 / roots, roots)
    found = np.where(np.isfinite(roots.real), roots.real, np.inf)
    found = np.clip(found, 0.0, 1.0)
    for _ in range(3):
        value, slope = quartics[4] * np.ones_like(found), np.zeros_like(found)
        for coefficient in quartics[3::-1]:
            slope = slope * found + value
            value = value * found + coefficient
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where((slope != 0) & (np.abs(roots.imag) < 1e-3), value / slope, 0.0)
        found = np.where(np.abs(step) < 1e-3, np.clip(found - step, 0.0, 1.0), found)
    return np.sort(found, axis=0)
