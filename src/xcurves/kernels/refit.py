"""The bootstrap of learning curves: redrawn means and variances of every size, refitted without the prior.

Folds are drawn from the fitted curve with the estimated variances, which by sufficiency is to draw one normal mean and
one chi-squared variance for each size. The draws depend on the seed, the place of the size and its number of folds
only, so that a curve has the same replicates whatever its neighbours are, as long as the array has the same sizes: an
absent size that is added moves the places of those behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from xcurves.kernels import powerlaw
from xcurves.kernels.learning import Fit, Model, Sizes
from xcurves.kernels.moments import Floats

_BLOCK = 4096  # refits at once


@dataclass(frozen=True)
class Draws:
    """Standard draws that all curves share, `n_resamples` for each of `n_sizes` sizes."""

    entropy: int
    n_resamples: int
    n_sizes: int
    _known: dict[tuple[int, int], Floats] = field(default_factory=dict, repr=False)

    def normal(self) -> Floats:
        """Return standard normal draws, shape (resample, size)."""
        return np.random.default_rng([self.entropy, 0]).normal(size=(self.n_resamples, self.n_sizes))

    def variance_ratio(self, folds: Floats) -> Floats:
        """Return redrawn by true sample variance, shape (curve, resample, size); 1 for less than two folds."""
        found = np.ones((len(folds), self.n_resamples, self.n_sizes))
        for size, column in enumerate(folds.T):
            for count in np.unique(column[column > 1]).astype(int).tolist():
                found[column == count, :, size] = self._chi_square(size, count - 1) / (count - 1)
        return found

    def _chi_square(self, size: int, degrees: int) -> Floats:
        if (size, degrees) not in self._known:
            rng = np.random.default_rng([self.entropy, 1, size, degrees])
            self._known[size, degrees] = rng.chisquare(degrees, self.n_resamples)
        return self._known[size, degrees]

    def blocks(self, n_curves: int) -> Iterator[slice]:
        """Yield the curves whose replicates are refitted at once."""
        step = max(1, _BLOCK // self.n_resamples)
        return (slice(start, start + step) for start in range(0, n_curves, step))


def refit_percentiles(
    model: Model, at: Floats, sizes: Sizes, fit: Fit, n: Floats, draws: Draws, alpha: float
) -> tuple[Floats, Floats]:
    """Return percentile intervals of the parameters, shape (curve, 6, 2), and of the curve at sizes `n`."""
    refitted = replace(model, strength=0.0)
    standard = draws.normal()
    expected = powerlaw.curve(fit.theta, model.n, at)
    intervals = np.empty((len(at), 6, 2))
    bounds = np.empty((len(at), len(n), 2))
    for some in draws.blocks(len(at)):
        folds, variance = sizes.folds[some], fit.variance[some]
        ratio = draws.variance_ratio(folds)
        noise = standard * np.sqrt(variance / np.maximum(folds, 1))[:, np.newaxis]
        means = np.where(folds[:, np.newaxis] > 0, expected[some, np.newaxis] + noise, 0.0)
        redrawn = _flat(variance[:, np.newaxis] * ratio)
        counts = _flat(np.broadcast_to(folds[:, np.newaxis], ratio.shape))
        drawn = Sizes(counts, _flat(means), redrawn, None if sizes.variance is None else redrawn)
        where = np.repeat(at[some], draws.n_resamples)
        theta = refitted.fit(where, drawn).theta
        found = powerlaw.parameters(theta, where), powerlaw.curve(theta, n, where)
        for target, values in zip((intervals, bounds), found, strict=True):
            replicates = values.reshape(len(folds), draws.n_resamples, values.shape[-1])
            target[some] = np.moveaxis(np.quantile(replicates, [alpha / 2, 1 - alpha / 2], axis=1), 0, -1)
    unknown = np.isnan(fit.theta).any(axis=1)
    intervals[unknown] = bounds[unknown] = np.nan
    return intervals, bounds


def _flat(values: Floats) -> Floats:
    """Join the axes of curves and resamples."""
    return values.reshape(-1, values.shape[-1])
