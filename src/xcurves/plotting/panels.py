"""Draw panels in a new figure, or one in given Axes; name curves at their ends where they are few, else in a legend."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import ceil, isqrt, prod, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core.labels import did_you_mean, ordered, relabelled
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, WrongType, give, shown
from xcurves.core.schema import MOST_CURVES
from xcurves.core.validation import Labelled, check_choice
from xcurves.draw.drawn_names import longest_line, moved_apart, wrapped
from xcurves.draw.look import import_pyplot, slot_of
from xcurves.pictures.styles import PLAIN_LINES, with_styles
from xcurves.plotting.facets import LARGEST, LEAST_WIDE, SMALL, Grid, Room
from xcurves.say.numbers import decimals_of, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text


_SIDES = ("algorithm_a", "algorithm_b")
_IN_A_ROW = 3  # panels, where there are few
_SMALL = 3.0  # inches of a panel with few ticks
_FEW_TICKS = 4
# below so many rows there is one, whose panel is so many inches high
_ONE_ROW, _HIGH_OF_ROW = (1.6, 0.4)
_SMALLER = 0.833  # letters of names, of those of labels
_SHORT = 0.4  # of the size of a cell: a label that surely fits
_FEW = 4  # names that have room within given Axes
_MOST_HIGH = 0.6  # of their height, for a legend within
_APART = 3  # pixels between labels of ticks
_TRIES = 3  # of writing a label in shorter lines: letters differ in width
_LEAST_POINTS, _MOST_POINTS = (4.5, 40.0)  # of letters that can be read
_OF_TICKS = 0.9  # of the size of letters of labels
_MOST_BESIDE = 0.35  # of the width of a figure, for names at the ends of curves
_LETTER = 0.62  # width of a letter, of its height
_LINE = 1.45  # height of a line, of that of its letters
# letters that the line before a name takes with its padding, and between columns
_LINES, _GAP = (4.0, 2.0)
# of the width and height of Axes that are not ours: what a label below may have, and inches that are not beside it
_LABEL_WIDE, _LABEL_LOW = 0.64, 0.9
_LEGEND_WIDE = 0.9  # of that width, a legend above
_SHORT_LINE = 4.0  # letters that a short line in front of a name takes
_COMPACT = {"handlelength": 1.2, "handletextpad": 0.4}
_TINY = {"fontsize": "x-small", "labelspacing": 0.3, "borderaxespad": 0.2}
_STYLE: dict[str, Any] = {"fontsize": "small", "frameon": False, "handlelength": 2.8}


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


class Cell(NamedTuple):
    """A panel: its title and what draws it."""

    title: str
    draw: Callable[[Axes], object]


def draw_panels(
    cells: Sequence[Cell],
    room: Room,
    canvas: Canvas,
    refusal: Refusal,
    *,
    named: xr.DataArray | xr.Dataset | None = None,
    by_column: bool = False,
    title: str = "",
) -> Axes | NDArray[Any]:
    """Draw each cell in its panel, and name curves once, without those of `named`, which titles name.

    `refusal` says why the panels have no room. Panels share both scales with `named`, that of x `by_column`.
    """
    if canvas.ax is not None:
        panels = _given_axes(canvas)
        with _letters_of_given(canvas.ax, canvas.fontsize):
            _draw_all(cells, panels)
            _wrap_labels(canvas.ax)
            _name_curves(panels, _names(named), canvas, width=None)
        return canvas.ax
    size, grid = room.size(), room.grid
    if size is None:
        raise refusal
    with grid.letters(size, canvas.fontsize):
        share_x: Any = False
        if named is not None:
            share_x = "all"
        elif by_column:
            share_x = "col"
        ratios = room.height_ratios()
        panels = grid.axes(size, sharex=share_x, sharey=named is not None, height_ratios=ratios)
        letters = 72 / (_LETTER * _points(panels[0]))  # in an inch
        wide, high = size[0] / grid.n_columns, size[1] / grid.n_rows
        highs = [high] * grid.n_rows
        if ratios is not None:
            highs = [size[1] * ratio / sum(ratios) for ratio in ratios]
        _draw_all(cells, panels, letters * wide)
        for place, ax in enumerate(panels):
            _thin_ticks(ax, wide, highs[place // grid.n_columns])
        _label_outer(panels, grid, shared=bool(share_x))
        if title and len(panels) > 1:
            panels[0].figure.suptitle(wrapped(title, letters / 1.2 * size[0]), fontsize="large")
        elif title and not cells[0].title:
            panels[0].set_title(wrapped(title, letters / 1.2 * size[0]))
        widest = size[0]
        if canvas.figsize is None:
            widest = LARGEST
        _name_curves(panels, _names(named), canvas, grid, width=widest)
        fit_labels(panels, wide, high)
        figure = panels[0].figure
        _lay_out(figure)  # so that panels have their sizes
        _thin_labels(panels)
        _thin_numbers(panels)
        _fit_rows(panels)
        if 0 < room.rows < _ONE_ROW and grid.n_rows == 1 and canvas.figsize is None:
            _lower(panels)
    if len(panels) > 1:
        return grid.shaped(panels)
    only: Axes = panels.item()
    return only


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
    known: dict[str, list[Any]] = {dim: _labels(data, dim) for dim in ("algorithm", *_SIDES, "pair")}
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


def _given_axes(canvas: Canvas) -> NDArray[Any]:
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
    return np.array([ax])


def _letters_of_given(ax: Axes, points: float | None) -> AbstractContextManager[None]:
    """Give Axes that are not ours letters of so many points, if that is asked; return a context of these letters."""
    if points is None:
        return nullcontext()
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(points)
    ax.tick_params(labelsize=_OF_TICKS * points)
    return import_pyplot().rc_context({"font.size": points})  # type: ignore[no-any-return]


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


def _draw_all(cells: Sequence[Cell], axes: NDArray[Any], letters: float = np.inf) -> None:
    """Draw cells in Axes; a line of a title has so many letters."""
    for cell, ax in zip(cells, axes, strict=True):
        if cell.title:
            ax.set_title(cell.title, fontsize="medium")
        cell.draw(ax)  # which may turn a pair in the title
        if cell.title:
            ax.set_title(wrapped(ax.get_title(), letters), fontsize="medium")


def _names(named: xr.DataArray | xr.Dataset | None) -> set[str]:
    """Return the names of algorithms and pairs that titles have."""
    if named is None:
        return set()
    dims = [dim for dim in ("algorithm", "pair") if dim in named.coords]
    return {str(name) for dim in dims for name in np.ravel(named[dim].to_numpy())}


def _lower(panels: NDArray[Any]) -> None:
    """Make panels of one row as high as a line."""
    figure = panels[0].figure
    _lay_out(figure)
    inches = max(ax.bbox.height for ax in panels) / figure.dpi
    figure.set_figheight(figure.get_figheight() + _HIGH_OF_ROW - inches)


def _thin_ticks(ax: Axes, wide: float, high: float) -> None:
    """Give small panels few ticks."""
    from matplotlib.ticker import AutoLocator

    for axis, inches in ((ax.xaxis, wide), (ax.yaxis, high)):
        if inches < _SMALL and isinstance(axis.get_major_locator(), AutoLocator):
            ax.locator_params(axis.axis_name, nbins=_FEW_TICKS)  # type: ignore[arg-type]  # "x" or "y"


def _label_outer(axes: NDArray[Any], grid: Grid, *, shared: bool) -> None:
    """Label the axes of panels on the left and at the bottom only, where those beside and above have the same label."""
    rows = [_rows_of(ax) for ax in axes]
    for place, ax in enumerate(axes):
        below = place + grid.n_columns
        if place % grid.n_columns and axes[place - 1].get_ylabel() == ax.get_ylabel():
            ax.yaxis.label.set_visible(False)
        if place % grid.n_columns and rows[place] and rows[place] == rows[place - 1]:
            ax.tick_params(labelleft=False)
        if below < len(axes) and axes[below].get_xlabel() == ax.get_xlabel():
            ax.xaxis.label.set_visible(False)
        elif shared:
            ax.tick_params(labelbottom=True)


def _rows_of(ax: Axes) -> list[str]:
    """Return the names of the rows that a panel lists, none where its y axis has numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    is_listed = isinstance(ax.yaxis.get_major_locator(), FixedLocator)
    if not is_listed or not isinstance(ax.yaxis.get_major_formatter(), FuncFormatter):
        return []
    return [label.get_text() for label in ax.get_yticklabels()]


def _points(ax: Axes) -> float:
    return float(ax.xaxis.label.get_fontsize())


def _wrap_labels(ax: Axes) -> None:
    """Write labels of Axes that are not ours in lines that have room."""
    slot = slot_of(ax)
    if slot is None:
        return
    for of, inches in (("x", _LABEL_WIDE * slot[0]), ("title", _LABEL_WIDE * slot[0]), ("y", slot[1] - _LABEL_LOW)):
        text = _text_of(ax, of)
        letters = 72 * inches / (_LETTER * float(text.get_fontsize()))
        lines = text.get_text().split("\n")
        text.set_text("\n".join(wrapped(line, max(letters, 8.0)) for line in lines))

    # A layout engine makes no room for a label that is wider than the panel: it then ends where the panel does.
    _lay_out(ax.figure)
    label = ax.xaxis.label
    if label.get_window_extent().width > ax.get_window_extent().width:
        label.set(x=1.0, ha="right")


def fit_labels(panels: NDArray[Any], wide: float, high: float) -> None:
    """Write labels of axes and titles that are longer than they have room for, in lines."""
    figure = panels[0].figure
    for of, inches in (("y", high), ("x", wide), ("title", wide)):
        texts = [(ax, _text_of(ax, of)) for ax in panels]
        long = [(ax, text) for ax, text in texts if text.get_visible() and _inches(text) > _SHORT * inches]
        if not long:
            continue
        _lay_out(figure)  # so that panels have their sizes
        left = np.unique([round(ax.bbox.x0) for ax in panels])
        between = np.diff(left).min(initial=figure.bbox.width)
        for ax, text in long:
            middle = (ax.bbox.x0 + ax.bbox.x1) / 2
            room = min(2 * middle, 2 * (figure.bbox.width - middle), between)
            # Anew from one line, not from the lines that it has.
            label = " ".join(text.get_text().split("\n"))
            for _ in range(_TRIES):
                extent = text.get_window_extent()
                share = ax.bbox.height / extent.height if of == "y" else room / extent.width
                if share >= 1:
                    break
                letters = share * longest_line([text.get_text()])
                text.set_text(wrapped(label, letters))


def _text_of(ax: Axes, of: str) -> Text:
    """Return the label of an axis, or the title."""
    if of == "title":
        return ax.title
    return ax.yaxis.label if of == "y" else ax.xaxis.label


def _thin_labels(panels: NDArray[Any]) -> None:
    """Leave labels of listed ticks of x out that would touch one before them, or the last one."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    listed = [
        ax
        for ax in panels
        if isinstance(ax.xaxis.get_major_locator(), FixedLocator)
        and isinstance(ax.xaxis.get_major_formatter(), FuncFormatter)
    ]
    if not listed:
        return
    for ax in listed:
        ticks, labels = (
            ax.get_xticks(),
            [label.get_text() for label in ax.get_xticklabels()],
        )
        boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
        if any(label.get_rotation() for label in ax.get_xticklabels()):
            continue
        places = [place for place, label in enumerate(labels) if label]
        kept = _apart(places, boxes)
        if kept != places:
            ax.set_xticks(
                ticks,
                [label if place in kept else "" for place, label in enumerate(labels)],
            )


def _thin_numbers(panels: NDArray[Any]) -> None:
    """Give axes of numbers whose labels touch fewer ticks."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    for ax in panels:
        for axis in (ax.xaxis, ax.yaxis):
            locator = axis.get_major_locator()
            if isinstance(locator, MaxNLocator):
                for most in (_FEW_TICKS, _FEW_TICKS - 1, _FEW_TICKS - 2, 1):
                    if not _touch(axis):
                        break
                    locator.set_params(nbins=most)
                if _touch(axis):
                    _keep_one_tick(axis)
            elif isinstance(locator, LogLocator):
                for factors in ((1.0, 3.0), (1.0,)):
                    if not _touch(axis):
                        break
                    locator.set_params(subs=factors)


def _keep_one_tick(axis: Any) -> None:
    """Leave one tick of an axis that has room for no two: at 0 if that is in view, else the first."""
    low, high = sorted(axis.get_view_interval())
    in_view = [tick for tick in axis.get_ticklocs() if low <= tick <= high]
    if 0.0 in in_view:
        in_view = [0.0]
    axis.set_ticks(in_view[:1])


def _touch(axis: Any) -> bool:
    """Return whether labels of neighbouring ticks of an axis touch."""
    ticks = axis._update_ticks()  # those in view
    boxes = [tick.label1.get_window_extent() for tick in ticks if tick.label1.get_text()]
    if axis.axis_name == "x":
        ends = sorted((box.x0, box.x1) for box in boxes)
    else:
        ends = sorted((box.y0, box.y1) for box in boxes)
    low, high = np.reshape(ends, (-1, 2)).T
    return bool((low[1:] < high[:-1] + _APART).any())


def _fit_rows(panels: NDArray[Any]) -> None:
    """Write names of rows, what stands beside them, and leaning names of columns smaller where they would touch."""
    listed = [ax for ax in panels if _rows_of(ax)]
    if not listed:
        return
    for ax in listed:
        steps = np.abs(np.diff(ax.transData.transform([(0.0, y) for y in ax.get_yticks()])[:, 1]))
        high = steps.min(initial=np.inf)
        beside = [
            *ax.get_yticklabels(),
            *(text for text in ax.texts if text.get_gid() != "bold"),
        ]
        _shrink(beside, [text.get_window_extent().height for text in beside], float(high))
        leaning = [label for label in ax.get_xticklabels() if label.get_rotation() == 90]
        if len(leaning) > 1:
            wide = np.diff(ax.transData.transform([(x, 0.0) for x in ax.get_xticks()])[:, 0]).min()
            _shrink(
                leaning,
                [label.get_window_extent().width for label in leaning],
                float(wide),
            )


def _shrink(texts: Sequence[Text], extents: Sequence[float], room: float) -> None:
    """Write texts smaller, all alike, if one is larger than its room; to a least size."""
    share = room / max(max(extents, default=0.0), 1e-9)
    if share >= 1:
        return
    for text in texts:
        text.set_fontsize(max(_LEAST_POINTS, 0.97 * share * float(text.get_fontsize())))


def _apart(places: Sequence[int], boxes: Sequence[Any]) -> list[int]:
    """Return the places whose boxes do not touch, from the first on and with the last."""
    if len(places) < 2:
        return list(places)
    space = 0.3 * boxes[places[0]].height
    last, kept = places[-1], [places[0]]
    for place in places[1:-1]:
        if boxes[place].x0 > boxes[kept[-1]].x1 + space and boxes[place].x1 + space < boxes[last].x0:
            kept.append(place)
    if boxes[last].x0 > boxes[kept[-1]].x1 + space:
        kept.append(last)
    return kept


def _inches(label: Text) -> float:
    """Return about how long a label is."""
    return longest_line([label.get_text()]) * _LETTER * float(label.get_fontsize()) / 72


def _name_curves(
    panels: NDArray[Any],
    known: Collection[str],
    canvas: Canvas,
    grid: Grid | None = None,
    *,
    width: float | None,
) -> None:
    """Name curves once, but for those that titles name; the figure may get so wide (None: it is not ours)."""
    handle_of: dict[str, Any] = {}
    for ax in panels:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handle_of.setdefault(label, handle)
    handle_of = {label: handle for label, handle in handle_of.items() if label not in known}
    if not handle_of or canvas.legend is None:
        return
    if canvas.order is None:
        handle_of = _best_first(handle_of, panels)
    handles = list(handle_of.values())
    legend = canvas.legend
    if width is None or grid is None:
        # Only a layout engine makes room between a panel and what stands beside it.
        has_layout = panels[0].figure.get_layout_engine() is not None
        if legend == "direct" and has_layout and _name_ends(panels[0], handle_of, None):
            return
        _add_legend_to_given(panels[0], handles, legend)
        return
    if legend == "outside":
        panels[0].figure.legend(handles=handles, loc="outside right upper", **_STYLE)
        return
    if legend == "direct":
        if len(panels) == 1 and _name_ends(panels[0], handle_of, width):
            return
        if len(panels) < grid.n_rows * grid.n_columns and _add_legend_in_empty_cell(panels, handles, grid):
            return
    _add_legend(panels, handles, below=bool(panels[0].figure.get_suptitle()))


def _best_first(handle_of: Mapping[str, Any], panels: Iterable[Axes]) -> dict[str, Any]:
    """Return the handles of mean curves as they stand at the end of training, the highest first; others as they are.

    Of several panels the mean place counts.
    """
    places: dict[str, list[int]] = {label: [] for label in handle_of}
    for ax in panels:
        ends: dict[str, float] = {}
        for line in ax.get_lines():
            levels = np.asarray(line.get_ydata(), float)
            if line.get_gid() == "mean" and levels.size:
                ends[str(line.get_label())] = -levels[-1]
        for place, label in enumerate(sorted(ends.keys() & places.keys(), key=ends.__getitem__)):
            places[label].append(place)
    if not all(places.values()):
        return dict(handle_of)
    return dict(sorted(handle_of.items(), key=lambda item: sum(places[item[0]]) / len(places[item[0]])))


def _add_legend_to_given(ax: Axes, handles: list[Any], legend: str) -> None:
    """Add a legend to given Axes: within where there are few names that have room, else beside or above."""
    place: dict[str, Any] = {}
    if legend == "above":
        place = _place_above(ax, handles)
    elif legend == "outside" or len(handles) > _FEW:
        place = {
            "loc": "upper left",
            "bbox_to_anchor": (1.01, 1.02),
            "borderaxespad": 0,
        }
        if len(handles) <= PLAIN_LINES:  # whose dashes need not be seen
            place |= _COMPACT
    tries = [place]
    if not place:
        tries += [_COMPACT | _TINY, _place_above(ax, handles)]
    for each in tries:
        made = ax.legend(handles=handles, **_STYLE | each)
        if place or _is_within(ax, made):
            break


def _is_within(ax: Axes, legend: Any) -> bool:
    """Return whether a legend leaves the axes and half of the height of given Axes free."""
    _lay_out(ax.figure)
    room, extent = ax.get_window_extent(), legend.get_window_extent()
    return bool(extent.width <= 0.95 * room.width and extent.height <= _MOST_HIGH * room.height)


def _lay_out(figure: Any) -> None:
    """Give panels the sizes that they will have, where a layout engine sets these."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def _place_above(ax: Axes, handles: Sequence[Any]) -> dict[str, Any]:
    """Return how a legend above given Axes is placed: it ends where these end, so that it never leaves the figure."""
    place: dict[str, Any] = {
        "loc": "lower left",
        "bbox_to_anchor": (0, 1.01),
        "borderaxespad": 0,
        "ncols": min(_FEW, len(handles), _columns_above(ax, handles)),
    }
    if slot_of(ax) is not None and len(handles) <= PLAIN_LINES:
        place |= _COMPACT | {"columnspacing": 1.0}
    return place


def _columns_above(ax: Axes, handles: Sequence[Any]) -> int:
    """Return how many names stand beside each other above Axes that are not ours."""
    slot = slot_of(ax)
    if slot is None:
        return _FEW
    points = _SMALLER * _points(ax)
    name = longest_line([str(handle.get_label()) for handle in handles])
    return max(1, int(_LEGEND_WIDE * slot[0] / ((name + _SHORT_LINE) * _LETTER * points / 72)))


def _add_legend_in_empty_cell(panels: NDArray[Any], handles: list[Any], grid: Grid) -> bool:
    """Add a legend in the first empty cell of a grid; return False where it has no room there."""
    if len(panels) <= grid.n_columns or len(panels) % grid.n_columns == 0:
        return False
    figure: Any = panels[0].figure
    _lay_out(figure)  # so that panels have their places
    above, beside = panels[len(panels) - grid.n_columns].bbox, panels[-1].bbox
    to_figure = figure.transSubfigure.inverted()
    x, y = to_figure.transform((above.x0, beside.y0))
    right, top = to_figure.transform((above.x1, beside.y1))
    points = _SMALLER * _points(panels[0])
    style = {**_STYLE, "fontsize": points}
    legend = figure.legend(
        handles=handles,
        loc="center",
        bbox_to_anchor=(x, y, right - x, top - y),
        **style,
    )
    legend.set_in_layout(False)
    extent = legend.get_window_extent()
    if extent.width <= above.width and extent.height <= beside.height:
        return True
    legend.remove()
    return False


def _name_ends(ax: Axes, handles: dict[str, Any], widest: float | None) -> bool:
    """Write names at the ends of curves; return False where they have no room, or are no curves.

    The figure may get so wide; where it is not ours (None) names take part of the panel.
    """
    lines = list(handles.values())
    if len(lines) > MOST_CURVES or any(not hasattr(line, "get_xydata") or len(line.get_xydata()) < 2 for line in lines):
        return False
    figure: Any = ax.figure
    _lay_out(figure)  # so that the panel has its place
    x, y = np.array([ax.transData.transform(line.get_xydata()[-1]) for line in lines]).T
    box, letter = ax.get_window_extent(), _SMALLER * _points(ax) / 72 * figure.dpi
    if not np.isfinite(y).all() or (x < box.x1 - 0.1 * box.width).any():
        return False
    longest = longest_line(handles) * _LETTER * _SMALLER * _points(ax) / 72
    can_grow = widest is not None and longest <= widest - figure.get_figwidth()
    room = figure.get_figwidth()
    if widest is None:
        room = box.width / figure.dpi
    if not can_grow and longest > _MOST_BESIDE * room:
        return False
    line_height = _LINE * letter * (1 + any("\n" in name for name in handles))
    moved = moved_apart(y, line_height)
    if np.abs(moved - y).max() > line_height or moved.min() < box.y0 or moved.max() > box.y1:
        return False
    low, high = ax.get_ylim()
    digits = decimals_of(0, (high - low) / 5)
    heights = ax.transData.inverted().transform(np.column_stack([x, moved]))[:, 1]
    for height, (name, line) in zip(heights, handles.items(), strict=True):
        last = ""
        if line.get_gid() == "mean":
            last = f"  {rounded(line.get_ydata()[-1], digits)}"
        ax.annotate(name + last, (1, height), (4, 0), xycoords=ax.get_yaxis_transform(), textcoords="offset points",
                    va="center", color=line.get_color(), fontsize=_SMALLER * _points(ax),
                    annotation_clip=False)  # fmt: skip
    if widest is not None:
        _widen(figure, longest, widest)
    return True


def _add_legend(panels: NDArray[Any], handles: list[Any], *, below: bool) -> None:
    """Add a legend in lines above the panels, or below them where a title stands above."""
    figure: Any = panels[0].figure
    points = _SMALLER * _points(panels[0])
    names = [str(handle.get_label()) for handle in handles]
    column, gap = (letters * points / 72 for letters in (longest_line(names) * _LETTER + _LINES, _GAP))
    columns = max(1, int((0.95 * figure.get_figwidth() + gap) / (column + gap)))
    place = "outside upper center"
    if below:
        place = "outside lower center"
    figure.legend(
        handles=handles,
        loc=place,
        ncols=min(columns, len(handles)),
        **{**_STYLE, "fontsize": points},
    )


def _widen(figure: Any, inches: float, widest: float) -> None:
    """Give a figure room beside its panels, as far as it may."""
    figure.set_figwidth(min(widest, figure.get_figwidth() + inches))
