"""Pictures of `ss_profile`: the share of each level with its null band, and cumulative shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.axes import OTHER_COLOURS, label_of, scale_training, short_level, wrapped
from xcurves.core.matrices import by_task, draw_cells, task_labels
from xcurves.core.packing import Floats
from xcurves.core.sentences import joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 60  # levels that get a marker each
_CELLS = 20  # levels whose cells are as wide as columns
_BANDS = {"ss_null_upper": (0.5, "a single level"), "ss_null_upper_simultaneous": (0.25, "all levels")}
_STYLES = {
    "simple": (OTHER_COLOURS[0], "-"),
    "algorithm": (OTHER_COLOURS[1], "--"),
    "interaction": (OTHER_COLOURS[2], ":"),
}


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
            ax.fill_between(training, lower, upper, color="0.5", alpha=alpha, linewidth=0, label=f"null band, {what}")
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
    (bar,) = ax.plot(training, place, "s-", color="black", linewidth=4, markersize=4, label="differ (adjusted)")
    bar.set_transform(ax.get_xaxis_transform())
    bar.set_solid_capstyle("butt")


def say_fraction(result: xr.Dataset) -> str:
    """Return what the picture of the simple profile shows."""
    fraction = result["fraction"].sel(effect="simple").dropna("training")
    if not fraction.size:
        return "Empty chart: the mean curves are equal."
    most = fraction.isel(training=int(fraction.to_numpy().argmax()))
    said = (
        f"Line chart of the share of each training level in the simple sum of squares: largest at "
        f"{most['training'].item():g} with {most.item():.3g}."
    )
    if "pvalue_adjusted" not in result:
        return said
    marked = provenance.significant(result["pvalue_adjusted"].to_numpy(), provenance.alpha_of(result))
    found = [f"{level:g}" for level in result["training"].to_numpy()[marked]]
    return f"{said} Marked as differing: {joined(found) or 'no level'}."


def say_cumulative(result: xr.Dataset) -> str:
    """Return what the picture of the cumulative shares shows."""
    said = []
    for effect in result["effect"].to_numpy().tolist():
        share = result["cumulative_fraction"].sel(effect=effect).dropna("training")
        if share.size:
            half = share["training"].to_numpy()[int((share.to_numpy() >= 0.5 - 1e-12).argmax())]
            said.append(f"{effect} reaches one half at {half:g}")
    return f"Line chart of cumulative shares. {joined(said, '; ') or 'The mean curves are equal'}."


def say_fraction_of_tasks(result: xr.Dataset) -> str:
    """Return what the cells of the simple profiles show."""
    fraction = result["fraction"].sel(effect="simple").fillna(-1)
    most = by_task(fraction, "training").argmax(axis=1)
    at = zip(task_labels(fraction, ["training"]), result["training"].to_numpy()[most], strict=True)
    return f"Cells of tasks by training levels. Largest share: {joined([f'{task} at {x:g}' for task, x in at], '; ')}."


def say_cumulative_of_tasks(result: xr.Dataset) -> str:
    """Return what the cells of the running sums show."""
    share = by_task(result["cumulative_fraction"].sel(effect="simple"), "training")
    half = result["training"].to_numpy()[(share >= 0.5 - 1e-12).argmax(axis=1)]
    at = zip(task_labels(result["cumulative_fraction"], ["effect", "training"]), half, strict=True)
    return f"Cells of tasks by training levels. One half by: {joined([f'{task} {x:g}' for task, x in at], '; ')}."
