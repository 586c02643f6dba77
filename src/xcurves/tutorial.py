"""Curves that come with the package, each made by one of its own experiments."""

from __future__ import annotations

from importlib.resources import as_file, files

import xarray as xr


def open_dataset(name: str) -> xr.Dataset:
    """Open curves that come with the package; needs no network.

    Parameters
    ----------
    name : {"tictactoe", "classifiers", "pendulum"}
        ``tictactoe``: TD(0) learning tic-tac-toe at three learning rates, ten runs each, dims
        (algorithm, run, training); `score` is wins minus losses in 100 games, `training` counts games.

        ``classifiers``: accuracies of five classifiers on four tasks with random and with tuned hyper-parameters, dims
        (dataset, tuning, algorithm, run), NaN for trials that were not run; hyper-parameters of random trials.

        ``pendulum``: actor-critic and PPO on the pendulum with random hyper-parameters, `score` (algorithm, run,
        training), and PPO with those at four percentiles again, `repeated_score` (percentile, repeat, training).

    Returns
    -------
    Dataset
        In memory. Its attrs say the seed and the command that remakes it.

    Raises
    ------
    ValueError
        If there is no such data set; the message lists those there are.

    Examples
    --------
    >>> import xcurves
    >>> xcurves.tutorial.open_dataset("tictactoe")["score"].shape
    (3, 10, 8)
    """
    folder = files("xcurves") / "data"
    known = sorted(file.name.removesuffix(".nc") for file in folder.iterdir() if file.name.endswith(".nc"))
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(map(repr, known))}; got {name!r}")
    with as_file(folder / f"{name}.nc") as path:
        return xr.load_dataset(path, engine="scipy")
