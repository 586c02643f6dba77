"""Frames of ragged runs to curves, and the loop over runs that people write; `goals.py` times them."""

from __future__ import annotations

import numpy as np
import pandas as pd

import xcurves

GRID = np.linspace(1e4, 1e6, 100)


def make_frame(n_runs, n_levels=6000):
    """Runs of 6,000 levels of their own, in the order that they were logged."""
    rng = np.random.default_rng(0)
    run = np.repeat(np.arange(n_runs), n_levels)
    return pd.DataFrame(
        {
            "algorithm": np.array([f"a{i}" for i in range(5)])[run % 5],
            "run": run // 5,
            "training": rng.integers(1, 400, (n_runs, n_levels)).cumsum(axis=1).ravel(),
            "return": rng.normal(size=len(run)),
        }
    )


def by_xcurves(frame):
    return xcurves.to_dataarray(frame, "return", on=GRID, method="linear")


def by_loop(frame):
    """Interpolate run by run, each with NumPy."""
    runs = {
        key: pd.Series(
            np.interp(GRID, rows["training"], rows["return"], left=np.nan, right=np.nan),
            GRID,
        )
        for key, rows in frame.groupby(["algorithm", "run"])
    }
    return pd.DataFrame(runs).rename_axis(index="training", columns=["algorithm", "run"])
