import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from strategies import absent, make_curves, simulate_errors
from xcurves.core.refusal import give

ACROSS = ["across_tasks", "profile_across_tasks"]
KNOWN = " or ".join(", ".join(map(repr, xcurves.kinds.PARTS)).rsplit(", ", 1))
ALL_TESTS = ["anova", "pairwise", "profile"]
FEW_TASKS = "so few tasks or families that no p for tasks like these reaches"

pytestmark = pytest.mark.filterwarnings(f"ignore:{FEW_TASKS}")
NO_ERRORS = "power_law: scores are not called an error by their name, long_name or standard_name"


@pytest.fixture(scope="module")
def curves():
    values = np.random.default_rng(0).normal(size=(2, 3, 6, 4)).cumsum(axis=-1)
    return make_curves(values, task=["x", "y"]).assign_attrs(units="points")


def whole(curves, **options):
    return xcurves.analyze(curves, n_resamples=99, rng=0, **options)


@pytest.mark.slow
def test_every_part_is_what_its_method_returns(curves):
    tree = whole(curves)
    assert set(tree) == {"curves", *ACROSS, *ALL_TESTS, "distribution"}
    xr.testing.assert_identical(tree["curves"]["score"].drop_attrs(), curves.drop_attrs())
    assert not tree.to_dataset().variables
    methods = {
        "anova": xcurves.randomized_anova,
        "pairwise": xcurves.pairwise,
        "profile": xcurves.ss_profile,
    }
    for part, method in methods.items():
        found = tree[part].to_dataset()
        xr.testing.assert_identical(found, method(curves, n_resamples=99, rng=int(found.attrs["rng"])))
    for part in ACROSS:
        found = tree[part].to_dataset()
        method = getattr(xcurves, part)
        xr.testing.assert_identical(
            found,
            method(curves, task="task", n_resamples=99, rng=int(found.attrs["rng"])),
        )
    last = curves.isel(training=-1)
    expected = xcurves.performance_cdf(last, rng=0)
    found = tree["distribution"].to_dataset().drop_vars("training")
    xr.testing.assert_allclose(found, expected.drop_vars("training"), rtol=1e-14)
    assert tree["distribution"].attrs["final"] == "300"
    assert tree.attrs["left_out"] == NO_ERRORS


def test_two_tasks_are_too_few_for_a_claim_about_tasks_like_these(curves):
    with pytest.warns(UserWarning, match=FEW_TASKS):
        tree = whole(curves, include=["across_tasks"])
    assert not (tree["across_tasks"]["pvalue"].sel(task_effect="random") <= 0.05).any()


@pytest.mark.slow
def test_leaving_a_part_out_does_not_change_another(curves):
    every = whole(curves)
    for part in [*ACROSS, *ALL_TESTS, "distribution"]:
        xr.testing.assert_identical(whole(curves, include=[part])[part].to_dataset(), every[part].to_dataset())
    seeds = {every[part].attrs["rng"] for part in [*ACROSS, *ALL_TESTS, "distribution"]}
    assert len(seeds) == 6
    assert whole(curves).identical(every)
    assert not xcurves.analyze(curves, n_resamples=99, rng=1)["anova"].equals(every["anova"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gamma is")
def test_options_reach_the_parts(curves):
    two = curves.isel(algorithm=slice(2))
    tree = xcurves.analyze(two, paired=True, confidence_level=0.8, n_resamples=50, rng=3)
    for part in [*ACROSS, *ALL_TESTS]:
        assert {name: tree[part].attrs[name] for name in ("paired", "confidence_level", "n_resamples")} == {
            "paired": 1,
            "confidence_level": 0.8,
            "n_resamples": 50,
        }
    assert tree["distribution"].attrs["confidence_level"] == 0.8
    assert tree["pairwise"].sizes["pair"] == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:left out of the analysis")
def test_errors_get_a_power_law_and_are_better_the_lower():
    errors, _ = simulate_errors(2, seed=1)
    errors = errors.rename(task="algorithm").assign_coords(algorithm=["a", "b"])
    tree = whole(errors)
    fit = xcurves.fit_power_law(errors)
    np.testing.assert_array_equal(tree["power_law"]["error_at_n"], fit.error_at_n)
    assert tree["distribution"].attrs["higher_is_better"] == 0
    lower = tree["distribution"]["cvar"].squeeze() <= tree["distribution"]["cvar_lower"].squeeze()
    assert lower.all()
    # sizes have 16, 8, 4, 2 and 1 folds: no more than a power law can take that
    assert "anova: algorithm 'a', run 1 lacks 1 of 5 training levels" in tree.attrs["left_out"]


def test_which_scores_are_better_is_said_by_a_number():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3))).assign_attrs(higher_is_better="False")
    with refused("curves", "False"):
        xcurves.analyze(curves, include=["distribution"], n_resamples=9)


@pytest.mark.plain(2)
@pytest.mark.parametrize(
    ("attrs", "name", "why"),
    [
        ({}, "return", NO_ERRORS),
        ({"units": "%"}, "success", NO_ERRORS),
        ({"units": "%"}, "terror", NO_ERRORS),
        (
            {},
            "error",
            "power_law: errors have no units; say attrs['units'] = '%' or '1'",
        ),
        (
            {"units": "points", "long_name": "error"},
            "x",
            "power_law: training must be positive for a power law; got 0",
        ),
        (
            {"units": "%"},
            "error",
            "power_law: training must be positive for a power law; got 0",
        ),
    ],
)
def test_a_power_law_is_left_out_where_it_does_not_fit(attrs, name, why, recwarn):
    values = np.random.default_rng(0).uniform(20, 30, (2, 3, 5))
    tree = whole(make_curves(values).rename(name).assign_attrs(attrs), confidence_level=0.5)
    assert tree.attrs["left_out"].startswith(why)
    assert "power_law" not in tree
    said = [str(each.message) for each in recwarn if "left out of the analysis: power_law: " in str(each.message)]
    assert bool(said) == (why != NO_ERRORS)


def test_errors_in_another_unit_are_fitted_as_a_loss():
    values = np.random.default_rng(0).uniform(20, 30, (2, 3, 5))
    errors = make_curves(values).assign_attrs(units="points", long_name="error")
    tree = whole(errors.assign_coords(training=errors["training"] + 100), confidence_level=0.5)
    assert tree["power_law"]["error_at_n"].attrs["units"] == "points"
    assert "left_out" not in tree.attrs


def test_tasks_that_cannot_be_compared_are_named_and_the_others_stay(curves):
    one = curves.where((curves.task == "x") | (curves.algorithm == "a0"))
    with pytest.warns(UserWarning) as caught:
        tree = whole(one)
    told = "left out of the analysis: anova, pairwise, profile: task 'y': only algorithm 'a0' has runs; a comparison"
    assert any(str(each.message).startswith(told) for each in caught)
    for part in ACROSS:
        assert part not in tree
        assert f"{part}: only 1 of 2 tasks can be compared" in tree.attrs["left_out"]
    for part in ALL_TESTS:
        assert tree[part].attrs["left_out"].startswith("task 'y': only algorithm 'a0' has runs")
        p = tree[part]["pvalue"]
        assert p.sel(task="y").isnull().all()
        known = p.sel(task="x").notnull()
        if part == "anova":  # the interaction has no Welch statistic
            assert not known.sel(effect="interaction", error_term="welch")
            known = known.where(
                ~((known.effect == "interaction") & (known.error_term == "welch")),
                other=True,
            )
        assert known.all()
    # the task that stays is as by itself but for the entropy, which is the same
    alone = xcurves.randomized_anova(curves.sel(task=["x"]), n_resamples=99, rng=int(tree["anova"].attrs["rng"]))
    np.testing.assert_array_equal(tree["anova"]["pvalue"].sel(task=["x"]), alone.pvalue)
    assert (tree["distribution"]["n_trials"].sel(task="y", algorithm=["a0", "a1"]) == [6, 0]).all()


def test_runs_that_lack_levels_are_told_with_their_cure(curves):
    ragged = curves.sel(task="x").copy()
    ragged[0, 1, 2] = np.nan
    with pytest.warns(UserWarning, match="^left out of the.*'a0', run 1 "):
        tree = whole(ragged)
    assert set(tree) == {"curves", "distribution"}
    assert ".curves.align('intersection')" in tree.attrs["left_out"]


@pytest.mark.slow
def test_final_is_the_last_common_level_of_every_task(curves):
    short = curves.copy()
    short.loc[{"task": "y", "training": 300}] = np.nan
    tree = whole(short)
    level = tree["distribution"]["training"]
    assert level.to_series().to_dict() == {"x": 300, "y": 200}
    assert tree["distribution"].attrs["final"] == "200 to 300, task by task: see the coordinate training"
    means = tree["distribution"]["score_mean"]
    np.testing.assert_allclose(means.sel(task="x"), curves.sel(task="x", training=300).mean("run"))
    np.testing.assert_allclose(means.sel(task="y"), curves.sel(task="y", training=200).mean("run"))
    stopped = curves.sel(task="x").copy()
    stopped[0, 1, 2:] = np.nan  # one run went no further than 100
    with pytest.warns(UserWarning, match="left out of the analysis"):
        found = whole(stopped)["distribution"]
    assert found["training"] == 100
    assert "some runs go up to 300" in found.attrs["history"]
    np.testing.assert_allclose(found["score_mean"], curves.sel(task="x", training=100).mean("run"))


def test_one_level_has_no_profile_and_one_algorithm_no_comparison(curves):
    with pytest.warns(
        UserWarning,
        match=r": profile_across_tasks, profile: task.*tasks can be compared\)",
    ):
        tree = whole(curves.isel(training=[-1]))
    assert set(tree) == {"curves", "across_tasks", "anova", "pairwise", "distribution"}
    with pytest.warns(
        UserWarning,
        match=f"{', '.join([*ACROSS, *ALL_TESTS])}: task 'x': only algorithm 'a0' has runs",
    ):
        assert set(whole(curves.isel(algorithm=[0]))) == {"curves", "distribution"}


@pytest.mark.slow
def test_unequal_runs_fit(curves):
    tree = whole(absent(curves.sel(task="x"), [6, 5, 3]), confidence_level=0.5)
    assert tree["anova"]["n_runs"].values.tolist() == [6, 5, 3]
    assert tree["distribution"]["n_trials"].values.tolist() == [6, 5, 3]


@pytest.mark.slow
def test_chunked_curves_give_the_same(curves):
    pytest.importorskip("dask")
    chunked = whole(curves.chunk(task=1, training=2))
    assert chunked["curves"]["score"].chunks is not None
    eager = whole(curves)
    for part in [*ACROSS, *ALL_TESTS, "distribution"]:
        assert not any(each.chunks for each in chunked[part].to_dataset().variables.values())
        xr.testing.assert_allclose(chunked[part].to_dataset(), eager[part].to_dataset())


def test_a_name_with_a_slash_is_no_group(curves):
    assert list(whole(curves.rename("eval/return"), include=["anova"])["curves"].data_vars) == ["eval_return"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"include": ["t_test"]}, ValueError, f"include must be {KNOWN}; got 't_test'"),
        ({"include": []}, ValueError, "include names no part. Leave it out for all"),
        ({"include": 3}, ValueError, f"include must be {KNOWN}; got 3"),
        (
            {"include": [["anova"]]},
            ValueError,
            f"include must be {KNOWN}; got ['anova']. Did you mean 'anova'?",
        ),
        (
            {"include": ["power_law"]},
            ValueError,
            f"no part of the analysis fits curves: {NO_ERRORS}",
        ),
    ],
)
def test_bad_options_are_told_in_one_line(curves, options, error, message):
    with pytest.raises(error) as caught:
        xcurves.analyze(curves, **{"rng": 0, **options})
    assert str(caught.value) == message


def test_a_dim_with_a_slash_is_refused(curves):
    named = curves.rename(task="config/task")
    with refused("curves", cure="Rename it: curves.rename({'config/task': 'config task'})", names="with a slash"):
        xcurves.analyze(named)


@pytest.mark.slow
def test_curves_that_are_no_curves_are_refused(curves):
    with refused("curves", cure="Check the selection that made it", names="^curves has no score at all"):
        xcurves.analyze(curves * np.nan)
    said = "has a value of inf, which nothing scores where higher is better"
    with refused("curves", cure=give(higher_is_better=False), names=said):
        xcurves.analyze(curves.where(curves.run > 0, np.inf), rng=0)
    with refused("curves", cure=give(paired=False), names="paired=True needs every run in every algorithm"):
        xcurves.analyze(absent(curves, [6, 6, 5]), paired=True, rng=0)
    with refused("curves", "a Dataset", "Pick one variable: ds['score'].curves", kind=xcurves.WrongType):
        xcurves.analyze(curves.to_dataset())
    with refused("curves", kind=xcurves.WrongType, names="^curves"):
        xcurves.analyze(1e300)


def test_all_parts_compare_with_the_reference_only(curves):
    name = curves["algorithm"].values[1].item()
    tree = xcurves.analyze(curves, include=["pairwise", "speedup"], reference=name, n_resamples=99, rng=0)
    alone = curves.curves.pairwise(reference=name, n_resamples=99, rng=0)
    assert tree["pairwise"]["pair"].values.tolist() == alone["pair"].values.tolist()
    np.testing.assert_array_equal(tree["pairwise"]["difference"], alone["difference"])
    assert tree["speedup"].attrs["reference"] == name
    assert tree.attrs["reference"] == name
    assert "reference" not in tree["curves"]["score"].attrs
    with refused("reference", "nobody", cure="They have 'a0', 'a1', 'a2'"):
        xcurves.analyze(curves, reference="nobody")
