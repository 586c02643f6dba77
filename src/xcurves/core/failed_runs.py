"""Runs that failed: a score of -inf where higher is better, of +inf where lower is, worse than every finite score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.refusal import UNSAID, Cure, Refusal, Words, call, give

N_FAILED = "n_failed"  # the coordinate with how many runs failed and were filled
FILLED = "fill_failed"  # what a line of a history begins with
SHORT = "align(runs_short="  # what the line about runs that ended early begins with
MARKED = "count as failed from their last score on"
NO_RUN = "no run failed"


def failed_score(higher_is_better: bool) -> float:
    """Return the score of a run that failed."""
    if higher_is_better:
        return -np.inf
    return np.inf


def refused_infinity(value: float, every: Floats) -> tuple[str, Cure]:
    """Return what is wrong with an infinite score where means are taken, and what to do, of all that were found."""
    both = np.isnan(every).any() or (np.isposinf(every).any() and np.isneginf(every).any())
    if both:
        reason = "has infinite values, and there are both inf and -inf: one of them is no failed run"
        return reason, Cure("Correct it")
    # Infinity is the worst score where lower is better.
    better = "higher"
    direction: dict[str, bool] = {}
    if value > 0:
        better = "lower"
        direction = {"higher_is_better": False}
    reason = f"has infinite values, {value:g}: a run that failed, if {better} is better, and has no mean"
    ranks = call(".curves.compare_distributions", **direction)
    return reason, Cure(
        "Say what it counts as with ",
        call(".curves.fill_failed", "worst", **direction),
        Words(f" or compare ranks with {ranks}", ""),
    )


def wrong_infinity(higher_is_better: bool, name: str = "scores") -> tuple[str, Cure]:
    """Return why the other infinite score is refused, and what to do."""
    wrong = -failed_score(higher_is_better)
    better, worse = "lower", "higher"
    if higher_is_better:
        better, worse = "higher", "lower"
    reason = f"{name} has a value of {wrong:g}, which nothing scores where {better} is better"
    return reason, Cure(
        f"If {worse} is better it is a failed run, ",
        give(higher_is_better=not higher_is_better),
        "; otherwise correct it",
    )


def refuse_wrong(scores: Floats, failed: float, prefixes: Sequence[str], name: str = "scores") -> None:
    """Refuse the infinite score that is no failure; `scores` has one row for each prefix of a message."""
    wrong = np.flatnonzero((scores.reshape(len(prefixes), -1) == -failed).any(axis=1))
    if wrong.size:
        reason, cure = wrong_infinity(failed < 0, name)
        raise Refusal(name, UNSAID, f"{prefixes[wrong[0]]}{reason}", cure)


def forgotten_step(curves: xr.DataArray | xr.Dataset) -> str | None:
    """Return the step of a history in which failed runs were filled, where only the coordinate still says so."""
    # Arithmetic drops attrs, but no coordinates.
    history = str(curves.attrs.get("history", ""))
    is_recorded = f"{FILLED}(" in history or f"{SHORT}'failed'" in history
    if N_FAILED not in curves.coords or is_recorded:
        return None
    counts = curves[N_FAILED]
    if counts.chunks is None and not counts.any():
        return f"{FILLED}(): {NO_RUN}"
    return f"{FILLED}(): Failed runs {counts.attrs.get('comment', 'have a score that was chosen for them')}"


def say_filled(result: xr.Dataset) -> Iterator[str]:
    """Yield what runs that failed or ended early count as, where that was chosen: every summary says it."""
    steps = str(result.attrs.get("history", "")).split("\n")
    fillings = [step.partition("): ")[2] for step in steps if step.startswith((f"{FILLED}(", SHORT))]
    for what in dict.fromkeys(fillings):
        if what and what != NO_RUN:
            yield f"{what}."
