"""Learning curves of scikit-learn's classifiers: cross-validated, or on disjoint partitions of the data.

A `random_state` differs for every fold and level: no number depends on which other ones are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from experiments.shared import (
    check_rising,
    check_seed,
    labelled,
    made_by,
    sklearn,
)
from xcurves.array_types import Floats, Ints
from xcurves.core import validation

SEED = 1998


def cross_validation(
    estimators: Mapping[str, Any],
    x: ArrayLike,
    y: ArrayLike,
    *,
    levels: Sequence[int] | None = None,
    n_folds: int = 20,
    seed: int = SEED,
) -> xr.Dataset:
    """Measure the accuracy of classifiers on each fold after training on more and more of the others.

    Parameters
    ----------
    estimators : mapping
        From the name of each algorithm to a scikit-learn classifier.
    x : array-like, shape (example, feature)
        Examples.
    y : array-like, shape (example,)
        Their classes.
    levels : sequence of int, optional
        Numbers of training examples, increasing. By default ten equal steps up to the number that every fold leaves.
    n_folds : int
        Number of folds; each has the same share of every class, as nearly as possible.
    seed : int
        Seed of folds, of the order of examples, and of the estimators.

    Returns
    -------
    Dataset
        `accuracy` (algorithm, run, training), in percent of the held-out fold, which is the run. Each level has the
        examples of the level before. `attrs` say which scikit-learn made it.

    Raises
    ------
    ValueError, TypeError
        If `levels` do not increase, or do not lie between the number of classes and what the folds leave; if there
        are more folds than examples; if `estimators`, `x` and `y` are not as described.
    ModuleNotFoundError
        If scikit-learn is not installed.

    Notes
    -----
    Fold j is the same for all algorithms: use ``paired=True``. But folds share training data, so a p-value over folds
    is about this data set, not about others from the same source.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> x, y = load_iris(return_X_y=True)
    >>> curves = cross_validation({"tree": DecisionTreeClassifier()}, x, y, levels=[20, 135], n_folds=10)
    >>> dict(curves.accuracy.sizes)
    {'algorithm': 1, 'run': 10, 'training': 2}
    """
    x, y, classes = _check_examples(estimators, x, y)
    n_folds, seed = validation.check_total("n_folds", n_folds), check_seed(seed)
    if not 2 <= n_folds <= len(y):
        raise ValueError(f"n_folds must lie between 2 and the number of examples, {len(y)}; got {n_folds}")
    left = len(y) - -(-len(y) // n_folds)  # by the largest fold
    levels = [left * step // 10 for step in range(1, 11)] if levels is None else levels
    levels = check_rising("levels", levels, len(classes), "the number of classes")
    if levels[-1] > left:
        raise ValueError(f"levels must be at most {left}, which {n_folds} folds leave for training; got {levels[-1]}")
    fold_of = _deal(y, n_folds, np.random.default_rng(seed))
    accuracy = np.empty((len(estimators), n_folds, len(levels)))
    for fold in range(n_folds):
        held_out, rest = (
            np.flatnonzero(fold_of == fold),
            np.flatnonzero(fold_of != fold),
        )
        order = rest[in_proportion(y[rest], np.random.default_rng([seed, 1 + fold]))]
        for column, level in enumerate(levels):
            accuracy[:, fold, column] = percent_right(estimators, x, y, order[:level], held_out, [seed, fold, level])
    attrs = {
        "title": f"accuracy on {n_folds} folds by number of training examples",
        "comment": "Folds are the same for all algorithms and share training data: a p-value over folds speaks of this "
        "data set only.",
        **made_by(seed),
    }
    said = "examples of the fold classified right"
    return labelled(
        "accuracy",
        accuracy,
        estimators,
        levels,
        long_name=said,
        attrs=attrs,
        run="fold",
    )


def partition_errors(
    estimators: Mapping[str, Any],
    x: ArrayLike,
    y: ArrayLike,
    *,
    sizes: Sequence[int],
    seed: int = SEED,
) -> xr.Dataset:
    """Measure test errors of classifiers trained on disjoint parts of the data, the scheme of Hoiem et al.

    Parameters
    ----------
    estimators, x, y : mapping, array-like, array-like
        As for `cross_validation`.
    sizes : sequence of int
        Numbers n of training examples, increasing, multiples of the number of classes. The largest is N. At each size
        as many models are trained as there are disjoint parts, N / n.
    seed : int
        Seed of the partition and of the estimators.

    Returns
    -------
    Dataset
        `error` (algorithm, run, training), in percent, ready for `fit_power_law`; NaN where a size has fewer folds than
        another. Every part has as many examples of each class; parts of one size share none. All models are tested on
        the examples outside the N. `attrs` say which scikit-learn made it.

    Raises
    ------
    ValueError, TypeError
        If `sizes` do not increase, are no multiples of the number of classes or more than the data allow; if
        `estimators`, `x` and `y` are not as described.
    ModuleNotFoundError
        If scikit-learn is not installed.

    Notes
    -----
    Parts of different sizes overlap, and all errors share one test set: the spread of folds does not include its error.

    References
    ----------
    Hoiem et al. (2021), Learning Curves for Analysis of Deep Networks, PMLR 139.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> x, y = load_iris(return_X_y=True)
    >>> errors = partition_errors({"tree": DecisionTreeClassifier()}, x, y, sizes=[30, 60, 120]).error
    >>> errors.count("run").to_numpy()
    array([[4, 2, 1]])
    """
    x, y, classes = _check_examples(estimators, x, y)
    seed, sizes = (
        check_seed(seed),
        check_rising("sizes", sizes, len(classes), "the number of classes"),
    )
    odd = [size for size in sizes if size % len(classes)]
    if odd:
        nearest = odd[0] - odd[0] % len(classes)
        must = f"sizes must be multiples of {len(classes)}, the number of classes"
        raise ValueError(f"{must}; got {odd[0]}. Nearest: {nearest}")
    most = (np.unique(y, return_counts=True)[1].min() - 1) * len(classes)
    if sizes[-1] > most:
        raise ValueError(f"sizes must be at most {most}: as many of every class, one left to test on; got {sizes[-1]}")
    folds = [sizes[-1] // size for size in sizes]
    rng = np.random.default_rng(seed)
    by_class = [rng.permutation(np.flatnonzero(y == one)) for one in classes]
    n_each = sizes[-1] // len(classes)
    pool = np.stack([places[:n_each] for places in by_class])
    test = np.concatenate([places[n_each:] for places in by_class])
    error = np.full((len(estimators), max(folds), len(sizes)), np.nan)
    for column, (size, count) in enumerate(zip(sizes, folds, strict=True)):
        parts = pool[:, : count * size // len(classes)].reshape(len(classes), count, -1)
        for fold in range(count):
            right = percent_right(estimators, x, y, parts[:, fold].ravel(), test, [seed, fold, size])
            error[:, fold, column] = 100 - right
    attrs = {
        "title": f"test error by number of training examples, disjoint parts of {sizes[-1]}, {len(test)} held out",
        "references": "Hoiem et al. (2021), Learning Curves for Analysis of Deep Networks, PMLR 139",
        "n_test": len(test),
        **made_by(seed),
    }
    return labelled(
        "error",
        error,
        estimators,
        sizes,
        long_name="test error",
        attrs=attrs,
        run="fold",
    )


def _check_examples(
    estimators: Mapping[str, Any], x: ArrayLike, y: ArrayLike
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return examples, their classes, and which classes there are."""
    if not isinstance(estimators, Mapping) or not estimators:
        raise TypeError(
            f"estimators must map names to classifiers; got {type(estimators).__name__}. Name it: {{'tree': estimator}}"
        )
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != 2 or y.shape != x.shape[:1]:
        raise ValueError(f"x must have shape (example, feature) and y (example,); got {x.shape} and {y.shape}")
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"y must have two classes or more; got {len(classes)}. There is nothing to learn")
    return x, y, classes


def _deal(y: NDArray[Any], n_folds: int, rng: np.random.Generator) -> Ints:
    """Return the fold of each example: those of one class, in random order, go to the folds in turn."""
    shuffled = rng.permutation(len(y))
    fold = np.empty(len(y), np.int64)
    fold[shuffled[np.argsort(y[shuffled], kind="stable")]] = np.arange(len(y)) % n_folds
    return fold


def in_proportion(y: NDArray[Any], rng: np.random.Generator) -> Ints:
    """Return a random order in which any first part has nearly the same share of each class as the whole."""
    shuffled = rng.permutation(len(y))
    _, kind, counts = np.unique(y[shuffled], return_inverse=True, return_counts=True)
    by_class = np.argsort(kind, kind="stable")
    place = np.empty(len(y))
    place[by_class] = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    return shuffled[np.argsort((place + rng.random(len(counts))[kind]) / counts[kind], kind="stable")]


def percent_right(
    estimators: Mapping[str, Any],
    x: NDArray[Any],
    y: NDArray[Any],
    train: Ints,
    test: Ints,
    entropy: Sequence[int],
) -> Floats:
    """Return the percentage of test examples that every estimator gets right."""
    clone = sklearn("base").clone
    state = int(np.random.SeedSequence(entropy).generate_state(1)[0])
    right = []
    for estimator in estimators.values():
        fresh = clone(estimator)
        random = [name for name in fresh.get_params() if name == "random_state" or name.endswith("__random_state")]
        fresh.set_params(**dict.fromkeys(random, state)).fit(x[train], y[train])
        right.append(100 * (fresh.predict(x[test]) == y[test]).mean())
    return np.array(right)
