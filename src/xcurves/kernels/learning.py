"""One way of fitting learning curves, from what is known of their sizes to the curve, its variances and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels import powerlaw, wls
from xcurves.kernels.moments import Floats


class Sizes(NamedTuple):
    """What is known of the errors of curves at every size, all of shape (curve, size).

    Attributes
    ----------
    folds : ndarray
        Number of folds; 0 marks an absent size.
    means, spread : ndarray
        Mean and sample variance of the errors; 0 and NaN where there are none.
    variance : ndarray, optional
        Variance of one fold, where it is not to be estimated from `spread`.
    """

    folds: Floats
    means: Floats
    spread: Floats
    variance: Floats | None = None

    def without(self, size: int) -> Sizes:
        """Return the curves with one size left out."""
        folds, means = self.folds.copy(), self.means.copy()
        folds[:, size] = means[:, size] = 0
        return self._replace(folds=folds, means=means)

    def take(self, curves: NDArray[np.intp]) -> Sizes:
        """Return some of the curves."""
        variance = None if self.variance is None else self.variance[curves]
        return Sizes(self.folds[curves], self.means[curves], self.spread[curves], variance)


class Fit(NamedTuple):
    """Curves θ, shape (curve, 4), with the total weight ω_i and the variance σ_i² of each size, (curve, size)."""

    theta: Floats
    weights: Floats
    variance: Floats


@dataclass(frozen=True)
class Model:
    """A variant of the learning curve, how it is weighted, and what is taken for its variances (in percent²)."""

    n: Floats
    gamma: float | None = None
    quadratic: bool = False
    weights: str = "variance-folds"
    sigma0_sq: float = 0.02
    sigma_hat_sq: float | None = None
    strength: float = 5.0

    @property
    def n_parameters(self) -> int:
        """Number of fitted parameters, which so many sizes must determine."""
        return 2 + (self.gamma is None) + self.quadratic

    def known_variance(self, sizes: Sizes) -> Floats:
        """Return σ_i² by the variance model, or as given; NaN where nothing tells it."""
        if sizes.variance is not None:
            return sizes.variance
        return wls.pooled_variance(self.n, sizes.folds, sizes.spread, self.sigma0_sq, self.sigma_hat_sq)

    def fit(self, at: Floats, sizes: Sizes) -> Fit:
        """Fit every curve; where weights are uniform and σ_i² unknown it is taken from the residuals."""
        variance = self.known_variance(sizes)
        weights = wls.size_weights(self.weights, sizes.folds, variance)
        theta = self.curves(at, weights, sizes.means)
        unknown = np.asarray(np.isnan(variance).any(axis=1))
        if unknown.any():
            apart = sizes.means - powerlaw.curve(theta, self.n, at)
            left = sizes.folds.sum(axis=1) - self.n_parameters
            with np.errstate(invalid="ignore", divide="ignore"):
                residual = np.where(left > 0, (sizes.folds * apart**2).sum(axis=1) / left, np.nan)
            variance = np.where(unknown[:, np.newaxis], residual[:, np.newaxis], variance)
        return Fit(theta, weights, variance)

    def curves(self, at: Floats, weights: Floats, means: Floats) -> Floats:
        """Return θ. Where all means are equal nothing tells γ: it and δ are NaN, unless γ is given."""
        theta = wls.fit(self.n, at, weights, means, self.gamma, self.strength, quadratic=self.quadratic)
        if self.gamma is None:
            has = weights > 0
            low, high = np.where(has, means, np.inf).min(axis=1), np.where(has, means, -np.inf).max(axis=1)
            equal = high - low <= 1e-12 * np.abs(high)
            theta[equal] = np.array([0.0, 0.0, np.nan, np.nan if self.quadratic else 0.0])
            theta[equal, powerlaw.ERROR] = high[equal]
        return theta

    def covariance(self, at: Floats, sizes: Sizes, fit: Fit, *, given_gamma: bool = False) -> Floats:
        """Return the covariance of θ, shape (curve, 4, 4): given γ as the paper's, or with that of γ."""

        def block(theta: Floats, at: Floats, weights: Floats, variance: Floats, folds: Floats) -> Floats:
            of_means = variance / np.maximum(folds, 1)
            free = self.gamma is None and not given_gamma
            return wls.covariance(theta, self.n, at, weights, of_means, gamma_free=free, quadratic=self.quadratic)

        return wls.in_blocks(block, fit.theta, at, fit.weights, fit.variance, sizes.folds)

    def degrees(self, folds: Floats, *, known: bool) -> Floats:
        """Return the degrees of freedom of the variances: infinite if they were known, else by folds or residuals."""
        total = folds.sum(axis=1)
        by_folds = total - (folds > 0).sum(axis=1)
        estimated = np.where(by_folds > 0, by_folds, total - self.n_parameters)
        return np.full(len(folds), np.inf) if known else np.where(estimated > 0, estimated, np.nan)
