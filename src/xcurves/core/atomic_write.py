"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from threading import RLock

from xcurves.core.refusal import of_path

FILE_LOCK = RLock()  # threads take turns: the netCDF library crashes otherwise
_UNWRITABLE = (
    "cannot be written",
    "Store text and numbers, in a folder that you may write to and that has room",
)


def atomic_write(path: Path, make: Callable[[Path], object], *, is_own: Callable[[Path], bool]) -> None:
    """Write a file or folder under another name beside its path, then rename it; a symbolic link stays."""
    target = check_place(path, is_own=is_own)
    part = target.with_name(f".{target.name}.{token_hex(4)}.part")
    try:
        with FILE_LOCK, one_line(path, *_UNWRITABLE):
            make(part)
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        part.unlink(missing_ok=True)


def check_place(path: Path, *, is_own: Callable[[Path], bool]) -> Path:
    """Return what a path leads to; refuse a folder, a file that `is_own` disowns, and where nothing can be written."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise NotADirectoryError(f"{of_path(path)}: there is no folder {path.parent}. Make it, or name another")
    why = ""
    with one_line(path, *_UNWRITABLE):
        if target.is_dir():
            why = "folders are not replaced"
        elif os.path.lexists(target) and not is_own(target):
            why = "xcurves did not write it, or it is damaged"
    if why:
        raise FileExistsError(f"{of_path(path)} exists and is not replaced: {why}. Delete it, or name another")
    with one_line(path, *_UNWRITABLE):
        TemporaryFile(dir=target.parent).close()
    return target


@contextmanager
def one_line(path: Path, what: str, cure: str) -> Iterator[None]:
    """Turn an error of a library into one line that names the path."""
    try:
        yield
    except ImportError:
        raise
    except Exception as error:
        # In its notes xarray names the variable.
        notes = [note[:60] for note in getattr(error, "__notes__", ())]
        words = " ".join(" ".join([*notes, str(error)]).split())
        reason = getattr(error, "strerror", None) or words[:300] or type(error).__name__
        raise _plain_kind(error)(f"{of_path(path)} {what}: {reason.removesuffix('.')}. {cure}") from error


def _plain_kind(error: Exception) -> type[Exception]:
    """Return the built-in kind of error that a user may expect where a library raised its own."""
    for kind in (FileNotFoundError, PermissionError, OSError):
        if isinstance(error, kind):
            return kind
    # With a RuntimeError netCDF4 and h5netcdf say that a disk is full.
    if isinstance(error, RuntimeError):
        return OSError
    return ValueError
