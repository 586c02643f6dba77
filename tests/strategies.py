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


def make_errors(values, training=(25, 50, 100, 200, 400), **coords):
    """Label errors in percent with dims (..., run, training); further dims are named by `coords`."""
    values = np.asarray(values, dtype=float)
    names = {
        **coords,
        "run": np.arange(values.shape[-2]),
        "training": np.array(training, dtype=float),
    }
    return xr.DataArray(values, names, list(names), name="test_error", attrs={"units": "%"})


def simulate_errors(n_curves, seed, folds=(16, 8, 4, 2, 1), training=(25, 50, 100, 200, 400)):
    """Draw power laws and folds around them; return errors on (task, run, training) and the true e_N, β_N, γ."""
    rng = np.random.default_rng(seed)
    n = np.array(training, dtype=float)
    error, reliance = rng.uniform(15, 60, n_curves), rng.uniform(2, 20, n_curves)
    gamma, slope = rng.uniform(-0.8, -0.2, n_curves), rng.uniform(5, 130, n_curves)
    ratio = (n / n[-1]) ** gamma[:, np.newaxis]
    mean = error[:, np.newaxis] - reliance[:, np.newaxis] * (ratio - 1) / (2 * gamma[:, np.newaxis])
    sd = np.sqrt(0.02 + slope[:, np.newaxis] / n)
    noise = rng.normal(size=(n_curves, max(folds), len(n)))
    values = mean[:, np.newaxis] + sd[:, np.newaxis] * noise
    values[:, np.arange(max(folds))[:, np.newaxis] >= np.array(folds)] = np.nan
    return make_errors(values, training, task=np.arange(n_curves)), np.column_stack([error, reliance, gamma])


def as_dict(errors):
    """Return one curve, dims (run, training), as lists of errors by size."""
    return {
        n: errors.sel(training=n).dropna("run").to_numpy().tolist()
        for n in errors.training.to_numpy().tolist()
        if errors.sel(training=n).notnull().any()
    }
