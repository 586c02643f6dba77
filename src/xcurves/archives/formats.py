"""The formats of archives: Datasets by group, to and from netCDF files, folders of them, and zarr stores."""

from __future__ import annotations

from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.archives.places import said

Groups = dict[str, xr.Dataset]

_ROOT = "root.nc"  # of a folder of netCDF files: the attrs of the whole; it also tells such a folder from others
_MODULES: dict[Literal["netcdf4", "h5netcdf"], tuple[str, ...]] = {
    "netcdf4": ("netCDF4",),
    "h5netcdf": ("h5netcdf", "h5py"),
}
_ATTRS = (str, bytes, int, float, np.number, np.ndarray, list, tuple)
_INSTALL = "Install it: pip install 'xcurves[io]'"


def is_folder(data: xr.Dataset | xr.DataTree, path: Path) -> bool:
    """Return whether an archive at a path is a folder, a zarr store or one of netCDF files, and not one file."""
    return path.suffix == ".zarr" or (isinstance(data, xr.DataTree) and not path.suffix)


def is_archive(folder: Path) -> bool:
    """Return whether a folder has nothing that replacing it would lose but an archive."""
    entries = list(folder.iterdir())
    of_files = (folder / _ROOT).exists() and all(each.is_dir() or each.suffix == ".nc" for each in entries)
    return not entries or of_files or _is_zarr(folder)


def _is_zarr(folder: Path) -> bool:
    return any((folder / name).exists() for name in (".zgroup", "zarr.json"))


def write(data: xr.Dataset | xr.DataTree, path: Path, beside: Path) -> None:
    """Write an archive beside its path, in the format that the path has."""
    groups = _groups_of(data)
    if path.suffix == ".zarr":
        _write_zarr(groups, path, beside)
        return
    _check_attrs(groups)
    if isinstance(data, xr.Dataset):
        groups["/"].to_netcdf(beside, engine=engines()[0]) if engines() else _write_classic(groups["/"], beside)
    elif path.suffix:
        _write_tree(groups, path, beside)
    else:
        _write_folder(groups, beside)


def _groups_of(data: xr.Dataset | xr.DataTree) -> Groups:
    """Return the Datasets of an archive by path, without what another archive recorded of its own encoding."""
    if isinstance(data, xr.Dataset):
        return {"/": data.drop_encoding()}
    return {node.path: node.to_dataset(inherit=False).drop_encoding() for node in data.subtree}


def _check_attrs(groups: Groups) -> None:
    """Refuse attrs that netCDF cannot hold."""
    for dataset in groups.values():
        owners = {"": dataset} | {f" of {name!r}": variable for name, variable in dataset.variables.items()}
        for whose, owner in owners.items():
            for name, value in owner.attrs.items():
                if isinstance(value, bool | np.bool_) or not isinstance(value, _ATTRS):
                    raise TypeError(
                        f"attrs[{name!r}]{whose} is {value!r}, which netCDF cannot hold. Say it as text or a number, "
                        "or write a .zarr"
                    )


def _write_zarr(groups: Groups, path: Path, beside: Path) -> None:
    beside.mkdir()
    if not _has("zarr"):
        raise ImportError(f"path {str(path)!r} needs zarr. {_INSTALL}")
    xr.DataTree.from_dict(groups).to_zarr(beside, zarr_format=2, consolidated=True)


def _write_tree(groups: Groups, path: Path, beside: Path) -> None:
    if not engines():
        raise ImportError(
            f"path {str(path)!r}: one netCDF file of several groups needs h5netcdf or netCDF4. {_INSTALL}, or name "
            f"a folder: {str(path.with_suffix(''))!r}"
        )
    xr.DataTree.from_dict(groups).to_netcdf(beside, engine=engines()[0])


def _write_folder(groups: Groups, beside: Path) -> None:
    for name, dataset in groups.items():
        file = beside / f"{name.strip('/') or _ROOT.removesuffix('.nc')}.nc"
        file.parent.mkdir(parents=True, exist_ok=True)
        _write_classic(dataset, file)


def _write_classic(dataset: xr.Dataset, file: Path) -> None:
    cure = (
        "It takes Latin letters in names, and in attrs one text or numbers below 2**31; other formats need the extra io"
    )
    with said((TypeError, ValueError, LookupError), file, "cannot be written as netCDF-3", cure):
        dataset.to_netcdf(file, engine="scipy")


def read(path: Path) -> Groups:
    """Return the Datasets of an archive by path, in memory."""
    return _of_folder(path) if path.is_dir() else _of_file(path)


def _of_folder(folder: Path) -> Groups:
    """Return the Datasets of a zarr store or of a folder of netCDF files."""
    if _is_zarr(folder):
        if not _has("zarr"):
            raise ImportError(f"path {str(folder)!r} is a zarr store, which needs zarr. {_INSTALL}")
        return _load(folder, "zarr", consolidated=False)
    if not (folder / _ROOT).exists():
        raise ValueError(f"a folder without {_ROOT} is no zarr store and nothing that was written here")
    files = {file.relative_to(folder).with_suffix("").as_posix(): file for file in sorted(folder.rglob("*.nc"))}
    root = files.pop(_ROOT.removesuffix(".nc"))
    return {"/": _of_file(root)["/"]} | {f"/{name}": _of_file(file)["/"] for name, file in files.items()}


def _of_file(file: Path) -> Groups:
    """Return the Datasets of a netCDF file."""
    with file.open("rb") as opened:
        begins = opened.read(4)
    if not begins:
        raise ValueError("it is empty")
    if begins in (b"CDF\x01", b"CDF\x02"):  # not by netCDF4, which takes what a cut file lacks for zeros
        return {"/": xr.load_dataset(BytesIO(file.read_bytes()), engine="scipy", decode_times=False)}
    if begins not in (b"\x89HDF", b"CDF\x05"):
        raise ValueError("it does not begin as a netCDF file does")
    if not engines():
        raise ImportError(f"path {str(file)!r} is a netCDF-4 file, which needs h5netcdf or netCDF4. {_INSTALL}")
    return _load(file, engines()[0])


def _load(path: Path, engine: str, **options: Any) -> Groups:
    tree = xr.open_datatree(path, engine=engine, decode_times=False, **options)
    try:
        return {node.path: node.to_dataset(inherit=False).load() for node in tree.subtree}
    finally:
        tree.close()


def engines() -> list[Literal["netcdf4", "h5netcdf"]]:
    """Return the engines for netCDF-4 that are installed."""
    return [engine for engine, modules in _MODULES.items() if all(map(_has, modules))]


def _has(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True
