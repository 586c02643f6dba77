"""Many named outputs through one array: what a block function returns, and the variables cut from it.

An output array per variable would multiply the nodes of a dask graph and the fixed cost of a call; one packed
array does neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Names of variables with the sizes of their dims, in the order in which they are packed."""

    dims: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a variable in one task."""
        return tuple(self.sizes[dim] for dim in self.dims[name])

    @property
    def length(self) -> int:
        """Length of the packed array of one task."""
        return sum(prod(self.shape(name)) for name in self.dims)

    def blank(self, n_tasks: int) -> dict[str, Floats]:
        """Return the variables of `n_tasks` tasks, all NaN, shape (task, ...)."""
        return self.views(np.full((n_tasks, self.length), np.nan))

    def views(self, packed: Floats) -> dict[str, Floats]:
        """Return the variables, shape (task, ...), as views into a packed array, shape (task, length)."""
        ends = np.cumsum([prod(self.shape(name)) for name in self.dims])
        parts = np.split(packed, ends[:-1], axis=1)
        return {name: part.reshape(len(packed), *self.shape(name)) for name, part in zip(self.dims, parts, strict=True)}

    def pack(self, variables: Mapping[str, Floats], lead: Sequence[int]) -> Floats:
        """Put variables of shape (task, ...) into one array of shape (*lead, length)."""
        flat = [variables[name].reshape(*lead, prod(self.shape(name))) for name in self.dims]
        return np.concatenate(flat, axis=-1)

    def unpack(self, packed: xr.DataArray) -> dict[str, xr.Variable]:
        """Cut a packed array, dims (..., _packed), into variables; lazy if it is."""
        return dict(self._cut(packed))

    def _cut(self, packed: xr.DataArray) -> Iterator[tuple[str, xr.Variable]]:
        start = 0
        for name, dims in self.dims.items():
            stop = start + prod(self.shape(name))
            part = packed.data[..., start:stop]
            yield (
                name,
                xr.Variable((*packed.dims[:-1], *dims), part.reshape((*packed.shape[:-1], *self.shape(name)))),
            )
            start = stop
