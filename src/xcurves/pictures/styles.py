"""How algorithms and pairs look: colours, lines and markers, the same in every picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.labels import (
    CI_BOUNDS,
    COLOR_INDEX,
    PAIR_COLORS,
    each_of,
    has_color_index,
)
from xcurves.core.refusal import Refusal, Verbatim
from xcurves.core.validation import Labelled

SHADE = 0.2
PLAIN_LINES = 6  # algorithms that colours alone tell apart
# The colours of Okabe and Ito, safe for colour-blind readers; wine replaces yellow, which is too light. Then four more
# that readers can tell from these and from each other, for pictures of more than eight algorithms.
ALGORITHM_COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#000000",
    "#56B4E9",
    "#E69F00",
    "#882255",
    "#4B0092",
    "#999933",
    "#661100",
    "#D41159",
)
# Tol's colours, for pairs and profiles, as many as one panel shows.
OTHER_COLOURS = (
    "#332288",
    "#117733",
    "#AA4499",
    "#999933",
    "#CC6677",
    "#44AA99",
    "#6699CC",
    "#882255",
)
# Nine of viridis, for numbers that rise.
_RISING = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
_LINES = ("-", "--", "-.", (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)))
_MARKERS = "os^DvPX*"


class Style(NamedTuple):
    """Colour, line and marker of an algorithm; the first 40 differ, by colour and line, and by colour and marker."""

    color: str
    linestyle: Any
    marker: str


BLACK = Style("black", "-", "o")


def style_of(place: int, colours: Sequence[str] = ALGORITHM_COLOURS) -> Style:
    """Return the style of the algorithm at a place in its coordinate, the same in every picture."""
    turn, colour = divmod(place, len(colours))
    dashes = 0
    if colour >= PLAIN_LINES:
        dashes = 1 + (colour - PLAIN_LINES) % (len(_LINES) - 1)
    # a colour that comes again has other dashes
    line = _LINES[(dashes + turn) % len(_LINES)]
    return Style(colours[colour], line, _MARKERS[(place + turn) % len(_MARKERS)])


def rising(share: float) -> str:
    """Return the colour of a number at a share of a range from 0 to 1: dark to light."""
    channels = np.array([[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in _RISING])
    at = np.clip(share, 0, 1) * (len(_RISING) - 1)
    mixed = (round(float(np.interp(at, range(len(_RISING)), channel))) for channel in channels.T)
    return "#" + "".join(f"{each:02x}" for each in mixed)


def with_styles(data: Labelled, colours: Mapping[str, str]) -> Labelled:
    """Return data with a style for each algorithm and pair, as coordinates; some colours are given.

    The style is that of the place, or of the coordinate `color_index` of algorithms, which selections keep.
    """
    palettes = {"algorithm": ALGORITHM_COLOURS, "pair": OTHER_COLOURS}
    numbered = {"algorithm": _color_indices, "pair": _pair_indices}
    for dim, palette in palettes.items():
        if dim in data.dims and dim in data.coords:
            styles = np.empty(data.sizes[dim], dtype=object)
            indices = numbered[dim](data)
            for place, label in enumerate(data[dim].to_numpy().tolist()):
                style = style_of(indices[place], palette)
                styles[place] = style._replace(color=colours.get(str(label), style.color))
            data = data.assign_coords({f"{dim}_style": (dim, styles)})
    return data


def with_dashes(data: Labelled) -> Labelled:
    """Return data whose algorithms and pairs differ in their dashes too, whatever their number."""
    for dim in ("algorithm", "pair"):
        name = f"{dim}_style"
        if name in data.coords:
            styles = np.empty(data.sizes[dim], dtype=object)
            for place, style in enumerate(data[name].to_numpy()):
                styles[place] = style._replace(linestyle=_LINES[place % len(_LINES)])
            data = data.assign_coords({name: (dim, styles)})
    return data


def _pair_indices(data: xr.DataArray | xr.Dataset) -> Sequence[int]:
    """Return the number of the style of each pair: one of its own for any two algorithms, in either order."""
    if not set(PAIR_COLORS) <= set(data.coords):
        return range(data.sizes["pair"])
    a, b = (data[name].to_numpy() for name in PAIR_COLORS)
    smaller, larger = np.minimum(a, b), np.maximum(a, b)
    # Pairs of the first algorithms come first, so that a further algorithm changes none of them.
    return [int(index) for index in larger * (larger - 1) // 2 + smaller]


def _color_indices(data: xr.DataArray | xr.Dataset) -> Sequence[int]:
    """Return the number of the style of each algorithm."""
    n = data.sizes["algorithm"]
    if not has_color_index(data):
        return range(n)
    values = data[COLOR_INDEX].to_numpy()
    is_whole = values.dtype.kind in "iuf" and (values % 1 == 0).all()
    if not is_whole or (values < 0).any():
        raise Refusal(
            "data",
            Verbatim(values[:3].tolist()),
            f"{COLOR_INDEX} must be whole numbers from 0 on, one of each algorithm",
            f"Give .assign_coords({COLOR_INDEX}=('algorithm', range({n})))",
        )
    return [int(value) for value in values]


def style_in(part: xr.DataArray | xr.Dataset, dim: str = "algorithm") -> Style:
    """Return the style of one algorithm or pair, which `with_styles` gave it."""
    name = f"{dim}_style"
    return part[name].item() if name in part.coords else style_of(0)


def styled_parts(result: xr.Dataset, dim: str = "algorithm") -> Iterator[tuple[Style, xr.Dataset, str]]:
    """Yield the style, the part and the name of each algorithm or pair, also of an only one; "" if it has no name."""
    parts = each_of(result, dim) if dim in result.dims else [result]
    for part in parts:
        yield style_in(part, dim), part, str(part[dim].item()) if dim in part.coords else ""


def bounds_of(interval: xr.DataArray) -> Floats:
    """Return the lower and the upper ends of intervals, shape (2, ...)."""
    return np.asarray(interval.sel(ci_bound=list(CI_BOUNDS)).transpose("ci_bound", ...).to_numpy())
