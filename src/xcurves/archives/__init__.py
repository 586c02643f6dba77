"""Archives: curves, results and whole analyses in files, written whole or not at all, and read back identical."""

from __future__ import annotations

import os
from pathlib import Path

import xarray as xr

from xcurves.archives import formats
from xcurves.archives.places import ONE_AT_A_TIME, put_whole, said

__all__ = ["read", "write"]

_UNREADABLE = (OSError, ValueError, TypeError, LookupError, RuntimeError, AttributeError, EOFError)  # of the engines


def write(data: xr.Dataset | xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write an archive whole or not at all: one that was there stays as it was until the new one is complete.

    Parameters
    ----------
    data : Dataset or DataTree
        Curves, a result, or what `analyze` returned.
    path : str or path
        Where to. With the suffix ``.zarr`` a zarr store; without a suffix, for a tree, a folder with a netCDF-3 file
        for each group, which needs no more than the core; otherwise a netCDF file, which for a tree is netCDF-4.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    OSError
        If the folder is missing or cannot be written to, or if something is in the way: only files and archives are
        replaced, never other folders.
    ImportError
        If the format needs the extra ``io``.
    TypeError
        If `data` is something else, or has an attribute that is neither text nor a number, unless into a zarr store.

    Notes
    -----
    The archive is made beside its place, as ``.NAME.PID.part``, and then renamed, in one step for a file. A folder or
    zarr store is swapped in two: killed between them, a process leaves the old one whole as ``.NAME.PID.old``.

    Examples
    --------
    >>> import tempfile, xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> tree = scores.curves.analyze(include=["anova", "distribution"], rng=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = xcurves.archives.write(tree, f"{folder.name}/tictactoe")
    >>> sorted(file.name for file in path.iterdir())
    ['anova.nc', 'curves.nc', 'distribution.nc', 'root.nc']
    >>> xcurves.archives.read(path).identical(tree)
    True
    >>> folder.cleanup()
    """
    if not isinstance(data, xr.Dataset | xr.DataTree):
        raise TypeError(
            f"data must be a Dataset or DataTree; got {type(data).__name__}. Of an array: da.to_dataset(name='score')"
        )
    path = Path(path)
    is_folder = formats.is_folder(data, path)
    if is_folder and path.exists() and not (path.is_dir() and formats.is_archive(path)):
        raise FileExistsError(f"path {str(path)!r} holds something else; only an archive is replaced. Name another")
    put_whole(path, lambda beside: formats.write(data, path, beside), is_folder=is_folder)
    return path


def holds_trees() -> bool:
    """Return whether a tree can be written as one netCDF file here, with the extra ``io``."""
    return bool(formats.engines())


def read(path: str | os.PathLike[str]) -> xr.Dataset | xr.DataTree:
    """Read an archive into memory, times and training in the units that were written.

    Parameters
    ----------
    path : str or path
        A netCDF file, a zarr store (with or without consolidated metadata), or a folder that `write` made.

    Returns
    -------
    Dataset or DataTree
        A tree where there are groups.

    Raises
    ------
    FileNotFoundError
        If there is nothing.
    ValueError
        If it is no archive, or not a whole one.
    ImportError
        If the format needs the extra ``io``.

    Examples
    --------
    >>> import tempfile, xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = xcurves.archives.write(scores, f"{folder}/curves.nc")
    ...     xcurves.archives.read(path).identical(scores)
    True
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"path {str(path)!r} does not exist. Name a netCDF file, a zarr store or a folder of them"
        )
    with (
        ONE_AT_A_TIME,
        said(_UNREADABLE, path, "is no archive that can be read whole", "Write it again, or name another"),
    ):
        groups = formats.read(path)
        return xr.DataTree.from_dict(groups) if len(groups) > 1 else groups["/"]
