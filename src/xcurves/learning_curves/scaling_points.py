"""The runs of scaling laws: checked, as points along one dim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.kernels.moments import Floats
from xcurves.kernels.scaling_intervals import DISTINCT
from xcurves.kernels.scaling_law import Runs
from xcurves.learning_curves import error_rates
from xcurves.learning_curves.options import array_of, bare, check_n, check_positive, spread

PARAMS = ("E", "A", "B", "alpha", "beta")
FLOPS = 6.0  # for each parameter and token
_LARGEST = 1e50  # size or amount of tokens: A N^-alpha and compute stay finite
_LARGEST_LOSS = 1e30  # whose sixth power stays finite
_FEWEST = 10  # runs
_TOGETHER = 0.99  # correlation of ln N and ln D
_ALIKE = 1e-12
FITTED, NO_LOSSES, FEW_RUNS, FEW_SIZES, TOGETHER, EQUAL, NOT_POSITIVE = range(7)
REASONS = {
    NO_LOSSES: "no losses",
    FEW_RUNS: f"fewer than {_FEWEST} runs",
    FEW_SIZES: f"fewer than {DISTINCT} model sizes or amounts of tokens",
    TOGETHER: "model size and tokens move together; fit_power_law on compute",
    EQUAL: "losses do not vary",
    NOT_POSITIVE: "a loss is not positive",
}
SIZES = ("model_size", "tokens")
LONG_NAMES = {"model_size": "parameters of the model", "tokens": "tokens"}
WHAT = "_what"  # losses, model sizes and tokens; no dim of a task has this name


def check_losses(losses: xr.DataArray) -> xr.DataArray:
    """Return losses with their points along the dim run, the last, and the coordinates model_size and tokens on it."""
    if not isinstance(losses, xr.DataArray):
        raise TypeError(
            f"losses must be a DataArray; got {type(losses).__name__}. Label it: frame.curves.to_dataarray()"
        )
    if not losses.size:
        raise ValueError(f"losses is empty: got sizes {dict(losses.sizes)}. Check the selection that made it")
    for name in SIZES:
        if name not in losses.coords:
            other = next((dim for dim in ("training", "n", "size") if dim in losses.dims), "...")
            raise ValueError(f"losses has no coordinate {name!r}. Name it: losses.rename({other}={name!r})")
    for name, array in (("losses", losses), *((name, losses[name]) for name in SIZES)):
        if array.dtype.kind not in "iuf":
            raise TypeError(f"{name} must be numbers; got {array.dtype}. Convert it: {name}.astype(float)")
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
    sizes = {name: spread(bare(losses[name]), lengths).transpose(*points).data.reshape(-1) for name in SIZES}
    flat = losses.transpose(..., *points)
    lead = flat.dims[: -len(points)]
    coords = {name: each for name, each in losses.coords.items() if set(each.dims) <= set(lead)}
    coords["run"] = (
        losses["run"].variable
        if points == ["run"] and "run" in losses.coords
        else ("run", np.arange(flat[(0,) * len(lead)].size))
    )
    coords |= {name: ("run", data.astype(np.float64), {"long_name": LONG_NAMES[name]}) for name, data in sizes.items()}
    data = flat.data.reshape(*flat.shape[: len(lead)], -1).astype(np.float64)
    return xr.DataArray(data, coords, (*lead, "run"), losses.name, losses.attrs)


def with_sizes(losses: xr.DataArray) -> xr.DataArray:
    """Return losses with model sizes and tokens of their runs, dims (..., _WHAT, run), lazy if they are."""
    lead = {dim: losses.sizes[dim] for dim in losses.dims}
    every = [xr.DataArray(losses.variable), *(spread(bare(losses[name]), lead) for name in SIZES)]
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
        check_sizes(name, given[theirs & ~np.isnan(losses).all(axis=0)])
    every = known.all(axis=0)
    typical = [np.exp(np.log(each[every]).mean()) if every.any() else 1.0 for each in stacked[0, 1:]]
    n, d = (np.where(every, each, middle) for each, middle in zip(stacked[0, 1:], typical, strict=True))
    return Runs(n, d), losses


def unfit(runs: Runs, losses: Floats) -> NDArray[np.int8]:
    """Return why laws cannot be fitted, losses of shape (law, run): 0 for those that can, else a key of `REASONS`."""
    found = np.zeros(len(losses), np.int8)
    patterns, which = np.unique(~np.isnan(losses), axis=0, return_inverse=True)
    for i, present in enumerate(patterns):
        n, d = runs.n[present], runs.d[present]
        logs = np.log(n), np.log(d)
        reason = FITTED
        if len(n) < _FEWEST:
            reason = FEW_RUNS if len(n) else NO_LOSSES
        elif min(len(np.unique(n)), len(np.unique(d))) < DISTINCT:
            reason = FEW_SIZES
        elif abs(np.corrcoef(*logs)[0, 1]) > _TOGETHER or min(np.ptp(each) for each in logs) == 0:
            reason = TOGETHER
        found[which.ravel() == i] = reason
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


def check_sizes(name: str, given: NDArray[Any]) -> Floats:
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
    return check_sizes(name, values)


def check_cost(flops: float) -> float:
    """Return FLOP for each parameter and token."""
    name = "flops_per_token_and_parameter"
    if isinstance(flops, bool) or not isinstance(flops, int | float | np.number) or not 0 < flops < np.inf:
        raise ValueError(f"{name} must be a positive number; got {labels.shown(flops)}. Usual: {FLOPS:g}")
    return float(check_sizes(name, np.array([flops]))[0])
