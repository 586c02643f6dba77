"""Histories of runs from the API of Weights & Biases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core import provenance

WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}  # how W&B writes what JSON has no numbers for
_SAMPLES = 500


def history(
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
    >>> frame = wandb.history({("sac", 1): rows})
    >>> frame.curves.to_dataarray("return", training="_step").squeeze().to_numpy()
    array([1., 4.])
    """
    if not isinstance(histories, Mapping) or not all(isinstance(key, tuple) and len(key) == 2 for key in histories):
        raise TypeError(
            "histories must map (algorithm, run) to histories; got "
            f"{type(histories).__name__}. Name them: {{('sac', 1): run.scan_history()}}"
        )
    frames = {key: _rows(rows) for key, rows in histories.items()}
    empty = [key for key, rows in frames.items() if rows.empty]
    if empty or not frames:
        raise ValueError(f"histories have no rows{f' of {empty[0]}' if empty else ''}. Leave such runs out")
    sampled = np.array([len(rows) == samples and _has_gaps(rows) for rows in frames.values()])
    provenance.warn_of(
        sampled,
        list(map(str, frames)),
        lambda _: f": {samples} rows with gaps in their steps, a sample. Get every row by run.scan_history()",
        "runs",
    )
    labelled = [rows.assign(algorithm=algorithm, run=run) for (algorithm, run), rows in frames.items()]
    frame = pd.concat(labelled, ignore_index=True)
    for name in frame.columns.difference(["algorithm", "run"]):
        if frame[name].dtype == object:
            frame[name] = frame[name].map(_number).infer_objects()
    frame = frame[["algorithm", "run", *frame.columns.difference(["algorithm", "run"], sort=False)]]
    frame.attrs = {
        "units": {name: "s" for name in ("_runtime", "_timestamp") if name in frame},
        "source": f"Weights & Biases histories of {len(frames)} runs",
    }
    return frame


def _rows(rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))


def _has_gaps(rows: pd.DataFrame) -> bool:
    return "_step" not in rows or bool((rows["_step"].diff().iloc[1:] != 1).any())


def _number(value: object) -> object:
    return WORDS.get(value, value) if isinstance(value, str) else value
