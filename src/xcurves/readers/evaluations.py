"""Evaluations that the EvalCallback of Stable-Baselines3 saved."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from xcurves.readers import paths
from xcurves.readers.source import Source

_NAMES = {"results": "return", "ep_lengths": "episode_length", "successes": "success"}


def evaluation_episodes(root: str | Path, *, folders: str | Sequence[str] = paths.FOLDERS) -> pd.DataFrame:
    """Read all ``evaluations.npz`` below a folder, in which each run has a folder.

    Parameters
    ----------
    root : path
        Folder of the runs' folders, or one file.
    folders : str or sequence of str
        Column for each level of folders below `root`, such as ``("task", "algorithm", "run")``.

    Returns
    -------
    DataFrame
        One row per episode of an evaluation: the folders, `step` (steps trained before), `episode` (its number in the
        evaluation), `return`, `episode_length` (steps), and `success` if it was logged. Episodes of one evaluation are
        one measurement of one run: ``to_dataarray("return", training="step", duplicates="mean")``.

    Raises
    ------
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If a file is cut short, is no file of evaluations, or needs pickle, which is never loaded; if `folders` does
        not fit.

    Warns
    -----
    UserWarning
        If a run has no episode; it is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from xcurves.readers import evaluations
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> (root / "sac" / "0").mkdir(parents=True)
    >>> file = root / "sac" / "0" / "evaluations.npz"
    >>> np.savez(file, timesteps=[100, 200], results=[[1.0, 3.0], [4.0, 6.0]], ep_lengths=[[9, 9], [9, 9]])
    >>> frame = evaluations.evaluation_episodes(root)
    >>> frame.curves.to_dataarray("return", training="step", duplicates="mean").squeeze().to_numpy()
    array([2., 5.])
    """
    frame = paths.read_runs(root, _is_log, "evaluations.npz", folders, _run)
    frame.attrs = {
        "units": {"step": "steps", "episode_length": "steps"},
        "long_name": {"return": "episode return", "step": "environment steps"},
        "source": f"Stable-Baselines3 evaluations {paths.where(root)}",
    }
    return frame


def _is_log(path: Path) -> bool:
    return path.name == "evaluations.npz"


def _run(files: Sequence[Path]) -> paths.Run:
    path = paths.only(files)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
            arrays = {name: saved[name] for name in ("timesteps", *_NAMES) if name in saved}
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} is cut short, damaged or needs pickle: {error}. Copy it again") from None
    shapes = {name: array.shape for name, array in arrays.items()}
    steps = shapes.pop("timesteps", ())
    if "results" not in shapes or len(steps) != 1 or {shape[:1] for shape in shapes.values()} != {steps}:
        raise ValueError(f"{path} has no evaluations, results of shape (timesteps, episodes); got shapes {shapes}")
    if len(set(shapes.values())) > 1 or len(shapes["results"]) != 2:
        raise ValueError(f"{path} has arrays of shapes {shapes}; evaluations have one shape (timesteps, episodes)")
    n_episodes = shapes["results"][1]
    rows = {"step": np.repeat(arrays["timesteps"], n_episodes), "episode": np.tile(np.arange(n_episodes), steps[0])}
    scores = {column: arrays[name].ravel() for name, column in _NAMES.items() if name in arrays}
    return paths.Run(pd.DataFrame(rows | scores))


SOURCE = Source(
    "evaluations",
    "a folder of Stable-Baselines3's evaluations.npz",
    _is_log,
    evaluation_episodes,
    by_folders=True,
    value="return",
    also_writes=("tensorboard",),
)
