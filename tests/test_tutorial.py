import re
import shlex
from importlib.resources import files

import numpy as np
import pytest
import xarray as xr

import xcurves
from xcurves.experiments import tictactoe


@pytest.fixture(scope="module")
def curves():
    return xcurves.tutorial.open_dataset("tictactoe")


@pytest.fixture(scope="module")
def remade(curves, tmp_path_factory):
    """The file that the recorded command writes."""
    python, m, module, *arguments = shlex.split(curves.attrs["command"])
    assert (python, m, module) == ("python", "-m", tictactoe.__name__)
    folder = tmp_path_factory.mktemp("remade")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        tictactoe.main(arguments)
    return folder / "tictactoe.nc"


def test_tictactoe_has_three_algorithms_of_ten_runs_at_eight_levels(curves):
    assert dict(curves.sizes) == {"algorithm": 3, "run": 10, "training": 8}
    assert curves.score.dims == ("algorithm", "run", "training")
    assert curves.algorithm.values.tolist() == ["rate 0.001", "rate 0.8", "rate 0.1"]
    assert curves.training.values.tolist() == [0, 200, 500, 1000, 2000, 3000, 5000, 8000]


def test_tictactoe_scores_are_whole_numbers_of_games_out_of_100(curves):
    scores = curves.score.values
    assert np.isfinite(scores).all()
    assert (scores == np.round(scores)).all()
    assert (abs(scores) <= 100).all()


def test_trained_learners_score_far_above_random_ones(curves):
    means = curves.score.mean("run")
    assert (means.isel(training=-1) > means.isel(training=0) + 50).all()


def test_tictactoe_is_remade_by_its_command(curves, remade):
    with xr.open_dataset(remade, engine="scipy") as found:
        xr.testing.assert_identical(found.load(), curves)


def test_the_file_is_remade_byte_for_byte(remade):
    assert remade.read_bytes() == (files("xcurves") / "data" / "tictactoe.nc").read_bytes()


def test_curves_are_in_memory_and_of_ones_own(curves):
    mine = xcurves.tutorial.open_dataset("tictactoe")
    mine.score[:] = 0
    xr.testing.assert_identical(xcurves.tutorial.open_dataset("tictactoe"), curves)


@pytest.mark.parametrize("name", ["checkers", "", "tictactoe.nc", "../data/tictactoe"])
def test_an_unknown_name_is_an_error_that_lists_those_known(name):
    with pytest.raises(ValueError, match=rf"^name must be one of .*'tictactoe'.*; got {re.escape(repr(name))}$"):
        xcurves.tutorial.open_dataset(name)
