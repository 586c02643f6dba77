"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import RLock

FILE_LOCK = RLock()  # threads take turns: the netCDF library crashes otherwise


def atomic_write(
    path: Path, make: Callable[[Path], object], *, is_own: Callable[[Path], bool], is_folder: bool = False
) -> None:
    """Write a file or folder in a temporary folder beside its path, then rename it.

    `is_own` says whether the file at the path was written by this package: no other is replaced, and no folder is. If
    the path is a symbolic link, the link stays and its target is replaced.
    """
    cure = "Name a folder that you may write to and that has room"
    with FILE_LOCK:
        target = check_place(path, is_own=is_own, is_folder=is_folder)
        with (
            one_line(OSError, path, "cannot be written", cure),
            TemporaryDirectory(prefix=f".{target.name}.", suffix=".part", dir=target.parent) as folder,
        ):
            part = Path(folder, target.name)
            make(part)
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)


def check_place(path: Path, *, is_own: Callable[[Path], bool], is_folder: bool = False) -> Path:
    """Return what a path leads to; refuse it where nothing can be written, or where it holds what is not replaced."""
    target = Path(os.path.realpath(path))
    folder = target.parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise NotADirectoryError(f"path {str(path)!r}: there is no folder {folder}. Make it, or name another")
    if target.is_dir() and not is_folder:
        raise IsADirectoryError(f"path {str(path)!r} is a folder. Name a file in it")
    if os.path.lexists(target) and (is_folder or not is_own(target)):
        why = "folders are not replaced" if target.is_dir() else "xcurves did not write it, or it is damaged"
        raise FileExistsError(f"path {str(path)!r} exists and is not replaced: {why}. Delete it, or name another")
    try:
        TemporaryFile(dir=folder).close()
    except OSError as error:
        why = f"nothing can be written to the folder {folder} ({(error.strerror or str(error)).lower()})"
        raise PermissionError(f"path {str(path)!r}: {why}. Name another") from error
    return target


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
