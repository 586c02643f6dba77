"""What a learning curve predicts for other training sizes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.core import provenance, validation
from xcurves.core.task_blocks import apply_block
from xcurves.learning_curves.fit_result import rate_units, size_units
from xcurves.learning_curves.kinds import FIT_POWER_LAW, PREDICT
from xcurves.learning_curves.options import At, bare, check_n, like, spread
from xcurves.learning_curves.prediction_block import PredictBlock
from xcurves.learning_curves.read_fit import (
    CURVE_DIMS,
    asymptote_of,
    cap_of,
    check_fit,
    curves_of,
    model_of,
    task_coords,
    unit_of,
    variances_known,
)

Rule = Literal["power-law", "linear"]


def predict(fit: xr.Dataset, n: At, *, method: Rule = "power-law") -> xr.Dataset:
    r"""Predict the error at other training sizes.

    Parameters
    ----------
    fit : Dataset
        What `fit_power_law` returned.
    n : float, sequence or DataArray
        Training sizes, in the unit of `training`; a DataArray on further dims of `fit` has one for each curve, such as
        ``4 * fit["at"]``.
    method : {"power-law", "linear"}
        The fitted curve, or the rule of Eq. 1, linear in :math:`n^{-1/2}`, that e_N and β_N give.

    Returns
    -------
    Dataset
        With the further dims of `fit` in front, in its unit: `prediction` (n), `prediction_ci` (n, ci_bound);
        `prediction_ci_given_law`, if the curve is a power law, and `prediction_ci_given_gamma`, if γ is known too;
        `change` (n) and `change_ci` (n, ci_bound), the predicted error less that at the size N, the coordinate `at`;
        `change_ratio` and `change_ratio_ci`, the one over the other; and `extrapolated` (n), 1 for sizes beyond four
        times the largest, or below a quarter of the smallest, that was measured. Of a DataArray there is no dim n; the
        coordinate n has the size of each curve.

    Raises
    ------
    AttributeError
        If `fit` is a result of another method.
    ValueError, TypeError
        If `fit` is no result, sizes are not positive numbers, or the method is unknown.

    Notes
    -----
    .. math:: \hat e(n) = \alpha + \eta n^\gamma \quad \text{or} \quad
              \tilde e(dN) = e_N + (1 / \sqrt d - 1) \beta_N

    Intervals are for the expected error, not for that of one more training, and by the linear rule for that rule's
    value: they know nothing of the curvature it leaves out. `prediction_ci` and `change_ratio_ci` are in logarithms and
    widened beyond the largest size by how badly the curve predicts its own last octaves, see `fit_power_law`; that of a
    free asymptote, of `change` and of the linear rule are symmetric, those of `change` and of the linear rule widened
    likewise. `prediction_ci_given_gamma` are the paper's bounds (Eq. 3), which take γ as known and are too narrow away
    from the data. Whether more data lower the error is read off `change_ratio_ci`, not off `prediction_ci`: errors at n
    and at N are estimated from the same folds and vary together. All are by the standard errors of the fit; for
    bootstrap intervals give `fit_power_law` the sizes as `predict_at`.

    References
    ----------
    .. [1] Hoiem, D., Gupta, T., Li, Z. & Shlapentokh-Rothman, M. (2021). Learning curves for analysis of deep networks.
       Proc. 38th Int. Conf. on Machine Learning, PMLR 139, 4287-4296.

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> errors = xr.DataArray(
    ...     [40.5, 32.9, 27.9, 24.6], {"training": [50, 100, 200, 400]}, ["training"], attrs={"units": "%"}
    ... )
    >>> fit = xcurves.fit_power_law(errors, sigma_hat_sq=20)
    >>> more = xcurves.predict(fit, [800, 1600, 3200])
    >>> more.prediction.round(1).values.tolist()
    [22.3, 20.8, 19.7]
    >>> more.change.round(1).values.tolist()
    [-2.3, -3.8, -4.8]
    >>> more.extrapolated.values.tolist()
    [0, 0, 1]
    """
    FIT_POWER_LAW.check(fit, "fit")
    check_fit(fit)
    validation.check_choice("method", method, ("power-law", "linear"))
    dims = FIT_POWER_LAW.task_dims(fit)
    sizes = check_sizes_of(fit, dims, n) if isinstance(n, xr.DataArray) else check_n("n", n)
    by_curve = isinstance(sizes, xr.DataArray)
    given = [spread(sizes, {dim: fit.sizes[dim] for dim in dims})] if isinstance(sizes, xr.DataArray) else []
    fixed = None if isinstance(sizes, xr.DataArray) else sizes
    layout = PREDICT.layout({"n": 1 if fixed is None else len(fixed), "ci_bound": 2})
    block = PredictBlock(
        layout, model_of(fit), fixed, method, provenance.alpha_of(fit), variances_known(fit), cap_of(fit)
    )
    packed = apply_block(block, [*curves_of(fit), *given], CURVE_DIMS + [[]] * by_curve, block.layout.length)
    about = {"long_name": "training size", **size_units(fit)}
    coords = {**task_coords(fit), "n": sizes.variable if isinstance(sizes, xr.DataArray) else ("n", sizes)}
    attrs = PREDICT.attrs(
        fit,
        0,
        1 - block.alpha,
        method=method,
        units=unit_of(fit),
        asymptote=asymptote_of(fit),
    )
    units = rate_units(fit["error_at_n"].attrs.get("units", "1"), fit)
    variables = block.layout.unpack(packed)
    if by_curve:
        variables = {name: variable.isel(n=0) for name, variable in variables.items()}
    result = PREDICT.dataset(variables, coords, attrs, fit["error_at_n"], units)
    result["n"].attrs = about
    return result


def check_sizes_of(fit: xr.Dataset, dims: Sequence[Hashable], n: xr.DataArray) -> xr.DataArray:
    """Return a size for each curve, on some of the dims of tasks."""
    if n.dtype.kind not in "iuf" or not set(n.dims) <= set(dims):
        raise ValueError(f"n must be sizes on further dims of the fit, {tuple(dims)}; got dims {n.dims}. Select one")
    like(fit["error_at_n"], n, "n")
    values = n.to_numpy()
    check_n("n", np.unique(values[~np.isnan(values)]))  # NaN: a curve without errors
    return bare(n.astype(np.float64))
