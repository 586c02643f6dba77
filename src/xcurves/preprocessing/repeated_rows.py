"""Rows of one run at one training level: an error, or one score of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.kernels.ragged import Rows
from xcurves.preprocessing.columns import Duplicates


def order_of(curve: NDArray[np.int64], level: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order of curves, then of levels, then of rows."""
    # Small codes are sorted in linear time, and in most logs the levels of a run are sorted.
    small = np.uint16 if curve.max() < 2**16 else np.int64
    order = np.argsort(curve.astype(small), kind="stable")
    level_in, curve_in = level[order], curve[order]
    falls = (level_in[1:] < level_in[:-1]) & (curve_in[1:] == curve_in[:-1])
    return np.lexsort((level, curve)) if falls.any() else order


def one_each(rows: Rows, duplicates: Duplicates) -> Rows:
    """Return one score for each curve and level, of the rows that have one."""
    scored = ~np.isnan(rows.score)
    if not scored.all():
        rows = Rows(rows.curve[scored], rows.level[scored], rows.score[scored])
    curve, level, score = rows
    changes = np.flatnonzero(_changes(rows)) + 1
    if len(changes) + 1 == len(score):
        return rows
    first = np.concatenate([np.zeros(min(len(score), 1), dtype=np.int64), changes])
    ends = np.append(first[1:], len(score))
    if duplicates == "mean":
        means = np.add.reduceat(score, first) / (ends - first) if len(score) else score
        return Rows(curve[first], level[first], means)
    kept = ends - 1 if duplicates == "last" and len(score) else first
    return Rows(curve[kept], level[kept], score[kept])


def _changes(rows: Rows) -> NDArray[np.bool_]:
    """Return for each row but the first whether its curve or level is another than in the row before."""
    return np.asarray((rows.curve[1:] != rows.curve[:-1]) | (rows.level[1:] != rows.level[:-1]))


def refuse(keys: pd.DataFrame, order: NDArray[np.int64], rows: Rows, option: str) -> None:
    """Refuse repeated rows; `rows` are those of the frame in `order`, `option` names a column in which they differ."""
    repeated = np.sort(order[1:][~_changes(rows)])
    if not repeated.size:
        return
    shown = "; ".join(str(tuple(row)) for row in keys.iloc[repeated[:3]].to_numpy(dtype=object).tolist())
    count = "1 row repeats" if len(repeated) == 1 else f"{len(repeated)} rows repeat"
    raise ValueError(
        f"{count} a ({', '.join(map(str, keys))}), first {shown}. Name the column in which they differ in {option}, or "
        "say which to keep: duplicates='first', 'last' or 'mean'"
    )


def say_kept(every: Rows, rows: Rows, duplicates: Duplicates) -> list[str]:
    """Return what was done with repeated rows, of those that have a score, in one line if there are any."""
    n_repeated = int(np.count_nonzero(~np.isnan(every.score))) - len(rows.score)
    kept = "took the mean of each" if duplicates == "mean" else f"kept the {duplicates} of each"
    return [f"to_dataarray(duplicates={duplicates!r}): {n_repeated} repeated rows, {kept}"] if n_repeated else []
