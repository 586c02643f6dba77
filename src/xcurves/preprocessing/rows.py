"""Rows of frames: repeated ones, and warnings where runs are mixed or seem to be episodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.kernels.ragged import Rows
from xcurves.preprocessing.columns import Duplicates, label_columns, number_columns

_SHOWN = 3  # labels in a message
_EPISODES = re.compile(r"(?:^|[\W_])(?:eps?|episodes?|rollouts?)(?:$|[\W_])", re.IGNORECASE)
_RUNS = {"seed", "run", "run_id", "replicate"}
_MANY = 50  # runs for each level, of at least two


def one_each(rows: Rows, duplicates: Duplicates) -> Rows:
    """Return one score for each curve and level, of the rows that have one."""
    scored = ~np.isnan(rows.score)
    if not scored.all():
        rows = Rows(rows.curve[scored], rows.level[scored], rows.score[scored])
    curve, level, score = rows
    changes = np.flatnonzero(_changes(rows)) + 1
    if len(changes) + 1 >= len(score):
        return rows
    first, ends = np.append(0, changes), np.append(changes, len(score))
    if duplicates == "mean":
        return Rows(curve[first], level[first], np.add.reduceat(score, first) / (ends - first))
    kept = ends - 1 if duplicates == "last" else first
    return Rows(curve[kept], level[kept], score[kept])


def _changes(rows: Rows) -> NDArray[np.bool_]:
    """Return for each row but the first whether its curve or level is another than in the row before."""
    return np.asarray((rows.curve[1:] != rows.curve[:-1]) | (rows.level[1:] != rows.level[:-1]))


def refuse_repeats(
    frame: pd.DataFrame,
    rows: Rows,
    order: NDArray[np.int64],
    dims: Mapping[str, Any],
    used: Sequence[Any],
    extra: Sequence[str],
) -> None:
    """Refuse repeated rows of a frame, its `rows` in that order; `dims` are the columns that tell rows apart."""
    repeated = np.sort(order[1:][~_changes(rows)])
    if not repeated.size:
        return
    keys = list(dims.values())
    shown = "; ".join(str(tuple(row)) for row in frame[keys].iloc[repeated[:3]].to_numpy(dtype=object).tolist())
    count = "1 row repeats" if len(repeated) == 1 else f"{len(repeated)} rows repeat"
    unused, cure = _explain_repeats(frame, keys, used, extra, has_runs="run" in dims)
    differ, own = "Name the column in which they differ in", "give further runs labels of their own in"
    cure = cure or (f"{differ} extra=, {own} {dims['run']!r}" if "run" in dims else f"{differ} run=")
    raise ValueError(
        f"{unused}{count} a ({', '.join(map(str, keys))}), first {shown}. {cure}, or say which to keep: "
        "duplicates='first' (or last, mean)"
    )


def say_kept(every: Rows, rows: Rows, duplicates: Duplicates) -> list[str]:
    """Return what was done with repeated rows, of those that have a score, in one line if there are any."""
    n_repeated = int(np.count_nonzero(~np.isnan(every.score))) - len(rows.score)
    kept = "took the mean of each" if duplicates == "mean" else f"kept the {duplicates} of each"
    return [f"to_dataarray(duplicates={duplicates!r}): {n_repeated} repeated rows, {kept}"] if n_repeated else []


def _explain_repeats(
    frame: pd.DataFrame, keys: Sequence[Any], used: Sequence[Any], extra: Sequence[str], *, has_runs: bool
) -> tuple[str, str]:
    """Return the unused columns in which rows with the same keys differ, and what they could be, "" if none."""
    unused = [*label_columns(frame, used), *number_columns(frame, used)]
    alone = next(([name] for name in unused if not frame.duplicated([*keys, name]).any()), unused)
    if not unused or frame.duplicated([*keys, *alone]).any():
        return "", ""
    for name in alone[::-1]:  # of several, those that are needed
        others = [other for other in alone if other != name]
        alone = alone if frame.duplicated([*keys, *others]).any() else others
    labelled = " and ".join(f"{name!r} ({_listed(frame[name])})" for name in alone)
    further = (
        f"a further dim (extra={[*extra, *alone] if extra or alone[1:] else alone[0]!r}), or part of the algorithm"
    )
    if alone[1:]:
        return f"columns {labelled} are not used, and ", f"Name them: {further}"
    return f"column {labelled} is not used, and ", f"Name it: {f'run={alone[0]!r}, ' * (not has_runs)}{further}"


def warn_of_mixed_runs(
    frame: pd.DataFrame,
    curve: NDArray[np.int64],
    level: NDArray[np.float64],
    used: Sequence[Any],
    run: Any,
    duplicates: Duplicates,
) -> None:
    """Warn of a column, not used, that has several labels in one run, each in several rows, or starts it anew."""
    numeric = number_columns(frame, used) if duplicates != "mean" else []
    for name in [*label_columns(frame, used), *numeric]:
        codes = pd.factorize(frame[name])[0]
        pairs, counts = np.unique(np.stack([curve, codes]), axis=1, return_counts=True)
        several = np.bincount(pairs[0]) > 1
        repeated = several.any() and (counts[several[pairs[0]]] > 1).all()
        if _starts_anew(curve, codes, level) if name in numeric else repeated:
            first = frame.loc[curve == np.flatnonzero(several)[0], name]
            provenance.warn(
                f"column {name!r} is not used and has several labels in one run ({_listed(first)}), in "
                f"{np.count_nonzero(several)} runs of column {run!r}. If it is a further dim: extra={name!r}; if runs "
                "of several are mixed, name a column of runs that differ"
            )
            return


def _starts_anew(curve: NDArray[np.int64], codes: NDArray[np.int64], level: NDArray[np.float64]) -> bool:
    """Return whether each number of a column is one stretch of rows in a run, and training starts anew with it.

    Measures change from row to row, counters and schedules go on where they stopped.
    """
    rows = pd.DataFrame({"curve": curve, "code": codes, "level": level}).sort_values("curve", kind="stable")
    stretches = (rows[["curve", "code"]].diff() != 0).any(axis=1).sum()
    ends = rows.groupby(["curve", "code"])["level"].agg(["min", "max"]).sort_values(["curve", "min"])
    before = ends.groupby("curve").shift()
    return bool(stretches == len(ends) and (ends["min"] < before.mean(axis=1)).any())


def _listed(column: pd.Series[Any]) -> str:
    known = column.dropna().unique().tolist()
    return ", ".join(map(repr, known[:_SHOWN])) + ", ..." * (len(known) > _SHOWN)


def warn_of_episodes(frame: pd.DataFrame, columns: Mapping[str, str], rows: Rows) -> None:
    """Warn if the run column looks like episodes; `columns` are those of the dims, `rows` are sorted by curve."""
    reason = _why(frame, columns, rows)
    if reason:
        provenance.warn(
            f"run column {columns['run']!r}: {reason}. Episodes of one run are not independent. If these are episodes, "
            "name the column of runs, run='seed', and average them, duplicates='mean' or on=..., method='mean'"
        )


def _why(frame: pd.DataFrame, columns: Mapping[str, str], rows: Rows) -> str:
    run = columns["run"]
    if _EPISODES.search(str(run)):
        return "its name says episodes"
    units = [column for dim, column in columns.items() if dim != "training"]
    for other in frame.columns.difference([*columns.values()], sort=False):
        if str(other).casefold() in _RUNS and frame.groupby(units, observed=True)[other].nunique().gt(1).any():
            return f"its labels start again in each value of {str(other)!r}, a column that is not used"
    n_curves = int(np.count_nonzero(np.diff(rows.curve, prepend=-1)))
    n_own = len(rows.curve) / max(n_curves, 1)  # a run's levels differ, so there are as many at least
    if n_own > 1 and n_curves <= _MANY * n_own:
        return ""
    n_groups = len(frame[[column for column in units if column != run]].drop_duplicates())
    n_levels = len(np.unique(rows.level))
    if n_own == 1 and n_levels > 1 and n_curves > n_groups:
        return f"each of its {n_curves} runs has one training level, of {n_levels}"
    if n_levels > 1 and n_curves > _MANY * n_levels * n_groups:
        return f"it has {n_curves} runs of {n_levels} training levels"
    return ""
