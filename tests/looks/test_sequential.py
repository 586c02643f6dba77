import json
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import xcurves
from layers import slow
from lazy import refuse_to_compute
from places import SHARED
from refusals import ANY, refused
from strategies import make_curves
from xcurves.core.refusal import call
from xcurves.kernels.resampling.adjustments import holm
from xcurves.looks.ledger import digests_of
from xcurves.looks.ledger import of_looks as ledger_of
from xcurves.say.numbers import estimated, pvalue

REFERENCE = SHARED / "reference" / "dev_sequential.json"


@pytest.fixture(scope="module")
def curves():
    """Three algorithms, the first far above the others, in three batches of five."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3, 15, 4)) + np.array([1.1, -0.3, 0])[:, np.newaxis, np.newaxis]
    return make_curves(values).assign_coords(algorithm=["sac", "td3", "ddpg"]).curves.assign_looks(5)


@pytest.fixture(scope="module")
def found(curves):
    return curves.curves.sequential(n_looks=6, n_resamples=999)


@pytest.mark.slow
def test_result_has_the_declared_variables(found):
    by_look = {"pair": 3, "look": 6}
    for name in (
        "pvalue",
        "pvalue_adjusted",
        "rejected",
        "statistic",
        "critical_value",
        "pvalue_stagewise",
        "futile",
    ):
        assert dict(found[name].sizes) == by_look
    assert found.difference_ci.dims == ("pair", "look", "ci_bound")
    assert found.n_runs.sel(algorithm="td3").values[:3].tolist() == [5, 10, 15]
    assert found.undecided.values.tolist() == [0, 0, 1]
    assert found.n_runs_next.to_series().to_dict() == {"sac": 0, "td3": 5, "ddpg": 5}
    assert found.pvalue.isel(look=slice(3, None)).isnull().all()
    assert (found.rejected.isel(look=slice(3, None)) == 0).all()
    assert (found.attrs["n_looks"], found.attrs["spending"], found.attrs["rng"]) == (
        6,
        "square",
        "0",
    )


@pytest.mark.slow
def test_adjusted_pvalues_never_rise_and_are_holms(found):
    done = found.isel(look=slice(3))
    assert (done.pvalue.diff("look") <= 0).all()
    assert (done.pvalue_adjusted.diff("look") <= 0).all()
    np.testing.assert_allclose(done.pvalue_adjusted.T, holm(done.pvalue.T.to_numpy()))


@pytest.mark.slow
@pytest.mark.parametrize("task", [slow(None), "task"])
def test_earlier_looks_repeat_digit_for_digit(task):
    rng = np.random.default_rng(3)
    tasks = make_curves(rng.normal(size=(5, 3, 12, 4)), task=list("abcde"))
    tasks[:, 2, 8:] = np.nan  # dropped after two looks of four runs
    tasks = tasks.curves.assign_looks(4)
    whole = tasks.curves.sequential(n_looks=4, task=task, n_resamples=499)
    for n_runs in (4, 8):
        part = tasks.isel(run=slice(n_runs)).curves.sequential(n_looks=4, task=task, n_resamples=499)
        for name, variable in part.data_vars.items():
            if "look" in variable.dims:
                looks = slice(n_runs // 4)
                xr.testing.assert_identical(variable.isel(look=looks), whole[name].isel(look=looks))


@pytest.mark.slow
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 4), min_size=2, max_size=4),
    st.sampled_from([19, 99, 499]),
)
@settings(max_examples=25)
def test_any_earlier_look_repeats_digit_for_digit(seed, sizes, n_resamples):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(2, sum(sizes), 2)) + rng.normal(size=(2, 1, 1))
    batches = np.repeat(np.arange(len(sizes)) + 1, sizes)
    curves = make_curves(values).assign_coords(look=("run", batches))
    options = {"n_looks": len(sizes), "n_resamples": n_resamples, "rng": seed}
    whole = curves.curves.sequential(**options)
    for k in range(1, len(sizes)):
        part = curves.isel(run=batches <= k).curves.sequential(**options)
        for name in (name for name, variable in part.data_vars.items() if "look" in variable.dims):
            xr.testing.assert_identical(part[name].isel(look=slice(k)), whole[name].isel(look=slice(k)))


@pytest.mark.slow
def test_order_of_runs_and_algorithms_changes_nothing(curves, found):
    mixed = curves.isel(run=np.random.default_rng(0).permutation(15), algorithm=[2, 0, 1])
    again = mixed.curves.sequential(n_looks=6, n_resamples=999)
    for name in ("pvalue", "statistic"):
        np.testing.assert_array_equal(again[name].sel(pair="ddpg - td3"), found[name].sel(pair="td3 - ddpg"))
        np.testing.assert_array_equal(again[name].sel(pair="sac - td3"), found[name].sel(pair="sac - td3"))
    for name in ("difference_ci", "difference_ci_simultaneous"):
        ends = found[name].sel(pair="td3 - ddpg").values[:3]
        np.testing.assert_array_equal(again[name].sel(pair="ddpg - td3").values[:3], -ends[:, ::-1])


@pytest.mark.slow
def test_intervals_for_all_pairs_together_are_those_at_the_level_over_their_number(curves, found):
    wider = curves.curves.sequential(n_looks=6, n_resamples=999, confidence_level=1 - 0.05 / 3)
    together = found["difference_ci_simultaneous"].isel(look=slice(3))
    np.testing.assert_allclose(together, wider["difference_ci"].isel(look=slice(3)), rtol=1e-6)
    two = curves.isel(algorithm=[0, 1]).curves.sequential(n_looks=6, n_resamples=999)
    np.testing.assert_array_equal(two["difference_ci"], two["difference_ci_simultaneous"])


@pytest.mark.slow
def test_pairs_with_a_reference(curves):
    found = curves.curves.sequential(n_looks=3, reference="td3", n_resamples=999)
    assert found.pair.values.tolist() == ["sac - td3", "ddpg - td3"]


@pytest.mark.slow
def test_a_decided_algorithm_needs_no_further_runs(curves, found):
    dropped = curves.where(~((curves.algorithm == "sac") & (curves.look == 3)))
    again = dropped.curves.sequential(n_looks=6, n_resamples=999)
    assert again.n_runs.sel(algorithm="sac").values[:3].tolist() == [5, 10, 10]
    kept = again.pvalue.sel(pair="sac - td3").values
    assert kept[2] == kept[1] == found.pvalue.sel(pair="sac - td3").values[1]
    xr.testing.assert_identical(again.pvalue.sel(pair="td3 - ddpg"), found.pvalue.sel(pair="td3 - ddpg"))


@pytest.mark.slow
def test_lazy_tasks_equal_those_in_memory_and_compute_nothing_early():
    dask = pytest.importorskip("dask")
    tasks = make_curves(np.random.default_rng(0).normal(size=(3, 2, 6, 4)), task=list("abc")).curves.assign_looks(3)
    for options in ({}, {"task": "task"}):
        expected = tasks.curves.sequential(n_looks=2, **options)
        with dask.config.set(scheduler=refuse_to_compute):
            lazy = (
                tasks.chunk(task=1, training=2).assign_coords(look=tasks.look).curves.sequential(n_looks=2, **options)
            )
        xr.testing.assert_identical(lazy.compute(scheduler="sync"), expected)


def test_weights_of_training(curves):
    last = curves.curves.sequential(n_looks=3, training_weights="final", n_resamples=199)
    alone = curves.isel(training=[-1]).curves.sequential(n_looks=3, n_resamples=199)
    np.testing.assert_array_equal(last.pvalue, alone.pvalue)
    given = curves.curves.sequential(n_looks=3, training_weights=[0, 0, 2, 2], n_resamples=199)
    late = curves.isel(training=[2, 3]).curves.sequential(n_looks=3, n_resamples=199)
    np.testing.assert_allclose(given.difference, late.difference)
    tiny = curves.curves.sequential(n_looks=3, training_weights=[0, 0, 1e-310, 1e-310], n_resamples=199)
    np.testing.assert_allclose(tiny.difference, late.difference)


BEFORE = "A plan is made before the first look"


@pytest.mark.parametrize(
    ("options", "expected", "said"),
    [
        (
            {"look": "lot", "n_looks": 3},
            ("look", ANY, call("da.curves.assign_looks", 5)),
            "curves has no 'lot' on dim 'run'",
        ),
        ({"n_looks": 2}, ("look", "3", BEFORE), "must lie between 1 and n_looks=2"),
        ({"n_looks": 3, "spending": "cubic"}, ("spending", "cubic"), "must be 'square' or 'linear'"),
        (
            {"n_looks": 3, "task": "env"},
            ("task", "env", "curves.expand_dims(task=['name'])"),
            "^task='env' is no dim of curves, which have",
        ),
        (
            {"n_looks": 3, "training_weights": "last"},
            ("training_weights", "last"),
            "must be None, 'final' or weights",
        ),
        (
            {"n_looks": None},
            ("n_looks", ANY, call("da.curves.assign_looks", 5, n_looks=6)),
            "n_looks is not given, and the curves store no plan",
        ),
        ({"n_looks": 3, "reference": "ppo"}, ("reference", "ppo", "They have 'sac"), "an algorithm of the curves"),
        ({"n_looks": 3, "n_resamples": None}, ("n_resamples", None, "Usual: 9999"), "must be a whole number"),
    ],
)
def test_bad_options_are_refused(curves, options, expected, said):
    with refused(*expected, names=said):
        curves.curves.sequential(**options)


def test_incomplete_and_infinite_runs_are_refused(curves):
    for value, cure, said in (
        (np.nan, call(".curves.align", "intersection"), "lacks 1 of 4 training levels"),
        (np.inf, call(".curves.fill_failed", "worst", higher_is_better=False), "has infinite values"),
    ):
        broken = curves.copy()
        broken[0, 3, 2] = value
        with refused("curves", ("'sac'", "3"), cure, names=rf"algorithm 'sac', run 3 {said}"):
            broken.curves.sequential(n_looks=3)
    with refused(
        "look",
        cure="Give those of earlier looks too",
        names=r"look 2 has no run, but look 3 has\. Give those of earlier looks too",
    ):
        curves.where(curves.look != 2, drop=True).curves.sequential(n_looks=6)


def test_looks_by_number_and_by_a_column_of_the_log(curves):
    bare = curves.drop_vars("look")
    log = pd.DataFrame({"seed": np.repeat(range(15), 2), "batch": np.repeat([1, 2, 4], 10)})
    by_column = bare.curves.assign_looks(log.set_index("seed")["batch"])
    assert by_column.look.values.tolist() == [1] * 5 + [2] * 5 + [4] * 5
    days = log.assign(batch=pd.to_datetime("2026-01-01") + pd.to_timedelta(log.batch, "D")).set_index("seed")["batch"]
    assert bare.curves.assign_looks(days).look.values.tolist() == [1] * 5 + [2] * 5 + [3] * 5
    for by, expected, said in (
        (4, ("curves", ANY, "Run 1 more, or leave them out"), "algorithm 'sac' has 15 runs, the last batch 3 of 4"),
        (10**30, ("by", 10**30, "Usual: assign_looks(5)"), "must be at most 1,000,000,000,000"),
        ({0: 1}, ("by", 1, "Add it"), "^by has no batch of run 1 .14 in all."),
        (
            log.assign(batch=range(30)).set_index("seed")["batch"],
            ("by", 0, "Give runs of different batches different labels"),
            "^by has batches 0 and 1 of run 0",
        ),
        (
            log.assign(batch=log.batch - 1).set_index("seed")["batch"],
            ("by", 0, "Add 1 to all"),
            "^by has batch 0; batches are numbered from 1",
        ),
    ):
        with refused(*expected, names=said):
            bare.curves.assign_looks(by)
    with refused("by", "batch", cure="Usual: assign_looks(5); or give the batch of every run", kind=xcurves.WrongType):
        bare.curves.assign_looks("batch")
    uneven = bare.where(~((bare.algorithm == "sac") & (bare.run < 5)))
    with refused(
        "curves",
        cure="Give the batch of every run: assign_looks({run: batch, ...})",
        names=r"run 5 would be.*look 2 of another",
    ):
        uneven.curves.assign_looks(5)


@pytest.mark.parametrize("kind", [int, float, str, object, "Int64", "category"])
def test_numbers_of_batches_may_have_any_type(curves, kind):
    batches = pd.Series(np.repeat([2, 9, 10], 5)).astype(kind)
    assert curves.curves.assign_looks(batches).look.values.tolist() == [2] * 5 + [9] * 5 + [10] * 5


def test_categories_of_batches_have_their_order(curves):
    stages = pd.Categorical(np.repeat(["pilot", "main", "late"], 5), ["pilot", "main", "late"], ordered=True)
    assert curves.curves.assign_looks(pd.Series(stages)).look.values.tolist() == [1] * 5 + [2] * 5 + [3] * 5


def test_batches_and_runs_need_an_order_that_stays(curves):
    bare = curves.drop_vars("look")
    stages = np.repeat(["pilot", "main", "late"], 5)
    for batches in (stages, pd.Categorical(stages)):
        with refused("by", "pilot", cure="Say their order: pd.Categorical(batch, ['pilot', 'main']"):
            bare.curves.assign_looks(pd.Series(batches))
    named = bare.assign_coords(run=[f"seed{run}" for run in range(15)])
    with refused(
        "curves",
        cure="Give the batch of every run: assign_looks({run: batch, ...})",
        names=r"run labels must be numbers.*got 'seed0'.*Give the batch of every run",
    ):
        named.curves.assign_looks(5)
    backwards = bare.isel(run=slice(None, None, -1))
    assert backwards.curves.assign_looks(5).look.values.tolist() == [3] * 5 + [2] * 5 + [1] * 5
    crashed = bare.where((bare.run != 3) | (bare.algorithm != "td3"))
    with refused(
        "curves",
        cure="Or: Give the batch of every run: assign_looks({run: batch",
        names=r"run 3 of algorithm 'td3' has no score, and later runs have: did it crash",
    ):
        crashed.curves.assign_looks(5)


@pytest.mark.slow
def test_the_plan_is_stored_and_another_one_is_refused(curves):
    bare = curves.drop_vars("look")
    planned = bare.curves.assign_looks(5, n_looks=6, spending="linear")
    assert planned.look.attrs == {
        "long_name": "number of the look", "batch_size": 5, "n_looks": 6, "spending": "linear",
    }  # fmt: skip
    found = planned.curves.sequential(n_resamples=99)
    assert (found.attrs["n_looks"], found.attrs["spending"]) == (6, "linear")
    for name, value in (("n_looks", 4), ("spending", "square")):
        options = {name: value}
        with refused(name, value, BEFORE, names="which the curves store as planned"):
            planned.curves.sequential(n_resamples=99, **options)
        with refused(name, value, BEFORE, names="which the curves store as planned"):
            planned.curves.assign_looks(5, **({"n_looks": 6} | options))
    with refused("batch_size", 3, cure=BEFORE):
        planned.curves.assign_looks(3)


@pytest.fixture(scope="module")
def earlier(curves):
    return curves.isel(run=slice(10)).curves.sequential(n_looks=6, n_resamples=99)


@pytest.fixture(params=[False, True])
def previous(request, earlier, tmp_path):
    """An earlier result, or the file of the shell that keeps its past."""
    if not request.param:
        return earlier
    path = tmp_path / "look.json"
    path.write_text(json.dumps({"ledger": ledger_of(earlier).as_json()}))
    return path


@pytest.mark.plain(1)
def test_an_earlier_look_changes_no_number(curves, previous):
    again = curves.curves.sequential(n_looks=6, n_resamples=99, previous=previous)
    xr.testing.assert_identical(again, curves.curves.sequential(n_looks=6, n_resamples=99))
    with refused("n_looks", 7, cure=BEFORE):
        curves.curves.sequential(n_looks=7, n_resamples=99, previous=previous)


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("change", "run", "said"),
    [
        (
            lambda curves: curves.where((curves.run != 7) | (curves.algorithm != "td3"), curves + 1e-9),
            ("td3", "7"),
            "run 7 of algorithm 'td3' differs from what it was at the earlier look 2",
        ),
        (
            lambda curves: curves.assign_coords(look=curves.look.where(curves.run != 2, 2)),
            ("sac", "2"),
            "run 2 of algorithm .* differs from what it was at the earlier look 2",
        ),
        (
            lambda curves: curves.where((curves.run != 4) | (curves.algorithm != "sac")),
            ("sac", "4"),
            "run 4 of .* is gone",
        ),
        (
            lambda curves: curves.drop_sel(run=9),
            ("sac", "9"),
            "run 9 of algorithm .* is gone, and was there at the earlier look 2",
        ),
        (
            lambda curves: curves.drop_sel(algorithm="ddpg"),
            ("ddpg", "0"),
            "run 0 of algorithm 'ddpg' is gone",
        ),
    ],
)
def test_a_call_with_another_past_is_refused_by_name(curves, previous, change, run, said):
    with refused("scores", run, "Give the runs, looks and scores that it had", names=said):
        change(curves).curves.sequential(n_looks=6, n_resamples=99, previous=previous)


@pytest.mark.slow
def test_a_run_that_an_earlier_look_did_not_have_is_refused(curves):
    earlier = curves.isel(run=[0, 1, 2, 3]).curves.sequential(n_looks=6, n_resamples=99)
    with refused("scores", ("sac", "4"), cure="Give the runs, looks and scores that it had"):
        curves.curves.sequential(n_looks=6, n_resamples=99, previous=earlier)


@pytest.mark.plain(1)
@pytest.mark.parametrize("previous", ["gone.json", "wrong.json", 3])
def test_what_is_no_earlier_look_is_refused(curves, here, previous):
    (here / "wrong.json").write_text("{}")
    with refused("previous", names=r"^previous .*(Name the file|Give the earlier result)"):
        curves.curves.sequential(n_looks=6, previous=previous)


@pytest.mark.slow
def test_unusual_batches_have_a_sentence_each(curves):
    sac, td3, ddpg = (curves.algorithm == name for name in ("sac", "td3", "ddpg"))
    unusual = curves.where(~(sac & (curves.look == 1)) & ~(td3 & (curves.look == 2)) & ~(ddpg & (curves.run == 14)))
    said = unusual.curves.sequential(n_looks=6, n_resamples=99).curves.summary()
    assert "sac has runs from look 2 on only: what is added because of results is not controlled for." in said
    assert "td3 has no runs at look 2 and has some later: there its pairs stay as they were." in said
    assert "At look 3 the numbers of runs differ (sac 5, td3 5, ddpg 4): with unlike spread" in said
    usual = curves.curves.sequential(n_looks=6, n_resamples=99).curves.summary()
    assert not [each for each in ("on only", "has no runs", "numbers of runs differ") if each in usual]


def test_digests_do_not_depend_on_what_is_added(curves):
    tasks = curves.expand_dims(task=["a", "b"]) + xr.DataArray([0.0, 1.0], dims="task")
    both = tasks.assign_coords(look=curves.look)
    more = both.reindex(task=["a", "b", "c"], training=[*both.training.values, 99.0])
    for one in (both.isel(run=slice(10)), both.isel(algorithm=[2, 0]), more):
        found = digests_of(one, one.look.astype(int))
        whole = digests_of(both, both.look).sel(algorithm=found.algorithm, run=found.run)
        np.testing.assert_array_equal(found, whole)
    pytest.importorskip("dask")
    np.testing.assert_array_equal(digests_of(both.chunk(task=1, run=4), both.look), digests_of(both, both.look))
    assert len(np.unique(digests_of(both, both.look))) == 45


def test_sentences_say_what_is_shown_and_what_to_run_next(found):
    said = found.curves.summary().split("\n")
    latest = found.isel(look=2)
    nearest = latest.sel(pair="sac - ddpg")
    by = estimated(nearest.difference.item(), *nearest.difference_ci_simultaneous.values)
    still = "td3 v ddpg is still open: run 5 more of each of td3 and ddpg (at most 15 of each in the 3 looks left)"
    chance = round(100 * latest.chance.sel(pair="td3 - ddpg").item())
    assert said[0] == (
        "sac has the highest mean score after look 3 of 6 (15 runs each). It is shown to be higher than all others, by "
        f"{by} than ddpg, the nearest."
    )
    assert said[1] == f"{still}, or stop without a claim about it."
    assert said[2].startswith(f"The 3 looks left show td3 v ddpg in about {chance} of 100 cases (the differences ")
    assert said[3].startswith("At look 1 no pair could be shown to differ, whatever its scores")
    assert said[4] == "Intervals and p hold for the 3 pairs together."
    assert "too large on average" in said[-4]
    assert "at all looks together" in said[-2]
    assert "normal runs" in said[-1]
    assert still in found.sel(pair="td3 - ddpg").curves.summary()


def test_without_intervals_the_rest_is_the_same(curves, found):
    bare = curves.curves.sequential(n_looks=6, n_resamples=999, repeated_intervals=False)
    extra = [
        "difference_ci",
        "difference_ci_simultaneous",
        "chance",
        "chance_at_ci",
        "futile",
        "ci_bound",
    ]
    xr.testing.assert_identical(bare, found.drop_vars(extra))
    p = bare.pvalue_adjusted.sel(pair="sac - td3").values[2]
    said = bare.curves.summary()
    assert said.startswith("sac has the highest mean score after look 3 of 6 (15 runs each). It is shown to be higher ")
    nearest = bare.pvalue_adjusted.sel(pair="sac - ddpg").values[2]
    assert re.search(rf"than all others, by [\d.]+ \({pvalue(nearest)}\) than ddpg, the nearest\.", said)
    beside = curves.curves.sequential(n_looks=6, n_resamples=999, repeated_intervals=False, reference="sac")
    p_beside = beside.pvalue_adjusted.isel(look=2)
    for name in ("ddpg", "td3"):
        of_pair = pvalue(p_beside.sel(pair=f"{name} - sac").item())
        assert re.search(rf"{name} \(\N{{MINUS SIGN}}[\d.]+; {of_pair}\)", beside.curves.summary().split("\n")[0])
    two = bare.sel(pair=["sac - td3"], algorithm=["sac", "td3"]).curves.summary()
    assert re.search(rf"It is shown to be higher than td3, by [\d.]+ \({pvalue(p)}\)", two)
    assert "lower" not in bare.curves.table()


@pytest.mark.slow
def test_the_better_one_stands_first(curves):
    lower = curves.curves.sequential(n_looks=6, higher_is_better=False, n_resamples=999)
    p, low, high = (
        lower.pvalue_adjusted[0, 2].item(),
        *lower.difference_ci_simultaneous[0, 2].values,
    )
    said = estimated(lower.difference[0, 2].item(), low, high)
    by = f"by {said[:-1]}; {pvalue(p)})"
    pair = lower.isel(pair=[0]).sel(algorithm=["sac", "td3"])
    assert f"td3 has the lower mean score after look 3 of 6 (15 runs each). It is shown to be lower than sac, {by}" in (
        pair.curves.summary()
    )
    turned = curves.isel(algorithm=[2, 1, 0]).curves.sequential(n_looks=6, n_resamples=999)
    pair = turned.sel(pair=["td3 - sac"], algorithm=["td3", "sac"])
    assert f"It is shown to be higher than td3, {by}" in pair.curves.summary()


@pytest.mark.slow
def test_the_last_look_ends_what_is_not_shown(curves):
    same = curves - curves.mean(["run", "training"])
    found = same.curves.sequential(n_looks=3, n_resamples=999)
    assert (found.undecided == 0).all()
    answer, following = found.curves.summary().split("\n")[:2]
    assert answer.endswith(" Any of the 3 may be the best: no difference is shown.")
    assert "still open" not in following


def test_table_and_frame(found):
    table = found.curves.table()
    assert table.loc["sac over td3", "decided at"] == 2
    # by size, the higher one first
    assert table.index.tolist() == ["sac over td3", "sac over ddpg", "ddpg over td3"]
    assert np.isnan(table.loc["ddpg over td3", "decided at"])
    assert table["look"].tolist() == [3, 3, 3]
    last = found.sel(pair="td3 - ddpg", look=3)
    assert table.loc["ddpg over td3", "difference"] == -last.difference
    ends = (-last.difference_ci_simultaneous[::-1]).values.tolist()
    assert table.loc["ddpg over td3", ["lower", "upper"]].tolist() == ends
    assert table.loc["ddpg over td3", "chance"] == last.chance
    assert table.attrs["interval"] == "95 %, all pairs together"
    assert table.loc["ddpg over td3", "T"] == last.statistic
    assert len(found.curves.to_frame()) == 18


@pytest.mark.slow
def test_picture_has_a_panel_for_each_pair(found):
    pytest.importorskip("matplotlib.pyplot")
    panels = found.curves.plot()
    assert [panel.get_title() for panel in panels] == found.pair.to_numpy().tolist()
    said = [panel.get_xlabel() for panel in panels]
    assert said[0].startswith("look (shown at 2: ")
    assert said[1].startswith("look (shown at 2: ")
    assert said[2] == "look (open after 3 of 6)"
    better = found.isel(pair=0).sel(look=2)
    higher = "algorithm_a" if better["difference"] > 0 else "algorithm_b"
    assert said[0].endswith(f"{better[higher].item()} is higher)")
    stars = [line for line in panels[0].lines if line.get_marker() == "*"]
    assert stars[0].get_xdata().tolist() == [2]


@pytest.mark.slow
def test_an_analysis_of_curves_with_planned_looks_has_it_with_its_picture(curves, tmp_path):
    pytest.importorskip("matplotlib")
    parts = ["pairwise", "sequential"]
    bare = curves.drop_vars("look")
    tree = bare.curves.assign_looks(5, n_looks=6).curves.analyze(include=parts, n_resamples=99, rng=0)
    made = tree["sequential"].to_dataset()
    again = curves.curves.sequential(n_looks=6, rng=int(made.attrs["rng"]))
    np.testing.assert_array_equal(made.pvalue, again.pvalue)
    tree.curves.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The statistic of every pair at each look" in page
    assert "td3 v ddpg is still open" in page
    assert "sequential" not in bare.curves.analyze(include=["pairwise"], n_resamples=99, rng=0)
    with refused("curves", names=r"does not say how many looks are planned: assign_looks\(\.\.\., n_looks=6\)"):
        curves.curves.analyze(include=["sequential"])


@pytest.mark.slow
@pytest.mark.skipif(not REFERENCE.exists(), reason="no reference data beside the repository")
def test_published_curves_equal_the_reference():
    frame = pd.read_csv(SHARED / "data" / "tianshou_mujoco.csv.gz")
    case = json.loads(REFERENCE.read_text())["cases"][1]
    frame = frame[frame.task == case["task"]]
    curves = frame.curves.to_dataarray("return", run="seed", training="env_step")
    curves = curves.sel(algorithm=[case["a"], case["b"]], training=case["levels"])
    found = curves.curves.assign_looks(2).curves.sequential(n_looks=5, n_resamples=10_000)
    np.testing.assert_allclose(found.pvalue[0], [look["q"] for look in case["looks"]], rtol=1e-9)
    np.testing.assert_allclose(found.difference[0], [look["estimate"] for look in case["looks"]], rtol=1e-9)


@pytest.mark.slow
def test_tasks_say_how_many_pairs_are_undecided_only_if_some_are(curves):
    tasks = xr.concat([curves, curves + 1], xr.Variable("task", ["ant", "worm"]))
    found = tasks.curves.sequential(n_looks=6, n_resamples=99)
    n_open = int(found.undecided.sum())
    assert n_open
    assert f"\nUndecided, with more runs needed: {n_open} pairs.\n" in found.curves.summary()
    assert "Undecided" not in found.assign(undecided=found.undecided * 0).curves.summary()


@pytest.mark.slow
def test_intervals_over_tasks_are_of_no_single_task(curves):
    tasks = xr.concat([curves, curves + 1], xr.Variable("task", ["ant", "worm"]))
    said = tasks.curves.sequential(n_looks=6, n_resamples=99, task="task").curves.summary()
    assert "\nIntervals and p hold for the 3 pairs together.\n" in said
