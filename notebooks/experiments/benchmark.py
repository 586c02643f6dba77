"""A benchmark: five classifiers on sixteen small tables of examples, trained on more and more of them.

Every run splits its table and draws by a random stream of its own: no number depends on the other runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from experiments import endgames
from experiments.learning import SEED, in_proportion, percent_right
from experiments.shared import (
    check_chosen,
    check_seed,
    draw_seed,
    labelled,
    made_by,
    sklearn,
)
from xcurves.core import validation

N_RUNS = 5
N_EXAMPLES = 2000
SIZES = (20, 40, 80, 160, 320, 640)
LARGEST_SHARE = 0.7
N_TEST = 1000

Examples = tuple[NDArray[Any], NDArray[Any]]
Generator = np.random.Generator


def learners() -> Mapping[str, Any]:
    """Return the five classifiers by their names; those that measure distances standardize features first."""
    scaler, pipeline = (
        sklearn("preprocessing").StandardScaler,
        sklearn("pipeline").make_pipeline,
    )
    return {
        "logistic regression": pipeline(scaler(), sklearn("linear_model").LogisticRegression(max_iter=2000)),
        "5 neighbours": pipeline(scaler(), sklearn("neighbors").KNeighborsClassifier(5)),
        "SVM": pipeline(scaler(), sklearn("svm").SVC()),
        "decision tree": sklearn("tree").DecisionTreeClassifier(),
        "random forest": sklearn("ensemble").RandomForestClassifier(50),
    }


def tasks() -> Mapping[str, Callable[[Generator], Examples]]:
    """Return the functions that make the table of each task."""
    return {
        "breast cancer": partial(_bundled, "load_breast_cancer"),
        "digits": partial(_bundled, "load_digits"),
        "iris": partial(_bundled, "load_iris"),
        "wine": partial(_bundled, "load_wine"),
        "chess endgame": partial(_game, "chess"),
        "tic-tac-toe": partial(_game, "endgame"),
        "moons": partial(_drawn, "make_moons", noise=0.3),
        "circles": partial(_drawn, "make_circles", noise=0.2, factor=0.5),
        "blobs": partial(_drawn, "make_blobs", n_features=5, centers=8, cluster_std=6.0),
        "clusters": partial(
            _drawn,
            "make_classification",
            n_features=20,
            n_informative=6,
            n_clusters_per_class=3,
        ),
        "sphere": partial(_drawn, "make_gaussian_quantiles", n_features=6, n_classes=3),
        "ten squares": partial(_drawn, "make_hastie_10_2"),
        "Friedman": _friedman,
        "checkerboard": _checkerboard,
        "parity": _parity,
        "waveform": _waveform,
    }


def _bundled(loader: str, _: Generator) -> Examples:
    """Return a table that comes with scikit-learn."""
    x, y = getattr(sklearn("datasets"), loader)(return_X_y=True)
    return x, y


def _game(table: endgames.TableName, _: Generator) -> Examples:
    x, y = endgames.examples(table)
    return x.to_numpy(), y.to_numpy()


def _drawn(maker: str, rng: Generator, **options: Any) -> Examples:
    """Return a table that one of scikit-learn's generators draws."""
    make = getattr(sklearn("datasets"), maker)
    x, y = make(n_samples=N_EXAMPLES, random_state=draw_seed(rng), **options)
    return x, y


def _friedman(rng: Generator) -> Examples:
    """Return Friedman's first regression problem, high or low."""
    x, y = _drawn("make_friedman1", rng, noise=1.0)
    return x, y > np.median(y)


def _checkerboard(rng: Generator) -> Examples:
    """Return points on a board of 4 x 4 squares, one in ten of the other colour."""
    x = rng.uniform(0, 4, (N_EXAMPLES, 2))
    return x, (np.floor(x).sum(axis=1) % 2 == 1) ^ (rng.random(N_EXAMPLES) < 0.1)


def _parity(rng: Generator) -> Examples:
    """Return the parity of three bits among eight."""
    x = rng.integers(0, 2, (N_EXAMPLES, 8))
    return x, x[:, :3].sum(axis=1) % 2


def _waveform(rng: Generator) -> Examples:
    """Return the waveforms of Breiman et al. (1984): mixtures of two of three triangles, with noise."""
    at = np.arange(1, 22)
    triangles = np.maximum(6 - np.abs(at - np.array([[7], [15], [11]])), 0)
    y = rng.integers(0, 3, N_EXAMPLES)
    share = rng.random((N_EXAMPLES, 1))
    x = share * triangles[y] + (1 - share) * triangles[(y + 1) % 3]
    return x + rng.normal(size=x.shape), y


def learning_curves(
    names: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
    *,
    n_runs: int = N_RUNS,
    seed: int = SEED,
) -> xr.Dataset:
    """Measure the accuracy of classifiers on every task after training on more and more examples.

    Parameters
    ----------
    names : sequence of str, optional
        Which of `tasks`, by default all sixteen.
    algorithms : sequence of str, optional
        Which of `learners`, by default all five.
    n_runs : int
        Runs of each classifier on each task, five by default.
    seed : int
        Seed of all random streams.

    Returns
    -------
    Dataset
        `accuracy` (task, algorithm, run, training), in percent of up to 1000 examples that the run was not trained on.
        `training` is 20, 40, 80, ..., 640 examples; NaN where that is more than 70 % of the table. Each level has the
        examples of the level before. `attrs` say which scikit-learn made it.

    Raises
    ------
    ValueError, TypeError
        If there is no such task or classifier, or a number is not whole or too small.
    ModuleNotFoundError
        If scikit-learn is not installed.

    Notes
    -----
    Runs of one task share its table: a claim about these tasks is a claim about other splits of the same tables.

    References
    ----------
    .. [1] Breiman, L., Friedman, J. H., Olshen, R. A. & Stone, C. J. (1984). Classification and Regression Trees. The
       waveforms. doi:10.1201/9781315139470
    .. [2] Friedman, J. H. (1991). Multivariate adaptive regression splines. Ann. Stat. 19, 1-67.
       doi:10.1214/aos/1176347963
    .. [3] Hastie, T., Tibshirani, R. & Friedman, J. (2009). The Elements of Statistical Learning. Eq. 10.2, "ten
       squares". doi:10.1007/978-0-387-84858-7

    Examples
    --------
    >>> curves = learning_curves(["moons", "iris"], ["decision tree"], n_runs=2)
    >>> curves.accuracy.dims, curves.accuracy.count("training").values.ravel().tolist()
    (('task', 'algorithm', 'run', 'training'), [6, 6, 3, 3])
    """
    wanted, chosen = (
        check_chosen("names", names, tasks()),
        check_chosen("algorithms", algorithms, learners()),
    )
    n_runs, seed = validation.check_total("n_runs", n_runs), check_seed(seed)
    accuracy = np.full((len(wanted), len(chosen), n_runs, len(SIZES)), np.nan)
    for place, (task, make) in enumerate(wanted.items()):
        x, y = make(np.random.default_rng([seed, crc32(task.encode())]))
        sizes = [size for size in SIZES if size <= LARGEST_SHARE * len(y)]
        for (column, name), run in product(enumerate(chosen), range(n_runs)):
            entropy = [seed, crc32(task.encode()), crc32(name.encode()), run]
            order = in_proportion(y, np.random.default_rng(entropy))
            test = order[sizes[-1] : sizes[-1] + N_TEST]
            for level, size in enumerate(sizes):
                right = percent_right({name: chosen[name]}, x, y, order[:size], test, [*entropy, size])
                accuracy[place, column, run, level] = right.item()
    attrs = {
        "title": "accuracy of classifiers on many tasks by number of training examples",
        "comment": "Every run has its own split of its task's table. Runs of different algorithms are not matched.",
        **made_by(seed),
    }
    said = "accuracy on test data"
    return labelled("accuracy", accuracy, chosen, SIZES, long_name=said, attrs=attrs, tasks=wanted)
