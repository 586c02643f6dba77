"""Items of evaluations: many tasks, or many pairs of algorithms, and what a reader sees of them."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import xarray as xr


@cache
def make_items(
    n_algorithms: int,
    n_items: int,
    n_answers: int = 1,
    *,
    gaps: int = 0,
    points: bool = False,
) -> xr.DataArray:
    """Draw answers of 0 and 1, or points; so many algorithms lack a tenth of the items."""
    rng = np.random.default_rng(0)
    shape = (n_algorithms, n_items, n_answers)
    level = np.linspace(0.5, 0.7, n_algorithms)[:, np.newaxis, np.newaxis]
    scores = (rng.random(shape) < level).astype(float)
    if points:
        scores = rng.normal(size=shape) + level
    scores[:gaps][rng.random((gaps, n_items)) < 0.1] = np.nan
    names = {
        "algorithm": [f"model {number}" for number in range(n_algorithms)],
        "item": np.arange(n_items),
        "run": np.arange(n_answers),
    }
    return xr.DataArray(scores, names, list(names), name="accuracy")


def compare(items: xr.DataArray) -> xr.Dataset:
    """Compare all pairs: p, intervals and places."""
    return items.curves.across_tasks(task="item", rng=0)


@cache
def analysed(n_algorithms: int, n_items: int, *, points: bool = False) -> xr.DataTree:
    """Return what is shown below."""
    return make_items(n_algorithms, n_items, points=points).curves.analyze(rng=0)


def write_page(n_algorithms: int, n_items: int, *, points: bool = False) -> None:
    """Write the page of an analysis."""
    with TemporaryDirectory() as folder:
        analysed(n_algorithms, n_items, points=points).curves.report(Path(folder) / "page.html")


def show(n_algorithms: int, n_items: int, *, points: bool = False) -> str:
    """Return the sentences of a comparison, after its table and its picture were made."""
    import matplotlib.pyplot as plt

    result = analysed(n_algorithms, n_items, points=points)["across_tasks"].to_dataset().curves
    result.table()
    result.plot()
    plt.close("all")
    return str(result.summary())


def peak_memory(items: dict[str, Any]) -> float:
    """Return how many megabytes a comparison needs beyond its input, in a process of its own."""
    code = f"from benchmarks import evaluations; print(evaluations.grown_by({items!r}))"
    folder = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return float(done.stdout)


def grown_by(items: dict[str, Any]) -> float:
    """Return by how many megabytes this process grows at most during a comparison (Linux)."""
    import xcurves  # noqa: F401 - .curves

    scores = make_items(**items)
    compare(make_items(5, 50))
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _memory("VmRSS")
    compare(scores)
    return _memory("VmHWM") - before


def _memory(name: str) -> float:
    of_line = Path("/proc/self/status").read_text().split(f"{name}:")[1]
    return int(of_line.split()[0]) / 1024


@cache
def checkpoints(n_algorithms: int, n_items: int, n_levels: int) -> xr.DataArray:
    """Draw answers of 0 and 1 at checkpoints."""
    rng = np.random.default_rng(0)
    share = np.linspace(0.3, 0.8, n_levels) + np.linspace(0.0, 0.1, n_algorithms)[:, np.newaxis, np.newaxis, np.newaxis]
    values = (rng.random((n_algorithms, n_items, 1, n_levels)) < share).astype(float)
    names = {
        "algorithm": [f"model {number}" for number in range(n_algorithms)],
        "item": np.arange(n_items),
        "run": [0],
        "training": np.arange(1, n_levels + 1),
    }
    return xr.DataArray(values, names, list(names), name="accuracy")


def by_evalstats(n_algorithms: int, n_items: int, n_answers: int = 1, *, points: bool = False) -> Any:
    """Compare all pairs by the package of that name, p and intervals, from its own kind of table."""
    import evalstats

    return evalstats.compare(_table(n_algorithms, n_items, n_answers, points), factors="model")


@cache
def _table(n_algorithms: int, n_items: int, n_answers: int, points: bool) -> Any:
    import evalstats

    items = make_items(n_algorithms, n_items, n_answers, points=points)
    rows = items.rename("score").to_dataframe().reset_index()
    return evalstats.load_from(rows.rename(columns={"algorithm": "model"}))
