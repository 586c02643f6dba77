"""Tasks that not all algorithms have: who the verdict is about, over which tasks, and which flips a pair has."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow
from xcurves.multi_task.benchmark_scores import scope_of, scope_of_tasks

pytestmark = pytest.mark.filterwarnings("ignore")

ALPHA = 0.05


def study(values, algorithms="ABCDEF"):
    """Return scores of (task, algorithm, run)."""
    return xr.DataArray(
        values,
        dims=("task", "algorithm", "run"),
        coords={
            "task": [f"t{i}" for i in range(len(values))],
            "algorithm": list(algorithms[: values.shape[1]]),
        },
        name="reward",
    )


def across(scores, **options):
    return xcurves.across_tasks(scores, **{"n_resamples": 19, "rng": 0, **options})


def by_the_rule(has):
    """Return the tasks and the algorithms of the verdict as sets, by the rule as it is written."""
    tasks = {t for t, row in enumerate(has) if any(row)}
    algorithms = {a for row in has for a, cell in enumerate(row) if cell}
    owned = {a: {t for t in tasks if has[t][a]} for a in algorithms}
    common = {t for t in tasks if all(t in owned[a] for a in algorithms)}
    full = {a for a in algorithms if owned[a] == tasks}
    if tasks and Fraction(len(common), len(tasks)) >= Fraction(9, 10):
        return common, algorithms, "all"
    if len(full) >= 2:
        return tasks, full, "full"
    if len(common) >= 2:
        return common, algorithms, "common"
    return set(), set(), "none"


def as_sets(scope):
    return (
        set(np.flatnonzero(scope.tasks).tolist()),
        set(np.flatnonzero(scope.algorithms).tolist()),
        scope.about,
    )


@pytest.mark.slow
def test_the_verdict_is_about_what_the_rule_says():
    seen = set()
    for shape in ((1, 2), (2, 2), (3, 3), (2, 4)):
        for cells in product((False, True), repeat=shape[0] * shape[1]):
            has = np.reshape(cells, shape)
            assert as_sets(scope_of_tasks(has)) == by_the_rule(has.tolist()), has
    rng = np.random.default_rng(0)
    for _ in range(2000):
        n_tasks, n_algorithms = rng.integers(9, 42), rng.integers(2, 6)
        share = rng.choice([0.6, 0.9, 0.97, 0.995])
        has = rng.random((n_tasks, n_algorithms)) < share
        has[:, : rng.integers(0, 3)] = True
        expected = by_the_rule(has.tolist())
        assert as_sets(scope_of_tasks(has)) == expected, has
        seen.add(expected[2])
    assert seen == {"all", "full", "common", "none"}


def test_nine_tenths_of_the_tasks_are_enough():
    for n_tasks, n_common, about in (
        (10, 9, "all"),
        (20, 18, "all"),
        (20, 17, "common"),
        (30, 27, "all"),
        (30, 26, "common"),
    ):
        has = np.ones((n_tasks, 2), bool)
        has[n_common:, 0] = False
        # the third has a task that the second lacks: no two have all
        has = np.column_stack([has, np.ones(n_tasks, bool)])
        has[0, 1] = has[0, 0] = True
        has[-1, 1] = n_common == n_tasks
        assert scope_of_tasks(has).about == about


@pytest.mark.slow
@pytest.mark.parametrize(("better", "n_studies"), [(True, 25), slow(True, 100), slow(False, 100)])
def test_the_best_mean_is_that_of_a_plain_loop_in_uneven_studies(better, n_studies):
    rng = np.random.default_rng(1)
    n_best = 0
    for _ in range(n_studies):
        n_tasks, n_algorithms = rng.integers(2, 13), rng.integers(2, 5)
        values = rng.normal(size=(n_tasks, n_algorithms, 1))
        values += 3 * rng.normal(size=(n_tasks, 1, 1))  # tasks differ: gaps matter
        lacks = rng.random((n_tasks, n_algorithms)) < rng.choice([0.05, 0.2, 0.5])
        lacks[:, : rng.integers(0, 3)] = False
        values[lacks] = np.nan
        if lacks.all():
            continue
        found = across(study(values), higher_is_better=better)
        tasks, algorithms, _ = by_the_rule((~lacks).tolist())
        expected = np.full(n_algorithms, np.nan)
        for algorithm in algorithms:
            cells = [values[task, algorithm, 0].item() for task in tasks]
            expected[algorithm] = sum(cells) / len(cells)
        np.testing.assert_allclose(found.score_mean_common, expected, rtol=1e-12)
        assert found.n_tasks_common == len(tasks)
        assert as_sets(scope_of(found))[:2] == (tasks, algorithms)
        if not algorithms:
            continue
        sign = 1 if better else -1
        best = max(algorithms, key=lambda each: sign * expected[each])
        upward = sign * found.score_mean_common.fillna(-sign * np.inf)
        assert int(upward.argmax()) == best
        n_best += 1
    assert n_best > n_studies / 2


def uneven(n_tasks=25, n_of_first=7, seed=0):
    """Return scores of B and C on all tasks, of A on the first few, where B is ahead of it."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_tasks, 3, 4))
    values[:, 1] += 0.6
    values[n_of_first:, 0] = np.nan
    return study(values)


def test_an_algorithm_with_a_third_of_the_tasks_has_no_mean_in_the_verdict():
    scores = uneven(20)
    scores[:7, 0] += 9 * np.arange(7)[:, np.newaxis]  # its few tasks are easy
    scores[:7, 1] += 9 * np.arange(7)[:, np.newaxis]
    scores[:7, 2] += 9 * np.arange(7)[:, np.newaxis]
    found = across(scores)
    means = scores.mean("run").mean("task")
    assert means.argmax() == 0  # over its own tasks
    np.testing.assert_allclose(found.score_mean, means, rtol=1e-12)
    np.testing.assert_allclose(found.score_mean_common, [np.nan, *means[1:]], rtol=1e-12)
    assert found.n_tasks_algorithm.values.tolist() == [7, 20, 20]
    assert found.n_tasks_common == 20


def test_means_of_the_verdict_are_weighted():
    scores, weights = uneven(10, 9), np.arange(1.0, 11)
    found = across(scores, task_weights=weights)
    cells = scores.mean("run").values[:9]
    np.testing.assert_allclose(found.score_mean_common, weights[:9] @ cells / weights[:9].sum(), rtol=1e-12)
    own = [weights[:9] @ cells[:, 0] / weights[:9].sum()]
    own += [weights @ scores.mean("run").values[:, i] / weights.sum() for i in (1, 2)]
    np.testing.assert_allclose(found.score_mean, own, rtol=1e-12)


def by_enumeration(d, margin):
    """Return p, ends of the interval, and p and limit of the margin, from all flips of the differences of a pair."""
    flips = np.array([*product((1, -1), repeat=len(d))])
    n = len(flips)
    p = np.mean(np.abs(flips @ d) >= abs(d.sum()) - 1e-12)
    subsets = (flips[np.any(flips == 1, axis=1)] == 1).astype(float)
    means = np.sort(subsets @ d / subsets.sum(axis=1))
    c = int(ALPHA * n / 2)
    shifted = d + margin
    p_margin = np.mean(flips @ shifted >= shifted.sum() - 1e-12)
    return p, means[[c - 1, -c]], p_margin, means[int(ALPHA * n) - 1]


@pytest.mark.plain(1)
@pytest.mark.parametrize("options", [{}, {"reference": "A"}, {"n_resamples": 200}])
def test_a_pair_of_seven_common_tasks_has_its_128_flips(options):
    scores = uneven()
    cells = scores.mean("run").values[:7]
    adjusted = []
    for rng in range(3):
        found = xcurves.across_tasks(scores, **{"n_resamples": None, "margin": 0.1, "rng": rng, **options}).sel(
            task_effect="random"
        )
        for pair, other in ((0, 1), (1, 2)):
            sign = 1 if "reference" in options else -1  # other - A
            d = sign * (cells[:, other] - cells[:, 0])
            p, ends, p_margin, limit = by_enumeration(d, 0.1)
            own = found.isel(pair=pair)
            np.testing.assert_allclose(own.difference, d.mean(), rtol=1e-12)
            assert own.n_resamples == 128
            assert own.pvalue == p
            np.testing.assert_allclose(own.difference_ci, ends, rtol=1e-12)
            assert own.margin_pvalue == p_margin
            np.testing.assert_allclose(own.margin_limit, limit, rtol=1e-12)
            assert own.pvalue_adjusted >= p
            assert own.pvalue_adjusted_least >= 2 / 128
            assert own.prob_greater_pvalue * 128 % 2 == 0
        adjusted.append(found.pvalue_adjusted.values)
        if "reference" not in options:
            assert found.n_resamples[2] in (9999, 200)
    np.testing.assert_allclose(np.ptp(adjusted, axis=0), 0, atol=0.1)


def test_a_profile_has_the_flips_of_a_pairs_own_tasks():
    scores = uneven().expand_dims(training=[1.0, 2.0, 3.0], axis=3)
    cells = scores[..., 0].mean("run").values[:7]
    for rng in (0, 1):
        found = xcurves.profile_across_tasks(scores, fractions=[1.0], rng=rng)
        p, ends, *_ = by_enumeration(cells[:, 0] - cells[:, 1], 0.0)
        own = found.isel(pair=0, budget_fraction=0)
        assert own.n_resamples == 128
        assert own.pvalue == p
        np.testing.assert_allclose(own.difference_ci, ends, rtol=1e-12)
        assert found.n_resamples[2] == 9999


def test_pairs_of_too_few_tasks_cost_the_others_of_a_profile_nothing():
    scores = uneven(12, 5).expand_dims(training=[1.0, 2.0], axis=3)
    found = xcurves.profile_across_tasks(scores, fractions=[0.5, 1.0], rng=0)
    alone = xcurves.profile_across_tasks(scores.isel(algorithm=[1, 2]), fractions=[0.5, 1.0], rng=0)
    for name in ("difference_ci_simultaneous", "pvalue_adjusted"):
        np.testing.assert_array_equal(found[name][2], alone[name][0])
        assert not np.isfinite(found[name][:2]).any()


def circle():
    """Return scores of which A is ahead of B on seven tasks, B of C on others, and C of A on others."""
    values = np.full((21, 3, 3), np.nan)
    noise = np.random.default_rng(2).normal(size=(21, 3, 3)) / 10
    for place, (first, second) in enumerate(((0, 1), (1, 2), (2, 0))):
        tasks = slice(7 * place, 7 * place + 7)
        values[tasks, first] = 1 + noise[tasks, first]
        values[tasks, second] = noise[tasks, second]
    return study(values)


@pytest.mark.plain(1)
@pytest.mark.parametrize("better", [True, False])
def test_a_circle_has_no_best_and_says_why(better):
    found = across(circle(), n_resamples=None, higher_is_better=better)
    for claim in ("random", "fixed"):
        part = found.sel(task_effect=claim)
        assert (part.pvalue_adjusted <= ALPHA).all()
        assert part.may_be_best.isnull().all()
    assert scope_of(found).about == "none"
    assert found.score_mean_common.isnull().all()

    # where one side is not shown, and where nothing is
    turns = np.array([[1], [-1], [1], [-1], [1], [-1], [2]])
    open_circle = circle()
    open_circle[14:, 2] = open_circle[14:, 0] + turns
    found = across(open_circle, n_resamples=None, higher_is_better=better)
    best = "A" if better else "C"
    may_be_best = found.may_be_best.sel(task_effect="random", algorithm=best)
    assert may_be_best == 1
    few = across(circle()[[0, 7, 14]], higher_is_better=better)
    assert few.may_be_best.sel(task_effect="random").values.tolist() == [1, 1, 1]
