"""How well learning curves predict errors at sizes that they have not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.refusal import Refusal, WrongType
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.kernels.laws import powerlaw, wls
from xcurves.kernels.laws.learning import Model, Sizes
from xcurves.learning_curves import error_rates, kinds
from xcurves.learning_curves.curvefit import refuse_unfit, unfit
from xcurves.learning_curves.error_rates import check_model
from xcurves.learning_curves.fit_power_law import core_dims
from xcurves.learning_curves.unfit_curves import FITTED, RISING

Variants = Mapping[str, Mapping[str, Any]]

_FREE = {"asymptote": "free"}
PAPER: Variants = {
    "power law": _FREE,
    "power law, weights variance": {**_FREE, "weighting": "variance"},
    "power law, weights uniform": {**_FREE, "weighting": "uniform"},
    "gamma -0.5": {**_FREE, "gamma": -0.5},
    "gamma -0.5, quadratic": {**_FREE, "gamma": -0.5, "quadratic": True},
    "quadratic": {**_FREE, "quadratic": True},
}
_OPTIONS = {
    "gamma": "search",
    "quadratic": False,
    "asymptote": "nonnegative",
    "weighting": "variance-folds",
}


def leave_one_size_out(
    errors: xr.DataArray,
    *,
    variants: Variants | None = None,
    units: Literal["percent", "fraction", "loss"] | None = None,
    sigma0_sq: float = 0.02,
    sigma_hat_sq: float | None = None,
    prior_strength: float = 5.0,
) -> xr.Dataset:
    r"""Predict the mean error at each size from all other sizes, by several variants of the learning curve.

    Parameters
    ----------
    errors : DataArray, dims (..., training), with run and algorithm or without
        Test errors, as for `fit_power_law`. Curves of all algorithms are pooled; further dims broadcast.
    variants : mapping, optional
        Options of `fit_power_law` (gamma, quadratic, asymptote, weighting) by the names of the variants; what is not
        said is its default, weighting "variance-folds". The first is the one that others are tested against. By default
        the six of the paper's Figure 2, all with a free asymptote.
    units : {"percent", "fraction", "loss"}, optional
        As for `fit_power_law`.
    sigma0_sq : float, default 0.02
        As for `fit_power_law`, in percent squared.
    sigma_hat_sq : float, optional
        As for `fit_power_law`, in percent squared.
    prior_strength : float, default 5.0
        As for `fit_power_law`.

    Returns
    -------
    Dataset
        With the further dims of `errors` in front: `rmse` (variant, training), in the unit of `errors`, over
        algorithms; `r_squared` (variant), with all sizes fitted, mean over algorithms; `pvalue` (variant), NaN for
        the first; `n_curves`.

    Raises
    ------
    ValueError, TypeError
        As `fit_power_law`; if a curve has not one size more than a variant needs; if a variant has other options.

    Notes
    -----
    With :math:`\hat e_{a,-h}` the curve of algorithm a fitted without the size :math:`n_h`,

    .. math:: RMSE_h = \sqrt{\frac{1}{m} \sum_a \left( \bar e_{ah} - \hat e_{a,-h}(n_h) \right)^2}

    p is that of a two-sided paired t-test of absolute prediction errors, a pair for each curve and size. Errors of
    one curve are not independent: between variants that predict equally well it can be .05 or less in a third of
    data sets, see docs/calibration.md. Take it as a guide, as in the paper.

    References
    ----------
    .. [1] Hoiem, D., Gupta, T., Li, Z. & Shlapentokh-Rothman, M. (2021). Learning curves for analysis of deep networks.
       Proc. 38th Int. Conf. on Machine Learning, PMLR 139, 4287-4296. Section 4.1.

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> errors = xr.DataArray(
    ...     [50.8, 40.5, 32.9, 27.9, 24.6], {"training": [25, 50, 100, 200, 400]}, ["training"], attrs={"units": "%"}
    ... )
    >>> tried = xcurves.leave_one_size_out(errors, sigma_hat_sq=20)
    >>> tried.rmse.sel(variant=["power law", "gamma -0.5"], training=400).round(2).values.tolist()
    [0.42, 0.42]
    """
    core = core_dims(errors)
    errors = check_curves(errors, core=core, name="errors", reserved=kinds.LEAVE_ONE_SIZE_OUT.reserved())
    unit = error_rates.check_unit(errors, units)
    error_rates.refuse_accuracy(errors, unit)
    n = error_rates.check_sizes(errors)
    named = _check_variants(PAPER if variants is None else variants)
    numbers: dict[str, Any] = {
        "sigma0_sq": sigma0_sq,
        "sigma_hat_sq": sigma_hat_sq,
        "prior_strength": prior_strength,
    }
    models = {name: check_model(n, unit, **options, **numbers) for name, options in named.items()}
    named_algorithms = labels.words(errors["algorithm"]) if "algorithm" in errors.dims else []
    learners = [f"algorithm {word}" for word in named_algorithms] or [""]
    dims = ("_learner", "_fold", "training")
    absent = [dim for dim in ("algorithm", "run") if dim not in errors.dims]
    shaped = errors.expand_dims(absent).rename(algorithm="_learner", run="_fold").transpose(..., *dims)
    return per_task(
        kinds.LEAVE_ONE_SIZE_OUT,
        partial(_try_variants, models=models, unit=unit, learners=learners),
        shaped,
        context=Context.of(shaped, core=dims),
        core=dims,
        sizes={"variant": len(models)},
        attrs={"variants": str(named), "units": unit.name, **numbers},
        coords={"variant": list(models)},
        units={"rate": unit.written},
    )


def _check_variants(variants: Variants) -> dict[str, dict[str, Any]]:
    """Return all options of every variant."""
    good = isinstance(variants, Mapping) and all(isinstance(options, Mapping) for options in variants.values())
    if not good or not variants:
        example = "{'power law': {}}"
        raise WrongType(
            "variants",
            variants,
            "must be names with mappings of options",
            f"Try {example}",
        )
    for name, options in variants.items():
        for option in set(options) - set(_OPTIONS):
            known = f"Options are {', '.join(_OPTIONS)}{labels.did_you_mean(option, _OPTIONS)}"
            raise Refusal("variants", option, f"variants gives {name!r} the option {option!r}", known)
    return {str(name): {**_OPTIONS, **options} for name, options in variants.items()}


def _try_variants(
    group: Group,
    *,
    models: Mapping[str, Model],
    unit: error_rates.Unit,
    learners: Sequence[str],
) -> dict[str, Floats]:
    """Predict left-out sizes by several models, given errors, shape (task, learner, fold, size)."""
    errors = group.data[0].reshape(-1, *group.data[0].shape[-2:])
    parts = [(task.removesuffix(": "), learner) for task in group.names for learner in learners]
    names = [f"{', '.join(filter(None, each))}: ".removeprefix(": ") for each in parts]
    error_rates.check_values(errors, unit, names)
    sizes = Sizes(*wls.size_statistics(errors))
    has = np.asarray(sizes.folds.any(axis=1))
    kept, names = (
        sizes.take(np.flatnonzero(has)),
        [name for name, there in zip(names, has, strict=True) if there],
    )
    shape = (len(models), len(group.names), len(learners))
    residual = np.full((len(models), *sizes.means.shape), np.nan)
    explained = np.full((len(models), len(has)), np.nan)
    for i, (variant, model) in enumerate(models.items()):
        residual[i, has] = _left_out(variant, model, kept, names)
        at = np.full(len(names), model.n[-1])
        fitted = powerlaw.curve(model.fit(at, kept).theta, model.n, at)
        explained[i, has] = wls.r_squared(kept.folds, kept.means, fitted)
    by_task = np.abs(residual).reshape(*shape, -1).swapaxes(0, 1)
    return {
        "rmse": np.sqrt(_mean(by_task**2, axis=2)),
        "r_squared": _mean(explained.reshape(shape).swapaxes(0, 1), axis=2),
        "pvalue": _paired_t(by_task.reshape(len(group.names), len(models), -1)),
        "n_curves": has.reshape(shape[1:]).sum(axis=1),
    }


def _left_out(variant: str, model: Model, sizes: Sizes, names: Sequence[str]) -> Floats:
    """Return predicted less mean errors, shape (curve, size)."""
    residual = np.full(sizes.means.shape, np.nan)
    at = np.full(len(sizes.means), model.n[-1])
    rising = unfit(model, sizes, known=model.sigma_hat_sq is not None) == RISING
    refuse_unfit(np.where(rising, RISING, FITTED).astype(np.int8), names)
    for size, n in enumerate(model.n):
        without = sizes.where(model.n != n)
        reasons = unfit(model, without, known=model.sigma_hat_sq is not None)
        left = [f"{name}variant {variant!r} without size {n:g}: " for name in names]
        refuse_unfit(np.where(reasons == RISING, FITTED, reasons).astype(np.int8), left)
        theta = model.fit(at, without).theta
        residual[:, size] = powerlaw.curve(theta, model.n[size : size + 1], at)[:, 0] - sizes.means[:, size]
    return np.where(sizes.folds > 0, residual, np.nan)


def _mean(values: Floats, axis: int) -> Floats:
    """Return means of what is not NaN; NaN where nothing is."""
    has = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(has, values, 0.0).sum(axis=axis) / has.sum(axis=axis))


def _paired_t(values: Floats) -> Floats:
    """Return p of the paired t-test of each variant against the first, values of shape (task, variant, pair)."""
    differences = values - values[:, :1]
    counts = (~np.isnan(differences)).sum(axis=-1)
    mean = _mean(differences, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = _mean((differences - mean[..., np.newaxis]) ** 2, axis=-1) / (counts - 1)
        return np.asarray(2 * scipy.special.stdtr(counts - 1, -np.abs(mean) / np.sqrt(spread)))
