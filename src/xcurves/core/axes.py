"""Drawing helpers: new axes, one style for each algorithm, intervals, labels from attrs, a scale for training."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.labels import (
    CI_BOUNDS,
    COLOR_INDEX,
    PAIR_COLORS,
    escape_controls,
    has_color_index,
)
from xcurves.core.validation import Labelled
from xcurves.core.wording import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OWN = "own"  # the gid of a figure that `plot` made, in which a picture may have further axes
SHADE = 0.2
PLAIN_LINES = 6  # algorithms that colours alone tell apart
MOST_CURVES = 8  # that one panel shows; more have a panel each
# The colours of Okabe and Ito, safe for colour-blind readers; wine replaces yellow, which is too light.
ALGORITHM_COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#000000",
    "#56B4E9",
    "#E69F00",
    "#882255",
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
LINES = ("-", "--", "-.", (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)))
_MARKERS = "os^DvPX*"
_EVEN = 4.0  # largest ratio of steps on a linear scale
_LARGE = 10_000  # levels from here on are written short: 20k, 1.5M
_NAMED = 12  # levels that get a tick each
_LETTER = 0.52  # width of a small digit, of the height of a letter of labels
_LINE = 32  # letters in a line of a label
# letters of a name that fit beside a panel, and how many of a longer one's last are kept
_LONG, _KEPT = (28, 10)
_FEW_ROWS = 24  # whose names have the usual size
_PAIR_WORD = re.compile(" (over|below|-) ")
_SIDES = ("algorithm_a", "algorithm_b")


class Style(NamedTuple):
    """Colour, line and marker of an algorithm; the first 40 differ, in colour and marker too."""

    color: str
    linestyle: Any
    marker: str


def style_of(place: int, colours: Sequence[str] = ALGORITHM_COLOURS) -> Style:
    """Return the style of the algorithm at a place in its coordinate, the same in every picture."""
    turn, colour = divmod(place, len(colours))
    line = "-" if place < PLAIN_LINES else LINES[place % len(LINES)]
    return Style(colours[colour], line, _MARKERS[(place + turn) % len(_MARKERS)])


BLACK = Style("black", "-", "o")


class IntervalGroup(NamedTuple):
    """Values of one style with their intervals and rows, each of shape (row,); `flag` as in `caption_of`."""

    y: Floats
    value: Floats
    low: Floats
    high: Floats
    style: Style
    filled: bool = True
    flag: str | None = None


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
                styles[place] = style._replace(
                    color=colours.get(str(label), style.color)
                )
            data = data.assign_coords({f"{dim}_style": (dim, styles)})
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
    # Arrays that were put together can lack numbers, or have one twice: then the places count.
    if len(np.unique(values)) < n or pd.isna(values).any():
        return range(n)
    is_whole = values.dtype.kind in "iuf" and (values % 1 == 0).all()
    if not is_whole or (values < 0).any():
        raise ValueError(
            f"{COLOR_INDEX} must be whole numbers from 0 on, one of each algorithm; got {values[:3].tolist()}. "
            f"Give .assign_coords({COLOR_INDEX}=('algorithm', range({n})))"
        )
    return [int(value) for value in values]


def style_in(part: xr.DataArray | xr.Dataset, dim: str = "algorithm") -> Style:
    """Return the style of one algorithm or pair, which `with_styles` gave it."""
    name = f"{dim}_style"
    return part[name].item() if name in part.coords else style_of(0)


def scale_training(
    ax: Axes,
    training: xr.DataArray,
    grids: Sequence[Floats] | None = None,
    *,
    log: bool = False,
) -> None:
    """Label the x axis and scale it: linear if levels are even, unless `log`; else log, symlog if 0 is one of them.

    `grids` has the levels of each algorithm, if they differ: a linear scale then needs all to be even and to end
    at similar levels.
    """
    ax.set_xlabel(wrapped(label_of(training)))
    levels = training.to_numpy()
    grids = [levels] if grids is None else grids
    ends = [grid[-1] for grid in grids]
    if not log and all(map(_is_even, grids)) and max(ends) <= _EVEN * min(ends):
        if np.abs(levels).max() >= _LARGE:
            from matplotlib.ticker import EngFormatter

            ax.xaxis.set_major_formatter(EngFormatter(sep=""))
        return
    if levels[0] < 0:
        return
    ax.set_xscale("log") if levels[0] > 0 else ax.set_xscale(
        "symlog", linthresh=levels[1], linscale=0.5
    )
    if len(levels) <= _NAMED:
        ax.set_xticks(levels, _tick_labels(levels, ax), fontsize="small")
        ax.minorticks_off()
    elif levels[0] == 0:
        decades = np.arange(
            np.ceil(np.log10(levels[1])), np.floor(np.log10(levels[-1])) + 1
        )
        ax.set_xticks([0, *10**decades])


def _tick_labels(levels: Floats, ax: Axes) -> list[str]:
    """Return labels of levels, "" where a label would touch the one before it or the last one."""
    x = ax.xaxis.get_transform().transform(levels)
    labels = [short_level(level) for level in levels]
    # The longest label and a space, as a share of the axis.
    letters = (
        (longest_line(labels) + 1.5)
        * _LETTER
        * float(ax.xaxis.label.get_fontsize())
        / 72
        * ax.figure.dpi
    )
    least = letters / ax.get_window_extent().width * (x[-1] - x[0])
    steps = np.diff(x)
    # every second or third of even ones
    if len(x) > 2 and steps.max() < 1.01 * steps.min():
        stride = int(np.ceil(least / steps[0]))
        return [
            label if place % stride == 0 else "" for place, label in enumerate(labels)
        ]
    before = x[0]
    for place in range(1, len(levels) - 1):
        if min(x[place] - before, x[-1] - x[place]) >= least:
            before = x[place]
        else:
            labels[place] = ""
    return labels


def short_level(level: float) -> str:
    """Return a training level in few letters: 500, 20k, 1.5M."""
    from matplotlib.ticker import EngFormatter

    return (
        EngFormatter(places=1, sep="")(level).replace(".0", "")
        if level >= _LARGE
        else f"{level:g}"
    )


def _is_even(levels: Floats) -> bool:
    steps = np.diff(levels)
    return steps.size == 0 or bool(steps.max() <= _EVEN * steps.min())


def wrapped(label: str, letters: float = _LINE) -> str:
    """Return a long label in lines of so many letters."""
    return "\n".join(
        fill(line, int(min(max(8, letters), 10**6))) for line in label.split("\n")
    )


def longest_line(names: Iterable[str]) -> int:
    """Return the letters of the longest line of any name."""
    return max(
        (len(line) for name in names for line in str(name).split("\n")), default=0
    )


def draw_intervals(ax: Axes, groups: Iterable[IntervalGroup]) -> None:
    """Draw values with their intervals, a row each; an unbounded side ends in an arrow at the edge of the panel."""
    groups = list(groups)
    for group in groups:
        start, stop = (
            np.where(np.isfinite(bound), bound, group.value)
            for bound in (group.low, group.high)
        )
        color = group.style.color
        ax.hlines(group.y, start, stop, color=color)
        ax.plot(group.value, group.y, group.style.marker, color=color, markersize=5, gid=group.flag,
                markerfacecolor=color if group.filled else "white")  # fmt: skip
    limits = ax.get_xlim()  # of the finite values
    for group in groups:
        for edge, marker, bound in zip(
            limits, "<>", (group.low, group.high), strict=True
        ):
            here = np.isinf(bound) & np.isfinite(group.value)
            if here.any():
                look: dict[str, Any] = {"color": group.style.color, "zorder": 1.5}
                ax.hlines(group.y[here], edge, group.value[here], **look)
                ends = np.full(np.count_nonzero(here), edge)
                ax.scatter(
                    ends,
                    group.y[here],
                    s=20,
                    clip_on=False,
                    gid="arrow",
                    marker=marker,
                    **look | {"zorder": 3},
                )
    ax.set_xlim(limits)


def draw_rows(
    ax: Axes,
    names: Sequence[str],
    value: xr.DataArray,
    interval: xr.DataArray,
    *,
    at: float = 0.0,
) -> None:
    """Draw values with their intervals in named rows, beside a line at what is no difference."""
    ax.axvline(at, color="0.6", linewidth=1)
    low, high = bounds_of(interval)
    draw_intervals(
        ax,
        [
            IntervalGroup(
                np.arange(float(value.size)), value.to_numpy(), low, high, BLACK
            )
        ],
    )
    list_rows(ax, names)
    ax.set_xlabel(label_of(value))
    ax.grid(axis="x", alpha=0.3)


def bounds_of(interval: xr.DataArray) -> Floats:
    """Return the lower and the upper ends of intervals, shape (2, ...)."""
    return np.asarray(
        interval.sel(ci_bound=list(CI_BOUNDS)).transpose("ci_bound", ...).to_numpy()
    )


def fill_band(ax: Axes, x: Floats, bounds: Floats, color: Any) -> None:
    """Shade between two curves, shape (2, x), where both are known."""
    if np.isfinite(bounds).all(axis=0).any():
        ax.fill_between(x, *bounds, color=color, alpha=SHADE, linewidth=0, gid="band")


def drawable(data: Labelled) -> Labelled:
    """Return data whose names can all be drawn: short ones, no two alike, pairs of long names in two lines."""
    words = {
        str(name): coord.to_numpy()
        for name, coord in data.coords.items()
        if coord.dtype.kind in "OUT"
    }
    short = {
        label: _shortened(label)
        for names in words.values()
        for label in names.ravel().tolist()
        if isinstance(label, str)
    }
    alike = {said for said, n in Counter(short.values()).items() if n > 1}
    known = {
        label: _safe(f"{said} ({place})" if said in alike else said)
        for place, (label, said) in enumerate(short.items(), 1)
    }
    for name, names in words.items():
        if (
            name == "pair"
            and set(_SIDES) <= words.keys()
            and max(map(len, map(str, names.flat)), default=0) > _LONG
        ):
            sides = zip(*(words[side].flat for side in _SIDES), strict=True)
            shown = np.array(
                [f"{known.get(a, a)} -\n{known.get(b, b)}" for a, b in sides]
            ).reshape(names.shape)
        else:
            shown = np.vectorize(
                lambda label: known.get(label, label), otypes=[object]
            )(names)
        data = data.assign_coords(
            {
                name: data[name].copy(
                    data=shown if names.dtype.kind == "O" else shown.astype(str)
                )
            }
        )
    variables: Any = data.variables if isinstance(data, xr.Dataset) else data.coords
    for variable in (data, *variables.values()):
        variable.attrs = {
            key: _safe(said) if isinstance(said, str) else said
            for key, said in variable.attrs.items()
        }
    return data


def _shortened(name: str) -> str:
    """Return a name without the middle of a long one."""
    said = _with_escapes(name)
    return (
        said if len(said) <= _LONG else f"{said[: _LONG - _KEPT - 1]}…{said[-_KEPT:]}"
    )


def _with_escapes(words: str) -> str:
    """Return words with controls as escapes; line breaks stay."""
    return "\n".join(map(escape_controls, words.split("\n")))


def _safe(words: str) -> str:
    """Return words with formulas that are none as text; a legend leaves out labels that are empty or begin with "_"."""
    lines = _with_escapes(words)
    if "$" in lines:
        try:
            from matplotlib.mathtext import MathTextParser

            MathTextParser("path").parse(lines)
        except (ImportError, ValueError):
            lines = lines.replace("$", r"\$")
    return f"\u200b{lines}" if not lines or lines.startswith("_") else lines


def list_rows(ax: Axes, names: Sequence[str]) -> None:
    """Name rows on the y axis, the first on top; long names of pairs stand in two lines."""
    if longest_line(names) > _LINE:
        names = [_PAIR_WORD.sub(r" \1\n", name, count=1) for name in names]
    ax.set_yticks(
        range(len(names)), names, fontsize="x-small" if len(names) > _FEW_ROWS else None
    )
    ax.set_ylim(len(names) - 0.5, -0.5)
