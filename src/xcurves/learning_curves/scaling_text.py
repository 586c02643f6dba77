"""The sentences and tables of scaling laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, isnan

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.schema import Claim, Statement, statements
from xcurves.learning_curves.scaling_laws import PARAMS, SIZES
from xcurves.learning_curves.text import Row, between, rows_of
from xcurves.learning_curves.unfit_laws import LAW_REASONS
from xcurves.say.numbers import count, estimated, interval, joined, listed, number, percent
from xcurves.say.pairs import sides_of
from xcurves.say.result_frames import columns_of_variables, frame_of

_LOSS = "loss"  # what suites are compared for, beside budgets
MISSED = 0.02  # backtest error from which a law is named
_WORDS = 52  # of an answer
_LINES = 6  # about laws
_SCALES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
_OF_RUNS = (
    "Intervals are those of single runs, widened by how badly the law predicts its own later runs; it holds for the "
    "measured recipe only."
)
ONE_SIDED = "the loss depends on one of model size and tokens only"
_NO_CUT = "predictions have no interval: no cut keeps eight runs of three sizes and leaves two later ones."
_MISSES = "the law misses its own later runs by more than 2 % an octave, by noise or by bending."
_ONE_LAW = "If one law holds over the whole of these tokens and sizes"
_CLIPPED = "E has its lower bound at 0, the exponent of the allocation lies from 0 to 1."


def amount(value: float) -> str:
    """Return a number of parameters or tokens: 66 B, 1.4 T."""
    return next((f"{number(value / scale)} {letter}" for scale, letter in _SCALES if value >= scale), number(value))


def _budgets(result: xr.Dataset) -> list[tuple[str, str]]:
    """Return the prefix of each law and how each budget is best divided by it."""
    if "flop" not in result.dims:
        return []
    with_ci = ["n_opt", "tokens_per_parameter", "loss_at_optimum"]
    names = [*with_ci, *(f"{name}_ci" for name in with_ci), "ratio_extrapolated", "flop"]
    units = str(result["loss_at_optimum"].attrs.get("units", "1"))
    return [(row.prefix, _say_allocation(row, units)) for row in rows_of(result, names, ["flop"])]


def _say_allocation(row: Row, units: str) -> str:
    """Return how one budget is best divided."""
    if isnan(row.n_opt):
        return f"at {number(row.flop)} FLOP nothing can be said: {ONE_SIDED}"
    low, high = row.n_opt_ci
    size = interval(low, high)
    if isfinite(low) and isfinite(high):
        size = f"{amount(low)} to {amount(high)}"
    least, most = row.tokens_per_parameter_ci
    ratio = f"{estimated(row.tokens_per_parameter, least, most, 'tokens a parameter', 2)}"
    loss = between(row.loss_at_optimum, row.loss_at_optimum_ci, units)
    best = f"the best model has {amount(row.n_opt)} parameters ({size}) and {ratio}"
    sentence = f"at {number(row.flop)} FLOP {best}, with a loss of {loss}"
    if row.ratio_extrapolated:
        sentence += "; this ratio is outside those of the runs"
    return sentence


def _brief(said: Sequence[str], given: str = "") -> str:
    """Return phrases as far as they are few words, behind what they hold under; the table has the others."""
    lengths = np.cumsum([len(each.split()) for each in said])
    kept = max(1, int((lengths <= _WORDS).sum()))
    sentence = "; ".join(said[:kept])
    if len(said) > kept:
        sentence += f"; {len(said) - kept} more in the table"
    if given:
        return f"{given}, {sentence}."
    return f"{sentence[0].upper()}{sentence[1:]}."


def law_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what compute buys, the law, and how it misses its own later runs."""
    names = ["backtest_error", "unfit", "at_bound", "n_runs", "allocation_exponent", "allocation_exponent_ci"]
    laws = rows_of(result, names, more={"estimate": result["estimate"].sel(param=list(PARAMS))})
    fitted = [law for law in laws if not law.unfit]
    known = {law.prefix for law in fitted}
    budgets = [prefix + said for prefix, said in _budgets(result) if prefix in known]
    answers = budgets or [law.prefix + _exponent(law) for law in fitted]
    details = [f"{law.prefix}{_law(law)}." for law in laws]
    if "prediction" in result:
        predicted = rows_of(result, ["prediction", "prediction_ci", "at_model_size", "at_tokens"], ["n"])
        details += [f"{row.prefix}{_predicted(row)}." for row in predicted if row.prefix in known]
    if len(details) > _LINES:
        details = [*details[:_LINES], f"{len(details) - _LINES} more lines are in the table."]
    cautions: dict[str, list[str]] = {}
    for law in fitted:
        for caution in _cautions(law):
            cautions.setdefault(caution, []).append(law.prefix.removesuffix(": "))
    said = []
    for caution, names_of_laws in cautions.items():
        sentence = caution
        if names_of_laws[0]:
            sentence = f"{listed(names_of_laws, 3)}: {caution}"
        said.append(sentence[:1].upper() + sentence[1:])
    answer = "Nothing can be said: no law could be fitted."
    if answers:
        answer = _brief(answers, _ONE_LAW)
    return statements(answer, details, [*said, _OF_RUNS])


def _exponent(law: Row) -> str:
    if isnan(law.allocation_exponent):
        return ONE_SIDED
    share = estimated(law.allocation_exponent, *law.allocation_exponent_ci)
    return f"the best model size grows as compute to the power {share}"


def _law(law: Row) -> str:
    if law.unfit:
        return f"not fitted: {LAW_REASONS[law.unfit]}"
    e, a, b, alpha, beta = law.estimate
    terms = []
    if e > 0:
        terms.append(number(e, 4))
    if a > 0:
        terms.append(f"{number(a, 4)} N^−{number(alpha)}")
    if b > 0:
        terms.append(f"{number(b, 4)} D^−{number(beta)}")
    later = "no cut leaves later runs"
    if not isnan(law.backtest_error):
        later = f"it misses its own later runs by {percent(law.backtest_error, 2)} an octave"
    return f"loss = {' + '.join(terms)} from {count(law.n_runs, 'run')}; {later}; {_exponent(law)}"


def _cautions(law: Row) -> Iterator[str]:
    """Yield what to know of a law before it is relied on."""
    if isnan(law.backtest_error):
        yield _NO_CUT
    if law.backtest_error > MISSED:
        yield _MISSES
    bound = [name for name, at_bound in zip(PARAMS, law.at_bound, strict=True) if at_bound]
    if bound:
        yield f"{joined(bound)} at the bound of what is fitted. {_CLIPPED}"


def _predicted(row: Row) -> str:
    size = f"{amount(row.at_model_size)} parameters and {amount(row.at_tokens)} tokens"
    return f"at {size} a run has a loss of {between(row.prediction, row.prediction_ci, row.units)}"


def loss_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the predicted losses."""
    said = []
    for row in rows_of(result, ["prediction", "prediction_ci", *SIZES]):
        of_task = [each for each in row.prefix.removesuffix(": ").split(", ") if not each.startswith(tuple(SIZES))]
        size = f"{amount(row.model_size)} parameters and {amount(row.tokens)} tokens"
        known = "nothing can be said"
        if not isnan(row.prediction):
            known = between(row.prediction, row.prediction_ci, row.units)
        sentence = f"{size}, {known}"
        if any(of_task):
            sentence = f"{joined(of_task)}: {sentence}"
        said.append(sentence)
    return statements(_brief([f"predicted losses of a run: {said[0]}", *said[1:]]), [], [_OF_RUNS])


def allocation_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how compute is best divided."""
    return statements(_brief([prefix + said for prefix, said in _budgets(result)], _ONE_LAW), [], [_OF_RUNS])


def pairs_of_suites(result: xr.Dataset) -> xr.Dataset:
    """Return ratios of what suites need, losses at one size or compute for equal loss, each the second to the first."""
    if "pair" not in result.dims:  # one was selected
        one, other = (result[side].item() for side in ("algorithm_a", "algorithm_b"))
        result = result.drop_vars(["pair", "algorithm_a", "algorithm_b"], errors="ignore").expand_dims(
            pair=[f"{one} - {other}"]
        )
        result = result.assign_coords(algorithm_a=("pair", [one]), algorithm_b=("pair", [other]))
    given = {}
    if "loss_ratio" in result or "compute_multiplier" not in result:  # a selection may lack both
        given[_LOSS] = ("loss_ratio", result)
    if "compute_multiplier" in result:
        for budget in labels.each_of(result, "flop"):
            given[f"{budget['flop'].item()}"] = ("compute_multiplier", budget)
    ratios = [part[name].drop_vars("flop", errors="ignore") for name, part in given.values()]
    ends = [part[f"{name}_ci_simultaneous"].drop_vars("flop", errors="ignore") for name, part in given.values()]
    asked = pd.Index(list(given), name="asked")
    paired = xr.Dataset({"ratio": xr.concat(ratios, asked), "ratio_ci": xr.concat(ends, asked)}, attrs=result.attrs)
    return paired.assign_coords(algorithm_a=result["algorithm_b"], algorithm_b=result["algorithm_a"])


def claims_of_suites(paired: xr.Dataset) -> list[Claim]:
    """Return what suites are compared for: losses at one size, and compute at each budget."""
    return [Claim("asked", label) for label in np.atleast_1d(paired["asked"].to_numpy()).tolist()]


def need(part: xr.Dataset) -> str:
    """Return what is compared: "loss at 7 B parameters and 140 B tokens"."""
    if part["asked"] == _LOSS:
        return f"loss at {amount(part.attrs['model_size'])} parameters and {amount(part.attrs['tokens'])} tokens"
    return f"compute for equal loss at {number(float(part['asked'].item()))} FLOP"


def without_ratio(part: xr.Dataset) -> dict[frozenset[str], str]:
    """Return why pairs have no ratio, if they have none."""
    if part["asked"] == _LOSS:
        return dict.fromkeys(map(frozenset, sides_of(part)), "a suite has no law")
    return {
        frozenset((second, first)): f"the law of {second} never reaches the loss of {first}, or one has none"
        for second, first in sides_of(part)
    }


def more_of_suites(_: xr.Dataset) -> Iterator[Statement]:
    """Yield what intervals rest on."""
    yield Statement("detail", "Suites are taken to be trained separately.")


def law_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each law."""
    columns = {str(name): result["estimate"].sel(param=name, drop=True) for name in result["param"].to_numpy()}
    others = {"backtest": "backtest_error", "a": "allocation_exponent", "runs": "n_runs"}
    return frame_of(columns | columns_of_variables(result, others, prefixed=True))
