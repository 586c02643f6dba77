"""To which curves a method applies, and why not to others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels, run_checks, validation
from xcurves.core.direction import says_higher
from xcurves.core.refusal import UNSAID, Cure, Refusal

MOST_TASKS = 200  # each of which is tested and described by itself
UNKNOWN_SAMPLER = "unknown"  # of which no file says what it is
_INDEPENDENT = ("randomsampler", "gridsampler", UNKNOWN_SAMPLER)


class NotApplicableError(Exception):
    """A method does not apply to the curves; the message says why."""

    def __init__(
        self,
        reason: str,
        cure: Cure | None = None,
        *,
        expected: bool = False,
        obvious: bool = False,
    ) -> None:
        super().__init__(reason if not cure else f"{reason}. {cure}")
        self.reason = reason
        self.cure = cure or Cure()
        self.expected = expected or obvious  # no warning is given
        # No message either, unless the method was asked for by name.
        self.obvious = obvious


def refuse_many_tasks(curves: xr.DataArray) -> None:
    """Refuse items, many tasks of several algorithms, which are compared over all of them instead of one by one."""
    dims = labels.extra_dims(curves)
    if len(dims) != 1 or curves.sizes["algorithm"] < 2:
        return
    n_tasks = curves.sizes[dims[0]]
    if n_tasks > MOST_TASKS:
        noun = labels.noun(str(dims[0]))
        raise NotApplicableError(
            f"{n_tasks:,} {noun}s are compared over all of them: beyond {MOST_TASKS} they are not described one by one",
            obvious=True,
        )


def have_single_runs(curves: xr.DataArray) -> bool:
    """Return whether curves are of several tasks of one dim, in each of which an algorithm has one run at most."""
    dims = labels.extra_dims(curves)
    if len(dims) != 1 or curves.sizes[dims[0]] < 2 or curves.sizes["algorithm"] < 2:
        return False
    is_there = curves.notnull().any("training")
    return bool((is_there.sum("run") <= 1).all())


def comparable(
    curves: xr.DataArray,
    least_levels: int = 1,
    *,
    single_runs: bool = False,
    least_tasks: int = 1,
    few_tasks: bool = False,
) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return curves with the tasks absent that cannot be compared, no options, and attrs with the reasons.

    With fewer than `least_tasks` the method does not apply, with `few_tasks` neither to many. `single_runs`: tasks in
    which each algorithm has one run can be compared, by their differences over tasks.
    """
    adaptive = adaptive_sampler(curves.attrs)
    if adaptive:
        raise NotApplicableError(
            f"runs are trials of {adaptive}, which chooses each by those before: they are not independent",
            Cure("Search several times with each algorithm, and call the studies NAME_seed0, NAME_seed1, ..."),
        )
    if least_levels > 1 and validation.is_without_training(curves):
        raise NotApplicableError("scores have no training", obvious=True)
    if few_tasks:
        refuse_many_tasks(curves)
    has = curves.notnull()
    of_curve = has.sum("training").transpose(..., "algorithm", "run")
    of_task = has.any(["algorithm", "run"]).sum("training")
    known = xr.Dataset({"of_curve": of_curve, "of_task": of_task}).compute()
    names = labels.task_names(curves)
    algorithms = labels.words(curves["algorithm"])
    runs = labels.words(curves["run"])
    counts = known["of_curve"].to_numpy().reshape(len(names), -1)
    n_levels = known["of_task"].to_numpy().ravel()

    why: dict[int, Refusal] = {}  # of each task whose algorithms cannot be compared
    fine: set[bytes] = set()  # counts that can be compared: thousands of items have the same
    for task, name in enumerate(names):
        only = slice(task, task + 1)
        same = counts[task].tobytes() + n_levels[only].tobytes()
        if same in fine:
            continue
        try:
            _check_levels(n_levels[task], least_levels, name)
            with run_checks.with_cure(curves):
                (present,) = run_checks.check_runs(counts[only], n_levels[only], names[only], algorithms, runs)
            run_checks.check_groups(present, name, algorithms, runs, paired=False, single_runs=single_runs)
        except Refusal as refusal:
            why[task] = refusal
        else:
            fine.add(same)
    if not why:
        return curves, {}, {}

    if len(why) == len(names):
        reason = why[0].problem
        if len(why) > 1:
            reason += f" (none of {len(why)} tasks can be compared)"
        # of single runs the comparison over tasks is the answer
        raise NotApplicableError(reason, why[0].cure, expected=have_single_runs(curves))
    n_compared = len(names) - len(why)
    if n_compared < least_tasks:
        first = next(iter(why.values()))
        raise NotApplicableError(
            f"only {n_compared} of {len(names)} tasks can be compared: {first.problem}",
            first.cure,
            expected=True,
        )
    compared = [task not in why for task in range(len(names))]
    is_compared = known["of_task"].copy(data=np.reshape(compared, of_task.shape))
    return (
        curves.where(is_compared),
        {},
        {"left_out": "\n".join(map(str, why.values()))},
    )


def adaptive_sampler(attrs: Mapping[Any, Any]) -> str:
    """Return the sampler that chooses trials by those before, of which their reader says so; "" if there is none."""
    samplers = str(attrs.get("sampler", UNKNOWN_SAMPLER)).split(", ")
    return next((each for each in samplers if each.lower() not in _INDEPENDENT), "")


def _check_levels(n_levels: float, least: int, name: str) -> None:
    """Refuse a task with fewer levels than a method needs."""
    if not n_levels and least:
        raise Refusal("curves", UNSAID, f"{name}no run has a score")
    if n_levels < least:
        raise Refusal(
            "curves",
            UNSAID,
            f"{name}{n_levels:.0f} training levels; this needs {least}",
        )


def is_error(curves: xr.DataArray) -> bool:
    """Return whether the name of curves, long_name or standard_name says that they are errors."""
    called = (
        curves.name,
        curves.attrs.get("long_name"),
        curves.attrs.get("standard_name"),
    )
    # neg_mean_squared_error and error_reduction are none
    return any(
        re.search(r"(?<![a-z])err(or)?s?(?![a-z])", str(words).lower()) and not says_higher(words)
        for words in called
        if words is not None
    )
