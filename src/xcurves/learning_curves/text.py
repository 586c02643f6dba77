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
from xcurves.core.wording import ends_of, interval, joined, listed, number, quantity
from xcurves.learning_curves.error_rates import REASONS
from xcurves.learning_curves.prediction_kernel import predicted_curves
from xcurves.learning_curves.read_fit import check_fit

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
    for curve, name in named_tasks(result, "error_at_n"):
        said = [name + _fit_claim(curve), *_used(curve)]
        yield from said if result["error_at_n"].size == 1 else [" ".join(said)]
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
    if taken != "loss":
        yield _TEST_SET


def _fit_claim(curve: xr.Dataset) -> str:
    at, gamma = curve["at"].item(), curve["gamma"].item()
    if curve["unfit"].item():
        return f"not fitted: {REASONS[int(curve['unfit'].item())]}."
    if gamma != gamma:
        return f"all errors are {_rate(curve['error_at_n'])}; nothing tells how they change with training size."
    error, reliance = (_estimate(curve, name) for name in ("error_at_n", "data_reliance"))
    fixed = curve.attrs.get("gamma", "search") != "search"
    stated = f"{number(gamma)} as given" if fixed else _estimate(curve, "gamma")
    said = [f"at size {number(at)} the error is {error} and the data-reliance {reliance}; gamma {stated}."]
    if curve["gamma_at_edge"].item():
        edge = edge_word(gamma)
        said.append(f"Gamma is at the {edge} edge of its grid: the curve may not be a power law.")
    if curve["asymptote_at_bound"].item():
        said.append("The asymptotic error is at its lower bound, 0.")
    if curve["at_extrapolated"].item():
        said.append(f"Size {number(at)} is far outside the measured ones.")
    return " ".join(said)


def _used(curve: xr.Dataset) -> Iterator[str]:
    """Yield which sizes the law is fitted to, if some are left out, and how it and the last fall predicted others."""
    begin, used = curve["fitted_from"].item(), int(curve["n_sizes_used"].item())
    measured = curve["training"].where(curve["n_folds"] > 0)
    left_out = int((measured < begin).sum())
    if left_out:
        octaves = curve.attrs.get("octaves", "all")
        last = f"the {used} sizes from {number(begin)} to {number(measured.max().item())} ({number(octaves)} octaves"
        yield f"The law is fitted to {last}; {left_out} smaller ones left out)."
    if curve["backtest_error"].notnull():
        law, fall = (100 * curve[f"backtest_error_{rule}"].item() for rule in ("law", "last_fall"))
        by_law, by_fall = number(law, 2), number(fall, 2)
        yield f"In its own last octaves the law misses by {by_law} %, the last fall by {by_fall} % an octave."


def _with_more_data(result: xr.Dataset) -> Iterator[tuple[xr.Dataset, str, xr.Dataset | None]]:
    """Yield each curve with its name and what is predicted for four times its data."""
    try:
        check_fit(result)
    except ValueError:  # a selection left out what predictions need
        yield from ((curve, name, None) for curve, name in named_tasks(result, "error_at_n"))
        return
    predicted = predicted_curves(result, None).assign_attrs(result.attrs)
    predicted["prediction"].attrs = result["error_at_n"].attrs
    there = labels.tasks_of(predicted, "prediction")
    yield from ((curve, name, next(there)) for curve, name in named_tasks(result, "error_at_n"))


def _more_data(curve: xr.Dataset, more: xr.Dataset | None) -> Iterator[str]:
    """Yield what four times the data are predicted to change."""
    if more is None or curve["gamma"].isnull():
        return
    predicted = _between(more["prediction"], more["prediction_ci"])
    at, size = curve["at"].item(), more["size"].item()
    ratio = more["change_ratio_ci"].sel(ci_bound=list(labels.CI_BOUNDS)).to_numpy()
    shown = "a fall" if ratio[1] < 1 else "a rise" if ratio[0] > 1 else "no change"
    verdict = f"{shown} is shown" if shown != "no change" else "whether it falls is not shown"
    yield f"four times the data, {number(size)}, give a predicted error of {predicted}; from {number(at)} {verdict}."


def _missed(result: xr.Dataset) -> str:
    """Return which curves miss their own last octaves, "" if none does."""
    said = [
        f"{_plain(name) or 'the curve'} ({number(100 * curve['backtest_error'].item())} %)"
        for curve, name in named_tasks(result, "error_at_n")
        if curve["backtest_error"] > MISSED
    ]
    if not said:
        return ""
    verb, law = ("miss their", "they are no power laws") if len(said) > 1 else ("misses its", "it is no power law")
    return (
        f"Do not rely on predictions: {joined(said, most=2)} {verb} own last octaves by more than 10 % a doubling, by "
        f"noise or because {law}."
    )


def _untested(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence about curves that are too short to be tested on their own last octaves."""
    n_untested = int((result["backtest_error"].isnull() & result["gamma"].notnull()).sum())
    if n_untested:
        of = f"{n_untested} of {result['gamma'].size} curves have" if result["gamma"].size > 1 else "The curve has"
        yield f"{of} {_UNTESTED}"


def prediction_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each curve and size, then what holds for all."""
    for curve, name in named_tasks(result, "prediction"):
        if curve["prediction"].isnull().all():
            yield f"{name}nothing can be said; there is no fitted curve."
            continue
        for here in [curve.isel(n=i) for i in range(curve.sizes["n"])] if "n" in curve.dims else [curve]:
            yield f"{name}{_prediction(here, result)}."
    rule = _RULES[result.attrs.get("method", "power-law")]
    yield f"Predictions are by {rule}; intervals are for the expected error, not for that of one more training."


def _prediction(here: xr.Dataset, result: xr.Dataset) -> str:
    """Return what is predicted for one size of a curve."""
    far = "; this is far outside the measured sizes" if here["extrapolated"].item() else ""
    n, at = here["n"].item(), here["at"].item()
    interval = _between(here["prediction"], here["prediction_ci"])
    if result.attrs.get("asymptote") == "free" or here["change_ratio"].isnull():
        change = f"changes by {_between(here['change'], here['change_ci'])}"
    else:
        change = f"changes to {_between(here['change_ratio'], here['change_ratio_ci'])} of what it is"
    versus = ""
    if "difference" in here:
        difference = _between(here["difference"], here["difference_ci"])
        versus = f"; it differs from that of {result.attrs['reference']} by {difference}"
    size, before = number(n), number(at)
    return f"at size {size} the predicted error is {interval}; from {before} to {size} the error {change}{versus}{far}"


def left_out_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task: which variant predicts best, and whether the first differs."""
    first = str(result["variant"].to_numpy()[0])
    for task, name in named_tasks(result, "r_squared"):
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
    for pair, name in named_tasks(result, "data_multiplier"):
        error = pair.sel(param="error_at_n")
        if error["difference"].isnull():
            yield f"{name}nothing can be said; it or {reference} has no fitted curve."
            continue
        said = [f"error differs from that of {reference} by {_between(error['difference'], error['difference_ci'])}"]
        if pair["difference"].sel(param="data_reliance").isnull():
            said.append("the errors of one of them are all equal: nothing tells what it is worth in data")
        else:
            said += [_worth(pair, reference), _crossings(pair)]
        yield f"{name}{'; '.join(said)}."
    yield (
        "Differences are first minus reference; intervals take the learners as independent, and each holds at its size "
        "by itself."
    )


def _worth(pair: xr.Dataset, reference: Any) -> str:
    multiplier = pair["data_multiplier"]
    if multiplier.isnull():
        return f"no amount of data is its worth: the curve of {reference} does not fall, or levels off above its error"
    far = _FAR * pair["data_multiplier_extrapolated"].item()
    return f"it is worth {_between(multiplier, pair['data_multiplier_ci'])} times the data{far}"


def _crossings(pair: xr.Dataset) -> str:
    """Return between which sizes no difference is shown, and where the curves cross."""
    said = []
    for begin, end, crossing in zip(*(np.atleast_1d(pair[name]).tolist() for name in _STRETCH), strict=True):
        if begin == begin:
            where = f"no difference is shown between sizes {number(begin, 4)} and {number(end, 4)}"
            here = f"{where}, where the curves cross: {number(crossing, 4)}, with that interval"
            said.append(here if crossing == crossing else where)
    return "; ".join(said) or "a difference is shown at every size at which both were measured"


def _estimate(curve: xr.Dataset, name: str) -> str:
    return _between(curve[name], curve["estimate_ci"].sel(param=name))


def _between(estimate: xr.DataArray, bounds: xr.DataArray) -> str:
    return f"{_rate(estimate)} ({interval(*ends_of(bounds), 4)})"


def _rate(value: xr.DataArray, like: xr.DataArray | None = None) -> str:
    return quantity(value.item(), (value if like is None else like).attrs.get("units", "1"), 4)


def fit_answer(result: xr.Dataset) -> str:
    """Return what four times the data would change, curve by curve."""
    known = [each for each in _with_more_data(result) if each[0]["data_reliance"].notnull()]
    if len(known) > _FEW:
        return " ".join([_of_many(known), *([_missed(result)] if _missed(result) else [])])
    said = [f"{name}{here}" for curve, name, more in known for here in _more_data(curve, more)]
    if result["error_at_n"].size == 1 and known:
        (curve, name, _) = known[0]
        said = [name + _fit_claim(curve), *(here[0].upper() + here[1:] for here in said)]
    missed = _missed(result)
    said += [missed] if missed else []
    return joined(said, " ") or "Nothing can be said: no curve has errors that change with training size."


def prediction_answer(result: xr.Dataset) -> str:
    """Return the prediction at the largest size, curve by curve."""
    last = result.isel(n=-1) if "n" in result.dims else result
    if last["prediction"].notnull().sum() > _FEW:
        ranked = _ranked(list(named_tasks(last, "prediction")), "prediction")
        ends = " … ".join(f"{_rate(curve['prediction'])} ({_plain(name)})" for curve, name in (ranked[0], ranked[-1]))
        return f"Predicted errors at size {number(last['n'].item())}: {ends}."
    said = [
        f"{name}{_between(curve['prediction'], curve['prediction_ci'])} at size {number(curve['n'].item())}"
        for curve, name in named_tasks(last, "prediction")
        if curve["prediction"].notnull()
    ]
    return f"Predicted errors: {joined(said, '; ')}." if said else "Nothing can be said: there is no fitted curve."


def left_out_answer(result: xr.Dataset) -> str:
    """Return which variant predicts sizes left out best."""
    return joined(list(left_out_sentences(result))[:-1], " ")


def learner_answer(result: xr.Dataset) -> str:
    """Return how much data each learner is worth."""
    reference = result.attrs.get("reference", "the reference")
    tasks = list(named_tasks(result, "data_multiplier"))
    if len(tasks) > _FEW:
        return _beside(tasks, reference)
    said = [f"{name}{_worth(pair, reference)}" for pair, name in tasks]
    return f"{joined(said, '; ')}."


def _beside(tasks: list[tuple[xr.Dataset, str]], reference: object) -> str:
    """Return which of many learners have a lower or a higher error than the reference."""
    errors = [(pair.sel(param="error_at_n"), _plain(name)) for pair, name in tasks]
    known = [(error["difference"].item(), *ends_of(error["difference_ci"]), name) for error, name in errors]
    known = sorted(each for each in known if each[0] == each[0])
    said = []
    for word, found in (
        ("lower", [each for each in known if each[2] < 0]),
        ("higher", [each for each in known[::-1] if each[1] > 0]),
    ):
        if found:
            ends = list(dict.fromkeys([found[0], found[-1]]))
            by = " … ".join(f"{number(abs(size))} ({name})" for size, _, _, name in ends)
            said.append(f"shown {word} for {len(found)}, by {by}")
    rest = [each[3] for each in known if each[1] <= 0 <= each[2]]
    said += [f"not shown to differ for {listed(rest, 3)}"] if rest else []
    at = number(tasks[0][0]["at"].item()) if "at" in tasks[0][0].coords else "N"
    return f"Beside {reference}, the error at size {at}: {'; '.join(said) or 'nothing can be said'}."


def _plain(name: str) -> str:
    """Return the label in a prefix of messages, "algorithm 'x': "."""
    return re.sub(r"^\w+ '(.*)'$", r"\1", name.removesuffix(": "))


def _ranked(curves: list[Any], variable: str) -> list[Any]:
    """Return curves, each with what goes with it, by the size of a variable; without those that lack it."""
    known = [each for each in curves if each[0][variable].notnull()]
    return sorted(known, key=lambda each: float(each[0][variable].item()))


def _of_many(known: list[tuple[xr.Dataset, str, xr.Dataset | None]]) -> str:
    """Return the range of errors of many curves, and for how many of them more data is shown to lower it."""
    ranked = _ranked(known, "error_at_n")
    at = number(ranked[0][0]["at"].item())
    ends = " … ".join(f"{_rate(curve['error_at_n'])} ({_plain(name)})" for curve, name, _ in (ranked[0], ranked[-1]))
    more = [(each, name) for _, name, each in known if each is not None]
    falls = [name for each, name in more if ends_of(each["change_ratio_ci"])[1] < 1]
    said = [f"Errors at size {at}: {ends}."]
    if more:
        best, name = _ranked(more, "prediction")[0]
        predicted = f"{_rate(best['prediction'])} ({interval(*ends_of(best['prediction_ci']))}), {_plain(name)}"
        said.append(
            f"With four times the data a fall is shown for {len(falls)} of {len(more)}; the lowest predicted error is "
            f"{predicted}."
        )
    return " ".join(said)


def edge_word(gamma: float) -> str:
    """Return which edge of the grid an exponent is at."""
    return "flat" if gamma > -0.5 else "steep"


def fit_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what more data would change, every curve, and how it was fitted."""
    return statements(fit_answer(result), _of_few(result, "error_at_n", fit_sentences(result)))


def prediction_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the predictions and how they were made."""
    return statements(prediction_answer(result), _of_few(result, "prediction", prediction_sentences(result)))


def left_out_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield which variant predicts best."""
    return statements(left_out_answer(result), left_out_sentences(result))


def learner_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how much data each learner is worth, and the differences."""
    return statements(learner_answer(result), _of_few(result, "data_multiplier", learner_sentences(result)))


def _of_few(result: xr.Dataset, variable: str, said: Iterator[str]) -> list[str]:
    """Return sentences without those of single curves, if there are many: the table has them."""
    names = tuple(name for name in labels.result_names(result[variable].isel(n=0, missing_dims="ignore")) if name)
    return [each for each in said if len(names) <= _FEW or not each.startswith(names)]
