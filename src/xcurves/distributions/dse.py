"""Distributional Sampling for Evaluation, Algorithm 1 of Jordan, Cohen & Thomas.

A trial draws hyper-parameters, data and the algorithm's own randomness, each from a stream made from the seed and the
index of the trial: any trial can be repeated alone, and algorithms with the same seed get the same data.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import validation
from xcurves.core.provenance import warn_of
from xcurves.core.refusal import UNSAID, Cure, Refusal, WrongType, give
from xcurves.distributions import saved_trials
from xcurves.distributions.saved_trials import ERROR, Record, Settings, error_text

Generator = np.random.Generator
Hyperparameters = Mapping[str, Any]
SampleHyperparameters = Callable[[Generator], Hyperparameters]
SampleData = Callable[[Generator], tuple[Any, Any]]
TrainAndScore = Callable[[Hyperparameters, Any, Any, Generator], float]

SCORE = "score"
TAKEN = frozenset((SCORE, "run", ERROR))


def dse(
    train_and_score: TrainAndScore,
    sample_hyperparameters: SampleHyperparameters,
    sample_data: SampleData,
    n_trials: int,
    *,
    path: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    n_jobs: int = 1,
    batch: int = 1,
    progress: bool | None = None,
    rng: validation.Rng = None,
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
        Total number of trials, including those that are saved.
    path : path, optional
        Folder of saved trials, made if it is not there. Trials that are in it are not run again.
    settings : mapping, optional
        Numbers and texts on which the trials depend. Trials saved with different ones, or with another seed, are
        refused.
    n_jobs : int, default 1
        Trials run at once, by joblib if more than 1; -1 for all processors.
    batch : int, default 1
        Trials of a file.
    progress : bool, optional
        Show a tqdm bar (extra ``progress``); by default in a terminal or notebook, if the call will take more than 5 s.
    rng : int, Generator or None
        Seed of all random streams; saved trials need an int.

    Returns
    -------
    DataArray, dims (run)
        Scores by index of trial, NaN where one failed. Coordinates of `run`: each hyper-parameter (text if any value
        is, else a number, NaN where a trial has none; a truth value is 1 or 0), and `error`, which says why a trial has
        no score, else "". The attr `rng` is the seed.

    Raises
    ------
    TypeError
        If `path` is given and `rng` is no int, or what is called is no function.
    ValueError
        If `n_trials` is less than 1 or than are saved; if trials were saved with other settings; or if one of its files
        cannot be read.
    ImportError
        If `n_jobs` or `progress` asks for joblib or tqdm, which are not installed.

    Warns
    -----
    UserWarning
        If trials failed: once, with the first error and their number.

    Notes
    -----
    If a trial raises an exception, or its score is not a finite number, this is recorded as its error; the other trials
    continue.

    A folder does not detect other functions than those that its trials were made with: describe them in `settings`.

    References
    ----------
    S. M. Jordan, D. Cohen and P. S. Thomas, Using Cumulative Distribution Based Performance Analysis to Benchmark
    Models.

    Examples
    --------
    >>> import numpy as np, xcurves
    >>> def sample_hyperparameters(rng):
    ...     return {"rate": rng.uniform()}
    >>> def sample_data(rng):
    ...     return rng.normal(size=10), rng.normal(size=10)
    >>> def train_and_score(hyperparameters, train, test, rng):
    ...     return -np.mean((test - hyperparameters["rate"] * train.mean()) ** 2)
    >>> scores = xcurves.dse(train_and_score, sample_hyperparameters, sample_data, 20, rng=0)
    >>> scores.dims, sorted(scores.coords)
    (('run',), ['error', 'rate', 'run'])
    >>> float(scores.curves.performance_cdf().n_trials)
    20.0
    """
    for function in (train_and_score, sample_hyperparameters, sample_data):
        saved_trials.check_callable(function)
    entropy = validation.check_rng(rng) if path is None else _check_seed("where trials are saved", rng)
    outcomes = saved_trials.run_trials(
        partial(_trial, train_and_score, sample_hyperparameters, sample_data, entropy),
        n_trials,
        path=path,
        settings={**saved_trials.check_settings(settings), "rng": str(entropy)},
        n_jobs=n_jobs,
        batch=batch,
        progress=progress,
    )
    if SCORE not in outcomes:
        outcomes = outcomes.assign({SCORE: ("run", np.full(outcomes.sizes["run"], np.nan))})
    errors = outcomes[ERROR].to_numpy()
    names = [f"trial {run}: " for run in range(len(errors))]
    warn_of(
        errors != "",
        names,
        lambda first: f"{errors[first]}. It has no score; its error is kept",
        "trials",
    )
    scores = outcomes.set_coords([name for name in outcomes.data_vars if name != SCORE])[SCORE]
    return scores.assign_attrs(long_name="score", rng=str(entropy))


def one_trial(
    train_and_score: TrainAndScore,
    sample_hyperparameters: SampleHyperparameters,
    sample_data: SampleData,
    index: int,
    *,
    rng: int,
) -> float:
    """Run one trial again, alone; its exceptions are raised.

    Parameters
    ----------
    train_and_score, sample_hyperparameters, sample_data : callable
        As in `dse`.
    index : int
        Which trial.
    rng : int
        The seed that `dse` was given; it has no default, unlike elsewhere, since another seed is another trial.

    Returns
    -------
    float
        What `train_and_score` returns.

    Raises
    ------
    TypeError
        If `rng` is no int, or what is called is no function.
    ValueError
        If `index` is not a whole number from 0.

    Examples
    --------
    >>> import xcurves
    >>> functions = lambda hyper, *_: hyper["rate"], lambda rng: {"rate": rng.uniform()}, lambda rng: (0, 0)
    >>> xcurves.one_trial(*functions, 3, rng=0)
    0.265...
    """
    for function in (train_and_score, sample_hyperparameters, sample_data):
        saved_trials.check_callable(function)
    if not isinstance(index, int | np.integer) or index < 0:
        raise Refusal("index", index, "must be a whole number from 0", "The first trial is 0")
    chosen, data, training = _streams(_check_seed("to run a trial again", rng), index)
    return train_and_score(sample_hyperparameters(chosen), *sample_data(data), training)


def _streams(entropy: int, index: int) -> list[Generator]:
    """Return the streams of a trial: for its hyper-parameters, its data and its training."""
    return [np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(index, i))) for i in range(3)]


def _check_seed(why: str, rng: validation.Rng) -> int:
    if not isinstance(rng, int | np.integer):
        raise WrongType("rng", rng, f"must be a whole number {why}", Cure("Try ", give(rng=0)))
    return validation.check_rng(rng)


def _trial(
    train_and_score: TrainAndScore,
    sample_hyperparameters: SampleHyperparameters,
    sample_data: SampleData,
    entropy: int,
    index: int,
) -> Record:
    """Return hyper-parameters and score of a trial, or hyper-parameters and what went wrong."""
    chosen, data, training = _streams(entropy, index)
    hyperparameters = sample_hyperparameters(chosen)
    drawn = dict(hyperparameters)  # a copy: training may change them
    for name in TAKEN & drawn.keys():
        raise Refusal(
            "curves",
            UNSAID,
            f"a hyper-parameter must not be called {name!r}",
            "Rename it",
        )
    try:
        score = train_and_score(hyperparameters, *sample_data(data), training)
        is_number = isinstance(score, Real) and not isinstance(score, bool)
        if not is_number or not np.isfinite(float(score)):
            cure = "Raise an error that says why" if is_number else "Convert it: float(...)"
            raise Refusal("train_and_score", score, "must return a finite number", cure)
        return {**drawn, SCORE: float(score)}
    except Exception as error:
        return {**drawn, ERROR: error_text(error)}
