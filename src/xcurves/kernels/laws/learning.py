"""One way of fitting learning curves, from what is known of their sizes to the curve, its variances and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.kernels.laws import powerlaw, wls

_NOISY = 0.2  # coefficient of variation above which relative weights are those of the fitted curve
_REWEIGHTINGS = 30  # at most
_SAME = 1e-10  # relative change of a curve that has come to rest


class Sizes(NamedTuple):
    """What is known of the errors of curves at every size, all of shape (curve, size)."""

    folds: Floats  # number of folds; 0 marks an absent size
    means: Floats  # of the errors; 0 where there are none
    spread: Floats  # sample variance; NaN where there is none
    variance: Floats | None = None  # of one fold, where not estimated from `spread`

    def where(self, kept: NDArray[np.bool_]) -> Sizes:
        """Return the curves without the sizes that are not kept, shape (size,) or (curve, size)."""
        return self._replace(folds=np.where(kept, self.folds, 0.0), means=np.where(kept, self.means, 0.0))

    def take(self, curves: NDArray[np.intp]) -> Sizes:
        """Return some of the curves."""
        taken = Sizes(self.folds[curves], self.means[curves], self.spread[curves])
        if self.variance is None:
            return taken
        return taken._replace(variance=self.variance[curves])


class Fit(NamedTuple):
    """Fitted curves."""

    theta: Floats  # (curve, 4)
    weights: Floats  # (curve, size): total ω_i
    variance: Floats  # (curve, size): σ_i² of one fold
    # (curve,): where least squares gives α < 0 and α = 0 was fitted
    at_bound: NDArray[np.bool_]


@dataclass(frozen=True)
class Model:
    """A variant of the learning curve, how it is weighted, and what is taken for its variances."""

    n: Floats
    gamma: float | None = None
    quadratic: bool = False
    weights: str = "variance-folds"
    sigma0_sq: float = 0.02
    sigma_hat_sq: float | None = None
    strength: float = 5.0
    nonnegative: bool = False
    factor: float = 1.0  # of all weights
    # Given variances are multiplied by χ² / df where that exceeds 1.
    rescaled: bool = False

    @property
    def n_parameters(self) -> int:
        """Number of fitted parameters, which so many sizes must determine."""
        return 2 + (self.gamma is None) + self.quadratic

    @property
    def n_sizes_needed(self) -> int:
        """Number of sizes that a fit needs: with relative weights one more than parameters, for the variance."""
        return self.n_parameters + (self.weights == "relative")

    def known_variance(self, sizes: Sizes) -> Floats:
        """Return σ_i² by the variance model, or as given; NaN where nothing tells it."""
        if sizes.variance is not None:
            return sizes.variance
        return wls.pooled_variance(self.n, sizes.folds, sizes.spread, self.sigma0_sq, self.sigma_hat_sq)

    def fit(self, at: Floats, sizes: Sizes) -> Fit:
        """Fit every curve; with relative weights, or uniform ones and σ_i² unknown, residuals give the variance."""
        if self.weights == "relative":
            return self._fit_relative(at, sizes)
        variance = self.known_variance(sizes)
        weights = self.factor * wls.size_weights(self.weights, sizes.folds, variance)
        fit = self._solve(at, weights, sizes.means)._replace(variance=variance)
        # S / df about the curve, in each of its folds; a parameter at its bound is not fitted
        unknown = np.asarray(np.isnan(variance).any(axis=1))
        if unknown.any():
            squares = sizes.folds * (sizes.means - powerlaw.curve(fit.theta, self.n, at)) ** 2
            degrees = sizes.folds.sum(axis=1) - self.n_parameters + fit.at_bound
            residual = _by_degrees(squares.sum(axis=1), degrees)
            fit = fit._replace(variance=np.where(unknown[:, np.newaxis], residual[:, np.newaxis], variance))
        if self.rescaled:
            # 1 where χ² / df is less, or NaN for want of degrees of freedom
            scale = np.fmax(self._relative_variance(at, sizes, fit), 1.0)
            fit = fit._replace(variance=fit.variance * scale[:, np.newaxis])
        return fit

    def _fit_relative(self, at: Floats, sizes: Sizes) -> Fit:
        """Fit with weights 1 / mean², and 1 / curve² where the noise is above a fifth of the curve."""
        # Noise relative to the error: 1 / mean² estimates the weight. A mean that is low by chance gets a high weight,
        # which pulls noisy curves down; weights by the curve itself do not.
        has = sizes.folds > 0
        fit = self._solve(
            at,
            np.where(has, 1 / np.where(has, sizes.means, 1.0) ** 2, 0.0),
            sizes.means,
        )
        is_noisy = self._relative_variance(at, sizes, fit) > _NOISY**2
        curves = np.flatnonzero(is_noisy)
        # until weights stay; not those that come to lie below 0
        for _ in range(_REWEIGHTINGS):
            if not curves.size:
                break
            fitted = powerlaw.curve(fit.theta[curves], self.n, at[curves])
            new = self._solve(
                at[curves],
                np.where(has[curves], fitted**-2.0, 0.0),
                sizes.means[curves],
            )
            again = powerlaw.curve(new.theta, self.n, at[curves])
            positive = (fitted > 0).all(axis=1) & (again > 0).all(axis=1)
            for target, values in zip(fit, new, strict=True):
                target[curves[positive]] = values[positive]
            curves = curves[positive & (np.abs(again / fitted - 1).max(axis=1) > _SAME)]
        noise = self._relative_variance(at, sizes, fit)[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            return fit._replace(variance=np.where(has, sizes.folds * noise / fit.weights, noise))

    def _relative_variance(self, at: Floats, sizes: Sizes, fit: Fit) -> Floats:
        """Return S / df, the squared coefficient of variation of the means, shape (curve,)."""
        squares = fit.weights * (sizes.means - powerlaw.curve(fit.theta, self.n, at)) ** 2
        return _by_degrees(squares.sum(axis=1), self._residual_degrees(sizes.folds, fit.at_bound))

    def _residual_degrees(self, folds: Floats, at_bound: NDArray[np.bool_]) -> Floats:
        return np.asarray((folds > 0).sum(axis=1) - self.n_parameters + at_bound, dtype=float)

    def _solve(self, at: Floats, weights: Floats, means: Floats) -> Fit:
        """Return curves and where α is at its bound; γ, if not given, and δ are NaN where all means are equal."""
        kind = {"quadratic": self.quadratic}
        gammas = np.full(len(at), self.gamma, dtype=float)
        if self.gamma is None:
            options = {
                "nonnegative": self.nonnegative,
                "logarithmic": self.weights == "relative",
            }
            gammas = wls.search_exponents(self.n, weights, means, self.strength, **options, **kind)
        theta = wls.solve(self.n, at, weights, means, gammas, **kind)
        # α < 0: an error below 0 at infinite size. With α = 0 the objective is least within the bound, it being convex.
        at_bound = self.nonnegative & (powerlaw.parameters(theta, at)[:, 3] < 0)
        if at_bound.any():
            some = (each[at_bound] for each in (at, weights, means, gammas))
            theta[at_bound] = wls.solve_zero_asymptote(self.n, *some, quadratic=self.quadratic)
        if self.gamma is None:
            # every exponent fits a constant: none is found
            has = weights > 0
            low = np.where(has, means, np.inf).min(axis=1)
            high = np.where(has, means, -np.inf).max(axis=1)
            equal = high - low <= 1e-12 * np.abs(high)
            delta = np.nan if self.quadratic else 0.0
            theta[equal] = np.array([0.0, 0.0, np.nan, delta])
            theta[equal, powerlaw.ERROR] = high[equal]
            at_bound &= ~equal
        return Fit(theta, weights, weights, at_bound)

    def covariance(self, at: Floats, sizes: Sizes, fit: Fit, *, given_gamma: bool = False) -> Floats:
        """Return the covariance of θ, shape (curve, 4, 4): given γ as the paper's, or with that of γ."""
        return wls.covariance(
            fit.theta,
            self.n,
            at,
            fit.weights,
            fit.variance / np.maximum(sizes.folds, 1),
            gamma_free=self.gamma is None and not given_gamma,
            quadratic=self.quadratic,
            at_bound=fit.at_bound,
        )

    def degrees(self, folds: Floats, *, known: bool, at_bound: NDArray[np.bool_] | None = None) -> Floats:
        """Return the degrees of freedom of the variances: infinite if they were known, else by folds or residuals."""
        if known:
            return np.full(len(folds), np.inf)
        bound = np.zeros(len(folds), dtype=bool) if at_bound is None else at_bound
        if self.weights == "relative":
            estimated = self._residual_degrees(folds, bound)
        else:
            # variances within sizes, or about the curve where each size has one fold
            total = folds.sum(axis=1)
            by_folds = total - (folds > 0).sum(axis=1)
            by_curve = total - self.n_parameters + bound
            estimated = np.where(by_folds > 0, by_folds, by_curve)
        return np.where(estimated > 0, estimated, np.nan)


def _by_degrees(squares: Floats, degrees: Floats) -> Floats:
    """Return a sum of squares by its degrees of freedom, NaN where there are none."""
    return np.where(degrees > 0, squares / np.where(degrees > 0, degrees, 1.0), np.nan)
