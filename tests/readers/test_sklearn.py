"""What scikit-learn itself returns, read back."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest

import xcurves
from refusals import refused
from xcurves import readers
from xcurves.readers import sklearn as reader

sklearn = pytest.importorskip("sklearn")
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    LearningCurveDisplay,
    RandomizedSearchCV,
    ShuffleSplit,
    cross_validate,
    learning_curve,
)
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

ESTIMATORS = {"tree": DecisionTreeClassifier(random_state=0), "bayes": GaussianNB()}
FOLDS = ShuffleSplit(n_splits=4, test_size=0.3, random_state=0)


@pytest.fixture(scope="module")
def data():
    return make_classification(120, random_state=0)


@pytest.mark.parametrize("return_times", [False, True])
def test_learning_curves_keep_every_score_in_its_place(data, return_times):
    results = {
        name: learning_curve(
            estimator,
            *data,
            cv=FOLDS,
            train_sizes=[0.2, 0.5, 1.0],
            return_times=return_times,
        )
        for name, estimator in ESTIMATORS.items()
    }
    frame = reader.learning_curve(results)
    curves = frame.curves.to_dataset(["test_score", "train_score"], training="train_size")
    for name, (sizes, train, test, *_) in results.items():
        np.testing.assert_array_equal(curves.training, sizes)
        np.testing.assert_array_equal(curves.test_score.sel(algorithm=name), test.T)
        np.testing.assert_array_equal(curves.train_score.sel(algorithm=name), train.T)
    assert curves.training.attrs["units"] == "samples"
    assert curves.test_score.attrs["source"] == "scikit-learn learning_curve"
    if return_times:
        times = frame.curves.to_dataarray("fit_time", training="train_size")
        np.testing.assert_array_equal(times.sel(algorithm="tree"), results["tree"][3].T)
        assert times.attrs["units"] == "s"
    xcurves.randomized_anova(curves.test_score, paired=True, confidence_level=0.5)


def test_a_display_gives_what_its_curve_gives(data):
    pytest.importorskip("matplotlib")
    options = {"cv": FOLDS, "train_sizes": [0.5, 1.0]}
    display = LearningCurveDisplay.from_estimator(ESTIMATORS["tree"], *data, **options)
    result = learning_curve(ESTIMATORS["tree"], *data, **options)
    shown, returned = (reader.learning_curve({"tree": each}) for each in (display, result))
    assert shown.equals(returned)


def test_folds_that_failed_are_gaps(data):
    class Fussy(GaussianNB):
        def fit(self, X, y):
            if len(X) < 20:
                raise ValueError("too few")
            return super().fit(X, y)

    with warnings.catch_warnings():
        # newer versions say how many fits failed
        warnings.simplefilter("ignore", RuntimeWarning)
        result = learning_curve(Fussy(), *data, cv=FOLDS, train_sizes=[10, 40], error_score=np.nan)
    frame = reader.learning_curve({"fussy": result})
    assert frame.test_score.isna().tolist() == [True] * 4 + [False] * 4


def test_folds_of_a_cross_validation_are_trials(data):
    results = {
        name: cross_validate(
            estimator,
            *data,
            cv=FOLDS,
            scoring=["accuracy", "recall"],
            return_train_score=True,
            return_estimator=True,
            return_indices=True,
        )
        for name, estimator in ESTIMATORS.items()
    }
    frame = reader.cross_validate(results)
    assert set(frame) == {
        *("algorithm", "fold", "fit_time", "score_time"),
        *("test_accuracy", "test_recall", "train_accuracy", "train_recall"),
    }
    scores = frame.curves.to_dataarray("test_recall", training=None)
    assert scores.dims == ("algorithm", "run")
    assert scores["run"].attrs["matched"] == "fold"
    np.testing.assert_array_equal(scores.sel(algorithm="bayes"), results["bayes"]["test_recall"])
    assert frame.attrs["units"] == {"fit_time": "s", "score_time": "s"}


@pytest.mark.parametrize("given", ["search", "cv_results_"])
def test_settings_of_a_search_are_trials(data, given):
    grid = GridSearchCV(ESTIMATORS["tree"], {"max_depth": [1, 2, None]}, cv=3).fit(*data)
    random = RandomizedSearchCV(ESTIMATORS["bayes"], {"var_smoothing": [1e-9, 1e-6]}, n_iter=2, cv=3).fit(*data)
    searches = {"tree": grid, "bayes": random}
    frame = reader.search({name: each if given == "search" else each.cv_results_ for name, each in searches.items()})
    scores = frame.curves.to_dataarray("mean_test_score", training=None)
    np.testing.assert_array_equal(scores.sel(algorithm="tree"), grid.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(
        scores.sel(algorithm="bayes").dropna("run"),
        random.cv_results_["mean_test_score"],
    )
    assert {"param_max_depth", "param_var_smoothing", "split0_test_score"} <= set(frame)


class Limited(DecisionTreeClassifier):
    """Fails with deep trees, and with two levels on some folds only."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth > 3 or (self.max_depth == 2 and y[0] == 0):
            raise ValueError("too deep")
        return super().fit(X, y, sample_weight, check_input)


SCORERS = {"accuracy": "accuracy", "brier": "neg_brier_score"}


@pytest.mark.plain(2)
@pytest.mark.parametrize("scoring", [None, "neg_brier_score", SCORERS])
@pytest.mark.parametrize("kind", ["grid", "random"])
def test_a_setting_that_failed_is_a_failed_trial(data, kind, scoring):
    """Of six settings four fail: the best of one is a failure by its median, not the best of two."""
    settings = {"max_depth": [1, 2, 3, 4, 5, 6]}
    options = {"cv": FOLDS, "scoring": scoring, "error_score": np.nan, "refit": False}
    learner = Limited(max_depth=1, random_state=0)
    if kind == "grid":
        search = GridSearchCV(learner, settings, **options)
    else:
        search = RandomizedSearchCV(learner, settings, n_iter=6, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how many fits failed
        search.fit(*data)
    results = search.cv_results_
    column = "mean_test_score"
    if scoring is SCORERS:
        column = "mean_test_brier"
    n_failed = int(np.isnan(results[column]).sum())
    n_fits = sum(
        np.isnan(results[name]).sum()
        for name in results
        if name.startswith("split") and name.endswith(column.removeprefix("mean"))
    )
    assert 3 <= n_failed < 6
    assert n_fits >= 3 * FOLDS.n_splits

    with pytest.warns(UserWarning, match=rf"'tree'\]: {n_failed} of 6 settings failed"):
        frame = reader.search({"tree": search})
    assert (frame[column] == -np.inf).tolist() == np.isnan(results[column]).tolist()
    splits = [name for name in frame if name.startswith("split")]
    splits = [name for name in splits if name.endswith(column.removeprefix("mean"))]
    assert (frame[splits] == -np.inf).sum().sum() == n_fits
    scores = frame.curves.to_dataarray(column, training=None)
    curve = scores.curves.tuning_curve()
    assert curve.n_trials.item() == 6
    # the median of the best of k among six trials, by enumeration of all draws
    for k in (1, 2):
        best = sorted(max(draw) for draw in itertools.product(frame[column], repeat=k))
        expected = best[math.ceil(len(best) / 2) - 1]
        assert curve.best_median.sel(trials=k).item() == expected
    # the way to leave them out
    kept = frame[frame[column] > -np.inf].curves.to_dataarray(column, training=None)
    assert kept.curves.tuning_curve().n_trials.item() == 6 - n_failed


def test_a_fold_that_failed_is_a_failed_trial(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cross_validate(Limited(max_depth=2), *data, cv=FOLDS, error_score=np.nan)
    failed = np.isnan(result["test_score"])
    assert failed.any()
    with pytest.warns(UserWarning, match=rf"{failed.sum()} of 4 folds failed"):
        frame = reader.cross_validate({"tree": result})
    assert (frame["test_score"] == -np.inf).tolist() == failed.tolist()


def test_a_result_without_a_name_is_refused(data):
    result = learning_curve(ESTIMATORS["bayes"], *data, cv=3)
    with refused("results", "tuple", cure="Name it: {'svm': result}", kind=xcurves.WrongType):
        reader.learning_curve(result)
    with refused("results", "ndarray", kind=xcurves.WrongType):
        reader.learning_curve({"bayes": result[1]})


@pytest.mark.parametrize("place", [1, 2, 4])
def test_an_array_that_was_transposed_is_refused(place):
    result = [np.array([10, 20]), *(np.ones((2, 3)) for _ in range(4))]
    reader.learning_curve({"bayes": tuple(result)})
    result[place] = result[place].T
    with refused("results", "(3, 2)", cure="Pass what learning_curve returned as it is"):
        reader.learning_curve({"bayes": tuple(result)})


@pytest.mark.slow
def test_fits_that_failed_are_failures_in_a_table_too(tmp_path, data):
    """A table of cross_validate or of a search says NaN where a fit failed; both ways give the worst score there is."""
    options = {"cv": FOLDS, "error_score": np.nan}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how many fits failed
        depths = {"shallow": 1, "deep": 2}
        folds = {
            name: cross_validate(Limited(max_depth=depth, random_state=0), *data, **options)
            for name, depth in depths.items()
        }
        search = GridSearchCV(Limited(random_state=0), {"max_depth": [1, 2, 4]}, refit=False, **options).fit(*data)
    assert np.isnan(folds["deep"]["test_score"]).any()
    for name, result in folds.items():
        write(pd.DataFrame(result), tmp_path / "folds" / f"{name}.csv")
    write(pd.DataFrame(search.cv_results_), tmp_path / "search" / "cv_results.csv")

    with pytest.warns(UserWarning, match="folds failed"):
        by_python = reader.cross_validate(folds).curves.to_dataarray("test_score", training=None)
    with pytest.warns(UserWarning, match="folds failed"):
        by_table = readers.read(tmp_path / "folds").curves.to_dataarray("test_score")
    np.testing.assert_array_equal(by_table.squeeze(), by_python)
    assert (by_table.sel(algorithm="deep") == -np.inf).sum() == np.isnan(folds["deep"]["test_score"]).sum()

    with pytest.warns(UserWarning, match="settings failed"):
        of_settings = readers.read(tmp_path / "search").curves.to_dataarray("test_score")
    of_splits = pd.DataFrame(search.cv_results_).filter(regex=r"split\d_test")
    np.testing.assert_array_equal(of_settings.squeeze(), of_splits.fillna(-np.inf))


def write(table, path):
    path.parent.mkdir(exist_ok=True)
    table.to_csv(path)
