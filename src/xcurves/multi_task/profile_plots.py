"""Pictures of `profile_across_tasks`: mean curves and differences against the share of the budget, with bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.axes import fill_band, style_in, wrapped
from xcurves.core.curve_differences import draw_pairs_along
from xcurves.core.wording import with_units
from xcurves.kernels.moments import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 6  # pairs that have bars
_ROW = 0.09  # of the height of the panel, for a bar
_DARK = "0.25"


def draw_mean_curves(result: xr.Dataset, ax: Axes) -> None:
    """Draw the mean curve of every algorithm with its band, and bars where pairs differ."""
    at = 100 * result["budget_fraction"].to_numpy()
    for place, name in enumerate(result["algorithm"].to_numpy().tolist()):
        own = result.isel(algorithm=place)
        style = style_in(own)
        low, high = (own["mean_curve_band"].sel(ci_bound=bound).to_numpy() for bound in ("lower", "upper"))
        fill_band(ax, at, low, high, style)
        ax.plot(at, own["mean_curve"], linestyle=style.linestyle, marker=style.marker, markersize=3.5,
                color=style.color, label=str(name))  # fmt: skip
    _mark_pairs(result, at, ax)
    ax.set_xlabel("share of the budget (%)")
    ax.set_ylabel(wrapped(with_units("mean score over tasks", result["mean_curve"])))


def _mark_pairs(result: xr.Dataset, at: Floats, ax: Axes) -> None:
    """Draw a bar at the foot for every pair that differs somewhere, where it does, if such pairs are few."""
    shown = provenance.significant(result["pvalue_adjusted"].to_numpy(), provenance.alpha_of(result))
    places = np.flatnonzero(shown.any(axis=-1))
    half = (at[-1] - at[0]) / max(len(at) - 1, 1) / 2 or 0.5
    low, high = ax.get_ylim()
    row = _ROW * (high - low)
    if len(places) > _FEW:
        return
    for number, place in enumerate(places):
        y, color = low - row * (number + 0.75), _DARK  # pairs have fewer colours than there are pairs; names tell them
        marked = at[shown[place]]
        ax.hlines(np.full(len(marked), y), marked - half, marked + half, color=color, linewidth=3.5, gid="bars")
        ax.text(1.02, y, str(result["pair"].to_numpy()[place]), transform=ax.get_yaxis_transform(), va="center",
                fontsize="x-small", color=color)  # fmt: skip
    if len(places):
        ax.axhline(low, color="0.8", linewidth=0.8)
        ax.set_ylim(low - row * (len(places) + 0.5), high)


def draw_aggregate_differences(result: xr.Dataset, ax: Axes) -> None:
    """Draw the mean difference of every pair with its band."""
    draw_pairs_along(result, ax, 100 * result["budget_fraction"].to_numpy(), "difference", "difference_band")
    ax.set_xlabel("share of the budget (%)")
