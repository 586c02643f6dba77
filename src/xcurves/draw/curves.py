"""Curves in matplotlib: single runs below bands, lines and points; of long lines a value or two for each pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xcurves.draw.drawn_names import write_label
from xcurves.draw.marks import draw_key, draw_points, draw_span, is_alone
from xcurves.draw.pair_bars import draw_pair_bars
from xcurves.draw.ticks import label_narrow, rescale, scale_levels
from xcurves.pictures.curves import Bars, CurvesPicture, Line, Rule, Scale, Shade
from xcurves.pictures.styles import SHADE
from xcurves.pictures.thinned import thinned, thinned_bands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKED = 10  # levels that have a marker each where they are uneven
_UNEVEN = 1.5  # ratio of steps on the axis
_THIN, _FAINT = 0.7, 0.12  # opacity of one or two runs, and of many
_COLUMNS = 72  # of pixels in an inch, as many as an SVG has
_LEAST_COLUMNS, _MOST_COLUMNS = 100, 500  # more would make files large
_BESIDE_LINES, _BESIDE_POINTS = 0.02, 0.05  # margins of the x axis, as shares of it
_OF_LABEL = 40  # letters in a line of the label of x
_HEIGHT_OF_BARS = 0.02  # of the panel


def draw_curves(ax: Axes, picture: CurvesPicture) -> None:
    """Draw curves on one Axes."""
    write_label(ax.yaxis.label, picture.y.label)
    if not picture.lines and not picture.points:
        ax.set_xlabel(picture.x.label)
        ax.text(0.5, 0.5, picture.empty, transform=ax.transAxes, ha="center", va="center", wrap=True)
        return
    if picture.y.kind != "linear":
        ax.set_yscale(picture.y.kind)
    _scale(ax, picture)
    rescale(ax, picture.x.asked, picture.y.asked)
    for rule in picture.rules:
        _draw_rule(ax, rule)
    for shade in picture.shades:
        _draw_shade(ax, shade)
    for line in picture.lines:
        if line.shows_runs:
            _draw_runs(ax, line)
        if line.has_band:
            _draw_band(ax, line, picture.band)
        _draw_line(ax, line)
    for span in picture.spans:
        draw_span(ax, span)
    for points in picture.points:
        draw_points(ax, points)
    for key in picture.keys:
        draw_key(ax, key)
    if picture.bars is not None and picture.bars.shown.any():
        _draw_bars(ax, picture.bars)
    ax.grid(axis="y", color="0.9")
    has_points = picture.points or any(line.marked == "all" for line in picture.lines)
    ax.margins(x=_BESIDE_POINTS if has_points else _BESIDE_LINES)
    _limit(ax, picture.x, picture.y)
    label_narrow(ax.yaxis)
    if picture.x.names:
        ax.set_xticks(range(len(picture.x.names)), picture.x.names, rotation=45, ha="right")
    if picture.below:
        draw_pair_bars(ax, picture.below, picture.x.asked)
    ax.set_gid("; ".join(sorted(picture.said)))


def _scale(ax: Axes, picture: CurvesPicture) -> None:
    """Label the x axis and give it the kind that all panels have."""
    levels = picture.levels
    # that of another panel begins at 0
    if picture.x.kind == "symlog" and levels[0] > 0:
        levels = np.concatenate([[0.0], levels])
    scale_levels(ax, levels, picture.x.kind)
    write_label(ax.xaxis.label, picture.x.label, _OF_LABEL)
    if picture.x.whole:
        ax.locator_params("x", integer=True)


def _limit(ax: Axes, x: Scale, y: Scale) -> None:
    """Set the ends that axes are to have, as far as their scales have them; panels that share one hold all ends."""
    if x.low is not None and x.high is not None and x.low < x.high:
        ax.set_xlim(x.low, x.high)
    low, high = y.low, y.high
    if low is not None and low <= 0 and ax.get_yscale() == "log":
        low = None
    others = ax.get_shared_y_axes().get_siblings(ax)
    if low is not None and high is not None and any(other is not ax and other.has_data() for other in others):
        before = ax.get_ylim()
        low, high = min(low, before[0]), max(high, before[1])
    if low is not None or high is not None:  # panels that share an axis go on to fit what they show
        ax.set_ylim(bottom=low, top=high)


def _columns(ax: Axes) -> int:
    """Return how many columns of pixels a panel has."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    return int(np.clip(_COLUMNS * inches, _LEAST_COLUMNS, _MOST_COLUMNS))


def _draw_rule(ax: Axes, rule: Rule) -> None:
    look: dict[str, Any] = {"color": rule.color, "linestyle": rule.linestyle, "linewidth": rule.width, "zorder": 1}
    look["gid"] = rule.flag
    if rule.axis == "x":
        ax.axvline(rule.at, **look)
        return
    ax.axhline(rule.at, **look)
    if rule.said:
        ax.annotate(rule.said, (1, rule.at), (-2, -2), xycoords=("axes fraction", "data"), ha="right", va="top",
                    textcoords="offset points", fontsize="small", color="0.4")  # fmt: skip


def _draw_shade(ax: Axes, shade: Shade) -> None:
    look: dict[str, Any] = {"color": shade.color, "alpha": shade.opacity, "linewidth": 0, "gid": shade.flag}
    ax.fill_between(shade.x, shade.low, shade.high, label=shade.name, **look)


def _draw_runs(ax: Axes, line: Line) -> None:
    """Draw each run through the levels that it has, up to its last one."""
    for levels, scores in thinned(line, _columns(ax), ax.get_xscale()).runs:
        look: dict[str, Any] = {"linewidth": 0.7, "linestyle": "-", "zorder": 1.5}
        look["alpha"] = max(_FAINT, min(1, 2 / line.n_runs) * _THIN)
        if len(levels) == 1:
            look["marker"] = "."
        ax.plot(levels, scores, color=line.style.color, **look)


def _draw_band(ax: Axes, line: Line, flag: str) -> None:
    shade: dict[str, Any] = {"color": line.style.color, "alpha": SHADE, "zorder": 2}
    for levels, low, high in thinned_bands(line, _columns(ax), ax.get_xscale()):
        ax.fill_between(levels, low, high, step=line.steps, linewidth=0, gid=flag, **shade)
        if len(levels) == 1:
            ax.vlines(levels, low, high, linewidth=6, **shade)


def _draw_line(ax: Axes, line: Line) -> None:
    shown = thinned(line, _columns(ax), ax.get_xscale())
    points = float(ax.xaxis.label.get_fontsize())
    look: dict[str, Any] = {
        "color": line.style.color,
        "linestyle": line.style.linestyle,
        "linewidth": 0.18 * points * line.width,
        "zorder": 2.5,
        "gid": line.flag,
    }
    if line.steps is not None:
        look["drawstyle"] = f"steps-{line.steps}"
    if _has_markers(ax, line):
        look |= {"marker": line.style.marker, "markersize": 0.5 * points}
        look |= {"markeredgecolor": "white", "markeredgewidth": 0.5}
    label = line.name + line.more if is_alone(ax) else line.name
    ax.plot(shown.x, shown.y, label=label or None, **look)


def _has_markers(ax: Axes, line: Line) -> bool:
    """Return whether a line has markers: at one level only always."""
    if len(line.x) == 1 or line.marked == "all":
        return True
    if line.marked == "none" or not 2 < len(line.x) <= _MARKED:
        return False
    steps = np.diff(ax.xaxis.get_transform().transform(line.x))
    return bool(steps.max() > _UNEVEN * steps.min())


def _draw_bars(ax: Axes, bars: Bars) -> None:
    """Draw a bar under stretches of neighbouring levels, a square under a single one."""
    heights = np.where(bars.shown, _HEIGHT_OF_BARS, np.nan)
    look: dict[str, Any] = {"color": "black", "linewidth": 4, "markersize": 4, "solid_capstyle": "butt"}
    ax.plot(bars.x, heights, "s-", label=bars.name, gid=bars.flag, transform=ax.get_xaxis_transform(), **look)
