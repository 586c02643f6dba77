"""Trials of searches in several files: what they are is known when places have said whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from xcurves.core import provenance
from xcurves.core.doubts import Choice
from xcurves.core.known import SAMPLER, Known
from xcurves.core.names import TRIAL, is_fold
from xcurves.frames.path_levels import SETTINGS_ON_FOLDS
from xcurves.frames.reading import Doubt, Found, as_list, columns_typed, compared, repeats

_SO_FAR = ("lowest_value", "highest_value")


def are_settings_on_folds(frame: pd.DataFrame) -> bool:
    """Return whether rows are settings of searches, each on the same folds."""
    return TRIAL in frame and any(map(is_fold, frame)) and len(frame[TRIAL].unique()) > 1


def settled(frame: pd.DataFrame, known: Known, typed: Sequence[Any]) -> tuple[pd.DataFrame, Known]:
    """Return trials as what they are: of a search that is a run the best so far, of others runs.

    Settings that were tried on folds are runs only if that is `typed`.
    """
    if TRIAL not in frame or SAMPLER not in frame.attrs:
        return frame, known
    if are_settings_on_folds(frame):
        if TRIAL not in columns_typed(typed):
            del frame.attrs[SAMPLER]
        return frame, known
    if not {"value", *_SO_FAR} <= set(frame):
        return frame, known
    if "run" in frame:
        del frame.attrs[SAMPLER]
        frame.attrs["named_by"] = f"{frame.attrs.get('named_by', '')}; values are the best so far".removeprefix("; ")
        settings = [name for name in frame if str(name).startswith("params_")]
        return frame.drop(columns=["value", "state", *settings]), replace(known, score=None)
    return _as_runs(frame), known


def _as_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the trials that are complete as runs."""
    left_out = frame.loc[frame["state"] != "complete", "state"].value_counts()
    if len(left_out):
        rest = ", ".join(f"{count} {state}" for state, count in left_out.items())
        provenance.warn(f"trials without a result are left out: {rest}")
    kept = frame[frame["state"] == "complete"].drop(columns=list(_SO_FAR)).rename(columns={TRIAL: "run"})
    kept["run"] -= 1  # as Optuna numbers trials
    kept.attrs["n_pruned"] = int((frame["state"] == "pruned").sum())
    return kept.reset_index(drop=True)


def doubt_of_settings(found: Found) -> Doubt | None:
    """Return what to ask where searches tried several settings on the same folds."""
    if not found.matched or not are_settings_on_folds(found.frame) or TRIAL in found.used:
        return None
    if found.typed.get("duplicates", "raise") != "raise" or not repeats(found.frame, found.roles):
        return None
    counts = found.frame.groupby(found.keys("algorithm", "tasks"))[TRIAL].nunique()
    n_settings = f"{counts.min()} to {counts.max()}" if counts.min() < counts.max() else f"{counts.max()}"
    runs = [name for name in as_list(found.typed.get("run")) if not is_fold(name)]
    choices = []
    for reading, words in SETTINGS_ON_FOLDS:
        how = dict(reading)
        if "run" in how:
            how["run"] = [*runs, how["run"]]
        known = {role: columns for role, columns in how.items() if role == "run"}
        choices.append(Choice(how, f"{compared(found.frame, found.roles | known)}, {words}"))
    return Doubt({}, tuple(choices), f"has scores of {n_settings} settings of each search on the same folds")
