import dask
import numpy as np
import pytest
import xarray as xr

import xcurves
from strategies import make_curves


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
    aligned = ragged.curves.align("intersection")
    kept = aligned.notnull().any(["algorithm", "run"])
    assert aligned.training[kept.sel(task="Ant")].values.tolist() == [0, 100, 200, 300]
    assert aligned.training[kept.sel(task="Hopper")].values.tolist() == [100, 200, 300, 400, 500]
    here = aligned.sel(task="Ant", training=200)
    xr.testing.assert_equal(here, ragged.sel(task="Ant", training=200))


def test_an_absent_run_stays_absent_and_has_no_say(ragged):
    hopper = ragged.sel(task="Hopper").curves.align("intersection")
    assert hopper.sel(algorithm="b", run=2).isnull().all()
    assert hopper.sizes["training"] == 5


def test_what_was_dropped_is_recorded_once_per_task(ragged):
    assert ragged.curves.align("intersection").attrs["history"] == (
        "align(on='intersection'): task 'Ant': kept 4 of 6 training levels, dropped 2: 400, 500; "
        "task 'Hopper': kept 5 of 6 training levels, dropped 1: 0"
    )


def test_a_long_list_is_shortened_in_the_middle():
    curves = make_curves(np.ones((2, 2, 100)))
    curves[0, 0, 50:] = np.nan
    history = curves.curves.align("intersection").attrs["history"]
    assert history.endswith("dropped 50: " + ", ".join(str(100 * n) for n in range(50, 69)) + ", ..., 9900")


def test_nothing_to_drop_is_said(ragged):
    whole = ragged.fillna(0.0).curves.align("intersection")
    assert whole.attrs["history"] == "align(on='intersection'): dropped nothing"
    np.testing.assert_array_equal(whole, ragged.fillna(0.0))


def test_history_grows_and_reaches_the_result(ragged):
    ready = ragged.curves.align("intersection").curves.drop_incomplete()
    steps = xcurves.randomized_anova(ready, confidence_level=0.5).attrs["history"].split("\n")
    assert [step.split("(")[0] for step in steps] == ["align", "drop_incomplete", "randomized_anova"]


def apart(*grids):
    levels = sorted(set().union(*grids))
    curves = make_curves(np.ones((len(grids), 2, len(levels))), training=levels)
    for i, grid in enumerate(grids):
        curves[i] = curves[i].where(curves.training.isin(list(grid)))
    return curves


def test_grids_that_do_not_meet_are_named():
    curves = apart({0, 10, 20, 30}, {0, 10, 20, 30}, {0, 11, 22, 33})
    with pytest.raises(ValueError, match="do not meet") as caught:
        curves.curves.align("intersection")
    assert str(caught.value) == (
        "on='intersection' leaves 1 common training level (0): the grids of 'a0' and 'a2'; 'a1' and 'a2' do not meet. "
        "Compare algorithms that were scored at the same levels"
    )


def test_grids_that_meet_in_pairs_only_are_named_together():
    curves = apart({0, 1, 2, 3}, {2, 3, 4, 5}, {0, 1, 4, 5})
    with pytest.raises(ValueError, match=r"leaves 0 .* the grids of 'a0', 'a1', 'a2' do not meet together"):
        curves.curves.align("intersection")


def test_an_algorithm_whose_own_runs_do_not_meet_is_named():
    curves = apart({0, 1, 2, 3}, {0, 1, 2, 3})
    curves[1, 0, :2] = np.nan
    curves[1, 1, 2:] = np.nan
    with pytest.raises(ValueError, match="the runs of 'a1' do not meet"):
        curves.curves.align("intersection")


def test_the_task_whose_grids_do_not_meet_is_named():
    tasks = xr.concat([apart({0, 1, 2}, {0, 1, 2}), apart({0, 1}, {1, 2})], "task").assign_coords(task=["x", "y"])
    with pytest.raises(ValueError, match=r"^task 'y': on='intersection' leaves 1 common training level \(1\)"):
        tasks.curves.align("intersection")


def test_a_single_level_that_all_have_is_no_mistake():
    curves = make_curves(np.ones((2, 2, 1)))
    assert curves.curves.align("intersection").sizes["training"] == 1


def test_other_grids_are_refused(ragged):
    with pytest.raises(ValueError, match="on must be 'intersection'; got 'union'"):
        ragged.curves.align("union")


def test_incomplete_runs_become_absent_and_are_recorded(ragged):
    whole = ragged.sel(task="Ant").curves.drop_incomplete()
    assert whole.sel(algorithm="a", run=1).isnull().all()
    assert whole.notnull().sum() == 5 * 6
    assert whole.attrs["history"] == "drop_incomplete(): algorithm 'a', run 1 (lacks 2 of 6 training levels)"


def test_a_task_without_a_complete_run_is_an_error(ragged):
    hopper = ragged.sel(task=["Hopper"])
    hopper.loc[{"algorithm": "a", "training": 500}] = np.nan
    with pytest.raises(ValueError, match="every run") as caught:
        hopper.curves.drop_incomplete()
    assert str(caught.value) == (
        "task 'Hopper': every run is incomplete. Bring runs to common levels: .curves.align('intersection')"
    )


def test_every_task_whose_grids_do_not_meet_is_listed():
    tasks = xr.concat([apart({0, 1}, {1, 2})] * 3, "task").assign_coords(task=["x", "y", "z"])
    with pytest.raises(ValueError, match=r"The same holds for task 'y'; task 'z'$"):
        tasks.curves.align("intersection")


def test_an_algorithm_that_loses_all_its_runs_is_warned_of(ragged):
    ant = ragged.sel(task=["Ant"])
    ant.loc[{"algorithm": "b", "training": 0}] = np.nan
    with pytest.warns(UserWarning, match=r"^drop_incomplete\(\) leaves no run of task 'Ant': algorithm 'b'$"):
        ant.curves.drop_incomplete()


def test_dask_backed_curves_stay_lazy(ragged):
    calls = []

    def counting(graph, keys, **options):
        calls.append(keys)
        return dask.get(graph, keys, **options)

    lazy = ragged.chunk(task=1)
    with dask.config.set(scheduler=counting):
        dropped = lazy.curves.drop_incomplete()
        assert not calls
        aligned = lazy.curves.align("intersection")
    assert len(calls) == 1  # the grid
    assert dropped.chunks is not None
    assert aligned.chunks is not None
    xr.testing.assert_identical(aligned.compute(), ragged.curves.align("intersection"))
    with pytest.warns(UserWarning, match="leaves no run of task 'Hopper': algorithm 'b'"):
        whole = ragged.curves.drop_incomplete()
    xr.testing.assert_equal(dropped.compute(), whole)
