"""Caption and alternative text of the picture of curves."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core.sentences import joined

CURVES_CAPTION = (
    "Each run is a thin line, the mean of an algorithm's runs a thick one with markers. Bands: percentile intervals of "
    "the mean when whole runs are resampled, for each level by itself. With few runs they are too short: conclude "
    "from tests, not from bands."
)


def curves_alternative(curves: xr.DataArray) -> str:
    """Return what the picture of the curves of one task shows."""
    n_runs = curves.notnull().any("training").sum("run")
    means = means_of_all(curves).to_numpy()
    said = []
    for place, name in enumerate(curves["algorithm"].to_numpy().tolist()):
        known = np.flatnonzero(~np.isnan(means[place]))
        if known.size:
            first, last = (f"{means[place, at]:.4g} at {curves['training'][at].item():g}" for at in known[[0, -1]])
            said.append(f"{name} ({n_runs[place].item()} runs) from {first} to {last}")
        elif n_runs[place]:
            said.append(f"{name} ({n_runs[place].item()} runs) without a level that all have")
    what = str(curves.attrs.get("long_name", curves.name or "score"))
    training = str(curves["training"].attrs.get("long_name", "training"))
    return f"Line chart of {what} against {training}. Means of runs: {joined(said, '; ')}."


def means_of_all(curves: xr.DataArray) -> xr.DataArray:
    """Return the means of the runs of one task at the levels that all of an algorithm's runs have, NaN elsewhere."""
    has = curves.notnull()
    lacking = (~has & has.any("training")).any("run")
    return curves.mean("run").where(~lacking).transpose("algorithm", "training")
