"""Pictures as data in a page: drawn without a display, the same each time."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.labels import escape_controls
from xcurves.core.validation import Labelled
from xcurves.plotting.dispatch import plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure


MISSING = "Pictures are left out: they need matplotlib (pip install 'xcurves[plot]')."
_ALGORITHMS = ("algorithm", "algorithm_a", "algorithm_b")  # have the same names
_LONG = 28  # letters of a name that fit beside a panel
_TEXT = 7.6  # inches of a line of text on the page
_HIGHER = 1.25  # how much higher a widened picture is at most
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
        _widen(figure)
        try:
            return _encode(figure)
        finally:
            plt.close(figure)


def _plain(data: Labelled) -> Labelled:
    """Return data whose names fit and are drawn literally: a dollar begins no formula, an underscore hides no label."""
    named = {
        str(name): coord
        for name, coord in data.coords.items()
        if coord.dtype.kind in "OUT" and coord.ndim == 1 and name not in labels.RESERVED - {"pair"}
    }
    of_algorithms = [str(each) for name in _ALGORITHMS if name in named for each in named[name].to_numpy()]
    shown = {
        name: _shown(of_algorithms if name in _ALGORITHMS else [str(each) for each in coord.to_numpy()])
        for name, coord in named.items()
        if name != "pair"
    }
    written = {name: [shown[name][str(each)] for each in named[name].to_numpy()] for name in shown}
    if "pair" in named:
        written["pair"] = _shown_pairs(named["pair"], written)
    data = data.assign_coords({name: named[name].copy(data=said) for name, said in written.items()})
    for variable in (data, *data.coords.values(), *(data.data_vars.values() if isinstance(data, xr.Dataset) else ())):
        said = {
            key: _escaped(escape_controls(str(variable.attrs[key])))
            for key in ("long_name", "units")
            if key in variable.attrs
        }
        variable.attrs = {**variable.attrs, **said}
    return data


def _shown(names: Iterable[str]) -> dict[str, str]:
    """Return each name as it is written in pictures, no two the same."""
    names = list(dict.fromkeys(names))
    fitting = [_short(escape_controls(name)) for name in names]
    alike = {name for name in fitting if fitting.count(name) > 1}
    numbered = [f"{name} ({place})" if name in alike else name for place, name in enumerate(fitting, 1)]
    return dict(zip(names, map(_escaped, numbered), strict=True))


def _shown_pairs(pairs: xr.DataArray, written: Mapping[str, list[str]]) -> list[str]:
    """Return pairs as they are written in pictures; one of long names has two lines."""
    if max((len(escape_controls(str(pair))) for pair in pairs.to_numpy()), default=0) <= _LONG:
        return [_escaped(escape_controls(str(pair))) for pair in pairs.to_numpy()]
    return [f"{a} -\n{b}" for a, b in zip(written["algorithm_a"], written["algorithm_b"], strict=True)]


def _short(name: str) -> str:
    return name if len(name) <= _LONG else f"{name[: _LONG - 11]}…{name[-10:]}"


def _escaped(name: str) -> str:
    return ("\u200b" + name if name.startswith("_") else name).replace("$", r"\$")


def _widen(figure: Figure | SubFigure) -> None:
    """Make a narrow figure as wide as the text of a page, so that its words have the size of the page's."""
    width, height = figure.get_size_inches()  # type: ignore[union-attr]  # whole
    if width < _TEXT:
        figure.set_size_inches(_TEXT, height * min(_TEXT / width, _HIGHER))  # type: ignore[union-attr]  # whole


def _encode(figure: Figure | SubFigure) -> str:
    drawing = _save(figure, "svg", {"Date": None})
    if len(drawing) <= _LARGE:
        return f"data:image/svg+xml;base64,{b64encode(drawing).decode()}"
    return f"data:image/png;base64,{b64encode(_save(figure, 'png', {'Software': None})).decode()}"


def _save(figure: Figure | SubFigure, kind: str, metadata: dict[str, None]) -> bytes:
    made = BytesIO()
    figure.savefig(made, format=kind, metadata=metadata, dpi=150, bbox_inches="tight")  # type: ignore[union-attr]  # whole
    return made.getvalue()
