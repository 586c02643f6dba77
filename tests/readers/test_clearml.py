"""Scalars that ClearML's Task.get_reported_scalars() returned, written as JSON: x is the step."""

import json

import labelled
from refusals import refused

# The form of its documentation: {"title": {"series": {"x": [0, 1, 2], "y": [10, 11, 12]}}}.
SCALARS = {
    "accuracy": {
        "train": {"name": "train", "x": [10, 20, 30], "y": [0.5, 0.6, 0.7]},
        "val": {"name": "val", "x": [20], "y": [0.55]},
    },
    "loss": {"train": {"name": "train", "x": [10, 20], "y": [2.5, 1.5]}},
}


def test_x_is_the_step_and_a_series_a_column(tmp_path):
    for algorithm in ("mlp", "cnn"):
        for seed in range(2):
            folder = tmp_path / algorithm / str(seed)
            folder.mkdir(parents=True)
            (folder / "scalars.json").write_text(json.dumps(SCALARS))
    frame = labelled.read(tmp_path)
    assert frame.attrs["source"].startswith("scalars of ClearML below ")
    assert frame.groupby(["algorithm", "run"]).ngroups == 4
    rows = frame[(frame["algorithm"] == "cnn") & (frame["run"] == 1)]
    for title, group in SCALARS.items():
        for name, points in group.items():
            own = rows[["step", f"{title}/{name}"]].dropna()
            assert own["step"].tolist() == points["x"]
            assert own[f"{title}/{name}"].tolist() == points["y"]


def test_a_step_twice_is_refused(tmp_path):
    said = {"loss": {"train": {"x": [1, 1], "y": [1, 2]}}}
    path = tmp_path / "scalars.json"
    path.write_text(json.dumps(said))
    with refused("path", cure="Remove one of them", names="loss/train twice at one step"):
        labelled.read(path)
