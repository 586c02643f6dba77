"""Labels, ticks and names of rows of panels, written so that none is over another, once a layout has placed them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xcurves.draw.drawn_names import longest_line, whole_label, write_label
from xcurves.draw.look import slot_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_SMALL, _FEW_TICKS = (3.0, 4)  # inches of a panel with so few ticks
_SHORT = 0.4  # of the size of a cell: a label that surely fits
_APART = 3  # pixels between labels of ticks
_TRIES = 3  # of writing a label in shorter lines: letters differ in width
_LEAST_POINTS = 4.5  # of letters that can be read
_LEAST_PANEL, _LEAST_OF_ROWS = 0.45, 0.25  # inches of a panel that can be read, and of the height of one of rows
_ROUNDING = 0.01  # inches
_GAP = 0.06  # inches between titles
LETTER = 0.62  # width of a letter, of its height
# of the width and height of Axes that are not ours: what a label below may have, and inches that are not beside it
_LABEL_WIDE, _LABEL_LOW = 0.64, 0.9


def lay_out(figure: Any) -> None:
    """Give panels the sizes that they will have, where a layout engine sets these and something has changed since.

    Labels and locators of axes do not tell their figure of a change: whoever changes one says it.
    """
    figure = figure.get_figure(root=True)  # of a subfigure
    engine = figure.get_layout_engine()
    if engine is None or not figure.stale:
        return
    engine.execute(figure)
    figure.stale = False


def thin_ticks(ax: Axes, wide: float, high: float) -> None:
    """Give small panels few ticks."""
    from matplotlib.ticker import AutoLocator

    for axis, inches in ((ax.xaxis, wide), (ax.yaxis, high)):
        if inches < _SMALL and isinstance(axis.get_major_locator(), AutoLocator):
            ax.locator_params(axis.axis_name, nbins=_FEW_TICKS)  # type: ignore[arg-type]  # "x" or "y"


def label_outer(axes: NDArray[Any], n_columns: int, *, shared: bool) -> None:
    """Label the axes of panels on the left and at the bottom only, where those beside and above have the same label."""
    rows = [_rows_of(ax) for ax in axes]
    for place, ax in enumerate(axes):
        below = place + n_columns
        if place % n_columns and axes[place - 1].get_ylabel() == ax.get_ylabel():
            ax.yaxis.label.set_visible(False)
        if place % n_columns and rows[place] and rows[place] == rows[place - 1]:
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


def wrap_labels(ax: Axes) -> None:
    """Write labels of Axes that are not ours in lines that have room."""
    slot = slot_of(ax)
    if slot is None:
        return
    for of, inches in (("x", _LABEL_WIDE * slot[0]), ("title", _LABEL_WIDE * slot[0]), ("y", slot[1] - _LABEL_LOW)):
        text = _text_of(ax, of)
        _write_in_lines(text, inches * ax.figure.dpi, is_upright=of == "y")

    # A layout engine makes no room for a label that is wider than the panel: it then ends where the panel does.
    lay_out(ax.figure)
    label = ax.xaxis.label
    if label.get_window_extent().width > ax.get_window_extent().width:
        label.set(x=1.0, ha="right")
        ax.figure.stale = True


def missing_inches(panels: NDArray[Any], n_columns: int) -> tuple[float, float]:
    """Return how much wider and higher a figure must be for its panels to be read, and its labels to be whole.

    Panels are large enough, and those beside each other have half of the width; labels end where panels do.
    """
    figure = panels[0].figure
    dpi, n_rows = figure.dpi, -(-len(panels) // n_columns)
    sizes = np.array([ax.bbox.size for ax in panels]) / dpi
    least = [_LEAST_OF_ROWS if _rows_of(ax) else _LEAST_PANEL for ax in panels]
    wide = n_columns * (_LEAST_PANEL - sizes[:, 0].min())
    high = n_rows * (least - sizes[:, 1]).max()
    across = figure.bbox.width / dpi - 2 * sizes[:n_columns, 0].sum()  # what half of the width lacks

    beside = _between(panels)
    titles = [ax.title.get_window_extent() for ax in panels if ax.title.get_text()]
    below = [ax.xaxis.label.get_window_extent() for ax in panels if ax.xaxis.label.get_visible()]
    below = [extent for extent in below if extent.width > beside]  # a word that no line break makes narrower
    longest = max((extent.width for extent in (*titles, *below)), default=0.0) / dpi
    over = max((max(-extent.x0, extent.x1 - figure.bbox.width) for extent in below), default=0.0) / dpi
    uprights = [(ax.yaxis.label, ax.bbox.height) for ax in panels if ax.yaxis.label.get_visible()]
    beyond = max(((text.get_window_extent().height - room) / dpi for text, room in uprights), default=0.0)
    wide = max(wide, across, 2 * n_columns * over, n_columns * (longest + _GAP - beside / dpi))
    high = max(high, n_rows * beyond)
    return _seen(wide), _seen(high)


def _seen(inches: float) -> float:
    """Return inches, 0 of a length that nobody sees."""
    return 0.0 if inches < _ROUNDING else float(inches)


def _between(panels: NDArray[Any]) -> float:
    """Return how far the left sides of neighbouring panels are from each other, in pixels; of one, the width of all."""
    left = np.unique([round(ax.bbox.x0) for ax in panels])
    return float(np.diff(left).min(initial=panels[0].figure.bbox.width))


def fit_labels(panels: NDArray[Any], wide: float, high: float) -> None:
    """Write labels of axes and titles that are longer than they have room for, in lines."""
    figure = panels[0].figure
    for of, inches in (("y", high), ("x", wide), ("title", wide)):
        # labels of colours too, which stand upright
        texts = [(ax, _text_of(ax, of)) for ax in (figure.axes if of == "y" else panels)]
        short = _SHORT * inches * figure.dpi
        long = [(ax, text) for ax, text in texts if text.get_visible() and _length(text, of == "y") > short]
        if not long:
            continue
        lay_out(figure)  # so that panels have their sizes
        between = _between(panels)
        for ax, text in long:
            middle = (ax.bbox.x0 + ax.bbox.x1) / 2
            room = min(2 * middle, 2 * (figure.bbox.width - middle), between)
            if of == "y":
                room = ax.bbox.height
            _write_in_lines(text, room, is_upright=of == "y")


def _write_in_lines(text: Text, pixels: float, *, is_upright: bool) -> None:
    """Write a label in lines that are no longer than so many pixels, if it has letters for that."""
    for _ in range(_TRIES):
        share = pixels / max(_length(text, is_upright), 1.0)
        if share >= 1:
            break
        write_label(text, whole_label(text), share * longest_line([text.get_text()]))
        text.figure.stale = True


def _length(text: Text, is_upright: bool) -> float:
    """Return how long a text is, in pixels."""
    extent = text.get_window_extent()
    return float(extent.height if is_upright else extent.width)


def _text_of(ax: Axes, of: str) -> Text:
    """Return the label of an axis, or the title."""
    if of == "title":
        return ax.title
    return ax.yaxis.label if of == "y" else ax.xaxis.label


def thin_labels(panels: Iterable[Axes]) -> None:
    """Leave labels of listed ticks of x out that would touch one before them, or the last one."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    for ax in panels:
        is_listed = isinstance(ax.xaxis.get_major_locator(), FixedLocator)
        if not is_listed or not isinstance(ax.xaxis.get_major_formatter(), FuncFormatter):
            continue
        drawn = ax.get_xticklabels()
        if any(label.get_rotation() for label in drawn):
            continue
        labels = [label.get_text() for label in drawn]
        places = [place for place, label in enumerate(labels) if label]
        kept = _apart(places, [label.get_window_extent() for label in drawn])
        if kept != places:
            ax.set_xticks(ax.get_xticks(), [label if place in kept else "" for place, label in enumerate(labels)])


def _apart(places: Sequence[int], boxes: Sequence[Any]) -> list[int]:
    """Return the places whose boxes do not touch: from the first on and with the last, or every n-th of even ones."""
    if len(places) < 2:
        return list(places)
    space = 0.3 * boxes[places[0]].height
    middles = np.array([(boxes[place].x0 + boxes[place].x1) / 2 for place in places])
    steps = np.diff(middles)
    if len(places) > 2 and steps.max() < 1.01 * steps.min():
        widest = max(boxes[place].width for place in places) + space
        return list(places[:: max(1, int(np.ceil(widest / steps[0])))])
    last, kept = places[-1], [places[0]]
    for place in places[1:-1]:
        if boxes[place].x0 > boxes[kept[-1]].x1 + space and boxes[place].x1 + space < boxes[last].x0:
            kept.append(place)
    if boxes[last].x0 > boxes[kept[-1]].x1 + space:
        kept.append(last)
    return kept


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
                    ax.figure.stale = True
                if _touch(axis):
                    _keep_one_tick(axis)
            elif isinstance(locator, LogLocator):
                for factors in ((1.0, 3.0), (1.0,)):
                    if not _touch(axis):
                        break
                    locator.set_params(subs=factors)
                    ax.figure.stale = True


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
    labels = [tick.label1 for tick in ticks if tick.label1.get_visible()]
    boxes = [label.get_window_extent() for label in labels if label.get_text()]
    if axis.axis_name == "x":
        ends = sorted((box.x0, box.x1) for box in boxes)
    else:
        ends = sorted((box.y0, box.y1) for box in boxes)
    low, high = np.reshape(ends, (-1, 2)).T
    return bool((low[1:] < high[:-1] + _APART).any())


def fit_ticks_and_rows(panels: NDArray[Any]) -> None:
    """Write labels of ticks, and names and texts of rows, in the room that they have."""
    lay_out(panels[0].figure)  # so that panels have their sizes
    thin_labels(panels)
    _thin_numbers(panels)
    _fit_rows(panels)


def _fit_rows(panels: NDArray[Any]) -> None:
    """Write names of rows, what stands beside them, and leaning names of columns smaller where they would touch.

    A text below a row that is wider than the panel ends where this does: below the name there is room.
    """
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
        for text in ax.texts:
            is_below = text.get_ha() == "left" and not text.get_in_layout()
            if is_below and text.get_window_extent().width > ax.bbox.width:
                text.set(x=1.0, ha="right")


def _shrink(texts: Sequence[Text], extents: Sequence[float], room: float) -> None:
    """Write texts smaller, all alike, if one is larger than its room; to a least size."""
    share = room / max(max(extents, default=0.0), 1e-9)
    if share >= 1:
        return
    for text in texts:
        text.set_fontsize(max(_LEAST_POINTS, 0.97 * share * float(text.get_fontsize())))
        text.figure.stale = True
