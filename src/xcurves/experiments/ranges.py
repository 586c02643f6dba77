"""Hyper-parameters of five classifiers, drawn from the ranges of Jordan, Cohen & Thomas, Appendix A.

The upper end of logistic regression's C, which is misprinted, is 10,000. A network has one or two hidden layers,
equally often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xcurves.experiments.checks import check_known
from xcurves.experiments.dse import Hyperparameters, SampleHyperparameters

Generator = np.random.Generator

ALGORITHMS = ("k-NN", "RF", "SVM", "LR", "NN")


def _log_uniform(rng: Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _one_of(rng: Generator, values: Sequence[Any]) -> Any:
    return values[int(rng.integers(len(values)))]


def _knn(rng: Generator) -> Hyperparameters:
    return {"n_neighbors": _one_of(rng, (3, 4, 5, 10, 25, 50))}


def _svm(rng: Generator) -> Hyperparameters:
    kernel = _one_of(rng, ("linear", "poly", "rbf", "sigmoid"))
    degree = _one_of(rng, (2, 3, 4, 5))
    return {"C": _log_uniform(rng, 0.01, 100), "kernel": kernel, "degree": degree if kernel == "poly" else None}


def _forest(rng: Generator) -> Hyperparameters:
    return {
        "n_estimators": round(_log_uniform(rng, 10, 100)),
        "criterion": _one_of(rng, ("gini", "entropy")),
        "min_samples_split": _one_of(rng, (2, 4, 8, 16)),
        "min_samples_leaf": _one_of(rng, (1, 3, 5)),
    }


def _logistic(rng: Generator) -> Hyperparameters:
    return {"C": _log_uniform(rng, 1e-4, 1e4)}


def _network(rng: Generator) -> Hyperparameters:
    return {
        "activation": _one_of(rng, ("logistic", "tanh", "relu")),
        "units_1": _one_of(rng, (50, 100, 150)),
        "units_2": _one_of(rng, (50, 100, 150)) if rng.integers(2) else None,
        "learning_rate_init": _log_uniform(rng, 1e-4, 0.1),
    }


_SAMPLERS: Mapping[str, SampleHyperparameters] = dict(
    zip(ALGORITHMS, (_knn, _forest, _svm, _logistic, _network), strict=True)
)


def sample_hyperparameters(algorithm: str) -> SampleHyperparameters:
    """Return a function that draws hyper-parameters of an algorithm from the ranges of Appendix A.

    Parameters
    ----------
    algorithm : {"k-NN", "RF", "SVM", "LR", "NN"}
        Nearest neighbours, random forest, support vector machine, logistic regression, neural network.

    Returns
    -------
    callable
        From a Generator to hyper-parameters, with scikit-learn's names, and `units_1` and `units_2` for the network's
        layers. A value is None if a draw does not have it: a degree, a second layer.

    Raises
    ------
    ValueError
        If the algorithm is unknown.

    Examples
    --------
    >>> sample_hyperparameters("k-NN")(np.random.default_rng(0))
    {'n_neighbors': 50}
    """
    return _SAMPLERS[check_known("algorithm", algorithm, ALGORITHMS)]
