"""How pictures look in Plotly, whatever their shape: words, colours, dashes and marks; one figure with a menu."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross",
           "X": "x", "x": "x-thin-open", "*": "star", "|": "line-ns-open", "_": "line-ew-open"}  # fmt: skip
_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot"}
MENU: dict[str, Any] = {"type": "dropdown", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"}


def import_plotly() -> Any:
    """Return the graph objects of Plotly; an error names the extra that brings it."""
    try:
        from plotly import graph_objects
    except ModuleNotFoundError:
        raise ModuleNotFoundError("explore needs plotly. Install it: pip install 'xcurves[interactive]'") from None
    return graph_objects


def safe_words(words: str) -> str:
    """Return words that Plotly shows as they are: it reads some tags, and formulas between dollars."""
    return escape(words, quote=False).replace("$", "&#36;").replace("\n", "<br>")


def dash_of(linestyle: Any) -> str:
    """Return Plotly's name of a line style; those that it has no name for are dotted."""
    if not isinstance(linestyle, str):
        return "dot"
    return _DASHES.get(linestyle, "dot")


def css(color: str) -> str:
    """Return a colour as Plotly knows it: it has no greys by their lightness."""
    if color.startswith(("0.", ".")):
        return "#" + 3 * f"{round(255 * float(color)):02x}"
    return "#000000" if color == "black" else color


def with_opacity(color: str, opacity: float) -> str:
    """Return the colour of a band."""
    red, green, blue = (int(css(color)[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def one_at_a_time(
    of_pictures: Sequence[Sequence[dict[str, Any]]],
    axes: Sequence[dict[str, Any]],
    titles: Sequence[str],
    height: float,
) -> Figure:
    """Return a figure that shows the traces of one picture on its axes; a menu has them all, none of a single one."""
    owners = np.repeat(np.arange(len(titles)), list(map(len, of_pictures)))
    traces = [{**trace, "visible": place == 0} for place, own in enumerate(of_pictures) for trace in own]
    layout: dict[str, Any] = {
        "template": "plotly_white",
        "showlegend": False,
        "height": height,
        "margin": {"t": 60, "r": 20, "b": 60, "l": 20},
        **axes[0],
    }
    if len(titles) > 1:
        buttons = []
        for place, (title, own_axes) in enumerate(zip(titles, axes, strict=True)):
            shown = {"visible": (owners == place).tolist()}
            buttons.append({"label": safe_words(title), "method": "update", "args": [shown, own_axes]})
        layout["updatemenus"] = [{**MENU, "buttons": buttons}]
    return import_plotly().Figure({"data": traces, "layout": layout})
