"""Logs that the Monitor of Stable-Baselines3 wrote, and what its own reader makes of them."""

import importlib.util
import json
import time
from pathlib import Path

import numpy as np
import pytest

import labelled
from refusals import refused
from xcurves import readers
from xcurves.core.refusal import give

LOGS = Path(__file__).parent / "logs" / "stable-baselines3"


@pytest.fixture(scope="module")
def sb3():
    """The module of the real Monitor. It needs no torch, but the package around it does."""
    pytest.importorskip("gymnasium", reason="Stable-Baselines3's Monitor needs gymnasium")
    package = importlib.util.find_spec("stable_baselines3")
    if package is None:
        pytest.skip("needs stable-baselines3")
    path = Path(package.origin).parent / "common" / "monitor.py"
    spec = importlib.util.spec_from_file_location("sb3_monitor", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def walk(seed):
    """Return an environment whose episodes have random length and reward."""
    import gymnasium

    class Walk(gymnasium.Env):
        observation_space = action_space = gymnasium.spaces.Discrete(2)
        rng = np.random.default_rng(seed)
        spec = gymnasium.envs.registration.EnvSpec("Walk-v0", entry_point=None)

        def reset(self, *, seed=None, options=None):
            self.left = int(self.rng.integers(1, 9))
            return 0, {}

        def step(self, action):
            self.left -= 1
            return (
                0,
                self.rng.normal(),
                self.left == 0,
                False,
                {"won": int(self.left % 2)},
            )

    return Walk()


def play(env, n_episodes):
    for _ in range(n_episodes):
        env.reset()
        while not env.step(0)[2]:
            pass
    env.close()


@pytest.fixture
def logs(sb3, tmp_path):
    for algorithm, seed in [("sac", 2), ("sac", 10), ("td3", 2)]:
        folder = tmp_path / algorithm / str(seed)
        play(
            sb3.Monitor(walk(seed), str(folder / "monitor.csv"), info_keywords=("won",)),
            20 + seed,
        )
    return tmp_path


def test_every_episode_is_that_of_the_package_s_own_reader(sb3, logs):
    frame = labelled.read(logs, source="monitor")
    assert list(frame)[:7] == [
        "algorithm",
        "run",
        "env",
        "episode",
        "step",
        "return",
        "episode_length",
    ]
    assert frame.run.unique().tolist() == [10, 2]
    assert set(frame.env) == {"Walk-v0"}
    for (algorithm, run), rows in frame.groupby(["algorithm", "run"]):
        own = sb3.load_results(str(logs / algorithm / str(run)))
        np.testing.assert_array_equal(rows["return"], own["r"])
        np.testing.assert_array_equal(rows["step"], own["l"].cumsum())
        np.testing.assert_allclose(rows["time"], own["t"], atol=1e-6)
        np.testing.assert_array_equal(rows["won"], own["won"])
        assert rows.episode.tolist() == list(range(1, 21 + run))


def test_units_and_provenance_reach_the_curves(logs):
    frame = labelled.read(logs, source="monitor")
    curves = frame.curves.to_dataarray("return", training="step", on=[10, 20, 30, 40], method="mean")
    assert curves.training.attrs == {"units": "steps", "long_name": "environment steps"}
    assert curves.attrs["long_name"] == "episode return"
    assert curves.attrs["source"] == f"Stable-Baselines3 Monitor logs below {logs.name}"
    rows = frame[(frame.algorithm == "td3") & (frame.step > 10) & (frame.step <= 20)]
    np.testing.assert_allclose(curves.sel(algorithm="td3", run=2, training=20), rows["return"].mean())


def test_parallel_environments_are_one_run_in_the_order_of_time(sb3, tmp_path):
    envs = [sb3.Monitor(walk(seed), str(tmp_path / "ppo" / "0" / str(seed))) for seed in range(3)]
    for _ in range(5):
        for env in envs:
            env.reset()
            while not env.step(0)[2]:
                pass
            # the package's own reader does not say what comes first at one time
            time.sleep(0.001)
    for env in envs:
        env.close()
    frame, own = (
        labelled.read(tmp_path, source="monitor"),
        sb3.load_results(str(tmp_path / "ppo" / "0")),
    )
    assert len(frame) == 15
    np.testing.assert_array_equal(frame["return"], own["r"])
    np.testing.assert_array_equal(frame["step"], own["l"].cumsum())


def test_a_run_without_an_episode_is_left_out_and_said(sb3, logs):
    sb3.Monitor(walk(0), str(logs / "td3" / "3" / "monitor.csv")).close()
    with pytest.warns(UserWarning, match=r"td3/3 has no rows and is left out"):
        assert set(labelled.read(logs, source="monitor").run) == {2, 10}


@pytest.mark.parametrize(
    ("text", "reason", "cure"),
    [
        ("", "its first line must be a JSON header with t_start; got ''", "Remove it"),
        ("r,l,t\n1,2,3\n", "its first line must be a JSON header with t_start; got 'r,l,t'", "Remove it"),
        ("#[1]\nr,l,t\n1,2,3\n", "must be a JSON header", "Remove it"),
        (json.dumps({"t_start": 0}) + "\nr,l\n1,2\n", "no Monitor log of columns r, l, t: 't'", "Correct or remove it"),
        ('#{"t_start": 0}\nr,l,t\n1,2,3\n1,oops,3\n', "columns r, l, t: .*oops", "Correct or remove it"),
        ('#{"t_start": 0}\nr,l,t\n1,2,3\n1,,3\n', "columns r, l, t: a row lacks r, l or t", "Correct or remove it"),
        ('#{"t_start": 0}\nr,l,t\n1,2,3\n1,2\n', "line 4, has 2 fields where the header names 3", "Write it again"),
        (
            '#{"t_start": 0}\nr,l,t\n1,2,3,4\n5,6,7\n',
            "line 3 has 4 fields",
            "Correct the file",
        ),
        (
            '#{"t_start": 0}\nr,l,t\n1,2,3\n#{"t_start": 9}\nr,l,t\n1,2,3\n',
            "line 4 is a header again: two logs in one file",
            "Make a file of each",
        ),
        (
            '#{"t_start": 0}\nr,l,t\n1,2,3\nr,l,t\n1,2,3\n',
            "line 4 is the header again",
            "Make a file of each",
        ),
        ('#{"t_start": 0}\nr,l,t,r\n1,2,3,4\n', "has 2 columns 'r'", "Rename all but one"),
    ],
)
def test_a_file_that_is_no_log_is_named(tmp_path, text, reason, cure):
    path = tmp_path / "sac" / "0" / "monitor.csv"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with refused("path", str(path), cure, names=reason):
        labelled.read(tmp_path, source="monitor")


def test_folders_that_do_not_fit_are_said(logs, tmp_path):
    with refused("folders", ["run"], give(names="{algorithm}/{run}/monitor.csv"), names="'sac/10"):
        labelled.read(logs, folders="run", source="monitor")
    with refused("", cure="Name that level of folders otherwise", names="has a column 'run' too"):
        labelled.read(logs, folders=("run", "run"), source="monitor")
    with pytest.raises(FileNotFoundError, match=r"elsewhere' does not exist. Check the path"):
        labelled.read(tmp_path / "elsewhere", source="monitor")
    (tmp_path / "bare").mkdir()
    with pytest.raises(FileNotFoundError, match=r"holds no monitor\.csv. Check the path"):
        labelled.read(tmp_path / "bare", source="monitor")


def test_the_logs_of_a_whole_training_are_read_as_its_files_say():
    frame = labelled.read(LOGS, source="monitor")
    for (algorithm, run), rows in frame.groupby(["algorithm", "run"]):
        header, names, *lines = (LOGS / algorithm / str(run) / "monitor.csv").read_text().splitlines()
        assert names == "r,l,t"
        own = np.array([line.split(",") for line in lines], dtype=float)
        np.testing.assert_array_equal(rows[["return", "episode_length", "time"]], own)
        np.testing.assert_array_equal(rows["step"], own[:, 1].cumsum())
        assert set(rows["env"]) == {json.loads(header[1:])["env_id"]} == {"CartPole-v1"}


def test_bins_with_a_tolerance_keep_the_last_bin():
    frame = labelled.read(LOGS, source="monitor")
    bins = {"training": "step", "on": [128, 256, 384, 512], "method": "mean"}
    without = frame.curves.to_dataarray("return", **bins)
    assert without.sel(training=512).isnull().any()
    tolerance = frame["episode_length"].max()
    assert frame.curves.to_dataarray("return", **bins, tolerance=tolerance).notnull().all()


TABLE = """\
------------------------------------------
| rollout/                |              |
|    ep_rew_mean          | {reward:<12} |
| time/                   |              |
|    fps                  | 812          |
|    total_timesteps      | {step:<12} |
| train/                  |              |
|    approx_kl            | 0.00812      |
------------------------------------------
"""


def test_tables_of_log_txt_have_the_names_of_progress_csv(tmp_path):
    """In the form of HumanOutputFormat in stable_baselines3/common/logger.py."""
    for agent, better in (("a2c", 0), ("ppo", 5)):
        for seed in range(2):
            tables = [TABLE.format(reward=better + seed + step / 1e4, step=step) for step in (2048, 4096)]
            folder = tmp_path / agent / str(seed)
            folder.mkdir(parents=True)
            (folder / "log.txt").write_text("Logging to logs\n" + "".join(tables))
    frame = labelled.read(tmp_path)
    assert readers.recognize(tmp_path).name == "sb3-text"
    one = frame[(frame["algorithm"] == "ppo") & (frame["run"] == 1)]
    assert one["time/total_timesteps"].tolist() == [2048, 4096]
    assert one["rollout/ep_rew_mean"].tolist() == [6.2048, 6.4096]
    assert one["train/approx_kl"].tolist() == [0.00812, 0.00812]
    cut = tmp_path / "ppo" / "1" / "log.txt"
    cut.write_text(cut.read_text()[:-60])
    with pytest.warns(UserWarning, match="the last line is cut short"):
        assert len(labelled.read(tmp_path)) == 7
    (cut.parent / "progress.csv").write_text("time/total_timesteps,x\n1,2\n")
    assert not readers.packages.SB3_TEXT.has(cut)
