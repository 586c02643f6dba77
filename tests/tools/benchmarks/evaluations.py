"""Items of evaluations: many tasks, or many pairs of algorithms, and what a reader sees of them."""

from __future__ import annotations

from functools import cache

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
def compared(n_algorithms: int, n_items: int) -> xr.Dataset:
    """Return what is shown below."""
    return compare(make_items(n_algorithms, n_items))


def show(n_algorithms: int, n_items: int) -> str:
    """Return the sentences of a comparison, after its table and its picture were made."""
    import matplotlib.pyplot as plt

    result = compared(n_algorithms, n_items).curves
    result.table()
    result.plot()
    plt.close("all")
    return str(result.summary())
