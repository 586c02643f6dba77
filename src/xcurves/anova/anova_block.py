"""The randomized ANOVA of a block of tasks, from the moments of their curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.core import run_checks
from xcurves.core.packing import Floats
from xcurves.core.task_blocks import Block, alike, as_float
from xcurves.kernels import moments, null, spreads, sums, welch
from xcurves.kernels.reassign import Progress


@dataclass(frozen=True)
class AnovaBlock(Block):
    """The randomized ANOVA of a block of tasks: moments in, packed results out."""

    keep_null: bool
    lazy: bool
    batch: int | None
    progress: Progress

    def __call__(self, *arrays: Any) -> Floats:
        """Test tasks, given packed moments, shape (..., 1, moment), within runs too if paired, and their numbers."""
        *by_parts, numbers = arrays
        n_curves = len(self.algorithms) * len(self.runs)
        parts = [moments.unpack(each.reshape(numbers.size, -1), n_curves) for each in by_parts]
        part = parts[0]
        names = [self.names[number] for number in numbers.ravel()]
        present = run_checks.check_runs(part.counts, part.n_levels, names, self.algorithms, self.runs)
        check_moments(part, names)
        groups = alike(present, part.n_levels)
        for tasks in groups:
            run_checks.check_groups(present[tasks[0]], names[tasks[0]], self.algorithms, self.runs, paired=self.paired)
        found = [self._group(parts, present[tasks[0]], tasks) for tasks in groups]
        resized = self.keep_null and not self.lazy
        layout = self.layout.resized(resample=_longest_null(found)) if resized else self.layout
        packed = np.full((len(names), layout.length), np.nan)
        out = layout.views(packed)
        out["n_levels"][:] = part.n_levels
        out["n_runs"][:] = present.sum(axis=-1, dtype=float)
        out["n_resamples"][:] = 0
        for tasks, (by_f, by_welch) in zip(groups, found, strict=True):
            for name, values in by_f.items():
                out[name][_at(tasks, (), np.shape(values)[1:])] = values  # of two error terms
            for name, values in by_welch.items():
                out[name][_at(tasks, (0, 2), values.shape[1:])] = values
        return packed.reshape(*numbers.shape, -1)

    def _group(
        self, parts: list[moments.Moments], present: NDArray[np.bool_], tasks: NDArray[np.intp]
    ) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Test tasks in which the same curves are present at equally many levels, by F and by Welch's statistic."""
        design = design_of(parts, present, tasks)
        sizes = design.sizes
        plan = self.plan(sizes, allow_exact=not (self.keep_null and self.lazy))
        found = null.f_tests(design, plan, self.alpha, keep=self.keep_null, batch=self.batch, progress=self.progress)
        by_f = {
            **sums.sums_of_squares_table(design, parts[0].level_ss[tasks]),
            **found,
            "n_resamples": plan.n_resamples,
            "n_assignments": as_float(plan.n_assignments),
        }
        if self.paired:
            return by_f, {}
        return by_f | _spreads(design), welch.welch_tests(design.means, plan, self.alpha, keep=self.keep_null)


def _spreads(design: sums.AnovaDesign) -> dict[str, Any]:
    """Return the ratio of spreads and its 0.95 quantile under equal spread; nothing if fewer than two are known."""
    several = tuple(size for size in design.sizes if size > 1)
    if len(several) < 2:
        return {}
    ratio = welch.spread_ratio(design.means, design.sizes)
    return {"sd_ratio": ratio, "sd_ratio_limit": spreads.ratio_quantile(tuple(sorted(several)), 0.95)}


def _at(tasks: NDArray[np.intp], places: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the index of values of some tasks, with fewer null values than there is room for or as many."""
    return (tasks, *places, *map(slice, shape))


def _longest_null(found: list[tuple[dict[str, Any], dict[str, Floats]]]) -> int:
    return max((by_f["null_distribution"].shape[-1] for by_f, _ in found), default=0)


def check_moments(part: moments.Moments, names: list[str]) -> None:
    """Refuse tasks whose squares overflow or vanish."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.abs(part.means).max(axis=-1) ** 2 + moments.trace(part.comoment)
    run_checks.check_scale(squares, np.abs(part.means).any(axis=-1) | (squares > 0), names)


def design_of(parts: list[moments.Moments], present: NDArray[np.bool_], tasks: NDArray[np.intp]) -> sums.AnovaDesign:
    """Return the design of tasks with the same present runs, from their moments (within runs too if paired)."""
    curves = np.flatnonzero(present)
    sizes = tuple(size for size in present.sum(axis=1).tolist() if size)
    means, comoment, magnitude = moments.subset(parts[0], tasks, curves)
    within = moments.subset(parts[1], tasks, curves)[:2] if len(parts) > 1 else None
    return sums.make_design(means, comoment, int(parts[0].n_levels[tasks[0]]), sizes, magnitude, within)
