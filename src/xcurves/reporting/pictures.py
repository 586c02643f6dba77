"""Pictures in a page: drawn without a display, the same each time, once more for narrow screens, and small of tasks."""

from __future__ import annotations

import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.core.schema import Picture, ResultKind, caption_of
from xcurves.draw.fitted import lay_out
from xcurves.draw.look import import_pyplot
from xcurves.pictures.rows import RowsPicture
from xcurves.plotting.dispatch import plot
from xcurves.plotting.facets import split
from xcurves.results import ask, prepare

MISSING = "Pictures are left out: they need matplotlib (pip install 'xcurves[plot]')."
_PHONE = 3.7  # inches of a narrow screen
_COLUMN, _HEIGHT = 6.2, 4.4  # inches of a column of the page, and of its lowest picture
_FLAT = 1.5  # inches of the height of a single row, which stays as it is
_WITH_TEXTS = 1.9  # height of rows with their texts below them, of that of rows
_MARGIN = 0.1  # inches
_LARGE = 400_000  # bytes of an SVG, beyond which a PNG is smaller
# What a browser does not need in an SVG of matplotlib: comments, names of groups, digits of a point beyond the second
# (numbers below one, which scale glyphs, stay), and indentation.
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_GROUP_NAME = re.compile(rb'<g id="[^"]*"')
_DIGITS = re.compile(rb"(?<![\d.])([1-9]\d*\.\d\d)\d+")
_INDENTED = re.compile(rb"\s*\n\s*")
_BETWEEN_TAGS = re.compile(rb"(?<=>)\n(?=<)")
_SAME = {"svg.hashsalt": "xcurves"}  # the same bytes each time


class DrawnPicture(NamedTuple):
    """A picture as data URIs, with the caption of what it shows; `narrow` is None where it has no room."""

    wide: str
    narrow: str | None
    caption: str


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    try:
        import_pyplot()
    except ModuleNotFoundError:
        return False
    return True


def draw(
    data: xr.DataArray | xr.Dataset,
    said: str | Mapping[str, str],
    view: str | None = None,
    *,
    narrow: bool = True,
) -> DrawnPicture | None:
    """Return the picture of curves, or a view of a result, whose captions are `said`; None without matplotlib.

    `narrow`: it stands in a column of a wide screen, and is drawn once more for narrow ones.
    """
    if not can_draw():
        return None
    seed: dict[str, Any] = {"rng": 0} if isinstance(data, xr.DataArray) else {}
    with import_pyplot().rc_context(_SAME), warnings.catch_warnings():
        axes = np.ravel([plot(data, view, **seed)])
        figure = axes[0].figure
        width, height = figure.get_size_inches()
        if narrow and width > 2 * _COLUMN:
            figure = _in_column(figure, partial(plot, data, view, **seed))
        elif narrow:
            figure.set_size_inches(_COLUMN, height if height < _FLAT else max(height, _HEIGHT))
            lay_out(figure)
        caption = caption_of(said, figure)
        wide = _encode(figure)
        if not narrow:
            return DrawnPicture(wide, None, caption)
        try:
            higher = height if len(axes) == 1 else height * width / _PHONE
            if view is not None and isinstance(data, xr.Dataset) and _has_texts(first_panel(*prepare(data), view)):
                higher *= _WITH_TEXTS
            small = _encode(np.ravel([plot(data, view, figsize=(_PHONE, min(higher, 20.0)), **seed)])[0].figure)
        except ValueError:  # no room
            return DrawnPicture(wide, None, caption)
    return DrawnPicture(wide, small, caption)


def first_panel(kind: ResultKind, result: xr.Dataset, view: str) -> Picture:
    """Return what the first panel of a view shows."""
    shown = kind.views[view]
    first = next(split(result, kind.panels_of(shown, result)))
    return ask(kind, first.data, shown.drawing.picture, "report")


def _has_texts(picture: Picture) -> bool:
    """Return whether a picture has rows with texts, which stand below them on a narrow screen."""
    return isinstance(picture, RowsPicture) and bool(picture.columns)


def _in_column(figure: Any, draw_again: Callable[..., Any]) -> Any:
    """Return a wide figure drawn anew as wide as the column, where its words are large enough, if it has room there."""
    high = max(float(figure.get_size_inches()[1]), _HEIGHT)
    try:
        drawn = np.ravel([draw_again(figsize=(_COLUMN, high))])[0].figure
    except ValueError:  # no room
        return figure
    import_pyplot().close(figure)
    return drawn


def _encode(figure: Any) -> str:
    """Return a figure as a data URI, and close it."""
    mime, drawn = "svg+xml", _compact(_saved(figure, "svg", {"Date": None}))
    if len(drawn) > _LARGE:
        mime, drawn = "png", _saved(figure, "png", {"Software": None})
    import_pyplot().close(figure)
    return f"data:image/{mime};base64,{b64encode(drawn).decode()}"


def _compact(svg: bytes) -> bytes:
    """Return an SVG of matplotlib that looks the same and has fewer bytes."""
    svg = _COMMENT.sub(b"", svg)
    svg = _GROUP_NAME.sub(b"<g", svg)
    svg = _DIGITS.sub(rb"\1", svg)
    svg = _INDENTED.sub(b"\n", svg)
    return _BETWEEN_TAGS.sub(b"", svg)


def _saved(figure: Any, kind: str, metadata: dict[str, None]) -> bytes:
    """Return a figure as it is laid out, without what is empty around it; `bbox_inches="tight"` would draw it twice."""
    figure.set_layout_engine(None)
    used = figure.get_tightbbox().padded(_MARGIN)
    made = BytesIO()
    figure.savefig(made, format=kind, metadata=metadata, dpi=150, bbox_inches=used)
    return made.getvalue()
