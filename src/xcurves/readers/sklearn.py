"""What scikit-learn's learning curves, cross-validations and searches return, as tidy frames."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.core.calls import names_options
from xcurves.core.direction import HIGHER
from xcurves.core.names import FOLD
from xcurves.core.refusal import Refusal, Verbatim, Words, WrongType
from xcurves.readers.common_rung import candidates
from xcurves.readers.in_memory import check_named

__all__ = ["cross_validate", "learning_curve", "search"]  # another serves tables of the same

# scores of one fit, or the mean of those of a setting; which fails with any of its fits
_SCORE = re.compile(r"^(?:(?:mean|split\d+)_)?(?P<measure>(?:test|train)_.*)")
_SCORED = re.compile("^(test|train)_|_time$")  # of what cross_validate returns
# in the order of learning_curve
_ARRAYS = ("train_score", "test_score", "fit_time", "score_time")


@names_options
def learning_curve(results: Mapping[str, Any]) -> pd.DataFrame:
    """Turn learning curves of several estimators into a tidy frame.

    Parameters
    ----------
    results : mapping
        From the name of each algorithm to the tuple that ``sklearn.model_selection.learning_curve`` returned, or to a
        ``LearningCurveDisplay``.

    Returns
    -------
    DataFrame
        One row per algorithm, training size and fold: `algorithm`, `fold`, `train_size` (samples), `train_score`,
        `test_score` and, if they were asked for, `fit_time` and `score_time` (s). A fold that failed has no score.
        `to_dataarray` makes runs of folds that are matched over algorithms; if estimators had other folds, say
        ``paired=False`` to `analyze`.

    Raises
    ------
    TypeError, ValueError
        If `results` is no mapping from names to learning curves, or an array has not the shape (sizes, folds).

    Examples
    --------
    >>> import numpy as np
    >>> from xcurves.readers import sklearn
    >>> sizes, train, test = np.array([10, 20]), np.ones((2, 3)), np.array([[0.5, 0.6, 0.7], [0.7, 0.8, 0.9]])
    >>> frame = sklearn.learning_curve({"tree": (sizes, train, test)})
    >>> frame.curves.to_dataarray("test_score", training="train_size").mean("run").to_numpy()
    array([[0.6, 0.8]])
    """
    named = check_named("results", results, "learning curves", "'svm': result")
    return _joined({name: _curve(name, result) for name, result in named.items()}, "learning_curve", FOLD)


@names_options
def cross_validate(results: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Turn cross-validations of several estimators into a tidy frame, one row per fold.

    Parameters
    ----------
    results : mapping
        From the name of each algorithm to the dict that ``sklearn.model_selection.cross_validate`` returned.

    Returns
    -------
    DataFrame
        One row per algorithm and fold: `algorithm`, `fold`, and the scores and times of the dict under their names.
        ``to_dataarray("test_score", training=None)`` makes runs of folds, matched over algorithms. A fold that failed
        (it has no score) has -inf, as its scores are the better the higher.

    Raises
    ------
    TypeError
        If `results` is no mapping from names to dicts.

    Warns
    -----
    UserWarning
        If a fold failed.

    Examples
    --------
    >>> import numpy as np
    >>> from xcurves.readers import sklearn
    >>> sklearn.cross_validate({"tree": {"test_score": np.array([0.5, 0.7])}})
      algorithm  fold  test_score
    0      tree     0         0.5
    1      tree     1         0.7
    """
    frames = {
        name: with_failures(
            f"results[{name!r}]",
            pd.DataFrame({key: column for key, column in result.items() if _SCORED.search(key)}),
            "folds",
        )
        for name, result in check_named("results", results, "dicts of cross_validate", "'svm': result").items()
    }
    return _joined(frames, "cross_validate", FOLD)


@names_options
def search(results: Mapping[str, Any]) -> pd.DataFrame:
    """Turn hyperparameter searches of several estimators into a tidy frame, one row per trial.

    Parameters
    ----------
    results : mapping
        From the name of each algorithm to its fitted ``GridSearchCV``, ``RandomizedSearchCV`` or one of their halving
        kind, or to the ``cv_results_`` of one.

    Returns
    -------
    DataFrame
        One row per algorithm and trial (setting of hyperparameters): `algorithm`, `run` (the trial), and what
        ``cv_results_`` has, `mean_test_score` and its like, each fold's score, and `param_...` columns. A fit that
        failed (``error_score=nan``) and the mean of a setting of which one failed have -inf, worse than every other
        score: those of scikit-learn are the better the higher, ``neg_...`` ones too. A halving search tries its
        candidates on more and more resources and leaves out the worse: a candidate has the same `run` on each rung, and
        ``to_dataarray(training="n_resources")`` keeps rungs apart.

    Raises
    ------
    TypeError
        If `results` is no mapping from names to searches.

    Warns
    -----
    UserWarning
        If a setting failed.

    Examples
    --------
    >>> from xcurves.readers import sklearn
    >>> trials = sklearn.search({"svm": {"param_C": [1, 10], "mean_test_score": [0.8, 0.9]}})
    >>> trials.curves.to_dataarray("mean_test_score", training=None).dims
    ('algorithm', 'run')
    """
    frames = {
        name: with_failures(
            f"results[{name!r}]",
            _of_candidates(pd.DataFrame(dict(getattr(result, "cv_results_", result)))),
            "settings",
        )
        for name, result in check_named("results", results, "searches", "'svm': result").items()
    }
    return _joined(frames, "cv_results_", "run")


def _curve(name: str, result: Any) -> pd.DataFrame:
    if hasattr(result, "train_sizes"):
        result = (result.train_sizes, result.train_scores, result.test_scores)
    if not isinstance(result, tuple) or len(result) not in (3, 5):
        raise WrongType(
            "results",
            type(result),
            f"results[{name!r}] must be the tuple of learning_curve or a LearningCurveDisplay",
        )
    sizes, *arrays = map(np.asarray, result)
    for key, array in zip(_ARRAYS, arrays, strict=False):
        if array.ndim != 2 or array.shape != (len(sizes), *arrays[0].shape[1:]):
            raise Refusal(
                "results",
                Verbatim(array.shape),
                f"results[{name!r}]: {key} must have the shape (sizes, folds), {len(sizes)} sizes and "
                "as many folds as train_score",
                "Pass what learning_curve returned as it is",
            )
    n_folds = arrays[0].shape[1]
    columns = {key: array.ravel() for key, array in zip(_ARRAYS, arrays, strict=False)}
    folds = np.tile(np.arange(n_folds), len(sizes))
    return pd.DataFrame({"train_size": np.repeat(sizes, n_folds), **columns}, folds)


def _of_candidates(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a search with the candidate as index, without its settings as a dict."""
    settings = [name for name in map(str, table) if name.startswith("param_")]
    return table.drop(columns="params", errors="ignore").set_axis(candidates(table, settings), axis=0)


def with_failures(whose: str, frame: pd.DataFrame, things: str) -> pd.DataFrame:
    """Return rows in which a score that is NaN, as scikit-learn has it where a fit failed, is the worst there is.

    A measure that no row and no fold has was not taken: where all fits fail, scikit-learn returns nothing.
    """
    measure_of = {column: match["measure"] for column in frame if (match := _SCORE.match(str(column)))}
    taken = {measure for column, measure in measure_of.items() if frame[column].notna().any()}
    scores = [column for column, measure in measure_of.items() if measure in taken]
    tested = [column for column in scores if measure_of[column].startswith("test_")]
    failed = frame[tested].isna().any(axis=1)
    if not failed.any():
        return frame
    left_out = Words(". To leave them out say so: frame[frame[score] > -inf]", "")
    provenance.warn(
        f"{whose}: {int(failed.sum())} of {len(frame)} {things} failed (no score); their scores are -inf, "
        f"worse than every other{left_out}"
    )
    frame = frame.copy()
    for column in scores:
        frame[column] = frame[column].fillna(-np.inf)
    return frame


def _joined(frames: Mapping[str, pd.DataFrame], what: str, index: str) -> pd.DataFrame:
    """Return frames, whose index is the run or the fold, below each other."""
    frame = pd.concat(frames, names=["algorithm", index]).reset_index()
    times = {str(name): "s" for name in frame if str(name).endswith("_time")}
    sizes = {"train_size": "samples"} if "train_size" in frame else {}
    frame.attrs = {
        "units": sizes | times,
        "source": f"scikit-learn {what}",
        # by any name: a scorer of errors has them with their sign turned
        HIGHER: {str(name): 1 for name in frame if _SCORE.match(str(name))},
    }
    return frame
