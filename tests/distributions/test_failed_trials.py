"""Trials that failed: -inf where higher is better, +inf where lower is."""

import itertools
import math
import statistics

import numpy as np
import pytest
import xarray as xr
from scipy.stats import rankdata

import xcurves
from refusals import refused
from strategies import make_scores
from xcurves.core.refusal import call, give

INF = math.inf
FAR = 1e6  # as bad as a failure, by rank
BY_RANK = (
    "score_quantile",
    "score_quantile_ci",
    "prob_above",
    "cdf",
    "cdf_ci",
    "cdf_band",
    "tolerance",
)
OF_MEANS = ("score_mean", "score_std", "iqm", "cvar", "cvar_lower", "optimality_gap")


@pytest.fixture(params=[1, -1], ids=["higher is better", "lower is better"])
def better(request):
    return request.param


def make(better, n=40, n_failed=(4, 20)):
    """Two algorithms; some trials of each failed."""
    values = np.random.default_rng(1).integers(0, 30, size=(2, n)) / 30
    for algorithm, failed in enumerate(n_failed):
        values[algorithm, np.random.default_rng(2).choice(n, failed, replace=False)] = -INF
    return make_scores(better * values, algorithm=["a", "b"], run=np.arange(n))


def quiet_cdf(scores, **options):
    return xcurves.performance_cdf(scores, rng=0, **options)


@pytest.mark.parametrize("interval", ["exact", "percentile"])
def test_ranks_count_failed_trials_as_worse_than_all_others(better, interval):
    scores, failed = make(better), -better * INF
    options = {
        "higher_is_better": better > 0,
        "threshold": [0.2 * better, 0.7 * better],
        "scores_at": sorted([0.3 * better, 0.5 * better]),
        "interval": interval,
        "n_resamples": None if interval == "exact" else 499,
        "tolerance": 0.5 if interval == "exact" else None,
    }
    found = quiet_cdf(scores, **options)
    far = quiet_cdf(scores.where(np.isfinite(scores), -better * FAR), **options)
    for name in set(BY_RANK) & found.keys():
        expected = far[name].where(far[name] != -better * FAR, failed)
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
    for algorithm, n_failed in (("a", 4), ("b", 20)):
        group, sample = (
            found.sel(algorithm=algorithm),
            scores.sel(algorithm=algorithm).values.tolist(),
        )
        assert group.share_infinite == n_failed / 40
        assert group.score_median == statistics.median(sample)
        meets = [sum(better * z >= better * at for z in sample) / 40 for at in options["threshold"]]
        assert group.prob_above.values.tolist() == pytest.approx(meets)
        expected = [math.fsum(z for z in sample if better * z >= better * at) / 40 for at in options["threshold"]]
        np.testing.assert_allclose(group.partial_mean_above, expected)
    medians = found.statistic_ci.sel(param="score_median")
    np.testing.assert_allclose(
        medians,
        far.statistic_ci.sel(param="score_median").where(lambda ends: abs(ends) < FAR / 4, failed),
    )


def test_means_that_take_a_failed_trial_in_are_nan(better):
    found = quiet_cdf(
        make(better),
        higher_is_better=better > 0,
        cvar_level=[0.25, 0.95],
        target=0.8 * better,
    )
    finite = make(better).where(np.isfinite, -better * FAR)
    far = quiet_cdf(finite, higher_is_better=better > 0, cvar_level=[0.25, 0.95])
    for name in ("score_mean", "score_std", "optimality_gap", "cvar_lower"):
        assert found[name].isnull().all(), name
    assert found.statistic_ci.sel(param="score_mean").isnull().all()
    # The middle half and the best three quarters of `a` have no failed trial, of `b` only the best twentieth has none.
    np.testing.assert_allclose(found.iqm, [far.iqm[0], np.nan])
    np.testing.assert_allclose(found.cvar, [far.cvar[0], [np.nan, far.cvar[1, 1]]])
    said = found.curves.summary()
    assert "b no mean (" in said
    assert "50 % of them failed" in said
    assert "Failed trials have no mean: bounds=" in said


@pytest.mark.parametrize("interval", ["exact", "percentile"])
def test_with_bounds_means_count_failed_trials_as_their_worse_end(better, interval):
    scores, bounds = make(better), (0.0, 1.0) if better > 0 else (-1.0, 0.0)
    options = {
        "interval": interval,
        "bounds": bounds,
        "target": 0.8 * better,
        "higher_is_better": better > 0,
    }
    options["n_resamples"] = None if interval == "exact" else 499
    found = quiet_cdf(scores, **options)
    counted = quiet_cdf(scores.where(np.isfinite(scores), 0.0), **options)
    for name in OF_MEANS:
        np.testing.assert_array_equal(found[name], counted[name], err_msg=name)
    params = [each for each in found.param.values if each != "score_median"]
    np.testing.assert_array_equal(found.statistic_ci.sel(param=params), counted.statistic_ci.sel(param=params))
    assert np.isinf(found.score_quantile.sel(algorithm="b", probability=0.1 if better > 0 else 0.9)).all()
    limits = found.score_quantile_ci.transpose("ci_bound", "algorithm", "probability")
    assert ((limits[0] <= found.score_quantile) & (found.score_quantile <= limits[1])).all()


def test_the_probability_of_scoring_higher_is_that_of_all_pairs_of_trials(better):
    scores = make(better)
    found = xcurves.compare_distributions(scores, higher_is_better=better > 0)
    a, b = scores.values
    beats = np.mean([(x > y) + (x == y) / 2 for x, y in itertools.product(a, b)])
    ranks = rankdata([*a, *b])[:40]
    assert found.prob_greater.item() == pytest.approx(beats) == pytest.approx((ranks.sum() - 40 * 41 / 2) / 40**2)
    quantiles = [np.sort(each)[np.ceil(found.probability.values * 40 - 1e-9).astype(int) - 1] for each in (a, b)]
    with np.errstate(invalid="ignore"):
        expected = quantiles[0] - quantiles[1]
    np.testing.assert_allclose(found.quantile_difference.squeeze(), expected)
    assert np.isnan(expected).any()
    assert np.isinf(expected).any()
    assert "failed: 10 % of a, 50 % of b" in found.curves.summary()


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_best_of_some_trials_is_that_of_all_samples(better, k):
    """The median over all samples drawn with replacement, the mean over all without."""
    sample = [0.1, -INF, 0.7, -INF, 0.4, -INF]
    scores = make_scores([[better * z for z in sample]], algorithm=["a"], run=np.arange(6))
    options = {"n_trials": [k], "higher_is_better": better > 0}
    found = xcurves.tuning_curve(scores, **options)
    drawn = sorted(max(each) for each in itertools.product(sample, repeat=k))
    median = drawn[math.ceil(len(drawn) / 2) - 1]
    expected = median if median < max(sample) else np.nan
    np.testing.assert_array_equal(found.best_median.squeeze(), better * expected)
    chosen = [max(each) for each in itertools.combinations(sample, k)]
    mean = np.mean(chosen) if np.isfinite(chosen).all() else np.nan
    np.testing.assert_allclose(found.best_mean.squeeze(), better * mean)
    low = -1.0
    bounded = xcurves.tuning_curve(scores, bounds=tuple(sorted([better * low, better * 2.0])), **options)
    np.testing.assert_allclose(bounded.best_mean.squeeze(), better * np.mean(np.maximum(chosen, low)))


def test_leaving_failed_trials_out_would_reward_failing():
    rng = np.random.default_rng(0)
    scores = make_scores([rng.uniform(size=100)], algorithm=["a"], run=np.arange(100))
    scores = scores.where(scores.run >= 51, -INF)
    best = xcurves.tuning_curve(scores, n_trials=10).best_median.sel(trials=10).item()
    survivors = xcurves.tuning_curve(scores.where(np.isfinite(scores)), n_trials=10).best_median.sel(trials=10).item()
    ordered = np.sort(scores.values[0])
    assert best == ordered[math.ceil(100 * 0.5**0.1) - 1] < survivors


@pytest.mark.parametrize("k", [1, 3, 6])
def test_selection_by_another_score_takes_failed_trials(k):
    select = make_scores([[3.0, 1.0, 2.0, -INF, -INF, -INF]], algorithm=["a"], run=np.arange(6))
    scores = make_scores([[0.5, -INF, 0.2, -INF, -INF, -INF]], algorithm=["a"], run=np.arange(6))
    found = xcurves.tuning_curve(scores, select=select, n_trials=[k], bounds=(0, 1)).best_mean.item()
    chosen = [
        scores.values[0][max(each, key=lambda place: select.values[0, place])]
        for each in itertools.combinations(range(6), k)
    ]
    assert found == pytest.approx(np.mean(np.maximum(chosen, 0.0)))


@pytest.mark.parametrize(
    "call",
    [xcurves.performance_cdf, xcurves.compare_distributions, xcurves.tuning_curve],
)
def test_the_wrong_infinity_is_refused_by_name(call):
    with refused("scores", cure=give(higher_is_better=False)):
        call(-make(1))
    with refused("scores", cure=give(higher_is_better=True)):
        call(make(1), higher_is_better=False)
    call(-make(1), higher_is_better=False)


def test_what_needs_finite_scores_says_what_to_do():
    with refused(
        "interval",
        cure="Use 'exact' or 'percentile'",
        names=r"^algorithm 'a': interval='bca' needs .*one of -inf\. Use",
    ):
        quiet_cdf(make(1), interval="bca")
    curves = xr.concat([make(1), make(1)], "training").assign_coords(training=[1.0, 2.0])
    with refused("simultaneous", cure=call(".curves.fill_failed", "worst")):
        quiet_cdf(curves, interval="percentile", simultaneous="training")


@pytest.mark.plain(1)
def test_pictures_of_failed_trials_are_drawn(better):
    scores, options = make(better), {"higher_is_better": better > 0}
    for result in (
        xcurves.performance_cdf(scores, **options),
        xcurves.compare_distributions(scores, **options),
        xcurves.tuning_curve(scores, **options),
    ):
        result.curves.plot()
        assert len(result.curves.table())


@pytest.mark.plain(2)
@pytest.mark.parametrize("to", ["markdown", "latex", "html"])
@pytest.mark.parametrize("algorithms", [["a"], ["a", "b"]])
def test_tables_of_papers_where_all_trials_failed_have_labels_alone(to, algorithms):
    scores = xr.DataArray(
        np.full((len(algorithms), 6), -np.inf),
        {"algorithm": algorithms, "run": range(6)},
        name="score",
    )
    table = xcurves.format_table(scores.curves.performance_cdf(), to=to)
    assert "score_median" in table.replace("\\_", "_")
    assert "nan" not in table.lower()
