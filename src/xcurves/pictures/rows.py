"""Rows: under each name estimates with their intervals, quartiles and points, and texts beside them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.schema import Picture
from xcurves.pictures.styles import BLACK, Style, bounds_of

BOX = 0.28  # half of the height of the box between quartiles, in rows
POINTS = 0.18  # half of the height in which points are spread
HIGH = 0.75  # of a histogram
_LOWEST, _BINS = 0.005, 80  # share of a distribution that is not shown, and edges of its histogram
_TEXT_BELOW = 0.8  # height of a text below its row, in rows
_MARGINS = 1.2  # height of the headings of columns with the margins, in rows
_ONLY = 1.5  # height of a single row with texts beside it
_LONG = 32  # letters of a name that has one line
_PAIR_WORD = re.compile(" (over|below|-) ")
_TWO_LINES = 1.4  # height of rows whose names have two lines, of that of others
_GOLDEN = 0.618034  # turns of it spread points evenly, whatever their number


class Mark(NamedTuple):
    """An estimate in a row with its interval, either end infinite or NaN; `flag` as in `caption_of`."""

    value: float
    low: float = np.nan
    high: float = np.nan
    style: Style = BLACK
    filled: bool = True
    flag: str | None = None
    thick: bool = False  # a bar without an estimate


class Row(NamedTuple):
    """A named row, or a heading of those below it, which has the name only."""

    name: str
    marks: tuple[Mark, ...] = ()
    texts: tuple[str, ...] = ()  # one of each column
    quartiles: tuple[float, float, float] | None = None
    points: tuple[float, ...] = ()
    dots: Style | None = None  # the look of points that stand above the marks; None: they are grey, behind these
    ink: str = "black"
    is_heading: bool = False
    gap: float = 0.0  # free rows above it
    distribution: tuple[float, ...] = ()  # positive values that have a histogram on the row

    @property
    def spread(self) -> Floats:
        """How high each point stands, from -1 to 1, so that points of one value are seen."""
        return np.asarray(2 * ((_GOLDEN * np.arange(len(self.points))) % 1) - 1)

    def binned(self) -> tuple[Floats, Floats]:
        """Return the edges of bins of the distribution, without its lowest 0.5 %, and their shares of the fullest."""
        if not self.distribution:
            return np.array([]), np.array([])
        edges = np.geomspace(np.quantile(self.distribution, _LOWEST), max(self.distribution) * 1.0001, _BINS)
        counts, _ = np.histogram(self.distribution, edges)
        return edges, counts / max(counts.max(), 1)


class Column(NamedTuple):
    """A column of texts beside rows: what it is asked for by, and its heading."""

    name: str
    heading: str


class Bracket(NamedTuple):
    """A bar beside rows from one place to another, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class RowsPicture(Picture):
    """Rows, the first on top, on one axis."""

    rows: tuple[Row, ...]
    x_label: str
    columns: tuple[Column, ...] = ()
    reference: float | None = 0.0  # where no difference is
    limits: tuple[float, float] | None = None
    scale: Literal["linear", "log"] = "linear"
    ticks: tuple[tuple[float, str], ...] = ()
    flags: frozenset[str] = frozenset()  # as in `caption_of`
    pitch: float = 1.0  # height of a row, of the usual one
    brackets: tuple[Bracket, ...] = ()
    texts_below: bool = False  # whether texts stand below the marks of their row, and not in columns
    fewer: RowsPicture | None = None  # the most important rows, where there is no room for all

    @property
    def names(self) -> tuple[str, ...]:
        """The names of rows, those of pairs in two lines where one is long."""
        names = tuple(row.name for row in self.rows)
        if max(map(len, names), default=0) <= _LONG:
            return names
        return tuple(_PAIR_WORD.sub(r" \1\n", name, count=1) for name in names)

    @property
    def places(self) -> Floats:
        """Where rows stand, the first at 0."""
        below = [_TEXT_BELOW if self.texts_below and any(row.texts) else 0.0 for row in self.rows]
        steps = [1 + row.gap + text for row, text in zip(self.rows, [0.0, *below], strict=False)]
        return np.cumsum([0.0, *steps[1:]])

    @property
    def depth(self) -> float:
        """How far the last row reaches below the first, with its text."""
        if not self.rows:
            return 0.0
        last = self.places[-1]
        if self.texts_below and any(self.rows[-1].texts):
            last += _TEXT_BELOW
        return float(last)

    @property
    def n_rows(self) -> float:
        """How many rows of usual height it takes."""
        if self.columns and len(self.rows) == 1 and not self.texts_below:
            return _ONLY
        high = self.pitch * (self.depth + 1)
        if any("\n" in name for name in self.names):
            high *= _TWO_LINES
        if self.columns:
            high += _MARGINS
        return high

    @property
    def letters_of_names(self) -> int:
        """How many letters the longest name has."""
        return max((len(line) for name in self.names for line in name.split("\n")), default=0)

    @property
    def letters_of_columns(self) -> tuple[int, ...]:
        """How many letters each column has, of its heading or of a text."""
        found = []
        for place, column in enumerate(self.columns):
            texts = [row.texts[place] for row in self.rows if row.texts]
            found.append(max(map(len, [column.heading, *texts])))
        return tuple(found)

    def text_below(self, row: Row) -> str:
        """Return the texts of a row in one line: "7.6 (0.3 to 15.9), p = .012"."""
        parts: list[str] = []
        for column, text in zip(self.columns, row.texts, strict=True):
            if not text:
                continue
            if column.name == "interval":
                parts = [" ".join([*parts, f"({text})"])]
            elif column.name == "estimate":
                parts.append(text)
            else:
                sign = "" if text.startswith("<") else "= "
                parts.append(f"{column.heading} {sign}{text}")
        return ", ".join(parts)

    def with_columns(self, names: Collection[str]) -> RowsPicture:
        """Return the picture with the columns of these names only."""
        kept = [place for place, column in enumerate(self.columns) if column.name in names]
        rows = [row._replace(texts=tuple(row.texts[place] for place in kept if row.texts)) for row in self.rows]
        fewer = self.fewer
        if fewer is not None:
            fewer = fewer.with_columns(names)
        return replace(self, rows=tuple(rows), columns=tuple(self.columns[place] for place in kept), fewer=fewer)


@dataclass(frozen=True, slots=True)
class RowsBeside(Picture):
    """Pictures of the same rows beside each other, which the first of them names."""

    pictures: tuple[RowsPicture, ...]

    @property
    def flags(self) -> frozenset[str]:
        """What captions say of any of them."""
        return frozenset().union(*(picture.flags for picture in self.pictures))

    @property
    def n_rows(self) -> float:
        """How many rows of usual height they take."""
        return max(picture.n_rows for picture in self.pictures)


def marks_of(
    value: xr.DataArray | Floats,
    interval: xr.DataArray,
    style: Style = BLACK,
    *,
    filled: bool = True,
    flag: str | None = None,
) -> list[Mark]:
    """Return values with their intervals as marks of one look."""
    values = np.ravel(np.asarray(value, float))
    lows, highs = bounds_of(interval).reshape(2, -1).astype(float).tolist()
    known = zip(values.tolist(), lows, highs, strict=True)
    return [Mark(at, low, high, style, filled, flag) for at, low, high in known]


def only_param(result: xr.Dataset, noun: str) -> str:
    """Return the statistic or parameter that a result has; refuse several, which have an axis each."""
    names = result["param"].to_numpy().tolist()
    if len(names) > 1:
        reason = f"one Axes has one {noun}; got {len(names)}"
        raise Refusal("result", UNSAID, reason, f"Select one: result.sel(param=[{names[0]!r}])")
    return str(names[0])


def plain_rows(names: Iterable[str], marks: Sequence[Mark]) -> tuple[Row, ...]:
    """Return a named row for each mark."""
    return tuple(Row(name, (mark,)) for name, mark in zip(names, marks, strict=True))
