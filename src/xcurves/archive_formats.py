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

from xcurves.core.refusal import UNSAID, Refusal, WrongType, of_path

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
    if is_zarr or is_tree or engines():
        return _engine(path, is_zarr)
    return "scipy"


def engine_to_read(path: Path) -> Engine:
    """Return the engine that reads what is at a path, by its first bytes."""
    if is_store(path):
        return _engine(path, is_zarr=True)
    if path.is_dir():
        raise Refusal(
            "path",
            UNSAID,
            "it is a folder; for a folder with a file for each run: archive.open_dataset",
        )
    if path.exists() and not path.is_file():
        raise Refusal("path", UNSAID, "it is no file but a device, a pipe or a socket")
    if not begins_as_netcdf(path):
        raise Refusal("path", UNSAID, "it does not begin as a netCDF file does")
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
    needs = "netCDF4 or h5netcdf"
    usable = engines()
    if is_zarr:
        needs = "zarr"
        usable = ["zarr"]
    if not usable or usable[0] not in xr.backends.list_engines():
        raise ImportError(f"{of_path(path)} needs {needs}. Install it: pip install 'xcurves[io]'")
    return usable[0]


def is_store(folder: Path) -> bool:
    """Return whether a folder is a zarr store."""
    return any((folder / name).exists() for name in (".zgroup", ".zmetadata", "zarr.json"))


def write_groups(groups: Groups, engine: Engine, part: Path) -> None:
    """Write Datasets by group, with their digest; refuse what would not be the same when read again."""
    _check_integers(groups)
    digest = digest_of(content_of(groups))
    given = content_of(groups, numbers=False)
    _rename(groups, _protected)
    groups["/"].attrs[DIGEST] = digest
    data: Any = groups["/"]
    if len(groups) > 1:
        data = xr.DataTree.from_dict(groups)
    if engine == "zarr":
        data.to_zarr(part, zarr_format=2, consolidated=True)
    else:
        data.to_netcdf(part, engine=engine)

    read_back = _read_back(part, engine, has_groups=len(groups) > 1)
    changed = sorted(name for name, _ in given.items() ^ read_back.items())
    if changed:
        raise Refusal("curves", UNSAID, f"{changed[0]} would not be the same when read again")


def _read_back(part: Path, engine: Engine, *, has_groups: bool) -> dict[str, str]:
    """Return the content of what was written just now, without numbers."""
    # A backend itself makes no indexes, which takes xr.open_dataset half of its time.
    backend: Any = xr.backends.list_engines()[engine]
    if has_groups:
        groups = backend.open_groups_as_dict(part, decode_times=False)
    else:
        groups = {"/": backend.open_dataset(part, decode_times=False)}
    _rename(groups, _original)
    with groups["/"]:
        del groups["/"].attrs[DIGEST]
        # No engine changes a number; to read them back would take as long as to write them.
        return content_of(groups, numbers=False)


def _check_integers(groups: Groups) -> None:
    """Refuse attributes that are integers of more than 64 bits, which netCDF does not have."""
    for dataset in groups.values():
        _check_integer_attrs(dataset.attrs)
        for name, variable in dataset.variables.items():
            _check_integer_attrs(variable.attrs, f" of {name!r}")


def _check_integer_attrs(attrs: Mapping[Any, Any], owner: str = "") -> None:
    """Refuse the same in the attributes of a Dataset or of a variable."""
    for name, value in attrs.items():
        numbers = [value]
        if isinstance(value, list | tuple):
            numbers = list(value)
        if any(isinstance(number, int) and not -(2**63) <= number < 2**64 for number in numbers):
            raise Refusal(
                "curves",
                UNSAID,
                f"attrs[{name!r}]{owner} is an integer of more than 64 bits; as text: str(value)",
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
    source: BytesIO | Path = path
    if engine == "scipy" and chunks is None:
        source = BytesIO(path.read_bytes())

    # Looking for groups takes longer than opening the root.
    if is_tree and engine != "scipy":
        groups: Groups = xr.open_groups(path, **options)
    else:
        groups = {"/": xr.open_dataset(source, **options)}
    _rename(groups, _original)
    return groups


def load_groups(path: Path, *, engine: Engine | None = None, max_bytes: int | None = None) -> Groups:
    """Return the Datasets of a file or store in memory, if they take at most `max_bytes` there and are as written."""
    groups = open_groups(path, engine=engine)
    with groups["/"]:  # of all groups
        _check_bytes(groups, path, max_bytes)
        groups = {name: dataset.load() for name, dataset in groups.items()}

    attrs = groups["/"].attrs
    marks = [name for name, value in attrs.items() if name == DIGEST or str(value).startswith(_BEGINS)]
    recorded = {name: attrs.pop(name) for name in marks}
    if recorded and recorded != {DIGEST: digest_of(content_of(groups))}:
        raise Refusal(
            "path",
            UNSAID,
            "its content is not what was written: it was damaged, or changed later",
        )
    return groups


def _check_bytes(groups: Groups, path: Path, max_bytes: int | None) -> None:
    """Refuse Datasets that take more memory than is allowed, as a rule in proportion to what is on disk."""
    limit = max_bytes
    if limit is None:
        files = [path]
        if path.is_dir():
            files = list(path.rglob("*"))
        limit = max(_LEAST, _RATIO * sum(file.stat().st_size for file in files))
    total = sum(dataset.nbytes for dataset in groups.values())
    if total > limit:
        allow = f"if the file is trusted, allow them: max_bytes={total}"
        raise Refusal(
            "path",
            UNSAID,
            f"its variables take {total} bytes, more than max_bytes={limit}; {allow}",
        )


def _check_store(folder: Path) -> None:
    """Refuse a zarr store whose codecs may run code, or whose metadata are not those that it lists."""
    for path in folder.rglob("*"):
        if path.name not in (".zarray", ".zmetadata", "zarr.json"):
            continue
        for codec in _codecs(json.loads(path.read_bytes())):
            if not _CODECS.fullmatch(codec.removeprefix("numcodecs.")):
                name = path.relative_to(folder).as_posix()
                raise Refusal(
                    name,
                    UNSAID,
                    f"{name} asks for the codec {codec!r}; only codecs that run no code are decoded",
                )
    if (folder / ".zmetadata").exists():
        _check_listed(folder)
    elif (folder / ".zgroup").exists() and not (folder / ".zattrs").exists():
        raise Refusal(
            "curves",
            UNSAID,
            "its files .zattrs and .zmetadata, which hold its attributes, are missing",
        )


def _check_listed(folder: Path) -> None:
    """Refuse a store that lacks metadata which it lists, or one of `write` that has other attributes than it lists.

    `write` lists all attributes, the digest among them: where a file of them was changed, the digest could be lost
    unseen. Stores of others may have been changed after they were listed.
    """
    text = (folder / ".zmetadata").read_bytes()
    listed = json.loads(text)["metadata"]
    root = folder / ".zattrs"
    is_own = DIGEST.encode() in text or (root.exists() and DIGEST.encode() in root.read_bytes())
    for name, content in listed.items():
        if not (folder / name).exists():
            raise Refusal("curves", UNSAID, f"its file {name} is missing")
        if is_own and name.endswith(".zattrs") and json.loads((folder / name).read_bytes()) != content:
            raise Refusal(
                "curves",
                UNSAID,
                f"its file {name} is not what was written: it was damaged, or changed later",
            )
    if is_own and DIGEST not in listed.get(".zattrs", {}):
        raise Refusal("curves", UNSAID, "its digest is missing: it was damaged, or changed later")


def _codecs(metadata: Any, key: str = "") -> Iterator[str]:
    """Yield the names of codecs in the metadata of arrays, which may be nested; not what users wrote as attributes."""
    if isinstance(metadata, list):
        for part in metadata:
            yield from _codecs_of_part(part, key)
    else:
        yield from _codecs_of_part(metadata, key)


def _codecs_of_part(part: Any, key: str) -> Iterator[str]:
    """Yield the names of codecs in one part of metadata, found at this key, and in all parts inside it."""
    is_codec = key in _CODEC_KEYS and part is not None
    if not isinstance(part, dict):
        if is_codec:
            yield str(part)
        return
    if is_codec:
        yield str(part.get("id", part.get("name")))
    for name, inner in part.items():
        if name != "attributes" and not name.endswith(".zattrs"):
            yield from _codecs(inner, name)


def _protected(name: str, value: Any) -> str:
    """Return under which name an attribute is stored: another one where readers of netCDF interpret it."""
    is_date = name == "units" and isinstance(value, str) and "since" in value
    if is_date or _ACTED_ON.fullmatch(name) or name.startswith(("_", _PREFIX)):
        return f"{_PREFIX}{name}"
    return name


def _original(name: str, _: Any) -> str:
    return name.removeprefix(_PREFIX)


def _rename(groups: Groups, renamed: Callable[[str, Any], str]) -> None:
    """Give the attributes of Datasets and of their variables other names."""
    for dataset in groups.values():
        owners: list[xr.Dataset | xr.Variable] = [dataset, *dataset.variables.values()]
        for owner in owners:
            owner.attrs = {renamed(str(name), value): value for name, value in owner.attrs.items()}


def content_of(groups: Groups, *, numbers: bool = True) -> dict[str, str]:
    """Return what every group, variable and attribute holds, by the words that name it in a message.

    Without `numbers` the variables that hold numbers are not read.
    """
    content = {}
    for path, dataset in groups.items():
        where = "" if path == "/" else f" in group {path!r}"
        content[f"group {path!r}"] = ""
        owners = {where: dataset.attrs} | {f" of {name!r}{where}": var.attrs for name, var in dataset.variables.items()}
        for of, attrs in owners.items():
            content |= {f"attrs[{name!r}]{of}": _listed(value) for name, value in attrs.items()}
        for name, variable in dataset.variables.items():
            if not isinstance(variable.dtype, np.dtype) or variable.dtype.kind in "mM":
                raise WrongType(
                    "curves",
                    UNSAID,
                    f"variable {name!r}{where} is {variable.dtype}, which no file keeps",
                )
            content[f"variable {name!r}{where}"] = _of_values(variable, name in dataset.coords, numbers)
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
        values = np.ascontiguousarray(variable, {"int": "<i8", "f": "<f8"}.get(kind))
        # There are many NaNs, of which one is taken.
        if kind == "f" and np.isnan(values).any():
            values = np.where(np.isnan(values), np.nan, values)
        digest.update(values.data)
    return digest.hexdigest()


def _listed(value: Any) -> str:
    """Return an attribute or labels as text: engines turn bytes into text, and numbers into others."""
    if isinstance(value, bytes):
        return repr(value.decode())
    if isinstance(value, str | bool | np.bool_):
        return repr(value)
    # Of numbers and texts together numpy would make texts.
    is_list = isinstance(value, list | tuple)
    if is_list and len({isinstance(part, str) for part in value}) > 1:
        return repr(list(value))
    parts = [_as_stored(part) for part in np.ravel(value).tolist()]
    return repr((np.ndim(value), parts))


def _as_stored(part: Any) -> Any:
    """Return a number as a float, anything else as it is."""
    if isinstance(part, int | float):
        return float(part)
    return part
