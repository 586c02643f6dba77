"""Flips as signs for the products of all pairs: numbers in batches, each made when it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xcurves.array_types import Reals
from xcurves.kernels.resampling.batches import rows_that_fit, stretches
from xcurves.kernels.resampling.plans import FlipPlan, generator


@dataclass(frozen=True)
class Signs:
    """The signs of families in the flips of a plan; of all flips one of each two that mirror each other."""

    plan: FlipPlan

    @property
    def exact(self) -> bool:
        """Whether these are all flips."""
        return self.plan.exact

    @property
    def n_flips(self) -> int:
        """Number of flips that have signs."""
        if self.exact:
            return max(1, self.plan.n_resamples // 2)
        return self.plan.n_resamples

    @property
    def n_total(self) -> int:
        """Denominator of a p-value: of all flips these, else the random ones and the observed one."""
        return self.n_flips + self.plan.besides

    def n_rare(self, alpha: float) -> int:
        """Return which of the largest statistics must be exceeded for a p of at most `alpha`; 0 if none is enough."""
        if self.exact:
            # with their mirrors each stands there twice, and the observed one is among them
            n_rejecting = int(np.floor(2 * alpha * self.n_flips + 1e-9))
            return min(n_rejecting // 2 + 1, self.n_flips)
        return int(np.floor(alpha * self.n_total + 1e-9))

    def batches(self, dtype: type[np.floating]) -> Iterator[tuple[slice, Reals]]:
        """Yield which flips a batch has, and their signs, (flip, family)."""
        # a sign as a number, and as a byte before
        n_units = self.plan.n_units
        rows = rows_that_fit((np.dtype(dtype).itemsize + 1) * n_units)
        for some in stretches(self.n_flips, rows):
            n_rows = some.stop - some.start
            if self.exact:
                # even numbers, of which the first family is not turned
                labels = self.plan.enumerate(2 * np.arange(some.start, some.stop)).view(np.uint8)
            else:
                labels = self.plan.draw_from(some.start, n_rows)
            signs = labels.astype(dtype)
            signs *= -2
            signs += 1
            yield some, signs

    def of_two_more(self) -> Reals:
        """Return the sums that random signs give to two further numbers, +1 and -1, in every flip."""
        rng = generator(self.plan.entropy, self.plan.n_units, 2)
        heads = rng.integers(0, 2, (2, self.n_flips)).sum(axis=0)
        return np.asarray(2.0 * heads - 2)
