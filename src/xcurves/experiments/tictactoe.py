"""TD(0) learning tic-tac-toe, by default against a random opponent: the experiment of Piater & Cohen.

A learner values *afterstates* (the board after its own move), plays the move of highest value except for a share
``epsilon`` of random moves, and after each greedy move updates the value of its last afterstate:
``V(s) += rate * (V(s') - V(s))`` (Sutton 1988, doi:10.1007/BF00115009). A won board is worth 1, a lost one -1, a
drawn one 0; the learner gets this value when a game ends. The learner begins every other game. At each
level of training it plays 100 games without exploring or learning; its score there is wins minus losses.

All learners play at once. Each has its own random stream, made from the seed, its learning rate and
the number of its run, so that its curve does not depend on the others.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import xarray as xr

from xcurves.core import validation
from xcurves.experiments import command
from xcurves.experiments.boards import ME, TABLES, WORTH, Bools, Floats, Games, Ints, Opponent, Player
from xcurves.experiments.checks import (
    check_levels,
    check_positive_count,
    check_probability,
    check_seed,
    labelled,
    recorded,
)

LEARNING_RATES = (0.001, 0.8, 0.1)
LEVELS = (0, 200, 500, 1000, 2000, 3000, 5000, 8000)
EPSILON = 0.1
N_TEST_GAMES = 100
SEED = 1998

_AT_ONCE = 500  # games whose random numbers are drawn at once
_SIDE_BY_SIDE = 500  # learners; each has a table of 19,683 values


def _train(values: Floats, rates: Floats, i_begin: bool, epsilon: float, chances: Floats, player: Player) -> None:
    """Play one game per learner, learning; `chances` are uniform numbers, shape (learner, 9, 2)."""
    games = Games(values, np.arange(len(values)))
    last = np.full(len(values), -1)  # my last afterstate

    def pull(which: Bools, states: Ints, targets: Floats) -> None:
        who = np.flatnonzero(which & (states >= 0))
        values[who, states[who]] += rates[who] * (targets[who] - values[who, states[who]])

    for turn in range(9):
        on = games.on
        if not on.any():
            break
        if (turn % 2 == 0) == i_begin:
            explores = chances[:, turn, 0] < epsilon
            games.move(np.where(explores[:, np.newaxis], games.empty, games.best_moves()), chances[:, turn, 1], ME)
            pull(on & ~explores, last, values[games.learner, games.board])
            last = np.where(on, games.board, last)
        else:
            player.move(games, chances[:, turn, 1])
        pull(on & ~games.on, last, WORTH[games.board])


def _test(values: Floats, i_begin: bool, chances: Floats, player: Player) -> Floats:
    """Return wins minus losses of each learner without learning; `chances` has shape (learner, game, 9)."""
    n_learners, n_games, _ = chances.shape
    games = Games(values, np.repeat(np.arange(n_learners), n_games))
    flat = chances.reshape(-1, 9)
    for turn in range(9):
        if (turn % 2 == 0) == i_begin:
            games.move(games.best_moves(), flat[:, turn], ME)
        else:
            player.move(games, flat[:, turn])
    return np.asarray(WORTH[games.board].reshape(n_learners, n_games).sum(axis=-1))


def _streams(seed: int, rate: float, run: int) -> list[np.random.Generator]:
    """Return the random streams of one learner, for its training and for its tests."""
    (bits,) = struct.unpack(">Q", struct.pack(">d", rate))
    return [np.random.default_rng(child) for child in np.random.SeedSequence([seed, bits, run]).spawn(2)]


def learning_curves(
    learning_rates: Sequence[float] = LEARNING_RATES,
    n_runs: int = 10,
    levels: Sequence[int] = LEVELS,
    *,
    epsilon: float = EPSILON,
    opponent: Opponent = "random",
    opponent_epsilon: float = 0.0,
    seed: int = SEED,
) -> xr.Dataset:
    """Train TD(0) learners and test them at each level of training.

    Parameters
    ----------
    learning_rates : sequence of float
        One algorithm each, between 0 and 1.
    n_runs : int
        Learners per algorithm.
    levels : sequence of int
        Numbers of training games after which the learners are tested, increasing.
    epsilon : float
        Share of random moves in training.
    opponent : {"random", "tactical", "perfect"}
        Against whom the learners train and are tested. ``tactical`` wins at once if it can, otherwise prevents the
        learner from winning, and otherwise moves at random; ``perfect`` always makes a best move by minimax.
    opponent_epsilon : float
        Share of the opponent's moves that are random, for mixtures of a perfect and a random opponent.
    seed : int
        Seed of all random streams.

    Returns
    -------
    Dataset
        `score` (algorithm, run, training): wins minus losses in 100 test games, of which the learner begins 50.

    Raises
    ------
    ValueError, TypeError
        If `levels` do not increase, a rate or share does not lie between 0 and 1, rates repeat, there is no such
        opponent, or `n_runs` is no whole number from 1.

    Examples
    --------
    >>> curves = learning_curves([0.1], n_runs=2, levels=[0, 50])
    >>> curves.score.dims
    ('algorithm', 'run', 'training')
    """
    rates = _check_rates(learning_rates)
    n_runs, levels, seed = check_positive_count("n_runs", n_runs), check_levels("levels", levels), check_seed(seed)
    validation.check_choice("opponent", opponent, list(TABLES))
    player = Player(opponent, check_probability("opponent_epsilon", opponent_epsilon))
    epsilon = check_probability("epsilon", epsilon)
    learners = list(itertools.product(rates, range(n_runs)))
    blocks = [
        _scores(learners[start : start + _SIDE_BY_SIDE], levels, epsilon, player, seed)
        for start in range(0, len(learners), _SIDE_BY_SIDE)
    ]
    scores = labelled(
        np.concatenate(blocks).reshape(len(rates), n_runs, len(levels)),
        [f"rate {rate}" for rate in rates],
        levels,
        long_name=f"wins minus losses in {N_TEST_GAMES} games",
        units="games",
        training="games",
        algorithm="learning rate",
    )
    against = {} if opponent == "random" else {"opponent": opponent, "opponent_epsilon": player.epsilon}
    attrs = {
        "title": f"TD(0) on afterstates of tic-tac-toe against a {opponent} opponent",
        "references": "Sutton (1988), doi:10.1007/BF00115009",
        "epsilon": epsilon,
        **against,
        "seed": recorded(seed),
    }
    return xr.Dataset({"score": scores}, attrs=attrs)


def _check_rates(learning_rates: Sequence[float]) -> list[float]:
    if not isinstance(learning_rates, Iterable):
        raise TypeError(f"learning_rates must be a sequence; got {learning_rates!r}. Try [{learning_rates}]")
    rates = [check_probability("learning_rates", rate) for rate in learning_rates]
    if not rates or len(set(rates)) < len(rates):
        raise ValueError(f"learning_rates must be one or more, each once; got {rates}")
    return rates


def _scores(
    learners: Sequence[tuple[float, int]], levels: Sequence[int], epsilon: float, player: Player, seed: int
) -> Floats:
    """Return the scores of learners, each a rate and the number of a run, at each level, shape (learner, level)."""
    rates = np.array([rate for rate, _ in learners])
    training, testing = zip(*(_streams(seed, rate, run) for rate, run in learners), strict=True)
    values = np.zeros((len(learners), 3**9))
    scores = np.empty((len(learners), len(levels)))
    played = 0
    for column, level in enumerate(levels):
        for start in range(played, level, _AT_ONCE):
            n_games = min(_AT_ONCE, level - start)
            chances = np.stack([stream.random((n_games, 9, 2)) for stream in training])
            for game in range(n_games):
                _train(values, rates, (start + game) % 2 == 0, epsilon, chances[:, game], player)
        played = level
        halves = [np.stack([stream.random((N_TEST_GAMES // 2, 9)) for stream in testing]) for _ in range(2)]
        scores[:, column] = _test(values, True, halves[0], player) + _test(values, False, halves[1], player)
    return scores


main = partial(command.run, learning_curves)


if __name__ == "__main__":
    main()
