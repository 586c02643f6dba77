import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import oracles_distribution as oracles
from xcurves.kernels import intervals
from xcurves.kernels.distributions import ecdf

SAMPLES = st.lists(st.integers(-3, 3), min_size=1, max_size=12)


def rows(samples, width=14):
    x = np.full((len(samples), width), np.nan)
    for row, sample in zip(x, samples, strict=True):
        row[: len(sample)] = sorted(sample)
    return x, np.array([len(sample) for sample in samples])


@given(st.lists(SAMPLES, min_size=1, max_size=3))
def test_counts_are_those_of_a_loop(samples):
    x, n = rows(samples)
    z = np.array([[-4, -1, -0.5, 0, 3, 9.0]])
    assert ecdf.count_up_to(x, z).tolist() == [[sum(v <= p for v in s) for p in z[0]] for s in samples]
    assert ecdf.count_up_to(x, z, "below").tolist() == [[sum(v < p for v in s) for p in z[0]] for s in samples]
    assert ecdf.count_up_to(x, np.array([[np.inf]]))[:, 0].tolist() == n.tolist()


@given(SAMPLES, st.integers(1, 60), st.integers(1, 60), st.integers(-4, 4))
def test_quantile_and_cdf_are_galois_inverses(sample, numerator, denominator, z):
    """F⁻¹(p) <= z exactly if p <= F(z)."""
    x, n = rows([sample])
    p = Fraction(min(numerator, denominator), denominator)
    quantile = ecdf.value_at(x, ecdf.quantile_ranks(np.array([float(p)]), n), n).item()
    assert (quantile <= z) == (p <= Fraction(int(ecdf.count_up_to(x, np.array([[float(z)]])).item()), len(sample)))
    assert quantile == oracles.inverse_cdf(sample, p)


@pytest.mark.parametrize("n", [1, 3, 7, 10, 30, 100, 999])
def test_probabilities_that_are_computed_are_what_was_meant(n):
    """10 (1 - 0.9) is 0.9999999999999998 and 3 * 0.1 * 10 is 3.0000000000000004."""
    k = np.arange(1, n + 1)
    for rounded in (
        k / n,
        1 - (n - k) / n,
        np.cumsum(np.full(n, 1 / n)),
        1 - (1 - k / n),
    ):
        assert ecdf.quantile_ranks(rounded, np.array([n])).ravel().tolist() == k.tolist()


@given(st.lists(SAMPLES, min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_sums_up_to_ranks_are_those_of_a_loop(samples, seed):
    x, n = rows(samples, width=max(map(len, samples)))
    rng = np.random.default_rng(seed)
    ranks = np.stack([rng.permutation([0, size, size // 2, *rng.uniform(0, size, 3)]) for size in n])
    expected = [
        [sum(row[: int(rank)]) + (rank % 1) * (row[int(rank)] if rank % 1 else 0) for rank in own]
        for row, own in zip(x, ranks, strict=True)
    ]
    sums = ecdf.CentredSums(x, n)
    np.testing.assert_allclose(sums.up_to(ranks) + sums.centre * ranks, expected, atol=1e-12)


def test_sums_of_many_trials_are_those_of_exact_arithmetic():
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(1e6, 1, size=(2, 100_000)))
    x[1, 70_000:] = np.nan
    ranks = np.array(
        [
            [0, 2.5, 2**15, 65_535.25, 99_999, 100_000],
            [70_000, 2**16, 2**16 + 0.5, 69_999.5, 1, 40_000],
        ]
    )
    sums = ecdf.CentredSums(x, np.array([100_000, 70_000]))
    for row, centre, own, found in zip(x, sums.centre.ravel().tolist(), ranks, sums.up_to(ranks), strict=True):
        expected = []
        for rank in own.tolist():  # fsum is exact, and so are products by 0.25 and 0.5
            whole, part = int(rank), rank % 1
            more = [part * row[whole], -part * centre] if part else []
            expected.append(math.fsum([*row[:whole], *[-centre] * whole, *more]))
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 10, 70_000])
def test_deviations_are_numpys(n):
    x = np.sort(np.random.default_rng(0).normal(1e6, 1, size=(2, n)))
    x = np.concatenate([x, np.full((2, 3), np.nan)], axis=1)
    found = ecdf.CentredSums(x, np.array([n, n])).deviations()
    np.testing.assert_allclose(found, [np.std(row[:n], ddof=1) if n > 1 else np.nan for row in x], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_deviations_of_scores_that_cannot_be_squared_have_their_digits(scale):
    x = np.sort(np.random.default_rng(0).normal(size=(1, 20)), axis=1)
    both = np.concatenate([x, scale * x])  # rows beside each other keep their own units
    one, scaled = ecdf.CentredSums(both, np.array([20, 20])).deviations()
    np.testing.assert_allclose([one, scaled / scale], np.std(x, ddof=1), rtol=1e-12)


@pytest.mark.plain(3)
@pytest.mark.parametrize("n", [1, 2, 10, 41])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_limits_of_a_probability_are_scipys(n, alpha):
    k = np.arange(n + 1)
    lower, upper = intervals.clopper_pearson(k, np.full(n + 1, n), alpha)
    for successes in k:
        ci = stats.binomtest(int(successes), n).proportion_ci(1 - alpha, method="exact")
        np.testing.assert_allclose(
            [lower[successes], upper[successes]],
            [ci.low, ci.high],
            rtol=1e-9,
            atol=1e-14,
        )


@pytest.mark.parametrize("n", [1, 5, 10, 30])
def test_order_statistics_are_the_innermost_that_hold(n):
    p = np.array([0, 0.03, 0.1, 0.5, 0.77, 0.99, 1])
    lower, upper = ecdf.order_statistics(p, np.array([n]), 0.05)
    for place, probability in enumerate(p):
        below = [stats.binom.cdf(rank - 1, n, probability) for rank in range(n + 2)]
        assert lower[0, place] == max(rank for rank in range(n + 1) if below[rank] <= 0.025)
        above = [stats.binom.sf(rank - 1, n, probability) for rank in range(n + 2)]
        assert upper[0, place] == min(rank for rank in range(1, n + 2) if above[rank] <= 0.025)
