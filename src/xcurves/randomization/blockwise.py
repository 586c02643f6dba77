"""The randomization test of a block of tasks, which runs wherever the block is: in memory or in a dask worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves import blocks, labels
from xcurves.kernels import moments, null, shuffles, sums
from xcurves.kernels.reassign import Progress
from xcurves.packing import Floats, Layout
from xcurves.randomization import doors

BY_EFFECT = ("effect", "error_term")
FIELDS = {
    "pvalue": BY_EFFECT,
    "f": BY_EFFECT,
    "ss": ("source",),
    "df": ("source",),
    "critical_value": BY_EFFECT,
    "pvalue_stderr": BY_EFFECT,
    "pvalue_parametric": BY_EFFECT,
    "eta_sq_partial": BY_EFFECT,
    "eta_sq_generalized": BY_EFFECT,
    "error_ss": BY_EFFECT,
    "error_df": BY_EFFECT,
    "n_runs": ("algorithm",),
    "n_levels": (),
    "n_shuffles": (),
    "n_assignments": (),
}
NULL_FIELDS = {"pvalue_rank": BY_EFFECT, "null_distribution": (*BY_EFFECT, "shuffle")}


@dataclass(frozen=True)
class Block:
    """What every randomization test of a block of tasks knows: words for messages, and how to plan."""

    names: list[str]
    algorithms: list[str]
    runs: list[str]
    n_resamples: int | None
    paired: bool
    alpha: float
    entropy: int

    def plan(
        self, sizes: tuple[int, ...], *, labelled: bool = False, allow_exact: bool = True, work: int = 1
    ) -> shuffles.Plan:
        """Plan the reassignments of groups of `sizes`."""
        return shuffles.make_plan(
            sizes,
            self.n_resamples,
            paired=self.paired,
            labelled=labelled,
            allow_exact=allow_exact,
            work=work,
            entropy=self.entropy,
        )

    def present(
        self, counts: Floats, n_levels: Floats, names: list[str], algorithms: list[str] | None = None
    ) -> NDArray[np.bool_]:
        """Return which runs are present, shape (task, algorithm, run); refuse incomplete and infinite ones."""
        algorithms = self.algorithms if algorithms is None else algorithms
        curves = [f"algorithm {algorithm}, run {run}" for algorithm in algorithms for run in self.runs]
        present = doors.check_runs(counts.reshape(len(names), -1), n_levels, names, curves)
        return present.reshape(-1, len(algorithms), len(self.runs))


@dataclass(frozen=True)
class AnovaBlock(Block):
    """The randomized ANOVA of a block of tasks: moments in, packed results out."""

    keep_null: bool
    lazy: bool
    batch: int | None
    progress: Progress

    @property
    def n_kept(self) -> int:
        """Number of shuffles that a lazy result keeps: random ones, so that it is known beforehand."""
        return (self.n_resamples or shuffles.DEFAULT_RESAMPLES) if self.keep_null else 0

    def layout(self, n_kept: int) -> Layout:
        """Return the layout of the results; a kept null distribution takes `n_kept` places."""
        sizes = {
            "effect": 2,
            "error_term": 2,
            "source": 5,
            "algorithm": len(self.algorithms),
            "shuffle": n_kept,
        }
        return Layout(FIELDS | (NULL_FIELDS if self.keep_null else {}), sizes)

    def __call__(self, *arrays: Any) -> Floats:
        """Test tasks, given packed moments, shape (..., 1, moment), within runs too if paired, and their numbers."""
        *packed, numbers = arrays
        n_curves = len(self.algorithms) * len(self.runs)
        parts = [moments.unpack(each.reshape(numbers.size, -1), n_curves) for each in packed]
        part = parts[0]
        names = [self.names[number] for number in numbers.ravel()]
        present = self.present(part.counts, part.n_levels, names)
        check_moments(part, names)
        groups = alike(present, part.n_levels)
        for tasks in groups:
            doors.check_groups(present[tasks[0]], names[tasks[0]], self.algorithms, self.runs, paired=self.paired)
        found = [self._group(parts, present[tasks[0]], tasks) for tasks in groups]
        layout = self.layout(self.n_kept if self.lazy else _longest_null(found))
        out = layout.blank(len(names))
        out["n_levels"] = part.n_levels
        out["n_runs"] = present.sum(axis=-1, dtype=float)
        out["n_shuffles"][:] = 0
        for tasks, fields in zip(groups, found, strict=True):
            if self.keep_null:
                null_f = fields.pop("null_distribution")
                out["null_distribution"][tasks, ..., : null_f.shape[-1]] = null_f
            for name, values in fields.items():
                out[name][tasks] = values
        return layout.pack(out, numbers.shape)

    def _group(
        self, parts: list[moments.Moments], present: NDArray[np.bool_], tasks: NDArray[np.intp]
    ) -> dict[str, Any]:
        """Test tasks in which the same curves are present at equally many levels."""
        design = design_of(parts, present, tasks)
        sizes = design.sizes
        plan = self.plan(sizes, allow_exact=not (self.keep_null and self.lazy))
        found = null.evaluate(design, plan, self.alpha, keep=self.keep_null, batch=self.batch, progress=self.progress)
        return {
            **sums.table(design, parts[0].level_ss[tasks]),
            **found,
            "n_shuffles": plan.n_shuffles,
            "n_assignments": as_float(plan.n_assignments),
        }


def _longest_null(found: list[dict[str, Any]]) -> int:
    return max(
        (fields["null_distribution"].shape[-1] for fields in found if "null_distribution" in fields),
        default=0,
    )


def check_moments(part: moments.Moments, names: list[str]) -> None:
    """Refuse tasks whose squares overflow or vanish."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.abs(part.means).max(axis=-1) ** 2 + np.trace(part.comoment, axis1=-2, axis2=-1)
    doors.check_scale(squares, np.abs(part.means).any(axis=-1) | (squares > 0), names)


def as_float(count: int) -> float:
    """Return a count as a float, infinity where it is beyond the largest."""
    return float(count) if count < 2**1000 else np.inf


def design_of(parts: list[moments.Moments], present: NDArray[np.bool_], tasks: NDArray[np.intp]) -> sums.Design:
    """Return the design of tasks that are alike from their moments, and those within runs if paired."""
    curves = np.flatnonzero(present)
    sizes = tuple(size for size in present.sum(axis=1).tolist() if size)
    means, comoment, magnitude = moments.subset(parts[0], tasks, curves)
    within = moments.subset(parts[1], tasks, curves)[:2] if len(parts) > 1 else None
    return sums.make_design(means, comoment, int(parts[0].n_levels[tasks[0]]), sizes, magnitude, within)


def alike(present: NDArray[np.bool_], n_levels: Floats) -> list[NDArray[np.intp]]:
    """Group the tasks that have any level by number of levels and by the runs that are present."""
    pattern = np.column_stack([present.reshape(len(present), -1), n_levels])
    _, group = np.unique(pattern, axis=0, return_inverse=True)
    members = (np.flatnonzero(group.ravel() == g) for g in range(group.max(initial=-1) + 1))
    return [tasks for tasks in members if n_levels[tasks[0]]]


def block_options(
    curves: xr.DataArray,
    ordered: xr.DataArray,
    n_resamples: int | None,
    paired: bool,
    confidence_level: float,
    rng: labels.Rng,
    least: int = 1,
) -> dict[str, Any]:
    """Check the options that all randomization tests share; return what every `Block` is made from."""
    return {
        "names": labels.task_names(curves),
        "algorithms": labels.words(ordered["algorithm"]),
        "runs": labels.words(ordered["run"]),
        "n_resamples": labels.check_count("n_resamples", n_resamples, least),
        "paired": labels.check_flag("paired", paired),
        "alpha": labels.check_confidence_level(confidence_level),
        "entropy": labels.check_rng(rng),
    }


def apply_block(
    block: Callable[..., Floats], arrays: Sequence[xr.DataArray], core_dims: Sequence[Sequence[str]], length: int
) -> xr.DataArray:
    """Call a block function on arrays and the numbers of their tasks, lazily if they are; dims (..., _packed)."""
    tasks = labels.task_numbers(arrays[0], [dim for dim in arrays[0].dims if dim not in core_dims[0]])
    # xarray before 2025 clears the attrs of coordinates that go with core dims, in the caller's array too.
    bare = [array.drop_vars(dims, errors="ignore") for array, dims in zip(arrays, core_dims, strict=True)]
    bare = [blocks.coarsen(array, dims) for array, dims in zip(bare, core_dims, strict=True)]
    chunks = {dim: sizes for array in bare for dim, sizes in array.chunksizes.items() if dim in tasks.dims}
    last: tuple[xr.DataArray, list[str]] = (tasks, [])
    if chunks and hasattr(block, "names"):
        block, names = blocks.Named.of(block, tasks)
        last = (names.chunk(chunks), ["_name"])
    packed: xr.DataArray = xr.apply_ufunc(
        block,
        *bare,
        last[0],
        input_core_dims=[*core_dims, last[1]],
        output_core_dims=[["_packed"]],
        dask="parallelized",
        output_dtypes=[np.float64],
        dask_gufunc_kwargs={"output_sizes": {"_packed": length}, "allow_rechunk": True},
    )
    return packed


def in_label_order(curves: xr.DataArray) -> xr.DataArray:
    """Sort algorithms and runs, so that a plan does not depend on the order in which they come."""
    unsorted = [dim for dim in ("algorithm", "run") if not curves.indexes[dim].is_monotonic_increasing]
    return curves.sortby(unsorted) if unsorted else curves
