"""The profile of a block of tasks, level by level, wherever the block is: in memory or in a dask worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core import provenance, run_checks
from xcurves.core.packing import Floats
from xcurves.core.task_blocks import Block, alike, as_float
from xcurves.kernels import levels, profiles, simultaneous
from xcurves.kernels.assignments import Assignments
from xcurves.kernels.reassign import Progress
from xcurves.profile.intervals import Stretches

_CURE_OF_ONE_LEVEL = "a profile over training needs two. Use .curves.randomized_anova()"
BANDS = {"ss_null_upper": "critical", "ss_null_upper_simultaneous": "critical_simultaneous"}


class _Part(NamedTuple):
    """Tasks with the same runs and equally many levels.

    Attributes
    ----------
    tasks : ndarray, shape (task,)
        Indices of the tasks in the block.
    places : ndarray, shape (task, level)
        Indices of their levels among all levels.
    curves : ndarray, shape (task, curve, level)
    n_runs : tuple of int
        Numbers of runs of all algorithms.
    measured : profiles.Levels
    """

    tasks: NDArray[np.intp]
    places: NDArray[np.intp]
    curves: Floats
    n_runs: tuple[int, ...]
    measured: profiles.Levels

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of runs of the algorithms that have runs."""
        return tuple(filter(None, self.n_runs))


@dataclass(frozen=True)
class ProfileBlock(Block):
    """The profiles of a block of tasks: curves in, packed results out."""

    stretches: Stretches
    margin: float | None
    rules: levels.Rules
    batch: int | None
    training: Floats
    progress: Progress

    @property
    def inference(self) -> bool:
        """Whether any reassignment is evaluated."""
        return self.n_resamples != 0

    def measure(self, curves: Floats, sizes: tuple[int, ...]) -> profiles.Levels:
        """Reduce complete curves, shape (task, curve, level), to what the profile needs."""
        if self.inference:
            return profiles.measure_levels(curves, sizes, paired=self.paired)
        return profiles.measure_groups(curves, sizes)

    def df(self, sizes: tuple[int, ...]) -> tuple[float, float]:
        """Return the degrees of freedom of the F of a level."""
        between = len(sizes) - 1
        return between, between * (sizes[0] - 1) if self.paired else sum(sizes) - len(sizes)

    def f(self, measured: profiles.Levels, sizes: tuple[int, ...]) -> Floats:
        """Return the F of every level, shape (task, level)."""
        df = self.df(sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(measured.simple * (df[1] / df[0]) / measured.error)

    def design(
        self, curves: Floats, sizes: tuple[int, ...], simple: Floats, total: Floats, places: NDArray[np.intp]
    ) -> levels.ProfileDesign:
        """Return the input of the randomization for levels with given sums of squares and indices, (task, level)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = profiles.centre_groups(curves, sizes, paired=self.paired)
            scaled *= np.where(total > 0, 1 / np.sqrt(total), 0.0)[:, np.newaxis]
            within = self.stretches.hold(places) * total[:, np.newaxis]
            return levels.ProfileDesign(
                np.ascontiguousarray(np.moveaxis(scaled, 1, 2)), simple / total, within, self.df(sizes)
            )

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
            for name in ("n_runs", "n_resamples"):
                out[name][:] = 0
            for part in self._parts(flat, names):
                self._check(part, [names[task] for task in part.tasks])
                fields = self.layout.resized(training=part.places.shape[1]).blank(len(part.tasks))
                self._fill(fields, part)
                _spread(out, fields, self.layout.dims, part)
        return packed.reshape(*numbers.shape, -1)

    def _whole(self, flat: Floats, name: str) -> _Part | None:
        """Return all tasks as one part; None if any has a gap, found without another pass over the data."""
        n_tasks, _, n_levels = flat.shape
        everyone = np.ones((len(self.algorithms), len(self.runs)), bool)
        run_checks.check_groups(everyone, name, self.algorithms, self.runs, paired=self.paired)
        sizes = (len(self.runs),) * len(self.algorithms)
        measured = self.measure(flat, sizes)
        if not np.isfinite(measured.simple.sum() + measured.error.sum()):
            return None
        places = np.broadcast_to(np.arange(n_levels), (n_tasks, n_levels))
        return _Part(np.arange(n_tasks), places, flat, sizes, measured)

    def _parts(self, flat: Floats, names: list[str]) -> Iterator[_Part]:
        """Yield tasks that have the same runs and equally many levels."""
        in_grid, present = run_checks.check_scores(flat, names, self.algorithms, self.runs)
        for tasks in alike(present, in_grid.sum(axis=-1)):
            here = present[tasks[0]]
            run_checks.check_groups(here, names[tasks[0]], self.algorithms, self.runs, paired=self.paired)
            places = np.nonzero(in_grid[tasks])[1].reshape(len(tasks), -1)
            some = np.take_along_axis(flat[np.ix_(tasks, np.flatnonzero(here))], places[:, np.newaxis], axis=2)
            n_runs = tuple(here.sum(axis=1).tolist())
            yield _Part(tasks, places, some, n_runs, self.measure(some, tuple(filter(None, n_runs))))

    def _check(self, part: _Part, names: list[str]) -> None:
        if part.curves.shape[-1] == 1:
            raise ValueError(
                f"{names[0]}there is one training level ({self.training[part.places[0, 0]]:g}); {_CURE_OF_ONE_LEVEL}"
            )
        squares = part.measured.simple.sum(axis=-1) + part.measured.error.sum(axis=-1)
        differ = np.zeros(len(squares), bool)
        tiny = squares < 1e-280
        differ[tiny] = part.measured.deviations[tiny].any(axis=(1, 2))
        run_checks.check_scale(squares, differ, names)

    def _fill(self, out: dict[str, Floats], part: _Part) -> None:
        """Write the results of a part, which has only the levels of its tasks, into `out`."""
        profiles.effects(part.measured, part.measured.deviations.mean(axis=-1), part.sizes, out["ss"])
        everything = part.measured.simple.sum(axis=-1) + part.measured.error.sum(axis=-1)
        profiles.write_fractions(
            out["ss"], out["ss"].sum(axis=-1), everything, out["fraction"], out["cumulative_fraction"]
        )
        if len(self.stretches):
            holds = self.stretches.hold(part.places)
            held = np.asarray(holds.any(axis=-1))[:, np.newaxis]
            share = out["fraction"] @ holds.swapaxes(1, 2).astype(float)
            out["interval_fraction"][:] = np.where(held, share, np.nan)
        plan = self.plan(part.sizes, work=part.curves.shape[-1])
        out["n_runs"][:] = part.n_runs
        out["n_resamples"][:] = plan.n_resamples
        out["n_assignments"][:] = as_float(plan.n_assignments)
        if not self.inference:
            return
        simple, error, df = part.measured.simple, part.measured.error, self.df(part.sizes)
        out["fraction_corrected"][:] = profiles.corrected_share(simple, error, df)
        out["f"][:] = self.f(part.measured, part.sizes)
        assignments = Assignments(plan, self.batch)
        width = levels.tasks_at_once(plan, part.curves.shape[-1], len(self.stretches))
        for start in range(0, len(part.tasks), width):
            self._infer(out, part, slice(start, start + width), assignments)

    def _infer(self, out: dict[str, Floats], part: _Part, tasks: slice, assignments: Assignments) -> None:
        """Write the inference about some tasks of a part into `out`."""
        curves, places, simple = part.curves[tasks], part.places[tasks], part.measured.simple[tasks]
        total = simple + part.measured.error[tasks]
        design = self.design(curves, part.sizes, simple, total, places)
        found = levels.profile_tests(design, assignments, self.rules, self.progress)
        for name, critical in BANDS.items():
            out[name][tasks] = np.where(total > 0, total * found.pop(critical), np.nan)
        for name, values in found.items():
            if name in out:
                out[name][tasks] = values
        marked = provenance.significant(found["pvalue_adjusted"], self.alpha)
        at = self.training[places]
        first, last = np.where(marked, at, np.inf).min(axis=-1), np.where(marked, at, -np.inf).max(axis=-1)
        out["first_significant"][tasks] = np.where(np.isfinite(first), first, np.nan)
        out["last_significant"][tasks] = np.where(np.isfinite(last), last, np.nan)
        if self.margin is not None:
            shown = simultaneous.are_equivalent(
                *simultaneous.largest_differences(curves, assignments, self.margin), assignments.plan, self.alpha
            )
            out["equivalent"][tasks] = np.where(total > 0, shown, np.nan)


def _spread(
    out: dict[str, Floats], fields: dict[str, Floats], dims: Mapping[str, tuple[str, ...]], part: _Part
) -> None:
    """Write the fields of a part, which has only the levels of its tasks, to their indices among all levels."""
    tasks, places = part.tasks, part.places
    for name, found in fields.items():
        if "training" not in dims[name]:
            out[name][tasks] = found
        elif "effect" in dims[name]:
            effects = np.arange(out[name].shape[1])[:, np.newaxis]
            out[name][tasks[:, np.newaxis, np.newaxis], effects, places[:, np.newaxis]] = found
        else:
            out[name][tasks[:, np.newaxis], places] = found
