"""Every number of `across_tasks` against plain loops over all deals and all flips, on tasks that differ in everything.

Runs are unequal, scores are tied, an algorithm is missing in a task, tasks have weights and families.
"""

from itertools import combinations, product
from math import comb, floor, inf, sqrt

import numpy as np
import pytest
from scipy import stats

import xcurves
from oracles import step_down_min_p
from strategies import make_curves

ALPHA = 0.5  # so small a benchmark reaches
MARGIN = 2.0
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
    curves = make_curves(np.full((4, 3, 3, 2), np.nan), task=list(SCORES)).assign_coords(algorithm=["a", "b", "c"])
    for task, algorithms in SCORES.items():
        for algorithm, scores in algorithms.items():
            for run, score in enumerate(scores):  # the mean over training is the score
                curves.loc[task, algorithm, run] = [score - 1, score + 1]
    return xcurves.across_tasks(
        curves,
        task_weights=list(WEIGHTS.values()),
        task_groups=list(FAMILIES.values()),
        confidence_level=1 - ALPHA,
        margin=MARGIN,
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
        yield (
            [runs[i] for i in mine],
            [run for i, run in enumerate(runs) if i not in mine],
        )


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
    sums = {}
    for task, weight in weights_of(tasks_of(pair)).items():
        estimate, _ = measure(*(SCORES[task][algorithm] for algorithm in pair))
        sums[FAMILIES[task]] = sums.get(FAMILIES[task], 0) + weight * estimate
    return sums


def family_weights(pair):
    return family_sums(pair, lambda *_: (1.0, None))


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
    order, adjusted, highest = (
        np.argsort(pvalues, kind="stable"),
        np.empty(len(pvalues)),
        0.0,
    )
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
    np.testing.assert_allclose(
        mine.task_difference,
        [moments[task][0] if task in tasks else np.nan for task in SCORES],
    )
    np.testing.assert_allclose(
        mine.pvalue,
        [
            fixed_pvalue(names, mean_and_variance),
            random_pvalue(names, mean_and_variance),
        ],
    )
    theta = sum(weights[task] * theta_and_variance(*(SCORES[task][n] for n in names))[0] for task in tasks)
    np.testing.assert_allclose(mine.prob_greater, theta + 0.5)
    np.testing.assert_allclose(
        mine.prob_greater_pvalue,
        [
            fixed_pvalue(names, theta_and_variance),
            random_pvalue(names, theta_and_variance),
        ],
    )


@pytest.mark.parametrize("pair", range(3))
@pytest.mark.parametrize(
    ("name", "alpha"),
    [("difference_ci", ALPHA), ("difference_ci_simultaneous", ALPHA / 3)],
)
def test_the_interval_of_the_random_claim_is_that_of_subset_means(answer, pair, name, alpha):
    sums, weight = (
        family_sums(PAIRS[pair], mean_and_variance),
        family_weights(PAIRS[pair]),
    )
    chosen = [c for size in range(1, len(sums) + 1) for c in combinations(sums, size)]
    means = sorted(sum(sums[f] for f in c) / sum(weight[f] for f in c) for c in chosen)
    c = floor(floor(alpha * 2 ** len(sums) + 1e-9) / 2)
    expected = [means[c - 1], means[-c]] if c else [-inf, inf]
    np.testing.assert_allclose(answer[name].isel(pair=pair).sel(task_effect="random"), expected)


@pytest.mark.plain(3)
@pytest.mark.parametrize("pair", range(3))
@pytest.mark.parametrize(
    ("name", "alpha"),
    [("difference_ci", ALPHA), ("difference_ci_simultaneous", ALPHA / 3)],
)
def test_the_interval_of_the_fixed_claim_ends_where_shifts_are_rejected(answer, pair, name, alpha):
    lower, upper = answer[name].isel(pair=pair).sel(task_effect="fixed").values
    for bound, outward in ((lower, -1), (upper, 1)):
        assert fixed_pvalue(PAIRS[pair], mean_and_variance, bound - outward * 1e-6) > alpha
        for distance in (1e-6, 0.1, 0.5, 2):
            assert fixed_pvalue(PAIRS[pair], mean_and_variance, bound + outward * distance) <= alpha


def stepped_down(measure):
    """Return p of all pairs for tasks like these, adjusted by the smallest p, between equal ones by the tail of t."""
    sums = [family_sums(pair, measure) for pair in PAIRS]
    statistic = [[abs(sum(each.values())) for each in flipped(own)] for own in sums]
    tails = [[2 * stats.t.sf(t_of(each), len(own) - 1) for each in flipped(own)] for own in sums]
    return step_down_min_p(statistic, tails)


@pytest.mark.parametrize(
    ("name", "measure"),
    [("pvalue", mean_and_variance), ("prob_greater_pvalue", theta_and_variance)],
)
def test_adjusted_p_values(answer, name, measure):
    adjusted = answer[f"{name}_adjusted"]
    fixed = [fixed_pvalue(pair, measure) for pair in PAIRS]
    np.testing.assert_allclose(adjusted.sel(task_effect="fixed"), holm(fixed))
    np.testing.assert_allclose(adjusted.sel(task_effect="random"), stepped_down(measure))


def test_the_smallest_adjusted_p_values(answer):
    """A deal and its mirror are all that reach the largest T; of families, all as they are and all flipped."""
    fixed = []
    for pair in PAIRS:
        sizes = [[len(SCORES[task][name]) for name in pair] for task in tasks_of(pair)]
        mirror = 2 if all(a == b for a, b in sizes) else 1
        fixed.append(mirror / np.prod([comb(a + b, a) for a, b in sizes]))
    np.testing.assert_allclose(answer.pvalue_adjusted_least.sel(task_effect="fixed"), holm(fixed))
    families = [len({FAMILIES[task] for task in tasks_of(pair)}) for pair in PAIRS]
    np.testing.assert_allclose(
        answer.pvalue_adjusted_least.sel(task_effect="random"),
        [2 / 2**n for n in families],
    )


@pytest.mark.parametrize("pair", range(3))
def test_how_much_family_means_vary(answer, pair):
    names, alpha = PAIRS[pair], ALPHA
    of_family = {}
    for task in tasks_of(names):
        x, y = (SCORES[task][name] for name in names)
        parts = [(np.var(each, ddof=1) / len(each), len(each) - 1) for each in (x, y)]
        of_family.setdefault(FAMILIES[task], []).append((np.mean(x) - np.mean(y), parts))
    means = [np.mean([d for d, _ in members]) for members in of_family.values()]
    errors = [(part / len(m) ** 2, dof) for m in of_family.values() for _, parts in m for part, dof in parts]
    noise = sum(error for error, _ in errors) / len(means)
    satterthwaite = sum(error for error, _ in errors) ** 2 / sum(error**2 / dof for error, dof in errors)
    spread, dof = np.var(means, ddof=1), (len(means) - 1, satterthwaite)
    low = spread / stats.f.ppf(1 - alpha / 2, *dof) - noise
    high = max(spread, noise) / stats.f.ppf(alpha / 2, *dof) - noise
    mine = answer.isel(pair=pair)
    np.testing.assert_allclose(mine.task_sd, sqrt(max(0, spread - noise)))
    np.testing.assert_allclose(mine.task_sd_ci, [sqrt(max(0, low)), sqrt(high)])


@pytest.mark.parametrize("pair", range(3))
def test_the_share_of_families_in_which_the_first_is_better(answer, pair):
    sums = [*family_sums(PAIRS[pair], mean_and_variance).values()]
    positive, negative = (
        sum(each > 1e-9 for each in sums),
        sum(each < -1e-9 for each in sums),
    )
    mine = answer.isel(pair=pair)
    assert mine.n_ties == len(sums) - positive - negative
    expected = stats.binomtest(positive, positive + negative).proportion_ci(1 - ALPHA, method="exact")
    np.testing.assert_allclose(mine.share_better, positive / (positive + negative))
    np.testing.assert_allclose(mine.share_better_ci, expected)


def test_who_may_be_best(answer):
    for claim in answer.task_effect.values:
        mine = answer.sel(task_effect=claim)
        expected = dict.fromkeys("abc", 1)
        for (a, b), p, d in zip(PAIRS, mine.pvalue_adjusted.values, mine.difference.values, strict=True):
            if p <= ALPHA:
                expected[b if d > 0 else a] = 0
        assert 0 in expected.values()
        assert mine.may_be_best.to_series().to_dict() == expected


def one_sided_pvalue(pair, shift):
    """Return the share of deals with a T as large as that of the scores less the shift, by sums over all tasks."""
    tasks = tasks_of(pair)
    estimate, variance, observed = np.zeros(1), np.zeros(1), np.zeros(2)
    for task, weight in weights_of(tasks).items():
        x, y = (SCORES[task][name] for name in pair)
        x = [each - shift for each in x]
        moments = np.array([mean_and_variance(*deal) for deal in deals_of(x, y)])
        estimate = np.add.outer(estimate, weight * moments[:, 0]).ravel()
        variance = np.add.outer(variance, weight**2 * moments[:, 1]).ravel()
        observed += (
            weight * mean_and_variance(x, y)[0],
            weight**2 * mean_and_variance(x, y)[1],
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(
            variance > 1e-12,
            estimate / np.sqrt(variance),
            np.sign(np.round(estimate, 9)) / 0.0,
        )
    return np.mean(~(t < observed[0] / sqrt(observed[1]) - 1e-9))


@pytest.mark.plain(1)
@pytest.mark.parametrize("pair", range(3))
def test_not_worse_by_more_than_a_margin_on_these_tasks(answer, pair):
    mine = answer.isel(pair=pair).sel(task_effect="fixed")
    shifts = -MARGIN - np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 150)])
    pvalues = [one_sided_pvalue(PAIRS[pair], shift) for shift in shifts]
    np.testing.assert_allclose(mine.margin_pvalue, max(pvalues))
    limit = mine.margin_limit.item()
    assert one_sided_pvalue(PAIRS[pair], limit + 1e-6) > ALPHA
    for distance in np.geomspace(1e-6, 1e3, 60):
        assert one_sided_pvalue(PAIRS[pair], limit - distance) <= ALPHA


@pytest.mark.parametrize("pair", range(3))
def test_not_worse_by_more_than_a_margin_on_tasks_like_these(answer, pair):
    mine = answer.isel(pair=pair).sel(task_effect="random")
    sums, weight = (
        family_sums(PAIRS[pair], mean_and_variance),
        family_weights(PAIRS[pair]),
    )

    def pvalue(margin):
        x = [sums[family] + margin * weight[family] for family in sums]
        flips = [sum(s * v for s, v in zip(signs, x, strict=True)) for signs in product([1, -1], repeat=len(x))]
        return np.mean([each >= sum(x) - 1e-9 for each in flips])

    np.testing.assert_allclose(mine.margin_pvalue, pvalue(MARGIN))
    limit = mine.margin_limit.item()
    assert pvalue(-limit - 1e-6) > ALPHA
    assert pvalue(-limit + 1e-6) <= ALPHA


def test_margins_are_adjusted_over_pairs(answer):
    for claim in answer.task_effect.values:
        mine = answer.sel(task_effect=claim)
        np.testing.assert_allclose(mine.margin_pvalue_adjusted, holm(mine.margin_pvalue.values))


def place_of(names, pairs, p, difference, alpha):
    """Return the first and last place of each name, by a plain loop over pairs."""
    out = []
    for name in names:
        first, last = 1, len(names)
        for (a, b), each, d in zip(pairs, p, difference, strict=True):
            if name not in (a, b) or not each <= alpha + 1e-12:
                continue
            winner = a if d > 0 else b
            if winner == name:
                last -= 1
            else:
                first += 1
        out.append([first, last])
    return out


@pytest.mark.plain(3)
@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize(("alpha", "seed"), [(0.05, 1), (0.2, 2), (0.5, 3)])
def test_places_are_those_of_the_p_of_the_table(alpha, seed, higher_is_better):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(9, 5)) + 0.6 * np.arange(5)
    scores = means[..., np.newaxis] + 0.6 * rng.normal(size=(9, 5, 4))
    curves = make_curves(scores[..., np.newaxis], task=range(9))
    found = xcurves.across_tasks(
        curves,
        confidence_level=1 - alpha,
        n_resamples=999,
        higher_is_better=higher_is_better,
        rng=0,
    )
    names = found.algorithm.values.tolist()
    pairs = list(zip(found.algorithm_a.values, found.algorithm_b.values, strict=True))
    sign = 1 if higher_is_better else -1
    for claim in ("fixed", "random"):
        of_claim = found.sel(task_effect=claim)
        expected = place_of(
            names,
            pairs,
            of_claim.pvalue_adjusted.values,
            sign * of_claim.difference.values,
            alpha,
        )
        assert of_claim.place_ci.transpose("algorithm", "ci_bound").values.tolist() == expected
        assert expected != [[1, 5]] * 5
        # the first place is open to those that may be the best
        is_open = of_claim.place_ci.sel(ci_bound="lower") == 1
        np.testing.assert_array_equal(is_open, of_claim.may_be_best)


@pytest.mark.filterwarnings("ignore:so few tasks")
def test_of_five_tasks_every_place_is_possible():
    scores = 10.0 * np.arange(3)[:, np.newaxis, np.newaxis] + np.random.default_rng(0).normal(size=(5, 3, 2, 1))
    found = xcurves.across_tasks(make_curves(scores, task=range(5)), rng=0)
    assert (found.place_ci.sel(task_effect="random") == [1, 3]).all()


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
