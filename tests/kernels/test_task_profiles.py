import itertools

import numpy as np
import pytest
from scipy import stats

from across_reference import ALPHA
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.over_tasks import task_flips
from xcurves.kernels.resampling import plans


def test_the_band_equals_a_plain_loop():
    rng = np.random.default_rng(1)
    d, w = rng.normal(size=(3, 7)), rng.uniform(0.7, 1, 7)
    w /= w.sum()
    plan = plans.plan_flips(7, None)
    found = task_flips.profile_difference(d * w, w, plan, 0.1, 3)
    residual = d * w - w * (d @ w)[:, np.newaxis]
    largest = sorted(
        max(abs(stats.ttest_1samp(row * np.array(signs), 0).statistic) for row in residual)
        for signs in itertools.product((1, -1), repeat=7)
    )
    error = residual.std(axis=1, ddof=1) * np.sqrt(7)
    half = largest[int(np.ceil(0.9 * 128)) - 1] * error
    np.testing.assert_allclose(found["difference_band"], np.stack([d @ w - half, d @ w + half], axis=-1))


@pytest.mark.parametrize(
    ("w", "n_resamples"),
    [([3, 1, 1, 1, 1, 1, 1, 1, 1, 1], None), ([2, 1, 1, 1, 1], None)],
)
def test_intervals_equal_those_of_all_subsets(w, n_resamples):
    """By itself at alpha, and as a band of unlike or few families at alpha divided by the number of levels."""
    alpha, w = 0.2, np.array(w) / np.sum(w)
    d = np.random.default_rng(2).normal(size=(3, len(w)))
    found = task_flips.profile_difference(d * w, w, plans.plan_flips(len(w), n_resamples), alpha, 6)
    subsets = [list(c) for size in range(1, len(w) + 1) for c in itertools.combinations(range(len(w)), size)]
    assert found["band_method"] == task_flips.SUBSET_MEANS
    for level, row in enumerate(d):
        means = sorted(np.average(row[c], weights=w[c]) for c in subsets)
        for name, each in (
            ("difference_ci", alpha),
            ("difference_band", alpha / 3),
            ("difference_ci_simultaneous", alpha / 6),
        ):
            rank = int(int(2 ** len(w) * each + 1e-9) / 2)
            ends = [means[rank - 1], means[-rank]] if rank else [-np.inf, np.inf]
            np.testing.assert_allclose(found[name][level], ends)


def test_no_band_where_no_p_is_so_small():
    d = np.random.default_rng(2).normal(size=(2, 5)) / 5
    found = task_flips.profile_difference(d, np.full(5, 1 / 5), plans.plan_flips(5, None), ALPHA, 2)
    assert np.isnan(found["difference_band"]).all()
    assert found["band_method"] == task_flips.NO_BAND
    assert np.isinf(found["difference_ci"]).all()
    six = np.random.default_rng(2).normal(size=(2, 6)) / 6
    found = task_flips.profile_difference(six, np.full(6, 1 / 6), plans.plan_flips(6, None), ALPHA, 2)
    assert found["band_method"] == task_flips.RESIDUALS


def test_absent_families_change_nothing():
    d, w = np.random.default_rng(3).normal(size=(4, 6)) / 6, np.full(6, 1 / 6)
    here = task_flips.profile_difference(d, w, plans.plan_flips(6, None), ALPHA, 2)
    more = task_flips.profile_difference(
        np.insert(d, 2, 9.0, axis=1),
        np.insert(w, 2, np.nan),
        plans.plan_flips(7, None),
        ALPHA,
        2,
    )
    for name, values in here.items():
        np.testing.assert_allclose(more[name], values)


def runs(sizes, n_levels, seed):
    rng = np.random.default_rng(seed)
    curves = np.full((len(sizes), max(sizes), n_levels), np.nan)
    for task, size in zip(curves, sizes, strict=True):
        task[:size] = rng.normal(size=(size, 1)) + 0.5 * rng.normal(size=(size, n_levels))
    return curves


def test_the_mean_curve_is_the_mean_of_the_tasks_means():
    curves = runs((3, 5, 2), 4, 0)
    found = bootstrap.mean_curve(curves, 99, ALPHA, 0)
    np.testing.assert_allclose(found["mean_curve"], np.nanmean(curves, axis=1).mean(axis=0))
    band = found["mean_curve_band"]
    np.testing.assert_allclose(band.mean(axis=-1), found["mean_curve"])


def test_its_band_is_the_limit_of_all_signs():
    sizes = (3, 4, 3)
    curves = runs(sizes, 3, 1)
    error = np.sqrt(sum(np.nanvar(task, axis=0, ddof=1) / size for task, size in zip(curves, sizes, strict=True))) / 3
    largest = []
    for signs in itertools.product((1, -1), repeat=sum(sizes)):
        signs, total, variance = iter(signs), 0.0, 0.0
        for task, size in zip(curves, sizes, strict=True):
            own = task[:size] - task[:size].mean(axis=0)
            own = own * np.array([next(signs) for _ in range(size)])[:, np.newaxis]
            total, variance = (
                total + own.mean(axis=0),
                variance + own.var(axis=0, ddof=1) / size,
            )
        largest.append(np.max(np.abs(total) / np.sqrt(variance)))
    found = bootstrap.mean_curve(curves, 20_000, 0.1, 4)
    widths = np.ptp(found["mean_curve_band"], axis=-1) / 2 / error
    assert np.ptp(widths) < 1e-12 * widths[0]
    above = np.mean(np.array(largest) > widths[0] * (1 + 1e-12))
    assert abs(above - 0.1) < 5 * np.sqrt(0.1 * 0.9 / 20_000) + 1 / len(largest)


def test_too_few_runs_leave_no_band():
    assert np.isnan(bootstrap.mean_curve(runs((3, 1), 4, 0), 99, ALPHA, 0)["mean_curve_band"]).all()
    assert np.isnan(bootstrap.mean_curve(runs((2, 2), 4, 0), 999, ALPHA, 0)["mean_curve_band"]).all()


@pytest.mark.slow
def test_bands_hold_the_whole_curve_as_often_as_they_say():
    n, held, own = 400, 0, 0
    plan = plans.plan_flips(12, 999)
    for seed in range(n):
        rng = np.random.default_rng(seed)
        d = rng.normal(size=(1, 12)) + rng.normal(size=(6, 12))
        band = task_flips.profile_difference(d / 12, np.full(12, 1 / 12), plan, ALPHA, 6)["difference_band"]
        held += ((band[:, 0] <= 0) & (band[:, 1] >= 0)).all()
        band = bootstrap.mean_curve(runs((5,) * 8, 6, seed), 499, ALPHA, seed)["mean_curve_band"]
        own += ((band[:, 0] <= 0) & (band[:, 1] >= 0)).all()
    for count in (held, own):
        assert stats.binom.cdf(count, n, 0.92) > 1e-3
        assert stats.binom.sf(count - 1, n, 0.98) > 1e-3
