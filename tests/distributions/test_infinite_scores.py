"""Times of +inf: what stands by rank, and what does not."""

import math
import statistics

import numpy as np
import pytest
import xarray as xr

import oracles_distribution as oracles
import xcurves
from refusals import refused
from strategies import make_scores
from xcurves.core.refusal import give
from xcurves.core.run_checks import LAST_LEVEL

INF = math.inf


@pytest.fixture
def times():
    """Two algorithms, twelve runs; two and five of them never reach the threshold."""
    values = np.random.default_rng(0).integers(1, 20, size=(2, 12)).astype(float)
    values[0, [3, 7]] = INF
    values[1, [0, 1, 2, 5, 9]] = INF
    return marked(make_scores(values, algorithm=["a", "b"], run=np.arange(12)))


def marked(times):
    """Times as `time_to_target` marks them, with a budget that none exceeds."""
    budget = (times.fillna(0) * 0).where(np.isfinite(times), 0) + 1e9
    return times.assign_coords(budget=budget.assign_attrs(long_name=LAST_LEVEL))


def mean_between(sample, low, high):
    """The mean of the sorted sample over a span of ranks, parts of trials at its ends, by one trial at a time."""
    total = weight = 0.0
    for rank, z in enumerate(sorted(sample)):
        part = max(0.0, min(rank + 1, high) - max(rank, low))
        if part > 1e-12:
            total += part * z
            weight += part
    return total / weight


@pytest.mark.parametrize("higher", [False, True])
def test_statistics_are_those_of_a_loop_over_trials_that_may_be_infinite(times, higher):
    asked = {
        "cvar_level": [0, 0.5, 0.9],
        "threshold": [6, 30],
        "target": 8,
        "scores_at": [5, 12, 100],
    }
    cdf = xcurves.performance_cdf(times, higher_is_better=higher, **asked)
    for algorithm in "ab":
        sample, group = (
            times.sel(algorithm=algorithm).values.tolist(),
            cdf.sel(algorithm=algorithm),
        )
        n = len(sample)
        assert group.share_infinite == sample.count(INF) / n
        assert group.score_mean == INF
        assert np.isnan(group.score_std)
        assert group.score_median == statistics.median(sample)
        np.testing.assert_allclose(group.iqm, mean_between(sample, n // 4, n - n // 4))
        for level in asked["cvar_level"]:
            top, bottom = (
                mean_between(sample, level * n, n),
                mean_between(sample, 0, n - level * n),
            )
            np.testing.assert_allclose(group.cvar.sel(cvar_level=level), top if higher else bottom)
            np.testing.assert_allclose(group.cvar_lower.sel(cvar_level=level), bottom if higher else top)
        for threshold in asked["threshold"]:
            meets = [z for z in sample if (z >= threshold if higher else z <= threshold)]
            at = group.sel(threshold=threshold)
            np.testing.assert_allclose(at.prob_above, len(meets) / n)
            np.testing.assert_allclose(at.partial_mean_above, math.fsum(meets) / n)
        gaps = [max(0.0, 8 - z) if higher else max(0.0, z - 8) for z in sample]
        np.testing.assert_allclose(group.optimality_gap, math.fsum(gaps) / n)
        for z in asked["scores_at"]:
            assert group.cdf.sel(score=z) == np.mean([each <= z for each in sample])
        quantiles = [oracles.inverse_cdf(sample, oracles.decimal(p)) for p in cdf.probability.values]
        assert group.score_quantile.values.tolist() == quantiles


def test_tied_trials_at_the_boundary_of_a_conditional_cvar_may_be_infinite():
    times = marked(make_scores([[1, 2, 3, 4, 5, 6, INF, INF, INF, INF]], algorithm=["a"], run=np.arange(10)))
    cdf = xcurves.performance_cdf(times, cvar="conditional", cvar_level=[0.2, 0.5, 0.9], higher_is_better=False)
    assert cdf.cvar.squeeze().values.tolist() == [INF, 3.0, 1.0]
    assert (cdf.cvar_lower == INF).all()


def test_exact_limits_of_means_are_those_of_the_band(times):
    """Integrals of the inverse of the band, exactly: finite until they reach an infinite trial."""
    for n_infinite in (1, 2, 11):
        sample = sorted(times.sel(algorithm="a").where(np.isfinite, 7.0).values.tolist())[: 12 - n_infinite]
        sample += [INF] * n_infinite
        scores = marked(make_scores([sample], algorithm=["a"], run=np.arange(12)))
        cdf = xcurves.performance_cdf(scores, bounds=(0, INF), higher_is_better=False).squeeze()
        lower, upper = oracles.band(12, 0.05)
        low = oracles.mean_in_band(sample, oracles.decimal(0), oracles.decimal(1), upper, (0.0, INF))
        assert low == INF  # one infinite trial says that the mean is infinite
        np.testing.assert_allclose(cdf.statistic_ci.sel(param="score_mean"), [low, INF], rtol=1e-9)
        best = oracles.mean_in_band(sample, oracles.decimal(0), oracles.decimal(0.5), lower, (0.0, INF))
        np.testing.assert_allclose(cdf.statistic_ci.sel(param="cvar 0.5", ci_bound="upper"), best, rtol=1e-9)
        assert cdf.statistic_ci.sel(param="score_std").isnull().all()


def test_percentile_intervals_reach_infinity_where_resamples_do(times):
    with pytest.warns(UserWarning, match="few for a bootstrap"):
        cdf = xcurves.performance_cdf(times, interval="percentile", n_resamples=99, rng=0)
    assert (cdf.statistic_ci.sel(param="score_mean", ci_bound="upper") == INF).all()
    assert cdf.statistic_ci.sel(param="score_std").isnull().all()
    assert cdf.statistic_ci.sel(param="score_median").notnull().all()


def test_pairs_are_compared_by_rank(times):
    times = times.drop_vars("budget")
    pairs = xcurves.compare_distributions(times, higher_is_better=False)
    a, b = times.values
    beats = np.mean([(x > y) + (x == y) / 2 for x in a for y in b])
    np.testing.assert_allclose(pairs.prob_greater, [beats])
    distance = max(abs(np.mean(a <= z) - np.mean(b <= z)) for z in [*a, *b])
    np.testing.assert_allclose(pairs.ks_statistic, [distance])
    # the same ranks
    finite = xcurves.compare_distributions(times.where(np.isfinite, 1e6))
    for name in (
        "prob_greater",
        "prob_greater_ci",
        "ks_statistic",
        "ks_pvalue",
        "dominance",
    ):
        np.testing.assert_allclose(pairs[name], finite[name])
    both = [
        all(math.isinf(oracles.inverse_cdf(sample, oracles.decimal(p))) for sample in (a, b))
        for p in pairs.probability.values
    ]
    assert any(both)
    assert pairs.quantile_difference.isnull().squeeze().values.tolist() == both
    assert "NaN where both are infinite" in pairs.quantile_difference.attrs["comment"]
    assert pairs.quantile_difference_band.notnull().all()
    assert [pairs.share_infinite_a.item(), pairs.share_infinite_b.item()] == [
        2 / 12,
        5 / 12,
    ]
    assert "failed: 16.7 % of a, 41.7 % of b" in pairs.curves.summary()


@pytest.mark.parametrize("options", [{}, {"dim": ("task", "run"), "strata": "task", "n_resamples": 99}])
def test_pairs_and_strata_are_compared_by_rank_too(times, options):
    times = xr.concat([times, times.roll(run=1) + 1], "run").assign_coords(run=range(24))
    scores = xr.concat([times, times.roll(run=1)], "task") if "dim" in options else times
    infinite = xcurves.compare_distributions(scores, rng=0, **options)
    finite = xcurves.compare_distributions(scores.where(np.isfinite, 1e6), rng=0, **options)
    for name in ("prob_greater", "prob_greater_ci"):
        np.testing.assert_allclose(infinite[name], finite[name])


def test_what_is_said_of_times_that_were_never_reached(times):
    cdf = xcurves.performance_cdf(times, higher_is_better=False)
    said = cdf.curves.summary()
    assert "algorithm 'b': 12 trials, 41.7 % of them infinite (not reached within the budget): mean ∞" in said
    assert "NaN where a trial is infinite" in cdf.score_std.attrs["comment"]
    axes = cdf.curves.plot()
    assert axes is not None


def test_bad_values_are_refused(times):
    with refused(
        "interval", cure="Use 'exact' or 'percentile'", names=r"^algorithm 'a': interval='bca' needs.*is one of inf"
    ):
        xcurves.performance_cdf(times, interval="bca", rng=0)
    with refused("scores", cure=give(higher_is_better=True)):
        xcurves.performance_cdf(-times)
    with refused("scores", cure=give(higher_is_better=True)):
        xcurves.compare_distributions(-times)
    with refused(
        "curves",
        cure="Give bounds that contain all possible scores, or leave them",
        names=r"bounds are 0 to 100, but there is a score of inf",
    ):
        xcurves.performance_cdf(times, bounds=(0, 100))


@pytest.mark.parametrize(("higher", "gap"), [(True, (0.0, 0.975 * 2)), (False, (INF, INF))])
def test_no_number_stands_for_an_infinite_trial_in_its_limits(higher, gap):
    """The band around one trial leaves .025 on either side: below it scores may be 1, above it they are infinite."""
    scores = marked(make_scores([INF], run=[0]))
    found = xcurves.performance_cdf(scores, bounds=(1, INF), target=3.0, higher_is_better=higher).statistic_ci
    np.testing.assert_allclose(found.sel(param="optimality_gap"), gap)
    for name in ("iqm", "cvar_lower 0.5" if higher else "cvar 0.5"):
        assert found.sel(param=name).values.tolist() == [1.0, INF]
