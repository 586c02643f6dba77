"""Rows as a figure of Plotly: names at the left, numbers where the pointer is, a menu of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.draw.interactive_look import SYMBOLS, one_at_a_time, safe_words
from xcurves.pictures.rows import BOX, HIGH, POINTS, Mark, Row, RowsPicture
from xcurves.say.numbers import interval, number

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW, _AROUND = 26, 150  # pixels of a row, and around all
_BEYOND = 0.05  # of the width of all numbers, for what is drawn of an open side


def interactive_rows(pictures: Sequence[RowsPicture], titles: Sequence[str]) -> Figure:
    """Return the figure, which shows the first picture; a menu has them all, by their titles."""
    height = _AROUND + _ROW * max(picture.depth + 1 for picture in pictures)
    return one_at_a_time(list(map(_traces, pictures)), list(map(_axes, pictures)), titles, height)


def _name(row: Row) -> str:
    """Return the name of a row, headings in bold and in their colour."""
    if not row.is_heading:
        return safe_words(row.name)
    return f'<b><span style="color:{row.ink}">{safe_words(row.name)}</span></b>'


def _axes(picture: RowsPicture) -> dict[str, Any]:
    """Return the axes of a picture, rows from top to bottom, with a line where no difference is."""
    names = [_name(row) for row in picture.rows]
    x_axis: dict[str, Any] = {"title": {"text": safe_words(picture.x_label)}, "zeroline": False, "type": picture.scale}
    if picture.ticks:
        x_axis |= {"tickvals": [at for at, _ in picture.ticks], "ticktext": [text for _, text in picture.ticks]}
    if picture.limits is not None:
        x_axis["range"] = np.log10(picture.limits).tolist() if picture.scale == "log" else list(picture.limits)
    shapes = []
    if picture.reference is not None:
        line = {"color": "#595959", "width": 1}
        at = picture.reference
        shapes.append({"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": line})
    return {
        "xaxis": x_axis,
        "yaxis": {
            "tickvals": picture.places.tolist(),
            "ticktext": names,
            "range": [picture.depth + 0.6, -0.6],
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
        },
        "shapes": shapes,
    }


def _traces(picture: RowsPicture) -> list[dict[str, Any]]:
    """Return boxes, points, intervals and estimates of all rows, from below."""
    places = picture.places.tolist()
    drawn = [value for row in picture.rows for mark in row.marks for value in mark[:3] if np.isfinite(value)]
    beyond = _BEYOND * (max(drawn, default=1.0) - min(drawn, default=0.0))
    ends = (min(drawn, default=0.0) - beyond, max(drawn, default=1.0) + beyond)
    traces = []
    for at, row in zip(places, picture.rows, strict=True):
        traces += _spread(at, row)
    for at, row in zip(places, picture.rows, strict=True):
        for mark in row.marks:
            if np.isfinite(mark.value) or mark.thick:
                traces += _mark(at, mark, _said(picture, row, mark), ends)
    return traces


def _spread(at: float, row: Row) -> list[dict[str, Any]]:
    """Return the histogram of a row, the box between its quartiles, and its points."""
    traces: list[dict[str, Any]] = []
    edges, shares = row.binned()
    if edges.size:
        around = {"x": np.repeat(edges, 2).tolist(), "y": [at, *np.repeat(at - HIGH * shares, 2).tolist(), at]}
        look = {"mode": "lines", "hoverinfo": "skip", "line": {"width": 0, "color": "#BFBFBF"}}
        traces.append({"type": "scatter", **around, **look, "fill": "toself"})
    if row.quartiles is not None and np.isfinite(row.quartiles).all():
        low, middle, high = row.quartiles
        box = {"x": [low, high, high, low, low], "y": [at - BOX, at - BOX, at + BOX, at + BOX, at - BOX]}
        look = {"mode": "lines", "hoverinfo": "skip", "line": {"color": "#737373", "width": 1}}
        traces.append({"type": "scatter", **box, **look, "fill": "toself", "fillcolor": "#E0E0E0"})
        traces.append({"type": "scatter", "x": [middle, middle], "y": [at - BOX, at + BOX], **look})
    if row.points:
        heights = at + POINTS * row.spread
        traces.append(
            {
                "type": "scatter",
                "x": list(row.points),
                "y": heights.tolist(),
                "mode": "markers",
                "marker": {"color": "#999999", "size": 5},
                "hovertemplate": "%{x:.4~g}<extra></extra>",
            }
        )
    return traces


def _mark(at: float, mark: Mark, said: str, ends: tuple[float, float]) -> list[dict[str, Any]]:
    """Return the interval of a mark, with an arrow at an open side, and its estimate."""
    color, text = mark.style.color, {"hovertext": said, "hoverinfo": "text"}
    reached = []
    for end, edge in zip((mark.low, mark.high), ends, strict=True):
        reached.append(mark.value if np.isnan(end) else edge if np.isinf(end) else end)
    width = 6 if mark.thick else 2
    traces: list[dict[str, Any]] = [
        {"type": "scatter", "x": reached, "y": [at, at], "mode": "lines", "line": {"color": color, "width": width},
         **text}
    ]  # fmt: skip
    for place, symbol in enumerate(("triangle-left", "triangle-right")):
        if np.isinf((mark.low, mark.high)[place]):
            arrow = {"color": color, "size": 9, "symbol": symbol}
            traces.append(
                {"type": "scatter", "x": [reached[place]], "y": [at], "mode": "markers", "marker": arrow, **text}
            )
    if not mark.thick:
        fill = color if mark.filled else "white"
        look = {"symbol": SYMBOLS.get(mark.style.marker, "circle"), "size": 9, "color": fill}
        look["line"] = {"color": color, "width": 1.5}
        traces.append({"type": "scatter", "x": [mark.value], "y": [at], "mode": "markers", "marker": look, **text})
    return traces


def _said(picture: RowsPicture, row: Row, mark: Mark) -> str:
    """Return what is said where the pointer is: the name of the row, and its texts or the numbers of the mark."""
    numbers = picture.text_below(row)
    if not numbers and picture.ticks:
        numbers = ""
    elif not numbers:
        numbers = "" if np.isnan(mark.value) else number(mark.value)
        if not np.isnan(mark.low):
            numbers = f"{numbers} ({interval(mark.low, mark.high)})".strip()
    return "<br>".join(safe_words(each) for each in (row.name, numbers) if each)
