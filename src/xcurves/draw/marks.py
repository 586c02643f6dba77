"""Points of curves in matplotlib, with their intervals, thick spans, and entries of legends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xcurves.pictures.curves import Key, Points, Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 0.6  # of a mark, of the height of letters
_EDGE: dict[str, Any] = {"markeredgecolor": "black", "markeredgewidth": 0.5}


def draw_points(ax: Axes, points: Points) -> None:
    """Draw marks with bars to the ends of their intervals, and what stands beside each."""
    size = _SIZE * points.size * float(ax.xaxis.label.get_fontsize())
    if points.colors:
        look: dict[str, Any] = {"edgecolors": "black", "linewidths": 0.5, "zorder": 3, "gid": points.flag}
        ax.scatter(points.x, points.y, s=size**2, c=list(points.colors), marker=points.style.marker, **look)
    else:
        _draw_alike(ax, points, size)
    behind = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.6}
    for x, y, text in zip(points.x, points.y, points.texts, strict=False):
        ax.annotate(text, (x, y), (4, -2), textcoords="offset points", va="top", bbox=behind)


def _draw_alike(ax: Axes, points: Points, size: float) -> None:
    style = points.style
    look: dict[str, Any] = {
        "color": style.color,
        "marker": style.marker,
        "markersize": size,
        "linestyle": style.linestyle if points.joined else "",
        "label": points.name or None,
        "gid": points.flag,
        "zorder": 3,
    }
    if not points.filled:
        look |= {"markerfacecolor": "white", "markeredgecolor": style.color}
    elif points.edged:
        look |= _EDGE
    if points.x_ends is None and points.y_ends is None:
        ax.plot(points.x, points.y, **look)
        return
    if points.joined:
        look |= {"linewidth": 1.2, "elinewidth": 0.8}
    else:
        look["capsize"] = 3
    flag = look.pop("gid")  # of the marks, not of the ends of their bars
    ax.errorbar(points.x, points.y, xerr=points.x_arms, yerr=points.y_arms, **look).lines[0].set_gid(flag)


def draw_span(ax: Axes, span: Span) -> None:
    """Draw a thick stretch at one height."""
    ax.hlines(span.y, span.low, span.high, color=span.color, linewidth=span.width, alpha=span.opacity)


def is_alone(ax: Axes) -> bool:
    """Return whether a panel is the only one, so that a name may have more behind it."""
    return len(ax.figure.axes) == 1


def draw_key(ax: Axes, key: Key) -> None:
    """Add an entry to the legend, with what stands behind its name where the panel is the only one."""
    name, flag = key.name, None
    if is_alone(ax):
        name, flag = ": ".join(filter(None, (key.name, key.more))), key.flag
    ax.plot([], [], label=name or None, gid=flag, **key.style._asdict(), **_EDGE)
