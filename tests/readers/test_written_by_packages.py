"""Files that other packages write themselves are read as these packages hold the numbers."""

import contextlib
import io
import json

import numpy as np
import pandas as pd
import pytest

from xcurves import readers
from xcurves.readers.formats import read_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)


def test_lightgbm(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(X, Y)
    evals: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        lightgbm.train(
            {"objective": "binary", "verbose": 1, "metric": ["binary_logloss", "auc"]},
            data,
            num_boost_round=5,
            valid_sets=[lightgbm.Dataset(X, Y, reference=data)],
            callbacks=[lightgbm.record_evaluation(evals), lightgbm.log_evaluation(1)],
        )
    (tmp_path / "evals.json").write_text(json.dumps(evals))
    rows = read_rows(tmp_path / "evals.json").rows
    for metric, values in evals["valid_0"].items():
        assert rows[f"valid_0/{metric}"].tolist() == values
    (tmp_path / "out.log").write_text(printed.getvalue())
    text = readers.read(tmp_path / "out.log")
    assert text["iteration"].tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(text["valid_0's auc"], evals["valid_0"]["auc"], rtol=1e-5)


def test_xgboost(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(X, Y)
    evals: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        options = {"objective": "binary:logistic", "eval_metric": ["logloss", "auc"]}
        xgboost.train(
            options,
            data,
            5,
            evals=[(data, "validation_0")],
            evals_result=evals,
            verbose_eval=True,
        )
    (tmp_path / "evals_result.json").write_text(json.dumps(evals))
    rows = read_rows(tmp_path / "evals_result.json").rows
    assert rows["validation_0/auc"].tolist() == evals["validation_0"]["auc"]
    (tmp_path / "out.log").write_text(printed.getvalue())
    text = readers.read(tmp_path / "out.log")
    assert text["iteration"].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(text["validation_0-logloss"], evals["validation_0"]["logloss"], rtol=1e-4)


def test_catboost(tmp_path):
    catboost = pytest.importorskip("catboost")
    printed = io.StringIO()
    for algorithm, depth in (("flat", 1), ("deep", 4)):
        for seed in range(2):
            (tmp_path / algorithm).mkdir(exist_ok=True)
            model = catboost.CatBoostClassifier(
                iterations=5,
                depth=depth,
                random_seed=seed,
                train_dir=str(tmp_path / algorithm / str(seed)),
                thread_count=1,
            )
            model.fit(X, Y, eval_set=(X, Y), log_cout=printed, log_cerr=printed)
            last = model.get_evals_result()
    frame = readers.read(tmp_path)
    assert frame.attrs["source"].startswith("CatBoost errors below ")
    own = frame.query("algorithm == 'deep' and run == 1")
    (metric,) = set(last["validation"]) & set(own)
    np.testing.assert_allclose(own[metric], last["validation"][metric], rtol=1e-6)


@pytest.mark.slow
def test_scikit_learn_s_search(tmp_path):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    found = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=4).fit(X, Y).cv_results_
    pd.DataFrame(found).to_csv(tmp_path / "cv_results.csv", index=False)
    tidy = readers.read(tmp_path / "cv_results.csv").curves.to_dataarray("test_score", training=None)
    wide = readers.read(tmp_path / "cv_results.csv", source="table")
    names = {"algorithm": "param_C", "training": None}
    scores = wide.curves.to_dataarray("accuracy", **names, columns="split{run}_test_score")
    np.testing.assert_array_equal(tidy, scores)
    assert scores.sizes == {"algorithm": 2, "run": 4}
    np.testing.assert_allclose(scores.mean("run"), found["mean_test_score"])
    assert scores.curves.pairwise(n_resamples=99, rng=0)["difference"].notnull().all()


@pytest.mark.parametrize("ending", ["csv", "parquet", "ndjson", "json"])
def test_polars(tmp_path, ending):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    columns = {"algo": ["a", "b"], "seed": [1, 2], "loss": [0.25, 0.5]}
    path = tmp_path / f"log.{ending}"
    getattr(polars.DataFrame(columns), f"write_{ending}")(path)
    pd.testing.assert_frame_equal(readers.read(path), pd.DataFrame(columns))
