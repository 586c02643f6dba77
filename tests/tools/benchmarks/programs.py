"""Experiments and the plain programs beside them, which `goals.py` times and a test compares."""

import numpy as np

from experiments import swingup, tictactoe
from plain_pendulum import SETTINGS
from plain_tictactoe import PlainLearner
from xcurves.distributions.dse import dse

N_LEARNERS, N_GAMES = 300, 200
N_SWINGS = 100
N_TRIALS = 1000


def plain_learner(rate, run):
    """Train and test one learner in plain Python."""
    training, testing = tictactoe._streams(1998, rate, run)
    learner = PlainLearner(rate, 0.1)
    for game in range(N_GAMES):
        learner.train(game % 2 == 0, training.random((9, 2)).tolist())
    return sum(learner.play(i_begin, testing.random(9).tolist()) for i_begin in [True] * 50 + [False] * 50)


def learners():
    return tictactoe.learning_curves([0.1, 0.5, 0.8], N_LEARNERS // 3, [N_GAMES], seed=1998)


def swings():
    settings = {name: np.full(N_SWINGS, value) for name, value in SETTINGS.items()}
    return swingup.learn(
        "actor-critic",
        settings,
        [np.random.default_rng(seed) for seed in range(N_SWINGS)],
        1,
    )


def sample_hyperparameters(rng):
    return {"rate": rng.uniform()}


def sample_points(rng):
    return rng.normal(size=50), rng.normal(size=50)


def squared_error(hyperparameters, train, test, rng):
    return -float(np.mean((test - hyperparameters["rate"] * train.mean()) ** 2))


def kept_trials(folder):
    return dse(
        squared_error,
        sample_hyperparameters,
        sample_points,
        N_TRIALS,
        path=folder,
        batch=100,
        rng=0,
    )


def plain_trials():
    """Algorithm 1 in a plain loop that keeps nothing."""
    scores = []
    for index in range(N_TRIALS):
        seeds = np.random.SeedSequence(0, spawn_key=(index,)).spawn(3)
        hyper, data, training = (np.random.default_rng(seed) for seed in seeds)
        scores.append(squared_error(sample_hyperparameters(hyper), *sample_points(data), training))
    return scores
