"""Group-sequential randomization tests of two algorithms, on one number for every run of every task.

Numbers are taken less the mean of their batch, z, and labels dealt within batches. ``T = |Σ w (z̄_a - z̄_b)| /
sqrt(Σ w² (s²_a / n_a + s²_b / n_b))`` is kept as polynomials in a shift δ: intervals take no further sums over runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.over_tasks.task_plans import Look, TaskCells
from xcurves.kernels.resampling.batches import rows_that_fit, stretches

_ROUNDING = 16 * np.finfo(float).eps
# Share of a variance's terms below which it is computed anew from the runs: of 16 digits four are lost by then.
_CANCELLED = 1e-4
_TASKS = 4  # whose sums are held at once
_ABSENT = 2  # label of a place without a run: sorted behind those labelled first (0) and second (1)
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
        return Terms(self.d[:, rows], self.v[:, rows], self.p[:, rows], self.largest_p, rows)


def centre_batches(u: Floats, look: Index, looks: list[Look]) -> BatchedRuns:
    """Centre numbers `u`, shape (2, task, run), NaN where a run is absent, within their batches, `look` from 0."""
    z: list[list[Floats]] = []
    e: list[list[Floats]] = []
    sizes = np.zeros((len(looks), u.shape[1], 2))  # of each batch
    # A task's estimate is Σ f_k d_k / Σ f_k with f_k = n_a n_b / (n_a + n_b) of batch k, one over the variance of d_k.
    weighted, factors = np.zeros((2, len(looks), u.shape[1]))
    largest, ranges = np.zeros((2, len(looks)))
    for k, plan in enumerate(looks):
        batch = u[:, :, look == k]
        largest[k] = np.nanmax(np.abs(batch), initial=0.0)
        z.append([])
        e.append([])
        for cells in plan.cells:
            n = np.array([cells.n_a, cells.n_b])
            values = _runs_of(batch[:, cells.tasks], n)
            values = values - values[:, :1]  # exact where numbers are close
            centred = values - values.mean(axis=-1, keepdims=True)
            z[k].append(centred)
            is_first = np.repeat([1.0, 0.0], n)
            e[k].append(is_first - is_first.mean())
            sizes[k, cells.tasks] = n

            of_first, of_second = values[:, : cells.n_a], values[:, cells.n_a :]
            factor = cells.n_a * cells.n_b / n.sum()
            differences = of_first.mean(axis=-1) - of_second.mean(axis=-1)
            factors[k, cells.tasks] = factor
            weighted[k, cells.tasks] = factor * differences
            ranges[k] = max(ranges[k], np.ptp(centred, axis=-1).max())

    # Tasks with runs so far weigh alike.
    total = factors.cumsum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = (total > 0) / np.count_nonzero(total, axis=-1)[:, np.newaxis]
        of_tasks = weights * weighted.cumsum(axis=0) / np.where(total > 0, total, 1)
    return BatchedRuns(
        z,
        e,
        sizes=sizes.cumsum(axis=0),
        weights=np.nan_to_num(weights),
        difference=of_tasks.sum(axis=-1),
        largest=np.maximum.accumulate(largest),
        range=np.maximum.accumulate(ranges),
    )


def _runs_of(batch: Floats, n: Index) -> Floats:
    """Return the numbers that are there of tasks alike in numbers of runs, the first algorithm's in front."""
    present = [of_side[~np.isnan(of_side)].reshape(len(of_side), size) for of_side, size in zip(batch, n, strict=True)]
    return np.concatenate(present, axis=-1)


def studentized_terms(runs: BatchedRuns, looks: list[Look]) -> list[Terms | None]:
    """Return the terms of T at every look, None where a task has one run of an algorithm, or none has two."""
    terms: list[Terms | None] = [None] * len(looks)
    defined = is_defined(runs)
    # So many tasks at once at every look, whatever comes later: sums are added in the same order, and a look says the
    # same however many follow it.
    for tasks in stretches(runs.sizes.shape[1], _TASKS):
        # of z, z², e, z e, e²: labelled first, and all
        sums, totals = np.zeros((2, tasks.stop - tasks.start, 5, 1))
        for k, look in enumerate(looks):
            # Each assignment goes on from that of the batches before which it extends.
            if look.parent is not None:
                sums = sums[..., look.parent]
            for cells, z, e in zip(look.cells, runs.z[k], runs.e[k], strict=True):
                _add_batch(sums, totals, look, cells, z, e, tasks)
            if not defined[k]:
                continue
            of_tasks = _terms(sums, totals, runs.sizes[k, tasks], runs.weights[k, tasks])
            earlier = terms[k]
            if earlier is None:
                terms[k] = of_tasks
            else:
                terms[k] = Terms(*map(np.add, earlier[:4], of_tasks[:4]))
    return terms


def _add_batch(
    sums: Floats,
    totals: Floats,
    look: Look,
    cells: TaskCells,
    z: Floats,
    e: Floats,
    tasks: slice,
) -> None:
    """Add the runs of a batch to the sums of some tasks, those labelled first and all."""
    is_inside = (cells.tasks >= tasks.start) & (cells.tasks < tasks.stop)
    places, z_inside = cells.tasks[is_inside] - tasks.start, z[is_inside]
    e_of_all = np.broadcast_to(e, z_inside.shape)
    features = np.stack([z_inside, z_inside**2, e_of_all, z_inside * e_of_all, e_of_all**2], axis=1)
    for some in stretches(look.n_total, rows_that_fit(8 * max(1, z_inside.size))):
        is_first = 1.0 - cells.of(look.labels[some])[:, is_inside]
        sums[places, :, some] += features @ is_first.transpose(1, 2, 0)
    totals[places] += features.sum(axis=-1)[..., np.newaxis]


def is_defined(runs: BatchedRuns) -> NDArray[np.bool_]:
    """Return at which looks every task with runs has two of both algorithms."""
    has_runs = runs.weights > 0
    has_variance = (runs.sizes >= 2).all(axis=2)
    return np.asarray(has_runs.any(axis=1) & (~has_runs | has_variance).all(axis=1))


def _terms(sums: Floats, totals: Floats, sizes: Floats, weights: Floats) -> Terms:
    """Return the terms of T from the sums of tasks, shape (task, feature, assignment)."""
    # z and e add up to 0 over all runs: those labelled second have minus the sums s, t of those labelled first. After a
    # shift, of numbers z - δ e, the difference of means of a task is (1 / n_a + 1 / n_b)(s - δ t), and with c = 1 / (n
    # (n - 1)) its variance
    # c_a (q - s² / n_a) + c_b (Q - q - s² / n_b) = (c_a - c_b) q + c_b Q - (c_a / n_a + c_b / n_b) s²
    # for δ = 0, q and Q the squares of the first and of all. In δ it is a quadratic form: with z e for z² and s t for
    # s² it gives v[1], with e² and t² v[2].
    has_runs = weights > 0
    w = weights[has_runs, np.newaxis]
    n_a, n_b = sizes[has_runs, 0, np.newaxis], sizes[has_runs, 1, np.newaxis]
    s, zz, t, ze, ee = sums[has_runs].swapaxes(0, 1)
    _, zz_all, _, ze_all, ee_all = totals[has_runs].swapaxes(0, 1)
    c_a, c_b = 1 / (n_a * (n_a - 1)), 1 / (n_b * (n_b - 1))
    c_s = c_a / n_a + c_b / n_b
    of_sum = w * (1 / n_a + 1 / n_b)
    d = np.array([(of_sum * s).sum(axis=0), (of_sum * t).sum(axis=0)])

    # `p` and its largest value tell where V, the difference of large numbers, has lost its digits.
    v, p, largest_p = [], [], []
    for of_first, of_all, square in (
        (zz, zz_all, s * s),
        (ze, ze_all, s * t),
        (ee, ee_all, t * t),
    ):
        before = (c_a - c_b) * of_first + c_b * of_all
        p.append((w**2 * before).sum(axis=0))
        v.append((w**2 * (before - c_s * square)).sum(axis=0))
        largest_p.append((w**2 * np.maximum(c_a, c_b) * of_all).sum())
    return Terms(d, np.array(v), np.array(p), np.array(largest_p))


def studentized_difference(runs: BatchedRuns, looks: list[Look], terms: Terms, k: int, shift: float = 0.0) -> Floats:
    """Return T of every assignment at look `k` after a `shift`; 0 / 0 is 0, x / 0 at least `INFINITE`."""
    d, v = terms.d[0], terms.v[0]
    if shift != 0:
        d, v = d - shift * terms.d[1], _shifted(terms.v, shift)
    size = np.abs(d)
    rounding = _ROUNDING * (runs.largest[k] + abs(shift))

    # Few assignments, if any, have so small a variance: those that may, by one bound for all, are looked at closer.
    # Where the difference is 0 the variance does not matter.
    small = np.flatnonzero(v <= _CANCELLED * _shifted(terms.largest_p, shift))
    if small.size:
        is_cancelled = v[small] <= _CANCELLED * _shifted(terms.p[:, small], shift)
        small = small[is_cancelled & (size[small] > rounding)]
        v = v.copy()  # it may be that of `terms`
        for part in stretches(small.size, rows_that_fit(16 * int(runs.sizes[k].sum()))):
            some = small[part]
            rows = some if terms.rows is None else terms.rows[some]
            d_anew, v[some] = _anew(runs, looks, k, rows, shift)
            size[some] = np.abs(d_anew)

    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.asarray(size / np.sqrt(v))
    # Without variance beyond all others, from one to two times `INFINITE`, by the size of the difference.
    if small.size:
        largest = size.max(where=v == 0, initial=rounding)
        t = np.where(v == 0, INFINITE * (1 + size / largest), t)
    t[size <= rounding] = 0.0
    return t


def squared_range(runs: BatchedRuns, terms: Terms, k: int, low: float, high: float) -> tuple[Floats, Floats]:
    """Return bounds of T² of every assignment at look `k` for all shifts from `low` to `high`."""
    # At a shift h from the middle D is D(middle) - h d[1], and V is V(middle) - 2 h (v[1] - middle v[2]) + h² v[2]: |D|
    # changes by no more than `change`; V by no more than `v_change` downwards, as v[2], a variance, is not negative,
    # and upwards by that of h² as well.
    middle, width = (low + high) / 2, (high - low) / 2
    size = np.abs(terms.d[0] - middle * terms.d[1])
    change = width * np.abs(terms.d[1])
    v = _shifted(terms.v, middle)
    v_change = 2 * width * np.abs(terms.v[1] - middle * terms.v[2])
    v_most = v + v_change + width**2 * terms.v[2]

    rounding = _ROUNDING * (runs.largest[k] + max(abs(low), abs(high)))
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.maximum(size - change - rounding, 0) ** 2 / v_most
        most = (size + change) ** 2 / (v - v_change)
    # where V may have to be computed anew nothing is known
    largest_p = max(_shifted(terms.largest_p, low), _shifted(terms.largest_p, high))
    is_unknown = v - v_change <= _CANCELLED * largest_p
    least[is_unknown] = 0.0
    most[is_unknown] = np.inf
    return least, most


def _shifted(polynomial: Floats, shift: float) -> Floats:
    """Return ``v[0] - 2 δ v[1] + δ² v[2]``."""
    return np.asarray(polynomial[0] - shift * (2 * polynomial[1] - shift * polynomial[2]))


def _anew(runs: BatchedRuns, looks: list[Look], k: int, rows: Index, shift: float) -> tuple[Floats, Floats]:
    """Return D and V of some assignments from their runs, without a difference of large sums."""
    z = _dealt_runs(runs, looks, k, rows, shift)
    largest = runs.largest[k] + abs(shift)
    d, v = np.zeros(len(rows)), np.zeros(len(rows))
    sizes_with_runs = runs.sizes[k][runs.weights[k] > 0]
    # task by task of one pair of sizes, whose runs are arrays without gaps
    for n_a, n_b in np.unique(sizes_with_runs, axis=0).astype(int).tolist():
        tasks = np.flatnonzero((runs.sizes[k] == (n_a, n_b)).all(axis=-1))
        w = runs.weights[k, tasks, np.newaxis]
        mean_a, var_a = _mean_and_variance(z[tasks, :, :n_a], largest)
        mean_b, var_b = _mean_and_variance(z[tasks, :, n_a : n_a + n_b], largest)
        d += (w * (mean_a - mean_b)).sum(axis=0)
        v += (w**2 * (var_a / n_a + var_b / n_b)).sum(axis=0)
    return d, v


def _dealt_runs(runs: BatchedRuns, looks: list[Look], k: int, rows: Index, shift: float) -> Floats:
    """Return the numbers of all runs until look `k`, (task, assignment, run), those labelled first in front."""
    n_tasks = runs.sizes.shape[1]
    n_runs = int(runs.sizes[k].sum(axis=-1).max())
    z = np.zeros((n_tasks, len(rows), n_runs))
    side = np.full((n_tasks, len(rows), n_runs), _ABSENT, np.uint8)

    # From the last batch back to the first, as an assignment names the one before that it extends; places are filled
    # from the end, so that runs stand in the order of the batches.
    n_unfilled = runs.sizes[k].sum(axis=-1).astype(int)
    for j in range(k, -1, -1):
        labels = looks[j].labels[rows]
        for cells, values, e in zip(looks[j].cells, runs.z[j], runs.e[j], strict=True):
            n_unfilled[cells.tasks] -= len(e)
            places = n_unfilled[cells.tasks, np.newaxis] + np.arange(len(e))
            tasks = cells.tasks[:, np.newaxis]
            z[tasks, :, places] = (values - shift * e)[..., np.newaxis]
            side[tasks, :, places] = cells.of(labels).transpose(1, 2, 0)
        parent = looks[j].parent
        if parent is not None:
            rows = parent[rows]
    return np.take_along_axis(z, side.argsort(axis=-1, kind="stable"), axis=-1)


def _mean_and_variance(values: Floats, largest: float) -> tuple[Floats, Floats]:
    """Return mean and variance along the last axis; 0 if deviations are rounding errors of so large numbers."""
    # From the first number on, which is exact where numbers are close: equal ones have a variance of exactly 0.
    from_first = values - values[..., :1]
    mean = from_first.mean(axis=-1, keepdims=True)
    deviations = from_first - mean
    deviations[np.abs(deviations).max(axis=-1) <= _ROUNDING * largest] = 0.0
    variance = (deviations**2).sum(axis=-1) / (values.shape[-1] - 1)
    return values[..., 0] + mean[..., 0], variance


def normal_scale(runs: BatchedRuns) -> Floats:
    """Return, for every look, what to multiply T by to read it as a t statistic: batches take degrees of freedom."""
    # Root mean V over the variance of D of equal variances: of k batches of b v b sqrt(1 - (k - 1) / (2 (k b - 1))).
    # Of runs of variance 1 in a batch of n_a + n_b = n, z has the variance 1 - 1 / n, and the sum of the first
    # algorithm's z, minus that of the second's, n_a n_b / n. Added up over batches these are `squares`, of all z² of an
    # algorithm, and `of_sum`: the mean of s² is (squares - of_sum / n) / (n - 1) with all its runs n.
    batch = np.diff(runs.sizes, axis=0, prepend=0)
    n_of_batch = np.maximum(batch.sum(axis=-1), 1)
    squares = (batch * (1 - 1 / n_of_batch)[..., np.newaxis]).cumsum(axis=0)
    of_sum = (batch.prod(axis=-1) / n_of_batch).cumsum(axis=0)
    w2 = runs.weights**2
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_squares = (squares - of_sum[..., np.newaxis] / runs.sizes) / (runs.sizes - 1)
        estimated = w2 * (mean_squares / runs.sizes).sum(axis=-1)
        # D = (1 / n_a + 1 / n_b) Σ z
        true = w2 * (of_sum * (1 / runs.sizes).sum(axis=-1) ** 2)
        # tasks without runs have 0 / 0
        mean_v = np.where(w2 > 0, estimated, 0).sum(axis=-1)
        ratio = mean_v / np.where(w2 > 0, true, 0).sum(axis=-1)
    return np.where(is_defined(runs), np.sqrt(ratio), np.nan)
