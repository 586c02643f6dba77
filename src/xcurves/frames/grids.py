"""The training grid of aligned runs: the one asked for, the levels of each task, and what was dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance, run_checks, short_runs, validation
from xcurves.core.known import AlignMethod, On
from xcurves.core.refusal import (
    PYTHON,
    UNSAID,
    Cure,
    Refusal,
    Text,
    Verbatim,
    WrongType,
    give,
    written_for,
)
from xcurves.kernels.ragged import METHODS, Rows, ranges

_NAMED = ("intersection", "union", "final")
_SHOWN = 20


class Asked(NamedTuple):
    """The grid that was asked for, by name or as levels, and how scores at its levels are found."""

    on: str | NDArray[np.float64]
    method: str | None
    tolerance: float | None

    def __str__(self) -> str:
        """Return the options of the call."""
        if isinstance(self.on, str):
            options = [f"on={self.on!r}"]
        else:
            options = [f"on=[{_list(self.on)}]"]
        if self.method is not None:
            options.append(f"method={self.method!r}")
        if self.tolerance is not None:
            options.append(f"tolerance={self.tolerance!r}")
        return ", ".join(options)

    @property
    def has_budget(self) -> bool:
        """Whether runs are brought to what all runs of their task reach."""
        return isinstance(self.on, str) and self.on != "union"

    @property
    def may_lack(self) -> bool:
        """Whether a run may be without a score at a level of its task's grid."""
        return not isinstance(self.on, str) or self.on == "union"


class GridLevels(NamedTuple):
    """Training levels, and for every task which of them any of its runs has, and which all have: (task, level)."""

    values: NDArray[np.float64]
    known: NDArray[np.bool_]
    shared: NDArray[np.bool_]


def check_asked(on: On | int, method: AlignMethod | None, tolerance: float | None) -> Asked:
    """Return the checked options, with the grid as increasing floats."""
    if method is not None and (not isinstance(method, str) or method not in METHODS):
        raise Refusal(
            "method",
            method,
            f"must be None or one of {', '.join(map(repr, METHODS))}",
            labels.nearest(method, METHODS),
        )
    named = isinstance(on, str) and on in _NAMED
    if named and method is not None and (on != "union" or method == "mean"):
        raise Refusal(
            "on",
            on,
            Text("with ", give(method=method), " has no levels to bring runs to"),
            Cure("Give them: ", give(on=Verbatim("[...]"))),
        )
    if tolerance is None and method == "nearest":
        raise Refusal(
            "method",
            "nearest",
            Text(
                "needs ",
                give(tolerance=Verbatim("")),
                ", the largest distance from a level, in units of training",
            ),
        )
    if tolerance is not None and method is None:
        raise Refusal(
            "tolerance",
            tolerance,
            "has no meaning without a method",
            "Name one, or leave it out",
        )
    if tolerance is not None:
        if not isinstance(tolerance, Real) or not 0 <= tolerance < np.inf:
            raise Refusal("tolerance", tolerance, "must be an amount of training from 0")
        tolerance = float(tolerance)
    if isinstance(on, str) and named:
        return Asked(on, method, tolerance)
    return Asked(_check_levels(on), method, tolerance)


def _check_levels(on: Any) -> NDArray[np.float64]:
    """Return the levels of a grid as floats, finite and in increasing order."""
    grid = validation.numbers_of(on)
    if grid is None:
        raise WrongType("on", on, "must be 'intersection', 'union', 'final' or training levels")
    if grid.ndim == 0:
        raise Refusal(
            "on",
            on,
            "is one level",
            Cure(
                "Give a whole number of steps, or a list of levels: ",
                give(on=Verbatim("[...]")),
            ),
        )
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all() or (np.diff(grid) <= 0).any():
        raise Refusal(
            "on",
            Verbatim(f"[{_list(grid.ravel())}]"),
            "must be finite training levels in increasing order",
            "Sort them: np.unique(levels)",
        )
    return grid


def levels_of_rows(rows: Rows, shape: Sequence[int], after: NDArray[np.float64]) -> GridLevels:
    """Return the levels of ragged curves, numbered in C order over `shape` (task, algorithm, run).

    A run that counts as failed `after` a level, an array of that shape, has all further levels; NaN of others.
    """
    n_tasks, *per_task = shape
    size = prod(per_task)
    values, level = np.unique(rows.level, return_inverse=True)
    flat = rows.curve // size * len(values) + level
    counts = np.bincount(flat, minlength=n_tasks * len(values)).reshape(n_tasks, len(values))
    n_present = np.bincount(np.unique(rows.curve) // size, minlength=n_tasks)
    known = counts > 0
    has = counts + _failed_at(values, after.reshape(n_tasks, size), rows, size)
    return GridLevels(values, known, known & (has >= n_present[:, np.newaxis]))


def _failed_at(
    values: NDArray[np.float64],
    after: NDArray[np.float64],  # (task, run)
    rows: Rows,
    size: int,
) -> NDArray[np.int64]:
    """Return how many runs of each task count as failed at each level, (task, level), and have no score there."""
    n_failed = np.zeros((len(after), len(values) + 1), dtype=np.int64)
    task, run = np.nonzero(~np.isnan(after))
    first = np.searchsorted(values, after[task, run], side="right")
    np.add.at(n_failed, (task, first), 1)
    # A run that failed from the start may have rows all the same.
    is_after = rows.level > after.ravel()[rows.curve]
    own = (rows.curve[is_after] // size, np.searchsorted(values, rows.level[is_after]))
    n_own = np.zeros((len(after), len(values)), dtype=np.int64)
    np.add.at(n_own, own, 1)
    return n_failed.cumsum(axis=1)[:, :-1] - n_own


def onto_levels(
    curves: xr.DataArray,
    block: Callable[..., NDArray[np.float64]],
    at: NDArray[np.float64],
    attrs: Mapping[str, Any],
    core: Sequence[str] = (),
    further: Sequence[xr.DataArray] = (),
) -> xr.DataArray:
    """Return what `block` makes of scores and their levels, with the new levels `at`; lazily if the curves are lazy.

    `further` arrays, of the core dims, are given to it too.
    """
    last = str(curves.dims[-1])
    levels = curves["training"]
    # A grid may be shared by all runs.
    core_of_levels = [*core, last]
    if levels.ndim == 1:
        core_of_levels = [last]
    made: xr.DataArray = xr.apply_ufunc(
        block,
        curves.drop_vars("training"),
        levels.variable,
        *further,
        input_core_dims=[[*core, last], core_of_levels, *(core for _ in further)],
        output_core_dims=[[*core, "training"]],
        exclude_dims={last},
        dask="parallelized",
        output_dtypes=[np.float64],
        dask_gufunc_kwargs={
            "output_sizes": {"training": len(at)},
            "allow_rechunk": True,
        },
        keep_attrs=True,
    )
    return made.assign_coords(training=("training", at, dict(attrs)))


def choose(
    asked: Asked,
    find_levels: Callable[[], GridLevels],
    runs: xr.DataArray,
    rows: Callable[[], Rows],
    *,
    after: xr.DataArray,  # the level after which a run counts as failed, NaN of others
    short: short_runs.RunsShort | None = None,  # as cures repeat it
    frame: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[str]]:
    """Return the levels to keep, which of them each task keeps, (task, level), and what is dropped."""
    names = labels.task_names(runs)
    lines: list[str] = []
    if not isinstance(asked.on, str):
        if asked.method is None:
            levels = find_levels()
            lines = _dropped(asked, levels, levels.known & np.isin(levels.values, asked.on), names)
        return asked.on, np.ones((len(names), len(asked.on)), dtype=np.bool_), lines
    levels = find_levels()
    if asked.on != "union":
        cure = partial(
            _cure_of_disjoint,
            rows,
            after,
            runs,
            short=short,
            frame=frame,
            final=asked.on == "final",
        )
        levels, lines = _leave_out_disjoint(asked, levels, names, cure)
    kept = levels.shared
    if asked.on == "union":
        kept = levels.known
    elif asked.on == "final":
        # of the shared levels of each task, the last
        kept = kept & (kept[:, ::-1].cumsum(axis=1)[:, ::-1] == 1)
    some = kept.any(axis=0)
    if asked.method is None:
        lines += _dropped(asked, levels, kept, names)
    return levels.values[some], kept[:, some], lines


def _leave_out_disjoint(
    asked: Asked,
    levels: GridLevels,
    names: Sequence[str],
    cure_of: Callable[[NDArray[np.bool_]], Cure],
) -> tuple[GridLevels, list[str]]:
    """Return levels without the tasks whose runs share none, and the reasons; raise if no task has shared levels."""
    n_shared = levels.shared.sum(axis=1)
    n_known = levels.known.sum(axis=1)
    least = 1
    if asked.on == "intersection":
        least = 2
    disjoint = (n_shared < least) & (n_known > n_shared)
    if not disjoint.any():
        return levels, []

    tasks = np.flatnonzero(disjoint).tolist()
    why = [_too_few(asked, names[task], n_shared[task], n_known[task]) for task in tasks]
    cure = cure_of(n_known > 1)
    if disjoint[n_known > 0].all():
        others = [names[task].removesuffix(": ") for task in tasks[1:]]
        if others:
            cure = Cure(*cure, f". The same holds for {'; '.join(others)}")
        raise Refusal("on", UNSAID, why[0], cure)
    provenance.warn(f"left out, because runs have too few common levels: {'; '.join(map(str, why))}. {cure}")
    rest = ~disjoint[:, np.newaxis]
    left = GridLevels(levels.values, levels.known & rest, levels.shared & rest)
    # the history is of calls
    with written_for(PYTHON):
        return left, [f"{reason}; left out" for reason in why]


def _too_few(asked: Asked, name: str, n_shared: int, n_known: int) -> Text:
    """Return how many levels the runs of a task share."""
    words = "training levels"
    if n_shared == 1:
        words = "training level"
    return Text(name, give(on=asked.on), f" leaves {n_shared} common {words} of {n_known}")


def _cure_of_disjoint(
    find_rows: Callable[[], Rows],
    after: xr.DataArray,
    runs: xr.DataArray,
    has_levels: NDArray[np.bool_],  # whether a task has several
    *,
    short: short_runs.RunsShort | None,
    frame: bool,
    final: bool,
) -> Cure:
    """Return the call that brings runs to levels that they share."""
    rows = find_rows()
    curve, first, last = ranges(rows)
    # A run that failed has scores up to any level.
    failed = after.transpose(*runs.dims[: after.ndim]).notnull().to_numpy().ravel()
    reach = np.where(failed[curve], np.inf, last)
    task_of = curve // (runs.sizes["algorithm"] * runs.sizes["run"])
    taken = has_levels[task_of]
    by_run = pd.DataFrame({"begin": first, "end": reach, "last": last})[taken]
    ends = by_run.groupby(task_of[taken])
    end = ends["end"].min().replace(np.inf, np.nan).fillna(ends["last"].max())
    scored = rows.curve[~np.isnan(rows.score)]
    n_levels = np.bincount(scored, minlength=runs.size)[curve]
    return run_checks.suggest(
        ends["begin"].max().to_numpy(),
        end.to_numpy(),
        int(n_levels[taken].min()),
        short=short,
        frame=frame,
        final=final,
    )


def _dropped(asked: Asked, levels: GridLevels, kept: NDArray[np.bool_], names: Sequence[str]) -> list[str]:
    """Say, for each task that loses levels, how many it keeps and which it loses; for "final", which level it keeps."""
    if isinstance(asked.on, str) and asked.on == "final":
        return [
            f"{names[task]}the last common training level is {levels.values[kept[task]].item():.12g}, "
            f"some runs go up to {levels.values[levels.known[task]][-1]:.12g}"
            for task in np.flatnonzero(kept.any(axis=1)).tolist()
        ]
    is_gone = levels.known & ~kept
    lines = []
    for task in np.flatnonzero(is_gone.any(axis=1)).tolist():
        gone = levels.values[is_gone[task]]
        lines.append(
            f"{names[task]}kept {kept[task].sum()} of {levels.known[task].sum()} training levels, "
            f"dropped {gone.size}: {_list(gone)}"
        )
    return lines


def lacking(
    call: str,
    scores: NDArray[np.float64],
    grid: NDArray[np.float64],
    kept: NDArray[np.bool_],
    present: NDArray[np.bool_],
    runs: xr.DataArray,
) -> list[str]:
    """Say which runs, (task, algorithm, run), have no score at which kept levels; warn of those without any score."""
    names = labels.task_names(runs)
    gaps: NDArray[np.bool_] = present[..., np.newaxis] & kept[:, np.newaxis, np.newaxis] & np.isnan(scores)
    algorithms = labels.words(runs["algorithm"])
    run_names = labels.words(runs["run"])
    short = np.argwhere(gaps.any(axis=-1))
    curves = [f"{names[task]}algorithm {algorithms[i]}, run {run_names[j]}" for task, i, j in short]
    emptied = np.asarray(np.isnan(scores[tuple(short.T)]).all(axis=-1))
    provenance.warn_of(emptied, curves, lambda _: f": {call} leaves no score of this run", "runs")
    lines = []
    for curve, (task, i, j) in list(zip(curves, short, strict=True))[:_SHOWN]:
        gap = gaps[task, i, j]
        lines.append(f"{curve} lacks {gap.sum()} of {kept[task].sum()} training levels: {_list(grid[gap])}")
    if len(curves) > _SHOWN:
        lines.append(f"and {len(curves) - _SHOWN} more runs lack some")
    return lines


def _list(levels: NDArray[np.float64]) -> str:
    """Return levels as text, of many the first and the last."""
    words = [f"{level:.12g}" for level in levels]
    if len(words) > _SHOWN:
        words = [*words[: _SHOWN - 1], "...", words[-1]]
    return ", ".join(words)
