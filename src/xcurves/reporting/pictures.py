"""Pictures in a page: drawn without a display, the same each time, once more for narrow screens, and small of tasks."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.axes import drawable, scale_training, style_in, with_styles
from xcurves.core.schema import caption_of
from xcurves.core.wording import label_of
from xcurves.plotting.curves import means_of_all
from xcurves.plotting.dispatch import plot
from xcurves.plotting.facets import import_pyplot, split
from xcurves.reporting import markup

MISSING = "Pictures are left out: they need matplotlib (pip install 'xcurves[plot]')."
_TEXT = 7.6  # inches of a line of text on the page
_HIGHER = 1.25  # how much higher a widened picture is at most
_PHONE = 3.7  # inches of a narrow screen
_LARGE = 400_000  # bytes of an SVG, beyond which a PNG is smaller
_SMALL = (3.2, 2.0)  # inches of the picture of one of many tasks
_IN_A_ROW = 5  # names
_TICKS = 4
_SAME = {"svg.hashsalt": "xcurves"}  # the same bytes each time


class Picture(NamedTuple):
    """A picture as data URIs, with the caption of what it shows; `narrow` is None where it has no room."""

    wide: str
    narrow: str | None
    caption: str


def draw(data: xr.DataArray | xr.Dataset, said: str | Mapping[str, str], view: str | None = None) -> Picture | None:
    """Return the picture of curves, or a view of a result, whose captions are `said`; None without matplotlib."""
    try:
        plt = import_pyplot()
    except ModuleNotFoundError:
        return None
    seed: dict[str, Any] = {"rng": 0} if isinstance(data, xr.DataArray) else {}
    with plt.rc_context(_SAME):
        axes = np.ravel([plot(data, view, **seed)])
        figure = axes[0].figure
        width, height = figure.get_size_inches()
        if width < _TEXT:  # its words have the size of the page's
            figure.set_size_inches(_TEXT, height * min(_TEXT / width, _HIGHER))
        caption = caption_of(said, figure)
        wide = _encode(figure)
        try:
            higher = height if len(axes) == 1 else height * width / _PHONE
            narrow = _encode(np.ravel([plot(data, view, figsize=(_PHONE, min(higher, 20.0)), **seed)])[0].figure)
        except ValueError:  # no room
            narrow = None
    return Picture(wide, narrow, caption)


def _encode(figure: Any) -> str:
    """Return a figure as a data URI, and close it."""
    mime, drawn = "svg+xml", _saved(figure, "svg", {"Date": None})
    if len(drawn) > _LARGE:
        mime, drawn = "png", _saved(figure, "png", {"Software": None})
    import_pyplot().close(figure)
    return f"data:image/{mime};base64,{b64encode(drawn).decode()}"


def _saved(figure: Any, kind: str, metadata: dict[str, None]) -> bytes:
    made = BytesIO()
    figure.savefig(made, format=kind, metadata=metadata, dpi=150, bbox_inches="tight")
    return made.getvalue()


def links_of(curves: xr.DataArray) -> dict[tuple[Any, ...], str]:
    """Return the anchor of each task, by its labels along the extra dims, in C order."""
    values = [curves[dim].to_numpy().tolist() for dim in labels.extra_dims(curves)]
    return {key: f"task-{place}" for place, key in enumerate(product(*values), 1)}


def gallery(curves: xr.DataArray, names: Sequence[str], frames: Iterable[tuple[str, pd.DataFrame]]) -> str:
    """Return a figure for each task, with its rows of frames, given with their titles, folded below it."""
    dims = labels.extra_dims(curves)
    rows = [(title, dict(_split(frame, dims))) for title, frame in frames]
    drawn = draw_means(curves)
    what = f"{label_of(curves)} against {label_of(curves['training'])}"
    figures = []
    for place, ((key, anchor), name) in enumerate(zip(links_of(curves).items(), names, strict=True)):
        own = [markup.html_table(of[key], title) for title, of in rows if key in of]
        image = markup.image(drawn[place], f"{what}: means of runs on {name}.") if drawn else ""
        figures.append(
            f'<figure><h3 id="{anchor}">{markup.text(name)}</h3>{image}'
            f"<figcaption>{markup.folded(f'Numbers of {name}', ''.join(own))}</figcaption></figure>"
        )
    said = f"{what}: the means of runs, each task on its own axes." if drawn else MISSING
    legend = markup.image(drawn[-1], "Lines of the algorithms.") if drawn else ""
    return f'{markup.paragraph(said)}<div class="legend">{legend}</div><div class="gallery">{"".join(figures)}</div>'


def draw_means(curves: xr.DataArray) -> list[str]:
    """Return a small picture of the means of each task, in C order, then their legend; nothing without matplotlib."""
    try:
        plt = import_pyplot()
    except ModuleNotFoundError:
        return []
    found = []
    with plt.rc_context({**_SAME, "font.size": 9}):
        for panel in split(with_styles(drawable(curves), {}), labels.extra_dims(curves)):
            task = panel.data.isel(training=panel.data.notnull().any(["algorithm", "run"]).to_numpy())
            figure, ax = plt.subplots(figsize=_SMALL)
            if task.size:
                scale_training(ax, task["training"])
            ax.set_xlabel("")
            ax.locator_params("y", nbins=_TICKS)
            for mean in means_of_all(task):
                style = style_in(mean)
                line = {"label": str(mean["algorithm"].item()), "color": style.color, "linestyle": style.linestyle}
                ax.plot(task["training"], mean, **line)
            lines = ax.get_lines()
            found.append(_encode(figure))
        figure = plt.figure(figsize=(_TEXT, 0.1))
        figure.legend(handles=lines, ncols=min(len(lines), _IN_A_ROW), frameon=False)
        found.append(_encode(figure))
    return found


def _split(frame: pd.DataFrame, dims: Sequence[Any]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Yield the labels of each task in a frame and its rows, if the frame is one of tasks."""
    levels: list[Any] = list(range(len(dims)))
    if list(frame.index.names[: len(dims)]) == list(dims):
        for key, rows in frame.groupby(level=levels, sort=False):
            yield key, rows.reset_index(drop=True) if rows.index.nlevels == len(dims) else rows.droplevel(levels)
