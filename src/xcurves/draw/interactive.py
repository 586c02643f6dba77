"""Any picture in Plotly, by its shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xcurves.core.schema import Picture
from xcurves.draw.interactive_cells import interactive_cells
from xcurves.draw.interactive_curves import interactive_curves
from xcurves.draw.interactive_rows import interactive_rows
from xcurves.pictures.cells import CellsPicture
from xcurves.pictures.rows import RowsBeside, RowsPicture

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def interactive_figure(pictures: Sequence[Picture], titles: Sequence[str]) -> Figure:
    """Return a figure of pictures of one shape, which shows the first; a menu has them all, by their titles."""
    every: list[Any] = []
    names: list[str] = []
    for picture, title in zip(pictures, titles, strict=True):
        if isinstance(picture, RowsBeside):
            every += picture.pictures
            names += [", ".join(filter(None, (title, part.x_label))) for part in picture.pictures]
        else:
            every.append(picture)
            names.append(title)
    first = every[0]
    if isinstance(first, RowsPicture):
        return interactive_rows(every, names)
    if isinstance(first, CellsPicture):
        return interactive_cells(every, names)
    return interactive_curves(every, names)
