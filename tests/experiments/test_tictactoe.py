import functools
import itertools
import shlex
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr

from xcurves import tutorial
from xcurves.experiments import tictactoe

# A plain tic-tac-toe: a board is a string of nine characters; "x" is me, "o" the other, "." an empty square.
START = "." * 9
ROWS = ("012", "345", "678", "036", "147", "258", "048", "246")


def winner(board):
    for row in ROWS:
        marks = {board[int(square)] for square in row}
        if marks in ({"x"}, {"o"}):
            return marks.pop()
    return None


def is_over(board):
    return winner(board) is not None or "." not in board


def worth(board):
    return {"x": 1, "o": -1, None: 0}[winner(board)]


def empty_squares(board):
    return [square for square in range(9) if board[square] == "."]


def put(board, square, mark):
    return board[:square] + mark + board[square + 1 :]


def code(board):
    return int(board[::-1].translate(str.maketrans(".xo", "012")), 3)


def board_of(number):
    return np.base_repr(number, 3).zfill(9)[::-1].translate(str.maketrans("012", ".xo"))


@functools.cache
def reachable(first):
    """All boards that alternating play from the empty board can show."""
    seen, level, mark = {START}, {START}, first
    while level:
        level = {put(b, square, mark) for b in level if not is_over(b) for square in empty_squares(b)}
        seen |= level
        mark = "o" if mark == "x" else "x"
    return seen


@functools.cache
def random_play(board, mark):
    """Exact chances that x wins, nobody wins, o wins if both sides put their marks at random."""
    if is_over(board):
        return tuple(Fraction(worth(board) == end) for end in (1, 0, -1))
    squares = empty_squares(board)
    ends = [random_play(put(board, square, mark), "o" if mark == "x" else "x") for square in squares]
    return tuple(sum(shares) / len(squares) for shares in zip(*ends, strict=True))


class PlainLearner:
    """One TD(0) learner in plain Python, playing x."""

    def __init__(self, rate, epsilon):
        self.rate, self.epsilon = rate, epsilon
        self.value = {}

    def pull(self, board, target):
        if board is not None:
            old = self.value.get(board, 0.0)
            self.value[board] = old + self.rate * (target - old)

    def best(self, board):
        values = {square: self.value.get(put(board, square, "x"), 0.0) for square in empty_squares(board)}
        return [square for square, value in values.items() if value == max(values.values())]

    def train(self, i_begin, chances):
        board, last = START, None
        for turn, (chance_of_exploring, chance) in enumerate(chances):
            if turn % 2 == (0 if i_begin else 1):
                explores = chance_of_exploring < self.epsilon
                squares = empty_squares(board) if explores else self.best(board)
                board = put(board, squares[int(chance * len(squares))], "x")
                if not explores:
                    self.pull(last, self.value.get(board, 0.0))
                last = board
            else:
                squares = empty_squares(board)
                board = put(board, squares[int(chance * len(squares))], "o")
            if is_over(board):
                self.pull(last, float(worth(board)))
                return

    def play(self, i_begin, chances):
        board = START
        for turn, chance in enumerate(chances):
            mine = turn % 2 == (0 if i_begin else 1)
            squares = self.best(board) if mine else empty_squares(board)
            board = put(board, squares[int(chance * len(squares))], "x" if mine else "o")
            if is_over(board):
                break
        return worth(board)


def plain_curve(rate, run, levels, epsilon, seed):
    """Scores of one learner; each game draws its own numbers."""
    training, testing = tictactoe._streams(seed, rate, run)
    learner, scores, played = PlainLearner(rate, epsilon), [], 0
    for level in levels:
        for game in range(played, level):
            learner.train(game % 2 == 0, training.random((9, 2)).tolist())
        played = level
        starts = [True] * 50 + [False] * 50
        scores.append(sum(learner.play(i_begin, testing.random(9).tolist()) for i_begin in starts))
    return scores


# Boards and rules


@pytest.mark.parametrize("first", ["x", "o"])
def test_every_reachable_board_ends_and_counts_as_in_a_plain_program(first):
    boards = sorted(reachable(first))
    assert len(boards) == 5478
    assert Counter(winner(b) for b in boards if is_over(b))[None] == 16
    numbers = [code(b) for b in boards]
    np.testing.assert_array_equal(tictactoe._OVER[numbers], [is_over(b) for b in boards])
    np.testing.assert_array_equal(tictactoe._WORTH[numbers], [worth(b) for b in boards])


def test_best_moves_are_the_empty_squares_of_highest_value_on_every_board_with_my_move():
    mine = [b for b in reachable("x") if b.count("x") == b.count("o")]
    mine += [b for b in reachable("o") if b.count("x") < b.count("o")]
    boards = sorted(b for b in mine if not is_over(b))
    values = np.random.default_rng(0).integers(-2, 3, (2, 3**9)) / 2  # few values: many ties
    games = tictactoe._Games(values, np.arange(len(boards)) % 2)
    games.board[:] = [code(b) for b in boards]
    games.empty[:] = [[mark == "." for mark in b] for b in boards]
    for game, (board, found) in enumerate(zip(boards, games.best_moves(), strict=True)):
        value = {square: values[game % 2, code(put(board, square, "x"))] for square in empty_squares(board)}
        assert set(np.flatnonzero(found)) == {s for s in value if value[s] == max(value.values())}


@pytest.mark.parametrize("n_squares", range(1, 10))
def test_uniform_numbers_share_out_the_given_squares_evenly(n_squares):
    squares = np.random.default_rng(n_squares).permutation(9) < n_squares
    lowest, highest = np.arange(n_squares) / n_squares + 1e-9, np.arange(1, n_squares + 1) / n_squares - 1e-9
    chance = np.concatenate([[0.0], lowest, highest, [np.nextafter(1, 0)]])
    games = tictactoe._Games(np.zeros((1, 3**9)), np.zeros(len(chance), int))
    games.move(np.tile(squares, (len(chance), 1)), chance, 1)
    nth = [0, *range(n_squares), *range(n_squares), n_squares - 1]
    np.testing.assert_array_equal((~games.empty).sum(axis=1), 1)
    np.testing.assert_array_equal((~games.empty).argmax(axis=1), np.flatnonzero(squares)[nth])


# Games


@pytest.fixture
def moves(monkeypatch):
    """All moves made: mark, allowed squares, boards before and after, empty squares after."""
    made, move = [], tictactoe._Games.move

    def spy(games, squares, chance, mark):
        allowed, before = squares.copy(), games.board.copy()
        move(games, squares, chance, mark)
        made.append((mark, allowed, before, games.board.copy(), games.empty.copy()))

    monkeypatch.setattr(tictactoe._Games, "move", spy)
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
            assert_legal(side, allowed[game], board_of(before[game]), board_of(after[game]), empty[game])
    ends = [board_of(number) for number in boards]
    assert set(ends) <= reachable("x" if i_begin else "o")
    assert all(map(is_over, ends))
    assert {winner(board) for board in ends} == {"x", "o", None}  # else the check saw too little


@pytest.mark.parametrize("i_begin", [True, False])
def test_test_games_are_legal(moves, i_begin):
    rng = np.random.default_rng(1)
    values = rng.integers(-1, 2, (4, 3**9)).astype(float)
    score = tictactoe._test(values, i_begin, rng.random((4, 100, 9)))
    assert_all_legal(moves, i_begin)
    ends = [worth(board_of(number)) for number in moves[-1][3]]
    np.testing.assert_array_equal(score, [sum(ends[start : start + 100]) for start in range(0, 400, 100)])


@pytest.mark.parametrize("i_begin", [True, False])
def test_training_games_are_legal(moves, i_begin):
    rng = np.random.default_rng(2)
    values = rng.integers(-1, 2, (400, 3**9)).astype(float)
    tictactoe._train(values, np.full(400, 0.5), i_begin, 0.3, rng.random((400, 9, 2)))
    assert_all_legal(moves, i_begin)


def test_testing_does_not_learn():
    values = np.random.default_rng(3).normal(size=(2, 3**9))
    before = values.copy()
    tictactoe._test(values, True, np.random.default_rng(4).random((2, 50, 9)))
    np.testing.assert_array_equal(values, before)


# Play at random


def test_exact_chances_of_random_play_are_those_known():
    assert [f"{float(share):.4f}" for share in random_play(START, "x")] == ["0.5849", "0.1270", "0.2881"]
    assert random_play(START, "o") == random_play(START, "x")[::-1]


@pytest.mark.parametrize("i_begin", [True, False])
def test_learners_that_know_nothing_play_at_random(i_begin):
    """Six standard errors: each of the four checks fails by chance with probability 2e-9."""
    n = 200_000
    values = np.broadcast_to(0.0, (n, 3**9))  # one game each, so that games can be counted by their ends
    ends = tictactoe._test(values, i_begin, np.random.default_rng(5).random((n, 1, 9)))
    chances = np.array(random_play(START, "x" if i_begin else "o"), float)
    mean = chances[0] - chances[2]
    assert abs(ends.mean() - mean) < 6 * np.sqrt((chances[0] + chances[2] - mean**2) / n)
    shares = np.array([(ends == end).mean() for end in (1, 0, -1)])
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    assert (abs(shares - chances) < 6 * np.sqrt(chances * (1 - chances) / n)).all()


# Learning


@pytest.mark.parametrize(
    ("rate", "run", "levels", "epsilon", "seed"),
    [
        (0.1, 0, (0, 7, 50, 611), 0.1, 1998),  # odd steps, and more games than are drawn in one go
        (0.8, 2, (0, 200, 1300), 0.1, 3),
        (0.25, 1, (300,), 0.0, 0),
        (0.5, 0, (0, 100, 400), 1.0, 12345678901),
        (1.0, 1, (1, 2, 3, 4, 5, 600), 0.5, 1),
    ],
)
def test_a_learner_equals_a_plain_loop(rate, run, levels, epsilon, seed):
    expected = plain_curve(rate, run, levels, epsilon, seed)
    found = tictactoe.learning_curves([0.3, rate], run + 1, levels, epsilon=epsilon, seed=seed)
    assert found.score.isel(algorithm=1, run=run).values.tolist() == expected


def test_learned_values_equal_those_of_a_plain_loop():
    rates, epsilon, n_games = [0.1, 0.8, 1.0], 0.2, 400
    chances = np.random.default_rng(6).random((n_games, 3, 9, 2))
    values = np.zeros((3, 3**9))
    plain = [PlainLearner(rate, epsilon) for rate in rates]
    for game in range(n_games):
        tictactoe._train(values, np.array(rates), game % 2 == 0, epsilon, chances[game])
        for learner, mine in zip(plain, chances[game].tolist(), strict=True):
            learner.train(game % 2 == 0, mine)
    expected = np.zeros_like(values)
    for row, learner in zip(expected, plain, strict=True):
        row[[code(board) for board in learner.value]] = list(learner.value.values())
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize(("algorithm", "run"), [(0, 0), (1, 9), (2, 4)])
def test_a_curve_that_comes_with_the_package_equals_a_plain_loop(algorithm, run):
    rate = [0.001, 0.8, 0.1][algorithm]
    expected = plain_curve(rate, run, (0, 200, 500, 1000, 2000, 3000, 5000, 8000), 0.1, 1998)
    found = tutorial.open_dataset("tictactoe")
    assert found.score.isel(algorithm=algorithm, run=run).values.tolist() == expected


def test_won_games_pull_my_last_board_up_and_lost_ones_down():
    rng = np.random.default_rng(7)
    values = np.zeros((500, 3**9))
    tictactoe._train(values, np.full(500, 0.25), True, 0.1, rng.random((500, 9, 2)))
    pulled = [[(board_of(state), row[state]) for state in np.flatnonzero(row)] for row in values]
    assert {len(boards) for boards in pulled} == {0, 1}  # nothing but the end of a first game is news
    boards = [one for boards in pulled for one in boards]
    assert {value for _, value in boards} == {0.25, -0.25}
    assert all((winner(board) == "x") == (value > 0) for board, value in boards)


# Streams: which learners are made, and seeds

SMALL = (0, 60, 520)


@functools.cache
def small_curves(seed=0):
    return tictactoe.learning_curves([0.1, 0.8, 0.3], 3, SMALL, seed=seed)


@pytest.mark.parametrize("rates", [[0.8], [0.3, 0.1], [0.8, 0.5, 0.1]])
@pytest.mark.parametrize("n_runs", [1, 3])
def test_a_curve_does_not_depend_on_the_others_made(rates, n_runs):
    found = tictactoe.learning_curves(rates, n_runs, SMALL, seed=0)
    shared = [f"rate {rate}" for rate in rates if rate != 0.5]
    expected = small_curves().sel(algorithm=shared, run=range(n_runs))
    xr.testing.assert_identical(found.sel(algorithm=shared), expected)


def test_a_curve_does_not_depend_on_later_levels():
    found = tictactoe.learning_curves([0.1, 0.8, 0.3], 3, SMALL[:2], seed=0)
    xr.testing.assert_identical(found, small_curves().isel(training=slice(2)))


def test_the_same_seed_gives_the_same_curves():
    found = tictactoe.learning_curves([0.1, 0.8, 0.3], 3, SMALL, seed=0)
    xr.testing.assert_identical(found, small_curves())


def test_another_seed_gives_other_curves():
    differ = small_curves(seed=0).score != small_curves(seed=1).score
    assert differ.any("training").all()


def test_no_two_curves_are_the_same():
    curves = small_curves().score.values.reshape(9, -1)
    assert len(np.unique(curves, axis=0)) == 9


def test_no_two_streams_are_the_same():
    learners = itertools.product([0, 1, 1998], [0.001, 0.8, 0.1, 0.5, 1.0], range(10))
    streams = [stream for learner in learners for stream in tictactoe._streams(*learner)]
    assert len({stream.random() for stream in streams}) == len(streams) == 300


# Labels and the command line


def test_curves_say_what_they_are():
    curves = small_curves(seed=1)
    assert curves.score.dims == ("algorithm", "run", "training")
    assert curves.algorithm.values.tolist() == ["rate 0.1", "rate 0.8", "rate 0.3"]
    assert curves.run.values.tolist() == [0, 1, 2]
    assert curves.training.values.tolist() == [0.0, 60.0, 520.0]
    assert curves.training.attrs["units"] == "games"
    assert curves.attrs["seed"] == 1
    assert curves.attrs["epsilon"] == 0.1


def test_the_command_writes_curves_of_the_seed_asked_for(tmp_path, monkeypatch):
    small = functools.partial(tictactoe.learning_curves, [0.1], 2, [0, 5])
    monkeypatch.setattr(tictactoe, "learning_curves", small)
    tictactoe.main([str(tmp_path / "mine.nc"), "--seed", "7"])
    with xr.open_dataset(tmp_path / "mine.nc", engine="scipy") as found:
        command = shlex.split(found.attrs.pop("command"))
        xr.testing.assert_identical(found.load(), small(seed=7))
    assert command == ["python", "-m", "xcurves.experiments.tictactoe", "mine.nc", "--seed", "7"]


def test_levels_must_increase():
    with pytest.raises(ValueError, match=r"^levels must increase; got \[50, 10\]. Sort them$"):
        tictactoe.learning_curves([0.1], 1, [50, 10])
