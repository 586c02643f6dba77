"""Pictures of simulations: rates of rejection over a setting, each line a p-value, with exact intervals."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.wording import label_of
from xcurves.plotting.look import bounds_of, style_of
from xcurves.plotting.names import wrapped
from xcurves.simulation.text import number_needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = ("effect", "error_term", "pair")
_LINE = 50  # letters in a line of the label
_STYLES = {"split_plot": "-", "pooled": "--", "welch": "-."}
_MARKERS = {"pooled": "o", "welch": "s"}  # hollow; others are filled


def draw_rates(result: xr.Dataset, ax: Axes) -> None:
    """Draw rates against the one setting that varies, by lines if it is a number, with the nominal level dotted."""
    dim = setting_of(result)
    over = result[dim] if dim is not None else xr.DataArray(["rate"], dims="setting")
    numeric = over.dtype.kind in "iuf"
    places = over.to_numpy() if numeric else np.arange(float(over.size))
    colours: dict[str, str] = {}
    lines = list(_lines(result))
    for i, (name, term, line) in enumerate(lines):
        shift = 0.0 if numeric else 0.12 * (i - (len(lines) - 1) / 2)
        colour = colours.setdefault(name.split(",")[0], style_of(len(colours)).color)
        fill = "white" if term in _MARKERS else colour
        look = {
            "color": colour,
            "markerfacecolor": fill,
            "marker": _MARKERS.get(term, "o"),
        }
        look["linestyle"] = _STYLES.get(term, "-") if numeric else "none"
        _draw_line(
            ax, places + shift, line, label=name.replace("_", "-") or None, **look
        )
    if not numeric:
        ax.set_xticks(places, [str(label) for label in over.to_numpy()])
    elif (places == np.round(places)).all():
        ax.locator_params("x", integer=True)
    is_plan = "runs_needed" in result
    level = float(result.attrs.get("power" if is_plan else "alpha", 0.05))
    ax.axhline(level, color="0.4", linestyle=":", linewidth=1)
    ax.set_xlabel(label_of(over) if dim is not None else "")
    if is_plan:
        _mark_needed(ax, result)
    is_power = is_plan or result.attrs.get("xcurves_result") == "power"
    ax.set_ylabel("power" if is_power else "share of rejections")
    ax.set_ylim(bottom=0, top=1.02 if is_power else None)


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


def _draw_line(ax: Axes, places: Floats, line: xr.Dataset, **look: Any) -> None:
    """Draw the rates of one p-value with their intervals."""
    rate = np.atleast_1d(line["rate"].to_numpy())
    arms = np.maximum(
        [[-1], [1]] * (bounds_of(line["rate_ci"]).reshape(2, -1) - rate), 0
    )
    ax.errorbar(places, rate, arms, markersize=4, linewidth=1.2, elinewidth=0.8, **look)


def setting_of(result: xr.Dataset) -> Hashable | None:
    """Return the dim of a result that is drawn along x: the first numeric one with several labels, else the first."""
    dims = [dim for dim in result["rate"].dims if dim not in _LINES]
    several = [dim for dim in dims if result.sizes[dim] > 1] or dims
    numeric = [dim for dim in several if result[dim].dtype.kind in "iuf"]
    return next(iter([*numeric, *several]), None)


def overlaid(result: xr.Dataset) -> list[Hashable]:
    """Return the dims that one panel holds."""
    dim = setting_of(result)
    return [*_LINES, *([] if dim is None else [dim])]


def _lines(result: xr.Dataset) -> Iterator[tuple[str, str, xr.Dataset]]:
    """Yield the name, error term ("" if none) and rates of each p-value that the test gives."""
    dims = [dim for dim in _LINES if dim in result.dims]
    for labelled in product(*(result[dim].to_numpy().tolist() for dim in dims)):
        chosen = dict(zip(dims, labelled, strict=True))
        line = result.sel(chosen)
        if bool(line["rate"].notnull().any()):
            yield ", ".join(labelled), chosen.get("error_term", ""), line
