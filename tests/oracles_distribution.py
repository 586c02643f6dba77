"""Slow, plain answers about distributions that share no code with the library: loops, rationals, full enumerations."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy import optimize, stats


def decimal(number):
    """The number that was meant: a fraction with at most 12 decimals near a binary one."""
    return Fraction(round(float(number) * 10**12), 10**12)


def inverse_cdf(sample, p):
    """Smallest z with F(z) >= p, in rationals; of p = 0 the smallest trial."""
    values = sorted(sample)
    for k, z in enumerate(values, start=1):
        if Fraction(k, len(values)) >= p:
            return z
    raise AssertionError


def mean_of_inverse_cdf(sample, low, high):
    """Mean of F⁻¹ over (low, high), exactly."""
    n = len(sample)
    cuts = sorted({low, high} | {Fraction(k, n) for k in range(n + 1) if low < Fraction(k, n) < high})
    pieces = list(itertools.pairwise(cuts))
    return float(sum((r - l) * Fraction(inverse_cdf(sample, (l + r) / 2)) for l, r in pieces) / (high - low))


def mean_in_band(sample, low, high, limits, ends):
    """Mean over (low, high) of the inverse of the step function that is limits[k] where k trials are at most z."""
    limits = [Fraction(limit) for limit in limits]
    candidates = [ends[0], *sorted(sample)]
    cuts = sorted({low, high} | {limit for limit in limits if low < limit < high})
    total = Fraction(0)
    for left, right in itertools.pairwise(cuts):
        p = (left + right) / 2
        z = next(
            (z for z in candidates if limits[sum(each <= z for each in sample)] >= p),
            ends[1],
        )
        if math.isinf(z):
            return z
        total += (right - left) * Fraction(z)
    return float(total / (high - low))


def steck(lower, upper):
    """P(lower_i <= U_(i) <= upper_i for all i) of a uniform sample: n! times Steck's determinant, in rationals."""
    lower, upper = ([Fraction(float(each)) for each in ends] for ends in (lower, upper))
    minors = [Fraction(1)]
    for k in range(1, len(lower) + 1):
        entries = [max(upper[i] - lower[k - 1], Fraction(0)) ** (k - i) / math.factorial(k - i) for i in range(k)]
        minors.append(sum((-1) ** (k - 1 - i) * entries[i] * minors[i] for i in range(k)))
    return float(minors[-1] * math.factorial(len(lower)))


def in_cells(lower, upper):
    """The same by enumeration: how many trials fall between any two neighbours of all limits."""
    n, edges = len(lower), sorted({0.0, 1.0, *lower, *upper})
    widths = np.diff(edges)
    total = 0.0
    for cells in itertools.combinations_with_replacement(range(len(widths)), n):
        ends = [(edges[cell], edges[cell + 1]) for cell in cells]
        if all(a <= left and right <= b for a, b, (left, right) in zip(lower, upper, ends, strict=True)):
            counts = np.bincount(cells)
            ways = math.factorial(n) / math.prod(math.factorial(count) for count in counts)
            total += ways * math.prod(widths[list(cells)])
    return total


def equal_local_levels(n, level):
    """The limits of each order statistic, each outside with probability `level`."""
    order = np.arange(1, n + 1)
    return tuple(stats.beta.ppf(tail, order, n + 1 - order) for tail in (level / 2, 1 - level / 2))


def band(n, alpha):
    """Lower and upper limits of F with k = 0 .. n trials at most z, at the level that Steck's determinant gives."""
    level = optimize.brentq(
        lambda level: steck(*equal_local_levels(n, level)) - 1 + alpha,
        alpha / n / 2,
        alpha,
    )
    lower, upper = equal_local_levels(n, level)
    return [0.0, *lower], [*upper, 1.0]


def cvar(sample, level):
    return mean_of_inverse_cdf(sample, decimal(level), Fraction(1))


def cvar_lower(sample, level):
    return mean_of_inverse_cdf(sample, Fraction(0), 1 - decimal(level))


def cvar_conditional(sample, level):
    boundary = inverse_cdf(sample, decimal(level))
    return np.mean([z for z in sample if z >= boundary])


def cvar_lower_conditional(sample, level):
    boundary = inverse_cdf(sample, 1 - decimal(level))
    return np.mean([z for z in sample if z <= boundary])


def iqm(sample):
    values = sorted(sample)
    cut = len(values) // 4
    return np.mean(values[cut : len(values) - cut])


def statistics(sample, levels, thresholds, target, *, conditional=False):
    """All statistics in the order of the library's; higher is better."""
    sample = [float(z) for z in sample]
    upper, lower = (cvar_conditional, cvar_lower_conditional) if conditional else (cvar, cvar_lower)
    return [
        np.mean(sample),
        np.median(sample),
        np.std(sample, ddof=1) if len(sample) > 1 else np.nan,
        iqm(sample),
        *(upper(sample, level) for level in levels),
        *(lower(sample, level) for level in levels),
        *(sum(z for z in sample if z >= threshold) / len(sample) for threshold in thresholds),
        *(sum(z >= threshold for z in sample) / len(sample) for threshold in thresholds),
        target - np.mean([min(z, target) for z in sample]),
    ]


def repeated(strata):
    """Trials of strata that weigh alike: each as often as makes all strata equally long."""
    long = math.lcm(*map(len, strata))
    return [z for stratum in strata for z in stratum for _ in range(long // len(stratum))]


def statistics_of_strata(strata, levels, thresholds, target, *, conditional=False):
    """All statistics of strata that weigh alike, of unlike numbers of trials; higher is better."""
    sample = repeated(strata)
    found = statistics(sample, levels, thresholds, target, conditional=conditional)
    n = sum(map(len, strata))
    found[2] = np.sqrt(n / (n - 1)) * np.std(sample)
    found[3] = mean_of_inverse_cdf(sample, Fraction(1, 4), Fraction(3, 4))
    return found


def ks_distance(x, y):
    return max(
        abs(Fraction(sum(v <= z for v in x), len(x)) - Fraction(sum(v <= z for v in y), len(y))) for z in [*x, *y]
    )


def ks_enumeration(x, y):
    """P(D >= observed) over all splits of the pooled trials, in rationals."""
    pool, observed = [*x, *y], ks_distance(x, y)
    splits = list(itertools.combinations(range(len(pool)), len(x)))
    hits = sum(
        ks_distance(
            [pool[i] for i in split],
            [pool[i] for i in range(len(pool)) if i not in split],
        )
        >= observed
        for split in splits
    )
    return hits / len(splits)


def prob_greater(x, y):
    return sum((a > b) + (a == b) / 2 for a in x for b in y) / (len(x) * len(y))


def newcombe(probability, m, n, z):
    """Newcombe's method 5 from the roots of the quartic that its equation is when multiplied out."""
    theta = np.polynomial.Polynomial([0, 1])
    more = (m + n) / 2 - 1
    left = (theta - probability) ** 2 * (m * n) * (2 - theta) * (1 + theta)
    inside = (2 - theta) * (1 + theta) + more * (1 - theta) * (1 + theta) + more * theta * (2 - theta)
    roots = (left - z**2 * theta * (1 - theta) * inside).roots()
    real = sorted({round(root.real, 12) for root in roots if abs(root.imag) < 1e-7 and -1e-9 < root.real < 1 + 1e-9})
    return [
        0.0 if probability == 0 else min(real),
        1.0 if probability == 1 else max(real),
    ]


def resample(sample, rng, n_resamples, statistic):
    """A bootstrap as it is written in textbooks; `sample` is a list of strata."""
    strata = [np.asarray(stratum) for stratum in sample]
    drawn = [
        statistic(np.concatenate([rng.choice(stratum, len(stratum)) for stratum in strata])) for _ in range(n_resamples)
    ]
    return np.array(drawn)
