import numpy as np
import pytest

from plain_tictactoe import OPPONENTS, START, board_of, code, is_over, minimax, reachable
from xcurves.experiments.opponents import TABLES


def with_the_move():
    """All reachable boards on which o moves, whoever began."""
    boards = [b for b in reachable("x") if b.count("x") > b.count("o")]
    boards += [b for b in reachable("o") if b.count("x") == b.count("o")]
    return sorted(b for b in boards if not is_over(b))


@pytest.mark.parametrize("opponent", TABLES)
def test_opponents_consider_the_squares_of_a_plain_program_on_every_board(opponent):
    boards = with_the_move()
    assert len(boards) == 4520  # all boards less the final ones, 5,478 - 958: each once, by symmetry of who begins
    table = TABLES[opponent]()[[code(board) for board in boards]]
    found = [np.flatnonzero(squares).tolist() for squares in table]
    assert found == [OPPONENTS[opponent](board) for board in boards]


def test_perfect_play_of_both_sides_is_a_draw():
    assert minimax(START, "x") == minimax(START, "o") == 0


@pytest.mark.parametrize("opponent", TABLES)
def test_opponents_never_consider_a_square_that_is_taken(opponent):
    taken = np.array([[mark != "." for mark in board_of(number)] for number in range(3**9)])
    assert not (TABLES[opponent]() & taken).any()
