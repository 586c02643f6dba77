"""The sentences about a plan: how many runs it takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.schema import Statement, statements
from xcurves.core.validation import is_without_training
from xcurves.say.numbers import capitalized, ends_of, number, percent

_NO_PVALUE = "the test gives no p-value"
_OF_PVALUES = ("effect", "error_term", "pair", "task_effect")


def plan_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how many runs it takes for each task and p-value but those by the pooled error term; what that rests on."""
    plans = [
        (prefix + name, task)
        for name, one in _parts(about_effects(result))
        for task, prefix in labels.named_tasks(one, "runs_needed")
        if "pooled" not in name
    ]
    power, alpha = (float(result.attrs.get(name, usual)) for name, usual in (("power", 0.8), ("alpha", 0.05)))
    details = [
        *(f"{name}{_needed(task, power)}" for name, task in plans),
        f"At the {number(alpha)} level, from {result.attrs.get('pilot_runs', 'the')} pilot runs per algorithm drawn "
        "with replacement. The difference between the pilot curves is taken for the true one; if it is larger by "
        "chance, plan for more runs.",
        "Other pilots would have given another number: intervals, and the number with assurance 0.8, are over sets of "
        "pilots drawn with replacement. Ten pilots of each algorithm leave the number open by a factor of four or "
        "more as a rule. Where scores are skewed or where some runs fail, the assurance is .5 to .7.",
    ]
    return statements(_main_answer(_main_plans(result), power), details)


def about_effects(result: xr.Dataset) -> xr.Dataset:
    """Return a plan without the effect that scores without training have not, their change with it."""
    if is_without_training(result) and "effect" in result.dims:
        return result.sel(effect=[effect for effect in result["effect"].to_numpy() if effect != "interaction"])
    return result


def _main_plans(result: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    """Return the plans of the test that `table` prints: of means, by the split plot, for tasks like these."""
    main = {"error_term": "split_plot", "effect": "algorithm", "task_effect": "random"}
    for dim, label in main.items():
        if dim in result.dims and label in result[dim].to_numpy():
            result = result.sel({dim: label})
    return [
        (prefix + name, task) for name, one in _parts(result) for task, prefix in labels.named_tasks(one, "runs_needed")
    ]


def _main_answer(plans: list[tuple[str, xr.Dataset]], power: float) -> str:
    """Return one number: of several pairs or tasks that of the one that takes most."""
    name, task = _largest_plan(plans)
    sentence = _needed(task, power)
    if len(plans) == 1:
        return capitalized(sentence)
    return f"The one of {len(plans)} that takes most, {name.removesuffix(': ')}: {sentence}"


def _largest_plan(plans: list[tuple[str, xr.Dataset]]) -> tuple[str, xr.Dataset]:
    """Return the plan that takes most runs, of those that have a p-value if any has, with its name."""
    known = [plan for plan in plans if not np.isnan(plan[1]["runs_needed"].item())]
    return max(
        known or plans,
        key=lambda plan: np.nan_to_num(plan[1]["runs_needed"].item(), posinf=np.inf),
    )


def number_needed(result: xr.Dataset) -> tuple[str, float]:
    """Return the number of runs that the answer names, and of what if there are several: inf if none tried reaches."""
    plans = _main_plans(result)
    name, task = _largest_plan(plans)
    if len(plans) == 1:
        name = ""
    return name.removesuffix(": ").replace("_", "-"), float(task["runs_needed"].item())


def _parts(result: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the parts of a result by p-value, each with its name: "algorithm, split_plot: "."""
    dims = [dim for dim in _OF_PVALUES if dim in result.dims]
    for labelled in product(*(result[dim].to_numpy().tolist() for dim in dims)):
        name = ", ".join(labelled)
        if name:
            name += ": "
        yield name, result.sel(dict(zip(dims, labelled, strict=True)))


def _needed(task: xr.Dataset, power: float) -> str:
    """Return how many runs it takes, and what other pilots would have given."""
    tested, needed, (low, high) = (
        task["n_runs"].to_numpy(),
        task["runs_needed"].item(),
        ends_of(task["runs_needed_ci"]),
    )
    if np.isnan(needed):
        return f"{_NO_PVALUE}."
    might = f"other pilots would give {_at_most(low, task)} too"
    if low != high:
        assured = _at_most(task["runs_needed_assured"].item(), task)
        might = f"other pilots may give {_at_most(low, task)} to {_at_most(high, task)}; with assurance 0.8, {assured}"
    ceiling = np.nan
    if "power_at_many_runs" in task:
        ceiling = task["power_at_many_runs"].item()
    noun = labels.noun(str(task.attrs.get("task", "task")))
    if np.isinf(needed) and ceiling < power:
        return (
            f"no number of runs reaches a power of {number(power)} on {noun}s like these: with so few {noun}s at most "
            f"{percent(ceiling)} of cases, however many runs. Add {noun}s, not runs."
        )
    if np.isinf(needed):
        most = number(task["rate"].isel(n_runs=-1).item())
        return f"power {number(power)} is not reached; {tested[-1]} runs per algorithm give {most} ({might})."
    if needed not in tested:
        reach = f"{number(needed)} runs per algorithm reach a power of {number(power)}"
        return f"{reach}; their rate is not in this selection ({might})."
    got, at_most = task.sel(n_runs=needed), ""
    if "expected_runs" in task:
        at_most = f"at most, {number(got['expected_runs'].item())} on average, "
    found = f"{number(needed)} runs per algorithm {at_most}detect the difference in {percent(got['rate'].item())}"
    return f"{found} of cases (wanted: {percent(power)}; {might})."


def _at_most(n_runs: float, task: xr.Dataset) -> str:
    if np.isnan(n_runs):
        return "none"
    if np.isinf(n_runs):
        return f"more than {task['n_runs'].to_numpy()[-1]}"
    return number(n_runs)
