import numpy as np
import pytest
import xarray as xr
from hypothesis import given

import strategies
import xcurves
from refusals import refused
from strategies import absent, make_curves
from test_kinds import made
from xcurves.results import kind_of


@pytest.fixture
def curves():
    rng = np.random.default_rng(0)
    tasks = make_curves(rng.normal(size=(2, 3, 4, 5)), task=["b", "a"]).rename("return")
    tasks = absent(tasks.assign_coords(algorithm=["td3", "sac", "ppo"]), [4, 3, 4]).assign_attrs(units="points")
    tasks.training.attrs = {"units": "steps", "long_name": "env steps"}
    tasks.run.attrs = {"long_name": "seed"}
    tasks.algorithm.attrs, tasks.task.attrs = (
        {"long_name": "agent"},
        {"long_name": "task"},
    )
    return tasks.assign_attrs(long_name="return", history="made", source="here")


def test_curves_come_back_identical(curves):
    frame = curves.curves.to_frame()
    assert list(frame) == ["task", "algorithm", "run", "training", "return"]
    assert len(frame) == curves.size
    back = frame.curves.to_dataarray("return", extra="task")
    assert back.color_index.values.tolist() == [*range(curves.sizes["algorithm"])]
    xr.testing.assert_identical(back.drop_vars("color_index"), curves)
    shuffled = frame.sample(frac=1, random_state=0)
    with refused("frame", cure="frame.curves.to_dataarray(value='return'", names=r"duplicates='last'"):
        shuffled.curves.to_dataarray("return", extra="task")
    shuffled = shuffled.sort_values("training")
    back = shuffled.curves.to_dataarray("return", extra="task")
    xr.testing.assert_identical(back.drop_vars("color_index"), curves)


@pytest.mark.slow
@given(strategies.curves())
def test_any_curves_come_back(curves):
    back = curves.curves.to_frame().curves.to_dataarray("score")
    xr.testing.assert_equal(back.drop_vars("color_index"), curves)


def test_a_dataset_of_curves_comes_back_identical(curves):
    both = xr.Dataset(
        {
            "return": curves,
            "loss": (curves**2).assign_attrs(long_name="loss", units="1"),
        }
    )
    frame = both.curves.to_frame()
    assert list(frame) == ["task", "algorithm", "run", "training", "return", "loss"]
    back = frame.curves.to_dataset(["return", "loss"], extra="task")
    xr.testing.assert_equal(back.drop_vars("color_index"), both)
    assert {name: back[name].attrs["units"] for name in back} == {
        "return": "points",
        "loss": "1",
    }


def test_an_anova_is_a_row_for_each_task_effect_and_error_term(curves):
    result = xcurves.randomized_anova(curves, keep_null=True, rng=0)
    frame = result.curves.to_frame()
    assert len(frame) == 2 * 2 * 3
    for row in frame[frame.error_term != "welch"].itertuples():
        here = result.sel(task=row.task, effect=row.effect, error_term=row.error_term)
        for name in (
            "pvalue",
            "f",
            "critical_value",
            "error_df",
            "n_levels",
            "n_resamples",
            "pvalue_rank",
        ):
            assert getattr(row, name) == here[name], name
        assert row.ss_error == here.ss.sel(source="error")
        assert row.df_training == here.df.sel(source="training")
        assert row.n_runs_sac == here.n_runs.sel(algorithm="sac") == 3
    assert not [name for name in frame if "null_distribution" in name]
    assert frame.attrs["history"].endswith("randomized_anova(n_resamples=None, paired=False, level_test=None)")
    assert frame.attrs["units"]["ss_error"] == "(points)^2"


def test_pairs_are_rows_for_both_effects(curves):
    result = xcurves.pairwise(curves.sel(task="a", drop=True), n_resamples=99, confidence_level=0.5, rng=0)
    frame = result.curves.to_frame().set_index(["effect", "pair"])
    assert len(frame) == 2 * 3
    for effect, pair in frame.index:
        row, here = frame.loc[(effect, pair)], result.sel(effect=effect, pair=pair)
        assert row["pvalue_adjusted"] == here.pvalue_adjusted
        assert row["difference"] == here.difference
        assert row["difference_ci_lower"] == here.difference_ci.sel(ci_bound="lower")
        assert (row["algorithm_a"], row["algorithm_b"]) == (
            here.algorithm_a,
            here.algorithm_b,
        )


ROWS = {
    "randomized_anova": ["effect", "error_term"],
    "pairwise": ["effect", "pair"],
    "contrast": [],
    "ss_profile": ["effect", "training"],
    "fit_power_law": [],
    "predict": ["n"],
    "leave_one_size_out": ["variant"],
    "compare_learners": [],
    "performance_cdf": [],
    "compare_distributions": ["pair"],
}


@pytest.mark.plain(4)
@pytest.mark.parametrize(("name", "rows"), ROWS.items())
def test_a_result_becomes_a_frame_with_a_row_for_each_label_of_its_rows(name, rows):
    result = made(name)
    frame = result.curves.to_frame()
    tasks = list(kind_of(result).task_dims(result))
    assert "task" in tasks
    assert list(frame)[: len(tasks) + len(rows)] == [*tasks, *rows]
    assert len(frame) == np.prod([result.sizes[dim] for dim in [*tasks, *rows]])
    assert not frame.duplicated([*tasks, *rows]).any()


def test_labels_that_stand_beside_are_columns_and_mixed_ones_keep_their_order(curves):
    frame = curves.sel(task="a").assign_coords(rate=("algorithm", [0.1, 0.2, 0.3])).rename(None).curves.to_frame()
    assert set(frame.task) == {"a"}
    assert "score" in frame
    assert frame.groupby("algorithm", observed=True).rate.first().to_dict() == {
        "td3": 0.1,
        "sac": 0.2,
        "ppo": 0.3,
    }
    mixed = make_curves(np.zeros((2, 3, 2))).assign_coords(run=np.array([1, "a", 0.5], dtype=object))
    assert mixed.curves.to_frame()["run"].cat.categories.tolist() == [1, "a", 0.5]
