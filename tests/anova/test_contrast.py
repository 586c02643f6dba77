import itertools

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import xcurves
from lazy import refuse_to_compute
from refusals import ANY, refused
from strategies import absent, make_curves
from xcurves.core.refusal import call, give


@pytest.fixture
def curves():
    values = np.random.default_rng(0).normal(size=(3, 6, 5)).cumsum(axis=-1)
    return absent(make_curves(values), [6, 6, 5])


@pytest.fixture
def tasks(curves):
    other = (curves + make_curves(np.random.default_rng(1).normal(size=(3, 6, 5)))).where(curves.training < 300)
    return xr.concat([curves, other], "task").assign_coords(task=["x", "y"])


def test_means_over_training_are_welchs_t_of_the_runs_means(curves):
    result = xcurves.contrast(curves, {"a0": 1, "a2": -1}, rng=0)
    first, second = (curves.sel(algorithm=a).mean("training").dropna("run") for a in ("a0", "a2"))
    welch = stats.ttest_ind(first, second, equal_var=False)
    np.testing.assert_allclose(result.statistic, welch.statistic)
    np.testing.assert_allclose(result.estimate, first.mean() - second.mean())
    assert result.n_assignments == 462


def test_the_last_levels_of_one_against_the_mean_of_two(curves):
    late = xr.DataArray([1 / 3] * 3, {"training": [200, 300, 400]}, "training")
    result = xcurves.contrast(
        curves,
        {"a0": 1, "a1": -0.5, "a2": -0.5},
        training_weights=late,
        n_resamples=500,
        rng=0,
    )
    means = curves.isel(training=[2, 3, 4]).mean(["run", "training"])
    np.testing.assert_allclose(result.estimate, means[0] - (means[1] + means[2]) / 2)
    assert result.training_weights.values.tolist() == [0, 0, 1 / 3, 1 / 3, 1 / 3]
    same = xcurves.contrast(
        curves,
        {"a0": 1, "a1": -0.5, "a2": -0.5},
        training_weights=[0, 0, 1 / 3, 1 / 3, 1 / 3],
        n_resamples=500,
        rng=0,
    )
    xr.testing.assert_identical(same, result)


def test_separable_weights_in_one_array_are_the_product_of_two(curves):
    a = xr.DataArray([2.0, -2.0], {"algorithm": ["a2", "a0"]}, "algorithm")
    b = xr.DataArray([-1.0, 0.5, 0.5], {"training": [0, 300, 400]}, "training")
    once = xcurves.contrast(curves, a * b, n_resamples=500, rng=0)
    twice = xcurves.contrast(curves, a, training_weights=b, n_resamples=500, rng=0)
    for name in ("pvalue", "statistic"):
        np.testing.assert_allclose(once[name], twice[name])
    np.testing.assert_allclose(once.estimate, twice.estimate)


def test_an_algorithm_without_weight_has_no_say(curves):
    far = curves + 1e6 * (curves.algorithm == "a1")
    far[1, 0, 0] = np.nan  # not even by a gap
    weights = {"a0": 1, "a2": -1}
    np.testing.assert_array_equal(
        xcurves.contrast(far, weights, rng=0).pvalue,
        xcurves.contrast(curves, weights, rng=0).pvalue,
    )


def test_order_and_offset_leave_p(curves):
    weights = {"a0": 1, "a1": -0.25, "a2": -0.75}
    plain = xcurves.contrast(curves, weights, n_resamples=500, rng=0)
    turned = xcurves.contrast(
        curves.isel(algorithm=[2, 0, 1], run=[3, 1, 0, 5, 4, 2]),
        weights,
        n_resamples=500,
        rng=0,
    )
    assert turned.pvalue == plain.pvalue
    assert turned.weights.values.tolist() == [-0.75, 1, -0.25]
    moved = xcurves.contrast(1e-12 * curves, weights, n_resamples=500, rng=0)
    assert moved.pvalue == plain.pvalue


def test_paired_contrast_is_a_one_sample_t(curves):
    some = curves.isel(run=slice(5))
    result = xcurves.contrast(some, {"a0": 1, "a1": -0.5, "a2": -0.5}, paired=True, rng=0)
    u = some.mean("training")
    expected = stats.ttest_1samp(u[0] - (u[1] + u[2]) / 2, 0)
    np.testing.assert_allclose(result.statistic, expected.statistic)
    assert result.n_assignments == 6**5


def test_each_task_has_its_own_grid(tasks):
    together = xcurves.contrast(tasks, {"a0": 1, "a1": -1}, rng=0)
    alone = xcurves.contrast(tasks.sel(task="y", training=[0, 100, 200]), {"a0": 1, "a1": -1}, rng=0)
    np.testing.assert_allclose(together.estimate.sel(task="y"), alone.estimate)
    assert together.pvalue.sel(task="y") == alone.pvalue


@pytest.mark.plain(1)
@pytest.mark.parametrize("chunks", [{"task": 1}, {"training": 2}, {"task": 1, "run": 2, "training": 3}])
def test_dask_backed_curves_stay_lazy(tasks, chunks):
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.contrast(tasks.chunk(chunks), {"a0": 1, "a1": -1}, rng=0)
    found, whole = lazy.compute(), xcurves.contrast(tasks, {"a0": 1, "a1": -1}, rng=0)
    np.testing.assert_array_equal(found.pvalue, whole.pvalue)
    xr.testing.assert_allclose(found, whole)


EACH_LEVEL = xr.DataArray(
    [[1.0, 0.0], [0.0, -1.0]], {"algorithm": ["a0", "a1"], "training": [0, 400]}, ("algorithm", "training")
)
AT_50 = xr.DataArray([1.0], {"training": [50]}, "training")


@pytest.mark.parametrize(
    ("weights", "options", "expected", "said"),
    [
        ({"a0": 1, "a1": 1}, {}, ("weights", "2", "Subtract the mean"), "must sum to zero over algorithms"),
        ({"a0": 1}, {}, ("weights", "1", "Subtract the mean"), "must sum to zero over algorithms"),
        (
            {"a0": 1, "a1": 1, "a2": 1},
            {},
            ("weights", "1 for every algorithm", "Name two that differ"),
            "must not be all equal",
        ),
        (
            {"a0": 1, "ppo": -1},
            {},
            ("weights", "ppo", "They have 'a0', 'a1', 'a2'"),
            "^weights names 'ppo', which is no algorithm of the curves",
        ),
        ({"a0": np.nan, "a1": -1}, {}, ("weights", "[nan, -1.0]"), "must be finite"),
        (EACH_LEVEL, {}, ("weights", ANY, "Test one contrast for each profile"), "are not separable"),
        (
            {"a0": 1, "a1": -1},
            {"training_weights": [1, 2]},
            ("training_weights", "shape (2,)", "Name levels with a DataArray of dim 'training'"),
            "one weight for each of 5 levels",
        ),
        (
            {"a0": 1, "a1": -1},
            {"training_weights": np.zeros(5)},
            ("training_weights", [0.0] * 5, "Give weight to at least one level"),
            "^training_weights are all zero",
        ),
        (
            {"a0": 1, "a1": -1},
            {"training_weights": AT_50},
            ("training_weights", 50, "They have 0.0, 100.0, 200.0, 300.0, 400.0"),
            "^training_weights names 50, which is no training of the curves",
        ),
        ({"a0": 1, "a1": -1}, {"alternative": "bigger"}, ("alternative", "bigger"), "'two-sided', 'less' or 'greater'"),
        (
            {"a1": 1, "a2": -1},
            {"paired": True},
            ("curves", ANY, give(paired=False)),
            "^paired=True needs every run in every algorithm; algorithm 'a2' lacks run 5",
        ),
    ],
)
def test_bad_weights_are_refused(curves, weights, options, expected, said):
    with refused(*expected, names=said):
        xcurves.contrast(curves, weights, **options)


def test_a_contrasted_algorithm_needs_two_runs(curves):
    few = curves.where((curves.algorithm != "a1") | (curves.run == 0))
    with refused("curves", cure="Add runs, or take its weight away", names="two of every") as caught:
        xcurves.contrast(few, {"a0": 1, "a1": -1})
    assert str(caught.value) == (
        "algorithm 'a1' has too few runs (1); a contrast needs two of every algorithm with a weight. "
        "Add runs, or take its weight away"
    )


def test_weight_on_levels_that_a_task_does_not_have_is_refused(tasks):
    with refused(
        "curves",
        cure="Give weight to the task's own training levels",
        names=r"^task 'y': training_weights gives.*that no run has",
    ):
        xcurves.contrast(tasks, {"a0": 1, "a1": -1}, training_weights=[0, 0, 0, 0, 1])


def test_too_few_runs_for_any_small_p_are_warned_of():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 3, 4)))
    with pytest.warns(UserWarning, match="^20 reassignments allow no.*the interval is unbounded$"):
        result = xcurves.contrast(curves, {"a0": 1, "a1": -1})
    assert result.estimate_ci.values.tolist() == [-np.inf, np.inf]
    # 1 of 20 is .05
    xcurves.contrast(curves, {"a0": 1, "a1": -1}, alternative="greater")


def test_weights_of_another_kind_are_refused(curves):
    with refused("weights", "str", cure="Try {'a': 1, 'b': -1}", kind=xcurves.WrongType):
        xcurves.contrast(curves, "a0 - a1")


@pytest.mark.parametrize("weights", [{"a0": "1", "a1": "-1"}, {"a0": 1j, "a1": -1j}])
def test_weights_are_numbers(curves, weights):
    with refused("weights", names=r"^weights must be numbers; got ", kind=xcurves.WrongType):
        xcurves.contrast(curves, weights)


def test_a_difference_of_zero_has_an_interval_around_it():
    values = np.array([[0, 1, 2, 3, 10], [3, 2, 1, 0, 10.0]])[..., np.newaxis]
    result = xcurves.contrast(make_curves(values), {"a0": 1, "a1": -1}, paired=True, confidence_level=0.8)
    np.testing.assert_allclose(result.estimate_ci, [-1.5, 1.5], rtol=1e-6)
    pairs = xcurves.pairwise(make_curves(values), paired=True, confidence_level=0.8)
    np.testing.assert_allclose(pairs.difference_ci, [[-1.5, 1.5]], rtol=1e-6)


def test_a_mask_of_levels_gives_their_mean(curves):
    weights = {"a0": 1, "a2": -1}
    mask = curves.training >= curves.training[-2]
    some = xcurves.contrast(curves, weights, training_weights=mask, rng=0)
    alone = xcurves.contrast(curves.isel(training=[-2, -1]), weights, rng=0)
    xr.testing.assert_allclose(
        some[["estimate", "estimate_ci", "pvalue"]],
        alone[["estimate", "estimate_ci", "pvalue"]],
    )
    np.testing.assert_allclose(some.training_weights.sum(), 1)


def test_weights_of_both_signs_are_used_as_they_are(curves):
    slope = curves.training - curves.training.mean()
    test = xcurves.contrast(curves, {"a0": 1, "a2": -1}, training_weights=slope, rng=0)
    np.testing.assert_allclose(test.training_weights, slope)
    by_hand = (curves.mean("run") * slope).sum("training")
    np.testing.assert_allclose(test.estimate, by_hand.sel(algorithm="a0") - by_hand.sel(algorithm="a2"))


@pytest.mark.plain(5)
@pytest.mark.parametrize("training_weights", [None, [0, 0, 1, 1], [1, 3, 0, 2], [-1, 0, 0, 1]])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_p_is_the_share_of_all_relabellings_counted_in_plain_loops(training_weights, alternative):
    """Three algorithms of unequal numbers of runs with a weight, a fourth without."""
    sizes, weights = [3, 2, 3], [1, -0.25, -0.75]
    curves = absent(make_curves(np.random.default_rng(3).normal(size=(4, 4, 4))), [*sizes, 4])
    named = dict(zip(["a0", "a1", "a2"], weights, strict=True))
    test = xcurves.contrast(curves, named, training_weights=training_weights, alternative=alternative)
    b = np.array([1.0] * 4 if training_weights is None else training_weights)
    b = b / b.sum() if (b >= 0).all() else b
    u = [float(curves[i, j].to_numpy() @ b) for i in range(3) for j in range(sizes[i])]

    def t_of(owners):
        groups = [[value for value, owner in zip(u, owners, strict=True) if owner == i] for i in range(3)]
        means = [sum(group) / len(group) for group in groups]
        squares = [sum((value - mean) ** 2 for value in group) for group, mean in zip(groups, means, strict=True)]
        variances = [s / (len(g) - 1) / len(g) for s, g in zip(squares, groups, strict=True)]
        variance = sum(a * a * v for a, v in zip(weights, variances, strict=True))
        return sum(a * mean for a, mean in zip(weights, means, strict=True)) / variance**0.5

    owners = [i for i in range(3) for _ in range(sizes[i])]
    null, observed = (
        [t_of(each) for each in set(itertools.permutations(owners))],
        t_of(owners),
    )
    reached = {
        "two-sided": [abs(t) >= abs(observed) - 1e-9 for t in null],
        "less": [t <= observed + 1e-9 for t in null],
        "greater": [t >= observed - 1e-9 for t in null],
    }[alternative]
    assert test.n_assignments == len(null) == 560
    np.testing.assert_allclose(test.statistic, observed)
    np.testing.assert_allclose(test.pvalue, sum(reached) / len(reached))


def test_alternatives_turn_with_the_weights_which_may_be_a_series(curves):
    def p(a, b, alternative):
        return xcurves.contrast(curves, pd.Series({"a0": a, "a2": b}), alternative=alternative).pvalue.item()

    assert p(1, -1, "greater") == p(-1, 1, "less")
    assert p(1, -1, "two-sided") == p(-1, 1, "two-sided")
    assert p(1, -1, "two-sided") >= min(p(1, -1, "greater"), p(1, -1, "less"))


@pytest.mark.parametrize(
    ("score", "cure", "said"),
    [
        (np.inf, call(".curves.fill_failed", "worst", higher_is_better=False), "has infinite values"),
        (np.nan, call(".curves.align", "intersection"), "lacks 1 of 5 training levels"),
    ],
)
def test_infinite_and_incomplete_runs_are_named(curves, score, cure, said):
    curves[0, 1, 2] = score
    with refused("curves", ("'a0'", "1"), cure, names=rf"^algorithm 'a0', run 1 {said}"):
        xcurves.contrast(curves, {"a0": 1, "a1": -1})


@pytest.mark.slow
def test_a_contrast_is_a_pair_for_programs():
    values = np.random.default_rng(4).normal(size=(3, 6, 2)) + np.array([2.0, 0.0, 0.5])[:, np.newaxis, np.newaxis]
    curves = make_curves(values).assign_coords(algorithm=["ours", "sac", "td3"])
    of_two = xcurves.contrast(curves, {"ours": -1, "sac": 1}, rng=0)
    (pair,) = of_two.curves.to_dict()["pairs"]
    assert (pair["first"], pair["second"]) == ("ours", "sac")
    assert pair["difference"] == pytest.approx(-of_two["estimate"].item())
    assert pair["ci"] == pytest.approx(sorted(-of_two["estimate_ci"].to_numpy()))
    assert pair["p"] == pytest.approx(of_two["pvalue"].item())
    assert pair["shown"] == (pair["p"] <= 0.05)
    of_three = xcurves.contrast(curves, {"ours": 1, "sac": -0.5, "td3": -0.5}, rng=0)
    (pair,) = of_three.curves.to_dict()["pairs"]
    assert (pair["first"], pair["second"]) == ("ours", "the mean of sac and td3")
    of_three = xcurves.contrast(curves, {"ours": 1, "sac": -0.7, "td3": -0.3}, rng=0)
    (pair,) = of_three.curves.to_dict()["pairs"]
    assert (pair["first"], pair["second"]) == ("ours", "0.7 × sac + 0.3 × td3")
    tasks = xr.concat([curves, -curves], "task").assign_coords(task=["x", "y"])
    rows = xcurves.contrast(tasks, {"ours": 1, "sac": -1}, rng=0).curves.to_dict()["pairs"]
    assert [(row["task"], row["first"]) for row in rows] == [("x", "ours"), ("y", "sac")]
