"""Pictures as data in a page: drawn without a display, the same each time."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.validation import Labelled
from xcurves.plotting.dispatch import plot
from xcurves.reporting.markup import escape_controls

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure


MISSING = "Pictures are left out: they need matplotlib (pip install 'xcurves[plot]')."
_LONG = 28  # letters of a name that fit beside a panel
_LARGE = 400_000  # bytes of an SVG, beyond which a PNG is smaller


def draw(data: xr.DataArray | xr.Dataset, view: str | None = None) -> str | None:
    """Return the picture of curves, or a view of a result, as a data URI; None without matplotlib."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        return None
    with plt.rc_context({"svg.hashsalt": "xcurves"}):
        axes = plot(_plain(data), rng=0) if isinstance(data, xr.DataArray) else plot(_plain(data), view)
        figure = np.ravel([axes])[0].figure
        try:
            return _encode(figure)
        finally:
            plt.close(figure)


def _plain(data: Labelled) -> Labelled:
    """Return data whose names fit and are drawn literally: a dollar begins no formula, an underscore hides no label."""
    data = data.assign_coords(
        {
            str(name): coord.copy(data=_shown(coord))
            for name, coord in data.coords.items()
            if coord.dtype.kind in "OUT" and coord.ndim == 1 and name not in labels.RESERVED - {"pair"}
        }
    )
    for variable in (data, *data.coords.values(), *(data.data_vars.values() if isinstance(data, xr.Dataset) else ())):
        said = {
            key: _escaped(escape_controls(str(variable.attrs[key])))
            for key in ("long_name", "units")
            if key in variable.attrs
        }
        variable.attrs = {**variable.attrs, **said}
    return data


def _shown(names: xr.DataArray) -> list[str]:
    """Return names as they are written in pictures, no two the same; a pair of long names has two lines."""
    sides = ("algorithm_a", "algorithm_b") if names.name == "pair" else ()
    halves = [[escape_controls(str(each)) for each in names[side].to_numpy()] for side in sides]
    whole = [escape_controls(str(name)) for name in names.to_numpy()]
    if halves and max(map(len, whole)) > _LONG:
        fitting = [f"{_short(a)} -\n{_short(b)}" for a, b in zip(*halves, strict=True)]
    else:
        fitting = [_short(name) for name in whole]
    alike = {name for name in fitting if fitting.count(name) > 1}
    return [_escaped(f"{name} ({place + 1})" if name in alike else name) for place, name in enumerate(fitting)]


def _short(name: str) -> str:
    return name if len(name) <= _LONG else f"{name[: _LONG - 11]}…{name[-10:]}"


def _escaped(name: str) -> str:
    return ("\u200b" + name if name.startswith("_") else name).replace("$", r"\$")


def _encode(figure: Figure | SubFigure) -> str:
    drawing = _save(figure, "svg", {"Date": None})
    if len(drawing) <= _LARGE:
        return f"data:image/svg+xml;base64,{b64encode(drawing).decode()}"
    return f"data:image/png;base64,{b64encode(_save(figure, 'png', {'Software': None})).decode()}"


def _save(figure: Figure | SubFigure, kind: str, metadata: dict[str, None]) -> bytes:
    made = BytesIO()
    figure.savefig(made, format=kind, metadata=metadata, dpi=150, bbox_inches="tight")  # type: ignore[union-attr]  # whole
    return made.getvalue()
