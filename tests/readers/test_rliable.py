import numpy as np
import pytest

from refusals import refused
from xcurves import Refusal, WrongType
from xcurves.readers import rliable

RNG = np.random.default_rng(0)
ARRAYS = {"dqn": RNG.normal(size=(4, 3, 2)), "sac": RNG.normal(size=(5, 3, 2))}


def test_every_score_of_runs_tasks_and_frames_finds_its_place():
    frame = rliable.scores(ARRAYS, tasks=["x", "y", "z"], frames=[10, 20])
    curves = frame.curves.to_dataarray("score", training="frame", extra="task")
    for name, array in ARRAYS.items():
        mine = curves.sel(algorithm=name).dropna("run").transpose("run", "task", "training")
        np.testing.assert_array_equal(mine, array)
    assert (curves.curves.randomized_anova(confidence_level=0.5).n_levels == 2).all()


def test_scores_without_frames_are_those_of_trials():
    scores = rliable.scores({name: array[..., 0] for name, array in ARRAYS.items()})
    trials = scores.curves.to_dataarray("score", training=None, extra="task")
    np.testing.assert_array_equal(trials.sel(algorithm="sac").transpose("run", "task"), ARRAYS["sac"][..., 0])


def test_a_file_of_arrays_is_read_and_one_cut_short_is_named(tmp_path):
    path = tmp_path / "scores.npz"
    np.savez(path, **ARRAYS)
    assert rliable.scores(path).equals(rliable.scores(ARRAYS))
    path.write_bytes(path.read_bytes()[:-30])
    with refused("path", str(path), "Copy it again, or remove it", names="damaged or no arrays of scores"):
        rliable.scores(path)


@pytest.mark.parametrize(
    ("arrays", "options", "expected", "kind"),
    [
        ([1.0], {}, ("arrays", "list", "Name it: "), WrongType),
        ({"a": np.ones(3)}, {}, ("arrays", "{'a': (3,)}"), Refusal),
        ({"a": np.ones((3, 2)), "b": np.ones((3, 4))}, {}, ("arrays", "{'a': (3, 2), 'b': (3, 4)}"), Refusal),
        (ARRAYS, {"tasks": ["x"]}, ("tasks", "1"), Refusal),
        (ARRAYS, {"frames": [1]}, ("frames", "1"), Refusal),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, options, expected, kind):
    with refused(*expected, kind=kind):
        rliable.scores(arrays, **options)
