"""Metrics that Lightning's CSVLogger wrote while a line was fitted."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from xcurves import readers

LOGS = Path(__file__).parent / "logs" / "lightning"
FILES = sorted(LOGS.rglob("metrics.csv"))


def logged(path, metric):
    """Return what a file says of a metric, by step."""
    with path.open(newline="") as lines:
        return {int(row["step"]): float(row[metric]) for row in csv.DictReader(lines) if row[metric]}


# pandas 2 reads numbers of many digits up to some 1e-13 off; from pandas 3 on they are exact.
ROUNDING = 0 if int(pd.__version__.split(".")[0]) >= 3 else 1e-12


@pytest.mark.parametrize("metric", ["train_loss", "val_loss"])
def test_interleaved_metrics_have_each_their_own_levels(metric):
    curves = readers.read(LOGS, source="lightning").curves.to_dataarray(metric, training="step")
    assert len(FILES) == 4
    for path in FILES:
        mine = curves.sel(algorithm=path.parent.parent.name, run=int(path.parent.name)).dropna("training")
        expected = logged(path, metric)
        assert mine.training.values.tolist() == list(expected)
        np.testing.assert_allclose(mine.values, list(expected.values()), rtol=ROUNDING)


def test_rows_of_one_step_are_one_and_a_metric_logged_twice_stays_twice(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("epoch,step,a,b\n0,5,1.0,\n0,5,,2.0\n1,7,,3.0\n")
    assert readers.read(path, source="lightning").to_numpy().tolist()[0] == [0, 5, 1, 2]
    assert len(readers.read(path, source="lightning")) == 2
    path.write_text("epoch,step,a,b\n0,5,1.0,\n0,5,4.0,2.0\n")
    assert readers.read(path, source="lightning")["a"].tolist() == [1, 4]


def test_a_row_without_a_step_is_kept(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("epoch,step,a,b\n0,5,1.0,\n0,5,,2.0\n1,,4.0,3.0\n")
    rows = readers.read(path, source="lightning")
    assert rows["a"].tolist() == [1, 4]
    assert rows["step"].isna().tolist() == [False, True]


def test_other_files_of_this_name_are_not_taken_for_it(tmp_path):
    (tmp_path / "metrics.csv").write_text("x,y\n1,2\n")
    with pytest.raises(FileNotFoundError, match=r"holds no metrics\.csv of Lightning"):
        readers.read(tmp_path, source="lightning")
