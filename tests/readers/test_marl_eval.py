"""A file that the JsonLogger of marl-eval wrote."""

import json
from pathlib import Path

from refusals import refused
from xcurves import readers

LOGS = Path(__file__).parent / "logs" / "id-marl-eval"
FILE = LOGS / "metrics.json"
NAMES = {"training": "step", "extra": ["env", "task"], "duplicates": "mean"}


def test_every_measurement_finds_its_place():
    frame = readers.read(FILE, source="marl-eval")
    runs = json.loads(FILE.read_text())["smac"]["3s5z"]
    for metric in ("return", "win_rate"):
        curves = frame.curves.to_dataarray(metric, **NAMES)
        for algorithm, seeds in runs.items():
            for seed, steps in seeds.items():
                own = {step["step_count"]: step[metric][0] for name, step in steps.items() if name.startswith("step_")}
                mine = curves.sel(env="smac", task="3s5z", algorithm=algorithm, run=seed)
                assert dict(zip(mine.training.values, mine.values, strict=True)) == own
    assert curves.sizes == {
        "env": 1,
        "task": 1,
        "algorithm": 2,
        "run": 2,
        "training": 3,
    }


def test_a_folder_of_files_is_one_experiment_and_a_run_in_two_of_them_is_refused(
    tmp_path,
):
    for i, seed in enumerate(["seed_0", "seed_1"]):
        steps = {"step_0": {"step_count": 0, "return": [1.0, 2.0]}}
        (tmp_path / f"{i}.json").write_text(json.dumps({"e": {"t": {"a": {seed: steps}}}}))
    assert readers.read(tmp_path, source="marl-eval")["run"].tolist() == [
        "seed_0",
        "seed_0",
        "seed_1",
        "seed_1",
    ]
    (tmp_path / "2.json").write_text((tmp_path / "1.json").read_text())
    with refused("path", cure="Remove one of them", names=r"2\.json and .*1\.json both.*Remove one of them"):
        readers.read(tmp_path, source="marl-eval")


def test_metrics_of_unlike_length_are_refused(tmp_path):
    path = tmp_path / "metrics.json"
    path.write_text('{"e": {"t": {"a": {"s": {"step_0": {"step_count": 0, "x": [1], "y": [1, 2]}}}}}}')
    with refused("path", cure="Correct it", names=r"e / t /.*{'x': 1, 'y': 2}"):
        readers.read(path, source="marl-eval")
