"""What is too few for a small p: the cure that a sentence names lifts the floor on the data that raised it."""

import math
import re

import numpy as np
import pytest

import xcurves
import xcurves.kinds
from layers import slow
from strategies import make_curves
from xcurves.say.floors import fewest_flips, fewest_reassignments

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ALPHA = 0.05
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
FLOOR = re.compile(r"[Ww]ith [^.]*? no (?:adjusted )?p [^:]*?can be below ([\d.]+): ([^.]*)\.")


def one_task(n_algorithms, n_runs, seed=0):
    """Return curves of so many algorithms as far from each other as can be."""
    rng = np.random.default_rng([seed, n_algorithms, n_runs])
    effects = 100.0 * np.arange(n_algorithms)[:, None, None]
    curves = make_curves(rng.normal(size=(n_algorithms, n_runs, 1)) + effects)
    return curves.assign_coords(algorithm=LETTERS[:n_algorithms])


def over_tasks(n_tasks, n_algorithms, n_runs=3):
    rng = np.random.default_rng([n_tasks, n_algorithms, n_runs])
    effects = 100.0 * np.arange(n_algorithms)[:, None, None]
    values = rng.normal(size=(n_tasks, n_algorithms, n_runs, 1)) + effects
    curves = make_curves(values, task=[f"t{i}" for i in range(n_tasks)])
    return curves.assign_coords(algorithm=LETTERS[:n_algorithms])


def floor_of(result, begin=""):
    """Return the floor and the cure of the sentence that begins so, both None where there is none."""
    sentences = xcurves.kinds.kind(result.attrs["xcurves_result"]).every_statement(result)
    said = " ".join(each.text for each in sentences)
    found = FLOOR.search(said, said.find(begin) if begin else 0)
    return (None, None) if found is None else (float(found[1]), found[2])


def smallest(result, effect="algorithm"):
    """Return the smallest adjusted p; scores are so far from each other that it is the smallest there can be."""
    return result.pvalue_adjusted.sel(effect=effect).min().item()


@pytest.mark.plain(3)
@pytest.mark.parametrize("n_runs", [2, 3, 4])
@pytest.mark.parametrize("n_algorithms", [3, 4, 5, 6])
def test_with_two_to_four_runs_more_runs_are_the_cure_and_no_reference(n_algorithms, n_runs):
    curves = one_task(n_algorithms, n_runs)
    result = xcurves.pairwise(curves)
    floor, cure = floor_of(result)
    n_pairs = n_algorithms * (n_algorithms - 1) // 2
    least = min(1.0, n_pairs * 2 / math.comb(2 * n_runs, n_runs))
    assert floor == pytest.approx(least, rel=5e-3)
    assert smallest(result) == pytest.approx(least)
    assert "reference" not in cure
    for reference in LETTERS[:n_algorithms]:
        assert smallest(xcurves.pairwise(curves, reference=reference)) > ALPHA
    enough = int(re.fullmatch(r"run more: (\d+) a side are enough", cure)[1])
    cured = xcurves.pairwise(one_task(n_algorithms, enough))
    assert smallest(cured) <= ALPHA
    assert floor_of(cured) == (None, None)
    assert smallest(xcurves.pairwise(one_task(n_algorithms, enough - 1))) > ALPHA


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("n_runs", "with_floor", "cured_by_reference"),
    [(5, range(5, 10), range(5, 8)), (6, (8, 9, 24, 25), (8, 9, 24))],
)
def test_a_reference_is_a_cure_exactly_where_fewer_pairs_reach_the_level(n_runs, with_floor, cured_by_reference):
    for n_algorithms in with_floor:
        curves = one_task(n_algorithms, n_runs)
        result = xcurves.pairwise(curves, n_resamples=10_000)
        floor, cure = floor_of(result)
        assert floor > ALPHA
        assert ("reference=" in cure) == (n_algorithms in cured_by_reference)
        compared = xcurves.pairwise(curves, reference="a", n_resamples=10_000)
        assert (smallest(compared) <= ALPHA) == (n_algorithms in cured_by_reference)
    fewer = min(with_floor) - 1
    assert floor_of(xcurves.pairwise(one_task(fewer, n_runs))) == (None, None)


def test_the_reference_that_lifts_a_floor_of_unlike_runs_is_named():
    curves = one_task(5, 8)
    for name, n in zip("abcde", (4, 4, 8, 8, 8), strict=True):
        curves.loc[{"algorithm": name}][n:] = np.nan
    result = xcurves.pairwise(curves, correction="bonferroni", n_resamples=20_000)
    floor, cure = floor_of(result)
    assert floor == pytest.approx(10 * 2 / math.comb(8, 4), rel=5e-3)
    named = re.match(r"compare fewer with reference='(\w)', or run more", cure)
    least = {"a": 2 / math.comb(8, 4)}
    if named:
        cured = xcurves.pairwise(curves, correction="bonferroni", reference=named[1], n_resamples=20_000)
        assert cured.pvalue_adjusted_least.max() <= ALPHA
    else:  # a and b stay beyond the level in each comparison that has both
        assert 4 * least["a"] > ALPHA
    assert re.search(r"run more: \d+ a side are enough", cure)


def test_few_reassignments_are_cured_by_more():
    curves = one_task(3, 7)
    result = xcurves.pairwise(curves, n_resamples=30, rng=0)
    _, cure = floor_of(result)
    n_resamples = int(re.fullmatch(r"make more: n_resamples=(\d+) is enough", cure)[1])
    cured = xcurves.pairwise(curves, n_resamples=n_resamples, rng=0)
    assert (cured.pvalue_adjusted_least <= ALPHA + 1e-12).all()
    before = xcurves.pairwise(curves, n_resamples=n_resamples - 1, rng=0)
    assert (before.pvalue_adjusted_least > ALPHA).any()


@pytest.mark.plain(1)
@pytest.mark.parametrize("n_tasks", range(1, 6))
@pytest.mark.parametrize("n_algorithms", [2, 3, slow(4), slow(5), slow(7)])
def test_of_tasks_like_these_more_tasks_are_the_cure_and_no_reference(n_algorithms, n_tasks):
    result = xcurves.across_tasks(over_tasks(n_tasks, n_algorithms), n_resamples=300, rng=0)
    _, cure = floor_of(result, "For tasks like these: with")
    assert "reference" not in cure
    found = re.match(
        r"add tasks: (\d+) are the fewest(?:, (\d+) for intervals of (\d+) algorithms)?$",
        cure,
    )
    fewest = int(found[1])
    if n_algorithms == 2:
        assert found[2] is None
    elif n_algorithms < 6:
        assert (int(found[2]), int(found[3])) == (
            {3: 7, 4: 8, 5: 9}[n_algorithms],
            n_algorithms,
        )

    def random_of(n):
        of_tasks = xcurves.across_tasks(over_tasks(n, n_algorithms, 2), n_resamples=2000, rng=0)
        return of_tasks.sel(task_effect="random")

    cured = random_of(fewest)
    assert cured.pvalue_adjusted.min() <= ALPHA
    assert random_of(fewest - 1).pvalue_adjusted.isnull().all()
    n_for_intervals = int(found[2] or fewest)
    assert np.isfinite(random_of(n_for_intervals).difference_ci_simultaneous).all()
    assert np.isinf(random_of(n_for_intervals - 1).difference_ci_simultaneous).all()


def test_of_these_very_tasks_more_runs_are_the_cure():
    result = xcurves.across_tasks(over_tasks(1, 3, 3), rng=0)
    floor, cure = floor_of(result, "For these very tasks: with")
    assert floor == pytest.approx(3 * 2 / 20)
    enough = int(re.fullmatch(r"run more: (\d+) a side are enough", cure)[1])
    cured = xcurves.across_tasks(over_tasks(1, 3, enough), rng=0).sel(task_effect="fixed")
    assert cured.pvalue_adjusted.max() <= ALPHA
    before = xcurves.across_tasks(over_tasks(1, 3, enough - 1), rng=0).sel(task_effect="fixed")
    assert before.pvalue_adjusted.min() > ALPHA


def test_too_few_flips_are_cured_by_more_of_them():
    curves = over_tasks(9, 2)
    result = xcurves.across_tasks(curves, n_resamples=10, rng=0)
    floor, cure = floor_of(result)
    assert floor == pytest.approx(1 / 11, rel=5e-3)
    n_resamples = int(re.search(r"make more: n_resamples=(\d+) is enough", cure)[1])
    cured = xcurves.across_tasks(curves, n_resamples=n_resamples, rng=0)
    assert cured.pvalue_adjusted_least.sel(task_effect="random").item() <= ALPHA


def test_tasks_without_a_difference_do_not_count():
    curves = over_tasks(6, 2)
    curves[2] = 1.0
    floor, cure = floor_of(xcurves.across_tasks(curves, rng=0))
    assert floor == 2 / 2**5
    assert cure == "add tasks: 6 without ties are the fewest"


@pytest.mark.slow
def test_families_are_added_where_these_are_too_few():
    curves = over_tasks(12, 2).assign_coords(family=("task", list("aaabbbcccddd")))
    result = xcurves.across_tasks(curves, task_groups="family", rng=0)
    said = result.curves.summary()
    assert "with 4 families of tasks no p can be below 0.125: add families: 6 are the fewest." in said
    more = over_tasks(12, 2).assign_coords(family=("task", list("aabbccddeeff")))
    cured = xcurves.across_tasks(more, task_groups="family", rng=0)
    assert cured.pvalue_adjusted.sel(task_effect="random").item() <= ALPHA


@pytest.mark.parametrize("alpha", [0.2, 0.1, 0.05, 0.01, 1 / 64])
@pytest.mark.parametrize("n_pairs", [1, 3, 6, 10])
def test_fewest_are_those_of_plain_loops(alpha, n_pairs):
    n = 1
    while 2 / 2**n > alpha / n_pairs + 1e-12:
        n += 1
    assert fewest_flips(alpha, n_pairs) == n
    n = 1
    while n_pairs / (n + 1) > alpha + 1e-12:
        n += 1
    assert fewest_reassignments(alpha, n_pairs) == n
