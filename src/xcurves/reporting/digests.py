"""The tables of a report: what was compared, and the results, short ones where there are several tasks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.schema import ResultKind
from xcurves.plotting.captions import means_of_all
from xcurves.reporting import markup


def counts(curves: xr.DataArray) -> pd.DataFrame:
    """Return a row for each algorithm of one task."""
    squeezed = curves.squeeze(labels.extra_dims(curves), drop=True).transpose(*labels.DIMS)
    has = squeezed.notnull()
    present = has.any("training")
    absent = [[str(run) for run in curves["run"].to_numpy()[~row]] for row in present.to_numpy()]
    means = means_of_all(squeezed).isel(training=has.any(["algorithm", "run"]).to_numpy())
    last = means.isel(training=-1)
    return pd.DataFrame(
        {
            "runs": present.sum("run").to_numpy(),
            "absent runs": [", ".join(each[:8]) + ", …" * (len(each) > 8) or "none" for each in absent],
            "training levels": has.any("run").sum("training").to_numpy(),
            "mean over training": means.mean("training", skipna=False).to_numpy(),
            f"mean at {markup.number(last['training'].item())}": last.to_numpy(),
        },
        index=pd.Index([str(name) for name in curves["algorithm"].to_numpy()], name="algorithm"),
    )


def counts_by_task(curves: xr.DataArray, names: list[str]) -> pd.DataFrame:
    """Return a row for each task."""
    has = curves.transpose(..., *labels.DIMS).notnull()
    runs = has.any("training").sum("run").to_numpy().reshape(len(names), -1)
    grid = has.any(["algorithm", "run"]).to_numpy().reshape(len(names), -1)
    levels = curves["training"].to_numpy()
    (dim, *others) = labels.extra_dims(curves)
    index = pd.Index(names, name="task") if others else pd.Index(curves[dim].to_numpy(), name=dim)
    return pd.DataFrame(
        {
            "algorithms": (runs > 0).sum(axis=1),
            "runs of each": [_span(row[row > 0]) for row in runs],
            "training levels": grid.sum(axis=1),
            "first": [levels[row][0] if row.any() else np.nan for row in grid],
            "last": [levels[row][-1] if row.any() else np.nan for row in grid],
        },
        index=index,
    )


def _span(counts: NDArray[np.int64]) -> str:
    ends = sorted({int(counts.min()), int(counts.max())}) if counts.size else []
    return " to ".join(map(str, ends)) or "none"


def of_result(kind: ResultKind, result: xr.Dataset, n_tasks: int) -> tuple[pd.DataFrame, str]:
    """Return the table of a result and its caption, a short one if it has several tasks."""
    if n_tasks > 1 and kind.digest:
        return kind.digest(result)
    return kind.table(result), kind.table_caption
