"""The sentences about simulations of a test: what its error rates are, or how many runs it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import compress, product

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.provenance import alpha_of
from xcurves.core.schema import Statement, statements
from xcurves.core.wording import ends_of, joined, number, span

_NO_PVALUE = "the test gives no p-value."
_OF_PVALUES = ("effect", "error_term", "pair", "task_effect")
Claim = Callable[[xr.Dataset, float], str]


def _rate_statements(result: xr.Dataset, claim: Claim, cautions: Iterable[str] = ()) -> Iterator[Statement]:
    """Yield what is claimed of the rate of each p-value; those of the pooled error term are details."""
    alpha = float(result.attrs.get("alpha", 0.05))
    parts = [(name, "pooled" in name, one) for name, one in _parts(result)]
    known = [bool(one["rate"].notnull().any()) for _, _, one in parts]
    claimed = [
        f"{name}{claim(one, alpha) if is_known else _NO_PVALUE}"
        for (name, _, one), is_known in zip(parts, known, strict=True)
    ]
    spoken = [is_known and not pooled for (_, pooled, _), is_known in zip(parts, known, strict=True)]
    said = [each.removesuffix(".") for each in compress(claimed, spoken)] or [_NO_PVALUE.removesuffix(".")]
    answer = f"{joined(said, '; ', 2)}."
    tried = set(result["n_replications"].to_numpy().ravel().tolist())
    details = [
        *claimed,
        f"Each rate is of {span(tried)} data sets; intervals are exact binomial ones at "
        f"{100 * (1 - alpha_of(result)):g} %, for each rate by itself.",
    ]
    if "expected_runs" in result:
        runs = set(result["expected_runs"].to_numpy().ravel().tolist())
        details.append(f"Stopped once all its pairs are decided, an algorithm takes {span(runs)} runs on average.")
    return statements(f"{answer[:1].upper()}{answer[1:]}", details, cautions)


def plan_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task and p-value of the test, then what the plan rests on."""
    for name, task in _plans(result):
        yield name + _needed(task)
    alpha = float(result.attrs.get("alpha", 0.05))
    how = "with" if result.attrs.get("replace", 0) else "without"
    yield (
        f"At the {alpha:g} level, from {result.attrs.get('pilot_runs', 'the')} pilot runs per algorithm drawn {how} "
        f"replacement. {_difference(result)}"
    )
    yield (
        "Other pilots would have given another number: intervals, and the number with assurance 0.8, are over sets of "
        "pilots drawn with replacement. Ten pilots of each algorithm leave the number open by a factor of four or "
        "more as a rule. Where scores are skewed or where some runs fail, the assurance is .5 to .7."
    )


def _difference(result: xr.Dataset) -> str:
    """Say which difference is to be detected, and what follows."""
    changes = [f"the stretch {result.attrs['stretch']:g}"] if result.attrs.get("stretch", 1.0) != 1 else []
    if "modification" in result.attrs:
        changes.append(f"modification ({result.attrs['modification']}) by the factor {result.attrs['factor']:g}")
    if changes:
        return f"The difference to be detected is that of {' and '.join(changes)}; a smaller one takes more runs."
    return (
        "The difference between the pilot curves is taken for the true one; if it is larger by chance, plan for more "
        "runs."
    )


def plan_answer(result: xr.Dataset) -> str:
    """Return how many runs it takes for each task and p-value."""
    plans = list(_plans(result))
    if len(plans) == 1:
        return _needed(plans[0][1]).capitalize()
    said = [f"{name}{_at_most(task['runs_needed'].item(), task)}" for name, task in plans]
    return f"Runs per algorithm for a power of {float(result.attrs.get('power', 0.8)):g}: {joined(said, '; ')}."


def _at_most(number: float, task: xr.Dataset) -> str:
    if np.isnan(number):
        return "none"
    return f"{number:g}" if np.isfinite(number) else f"more than {task['n_runs'].to_numpy()[-1]}"


def _plans(result: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield every task and p-value with its name; not those by the pooled error term."""
    for name, one in _parts(result, pooled=False):
        for task, prefix in labels.named_tasks(one, "runs_needed"):
            yield prefix + name, task


def _needed(task: xr.Dataset) -> str:
    power, tested = float(task.attrs.get("power", 0.8)), task["n_runs"].to_numpy()
    needed = task["runs_needed"].item()
    low, high = ends_of(task["runs_needed_ci"])
    if needed != needed:
        return _NO_PVALUE
    if low == high:
        might = f"other pilots would give {_at_most(low, task)} too"
    else:
        assured = _at_most(task["runs_needed_assured"].item(), task)
        might = f"other pilots may give {_at_most(low, task)} to {_at_most(high, task)}; with assurance 0.8, {assured}"
    if not np.isfinite(needed):
        most = task["rate"].isel(n_runs=-1).item()
        return f"power {power:g} is not reached; {tested[-1]} runs per algorithm give {number(most)} ({might})."
    if needed not in tested:
        return (
            f"{needed:g} runs per algorithm reach a power of {power:g}; their rate is not in this selection ({might})."
        )
    got = task["rate"].sel(n_runs=needed).item()
    at_most = ""
    if "expected_runs" in task:
        runs = task["expected_runs"].sel(n_runs=needed).item()
        at_most = f"at most, {number(runs)} on average, "
    found = f"{needed:g} runs per algorithm {at_most}detect the difference in {number(got)} of cases"
    return f"{found} (wanted: {power:g}; {might})."


def _level_claim(one: xr.Dataset, alpha: float) -> str:
    low, high = (one["rate_ci"].sel(ci_bound=bound) for bound in labels.CI_BOUNDS)
    above, below = low > alpha, high < alpha
    rates = _rates(one)
    if not bool(above.any() | below.any()):
        return f"rejects a true null {rates}, which is compatible with the nominal {alpha:g}."
    said = [f"rejects a true null {rates}, nominal {alpha:g}"]
    for found, word in ((above, "above"), (below, "below")):
        if bool(found.any()):
            many = "this setting" if found.size == 1 else f"{int(found.sum())} of {found.size} settings"
            said.append(f"{word} it in {many}{_worst(one, found, word)}")
    return "; ".join(said) + "."


def _power_claim(one: xr.Dataset, alpha: float) -> str:
    return f"detects the difference at the {alpha:g} level {_rates(one)}."


def _rates(one: xr.Dataset) -> str:
    rate = one["rate"]
    if rate.size == 1:
        low, high = one["rate_ci"].to_numpy().ravel().tolist()
        return f"in {number(rate.item())} of data sets (interval {number(low)} to {number(high)})"
    return f"in {span({rate.min().item(), rate.max().item()})} of data sets, over {rate.size} settings"


def _worst(one: xr.Dataset, found: xr.DataArray, word: str) -> str:
    """Name the setting that is farthest from the level."""
    if found.size == 1:
        return ""
    rate = one["rate"].where(found)
    place = np.unravel_index(int(np.nanargmax(rate) if word == "above" else np.nanargmin(rate)), rate.shape)
    worst = rate[place]
    where = ", ".join(f"{dim} {worst[dim].item()}" for dim in rate.dims if dim in worst.coords)
    return f" (farthest, {number(worst.item())}, with {where})"


def _parts(result: xr.Dataset, *, pooled: bool = True) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the parts of a result by p-value, each with its name: "algorithm, split_plot: "."""
    dims = [dim for dim in _OF_PVALUES if dim in result.dims]
    for labelled in product(*(result[dim].to_numpy().tolist() for dim in dims)):
        if not pooled and "pooled" in labelled:
            continue
        name = ", ".join(labelled)
        yield f"{name}: " if name else "", result.sel(dict(zip(dims, labelled, strict=True)))


def level_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how often a true null hypothesis is rejected."""
    return _rate_statements(result, _level_claim)


def power_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how often the difference is detected, and when that counts."""
    caution = "Power counts only where the test holds its level: see simulation.type_i_error."
    return _rate_statements(result, _power_claim, [caution])


def plan_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how many runs it takes, and what the plan rests on."""
    return statements(plan_answer(result), plan_sentences(result))
