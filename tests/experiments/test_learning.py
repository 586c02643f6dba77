import sys
from typing import ClassVar

import numpy as np
import pytest
import xarray as xr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import xcurves
from experiments import digits, endgames, learning
from refusals import raises_other, refused

Y = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [40, 25, 15]))
# the first column is a name
X = np.column_stack([np.arange(80), Y + np.random.default_rng(1).normal(0, 0.7, 80)])
TREE = DecisionTreeClassifier()


class Spy(ClassifierMixin, BaseEstimator):
    """Notes the examples that it is shown, and is right about the even ones."""

    seen: ClassVar[list] = []

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, x, y):
        self.train_ = x[:, 0].astype(int)
        np.testing.assert_array_equal(Y[self.train_], y)
        return self

    def predict(self, x):
        test = x[:, 0].astype(int)
        Spy.seen.append((self.train_, test, self.random_state))
        return np.where(test % 2 == 0, Y[test], -1)


@pytest.fixture
def seen():
    Spy.seen = []
    yield Spy.seen
    Spy.seen = []


# Cross-validation

LEVELS = [10, 33, 70]


def cross_validated(estimators=None, levels=LEVELS, n_folds=8, seed=0):
    return learning.cross_validation(estimators or {"tree": TREE}, X, Y, levels=levels, n_folds=n_folds, seed=seed)


def test_folds_share_out_the_examples_and_levels_are_nested(seen):
    curves = cross_validated({"spy": Spy()})
    by_fold = [seen[start : start + 3] for start in range(0, 24, 3)]
    held_out = [levels[0][1] for levels in by_fold]
    assert sorted(np.concatenate(held_out)) == list(range(80))
    for fold, (levels, test) in enumerate(zip(by_fold, held_out, strict=True)):
        for (train, same, _), level in zip(levels, LEVELS, strict=True):
            assert len(set(train)) == len(train) == level
            assert not set(train) & set(test)
            np.testing.assert_array_equal(same, test)
            np.testing.assert_array_equal(train, levels[-1][0][:level])
        assert (curves.accuracy.isel(algorithm=0, run=fold) == 100 * np.mean(test % 2 == 0)).all()


def test_folds_and_beginnings_have_the_classes_in_proportion(seen):
    cross_validated({"spy": Spy()})
    for train, test, _ in seen:
        for part in (train, test):
            assert (abs(np.bincount(Y[part], minlength=3) - len(part) * np.array([40, 25, 15]) / 80) <= 1.5).all()


def test_all_algorithms_have_the_same_folds_and_states_of_their_own_folds_and_levels(
    seen,
):
    cross_validated({"a": Spy(), "b": Spy()})
    for (train, test, state), (train_b, test_b, state_b) in zip(seen[::2], seen[1::2], strict=True):
        np.testing.assert_array_equal(train, train_b)
        np.testing.assert_array_equal(test, test_b)
        assert state == state_b
    assert len({state for *_, state in seen}) == 24


def test_accuracy_is_that_of_a_plain_loop():
    found = cross_validated().accuracy
    assert found.attrs["units"] == "%"
    spy = {"spy": Spy()}
    Spy.seen = []
    cross_validated(spy)
    plain = []
    for train, test, state in Spy.seen:
        tree = DecisionTreeClassifier(random_state=state).fit(X[train], Y[train])
        plain.append(100 * tree.score(X[test], Y[test]))
    np.testing.assert_allclose(found.isel(algorithm=0).values.ravel(), plain, rtol=1e-12)


@pytest.mark.slow
def test_a_curve_does_not_depend_on_other_algorithms_or_levels():
    both = cross_validated(
        {
            "tree": TREE,
            "piped": make_pipeline(StandardScaler(), TREE),
            "dummy": DummyClassifier(),
        }
    )
    xr.testing.assert_identical(both.accuracy.sel(algorithm=["tree"]), cross_validated().accuracy)
    some = cross_validated(levels=[33])
    xr.testing.assert_identical(some.accuracy, cross_validated().accuracy.sel(training=[33]))
    assert (cross_validated(seed=1).accuracy != cross_validated().accuracy).any()


def test_levels_are_ten_steps_up_to_what_every_fold_leaves():
    curves = learning.cross_validation({"tree": TREE}, X, Y, n_folds=3, seed=0)
    assert curves.training.values.tolist() == [53 * step // 10 for step in range(1, 11)]


def test_folds_go_into_a_paired_analysis_and_say_what_it_speaks_of():
    curves = cross_validated({"tree": TREE, "dummy": DummyClassifier()})
    assert xcurves.randomized_anova(curves.accuracy, paired=True).n_assignments == 2**7
    assert "share training data" in curves.attrs["comment"]


# Partitions

SIZES = [6, 12, 24, 39]


def partitioned(estimators=None, sizes=SIZES, **options):
    return learning.partition_errors(estimators or {"tree": TREE}, X, Y, sizes=sizes, seed=0, **options)


def test_parts_of_one_size_are_disjoint_and_balanced_and_all_share_one_test_set(seen):
    errors = partitioned({"spy": Spy()}).error
    sizes = [len(train) for train, *_ in seen]
    assert sizes == [6] * 6 + [12] * 3 + [24, 39]
    held_out = seen[-1][1]
    for size in SIZES:
        parts = [train for train, *_ in seen if len(train) == size]
        assert len(set(np.concatenate(parts))) == sum(map(len, parts))
        for part in parts:
            assert np.bincount(Y[part]).tolist() == [size // 3] * 3
            assert not set(part) & set(held_out)
    assert all(np.array_equal(test, held_out) for _, test, _ in seen)
    assert len(held_out) == 80 - 39
    assert errors.count("run").values.tolist() == [[6, 3, 1, 1]]
    assert errors.attrs["units"] == "%"
    np.testing.assert_allclose(errors.max(), 100 * np.mean(held_out % 2 == 1), rtol=1e-12)


@pytest.mark.slow
def test_digits_have_the_partition_of_all_learners():
    some = digits.learning_curves(["decision tree"], seed=5)
    assert some.error.count("run").values.tolist() == [[16, 8, 4, 2, 1]]
    with refused("names", "oracle"):
        digits.learning_curves(["oracle"])


# Bad input

BAD = [
    (
        cross_validated,
        {"levels": [20, 10]},
        r"levels must increase, from at least 3, .*; got \[20, 10\]. Sort them",
    ),
    (
        cross_validated,
        {"levels": [2, 10]},
        r"levels must increase, from at least 3, .*; got \[2, 10\]. Sort them",
    ),
    (
        cross_validated,
        {"levels": [10, 71]},
        "levels must be at most 70, which 8 folds leave for training; got 71",
    ),
    (
        cross_validated,
        {"n_folds": 81},
        "n_folds must lie between 2 and the number of examples, 80; got 81",
    ),
    (
        partitioned,
        {"sizes": [12, 6]},
        r"sizes must increase, from at least 3, .*; got \[12, 6\]. Sort them",
    ),
    (
        partitioned,
        {"sizes": [6, 13]},
        "sizes must be multiples of 3, the number of classes; got 13. Nearest: 12",
    ),
    (
        partitioned,
        {"sizes": [6, 45]},
        "sizes must be at most 42: as many of every class, one .*; got 45",
    ),
]


@pytest.mark.parametrize(("make", "wrong", "message"), BAD)
def test_bad_arguments_are_named_with_the_cure(make, wrong, message):
    with raises_other(ValueError, match=f"^{message}$"):
        make(**wrong)


def test_examples_and_estimators_of_other_kinds_are_refused():
    with raises_other(ValueError, match=r"^x must have shape \(example, feature\) and y \(example,\)"):
        learning.cross_validation({"tree": TREE}, X, Y[:-1])
    with raises_other(ValueError, match=r"^y must have two.*is nothing to learn$"):
        learning.cross_validation({"tree": TREE}, X, np.zeros(len(X)))
    with raises_other(
        TypeError,
        match=r"^estimators must map names to classifiers; got DecisionTreeClassifier. Name",
    ):
        learning.cross_validation(TREE, X, Y)


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(
        ModuleNotFoundError,
        match=r"^this experiment needs scikit-learn. Install it: pip install 'xcur",
    ):
        endgames.learning_curves("endgame")
