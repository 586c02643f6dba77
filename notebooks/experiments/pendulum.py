"""Actor-critic and PPO on the pendulum, with hyper-parameters drawn from the ranges of Jordan, Cohen & Thomas.

A trial draws all its numbers from a stream of its own; `swingup` says what their Appendix B leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from experiments import swingup
from experiments.shared import check_seed, fingerprint, log_uniform
from experiments.swingup import ACTIONS
from xcurves.core import validation

ALGORITHMS = ("actor-critic", "PPO")
PERCENTILES = (1, 50, 95, 99)
N_EPISODES = 100
N_LEVELS = 20
SEED = 2018
_SIDE_BY_SIDE = 100  # trials at once, so that their parameters fit in a cache


def _draw(algorithm: str, stream: np.random.Generator) -> dict[str, float]:
    """Draw the hyper-parameters of Appendix B."""
    orders = {name: float(stream.integers(0, 11)) for name in ("independent_order", "dependent_order")}
    both = orders | {"trace_decay": stream.uniform()}
    if algorithm == "actor-critic":
        return both | {
            "critic_rate": log_uniform(stream, 1e-4, 0.1),
            "actor_rate": log_uniform(stream, 1e-4, 0.1),
        }
    return both | {
        "learning_rate": log_uniform(stream, 1e-5, 0.01),
        "steps_per_batch": float(np.floor(2 ** stream.uniform(4, 8))),
        "epochs": float(stream.integers(1, 16)),
        "batch_size": float(stream.integers(8, 65)),
        "clip": stream.uniform(0.1, 0.3),
    }


def _stream(seed: int, algorithm: str, *key: int) -> np.random.Generator:
    sequence = np.random.SeedSequence([seed, ALGORITHMS.index(algorithm)], spawn_key=key)
    return np.random.default_rng(sequence)


def hyperparameters(algorithm: str, runs: Sequence[int], *, seed: int = SEED) -> xr.Dataset:
    """Draw the hyper-parameters of trials: a variable for each, dim `run`."""
    validation.check_choice("algorithm", algorithm, ALGORITHMS)
    seed, runs = check_seed(seed), list(runs)
    if not runs or min(runs) < 0:
        raise ValueError(f"runs must be one or more whole numbers from 0; got {runs}. Try range(10)")
    draws = [_draw(algorithm, _stream(seed, algorithm, run, 0)) for run in runs]
    columns = {name: ("run", np.array([draw[name] for draw in draws])) for name in draws[0]}
    return xr.Dataset(columns, {"run": np.array(runs)})


def learning_curves(
    algorithm: str,
    runs: Sequence[int],
    *,
    n_episodes: int = N_EPISODES,
    n_levels: int = N_LEVELS,
    seed: int = SEED,
) -> xr.DataArray:
    """Run trials, each with its own hyper-parameters.

    Parameters
    ----------
    algorithm : {"actor-critic", "PPO"}
        Which of the two.
    runs : sequence of int
        Indices of trials.
    n_episodes : int
        Length of training, a multiple of `n_levels`.
    n_levels : int
        Number of intervals of training over which returns are averaged.
    seed : int
        Seed of all streams.

    Returns
    -------
    DataArray, dims (run, training)
        Mean return of the episodes of each interval, between -200 and 200. `training` is its last episode. Each
        hyper-parameter is a coordinate of `run`. The score of a trial is its mean over training.

    Raises
    ------
    ValueError, TypeError
        If the algorithm is unknown, there are no runs, a run or the seed is negative, or intervals are not equally
        long; if a number is not whole.

    References
    ----------
    K. Doya (2000), doi:10.1162/089976600300015961. G. Konidaris, S. Osentoski and P. S. Thomas (2011). J. Schulman et
    al. (2017), arXiv:1707.06347.

    Examples
    --------
    >>> learning_curves("actor-critic", range(2), n_episodes=2, n_levels=2).shape
    (2, 2)
    """
    chosen = hyperparameters(algorithm, runs, seed=seed)
    streams = [_stream(seed, algorithm, run, 1) for run in runs]
    return _curves(algorithm, chosen, streams, n_episodes, n_levels).assign_coords(chosen.data_vars)


def repeated(
    algorithm: str,
    run: int,
    n_runs: int,
    *,
    n_episodes: int = N_EPISODES,
    n_levels: int = N_LEVELS,
    seed: int = SEED,
) -> xr.DataArray:
    """Run `n_runs` new trials, all with the hyper-parameters of one, as `learning_curves` does."""
    chosen = hyperparameters(algorithm, [run] * validation.check_total("n_runs", n_runs), seed=seed)
    streams = [_stream(seed, algorithm, run, 2, repeat) for repeat in range(n_runs)]
    return _curves(algorithm, chosen, streams, n_episodes, n_levels).assign_coords(run=np.arange(n_runs))


def _curves(
    algorithm: str,
    chosen: xr.Dataset,
    streams: Sequence[np.random.Generator],
    n_episodes: int,
    n_levels: int,
) -> xr.DataArray:
    if validation.check_total("n_episodes", n_episodes) % validation.check_total("n_levels", n_levels):
        raise ValueError(f"n_episodes must be a multiple of n_levels; got {n_episodes} and {n_levels}")
    returns = []
    for first in range(0, len(streams), _SIDE_BY_SIDE):
        some = slice(first, first + _SIDE_BY_SIDE)
        settings = {str(name): values.to_numpy() for name, values in chosen.isel(run=some).data_vars.items()}
        returns.append(swingup.learn(algorithm, settings, streams[some], n_episodes))
    levels = np.linspace(0, n_episodes, n_levels + 1)[1:]
    return xr.DataArray(
        np.concatenate(returns).reshape(len(streams), n_levels, -1).mean(axis=-1),
        {
            "training": (
                "training",
                levels,
                {"long_name": "training", "units": "episodes"},
            )
        },
        ("run", "training"),
        name="score",
        attrs={
            "long_name": f"mean return of an episode of {ACTIONS} actions",
            "units": "1",
        },
    )


def pendulum_trials(actor_critic: int = 1000, ppo: int = 300, repeats: int = 50, *, seed: int = SEED) -> xr.Dataset:
    """Make the data set `pendulum`.

    Parameters
    ----------
    actor_critic, ppo : int
        Numbers of trials.
    repeats : int
        Number of new trials with the hyper-parameters at each percentile of PPO's mean returns.
    seed : int
        Seed of all streams.

    Returns
    -------
    Dataset
        `score` (algorithm, run, training), NaN for trials that an algorithm does not have; `repeated_score`
        (percentile, repeat, training), and `percentile_run`, the trial at each percentile.
    """
    of_each = dict(zip(ALGORITHMS, (actor_critic, ppo), strict=True))
    curves = {name: learning_curves(name, range(n), seed=seed) for name, n in of_each.items()}
    ranked = np.argsort(curves["PPO"].mean("training").to_numpy(), kind="stable")
    chosen = {each: int(ranked[-(-ppo * each // 100) - 1]) for each in PERCENTILES}
    again = {each: repeated("PPO", run, repeats, seed=seed).rename(run="repeat") for each, run in chosen.items()}
    data = {
        "score": _stacked(curves, "algorithm").transpose("algorithm", "run", "training"),
        "repeated_score": _stacked(again, "percentile").transpose("percentile", "repeat", "training"),
        "percentile_run": (
            "percentile",
            list(chosen.values()),
            {"long_name": "run of PPO at this percentile"},
        ),
    }
    attrs = {
        "title": "Actor-critic and PPO on the pendulum, hyper-parameters drawn at random",
        "references": "Jordan, Cohen & Thomas, Using Cumulative Distribution Based Performance Analysis",
        "seed": seed,
        "numpy": np.__version__,
        "arithmetic": fingerprint(),
    }
    return xr.Dataset(data, attrs=attrs)


def _stacked(curves: Mapping[Any, xr.DataArray], dim: str) -> xr.DataArray:
    """Return curves along a dim of their names, in single precision."""
    bare = [each.reset_coords(drop=True).astype(np.float32) for each in curves.values()]
    return xr.concat(bare, xr.DataArray(list(curves), dims=dim, name=dim), join="outer")
