"""Learners compared by their learning curves."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.kernels import compare, powerlaw
from xcurves.kernels.learning import Model, t_quantile
from xcurves.learning_curves.curvefit import FAR, far, largest_size
from xcurves.learning_curves.fit_result import rate_units
from xcurves.learning_curves.intervals import around
from xcurves.learning_curves.kinds import COMPARE_LEARNERS, COMPARED, FIT_POWER_LAW
from xcurves.learning_curves.read_fit import (
    CURVE_DIMS,
    check_fit,
    curves_of,
    curves_of_fit,
    model_of,
    task_coords,
    theta_covariance,
    unit_of,
    variances_known,
)

_COMBINED = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0]])  # these of θ


def compare_learners(fit: xr.Dataset, *, reference: Any) -> xr.Dataset:
    r"""Compare every algorithm's learning curve with that of a reference.

    Parameters
    ----------
    fit : Dataset
        What `fit_power_law` returned, with a dim `algorithm`, not quadratic, all algorithms at one size N.
    reference : label
        The algorithm to compare with.

    Returns
    -------
    Dataset
        For every other algorithm, with the further dims of `fit` in front: `difference` (param) to the reference, first
        minus reference, and `difference_ci` (param, ci_bound), in the unit of `fit`, of ``error_at_n``,
        ``data_reliance`` and ``large_sample_error`` (e_N - β_N); `equal_from` and `equal_to` (crossing), the sizes
        between which no difference is shown, from the smallest measured size to four times the largest, NaN where there
        are none; `crossing_size` (crossing), where the curves cross there, NaN unless differences of opposite signs are
        shown on the two sides; `data_multiplier` and `data_multiplier_ci` (ci_bound), how many times N the reference
        needs to reach the algorithm's error at N, NaN where its curve does not fall (β_N ≤ 0) or levels off above that
        error; `data_multiplier_extrapolated`, 1 where so many are beyond four times the largest size measured for the
        reference, or below a quarter of the smallest. If an algorithm or the reference has no curve everything is NaN;
        if the errors of either are all equal, so is everything but the difference of errors. Of a lazy fit that states
        the two at different sizes N everything is NaN.

    Raises
    ------
    AttributeError
        If `fit` is a result of another method.
    ValueError, TypeError
        If `fit` is no result, there is no such algorithm or no other one, the fit is quadratic, or N differs between
        algorithms.

    Notes
    -----
    With b the algorithm and a the reference,

    .. math:: d = \frac{1}{N} \left( \frac{e_b(N) - \alpha_a}{\eta_a} \right)^{1 / \gamma_a}

    "Augmentation is worth 1.8 times the data" [1]_. Where that error is near the reference's asymptote d changes fast
    with both curves: NaN takes the cases where d would be largest, and the interval holds for the others only roughly.
    Intervals take the two curves as independent, by the standard errors of the fits and Welch's degrees of freedom, for
    d in its logarithm; those of differences beyond the largest size are widened by the backtests, see `predict`. Folds
    or test images that learners share make true intervals of differences narrower.

    A difference is shown at a size if its interval there does not hold 0. Each interval is by itself: one in a hundred
    pairs of equal learners is said to cross, one in fifty with free asymptotes. Of more than two stretches of sizes
    without a shown difference the last ones are joined.

    References
    ----------
    .. [1] Hoiem, D., Gupta, T., Li, Z. & Shlapentokh-Rothman, M. (2021). Learning curves for analysis of deep networks.
       Proc. 38th Int. Conf. on Machine Learning, PMLR 139, 4287-4296.

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> errors = xr.DataArray(
    ...     [[40.5, 32.9, 27.9, 24.6], [36.1, 29.8, 25.7, 23.0]],
    ...     {"algorithm": ["plain", "augmented"], "training": [50, 100, 200, 400]},
    ...     ["algorithm", "training"],
    ...     attrs={"units": "%"},
    ... )
    >>> fit = xcurves.fit_power_law(errors, sigma_hat_sq=20)
    >>> versus = xcurves.compare_learners(fit, reference="plain")
    >>> versus.data_multiplier.round(2).values.tolist()
    [1.58]
    """
    _check(fit, reference)
    place = fit.indexes["algorithm"].get_loc(reference)
    others = [i for i in range(fit.sizes["algorithm"]) if i != place]
    chosen, against = fit.isel(algorithm=others), fit.isel(algorithm=[place] * len(others))
    block = _CompareBlock(model_of(fit), provenance.alpha_of(fit), known=variances_known(fit))
    packed = apply_block(block, [*curves_of(chosen), *curves_of(against)], CURVE_DIMS * 2, block.layout.length)
    attrs = COMPARE_LEARNERS.attrs(
        fit,
        0,
        1 - block.alpha,
        reference=reference if isinstance(reference, str) else np.asarray(reference).item(),
        units=unit_of(fit),
    )
    units = rate_units(fit["error_at_n"].attrs.get("units", "1"), fit)
    coords = task_coords(chosen)
    return COMPARE_LEARNERS.dataset(block.layout.unpack(packed), coords, attrs, fit["error_at_n"], units)


def _check(fit: xr.Dataset, reference: Any) -> None:
    FIT_POWER_LAW.check(fit, "fit")
    check_fit(fit)
    if "algorithm" not in fit.dims:
        raise ValueError("fit has no dim 'algorithm'; learners are its labels. Rename: fit.rename(model='algorithm')")
    known = labels.words(fit["algorithm"])
    if not isinstance(reference, Hashable) or reference not in fit.indexes["algorithm"]:
        raise ValueError(
            f"reference must be an algorithm of the fit; got {labels.shown(reference)}. It has {', '.join(known)}"
            f"{labels.did_you_mean(reference, fit['algorithm'].to_numpy().tolist())}"
        )
    if len(known) < 2:
        raise ValueError(f"fit has one algorithm, {known[0]}; a comparison needs two. Fit them in one array")
    if "delta" in fit.data_vars:
        raise ValueError("fit is quadratic; learners are compared by power laws. Fit with quadratic=False")
    if "algorithm" in fit["at"].dims and fit["at"].chunks is None:
        spread = fit["at"].max("algorithm") - fit["at"].min("algorithm")
        if (spread > 0).any():
            cure = f"Fit with one number as at, at={fit['at'].min().item():g}"
            raise ValueError(f"fit states errors at another size N for each algorithm. {cure}")


@dataclass(frozen=True)
class _CompareBlock:
    """Comparisons of a block of pairs of curves."""

    model: Model
    alpha: float
    known: bool

    @property
    def layout(self) -> Layout:
        return COMPARE_LEARNERS.layout({"param": len(COMPARED), "ci_bound": 2, "crossing": 2})

    def __call__(self, *arrays: Any) -> Floats:
        """Compare, given what `curves_of` returns for the learners, then for the reference, and numbers."""
        *parts, numbers = arrays
        half = len(CURVE_DIMS)
        learner, reference = (self._curves(part, numbers) for part in (parts[:half], parts[half:]))
        folds = [part[3].reshape(numbers.size, -1) for part in (parts[:half], parts[half:])]
        has = (folds[0] > 0) | (folds[1] > 0)
        low = np.where(has, self.model.n, np.inf).min(axis=1)
        high = FAR * np.where(has, self.model.n, -np.inf).max(axis=1)
        unknown = np.isnan(learner.theta[:, powerlaw.GAMMA] + reference.theta[:, powerlaw.GAMMA])
        elsewhere = learner.at != reference.at
        learner.theta[elsewhere] = np.nan
        unknown |= elsewhere
        low, high = np.where(unknown, 1.0, low), np.where(unknown, 2.0, high)
        begin, end, crossing = compare.equal_sizes(learner, reference, low, high, self.alpha)
        out = {
            **self._differences(learner, reference, unknown),
            **{
                name: np.where(unknown[:, np.newaxis], np.nan, sizes)
                for name, sizes in (("equal_from", begin), ("equal_to", end), ("crossing_size", crossing))
            },
            **self._multipliers(learner, reference, unknown, folds[1]),
        }
        return self.layout.pack(out, numbers.shape)

    def _curves(self, arrays: Sequence[Floats], numbers: NDArray[np.int64]) -> compare.Curves:
        covariance, theta, at, folds, _, rho, at_bound = curves_of_fit(arrays, numbers.size, numbers.ndim)
        degrees = self.model.degrees(folds, known=self.known, at_bound=at_bound)
        widening = np.where(np.isnan(rho), 0.0, rho) * self.model.nonnegative
        of_theta = theta_covariance(covariance, quadratic=False)
        return compare.Curves(theta, of_theta, at, degrees, widening, largest_size(folds, self.model.n))

    def _differences(
        self, learner: compare.Curves, reference: compare.Curves, unknown: NDArray[np.bool_]
    ) -> dict[str, Floats]:
        """Return the differences of parameters with their intervals."""
        difference = (learner.theta - reference.theta)[:, :2] @ _COMBINED[:, :2].T
        difference[unknown, 1:] = np.nan
        variances = np.stack([powerlaw.variance(_COMBINED, each.covariance) for each in (learner, reference)])
        degrees = np.stack([learner.degrees, reference.degrees])[..., np.newaxis]
        return {"difference": difference, "difference_ci": around(difference, self._half_width(variances, degrees))}

    def _multipliers(
        self, learner: compare.Curves, reference: compare.Curves, unknown: NDArray[np.bool_], folds: Floats
    ) -> dict[str, Floats]:
        """Return how many times the data the learner is worth, with the interval in logarithms."""
        at, error = learner.at, powerlaw.ERROR
        log = compare.log_multiplier(reference.theta, np.where(unknown, np.nan, learner.theta[:, error]))
        there = (at * np.exp(log))[:, np.newaxis]
        slopes = powerlaw.gradient(reference.theta, there, at)
        of_reference = powerlaw.variance(slopes, reference.covariance)[:, 0]
        of_errors = np.stack([learner.covariance[:, error, error], of_reference])
        steepness = np.abs(powerlaw.log_slope(reference.theta, there, at)[:, 0])
        degrees = np.stack([learner.degrees, reference.degrees])
        return {
            "data_multiplier": np.exp(log),
            "data_multiplier_ci": np.exp(around(log, self._half_width(of_errors, degrees) / steepness)),
            "data_multiplier_extrapolated": far(there, folds, self.model.n)[:, 0].astype(float),
        }

    def _half_width(self, variances: Floats, degrees: Floats) -> Floats:
        """Return half the width of intervals of differences, variances of shape (2, ...)."""
        degrees = np.broadcast_to(degrees, variances.shape)
        return np.asarray(t_quantile(self.alpha, compare.welch(variances, degrees)) * np.sqrt(variances.sum(axis=0)))
