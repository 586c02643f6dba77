"""Rows of frames: the score of each, the worst of failed ones, and one for each run and level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import direction
from xcurves.core.doubts import MOST, Choice, Doubtful
from xcurves.core.failed_runs import failed_score
from xcurves.core.known import Duplicates
from xcurves.core.labels import DIMS
from xcurves.core.names import is_metric, words_of
from xcurves.core.refusal import Call, call
from xcurves.frames.columns import JOINED, numbers
from xcurves.frames.mixed_runs import Named, asks, choices_by_order, choices_of, say_unused, telling_apart
from xcurves.kernels.ragged import Rows

_KEPT = {
    "first": "the first row of each",
    "last": "the last row of each",
    "mean": "the mean of the rows of each",
}
SAY_FAILED = "of runs that failed"
OF_READING = "reading: "  # before steps of the history that the reading of a frame made


class OneEach(NamedTuple):
    """One score for each curve and level; the rows of the frame that they are of, and what is said of the others."""

    rows: Rows
    kept: NDArray[np.int64]
    lines: list[str]


def unscored(frame: pd.DataFrame, value: str, columns: Mapping[str, str]) -> str:
    """Return that runs have no score at all, "" if none is so; `columns` are those of dims and tasks.

    Rows of a task that has no score of any run are of another measure.
    """
    if value not in frame or frame[value].notna().all():
        return ""
    if "training" not in columns:
        n_gaps = int(frame[value].isna().sum())
        if n_gaps == 1:
            return "1 row has no score and counts as no run"
        return f"{n_gaps:,} rows have no score and count as no run"
    dims = {dim: column for dim, column in columns.items() if dim != "training" and column in frame}
    tasks = [frame[column] for dim, column in dims.items() if dim not in DIMS]
    if tasks:
        frame = frame[frame.groupby(tasks)[value].transform("count") > 0]
    if not dims:
        return ""
    has_score = frame[value].notna().groupby([frame[column] for column in dims.values()])
    empty = has_score.any().loc[lambda scored: ~scored].index.tolist()
    if not empty:
        return ""
    first = np.ravel(np.array(empty[:1], dtype=object)).tolist()
    name = ", ".join(f"{dim} {label!r}" for dim, label in zip(dims, first, strict=True))
    if len(empty) == 1:
        return f"1 run ({name}) has rows but no score, and counts as no run"
    return f"{len(empty):,} runs (first {name}) have rows but no score, and count as no run"


def order_of(curve: NDArray[np.int64], level: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order of curves, then of levels, then of rows."""
    # Small numbers are sorted in linear time, and in most logs the levels of a run are: a third of the whole call.
    keys: NDArray[Any] = curve
    if curve.max(initial=0) < 2**16:
        keys = curve.astype(np.uint16)
    order = np.argsort(keys, kind="stable")
    levels_rise = level[order][1:] >= level[order][:-1]
    another_curve = curve[order][1:] != curve[order][:-1]
    if (levels_rise | another_curve).all():
        return order
    return np.lexsort((level, curve))


def one_each(
    frame: pd.DataFrame,
    rows: Rows,
    named: Named,
    duplicates: Duplicates,
    *,
    resumed: bool,
) -> OneEach:
    """Return one score for each curve and level; `rows` are those of the frame, in its order.

    A row without a score is none, so that it repeats no other.
    """
    kept = np.flatnonzero(~np.isnan(rows.score))
    order = kept[order_of(rows.curve[kept], rows.level[kept])]
    sorted_rows = _taken(rows, order)
    changes = _changes(sorted_rows)
    same_curve = np.diff(sorted_rows.curve) == 0
    falls = same_curve & (np.diff(order) < 0)
    if changes.all() and not falls.any():
        return OneEach(sorted_rows, kept, [])

    lines: list[str] = []
    if resumed or duplicates not in JOINED:
        from xcurves.frames.restarts import in_order  # which rows in order do without

        kept, level, lines = in_order(frame, rows, kept, named, duplicates, resumed)
        rows = rows._replace(level=level)
        order = kept[order_of(rows.curve[kept], rows.level[kept])]
        sorted_rows = _taken(rows, order)
        changes = _changes(sorted_rows)
    if changes.all():
        return OneEach(sorted_rows, kept, lines)
    if duplicates not in JOINED:
        raise _repeats(frame, sorted_rows, order, named)
    by_level = pd.DataFrame(sorted_rows._asdict()).groupby(["curve", "level"])["score"]
    joined = by_level.agg(duplicates).reset_index()
    lines.append(_say_joined(len(sorted_rows.score) - len(joined), duplicates))
    return OneEach(Rows(*(joined[name].to_numpy() for name in Rows._fields)), kept, lines)


def _taken(rows: Rows, which: NDArray[np.int64]) -> Rows:
    return Rows(rows.curve[which], rows.level[which], rows.score[which])


def _changes(rows: Rows) -> NDArray[np.bool_]:
    """Return for each row but the first whether its curve or level is another than in the row before."""
    return np.asarray((rows.curve[1:] != rows.curve[:-1]) | (rows.level[1:] != rows.level[:-1]))


def _say_joined(n_repeated: int, duplicates: Duplicates) -> str:
    kept = f"kept the {duplicates} of each"
    if duplicates == "mean":
        kept = "took the mean of each"
    return f"to_dataarray(duplicates={duplicates!r}): {n_repeated} repeated rows, {kept}"


def _repeats(frame: pd.DataFrame, rows: Rows, order: NDArray[np.int64], named: Named) -> Doubtful:
    """Return the error about repeated rows of a frame, its sorted `rows` in that order."""
    repeated = np.sort(order[1:][~_changes(rows)])
    first = "; ".join(str(tuple(row)) for row in frame[named.keys].iloc[repeated[:3]].to_numpy(dtype=object).tolist())
    count = f"{len(repeated)} rows repeat"
    if len(repeated) == 1:
        count = "1 row repeats"
    by_row = np.argsort(order)
    apart = telling_apart(frame, order[by_row], rows.curve[by_row], rows.level[by_row], named.used)
    if len(apart) == 1 and words_of(apart[0])[-1:] in (["episode"], ["episodes"]):
        mean = Choice({"duplicates": "mean"}, f"the mean of the episodes at each {named.dims.get('training', 'run')}")
        return asks(f"{count} a ({', '.join(map(str, named.keys))}), with another {apart[0]!r} each", [mean], named)
    question = f"{count} a ({', '.join(map(str, named.keys))}), first {first}"
    choices, ways = list[Choice](), list(_KEPT)
    if apart:
        question = f"{say_unused(frame, apart)}, and {question}"
        choices = choices_of(frame, apart, named)
    elif "run" in named.dims and "columns" not in named.given:
        if frame.groupby(named.keys, observed=True).size().median() > 1:  # else a few were written twice
            choices = choices_by_order(frame, named)
        if choices:
            ways.reverse()
        else:
            question += f". If they are further runs, give each a label of its own in {named.dims['run']!r}"
    if not any("select" in choice.columns for choice in choices):
        choices += [Choice({"duplicates": how}, _KEPT[how]) for how in ways]
    return asks(question, choices[:MOST], named)


def scores_of_rows(
    frame: pd.DataFrame,
    value: str,
    missing_scores: str | None,
    higher_is_better: bool | None,
) -> tuple[NDArray[np.float64], int]:
    """Return the score of each row, and how many rows without one are of runs that failed."""
    scores = numbers(frame[value])
    if missing_scores != "failed":
        return scores, 0
    is_missing = np.isnan(scores)
    worst = worst_score(frame, value, higher_is_better)
    return np.where(is_missing, worst, scores), int(is_missing.sum())


def worst_score(frame: pd.DataFrame, value: str, higher_is_better: bool | None) -> float:
    """Return the score of runs that failed, of a column of scores."""
    return failed_score(_is_higher_better(frame, value, higher_is_better))


def _is_higher_better(frame: pd.DataFrame, value: str, given: bool | None) -> bool:
    """Return whether higher is better of a column of scores."""
    names = [value, said_of(frame, value).get("long_name")]
    metrics = {str(column): frame[column].unique().tolist() for column in frame if is_metric(column)}
    said: dict[Any, Any] = dict(frame.attrs) | said_of(frame, value)
    if isinstance(said.get(direction.HIGHER), Mapping):
        del said[direction.HIGHER]  # of other columns
    return direction.decide(given, said, names, metrics, _rows_of).higher


def _rows_of(column: str, label: object) -> Call:
    """Return the call that keeps the rows of one label of a column."""
    return call("frame.groupby", column).then(call(".get_group", label))


def said_of(frame: pd.DataFrame, column: str) -> dict[str, Any]:
    """Return what the attrs of a frame say of a column."""
    attrs = {}
    for key in ("long_name", "units", direction.HIGHER):
        by_column = frame.attrs.get(key)
        if isinstance(by_column, Mapping) and column in by_column:
            attrs[key] = by_column[column]
    return attrs
