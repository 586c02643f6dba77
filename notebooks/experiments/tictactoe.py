"""TD(0) learning tic-tac-toe, by default against a random opponent: the experiment of Piater & Cohen.

A learner values *afterstates*, the boards after its own moves (Sutton 1988, doi:10.1007/BF00115009), and begins every
other game. All learners play at once, each with a random stream of its own.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import xarray as xr

from experiments.shared import (
    check_probability,
    check_rising,
    check_seed,
    labelled,
    recorded,
)
from xcurves.array_types import Bools, Floats, Ints
from xcurves.core import validation

LEARNING_RATES = (0.001, 0.8, 0.1)
LEVELS = (0, 200, 500, 1000, 2000, 3000, 5000, 8000)
EPSILON = 0.1
N_TEST_GAMES = 100
SEED = 1998

_AT_ONCE = 500  # games whose random numbers are drawn at once

POWERS = 3 ** np.arange(9)
ME, OTHER = 1, 2
LINES = np.array(
    [
        (0, 1, 2),
        (3, 4, 5),
        (6, 7, 8),
        (0, 3, 6),
        (1, 4, 7),
        (2, 5, 8),
        (0, 4, 8),
        (2, 4, 6),
    ]
)


# A board is a number in base 3: a digit for each square, row by row, 0 (empty), 1 (my mark) or 2 (the other's).
# the marks on every board, shape (board, square)
SQUARES: Ints = np.arange(3**9)[:, np.newaxis] // POWERS % 3

Opponent = Literal["random", "perfect"]
_EMPTY = SQUARES == 0
_WON, _LOST = ((SQUARES[:, LINES] == mark).all(axis=-1).any(axis=-1) for mark in (ME, OTHER))
OVER: Bools = _WON | _LOST | (SQUARES > 0).all(axis=-1)  # whether a board ends the game
WORTH: Floats = _WON.astype(float) - _LOST  # its value to me


class Games:
    """Many games at once, game ``g`` by the learner whose number is ``learner[g]``."""

    def __init__(self, values: Floats, learner: Ints) -> None:
        self.values = values
        self.learner = learner
        self.empty = np.ones((len(learner), 9), bool)
        self.board = np.zeros(len(learner), np.int64)

    @property
    def on(self) -> Bools:
        """Whether each game goes on."""
        return ~OVER[self.board]

    def best_moves(self) -> Bools:
        """Return the empty squares whose afterstates have the highest value."""
        after = np.where(self.empty, self.board[:, np.newaxis] + ME * POWERS, 0)
        worth = np.where(self.empty, self.values[self.learner[:, np.newaxis], after], -np.inf)
        return np.asarray(self.empty & (worth == worth.max(axis=-1, keepdims=True)))

    def move(self, squares: Bools, chance: Floats, mark: int) -> None:
        """Put a mark on one of the given squares, chosen by a uniform number, in the games that go on."""
        on = np.flatnonzero(self.on)
        count = squares[on].cumsum(axis=-1)
        wanted = (chance[on] * count[:, -1]).astype(np.int64) + 1
        square = (count >= wanted[:, np.newaxis]).argmax(axis=-1)
        self.empty[on, square] = False
        self.board[on] += mark * POWERS[square]


def _perfect() -> Bools:
    """Squares with the lowest value to me under best play by both sides."""
    # of a board, by the side whose move it is
    worth = {mover: WORTH.copy() for mover in (ME, OTHER)}
    after = {mover: np.arange(3**9)[:, np.newaxis] + np.where(_EMPTY, mover * POWERS, 0) for mover in (ME, OTHER)}
    marks = (SQUARES > 0).sum(axis=-1)
    for n_marks in range(8, -1, -1):
        boards = np.flatnonzero((marks == n_marks) & ~OVER)
        for mover, other, worst, best in (
            (ME, OTHER, -np.inf, np.max),
            (OTHER, ME, np.inf, np.min),
        ):
            ahead = np.where(_EMPTY[boards], worth[other][after[mover][boards]], worst)
            worth[mover][boards] = best(ahead, axis=-1)
    return np.asarray(_EMPTY & (worth[ME][after[OTHER]] == worth[OTHER][:, np.newaxis]))


# The squares that an opponent considers on every board, shape (board, square), of which it picks one at random.
OPPONENTS: dict[str, Callable[[], Bools]] = {
    "random": lambda: _EMPTY,
    "perfect": _perfect,
}


def _train(
    values: Floats,
    rates: Floats,
    i_begin: bool,
    epsilon: float,
    chances: Floats,
    replies: Bools,
) -> None:
    """Play one game per learner, learning: `chances` are uniform numbers, shape (learner, 9, 2)."""
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
            games.move(
                np.where(explores[:, np.newaxis], games.empty, games.best_moves()),
                chances[:, turn, 1],
                ME,
            )
            pull(on & ~explores, last, values[games.learner, games.board])
            last = np.where(on, games.board, last)
        else:
            games.move(replies[games.board], chances[:, turn, 1], OTHER)
        pull(on & ~games.on, last, WORTH[games.board])


def _test(values: Floats, i_begin: bool, chances: Floats, replies: Bools) -> Floats:
    """Return wins minus losses of each learner without learning; `chances` has shape (learner, game, 9)."""
    n_learners, n_games, _ = chances.shape
    games = Games(values, np.repeat(np.arange(n_learners), n_games))
    flat = chances.reshape(-1, 9)
    for turn in range(9):
        if (turn % 2 == 0) == i_begin:
            games.move(games.best_moves(), flat[:, turn], ME)
        else:
            games.move(replies[games.board], flat[:, turn], OTHER)
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
    opponent : {"random", "perfect"}
        Against whom the learners train and are tested; ``perfect`` always makes a best move by minimax.
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
    rates = [check_probability("learning_rates", rate) for rate in learning_rates]
    if not rates or len(set(rates)) < len(rates):
        raise ValueError(f"learning_rates must be one or more, each once; got {rates}")
    n_runs, levels, seed = (
        validation.check_total("n_runs", n_runs),
        check_rising("levels", levels),
        check_seed(seed),
    )
    replies = OPPONENTS[validation.check_choice("opponent", opponent, list(OPPONENTS))]()
    epsilon = check_probability("epsilon", epsilon)
    scores = _scores(list(itertools.product(rates, range(n_runs))), levels, epsilon, replies, seed)
    attrs = {
        "title": f"TD(0) on afterstates of tic-tac-toe against a {opponent} opponent",
        "references": "Sutton (1988), doi:10.1007/BF00115009",
        "epsilon": epsilon,
        "seed": recorded(seed),
    }
    return labelled(
        "score",
        scores.reshape(len(rates), n_runs, len(levels)),
        [f"rate {rate}" for rate in rates],
        levels,
        long_name=f"wins minus losses in {N_TEST_GAMES} games",
        units="games",
        training="games",
        algorithm="learning rate",
        attrs=attrs,
    )


def _scores(
    learners: Sequence[tuple[float, int]],
    levels: Sequence[int],
    epsilon: float,
    replies: Bools,
    seed: int,
) -> Floats:
    """Return the scores of learners, each a rate and the number of a run, at each level, shape (learner, level)."""
    rates = np.array(learners)[:, 0]
    training, testing = zip(*(_streams(seed, *learner) for learner in learners), strict=True)
    values = np.zeros((len(learners), 3**9))
    scores = np.empty((len(learners), len(levels)))
    played = 0
    for column, level in enumerate(levels):
        for start in range(played, level, _AT_ONCE):
            n_games = min(_AT_ONCE, level - start)
            chances = np.stack([stream.random((n_games, 9, 2)) for stream in training])
            for game in range(n_games):
                _train(
                    values,
                    rates,
                    (start + game) % 2 == 0,
                    epsilon,
                    chances[:, game],
                    replies,
                )
        played = level
        halves = np.stack([stream.random((2, N_TEST_GAMES // 2, 9)) for stream in testing], axis=1)
        scores[:, column] = _test(values, True, halves[0], replies) + _test(values, False, halves[1], replies)
    return scores
