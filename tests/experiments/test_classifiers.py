"""The five classifiers, their ranges and their tasks."""

import numpy as np
import pytest
import xarray as xr

from refusals import refused

pytest.importorskip("sklearn")

from sklearn.datasets import load_digits

from experiments import classifiers
from experiments.classifiers import (
    ALGORITHMS,
    sample_data,
    sample_hyperparameters,
    train_and_score,
    trials,
    tune_and_score,
)


def draws(algorithm, n=2000):
    rng = np.random.default_rng(0)
    return [sample_hyperparameters(algorithm)(rng) for _ in range(n)]


RANGES = {
    "k-NN": {"n_neighbors": {3, 4, 5, 10, 25, 50}},
    "RF": {
        "criterion": {"gini", "entropy"},
        "min_samples_split": {2, 4, 8, 16},
        "min_samples_leaf": {1, 3, 5},
    },
    "SVM": {
        "kernel": {"linear", "poly", "rbf", "sigmoid"},
        "degree": {None, 2, 3, 4, 5},
    },
    "LR": {},
    "NN": {
        "activation": {"logistic", "tanh", "relu"},
        "units_1": {50, 100, 150},
        "units_2": {None, 50, 100, 150},
    },
}
LOG_UNIFORM = {
    "RF": ("n_estimators", 10, 100),
    "SVM": ("C", 0.01, 100),
    "LR": ("C", 0.0001, 10000),
    "NN": ("learning_rate_init", 0.0001, 0.1),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_choices_are_those_of_appendix_a(algorithm):
    found = draws(algorithm)
    for name, values in RANGES[algorithm].items():
        assert {draw[name] for draw in found} == values
    assert all(set(draw) == {*RANGES[algorithm], *LOG_UNIFORM.get(algorithm, ("n_neighbors",))[:1]} for draw in found)


@pytest.mark.parametrize("algorithm", LOG_UNIFORM)
def test_ranges_are_log_uniform(algorithm):
    name, low, high = LOG_UNIFORM[algorithm]
    values = np.array([draw[name] for draw in draws(algorithm)])
    assert low <= values.min() < low * (high / low) ** 0.01 + (name == "n_estimators")
    assert high >= values.max() > high * (low / high) ** 0.01 - (name == "n_estimators")
    # thirds of the logarithms, each Binomial(2000, 1/3): 99.9 % within 3.3 standard deviations
    thirds = np.histogram(np.log(values), np.linspace(np.log(low), np.log(high) + 1e-9, 4))[0]
    assert (abs(thirds - 2000 / 3) < 3.3 * np.sqrt(2000 * 2 / 9) + 40 * (name == "n_estimators")).all()


def test_a_degree_is_drawn_for_the_polynomial_kernel_alone():
    assert all((draw["degree"] is None) == (draw["kernel"] != "poly") for draw in draws("SVM"))


@pytest.mark.parametrize(
    ("dataset", "n_features", "n_classes", "n_points"),
    [
        ("moons", 2, 2, 2000),
        ("circles", 2, 2, 2000),
        ("linear", 10, 4, 2000),
        ("digits", 20, 10, 1797),
    ],
)
def test_tasks_are_split_60_to_40(dataset, n_features, n_classes, n_points):
    train, test = sample_data(dataset)(np.random.default_rng(0))
    assert train[0].shape == (len(train[1]), n_features)
    assert test[0].shape == (len(test[1]), n_features)
    assert len(train[1]) + len(test[1]) == n_points
    assert len(test[1]) == round(0.4 * n_points)
    assert len(set(train[1])) == len(set(test[1])) == n_classes


def test_eigenvectors_of_digits_are_those_of_the_training_data():
    (train, classes), _ = sample_data("digits", n_points=600)(np.random.default_rng(0))
    assert train.shape == (360, 20)
    np.testing.assert_allclose(np.cov(train.T.astype(float)), np.eye(20), atol=1e-4)
    assert set(classes) <= set(load_digits().target)


@pytest.mark.slow
def test_a_bundle_may_have_more_tuned_trials_than_random_ones(monkeypatch):
    monkeypatch.setattr(classifiers, "DATASETS", ("moons",))
    monkeypatch.setattr(classifiers, "ALGORITHMS", ("k-NN", "SVM"))
    made = classifiers.classifier_trials(1, 2, points=400)
    assert made.accuracy.count("run").squeeze("dataset").values.tolist() == [
        [2, 2],
        [1, 1],
    ]
    assert np.isnan(made.knn_n_neighbors.values).tolist() == [False, True]
    assert made.svm_kernel.values[1] == ""
    xr.testing.assert_identical(made.isel(run=[0]), classifiers.classifier_trials(1, 1, points=400))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_classifier_learns_moons(algorithm):
    train, test = sample_data("moons")(np.random.default_rng(0))
    good = {
        "k-NN": {"n_neighbors": 10},
        "RF": {
            "n_estimators": 30,
            "criterion": "gini",
            "min_samples_split": 2,
            "min_samples_leaf": 3,
        },
        "SVM": {"C": 1.0, "kernel": "rbf", "degree": None},
        "LR": {"C": 1.0},
        "NN": {
            "activation": "relu",
            "units_1": 100,
            "units_2": None,
            "learning_rate_init": 0.03,
        },
    }
    score = train_and_score(algorithm)(good[algorithm], train, test, np.random.default_rng(0))
    assert score > 0.8


def test_tuning_takes_the_best_of_its_draws_by_cross_validation():
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    train, test = sample_data("moons", n_points=200)(np.random.default_rng(0))
    score = tune_and_score("SVM", n_draws=6)({}, train, test, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    folds = StratifiedKFold(3, shuffle=True, random_state=int(rng.integers(2**31)))
    models = []
    for _ in range(6):
        draw = {name: value for name, value in sample_hyperparameters("SVM")(rng).items() if value is not None}
        models.append(SVC(**draw))
    validated = [cross_val_score(model, *train, cv=folds).mean() for model in models]
    best = models[int(np.argmax(validated))]
    assert len(set(validated)) > 1
    assert score == best.fit(*train).score(*test)


def test_algorithms_meet_the_same_data_and_a_trial_is_the_same_alone():
    options = {"n_points": 200, "seed": 4}
    few, more = (
        trials("moons", "random", "k-NN", 2, **options),
        trials("moons", "random", "k-NN", 4, **options),
    )
    assert (few.values == more.values[:2]).all()
    assert trials("circles", "random", "k-NN", 4, **options).n_neighbors.equals(more.n_neighbors)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: sample_data("moons", n_points=0), ("n_points", 0, "Usual: 1000")),
        (lambda: tune_and_score("SVM", n_draws=0), ("n_draws", 0, "Usual: 1000")),
        (lambda: tune_and_score("SVM", n_folds=1), ("n_folds", 1, "Usual: 1000")),
        (lambda: trials("iris", "random", "SVM", 1), ("dataset", "iris", "Did you mean 'digits'?")),
        (lambda: trials("moons", "both", "SVM", 1), ("tuning", "both")),
        (lambda: trials("moons", "random", "svm", 1), ("algorithm", "svm", "Did you mean 'SVM'?")),
    ],
)
def test_unknown_names_are_errors_that_list_those_known(call, expected):
    with refused(*expected):
        call()


def test_a_bundle_with_failed_trials_is_not_made(monkeypatch):
    monkeypatch.setattr(classifiers, "DATASETS", ("moons",))
    monkeypatch.setattr(classifiers, "ALGORITHMS", ("k-NN",))
    with (
        pytest.warns(UserWarning),
        pytest.raises(
            RuntimeError,
            match=r"trials failed: moons tuned k-NN: ValueError: Expected n_neighbors",
        ),
    ):
        classifiers.classifier_trials(1, 1, points=60)
