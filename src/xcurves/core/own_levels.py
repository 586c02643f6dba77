"""Curves and their levels as two arrays for `per_task`, whether runs share levels or have their own."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from xcurves.core.labels import EVALUATION, in_label_order


def scores_and_levels(
    curves: xr.DataArray, lead: Sequence[str] = ()
) -> tuple[xr.DataArray, xr.DataArray, tuple[str, ...]]:
    """Return scores and their levels, along `evaluation`, and the core dims, of which `lead` come first.

    Shared levels have the dim evaluation only. What results take, the unit of training, stays with the scores.
    """
    core = (*lead, "algorithm", "run", EVALUATION)
    training = curves["training"].reset_coords(drop=True)
    bare = curves.drop_vars(["training", EVALUATION], errors="ignore")
    scores = bare.rename({curves.dims[-1]: EVALUATION}).transpose(..., *core)
    if training.ndim == 1:
        levels = xr.DataArray(training.data, dims=EVALUATION)
    else:
        levels = training.transpose(*scores.dims)
    scores = scores.assign_coords(training=xr.Variable((), 0.0, training.attrs))
    return scores, in_label_order(levels, core), core
