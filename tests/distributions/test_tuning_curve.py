import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from strategies import make_scores
from xcurves.core.refusal import give


@pytest.fixture
def scores():
    """Two tasks, three algorithms in no order, 40 trials, some missing."""
    values = np.random.default_rng(3).beta(2, 2, (2, 3, 40))
    values[1, 0, 30:] = np.nan
    values[0, 2] = values[0, 2] / 2 + 0.5
    return make_scores(values, task=["x", "y"], algorithm=["b", "c", "a"], run=np.arange(40))


def test_pointwise_intervals_are_those_of_quantiles(scores):
    trials = [1, 2, 5, 10, 20]
    found = xcurves.tuning_curve(scores, n_trials=trials, bounds=(0, 1))
    p = 0.5 ** (1 / np.array(trials))
    cdf = xcurves.performance_cdf(scores, probabilities=p, bounds=(0, 1))
    np.testing.assert_array_equal(found.best_median_ci, cdf.score_quantile_ci)
    known = found.best_median.notnull().values
    assert known.any()
    np.testing.assert_array_equal(found.best_median.values[known], cdf.score_quantile.values[known])
    assert found.trials.values.tolist() == trials
    assert found.n_trials.values.tolist() == [[40, 40, 40], [30, 40, 40]]


def test_pairs_are_in_the_order_of_the_algorithms(scores):
    found = xcurves.tuning_curve(scores, n_trials=5, bounds=(0, 1)).sel(task="x")
    assert found.pair.values.tolist() == ["b - c", "b - a", "c - a"]
    of = {name: found.best_median.sel(algorithm=name).values for name in "abc"}
    for pair in found.pair.values:
        a, b = pair.split(" - ")
        at = found.sel(pair=pair)
        np.testing.assert_array_equal(at.difference, of[a] - of[b])
        low, high = at.difference_band.transpose("ci_bound", "trials").values
        assert ((low <= at.difference) & (at.difference <= high)).all()
        alone = xcurves.tuning_curve(scores.sel(task="x", algorithm=[b, a]), n_trials=5, bounds=(0, 1))
        np.testing.assert_array_equal(alone.trials_to_match_reversed[0], at.trials_to_match)
        np.testing.assert_array_equal(alone.difference_band[0], -at.difference_band[..., ::-1])


def test_bands_of_pairs_are_those_at_half_the_error(scores):
    found = xcurves.tuning_curve(scores, n_trials=8, bounds=(0, 1))
    half = xcurves.tuning_curve(scores, n_trials=8, bounds=(0, 1), confidence_level=0.975)
    band = {name: half.best_median_band.sel(algorithm=name) for name in "abc"}
    for pair in found.pair.values:
        a, b = pair.split(" - ")
        low = band[a].sel(ci_bound="lower") - band[b].sel(ci_bound="upper")
        np.testing.assert_allclose(found.difference_band.sel(pair=pair, ci_bound="lower"), low)


def test_bands_of_all_pairs_together_are_at_the_level_over_their_number(scores):
    found = xcurves.tuning_curve(scores, n_trials=8, bounds=(0, 1))
    # three pairs, half of the error for each side
    at_level = xcurves.tuning_curve(scores, n_trials=8, bounds=(0, 1), confidence_level=1 - 0.05 / 6)
    band = {name: at_level.best_median_band.sel(algorithm=name) for name in "abc"}
    for pair in found.pair.values:
        a, b = pair.split(" - ")
        together = found.difference_band_simultaneous.sel(pair=pair)
        for bound, other in (("lower", "upper"), ("upper", "lower")):
            ends = band[a].sel(ci_bound=bound) - band[b].sel(ci_bound=other)
            np.testing.assert_allclose(together.sel(ci_bound=bound), ends)
        of_two = xcurves.tuning_curve(scores.sel(algorithm=[a, b]), n_trials=8, bounds=(0, 1))
        np.testing.assert_array_equal(of_two.difference_band_simultaneous, of_two.difference_band)


def test_lower_is_better_mirrors_the_scores(scores):
    plain = xcurves.tuning_curve(scores, n_trials=12, bounds=(0, 2))
    mirror = xcurves.tuning_curve(-scores, n_trials=12, bounds=(-2, 0), higher_is_better=False)
    for name in plain:
        turned = -plain[name] if "match" not in name else plain[name]
        if "ci_bound" in turned.dims and "match" not in name:
            turned = turned.isel(ci_bound=[1, 0]).assign_coords(ci_bound=["lower", "upper"])
        np.testing.assert_allclose(mirror[name], turned.transpose(*mirror[name].dims), err_msg=name)


def test_units_are_averaged_first(scores):
    seeds = xr.concat([scores, scores + 0.1, scores - 0.1], "seed").assign_coords(seed=range(3))
    found = xcurves.tuning_curve(seeds, dim=("run", "seed"), unit="run", n_trials=5)
    xr.testing.assert_allclose(found.drop_attrs(), xcurves.tuning_curve(scores, n_trials=5).drop_attrs())
    with refused("dim", cure=give(unit=("run", "seed"))):
        xcurves.tuning_curve(seeds, dim=("run", "seed"))
    every = xcurves.tuning_curve(seeds, dim=("run", "seed"), unit=("run", "seed"))
    assert every.n_trials.sel(task="x").values.tolist() == [120, 120, 120]
    assert every.attrs["unit"] == "run, seed"


def test_selection_by_the_scores_themselves_changes_no_estimate(scores):
    plain = xcurves.tuning_curve(scores, n_trials=12)
    chosen = xcurves.tuning_curve(scores, n_trials=12, select=scores)
    for name in ("best_median", "best_mean", "difference"):
        np.testing.assert_allclose(chosen[name], plain[name], atol=1e-12)
    assert not {
        "best_median_ci",
        "best_median_band",
        "difference_band",
        "trials_to_match",
    } & set(chosen)
    with refused("select", "{'task': 2, 'algorithm': 3, 'run': 5}", cure="Try xr.align(scores, select)"):
        xcurves.tuning_curve(scores, select=scores.isel(run=slice(5)))


def test_without_bounds_nothing_is_beyond_the_data_and_means_have_no_band(scores):
    found = xcurves.tuning_curve(scores, n_trials=40)
    assert np.isinf(found.best_mean_band).all()
    upper = found.best_median_band.sel(ci_bound="upper")
    assert np.isinf(upper.isel(trials=-1)).all()
    assert (upper.isel(trials=0) <= scores.max("run")).all()
    lower = found.best_median_band.sel(ci_bound="lower").isel(trials=-1)
    assert np.isfinite(lower).all()
    assert found.best_median.isel(trials=-1).isnull().all()


def test_one_algorithm_has_no_pairs(scores):
    found = xcurves.tuning_curve(scores.isel(algorithm=[0], task=0), n_trials=5)
    assert "difference" not in found
    assert found.curves.summary().startswith("The best score of 5 trials of b has a median of ")


def test_scores_of_one_algorithm_need_no_dim_for_it(scores):
    one = scores.isel(algorithm=0, task=0)
    expected = xcurves.tuning_curve(scores.isel(algorithm=[0], task=0), n_trials=5)
    for given in (
        one,
        one.drop_vars("algorithm").rename("b"),
        one.drop_vars("algorithm"),
    ):
        found = xcurves.tuning_curve(given, n_trials=5, select=given)
        np.testing.assert_allclose(found.best_mean, expected.best_mean)
    assert xcurves.tuning_curve(one).algorithm.values.tolist() == ["b"]


def test_times_beyond_the_smallest_budget_are_not_reached():
    """Times of two algorithms with unlike budgets: 5 and 20; what only the longer one shows is not known."""
    levels = np.arange(1.0, 21)
    reached = np.array([[2, 3, 4, 9, 9], [1, 3, 8, 12, 19]])[..., np.newaxis]
    curves = make_scores(
        (levels >= reached).astype(float),
        algorithm=["a", "b"],
        run=range(5),
        training=levels,
    )
    curves = curves.where((curves.algorithm == "b") | (curves.training <= 5))
    times = curves.curves.time_to_target(1)
    found = xcurves.tuning_curve(times, n_trials=3, higher_is_better=False)
    assert found.budget == 5
    np.testing.assert_allclose(found.best_median.sel(trials=1), [4, np.inf])
    assert found.best_mean.sel(trials=1).values.tolist() == [np.inf, np.inf]


def test_searches_that_are_not_random_are_refused(scores):
    for sampler in ("RandomSampler", "GridSampler", "unknown"):
        xcurves.tuning_curve(scores.assign_attrs(sampler=sampler, n_pruned=0), n_trials=2)
    with refused(
        "scores",
        cure="Search with optuna.samplers.RandomSampler()",
        names=r"sampler='TPESampler'; .* needs independent draws",
    ):
        xcurves.tuning_curve(scores.assign_attrs(sampler="TPESampler"))
    with refused("scores", cure="Search without a pruner", names="7 pruned trials"):
        xcurves.tuning_curve(scores.assign_attrs(n_pruned=7))


def test_bad_options_say_what_to_do(scores):
    with refused("n_trials", "0.5", cure=give(n_trials=[1, 5, 10, 50])):
        xcurves.tuning_curve(scores, n_trials=[0.5, 2])
    with refused("n_trials", 0, cure="Usual: 50"):
        xcurves.tuning_curve(scores, n_trials=0)
    with refused(
        "curves",
        cure="Give bounds that contain all possible scores, or leave them",
        names=r"^task 'x', algorithm 'a': bounds are 0 to 0.5",
    ):
        xcurves.tuning_curve(scores, bounds=(0, 0.5))


def test_sentences_name_the_leader_and_the_trials_that_others_need():
    rng = np.random.default_rng(0)
    values = np.stack([rng.uniform(0, 1, 400), rng.uniform(0.3, 1.1, 400)])
    scores = make_scores(values, algorithm=["A", "B"], run=np.arange(400))
    result = xcurves.tuning_curve(scores, n_trials=20)
    answer, matched = result.curves.summary().split("\n")[:2]
    after = result.sel(trials=10)
    best = f"{after.best_median.sel(algorithm='B').item():.3g}"
    assert answer.startswith(
        f"B has the higher median best score of 10 trials, {best} points. It is shown to be higher than A, "
    )
    (pair,) = result.curves.to_dict()["pairs"]
    assert (pair["first"], pair["second"], pair["shown"]) == ("B", "A", True)
    low, high = (-after.difference_band_simultaneous.values[0, ::-1]).tolist()
    np.testing.assert_allclose([pair["difference"], *pair["ci"]], [-after.difference.item(), low, high])
    needed = result.sel(trials=5).trials_to_match.item()
    assert matched.startswith(f"A needs {needed:g} trials (")
    assert matched.endswith(" to match the 5 of B.")
    losses = xcurves.tuning_curve(2 - scores, n_trials=20, higher_is_better=False).curves.summary()
    assert losses.startswith("B has the lower median best score of 10 trials, ")


def test_several_tasks_have_a_verdict_each_and_one_algorithm_is_described(scores):
    tasks = xcurves.tuning_curve(scores, n_trials=12, bounds=(0, 1))
    best = [tasks.best_median.sel(task=task, trials=10).idxmax("algorithm").item() for task in "xy"]
    wins = " and ".join(f"{name} in {best.count(name)}" for name in dict.fromkeys(best))
    assert tasks.curves.summary().startswith(f"The highest median best score of 10 trials of 2 tasks: {wins}. ")
    alone = xcurves.tuning_curve(scores.isel(algorithm=[0]), n_trials=12, bounds=(0, 1)).curves.summary()
    assert alone.startswith("task 'x': The best score of 10 trials of b has a median of ")
    assert "task 'y': The best score of 10 trials of b has a median of " in alone
    selected = xcurves.tuning_curve(scores, n_trials=12, select=scores).isel(task=0).curves.summary()
    assert "No difference could be tested: scores that others select have no intervals." in selected
