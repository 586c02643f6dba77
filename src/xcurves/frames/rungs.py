"""Trials of searches that stop the worse of them: which were tried on which budget, and which can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core.doubts import Choice
from xcurves.frames.found import Found, compared
from xcurves.frames.reading import Doubt

RUNGS = frozenset(["n_resources", "budget", "rung"])


def choices_of_rungs(
    frame: pd.DataFrame,
    rung: str,
    groups: Sequence[str],
    known: Mapping[str, Any],
) -> list[Choice]:
    """Return the readings of trials of several budgets: all on the first, those left on the last, or as training.

    The first and the last budget are those that all algorithms and tasks, `groups`, have.
    """
    everyone = set(frame[rung])
    if groups:
        by_group = frame[rung].groupby([frame[name] for name in groups], observed=True)
        everyone = set.intersection(*map(set, by_group.unique()))
    choices = []
    for budget in dict.fromkeys(edge(everyone) for edge in (min, max) if everyone):
        part = frame[frame[rung] == budget]
        label = budget.item() if isinstance(budget, np.generic) else budget
        choices.append(Choice({"select": (rung, label)}, f"{compared(part, known)}, on {label:g}"))
    choices.append(Choice({"training": rung}, f"{compared(frame, known)}, {rung} as training"))
    return choices


def doubt_of_rungs(found: Found) -> Doubt | None:
    """Return what to ask where the training that was found is the budget of trials, of which the worse were stopped."""
    rung = found.roles["training"]
    if rung is None or "training" in found.typed or str(rung).casefold() not in RUNGS or not found.runs:
        return None
    scored = found.scored
    last = scored.groupby(found.runs, observed=True)[rung].max()
    if last.nunique() < 2:
        return None
    groups = found.keys("algorithm", "tasks")
    known = found.roles | {"training": None}
    question = f"has trials that were stopped on {last.nunique()} budgets, column {rung!r}"
    return Doubt({}, tuple(choices_of_rungs(scored, rung, groups, known)), question)
