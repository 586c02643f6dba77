"""Metrics of Keras: the History that ``fit`` returns, and the files of its CSVLogger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.readers import csvfile, paths
from xcurves.readers.histories import frames_of, join_histories
from xcurves.readers.source import Source


def fit_history(histories: Mapping[tuple[str, Any], Any]) -> pd.DataFrame:
    """Join the histories of runs.

    Parameters
    ----------
    histories : mapping
        From (algorithm, run) to what ``model.fit`` returned, or to its ``history`` (a dict of lists).

    Returns
    -------
    DataFrame
        One row per run and epoch: `algorithm`, `run`, `epoch` (from 0, as CSVLogger writes it), and the metrics.

    Raises
    ------
    TypeError
        If `histories` is no mapping from (algorithm, run) to histories.
    ValueError
        If a history has no epochs.

    Examples
    --------
    >>> from xcurves.readers import keras
    >>> frame = keras.fit_history({("cnn", 0): {"loss": [0.9, 0.5], "val_loss": [1.0, 0.7]}})
    >>> frame.curves.to_dataarray("val_loss", training="epoch").squeeze().to_numpy()
    array([1. , 0.7])
    """
    frames = frames_of(histories, _rows, of="epochs", example="('cnn', 0): model.fit(...)")
    frame = join_histories(frames)
    frame.attrs = {"units": {"epoch": "epochs"}, "source": f"Keras histories of {len(frames)} runs"}
    return frame


def _rows(key: tuple[str, Any], fitted: Any) -> pd.DataFrame:
    metrics = getattr(fitted, "history", fitted)
    if not isinstance(metrics, Mapping):
        raise TypeError(f"histories[{key!r}] must be what model.fit returned; got {type(fitted).__name__}")
    rows = pd.DataFrame({name: pd.Series(values) for name, values in metrics.items()})
    rows.insert(0, "epoch", getattr(fitted, "epoch", range(len(rows))))
    return rows


def csv_log(root: str | Path, *, folders: str | Sequence[str] = paths.FOLDERS) -> pd.DataFrame:
    r"""Read all files of CSVLogger below a folder, in which each run has a folder.

    Parameters
    ----------
    root : path
        Folder of the runs' folders, or one file, whatever its name.
    folders : str or sequence of str
        Column for each level of folders below `root`, such as ``("algorithm", "run")``.

    Returns
    -------
    DataFrame
        One row per run and epoch: the folders, `epoch` (from 0), and the metrics; NaN where CSVLogger wrote NA.

    Raises
    ------
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If a file is damaged, or if `folders` does not fit.

    Warns
    -----
    UserWarning
        If the last line of a file is cut short; it is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xcurves.readers import keras
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> (root / "cnn" / "0").mkdir(parents=True)
    >>> _ = (root / "cnn" / "0" / "training.csv").write_text("epoch,loss,val_loss\n0,0.9,NA\n1,0.5,0.7\n")
    >>> keras.csv_log(root)
      algorithm  run  epoch  loss  val_loss
    0       cnn    0      0   0.9       NaN
    1       cnn    0      1   0.5       0.7
    """
    frame = paths.read_runs(root, _is_log, "files of Keras's CSVLogger (epoch, loss, ...)", folders, _run)
    frame.attrs = {"units": {"epoch": "epochs"}, "source": f"Keras CSVLogger files {paths.where(root)}"}
    return frame


def _is_log(path: Path) -> bool:
    first, *metrics = csvfile.header(path) or [""]
    return first == "epoch" and "loss" in metrics and not {"step", "algorithm", "run"} & set(metrics)


def _run(files: Sequence[Path]) -> paths.Run:
    return csvfile.read_log(paths.only(files))


SOURCE = Source(
    "keras",
    "a folder of files of Keras's CSVLogger (.csv or .log)",
    _is_log,
    csv_log,
    by_folders=True,
    training="epoch",
    also_writes=("tensorboard",),
)
