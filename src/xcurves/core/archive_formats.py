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
Groups = dict[str, xr.Dataset]

# of the root's attribute: a flipped bit cannot hide both
DIGEST, _BEGINS = ("xcurves_digest", "sha256:")
_NETCDF_3, _HDF_5 = b"CDF", b"\x89HDF"
_PREFIX = "xcurves_literal_"
_ACTED_ON = re.compile(  # the last five are of HDF5
    "add_offset|dtype|missing_value|scale_factor|valid_max|valid_min|valid_range|ancillary_variables|bounds|calendar"
    "|cell_measures|coordinates|formula_terms|grid_mapping|CLASS|DIMENSION_LABELS|DIMENSION_LIST|NAME|REFERENCE_LIST"
)
# bytes that any archive may take in memory, and times its size on disk
_LEAST, _RATIO = (2**28, 100)
_CODECS = re.compile(  # those that run no code of the store
    "blosc|bz2|gzip|lz4|lzma|zlib|zstd|adler32|crc32|crc32c|fletcher32|bitround|bytes|delta|fixedscaleoffset|packbits"
    "|shuffle|transpose|sharding_indexed|vlen-bytes|vlen-utf8"
)
_CODEC_KEYS = (
    "compressor",
    "compressors",
    "filters",
    "serializer",
    "codecs",
    "index_codecs",
)


def engines() -> list[Engine]:
    """Return the engines for netCDF-4 that are installed, the faster first."""
    known: tuple[Engine, ...] = ("netcdf4", "h5netcdf")
    return [name for name in known if name in xr.backends.list_engines()]


def engine_to_write(path: Path, *, is_tree: bool) -> Engine:
    """Return the engine that writes an archive at a path."""
    is_zarr = path.suffix == ".zarr"
    return _engine(path, is_zarr) if is_zarr or is_tree or engines() else "scipy"


def engine_to_read(path: Path) -> Engine:
    """Return the engine that reads what is at a path, by its first bytes."""
    if is_store(path):
        return _engine(path, is_zarr=True)
    if path.is_dir():
        raise ValueError(
            "it is a folder; for a folder with a file for each run: archive.open_dataset"
        )
    if path.exists() and not path.is_file():
        raise ValueError("it is no file but a device, a pipe or a socket")
    if not begins_as_netcdf(path):
        raise ValueError("it does not begin as a netCDF file does")
    if _first_bytes(path).startswith(_NETCDF_3):
        return "scipy"
    return _engine(path, is_zarr=False)


def begins_as_netcdf(path: Path) -> bool:
    """Return whether a path leads to a regular file that begins as one of the formats of netCDF."""
    # a pipe has no end, and a device may have none
    if path.exists() and not path.is_file():
        return False
    return _first_bytes(path).startswith((_NETCDF_3, _HDF_5))


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as opened:
        return opened.read(4)


def _engine(path: Path, is_zarr: bool) -> Engine:
    if not ("zarr" in xr.backends.list_engines() if is_zarr else engines()):
        needs = "zarr" if is_zarr else "netCDF4 or h5netcdf"
        raise ImportError(
            f"path {str(path)!r} needs {needs}. Install it: pip install 'xcurves[io]'"
        )
    return "zarr" if is_zarr else engines()[0]


def is_store(folder: Path) -> bool:
    """Return whether a folder is a zarr store."""
    return any(
        (folder / name).exists() for name in (".zgroup", ".zmetadata", "zarr.json")
    )


def write_groups(groups: Groups, engine: Engine, part: Path) -> None:
    """Write Datasets by group, with their digest; refuse what would not be the same when read again."""
    _check_integers(groups)
    digest, given = digest_of(content_of(groups)), content_of(groups, numbers=False)
    _rename(groups, _protected)
    groups["/"].attrs[DIGEST] = digest
    data: Any = groups["/"] if len(groups) == 1 else xr.DataTree.from_dict(groups)
    if engine == "zarr":
        data.to_zarr(part, zarr_format=2, consolidated=True)
    else:
        data.to_netcdf(part, engine=engine)
    # A backend itself makes no indexes, which takes xr.open_dataset half of its time.
    backend: Any = xr.backends.list_engines()[engine]
    options = {"decode_times": False}
    has_groups = len(groups) > 1
    back = (
        backend.open_groups_as_dict(part, **options)
        if has_groups
        else {"/": backend.open_dataset(part, **options)}
    )
    _rename(back, _original)
    with back["/"]:
        del back["/"].attrs[DIGEST]
        # No engine changes a number; to read them back would take as long as to write them.
        found = content_of(back, numbers=False)
    if changed := sorted(name for name, _ in given.items() ^ found.items()):
        raise ValueError(f"{changed[0]} would not be the same when read again")


def _check_integers(groups: Groups) -> None:
    """Refuse attributes that are integers of more than 64 bits, which netCDF does not have."""
    for dataset in groups.values():
        owners = [("", dataset.attrs)]
        owners += [
            (f" of {name!r}", variable.attrs)
            for name, variable in dataset.variables.items()
        ]
        for of, attrs in owners:
            for name, value in attrs.items():
                parts = value if isinstance(value, list | tuple) else [value]
                if any(
                    isinstance(part, int) and not -(2**63) <= part < 2**64
                    for part in parts
                ):
                    raise ValueError(
                        f"attrs[{name!r}]{of} is an integer of more than 64 bits; as text: str(value)"
                    )


def open_groups(
    path: Path,
    *,
    engine: Engine | None = None,
    chunks: Any = None,
    is_tree: bool = True,
) -> Groups:
    """Open a file or store lazily, with dask if `chunks` are given: Datasets by group, as they were written."""
    engine = engine or engine_to_read(path)
    options: dict[str, Any] = {
        "engine": engine,
        "decode_times": False,
        "chunks": chunks,
    }
    if engine == "zarr":
        _check_store(path)
        options["consolidated"] = (path / ".zmetadata").exists()
    source = (
        BytesIO(path.read_bytes()) if engine == "scipy" and chunks is None else path
    )
    # Looking for groups takes longer than opening the root.
    has_groups = is_tree and engine != "scipy"
    groups = (
        xr.open_groups(path, **options)
        if has_groups
        else {"/": xr.open_dataset(source, **options)}
    )
    _rename(groups, _original)
    return groups


def load_groups(
    path: Path, *, engine: Engine | None = None, max_bytes: int | None = None
) -> Groups:
    """Return the Datasets of a file or store in memory, if they take at most `max_bytes` there and are as written."""
    groups = open_groups(path, engine=engine)
    with groups["/"]:  # of all groups
        files = path.rglob("*") if path.is_dir() else [path]
        limit = (
            max(_LEAST, _RATIO * sum(each.stat().st_size for each in files))
            if max_bytes is None
            else max_bytes
        )
        total = sum(dataset.nbytes for dataset in groups.values())
        if total > limit:
            allow = f"if the file is trusted, allow them: max_bytes={total}"
            raise ValueError(
                f"its variables take {total} bytes, more than max_bytes={limit}; {allow}"
            )
        groups = {name: dataset.load() for name, dataset in groups.items()}
    attrs = groups["/"].attrs
    marks = [
        name
        for name, value in attrs.items()
        if name == DIGEST or str(value).startswith(_BEGINS)
    ]
    recorded = {name: attrs.pop(name) for name in marks}
    if recorded and recorded != {DIGEST: digest_of(content_of(groups))}:
        raise ValueError(
            "its content is not what was written: it was damaged, or changed later"
        )
    return groups


def _check_store(folder: Path) -> None:
    """Refuse a zarr store whose codecs may run code, or whose metadata are not those that it lists."""
    for path in folder.rglob("*"):
        if path.name not in (".zarray", ".zmetadata", "zarr.json"):
            continue
        metadata, name = (
            json.loads(path.read_bytes()),
            path.relative_to(folder).as_posix(),
        )
        for codec in _codecs(metadata):
            if not _CODECS.fullmatch(codec.removeprefix("numcodecs.")):
                raise ValueError(
                    f"{name} asks for the codec {codec!r}; only codecs that run no code are decoded"
                )
    if (folder / ".zmetadata").exists():
        _check_listed(folder)


def _check_listed(folder: Path) -> None:
    """Refuse a store that lacks metadata which it lists, or one of `write` that has other attributes than it lists.

    `write` lists all attributes, the digest among them: where a file of them was changed, the digest could be lost
    unseen. Stores of others may have been changed after they were listed.
    """
    text = (folder / ".zmetadata").read_bytes()
    listed = json.loads(text)["metadata"]
    root = folder / ".zattrs"
    is_own = DIGEST.encode() in text or (
        root.exists() and DIGEST.encode() in root.read_bytes()
    )
    for name, content in listed.items():
        if not (folder / name).exists():
            raise ValueError(f"its file {name} is missing")
        if (
            is_own
            and name.endswith(".zattrs")
            and json.loads((folder / name).read_bytes()) != content
        ):
            raise ValueError(
                f"its file {name} is not what was written: it was damaged, or changed later"
            )
    if is_own and DIGEST not in listed.get(".zattrs", {}):
        raise ValueError("its digest is missing: it was damaged, or changed later")


def _codecs(metadata: Any, key: str = "") -> Iterator[str]:
    """Yield the names of codecs in the metadata of arrays, which may be nested; not what users wrote as attributes."""
    for part in metadata if isinstance(metadata, list) else [metadata]:
        if key in _CODEC_KEYS and part is not None:
            yield str(
                part.get("id", part.get("name")) if isinstance(part, dict) else part
            )
        for name, inner in part.items() if isinstance(part, dict) else ():
            if name != "attributes" and not name.endswith(".zattrs"):
                yield from _codecs(inner, name)


def _protected(name: str, value: Any) -> str:
    is_date = name == "units" and isinstance(value, str) and "since" in value
    return (
        f"{_PREFIX}{name}"
        if is_date or _ACTED_ON.fullmatch(name) or name.startswith(("_", _PREFIX))
        else name
    )


def _original(name: str, _: Any) -> str:
    return name.removeprefix(_PREFIX)


def _rename(groups: Groups, renamed: Callable[[str, Any], str]) -> None:
    """Give the attributes of Datasets and of their variables other names."""
    for dataset in groups.values():
        owners: list[xr.Dataset | xr.Variable] = [dataset, *dataset.variables.values()]
        for owner in owners:
            owner.attrs = {
                renamed(str(name), value): value for name, value in owner.attrs.items()
            }


def content_of(groups: Groups, *, numbers: bool = True) -> dict[str, str]:
    """Return what every group, variable and attribute holds, by the words that name it in a message.

    Without `numbers` the variables that hold numbers are not read.
    """
    content = {}
    for path, dataset in groups.items():
        where = "" if path == "/" else f" in group {path!r}"
        content[f"group {path!r}"] = ""
        owners = {where: dataset.attrs} | {
            f" of {name!r}{where}": var.attrs for name, var in dataset.variables.items()
        }
        for of, attrs in owners.items():
            content |= {
                f"attrs[{name!r}]{of}": _listed(value) for name, value in attrs.items()
            }
        for name, variable in dataset.variables.items():
            if not isinstance(variable.dtype, np.dtype) or variable.dtype.kind in "mM":
                raise TypeError(
                    f"variable {name!r}{where} is {variable.dtype}, which no file keeps"
                )
            content[f"variable {name!r}{where}"] = _of_values(
                variable, name in dataset.coords, numbers
            )
    return content


def digest_of(content: Mapping[str, str]) -> str:
    """Return the digest of a whole archive."""
    return _BEGINS + hashlib.sha256(repr(sorted(content.items())).encode()).hexdigest()


def _of_values(variable: xr.Variable, is_coord: bool, numbers: bool) -> str:
    kind = variable.dtype.kind
    if kind in "OUST":
        kind = "text"
    elif kind in "iu":
        kind = "int"
    about = repr((is_coord, variable.dims, variable.shape, kind))
    if kind == "text":
        return about + _listed(variable.to_numpy())
    digest = hashlib.sha256(about.encode())
    if numbers:
        plain = np.ascontiguousarray(variable, {"int": "<i8", "f": "<f8"}.get(kind))
        if kind == "f" and np.isnan(plain).any():
            plain = np.where(np.isnan(plain), np.nan, plain)  # of all NaNs one
        digest.update(plain.data)
    return digest.hexdigest()


def _listed(value: Any) -> str:
    """Return an attribute or labels as text: engines turn bytes into text, and numbers into others."""
    plain = value.decode() if isinstance(value, bytes) else value
    if (
        isinstance(plain, list | tuple)
        and len({isinstance(one, str) for one in plain}) > 1
    ):
        return repr(list(plain))  # which numpy makes all text
    if not isinstance(plain, str | bool | np.bool_):
        each = np.ravel(plain).tolist()
        plain = (
            np.ndim(plain),
            [float(one) if isinstance(one, int | float) else one for one in each],
        )
    return repr(plain)
