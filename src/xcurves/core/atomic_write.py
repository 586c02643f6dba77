"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TypeVar

T = TypeVar("T")

FILE_LOCK = Lock()  # threads take turns: the netCDF library crashes otherwise, and the process id names the part file
_HOST = re.sub(r"[^\w-]", "-", platform.node()) or "host"
_TRIES = 50  # to read a path while another process replaces it
_PAUSE = 0.02  # seconds between two tries


def atomic_write(
    path: Path, make: Callable[[Path], object], *, is_own: Callable[[Path], bool], is_folder: bool = False
) -> None:
    """Write a new file or folder next to its path, then rename it; the old one stays until the new one is complete.

    `is_own` says whether what is at the path was written by this package. Nothing else is replaced. If the path is a
    symbolic link, the link stays and its target is replaced.
    """
    target = Path(os.path.realpath(path))
    part, old = (_beside(target, kind) for kind in ("part", "old"))
    cure = "Name a folder that you may write to and that has room"
    with FILE_LOCK, one_line(OSError, path, "cannot be written", cure):
        if target.parent.is_dir():
            _remove_leftovers(target)
        check_place(path, is_own=is_own, is_folder=is_folder)
        try:
            make(part)
            _put(part, target, old)
        except BaseException:
            _remove(part)
            raise
        _remove(old)


def check_place(path: Path, *, is_own: Callable[[Path], bool], is_folder: bool = False) -> None:
    """Refuse a path where nothing can be written, or that holds what this package did not write."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise NotADirectoryError(f"path {str(path)!r}: there is no folder {target.parent}. Make it, or name another")
    if target.is_dir() and not is_folder:
        raise IsADirectoryError(f"path {str(path)!r} is a folder. Name a file in it")
    if os.path.lexists(target) and (target.is_dir() != is_folder or not is_own(target)):
        raise FileExistsError(
            f"path {str(path)!r} exists and is not replaced: xcurves did not write it. Delete it, or name another"
        )


def read_unchanged(path: Path, read: Callable[[Path], T]) -> T:
    """Return what `read` returns of a path that stayed the same meanwhile; read again if a writer replaced it."""
    for _ in range(_TRIES):
        before = _stamp(path)
        try:
            found = read(path)
        except Exception:
            if before is not None and _stamp(path) == before:
                raise
            if before is None and not _leftovers(Path(os.path.realpath(path))):
                raise
        else:
            if before is not None and _stamp(path) == before:
                return found
        time.sleep(_PAUSE)
    old = [each.name for each, _ in _leftovers(Path(os.path.realpath(path))) if each.suffix == ".old"]
    if old and not path.exists():
        raise OSError(f"its writer was stopped between two renames: the archive is {old[0]}")
    raise OSError("another process replaces it all the time")


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _beside(target: Path, kind: str) -> Path:
    return target.with_name(f".{target.name}.{_HOST}.{os.getpid()}.{kind}")


def _leftovers(target: Path) -> list[tuple[Path, int]]:
    """Return the part files and old folders of writers of a path on this machine, with their process ids."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.{re.escape(_HOST)}\.(\d+)\.(?:part|old)")
    found = ((each, pattern.fullmatch(each.name)) for each in target.parent.iterdir())
    return [(each, int(match[1])) for each, match in found if match]


def _remove_leftovers(target: Path) -> None:
    """Remove what stopped writers left; put an old folder back if its writer was stopped between two renames."""
    for leftover, pid in _leftovers(target):
        if _is_running(pid):
            continue
        if leftover.suffix == ".old" and not os.path.lexists(target):
            leftover.rename(target)
        else:
            _remove(leftover)


def _is_running(pid: int) -> bool:
    """Return whether another process has this id."""
    if os.name != "posix":  # os.kill would end it
        return pid != os.getpid()
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return pid != os.getpid()


def _put(part: Path, target: Path, old: Path) -> None:
    """Rename what was written to its target, with its permissions; a folder that is there is renamed first."""
    if target.exists():
        shutil.copymode(target, part)
    if not target.is_dir():
        part.replace(target)
        return
    target.rename(old)
    try:
        part.rename(target)
    except BaseException:
        old.rename(target)
        raise


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def one_line(errors: type[Exception] | tuple[type[Exception], ...], path: Path, what: str, cure: str) -> Iterator[None]:
    """Turn an error of a library into one line that names the path."""
    try:
        yield
    except (ImportError, FileExistsError, NotADirectoryError, IsADirectoryError):
        raise
    except errors as error:
        kinds = (FileNotFoundError, PermissionError, OSError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), ValueError)
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        raise kind(f"path {str(path)!r} {what}: {reason.removesuffix('.')}. {cure}") from error
