"""Public inputs that were read wrongly: what the shell answers of each; skipped where they are absent."""

from __future__ import annotations

import pytest

from places import SHARED
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
}
REFUSED = {
    "n/two_missing.csv": "lacks fold",
    "o/neg.csv": "negative",
}


@pytest.mark.parametrize("typed", ANSWERS)
def test_what_is_right_is_answered(typed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name, *options = typed.split()
    assert main([str(PLACE / name), *options]) == 0
    assert ANSWERS[typed].lower() in capsys.readouterr().out.lower()


@pytest.mark.parametrize("typed", REFUSED)
def test_what_cannot_be_right_is_refused(typed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([str(PLACE / typed)]) == 2
    assert REFUSED[typed] in capsys.readouterr().err
