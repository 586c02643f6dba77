"""Tables in CSV files: one for all runs, or one for each run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from xcurves.readers import csvfile, paths
from xcurves.readers.source import Source


def rows(path: str | Path, *, folders: str | Sequence[str] = paths.FOLDERS) -> pd.DataFrame:
    r"""Read a CSV file, plain or compressed by gzip, or one of each run below a folder.

    Parameters
    ----------
    path : path
        The file, whose first line names the columns; or a folder, in which each run has a folder with one file.
    folders : str or sequence of str
        Column for each level of folders below `path`, such as ``("task", "algorithm", "run")``.

    Returns
    -------
    DataFrame
        The rows, as ``pandas.read_csv`` reads them, after what the folders say. A column of whole numbers stays text
        where two texts in it are one number, such as run ids ``01`` and ``1``.

    Raises
    ------
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If a file is empty, damaged or no UTF-8, if a column is named twice, if a row has more or fewer fields than the
        header, or if `folders` does not fit.

    Warns
    -----
    UserWarning
        If the last line of a file has no line end: it may be cut short.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xcurves.readers import table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "returns.csv"
    >>> _ = path.write_text("algorithm,run,step,return\nsac,01,0,1.5\nsac,1,0,2.5\n")
    >>> table.rows(path)["run"].tolist()
    ['01', '1']
    """
    frame = paths.read_runs(path, csvfile.is_table, "CSV files", folders, _run)
    frame.attrs = {"source": f"CSV {paths.where(path)}"}
    return frame


def _run(files: Sequence[Path]) -> paths.Run:
    path = paths.only(files)
    data = csvfile.read_bytes(path)
    return paths.Run(csvfile.parse(data, path), csvfile.missing_end(data, path))


SOURCE = Source(
    "table",
    "a table of scores (.csv, .csv.gz), or a folder of them",
    csvfile.is_table,
    rows,
    by_folders=True,
    training="training",
)
