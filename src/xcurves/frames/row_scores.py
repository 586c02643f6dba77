"""The score of each row of a frame: of those that failed, and of runs that failed, the worst there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import direction
from xcurves.core.failed_runs import failed_score
from xcurves.core.names import ENDED_EARLY, FAILED, is_metric
from xcurves.core.refusal import Call, call
from xcurves.frames.columns import numbers
from xcurves.frames.reading import Reading

OF_READING = "reading: "  # before steps of the history that the reading of a frame made
SAY_FAILED = "rows are of runs that failed"


def scores_of_rows(
    frame: pd.DataFrame,
    value: str,
    missing_scores: str | None,
    higher_is_better: bool | None,
) -> tuple[NDArray[np.float64], int]:
    """Return the score of each row, and how many rows without one are of runs that failed."""
    scores = numbers(frame[value])
    if missing_scores != "failed":
        return scores, 0
    is_missing = np.isnan(scores)
    failed = failed_score(_is_higher_better(frame, value, higher_is_better))
    return np.where(is_missing, failed, scores), int(is_missing.sum())


def with_failures(
    reading: Reading,
    frame: pd.DataFrame,
    scores: NDArray[np.float64],
    missing_scores: str | None,
    higher_is_better: bool | None,
) -> tuple[NDArray[np.float64], list[str]]:
    """Return scores in which runs that failed by their state have the worst one, and what the history says of it."""
    if reading.state is None:
        return scores, []
    state = frame[reading.state].astype(str).str.casefold()
    bad = FAILED
    if missing_scores == "failed":
        bad = FAILED | ENDED_EARLY
    failed = state.isin(bad).to_numpy()
    if reading.training is not None:
        failed = failed & np.isnan(scores)  # what a run reached before it failed stays
    if not failed.any():
        return scores, []
    worst = failed_score(_is_higher_better(frame, str(reading.score), higher_is_better))
    said = f"{OF_READING}{int(failed.sum()):,} {SAY_FAILED}, as {reading.state} says"
    return np.where(failed, worst, scores), [said]


def _is_higher_better(frame: pd.DataFrame, value: str, given: bool | None) -> bool:
    """Return whether higher is better of a column of scores."""
    names = [value, said_of(frame, value).get("long_name")]
    metrics = {str(column): frame[column].unique().tolist() for column in frame if is_metric(column)}
    said: dict[Any, Any] = dict(frame.attrs) | said_of(frame, value)
    if isinstance(said.get(direction.HIGHER), Mapping):
        del said[direction.HIGHER]  # of other columns
    return direction.decide(given, said, names, metrics, _rows_of).higher


def _rows_of(column: str, label: object) -> Call:
    """Return the call that keeps the rows of one label of a column."""
    return call("frame.groupby", column).then(call(".get_group", label))


def said_of(frame: pd.DataFrame, column: str) -> dict[str, Any]:
    """Return what the attrs of a frame say of a column."""
    attrs = {}
    for key in ("long_name", "units", direction.HIGHER):
        by_column = frame.attrs.get(key)
        if isinstance(by_column, Mapping) and column in by_column:
            attrs[key] = by_column[column]
    return attrs
