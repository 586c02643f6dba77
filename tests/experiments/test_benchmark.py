import numpy as np
import pytest

from layers import every
from refusals import refused

benchmark = pytest.importorskip("experiments.benchmark")
pytest.importorskip("sklearn")


def test_no_run_depends_on_what_else_is_computed():
    one = benchmark.learning_curves(["iris"], ["decision tree"], n_runs=1).accuracy
    more = benchmark.learning_curves(["wine", "iris"], ["5 neighbours", "decision tree"], n_runs=2).accuracy
    np.testing.assert_array_equal(one.squeeze(), more.sel(task="iris", algorithm="decision tree").isel(run=0))
    assert not more.isel(run=0).equals(more.isel(run=1))


@pytest.mark.parametrize("task", every(5, zip(benchmark.tasks(), strict=True)))
def test_a_task_is_the_same_table_for_a_seed(task):
    make = benchmark.tasks()[task]
    (x, y), (again, classes) = (
        make(np.random.default_rng(3)),
        make(np.random.default_rng(3)),
    )
    np.testing.assert_array_equal(x, again)
    np.testing.assert_array_equal(y, classes)
    assert x.shape == (len(y), x.shape[1])
    assert 2 <= len(np.unique(y)) <= 18


def test_generated_tasks_are_what_they_say():
    x, y = benchmark.tasks()["parity"](np.random.default_rng(0))
    np.testing.assert_array_equal(y, x[:, 0] ^ x[:, 1] ^ x[:, 2])
    x, y = benchmark.tasks()["checkerboard"](np.random.default_rng(0))
    wrong = y != ((x[:, 0] // 1 + x[:, 1] // 1) % 2 == 1)
    assert 0.07 < wrong.mean() < 0.13
    x, y = benchmark.tasks()["waveform"](np.random.default_rng(0))
    # both triangles are 6 high: 3 on average
    for kind, peaks in enumerate([(7, 15), (15, 11), (11, 7)]):
        np.testing.assert_allclose(
            x[y == kind].mean(axis=0)[np.array(peaks) - 1].sum(),
            6 + 2 * (peaks != (7, 15)),
            atol=0.6,
        )


def test_names_are_checked():
    with refused("names", "mnist", cure="Did you mean 'moons'?"):
        benchmark.learning_curves(["mnist"])
    with refused("n_runs", 0, cure="Usual: 1000"):
        benchmark.learning_curves(["iris"], n_runs=0)
