"""Performance distributions beside their peers, checked equal; `goals.py` times them."""

import numpy as np
import pytest

from benchmarks import distributions

pytestmark = pytest.mark.slow


def test_cdfs_are_those_of_peers():
    scores = distributions.trials(5_000)
    ours = distributions.describe(scores)
    cdf, inverse = distributions.statsmodels_both(scores)
    np.testing.assert_allclose(ours["cdf"], cdf)
    # theirs interpolates
    np.testing.assert_allclose(ours["score_quantile"][:, 1:-1], inverse[:, 1:-1], atol=0.1)
    np.testing.assert_allclose(ours["cdf"], distributions.scipy_cdf(scores))


@pytest.mark.skipif(
    not distributions.has_rliable(),
    reason="rliable is not here, or does not import with this pandas",
)
def test_profiles_and_iqms_are_rliables():
    scores = distributions.benchmark_scores()
    ours = distributions.profile(scores)
    theirs, bands = distributions.rliable_profile(scores, 400)
    for name in scores["algorithm"].values:
        np.testing.assert_allclose(1 - ours["cdf"].sel(algorithm=name), theirs[name], atol=1e-12)
        band = 1 - ours["cdf_ci"].sel(algorithm=name, ci_bound=["upper", "lower"])
        # of 400 draws, on a grid of 1/260
        np.testing.assert_allclose(band, bands[name].T, atol=5.01 / 260)
    pair = scores.curves.compare_distributions(dim=("task", "run"), strata="task", rng=0).isel(pair=0)
    point, low, high = _improvement(scores, "a", "b")
    np.testing.assert_allclose(pair["prob_greater"], point)
    # of 300 draws
    np.testing.assert_allclose(pair["prob_greater_ci"], [low, high], atol=4 * 0.04 * (high - low))
    point, (low, high) = (each["a"] for each in distributions.rliable_iqm(scores, 5_000))
    one = distributions.aggregate(scores)
    np.testing.assert_allclose(one["iqm"], point)
    interval = one["statistic_ci"].sel(param="iqm").squeeze("algorithm")
    np.testing.assert_allclose(interval, [low[0], high[0]], atol=4 * 0.015 * (high - low)[0])


def _improvement(scores, first, second):
    from rliable import library, metrics

    matrices = distributions.matrices(scores)
    both = {"pair": (matrices[first], matrices[second])}
    point, ends = library.get_interval_estimates(both, metrics.probability_of_improvement, reps=300)
    return point["pair"], *ends["pair"].ravel()
