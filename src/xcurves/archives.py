"""Archives: curves, results and whole analyses in files, written whole or not at all, and read back identical."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
import xarray as xr

__all__ = ["read", "write"]

_ROOT = "root.nc"  # of a folder of netCDF files: the attrs of the whole; it also tells such a folder from others
_MODULES: dict[Literal["netcdf4", "h5netcdf"], tuple[str, ...]] = {
    "netcdf4": ("netCDF4",),
    "h5netcdf": ("h5netcdf", "h5py"),
}
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, RuntimeError, AttributeError, EOFError)  # of the engines
_ATTRS = (str, bytes, int, float, np.number, np.ndarray, list, tuple)
_ONE_AT_A_TIME = Lock()  # threads: the netCDF library crashes otherwise, and PID names the file beside
_INSTALL = "Install it: pip install 'xcurves[io]'"


def write(data: xr.Dataset | xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write an archive whole or not at all: one that was there stays as it was until the new one is complete.

    Parameters
    ----------
    data : Dataset or DataTree
        Curves, a result, or what `analyze` returned.
    path : str or path
        Where to. With the suffix ``.zarr`` a zarr store; without a suffix, for a tree, a folder with a netCDF-3 file
        for each group, which needs no more than the core; otherwise a netCDF file, which for a tree is netCDF-4.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    OSError
        If the folder is missing or cannot be written to, or if something is in the way: only files and archives are
        replaced, never other folders.
    ImportError
        If the format needs the extra ``io``.
    TypeError
        If `data` is something else, or has an attribute that is neither text nor a number, unless into a zarr store.

    Notes
    -----
    The archive is made beside its place, as ``.NAME.PID.part``, and then renamed, in one step for a file. A folder or
    zarr store is swapped in two: killed between them, a process leaves the old one whole as ``.NAME.PID.old``.

    Examples
    --------
    >>> import tempfile, xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> tree = scores.curves.analyze(include=["anova", "distribution"], rng=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = xcurves.archives.write(tree, f"{folder.name}/tictactoe")
    >>> sorted(file.name for file in path.iterdir())
    ['anova.nc', 'curves.nc', 'distribution.nc', 'root.nc']
    >>> xcurves.archives.read(path).identical(tree)
    True
    >>> folder.cleanup()
    """
    if not isinstance(data, xr.Dataset | xr.DataTree):
        raise TypeError(
            f"data must be a Dataset or DataTree; got {type(data).__name__}. Of an array: da.to_dataset(name='score')"
        )
    path = Path(path)
    is_folder = path.suffix == ".zarr" or (isinstance(data, xr.DataTree) and not path.suffix)
    put_whole(path, lambda beside: _write(data, path, beside, is_folder=is_folder), is_folder=is_folder)
    return path


def put_whole(path: Path, make: Callable[[Path], object], *, is_folder: bool = False) -> None:
    """Have something made beside its place, then put it there: what was there stays until the new one is complete."""
    _check_place(path, is_folder=is_folder)
    beside, old = (path.with_name(f".{path.name}.{os.getpid()}.{kind}") for kind in ("part", "old"))
    with _ONE_AT_A_TIME:
        try:
            with _said((OSError,), path, "cannot be written", "Name a folder that you may write to and that has room"):
                make(beside)
                _put(beside, path, old)
        except BaseException:
            _remove(beside)
            raise
        _remove(old)


def holds_trees() -> bool:
    """Return whether a tree can be written as one netCDF file here, with the extra ``io``.

    Returns
    -------
    bool

    Examples
    --------
    >>> import xcurves
    >>> suffix = ".nc" if xcurves.archives.holds_trees() else ""
    """
    return bool(_engines())


def read(path: str | os.PathLike[str]) -> xr.Dataset | xr.DataTree:
    """Read an archive into memory, times and training in the units that were written.

    Parameters
    ----------
    path : str or path
        A netCDF file, a zarr store (with or without consolidated metadata), or a folder that `write` made.

    Returns
    -------
    Dataset or DataTree
        A tree where there are groups.

    Raises
    ------
    FileNotFoundError
        If there is nothing.
    ValueError
        If it is no archive, or not a whole one.
    ImportError
        If the format needs the extra ``io``.

    Examples
    --------
    >>> import tempfile, xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = xcurves.archives.write(scores, f"{folder}/curves.nc")
    ...     xcurves.archives.read(path).identical(scores)
    True
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"path {str(path)!r} does not exist. Name a netCDF file, a zarr store or a folder of them"
        )
    with (
        _ONE_AT_A_TIME,
        _said(_UNREADABLE, path, "is no archive that can be read whole", "Write it again, or name another"),
    ):
        groups = _folder_groups(path) if path.is_dir() else _file_groups(path)
        return xr.DataTree.from_dict(groups) if len(groups) > 1 else groups["/"]


def _check_place(path: Path, *, is_folder: bool) -> None:
    """Refuse a place where an archive cannot be put, or that something else has."""
    if not path.parent.is_dir():
        raise NotADirectoryError(f"path {str(path)!r}: there is no folder {path.parent}. Make it, or name another")
    if path.is_dir() and not is_folder:
        raise IsADirectoryError(f"path {str(path)!r} is a folder. Name a file in it")
    if is_folder and path.exists() and not (path.is_dir() and _is_archive(path)):
        raise FileExistsError(f"path {str(path)!r} holds something else; only an archive is replaced. Name another")


def _is_archive(folder: Path) -> bool:
    """Return whether a folder has nothing that replacing it would lose but an archive."""
    entries = list(folder.iterdir())
    of_files = (folder / _ROOT).exists() and all(each.is_dir() or each.suffix == ".nc" for each in entries)
    return not entries or of_files or _is_zarr(folder)


def _is_zarr(folder: Path) -> bool:
    return any((folder / name).exists() for name in (".zgroup", "zarr.json"))


def _write(data: xr.Dataset | xr.DataTree, path: Path, beside: Path, *, is_folder: bool) -> None:
    """Write an archive beside its path, in the format that the path has."""
    groups = _groups_of(data)
    if path.suffix != ".zarr":
        _check_attrs(groups)
    if is_folder:
        beside.mkdir()
    if path.suffix == ".zarr":
        if not _has("zarr"):
            raise ImportError(f"path {str(path)!r} needs zarr. {_INSTALL}")
        xr.DataTree.from_dict(groups).to_zarr(beside, zarr_format=2, consolidated=True)
    elif isinstance(data, xr.Dataset):
        groups["/"].to_netcdf(beside, engine=_engines()[0]) if _engines() else _write_classic(groups["/"], beside)
    elif path.suffix:
        if not _engines():
            raise ImportError(
                f"path {str(path)!r}: one netCDF file of several groups needs h5netcdf or netCDF4. {_INSTALL}, or name "
                f"a folder: {str(path.with_suffix(''))!r}"
            )
        xr.DataTree.from_dict(groups).to_netcdf(beside, engine=_engines()[0])
    else:
        for name, dataset in groups.items():
            file = beside / f"{name.strip('/') or _ROOT.removesuffix('.nc')}.nc"
            file.parent.mkdir(parents=True, exist_ok=True)
            _write_classic(dataset, file)


def _groups_of(data: xr.Dataset | xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the Datasets of an archive by path, without what another archive recorded of its own encoding."""
    if isinstance(data, xr.Dataset):
        return {"/": data.drop_encoding()}
    return {node.path: node.to_dataset(inherit=False).drop_encoding() for node in data.subtree}


def _check_attrs(groups: dict[str, xr.Dataset]) -> None:
    """Refuse attrs that netCDF cannot hold."""
    for dataset in groups.values():
        for owner, attrs in {
            "": dataset.attrs,
            **{f" of {k!r}": each.attrs for k, each in dataset.variables.items()},
        }.items():
            for name, value in attrs.items():
                if isinstance(value, bool | np.bool_) or not isinstance(value, _ATTRS):
                    raise TypeError(
                        f"attrs[{name!r}]{owner} is {value!r}, which netCDF cannot hold. Say it as text or a number, "
                        "or write a .zarr"
                    )


def _write_classic(dataset: xr.Dataset, file: Path) -> None:
    cure = (
        "It takes Latin letters in names, and in attrs one text or numbers below 2**31; other formats need the extra io"
    )
    with _said((TypeError, ValueError, LookupError), file, "cannot be written as netCDF-3", cure):
        dataset.to_netcdf(file, engine="scipy")


def _put(beside: Path, path: Path, old: Path) -> None:
    """Put what was written in its place."""
    if not path.is_dir():
        beside.replace(path)
        return
    path.rename(old)
    try:
        beside.rename(path)
    except BaseException:
        old.rename(path)
        raise


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _folder_groups(folder: Path) -> dict[str, xr.Dataset]:
    """Return the Datasets of a zarr store or of a folder of netCDF files."""
    if _is_zarr(folder):
        if not _has("zarr"):
            raise ImportError(f"path {str(folder)!r} is a zarr store, which needs zarr. {_INSTALL}")
        return _load(folder, "zarr", consolidated=False)
    if not (folder / _ROOT).exists():
        raise ValueError(f"a folder without {_ROOT} is no zarr store and nothing that was written here")
    files = {file.relative_to(folder).with_suffix("").as_posix(): file for file in sorted(folder.rglob("*.nc"))}
    root = files.pop(_ROOT.removesuffix(".nc"))
    return {"/": _file_groups(root)["/"]} | {f"/{name}": _file_groups(file)["/"] for name, file in files.items()}


def _file_groups(file: Path) -> dict[str, xr.Dataset]:
    """Return the Datasets of a netCDF file."""
    with file.open("rb") as opened:
        begins = opened.read(4)
    if not begins:
        raise ValueError("it is empty")
    if begins in (b"CDF\x01", b"CDF\x02"):  # not by netCDF4, which takes what a cut file lacks for zeros
        return {"/": xr.load_dataset(BytesIO(file.read_bytes()), engine="scipy", decode_times=False)}
    if begins not in (b"\x89HDF", b"CDF\x05"):
        raise ValueError("it does not begin as a netCDF file does")
    if not _engines():
        raise ImportError(f"path {str(file)!r} is a netCDF-4 file, which needs h5netcdf or netCDF4. {_INSTALL}")
    return _load(file, _engines()[0])


def _load(path: Path, engine: str, **options: Any) -> dict[str, xr.Dataset]:
    tree = xr.open_datatree(path, engine=engine, decode_times=False, **options)
    try:
        return {node.path: node.to_dataset(inherit=False).load() for node in tree.subtree}
    finally:
        tree.close()


def _engines() -> list[Literal["netcdf4", "h5netcdf"]]:
    """Return the engines for netCDF-4 that are installed."""
    return [engine for engine, modules in _MODULES.items() if all(map(_has, modules))]


def _has(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True


@contextmanager
def _said(errors: tuple[type[Exception], ...], path: Path, what: str, cure: str) -> Iterator[None]:
    """Turn what went wrong inside a library into one line that names the path."""
    try:
        yield
    except ImportError:
        raise
    except errors as error:
        kind = next((kind for kind in (PermissionError, OSError) if isinstance(error, kind)), ValueError)
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise kind(f"path {str(path)!r} {what}: {reason}. {cure}") from error
