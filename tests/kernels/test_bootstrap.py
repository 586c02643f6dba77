import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import oracles_distribution as oracles
from xcurves.kernels.distributions import bootstrap, ecdf
from xcurves.kernels.distributions.summaries import Summaries

WANTED = Summaries(np.array([0.5, 0.9]), False, np.array([0.3]), np.array([1.0]), True)


def statistic(wanted, sample):
    x = np.sort(sample)[np.newaxis]
    return wanted.observe(x, ecdf.CentredSums(x, np.array([x.shape[-1]])))[0]


@pytest.mark.parametrize(
    "strata",
    [
        [[0, 2, 3, 7, 9]],
        [[1, 1, 2, 2, 2]],
        [[0, 2, 5], [1, 3, 4]],
        [[1], [0, 1, 2], [1, 3]],
        [[1, 4], [1, 4]],
    ],
)
@pytest.mark.parametrize("alpha", [0.05, 1 / 8, 0.3])
def test_pointwise_limits_are_those_of_all_resamples(strata, alpha):
    """All are equally likely; of two strata of two, one each up to z, none is in 1/16: the tail itself at 1/8."""
    sizes, pool = (
        np.array([len(each) for each in strata]),
        np.sort(np.concatenate(strata)).astype(float),
    )
    drawn = itertools.product(*(itertools.product(stratum, repeat=len(stratum)) for stratum in strata))
    every = np.sort([np.concatenate(each) for each in drawn], axis=1)

    def percentiles(values):
        values = np.sort(values)
        return [values[int(np.ceil(len(values) * tail - 1e-9)) - 1] for tail in (alpha / 2, 1 - alpha / 2)]

    def counts_at(rank):
        return np.stack(
            [np.searchsorted(stratum, pool[rank - 1], "right") for stratum in strata],
            axis=-1,
        )

    ranks = np.arange(1, len(pool) + 1)[np.newaxis]
    shares = np.stack(bootstrap.cdf_limits(counts_at(ranks[0]), sizes, alpha), axis=-1)
    limits = np.stack(bootstrap.quantile_limits(ranks, sizes, counts_at, alpha), axis=-1)[0]
    for rank, share, limit in zip(ranks[0], shares, limits, strict=True):
        np.testing.assert_allclose(share, percentiles((every <= pool[rank - 1]).mean(axis=1)))
        assert pool[limit - 1].tolist() == percentiles(every[:, rank - 1])


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_sum_of_binomials_is_their_convolution(sizes, seed):
    counts = np.random.default_rng(seed).integers(0, np.array(sizes) + 1, (3, len(sizes)))
    for row, mass in zip(counts, bootstrap.sum_of_binomials(counts, np.array(sizes)), strict=True):
        expected = np.ones(1)
        for k, n in zip(row, sizes, strict=True):
            expected = np.convolve(expected, stats.binom.pmf(np.arange(n + 1), n, k / n))
        np.testing.assert_allclose(mass, expected, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(12,), (5, 7), (4, 4, 4)])
def test_intervals_are_those_of_a_textbook_bootstrap(sizes):
    rng = np.random.default_rng(3)
    strata = [rng.gamma(2, 1, n) for n in sizes]
    flat = np.concatenate(strata)
    order = np.argsort(flat)[np.newaxis]
    unit = None if len(sizes) == 1 else np.arange(len(flat))
    design = bootstrap.BootstrapDesign(sizes, unit, 40_000, 1)
    found = bootstrap.resample(flat[order], order, design, WANTED.resampled)[0]
    expected = oracles.resample(strata, rng, 4_000, lambda sample: statistic(WANTED, sample))
    for ours, theirs in zip(found.T, expected.T, strict=True):
        for tail in (0.025, 0.5, 0.975):
            place = np.quantile(theirs, tail)
            slack = 1e-9 * (1 + abs(place))
            error = 4 * np.sqrt(tail * (1 - tail) * (1 / len(theirs) + 1 / len(ours)))
            assert np.mean(ours < place - slack) - error <= tail <= np.mean(ours <= place + slack) + error


def test_all_resamples_of_three_trials_are_equally_likely():
    """Every statistic has the distribution over all 27 resamples."""
    sample = np.array([[0.0, 1.0, 5.0]])
    design = bootstrap.BootstrapDesign((3,), None, 27_000, 0)
    drawn = bootstrap.resample(sample, np.arange(3)[np.newaxis], design, WANTED.resampled)[0]
    every = [statistic(WANTED, np.array(each)) for each in itertools.product(*[sample[0]] * 3)]
    np.testing.assert_allclose(
        drawn.mean(axis=0),
        np.mean(every, axis=0),
        atol=4 * np.std(every, axis=0).max() / 164,
    )
    values, counts = np.unique(np.round(drawn[:, 0], 9), return_counts=True)
    truth = np.unique(np.round([each[0] for each in every], 9), return_counts=True)
    np.testing.assert_allclose(values, truth[0])
    low, high = stats.binom.interval(0.9999, 27_000, truth[1] / 27)
    assert ((counts >= low) & (counts <= high)).all()


def test_units_of_unequal_sizes_make_resamples_of_unequal_sizes():
    x = np.array([[0.0, 3.0, 3.0, 3.0]])
    design = bootstrap.BootstrapDesign((2,), np.array([0, 1, 1, 1]), 1_000, 0)
    drawn = bootstrap.resample(x, np.arange(4)[np.newaxis], design, WANTED.resampled)[0]
    np.testing.assert_allclose(np.unique(np.round(drawn[:, 0], 9)), [0, 2.25, 3])


def sd(sample, axis):
    return np.std(sample, axis=axis, ddof=1)


def pooled_mean(first, second, axis):
    return (first.sum(axis=axis) + second.sum(axis=axis)) / (first.shape[axis] + second.shape[axis])


def skewed(seed, size):
    return np.random.default_rng(seed).exponential(size=size)


def mean_of_means(first, second, axis):
    return (first.mean(axis=axis) + second.mean(axis=axis)) / 2


BCA = {  # strata, the place of a statistic, and the statistic
    "mean": ([skewed(0, 25)], 0, np.mean),
    "standard deviation": ([skewed(0, 25)], 2, sd),
    "mean again": ([skewed(1, 25)], 0, np.mean),
    "standard deviation again": ([skewed(1, 25)], 2, sd),
    "ties": ([skewed(2, 30).round()], 0, np.mean),
    "strata": ([skewed(5, 8), skewed(6, 14) ** 2], 0, pooled_mean),
    "strata that weigh alike": ([skewed(5, 8), skewed(6, 14) ** 2], 0, mean_of_means),
}


@pytest.mark.plain(3)
@pytest.mark.parametrize("case", BCA)
def test_bca_is_scipys(case):
    """The mean of a pool of two strata is a statistic of two samples, as the difference of their means is."""
    strata, place, function = BCA[case]
    flat = np.concatenate(strata)
    order = np.argsort(flat)[np.newaxis]
    unit = None if len(strata) == 1 else np.arange(len(flat))
    weighted = function is mean_of_means
    design = bootstrap.BootstrapDesign(tuple(map(len, strata)), unit, 40_000, 0, weighted=weighted)
    wanted = replace(WANTED, weighted=weighted)
    found = bootstrap.bootstrap_intervals(flat[order], order, design, wanted.resampled, WANTED.length, 0.05, bca=True)
    theirs = stats.bootstrap(
        strata,
        function,
        n_resamples=40_000,
        method="BCa",
        random_state=np.random.default_rng(1),
    ).confidence_interval
    ours = found[0, place]
    np.testing.assert_allclose(ours, theirs, atol=0.03 * (ours[1] - ours[0]))


@pytest.mark.plain(2)
@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize(
    "units",
    [
        [[1, 1, 1], [1, 1, 1, 1, 1]],
        [[1], [1, 1], [1, 1, 1]],
        # of several trials: a resample has unlike numbers of them
        [[2, 1, 3], [1, 4], [2, 2]],
    ],
)
def test_resamples_of_unlike_strata_are_those_of_a_loop(units, conditional):
    """Each resample is written out, its strata made equally long by repeating their trials."""
    rng = np.random.default_rng(4)
    strata = [[rng.integers(0, 9, n).tolist() for n in stratum] for stratum in units]
    every = [unit for stratum in strata for unit in stratum]
    flat = np.array([z for unit in every for z in unit], float)
    of_trial = np.repeat(np.arange(len(every)), list(map(len, every)))
    order = np.argsort(flat, kind="stable")[np.newaxis]
    design = bootstrap.BootstrapDesign(tuple(map(len, units)), of_trial, 20, 1, weighted=True)
    wanted = replace(
        WANTED,
        conditional=conditional,
        thresholds=np.array([3.0]),
        targets=np.array([9.0]),
        weighted=True,
    )
    found = bootstrap.resample(flat[order], order, design, wanted.resampled)[0]
    probabilities = np.array([0, 0.25, 1 / 3, 0.5, 0.9, 1])
    points = bootstrap.resample(
        flat[order],
        order,
        design,
        lambda x, cumulative: bootstrap.resampled_points(x, cumulative, np.array([3.0]), probabilities),
    )[0]
    edges = np.cumsum([len(stratum) for stratum in units])[:-1]
    for row, counts in enumerate(design.block(0, 20)):
        drawn = [
            [z for count, unit in zip(some, stratum, strict=True) for z in count * unit]
            for some, stratum in zip(np.split(counts, edges), strata, strict=True)
        ]
        expected = oracles.statistics_of_strata(drawn, [0.5, 0.9], [3.0], 9.0, conditional=conditional)
        np.testing.assert_allclose(found[row], expected, atol=1e-9)
        sample = oracles.repeated(drawn)
        of_sample = [oracles.inverse_cdf(sample, oracles.decimal(p)) for p in probabilities]
        np.testing.assert_allclose(points[row], [np.mean([z <= 3 for z in sample]), *of_sample])


def test_a_constant_sample_has_intervals_of_no_length():
    x = np.full((1, 6), 2.0)
    design = bootstrap.BootstrapDesign((6,), None, 100, 0)
    for bca in (False, True):
        found = bootstrap.bootstrap_intervals(
            x,
            np.arange(6)[np.newaxis],
            design,
            WANTED.resampled,
            WANTED.length,
            0.05,
            bca=bca,
        )
        np.testing.assert_allclose(found[0, 0], 2.0)
        np.testing.assert_allclose(found[0, 2], 0.0)


def test_points_of_resampled_units_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    flat, unit = (
        rng.integers(0, 6, 9).astype(float),
        np.array([0, 0, 0, 1, 2, 2, 3, 3, 3]),
    )
    order = np.argsort(flat, kind="stable")
    x, p, z = flat[order][np.newaxis], np.array([0.1, 0.5, 0.75, 1.0]), [1.0, 3.0]
    design = bootstrap.BootstrapDesign((4,), unit, 50, 0)
    counts = design.block(0, 50)
    found = bootstrap.resampled_points(x, design.cumulative(counts, order[np.newaxis]), np.array(z), p)[0]
    for times, row in zip(counts, found, strict=True):
        sample = [value for value, u in zip(flat, unit, strict=True) for _ in range(times[u])]
        shares = [np.mean([value <= limit for value in sample]) for limit in z]
        np.testing.assert_allclose(
            row,
            [
                *shares,
                *(oracles.inverse_cdf(sample, oracles.decimal(each)) for each in p),
            ],
        )


@pytest.mark.parametrize("n_resamples", [10, 199])
def test_percentiles_are_those_of_numpy(n_resamples):
    drawn = np.random.default_rng(0).normal(size=(3, n_resamples, 4))
    tails = np.array([0.03, 0.9])
    expected = np.moveaxis(np.quantile(drawn, tails, axis=1), 0, -1)
    np.testing.assert_allclose(bootstrap.bootstrap_percentiles(drawn, tails), expected, rtol=1e-13)
