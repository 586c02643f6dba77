"""The sentences about learning curves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xcurves import kinds
from xcurves.core import labels
from xcurves.core.labels import named_tasks
from xcurves.core.schema import Statement, statements
from xcurves.core.wording import ends_of, interval, joined, listed, number, percent, quantity, span, units_of
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
    curves = _with_more_data(result)
    known = [each for each in curves if each[0]["data_reliance"].notnull()]
    claims = [f"{name}{' '.join([*_fit_claim(curve), *_used(curve)])}" for curve, name, _ in curves]
    fitted = [each for each in known if each[0]["gamma"].notnull()]
    said = [name + _more_data(curve, more) for curve, name, more in fitted if more is not None]
    answer = list(_of_many(known)) if len(known) > _FEW else said or claims[: len(known)]
    answer = answer or ["nothing can be said: no curve has errors that change with training size."]
    missed = _missed(curves)
    start = answer[0] if curves[0][1] else answer[0][0].upper() + answer[0][1:]
    details = [*(claims if len(claims) <= _FEW else ()), *missed, *_fitted_how(result)]
    return statements(" ".join([start, *answer[1:], *missed]), details)


def _fitted_how(result: xr.Dataset) -> Iterator[str]:
    """Yield what holds for all curves."""
    attrs = result.attrs
    how = "standard errors" + (", gamma being given" if attrs["gamma"] != "search" else " that include that of gamma")
    how = f"{attrs['n_resamples']:,} bootstrap refits" if attrs["n_resamples"] else how
    yield f"Errors were taken as {attrs['units']}, weighted by {_SCHEMES[attrs['weights']]}; intervals are by {how}."
    if attrs["asymptote"] == "nonnegative":
        n_untested = int((result["backtest_error"].isnull() & result["gamma"].notnull()).sum())
        several = f"{n_untested} of {result['gamma'].size} curves have" if result["gamma"].size > 1 else "The curve has"
        yield _WIDENED + f" {several} {_UNTESTED}" * (n_untested > 0)
    if attrs["units"] != "loss":
        yield _TEST_SET


def _fit_claim(curve: xr.Dataset) -> Iterator[str]:
    """Yield what one curve is, and what to know of it."""
    at, gamma = curve["at"].item(), curve["gamma"].item()
    if curve["unfit"].item():
        yield f"not fitted: {REASONS[int(curve['unfit'].item())]}."
        return
    if gamma != gamma:
        yield f"all errors are {_rate(curve['error_at_n'])}; nothing tells how they change with training size."
        return
    error, reliance, stated = (
        between(curve[name], curve["estimate_ci"].sel(param=name)) for name in ("error_at_n", "data_reliance", "gamma")
    )
    stated = stated if curve.attrs["gamma"] == "search" else f"{number(gamma)} as given"
    yield f"at size {number(at)} the error is {error} and the data-reliance {reliance}; gamma {stated}."
    if curve["gamma_at_edge"].item():
        yield f"Gamma is at the {edge_word(gamma)} edge of its grid: the curve may not be a power law."
    if curve["asymptote_at_bound"].item():
        yield "The asymptotic error is at its lower bound, 0."
    if curve["at_extrapolated"].item():
        yield f"Size {number(at)} is far outside the measured ones."


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
        by_law, by_fall = (percent(curve[f"backtest_error_{rule}"].item(), 2) for rule in ("law", "last_fall"))
        yield f"In its own last octaves the law misses by {by_law}, the last fall by {by_fall} an octave."


def _with_more_data(result: xr.Dataset) -> list[tuple[xr.Dataset, str, xr.Dataset | None]]:
    """Return each curve with its name and what is predicted for four times its data."""
    curves = list(named_tasks(result, "error_at_n"))
    try:
        predicted = kinds.function("predict")(
            result, FAR * result["training"].where(result["n_folds"] > 0).max("training")
        )
    except (ValueError, KeyError):  # a selection left out what predictions need
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
    yield f"Errors at {_at(known, 'at')}: {_extremes(known, 'error_at_n')}."
    more = [(each, name) for _, name, each in known if each is not None]
    if more:
        n_falls = sum(ends_of(each["change_ratio_ci"])[1] < 1 for each, _ in more)
        shown = f"With four times the data a fall is shown for {n_falls} of {len(more)}"
        yield f"{shown}; the predicted errors are {_extremes(more, 'prediction')}."


def _missed(curves: list[tuple[xr.Dataset, str, xr.Dataset | None]]) -> list[str]:
    """Return which curves miss their own last octaves, as a sentence, if any does."""
    said = [
        f"{_plain(name) or 'the curve'} ({percent(curve['backtest_error'].item())})"
        for curve, name, _ in curves
        if curve["backtest_error"] > MISSED
    ]
    verb, law = ("miss their", "they are no power laws") if len(said) > 1 else ("misses its", "it is no power law")
    missed = f"{joined(said, most=2)} {verb} own last octaves by more than 10 % a doubling, by noise or because {law}"
    return [f"Do not rely on predictions: {missed}."] if said else []


def prediction_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the predictions at the largest size, all of few curves, and how they were made."""
    curves = list(named_tasks(result, "prediction"))
    last = [(curve.isel(n=-1, missing_dims="ignore"), name) for curve, name in curves]
    known = [each for each in last if each[0]["prediction"].notnull()]
    if len(known) > _FEW:
        answer = f"Predicted errors at {_at(known, 'n')}: {_extremes(known, 'prediction')}."
    else:
        said = [
            f"{name}{between(curve['prediction'], curve['prediction_ci'])} at size {number(curve['n'].item())}"
            for curve, name in known
        ]
        answer = f"Predicted errors: {'; '.join(said)}." if said else "Nothing can be said: there is no fitted curve."
    details = [
        f"{name}{_say_prediction(here)}."
        for curve, name in (curves if len(curves) <= _FEW else [])
        for here in (labels.each_of(curve, "n") if "n" in curve.dims else [curve])
    ]
    how = f"Predictions are by {_RULES[result.attrs['method']]}; intervals are for the expected error"
    return statements(answer, [*details, f"{how}, not for that of one more training."])


def _say_prediction(here: xr.Dataset) -> str:
    """Return what is predicted for one size of a curve."""
    if here["prediction"].isnull():
        return "nothing can be said; there is no fitted curve"
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
    if len(pairs) > _FEW:
        return statements(_beside(pairs), [_INDEPENDENT])
    details = []
    for pair, name in pairs:
        error, reliance = (pair.sel(param=param) for param in ("error_at_n", "data_reliance"))
        by = between(error["difference"], error["difference_ci"])
        said = [f"error differs from that of {pair.attrs['reference']} by {by}"] * bool(error["difference"].notnull())
        crossings = [_crossings(pair)] * bool(reliance["difference"].notnull())
        details.append(f"{name}{'; '.join([*said, _worth(pair), *crossings])}.")
    return statements(f"{'; '.join(name + _worth(pair) for pair, name in pairs)}.", [*details, _INDEPENDENT])


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
    said = []
    for word, found in (
        ("lower", [each for each in known if each[2] < 0]),
        ("higher", [each for each in known[::-1] if each[1] > 0]),
    ):
        ends = dict.fromkeys([*found[:1], *found[-1:]])
        by = " … ".join(f"{number(abs(size))} ({name})" for size, _, _, name in ends)
        said += [f"shown {word} for {len(found)}, by {by}"] * bool(found)
    rest = [each[3] for each in known if each[1] <= 0 <= each[2]]
    said += [f"not shown to differ for {listed(rest, 3)}"] * bool(rest)
    reference = pairs[0][0].attrs["reference"]
    return f"Beside {reference}, the error at {_at(pairs, 'at')}: {'; '.join(said) or 'nothing can be said'}."


def between(estimate: xr.DataArray, bounds: xr.DataArray) -> str:
    """Return an estimate with its unit and its interval."""
    return f"{_rate(estimate)} ({interval(*ends_of(bounds), 4)})"


def _at(curves: Sequence[tuple[Any, ...]], size: str) -> str:
    """Return the size of curves, each with what goes with it, or the range of unlike ones."""
    said = span(curve[size].item() for curve, *_ in curves)
    return f"sizes {said}" if " to " in said else f"size {said}"


def _rate(value: xr.DataArray) -> str:
    return quantity(value.item(), units_of(value), 4)


def _plain(name: str) -> str:
    """Return the label in a prefix of messages, "algorithm 'x': "; of several dims the prefix."""
    return re.sub(r"^\w+ '([^']*)'$", r"\1", name.removesuffix(": "))


def _extremes(curves: Sequence[tuple[Any, ...]], variable: str) -> str:
    """Return the least and the largest of a variable, with the names of their curves, the second in each tuple."""
    ranked = sorted((float(each[0][variable]), i) for i, each in enumerate(curves) if each[0][variable].notnull())
    ends = [curves[i] for _, i in (ranked[0], ranked[-1])]
    return " … ".join(f"{_rate(each[0][variable])} ({_plain(each[1])})" for each in ends)
