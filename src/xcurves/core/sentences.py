"""Phrases that the sentences of several families share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from xcurves.core.packing import Floats
from xcurves.core.provenance import significant

MOST_NAMED = 12  # phrases of a list; of longer lists the rest is counted


def joined(said: Sequence[str], separator: str = ", ", most: int = MOST_NAMED) -> str:
    """Return phrases in one line, the first of many with the number of the others."""
    more = f"{separator}and {len(said) - most} more" if len(said) > most else ""
    return separator.join(said[:most]) + more


def counted(pvalues: Floats, alpha: float, what: str, things: str = "tasks") -> str:
    """Return in how many of many tests something differs."""
    known = pvalues[~np.isnan(pvalues)]
    differ = np.count_nonzero(significant(known, alpha))
    unknown = len(pvalues) - len(known)
    more = f" (nothing can be said of {unknown} more)" if unknown else ""
    return f"In {differ} of {len(known)} {things} {what} differ at the {alpha:g} level{more}."


def unadjusted_over_tasks(n_tasks: int) -> Iterator[str]:
    """If there are several tasks, yield that p is for each task by itself."""
    if n_tasks > 1:
        yield "Each task was tested by itself: p is not adjusted for the number of tasks."


def span(values: set[float], form: str = ",.0f") -> str:
    """Return a number, or the smallest and the largest of several."""
    ends = sorted({f"{value:{form}}": value for value in sorted(values)}.items(), key=lambda item: item[1])
    return " to ".join(said for said, _ in (ends if len(ends) < 2 else (ends[0], ends[-1])))
