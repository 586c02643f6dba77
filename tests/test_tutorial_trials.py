"""The data sets of trials: what is in them, and that their recorded commands remake them."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

import xcurves
from experiments import make, pendulum
from experiments.shared import fingerprint
from layers import every


@pytest.fixture(scope="module")
def classifiers():
    return xcurves.tutorial.open_dataset("classifiers")


@pytest.fixture(scope="module")
def swings():
    return xcurves.tutorial.open_dataset("pendulum")


def options(name, function):
    """What the recorded command asks of a function."""
    bound = inspect.signature(function).bind(**make.EXAMPLES[name].options)
    bound.apply_defaults()
    return SimpleNamespace(**bound.arguments)


def same_machine(dataset, **versions):
    """Skip, and say so, where numbers must differ in their last bits and so, after learning, in their first."""
    recorded = {name: dataset.attrs[name] for name in (*versions, "arithmetic")}
    here = {**versions, "arithmetic": fingerprint()}
    if recorded != here:
        pytest.skip(f"made with {recorded}, here is {here}")


def test_classifiers_are_what_their_command_says(classifiers):
    made = pytest.importorskip("experiments.classifiers")
    said = options("classifiers", made.classifier_trials)
    assert classifiers.accuracy.dims == ("dataset", "tuning", "algorithm", "run")
    assert classifiers.dataset.values.tolist() == [
        "moons",
        "circles",
        "linear",
        "digits",
    ]
    assert classifiers.algorithm.values.tolist() == ["k-NN", "RF", "SVM", "LR", "NN"]
    counts = classifiers.accuracy.count("run")
    assert (counts.sel(tuning="random") == said.random).all()
    assert (counts.sel(tuning="tuned", dataset=["moons", "circles", "linear"]) == said.tuned).all()
    assert (counts.sel(tuning="tuned", dataset="digits") == said.tuned_digits).all()
    assert (said.points, said.seed) == (classifiers.n_points, classifiers.seed)
    hits = classifiers.accuracy * round(0.4 * said.points)  # of so many test points
    np.testing.assert_allclose(hits, hits.round(), atol=1e-9)
    assert len(classifiers.data_vars) <= 15


QUICK = [
    ("random", "k-NN", 3),
    ("random", "RF", 2),
    ("random", "SVM", 3),
    ("random", "LR", 1),
    ("random", "NN", 2),
    ("tuned", "k-NN", 2),
]
TUNED_SVM = [("moons", "tuned", "SVM", 1), ("circles", "tuned", "SVM", 1)]


@pytest.mark.slow
def test_hyperparameters_of_classifiers_are_drawn_again(classifiers):
    """These depend on numpy's streams, which do not change between versions, and on how exponentials are rounded.

    Where that is as recorded they are equal. Elsewhere logarithms up to 9.2 round by 2**-49, which is 8 units in the
    last place of their exponential.
    """
    units = 0 if classifiers.arithmetic == fingerprint() else 8
    made = pytest.importorskip("experiments.classifiers")
    for algorithm, prefix in zip(made.ALGORITHMS, ("knn", "rf", "svm", "lr", "nn"), strict=True):
        for run in range(classifiers.sizes["run"]):
            seeds = np.random.SeedSequence(classifiers.seed, spawn_key=(run,)).spawn(3)
            for name, value in made.sample_hyperparameters(algorithm)(np.random.default_rng(seeds[0])).items():
                found = classifiers[f"{prefix}_{name}"].values[run]
                if isinstance(value, float):
                    np.testing.assert_array_max_ulp(found, np.float64(value), maxulp=units)
                else:
                    assert found == value or (value is None and np.isnan(found))


@pytest.mark.plain(3)
@pytest.mark.parametrize(
    ("dataset", "tuning", "algorithm", "n_trials"),
    every(3, [(dataset, *cell) for dataset in ("moons", "circles", "linear", "digits") for cell in QUICK] + TUNED_SVM),
)
def test_classifiers_are_remade_bit_for_bit(classifiers, dataset, tuning, algorithm, n_trials):
    made = pytest.importorskip("experiments.classifiers")
    pytest.importorskip("sklearn")
    same_machine(classifiers, **made.versions())
    options = {"n_points": classifiers.n_points, "seed": classifiers.seed}
    remade = made.trials(dataset, tuning, algorithm, n_trials, **options)
    bundled = classifiers.accuracy.sel(dataset=dataset, tuning=tuning, algorithm=algorithm)
    assert remade.values.tolist() == bundled.values[:n_trials].tolist()


def test_pendulum_is_what_its_command_says(swings):
    said = options("pendulum", pendulum.pendulum_trials)
    assert swings.score.dims == ("algorithm", "run", "training")
    counts = swings.score.count("run")
    assert (counts.sel(algorithm="actor-critic") == said.actor_critic).all()
    assert (counts.sel(algorithm="PPO") == said.ppo).all()
    assert swings.repeated_score.shape == (4, said.repeats, 20)
    assert said.seed == swings.seed
    assert (abs(swings.score.fillna(0)) <= 200).all()


def test_percentile_runs_are_at_their_percentiles(swings):
    scores = swings.score.sel(algorithm="PPO").mean("training").dropna("run")
    for percentile, run in zip(swings.percentile.values, swings.percentile_run.values, strict=True):
        value = np.quantile(scores.values, percentile / 100, method="inverted_cdf")
        assert scores.sel(run=run).item() == pytest.approx(value, abs=1e-4)


@pytest.mark.plain(1)
@pytest.mark.parametrize(("algorithm", "runs"), [("actor-critic", (0, 1, 999)), ("PPO", (2,))])
def test_pendulum_is_remade_bit_for_bit(swings, algorithm, runs):
    same_machine(swings, numpy=np.__version__)
    # Training goes on from there, so its first curves are those of the whole.
    n_episodes = 20
    remade = pendulum.learning_curves(algorithm, runs, n_episodes=n_episodes, n_levels=4, seed=swings.seed)
    bundled = swings.score.sel(algorithm=algorithm, run=list(runs)).isel(training=slice(4))
    assert remade.training.values.tolist() == bundled.training.values.tolist()
    assert remade.values.astype(np.float32).tolist() == bundled.values.tolist()


@pytest.mark.slow
def test_repeats_are_remade_bit_for_bit(swings):
    same_machine(swings, numpy=np.__version__)
    run = int(swings.percentile_run.sel(percentile=99))
    remade = pendulum.repeated("PPO", run, 2, n_episodes=10, n_levels=2, seed=swings.seed)
    bundled = swings.repeated_score.sel(percentile=99).values[:2, :2]
    assert remade.values.astype(np.float32).tolist() == bundled.tolist()


def test_the_paper_s_ranks(classifiers):
    """Table 1 of Jordan et al.: what tuning moves and what it does not, on moons and circles."""
    cvar = classifiers.accuracy.curves.performance_cdf(cvar_level=0.5).cvar.squeeze("cvar_level")
    cvar = cvar.sel(dataset=["moons", "circles", "linear"])
    # on like data
    behind = (cvar.sel(algorithm="k-NN") - cvar.sel(algorithm="SVM")).sel(dataset=["moons", "circles"])
    assert (behind.sel(tuning="random") > 0.03).all()
    assert (abs(behind.sel(tuning="tuned")) < 0.01).all()
    moved = (cvar.sel(tuning="tuned") - cvar.sel(tuning="random")).sel(dataset=["moons", "circles"])
    assert (moved.sel(algorithm="SVM") > 0.03).all()
    assert (abs(moved.sel(algorithm=["k-NN", "RF"])) < 0.01).all()
    tuned = cvar.sel(tuning="tuned")
    assert (tuned.max("algorithm") - tuned.sel(algorithm="SVM") < 0.01).all()
    assert (tuned.sel(algorithm="LR") == tuned.min("algorithm")).all()
