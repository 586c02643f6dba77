"""A reading of a frame, one row per score, as labelled curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import direction, labels, provenance, run_checks, short_runs
from xcurves.core.calls import later
from xcurves.core.failed_runs import SHORT
from xcurves.core.known import AlignMethod, Duplicates, On
from xcurves.core.matched_runs import MATCHED, NUMBERED
from xcurves.core.names import is_metric
from xcurves.core.refusal import (
    UNSAID,
    Cure,
    Refusal,
    Text,
    Verbatim,
    Words,
    call,
    give,
)
from xcurves.core.validation import check_choice
from xcurves.frames import rows as frame_rows
from xcurves.frames.columns import (
    check_frame,
    label_codes,
    names_of,
    numbers,
)
from xcurves.frames.mixed_runs import (
    Named,
    ask_of_ends,
    ask_of_rungs,
    warn_of_episodes,
    warn_of_mixed_runs,
)
from xcurves.frames.reading import Reading
from xcurves.frames.rows import OF_READING, SAY_FAILED, said_of, scores_of_rows
from xcurves.kernels.ragged import Rows, at_levels, own_levels

if TYPE_CHECKING:
    from xcurves.frames import grids
else:
    (grids,) = later("xcurves.frames", "grids")

_REPEAT = "_xcurves_repeat"  # no column has this name
_OF_ROWS = tuple(f"to_dataarray({option}=" for option in ("duplicates", "resumed", "missing_scores"))
_CELLS = 10  # most cells of the union of levels for each score


def curves_of(
    reading: Reading,
    *,
    coords: str | Sequence[str] = (),
    levels: Literal["union", "run"] = "union",
    on: On | None = None,
    method: AlignMethod | None = None,
    tolerance: float | None = None,
    duplicates: Duplicates = "raise",
    resumed: bool = False,
    missing_scores: Literal["absent", "failed"] | None = None,
    higher_is_better: bool | None = None,
) -> xr.DataArray:
    """Return the curves that a reading says, dims (*extra, algorithm, run, training); options as of `to_dataarray`."""
    value: Any = reading.score
    training = reading.training
    kept = list(dict.fromkeys([*names_of(coords, "coords"), *reading.coords]))
    dims: dict[str, Any] = {name: name for name in names_of(reading.tasks)}
    dims |= {"algorithm": reading.algorithm, "run": reading.run, "training": training}
    frame = _without_empty_rows(reading.frame, value, training, reading.algorithm)
    if duplicates == "runs":
        duplicates = "raise"  # the reading has numbered the rows that may be runs
    column_of = {dim: column for dim, column in dims.items() if column is not None}
    check_frame(frame, value, column_of, kept)
    asked = _check_asked(on, method, tolerance, training, levels)
    runs, curve = _runs(frame, dims, kept)
    level = np.zeros(len(frame))
    if training is not None:
        level = numbers(frame[training])
    scores, n_failed = scores_of_rows(frame, value, missing_scores, higher_is_better)
    failures, ends = None, scores
    if reading.state is not None:
        from xcurves.frames.states import Failures  # which most frames do without

        failures = Failures.of(reading, frame, missing_scores, higher_is_better)
    if failures is not None:
        ends = failures.of_scores(scores)
    has_levels = bool((level != level[:1]).any())
    if not has_levels:
        scores = ends
    of_task = prod(runs.shape[-2:])  # curves

    # Rows of the same run and level become one, unless that is refused.
    named = Named(column_of, [value, *column_of.values(), *kept], names_of(reading.tasks), reading.given)
    if training is None:
        ask_of_rungs(frame, named, are_numbered=reading.numbered)
    if (level < 0).any():
        from xcurves.frames.restarts import negative_levels  # which most logs do without

        raise negative_levels(frame, level, named)
    if missing_scores is None and training is not None:
        ask_of_ends(frame, Rows(curve, level, ends), of_task, named)
    rows, is_kept, lines = frame_rows.one_each(frame, Rows(curve, level, scores), named, duplicates, resumed=resumed)
    if training is not None and reading.run is not None:
        warn_of_episodes(frame, column_of, rows)
        warn_of_mixed_runs(frame.iloc[is_kept], curve[is_kept], level[is_kept], named, duplicates)
    if failures is not None:
        n_rows = len(rows.score)
        if has_levels:
            rows = failures.after_last(rows, curve, of_task)
        if not has_levels or len(rows.score) > n_rows:
            lines.append(f"{OF_READING}{failures.said(has_levels)}")
    if n_failed:
        lines.append(f"to_dataarray(missing_scores='failed'): {n_failed:,} rows without a score are of failed runs")
    if levels == "run":
        curves = _at_own_levels(rows, runs)
    elif asked is None:
        grid = np.unique(rows.level)
        if not len(grid):
            grid = np.unique(level)
        curves = _at_grid(runs, grid, _dense(rows, runs, grid))
        if failures is not None:
            curves = failures.to_the_end(curves, rows, runs)
    else:
        curves, dropped = _aligned(rows, runs, asked)
        lines += dropped

    # A dim without a column is none, but for runs that are numbered here.
    without = {dim: 0 for dim, column in dims.items() if column is None and dim not in runs.coords}
    curves = curves.isel(without, drop=True).rename(value)
    curves = curves.assign_coords(_metrics_said(frame, named, curves))
    _describe(curves, frame, column_of | {name: name for name in kept})
    curves = _with_what_was_found(curves, reading)
    if higher_is_better is not None:
        curves, _ = direction.resolved(curves, higher_is_better)
    if training is not None:
        lacking = [dim for dim in ("algorithm", "run") if dim not in curves.dims]
        run_checks.warn_of_copies(curves.expand_dims(lacking))
        run_checks.warn_of_copied_tasks(curves)
    for line in [*(f"{OF_READING}{made}" for made in reading.made), *lines]:
        curves = provenance.record(curves, line)
    return labels.with_color_index(curves)


def rows_said(curves: xr.DataArray) -> list[str]:
    """Return what the history says of rows: which repeated, restarted or were left out, and which runs failed."""
    steps = str(curves.attrs.get("history", "")).split("\n")
    said = [step.partition("): ")[2] for step in steps if step.startswith(_OF_ROWS)]
    return [
        *said,
        *(step.removeprefix(OF_READING) for step in steps if step.startswith(OF_READING) and SAY_FAILED in step),
    ]


def _with_what_was_found(curves: xr.DataArray, reading: Reading) -> xr.DataArray:
    """Return curves whose coordinates say what runs are matched by, or numbered from, and what tasks belong to."""
    if reading.matched and "run" in curves.coords:
        curves["run"].attrs[MATCHED] = reading.matched
    if reading.numbered and "run" in curves.coords:
        curves["run"].attrs[NUMBERED] = reading.numbered_by or 1
    if reading.passage is not None and reading.passage not in curves.dims:
        dim = reading.tasks[-1]
        rows = reading.frame[[dim, reading.passage]].drop_duplicates(dim)
        group_of = rows.set_index(dim)[reading.passage]
        groups = group_of.loc[curves[dim].to_numpy()].to_numpy()
        curves = curves.assign_coords({reading.passage: (dim, labels.plain_labels(groups))})
        curves[dim].attrs["task_groups"] = reading.passage
    return curves


def _metrics_said(frame: pd.DataFrame, named: Named, curves: xr.DataArray) -> dict[str, Any]:
    """Return the label of each unused column of metrics, the only one or that of each task: it says what scores are."""
    said = dict[str, Any]()
    for column in map(str, frame):
        if not is_metric(column) or column in named.used:
            continue
        if len(frame[column].unique()) == 1:
            said[column] = frame[column].iloc[0]
        elif len(named.extra) == 1:
            (task,) = named.extra
            of_task = frame[[task, column]].drop_duplicates().set_index(task)[column]
            if of_task.index.is_unique and of_task.notna().all():
                said[column] = (task, labels.plain_labels(of_task.loc[curves[task].to_numpy()].to_numpy()))
    return said


def _at_grid(runs: xr.DataArray, grid: NDArray[np.float64], scores: NDArray[np.float64]) -> xr.DataArray:
    """Return scores at levels that all runs share, (*extra, algorithm, run, training)."""
    blank = runs.expand_dims(training=grid, axis=-1)
    return blank.copy(data=scores.reshape(*runs.shape, -1))


def _describe(curves: xr.DataArray, frame: pd.DataFrame, columns: Mapping[str, str]) -> None:
    """Give curves, and each of their coordinates, what the attrs of the frame say of its column."""
    for name, column in columns.items():
        curves[name].attrs = {"long_name": column} | said_of(frame, column)
    carried = {str(name): attr for name, attr in frame.attrs.items() if _lasts(attr)}
    # without a long_name of its own: another name is that of axes
    curves.attrs = carried | said_of(frame, str(curves.name))


def _without_empty_rows(frame: pd.DataFrame, value: str, training: str | None, algorithm: str | None) -> pd.DataFrame:
    """Leave out rows that have neither a score nor a level of training, or no algorithm: other lines of a log."""
    others = [name for name in (training, algorithm) if isinstance(name, str) and name in frame]
    if not isinstance(value, str) or value not in frame or not others:
        return frame
    empty = frame[value].isna() & frame[others].isna().any(axis=1)
    if not empty.any():
        return frame
    return frame[~empty]


def _check_asked(
    on: On | None,
    method: AlignMethod | None,
    tolerance: float | None,
    training: str | None,
    levels: str,
) -> grids.Asked | None:
    check_choice("levels", levels, ("union", "run"))
    argument: str = "tolerance"
    given: object = tolerance
    if method is not None:
        argument, given = "method", method
    if on is None and method is None and tolerance is not None:
        raise Refusal(
            argument,
            given,
            "has no meaning without levels and a method",
            Cure("Give both: ", give(on="union", method="nearest")),
        )
    if on is None and (method is not None or tolerance is not None):
        raise Refusal(
            argument,
            given,
            "needs the levels that runs are brought to",
            Cure("Give them: ", give(on="union"), " or ", give(on=Verbatim("[...]"))),
        )
    if training is None and (on is not None or levels == "run"):
        needs = give(levels="run")
        if on is not None:
            needs = give(on=Verbatim(""))
        raise Refusal(
            "training",
            None,
            Text("does not go with ", needs, ", which needs a column of training"),
            Cure("Name it: ", give(training="step")),
        )
    if on is not None and levels == "run":
        raise Refusal(
            "levels",
            "run",
            "keeps each run's own levels, on= brings runs to common ones",
            "Leave one out",
        )
    if on is None:
        return None
    return grids.check_asked(on, method, tolerance)


def _runs(
    frame: pd.DataFrame, dims: Mapping[str, str | None], kept: Sequence[str]
) -> tuple[xr.DataArray, NDArray[np.int64]]:
    """Return an array of all runs, (*extra, algorithm, run), and the number of each row's run in it."""
    names = [dim for dim in dims if dim != "training"]
    coords: dict[str, NDArray[Any]] = {}
    codes = dict.fromkeys(names, np.zeros(len(frame), dtype=np.int64))
    of_runs = [name for name in kept if not any(_is_of(frame[column], frame[name]) for column in _tasks(dims).values())]
    for dim in names:
        column = dims[dim]
        if column is not None:
            coords[dim], codes[dim] = label_codes(frame[column])
        elif dim == "run" and of_runs:
            columns = [column for column in dims.values() if column is not None]
            coords[dim], codes[dim] = _points(frame, columns, of_runs)
    runs = xr.DataArray(np.zeros([len(coords.get(dim, [0])) for dim in names]), coords, names)
    curve = np.ravel_multi_index(tuple(codes.values()), runs.shape)
    for name in kept:
        places = [([dim], codes[dim]) for dim, column in _tasks(dims).items() if _is_of(frame[column], frame[name])]
        places += [(["run"], codes["run"]), (names, curve)]
        runs = runs.assign_coords({name: _coordinate(frame[name], places, runs)})
    return runs, curve


def _tasks(dims: Mapping[str, str | None]) -> dict[str, str]:
    """Return the dims of tasks, with their columns."""
    return {dim: column for dim, column in dims.items() if dim not in labels.DIMS and column is not None}


def _is_of(task: pd.Series[Any], column: pd.Series[Any]) -> bool:
    """Return whether a column groups tasks: several labels, each task one of them."""
    of_task = column.groupby(task, observed=True).nunique()
    return bool(of_task.max() <= 1) and len(column.dropna().unique()) > 1


def _points(frame: pd.DataFrame, columns: Sequence[str], kept: Sequence[str]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return numbers of runs, one for each combination of coordinates and its repeats, and the number of each row."""
    repeat = frame.groupby([*columns, *kept], observed=True).cumcount()
    points = frame[list(kept)].assign(**{_REPEAT: repeat}).groupby([*kept, _REPEAT], observed=True)
    codes = np.asarray(points.ngroup(), dtype=np.int64)
    return np.arange(codes.max() + 1), codes


def _coordinate(
    column: pd.Series[Any],
    places: Sequence[tuple[Sequence[str], NDArray[np.int64]]],
    runs: xr.DataArray,
) -> tuple[Sequence[str], Any]:
    """Return a coordinate along the first dims in each of whose labels it is the same; `places` has the codes of each.

    These are dims of tasks that it groups, or `run`, or else all.
    """
    for dims, codes in places:
        groups = pd.Series(column.array).groupby(codes)
        if groups.nunique().max() <= 1:
            shape = [runs.sizes[dim] for dim in dims]
            values = groups.first().reindex(range(prod(shape))).to_numpy()
            is_object = values.dtype == object
            if is_object and all(isinstance(value, str) for value in values):
                values = values.astype(str)
            return dims, values.reshape(shape)
    raise Refusal(
        "coords",
        UNSAID,
        Text(Words("coords ", ""), f"column {column.name!r} has several values in one run"),
        Cure(
            "Name the column in which they differ in ",
            give(extra=Verbatim("")),
            ", or leave it out of ",
            give(coords=Verbatim("")),
        ),
    )


def _at_own_levels(rows: Rows, runs: xr.DataArray) -> xr.DataArray:
    """Return scores with each run's own levels, (*extra, algorithm, run, evaluation)."""
    scores, levels = own_levels(rows, runs.size)
    shape = (*runs.shape, scores.shape[1])
    curves = runs.expand_dims({labels.EVALUATION: shape[-1]}, axis=-1).copy(data=scores.reshape(shape))
    return curves.assign_coords(training=(curves.dims, levels.reshape(shape)))


def _lasts(attr: object) -> bool:
    """Whether every archive can hold an attr."""
    return isinstance(attr, str | float) or (type(attr) is int and abs(attr) < 2**31)


def _dense(rows: Rows, runs: xr.DataArray, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores at the levels of any run, unless each task's levels have many more cells than rows."""
    most = _CELLS * len(rows.curve)
    if runs.size * len(grid) > most:
        per_task = runs.sizes["algorithm"] * runs.sizes["run"]
        pairs = np.unique(np.stack([rows.curve // per_task, rows.level]), axis=1)[0].astype(np.int64)
        n_cells = int((np.bincount(pairs) * np.bincount(np.unique(rows.curve) // per_task)).sum())
        if n_cells > most:
            raise Refusal(
                "runs",
                UNSAID,
                f"share few levels: with the levels of all runs, {len(rows.curve):,} scores take {n_cells:,} cells",
                Cure(
                    Words(
                        "Keep the levels of each run, levels='run', and bring runs to common ones: ",
                        "Bring runs to common ones: ",
                    ),
                    call(".curves.align", 20, relative_to="budget"),
                ),
            )
    return at_levels(rows, runs.size, grid, None, None)


def _aligned(rows: Rows, runs: xr.DataArray, asked: grids.Asked) -> tuple[xr.DataArray, list[str]]:
    """Return scores at the levels of a grid, (*extra, algorithm, run, training), and what was dropped."""
    # A run that ends with an infinite score failed: it cuts no other run.
    ends = short_runs.ends_of_rows(rows, runs)
    after = ends.failed_after(xr.zeros_like(ends.short))
    history = []
    if asked.has_budget:
        history = _say_short_runs(ends, str(asked.on))

    shape = (prod(runs.shape[:-2]), *runs.shape[-2:])
    levels = partial(grids.levels_of_rows, rows, shape, after.to_numpy())
    grid, kept, lines = grids.choose(asked, levels, runs, lambda: rows, after=after, frame=True)
    lines += short_runs.say_failed(ends)
    scores = at_levels(rows, runs.size, grid, asked.method, asked.tolerance)
    curves = short_runs.mark(
        _at_grid(runs, grid, scores),
        after,
        ends.failed,
    )
    by_task = curves.to_numpy().reshape(*shape, -1)
    by_task[np.broadcast_to(~kept[:, np.newaxis, np.newaxis], by_task.shape)] = np.nan
    if asked.may_lack:
        present = (np.bincount(rows.curve, minlength=runs.size) > 0).reshape(shape)
        lines += grids.lacking("to_dataarray()", by_task, grid, kept, present, runs)
    return (
        curves.copy(data=by_task.reshape(curves.shape)),
        [*history, f"to_dataarray({asked}): {'; '.join(lines) or 'dropped nothing'}"],
    )


def _say_short_runs(ends: short_runs.Ends, on: str) -> list[str]:
    """Warn of short runs, which end the grid of their task; return what the history says of them."""
    calls = {
        how: Cure(Words("levels='run' and ", ""), call(".curves.align", on, runs_short=how)) for how in short_runs.HOW
    }
    reason, cure = short_runs.ask(ends, calls)
    if not reason:
        return []
    provenance.warn(f"{reason}. {cure}")
    return [f"{SHORT}None): {short_runs.say_outcome(ends, None)}"]
