"""The numbers of all pairs of algorithms in families of tasks, without an array of all of them.

A pair's number in a family is a difference of two columns, which pairs share: an algorithm has one column where all
have the same tasks, else one for each pattern of tasks that its others have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Bools, Floats, Index, Reals
from xcurves.kernels.resampling.batches import CACHE, rows_that_fit, stretches

_MOST_WHOLE = 2.0**24  # sums of whole numbers below it are exact in single precision


class Columns(NamedTuple):
    """Columns of numbers, (column, family), and which of them make up each of some pairs."""

    values: Reals
    first: Index  # (pair,)
    second: Index | None  # whose numbers are subtracted; None if a pair has a column of its own


@dataclass(frozen=True)
class PairMembers:
    """Weighted numbers of algorithms in tasks, from which those of pairs follow."""

    values: Reals  # (algorithm, task), 0 where it lacks the task
    present: Bools  # (algorithm, task)
    pairs: Index  # (pair, 2), of algorithms
    families: Index  # (task,), numbers of families, each of which has a task
    weights: Floats  # (task,), of sum one or not
    rounding: Floats  # (task,), up to which a difference is none

    @cached_property
    def is_complete(self) -> bool:
        """Whether all algorithms have all tasks."""
        return bool(self.present.all())

    @cached_property
    def n_families(self) -> int:
        """Number of families."""
        return int(self.families.max(initial=-1)) + 1

    def sums(self, values: Reals) -> Reals:
        """Sum values of tasks, shape (..., task), over families."""
        if self._order is None:
            return values
        order, starts = self._order
        return np.add.reduceat(values[..., order], starts, axis=-1)

    @cached_property
    def _order(self) -> tuple[Index, Index] | None:
        """The tasks in the order of their families, and where each begins; None if these are the tasks themselves."""
        n_tasks = len(self.families)
        if np.array_equal(self.families, np.arange(n_tasks)):
            return None
        order = np.argsort(self.families, kind="stable")
        return order, np.searchsorted(self.families[order], np.arange(self.n_families))

    @property
    def most_columns(self) -> int:
        """No more columns than these."""
        if self.is_complete:
            return len(self.values)
        return len(self.values) * len(self._patterns[0])

    @cached_property
    def _by_algorithm(self) -> Reals:
        return np.ascontiguousarray(self.sums(self.values))

    @cached_property
    def _patterns(self) -> tuple[Bools, Index]:
        """The distinct rows of `present`, and which one each algorithm has."""
        patterns, which = np.unique(self.present, axis=0, return_inverse=True)
        return patterns, which.ravel()

    def columns(self, some: Index) -> Columns:
        """Return the columns of some pairs."""
        a, b = self.pairs[some].T
        if self.is_complete:
            return Columns(self._by_algorithm, a, b)
        # of each algorithm, in the tasks that the other one has
        patterns, which = self._patterns
        n_patterns = len(patterns)
        both = np.concatenate([a * n_patterns + which[b], b * n_patterns + which[a]])
        keys, places = np.unique(both, return_inverse=True)
        algorithm, pattern = np.divmod(keys, n_patterns)
        values = self.sums(self.values[algorithm] * patterns[pattern])
        first, second = places.reshape(2, -1)
        return Columns(values, first, second)

    def numbers(self, some: slice | Index) -> Reals:
        """Return the numbers of some pairs, shape (pair, family), 0 in a family that a pair lacks."""
        a, b = self.pairs[some].T
        if self.values.dtype == np.float32:
            # whole numbers, which do not round
            if self.is_complete:
                return np.asarray(self._by_algorithm[a] - self._by_algorithm[b])
            here = self.present[a] & self.present[b]
            return self.sums((self.values[a] - self.values[b]) * here)
        d = self.values[a] - self.values[b]
        is_none = np.abs(d) <= self.rounding
        if not self.is_complete:
            is_none |= ~(self.present[a] & self.present[b])
        d[is_none] = 0.0
        return self.sums(d)

    def weights_of(self, some: slice | Index) -> Floats:
        """Return the weights of the families of some pairs, shape (pair or 1, family), 0 where a pair lacks one."""
        if self.is_complete:
            return np.asarray(self.sums(self.weights), float)[np.newaxis]
        a, b = self.pairs[some].T
        here = self.present[a] & self.present[b]
        return np.asarray(self.sums(here * self.weights), float)

    def stretches(self) -> Iterator[slice]:
        """Yield some pairs after the other, so many that their numbers are in the cache."""
        n_tasks = self.values.shape[-1]
        return iter(stretches(len(self.pairs), rows_that_fit(8 * n_tasks, CACHE)))


@dataclass(frozen=True)
class OwnMembers:
    """Numbers of pairs that are no differences of numbers of algorithms, (pair, family), 0 where a pair lacks one."""

    x: Reals
    weights: Floats  # of the families, 0 where a pair lacks one

    @property
    def n_families(self) -> int:
        """Number of families."""
        return int(self.x.shape[-1])

    @property
    def most_columns(self) -> int:
        """Number of columns."""
        return len(self.x)

    def columns(self, some: Index) -> Columns:
        """Return the columns of some pairs."""
        return Columns(self.x[some], np.arange(len(some)), None)

    def numbers(self, some: slice | Index) -> Reals:
        """Return the numbers of some pairs, shape (pair, family)."""
        return self.x[some]

    def weights_of(self, some: slice | Index) -> Floats:
        """Return the weights of the families of some pairs, shape (pair, family), 0 where a pair lacks one."""
        return self.weights[some]

    def stretches(self) -> Iterator[slice]:
        """Yield some pairs after the other, so many that their numbers are in the cache."""
        rows = rows_that_fit(8 * self.x.shape[-1], CACHE)
        return iter(stretches(len(self.x), rows))


Members = PairMembers | OwnMembers


def as_whole(values: Floats) -> Reals | None:
    """Return numbers, (algorithm, task), in single precision if their sums are exact in it, else None."""
    if np.abs(values).sum(axis=-1).max(initial=0.0) >= _MOST_WHOLE:
        return None
    rounded = np.rint(values)
    # relative: tiny numbers are no zeros
    if (np.abs(values - rounded) > 1e-9 * np.abs(rounded)).any():
        return None
    return rounded.astype(np.float32)


class PairTotals(NamedTuple):
    """What flips do not change of the numbers x of every pair, and the observed sum, each of shape (pair,).

    With n the weights of the families, of sum `weight`, and as in `t_scale`.
    """

    n_families: Floats
    total: Floats  # Σ x
    squares: Floats  # Σ x²
    size: Floats  # Σ |x|
    weight: Floats  # Σ n
    lean: Floats  # Σ x n
    weight_squares: Floats  # Σ n²
    n_positive: Floats  # families with x > 0
    n_negative: Floats


def totals(members: Members, n_pairs: int) -> PairTotals:
    """Return what the tests of all pairs need."""
    out = np.zeros((len(PairTotals._fields), n_pairs))
    for some in members.stretches():
        x, n = members.numbers(some), members.weights_of(some)
        # in doubles: the sums of squares of whole numbers may round in single ones
        wide = x.astype(float, copy=False)
        out[:, some] = np.broadcast_arrays(
            np.count_nonzero(n, axis=-1),
            wide.sum(axis=-1),
            np.einsum("kf,kf->k", wide, wide),
            np.abs(wide).sum(axis=-1),
            n.sum(axis=-1),
            np.einsum("kf,kf->k", wide, np.broadcast_to(n, wide.shape)),
            (n**2).sum(axis=-1),
            np.count_nonzero(x > 0, axis=-1),
            np.count_nonzero(x < 0, axis=-1),
        )
    return PairTotals(*out)
