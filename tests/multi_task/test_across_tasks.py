import numpy as np
import pytest
import xarray as xr
from scipy.stats import rankdata

import xcurves
from across_reference import CASES, needed
from oracles import flips_min_p
from refusals import ANY, refused
from strategies import make_curves
from xcurves.core.refusal import call, give
from xcurves.kernels.resampling import batches

FEW = pytest.mark.filterwarnings("ignore:so few tasks or families")


def make(n_tasks=7, sizes=(4, 4), n_levels=5, seed=0, effect=0.7):
    """Return curves of two algorithms or more over tasks with scales of their own."""
    rng = np.random.default_rng(seed)
    shape = (n_tasks, len(sizes), max(sizes), n_levels)
    values = rng.normal(size=shape).cumsum(axis=-1) + rng.normal(size=(n_tasks, 1, 1, 1))
    values += effect * np.arange(len(sizes))[:, np.newaxis, np.newaxis]
    values += 0.3 * rng.normal(size=(n_tasks, len(sizes), 1, 1))
    for place, size in enumerate(sizes):
        values[:, place, size:] = np.nan
    made = make_curves(
        values,
        10.0 * np.arange(1, n_levels + 1),
        task=[f"t{i}" for i in range(n_tasks)],
    )
    return made.assign_coords(algorithm=list("abcdef"[: len(sizes)])).assign_attrs(units="points")


def across(curves, **options):
    return xcurves.across_tasks(curves, **{"n_resamples": 500, "rng": 0, **options})


def test_the_random_claim_is_the_paired_contrast_over_task_means():
    curves = make(9, (4, 4))
    found = across(curves, n_resamples=None).sel(task_effect="random")
    means = curves.mean("run").rename(task="run")
    contrast = means.curves.contrast({"a": 1, "b": -1}, paired=True)
    assert found.pvalue.item() == contrast.pvalue.item()
    np.testing.assert_allclose(found.difference.item(), contrast.estimate, rtol=1e-13)
    np.testing.assert_allclose(found.difference_ci.isel(pair=0), contrast.estimate_ci, atol=1e-9, rtol=0)


@FEW
def test_of_one_task_the_fixed_claim_is_pairwise():
    curves = make(1, (5, 5, 4))
    found = across(curves, n_resamples=None)
    pairs = xcurves.pairwise(curves.isel(task=0)).sel(effect="algorithm")
    fixed = found.sel(task_effect="fixed")
    same = [0]  # equal numbers of runs: the F of two algorithms and |T| are one test
    np.testing.assert_array_equal(fixed.pvalue[same], pairs.pvalue[same])
    np.testing.assert_allclose(found.difference, pairs.difference, rtol=1e-12)
    np.testing.assert_allclose(fixed.difference_ci[same], pairs.difference_ci[same], rtol=1e-8)
    np.testing.assert_allclose(found.task_difference_ci.isel(task=0), pairs.difference_ci, rtol=1e-12)
    assert found.interaction_pvalue.isnull().all()
    assert found.task_sd.isnull().all()


@needed
def test_four_algorithms_of_the_reference():
    case = CASES["four_algorithms9"]
    u, names = case["answers"]["u"], case["recipe"]["algorithms"]
    values = np.array([[u[task][name] for name in names] for task in u])[..., np.newaxis]
    curves = make_curves(values, task=list(u)).assign_coords(algorithm=names)
    # runs differ more in some tasks, but no few tasks carry the means
    found = across(curves, n_resamples=600)
    of_random = found.sel(task_effect="random")
    np.testing.assert_array_equal(of_random.pvalue, case["answers"]["max_t"]["pvalue"])
    np.testing.assert_allclose(of_random.pvalue_adjusted, flips_min_p(found.task_difference))
    for pair, expected in zip(found.pair, case["answers"]["pairs"], strict=True):
        own = found.sel(pair=pair)
        np.testing.assert_allclose(own.difference, expected["fixed"]["difference"], rtol=1e-9)
        np.testing.assert_allclose(own.task_sd**2, expected["fixed"]["tau_squared"], rtol=1e-9)
        np.testing.assert_allclose(own.prob_greater, expected["fixed"]["prob_greater"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(own.task_difference, expected["fixed"]["d"], rtol=1e-9)
        n_runs = own.n_runs.sel(algorithm=[own.algorithm_a.item(), own.algorithm_b.item()])
        of_runs = own.task_mean_sd.sel(algorithm=n_runs.algorithm) ** 2 / n_runs
        np.testing.assert_allclose(of_runs.sum("algorithm"), expected["fixed"]["v"], rtol=1e-9)
        random = own.sel(task_effect="random")
        np.testing.assert_allclose(random.difference_ci, expected["random"]["interval"], rtol=1e-9)
        assert random.n_resamples == expected["random"]["flips"]
    ranks = [case["answers"]["mean_ranks"][name] for name in names]
    np.testing.assert_allclose(found.rank_mean, ranks)
    one = across(curves, n_resamples=600, reference="sac").sel(task_effect="random")
    assert one.pair.values.tolist() == ["a2c - sac", "ddpg - sac", "td3 - sac"]
    np.testing.assert_array_equal(one.pvalue, case["answers"]["max_t_reference"]["pvalue"])
    np.testing.assert_allclose(one.pvalue_adjusted, flips_min_p(one.task_difference))
    np.testing.assert_allclose(one.difference[2], -found.difference[5])


@pytest.mark.slow
@FEW
def test_each_task_counts_on_its_own_grid_and_by_its_weight():
    curves = make(3)
    curves[0, :, :, 3:] = np.nan
    own = curves.mean("training").mean("run")
    d = own.sel(algorithm="a") - own.sel(algorithm="b")
    found = across(curves, task_weights=[1, 2, 5])
    np.testing.assert_allclose(found.task_difference.isel(pair=0), d)
    np.testing.assert_allclose(found.difference[0], (d * [1, 2, 5]).sum() / 8)
    np.testing.assert_array_equal(found.task_weights, [1, 2, 5])
    by_label = xr.DataArray([5, 1, 2], {"task": ["t2", "t0", "t1"]}, ("task",))
    xr.testing.assert_identical(across(curves, task_weights=by_label).drop_attrs(), found.drop_attrs())


@FEW
def test_training_weights():
    curves = make(3)
    curves[0, :, :, 3:] = np.nan
    last = curves.isel(training=4, drop=True).fillna(curves.isel(training=2, drop=True)).mean("run")
    expected = last.sel(algorithm="a") - last.sel(algorithm="b")
    np.testing.assert_allclose(across(curves, training_weights="final").task_difference[0], expected)
    weights = np.array([0, 1, 3.0, 0, 0])
    found = across(curves, training_weights=weights)
    expected = (curves.mean("run") * weights).sum("training") / 4
    np.testing.assert_allclose(
        found.task_difference[0],
        expected.sel(algorithm="a") - expected.sel(algorithm="b"),
    )
    with refused(
        "curves",
        cure="Give weight to the task's own training levels",
        names=r"task 't0': training_weights gives.*levels that no run has",
    ):
        across(curves, training_weights=[0, 0, 1, 1, 1])


@pytest.mark.slow
def test_an_absent_algorithm_leaves_its_tasks_out_of_its_pairs_and_they_are_named():
    curves = make(8, (4, 4, 4))
    curves[2, 1] = np.nan
    found = across(curves)
    assert found.n_tasks.values.tolist() == [7, 8, 7]
    assert found.task_difference.isel(task=2).isnull().values.tolist() == [
        True,
        False,
        True,
    ]
    without = across(curves.drop_isel(task=2)).isel(pair=0)
    np.testing.assert_allclose(found.difference[0], without.difference)
    np.testing.assert_allclose(found.difference_ci[0].sel(task_effect="random"), without.difference_ci[1])
    assert "Some pairs are without t2, where one of the two has no run or none is finite." in found.curves.summary()


def test_one_run_in_a_task_leaves_the_random_claim_alone():
    curves = make(8, (4, 4))
    curves[0, 0, 1:] = np.nan
    found = across(curves)
    assert found.pvalue.isel(pair=0).isnull().values.tolist() == [True, False]
    assert found.task_difference_ci.isel(pair=0, task=0).isnull().all()
    assert "On these very tasks alone there is no claim" in found.curves.summary()


def test_families_are_flipped_whole():
    curves = make(8).assign_coords(family=("task", list("aabbcdef")))
    found = across(curves, task_groups="family")
    assert found.n_resamples.sel(task_effect="random").item() == 2**6
    assert found.attrs["task_groups"] == "family"
    given = across(curves.drop_vars("family"), task_groups=list("aabbcdef"))
    assert given.task_group.values.tolist() == list("aabbcdef")
    xr.testing.assert_equal(given.drop_vars("task_group"), found.drop_vars("family"))
    fixed = across(curves).sel(task_effect="fixed")
    xr.testing.assert_equal(fixed.pvalue, found.pvalue.sel(task_effect="fixed"))


@FEW
def test_paired_runs_are_exchanged_within_runs():
    curves = make(4, (4, 4))
    shared = xr.DataArray(5 * np.random.default_rng(1).normal(size=(4, 4)), dims=("task", "run"))
    together = across(curves + shared, paired=True)
    alone = across(curves, paired=True)
    np.testing.assert_allclose(together.pvalue, alone.pvalue)
    np.testing.assert_allclose(together.difference_ci, alone.difference_ci, rtol=1e-8)
    assert together.prob_greater.isnull().all()
    curves[1, 0, 2] = np.nan
    with refused("curves", cure=give(paired=False)):
        across(curves, paired=True)


@FEW
def test_p_values_of_tasks_are_adjusted_over_tasks():
    curves = make(5, (5, 5), effect=2.0)
    raw = xcurves.pairwise(curves, n_resamples=500).sel(effect="algorithm").isel(pair=0)
    from statsmodels.stats.multitest import multipletests

    for correction, name in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        found = across(curves, task_correction=correction).task_pvalue_adjusted.isel(pair=0)
        np.testing.assert_allclose(found, multipletests(raw.pvalue, method=name)[1])


def test_scores_that_are_the_same_up_to_rounding_do_not_differ():
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=(8, 1, 5, 6)).repeat(2, axis=1)
    scores[:, 1] = rng.permuted(scores[:, 1], axis=-1)  # the same sum in another order
    found = across(make_curves(scores, task=range(8)), n_resamples=999)
    said = {
        "difference": 0,
        "task_difference": 0,
        "prob_greater": 0.5,
        "rank_mean": 1.5,
        "n_ties": 8,
    }
    said |= dict.fromkeys(["pvalue", "pvalue_adjusted", "prob_greater_pvalue_adjusted"], 1)
    for name, value in said.items():
        assert (found[name] == value).all(), name
    assert found.share_better.isnull().all()
    assert found.curves.summary().startswith("a0 and a1 have the same mean score, 0.5")


@pytest.mark.plain(1)
@pytest.mark.parametrize("score", [1.0, 0.1, 10.82584])
def test_scores_at_the_ceiling_of_all_tasks_have_no_interval(score):
    scores = make_curves(np.full((8, 2, 5, 3), score), task=list("stuvwxyz"))
    found = xcurves.across_tasks(scores, rng=0)
    for name in (
        "difference_ci",
        "difference_ci_simultaneous",
        "task_sd",
        "task_sd_ci",
        "task_difference_ci",
    ):
        assert found[name].isnull().all(), name
    said = "no interval"
    if score == 1.0:
        # answers that are all right
        said = "nothing tells them apart"
    assert said in found.curves.summary()
    scores[0, 0, 0] += 0.5
    assert xcurves.across_tasks(scores, rng=0).difference_ci.notnull().all()


def test_an_interaction_of_nothing_by_nothing_does_not_reach():
    """Deals that leave neither differences nor spread are no evidence of an interaction."""
    one = [[0.0, 0.0], [1.0, 1.0]]  # task, run
    other = [[1.0, 1.0], [0.0, 0.0]]
    scores = np.array([one, other]).swapaxes(0, 1)[..., np.newaxis]
    with pytest.warns(UserWarning, match="so few tasks"):
        found = across(make_curves(scores, task=["s", "t"]))
    # of 6 x 6 deals 4 move whole tasks, 2 of them to 0 / 0
    assert found.interaction_pvalue.item() == 2 / 36


@pytest.mark.slow
def test_a_margin_of_what_is_better_is_that_of_negative_scores_turned():
    curves = make(8, (4, 4))
    turned = across(-curves, margin=0.5, higher_is_better=False)
    for name in ("margin_pvalue", "margin_pvalue_adjusted", "margin_limit"):
        np.testing.assert_allclose(turned[name], across(curves, margin=0.5)[name])
    assert "shown not to be worse by more than 0.5: " in turned.curves.summary()
    one, other = (
        curves.curves.contrast({"a": 1, "b": -1}, margin=0.5, n_resamples=99, rng=0),
        -curves,
    )
    other = other.curves.contrast({"a": 1, "b": -1}, margin=0.5, higher_is_better=False, n_resamples=99, rng=0)
    xr.testing.assert_allclose(one[["margin_pvalue", "margin_limit"]], other[["margin_pvalue", "margin_limit"]])
    assert "That a is not worse than b by more than 0.5 is " in one.isel(task=0).curves.summary()
    assert across(curves).data_vars.keys().isdisjoint({"margin_pvalue", "margin_limit"})


@pytest.mark.slow
def test_skewed_differences_are_named_with_the_side_that_is_missed():
    curves = make(20, (4, 4)) * 0.1
    curves[3, 0] += 50
    said = across(curves).curves.summary()
    assert "Differences are skewed over tasks (a over b)" in said
    assert "true means that it misses lie above it" in said
    assert "skewed" not in across(make(20, (4, 4))).curves.summary()


@FEW
def test_lower_is_better_turns_ranks_and_shares_only():
    curves = make(5, (4, 4, 4))
    higher, lower = across(curves), across(curves, higher_is_better=False)
    np.testing.assert_allclose(higher.rank_mean + lower.rank_mean, 4)
    np.testing.assert_allclose(higher.place_ci + lower.place_ci.isel(ci_bound=[1, 0]).values, 4)
    np.testing.assert_allclose(higher.share_better + lower.share_better, 1)
    turned = ["rank_mean", "place_ci", "share_better", "share_better_ci", "may_be_best"]
    xr.testing.assert_equal(higher.drop_vars(turned), lower.drop_vars(turned))


def test_neither_order_nor_further_dims_change_a_number():
    curves = make(6, (4, 4, 4))
    found = across(curves)
    turned = across(curves.isel(algorithm=[2, 0, 1], run=[3, 1, 0, 2]))
    np.testing.assert_allclose(turned.sel(pair="c - a").difference, -found.sel(pair="a - c").difference)
    np.testing.assert_array_equal(turned.sel(pair="a - b").pvalue, found.sel(pair="a - b").pvalue)
    np.testing.assert_allclose(turned.rank_mean.sel(algorithm=["a", "b", "c"]), found.rank_mean)
    two = xr.concat([curves, curves + 1], "metric").assign_coords(metric=["x", "y"])
    both = across(two)
    assert both.difference.dims == ("metric", "pair")
    np.testing.assert_allclose(both.pvalue.sel(metric="x"), found.pvalue)


def test_families_too_few_are_warned_of_and_not_adjusted():
    with pytest.warns(UserWarning, match=r"so few tasks or.*like these reaches 0\.05"):
        found = across(make(4))
    assert found.pvalue_adjusted.sel(task_effect="random").isnull().all()
    assert found.pvalue.sel(task_effect="random").notnull().all()


@pytest.mark.parametrize(
    ("options", "expected", "said"),
    [
        ({"task": "env"}, ("task", "env", give(task="task")), "^task='env' is no dim of curves"),
        (
            {"task_weights": [1, 2]},
            ("task_weights", "shape (2,)", "Name tasks with a DataArray of dim 'task'"),
            "must have one weight for each of 7 tasks",
        ),
        (
            {"task_weights": [0] * 7},
            ("task_weights", ANY, "To leave one out: curves.sel(task=[...])"),
            "must be positive for every task; got 0 for 't0' ",
        ),
        (
            {"task_groups": "family"},
            ("task_groups", "family", "It has none; give the labels, one for each task"),
            "^task_groups='family' is no coordinate of dim 'task'",
        ),
        ({"training_weights": "last"}, ("training_weights", "last"), "must be None, 'final' or weights"),
        ({"task_correction": "none"}, ("task_correction", "none"), "must be 'holm' or 'benjamini-hochberg'"),
        ({"n_resamples": 0}, ("n_resamples", 0, "Leave it out for the default"), "must be at least 1"),
        *(
            ({"margin": odd}, ("margin", odd, give(margin=1.0)), "must be a number of at least 0, in score units")
            for odd in (-1, True, "small")
        ),
        (
            {"task_weights": [1e308] * 7},
            ("task_weights", str([1e308] * 7), "Divide them by the largest"),
            r"must be at most 1e\+140",
        ),
        (
            {"task_groups": ["x", "y", None, "x", "y", np.nan, "y"]},
            ("task_groups", ANY, "Name one for every task"),
            "^task_groups has no family for task 't2'",
        ),
    ],
)
def test_options_are_refused_by_name(options, expected, said):
    with refused(*expected, names=said):
        across(make(), **options)


@pytest.mark.slow
def test_pairs_without_a_difference_come_last_in_an_answer():
    curves = make(8, (4, 4, 4, 4), effect=4.0)
    curves[0, 3, 0] = -np.inf
    found = across(curves)
    assert found.difference.isnull().sum() == 3
    # by place: 8, nan, 4, nan, 4, nan
    order = ["a - c", "b - d", "a - b", "c - d", "b - c", "a - d"]
    said = found.sel(pair=order).curves.summary().splitlines()[0]
    mean = f"{curves.sel(algorithm='c').mean().item():.3g}"
    assert said.startswith(f"c has the highest mean score, {mean} points over 8 tasks. On tasks like these only c may")
    assert "be the best; b and a are shown to be lower (b, the nearest, by 4.2" in said
    assert "Untested beside c: d (some runs have no finite score)." in said
    assert "Runs of d failed, so that there is no mean: say what they count as, .curves.fill_failed('worst')." in (
        found.curves.summary()
    )


def test_the_cure_of_runs_that_failed_is_that_of_their_direction():
    curves = make(8, (4, 4, 4))
    curves[0, 1, 0] = np.inf
    found = across(curves, higher_is_better=False)
    cure = "fill_failed('worst', higher_is_better=False)"
    assert f"say what they count as, .curves.{cure}." in found.curves.summary()
    filled = eval(f"curves.curves.{cure}", {"curves": curves})
    assert across(filled, higher_is_better=False).score_mean.notnull().all()


def test_means_over_tasks_are_of_the_tasks_that_an_algorithm_has():
    curves, weights = make(7, (4, 4, 4)), np.arange(1.0, 8)
    curves[2, 1] = np.nan
    found = across(curves, task_weights=weights, training_weights="final")
    for place, tasks in enumerate(([0, 1, 2, 3, 4, 5, 6], [0, 1, 3, 4, 5, 6])):
        means = curves[tasks, place, :, -1].mean("run")
        expected = np.average(means, weights=weights[tasks])
        np.testing.assert_allclose(found.score_mean[place], expected, rtol=1e-13)
        assert found.n_tasks_algorithm[place] == len(tasks)


def test_a_run_that_lacks_levels_is_named():
    curves = make()
    curves[1, 0, 2, 3] = np.nan
    with refused("curves", ("'a'", "2"), cure=call(".curves.align", "intersection")):
        across(curves)


def test_sentences():
    curves = make(20, (10, 10), effect=2.0)
    said = across(curves, n_resamples=99).curves.summary()
    mean = f"{curves.sel(algorithm='b').mean().item():.3g}"
    first = said.split("\n")[0]
    assert first.startswith(
        f"b has the higher mean score, {mean} points over 20 tasks. On tasks like these it is shown"
    )
    assert "to be higher than a, by " in first
    assert "On these very tasks b is shown to be higher (" in first
    assert len(said.split("\n")) <= 12
    with pytest.warns(UserWarning, match="so few tasks"):
        few = across(make(3, (5, 5)), n_resamples=None).curves.summary()
    assert "For tasks like these: with 3 tasks no p can be below 0.25: add tasks: 6 are the fewest." in few


@pytest.mark.slow
def test_ranks_and_probabilities_that_name_another_algorithm_are_said_with_the_task_that_carries_the_mean():
    curves = make(8, (6, 6), effect=1.0)  # b is better everywhere
    curves[3, 0] += 100  # but here
    said = across(curves).curves.summary()
    assert "The mean names a, mean ranks name b; the probability of scoring higher names b: t3 carries the lead" in said
    assert "The mean names" not in across(make(8, (6, 6), effect=1.0)).curves.summary()


@pytest.mark.plain(1)
@pytest.mark.parametrize("size", [1.0, 1e17])
@pytest.mark.parametrize("better", [1, -1])
def test_runs_that_failed_count_by_their_ranks(size, better):
    curves = better * make(8, (4, 4, 4), n_levels=1) * size
    curves[2, 0, 1] = failed = -better * np.inf
    options = {"higher_is_better": better > 0}
    found = across(curves, **options)
    # worse than all others
    plain = across(curves.where(np.isfinite(curves), -better * 6 * size), **options)
    ranks = rankdata(-better * curves.squeeze("training").mean("run"), axis=-1)
    np.testing.assert_allclose(found.rank_mean, ranks.mean(axis=0))
    for name in ("prob_greater", "prob_greater_pvalue", "n_resamples", "n_runs"):
        np.testing.assert_array_equal(found[name], plain[name], err_msg=name)
    touched = found.isel(pair=[0, 1])
    for name in (
        "difference",
        "difference_ci",
        "pvalue",
        "pvalue_adjusted",
        "task_sd",
        "interaction_pvalue",
    ):
        assert touched[name].isnull().all(), name
    assert touched.task_difference.isnull().sum("pair").values.tolist() == [
        0,
        0,
        2,
        0,
        0,
        0,
        0,
        0,
    ]
    assert touched.task_pvalue_adjusted.isel(task=2).isnull().all()
    assert found.task_mean.isnull().sum() == found.score_mean.isnull().sum() == 1
    rest = curves.isel(task=[0, 1, 3, 4, 5, 6, 7])
    np.testing.assert_allclose(
        touched.task_pvalue_adjusted.drop_isel(task=2),
        across(rest, **options).task_pvalue_adjusted.isel(pair=[0, 1]),
    )
    other = across(curves.isel(algorithm=[1, 2]), **options)
    for name in ("difference", "difference_ci", "pvalue", "pvalue_adjusted", "task_sd"):
        np.testing.assert_allclose(found[name].isel(pair=2), other[name].isel(pair=0), rtol=1e-12, err_msg=name)
    said = found.curves.summary()
    assert "No mean difference, because some runs have no finite score: a - b and a - c." in said
    weighted = across(curves, training_weights=[2.0], **options)
    xr.testing.assert_equal(weighted.prob_greater, found.prob_greater)
    every = across(curves * 0 + failed, **options)
    assert (every.prob_greater == 0.5).all()
    assert (every.n_ties == 8).all()
    assert every.difference.isnull().all()
    assert every.task_pvalue_adjusted.isnull().all()
    curves[0, 0, 0] = -failed
    cure = give(higher_is_better=not better > 0)
    with refused("curves", cure=cure, names=rf"^task 't0': algorithm 'a', run 0: .*{-failed}"):
        across(curves, **options)


def test_shares_of_tasks_count_failed_runs():
    """A task in which one of a pair failed is won by the other; one in which both did is a tie."""
    curves = make(8, (4, 4), n_levels=2)
    curves[0, 0, 1], curves[1, 1, 2, 0], curves[2, :, 0] = -np.inf, -np.inf, -np.inf
    found = across(curves)
    means = curves.mean(["run", "training"]).values
    won, lost = (np.count_nonzero(side[:, 0] > side[:, 1]) for side in (means, -means))
    assert found.share_better.item() == won / (won + lost)
    assert found.n_ties.item() == 8 - won - lost == 1
    assert across(curves, higher_is_better=True, task_groups=["x"] * 2 + ["y"] * 6).n_ties.item() == 0


@pytest.mark.slow
def test_cells_that_lack_runs_are_counted_and_the_three_largest_lacks_named():
    curves = make(8, (6, 6, 6), n_levels=1)
    for place, (task, algorithm, n) in enumerate([(1, 0, 2), (2, 2, 4), (3, 1, 5), (5, 0, 1)]):
        curves[task, algorithm, place % 2 : place % 2 + n] = np.nan
    said = across(curves).curves.summary()
    assert (
        "4 of 24 cells of task and algorithm lack runs that others have: the largest lacks: 'b' 5 of 6 in task 't3', "
        "'c' 4 of 6 in task 't2' and 'a' 2 of 6 in task 't1'." in said
    )
    assert "lack runs" not in across(make(8, (6, 6), n_levels=1)).curves.summary()


def test_labels_that_pandas_cannot_find_have_sentences():
    scores = make_curves(np.random.default_rng(0).normal(size=(6, 2, 3, 2)), task=range(6))
    curves = scores.assign_coords(algorithm=["\ud800", "b"])
    assert "6 tasks" in curves.curves.across_tasks(rng=0).curves.summary()


@pytest.mark.parametrize("paired", [False, True])
def test_tasks_whose_deals_are_held_in_parts_have_the_same_numbers(monkeypatch, paired):
    # ties, and too many runs to tabulate
    scores = np.random.default_rng(0).normal(size=(9, 3, 12, 2)).round(1)
    curves, options = (
        make_curves(scores, task=range(9)),
        {"n_resamples": 199, "paired": paired},
    )
    whole = across(curves, **options)
    monkeypatch.setattr(batches, "MEMORY", 16 * 199 * 24)
    xr.testing.assert_allclose(across(curves, **options), whole, rtol=1e-12)
