"""Small pictures of the curves of each task, as SVG within the page: a mean and a band for each algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from xcurves.array_types import Floats, Index
from xcurves.pictures.curves import CurvesPicture, Line, is_uneven
from xcurves.pictures.styles import Style
from xcurves.pictures.thinned import thinned
from xcurves.reporting import markup

_WIDE, _HIGH = 600, 340  # whole numbers suffice within
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 16, 16, 40  # margins
_MOST_LEVELS, _LEAST_LEVELS = 60, 24  # of a line
_ALL_LEVELS = 15_000  # of all lines of a page
_STEPS = (1, 2, 2.5, 5, 10)
_TICKS = 3
_DASHES = {"-": "", "--": "12 6", "-.": "12 4 2 4"}


def levels_drawn(panels: Sequence[CurvesPicture]) -> int:
    """Return how many levels each line has at most, so that a page of many tasks stays small."""
    n_lines = sum(len(panel.lines) for panel in panels)
    return min(_MOST_LEVELS, max(_LEAST_LEVELS, _ALL_LEVELS // max(n_lines, 1)))


def small_picture(panel: CurvesPicture, alternative: str, most: int) -> str:
    """Return the picture of one task, of so many levels."""
    lines = [replace(line, runs=[]) for line in panel.lines if len(line.x)]
    if not lines:
        return ""
    x_axis = _XAxis(lines)
    lines = [thinned(line, most // 2, x_axis.scale) for line in lines]
    y_axis = _YAxis(lines)
    parts = [_grid(y_axis), *_level_labels(x_axis)]
    parts += [_band(line, x_axis, y_axis) for line in lines]
    parts += [_mean(line, x_axis, y_axis) for line in lines]
    return (
        f'<svg class="small" viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="{markup.text(alternative)}">'
        f"{''.join(parts)}</svg>"
    )


def small_legend(lines: Sequence[Line]) -> str:
    """Return the names of algorithms, each with its line."""
    entries = []
    for line in lines:
        stroke = _stroke(line.style, 5)
        sample = f'<svg class="key" viewBox="0 0 52 16" aria-hidden="true"><path d="M0 8H52" {stroke}/></svg>'
        entries.append(f"<span>{sample}{markup.text(line.name)}</span>")
    return f'<p class="legend">{"".join(entries)}</p>'


class _XAxis:
    """From training to the picture, linear or log."""

    def __init__(self, lines: Sequence[Line]) -> None:
        levels = np.unique(np.concatenate([line.x for line in lines]))
        self.first, self.last = float(levels[0]), float(levels[-1])
        positive = levels[levels > 0]
        self.least = float(positive[0]) if is_uneven(levels) and positive.size else None
        self.scale = "linear" if self.least is None else "log"
        self.ends = self._scaled(np.array([self.first, self.last]))

    def _scaled(self, levels: Floats) -> Floats:
        if self.least is None:
            return levels
        return np.asarray(np.log2(np.maximum(levels, self.least / 2)))

    def place(self, levels: Floats) -> Floats:
        low, high = self.ends
        share = (self._scaled(levels) - low) / (high - low) if high > low else np.full(len(levels), 0.5)
        return np.asarray(_LEFT + share * (_WIDE - _LEFT - _RIGHT))


class _YAxis:
    """From scores to the picture, linear, with ticks at round numbers."""

    def __init__(self, lines: Sequence[Line]) -> None:
        every = np.concatenate([np.concatenate([line.y, line.low, line.high]) for line in lines])
        every = every[np.isfinite(every)]
        low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        self.low, self.high = low, high
        step = _round_step((high - low) / _TICKS)
        self.ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        self.decimals = max(
            0,
            -int(np.floor(np.log10(step) + 1e-9)) + (step / 10 ** np.floor(np.log10(step)) == 2.5),
        )

    def place(self, values: Floats) -> Floats:
        share = (np.asarray(values) - self.low) / (self.high - self.low)
        return np.asarray(_HIGH - _BOTTOM - share * (_HIGH - _TOP - _BOTTOM))


def _round_step(step: float) -> float:
    """Return the next larger round number."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(each * power for each in _STEPS if each * power >= step * (1 - 1e-9)))


def _grid(axis: _YAxis) -> str:
    made = []
    for tick, y in zip(axis.ticks.tolist(), axis.place(axis.ticks).tolist(), strict=True):
        label = _short(tick, axis.decimals)
        made.append(f'<path class="grid" d="M{_LEFT} {y:.0f}H{_WIDE - _RIGHT}"/>')
        made.append(f'<text x="{_LEFT - 10}" y="{y + 8:.0f}" text-anchor="end">{label}</text>')
    return "".join(made)


def _level_labels(axis: _XAxis) -> list[str]:
    """Return the labels of the first and the last level."""
    ends: list[tuple[float, float, str]] = [
        (axis.first, _LEFT, "start"),
        (axis.last, _WIDE - _RIGHT, "end"),
    ]
    if axis.first == axis.last:
        ends = [(axis.first, (_LEFT + _WIDE - _RIGHT) / 2, "middle")]
    y = _HIGH - 10
    return [f'<text x="{x:.0f}" y="{y}" text-anchor="{anchor}">{_short(level)}</text>' for level, x, anchor in ends]


def _short(value: float, decimals: int | None = None) -> str:
    """Return a number in few letters: 20, 1.5, 20k, 1.5M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= max(size, 1e4):
            return f"{value / size:.4g}{unit}".replace("-", "−")
    said = f"{value:g}" if decimals is None else f"{value + 0.0:.{decimals}f}"
    return said.replace("-", "−")


def _points(x: Floats, y: Floats) -> str:
    return " ".join(f"{a:.0f},{b:.0f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _band(line: Line, x_axis: _XAxis, y_axis: _YAxis) -> str:
    return "".join(_stretch(line, part, x_axis, y_axis) for part in line.stretches)


def _stretch(line: Line, part: Index, x_axis: _XAxis, y_axis: _YAxis) -> str:
    x = x_axis.place(line.x[part])
    low, high = y_axis.place(line.low[part]), y_axis.place(line.high[part])
    if len(x) == 1:
        return f'<path d="M{x[0]:.0f} {low[0]:.0f}V{high[0]:.0f}" {_stroke(line.style, 12)} opacity=".25"/>'
    around = _points(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]))
    return f'<polygon points="{around}" fill="{line.style.color}" opacity=".18"/>'


def _mean(line: Line, x_axis: _XAxis, y_axis: _YAxis) -> str:
    x, y = x_axis.place(line.x), y_axis.place(line.y)
    if len(x) == 1:
        return f'<circle cx="{x[0]:.0f}" cy="{y[0]:.0f}" r="6" fill="{line.style.color}"/>'
    return f'<polyline points="{_points(x, y)}" {_stroke(line.style, 3.5)}/>'


def _stroke(style: Style, width: float) -> str:
    if isinstance(style.linestyle, tuple):
        dash = " ".join(f"{4 * each:g}" for each in style.linestyle[1])
    else:
        dash = _DASHES.get(style.linestyle, "")
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{style.color}" stroke-width="{width:g}"{dashes}'
