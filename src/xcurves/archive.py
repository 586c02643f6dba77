"""Archives: curves, results and whole analyses in files that are written whole and read back identical."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr

from xcurves.core import archive_content, labels
from xcurves.core.archive_content import check_storable, protect, restore
from xcurves.core.archive_formats import (
    Engine,
    engine_to_read,
    engine_to_write,
    is_store,
    load_groups,
    open_groups,
    write_groups,
)
from xcurves.core.atomic_write import FILE_LOCK, atomic_write, check_place, one_line
from xcurves.core.provenance import warn_of
from xcurves.core.run_files import combine_run_files
from xcurves.core.validation import check_choice, check_path

__all__ = ["open_dataset", "read", "write"]

_UNWRITABLE = (TypeError, ValueError, LookupError, NotImplementedError)
_CURE = "Write it again, or name another"
_ALLOWED = "Use text and plain numbers, or another format"
_ENGINES: tuple[Engine, ...] = ("scipy", "h5netcdf", "netcdf4", "zarr")


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
        If the path holds anything but a netCDF file that `write` wrote. A zarr store is never replaced.
    OSError
        If the folder is missing or cannot be written to.
    ImportError
        If the format needs the extra ``io``.
    TypeError
        If `data` is something else, holds dates, durations or categoricals, or has an attribute that is neither text
        nor a number.
    ValueError
        If a name, an attribute or a value would not be the same after reading.

    Notes
    -----
    The archive is made in a temporary folder beside its path, read back, compared with `data`, and renamed in one step.
    A process that is killed leaves the old archive whole, and the temporary folder ``.NAME.*.part``. If the path is a
    symbolic link, its target is replaced. Lazy data are computed once.

    The attribute `xcurves_digest` of the root is a SHA-256 of all names, attributes and values; `read` refuses an
    archive that differs from it. Attributes that readers of netCDF interpret, such as ``scale_factor``, are stored as
    ``xcurves_literal_scale_factor``, and `read` restores them.

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
    engine = engine_to_write(path, is_tree=isinstance(data, xr.DataTree))
    nodes = {"/": data} if isinstance(data, xr.Dataset) else {n.path: n.to_dataset(inherit=False) for n in data.subtree}
    check_storable(nodes)
    groups = {name: dataset.compute().drop_encoding() for name, dataset in nodes.items()}

    def make(part: Path) -> None:
        with one_line(_UNWRITABLE, path, f"cannot be written by {engine}", _ALLOWED):
            content = archive_content.content_of(groups)
            stored = {name: protect(dataset) for name, dataset in groups.items()}
            stored["/"].attrs[archive_content.NAME] = archive_content.digest_of(content)
            write_groups(stored, part, engine)
            read_back = load_groups(part, max_bytes=2**62, engine=engine)
        back = {name: restore(dataset) for name, dataset in read_back.items()}
        del back["/"].attrs[archive_content.NAME]
        found = archive_content.content_of(back)
        changed = sorted(name for name in {**content, **found} if content.get(name) != found.get(name))
        if changed:
            raise ValueError(f"path {str(path)!r}: {changed[0]} would not be the same when read again. {_ALLOWED}")

    atomic_write(path, make, is_own=_is_own, is_folder=path.suffix == ".zarr")
    return path


def check_writable(path: Path, *, is_tree: bool) -> None:
    """Refuse a path where `write` would refuse to write."""
    engine_to_write(path, is_tree=is_tree)
    check_place(path, is_own=_is_own, is_folder=path.suffix == ".zarr")


def _is_own(path: Path) -> bool:
    """Return whether a file is an archive that `write` wrote."""
    try:
        with xr.open_dataset(path, engine=engine_to_read(path), decode_cf=False) as opened:
            return archive_content.NAME in opened.attrs
    except Exception:
        return False


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
        If it cannot be read.
    ValueError
        If it is no archive or a damaged one, if a zarr store asks for codecs that may run code, or if its variables
        are larger than `max_bytes`.
    ImportError
        If the format needs the extra ``io``.

    See Also
    --------
    open_dataset : Open lazily, or a folder with a file for each run.

    Notes
    -----
    Files that others wrote have no digest: only damage that their format shows is refused.

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
    groups = _load(path, max_bytes)
    return xr.DataTree.from_dict(groups) if len(groups) > 1 else groups["/"]


def _load(path: Path, max_bytes: int | None = None, engine: Engine | None = None) -> dict[str, xr.Dataset]:
    """Return the Datasets of an archive by group, as they were written."""
    with FILE_LOCK, one_line(Exception, path, "cannot be read as a complete archive", _CURE):
        if not path.exists():
            raise FileNotFoundError("it does not exist")
        groups = {name: restore(each) for name, each in load_groups(path, max_bytes=max_bytes, engine=engine).items()}
        archive_content.check_digest(groups)
        return groups


def open_dataset(
    path: str | os.PathLike[str], *, engine: Engine | None = None, chunks: str | Mapping[str, int] | None = None
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
        Open lazily, as dask arrays of these chunks; ``{}`` for one chunk a file. Then digests are not checked. By
        default all is read into memory.

    Returns
    -------
    Dataset
        Runs of different lengths have NaN where they have no level: see `align`.

    Raises
    ------
    FileNotFoundError, OSError, ValueError, ImportError
        As `read`; and if a file of a folder has no label or differs from the others in variables, dims, units or the
        attribute ``experiment``, or if two files hold the same run.

    Warns
    -----
    UserWarning
        If a run that is read into memory has no value.

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
    if engine is not None:
        check_choice("engine", engine, _ENGINES)
    if path.is_dir() and not is_store(path):
        combined = combine_run_files(path, partial(_open, engine=engine, chunks=None if chunks is None else {}))
        opened = combined.chunk(chunks) if chunks else combined
    else:
        opened = _open(path, engine=engine, chunks=chunks)
    if chunks is None:
        _warn_of_empty_runs(opened, path)
    return opened


def _open(path: Path, *, engine: Engine | None, chunks: str | Mapping[str, int] | None) -> xr.Dataset:
    if chunks is None:
        opened = _load(path, engine=engine)["/"]
    else:
        with FILE_LOCK, one_line(Exception, path, "cannot be read as a complete archive", _CURE):
            opened = restore(open_groups(path, chunks=chunks, engine=engine)["/"])
            opened.attrs.pop(archive_content.NAME, None)
    if not opened.variables:
        raise ValueError(f"path {str(path)!r} holds no variable outside groups. For a tree: archive.read(path)")
    index = opened["run"].to_index() if "run" in opened.dims and "run" in opened.coords else None
    if index is not None and not index.is_unique:
        raise ValueError(f"path {str(path)!r}: run {index[index.duplicated()].tolist()[0]!r} is in it twice. {_CURE}")
    return opened


def _warn_of_empty_runs(data: xr.Dataset, path: Path) -> None:
    """Warn of runs without any value, such as one whose write to a zarr store was stopped."""
    by_run = [data[name].isnull() for name in data.data_vars if "run" in data[name].dims]
    if "run" not in data.coords or not by_run:
        return
    empty = np.logical_and.reduce([each.all([dim for dim in each.dims if dim != "run"]) for each in by_run])
    names = labels.words(data["run"])
    warn_of(
        empty,
        [f"{path}: run {name}" for name in names],
        lambda _: " has no value and counts as absent. If its write was stopped, write it again",
        "runs",
    )
