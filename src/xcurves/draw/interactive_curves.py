"""Curves and distributions as a figure of Plotly: hover, zoom, a menu of pictures, lines to switch off and on."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.array_types import Floats
from xcurves.draw.interactive_look import MENU, css, dash_of, import_plotly, safe_words
from xcurves.draw.interactive_traces import NOTHING, PARTS, Trace, rows_below, traces_of
from xcurves.pictures.curves import CurvesPicture, Rule, Scale
from xcurves.say.numbers import short_level

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_Slot = tuple[str, str, int]  # part, algorithm or pair, and which one of these: the same trace in every picture
_MOST_NUMBERS = 10**6  # of single runs
_OF_RUNS = 0.45  # opacity
_WIDTHS = {"log x": 60, "log y": 60, "bands": 64, "single runs": 90}  # of buttons, in pixels
_MENU_ABOVE, _BUTTONS_ABOVE = 46, 8  # the panel, in pixels
_ABOVE, _OF_MENU, _OF_NOTE, _BELOW = 70, 40, 20, 60  # pixels
_HIGH, _ROW = 450, 30  # pixels of a figure with rows below its panel, and of a row
_FEW = 12  # levels of a log axis that are named
_LEAST_SEEN = 1e-4  # of the range of numbers: less than a pixel
_NOTE: dict[str, Any] = {"x": 0, "xref": "paper", "y": 0.985, "yanchor": "top", "font": {"size": 12}}
_MIDDLE = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False}
_OF_ROW = {"x": 0, "xref": "x domain", "xanchor": "left", "yref": "y2", "yanchor": "bottom", "showarrow": False,
           "font": {"size": 11}}  # fmt: skip
_LEGEND: dict[str, Any] = {
    "orientation": "h",
    "yref": "container",
    "y": 0,
    "yanchor": "bottom",
    "groupclick": "togglegroup",
}


def interactive_curves(pictures: Sequence[CurvesPicture], titles: Sequence[str]) -> Figure:
    """Return the figure, which shows the first picture; a menu has them all, by their titles.

    The menu changes the numbers of the same traces, so that what the legend switched off stays off.
    """
    every = [_by_slot(traces_of(picture)) for picture in pictures]
    n_numbers = sum(2 * np.isfinite(trace.x).sum() for own in every for trace in own.values() if trace.part == "runs")
    note = {}
    if n_numbers > _MOST_NUMBERS:
        words = safe_words(titles[_keep_runs_of_first(every)]) or "this one"
        note = {**_NOTE, "text": f"Single runs of {words} only: {n_numbers:,} numbers would be too many"}
    looks: dict[_Slot, Trace] = {}
    for own in every:
        for slot, trace in own.items():
            if trace.x.size:
                looks.setdefault(slot, trace._replace(x=NOTHING, y=NOTHING, ends=None))
    slots = sorted(looks, key=lambda slot: (PARTS.index(slot[0]), looks[slot].place))
    contents = [[_properties(own.get(slot, looks[slot])) for slot in slots] for own in every]
    axes = _axes_of(pictures)
    scales = {"xaxis": pictures[0].x, "yaxis": pictures[0].y}
    layout = {
        "template": "plotly_white",
        "hovermode": "x unified",
        "title": note,
        "legend": _LEGEND,
        "updatemenus": _menus(titles, _changes(contents), axes, scales, [slot[0] for slot in slots]),
        "margin": {"t": _ABOVE + _OF_MENU * (len(pictures) > 1) + _OF_NOTE * bool(note), "r": 20, "b": _BELOW, "l": 70},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999999", "activecolor": "#333333"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        **{f"{axis}.type": "log" for axis, scale in scales.items() if scale.is_log},
        **axes[0],
    }
    return import_plotly().Figure({"data": contents[0], "layout": layout})


def _by_slot(traces: Sequence[Trace]) -> dict[_Slot, Trace]:
    counts: Counter[tuple[str, str]] = Counter()
    found = {}
    for trace in traces:
        which = (trace.part, trace.group)
        found[*which, counts[which]] = trace
        counts[which] += 1
    return found


def _keep_runs_of_first(every: list[dict[_Slot, Trace]]) -> int:
    """Take the runs away from all pictures but the first that has some; return which that is."""
    with_runs = [
        at for at, own in enumerate(every) if any(each.part == "runs" and each.x.size for each in own.values())
    ]
    for at in with_runs[1:]:
        every[at] = {slot: trace for slot, trace in every[at].items() if trace.part != "runs"}
    return with_runs[0]


def _properties(trace: Trace) -> dict[str, Any]:
    """Return a trace as Plotly has it."""
    found = {"type": "scatter", "meta": trace.part, "x": _packed(trace.x), "y": _packed(trace.y), **trace.look}
    if trace.group:
        found["legendgroup"] = trace.group
    if trace.ends is not None:
        found["customdata"] = _packed(trace.ends)
    return found


def _packed(values: Floats) -> Any:
    """Return numbers as Plotly reads them fastest, in single precision where a picture shows no difference."""
    if not values.size:
        return []
    dtype = "f4" if _is_single_enough(values) else "f8"
    packed = {"dtype": dtype, "bdata": b64encode(values.astype(f"<{dtype}").tobytes()).decode()}
    if values.ndim > 1:
        packed["shape"] = ", ".join(map(str, values.shape))
    return packed


def _is_single_enough(values: Floats) -> bool:
    """Return whether seven digits tell numbers apart: not times of a clock, and none too small for a logarithm."""
    known = values[np.isfinite(values)]
    if not known.size:
        return True
    with np.errstate(over="ignore", under="ignore"):
        single = known.astype("f4")
        error, extent = np.abs(single - known).max(), np.ptp(known)
    return bool(error <= _LEAST_SEEN * extent and np.count_nonzero(single) == np.count_nonzero(known))


def _changes(contents: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, list[Any]]]:
    """Return what a choice of each picture sets, by property: those that are not the same in all pictures."""
    names = {name for content in contents for trace in content for name in trace}
    every = [{name: [trace.get(name) for trace in content] for name in sorted(names)} for content in contents]
    varied = [name for name in sorted(names) if any(values[name] != every[0][name] for values in every)]
    return [{name: values[name] for name in varied} for values in every]


def _axes_of(pictures: Sequence[CurvesPicture]) -> list[dict[str, Any]]:
    """Return the axes of each picture, its rules, and what is said where there is nothing to draw."""
    rows = list(map(rows_below, pictures))
    most = max(map(len, rows))
    every = []
    for picture, below in zip(pictures, rows, strict=True):
        axes = {**_axis("xaxis", picture.x), **_axis("yaxis", picture.y)}
        axes |= {"shapes": list(map(_shape_of, picture.rules)), "annotations": []}
        if most:
            axes |= _with_rows([trace.look["name"] for trace in below], most)
        if picture.x.is_log and picture.ticks is not None and len(picture.ticks) <= _FEW:
            names = list(map(short_level, picture.ticks))
            axes |= {"xaxis.tickvals": picture.ticks.tolist(), "xaxis.ticktext": names}
        if not picture.lines and not picture.points:
            axes["annotations"] = [{**_MIDDLE, "text": safe_words(picture.empty)}]
        every.append(axes)
    settings = {setting for axes in every for setting in axes}
    return [dict.fromkeys(sorted(settings)) | axes for axes in every]


def _axis(axis: str, scale: Scale) -> dict[str, Any]:
    """Return an axis with its label, and with its limits if both are given."""
    found: dict[str, Any] = {f"{axis}.title.text": safe_words(scale.label), f"{axis}.autorange": True}
    if scale.names:
        names = list(map(safe_words, scale.names))
        found |= {f"{axis}.tickvals": list(range(len(names))), f"{axis}.ticktext": names, f"{axis}.automargin": True}
    if scale.ends is not None:
        ends = np.log10(scale.ends) if scale.is_log else np.array(scale.ends)
        found |= {f"{axis}.range": ends.tolist(), f"{axis}.autorange": False}
    return found


def _with_rows(names: Sequence[str], most: int) -> dict[str, Any]:
    """Return the axes of a panel with rows of these names below it, in a figure with so many rows at most."""
    high = _HIGH + most * _ROW
    share = len(names) * _ROW / (high - _ABOVE - _BELOW)
    axis = {"range": [len(names) - 0.6, -0.9], "domain": [0, share], "visible": False, "fixedrange": True}
    said = [{**_OF_ROW, "y": at, "text": name} for at, name in enumerate(names)]
    anchor = "y2" if names else "y"
    return {"height": high, "yaxis.domain": [share, 1], "xaxis.anchor": anchor, "yaxis2": axis, "annotations": said}


def _shape_of(rule: Rule) -> dict[str, Any]:
    """Return a line through the whole panel, and what is said at its end."""
    other = "y" if rule.axis == "x" else "x"
    look = {"color": css(rule.color), "width": rule.width, "dash": dash_of(rule.linestyle)}
    ends = {f"{rule.axis}0": rule.at, f"{rule.axis}1": rule.at, f"{other}0": 0, f"{other}1": 1}
    label = {"text": safe_words(rule.said), "textposition": "end", "yanchor": "top", "xanchor": "right"}
    return {"type": "line", **ends, f"{other}ref": f"{other} domain", "layer": "below", "line": look, "label": label}


def _menus(
    titles: Sequence[str],
    changes: Sequence[dict[str, list[Any]]],
    axes: Sequence[dict[str, Any]],
    scales: dict[str, Scale],
    parts: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the menu of pictures, the buttons of axes without given ends, and those of bands and runs."""
    menus: list[dict[str, Any]] = []
    if len(titles) > 1:
        names = list(map(safe_words, titles))
        names[0] += " (a choice resets the zoom)"
        choices = [
            {"label": name, "method": "update", "args": [change, own, list(range(len(parts)))]}
            for name, change, own in zip(names, changes, axes, strict=True)
        ]
        menus.append({**MENU, "buttons": choices, "pad": {"l": 0, "b": _MENU_ABOVE}})
    left = 0
    for switch in _switches(scales, parts):
        menus.append({**MENU, "type": "buttons", **switch, "pad": {"l": left, "b": _BUTTONS_ABOVE}})
        left += _WIDTHS[switch["buttons"][0]["label"]]
    return menus


def _switches(scales: dict[str, Scale], parts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the buttons; opacity is for them, visibility for the legend, so that neither undoes the other."""
    found = []
    for axis, scale in scales.items():
        if scale.ends is None and not scale.names:
            log, linear = ([{f"{axis}.type": kind, f"{axis}.autorange": True}] for kind in ("log", "linear"))
            found.append(_switch(f"log {axis[0]}", "relayout", log, linear, is_on=scale.is_log))
    for label, switched, opacity in (("bands", ("shade", "band"), 1.0), ("single runs", ("runs",), _OF_RUNS)):
        own = [at for at, part in enumerate(parts) if part in switched]
        if own:
            on, off = [{"opacity": opacity}, own], [{"opacity": 0.0}, own]
            found.append(_switch(label, "restyle", on, off, is_on=label == "bands"))
    return found


def _switch(label: str, method: str, on: list[Any], off: list[Any], *, is_on: bool) -> dict[str, Any]:
    """Return a button that is pressed or not; `args` are for the next press."""
    button = {"label": label, "method": method, "args": on, "args2": off}
    return {"buttons": [button], "active": 0 if is_on else -1}
