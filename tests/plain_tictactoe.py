"""Tic-tac-toe in plain Python, and a learner of it: what the experiments are checked against."""

import functools
from fractions import Fraction

# A board is a string of nine characters; "x" is me, "o" the other, "." an empty square.
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
    return "".join(".xo"[number // 3**square % 3] for square in range(9))


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


@functools.cache
def minimax(board, mark):
    """The worth of a board to x if both sides play as well as can be, `mark` to move."""
    if is_over(board):
        return worth(board)
    other = "o" if mark == "x" else "x"
    return (max if mark == "x" else min)(minimax(put(board, square, mark), other) for square in empty_squares(board))


def perfect_squares(board):
    worths = {square: minimax(put(board, square, "o"), "x") for square in empty_squares(board)}
    return [square for square in worths if worths[square] == min(worths.values())]


PLAIN_OPPONENTS = {"random": empty_squares, "perfect": perfect_squares}


def reply_of(opponent):
    def reply(board, chance):
        squares = PLAIN_OPPONENTS[opponent](board)
        return squares[int(chance * len(squares))]

    return reply


class PlainLearner:
    """One TD(0) learner in plain Python, playing x; `reply` says the opponent's move from a board and a chance."""

    def __init__(self, rate, epsilon, reply=None):
        self.rate, self.epsilon, self.reply = rate, epsilon, reply or reply_of("random")
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
                board = put(board, self.reply(board, chance), "o")
            if is_over(board):
                self.pull(last, float(worth(board)))
                return

    def play(self, i_begin, chances):
        board = START
        for turn, chance in enumerate(chances):
            mine = turn % 2 == (0 if i_begin else 1)
            squares = self.best(board)
            square = squares[int(chance * len(squares))] if mine else self.reply(board, chance)
            board = put(board, square, "x" if mine else "o")
            if is_over(board):
                break
        return worth(board)
