"""Tables whose columns are scores of algorithms or runs: whether a frame is one, its rows, and what cannot be told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import product
from typing import Any

import pandas as pd

from xcurves.core.direction import looks_like_score, says_higher
from xcurves.core.doubts import MOST, Choice, how_many, runs_each
from xcurves.core.known import FIND
from xcurves.core.names import ENVIRONMENT, compiled, dim_of, is_metric, names_in, seeds_in, words_of
from xcurves.core.refusal import UNSAID, Refusal, Text
from xcurves.frames.reading import OF_FRAME, Doubt, as_list, columns_in
from xcurves.frames.roles import (
    NO_NAME,
    are_settings,
    is_mostly_measured,
    may_be_label,
    n_labels,
    names_score,
    says_statistic,
)
from xcurves.frames.wide import Columns, as_asked, of_nameless
from xcurves.frames.wide_columns import (
    Pattern,
    fitting_pattern,
    has_part,
    has_scores_of_levels,
    n_rows_of_scores,
    names_run,
    runs_pattern,
    summary_columns,
)

# columns that are made where they are named: of the names or numbers of rows, and of what names of runs begin with
ROW, TASK = "row", "task"
_MOST_SUMMARIES = 30  # rows of `describe`, with many percentiles
_BETWEEN = "/"  # parts of the names of columns, of keys within keys
_ABOUT = names_in(  # words of columns about others
    "delta diff difference gain p pval pvalue ci lo hi lower upper std sd se sem stderr var variance ratio count n"
)


def long_form(frame: pd.DataFrame, known: Mapping[str, Any]) -> tuple[pd.DataFrame, str]:
    """Return a row for each score where columns are algorithms or runs, and what is said of it; else the frame and "".

    They are taken for these where every other column names algorithms, runs, training or tasks, and none is called
    like a score or a statistic of scores. Without such columns a row is a task.
    """
    if "score" in known or "score" in frame:
        return frame, ""
    frame = _with_named_rows(frame)
    named, scores = _named_and_scores(frame, known)
    summaries = summary_columns(scores)
    if summaries:
        made, how = long_form(frame.drop(columns=summaries), known)
        if not how:
            return frame, ""
        return made, f"{how}, without {', '.join(summaries)}"
    said = any(looks_like_score(name) or says_statistic(name) for name in scores)
    free = [name for name in frame.columns if name not in columns_in(known)]
    if len(scores) < 2 or said or len(scores) + len(named) < len(free):
        return frame, ""
    found = fitting_pattern(scores, names_score)
    has_algorithm = "algorithm" in known or "algorithm" in named.values()
    if found is None or ("{algorithm}" in found.text) == has_algorithm:
        return frame, ""
    if has_part(found.text, "run"):
        return of_nameless(frame, found.text, {}), f", columns are {found.text}"
    if "{algorithm}" not in found.text:
        return frame, ""
    how = f", columns are the algorithms: {', '.join(scores)}"
    if not named and not (known.get("run") or known.get("tasks")):
        return frame, ""
    return of_nameless(frame, {"algorithm": scores}, {"algorithm": "algorithm"}), how


def wide_pattern(frame: pd.DataFrame, given: Mapping[str, Any]) -> tuple[Pattern | None, list[str]]:
    """Return the pattern of columns that are scores of algorithms or runs, and these, which may be metrics."""
    named, scores = _named_and_scores(frame, given)
    of_runs = [name for name in scores if names_run(name)]
    if len(of_runs) > 1 and all(says_statistic(name) or name in of_runs for name in scores):
        scores = of_runs  # beside their mean and spread
    broken = any(is_mostly_measured(frame, name) for name in map(str, frame))
    if len(scores) < 2 or broken:
        return None, []
    pattern = fitting_pattern(scores, names_score)
    if any(map(says_statistic, scores)) and not has_scores_of_levels(pattern):
        return None, []
    parts = [dim for dim in ("algorithm", "run") if pattern and has_part(pattern.text, dim)]
    if pattern is None or not parts or any(dim in given or dim in named.values() for dim in parts):
        return None, []
    is_plain = pattern.text == "{algorithm}"
    if is_plain and (any(says_higher(name) is not None for name in scores) or all(map(str.isdecimal, scores))):
        return None, []  # metrics, such as throughput beside memory; numbers of runs or steps
    if not any(compiled(pattern.text).fullmatch(name) for name in scores):
        return None, []  # parts with a / are of several levels of keys
    return pattern, scores


def _named_and_scores(frame: pd.DataFrame, known: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return what columns with usual names are, and the other columns of numbers with decimals."""
    free = [name for name in frame.columns if name not in columns_in(known)]
    kinds = {name: dim_of(name) for name in free}
    named = {name: kind for name, kind in kinds.items() if kind is not None}
    scores = [name for name in free if name not in named and pd.api.types.is_float_dtype(frame[name])]
    measured = [name for name in scores if not are_settings(frame, name)]
    return named, measured or scores


def _with_named_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose first column without a name, an index that was written, is the task, or is gone."""
    if not len(frame.columns):
        return frame
    first = str(frame.columns[0])
    if first not in NO_NAME or "task" in frame:
        return frame
    column = frame[frame.columns[0]]
    if pd.api.types.is_numeric_dtype(column):
        return frame.drop(columns=frame.columns[0])
    if not column.is_unique:
        return frame
    return frame.rename(columns={frame.columns[0]: "task"})


def with_named_algorithms(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose first column without a name is the algorithm, where pandas numbered all other columns."""
    names = list(map(str, frame.columns))
    if len(names) < 3 or names[0] not in NO_NAME or names[1:] != [str(place) for place in range(len(names) - 1)]:
        return frame
    if pd.api.types.is_numeric_dtype(frame[names[0]]) or frame[names[0]].duplicated().any():
        return frame
    return frame.rename(columns={names[0]: "algorithm"})


def with_rows(frame: pd.DataFrame, named: Sequence[Any], within: Sequence[str] = ()) -> pd.DataFrame:
    """Return a frame with a column `row`, where it is named: numbers of rows, `within` the labels of other columns.

    Without those it is the first column if that has no name.
    """
    if ROW in frame or ROW not in _texts(named):
        return frame
    if within:
        made = frame.assign(**{ROW: frame.groupby(list(within), observed=True, dropna=False).cumcount() + 1})
    elif len(frame.columns) and frame.columns[0] in NO_NAME:
        made = frame.rename(columns={frame.columns[0]: ROW})
    else:
        made = frame.assign(**{ROW: range(1, len(frame) + 1)})
    made.attrs = frame.attrs
    return made


def with_cut_names(frame: pd.DataFrame, named: Sequence[Any]) -> pd.DataFrame:
    """Return a frame with a column `task`, where it is named: what is before the numbers of runs, cola of cola_1."""
    if TASK in frame or TASK not in _texts(named):
        return frame
    runs = [name for name in map(str, frame.columns) if dim_of(name) == "run" or name in _texts(named)]
    cut = next((tasks for name in runs if (tasks := tasks_in(frame[name])) is not None), None)
    if cut is None:
        return frame
    made = frame.assign(**{TASK: cut})
    made.attrs = frame.attrs
    return made


def tasks_in(runs: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return what is before the numbers of runs, cola of cola_1, if several begin with the same and not all do."""
    names = runs.unique().tolist()
    labels = seeds_in(names) if all(isinstance(name, str) for name in names) else None
    if labels is None or labels["algorithm"].nunique() < 2:
        return None
    return runs.map(dict(zip(names, labels["algorithm"], strict=True)))


def _texts(named: Sequence[Any]) -> list[str]:
    return [name for name in named if isinstance(name, str)]


def as_rows(
    frame: pd.DataFrame,
    columns: Columns | None,
    values: Sequence[str],
    dims: Mapping[str, Any],
    kept: Sequence[str],
) -> tuple[pd.DataFrame, list[str]]:
    """Return a row for each score of a table, as a call names its columns, and the scores that were made of columns.

    `dims` has what was given of algorithm, run and training; `kept` are columns of tasks and coordinates.
    """
    named = [*(name for given in dims.values() for name in as_list(given)), *kept]
    is_made = isinstance(columns, str) and any(has_part(columns, dim) for dim in ("algorithm", "run"))
    if not is_made and {"algorithm", "run"} & set(_texts(named)) - {*map(str, frame)}:
        from xcurves.frames.names_in_column import with_cut_columns  # which most frames do without

        frame = with_cut_columns(frame)
    if columns is None:
        tidy = with_cut_names(frame, named)
        return with_rows(tidy, named, _of_runs(tidy, named, dims)), []
    tidy = with_rows(frame, named)
    single = {dim: column for dim, column in dims.items() if isinstance(column, str)}
    return as_asked(tidy, values, columns, single, kept)


def _of_runs(tidy: pd.DataFrame, named: Sequence[Any], dims: Mapping[str, Any]) -> list[str]:
    """Return the columns that say of which run a row is: those named, and of a long table those to be found."""
    of_runs = [name for name in _texts(named) if name in tidy]
    to_find = [dim for dim in ("algorithm", "run") if dims.get(dim, FIND) is FIND]
    found = {str(name): dim_of(name) for name in tidy if name not in of_runs}
    if "algorithm" in to_find and "algorithm" not in found.values():
        return of_runs
    return of_runs + [name for name, dim in found.items() if dim in to_find]


def doubt_of_columns(frame: pd.DataFrame, known: Mapping[str, Any]) -> Doubt | None:
    """Return what cannot be told of a table with a column for each algorithm, None if all can or if it is none."""
    if "score" in known or "score" in frame or "algorithm" in known:
        return None
    free = [name for name in map(str, frame.columns) if name not in columns_in(known)]
    _refuse_summaries(frame)
    named = [name for name in free if dim_of(name) is not None]
    if any(dim_of(name) == "algorithm" and n_labels(frame[name]) > 1 for name in named):
        return None
    item = _column_of_items(frame, free)
    if item is not None and set(named) <= {item}:
        return _doubt_of_answers(frame, item, free)
    numbers = [str(name) for name in frame[free].select_dtypes("number") if name not in (*named, *NO_NAME)]
    about = [name for name in numbers if _ABOUT & set(words_of(name.replace("Δ", "delta ")))]
    scores = [name for name in numbers if name not in about and pd.api.types.is_float_dtype(frame[name])]
    are_whole = not scores
    if are_whole:
        scores = [name for name in numbers if name not in about]
    scores = [name for name in scores if name not in summary_columns(scores)]
    rest = [name for name in free if name not in (*numbers, *named, *NO_NAME)]
    if not are_whole:
        rest += [name for name in numbers if name not in (*scores, *about, *summary_columns(numbers))]
    rows = _rows_of(frame, known, named, rest)
    if rows is None or not _could_be_algorithms(scores):
        return None
    parts = [name.split(_BETWEEN) for name in scores]
    if not rest and _are_crossed(parts) and "task" not in map(dim_of, named):
        return _doubt_of_parts(parts, n_labels(frame[named[0]]) if named else len(frame), is_named=bool(named))
    runs = [name for name in named if dim_of(name) == "run"]
    numbered = runs_pattern(scores)
    if numbered is not None and not runs and "run" not in known and not about:
        return _doubt_of_numbers(scores, numbered, rows[0])
    columns: list[list[str]] = [[]]
    if about or are_whole:
        columns = [scores]
    if about and not are_whole:
        columns.append([*scores, *about])
    if columns == [[]] and rows == [{}]:
        return None
    n_rows = n_rows_of_scores(frame, scores)
    kinds = {str(dim_of(name)) for name in named}
    choices = []
    for those, of_rows in product(columns, rows):
        if "select" in of_rows:
            metric, each = of_rows["select"]
            n_rows = int((frame[metric] == each).sum())
        choices.append(Choice(_columns(those) | of_rows, _compared(len(those or scores), n_rows, of_rows, kinds)))
    return Doubt({}, tuple(choices[:MOST]), _question(about, are_whole, rows))


def _refuse_summaries(frame: pd.DataFrame) -> None:
    """Refuse what `describe` of pandas says of scores, and forecasts beside what was forecast: no scores."""
    names = [] if frame.empty or len(frame) > _MOST_SUMMARIES else frame.iloc[:, 0].tolist()
    if {"count", "mean", "std", "min", "max"} <= {*map(str, names)}:
        what = "has rows count, mean, std, min and max: a summary of scores"
        raise Refusal("frame", UNSAID, Text(OF_FRAME, what), "Give the scores that it sums up")
    if {"ds", "y", "unique_id"} <= {*map(str, frame)}:
        what = "has forecasts beside y, what was forecast, and no scores"
        raise Refusal("frame", UNSAID, Text(OF_FRAME, what), "Give the error of each forecast")


def _could_be_algorithms(names: Sequence[str]) -> bool:
    """Return whether names of columns could be algorithms: two or more, none of scores or statistics."""
    pattern = fitting_pattern(names, names_score)
    is_plain = pattern is not None and pattern.text == "{algorithm}"
    named_otherwise = any(map(looks_like_score, names)) or sum(map(says_statistic, names)) > 1
    return len(names) > 1 and is_plain and not named_otherwise


def _column_of_items(frame: pd.DataFrame, free: Sequence[str]) -> str | None:
    """Return the one column that tells rows of whole numbers apart as items; None without just one."""
    if any(pd.api.types.is_float_dtype(frame[name]) for name in free):
        return None
    unique = [name for name in free if len(frame) > 1 and n_labels(frame[name]) == len(frame)]
    found = [name for name in unique if words_of(name)[-1:] == ["id"] or dim_of(name) == "task"]
    return found[0] if len(found) == 1 else None


def _doubt_of_answers(frame: pd.DataFrame, item: str, free: Sequence[str]) -> Doubt | None:
    """Return what to ask where columns of whole numbers may be the answers of models to items.

    Texts say of an item what it is about, its subject or its right answer.
    """
    models = [name for name in map(str, frame[free].select_dtypes("number")) if name != item]
    models = [name for name in models if frame[name].isin([0, 1]).all()] or models  # right or wrong, beside counts
    if not _could_be_algorithms(models):
        return None
    rows = {"tasks": [item]}
    choice = Choice(_columns(models) | rows, _compared(len(models), len(frame), rows, set()))
    return Doubt({}, (choice,), _question([], True, [{}]))


def _are_crossed(parts: Sequence[Sequence[str]]) -> bool:
    """Return whether names have two parts each, every first with every second: bert/rte, bert/qnli, t5/rte, t5/qnli."""
    if any(len(each) != 2 for each in parts):
        return False
    firsts, seconds = (set(side) for side in zip(*parts, strict=True))
    return min(len(firsts), len(seconds)) > 1 and len(set(map(tuple, parts))) == len(firsts) * len(seconds)


def _doubt_of_parts(parts: Sequence[Sequence[str]], n_rows: int, *, is_named: bool) -> Doubt:
    """Return what to ask where parts of names of columns are algorithms and tasks; rows are runs if they have no name.

    Environments are first taken for tasks.
    """
    n_first, n_second = (len(set(side)) for side in zip(*parts, strict=True))
    orders = [(("{algorithm}", f"{{{TASK}}}"), n_first, n_second), ((f"{{{TASK}}}", "{algorithm}"), n_second, n_first)]
    if all(ENVIRONMENT.fullmatch(first) for first, _ in parts):
        orders.reverse()
    of_rows = {} if is_named else {"run": ROW}
    each = f", {how_many(n_rows, 'row')} each" if is_named else f", {runs_each(n_rows, n_rows)}"
    choices = tuple(
        Choice(
            {"columns": _BETWEEN.join(names), **of_rows},
            f"{how_many(n_algorithms, 'algorithm')}, {how_many(n_tasks, 'task')}{each}",
        )
        for names, n_algorithms, n_tasks in orders
    )
    return Doubt({}, choices, f"does not say which part of columns such as {_BETWEEN.join(parts[0])} is the algorithm")


def _doubt_of_numbers(scores: Sequence[str], pattern: str, of_rows: Mapping[str, Any]) -> Doubt:
    """Return what to ask where names of columns end in 1, 2, ...: runs, or versions of an algorithm."""
    n_runs = Counter(re.sub(r"\d+$", "", name) for name in scores)
    each = runs_each(min(n_runs.values()), max(n_runs.values()))
    choices = (
        Choice({"columns": pattern, **of_rows}, f"{how_many(len(n_runs), 'algorithm')}, {each}"),
        Choice({**_columns(scores), **of_rows}, f"{how_many(len(scores), 'algorithm')}, one run each"),
    )
    return Doubt({}, choices, f"does not say whether numbers at the end of columns such as {scores[0]} are runs")


def _rows_of(
    frame: pd.DataFrame,
    known: Mapping[str, Any],
    named: Sequence[str],
    rest: Sequence[str],
) -> list[dict[str, Any]] | None:
    """Return what rows could be, nothing to say where a column says it; None if the table is no wide one."""
    if named or known.get("run") is not None or known.get("tasks"):
        return [{}] if not rest else _rows_with_label(frame, named, rest)
    if len(rest) > 1:
        return None
    label = ROW
    if rest:
        (label,) = rest
        if n_labels(frame[label]) < len(frame) or not may_be_label(frame, label):
            return None
    return [{"tasks": [label]}, {"run": label}]


def _rows_with_label(frame: pd.DataFrame, named: Sequence[str], rest: Sequence[str]) -> list[dict[str, Any]] | None:
    """Return what a text beside tasks or metrics could be that tells rows apart with them; None of others."""
    if len(rest) != 1 or not named or any(dim_of(name) != "task" for name in named):
        return None
    (label,) = rest
    if not may_be_label(frame, label) or frame.duplicated([*named, label]).any():
        return None
    metrics = [name for name in named if is_metric(name)]
    if metrics:
        (metric, *_) = metrics
        tasks = [label, *(name for name in named if name not in metrics)]
        return [{"select": (metric, each), "tasks": tasks} for each in frame[metric].unique().tolist()]
    return [{"tasks": [label, *named]}, {"run": label}]


def _columns(names: Sequence[str]) -> dict[str, Any]:
    """Return the argument that names columns of algorithms, none for all."""
    if not names:
        return {}
    if any("," in name for name in names):
        return {"columns": {"algorithm": list(names)}}
    return {"columns": ",".join(names)}


def _compared(n_algorithms: int, n_rows: int, rows: Mapping[str, Any], kinds: Set[str]) -> str:
    """Return what is compared in words; `kinds` are what the columns with usual names are."""
    of_algorithms = how_many(n_algorithms, "algorithm")
    if "tasks" in rows or (not rows and kinds == {"task"}):
        return f"{of_algorithms}, {how_many(n_rows, 'task')}, one run each"
    if "run" in rows or (not rows and kinds == {"run"}):
        return f"{of_algorithms}, one task, {runs_each(n_rows, n_rows)}"
    return f"{of_algorithms}, {how_many(n_rows, 'row')} each"


def _question(about: Sequence[str], are_whole: bool, rows: Sequence[Mapping[str, Any]]) -> str:
    asked = []
    if about:
        asked.append(f"whether {', '.join(about)} {'is an algorithm' if len(about) == 1 else 'are algorithms'}")
    elif are_whole:
        asked.append("whether columns are algorithms")
    if rows != [{}]:
        asked.append("whether rows are tasks or runs")
    return f"does not say {' and '.join(asked)}"
