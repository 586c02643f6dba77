"""Runs with their own levels, and points with coordinates: made from frames, aligned, archived, drawn, refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from refusals import refused
from xcurves.core.refusal import call, give
from xcurves.core.validation import check_curves

NAMES = ["task", "algorithm", "run", "training", "score"]


def timed_rows(n_runs: int = 12, *, seed: int = 0) -> pd.DataFrame:
    """Return runs that were evaluated at times of their own, in two tasks of unlike budgets."""
    rng = np.random.default_rng(seed)
    rows = []
    for task, budget in (("x", 100.0), ("y", 5.0)):
        for algorithm in "pq":
            for run in range(n_runs):
                times = np.sort(rng.random(rng.integers(5, 15))) * budget
                rows += [(task, algorithm, run, time, np.log1p(time) + rng.normal()) for time in times]
    return pd.DataFrame(rows, columns=NAMES)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return timed_rows()


@pytest.fixture(scope="module")
def curves(rows: pd.DataFrame) -> xr.DataArray:
    return xcurves.to_dataarray(rows, "score", extra="task", levels="run")


def test_each_run_has_its_rows_and_nothing_after_them(rows: pd.DataFrame, curves: xr.DataArray) -> None:
    longest = rows.groupby(["task", "algorithm", "run"]).size().max()
    assert curves.dims == curves.training.dims == ("task", "algorithm", "run", "evaluation")
    assert curves.sizes["evaluation"] == longest
    for (task, algorithm, run), own in rows.groupby(["task", "algorithm", "run"]):
        here = curves.sel(task=task, algorithm=algorithm, run=run)
        for got, column in ((here, "score"), (here.training, "training")):
            np.testing.assert_array_equal(got[: len(own)], own[column])
            assert got[len(own) :].isnull().all()


def test_the_union_is_refused_beyond_ten_cells_for_each_score(
    rows: pd.DataFrame,
) -> None:
    with refused("runs", cure=call(".curves.align", 20, relative_to="budget")):
        xcurves.to_dataarray(rows, "score", extra="task")
    few = rows[rows.run < 5]  # of two algorithms: ten runs, so ten cells for each score
    assert xcurves.to_dataarray(few, "score", extra="task").notnull().sum() == len(few)


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    "options",
    [
        {"on": 5},
        {"on": [0.2, 0.5, 1], "relative_to": "budget"},
        {"on": [1, 2, 3.0], "method": "linear"},
        {"on": [1, 2, 3.0], "method": "mean"},
        {"on": [1, 2, 3.0], "method": "nearest", "tolerance": 0.5},
        {"on": "union"},
        {"on": "union", "method": "previous"},
    ],
)
def test_aligned_as_the_union_of_levels_is(rows: pd.DataFrame, curves: xr.DataArray, options: dict) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = xcurves.to_dataarray(rows, "score", extra="task", on="union").drop_attrs().curves.align(**options)
        got = curves.drop_attrs().curves.align(**options)
    xr.testing.assert_identical(got, wanted)
    lazy = curves.drop_attrs().chunk(task=1).curves.align(**options)
    assert lazy.chunks is not None
    xr.testing.assert_equal(lazy.compute(), got)


def test_frames_go_there_and_back(rows: pd.DataFrame, curves: xr.DataArray) -> None:
    frame = curves.curves.to_frame()
    assert frame[NAMES].equals(rows)
    xr.testing.assert_identical(xcurves.to_dataarray(frame, "score", extra="task", levels="run"), curves)


@pytest.mark.parametrize("name", ["curves.nc", pytest.param("curves.zarr", marks=pytest.mark.slow)])
def test_archives_keep_them(curves: xr.DataArray, name: str, tmp_path) -> None:
    data = curves.to_dataset(name="score")
    assert xcurves.archive.read(xcurves.archive.write(data, tmp_path / name)).identical(data)


def test_drawn_each_by_itself_with_a_mean_where_all_are(curves: xr.DataArray) -> None:
    one = curves.sel(task="y")
    ax = one.curves.plot(runs=True, rng=0)
    thin, means = (
        [line for line in ax.lines if not line.get_label()[0].isalpha()],
        ax.get_legend_handles_labels()[1],
    )
    assert means == ["p", "q"]
    assert len(thin) == 24
    starts, ends = (
        one.training.min("evaluation").max("run"),
        one.training.max("evaluation").min("run"),
    )
    for line in ax.lines[12::13]:
        algorithm = line.get_label()
        assert line.get_xdata()[[0, -1]].tolist() == [
            starts.sel(algorithm=algorithm),
            ends.sel(algorithm=algorithm),
        ]
        middle = line.get_xdata()[77]
        runs = one.sel(algorithm=algorithm)
        scores = [np.interp(middle, run.training.dropna("evaluation"), run.dropna("evaluation")) for run in runs]
        assert line.get_ydata()[77] == pytest.approx(np.mean(scores), rel=1e-12)


@pytest.mark.parametrize(
    "method",
    ["pairwise", "randomized_anova", "ss_profile", "drop_incomplete", "analyze"],
)
def test_other_methods_name_the_cure(curves: xr.DataArray, method: str) -> None:
    with refused("curves", cure=call(".curves.align", 20)):
        getattr(curves.curves, method)()


@pytest.mark.parametrize(
    ("training", "reason", "cure"),
    [
        ([[0.0, np.nan, 2.0]], "NaN only after its last level", "Make them from rows"),
        ([[0.0, np.inf, np.nan]], "must be finite", "Make them from rows"),
        ([[0.0, 2.0, 1.0]], "increase in each run", "Make them from rows"),
        ([[0.0, 1.0, np.nan]], "some scores have no training level", "Give it, or mask them"),
        ([["0", "1", "2"]], "must be numbers along 'evaluation'", "Make them from rows"),
    ],
)
def test_levels_that_no_run_can_have_are_refused(training: list, reason: str, cure: str) -> None:
    dims = ("algorithm", "run", "evaluation")
    array = xr.DataArray([[[1.0, 2.0, 3.0]]], {"training": (dims, [training])}, dims)
    with refused("curves", cure=cure, names=reason):
        check_curves(array, own_levels=True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"levels": "each"}, ("levels", "each")),
        ({"levels": "run", "training": None}, ("training", None, give(training="step"))),
        ({"levels": "run", "on": [1.0]}, ("levels", "run", "Leave one out")),
        ({"coords": "training"}, ("coords", "training", "Rename the column")),
        ({"coords": "size"}, ("coords", "size", "It has 'algorithm', 'run', 'training', 'score'")),
        ({"coords": "score"}, ("value", "score", "Name a column of its own for every dim")),
    ],
)
def test_options_that_do_not_go_together(options: dict, expected: tuple) -> None:
    frame = pd.DataFrame({"algorithm": ["a"], "run": 0, "training": 1.0, "score": 1.0})
    with refused(*expected):
        xcurves.to_dataarray(frame, "score", **options)


POINTS = pd.DataFrame(
    {
        "suite": ["c4", "c4", "c4", "rpj", "rpj"],
        "size": [1e6, 1e6, 2e6, 1e6, 4e6],
        "tokens": [10, 10, 20, 10, 40],
        "loss": [4.0, 4.1, 3.5, 3.9, 3.0],
    }
)


def test_points_are_runs_with_their_coordinates() -> None:
    losses = xcurves.to_dataarray(
        POINTS[POINTS.suite == "c4"],
        "loss",
        algorithm=None,
        run=None,
        training=None,
        coords=["size", "tokens"],
    )
    assert losses.dims == ("run",)
    assert losses.to_numpy().tolist() == [4.0, 4.1, 3.5]
    assert losses.coords["size"].to_numpy().tolist() == [1e6, 1e6, 2e6]
    assert losses.tokens.to_numpy().tolist() == [10, 10, 20]
    assert losses.tokens.attrs["long_name"] == "tokens"


def test_points_of_several_suites_share_their_runs() -> None:
    losses = xcurves.to_dataarray(
        POINTS,
        "loss",
        algorithm="suite",
        run=None,
        training=None,
        coords=["size", "tokens"],
    )
    assert losses.dims == ("algorithm", "run")
    assert losses.tokens.dims == ("run",)
    np.testing.assert_array_equal(losses, [[4.0, 4.1, 3.5, np.nan], [3.9, np.nan, np.nan, 3.0]])


def test_coordinates_of_runs_that_have_a_name() -> None:
    frame = pd.DataFrame(
        [(a, r, t, float(t), r // 2) for a in "ab" for r in range(4) for t in (1, 2)],
        columns=["algorithm", "run", "training", "score", "look"],
    )
    curves = xcurves.to_dataarray(frame, "score", coords="look")
    assert curves.look.dims == ("run",)
    assert curves.look.to_numpy().tolist() == [0, 0, 1, 1]
    frame.loc[frame.algorithm == "b", "look"] += 1
    assert xcurves.to_dataarray(frame, "score", coords="look").look.dims == (
        "algorithm",
        "run",
    )
    frame.loc[3, "look"] = 7
    with refused(
        "coords",
        cure="Name the column in which they differ in extra=, or leave it",
        names="coords column 'look' has several values in one run",
    ):
        xcurves.to_dataarray(frame, "score", coords="look")
    frame["look"] = np.nan
    with refused(
        "coords",
        cure="Drop them: frame.dropna(subset=['look']), or name them",
        names="coords column 'look' has 16 rows without a label",
    ):
        xcurves.to_dataarray(frame, "score", coords="look")


def test_tasks_with_grids_of_their_own_are_no_reason_to_refuse() -> None:
    frame = pd.DataFrame(
        [(f"t{t}", a, r, t + s, 1.0) for t in range(30) for a in "ab" for r in (0, 1) for s in (0.1, 0.2)],
        columns=NAMES,
    )
    assert xcurves.to_dataarray(frame, "score", extra="task").sizes["training"] == 60
