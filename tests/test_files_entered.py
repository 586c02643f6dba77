"""How many of our files a call enters: what a reader of the call opens, one after another.

A file counts if one of its functions is called between the accessor and the result, in a second call with the same
data: imports, and what is kept from the first call, are left out. Generators and comprehensions are of their function;
the standard library, NumPy, SciPy, pandas and xarray do not count.
"""

import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import xcurves
from strategies import make_curves

ROOT = f"{Path(xcurves.__file__).parent}{os.sep}"


def entered(call):
    """Return how often each function under src/xcurves is called, by its file and name."""
    found = Counter()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            file = Path(frame.f_code.co_filename).relative_to(ROOT)
            found[file.as_posix(), frame.f_code.co_qualname] += 1

    call()
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


def benchmark():
    return xcurves.tutorial.open_dataset("benchmark")["accuracy"]


def curves():
    values = np.random.default_rng(0).normal(size=(3, 4, 6))
    return make_curves(values).assign_coords(algorithm=["base", "b", "c"])


CALLS = {
    "randomized_anova": (21, lambda: benchmark().isel(task=0), lambda data: data.curves.randomized_anova(rng=0)),
    "across_tasks": (36, benchmark, lambda data: data.curves.across_tasks(rng=0)),
    "gate": (22, curves, lambda data: data.curves.gate(baseline="base", rng=0)),
    "sequential": (
        28,
        lambda: curves().curves.assign_looks(2),
        lambda data: data.curves.sequential(n_looks=2, n_resamples=99),
    ),
}


@cache
def entered_by(name):
    _, make, call = CALLS[name]
    data = make()
    return entered(lambda: call(data))


@pytest.mark.parametrize("name", CALLS)
def test_a_call_enters_few_files(name):
    most = CALLS[name][0]
    files = {file for file, _ in entered_by(name)}
    assert files  # that it counts at all
    assert len(files) <= most, sorted(files)


@pytest.mark.parametrize("name", ["across_tasks", "sequential"])
def test_the_driver_is_entered_once_and_options_are_checked_once(name):
    found = entered_by(name)
    outside = {name: n for (file, name), n in found.items() if file == "core/driver.py" and name == "per_task"}
    assert outside == {"per_task": 1}
    assert found["core/run_checks.py", "Context.of"] == 1
