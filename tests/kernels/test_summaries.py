import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles_distribution as oracles
from xcurves.kernels.distributions import ecdf
from xcurves.kernels.distributions.ecdf import CentredSums
from xcurves.kernels.distributions.summaries import Summaries

LEVELS = [0.0, 0.25, 0.5, 0.7, 0.9]
THRESHOLDS = [-1.0, 0.0, 1.5]
SAMPLES = st.lists(st.integers(-4, 4), min_size=1, max_size=11)


def summaries(*, conditional=False, higher=True, target=0.5):
    return Summaries(np.array(LEVELS), conditional, np.array(THRESHOLDS), np.array([target]), higher)


def observe(sample, **options):
    x = np.full((1, len(sample) + 2), np.nan)
    x[0, : len(sample)] = sorted(sample)
    return summaries(**options).observe(x, CentredSums(x, np.array([len(sample)])))[0]


def mirrored(sample, *, conditional):
    """Statistics of scores where lower is better: those of the negative scores, by oracles."""
    upper, lower = (
        (oracles.cvar_conditional, oracles.cvar_lower_conditional)
        if conditional
        else (oracles.cvar, oracles.cvar_lower)
    )
    tails = [lower(sample, level) for level in LEVELS]
    tails += [upper(sample, level) for level in LEVELS]
    partial = [sum(z for z in sample if z <= t) / len(sample) for t in THRESHOLDS]
    share = [sum(z <= t for z in sample) / len(sample) for t in THRESHOLDS]
    gap = np.mean([max(z, 0.5) for z in sample]) - 0.5
    first = oracles.statistics(sample, [], [], 0)[:4]
    return [*first, *tails, *partial, *share, gap]


@given(SAMPLES, st.booleans())
def test_statistics_are_those_of_rationals_and_loops(sample, conditional):
    sample = [float(z) for z in sample]
    options = {"conditional": conditional}
    expected = oracles.statistics(sample, LEVELS, THRESHOLDS, 0.5, conditional=conditional)
    np.testing.assert_allclose(observe(sample, **options), expected, atol=1e-12)
    np.testing.assert_allclose(
        observe(sample, higher=False, **options),
        mirrored(sample, **options),
        atol=1e-12,
    )


def test_the_two_cvars_differ_by_the_boundary_trial():
    five = [1.0, 2, 3, 4, 5]
    at_half = LEVELS.index(0.5) + 4
    np.testing.assert_allclose(observe(five)[at_half], 4.2)
    np.testing.assert_allclose(observe(five, conditional=True)[at_half], 4.0)


def test_a_tenth_of_ten_trials_is_one():
    ten = [float(z) for z in range(10)]
    assert observe(ten)[LEVELS.index(0.9) + 4] == 9


def test_no_trial_has_no_statistics():
    x = np.full((1, 3), np.nan)
    assert np.isnan(summaries().observe(x, CentredSums(x, np.array([0])))).all()
    assert np.isnan(summaries(conditional=True).observe(x, CentredSums(x, np.array([0])))).all()


MAYBE_INFINITE = st.lists(st.sampled_from([*range(-4, 5), math.inf]), min_size=2, max_size=9)


@given(MAYBE_INFINITE, st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_statistics_of_a_resample_are_those_of_its_trials(sample, seed, conditional, higher):
    """Counts of trials, as many in all as there are or not, instead of the trials themselves."""
    counts = np.random.default_rng(seed).integers(0, 3, len(sample))
    counts[seed % len(sample)] += 2
    x = np.array([sorted(map(float, sample))])
    chosen = np.repeat(x[0], counts)
    options = {"conditional": conditional, "higher": higher}
    found = summaries(**options).resampled(x, np.cumsum(counts)[np.newaxis, np.newaxis].astype(float))[0, 0]
    np.testing.assert_allclose(found, observe(chosen, **options), atol=1e-9)


@pytest.mark.plain(6)
@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("level", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("ends", [(-5.0, 9.0), (-math.inf, math.inf), (-5.0, math.inf)])
def test_bounds_are_integrals_of_the_band(level, ends, higher):
    sample = [-4.0, -1.0, -1.0, 0.0, 2.0, 3.0, 3.0, 8.0]
    x, (lower, upper) = np.array([sample]), oracles.band(8, level)
    found = summaries(higher=higher).bounds(x, CentredSums(x, np.array([8])), level, *ends)[0]
    tails = [(oracles.decimal(level), Fraction(1)) for level in LEVELS]
    lower_tails = [(Fraction(0), 1 - oracles.decimal(level)) for level in LEVELS]
    both = [*tails, *lower_tails] if higher else [*lower_tails, *tails]
    spans = {
        0: (Fraction(0), Fraction(1)),
        3: (Fraction(1, 4), Fraction(3, 4)),
        **dict(enumerate(both, start=4)),
    }
    for place, span in spans.items():
        expected = [oracles.mean_in_band(sample, *span, limits, ends) for limits in (upper, lower)]
        np.testing.assert_allclose(found[place], expected, atol=1e-9)
    cap = min if higher else max
    capped, ends_capped = (
        [cap(z, 0.5) for z in sample],
        tuple(cap(end, 0.5) for end in ends),
    )
    means = [oracles.mean_in_band(capped, Fraction(0), Fraction(1), limits, ends_capped) for limits in (upper, lower)]
    np.testing.assert_allclose(found[-1], sorted(abs(0.5 - mean) for mean in means), atol=1e-9)
    unknown = [
        1,
        2,
        *range(4 + 2 * len(LEVELS), 4 + 2 * len(LEVELS) + 2 * len(THRESHOLDS)),
    ]
    assert np.isnan(found[unknown]).all()


def test_bounds_of_more_trials_than_have_local_levels_are_integrals_of_the_parallel_band():
    x = np.sort(np.random.default_rng(0).normal(5, 1, (2, 20_001)))
    x[1, -3:] = np.inf
    found = summaries(target=6.0).bounds(x, CentredSums(x, np.array([20_001, 20_001])), 0.05, -50.0, 90.0)
    lower, upper = ecdf.band(20_001, 0.05)
    spans = {0: (0, 1), 3: (0.25, 0.75)} | {4 + i: (level, 1) for i, level in enumerate(LEVELS)}
    for row, own in enumerate(x):
        for place, (start, stop) in spans.items():
            for end, (edges, values) in enumerate(
                ((np.append(0, upper), [-50, *own]), (np.append(lower, 1), [*own, 90]))
            ):
                share = np.diff(np.clip(edges, start, stop)) / (stop - start)
                expected = np.sum(np.multiply(values, share, where=share > 0, out=np.zeros(20_002)))
                np.testing.assert_allclose(found[row, place, end], expected, rtol=1e-9)
