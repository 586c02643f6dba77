"""Curves that come with the package, each made by a program of its repository."""

from __future__ import annotations

from importlib.resources import as_file, files

import xarray as xr

from xcurves.core.calls import names_options
from xcurves.core.labels import nearest, with_color_index
from xcurves.core.refusal import Refusal


@names_options
def open_dataset(name: str) -> xr.Dataset:
    """Open curves that come with the package; no network is needed.

    Parameters
    ----------
    name : str
        Curves have dims (algorithm, run, training).

        ``tictactoe`` (3, 10, 8): `score` of TD(0) learning tic-tac-toe at three learning rates, wins minus losses in
        100 games; `training` counts games. ``tictactoe_100`` (3, 100, 8): the same, 100 runs, of which the first ten
        are those.

        ``benchmark``: `accuracy` in percent of five classifiers on sixteen tasks, dims (task, algorithm, run, training)
        of sizes (16, 5, 5, 6); `training` counts examples, NaN where a task has not so many.

        ``chess`` and ``endgame`` (3, 20, 10): `accuracy` in percent of decision trees, the first grown by entropy, on
        20 folds of king and rook against king and of final boards of tic-tac-toe; `training` counts examples. Run j
        is the same fold for all algorithms (``paired=True``), and folds share training data.

        ``digits_learning`` (10, 16, 5): test `error` in percent of ten classifiers trained on 16, 8, 4, 2, 1 disjoint
        parts of 80 to 1280 handwritten digits; `training` counts examples. NaN where there are fewer parts.

        ``classifiers``: accuracies of five classifiers on four tasks with random and with tuned hyper-parameters, dims
        (dataset, tuning, algorithm, run), NaN for trials that were not run; hyper-parameters of random trials.

        ``pendulum``: actor-critic and PPO on the pendulum with random hyper-parameters, `score` (algorithm, run,
        training), and PPO with those at four percentiles again, `repeated_score` (percentile, repeat, training).

        ``widths`` (6, 6): mean squared `loss` of ridge regression on random features, dims (model_size, tokens): 8 to
        256 weights, 64 to 2,048 training examples.

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
        raise Refusal(
            "name",
            name,
            f"must be one of {', '.join(map(repr, known))}",
            nearest(name, known),
        )
    with as_file(folder / f"{name}.nc") as path:
        return with_color_index(xr.load_dataset(path, engine="scipy"))
