"""Who a run is: from folders, from configurations beside logs, and from what differs between runs."""

import itertools
import json

import pandas as pd
import pytest

import labelled
from refusals import refused
from xcurves import readers
from xcurves.__main__ import main
from xcurves.frames.finder import read_frame


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def runs(root, configs, name="config.json", folders=None):
    """Write a run of three rows in a folder for each configuration."""
    for number, config in enumerate(configs):
        home = root / (folders[number] if folders else f"run-{chr(97 + number)}")
        write(home / "log.csv", "step,loss\n0,3\n1,2\n2,1\n")
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in config.items())
        write(
            home / name,
            text.replace(" = ", ": ") if name.endswith("yaml") else text if name.endswith("toml") else config,
        )


def who(root):
    frame = labelled.read(root)
    names = [name for name in ("task", "algorithm", "run") if name in frame]
    return frame[names].drop_duplicates().to_numpy().tolist(), frame


SWEEP = [
    {"algo": algo, "seed": seed, "env_id": env, "logdir": f"/tmp/{algo}{seed}{env}"}
    for algo, seed, env in itertools.product(["sac", "td3"], [3, 4], ["ant", "hopper"])
]


@pytest.mark.parametrize("name", ["config.json", "args.json", "hparams.yaml", "params.json", "config.toml"])
def test_configurations_say_algorithm_run_and_task(tmp_path, name):
    runs(tmp_path, SWEEP, name)
    frame = labelled.read(tmp_path)
    labels = frame[["task", "algorithm", "run"]].drop_duplicates().to_numpy().tolist()
    assert labels == [[each["env_id"], each["algo"], each["seed"]] for each in SWEEP]
    assert frame.attrs["named_by"] == "run is seed, task is env_id, algorithm is algo"
    assert "config/logdir" in frame


def test_what_is_the_same_in_all_configurations_is_no_column(tmp_path):
    runs(tmp_path, [each | {"gamma": 0.99} for each in SWEEP])
    frame = labelled.read(tmp_path)
    assert "config/logdir" in frame
    assert not [name for name in frame if "gamma" in name]


def test_without_a_name_the_algorithm_is_what_differs_besides_the_seed(tmp_path):
    sweep = itertools.product([3e-4, 1e-3], ["muon", "adam"], [1, 2])
    settings = [
        {"lr": lr, "opt": {"kind": opt}, "seed": seed, "run_dir": f"{lr}{opt}{seed}"} for lr, opt, seed in sweep
    ]
    runs(tmp_path, settings)
    labels, frame = who(tmp_path)
    assert labels[0] == ["lr=0.0003, kind=muon", 1]
    assert len({label[0] for label in labels}) == 4
    assert frame.attrs["named_by"] == "run is seed, algorithm is lr, opt/kind"
    assert set(frame["config/lr"]) == {3e-4, 1e-3}


def test_two_runs_of_one_seed_are_named_by_their_folders(tmp_path):
    runs(tmp_path, [{"algo": algo, "seed": 0} for algo in ("a", "a", "b", "b")])
    assert who(tmp_path)[0] == [
        ["a", "run-a"],
        ["a", "run-b"],
        ["b", "run-c"],
        ["b", "run-d"],
    ]


@pytest.mark.parametrize(
    ("folders", "labels"),
    [
        (["a/0", "a/1", "b/0"], [["a", 0], ["a", 1], ["b", 0]]),
        (
            ["ant/a/0", "ant/b/0", "hop/a/0"],
            [["ant", "a", 0], ["ant", "b", 0], ["hop", "a", 0]],
        ),
        (
            ["x/ant/a/0", "x/ant/b/0", "x/hop/a/0"],
            [["ant", "a", 0], ["ant", "b", 0], ["hop", "a", 0]],
        ),
        (["a/0/logs", "a/1/logs", "b/0/logs"], [["a", 0], ["a", 1], ["b", 0]]),
        (["a_seed0", "a_seed1", "b_seed0"], [["a", 0], ["a", 1], ["b", 0]]),
        (["ppo-0", "ppo2-0", "ppo2-1"], [["ppo", 0], ["ppo2", 0], ["ppo2", 1]]),
    ],
)
def test_folders_say_who_a_run_is(tmp_path, folders, labels):
    runs(tmp_path, [{}] * len(folders), folders=folders)
    assert who(tmp_path)[0] == labels


def test_names_of_which_no_two_share_a_word_are_no_algorithms(tmp_path):
    runs(tmp_path, [{}] * 3, folders=["golden-sun-1", "dry-leaf-2", "calm-sea-3"])
    with refused(
        "path",
        cure="Put the runs of each algorithm in a folder, or beside each",
        names="'calm-sea-3' is the name of a run",
    ):
        labelled.read(tmp_path)


def test_the_files_of_one_folder_are_runs_where_their_names_say_so(tmp_path):
    for name in ("a_seed0", "a_seed1", "b_seed0"):
        write(
            tmp_path / f"{name}.jsonl",
            '{"step": 0, "loss": 3}\n{"step": 1, "loss": 2}\n',
        )
    assert who(tmp_path)[0] == [["a", 0], ["a", 1], ["b", 0]]


def test_a_configuration_cannot_harm(tmp_path):
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nseed: *b\n"
    for number, text in enumerate([bomb, "!!python/object/apply:os.system ['touch hacked']", "{", "\x00"]):
        write(tmp_path / "a" / str(number) / "log.csv", "step,loss\n0,3\n1,2\n")
        write(tmp_path / "a" / str(number) / "config.yaml", text)
    assert who(tmp_path)[0] == [["a", number] for number in range(4)]


def test_beside_a_configuration_that_cannot_be_read_another_is(tmp_path):
    runs(tmp_path, SWEEP, "params.json")
    for home in tmp_path.iterdir():
        write(home / "config.json", "{")
    assert [each[:2] for each in who(tmp_path)[0]] == [[each["env_id"], each["algo"]] for each in SWEEP]


def test_the_same_part_twice_in_a_pattern_is_equal_text(tmp_path):
    for name in ("ant/PPO_ant_log_0", "ant/PPO_hop_log_1"):
        write(tmp_path / f"{name}.csv", "step,loss\n0,3\n1,2\n")
    with pytest.warns(UserWarning, match="1 logs do not match"):
        frame = labelled.read(tmp_path, names="{task}/{algorithm}_{task}_log_{run}.csv")
    assert frame[["task", "algorithm", "run"]].drop_duplicates().to_numpy().tolist() == [["ant", "PPO", 0]]


@pytest.mark.slow
def test_configurations_of_weights_and_biases_have_their_values(tmp_path, capsys):
    for number, (lr, seed) in enumerate(itertools.product([1e-3, 1e-2], [1, 2])):
        home = tmp_path / f"run-20260101_10101{number}-ab{number}" / "files"
        write(
            home / "history.jsonl",
            "".join(f'{{"_step": {step}, "loss": {lr + step}}}\n' for step in range(3)),
        )
        write(home / "wandb-summary.json", {"loss": 1.0, "_step": 2})
        config = "_wandb:\n  value:\n    cli_version: 0.16\nlr:\n  desc: null\n  value: {}\nseed:\n  value: {}\n"
        write(home / "config.yaml", config.format(lr, seed))
    assert main([str(tmp_path), "--n-resamples", "9", "--output", str(tmp_path / "out.nc")]) == 0
    assert "\nRuns: run is seed, algorithm is lr" in capsys.readouterr().out
    labels, frame = who(tmp_path)
    assert labels == [["lr=0.001", 1], ["lr=0.001", 2], ["lr=0.01", 1], ["lr=0.01", 2]]
    assert frame.attrs["named_by"] == "run is seed, algorithm is lr"


def test_a_frame_of_logs_says_where_runs_lie_and_curves_who_they_are(tmp_path):
    for place in ("a/0", "a/1", "b/0", "b/1"):
        write(tmp_path / place / "log.csv", f"step,loss\n0,{len(place)}.5\n1,{place[-1]}.25\n")
    frame = readers.read(tmp_path)
    assert list(frame) == ["run_path", "step", "loss"]
    assert frame["run_path"].unique().tolist() == ["a/0", "a/1", "b/0", "b/1"]
    assert frame.curves.to_dataarray().sizes == {"algorithm": 2, "run": 2, "training": 2}
    of_one = frame[frame["run_path"].str.startswith("a")].curves.to_dataarray()
    assert of_one["algorithm"].item() == "a"
    by_path = frame.curves.to_dataarray(run="run_path", algorithm=None)
    assert by_path["run"].to_numpy().tolist() == ["a/0", "a/1", "b/0", "b/1"]


@pytest.mark.parametrize("places", ["", "no JSON", "{}", "[]", None, 5])
def test_places_that_say_nothing_change_no_reading(tmp_path, places):
    runs(tmp_path, [{"algo": algo, "seed": seed} for algo in "ab" for seed in (0, 1)])
    frame = readers.read(tmp_path)
    frame.attrs["xcurves"] = frame.attrs["xcurves"] | {"places": places}
    assert frame.curves.to_dataarray()["algorithm"].attrs["long_name"] == "config/algo"


def test_paths_without_their_source_are_runs_and_no_algorithms(tmp_path):
    for place in ("a/0", "a/1", "b/0", "b/1"):
        write(tmp_path / place / "log.csv", f"step,loss\n0,{len(place)}.5\n1,{place[-1]}.25\n")
    frame = readers.read(tmp_path)
    frame.attrs = {}  # as after a merge of pandas
    with refused("frame", cure="Add one", names="no column could be the algorithm"):
        frame.curves.to_dataarray()
    assert frame.curves.to_dataarray(algorithm=None).sizes == {"run": 4, "training": 2}


def test_paths_that_the_source_does_not_know_are_labels_like_others(tmp_path):
    runs(tmp_path, [{"algo": algo, "seed": seed} for algo in "ab" for seed in (0, 1)])
    frame = readers.read(tmp_path)
    changed = frame.assign(run_path=frame["run_path"] + "!")
    changed.attrs = frame.attrs
    assert changed.curves.to_dataarray(run="run_path", algorithm=None).sizes["run"] == 4
    assert changed.curves.to_dataarray()["algorithm"].attrs["long_name"] == "config/algo"


def test_a_log_beside_folders_of_runs_is_named_and_most_runs_are_read(tmp_path):
    for place in ("a/0", "a/1", "b/0", "b/1"):
        write(tmp_path / place / "log.csv", "step,loss\n0,3\n1,2\n")
    write(tmp_path / "summary.csv", "algo,mean\na,2\nb,2\n")
    with refused("path", names=r"'summary\.csv' do not say algorithm and run") as caught:
        labelled.read(tmp_path)
    names = dict(caught.value.cure.calls[0].options)["names"]
    assert names == "{algorithm}/{run}/log.csv"
    with pytest.warns(UserWarning, match=r"1 logs do not match and are left out, such as 'summary\.csv'"):
        frame = labelled.read(tmp_path, names=names)
    assert len(frame) == 8


@pytest.mark.parametrize("names", [["run_0", "run_1", "run_2"], ["exp 1", "exp 2", "exp 3"], ["trial-1", "trial-2"]])
def test_names_of_runs_of_one_algorithm_in_a_column_are_not_cut(names):
    read = read_frame(pd.DataFrame({"run_name": names, "acc": [0.1 * number for number in range(len(names))]}))
    assert (read.algorithm, read.run, read.made) == (None, "run_name", ())


def test_names_of_runs_of_two_algorithms_in_a_column_are_cut():
    names = [f"{name}_{number}" for name in ("sac", "td3") for number in (1, 2)]
    read = read_frame(pd.DataFrame({"run_name": names, "acc": [0.1, 0.2, 0.3, 0.45]}))
    assert read.frame[["algorithm", "run"]].to_numpy().tolist() == [["sac", 1], ["sac", 2], ["td3", 1], ["td3", 2]]
    assert read.made == ("run_name sac_1 is algorithm sac, run 1",)
