"""Tic-tac-toe: all boards, many games at once, and opponents from random to perfect.

A board is a number in base 3 whose digit at a square is 0 (empty), 1 (my mark) or 2 (the other's), squares counted row
by row. An opponent is a table of the squares that it considers on every board, shape (board, square); it picks one of
them at random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

POWERS = 3 ** np.arange(9)
ME, OTHER = 1, 2
LINES = np.array([(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)])

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SQUARES: Ints = np.arange(3**9)[:, np.newaxis] // POWERS % 3  # the marks on every board, shape (board, square)

Opponent = Literal["random", "tactical", "perfect"]
_EMPTY = SQUARES == 0
_BELOW_1 = np.nextafter(1.0, 0.0)


def _outcomes() -> tuple[Bools, Floats]:
    """Return, for every board, whether it ends the game, and its value to me."""
    mine = (SQUARES[:, LINES] == ME).all(axis=-1).any(axis=-1)
    theirs = (SQUARES[:, LINES] == OTHER).all(axis=-1).any(axis=-1)
    return mine | theirs | (SQUARES > 0).all(axis=-1), mine.astype(float) - theirs


OVER, WORTH = _outcomes()


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
        return np.asarray(~OVER[self.board])

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


class Player:
    """An opponent that makes a share `epsilon` of its moves at random."""

    def __init__(self, opponent: Opponent, epsilon: float) -> None:
        self.squares = TABLES[opponent]()
        self.epsilon = epsilon

    def move(self, games: Games, chance: Floats) -> None:
        """Move in the games that go on; one uniform number says whether at random, and where."""
        careless = chance < self.epsilon
        squares = np.where(careless[:, np.newaxis], games.empty, self.squares[games.board])
        start, share = np.where(careless, 0.0, self.epsilon), np.where(careless, self.epsilon, 1 - self.epsilon)
        games.move(squares, np.minimum((chance - start) / share, _BELOW_1), OTHER)


def _after(mark: int) -> Ints:
    """Return the board that follows each board when a mark is put on each square; itself where that is taken."""
    return np.asarray(np.arange(3**9)[:, np.newaxis] + np.where(_EMPTY, mark * POWERS, 0))


def _random() -> Bools:
    """All empty squares."""
    return np.asarray(_EMPTY)


def _tactical() -> Bools:
    """Squares that win at once; if there are none, squares where I would win; else all empty squares."""
    wins = _EMPTY & (WORTH[_after(OTHER)] < 0)
    blocks = _EMPTY & (WORTH[_after(ME)] > 0)
    must = np.where(wins.any(axis=-1, keepdims=True), wins, blocks)
    return np.asarray(np.where(must.any(axis=-1, keepdims=True), must, _EMPTY))


def _perfect() -> Bools:
    """Squares with the lowest value to me under best play by both sides."""
    worth = {mover: WORTH.copy() for mover in (ME, OTHER)}  # of a board, by the side whose move it is
    after = {mover: _after(mover) for mover in (ME, OTHER)}
    marks = (SQUARES > 0).sum(axis=-1)
    for n_marks in range(8, -1, -1):
        boards = np.flatnonzero((marks == n_marks) & ~OVER)
        for mover, other, worst, best in ((ME, OTHER, -np.inf, np.max), (OTHER, ME, np.inf, np.min)):
            ahead = np.where(_EMPTY[boards], worth[other][after[mover][boards]], worst)
            worth[mover][boards] = best(ahead, axis=-1)
    return np.asarray(_EMPTY & (worth[ME][after[OTHER]] == worth[OTHER][:, np.newaxis]))


TABLES: dict[str, Callable[[], Bools]] = {"random": _random, "tactical": _tactical, "perfect": _perfect}
