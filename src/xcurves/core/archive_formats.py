"""The formats of archives: Datasets by group, to and from netCDF files and zarr stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import xarray as xr

from xcurves.core.archive_safety import SizeLimit, check_hdf5, check_netcdf3, check_zarr
from xcurves.core.atomic_write import one_line
from xcurves.core.cf_attributes import protect, restore
from xcurves.core.checksum import check_file, check_store, seal_file, seal_store, store_files

Engine = Literal["scipy", "h5netcdf", "netcdf4", "zarr"]
ArchiveGroups = dict[str, xr.Dataset]

_INSTALL = "Install it: pip install 'xcurves[io]'"
_BEGINS: dict[bytes, Engine] = {b"CDF\x01": "scipy", b"CDF\x02": "scipy", b"\x89HDF": "h5netcdf"}


def groups_of(data: xr.Dataset | xr.DataTree) -> ArchiveGroups:
    """Return the Datasets of an archive by path, without the encoding of the files that they were read from."""
    if isinstance(data, xr.Dataset):
        return {"/": data.drop_encoding()}
    return {node.path: node.to_dataset(inherit=False).drop_encoding() for node in data.subtree}


def engine_to_write(path: Path, *, is_tree: bool) -> Engine:
    """Return the engine that writes an archive at a path."""
    if path.suffix == ".zarr":
        if not _has("zarr"):
            raise ImportError(f"path {str(path)!r} needs zarr. {_INSTALL}")
        return "zarr"
    if is_tree and not engines():
        raise ImportError(f"path {str(path)!r}: a tree needs h5netcdf and h5py. {_INSTALL}")
    return (engines() or ["scipy"])[0]


def engines() -> list[Engine]:
    """Return the engines for netCDF-4 that are installed; h5py checks their files."""
    modules: dict[Engine, str] = {"netcdf4": "netCDF4", "h5netcdf": "h5netcdf"}  # the faster first
    return [engine for engine, module in modules.items() if _has(module) and _has("h5py")]


def _has(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # a module that is None in sys.modules
        return False


def write_groups(groups: ArchiveGroups, part: Path, engine: Engine, path: Path) -> None:
    """Write an archive, read it back, and refuse it if anything changed."""
    stored = {name: protect(dataset) for name, dataset in groups.items()}
    cure = "Use text and plain numbers, or another format"
    errors = (TypeError, ValueError, LookupError, NotImplementedError)
    with one_line(errors, path, f"cannot be written by {engine}", cure):
        if engine == "zarr":
            part.mkdir()
            xr.DataTree.from_dict(stored).to_zarr(part, zarr_format=2, consolidated=True)
            seal_store(part)
        else:
            _write_netcdf(stored, part, engine)
            seal_file(part)
    changed = next(_changes(groups, read_groups(part, max_bytes=2**62)), None)
    if changed is not None:
        raise ValueError(f"path {str(path)!r}: {changed} would not be the same when read again. {cure}")


def _write_netcdf(groups: ArchiveGroups, part: Path, engine: Literal["scipy", "h5netcdf", "netcdf4"]) -> None:
    try:
        if len(groups) > 1 and engine != "scipy":
            xr.DataTree.from_dict(groups).to_netcdf(part, engine=engine)
        else:
            groups["/"].to_netcdf(part, engine=engine)
    except RuntimeError as error:  # so both libraries say that a disk is full
        if "HDF" not in str(error) and "errno" not in str(error):
            raise
        raise OSError(f"{error}; the disk may be full") from error


def _changes(groups: ArchiveGroups, back: ArchiveGroups) -> Iterator[str]:
    """Yield what differs between what was written and what is read; values of lazy variables are not compared."""
    yield from (f"group {name!r}" for name in groups.keys() ^ back.keys())
    for group, dataset in groups.items():
        other = back[group]
        where = f" in group {group!r}" if group != "/" else ""
        yield from _changed_attrs(dataset.attrs, other.attrs, where)
        yield from (f"coordinate {name!r}{where}" for name in set(dataset.coords) ^ set(other.coords))
        yield from (f"variable {name!r}{where}" for name in set(dataset.variables) ^ set(other.variables))
        for name, variable in dataset.variables.items():
            found = other.variables[name]
            yield from _changed_attrs(variable.attrs, found.attrs, f" of {name!r}{where}")
            same = (variable.dims, variable.shape) == (found.dims, found.shape)
            if not same or (variable.chunks is None and not variable.equals(found)):  # type: ignore[no-untyped-call]  # xarray's
                yield f"variable {name!r}{where}"


def _changed_attrs(attrs: Mapping[Any, Any], others: Mapping[Any, Any], where: str) -> Iterator[str]:
    for name in {**attrs, **others}:
        one, other = (held.get(name) for held in (attrs, others))
        same_text = isinstance(one, str) and one == other
        if not same_text and not xr.Dataset(attrs={"": one}).identical(xr.Dataset(attrs={"": other})):
            yield f"attrs[{name!r}]{where}, {attrs.get(name)!r},"


def read_groups(path: Path, *, max_bytes: int | None) -> ArchiveGroups:
    """Return the Datasets of an archive by path, in memory."""
    engine = check_archive(path, max_bytes=max_bytes)
    if engine == "scipy":
        return {"/": restore(xr.load_dataset(BytesIO(path.read_bytes()), engine="scipy", decode_times=False))}
    options: dict[str, Any] = {"consolidated": False} if engine == "zarr" else {}
    tree = xr.open_datatree(path, engine=engine, decode_times=False, **options)
    try:
        return {node.path: restore(node.to_dataset(inherit=False).load()) for node in tree.subtree}
    finally:
        tree.close()


def check_archive(path: Path, *, max_bytes: int | None = None, lazy: bool = False) -> Engine:
    """Check that a file or store is safe and its checksums match, and return the engine that reads it."""
    if not path.exists():
        raise FileNotFoundError("it does not exist")
    if path.is_dir():
        return _check_store(path, max_bytes, lazy=lazy)
    with path.open("rb") as opened:
        begins = opened.read(4)
    if begins not in _BEGINS:
        raise ValueError("it does not begin as a netCDF file does" if begins else "it is empty")
    if not lazy:
        check_file(path)
    limit = SizeLimit(path.stat().st_size, max_bytes, lazy=lazy)
    if _BEGINS[begins] == "scipy":  # netCDF4 would read the missing end of a cut file as zeros
        check_netcdf3(path, limit)
        return "scipy"
    if not engines():
        raise ImportError(f"path {str(path)!r} is a netCDF-4 file, which needs h5netcdf and h5py. {_INSTALL}")
    check_hdf5(path, limit)
    return engines()[0]


def _check_store(path: Path, max_bytes: int | None, *, lazy: bool) -> Engine:
    if not is_store(path):
        raise ValueError(
            "it is a folder but no zarr store; for a folder with a file for each run: archive.open_dataset"
        )
    if not _has("zarr"):
        raise ImportError(f"path {str(path)!r} is a zarr store, which needs zarr. {_INSTALL}")
    check_zarr(path, SizeLimit(sum(each.lstat().st_size for _, each in store_files(path)), max_bytes, lazy=lazy))
    check_store(path, digests=not lazy)
    return "zarr"


def is_store(folder: Path) -> bool:
    """Return whether a folder is a zarr store."""
    return any((folder / name).exists() for name in (".zgroup", ".zmetadata", "zarr.json"))
