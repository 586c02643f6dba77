"""Evaluations that EvalCallback saved while real agents trained."""

from pathlib import Path

import numpy as np
import pytest

import labelled
from refusals import refused

LOGS = Path(__file__).parent / "logs" / "stable-baselines3"
FILES = sorted(LOGS.rglob("evaluations.npz"))


@pytest.fixture
def a_file(tmp_path):
    path = tmp_path / "sac" / "0" / "evaluations.npz"
    path.parent.mkdir(parents=True)
    return path


def test_every_episode_of_every_evaluation_is_there():
    frame = labelled.read(LOGS, source="evaluations")
    assert list(frame) == [
        "algorithm",
        "run",
        "step",
        "episode",
        "return",
        "episode_length",
    ]
    assert len(FILES) == 4
    for path in FILES:
        saved = np.load(path)
        rows = frame[(frame.algorithm == path.parent.parent.name) & (frame.run == int(path.parent.name))]
        for i, step in enumerate(saved["timesteps"]):
            at_step = rows[rows.step == step]
            assert at_step["return"].tolist() == saved["results"][i].tolist()
            assert at_step["episode_length"].tolist() == saved["ep_lengths"][i].tolist()


def test_episodes_of_an_evaluation_are_averaged():
    curves = labelled.read(LOGS, source="evaluations").curves.to_dataarray("return", training="step", duplicates="mean")
    for path in FILES:
        mine = curves.sel(algorithm=path.parent.parent.name, run=int(path.parent.name))
        np.testing.assert_allclose(mine, np.load(path)["results"].mean(axis=1))


def test_success_is_read_where_it_was_logged(a_file):
    np.savez(
        a_file,
        timesteps=[10],
        results=[[1.0, 2.0]],
        ep_lengths=[[3, 4]],
        successes=[[True, False]],
    )
    assert labelled.read(a_file.parents[2], source="evaluations")["success"].tolist() == [True, False]
    assert list(labelled.read(a_file, source="evaluations")) == [
        "step",
        "episode",
        "return",
        "episode_length",
        "success",
    ]


def test_pickle_is_never_loaded(a_file):
    ragged = np.array([[1.0, 2.0], [3.0]], dtype=object)
    np.savez(a_file, timesteps=[1, 2], results=ragged, ep_lengths=ragged)
    with refused("path", cure="Copy it again, or remove it", names=r"allow_pickle=False"):
        labelled.read(a_file, source="evaluations")


@pytest.mark.parametrize(
    "arrays",
    [
        {"timesteps": [1, 2]},
        {"timesteps": [1, 2], "results": [[1.0]]},
        {"timesteps": [1, 2], "results": [1.0, 2.0]},
        {
            "timesteps": [1, 2],
            "results": [[1.0], [2.0]],
            "ep_lengths": [[1, 1], [2, 2]],
        },
    ],
)
def test_arrays_that_are_no_evaluations_are_refused(a_file, arrays):
    np.savez(a_file, **arrays)
    reason = "damaged or no .*: (arrays must have one|'results')"
    with refused("path", str(a_file), "Copy it again, or remove it", names=reason) as caught:
        labelled.read(a_file, source="evaluations")
    assert str(caught.value).count(str(a_file)) == 1
