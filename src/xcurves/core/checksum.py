"""Checksums that show whether a file or a zarr store is the one that was written."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MARK = b"\nxcurves-sha256:"  # after the last byte of a netCDF file, which all its readers skip; then the digest
_LENGTH = len(_MARK) + 64 + 1
_STORE_MARK = "xcurves_archive"  # in .zgroup
_FILES = "xcurves_files"  # in .zmetadata: the digest of every other file of the store
_OF_LIST = "xcurves_sha256"  # in .zmetadata: the digest of itself
_DAMAGED = "it was damaged, or changed after it was written"


def seal_file(path: Path) -> None:
    """Append the checksum of a file to it."""
    digest = _digest(path)
    with path.open("ab") as opened:
        opened.write(_MARK + digest.encode() + b"\n")


def check_file(path: Path) -> None:
    """Refuse a file whose checksum does not match; one without a checksum passes."""
    end = _end(path)
    if not any(part in end for part in (_MARK[:8], _MARK[8:])):
        return
    length = path.stat().st_size - _LENGTH
    if end != _MARK + _digest(path, length).encode() + b"\n":
        raise ValueError(f"its checksum does not match: {_DAMAGED}")


def is_own_file(path: Path) -> bool:
    """Return whether a file has the mark of an archive, damaged or not."""
    return path.is_file() and _end(path).startswith(_MARK)


def _end(path: Path) -> bytes:
    with path.open("rb") as opened:
        opened.seek(max(0, path.stat().st_size - _LENGTH))
        return opened.read()


def _digest(path: Path, length: int | None = None) -> str:
    """Return the SHA-256 of a file, or of its first bytes."""
    digest, rest = hashlib.sha256(), path.stat().st_size if length is None else length
    with path.open("rb") as opened:
        while rest > 0 and (block := opened.read(min(rest, 1 << 20))):
            digest.update(block)
            rest -= len(block)
    return digest.hexdigest()


def seal_store(folder: Path) -> None:
    """Write the checksums of all files of a zarr store into its consolidated metadata."""
    group = folder / ".zgroup"
    group.write_text(json.dumps(json.loads(group.read_text()) | {_STORE_MARK: 1}))
    consolidated = folder / ".zmetadata"
    listed = json.loads(consolidated.read_text())
    listed[_FILES] = {name: _digest(path) for name, path in store_files(folder) if path != consolidated}
    listed[_OF_LIST] = _digest_of_list(listed)
    consolidated.write_text(json.dumps(listed))


def check_store(folder: Path, *, digests: bool = True) -> None:
    """Refuse a sealed zarr store that lacks a file, has one more, or one that changed; one without a seal passes."""
    listed = _load(folder / ".zmetadata")
    if _FILES not in listed and _OF_LIST not in listed:
        if _STORE_MARK in _load(folder / ".zgroup"):
            raise ValueError(f"its list of files is gone: {_DAMAGED}")
        return
    files = listed.get(_FILES)
    if not isinstance(files, dict) or listed.pop(_OF_LIST, None) != _digest_of_list(listed):
        raise ValueError(f"the checksum of its list of files does not match: {_DAMAGED}")
    found = {name: path for name, path in store_files(folder) if name != ".zmetadata"}
    lost, more = sorted(files.keys() - found.keys()), sorted(found.keys() - files.keys())
    if lost or more:
        raise ValueError(f"{f'its file {lost[0]} is missing' if lost else f'{more[0]} is not part of it'}: {_DAMAGED}")
    for name, path in found.items() if digests else ():
        if _digest(path) != files[name]:
            raise ValueError(f"the checksum of its file {name} does not match: {_DAMAGED}")


def is_own_store(folder: Path) -> bool:
    """Return whether a folder is empty, or a sealed zarr store and nothing else."""
    if not folder.is_dir():
        return False
    found = {name for name, _ in store_files(folder)}
    try:
        files = _load(folder / ".zmetadata").get(_FILES)
    except ValueError:
        return False
    return not found or (isinstance(files, dict) and found <= {*files, ".zmetadata"})


def store_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a store and its links, which are not followed."""
    for place, folders, names in os.walk(folder):
        for name in [*names, *(each for each in folders if Path(place, each).is_symlink())]:
            path = Path(place, name)
            yield path.relative_to(folder).as_posix(), path


def _digest_of_list(listed: dict[str, Any]) -> str:
    rest = {name: value for name, value in listed.items() if name != _OF_LIST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _load(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one where there is no file."""
    if not path.exists():
        return {}
    loaded = json.loads(path.read_bytes())
    return loaded if isinstance(loaded, dict) else {}
