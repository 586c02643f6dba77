"""Whether panels have room in a figure: its size, and what to select or to ask for where they have none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from xcurves.plotting.facets import Grid

LARGEST = 14.0  # inches, of a figure in either way
_WIDE, _HIGH = 5.0, 3.2  # inches of a panel that has room
_LEAST_WIDE, _LEAST_HIGH = 1.85, 1.4  # inches of a panel that can be read
_FLAT = 4.5  # largest width of a figure, of its height
_AROUND, _ROW, _LEAST_ROW = 0.9, 0.26, 0.16  # height in inches of the margins around rows, and of a row
_BESIDE, _COLUMN, _LEAST_COLUMN = 1.8, 0.4, 0.22  # width in inches of what is beside cells, and of a column
_SMALL = 0.75  # of the least sizes, where a size is asked for: its letters are small
FEW: Mapping[Hashable, int] = {"algorithm": 8, "pair": 6}  # labels that have room beside each other

Size = tuple[float, float]


def most_columns(asked: Size | None) -> int | None:
    """Return how many panels stand beside each other in a figure of the size that was asked for."""
    return None if asked is None else max(1, int(asked[0] / (_SMALL * _LEAST_WIDE)))


@dataclass(frozen=True)
class Room:
    """The room of panels with so many rows and columns each, in a figure of the size that was asked for, if any."""

    grid: Grid
    rows: float
    columns: float
    asked: Size | None

    def size(self) -> Size | None:
        """Return the width and height of the figure, None if the panels cannot be read in it."""
        size = self.asked or self._usual()
        least = self._least()
        return None if any(each < least[way] - 1e-9 for way, each in enumerate(size)) else size

    def refusal(self, view: str, dims: Sequence[Hashable], overlaid: str | None, tasks: Sequence[Hashable]) -> str:
        """Return why a view cannot be read, and what to ask for or to select so that it can."""
        what = f"{self.grid.n_panels} panels ({' × '.join(map(str, dims))})" if dims else "so many rows and columns"
        wide, high = self.asked or (LARGEST, LARGEST)
        said = f"view {view!r} of {what} cannot be read in a figure of {wide:g} by {high:g} inches."
        if self.asked is None:
            return f"{said} Select {_selection(overlaid, tasks)}"
        if max(self._larger()) <= max(LARGEST, *self.asked):
            return f"{said} Give figsize={self._larger()}"
        return f"{said} Leave figsize out{f', or select {_selection(overlaid, ())}' if overlaid == 'pair' else ''}"

    def _usual(self) -> Size:
        grid = self.grid
        wide = min(max(_WIDE, _BESIDE + _COLUMN * self.columns), LARGEST / grid.n_columns)
        around = _BESIDE if self.columns else _AROUND
        high = max(_LEAST_HIGH, around + _ROW * self.rows) if self.rows else min(_HIGH, 0.5 * wide + 0.7)
        high = max(high, wide * grid.n_columns / (_FLAT * grid.n_rows))
        return wide * grid.n_columns, min(high, LARGEST / grid.n_rows) * grid.n_rows

    def _least(self) -> Size:
        """Return the width and height of the smallest figure whose panels can be read."""
        several = self.grid.n_panels > 1
        around = _BESIDE if self.columns else _AROUND
        wide = max(_LEAST_WIDE * several, (_BESIDE + _LEAST_COLUMN * self.columns) * (self.columns > 0))
        high = max(_LEAST_HIGH * several, (around + _LEAST_ROW * self.rows) * (self.rows > 0))
        share = 1.0 if self.asked is None else _SMALL
        return share * wide * self.grid.n_columns, share * high * self.grid.n_rows

    def _larger(self) -> Size:
        """Return a size that is large enough, in tenths of an inch."""
        wide, high = (max(each, ceil(10 * least - 1e-6) / 10)
                      for each, least in zip(self.asked or self._usual(), self._least(), strict=True))  # fmt: skip
        return wide, high


def _selection(overlaid: str | None, tasks: Sequence[Hashable]) -> str:
    chosen = [f"at most {FEW[overlaid]} {overlaid}s: .sel({overlaid}=[...])"] if overlaid in FEW else []
    slices = [f"{dim}=slice({1 if dim == 'param' else 4})" for dim in tasks if dim not in FEW]
    return " or ".join([*chosen, *([f".isel({', '.join(slices)})"] if slices else [])])
