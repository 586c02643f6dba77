import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from lazy import refuse_to_compute
from refusals import refused
from strategies import make_curves
from xcurves.core.refusal import call


@pytest.fixture
def ragged():
    """Two tasks on levels 0..500; in the first, one run stops early; in the second, b starts at 100."""
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 2, 3, 6)), task=["Ant", "Hopper"])
    curves = curves.assign_coords(algorithm=["a", "b"])
    curves.loc[{"task": "Ant", "algorithm": "a", "run": 1, "training": [400, 500]}] = np.nan
    curves.loc[{"task": "Hopper", "algorithm": "b", "training": 0}] = np.nan
    curves.loc[{"task": "Hopper", "algorithm": "b", "run": 2}] = np.nan
    return curves


def test_intersection_keeps_task_by_task_what_all_runs_have(ragged):
    aligned = ragged.curves.align("intersection", runs_short="cut")
    kept = aligned.notnull().any(["algorithm", "run"])
    assert aligned.training[kept.sel(task="Ant")].values.tolist() == [0, 100, 200, 300]
    assert aligned.training[kept.sel(task="Hopper")].values.tolist() == [
        100,
        200,
        300,
        400,
        500,
    ]
    here = aligned.sel(task="Ant", training=200)
    xr.testing.assert_equal(here, ragged.sel(task="Ant", training=200))


def test_what_was_dropped_is_recorded_once_per_task(ragged):
    aligned = ragged.curves.align("intersection", runs_short="cut")
    assert aligned.attrs["history"] == (
        "align(runs_short='cut'): 1 of 11 runs ends before 90 % of the longest of its task, so that all runs of 1 of 2 "
        "tasks are compared up to 60 % of the longest only\n"
        "align(on='intersection', runs_short='cut'): task 'Ant': kept 4 of 6 training levels, dropped 2: 400, 500; "
        "task 'Hopper': kept 5 of 6 training levels, dropped 1: 0"
    )


def apart(*grids):
    levels = sorted(set().union(*grids))
    curves = make_curves(np.ones((len(grids), 2, len(levels))), training=levels)
    for i, grid in enumerate(grids):
        curves[i] = curves[i].where(curves.training.isin(list(grid)))
    return curves


@pytest.mark.parametrize(
    ("on", "grids", "reason", "fractions"),
    [
        ("intersection", [{0, 10, 20, 30}, {0, 10, 20, 30}, {0, 11, 22, 33}], "leaves 1 common training level of 7", 4),
        ("intersection", [{0, 1, 2, 3}, {2, 3, 4, 5}, {0, 1, 4, 5}], "leaves 0 common training levels of 6", 4),
        ("final", [{0, 10}, {5, 15}], "leaves 0 common training levels of 4", 1),
    ],
)
def test_grids_that_do_not_meet_are_refused_with_a_cure(on, grids, reason, fractions):
    with refused("on", cure=call(".curves.align", fractions, relative_to="budget"), names=f"^on='{on}' {reason}"):
        apart(*grids).curves.align(on)


def test_a_task_whose_grids_do_not_meet_is_left_out_and_named():
    tasks = xr.concat([apart({0, 1, 2}, {0, 1, 2}), apart({0, 1}, {1, 2})], "task").assign_coords(task=["x", "y"])
    said = "task 'y': on='intersection' leaves 1 common training level of 3"
    with pytest.warns(
        UserWarning,
        match=rf"^left out, because runs have too few common levels: {said}. Bring every task to fractions",
    ) as caught:
        aligned = tasks.curves.align("intersection", runs_short="cut")
    assert len(caught) == 1
    assert aligned.sel(task="y").isnull().all()
    xr.testing.assert_equal(aligned.sel(task="x"), tasks.sel(task="x"))
    assert f"{said}; left out" in aligned.attrs["history"]


def test_a_task_without_a_complete_run_is_an_error(ragged):
    hopper = ragged.sel(task=["Hopper"])
    hopper.loc[{"algorithm": "a", "training": 500}] = np.nan
    with refused("curves", cure=call(".curves.align", "intersection", runs_short="cut")) as caught:
        hopper.curves.drop_incomplete()
    assert str(caught.value) == (
        "task 'Hopper': every run is incomplete. 3 of 5 runs end before 90 % of the longest of the task: task "
        "'Hopper': algorithm 'a', all runs, at 400 of 500 (80 %), which is another budget. Say what they are: to "
        "compare up to 80 % of the longest only, .curves.align('intersection', runs_short='cut'); if they failed, "
        ".curves.align('intersection', runs_short='failed').curves.fill_failed('worst'); if they were done, to compare "
        "the last score of each, frame.curves.to_dataarray(training=None, duplicates='last')"
    )


def test_incomplete_runs_of_dask_backed_curves_are_dropped_lazily(ragged):
    with dask.config.set(scheduler=refuse_to_compute):
        dropped = ragged.chunk(task=1).curves.drop_incomplete()
    assert dropped.chunks is not None
    with pytest.warns(UserWarning, match="leaves no run of task 'Hopper': algorithm 'b'"):
        whole = ragged.curves.drop_incomplete()
    xr.testing.assert_equal(dropped.compute(), whole)


LEVELS = [0.0, 100.0, 200.0, 300.0, 400.0, 500.0]


def one_run_at_a_time(curves, grid, method):
    """What pandas and NumPy make of each run, its own levels alone."""
    made = curves.reindex(training=grid).copy()
    for where in np.ndindex(made.shape[:-1]):
        own = pd.Series(curves.values[where], LEVELS).dropna()
        if own.empty:
            made.values[where] = np.nan
        elif method == "linear":
            made.values[where] = np.interp(grid, own.index, own, left=np.nan, right=np.nan)
        else:
            held = own.reindex(grid, method="ffill")
            made.values[where] = held.where(held.index <= own.index[-1])
    return made


@pytest.mark.parametrize("method", ["linear", "previous"])
def test_every_run_is_brought_to_a_grid_from_its_own_levels(ragged, method):
    ragged.loc[{"task": "Ant", "algorithm": "b", "run": 0, "training": [100, 300]}] = np.nan
    grid = [0.0, 50.0, 150.0, 300.0, 420.0, 500.0, 600.0]
    aligned = ragged.curves.align(grid, method=method)
    xr.testing.assert_allclose(aligned, one_run_at_a_time(ragged, grid, method))
    assert aligned.training.dtype == float


def test_the_union_holds_every_level_of_a_task_and_of_that_task_alone(ragged):
    ragged.loc[{"task": "Hopper", "training": 300}] = np.nan
    union = ragged.curves.align("union", method="linear")
    kept = union.notnull().any(["algorithm", "run"])
    assert union.training[kept.sel(task="Ant")].values.tolist() == LEVELS
    assert union.training[kept.sel(task="Hopper")].values.tolist() == [
        0,
        100,
        200,
        400,
        500,
    ]


def test_nothing_goes_past_the_end_of_a_run_and_the_levels_are_named(ragged):
    aligned = ragged.curves.align([100, 350, 450, 700], method="previous")
    assert aligned.sel(task="Ant", algorithm="a", run=1).isnull().values.tolist() == [
        False,
        True,
        True,
        True,
    ]
    history = aligned.attrs["history"]
    assert history.startswith(
        "align(on=[100, 350, 450, 700], method='previous'): task 'Ant': algorithm 'a', run 0 lacks 1"
    )
    assert "task 'Ant': algorithm 'a', run 1 lacks 3 of 4 training levels: 350, 450, 700; " in history
    # it is absent there
    assert "'b', run 2" not in history.split("task 'Hopper'", 1)[1]
    with refused("curves", ("'a'", "1"), cure=call(".curves.align", "intersection", runs_short="drop")):
        xcurves.randomized_anova(aligned)


def test_the_final_level_is_the_last_that_all_runs_of_a_task_have(ragged):
    final = ragged.curves.align("final", runs_short="cut")
    kept = final.notnull().any(["algorithm", "run"])
    assert final.training[kept.sel(task="Ant")].values.tolist() == [300]
    assert final.training[kept.sel(task="Hopper")].values.tolist() == [500]
    result = xcurves.randomized_anova(final, confidence_level=0.5)
    assert (
        result.attrs["history"]
        .split("\n")[1]
        .startswith(
            "align(on='final', runs_short='cut'): task 'Ant': the last common training level is 300, some runs go up "
            "to 500; task 'Hopper': the last common training level is 500, some runs go up to 500"
        )
    )
    assert result.n_levels.values.tolist() == [1, 1]
    expected = xcurves.randomized_anova(ragged.sel(task="Ant", training=[300]), confidence_level=0.5)
    np.testing.assert_allclose(result.pvalue.sel(task="Ant"), expected.pvalue)


def test_bins_hold_the_means_of_their_scores(ragged):
    aligned = ragged.curves.align([100, 300, 500], method="mean")
    whole = ragged.sel(task="Ant", algorithm="b", run=0).values
    np.testing.assert_allclose(
        aligned.sel(task="Ant", algorithm="b", run=0),
        [whole[:2].mean(), whole[2:4].mean(), whole[4:].mean()],
    )
    assert np.isnan(aligned.sel(task="Ant", algorithm="a", run=1, training=500))


@pytest.mark.parametrize(
    ("on", "options", "expected"),
    [
        *((levels, {}, ("on", levels, "Sort them")) for levels in ([0, 200, 100], [0, np.inf], [], [0, 100, 100])),
        ("union", {"method": "cubic"}, ("method", "cubic")),
        ("intersection", {"method": "linear"}, ("on", "intersection", "on=[...]")),
        ("union", {"method": "mean"}, ("on", "union", "on=[...]")),
        ([0, 1], {"method": "nearest"}, ("method", "nearest")),
        ([0, 1], {"tolerance": 5}, ("tolerance", 5, "Name one, or leave it out")),
        ([0, 1], {"method": "linear", "tolerance": -1}, ("tolerance", -1)),
        ([0.5, 2], {"relative_to": "budget"}, ("on", [0.5, 2], "give their number: 20")),
        *((20, {"relative_to": other}, ("relative_to", other)) for other in ("end", [], "")),
        (20, {"relative_to": np.ones((2, 2))}, ("relative_to",)),
        (20, {"relative_to": "budget", "method": "previous"}, ("method", "previous", "Leave it out")),
        (20, {"relative_to": "budget", "tolerance": -1}, ("tolerance", -1)),
    ],
)
def test_options_that_make_no_sense_are_refused(ragged, on, options, expected):
    with refused(*expected):
        ragged.curves.align(on, **options)


@pytest.mark.parametrize(
    ("on", "options", "names"),
    [
        ("inner", {}, "training levels"),
        (["a"], {}, "training levels"),
        ("union", {"relative_to": "budget"}, "must be a number of fractions or a sequence.*Usual: 20"),
    ],
)
def test_a_grid_that_is_no_numbers_is_refused(ragged, on, options, names):
    with refused("on", on, names=names, kind=xcurves.WrongType):
        ragged.curves.align(on, **options)


@pytest.mark.plain(2)
@pytest.mark.parametrize(
    ("on", "method", "n_computed"),
    [
        ([50.0, 250.0], "linear", 0),
        ("intersection", None, 1),
        ("union", "previous", 1),
        ([100.0, 300.0], None, 1),
        ("final", None, 1),
    ],
)
def test_dask_backed_curves_stay_lazy_on_every_grid(ragged, on, method, n_computed):
    calls = []
    options = {"method": method}
    if on in ("intersection", "final"):
        options["runs_short"] = "cut"

    def counting(graph, keys, **options):
        calls.append(keys)
        return dask.get(graph, keys, **options)

    with dask.config.set(scheduler=counting):
        lazy = ragged.chunk(task=1, training=2).curves.align(on, **options)
    assert len(calls) == n_computed
    assert lazy.chunks is not None
    eager = ragged.curves.align(on, **options)
    xr.testing.assert_equal(lazy.compute(), eager)
    assert lazy.training.attrs == ragged.training.attrs


def test_units_and_names_survive(ragged):
    ragged = ragged.assign_attrs(units="points")
    ragged.training.attrs = {"units": "steps", "long_name": "env steps"}
    for on, method in [
        ("final", None),
        ("union", "linear"),
        ([100, 110], "linear"),
        ([100, 200], None),
    ]:
        short = {"runs_short": "cut"} if on == "final" else {}
        aligned = ragged.curves.align(on, method=method, **short)
        assert aligned.training.attrs == {"units": "steps", "long_name": "env steps"}
        assert aligned.attrs["units"] == "points"


def budgets_of_their_own():
    rng = np.random.default_rng(8)
    values = rng.normal(size=(2, 2, 2, 7))
    values[0, :, :, 5:] = np.nan  # the first task ends at 40
    values[1, 1, 0, 6] = np.nan  # a run of the second stops at 50
    values[1, 0, 1, 0] = np.nan  # and one begins late
    levels = 10.0 * np.arange(7)
    coords = {
        "task": ["short", "long"],
        "algorithm": ["a", "b"],
        "run": [0, 1],
        "training": levels,
    }
    return xr.DataArray(values, coords, ("task", "algorithm", "run", "training"))


@pytest.mark.parametrize("chunked", [False, True])
def test_relative_to_the_budget_every_task_has_fractions_of_its_own(chunked):
    curves = budgets_of_their_own()
    aligned = (curves.chunk(task=1) if chunked else curves).curves.align(10, relative_to="budget", runs_short="cut")
    np.testing.assert_allclose(aligned.training, np.arange(1, 11) / 10)
    assert aligned.training.attrs["units"] == "1"
    for task, budget in (("short", 40), ("long", 50)):
        for algorithm, run in ((0, 0), (1, 1), (0, 1)):
            own = curves.sel(task=task)[algorithm, run]
            expected = np.interp(budget * aligned.training, own.training, own.fillna(0))
            expected[(budget * aligned.training < 10) & (task == "long")] = np.nan
            np.testing.assert_allclose(aligned.sel(task=task)[algorithm, run], expected)
    if not chunked:
        assert "task 'long': without 0.1" in aligned.attrs["history"]


def test_of_many_tasks_that_lack_fractions_the_rest_is_counted():
    long = budgets_of_their_own().sel(task="long", drop=True)
    many = xr.concat([long] * 23, "task").assign_coords(task=[f"t{i}" for i in range(23)])
    said = many.curves.align(10, relative_to="budget", runs_short="cut").attrs["history"]
    assert "task 't19': without 0.1; and 3 more tasks lack some" in said


def test_a_single_level_that_all_have_is_no_mistake():
    assert make_curves(np.ones((2, 2, 1))).curves.align("intersection").sizes["training"] == 1
    cut = apart({0, 10}, {0, 15}).curves.align("final", runs_short="cut")
    assert cut.training.values.tolist() == [0]


def test_a_grid_without_a_method_takes_scores_where_there_are_some(ragged):
    aligned = ragged.curves.align([0, 150, 300])
    assert aligned.sel(training=150).isnull().all()
    xr.testing.assert_equal(aligned.sel(training=[0.0, 300.0]), ragged.sel(training=[0.0, 300.0]))
    # left without a score
    with pytest.warns(UserWarning, match=r"^algorithm 'a1', run 0:.*run \(in 2 runs\)$"):
        apart({0, 10, 20}, {5, 15}).curves.align([0, 10])


def test_a_tolerance_bounds_how_far_a_score_may_be(ragged):
    near = ragged.curves.align([90, 160, 510], method="nearest", tolerance=20).sel(task="Ant", algorithm="b", run=0)
    expected = ragged.sel(task="Ant", algorithm="b", run=0, training=[100, 500]).values
    np.testing.assert_array_equal(near, [expected[0], np.nan, expected[1]])


def test_incomplete_runs_become_absent_and_are_recorded(ragged):
    whole = ragged.sel(task="Ant").curves.drop_incomplete()
    assert whole.sel(algorithm="a", run=1).isnull().all()
    assert whole.notnull().sum() == 5 * 6
    assert whole.attrs["history"] == "drop_incomplete(): algorithm 'a', run 1 (lacks 2 of 6 training levels)"
