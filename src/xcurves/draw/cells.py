"""Cells in matplotlib: numbers where they have room, else colours with their scale."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.draw.drawn_names import longest_line, write_label
from xcurves.pictures.cells import LEANING, CellsPicture, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

_MAPS: dict[Palette, str] = {"rising": "viridis", "falling": "viridis_r", "diverging": "RdBu_r", "signs": "RdBu_r"}
_SIGNS = (0.1, 0.33, 0.5, 0.67, 0.9)  # where the colours of signs stand in their map
_LETTERS = 6  # width of a number with a space, in letters
_POINTS = 72
_LEAST = 4.5  # points of a number that can be read
_DARK = 0.45  # lightness of cells whose text is white
_LIGHTNESS = (0.299, 0.587, 0.114)  # of red, green and blue
_NARROW = 5.5  # points of names of columns in two lines
_LETTER = 0.6  # width of a letter, of its height
_SMALL, _OF_TICKS = (0.833, 0.9)  # of the size of letters of labels
_FEW = 20  # rows whose labels have the usual size


def draw_cells(ax: Axes, picture: CellsPicture) -> None:
    """Draw a cell for each value, with its number where it has a form and room, else as colour."""
    values = picture.values
    image = ax.imshow(
        values,
        cmap=_color_map(picture.palette),
        vmin=picture.limits[0],
        vmax=picture.limits[1],
        aspect="auto",
        interpolation="none",
        gid="cells",
    )
    marked = np.zeros(values.shape, bool) if picture.marked is None else picture.marked
    size = _font(ax, values.shape)
    if picture.decimals is not None and size >= _LEAST:
        _write_numbers(ax, picture, marked, image.to_rgba(values), size)
    else:
        y, x = np.nonzero(marked)
        if len(x):
            ax.plot(x, y, "o", color="black", markersize=min(3, size / 2), gid="bold")
        bar = ax.figure.colorbar(image, ax=ax, aspect=30)
        letters_in_line = max(1, int(_letters(ax, ax.get_window_extent().height)))
        # in points: ticks are made when the figure is drawn, with the letters of that time
        points = float(ax.xaxis.label.get_fontsize())
        bar.set_label(fill(picture.said, letters_in_line), fontsize=_SMALL * points)
        bar.ax.tick_params(labelsize=_OF_TICKS * points)
        if picture.steps:
            bar.set_ticks(list(picture.steps), labels=list(picture.steps.values()))
    _name_cells(ax, picture, size)
    if picture.x_label:
        write_label(ax.xaxis.label, picture.x_label)
    if picture.y_label:
        ax.set_ylabel(picture.y_label)


def _color_map(palette: Palette) -> Colormap:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    of_palette = colormaps[_MAPS[palette]]
    if palette == "signs":
        return ListedColormap(of_palette(_SIGNS))
    return of_palette


def _name_cells(ax: Axes, picture: CellsPicture, size: float) -> None:
    """Write the names of rows and columns, those of columns upright where they have no room side by side."""
    rows, columns = picture.rows, picture.columns
    of_rows: dict[str, Any] = {"fontsize": "small"}
    if len(rows) > _FEW:
        of_rows["fontsize"] = min(8.0, max(size, 5.5))
    ax.set_yticks(range(len(rows)), rows, **of_rows)

    names = [_wrapped_once(name) for name in columns]
    of_columns = dict(of_rows)
    if picture.has_long_names:
        of_columns["fontsize"] = _NARROW
    beside = longest_line(rows) + len(columns) * (longest_line(columns) + 1)
    if beside > _letters(ax, ax.get_window_extent().width):
        of_columns["rotation"] = 90
    ax.set_xticks(range(len(columns)), names, **of_columns)
    ax.tick_params(length=0)


def _wrapped_once(name: str) -> str:
    """Return the name of a column in lines, unless it has lines already."""
    if "\n" in name:
        return name
    return fill(name, LEANING)


def _letters(ax: Axes, pixels: float) -> float:
    """Return how many small letters fit into so many pixels of a panel."""
    return pixels / ax.figure.dpi * _POINTS / (_LETTER * _SMALL * float(ax.xaxis.label.get_fontsize()))


def _font(ax: Axes, shape: tuple[int, ...]) -> float:
    """Return the size of a number that fits into a cell, in points."""
    box = ax.get_window_extent()
    high, wide = (each / ax.figure.dpi * _POINTS for each in (box.height / shape[0], box.width / shape[1]))
    return float(min(8.5, 0.75 * high, wide / (_LETTER * _LETTERS)))


def _write_numbers(ax: Axes, picture: CellsPicture, bold: NDArray[np.bool_], colours: Floats, size: float) -> None:
    """Write the number of each cell, white on dark ones."""
    lightness = colours[..., :3] @ np.array(_LIGHTNESS)
    for row, column in np.argwhere(np.isfinite(picture.values)).tolist():
        look: dict[str, Any] = {"fontsize": size, "color": "black"}
        if lightness[row, column] < _DARK:
            look["color"] = "white"
        if bold[row, column]:
            look |= {"gid": "bold", "fontweight": "bold"}
        ax.text(column, row, picture.text(row, column), ha="center", va="center", **look)
