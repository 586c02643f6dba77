"""Tic-tac-toe: all boards, and many games at once.

A board is a number in base 3 whose digit at a square is 0 (empty), 1 (my mark) or 2 (the other's), squares counted row
by row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

POWERS = 3 ** np.arange(9)
ME, OTHER = 1, 2
LINES = np.array([(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)])

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SQUARES: Ints = np.arange(3**9)[:, np.newaxis] // POWERS % 3  # the marks on every board, shape (board, square)


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
