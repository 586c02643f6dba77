"""The picture of a plan: power over numbers of runs, each line a p-value, with exact intervals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.draw.drawn_names import wrapped
from xcurves.pictures.styles import bounds_of, style_of
from xcurves.planning.text import number_needed
from xcurves.say.numbers import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = ("effect", "error_term", "pair")
_LINE = 50  # letters in a line of the label
_STYLES = {"split_plot": "-", "pooled": "--", "welch": "-."}
_MARKERS = {"pooled": "o", "welch": "s"}  # hollow; others are filled


def draw_power(result: xr.Dataset, ax: Axes) -> None:
    """Draw the power over the numbers of runs, with the power wanted dotted."""
    colours: dict[str, str] = {}
    for name, term, line in _lines(result):
        colour = colours.setdefault(name.split(",")[0], style_of(len(colours)).color)
        fill = "white" if term in _MARKERS else colour
        _draw_line(
            ax,
            line,
            label=name.replace("_", "-") or None,
            color=colour,
            markerfacecolor=fill,
            marker=_MARKERS.get(term, "o"),
            linestyle=_STYLES.get(term, "-"),
        )
    ax.locator_params("x", integer=True)
    power = float(result.attrs.get("power", 0.8))
    ax.axhline(power, color="0.4", linestyle=":", linewidth=1)
    ax.set_xlabel(label_of(result["n_runs"]))
    _mark_needed(ax, result)
    ax.set_ylabel("power")
    ax.set_ylim(bottom=0, top=1.02)


def _mark_needed(ax: Axes, result: xr.Dataset) -> None:
    """Mark the number of runs that reaches the power wanted, and say it below."""
    name, needed = number_needed(result)
    of_which = f" ({name})" if name else ""
    power = float(result.attrs.get("power", 0.8))
    if np.isfinite(needed):
        ax.axvline(needed, color="0.4", linestyle=":", linewidth=1, gid="needed")
        said = f"{needed:g} runs reach power {power:g}{of_which}"
    elif np.isnan(needed):
        said = "the test gives no p"
    else:
        said = f"{result['n_runs'].to_numpy()[-1]} runs do not reach power {power:g}{of_which}"
    ax.set_xlabel(wrapped(f"{ax.get_xlabel()}\n{said}", _LINE))


def _draw_line(ax: Axes, line: xr.Dataset, **look: Any) -> None:
    """Draw the rates of one p-value with their intervals."""
    n_runs = np.atleast_1d(line["n_runs"].to_numpy())
    rate = np.atleast_1d(line["rate"].to_numpy())
    arms = np.maximum([[-1], [1]] * (bounds_of(line["rate_ci"]).reshape(2, -1) - rate), 0)
    ax.errorbar(n_runs, rate, arms, markersize=4, linewidth=1.2, elinewidth=0.8, **look)


def _lines(result: xr.Dataset) -> Iterator[tuple[str, str, xr.Dataset]]:
    """Yield the name, error term ("" if none) and rates of each p-value that the test gives."""
    dims = [dim for dim in _LINES if dim in result.dims]
    for labelled in product(*(result[dim].to_numpy().tolist() for dim in dims)):
        chosen = dict(zip(dims, labelled, strict=True))
        line = result.sel(chosen)
        if bool(line["rate"].notnull().any()):
            yield ", ".join(labelled), chosen.get("error_term", ""), line
