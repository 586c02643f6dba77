"""The size of a figure: whether its panels have room, and which size would have."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.core.refusal import UNSAID, Cure, Refusal, Words
from xcurves.draw.look import OWN, import_pyplot, letters

LARGEST = 14.0  # inches, of a figure in either way
_WIDE, _HIGH = 5.0, 3.2  # inches of a panel that has room
LEAST_WIDE, _LEAST_HIGH = 1.85, 1.4  # inches of a panel that can be read
_FLAT = 4.5  # largest width of a figure, of its height
# height in inches of the margins around rows, and of a row
_AROUND, _ROW, _LEAST_ROW = (0.9, 0.26, 0.16)
# width in inches of what is beside cells, and of a column
_BESIDE, _COLUMN, _LEAST_COLUMN = (1.8, 0.4, 0.22)
_ONE_ROW = 0.4  # height in inches of a panel of one row
_BEFORE_NAME = 8  # letters that the line before a name of a legend takes
_SMALL_LETTER = 0.0058  # width in inches of a small letter, by the points of usual ones
# Width in inches of a panel beside which there are names and numbers.
_LEAST_AXIS = 0.75
_LETTER, _LINE = 0.85, 1.4  # width and height of a letter of a title, of its points
_ABOVE = 0.35  # height in inches of a legend or title above several panels
_GAP_OF_ROWS, _MANY_ROWS = 0.12, 4  # height in inches between rows of panels, of many
_MOST_NAMED = 64  # panels of a figure that is named
_MOST_INCHES = 200.0  # of a figure that may be asked for
SMALL = 0.7  # of the least sizes, where a size is asked for: its letters are small
# labels that have room beside each other
FEW: Mapping[Hashable, int] = {"algorithm": 8, "pair": 6}

_IN_SHELL = "Keep fewer algorithms or tasks, --select NAME=LABEL, or leave out --figure"
Size = tuple[float, float]


@dataclass(frozen=True)
class Grid:
    """Rows and columns of panels, which have two dims, or follow each other in reading order."""

    n_rows: int
    n_columns: int
    n_panels: int

    two_dims: bool = False

    def letters(self, size: Size, points: float | None = None) -> AbstractContextManager[None]:
        """Return a context in which letters suit the panels of a figure, or have so many points."""
        look = letters(size[0] / self.n_columns)
        if points is not None:
            look["font.size"] = points
        return import_pyplot().rc_context(look)  # type: ignore[no-any-return]

    def axes(self, size: Size, **options: Any) -> NDArray[Any]:
        """Return new axes, shape (panel,)."""
        pyplot = import_pyplot()
        shape = (self.n_rows, self.n_columns)
        figure, axes = pyplot.subplots(*shape, figsize=size, squeeze=False, layout="constrained", **options)
        figure.set_gid(OWN)
        axes = np.asarray(axes).ravel()
        for unused in axes[self.n_panels :]:
            unused.remove()
        for ax in axes[: self.n_panels]:
            ax.tick_params(labelsize=0.9 * pyplot.rcParams["font.size"])
        return axes[: self.n_panels]

    def shaped(self, axes: NDArray[Any]) -> NDArray[Any]:
        """Return axes in rows and columns, where panels have two dims."""
        if not self.two_dims:
            return axes
        return axes.reshape(self.n_rows, self.n_columns).squeeze()


@dataclass(frozen=True)
class Room:
    """The room of panels with so many rows and columns each, in a figure of the size that was asked for, if any."""

    grid: Grid
    rows: float
    columns: float
    asked: Size | None
    # How many rows each row of panels has, where they differ: 0 for curves.
    by_row: tuple[float, ...] = ()
    title_letters: int = 0  # of the longest title of a panel
    beside: float = 0.0  # letters of names and numbers beside a panel of rows
    names: tuple[str, ...] = ()  # of a legend above the panels
    tall: bool = False  # whether the figure is as high as its rows need

    def size(self) -> Size | None:
        """Return the width and height of the figure, None if the panels cannot be read in it."""
        size = self.asked or self._usual()
        least = self._least()
        # less rounding
        if any(inches < needed - 1e-9 for inches, needed in zip(size, least, strict=True)):
            return None
        return size

    def heights(self, size: Size) -> list[float]:
        """Return how high each row of panels is in a figure of this size."""
        if not self.by_row:
            return [size[1] / self.grid.n_rows] * self.grid.n_rows
        curves = 0.5 * self._usual_width()
        ratios = [max(_ONE_ROW, _ROW * rows) if rows else curves for rows in self.by_row]
        return [size[1] * ratio / sum(ratios) for ratio in ratios]

    def refusal(
        self,
        view: str,
        dims: Sequence[Hashable],
        overlaid: str | None,
        tasks: Sequence[Hashable],
        numbers: str,
    ) -> Refusal:
        """Return why a view cannot be read, and what to ask for or to select so that it can; `numbers` has them all."""
        what = "so many rows and columns"
        if dims:
            what = f"{self.grid.n_panels} panels ({' × '.join(map(str, dims))})"
        wide, high = self.asked or (LARGEST, LARGEST)
        reason = f"view {view!r} of {what} cannot be read in a figure of {wide:g} by {high:g} inches"
        selection, larger = _selection(overlaid, tasks), self.nearest()
        cures = []
        if selection:
            cures.append(f"select {selection}")
        if larger:
            cures.append(f"give {larger}")
        if self.asked is not None:
            cures.reverse()
        cure = ", or ".join(cures)
        cure = f"{cure[:1].upper()}{cure[1:]}; .curves.{numbers}() has all numbers"
        return Refusal("data", UNSAID, reason, Cure(Words(cure, _IN_SHELL)))

    def nearest(self) -> str:
        """Return the options that name the smallest figure which can be read, "" if there is none or a huge one.

        Of all numbers of columns the one whose figure grows least.
        """
        wide, high = self.asked or (LARGEST, LARGEST)
        n = self.grid.n_panels
        if n > _MOST_NAMED:
            return ""
        found: list[tuple[float, int, Size]] = []
        can_wrap = not (self.grid.two_dims or self.by_row)
        grids = [self.grid]
        if can_wrap:
            grids = [
                replace(self.grid, n_rows=ceil(n / n_columns), n_columns=n_columns) for n_columns in range(1, n + 1)
            ]
        for grid in grids:
            least_wide, least_high = replace(self, grid=grid)._least()
            size = (max(wide, _up(least_wide)), max(high, _up(least_high)))
            if max(size) <= _MOST_INCHES:
                growth = log(size[0] / wide) + log(size[1] / high)
                found.append((growth, grid.n_columns, size))
        if not found:
            return ""
        _, n_columns, size = min(found)
        options = f"figsize=({size[0]:g}, {size[1]:g})"
        if can_wrap and n > 1:
            options += f", col_wrap={n_columns}"
        return options

    def _usual_width(self) -> float:
        return min(max(_WIDE, _BESIDE + _COLUMN * self.columns), LARGEST / self.grid.n_columns)

    def _usual(self) -> Size:
        wide = self._usual_width()
        highs = [self._usual_height(rows, wide) for rows in self._rows_of_panels()]
        width = wide * self.grid.n_columns
        highest = LARGEST
        if self.tall:
            highest = max(LARGEST, min(self._least()[1], _MOST_INCHES))
        return width, min(max(sum(highs), width / _FLAT), highest)

    def _rows_of_panels(self) -> Sequence[float]:
        """Return how many rows each row of panels has."""
        return self.by_row or [self.rows] * self.grid.n_rows

    def _usual_height(self, rows: float, wide: float) -> float:
        if not rows:
            return min(_HIGH, 0.5 * wide + 0.7)
        return max(_LEAST_HIGH, self._around() + _ROW * rows)

    def _around(self) -> float:
        return _BESIDE if self.columns else _AROUND

    def _least(self) -> Size:
        """Return the width and height of the smallest figure whose panels can be read."""
        several = self.grid.n_panels > 1
        wide = 0.0
        if several:
            wide = LEAST_WIDE
        if self.columns:
            wide = max(wide, _BESIDE + _LEAST_COLUMN * self.columns)
        highs = []
        for rows in self._rows_of_panels():
            high = _LEAST_HIGH if several and not (self.by_row and rows) else 0.0
            if rows:
                high = max(high, self._around() + _LEAST_ROW * rows)
            highs.append(high)
        if self.asked is None:
            return wide * self.grid.n_columns, sum(highs)
        wide = max(SMALL * wide, self._beside(self.asked[0] / self.grid.n_columns))
        width = wide * self.grid.n_columns
        above = self._legend_height(max(width, self.asked[0]))
        if above:  # a legend of several lines leaves a panel what it needs
            highs = [max(high, _LEAST_HIGH) for high in highs]
        if several:
            above += _ABOVE + self.grid.n_rows * self._title_height(max(width, self.asked[0]) / self.grid.n_columns)
            if self.grid.n_rows >= _MANY_ROWS:
                above += _GAP_OF_ROWS * self.grid.n_rows
        return width, SMALL * sum(highs) + above

    def _beside(self, wide: float) -> float:
        """Return the least width of a panel of rows with what stands beside it, given that it may be so wide."""
        if not self.beside:
            return 0.0
        for each in (wide, LARGEST):  # letters grow with the panel, up to a size
            least = _LEAST_AXIS + _SMALL_LETTER * self.beside * float(letters(each)["font.size"])
            if least <= each:
                return least
        return LARGEST

    def _legend_height(self, width: float) -> float:
        """Return the height of the lines of a legend beyond the first, in a figure so wide."""
        if not self.names:
            return 0.0
        points = 0.833 * float(letters(width / self.grid.n_columns)["font.size"])
        column = (max(map(len, self.names)) + _BEFORE_NAME) * _LETTER * points / 72
        in_a_line = max(1, int(width / column))
        return (ceil(len(self.names) / in_a_line) - 1) * _LINE * points / 72

    def _title_height(self, wide: float) -> float:
        """Return the height of a title beyond its first line, in a panel so wide."""
        points = float(letters(wide)["font.size"])
        lines = ceil(self.title_letters * _LETTER * points / 72 / wide)
        if lines > 2:  # words do not fill their lines
            lines += 1
        return max(lines - 1, 0) * _LINE * points / 72


def _up(inches: float) -> float:
    """Return inches, up to the next tenth."""
    return ceil(round(10 * inches, 6)) / 10


def _selection(overlaid: str | None, tasks: Sequence[Hashable]) -> str:
    """Return the selections of fewer labels, "" if there are none."""
    selections = []
    if overlaid in FEW:
        selections.append(f"at most {FEW[overlaid]} {overlaid}s: .sel({overlaid}=[...])")
    slices = []
    for dim in tasks:
        if dim not in FEW:
            most = 1 if dim == "param" else 4
            slices.append(f"{dim}=slice({most})")
    if slices:
        selections.append(f".isel({', '.join(slices)})")
    return " or ".join(selections)
