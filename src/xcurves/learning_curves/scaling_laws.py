"""Scaling laws: their runs, checked, as points along one dim, why laws are not fitted, and how they are read again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import provenance, validation
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Cure, Refusal, Words, WrongType
from xcurves.core.run_checks import Context
from xcurves.core.schema import ResultKind
from xcurves.kernels.laws.scaling_intervals import Known, extent_of, loss
from xcurves.kernels.laws.scaling_law import Runs
from xcurves.learning_curves import error_rates
from xcurves.learning_curves.error_rates import array_of, bare, check_positive, on_dims
from xcurves.learning_curves.fitted_curves import variables_of_fit
from xcurves.learning_curves.unfit_laws import (
    DISTINCT,
    EQUAL,
    FEW_RUNS,
    FEW_SIZES,
    FEWEST,
    FITTED,
    NO_LOSSES,
    NOT_POSITIVE,
    TOGETHER,
)

PARAMS = ("E", "A", "B", "alpha", "beta")
COST = "flops_per_token_and_parameter"
_LARGEST_LOSS = 1e30  # whose sixth power stays finite
_CORRELATED = 0.99  # correlation of ln N and ln D
_ALIKE = 1e-12
# coordinates and their long names
SIZES = {"model_size": "parameters of the model", "tokens": "tokens"}
_READ = {  # what later methods read from a fit: core dims of variables
    "estimate": ("param",),
    "covariance": ("param", "cov_param"),
    "at_bound": ("param",),
    "backtest_error": (),
    "exponent_backtest_error": (),
    "n_opt_backtest_error": (),
    "loss": ("run",),
    "model_size": ("run",),
    "tokens": ("run",),
}


def check_losses(losses: xr.DataArray) -> xr.DataArray:
    """Return losses with their points along the dim run, the last, and the coordinates model_size and tokens on it."""
    validation.check_array("losses", losses)
    if not losses.size:
        raise Refusal(
            "losses",
            UNSAID,
            f"is empty: got sizes {dict(losses.sizes)}",
            "Check the selection that made it",
        )
    for name in SIZES:
        if name not in losses.coords:
            other = next((dim for dim in ("training", "n", "size") if dim in losses.dims), "...")
            raise Refusal(
                "losses",
                UNSAID,
                f"has no coordinate {name!r}",
                f"Name it: losses.rename({other}={name!r})",
            )
        validation.check_array(name, losses[name])
    unit = error_rates.check_unit(losses, None, "losses")
    called = error_rates.accuracies(losses)
    if unit.stated and unit.name != "loss":
        called = [unit.written, *called]
    if called:
        raise Refusal(
            "losses",
            called[0],
            "must be losses, not rates",
            "Give the loss that training lowers",
        )
    points = [dim for dim in losses.dims if dim == "run" or any(dim in losses[name].dims for name in SIZES)]
    if not points:
        raise Refusal(
            "curves",
            UNSAID,
            "model_size and tokens have no dim; a law needs runs of several sizes",
            "Put them along run",
        )
    lengths = {dim: losses.sizes[dim] for dim in points}
    sizes = {name: on_dims(bare(losses[name]), lengths).transpose(*points).data.reshape(-1) for name in SIZES}
    flat = losses.transpose(..., *points)
    lead = flat.dims[: -len(points)]
    coords = {name: each for name, each in losses.coords.items() if set(each.dims) <= set(lead)}
    if points == ["run"] and "run" in losses.coords:
        coords["run"] = losses["run"].variable
    else:
        coords["run"] = ("run", np.arange(sizes["tokens"].size))
    coords |= {name: ("run", data.astype(np.float64), {"long_name": SIZES[name]}) for name, data in sizes.items()}
    data = flat.data.reshape(*flat.shape[: len(lead)], -1).astype(np.float64)
    return xr.DataArray(data, coords, (*lead, "run"), losses.name, losses.attrs)


def runs_of(losses: Floats, *sizes: Floats, names: Sequence[str]) -> Runs:
    """Return the runs of losses, checked, of shape (law, run) as are model sizes and tokens, the same for all laws."""
    infinite = np.isinf(losses).any(axis=1)
    if infinite.any():
        raise Refusal(
            "curves",
            UNSAID,
            f"{names[int(infinite.argmax())]}losses has infinite values, which no law has",
            Cure(
                "For the law of runs that did not fail ",
                Words("leave these out: losses.where(np.isfinite(losses))", "delete the rows of those that did"),
            ),
        )
    check_positive("losses", losses[losses > 0], "Check their unit", _LARGEST_LOSS)
    has = ~np.isnan(losses).all(axis=0)
    found = []
    for name, (given, *_) in zip(SIZES, sizes, strict=True):
        check_positive(
            name,
            given[has],
            "Check its unit, or leave the run out: losses.isel(run=...)",
        )
        found.append(np.where(has, given, np.exp(np.log(given[has]).sum() / max(has.sum(), 1))))
    return Runs(*found)


def unfit_laws(runs: Runs, losses: Floats) -> NDArray[np.int8]:
    """Return why laws cannot be fitted, losses of shape (law, run): 0 for those that can, else of `LAW_REASONS`."""
    found = np.zeros(len(losses), np.int8)
    patterns, which = np.unique(~np.isnan(losses), axis=0, return_inverse=True)
    for i, present in enumerate(patterns):
        sizes = runs.n[present], runs.d[present]
        logs, n_runs = np.log(sizes), present.sum()
        if n_runs < FEWEST:
            found[which.ravel() == i] = FEW_RUNS if n_runs else NO_LOSSES
        elif min(len(np.unique(each)) for each in sizes) < DISTINCT:
            found[which.ravel() == i] = FEW_SIZES
        elif abs(np.corrcoef(*logs)[0, 1]) > _CORRELATED or np.ptp(logs, axis=1).min() == 0:
            found[which.ravel() == i] = TOGETHER
    least, most = np.fmin.reduce(losses, axis=1), np.fmax.reduce(losses, axis=1)
    with np.errstate(invalid="ignore"):
        found[(found == FITTED) & (most - least <= _ALIKE * np.abs(most))] = EQUAL
        found[(found != NO_LOSSES) & (least <= 0)] = NOT_POSITIVE
    return found


def check_pairs(name: str, pairs: object) -> Floats:
    """Return pairs of model size and tokens, shape (n, 2)."""
    values = np.atleast_2d(array_of(pairs))
    if values.dtype.kind not in "iuf" or values.ndim != 2 or values.shape[1] != 2:
        raise WrongType(name, pairs, "must be (model_size, tokens), or a list of such pairs")
    return check_positive(name, values, "Check its unit")


def of_laws(
    kind: ResultKind,
    kernel: Callable[..., dict[str, Floats]],
    fit: xr.Dataset,
    *arrays: xr.DataArray,
    compute: Floats | None = None,
    when: Sequence[str] = (),
    attrs: dict[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Return what a kernel makes of each law; `arrays` are those of `laws_of`, maybe of several laws, and others.

    It gets laws and others, the confidence level as alpha, the products N D that `compute` pays for, if there is any,
    and the options.
    """
    context = Context.of(arrays[0], confidence_level=1 - provenance.alpha_of(fit), core=["param"])
    n_budgets = 0
    if compute is not None:
        n_budgets = len(compute)
        options["product"] = compute / fit.attrs[COST]
    return per_task(
        kind,
        partial(_answered, kernel=kernel, alpha=context.alpha, **options),
        *arrays,
        context=context,
        core=["param"],
        sizes={"ci_bound": 2, "flop": n_budgets},
        when=when,
        attrs={**(attrs or {}), COST: fit.attrs[COST]},
        coords=flop_coords(compute),
    )


def _answered(group: Group, kernel: Callable[..., dict[str, Floats]], **options: Any) -> dict[str, Floats]:
    data, laws = list(group.data), []
    while data and data[0].ndim == 2:
        laws.append(known_of(*data[: len(_READ)]))
        del data[: len(_READ)]
    return kernel(*laws, *data, **options)


def predicted(known: Known, n: Floats, d: Floats, alpha: float) -> dict[str, Floats]:
    """Return losses at a size and tokens of each law, shape (law,), with intervals."""
    return {name: each[:, 0] for name, each in loss(known, n[:, np.newaxis], d[:, np.newaxis], alpha).items()}


def flop_coords(compute: Floats | None) -> dict[Hashable, Any]:
    """Return the coordinate of amounts of compute, if there are any."""
    if compute is None or not compute.size:
        return {}
    return {"flop": ("flop", compute, {"long_name": "compute", "units": "FLOP"})}


def laws_of(fit: xr.Dataset) -> list[xr.DataArray]:
    """Return what `known_of` reads from a fit, dims (..., param) first; predictions may be along a dim run."""
    return variables_of_fit(fit, _READ, like="loss", n_params=len(PARAMS))


def known_of(*arrays: Floats) -> Known:
    """Return laws from what `laws_of` gave, laws on the first axis."""
    estimate, covariance, at_bound, rho, nu_exponent, nu_n, losses, *sizes = arrays
    has = ~np.isnan(losses)
    degrees = has.sum(axis=1) - (~(at_bound > 0) & ~np.isnan(estimate)).sum(axis=1)
    extent = extent_of(*(np.where(has, each, np.nan) for each in sizes))
    return Known(estimate, covariance, degrees.astype(float), rho, nu_exponent, nu_n, extent)
