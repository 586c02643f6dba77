"""Slow, plain answers about distributions that share no code with the library: loops, rationals, full enumerations."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np


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


def mean_of_inverse_cdf(sample, low, high, shift=Fraction(0), ends=(None, None)):
    """Mean of F⁻¹(p + shift) over (low, high), exactly; `ends` stand for F⁻¹ outside (0, 1]."""
    n = len(sample)
    cuts = sorted({low, high} | {Fraction(k, n) - shift for k in range(n + 1) if low < Fraction(k, n) - shift < high})
    total = Fraction(0)
    for left, right in itertools.pairwise(cuts):
        p = (left + right) / 2 + shift
        z = ends[0] if p <= 0 else ends[1] if p > 1 else inverse_cdf(sample, p)
        if math.isinf(z):
            return z
        total += (right - left) * Fraction(z)
    return float(total / (high - low))


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


def iqm_fractional(sample):
    return mean_of_inverse_cdf(sample, Fraction(1, 4), Fraction(3, 4))


def statistics(sample, levels, thresholds, target, *, conditional=False, fractional=False):
    """All statistics in the order of the library's; higher is better."""
    sample = [float(z) for z in sample]
    upper, lower = (cvar_conditional, cvar_lower_conditional) if conditional else (cvar, cvar_lower)
    return [
        np.mean(sample),
        np.median(sample),
        np.std(sample, ddof=1) if len(sample) > 1 else np.nan,
        (iqm_fractional if fractional else iqm)(sample),
        *(upper(sample, level) for level in levels),
        *(lower(sample, level) for level in levels),
        *(sum(z for z in sample if z >= threshold) / len(sample) for threshold in thresholds),
        *(sum(z >= threshold for z in sample) / len(sample) for threshold in thresholds),
        target - np.mean([min(z, target) for z in sample]),
    ]


def ks_distance(x, y):
    return max(
        abs(Fraction(sum(v <= z for v in x), len(x)) - Fraction(sum(v <= z for v in y), len(y))) for z in [*x, *y]
    )


def ks_enumeration(x, y):
    """P(D >= observed) over all splits of the pooled trials, in rationals."""
    pool, observed = [*x, *y], ks_distance(x, y)
    splits = list(itertools.combinations(range(len(pool)), len(x)))
    hits = sum(
        ks_distance([pool[i] for i in split], [pool[i] for i in range(len(pool)) if i not in split]) >= observed
        for split in splits
    )
    return hits / len(splits)


def ks_paired_enumeration(x, y):
    """The same over all swaps within runs."""
    observed = ks_distance(x, y)
    hits = 0
    for swaps in itertools.product((False, True), repeat=len(x)):
        pairs = [(b, a) if swap else (a, b) for a, b, swap in zip(x, y, swaps, strict=True)]
        hits += ks_distance(*map(list, zip(*pairs, strict=True))) >= observed
    return hits / 2 ** len(x)


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
