import itertools
from fractions import Fraction

import numpy as np
import pytest

import oracles_distribution as oracles
from xcurves.kernels.distributions import ecdf, tuning

SAMPLES = [
    [0.3],
    [1.0, 2.0],
    [5.0, 1.0, 3.0, 3.0],
    [0.1, 0.9, 0.4, 0.7, 0.2, 0.8],
    [2.0, 2.0, 7.0, 1.0, 0.0, 9.0, 4.0, 4.0],
]
TRIALS = np.array([1, 2, 3, 4, 5, 6, 7, 20])


def rows(sample):
    return np.array([[*sorted(sample), np.nan]]), np.array([len(sample)])


@pytest.mark.plain(3)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 17, 100, 200])
def test_ranks_of_the_median_are_those_of_rationals(n):
    trials = range(1, 160)
    expected = [next(i for i in range(1, n + 1) if 2 * Fraction(i, n) ** k >= 1) for k in trials]
    assert ecdf.quantile_ranks(0.5 ** (1 / np.array(trials)), np.array([n])).tolist() == [expected]


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_mean_best_is_that_over_all_samples(sample):
    means, _ = tuning.best_means(*rows(sample), TRIALS, 0.05, -1.0, 10.0)
    for k, found in zip(TRIALS, means[0], strict=True):
        maxima = [max(chosen) for chosen in itertools.combinations(sample, k)]
        np.testing.assert_allclose(found, np.mean(maxima) if maxima else np.nan, rtol=1e-12)


@pytest.mark.parametrize("sample", SAMPLES[1:])
@pytest.mark.parametrize("ends", [(-1.0, 10.0), (-np.inf, np.inf), (-np.inf, 10.0)])
def test_the_band_of_the_mean_is_the_mean_of_powers_of_the_band(sample, ends):
    """The mean of the largest of k is that of a distribution with the function F^k, by its steps in rationals."""
    _, band = tuning.best_means(*rows(sample), TRIALS, 0.05, *ends)
    lower, upper = oracles.band(len(sample), 0.05)
    for place, k in enumerate(TRIALS.tolist()):
        expected = [
            oracles.mean_in_band(
                sample,
                Fraction(0),
                Fraction(1),
                [Fraction(each) ** k for each in limits],
                ends,
            )
            for limits in (upper, lower)
        ]
        np.testing.assert_allclose(band[0, place], expected, rtol=1e-6)


def inverse(sample, limits, p, ends):
    """Smallest z at which the step function of the limits is at least p."""
    candidates = [ends[0], *sorted(sample)]
    return next(
        (z for z in candidates if limits[sum(each <= z for each in sample)] >= p),
        ends[1],
    )


@pytest.mark.parametrize("sample", SAMPLES[1:])
def test_bands_of_the_median_invert_those_of_the_distribution(sample):
    found = tuning.best_medians(*rows(sample), TRIALS, 0.05, together=True)
    limits = oracles.band(len(sample), 0.05)
    for place, k in enumerate(TRIALS.tolist()):
        p = 0.5 ** (1 / k)
        lower, upper = (inverse(sample, each, p, (-np.inf, np.inf)) for each in (limits[1], limits[0]))
        estimate, *ends = found[:, 0, place]
        assert ends == [lower, upper]
        z = inverse(
            sample,
            [Fraction(i, len(sample)) for i in range(len(sample) + 1)],
            Fraction(p),
            (-np.inf, np.inf),
        )
        if np.isnan(estimate):
            assert 2 * (len(sample) - 1) ** k < len(sample) ** k
        elif k > 1:
            assert estimate == z


def test_trials_to_match_are_found_by_trying_all():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.normal(size=(1, 20))), np.sort(rng.normal(0.5, 0.5, (1, 25)))
    trials, every = np.arange(1, 30), np.arange(1, 40_000)
    n, m = np.array([20]), np.array([25])
    other = tuning.best_medians(y, m, trials, 0.025, together=True)
    own = tuning.best_medians(x, n, every, 0.025, together=True)
    found, ends = tuning.trials_to_match(x, n, other, 0.025)

    def first(reached):
        return every[reached][0] if reached.any() else np.inf

    for place in range(len(trials)):
        target, lower, upper = (each[0, place] for each in other)
        here = own[0, 0] >= target  # never of NaN
        assert found[0, place] == first(here) if here.any() else np.isnan(found[0, place])
        assert ends[0, place, 0] == first(own[2, 0] >= lower)
        assert ends[0, place, 1] == first(own[1, 0] >= upper)


@pytest.mark.parametrize(
    "by",
    [
        [3.0, 1.0, 2.0, 5.0, 4.0],
        [1.0, 1.0, 2.0, 2.0, 2.0],
        [np.nan, 2.0, 1.0, 1.0, 2.0],
    ],
)
def test_selected_scores_are_those_of_all_samples(by):
    """Mean over samples without replacement, median over those with; of trials tied in selection each as likely."""
    scores, trials = np.array([[0.5, 0.9, 0.1, 0.7, 0.3]]), np.array([1, 2, 3])
    medians, means = tuning.selected(scores, np.array([by]), trials)
    present = [i for i in range(5) if not np.isnan(by[i])]

    def chosen(sample):
        best = max(by[i] for i in sample)
        return [scores[0, i] for i in set(sample) if by[i] == best]

    for place, k in enumerate(trials.tolist()):
        of_samples = [np.mean(chosen(sample)) for sample in itertools.combinations(present, k)]
        np.testing.assert_allclose(means[0, place], np.mean(of_samples))
        weight = dict.fromkeys(sorted(scores[0, present]), Fraction(0))
        for sample in itertools.product(present, repeat=k):
            best = max(by[i] for i in sample)
            tied = [i for i in present if by[i] == best]  # as likely as each other
            for i in tied:
                weight[scores[0, i]] += Fraction(1, len(tied) * len(present) ** k)
        total, median = Fraction(0), None
        for value, share in weight.items():
            total += share
            median = value if median is None and total >= Fraction(1, 2) else median
        known = 2 * (len(present) - 1) ** k >= len(present) ** k
        np.testing.assert_equal(medians[0, place], median if known else np.nan)


def test_no_trials_say_nothing():
    x, n = np.full((1, 3), np.nan), np.array([0])
    found = tuning.best_medians(x, n, TRIALS, 0.05, together=True)
    assert np.isnan(found).all()
    assert all(np.isnan(each).all() for each in tuning.best_means(x, n, TRIALS, 0.05, 0.0, 1.0))
    assert all(np.isnan(each).all() for each in tuning.trials_to_match(x, n, found, 0.05))
    assert all(np.isnan(each).all() for each in tuning.selected(x, x, TRIALS))
