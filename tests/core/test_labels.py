"""Options and seeds, and what a result is known by."""

import numpy as np
import pytest

import xcurves
from strategies import make_curves
from xcurves import results
from xcurves.core import labels, validation


@pytest.fixture
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)))


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        (
            {"confidence_level": 0},
            ValueError,
            "confidence_level must lie between 0 and 1; got 0. Usual: 0.95",
        ),
        (
            {"confidence_level": 95},
            ValueError,
            "confidence_level must lie between 0 and 1; got 95. Usual: 0.95",
        ),
        (
            {"confidence_level": "high"},
            ValueError,
            "confidence_level must lie between 0 and 1; got 'high'. Usual: 0.95",
        ),
        (
            {"n_resamples": 0},
            ValueError,
            "n_resamples must be at least 1; got 0. Leave it out for the default",
        ),
        (
            {"n_resamples": 10.5},
            TypeError,
            "n_resamples must be a whole number; got 10.5. Leave it out for the default",
        ),
        ({"paired": "yes"}, TypeError, "paired must be True or False; got 'yes'"),
        ({"keep_null": 1}, TypeError, "keep_null must be True or False; got 1"),
        (
            {"rng": -1},
            ValueError,
            "rng must not be negative; got -1. Give a whole number from 0, a Generator or None",
        ),
        (
            {"rng": "a"},
            TypeError,
            "rng must be a whole number, a numpy Generator or None; got 'a'. Try rng=0",
        ),
    ],
)
def test_options_are_named_with_what_came(curves, option, error, message):
    with pytest.raises(error) as caught:
        xcurves.randomized_anova(curves, **option)
    assert str(caught.value) == message


def test_an_int_is_its_own_seed_and_a_generator_is_drawn_from():
    generator = np.random.default_rng(5)
    assert validation.check_rng(7) == 7
    assert validation.check_rng(np.int64(7)) == 7
    first, second = validation.check_rng(generator), validation.check_rng(generator)
    assert first != second
    assert validation.check_rng(np.random.default_rng(5)) == first
    assert validation.check_rng(None) != validation.check_rng(None)


def test_a_result_is_known_by_its_variables_without_attrs(curves):
    result = xcurves.randomized_anova(curves)
    assert results.kind_of(result.drop_attrs()).name == "randomized_anova"


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("retrun", ["return", "loss"], ". Did you mean 'return'?"),
        ("return", [" Return"], ". Did you mean ' Return'?"),
        ("SAC", ["ppo", "sac"], ". Did you mean 'sac'?"),
        (11, [1, 110], ". Did you mean 110?"),
        ("--vlaue", ["--value", "--extra"], ". Did you mean '--value'?"),
        ("--bad", ["--paired", "--run"], ""),
        ("sac", ["td3"], ""),
        ("sac", [], ""),
    ],
)
def test_an_unknown_name_is_answered_by_the_known_one_that_is_most_like_it(name, known, said):
    assert labels.did_you_mean(name, known) == said


@pytest.mark.parametrize(
    ("dim", "noun"),
    [
        ("env_name", "env"),
        ("sample_id", "sample"),
        ("Key_Dataset", "dataset"),
        ("dataset_key", "dataset"),
        ("data_set", "data set"),
        ("data", "data set"),
        ("config/data", "data set"),
        ("config/env", "env"),
        ("MNIST_id", "MNIST"),
        ("Env", "Env"),
        ("key", "key"),
        ("difficulty", "difficulty task"),
        ("class", "class task"),
        ("_id", "task"),
        ("optim.lr", "lr task"),
        ("suite v1.5", "suite v1.5 task"),
        ("n", "n task"),
        ("tokens_seen", "tokens seen task"),
        ("unique_id", "series task"),
    ],
)
def test_the_name_of_a_column_is_a_noun(dim, noun):
    assert labels.noun(dim) == noun
