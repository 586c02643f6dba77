"""The doors of errors: their unit, and what their values turn out to be where they are computed.

Messages name the task. A curve is fitted in percent whatever comes in, since the paper's constants are in percent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.core import validation
from xcurves.core.applicability import NotApplicableError, is_error
from xcurves.core.packing import Floats
from xcurves.kernels.learning import Model, Sizes

_UNITS = dict.fromkeys(("%", "percent", "pct", "percentage", "per cent"), "percent")
_UNITS |= dict.fromkeys(("1", "fraction", "proportion", "ratio"), "fraction")
_CLEAR_RISE = 5.0  # standard errors
_RELIABLE = 5  # degrees of freedom of a noise that is relied on


class Unit(NamedTuple):
    """The unit of errors: its name, how it is written in attrs, and whether someone said so."""

    name: str
    written: str
    stated: bool

    @property
    def percent(self) -> float:
        """What errors are multiplied with to be in percent."""
        return 100.0 if self.name == "fraction" else 1.0


def check_unit(errors: xr.DataArray, units: str | None, name: str = "errors") -> Unit:
    """Return the unit that an option or the attrs say, percent if neither does."""
    if units is not None:
        validation.check_choice("units", units, ("percent", "fraction"))
    written = errors.attrs.get("units") or None
    found = None if written is None else _UNITS.get(str(written).strip().lower())
    if units is None and written is not None and found is None:
        raise ValueError(f"{name} has units {written!r}; rates are in percent or fractions. Say which: units='percent'")
    if units is not None and found is not None and found != units:
        raise ValueError(f"units is {units!r}, but {name} has units {written!r}. Leave units out, or mend the attrs")
    unit = units or found
    fallback = "1" if unit == "fraction" else "%"
    return Unit(unit or "percent", str(written) if found else fallback, unit is not None)


def refuse_accuracy(errors: xr.DataArray, unit: Unit) -> None:
    """Refuse rates that their name or attrs call an accuracy, and nothing that is taken from 1 or 100."""
    called = {"name": errors.name, **{key: errors.attrs.get(key) for key in ("long_name", "standard_name")}}
    accuracies = {key: str(words) for key, words in called.items() if words is not None and _says_accuracy(str(words))}
    for words in accuracies.values():
        cure = _turn(unit, standard_name="standard_name" in accuracies)
        raise ValueError(f"errors is called {words!r}; error is needed, which falls. Turn it: {cure}")


def _says_accuracy(words: str) -> bool:
    turned = re.search(r"error|(^|[^0-9.])(1|100) ?[-\u2212]", words.lower())
    return turned is None and re.search(r"(^|[^a-z])acc(uracy|uracies)?($|[^a-z])", words.lower()) is not None


def _turn(unit: Unit, *, standard_name: bool = False) -> str:
    """Return the code that makes errors of accuracies, and calls them so: xarray keeps the name and attrs."""
    whole = 1 if unit.name == "fraction" else 100
    more = ', standard_name="error"' * standard_name
    return f'({whole} - accuracy).rename("error").assign_attrs(long_name="error"{more})'


def check_sizes(errors: xr.DataArray) -> Floats:
    """Return the training sizes, all of which must have a power."""
    n: Floats = errors["training"].to_numpy()
    if n[0] <= 0:
        cure = "Leave it out: errors.isel(training=errors.training > 0)"
        raise ValueError(f"training must be positive for a power law; got {n[0]:g}. {cure}")
    return n


def check_values(errors: Floats, unit: Unit, names: Sequence[str]) -> None:
    """Refuse infinite errors and those whose unit is in doubt, `errors` of shape (task, ...)."""
    flat = errors.reshape(len(names), -1)
    for task in np.flatnonzero(np.isinf(flat).any(axis=1))[:1]:
        raise ValueError(f"{names[task]}errors has infinite values. Mask them as missing: errors.where(errors < inf)")
    for task in np.flatnonzero((flat < 0).any(axis=1))[:1]:
        raise ValueError(
            f"{names[task]}errors must not be negative; got {np.nanmin(flat[task]):.4g}. Give error rates, not scores"
        )
    largest = np.where(np.isnan(flat), -np.inf, flat).max(axis=1)
    measured = largest > -np.inf
    for task in np.flatnonzero(measured & (largest <= 1) & (not unit.stated))[:1]:
        raise ValueError(
            f"{names[task]}errors are at most {largest[task]:.3g} and have no units: percent or fractions? "
            "Say units='percent' or units='fraction'"
        )
    for task in np.flatnonzero(measured & (largest > 1) & (unit.name == "fraction"))[:1]:
        raise ValueError(
            f"{names[task]}errors are fractions by units {unit.written!r}; got {largest[task]:.4g}. "
            "Say units='percent' and mend the attrs"
        )


def check_standard_errors(standard_error: Floats, means: Floats, folds: Floats, names: Sequence[str]) -> None:
    """Refuse standard errors or numbers of folds, shape (task, size), that cannot be those of means."""
    measured = ~np.isnan(means)
    for task, size in np.argwhere(measured & ~((standard_error > 0) & (standard_error < np.inf)))[:1]:
        raise ValueError(
            f"{names[task]}standard_error must be positive and finite where errors are; "
            f"got {standard_error[task, size]:g}. Mask errors there, or give n_folds and the mean of all folds"
        )
    for task, size in np.argwhere(measured & ~((folds >= 1) & (folds % 1 == 0)))[:1]:
        raise ValueError(f"{names[task]}n_folds must be whole and at least 1; got {folds[task, size]:g}. Mend it")


def check_fittable(model: Model, sizes: Sizes, variance: Floats, names: Sequence[str]) -> None:
    """Refuse curves with fewer sizes than parameters, or whose weights cannot be known."""
    n_sizes = (sizes.folds > 0).sum(axis=1)
    for task in np.flatnonzero((n_sizes > 0) & (n_sizes < model.n_parameters))[:1]:
        fewer = "Add sizes" if model.gamma is not None and not model.quadratic else "Add sizes, or fix gamma=-0.5"
        raise ValueError(
            f"{names[task]}errors has {n_sizes[task]} training sizes; this curve needs {model.n_parameters}. {fewer}"
        )
    unknown = np.isnan(variance).any(axis=1) & (n_sizes > 0) & (model.weights != "uniform")
    for task in np.flatnonzero(unknown)[:1]:
        raise ValueError(
            f"{names[task]}errors has one fold at every size, so weights={model.weights!r} has no variance to go by. "
            "Give sigma_hat_sq, or fit with weights='uniform'"
        )
    zero = ((variance <= 0) & (sizes.folds > 0)).any(axis=1) & (model.weights != "uniform")
    for task in np.flatnonzero(zero)[:1]:
        raise ValueError(
            f"{names[task]}errors do not vary between folds and sigma0_sq is 0: weights are infinite. "
            "Give a positive sigma0_sq, or fit with weights='uniform'"
        )


def refuse_rising(model: Model, sizes: Sizes, unit: Unit, names: Sequence[str], *, known: bool) -> None:
    """Refuse curves that clearly rise: from first to last by more than noise can, or, of unknown noise, at every size.

    A noise estimated from hardly any folds is not relied on alone: there the curve must rise at every size as well.
    """
    has = sizes.folds > 0
    before = np.maximum.accumulate(np.where(has, sizes.means, -np.inf), axis=1)[:, :-1]
    climbs = (~has[:, 1:] | (sizes.means[:, 1:] > before)).all(axis=1)
    first, last = has.argmax(axis=1), has.shape[1] - 1 - has[:, ::-1].argmax(axis=1)
    task = np.arange(len(has))
    of_mean = model.known_variance(sizes) / np.maximum(sizes.folds, 1)
    noise = np.sqrt(of_mean[task, first] + of_mean[task, last])
    rise = sizes.means[task, last] - sizes.means[task, first]
    reliable = model.degrees(sizes.folds, known=known) >= _RELIABLE
    clear = (rise > _CLEAR_RISE * noise) & (reliable | climbs)
    for at in np.flatnonzero((first < last) & (clear | (np.isnan(noise) & climbs)))[:1]:
        raise ValueError(
            f"{names[at]}errors rise with training, from {sizes.means[at, first[at]] / unit.percent:.4g} to "
            f"{sizes.means[at, last[at]] / unit.percent:.4g}. If this is accuracy, turn it: {_turn(unit)}"
        )


def applicable_errors(curves: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return curves that are called an error and have the unit of a rate."""
    if not is_error(curves):
        raise NotApplicableError(
            "scores are not called an error by their name, long_name or standard_name", expected=True
        )
    if not check_unit(curves, None).stated:
        raise NotApplicableError("errors have no units; say attrs['units'] = '%' or '1'")
    return curves, {}, {}
