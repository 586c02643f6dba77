"""Steps as a figure of Plotly: names in a legend, numbers where the pointer is, a menu of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.draw.interactive_curves import dash_of, import_plotly, safe_words, with_opacity
from xcurves.draw.interactive_rows import menu_of
from xcurves.pictures.curves import Line, Scale
from xcurves.pictures.steps import StepsPicture

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_SHAPES = {"mid": "hvh", "post": "hv", None: "linear"}


def interactive_steps(pictures: Sequence[StepsPicture], titles: Sequence[str]) -> Figure:
    """Return the figure, which shows the first picture; a menu has them all, by their titles."""
    of_pictures = [_traces(picture) for picture in pictures]
    traces = [{**trace, "visible": place == 0} for place, own in enumerate(of_pictures) for trace in own]
    layouts = [{"xaxis": _axis(picture.x), "yaxis": _axis(picture.y)} for picture in pictures]
    layout: dict[str, Any] = {"template": "plotly_white", "hovermode": "x unified", **layouts[0]}
    layout["updatemenus"] = menu_of(titles, [len(own) for own in of_pictures], layouts)
    return import_plotly().Figure({"data": traces, "layout": layout})


def _axis(scale: Scale) -> dict[str, Any]:
    """Return an axis with its label and its limits, if both are given."""
    axis: dict[str, Any] = {"title": {"text": safe_words(scale.label)}}
    if scale.low is not None and scale.high is not None:
        axis["range"] = [scale.low, scale.high]
    return axis


def _traces(picture: StepsPicture) -> list[dict[str, Any]]:
    """Return the band and the line of each distribution, which the legend switches together."""
    traces = []
    for place, line in enumerate(picture.lines):
        group = {"type": "scatter", "mode": "lines", "legendgroup": str(place), "name": safe_words(line.name)}
        shape = _SHAPES[line.steps]
        if line.low.size:
            traces += _band(line, {**group, "showlegend": False, "hoverinfo": "skip"}, shape)
        look = {"color": line.style.color, "width": 2, "dash": dash_of(line.style.linestyle), "shape": shape}
        traces.append({**group, "x": line.x.tolist(), "y": line.y.tolist(), "line": look})
    return traces


def _band(line: Line, group: dict[str, Any], shape: str) -> list[dict[str, Any]]:
    """Return the lower end of a band, and the upper one down to which it is filled."""
    known = np.isfinite(line.low) & np.isfinite(line.high)
    ends: list[dict[str, Any]] = []
    for end in (line.low, line.high):
        look = {"width": 0, "shape": shape, "color": line.style.color}
        ends.append({**group, "x": line.x[known].tolist(), "y": end[known].tolist(), "line": look})
    ends[1] |= {"fill": "tonexty", "fillcolor": with_opacity(line.style.color)}
    return ends
