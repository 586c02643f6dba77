"""The group-sequential test by its definition: every nested assignment in a list, every condition in a loop."""

from __future__ import annotations

import functools
import itertools
import math


def deals(cell):
    """Every way to label the runs of one batch, the observed one first; `cell` has the numbers of both sides."""
    a, b = cell
    pool = [*a, *b]
    mean = math.fsum(pool) / len(pool)
    z = [value - mean for value in pool]
    for chosen in itertools.combinations(range(len(z)), len(a)):
        yield [z[i] for i in chosen], [z[i] for i in range(len(z)) if i not in chosen]


def statistic(sides):
    """|Σ w d| / sqrt(Σ w² v) over tasks, each a pair of lists; None while a task has one run of a side."""
    difference = variance = 0.0
    for a, b in sides:
        if min(len(a), len(b)) < 2:
            return None
        means = [math.fsum(side) / len(side) for side in (a, b)]
        squares = [
            math.fsum((value - mean) ** 2 for value in side) / (len(side) - 1)
            for side, mean in zip((a, b), means, strict=True)
        ]
        difference += (means[0] - means[1]) / len(sides)
        variance += (squares[0] / len(a) + squares[1] / len(b)) / len(sides) ** 2
    if abs(difference) < 1e-12:
        return 0.0
    return math.inf if variance < 1e-24 else abs(difference) / math.sqrt(variance)


def nested(batches):
    """T of every nested assignment at every look; `batches` has, for each look, a cell for each task."""
    rows = [[([], []) for _ in batches[0]]]
    looks = []
    for batch in batches:
        rows = [
            [([*a, *c], [*b, *d]) for (a, b), (c, d) in zip(row, dealt, strict=True)]
            for row in rows
            for dealt in itertools.product(*map(deals, batch))
        ]
        looks.append([statistic(row) for row in rows])
    return looks


def at_least(t, other):
    return t == other or t >= other - 1e-9 * max(1.0, other)


def sequential(batches, share, alpha):
    """q, critical value and stagewise p at every look, for every assignment in turn."""
    before = [math.inf]
    out = []
    for statistics, s in zip(nested(batches), share, strict=False):
        n = len(statistics)
        before = [q for q in before for _ in range(n // len(before))]
        if statistics[0] is None:
            out.append({"q": before, "c": math.inf, "stagewise": 1.0, "t": math.nan})
            continue

        def count(x, t, before=before, statistics=statistics):
            return sum(q <= x or at_least(other, t) for q, other in zip(before, statistics, strict=True))

        q = [
            min(old, least(lambda x, t=t: count(x, t), s * n, before))
            for old, t in zip(before, statistics, strict=True)
        ]
        crossed = [old <= alpha + 1e-12 for old in before]
        new = [t for t, p, old in zip(statistics, q, crossed, strict=True) if p <= alpha + 1e-12 and not old]
        stagewise = sum(old or at_least(t, statistics[0]) for t, old in zip(statistics, crossed, strict=True)) / n
        out.append(
            {
                "q": q,
                "c": min(new, default=math.inf),
                "stagewise": stagewise,
                "t": statistics[0],
            }
        )
        before = q
    return out


def least(count, budget, values):
    """The least x such that count(y) <= y budget for every y >= x."""
    count = functools.cache(count)
    breaks = sorted({value for value in values if value < math.inf})
    candidates = sorted({*(count(value) / budget for value in [0.0, *breaks]), *breaks})

    def holds(x):
        return all(count(y) <= y * budget + 1e-9 for y in [x, *(value for value in breaks if value > x)])

    return next(x for x in candidates if holds(x))
