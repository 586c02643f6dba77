"""Runs at fractions of the training budget of their task."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import (
    labels,
    provenance,
    validation,
)
from xcurves.core.known import AlignMethod, On
from xcurves.core.refusal import (
    Refusal,
    Text,
    Verbatim,
    WrongType,
    give,
)
from xcurves.frames import grids
from xcurves.frames.run_ends import RunEnds
from xcurves.kernels import ragged

_SHOWN = 20
_MOST = 100_000  # fractions


def check_fractions(name: str, fractions: Any) -> list[float]:
    """Return increasing fractions of a budget; a number means equal steps."""
    if isinstance(fractions, Integral) and not isinstance(fractions, bool):
        if not 1 <= int(fractions) <= _MOST:
            raise Refusal(name, Verbatim(fractions), f"must be from 1 to {_MOST}", "Usual: 20")
        return [step / int(fractions) for step in range(1, int(fractions) + 1)]
    at = validation.numbers_of(fractions)
    if at is None:
        raise WrongType(name, fractions, "must be a number of fractions or a sequence", "Usual: 20")
    if at.ndim != 1 or not at.size or not ((at > 0) & (at <= 1)).all() or (np.diff(at) <= 0).any():
        raise Refusal(
            name,
            fractions,
            "must be increasing numbers in (0, 1]",
            "Or give their number: 20",
        )
    return [float(each) for each in at]


def check_budgets(on: On | int, method: AlignMethod | None, tolerance: float | None) -> tuple[Floats, float | None]:
    """Return fractions of a budget, and how far the scores between which they lie may be."""
    if method not in (None, "linear"):
        raise Refusal(
            "method",
            method,
            Text("does not go with ", give(relative_to="budget")),
            "Leave it out: scores are linear between",
        )
    at = np.array(check_fractions("on", on))
    return at, grids.check_asked(at, "linear", tolerance).tolerance


def at_budgets(curves: xr.DataArray, at: Floats, tolerance: float | None, settled: RunEnds) -> tuple[xr.DataArray, str]:
    """Return scores at fractions of each task's budget, and what is recorded of it.

    A fraction before the start of some run of the task is left out.
    """

    def block(scores: Floats, levels: Floats, after: Floats, failing: Floats) -> Floats:
        tasks = scores.reshape(-1, *scores.shape[-3:])
        own = np.broadcast_to(levels, (len(tasks), *levels.shape))
        if levels.ndim > 1:
            own = levels.reshape(tasks.shape)
        by_run = (each.reshape(tasks.shape[:-1]) for each in (after, failing))
        made = np.stack(
            [_at_fractions(*task, at=at, tolerance=tolerance) for task in zip(tasks, own, *by_run, strict=True)]
        )
        return made.reshape(*scores.shape[:-1], len(at))

    attrs = {"long_name": "fraction of the training budget", "units": "1"}
    made = grids.onto_levels(
        curves,
        block,
        at,
        attrs,
        core=["algorithm", "run"],
        further=[settled.after, settled.score],
    )
    lines = settled.lines
    if curves.chunks is None:
        lines += _left_out(curves, made)
    fractions = ", ".join(f"{each:.6g}" for each in at)
    call = f"align(on=[{fractions}], relative_to='budget'{settled.option})"
    return made, f"{call}: {'; '.join(lines) or 'every task has all fractions'}"


def _at_fractions(
    scores: Floats,
    levels: Floats,
    after: Floats,
    failing: Floats,
    *,
    at: Floats,
    tolerance: float | None,
) -> Floats:
    """Return one task, shape (algorithm, run, level), at fractions; runs have the failing score `after` a level."""
    flat = scores.reshape(-1, scores.shape[-1])
    rows = ragged.rows_of(flat, levels.reshape(-1, scores.shape[-1]))
    out = np.full((len(flat), len(at)), np.nan)
    if len(rows.level):
        present, _, ends = ragged.ranges(rows)
        # Runs that failed do not end the budget, unless all did.
        failed_after = after.ravel()
        lasting = np.isnan(failed_after[present])
        budget = ends.max()
        if lasting.any():
            budget = ends[lasting].min()
        wanted = at * budget
        known = np.unique(rows.level)
        after = np.searchsorted(known, wanted).clip(1, len(known) - 1) if len(known) > 1 else np.zeros(len(at), int)
        near = np.where(
            wanted - known[after - 1] < known[after] - wanted,
            known[after - 1],
            known[after],
        )
        # 0.1 · 30 is not 3
        wanted = np.where(np.abs(near - wanted) <= 1e-12 * abs(budget), near, wanted)
        if budget > 0:
            out = ragged.at_levels(rows, len(flat), wanted, "linear", tolerance)
            has_failed = wanted > failed_after[:, np.newaxis]
            out = np.where(has_failed, failing.reshape(-1, 1), out)
        out[:, np.isnan(out[present]).any(axis=0)] = np.nan
    return out.reshape(*scores.shape[:2], len(at))


def _left_out(curves: xr.DataArray, made: xr.DataArray) -> list[str]:
    """Return which tasks lack fractions; warn of those that are left without any score."""
    names = labels.task_names(curves)
    there = curves.notnull().any(curves.dims[-3:]).to_numpy().reshape(len(names))
    kept = made.notnull().any(["algorithm", "run"]).to_numpy().reshape(len(names), -1)
    at = made["training"].to_numpy()
    empty = there & ~kept.any(axis=1)
    provenance.warn_of(
        empty,
        names,
        lambda _: "no fraction of its budget is one that all runs have: left out",
    )
    short = np.flatnonzero(there & ~kept.all(axis=1))
    lines = [f"{names[task]}without {', '.join(f'{each:.6g}' for each in at[~kept[task]])}" for task in short[:_SHOWN]]
    return lines + ([f"and {len(short) - _SHOWN} more tasks lack some"] if len(short) > _SHOWN else [])
