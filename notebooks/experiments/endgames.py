"""The two UCI endgame tables of Piater, Cohen, Zhang & Atighetchi, computed here, nothing downloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import xarray as xr

from experiments import learning
from experiments.shared import check_chosen, sklearn
from experiments.tictactoe import ME, OTHER, OVER, POWERS, SQUARES, WORTH
from xcurves.array_types import Bools, Ints
from xcurves.core import validation

TableName = Literal["chess", "endgame"]

DRAW = -1
N_FOLDS = 20
_FILE, _RANK = np.arange(64) % 8, np.arange(64) // 8
_TOP_DOWN = ("top", "middle", "bottom")
_LEFT_RIGHT = ("left", "middle", "right")


def king_rook_king() -> pd.DataFrame:
    """Return the table of king and rook against king, by retrograde analysis.

    Returns
    -------
    DataFrame
        28,056 rows: `white_king_file`, `white_king_rank`, `white_rook_file`, `white_rook_rank`, `black_king_file`,
        `black_king_rank`, each from 1 to 8, and `depth`, White's moves to mate under best play by both sides with
        Black to move, -1 for a draw.

    Notes
    -----
    Of two positions that mirror each other, the one is kept that has the black king on or below the diagonal, and if
    the black king is on it, also the rook.

    References
    ----------
    Bain (1994), Learning Logical Exceptions in Chess. The table is doi:10.24432/C57W2S.

    Examples
    --------
    >>> table = king_rook_king()
    >>> table["depth"].value_counts()[[-1, 0, 16]].tolist()
    [2796, 27, 390]
    """
    depth = depths()
    king, rook, black = np.nonzero(depth >= DRAW)
    white_side, black_side, rook_side = (np.sign(_FILE[piece] - _RANK[piece]) for piece in (king, black, rook))
    # of the diagonal, by the first piece that is not on it
    side = 4 * white_side + 2 * black_side + rook_side
    kept = (_FILE[king] < 4) & (white_side >= 0) & (side >= 0)
    king, rook, black = king[kept], rook[kept], black[kept]
    columns = {
        f"{name}_{axis}": of[piece] + 1
        for name, piece in (
            ("white_king", king),
            ("white_rook", rook),
            ("black_king", black),
        )
        for axis, of in (("file", _FILE), ("rank", _RANK))
    }
    return pd.DataFrame({**columns, "depth": depth[king, rook, black]})


def depths() -> Ints:
    """Return White's moves to mate with Black to move, (white king, rook, black king); draws -1, impossible -2."""
    apart, sees = ~np.eye(64, dtype=bool), _sees()
    # where a king goes
    near = np.maximum(abs(_FILE[:, np.newaxis] - _FILE), abs(_RANK[:, np.newaxis] - _RANK)) == 1
    legal = (apart & ~near)[:, np.newaxis] & apart[:, :, np.newaxis] & apart
    check = sees & legal
    # of a rook that its king does not guard
    captures = (apart & ~near)[:, :, np.newaxis] & ~apart
    can_move = _black_reaches((legal & ~check) | captures, near)
    # whether the rook goes, shape (white king, black king, from, to)
    past_kings = sees[:, np.newaxis] & sees
    lost = check & ~can_move
    depth = np.where(legal, DRAW, DRAW - 1)
    depth[lost] = 0
    for moves in range(1, 64):
        safe = (legal & ~check & ~_white_reaches(lost, near, past_kings)) | captures
        now = legal & can_move & ~lost & ~_black_reaches(safe, near)
        if not now.any():
            break
        depth[now] = moves
        lost |= now
    return depth


def _sees() -> Bools:
    """Whether a rook goes from one square to another with a piece on a third, shape (third, from, to)."""
    third, start, end = np.ogrid[:64, :64, :64]
    sees = np.zeros((64, 64, 64), bool)
    for along, across in ((_FILE, _RANK), (_RANK, _FILE)):
        same = (across[start] == across[end]) & (start != end)
        between = (across[third] == across[start]) & ((along[third] - along[start]) * (along[third] - along[end]) < 0)
        sees |= same & ~between
    return sees


def _black_reaches(good: Bools, near: Bools) -> Bools:
    """Return in which positions the black king has a move to a good one."""
    return good.astype(np.float32) @ near.astype(np.float32) > 0


def _white_reaches(good: Bools, near: Bools, past_kings: Bools) -> Bools:
    """Return in which positions White has a move to a good one."""
    by_king = near.astype(np.float32) @ good.reshape(64, -1).astype(np.float32) > 0
    by_rook = np.einsum("kbrs,ksb->krb", past_kings, good)
    return np.asarray(by_king.reshape(good.shape) | by_rook)


def tic_tac_toe_ends() -> pd.DataFrame:
    """Return all boards of tic-tac-toe on which a game ends, x moving first.

    Returns
    -------
    DataFrame
        958 rows: a column for each square, `top_left` to `bottom_right`, with "x", "o" or "b" (blank), and `x_wins`,
        which is True 626 times.

    References
    ----------
    Aha (1991), Incremental constructive induction: an instance-based approach. The table is doi:10.24432/C5688J.

    Examples
    --------
    >>> table = tic_tac_toe_ends()
    >>> len(table), int(table["x_wins"].sum())
    (958, 626)
    """
    boards = np.zeros(1, np.int64)
    ends = []
    for turn in range(9):
        mark = ME if turn % 2 == 0 else OTHER
        place, square = np.nonzero(SQUARES[boards] == 0)
        boards = np.unique(boards[place] + mark * POWERS[square])
        ends.append(boards[OVER[boards]])
        boards = boards[~OVER[boards]]
    final = np.concatenate(ends)
    names = [f"{row}_{column}" for row in _TOP_DOWN for column in _LEFT_RIGHT]
    marks = pd.DataFrame(np.array(["b", "x", "o"])[SQUARES[final]], columns=names)
    return marks.assign(x_wins=WORTH[final] > 0)


def examples(table: TableName) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Return features that a decision tree can split (of a square two: whether x, whether o is there), and classes."""
    validation.check_choice("table", table, get_args(TableName))
    if table == "chess":
        positions = king_rook_king()
        return positions.drop(columns="depth"), positions["depth"]
    boards = tic_tac_toe_ends()
    marks = boards.drop(columns="x_wins")
    columns = {f"{square}_{mark}": (marks[square] == mark).astype(int) for square in marks for mark in "xo"}
    return pd.DataFrame(columns), boards["x_wins"]


def trees() -> Mapping[str, Any]:
    """Return decision trees by their names; the first is used in place of C4.5."""
    tree = sklearn("tree").DecisionTreeClassifier
    return {
        "entropy": tree(criterion="entropy"),
        "entropy, 5 per leaf": tree(criterion="entropy", min_samples_leaf=5),
        "Gini": tree(criterion="gini"),
    }


def learning_curves(
    table: TableName = "chess",
    *,
    algorithms: Sequence[str] | None = None,
    n_folds: int = N_FOLDS,
    levels: Sequence[int] | None = None,
    seed: int = learning.SEED,
) -> xr.Dataset:
    """Cross-validate decision trees on a table of endgames, the Chess and Tic-Tac-Toe curves of the paper.

    Parameters
    ----------
    table : {"chess", "endgame"}
        King and rook against king, or final boards of tic-tac-toe.
    algorithms : sequence of str, optional
        Which of `trees`, by default all.
    n_folds, levels, seed : int, sequence of int and int
        As for `learning.cross_validation`: by default twenty folds and ten equal steps of training.

    Returns
    -------
    Dataset
        `accuracy` (algorithm, run, training), in percent of the fold held out.

    Raises
    ------
    ValueError, TypeError, ModuleNotFoundError
        If there is no such table or tree; as `learning.cross_validation`.

    Examples
    --------
    >>> curves = learning_curves("endgame", algorithms=["entropy"], n_folds=3, levels=[50, 500])
    >>> dict(curves.accuracy.sizes)
    {'algorithm': 1, 'run': 3, 'training': 2}
    """
    x, y = examples(table)
    chosen = check_chosen("algorithms", algorithms, trees())
    made = learning.cross_validation(chosen, x.to_numpy(), y.to_numpy(), n_folds=n_folds, levels=levels, seed=seed)
    what = {
        "chess": "king and rook against king",
        "endgame": "final boards of tic-tac-toe",
    }[table]
    references = "Piater, Cohen, Zhang & Atighetchi (1998), Proc. 15th Int. Conf. on Machine Learning, 430-438"
    return made.assign_attrs(title=f"decision trees on {what}: {made.attrs['title']}", references=references)
