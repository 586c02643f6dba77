"""The formats of archives: Datasets by group, to and from netCDF files and zarr stores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import xarray as xr

Engine = Literal["scipy", "h5netcdf", "netcdf4", "zarr"]
ArchiveGroups = dict[str, xr.Dataset]

_NETCDF_4: tuple[Engine, ...] = ("netcdf4", "h5netcdf")  # the faster first
_BEGINS: dict[bytes, Engine] = {b"CDF\x01": "scipy", b"CDF\x02": "scipy", b"\x89HDF": "h5netcdf"}
_LEAST, _RATIO = 2**28, 100  # bytes that any archive may take in memory, and times its size on disk
_CODECS = frozenset(  # those that run no code of the store
    (
        *("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"),
        *("adler32", "crc32", "crc32c", "fletcher32"),
        *("bitround", "bytes", "delta", "fixedscaleoffset", "packbits", "shuffle", "transpose"),
        *("sharding_indexed", "vlen-bytes", "vlen-utf8"),
    )
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
        raise _lacks(f"path {str(path)!r}: a tree needs netCDF4 or h5netcdf")
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
    if begins not in _BEGINS:
        raise ValueError("it does not begin as a netCDF file does" if begins else "it is empty")
    if _BEGINS[begins] != "scipy" and not engines():
        raise _lacks(f"path {str(path)!r} is a netCDF-4 file, which needs netCDF4 or h5netcdf")
    return "scipy" if _BEGINS[begins] == "scipy" else engines()[0]


def _zarr(path: Path) -> Engine:
    if "zarr" not in xr.backends.list_engines():
        raise _lacks(f"path {str(path)!r} is a zarr store, which needs zarr")
    return "zarr"


def _lacks(what: str) -> ImportError:
    return ImportError(f"{what}. Install it: pip install 'xcurves[io]'")


def is_store(folder: Path) -> bool:
    """Return whether a folder is a zarr store."""
    return any((folder / name).exists() for name in (".zgroup", ".zmetadata", "zarr.json"))


def write_groups(groups: ArchiveGroups, part: Path, engine: Engine) -> None:
    """Write Datasets by group."""
    data: Any = groups["/"] if len(groups) == 1 else xr.DataTree.from_dict(groups)
    try:
        if engine == "zarr":
            data.to_zarr(part, zarr_format=2, consolidated=True)
        else:
            data.to_netcdf(part, engine=engine)
    except RuntimeError as error:  # so both libraries say that a disk is full
        if "HDF" not in str(error) and "errno" not in str(error):
            raise
        raise OSError(f"{error}; the disk may be full") from error


def open_groups(path: Path, *, chunks: Any = None, engine: Engine | None = None) -> ArchiveGroups:
    """Open a file or store lazily, with dask if `chunks` are given: Datasets by group."""
    engine = engine or engine_to_read(path)
    options: dict[str, Any] = {"engine": engine, "decode_times": False, "chunks": chunks}
    if engine == "zarr":
        _check_store(path)
        options["consolidated"] = (path / ".zmetadata").exists()
    if engine == "scipy":
        return {"/": xr.open_dataset(BytesIO(path.read_bytes()) if chunks is None else path, **options)}
    return dict(xr.open_groups(path, **options))


def load_groups(path: Path, *, max_bytes: int | None = None, engine: Engine | None = None) -> ArchiveGroups:
    """Return the Datasets of a file or store in memory, if they take at most `max_bytes` there."""
    groups = open_groups(path, engine=engine)
    try:
        files = path.rglob("*") if path.is_dir() else [path]
        limit = max(_LEAST, _RATIO * sum(each.stat().st_size for each in files)) if max_bytes is None else max_bytes
        total = sum(dataset.nbytes for dataset in groups.values())
        if total > limit:
            raise ValueError(
                f"its variables take {total} bytes, more than max_bytes={limit}; if the file is trusted, allow them: "
                f"max_bytes={total}"
            )
        return {name: dataset.load() for name, dataset in groups.items()}
    finally:
        for dataset in groups.values():
            dataset.close()


def _check_store(folder: Path) -> None:
    """Refuse a zarr store that lacks metadata which it lists, or whose codecs may run code."""
    for name in (".zarray", ".zmetadata", "zarr.json"):
        for path in folder.rglob(name):
            metadata = json.loads(path.read_bytes())
            for part in _dicts(metadata):
                _check_codecs(path.relative_to(folder).as_posix(), part)
            for listed in metadata["metadata"] if name == ".zmetadata" else ():
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


def _check_codecs(name: str, metadata: Mapping[str, Any]) -> None:
    for key in _CODEC_KEYS:
        found = metadata.get(key) or []
        for codec in found if isinstance(found, list) else [found]:
            named = codec.get("id", codec.get("name")) if isinstance(codec, dict) else codec
            if str(named).removeprefix("numcodecs.") not in _CODECS:
                raise ValueError(f"{name} asks for the codec {named!r}; only codecs that run no code are decoded")
