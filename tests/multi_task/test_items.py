"""Many tasks or many pairs: items of an evaluation, on the scale of t."""

from itertools import product

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xcurves
from items_reference import CASES, distance, is_close, needed, scores_of
from refusals import refused
from xcurves.kernels.over_tasks.family_means import places, ranks

BY_T = "holm (fixed), step-down max-t (random)"
ON_ITEMS = ["task_difference", "task_difference_ci", "task_pvalue_adjusted"]


def items(scores, **coords):
    """Label scores of shape (algorithm, item, run)."""
    scores = np.asarray(scores, float)
    names = [f"m{number:03d}" for number in range(len(scores))]
    dims = ("algorithm", "item", "run")
    return xr.DataArray(scores, {"algorithm": names, **coords}, dims, name="score")


def across(scores, **options):
    return xcurves.across_tasks(scores, task="item", rng=0, **options)


def in_order_of(case, found):
    """Return the answer with pairs as the case has them, "first - second"."""
    names = found.algorithm.values
    labels = [f"{names[a]} - {names[b]}" for a, b in case["answer"]["pairs"]]
    sides = [f"{a} - {b}" for a, b in zip(found.algorithm_a.values, found.algorithm_b.values, strict=True)]
    if set(labels) <= set(sides):
        return found.isel(pair=[sides.index(label) for label in labels]), 1
    turned = [" - ".join(label.split(" - ")[::-1]) for label in labels]
    return found.isel(pair=[sides.index(label) for label in turned]), -1


@needed
@pytest.mark.parametrize("name", CASES)
def test_answers_of_the_reference(name):
    case = CASES[name]
    answer = case["answer"]
    # so many that the case with 60 clusters is on the scale of t, as the reference is
    found = across(items(scores_of(case)), task_groups=case["cluster"], n_resamples=11_000)
    assert found.attrs["pair_correction"] == BY_T
    found, sign = in_order_of(case, found)
    random = found.sel(task_effect="random")
    np.testing.assert_allclose(sign * found.difference, answer["difference"], rtol=0, atol=1e-8)
    assert is_close(random.pvalue.values, answer["p"]).all()
    assert is_close(random.pvalue_adjusted.values, answer["p_adjusted"]).all()
    together, by_itself = (
        sign * random[ends].transpose("pair", "ci_bound").values[:, ::sign]
        for ends in ("difference_ci_simultaneous", "difference_ci")
    )
    assert distance(together, answer["ci_all"]).max() < 0.04
    # The quantile of one pair jumps from one whole number of items to the next.
    of_one = distance(by_itself, answer["ci_one"])
    assert (of_one < 0.04).mean() > 0.9
    assert of_one.max() < 0.08
    np.testing.assert_allclose(found.smallest_to_show, answer["smallest_to_show"], rtol=1e-6)
    assert (random.n_resamples == 11_000).all()
    np.testing.assert_allclose(random.pvalue_adjusted_least, 1 / 11_001)

    # Places, but of algorithms of which a p is near the level in either.
    near = [pair for pair, p in zip(answer["pairs"], answer["p_adjusted"], strict=True) if 0.04 < p < 0.06]
    sure = [i for i in range(len(answer["place"])) if not any(i in pair for pair in near)]
    place = random.place_ci.transpose("algorithm", "ci_bound").values
    assert sure
    # algorithms that lack items have none: the verdict is not about them
    expected = np.array(answer["place"], float)[sure]
    of_verdict = ~np.isnan(place[sure, 0])
    np.testing.assert_array_equal(place[sure][of_verdict], expected[of_verdict])
    assert name.startswith("gaps") or of_verdict.all()

    fixed = found.sel(task_effect="fixed")
    if answer["fixed"] is None:
        assert fixed.pvalue.isnull().all()
        return
    for place_of_pair, expected in enumerate(answer["fixed"]):
        own = fixed.isel(pair=place_of_pair)
        np.testing.assert_allclose(own.pvalue, expected["p"], rtol=1e-5)
        for ends, key in (
            ("difference_ci", "ci"),
            ("difference_ci_simultaneous", "ci_all"),
        ):
            np.testing.assert_allclose(sign * own[ends].values[::sign], expected[key], atol=1e-7)
    assert (fixed.n_resamples == 0).all()


def plain_student(x, y, weights, paired):
    """Return p and the interval of a weighted mean difference by plain loops, runs of each task in a row."""
    d = v = squares = 0.0
    for w, a, b in zip(weights, x, y, strict=True):
        a, b = (each[~np.isnan(each)] for each in (a, b))
        d += w * (a.mean() - b.mean())
        for each in [a - b] if paired else [a, b]:
            own = each.var(ddof=1) / len(each)
            v += w**2 * own
            squares += w**4 * own**2 / (len(each) - 1)
    df = v**2 / squares
    p = 2 * stats.t.sf(abs(d) / np.sqrt(v), df)
    half = stats.t.isf(0.025, df) * np.sqrt(v)
    return p, (d - half, d + half)


@pytest.mark.parametrize("paired", [False, True])
def test_these_items_by_plain_loops(paired):
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(2, 55, 4)) + rng.normal(size=(1, 55, 1))
    scores[0] += 0.1
    if not paired:
        scores[0, :9, 3] = scores[1, 5, 2:] = np.nan  # fewer runs
    weights = rng.uniform(0.5, 2.0, 55)
    found = across(items(scores), paired=paired, task_weights=weights)
    own = found.sel(task_effect="fixed").isel(pair=0)
    sign = 1 if own.algorithm_a == "m000" else -1
    p, ends = plain_student(*scores, weights / weights.sum(), paired)
    np.testing.assert_allclose(own.pvalue, p, rtol=1e-9)
    np.testing.assert_allclose(sign * own.difference_ci.values[::sign], ends, rtol=1e-9)
    if paired:
        assert own.prob_greater_pvalue.isnull()
        return

    # P(X > Y) with placements: of each run the share of the other's runs that it beats.
    theta = v = squares = 0.0
    for w, a, b in zip(weights / weights.sum(), *scores, strict=True):
        a, b = (each[~np.isnan(each)] for each in (a, b))
        wins = np.array([[(x > y) + (x == y) / 2 for y in b] for x in a])
        theta += w * (wins.mean() - 0.5)
        for placements in (wins.mean(axis=1), wins.mean(axis=0)):
            n = len(placements)
            error = placements.var(ddof=1) / n
            v += w**2 * error
            squares += w**4 * error**2 / (n - 1)
    expected = 2 * stats.t.sf(abs(theta) / np.sqrt(v), v**2 / squares)
    np.testing.assert_allclose(own.prob_greater_pvalue, expected, rtol=1e-9)
    np.testing.assert_allclose(found.prob_greater, 0.5 + sign * theta)


@pytest.mark.slow
def test_of_zeros_and_ones_probabilities_are_half_the_differences():
    # The p of P(X > Y) for these items is that of placements: the scores of 0 and 1 and the same scores turned into
    # other numbers agree.
    rng = np.random.default_rng(6)
    scores = (rng.random((3, 60, 4)) < [[[0.5]], [[0.6]], [[0.65]]]).astype(float)
    found, other = across(items(scores)), across(items(1 + 2 * scores))
    for name in ("prob_greater", "prob_greater_pvalue", "prob_greater_pvalue_adjusted"):
        fixed, of_other = (
            each[name].sel(task_effect="fixed") if "task_effect" in each[name].dims else each[name]
            for each in (found, other)
        )
        np.testing.assert_allclose(fixed, of_other, rtol=1e-9)


def test_answers_that_never_change_say_nothing_of_these_items():
    scores = np.repeat((np.random.default_rng(0).random((2, 70, 1)) < 0.6) * 1.0, 3, axis=2)
    fixed = across(items(scores)).sel(task_effect="fixed")
    assert fixed.pvalue.isnull().all()
    assert fixed.difference_ci.isnull().all()


def hull_by_loops(d, alpha):
    """Return the hull of the intervals of subset means of differences, and of these with one more +1 and -1."""
    out = []
    for values in (d, [*d, 1.0, -1.0]):
        means = sorted(
            np.mean([value for value, kept in zip(values, some, strict=True) if kept])
            for some in product((0, 1), repeat=len(values))
            if any(some)
        )
        c = int(np.floor(np.floor(alpha * 2 ** len(values) + 1e-9) / 2))
        out.append((means[c - 1], means[-c]) if c else (-np.inf, np.inf))
    return min(out)[0], max(each[1] for each in out)


def test_rare_differences_of_few_items_by_plain_loops():
    scores = np.zeros((2, 9, 1))
    scores[0, :6] = 1
    scores[1, :2] = 1
    found = across(items(scores)).sel(task_effect="random").isel(pair=0)
    sign = 1 if found.algorithm_a == "m000" else -1
    d = (scores[0] - scores[1])[:, 0]
    expected = hull_by_loops(list(d), 0.05)
    np.testing.assert_allclose(sign * found.difference_ci.values[::sign], expected)
    # in clusters items are not alike, and no two are added
    clusters = across(items(scores), task_groups=list("abcdefghh"))
    assert clusters.difference_ci.notnull().any()


@pytest.mark.slow
def test_all_intervals_hold_where_models_rarely_differ():
    # One model is always right, three are wrong in 2 of 100 items: of differences alone all intervals hold in .61.
    rng = np.random.default_rng(8)
    n_held = 0
    for _ in range(120):
        scores = np.ones((4, 100, 1))
        scores[1:][rng.random((3, 100, 1)) < 0.02] = 0
        found = across(items(scores), n_resamples=999).sel(task_effect="random")
        of_a, of_b = ((found[side] == "m000") * 0.02 for side in ("algorithm_a", "algorithm_b"))
        ends = found.difference_ci_simultaneous
        low, high = ends.sel(ci_bound="lower"), ends.sel(ci_bound="upper")
        n_held += bool(((low <= of_a - of_b) & (of_a - of_b <= high)).all())
    assert n_held >= stats.binom.ppf(0.001, 120, 0.95)


def test_few_items_that_differ_have_no_interval_of_other_scores():
    rng = np.random.default_rng(1)
    scores = np.tile(rng.normal(size=(1, 300, 1)), (2, 1, 1))
    scores[0, :5] += 1
    found = across(items(scores)).sel(task_effect="random").isel(pair=0)
    assert found.difference_ci_simultaneous.isnull().all()
    np.testing.assert_allclose(found.pvalue, 2 / 2**5, atol=0.01)
    scores[0, 5] += 1
    found = across(items(scores)).sel(task_effect="random").isel(pair=0)
    assert found.difference_ci_simultaneous.notnull().all()


def test_all_flips_of_the_items_that_a_pair_has():
    # whatever others have: seven common items have 128 flips
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(4, 260, 1)) + 0.3 * np.arange(4)[:, np.newaxis, np.newaxis]
    scores[0, 7:] = np.nan
    found = across(items(scores)).sel(task_effect="random")
    for pair in range(found.sizes["pair"]):
        own = found.isel(pair=pair)
        sides = [int(str(own[side].values)[1:]) for side in ("algorithm_a", "algorithm_b")]
        if 0 not in sides:
            assert own.n_resamples == 9_999
            continue
        d = (scores[sides[0]] - scores[sides[1]])[:7, 0]
        sums = [abs(np.dot(signs, d)) for signs in product((1, -1), repeat=7)]
        p = np.mean(np.array(sums) >= sums[0] - 1e-12)
        assert own.n_resamples == 128
        np.testing.assert_allclose(own.pvalue, p, rtol=1e-12)
        assert own.pvalue_adjusted >= p


@pytest.mark.slow
def test_what_is_said_of_each_item_is_left_out_of_many():
    scores = np.random.default_rng(3).normal(size=(2, 201, 2))
    many, few = across(items(scores)), across(items(scores[:, :20]))
    assert not {*ON_ITEMS, "interaction_pvalue"} & set(many.data_vars)
    assert {*ON_ITEMS, "interaction_pvalue"} <= set(few.data_vars)
    asked = across(items(scores), per_task=True)
    assert {*ON_ITEMS, "interaction_pvalue"} <= set(asked.data_vars)
    assert asked.interaction_pvalue.notnull().all()
    unasked = across(items(scores[:, :20]), per_task=False)
    assert not {*ON_ITEMS, "interaction_pvalue"} & set(unasked.data_vars)
    # nothing else changes
    for name in unasked.data_vars:
        xr.testing.assert_identical(unasked[name], few[name])
    with refused("per_task", "no", names="must be True or False", kind=xcurves.WrongType):
        across(items(scores), per_task="no")


@pytest.mark.plain(1)
@pytest.mark.parametrize("view", ["forest", "places", "prob_greater"])
@pytest.mark.parametrize("n_algorithms", [2, 4])
def test_many_items_have_sentences_tables_and_pictures(n_algorithms, view):
    rng = np.random.default_rng(0)
    scores = items((rng.random((n_algorithms, 300, 1)) < 0.6) * 1.0)
    scores[0, :20] = np.nan
    found = across(scores)
    assert "300 items" in found.curves.summary()
    assert len(found.curves.table()) == n_algorithms * (n_algorithms - 1) / 2
    if view == "forest" or n_algorithms > 2:
        assert found.curves.plot(view) is not None


@pytest.mark.parametrize("seed", range(3))
def test_pairs_in_any_order_and_either_end(seed):
    rng = np.random.default_rng(seed)
    scores = items(rng.normal(size=(4, 220, 1)))
    found, lower = across(scores), across(-scores, higher_is_better=False)
    for name in ("pvalue", "pvalue_adjusted", "place_ci", "may_be_best"):
        np.testing.assert_allclose(found[name], lower[name], err_msg=name)
    np.testing.assert_allclose(found.difference, -lower.difference)


def test_ranks_are_those_of_scipy():
    rng = np.random.default_rng(0)
    means = rng.integers(0, 4, (50, 6)).astype(float)
    means[3, 2] = means[4, 1:3] = -np.inf
    np.testing.assert_array_equal(ranks(means, 1), stats.rankdata(-means, axis=1))
    np.testing.assert_array_equal(ranks(means, -1), stats.rankdata(means, axis=1))


def test_no_places_in_a_circle():
    pairs = np.array([[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]])
    difference = np.array([1.0, -1, 1, 1, 1, 1])
    p = np.full(6, 0.01)
    found = places(pairs, difference, p, np.ones(4, bool), 0.05)
    assert np.isnan(found[:3]).all()
    assert found[3].tolist() == [4, 4]
    p[1] = np.nan  # shows nothing
    found = places(pairs, difference, p, np.ones(4, bool), 0.05)
    assert found.tolist() == [[1, 2], [2, 2], [2, 3], [4, 4]] or found[0].tolist() == [
        1,
        2,
    ]


def test_probabilities_of_single_runs_are_those_of_a_plain_loop():
    scores = np.random.default_rng(5).integers(0, 4, (3, 30, 1)).astype(float)
    scores[0, :3] = np.nan
    scores[1, 5] = -np.inf  # failed
    found = across(items(scores), higher_is_better=True)
    for pair in range(3):
        own = found.isel(pair=pair)
        a, b = (int(str(own[side].values)[1:]) for side in ("algorithm_a", "algorithm_b"))
        wins = [
            (x > y) + (x == y) / 2 for x, y in zip(scores[a, :, 0], scores[b, :, 0], strict=True) if not np.isnan(x + y)
        ]
        np.testing.assert_allclose(own.prob_greater, np.mean(wins))
