"""The five classifiers of Jordan, Cohen & Thomas on their tasks, with random and with tuned hyper-parameters.

Ranges are those of their Appendix A. What it leaves open is as in scikit-learn's comparison of classifiers, which has
the same tasks, or scikit-learn's default.
"""

from __future__ import annotations

import importlib
import os
import warnings
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from experiments.shared import draw_seed, fingerprint, log_uniform, sklearn
from xcurves.core import validation
from xcurves.distributions.dse import (
    TAKEN,
    Hyperparameters,
    SampleData,
    SampleHyperparameters,
    TrainAndScore,
    dse,
)

Generator = np.random.Generator
Data = tuple[Any, Any]

DATASETS = ("moons", "circles", "linear", "digits")
N_POINTS = 2000
TEST_SHARE = 0.4
N_COMPONENTS = 20  # of digits, which replace faces: on their first eigenvectors, as these, and whitened

TUNINGS = ("tuned", "random")
ALGORITHMS = ("k-NN", "RF", "SVM", "LR", "NN")
N_DRAWS = 50
N_FOLDS = 3
SEED = 2018


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
    points, classes = _points(dataset, n_points, draw_seed(rng))
    n_points = min(n_points, len(points))
    n_test = round(TEST_SHARE * n_points)
    train, test, train_classes, test_classes = sklearn("model_selection").train_test_split(
        points.astype(np.float32),
        classes,
        train_size=n_points - n_test,
        test_size=n_test,
        random_state=draw_seed(rng),
    )
    if dataset == "digits":
        eigenvectors = sklearn("decomposition").PCA(N_COMPONENTS, whiten=True, svd_solver="full").fit(train)
        train, test = eigenvectors.transform(train), eigenvectors.transform(test)
    return (train, train_classes), (test, test_classes)


def _points(dataset: str, n_points: int, seed: int) -> Any:
    """Return all points of a task, and their classes."""
    datasets = sklearn("datasets")
    if dataset == "moons":
        return datasets.make_moons(n_points, noise=0.3, random_state=seed)
    if dataset == "circles":
        return datasets.make_circles(n_points, noise=0.2, factor=0.5, random_state=seed)
    if dataset == "linear":
        return datasets.make_classification(
            n_points,
            n_features=10,
            n_informative=10,
            n_redundant=0,
            n_classes=4,
            random_state=seed,
        )
    return _digits()


@lru_cache
def _digits() -> Any:
    return sklearn("datasets").load_digits(return_X_y=True)


def _draw(algorithm: str, rng: Generator) -> Hyperparameters:
    """Draw hyper-parameters from the ranges of Appendix A; None stands for one that a draw does not have."""

    def one_of(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    if algorithm == "k-NN":
        return {"n_neighbors": one_of(3, 4, 5, 10, 25, 50)}
    if algorithm == "RF":
        return {
            "n_estimators": round(log_uniform(rng, 10, 100)),
            "criterion": one_of("gini", "entropy"),
            "min_samples_split": one_of(2, 4, 8, 16),
            "min_samples_leaf": one_of(1, 3, 5),
        }
    if algorithm == "SVM":
        kernel, degree = one_of("linear", "poly", "rbf", "sigmoid"), one_of(2, 3, 4, 5)
        return {
            "C": log_uniform(rng, 0.01, 100),
            "kernel": kernel,
            "degree": degree if kernel == "poly" else None,
        }
    if algorithm == "LR":
        return {"C": log_uniform(rng, 1e-4, 1e4)}  # the upper end is misprinted
    return {
        "activation": one_of("logistic", "tanh", "relu"),
        "units_1": one_of(50, 100, 150),
        "units_2": one_of(50, 100, 150) if rng.integers(2) else None,
        "learning_rate_init": log_uniform(rng, 1e-4, 0.1),
    }


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
    return partial(_draw, validation.check_choice("algorithm", algorithm, ALGORITHMS))


def train_and_score(algorithm: str) -> TrainAndScore:
    """Return a function that trains a classifier with given hyper-parameters and returns its test accuracy."""
    return partial(
        _train_and_score,
        validation.check_choice("algorithm", algorithm, ALGORITHMS),
        0,
        0,
    )


def tune_and_score(algorithm: str, *, n_draws: int = N_DRAWS, n_folds: int = N_FOLDS) -> TrainAndScore:
    """Return a function that tunes a classifier by cross-validated random search, whatever it is given."""
    validation.check_choice("algorithm", algorithm, ALGORITHMS)
    n_draws, n_folds = (
        validation.check_total("n_draws", n_draws),
        validation.check_total("n_folds", n_folds, least=2),
    )
    return partial(_train_and_score, algorithm, n_draws, n_folds)


def _train_and_score(
    algorithm: str,
    n_draws: int,
    n_folds: int,
    given: Hyperparameters,
    train: Data,
    test: Data,
    rng: Generator,
) -> float:
    seed = draw_seed(rng)
    # One thread is fastest for small data; the limit of iterations is intended.
    with (
        importlib.import_module("threadpoolctl").threadpool_limits(1),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", sklearn("exceptions").ConvergenceWarning)
        best = _classifier(algorithm, given, seed)
        if n_draws:
            draws = [_draw(algorithm, rng) for _ in range(n_draws)]
            folds = sklearn("model_selection").StratifiedKFold(n_folds, shuffle=True, random_state=seed)
            validated = partial(
                sklearn("model_selection").cross_val_score,
                cv=folds,
                error_score="raise",
            )
            distinct = {repr(draw): _classifier(algorithm, draw, seed) for draw in draws}.values()
            best = max(distinct, key=lambda classifier: validated(classifier, *train).sum())
        return float(best.fit(*train).score(*test))


def _classifier(algorithm: str, hyperparameters: Hyperparameters, seed: int) -> Any:
    """Return a classifier of scikit-learn."""
    chosen = {name: value for name, value in hyperparameters.items() if value is not None}
    if algorithm == "k-NN":
        return sklearn("neighbors").KNeighborsClassifier(**chosen)
    if algorithm == "RF":
        return sklearn("ensemble").RandomForestClassifier(**chosen, random_state=seed)
    if algorithm == "SVM":
        return sklearn("svm").SVC(**chosen)
    if algorithm == "LR":
        return sklearn("linear_model").LogisticRegression(**chosen, solver="saga", max_iter=1000, random_state=seed)
    layers = tuple(chosen.pop(name) for name in ("units_1", "units_2") if name in chosen)
    network = sklearn("neural_network").MLPClassifier
    return network(layers, **chosen, early_stopping=True, max_iter=200, random_state=seed)


def trials(
    dataset: str,
    tuning: str,
    algorithm: str,
    n_trials: int,
    *,
    n_points: int = N_POINTS,
    seed: int = SEED,
    archive: str | os.PathLike[str] | None = None,
    n_jobs: int = 1,
) -> xr.DataArray:
    """Run trials of one algorithm on one task as `dse` does; those of one index have the same data."""
    tuned = validation.check_choice("tuning", tuning, TUNINGS) == "tuned"
    cell = (dataset, tuning, algorithm)
    return dse(
        tune_and_score(algorithm) if tuned else train_and_score(algorithm),
        _nothing if tuned else sample_hyperparameters(algorithm),
        sample_data(dataset, n_points=n_points),
        n_trials,
        path=None if archive is None else Path(archive, "-".join(cell)),
        settings={"cell": " ".join(cell), "n_points": n_points, **versions()},
        n_jobs=n_jobs,
        rng=seed,
    )


def _nothing(_: Generator) -> Hyperparameters:
    return {}


def versions() -> dict[str, str]:
    """Return the versions of the packages that accuracies depend on."""
    return {"scikit_learn": version("scikit-learn"), "numpy": version("numpy")}


def classifier_trials(
    random: int = 2000,
    tuned: int = 2000,
    *,
    tuned_digits: int | None = None,
    points: int = N_POINTS,
    seed: int = SEED,
    archive: str | os.PathLike[str] | None = None,
    jobs: int = 1,
) -> xr.Dataset:
    """Make the data set `classifiers`.

    Parameters
    ----------
    random, tuned : int
        Numbers of trials of each algorithm on each task.
    tuned_digits : int, optional
        Number of tuned trials on digits, which take longest; by default `tuned`.
    points : int
        Number of points of a task.
    seed : int
        Seed of all random streams.
    archive : path, optional
        Folder of archives; trials that are in it are not run again.
    jobs : int
        Trials run at once, -1 for all processors.

    Returns
    -------
    Dataset
        `accuracy` (dataset, tuning, algorithm, run), NaN where there is no trial, and the hyper-parameters of
        random trials by algorithm and name, as `svm_kernel` (run): they are the same on all tasks.
    """
    n_digits = tuned if tuned_digits is None else tuned_digits
    runs = np.arange(max(random, tuned, n_digits))
    cells = {}
    for names in product(DATASETS, TUNINGS, ALGORITHMS):
        n_trials = tuned
        if names[1] == "random":
            n_trials = random
        elif names[0] == "digits":
            n_trials = n_digits
        made = cells[names] = trials(*names, n_trials, n_points=points, seed=seed, archive=archive, n_jobs=jobs)
        if failed := made.error.max().item():
            raise RuntimeError(f"trials failed: {' '.join(names)}: {failed}")
    dims: dict[str, Any] = {
        "dataset": list(DATASETS),
        "tuning": list(TUNINGS),
        "algorithm": list(ALGORITHMS),
        "run": runs,
    }
    accuracy = np.reshape(
        [each.reindex(run=runs) for each in cells.values()],
        [len(each) for each in dims.values()],
    )
    data: dict[str, Any] = {
        "accuracy": (
            list(dims),
            accuracy,
            {"long_name": "accuracy on test data", "units": "1"},
        )
    }
    for algorithm in ALGORITHMS:
        drawn = cells[DATASETS[0], "random", algorithm].reset_coords()
        for name in [each for each in drawn.data_vars if each not in TAKEN]:
            missing = "" if drawn[name].dtype.kind == "U" else np.nan
            values = drawn[name].reindex(run=runs, fill_value=missing).variable
            data[f"{algorithm.replace('-', '').lower()}_{name}"] = values
    attrs = {
        "title": "Five classifiers on four tasks, with random and with tuned hyper-parameters",
        "references": "Jordan, Cohen & Thomas, Using Cumulative Distribution Based Performance Analysis",
        "n_points": points,
        "seed": seed,
        **versions(),
        "arithmetic": fingerprint(),
    }
    return xr.Dataset(data, dims, attrs)
