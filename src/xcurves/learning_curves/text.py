"""The sentences about learning curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import xarray as xr

from xcurves.core import labels
from xcurves.core.sentences import joined

_TEST_SET = (
    "Intervals leave out the error that the test set itself brings and that all folds share: a rate of p % on m test "
    "cases is uncertain by sqrt(p (100 - p) / m)."
)
_CROSSING = ("crossing_size", "crossing_extrapolated")
_FAR = " (far outside the measured sizes)"
_SCHEMES = {
    "variance-folds": "1 / (F_i sigma_i^2)",
    "variance": "1 / sigma_i^2",
    "uniform": "1",
}


def fit_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield sentences for each curve, then what holds for all."""
    for curve, name in _tasks(result, "error_at_n"):
        yield name + _fit_claim(curve)
    scheme = result.attrs.get("weights", "variance-folds")
    refits = int(result.attrs.get("n_resamples", 0))
    fixed = result.attrs.get("gamma", "search") != "search"
    by_error = (
        "standard errors, gamma being given" if fixed else "standard errors that include the uncertainty of gamma"
    )
    how = f"{refits:,} bootstrap refits" if refits else by_error
    taken = result.attrs.get("units", "percent")
    yield f"Errors were taken as {taken}, weighted by {_SCHEMES.get(scheme, scheme)}; intervals are by {how}."
    yield _TEST_SET


def _fit_claim(curve: xr.Dataset) -> str:
    at, gamma = curve["at"].item(), curve["gamma"].item()
    if not curve["n_folds"].any():
        return "nothing can be said; there are no errors."
    if gamma != gamma:
        return f"all errors are {_rate(curve['error_at_n'])}; nothing tells how they change with training size."
    error, reliance = (_estimate(curve, name) for name in ("error_at_n", "data_reliance"))
    fixed = curve.attrs.get("gamma", "search") != "search"
    stated = f"{gamma:g} as given" if fixed else _estimate(curve, "gamma")
    said = [
        f"at size {at:g} the error is {error} and the data-reliance {reliance}; gamma {stated}.",
        _linear_rule(curve["data_reliance"]),
    ]
    if curve["gamma_at_edge"].item():
        said.append("Gamma is at the edge of its grid: the curve may not be a power law.")
    if curve["at_extrapolated"].item():
        said.append(f"Size {at:g} is far outside the measured ones.")
    return " ".join(said)


def _linear_rule(reliance: xr.DataArray) -> str:
    change = "lower" if reliance >= 0 else "raise"
    return f"By the linear rule four times the data {change} the error by {_rate(abs(reliance) / 2, reliance)}."


def prediction_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each curve and size, then what holds for all."""
    for curve, name in _tasks(result, "prediction"):
        if curve["prediction"].isnull().all():
            yield f"{name}nothing can be said; there are no errors."
            continue
        for n in result["n"].to_numpy():
            here = curve.sel(n=n)
            far = "; this is far outside the measured sizes" if here["extrapolated"].item() else ""
            interval = _between(here["prediction"], here["prediction_ci"], result)
            change = _between(here["change"], here["change_ci"], result)
            path = f"from {curve['at'].item():g} to {n:g} the error changes by {change}"
            yield f"{name}at size {n:g} the predicted error is {interval}; {path}{far}."
    rule = {"linear": "the linear rule of error and data-reliance"}.get(
        result.attrs.get("method", ""), "the fitted curve"
    )
    yield f"Predictions are by {rule}; intervals are for the expected error, not for that of one more training."


def left_out_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task: which variant predicts best, and whether the first differs."""
    first = str(result["variant"].to_numpy()[0])
    for task, name in _tasks(result, "r_squared"):
        average = task["rmse"].mean("training")
        if average.isnull().all():
            yield f"{name}nothing can be said; there are no errors."
            continue
        best = average.idxmin("variant").item()
        least, own = (_rate(value, task["rmse"]) for value in (average.min(), average.sel(variant=first)))
        text = f"{name}{best!r} predicts sizes left out best, with an average RMSE of {least}"
        yield text + (f"; {first!r} has {own}." if best != first else ".")
    yield f"p compares with {first!r} by a paired t-test over curves and sizes, a guide only: they are dependent."


def learner_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each learner, then what holds for all."""
    reference = result.attrs.get("reference", "the reference")
    for pair, name in _tasks(result, "data_multiplier"):
        error = pair.sel(param="error_at_n")
        if error["difference"].isnull():
            yield f"{name}nothing can be said; it or {reference} has no errors."
            continue
        said = [
            f"error differs from that of {reference} by {_between(error['difference'], error['difference_ci'], result)}"
        ]
        if pair["difference"].sel(param="data_reliance").isnull():
            said.append("the errors of one of them are all equal: nothing tells what it is worth in data")
        else:
            said += [_worth(pair, reference), _crossings(pair)]
        yield f"{name}{'; '.join(said)}."
    yield "Differences are first minus reference; intervals take the learners as independent."


def _worth(pair: xr.Dataset, reference: Any) -> str:
    multiplier = pair["data_multiplier"]
    if multiplier.isnull():
        return f"no amount of data is its worth: the curve of {reference} does not fall, or levels off above its error"
    far = _FAR * pair["data_multiplier_extrapolated"].item()
    return f"it is worth {_between(multiplier, pair['data_multiplier_ci'], pair)} times the data{far}"


def _crossings(pair: xr.Dataset) -> str:
    found = zip(*(pair[name].to_numpy().tolist() for name in _CROSSING), strict=True)
    sizes = [f"{size:.4g}" + _FAR * far for size, far in found if size == size]
    return f"the curves cross at {' and '.join(sizes)}" if sizes else "the curves do not cross"


def _tasks(result: xr.Dataset, variable: str) -> Iterator[tuple[xr.Dataset, str]]:
    return zip(labels.tasks_of(result, variable), labels.result_names(result[variable]), strict=True)


def _estimate(curve: xr.Dataset, name: str) -> str:
    return _between(curve[name], curve["estimate_ci"].sel(param=name), curve)


def _between(estimate: xr.DataArray, bounds: xr.DataArray, result: xr.Dataset) -> str:
    low, high = (bounds.sel(ci_bound=bound).item() for bound in labels.CI_BOUNDS)
    level = 100 * float(result.attrs.get("confidence_level", 0.95))
    if low != low:
        return f"{_rate(estimate)} (no interval)"
    return f"{_rate(estimate)} ({level:g} % interval {_number(low)} to {_number(high)})"


def _rate(value: xr.DataArray, like: xr.DataArray | None = None) -> str:
    units: Any = (value if like is None else like).attrs.get("units", "1")
    written = f" {units}" if units not in ("1", "") else ""
    return _number(value.item()) + written


def _number(value: float) -> str:
    return f"{value:.4g}"


def fit_answer(result: xr.Dataset) -> str:
    """Return what four times the data would change, curve by curve."""
    said = [
        f"{name}{_fit_claim(curve)}"
        if result["error_at_n"].size == 1
        else f"{name}{_linear_rule(curve['data_reliance'])}"
        for curve, name in _tasks(result, "error_at_n")
        if curve["data_reliance"].notnull()
    ]
    return joined(said, " ") or "Nothing can be said: no curve has errors that change with training size."


def prediction_answer(result: xr.Dataset) -> str:
    """Return the prediction at the largest size, curve by curve."""
    last = result.isel(n=-1)
    said = [
        f"{name}{_between(curve['prediction'], curve['prediction_ci'], result)}"
        for curve, name in _tasks(last, "prediction")
    ]
    return f"Predicted errors at size {last['n'].item():g}: {joined(said, '; ')}."


def left_out_answer(result: xr.Dataset) -> str:
    """Return which variant predicts sizes left out best."""
    return joined(list(left_out_sentences(result))[:-1], " ")


def learner_answer(result: xr.Dataset) -> str:
    """Return how much data each learner is worth."""
    reference = result.attrs.get("reference", "the reference")
    said = [f"{name}{_worth(pair, reference)}" for pair, name in _tasks(result, "data_multiplier")]
    return f"{joined(said, '; ')}."
