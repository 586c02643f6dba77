"""Rows of frames: repeated ones, and warnings where runs are mixed or seem to be episodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.frames.columns import Duplicates, unused_labels, unused_numbers
from xcurves.kernels.times.ragged import Rows

_SHOWN = 3  # labels in a message
_EPISODES = re.compile(
    r"(?:^|[\W_])(?:eps?|episodes?|rollouts?)(?:$|[\W_])", re.IGNORECASE
)
_MANY = 50  # runs for each level, of at least two


def order_of(curve: NDArray[np.int64], level: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order of curves, then of levels, then of rows."""
    # Small numbers are sorted in linear time, and in most logs the levels of a run are: a third of the whole call.
    numbers: NDArray[Any] = curve
    if curve.max() < 2**16:
        numbers = curve.astype(np.uint16)
    order = np.argsort(numbers, kind="stable")
    levels_rise = level[order][1:] >= level[order][:-1]
    another_curve = curve[order][1:] != curve[order][:-1]
    if (levels_rise | another_curve).all():
        return order
    return np.lexsort((level, curve))


def one_each(rows: Rows, duplicates: Duplicates) -> Rows:
    """Return one score for each curve and level, of the rows that have one."""
    scored = ~np.isnan(rows.score)
    if not scored.all():
        rows = Rows(rows.curve[scored], rows.level[scored], rows.score[scored])
    if _changes(rows).all():
        return rows
    by_level = pd.DataFrame(rows._asdict()).groupby(["curve", "level"])["score"]
    joined = by_level.agg(duplicates).reset_index()
    return Rows(*(joined[name].to_numpy() for name in Rows._fields))


def _changes(rows: Rows) -> NDArray[np.bool_]:
    """Return for each row but the first whether its curve or level is another than in the row before."""
    return np.asarray(
        (rows.curve[1:] != rows.curve[:-1]) | (rows.level[1:] != rows.level[:-1])
    )


def refuse_repeats(
    frame: pd.DataFrame,
    rows: Rows,
    order: NDArray[np.int64],
    dims: Mapping[str, Any],
    used: Sequence[Any],
    extra: Sequence[str],
) -> None:
    """Refuse repeated rows of a frame, its `rows` in that order; `dims` are the columns that tell rows apart."""
    # Logs write several rows at one level, each with other columns: those without a score are not counted.
    scored = ~np.isnan(rows.score)
    with_score = Rows(rows.curve[scored], rows.level[scored], rows.score[scored])
    repeated = np.sort(order[scored][1:][~_changes(with_score)])
    if not repeated.size:
        repeated = np.sort(order[1:][~_changes(rows)])
    if not repeated.size:
        return
    keys = list(dims.values())
    first = "; ".join(
        str(tuple(row))
        for row in frame[keys].iloc[repeated[:3]].to_numpy(dtype=object).tolist()
    )
    count = f"{len(repeated)} rows repeat"
    if len(repeated) == 1:
        count = "1 row repeats"
    apart = _telling_apart(frame, keys, used)
    if apart:
        named = " and ".join(f"{name!r} ({_listed(frame[name])})" for name in apart)
        count = f"{_not_used(named, len(apart))}, and {count}"
        cure = _name_columns(apart, extra, has_run="run" in dims)
    elif "run" in dims:
        cure = f"Name the column in which they differ in extra=, give further runs labels of their own in {dims['run']!r}"
    else:
        cure = "Name the column in which they differ in run="
    raise ValueError(
        f"{count} a ({', '.join(map(str, keys))}), first {first}. {cure}, or say which to keep: "
        "duplicates='first' (or last, mean)"
    )


def _not_used(named: str, n_columns: int) -> str:
    if n_columns == 1:
        return f"column {named} is not used"
    return f"columns {named} are not used"


def _name_columns(apart: Sequence[Any], extra: Sequence[str], *, has_run: bool) -> str:
    """Return how to use the columns that tell rows apart, beside the further dims that there are."""
    if len(apart) > 1:
        return f"Name them: a further dim (extra={[*extra, *apart]!r}), or part of the algorithm"
    further: Any = apart[0]
    if extra:
        further = [*extra, *apart]
    run = ""
    if not has_run:
        run = f"run={apart[0]!r}, "
    return f"Name it: {run}a further dim (extra={further!r}), or part of the algorithm"


def say_kept(every: Rows, rows: Rows, duplicates: Duplicates) -> list[str]:
    """Return what was done with repeated rows, of those that have a score, in one line if there are any."""
    n_repeated = int(np.count_nonzero(~np.isnan(every.score))) - len(rows.score)
    if not n_repeated:
        return []
    kept = f"kept the {duplicates} of each"
    if duplicates == "mean":
        kept = "took the mean of each"
    return [
        f"to_dataarray(duplicates={duplicates!r}): {n_repeated} repeated rows, {kept}"
    ]


def _telling_apart(
    frame: pd.DataFrame, keys: Sequence[Any], used: Sequence[Any]
) -> list[Any]:
    """Return the unused columns that are needed to tell all rows with the same keys apart, none if they do not."""
    apart = [*unused_labels(frame, used), *unused_numbers(frame, used)]
    if frame.duplicated([*keys, *apart]).any():
        return []
    for name in apart[::-1]:
        others = [other for other in apart if other != name]
        is_needed = frame.duplicated([*keys, *others]).any()
        if not is_needed:
            apart = others
    return apart


def warn_of_mixed_runs(
    frame: pd.DataFrame,
    curve: NDArray[np.int64],
    level: NDArray[np.float64],
    used: Sequence[Any],
    run: Any,
    duplicates: Duplicates,
) -> None:
    """Warn of a column, not used, that has several labels in one run, each in several rows, or starts it anew."""
    texts = unused_labels(frame, used)
    numbers = []
    if duplicates != "mean":
        numbers = unused_numbers(frame, used)
    for name in [*texts, *numbers]:
        rows = pd.DataFrame(
            {"curve": curve, "code": pd.factorize(frame[name])[0], "level": level}
        )
        parts = rows.groupby(["curve", "code"])["level"].agg(["size", "min", "max"])
        mixed = parts[parts.index.get_level_values("curve").duplicated(keep=False)]
        if not len(mixed):
            continue
        if name in numbers:
            are_several = _starts_anew(rows, parts)
        else:
            are_several = bool((mixed["size"] > 1).all())
        if are_several:
            runs = mixed.index.unique("curve")
            provenance.warn(
                f"column {name!r} is not used and has several labels in one run "
                f"({_listed(frame.loc[curve == runs[0], name])}), in {len(runs)} runs of column {run!r}. If it is a "
                f"further dim: extra={name!r}; if runs of several are mixed, name a column of runs that differ"
            )
            return


def _starts_anew(rows: pd.DataFrame, parts: pd.DataFrame) -> bool:
    """Return whether each number of a column is one stretch of rows in a run, and training starts anew with it.

    Measures change from row to row, counters and schedules go on where they stopped.
    """
    by_run = rows.sort_values("curve", kind="stable")[["curve", "code"]]
    n_stretches = (by_run.diff() != 0).any(axis=1).sum()
    ends = parts[["min", "max"]].sort_values(["curve", "min"])
    before = ends.groupby("curve").shift()
    return bool(n_stretches == len(ends) and (ends["min"] < before.mean(axis=1)).any())


def _listed(column: pd.Series[Any]) -> str:
    known = column.dropna().unique().tolist()
    shown = [repr(label) for label in known[:_SHOWN]]
    if len(known) > _SHOWN:
        shown.append("...")
    return ", ".join(shown)


def warn_of_episodes(
    frame: pd.DataFrame, columns: Mapping[str, str], rows: Rows
) -> None:
    """Warn if the run column looks like episodes; `columns` are those of the dims, `rows` are sorted by curve."""
    reason = _why(frame, columns, rows)
    if reason:
        provenance.warn(
            f"run column {columns['run']!r}: {reason}. Episodes of one run are not independent. If these are episodes, "
            "name the column of runs, run='seed', and average them, duplicates='mean' or on=..., method='mean'"
        )


def _why(frame: pd.DataFrame, columns: Mapping[str, str], rows: Rows) -> str:
    """Return why runs may be episodes: their name, one level each, or many of few levels."""
    if _EPISODES.search(str(columns["run"])):
        return "its name says episodes"
    n_curves = int(np.count_nonzero(np.diff(rows.curve, prepend=-1)))
    # a run's levels differ, so there are as many at least
    n_levels_of_run = len(rows.curve) / max(n_curves, 1)
    if n_levels_of_run > 1 and n_curves <= _MANY * n_levels_of_run:
        return ""

    groups = [
        column for dim, column in columns.items() if dim not in ("run", "training")
    ]
    n_groups = len(frame[groups].drop_duplicates())
    n_levels = len(np.unique(rows.level))
    if n_levels_of_run == 1 and n_levels > 1 and n_curves > n_groups:
        return f"each of its {n_curves} runs has one training level, of {n_levels}"
    if n_levels > 1 and n_curves > _MANY * n_levels * n_groups:
        return f"it has {n_curves} runs of {n_levels} training levels"
    return ""
