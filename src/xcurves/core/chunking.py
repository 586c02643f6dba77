"""Lazy arrays: blocks of tasks, not too many and none too large, and curves reduced stretch by stretch of training."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from math import prod
from threading import Lock
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core.jobs import Indices, Job, Reduction, Shape
from xcurves.core.layout import Layout
from xcurves.kernels.resampling import streams

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
    """Merge the chunks of an array along its extra dims where they are many and small; change no other."""
    if array.chunks is None:
        return array
    extra = [dim for dim in array.dims if dim not in core]
    n_tasks = prod(array.sizes[dim] for dim in extra)
    n_blocks = prod(len(array.chunksizes[dim]) for dim in extra)
    longest = [max(array.chunksizes[dim]) for dim in array.dims if dim in core]
    bytes_of_task = array.dtype.itemsize * prod(longest)

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

    def __call__(self, *arrays: Any) -> Floats:
        """Return the variables of a block, packed, given arrays and the names of tasks, shape (..., name)."""
        *blocks, names = arrays
        lead = names.shape[:-1]
        flat = [each.reshape(names.size, *each.shape[len(lead) :]) for each in blocks]
        n_data = len(self.job.reduce.by) or 1
        job = self.job.with_names(names.ravel().tolist())
        with one_blas_thread():
            found = job.results(flat[:n_data], flat[n_data:], padded=True)
            return job.layout.pack(found, lead)

    @property
    def __name__(self) -> str:
        """Name of the nodes in a dask graph."""
        return self.job.name


def apply(
    job: Job, curves: xr.DataArray, others: Sequence[xr.DataArray]
) -> dict[str, xr.Variable]:
    """Return the variables of a job on chunked curves and numbers of their tasks, by one `apply_ufunc`."""
    # Whether anything is random is known when the blocks are computed.
    streams.note_draw()

    curves = coarsen(curves, job.core)
    lead = curves.dims[: -len(job.core)]
    chunks = {dim: curves.chunksizes.get(dim, curves.sizes[dim]) for dim in lead}
    data = [curves.drop_vars(curves.coords)]
    core_of_data: list[list[Hashable]] = [list(job.core)]
    if job.reduce.by:
        numbers = ["_subset", "_number"]
        data = [
            xr.DataArray(reduce_chunks(job, each, curves.data), dims=[*lead, *numbers])
            for each in job.reduce.by
        ]
        core_of_data = [[*numbers] for _ in data]

    # Each block gets what there is of its own tasks, and their names.
    beside = [
        each.chunk({dim: chunks.get(dim, -1) for dim in each.dims}) for each in others
    ]
    core_of_others = [[dim for dim in each.dims if dim not in lead] for each in others]
    shape = [curves.sizes[dim] for dim in lead]
    names = np.array(job.context.names, object).reshape(*shape, 1)
    packed: xr.DataArray = xr.apply_ufunc(
        _Block(job.without_names()),
        *data,
        *beside,
        xr.DataArray(names, dims=[*lead, "_name"]).chunk(chunks),
        input_core_dims=[*core_of_data, *core_of_others, ["_name"]],
        output_core_dims=[["_packed"]],
        dask="parallelized",
        output_dtypes=[np.float64],
        dask_gufunc_kwargs={
            "output_sizes": {"_packed": job.layout.length},
            "allow_rechunk": True,
        },
    )
    return unpack_variables(job.layout, packed, job.integers)


def reduce_chunks(job: Job, reduction: Reduction, curves: Any) -> Any:
    """Reduce chunks, dims (..., algorithm, run, training), each along training, and merge them in a tree."""
    import dask.array as da

    training = curves.ndim - 1
    # all algorithms and runs, and maybe all levels
    together = [training - 2, training - 1]
    if reduction.whole(job.shape):
        together.append(training)
    curves = curves.rechunk(dict.fromkeys(together, -1))
    stretches = curves.chunks[training]
    size = reduction.size(job.shape)
    parts = curves.map_blocks(  # to dims (..., subset, number, stretch)
        _measure_chunk,
        da.arange(sum(stretches), chunks=(stretches,)),
        job=job.without_names(),
        reduction=reduction,
        chunks=(*curves.chunks[:-3], job.n_subsets, size, (1,) * len(stretches)),
        dtype=np.float64,
        meta=np.empty((0,) * curves.ndim),
    )
    if len(stretches) == 1:
        return parts[..., 0]
    merge = partial(_merge, reduction=reduction, shape=job.shape)
    reduce: Any = da.reduction
    return reduce(
        parts,
        chunk=_keep,
        combine=merge,
        aggregate=merge,
        axis=training,
        dtype=np.float64,
    )


@one_blas_thread()
def _measure_chunk(
    curves: Floats, levels: Indices, *, job: Job, reduction: Reduction
) -> Floats:
    stretch = slice(levels[0], levels[-1] + 1)
    return job.measure(reduction, curves, stretch)[..., np.newaxis]


def _keep(numbers: Floats, **_: Any) -> Floats:
    return numbers


@one_blas_thread()
def _merge(
    numbers: Floats,
    *,
    reduction: Reduction,
    shape: Shape,
    keepdims: bool,
    **_: Any,
) -> Floats:
    if numbers.size == 0:  # dask infers the type of the output
        return np.asarray(numbers.sum(axis=-1, keepdims=keepdims))
    merged = reduction.merge(np.moveaxis(numbers, -1, -2), shape)
    if keepdims:
        return merged[..., np.newaxis]
    return merged


def unpack_variables(
    layout: Layout, packed: xr.DataArray, integers: Mapping[str, type]
) -> dict[str, xr.Variable]:
    """Cut a lazy packed array, dims (..., _packed), into variables, of which some are integers."""
    lead = packed.dims[:-1]
    found = {}
    for name, start, stop, shape in layout.places:
        dtype = integers.get(name, float)
        part = packed.data.map_blocks(
            _packed_part,
            stretch=slice(start, stop),
            shape=shape,
            kind=dtype,
            drop_axis=len(lead),
            new_axis=[*range(len(lead), len(lead) + len(shape))],
            chunks=(*packed.data.chunks[:-1], *shape),
            dtype=dtype,
            meta=np.empty((0,) * (len(lead) + len(shape)), dtype),
        )
        found[name] = xr.Variable((*lead, *layout.dims[name]), part)
    return found


def _packed_part(
    packed: Floats, *, stretch: slice, shape: tuple[int, ...], kind: type
) -> NDArray[Any]:
    """Cut out one variable; the rest is not kept in memory with it."""
    return packed[..., stretch].reshape((*packed.shape[:-1], *shape)).astype(kind)
