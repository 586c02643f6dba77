"""The reassignments of a plan as the groups of the curves, kept from one block of levels to the next."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels.moments import Floats
from xcurves.kernels.shuffles import Order, Plan

_KEPT = 2**27  # bytes of groups kept
_ROWS = 256  # shuffles in a batch
_LEVELS = 128  # at least in a product: with fewer it takes several times as long for each
PRODUCT = 2**18  # multiply-adds up to which BLAS uses one thread: small products are slower on several

Groups = NDArray[np.int16]


class Assignments:
    """The group that every curve has in every reassignment of a plan, in batches."""

    def __init__(self, plan: Plan, batch: int | None = None) -> None:
        self.plan = plan
        self._rows = min(batch or _ROWS, _ROWS)
        self.observed: Groups = np.repeat(np.arange(len(plan.sizes), dtype=np.int16), plan.sizes)

    @property
    def width(self) -> int:
        """How many levels of the curves to multiply with a batch at once."""
        return max(_LEVELS, PRODUCT // (self._rows * sum(self.plan.sizes)))

    def orders(self) -> Iterator[tuple[slice, Order]]:
        """Yield which shuffles a batch has, and their orders, shape (shuffle, curve)."""
        first = 0
        for block in self.plan.blocks():
            for order in (block[start : start + self._rows] for start in range(0, len(block), self._rows)):
                yield slice(first, first + len(order)), order
                first += len(order)

    def batches(self) -> Iterator[tuple[slice, Groups]]:
        """Yield which shuffles a batch has, and the group of every curve in them, shape (shuffle, curve)."""
        yield from self._made() if self._kept is None else self._kept

    @cached_property
    def _kept(self) -> list[tuple[slice, Groups]] | None:
        small = self.plan.n_resamples * self.observed.nbytes <= _KEPT
        return list(self._made()) if small else None

    def _made(self) -> Iterator[tuple[slice, Groups]]:
        for shuffles, order in self.orders():
            groups = np.empty(order.shape, self.observed.dtype)
            groups.ravel()[_flat(order)] = self.observed
            yield shuffles, groups


def first_members(order: Order, size: int) -> Floats:
    """Return a 0/1 matrix of the members of the first group, of `size` curves, shape (reassignment, curve)."""
    member = np.zeros(order.size)
    member[_flat(order)[:, :size]] = 1.0
    return member.reshape(order.shape)


def _flat(order: Order) -> Order:
    """Return places in the flattened array: this is three times as fast as `put_along_axis`."""
    rows, n_curves = order.shape
    return np.asarray(order + n_curves * np.arange(rows)[:, np.newaxis])
