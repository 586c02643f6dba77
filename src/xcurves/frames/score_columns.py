"""Which column of a frame is the score, by its name and what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from xcurves.core.direction import SCORES, looks_like_score
from xcurves.core.name_patterns import CONFIG
from xcurves.core.names import TRAINED, confusable, is_clock, is_step, names_in, words_of

_MEASURED = (
    {"eval", "evaluation"},
    {"episode", "episodic", "ep"},
    {"test"},
    {"val", "valid", "validation"},
)
# Words of columns that are about a score, or a part of it.
_ABOUT = names_in(
    "std stddev sd se sem stderr var variance min max range median norm q1 q2 count len length rank threshold target "
    "scale weight coef coefficient best entropy grad pi alpha value actor critic policy time lr rate"
)
_STATISTICS = _ABOUT | {"mean", "average"}
_TIMES = ("ms", "s", "min", "h")
# what pandas reads as the name of an index that was written
NO_NAME = ("Unnamed: 0", "")


def find_score(frame: pd.DataFrame, used: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the column of the scores, or None, and the others that could be it."""
    numbers = [name for name in (*numeric_columns(frame), *_outcomes(frame)) if name not in used]
    numbers = [name for name in numbers if not name.startswith(CONFIG)]
    units = frame.attrs.get("units")
    if not isinstance(units, Mapping):
        units = {}
    measured = [
        name
        for name in numbers
        if not (is_step(name) or is_clock(name) or (units.get(name) in _TIMES and not looks_like_score(name)))
    ]
    numbers = measured or numbers
    varied = [name for name in numbers if n_labels(frame[name]) > 1]
    if len(varied) == 1 or len(numbers) == 1:
        return (varied or numbers)[0], []
    ranked = sorted((rank, place) for place, name in enumerate(varied) if (rank := _score_rank(name)) is not None)
    ordered = [varied[place] for _, place in ranked]
    if not ordered:
        return None, varied
    twins = [name for name in ordered if confusable([ordered[0], name]) is not None]
    if twins:
        return None, [ordered[0], *twins]
    return ordered[0], ordered[1:]


def _outcomes(frame: pd.DataFrame) -> list[str]:
    """Return the columns of True and False that are called like scores, such as `correct`."""
    return [str(name) for name in frame.select_dtypes("bool") if looks_like_score(name)]


def likeliest(names: Sequence[str]) -> list[str]:
    """Return names, those that are of scores first, in the order in which scores are taken."""

    def place(name: str) -> tuple[bool, bool, int, int]:
        rank = _score_rank(name) or (True, len(SCORES), len(_MEASURED))
        return bool(_ABOUT & set(words_of(name))), *rank

    return sorted(names, key=place)


def says_statistic(name: object) -> bool:
    """Return whether a name says that a column has a statistic of scores, or something about them."""
    return bool(_STATISTICS & set(words_of(name)))


def names_score(name: str) -> bool:
    """Return whether words are the usual name of a score, or say of which data it is."""
    words = set(words_of(name))
    return looks_like_score(name) or any(words <= known for known in (*_MEASURED, TRAINED))


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns of numbers, without an index that was written."""
    return [str(name) for name in frame.select_dtypes("number") if name not in NO_NAME]


def n_labels(column: pd.Series[Any]) -> int:
    """Return how many labels a column has."""
    try:
        return int(column.nunique())
    except (TypeError, NotImplementedError):  # lists are no labels
        return 0


def _score_rank(name: str) -> tuple[bool, int, int] | None:
    """Return the place of a score among others, None for a name that is of none."""
    words = set(words_of(name))
    kinds = [rank for rank, known in enumerate(SCORES) if known & words]
    if not kinds or words & _ABOUT:
        return None
    measured = [rank for rank, known in enumerate(_MEASURED) if known & words]
    return bool(words & TRAINED), kinds[0], min(measured, default=len(_MEASURED))
