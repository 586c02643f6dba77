"""The five classifiers of Jordan, Cohen & Thomas on their tasks, with random and with tuned hyper-parameters.

Ranges are those of their Appendix A; where its upper end of logistic regression's C is garbled in print, it is 10,000.
What Appendix A leaves open is scikit-learn's default, or as in scikit-learn's comparison of classifiers, which has the
same tasks: moons with noise 0.3, circles with noise 0.2 and factor 0.5. All ten features of `linear` are informative.
Digits take the place of faces, which cannot be made and are not copied: 1,797 images of ten classes, projected like
faces on their first eigenvectors and whitened, here 20. Faces themselves are read from a local copy.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from xcurves.experiments.dse import Hyperparameters, SampleData, SampleHyperparameters, TrainAndScore, dse

Generator = np.random.Generator
Data = tuple[Any, Any]

DATASETS = ("moons", "circles", "linear", "digits")
ALGORITHMS = ("k-NN", "RF", "SVM", "LR", "NN")
TUNINGS = ("tuned", "random")
N_POINTS = 2000
TEST_SHARE = 0.4
N_COMPONENTS = {"digits": 20, "faces": 150}
N_DRAWS = 50
N_FOLDS = 3
SEED = 2018
STEP = 4  # trials of each cell in one go


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
    """Return what draws hyper-parameters of an algorithm from the ranges of Appendix A.

    Examples
    --------
    >>> sample_hyperparameters("k-NN")(np.random.default_rng(0))
    {'n_neighbors': 50}
    """
    return _SAMPLERS[_known("algorithm", algorithm, ALGORITHMS)]


def _classifier(algorithm: str, hyperparameters: Hyperparameters, seed: int) -> Any:
    """Return an untrained classifier of scikit-learn."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    chosen = {name: value for name, value in hyperparameters.items() if value is not None}
    if algorithm == "k-NN":
        return KNeighborsClassifier(**chosen)
    if algorithm == "RF":
        return RandomForestClassifier(**chosen, random_state=seed)
    if algorithm == "SVM":
        return SVC(**chosen)
    if algorithm == "LR":
        return LogisticRegression(**chosen, solver="saga", max_iter=1000, random_state=seed)
    layers = tuple(chosen.pop(name) for name in ("units_1", "units_2") if name in chosen)
    return MLPClassifier(layers, **chosen, early_stopping=True, max_iter=200, random_state=seed)


def _accuracy(algorithm: str, hyperparameters: Hyperparameters, train: Data, test: Data, seed: int) -> float:
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so many iterations, and no more, are part of the method
        return float(_classifier(algorithm, hyperparameters, seed).fit(*train).score(*test))


def train_and_score(algorithm: str) -> TrainAndScore:
    """Return what trains a classifier with given hyper-parameters and returns its accuracy on the test data."""
    return partial(_train_and_score, _known("algorithm", algorithm, ALGORITHMS))


def _train_and_score(
    algorithm: str, hyperparameters: Hyperparameters, train: Data, test: Data, rng: Generator
) -> float:
    return _accuracy(algorithm, hyperparameters, train, test, _seed(rng))


def tune_and_score(algorithm: str, *, n_draws: int = N_DRAWS, n_folds: int = N_FOLDS) -> TrainAndScore:
    """Return what tunes a classifier on the training data first, by random search and cross-validation.

    The hyper-parameters that it is given are not used. Settings that are drawn more than once are tried once.
    """
    return partial(_tune_and_score, _known("algorithm", algorithm, ALGORITHMS), n_draws, n_folds)


def _tune_and_score(
    algorithm: str, n_draws: int, n_folds: int, _: Hyperparameters, train: Data, test: Data, rng: Generator
) -> float:
    from sklearn.model_selection import StratifiedKFold

    points, classes = train
    seed = _seed(rng)
    draws = [_SAMPLERS[algorithm](rng) for _ in range(n_draws)]
    distinct = list({repr(sorted(draw.items())): draw for draw in draws}.values())
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(points, classes))

    def validated(draw: Hyperparameters) -> float:
        return sum(
            _accuracy(algorithm, draw, (points[fit], classes[fit]), (points[held], classes[held]), seed)
            for fit, held in folds
        )

    return _accuracy(algorithm, max(distinct, key=validated), train, test, seed)


def _seed(rng: Generator) -> int:
    return int(rng.integers(2**31))


def sample_data(dataset: str, *, n_points: int = N_POINTS, faces: str | os.PathLike[str] | None = None) -> SampleData:
    """Return what draws training and test data of a task, 60 to 40.

    Parameters
    ----------
    dataset : {"moons", "circles", "linear", "digits", "faces"}
        Which task.
    n_points : int
        Number of points of both together, or as many as there are.
    faces : path, optional
        Of a local copy of Labeled Faces in the Wild, as scikit-learn's ``fetch_lfw_people`` keeps it
        (``data_home``). Nothing is downloaded.

    Returns
    -------
    callable
        From a Generator to ``(points, classes), (points, classes)``.

    Examples
    --------
    >>> train, test = sample_data("moons")(np.random.default_rng(0))
    >>> train[0].shape, test[0].shape
    ((1200, 2), (800, 2))
    """
    _known("dataset", dataset, (*DATASETS, "faces"))
    if dataset == "faces" and faces is None:
        raise ValueError("dataset 'faces' needs a local copy; got faces=None. Say where: faces='~/scikit_learn_data'")
    return partial(_sample_data, dataset, n_points, None if faces is None else str(faces))


def _sample_data(dataset: str, n_points: int, faces: str | None, rng: Generator) -> tuple[Data, Data]:
    from sklearn.decomposition import PCA
    from sklearn.model_selection import train_test_split

    points, classes = _points(dataset, n_points, faces, _seed(rng))
    seed = _seed(rng)
    n_test = round(TEST_SHARE * min(n_points, len(points)))
    n_train = min(n_points, len(points)) - n_test
    train, test, train_classes, test_classes = train_test_split(
        points.astype(np.float32), classes, train_size=n_train, test_size=n_test, random_state=seed
    )
    if dataset in N_COMPONENTS:
        eigenvectors = PCA(N_COMPONENTS[dataset], whiten=True, svd_solver="full").fit(train)
        train, test = eigenvectors.transform(train), eigenvectors.transform(test)
    return (train, train_classes), (test, test_classes)


def _points(dataset: str, n_points: int, faces: str | None, seed: int) -> Data:
    from sklearn import datasets

    if dataset == "moons":
        return datasets.make_moons(n_points, noise=0.3, random_state=seed)  # type: ignore[no-any-return]
    if dataset == "circles":
        return datasets.make_circles(n_points, noise=0.2, factor=0.5, random_state=seed)  # type: ignore[no-any-return]
    if dataset == "linear":
        return datasets.make_classification(  # type: ignore[no-any-return]
            n_points, 10, n_informative=10, n_redundant=0, n_classes=4, n_clusters_per_class=2, random_state=seed
        )
    if dataset == "digits":
        return _digits()
    return datasets.fetch_lfw_people(  # type: ignore[no-any-return]
        data_home=faces, min_faces_per_person=70, resize=0.4, download_if_missing=False, return_X_y=True
    )


@lru_cache
def _digits() -> Data:
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)  # type: ignore[no-any-return]


def _known(name: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}")
    return value


def trials(
    dataset: str,
    tuning: str,
    algorithm: str,
    n_trials: int,
    *,
    n_points: int = N_POINTS,
    seed: int = SEED,
    faces: str | os.PathLike[str] | None = None,
    archive: str | os.PathLike[str] | None = None,
    n_jobs: int = 1,
) -> xr.DataArray:
    """Run trials of one algorithm on one task.

    Parameters
    ----------
    dataset : str
        One of the tasks of `sample_data`.
    tuning : {"tuned", "random"}
        Whether each trial tunes its hyper-parameters, or takes one draw of them.
    algorithm : {"k-NN", "RF", "SVM", "LR", "NN"}
        Nearest neighbours, random forest, support vector machine, logistic regression, neural network.
    n_trials, n_points, seed, faces
        As in `dse` and `sample_data`. Trials of the same index and seed have the same data whatever the algorithm.
    archive : path, optional
        Folder with an archive for each algorithm, task and tuning.
    n_jobs : int, default 1
        Trials run at once.

    Returns
    -------
    DataArray, dims (run)
        Accuracies, as `dse` returns them.

    Examples
    --------
    >>> trials("moons", "random", "k-NN", 3, n_points=100, seed=0).n_neighbors.values
    array([...])
    """
    tuned = _known("tuning", tuning, TUNINGS) == "tuned"
    cell = (dataset, tuning, algorithm)
    return dse(
        tune_and_score(algorithm) if tuned else train_and_score(algorithm),
        _nothing if tuned else sample_hyperparameters(algorithm),
        sample_data(dataset, n_points=n_points, faces=faces),
        n_trials,
        path=None if archive is None else Path(archive, "-".join(cell)),
        settings={"cell": " ".join(cell), "n_points": n_points, **versions()},
        n_jobs=n_jobs,
        rng=seed,
    )


def _nothing(_: Generator) -> Hyperparameters:
    return {}


def versions() -> dict[str, str]:
    """Return the versions of what accuracies depend on."""
    import sklearn

    return {"scikit_learn": sklearn.__version__, "numpy": np.__version__}
