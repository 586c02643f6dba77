from collections import Counter

import numpy as np
import pytest

from experiments import endgames
from plain_chess import plain_depths
from plain_tictactoe import board_of, code, is_over, reachable, winner
from refusals import refused

pytestmark = pytest.mark.slow

# Printed with the UCI table: depth of win, -1 for a draw.
COUNTS = dict(
    zip(
        range(-1, 17),
        [
            2796,
            27,
            78,
            246,
            81,
            198,
            471,
            592,
            683,
            1433,
            1712,
            1985,
            2854,
            3597,
            4194,
            4553,
            2166,
            390,
        ],
        strict=True,
    )
)


@pytest.fixture(scope="module")
def chess():
    return endgames.king_rook_king()


@pytest.fixture(scope="module")
def depths():
    return endgames.depths()


def test_every_position_has_the_depth_of_a_plain_retrograde_analysis(depths):
    expected = np.full((64, 64, 64), -2)
    for pieces, depth in plain_depths().items():
        expected[tuple(8 * rank + file for file, rank in pieces)] = depth
    np.testing.assert_array_equal(depths, expected)


def test_the_table_has_the_counts_of_the_published_one(chess):
    assert len(chess) == 28056
    assert chess.depth.value_counts().to_dict() == COUNTS


def test_each_position_stands_once_with_its_king_in_the_triangle(chess):
    assert not chess.duplicated().any()
    assert (chess.white_king_rank <= chess.white_king_file).all()
    assert (chess.white_king_file <= 4).all()
    mirrored = chess.rename(columns=lambda name: name.replace("file", "?").replace("rank", "file").replace("?", "rank"))
    on = chess.white_king_file == chess.white_king_rank
    symmetric = on & (chess.white_rook_file == chess.white_rook_rank) & (chess.black_king_file == chess.black_king_rank)
    places = list(chess.columns[:6])
    both = chess[places].merge(mirrored[places], on=places)
    assert len(both) == symmetric.sum() > 0


@pytest.mark.parametrize(
    ("pieces", "depth"),
    [
        ("c1 a4 a1", 0),  # mate
        ("c2 a8 a1", 0),
        ("b3 b2 a1", -1),  # stalemate
        ("a1 b3 c2", -1),  # the rook is lost
        ("a1 a1 h8", -2),  # two on one square
        ("a1 h1 b2", -2),  # kings side by side
    ],
)
def test_positions_that_can_be_read_off_the_board(depths, pieces, depth):
    assert depths[tuple("abcdefgh".index(file) + 8 * (int(rank) - 1) for file, rank in pieces.split())] == depth


def test_end_boards_are_those_of_a_plain_enumeration():
    table = endgames.tic_tac_toe_ends()
    found = ["".join(row).replace("b", ".") for row in table.drop(columns="x_wins").to_numpy()]
    expected = {board for board in reachable("x") if is_over(board)}
    assert len(found) == len(set(found)) == 958
    assert set(found) == expected
    assert [winner(board) == "x" for board in found] == table.x_wins.tolist()
    assert Counter(table.x_wins.tolist()) == {True: 626, False: 332}
    assert all(board_of(code(board)) == board for board in found)


def test_examples_are_numbers_that_tell_all_positions_apart(chess):
    x, y = endgames.examples("chess")
    assert x.shape == (28056, 6)
    assert y.nunique() == 18
    x, y = endgames.examples("endgame")
    assert x.shape == (958, 18)
    assert not x.duplicated().any()
    assert y.sum() == 626


def test_unknown_tables_and_trees_are_named():
    with refused("table", "go", names="'chess' or 'endgame'"):
        endgames.learning_curves("go")
    with refused("algorithms", "C4.5", names="'entropy', .* or 'Gini'"):
        endgames.learning_curves("endgame", algorithms=["C4.5"])
