"""The five classifiers of Jordan, Cohen & Thomas on their tasks, with random and with tuned hyper-parameters.

What is not in their Appendix A has scikit-learn's defaults.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import validation
from xcurves.experiments import command
from xcurves.experiments.command import draw_seed
from xcurves.experiments.dse import TAKEN, Hyperparameters, TrainAndScore, dse
from xcurves.experiments.tasks import (
    ALGORITHMS,
    DATASETS,
    N_POINTS,
    Data,
    sample_data,
    sample_hyperparameters,
)

Generator = np.random.Generator

TUNINGS = ("tuned", "random")
N_DRAWS = 50
N_FOLDS = 3
SEED = 2018


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
    """Run trials of one algorithm on one task.

    Parameters
    ----------
    dataset : str
        One of the tasks of `sample_data`.
    tuning : {"tuned", "random"}
        Whether each trial tunes its hyper-parameters, or takes one draw of them.
    algorithm : {"k-NN", "RF", "SVM", "LR", "NN"}
        Nearest neighbours, random forest, support vector machine, logistic regression, neural network.
    n_trials : int
        As in `dse`. Trials of the same index and seed have the same data whatever the algorithm.
    n_points : int
        As in `sample_data`.
    seed : int
        Seed of all random streams, the `rng` of `dse`.
    archive : path, optional
        Folder with an archive for each algorithm, task and tuning.
    n_jobs : int, default 1
        Trials run at once.

    Returns
    -------
    DataArray, dims (run)
        Accuracies, as `dse` returns them.

    Raises
    ------
    ValueError, TypeError
        If the task, the tuning or the algorithm is unknown; as `dse`, which warns of failed trials.
    ImportError
        If scikit-learn is not installed.

    Examples
    --------
    >>> trials("moons", "random", "k-NN", 3, n_points=100, seed=0).n_neighbors.values
    array([...])
    """
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
