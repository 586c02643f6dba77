"""Results of real trials of PPO, tuned over a learning rate and a seed."""

import json
import shutil
from pathlib import Path

import pytest

from refusals import refused
from xcurves import readers
from xcurves.__main__ import main

LOGS = Path(__file__).parent / "logs" / "ray"
TRIALS = sorted(path.parent for path in LOGS.rglob("result.json"))
NAMES = {"algorithm": "config/lr", "run": "config/seed", "training": "step"}


@pytest.fixture
def trial(tmp_path):
    return Path(shutil.copytree(TRIALS[0], tmp_path / TRIALS[0].name))


@pytest.mark.slow
def test_every_result_of_every_trial_is_read():
    frame = readers.read(LOGS, source="rllib")
    assert set(frame["algorithm"]) == {"PPO"}
    assert set(frame["task"]) == {"CartPole-v1"}
    curves = frame.curves.to_dataarray("episode_reward_mean", **NAMES)
    assert len(TRIALS) == 4
    for trial in TRIALS:
        config = json.loads((trial / "params.json").read_text())
        own = [json.loads(line) for line in (trial / "result.json").read_text().splitlines()]
        mine = curves.sel(algorithm=config["lr"], run=config["seed"])
        assert mine.values.tolist() == [result["episode_reward_mean"] for result in own]
        assert mine.training.values.tolist() == [result["timesteps_total"] for result in own]


@pytest.mark.slow
def test_progress_csv_gives_the_same_where_there_is_no_result_json(trial):
    from_json = readers.read(trial.parent, source="rllib")
    (trial / "result.json").unlink()
    from_csv = readers.read(trial.parent, source="rllib")
    for column in (
        "algorithm",
        "task",
        "run",
        "step",
        "episode_reward_mean",
        "timers/sample_time_ms",
        "config/lr",
    ):
        assert from_csv[column].tolist() == from_json[column].tolist()


def test_a_damaged_file_is_named(trial):
    (trial / "result.json").write_text('{"trial_id": \n{}\n')
    with refused(
        "path",
        cure="Copy it again, or remove it",
        names=r"result\.json is cut short, damaged or no results of a trial: ",
    ):
        readers.read(trial.parent, source="rllib")
    (trial / "result.json").write_text('{"x": 1}\n')
    with refused("path", cure="Remove it", names=r"result\.json is no result.*it has no training_iteration"):
        readers.read(trial.parent, source="rllib")
    (trial / "result.json").write_text("")
    with refused(
        "path",
        cure="Check what was logged",
        names=r"its result\.json or progress\.csv beside params\.json have no rows",
    ):
        readers.read(trial.parent, source="rllib")


def trials(path, names, env="CartPole-v1"):
    """Write trials with these folders, each with results of three iterations."""
    for number, name in enumerate(names):
        folder = path / name
        folder.mkdir(parents=True)
        (folder / "params.json").write_text(json.dumps({"env": env, "seed": number}))
        lines = [
            {"trial_id": f"t{number}", "training_iteration": at, "timesteps_total": 100 * at}
            | {"episode_reward_mean": 10 * at + number}
            for at in (1, 2, 3)
        ]
        (folder / "result.json").write_text("".join(json.dumps(line) + "\n" for line in lines))


OF_RAY = [
    f"{algorithm}_CartPole-v1_{'abcdef'[seed]}0f3{seed}_0000{seed}_{seed}_seed={seed}_2024-05-01_10-00-00"
    for algorithm in ("PPO", "IMPALA")
    for seed in range(3)
]


@pytest.mark.plain(1)
@pytest.mark.parametrize("above", ["", "{algorithm}/"])
def test_the_algorithm_is_what_the_name_of_a_trial_begins_with(tmp_path, above, capsys):
    trials(tmp_path / "ray", [above.format(algorithm=name.partition("_")[0]) + name for name in OF_RAY])
    curves = readers.read(tmp_path / "ray").curves.to_dataarray()
    assert set(curves["algorithm"].values) == {"PPO", "IMPALA"}
    assert (curves.notnull().all("training").sum("run") == 3).all()
    assert main([str(tmp_path / "ray"), "--output", str(tmp_path / "a.nc")]) == 0
    assert "IMPALA has the higher mean episode_reward_mean" in capsys.readouterr().out


@pytest.mark.slow
def test_trials_of_other_names_are_split_as_names_of_files_or_as_is_said(tmp_path):
    trials(tmp_path / "ray", [f"{algorithm}_seed{seed}" for algorithm in ("ppo", "impala") for seed in (4, 7)])
    frame = readers.read(tmp_path / "ray")
    assert set(frame["algorithm"]) == {"ppo", "impala"}
    assert set(frame["run"]) == {4, 7}
    trials(tmp_path / "other", [f"{seed}of{algorithm}" for algorithm in ("ppo", "impala") for seed in (4, 7)])
    frame = readers.read(tmp_path / "other", names="{run}of{algorithm}")
    curves = frame.curves.to_dataarray()
    assert set(curves["algorithm"].values) == {"ppo", "impala"}
    assert curves["run"].values.tolist() == [4, 7]
