"""Cells: a matrix of values with its rows and columns named, as numbers or as colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats
from xcurves.core.labels import SIDES, task_dims
from xcurves.core.schema import Picture
from xcurves.say.numbers import rounded

# "signs": five colours from -2, the second of a pair is shown to be higher, to 2
LEANING = 17  # letters in a line of the name of a column
_ROWS_OF_NAMES = 5.0  # as high as long names of columns that lean
_TWO_LINES = 1.5  # width of a column with a name of two lines

Palette = Literal["rising", "falling", "diverging", "signs"]
_SIGNS = {-2.0: "second, shown", -1.0: "second", 0.0: "neither", 1.0: "first", 2.0: "first, shown"}


@dataclass(frozen=True, slots=True)
class CellsPicture(Picture):
    """A cell for each value, shape (row, column)."""

    values: Floats
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    limits: tuple[float, float]  # of the colours
    said: str  # what the colours mean
    palette: Palette = "rising"
    marked: Bools | None = None  # cells that are bold or have a dot
    steps: Mapping[float, str] = field(default_factory=dict)  # values that the colours have, where they are few
    decimals: int | None = None  # of the number in a cell, where there is room
    x_label: str = ""
    y_label: str = ""
    most_columns: float = np.inf  # that have their usual width; more are narrow
    flags: frozenset[str] = frozenset()  # as in `caption_of`

    @property
    def n_rows(self) -> float:
        """How many rows it has; names of columns in two lines lean, and take some."""
        return len(self.rows) + (_ROWS_OF_NAMES if self.has_long_names else 0.0)

    @property
    def n_columns(self) -> float:
        """How many columns of usual width it has; names of columns in two lines take more."""
        width = _TWO_LINES if self.has_long_names else 1.0
        return width * min(len(self.columns), self.most_columns)

    @property
    def has_long_names(self) -> bool:
        """Whether names of columns have two lines."""
        return any("\n" in name or len(name) > LEANING for name in self.columns)

    def text(self, row: int, column: int) -> str:
        """Return the number of a cell, "" where there is none."""
        value = self.values[row, column]
        if self.decimals is None or not np.isfinite(value):
            return ""
        text = rounded(value, self.decimals)
        return text[1:] if text.startswith("0.") else text


def pair_cells(
    result: xr.Dataset, value: Floats, other: Floats, said: str, *, shown: NDArray[np.bool_] | None = None, **look: Any
) -> CellsPicture:
    """Return a cell for each two algorithms: a value of the pair, and that of its reverse; marked where shown."""
    names, matrix = _pair_matrix(result, value, other)
    marked = None
    if shown is not None:
        marked = _pair_matrix(result, shown.astype(float), shown.astype(float))[1] == 1
    return CellsPicture(matrix, names, names, said=said, marked=marked, **look)


def probability_cells(result: xr.Dataset, shown: NDArray[np.bool_]) -> CellsPicture:
    """Return the probability that the algorithm of the row scores higher than that of the column."""
    p = result["prob_greater"].to_numpy()
    return pair_cells(
        result,
        p,
        1 - p,
        "probability that the first scores higher",
        shown=shown,
        limits=(0.0, 1.0),
        palette="diverging",
        decimals=2,
        x_label="than this",
        y_label="probability that\nthis scores higher",
    )


def sign_cells(difference: xr.DataArray, shown: Floats | NDArray[np.bool_]) -> CellsPicture:
    """Return a cell for each task and pair: which one scores higher, and whether it is shown, shape (task, pair)."""
    return CellsPicture(
        np.where(shown, 2.0, 1.0) * np.sign(by_task(difference, "pair")),
        tuple(task_labels(difference, ["pair"])),
        tuple(difference["pair"].to_numpy().tolist()),
        (-2.5, 2.5),
        "which one scores higher",
        "signs",
        steps=_SIGNS,
    )


def task_labels(variable: xr.DataArray, core: Sequence[str]) -> list[str]:
    """Return the labels of the tasks of a variable, in C order."""
    dims = task_dims(variable, core)
    return [", ".join(map(str, each)) for each in product(*(variable[dim].to_numpy().tolist() for dim in dims))]


def by_task(variable: xr.DataArray, dim: str) -> Floats:
    """Return values of all tasks, shape (task, dim)."""
    return np.asarray(variable.transpose(..., dim).to_numpy().reshape(-1, variable.sizes[dim]))


def _algorithms_of(result: xr.Dataset) -> list[Any]:
    """Return the algorithms of a result of pairs."""
    if "algorithm" in result.coords and result["algorithm"].ndim:
        return list(result["algorithm"].to_numpy().tolist())
    sides = [result[side].to_numpy().tolist() for side in SIDES]
    return list(dict.fromkeys(sides[0] + sides[1]))


def _pair_matrix(result: xr.Dataset, value: Floats, other: Floats) -> tuple[tuple[str, ...], Floats]:
    """Return the algorithms of the pairs of a result, and a matrix with a value of each pair and of its reverse."""
    names = _algorithms_of(result)
    matrix = np.full((len(names), len(names)), np.nan)
    a, b = ([names.index(each) for each in result[side].to_numpy()] for side in SIDES)
    matrix[a, b], matrix[b, a] = value, other
    return tuple(str(name) for name in names), matrix
