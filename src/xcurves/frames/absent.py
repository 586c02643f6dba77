"""Names of columns that a frame does not have: the error, with the name that is most like it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xcurves.core.labels import did_you_mean
from xcurves.core.refusal import Missing, Text
from xcurves.frames.reading import THE_FRAME

_MOST = 20  # columns that a message names


def no_column(argument: str, name: Any, frame: pd.DataFrame, cure: str | None = None) -> Missing:
    """Return that a frame has no column of a name: those it has, and the nearest of them or another cure."""
    reason = Text("is no column of ", THE_FRAME)
    has = [repr(each) for each in frame.columns[:_MOST]]
    if len(frame.columns) > _MOST:
        has.append("...")
    if cure is None:
        cure = did_you_mean(name, frame.columns)
    return Missing(argument, name, reason, f"It has {', '.join(has)}{cure}")
