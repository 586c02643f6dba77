"""Any picture in matplotlib, by its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xcurves.core.schema import Picture
from xcurves.draw.cells import draw_cells
from xcurves.draw.curves import draw_curves
from xcurves.draw.rows import draw_rows, draw_rows_beside
from xcurves.pictures.cells import CellsPicture
from xcurves.pictures.curves import CurvesPicture
from xcurves.pictures.rows import RowsBeside, RowsPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_picture(ax: Axes, picture: Picture) -> None:
    """Draw a picture on one Axes."""
    if isinstance(picture, RowsPicture):
        draw_rows(ax, picture)
    elif isinstance(picture, RowsBeside):
        draw_rows_beside(ax, picture)
    elif isinstance(picture, CellsPicture):
        draw_cells(ax, picture)
    elif isinstance(picture, CurvesPicture):
        draw_curves(ax, picture)
    else:
        raise TypeError(f"no drawer of {type(picture).__name__}")
