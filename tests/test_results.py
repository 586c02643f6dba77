import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from strategies import make_curves


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


def test_table_has_the_papers_rows_and_columns(result):
    table = result.curves.table()
    assert table.index.tolist() == ["Interaction", "Algorithm", "Training", "Error", "Total"]
    assert table.columns.tolist() == ["df", "SS", "MS", "F", "p", "F_stratum", "p_stratum"]
    assert table["df"].tolist() == [3, 1, 3, 32, 39]


def test_table_follows_from_itself_by_the_papers_arithmetic(result):
    table = result.curves.table()
    parts = table.drop("Total")
    assert table.loc["Total", "df"] == parts["df"].sum()
    np.testing.assert_allclose(table.loc["Total", "SS"], parts["SS"].sum())
    np.testing.assert_allclose(parts["MS"], parts["SS"] / parts["df"].astype(float))
    tested = table.loc[["Interaction", "Algorithm", "Training"]]
    np.testing.assert_allclose(tested["F"], tested["MS"] / table.loc["Error", "MS"])
    assert table.loc[["Training", "Error", "Total"], ["p", "F_stratum", "p_stratum"]].isna().all(axis=None)
    assert table.loc[["Error", "Total"], "F"].isna().all()
    assert np.isnan(table.loc["Total", "MS"])


def test_table_shows_both_error_terms_in_their_places(result):
    table = result.curves.table()
    for row, effect in (("Interaction", "interaction"), ("Algorithm", "algorithm")):
        for column, name, term in (
            ("F", "f", "pooled"),
            ("p", "pvalue", "pooled"),
            ("F_stratum", "f", "stratum"),
            ("p_stratum", "pvalue", "stratum"),
        ):
            assert table.loc[row, column] == result[name].sel(effect=effect, error_term=term).item()


def test_table_of_several_tasks_has_them_in_its_index(many):
    table = many.curves.table()
    assert table.index.names == ["suite", "task", None]
    here = table.reset_index(["suite", "task"]).query("suite == 'd' and task == 2").drop(columns=["suite", "task"])
    pd.testing.assert_frame_equal(here, many.sel(suite="d", task=2).curves.table())


def test_summary_goes_by_the_stratum_terms(result):
    changed = result.copy(deep=True)
    changed.pvalue.loc[{"error_term": "pooled"}] = 1 - changed.pvalue.sel(error_term="stratum")
    assert changed.curves.summary() == result.curves.summary()
    assert result.curves.summary() == (
        "Algorithm effect: the algorithms' mean scores over training differ at the 0.05 level; "
        f"F(1, 8) = {result.f.sel(effect='algorithm', error_term='stratum'):.4g} against differences between runs "
        "(stratum error term), p = 0.00794.\n"
        "Interaction: the algorithms' changes of score with training are not shown to differ at the 0.05 level; "
        f"F(3, 24) = {result.f.sel(effect='interaction', error_term='stratum'):.4g} against changes over "
        f"training of the differences between runs (stratum error term), p = {result.pvalue[1, 1]:.3g}.\n"
        "p is the share of reassignments of whole runs to algorithms with an F at least as large, among all 126 "
        "distinct ones; the smallest that it can be is 0.00794.\n"
        "What was tested: whether scores are independent of the algorithm when whole runs are reassigned. A small p "
        "does not say which algorithm is better or by how much; a large one does not say that they are equal."
    )


def test_summary_of_several_tasks_names_them(many):
    lines = many.curves.summary().split("\n")
    assert len(lines) == 4 * 2 + 2
    assert lines[0].startswith("suite 'm', task 1: Algorithm effect: ")
    assert lines[7].startswith("suite 'd', task 2: Interaction: ")


def test_summary_says_when_nothing_can_be_said():
    with pytest.warns(UserWarning, match="0 / 0"):
        result = xcurves.randomized_anova(make_curves(np.ones((2, 5, 3))))
    assert "Interaction: nothing can be said; F is undefined." in result.curves.summary()


def test_summary_of_paired_runs_names_their_strata():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 8, 3)))
    summary = xcurves.randomized_anova(curves, paired=True).curves.summary()
    assert "against algorithm by run (stratum error term)" in summary
    assert "against algorithm by run by training (stratum error term)" in summary
    assert "among all 128 distinct ones" in summary


def test_summary_tells_random_from_exact(many):
    random = xcurves.randomized_anova(make_curves(np.random.default_rng(0).normal(size=(2, 9, 3))), n_resamples=1000)
    assert "among 1,000 random ones (standard error of p at most 0.01" in random.curves.summary()


@pytest.mark.parametrize("method", ["table", "summary"])
def test_a_dataset_that_is_no_result_is_refused(method):
    dataset = xr.Dataset({"return": ("run", [1.0])})
    with pytest.raises(ValueError, match=r"no result of xcurves. Pick one variable: ds\['return'\].curves$"):
        getattr(dataset.curves, method)()
