"""Checks of errors, of their unit and of the options of fits: every `check_*` returns what it checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import magnitudes, provenance, validation
from xcurves.core.applicability import NotApplicableError, is_error
from xcurves.core.refusal import UNSAID, Choices, Cure, Refusal, Verbatim, WrongType, call, give
from xcurves.core.validation import is_without_training
from xcurves.kernels.laws.learning import Model

_UNITS = dict.fromkeys(("%", "percent", "pct", "percentage", "per cent"), "percent")
_UNITS |= dict.fromkeys(("1", "fraction", "proportion", "ratio"), "fraction")


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
        """The largest possible error."""
        return np.inf if self.name == "loss" else 100.0 / self.percent


def check_unit(errors: xr.DataArray, units: str | None, name: str = "errors") -> Unit:
    """Return the unit that an option or the attrs say, percent if neither does; an unknown unit is that of a loss."""
    if units is not None:
        validation.check_choice("units", units, ("percent", "fraction", "loss"))
    written = errors.attrs.get("units") or None
    found = None if written is None else _UNITS.get(str(written).strip().lower(), "loss")
    rates = {units, found} <= {"percent", "fraction"}
    if rates and units != found:
        raise Refusal(
            "units",
            UNSAID,
            f"is {units!r}, but {name} has units {written!r}",
            "Leave units out, or correct the attrs",
        )
    unit = units or found
    fallback = "1" if unit in ("fraction", "loss") else "%"
    return Unit(unit or "percent", str(written) if found else fallback, unit is not None)


def refuse_accuracy(errors: xr.DataArray, unit: Unit) -> None:
    """Refuse rates that their name or attrs call an accuracy."""
    words = accuracies(errors)
    if not words:
        return
    whole = 100
    if unit.name == "fraction":
        whole = 1
    cure = f'({whole} - accuracy).rename("error").assign_attrs(long_name="error", standard_name="error")'
    raise Refusal(
        "errors",
        UNSAID,
        f"is called {words[0]!r}; error is needed, which falls",
        f"Turn it: {cure}",
    )


def accuracies(rates: xr.DataArray) -> list[str]:
    """Return what of the name and attrs calls rates an accuracy, and nothing that is taken from 1 or 100."""
    called = [
        str(words)
        for words in (
            rates.name,
            rates.attrs.get("long_name"),
            rates.attrs.get("standard_name"),
        )
    ]
    accuracy, turned = (
        r"(^|[^a-z])acc(uracy|uracies)?($|[^a-z])",
        r"error|(^|[^0-9.])(1|100) ?[-\u2212]",
    )
    return [words for words in called if re.search(accuracy, words.lower()) and not re.search(turned, words.lower())]


def check_sizes(errors: xr.DataArray, unit: Unit | None = None) -> Floats:
    """Return the training sizes, all of which must have a power; say first what is fitted if it may be scores."""
    n: Floats = errors["training"].to_numpy()
    if n[0] <= 0:
        cure = "Leave it out: errors.isel(training=errors.training > 0)"
        first = ""
        if unit is not None and not unit.stated and not is_error(errors):
            first = f"errors are fitted, which fall; is {errors.name or 'this'!r} one? Then "
        raise Refusal(
            "curves",
            Verbatim(f"{n[0]:g}"),
            f"{first}training must be positive for a power law",
            cure,
        )
    return n


def check_values(errors: Floats, unit: Unit, names: Sequence[str]) -> None:
    """Refuse infinite errors and those whose unit is in doubt, `errors` of shape (task, ...)."""
    flat = errors.reshape(len(names), -1)
    # NaN of a task without errors
    least, most = (np.fmin.reduce(flat, axis=1), np.fmax.reduce(flat, axis=1))
    rate, unknown = unit.name != "loss", not unit.stated
    of_units = Choices("Say ", give(units="percent"), ", ", give(units="fraction"), " or ", give(units="loss"))
    for affected, values, reason, cure in (
        (np.isneginf(least), least, "has values of {0}, which no error is", "Correct it"),
        (
            np.isposinf(most),
            most,
            "has infinite values: runs that failed",
            Cure("Say what they count as with ", call(".curves.fill_failed", "worst", higher_is_better=False)),
        ),
        ((least < 0) & rate, least, "must not be negative", "Give error rates, not scores"),
        (
            (most > 100) & unknown,
            most,
            "are up to {0:.4g} and have no units, but percent end at 100",
            Cure("Give error rates, not scores; of losses say ", give(units="loss")),
        ),
        (
            (most <= 1) & unknown,
            most,
            "are at most {0:.3g} and have no units: they may be percent or fractions",
            of_units,
        ),
        (
            (most > 1) & (unit.name == "fraction"),
            most,
            "are fractions by units {1!r}; got {0:.4g}",
            "Say units='percent' and correct the attrs",
        ),
    ):
        if affected.any():
            task = int(affected.argmax())
            value = values[task]
            what = f"{names[task]}errors {reason.format(value, unit.written)}"
            raise Refusal("curves", Verbatim(f"{value:.4g}"), what, cure)
    magnitudes.check_size(np.stack([least, most], axis=1), names, "errors")


def applicable_errors(
    curves: xr.DataArray,
) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return curves that are called an error and have the unit of a rate."""
    if is_without_training(curves):
        raise NotApplicableError("scores have no training", obvious=True)
    if not is_error(curves):
        raise NotApplicableError(
            "scores are not called an error by their name, long_name or standard_name",
            expected=True,
        )
    if not check_unit(curves, None).stated:
        raise NotApplicableError("errors have no units; say attrs['units'] = '%' or '1'")
    progress = progress_word(curves)
    if progress:
        raise NotApplicableError(f"training is {progress}, {_PROGRESS}", expected=True)
    return curves, {}, {}


_OF_RUNS = re.compile(r"(^|[^a-z])(epochs?|steps?|iterations?|iters?)($|[^a-z])", re.IGNORECASE)
_PROGRESS = "the progress of one run, which is no curve over data sizes: each size is a training to its end"


def progress_word(errors: xr.DataArray) -> str:
    """Return what training is called, or measured in, if that is the progress of a run; else nothing."""
    if "training" not in errors.coords:
        return ""
    attrs = errors["training"].attrs
    said = [str(attrs[name]) for name in ("long_name", "units") if name in attrs]
    return next((repr(word) for word in said if _OF_RUNS.search(word)), "")


def check_no_progress(errors: object) -> None:
    """Refuse a dim called epoch, step or iteration in place of training; warn where training is called so."""
    if not isinstance(errors, xr.DataArray):
        return
    named = [dim for dim in errors.dims if isinstance(dim, str) and _OF_RUNS.search(dim)]
    if named and "training" not in errors.dims:
        raise Refusal(
            "errors",
            UNSAID,
            f"have the dim {named[0]!r}, {_PROGRESS}",
            f"If each label is a training of its own: errors.rename({named[0]}='training')",
        )
    word = progress_word(errors)
    if word:
        provenance.warn(
            f"training is {word}, {_PROGRESS}. What the power law predicts of later progress is often wrong"
        )


Gamma = float | Literal["search"]
Weighting = Literal["variance-folds", "variance", "relative", "uniform"]
Asymptote = Literal["nonnegative", "free"]
At = float | Sequence[float] | Floats | xr.DataArray

WEIGHTS = ("variance-folds", "variance", "relative", "uniform")
LARGEST = 1e50  # size, or amount of tokens: what a law makes of it stays finite, squared too
_OCTAVES = 3.0  # up to 2 and 4 are at most 4 % worse on published curves


def check_model(
    n: Floats,
    unit: Unit,
    *,
    gamma: Gamma,
    quadratic: bool,
    asymptote: str,
    weighting: str,
    sigma0_sq: float,
    sigma_hat_sq: float | None,
    prior_strength: float,
) -> Model:
    """Return the model of curves of sizes `n`, in the unit of the errors: variances are given in percent²."""
    validation.check_choice("weighting", weighting, WEIGHTS)
    validation.check_choice("asymptote", asymptote, ("nonnegative", "free"))
    is_exponent = isinstance(gamma, Real) and -np.inf < gamma < 0
    if not is_exponent and not (isinstance(gamma, str) and gamma == "search"):
        raise Refusal("gamma", gamma, "must be 'search' or a negative number", "Usual: -0.5")
    numbers = {
        "sigma0_sq": sigma0_sq,
        "sigma_hat_sq": sigma_hat_sq,
        "prior_strength": prior_strength,
    }
    for name, value in numbers.items():
        if value is not None:
            check_number(name, value, "Leave it out for the default")
    square = unit.percent**2
    factor = 1.0
    if weighting == "uniform":
        factor = square
    if sigma_hat_sq is not None:
        sigma_hat_sq = sigma_hat_sq / square
    return Model(
        n,
        float(gamma) if is_exponent else None,
        quadratic,
        weighting,
        sigma0_sq / square,
        sigma_hat_sq,
        prior_strength,
        asymptote == "nonnegative",
        factor=factor,
    )


def check_octaves(octaves: object, asymptote: str) -> float | None:
    """Return how many last octaves a law is fitted to, None for all sizes."""
    if octaves is None:
        return None
    if isinstance(octaves, str) and octaves == "auto":
        if asymptote == "free":
            return None
        return _OCTAVES
    return check_number("octaves", octaves, "None stands for all sizes", 0.01)


def check_number(
    name: str,
    value: Any,
    cure: str,
    least: float = 0.0,
    most: float = validation.LARGEST,
) -> float:
    """Return a number from `least` to `most`."""
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= float(value) <= most:
        raise Refusal(name, value, f"must be a number from {least:g} to {most:g}", cure)
    return float(value)


def check_n(name: str, n: object, example: str = "[800, 1600]", largest: float = LARGEST) -> Floats:
    """Return training sizes, or other positive numbers that are labels, shape (size,)."""
    given = np.atleast_1d(array_of(n))
    if given.dtype.kind not in "iuf" or given.ndim != 1 or not given.size:
        raise WrongType(
            name,
            n,
            "must be a number or a list of numbers",
            f"Such as {name}={example}",
        )
    values = check_positive(name, given, "A curve has no value there", largest)
    if len(np.unique(values)) < len(values):
        raise Refusal(
            name,
            UNSAID,
            f"{name} has numbers twice; got {values.tolist()}",
            "Give each once",
        )
    return values


def array_of(given: object) -> NDArray[Any]:
    """Return an array; an object of lists of different lengths."""
    try:
        return np.asarray(given)
    except ValueError:
        return np.array(None)


def check_positive(name: str, given: NDArray[Any], cure: str, largest: float = LARGEST) -> Floats:
    """Return numbers as floats, all of which must be positive and finite, and neither tiny nor huge."""
    values: Floats = given.astype(np.float64)
    bad = values[~((values >= 1 / largest) & (values <= largest))]
    if bad.size:
        limits = f"must be positive and finite, {1 / largest:g} to {largest:g}"
        raise Refusal(name, Verbatim(f"{bad[0]:g}"), limits, cure)
    return values


def check_at(errors: xr.DataArray, extra: Sequence[Any], at: float | str | xr.DataArray) -> xr.DataArray:
    """Return the size N of each curve, on some of the extra dims; "largest" is each curve's own largest size."""
    if isinstance(at, str) and at == "largest":
        return xr.DataArray(
            xr.apply_ufunc(
                _largest,
                errors.variable,
                kwargs={
                    "sizes": errors["training"].to_numpy(),
                    "folds": "run" in errors.dims,
                },
                input_core_dims=[[dim for dim in errors.dims if dim not in extra]],
                dask="parallelized",
                output_dtypes=[np.float64],
                dask_gufunc_kwargs={"allow_rechunk": True},
            )
        )
    where = xr.DataArray(at)
    if where.dtype.kind not in "iuf" or not set(where.dims) <= set(extra):
        raise Refusal("at", at, f"must be a size, or sizes on dims {tuple(extra)}, or 'largest'")
    like(errors, where, "at")
    check_positive("at", where.to_numpy(), "A curve has no value there")
    return bare(where.astype(np.float64))


def _largest(errors: Floats, sizes: Floats, *, folds: bool) -> Floats:
    """Return the largest size with errors, of shape (..., size) or with folds (..., run, size); NaN without errors."""
    has = ~np.isnan(errors)
    if folds:
        has = np.asarray(has.any(axis=-2))
    largest = np.where(has, sizes, -np.inf).max(axis=-1)
    return np.where(has.any(axis=-1), largest, np.nan)


def bare(array: xr.DataArray) -> xr.DataArray:
    """Return an array without coordinates that are no dims."""
    return array.drop_vars([name for name in array.coords if name not in array.dims])


def check_aggregates(
    errors: xr.DataArray,
    standard_error: xr.DataArray | None,
    n_folds: int | xr.DataArray | None,
    sigma_hat_sq: float | None,
    unit: Unit,
) -> list[xr.DataArray]:
    """Return standard errors and numbers of folds of means, each like `errors`; none where folds are at hand."""
    if standard_error is None:
        if n_folds is not None:
            raise Refusal(
                "n_folds",
                UNSAID,
                "belongs to means with standard_error; folds themselves are counted",
                "Leave it out",
            )
        return []
    if sigma_hat_sq is not None:
        raise Refusal(
            "standard_error",
            UNSAID,
            f"and sigma_hat_sq={sigma_hat_sq} both say the variance",
            "Leave one out",
        )
    if "run" in errors.dims:
        raise Refusal(
            "standard_error",
            UNSAID,
            "belongs to means; errors has folds (dim 'run')",
            "Give errors.mean('run')",
        )
    if not isinstance(standard_error, xr.DataArray):
        got = type(standard_error).__name__
        raise WrongType(
            "standard_error",
            Verbatim(f"{got}"),
            "must be a DataArray like errors",
            "Label it: errors.copy(data=...)",
        )
    theirs = check_unit(standard_error, None, "standard_error")
    if theirs.stated and theirs.name != unit.name:
        raise Refusal(
            "standard_error",
            UNSAID,
            f"is in {theirs.name} and errors in {unit.name}",
            "Bring both to one unit",
        )
    if n_folds is None:
        n_folds = 1
    return [
        like(errors, standard_error, "standard_error"),
        like(errors, xr.DataArray(n_folds), "n_folds"),
    ]


def like(errors: xr.DataArray, array: xr.DataArray, name: str) -> xr.DataArray:
    """Return an array with the dims of errors."""
    if not set(array.dims) <= set(errors.dims):
        raise Refusal(name, Verbatim(f"{array.dims}"), f"must have dims of errors, {errors.dims}")
    check_labels(name, array, errors, "errors")
    return on_dims(array.astype(np.float64), dict(errors.sizes))


def check_labels(name: str, array: xr.DataArray, other: xr.DataArray, of: str) -> None:
    """Refuse an array whose labels, or sizes, of shared dims are not those of another."""
    for dim in (dim for dim in array.dims if dim in other.dims):
        try:
            xr.align(array[dim], other[dim], join="exact", copy=False)
        except ValueError as error:
            raise Refusal(
                name,
                UNSAID,
                f"must have the labels of {of}; its {dim!r} differs",
                "Select the same ones",
            ) from error


def on_dims(array: xr.DataArray, sizes: dict[Any, int]) -> xr.DataArray:
    """Return an array without coordinates on dims of these sizes."""
    return xr.DataArray(array.variable.set_dims(sizes))  # type: ignore[no-untyped-call]  # xarray has no annotation
