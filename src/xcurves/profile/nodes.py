"""Functions called on the blocks of dask-backed variables, which may hold arrays or any one object."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Objects = NDArray[np.object_]


def apply(
    function: Callable[..., Any],
    dims: Sequence[Hashable],
    *variables: xr.Variable,
    chunks: Any = None,
    dtype: Any = float,
    **new: int,
) -> xr.Variable:
    """Call a function on the blocks of dask-backed variables; `chunks` are those that it makes along training."""
    import dask.array as da

    blockwise: Any = da.blockwise  # dask has no annotations
    found = blockwise(
        function,
        dims,
        *(part for variable in variables for part in (variable.data, variable.dims)),
        new_axes=new,
        adjust_chunks=None if chunks is None else {"training": chunks},
        align_arrays=False,  # what has one entry for every chunk stands beside the chunks
        concatenate=True,
        dtype=dtype,
        meta=np.empty((0,) * len(dims), dtype),
    )
    return xr.Variable(dims, found)


def reduce_objects(parts: xr.Variable, merge: Callable[[list[Any]], Any]) -> xr.Variable:
    """Merge objects along the last dim as a tree, in their order and without those that are None; dims (..., joint)."""
    import dask.array as da

    reduction: Any = da.reduction
    combine = partial(_merge, merge=merge)
    merged = reduction(
        parts.data, _same, combine, -1, keepdims=True, combine=combine, dtype=object, meta=parts.data._meta
    )
    return xr.Variable((*parts.dims[:-1], "joint"), merged)


def _same(parts: Objects, **_: Any) -> Objects:
    return parts


def _merge(parts: Objects, *, merge: Callable[[list[Any]], Any], **_: Any) -> Objects:
    found = [part for part in parts.ravel() if part is not None]
    return boxed(merge(found) if found else None, parts.ndim)


def boxed(found: Any, ndim: int) -> Objects:
    """Return an array of one element, whatever that is."""
    box = np.empty(1, object)
    box[0] = found
    return box.reshape((1,) * ndim)
