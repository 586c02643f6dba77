"""What columns without a known name are: asked, with each reading as runs, steps of training or tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from xcurves.core.doubts import MOST, Choice, how_many
from xcurves.frames.found import ROLES, Found, compared
from xcurves.frames.reading import Doubt
from xcurves.frames.score_columns import n_labels
from xcurves.frames.unnamed import Unnamed
from xcurves.frames.wide_doubts import ROW
from xcurves.frames.wide_tables import as_list


def doubt_of_unnamed(found: Found) -> Doubt | None:
    """Return what to ask where columns of unknown names could be the runs and steps, or the tasks."""
    if found.unnamed is None:
        return None
    names = found.unnamed.columns
    readings = [found.inferred | chosen for chosen in _readings(found, found.unnamed)]
    said = set(ROLES) & set(found.typed)
    readings = [chosen for chosen in readings if not said & set(chosen)]
    choices = [Choice(chosen, _compared(found, chosen)) for chosen in readings]
    words = f"what {names[0]} is"
    if len(names) > 1:
        words = f"what {', '.join(names[:-1])} and {names[-1]} are"
    return Doubt({}, tuple(choices[:MOST]), f"does not say {words}: runs, steps of training or tasks")


def _readings(found: Found, unnamed: Unnamed) -> Iterator[dict[str, Any]]:
    """Yield what the columns could be, the likeliest first."""
    tasks = as_list(found.roles.get("tasks"))
    for names in unnamed.telling:
        for step in _fastest_first(found.frame, names):
            is_number = pd.api.types.is_numeric_dtype(found.frame[step])
            yield from _readings_of_step(step, [name for name in names if name != step], tasks, is_number=is_number)
    names = unnamed.grouping
    if not names:
        return
    if all(_is_shared(found, name) for name in names):
        yield {"tasks": [*tasks, *names]}
    yield {"run": list(names), "duplicates": "mean"}
    if found.roles.get("algorithm") is not None:
        yield {"algorithm": [*as_list(found.roles["algorithm"]), *names]}
    yield {"run": ROW}


def _readings_of_step(
    step: str,
    rest: Sequence[str],
    tasks: Sequence[str],
    *,
    is_number: bool,
) -> Iterator[dict[str, Any]]:
    """Yield what columns that tell rows apart together could be, one of which changes first."""
    if not rest:
        yield {"run": step}
        if is_number:
            yield {"training": step}
        yield {"tasks": [*tasks, step]}
    for run in rest:
        others = [name for name in rest if name != run]
        if is_number and others:
            yield {"run": run, "training": step, "tasks": [*tasks, *others]}
        elif is_number:
            yield {"run": run, "training": step}
        yield {"run": run, "tasks": [*tasks, *others, step]}


def _compared(found: Found, chosen: Mapping[str, Any]) -> str:
    """Return what a reading compares, with its steps."""
    frame = found.frame
    if chosen.get("run") == ROW:
        frame = frame.assign(**{ROW: range(len(frame))})
    elif "run" not in chosen and "training" not in chosen:
        known = {**found.roles, **chosen}
        keys = [name for role in ("algorithm", "tasks") for name in as_list(known.get(role))]
        frame = frame.assign(**{ROW: frame.groupby(keys, observed=True).cumcount()})
        chosen = {**chosen, "run": ROW}
    words = compared(frame, {**found.roles, **chosen})
    if "training" in chosen:
        words += f", at {how_many(n_labels(frame[chosen['training']]), 'step')}"
    if "duplicates" in chosen:
        words += ", the mean of the rows of each run"
    return words


def _is_shared(found: Found, name: str) -> bool:
    """Return whether some labels of a column are in rows of several algorithms."""
    algorithm = found.roles.get("algorithm")
    if algorithm is None:
        return True
    pairs = found.frame[[name, algorithm]].drop_duplicates()
    return bool(pairs.duplicated(name).any())


def _fastest_first(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return columns in the order of how often they change from row to row."""
    changes = {name: int((frame[name] != frame[name].shift()).sum()) for name in names}
    return sorted(names, key=lambda name: (not pd.api.types.is_numeric_dtype(frame[name]), -changes[name]))
