"""Curves to scores of each run at fractions of the task's budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from xcurves.core.driver import Group, Job, compute
from xcurves.core.labels import DIMS, label_order
from xcurves.core.run_checks import Context
from xcurves.core.schema import Layout
from xcurves.kernels import ragged
from xcurves.kernels.moments import Floats


def score_fractions(curves: xr.DataArray, fractions: Sequence[float]) -> xr.DataArray:
    """Return scores at fractions of each task's budget, dims (..., algorithm, run, budget_fraction)."""
    sizes = {dim: curves.sizes[dim] for dim in DIMS} | {"budget_fraction": len(fractions)}
    job = Job(
        name="score_fractions",
        kernel=_at_fractions,
        options={"levels": curves["training"].to_numpy(), "fractions": np.array(fractions)},
        context=Context.of(curves),
        layout=Layout({"score": ("algorithm", "run", "budget_fraction")}, sizes),
        order=label_order(curves),
    )
    kept = {name: each for name, each in curves.coords.items() if "training" not in each.dims}
    return xr.DataArray(compute(job, curves)["score"], kept, attrs=curves.attrs)


def _at_fractions(group: Group, *, levels: Floats, fractions: Floats) -> dict[str, Floats]:
    scores = np.full((len(group.tasks), group.present.size, len(fractions)), np.nan)
    scores[:, group.curves] = ragged.at_fractions(group.data[0], levels[group.grid], fractions)
    return {"score": scores.reshape(len(scores), *group.present.shape, -1)}
