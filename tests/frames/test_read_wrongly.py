"""Public inputs that were read wrongly: what the shell answers of each; skipped where they are absent."""

from __future__ import annotations

import pandas as pd
import pytest

import labelled
from places import SHARED
from xcurves import readers
from xcurves.__main__ import main

PLACE = SHARED / "data" / "readings"
pytestmark = pytest.mark.skipif(not PLACE.is_dir(), reason="the public inputs are not here")

ANSWERS = {
    "a/logs --value accuracy_top-1": "by 5.8 (2.9 to 8.9; p = .029)",
    "n/shuffled.csv": "on docs like these it is shown to be higher than b, by 11.8",
    "n/two_missing.csv --drop-incomplete": "p = .008)",
    "l/weka.csv": "by 3.4 (1.5 to 9.2; p = .031)",
    "l/mlr3_score.csv": "shown to be lower than classif.rpart, by 0.030 (0.013 to 0.056; p = .008)",
    "l/caret.csv --columns {algorithm}~{value} --value Accuracy": "by 0.017 (0.002 to 0.032) than gbm",
    "q/tb": "by 2.00 (1.70 to 2.30; p = .029)",
    "h/logs": "lower by 0.1",
    "h/logs2/history.json": "by 0.100 (0.070 to 0.130; p = .029)",
    "h/logs2/no_index_csv": "by 0.100 (0.070 to 0.130; p = .029)",
    "j/logs/plain": "by 5.0 (2.0 to 8.0; p = .029)",
    "j/logs/doubled": "by 5.0 (2.0 to 8.0; p = .029)",
    "v/npy": "p = .571)",
    "v/files --names {algorithm}.npz": "p = .571)",
    "v/returns.npz --source array-curves": "p = .571)",
    "t/unequal.csv": "higher by 0.0058",
}
REFUSED = {
    "n/two_missing.csv": "lacks fold",
    "o/neg.csv": "negative",
    "o/grid.csv": "negative",
    "b/tree.csv": "has trials that were stopped on 6 budgets",
    "b/hgs.csv": "budgets",
    "e/units": "the score (learn or test or best)",
    "h/logs2/epochs_again": "their first level",
    "j/logs/with_monitor": "with another 'episode' each",
    "l/caret.csv": "--columns '{algorithm}~{value}' --value Accuracy",
    "v/returns.npz": "second axis",
    "v/three.npz": "second axis",
}
SERIES = {  # of each text log, the columns beside its step
    "catboost": {"learn", "test"},
    "cellpose": {"Loss"},
    "deit": {"train_loss"},
    "dqnjl": {"avgR"},
    "fairseq": {"valid_loss"},
    "fairseq_json": {"valid_loss"},
    "llmc": {"val_loss"},
    "mmdet": {"loss", "val/bbox_mAP"},
    "nanogpt": {"val_loss"},
    "speechbrain": {"valid loss"},
    "xgboost": {"eval-logloss"},
    "yolo5_stdout": {"box_loss", "obj_loss", "cls_loss"},
}


@pytest.mark.plain(1)
@pytest.mark.parametrize("typed", ANSWERS)
def test_what_is_right_is_answered(typed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name, *options = typed.split()
    assert main([str(PLACE / name), *options]) == 0
    assert ANSWERS[typed].lower() in capsys.readouterr().out.lower()


@pytest.mark.plain(4)
@pytest.mark.parametrize("typed", REFUSED)
def test_what_cannot_be_right_is_refused(typed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([str(PLACE / typed)]) == 2
    assert REFUSED[typed] in capsys.readouterr().err


@pytest.mark.plain(4)
@pytest.mark.parametrize("name", SERIES)
def test_each_text_log_is_read(name):
    frame = labelled.read(PLACE / "e" / "logs" / name)
    assert set(frame) >= SERIES[name]


def test_times_of_several_units_are_seconds():
    frame = labelled.read(PLACE / "e" / "units").query("algorithm == 'cpu' and run == 0")
    assert frame["total"].tolist()[:3] == pytest.approx([0.3, 30.3, 60])


@pytest.mark.filterwarnings("ignore:.*few")
def test_trials_of_halving_searches_are_compared_on_one_budget():
    tables = {name: pd.read_csv(PLACE / "b" / f"{name}.csv") for name in ("tree", "svm")}
    trials = readers.sklearn.search(tables)
    first, last = (
        trials[trials["n_resources"] == budget].curves.to_dataarray("mean_test_score", training=None)
        for budget in (25, 800)
    )
    assert first.sizes["run"] == 32
    best = first.curves.tuning_curve()["best_median"].sel(trials=10)
    assert best.sel(algorithm=["tree", "svm"]).to_numpy() == pytest.approx([0.833, 0.792], abs=0.001)
    assert last.sel(algorithm="svm").max() > last.sel(algorithm="tree").max()


@pytest.mark.filterwarnings("ignore:.*few for a bootstrap")
def test_tasks_of_unlike_numbers_of_runs_weigh_alike():
    scores = pd.read_csv(PLACE / "t" / "unequal.csv").curves.to_dataarray("score", training=None)
    found = scores.curves.performance_cdf(
        dim=("task", "run"), strata="task", interval="percentile", n_resamples=19, rng=0
    )
    assert found["score_mean"].to_numpy() == pytest.approx([0.533, 0.527], abs=0.001)
