"""A warning where the column of runs seems to hold episodes: these are not independent, and tests count runs."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.kernels.ragged import Rows

_EPISODES = re.compile(r"(?:^|[\W_])(?:eps?|episodes?|rollouts?)(?:$|[\W_])", re.IGNORECASE)
_RUNS = {"seed", "run", "run_id", "replicate"}
_MANY = 50  # runs for each level, of at least two


def warn_of_episodes(frame: pd.DataFrame, columns: Mapping[str, str], rows: Rows) -> None:
    """Warn if the run column looks like episodes; `columns` are those of the dims, `rows` are sorted by curve."""
    reason = _why(frame, columns, rows)
    if reason:
        provenance.warn(
            f"run column {columns['run']!r}: {reason}. Episodes of one run are not independent. If these are episodes, "
            "name the column of runs, run='seed', and average them, duplicates='mean' or on=..., method='mean'"
        )


def _why(frame: pd.DataFrame, columns: Mapping[str, str], rows: Rows) -> str:
    run = columns["run"]
    if _EPISODES.search(str(run)):
        return "its name says episodes"
    units = [column for dim, column in columns.items() if dim != "training"]
    for other in frame.columns.difference([*columns.values()], sort=False):
        if str(other).casefold() in _RUNS and frame.groupby(units, observed=True)[other].nunique().gt(1).any():
            return f"its labels start again in each value of {str(other)!r}, a column that is not used"
    n_curves = int(np.count_nonzero(np.diff(rows.curve, prepend=-1)))
    n_own = len(rows.curve) / max(n_curves, 1)  # a run's levels differ, so there are as many at least
    if n_own > 1 and n_curves <= _MANY * n_own:
        return ""
    n_groups = len(frame[[column for column in units if column != run]].drop_duplicates())
    n_levels = len(np.unique(rows.level))
    if n_own == 1 and n_levels > 1 and n_curves > n_groups:
        return f"each of its {n_curves} runs has one training level, of {n_levels}"
    if n_levels > 1 and n_curves > _MANY * n_levels * n_groups:
        return f"it has {n_curves} runs of {n_levels} training levels"
    return ""
