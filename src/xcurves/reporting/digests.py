"""The tables of a report: what was compared, the results, and the settings that repeat them."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.schema import ResultKind
from xcurves.core.wording import interval, span
from xcurves.plotting.curves import means_of_all
from xcurves.reporting import markup

_GIVEN = {
    "rng": "Seed",
    "confidence_level": "Confidence level",
    "n_resamples": "Reassignments at most",
    "paired": "Runs matched over algorithms (1: yes)",
}


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
            f"mean at {markup.as_cell(last['training'].item())}": last.to_numpy(),
        },
        index=pd.Index([str(name) for name in curves["algorithm"].to_numpy()], dtype=object, name="algorithm"),
    )


def counts_by_task(curves: xr.DataArray, names: list[str]) -> pd.DataFrame:
    """Return a row for each task."""
    has = curves.transpose(..., *labels.DIMS).notnull()
    runs = has.any("training").sum("run").to_numpy().reshape(len(names), -1)
    grid = has.any(["algorithm", "run"]).to_numpy().reshape(len(names), -1)
    (dim, *others) = labels.extra_dims(curves)
    index = pd.Index(names if others else curves[dim].to_numpy(), dtype=object, name="task" if others else dim)
    levels = pd.DataFrame(np.where(grid, curves["training"].to_numpy(), np.nan), index)
    return pd.DataFrame(
        {
            "algorithms": (runs > 0).sum(axis=1),
            "runs of each": [span(row[row > 0]) or "none" for row in runs],
            "training levels": levels.count(axis=1),
            "first": levels.min(axis=1),
            "last": levels.max(axis=1),
        }
    )


def of_result(kind: ResultKind, result: xr.Dataset, n_tasks: int) -> pd.DataFrame:
    """Return the table of a result as a page has it, with its caption in attrs; a short one of several tasks.

    Both ends of an interval stand in one column, and headings are words.
    """
    frame = kind.digest(result) if n_tasks > 1 and kind.digest else kind.table(result)
    columns: dict[str, pd.Series[Any]] = {}
    for name in map(str, frame):
        if not name.endswith("upper"):
            columns[name.replace("lower", "interval").replace("_", " ")] = (
                _in_words(frame[name], frame[name.replace("lower", "upper")]) if name.endswith("lower") else frame[name]
            )
    found = pd.DataFrame(columns, index=frame.index)
    found.index = found.index.set_names([name and str(name).replace("_", " ") for name in frame.index.names])
    found.attrs = dict(frame.attrs)
    return found


def _in_words(low: pd.Series[Any], high: pd.Series[Any]) -> pd.Series[Any]:
    said = [np.nan if a != a or b != b else interval(a, b) for a, b in zip(low, high, strict=True)]
    return pd.Series(said, index=low.index, dtype=object)


def settings_section(attrs: Mapping[Any, Any], parts: Mapping[str, xr.Dataset]) -> str:
    """Return the settings that give the same numbers again."""
    seeds = "; ".join(f"{name} {result.attrs['rng']}" for name, result in parts.items() if "rng" in result.attrs)
    packages = ", ".join(f"{name} {version(name)}" for name in ("xcurves", "numpy", "scipy", "pandas", "xarray"))
    given = [(said, attrs[name]) for name, said in _GIVEN.items() if name in attrs]
    made = [("Seed of each part", seeds.replace("_", " "))]
    made += [("This page was made with", f"{packages}, Python {platform.python_version()}")]
    return markup.html_terms([*given, *made]) + markup.paragraph(
        "This page holds no data: the archive of the analysis does, with every number and how each part was made."
    )
