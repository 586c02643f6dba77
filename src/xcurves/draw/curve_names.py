"""Names of curves: at their ends where they are few and have room, else in a legend."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.draw.canvas import Canvas
from xcurves.draw.drawn_names import moved_apart, write_beside
from xcurves.draw.fitted import lay_out
from xcurves.draw.look import slot_of
from xcurves.draw.room import Grid
from xcurves.pictures.styles import PLAIN_LINES
from xcurves.say.numbers import decimals_of, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

_SMALLER = 0.833  # letters of names, of those of labels
_FEW = 4  # names that have room within given Axes
_MOST_HIGH = 0.6  # of their height, for a legend within
_MOST_BESIDE = 0.35  # of the width of given Axes, for names at the ends of curves
_END = 0.1  # of the width of a panel, in which curves with names at their ends end
_LINE = 1.45  # height of a line, of that of its letters
_WIDE, _WIDE_OF_GIVEN = (0.98, 0.9)  # of the width of a figure, and of Axes that are not ours: a legend above
_COMPACT = {"handlelength": 1.2, "handletextpad": 0.4}
_TINY = {"fontsize": "x-small", "labelspacing": 0.3, "borderaxespad": 0.2}
_STYLE: dict[str, Any] = {"fontsize": "small", "frameon": False, "handlelength": 2.8}


def name_curves(panels: NDArray[Any], known: Collection[str], canvas: Canvas, grid: Grid, widest: float) -> None:
    """Name curves once, but for those that titles name; the figure may get so wide."""
    handle_of = _handles(panels, known, canvas)
    if not handle_of:
        return
    figure, handles = panels[0].figure, list(handle_of.values())
    if canvas.legend == "outside":
        figure.legend(handles=handles, loc="outside right upper", **_STYLE)
        return
    if canvas.legend == "direct":
        if len(panels) == 1 and _name_ends(panels[0], handle_of, widest):
            return
        if len(panels) < grid.n_rows * grid.n_columns and _add_legend_in_empty_cell(panels, handles, grid):
            return
    # above the panels, or below them where a title stands above
    place = "lower" if figure.get_suptitle() else "upper"
    add = partial(figure.legend, handles=handles, loc=f"outside {place} center", **_small(panels[0]))
    in_few_lines(add, len(handles), _WIDE * figure.bbox.width)


def name_curves_of_given(ax: Axes, known: Collection[str], canvas: Canvas) -> None:
    """Name the curves of Axes that are not ours."""
    handle_of = _handles([ax], known, canvas)
    if not handle_of:
        return
    handles = list(handle_of.values())
    if canvas.legend == "above":
        _add_legend_above(ax, handles)
        return
    # Only a layout engine makes room between a panel and what stands beside it.
    has_layout = ax.figure.get_layout_engine() is not None
    if canvas.legend == "direct" and has_layout and _name_ends(ax, handle_of, None):
        return
    if canvas.legend == "outside" or len(handles) > _FEW:
        look = _STYLE | {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "borderaxespad": 0}
        if len(handles) <= PLAIN_LINES:  # whose dashes need not be seen
            look |= _COMPACT
        ax.legend(handles=handles, **look)
        return
    for look in (_STYLE, _STYLE | _COMPACT | _TINY):
        if _is_within(ax, ax.legend(handles=handles, **look)):
            return
    _add_legend_above(ax, handles)


def _handles(panels: Iterable[Axes], known: Collection[str], canvas: Canvas) -> dict[str, Any]:
    """Return the artists that are to be named, by their names."""
    if canvas.legend is None:
        return {}
    handle_of: dict[str, Any] = {}
    for ax in panels:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handle_of.setdefault(label, handle)
    handle_of = {label: handle for label, handle in handle_of.items() if label not in known}
    if canvas.order is None:
        return _best_first(handle_of, panels)
    return handle_of


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


def in_few_lines(add: Callable[..., Legend], n_names: int, pixels: float) -> None:
    """Add a legend in as few lines as a width has room for, with as many names in each."""
    legend = add(ncols=n_names)
    widths = np.array([text.get_window_extent().width for text in legend.texts])
    for n_lines in range(1, n_names + 1):
        n_columns = -(-n_names // n_lines)
        longest = [column.max() for column in np.array_split(widths, n_columns)]
        if sum(longest) + _beside_names(legend, n_columns) <= pixels:
            break
    if n_columns < n_names:
        legend.remove()
        add(ncols=n_columns)


def _beside_names(legend: Legend, n_columns: int) -> float:
    """Return how many pixels of the width of a legend are lines of curves and space."""
    letters = n_columns * (legend.handlelength + legend.handletextpad) + (n_columns - 1) * legend.columnspacing
    letters += 2 * legend.borderpad
    figure: Any = legend.get_figure(root=True)
    return float(letters * float(legend.texts[0].get_fontsize()) / 72 * figure.dpi)


def _small(ax: Axes) -> dict[str, Any]:
    """Return the style of a legend beside panels."""
    return _STYLE | {"fontsize": _SMALLER * float(ax.xaxis.label.get_fontsize())}


def _is_within(ax: Axes, legend: Legend) -> bool:
    """Return whether a legend leaves the axes and half of the height of given Axes free."""
    lay_out(ax.figure)
    room, extent = ax.get_window_extent(), legend.get_window_extent()
    return bool(extent.width <= 0.95 * room.width and extent.height <= _MOST_HIGH * room.height)


def _add_legend_above(ax: Axes, handles: list[Any]) -> None:
    """Add a legend above given Axes: it begins where these begin, and never leaves the figure."""
    look: dict[str, Any] = _STYLE | {"loc": "lower left", "bbox_to_anchor": (0, 1.01), "borderaxespad": 0}
    slot = slot_of(ax)
    if slot is None:
        ax.legend(handles=handles, ncols=min(_FEW, len(handles)), **look)
        return
    if len(handles) <= PLAIN_LINES:
        look |= _COMPACT | {"columnspacing": 1.0}
    most = min(_FEW, len(handles))
    in_few_lines(partial(ax.legend, handles=handles, **look), most, _WIDE_OF_GIVEN * slot[0] * ax.figure.dpi)


def _add_legend_in_empty_cell(panels: NDArray[Any], handles: list[Any], grid: Grid) -> bool:
    """Add a legend in the first empty cell of a grid; return False where it has no room there."""
    if len(panels) <= grid.n_columns or len(panels) % grid.n_columns == 0:
        return False
    figure: Any = panels[0].figure
    lay_out(figure)  # so that panels have their places
    above, beside = panels[len(panels) - grid.n_columns].bbox, panels[-1].bbox
    to_figure = figure.transSubfigure.inverted()
    x, y = to_figure.transform((above.x0, beside.y0))
    right, top = to_figure.transform((above.x1, beside.y1))
    cell = (x, y, right - x, top - y)
    legend = figure.legend(handles=handles, loc="center", bbox_to_anchor=cell, **_small(panels[0]))
    legend.set_in_layout(False)
    extent = legend.get_window_extent()
    if extent.width <= above.width and extent.height <= beside.height:
        return True
    legend.remove()
    return False


def _name_ends(ax: Axes, handles: Mapping[str, Any], widest: float | None) -> bool:
    """Write names at the ends of curves; return False where they have no room, or are no curves.

    The figure may get so wide; where it is not ours (None) names take part of the panel.
    """
    lines = list(handles.values())
    # beyond, dashes are to be seen
    if len(lines) > PLAIN_LINES or any(not hasattr(line, "get_xydata") or len(line.get_xydata()) < 2 for line in lines):
        return False
    ax.get_ylim()  # scales the axes to what they show
    to_panel = ax.transData - ax.transAxes  # the same whatever its place and size
    x, y = to_panel.transform([line.get_xydata()[-1] for line in lines]).T
    figure: Any = ax.figure
    letter = _SMALLER * float(ax.xaxis.label.get_fontsize()) / 72 * figure.dpi
    line_height = _LINE * letter * (1 + any("\n" in name for name in handles))
    if not np.isfinite(y).all() or (x < 1 - _END).any() or _moved(y, line_height, figure.bbox.height) is None:
        return False
    if widest is None:
        lay_out(figure)  # so that the panel has its width
    texts = _write_at_ends(ax, handles)
    longest = max(text.get_window_extent().width for text in texts) / figure.dpi
    width = figure.bbox.width / figure.dpi
    if widest is None:
        has_room = longest <= _MOST_BESIDE * ax.bbox.width / figure.dpi
    else:
        figure.set_figwidth(min(widest, width + longest))
        lay_out(figure)  # so that the panel has its place
        has_room = ax.bbox.width >= figure.bbox.width / 2
    heights = _moved(y, line_height, ax.bbox.height) if has_room else None
    if heights is None:
        for text in texts:
            text.remove()
        if widest is not None:
            figure.set_figwidth(width)
        return False
    for text, (_, height) in zip(texts, to_panel.inverted().transform(np.column_stack([x, heights])), strict=True):
        text.xy = (1, height)
    return True


def _moved(y: Floats, line_height: float, pixels: float) -> Floats | None:
    """Return where names stand in a panel so high, as shares of it; None where they would be far from their curves."""
    moved = moved_apart(y, line_height / pixels)
    if np.abs(moved - y).max() > line_height / pixels or moved.min() < 0 or moved.max() > 1:
        return None
    return moved


def _write_at_ends(ax: Axes, handles: Mapping[str, Any]) -> list[Any]:
    """Write the name of each curve beside the panel, with the last value of a mean."""
    low, high = ax.get_ylim()
    digits = decimals_of(0, (high - low) / 5)
    size = _SMALLER * float(ax.xaxis.label.get_fontsize())
    texts = []
    for name, line in handles.items():
        height = line.get_ydata()[-1]
        last = f"  {rounded(height, digits)}" if line.get_gid() == "mean" else ""
        texts.append(write_beside(ax, name + last, height, 4, size, color=line.get_color()))
    return texts
