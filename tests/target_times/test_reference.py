"""`speedup` and `mean_time_to_target` against cases that a slow implementation made from published logs."""

import json
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import xcurves
from places import SHARED

REFERENCE = SHARED / "reference" / "dev_speedup.json"
pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason=f"{REFERENCE} is not here")
COLUMNS = {
    "nanogpt_track3_dev.csv.gz": ("val_loss", "entry", "run", "step"),
    "algoperf_external.csv.gz": ("score", "algorithm", "study", "seconds"),
}


def cases(*functions):
    if not REFERENCE.exists():
        return []
    return [pytest.param(case, id=case["name"]) for case in read() if case["function"] in functions]


@cache
def read():
    return json.loads(REFERENCE.read_text())["cases"]


@cache
def table(name):
    return pd.read_csv(SHARED / "data" / name)


def number(value):
    return np.array(value, float) if not isinstance(value, list) else np.array([float(each) for each in value])


def curves(case, names, task=None):
    """Return the runs of some algorithms, each on its own levels."""
    frame = table(case["file"])
    score, algorithm, run, training = COLUMNS[case["file"]]
    if task := task or case.get("task"):
        frame = frame[(frame["task"] == task) & (frame["trial"] == case["trial"])]
    frame = frame[frame[algorithm].isin(names)].drop_duplicates([algorithm, run, training], keep="last")
    frame = frame[frame[training] >= case.get("step_from", 0)]
    if "algorithm_last_step" in case:
        frame = frame[(frame[algorithm] != case["algorithm"]) | (frame[training] <= case["algorithm_last_step"])]
    first = frame.groupby(algorithm)[run].transform(lambda runs: runs.rank(method="dense"))
    frame = frame[first <= case.get("first_runs", np.inf)]
    made = frame.assign(place=first).curves.to_dataarray(
        score, algorithm=algorithm, run="place", training=training, levels="run"
    )
    return made.assign_coords(run=np.arange(made.sizes["run"]))


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **options)


# of two means: the file has cases of matched runs and of runs dealt anew too
WELCH = [
    case
    for case in cases("speedup", "speedup_target")
    if case.values[0].get("test", "welch") == "welch" and not case.values[0].get("paired", False)
]


@pytest.mark.plain(5)
@pytest.mark.parametrize("case", WELCH)
def test_speedups_to_the_last_level_and_to_a_target(case):
    names = {"scale": "training_scale", "target": "target"}
    made = quietly(
        xcurves.speedup,
        curves(case, [case["algorithm"], case["reference"]]),
        reference=case["reference"],
        higher_is_better=case["better"] > 0,
        **{names[name]: value for name, value in case.items() if name in names},
    ).sel(algorithm=case["algorithm"])
    variables = {"reference_training": "reference_time", "gap": "speedup_gap"}
    tolerance = 1e-8 if "target" in case else 1e-9
    # of deals, which p says
    for name in case["answer"].keys() - {"count", "total", "count_at_one"}:
        found, expected = made[variables.get(name, name)], number(case["answer"][name])
        np.testing.assert_allclose(found, expected, rtol=tolerance, err_msg=name)


@pytest.mark.plain(3)
@pytest.mark.parametrize("case", cases("time_to_target"))
def test_times_of_mean_curves(case):
    made = xcurves.mean_time_to_target(
        curves(case, [case["algorithm"]]),
        case["target"],
        higher_is_better=case["better"] > 0,
    ).squeeze("algorithm")
    np.testing.assert_allclose(made["time"], case["answer"]["time"], rtol=1e-9)
    np.testing.assert_allclose(made["time_ci"], case["answer"]["time_ci"], rtol=1e-9)
    assert made["n_runs"].item() == case["answer"]["df"] + 1


@pytest.mark.parametrize("case", cases("fixed_claim"))
def test_the_claim_for_these_tasks(case):
    """Errors enter as 1 - score, so that higher is better everywhere; the targets likewise."""
    import xarray as xr

    parts = [
        sign * curves(case, [case["algorithm"], case["reference"]], task)
        for task, sign in zip(case["tasks"], case["better"], strict=True)
    ]
    longest = max(part.sizes["evaluation"] for part in parts)
    parts = [part.pad(evaluation=(0, longest - part.sizes["evaluation"])) for part in parts]
    joined = xr.concat(parts, xr.Variable("task", case["tasks"]), join="outer")
    targets = xr.DataArray(np.multiply(case["targets"], case["better"]), {"task": case["tasks"]}, ["task"])
    made = quietly(
        xcurves.speedup,
        joined,
        reference=case["reference"],
        target=targets,
        task="task",
    )
    made = made.sel(algorithm=case["algorithm"])
    np.testing.assert_allclose(np.log(made["task_speedup"]), case["answer"]["log_ratios"], rtol=1e-9)
    np.testing.assert_allclose(made["speedup"], case["answer"]["speedup"], rtol=1e-9)
    fixed = made.sel(task_effect="fixed")
    np.testing.assert_allclose(fixed["speedup_ci"], case["answer"]["speedup_ci"], rtol=1e-8)
    np.testing.assert_allclose(fixed["pvalue"], case["answer"]["pvalue"], rtol=1e-8)
    random = made.sel(task_effect="random")
    # of fewer than six tasks
    assert random["speedup_ci"].values.tolist() == [0, np.inf]


@cache
def algoperf_times():
    """Return times to AlgoPerf's targets: the fastest trial of each study."""
    targets = pd.read_csv(SHARED / "data" / "algoperf_targets.csv").set_index("task")
    logs = table("algoperf_external.csv.gz").join(targets[["target", "higher_is_better"]], on="task")
    sign = np.where(logs["higher_is_better"] == 1, 1, -1)
    met = logs["seconds"].where(sign * logs["score"] >= sign * logs["target"], np.inf)
    times = met.groupby([logs["task"], logs["algorithm"], logs["study"]]).min().to_xarray()
    return times.rename(study="run"), targets


def bounded(case):
    times, _ = algoperf_times()
    times = times.sel(task=case["tasks"])
    return times.assign_coords(budget=("task", [float(case["budgets"][task]) for task in case["tasks"]]))


@pytest.mark.parametrize("case", [case for case in cases("random_claim") if "tasks" in case.values[0]])
def test_the_claim_for_tasks_like_these(case):
    made = xcurves.speedup(bounded(case), reference=case["reference"], task="task").sel(algorithm=case["algorithm"])
    answer, random = case["answer"], made.sel(task_effect="random")
    np.testing.assert_allclose(random["speedup"], number(answer["speedup"]), rtol=1e-9)
    np.testing.assert_allclose(random["speedup_ci"], number(answer["speedup_ci"]), rtol=1e-9)
    np.testing.assert_allclose(random["pvalue"], answer["pvalue"], rtol=1e-9)
    np.testing.assert_allclose(random["median_speedup_ci"], number(answer["median_ci"]), rtol=1e-9)
    assert made.sel(task_effect="fixed")["pvalue"].isnull().all()


PUBLISHED = {
    "shampoo_submission": 0.7784,
    "schedule_free_adamw": 0.7077,
    "generalized_adam": 0.6383,
    "cyclic_lr": 0.6301,
    "nadamp": 0.5909,
    "baseline": 0.5707,
    "amos": 0.4918,
    "caspr_adaptive": 0.4722,
    "lawa_queue": 0.3699,
    "lawa_ema": 0.3384,
    "schedule_free_prodigy": 0.0,
}


@pytest.mark.slow
def test_published_scores_of_algoperf():
    """All 11 scores of AlgoPerf v0.5's external tuning: of a study counts the trial with the fewest evaluations."""
    targets = algoperf_times()[1]
    logs = table("algoperf_external.csv.gz").join(targets[["target", "higher_is_better"]], on="task")
    sign = np.where(logs["higher_is_better"] == 1, 1, -1)
    met = logs.assign(evaluation=logs.groupby(["task", "algorithm", "study", "trial"]).cumcount())
    met = met[sign * logs["score"] >= sign * logs["target"]].sort_values(["evaluation", "trial"])
    cells = ["task", "algorithm", "study"]
    every = pd.MultiIndex.from_frame(logs[cells].drop_duplicates().sort_values(cells))
    times = met.groupby(cells)["seconds"].first().reindex(every, fill_value=np.inf).to_xarray().rename(study="run")
    made = times.curves.performance_profile(gates=targets["base_task"].to_dict(), points=100, rng=0)
    assert made["score"].to_series().round(4).to_dict() == PUBLISHED


@pytest.mark.slow
def test_scores_of_the_fastest_trials_of_algoperf():
    """Of a study counts the trial with the fewest seconds; of lawa_ema .3434 in place of the published .3384."""
    (profile,) = (case for case in read() if case["name"] == "dolan-more")
    (intervals,) = (case for case in read() if case["name"] == "dolan-more-intervals")
    times, targets = algoperf_times()
    gates = targets["base_task"].to_dict()
    exact = times.curves.performance_profile(gates=gates, rng=0)
    for name, points in (("score", None), ("score_100_points", 100)):
        made = exact if points is None else times.curves.performance_profile(gates=gates, points=points, rng=0)
        expected = profile["answer"][name]
        np.testing.assert_allclose(
            made["score"].sel(algorithm=list(expected)),
            list(expected.values()),
            rtol=1e-9,
        )
    bases = times.sel(task=profile["tasks"]).curves.performance_profile(rng=0)
    expected = profile["answer"]["score_without_gates"]
    np.testing.assert_allclose(bases["score"].sel(algorithm=list(expected)), list(expected.values()), rtol=1e-9)
    answer = intervals["answer"]
    for name, limits in answer["random_ci"].items():
        made = exact["score_ci"].sel(algorithm=name, task_effect="random")
        np.testing.assert_allclose(made, limits, rtol=1e-9, atol=1e-12)
    for name, limits in answer["fixed_ci_mc"].items():
        np.testing.assert_allclose(
            exact["score_ci"].sel(algorithm=name, task_effect="fixed"),
            limits,
            atol=0.02,
        )
    first, second = answer["difference"]["pair"]
    pair = exact.sel(pair=f"{second} - {first}" if f"{second} - {first}" in exact.pair else f"{first} - {second}")
    sign = 1 if pair["algorithm_a"].item() == first else -1
    np.testing.assert_allclose(sign * pair["difference"], answer["difference"]["estimate"], rtol=1e-9)
    found = sorted(sign * pair["difference_ci"].sel(task_effect="random").values)
    np.testing.assert_allclose(found, answer["difference"]["ci"], rtol=1e-9)
    np.testing.assert_allclose(pair["pvalue"], answer["difference"]["pvalue"], rtol=1e-9)
