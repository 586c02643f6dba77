"""Blocks of tasks of lazy arrays: not too many, and none too large."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core.packing import Floats

_TASKS = 100  # in a block, so that scheduling takes little of its time
_BLOCKS = 100  # at least, so that a cluster can distribute them
_BYTES = 2**26  # of a block


def in_memory(array: xr.DataArray) -> bool:
    """Return whether an array has no chunks; its property `chunks` takes far longer."""
    return getattr(array.data, "chunks", None) is None


def coarsen(array: xr.DataArray, core: Sequence[Hashable]) -> xr.DataArray:
    """Merge the chunks of an array along its extra dims where they are many and small; change no other."""
    if array.chunks is None:
        return array
    extra = [dim for dim in array.dims if dim not in core]
    n_tasks, n_blocks = prod(array.sizes[dim] for dim in extra), prod(len(array.chunksizes[dim]) for dim in extra)
    within = array.dtype.itemsize * prod(max(array.chunksizes[dim]) for dim in array.dims if dim in core)
    wanted = min(_TASKS, n_tasks // _BLOCKS, _BYTES // within)
    if wanted * n_blocks < 2 * n_tasks:
        return array
    factor = wanted * n_blocks / n_tasks
    chunks: dict[Hashable, int] = {}
    for dim in reversed(extra):
        merged = min(ceil(factor), len(array.chunksizes[dim]))
        chunks[dim] = ceil(array.sizes[dim] / len(array.chunksizes[dim])) * merged
        factor /= merged
    return array.chunk(chunks)


@dataclass(frozen=True)
class Named:
    """A block function to be called on many workers, each with the names of its own tasks only."""

    block: Any

    @classmethod
    def of(cls, block: Any, tasks: xr.DataArray) -> tuple[Named, xr.DataArray]:
        """Return a block without the names of its tasks, and these names with the dims of tasks and (_name)."""
        names = np.array(block.names, object).reshape(*tasks.shape, -1)
        return cls(replace(block, names=[])), xr.DataArray(names, dims=[*tasks.dims, "_name"])

    @property
    def __name__(self) -> str:
        """Name of the nodes in a dask graph."""
        return type(self.block).__name__.strip("_")

    def __call__(self, *arrays: Any) -> Floats:
        """Call the block on arrays and names, shape (..., name), of the tasks of a block."""
        *arrays_of_tasks, names = arrays
        lead = names.shape[:-1]
        block = replace(self.block, names=names.ravel().tolist())
        found: Floats = block(*arrays_of_tasks, np.arange(prod(lead)).reshape(lead))
        return found
