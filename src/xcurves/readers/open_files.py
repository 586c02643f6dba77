"""Files of others: opened exactly as they are named, only to be read, and expanded up to a limit."""

from __future__ import annotations

import gzip
import io
import shutil
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, give

_GZIP = b"\x1f"  # the first byte of a file of gzip; no text begins with it
_SQLITE = b"SQLite format 3\0"  # the first bytes of a database
_WAL = b"\x02"  # the byte at place 18 of a database that has a write-ahead log
_PIECE = 2**20  # bytes that are expanded at a time, and of which a header is read
HEAD = 2**16  # bytes of which a format is known
_MOST_EXPANSION = 1032  # of deflate, the method of gzip and npz
_COPIES = 5  # attempts to copy a database that is being written

_limit = ContextVar("max_expanded", default=1e9)


class TooLargeError(Refusal):
    """A file that expands beyond the limit."""


@contextmanager
def expanding_to(max_expanded: float) -> Iterator[None]:
    """Let each compressed file expand to so many bytes."""
    token = _limit.set(max_expanded)
    try:
        yield
    finally:
        _limit.reset(token)


def check_name(path: Path) -> None:
    """Refuse a path that is no text: labels are made of it, and no file can hold them."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise Refusal(
            "path",
            UNSAID,
            f"path '{path}' has bytes that are no text in UTF-8",
            "Rename it",
        ) from None


def opened(path: Path) -> io.BufferedReader:
    """Open a file for reading bytes, not what would make its reader wait or never ends."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise Refusal(
            "path",
            str(path),
            f"{path} is no file but a device, a pipe or a socket",
            "Name a file, or copy what it gives into one",
        )
    return path.open("rb")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if it is of gzip, whatever its name."""
    with opened(path) as file:
        if not file.peek(1).startswith(_GZIP):
            return file.read()
        if path.stat().st_size * _MOST_EXPANSION > _limit.get():
            _check_expansion(path, file)
            file.seek(0)
        try:
            with gzip.open(file) as expanded:
                return expanded.read()
        except (OSError, EOFError, zlib.error) as error:
            raise _damaged(path, error) from None


def read_text(path: Path, errors: str = "strict") -> str:
    """Return the content of a file of text in UTF-8, decompressed if it is of gzip."""
    return read_bytes(path).decode("utf-8-sig", errors)


def check_text(data: bytes, path: Path) -> None:
    """Refuse text with a zero byte, as UTF-16 without a mark has."""
    if b"\0" in data:
        where = data.index(b"\0")
        raise Refusal(
            "path",
            str(path),
            f"{path} is no text in UTF-8: byte {where} is 0, as in UTF-16",
            "Save it as UTF-8",
        )


def beginning(path: Path, size: int = _PIECE) -> bytes:
    """Return the first bytes of a file, decompressed if it is of gzip."""
    with opened(path) as file:
        if not file.peek(1).startswith(_GZIP):
            return file.read(size)
        with gzip.open(file) as expanded:
            return expanded.read(size)


def first_lines(path: Path) -> io.StringIO:
    """Return the first lines of a file, of which at most a megabyte is expanded."""
    data = beginning(path)
    return io.StringIO(
        data.decode("utf-8-sig", errors="strict" if len(data) < _PIECE else "ignore"),
        newline="",
    )


def _check_expansion(path: Path, file: io.BufferedReader) -> None:
    """Refuse a file that expands beyond the limit, expanding it piece by piece."""
    size, limit = 0, _limit.get()
    try:
        with gzip.open(file) as expanded:
            while size <= limit and (piece := expanded.read(_PIECE)):
                size += len(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, error) from None
    if size > limit:
        raise _too_large(path)


def _damaged(path: Path, error: Exception) -> Refusal:
    reason = f"{path} is cut short or damaged: {error}"
    return Refusal("path", str(path), reason, "Copy or write it again")


def _too_large(path: Path) -> Refusal:
    limit = _limit.get()
    more = give(max_expanded=Verbatim(f"{10 * limit:g}"))
    return TooLargeError(
        "path",
        str(path),
        f"{path} expands to more than {limit:g} bytes",
        Cure("If it is no mistake, allow more, ", more, ", or decompress it"),
    )


@contextmanager
def open_arrays(path: Path, data: bytes | None = None) -> Iterator[Any]:
    """Open an .npz file of arrays, or what it held before gzip, if no array claims more than it holds or is allowed."""
    with opened(path) if data is None else io.BytesIO(data) as file:
        with zipfile.ZipFile(file) as members:
            if sum(member.file_size for member in members.infolist()) > _limit.get():
                raise _too_large(path)
            for member in members.infolist():
                _check_array(members, member, path)
        file.seek(0)
        with np.load(file, allow_pickle=False) as saved:
            yield saved


def one_array(data: bytes) -> NDArray[Any]:
    """Return the array of an .npy file, none of objects."""
    array: NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    return array


def array_shapes(path: Path) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays in an .npz file, of which only the headers are read."""
    with opened(path) as file:
        compressed = file.peek(1).startswith(_GZIP)
    with zipfile.ZipFile(io.BytesIO(read_bytes(path)) if compressed else path) as members:
        return [_header_of(members, member)[0] for member in members.infolist()]


def _check_array(members: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Refuse an array whose header claims more values than its bytes hold."""
    shape, dtype = _header_of(members, member)
    claimed = prod(shape) * dtype.itemsize
    if not dtype.hasobject and claimed > member.file_size:
        raise Refusal(
            "path",
            str(path),
            f"{path}: {member.filename} claims {claimed} bytes and has {member.file_size}",
            "Copy it again",
        )


def _header_of(members: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[tuple[int, ...], Any]:
    """Return shape and dtype of an array."""
    with members.open(member) as array:
        version = np.lib.format.read_magic(array)
        read_header = np.lib.format.read_array_header_2_0
        if version == (1, 0):
            read_header = np.lib.format.read_array_header_1_0
        shape, _, dtype = read_header(array)
    return shape, dtype


class Members:
    """The files in a zip, also those that are compressed by zstd, which expand to no more than is allowed."""

    def __init__(self, members: zipfile.ZipFile, path: Path) -> None:
        self._members, self._path = members, path
        self.names = members.namelist()

    def read(self, name: str) -> bytes:
        """Return what a file holds."""
        member = self._members.getinfo(name)
        if member.file_size > _limit.get():
            raise _too_large(self._path)
        try:
            return self._members.read(member)
        except NotImplementedError:  # before Python 3.14
            return _of_zstd(_raw(member, self._path), member.file_size)


@contextmanager
def open_members(path: Path) -> Iterator[Members | None]:
    """Open the files in a zip; None of a file that is none."""
    with opened(path) as file:
        if not zipfile.is_zipfile(file):
            yield None
            return
        with zipfile.ZipFile(file) as members:
            yield Members(members, path)


def _raw(member: zipfile.ZipInfo, path: Path) -> bytes:
    """Return the bytes of a file in a zip as they are, which stand behind a header, its name and an extra field."""
    with opened(path) as file:
        file.seek(member.header_offset + 26)
        of_name, of_extra = struct.unpack("<HH", file.read(4))
        file.seek(of_name + of_extra, io.SEEK_CUR)
        return file.read(member.compress_size)


def _of_zstd(data: bytes, size: int) -> bytes:
    """Return what is compressed by zstd, not more than the size that the zip says."""
    try:
        from numcodecs import Zstd
    except ImportError:
        raise ImportError(
            "a log that is compressed by zstd needs numcodecs. Install it: pip install 'xcurves[io]'"
        ) from None
    made = bytearray(size)
    Zstd().decode(data, out=made)
    return bytes(made)


def is_database(path: Path) -> bool:
    """Return whether a file is an SQLite database, by its first bytes."""
    with opened(path) as file:
        return file.read(len(_SQLITE)) == _SQLITE


def connect(address: str) -> sqlite3.Connection:
    """Connect to a database at an address of `database_address`."""
    return sqlite3.connect(address, uri=True, check_same_thread=False)


def check_database(address: str) -> None:
    """Raise what SQLite finds wrong with the structure of a database."""
    with closing(connect(address)) as database:
        (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise ValueError(found)


def check_tables(address: str, tables: Iterable[str]) -> None:
    """Raise that in a database one of these is a view or computes its columns: what it holds would run when read."""
    schema = "SELECT lower(name), type, rootpage FROM sqlite_master"
    with closing(connect(address)) as database:
        found = {name: (kind, page) for name, kind, page in database.execute(schema)}
        for table in tables:
            kind, page = found.get(table.lower(), ("table", 1))
            if kind == "table" and not page:
                kind = "virtual table"
            if kind != "table":
                raise ValueError(f"{table} is a {kind}, no table")
            columns = database.execute(f'PRAGMA table_xinfo("{table}")')
            if any(hidden for *_, hidden in columns):
                raise ValueError(f"{table} has a column that is computed")


def copy_database(address: str, copy: Path) -> None:
    """Copy a database as it is at one moment, with what its journal has."""
    with closing(connect(address)) as database, closing(sqlite3.connect(copy)) as made:
        database.backup(made)


@contextmanager
def database_address(path: Path) -> Iterator[str]:
    """Yield the address by which SQLite reads a database and nothing else."""
    path = path.resolve()
    with opened(path) as file:
        has_log = file.read(19)[18:] == _WAL
    if _journals(path):
        # SQLite would play a journal back into the file itself
        with TemporaryDirectory() as folder:
            yield f"{_copy(path, Path(folder)).as_uri()}?mode=rw"
    elif has_log:
        yield f"{path.as_uri()}?immutable=1"  # SQLite would make a log beside it
    else:
        yield f"{path.as_uri()}?mode=ro"


def _journals(path: Path) -> list[Path]:
    """Return what a database that is open, or was when its writer stopped, has beside it."""
    beside = [path.with_name(path.name + end) for end in ("-wal", "-journal")]
    return [file for file in beside if file.is_file() and file.stat().st_size]


def _copy(path: Path, folder: Path) -> Path:
    """Copy a database and its journals while nobody writes them."""
    for _ in range(_COPIES):
        files = [path, *_journals(path)]
        before = [(file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        for left in folder.iterdir():
            left.unlink()
        for file in files:
            shutil.copyfile(file, folder / f"copy{file.name.removeprefix(path.name)}")
        if [path, *_journals(path)] == files and before == [
            (file.stat().st_size, file.stat().st_mtime_ns) for file in files
        ]:
            return folder / "copy"
    raise Refusal(
        "path",
        str(path),
        f"{path} is being written",
        "Read it when its writer is done, or copy it",
    )
