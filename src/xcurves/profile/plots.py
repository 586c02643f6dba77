"""Pictures of `ss_profile`: the share of each level with its null band, and cumulative shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.axes import scale_training, short_level, wrapped
from xcurves.core.matrices import by_task, draw_cells, task_labels
from xcurves.core.wording import label_of
from xcurves.kernels.moments import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 60  # levels that get a marker each
_CELLS = 20  # levels whose cells are as wide as columns
_BANDS = {"ss_null_upper": (0.5, "a single level"), "ss_null_upper_simultaneous": (0.25, "all levels")}
_STYLES = {"simple": ("black", "-"), "algorithm": ("0.35", "--"), "interaction": ("0.35", ":")}


def draw_fraction(result: xr.Dataset, ax: Axes) -> None:
    """Draw the simple profile of one task; shade what chance gives, mark the levels that differ."""
    here = result.isel(training=result["ss"].notnull().all("effect").to_numpy())
    training = here["training"].to_numpy()
    simple = here.sel(effect="simple")
    total = simple["ss"].sum().item()
    color, style = _STYLES["simple"]
    scale_training(ax, result["training"])
    lower = np.zeros(len(training))
    for name, (alpha, what) in _BANDS.items():
        if name in here:
            upper = simple[name].to_numpy() / total
            ax.fill_between(training, lower, upper, color="0.5", alpha=alpha, linewidth=0, label=f"null band, {what}",
                            gid="chance")  # fmt: skip
            lower = upper
    marker = "o" if len(training) <= _FEW else None
    ax.plot(training, simple["fraction"], style, color=color, marker=marker, markersize=3, label="simple")
    if "pvalue_adjusted" in here:
        alpha = provenance.alpha_of(result)
        _mark(ax, training, provenance.significant(here["pvalue_adjusted"].to_numpy(), alpha))
    ax.set_ylim(bottom=0)
    ax.set_ylabel("fraction per level")


def draw_cumulative(result: xr.Dataset, ax: Axes) -> None:
    """Draw the cumulative shares of the three profiles of one task."""
    here = result.isel(training=result["ss"].notnull().all("effect").to_numpy())
    scale_training(ax, result["training"])
    for effect in here["effect"].to_numpy():
        color, style = _STYLES[effect]
        ax.plot(here["training"], here["cumulative_fraction"].sel(effect=effect), style, color=color, label=effect)
    ax.axhline(1, color="0.5", linewidth=0.8)
    ax.set_ylabel("cumulative fraction")


def n_levels(result: xr.Dataset) -> float:
    """Return the number of levels that cells show."""
    return min(result.sizes["training"], _CELLS)


def n_rows(result: xr.Dataset) -> float:
    """Return the number of tasks that cells show."""
    return result["fraction"].isel(effect=0, training=0).size


def draw_fraction_of_tasks(result: xr.Dataset, ax: Axes) -> None:
    """Draw the share of each level in the simple profile of every task, with a dot where it differs."""
    fraction = by_task(result["fraction"].sel(effect="simple"), "training")
    marked = np.zeros(fraction.shape, bool)
    if "pvalue_adjusted" in result:
        alpha = provenance.alpha_of(result)
        marked = provenance.significant(by_task(result["pvalue_adjusted"], "training"), alpha)
    _draw_cells(result, ax, fraction, marked, "fraction per level; dot: differ (adjusted)")


def draw_cumulative_of_tasks(result: xr.Dataset, ax: Axes) -> None:
    """Draw the running sum of the simple profile of every task."""
    share = by_task(result["cumulative_fraction"].sel(effect="simple"), "training")
    _draw_cells(result, ax, share, np.zeros(share.shape, bool), "cumulative fraction, simple")


def _draw_cells(result: xr.Dataset, ax: Axes, values: Floats, marked: NDArray[np.bool_], said: str) -> None:
    tasks = task_labels(result["cumulative_fraction"], ["effect", "training"])
    levels = result["training"].to_numpy()
    top = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
    draw_cells(ax, values, tasks, [short_level(level) for level in levels], limits=(0.0, top), said=said, marked=marked)
    ax.set_xlabel(wrapped(label_of(result["training"])))


def _mark(ax: Axes, training: NDArray[np.float64], marked: NDArray[np.bool_]) -> None:
    """Draw a bar under the stretches of neighbouring levels that are marked, a square under a single one."""
    if not marked.any():
        return
    place = np.full(len(training), np.nan)
    place[marked] = 0.02
    (bar,) = ax.plot(training, place, "s-", color="black", linewidth=4, markersize=4, label="differ (adjusted)",
                     gid="bars")  # fmt: skip
    bar.set_transform(ax.get_xaxis_transform())
    bar.set_solid_capstyle("butt")
