"""The sentences about learning curves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.labels import named_tasks
from xcurves.core.schema import Statement, statements
from xcurves.core.wording import ends_of, interval, joined, listed, number, quantity, span, units_of
from xcurves.kernels.powerlaw import FAR
from xcurves.learning_curves.curvefit import REASONS

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
STRETCH = ("equal_from", "equal_to", "crossing_size")
_FAR = " (far outside the measured sizes)"
_SCHEMES = {
    "variance-folds": "1 / (F_i sigma_i^2)",
    "variance": "1 / sigma_i^2",
    "relative": "1 / error^2",
    "uniform": "1",
}
_INDEPENDENT = (
    "Differences are first minus reference; intervals take the learners as independent, and each holds at its size by "
    "itself."
)


def fit_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what more data would change, every curve, and how it was fitted."""
    missed = _missed(result)
    return statements(_fit_answer(result, missed), _of_few(result, "error_at_n", _fit_details(result, missed)))


def _fit_answer(result: xr.Dataset, missed: list[str]) -> str:
    """Return what four times the data would change, curve by curve."""
    known = [each for each in _with_more_data(result) if each[0]["data_reliance"].notnull()]
    if len(known) > _FEW:
        return " ".join([*_of_many(known), *missed])
    fitted = [each for each in known if each[0]["gamma"].notnull()]
    said = [name + _more_data(curve, more) for curve, name, more in fitted if more is not None]
    if result["error_at_n"].size == 1 and known:
        (curve, name, _) = known[0]
        said = [name + _fit_claim(curve), *(here[0].upper() + here[1:] for here in said)]
    return " ".join(said + missed) or "Nothing can be said: no curve has errors that change with training size."


def _fit_details(result: xr.Dataset, missed: list[str]) -> Iterator[str]:
    """Yield sentences for each curve, then what holds for all."""
    for curve, name in named_tasks(result, "error_at_n"):
        said = [name + _fit_claim(curve), *_used(curve)]
        yield from said if result["error_at_n"].size == 1 else [" ".join(said)]
    yield from missed
    attrs = result.attrs
    included = "standard errors that include the uncertainty of gamma"
    how = included if attrs["gamma"] == "search" else "standard errors, gamma being given"
    how = f"{attrs['n_resamples']:,} bootstrap refits" if attrs["n_resamples"] else how
    yield f"Errors were taken as {attrs['units']}, weighted by {_SCHEMES[attrs['weights']]}; intervals are by {how}."
    if attrs["asymptote"] == "nonnegative":
        yield _WIDENED
        n_untested = int((result["backtest_error"].isnull() & result["gamma"].notnull()).sum())
        several = result["gamma"].size > 1
        if n_untested:
            yield f"{f'{n_untested} of {result.gamma.size} curves have' if several else 'The curve has'} {_UNTESTED}"
    if attrs["units"] != "loss":
        yield _TEST_SET


def _fit_claim(curve: xr.Dataset) -> str:
    at, gamma = curve["at"].item(), curve["gamma"].item()
    if curve["unfit"].item():
        return f"not fitted: {REASONS[int(curve['unfit'].item())]}."
    if gamma != gamma:
        return f"all errors are {_rate(curve['error_at_n'])}; nothing tells how they change with training size."
    error, reliance, stated = (
        between(curve[name], curve["estimate_ci"].sel(param=name)) for name in ("error_at_n", "data_reliance", "gamma")
    )
    stated = stated if curve.attrs["gamma"] == "search" else f"{number(gamma)} as given"
    said = [f"at size {number(at)} the error is {error} and the data-reliance {reliance}; gamma {stated}."]
    if curve["gamma_at_edge"].item():
        said.append(f"Gamma is at the {edge_word(gamma)} edge of its grid: the curve may not be a power law.")
    if curve["asymptote_at_bound"].item():
        said.append("The asymptotic error is at its lower bound, 0.")
    if curve["at_extrapolated"].item():
        said.append(f"Size {number(at)} is far outside the measured ones.")
    return " ".join(said)


def edge_word(gamma: float) -> str:
    """Return which edge of the grid an exponent is at."""
    return "flat" if gamma > -0.5 else "steep"


def _used(curve: xr.Dataset) -> Iterator[str]:
    """Yield which sizes the law is fitted to, if some are left out, and how it and the last fall predicted others."""
    begin, used = curve["fitted_from"].item(), int(curve["n_sizes_used"].item())
    measured = curve["training"].where(curve["n_folds"] > 0)
    left_out = int((measured < begin).sum())
    if left_out:
        last = f"the {used} sizes from {number(begin)} to {number(measured.max().item())}"
        octaves = number(curve.attrs["octaves"])
        yield f"The law is fitted to {last} ({octaves} octaves; {left_out} smaller ones left out)."
    if curve["backtest_error"].notnull():
        by_law, by_fall = (number(100 * curve[f"backtest_error_{rule}"].item(), 2) for rule in ("law", "last_fall"))
        yield f"In its own last octaves the law misses by {by_law} %, the last fall by {by_fall} % an octave."


def _with_more_data(result: xr.Dataset) -> list[tuple[xr.Dataset, str, xr.Dataset | None]]:
    """Return each curve with its name and what is predicted for four times its data."""
    from xcurves.learning_curves.predict import predict  # imports the kinds, which import this module

    curves = list(named_tasks(result, "error_at_n"))
    try:
        predicted = predict(result, FAR * result["training"].where(result["n_folds"] > 0).max("training"))
    except ValueError:  # a selection left out what predictions need
        return [(curve, name, None) for curve, name in curves]
    there = labels.tasks_of(predicted, "prediction")
    return [(curve, name, more) for (curve, name), more in zip(curves, there, strict=True)]


def _more_data(curve: xr.Dataset, more: xr.Dataset) -> str:
    """Return what four times the data are predicted to change."""
    predicted = between(more["prediction"], more["prediction_ci"])
    low, high = ends_of(more["change_ratio_ci"])
    verdict = "a fall is shown" if high < 1 else "a rise is shown" if low > 1 else "whether it falls is not shown"
    at, size = number(curve["at"].item()), number(more["n"].item())
    return f"four times the data, {size}, give a predicted error of {predicted}; from {at} {verdict}."


def _of_many(known: list[tuple[xr.Dataset, str, xr.Dataset | None]]) -> Iterator[str]:
    """Yield the range of errors of many curves, and for how many of them more data is shown to lower it."""
    ranked = _ranked(known, "error_at_n")
    yield f"Errors at {_at([curve['at'] for curve, _, _ in ranked])}: {_extremes(ranked, 'error_at_n')}."
    more = [(each, name) for _, name, each in known if each is not None]
    if more:
        n_falls = sum(ends_of(each["change_ratio_ci"])[1] < 1 for each, _ in more)
        best, name = _ranked(more, "prediction")[0]
        predicted = f"{_rate(best['prediction'])} ({interval(*ends_of(best['prediction_ci']))}), {_plain(name)}"
        shown = f"With four times the data a fall is shown for {n_falls} of {len(more)}"
        yield f"{shown}; the lowest predicted error is {predicted}."


def _missed(result: xr.Dataset) -> list[str]:
    """Return which curves miss their own last octaves, as a sentence, if any does."""
    said = [
        f"{_plain(name) or 'the curve'} ({number(100 * curve['backtest_error'].item())} %)"
        for curve, name in named_tasks(result, "error_at_n")
        if curve["backtest_error"] > MISSED
    ]
    verb, law = ("miss their", "they are no power laws") if len(said) > 1 else ("misses its", "it is no power law")
    sentence = (
        f"Do not rely on predictions: {joined(said, most=2)} {verb} own last octaves by more than 10 % a doubling, by "
        f"noise or because {law}."
    )
    return [sentence] if said else []


def prediction_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the predictions and how they were made."""
    return statements(_prediction_answer(result), _of_few(result, "prediction", _prediction_details(result)))


def _prediction_answer(result: xr.Dataset) -> str:
    """Return the prediction at the largest size, curve by curve."""
    last = result.isel(n=-1) if "n" in result.dims else result
    known = [each for each in named_tasks(last, "prediction") if each[0]["prediction"].notnull()]
    if len(known) > _FEW:
        ends = _extremes(_ranked(known, "prediction"), "prediction")
        return f"Predicted errors at {_at([curve['n'] for curve, _ in known])}: {ends}."
    said = [
        f"{name}{between(curve['prediction'], curve['prediction_ci'])} at size {number(curve['n'].item())}"
        for curve, name in known
    ]
    return f"Predicted errors: {'; '.join(said)}." if said else "Nothing can be said: there is no fitted curve."


def _prediction_details(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each curve and size, then what holds for all."""
    for curve, name in named_tasks(result, "prediction"):
        if curve["prediction"].isnull().all():
            yield f"{name}nothing can be said; there is no fitted curve."
            continue
        for here in labels.each_of(curve, "n") if "n" in curve.dims else [curve]:
            yield f"{name}{_say_prediction(here)}."
    rule = _RULES[result.attrs["method"]]
    yield f"Predictions are by {rule}; intervals are for the expected error, not for that of one more training."


def _say_prediction(here: xr.Dataset) -> str:
    """Return what is predicted for one size of a curve."""
    predicted, change, ratio = (
        between(here[name], here[f"{name}_ci"]) for name in ("prediction", "change", "change_ratio")
    )
    by_ratio = here.attrs["asymptote"] != "free" and here["change_ratio"].notnull()
    change = f"changes to {ratio} of what it is" if by_ratio else f"changes by {change}"
    if "difference" in here:
        difference = between(here["difference"], here["difference_ci"])
        change += f"; it differs from that of {here.attrs['reference']} by {difference}"
    size, before = number(here["n"].item()), number(here["at"].item())
    far = "; this is far outside the measured sizes" if here["extrapolated"].item() else ""
    return f"at size {size} the predicted error is {predicted}; from {before} to {size} the error {change}{far}"


def left_out_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield for each task which variant predicts best, and whether the first differs."""
    first, said = str(result["variant"].to_numpy()[0]), []
    for task, name in named_tasks(result, "r_squared"):
        average, units = task["rmse"].mean("training"), units_of(task["rmse"])
        if average.isnull().all():
            said.append(f"{name}nothing can be said; there are no errors.")
            continue
        best = average.idxmin("variant").item()
        least, own = (quantity(average.sel(variant=each).item(), units, 4) for each in (best, first))
        beside = f"; {first!r} has {own}." if best != first else "."
        said.append(f"{name}{best!r} predicts sizes left out best, with an average RMSE of {least}{beside}")
    p = f"p compares with {first!r} by a paired t-test over curves and sizes, a guide only: they are dependent."
    return statements(joined(said, " "), [*said, p])


def learner_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how much data each learner is worth, and the differences."""
    pairs = list(named_tasks(result, "data_multiplier"))
    worth = [name + _worth(pair) for pair, name in pairs]
    answer = _beside(pairs) if len(pairs) > _FEW else f"{'; '.join(worth)}."
    return statements(answer, _of_few(result, "data_multiplier", _learner_details(pairs)))


def _learner_details(pairs: list[tuple[xr.Dataset, str]]) -> Iterator[str]:
    """Yield a sentence for each learner, then what holds for all."""
    for pair, name in pairs:
        error, reliance = (pair.sel(param=param) for param in ("error_at_n", "data_reliance"))
        said = [_worth(pair)]
        if error["difference"].notnull():
            between_both = between(error["difference"], error["difference_ci"])
            said.insert(0, f"error differs from that of {pair.attrs['reference']} by {between_both}")
        if reliance["difference"].notnull():
            said.append(_crossings(pair))
        yield f"{name}{'; '.join(said)}."
    yield _INDEPENDENT


def _worth(pair: xr.Dataset) -> str:
    """Return how much data a learner is worth, or why that is not known."""
    multiplier, reference = pair["data_multiplier"], pair.attrs["reference"]
    if pair["difference"].sel(param="error_at_n").isnull():
        return f"nothing can be said; it or {reference} has no fitted curve"
    if pair["difference"].sel(param="data_reliance").isnull():
        return "the errors of one of them are all equal: nothing tells what it is worth in data"
    if multiplier.isnull():
        return f"no amount of data is its worth: the curve of {reference} does not fall, or levels off above its error"
    far = _FAR * pair["data_multiplier_extrapolated"].item()
    return f"it is worth {between(multiplier, pair['data_multiplier_ci'])} times the data{far}"


def _crossings(pair: xr.Dataset) -> str:
    """Return between which sizes no difference is shown, and where the curves cross."""
    said = []
    for begin, end, crossing in zip(*(np.atleast_1d(pair[name]).tolist() for name in STRETCH), strict=True):
        if begin == begin:
            where = f"no difference is shown between sizes {number(begin, 4)} and {number(end, 4)}"
            here = f"{where}, where the curves cross: {number(crossing, 4)}, with that interval"
            said.append(here if crossing == crossing else where)
    return "; ".join(said) or "a difference is shown at every size at which both were measured"


def _beside(pairs: list[tuple[xr.Dataset, str]]) -> str:
    """Return which of many learners have a lower or a higher error than the reference."""
    errors = [(pair.sel(param="error_at_n"), _plain(name)) for pair, name in pairs]
    known = [(error["difference"].item(), *ends_of(error["difference_ci"]), name) for error, name in errors]
    known = sorted(each for each in known if each[0] == each[0])
    lower, higher = [each for each in known if each[2] < 0], [each for each in known[::-1] if each[1] > 0]
    said = []
    for word, found in (("lower", lower), ("higher", higher)):
        ends = dict.fromkeys([*found[:1], *found[-1:]])
        by = " … ".join(f"{number(abs(size))} ({name})" for size, _, _, name in ends)
        said += [f"shown {word} for {len(found)}, by {by}"] * bool(found)
    rest = [each[3] for each in known if each[1] <= 0 <= each[2]]
    said += [f"not shown to differ for {listed(rest, 3)}"] * bool(rest)
    at = _at([pair["at"] for pair, _ in pairs])
    reference = pairs[0][0].attrs["reference"]
    return f"Beside {reference}, the error at {at}: {'; '.join(said) or 'nothing can be said'}."


def between(estimate: xr.DataArray, bounds: xr.DataArray) -> str:
    """Return an estimate with its unit and its interval."""
    return f"{_rate(estimate)} ({interval(*ends_of(bounds), 4)})"


def _at(sizes: list[xr.DataArray]) -> str:
    """Return the size of curves, or the range of unlike ones."""
    said = span(size.item() for size in sizes)
    return f"sizes {said}" if " to " in said else f"size {said}"


def _rate(value: xr.DataArray) -> str:
    return quantity(value.item(), units_of(value), 4)


def _plain(name: str) -> str:
    """Return the label in a prefix of messages, "algorithm 'x': "; of several dims the prefix."""
    return re.sub(r"^\w+ '([^']*)'$", r"\1", name.removesuffix(": "))


def _ranked(curves: list[Any], variable: str) -> list[Any]:
    """Return curves, each with what goes with it, by the size of a variable; without those that lack it."""
    known = [each for each in curves if each[0][variable].notnull()]
    return sorted(known, key=lambda each: float(each[0][variable].item()))


def _extremes(ranked: list[Any], variable: str) -> str:
    """Return the least and the largest of a variable, with the names of their curves."""
    return " … ".join(f"{_rate(each[0][variable])} ({_plain(each[1])})" for each in (ranked[0], ranked[-1]))


def _of_few(result: xr.Dataset, variable: str, said: Iterator[str]) -> list[str]:
    """Return sentences without those of single curves, if there are many: the table has them."""
    names = tuple(name for name in labels.result_names(result[variable].isel(n=0, missing_dims="ignore")) if name)
    return [each for each in said if len(names) <= _FEW or not each.startswith(names)]
