"""Losses of one learner at several widths and amounts of data: ridge regression on random features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from experiments.shared import check_rising, check_seed, recorded
from xcurves.array_types import Floats

SEED = 2022
WIDTHS = (8, 16, 32, 64, 128, 256)
EXAMPLES = (64, 128, 256, 512, 1024, 2048)
_INPUTS, _TESTED, _NOISE, _REPEATS = 4, 4_000, 0.3, 20


def losses(
    widths: Sequence[int] = WIDTHS,
    examples: Sequence[int] = EXAMPLES,
    *,
    seed: int = SEED,
) -> xr.Dataset:
    """Measure the squared error of a learner of each width after training on each number of examples.

    Parameters
    ----------
    widths : sequence of int
        Numbers of random features, increasing; each has one weight.
    examples : sequence of int
        Numbers of training examples, increasing.
    seed : int
        Seed of features, examples and noise, different in every run.

    Returns
    -------
    Dataset
        `loss` (model_size, tokens), the mean squared error of 4,000 new examples, the mean of twenty repetitions;
        `model_size` counts weights, `tokens` training examples.

    Raises
    ------
    ValueError, TypeError
        If widths or examples do not increase, or the seed is no whole number from 0.

    Notes
    -----
    The target is a smooth function of four inputs, with noise of the standard deviation 0.3, whose square is the least
    loss. Features are rectified random projections; the penalty of the weights is the best of seven.

    Examples
    --------
    >>> runs = losses([8, 64], [64, 512]).loss
    >>> bool(runs[1, 1] < runs[0, 0])
    True
    """
    sizes = check_rising("widths", widths, 1)
    amounts = check_rising("examples", examples, 1)
    rng = np.random.default_rng(check_seed(seed))
    measured = [[np.mean([_loss(width, count, rng) for _ in range(_REPEATS)]) for count in amounts] for width in sizes]
    coords = {
        "model_size": (
            "model_size",
            np.array(sizes, dtype=np.float64),
            {"long_name": "weights"},
        ),
        "tokens": (
            "tokens",
            np.array(amounts, dtype=np.float64),
            {"long_name": "training examples"},
        ),
    }
    said = {"long_name": "mean squared error", "units": "squared target"}
    attrs = {
        "title": "Ridge regression on random features, several widths and amounts of data",
        "seed": recorded(seed),
    }
    return xr.Dataset({"loss": (tuple(coords), np.array(measured), said)}, coords, attrs)


def _loss(width: int, count: int, rng: np.random.Generator) -> float:
    """Return the loss of one run."""
    projection, shift = rng.normal(size=(_INPUTS, width)), rng.normal(size=width)
    x, y = _examples(count, rng)
    new_x, new_y = _examples(_TESTED, rng)
    features, new = (np.maximum(each @ projection + shift, 0.0) / np.sqrt(width) for each in (x, new_x))
    gram, target = features.T @ features, features.T @ y
    found = [
        np.mean((new_y - new @ np.linalg.solve(gram + penalty * np.eye(width), target)) ** 2)
        for penalty in 10.0 ** np.arange(-4, 3)
    ]
    return float(min(found))


def _examples(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return inputs and targets."""
    x = rng.uniform(-1.5, 1.5, size=(count, _INPUTS))
    return x, np.sin(2 * x[:, 0]) * np.cos(x[:, 1]) + 0.5 * x[:, 2] * x[:, 3] + _NOISE * rng.normal(size=count)
