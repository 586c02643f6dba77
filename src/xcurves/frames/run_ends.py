"""What was decided about runs that end early or failed, before all are brought to common levels."""

from __future__ import annotations

from typing import NamedTuple

import xarray as xr

from xcurves.core import (
    failed_runs,
    labels,
    provenance,
    short_runs,
)
from xcurves.core.known import On
from xcurves.core.refusal import (
    Cure,
    Refusal,
    Text,
    Words,
    give,
    shown,
)
from xcurves.core.short_runs import RunsShort
from xcurves.core.validation import check_choice

# What a history says of lazy curves, whose short runs are not known yet.
_LAZILY = {
    "failed": "Runs that end before 90 % of the longest of their task count as failed from their last score on",
    "drop": "Runs that end before 90 % of the longest of their task are left out",
    "cut": "Runs are compared up to where the shortest of their task ends",
}


class RunEnds(NamedTuple):
    """What was decided about runs that end early or failed; lazy if the curves are."""

    ends: short_runs.Ends
    how: RunsShort | None
    worst: float
    after: xr.DataArray  # the level after which a run counts as failed, NaN of others
    score: xr.DataArray  # the score of each run where it counts as failed

    @classmethod
    def of(cls, ends: short_runs.Ends, how: RunsShort | None, worst: float) -> RunEnds:
        """Return where runs end, and which of them count as failed with the worst score."""
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


def check_runs_short(runs_short: RunsShort | None, on: On | int, *, has_budget: bool) -> None:
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


def say_short_runs(aligned: xr.DataArray, settled: RunEnds, *, has_budget: bool) -> xr.DataArray:
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
