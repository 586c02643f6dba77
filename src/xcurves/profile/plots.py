"""Pictures of `ss_profile`: the share of each level with its null band, and cumulative shares."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.pictures.cells import CellsPicture, by_task, task_labels
from xcurves.pictures.curves import Bars, CurvesPicture, Line, Rule, Scale, Shade, along_training
from xcurves.pictures.styles import Style
from xcurves.say.numbers import label_of, short_level

_MOST_WIDE = 20  # levels whose cells are as wide as columns
_BANDS = {
    "ss_null_upper": (0.5, "one level"),
    "ss_null_upper_simultaneous": (0.25, "all levels"),
}
_STYLES = {
    "simple": Style("black", "-", "o"),
    "algorithm": Style("0.35", "--", "o"),
    "interaction": Style("0.35", ":", "o"),
}


def fraction(result: xr.Dataset) -> CurvesPicture:
    """Return the simple profile of one task; shades are what chance gives, bars the levels that differ."""
    here = result.isel(training=result["ss"].notnull().all("effect").to_numpy())
    training = here["training"].to_numpy()
    simple = here.sel(effect="simple")
    shades = []
    lower = np.zeros(len(training))
    for name, (opacity, what) in _BANDS.items():
        if name in here:
            upper = simple[name].to_numpy() / simple["ss"].sum().item()
            shades.append(Shade(f"chance, {what}", training, lower, upper, "0.5", opacity, flag="chance"))
            lower = upper
    line = Line("", _STYLES["simple"], training, simple["fraction"].to_numpy(), flag="simple", marked="few")
    return CurvesPicture(
        [line],
        along_training(result["training"]),
        Scale("fraction per level", low=0.0),
        shades=shades,
        bars=Bars("differ", training, _shown_levels(here)[0]),
        ticks=result["training"].to_numpy(),
    )


def cumulative(result: xr.Dataset) -> CurvesPicture:
    """Return the cumulative shares of the three profiles of one task."""
    here = result.isel(training=result["ss"].notnull().all("effect").to_numpy())
    shares = here["cumulative_fraction"]
    training = here["training"].to_numpy()
    lines = [
        Line(str(effect), _STYLES[effect], training, shares.sel(effect=effect).to_numpy())
        for effect in here["effect"].to_numpy()
    ]
    return CurvesPicture(
        lines,
        along_training(result["training"]),
        Scale("cumulative fraction"),
        rules=[Rule("y", 1.0, color="0.5", width=0.8)],
        ticks=result["training"].to_numpy(),
    )


def fraction_of_tasks(result: xr.Dataset) -> CellsPicture:
    """Return the share of each level in the simple profile of every task, with a dot where it differs."""
    said = "fraction per level; dot: differ (adjusted)"
    return _cells(result, "fraction", said, _shown_levels(result))


def cumulative_of_tasks(result: xr.Dataset) -> CellsPicture:
    """Return the running sum of the simple profile of every task."""
    return _cells(result, "cumulative_fraction", "cumulative fraction, simple")


def _shown_levels(result: xr.Dataset) -> NDArray[np.bool_]:
    """Return at which levels of each task curves are shown to differ, shape (task, level)."""
    p = result.get("pvalue_adjusted", xr.full_like(result["fraction"].isel(effect=0), np.nan))
    return np.asarray(provenance.significant(by_task(p, "training"), provenance.alpha_of(result)))


def _cells(result: xr.Dataset, name: str, said: str, marked: NDArray[np.bool_] | None = None) -> CellsPicture:
    values = by_task(result[name].sel(effect="simple"), "training")
    top = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
    return CellsPicture(
        values,
        tuple(task_labels(result[name], ["effect", "training"])),
        tuple(short_level(level) for level in result["training"].to_numpy()),
        (0.0, top),
        said,
        marked=marked,
        x_label=label_of(result["training"]),
        most_columns=_MOST_WIDE,
    )
