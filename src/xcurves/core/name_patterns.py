"""Names that are made of parts: patterns with braces, and labels of several columns in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core.refusal import Refusal

CONFIG = "config/"  # before the names of columns that hold the configuration of a run
NUMBERED = re.compile(  # the words before a number need no mark before them, single letters do
    r"(?P<algorithm>.*?[^\W\d_].*?)(?:[-_. ]*(?:seed|run|rep|trial|fold)|[-_. ]+[sr]?)[-_=. ]*(?P<run>\d+)",
    re.IGNORECASE,
)
_SEED = re.compile(r".*(?:seed|run|rep|[-_. ]s)[-_=. ]*\d+", re.IGNORECASE)
_BRACES = re.compile(r"\{(\w+)(?:,((?:[^{}]|\{[\d,]+\})+))?\}")


def compiled(names: str, argument: str = "names") -> re.Pattern[str]:
    """Return the expression of a pattern: `{name}` is text without a slash, `{name,regex}` what the regex matches.

    The same part twice is equal text.
    """
    if not isinstance(names, str):
        raise _no_pattern(names, argument)
    text, *rest = _BRACES.split(names)
    made = re.escape(text)
    known = set[str]()
    for name, regex, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        if name in known and not regex:
            made += f"(?P={name})"
        else:
            made += f"(?P<{name}>{regex or '[^/]+'})"
        made += re.escape(after)
        known.add(name)
    try:
        pattern = re.compile(made)
    except re.error:
        pattern = re.compile("")
    if not pattern.groupindex or pattern.groups != len(pattern.groupindex) or "{" in "".join([text, *rest[2::3]]):
        raise _no_pattern(names, argument)
    return pattern


def _no_pattern(names: object, argument: str) -> Refusal:
    """Return the error about what is no pattern."""
    return Refusal(
        argument,
        names,
        "must be a pattern of parts in braces, such as '{algorithm}_seed{run}.csv'",
        "Correct it",
    )


def whole_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return labels as whole numbers if all are, each written in one way; otherwise as they are."""
    words = column.unique()
    decimal = all(isinstance(word, str) and word.isdecimal() and len(word) < 19 for word in words)
    # 1 and 01 are two labels.
    if decimal and len({int(word) for word in words}) == len(words):
        return column.astype(np.int64)
    return column


def join_labels(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series[Any]:
    """Return one label of several columns for each row: ``optimizer=muon, lr=0.0003``."""
    parts = [short_name(name) + "=" + _texts(frame[name]) for name in columns]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined + ", " + part
    return joined


def _texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return labels as texts, whole numbers among floats without their point; different numbers stay different."""
    digits = 16
    if column.dtype == np.float32:
        digits = 7

    def text(value: Any) -> str:
        if isinstance(value, float | np.floating):
            return f"{value:.{digits}g}"
        return str(value)

    return column.map(text)


def short_name(name: object) -> str:
    """Return the name of a column without what says that it is of a configuration."""
    return str(name).removeprefix(CONFIG)


def seeds_in(names: Sequence[str]) -> pd.DataFrame | None:
    """Return algorithm and run of names that end in the number of a run, None if they do not: sac_seed0, sac_seed1.

    A number without the word seed (resnet-18, resnet-34) is that of a run if the numbers of each name are 0, 1, ... or
    1, 2, ...
    """
    parts = [NUMBERED.fullmatch(name) for name in names]
    if not names or not all(parts):
        return None
    labels = pd.DataFrame([part.groupdict() for part in parts if part])
    labels["run"] = labels["run"].astype("int64")
    each = labels.groupby("algorithm")["run"]
    if (each.nunique() < 2).any() or labels.duplicated().any():
        return None
    are_said = all(_SEED.fullmatch(name) for name in names)
    are_counted = (each.min() <= 1) & (each.max() - each.min() == each.size() - 1)
    if not are_said and not are_counted.all():
        return None
    return labels
