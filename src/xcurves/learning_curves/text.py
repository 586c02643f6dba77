"""The sentences about learning curves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan, prod
from types import SimpleNamespace

import numpy as np
import xarray as xr

from xcurves.core.labels import result_names, task_dims
from xcurves.core.schema import Statement, statements
from xcurves.kernels.laws.powerlaw import FAR
from xcurves.learning_curves.error_rates import on_dims
from xcurves.learning_curves.fitted_curves import with_more_data
from xcurves.learning_curves.unfit_curves import REASONS
from xcurves.say.numbers import (
    count,
    decimals_of,
    estimated,
    interval,
    joined,
    number,
    percent,
    quantity,
    rounded,
    span,
    units_of,
    with_units,
)
from xcurves.say.pairs import beside_reference

_FEW = 3  # curves of which each has sentences
MISSED = 0.1  # backtest error from which a curve is named
_TEST_SET = (
    "Intervals leave out the error that the test set itself brings and that all folds share: a rate of p % on m test "
    "cases is uncertain by sqrt(p (100 - p) / m)."
)
_WIDENED = (
    "Asymptotes are at least 0. Predictions beyond the largest size average the power law and the last fall; their "
    "intervals are widened by how badly that predicts each curve's own last octaves."
)
_UNTESTED = "too few sizes for that: 2 % an octave and a third of the predicted change stand in."
_RULES = {
    "combined": "the geometric mean of the fitted curve and the last fall",
    "power-law": "the fitted curve",
    "last-fall": "the last fall, repeated",
    "linear": "the linear rule of error and data-reliance",
}
PAIRED = "error_at_n"  # the parameter that pairs are compared by
STRETCH = ("equal_from", "equal_to", "crossing_size")
_FAR = " (far outside the measured sizes)"
_SCHEMES = {
    "variance-folds": "1 / (F_i sigma_i^2)",
    "variance": "1 / sigma_i^2",
    "relative": "1 / error^2",
    "uniform": "1",
}
_INDEPENDENT = "Intervals take the learners as independent; differences hold at each size by itself."

Row = SimpleNamespace


def rows_of(
    result: xr.Dataset, names: Sequence[str], along: Sequence[str] = (), more: Mapping[str, xr.DataArray] | None = None
) -> list[Row]:
    """Return each task of a result, and each label of dims `along` in it, as plain numbers, lists of other dims.

    `names` are variables, of which the first has the dims of tasks; `prefix` is that of messages, `units` its unit.
    """
    first = result[names[0]]
    inner = {dim: result.sizes[dim] for dim in along if dim in result.dims}
    sizes = {dim: result.sizes[dim] for dim in task_dims(first)} | inner
    columns = {"prefix": np.repeat(result_names(first), prod(inner.values())).tolist()}
    for name, variable in {**{name: result[name] for name in names}, **(more or {})}.items():
        values = on_dims(variable, {**sizes, **variable.sizes}).to_numpy()
        columns[name] = values.reshape(len(columns["prefix"]), *values.shape[len(sizes) :]).tolist()
    rows = zip(*columns.values(), strict=True)
    return [Row(units=units_of(first), **dict(zip(columns, row, strict=True))) for row in rows]


def between(estimate: float, bounds: Sequence[float], units: str) -> str:
    """Return an estimate with its unit and its interval."""
    low, high = bounds
    return estimated(estimate, low, high, units, 4)


def change_in_percent(ratio: float, bounds: Sequence[float]) -> str:
    """Return how an error changes, given what it is multiplied by: "falls by 22 % (12 to 31)"."""
    low, high = bounds
    if ratio <= 1:
        verb, change, ends = ("falls", 100 * (1 - ratio), (100 * (1 - high), 100 * (1 - low)))
    else:
        verb, change, ends = ("rises", 100 * (ratio - 1), (100 * (low - 1), 100 * (high - 1)))
    return f"{verb} by {rounded(change, decimals_of(*ends, change))} % ({interval(*ends, estimate=change)})"


def fit_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what more data would change, every curve, and how it was fitted."""
    names = ["error_at_n", "data_reliance", "gamma", "unfit", "gamma_at_edge", "at_extrapolated", "at", "n_folds"]
    backtests = ["backtest_error", "backtest_error_law", "backtest_error_last_fall"]
    stated = {f"{name}_ci": result["estimate_ci"].sel(param=name) for name in names[:3]}
    # which predictions need whole
    stated["covariance"] = result["covariance"].sel(cov_param=names[:3])
    curves = rows_of(result, [*names, *backtests, "fitted_from", "n_sizes_used"], more=stated)
    for name, values in with_more_data(result, FAR).items():
        for curve, value in zip(curves, values.tolist(), strict=True):
            setattr(curve, name, value)
    known = [curve for curve in curves if not curve.unfit]
    few = len(curves) <= _FEW
    claims = []
    if few:
        claims = [f"{curve.prefix}{' '.join(_fit_claim(curve, result))}" for curve in curves]
    if len(known) > _FEW:
        answer = _of_many(known)
    else:
        answer = " ".join(curve.prefix + _more_data(curve) for curve in known if not isnan(curve.gamma))
    answer = answer or " ".join(claims) or "nothing can be said: no curve could be fitted."
    if not curves[0].prefix:
        answer = answer[0].upper() + answer[1:]
    missed = [f"{_plain(curve)} ({percent(curve.backtest_error)})" for curve in curves if curve.backtest_error > MISSED]
    if missed:
        answer += f" Do not rely on predictions: {joined(missed, most=2)} {_why_missed(len(missed))}."
    return statements(answer, [*claims, *_fitted_how(result, known)])


def _why_missed(n_curves: int) -> str:
    """Return what is wrong with curves that do not go on as their law says."""
    verb, law = "misses its", "it is no power law"
    if n_curves > 1:
        verb, law = "miss their", "they are no power laws"
    return f"{verb} own last octaves by more than 10 % a doubling, by noise or because {law}"


def _fit_claim(curve: Row, result: xr.Dataset) -> Iterator[str]:
    """Yield what one curve is, and what to know of it."""
    if curve.unfit:
        yield f"not fitted: {REASONS[curve.unfit]}."
        return
    if isnan(curve.gamma):
        error = quantity(curve.error_at_n, curve.units, 4)
        yield f"all errors are {error}; nothing tells how they change with training size."
        return
    error = between(curve.error_at_n, curve.error_at_n_ci, curve.units)
    reliance = between(curve.data_reliance, curve.data_reliance_ci, curve.units)
    gamma = f"{number(curve.gamma)} as given"
    if result.attrs["gamma"] == "search":
        gamma = between(curve.gamma, curve.gamma_ci, "1")
    yield f"at size {number(curve.at)} the error is {error} and the data-reliance {reliance}; gamma {gamma}."
    if curve.gamma_at_edge:
        yield f"Gamma is at the {edge_word(curve.gamma)} edge of its grid: the curve may not be a power law."
    if curve.at_extrapolated:
        yield f"Size {number(curve.at)} is far outside the measured ones."
    measured = result["training"].to_numpy()[np.array(curve.n_folds) > 0]
    if measured[0] < curve.fitted_from:
        used, octaves = curve.n_sizes_used, number(result.attrs["octaves"])
        last = f"the {used} sizes from {number(curve.fitted_from)} to {number(measured[-1])}"
        yield f"The law is fitted to {last} ({octaves} octaves; {len(measured) - used} smaller ones left out)."
    if not isnan(curve.backtest_error):
        by_law, by_fall = (percent(each, 2) for each in (curve.backtest_error_law, curve.backtest_error_last_fall))
        yield f"In its own last octaves the law misses by {by_law}, the last fall by {by_fall} an octave."


def edge_word(gamma: float) -> str:
    """Return which edge of the grid an exponent is at."""
    if gamma > -0.5:
        return "flat"
    return "steep"


def _more_data(curve: Row) -> str:
    """Return what four times the data are predicted to change."""
    predicted = between(curve.prediction, curve.prediction_ci, curve.units)
    low, high = curve.change_ratio_ci
    verdict = "whether it falls is open"
    if high < 1:
        verdict = "a fall is predicted, if the curve goes on as it did"
    elif low > 1:
        verdict = "a rise is predicted, if the curve goes on as it did"
    given = f"four times the data, {number(curve.n)}, give a predicted error of {predicted}"
    return f"{given}; from {number(curve.at)} {verdict}."


def _of_many(known: list[Row]) -> str:
    """Return the range of errors of many curves, and for how many of them more data is shown to lower it."""
    n_falls = sum(curve.change_ratio_ci[1] < 1 for curve in known)
    falls = f"With four times the data a fall is predicted for {n_falls} of {len(known)}, if curves go on as they did"
    more = f"{falls}; the predicted errors are"
    errors = f"Errors at {_sizes(curve.at for curve in known)}: {_extremes(known, 'error_at_n')}."
    return f"{errors} {more} {_extremes(known, 'prediction')}."


def _fitted_how(result: xr.Dataset, known: list[Row]) -> Iterator[str]:
    """Yield what holds for all curves."""
    attrs = result.attrs
    if attrs["n_resamples"]:
        how = f"{count(attrs['n_resamples'], 'bootstrap refit')}"
    elif attrs["gamma"] == "search":
        how = "standard errors that include that of gamma"
    else:
        how = "standard errors, gamma being given"
    yield f"Errors were taken as {attrs['units']}, weighted by {_SCHEMES[attrs['weighting']]}; intervals are by {how}."
    if attrs["asymptote"] == "nonnegative":
        n_untested = sum(isnan(curve.backtest_error) for curve in known)
        sentence = _WIDENED
        if n_untested:
            which = "The curve has"
            if result["gamma"].size > 1:
                which = f"{n_untested} of {result['gamma'].size} curves have"
            sentence += f" {which} {_UNTESTED}"
        yield sentence
    if attrs["units"] != "loss":
        yield _TEST_SET


def prediction_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the predictions at the last size, all of few curves, and how they were made."""
    names = ["prediction", "prediction_ci", "change", "change_ci", "change_ratio", "change_ratio_ci", "at", "n"]
    names.append("extrapolated")
    if "difference" in result:
        names += ["difference", "difference_ci"]
    rows = rows_of(result, names, ["n"])
    n_sizes = result.sizes.get("n", 1)
    known = [row for row in rows[n_sizes - 1 :: n_sizes] if not isnan(row.prediction)]
    said = [
        f"{row.prefix}{between(row.prediction, row.prediction_ci, row.units)} at size {number(row.n)}" for row in known
    ]
    answer = "Nothing can be said: there is no fitted curve."
    if len(known) > _FEW:
        answer = f"Predicted errors at {_sizes(row.n for row in known)}: {_extremes(known, 'prediction')}."
    elif said:
        answer = f"Predicted errors: {'; '.join(said)}."
    how = f"Predictions are by {_RULES[result.attrs['rule']]}; intervals are for the expected error"
    details = []
    if len(rows) <= _FEW * n_sizes:
        details = [f"{row.prefix}{_say_prediction(row, result)}." for row in rows]
    return statements(answer, [*details, f"{how}, not for that of one more training."])


def _say_prediction(row: Row, result: xr.Dataset) -> str:
    """Return what is predicted for one size of a curve."""
    if isnan(row.prediction):
        return "nothing can be said; there is no fitted curve"
    change = f"changes by {between(row.change, row.change_ci, row.units)}"
    if result.attrs["asymptote"] != "free" and not isnan(row.change_ratio):
        change = change_in_percent(row.change_ratio, row.change_ratio_ci)
    if "difference" in result:
        difference = between(row.difference, row.difference_ci, row.units)
        change += f"; it differs from that of {result.attrs['reference']} by {difference}"
    size, predicted = (number(row.n), between(row.prediction, row.prediction_ci, row.units))
    sentence = f"at size {size} the predicted error is {predicted}; from {number(row.at)} to {size} the error {change}"
    if row.extrapolated:
        sentence += "; this is far outside the measured sizes"
    return sentence


def left_out_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield for each task which variant predicts best, and whether the first differs."""
    first, *_ = variants = [str(variant) for variant in result["variant"].to_numpy()]
    said = []
    for task in rows_of(result, ["r_squared"], more={"average": result["rmse"].mean("training")}):
        errors = dict(zip(variants, task.average, strict=True))
        if np.isnan(task.average).all():
            said.append(f"{task.prefix}nothing can be said; there are no errors.")
            continue
        best = min(errors, key=lambda variant: np.nan_to_num(errors[variant], nan=np.inf))
        least, own = (quantity(errors[each], units_of(result["rmse"]), 4) for each in (best, first))
        sentence = f"{task.prefix}{best!r} predicts sizes left out best, with an average RMSE of {least}"
        if best != first:
            sentence += f"; {first!r} has {own}"
        said.append(f"{sentence}.")
    p = f"p compares with {first!r} by a paired t-test over curves and sizes, a guide only: they are dependent."
    return statements(joined(said, " "), [*said, p])


def pairs_of_learners(result: xr.Dataset) -> xr.Dataset:
    """Return each learner's error as that of its pair with the reference."""
    names = ["difference", "difference_ci_simultaneous"]
    return beside_reference(result.sel(param=PAIRED), names)


def error_at(pairs: xr.Dataset) -> str:
    """Return what learners are compared by: "error (%) at size 800"."""
    known = pairs["at"].where(pairs["difference"].notnull()).to_numpy().ravel()
    return f"{with_units('error', pairs['difference'])} at {_sizes(known[~np.isnan(known)].tolist())}"


def more_of_learners(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how much data each of a few learners is worth, and between which sizes no difference is shown."""
    error, reliance = (result.sel(param=name) for name in ("error_at_n", "data_reliance"))
    names = ["difference", "data_multiplier", "data_multiplier_extrapolated", *STRETCH]
    more = {"reliance": reliance["difference"], "data_multiplier_ci": error["data_multiplier_ci_simultaneous"]}
    learners = rows_of(error, names, more=more)
    if len(learners) <= _FEW:
        worth = "; ".join(each.prefix + _worth(each, result.attrs["reference"]) for each in learners)
        yield Statement("answer", f"{worth[0].upper()}{worth[1:]}.")
        for each in learners:
            if not isnan(each.reliance):
                yield Statement("detail", f"{each.prefix}{_crossings(each)}.")
    yield Statement("detail", _INDEPENDENT)


def _worth(pair: Row, reference: str) -> str:
    """Return how much data a learner is worth, or why that is not known."""
    if isnan(pair.difference):
        return f"nothing can be said; it or {reference} has no fitted curve"
    if isnan(pair.reliance):
        return "the errors of one of them are all equal: nothing tells what it is worth in data"
    if isnan(pair.data_multiplier):
        return f"no amount of data is its worth: the curve of {reference} does not fall, or levels off above its error"
    worth = f"it is worth {between(pair.data_multiplier, pair.data_multiplier_ci, '1')} times the data"
    if pair.data_multiplier_extrapolated:
        worth += _FAR
    return worth


def _crossings(pair: Row) -> str:
    """Return between which sizes no difference is shown, and where the curves cross."""
    said = []
    for begin, end, crossing in zip(*(np.atleast_1d(getattr(pair, name)).tolist() for name in STRETCH), strict=True):
        if isnan(begin):
            continue
        where = f"no difference is shown between sizes {number(begin, 4)} and {number(end, 4)}"
        if not isnan(crossing):
            where += f", where the curves cross: {number(crossing, 4)}, with that interval"
        said.append(where)
    return "; ".join(said) or "a difference is shown at every size at which both were measured"


def _sizes(sizes: Iterable[float]) -> str:
    """Return the size of curves, or the range of unlike ones."""
    said = span(sizes)
    if " to " in said:
        return f"sizes {said}"
    return f"size {said}"


def _plain(row: Row) -> str:
    """Return the label of "algorithm 'x': ", the prefix of several dims, "the curve" if there is none."""
    return re.sub(r"^\w+ '([^']*)'$", r"\1", row.prefix.removesuffix(": ")) or "the curve"


def _extremes(rows: Sequence[Row], name: str) -> str:
    """Return the least and the largest of a variable, with the names of their curves."""
    ranked = sorted((row for row in rows if not isnan(getattr(row, name))), key=lambda row: getattr(row, name))
    ends = ranked
    if len(ranked) > 2:
        ends = [ranked[0], ranked[-1]]
    return " … ".join(f"{quantity(getattr(row, name), row.units, 4)} ({_plain(row)})" for row in ends)
