"""Curves at fractions of the budget of each task."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance, validation
from xcurves.kernels import ragged
from xcurves.kernels.moments import Floats
from xcurves.preprocessing import grids

BUDGET = "budget"
LAST_LEVEL = "last training level of the run"  # the long_name of the coordinate, which tells it from other budgets
_SHOWN = 20
_MOST = 100_000  # fractions


def check_fractions(name: str, fractions: Any) -> list[float]:
    """Return increasing fractions of a budget; a number means equal steps."""
    if isinstance(fractions, Integral) and not isinstance(fractions, bool):
        if not 1 <= int(fractions) <= _MOST:
            raise ValueError(f"{name} must be from 1 to {_MOST}; got {fractions}. Usual: 20")
        return [step / int(fractions) for step in range(1, int(fractions) + 1)]
    at = validation.numbers_of(fractions)
    if at is None:
        raise TypeError(f"{name} must be a number of fractions or a sequence; got {labels.shown(fractions)}. Usual: 20")
    if at.ndim != 1 or not at.size or not ((at > 0) & (at <= 1)).all() or (np.diff(at) <= 0).any():
        raise ValueError(
            f"{name} must be increasing numbers in (0, 1]; got {labels.shown(fractions)}. Or give their number: 20"
        )
    return [float(each) for each in at]


def within_budget(times: xr.DataArray, pooled: Collection[str]) -> tuple[xr.DataArray, xr.DataArray | None]:
    """Return times that are known in all runs pooled: those beyond the smallest budget are infinite; and that budget.

    Scores without the coordinate that `time_to_target` makes stay as they are, without a budget.
    """
    if BUDGET not in times.coords or times.coords[BUDGET].attrs.get("long_name") != LAST_LEVEL:
        return times, None
    own = times.coords[BUDGET].astype(np.float64)
    bare = times.drop_vars(BUDGET)
    smallest = own.drop_vars(BUDGET).broadcast_like(bare).where(bare.notnull()).min(list(pooled))
    known = bare.where(~(bare > smallest), np.inf).transpose(*times.dims).assign_attrs(times.attrs)
    return known, smallest.assign_attrs(own.attrs | {"long_name": "smallest budget of the runs"})


def align_to_budgets(curves: xr.DataArray, fractions: Sequence[float], tolerance: float | None) -> xr.DataArray:
    """Return scores at fractions of each task's budget, the last level that all of its runs reach.

    A fraction before the start of some run of a task is left out of the task's grid.
    """
    at = np.array(fractions)

    def block(scores: Floats, levels: Floats) -> Floats:
        tasks = scores.reshape(-1, *scores.shape[-3:])
        own = levels.reshape(tasks.shape) if levels.ndim > 1 else [levels] * len(tasks)
        made = np.stack([_at_fractions(*task, at, tolerance) for task in zip(tasks, own, strict=True)])
        return made.reshape(*scores.shape[:-1], len(at))

    attrs = {"long_name": "fraction of the training budget", "units": "1"}
    made = grids.at_levels(curves, block, at, attrs, core=["algorithm", "run"])
    lines = [] if curves.chunks is not None else [*_shortened(curves), *_left_out(curves, made)]
    step = f"align(on=[{', '.join(f'{each:.6g}' for each in fractions)}], relative_to='budget')"
    return provenance.record(made, f"{step}: {'; '.join(lines) or 'every task has all fractions'}")


def _at_fractions(scores: Floats, levels: Floats, at: Floats, tolerance: float | None) -> Floats:
    """Return one task, shape (algorithm, run, level), at fractions."""
    flat = scores.reshape(-1, scores.shape[-1])
    rows = ragged.rows_of(flat, levels.reshape(-1, scores.shape[-1]))
    out = np.full((len(flat), len(at)), np.nan)
    if len(rows.level):
        present, _, ends = ragged.ranges(rows)
        budget = ends.min()
        wanted = at * budget
        known = np.unique(rows.level)
        after = np.searchsorted(known, wanted).clip(1, len(known) - 1) if len(known) > 1 else np.zeros(len(at), int)
        near = np.where(wanted - known[after - 1] < known[after] - wanted, known[after - 1], known[after])
        wanted = np.where(np.abs(near - wanted) <= 1e-12 * abs(budget), near, wanted)  # 0.1 · 30 is not 3
        if budget > 0:
            out = ragged.at_levels(rows, len(flat), wanted, "linear", tolerance)
        out[:, np.isnan(out[present]).any(axis=0)] = np.nan
    return out.reshape(*scores.shape[:2], len(at))


def _shortened(curves: xr.DataArray) -> list[str]:
    """Return the tasks in which a run ends before 90 % of the longest: it may have crashed."""
    last = curves["training"].where(curves.notnull()).max(str(curves.dims[-1])).transpose(..., "algorithm", "run")
    shortest, longest = last.min(["algorithm", "run"]), last.max(["algorithm", "run"])
    ends = zip(labels.task_names(curves), shortest.to_numpy().ravel(), longest.to_numpy().ravel(), strict=True)
    return [
        f"{name}the budget is {short:.6g}, where its shortest run ends; its longest run ends at {long:.6g}"
        for name, short, long in ends
        if short < 0.9 * long
    ]


def _left_out(curves: xr.DataArray, made: xr.DataArray) -> list[str]:
    """Return which tasks lack fractions; warn of those that are left without any score."""
    names = labels.task_names(curves)
    there = curves.notnull().any(curves.dims[-3:]).to_numpy().reshape(len(names))
    kept = made.notnull().any(["algorithm", "run"]).to_numpy().reshape(len(names), -1)
    at = made["training"].to_numpy()
    empty = there & ~kept.any(axis=1)
    provenance.warn_of(empty, names, lambda _: "no fraction of its budget is one that all runs have: left out")
    short = np.flatnonzero(there & ~kept.all(axis=1))
    lines = [f"{names[task]}without {', '.join(f'{each:.6g}' for each in at[~kept[task]])}" for task in short[:_SHOWN]]
    return lines + ([f"and {len(short) - _SHOWN} more tasks lack some"] if len(short) > _SHOWN else [])
