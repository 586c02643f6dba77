"""Pictures as data in a page: drawn without a display, the same each time."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

import xarray as xr

from xcurves.plotting import plot

MISSING = "Pictures are left out: they need matplotlib (pip install 'xcurves[plot]')."
_LARGE = 400_000  # bytes of a drawing, beyond which dots take less
_FORMULAS = "error_at_n"  # whose pictures have formulas of their own in labels


def draw(data: xr.DataArray | xr.Dataset) -> str | None:
    """Return the picture of curves or of a result as a data URI; None without matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return None
    options = {"rng": 0} if isinstance(data, xr.DataArray) else {}
    labels_are_plain = isinstance(data, xr.DataArray) or _FORMULAS not in data
    with mpl.rc_context({"svg.hashsalt": "xcurves", "text.parse_math": not labels_are_plain}):
        axes = plot(data, **options)
        figure = (axes if not hasattr(axes, "flat") else axes.flat[0]).figure
        assert isinstance(figure, Figure)
        try:
            return _encode(figure)
        finally:
            mpl.pyplot.close(figure)


def _encode(figure: Figure) -> str:
    kinds = {"svg": ("image/svg+xml", {"Date": None}), "png": ("image/png", {"Software": None})}
    for kind, (mime, metadata) in kinds.items():
        made = BytesIO()
        figure.savefig(made, format=kind, metadata=metadata, dpi=150, bbox_inches="tight")
        if kind == "png" or made.tell() <= _LARGE:
            break
    return f"data:{mime};base64,{b64encode(made.getvalue()).decode()}"
