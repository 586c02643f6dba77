"""Results of real trials of PPO, tuned over a learning rate and a seed."""

import json
import shutil
from pathlib import Path

import pytest

from xcurves import readers

LOGS = Path(__file__).parent / "logs" / "ray"
TRIALS = sorted(path.parent for path in LOGS.rglob("result.json"))
NAMES = {"algorithm": "config/lr", "run": "config/seed", "training": "step"}


@pytest.fixture
def trial(tmp_path):
    return Path(shutil.copytree(TRIALS[0], tmp_path / TRIALS[0].name))


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
    with pytest.raises(
        ValueError,
        match=r"result\.json is cut short, damaged or no results of a trial: ",
    ):
        readers.read(trial.parent, source="rllib")
    (trial / "result.json").write_text('{"x": 1}\n')
    with pytest.raises(ValueError, match=r"result\.json is no result.*it has no training_iteration"):
        readers.read(trial.parent, source="rllib")
    (trial / "result.json").write_text("")
    with pytest.raises(
        ValueError,
        match=r"its result\.json or progress\.csv beside params\.json have no rows",
    ):
        readers.read(trial.parent, source="rllib")
