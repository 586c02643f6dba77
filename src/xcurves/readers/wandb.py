"""Histories of runs from the API of Weights & Biases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.readers.histories import Key, frames_of, join_histories

WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}  # how W&B writes what JSON has no numbers for
_SAMPLES = 500


def run_history(
    histories: Mapping[tuple[str, Any], pd.DataFrame | Iterable[Mapping[str, Any]]], *, samples: int = _SAMPLES
) -> pd.DataFrame:
    """Join the histories of runs.

    Parameters
    ----------
    histories : mapping
        From (algorithm, run) to what ``run.scan_history()`` or ``run.history()`` of W&B's API returned.
    samples : int
        The number of rows that ``run.history(samples=...)`` was asked for.

    Returns
    -------
    DataFrame
        One row per run and logged step: `algorithm`, `run`, and the columns of the histories; `_step`, `_runtime`
        (s) and `_timestamp` (s) are W&B's own.

    Raises
    ------
    TypeError
        If `histories` is no mapping from (algorithm, run).
    ValueError
        If a history has no rows.

    Warns
    -----
    UserWarning
        If a history has just `samples` rows with gaps in their steps: it was sampled.

    Examples
    --------
    >>> from xcurves.readers import wandb
    >>> rows = [{"_step": 0, "return": 1.0}, {"_step": 10, "return": 4.0}]
    >>> frame = wandb.run_history({("sac", 1): rows})
    >>> frame.curves.to_dataarray("return", training="_step").squeeze().to_numpy()
    array([1., 4.])
    """
    frames = frames_of(histories, _rows, of="rows", example="('sac', 1): run.scan_history()")
    sampled = np.array([len(rows) == samples and _has_gaps(rows) for rows in frames.values()])
    provenance.warn_of(
        sampled,
        list(map(str, frames)),
        lambda _: f": {samples} rows with gaps in their steps, a sample. Get every row by run.scan_history()",
        "runs",
    )
    frame = join_histories(frames)
    for name in frame.columns.difference(["algorithm", "run"]):
        if frame[name].dtype == object:
            frame[name] = frame[name].map(_number).infer_objects()
    frame.attrs = {
        "units": {name: "s" for name in ("_runtime", "_timestamp") if name in frame},
        "source": f"Weights & Biases histories of {len(frames)} runs",
    }
    return frame


def _rows(_: Key, rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))


def _has_gaps(rows: pd.DataFrame) -> bool:
    return "_step" not in rows or bool((rows["_step"].diff().iloc[1:] != 1).any())


def _number(value: object) -> object:
    return WORDS.get(value, value) if isinstance(value, str) else value
