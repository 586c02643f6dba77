"""Names of curves: at their ends where they are few, else in a legend beside the panels, or below narrow ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.core.axes import longest_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 4  # curves that are named at their ends
_NARROW = 5.0  # inches of a figure whose legend is below
LETTER = 0.62  # width of a letter, of its height
_LINE = 1.45  # height of a line, of that of its letters
_LINES, _GAP = 4.0, 2.0  # letters that the line before a name takes with its padding, and between columns
_FAR = 1.0  # lines that a name may be away from the end of its curve
_STYLE: dict[str, Any] = {"fontsize": "small", "frameon": False, "handlelength": 2.8}


def name_curves(panels: Sequence[Axes], *, known: Collection[str], width: float | None) -> None:
    """Name the curves of all panels once, but for those that are known from titles.

    The figure may get so wide; None: it is not ours to change.
    """
    handles: dict[str, Any] = {}
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "borderaxespad": 0}
    for ax in panels:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    handles = {label: handle for label, handle in handles.items() if label not in known}
    if not handles:
        return
    if width is None:
        panels[0].legend(handles=list(handles.values()), **_STYLE, **(beside if len(handles) > _FEW else {}))
    elif len(panels) > 1 or not _name_ends(panels[0], handles, width):
        _add_legend(panels, list(handles.values()), width)


def _name_ends(ax: Axes, handles: dict[str, Any], widest: float) -> bool:
    """Write names at the ends of curves; return False where they have no room, or are no curves."""
    lines = list(handles.values())
    if len(lines) > _FEW or any(not hasattr(line, "get_xydata") or len(line.get_xydata()) < 2 for line in lines):
        return False
    figure: Any = ax.figure
    figure.draw_without_rendering()  # so that the panel has its place
    ends = [ax.transData.transform(line.get_xydata()[-1]) for line in lines]
    x, y = np.array(ends).T
    box, letter = ax.get_window_extent(), _points(ax) / 72 * figure.dpi
    if not np.isfinite(y).all() or (x < box.x1 - 0.1 * box.width).any():
        return False
    placed = _spread(y, _LINE * letter * (1 + any("\n" in name for name in handles)))
    if np.abs(placed - y).max() > _FAR * letter or placed.min() < box.y0 or placed.max() > box.y1:
        return False
    heights = ax.transAxes.inverted().transform(np.column_stack([x, placed]))[:, 1]
    for height, (name, line) in zip(heights, handles.items(), strict=True):
        ax.annotate(name, (1, height), (4, 0), xycoords="axes fraction", textcoords="offset points", va="center",
                    color=line.get_color(), fontsize=_points(ax), annotation_clip=False)  # fmt: skip
    longest = longest_line(handles) * LETTER * _points(ax) / 72
    _widen(figure, longest, widest)
    return True


def _points(ax: Axes) -> float:
    """Return the size of small letters in a figure."""
    return 0.833 * float(ax.xaxis.label.get_fontsize())


def _spread(heights: np.ndarray[Any, Any], least: float) -> np.ndarray[Any, Any]:
    """Return heights moved apart as little as needed, so that neighbours have at least a distance."""
    order = np.argsort(heights)
    placed = heights[order].astype(float)
    for _ in range(50):
        for low in range(len(placed) - 1):
            lacking = least - (placed[low + 1] - placed[low])
            if lacking > 1e-6:
                placed[low] -= lacking / 2
                placed[low + 1] += lacking / 2
    return placed[np.argsort(order)]


def _add_legend(panels: Sequence[Axes], handles: list[Any], widest: float) -> None:
    """Add a legend: beside the panels, or below where the figure is narrow."""
    figure: Any = panels[0].figure
    ax = panels[0]
    width, height = figure.get_size_inches()
    points = _points(ax)
    names = [str(handle.get_label()) for handle in handles]
    column, gap = (letters * points / 72 for letters in (longest_line(names) * LETTER + _LINES, _GAP))
    if width < _NARROW or _has_beside(panels):
        columns = max(1, int((0.95 * width + gap) / (column + gap)))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, **{**_STYLE, "fontsize": points})
        return
    columns = ceil("\n".join(names).count("\n") * _LINE * points / 72 / (0.95 * height) + 0.1)
    legend = {"handles": handles, "ncols": columns, **_STYLE, "fontsize": points}
    if len(panels) == 1:
        ax.legend(**legend, loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0)
    else:
        figure.legend(**legend, loc="outside right upper")
    _widen(figure, columns * (column + gap) - gap, widest)


def _has_beside(panels: Sequence[Axes]) -> bool:
    """Return whether something stands beside the first panel already."""
    panel, whole = panels[0].get_window_extent(), panels[0].get_tightbbox()
    return len(panels) == 1 and whole is not None and whole.x1 > panel.x1 + 0.1 * panel.width


def _widen(figure: Any, inches: float, widest: float) -> None:
    """Give a figure room beside its panels, as far as it may."""
    figure.set_figwidth(min(widest, figure.get_figwidth() + inches))
