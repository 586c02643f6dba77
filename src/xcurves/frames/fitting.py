"""Readings that fit where no column is named like a role, each by the columns that settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from xcurves.core.doubts import MOST, Choice
from xcurves.core.names import CONFIG, dim_of
from xcurves.frames.reading import Found, as_list, compared, keys_of, repeats
from xcurves.frames.roles import likeliest_columns, n_labels
from xcurves.frames.unnamed import compared_as_read, factors_of

_MOST_COLUMNS = 6  # that a role could be
_FEWEST_STEPS = 3  # of numbers that may be steps or settings


def choices_that_fit(found: Found) -> list[Choice]:
    """Return the readings that fit, each by the columns that settle it."""
    if not all(found.missing.values()):
        return []
    settled = list(found.missing)
    lists = [found.missing[role][:_MOST_COLUMNS] for role in settled]
    if "score" in settled:  # after the columns that say which run it is of
        place = settled.index("score")
        lists[place] = likeliest_columns(found.frame, found.missing["score"][::-1])[:_MOST_COLUMNS]
    readings = []
    for columns in product(*lists):
        if len(set(columns)) < len(columns):
            continue
        chosen = dict(zip(settled, columns, strict=True))
        known = found.roles | chosen
        readings.append(
            (
                repeats(found.frame, known),
                Choice(chosen, compared_as_read(found, chosen)),
            )
        )
    fitting = [choice for again, choice in readings if not again]
    plain = _of_curves(found, _of_no_pools(found, fitting))
    fitting = _of_several_runs(found, plain)
    if not fitting and "tasks" not in found.typed:
        if settled == ["algorithm"] and not plain:
            fitting = _choices_of_parts(found, lists[0])
        elif settled == ["algorithm", "run"]:
            fitting = _of_several_runs(found, _with_tasks(found, [choice for _, choice in readings], lists[0]))
    fitting = fitting or plain
    if settled == ["algorithm"] and any(str(name).startswith(CONFIG) for name in lists[0]):
        fitting += _choices_of_rivals(found, lists[0], fitting)
    if not fitting and "run" in settled:  # no column tells the runs apart
        if set(settled) - {"run", "score"}:
            return []
        scores = found.missing.get("score", [])
        of_scores = [{"score": name} for name in likeliest_columns(found.frame, scores)] or [{}]
        of_each = [_choices_of_runs(found, chosen) for chosen in of_scores]
        return [each[place] for place in range(MOST) for each in of_each if place < len(each)][:MOST]
    return (fitting or [choice for _, choice in readings])[:MOST]


def _choices_of_rivals(found: Found, columns: Sequence[str], fitting: Sequence[Choice]) -> list[Choice]:
    """Return the readings in which a configuration says the algorithm and folders tell runs apart, or the reverse."""
    choices = []
    for name in columns:
        runs = [*(other for other in columns if other != name), *as_list(found.roles.get("run"))]
        chosen = {"algorithm": name, "run": runs}
        known = found.roles | chosen
        if {"algorithm": name} not in [choice.columns for choice in fitting] and not repeats(found.frame, known):
            choices.append(Choice(chosen, compared(found.frame, known)))
    return choices


def _choices_of_runs(found: Found, settled: Mapping[str, Any]) -> list[Choice]:
    """Return the readings in which one of several columns is the run and the others are tasks, or all are one.

    Or the rows of each label of one are. What is `settled` besides is said with each.
    """
    known = {**found.roles, **settled}
    columns = [name for name in found.missing["run"] if name not in settled.values()]
    if len(columns) < 2 or repeats(found.frame, known | {"run": columns}):
        return []
    columns = _telling(replace(found, roles=known), "run", columns)
    readings: list[dict[str, Any]] = []
    for name in columns:
        rest = [other for other in columns if other != name]
        if rest and not any(dim_of(other) == "run" for other in rest):
            readings.append({"run": name, "tasks": [*as_list(known.get("tasks")), *rest]})
    readings = [*readings[:2], {"run": columns}]
    choices = [Choice({**settled, **chosen}, compared(found.frame, known | chosen)) for chosen in readings]
    choices += [
        Choice(
            {**settled, "run": name, "duplicates": "mean"},
            f"{compared(found.frame, known | {'run': name})}, the mean of the rows of each",
        )
        for name in columns
    ]
    return choices[:MOST]


def _of_curves(found: Found, choices: Sequence[Choice]) -> list[Choice]:
    """Return the readings in which runs have several levels of training, if there is one: all if not."""
    training = found.roles.get("training")
    if training is None:
        return list(choices)
    kept = []
    for choice in choices:
        keys = keys_of({**found.roles, **choice.columns}, "tasks", "algorithm", "run")
        n_rows = found.scored.groupby(keys, observed=True).size()
        if n_rows.median() > 1:
            kept.append(choice)
    return kept or list(choices)


def _of_no_pools(found: Found, choices: Sequence[Choice]) -> list[Choice]:
    """Return the readings that pool no runs over labels that each algorithm has, but for other names of algorithms."""
    kept = []
    for choice in choices:
        pooled = factors_of(replace(found, roles={**found.roles, **choice.columns}))
        if all(dim_of(name) == "algorithm" for name in pooled):
            kept.append(choice)
    return kept


def _with_tasks(found: Found, choices: Sequence[Choice], columns: Sequence[str]) -> list[Choice]:
    """Return readings of algorithm and run in which the other columns that could be algorithms are tasks."""
    kept = []
    for choice in choices:
        rest = [name for name in columns if name not in choice.columns.values()]
        chosen = {**choice.columns, "tasks": [*found.roles["tasks"], *rest]}
        if not repeats(found.frame, found.roles | chosen):
            kept.append(Choice(chosen, compared(found.frame, found.roles | chosen)))
    return kept


def _of_several_runs(found: Found, choices: Sequence[Choice]) -> list[Choice]:
    """Return the readings in which each algorithm has several runs or tasks."""
    kept = []
    for choice in choices:
        known = {**found.roles, **choice.columns}
        algorithms = keys_of(known, "algorithm")
        cells = found.scored[list(dict.fromkeys(keys_of(known, "algorithm", "tasks", "run")))].drop_duplicates()
        if not algorithms or cells.groupby(algorithms, observed=True).size().min() > 1:
            kept.append(choice)
    return kept


def _choices_of_parts(found: Found, columns: Sequence[str]) -> list[Choice]:
    """Return the readings in which columns tell rows apart together: one is the algorithm and the others tasks, or all.

    Of several of numbers that with the most labels may be the steps of training.
    """
    columns = _telling(found, "algorithm", columns)
    together: dict[str, Any] = {"algorithm": list(columns)}
    of_one, of_steps = _with_the_rest(found, columns), _with_steps(found, columns)
    if set(columns) <= set(found.settings):  # hyperparameters are rarely tasks
        every = [together, *of_steps, *of_one]
    else:
        every = [*of_steps, *of_one, together]
    readings = [(chosen, found.roles | chosen) for chosen in every]
    return [
        Choice(chosen, compared(found.frame, known)) for chosen, known in readings if not repeats(found.frame, known)
    ]


def _telling(found: Found, role: str, columns: Sequence[str]) -> list[str]:
    """Return the columns of which a role needs all to tell rows apart; of labels and numbers that do, the labels."""
    needed = sorted(columns, key=lambda name: pd.api.types.is_numeric_dtype(found.frame[name]))
    for name in needed[:0:-1]:
        fewer = [other for other in needed if other != name]
        if not repeats(found.frame, found.roles | {role: fewer}):
            needed = fewer
    return needed


def _with_the_rest(found: Found, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each column that it is the algorithm, and the others are tasks."""
    tasks = found.roles["tasks"]
    return [{"algorithm": name, "tasks": [*tasks, *(other for other in columns if other != name)]} for name in columns]


def _with_steps(found: Found, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the readings in which the numbers with the most labels are the steps of training."""
    if found.roles.get("training") is not None or "training" in found.typed:
        return []
    numbers = [found.frame[name] for name in columns if pd.api.types.is_numeric_dtype(found.frame[name])]
    numbers = [column for column in numbers if n_labels(column) >= _FEWEST_STEPS]
    if not numbers:
        return []
    step = str(max(numbers, key=lambda column: (n_labels(column), column.max())).name)
    readings = [
        {**each, "training": step} for each in _with_the_rest(found, [name for name in columns if name != step])
    ]
    return [{role: names for role, names in each.items() if names} for each in readings][: MOST // 2]
