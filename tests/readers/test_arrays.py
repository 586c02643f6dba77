"""Arrays of several algorithms do not say whether their second axis are steps or tasks; one array is a run."""

import numpy as np
import pytest

import xcurves
from refusals import refused
from xcurves import readers

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(3, 40), (3, 5), (3, 40, 2)])
def test_the_second_axis_is_asked_and_each_answer_has_it(tmp_path, shape):
    arrays = {name: RNG.normal(size=shape) for name in ("dqn", "ppo")}
    path = tmp_path / "scores.npz"
    np.savez(path, **arrays)
    with refused("path", names="second axis") as caught:
        readers.read(path)
    by_steps, by_tasks, *others = (eval(call, {"xcurves": xcurves}) for call in map(str, caught.value.cure.calls))
    for turned in others:  # of two axes
        assert dict(turned.sizes) == {"algorithm": 2, "run": shape[1], "training": shape[0]}
        np.testing.assert_array_equal(turned.sel(algorithm="ppo").transpose("training", "run"), arrays["ppo"])
    assert len(others) == (len(shape) == 2)
    assert by_steps.sizes["training"] == by_tasks.sizes["task"] == shape[1]
    assert f"{shape[1]} steps" in caught.value.choices[0].compares
    assert f"{shape[1]} tasks, 3 runs each" in caught.value.choices[1].compares
    for name, array in arrays.items():
        steps = by_steps.sel(algorithm=name).transpose("run", "training", ...)
        np.testing.assert_array_equal(steps, array)
        tasks = by_tasks.sel(algorithm=name).transpose("run", "task", ...)
        np.testing.assert_array_equal(tasks.squeeze(), array)
    assert by_steps.training.values.tolist() == [*range(1, shape[1] + 1)]


def test_arrays_of_one_kind_of_file_in_a_folder_are_runs(tmp_path):
    scores = {(name, run): RNG.normal(size=6) for name in "ab" for run in (0, 1)}
    for (name, run), array in scores.items():
        np.save(tmp_path / f"{name}_seed{run}.npy", array)
    frame = readers.read(tmp_path, names="{algorithm}_seed{run}.npy")
    curves = frame.curves.to_dataarray("score", training="step")
    assert curves.training.values.tolist() == [1, 2, 3, 4, 5, 6]
    for (name, run), array in scores.items():
        np.testing.assert_array_equal(curves.sel(algorithm=name, run=run), array)


@pytest.mark.parametrize(
    ("array", "reason", "cure"),
    [
        (np.ones((2, 3)), "does not say what the second axis", "source='array-curves'"),
        (np.array(["a"]), "scores of one run", "Save several in an .npz file"),
    ],
)
def test_an_array_that_is_no_run_is_refused_or_asked(tmp_path, array, reason, cure):
    np.save(tmp_path / "a.npy", array)
    with refused("path", cure=cure, names=reason):
        readers.read(tmp_path / "a.npy")
