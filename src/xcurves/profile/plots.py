"""Pictures of `ss_profile`: the share of each level with its null band, and cumulative shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.pictures.cells import CellsPicture, by_task, task_labels
from xcurves.plotting.drawn_names import wrapped
from xcurves.plotting.ticks import scale_training, short_level
from xcurves.say.numbers import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 60  # levels that get a marker each
_MOST_WIDE = 20  # levels whose cells are as wide as columns
_BANDS = {
    "ss_null_upper": (0.5, "a single level"),
    "ss_null_upper_simultaneous": (0.25, "all levels"),
}
_STYLES = {
    "simple": ("black", "-"),
    "algorithm": ("0.35", "--"),
    "interaction": ("0.35", ":"),
}


def draw_fraction(result: xr.Dataset, ax: Axes) -> None:
    """Draw the simple profile of one task; shade what chance gives, mark the levels that differ."""
    here = result.isel(training=result["ss"].notnull().all("effect").to_numpy())
    training = here["training"].to_numpy()
    simple = here.sel(effect="simple")
    color, style = _STYLES["simple"]
    scale_training(ax, result["training"])
    lower = np.zeros(len(training))
    for name, (alpha, what) in _BANDS.items():
        if name in here:
            upper = simple[name].to_numpy() / simple["ss"].sum().item()
            ax.fill_between(training, lower, upper, color="0.5", alpha=alpha, linewidth=0, label=f"null band, {what}",
                            gid="chance")  # fmt: skip
            lower = upper
    marker = "o" if len(training) <= _FEW else None
    ax.plot(
        training,
        simple["fraction"],
        style,
        color=color,
        marker=marker,
        markersize=3,
        label="simple",
    )
    marked = _shown_levels(here)[0]
    # a bar under stretches of neighbouring levels, a square under a single one
    if marked.any():
        (bar,) = ax.plot(training, np.where(marked, 0.02, np.nan), "s-", color="black", linewidth=4, markersize=4,
                         label="differ (adjusted)", gid="bars")  # fmt: skip
        bar.set_transform(ax.get_xaxis_transform())
        bar.set_solid_capstyle("butt")
    ax.set_ylim(bottom=0)
    ax.set_ylabel("fraction per level")


def draw_cumulative(result: xr.Dataset, ax: Axes) -> None:
    """Draw the cumulative shares of the three profiles of one task."""
    here = result.isel(training=result["ss"].notnull().all("effect").to_numpy())
    scale_training(ax, result["training"])
    for effect in here["effect"].to_numpy():
        color, style = _STYLES[effect]
        ax.plot(
            here["training"],
            here["cumulative_fraction"].sel(effect=effect),
            style,
            color=color,
            label=effect,
        )
    ax.axhline(1, color="0.5", linewidth=0.8)
    ax.set_ylabel("cumulative fraction")


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
        x_label=wrapped(label_of(result["training"])),
        most_columns=_MOST_WIDE,
    )
