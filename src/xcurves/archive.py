"""Archives: curves, results and whole analyses in files that are written whole and read back identical."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, get_args

import numpy as np
import xarray as xr

from xcurves.archive_formats import (
    DIGEST,
    Engine,
    Groups,
    begins_as_netcdf,
    engine_to_write,
    is_store,
    load_groups,
    open_groups,
    write_groups,
)
from xcurves.core.atomic_write import FILE_LOCK, atomic_write, check_place, one_line
from xcurves.core.calls import names_options
from xcurves.core.refusal import Refusal, Text, WrongType, of_path
from xcurves.core.validation import check_choice, check_path

__all__ = ["open_dataset", "read", "write"]

_LAST = ("algorithm", "run")  # dims
_JOIN: dict[str, Any] = {
    "data_vars": "all",
    "coords": "different",
    "compat": "equals",
    "join": "outer",
    "combine_attrs": "drop_conflicts",
}
_IN_PATH = re.compile(r"([A-Za-z_]\w*)=([^=,/]+)")


@names_options
def write(data: xr.Dataset | xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write an archive whole or not at all.

    Parameters
    ----------
    data : Dataset or DataTree
        Curves, a result, or what `analyze` returned; lazy data are computed once.
    path : str or path
        With the suffix ``.zarr`` a zarr store, otherwise a netCDF file: netCDF-4, or without the extra ``io`` netCDF-3,
        which holds no tree.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    FileExistsError
        If the path holds anything but a netCDF file that `write` wrote. A zarr store is never replaced.
    OSError, ImportError
        If the folder is missing or cannot be written to, or the format needs the extra ``io``.
    TypeError, ValueError
        If `data` is something else, or a name, an attribute or a value would not be the same after reading.

    Notes
    -----
    The archive is made under the name ``.NAME.*.part``, its names, attributes and text are read back and compared, and
    it is renamed. The attribute `xcurves_digest` is a SHA-256 of all names, attributes and values. An attribute that
    readers of netCDF interpret, such as ``scale_factor``, is stored as ``xcurves_literal_scale_factor``.

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
        raise WrongType(
            "data",
            type(data),
            "must be a Dataset or DataTree",
            "Convert: da.to_dataset(name='score')",
        )
    path = check_path(path)
    engine = engine_to_write(path, is_tree=isinstance(data, xr.DataTree))
    nodes = {"/": data} if isinstance(data, xr.Dataset) else {n.path: n.to_dataset(inherit=False) for n in data.subtree}
    groups = {name: dataset.compute().drop_encoding() for name, dataset in nodes.items()}
    atomic_write(path, partial(write_groups, groups, engine), is_own=_is_own)
    return path


def check_writable(path: Path, *, is_tree: bool) -> None:
    """Refuse a path where `write` would refuse to write."""
    engine_to_write(path, is_tree=is_tree)
    check_place(path, is_own=_is_own)


def _is_own(path: Path) -> bool:
    """Return whether a file is an archive that `write` wrote."""
    if not begins_as_netcdf(path):
        return False
    # Mapped, not read: a large file of somebody else's takes no memory.
    with (
        path.open("rb") as opened,
        mmap(opened.fileno(), 0, access=ACCESS_READ) as content,
    ):
        return content.find(DIGEST.encode()) >= 0


@names_options
def read(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> xr.Dataset | xr.DataTree:
    """Read an archive into memory, times and training in the units that were written.

    Parameters
    ----------
    path : str or path
        A netCDF file or a zarr store, written by `write` or by others, whose files have no digest.
    max_bytes : int, optional
        The largest size in memory. By default 256 MB or 100 times the size of the file, whichever is larger.

    Returns
    -------
    Dataset or DataTree
        A tree where there are groups.

    Raises
    ------
    OSError, ValueError
        If it does not exist, is no archive or a damaged one, if a zarr store asks for codecs that may run code, or if
        its variables are larger than `max_bytes`.
    ImportError
        If the format needs the extra ``io``.

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
    groups = _groups(check_path(path), max_bytes=max_bytes)
    if len(groups) > 1:
        return xr.DataTree.from_dict(groups)
    return groups["/"]


def _groups(path: Path, *, chunks: Any = None, **options: Any) -> Groups:
    """Return the Datasets of an archive by group, in memory and verified unless chunks are given."""
    with (
        FILE_LOCK,
        one_line(
            path,
            "cannot be read as a complete archive",
            "Write it again, or name another",
        ),
    ):
        if chunks is None:
            return load_groups(path, **options)
        return open_groups(path, chunks=chunks, is_tree=False, **options)


@names_options
def open_dataset(
    path: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    chunks: str | Mapping[str, int] | None = None,
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
    OSError, ValueError, ImportError
        As `read`; if `chunks` are asked for and dask is not installed; if a file of a folder has no label or differs
        from the others in variables, dims, units or the attribute ``experiment``, or if two files hold the same run.

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
    if is_store(path) or not path.is_dir():
        return _open(path, engine=engine, chunks=chunks)
    # Each file is one chunk at first.
    of_file: dict[Any, Any] | None = None
    if chunks is not None:
        of_file = {}
    files = {}
    for name, in_path in _labels_in_paths(path).items():
        data = _open(path / name, engine=engine, chunks=of_file)
        files[name] = _with_labels(data, name, in_path)
    combined = _joined(files)
    if chunks:
        return combined.chunk(chunks)
    return combined


def _open(path: Path, **options: Any) -> xr.Dataset:
    opened = _groups(path, **options)["/"]
    opened.attrs.pop(DIGEST, None)
    if not opened.variables:
        raise Refusal(
            "path",
            str(path),
            Text(of_path(path), " holds no variable outside groups"),
            "For a tree: archive.read(path)",
        )
    return opened


def _labels_in_paths(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the labels in the path of each file; a label is a number if it is a whole one in all: 01 and 1 differ."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in (".nc", ".zarr"))
    # hidden, or within a store
    names = [name for name in names if not re.search(r"(^|/)\.|\.zarr/", name)]
    if not names:
        raise Refusal(
            "path",
            str(folder),
            Text(
                of_path(folder),
                " is no zarr store and has no .nc file and no .zarr store",
            ),
            "Name another",
        )
    labels: dict[str, dict[str, Any]] = {
        name: dict(_IN_PATH.findall(name.removesuffix(Path(name).suffix))) for name in names
    }
    texts = {
        dim for in_path in labels.values() for dim, label in in_path.items() if not re.fullmatch("0|[1-9][0-9]*", label)
    }
    for in_path in labels.values():
        for dim in in_path.keys() - texts:
            in_path[dim] = int(in_path[dim])
    return labels


def _with_labels(data: xr.Dataset, path: str, in_path: dict[str, Any]) -> xr.Dataset:
    """Return the Dataset of a file with its labels as dims."""
    for dim in dict.fromkeys([*_LAST, "task", *in_path]):
        if dim in data.dims and dim not in in_path:
            continue
        # The label may stand in several places, which must agree.
        labels = []
        if dim in in_path:
            labels.append(in_path[dim])
        if dim in (*_LAST, "task") and dim in data.attrs:
            labels += np.ravel(data.attrs.pop(dim)).tolist()
        if dim in data.coords:
            labels += data[dim].to_numpy().ravel().tolist()
        if len(set(map(str, labels))) > 1:
            both = f"{labels[0]!r} and {labels[-1]!r}"
            raise Refusal(
                "path",
                str(path),
                Text(
                    of_path(path),
                    f": path, attributes and coordinates differ in {dim}: {both}",
                ),
                "Rename it",
            )
        if labels and dim not in data.dims:
            data = data.drop_vars(dim, errors="ignore").expand_dims({dim: labels[-1:]})
    for dim in _LAST:
        if dim not in data.indexes:
            nothing = f"no coordinate, attribute or part of its path says its {dim}"
            raise Refusal(
                "path",
                str(path),
                Text(of_path(path), f": {nothing}"),
                "Rename it: algorithm=sac,run=3.nc",
            )
    return data


def _description(data: xr.Dataset) -> dict[str, str]:
    """Return what is the same in all files of one experiment."""
    told = {"experiment": str(data.attrs.get("experiment"))}
    for name in map(str, [*data.data_vars, *data.indexes]):
        told[f"dims of {name}"] = str(sorted(map(str, data[name].dims)))
        told[f"units of {name}"] = str(data[name].attrs.get("units"))
    # text or numbers
    return told | {f"labels of {dim}": str(data[dim].dtype.kind in "OUST") for dim in data.indexes}


def _joined(files: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Join the files of one experiment along their labels."""
    first, *_ = files
    usual = _description(files[first])
    dims = sorted(
        {*map(str, files[first].indexes)} - {"training"},
        key=lambda dim: (dim in _LAST, dim),
    )
    parts: dict[tuple[Any, ...], xr.Dataset] = {}
    for name, data in files.items():
        differ = sorted(dict(usual.items() ^ _description(data).items()))
        if differ:
            raise Refusal(
                "path",
                name,
                Text(of_path(name), f": its {', '.join(differ)} differ from {first}"),
                "Move it elsewhere",
            )
        labels = tuple(tuple(data[dim].to_numpy().tolist()) for dim in dims)
        if parts.setdefault(labels, data) is not data:
            other = next(each for each in files if files[each] is parts[labels])
            raise Refusal(
                "path",
                name,
                f"{other} and {name} both hold the same run",
                "Remove one of them",
            )
    # those that have the same labels along the dims before it
    for n, dim in reversed([*enumerate(dims)]):
        alike: dict[tuple[Any, ...], list[xr.Dataset]] = {}
        for labels in sorted(parts):
            alike.setdefault(labels[:n], []).append(parts[labels])
        parts = {labels: _concatenated(each, dim) for labels, each in alike.items()}
        for index in (joined.indexes[dim] for joined in parts.values()):
            if not index.is_unique:
                twice = index[index.duplicated()][0]
                both = f"some hold {dim} {twice!r} alone and some with others"
                raise Refusal("path", files, f"{', '.join(files)}: {both}", "Separate them")
    return parts[()].transpose(*dims, ...)


def _concatenated(parts: list[xr.Dataset], dim: str) -> xr.Dataset:
    """Return parts one after the other along a dim; to copy a single one would take time."""
    if len(parts) == 1:
        return parts[0]
    return xr.concat(parts, dim, **_JOIN)
