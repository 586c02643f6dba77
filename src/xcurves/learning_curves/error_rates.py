"""Checks of errors: their unit, their values, and which curves cannot be fitted.

Messages name the task. Rates are fitted in percent whatever comes in, since the paper's constants are in percent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import run_checks, validation
from xcurves.core.applicability import NotApplicableError, is_error
from xcurves.kernels.learning import Model, Sizes
from xcurves.kernels.moments import Floats

_UNITS = dict.fromkeys(("%", "percent", "pct", "percentage", "per cent"), "percent")
_UNITS |= dict.fromkeys(("1", "fraction", "proportion", "ratio"), "fraction")
_CLEAR_RISE = 5.0  # standard errors
_RELIABLE = 5  # degrees of freedom of a noise that is relied on


class Unit(NamedTuple):
    """The unit of errors: percent, fraction or loss, how it is written in attrs, and whether someone said so."""

    name: str
    written: str
    stated: bool

    @property
    def percent(self) -> float:
        """What errors are multiplied with to be in percent."""
        return 100.0 if self.name == "fraction" else 1.0

    @property
    def cap(self) -> float:
        """The largest possible error as it is fitted."""
        return np.inf if self.name == "loss" else 100.0


def check_unit(errors: xr.DataArray, units: str | None, name: str = "errors") -> Unit:
    """Return the unit that an option or the attrs say, percent if neither does; an unknown unit is that of a loss."""
    if units is not None:
        validation.check_choice("units", units, ("percent", "fraction", "loss"))
    written = errors.attrs.get("units") or None
    found = None if written is None else _UNITS.get(str(written).strip().lower(), "loss")
    rates = {units, found} <= {"percent", "fraction"}
    if rates and units != found:
        raise ValueError(f"units is {units!r}, but {name} has units {written!r}. Leave units out, or correct the attrs")
    unit = units or found
    fallback = "1" if unit in ("fraction", "loss") else "%"
    return Unit(unit or "percent", str(written) if found else fallback, unit is not None)


def refuse_accuracy(errors: xr.DataArray, unit: Unit) -> None:
    """Refuse rates that their name or attrs call an accuracy, and nothing that is taken from 1 or 100."""
    called = {"name": errors.name, **{key: errors.attrs.get(key) for key in ("long_name", "standard_name")}}
    accuracies = {key: str(words) for key, words in called.items() if words is not None and says_accuracy(str(words))}
    for words in accuracies.values():
        cure = _turn(unit, standard_name="standard_name" in accuracies)
        raise ValueError(f"errors is called {words!r}; error is needed, which falls. Turn it: {cure}")


def says_accuracy(words: str) -> bool:
    """Return whether words name an accuracy, and not what is taken from 1 or 100."""
    turned = re.search(r"error|(^|[^0-9.])(1|100) ?[-\u2212]", words.lower())
    return turned is None and re.search(r"(^|[^a-z])acc(uracy|uracies)?($|[^a-z])", words.lower()) is not None


def _turn(unit: Unit, *, standard_name: bool = False) -> str:
    """Return the code that makes errors of accuracies, and calls them so: xarray keeps the name and attrs."""
    whole = 1 if unit.name == "fraction" else 100
    more = ', standard_name="error"' * standard_name
    return f'({whole} - accuracy).rename("error").assign_attrs(long_name="error"{more})'


def check_sizes(errors: xr.DataArray, unit: Unit | None = None) -> Floats:
    """Return the training sizes, all of which must have a power; say first what is fitted if it may be scores."""
    n: Floats = errors["training"].to_numpy()
    if n[0] <= 0:
        cure = "Leave it out: errors.isel(training=errors.training > 0)"
        known = unit is None or unit.stated or is_error(errors)
        first = "" if known else f"errors are fitted, which fall; is {errors.name or 'this'!r} one? Then "
        raise ValueError(f"{first}training must be positive for a power law; got {n[0]:g}. {cure}")
    return n


def check_values(errors: Floats, unit: Unit, names: Sequence[str]) -> None:
    """Refuse infinite errors and those whose unit is in doubt, `errors` of shape (task, ...)."""
    flat = errors.reshape(len(names), -1)
    least, largest = np.fmin.reduce(flat, axis=1), np.fmax.reduce(flat, axis=1)  # NaN of a task without errors
    for task in np.flatnonzero(np.isinf(least) | np.isinf(largest))[:1]:
        raise ValueError(
            f"{names[task]}errors has infinite values. Mask them as missing: errors.where(np.isfinite(errors))"
        )
    run_checks.check_size(np.stack([least, largest], axis=1), names, "errors")
    for task in np.flatnonzero((least < 0) & (unit.name != "loss"))[:1]:
        raise ValueError(
            f"{names[task]}errors must not be negative; got {least[task]:.4g}. Give error rates, not scores"
        )
    for task in np.flatnonzero((largest <= 1) & (not unit.stated))[:1]:
        raise ValueError(
            f"{names[task]}errors are at most {largest[task]:.3g} and have no units: percent or fractions? "
            "Say units='percent', units='fraction' or units='loss'"
        )
    for task in np.flatnonzero((largest > 1) & (unit.name == "fraction"))[:1]:
        raise ValueError(
            f"{names[task]}errors are fractions by units {unit.written!r}; got {largest[task]:.4g}. "
            "Say units='percent' and correct the attrs"
        )


def check_folds(folds: Floats, means: Floats, names: Sequence[str]) -> None:
    """Refuse numbers of folds, shape (task, size), that cannot be those of means."""
    for task, size in np.argwhere(~np.isnan(means) & ~((folds >= 1) & (folds % 1 == 0)))[:1]:
        raise ValueError(f"{names[task]}n_folds must be whole and at least 1; got {folds[task, size]:g}. Correct it")


FITTED, NO_ERRORS, FEW_SIZES, ONE_FOLD, NO_SPREAD, BAD_STANDARD_ERROR, ZERO_ERROR, RISING, BEYOND = range(9)
REASONS = {
    NO_ERRORS: "no errors",
    FEW_SIZES: "too few sizes",
    ONE_FOLD: "one fold at every size",
    NO_SPREAD: "no spread between folds",
    BAD_STANDARD_ERROR: "standard error not positive",
    ZERO_ERROR: "error not positive",
    RISING: "rising errors",
    BEYOND: "at is beyond the largest size",
}


def unfit(model: Model, sizes: Sizes, *, known: bool, beyond: NDArray[np.bool_] | None = None) -> NDArray[np.int8]:
    """Return why curves cannot be fitted, shape (curve,): 0 for those that can, else a key of `REASONS`."""
    has = sizes.folds > 0
    n_sizes = has.sum(axis=1)
    variance = model.known_variance(sizes)
    by_variance = model.weights in ("variance-folds", "variance")
    cases = {
        NO_ERRORS: n_sizes == 0,
        FEW_SIZES: n_sizes < model.n_sizes_needed,
        BAD_STANDARD_ERROR: (has & ~((variance > 0) & (variance < np.inf))).any(axis=1) & (sizes.variance is not None),
        ONE_FOLD: np.isnan(variance).any(axis=1) & by_variance,
        NO_SPREAD: (has & (variance <= 0)).any(axis=1) & by_variance,
        ZERO_ERROR: (has & (sizes.means <= 0)).any(axis=1) & (model.weights == "relative"),
        RISING: _rising(model, sizes, variance, known=known),
        BEYOND: np.zeros(len(has), dtype=bool) if beyond is None else beyond,
    }
    return np.select(list(cases.values()), list(cases), FITTED).astype(np.int8)


def _rising(model: Model, sizes: Sizes, variance: Floats, *, known: bool) -> NDArray[np.bool_]:
    """Return which curves clearly rise: from first to last by more than noise can, or, of unknown noise, at every size.

    A noise estimated from hardly any folds is not relied on alone: there the curve must rise at every size as well.
    """
    has = sizes.folds > 0
    before = np.maximum.accumulate(np.where(has, sizes.means, -np.inf), axis=1)[:, :-1]
    rises = (~has[:, 1:] | (sizes.means[:, 1:] > before)).all(axis=1)
    first, last = _ends(has)
    task = np.arange(len(has))
    of_mean = variance / np.maximum(sizes.folds, 1)
    with np.errstate(invalid="ignore"):
        noise = np.sqrt(of_mean[task, first] + of_mean[task, last])
    rise = sizes.means[task, last] - sizes.means[task, first]
    reliable = model.degrees(sizes.folds, known=known) >= _RELIABLE
    reliable &= model.weights != "relative"
    clear = (rise > _CLEAR_RISE * noise) & (reliable | rises)
    return np.asarray((first < last) & (clear | (np.isnan(noise) & rises)))


def _ends(has: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of the first and the last measured size."""
    return has.argmax(axis=1), has.shape[1] - 1 - has[:, ::-1].argmax(axis=1)


def refuse_unfit(model: Model, sizes: Sizes, unit: Unit, names: Sequence[str], reasons: NDArray[np.int8]) -> None:
    """Refuse the first curve that cannot be fitted, if there is one, and say why and what helps."""
    for task in np.flatnonzero(reasons > NO_ERRORS)[:1]:
        raise ValueError(names[task] + _explain(model, sizes.take(np.array([task])), unit, int(reasons[task])))


def _explain(model: Model, sizes: Sizes, unit: Unit, reason: int) -> str:
    """Return why the one curve cannot be fitted, and what helps."""
    has = sizes.folds[0] > 0
    (first,), (last,) = _ends(has[np.newaxis])
    if reason == FEW_SIZES:
        fewer = "Add sizes" if model.gamma is not None and not model.quadratic else "Add sizes, or fix gamma=-0.5"
        return f"errors has {has.sum()} training sizes; this curve needs {model.n_sizes_needed}. {fewer}"
    if reason == ONE_FOLD:
        return (
            f"errors has one fold at every size, so weights={model.weights!r} has no variance to go by. "
            "Give sigma_hat_sq, or fit with weights='relative'"
        )
    if reason == NO_SPREAD:
        return (
            "errors do not vary between folds and sigma0_sq is 0: weights are infinite. "
            "Give a positive sigma0_sq, or fit with weights='relative'"
        )
    if reason == BAD_STANDARD_ERROR:
        return (
            "standard_error must be positive and finite where errors are. "
            "Mask errors where it is not, or leave standard_error out"
        )
    if reason == ZERO_ERROR:
        place = int(np.flatnonzero(has & (sizes.means[0] <= 0))[0])
        return (
            f"errors has {sizes.means[0, place] / unit.percent:.4g} at size {model.n[place]:g}; relative weights need "
            "errors above 0. Mask it, or fit with asymptote='free', weights='uniform'"
        )
    if reason == BEYOND:
        return (
            f"at is beyond the largest size, {model.n[last]:g}; a law alone says too little there. "
            "Fit with at='largest' and call predict(fit, n), which widens its intervals"
        )
    begin, end = sizes.means[0, [first, last]] / unit.percent
    turned = f". If this is accuracy, turn it: {_turn(unit)}" if unit.name != "loss" else ". A loss must fall"
    return f"errors rise with training, from {begin:.4g} to {end:.4g}{turned}"


def applicable_errors(curves: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return curves that are called an error and have the unit of a rate."""
    if not is_error(curves):
        raise NotApplicableError(
            "scores are not called an error by their name, long_name or standard_name", expected=True
        )
    if not check_unit(curves, None).stated:
        raise NotApplicableError("errors have no units; say attrs['units'] = '%' or '1'")
    return curves, {}, {}
