"""King and rook against king by a plain retrograde analysis: what the experiments are checked against.

A square is (file, rank), a position (white king, rook, black king), Black to move.
"""

import functools

SQUARES = [(file, rank) for file in range(8) for rank in range(8)]
AROUND = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
STRAIGHT = [(1, 0), (-1, 0), (0, 1), (0, -1)]
ON_BOARD = frozenset(SQUARES)
STEPS = {(file, rank): {(file + a, rank + b) for a, b in AROUND} & ON_BOARD for file, rank in SQUARES}


@functools.cache
def slide(rook, *blockers):
    """Squares a rook goes to: up to the first blocker, that one included."""
    squares = set()
    for a, b in STRAIGHT:
        file, rank = rook[0] + a, rook[1] + b
        while (file, rank) in ON_BOARD:
            squares.add((file, rank))
            if (file, rank) in blockers:
                break
            file, rank = file + a, rank + b
    return squares


def black_moves(king, rook, black):
    """Where the black king may go; the rook's square if it may take it."""
    free = STEPS[black] - STEPS[king] - {king, rook} - slide(rook, king)
    return free | ({rook} & STEPS[black] - STEPS[king])


def plain_depths():
    """Moves to mate of every position with Black to move, -1 for a draw."""
    positions = [
        (king, rook, black)
        for king in SQUARES
        for rook in SQUARES
        for black in SQUARES
        if len({king, rook, black}) == 3 and black not in STEPS[king]
    ]
    depth = dict.fromkeys(positions, -1)
    escapes, layer = {}, []
    for king, rook, black in positions:
        escapes[king, rook, black] = black_moves(king, rook, black)
        if not escapes[king, rook, black] and black in slide(rook, king):
            depth[king, rook, black] = 0
            layer.append((king, rook, black))
    won = set()  # positions with White to move
    n_moves = 0
    while layer:
        n_moves += 1
        before = set()
        for king, rook, black in layer:  # where White may have come from
            before |= {(k, rook, black) for k in STEPS[king] if k not in (rook, black)}
            before |= {(king, r, black) for r in slide(rook, king, black) if r not in (king, black)}
        layer = []
        for king, rook, black in before - won:
            won.add((king, rook, black))
            for old in STEPS[black]:  # where Black may have come from
                position = (king, rook, old)
                if position in escapes and black in escapes[position]:
                    escapes[position].remove(black)
                    if not escapes[position]:
                        depth[position] = n_moves
                        layer.append(position)
    return depth
