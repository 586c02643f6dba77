"""Algorithm 1: what is drawn from what, what is recorded of failures, what an archive refuses."""

import math

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from xcurves.core.refusal import give
from xcurves.distributions.dse import dse, one_trial


def sample_hyperparameters(rng):
    kernel = ["linear", "poly"][rng.integers(2)]
    return {
        "C": rng.uniform(),
        "kernel": kernel,
        "degree": int(rng.integers(2, 6)) if kernel == "poly" else None,
    }


def sample_data(rng):
    return rng.normal(size=5), rng.normal(size=3)


def train_and_score(hyperparameters, train, test, rng):
    return hyperparameters["C"] + train.mean() + test.sum() + rng.normal()


ALGORITHM = (train_and_score, sample_hyperparameters, sample_data)


def test_scores_are_those_of_algorithm_1_written_out():
    scores = dse(*ALGORITHM, 6, rng=3)
    for index in range(6):
        seeds = np.random.SeedSequence(3, spawn_key=(index,)).spawn(3)
        hyper, data, training = (np.random.default_rng(seed) for seed in seeds)
        kernel = ["linear", "poly"][hyper.integers(2)]
        expected = hyper.uniform() + data.normal(size=5).mean() + data.normal(size=3).sum() + training.normal()
        assert scores.sel(run=index).item() == expected
        assert scores.kernel.sel(run=index).item() == kernel


def test_hyperparameters_are_coordinates_of_their_kinds():
    scores = dse(*ALGORITHM, 30, rng=0)
    assert scores.dims == ("run",)
    assert set(scores.coords) == {"run", "C", "kernel", "degree", "error"}
    assert scores.C.dtype == scores.degree.dtype == float
    assert (np.isnan(scores.degree) == (scores.kernel == "linear")).all()
    assert set(scores.kernel.values) == {"linear", "poly"}
    assert (scores.error == "").all()


def test_any_trial_can_be_run_alone():
    scores = dse(*ALGORITHM, 20, rng=11)
    for index in (0, 7, 19):
        assert one_trial(*ALGORITHM, index, rng=11) == scores.sel(run=index).item()


def test_algorithms_of_one_seed_meet_the_same_data():
    def hungry(rng):
        rng.normal(size=100)
        return {"C": 0.0}

    def first_datum(hyperparameters, train, test, rng):
        return train[0]

    one = dse(first_datum, sample_hyperparameters, sample_data, 5, rng=2)
    other = dse(first_datum, hungry, sample_data, 5, rng=2)
    assert (one.values == other.values).all()
    assert (one.values != dse(first_datum, hungry, sample_data, 5, rng=3).values).all()


def odd(outcome):
    """Training that goes wrong in every third trial, the way that is given."""

    def train(hyperparameters, train, test, rng):
        if hyperparameters["index"] % 3:
            return 1.0
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    first = {
        np.random.default_rng(np.random.SeedSequence(0, spawn_key=(index,)).spawn(1)[0]).integers(2**60): index
        for index in range(5)
    }
    return train, lambda rng: {"index": first[rng.integers(2**60)]}, sample_data


@pytest.mark.plain(3)
@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (
            math.nan,
            "Refusal: train_and_score must return a finite number; got nan. Raise an error that says why",
        ),
        (
            math.inf,
            "Refusal: train_and_score must return a finite number; got inf. Raise an error that says why",
        ),
        (
            "0.9",
            "Refusal: train_and_score must return a finite number; got '0.9'. Convert it: float(...)",
        ),
        (
            None,
            "Refusal: train_and_score must return a finite number; got None. Convert it: float(...)",
        ),
        (
            1j,
            "Refusal: train_and_score must return a finite number; got 1j. Convert it: float(...)",
        ),
        (
            [1.0],
            "Refusal: train_and_score must return a finite number; got [1.0]. Convert it: float(...)",
        ),
        (
            np.bool_(True),
            "Refusal: train_and_score must return a finite number; got np.True_. Convert it: float(...)",
        ),
        (
            True,
            "Refusal: train_and_score must return a finite number; got True. Convert it: float(...)",
        ),
        (
            np.ones(1),
            "Refusal: train_and_score must return a finite number; got array([1.]). Convert it: float(...)",
        ),
        (RuntimeError("no\nmemory"), "RuntimeError: no memory"),
    ],
)
def test_a_failing_trial_is_recorded_and_the_others_go_on(tmp_path, outcome, error):
    with pytest.warns(UserWarning, match="It has no score") as caught:
        scores = dse(*odd(outcome), 5, path=tmp_path, rng=0)
    assert [str(each.message) for each in caught] == [
        f"trial 0: {error}. It has no score; its error is kept (in 2 trials)"
    ]
    assert caught[0].filename == __file__
    assert scores.error.values.tolist() == [error, "", "", error, ""]
    assert np.isnan(scores.values).tolist() == [True, False, False, True, False]
    assert scores["index"].values.tolist() == [0, 1, 2, 3, 4]
    if isinstance(outcome, Exception):
        with pytest.raises(RuntimeError, match="no\nmemory"):
            one_trial(*odd(outcome), 0, rng=0)
    assert scores.curves.performance_cdf().n_trials.item() == 3
    with pytest.warns(UserWarning, match="It has no score"):
        xr.testing.assert_identical(dse(*odd(outcome), 5, path=tmp_path, rng=0), scores)


@pytest.mark.filterwarnings("ignore:trial 0")
def test_a_failing_trial_keeps_hyperparameters_that_training_took_away():
    def train(hyperparameters, *_):
        raise RuntimeError(hyperparameters.pop("kernel"))

    scores = dse(train, sample_hyperparameters, sample_data, 1, rng=0)
    assert scores.error.item() == f"RuntimeError: {scores.kernel.item()}"


@pytest.mark.filterwarnings("ignore:trial 0")
def test_data_that_fail_are_recorded_with_the_hyperparameters():
    def no_data(rng):
        raise OSError("disk")

    scores = dse(train_and_score, sample_hyperparameters, no_data, 2, rng=0)
    assert scores.error.values.tolist() == ["OSError: disk", "OSError: disk"]
    assert np.isnan(scores.values).all()
    assert np.isfinite(scores.C.values).all()


@pytest.mark.filterwarnings("ignore:trial 0")
def test_a_hyperparameter_that_a_file_cannot_name_is_an_error_of_its_trial(tmp_path):
    def untouched(*_):
        raise AssertionError("trained in vain")

    scores = dse(untouched, lambda rng: {"a/b": 1}, sample_data, 1, path=tmp_path, rng=0)
    assert scores.error.item().startswith("Refusal: a trial's values need names")


@pytest.mark.filterwarnings("ignore:trial 0")
@pytest.mark.parametrize("name", ["score", "run", "error"])
def test_a_hyperparameter_of_a_taken_name_is_an_error_of_its_trial(name):
    scores = dse(train_and_score, lambda rng: {name: 1}, sample_data, 1, rng=0)
    assert scores.error.item() == f"Refusal: a hyper-parameter must not be called {name!r}. Rename it"


def test_an_archive_resumes_and_equals_an_uninterrupted_run(tmp_path):
    dse(*ALGORITHM, 4, path=tmp_path, settings={"task": "moons"}, rng=5)
    resumed = dse(*ALGORITHM, 9, path=tmp_path, settings={"task": "moons"}, rng=5)
    xr.testing.assert_identical(resumed, dse(*ALGORITHM, 9, rng=5))


def test_an_archive_of_another_seed_or_task_is_refused(tmp_path):
    dse(*ALGORITHM, 2, path=tmp_path, settings={"task": "moons"}, rng=5)
    with refused("path", cure="Give another path, or the same settings", names='were made with rng = "5", not "6"'):
        dse(*ALGORITHM, 2, path=tmp_path, settings={"task": "moons"}, rng=6)
    with refused(
        "path", cure="Give another path, or the same settings", names=r"were made with task = .moons., not .circles."
    ):
        dse(*ALGORITHM, 2, path=tmp_path, settings={"task": "circles"}, rng=5)


def test_the_seed_is_recorded_so_that_unseeded_trials_can_be_run_again():
    scores = dse(*ALGORITHM, 3)
    assert one_trial(*ALGORITHM, 2, rng=int(scores.attrs["rng"])) == scores.sel(run=2).item()


@pytest.mark.parametrize(
    ("index", "rng", "expected", "kind"),
    [
        (1, None, ("rng", None, give(rng=0)), xcurves.WrongType),
        (-1, 0, ("index", -1, "The first trial is 0"), xcurves.Refusal),
        (1.5, 0, ("index", 1.5, "The first trial is 0"), xcurves.Refusal),
    ],
)
def test_a_trial_is_run_again_by_its_seed_and_index(index, rng, expected, kind):
    with refused(*expected, kind=kind):
        one_trial(*ALGORITHM, index, rng=rng)


@pytest.mark.parametrize("rng", [None, np.random.default_rng(0)])
def test_an_archive_needs_a_seed_that_is_the_same_tomorrow(tmp_path, rng):
    with refused("rng", cure=give(rng=0), kind=xcurves.WrongType):
        dse(*ALGORITHM, 2, path=tmp_path, rng=rng)


def test_settings_that_are_no_mapping_are_refused():
    with refused("settings", 3, cure="Try settings={'task': 'a'}", kind=xcurves.WrongType):
        dse(*ALGORITHM, 2, settings=3, rng=0)


@pytest.mark.parametrize("place", range(3))
def test_what_is_no_function_is_refused(place):
    functions = list(ALGORITHM)
    functions[place] = 0.5
    for call in (
        lambda: dse(*functions, 2, rng=0),
        lambda: one_trial(*functions, 0, rng=0),
    ):
        with refused("trials", 0.5, "Give the function itself", names="got 0.5", kind=xcurves.WrongType):
            call()
