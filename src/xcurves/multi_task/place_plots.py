"""The picture of places of many algorithms: what a critical-difference diagram is for, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats
from xcurves.core import provenance
from xcurves.multi_task.claims import claim_of_verdict, of_claim
from xcurves.plotting.drawn_names import list_rows
from xcurves.plotting.look import bounds_of, style_in
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import with_units
from xcurves.say.pairs import lower_is_better

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEHIND = "0.72"  # of algorithms that are shown not to be the best
_INK = "0.45"
_MANY = 30  # rows beyond which they are low
_LOW = 0.76  # height of a low row, of the usual one
_HALF = 0.48  # of the panel, for places and for means
_MOST_BARS = 12  # that join algorithms not shown to differ: more are a wall
_BAR = 0.012  # from one bar to the next, as a share of the panel


def place_rows(result: xr.Dataset) -> float:
    """Return how many rows of usual height the picture takes: rows of many algorithms are lower."""
    n = result.sizes["algorithm"]
    return max(min(n, _MANY), _LOW * n)


def draw_places(result: xr.Dataset, ax: Axes) -> None:
    """Draw a row for each algorithm, the best mean on top: the interval of its place, and that of its mean beside."""
    part = of_claim(result, claim_of_verdict(result))
    order = _order(part)
    own = part.isel(algorithm=order)
    colors = [
        style_in(own.isel(algorithm=row)).color if is_best else _BEHIND
        for row, is_best in enumerate(_may_be_best(own).tolist())
    ]
    names = own["algorithm"].to_numpy().astype(str).tolist()
    list_rows(ax, names)
    for label, is_best in zip(ax.get_yticklabels(), _may_be_best(own), strict=True):
        label.set_color("black" if is_best else _INK)
    ax.tick_params(axis="y", length=0)

    # Places take the left half of the panel, means the right one.
    n = len(order)
    low, high = bounds_of(own["place_ci"])
    _draw_rows(ax, (low + high) / 2, low, high, colors, marker="")
    ax.set_xlim(0.5, 0.5 + n / _HALF)
    ax.set_xticks(_ticks(n))
    ax.set_xlabel("place", loc="left")
    ax.grid(axis="x", color="0.92")
    _join_alike(part, order, ax)
    means = ax.inset_axes((1 - _HALF, 0, _HALF, 1), sharey=ax)
    low, high = bounds_of(own["score_mean_ci"])
    _draw_rows(means, own["score_mean"].to_numpy(), low, high, colors, marker="o")
    means.tick_params(axis="y", left=False, labelleft=False)
    means.spines["left"].set_visible(False)
    means.patch.set_visible(False)
    means.grid(axis="x", color="0.92")
    means.set_xlabel(with_units(f"mean {score_name(result)}", result["score_mean"]))


def _draw_rows(ax: Axes, at: Floats, low: Floats, high: Floats, colors: list[str], *, marker: str) -> None:
    """Draw an interval in each row, the best on top, and a value where there is a marker."""
    rows = np.arange(len(at), dtype=float)
    known = np.isfinite(low) & np.isfinite(high)
    paint = np.array(colors, dtype=object)
    width = 5.0 if not marker else 1.5
    if len(at) > _MANY:
        width = 0.6 * width
    colours = paint[known].tolist()
    ax.hlines(rows[known], low[known], high[known], color=colours, linewidth=width, gid="interval")
    alone = known & (low == high)
    if not marker and alone.any():
        look: dict[str, Any] = {"marker": "|", "linewidths": 1.5, "s": 4 * width**2}
        ax.scatter(low[alone], rows[alone], color=paint[alone].tolist(), **look)
    if marker:
        size = 16.0 if len(at) <= _MANY else 7.0
        ax.scatter(at, rows, s=size, color=colors, marker=marker, zorder=3)


def _order(part: xr.Dataset) -> NDArray[np.intp]:
    """Return the algorithms that have a mean, the best first; those of the verdict in front."""
    means = part["score_mean_common"].fillna(np.nan).to_numpy()
    own = part["score_mean"].to_numpy()
    sign = 1.0 if lower_is_better(part) else -1.0
    known = np.flatnonzero(np.isfinite(own))
    keys = (sign * own[known], np.nan_to_num(sign * means[known], nan=np.inf))
    return known[np.lexsort(keys)]


def _may_be_best(part: xr.Dataset) -> Bools:
    """Return which algorithms may be the best; all, where none is said to be."""
    if "may_be_best" not in part or part["may_be_best"].isnull().all():
        return np.ones(part.sizes["algorithm"], bool)
    return np.asarray(part["may_be_best"].to_numpy() == 1)


def _ticks(n: int) -> list[int]:
    """Return places that are written: the first, the last, and some between."""
    step = max(1, int(np.ceil(n / 6)))
    inner = [place for place in range(step, n, step) if n - place > step / 2]
    return sorted({1, *inner, n})


def _join_alike(part: xr.Dataset, order: NDArray[np.intp], ax: Axes) -> None:
    """Draw bars that join algorithms of which no two are shown to differ, if these are few."""
    stretches = joined_stretches(part, order)
    if len(order) < 3 or len(stretches) > _MOST_BARS:
        return
    for column, (start, stop) in enumerate(stretches):
        x = 1.02 + _BAR * column
        ax.plot([x, x], [start - 0.25, stop + 0.25], color="black", linewidth=2, solid_capstyle="butt", clip_on=False,
                transform=ax.get_yaxis_transform(), gid="joined")  # fmt: skip


def joined_stretches(part: xr.Dataset, order: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the longest stretches of two or more algorithms in this order of which no two are shown to differ."""
    row_of = {name: row for row, name in enumerate(part["algorithm"].to_numpy()[order].tolist())}  # fmt: skip
    shown = provenance.significant(part["pvalue_adjusted"].to_numpy(), provenance.alpha_of(part))
    shown &= part["difference"].to_numpy() != 0
    # of each row the first below that it is shown to differ from
    ends = np.full(len(order), len(order))
    sides = zip(
        part["algorithm_a"].to_numpy()[shown].tolist(),
        part["algorithm_b"].to_numpy()[shown].tolist(),
        strict=True,
    )
    for a, b in sides:
        if a in row_of and b in row_of:
            above, below = sorted((row_of[a], row_of[b]))
            ends[above] = min(ends[above], below)
    stops = np.minimum.accumulate(ends[::-1])[::-1] - 1
    return [
        (start, int(stop))
        for start, stop in enumerate(stops)
        if stop > start and (start == 0 or stop > stops[start - 1])
    ]
