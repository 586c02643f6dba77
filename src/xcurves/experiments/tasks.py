"""The tasks of Jordan, Cohen & Thomas, and hyper-parameters of five classifiers, from the ranges of their Appendix A.

What it leaves open is as in scikit-learn's comparison of classifiers, which has the same tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from xcurves.core import validation
from xcurves.experiments.command import draw_seed, log_uniform
from xcurves.experiments.dse import Hyperparameters, SampleData, SampleHyperparameters

Data = tuple[Any, Any]
Generator = np.random.Generator

DATASETS = ("moons", "circles", "linear", "digits")
N_POINTS = 2000
TEST_SHARE = 0.4
N_COMPONENTS = 20  # of digits, which replace faces: on their first eigenvectors, as these, and whitened


def sample_data(dataset: str, *, n_points: int = N_POINTS) -> SampleData:
    """Return a function that draws training and test data of a task, 60 to 40.

    Parameters
    ----------
    dataset : {"moons", "circles", "linear", "digits"}
        Which task.
    n_points : int
        Total number of points, or as many as there are.

    Returns
    -------
    callable
        From a Generator to ``(points, classes), (points, classes)``.

    Raises
    ------
    ValueError, TypeError
        If the task is unknown, or `n_points` is no whole number from 1.

    Examples
    --------
    >>> train, test = sample_data("moons")(np.random.default_rng(0))
    >>> train[0].shape, test[0].shape
    ((1200, 2), (800, 2))
    """
    validation.check_choice("dataset", dataset, DATASETS)
    return partial(_sample_data, dataset, validation.check_total("n_points", n_points))


def _sample_data(dataset: str, n_points: int, rng: Generator) -> tuple[Data, Data]:
    from sklearn.decomposition import PCA
    from sklearn.model_selection import train_test_split

    points, classes = _points(dataset, n_points, draw_seed(rng))
    seed = draw_seed(rng)
    n_test = round(TEST_SHARE * min(n_points, len(points)))
    n_train = min(n_points, len(points)) - n_test
    train, test, train_classes, test_classes = train_test_split(
        points.astype(np.float32), classes, train_size=n_train, test_size=n_test, random_state=seed
    )
    if dataset == "digits":
        eigenvectors = PCA(N_COMPONENTS, whiten=True, svd_solver="full").fit(train)
        train, test = eigenvectors.transform(train), eigenvectors.transform(test)
    return (train, train_classes), (test, test_classes)


def _points(dataset: str, n_points: int, seed: int) -> Data:
    from sklearn import datasets

    if dataset == "moons":
        return datasets.make_moons(n_points, noise=0.3, random_state=seed)  # type: ignore[no-any-return]
    if dataset == "circles":
        return datasets.make_circles(n_points, noise=0.2, factor=0.5, random_state=seed)  # type: ignore[no-any-return]
    if dataset == "linear":
        return datasets.make_classification(  # type: ignore[no-any-return]
            n_points, 10, n_informative=10, n_redundant=0, n_classes=4, n_clusters_per_class=2, random_state=seed
        )
    return _digits()


@lru_cache
def _digits() -> Data:
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)  # type: ignore[no-any-return]


def _one_of(rng: Generator, values: Sequence[Any]) -> Any:
    return values[int(rng.integers(len(values)))]


def _knn(rng: Generator) -> Hyperparameters:
    return {"n_neighbors": _one_of(rng, (3, 4, 5, 10, 25, 50))}


def _svm(rng: Generator) -> Hyperparameters:
    kernel = _one_of(rng, ("linear", "poly", "rbf", "sigmoid"))
    degree = _one_of(rng, (2, 3, 4, 5))
    return {"C": log_uniform(rng, 0.01, 100), "kernel": kernel, "degree": degree if kernel == "poly" else None}


def _forest(rng: Generator) -> Hyperparameters:
    return {
        "n_estimators": round(log_uniform(rng, 10, 100)),
        "criterion": _one_of(rng, ("gini", "entropy")),
        "min_samples_split": _one_of(rng, (2, 4, 8, 16)),
        "min_samples_leaf": _one_of(rng, (1, 3, 5)),
    }


def _logistic(rng: Generator) -> Hyperparameters:
    return {"C": log_uniform(rng, 1e-4, 1e4)}  # the upper end is misprinted


def _network(rng: Generator) -> Hyperparameters:
    return {
        "activation": _one_of(rng, ("logistic", "tanh", "relu")),
        "units_1": _one_of(rng, (50, 100, 150)),
        "units_2": _one_of(rng, (50, 100, 150)) if rng.integers(2) else None,
        "learning_rate_init": log_uniform(rng, 1e-4, 0.1),
    }


_SAMPLERS: Mapping[str, SampleHyperparameters] = {
    "k-NN": _knn,
    "RF": _forest,
    "SVM": _svm,
    "LR": _logistic,
    "NN": _network,
}
ALGORITHMS = tuple(_SAMPLERS)


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
    return _SAMPLERS[validation.check_choice("algorithm", algorithm, ALGORITHMS)]
