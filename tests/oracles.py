"""Slow, plain answers that share no code with the library: loops over definitions, full enumerations."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy import integrate, stats


def anova_sums(groups):
    """Sums of squares by their definitions; `groups` has a list of curves (lists of scores) for every algorithm."""
    scores = [[list(map(float, curve)) for curve in group] for group in groups]
    k = len(scores[0][0])
    curves = [curve for group in scores for curve in group]
    n = len(curves)
    grand = math.fsum(map(math.fsum, curves)) / (n * k)
    level = [math.fsum(curve[h] for curve in curves) / n for h in range(k)]
    ss = dict.fromkeys(
        (
            "algorithm",
            "training",
            "interaction",
            "error",
            "total",
            "runs",
            "runs_x_training",
        ),
        0.0,
    )
    ss["training"] = n * math.fsum((mean - grand) ** 2 for mean in level)
    ss["total"] = math.fsum((y - grand) ** 2 for curve in curves for y in curve)
    for group in scores:
        size = len(group)
        cell = [math.fsum(curve[h] for curve in group) / size for h in range(k)]
        mean = math.fsum(cell) / k
        ss["algorithm"] += k * size * (mean - grand) ** 2
        ss["interaction"] += size * math.fsum((cell[h] - mean - level[h] + grand) ** 2 for h in range(k))
        for curve in group:
            own = math.fsum(curve) / k
            ss["error"] += math.fsum((curve[h] - cell[h]) ** 2 for h in range(k))
            ss["runs"] += k * (own - mean) ** 2
            ss["runs_x_training"] += math.fsum((curve[h] - own - cell[h] + mean) ** 2 for h in range(k))
    return ss


def paired_strata(groups):
    """SS of algorithm by run, and of algorithm by run by training, by their definitions; equal numbers of runs."""
    y = np.array(groups, float)
    run, run_level = y.mean(axis=(0, 2)), y.mean(axis=0)
    algorithm, cell, curve = y.mean(axis=(1, 2)), y.mean(axis=1), y.mean(axis=2)
    grand, level = y.mean(), y.mean(axis=(0, 1))
    m, l, k = y.shape
    by_run = by_run_level = 0.0
    for i, j in itertools.product(range(m), range(l)):
        by_run += k * (curve[i, j] - algorithm[i] - run[j] + grand) ** 2
        for h in range(k):
            rest = y[i, j, h] - cell[i, h] - run_level[j, h] - curve[i, j] + algorithm[i] + run[j] + level[h] - grand
            by_run_level += rest**2
    return {"algorithm": by_run, "interaction": by_run_level}


def f_ratios(groups, paired=False):
    """F of algorithm and interaction with both error terms, from the loops above."""
    ss = anova_sums(groups)
    m, n, k = len(groups), sum(map(len, groups)), len(groups[0][0])
    between, within = m - 1, n - m
    strata = {"algorithm": ss["runs"], "interaction": ss["runs_x_training"]}
    if paired:
        strata, within = paired_strata(groups), (m - 1) * (len(groups[0]) - 1)
    pooled = ss["error"] / (k * (n - m))
    ms = {
        "algorithm": ss["algorithm"] / between,
        "interaction": ss["interaction"] / max(between * (k - 1), 1),
    }
    df = {"algorithm": within, "interaction": within * (k - 1)}
    return {
        effect: {
            "pooled": _ratio(ms[effect], pooled),
            "split_plot": _ratio(ms[effect], strata[effect] / max(df[effect], 1)),
        }
        for effect in ms
    }


def _ratio(a, b):
    return a / b if b else (math.inf if a else math.nan)


def distinct_assignments(sizes):
    """All distinct assignments of curves 0 .. N-1 to groups of these sizes, groups of one size not told apart."""
    seen = {}
    for order in itertools.permutations(range(sum(sizes))):
        groups, start = [], 0
        for size in sizes:
            groups.append(tuple(sorted(order[start : start + size])))
            start += size
        key = frozenset(groups)
        seen.setdefault(key, groups)
    return list(seen.values())


def paired_assignments(m, l):
    """All labelled assignments that permute the algorithms within each run: lists of groups of (algorithm, run)."""
    for choice in itertools.product(itertools.permutations(range(m)), repeat=l):
        yield [[(choice[j][i], j) for j in range(l)] for i in range(m)]


def exact_counts(groups, tie=1e-9):
    """Number of distinct unpaired assignments whose F is at least the observed, for both effects and error terms."""
    curves = [curve for group in groups for curve in group]
    sizes = [len(group) for group in groups]
    assignments = distinct_assignments(sizes)
    return _count(
        groups,
        ([[curves[j] for j in members] for members in a] for a in assignments),
        tie,
    ), len(assignments)


def exact_paired_counts(groups, tie=1e-9):
    """The same for paired designs, over labelled assignments."""
    m, l = len(groups), len(groups[0])
    shuffled = ([[groups[i][j] for i, j in members] for members in a] for a in paired_assignments(m, l))
    return _count(groups, shuffled, tie, paired=True), math.factorial(m) ** l


def _count(groups, shuffled, tie, paired=False):
    observed = f_ratios(groups, paired)
    counts = {effect: dict.fromkeys(("pooled", "split_plot"), 0) for effect in observed}
    for each in shuffled:
        found = f_ratios(each, paired)
        for effect, error_term in itertools.product(counts, ("pooled", "split_plot")):
            counts[effect][error_term] += found[effect][error_term] >= observed[effect][error_term] * (1 - tie)
    return counts


def exact_integer_counts(groups):
    """Like `exact_counts` for whole-number scores, in rational arithmetic: ties are exactly ties."""
    curves = [[Fraction(int(y)) for y in curve] for group in groups for curve in group]
    sizes = [len(group) for group in groups]
    observed = _rational_shares(_split(curves, range(len(curves)), sizes))
    assignments = distinct_assignments(sizes)
    counts = dict.fromkeys(observed, 0)
    for members in assignments:
        found = _rational_shares([[curves[j] for j in group] for group in members])
        for key in counts:
            counts[key] += found[key] >= observed[key]
    return counts, len(assignments)


def _split(curves, order, sizes):
    places = iter(order)
    return [[curves[next(places)] for _ in range(size)] for size in sizes]


def _rational_shares(groups):
    """SS / (SS + error SS), monotone in F, for both effects and error terms, in rational arithmetic."""
    k, n = len(groups[0][0]), sum(map(len, groups))
    level = [sum(curve[h] for group in groups for curve in group) / n for h in range(k)]
    grand = sum(level) / k
    algorithm = interaction = runs = runs_level = Fraction(0)
    for group in groups:
        cell = [sum(curve[h] for curve in group) / len(group) for h in range(k)]
        mean = sum(cell) / k
        algorithm += k * len(group) * (mean - grand) ** 2
        interaction += len(group) * sum((cell[h] - mean - level[h] + grand) ** 2 for h in range(k))
        for curve in group:
            own = sum(curve) / k
            runs += k * (own - mean) ** 2
            runs_level += sum((curve[h] - own - cell[h] + mean) ** 2 for h in range(k))
    error = runs + runs_level
    return {
        ("algorithm", "pooled"): algorithm / (algorithm + error),
        ("interaction", "pooled"): interaction / (interaction + error),
        ("algorithm", "split_plot"): algorithm / (algorithm + runs),
        ("interaction", "split_plot"): interaction / (interaction + runs_level),
    }


def level_sums(groups, paired=False):
    """Profiles and error sums of squares of every level by their definitions."""
    k, n = len(groups[0][0]), sum(map(len, groups))
    sizes = [len(group) for group in groups]
    cell = [[math.fsum(curve[h] for curve in group) / len(group) for h in range(k)] for group in groups]
    level = [math.fsum(curve[h] for group in groups for curve in group) / n for h in range(k)]
    d = [[cell[i][h] - level[h] for h in range(k)] for i in range(len(groups))]
    own = [math.fsum(row) / k for row in d]
    found = {"simple": [], "algorithm": [], "interaction": [], "error": []}
    for h in range(k):
        found["simple"].append(math.fsum(sizes[i] * d[i][h] ** 2 for i in range(len(groups))))
        found["algorithm"].append(math.fsum(sizes[i] * own[i] * d[i][h] for i in range(len(groups))))
        found["interaction"].append(math.fsum(sizes[i] * (d[i][h] - own[i]) ** 2 for i in range(len(groups))))
        error = 0.0
        for i, group in enumerate(groups):
            for j, curve in enumerate(group):
                run = math.fsum(other[j][h] for other in groups) / len(groups) - level[h] if paired else 0.0
                error += (curve[h] - cell[i][h] - run) ** 2
        found["error"].append(error)
    return found


def level_f(groups, paired=False):
    """F of every level by itself."""
    return interval_f(groups, [[level] for level in range(len(groups[0][0]))], paired)


def interval_f(groups, stretches, paired=False):
    """F of stretches of levels (lists of their places)."""
    found = level_sums(groups, paired)
    m, n = len(groups), sum(map(len, groups))
    df = (m - 1) * (len(groups[0]) - 1) if paired else n - m
    return [
        _ratio(
            sum(found["simple"][h] for h in s) / (m - 1),
            sum(found["error"][h] for h in s) / df,
        )
        for s in stretches
    ]


def all_assignments(groups, paired=False):
    """The groups of every distinct assignment, or of every labelled one if paired, which counts each alike."""
    if paired:
        for members in paired_assignments(len(groups), len(groups[0])):
            yield [[groups[i][j] for i, j in group] for group in members]
        return
    curves = [curve for group in groups for curve in group]
    for members in distinct_assignments([len(group) for group in groups]):
        yield [[curves[j] for j in group] for group in members]


def share_at_least(null, observed, tie=1e-9):
    """Share of the null values that are at least the observed one, ties included."""
    return sum(value >= observed * (1 - tie) for value in null) / len(null)


def family_pvalues(observed, null):
    """Adjusted p of a family from the F of its members in all assignments: largest F, step by step."""
    members = range(len(observed))
    adjusted, left, highest = [math.nan] * len(observed), list(members), 0.0
    for member in sorted(members, key=lambda i: -observed[i]):
        p = share_at_least([max(row[i] for i in left) for row in null], observed[member])
        highest = max(highest, p)
        adjusted[member] = highest
        left.remove(member)
    return adjusted


def clusters_of(f, threshold):
    """Stretches of neighbouring levels with F above the threshold: lists of (places, mass)."""
    found, places = [], []
    for h in range(len(f) + 1):
        if h < len(f) and f[h] > threshold * (1 + 1e-9):
            places.append(h)
        elif places:
            found.append((places, sum(f[i] for i in places)))
            places = []
    return found


def largest_residual_t(groups, assignments, paired=False):
    """The largest |T| over pairs of groups and levels when residuals are reassigned, one for each assignment."""
    k = len(groups[0][0])
    means = [[sum(curve[h] for curve in group) / len(group) for h in range(k)] for group in groups]
    residuals = [[[y - means[i][h] for h, y in enumerate(curve)] for curve in group] for i, group in enumerate(groups)]
    largest = []
    for members in assignments:
        shuffled = [[residuals[i][j] for i, j in group] for group in members]
        pairs = itertools.combinations(shuffled, 2)
        largest.append(max(abs(t) for a, b in pairs for t in _welch(a, b, paired)[0]))
    return largest


def _welch(a, b, paired):
    """T of the difference of two groups at every level, and its standard error."""
    if paired:
        runs = np.array(a) - np.array(b)
        mean, variance = runs.mean(axis=0), runs.var(axis=0, ddof=1) / len(runs)
    else:
        a, b = np.array(a), np.array(b)
        mean = a.mean(axis=0) - b.mean(axis=0)
        variance = a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b)
    return mean / np.sqrt(variance), np.sqrt(variance)


def difference_bands(groups, largest, alpha, paired=False):
    """Bands of the differences of all pairs of groups at all levels, shape (pair, level, 2)."""
    n_rare = math.floor(alpha * len(largest) + 1e-9)
    critical = sorted(largest)[-n_rare] if n_rare else math.inf
    bands = []
    for a, b in itertools.combinations(groups, 2):
        half = critical * _welch(a, b, paired)[1]
        difference = np.mean(a, axis=0) - np.mean(b, axis=0)
        bands.append(np.stack([difference - half, difference + half], axis=-1))
    return np.array(bands)


def equivalent_levels(groups, margin, largest, alpha, paired=False):
    """Whether all differences lie within the margin, interval included, at every level."""
    return (abs(difference_bands(groups, largest, alpha, paired)) <= margin).all(axis=(0, 2))


def labelled_orders(sizes, paired=False):
    """Every labelled assignment as an order of the runs, those of the first group first; paired: within runs."""
    if paired:
        every = paired_assignments(len(sizes), sizes[0])
        return np.array([[a * sizes[0] + j for group in members for a, j in group] for members in every])

    def splits(left, sizes):
        if not sizes:
            yield ()
            return
        for first in itertools.combinations(left, sizes[0]):
            for rest in splits([place for place in left if place not in first], sizes[1:]):
                yield first + rest

    return np.array(list(splits(range(sum(sizes)), sizes)))


def studentized(u, orders, sizes, weights, paired=False):
    """T of a contrast by its definition, of numbers of shape (..., curve) in every order."""
    groups = np.split(u[..., orders], np.cumsum(sizes)[:-1], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if paired:
            d = sum(a * group for a, group in zip(weights, groups, strict=True))
            return d.mean(axis=-1) / np.sqrt(d.var(axis=-1, ddof=1) / sizes[0])
        estimate = sum(a * group.mean(axis=-1) for a, group in zip(weights, groups, strict=True))
        variances = [a**2 * g.var(axis=-1, ddof=1) / g.shape[-1] for a, g in zip(weights, groups, strict=True)]
        return estimate / np.sqrt(sum(variances))


def step_down_min_p(statistic, second):
    """Adjusted p of tests by the smallest p, lexicographic: arrays (test, reassignment), the observed one first.

    Every reassignment has for each test the share of reassignments with at least as large a statistic, and a second
    number that decides between equal shares, the smaller being the more significant.
    """
    n_tests, n = len(statistic), len(statistic[0])
    keys = []
    for own, then in zip(statistic, second, strict=True):
        shares = [np.count_nonzero(np.asarray(own) >= value - 1e-9) / n for value in own]
        keys.append([(round(share, 9), float(f"{each:.9g}")) for share, each in zip(shares, then, strict=True)])
    left = sorted(range(n_tests), key=lambda test: keys[test][0])
    adjusted, highest = [0.0] * n_tests, 0.0
    while left:
        first = keys[left[0]][0]
        highest = max(
            highest,
            sum(min(keys[test][b] for test in left) <= first for b in range(n)) / n,
        )
        adjusted[left.pop(0)] = highest
    return adjusted


def flips_min_p(x):
    """Adjusted p of sums of numbers whose signs are flipped, x (test, family), NaN if absent."""
    x = np.asarray(x, float)
    n = np.count_nonzero(~np.isnan(x), axis=1)
    filled = np.nan_to_num(x)
    statistic, second = [], []
    for row, size in zip(filled, n, strict=True):
        sums = [math.fsum(row * signs) for signs in itertools.product((1, -1), repeat=x.shape[1])]
        square = math.fsum(row**2)
        t = []
        for total in map(abs, sums):
            error = math.sqrt(max(0.0, size / (size - 1) * (square - total**2 / size)))
            if total < 1e-12:
                t.append(0.0)
            elif error < 1e-7 * math.sqrt(square):
                t.append(math.inf)
            else:
                t.append(total / error)
        statistic.append([abs(total) for total in sums])
        second.append((2 * stats.t.sf(t, size - 1)).tolist())
    return step_down_min_p(statistic, second)


def power_of_t(shift, df, alpha):
    """Return the power of a t-test, as an integral over the spread, given which t is normal."""
    critical = stats.t.ppf(1 - alpha / 2, df)
    constant = (1 - df / 2) * math.log(2) + df / 2 * math.log(df) - math.lgamma(df / 2)

    def at(s):
        tails = [math.erfc((critical * s - each) / math.sqrt(2)) / 2 for each in (shift, -shift)]
        density = math.exp(constant + (df - 1) * math.log(s) - df * s**2 / 2)  # chi over the root of df
        return sum(tails) * density

    return integrate.quad(at, 0, 6, limit=200)[0]
