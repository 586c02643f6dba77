"""The look of all pictures: spines, grid, letters, the widths of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The gids of figures that `plot` made, in which a picture may have further axes: one that may grow, and one of the size
# that was asked for.
OWN, ASKED = "own", "own, of the size asked for"
WIDTH_TEXT, WIDTH_COLUMN = 5.5, 3.25  # inches of a line of text, and of a column of two
LOOK: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.35",
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "0.9",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "xtick.color": "0.35",
    "xtick.labelcolor": "0.2",
    "ytick.color": "0.35",
    "ytick.labelcolor": "0.2",
}


def import_pyplot() -> Any:
    """Return pyplot; an error names the extra that brings it."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("plot needs matplotlib. Install it: pip install 'xcurves[plot]'") from error
    plt.draw_if_interactive()  # type: ignore[no-untyped-call]  # loads the backend, whose settings an rc_context would take back
    return plt


def letters(width: float) -> dict[str, Any]:
    """Return the look with letters that suit a panel of so many inches."""
    return LOOK | {"font.size": float(np.clip(2.4 * width, 6.5, 10))}


def take_dpi(figure: Any) -> None:
    """Give a figure the resolution of its backend before anything is measured: SVG and PDF have one of their own.

    They set it when they are first asked for the size of a text; what was measured before would be of another one.
    """
    fixed = figure.canvas.fixed_dpi
    if fixed is not None:
        figure.set_dpi(fixed)


def slot_of(ax: Axes) -> tuple[float, float] | None:
    """Return the width and height in inches that Axes of a figure of somebody else have, labels included."""
    figure: Any = ax.figure
    place = ax.get_subplotspec()
    if figure.get_gid() in (OWN, ASKED) or place is None:
        return None
    width, height = map(float, figure.bbox.size / figure.dpi)
    if figure.get_layout_engine() is None:
        box = place.get_position(figure)
        return width * box.width, height * box.height
    # a layout engine uses the whole figure
    n_rows, n_columns = place.get_gridspec().get_geometry()
    return width * len(place.colspan) / n_columns, height * len(place.rowspan) / n_rows


def width_of(ax: Axes) -> float:
    """Return the width in points that Axes have in their figure, labels included."""
    slot = slot_of(ax)
    if slot is not None:
        return 72 * slot[0]
    figure: Any = ax.figure
    place = ax.get_subplotspec()
    n_columns = 1 if place is None else place.get_gridspec().get_geometry()[1]
    return float(72 * figure.bbox.width / figure.dpi / n_columns)
