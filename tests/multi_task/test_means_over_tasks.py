"""Means of algorithms over their own tasks, what so many tasks show, one more task, and the smallest p of a task.

All against plain loops over tasks in families, of which some have weights and one algorithm lacks some.
"""

from bisect import bisect_left
from itertools import combinations
from math import comb, inf, sqrt

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xcurves
from layers import slow
from xcurves.multi_task.task_options import least_task_pvalues

pytestmark = pytest.mark.filterwarnings("ignore")

ALPHA = 0.05
WEIGHTS = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0]
FAMILIES = [0, 0, 1, 2, 3, 4, 5, 5, 6, 7, 8]
PAIRS = [*combinations("ABC", 2)]


def study(values, algorithms="ABC"):
    return xr.DataArray(
        values,
        dims=("task", "algorithm", "run"),
        coords={"algorithm": list(algorithms[: values.shape[1]])},
    )


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(7).normal(size=(11, 3, 3))
    values[:, 1] += 1.0
    values[9:, 2] = np.nan
    return study(values)


@pytest.fixture(scope="module")
def answer(scores):
    return xcurves.across_tasks(scores, task_weights=WEIGHTS, task_groups=FAMILIES, n_resamples=600, rng=0)


def own_families(numbers):
    """Return family sums of weighted numbers and of weights of sum one, of tasks without NaN."""
    tasks = [t for t, number in enumerate(numbers) if not np.isnan(number)]
    total = sum(WEIGHTS[t] for t in tasks)
    x, n = {}, {}
    for t in tasks:
        family = FAMILIES[t]
        x[family] = x.get(family, 0) + WEIGHTS[t] / total * numbers[t]
        n[family] = n.get(family, 0) + WEIGHTS[t] / total
    return x, n


def mean_and_error(numbers):
    x, n = own_families(numbers)
    mean = sum(x.values())
    squares = sum((x[g] - n[g] * mean) ** 2 for g in x)
    return mean, sqrt(len(x) / (len(x) - 1) * squares), len(x)


def test_means_and_their_intervals(answer, scores):
    for place, numbers in enumerate(scores.mean("run").values.T.tolist()):
        mean, error, n = mean_and_error(numbers)
        half = stats.t.ppf(1 - ALPHA / 6, n - 1) * error
        own = answer.isel(algorithm=place)
        np.testing.assert_allclose(own.score_mean, mean)
        np.testing.assert_allclose(own.score_mean_ci, [mean - half, mean + half])
    assert answer.n_tasks_algorithm.values.tolist() == [11, 11, 9]


def first_number(mean, sd, alpha):
    """Return the least number of tasks with a power of 0.8, which rises with them, and with a p below the level."""

    def power(n):
        shift, critical = mean / sd * sqrt(n), stats.t.ppf(1 - alpha / 2, n - 1)
        return stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)

    n = 2
    while 2.0 ** (1 - n) > alpha * (1 + 1e-9):
        n += 1
    return n + bisect_left(range(n, 100_000), 0.8, key=power)


def test_what_more_tasks_would_show(answer, scores):
    cells = scores.mean("run")
    alpha = ALPHA / 3
    for place, (first, second) in enumerate(PAIRS):
        d = (cells.sel(algorithm=first) - cells.sel(algorithm=second)).values.tolist()
        mean, error, n = mean_and_error(d)
        own = answer.isel(pair=place)
        sd = error * sqrt(n)
        assert own.tasks_to_show == first_number(abs(mean), sd, alpha)
        random = own.sel(task_effect="random")
        furthest = float(np.abs(random.difference_ci).max())
        if random.pvalue_adjusted <= ALPHA:
            assert np.isnan(own.tasks_at_least)
        else:
            least = 7 if furthest == inf else first_number(furthest, sd, alpha)
            assert own.tasks_at_least == least
        effect = own.smallest_to_show.item() / error
        t, critical = stats.nct(n - 1, effect), stats.t.ppf(1 - alpha / 2, n - 1)
        assert t.sf(critical) + t.cdf(-critical) == pytest.approx(0.8)
    shown = answer.pvalue_adjusted.sel(task_effect="random") <= ALPHA
    assert 0 < shown.sum() < 3


@pytest.mark.slow
def test_pairs_of_too_few_tasks_count_neither_for_intervals_nor_for_numbers(scores):
    """They have no limits at any level, so that the others hold together without them."""
    few = scores.copy(deep=True)
    few[5:, 2] = np.nan
    both = few.isel(algorithm=[0, 1])
    found = xcurves.across_tasks(few, rng=0).isel(pair=0)
    alone = xcurves.across_tasks(both, rng=0).isel(pair=0)
    random = {"task_effect": "random"}
    np.testing.assert_array_equal(
        found.difference_ci_simultaneous.sel(random),
        alone.difference_ci_simultaneous.sel(random),
    )
    for name in ("tasks_to_show", "smallest_to_show"):
        np.testing.assert_array_equal(found[name], alone[name])
    others = xcurves.across_tasks(few, rng=0).isel(pair=[1, 2])
    assert np.isinf(others.difference_ci_simultaneous.sel(random)).all()
    assert others.smallest_to_show.isnull().all()


def test_equal_algorithms_need_no_number_of_tasks():
    values = np.random.default_rng(1).normal(size=(8, 1, 1)).repeat(2, axis=1)
    found = xcurves.across_tasks(study(values), rng=0)
    assert found.tasks_to_show == inf
    assert found.smallest_to_show.isnull()
    assert found.new_task_ci.isnull().all()
    values[:, 1, 0] += [1, -1, 2, -2, 3, -3, 4, -4]
    found = xcurves.across_tasks(study(values), rng=0)
    assert found.difference == 0
    assert found.tasks_to_show.isnull()
    assert found.tasks_at_least >= 6


@pytest.mark.parametrize("n_runs", [1, 4])
def test_means_of_answers_have_wilsons_interval(n_runs):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    rng = np.random.default_rng(2)
    values = (rng.random((60, 3, n_runs)) < [[0.5], [0.97], [1.0]]).astype(float)
    given = study(values)
    if n_runs == 4:
        shares = study(values.mean(axis=-1, keepdims=True))
        of_shares = xcurves.across_tasks(shares, n_resamples=99, rng=0)
    found = xcurves.across_tasks(given, n_resamples=99, rng=0)
    for place in range(3):
        cells = values[:, place].mean(axis=-1)
        p, squared = cells.mean(), cells.var(ddof=1) / 60
        n = p * (1 - p) / squared if squared else 60
        expected = proportion.proportion_confint(p * n, n, ALPHA / 3, method="wilson")
        np.testing.assert_allclose(found.score_mean_ci[place], expected, atol=1e-12)
        if n_runs == 4:
            np.testing.assert_allclose(of_shares.score_mean_ci[place], expected, atol=1e-12)


def test_means_in_tasks_have_students_interval():
    scores = np.random.default_rng(3).normal(size=(4, 3, 5))
    scores[0, 0, 2:] = np.nan
    scores[1, 1, 1:] = np.nan  # a single run
    scores[2, 2] = np.nan
    scores[3, 1, 0] = -np.inf  # a run that failed
    scores[3, 2] = 7.0
    found = xcurves.across_tasks(study(scores), n_resamples=99, rng=0)
    intervals = found.task_mean_ci.transpose("task", "algorithm", "ci_bound").to_numpy()
    for task, algorithm in np.ndindex(4, 3):
        runs = scores[task, algorithm]
        runs = runs[~np.isnan(runs)]
        expected = [np.nan, np.nan]
        if (task, algorithm) == (3, 2):
            expected = [7.0, 7.0]
        elif len(runs) > 1 and np.isfinite(runs).all():
            expected = stats.t.interval(1 - ALPHA, len(runs) - 1, runs.mean(), stats.sem(runs))
        np.testing.assert_allclose(intervals[task, algorithm], expected, rtol=1e-12)


@pytest.mark.parametrize("paired", [False, True])
def test_differences_in_tasks_have_the_standard_error_of_two_means_or_of_matched_runs(
    paired,
):
    scores = np.random.default_rng(4).normal(size=(3, 2, 5))
    if not paired:
        scores[0, 0, 2:] = np.nan
        scores[1, 1, 1:] = np.nan  # a single run has none
    found = xcurves.across_tasks(study(scores), paired=paired, n_resamples=99, rng=0)
    for task, (a, b) in enumerate(scores):
        if paired:
            expected = stats.sem(a - b)
        else:
            expected = np.hypot(*(stats.sem(each[~np.isnan(each)]) for each in (a, b)))
        np.testing.assert_allclose(found.task_difference_stderr.isel(pair=0, task=task), expected, rtol=1e-12)


def test_means_of_failed_runs_have_no_interval(scores):
    failed = scores.copy(deep=True)
    failed[0, 0, 0] = -np.inf
    found = xcurves.across_tasks(failed, n_resamples=99, rng=0)
    alone = xcurves.across_tasks(failed.isel(algorithm=[1, 2]), n_resamples=99, rng=0)
    for name in ("score_mean", "score_mean_ci", "score_mean_common"):
        assert found[name].isel(algorithm=0).isnull().all()
    np.testing.assert_array_equal(found.score_mean_ci.isel(algorithm=[1, 2]), alone.score_mean_ci)
    assert found.new_task_ci.isel(pair=0).isnull().all()


@pytest.mark.slow
def test_one_more_task_lies_between_sorted_differences(scores, answer):
    found = xcurves.across_tasks(scores, n_resamples=99, rng=0)
    cells = scores.mean("run")
    for place, (first, second) in enumerate(PAIRS):
        d = cells.sel(algorithm=first) - cells.sel(algorithm=second)
        known = sorted(d.values[~np.isnan(d.values)].tolist())
        own = found.isel(pair=place)
        np.testing.assert_allclose(own.new_task_ci, [known[0], known[-1]])
        np.testing.assert_allclose(own.new_task_level, 1 - 2 / (len(known) + 1))

    # tasks of a family are no draws of their own; families of one task are
    assert answer.new_task_ci.isnull().all()
    assert answer.new_task_level.isnull().all()
    alone = xcurves.across_tasks(scores, task_groups=list(range(11)), n_resamples=99, rng=0)
    np.testing.assert_array_equal(alone.new_task_ci, found.new_task_ci)


def separated(n_tasks, sizes):
    """Return scores of two algorithms of which all runs of one are far above those of the other."""
    values = np.full((n_tasks, 2, max(sizes)), np.nan)
    for place, size in enumerate(sizes):
        values[:, place, :size] = 100 * place + np.arange(size) / 10
    return study(values)


@pytest.mark.plain(1)
@pytest.mark.parametrize("sizes", [(3, 3), (3, 4), slow((5, 5)), (2, 6)])
def test_the_smallest_p_of_a_task_is_reached_where_runs_are_separated(sizes):
    mirror = 2 if sizes[0] == sizes[1] else 1
    floor = mirror / comb(sum(sizes), sizes[0])
    for n_tasks in (1, 4):
        scores = separated(n_tasks, sizes)
        found = xcurves.across_tasks(scores, rng=0)
        least = least_task_pvalues(found)
        assert least.dims == ("pair", "task")
        np.testing.assert_allclose(least, min(1, n_tasks * floor))
        np.testing.assert_allclose(found.task_pvalue_adjusted, least)
        stepped_up = xcurves.across_tasks(scores, task_correction="benjamini-hochberg", rng=0)
        np.testing.assert_allclose(least_task_pvalues(stepped_up), floor)
        np.testing.assert_allclose(stepped_up.task_pvalue_adjusted, floor)


def test_the_smallest_p_of_paired_and_of_random_reassignments():
    scores = separated(3, (4, 4))
    scores[:, 1] += np.array([0.3, 0.1, 0.0, 0.5])
    paired = xcurves.across_tasks(scores, paired=True, rng=0)
    np.testing.assert_allclose(least_task_pvalues(paired), 3 * 2 / 2**4)
    np.testing.assert_allclose(paired.task_pvalue_adjusted, 3 * 2 / 2**4)
    random = xcurves.across_tasks(scores, n_resamples=49, rng=0)
    np.testing.assert_allclose(least_task_pvalues(random), 3 / 50)
    assert (random.task_pvalue_adjusted >= 3 / 50 - 1e-12).all()


def test_tasks_of_unlike_runs_have_their_own_smallest_p():
    """By Holm the task of more runs may be the first, and leaves one test less to the others."""
    scores = separated(3, (6, 6))
    scores[1:, :, 3:] = np.nan
    scores[2, 0, 1:] = np.nan  # a single run has no p
    found = xcurves.across_tasks(scores, rng=0)
    least = least_task_pvalues(found).values[0]
    np.testing.assert_allclose(least[:2], [2 * 2 / comb(12, 6), 2 / comb(6, 3)])
    assert np.isnan(least[2])
    np.testing.assert_allclose(found.task_pvalue_adjusted[0, :2], least[:2])
