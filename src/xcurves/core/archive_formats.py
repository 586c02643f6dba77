"""Archives as files: Datasets by group in netCDF files and zarr stores, with a digest that is the same in every format.

Attributes that readers of netCDF interpret are stored under other names, so that no value changes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

Engine = Literal["scipy", "h5netcdf", "netcdf4", "zarr"]
ArchiveGroups = dict[str, xr.Dataset]

DIGEST, _BEGINS = "xcurves_digest", "sha256:"  # of the root's attribute: a flipped bit cannot hide both
_PREFIX = "xcurves_literal_"
_ACTED_ON = re.compile(  # the last five are of HDF5
    "add_offset|dtype|missing_value|scale_factor|valid_max|valid_min|valid_range|ancillary_variables|bounds|calendar"
    "|cell_measures|coordinates|formula_terms|grid_mapping|CLASS|DIMENSION_LABELS|DIMENSION_LIST|NAME|REFERENCE_LIST"
)
_STORED = (str, bytes, int, float, np.number, np.ndarray, list, tuple)
_NETCDF_4: tuple[Engine, ...] = ("netcdf4", "h5netcdf")  # the faster first
_NETCDF_3 = (b"CDF\x01", b"CDF\x02")  # the first bytes
_INSTALL = "Install it: pip install 'xcurves[io]'"
_LEAST, _RATIO = 2**28, 100  # bytes that any archive may take in memory, and times its size on disk
_CODECS = re.compile(  # those that run no code of the store
    "blosc|bz2|gzip|lz4|lzma|zlib|zstd|adler32|crc32|crc32c|fletcher32|bitround|bytes|delta|fixedscaleoffset|packbits"
    "|shuffle|transpose|sharding_indexed|vlen-bytes|vlen-utf8"
)
_CODEC_KEYS = ("compressor", "compressors", "filters", "serializer", "codecs", "index_codecs")


def engines() -> list[Engine]:
    """Return the engines for netCDF-4 that are installed, the faster first."""
    return [engine for engine in _NETCDF_4 if engine in xr.backends.list_engines()]


def engine_to_write(path: Path, *, is_tree: bool) -> Engine:
    """Return the engine that writes an archive at a path."""
    if path.suffix == ".zarr":
        return _zarr(path)
    if is_tree and not engines():
        raise ImportError(f"path {str(path)!r}: a tree needs netCDF4 or h5netcdf. {_INSTALL}")
    return (engines() or ["scipy"])[0]


def engine_to_read(path: Path) -> Engine:
    """Return the engine that reads what is at a path, by its first bytes."""
    if path.is_dir():
        if not is_store(path):
            raise ValueError(
                "it is a folder but no zarr store; for a folder with a file for each run: archive.open_dataset"
            )
        return _zarr(path)
    with path.open("rb") as opened:
        begins = opened.read(4)
    if begins in _NETCDF_3:
        return "scipy"
    if begins != b"\x89HDF":
        raise ValueError("it does not begin as a netCDF file does" if begins else "it is empty")
    if not engines():
        raise ImportError(f"path {str(path)!r} is a netCDF-4 file, which needs netCDF4 or h5netcdf. {_INSTALL}")
    return engines()[0]


def _zarr(path: Path) -> Engine:
    if "zarr" not in xr.backends.list_engines():
        raise ImportError(f"path {str(path)!r} is a zarr store, which needs zarr. {_INSTALL}")
    return "zarr"


def is_store(folder: Path) -> bool:
    """Return whether a folder is a zarr store."""
    return any((folder / name).exists() for name in (".zgroup", ".zmetadata", "zarr.json"))


def check_storable(groups: ArchiveGroups) -> None:
    """Refuse names, attributes and dtypes that an archive would not give back."""
    for path, dataset in groups.items():
        for name in [*filter(None, path.split("/")), *dataset.variables, *dataset.dims]:
            if not isinstance(name, str) or not name or name[0] == "." or "/" in name:
                raise ValueError(f"name {name!r} cannot be that of a group or variable in a file. Rename it")
        _check_attrs("", dataset.attrs)
        for name, variable in dataset.variables.items():
            _check_attrs(f" of {name!r}", variable.attrs)
            said, cure = f"variable {name!r} is {variable.dtype}, which", f"data[{name!r}]"
            if not isinstance(variable.dtype, np.dtype):
                raise TypeError(f"{said} no file keeps. Convert: {cure}.astype(str)")
            if variable.dtype.kind in "mM":
                cure += " / np.timedelta64(1, 's')" if variable.dtype.kind == "m" else ".astype(str)"
                raise TypeError(f"{said} a file holds as numbers of some unit. Convert it: {cure}")


def _check_attrs(whose: str, attrs: Mapping[Any, Any]) -> None:
    for name, value in attrs.items():
        if isinstance(value, bool | np.bool_) or not isinstance(value, _STORED):
            raise TypeError(f"attrs[{name!r}]{whose} is {value!r}, which netCDF cannot hold. Use text or a number")
        if not isinstance(value, str | bytes) and np.ndim(value) and np.size(value) == 1:
            raise ValueError(
                f"attrs[{name!r}]{whose} is {value!r}, which netCDF makes a scalar. Use {np.ravel(value)[0]}"
            )


def write_groups(groups: ArchiveGroups, part: Path, engine: Engine) -> None:
    """Write Datasets by group, with their digest; refuse what would not be the same when read again."""
    stored = {name: _rename(dataset, _protected) for name, dataset in groups.items()}
    stored["/"].attrs[DIGEST] = digest_of(content_of(groups))
    data: Any = stored["/"] if len(stored) == 1 else xr.DataTree.from_dict(stored)
    try:
        if engine == "zarr":
            data.to_zarr(part, zarr_format=2, consolidated=True)
        else:
            data.to_netcdf(part, engine=engine)
    except RuntimeError as error:  # so both libraries say that a disk is full
        if "HDF" not in str(error) and "errno" not in str(error):
            raise
        raise OSError(f"{error}; the disk may be full") from error
    back = open_groups(part, engine=engine, is_tree=len(groups) > 1)
    with back["/"]:
        del back["/"].attrs[DIGEST]
        # No engine changes a number; to read them back would take as long as to write them.
        given, found = content_of(groups, numbers=False), content_of(back, numbers=False)
    if changed := sorted(name for name, _ in given.items() ^ found.items()):
        raise ValueError(f"{changed[0]} would not be the same when read again")


def open_groups(path: Path, *, engine: Engine | None = None, chunks: Any = None, is_tree: bool = True) -> ArchiveGroups:
    """Open a file or store lazily, with dask if `chunks` are given: Datasets by group, as they were written."""
    engine = engine or engine_to_read(path)
    options: dict[str, Any] = {"engine": engine, "decode_times": False, "chunks": chunks}
    if engine == "zarr":
        _check_store(path)
        options["consolidated"] = (path / ".zmetadata").exists()
    source = BytesIO(path.read_bytes()) if engine == "scipy" and chunks is None else path
    # Looking for groups takes longer than opening the root.
    has_groups = is_tree and engine != "scipy"
    groups = xr.open_groups(path, **options) if has_groups else {"/": xr.open_dataset(source, **options)}
    return {name: _rename(dataset, lambda each, _: each.removeprefix(_PREFIX)) for name, dataset in groups.items()}


def load_groups(path: Path, *, max_bytes: int | None = None, **options: Any) -> ArchiveGroups:
    """Return the Datasets of a file or store in memory, if they take at most `max_bytes` there and are as written."""
    groups = open_groups(path, **options)
    with groups["/"]:  # of all groups
        files = path.rglob("*") if path.is_dir() else [path]
        limit = max(_LEAST, _RATIO * sum(each.stat().st_size for each in files)) if max_bytes is None else max_bytes
        total = sum(dataset.nbytes for dataset in groups.values())
        if total > limit:
            raise ValueError(
                f"its variables take {total} bytes, more than max_bytes={limit}; if the file is trusted, allow them: "
                f"max_bytes={total}"
            )
        groups = {name: dataset.load() for name, dataset in groups.items()}
    _check_digest(groups)
    return groups


def _check_store(folder: Path) -> None:
    """Refuse a zarr store that lacks metadata which it lists, or whose codecs may run code."""
    for path in folder.rglob("*"):
        if path.name not in (".zarray", ".zmetadata", "zarr.json"):
            continue
        metadata = json.loads(path.read_bytes())
        for each in _dicts(metadata):
            for found in filter(None, map(each.get, _CODEC_KEYS)):
                for codec in found if isinstance(found, list) else [found]:
                    named = codec.get("id", codec.get("name")) if isinstance(codec, dict) else codec
                    if not _CODECS.fullmatch(str(named).removeprefix("numcodecs.")):
                        name = path.relative_to(folder).as_posix()
                        only = "only codecs that run no code are decoded"
                        raise ValueError(f"{name} asks for the codec {named!r}; {only}")
        for listed in metadata["metadata"] if path.name == ".zmetadata" else ():
            if not (path.parent / listed).exists():
                raise ValueError(f"its file {listed} is missing")


def _dicts(metadata: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the metadata of arrays, consolidated ones too, without the attributes that users wrote."""
    if isinstance(metadata, dict):
        yield metadata
        for name, part in metadata.items():
            if name != "attributes" and not name.endswith(".zattrs"):
                yield from _dicts(part)
    for part in metadata if isinstance(metadata, list) else ():
        yield from _dicts(part)


def _protected(name: str, value: Any) -> str:
    is_date = name == "units" and isinstance(value, str) and "since" in value
    return f"{_PREFIX}{name}" if is_date or _ACTED_ON.fullmatch(name) or name.startswith(("_", _PREFIX)) else name


def _rename(dataset: xr.Dataset, renamed: Callable[[str, Any], str]) -> xr.Dataset:
    """Return a Dataset whose attributes have other names."""
    close, dataset = dataset.close, dataset.copy(deep=False)
    owners: list[xr.Dataset | xr.Variable] = [dataset, *dataset.variables.values()]
    for owner in owners:
        owner.attrs = {renamed(str(name), value): value for name, value in owner.attrs.items()}
    dataset.set_close(close)
    return dataset


def content_of(groups: ArchiveGroups, *, numbers: bool = True) -> dict[str, str]:
    """Return a digest of every group, variable and attribute, by the words that name it in a message.

    Without `numbers` the variables that hold numbers are not read.
    """
    content = {}
    for path, dataset in groups.items():
        where = "" if path == "/" else f" in group {path!r}"
        content[f"group {path!r}"] = ""
        content |= {f"attrs[{name!r}]{where}": _of_attr(value) for name, value in dataset.attrs.items()}
        for name, variable in dataset.variables.items():
            content[f"variable {name!r}{where}"] = _of_values(variable, name in dataset.coords, numbers)
            for each, value in variable.attrs.items():
                content[f"attrs[{each!r}] of {name!r}{where}"] = _of_attr(value)
    return content


def digest_of(content: Mapping[str, str]) -> str:
    """Return the digest of a whole archive."""
    return _BEGINS + hashlib.sha256(repr(sorted(content.items())).encode()).hexdigest()


def _check_digest(groups: ArchiveGroups) -> None:
    """Remove the digest from the attributes of the root, and refuse an archive that is not as it was written."""
    attrs = groups["/"].attrs
    marks = [name for name, value in attrs.items() if name == DIGEST or str(value).startswith(_BEGINS)]
    recorded = {name: attrs.pop(name) for name in marks}
    if recorded and recorded != {DIGEST: digest_of(content_of(groups))}:
        raise ValueError("its content is not what was written: it was damaged, or changed later")


def _of_values(variable: xr.Variable, is_coord: bool, numbers: bool) -> str:
    kind = variable.dtype.kind
    kind = "text" if kind in "OUST" else "int" if kind in "iu" else kind
    digest = hashlib.sha256(repr((is_coord, variable.dims, variable.shape, kind)).encode())
    if kind == "text":
        for value in variable.to_numpy().ravel().tolist():
            text = (value.decode() if isinstance(value, bytes) else str(value)).encode("utf-8", "surrogatepass")
            digest.update(f"{len(text)} {isinstance(value, str | bytes)} ".encode() + text)
    elif numbers:
        plain = variable.to_numpy().astype({"int": "<i8", "f": "<f8"}.get(kind, variable.dtype), copy=False)
        if kind == "f" and np.isnan(plain).any():
            plain = np.where(np.isnan(plain), np.nan, plain)  # of all NaNs one
        digest.update(np.ascontiguousarray(plain).data)
    return digest.hexdigest()


def _of_attr(value: Any) -> str:
    """Return an attribute as text: engines turn bytes into text, numbers into others and lists of one into scalars."""
    plain = value.decode() if isinstance(value, bytes) else value
    if isinstance(plain, str):
        return repr(plain)
    listed = [str(each) if isinstance(each, str) else float(each) for each in np.ravel(plain).tolist()]
    return repr(listed[0] if len(listed) == 1 else listed)
