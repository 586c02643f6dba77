"""Slow, plain answers that share no code with the library: loops over definitions, full enumerations."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np


def anova_sums(groups):
    """Sums of squares by their definitions; `groups` has a list of curves (lists of scores) for every algorithm."""
    scores = [[list(map(float, curve)) for curve in group] for group in groups]
    k = len(scores[0][0])
    curves = [curve for group in scores for curve in group]
    n = len(curves)
    grand = math.fsum(map(math.fsum, curves)) / (n * k)
    level = [math.fsum(curve[h] for curve in curves) / n for h in range(k)]
    ss = dict.fromkeys(("algorithm", "training", "interaction", "error", "total", "runs", "runs_x_training"), 0.0)
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
    ms = {"algorithm": ss["algorithm"] / between, "interaction": ss["interaction"] / max(between * (k - 1), 1)}
    df = {"algorithm": within, "interaction": within * (k - 1)}
    return {
        effect: {
            "pooled": _ratio(ms[effect], pooled),
            "stratum": _ratio(ms[effect], strata[effect] / max(df[effect], 1)),
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
    return _count(groups, ([[curves[j] for j in members] for members in a] for a in assignments), tie), len(assignments)


def exact_paired_counts(groups, tie=1e-9):
    """The same for paired designs, over labelled assignments."""
    m, l = len(groups), len(groups[0])
    shuffled = ([[groups[i][j] for i, j in members] for members in a] for a in paired_assignments(m, l))
    return _count(groups, shuffled, tie, paired=True), math.factorial(m) ** l


def _count(groups, shuffled, tie, paired=False):
    observed = f_ratios(groups, paired)
    counts = {effect: dict.fromkeys(("pooled", "stratum"), 0) for effect in observed}
    for each in shuffled:
        found = f_ratios(each, paired)
        for effect, error_term in itertools.product(counts, ("pooled", "stratum")):
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
        ("algorithm", "stratum"): algorithm / (algorithm + runs),
        ("interaction", "stratum"): interaction / (interaction + runs_level),
    }
