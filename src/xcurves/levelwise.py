"""The profile of a block of tasks, level by level, wherever the block is: in memory or in a dask worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves import doors, outcomes
from xcurves.intervals import Stretches
from xcurves.kernels import levels, profiles, simultaneous
from xcurves.kernels.assignments import Assignments
from xcurves.kernels.reassign import Progress
from xcurves.packing import Floats, Layout
from xcurves.randomization import Block, alike, as_float

_PROFILE = dict.fromkeys(("fraction", "cumulative_fraction", "ss"), ("effect", "training"))
_TESTS = ("pvalue_adjusted", "pvalue", "f", "cluster", "cluster_pvalue")
BANDS = {"ss_null_upper": "critical", "ss_null_upper_simultaneous": "critical_simultaneous"}
_MARKS = ("first_significant", "last_significant")
_COUNTS: dict[str, tuple[str, ...]] = {"n_shuffles": (), "n_assignments": ()}
_INTERVAL_PVALUES = ("interval_pvalue", "interval_pvalue_adjusted")


class _Part(NamedTuple):
    """Tasks with the same runs and equally many levels.

    Attributes
    ----------
    tasks : ndarray, shape (task,)
        Their numbers in the block.
    training : ndarray, shape (task, level)
        Their levels.
    holds : ndarray, shape (task, interval, level)
        Whether an interval holds a level.
    curves : ndarray, shape (task, curve, level)
    sizes : tuple of int
        Numbers of runs of the algorithms that have any.
    measured : profiles.Levels
    """

    tasks: NDArray[np.intp]
    training: Floats
    holds: NDArray[np.bool_]
    curves: Floats
    sizes: tuple[int, ...]
    measured: profiles.Levels


@dataclass(frozen=True)
class ProfileBlock(Block):
    """The profiles of a block of tasks: curves in, packed results out."""

    training: Floats
    stretches: Stretches
    margin: float | None
    rules: levels.Rules
    batch: int | None
    progress: Progress

    @property
    def inference(self) -> bool:
        """Whether anything is to be shuffled."""
        return self.n_resamples != 0

    @property
    def layout(self) -> Layout:
        """The layout of the results that are asked for."""
        return self._layout(len(self.training))

    def _layout(self, n_levels: int) -> Layout:
        fields: dict[str, tuple[str, ...]] = dict(_PROFILE)
        if self.inference:
            fields |= dict.fromkeys((*_TESTS, *BANDS), ("training",)) | dict.fromkeys(_MARKS, ())
        if len(self.stretches):
            fields["interval_fraction"] = ("effect", "interval")
        if len(self.stretches) and self.inference:
            fields |= dict.fromkeys(_INTERVAL_PVALUES, ("interval",))
        if self.margin is not None:
            fields["equivalent"] = ("training",)
        return Layout(fields | _COUNTS, {"effect": 3, "training": n_levels, "interval": len(self.stretches)})

    def __call__(self, curves: Floats, numbers: NDArray[np.int64]) -> Floats:
        """Profile tasks, given their curves, shape (..., algorithm, run, training), and their numbers."""
        names = [self.names[number] for number in numbers.ravel()]
        flat = curves.reshape(len(names), -1, curves.shape[-1])
        whole = self._whole(flat, names[0])
        if whole is not None:
            packed = np.empty((len(names), self.layout.length))
            self._check(whole, names)
            self._fill(self.layout.views(packed), whole)
        else:
            packed = np.full((len(names), self.layout.length), np.nan)
            out = self.layout.views(packed)
            out["n_shuffles"][:] = 0
            for part, places in self._parts(flat, names):
                self._check(part, [names[task] for task in part.tasks])
                fields = self._layout(places.shape[1]).blank(len(places))
                self._fill(fields, part)
                _spread(out, fields, self.layout.dims, part.tasks, places)
        return packed.reshape(*numbers.shape, -1)

    def _whole(self, flat: Floats, name: str) -> _Part | None:
        """Return all tasks as one part; None if any has a gap, which costs no look of its own to find out."""
        n_tasks, _, n_levels = flat.shape
        everyone = np.ones((len(self.algorithms), len(self.runs)), bool)
        doors.check_groups(everyone, name, self.algorithms, self.runs, paired=self.paired)
        sizes = (len(self.runs),) * len(self.algorithms)
        measured = self._measure(flat, sizes)
        if not np.isfinite(measured.simple.sum() + measured.error.sum()):
            return None
        holds = np.broadcast_to(self.stretches.holds, (n_tasks, *self.stretches.holds.shape))
        training = np.broadcast_to(self.training, (n_tasks, n_levels))
        return _Part(np.arange(n_tasks), training, holds, flat, sizes, measured)

    def _parts(self, flat: Floats, names: list[str]) -> Iterator[tuple[_Part, NDArray[np.intp]]]:
        """Yield tasks that have the same runs and equally many levels, and where their levels stand among all."""
        has = ~np.isnan(flat)
        counts = np.where(np.isinf(flat).any(axis=-1), np.nan, has.sum(axis=-1))
        in_grid = np.asarray(has.any(axis=1))
        n_levels = in_grid.sum(axis=-1).astype(float)
        present = self.present(counts, n_levels, names)
        for tasks in alike(present, n_levels):
            here = present[tasks[0]]
            doors.check_groups(here, names[tasks[0]], self.algorithms, self.runs, paired=self.paired)
            places = np.nonzero(in_grid[tasks])[1].reshape(len(tasks), -1)
            some = np.take_along_axis(flat[np.ix_(tasks, np.flatnonzero(here))], places[:, np.newaxis], axis=2)
            sizes = tuple(size for size in here.sum(axis=1).tolist() if size)
            measured = self._measure(some, sizes)
            holds = np.moveaxis(self.stretches.holds[:, places], 0, 1)
            yield _Part(tasks, self.training[places], holds, some, sizes, measured), places

    def _measure(self, curves: Floats, sizes: tuple[int, ...]) -> profiles.Levels:
        if self.inference:
            return profiles.measure(curves, sizes, paired=self.paired)
        return profiles.measure_groups(curves, sizes)

    def _check(self, part: _Part, names: list[str]) -> None:
        if part.curves.shape[-1] == 1:
            raise ValueError(
                f"{names[0]}there is one training level ({part.training[0, 0]:g}); a profile over training needs two. "
                "Use .curves.randomized_anova()"
            )
        squares = part.measured.simple.sum(axis=-1) + part.measured.error.sum(axis=-1)
        differ = np.zeros(len(squares), bool)
        tiny = squares < 1e-280
        differ[tiny] = part.measured.deviations[tiny].any(axis=(1, 2))
        doors.check_scale(squares, differ, names)

    def _fill(self, out: dict[str, Floats], part: _Part) -> None:
        """Write the results of a part, which has a place for every level it has, into `out`."""
        profiles.effects(part.measured, part.sizes, out["ss"], out["fraction"], out["cumulative_fraction"])
        if len(self.stretches):
            held = np.asarray(part.holds.any(axis=-1))[:, np.newaxis]
            share = out["fraction"] @ part.holds.swapaxes(1, 2).astype(float)
            out["interval_fraction"][:] = np.where(held, share, np.nan)
        plan = self.plan(part.sizes, work=part.curves.shape[-1])
        out["n_shuffles"][:] = plan.n_shuffles
        out["n_assignments"][:] = as_float(plan.n_assignments)
        if not self.inference:
            return
        df = self._df(part.sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.divide(part.measured.simple * (df[1] / df[0]), part.measured.error, out=out["f"])
        assignments = Assignments(plan, self.batch)
        width = levels.panel_width(plan, part.curves.shape[-1], len(self.stretches))
        for start in range(0, len(part.tasks), width):
            self._infer(out, part, slice(start, start + width), assignments)

    def _infer(self, out: dict[str, Floats], part: _Part, tasks: slice, assignments: Assignments) -> None:
        """Write what shuffling says of some tasks of a part into `out`."""
        curves, simple = part.curves[tasks], part.measured.simple[tasks]
        total = simple + part.measured.error[tasks]
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = profiles.centre(curves, part.sizes, paired=self.paired)
            scaled *= np.where(total > 0, 1 / np.sqrt(total), 0.0)[:, np.newaxis]
            within = part.holds[tasks] * total[:, np.newaxis]
            design = levels.Design(
                np.ascontiguousarray(np.moveaxis(scaled, 1, 2)),
                simple / total,
                within / within.sum(axis=-1, keepdims=True),
                self._df(part.sizes),
            )
        found = levels.evaluate(design, assignments, self.rules, self.progress)
        for name, critical in BANDS.items():
            out[name][tasks] = np.where(total > 0, total * found.pop(critical), np.nan)
        for name, values in found.items():
            if name in out:
                out[name][tasks] = values
        marked = outcomes.significant(found["pvalue_adjusted"], self.alpha)
        at = part.training[tasks]
        first, last = np.where(marked, at, np.inf).min(axis=-1), np.where(marked, at, -np.inf).max(axis=-1)
        out["first_significant"][tasks] = np.where(np.isfinite(first), first, np.nan)
        out["last_significant"][tasks] = np.where(np.isfinite(last), last, np.nan)
        if self.margin is not None:
            difference, half_width = simultaneous.intervals(curves, assignments, self.alpha)
            shown = (np.abs(difference) + half_width <= self.margin).all(axis=1)
            out["equivalent"][tasks] = np.where(total > 0, shown, np.nan)

    def _df(self, sizes: tuple[int, ...]) -> tuple[float, float]:
        """Return the degrees of freedom of the F of a level."""
        between = len(sizes) - 1
        return between, between * (sizes[0] - 1) if self.paired else sum(sizes) - len(sizes)


def _spread(
    out: dict[str, Floats],
    fields: dict[str, Floats],
    dims: Mapping[str, tuple[str, ...]],
    tasks: NDArray[np.intp],
    places: NDArray[np.intp],
) -> None:
    """Put the fields of tasks, which have a place for every level of their own, at the `places` of these levels."""
    for name, found in fields.items():
        if "training" not in dims[name]:
            out[name][tasks] = found
        elif "effect" in dims[name]:
            effects = np.arange(out[name].shape[1])[:, np.newaxis]
            out[name][tasks[:, np.newaxis, np.newaxis], effects, places[:, np.newaxis]] = found
        else:
            out[name][tasks[:, np.newaxis], places] = found
