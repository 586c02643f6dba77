"""How the variables of a block of tasks are packed into one array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

import numpy as np

from xcurves.array_types import Floats


@dataclass(frozen=True)
class Layout:
    """Names of variables with the sizes of their dims, in the order in which a block of tasks packs them."""

    # An output array per variable would multiply the nodes of a dask graph and the fixed cost of a call.
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

    def blank(self, n_tasks: int) -> dict[str, Floats]:
        """Return the variables of `n_tasks` tasks, all NaN, shape (task, ...)."""
        return {
            name: np.full((n_tasks, *self.shape(name)), np.nan) for name in self.dims
        }

    def pack(self, variables: Mapping[str, Floats], lead: Sequence[int]) -> Floats:
        """Put variables of shape (task, ...) into one array of shape (*lead, length)."""
        flat = [
            variables[name].reshape(*lead, stop - start)
            for name, start, stop, _ in self.places
        ]
        return np.concatenate(flat, axis=-1)
