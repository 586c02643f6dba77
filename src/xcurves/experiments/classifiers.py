"""The five classifiers of Jordan, Cohen & Thomas on their tasks, with random and with tuned hyper-parameters.

Ranges are those of their Appendix A. What it leaves open is as in scikit-learn's comparison of classifiers, which has
the same tasks, or scikit-learn's default.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import validation
from xcurves.experiments import command
from xcurves.experiments.command import draw_seed, log_uniform
from xcurves.experiments.dse import TAKEN, Hyperparameters, SampleData, SampleHyperparameters, TrainAndScore, dse

Generator = np.random.Generator
Data = tuple[Any, Any]

DATASETS = ("moons", "circles", "linear", "digits")
N_POINTS = 2000
TEST_SHARE = 0.4
N_COMPONENTS = 20  # of digits, which replace faces: on their first eigenvectors, as these, and whitened

TUNINGS = ("tuned", "random")
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


def _accuracy(algorithm: str, hyperparameters: Hyperparameters, train: Data, test: Data, seed: int) -> float:
    """Return the test accuracy of a classifier of scikit-learn."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    chosen = {name: value for name, value in hyperparameters.items() if value is not None}
    layers = tuple(chosen.pop(name) for name in ("units_1", "units_2") if name in chosen)
    classifiers = {
        "k-NN": KNeighborsClassifier,
        "RF": partial(RandomForestClassifier, random_state=seed),
        "SVM": SVC,
        "LR": partial(LogisticRegression, solver="saga", max_iter=1000, random_state=seed),
        "NN": partial(MLPClassifier, layers, early_stopping=True, max_iter=200, random_state=seed),
    }
    return float(classifiers[algorithm](**chosen).fit(*train).score(*test))


@contextmanager
def _quietly() -> Iterator[None]:
    """Train on one thread, which is fastest for small data; the limit of iterations is intended, so no warnings."""
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def train_and_score(algorithm: str) -> TrainAndScore:
    """Return a function that trains a classifier with given hyper-parameters and returns its test accuracy."""
    return partial(_train_and_score, validation.check_choice("algorithm", algorithm, ALGORITHMS), 0, 0)


def tune_and_score(algorithm: str, *, n_draws: int = N_DRAWS, n_folds: int = N_FOLDS) -> TrainAndScore:
    """Return a function that tunes a classifier by cross-validated random search, whatever it is given."""
    validation.check_choice("algorithm", algorithm, ALGORITHMS)
    if validation.check_total("n_folds", n_folds) < 2:
        raise ValueError(f"n_folds must be at least 2; got {n_folds}")
    return partial(_train_and_score, algorithm, validation.check_total("n_draws", n_draws), n_folds)


def _train_and_score(
    algorithm: str, n_draws: int, n_folds: int, given: Hyperparameters, train: Data, test: Data, rng: Generator
) -> float:
    seed = draw_seed(rng)
    with _quietly():
        best = _tuned(algorithm, n_draws, n_folds, train, seed, rng) if n_draws else given
        return _accuracy(algorithm, best, train, test, seed)


def _tuned(algorithm: str, n_draws: int, n_folds: int, train: Data, seed: int, rng: Generator) -> Hyperparameters:
    from sklearn.model_selection import StratifiedKFold

    points, classes = train
    draws = [sample_hyperparameters(algorithm)(rng) for _ in range(n_draws)]
    distinct = list({repr(sorted(draw.items())): draw for draw in draws}.values())
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(points, classes))

    def validated(draw: Hyperparameters) -> float:
        return sum(
            _accuracy(algorithm, draw, (points[fit], classes[fit]), (points[held], classes[held]), seed)
            for fit, held in folds
        )

    return max(distinct, key=validated)


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
    import sklearn

    return {"scikit_learn": sklearn.__version__, "numpy": np.__version__}


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

    def cell(dataset: str, tuning: str, algorithm: str) -> xr.DataArray:
        n_trials = random if tuning == "random" else n_digits if dataset == "digits" else tuned
        return trials(dataset, tuning, algorithm, n_trials, n_points=points, seed=seed, archive=archive, n_jobs=jobs)

    cells = {names: cell(*names) for names in product(DATASETS, TUNINGS, ALGORITHMS)}
    failed = [f"{' '.join(names)}: {each.error.max().item()}" for names, each in cells.items() if each.isnull().any()]
    if failed:
        raise RuntimeError(f"trials failed: {'; '.join(failed)}")
    runs = np.arange(max(random, tuned, n_digits))
    whole = [each.reindex(run=runs).to_numpy() for each in cells.values()]
    accuracy = np.reshape(whole, (len(DATASETS), len(TUNINGS), len(ALGORITHMS), len(runs)))
    hyperparameters = {
        f"{algorithm.replace('-', '').lower()}_{name}": _padded(values, runs)
        for algorithm in ALGORITHMS
        for name, values in cells[DATASETS[0], "random", algorithm].coords.items()
        if name not in TAKEN
    }
    return xr.Dataset(
        {
            "accuracy": (
                ("dataset", "tuning", "algorithm", "run"),
                accuracy,
                {"long_name": "accuracy on test data", "units": "1"},
            ),
            **hyperparameters,
        },
        {"dataset": list(DATASETS), "tuning": list(TUNINGS), "algorithm": list(ALGORITHMS), "run": runs},
        {
            "title": "Five classifiers on four tasks, with random and with tuned hyper-parameters",
            "references": "Jordan, Cohen & Thomas, Using Cumulative Distribution Based Performance Analysis",
            "n_points": points,
            "seed": seed,
            **versions(),
            "arithmetic": command.fingerprint(),
        },
    )


def _padded(hyperparameter: xr.DataArray, runs: np.ndarray[Any, Any]) -> xr.DataArray:
    """Return values of all runs, missing where there are fewer trials."""
    fill = "" if hyperparameter.dtype.kind == "U" else np.nan
    return hyperparameter.reset_coords(drop=True).reindex(run=runs, fill_value=fill).drop_vars("run")


if __name__ == "__main__":
    command.run(classifier_trials, unrecorded=("archive", "jobs"))
