"""Lines, points and shades as a figure of Plotly: names in a legend, numbers at the pointer, a menu of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.array_types import Floats
from xcurves.draw.interactive_curves import LEGEND, css, dash_of, import_plotly, safe_words, shapes_of, with_opacity
from xcurves.draw.interactive_rows import SYMBOLS, menu_of
from xcurves.pictures.curves import CurvesPicture, Line, Points, Scale
from xcurves.pictures.steps import StepsPicture
from xcurves.say.numbers import short_level

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_SHAPES = {"mid": "hvh", "post": "hv", None: "linear"}
_FEW = 12  # levels of a log axis that are named
_SIZE = 7  # of marks, in pixels
_SILENT = {"showlegend": False, "hoverinfo": "skip"}
_MIDDLE = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False}


def interactive_lines(pictures: Sequence[StepsPicture] | Sequence[CurvesPicture], titles: Sequence[str]) -> Figure:
    """Return the figure, which shows the first picture; a menu has them all, by their titles."""
    of_pictures = [_traces(picture) for picture in pictures]
    traces = [{**trace, "visible": place == 0} for place, own in enumerate(of_pictures) for trace in own]
    layouts = [_layout(picture) for picture in pictures]
    layout: dict[str, Any] = {"template": "plotly_white", "hovermode": "x unified", "legend": LEGEND, **layouts[0]}
    layout["updatemenus"] = menu_of(titles, [len(own) for own in of_pictures], layouts)
    return import_plotly().Figure({"data": traces, "layout": layout})


def _layout(picture: StepsPicture | CurvesPicture) -> dict[str, Any]:
    """Return the axes of a picture, its rules, and what is said where there is nothing to draw."""
    x_axis = _axis(picture.x)
    notes: list[dict[str, Any]] = []
    if isinstance(picture, CurvesPicture):
        if picture.ticks is not None and len(picture.ticks) <= _FEW:
            x_axis |= {"tickvals": picture.ticks.tolist(), "ticktext": list(map(short_level, picture.ticks))}
        if not picture.lines and not picture.points:
            notes.append({**_MIDDLE, "text": safe_words(picture.empty)})
    shapes, said = shapes_of(picture.rules)
    return {"xaxis": x_axis, "yaxis": _axis(picture.y), "shapes": shapes, "annotations": notes + said}


def _axis(scale: Scale) -> dict[str, Any]:
    """Return an axis with its label, and with its limits if both are given."""
    axis: dict[str, Any] = {"title": {"text": safe_words(scale.label)}}
    if scale.names:
        names = list(map(safe_words, scale.names))
        axis |= {"tickvals": list(range(len(names))), "ticktext": names, "automargin": True}
    if scale.is_log:
        axis["type"] = "log"
    if scale.low is not None and scale.high is not None:
        ends = [scale.low, scale.high]
        axis["range"] = np.log10(ends).tolist() if scale.is_log else ends
    return axis


def _traces(picture: StepsPicture | CurvesPicture) -> list[dict[str, Any]]:
    """Return everything of a picture from below; the legend switches what has one colour together."""
    if isinstance(picture, StepsPicture):
        return [trace for line in picture.lines for trace in _of_line(line, line.name)]
    name_of = {key.style.color: key.name for key in picture.keys}
    traces = []
    for shade in picture.shades:
        traces += _between(shade.x, shade.low, shade.high, shade.color, "linear")
    for line in picture.lines:
        traces += _of_line(line, line.name or name_of.get(line.style.color, ""), listed=bool(line.name))
    for span in picture.spans:
        look = {"color": css(span.color), "width": span.width}
        traces.append({**_group(span.color), "x": [span.low, span.high], "y": [span.y] * 2, "mode": "lines",
                       "line": look, "opacity": span.opacity, **_SILENT})  # fmt: skip
    for points in picture.points:
        traces.append(_of_points(points, points.name or name_of.get(points.style.color, "")))
    for key in picture.keys:
        if key.name:
            look = {"color": css(key.style.color), "dash": dash_of(key.style.linestyle)}
            traces.append({**_group(key.style.color), "x": [None], "y": [None], "mode": "lines+markers",
                           "name": safe_words(key.name), "line": look,
                           "marker": {"symbol": SYMBOLS[key.style.marker], "size": _SIZE}})  # fmt: skip
    return traces


def _group(color: str) -> dict[str, Any]:
    return {"type": "scatter", "legendgroup": css(color)}


def _of_line(line: Line, name: str, *, listed: bool = True) -> list[dict[str, Any]]:
    """Return the band and the line of a curve or distribution."""
    shape = _SHAPES[line.steps]
    traces = []
    if line.has_band:
        known = line.known_band
        traces = _between(line.x[known], line.low[known], line.high[known], line.style.color, shape)
    look = {"color": css(line.style.color), "width": 2 * line.width, "dash": dash_of(line.style.linestyle)}
    look["shape"] = shape
    mode = "lines+markers" if line.marked == "all" else "lines"
    trace = {**_group(line.style.color), "x": line.x.tolist(), "y": line.y.tolist(), "mode": mode, "line": look}
    trace |= {"name": safe_words(name), "hoverinfo": "x+y+name" if name else "skip"}
    if not listed or not name:
        trace["showlegend"] = False
    return [*traces, trace]


def _between(x: Floats, low: Floats, high: Floats, color: str, shape: str) -> list[dict[str, Any]]:
    """Return the lower end of a band, and the upper one down to which it is filled."""
    look = {"width": 0, "shape": shape, "color": css(color)}
    ends: list[dict[str, Any]] = [
        {**_group(color), **_SILENT, "mode": "lines", "x": x.tolist(), "y": end.tolist(), "line": look}
        for end in (low, high)
    ]
    ends[1] |= {"fill": "tonexty", "fillcolor": with_opacity(css(color))}
    return ends


def _of_points(points: Points, name: str) -> dict[str, Any]:
    """Return marks with the bars of their intervals."""
    color = css(points.style.color)
    inner: Any = color if points.filled else "white"
    if points.colors:
        inner = list(points.colors)
    edge = "black" if points.edged or points.colors else color
    look = {"symbol": SYMBOLS[points.style.marker], "size": _SIZE * points.size, "color": inner}
    look["line"] = {"color": edge, "width": 1}
    mode = "lines+markers" if points.joined else "markers"
    trace = {**_group(points.style.color), "x": points.x.tolist(), "y": points.y.tolist(), "name": safe_words(name)}
    trace |= {"marker": look, "line": {"color": color, "dash": dash_of(points.style.linestyle)}}
    trace |= {"showlegend": bool(points.name), "hoverinfo": "x+y+name" if name else "x+y"}
    for axis, at, ends in (("error_x", points.x, points.x_ends), ("error_y", points.y, points.y_ends)):
        if ends is not None:
            low, high = at - ends[0], ends[1] - at
            trace[axis] = {"symmetric": False, "array": high.tolist(), "arrayminus": low.tolist(), "thickness": 1}
    if points.texts:
        mode += "+text"
        trace |= {"text": [safe_words(text) for text in points.texts], "textposition": "bottom right"}
    return {**trace, "mode": mode}
