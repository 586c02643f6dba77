"""Columns without a known name that could be runs, steps or tasks: then rows, or named runs, are no plain sample.

Scores that are measured again and again in one run are no independent runs; to count them as such makes p too small.
Runs of several tasks or settings that are pooled differ more than those of one; that makes p too large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core.direction import looks_like_score, says_higher
from xcurves.core.doubts import MOST, Choice, how_many
from xcurves.core.names import (
    CONFIG,
    OF_MACHINE,
    OF_PLACE,
    STATES,
    dim_of,
    is_clock,
    is_fold,
    is_rung,
    is_step,
    rank_of,
    words_of,
)
from xcurves.frames import roles
from xcurves.frames.reading import ROLES, Doubt, Found, as_list, compared, keys_of, with_score
from xcurves.frames.roles import NO_NAME, n_labels
from xcurves.frames.wide_tables import ROW, TASK
from xcurves.say.numbers import listed as in_words

_MOST_LABELS = 50  # of a column that tells no single rows apart
_MOST_TOGETHER = 4  # columns that tell rows apart together
_MOST_TRIED = 8  # columns of which some may tell rows apart together
_FEWEST_FULL = 0.5  # of the cells that labels of several columns make within an algorithm
# the share of labels that occur in several rows: measures hardly ever do
_SHARED_LABELS, _SHARED_MEASURES = 0.5, 0.9


class Unnamed(NamedTuple):
    """Columns of unknown names that vary among the rows of an algorithm and task.

    Attributes
    ----------
    telling : list of tuples of str
        Columns that together tell the rows apart, those of grids first.
    grouping : tuple of str
        Columns each of whose labels has several rows, equally many but for a factor of two, where none tell all apart.
    """

    telling: list[tuple[str, ...]]
    grouping: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, in the order in which they are found."""
        return tuple(dict.fromkeys(name for names in (*self.telling, self.grouping) for name in names))


def unnamed_of(frame: pd.DataFrame, used: Sequence[str], keys: Sequence[str]) -> Unnamed | None:
    """Return the columns that could be runs or steps, if any; `keys` are the columns of algorithm and tasks."""
    free = [str(name) for name in frame.columns if name not in used and name not in NO_NAME]
    free = [name for name in free if _may_be_design(frame, name) and varies(frame, keys, name)]
    single = [name for name in free if not frame.duplicated([*keys, name]).any()]
    several = [name for name in free if name not in single]
    # measures tell rows apart by chance
    single = [name for name in single if not roles.is_measure(frame[name])] or single
    telling: list[tuple[str, ...]] = []
    for name in single:
        if not any(roles.are_alike(frame, [], name, other) for (other,) in telling):
            telling.append((name,))
    for n_columns in range(2, _MOST_TOGETHER + 1):
        grids = [names for names in combinations(several[:_MOST_TRIED], n_columns) if _are_grid(frame, keys, names)]
        if grids:
            telling = [*grids, *telling]
            break
    if telling:
        return Unnamed(telling)
    grouping = tuple(name for name in several if _is_balanced(frame, keys, name))
    if grouping:
        return Unnamed([], grouping)
    return None


def unused_of(frame: pd.DataFrame, used: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Return the unused columns that vary among the rows of an algorithm and task."""
    free = [str(name) for name in frame.columns if name not in used and name not in NO_NAME]
    return [name for name in free if n_labels(frame[name]) > 1 and varies(frame, keys, name)]


def _may_be_design(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column may be one of runs or steps by its name, and labels of it occur in several rows."""
    column = frame[name]
    if name.startswith(CONFIG) or is_clock(name) or is_step(name) or is_rung(name) or says_higher(name) is not None:
        return False
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_datetime64_any_dtype(column) or n_labels(column) < 2:
        return False
    fewest = _SHARED_MEASURES if roles.is_measure(column) else _SHARED_LABELS
    return bool((column.value_counts() > 1).mean() >= fewest)


def varies(frame: pd.DataFrame, keys: Sequence[str], name: str) -> bool:
    """Return whether a column has several labels within an algorithm and task."""
    try:
        pairs = frame[[*keys, name]].dropna().drop_duplicates()
    except TypeError:  # lists are no labels
        return False
    return bool(pairs.duplicated(list(keys)).any())


def _are_grid(frame: pd.DataFrame, keys: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether columns together tell rows apart, and most combinations of their labels are there."""
    if frame.duplicated([*keys, *names]).any():
        return False
    by = frame.groupby(list(keys), observed=True)
    n_cells = by[list(names)].nunique().prod(axis=1)
    return bool((by.size() / n_cells).median() >= _FEWEST_FULL)


def _is_balanced(frame: pd.DataFrame, keys: Sequence[str], name: str) -> bool:
    """Return whether each label of a column has several rows, equally many but for a factor of two."""
    n_rows = frame.groupby([*keys, name], observed=True).size()
    return bool(n_labels(frame[name]) <= _MOST_LABELS and n_rows.min() > 1 and n_rows.max() <= 2 * n_rows.min())


def factors_of(found: Found) -> list[str]:
    """Return the unused columns of which each run has one label and each algorithm all, equally often but for 2 times.

    They may be tasks, or settings, over which runs would be pooled; settings need several runs of each only.
    """
    algorithm = as_list(found.roles.get("algorithm"))
    if found.numbered or not found.runs or not algorithm or found.roles["run"] == ROW:
        return []
    used = [*found.used, *found.others, *found.constant]
    runs = found.scored.drop_duplicates(found.runs)
    groups = found.keys("tasks", "algorithm")
    return [name for name in unused_of(runs, used, groups) if _is_factor(found, runs, name, groups)]


def _is_factor(found: Found, runs: pd.DataFrame, name: str, groups: Sequence[str]) -> bool:
    """Return whether each run has one label of a column, and each algorithm has all of them."""
    column = runs[name]
    if name.startswith(roles.OF_SEARCH) or (name.startswith(CONFIG) and any(map(is_rung, found.frame))):
        return False  # trials of a search are a sample of them
    places = OF_PLACE - {"name", *(["id"] if "experiment" in words_of(name) else [])}
    of_place = bool((places | OF_MACHINE) & set(words_of(name))) or rank_of(name, STATES) is not None
    is_measured = looks_like_score(name) or says_higher(name) is not None
    if of_place or is_measured or is_clock(name) or is_step(name) or is_fold(name) or is_rung(name):
        return False
    if dim_of(name) in ("run", "training"):
        return False
    if column.isna().any() or n_labels(column) > _MOST_LABELS or varies(found.scored, found.runs, name):
        return False
    n_runs = runs.groupby([*groups, name], observed=True).size()
    if n_runs.max() == 1 and n_labels(column) == len(runs):
        return False  # the name of each run
    if _is_setting(runs, name) and n_runs.min() > 1:
        return True  # algorithms may have settings of their own
    has_each = len(n_runs) == len(runs[list(groups)].drop_duplicates()) * n_labels(column)
    if not roles.is_measure(column):
        return has_each
    return has_each and bool(n_runs.min() > 1 and n_runs.max() <= 2 * n_runs.min())


def _is_setting(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column is called like a setting, or has decimals that may be settings."""
    return name.startswith(CONFIG) or roles.are_settings(frame, name)


def fixed_settings(found: Found) -> list[str]:
    """Return the unused settings that have one value for each algorithm, and several."""
    algorithm = found.keys("algorithm")
    if not algorithm:
        return []
    used = [*found.used, *found.others, *found.constant]
    settings = [name for name in map(str, found.frame.columns) if name not in used and _is_setting(found.frame, name)]
    settings = [name for name in settings if n_labels(found.frame[name]) > 1]
    return [name for name in settings if not varies(found.scored, algorithm, name)]


def doubt_of_factors(found: Found) -> Doubt | None:
    """Return what to ask where runs would be pooled over labels that each algorithm has: tasks, settings or neither."""
    are_said = {"tasks", "passage"} & set(found.typed) or {"algorithm", "run"} <= set(found.typed)
    names = factors_of(found)
    if "algorithm" in found.typed:  # between those it was chosen
        names = [name for name in names if dim_of(name) != "algorithm"]
    if are_said or not names:
        return None
    readings = _readings_of_factors(found, names)
    listed = in_words([found.cut if name == TASK and found.cut else name for name in names])
    without = compared(found.frame, found.roles)
    choices = [Choice(chosen, compared(found.frame, found.roles | chosen)) for chosen in readings[: MOST - 1]]
    choices.append(Choice({"tasks": as_list(found.roles.get("tasks")) or None}, f"{without}, {listed} not used"))
    are = "are tasks or settings" if len(names) > 1 else "names tasks, is a setting"
    return Doubt({}, tuple(choices), f"does not say whether {listed} {are} of the algorithm, or neither")


def _readings_of_factors(found: Found, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return what labels could be that each algorithm has: tasks, those of settings in the algorithm or not used."""
    tasks, algorithm = as_list(found.roles.get("tasks")), found.typed_or_found("algorithm")
    settings = [name for name in names if _is_setting(found.frame, name)]
    if "algorithm" not in found.typed and n_labels(found.scored[found.keys("algorithm")[0]]) == 1:
        return [{"algorithm": names if len(names) > 1 else names[0]}]
    every: dict[str, Any] = {"tasks": [*tasks, *names]}
    labels: dict[str, Any] = {"tasks": [*tasks, *(name for name in names if name not in settings)]}
    may_join = "algorithm" not in found.typed
    if 0 < len(settings) < len(names):
        joined = [{"algorithm": [*algorithm, *settings], **labels}] if may_join else []
        return [*joined, labels, every]
    readings = [every] if all(_has_each(found.scored, found.keys("algorithm"), name) for name in names) else []
    if may_join and dim_of(algorithm[0]) != "algorithm" and len(names) == 1:
        readings.append({"algorithm": names[0], "tasks": [*tasks, *algorithm]})
    if may_join:
        readings.append({"algorithm": [*algorithm, *names]})
    return readings


def _has_each(frame: pd.DataFrame, algorithm: Sequence[str], name: str) -> bool:
    """Return whether each algorithm has each label of a column."""
    pairs = frame[[*algorithm, name]].drop_duplicates()
    return len(pairs) == len(pairs[list(algorithm)].drop_duplicates()) * n_labels(pairs[name])


def doubt_of_unnamed(found: Found, unnamed: Unnamed) -> Doubt:
    """Return what to ask where columns of unknown names could be the runs and steps, or the tasks."""
    names = unnamed.columns
    readings = [found.inferred | chosen for chosen in _readings(found, unnamed)]
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
    words = compared_as_read(found, chosen)
    if chosen.get("training") is not None:
        words += f", at {how_many(n_labels(found.frame[chosen['training']]), 'step')}"
    if "duplicates" in chosen:
        words += ", the mean of the rows of each run"
    return words


def compared_as_read(found: Found, chosen: Mapping[str, Any]) -> str:
    """Return what a reading compares in which rows are runs where nothing tells these, or levels, apart."""
    frame, known = found.frame, {**found.roles, **chosen}
    if known.get("run") == ROW:
        return compared(frame.assign(**{ROW: range(len(frame))}), known)
    keys = keys_of(known, "algorithm", "tasks")
    frame, training = with_score(frame, known), known.get("training")
    if known.get("run") is None and (training is None or n_labels(frame[training]) == 1) and keys:
        frame = frame.assign(**{ROW: frame.groupby(keys, observed=True).cumcount()})
        known["run"] = ROW
    return compared(frame, known)


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
