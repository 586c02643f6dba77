"""Checks of files that others made, before a library decodes or allocates anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from xcurves.core.checksum import store_files

_LEAST = 2**28  # bytes that any archive may take in memory
_RATIO = 100  # times its size on disk, which compression may reach
_CODECS = frozenset(
    (
        *("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"),
        *("adler32", "crc32", "crc32c", "fletcher32"),
        *("bitround", "bytes", "delta", "fixedscaleoffset", "packbits", "shuffle", "transpose"),
        *("sharding_indexed", "vlen-bytes", "vlen-utf8"),
    )
)
_CODEC_KEYS = ("compressor", "compressors", "filters", "serializer", "codecs", "index_codecs")
_BLOSC_HEADER = 16  # bytes, the last four the size of the chunk
_METADATA = (".zarray", ".zgroup", ".zmetadata", "zarr.json")


class SizeLimit:
    """Count declared sizes; refuse what exceeds a limit.

    `max_bytes` is what the caller allows; by default 256 MB or 100 times the size on disk. If `lazy`, only
    one-dimensional arrays count, which are read when an archive is opened.
    """

    def __init__(self, on_disk: int, max_bytes: int | None, *, lazy: bool = False) -> None:
        self.limit = max(_LEAST, _RATIO * on_disk) if max_bytes is None else max_bytes
        self.lazy = lazy
        self.total = 0

    def add(self, name: str, shape: tuple[int, ...], itemsize: int) -> None:
        """Count an array."""
        if not self.lazy or len(shape) < 2:
            self.total += prod(map(int, shape)) * itemsize
        if self.total > self.limit:
            raise ValueError(
                f"with {name!r} of shape {shape} its variables take {self.total} bytes, more than "
                f"max_bytes={self.limit}; if the file is trusted, allow them: max_bytes={self.total} or more"
            )


def check_netcdf3(path: Path, limit: SizeLimit) -> None:
    """Refuse a netCDF-3 file that is shorter than it says, or whose variables share their bytes."""
    from scipy.io import netcdf_file

    with netcdf_file(path, "r", mmap=True) as opened:
        sizes = [(name, variable.shape, variable.itemsize()) for name, variable in opened.variables.items()]
    for each in sizes:
        limit.add(*each)


def check_hdf5(path: Path, limit: SizeLimit) -> None:
    """Refuse an HDF5 file with links, data elsewhere, a group within itself, or larger than the limit."""
    import h5py

    with h5py.File(path, "r") as opened:
        seen = {h5py.h5o.get_info(opened.id).addr}
        waiting = [opened["/"]]
        while waiting:
            group = waiting.pop()
            for name in group:
                if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                    raise ValueError(f"{name!r} in group {group.name!r} is a link, which may lead out of the file")
                node = group[name]
                if isinstance(node, h5py.Dataset):
                    _check_dataset(node, limit)
                elif isinstance(node, h5py.Group):
                    address = h5py.h5o.get_info(node.id).addr
                    if address in seen:
                        raise ValueError(f"group {node.name!r} has two parents, or is within itself")
                    seen.add(address)
                    waiting.append(node)


def _check_dataset(node: Any, limit: SizeLimit) -> None:
    if node.external or node.is_virtual:
        raise ValueError(f"the values of {node.name!r} are in other files")
    limit.add(node.name, node.shape or (), node.dtype.itemsize)
    SizeLimit(0, limit.limit).add(node.name, node.chunks or (), node.dtype.itemsize)


def check_zarr(folder: Path, limit: SizeLimit) -> None:
    """Refuse a zarr store with links, with codecs that may run code, with cut chunks, or larger than the limit."""
    files = list(store_files(folder))
    in_blosc = set()
    for name, path in files:
        if path.is_symlink():
            raise ValueError(f"{name} is a symbolic link, which may lead out of the store")
        if path.name in _METADATA:
            loaded = json.loads(path.read_bytes())
            for part in _arrays(loaded):
                _check_codecs(name, part)
                if path.name != ".zmetadata" and "shape" in part:
                    _check_array(name, part, limit)
                    in_blosc |= {path.parent} if _last_codec(part) == "blosc" else set()
    for name, path in files:
        is_chunk = path.name not in _METADATA and not path.name.startswith(".")
        if is_chunk and not in_blosc.isdisjoint(path.parents):
            _check_blosc(name, path)


def _arrays(metadata: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the metadata of arrays and groups, those of a consolidated store too, without what users wrote."""
    if not isinstance(metadata, dict):
        raise ValueError("its metadata are no JSON object")
    yield metadata
    consolidated = metadata.get("consolidated_metadata") or metadata
    for name, part in (consolidated.get("metadata") or {}).items():
        if not name.endswith(".zattrs"):
            yield from _arrays(part)


def _check_codecs(name: str, metadata: Mapping[str, Any]) -> None:
    for key in _CODEC_KEYS:
        found = metadata.get(key) or []
        for codec in found if isinstance(found, list) else [found]:
            named = codec if isinstance(codec, str) else codec.get("id", codec.get("name"))
            if str(named).removeprefix("numcodecs.") not in _CODECS:
                raise ValueError(f"{name} asks for the codec {named!r}; only codecs that run no code are decoded")
            if isinstance(codec, dict):
                _check_codecs(name, codec.get("configuration") or {})


def _check_array(name: str, metadata: Mapping[str, Any], limit: SizeLimit) -> None:
    size = _itemsize(metadata.get("dtype", metadata.get("data_type")))
    grid = metadata.get("chunk_grid", {}).get("configuration", {}).get("chunk_shape", [])
    limit.add(name, tuple(metadata["shape"]), size)
    SizeLimit(0, limit.limit).add(name, tuple(metadata.get("chunks", grid)), size)


def _last_codec(metadata: Mapping[str, Any]) -> str:
    """Return the codec that made the bytes of a chunk."""
    last = metadata.get("compressor") or (metadata.get("codecs") or [{}])[-1]
    return str(last.get("id", last.get("name"))).removeprefix("numcodecs.")


def _check_blosc(name: str, chunk: Path) -> None:
    """Refuse a chunk that is shorter than its header says, as blosc would read beyond its end."""
    with chunk.open("rb") as opened:
        header = opened.read(_BLOSC_HEADER)
    if len(header) < _BLOSC_HEADER or int.from_bytes(header[-4:], "little") != chunk.stat().st_size:
        raise ValueError(f"its chunk {name} is cut short")


def _itemsize(dtype: Any) -> int:
    if isinstance(dtype, dict):
        return int(dtype.get("configuration", {}).get("length_bytes", 8))
    return 8 if dtype in ("string", "bytes", "variable_length_utf8") else np.dtype(dtype).itemsize
