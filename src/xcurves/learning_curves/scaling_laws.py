"""Scaling laws: their runs, checked, as points along one dim, and what the laws answer, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance, validation
from xcurves.core.driver import Group, per_task
from xcurves.core.run_checks import Context
from xcurves.core.schema import ResultKind
from xcurves.kernels import scaling_intervals
from xcurves.kernels.moments import Floats
from xcurves.kernels.powerlaw import around, around_in_logs
from xcurves.kernels.scaling_intervals import DISTINCT, Known
from xcurves.kernels.scaling_law import Runs
from xcurves.learning_curves import error_rates
from xcurves.learning_curves.error_rates import array_of, bare, check_n, check_positive, on_dims

PARAMS = ("E", "A", "B", "alpha", "beta")
FLOPS, COST = 6.0, "flops_per_token_and_parameter"
_LARGEST = 1e50  # size or amount of tokens: A N^-alpha and compute stay finite
_LARGEST_LOSS = 1e30  # whose sixth power stays finite
_FEWEST = 10  # runs
_TOGETHER = 0.99  # correlation of ln N and ln D
_ALIKE = 1e-12
FITTED, NO_LOSSES, FEW_RUNS, FEW_SIZES, TOGETHER, EQUAL, NOT_POSITIVE = range(7)
LAW_REASONS = {
    NO_LOSSES: "no losses",
    FEW_RUNS: f"fewer than {_FEWEST} runs",
    FEW_SIZES: f"fewer than {DISTINCT} model sizes or amounts of tokens",
    TOGETHER: "model size and tokens move together; fit_power_law on compute",
    EQUAL: "losses do not vary",
    NOT_POSITIVE: "a loss is not positive",
}
SIZES = {"model_size": "parameters of the model", "tokens": "tokens"}  # coordinates and their long names
WHAT = "_what"  # losses, model sizes and tokens; no dim of a task has this name


def check_losses(losses: xr.DataArray) -> xr.DataArray:
    """Return losses with their points along the dim run, the last, and the coordinates model_size and tokens on it."""
    validation.check_array("losses", losses)
    if not losses.size:
        raise ValueError(f"losses is empty: got sizes {dict(losses.sizes)}. Check the selection that made it")
    for name in SIZES:
        if name not in losses.coords:
            other = next((dim for dim in ("training", "n", "size") if dim in losses.dims), "...")
            raise ValueError(f"losses has no coordinate {name!r}. Name it: losses.rename({other}={name!r})")
        validation.check_array(name, losses[name])
    unit = error_rates.check_unit(losses, None, "losses")
    words = [str(losses.name or ""), *(str(losses.attrs.get(key, "")) for key in ("long_name", "standard_name"))]
    rate = unit.stated and unit.name != "loss"
    called = [str(losses.attrs.get("units"))] * rate + [each for each in words if error_rates.says_accuracy(each)]
    if called:
        raise ValueError(f"losses must be losses, not rates; got {called[0]!r}. Give the loss that training lowers")
    points = [dim for dim in losses.dims if dim == "run" or any(dim in losses[name].dims for name in SIZES)]
    if not points:
        raise ValueError("model_size and tokens have no dim; a law needs runs of several sizes. Put them along run")
    lengths = {dim: losses.sizes[dim] for dim in points}
    sizes = {name: on_dims(bare(losses[name]), lengths).transpose(*points).data.reshape(-1) for name in SIZES}
    flat = losses.transpose(..., *points)
    lead = flat.dims[: -len(points)]
    coords = {name: each for name, each in losses.coords.items() if set(each.dims) <= set(lead)}
    named = points == ["run"] and "run" in losses.coords
    coords["run"] = losses["run"].variable if named else ("run", np.arange(sizes["tokens"].size))
    coords |= {name: ("run", data.astype(np.float64), {"long_name": SIZES[name]}) for name, data in sizes.items()}
    data = flat.data.reshape(*flat.shape[: len(lead)], -1).astype(np.float64)
    return xr.DataArray(data, coords, (*lead, "run"), losses.name, losses.attrs)


def with_sizes(losses: xr.DataArray) -> xr.DataArray:
    """Return losses with model sizes and tokens of their runs, dims (..., _WHAT, run), lazy if they are."""
    lead = {dim: losses.sizes[dim] for dim in losses.dims}
    every = [xr.DataArray(losses.variable), *(on_dims(bare(losses[name]), lead) for name in SIZES)]
    stacked = xr.concat(every, WHAT).variable.transpose(*losses.dims[:-1], WHAT, "run")
    coords = {name: each for name, each in losses.coords.items() if name not in SIZES}
    return xr.DataArray(stacked, coords, name=losses.name, attrs=losses.attrs)


def runs_of(stacked: Floats, names: Sequence[str]) -> tuple[Runs, Floats]:
    """Return the runs and losses, shape (law, run), that `with_sizes` put together, shape (law, 3, run)."""
    losses, known = stacked[:, 0], np.isfinite(stacked[0, 1:]) & (stacked[0, 1:] > 0)
    for law in np.flatnonzero(np.isinf(losses).any(axis=1))[:1]:
        raise ValueError(f"{names[law]}losses has infinite values. Mask them: losses.where(np.isfinite(losses))")
    _check_range("losses", losses[losses > 0], _LARGEST_LOSS)
    for name, theirs, given in zip(SIZES, known, stacked[0, 1:], strict=True):
        for law, run in np.argwhere(~np.isnan(losses) & ~theirs)[:1]:
            cure = "Leave it out: losses.isel(run=...)"
            raise ValueError(f"{names[law]}{name} must be positive and finite; got {given[run]:g}. {cure}")
        check_amounts(name, given[theirs & ~np.isnan(losses).all(axis=0)])
    every = known.all(axis=0)
    typical = [np.exp(np.log(each[every]).mean()) if every.any() else 1.0 for each in stacked[0, 1:]]
    n, d = (np.where(every, each, middle) for each, middle in zip(stacked[0, 1:], typical, strict=True))
    return Runs(n, d), losses


def unfit_laws(runs: Runs, losses: Floats) -> NDArray[np.int8]:
    """Return why laws cannot be fitted, losses of shape (law, run): 0 for those that can, else of `LAW_REASONS`."""
    found = np.zeros(len(losses), np.int8)
    patterns, which = np.unique(~np.isnan(losses), axis=0, return_inverse=True)
    for i, present in enumerate(patterns):
        sizes = runs.n[present], runs.d[present]
        logs, n_runs = np.log(sizes), present.sum()
        if n_runs < _FEWEST:
            found[which.ravel() == i] = FEW_RUNS if n_runs else NO_LOSSES
        elif min(len(np.unique(each)) for each in sizes) < DISTINCT:
            found[which.ravel() == i] = FEW_SIZES
        elif abs(np.corrcoef(*logs)[0, 1]) > _TOGETHER or np.ptp(logs, axis=1).min() == 0:
            found[which.ravel() == i] = TOGETHER
    least, most = np.fmin.reduce(losses, axis=1), np.fmax.reduce(losses, axis=1)
    with np.errstate(invalid="ignore"):
        found[(found == FITTED) & (most - least <= _ALIKE * np.abs(most))] = EQUAL
        found[(found != NO_LOSSES) & (least <= 0)] = NOT_POSITIVE
    return found


def check_flop(name: str, compute: object) -> Floats:
    """Return amounts of compute, shape (flop,)."""
    values = check_n(name, compute, "an amount of compute", "amounts", "1e21")
    _check_range(name, values, _LARGEST**2)
    return values


def check_amounts(name: str, given: NDArray[Any]) -> Floats:
    """Return sizes or amounts of tokens as floats, from which a law follows without overflow."""
    values = check_positive(name, given, "A law has no value there")
    _check_range(name, values, _LARGEST)
    return values


def _check_range(name: str, values: Floats, largest: float) -> None:
    """Refuse positive numbers that are out of all proportion."""
    far = values[(values > largest) | (values < 1 / largest)]
    if far.size:
        raise ValueError(f"{name} must lie between {1 / largest:g} and {largest:g}; got {far[0]:g}. Check its unit")


def check_pairs(name: str, pairs: object) -> Floats:
    """Return pairs of model size and tokens, shape (n, 2)."""
    values = np.atleast_2d(array_of(pairs))
    if values.dtype.kind not in "iuf" or values.ndim != 2 or values.shape[1] != 2:
        raise TypeError(f"{name} must be (model_size, tokens), or a list of such pairs; got {labels.shown(pairs)}")
    return check_amounts(name, values)


def check_cost(flops: float) -> float:
    """Return FLOP for each parameter and token."""
    if isinstance(flops, bool) or not isinstance(flops, int | float | np.number) or not 0 < flops < np.inf:
        raise ValueError(f"{COST} must be a positive number; got {labels.shown(flops)}. Usual: {FLOPS:g}")
    return float(check_amounts(COST, np.array([flops]))[0])


FLAGS = ("at_bound", "unfit", "loss", "fitted", "backtest_prediction", "extrapolated", "ratio_extrapolated")
_N_ARRAYS = 8  # that `laws_of` returns
_READ = ("at_bound", "backtest_error", "exponent_backtest_error", "n_opt_backtest_error", "n_runs")


def at_each(answer: Callable[..., dict[str, Floats]], known: Known, alpha: float, *values: Floats) -> dict[str, Floats]:
    """Return what is answered of all laws at each of some values, on the second axis."""
    laws = np.ones(len(known.rho))
    found = [answer(known, *(each * laws for each in one), alpha) for one in zip(*values, strict=True)]
    return {name: np.stack([each[name] for each in found], axis=1) for name in found[0]} if found else {}


def prediction(known: Known, n: Floats, d: Floats, alpha: float) -> dict[str, Floats]:
    """Return losses at a size and tokens of each law, with intervals."""
    found = scaling_intervals.loss(known, n, d, alpha)
    return {
        "prediction": found["prediction"],
        "prediction_ci": around_in_logs(found["prediction"], found["half"]),
        "prediction_ci_given_law": around_in_logs(found["prediction"], found["half_law"]),
        "extrapolated": found["extrapolated"],
    }


def allocations(known: Known, alpha: float, products: Floats) -> dict[str, Floats]:
    """Return how products N D are best divided, shape (law, flop), and the exponent of that, shape (law,)."""
    found = scaling_intervals.optimum(known, np.ones(len(known.rho)), alpha)
    return {
        "allocation_exponent": found["exponent"],
        "allocation_exponent_ci": np.clip(around(found["exponent"], found["half_exponent"]), 0.0, 1.0),
        **at_each(_allocation_at, known, alpha, products),
    }


def _allocation_at(known: Known, product: Floats, alpha: float) -> dict[str, Floats]:
    found = scaling_intervals.optimum(known, product, alpha)
    ratio = found["d"] / found["n"]
    return {
        "n_opt": found["n"],
        "n_opt_ci": around_in_logs(found["n"], found["half_n"]),
        "d_opt": found["d"],
        "d_opt_ci": around_in_logs(found["d"], found["half_n"]),
        "tokens_per_parameter": ratio,
        "tokens_per_parameter_ci": around_in_logs(ratio, 2 * found["half_n"]),
        "loss_at_optimum": found["loss"],
        "loss_at_optimum_ci": around_in_logs(found["loss"], found["half_loss"]),
        "ratio_extrapolated": found["ratio_extrapolated"],
    }


def of_laws(
    kind: ResultKind,
    kernel: Callable[..., dict[str, Floats]],
    fit: xr.Dataset,
    *arrays: xr.DataArray,
    compute: Floats | None = None,
    when: Sequence[str] = (),
    attrs: Mapping[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Return what a kernel makes of each law; `arrays` are those of `laws_of`, maybe of several laws, and others.

    It gets laws and others, the confidence level as alpha, the products N D that `compute` pays for, if there is any,
    and the options.
    """
    context = Context.of(arrays[0], confidence_level=1 - provenance.alpha_of(fit), core=["param"])
    budgets = {} if compute is None else {"products": compute / fit.attrs[COST]}
    result = per_task(
        kind,
        _answered,
        *arrays,
        context=context,
        core=["param"],
        sizes={"ci_bound": 2, "flop": 0 if compute is None else len(compute)},
        when=when,
        options={"kernel": kernel, "alpha": context.alpha, **budgets, **options},
        attrs={**(attrs or {}), COST: fit.attrs[COST]},
        coords=flop_coords(compute),
    )
    return result.set_coords([name for name in FLAGS if name in result])


def _answered(group: Group, kernel: Callable[..., dict[str, Floats]], **options: Any) -> dict[str, Floats]:
    data, laws = list(group.data), []
    while data and data[0].ndim == 2:
        laws.append(known_of(*data[:_N_ARRAYS]))
        del data[:_N_ARRAYS]
    return kernel(*laws, *data, **options)


def flop_coords(compute: Floats | None) -> dict[Hashable, Any]:
    """Return the coordinate of amounts of compute, if there are any."""
    asked = compute is not None and compute.size
    return {"flop": ("flop", compute, {"long_name": "compute", "units": "FLOP"})} if asked else {}


def laws_of(fit: xr.Dataset) -> list[xr.DataArray]:
    """Return what `known_of` reads from a fit, dims (..., param) first."""
    missing = [name for name in ("estimate", "covariance", *_READ, "loss", *SIZES) if name not in fit]
    lost = [dim for dim in ("run", "param", "cov_param") if dim not in fit.dims]
    if missing or lost or fit.sizes["param"] < len(PARAMS):
        what = (missing or lost or ["param"])[0]
        raise ValueError(f"fit has not all of {what!r}, which a selection left out. Select laws only, before this call")
    n, d = (fit[name].where(fit["loss"].notnull()) for name in SIZES)
    ends = [getattr(each, end)("run") for each in (n, d, d / n) for end in ("min", "max")]
    extent = xr.concat([*ends, (n * d).max("run")], "_extent", coords="minimal", compat="override")
    estimate = fit["estimate"].transpose(..., "param")
    about = {"history": fit.attrs.get("history"), "units": fit["loss"].attrs.get("units")}
    estimate.attrs = {name: each for name, each in about.items() if each}
    return [estimate, fit["covariance"].transpose(..., "param", "cov_param"), *(fit[name] for name in _READ), extent]


def known_of(*arrays: Floats) -> Known:
    """Return laws from what `laws_of` gave, laws on the first axis."""
    estimate, covariance, at_bound, rho, nu_exponent, nu_n, n_runs, extent = arrays
    degrees = n_runs - (~(at_bound > 0) & ~np.isnan(estimate)).sum(axis=1)
    return Known(estimate, covariance, degrees, rho, nu_exponent, nu_n, extent)
