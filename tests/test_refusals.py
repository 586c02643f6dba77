"""Input that a method refuses in one line, which the message names with its cure: a call for each."""

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from strategies import make_curves

RNG = np.random.default_rng(0)
CURVES = make_curves(RNG.normal(size=(2, 4, 5)))
TASKS = make_curves(RNG.normal(size=(3, 2, 4, 5)), task=["x", "y", "z"])
SIZES = 25.0 * 2 ** np.arange(6)
ERRORS = make_curves((10 + 100 * SIZES**-0.5)[np.newaxis, np.newaxis] + np.zeros((2, 1, 1)), SIZES)
ERRORS = ERRORS.isel(run=0, drop=True).assign_attrs(units="%")
FIT = ERRORS.curves.fit_power_law()
LOOKS = CURVES.curves.assign_looks(2)


def weighted(**options):
    return TASKS.curves.across_tasks(n_resamples=20, rng=0, **options)


def on_tasks(values, names=("x", "y", "z")):
    return xr.DataArray(values, {"task": list(names)}, ("task",))


def with_column(*names):
    return pd.DataFrame([["a", 0, 1, 2.0, 3.0]], columns=["algorithm", "run", "training", *names])


CASES = {
    "a column that is an index": (
        lambda: with_column("score", "x").set_index("run").curves.to_dataarray("score"),
        "Make columns of the index: frame.reset_index()",
    ),
    "an index of steps": (
        lambda: with_column("score", "x").set_index("training").curves.to_dataarray("score"),
        "training='training' is an index of the frame, and no column. Make columns of the index: frame.reset_index()",
    ),
    "a frame of labels that repeat": (
        lambda: CURVES.assign_coords(run=[0, 0, 1, 2]).curves.to_frame(),
        "run labels must be there and differ; got [0, 0, 1, 2]. Number them: assign_coords(run=range(4))",
    ),
    "a frame of labels that are no text": (
        lambda: CURVES.assign_coords(algorithm=["a", "\ud800"]).curves.to_frame(),
        "algorithm labels must be text that can be encoded; got ['a', '\\ud800']. Number them: "
        "assign_coords(algorithm=range(2))",
    ),
    "a table of a list": (
        lambda: xcurves.table([1]),
        "result must be a Dataset that a method of .curves returned; got list",
    ),
    "an archive of an array": (
        lambda: xcurves.archive.write(CURVES, "curves.nc"),
        "data must be a Dataset or DataTree; got DataArray. Convert: da.to_dataset(name='score')",
    ),
    "an engine that there is not": (
        lambda: xcurves.archive.open_dataset("curves.nc", engine="hdf"),
        "engine must be 'scipy', 'h5netcdf', 'netcdf4' or 'zarr'; got 'hdf'",
    ),
    "tasks by a core dim": (
        lambda: weighted(task="run"),
        "task must be a dim of tasks; got 'run', which is that of runs",
    ),
    "tasks by a misspelt dim": (
        lambda: weighted(task="taks"),
        "task='taks' is no dim of curves, which have ('task', 'algorithm', 'run', 'training'). Did you mean 'task'?",
    ),
    "weights of tasks that are words": (
        lambda: weighted(task_weights=["a", "b", "c"]),
        "task_weights must be numbers; got ['a', 'b', 'c']",
    ),
    "weights that name a task twice": (
        lambda: weighted(task_weights=on_tasks([1, 2, 3, 4], ["x", "y", "z", "x"])),
        "task_weights names a label of task twice: ['x', 'y', 'z', 'x']. Name each once",
    ),
    "weights that lack a task": (
        lambda: weighted(task_weights=on_tasks([1, 2], ["x", "y"])),
        "task_weights must be positive for every task; got 0 for 'z' (0 is that of a task not named). "
        "To leave one out: curves.sel(task=[...])",
    ),
    "a fit without a variable": (
        lambda: FIT.drop_vars("gamma").curves.predict([1000]),
        "fit has not all of 'gamma', which a selection left out. Select tasks only before this call",
    ),
    "a fit without a dim": (
        lambda: FIT.isel(cov_param=0).curves.predict([1000]),
        "fit has not all of 'cov_param', which a selection left out. Select tasks only before this call",
    ),
    "a fit without parameters": (
        lambda: FIT.isel(param=slice(3), cov_param=slice(3)).curves.predict([1000]),
        "fit has not all of 'param', which a selection left out. Select tasks only before this call",
    ),
    "variants that are a list": (
        lambda: ERRORS.curves.leave_one_size_out(variants=["power law"]),
        "variants must be names with mappings of options; got ['power law']. Try {'power law': {}}",
    ),
    "a variant without options": (
        lambda: ERRORS.curves.leave_one_size_out(variants={"free": True}),
        "variants must be names with mappings of options; got {'free': True}. Try {'power law': {}}",
    ),
    "a misspelt option of a variant": (
        lambda: ERRORS.curves.leave_one_size_out(variants={"free": {"gama": -0.5}}),
        "Did you mean 'gamma'?",
    ),
    "scores too large to be squared": (
        lambda: (LOOKS * 1e150).curves.sequential(n_looks=2),
        "curves has values too large to compute with, up to 8.74e+149. Rescale: curves / abs(curves).max()",
    ),
    "colours that are one word": (
        lambda: CURVES.curves.plot(colors="red"),
        "colors must be a mapping or a sequence; got 'red'. Give {'sac': '#0072B2'}",
    ),
    "axes that are a figure": (
        lambda: CURVES.curves.plot(ax="axes"),
        "ax must be a matplotlib Axes; got str. Make one: fig, ax = matplotlib.pyplot.subplots()",
    ),
    "a misspelt method": (
        lambda: CURVES.curves.align([0, 50], method="lineer"),
        "got 'lineer'. Did you mean 'linear'?",
    ),
    "a second dim of tasks in one figure": (
        lambda: CURVES.expand_dims(task=["x"], other=["y"]).curves.plot_benchmark(),
        "curves have a dim 'other' beside the tasks. Select: curves.isel(other=0)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_refused_is_named_with_its_cure(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, said = CASES[case]
    with pytest.raises((ValueError, TypeError, KeyError)) as caught:
        call()
    message = str(caught.value)
    assert message.endswith(said)
    assert "\n" not in message


# Errors that no refusal is: their words may be matched.
UNLIKE_REFUSALS = {
    "AttributeError",
    "FileExistsError",
    "FileNotFoundError",
    "ImportError",
    "ModuleNotFoundError",
    "NotADirectoryError",
    "OSError",
    "RuntimeError",
    "SystemExit",
    "UserWarning",
}
TESTS = Path(__file__).parent


@pytest.mark.slow
def test_refusals_are_expected_by_argument_value_and_cure():
    """`refused` expects them; `raises_other` fails where a refusal is raised; `pytest.raises` would match its words."""
    by_words = []
    for file in sorted(TESTS.rglob("*.py")):
        text = file.read_text("utf-8")
        if file.name == "refusals.py" or not re.search(r"pytest\.raises\([^:]*match=", text):
            continue
        for node in ast.walk(ast.parse(text)):
            expects = isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.raises"
            if expects and any(keyword.arg == "match" for keyword in node.keywords):
                by_words.append((file.name, node.lineno, ast.unparse(node.args[0])))
    assert by_words  # of errors that no refusal is
    assert [each for each in by_words if each[-1] not in UNLIKE_REFUSALS] == []
