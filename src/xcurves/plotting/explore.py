"""Curves as a figure of Plotly: hover, zoom, a menu of tasks, algorithms to switch off and on."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, run_checks
from xcurves.core.axes import style_of
from xcurves.core.labels import CI_BOUNDS, escape_controls
from xcurves.core.validation import check_curves
from xcurves.core.wording import count, label_of, number
from xcurves.plotting.curve_lines import CurveLine, CurvePanel, drawn, is_uneven, over_tasks, panels_of
from xcurves.results import prepare

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_MOST_LEVELS = 400  # of a line
_MOST_NUMBERS = 10**6  # of single runs
_ALL = "all tasks"
_TRACES = ("band", "runs", "mean")  # of each algorithm, from below
_OF_BAND, _OF_RUNS = 0.2, 0.45  # opacity
_BUTTONS = (0, 60, 120, 184)  # where they begin, in pixels
_MENU_ABOVE, _BUTTONS_ABOVE = 46, 8  # the panel, in pixels
_SOLID = 6  # algorithms whose lines are solid
_FEW_LEVELS = 12  # that have markers
_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot"}


def explore(data: xr.DataArray | xr.Dataset, *, smooth: float = 0.0) -> Figure:
    """Draw curves, or a result along training or the budget, as an interactive figure of Plotly.

    Parameters
    ----------
    data : DataArray, dims (..., algorithm, run, training), or Dataset
        Curves, in the unit of the scores; or a result that has mean curves, or differences of them, with bands.
    smooth : float, default 0
        Of curves: weight of the past, from 0 to below 1, in an exponential mean of every run over its levels, without
        the pull of a start at 0; said in the label of the axis.

    Returns
    -------
    plotly.graph_objects.Figure
        Show it as the last line of a cell, save it by ``figure.write_html("curves.html")``: neither needs a network.

    Raises
    ------
    ModuleNotFoundError
        If plotly (extra ``interactive``) is not installed.
    ValueError, TypeError
        If `data` are no curves, or a result without curves, or if `smooth` is not as described.

    Notes
    -----
    Where the pointer is, the figure says mean, interval and number of runs of every algorithm. The legend switches an
    algorithm off and on with its band and its runs; buttons switch bands, single runs and log axes of all. Of curves of
    several tasks, a menu shows one; the first entry is the mean over all tasks at shares of each task's budget, of the
    algorithms that all tasks have. The menu goes back to all levels; what is switched off stays off.

    Bands of curves are t intervals of the mean of runs at each level by itself; those of all tasks are for these tasks,
    with degrees of freedom by Satterthwaite. They are drawn at the levels that all runs of the algorithm have in the
    task. A single run has none. Bands of results are their own.

    Lines of many levels are drawn by the lowest and the highest value of each stretch. With more than a million
    numbers, single runs are there for the first entry of the menu only; the title says so.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> figure = scores.curves.explore()
    >>> [trace.name for trace in figure.data if trace.showlegend]
    ['rate 0.001', 'rate 0.8', 'rate 0.1']
    """
    graph_objects = _import_plotly()
    weight = _check_smooth(smooth)
    if isinstance(data, xr.Dataset):
        if weight:
            raise ValueError(f"smooth is for curves; got {smooth} with a result, whose bands are its own. Leave it out")
        panels, x_labels, y_label = _panels_of_result(data)
    else:
        panels, x_labels, y_label = _panels_of_curves(data, weight)
    return _figure(graph_objects, panels, x_labels, y_label)


def _import_plotly() -> Any:
    try:
        from plotly import graph_objects
    except ModuleNotFoundError:
        raise ModuleNotFoundError("explore needs plotly. Install it: pip install 'xcurves[interactive]'") from None
    return graph_objects


def _check_smooth(smooth: Any) -> float:
    try:
        weight = float(smooth)
    except (TypeError, ValueError):
        raise TypeError(f"smooth must be a number from 0 to below 1; got {smooth!r}. Try smooth=0.6") from None
    if not 0 <= weight < 1:
        raise ValueError(f"smooth must be from 0 to below 1; got {smooth!r}. Try smooth=0.6")
    return weight


def _panels_of_curves(data: xr.DataArray, weight: float) -> tuple[list[CurvePanel], list[str], str]:
    """Return the panels of curves with their labels of x, and the label of y."""
    curves = check_curves(data, own_levels=True).compute()
    run_checks.check_drawable(curves)
    panels = panels_of(curves, smooth=weight)
    of_x = label_of(curves["training"])
    x_labels = [of_x] * len(panels)
    if len(panels) > 1:
        mean = over_tasks(panels)
        if mean.lines:
            panels = [CurvePanel(_ALL, mean.lines), *panels]
            x_labels = ["share of the budget of a task (%)", *x_labels]
    label = label_of(curves)
    return panels, x_labels, f"{label}, smoothed by {number(weight)}" if weight else label


def _panels_of_result(data: xr.Dataset) -> tuple[list[CurvePanel], list[str], str]:
    """Return a panel for each task of a result, with the labels of x and y."""
    kind, result = prepare(data)
    known = [each for each in kind.curves_with_bands() if {*each} <= set(result.data_vars)]
    if not known:
        raise ValueError(f"a result of {kind.name} has no curves to explore. Its pictures: .curves.plot()")
    name, band = known[0]
    who, along = kind.variables[name].core
    dims = [dim for dim in result[name].dims if dim not in (who, along)]
    stacked = result[[name, band]].stack(one=dims) if dims else result[[name, band]].expand_dims("one")
    titles = [title.removesuffix(": ") for title in labels.task_prefixes(result, dims)] if dims else [""]
    panels = []
    for place, title in enumerate(titles):
        lines = list(_lines_of_result(stacked.isel(one=place), name, band, who, along))
        panels.append(CurvePanel(escape_controls(title), lines))
    of_x = label_of(result[along]) if along in result.coords else along
    long_name = str(result[name].attrs.get("long_name", name))
    return panels, [of_x] * len(panels), label_of(result[name].assign_attrs(long_name=long_name))


def _lines_of_result(task: xr.Dataset, name: str, band: str, who: str, along: str) -> Iterator[CurveLine]:
    """Yield the curves of one task that have values."""
    for place, label in enumerate(task[who].to_numpy().tolist()):
        one = task.isel({who: place})
        mean = one[name].to_numpy()
        known = np.isfinite(mean)
        if known.any():
            low, high = (one[band].sel(ci_bound=bound).to_numpy()[known] for bound in CI_BOUNDS)
            levels = one[along].to_numpy()[known].astype(float)
            yield CurveLine(escape_controls(str(label)), place, levels, mean[known], low, high, 0, [])


def _figure(graph_objects: Any, panels: Sequence[CurvePanel], x_labels: Sequence[str], y_label: str) -> Figure:
    """Return the figure, which shows the first panel."""
    names = {line.place: line.name for panel in panels for line in panel.lines}
    places = sorted(names)
    short = [CurvePanel(panel.title, [drawn(line, _MOST_LEVELS) for line in panel.lines]) for panel in panels]
    n_numbers = sum(2 * len(levels) for panel in short for line in panel.lines for levels, _ in line.runs)
    has_all_runs = n_numbers <= _MOST_NUMBERS
    first_with_runs = next((at for at, panel in enumerate(short) if any(line.runs for line in panel.lines)), 0)
    note = None
    if not has_all_runs:
        kept = _safe(short[first_with_runs].title) or "this one"
        text = f"Single runs of {kept} only: {n_numbers:,} numbers would be too many"
        note = {"text": text, "font": {"size": 12}, "x": 0, "xref": "paper", "y": 0.985, "yanchor": "top"}

    # The menu changes the numbers of the same lines, so that what the legend switched off stays off.
    contents = [
        _contents(panel, places, with_runs=has_all_runs or at == first_with_runs) for at, panel in enumerate(short)
    ]
    above = 70
    if len(panels) > 1:
        above += 40
    if note is not None:
        above += 20
    traces = []
    for at, place in enumerate(places):
        for which, trace in enumerate(_TRACES):
            own = {key: values[len(_TRACES) * at + which] for key, values in contents[0].items()}
            traces.append({"type": "scatter", **_look(trace, names[place], place, short), **own})
    levels = short[0].levels()
    is_log = is_uneven(levels) and bool(levels[0] > 0)
    has_runs = any(line.runs for panel in short for line in panel.lines)
    layout = {
        "template": "plotly_white",
        "hovermode": "x unified",
        "title": note,
        "xaxis": {"title": {"text": _safe(x_labels[0])}, "type": "log" if is_log else "linear"},
        "yaxis": {"title": {"text": _safe(y_label)}},
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "groupclick": "togglegroup"},
        "updatemenus": _menus(short, contents, x_labels, places, is_log=is_log, has_runs=has_runs),
        "margin": {"t": above, "r": 20, "b": 60, "l": 70},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999999", "activecolor": "#333333"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
    return graph_objects.Figure({"data": traces, "layout": layout})


def _safe(words: str) -> str:
    """Return words that Plotly shows as they are: it reads some tags, and formulas between dollars."""
    return escape(words, quote=False).replace("$", "&#36;")


def _contents(panel: CurvePanel, places: Sequence[int], *, with_runs: bool) -> dict[str, list[Any]]:
    """Return the numbers of all traces of a panel: band, runs and mean of each algorithm, by property."""
    lines = {line.place: line for line in panel.lines}
    found: dict[str, list[Any]] = {"x": [], "y": [], "customdata": [], "hovertemplate": []}
    for place in places:
        line = lines.get(place)
        for trace in _TRACES:
            x, y = (np.array([]), np.array([])) if line is None else _points(line, trace, with_runs=with_runs)
            found["x"].append(_packed(x))
            found["y"].append(_packed(y))
            is_mean = line is not None and trace == "mean"
            found["customdata"].append(_packed(np.column_stack([line.low, line.high])) if line and is_mean else None)
            found["hovertemplate"].append(_said(line) if line and is_mean else None)
    return found


def _packed(values: Floats) -> Any:
    """Return numbers as Plotly reads them fastest, with seven digits."""
    if not values.size:
        return []
    packed = {"dtype": "f4", "bdata": b64encode(values.astype("<f4").tobytes()).decode()}
    return packed | {"shape": ", ".join(map(str, values.shape))} if values.ndim > 1 else packed


def _points(line: CurveLine, trace: str, *, with_runs: bool) -> tuple[Floats, Floats]:
    """Return x and y of one trace: the outline of the band; runs one behind the other with gaps between; the mean."""
    if trace == "mean":
        return line.levels, line.mean
    if trace == "band":
        known = np.isfinite(line.low) & np.isfinite(line.high)
        levels, low, high = line.levels[known], line.low[known], line.high[known]
        return np.concatenate([levels, levels[::-1]]), np.concatenate([low, high[::-1]])
    runs = line.runs if with_runs else []
    gap = np.array([np.nan])
    x = [part for levels, _ in runs for part in (levels, gap)]
    y = [part for _, scores in runs for part in (scores, gap)]
    return (np.concatenate(x), np.concatenate(y)) if runs else (np.array([]), np.array([]))


def _said(line: CurveLine) -> str:
    """Return what is said of a level: mean, interval and number of runs."""
    has_interval = bool(np.isfinite(line.low + line.high).any())
    interval = " (%{customdata[0]:.4~g} to %{customdata[1]:.4~g})" if has_interval else ""
    runs = f", {count(line.n_runs, 'run')}" if line.n_runs else ""
    return f"%{{y:.4~g}}{interval}{runs}"


def _look(trace: str, name: str, place: int, panels: Sequence[CurvePanel]) -> dict[str, Any]:
    """Return how one trace of an algorithm looks; the mean stands in the legend for all three."""
    style = style_of(place)
    dash = _DASHES.get(style.linestyle, "dot") if place >= _SOLID else "solid"
    look: dict[str, Any] = {"name": _safe(name), "legendgroup": str(place), "showlegend": trace == "mean"}
    if trace == "mean":
        line = {"color": style.color, "width": 2.5, "dash": dash}
        few = all(len(each.levels) <= _FEW_LEVELS for panel in panels for each in panel.lines)
        return look | {"mode": "lines+markers" if few else "lines", "marker": {"size": 5}, "line": line}
    look |= {"mode": "lines", "hoverinfo": "skip"}
    if trace == "band":
        width = {"width": 0, "color": style.color}
        return look | {"fill": "toself", "fillcolor": _with_opacity(style.color), "line": width}
    return look | {"line": {"width": 1, "color": style.color}, "opacity": 0.0}


def _with_opacity(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{_OF_BAND})"


def _menus(
    panels: Sequence[CurvePanel],
    contents: Sequence[dict[str, list[Any]]],
    x_labels: Sequence[str],
    places: Sequence[int],
    *,
    is_log: bool,
    has_runs: bool,
) -> list[dict[str, Any]]:
    """Return the menu of panels, the buttons of both axes, and those of bands and runs."""
    every = list(range(len(_TRACES) * len(places)))
    of_band, of_runs = (every[_TRACES.index(trace) :: len(_TRACES)] for trace in ("band", "runs"))
    menus: list[dict[str, Any]] = []
    if len(panels) > 1:
        whole = {"xaxis.autorange": True, "yaxis.autorange": True}
        choices = []
        for panel, numbers, label in zip(panels, contents, x_labels, strict=True):
            layout = {**whole, "xaxis.title.text": _safe(label)}
            title = f"{_safe(panel.title)} (a choice resets the zoom)" if panel.title == _ALL else _safe(panel.title)
            choices.append({"label": title, "method": "update", "args": [numbers, layout, every]})
        menus.append({"type": "dropdown", "buttons": choices, "pad": {"l": 0, "b": _MENU_ABOVE}})

    # Opacity is for the buttons, visibility for the legend: neither undoes the other.
    switches = [_axis_switch("x", is_log=is_log), _axis_switch("y", is_log=False)]
    switches.append(_switch("bands", "restyle", [{"opacity": 1.0}, of_band], [{"opacity": 0.0}, of_band], is_on=True))
    if has_runs:
        on, off = [{"opacity": _OF_RUNS}, of_runs], [{"opacity": 0.0}, of_runs]
        switches.append(_switch("single runs", "restyle", on, off, is_on=False))
    for left, switch in zip(_BUTTONS, switches, strict=False):
        menus.append({"type": "buttons", **switch, "pad": {"l": left, "b": _BUTTONS_ABOVE}})
    shared = {"x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom", "showactive": True}
    return [{**shared, **menu} for menu in menus]


def _switch(label: str, method: str, on: list[Any], off: list[Any], *, is_on: bool) -> dict[str, Any]:
    """Return a button that is pressed or not; `args` are for the next press."""
    button = {"label": label, "method": method, "args": on, "args2": off}
    return {"buttons": [button], "active": 0 if is_on else -1}


def _axis_switch(axis: str, *, is_log: bool) -> dict[str, Any]:
    to = {kind: [{f"{axis}axis.type": kind, f"{axis}axis.autorange": True}] for kind in ("linear", "log")}
    return _switch(f"log {axis}", "relayout", to["log"], to["linear"], is_on=is_log)
