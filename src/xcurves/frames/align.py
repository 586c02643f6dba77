"""Runs at common training levels, at those of a grid or at fractions of budgets; removal of incomplete runs."""

from __future__ import annotations

from functools import partial
from math import prod
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import (
    direction,
    failed_runs,
    labels,
    matched_runs,
    provenance,
    run_checks,
    short_runs,
    validation,
)
from xcurves.core.refusal import (
    UNSAID,
    Cure,
    Refusal,
    Text,
    Verbatim,
    Words,
    WrongType,
    give,
    shown,
)
from xcurves.core.short_runs import RunsShort
from xcurves.core.validation import check_choice, check_curves, has_own_levels
from xcurves.frames import grids
from xcurves.frames.failed import count_failures, with_count
from xcurves.frames.grids import AlignMethod, Asked, GridLevels, On
from xcurves.kernels.times import ragged

_SHOWN = 20
_MOST = 100_000  # fractions
# What a history says of lazy curves, whose short runs are not known yet.
_LAZILY = {
    "failed": "Runs that end before 90 % of the longest of their task count as failed from their last score on",
    "drop": "Runs that end before 90 % of the longest of their task are left out",
    "cut": "Runs are compared up to where the shortest of their task ends",
}


def align(
    curves: xr.DataArray,
    on: On | int = "intersection",
    *,
    method: AlignMethod | None = None,
    tolerance: float | None = None,
    relative_to: Literal["budget"] | None = None,
    runs_short: RunsShort | None = None,
    higher_is_better: bool | None = None,
) -> xr.DataArray:
    r"""Bring runs to common training levels, task by task and run by run, and record what was dropped.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. A run that is NaN along all of `training` is absent and is ignored. Or runs
        with their own levels, dims (..., algorithm, run, evaluation), as ``to_dataarray(levels="run")`` makes them.
    on : {"intersection", "union", "final"}, sequence of float or int
        The grid of each task: the levels that every run of the task has; those that any has; the last level that
        every run has, for runs of different lengths; or the levels given, the same for
        all tasks. A whole number means as many equal steps of each task's budget, with ``relative_to="budget"``.
    method : {None, "previous", "linear", "nearest", "mean"}
        How a run gets a score at a level. None: only its score at exactly this level. "previous": its last score up to
        the level. "linear": linear interpolation between its neighbouring scores. "nearest": its nearest score, the
        earlier of two equally near. "mean": the mean of its scores after the previous level and up to this one; the
        first bin has all scores up to its level. A run is never extrapolated: a level before its start or after its
        end is NaN.
    tolerance : float, optional
        Largest distance from the level, in units of training. "previous": of the last score. "linear": of both
        neighbours. "nearest" (needed): of the nearest score, also for levels outside the run. "mean": from a run's
        last score to the end of its last bin, 0 if left out.
    relative_to : {None, "budget"}
        "budget": `on` is a number of equal steps, or fractions in (0, 1], of each task's budget, the last level that
        all of its runs reach; scores are interpolated linearly, and `training` has the fractions. A fraction before
        the start of some run is left out for its task.
    runs_short : {None, "failed", "drop", "cut"}
        What runs are that end before nine tenths of the longest run of their task. "failed": they crashed; their score
        is -inf (+inf where lower is better) at all levels after their last score, and the budget is what all other runs
        reach. "drop": they are left out. "cut": all runs of the task are compared up to where the shortest ends. None:
        the same, with a warning that names them. A run that ends with an infinite score failed, and never cuts the
        others. What becomes of short runs stands in ``attrs["history"]`` and in every summary.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does. Says which infinite score short runs get.

    Returns
    -------
    DataArray, dims (..., algorithm, run, training)
        Scores at the levels of the grid; NaN at levels of other tasks' grids, and where a run has no score. Options,
        dropped levels and runs that lack levels are in ``attrs["history"]``. Dask-backed curves stay lazy (and do
        not name runs that lack levels or are short), but a grid that has a name is computed at once. With
        ``runs_short="failed"`` the coordinate `n_failed` counts the runs that failed, as that of `fill_failed`.

    Raises
    ------
    ValueError, TypeError
        If an intersection has fewer than two levels, or for "final" runs have no common level; the message proposes a
        call that works. If options do not go together, or dims or coordinates are not as described.

    Warns
    -----
    UserWarning
        If some of several tasks have no common levels: they are left out (absent), and the warning names each and why.
        If runs are left without any score, or algorithms without any run. If runs are short, a common budget is taken
        and `runs_short` is left out.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> scores = xr.DataArray(
    ...     [[[1.0, 2.0, 3.0, 5.0]], [[1.0, np.nan, 4.0, np.nan]]],
    ...     dims=("algorithm", "run", "training"),
    ...     coords={"algorithm": ["a", "b"], "run": [0], "training": [0, 1, 2, 4]},
    ... )
    >>> aligned = scores.curves.align("intersection", runs_short="cut")
    >>> aligned.training.to_numpy()
    array([0., 2.])
    >>> print(aligned.attrs["history"].split("\n")[-1])
    align(on='intersection', runs_short='cut'): kept 2 of 4 training levels, dropped 2: 1, 4
    >>> held = scores.curves.align([0, 1, 2, 3], method="previous")
    >>> held.sel(algorithm="b").to_numpy()
    array([[ 1.,  1.,  4., nan]])
    >>> print(held.attrs["history"])
    align(on=[0, 1, 2, 3], method='previous'): algorithm 'b', run 0 lacks 1 of 4 training levels: 3
    >>> scores.curves.align(2, relative_to="budget", runs_short="cut").sel(algorithm="a").to_numpy()
    array([[2., 3.]])
    >>> scores.curves.align("intersection", runs_short="failed").sel(algorithm="b").to_numpy()
    array([[  1.,   4., -inf]])
    """
    if relative_to is not None:
        check_choice("relative_to", relative_to, ("budget",))
    of_budget = relative_to is not None or (isinstance(on, Integral) and not isinstance(on, bool))
    asked = None
    if of_budget:
        grid, tolerance = _check_budgets(on, method, tolerance)
    else:
        asked = grids.check_asked(on, method, tolerance)
    has_budget = asked is None or asked.has_budget
    _check_runs_short(runs_short, on, has_budget=has_budget)
    curves = check_curves(curves, own_levels=True)
    # Which infinite score is the worst matters only to runs that are made to have it.
    higher = True
    if runs_short == "failed" or higher_is_better is not None:
        curves, higher = direction.resolved(curves, higher_is_better)
    worst = failed_runs.failed_score(higher)

    # What counts as failed is marked before a budget is taken.
    ends = short_runs.ends_of(curves)
    settled = _Settled.of(ends, runs_short, worst)
    if runs_short == "drop":
        curves = curves.where(~ends.short)
    if asked is None:
        aligned, step = _at_budgets(curves, grid, tolerance, settled)
    else:
        aligned, step, settled = _at_grid(curves, asked, settled)
    aligned = _say_short_runs(aligned, settled, has_budget=has_budget)
    recorded = provenance.record(aligned, step)
    if runs_short != "failed":
        return recorded
    n_failed = count_failures(recorded, abs(recorded) == np.inf)
    return with_count(recorded, n_failed, failed_runs.MARKED)


class _Settled(NamedTuple):
    """What was decided about runs that end early or failed; lazy if the curves are."""

    ends: short_runs.Ends
    how: RunsShort | None
    worst: float
    after: xr.DataArray  # the level after which a run counts as failed, NaN of others
    score: xr.DataArray  # the score of each run where it counts as failed

    @classmethod
    def of(cls, ends: short_runs.Ends, how: RunsShort | None, worst: float) -> _Settled:
        counted = xr.zeros_like(ends.short)
        if how == "failed":
            counted = ends.short
        after = ends.failed_after(counted)
        return cls(ends, how, worst, after, ends.failed.fillna(worst))

    @property
    def is_known(self) -> bool:
        """Whether it is known where runs end."""
        return self.after.chunks is None

    @property
    def option(self) -> str:
        """The option of the call, as it is recorded."""
        if self.how is None:
            return ""
        return f", runs_short={self.how!r}"

    @property
    def lines(self) -> list[str]:
        """What the history says of runs that failed."""
        if not self.is_known:
            return []
        return short_runs.say_failed(self.ends)


def _check_runs_short(runs_short: RunsShort | None, on: On | int, *, has_budget: bool) -> None:
    """Refuse what is no way to take short runs."""
    if runs_short is not None:
        check_choice("runs_short", runs_short, short_runs.HOW)
    if runs_short == "cut" and not has_budget:
        raise Refusal(
            "runs_short",
            "cut",
            Text(
                "is for a common budget, and ",
                Words(f"on={shown(on)} takes", "such levels of --align have"),
                " none: runs keep their lengths",
            ),
            Cure("Leave it out, or take ", give(on="intersection")),
        )


def _say_short_runs(aligned: xr.DataArray, settled: _Settled, *, has_budget: bool) -> xr.DataArray:
    """Return scores whose history says what became of short runs; warn where nobody was asked."""
    how = settled.how
    if how is None and not has_budget:
        return aligned
    if settled.is_known:
        outcome = short_runs.say_outcome(settled.ends, how)
        if how is None and outcome:
            reason, cure = short_runs.ask(settled.ends)
            provenance.warn(f"{reason}. {cure}")
        if how == "drop":
            _warn_of_emptied(settled.ends)
    else:
        outcome = _LAZILY[how or "cut"]
    if not outcome:
        return aligned
    return provenance.record(aligned, f"{failed_runs.SHORT}{how!r}): {outcome}")


def _warn_of_emptied(ends: short_runs.Ends) -> None:
    """Warn of algorithms that lose all runs of a task."""
    is_there = ends.any.notnull()
    emptied = is_there.any("run") & ~(is_there & ~ends.short).any("run")
    names = [
        f"{name}algorithm {algorithm}"
        for name in labels.task_names(ends.any)
        for algorithm in labels.words(ends.any["algorithm"])
    ]
    provenance.warn_of(
        emptied.transpose(..., "algorithm").to_numpy().ravel(),
        names,
        lambda _: ": runs_short='drop' leaves no run",
        "algorithms",
    )


def _at_grid(curves: xr.DataArray, asked: Asked, settled: _Settled) -> tuple[xr.DataArray, str, _Settled]:
    """Return scores at the levels of a grid, what is recorded of it, and where runs end, if that is computed."""
    n_tasks = prod(curves.shape[:-3])
    find_levels = partial(_levels, curves, settled.after)
    if isinstance(asked.on, str) and not settled.is_known:
        # Where runs end and the levels that there are, of runs with the same levels in one computation.
        lazy = xr.Dataset(settled.ends._asdict())
        if not has_own_levels(curves):
            lazy = lazy.merge(_lazy_levels(curves, settled.after))
        found = lazy.compute()
        ends = short_runs.Ends(*(found[name] for name in short_runs.Ends._fields))
        settled = _Settled.of(ends, settled.how, settled.worst)
        find_levels = partial(_levels, curves, settled.after)
        if not has_own_levels(curves):
            find_levels = partial(_levels_of, found)
    grid, kept, lines = grids.choose(
        asked,
        find_levels,
        curves,
        partial(_rows, curves),
        after=settled.after,
        short=settled.how,
    )
    aligned = _at_levels(curves, grid, asked)
    if not settled.is_known or settled.after.notnull().any():
        aligned = short_runs.mark(aligned, settled.after, settled.score)
    extra = labels.extra_dims(curves)
    if isinstance(asked.on, str):
        shape = [curves.sizes[dim] for dim in extra]
        aligned = aligned.where(xr.DataArray(kept.reshape(*shape, -1), dims=[*extra, "training"]))
    lines += settled.lines
    if curves.chunks is None and asked.may_lack:
        present = curves.notnull().any(str(curves.dims[-1])).to_numpy().reshape(n_tasks, *curves.shape[-3:-1])
        scores = aligned.to_numpy().reshape(*present.shape, -1)
        lines += grids.lacking("align()", scores, grid, kept, present, curves)
    step = f"align({asked}{settled.option}): {'; '.join(lines) or 'dropped nothing'}"
    return aligned, step, settled


def _levels(curves: xr.DataArray, after: xr.DataArray) -> GridLevels:
    """Return the levels of every task; a run that failed has all levels `after` one."""
    if has_own_levels(curves):
        return grids.levels_of_rows(
            _rows(curves),
            (prod(curves.shape[:-3]), *curves.shape[-3:-1]),
            after.transpose(*curves.dims[:-1]).to_numpy(),
        )
    return _levels_of(_lazy_levels(curves, after).compute())


def _lazy_levels(curves: xr.DataArray, after: xr.DataArray) -> xr.Dataset:
    """Return which levels any run of a task has, and which all have, lazily if the curves are lazy."""
    is_scored = curves.notnull()
    in_any = is_scored.any(["algorithm", "run"])
    # A run that is absent lacks no level, nor does one that failed.
    lacks_none = is_scored | ~is_scored.any("training") | (curves["training"] > after)
    in_all = (lacks_none & in_any).all(["algorithm", "run"])
    return xr.Dataset({"known": in_any, "shared": in_all})


def _levels_of(found: xr.Dataset) -> GridLevels:
    """Return levels, of all tasks in one dim."""
    known, shared = (found[name].transpose(..., "training").to_numpy() for name in ("known", "shared"))
    shape = (-1, known.shape[-1])
    return GridLevels(found["training"].to_numpy(), known.reshape(shape), shared.reshape(shape))


def _rows(curves: xr.DataArray) -> ragged.Rows:
    """Return curves as rows, numbered in C order."""
    shape = (-1, curves.shape[-1])
    levels = curves["training"].to_numpy()
    return ragged.rows_of(
        curves.to_numpy().reshape(shape),
        levels if levels.ndim == 1 else levels.reshape(shape),
    )


def _at_levels(curves: xr.DataArray, grid: Floats, asked: Asked) -> xr.DataArray:
    """Return scores at the levels of a grid, lazily if the curves are."""
    if asked.method is None and not has_own_levels(curves):
        return curves.reindex(training=grid)

    def block(scores: Floats, levels: Floats) -> Floats:
        rows = ragged.rows_of(scores.reshape(-1, scores.shape[-1]), levels.reshape(-1, scores.shape[-1]))
        made = ragged.at_levels(rows, prod(scores.shape[:-1]), grid, asked.method, asked.tolerance)
        return made.reshape(*scores.shape[:-1], len(grid))

    return grids.onto_levels(curves, block, grid, curves["training"].attrs)


def drop_incomplete(curves: xr.DataArray) -> xr.DataArray:
    """Leave out the runs that lack some of their task's training levels.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, NaN where a run has none. A task's levels are those that any of its runs has.

    Returns
    -------
    DataArray, dims as `curves`
        The same scores with incomplete runs NaN along all of `training`, like an absent run; of folds, those that any
        algorithm lacks in all algorithms. ``attrs["history"]`` names
        them; not for dask-backed curves, which stay lazy.

    Raises
    ------
    ValueError, TypeError
        If every run of a task is incomplete (dask-backed curves get an absent task instead); if dims or coordinates
        are not as described.

    Warns
    -----
    UserWarning
        If an algorithm is left without any run in a task. Not for dask-backed curves.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> scores = xr.DataArray(
    ...     [[[1.0, 2.0], [3.0, 5.0]], [[1.0, np.nan], [4.0, 4.0]]],
    ...     dims=("algorithm", "run", "training"),
    ...     coords={"algorithm": ["a", "b"], "run": [0, 1], "training": [0, 1]},
    ... )
    >>> print(scores.curves.drop_incomplete().attrs["history"])
    drop_incomplete(): algorithm 'b', run 0 (lacks 1 of 2 training levels)
    """
    curves = check_curves(curves)
    is_scored = curves.notnull()
    is_there = is_scored.any("training")
    n_levels = is_scored.any(["algorithm", "run"]).sum("training")
    lacking = (n_levels - is_scored.sum("training")).where(is_there, 0)
    complete = curves.where(lacking == 0)
    if matched_runs.MATCHED in curves["run"].attrs:
        # A fold that one algorithm lacks has no partner in the others.
        alone = matched_runs.lacking(complete).any("algorithm")
        complete = complete.where(~alone)
    if curves.chunks is not None:
        return provenance.record(complete, "drop_incomplete()")

    # Of every run, shape (task, algorithm, run): how many levels it lacks, and whether it is left.
    names = labels.task_names(curves)
    algorithms = labels.words(curves["algorithm"])
    runs = labels.words(curves["run"])
    missing, before = (
        array.transpose(..., "algorithm", "run").to_numpy().reshape(len(names), len(algorithms), len(runs))
        for array in (lacking, is_there)
    )
    left = before & (missing == 0)
    emptied_tasks = np.flatnonzero(before.any(axis=(1, 2)) & ~left.any(axis=(1, 2)))
    if emptied_tasks.size:
        raise Refusal(
            "curves",
            UNSAID,
            f"{names[emptied_tasks[0]]}every run is incomplete",
            run_checks.cure_incomplete(curves),
        )
    gone = np.argwhere(before.any(axis=2) & ~left.any(axis=2))
    if len(gone):
        emptied = "; ".join(f"{names[task]}algorithm {algorithms[i]}" for task, i in gone)
        provenance.warn(f"drop_incomplete() leaves no run of {emptied}")
    n_levels_of_task = n_levels.to_numpy().ravel()
    lines = [
        f"{names[task]}algorithm {algorithms[i]}, run {runs[j]} "
        f"(lacks {missing[task, i, j]} of {n_levels_of_task[task]} training levels)"
        for task, i, j in np.argwhere(missing)
    ]
    if matched_runs.MATCHED in curves["run"].attrs and alone.any():
        of_tasks = [dim for dim in alone.dims if dim != "run"]
        dropped = curves["run"].to_numpy()[alone.any(of_tasks).to_numpy()]
        what = curves["run"].attrs[matched_runs.MATCHED]
        lines.append(f"{what} {', '.join(map(str, dropped))} in every algorithm")
    return provenance.record(complete, f"drop_incomplete(): {'; '.join(lines) or 'dropped nothing'}")


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


def _check_budgets(on: On | int, method: AlignMethod | None, tolerance: float | None) -> tuple[Floats, float | None]:
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


def _at_budgets(
    curves: xr.DataArray, at: Floats, tolerance: float | None, settled: _Settled
) -> tuple[xr.DataArray, str]:
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
