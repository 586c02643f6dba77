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
from xcurves.draw.look import OWN, import_pyplot, letters, take_dpi

LARGEST = 14.0  # inches, of a figure in either way
_WIDE, _HIGH = 5.0, 3.2  # inches of a panel that has room
LEAST_WIDE, _LEAST_HIGH = 1.85, 1.4  # inches of a panel that can be read
_FLAT = 4.5  # largest width of a figure, of its height
# height in inches of the margins around rows, and of a row
_AROUND, _ROW, _LEAST_ROW = (0.9, 0.26, 0.16)
# width in inches of what is beside cells, and of a column
_BESIDE, _COLUMN, _LEAST_COLUMN = (1.8, 0.4, 0.22)
_ONE_ROW = 0.4  # height in inches of a panel of one row
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
        take_dpi(figure)
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
    tall: bool = False  # whether the figure is as high as its rows need

    @property
    def size(self) -> Size:
        """The width and height of the figure."""
        return self.asked or self._usual()

    @property
    def is_large(self) -> bool:
        """Whether no panel is too small to be read."""
        # less rounding
        return all(inches >= needed - 1e-9 for inches, needed in zip(self.size, self._least(), strict=True))

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
        tasks: Mapping[Hashable, int],
        numbers: str,
        larger: Room | None,
    ) -> Refusal:
        """Return why a view cannot be read, and what to ask for or to select so that it can; `numbers` has them all.

        `larger` is a room in which it can.
        """
        what = ""
        if dims:
            what = f" of {self.grid.n_panels} panels ({' × '.join(map(str, dims))})"
        elif self.rows or self.columns:
            what = " of so many rows and columns"
        wide, high = self.asked or (LARGEST, LARGEST)
        reason = f"view {view!r}{what} cannot be read in a figure of {wide:g} by {high:g} inches"
        selection = _selection(overlaid, tasks)
        cures = []
        if selection:
            cures.append(f"select {selection}")
        if larger is not None:
            cures.append(f"give {larger._options(can_wrap=self._can_wrap)}")
        if self.asked is not None:
            cures.reverse()
        cure = ", or ".join(cures)
        cure = f"{cure[:1].upper()}{cure[1:]}; .curves.{numbers}() has all numbers"
        return Refusal("data", UNSAID, reason, Cure(Words(cure, _IN_SHELL)))

    @property
    def _can_wrap(self) -> bool:
        """Whether its panels can stand in any number of columns."""
        return not (self.grid.two_dims or self.by_row) and self.grid.n_panels > 1

    def _options(self, *, can_wrap: bool) -> str:
        """Return the options of `plot` that ask for it."""
        wide, high = self.size
        options = f"figsize=({wide:g}, {high:g})"
        if can_wrap:
            options += f", col_wrap={self.grid.n_columns}"
        return options

    def larger_by(self, missing: Size) -> Room | None:
        """Return a room that is larger by so many inches, None if it were huge."""
        wide, high = (inches_up(inches + more) for inches, more in zip(self.size, missing, strict=True))
        return replace(self, asked=(wide, high)) if max(wide, high) <= _MOST_INCHES else None

    def nearest(self) -> Room | None:
        """Return the smallest room of which no panel is too small, None if there is none or a huge one.

        Of all numbers of columns the one whose figure grows least.
        """
        wide, high = self.asked or (LARGEST, LARGEST)
        n = self.grid.n_panels
        if n > _MOST_NAMED:
            return None
        found: list[tuple[float, int, Room]] = []
        grids = [self.grid]
        if self._can_wrap:
            grids = [
                replace(self.grid, n_rows=ceil(n / n_columns), n_columns=n_columns) for n_columns in range(1, n + 1)
            ]
        for grid in grids:
            least_wide, least_high = replace(self, grid=grid)._least()
            size = (max(wide, inches_up(least_wide)), max(high, inches_up(least_high)))
            if max(size) <= _MOST_INCHES:
                growth = log(size[0] / wide) + log(size[1] / high)
                found.append((growth, grid.n_columns, replace(self, grid=grid, asked=size)))
        return min(found)[-1] if found else None

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
        share = 1.0 if self.asked is None else SMALL
        return share * wide * self.grid.n_columns, share * sum(highs)


def inches_up(inches: float) -> float:
    """Return inches, up to the next tenth."""
    return ceil(round(10 * inches, 6)) / 10


def _selection(overlaid: str | None, sizes: Mapping[Hashable, int]) -> str:
    """Return the selections of fewer labels of dims of these sizes, "" if there are none."""
    selections = []
    if overlaid in FEW:
        selections.append(f"at most {FEW[overlaid]} {overlaid}s: .sel({overlaid}=[...])")
    slices = []
    for dim, size in sizes.items():
        most = 1 if dim == "param" else 4
        if dim not in FEW and size > most:
            slices.append(f"{dim}=slice({most})")
    if slices:
        selections.append(f".isel({', '.join(slices)})")
    return " or ".join(selections)
