import re
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from refusals import refused
from xcurves.core.doubts import Doubtful
from xcurves.core.names import join_labels
from xcurves.core.refusal import give


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    keys = pd.MultiIndex.from_product(
        [["Hopper", "Ant"], ["td3", "sac"], [2, 10], [0, 50, 100]],
        names=["task", "agent", "seed", "step"],
    )
    return pd.DataFrame({"return": rng.normal(size=len(keys))}, index=keys).reset_index()


NAMES = {"algorithm": "agent", "run": "seed", "training": "step", "extra": "task"}


def test_every_score_finds_its_place(frame):
    curves = frame.curves.to_dataarray("return", **NAMES)
    assert curves.dims == ("task", "algorithm", "run", "training")
    assert curves.name == "return"
    for row in frame.itertuples(index=False):
        assert curves.sel(task=row.task, algorithm=row.agent, run=row.seed, training=row.step) == row[-1]


def test_columns_and_units_are_kept(frame):
    frame.attrs["units"] = {"step": "steps", "return": "1"}
    curves = frame.curves.to_dataarray("return", **NAMES)
    # a new name is that of the axis
    assert (curves.name, curves.attrs) == ("return", {"units": "1"})
    assert curves.training.attrs == {"long_name": "step", "units": "steps"}
    assert curves.algorithm.attrs == {"long_name": "agent"}
    assert curves.run.attrs == {"long_name": "seed"}
    frame.attrs["units"] = "points"  # those of the scores
    curves = frame.curves.to_dataarray("return", **NAMES)
    assert (curves.attrs["units"], curves.training.attrs) == (
        "points",
        {"long_name": "step"},
    )


def test_provenance_is_carried_on_without_what_no_archive_holds_and_history_goes_on(
    frame,
):
    frame.attrs = {
        "source": "logs",
        "history": "read",
        "tags": ["x"],
        "smoothed": False,
        "seed": 2**62,
        "n": 3,
        "n_steps": 2**31 - 1,
        "n_bytes": 2**31,
    }
    curves = frame.curves.to_dataarray("return", **NAMES, on="final")
    assert curves.attrs.pop("history").startswith("read\nto_dataarray(on='final'): ")
    assert curves.attrs == {"source": "logs", "n": 3, "n_steps": 2**31 - 1}


def test_repeated_rows_are_counted_shown_and_cured(frame):
    repeated = pd.concat([frame, frame.iloc[:5].assign(**{"return": 1.0})])
    repeated = repeated.sort_values("step", kind="stable")
    with refused("frame", cure="frame.curves.to_dataarray(value='return'", names="repeat") as caught:
        repeated.curves.to_dataarray("return", **NAMES)
    assert str(caught.value) == (
        "5 rows repeat a (task, agent, seed, step), first ('Hopper', 'td3', 2, 0); ('Hopper', 'td3', 10, 0); "
        "('Hopper', 'td3', 2, 50). If they are further runs, give each a label of its own in 'seed'. "
        "Call the one that is right:\n"
        "frame.curves.to_dataarray(value='return', algorithm='agent', run='seed', training='step', extra='task', "
        "duplicates='first')  # the first row of each\n"
        "frame.curves.to_dataarray(value='return', algorithm='agent', run='seed', training='step', extra='task', "
        "duplicates='last')  # the last row of each\n"
        "frame.curves.to_dataarray(value='return', algorithm='agent', run='seed', training='step', extra='task', "
        "duplicates='mean')  # the mean of the rows of each"
    )
    kept = [eval(str(call), {"frame": repeated}) for call in caught.value.cure.calls]
    at = {"task": "Hopper", "agent": "td3", "seed": 2, "step": 0}
    rows = repeated[(repeated[list(at)] == list(at.values())).all(axis=1)]["return"].tolist()
    scores = [each.sel(task="Hopper", algorithm="td3", run=2, training=0).item() for each in kept]
    assert scores == [rows[0], rows[-1], np.mean(rows)]


@pytest.mark.parametrize(("choice", "kept"), [("first", 1.0), ("last", 4.0), ("mean", 2.5)])
def test_of_repeated_rows_the_chosen_is_kept_and_none_without_a_score(choice, kept):
    frame = pd.DataFrame({"algorithm": "a", "run": 0, "training": [0, 1, 1], "y": [0.0, 1.0, 4.0]})
    np.testing.assert_array_equal(frame.curves.to_dataarray("y", duplicates=choice).squeeze(), [0.0, kept])
    frame["y"] = [0.0, np.nan, 4.0]
    np.testing.assert_array_equal(frame.curves.to_dataarray("y", duplicates=choice).squeeze(), [0.0, 4.0])
    assert frame.assign(y=np.nan).curves.to_dataarray("y", duplicates=choice).isnull().all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda f: f.assign(step=f.step.astype(str).replace("50", "1M")),
            TypeError,
            "training column 'step' must be numeric; got dtype {dtype}, first '1M' in row 1. "
            "Correct it, or make gaps of such rows: pd.to_numeric(frame['step'], errors='coerce')",
        ),
        (
            lambda f: f.assign(**{"return": f["return"].astype(object).where(f.index != 3, "oops")}),
            TypeError,
            "value column 'return' must be numeric; got dtype object, first 'oops' in row 3. "
            "Correct it, or make gaps of such rows: pd.to_numeric(frame['return'], errors='coerce')",
        ),
        (
            lambda f: f.assign(seed=f.seed.astype(float).where(f.index > 1)),
            ValueError,
            "run column 'seed' has 2 rows without a label (read_csv reads NA, None and null as missing), first row 0. "
            "Drop them: frame.dropna(subset=['seed']), or name them: frame.fillna({'seed': 'None'})",
        ),
        (
            lambda f: f.iloc[:0],
            ValueError,
            "frame has no rows. Check how it was read or selected",
        ),
        (
            lambda f: f.rename(columns={"return": "reward"}),
            KeyError,
            "value='return' is no column of the frame. It has 'task', 'agent', 'seed', 'step', 'reward'",
        ),
        (
            lambda f: f.assign(seed=f.seed.astype(object).where(f.index > 1, "a")),
            TypeError,
            "column 'seed' has labels of type int and str; labels are all text or all numbers of up to 64 bits. "
            "Convert: frame['seed'].astype(str)",
        ),
    ],
)
def test_bad_frames_are_refused(frame, change, error, message):
    changed = change(frame)
    with pytest.raises(error) as caught:
        changed.curves.to_dataarray("return", **NAMES)
    assert str(caught.value) == message.replace("{dtype}", str(changed.get("step", frame.step).dtype))


START = pd.Timestamp("2026-01-01")


@pytest.mark.parametrize(
    ("steps", "converted"),
    [
        (START + pd.to_timedelta([0, 1, 2, 3], "h"), [0, 1, 2, 3]),
        (pd.to_timedelta([0, 1, 2, 3], "h"), [0, 1, 2, 3]),
        (np.array([2**70, 0, 1, 2], dtype=object), [2**70, 0, 1, 2]),
        (["0", "1", "2", "3"], [0, 1, 2, 3]),
        (["0", "1", "2", "many"], [0, 1, 2, np.nan]),
        ([True, False, True, False], [1, 0, 1, 0]),
    ],
)
def test_the_cure_of_a_column_that_is_no_training_leads_to_numbers(steps, converted):
    frame = pd.DataFrame({"algorithm": "a", "run": 0, "training": steps, "y": 1.0})
    with refused("training", names=r"^training column 'training' ", kind=xcurves.WrongType) as caught:
        frame.curves.to_dataarray("y")
    cure = re.search(r": ((?:frame\[|pd\.).*)$", str(caught.value))
    np.testing.assert_array_equal(eval(cure[1], {"frame": frame, "pd": pd}), converted)


def test_a_column_of_a_usual_name_is_suggested_for_a_wrong_one_and_the_suggestion_works(
    frame,
):
    frame = frame.rename(columns={"task": "Env"})
    with refused(
        "extra", "task", cure="It has 'Env', 'agent', 'seed', 'step', 'return'. Try", kind=xcurves.Missing
    ) as caught:
        frame.curves.to_dataarray("return", extra="task")
    cure = re.search(r"Try (.*)$", str(caught.value))[1]
    assert cure == "extra='Env'"  # the others are found
    assert frame.curves.to_dataarray("return", **eval(f"dict({cure})")).dims == (
        "Env",
        "algorithm",
        "run",
        "training",
    )


def test_categories_keep_their_order_and_unused_ones_go(frame):
    frame["agent"] = pd.Categorical(frame["agent"], ["td3", "ppo", "sac"])
    assert frame.curves.to_dataarray("return", **NAMES).algorithm.values.tolist() == [
        "td3",
        "sac",
    ]


@pytest.mark.plain(3)
@pytest.mark.parametrize(
    ("on", "method"),
    [
        *[
            ("intersection", None),
            ("final", None),
            ("union", None),
            ([5, 20, 30.5], None),
        ],
        *[
            ("union", "linear"),
            ("union", "previous"),
            ([5, 20, 30.5], "linear"),
            ([5, 20, 30.5], "previous"),
        ],
    ],
)
def test_runs_of_a_frame_are_aligned_as_those_of_an_array(on, method):
    """Two roads to one place: rows run by run here, the dense array of all levels there."""
    rng = np.random.default_rng(0)
    common = {"x": [5, 12, 30], "y": [20, 40]}
    own = [
        (task, algorithm, run, step)
        for task in "xy"
        for algorithm in "ab"
        for run in range(3)
        for step in sorted({*common[task], *rng.choice(50, 8, replace=False).tolist()})
    ]
    frame = pd.DataFrame(own, columns=["task", "algorithm", "run", "training"]).assign(y=rng.normal(size=len(own)))
    shuffled = frame.sample(frac=1, random_state=2).sort_values("training")
    whole = frame.curves.to_dataarray("y", extra="task")
    with warnings.catch_warnings(record=True) as of_rows:
        warnings.simplefilter("always")
        aligned = shuffled.curves.to_dataarray("y", extra="task", on=on, method=method)
    with warnings.catch_warnings(record=True) as of_array:
        warnings.simplefilter("always")
        there = whole.curves.align(on, method=method)
    # Short runs end a common budget, and both say so.
    assert len(of_rows) == len(of_array) == (on in ("intersection", "final"))
    xr.testing.assert_equal(aligned, there)
    assert aligned.attrs["history"] == there.attrs["history"].replace("align(on", "to_dataarray(on")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"method": "linear"}, ("method", "linear", give(on="union"))),
        ({"tolerance": 3}, ("tolerance", 3, give(on="union", method="nearest"))),
        ({"on": "union", "training": None}, ("training", None, give(training="step"))),
        ({"extra": "run"}, ("extra", "run", "Rename the column")),
        ({"extra": "game"}, ("extra", "game", "Try extra='task'")),
        ({"run": "step", "extra": ()}, ("run", "step", "Name a column of its own for every dim")),
        ({"duplicates": "sum"}, ("duplicates", "sum")),
    ],
)
def test_options_that_do_not_fit_are_refused(frame, options, expected):
    with refused(*expected):
        frame.curves.to_dataarray("return", **(NAMES | options))


def test_scores_of_trials_have_no_training(frame):
    last = frame[frame.step == 100]
    scores = last.curves.to_dataarray("return", **(NAMES | {"training": None}))
    assert scores.dims == ("task", "algorithm", "run")
    assert "training" not in scores.coords
    expected = frame.curves.to_dataarray("return", **NAMES).sel(training=100, drop=True)
    np.testing.assert_array_equal(scores, expected)
    with refused(
        "frame",
        cure="frame.curves.to_dataarray(value='return'",
        names=r"16 rows repeat a.*first \('Hopper', 'td3', 2\)",
    ):
        frame.curves.to_dataarray("return", **(NAMES | {"training": None}))


def test_several_columns_of_scores_make_a_dataset(frame):
    frame["loss"] = frame["return"].where(frame.task == "Ant") ** 2
    frame.attrs["units"] = {"loss": "1", "step": "steps"}
    both = frame.curves.to_dataset(["return", "loss"], **NAMES)
    for name in ("return", "loss"):
        xr.testing.assert_identical(both[name], frame.curves.to_dataarray(name, **NAMES))
    assert both.loss.sel(task="Hopper").isnull().all()
    assert both.training.attrs["units"] == "steps"


@pytest.mark.parametrize("column", ["agent", "seed", "step", "return", "task"])
def test_arrow_columns_are_as_good_as_any(frame, column):
    pytest.importorskip("pyarrow")
    arrow = frame.astype({column: pd.Series(frame[column].tolist()).convert_dtypes(dtype_backend="pyarrow").dtype})
    xr.testing.assert_identical(
        arrow.curves.to_dataarray("return", **NAMES),
        frame.curves.to_dataarray("return", **NAMES),
    )


class Arrow:
    """A dataframe of which nothing is known but that Arrow reads it."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", ["polars", "table", "stream"])
def test_frames_of_other_packages_give_the_same_curves(frame, kind):
    pa = pytest.importorskip("pyarrow")
    frame["weight"] = np.arange(len(frame)) // 7
    if kind == "polars":
        other = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    else:
        other = pa.table(frame.to_dict("list"))
        other = other if kind == "table" else Arrow(other)
    expected = frame.curves.to_dataarray("return", **NAMES)
    xr.testing.assert_identical(xcurves.to_dataarray(other, "return", **NAMES), expected)
    both = xcurves.to_dataset(other, ["return", "weight"], **NAMES)
    xr.testing.assert_identical(both, frame.curves.to_dataset(["return", "weight"], **NAMES))


def test_gaps_and_enums_of_polars_are_gaps_and_ordered_labels():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    frame = polars.DataFrame({"algorithm": ["b", "a"], "run": [0, 0], "training": [1, 1], "y": [None, 2.0]})
    frame = frame.with_columns(polars.col("algorithm").cast(polars.Enum(["b", "a"])))
    curves = xcurves.to_dataarray(frame, "y")
    assert curves.algorithm.values.tolist() == ["b", "a"]
    np.testing.assert_array_equal(curves.squeeze(), [np.nan, 2.0])
    with refused("frame", "LazyFrame", cure="Compute it: frame.collect()", kind=xcurves.WrongType):
        xcurves.to_dataarray(frame.lazy(), "y")


def test_without_pyarrow_its_extra_is_named(monkeypatch):
    import sys

    class Strange:
        def __arrow_c_stream__(self, requested_schema=None):
            raise AssertionError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError,
        match=r"need pyarrow\. Install it: pip install 'xcurves\[polars\]'$",
    ):
        xcurves.to_dataarray(Strange(), "y")


def pattern_in(error):
    """Return the pattern at the end of an error message."""
    return re.search(r"columns='(.*)'$", str(error))[1]


def test_a_column_for_each_run_is_read_as_the_error_says():
    wide = pd.DataFrame({"agent": "sac", "step": [0, 10], "seed0": [1.0, 2.0], "seed1": [3.0, 4.0]})
    names = {"algorithm": "agent", "run": "seed", "training": "step"}
    with pytest.raises(KeyError) as caught:
        wide.curves.to_dataarray("return", **names)
    assert pattern_in(str(caught.value)) == "seed{run}"
    curves = wide.curves.to_dataarray("return", **names, columns="seed{run}")
    assert curves.squeeze().values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.slow
def test_messages_about_frames_without_runs_name_their_own_columns():
    frame = pd.DataFrame(
        {
            "model": "a",
            "seed": [0, 0, 1, 1],
            "n": [1, 2, 1, 2],
            "y": [1.0, 2.0, 3.0, 4.0],
        }
    )
    names = {"algorithm": "model", "run": None, "training": "n"}
    with refused("frame", kind=Doubtful) as caught:
        frame.curves.to_dataarray("y", **names)
    assert "column 'seed' (0, 1) is not used, and training column 'n' falls in 1 run" in str(caught.value)
    runs, tasks, algorithms, _ = (eval(str(call), {"frame": frame}) for call in caught.value.cure.calls)
    assert runs.sel(run=1).squeeze().values.tolist() == [3, 4]
    assert tasks.sel(seed=1).squeeze().values.tolist() == [3, 4]
    assert algorithms.sizes == {"algorithm": 2, "training": 2}
    # without a warning
    assert frame.curves.to_dataarray("y", **names, duplicates="mean").values.tolist() == [[2, 3]]
    with refused(
        "algorithm", "agent", cure="It has 'model', 'seed', 'n', 'y'. Try algorithm='model'", kind=xcurves.Missing
    ):
        frame.curves.to_dataarray("y", algorithm="agent", run=None, training="n")
    assert frame[:2].curves.to_dataset(["y"], **names)["y"].dims == (
        "algorithm",
        "training",
    )


def test_a_frame_without_runs_whose_rows_repeat_gets_their_count_and_a_caution():
    frame = pd.DataFrame({"algorithm": "a", "step": [0, 10, 0, 10], "y": [1.0, 2.0, 3.0, 4.0]})
    counted = "groupby(['algorithm', 'step']).cumcount(), which relies on the order of rows"
    with refused("frame", cure=counted, names="^rows repeat and no column tells the runs apart") as caught:
        frame.curves.to_dataarray("y", training="step")
    names = {"frame": frame.copy()}
    exec(
        re.search(r"frame\['run'\] = .*cumcount\(\)", str(caught.value)).group(),
        names,
    )
    assert names["frame"].curves.to_dataarray("y", training="step").squeeze().values.tolist() == [[1, 2], [3, 4]]
    of_one_run = frame.iloc[:2].curves.to_dataarray("y", training="step")
    assert dict(of_one_run.sizes) == {"run": 1, "algorithm": 1, "training": 2}
    with refused("run", "run", cure="It has 'algorithm', 'step', 'y'. If each algorithm has one", kind=xcurves.Missing):
        frame.iloc[:2].curves.to_dataarray("y", training="step", run="run")


def episodes(n_runs, n_levels, n_episodes):
    index = pd.MultiIndex.from_product(
        [["a", "b"], range(n_runs), range(n_levels), range(n_episodes)],
        names=["algorithm", "seed", "step", "n"],
    )
    return pd.DataFrame({"y": np.arange(len(index), dtype=float)}, index=index).reset_index()


@pytest.mark.parametrize(
    ("frame", "run", "reason"),
    [
        (
            episodes(1, 3, 4).rename(columns={"n": "eval_episode"}),
            "eval_episode",
            "its name says episodes",
        ),
        (
            episodes(1, 6, 1).assign(n=range(12)),
            "n",
            r"each of its 12 runs has one training level, of 6",
        ),
        (episodes(1, 2, 120), "n", r"it has 240 runs of 2 training levels"),
    ],
)
def test_episodes_that_would_count_as_runs_are_warned_of_once(frame, run, reason):
    with pytest.warns(
        UserWarning,
        match=rf"^run column '{run}': {reason}\. Episodes of one run are not",
    ) as caught:
        frame.curves.to_dataarray("y", run=run, training="step", duplicates="mean")
    assert len(caught) == 1


def test_only_algorithms_and_runs_are_found_in_names_of_runs():
    frame = pd.DataFrame({"name": ["a-0", "b-0"], "y": [1.0, 2.0]})
    splits = "Split the names of runs"
    with refused("algorithm", "agent", cure=splits, kind=xcurves.Missing):
        frame.curves.to_dataarray("y", algorithm="agent", run="seed", training=None)
    with refused("value", "z", kind=xcurves.Missing) as caught:
        frame.curves.to_dataarray("z", algorithm="agent", run="seed", training=None)
    assert splits not in str(caught.value)


@pytest.mark.parametrize("argument", ["value", "algorithm", "run", "training", "extra"])
@pytest.mark.parametrize("given", [{}, ["a"], np.array([1, 2]), ([],)])
def test_a_column_has_a_name_that_can_be_looked_up(frame, argument, given):
    named = {"value": "return", "algorithm": "agent", "run": "seed", "training": "step"}
    named |= {argument: [given] if argument == "extra" else given}
    names = f"^{argument} must be the name of a column; got "
    with refused(argument, cure="Name one of frame.columns", names=names, kind=xcurves.WrongType) as caught:
        xcurves.to_dataarray(frame, **named)
    assert ("to_dataset(" in str(caught.value)) == (argument == "value")


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "Float32", "double[pyarrow]"])
def test_gaps_in_nullable_columns_are_gaps(frame, dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    frame["return"] = pd.array([None, *range(1, len(frame))], dtype=dtype)
    curves = frame.curves.to_dataarray("return", **NAMES)
    assert curves.dtype == np.float64
    assert curves.isnull().sum() == 1
    assert curves.max() == len(frame) - 1


@pytest.mark.parametrize("dtype", ["category", "string", object])
def test_labels_are_of_kinds_that_an_archive_holds(frame, dtype):
    curves = frame.astype({"agent": dtype, "task": dtype}).curves.to_dataarray("return", **NAMES)
    assert curves.algorithm.dtype.kind == curves.task.dtype.kind == "U"
    assert curves.algorithm.values.tolist() == ["sac", "td3"]


def test_columns_of_scores_are_each_aligned_on_their_own_levels(frame):
    frame["loss"] = frame["return"].where(frame.step != 50)
    both = frame.curves.to_dataset(["return", "loss"], **NAMES, on="intersection")
    assert both.training.values.tolist() == [0, 50, 100]
    assert both.loss.sel(training=50).isnull().all()


def test_rows_that_repeat_at_an_infinite_level_are_refused():
    frame = pd.DataFrame(
        {
            "algorithm": "a",
            "run": 0,
            "training": [0, np.inf, np.inf],
            "y": [0.0, 1.0, 4.0],
        }
    )
    with refused(
        "frame",
        cure="frame.curves.to_dataarray(value='y', ",
        names=r"^1 row repeats a \(algorithm, run, training\), first \('a', 0, inf\)",
    ):
        frame.curves.to_dataarray("y")


def test_a_column_for_each_algorithm_is_read_with_and_without_runs():
    wide = pd.DataFrame({"n": [100, 200], "seed": 0, "sac": [1.0, 2.0], "td3": [3.0, 4.0]})
    for run, frame in (("seed", wide), (None, wide.drop(columns="seed"))):
        names = {"algorithm": "agent", "run": run, "training": "n"}
        with refused("value", "return", cure="It has 'n'", kind=xcurves.Missing) as caught:
            frame.curves.to_dataarray("return", **names)
        curves = frame.curves.to_dataarray("return", **names, columns=pattern_in(str(caught.value)))
        assert curves.sel(algorithm="td3").squeeze().values.tolist() == [3, 4]


def test_runs_are_not_taken_for_episodes():
    frame = episodes(20, 3, 1)
    own_ids = frame.assign(seed=frame.groupby(["algorithm", "seed"]).ngroup())
    for each in (
        frame,
        frame.sort_values(["step", "seed"], ignore_index=True),
        own_ids,
    ):
        each.curves.to_dataarray("y", run="seed", training="step")  # without a warning
    frame.query("step == 0").curves.to_dataarray("y", run="seed", training=None)


def test_rows_that_lack_the_score_are_not_counted_among_those_that_repeat():
    rows = {
        "m": "a",
        "s": 1,
        "step": [0, 0, 10, 10, 20, 20, 20],
        "loss": [np.nan, 1, np.nan, 0.5, np.nan, 0.4, 0.3],
    }
    with refused(
        "frame",
        cure="frame.curves.to_dataarray(value='loss', algorithm='m'",
        names=r"^1 row repeats a \(m, s, step\), first \('a', 1, 20\)",
    ):
        pd.DataFrame(rows).curves.to_dataarray("loss", algorithm="m", run="s", training="step")


@pytest.mark.parametrize("given", [{"run": "sed"}, {"value": "return", "run": "sed"}, {"run": ["seed", "sed"]}])
def test_a_wrong_name_is_the_one_that_is_told(frame, given):
    wrong = "sed"
    with refused("run", wrong, kind=xcurves.Missing):
        frame.curves.to_dataarray(**given)


def test_columns_called_by_numbers_columns_of_lists_and_no_columns_are_no_crash(frame):
    expected = frame.curves.to_dataarray()
    xr.testing.assert_identical(frame.assign(extra=1).rename(columns={"extra": 7}).curves.to_dataarray(), expected)
    for name in ("status", "split", "metric", "algo"):
        lists = frame.assign(**{name: [["x"]] * len(frame)})
        xr.testing.assert_identical(lists.curves.to_dataarray(), expected)
    with refused("frame"):
        pd.DataFrame().curves.to_dataarray()


def test_two_columns_of_one_name_are_refused_in_a_wide_table_too():
    wide = pd.DataFrame([["t1", 1.0, 2.0, 3.0], ["t2", 1.0, 2.0, 3.0]], columns=["task", "svm", "tree", "svm"])
    with refused("frame", cure="Rename all but one"):
        wide.curves.to_dataarray(columns="svm,tree")


def test_settings_that_differ_in_the_last_digits_are_two_algorithms():
    rows = [("a", n, seed, 0.5 + seed) for n in (1234567.0, 1234568.0) for seed in range(4)]
    table = pd.DataFrame(rows, columns=["model", "n", "seed", "acc"])
    curves = table.curves.to_dataarray("acc", algorithm=["model", "n"])
    assert curves["algorithm"].values.tolist() == ["model=a, n=1234567", "model=a, n=1234568"]
    assert join_labels(pd.DataFrame({"lr": np.float32([0.001])}), ["lr"]).tolist() == ["lr=0.001"]
