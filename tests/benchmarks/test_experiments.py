"""Experiments beside plain programs that do the same: `pytest tests/benchmarks --benchmark-only -k experiments`."""

import numpy as np
import pytest

from plain_chess import plain_depths
from plain_tictactoe import PlainLearner
from xcurves.experiments import endgames, tictactoe

N_LEARNERS, N_GAMES = 300, 200


def plain_learner(rate, run):
    """Train and test one learner in plain Python."""
    training, testing = tictactoe._streams(1998, rate, run)
    learner = PlainLearner(rate, 0.1)
    for game in range(N_GAMES):
        learner.train(game % 2 == 0, training.random((9, 2)).tolist())
    return sum(learner.play(i_begin, testing.random(9).tolist()) for i_begin in [True] * 50 + [False] * 50)


def learners():
    return tictactoe.learning_curves([0.1, 0.5, 0.8], N_LEARNERS // 3, [N_GAMES], seed=1998)


def test_the_peers_do_the_same():
    assert learners().score.sel(algorithm="rate 0.5", run=7).item() == plain_learner(0.5, 7)
    assert np.sort(endgames.depths()[endgames.depths() >= -1]).tolist() == sorted(plain_depths().values())


def test_xcurves_trains_300_learners(benchmark):
    benchmark.group = "tic-tac-toe, 200 games: 300 learners side by side, one in plain Python"
    benchmark.pedantic(learners, rounds=5, warmup_rounds=1)


def test_plain_python_trains_one_learner(benchmark):
    benchmark.group = "tic-tac-toe, 200 games: 300 learners side by side, one in plain Python"
    benchmark.pedantic(plain_learner, (0.1, 0), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("work", [endgames.depths, plain_depths], ids=["xcurves", "plain Python"])
def test_king_and_rook_against_king(work, benchmark):
    benchmark.group = "king and rook against king, all positions"
    benchmark.pedantic(work, rounds=3, warmup_rounds=1)
