"""Pictures as data in a page: drawn without a display, the same each time, once more for narrow screens."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.core.schema import caption_of
from xcurves.plotting.dispatch import plot

MISSING = "Pictures are left out: they need matplotlib (pip install 'xcurves[plot]')."
_TEXT = 7.6  # inches of a line of text on the page
_HIGHER = 1.25  # how much higher a widened picture is at most
_PHONE = 3.7  # inches of a narrow screen
_LARGE = 400_000  # bytes of an SVG, beyond which a PNG is smaller


class Picture(NamedTuple):
    """A picture as data URIs, with the caption of what it shows; `narrow` is None where it has no room."""

    wide: str
    narrow: str | None
    caption: str


def draw(data: xr.DataArray | xr.Dataset, said: str | Mapping[str, str], view: str | None = None) -> Picture | None:
    """Return the picture of curves, or a view of a result, whose captions are `said`; None without matplotlib."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        return None
    seed: dict[str, Any] = {"rng": 0} if isinstance(data, xr.DataArray) else {}
    with plt.rc_context({"svg.hashsalt": "xcurves"}):
        axes = np.ravel([plot(data, view, **seed)])
        figure = axes[0].figure
        width, height = figure.get_size_inches()
        if width < _TEXT:  # its words have the size of the page's
            figure.set_size_inches(_TEXT, height * min(_TEXT / width, _HIGHER))
        wide, caption = _encode(figure), caption_of(said, figure)
        plt.close(figure)
        try:
            higher = height if len(axes) == 1 else height * width / _PHONE
            figure = np.ravel([plot(data, view, figsize=(_PHONE, min(higher, 20.0)), **seed)])[0].figure
            narrow = _encode(figure)
            plt.close(figure)
        except ValueError:  # no room
            narrow = None
    return Picture(wide, narrow, caption)


def _encode(figure: Any) -> str:
    drawing = _save(figure, "svg", {"Date": None})
    if len(drawing) <= _LARGE:
        return f"data:image/svg+xml;base64,{b64encode(drawing).decode()}"
    return f"data:image/png;base64,{b64encode(_save(figure, 'png', {'Software': None})).decode()}"


def _save(figure: Any, kind: str, metadata: dict[str, None]) -> bytes:
    made = BytesIO()
    figure.savefig(made, format=kind, metadata=metadata, dpi=150, bbox_inches="tight")
    return made.getvalue()
