"""Curves as a figure of Plotly: hover, zoom, a menu of tasks, algorithms to switch off and on."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, run_checks
from xcurves.core.labels import CI_BOUNDS, each_of
from xcurves.core.provenance import SCORE_NAME
from xcurves.core.refusal import UNSAID, Cure, Refusal, call, escape_controls
from xcurves.core.validation import check_curves
from xcurves.plotting.curve_lines import (
    CurveLine,
    CurvesPicture,
    check_smooth,
    drawn,
    drawn_band,
    is_uneven,
    over_tasks,
    panels_of,
    score_label,
)
from xcurves.plotting.look import Style, style_in, with_styles
from xcurves.results import prepare
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import count, label_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_COLUMNS = 200  # of pixels, each with the lowest and the highest value of a line
_MOST_NUMBERS = 10**6  # of single runs
_ALL = "all tasks"
_TRACES = ("band", "runs", "mean")  # of each algorithm, from below
_OF_BAND, _OF_RUNS = 0.2, 0.45  # opacity
_BUTTONS = (0, 60, 120, 184)  # where they begin, in pixels
_MENU_ABOVE, _BUTTONS_ABOVE = 46, 8  # the panel, in pixels
_FEW_LEVELS = 12  # that have markers
_SCORE = re.compile(r"\bscore\b")
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

    Lines of many levels are drawn by the lowest and the highest value of each column of pixels. With more than a
    million numbers, single runs are there for the first entry of the menu only; the title says so.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> figure = scores.curves.explore()
    >>> [trace.name for trace in figure.data if trace.showlegend]
    ['rate 0.001', 'rate 0.8', 'rate 0.1']
    """
    graph_objects = _import_plotly()
    weight = check_smooth(smooth)
    if not isinstance(data, xr.Dataset):
        return _figure(graph_objects, _pictures_of_curves(data, weight))
    if weight:
        raise Refusal(
            "smooth",
            UNSAID,
            f"is for curves; got {smooth} with a result, whose bands are its own",
            "Leave it out",
        )
    return _figure(graph_objects, _pictures_of_result(data))


def _import_plotly() -> Any:
    try:
        from plotly import graph_objects
    except ModuleNotFoundError:
        raise ModuleNotFoundError("explore needs plotly. Install it: pip install 'xcurves[interactive]'") from None
    return graph_objects


def _pictures_of_curves(data: xr.DataArray, weight: float) -> list[CurvesPicture]:
    """Return the picture of each task, after that of all tasks where there are several."""
    curves = check_curves(data, own_levels=True).compute()
    run_checks.check_drawable(curves)
    pictures = panels_of(curves, smooth=weight)
    if len(pictures) == 1:
        return pictures
    mean = over_tasks(pictures, y_label=score_label(curves, weight, of_means=True, over="tasks"))
    if not mean.lines:
        return pictures
    return [replace(mean, title=_ALL), *pictures]


def _pictures_of_result(data: xr.Dataset) -> list[CurvesPicture]:
    """Return a picture for each task of a result."""
    kind, result = prepare(data)
    known = [each for each in kind.curves_with_bands() if {*each} <= set(result.data_vars)]
    if not known:
        raise Refusal(
            "data",
            UNSAID,
            f"a result of {kind.name} has no curves to explore",
            Cure("Its pictures: ", call(".curves.plot")),
        )
    name, band = known[0]
    who, along = kind.variables[name].core
    dims = [dim for dim in result[name].dims if dim not in (who, along)]
    titles = [""]
    stacked = result[[name, band]].expand_dims("one")
    if dims:
        titles = [title.removesuffix(": ") for title in labels.task_prefixes(result, dims)]
        stacked = result[[name, band]].stack(one=dims)
    of_x = along
    if along in result.coords:
        of_x = label_of(result[along])
    long_name = str(result[name].attrs.get("long_name", name))
    if SCORE_NAME in result.attrs:
        long_name = _SCORE.sub(lambda _: score_name(result), long_name)
    of_y = label_of(result[name].assign_attrs(long_name=long_name))
    styles = [style_in(one, who) for one in each_of(with_styles(result, {}), who)]
    pictures = []
    for place, title in enumerate(titles):
        lines = _lines_of_result(stacked.isel(one=place), (name, band), (who, along), styles)
        pictures.append(CurvesPicture(escape_controls(title), lines, of_x, of_y))
    levels = next((picture.levels for picture in pictures if picture.lines), np.array([]))
    xscale = "log" if is_uneven(levels) and levels[0] > 0 else "linear"
    return [replace(picture, xscale=xscale) for picture in pictures]


def _lines_of_result(
    task: xr.Dataset,
    names: tuple[str, str],
    dims: tuple[str, str],
    styles: Sequence[Style],
) -> list[CurveLine]:
    """Return the curves of one task that have values."""
    name, band = names
    who, along = dims
    lines = []
    for place, label in enumerate(task[who].to_numpy().tolist()):
        one = task.isel({who: place})
        mean = one[name].to_numpy()
        known = np.isfinite(mean)
        if not known.any():
            continue
        low, high = (one[band].sel(ci_bound=bound).to_numpy()[known] for bound in CI_BOUNDS)
        levels = one[along].to_numpy()[known].astype(float)
        said = escape_controls(str(label))
        lines.append(CurveLine(said, place, styles[place], levels, mean[known], low, high, 0, []))
    return lines


def _figure(graph_objects: Any, pictures: Sequence[CurvesPicture]) -> Figure:
    """Return the figure, which shows the first picture."""
    lines = {line.place: line for picture in pictures for line in picture.lines}
    places = sorted(lines)

    # Both buttons of the x axis keep what is to be seen: columns of pixels are those of either scale.
    short = [
        replace(
            picture,
            lines=[drawn(line, _COLUMNS, "linear", "log") for line in picture.lines],
        )
        for picture in pictures
    ]
    n_numbers = sum(2 * len(levels) for picture in short for line in picture.lines for levels, _ in line.runs)
    has_all_runs = n_numbers <= _MOST_NUMBERS
    with_runs = [at for at, picture in enumerate(short) if any(line.runs for line in picture.lines)]
    first_with_runs = next(iter(with_runs), 0)
    note = None
    if not has_all_runs:
        kept = _safe(short[first_with_runs].title) or "this one"
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
        bands = {line.place: drawn_band(line, _COLUMNS, "linear", "log") for line in whole.lines}
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
    is_log = pictures[0].xscale == "log"
    layout = {
        "template": "plotly_white",
        "hovermode": "x unified",
        "title": note,
        "xaxis": {
            "title": {"text": _safe(pictures[0].x_label)},
            "type": "log" if is_log else "linear",
        },
        "yaxis": {"title": {"text": _safe(pictures[0].y_label)}},
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "groupclick": "togglegroup",
        },
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
    return graph_objects.Figure({"data": traces, "layout": layout})


def _safe(words: str) -> str:
    """Return words that Plotly shows as they are: it reads some tags, and formulas between dollars."""
    return escape(words, quote=False).replace("$", "&#36;")


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
            points["mean"] = (line.levels, line.mean)
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


def _said(line: CurveLine) -> str:
    """Return what is said of a level: mean, interval and number of runs."""
    parts = ["%{y:.4~g}"]
    if line.has_band:
        parts.append(" (%{customdata[0]:.4~g} to %{customdata[1]:.4~g})")
    if line.n_runs:
        parts.append(f", {count(line.n_runs, 'run')}")
    return "".join(parts)


def _look(trace: str, line: CurveLine, pictures: Sequence[CurvesPicture]) -> dict[str, Any]:
    """Return how one trace of an algorithm looks; the mean stands in the legend for all three."""
    colour = line.style.color
    look: dict[str, Any] = {
        "name": _safe(line.name),
        "legendgroup": str(line.place),
        "showlegend": trace == "mean",
    }
    if trace == "mean":
        few = all(len(each.levels) <= _FEW_LEVELS for picture in pictures for each in picture.lines)
        look["mode"] = "lines"
        if few:
            look["mode"] = "lines+markers"
        look["marker"] = {"size": 5}
        return look | {"line": {"width": 2.5, "color": colour, "dash": _dash(line.style.linestyle)}}
    look |= {"mode": "lines", "hoverinfo": "skip"}
    if trace == "band":
        return look | {
            "fill": "toself",
            "fillcolor": _with_opacity(colour),
            "line": {"width": 0, "color": colour},
        }
    return look | {"line": {"width": 1, "color": colour}, "opacity": 0.0}


def _dash(linestyle: Any) -> str:
    """Return Plotly's name of a line style; those that it has no name for are dotted."""
    if not isinstance(linestyle, str):
        return "dot"
    return _DASHES.get(linestyle, "dot")


def _with_opacity(colour: str) -> str:
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
        choices = []
        for picture, numbers in zip(pictures, contents, strict=True):
            layout = {
                **whole,
                "xaxis.title.text": _safe(picture.x_label),
                "yaxis.title.text": _safe(picture.y_label),
            }
            title = _safe(picture.title)
            if picture.title == _ALL:
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
