"""Archives: curves, results and whole analyses in files that are written whole and read back identical."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.archive_formats import (
    DIGEST,
    ArchiveGroups,
    Engine,
    check_storable,
    engine_to_read,
    engine_to_write,
    is_store,
    load_groups,
    open_groups,
    write_groups,
)
from xcurves.core.atomic_write import FILE_LOCK, atomic_write, check_place, one_line
from xcurves.core.provenance import warn_of
from xcurves.core.validation import check_choice, check_path

__all__ = ["open_dataset", "read", "write"]

_UNWRITABLE = (TypeError, ValueError, LookupError, NotImplementedError)
_CURE = "Write it again, or name another"
_LAST = ("algorithm", "run")  # dims
_LABELS = (*_LAST, "task")
_IN_PATH = re.compile(r"([A-Za-z_]\w*)=([^=,/]+)")


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
    The archive is made in a temporary folder beside its path, its names, attributes and text are read back and compared
    with `data`, and it is renamed in one step. A process that is killed leaves the old archive whole, and the temporary
    folder ``.NAME.*.part``. If the path is a symbolic link, its target is replaced. Lazy data are computed once.

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
        with one_line(_UNWRITABLE, path, f"cannot be written by {engine}", "Use text and numbers, or another format"):
            write_groups(groups, part, engine)

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
            return DIGEST in opened.attrs
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
    groups = _opened(path, load_groups, max_bytes=max_bytes)
    return xr.DataTree.from_dict(groups) if len(groups) > 1 else groups["/"]


def _opened(path: Path, opener: Callable[..., ArchiveGroups], **options: Any) -> ArchiveGroups:
    """Return the Datasets of an archive by group."""
    with FILE_LOCK, one_line(Exception, path, "cannot be read as a complete archive", _CURE):
        if not path.exists():
            raise FileNotFoundError("it does not exist")
        return opener(path, **options)


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
        As `read`; if `chunks` are asked for and dask is not installed; if a file of a folder has no label or differs
        from the others in variables, dims, units or the attribute ``experiment``, or if two files hold the same run.

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
        check_choice("engine", engine, get_args(Engine))
    if chunks is not None and find_spec("dask") is None:
        raise ImportError("chunks= needs dask. Install it: pip install 'xcurves[dask]'")
    if path.is_dir() and not is_store(path):
        combined = _combine_run_files(path, partial(_open, engine=engine, chunks=None if chunks is None else {}))
        opened = combined.chunk(chunks) if chunks else combined
    else:
        opened = _open(path, engine=engine, chunks=chunks)
    if chunks is None:
        _warn_of_empty_runs(opened, path)
    return opened


def _open(path: Path, *, engine: Engine | None, chunks: str | Mapping[str, int] | None) -> xr.Dataset:
    opener = load_groups if chunks is None else partial(open_groups, chunks=chunks)
    opened = _opened(path, opener, engine=engine)["/"]
    opened.attrs.pop(DIGEST, None)
    if not opened.variables:
        raise ValueError(f"path {str(path)!r} holds no variable outside groups. For a tree: archive.read(path)")
    index = opened["run"].to_index() if "run" in opened.dims and "run" in opened.coords else None
    if index is not None and not index.is_unique:
        raise ValueError(f"path {str(path)!r}: run {index[index.duplicated()].tolist()[0]!r} is in it twice. {_CURE}")
    return opened


def _warn_of_empty_runs(data: xr.Dataset, path: Path) -> None:
    """Warn of runs without any value, such as one whose write to a zarr store was stopped."""
    by_run = data[[name for name, each in data.data_vars.items() if "run" in each.dims]]
    if "run" not in data.coords or not by_run.data_vars:
        return
    counts = by_run.count([dim for dim in by_run.dims if dim != "run"])
    empty = (counts.to_array() == 0).all("variable").to_numpy()
    names = [f"{path}: run {name}" for name in labels.words(data["run"])]
    said = " has no value and counts as absent. If its write was stopped, write it again"
    warn_of(empty, names, lambda _: said, "runs")


def _combine_run_files(folder: Path, read: Callable[[Path], xr.Dataset]) -> xr.Dataset:
    """Return the runs of all files of a folder, joined along their labels."""
    in_paths = _labels_in_paths(folder)
    files = {name: _with_labels(read(folder / name), folder / name, labels) for name, labels in in_paths.items()}
    first, *_ = files
    usual = _description(files[first])
    for name, data in files.items():
        for what, found in _description(data).items():
            if found != usual[what]:
                said = f"its {what}: {found}; of {first}: {usual[what]}. Move it to another folder"
                raise ValueError(f"path {str(folder / name)!r}: {said}")
    labelled = {str(dim) for dim in files[first].dims if dim in files[first].coords} - {"training"}
    dims = sorted(labelled, key=lambda dim: (dim in _LAST, dim))
    _check_no_run_is_twice(folder, files, dims)
    combined = _join_files(folder, list(files.values()), dims).transpose(*dims, ...)
    closing = ExitStack()
    for data in files.values():
        closing.enter_context(data)
    combined.set_close(closing.close)
    return combined


def _labels_in_paths(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the labels in the path of each file; a label is a number if it is a whole one in all: 01 and 1 differ."""
    found = (path.relative_to(folder) for suffix in (".nc", ".zarr") for path in folder.rglob(f"*{suffix}"))
    hidden_or_within = re.compile(r"(^|/)\.|\.zarr/")
    names = sorted(name for name in (path.as_posix() for path in found) if not hidden_or_within.search(name))
    if not names:
        raise ValueError(f"path {str(folder)!r} is no zarr store and has no .nc file and no .zarr store. Name another")
    labels = {name: dict(_IN_PATH.findall(name.removesuffix(Path(name).suffix))) for name in names}
    pairs = {pair for each in labels.values() for pair in each.items()}
    texts = {label for label, value in pairs if not re.fullmatch("0|[1-9][0-9]*", value)}
    for each in labels.values():
        for label in each.keys() - texts:
            each[label] = int(each[label])
    return labels


def _with_labels(data: xr.Dataset, path: Path, in_path: dict[str, Any]) -> xr.Dataset:
    """Return the Dataset of a file with its labels as dims."""
    for dim in dict.fromkeys([*_LABELS, *in_path]):
        found = [in_path[dim]] if dim in in_path else []
        if dim in _LABELS and dim in data.attrs:
            found += np.ravel(data.attrs.pop(dim)).tolist()
        if dim in data.coords:
            found += data[dim].to_numpy().ravel().tolist()
        needs_one = bool(found) and (dim not in data.dims or dim in in_path)
        if needs_one and len({str(label) for label in found}) > 1:
            raise ValueError(
                f"path {str(path)!r}: its path, attributes and coordinates differ in {dim}: {found[0]!r} and "
                f"{found[-1]!r}. Rename it"
            )
        if found and dim not in data.dims:
            data = data.drop_vars(dim, errors="ignore").expand_dims({dim: found[-1:]})
    lacks = [dim for dim in _LAST if dim not in data.dims or dim not in data.coords]
    if lacks:
        raise ValueError(
            f"path {str(path)!r}: no coordinate, attribute or part of its path says its {lacks[0]}. Rename it to "
            "something like algorithm=sac,run=3.nc"
        )
    return data


def _description(data: xr.Dataset) -> dict[str, str]:
    """Return a description that is the same for all files of one experiment."""
    variables = sorted(data.data_vars.items(), key=lambda item: str(item[0]))
    labels = [(str(dim), data[dim]) for dim in sorted(map(str, data.dims)) if dim in data.coords]
    return {
        "experiment": str(data.attrs.get("experiment", "not named")),
        "variables": ", ".join(str(name) for name, _ in variables),
        "dims": ", ".join(f"{name} {sorted(map(str, values.dims))}" for name, values in variables),
        "labels": ", ".join(f"{dim} of {'text' if each.dtype.kind in 'OUST' else 'numbers'}" for dim, each in labels),
        "units": ", ".join(f"{name} {each.attrs.get('units', 'none')}" for name, each in [*variables, *labels]),
    }


def _check_no_run_is_twice(folder: Path, files: dict[str, xr.Dataset], dims: Sequence[str]) -> None:
    owners: dict[tuple[Any, ...], str] = {}
    for name, data in files.items():
        for run in product(*(data[dim].to_numpy().tolist() for dim in dims)):
            if owners.setdefault(run, name) != name:
                both = ", ".join(f"{dim} {label!r}" for dim, label in zip(dims, run, strict=True))
                raise ValueError(f"path {str(folder)!r}: {owners[run]} and {name} both hold {both}. Remove one of them")


def _join_files(folder: Path, files: Sequence[xr.Dataset], dims: Sequence[str]) -> xr.Dataset:
    """Join files along the first of the dims, after those with the same labels are joined along the others."""
    if len(files) == 1:
        return files[0]
    groups: dict[tuple[Any, ...], list[xr.Dataset]] = {}
    for data in files:
        groups.setdefault(tuple(data[dims[0]].to_numpy().tolist()), []).append(data)
    parts = [_join_files(folder, groups[labels], dims[1:]) for labels in sorted(groups)]
    if len(parts) == 1:
        return parts[0]
    labels = [label for each in groups for label in each]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(
            f"path {str(folder)!r}: some files hold {dims[0]} {twice!r} alone and some with others. Write one file for "
            f"each {dims[0]}"
        )
    options: dict[str, Any] = {"data_vars": "all", "coords": "different", "compat": "equals", "join": "outer"}
    return xr.concat(parts, dims[0], combine_attrs="drop_conflicts", **options)
