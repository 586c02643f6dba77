"""Published logs as they are, gaps, restarts, early stops and all; skipped where these files are not at hand."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from places import SHARED
from refusals import refused
from xcurves.core.refusal import call

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not SHARED.exists(),
        reason=f"no reference data in {SHARED.name}/ beside the repository",
    ),
]

TIANSHOU = {"run": "seed", "training": "env_step", "extra": "task"}
TDMPC2 = {"run": "seed", "training": "step", "extra": "task"}


@pytest.fixture(scope="module")
def tianshou():
    return pd.read_csv(SHARED / "data" / "tianshou_mujoco.csv.gz")


@pytest.fixture(scope="module")
def tdmpc2():
    return pd.read_csv(SHARED / "data" / "tdmpc2_results.csv.gz")


def test_one_chain_from_tianshou_gives_the_reference_p_values_of_every_task(tianshou):
    reference = json.loads((SHARED / "reference" / "dev_anova.json").read_text())["all_tasks_td3_sac"]["tasks"]
    levels = [50_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000]
    result = (
        tianshou[tianshou.algorithm.isin(["td3", "sac"])]
        .curves.to_dataarray("return", **TIANSHOU, on=levels)
        .curves.randomized_anova()
    )
    rows = result.curves.to_frame().query("error_term == 'pooled'")
    assert set(rows.task) == set(reference)
    for row in rows.itertuples():
        expected = reference[row.task]
        np.testing.assert_allclose(row.f, expected["F"][row.effect], rtol=1e-8)
        p, other = row.pvalue, expected[f"p_{row.effect}"]
        assert abs(p - other) <= 4 * np.sqrt(p * (1 - p) / 20_000) + 1 / 20_000, (
            row.task,
            row.effect,
        )
        assert row.n_levels == 7
        assert row.n_resamples == row.n_assignments == 92_378
    assert "dropped 244: 0, 5000, " in result.attrs["history"]


@pytest.mark.filterwarnings("ignore:[0-9]+ of [0-9]+ runs end before 90 %")
def test_one_chain_from_tdmpc2_gives_every_task_of_both_metrics_or_says_why_not(tdmpc2):
    with pytest.warns(UserWarning, match=r"^left out, because runs have too few common levels: ") as caught:
        curves = tdmpc2.curves.to_dataset(["reward", "success"], **TDMPC2, duplicates="last", on="intersection")
    left_out, *others = [
        warning for warning in caught if str(warning.message).startswith("left out, because runs have too few")
    ]
    assert not others
    assert "task 'dog-stand': on='intersection' leaves 1 common training level of " in str(left_out.message)
    named = {task for task in tdmpc2.task.unique() if f"task {task!r}" in str(left_out.message)}
    compared = {}
    for metric in ("reward", "success"):
        there = curves[metric].dropna("task", how="all")
        result = there.curves.randomized_anova(confidence_level=0.5)
        done = result.f.sel(error_term=["pooled", "split_plot"]).notnull().all(["effect", "error_term"]).to_series()
        compared |= done.to_dict()
    assert "669 repeated rows, kept the last of each" in curves.reward.attrs["history"]
    assert set(compared) | named == set(tdmpc2.task)
    assert not set(compared) & named
    assert all(compared.values())
    for task in named:
        rows = tdmpc2[tdmpc2.task == task].dropna(subset="reward")
        own = rows.groupby(["algorithm", "seed"]).step.agg(set)
        assert len(set.intersection(*own)) < 2


def test_a2c_and_ppo_share_one_point_and_can_be_compared_in_bins(tianshou):
    hopper = tianshou[(tianshou.task == "Hopper-v3") & tianshou.algorithm.isin(["a2c", "ppo"])]
    cure = call(".curves.align", 20, relative_to="budget")
    with refused("on", cure=cure, names="^task 'Hopper-v3': on='intersection' leaves 1 common training level of"):
        hopper.curves.to_dataarray("return", **TIANSHOU, on="intersection")
    grid = np.arange(1e5, 3.1e6, 1e5)
    binned = hopper.curves.to_dataarray("return", **TIANSHOU, on=grid, method="mean")
    assert binned.notnull().all()
    own = hopper[(hopper.algorithm == "ppo") & (hopper.seed == 3) & (hopper.env_step > 4e5) & (hopper.env_step <= 5e5)]
    np.testing.assert_allclose(binned.sel(algorithm="ppo", run=3, training=5e5).item(), own["return"].mean())
    past = hopper.curves.to_dataarray("return", **TIANSHOU, on=[2.9e6, 3.05e6], method="linear")
    assert past.notnull().any("run").sel(training=3.05e6).squeeze().values.tolist() == [
        False,
        True,
    ]
    assert "algorithm 'a2c', run 9 lacks 1 of 2 training levels: 3050000" in past.attrs["history"]


def test_td3_without_step_0_loses_it_where_it_lacks_it_and_nowhere_else(tianshou):
    two = tianshou[tianshou.algorithm.isin(["td3", "sac"])]
    aligned = two.curves.to_dataarray("return", **TIANSHOU, on="intersection")
    with_0 = aligned.sel(training=0).notnull().all(["algorithm", "run"])
    assert aligned.task[~with_0].values.tolist() == [
        *(
            "Ant-v3",
            "HalfCheetah-v3",
            "Humanoid-v3",
            "InvertedDoublePendulum-v2",
            "InvertedPendulum-v2",
        )
    ]
    result = aligned.curves.randomized_anova(n_resamples=99, rng=0)
    assert result.n_levels.values.tolist() == [251 if each else 250 for each in with_0.values]


def test_gaps_of_dreamerv3_differ_from_seed_to_seed(tdmpc2):
    rows = tdmpc2[(tdmpc2.task == "cartpole-swingup") & tdmpc2.algorithm.isin(["dreamerv3", "tdmpc2"])]
    curves = rows.curves.to_dataarray("reward", run="seed", training="step")
    with refused("curves", cure=call(".curves.align", "intersection"), names=r"'dreamerv3', run 1.*\(3 incomplete"):
        curves.curves.randomized_anova()
    own = rows[rows.algorithm == "dreamerv3"].groupby("seed").step.agg(set)
    shared = set.intersection(*own)
    assert len(set.union(*own)) == 40
    assert len(shared) == 32
    assert set(curves.curves.align("intersection").training.values) == shared
    filled = curves.curves.align("union", method="linear").curves.align("intersection")
    begun, ended = max(map(min, own)), min(map(max, own))
    np.testing.assert_array_equal(filled.training, np.arange(begun, ended + 1, 100_000))
    known = curves.sel(algorithm="dreamerv3", training=filled.training)
    xr.testing.assert_equal(filled.sel(algorithm="dreamerv3").where(known.notnull()), known)


def test_restarts_of_tdmpc_are_counted_and_kept_as_asked(tdmpc2):
    with refused(
        "frame", cure="duplicates='purge'", names=r"^training column 'step' falls in 23 runs, first from \('chee"
    ):
        tdmpc2.curves.to_dataset(["reward", "success"], **TDMPC2)
    rows = tdmpc2[tdmpc2.duplicated(["task", "algorithm", "seed", "step"], keep=False) & tdmpc2.reward.notna()]
    groups = rows.groupby(["task", "algorithm", "seed", "step"]).reward
    for duplicates in ("first", "last", "mean"):
        curves = tdmpc2.curves.to_dataarray("reward", **TDMPC2, duplicates=duplicates)
        for (task, algorithm, seed, step), expected in groups.agg(duplicates).items():
            found = curves.loc[task, algorithm, seed, step].item()
            assert found == pytest.approx(expected, rel=1e-12)


def test_a_run_of_one_point_decides_nothing_once_it_is_left_out(tianshou):
    rows = tianshou[
        (tianshou.task == "Hopper-v3") & tianshou.algorithm.isin(["td3", "sac"]) & (tianshou.env_step <= 250_000)
    ]
    stopped = rows[(rows.algorithm != "td3") | (rows.seed != 4) | (rows.env_step == 5000)]
    curves = stopped.curves.to_dataarray("return", run="seed", training="env_step")
    with refused("on", cure=call(".curves.align", 1, relative_to="budget"), names="leaves 1 common training level"):
        curves.curves.align("intersection")
    whole = curves.curves.drop_incomplete()
    assert whole.attrs["history"] == ("drop_incomplete(): algorithm 'td3', run 4 (lacks 50 of 51 training levels)")
    assert whole.curves.randomized_anova(n_resamples=99, rng=0).n_runs.values.tolist() == [10, 9]


def test_two_metrics_of_one_table_keep_to_their_tasks(tdmpc2):
    both = tdmpc2.curves.to_dataset(["reward", "success"], **TDMPC2, duplicates="last")
    has = both.notnull().any(["algorithm", "run", "training"])
    assert has.reward.sum() == 39
    assert has.success.sum() == 65
    assert not (has.reward & has.success).any()


@pytest.mark.filterwarnings("ignore:.*(p is NaN|no p below|no adjusted p|no trial|runs differ|runs end before)")
def test_a_whole_analysis_of_every_task_of_tdmpc2_goes_through_an_archive(tdmpc2, tmp_path):
    with pytest.warns(UserWarning, match="left out, because runs have too few common levels"):
        curves = tdmpc2.curves.to_dataarray("reward", **TDMPC2, duplicates="last", on="intersection")
    curves = curves.dropna("task", how="all")
    tree = curves.curves.analyze(n_resamples=49, rng=0)
    assert tree["anova"].pvalue.sel(error_term=["pooled", "split_plot"]).notnull().all()
    final = tree["distribution"]
    for task in ("cheetah-run", "dog-run"):
        level = final.training.sel(task=task).item()
        own = tdmpc2[(tdmpc2.task == task) & (tdmpc2.step == level)].drop_duplicates(["algorithm", "seed"], keep="last")
        means = own.groupby("algorithm").reward.mean()
        np.testing.assert_allclose(final.score_mean.sel(task=task, algorithm=means.index), means)
        assert level == curves.sel(task=task).dropna("training", how="all").training[-1]
    xr.testing.assert_identical(xcurves.archive.read(xcurves.archive.write(tree, tmp_path / "all")), tree)
