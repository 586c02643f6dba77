"""States that the Trainer of Transformers saved while a line was fitted."""

import json
from pathlib import Path

import pytest

from xcurves import readers

LOGS = Path(__file__).parent / "logs" / "transformers"
RUNS = sorted({path.parents[1] for path in LOGS.rglob("trainer_state.json")})


def last_state(run):
    return json.loads((run / "checkpoint-16" / "trainer_state.json").read_text())


@pytest.mark.parametrize("metric", ["loss", "eval_loss"])
def test_the_last_checkpoint_of_each_run_gives_the_whole_history(metric):
    frame = readers.read(LOGS, source="huggingface")
    curves = frame.curves.to_dataarray(metric, training="step")
    assert len(RUNS) == 4
    for run in RUNS:
        own = {row["step"]: row[metric] for row in last_state(run)["log_history"] if metric in row}
        mine = curves.sel(algorithm=run.parent.name, run=int(run.name)).dropna("training")
        assert dict(zip(mine.training.values, mine.values, strict=True)) == own


def test_totals_at_the_end_are_no_curve(tmp_path):
    rows = [
        {"step": 1, "epoch": 1.0, "loss": 2.0},
        {"step": 1, "epoch": 1.0, "train_runtime": 3.0, "train_loss": 2.0},
    ]
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps({"global_step": 1, "log_history": rows}))
    assert readers.read(path, source="huggingface").to_dict("records") == [rows[0]]
