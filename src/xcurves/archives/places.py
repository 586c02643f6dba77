"""Files and folders that are put in their place whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

ONE_AT_A_TIME = Lock()  # threads: the netCDF library crashes otherwise, and PID names the file beside


def put_whole(path: Path, make: Callable[[Path], object], *, is_folder: bool = False) -> None:
    """Have something made beside its place, then put it there: what was there stays until the new one is complete."""
    _check_place(path, is_folder=is_folder)
    beside, old = (path.with_name(f".{path.name}.{os.getpid()}.{kind}") for kind in ("part", "old"))
    with ONE_AT_A_TIME:
        try:
            with said((OSError,), path, "cannot be written", "Name a folder that you may write to and that has room"):
                make(beside)
                _put(beside, path, old)
        except BaseException:
            _remove(beside)
            raise
        _remove(old)


def _check_place(path: Path, *, is_folder: bool) -> None:
    """Refuse a place where nothing can be put, or that a folder has."""
    if not path.parent.is_dir():
        raise NotADirectoryError(f"path {str(path)!r}: there is no folder {path.parent}. Make it, or name another")
    if path.is_dir() and not is_folder:
        raise IsADirectoryError(f"path {str(path)!r} is a folder. Name a file in it")


def _put(beside: Path, path: Path, old: Path) -> None:
    """Put what was written in its place."""
    if not path.is_dir():
        beside.replace(path)
        return
    path.rename(old)
    try:
        beside.rename(path)
    except BaseException:
        old.rename(path)
        raise


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


@contextmanager
def said(errors: tuple[type[Exception], ...], path: Path, what: str, cure: str) -> Iterator[None]:
    """Turn what went wrong inside a library into one line that names the path."""
    try:
        yield
    except ImportError:
        raise
    except errors as error:
        kind = next((kind for kind in (PermissionError, OSError) if isinstance(error, kind)), ValueError)
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise kind(f"path {str(path)!r} {what}: {reason}. {cure}") from error
