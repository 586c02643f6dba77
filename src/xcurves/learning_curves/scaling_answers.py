"""What scaling laws answer, with intervals: in a fit itself, and of a fit that was made before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.driver import Group, per_task
from xcurves.core.run_checks import Context
from xcurves.core.schema import ResultKind
from xcurves.kernels import scaling_intervals
from xcurves.kernels.moments import Floats
from xcurves.kernels.powerlaw import around
from xcurves.kernels.scaling_intervals import Known
from xcurves.learning_curves.scaling_points import FLOPS, PARAMS, SIZES

FLAGS = ("at_bound", "unfit", "loss", "fitted", "backtest_prediction", "extrapolated", "ratio_extrapolated")
_READ = ("at_bound", "backtest_error", "exponent_backtest_error", "n_opt_backtest_error", "n_runs")


def widths(center: Floats, half: Floats) -> Floats:
    """Return intervals on a new last axis, of half widths in logarithms."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(center[..., np.newaxis] * np.exp(half[..., np.newaxis] * np.array([-1.0, 1.0])))


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
        "prediction_ci": widths(found["prediction"], found["half"]),
        "prediction_ci_given_law": widths(found["prediction"], found["half_law"]),
        "extrapolated": found["extrapolated"],
    }


def allocations(known: Known, alpha: float, products: Floats) -> dict[str, Floats]:
    """Return how products N D are best divided, shape (law, flop), and the exponent of that, shape (law,)."""
    found = scaling_intervals.optimum(known, np.ones(len(known.rho)), alpha)
    return {
        "allocation_exponent": found["exponent"],
        "allocation_exponent_ci": np.clip(around(found["exponent"], found["half_exponent"]), 0.0, 1.0),
        **at_each(_allocation, known, alpha, products),
    }


def _allocation(known: Known, product: Floats, alpha: float) -> dict[str, Floats]:
    found = scaling_intervals.optimum(known, product, alpha)
    ratio = found["d"] / found["n"]
    return {
        "n_opt": found["n"],
        "n_opt_ci": widths(found["n"], found["half_n"]),
        "d_opt": found["d"],
        "d_opt_ci": widths(found["d"], found["half_n"]),
        "tokens_per_parameter": ratio,
        "tokens_per_parameter_ci": widths(ratio, 2 * found["half_n"]),
        "loss_at_optimum": found["loss"],
        "loss_at_optimum_ci": widths(found["loss"], found["half_loss"]),
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
    level, cost = 1 - provenance.alpha_of(fit), cost_of(fit)
    context = Context.of(arrays[0], confidence_level=level, core=["param"])
    budgets = {} if compute is None else {"products": compute / cost}
    result = per_task(
        kind,
        _answered,
        *arrays,
        context=context,
        core=["param"],
        sizes={"ci_bound": 2, "flop": 0 if compute is None else len(compute)},
        when=when,
        options={"kernel": kernel, "alpha": context.alpha, **budgets, **options},
        attrs={**(attrs or {}), "flops_per_token_and_parameter": cost},
        coords=flop_coords(compute),
    )
    return result.set_coords([name for name in FLAGS if name in result])


def _answered(group: Group, kernel: Callable[..., dict[str, Floats]], **options: Any) -> dict[str, Floats]:
    data, laws = list(group.data), []
    while data and data[0].ndim == 2:
        laws.append(known_of(*data[:N_ARRAYS]))
        del data[:N_ARRAYS]
    return kernel(*laws, *data, **options)


def flop_coords(compute: Floats | None) -> dict[Hashable, Any]:
    """Return the coordinate of amounts of compute, if there are any."""
    asked = compute is not None and len(compute) > 0
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


N_ARRAYS = 8  # that `laws_of` returns


def known_of(
    estimate: Floats,
    covariance: Floats,
    at_bound: Floats,
    rho: Floats,
    nu_exponent: Floats,
    nu_n: Floats,
    n_runs: Floats,
    extent: Floats,
) -> Known:
    """Return laws from what `laws_of` gave, laws on the first axis."""
    degrees = n_runs - (~(at_bound > 0) & ~np.isnan(estimate)).sum(axis=1)
    return Known(estimate, covariance, degrees, rho, nu_exponent, nu_n, extent)


def cost_of(fit: xr.Dataset) -> float:
    """Return FLOP for each parameter and token, as the fit was given them."""
    return float(fit.attrs.get("flops_per_token_and_parameter", FLOPS))
