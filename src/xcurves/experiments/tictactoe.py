"""TD(0) learning tic-tac-toe against a random opponent, the experiment of Piater & Cohen.

A learner values *afterstates* (the board after its own move), plays the move of highest value except for a share
``epsilon`` of random moves, and after each greedy move pulls the value of its last afterstate towards the new one:
``V(s) += rate * (V(s') - V(s))`` (Sutton 1988, doi:10.1007/BF00115009). A won board is worth 1, a lost one -1, a
drawn one 0, which is paid when a game ends and not known before. The learner begins every other game. At each
level of training it plays 100 games without exploring or learning; its score there is wins minus losses.

All learners play side by side. Each draws from a random stream of its own, made from the seed, its learning rate and
the number of its run, so that its curve does not depend on which others are made.
"""

from __future__ import annotations

import argparse
import itertools
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

LEARNING_RATES = (0.001, 0.8, 0.1)
LEVELS = (0, 200, 500, 1000, 2000, 3000, 5000, 8000)
EPSILON = 0.1
N_TEST_GAMES = 100
SEED = 1998

_POWERS = 3 ** np.arange(9)
_LINES = np.array([(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)])
_ME, _OTHER = 1, 2
_AT_ONCE = 500  # games of random numbers drawn in one go

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def _outcomes() -> tuple[NDArray[np.bool_], Floats]:
    """Return, for every board as a number in base 3, whether it ends the game and what it is then worth to me."""
    boards = np.arange(3**9)[:, np.newaxis] // _POWERS % 3
    mine = (boards[:, _LINES] == _ME).all(axis=-1).any(axis=-1)
    theirs = (boards[:, _LINES] == _OTHER).all(axis=-1).any(axis=-1)
    return mine | theirs | (boards > 0).all(axis=-1), mine.astype(float) - theirs


_OVER, _WORTH = _outcomes()


class _Games:
    """Games played side by side, game ``g`` by the learner whose number is ``learner[g]``."""

    def __init__(self, values: Floats, learner: Ints) -> None:
        self.values = values
        self.learner = learner
        self.empty = np.ones((len(learner), 9), bool)
        self.board = np.zeros(len(learner), np.int64)

    @property
    def on(self) -> NDArray[np.bool_]:
        """Whether each game goes on."""
        return np.asarray(~_OVER[self.board])

    def best_moves(self) -> NDArray[np.bool_]:
        """Return the empty squares whose afterstates have the highest value."""
        after = np.where(self.empty, self.board[:, np.newaxis] + _ME * _POWERS, 0)
        worth = np.where(self.empty, self.values[self.learner[:, np.newaxis], after], -np.inf)
        return np.asarray(self.empty & (worth == worth.max(axis=-1, keepdims=True)))

    def move(self, squares: NDArray[np.bool_], chance: Floats, mark: int) -> None:
        """Put a mark on one of the given squares, chosen by a uniform number, in the games that go on."""
        on = np.flatnonzero(self.on)
        count = squares[on].cumsum(axis=-1)
        wanted = (chance[on] * count[:, -1]).astype(np.int64) + 1
        square = (count >= wanted[:, np.newaxis]).argmax(axis=-1)
        self.empty[on, square] = False
        self.board[on] += mark * _POWERS[square]


def _train(values: Floats, rates: Floats, i_begin: bool, epsilon: float, chances: Floats) -> None:
    """Play one game per learner, learning; `chances` are uniform numbers, shape (learner, 9, 2)."""
    games = _Games(values, np.arange(len(values)))
    last = np.full(len(values), -1)  # my last afterstate

    def pull(which: NDArray[np.bool_], states: Ints, targets: Floats) -> None:
        who = np.flatnonzero(which & (states >= 0))
        values[who, states[who]] += rates[who] * (targets[who] - values[who, states[who]])

    for turn in range(9):
        on = games.on
        if not on.any():
            break
        if (turn % 2 == 0) == i_begin:
            explores = chances[:, turn, 0] < epsilon
            games.move(np.where(explores[:, np.newaxis], games.empty, games.best_moves()), chances[:, turn, 1], _ME)
            pull(on & ~explores, last, values[games.learner, games.board])
            last = np.where(on, games.board, last)
        else:
            games.move(games.empty, chances[:, turn, 1], _OTHER)
        pull(on & ~games.on, last, _WORTH[games.board])


def _test(values: Floats, i_begin: bool, chances: Floats) -> Floats:
    """Return wins minus losses of each learner without learning; `chances` has shape (learner, game, 9)."""
    n_learners, n_games, _ = chances.shape
    games = _Games(values, np.repeat(np.arange(n_learners), n_games))
    flat = chances.reshape(-1, 9)
    for turn in range(9):
        mine = (turn % 2 == 0) == i_begin
        games.move(games.best_moves() if mine else games.empty, flat[:, turn], _ME if mine else _OTHER)
    return np.asarray(_WORTH[games.board].reshape(n_learners, n_games).sum(axis=-1))


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
    seed: int = SEED,
) -> xr.Dataset:
    """Train TD(0) learners and test them at each level of training.

    Parameters
    ----------
    learning_rates : sequence of float
        One algorithm each.
    n_runs : int
        Learners per algorithm.
    levels : sequence of int
        Numbers of training games after which the learners are tested, increasing.
    epsilon : float
        Share of random moves in training.
    seed : int
        Seed of all random streams.

    Returns
    -------
    Dataset
        `score` (algorithm, run, training): wins minus losses in 100 test games.

    Raises
    ------
    ValueError
        If `levels` do not increase.

    Examples
    --------
    >>> curves = learning_curves([0.1], n_runs=2, levels=[0, 50])
    >>> curves.score.dims
    ('algorithm', 'run', 'training')
    """
    if any(later <= level for level, later in itertools.pairwise(levels)):
        raise ValueError(f"levels must increase; got {list(levels)}. Sort them")
    learners = list(itertools.product(learning_rates, range(n_runs)))
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
                _train(values, rates, (start + game) % 2 == 0, epsilon, chances[:, game])
        played = level
        halves = [np.stack([stream.random((N_TEST_GAMES // 2, 9)) for stream in testing]) for _ in range(2)]
        scores[:, column] = _test(values, True, halves[0]) + _test(values, False, halves[1])
    return _label(scores, learning_rates, n_runs, levels, epsilon, seed)


def _label(
    scores: Floats,
    learning_rates: Sequence[float],
    n_runs: int,
    levels: Sequence[int],
    epsilon: float,
    seed: int,
) -> xr.Dataset:
    """Put scores, shape (learner, level), into a Dataset that says how they were made."""
    score = xr.DataArray(
        scores.reshape(len(learning_rates), n_runs, len(levels)),
        {
            "algorithm": (
                "algorithm",
                [f"rate {rate}" for rate in learning_rates],
                {"long_name": "learning rate"},
            ),
            "run": ("run", np.arange(n_runs), {"long_name": "run"}),
            "training": ("training", np.array(levels, float), {"long_name": "training", "units": "games"}),
        },
        ("algorithm", "run", "training"),
        attrs={"long_name": f"wins minus losses in {N_TEST_GAMES} games", "units": "games"},
    )
    attrs = {
        "title": "TD(0) on afterstates of tic-tac-toe against a random opponent",
        "references": "Sutton (1988), doi:10.1007/BF00115009",
        "epsilon": epsilon,
        "seed": seed,
    }
    return xr.Dataset({"score": score}, attrs=attrs)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the curves that come with the package."""
    parser = argparse.ArgumentParser(prog="python -m xcurves.experiments.tictactoe", description=main.__doc__)
    parser.add_argument("path", type=Path, help="netCDF file to write")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of all random streams (default %(default)s)")
    options = parser.parse_args(arguments)
    command = f"{parser.prog} {options.path.name} --seed {options.seed}"
    learning_curves(seed=options.seed).assign_attrs(command=command).to_netcdf(options.path, engine="scipy")


if __name__ == "__main__":
    main()
