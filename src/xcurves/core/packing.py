"""Many named outputs in one array: what a block function returns, and the variables cut from it.

An output array per variable would multiply the nodes of a dask graph and the fixed cost of a call; one packed
array does neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
import xarray as xr

from xcurves.kernels.moments import Floats as Floats


@dataclass(frozen=True)
class Layout:
    """Names of variables with the sizes of their dims, in the order in which they are packed."""

    dims: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a variable in one task."""
        return tuple(self.sizes[dim] for dim in self.dims[name])

    @cached_property
    def length(self) -> int:
        """Length of the packed array of one task."""
        return max((stop for _, _, stop, _ in self.places), default=0)

    @cached_property
    def places(self) -> list[tuple[str, int, int, tuple[int, ...]]]:
        """The name of each variable, where it starts and stops in the packed array, and its shape."""
        shapes = [self.shape(name) for name in self.dims]
        stops = list(accumulate(map(prod, shapes), initial=0))
        return list(zip(self.dims, stops[:-1], stops[1:], shapes, strict=True))

    def resized(self, **sizes: int) -> Layout:
        """Return the layout with other sizes of some dims."""
        return replace(self, sizes={**self.sizes, **sizes})

    def blank(self, n_tasks: int) -> dict[str, Floats]:
        """Return the variables of `n_tasks` tasks, all NaN, shape (task, ...)."""
        return self.views(np.full((n_tasks, self.length), np.nan))

    def views(self, packed: Floats) -> dict[str, Floats]:
        """Return the variables, shape (task, ...), as views into a packed array, shape (task, length)."""
        return {name: packed[:, i:j].reshape(len(packed), *shape) for name, i, j, shape in self.places}

    def pack(self, variables: Mapping[str, Floats], lead: Sequence[int]) -> Floats:
        """Put variables of shape (task, ...) into one array of shape (*lead, length)."""
        flat = [variables[name].reshape(*lead, stop - start) for name, start, stop, _ in self.places]
        return np.concatenate(flat, axis=-1)

    def unpack(self, packed: xr.DataArray) -> dict[str, xr.Variable]:
        """Cut a packed array, dims (..., _packed), into variables; lazy if it is."""
        lead, data = packed.dims[:-1], packed.data
        cut = _part if isinstance(data, np.ndarray) else _lazy_part
        return {
            name: xr.Variable((*lead, *self.dims[name]), cut(data, start, stop, shape))
            for name, start, stop, shape in self.places
        }


def _part(packed: Floats, start: int, stop: int, shape: tuple[int, ...]) -> Floats:
    """Cut out one variable; the rest of the packed array is not kept in memory with it."""
    return packed[..., start:stop].reshape((*packed.shape[:-1], *shape)).copy()


def _block_part(packed: list[Floats], **options: Any) -> Floats:
    """Cut the one block that there is along the packed dim."""
    return _part(packed[0], **options)


def _lazy_part(packed: Any, start: int, stop: int, shape: tuple[int, ...]) -> Any:
    """Cut a dask array with one node for each chunk."""
    import dask.array as da

    blockwise: Any = da.blockwise  # dask has no annotations
    lead = tuple(range(packed.ndim - 1))
    new = tuple(range(packed.ndim, packed.ndim + len(shape)))
    return blockwise(
        _block_part,
        (*lead, *new),
        packed,
        (*lead, packed.ndim - 1),
        start=start,
        stop=stop,
        shape=shape,
        new_axes=dict(zip(new, shape, strict=True)),
        concatenate=False,
        dtype=np.float64,
        meta=np.empty((0,) * (len(lead) + len(new))),
    )
