"""Sources that are no more than names: which files a package leaves, in any format, and what its columns are.

To add one, add a declaration here and a case to `FORMS` of tests/readers/test_forms.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pandas as pd

from xcurves.readers import logs
from xcurves.readers.formats import could_be_log, format_of, read_rows
from xcurves.readers.log_files import Run
from xcurves.readers.logs import Source
from xcurves.readers.open_files import LogError


def of_files(*patterns: str, having: str = "", in_format: str = "") -> Callable[[Path], bool]:
    """Return a function that says whether a path ends like one of these patterns, `*` for any name.

    With `having`, a file of that name must stand beside; with `in_format`, its content must be of that format.
    """
    depths = [pattern.count("/") + 1 for pattern in patterns]

    def is_log(path: Path) -> bool:
        ends = ["/".join(path.parts[-depth:]) for depth in depths]
        named = any(map(fnmatch, ends, patterns))
        beside = not having or (path.parent / having).is_file()
        return named and beside and (not in_format or format_of(path) == in_format)

    return is_log


def joined_by(step: str, *, headless: Sequence[str] = ()) -> Callable[[Sequence[Path]], Run]:
    """Return a reader of the files of a run, joined by a column.

    `headless` names the first columns of files without a header; the last is named like its file.
    """

    def read_run(files: Sequence[Path]) -> Run:
        read = [read_rows(path) for path in files]
        tables = [_named(run.rows, path, headless) for run, path in zip(read, files, strict=True)]
        merged = tables[0]
        for table, path in zip(tables[1:], files[1:], strict=True):
            merged = _join(merged, table, step, path)
        units = {name: unit for table in tables for name, unit in table.attrs.get("units", {}).items()}
        merged.attrs = {"units": units}
        if step in merged:
            merged = logs.merge_steps(merged, step)
        return Run(merged, "; ".join(run.left_out for run in read if run.left_out))

    return read_run


def _named(rows: pd.DataFrame, path: Path, headless: Sequence[str]) -> pd.DataFrame:
    """Return rows with names for columns that have none."""
    if list(rows) != [str(number) for number in range(rows.shape[1])]:
        return rows
    first = headless or ("epoch", "step")[-(rows.shape[1] - 1) :]
    if len(first) != rows.shape[1] - 1:
        raise LogError(f"{path} has {rows.shape[1]} columns and no names. Write names of columns in its first line")
    metric = path.name.removesuffix(".gz").rpartition(".")[0]
    return rows.set_axis([*first, metric], axis=1)


def _join(one: pd.DataFrame, other: pd.DataFrame, step: str, path: Path) -> pd.DataFrame:
    keys = [name for name in other if name in one and name in (step, "epoch", "iter")]
    if step not in keys:
        raise LogError(
            f"{path} has no column {step!r} as others of its run have. Name the one log of each run: names=..."
        )
    twice = [name for name in other if name in one and name not in keys]
    if twice:
        raise LogError(
            f"{path} has {twice[0]!r}, as another log of its run. Name the one log of each run: "
            f"names='{{algorithm}}/{{run}}/{path.name}'"
        )
    if one[keys].duplicated().any() or other[keys].duplicated().any():
        return pd.concat([one, other], ignore_index=True)
    return one.merge(other, how="outer", on=keys, sort=True)


def _any_rows(files: Sequence[Path]) -> Run:
    path = logs.only(files)
    read = read_rows(path)
    rows = _named(read.rows, path, ())
    for step in ("step", "global_step", "iteration", "iter", "epoch"):
        if step in rows:
            return Run(logs.merge_steps(rows, step), read.left_out)
    return Run(rows, read.left_out)


def _is_mmengine(path: Path) -> bool:
    return path.name == "scalars.json" and path.parent.name == "vis_data"


def _is_rows(path: Path) -> bool:
    return format_of(path) not in ("", "text lines")


DREAMER = Source(
    "dreamerv3",
    "DreamerV3 logs",
    of_files("metrics.jsonl"),
    joined_by("step"),
    logs="metrics.jsonl",
    value="episode/score",
    also_writes=("tensorboard",),
)
SPINNINGUP = Source(
    "spinningup",
    "Spinning Up logs",
    of_files("progress.txt"),
    joined_by("Epoch"),
    logs="progress.txt, with tabs",
    training="TotalEnvInteracts",
    units={"TotalEnvInteracts": "steps", "Time": "s"},
)
TORCHRL = Source(
    "torchrl",
    "TorchRL CSV logs",
    of_files("scalars/*.csv"),
    joined_by("step", headless=("step",)),
    logs="scalars/METRIC.csv of (step, value), without a header",
    units={"step": "steps"},
)
D3RLPY = Source(
    "d3rlpy",
    "d3rlpy logs",
    lambda path: path.name != "progress.csv" and of_files("*.csv", having="params.json")(path),
    joined_by("step", headless=("epoch", "step")),
    logs="METRIC.csv of (epoch, step, value) beside params.json",
    units={"step": "steps", "epoch": "epochs"},
)
MMENGINE = Source(
    "mmengine",
    "MMEngine scalars",
    _is_mmengine,
    joined_by("step"),
    logs="vis_data/scalars.json",
    also_writes=("tensorboard",),
)
DETECTRON2 = Source(
    "detectron2",
    "Detectron2 metrics",
    of_files("metrics.json", in_format="JSON lines"),
    joined_by("iteration"),
    logs="metrics.json of lines with iteration",
    training="iteration",
    also_writes=("tensorboard",),
)
CATBOOST = Source(
    "catboost",
    "CatBoost errors",
    of_files("test_error.tsv"),
    joined_by("iter"),
    logs="catboost_info/test_error.tsv",
    training="iter",
    also_writes=("tensorboard",),
)
ROWS = Source(
    "rows",
    "rows of any format",
    _is_rows,
    _any_rows,
    logs="delimited text, JSON lines, JSON, parquet or npz with a row for each score",
    below=could_be_log,
    file_names_run=True,
    training=None,
)
DECLARED = (DREAMER, SPINNINGUP, TORCHRL, D3RLPY, MMENGINE, DETECTRON2, CATBOOST)
