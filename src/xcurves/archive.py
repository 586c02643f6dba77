"""Archives: curves, results and whole analyses in files that are written whole and read back identical."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.archive_formats import check_archive, engine_to_write, groups_of, is_store, read_groups, write_groups
from xcurves.core.atomic_write import FILE_LOCK, atomic_write, check_place, one_line, read_unchanged
from xcurves.core.cf_attributes import check_storable, restore
from xcurves.core.checksum import is_own_file, is_own_store
from xcurves.core.labels import words
from xcurves.core.provenance import warn_of
from xcurves.core.run_files import combine_run_files
from xcurves.core.validation import check_path

__all__ = ["open_dataset", "read", "write"]

_UNREADABLE = (OSError, ValueError, TypeError, LookupError, RuntimeError, AttributeError, EOFError, MemoryError)
_CURE = "Write it again, or name another"


def write(data: xr.Dataset | xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write an archive whole or not at all.

    Parameters
    ----------
    data : Dataset or DataTree
        Curves, a result, or what `analyze` returned.
    path : str or path
        With the suffix ``.zarr`` a zarr store, otherwise a netCDF file. A Dataset needs no extra: without the extra
        ``io`` it becomes netCDF-3. A tree is netCDF-4 or zarr and needs the extra ``io``.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    FileExistsError
        If the path holds anything that `write` did not write. Only its own archives and empty folders are replaced.
    OSError
        If the folder is missing or cannot be written to.
    ImportError
        If the format needs the extra ``io``.
    TypeError
        If `data` is something else, holds dates or durations, or has an attribute that is neither text nor a number.
    ValueError
        If a name, an attribute or a value would not be the same after reading.

    Notes
    -----
    The archive is made next to its path, as ``.NAME.HOST.PID.part``, read back, compared with `data`, and renamed: in
    one step for a file, in two for a zarr store. A process that is stopped leaves the old archive whole; the next
    writer removes its part files. If the path is a symbolic link, its target is replaced.

    The archive has checksums: `read` refuses it if a byte changed or a file is missing. Attributes that readers of
    netCDF interpret, such as ``scale_factor``, are stored as ``xcurves_literal_scale_factor``, and `read` restores
    them.

    Examples
    --------
    >>> import tempfile, xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = xcurves.archive.write(scores, f"{folder}/curves.nc")
    ...     xcurves.archive.read(path).identical(scores)
    True
    """
    if not isinstance(data, xr.Dataset | xr.DataTree):
        raise TypeError(
            f"data must be a Dataset or DataTree; got {type(data).__name__}. Convert: da.to_dataset(name='score')"
        )
    path = check_path(path)
    groups = groups_of(data)
    check_storable(groups)
    engine = engine_to_write(path, is_tree=isinstance(data, xr.DataTree))
    options = _place_options(path)
    atomic_write(path, lambda part: write_groups(groups, part, engine, path), **options)
    return path


def check_writable(path: Path, *, is_tree: bool) -> None:
    """Refuse a path where `write` would refuse to write."""
    engine_to_write(path, is_tree=is_tree)
    check_place(path, **_place_options(path))


def read(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> xr.Dataset | xr.DataTree:
    """Read an archive into memory, times and training in the units that were written.

    Parameters
    ----------
    path : str or path
        A netCDF file or a zarr store, written by `write` or by others.
    max_bytes : int, optional
        The largest size in memory. By default 256 MB or 100 times the size of the file, whichever is larger.

    Returns
    -------
    Dataset or DataTree
        A tree where there are groups.

    Raises
    ------
    FileNotFoundError
        If the path does not exist.
    OSError
        If it cannot be read, if another process replaces it again and again, or if the process that wrote it was
        stopped between its two renames of a zarr store: the message names the folder that has the archive.
    ValueError
        If it is no archive or an incomplete one, if a checksum does not match, if it holds links, codecs that may run
        code or groups within themselves, or if its variables are larger than `max_bytes`.
    ImportError
        If the format needs the extra ``io``.

    See Also
    --------
    open_dataset : Open lazily, or a folder with a file for each run.

    Notes
    -----
    Files that others wrote have no checksum: only damage that their format shows is refused.

    Examples
    --------
    >>> import tempfile, xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> tree = scores.curves.analyze(include=["anova", "distribution"], rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = xcurves.archive.write(tree, f"{folder}/tictactoe.zarr")
    ...     xcurves.archive.read(path).identical(tree)
    True
    """
    path = check_path(path)
    with FILE_LOCK, one_line(_UNREADABLE, path, "cannot be read as a complete archive", _CURE):
        groups = read_unchanged(path, partial(read_groups, max_bytes=max_bytes))
    return xr.DataTree.from_dict(groups) if len(groups) > 1 else groups["/"]


def open_dataset(
    path: str | os.PathLike[str], *, engine: str | None = None, chunks: str | Mapping[str, int] | None = None
) -> xr.Dataset:
    """Open a file, a zarr store that may have grown along `run`, or a folder with a file for each run or task.

    Parameters
    ----------
    path : str or path
        A netCDF file, a zarr store, or a folder whose ``.nc`` files and ``.zarr`` stores, also in its subfolders,
        hold one run each, or one task each. The labels `algorithm`, `run` and `task` of a file are its dims, its scalar
        coordinates, its attributes, or parts of its path such as ``task=hopper/algorithm=sac,run=3.nc``, where other
        names are dims as well.
    engine : {"scipy", "h5netcdf", "netcdf4", "zarr"}, optional
        How xarray reads. By default what the first bytes of each file say.
    chunks : "auto" or mapping from dim to size, optional
        Open lazily, as dask arrays of these chunks; ``{}`` for one chunk a file. By default all is read into memory,
        and checksums are checked.

    Returns
    -------
    Dataset
        Runs of different lengths have NaN where they have no level: see `align`.

    Raises
    ------
    FileNotFoundError, OSError, ValueError, ImportError
        As `read`; and if no file of a folder can be used, if two files hold the same run, or if it is not clear
        which files belong together.

    Warns
    -----
    UserWarning
        If files of the folder are left out, which it names: they cannot be read, have no label, or differ
        from most in variables, dims, units, labels or the attribute ``experiment``. If a run that is read into memory
        has no value.

    Examples
    --------
    >>> import tempfile, xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for run in range(2):
    ...         path = xcurves.archive.write(scores.isel(run=[run]), f"{folder}/run={run}.nc")
    ...     xcurves.archive.open_dataset(folder)["score"].shape
    (3, 2, 8)
    """
    path = check_path(path)
    if engine not in (None, "scipy", "h5netcdf", "netcdf4", "zarr"):
        raise ValueError(
            f"engine must be 'scipy', 'h5netcdf', 'netcdf4' or 'zarr'; got {labels.shown(engine)}. Leave it out"
        )
    if path.is_dir() and not is_store(path):
        combined = combine_run_files(path, partial(_open, engine=engine, chunks=None if chunks is None else {}))
        return combined.chunk(chunks) if chunks else combined
    opened = _open(path, engine=engine, chunks=chunks)
    if chunks is None:
        _warn_of_empty_runs(opened, path)
    return opened


def _open(path: Path, *, engine: str | None, chunks: str | Mapping[str, int] | None) -> xr.Dataset:
    with FILE_LOCK, one_line(_UNREADABLE, path, "cannot be read as a complete archive", _CURE):
        found = check_archive(path, lazy=chunks is not None)
        options: dict[str, Any] = {"consolidated": False} if found == "zarr" else {}
        opened = xr.open_dataset(path, engine=engine or found, decode_times=False, chunks=chunks, **options)
        if not opened.variables:
            opened.close()
            raise ValueError("it holds no variable outside groups. For a tree: archive.read(path)")
        labels = opened["run"].to_index() if "run" in opened.dims and "run" in opened.coords else None
        if labels is not None and not labels.is_unique:
            opened.close()
            raise ValueError(f"run {labels[labels.duplicated()].tolist()[0]!r} is in it twice")
        return restore(opened if chunks is not None else opened.load())


def _warn_of_empty_runs(data: xr.Dataset, path: Path) -> None:
    """Warn of runs without any value, such as one whose write to a zarr store was stopped."""
    by_run = [data[name].isnull() for name in data.data_vars if "run" in data[name].dims]
    if "run" not in data.coords or not by_run:
        return
    empty = np.logical_and.reduce([each.all([dim for dim in each.dims if dim != "run"]) for each in by_run])
    names = words(data["run"])
    warn_of(
        empty,
        [f"{path}: run {name}" for name in names],
        lambda _: " has no value and counts as absent. If its write was stopped, write it again",
        "runs",
    )


def _place_options(path: Path) -> dict[str, Any]:
    is_folder = path.suffix == ".zarr"
    return {"is_own": is_own_store if is_folder else is_own_file, "is_folder": is_folder}
