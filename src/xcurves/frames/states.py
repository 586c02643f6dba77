"""Runs that failed by the column that says how runs ended: they have the worst score, after their last one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import short_runs
from xcurves.core.doubts import how_many
from xcurves.core.names import ending_of
from xcurves.frames.reading import Reading
from xcurves.frames.rows import SAY_FAILED, order_of, worst_score
from xcurves.kernels.ragged import Rows


class Failures(NamedTuple):
    """Which rows of a frame are of runs that failed, the score of such runs, and the column that says it."""

    rows: NDArray[np.bool_]
    worst: float
    state: str

    @classmethod
    def of(
        cls, reading: Reading, frame: pd.DataFrame, missing_scores: str | None, higher_is_better: bool | None
    ) -> Failures | None:
        """Return the failures of a frame, None if there are none; runs that were ended are, if that is said."""
        if reading.state is None:
            return None
        endings = {state: ending_of(state) for state in frame[reading.state].dropna().unique()}
        failed = [state for state, ending in endings.items() if ending == "failed"]
        if missing_scores == "failed" and "well" in endings.values():
            failed = [state for state, ending in endings.items() if ending != "well"]
        is_failed = frame[reading.state].isin(failed).to_numpy()
        if not is_failed.any():
            return None
        return cls(is_failed, worst_score(frame, str(reading.score), higher_is_better), reading.state)

    def of_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row, the worst of those that failed."""
        return np.where(self.rows, self.worst, scores)

    def said(self, has_levels: bool) -> str:
        """Return what is said of them."""
        if has_levels:
            return f"levels after the last score {SAY_FAILED} have the worst one, as {self.state} says"
        return f"{how_many(int(self.rows.sum()), 'row')} {SAY_FAILED}, as {self.state} says"

    def after_last(self, rows: Rows, curve: NDArray[np.int64], of_task: int) -> Rows:
        """Return rows with the worst score at the level after the last of each run that failed, if its task has one.

        `curve` is that of each row of the frame; curves of one task, `of_task` of them, have numbers that follow on
        each other.
        """
        failed = np.unique(curve[self.rows])
        added = []
        for task in np.unique(failed // of_task):
            levels = np.unique(rows.level[rows.curve // of_task == task])
            for each in failed[failed // of_task == task]:
                last = rows.level[rows.curve == each].max(initial=-np.inf)
                added += [(each, level, self.worst) for level in levels[levels > last][:1]]
        if not added:
            return rows
        whole = Rows(*(np.append(old, new) for old, new in zip(rows, zip(*added, strict=True), strict=True)))
        order = order_of(whole.curve, whole.level)
        return Rows(whole.curve[order], whole.level[order], whole.score[order])

    def to_the_end(self, curves: xr.DataArray, rows: Rows, runs: xr.DataArray) -> xr.DataArray:
        """Return curves in which runs that end with the score of a failure keep it at all further levels."""
        ends = short_runs.ends_of_rows(rows, runs)
        return short_runs.mark(curves, ends.failed_after(xr.zeros_like(ends.short)), ends.failed)
