"""Blocks of tasks: functions that run wherever the tasks are, in memory or in a dask worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import chunking, labels, run_checks, validation
from xcurves.core.packing import Floats, Layout
from xcurves.kernels import shuffles


@dataclass(frozen=True)
class Block:
    """A randomization test of a block of tasks: the layout of its results, names for messages, and how to plan."""

    layout: Layout

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
        """Plan the reassignments of groups of `sizes`; the last plan is kept, with the reassignments that it made."""
        asked = (sizes, labelled, allow_exact, work)
        plan = self._plan.get(asked)
        if plan is None:
            self._plan.clear()
            plan = self._plan[asked] = shuffles.plan_shuffles(
                sizes,
                self.n_resamples,
                paired=self.paired,
                labelled=labelled,
                allow_exact=allow_exact,
                work=work,
                entropy=self.entropy,
            )
        return plan

    @cached_property
    def _plan(self) -> dict[tuple[object, ...], shuffles.Plan]:
        return {}


def as_float(count: int) -> float:
    """Return a count as a float, infinity where it is beyond the largest."""
    return float(count) if count < 2**1000 else np.inf


def alike(present: NDArray[np.bool_], n_levels: Floats) -> list[NDArray[np.intp]]:
    """Group the tasks that have any level by number of levels and by the runs that are present."""
    pattern = np.column_stack([present.reshape(len(present), -1), n_levels])
    return [tasks for tasks in equal_rows(pattern) if n_levels[tasks[0]]]


def equal_rows(values: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return the places of equal rows, in the order in which they come; columns may be many."""
    if len(values) == 1:
        return [np.zeros(1, np.intp)]
    rows = np.ascontiguousarray(values).view(np.dtype((np.void, values.shape[1] * values.itemsize))).ravel()
    _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    return [np.flatnonzero(group == number) for number in np.argsort(first)]


def block_options(
    curves: xr.DataArray,
    ordered: xr.DataArray,
    n_resamples: int | None,
    paired: bool,
    confidence_level: float,
    rng: validation.Rng,
    least: int = 1,
) -> dict[str, Any]:
    """Check the options that all randomization tests share; return what every `Block` is made from."""
    return {
        "names": labels.task_names(curves),
        "algorithms": labels.words(ordered.coords.variables["algorithm"]),
        "runs": labels.words(ordered.coords.variables["run"]),
        "n_resamples": validation.check_count("n_resamples", n_resamples, least),
        "paired": validation.check_flag("paired", paired),
        "alpha": validation.check_confidence_level(confidence_level),
        "entropy": validation.check_rng(rng),
    }


def apply_block(
    block: Callable[..., Floats],
    arrays: Sequence[xr.DataArray],
    core_dims: Sequence[Sequence[str]],
    length: int,
    curves: xr.DataArray | None = None,
) -> xr.DataArray:
    """Call a block function on arrays and the numbers of their tasks, lazily if they are; dims (..., _packed).

    An error about incomplete runs names a call that works on `curves`, by default the first array.
    """
    core = tuple(core_dims[0])
    if len(arrays) == 1 and chunking.in_memory(arrays[0]) and arrays[0].dims[-len(core) :] == core:
        with run_checks.with_cure(arrays[0] if curves is None else curves):
            return _apply_in_memory(block, arrays[0], core)
    tasks = labels.task_numbers(arrays[0], [dim for dim in arrays[0].dims if dim not in core_dims[0]])
    # xarray before 2025 clears the attrs of coordinates that go with core dims, in the caller's array too.
    bare = [
        array.drop_vars(dims, errors="ignore") if set(dims) & set(array.coords) else array
        for array, dims in zip(arrays, core_dims, strict=True)
    ]
    last: tuple[xr.DataArray, list[str]] = (tasks, [])
    if any(array.chunks is not None for array in bare):
        bare = [chunking.coarsen(array, dims) for array, dims in zip(bare, core_dims, strict=True)]
        chunks = {dim: sizes for array in bare for dim, sizes in array.chunksizes.items() if dim in tasks.dims}
        if hasattr(block, "names"):
            block, names = chunking.Named.of(block, tasks)
            last = (names.chunk(chunks), ["_name"])
    with run_checks.with_cure(arrays[0] if curves is None else curves):
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


def _apply_in_memory(block: Callable[..., Floats], array: xr.DataArray, core: tuple[str, ...]) -> xr.DataArray:
    """Do what `apply_ufunc` does, without what a single array does not need: alignment and broadcasting."""
    n_extra = array.ndim - len(core)
    numbers = np.arange(prod(array.shape[:n_extra])).reshape(array.shape[:n_extra])
    packed = xr.Variable((*array.dims[:n_extra], "_packed"), block(array.data, numbers))
    kept = {name: each for name, each in array.coords.variables.items() if not set(each.dims) & set(core)}
    indexes = {name: index for name, index in array.xindexes.items() if name in kept}
    return xr.DataArray(packed, xr.Coordinates(kept, indexes))


def in_label_order(curves: xr.DataArray) -> xr.DataArray:
    """Sort algorithms and runs, so that a plan does not depend on the order in which they come."""
    index = curves.xindexes
    named = [dim for dim in ("algorithm", "run") if dim in curves.dims]
    unsorted = [dim for dim in named if not index[dim].to_pandas_index().is_monotonic_increasing]
    return curves.sortby(unsorted) if unsorted else curves


def in_given_order(counts: xr.Variable, ordered: xr.DataArray, curves: xr.DataArray) -> xr.Variable:
    """Return counts of algorithms that were put in label order, in the order of the curves that were given."""
    given = curves.indexes["algorithm"]
    return counts if ordered is curves else counts.isel(algorithm=ordered.indexes["algorithm"].get_indexer(given))
