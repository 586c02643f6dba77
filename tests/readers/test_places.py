"""Lists without steps: the place of a value is its step, in histories of one run and nowhere else."""

import json

import pandas as pd
import pytest

from xcurves import readers

LOSSES = {"loss": [0.9, 0.5, 0.2], "val_loss": [1.0, 0.7, 0.6]}


def _as_csv(frame):
    return frame.to_csv(index=False)


FORMS = {
    "history.json": lambda frame: json.dumps(frame.to_dict("list")),
    "records.json": lambda frame: frame.to_json(orient="records"),
    "split.json": lambda frame: frame.to_json(orient="split"),
    "columns.json": lambda frame: frame.to_json(),
    "lines.jsonl": lambda frame: frame.to_json(orient="records", lines=True),
    "log.csv": _as_csv,
    "log.tsv": lambda frame: frame.to_csv(index=False, sep="\t"),
}


@pytest.mark.plain(4)
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("columns", [["loss"], ["loss", "val_loss"]])
def test_the_place_in_a_list_is_its_step(tmp_path, name, columns):
    if columns == ["loss"] and name.startswith("log."):
        columns = ["loss", "fps"]
    frame = pd.DataFrame(LOSSES | {"fps": [7.0, 8.0, 9.0]})[columns]
    for run in range(2):
        file = tmp_path / "cnn" / str(run) / name
        file.parent.mkdir(parents=True)
        file.write_text(FORMS[name](frame))
    read = readers.read(tmp_path)
    assert read["step"].tolist() == [1, 2, 3] * 2
    assert "step is the place of a row" in read.attrs["named_by"]
    curves = read.curves.to_dataarray("loss", training="step")
    assert curves.squeeze("algorithm").values.tolist() == [LOSSES["loss"]] * 2


@pytest.mark.parametrize(
    "extra",
    [{"epoch": [0, 1, 2]}, {"wall_time": [1.0, 2, 3]}, {"task": ["a", "b", "c"]}],
)
def test_rows_with_a_step_a_clock_or_labels_have_no_places(tmp_path, extra):
    file = tmp_path / "cnn" / "0" / "history.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(LOSSES | extra))
    assert "step" not in readers.read(tmp_path)


def test_rows_of_a_table_for_each_algorithm_may_be_runs(tmp_path):
    for name in ("cnn", "mlp"):
        (tmp_path / f"{name}.csv").write_text("score,loss\n1,2\n3,4\n")
    assert "step" not in readers.read(tmp_path, names="{algorithm}.csv")
