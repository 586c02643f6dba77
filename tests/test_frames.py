import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    keys = pd.MultiIndex.from_product(
        [["Hopper", "Ant"], ["td3", "sac"], [2, 10], [0, 100, 50]], names=["task", "agent", "seed", "step"]
    )
    return pd.DataFrame({"return": rng.normal(size=len(keys))}, index=keys).reset_index()


NAMES = {"algorithm": "agent", "run": "seed", "training": "step", "extra": "task"}


def test_every_score_finds_its_place(frame):
    curves = frame.curves.to_dataarray("return", **NAMES)
    assert curves.dims == ("task", "algorithm", "run", "training")
    assert curves.name == "return"
    for row in frame.itertuples(index=False):
        assert curves.sel(task=row.task, algorithm=row.agent, run=row.seed, training=row.step) == row[-1]


def test_rows_and_columns_may_come_in_any_order(frame):
    shuffled = frame.sample(frac=1, random_state=1)[["step", "return", "seed", "task", "agent"]]
    xr.testing.assert_identical(
        shuffled.curves.to_dataarray("return", **NAMES), frame.curves.to_dataarray("return", **NAMES)
    )


def test_gaps_are_nan_and_labels_stay(frame):
    frame.loc[frame.task == "Ant", "return"] = np.nan
    curves = frame.drop(index=0).curves.to_dataarray("return", **NAMES)
    assert np.isnan(curves.sel(task="Hopper", algorithm="td3", run=2, training=0))
    assert curves.sel(task="Ant").isnull().all()
    assert curves.notnull().sum() == 11


def test_columns_and_units_are_kept(frame):
    frame.attrs["units"] = {"step": "steps", "return": "1"}
    curves = frame.curves.to_dataarray("return", **NAMES)
    assert curves.attrs == {"long_name": "return", "units": "1"}
    assert curves.training.attrs == {"long_name": "step", "units": "steps"}
    assert curves.algorithm.attrs == {"long_name": "agent"}
    assert curves.run.attrs == {"long_name": "seed"}


def test_repeated_rows_are_counted_shown_and_cured(frame):
    repeated = pd.concat([frame, frame.iloc[:5]])
    with pytest.raises(ValueError, match="repeat") as caught:
        repeated.curves.to_dataarray("return", **NAMES)
    assert str(caught.value) == (
        "5 rows repeat a (task, agent, seed, step), first ('Hopper', 'td3', 2, 0); ('Hopper', 'td3', 2, 100); "
        "('Hopper', 'td3', 2, 50). Name the column that tells them apart in extra=, or say which to keep: "
        "duplicates='first', 'last' or 'mean'"
    )


@pytest.mark.parametrize(("choice", "kept"), [("first", 1.0), ("last", 4.0), ("mean", 2.5)])
def test_of_repeated_rows_the_chosen_is_kept(choice, kept):
    frame = pd.DataFrame({"algorithm": "a", "run": 0, "training": [0, 1, 1], "y": [0.0, 1.0, 4.0]})
    curves = frame.curves.to_dataarray("y", duplicates=choice)
    np.testing.assert_array_equal(curves.squeeze(), [0.0, kept])


@pytest.mark.parametrize("choice", ["first", "last", "mean"])
def test_a_repeated_row_without_a_score_is_refused_and_never_kept(choice):
    frame = pd.DataFrame({"algorithm": "a", "run": 0, "training": [0, 1, 1], "y": [0.0, np.nan, 4.0]})
    np.testing.assert_array_equal(frame.curves.to_dataarray("y", duplicates=choice).squeeze(), [0.0, 4.0])
    with pytest.raises(ValueError, match=r"^1 row repeats a "):
        frame.curves.to_dataarray("y")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda f: f.assign(step=f.step.astype(str).replace("50", "1M")),
            TypeError,
            "training column 'step' must be numeric; got dtype {dtype}, first '1M' in row 2. "
            "Convert: pd.to_numeric(frame['step'])",
        ),
        (
            lambda f: f.assign(**{"return": f["return"].astype(object).where(f.index != 3, "oops")}),
            TypeError,
            "value column 'return' must be numeric; got dtype object, first 'oops' in row 3. "
            "Convert: pd.to_numeric(frame['return'])",
        ),
        (
            lambda f: f.assign(seed=f.seed.astype(float).where(f.index > 1)),
            ValueError,
            "run column 'seed' has 2 rows without a label, first row 0. Drop them: frame.dropna(subset=['seed'])",
        ),
        (lambda f: f.iloc[:0], ValueError, "frame has no rows. Check how it was read or selected"),
        (
            lambda f: f.rename(columns={"return": "reward"}),
            KeyError,
            "value='return' is no column of the frame. It has 'task', 'agent', 'seed', 'step', 'reward'",
        ),
        (
            lambda f: f.assign(seed=f.seed.astype(object).where(f.index > 1, "a")),
            TypeError,
            "column 'seed' mixes int and str. Convert: frame['seed'].astype(str)",
        ),
    ],
)
def test_bad_frames_are_refused(frame, change, error, message):
    changed = change(frame)
    with pytest.raises(error) as caught:
        changed.curves.to_dataarray("return", **NAMES)
    assert caught.value.args[0] == message.replace("{dtype}", str(changed.get("step", frame.step).dtype))


def test_what_was_kept_of_repeated_rows_is_recorded():
    frame = pd.DataFrame({"algorithm": "a", "run": 0, "training": [0, 1, 1, 1], "y": [0.0, 1.0, 4.0, 5.0]})
    history = frame.curves.to_dataarray("y", duplicates="last").attrs["history"]
    assert history == "to_dataarray(duplicates='last'): 2 repeated rows, kept the last of each"
    assert "history" not in frame.iloc[:2].curves.to_dataarray("y", duplicates="last").attrs


def test_an_extra_dim_cannot_have_the_name_of_another(frame):
    with pytest.raises(ValueError, match=r"^extra='run' is the name of another dim"):
        frame.rename(columns={"task": "run"}).curves.to_dataarray(
            "return", algorithm="agent", run="seed", training="step", extra="run"
        )
    with pytest.raises(KeyError, match="extra='game' is no column of the frame"):
        frame.curves.to_dataarray("return", **(NAMES | {"extra": "game"}))


def test_a_column_serves_once(frame):
    with pytest.raises(ValueError, match=r"run='step' is asked for twice"):
        frame.curves.to_dataarray("return", algorithm="agent", run="step", training="step")


def test_an_unknown_choice_is_refused(frame):
    with pytest.raises(ValueError, match=r"duplicates must be one of 'raise', 'first', 'last', 'mean'; got 'sum'"):
        frame.curves.to_dataarray("return", **NAMES, duplicates="sum")


@pytest.mark.parametrize("dtype", ["category", "string", object])
def test_labels_of_every_dtype_can_be_compared(frame, dtype):
    frame["agent"] = frame["agent"].astype(dtype)
    curves = frame.curves.to_dataarray("return", **NAMES)
    assert curves.algorithm.values.tolist() == ["sac", "td3"]
    xcurves.randomized_anova(curves, confidence_level=0.5)


def test_categories_keep_their_order_and_unused_ones_go(frame):
    frame["agent"] = pd.Categorical(frame["agent"], ["td3", "ppo", "sac"])
    assert frame.curves.to_dataarray("return", **NAMES).algorithm.values.tolist() == ["td3", "sac"]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "float32"])
def test_nullable_and_short_numbers_are_scores(frame, dtype):
    frame["return"] = pd.array([None, *range(1, len(frame))], dtype=dtype if dtype != "float32" else "Float32")
    curves = frame.curves.to_dataarray("return", **NAMES)
    assert curves.dtype == np.float64
    assert curves.isnull().sum() == 1
    assert curves.max() == len(frame) - 1
