"""The sentences about learning curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.sentences import joined
from xcurves.learning_curves.error_rates import REASONS

MISSED = 0.1  # backtest error from which a curve is named
_TEST_SET = (
    "Intervals leave out the error that the test set itself brings and that all folds share: a rate of p % on m test "
    "cases is uncertain by sqrt(p (100 - p) / m)."
)
_WIDENED = (
    "Asymptotes are at least 0. Intervals of predictions beyond the largest size are widened by how badly each curve "
    "predicts its own last octaves."
)
_STRETCH = ("equal_from", "equal_to", "crossing_size")
_FAR = " (far outside the measured sizes)"
_SCHEMES = {
    "variance-folds": "1 / (F_i sigma_i^2)",
    "variance": "1 / sigma_i^2",
    "relative": "1 / error^2",
    "uniform": "1",
}


def fit_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield sentences for each curve, then what holds for all."""
    for curve, name in _tasks(result, "error_at_n"):
        yield name + _fit_claim(curve)
    scheme = result.attrs.get("weights", "variance-folds")
    missed = _missed(result)
    if missed:
        yield missed
    bounded = result.attrs.get("asymptote", "nonnegative") == "nonnegative"
    refits = int(result.attrs.get("n_resamples", 0))
    fixed = result.attrs.get("gamma", "search") != "search"
    by_error = (
        "standard errors, gamma being given" if fixed else "standard errors that include the uncertainty of gamma"
    )
    how = f"{refits:,} bootstrap refits" if refits else by_error
    taken = result.attrs.get("units", "percent")
    yield f"Errors were taken as {taken}, weighted by {_SCHEMES.get(scheme, scheme)}; intervals are by {how}."
    if bounded:
        yield _WIDENED
        yield from _untested(result)
    yield _TEST_SET


def _fit_claim(curve: xr.Dataset) -> str:
    at, gamma = curve["at"].item(), curve["gamma"].item()
    if curve["unfit"].item():
        return f"not fitted: {REASONS[int(curve['unfit'].item())]}."
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
        edge = edge_word(gamma)
        said.append(f"Gamma is at the {edge} edge of its grid: the curve may not be a power law.")
    if curve["asymptote_at_bound"].item():
        said.append("The asymptotic error is at its lower bound, 0.")
    if curve["at_extrapolated"].item():
        said.append(f"Size {at:g} is far outside the measured ones.")
    return " ".join(said)


def _linear_rule(reliance: xr.DataArray) -> str:
    change = "lower" if reliance >= 0 else "raise"
    return f"By the linear rule four times the data {change} the error by {_rate(abs(reliance) / 2, reliance)}."


def _missed(result: xr.Dataset) -> str:
    """Return which curves miss their own last octaves, "" if none does."""
    said = [
        f"{name.removesuffix(': ') or 'the curve'} ({100 * curve['backtest_error'].item():.3g} %)"
        for curve, name in _tasks(result, "error_at_n")
        if curve["backtest_error"] > MISSED
    ]
    if not said:
        return ""
    verb, law = ("miss their", "they are no power laws") if len(said) > 1 else ("misses its", "it is no power law")
    return (
        f"Do not rely on predictions: {joined(said)} {verb} own last octaves by more than 10 % a doubling, by noise or "
        f"because {law}."
    )


def _untested(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence about curves that are too short to be tested on their own last octaves."""
    n_untested = int((result["backtest_error"].isnull() & result["gamma"].notnull()).sum())
    if n_untested:
        of = f"{n_untested} of {result['gamma'].size} curves have" if result["gamma"].size > 1 else "The curve has"
        yield f"{of} too few sizes for that: intervals take the power law for granted there."


def prediction_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each curve and size, then what holds for all."""
    for curve, name in _tasks(result, "prediction"):
        if curve["prediction"].isnull().all():
            yield f"{name}nothing can be said; there is no fitted curve."
            continue
        for here in [curve.isel(n=i) for i in range(curve.sizes["n"])] if "n" in curve.dims else [curve]:
            yield f"{name}{_prediction(here, result)}."
    rule = {"linear": "the linear rule of error and data-reliance"}.get(
        result.attrs.get("method", ""), "the fitted curve"
    )
    yield f"Predictions are by {rule}; intervals are for the expected error, not for that of one more training."


def _prediction(here: xr.Dataset, result: xr.Dataset) -> str:
    """Return what is predicted for one size of a curve."""
    far = "; this is far outside the measured sizes" if here["extrapolated"].item() else ""
    n, at = here["n"].item(), here["at"].item()
    interval = _between(here["prediction"], here["prediction_ci"], result)
    if result.attrs.get("asymptote") == "free" or here["change_ratio"].isnull():
        change = f"changes by {_between(here['change'], here['change_ci'], result)}"
    else:
        change = f"changes to {_between(here['change_ratio'], here['change_ratio_ci'], result)} of what it is"
    return f"at size {n:g} the predicted error is {interval}; from {at:g} to {n:g} the error {change}{far}"


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
            yield f"{name}nothing can be said; it or {reference} has no fitted curve."
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
    """Return between which sizes no difference is shown, and where the curves cross."""
    said = []
    for begin, end, crossing in zip(*(np.atleast_1d(pair[name]).tolist() for name in _STRETCH), strict=True):
        if begin == begin:
            where = f"no difference is shown between sizes {begin:.4g} and {end:.4g}"
            said.append(f"{where}, where the curves cross at {crossing:.4g}" if crossing == crossing else where)
    return "; ".join(said) or "a difference is shown at all sizes up to four times the largest"


def _tasks(result: xr.Dataset, variable: str) -> Iterator[tuple[xr.Dataset, str]]:
    return zip(labels.tasks_of(result, variable), labels.result_names(result[variable]), strict=True)


def _estimate(curve: xr.Dataset, name: str) -> str:
    return _between(curve[name], curve["estimate_ci"].sel(param=name), curve)


def _between(estimate: xr.DataArray, bounds: xr.DataArray, result: xr.Dataset) -> str:
    low, high = (bounds.sel(ci_bound=bound).item() for bound in labels.CI_BOUNDS)
    level = 100 * float(result.attrs["confidence_level"])
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
    missed = _missed(result)
    said += [missed] if missed else []
    return joined(said, " ") or "Nothing can be said: no curve has errors that change with training size."


def prediction_answer(result: xr.Dataset) -> str:
    """Return the prediction at the largest size, curve by curve."""
    last = result.isel(n=-1) if "n" in result.dims else result
    said = [
        f"{name}{_between(curve['prediction'], curve['prediction_ci'], result)} at size {curve['n'].item():g}"
        for curve, name in _tasks(last, "prediction")
        if curve["prediction"].notnull()
    ]
    return f"Predicted errors: {joined(said, '; ')}." if said else "Nothing can be said: there is no fitted curve."


def left_out_answer(result: xr.Dataset) -> str:
    """Return which variant predicts sizes left out best."""
    return joined(list(left_out_sentences(result))[:-1], " ")


def learner_answer(result: xr.Dataset) -> str:
    """Return how much data each learner is worth."""
    reference = result.attrs.get("reference", "the reference")
    said = [f"{name}{_worth(pair, reference)}" for pair, name in _tasks(result, "data_multiplier")]
    return f"{joined(said, '; ')}."


def edge_word(gamma: float) -> str:
    """Return which edge of the grid an exponent is at."""
    return "flat" if gamma > -0.5 else "steep"
