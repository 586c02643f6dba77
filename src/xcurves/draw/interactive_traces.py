"""What one picture of curves shows in Plotly: lines, bands and runs, shades, spans, marks, keys, bars below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xcurves.array_types import Floats
from xcurves.draw.interactive_look import SYMBOLS, css, dash_of, safe_words, with_opacity
from xcurves.pictures.curves import CurvesPicture, Key, Line, PairBars, Points, Shade, Span
from xcurves.pictures.styles import SHADE
from xcurves.pictures.thinned import thinned, thinned_bands
from xcurves.say.numbers import count

_COLUMNS = 200  # of pixels, each with the lowest and the highest value of a line
_SHAPES = {"mid": "hvh", "post": "hv", None: "linear"}
_FEW_LEVELS = 12  # that have markers
_SIZE = 7  # of marks, in pixels
_WIDTH = 2.5  # of a line, in pixels
_SILENT = {"showlegend": False, "hoverinfo": "skip"}
_GAP = np.array([np.nan])
NOTHING = np.array([])
_DARK = "#404040"
PARTS = ("shade", "runs", "band", "line", "span", "points", "key", "below")  # from below


class Trace(NamedTuple):
    """One trace: what it is a part of, its numbers, how it looks."""

    part: str
    group: str  # the algorithm or pair that the legend switches with all that is of it
    x: Floats
    y: Floats
    look: dict[str, Any]
    ends: Floats | None = None  # of the intervals that are said where the pointer is, shape (point, 2)
    place: int = 0  # among those of its part


def traces_of(picture: CurvesPicture) -> list[Trace]:
    """Return all traces of a picture."""
    found = [trace for line in picture.lines for trace in _of_line(line)]
    found += map(_of_shade, picture.shades)
    found += map(_of_span, picture.spans)
    found += map(_of_points, picture.points)
    found += [_of_key(key) for key in picture.keys if key.name]
    return found + rows_below(picture)


def rows_below(picture: CurvesPicture) -> list[Trace]:
    """Return the bars below a picture, each in a row of its own, the first at 0: where pairs, or all, differ."""
    rows = []
    if picture.bars is not None and picture.bars.shown.any():
        y = np.where(picture.bars.shown, 0.0, np.nan)
        rows.append((picture.bars.name, picture.bars.x, y, "lines+markers"))
    for pair in picture.below:
        x = np.column_stack([pair.low, pair.high, np.full(len(pair.low), np.nan)]).ravel()
        rows.append((_name_of(pair), x, np.zeros(len(x)), "lines"))
    bar = {"line": {"width": 4, "color": _DARK}, "marker": {"symbol": "square", "size": 4}, "yaxis": "y2", **_SILENT}
    return [
        Trace("below", "", x, y + at, {**bar, "name": name, "mode": mode}) for at, (name, x, y, mode) in enumerate(rows)
    ]


def _name_of(pair: PairBars) -> str:
    """Return which of two is better, with the colours of both."""
    better, other = (f'<span style="color:{css(color)}">●</span>' for color in pair.colors)
    return f"{better} &gt; {other} {safe_words(pair.name)}"


def _of_line(line: Line) -> list[Trace]:
    """Return the runs of a curve or distribution, its band, and the line itself, which says all at the pointer."""
    group, shown = line.of or line.name, thinned(line, _COLUMNS, "linear", "log")
    hidden = {"mode": "lines", "line": {"width": 1, "color": css(line.style.color)}, "opacity": 0.0, **_SILENT}
    outline = [_outline(*band, line.steps) for band in thinned_bands(line, _COLUMNS, "linear", "log")]
    look = {
        "mode": "lines+markers" if _has_markers(line) else "lines",
        "marker": {"size": 5},
        "line": {
            "width": _WIDTH * line.width,
            "color": css(line.style.color),
            "dash": dash_of(line.style.linestyle),
            "shape": _SHAPES[line.steps],
        },
        "showlegend": bool(line.name),
        "hovertemplate": _said(line.n_runs, has_interval=line.has_band),
    }
    ends = np.column_stack([shown.low, shown.high]) if line.has_band else None
    traces = [
        Trace("runs", group, *_joined(shown.runs), hidden),
        Trace("band", group, *_joined(outline), _filled(line.style.color, SHADE)),
        Trace("line", group, shown.x, shown.y, look, ends),
    ]
    return [trace._replace(look={**trace.look, "name": safe_words(line.name + line.more or group)}, place=line.place)
            for trace in traces]  # fmt: skip


def _has_markers(line: Line) -> bool:
    return len(line.x) == 1 or line.marked == "all" or (line.marked == "few" and len(line.x) <= _FEW_LEVELS)


def _said(n_runs: int = 0, *, has_interval: bool) -> str:
    """Return what is said of a point: its value, its interval and its number of runs."""
    parts = ["%{y:.4~g}"]
    if has_interval:
        parts.append(" (%{customdata[0]:.4~g} to %{customdata[1]:.4~g})")
    if n_runs:
        parts.append(f", {count(n_runs, 'run')}")
    return "".join(parts)


def _outline(x: Floats, low: Floats, high: Floats, steps: str | None = None) -> tuple[Floats, Floats]:
    """Return x and y around a band: along its lower end, and back along its upper one."""
    if steps is not None:
        changes = x[1:] if steps == "post" else (x[1:] + x[:-1]) / 2
        x = np.concatenate([x[:1], np.repeat(changes, 2), x[-1:]])
        low, high = np.repeat(low, 2), np.repeat(high, 2)
    return np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]])


def _joined(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return x and y of lines one behind the other, with gaps between them."""
    x, y = [NOTHING], [NOTHING]
    for levels, scores in parts:
        x += [levels, _GAP]
        y += [scores, _GAP]
    return np.concatenate(x), np.concatenate(y)


def _filled(color: str, opacity: float) -> dict[str, Any]:
    line = {"width": 0, "color": css(color)}
    return {"mode": "lines", "fill": "toself", "fillcolor": with_opacity(color, opacity), "line": line, **_SILENT}


def _of_shade(shade: Shade) -> Trace:
    """Return what lies between two curves, where both are known."""
    x, y = _joined([_outline(shade.x[part], shade.low[part], shade.high[part]) for part in shade.stretches])
    named = {"name": safe_words(shade.name or shade.of), "showlegend": bool(shade.name)}
    return Trace("shade", shade.of or shade.name, x, y, {**_filled(shade.color, shade.opacity), **named})


def _of_span(span: Span) -> Trace:
    line = {"color": css(span.color), "width": span.width}
    look = {"mode": "lines", "line": line, "opacity": span.opacity, **_SILENT}
    return Trace("span", span.of, np.array([span.low, span.high]), np.full(2, span.y), look)


def _of_points(points: Points) -> Trace:
    """Return marks with the bars of their intervals."""
    color, group = css(points.style.color), points.of or points.name
    inner: Any = color if points.filled else "white"
    if points.colors:
        inner = list(points.colors)
    edge = "black" if points.edged or points.colors else color
    marker = {"symbol": SYMBOLS[points.style.marker], "size": _SIZE * points.size, "color": inner}
    mode = "lines+markers" if points.joined else "markers"
    look: dict[str, Any] = {
        "mode": mode,
        "marker": {**marker, "line": {"color": edge, "width": 1}},
        "line": {"color": color, "dash": dash_of(points.style.linestyle)},
        "name": safe_words(group),
        "showlegend": bool(points.name),
        "hovertemplate": _said(has_interval=points.y_ends is not None),
    }
    for axis, arms in (("error_x", points.x_arms), ("error_y", points.y_arms)):
        if arms is not None:
            down, up = arms.tolist()
            look[axis] = {"symmetric": False, "thickness": 1, "array": up, "arrayminus": down}
    if points.texts:
        look |= {"mode": f"{mode}+text", "text": list(map(safe_words, points.texts)), "textposition": "bottom right"}
    ends = None if points.y_ends is None else points.y_ends.T
    return Trace("points", group, points.x, points.y, look, ends)


def _of_key(key: Key) -> Trace:
    """Return an entry of the legend that stands for all that is of one algorithm or pair."""
    line = {"color": css(key.style.color), "dash": dash_of(key.style.linestyle)}
    marker = {"symbol": SYMBOLS[key.style.marker], "size": _SIZE}
    look = {"mode": "lines+markers", "line": line, "marker": marker, "name": safe_words(key.name), "showlegend": True}
    return Trace("key", key.name, _GAP, _GAP, look)
