import itertools
from collections import Counter

import numpy as np
import pytest

from experiments import tictactoe
from experiments.tictactoe import OPPONENTS
from plain_tictactoe import (
    PLAIN_OPPONENTS,
    board_of,
    code,
    empty_squares,
    is_over,
    put,
    reachable,
    winner,
    worth,
)


@pytest.mark.parametrize("first", ["x", "o"])
def test_every_reachable_board_ends_and_counts_as_in_a_plain_program(first):
    boards = sorted(reachable(first))
    assert len(boards) == 5478
    assert Counter(winner(b) for b in boards if is_over(b))[None] == 16
    numbers = [code(b) for b in boards]
    np.testing.assert_array_equal(tictactoe.OVER[numbers], [is_over(b) for b in boards])
    np.testing.assert_array_equal(tictactoe.WORTH[numbers], [worth(b) for b in boards])


def test_best_moves_are_the_empty_squares_of_highest_value_on_every_board_with_my_move():
    mine = [b for b in reachable("x") if b.count("x") == b.count("o")]
    mine += [b for b in reachable("o") if b.count("x") < b.count("o")]
    boards = sorted(b for b in mine if not is_over(b))
    # few values: many ties
    values = np.random.default_rng(0).integers(-2, 3, (2, 3**9)) / 2
    games = tictactoe.Games(values, np.arange(len(boards)) % 2)
    games.board[:] = [code(b) for b in boards]
    games.empty[:] = [[mark == "." for mark in b] for b in boards]
    for game, (board, found) in enumerate(zip(boards, games.best_moves(), strict=True)):
        value = {square: values[game % 2, code(put(board, square, "x"))] for square in empty_squares(board)}
        assert set(np.flatnonzero(found)) == {s for s in value if value[s] == max(value.values())}


@pytest.mark.parametrize("n_squares", range(1, 10))
def test_uniform_numbers_share_out_the_given_squares_evenly(n_squares):
    squares = np.random.default_rng(n_squares).permutation(9) < n_squares
    lowest, highest = (
        np.arange(n_squares) / n_squares + 1e-9,
        np.arange(1, n_squares + 1) / n_squares - 1e-9,
    )
    chance = np.concatenate([[0.0], lowest, highest, [np.nextafter(1, 0)]])
    games = tictactoe.Games(np.zeros((1, 3**9)), np.zeros(len(chance), int))
    games.move(np.tile(squares, (len(chance), 1)), chance, 1)
    nth = [0, *range(n_squares), *range(n_squares), n_squares - 1]
    np.testing.assert_array_equal((~games.empty).sum(axis=1), 1)
    np.testing.assert_array_equal((~games.empty).argmax(axis=1), np.flatnonzero(squares)[nth])


# Games


@pytest.fixture
def moves(monkeypatch):
    """All moves made: mark, allowed squares, boards before and after, empty squares after."""
    made, move = [], tictactoe.Games.move

    def spy(games, squares, chance, mark):
        allowed, before = squares.copy(), games.board.copy()
        move(games, squares, chance, mark)
        made.append((mark, allowed, before, games.board.copy(), games.empty.copy()))

    monkeypatch.setattr(tictactoe.Games, "move", spy)
    return made


def assert_legal(mark, allowed, before, after, empty):
    changed = [square for square in range(9) if before[square] != after[square]]
    if is_over(before):
        assert changed == []
    else:
        assert len(changed) == 1
        assert before[changed[0]] == "."
        assert after[changed[0]] == mark
        assert allowed[changed[0]]
    assert [mark == "." for mark in after] == empty.tolist()


def assert_all_legal(moves, i_begin):
    """Check each move, that sides alternate, that moves follow on each other and that all games end."""
    sides = itertools.cycle("xo" if i_begin else "ox")
    boards = np.zeros(len(moves[0][2]), int)
    for (mark, allowed, before, after, empty), side in zip(moves, sides, strict=False):
        assert ".xo"[mark] == side
        np.testing.assert_array_equal(before, boards)
        boards = after
        for game in range(len(boards)):
            assert_legal(
                side,
                allowed[game],
                board_of(before[game]),
                board_of(after[game]),
                empty[game],
            )
    ends = [board_of(number) for number in boards]
    assert set(ends) <= reachable("x" if i_begin else "o")
    assert all(map(is_over, ends))
    # else the check saw too little
    assert {winner(board) for board in ends} == {"x", "o", None}


@pytest.mark.parametrize("i_begin", [True, False])
def test_test_games_are_legal(moves, i_begin):
    rng = np.random.default_rng(1)
    values = rng.integers(-1, 2, (4, 3**9)).astype(float)
    score = tictactoe._test(values, i_begin, rng.random((4, 100, 9)), OPPONENTS["random"]())
    assert_all_legal(moves, i_begin)
    ends = [worth(board_of(number)) for number in moves[-1][3]]
    np.testing.assert_array_equal(score, [sum(ends[start : start + 100]) for start in range(0, 400, 100)])


@pytest.mark.plain(1)
@pytest.mark.parametrize("i_begin", [True, False])
def test_training_games_are_legal(moves, i_begin):
    rng = np.random.default_rng(2)
    values = rng.integers(-1, 2, (400, 3**9)).astype(float)
    tictactoe._train(
        values,
        np.full(400, 0.5),
        i_begin,
        0.3,
        rng.random((400, 9, 2)),
        OPPONENTS["random"](),
    )
    assert_all_legal(moves, i_begin)


def with_the_move():
    """All reachable boards on which o moves, whoever began."""
    boards = [b for b in reachable("x") if b.count("x") > b.count("o")]
    boards += [b for b in reachable("o") if b.count("x") == b.count("o")]
    return sorted(b for b in boards if not is_over(b))


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_opponents_consider_the_squares_of_a_plain_program_on_every_board(opponent):
    boards = with_the_move()
    # all boards less the final ones, 5,478 - 958: each once, by symmetry of who begins
    assert len(boards) == 4520
    table = OPPONENTS[opponent]()[[code(board) for board in boards]]
    found = [np.flatnonzero(squares).tolist() for squares in table]
    assert found == [PLAIN_OPPONENTS[opponent](board) for board in boards]
