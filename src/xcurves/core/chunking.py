"""Lazy arrays: blocks of tasks, not too many and none too large."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import prod
from threading import Lock
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core.jobs import Job
from xcurves.kernels.resampling import plans

_TASKS = 100  # in a block, so that scheduling takes little of its time
_BLOCKS = 100  # at least, so that a cluster can distribute them
_BYTES = 2**26  # of a block
_lock = Lock()
# for each chunk at this moment, the limit that the first one set
_limits: list[Any] = []


@cache
def _blas() -> Any:
    """Return what sets the threads of BLAS, None without threadpoolctl; finding the libraries takes milliseconds."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while any chunk is computed, where threadpoolctl is installed.

    As many chunks as there are cores are computed at once: two BLAS threads in each of two dask threads take several
    times the processor time for the small products of a chunk. The limit is one of the whole process, so the first
    chunk sets it and the last one lifts it.
    """
    blas = _blas()
    if blas is None:
        yield
        return

    with _lock:
        if _limits:
            limit = _limits[0]
        else:
            limit = blas.limit(limits=1, user_api="blas")
        _limits.append(limit)
    try:
        yield
    finally:
        with _lock:
            limit = _limits.pop()
            if not _limits:
                _free(blas)
                limit.restore_original_limits()
                _free(blas)


def _free(blas: Any) -> None:
    """Let any thread set limits: threadpoolctl 3.8 ignores all but the one that set the last."""
    for library in blas.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def coarsen(array: xr.DataArray, core: Sequence[Hashable]) -> xr.DataArray:
    """Put each task of an array in one chunk, and merge chunks along its extra dims where they are many and small."""
    if array.chunks is None:
        return array
    array = array.chunk(dict.fromkeys(core, -1))
    extra = [dim for dim in array.dims if dim not in core]
    n_tasks = prod(array.sizes[dim] for dim in extra)
    n_blocks = prod(len(array.chunksizes[dim]) for dim in extra)
    bytes_of_task = array.dtype.itemsize * prod(array.sizes[dim] for dim in core)

    # Merging is worth its cost where it halves the number of blocks at least.
    wanted = min(_TASKS, n_tasks // _BLOCKS, _BYTES // bytes_of_task)
    if wanted * n_blocks < 2 * n_tasks:
        return array
    axes = {array.dims.index(dim): "auto" for dim in extra}
    limit = wanted * bytes_of_task
    return array.copy(data=array.data.rechunk(axes, block_size_limit=limit))


@dataclass(frozen=True)
class _Block:
    """What is done with a block of tasks."""

    job: Job

    def __call__(self, *arrays: Any) -> Any:
        """Return the variables of a block, given arrays and the names of its tasks, shape (..., name)."""
        *blocks, names = arrays
        lead = names.shape[:-1]
        curves, *others = (each.reshape((names.size, *each.shape[len(lead) :])) for each in blocks)
        job = self.job.with_names(names.ravel().tolist())
        with one_blas_thread():
            found = job.results(curves, others, padded=True)
        variables = tuple(found[name].reshape((*lead, *found[name].shape[1:])) for name in job.layout.dims)
        # what has one output is no tuple
        return variables if len(variables) > 1 else variables[0]

    @property
    def __name__(self) -> str:
        """Name of the nodes in a dask graph."""
        return self.job.name


def apply(job: Job, curves: xr.DataArray, others: Sequence[xr.DataArray]) -> dict[str, xr.Variable]:
    """Return the variables of a job on chunked curves and numbers of their tasks, by one `apply_ufunc`."""
    # Whether anything is random is known when the blocks are computed.
    plans.note_draw()

    curves = coarsen(curves.drop_vars(curves.coords), job.core)
    lead = curves.dims[: -len(job.core)]
    chunks = {dim: curves.chunksizes.get(dim, curves.sizes[dim]) for dim in lead}

    # Each block gets what there is of its own tasks, and their names.
    beside = [each.chunk({dim: chunks.get(dim, -1) for dim in each.dims}) for each in others]
    core_of_others = [[dim for dim in each.dims if dim not in lead] for each in others]
    shape = [curves.sizes[dim] for dim in lead]
    names = np.array(job.context.names, object).reshape(*shape, 1)
    dims = job.layout.dims
    used = {dim for of_variable in dims.values() for dim in of_variable}
    resized = {dim for dim in job.core if job.layout.sizes[dim] != curves.sizes[dim]}
    found = xr.apply_ufunc(
        _Block(job.without_names()),
        curves,
        *beside,
        xr.DataArray(names, dims=[*lead, "_name"]).chunk(chunks),
        input_core_dims=[list(job.core), *core_of_others, ["_name"]],
        output_core_dims=[list(of_variable) for of_variable in dims.values()],
        exclude_dims=resized,
        dask="parallelized",
        output_dtypes=[job.integers.get(name, np.float64) for name in dims],
        dask_gufunc_kwargs={
            "output_sizes": {dim: job.layout.sizes[dim] for dim in used},
        },
    )
    variables = found if isinstance(found, tuple) else (found,)
    return {name: variable.variable for name, variable in zip(dims, variables, strict=True)}
