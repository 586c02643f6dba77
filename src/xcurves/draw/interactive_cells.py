"""Cells as a figure of Plotly: colours with their scale, numbers in cells and at the pointer, a menu of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.draw.interactive_look import one_at_a_time, safe_words
from xcurves.pictures.cells import CellsPicture, Palette
from xcurves.say.numbers import number

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_SCALES: dict[Palette, str] = {"rising": "Viridis", "falling": "Viridis_r", "diverging": "RdBu_r"}
# Five colours from the second to the first, each for a fifth of the range.
_SIGNS = ("#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b")
_MOST_NUMBERED = 10  # columns whose cells have room for numbers on a phone
_OF_BAR, _ABOVE_BAR = 24, 14  # letters in a line beside and above the scale of colours
_ROW, _AROUND = 24, 220  # pixels of a row, and around all


def interactive_cells(pictures: Sequence[CellsPicture], titles: Sequence[str]) -> Figure:
    """Return the figure, which shows the first picture; a menu has them all, by their titles."""
    height = _AROUND + _ROW * max(len(picture.rows) for picture in pictures)
    return one_at_a_time(list(map(_traces, pictures)), list(map(_axes, pictures)), titles, height)


def _axes(picture: CellsPicture) -> dict[str, Any]:
    """Return the axes of a picture, rows from top to bottom, every name shown."""
    axes: dict[str, Any] = {}
    for axis, names, label in (("xaxis", picture.columns, picture.x_label), ("yaxis", picture.rows, picture.y_label)):
        axes[axis] = {
            "tickvals": list(range(len(names))),
            "ticktext": [safe_words(name) for name in names],
            "title": {"text": safe_words(label)},
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
        }
    axes["yaxis"]["autorange"] = "reversed"
    return axes


def _traces(picture: CellsPicture) -> list[dict[str, Any]]:
    """Return the cells with their numbers, and a dot in each that is marked and has none."""
    values = picture.values
    places = [[(row, column) for column in range(values.shape[1])] for row in range(values.shape[0])]
    title = {"text": safe_words(fill(picture.said, _OF_BAR)), "side": "right"}
    bar: dict[str, Any] = {"title": title, "thickness": 12}
    if picture.steps:
        title |= {"text": safe_words(fill(picture.said, _ABOVE_BAR)), "side": "top"}
        bar |= {"tickvals": list(picture.steps), "ticktext": list(picture.steps.values())}
    cells: dict[str, Any] = {
        "type": "heatmap",
        "z": values.tolist(),
        "zmin": picture.limits[0],
        "zmax": picture.limits[1],
        "colorscale": _colors(picture.palette),
        "colorbar": bar,
        "hovertext": [[_said(picture, *at) for at in row] for row in places],
        "hoverinfo": "text",
        "xgap": 1,
        "ygap": 1,
    }
    traces = [cells]
    if picture.decimals is not None and len(picture.columns) <= _MOST_NUMBERED:
        cells["text"] = [[_number(picture, *at) for at in row] for row in places]
        cells |= {"texttemplate": "%{text}", "showscale": False}
    elif picture.marked is not None:
        y, x = np.nonzero(picture.marked)
        dots = {"x": x.tolist(), "y": y.tolist(), "mode": "markers", "marker": {"color": "black", "size": 5}}
        traces.append({"type": "scatter", **dots, "hoverinfo": "skip"})
    return traces


def _number(picture: CellsPicture, row: int, column: int) -> str:
    """Return the number of a cell, bold where it is marked."""
    text = picture.text(row, column)
    if text and picture.marked is not None and picture.marked[row, column]:
        return f"<b>{text}</b>"
    return text


def _said(picture: CellsPicture, row: int, column: int) -> str:
    """Return what is said of a cell where the pointer is: its row, its column, and its value."""
    value = picture.values[row, column]
    if np.isnan(value):
        return ""
    said = picture.text(row, column) or number(value, 4)
    names = (picture.rows[row], picture.columns[column], picture.steps.get(float(value), said))
    return "<br>".join(map(safe_words, names))


def _colors(palette: Palette) -> Any:
    """Return the colours of a palette, those of signs in steps."""
    if palette != "signs":
        return _SCALES[palette]
    ends = np.linspace(0, 1, len(_SIGNS) + 1)
    return [[float(end), color] for place, color in enumerate(_SIGNS) for end in ends[place : place + 2]]
