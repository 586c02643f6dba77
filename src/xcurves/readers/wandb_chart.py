"""The CSV of a chart that Weights & Biases exports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.readers import csvfile, paths
from xcurves.readers.source import Source
from xcurves.readers.wandb import WORDS

_BETWEEN = " - "
NAME = r"(?P<algorithm>.+)[-_ ](?P<run>\d+)"
_BOUNDS = ("__MIN", "__MAX")


def chart(path: str | Path) -> pd.DataFrame:
    r"""Read the CSV that a line chart exports: a column of steps, and columns ``name - metric`` for every run.

    Parameters
    ----------
    path : path
        The exported file.

    Returns
    -------
    DataFrame
        One row per run and step: `name` (of the run, or of a group), `step` (the chart's first column), and the
        metrics. Where all names are an algorithm and a number, such as ``sac-1``, they are split into `algorithm` and
        `run`; other names by :func:`split_names`. A chart shows at most some hundreds or thousands of points of a run:
        prefer `wandb.run_history` with ``run.scan_history()``.

    Raises
    ------
    ValueError
        If the file is empty, cut short or no export of a chart, or if two runs have one name.

    Warns
    -----
    UserWarning
        If minimum and maximum of a point differ: it stands for several scores (of a group of runs, or of neighbouring
        steps). If the last line has no line end and may be cut short.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xcurves.readers import wandb_chart
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "export.csv"
    >>> _ = path.write_text('"Step","sac-1 - return","td3-1 - return"\n"0","1.5",""\n"10","2.5","3.5"\n')
    >>> wandb_chart.chart(path)
      algorithm  run   name  step  return
    0       sac    1  sac-1     0     1.5
    1       sac    1  sac-1    10     2.5
    2       td3    1  td3-1    10     3.5
    """
    path = Path(path)
    data = csvfile.read_bytes(path)
    wide = csvfile.parse(data, path, dtype=str, keep_default_na=False)
    head = wide.columns.tolist()
    strange = [column for column in head[1:] if _BETWEEN not in column]
    if strange or len(head) < 2:
        raise ValueError(
            f"{path} is no export of a chart: columns after the first must be 'run - metric'; "
            f"got {(strange or head)[0]!r}. Export the chart as CSV"
        )
    if missing_end := csvfile.missing_end(data, path):
        provenance.warn(missing_end)
    try:
        numbers = wide.replace({"": np.nan, **WORDS}).apply(pd.to_numeric)
    except ValueError as error:
        raise ValueError(f"{path}: {error}. Correct it, or export the chart again") from None
    pointwise = [column for column in head[1:] if not column.endswith(_BOUNDS)]
    _warn_of_means(path, numbers, pointwise)
    keys = {column: tuple(column.rsplit(_BETWEEN, 1)) for column in pointwise}
    steps = numbers[head[0]]
    names, metrics = (list(dict.fromkeys(parts)) for parts in zip(*keys.values(), strict=True))
    runs = [
        pd.DataFrame({"name": name, "step": steps} | {m: numbers[c] for c, (n, m) in keys.items() if n == name})
        for name in names
    ]
    frame = pd.concat(runs, ignore_index=True).dropna(subset=metrics, how="all", ignore_index=True)
    frame.attrs = {"long_name": {"step": head[0]}, "source": f"Weights & Biases chart {path.name}"}
    return split_names(frame, NAME) if frame["name"].str.fullmatch(NAME).all() else frame


def split_names(frame: pd.DataFrame, pattern: str) -> pd.DataFrame:
    r"""Split the names of runs into columns.

    Parameters
    ----------
    frame : DataFrame
        What `chart` returned, or any other with a column `name`: ``readers.read("runs", folders=("name",))``.
    pattern : str
        Regular expression of whole names, with a named group for each column: ``(?P<algorithm>.+)-seed(?P<run>\d+)``.

    Returns
    -------
    DataFrame
        The same rows, after a column for each group; whole numbers as numbers, where each is written in one way.

    Raises
    ------
    ValueError
        If a name does not match.

    Examples
    --------
    >>> import pandas as pd
    >>> from xcurves.readers import wandb_chart
    >>> frame = pd.DataFrame({"name": ["sac-seed1", "sac-seed2"], "step": 0, "return": [1.5, 2.5]})
    >>> wandb_chart.split_names(frame, r"(?P<algorithm>.+)-seed(?P<run>\d+)")[["algorithm", "run", "return"]]
      algorithm  run  return
    0       sac    1     1.5
    1       sac    2     2.5
    """
    parts = frame["name"].str.extract(f"^(?:{pattern})$")
    strange = frame["name"][parts.isna().any(axis=1)]
    if len(strange):
        raise ValueError(
            f"names of runs: {strange.iloc[0]!r} does not match {pattern}. Say how they are made: "
            "(?P<algorithm>...)(?P<run>...)"
        )
    kept = frame.drop(columns=[name for name in parts if name in frame])
    split = pd.concat([parts.apply(paths.whole_numbers), kept], axis=1)
    split.attrs = frame.attrs
    return split


def _warn_of_means(path: str | Path, numbers: pd.DataFrame, columns: list[str]) -> None:
    bounded = [column for column in columns if {column + bound for bound in _BOUNDS} <= set(numbers)]
    low, high = (numbers[[column + bound for column in bounded]].to_numpy() for bound in _BOUNDS)
    provenance.warn_of(
        np.asarray((low < high).any(axis=0)),
        [f"{path}: {column!r}" for column in bounded],
        lambda _: " has points that stand for several scores (a group of runs, or sampled steps)",
        "columns",
    )


def _is_log(path: Path) -> bool:
    head = csvfile.header(path)
    return len(head) > 1 and all(_BETWEEN in column for column in head[1:])


SOURCE = Source("wandb-chart", "a CSV file of a chart of Weights & Biases", _is_log, chart, single=True)
