"""Curves as a figure of Plotly: hover, zoom, a menu of pictures, lines to switch off and on."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.array_types import Floats
from xcurves.pictures.curves import CurvesPicture, Line, Rule
from xcurves.pictures.thinned import thinned, thinned_band
from xcurves.say.numbers import count

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_COLUMNS = 200  # of pixels, each with the lowest and the highest value of a line
_MOST_NUMBERS = 10**6  # of single runs
_TRACES = ("band", "runs", "mean")  # of each line, from below
_OF_BAND, _OF_RUNS = 0.2, 0.45  # opacity
_BUTTONS = (0, 60, 120, 184)  # where they begin, in pixels
_MENU_ABOVE, _BUTTONS_ABOVE = 46, 8  # the panel, in pixels
LEGEND: dict[str, Any] = {
    "orientation": "h",
    "yref": "container",
    "y": 0,
    "yanchor": "bottom",
    "groupclick": "togglegroup",
}
_FEW_LEVELS = 12  # that have markers
_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot"}


def import_plotly() -> Any:
    """Return the graph objects of Plotly; an error names the extra that brings it."""
    try:
        from plotly import graph_objects
    except ModuleNotFoundError:
        raise ModuleNotFoundError("explore needs plotly. Install it: pip install 'xcurves[interactive]'") from None
    return graph_objects


def interactive_curves(pictures: Sequence[CurvesPicture]) -> Figure:
    """Return the figure, which shows the first picture; a menu has them all."""
    lines = {line.place: line for picture in pictures for line in picture.lines}
    places = sorted(lines)

    # Both buttons of the x axis keep what is to be seen: columns of pixels are those of either scale.
    short = [
        replace(
            picture,
            lines=[thinned(line, _COLUMNS, "linear", "log") for line in picture.lines],
        )
        for picture in pictures
    ]
    n_numbers = sum(2 * len(levels) for picture in short for line in picture.lines for levels, _ in line.runs)
    has_all_runs = n_numbers <= _MOST_NUMBERS
    with_runs = [at for at, picture in enumerate(short) if any(line.runs for line in picture.lines)]
    first_with_runs = next(iter(with_runs), 0)
    note = None
    if not has_all_runs:
        kept = safe_words(short[first_with_runs].title) or "this one"
        text = f"Single runs of {kept} only: {n_numbers:,} numbers would be too many"
        note = {
            "text": text,
            "font": {"size": 12},
            "x": 0,
            "xref": "paper",
            "y": 0.985,
            "yanchor": "top",
        }

    # The menu changes the numbers of the same lines, so that what the legend switched off stays off.
    contents = []
    for at, (whole, picture) in enumerate(zip(pictures, short, strict=True)):
        bands = {line.place: thinned_band(line, _COLUMNS, "linear", "log") for line in whole.lines}
        contents.append(_contents(picture, bands, places, with_runs=has_all_runs or at == first_with_runs))
    above = 70
    if len(pictures) > 1:
        above += 40
    if note is not None:
        above += 20
    traces = []
    for at, place in enumerate(places):
        for which, trace in enumerate(_TRACES):
            own = {key: values[len(_TRACES) * at + which] for key, values in contents[0].items()}
            traces.append({"type": "scatter", **_look(trace, lines[place], short), **own})
    is_log = pictures[0].x.is_log
    shapes, said = shapes_of(pictures[0].rules)
    layout = {
        "template": "plotly_white",
        "hovermode": "x unified",
        "title": note,
        "xaxis": {
            "title": {"text": safe_words(pictures[0].x.label)},
            "type": "log" if is_log else "linear",
        },
        "yaxis": {"title": {"text": safe_words(pictures[0].y.label)}},
        "legend": LEGEND,
        "shapes": shapes,
        "annotations": said,
        "updatemenus": _menus(short, contents, len(places), is_log=is_log, has_runs=bool(with_runs)),
        "margin": {"t": above, "r": 20, "b": 60, "l": 70},
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": "#999999",
            "activecolor": "#333333",
        },
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
    return import_plotly().Figure({"data": traces, "layout": layout})


def safe_words(words: str) -> str:
    """Return words that Plotly shows as they are: it reads some tags, and formulas between dollars."""
    return escape(words, quote=False).replace("$", "&#36;").replace("\n", "<br>")


def _contents(
    picture: CurvesPicture,
    bands: Mapping[int, tuple[Floats, Floats, Floats]],
    places: Sequence[int],
    *,
    with_runs: bool,
) -> dict[str, list[Any]]:
    """Return the numbers of all traces of a picture: band, runs and mean of each algorithm, by property."""
    lines = {line.place: line for line in picture.lines}
    nothing = np.array([])
    found: dict[str, list[Any]] = {
        "x": [],
        "y": [],
        "customdata": [],
        "hovertemplate": [],
    }
    for place in places:
        line = lines.get(place)
        points = dict.fromkeys(_TRACES, (nothing, nothing))
        interval, text = None, None
        if line is not None:
            points["band"] = _outline(*bands[place])
            points["mean"] = (line.x, line.y)
            if with_runs:
                points["runs"] = _joined(line.runs)
            interval = _packed(np.column_stack([line.low, line.high]))
            text = _said(line)
        for trace in _TRACES:
            x, y = points[trace]
            found["x"].append(_packed(x))
            found["y"].append(_packed(y))

        # Only the mean, which is the last of the three, says something.
        found["customdata"] += [None, None, interval]
        found["hovertemplate"] += [None, None, text]
    return found


def _packed(values: Floats) -> Any:
    """Return numbers as Plotly reads them fastest, with seven digits."""
    if not values.size:
        return []
    packed = {
        "dtype": "f4",
        "bdata": b64encode(values.astype("<f4").tobytes()).decode(),
    }
    if values.ndim > 1:
        packed["shape"] = ", ".join(map(str, values.shape))
    return packed


def _outline(levels: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return x and y around a band: along its lower end, and back along its upper one."""
    return np.concatenate([levels, levels[::-1]]), np.concatenate([low, high[::-1]])


def _joined(runs: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return x and y of runs one behind the other, with gaps between them."""
    gap = np.array([np.nan])
    x, y = [np.array([])], [np.array([])]
    for levels, scores in runs:
        x += [levels, gap]
        y += [scores, gap]
    return np.concatenate(x), np.concatenate(y)


def _said(line: Line) -> str:
    """Return what is said of a level: mean, interval and number of runs."""
    parts = ["%{y:.4~g}"]
    if line.has_band:
        parts.append(" (%{customdata[0]:.4~g} to %{customdata[1]:.4~g})")
    if line.n_runs:
        parts.append(f", {count(line.n_runs, 'run')}")
    return "".join(parts)


def _look(trace: str, line: Line, pictures: Sequence[CurvesPicture]) -> dict[str, Any]:
    """Return how one trace of an algorithm looks; the mean stands in the legend for all three."""
    colour = line.style.color
    look: dict[str, Any] = {
        "name": safe_words(line.name),
        "legendgroup": str(line.place),
        "showlegend": trace == "mean",
    }
    if trace == "mean":
        few = all(len(each.x) <= _FEW_LEVELS for picture in pictures for each in picture.lines)
        look["mode"] = "lines"
        if few:
            look["mode"] = "lines+markers"
        look["marker"] = {"size": 5}
        return look | {"line": {"width": 2.5, "color": colour, "dash": dash_of(line.style.linestyle)}}
    look |= {"mode": "lines", "hoverinfo": "skip"}
    if trace == "band":
        return look | {
            "fill": "toself",
            "fillcolor": with_opacity(colour),
            "line": {"width": 0, "color": colour},
        }
    return look | {"line": {"width": 1, "color": colour}, "opacity": 0.0}


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


def shapes_of(rules: Sequence[Rule]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the lines through the whole panel, and what is said at their ends."""
    shapes, said = [], []
    for rule in rules:
        other = "y" if rule.axis == "x" else "x"
        look = {"color": css(rule.color), "width": rule.width, "dash": dash_of(rule.linestyle)}
        ends = {f"{rule.axis}0": rule.at, f"{rule.axis}1": rule.at, f"{other}0": 0, f"{other}1": 1}
        shapes.append({"type": "line", **ends, f"{other}ref": "paper", "layer": "below", "line": look})
        if rule.said:
            place = {"x": 1, "xref": "paper", "xanchor": "right", "y": rule.at, "yanchor": "top", "showarrow": False}
            said.append({**place, "text": safe_words(rule.said)})
    return shapes, said


def with_opacity(colour: str) -> str:
    """Return the colour of a band."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{_OF_BAND})"


def _menus(
    pictures: Sequence[CurvesPicture],
    contents: Sequence[dict[str, list[Any]]],
    n_lines: int,
    *,
    is_log: bool,
    has_runs: bool,
) -> list[dict[str, Any]]:
    """Return the menu of panels, the buttons of both axes, and those of bands and runs."""
    every = list(range(len(_TRACES) * n_lines))
    of_band, of_runs = (every[_TRACES.index(trace) :: len(_TRACES)] for trace in ("band", "runs"))
    menus: list[dict[str, Any]] = []
    if len(pictures) > 1:
        whole = {"xaxis.autorange": True, "yaxis.autorange": True}
        choices: list[dict[str, Any]] = []
        for picture, numbers in zip(pictures, contents, strict=True):
            layout = {
                **whole,
                "xaxis.title.text": safe_words(picture.x.label),
                "yaxis.title.text": safe_words(picture.y.label),
            }
            title = safe_words(picture.title)
            if not choices:
                title += " (a choice resets the zoom)"
            choices.append({"label": title, "method": "update", "args": [numbers, layout, every]})
        menus.append({"type": "dropdown", "buttons": choices, "pad": {"l": 0, "b": _MENU_ABOVE}})

    # Opacity is for the buttons, visibility for the legend: neither undoes the other.
    switches = [_axis_switch("x", is_log=is_log), _axis_switch("y", is_log=False)]
    switches.append(
        _switch(
            "bands",
            "restyle",
            [{"opacity": 1.0}, of_band],
            [{"opacity": 0.0}, of_band],
            is_on=True,
        )
    )
    if has_runs:
        on, off = [{"opacity": _OF_RUNS}, of_runs], [{"opacity": 0.0}, of_runs]
        switches.append(_switch("single runs", "restyle", on, off, is_on=False))
    for left, switch in zip(_BUTTONS, switches, strict=False):
        menus.append({"type": "buttons", **switch, "pad": {"l": left, "b": _BUTTONS_ABOVE}})
    shared = {
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showactive": True,
    }
    return [{**shared, **menu} for menu in menus]


def _switch(label: str, method: str, on: list[Any], off: list[Any], *, is_on: bool) -> dict[str, Any]:
    """Return a button that is pressed or not; `args` are for the next press."""
    button = {"label": label, "method": method, "args": on, "args2": off}
    return {"buttons": [button], "active": 0 if is_on else -1}


def _axis_switch(axis: str, *, is_log: bool) -> dict[str, Any]:
    to = {kind: [{f"{axis}axis.type": kind, f"{axis}axis.autorange": True}] for kind in ("linear", "log")}
    return _switch(f"log {axis}", "relayout", to["log"], to["linear"], is_on=is_log)
