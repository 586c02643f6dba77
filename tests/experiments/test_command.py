from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr

from xcurves.experiments import classifiers, command, pendulum


def make(n_runs: int = 10, levels: Sequence[int] = (0, 5), *, seed: int = 3):
    """Make numbers."""
    if n_runs < 1:
        raise ValueError("n_runs must be at least 1")
    values = np.random.default_rng(seed).random((n_runs, len(levels)))
    return xr.Dataset(
        {"score": (("run", "training"), values)}, {"training": list(levels)}
    )


def run(*arguments):
    command.run(make, list(map(str, arguments)))


def opened(path):
    return xr.load_dataset(path, engine="scipy")


@pytest.mark.parametrize(
    ("given", "recorded"),
    [
        ([], "--seed 3"),
        (["--seed", 7], "--seed 7"),
        (["--n-runs", 10], "--seed 3"),
        (["--levels", 1, 2, 9, "--n-runs", 2], "--seed 3 --n-runs 2 --levels 1 2 9"),
    ],
)
def test_the_recorded_command_remakes_the_file(tmp_path, given, recorded):
    run(tmp_path / "a.nc", *given)
    made = opened(tmp_path / "a.nc")
    assert (
        made.attrs["command"]
        == f"python -m xcurves.experiments.test_command a.nc {recorded}"
    )
    (tmp_path / "again").mkdir()
    run(tmp_path / "again" / "a.nc", *recorded.split())
    assert (tmp_path / "again" / "a.nc").read_bytes() == (
        tmp_path / "a.nc"
    ).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["no/such/a.nc"],
            "path no/such/a.nc: there is no folder no/such. Make it, or name another",
        ),
        (["a.nc", "--n-runs", "0"], "n_runs must be at least 1"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(
    tmp_path, monkeypatch, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        run(*arguments)
    assert capsys.readouterr().err.endswith(
        f"python -m xcurves.experiments.test_command: error: {message}\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "made", [pendulum.pendulum_trials, classifiers.classifier_trials]
)
def test_long_work_is_not_begun_where_it_cannot_be_written(tmp_path, capsys, made):
    with pytest.raises(SystemExit, match="2"):
        command.run(made, [str(tmp_path / "no" / "a.nc")])
    assert "there is no folder" in capsys.readouterr().err


def test_help_is_the_docstring(capsys):
    with pytest.raises(SystemExit, match="0"):
        run("--help")
    assert "Make numbers." in capsys.readouterr().out
