"""What a scaling law predicts for other model sizes and amounts of tokens."""

from __future__ import annotations

import xarray as xr

from xcurves.core import labels
from xcurves.kernels.moments import Floats
from xcurves.learning_curves.error_rates import array_of
from xcurves.learning_curves.kinds import FIT_SCALING_LAW, PREDICT_LOSS
from xcurves.learning_curves.scaling_laws import SIZES, check_amounts, laws_of, of_laws, prediction

Size = float | list[float] | Floats | xr.DataArray


def predict_loss(fit: xr.Dataset, *, model_size: Size, tokens: Size) -> xr.Dataset:
    r"""Predict the loss of a run at other model sizes and amounts of tokens.

    Parameters
    ----------
    fit : Dataset
        What `fit_scaling_law` returned.
    model_size, tokens : float, sequence or DataArray
        Parameters N and tokens D, a grid of two sequences; DataArrays broadcast against each other and against the
        further dims of `fit`.

    Returns
    -------
    Dataset
        With the further dims of `fit` and those of the sizes: `prediction`, `prediction_ci` (ci_bound), of a run, not
        of the mean of many, widened by the backtest as in `fit_scaling_law`, and `prediction_ci_given_law` (ci_bound);
        `extrapolated`, 1 beyond the largest size, tokens or product of both by more than an octave, or below half the
        smallest. The coordinates `model_size` and `tokens`.

    Raises
    ------
    ValueError, TypeError
        If `fit` is no such result, or sizes are not positive numbers.

    References
    ----------
    .. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. doi:10.48550/arXiv.2203.15556

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> size, tokens = np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 6))
    >>> loss = 1.8 + 400 * size.ravel() ** -0.34 + 2000 * tokens.ravel() ** -0.37
    >>> runs = {"model_size": ("run", size.ravel()), "tokens": ("run", tokens.ravel())}
    >>> fit = xcurves.fit_scaling_law(xr.DataArray(loss, runs, ["run"]))
    >>> xcurves.predict_loss(fit, model_size=7e9, tokens=[1.4e11, 1e12]).prediction.round(2).values.tolist()
    [2.13, 2.05]
    """
    FIT_SCALING_LAW.check(fit, "fit")
    estimate, *others = laws_of(fit)
    sizes = [_check(name, each, estimate) for name, each in (("model_size", model_size), ("tokens", tokens))]
    both = xr.broadcast(*sizes)
    estimate = estimate.broadcast_like(both[0], exclude=["param"]).transpose(..., "param")
    result = of_laws(PREDICT_LOSS, prediction, fit, estimate, *others, *both)
    for (name, words), each in zip(SIZES.items(), sizes, strict=True):
        result = result.assign_coords({name: each.variable})
        result[name].attrs = {"long_name": words}
    return result


def _check(name: str, given: object, estimate: xr.DataArray) -> xr.DataArray:
    """Return sizes or tokens, labelled: a sequence along a dim of its own name."""
    if isinstance(given, xr.DataArray):
        array = given.drop_vars([coord for coord in given.coords if coord not in given.dims])
    else:
        values = array_of(given)
        if values.ndim > 1:
            raise ValueError(f"{name} must be a number or a sequence; got shape {values.shape}. Give a DataArray")
        array = xr.DataArray(values, {name: values} if values.ndim else None, [name] if values.ndim else None)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers; got {labels.shown(given)}. For example {name}=7e9")
    if not array.size:
        raise ValueError(f"{name} must be one number at least; got {labels.shown(given)}. For example {name}=7e9")
    if array.chunks is None:
        check_amounts(name, array.to_numpy())
    for dim in set(array.dims) & set(estimate.dims):
        if dim in array.indexes and dim in estimate.indexes and not array.indexes[dim].equals(estimate.indexes[dim]):
            raise ValueError(f"{name} must have the labels of the fit; its {dim!r} differs. Select the same ones")
    return array.astype(float)
