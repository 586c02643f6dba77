"""Learning curves of ten classifiers on scikit-learn's handwritten digits, by the partition scheme of Hoiem et al."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from experiments import learning
from experiments.shared import check_chosen, sklearn

SIZES = (80, 160, 320, 640, 1280)


def digit_learners() -> Mapping[str, Any]:
    """Return the ten classifiers by their names."""
    ensemble, neighbors, svm = sklearn("ensemble"), sklearn("neighbors"), sklearn("svm")
    return {
        "logistic regression": sklearn("linear_model").LogisticRegression(max_iter=2000),
        "naive Bayes": sklearn("naive_bayes").MultinomialNB(),
        "1 neighbour": neighbors.KNeighborsClassifier(1),
        "5 neighbours": neighbors.KNeighborsClassifier(5),
        "SVM, linear": svm.SVC(kernel="linear"),
        "SVM, cubic": svm.SVC(kernel="poly"),
        "SVM, Gaussian": svm.SVC(),
        "decision tree": sklearn("tree").DecisionTreeClassifier(criterion="entropy"),
        "random forest": ensemble.RandomForestClassifier(),
        "extra trees": ensemble.ExtraTreesClassifier(),
    }


def learning_curves(names: Sequence[str] | None = None, *, seed: int = learning.SEED) -> xr.Dataset:
    """Measure test errors on 16, 8, 4, 2, 1 disjoint parts of 80, 160, 320, 640, 1280 digits.

    Parameters
    ----------
    names : sequence of str, optional
        Which classifiers, by default all ten.
    seed : int
        Seed of the partition and of the classifiers.

    Returns
    -------
    Dataset
        `error` (algorithm, run, training), in percent, of 517 digits held out.

    Raises
    ------
    ValueError, TypeError, ModuleNotFoundError
        If there is no such classifier, the seed is no whole number from 0, or scikit-learn is not installed.

    Examples
    --------
    >>> errors = learning_curves(["1 neighbour"]).error
    >>> errors.count("run").to_numpy()
    array([[16,  8,  4,  2,  1]])
    """
    chosen = check_chosen("names", names, digit_learners())
    images, digits = sklearn("datasets").load_digits(return_X_y=True)
    return learning.partition_errors(chosen, images / 16, digits, sizes=SIZES, seed=seed)
