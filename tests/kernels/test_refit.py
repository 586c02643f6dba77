import numpy as np
import pytest
from scipy import stats

from strategies import simulate_errors
from xcurves.kernels.laws import powerlaw, refits, wls
from xcurves.kernels.laws.learning import Model, Sizes

FOLDS = np.array([[16.0, 8, 4, 2, 1], [10, 8, 4, 1, 0]])


def test_draws_have_their_distributions():
    assert stats.kstest(refits.normal_draws(1, 4000, 5).ravel(), "norm").pvalue > 1e-3
    ratio = refits.variance_ratios(1, 4000, FOLDS)
    for curve, size in np.ndindex(FOLDS.shape):
        degrees = FOLDS[curve, size] - 1
        if degrees > 0:
            assert stats.kstest(ratio[curve, :, size] * degrees, stats.chi2(degrees).cdf).pvalue > 1e-3
        else:
            assert (ratio[curve, :, size] == 1).all()
    assert abs(np.corrcoef(ratio[0, :, 0], ratio[0, :, 1])[0, 1]) < 0.08


def test_a_curve_has_the_same_draws_beside_any_others():
    both, alone = (refits.variance_ratios(1, 50, folds) for folds in (FOLDS, FOLDS[1:]))
    np.testing.assert_array_equal(both[1:], alone)


@pytest.mark.parametrize("given", [False, True])
def test_percentiles_are_those_of_refits_one_by_one(given):
    errors, _ = simulate_errors(3, 0)
    n, at = errors.training.to_numpy(), np.full(3, 400.0)
    sizes = Sizes(*wls.size_statistics(errors.to_numpy()))
    if given:
        sizes = sizes._replace(variance=np.where(sizes.folds > 1, np.nan_to_num(sizes.spread), 1.0))
    model = Model(n)
    fit = model.fit(at, sizes)
    intervals, bounds = refits.refit_percentiles(model, at, sizes, fit, np.array([100.0, 1600]), 7, 40, 0.1)
    standard, ratio = (
        refits.normal_draws(7, 40, 5),
        refits.variance_ratios(7, 40, sizes.folds),
    )
    for i in range(3):
        found, curves = [], []
        for r in range(40):
            means = powerlaw.curve(fit.theta, n, at)[i] + standard[r] * np.sqrt(fit.variance[i] / sizes.folds[i])
            spread = fit.variance[i] * ratio[i, r]
            one = Sizes(sizes.folds[i : i + 1], means[np.newaxis], spread[np.newaxis])
            one = one._replace(variance=one.spread if given else None)
            theta = Model(n, strength=0.0).fit(at[:1], one).theta
            found.append(powerlaw.parameters(theta, at[:1])[0])
            curves.append(powerlaw.curve(theta, np.array([100.0, 1600]), at[:1])[0])
        np.testing.assert_allclose(intervals[i], np.quantile(found, [0.05, 0.95], axis=0).T, rtol=1e-9)
        np.testing.assert_allclose(bounds[i], np.quantile(curves, [0.05, 0.95], axis=0).T, rtol=1e-9)
