"""The sentences and tables of scaling laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.labels import each_of, named_tasks
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of
from xcurves.core.wording import ends_of, interval, joined, listed, number, percent
from xcurves.learning_curves.scaling_laws import LAW_REASONS, SIZES
from xcurves.learning_curves.text import between

MISSED = 0.02  # backtest error from which a law is named
_WORDS = 52  # of an answer
_LINES = 6  # about laws
_SCALES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
_OF_RUNS = (
    "Intervals are those of single runs, widened by how badly the law predicts its own later runs; it holds for the "
    "measured recipe only."
)
ONE_SIDED = "the loss depends on one of model size and tokens only"
_CLIPPED = "E has its lower bound at 0, the exponent of the allocation lies from 0 to 1."


def amount(value: float) -> str:
    """Return a number of parameters or tokens: 66 B, 1.4 T."""
    for scale, letter in _SCALES:
        if value >= scale:
            return f"{number(value / scale)} {letter}"
    return number(value)


def _say_allocation(here: xr.Dataset) -> str:
    """Return how one budget is best divided."""
    if here["n_opt"].isnull():
        return f"at {number(here['flop'].item())} FLOP nothing can be said: {ONE_SIDED}"
    far = "; this ratio is outside those of the runs" if here["ratio_extrapolated"].item() else ""
    low, high = ends_of(here["n_opt_ci"])
    size = f"{amount(low)} to {amount(high)}" if np.isfinite([low, high]).all() else interval(low, high)
    ratio = f"{number(here['tokens_per_parameter'].item(), 2)} tokens a parameter"
    return (
        f"at {number(here['flop'].item())} FLOP the best model has {amount(here['n_opt'].item())} parameters "
        f"({size}) and {ratio} ({interval(*ends_of(here['tokens_per_parameter_ci']), 2)}), "
        f"with a loss of {between(here['loss_at_optimum'], here['loss_at_optimum_ci'])}{far}"
    )


def _budgets(law: xr.Dataset) -> list[str]:
    return [_say_allocation(here) for here in each_of(law, "flop")] if "flop" in law.dims else []


def _brief(said: Sequence[str], most: int = _WORDS) -> str:
    """Return phrases as far as they are few words; the table has the others."""
    lengths = np.cumsum([len(each.split()) for each in said])
    kept = max(1, int((lengths <= most).sum()))
    more = f"; {len(said) - kept} more in the table" if len(said) > kept else ""
    return f"{said[0][0].upper()}{'; '.join(said[:kept])[1:]}{more}."


def law_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what compute buys, the law, and how it misses its own later runs."""
    answers: list[str] = []
    details: list[str] = []
    cautions: dict[str, list[str]] = {}
    for law, name in named_tasks(result, "backtest_error"):
        if law["unfit"].item():
            details.append(f"{name}not fitted: {LAW_REASONS[int(law['unfit'].item())]}.")
            continue
        share = _exponent(law)
        answers += [f"{name}{each}" for each in _budgets(law) or [share]]
        details.append(f"{name}{_law(law)}; {share}.")
        details += [f"{name}{_predicted(law.isel(n=i))}." for i in range(law.sizes.get("n", 0))]
        for caution in _cautions(law):
            cautions.setdefault(caution, []).append(name.removesuffix(": "))
    answer = _brief(answers) if answers else "Nothing can be said: no law could be fitted."
    if len(details) > _LINES:
        details = [*details[:_LINES], f"{len(details) - _LINES} more lines are in the table."]
    said = [f"{listed(names, 3)}: {each}" if names[0] else each for each, names in cautions.items()]
    yield from statements(answer, details, [*(each[:1].upper() + each[1:] for each in said), _OF_RUNS])


def _exponent(law: xr.Dataset) -> str:
    if law["allocation_exponent"].isnull():
        return ONE_SIDED
    ends = interval(*ends_of(law["allocation_exponent_ci"]))
    return f"the best model size grows as compute to the power {number(law['allocation_exponent'].item())} ({ends})"


def _law(law: xr.Dataset) -> str:
    estimate = law["estimate"]
    e, a, b, alpha, beta = (estimate.sel(param=name).item() for name in ("E", "A", "B", "alpha", "beta"))
    terms = [number(e, 4)] * (e > 0)
    terms += [f"{number(a, 4)} N^−{number(alpha)}"] * (a > 0) + [f"{number(b, 4)} D^−{number(beta)}"] * (b > 0)
    later = f"it misses its own later runs by {percent(law['backtest_error'].item(), 2)} an octave"
    later = "no cut leaves later runs" if law["backtest_error"].isnull() else later
    return f"loss = {' + '.join(terms)} from {law['n_runs'].item():,.0f} runs; {later}"


def _cautions(law: xr.Dataset) -> Iterator[str]:
    """Yield what to know of a law before it is relied on."""
    if law["backtest_error"].isnull():
        yield "predictions have no interval: no cut keeps eight runs of three sizes and leaves two later ones."
    if law["backtest_error"] > MISSED:
        yield "the law misses its own later runs by more than 2 % an octave."
    bound = [str(each) for each in law["param"].to_numpy() if law["at_bound"].sel(param=each).item()]
    if bound:
        yield f"{joined(bound)} at the bound of what is fitted. {_CLIPPED}"


def _predicted(here: xr.Dataset) -> str:
    n, d = amount(here["at_model_size"].item()), amount(here["at_tokens"].item())
    return f"at {n} parameters and {d} tokens a run has a loss of {between(here['prediction'], here['prediction_ci'])}"


def loss_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the predicted losses."""
    said = []
    for here, name in named_tasks(result, "prediction"):
        size = f"{amount(here['model_size'].item())} parameters and {amount(here['tokens'].item())} tokens"
        parts = [each for each in name.removesuffix(": ").split(", ") if not each.startswith(tuple(SIZES))]
        known = between(here["prediction"], here["prediction_ci"])
        known = "nothing can be said" if here["prediction"].isnull() else known
        said.append(f"{joined(parts)}{': ' * any(parts)}{size}, {known}")
    yield from statements(_brief([f"predicted losses of a run: {said[0]}", *said[1:]]), [], [_OF_RUNS])


def allocation_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how compute is best divided."""
    said = [f"{name}{each}" for law, name in named_tasks(result, "allocation_exponent") for each in _budgets(law)]
    yield from statements(_brief(said), [], [_OF_RUNS])


def suite_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield by how much the losses of suites differ, and what compute that is worth."""
    said: list[str] = []
    pairs = each_of(result, "pair") if "pair" in result.dims else [result]
    for pair, rest in (each for one in pairs for each in named_tasks(one, "exponent_difference")):
        a, b = (str(pair[f"algorithm_{side}"].item()) for side in "ab")
        if "loss_ratio" in pair:
            where = f"{amount(result.attrs['model_size'])} parameters and {amount(result.attrs['tokens'])} tokens"
            ends = ends_of(pair["loss_ratio_ci"])
            shown = "" if ends[0] > 1 or ends[1] < 1 else ", no difference is shown"
            ratio = number(pair["loss_ratio"].item(), 4)
            said.append(f"{rest}at {where} {b} has {ratio} ({interval(*ends, 4)}) times the loss of {a}{shown}")
        for here in each_of(pair, "flop") if "flop" in pair.dims else []:
            times = here["compute_multiplier"]
            there = f"{rest}for the loss of {a} at {number(here['flop'].item())} FLOP {b} needs"
            worth = f"{number(times.item())} ({interval(*ends_of(here['compute_multiplier_ci']))})"
            never = f"the law of {b} never reaches the loss of {a} at {number(here['flop'].item())} FLOP"
            said.append(f"{there} {worth} times the compute" if times.notnull() else rest + never)
        if not {"loss_ratio", "compute_multiplier"} & set(pair.data_vars):
            within = interval(*ends_of(pair["exponent_difference_ci"]))
            gap = f"{number(pair['exponent_difference'].item())} ({within})"
            said.append(f"{rest}the best model size grows as compute to powers that differ by {gap}, {a} less {b}")
    yield from statements(_brief(said), ["Suites are taken to be trained separately."])


def law_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each law."""
    columns = {str(name): result["estimate"].sel(param=name, drop=True) for name in result["param"].to_numpy()}
    columns |= {"backtest": result["backtest_error"], "a": result["allocation_exponent"]}
    columns |= bounds(result["allocation_exponent_ci"], "a_")
    return frame_of({**columns, "runs": result["n_runs"]})


def loss_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each size."""
    given = {name: result[name] for name in ("model_size", "tokens") if name not in result["prediction"].dims}
    columns = {"prediction": result["prediction"], **bounds(result["prediction_ci"])}
    return frame_of({**given, **columns, "extrapolated": result["extrapolated"]})


def allocation_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each budget."""
    return _with_intervals(
        result, {"n_opt": "n", "d_opt": "d", "tokens_per_parameter": "ratio", "loss_at_optimum": "loss"}
    )


def suite_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair of suites and budget."""
    return _with_intervals(
        result, {"loss_ratio": "ratio", "compute_multiplier": "multiplier", "exponent_difference": "exponent"}
    )


def _with_intervals(result: xr.Dataset, shorts: dict[str, str]) -> pd.DataFrame:
    """Return columns of the variables that a result has, with their intervals by short names."""
    columns: dict[str, xr.DataArray] = {}
    for name, short in shorts.items():
        if name in result:
            columns |= {name: result[name], **bounds(result[f"{name}_ci"], f"{short}_")}
    return frame_of(columns, ["flop"])
