"""Learners compared by their learning curves."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.kernels import compare, powerlaw
from xcurves.kernels.learning import Model
from xcurves.learning_curves.curvefit import around, far, t_quantile
from xcurves.learning_curves.fit_result import rate_units
from xcurves.learning_curves.kinds import COMPARE_LEARNERS, COMPARED, FIT_POWER_LAW
from xcurves.learning_curves.predict import (
    CURVE_DIMS,
    curves_of,
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
        ``data_reliance`` and ``large_sample_error`` (e_N - β_N); `crossing_size` (crossing), the sizes at which the two
        curves cross, NaN for less than two, and `crossing_extrapolated` (crossing), 1 for those far outside the
        measured sizes; `data_multiplier` and `data_multiplier_ci` (ci_bound), how many times N the reference needs
        to reach the algorithm's error at N, NaN where its curve does not fall (β_N ≤ 0) or levels off above that error;
        `data_multiplier_extrapolated`, 1 where so many are beyond four times the largest size measured for the
        reference, or below a quarter of the smallest. If an algorithm or the reference has no errors everything is NaN;
        if the errors of either are all equal, so is everything but the difference of errors.

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
    Intervals take the two curves as independent, by the standard
    errors of the fits and Welch's degrees of freedom, for d in its logarithm. Folds or test images that learners share
    make true intervals of differences narrower. Crossings are sought from a millionth of the smallest to a million
    times the largest size.

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
    attrs = provenance.result_attrs(
        COMPARE_LEARNERS.name,
        fit,
        COMPARE_LEARNERS.references,
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
    if "algorithm" not in fit.dims:
        raise ValueError("fit has no dim 'algorithm'; learners are its labels. Rename: fit.rename(model='algorithm')")
    known = labels.words(fit["algorithm"])
    if not isinstance(reference, Hashable) or reference not in fit.indexes["algorithm"]:
        raise ValueError(f"reference must be an algorithm of the fit; got {reference!r}. It has {', '.join(known)}")
    if len(known) < 2:
        raise ValueError(f"fit has one algorithm, {known[0]}; a comparison needs two. Fit them in one array")
    if "delta" in fit.data_vars:
        raise ValueError("fit is quadratic; learners are compared by power laws. Fit with quadratic=False")
    if "algorithm" in fit["at"].dims and (fit["at"] != fit["at"].isel(algorithm=0)).any():
        raise ValueError("fit states errors at another size N for each algorithm. Fit with one number as at")


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
        flat = [each.reshape(numbers.size, *each.shape[numbers.ndim :]) for each in parts]
        covariances = [theta_covariance(each, quadratic=False) for each in (flat[0], flat[5])]
        learner, reference, at = flat[1], flat[6], flat[2]
        folds = [flat[3], flat[8]]
        degrees = np.stack([self.model.degrees(each, known=self.known) for each in folds])
        n = self.model.n
        has = (folds[0] > 0) | (folds[1] > 0)
        low, high = np.where(has, n, np.inf).min(axis=1), np.where(has, n, -np.inf).max(axis=1)
        measured = has.any(axis=1)
        sizes = compare.crossings(learner, reference, at, np.where(measured, low, 1.0), np.where(measured, high, 1.0))
        difference = (learner - reference)[:, :2] @ _COMBINED[:, :2].T
        unknown = np.isnan(learner[:, powerlaw.GAMMA] + reference[:, powerlaw.GAMMA])
        difference[unknown, 1:] = np.nan
        variances = np.stack([powerlaw.variance(_COMBINED, each) for each in covariances])
        log = compare.log_multiplier(reference, np.where(unknown, np.nan, learner[:, powerlaw.ERROR]))
        there = (at * np.exp(log))[:, np.newaxis]
        of_reference = powerlaw.variance(powerlaw.gradient(reference, there, at), covariances[1])[:, 0]
        of_errors = np.stack([covariances[0][:, powerlaw.ERROR, powerlaw.ERROR], of_reference])
        steepness = np.abs(powerlaw.log_slope(reference, there, at)[:, 0])
        out = {
            "difference": difference,
            "difference_ci": around(difference, self._half_width(variances, degrees[..., np.newaxis])),
            "crossing_size": sizes,
            "crossing_extrapolated": far(sizes, has, n).astype(float),
            "data_multiplier": np.exp(log),
            "data_multiplier_ci": np.exp(around(log, self._half_width(of_errors, degrees) / steepness)),
            "data_multiplier_extrapolated": far(there, folds[1], n)[:, 0].astype(float),
        }
        return self.layout.pack(out, numbers.shape)

    def _half_width(self, variances: Floats, degrees: Floats) -> Floats:
        """Return half the width of intervals of differences, variances of shape (2, ...)."""
        degrees = np.broadcast_to(degrees, variances.shape)
        return np.asarray(t_quantile(self.alpha, compare.welch(variances, degrees)) * np.sqrt(variances.sum(axis=0)))
