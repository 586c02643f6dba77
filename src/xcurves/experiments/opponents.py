"""Opponents in tic-tac-toe, from random to perfect.

An opponent is a table of the squares that it considers on every board, shape (board, square); it picks one of them at
random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from xcurves.experiments.boards import ME, OTHER, OVER, POWERS, SQUARES, WORTH, Bools, Floats, Games, Ints

Opponent = Literal["random", "tactical", "perfect"]

_EMPTY = SQUARES == 0
_BELOW_1 = np.nextafter(1.0, 0.0)


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
