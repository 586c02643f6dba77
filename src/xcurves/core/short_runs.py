"""Runs that end long before the longest of their task, and what they count as where a common budget is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels
from xcurves.core.refusal import Choices, Cure, Piece, call, give
from xcurves.kernels.ragged import Rows

RunsShort = Literal["failed", "drop", "cut"]
HOW: tuple[RunsShort, ...] = ("failed", "drop", "cut")
# of the rows of a log, for runs that ended early because they were done
LAST = Cure(call("frame.curves.to_dataarray", training=None, duplicates="last"))
# How a call of Python says each.
OPTIONS = {how: Cure(give(runs_short=how)) for how in HOW}
SHARE = 0.9  # of the longest run of a task: what ends before it is short
_ALIKE = 0.8  # of the longest of an algorithm, whose runs then end at about one level: bins are coarse
_ROUNDING = 1e-12  # 0.9 · 0.1 is more than 0.09
_OF_TASK = ("algorithm", "run")
_NAMED = 5  # runs in a message


class Ends(NamedTuple):
    """Where each run ends, arrays over all dims of curves but the last."""

    finite: xr.DataArray  # its last level with a finite score, NaN if there is none
    any: xr.DataArray  # its last level with a score, NaN if it is absent
    failed: xr.DataArray  # the infinite score with which it ends, NaN of others

    @property
    def short(self) -> xr.DataArray:
        """Whether a run ends before nine tenths of the longest of its task; one that failed is known to have failed."""
        longest = self.finite.max(_OF_TASK)
        least = SHARE * longest * (1 - _ROUNDING)
        return (self.finite < least) & (longest > 0) & self.failed.isnull()

    def failed_after(self, short: xr.DataArray) -> xr.DataArray:
        """Return the level after which a run counts as failed, NaN of those that do not; `short` ones count."""
        after = self.any.where(self.failed.notnull() | short)
        # Without a finite score it failed from the start.
        return after.where(after.isnull() | self.finite.notnull(), -np.inf)


def ends_of(curves: xr.DataArray) -> Ends:
    """Return where runs end, lazily if the curves are lazy; runs may have levels of their own."""
    last = str(curves.dims[-1])
    bare = curves.drop_vars("training").astype(np.float64)
    given = curves["training"]
    levels = xr.DataArray(given.data, dims=given.dims)
    is_scored = bare.notnull()
    end = levels.where(is_scored).max(last)
    is_infinite = abs(bare) == np.inf
    finite = levels.where(is_scored & ~is_infinite).max(last)
    failed = bare.where(is_infinite & (levels == end)).max(last)
    order = curves.dims[:-1]
    return Ends(*(each.transpose(*order) for each in (finite, end, failed)))


def ends_of_rows(rows: Rows, runs: xr.DataArray) -> Ends:
    """Return where runs end, numbered in C order over an array of them, whose scores come as rows."""
    is_finite = np.isfinite(rows.score)
    finite, end, failed = (np.full(runs.size, np.nan) for _ in Ends._fields)
    # Rows are in the order of levels: the last one written is the highest.
    finite[rows.curve[is_finite]] = rows.level[is_finite]
    end[rows.curve] = rows.level
    failed[rows.curve] = np.where(is_finite, np.nan, rows.score)
    return Ends(*(runs.copy(data=each.reshape(runs.shape)) for each in (finite, end, failed)))


def mark(aligned: xr.DataArray, after: xr.DataArray, score: xr.DataArray) -> xr.DataArray:
    """Return scores in which runs have the score of failing after a level, where their task has scores."""
    of_task = aligned.notnull().any(_OF_TASK)
    has_failed = of_task & (aligned["training"] > after)
    return aligned.where(~has_failed, score).transpose(*aligned.dims)


def say_outcome(ends: Ends, how: RunsShort | None) -> str:
    """Return what becomes of short runs, as every summary says it, "" if there are none."""
    found = _Found.of(ends)
    n_short = int(found.short.sum())
    if n_short == 0:
        return ""
    end, count, their, are = "end", "count", "their", "are"
    if n_short == 1:
        end, count, their, are = "ends", "counts", "its", "is"
    which = f"{n_short:,} of {found.n_runs:,} runs {end} before 90 % of the longest of {their} task"
    if how == "failed":
        return f"{which} and {count} as failed from {their} last score on"
    if how == "drop":
        return f"{which} and {are} left out"
    n_cut = int(found.short.any(axis=(1, 2)).sum())
    tasks = ""
    if n_cut < len(found.names):
        tasks = f"of {n_cut:,} of {len(found.names):,} tasks "
    return f"{which}, so that all runs {tasks}are compared up to {found.say_share()} of the longest only"


def say_failed(ends: Ends) -> list[str]:
    """Return, in a list, how many runs end with the score of a failure, which they keep; an empty one if none does."""
    n_failed = int(ends.failed.notnull().sum())
    if n_failed == 0:
        return []
    if n_failed == 1:
        return ["1 run that failed has its infinite score at all further levels"]
    return [f"{n_failed:,} runs that failed have their infinite score at all further levels"]


def ask(ends: Ends, cures: Mapping[RunsShort, Cure] = OPTIONS, *, last: Cure | None = None) -> tuple[str, Cure]:
    """Return which runs are short, "" if none is, and what to do, in the order in which cures keep the question.

    Where all runs of an algorithm end at about one level that is another budget, and no failure. `last` compares the
    last score of each run.
    """
    found = _Found.of(ends)
    n_short = int(found.short.sum())
    if n_short == 0:
        return "", Cure()
    which = f"{n_short:,} of {found.n_runs:,} runs end"
    if n_short == 1:
        which = f"1 of {found.n_runs:,} runs ends"
    named = [*found.say_budgets(), *found.say_runs()]
    if len(named) > _NAMED:
        named = [*named[:_NAMED], f"and {len(named) - _NAMED} more"]
    when = {
        "failed": "if they failed",
        "cut": f"to compare up to {found.say_share()} of the longest only",
        "drop": "to leave them out",
    }
    pieces: list[Piece] = ["Say what they are: "]
    for how in found.order:
        if how in cures:
            pieces += [f"{when[how]}, ", *cures[how], "; "]
    if last is not None:
        pieces += ["if they were done, to compare the last score of each, ", *last, "; "]
    reason = f"{which} before 90 % of the longest of the task: {'; '.join(named)}"
    return reason, Choices(*pieces[:-1])


class _Found(NamedTuple):
    """Where runs in memory end, arrays of shape (task, algorithm, run), and which of them are short."""

    names: list[str]  # prefixes of messages, one for each task
    algorithms: list[str]
    runs: list[str]
    finite: Floats
    is_there: NDArray[np.bool_]
    short: NDArray[np.bool_]

    @classmethod
    def of(cls, ends: Ends) -> _Found:
        names = labels.task_names(ends.finite)
        algorithms, runs = (labels.words(ends.finite[dim]) for dim in _OF_TASK)
        shape = (len(names), len(algorithms), len(runs))
        finite, end, short = (
            each.transpose(..., *_OF_TASK).to_numpy().reshape(shape) for each in (ends.finite, ends.any, ends.short)
        )
        return cls(names, algorithms, runs, finite, ~np.isnan(end), short)

    @property
    def n_runs(self) -> int:
        """How many runs there are."""
        return int(self.is_there.sum())

    @property
    def longest(self) -> Floats:
        """The last level of each task, -inf without one."""
        return np.asarray(_known(self.finite, -np.inf).max(axis=(1, 2)))

    @property
    def other_budget(self) -> NDArray[np.bool_]:
        """Which algorithms end, in all of their runs of a task, at about one level that is short: (task, algorithm)."""
        is_whole = (self.short | ~self.is_there).all(axis=2) & self.is_there.any(axis=2)
        first = _known(self.finite, np.inf).min(axis=2)
        last = _known(self.finite, -np.inf).max(axis=2)
        return np.asarray(is_whole & (first >= _ALIKE * last * (1 - _ROUNDING)))

    @property
    def order(self) -> list[RunsShort]:
        """The cures in the order in which they keep the question; none that leaves nothing to compare."""
        order: list[RunsShort] = ["failed", "cut", "drop"]
        if self.other_budget.any():
            order = ["cut", "drop", "failed"]
        n_runs = self.is_there.sum(axis=2)
        n_left = n_runs - self.short.sum(axis=2)
        if (n_left < np.minimum(n_runs, 2)).any():
            order.remove("drop")
        return order

    def say_share(self) -> str:
        """Return to which share of its longest run each task is cut, rounded down."""
        is_cut = self.short.any(axis=(1, 2))
        ends = np.where(self.short, self.finite, np.inf).min(axis=(1, 2))
        shares = 100 * ends[is_cut] / self.longest[is_cut]
        low, high = (f"{_below(each):g}" for each in (shares.min(), shares.max()))
        if low == high:
            return f"{low} %"
        return f"{low} to {high} %"

    def say_budgets(self) -> list[str]:
        """Return the algorithms that have another budget, with where they end."""
        lines = []
        for task, i in np.argwhere(self.other_budget).tolist():
            ends = self.finite[task, i][self.is_there[task, i]]
            lines.append(
                f"{self.names[task]}algorithm {self.algorithms[i]}, all runs, at {self._reach(task, ends.max())}, "
                "which is another budget"
            )
        return lines

    def say_runs(self) -> list[str]:
        """Return the other short runs, with where they end."""
        single = self.short & ~self.other_budget[:, :, np.newaxis]
        return [
            f"{self.names[task]}algorithm {self.algorithms[i]}, run {self.runs[j]} at "
            f"{self._reach(task, self.finite[task, i, j])}"
            for task, i, j in np.argwhere(single).tolist()
        ]

    def _reach(self, task: int, end: float) -> str:
        longest = self.longest[task]
        return f"{end:,.12g} of {longest:,.12g} ({_below(100 * end / longest):g} %)"


def _known(values: Floats, otherwise: float) -> Floats:
    return np.where(np.isnan(values), otherwise, values)


def _below(percent: float) -> float:
    """Return a share in whole percent, below 10 % in tenths, never more than it is."""
    if percent >= 10:
        return float(np.floor(percent + 1e-9))
    return float(np.floor(10 * percent + 1e-9) / 10)
