"""Where the step of a run falls: restarts, counts that begin anew, rows that are newest first, copied rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core.doubts import MOST, Choice, Doubtful, how_many
from xcurves.core.known import Duplicates
from xcurves.frames.mixed_runs import Named, asks, choices_of, is_clock, say_unused, telling_apart
from xcurves.frames.reading import compared
from xcurves.frames.roles import find_trainings, seconds_of
from xcurves.kernels.ragged import Rows

_ROW = "_xcurves_row"  # no column has this name
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]


class _Steps(NamedTuple):
    """Rows of curves in the order of the frame, those of a curve together."""

    row: Numbers  # in the frame
    curve: Numbers
    level: Floats

    @property
    def begins(self) -> Flags:
        """Whether a row is the first of its curve."""
        return np.asarray(np.diff(self.curve, prepend=-1) != 0)

    @property
    def change(self) -> Floats:
        """The level less that of the row before, infinite at the first row of a curve."""
        return self.changes_of(self.level)

    @property
    def first(self) -> Floats:
        """The first level of each row's curve."""
        begins = self.begins
        first: Floats = self.level[begins][np.cumsum(begins) - 1]
        return first

    def changes_of(self, values: Floats) -> Floats:
        """Return each value less that of the row before, infinite at the first row of a curve."""
        with np.errstate(invalid="ignore"):  # of infinite levels, which are refused later
            changes = np.diff(values, prepend=0.0)
        return np.where(self.begins, np.inf, changes)

    def only(self, rows: Flags) -> _Steps:
        """Return some of the rows."""
        return _Steps(self.row[rows], self.curve[rows], self.level[rows])

    def with_any(self, rows: Flags) -> Flags:
        """Return whether a row's curve has any of some rows."""
        return np.isin(self.curve, self.curve[rows])


class Ordered(NamedTuple):
    """The rows of a frame that are kept, the level of each row, and what is said of the others."""

    kept: Numbers
    level: Floats
    lines: list[str]


def in_order(
    frame: pd.DataFrame,
    rows: Rows,
    kept: Numbers,
    named: Named,
    duplicates: Duplicates,
    resumed: bool,
) -> Ordered:
    """Return which rows of runs that were restarted, copied or written newest first are those of one training each.

    With ``duplicates="purge"`` every row leaves at whose level or below it a later row of its run begins again. With
    "raise" rows leave where a fall of the level is a restart for sure; a fall that may be several things is refused.
    With `resumed` a run that goes back to its first level goes on counting.
    """
    lines: list[str] = []
    level = rows.level
    steps = _of_curves(rows, kept)
    if resumed:
        level = level.copy()
        anew = _back_at_first(steps)
        steps = steps._replace(level=_going_on(steps, anew))
        level[steps.row] = steps.level
        if anew.any():
            lines.append(
                f"to_dataarray(resumed=True): {_n_curves(steps, anew)} count anew from their first level and go on"
            )
    if duplicates not in ("raise", "purge"):
        return Ordered(kept, level, lines)

    copies = np.zeros(0, dtype=np.int64)
    if duplicates == "raise":
        copies = _copies_in_order(frame, steps, named)
        steps = steps.only(~np.isin(steps.row, copies))
        begins_again = _restarts(frame, steps, named)
    else:
        begins_again = steps.change <= 0
    left = _before(steps, begins_again)
    if left.any():
        lines.append(
            f"to_dataarray(duplicates='purge'): {_n_curves(steps, left)} restarted at a lower level, "
            f"which leaves out {how_many(int(left.sum()), 'row')} of before"
        )
    if duplicates == "raise":
        rest = steps.only(~left)
        copies = np.concatenate([copies, rest.row[_copies(frame, rest, named)]])
    if copies.size:
        n_copies = how_many(len(copies), "row")
        lines.append(f"to_dataarray(duplicates='first'): left out {n_copies} equal to another in every column")
    gone = np.concatenate([steps.row[left], copies])
    return Ordered(np.setdiff1d(kept, gone), level, lines)


def _of_curves(rows: Rows, kept: Numbers) -> _Steps:
    """Return the rows of curves whose level does not rise from row to row."""
    order = kept[np.argsort(rows.curve[kept], kind="stable")]
    steps = _Steps(order, rows.curve[order], rows.level[order])
    return steps.only(steps.with_any(steps.change <= 0))


def _n_curves(steps: _Steps, rows: Flags) -> str:
    n_curves = len(np.unique(steps.curve[rows]))
    if n_curves == 1:
        return "1 run"
    return f"{n_curves} runs"


def _back_at_first(steps: _Steps) -> Flags:
    """Return the rows at which a run goes back to its first level."""
    return np.asarray((steps.change < 0) & (steps.level == steps.first))


def _going_on(steps: _Steps, anew: Flags) -> Floats:
    """Return levels that go on where counting begins anew, one step after the level before."""
    # The first step upwards of each row's stretch: 0, 10 goes on ten later.
    stretch = np.cumsum(steps.begins | anew) - 1
    rise = pd.Series(np.where(steps.change > 0, steps.change, np.nan))
    rise = rise.replace(np.inf, np.nan)
    of_curve = rise.groupby(steps.curve).transform("first")
    step = rise.groupby(stretch).transform("first").fillna(of_curve).to_numpy()
    jump = np.where(anew, step - steps.change, 0.0)
    total = np.cumsum(jump)
    before = (total - jump)[steps.begins][np.cumsum(steps.begins) - 1]
    going_on: Floats = steps.level + total - before
    return going_on


def _copies(frame: pd.DataFrame, steps: _Steps, named: Named) -> Flags:
    """Return the rows that are equal to one before in every column."""
    # Without runs or levels, equal rows are results of several runs.
    if not {"run", "training"} & set(named.dims) or not steps.row.size:
        return np.zeros(len(steps.row), dtype=np.bool_)
    rows = frame.iloc[steps.row]
    lists = [name for name in rows if not pd.api.types.is_hashable(rows[name].iloc[0])]
    if lists:
        rows = rows.astype(dict.fromkeys(lists, str))
    return rows.duplicated().to_numpy()


def _copies_in_order(frame: pd.DataFrame, steps: _Steps, named: Named) -> Numbers:
    """Return the copied rows of runs whose level never falls without them."""
    copies = _copies(frame, steps, named)
    others = steps.only(~copies)
    falling = others.curve[others.change < 0]
    return steps.row[copies & ~np.isin(steps.curve, falling)]


def _before(steps: _Steps, begins_again: Flags) -> Flags:
    """Return the rows at whose level or below it a later row of the curve begins again."""
    begun = pd.Series(np.where(begins_again, steps.level, np.inf))[::-1]
    curve = steps.curve[::-1]
    lowest = begun.groupby(curve).cummin().groupby(curve).shift(fill_value=np.inf)
    return steps.level >= lowest[::-1].to_numpy()


def _restarts(frame: pd.DataFrame, steps: _Steps, named: Named) -> Flags:
    """Return the rows at which runs were restarted, of curves whose level does not rise; refuse other falls."""
    falls = steps.change < 0
    clocks = [
        steps.changes_of(np.asarray(seconds_of(frame[name].iloc[steps.row]), dtype=np.float64))
        for name in frame
        if name not in named.used and is_clock(frame[name])
    ]
    # Curves that only fall are newest first, if a clock says so too.
    of_newest = [change < 0 for change in clocks]
    for change in of_newest:
        rises = ~steps.begins & ~(falls & change)
        falls = falls & steps.with_any(rises)
    has_only_clock = {"run", "training"} & {*named.dims} == {"training"} and is_clock(frame[named.dims["training"]])
    may_be_runs = has_only_clock and "training" not in named.given
    goes_back = steps.change <= 0 if may_be_runs else falls
    if not goes_back.any():
        return falls
    falling = steps.with_any(goes_back)
    apart = telling_apart(frame, steps.row[falling], steps.curve[falling], steps.level[falling], named.used)
    training = named.dims["training"]
    if apart:
        question = f"{say_unused(frame, apart)}, and {_say_falls(frame, steps, falls, named)}"
        raise asks(question, [*choices_of(frame, apart, named), _began_again(steps)], named)

    if may_be_runs:
        raise _ask_of_rows(frame, steps, goes_back, named)
    anew = _back_at_first(steps)
    rise = _rises_after(steps, falls)
    goes_on = np.ones(len(falls), dtype=np.bool_)
    if clocks:
        goes_on = np.any([~(change < 0) for change in clocks], axis=0)
    is_restart = falls & (steps.level > steps.first) & rise & goes_on
    unclear = falls & ~is_restart & ~anew
    if unclear.any():
        _refuse_repeats(frame, steps, steps.with_any(unclear), named)
        choices = [Choice({"duplicates": "last"}, f"rows in no order, sorted by {training}")]
        if steps.with_any(~steps.begins & ~falls)[unclear].all():
            choices.append(_began_again(steps))
        raise asks(_say_falls(frame, steps, unclear, named), choices, named)
    if anew.any():
        raise _ask_of_counts(frame, steps, anew, named)
    return is_restart


def _refuse_repeats(frame: pd.DataFrame, steps: _Steps, unclear: Flags, named: Named) -> None:
    """Ask about rows in no order of which columns that are not used tell those apart that repeat a level."""
    curve, level, row = steps.curve[unclear], steps.level[unclear], steps.row[unclear]
    order = np.lexsort((level, curve))
    apart = telling_apart(frame, row[order], curve[order], level[order], named.used)
    if apart:
        question = f"{say_unused(frame, apart)}, and rows repeat a ({', '.join(map(str, named.keys))})"
        in_order = f"rows sorted by {named.dims['training']}"
        choices = [
            Choice({**each.columns, "duplicates": "last"}, f"{each.compares}, {in_order}")
            for each in choices_of(frame, apart, named)
        ]
        raise asks(question, choices, named)


def _ask_of_rows(frame: pd.DataFrame, steps: _Steps, goes_back: Flags, named: Named) -> Doubtful:
    """Return the question whether rows are runs, with a time of each, or of one run whose clock goes back."""
    groups = [frame[name] for name in named.keys if name != named.dims["training"]]
    number = frame.groupby(groups).cumcount() if groups else range(len(frame))
    known = named.roles | {"run": _ROW, "training": None}
    choices = [
        Choice({"training": None}, f"{compared(frame.assign(**{_ROW: number}), known)}, a row is a run"),
        Choice({"duplicates": "last"}, f"rows in no order, sorted by {named.dims['training']}"),
        _began_again(steps),
    ]
    question = f"{_say_falls(frame, steps, goes_back, named)}, and no column says which run a row is of"
    return asks(question, choices, named)


def _ask_of_counts(frame: pd.DataFrame, steps: _Steps, anew: Flags, named: Named) -> Doubtful:
    """Return the question whether runs that go back to their first level began again or go on."""
    going_on = _going_on(steps, anew).max()
    choices = [
        _began_again(steps),
        Choice({"resumed": True}, f"they go on counting, runs up to {going_on:g}"),
    ]
    several = "give each a label of its own, in a column of runs"
    if "run" in named.dims:
        several = f"give each a label of its own in {named.dims['run']!r}"
    question = f"{_say_falls(frame, steps, anew, named)}, their first level. If each is several runs, {several}"
    return asks(question, choices, named)


def _began_again(steps: _Steps) -> Choice:
    last = f"runs up to {steps.level.max():g}"
    return Choice({"duplicates": "purge"}, f"runs began again there, {last}")


def _say_falls(frame: pd.DataFrame, steps: _Steps, falls: Flags, named: Named) -> str:
    """Return where levels fall, with the rows before and after the first fall."""
    first = int(np.argmax(falls))
    rows = frame[named.keys].iloc[steps.row[[first - 1, first]]]
    before, after = map(tuple, rows.to_numpy(dtype=object).tolist())
    training = named.dims["training"]
    return f"training column {training!r} falls in {_n_curves(steps, falls)}, first from {before} to {after}"


def _rises_after(steps: _Steps, falls: Flags) -> Flags:
    """Return the falls after which the level rises before it falls again."""
    stretch = np.cumsum(steps.begins | falls) - 1
    highest = pd.Series(steps.level).groupby(stretch).transform("max").to_numpy()
    return falls & (highest > steps.level)


def negative_levels(frame: pd.DataFrame, level: Floats, named: Named) -> Doubtful:
    """Return the question what training is where levels are negative: a count with its sign turned, or newest first."""
    negative = np.flatnonzero(level < 0)
    rows = frame[named.keys].iloc[negative[:2]].to_numpy(dtype=object).tolist()
    training = named.dims["training"]
    count = "1 row" if negative.size == 1 else f"{negative.size} rows"
    question = (
        f"training column {training!r} is negative in {count}, first "
        f"{', '.join(map(str, map(tuple, rows)))}. Correct it, or take another"
    )
    choices = [Choice({"training": name}, f"{name} as training") for name in find_trainings(frame, named.used)]
    choices += [
        Choice({"training": None, "duplicates": how}, f"the {how} row of each run") for how in ("first", "last")
    ]
    return asks(question, choices[:MOST], named)
