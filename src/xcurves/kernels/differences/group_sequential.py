"""Group-sequential randomization tests of two algorithms, on one number for every run of every task.

Numbers are taken less the mean of their batch, z, and labels dealt within batches. ``T = |Σ w (z̄_a - z̄_b)| /
sqrt(Σ w² (s²_a / n_a + s²_b / n_b))`` is kept as polynomials in a shift δ: intervals take no further sums over runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.differences.task_plans import Look
from xcurves.kernels.resampling.batches import rows_that_fit, stretches

_ROUNDING = 16 * np.finfo(float).eps
# Share of a variance's terms below which it is computed anew from the runs.
_CANCELLED = 1e-4
_TASKS = 4  # whose sums are held at once
INFINITE = 1e200  # statistics at least this large have no variance; the larger the difference the further


class BatchedRuns(NamedTuple):
    """The runs of a pair of algorithms in all batches, each batch the first algorithm's runs before the second's."""

    # (task, run): numbers less the mean of their batch, for all `TaskCells` of every look
    z: list[list[Floats]]
    e: list[list[Floats]]  # (run,): whether it is of the first, less its batch's mean
    sizes: Floats  # (look, task, 2): cumulative runs of the batches that count
    weights: Floats  # (look, task); 0 without runs
    difference: Floats  # (look,): weighted mean of differences within batches
    largest: Floats  # (look,): the largest number so far, without sign
    range: Floats  # (look,): the largest of a batch so far


class Terms(NamedTuple):
    """What T at one look is made of, for every assignment: polynomials in the shift."""

    d: Floats  # d[0] - δ d[1]
    v: Floats  # v[0] - 2 δ v[1] + δ² v[2]
    p: Floats  # what V has before squared sums are subtracted
    largest_p: Floats  # (3,): no p is larger
    rows: Index | None = None  # numbers of the assignments; None for all

    def take(self, rows: Index) -> Terms:
        """Return the terms of some of all assignments."""
        return Terms(
            self.d[:, rows], self.v[:, rows], self.p[:, rows], self.largest_p, rows
        )


def centre_batches(u: Floats, look: Index, looks: list[Look]) -> BatchedRuns:
    """Centre numbers `u`, shape (2, task, run), NaN where a run is absent, within their batches, `look` from 0."""
    z: list[list[Floats]] = []
    e: list[list[Floats]] = []
    sizes = np.zeros((len(looks), u.shape[1], 2))
    summed, total = np.zeros((2, len(looks), u.shape[1]))
    largest, ranges = np.zeros((2, len(looks)))
    for k, each in enumerate(looks):
        batch = u[:, :, look == k]
        largest[k] = np.nanmax(np.abs(batch), initial=0.0)
        z.append([])
        e.append([])
        for cells in each.cells:
            n = np.array([cells.n_a, cells.n_b])
            rows = batch[:, cells.tasks]
            present = [
                part[~np.isnan(part)].reshape(len(part), size)
                for part, size in zip(rows, n, strict=True)
            ]
            values = np.concatenate(present, axis=-1)
            values = values - values[:, :1]  # exact where numbers are close
            z[k].append(values - values.mean(axis=-1, keepdims=True))
            labels = np.repeat([1.0, 0.0], n)
            e[k].append(labels - labels.mean())
            sizes[k, cells.tasks] = n
            factor = cells.n_a * cells.n_b / n.sum()
            total[k, cells.tasks] = factor
            means = values[:, : cells.n_a].mean(axis=-1) - values[:, cells.n_a :].mean(
                axis=-1
            )
            summed[k, cells.tasks] = factor * means
            ranges[k] = max(ranges[k], np.ptp(z[k][-1], axis=-1).max())
    sizes, summed, total = (each.cumsum(axis=0) for each in (sizes, summed, total))
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = (total > 0) / np.count_nonzero(total, axis=-1)[:, np.newaxis]
        difference = (weights * summed / np.where(total > 0, total, 1)).sum(axis=-1)
    so_far = (np.maximum.accumulate(each) for each in (largest, ranges))
    return BatchedRuns(z, e, sizes, np.nan_to_num(weights), difference, *so_far)


def studentized_terms(runs: BatchedRuns, looks: list[Look]) -> list[Terms | None]:
    """Return the terms of T at every look, None where a task has one run of an algorithm, or none has two."""
    out: list[Terms | None] = [None] * len(looks)
    defined = is_defined(runs)
    # as many whatever comes later, so that sums are the same
    for tasks in stretches(runs.sizes.shape[1], _TASKS):
        # of z, z², e, z e, e²: labelled first, and all
        sums, totals = np.zeros((2, tasks.stop - tasks.start, 5, 1))
        for k, look in enumerate(looks):
            sums = sums if look.parent is None else sums[..., look.parent]
            for cells, z, e in zip(look.cells, runs.z[k], runs.e[k], strict=True):
                inside = (cells.tasks >= tasks.start) & (cells.tasks < tasks.stop)
                places, values = cells.tasks[inside] - tasks.start, z[inside]
                ones = np.broadcast_to(e, values.shape)
                features = np.stack(
                    [values, values**2, ones, values * ones, ones**2], axis=1
                )
                for some in stretches(
                    look.n_total, rows_that_fit(8 * max(1, values.size))
                ):
                    first = 1.0 - cells.of(look.labels[some])[:, inside]
                    sums[places, :, some] += features @ first.transpose(1, 2, 0)
                totals[places] += features.sum(axis=-1)[..., np.newaxis]
            if defined[k]:
                before, found = (
                    out[k],
                    _terms(sums, totals, runs.sizes[k, tasks], runs.weights[k, tasks]),
                )
                out[k] = Terms(*map(np.add, before[:4], found[:4])) if before else found
    return out


def is_defined(runs: BatchedRuns) -> NDArray[np.bool_]:
    """Return at which looks every task with runs has two of both algorithms."""
    some = runs.weights > 0
    return np.asarray(
        some.any(axis=1) & (~some | (runs.sizes >= 2).all(axis=2)).all(axis=1)
    )


def _terms(sums: Floats, totals: Floats, sizes: Floats, weights: Floats) -> Terms:
    """Return the terms of T from the sums of tasks, shape (task, feature, assignment)."""
    some = weights > 0
    w = weights[some, np.newaxis]
    n_a, n_b = (each[:, np.newaxis] for each in sizes[some].T)
    s, q, t, qt, tt = sums[some].swapaxes(0, 1)
    _, q_all, _, qt_all, tt_all = totals[some].swapaxes(0, 1)
    c_a, c_b = (1 / (n * (n - 1)) for n in (n_a, n_b))
    c_s = c_a / n_a + c_b / n_b
    step = w * (1 / n_a + 1 / n_b)
    d, v, p, largest_p = [(step * s).sum(axis=0), (step * t).sum(axis=0)], [], [], []
    for part, whole, square in (
        (q, q_all, s * s),
        (qt, qt_all, s * t),
        (tt, tt_all, t * t),
    ):
        above = (c_a - c_b) * part + c_b * whole
        p.append((w**2 * above).sum(axis=0))
        v.append((w**2 * (above - c_s * square)).sum(axis=0))
        largest_p.append((w**2 * np.maximum(c_a, c_b) * whole).sum())
    return Terms(np.array(d), np.array(v), np.array(p), np.array(largest_p))


def studentized_difference(
    runs: BatchedRuns, looks: list[Look], found: Terms, k: int, shift: float = 0.0
) -> Floats:
    """Return T of every assignment at look `k` after a `shift`; 0 / 0 is 0, x / 0 at least `INFINITE`."""
    d, v = found.d[0], found.v[0]
    if shift != 0:
        d, v = d - shift * found.d[1], _shifted(found.v, shift)
    size = np.abs(d)
    rounding = _ROUNDING * (runs.largest[k] + abs(shift))
    small = np.flatnonzero(v <= _CANCELLED * _shifted(found.largest_p, shift))
    if small.size:
        small = small[
            (v[small] <= _CANCELLED * _shifted(found.p[:, small], shift))
            & (size[small] > rounding)
        ]
        v = v.copy()
        for part in stretches(small.size, rows_that_fit(16 * int(runs.sizes[k].sum()))):
            some = small[part]
            anew, v[some] = _anew(
                runs, looks, k, some if found.rows is None else found.rows[some], shift
            )
            size[some] = np.abs(anew)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.asarray(size / np.sqrt(v))
    if small.size:
        largest = size.max(where=v == 0, initial=rounding)
        t = np.where(v == 0, INFINITE * (1 + size / largest), t)
    t[size <= rounding] = 0.0
    return t


def squared_range(
    runs: BatchedRuns, found: Terms, k: int, low: float, high: float
) -> tuple[Floats, Floats]:
    """Return bounds of T² of every assignment at look `k` for all shifts from `low` to `high`."""
    middle, width = (low + high) / 2, (high - low) / 2
    slope = found.v[1] - middle * found.v[2]
    size = np.abs(found.d[0] - middle * found.d[1])
    change = width * np.abs(found.d[1])
    rounding = _ROUNDING * (runs.largest[k] + max(abs(low), abs(high)))
    v, v_change = _shifted(found.v, middle), 2 * width * np.abs(slope)
    cancelled = v - v_change <= _CANCELLED * max(
        _shifted(found.largest_p, shift) for shift in (low, high)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.maximum(size - change - rounding, 0) ** 2 / (
            v + v_change + width**2 * found.v[2]
        )
        most = (size + change) ** 2 / (v - v_change)
    least[cancelled], most[cancelled] = 0.0, np.inf
    return least, most


def _shifted(polynomial: Floats, shift: float) -> Floats:
    return np.asarray(
        polynomial[0] - shift * (2 * polynomial[1] - shift * polynomial[2])
    )


def _anew(
    runs: BatchedRuns, looks: list[Look], k: int, rows: Index, shift: float
) -> tuple[Floats, Floats]:
    """Return D and V of some assignments from their runs, without a difference of large sums."""
    n_tasks = runs.sizes.shape[1]
    n_runs = int(runs.sizes[k].sum(axis=-1).max())
    z = np.zeros((n_tasks, len(rows), n_runs))
    # 0 labelled first, 1 second, 2 no run
    side = np.full((n_tasks, len(rows), n_runs), 2, np.uint8)
    filled = runs.sizes[k].sum(axis=-1).astype(int)
    for j in range(k, -1, -1):
        labels = looks[j].labels[rows]
        for cells, values, e in zip(looks[j].cells, runs.z[j], runs.e[j], strict=True):
            filled[cells.tasks] -= len(e)
            places = filled[cells.tasks, np.newaxis] + np.arange(len(e))
            tasks = cells.tasks[:, np.newaxis]
            z[tasks, :, places] = (values - shift * e)[..., np.newaxis]
            side[tasks, :, places] = cells.of(labels).transpose(1, 2, 0)
        parent = looks[j].parent
        rows = rows if parent is None else parent[rows]
    z = np.take_along_axis(z, side.argsort(axis=-1, kind="stable"), axis=-1)
    d, v = np.zeros(z.shape[1]), np.zeros(z.shape[1])
    for n_a, n_b in (
        np.unique(runs.sizes[k][runs.weights[k] > 0], axis=0).astype(int).tolist()
    ):
        alike = np.flatnonzero((runs.sizes[k] == (n_a, n_b)).all(axis=-1))
        w = runs.weights[k, alike, np.newaxis]
        (mean_a, var_a), (mean_b, var_b) = (
            _mean_and_variance(part, runs.largest[k] + abs(shift))
            for part in (z[alike, :, :n_a], z[alike, :, n_a : n_a + n_b])
        )
        d += (w * (mean_a - mean_b)).sum(axis=0)
        v += (w**2 * (var_a / n_a + var_b / n_b)).sum(axis=0)
    return d, v


def _mean_and_variance(values: Floats, largest: float) -> tuple[Floats, Floats]:
    from_first = values - values[..., :1]
    mean = from_first.mean(axis=-1, keepdims=True)
    rest = from_first - mean
    rest[np.abs(rest).max(axis=-1) <= _ROUNDING * largest] = 0.0
    return values[..., 0] + mean[..., 0], (rest**2).sum(axis=-1) / (
        values.shape[-1] - 1
    )


def normal_scale(runs: BatchedRuns) -> Floats:
    """Return, for every look, what to multiply T by to read it as a t statistic: batches take degrees of freedom."""
    # Root mean V over the variance of D of equal variances: of k batches of b v b sqrt(1 - (k - 1) / (2 (k b - 1))).
    batch = np.diff(runs.sizes, axis=0, prepend=0)
    n = np.maximum(batch.sum(axis=-1), 1)
    squares = (batch * (1 - 1 / n)[..., np.newaxis]).cumsum(axis=0)
    effective = (batch.prod(axis=-1) / n).cumsum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = (squares - effective[..., np.newaxis] / runs.sizes) / (
            runs.sizes - 1
        )
        v = (variances / runs.sizes).sum(axis=-1)
        true = effective * (1 / runs.sizes).sum(axis=-1) ** 2
        w = runs.weights**2
        ratio = np.where(w > 0, w * v, 0).sum(axis=-1) / np.where(
            w > 0, w * true, 0
        ).sum(axis=-1)
    return np.where(is_defined(runs), np.sqrt(ratio), np.nan)
