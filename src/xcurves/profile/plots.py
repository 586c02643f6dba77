"""Pictures of `ss_profile`: the share of each level with its null band, and cumulative shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.axes import OTHER_COLOURS, scale_training
from xcurves.core.sentences import joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 60  # levels that get a marker each
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
    ax.set_ylim(0, 1.3 * ax.get_ylim()[1])
    ax.set_ylabel("fraction per level")
    ax.legend(fontsize="small", ncols=2)


def draw_cumulative(result: xr.Dataset, ax: Axes) -> None:
    """Draw the cumulative shares of the three profiles of one task."""
    here = result.isel(training=result["ss"].notnull().all("effect").to_numpy())
    scale_training(ax, result["training"])
    for effect in here["effect"].to_numpy():
        color, style = _STYLES[effect]
        ax.plot(here["training"], here["cumulative_fraction"].sel(effect=effect), style, color=color, label=effect)
    ax.axhline(1, color="0.5", linewidth=0.8)
    ax.set_ylabel("cumulative fraction")
    ax.legend(fontsize="small")


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
