"""The profile of a block of tasks, level by level, wherever the block is: in memory or in a dask worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves import doors
from xcurves.intervals import Stretches
from xcurves.kernels import levels, profiles, simultaneous
from xcurves.kernels.assignments import Assignments
from xcurves.kernels.reassign import Progress
from xcurves.packing import Floats, Layout
from xcurves.randomization import Block, alike, as_float

BY_LEVEL = ("effect", "training")
_PROFILE = {"fraction": BY_LEVEL, "cumulative_fraction": BY_LEVEL, "ss": BY_LEVEL, "f": ("training",)}
_PVALUES = ("pvalue_adjusted", "pvalue", "cluster", "cluster_pvalue")
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
    present : ndarray, shape (algorithm, run)
    places : ndarray, shape (task, level), or None
        Where their levels stand among all; None if they have all.
    curves : ndarray, shape (task, curve, level)
    sizes : tuple of int
        Numbers of runs of the algorithms that have any.
    measured : profiles.Levels
    """

    tasks: NDArray[np.intp]
    present: NDArray[np.bool_]
    places: NDArray[np.intp] | None
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
            fields |= dict.fromkeys((*_PVALUES, *BANDS), ("training",)) | dict.fromkeys(_MARKS, ())
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
        packed = np.full((len(names), self.layout.length), np.nan)
        out = self.layout.views(packed)
        out["n_shuffles"][:] = 0
        for part in self._parts(curves.reshape(len(names), -1, curves.shape[-1]), names):
            self._check(part, [names[task] for task in part.tasks])
            if part.places is None:
                self._fill(out, part)
                continue
            fields = self._layout(part.places.shape[1]).blank(len(part.tasks))
            self._fill(fields, part)
            _spread(out, fields, self.layout.dims, part.tasks, part.places)
        return packed.reshape(*numbers.shape, -1)

    def _parts(self, flat: Floats, names: list[str]) -> Iterator[_Part]:
        """Yield tasks that have the same runs and equally many levels; all at once where nothing is missing."""
        shape = (len(self.algorithms), len(self.runs))
        everyone = (shape[1],) * shape[0]
        measured = profiles.measure(flat, everyone, paired=self.paired)
        if np.isfinite(measured.simple.sum() + measured.error.sum()):
            yield _Part(np.arange(len(names)), np.ones(shape, bool), None, flat, everyone, measured)
            return
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
            yield _Part(tasks, here, places, some, sizes, profiles.measure(some, sizes, paired=self.paired))

    def _check(self, part: _Part, names: list[str]) -> None:
        doors.check_groups(part.present, names[0], self.algorithms, self.runs, paired=self.paired)
        if part.curves.shape[-1] == 1:
            level = self.training[0 if part.places is None else part.places[0, 0]]
            raise ValueError(
                f"{names[0]}there is one training level ({level:g}); a profile over training needs two. "
                "Use .curves.randomized_anova()"
            )
        squares = part.measured.simple.sum(axis=-1) + part.measured.error.sum(axis=-1)
        differ = np.zeros(len(squares), bool)
        tiny = squares < 1e-280
        differ[tiny] = part.measured.deviations[tiny].any(axis=(1, 2))
        doors.check_scale(squares, differ, names)

    def _fill(self, out: dict[str, Floats], part: _Part) -> None:
        """Write the results of a part, which has a place for every level it has, into `out`."""
        df = self._df(part.sizes)
        profiles.effects(part.measured, part.sizes, out["ss"], out["fraction"], out["cumulative_fraction"])
        with np.errstate(divide="ignore", invalid="ignore"):
            np.divide(part.measured.simple * (df[1] / df[0]), part.measured.error, out=out["f"])
        if len(self.stretches):
            holds = self._holds(part)
            held = np.asarray(holds.any(axis=-1))[:, np.newaxis]
            share = np.einsum("teh,tih->tei", out["fraction"], holds)
            out["interval_fraction"][:] = np.where(held, share, np.nan)
        plan = self.plan(part.sizes, work=part.curves.shape[-1])
        out["n_shuffles"][:] = plan.n_shuffles
        out["n_assignments"][:] = as_float(plan.n_assignments)
        if not self.inference:
            return
        assignments = Assignments(plan, self.batch)
        width = levels.panel_width(plan, part.curves.shape[-1])
        for start in range(0, len(part.tasks), width):
            self._infer(out, part, slice(start, start + width), assignments)

    def _infer(self, out: dict[str, Floats], part: _Part, tasks: slice, assignments: Assignments) -> None:
        """Write what shuffling says of some tasks of a part into `out`."""
        curves, simple = part.curves[tasks], part.measured.simple[tasks]
        total = simple + part.measured.error[tasks]
        holds = self._holds(part)[tasks]
        with np.errstate(divide="ignore", invalid="ignore"):
            centred = profiles.centre(curves, part.sizes, paired=self.paired)
            unit = np.where(total > 0, 1 / np.sqrt(total), 0.0)[:, np.newaxis]
            within = holds * total[:, np.newaxis]
            design = levels.Design(
                np.ascontiguousarray(np.moveaxis(centred * unit, 1, 2)),
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
        marked = found["pvalue_adjusted"] <= self.alpha + 1e-12
        at = self.training if part.places is None else self.training[part.places[tasks]]
        first, last = np.where(marked, at, np.inf).min(axis=-1), np.where(marked, at, -np.inf).max(axis=-1)
        out["first_significant"][tasks] = np.where(np.isfinite(first), first, np.nan)
        out["last_significant"][tasks] = np.where(np.isfinite(last), last, np.nan)
        if self.margin is not None:
            difference, half_width = simultaneous.intervals(curves, assignments, self.alpha)
            out["equivalent"][tasks] = (np.abs(difference) + half_width <= self.margin).all(axis=1)

    def _df(self, sizes: tuple[int, ...]) -> tuple[float, float]:
        """Return the degrees of freedom of the F of a level."""
        between = len(sizes) - 1
        return between, between * (sizes[0] - 1) if self.paired else sum(sizes) - len(sizes)

    def _holds(self, part: _Part) -> NDArray[np.bool_]:
        """Return which levels the intervals hold, shape (task, interval, level)."""
        if part.places is None:
            return np.broadcast_to(self.stretches.holds, (len(part.tasks), *self.stretches.holds.shape))
        return np.moveaxis(self.stretches.holds[:, part.places], 0, 1)


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
