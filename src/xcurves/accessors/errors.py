"""`.curves` of arrays: learning curves, of errors over training sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import xarray as xr

import xcurves
from xcurves.accessors.documented import documented
from xcurves.core import validation

if TYPE_CHECKING:
    from xcurves.learning_curves.leave_one_size_out import Variants
    from xcurves.learning_curves.options import Asymptote, At, Gamma, Weighting


class ErrorCurves:
    """Methods of errors: a DataArray with dims (..., training)."""

    _data: xr.DataArray

    @documented
    def fit_power_law(
        self,
        *,
        at: float | Literal["largest"] | xr.DataArray = "largest",
        units: Literal["percent", "fraction", "loss"] | None = None,
        gamma: Gamma = "search",
        quadratic: bool = False,
        asymptote: Asymptote = "nonnegative",
        weights: Weighting | None = None,
        sigma0_sq: float = 0.02,
        sigma_hat_sq: float | None = None,
        standard_error: xr.DataArray | None = None,
        n_folds: int | xr.DataArray | None = None,
        prior_strength: float = 5.0,
        predict_at: At | None = None,
        n_resamples: int = 0,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.fit_power_law`."""
        return xcurves.fit_power_law(
            self._data, at=at, units=units, gamma=gamma, quadratic=quadratic, asymptote=asymptote, weights=weights,
            sigma0_sq=sigma0_sq, sigma_hat_sq=sigma_hat_sq, standard_error=standard_error, n_folds=n_folds,
            prior_strength=prior_strength, predict_at=predict_at, n_resamples=n_resamples,
            confidence_level=confidence_level, rng=rng,
        )  # fmt: skip

    @documented
    def leave_one_size_out(
        self,
        *,
        variants: Variants | None = None,
        units: Literal["percent", "fraction", "loss"] | None = None,
        sigma0_sq: float = 0.02,
        sigma_hat_sq: float | None = None,
        prior_strength: float = 5.0,
    ) -> xr.Dataset:
        """Call :func:`xcurves.leave_one_size_out`."""
        return xcurves.leave_one_size_out(
            self._data, variants=variants, units=units, sigma0_sq=sigma0_sq, sigma_hat_sq=sigma_hat_sq,
            prior_strength=prior_strength,
        )  # fmt: skip
