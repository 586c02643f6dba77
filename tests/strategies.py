"""Hypothesis strategies: curves of all the shapes that the data model allows."""

from __future__ import annotations

import numpy as np
import xarray as xr
from hypothesis import strategies as st


def make_curves(values, training=None, **coords):
    """Label an array with dims (..., algorithm, run, training); extra dims are named by `coords`."""
    values = np.asarray(values)
    m, n, k = values.shape[-3:]
    names = {
        **coords,
        "algorithm": [f"a{i}" for i in range(m)],
        "run": np.arange(n),
        "training": np.arange(k) * 100.0 if training is None else training,
    }
    return xr.DataArray(values, names, list(names), name="score")


def make_scores(values, **coords):
    """Label scores of trials; all dims are named by `coords`."""
    values = np.asarray(values, float)
    return xr.DataArray(values, coords, list(coords), name="score", attrs={"units": "points"})


def absent(curves, sizes):
    """Make runs absent so that algorithm i has sizes[i] runs."""
    present = np.arange(curves.sizes["run"]) < np.array(sizes)[:, np.newaxis]
    return curves.where(xr.DataArray(present, dims=("algorithm", "run")))


@st.composite
def curves(draw, max_algorithms=4, max_runs=5, max_levels=6, integers=False):
    """Noise around random levels, sizes equal or not, at least two algorithms and one of two runs."""
    m = draw(st.integers(2, max_algorithms))
    sizes = draw(st.lists(st.integers(1, max_runs), min_size=m, max_size=m).filter(lambda s: max(s) > 1))
    k = draw(st.integers(1, max_levels))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    noise = rng.integers(-3, 4, (m, max(sizes), k)) if integers else rng.normal(size=(m, max(sizes), k))
    return absent(make_curves(noise.astype(float)), sizes)
