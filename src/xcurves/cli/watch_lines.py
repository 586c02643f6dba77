"""What `watch` says in a line: who leads, what is shown, which runs are going on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from xcurves.cli.watch_looks import Looks, rows_of
from xcurves.cli.watch_progress import Leader, Progress
from xcurves.cli.watched import RunName, WatchedRuns
from xcurves.reporting.answer import of_words
from xcurves.say.numbers import count, joined, listed, number

_MOST = 4  # runs or algorithms that a line names


class Line(NamedTuple):
    """What is said now, for people and for programs, and what of it makes it new."""

    text: str
    answer: dict[str, Any]
    key: object


def line_of(runs: WatchedRuns, looks: Looks, progress: Progress, leaders: Sequence[Leader]) -> Line:
    """Return what is said of the runs now."""
    shown = _shown(looks, progress)
    parts = [_lead(leaders, runs.score), shown]
    if progress.going_on:
        told = [_how_far(runs, name, progress.ends[name.task]) for name in progress.going_on]
        parts.append(f"going on, not compared: {joined(told, ', ', _MOST)}{_said_of_ends(runs, looks, progress)}")
    if progress.late:
        parts.append(f"not compared, as they came after the first look: {joined(progress.late)}")
    if runs.unread:
        parts.append(f"not read now: {next(iter(runs.unread.values()))}")
    text = "; ".join(parts)
    # levels that rise are nothing new
    counts = tuple((cell, len(names)) for cell, names in progress.complete.items())
    first = leaders[0].name if leaders else ""
    key = (first, shown, counts, tuple(progress.going_on), tuple(progress.late), tuple(runs.unread))
    return Line(text, _for_programs(text, runs, looks, progress, leaders), key)


def _for_programs(
    text: str, runs: WatchedRuns, looks: Looks, progress: Progress, leaders: Sequence[Leader]
) -> dict[str, Any]:
    """Return a line as an answer: that of the latest look, and what is needed for the next one."""
    going_on = [
        name._asdict() | {"level": float(runs.curves[name].levels.max()), "of": progress.ends[name.task]}
        for name in progress.going_on
    ]
    following = {"runs": looks.missing(progress), "going_on": going_on}
    if looks.answer is None:
        answer = of_words(text) | {"algorithms": rows_of(leaders), "cautions": looks.planned(progress)}
        return answer | {"reading": runs.reading, "next": answer["next"] | following}
    answer = looks.answer | {"next": looks.answer["next"] | following}
    if looks.status is None:
        answer["verdict"] = text
    return answer


def _lead(leaders: Sequence[Leader], score: str) -> str:
    """Return who leads, among complete runs."""
    if not leaders:
        return "no algorithm has a complete run"
    first, *others = leaders
    if not others:
        return f"only {first.name} has complete runs"
    equal = [each.name for each in leaders if each.mean == first.mean]
    if len(equal) > 1:
        return f"{listed(equal, _MOST)} have the same mean {score}, {number(first.mean)}"
    told = [f"{each.name} {number(each.mean)} ({each.n_runs})" for each in others]
    n_runs = count(first.n_runs, "run")
    return f"{first.name} leads, mean {score} {number(first.mean)} ({n_runs}), {joined(told, ', ', _MOST)}"


def _shown(looks: Looks, progress: Progress) -> str:
    """Return what is shown, and when the next look is."""
    said = "no look yet"
    if looks.answer is not None:
        done = f"look {looks.n_done} of {len(looks.sizes)}"
        said = f"nothing shown at {done}"
        if looks.shown:
            told = [f"{name} better than {joined(worse, ' and ', _MOST)}" for name, worse in looks.shown.items()]
            said = f"shown at {done}: {joined(told, ', ', _MOST)}"
    missing = looks.missing(progress)
    if not missing:
        return said
    told = [f"{name} {n}" for name, n in missing.items()]
    return f"{said}, the next at {looks.sizes[looks.n_done]} complete runs (missing: {joined(told, ', ', _MOST)})"


def _said_of_ends(runs: WatchedRuns, looks: Looks, progress: Progress) -> str:
    """Return how to say where runs end, where several seem to stand before the end of the longest."""
    standing = [name for name in progress.going_on if _hours_since_written(runs, name) >= 1]
    if looks.taken is not None or looks.has_budget or len(standing) < 2:
        return ""
    lowest = min(runs.curves[name].levels.max() for name in standing)
    return f" (if they are done, say where runs end: --budget {lowest:.12g})"


def _hours_since_written(runs: WatchedRuns, name: RunName) -> float:
    return (time.time() - runs.written(name)) / 3600


def _how_far(runs: WatchedRuns, name: RunName, end: float) -> str:
    """Return a run that is going on, how far it is, and whether it seems to stand."""
    level = runs.curves[name].levels.max()
    if level >= end:
        return f"{name.words} (at its end, just written)"
    far = f"{runs.training} {number(level)} of {number(end)}"
    hours = _hours_since_written(runs, name)
    if hours >= 1:
        far += f", not written for {number(hours, 2)} h"
    return f"{name.words} ({far})"
