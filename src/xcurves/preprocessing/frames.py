"""Tidy frames, one row per score, to labelled curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import grid_advice, labels, provenance
from xcurves.kernels.ragged import Rows, at_levels
from xcurves.preprocessing import grids
from xcurves.preprocessing.columns import (
    Duplicates,
    as_pandas,
    check_frame,
    label_codes,
    listed,
    names_of,
    numbers,
    warn_of_blanks,
)
from xcurves.preprocessing.grids import AlignMethod, Asked, GridLevels, On
from xcurves.preprocessing.independence import warn_of_episodes

_ONE_RUN = "_xcurves_run"  # no column has this name


def to_dataarray(
    frame: pd.DataFrame | Any,
    value: str,
    *,
    algorithm: str = "algorithm",
    run: str | None = "run",
    training: str | None = "training",
    extra: str | Sequence[str] = (),
    on: On | None = None,
    method: AlignMethod | None = None,
    tolerance: float | None = None,
    duplicates: Duplicates = "raise",
) -> xr.DataArray:
    r"""Turn a tidy frame, one row per score, into curves.

    Parameters
    ----------
    frame : DataFrame
        One row per score; of pandas, or any that has ``to_pandas()`` or ``__arrow_c_stream__`` (polars needs the extra
        `polars`). ``frame.attrs["units"]`` and ``frame.attrs["long_name"]``, if present, map columns to
        units and names; strings and numbers in ``frame.attrs`` go to ``attrs``.
    value : str
        Column of the scores; a row without a score is a gap.
    algorithm, run, training : str, the last two optional
        Columns that become the dims of these names. With ``training=None`` scores have no training (trials); with
        ``run=None`` each algorithm has one curve and there is no dim run. Labels that differ only in spaces around
        them stay two, with a warning.
    extra : str or sequence of str, optional
        Columns that become further dims (tasks) under their own names.
    on : {"intersection", "union", "final"} or sequence of float, optional
        As in `align`: the grid that every run is brought to, before the dense array is made. Use it for runs with many
        different levels: without it, the array has every level of any run.
    method : {None, "previous", "linear", "nearest", "mean"}
        As in `align`: how a run gets a score at a level.
    tolerance : float, optional
        As in `align`, in units of training.
    duplicates : {"raise", "first", "last", "mean"}
        What to do with several rows of one run at one training level: raise an error, keep the first or the
        last score, or take the mean.

    Returns
    -------
    DataArray, dims (\*extra, algorithm, run, training)
        Labels in sorted order (categories in theirs), so that the order of rows does not matter; NaN where the
        frame has no score. The name is `value`; every coordinate has its column's name as ``long_name`` and, where
        given, units. ``attrs["history"]`` says what was dropped or chosen.

    Raises
    ------
    KeyError
        If the frame lacks a column; the message lists those it has.
    TypeError
        If `value` or `training` is not numeric.
    ValueError
        If the frame is empty, if a label is missing, or if scores are repeated and `duplicates` is "raise"; and what
        `align` refuses.
    MemoryError
        If the dense array, with every level of any run, does not fit in memory; the message says its sizes.
    ImportError
        If `frame` is of polars and pyarrow is not installed.

    Warns
    -----
    UserWarning
        With `on`, as `align`; of labels that differ only in spaces around them; if the column of runs seems to hold
        episodes: by its name, because its labels start again in each value of an unused column ``seed``, ``run``,
        ``run_id`` or ``replicate``, because each run has one level, or because there are over 50 runs for each level.

    Examples
    --------
    >>> import pandas as pd, xcurves
    >>> frame = pd.DataFrame(
    ...     {"agent": ["sac", "sac", "td3", "td3"], "seed": 1, "step": [0, 90, 0, 200], "return": [1.0, 4.0, 2.0, 6.0]}
    ... )
    >>> names = {"algorithm": "agent", "run": "seed", "training": "step"}
    >>> frame.curves.to_dataarray("return", **names).sel(algorithm="td3").to_numpy()
    array([[ 2., nan,  6.]])
    >>> frame.curves.to_dataarray("return", **names, on=[0, 50], method="linear").sel(algorithm="td3").to_numpy()
    array([[2., 3.]])
    """
    frame = as_pandas(frame)
    further = {name: name for name in names_of(extra)} | {"algorithm": algorithm}
    dim_of_levels = {} if training is None else {"training": training}
    if run is None:
        check_frame(frame, value, further | dim_of_levels, duplicates)
        options: dict[str, Any] = {"on": on, "method": method, "tolerance": tolerance, "duplicates": duplicates}
        of_one_run = frame.assign(**{_ONE_RUN: 0})
        curves = to_dataarray(
            of_one_run, value, algorithm=algorithm, run=_ONE_RUN, training=training, extra=extra, **options
        )
        return curves.isel(run=0, drop=True)
    asked = _check_asked(on, method, tolerance, training)
    columns = further | {"run": run} | dim_of_levels
    check_frame(frame, value, columns, duplicates)
    runs, curve = _runs(frame, columns)
    level = np.zeros(len(frame)) if training is None else numbers(frame[training])
    order = _order(curve, level)
    every = Rows(curve[order], level[order], numbers(frame[value])[order])
    repeated = order[1:][(every.curve[1:] == every.curve[:-1]) & (every.level[1:] == every.level[:-1])]
    if duplicates == "raise" and repeated.size:
        keys = [column for column in columns.values() if column != _ONE_RUN]
        raise ValueError(_say_repeated(frame[keys], np.sort(repeated), "extra=" if run != _ONE_RUN else "run="))
    rows = _one_each(every, duplicates)
    if training is not None and run != _ONE_RUN:
        warn_of_episodes(frame, columns, rows)
    if asked is None:
        grid = np.unique(every.level)
        scores, lines = _dense(rows, runs, grid), list[str]()
    else:
        grid, scores, lines = _aligned(rows, runs, asked)
    curves = runs.expand_dims(training=grid, axis=-1).copy(data=scores.reshape(*runs.shape, -1)).rename(value)
    curves = curves.isel(training=0, drop=True) if training is None else curves
    for dim, column in columns.items():
        curves[dim].attrs = _about(frame, column)
    carried = {str(name): told for name, told in frame.attrs.items() if _lasts(told)}
    curves.attrs = carried | _about(frame, value)
    for line in _say_kept(int(np.count_nonzero(~np.isnan(every.score))) - len(rows.score), duplicates) + lines:
        curves = provenance.record(curves, line)
    return curves


def to_dataset(
    frame: pd.DataFrame | Any,
    values: Sequence[str],
    *,
    algorithm: str = "algorithm",
    run: str | None = "run",
    training: str | None = "training",
    extra: str | Sequence[str] = (),
    on: On | None = None,
    method: AlignMethod | None = None,
    tolerance: float | None = None,
    duplicates: Duplicates = "raise",
) -> xr.Dataset:
    """Turn a tidy frame with several columns of scores into a Dataset of curves.

    Parameters
    ----------
    frame : DataFrame
        As for `to_dataarray`.
    values : sequence of str
        Columns of scores. A row may lack some of them.
    algorithm, run, training : str, the last two optional
        Columns that become the dims of these names, as for `to_dataarray`.
    extra : str or sequence of str, optional
        Columns that become further dims.
    on : {"intersection", "union", "final"} or sequence of float, optional
        As in `align`; each column of scores is aligned by itself.
    method : {None, "previous", "linear", "nearest", "mean"}
        As in `align`: how a run gets a score at a level.
    tolerance : float, optional
        As in `align`, in units of training.
    duplicates : {"raise", "first", "last", "mean"}
        What to do with several rows of one run at one training level.

    Returns
    -------
    Dataset
        A variable for each column of scores, as `to_dataarray` makes it, on the same labels; NaN where it has no score.

    Raises
    ------
    KeyError, TypeError, ValueError, MemoryError, ImportError
        As `to_dataarray`; also if `values` names no column.

    Warns
    -----
    UserWarning
        As `to_dataarray`, for each column of scores.

    Examples
    --------
    >>> import pandas as pd, xcurves
    >>> frame = pd.DataFrame(
    ...     {"algorithm": ["a", "b"], "run": 0, "training": 10, "reward": [1.0, 2.0], "success": [0.5, None]}
    ... )
    >>> curves = frame.curves.to_dataset(["reward", "success"])
    >>> curves.success.squeeze().to_numpy()
    array([0.5, nan])
    """
    names = listed("values", values)
    if not names:
        raise ValueError("values must name at least one column of scores; got none. Name them: values=['return']")
    table = as_pandas(frame)
    columns = [
        to_dataarray(
            table,
            name,
            algorithm=algorithm,
            run=run,
            training=training,
            extra=extra,
            on=on,
            method=method,
            tolerance=tolerance,
            duplicates=duplicates,
        )
        for name in names
    ]
    return xr.merge(columns, join="outer", compat="no_conflicts", combine_attrs="override")


def _check_asked(
    on: On | None, method: AlignMethod | None, tolerance: float | None, training: str | None
) -> Asked | None:
    if on is None and (method is not None or tolerance is not None):
        given = f"method={method!r}" if method is not None else f"tolerance={tolerance!r}"
        raise ValueError(f"{given} needs the levels that runs are brought to. Give them: on='union' or on=[...]")
    if on is not None and training is None:
        raise ValueError("on= needs a column of training; got training=None. Name it: training='step'")
    return None if on is None else grids.check_asked(on, method, tolerance)


def _runs(frame: pd.DataFrame, columns: Mapping[str, str]) -> tuple[xr.DataArray, NDArray[np.int64]]:
    """Return an array of all runs, (*extra, algorithm, run), and the number of each row's run in it."""
    coded = {dim: label_codes(frame[column]) for dim, column in columns.items() if dim != "training"}
    coords = {dim: values for dim, (values, _) in coded.items()}
    for dim, values in coords.items():
        warn_of_blanks(columns[dim], values)
    runs = xr.DataArray(np.zeros([len(values) for values in coords.values()]), coords, list(coords))
    return runs, np.ravel_multi_index([codes for _, codes in coded.values()], runs.shape)


def _order(curve: NDArray[np.int64], level: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order of curves, then of levels, then of rows."""
    # Small codes are sorted in linear time, and in most logs the levels of a run are sorted.
    small = np.uint16 if curve.max() < 2**16 else np.int64
    order = np.argsort(curve.astype(small), kind="stable")
    falls = (np.diff(level[order]) < 0) & (np.diff(curve[order]) == 0)
    return np.lexsort((level, curve)) if falls.any() else order


def _about(frame: pd.DataFrame, column: str) -> dict[str, str]:
    told = {key: frame.attrs.get(key) for key in ("long_name", "units")}
    by_column = {key: names[column] for key, names in told.items() if isinstance(names, Mapping) and column in names}
    return {"long_name": column} | by_column


def _lasts(told: object) -> bool:
    """Whether every archive can hold an attr."""
    return isinstance(told, str | float) or (type(told) is int and abs(told) < 2**31)


def _one_each(rows: Rows, duplicates: Duplicates) -> Rows:
    """Return one score for each curve and level, of the rows that have one."""
    scored = ~np.isnan(rows.score)
    if not scored.all():
        rows = Rows(rows.curve[scored], rows.level[scored], rows.score[scored])
    curve, level, score = rows
    changes = np.flatnonzero((np.diff(curve) != 0) | (np.diff(level) != 0)) + 1
    if len(changes) + 1 == len(score):
        return rows
    first = np.concatenate([np.zeros(min(len(score), 1), dtype=np.int64), changes])
    ends = np.append(first[1:], len(score))
    if duplicates == "mean":
        means = np.add.reduceat(score, first) / (ends - first) if len(score) else score
        return Rows(curve[first], level[first], means)
    kept = ends - 1 if duplicates == "last" and len(score) else first
    return Rows(curve[kept], level[kept], score[kept])


def _say_repeated(keys: pd.DataFrame, repeated: NDArray[np.int64], option: str) -> str:
    shown = "; ".join(str(tuple(row)) for row in keys.iloc[repeated[:3]].to_numpy(dtype=object).tolist())
    count = "1 row repeats" if len(repeated) == 1 else f"{len(repeated)} rows repeat"
    return (
        f"{count} a ({', '.join(map(str, keys))}), first {shown}. Name the column in which they differ in {option}, or "
        "say which to keep: duplicates='first', 'last' or 'mean'"
    )


def _say_kept(n_repeated: int, duplicates: Duplicates) -> list[str]:
    kept = "took the mean of each" if duplicates == "mean" else f"kept the {duplicates} of each"
    return [f"to_dataarray(duplicates={duplicates!r}): {n_repeated} repeated rows, {kept}"] if n_repeated else []


def _dense(rows: Rows, runs: xr.DataArray, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    try:
        return at_levels(rows, runs.size, grid, None, None)
    except MemoryError:
        sizes = " x ".join(f"{size:,} {dim}" for dim, size in {**runs.sizes, "training": len(grid)}.items())
        raise MemoryError(
            f"curves of {sizes} do not fit in memory. Bring runs to fewer levels, on=[...], method=..., or select tasks"
        ) from None


def _aligned(
    rows: Rows, runs: xr.DataArray, asked: Asked
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
    """Return the grid, scores of shape (task, algorithm, run, level), and what was dropped."""
    names = labels.task_names(runs, ("algorithm", "run"))
    shape = (len(names), runs.sizes["algorithm"], runs.sizes["run"])
    size = shape[1] * shape[2]

    def disjoint_algorithms(task: int) -> str:
        here = rows.curve // size == task
        mine = Rows(rows.curve[here] % size, rows.level[here], rows.score[here])
        return grids.disjoint_algorithms(mine, shape[2], labels.words(runs["algorithm"]))

    levels = grids.levels_of_rows(rows, shape) if asked.needs_levels else GridLevels.none(len(names))
    suggest = partial(grid_advice.suggest, rows, runs, frame=True, final=asked.on == "final")
    levels, lines = grids.leave_out_disjoint(asked, levels, names, disjoint_algorithms, suggest)
    grid, kept = grids.choose(asked, levels)
    scores = at_levels(rows, runs.size, grid, asked.method, asked.tolerance).reshape(*shape, -1)
    scores[np.broadcast_to(~kept[:, np.newaxis, np.newaxis], scores.shape)] = np.nan
    lines += grids.dropped(asked, levels, names) if asked.method is None else []
    if asked.may_lack:
        present = (np.bincount(rows.curve, minlength=runs.size) > 0).reshape(shape)
        lines += grids.lacking("to_dataarray()", scores, grid, kept, present, names, runs)
    return grid, scores, [f"to_dataarray({asked}): {'; '.join(lines) or 'dropped nothing'}"]
