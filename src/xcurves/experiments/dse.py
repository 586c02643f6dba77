"""Distributional Sampling for Evaluation, Algorithm 1 of Jordan, Cohen & Thomas.

A trial draws hyper-parameters, training and test data and the algorithm's own randomness, each from a stream of its own
that the seed and the index of the trial make. So any trial can be run again alone, and algorithms that are given the
same seed meet the same data in the trials of the same index.

What keeps trials, resumes them and runs them side by side is `xcurves.resumable`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from xcurves import labels, resumable

Generator = np.random.Generator
Hyperparameters = Mapping[str, Any]
SampleHyperparameters = Callable[[Generator], Hyperparameters]
SampleData = Callable[[Generator], tuple[Any, Any]]
TrainAndScore = Callable[[Hyperparameters, Any, Any, Generator], float]

SCORE = "score"
TAKEN = frozenset((SCORE, "run", resumable.ERROR))


def dse(
    train_and_score: TrainAndScore,
    sample_hyperparameters: SampleHyperparameters,
    sample_data: SampleData,
    n_trials: int,
    *,
    path: str | os.PathLike[str] | None = None,
    settings: resumable.Settings | None = None,
    n_jobs: int = 1,
    batch: int = 1,
    progress: bool = False,
    rng: labels.Rng = None,
) -> xr.DataArray:
    """Draw hyper-parameters, data and scores, trial by trial.

    Parameters
    ----------
    train_and_score : callable
        ``train_and_score(hyperparameters, train, test, rng)`` returns a finite score. `rng` is a numpy Generator.
    sample_hyperparameters : callable
        ``sample_hyperparameters(rng)`` returns a mapping from names to numbers, texts or None.
    sample_data : callable
        ``sample_data(rng)`` returns training data and test data, whatever `train_and_score` takes.
    n_trials : int
        How many trials there shall be, those in the archive included.
    path : path, optional
        Folder of an archive, made if it is not there. Trials that are in it are not run again.
    settings : mapping, optional
        Numbers and texts on which the trials depend. An archive made with other ones is refused, and one with another
        seed in any case.
    n_jobs : int, default 1
        Trials run at once, by joblib if more than 1; -1 for all processors.
    batch : int, default 1
        Trials written to the archive at once.
    progress : bool, default False
        Show a tqdm bar (extra ``progress``).
    rng : int, Generator or None
        Seed of all random streams; an archive needs an int.

    Returns
    -------
    DataArray, dims (run)
        Scores by index of trial, NaN where one failed. Coordinates of `run`: each hyper-parameter (text if any value
        is, else a number, NaN where a trial has none), and `error`, which says why a trial has no score, else "".

    Raises
    ------
    TypeError
        If `path` is given and `rng` is no int.
    ValueError
        If `n_trials` is less than 1 or than the archive holds, if the archive was made with other settings, or if one
        of its files cannot be read.

    Notes
    -----
    A score that is not finite or no number, and an exception, are the error of their trial; the others go on.

    References
    ----------
    S. M. Jordan, D. Cohen and P. S. Thomas, Using Cumulative Distribution Based Performance Analysis to Benchmark
    Models.

    Examples
    --------
    >>> def sample_hyperparameters(rng):
    ...     return {"rate": rng.uniform()}
    >>> def sample_data(rng):
    ...     return rng.normal(size=10), rng.normal(size=10)
    >>> def train_and_score(hyperparameters, train, test, rng):
    ...     return -np.mean((test - hyperparameters["rate"] * train.mean()) ** 2)
    >>> scores = dse(train_and_score, sample_hyperparameters, sample_data, 20, rng=0)
    >>> scores.dims, sorted(scores.coords)
    (('run',), ['error', 'rate', 'run'])
    >>> float(scores.curves.performance_cdf().n_trials)
    20.0
    """
    if path is not None and not isinstance(rng, int | np.integer):
        raise TypeError(f"rng must be a whole number where there is an archive; got {rng!r}. Try rng=0")
    entropy = labels.check_rng(rng)

    def trial(index: int) -> resumable.Record:
        return _trial(train_and_score, sample_hyperparameters, sample_data, entropy, index)

    outcomes = resumable.run_trials(
        trial,
        n_trials,
        path=path,
        settings={**(settings or {}), "rng": str(entropy)},
        n_jobs=n_jobs,
        batch=batch,
        progress=progress,
    )
    if SCORE not in outcomes:
        outcomes = outcomes.assign({SCORE: ("run", np.full(outcomes.sizes["run"], np.nan))})
    return outcomes.set_coords([name for name in outcomes.data_vars if name != SCORE])[SCORE]


def one_trial(
    train_and_score: TrainAndScore,
    sample_hyperparameters: SampleHyperparameters,
    sample_data: SampleData,
    index: int,
    *,
    rng: int,
) -> float:
    """Run one trial again, alone, and let it raise what it raises.

    Parameters
    ----------
    train_and_score, sample_hyperparameters, sample_data : callable
        As in `dse`.
    index : int
        Which trial.
    rng : int
        The seed that `dse` was given.

    Returns
    -------
    float
        What `train_and_score` returns.

    Examples
    --------
    >>> one_trial(lambda hyper, *_: hyper["rate"], lambda rng: {"rate": rng.uniform()}, lambda rng: (0, 0), 3, rng=0)
    0.265...
    """
    chosen, data, training = _streams(labels.check_rng(rng), index)
    return train_and_score(sample_hyperparameters(chosen), *sample_data(data), training)


def _streams(entropy: int, index: int) -> list[Generator]:
    """Return the streams of a trial: for its hyper-parameters, its data and its training."""
    return [np.random.default_rng(child) for child in resumable.stream(entropy, index).spawn(3)]


def _trial(
    train_and_score: TrainAndScore,
    sample_hyperparameters: SampleHyperparameters,
    sample_data: SampleData,
    entropy: int,
    index: int,
) -> resumable.Record:
    """Return hyper-parameters and score of a trial, or hyper-parameters and what went wrong."""
    chosen, data, training = _streams(entropy, index)
    hyperparameters = sample_hyperparameters(chosen)
    taken = sorted(TAKEN.intersection(hyperparameters))
    if taken:
        raise ValueError(f"a hyper-parameter must not be called {taken[0]!r}. Rename it")
    try:
        return {**hyperparameters, SCORE: _finite(train_and_score(hyperparameters, *sample_data(data), training))}
    except Exception as error:
        return {**hyperparameters, resumable.ERROR: resumable.error_text(error)}


def _finite(score: object) -> float:
    if isinstance(score, str | bytes | bool) or not np.isscalar(score) or not np.isreal(score):
        raise TypeError(f"train_and_score must return a finite number; got {score!r}")
    if not np.isfinite(float(score)):  # type: ignore[arg-type]  # a real scalar
        raise ValueError(f"train_and_score must return a finite number; got {score!r}")
    return float(score)  # type: ignore[arg-type]
