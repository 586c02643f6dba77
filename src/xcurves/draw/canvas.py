"""Where a picture is drawn, and what is asked of its figure: the options of `plot` that every picture has."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import ceil, isqrt, prod, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import xarray as xr

from xcurves.core.labels import SIDES, did_you_mean, ordered, relabelled
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, WrongType, give, shown
from xcurves.core.validation import Labelled, check_choice
from xcurves.draw.room import LEAST_WIDE, SMALL, Grid
from xcurves.pictures.styles import with_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_IN_A_ROW = 3  # panels, where there are few
_LEAST_POINTS, _MOST_POINTS = (4.5, 40.0)  # of letters that can be read

LEGENDS = ("direct", "above", "outside")
Colors = Mapping[Any, Any] | Sequence[Any] | None


class Canvas(NamedTuple):
    """Where to draw: given Axes, or a figure with panels along dims; and in which colours."""

    ax: Axes | None = None
    col: Hashable | None = None
    row: Hashable | None = None
    col_wrap: int | None = None
    figsize: tuple[float, float] | None = None
    colors: Colors = None
    order: Sequence[Any] | None = None
    labels: Mapping[Any, str] | None = None
    legend: str | None = "direct"
    fontsize: float | None = None  # of labels, in points

    def check_one(self, sizes: Mapping[Hashable, int], view: str | None = None) -> None:
        """Refuse several panels in one Axes: of dims of these sizes, or of several views, of which `view` is one."""
        n_panels = prod(sizes.values())
        if self.ax is None or (n_panels == 1 and view is None):
            return
        got = "several views"
        cure: list[Any] = []
        if n_panels > 1:
            got = f"{n_panels} panels"
            selected = ", ".join(f"{dim}=[0]" for dim, size in sizes.items() if size > 1)
            cure.append(f"Select one: .isel({selected}), ")
        if view is not None:
            cure += ["and give " if cure else "Give one of them: ", give(view=view), ", "]
        raise Refusal("ax", UNSAID, f"ax is one Axes; got {got}", Cure(*cure, "or leave ax out"))

    def grid(self, dims: Sequence[Hashable], sizes: Sequence[int]) -> Grid:
        """Return rows and columns for panels of dims of these sizes: one is wrapped, the first of two has rows."""
        n = prod(sizes)
        if len(sizes) == 2:
            return Grid(sizes[0], sizes[1], n, two_dims=True)
        if list(dims) == [self.row]:
            return Grid(n, 1, n)
        suits = isqrt(n)
        if suits**2 < n:
            suits = _columns_that_suit(n)
        if self.figsize is not None:
            suits = min(suits, max(1, int(self.figsize[0] / (SMALL * LEAST_WIDE))))
        n_columns = self.col_wrap or suits
        return Grid(ceil(n / n_columns), min(n, n_columns), n)


def _columns_that_suit(n: int) -> int:
    """Return in how many columns so many panels stand well: few in one row, many in a grid that is rather high."""
    if n <= _IN_A_ROW:
        return n
    if n <= 20:
        return ceil(sqrt(1.2 * n))
    return ceil(sqrt(0.8 * n))


def styled(data: Labelled, canvas: Canvas) -> Labelled:
    """Return data with a style for each algorithm and pair: in the colours, order and names asked for, if any."""
    return relabelled(ordered(_coloured(data, canvas.colors), canvas.order), canvas.labels)


def _coloured(data: Labelled, colors: Colors) -> Labelled:
    if colors is None:
        return with_styles(data, {})
    from matplotlib.colors import is_color_like

    if not isinstance(colors, Mapping | Sequence) or isinstance(colors, str):
        raise WrongType(
            "colors",
            colors,
            "must be a mapping or a sequence",
            "Give {'sac': '#0072B2'}",
        )
    known: dict[str, list[Any]] = {dim: _labels(data, dim) for dim in ("algorithm", *SIDES, "pair")}
    names: list[Any] = next(
        filter(
            None,
            (
                known["algorithm"],
                known["algorithm_a"] + known["algorithm_b"],
                known["pair"],
            ),
        ),
        [],
    )
    given = colors if isinstance(colors, Mapping) else dict(zip(dict.fromkeys(names), colors, strict=False))
    every = list(dict.fromkeys([*names, *known["pair"]]))
    for name, colour in given.items():
        if name not in every:
            cure = did_you_mean(name, every) or f". There are {', '.join(map(repr, every[:10])) or 'none'}"
            raise Refusal(
                "colors",
                Verbatim(f"{name!r}{cure}"),
                "must name labels of what is drawn",
            )
        if not is_color_like(colour):
            got = f"{shown(colour)} for {name!r}"
            raise Refusal(
                "colors",
                Verbatim(f"{got}"),
                "must be colours of matplotlib",
                "Give '#0072B2'",
            )
    return with_styles(data, {str(name): colour for name, colour in given.items()})


def _labels(data: xr.DataArray | xr.Dataset, name: str) -> list[Any]:
    if name not in data.coords or data[name].ndim != 1:
        return []
    labels: list[Any] = data[name].to_numpy().tolist()
    return labels


def check_legend(legend: Any) -> str | None:
    """Return where names of curves stand."""
    if legend is None:
        return None
    return check_choice("legend", legend, [*LEGENDS])


def check_figsize(figsize: Any) -> tuple[float, float] | None:
    """Return the width and height of a figure."""
    if figsize is None:
        return None
    try:
        width, height = (float(inches) for inches in figsize)
    except (TypeError, ValueError):
        raise WrongType(
            "figsize",
            figsize,
            "must be two numbers",
            Cure("Give inches: ", give(figsize=(6.5, 4))),
        ) from None
    if not 0.5 <= min(width, height) <= max(width, height) <= 200:
        raise Refusal(
            "figsize",
            figsize,
            "must be from 0.5 to 200 inches",
            Cure("Usual: ", give(figsize=(6.5, 4))),
        )
    return width, height


def check_fontsize(fontsize: Any) -> float | None:
    """Return the size of letters of labels in points."""
    if fontsize is None:
        return None
    try:
        points = float(fontsize)
    except (TypeError, ValueError):
        raise WrongType("fontsize", fontsize, "must be a number of points", Cure("Give ", give(fontsize=8))) from None
    if not _LEAST_POINTS <= points <= _MOST_POINTS:
        raise Refusal(
            "fontsize",
            fontsize,
            f"must be from {_LEAST_POINTS:g} to {_MOST_POINTS:g} points",
            Cure("Usual: ", give(fontsize=8)),
        )
    return points


def check_axes(canvas: Canvas) -> None:
    """Refuse what is no Axes, and a size of a figure that is not ours."""
    ax = canvas.ax
    if not hasattr(ax, "set_xscale"):
        got = type(ax).__name__
        raise WrongType(
            "ax",
            Verbatim(f"{got}"),
            "must be a matplotlib Axes",
            "Make one: fig, ax = matplotlib.pyplot.subplots()",
        )
    if canvas.figsize is not None:
        raise Refusal(
            "figsize",
            UNSAID,
            f"figsize is of a new figure; got {canvas.figsize} with ax",
            "Leave one of them out",
        )
