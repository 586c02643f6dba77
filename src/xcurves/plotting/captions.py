"""Caption and alternative text of the picture of curves."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core.wording import joined

CURVES_CAPTION = {
    "run": "Each run is a thin line.",
    "mean": "Thick lines with markers: the mean of an algorithm's runs.",
    "band": "Bands: percentile intervals of the mean when whole runs are resampled, for each level by itself. With few "
    "runs they are too short: conclude from tests, not from bands.",
}


def curves_alternative(curves: xr.DataArray) -> str:
    """Return what the picture of the curves of one task shows."""
    n_runs = curves.notnull().any("training").sum("run").to_numpy().tolist()
    means, levels = means_of_all(curves).to_numpy(), curves["training"].to_numpy()
    said = []
    for name, n, mean in zip(curves["algorithm"].to_numpy().tolist(), n_runs, means, strict=True):
        known = np.flatnonzero(~np.isnan(mean))
        if known.size:
            first, last = (f"{mean[at]:.4g} at {levels[at]:g}" for at in known[[0, -1]])
            said.append(f"{name} ({n} runs) from {first} to {last}")
        elif n:
            said.append(f"{name} ({n} runs) without a level that all have")
    what = str(curves.attrs.get("long_name", curves.name or "score"))
    training = str(curves["training"].attrs.get("long_name", "training"))
    return f"Line chart of {what} against {training}. Means of runs: {joined(said, '; ')}."


def means_of_all(curves: xr.DataArray) -> xr.DataArray:
    """Return the means of the runs of one task at the levels that all of an algorithm's runs have, NaN elsewhere."""
    scores = curves.transpose("algorithm", "run", "training").to_numpy()
    has = ~np.isnan(scores)
    lacking = (~has & has.any(axis=2, keepdims=True)).any(axis=1) | ~has.any(axis=1)
    sums, n = np.where(has, scores, 0.0).sum(axis=1), np.maximum(has.sum(axis=1), 1)
    return (
        curves.isel(run=0, drop=True).transpose("algorithm", "training").copy(data=np.where(lacking, np.nan, sums / n))
    )
