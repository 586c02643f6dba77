"""Every number of `across_tasks` against plain loops over all deals and all flips, on tasks that differ in everything.

Runs are unequal, scores are tied, an algorithm is missing in a task, tasks have weights and families.
"""

from itertools import combinations, product
from math import floor, inf, sqrt

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xcurves

ALPHA = 0.5  # so small a benchmark reaches
SCORES = {  # task: algorithm: scores of runs
    "u": {"a": [3, 1, 4], "b": [1, 5], "c": [9, 2]},
    "v": {"a": [6, 5], "b": [3, 5], "c": [8, 9, 7]},
    "w": {"a": [2, 7], "b": [1, 8, 2]},
    "x": {"a": [1, 8], "b": [2, 4], "c": [5, 9]},
}
WEIGHTS = {"u": 1.0, "v": 2.0, "w": 1.0, "x": 3.0}
FAMILIES = {"u": "one", "v": "one", "w": "two", "x": "three"}
PAIRS = [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.fixture(scope="module")
def answer():
    curves = xr.DataArray(
        np.full((4, 3, 3, 2), np.nan),
        {"task": list(SCORES), "algorithm": ["a", "b", "c"], "run": range(3), "training": [1.0, 2.0]},
        ("task", "algorithm", "run", "training"),
    )
    for task, algorithms in SCORES.items():
        for algorithm, scores in algorithms.items():
            for run, score in enumerate(scores):  # the mean over training is the score
                curves.loc[task, algorithm, run] = [score - 1, score + 1]
    return xcurves.across_tasks(
        curves,
        task_weights=list(WEIGHTS.values()),
        task_groups=list(FAMILIES.values()),
        confidence_level=1 - ALPHA,
        rng=0,
    )


def tasks_of(pair):
    return [task for task in SCORES if set(pair) <= set(SCORES[task])]


def weights_of(tasks):
    return {task: WEIGHTS[task] / sum(WEIGHTS[other] for other in tasks) for task in tasks}


def mean_and_variance(x, y):
    return np.mean(x) - np.mean(y), np.var(x, ddof=1) / len(x) + np.var(y, ddof=1) / len(y)


def theta_and_variance(x, y):
    of_x = [np.mean([(each > other) + (each == other) / 2 for other in y]) for each in x]
    of_y = [np.mean([(each > other) + (each == other) / 2 for other in x]) for each in y]
    return np.mean(of_x) - 0.5, np.var(of_x, ddof=1) / len(x) + np.var(of_y, ddof=1) / len(y)


def deals_of(x, y):
    """Yield all ways to deal the runs of both anew."""
    runs = [*x, *y]
    for mine in combinations(range(len(runs)), len(x)):
        yield [runs[i] for i in mine], [run for i, run in enumerate(runs) if i not in mine]


def studentized(moments, weights):
    """Return |T|; without variance a pair that orders it beyond all others."""
    estimate = abs(sum(weight * d for weight, (d, _) in zip(weights, moments, strict=True)))
    variance = sum(weight**2 * v for weight, (_, v) in zip(weights, moments, strict=True))
    if variance < 1e-12:
        return (inf, estimate) if estimate > 1e-12 else (0.0, 0.0)
    return estimate / sqrt(variance), 0.0


def share_as_large(values, observed):
    return np.mean([value[0] > observed[0] - 1e-9 and value[1] > observed[1] - 1e-9 for value in values])


def fixed_pvalue(pair, measure, shift=0.0):
    tasks = tasks_of(pair)
    weights = [*weights_of(tasks).values()]
    runs = [([each - shift for each in SCORES[task][pair[0]]], SCORES[task][pair[1]]) for task in tasks]
    observed = studentized([measure(x, y) for x, y in runs], weights)
    of_task = [[measure(x, y) for x, y in deals_of(*both)] for both in runs]
    return share_as_large([studentized(moments, weights) for moments in product(*of_task)], observed)


def family_sums(pair, measure):
    tasks, sums = tasks_of(pair), {}
    for task, weight in weights_of(tasks).items():
        estimate, _ = measure(*(SCORES[task][algorithm] for algorithm in pair))
        sums[FAMILIES[task]] = sums.get(FAMILIES[task], 0) + weight * estimate
    return sums


def t_of(sums):
    x = np.array([*sums.values()])
    spread = sqrt(max(0, len(x) / (len(x) - 1) * (np.sum(x**2) - np.sum(x) ** 2 / len(x))))
    return abs(np.sum(x)) / spread if spread > 1e-12 else inf * (abs(np.sum(x)) > 1e-12)


def flipped(sums):
    """Yield the sums under all flips of the three families."""
    for signs in product([1, -1], repeat=3):
        sign = dict(zip(["one", "two", "three"], signs, strict=True))
        yield {family: sign[family] * value for family, value in sums.items()}


def random_pvalue(pair, measure):
    sums = family_sums(pair, measure)
    return np.mean([abs(sum(each.values())) >= abs(sum(sums.values())) - 1e-9 for each in flipped(sums)])


def holm(pvalues):
    order, adjusted, highest = np.argsort(pvalues, kind="stable"), np.empty(len(pvalues)), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1, (len(pvalues) - rank) * pvalues[i]))
        adjusted[i] = highest
    return adjusted


@pytest.mark.parametrize("pair", range(3))
def test_the_difference_and_its_claims(answer, pair):
    mine, names = answer.isel(pair=pair), PAIRS[pair]
    tasks = tasks_of(names)
    weights = weights_of(tasks)
    moments = {task: mean_and_variance(*(SCORES[task][name] for name in names)) for task in tasks}
    difference = sum(weights[task] * moments[task][0] for task in tasks)
    assert mine.pair.item() == " - ".join(names)
    np.testing.assert_allclose(mine.difference, difference)
    assert mine.n_tasks == len(tasks)
    np.testing.assert_allclose(mine.task_difference, [moments[task][0] if task in tasks else np.nan for task in SCORES])
    np.testing.assert_allclose(
        mine.task_stderr, [sqrt(moments[task][1]) if task in tasks else np.nan for task in SCORES]
    )
    variances = [v for _, v in moments.values()]
    spread = np.var([d for d, _ in moments.values()], ddof=1) - np.mean(variances)
    np.testing.assert_allclose(mine.task_sd, sqrt(max(0, spread)))
    np.testing.assert_allclose(
        mine.pvalue, [fixed_pvalue(names, mean_and_variance), random_pvalue(names, mean_and_variance)]
    )
    theta = sum(weights[task] * theta_and_variance(*(SCORES[task][n] for n in names))[0] for task in tasks)
    np.testing.assert_allclose(mine.prob_greater, theta + 0.5)
    np.testing.assert_allclose(
        mine.prob_greater_pvalue, [fixed_pvalue(names, theta_and_variance), random_pvalue(names, theta_and_variance)]
    )


@pytest.mark.parametrize("pair", range(3))
def test_the_interval_of_the_random_claim_is_that_of_subset_means(answer, pair):
    names = PAIRS[pair]
    tasks = tasks_of(names)
    weight = {}
    for task, each in weights_of(tasks).items():
        weight[FAMILIES[task]] = weight.get(FAMILIES[task], 0) + each
    sums = family_sums(names, mean_and_variance)
    chosen = [c for size in range(1, len(sums) + 1) for c in combinations(sums, size)]
    means = sorted(sum(sums[f] for f in c) / sum(weight[f] for f in c) for c in chosen)
    c = floor(floor(ALPHA * 2 ** len(sums) + 1e-9) / 2)
    expected = [means[c - 1], means[-c]] if c else [-inf, inf]
    np.testing.assert_allclose(answer.difference_ci.isel(pair=pair).sel(task_effect="random"), expected)


@pytest.mark.parametrize("pair", range(3))
def test_the_interval_of_the_fixed_claim_ends_where_shifts_are_rejected(answer, pair):
    lower, upper = answer.difference_ci.isel(pair=pair).sel(task_effect="fixed").values
    for bound, outward in ((lower, -1), (upper, 1)):
        assert fixed_pvalue(PAIRS[pair], mean_and_variance, bound - outward * 1e-6) > ALPHA
        for distance in (1e-6, 0.1, 0.5, 2):
            assert fixed_pvalue(PAIRS[pair], mean_and_variance, bound + outward * distance) <= ALPHA


def test_adjusted_p_values(answer):
    fixed = [fixed_pvalue(pair, mean_and_variance) for pair in PAIRS]
    np.testing.assert_allclose(answer.pvalue_adjusted.sel(task_effect="fixed"), holm(fixed))
    sums = [family_sums(pair, mean_and_variance) for pair in PAIRS]
    tail = [2 * stats.t.sf(t_of(each), len(each) - 1) for each in sums]
    flips = np.array([[2 * stats.t.sf(t_of(f), len(s) - 1) for f in flipped(s)] for s in sums])
    order, expected, highest = np.argsort(tail), np.empty(3), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, np.mean(flips[order[rank:]].min(axis=0) <= tail[i] + 1e-9))
        expected[i] = highest
    np.testing.assert_allclose(answer.pvalue_adjusted.sel(task_effect="random"), expected)


@pytest.mark.parametrize("pair", range(3))
def test_each_task_by_itself_and_the_interaction(answer, pair):
    names = PAIRS[pair]
    tasks = tasks_of(names)
    of_task = []
    for task in tasks:
        x, y = (SCORES[task][name] for name in names)
        dealt = [studentized([mean_and_variance(*deal)], [1]) for deal in deals_of(x, y)]
        of_task.append(share_as_large(dealt, studentized([mean_and_variance(x, y)], [1])))
    adjusted = dict(zip(tasks, holm(of_task), strict=True))
    expected = [adjusted.get(task, np.nan) for task in SCORES]
    np.testing.assert_allclose(answer.task_pvalue_adjusted.isel(pair=pair), expected)

    weights = [*weights_of(tasks).values()]
    shift = answer.difference.isel(pair=pair).item()
    runs = [([each - shift for each in SCORES[task][names[0]]], SCORES[task][names[1]]) for task in tasks]

    def heterogeneity(moments):
        mean = sum(weight * d for weight, (d, _) in zip(weights, moments, strict=True))
        within = sum(weight * v for weight, (_, v) in zip(weights, moments, strict=True))
        between = sum(weight * (d - mean) ** 2 for weight, (d, _) in zip(weights, moments, strict=True))
        return between / within if within > 1e-12 else inf

    observed = heterogeneity([mean_and_variance(x, y) for x, y in runs])
    every = product(*[[mean_and_variance(x, y) for x, y in deals_of(*both)] for both in runs])
    pvalue = np.mean([heterogeneity(moments) >= observed - 1e-9 for moments in every])
    np.testing.assert_allclose(answer.interaction_pvalue.isel(pair=pair), pvalue)


def test_mean_ranks_are_unweighted_over_the_tasks_that_have_all_algorithms(answer):
    complete = [of for of in SCORES.values() if len(of) == 3]
    ranks = [stats.rankdata([-np.mean(scores) for scores in of.values()]) for of in complete]
    np.testing.assert_allclose(answer.rank_mean, np.mean(ranks, axis=0))
