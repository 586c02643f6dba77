"""Metrics that the CSVLogger of Lightning wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from xcurves.readers import csvfile, paths
from xcurves.readers.source import Source


def logged_metrics(root: str | Path, *, folders: str | Sequence[str] = paths.FOLDERS) -> pd.DataFrame:
    r"""Read all ``metrics.csv`` of Lightning below a folder, in which each run has a folder.

    Parameters
    ----------
    root : path
        Folder of the runs' folders, or one file. For ``lightning_logs/version_0/metrics.csv`` the folder of the run is
        ``version_0``.
    folders : str or sequence of str
        Column for each level of folders below `root`, such as ``("algorithm", "run")``.

    Returns
    -------
    DataFrame
        One row per run and step: the folders, `epoch`, `step`, and the metrics. Lightning writes training and
        validation metrics in separate rows; rows of one step are merged. A metric that was not logged at a step is NaN
        there, and the step is no training level of it.

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
    >>> from xcurves.readers import lightning
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> (root / "cnn" / "0").mkdir(parents=True)
    >>> text = "epoch,step,train_loss,val_loss\n0,49,0.5,\n0,49,,0.7\n1,99,0.4,\n"
    >>> _ = (root / "cnn" / "0" / "metrics.csv").write_text(text)
    >>> lightning.logged_metrics(root)
      algorithm  run  epoch  step  train_loss  val_loss
    0       cnn    0      0    49         0.5       0.7
    1       cnn    0      1    99         0.4       NaN
    """
    frame = paths.read_runs(root, _is_log, "metrics.csv of Lightning", folders, _run)
    frame.attrs = {"units": {"step": "steps"}, "source": f"Lightning metrics {paths.where(root)}"}
    return frame


def _is_log(path: Path) -> bool:
    return path.name == "metrics.csv" and {"epoch", "step"} <= set(csvfile.header(path))


def _run(files: Sequence[Path]) -> paths.Run:
    rows, left_out = csvfile.read_log(paths.only(files))
    return paths.Run(paths.merge_steps(rows), left_out)


SOURCE = Source(
    "lightning",
    "a folder of Lightning's metrics.csv",
    _is_log,
    logged_metrics,
    by_folders=True,
    also_writes=("tensorboard",),
)
