import re

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from strategies import make_curves
from xcurves.say import numbers


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    curves = make_curves(rng.normal(size=(2, 5, 4)) + np.array([0, 5])[:, np.newaxis, np.newaxis])
    return xcurves.randomized_anova(curves)


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    tasks = make_curves(rng.normal(size=(2, 2, 2, 4, 3)), suite=["m", "d"], task=[1, 2]).assign_coords(metric="y")
    return xcurves.randomized_anova(tasks, confidence_level=0.9)


METHODS = [
    "randomized_anova",
    "pairwise",
    "contrast",
    "ss_profile",
    "across_tasks",
    "profile_across_tasks",
    "speedup",
]


@pytest.mark.plain(3)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", [*METHODS, "compare_distributions"])
def test_a_task_is_called_by_the_name_of_its_dim_throughout(method):
    scores = np.random.default_rng(0).normal(size=(7, 3, 4, 6)).cumsum(-1)
    curves = make_curves(scores, game=list("abcdefg"))
    weights = xr.DataArray([1.0, -1.0, 0.0], {"algorithm": curves.algorithm}, ["algorithm"])
    options = {
        "contrast": {"weights": weights},
        "speedup": {"reference": curves.algorithm[0].item()},
    }
    options |= {
        "across_tasks": {"task": "game"},
        "profile_across_tasks": {"task": "game"},
    }
    given = curves.isel(training=-1, drop=True) if method == "compare_distributions" else curves
    said = xcurves.summary(getattr(xcurves, method)(given, **options.get(method, {})))
    assert re.search(r"\bgames?\b", said)
    assert not re.search(r"\btasks?\b", said)


@pytest.mark.parametrize(
    ("term", "rows"),
    [
        (
            "split_plot",
            {
                "Algorithm": 1,
                "Runs": 8,
                "Training": 3,
                "Interaction": 3,
                "Runs × training": 24,
                "Total": 39,
            },
        ),
        (
            "pooled",
            {"Interaction": 3, "Algorithm": 1, "Training": 3, "Error": 32, "Total": 39},
        ),
    ],
)
def test_a_table_has_the_rows_of_its_error_term(result, term, rows):
    table = result.sel(error_term=term).curves.table()
    assert table["df"].to_dict() == rows
    assert list(table) == ["df", "SS", "MS", "F", "p"]
    for effect, column in ((effect, column) for effect in ("Interaction", "Algorithm") for column in "Fp"):
        found = result["f" if column == "F" else "pvalue"].sel(effect=effect.lower(), error_term=term)
        assert table.loc[effect, column] == found
    assert term == "pooled" or table.equals(result.curves.table())


@pytest.mark.parametrize(
    ("term", "errors"),
    [
        ("pooled", {"Interaction": "Error", "Algorithm": "Error", "Training": "Error"}),
        (
            "split_plot",
            {
                "Algorithm": "Runs",
                "Training": "Runs × training",
                "Interaction": "Runs × training",
            },
        ),
    ],
)
def test_table_follows_from_itself(result, term, errors):
    table = result.sel(error_term=term).curves.table()
    parts = table.drop("Total")
    assert table.loc["Total", "df"] == parts["df"].sum()
    np.testing.assert_allclose(table.loc["Total", "SS"], parts["SS"].sum())
    np.testing.assert_allclose(parts["MS"].astype(float), parts["SS"] / parts["df"].astype(float))
    for row, error in errors.items():
        np.testing.assert_allclose(table.loc[row, "F"], table.loc[row, "MS"] / table.loc[error, "MS"])
    assert set(table.index[table["F"] == ""]) == set(table.index) - set(errors)
    assert set(table.index[table["p"] == ""]) == set(table.index) - {
        "Algorithm",
        "Interaction",
    }
    assert table.index[table["MS"] == ""].tolist() == ["Total"]


def test_summary_goes_by_the_split_plot_terms(result):
    changed = result.copy(deep=True)
    changed.pvalue.loc[{"error_term": "pooled"}] = 1 - changed.pvalue.sel(error_term="split_plot")
    assert changed.curves.summary() == result.curves.summary()
    said = result.curves.summary()
    f, p = (result[name].sel(error_term="split_plot").values for name in ("f", "pvalue"))
    assert said.startswith(
        f"The algorithms' mean scores over training differ (p = .008); their changes of score with training are not "
        f"shown to differ ({numbers.pvalue(p[1])}).\nCompared: a0 (5 runs), a1 (5 runs), at 4 training levels.\n"
    )
    assert f"F(1, 8) = {f[0]:.4g} of level against differences between runs; F(3, 24) = {f[1]:.4g} of shape" in said
    assert said.endswith("among all 126 distinct ones.")


def test_summary_says_when_nothing_can_be_said():
    with pytest.warns(UserWarning, match="0 / 0"):
        result = xcurves.randomized_anova(make_curves(np.ones((2, 5, 3))))
    assert "of changes of score with training nothing can be said, F is undefined." in result.curves.summary()


@pytest.mark.parametrize("method", ["table", "summary"])
def test_a_dataset_that_is_no_result_is_refused(method):
    dataset = xr.Dataset({"return": ("run", [1.0])})
    with refused(
        "result",
        cure="Pick one variable: ds['return'].curves",
        names=r"no result of xcurves. Pick one variable: ds\['return'\].curves$",
    ):
        getattr(dataset.curves, method)()


@pytest.fixture(scope="module")
def three():
    values = np.random.default_rng(1).normal(size=(2, 3, 6, 4))
    values[:, 2] += 8
    return make_curves(values, task=["x", "y"])


def test_table_of_pairs(three):
    result = xcurves.pairwise(three, rng=0, confidence_level=0.9)
    one = result.sel(task="y").curves.table()
    means = three.sel(task="y").mean(["run", "training"]).values
    sizes = {f"a{i} over a{j}": means[i] - means[j] for i in range(3) for j in range(3) if means[i] > means[j]}
    assert one.index.tolist() == sorted(sizes, key=sizes.get, reverse=True)
    np.testing.assert_allclose(one["difference"], sorted(sizes.values(), reverse=True))
    assert one.columns.tolist() == [
        "difference",
        "lower",
        "upper",
        "p",
        "p_interaction",
    ]
    here = result.sel(task="y", pair="a0 - a2")
    expected = [
        -here.difference,
        *-here.difference_ci_simultaneous[::-1],
        *here.pvalue_adjusted,
    ]
    np.testing.assert_array_equal(one.loc["a2 over a0"], [value.item() for value in expected])
    assert result.curves.table().index.names == ["task", "pair"]


def test_the_answer_of_pairs_has_the_numbers_of_the_best(three):
    result = xcurves.pairwise(three.isel(task=0, drop=True), rng=0)
    near, far = (result.sel(pair=f"{name} - a2") for name in ("a1", "a0"))
    near, _ = sorted([near, far], key=lambda pair: abs(pair.difference.item()))
    mean = f"{three.isel(task=0).sel(algorithm='a2').mean():.3g}"
    high, low = (-near["difference_ci_simultaneous"]).values
    assert result.curves.summary().split("\n")[0] == (
        f"a2 has the highest mean score over training, {mean}. It is shown to be higher than all others, by "
        f"{numbers.estimated(-near.difference.item(), low, high)} than {near.algorithm_a.item()}, the nearest."
    )
    two = xcurves.pairwise(three.isel(task=0, algorithm=[0, 1], drop=True), rng=0)
    d, (low, high), p = (
        two.difference.item(),
        two.difference_ci.values[0],
        two.pvalue_adjusted[0, 0].item(),
    )
    best, d, low, high = ("a0", d, low, high) if d > 0 else ("a1", -d, -high, -low)
    size = numbers.estimated(d, low, high).removesuffix(")")
    (other,) = {"a0", "a1"} - {best}
    expected = (
        f"Either may be the better one: {best} is higher by {size}; {numbers.pvalue(p)}). To tell {best} from {other} "
        f"takes at least {two.runs_at_least.item():.0f} runs of each, about {two.runs_to_show.item():.2g} if the "
        "difference is as seen."
    )
    assert two.curves.summary().split("\n")[0].endswith(expected)
    lower = xcurves.pairwise(three.isel(task=0, drop=True), higher_is_better=False, rng=0)
    assert " has the lowest mean score over training, " in lower.curves.summary()
    beside = xcurves.pairwise(three.isel(task=0, drop=True), reference="a1", rng=0).curves.summary()
    assert beside.startswith("Beside a1, in mean score over training: a2 (")


def test_table_and_summary_of_a_contrast_have_its_numbers_and_go_by_its_alternative(
    three,
):
    result = xcurves.contrast(three, {"a0": 1, "a2": -1}, rng=0)
    table = result.curves.table()
    assert table.columns.tolist() == ["difference", "lower", "upper", "p", "T"]
    # a2 is better in each task, so that every row is turned
    assert table.index.get_level_values("pair").tolist() == ["a2 over a0"] * len(three["task"])
    ends = -result.estimate_ci.to_numpy()[:, ::-1]
    expected = np.c_[-result.estimate, ends, result.pvalue, -result.statistic]
    np.testing.assert_allclose(table, expected)
    for alternative in ("two-sided", "less", "greater"):
        one = xcurves.contrast(three.isel(task=0), {"a0": 1, "a2": -1}, alternative=alternative, rng=0)
        shown = "It is shown to be higher than a0, by "
        if alternative == "greater":
            shown = "Either may be the better one: a2 is higher by "
        said = one.curves.summary().split("\n")
        assert said[0].startswith(f"a2 has the higher mean score over training. {shown}")
        assert (f"The test and the interval are one-sided ({alternative})." in said) == (alternative != "two-sided")


def test_summary_of_many_tasks_of_few_runs_says_that_holm_can_show_nothing():
    """Of 26 tasks of 5 v 5 runs, the smallest adjusted p is 26 of 126 assignments."""
    scores = np.random.default_rng(0).normal(size=(26, 2, 5, 2))
    said = xcurves.randomized_anova(make_curves(scores, task=range(26)), rng=0).curves.summary()
    assert f"by Holm, a task of the fewest runs could reach no p below {26 / 126:.3g}." in said
    said = xcurves.randomized_anova(make_curves(scores[:6], task=range(6)), rng=0).curves.summary()
    assert "Holm" not in said  # 6 / 126 is below .05


def test_summary_of_paired_runs_names_their_error_terms():
    summary = make_curves(np.random.default_rng(0).normal(size=(2, 8, 3))).curves.randomized_anova(paired=True)
    said = summary.curves.summary()
    assert "of level against algorithm by run; " in said
    assert "of shape against algorithm by run by training." in said
    assert "among all 128 distinct ones" in said


def test_a_fit_without_attrs_is_not_read_with_the_defaults():
    fit = xcurves.tutorial.open_dataset("digits_learning")["error"].curves.fit_power_law(gamma=-0.3)
    with refused(
        "result",
        cure="Give them back: result.assign_attrs(original.attrs)",
        names="a result of fit_power_law without its attrs",
    ):
        xcurves.predict(fit.drop_attrs(), 1e4)


@pytest.mark.parametrize("method", ["randomized_anova", "pairwise"])
def test_results_without_attrs_make_no_statements(three, method):
    """Their confidence level is not known: a summary would be of 95 %, whatever they were made for."""
    result = getattr(three.curves, method)(rng=0, confidence_level=0.9)
    bare = result.drop_attrs()
    for read in (
        bare.curves.summary,
        bare.curves.table,
        bare.curves.plot,
        bare.curves.to_frame,
    ):
        said = f"^a result of {method} without its attrs does not say how it was"
        with refused("result", cure="Give them back: result.assign_attrs(original.attrs)", names=said):
            read()
    assert bare.assign_attrs(result.attrs).curves.summary() == result.curves.summary()


def test_an_absent_task_leaves_the_sentences_of_the_others_whole(three):
    """NaN comes first here: no 'nan' may reach a reader."""
    spoilt = three.copy()
    spoilt[0] = np.nan
    with pytest.warns(UserWarning, match="no run has a value"):
        result = xcurves.randomized_anova(spoilt, n_resamples=500, rng=0)
    assert "nan" not in result.curves.summary()
    with pytest.warns(UserWarning, match="p is NaN"):
        pairs = xcurves.pairwise(spoilt, n_resamples=500, rng=0)
    assert "nan" not in pairs.curves.summary()
    assert pairs.curves.summary().startswith("The highest mean score over training of 1 task: a2 in 1. ")
    contrast = xcurves.contrast(spoilt, {"a0": 1, "a1": -1}, rng=0)
    assert "nan" not in contrast.curves.summary()
    assert "The highest mean score over training of 1 task: a1 in 1. " in contrast.curves.summary()


@pytest.fixture(scope="module")
def profile():
    values = np.random.default_rng(0).normal(size=(2, 8, 6))
    values[0, :, [1, 2, 4]] += 10
    return xcurves.ss_profile(make_curves(values), intervals=[0, 200, 500], margin=5, rng=0)


def test_summary_of_a_profile_says_where_and_no_more_than_is_known(profile):
    lines = profile.curves.summary().split("\n")
    marked = profile.training.where(profile.pvalue_adjusted <= 0.05, drop=True).values.tolist()
    assert marked == [100, 200, 400]
    assert lines[0] == (
        "The curves differ at training 100 to 200, 400 (at the 0.05 level, adjusted over levels); "
        "with 95 % confidence they still differ at 400."
    )
    shares = [100 * share for share in profile.interval_fraction.sel(effect="simple").values]
    p = profile.interval_pvalue_adjusted.values
    for place, ends in enumerate(["0 to 200", "200 to 500"]):
        share = f"{shares[place]:.3g} % of the observed difference (simple sum of squares)"
        assert f"Interval {ends}: {share}, {numbers.pvalue(p[place])} adjusted." in lines
    within = profile.training.where(profile.equivalent == 1, drop=True).values.tolist()
    assert within == [0, 300, 500]
    assert "All differences are shown to lie within ± 5 at training 0, 300, 500." in lines
    assert "among all 6,435 distinct ones." in lines[-2]
    assert "where a difference ends is not known: that takes a margin." in lines[-1]


def test_table_of_a_profile_has_a_row_for_each_level(profile):
    table = profile.curves.table()
    np.testing.assert_array_equal(table["p_adjusted"], profile.pvalue_adjusted)
    np.testing.assert_array_equal(table["SS"], profile.ss.sel(effect="simple"))
    assert table.index.tolist() == profile.training.values.tolist()
