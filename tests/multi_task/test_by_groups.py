"""Differences in groups of tasks, beside calls of each group and a loop of Holm; wins, ties and losses by loops."""

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from strategies import make_curves
from xcurves.kinds import kind
from xcurves.say.tables import columns_of

ACROSS_TASKS = kind("across_tasks")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
SUITES = list("aaabbbbc")


def suites(n_runs=4, n_algorithms=3, seed=0):
    """Return curves of eight tasks in three suites, some of which an algorithm lacks."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(8, n_algorithms, n_runs, 2)) + np.arange(n_algorithms)[:, None, None]
    curves = make_curves(values, task=list("stuvwxyz")).assign_coords(suite=("task", SUITES))
    return curves.where(~((curves["task"] == "u") & (curves["algorithm"] == "a1")))


def holm_by_loop(pvalues):
    """Return p adjusted by Holm: a dict of p in, a dict out."""
    known = sorted((p, key) for key, p in pvalues.items() if p == p)
    adjusted, running = {}, 0.0
    for step, (p, key) in enumerate(known):
        running = max(running, min(1.0, (len(known) - step) * p))
        adjusted[key] = running
    return adjusted


@pytest.mark.plain(1)
@pytest.mark.parametrize("options", [{}, {"paired": True, "drop": True}, {"reference": "a1"}, {"task_weights": True}])
def test_groups_are_calls_of_their_tasks_adjusted_over_pairs_and_groups(options):
    curves, options = suites(), dict(options)
    if options.pop("drop", False):
        curves = curves.fillna(0.5)
    if "task_weights" in options:
        options["task_weights"] = xr.DataArray(np.arange(1.0, 9), {"task": curves["task"]}, ["task"])
    found = xcurves.across_tasks(curves, by="suite", rng=0, **options)
    assert found["group"].values.tolist() == ["a", "b", "c"]
    pvalues = {}
    for suite in "abc":
        own = curves.isel(task=[place for place, each in enumerate(SUITES) if each == suite])
        given = dict(options)
        if "task_weights" in given:
            given["task_weights"] = given["task_weights"].sel(task=own["task"])
        alone = xcurves.across_tasks(own, rng=0, confidence_level=1 - 0.05 / 3, **given).sel(task_effect="fixed")
        here = found.sel(group=suite)
        np.testing.assert_allclose(here["difference_by"], alone["difference"], rtol=1e-12)
        np.testing.assert_allclose(here["difference_by_ci"], alone["difference_ci_simultaneous"], rtol=1e-9)
        pvalues |= {(pair, suite): p for pair, p in zip(found["pair"].values, alone["pvalue"].values, strict=True)}
    expected = holm_by_loop(pvalues)
    for (pair, suite), p in pvalues.items():
        adjusted = found["difference_by_pvalue_adjusted"].sel(pair=pair, group=suite).item()
        assert adjusted == pytest.approx(expected[pair, suite], rel=1e-12) or np.isnan([adjusted, p]).all()


@pytest.mark.slow
def test_the_verdict_is_that_over_all_tasks():
    curves = suites(n_runs=5)
    found, without = xcurves.across_tasks(curves, by="suite", rng=0), xcurves.across_tasks(curves, rng=0)
    assert ACROSS_TASKS.answer(found) == ACROSS_TASKS.answer(without)
    xr.testing.assert_identical(found.drop_dims("group").drop_attrs(), without.drop_attrs())
    assert "By suite, on these very tasks (all pairs and suites together): a: " in found.curves.summary()
    assert "By suite" not in without.curves.summary()


@pytest.mark.slow
def test_of_one_pair_each_group_has_its_difference():
    found = xcurves.across_tasks(suites(n_algorithms=2, n_runs=6).fillna(0.0), by="suite", rng=0)
    said = next(line for line in found.curves.summary().split("\n") if line.startswith("By suite"))
    assert said.startswith("By suite, on these very tasks (all suites together): a: a1 is higher by ")
    assert said.count("; p ") == 3


@pytest.mark.slow
def test_lazy_curves_have_the_same_groups():
    curves = suites()
    lazy = xcurves.across_tasks(curves.chunk(task=-1), by="suite", rng=0)
    assert lazy["difference_by"].chunks
    xr.testing.assert_identical(lazy.compute(), xcurves.across_tasks(curves, by="suite", rng=0))


@pytest.mark.slow
def test_a_group_of_single_runs_has_no_p():
    curves = suites(n_algorithms=2).fillna(0.0)
    curves = curves.where((curves["task"] != "z") | (curves["run"] == 0))
    found = xcurves.across_tasks(curves, by="suite", rng=0)
    assert found["difference_by_pvalue_adjusted"].isnull().values.tolist() == [[False, False, True]]
    assert found["difference_by"].notnull().all()
    assert "c: nothing could be tested" in found.curves.summary()


def test_what_is_no_coordinate_of_the_tasks_is_refused():
    curves = suites()
    with refused("by", cure="It has 'suite'", names="is no coordinate of dim 'task'"):
        xcurves.across_tasks(curves, by="domain", rng=0)
    for not_a_name in ({"a": 1}, ["suite"], curves["task"].dims[0]):
        with refused("by", cure="It has 'suite'", names="is no coordinate of dim 'task'"):
            xcurves.across_tasks(curves, by=not_a_name, rng=0)
    named = curves.rename(suite="group")
    with refused("curves", cure="Rename it: curves.rename(group='suite')", names="has a coordinate 'group'"):
        xcurves.across_tasks(named, by="group", rng=0)
    assert xcurves.across_tasks(named, task_groups="group", rng=0).attrs["task_groups"] == "group"
    partial = curves.assign_coords(suite=("task", np.array([*"aaabbbb", None], object)))
    with refused("by", cure="Name one for every task", names="has no label of task 'z'"):
        xcurves.across_tasks(partial, by="suite", rng=0)


@pytest.mark.slow
def test_groups_have_labels_of_any_type():
    curves = suites()
    named = curves["suite"].to_numpy()
    mixed = np.where(named == named[0], 1, named.astype(object))
    found = xcurves.across_tasks(curves.assign_coords(suite=("task", mixed)), by="suite", rng=0)
    by_name = xcurves.across_tasks(curves, by="suite", rng=0)
    assert found["group"].to_numpy().tolist()[0] == 1
    np.testing.assert_array_equal(found["difference_by"].sel(group=1), by_name["difference_by"].sel(group=named[0]))


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_wins_ties_and_losses_are_counted_by_task_means(higher_is_better):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(9, 3, 5, 1)) + 2 * rng.integers(-1, 2, size=(9, 3, 1, 1))
    values[4, 1] = values[4, 0][::-1]  # equal means, of runs in another order
    curves = make_curves(values, task=list("rstuvwxyz"))
    found = xcurves.across_tasks(curves, higher_is_better=higher_is_better, rng=0)
    table = found.curves.table()
    word = " over " if higher_is_better else " below "
    for row, cells in table.iterrows():
        first, second = (int(name[1]) for name in row.split(word))
        wins = ties = losses = shown_wins = shown_losses = 0
        for place in range(9):
            gap = sum(values[place, first, :, 0]) / 5 - sum(values[place, second, :, 0]) / 5
            gap = gap if higher_is_better else -gap
            low, high = sorted((first, second))
            p = found["task_pvalue_adjusted"].sel(pair=f"a{low} - a{high}").values[place]
            if abs(gap) < 1e-12:
                ties += 1
            elif gap > 0:
                wins, shown_wins = wins + 1, shown_wins + (p <= 0.05)
            else:
                losses, shown_losses = losses + 1, shown_losses + (p <= 0.05)
        assert cells[["win", "tie", "loss"]].tolist() == [wins, ties, losses]
        assert cells[["win_shown", "loss_shown"]].tolist() == [shown_wins, shown_losses]
        assert cells.dtype.kind == "f"
    assert (table["tie"] == 1).any()
    of_readers = {column.heading: column.texts for column in columns_of(table)}
    assert of_readers["win/tie/loss"][0] == "/".join(str(table[name].iloc[0]) for name in ("win", "tie", "loss"))
    assert of_readers["win/loss shown"][0] == f"{table['win_shown'].iloc[0]}/{table['loss_shown'].iloc[0]}"
    assert "tie" not in of_readers


@pytest.mark.slow
def test_beside_a_reference_wins_are_those_of_the_first_of_each_pair():
    curves = suites(n_runs=6).fillna(0.0)
    found = xcurves.across_tasks(curves, reference="a0", rng=0)
    means = found["task_mean"].transpose("task", "algorithm")
    for row, cells in found.curves.table().iterrows():
        first, second = row.split(" - ")
        won = int((means.sel(algorithm=first) > means.sel(algorithm=second)).sum())
        assert cells[["win", "tie", "loss"]].tolist() == [won, 0, 8 - won]
