"""What a scaling law predicts for other model sizes and amounts of tokens."""

from __future__ import annotations

import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.refusal import WrongType
from xcurves.learning_curves import kinds
from xcurves.learning_curves.error_rates import (
    array_of,
    bare,
    check_labels,
    check_positive,
)
from xcurves.learning_curves.scaling_laws import (
    SIZES,
    laws_of,
    of_laws,
    predicted,
)

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
    kinds.FIT_SCALING_LAW.check(fit, "fit")
    estimate, *others = laws_of(fit)
    sizes = [_check(name, each, estimate) for name, each in (("model_size", model_size), ("tokens", tokens))]
    both = xr.broadcast(*sizes)
    estimate = estimate.broadcast_like(both[0], exclude=["param"]).transpose(..., "param")
    result = of_laws(kinds.PREDICT_LOSS, predicted, fit, estimate, *others, *both)
    for (name, words), each in zip(SIZES.items(), sizes, strict=True):
        result = result.assign_coords({name: each.variable})
        result[name].attrs = {"long_name": words}
    return result


def _check(name: str, given: object, estimate: xr.DataArray) -> xr.DataArray:
    """Return sizes or tokens, labelled: a sequence along a dim of its own name."""
    if isinstance(given, xr.DataArray):
        array = bare(given)
    else:
        values = array_of(given)
        if values.ndim > 1 or values.dtype.kind not in "iuf" or not values.size:
            raise WrongType(name, given, "must be a number or a sequence", f"For example {name}=7e9")
        array = xr.DataArray(values)
        if values.ndim == 1:
            array = xr.DataArray(values, {name: values}, [name])
    if array.chunks is None:
        check_positive(name, array.to_numpy(), "A law has no value there")
    check_labels(name, array, estimate, "the fit")
    return array.astype(float)
