"""Pictures of group-sequential tests."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core.axes import OTHER_COLOURS
from xcurves.core.sentences import joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3
_ROWS_OF_PANEL = 9.0  # of a list, that are as high as a panel
_LARGEST = 10.0  # times the median; larger statistics stand at the edge


def rows_of_panels(result: xr.Dataset) -> float:
    """Return how high the panels are, in rows of a list."""
    return _ROWS_OF_PANEL * ceil(result.sizes["pair"] / _COLUMNS)


def draw_boundary(result: xr.Dataset, ax: Axes) -> None:
    """Draw the statistic of every pair against looks, with the boundary, in a panel for each pair."""
    n_pairs = result.sizes["pair"]
    columns = min(n_pairs, _COLUMNS)
    rows = ceil(n_pairs / columns)
    top = _top(result)
    if n_pairs == 1:
        _draw_pair(result.isel(pair=0), ax, top)
        ax.text(0.98, 0.03, ax.get_title(), transform=ax.transAxes, ha="right", fontsize="small")
        ax.set_xlabel("look")
        ax.set_ylabel("statistic T")
        return
    ax.set_axis_off()
    for place in range(n_pairs):
        row, column = divmod(place, columns)
        left, bottom = column / columns, 1 - (row + 1) / rows
        inset = ax.inset_axes((left + 0.02, bottom + 0.16 / rows, 0.9 / columns, 0.68 / rows))
        _draw_pair(result.isel(pair=place), inset, top)
        if column == 0:
            inset.set_ylabel("statistic T", fontsize="small")
        else:
            inset.set_yticklabels([])
        if place + columns >= n_pairs:
            inset.set_xlabel("look", fontsize="small")


def _top(result: xr.Dataset) -> float:
    """Return the end of the axis of all panels, near which larger statistics stand."""
    values = np.concatenate([result[name].to_numpy().ravel() for name in ("statistic", "critical_value")])
    finite = np.append(values[np.isfinite(values)], 2.0)
    return 1.25 * min(float(finite.max()), _LARGEST * float(np.median(finite)))


def _draw_pair(pair: xr.Dataset, ax: Axes, top: float) -> None:
    looks = pair["look"].to_numpy()
    statistic, boundary = pair["statistic"].to_numpy(), pair["critical_value"].to_numpy()
    done = ~np.isnan(pair["pvalue"].to_numpy())
    shown = np.minimum(statistic, 0.97 * top)
    some = done & np.isfinite(boundary)
    ax.plot(looks[some], np.minimum(boundary[some], 0.97 * top), "--_", color="black", linewidth=1, markersize=12)
    none = done & np.isinf(boundary)
    ax.plot(looks[none], np.full(np.count_nonzero(none), 0.97 * top), "^", color="0.6", markersize=5)
    ax.plot(looks[done], shown[done], "-o", color=OTHER_COLOURS[0], markerfacecolor="white", markersize=5)
    decided = np.flatnonzero(pair["rejected"].to_numpy() == 1)[:1]
    ax.plot(looks[decided], shown[decided], "*", color=OTHER_COLOURS[2], markersize=13, zorder=4)
    state = (
        f"decided at look {looks[decided[0]]}" if decided.size else ("open" if pair["undecided"] == 1 else "not shown")
    )
    ax.set_title(f"{pair['pair'].item()}\n{state}", fontsize="small")
    ax.set_ylim(0, top)
    ax.set_xlim(0.5, len(looks) + 0.5)
    ax.set_xticks(looks)
    ax.tick_params(labelsize="small")
    ax.grid(axis="y", alpha=0.3)


def say_boundary(result: xr.Dataset) -> str:
    """Return what the picture of boundaries shows."""
    said = []
    for place in range(result.sizes["pair"]):
        pair = result.isel(pair=place)
        done = np.flatnonzero(pair["pvalue"].notnull().to_numpy())
        decided = np.flatnonzero(pair["rejected"].to_numpy() == 1)
        latest = pair.isel(look=done[-1]) if done.size else pair.isel(look=0)
        state = f"decided at look {decided[0] + 1}" if decided.size else "not decided"
        values = f"T = {latest['statistic'].item():.3g}, boundary {latest['critical_value'].item():.3g}"
        said.append(f"{pair['pair'].item()}: {state}, at look {latest['look'].item()} {values}")
    return f"Chart of the statistic of every pair at each look, with the boundary. {joined(said, '; ')}."
