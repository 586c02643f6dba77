"""Curves, as plain data: lines with bands and single runs, shades, points, bars along the bottom, rules; both axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats, Index
from xcurves.core.schema import Picture
from xcurves.pictures.styles import Style
from xcurves.say.numbers import label_of

_EVEN = 4.0  # largest ratio of steps, and of the last levels of lines, on a linear scale


def _none() -> Floats:
    """Return no numbers."""
    return np.array([])


def _stretches(known: Bools, breaks: Bools) -> list[Index]:
    """Return the known levels, in parts that have no break inside."""
    levels = np.flatnonzero(known)
    n_breaks = np.cumsum(breaks)
    parts = np.split(levels, np.flatnonzero(np.diff(n_breaks[levels])) + 1)
    return [part for part in parts if part.size]


@dataclass(frozen=True)
class Line:
    """One curve, with the band around it and the runs whose mean it is, if it has them."""

    name: str  # as a legend has it; "" for none
    style: Style
    x: Floats
    y: Floats
    low: Floats = field(default_factory=_none)  # of its band, NaN where there is none; empty: nowhere
    high: Floats = field(default_factory=_none)
    flag: str | None = None  # as captions name it
    # Where markers stand: at levels that are few and unevenly spaced, at all, or nowhere.
    marked: Literal["few", "all", "none"] = "none"
    steps: Literal["mid", "post"] | None = None  # a change is drawn amid two of x, or at the second
    width: float = 1.0  # of the usual one
    place: int = 0  # of its algorithm or pair in its coordinate
    n_runs: int = 0
    runs: Sequence[tuple[Floats, Floats]] = ()  # levels and scores of each
    shows_runs: bool = False  # whether they are seen unasked
    grid: Floats | None = None  # all levels of its runs, by which the axis is scaled; None: x
    of: str = ""  # the algorithm or pair, where the name is not its own
    more: str = ""  # behind the name, where the panel is the only one
    given: str = ""  # how the result names the pair
    is_turned: bool = False  # whether the pair is the other way round in the result

    @property
    def on_axis(self) -> Floats:
        """The levels by which the axis is scaled."""
        if self.grid is None:
            return self.x
        return self.grid

    @property
    def known_band(self) -> Bools:
        """Where the band has both ends."""
        if not self.low.size:
            return np.zeros(len(self.x), bool)
        return np.asarray(np.isfinite(self.low) & np.isfinite(self.high))

    @property
    def stretches(self) -> list[Index]:
        """The levels with a band, in parts: a band goes on where its line does, and breaks where the line breaks."""
        is_drawn = np.isfinite(self.y)
        return _stretches(self.known_band & is_drawn, ~is_drawn)

    @property
    def has_band(self) -> bool:
        """Whether any level has a band."""
        return bool(self.known_band.any())


@dataclass(frozen=True)
class Shade:
    """What lies between two curves, with a name of its own."""

    name: str
    x: Floats
    low: Floats
    high: Floats
    color: str
    opacity: float
    flag: str | None = None
    of: str = ""  # the algorithm

    @property
    def stretches(self) -> list[Index]:
        """The levels with both ends, in parts without gaps."""
        known = np.isfinite(self.low) & np.isfinite(self.high)
        return _stretches(known, ~known)


@dataclass(frozen=True)
class Points:
    """Marks of one look, with bars to the ends of their intervals."""

    x: Floats
    y: Floats
    style: Style
    name: str = ""  # as a legend has it
    x_ends: Floats | None = None  # of intervals along x, shape (2, point)
    y_ends: Floats | None = None
    joined: bool = False  # by a line
    filled: bool = True
    edged: bool = False  # by a black line
    size: float = 1.0  # of the usual one
    colors: Sequence[str] = ()  # of each, where they differ
    texts: Sequence[str] = ()  # beside each
    flag: str | None = None
    of: str = ""  # the algorithm, where the name is not its own

    @property
    def x_arms(self) -> Floats | None:
        """How far intervals along x reach down and up from where marks are, shape (2, point)."""
        return _arms(self.x, self.x_ends)

    @property
    def y_arms(self) -> Floats | None:
        """How far intervals along y reach, as `x_arms`."""
        return _arms(self.y, self.y_ends)


def _arms(at: Floats, ends: Floats | None) -> Floats | None:
    if ends is None:
        return None
    return np.maximum([[-1.0], [1.0]] * (ends - at), 0)


@dataclass(frozen=True)
class Key:
    """An entry of the legend that stands for several lines and points."""

    name: str
    style: Style
    more: str = ""  # behind the name, where the panel is the only one
    flag: str | None = None  # of what stands behind the name


@dataclass(frozen=True)
class Span:
    """A thick stretch of the x axis at one height: an interval."""

    y: float
    low: float
    high: float
    color: str
    width: float  # in points
    opacity: float
    of: str = ""  # the algorithm


@dataclass(frozen=True)
class Bars:
    """Stretches of neighbouring levels at which something is shown, along the bottom."""

    name: str
    x: Floats
    shown: Bools
    flag: str = "bars"


@dataclass(frozen=True)
class PairBars:
    """Stretches of the x axis in which one of two is shown to be better, in a row below the panel."""

    name: str  # the better one first
    colors: tuple[str, str]  # of both
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Rule:
    """A line through the whole panel at one value of an axis."""

    axis: Literal["x", "y"]
    at: float
    color: str = "0.6"
    linestyle: str = "-"
    width: float = 1.0
    said: str = ""  # at its end, if it is one of y
    flag: str | None = None


@dataclass(frozen=True)
class Scale:
    """One axis: its label, its kind, and its ends where they are fixed."""

    label: str = ""
    kind: str = "linear"  # or "log", or "symlog": log from the first level above 0 on
    asked: str | None = None  # "linear" or "log" with plain numbers, where the reader wants that
    whole: bool = False  # whether its ticks are whole numbers
    low: float | None = None
    high: float | None = None
    names: Sequence[str] = ()  # of 0, 1, ...

    @property
    def ends(self) -> tuple[float, float] | None:
        """Its ends, if both are given."""
        if self.low is None or self.high is None:
            return None
        return self.low, self.high

    @property
    def is_log(self) -> bool:
        """Whether it is logarithmic all along."""
        return (self.asked or self.kind) == "log"


@dataclass(frozen=True)
class CurvesPicture(Picture):
    """All curves of one panel."""

    lines: Sequence[Line]
    x: Scale = field(default_factory=Scale)
    y: Scale = field(default_factory=Scale)
    title: str = ""
    band: str = "band"  # the flag of the bands of lines
    shades: Sequence[Shade] = ()
    points: Sequence[Points] = ()
    spans: Sequence[Span] = ()
    keys: Sequence[Key] = ()
    bars: Bars | None = None
    below: Sequence[PairBars] = ()
    rules: Sequence[Rule] = ()
    ticks: Floats | None = None  # all levels of the task, which the x axis names where they are few; None: of lines
    empty: str = "no runs"  # what is said where there are neither lines nor points
    said: frozenset[str] = frozenset()  # flags of what no line or point has

    def with_scales(self, xscale: str | None = None, yscale: str | None = None) -> CurvesPicture:
        """Return the picture with the kinds of axes that are asked for."""
        x, y = replace(self.x, asked=xscale or self.x.asked), replace(self.y, asked=yscale or self.y.asked)
        return replace(self, x=x, y=y)

    def in_panel(self, title: str) -> tuple[CurvesPicture, str]:
        """Return the picture and the title of its panel, one of which names an only pair.

        In panels of tasks, which have titles, pairs keep their direction: each has the same name in all then.
        """
        if not self.lines or not self.lines[0].given:
            return self, title
        first, lines = self.lines[0], self.lines
        if len(lines) == 1 and first.given in title:
            return self, title.replace(first.given, first.of)
        if title:
            lines = list(map(_as_given, lines))
        y = self.y
        if len(lines) == 1:
            y = replace(y, label=f"{y.label}\n{lines[0].of}")
        return replace(self, lines=lines, y=y), title

    @property
    def flags(self) -> frozenset[str]:
        """What is to be seen, as captions name it."""
        found = {line.flag for line in self.lines if line.flag and len(line.x)}
        found |= {shade.flag for shade in self.shades if shade.flag}
        found |= {points.flag for points in self.points if points.flag}
        if any(line.shows_runs for line in self.lines):
            found.add("run")
        if any(line.has_band for line in self.lines):
            found.add(self.band)
        if self.bars is not None and self.bars.shown.any():
            found.add(self.bars.flag)
        if self.below:
            found.add("bars")
        return self.said | found

    @property
    def levels(self) -> Floats:
        """All levels that the x axis has, sorted."""
        if self.ticks is not None:
            return self.ticks
        found = [levels for line in self.lines for levels, _ in line.runs]
        if not found:
            found = [line.on_axis for line in self.lines] + [points.x for points in self.points]
        return np.unique(np.concatenate([_none(), *found]))


def along_training(training: xr.DataArray) -> Scale:
    """Return the axis of training: linear if its levels are even, else log, symlog if 0 is one of them."""
    levels = training.to_numpy()
    return Scale(label_of(training), _kind_from(levels[0]) if is_uneven(levels) else "linear")


def is_uneven(levels: Floats) -> bool:
    """Return whether levels are for a log axis: none is negative, and steps differ much."""
    return bool(levels.size and levels[0] >= 0 and not _is_even(levels))


def in_panels(pictures: Sequence[Picture], titles: Sequence[str]) -> tuple[list[Picture], list[str]]:
    """Return what the panels of a view show, curves on axes of one kind, and their titles as they name pairs."""
    curves = [picture for picture in pictures if isinstance(picture, CurvesPicture)]
    if len(curves) < len(pictures):
        return list(pictures), list(titles)
    named = [picture.in_panel(title) for picture, title in zip(of_one_kind(curves), titles, strict=True)]
    return [picture for picture, _ in named], [title for _, title in named]


def of_one_kind(pictures: Sequence[CurvesPicture]) -> list[CurvesPicture]:
    """Return pictures with one kind of x axis: linear where each has this, else log, symlog if one begins at 0."""
    if len({picture.x.kind for picture in pictures}) < 2:
        return list(pictures)
    first = min(picture.levels[0] for picture in pictures if picture.levels.size)
    kind = _kind_from(first)
    return [replace(picture, x=replace(picture.x, kind=kind)) for picture in pictures]


def with_own_kind(picture: CurvesPicture) -> CurvesPicture:
    """Return a picture whose x axis is linear where the levels of each line are even, and end alike."""
    kind = "linear"
    if picture.lines and not _is_linear(picture):
        kind = _kind_from(picture.levels[0])
    return replace(picture, x=replace(picture.x, kind=kind))


def _kind_from(first: float) -> str:
    """Return the kind of an axis of uneven levels from this one on."""
    if first < 0:
        return "linear"
    return "symlog" if first == 0 else "log"


def _is_linear(picture: CurvesPicture) -> bool:
    grids = [line.on_axis for line in picture.lines]
    ends = [grid[-1] for grid in grids if len(grid)]
    return all(map(_is_even, grids)) and (not ends or bool(max(ends) <= _EVEN * min(ends)))


def _is_even(levels: Floats) -> bool:
    steps = np.diff(levels)
    return steps.size == 0 or bool(steps.max() <= _EVEN * steps.min())


def _as_given(line: Line) -> Line:
    """Return the line of a pair in the direction that the result has."""
    named = replace(line, name=line.given if line.name else "", of=line.given)
    if not line.is_turned:
        return named
    return replace(named, y=-line.y, low=-line.high, high=-line.low)
