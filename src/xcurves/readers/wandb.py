"""Weights & Biases: histories of runs from its API, and the CSV of a chart that it exports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.core.calls import names_options
from xcurves.core.names import numbered_runs, whole_numbers
from xcurves.core.refusal import Refusal
from xcurves.readers import in_memory, logs
from xcurves.readers.formats import delimited
from xcurves.readers.log_files import parsing
from xcurves.readers.open_files import read_bytes

__all__ = ["run_history"]  # others serve declarations of sources

# how W&B writes what JSON has no numbers for
_WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
_SAMPLES = 500
_BETWEEN = " - "
_BOUNDS = ("__MIN", "__MAX")
_GROUP = re.compile(r"[^:]+: .+")  # as a chart names a group, model: cnn


@names_options
def run_history(
    histories: Mapping[tuple[str, Any], pd.DataFrame | Iterable[Mapping[str, Any]]],
    *,
    samples: int = _SAMPLES,
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
    TypeError, ValueError
        If `histories` is no mapping from (algorithm, run) to histories, or a history has no rows.

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
    frame = in_memory.join_histories(histories, _rows, of="rows", example="('sac', 1): run.scan_history()")
    runs = frame.groupby(["algorithm", "run"], sort=False)
    sampled = [
        key
        for key, rows in runs
        if len(rows) == samples and ("_step" not in rows or (rows["_step"].diff().iloc[1:] != 1).any())
    ]
    what = f"{samples} rows with gaps in their steps, a sample. Get every row by run.scan_history()"
    logs.warn_first([f"{key}: {what}" for key in sampled])
    for name in frame.columns.difference(["algorithm", "run"]):
        if frame[name].dtype == object:
            frame[name] = frame[name].map(lambda each: _WORDS.get(each, each) if isinstance(each, str) else each)
            frame[name] = frame[name].infer_objects()
    frame.attrs = {
        "units": {name: "s" for name in ("_runtime", "_timestamp") if name in frame},
        "source": f"Weights & Biases histories of {len(histories)} runs",
    }
    return frame


def _rows(_: in_memory.Key, rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    if isinstance(rows, pd.DataFrame):
        return rows
    return pd.DataFrame(list(rows))


def read_chart(path: str | Path) -> pd.DataFrame:
    """Return a row per run and step: `name`, `step` (the first column), and metrics, of columns ``name - metric``."""
    path = Path(path)
    data = read_bytes(path)
    wide = delimited.parse(data, path, dtype=str, na_values=[])
    head = wide.columns.tolist()
    plain = [column for column in head[1:] if not column.endswith(_BOUNDS)]
    strange = [column for column in head[1:] if _BETWEEN not in column]
    if strange or not plain:
        raise Refusal(
            "path",
            (strange or head)[0][:60],
            f"{path} is no export of a chart: columns after the first must be 'run - metric'",
            "Export the chart as CSV",
        )
    missing_end = delimited.missing_end(data, path)
    if missing_end:
        provenance.warn(missing_end)
    with parsing(path, "export of a chart"):
        numbers = wide.replace({"": np.nan, **_WORDS}).apply(pd.to_numeric)
    scores = numbers.set_index(head[0])[plain]
    several = "points that stand for several scores (a group of runs, or sampled steps)"
    spread = [
        f"{path}: {column!r} has {several}"
        for column in plain
        if {column + bound for bound in _BOUNDS} <= set(head)
        and (numbers[column + _BOUNDS[0]] < numbers[column + _BOUNDS[1]]).any()
    ]
    scores.columns = pd.MultiIndex.from_tuples([tuple(column.rsplit(_BETWEEN, 1)) for column in plain])
    clash = {"name", "step", "algorithm", "run"} & set(scores.columns.get_level_values(1))
    if clash:
        raise Refusal(
            "path",
            str(path),
            f"{path}: the metric {min(clash)!r} has the name of a label",
            "Rename it in the first line",
        )
    logs.warn_first(spread, "columns")
    named = {name: scores[name] for name in scores.columns.unique(0)}
    frame: pd.DataFrame = pd.concat(named, names=["name", "step"]).dropna(how="all").reset_index()
    frame.attrs = {
        "long_name": {"step": head[0]},
        "source": f"Weights & Biases chart {path.name}",
    }
    names = frame["name"].drop_duplicates()
    if spread and names.str.fullmatch(_GROUP).all():
        raise Refusal(
            "path",
            str(path),
            f"{path}: {names.iloc[0]!r} is a group of runs, of which the chart has the mean and no run",
            "Take the grouping out of the chart and export it again",
        )
    labels = numbered_runs(names.tolist())
    # Names that Weights & Biases makes, dainty-sun-1, have words of their own each and say no algorithm.
    if labels is None or (len(labels) > 1 and labels["algorithm"].is_unique):
        return frame
    of_rows = labels.apply(whole_numbers).set_index(names.to_numpy()).loc[frame["name"]].reset_index(drop=True)
    split = pd.concat([of_rows, frame], axis=1)
    split.attrs = frame.attrs
    return split
