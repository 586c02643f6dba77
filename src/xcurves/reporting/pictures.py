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
from xcurves.core.axes import style_of
from xcurves.core.schema import caption_of
from xcurves.core.wording import label_of
from xcurves.kernels.moments import Floats
from xcurves.plotting.curves import curves_alternative, means_of_all
from xcurves.plotting.dispatch import plot
from xcurves.reporting import markup

MISSING = "Pictures are left out: they need matplotlib (pip install 'xcurves[plot]')."
_TEXT = 7.6  # inches of a line of text on the page
_HIGHER = 1.25  # how much higher a widened picture is at most
_PHONE = 3.7  # inches of a narrow screen
_LARGE = 400_000  # bytes of an SVG, beyond which a PNG is smaller
_LEFT, _RIGHT, _TOP, _BOTTOM = 42, 292, 8, 168  # of the panel of a drawing
_DASHES = {"-": "", "--": "6 3", "-.": "7 2 1.5 2"}
_MOST = 100_000  # scores of which every run is drawn
_TICKS = 4
_EVEN = 4  # largest ratio of steps on a linear scale, as in other pictures


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


def links_of(curves: xr.DataArray) -> dict[tuple[Any, ...], str]:
    """Return the anchor of each task, by its labels along the extra dims, in C order."""
    values = [curves[dim].to_numpy().tolist() for dim in labels.extra_dims(curves)]
    return {key: f"task-{place}" for place, key in enumerate(product(*values), 1)}


def gallery(curves: xr.DataArray, names: Sequence[str], frames: Iterable[tuple[str, pd.DataFrame]]) -> str:
    """Return a figure for each task, with its rows of frames, given with their titles, folded below it."""
    dims = labels.extra_dims(curves)
    rows = [(title, dict(_split(frame, dims))) for title, frame in frames]
    algorithms = enumerate(curves["algorithm"].to_numpy().tolist())
    figures = []
    for (key, anchor), name in zip(links_of(curves).items(), names, strict=True):
        task = curves.sel(dict(zip(dims, key, strict=True)), drop=True).transpose(*labels.DIMS)
        own = [markup.html_table(of[key], title, is_landmark=False) for title, of in rows if key in of]
        figures.append(
            f'<figure><h3 id="{anchor}">{markup.text(name)}</h3>{_task_drawing(task, curves.size <= _MOST)}'
            f"<figcaption>{markup.folded(f'Numbers of {name}', ''.join(own))}</figcaption></figure>"
        )
    training = label_of(curves["training"])
    return (
        markup.paragraph(
            f"{label_of(curves)} against {training}, each task on its own axes: thick lines are the means of runs"
            + (", thin lines the runs." if curves.size <= _MOST else ".")
        )
        + markup.legend((name, _line("M0 5H36", at, 2.4)) for at, name in algorithms)
        + f'<div class="gallery">{"".join(figures)}</div>'
    )


def _split(frame: pd.DataFrame, dims: Sequence[Any]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Yield the labels of each task in a frame and its rows, if the frame is one of tasks."""
    if list(frame.index.names[: len(dims)]) != list(dims):
        return
    levels: list[Any] = list(range(len(dims)))
    for key, rows in frame.groupby(level=levels, sort=False):
        yield key, rows.reset_index(drop=True) if rows.index.nlevels == len(dims) else rows.droplevel(levels)


def _task_drawing(task: xr.DataArray, with_runs: bool) -> str:
    """Return the curves of a task, dims (algorithm, run, training), as a drawing within the page."""
    here = task.isel(training=task.notnull().any(["algorithm", "run"]).to_numpy())
    alternative = curves_alternative(task)
    if not here.size:
        return markup.drawing(alternative, f'<text x="{_LEFT}" y="{_TOP + 20}">no runs</text>')
    scores, means, levels = here.to_numpy(), means_of_all(here).to_numpy(), here["training"].to_numpy()
    x = _LEFT + (_RIGHT - _LEFT) * _positions(levels)
    drawn = scores if with_runs or np.isnan(means).all() else means
    low, high = float(np.nanmin(drawn)), float(np.nanmax(drawn))
    pad = 0.04 * (high - low) or max(abs(high), 1.0) * 0.1
    low, high = low - pad, high + pad

    def y(values: Floats) -> Floats:
        return _BOTTOM - (_BOTTOM - _TOP) * (values - low) / (high - low)

    parts = [_axes(levels, _ticks(low, high), y)]
    if with_runs:
        parts += [_line("".join(_path(x, y(run)) for run in runs), at, 0.6, 0.4) for at, runs in enumerate(scores)]
    parts += [_line(_path(x, y(mean)), at, 2.2) for at, mean in enumerate(means)]
    return markup.drawing(alternative, "".join(parts))


def _positions(levels: Floats) -> Floats:
    """Return levels on a scale of 0 to 1: linear if they are even, else logarithmic, with 0 a step before."""
    steps = np.diff(levels)
    if levels[0] < 0 or len(levels) < 3 or steps.max() <= _EVEN * steps.min():
        placed = levels - levels[0]
    else:
        first = levels[levels > 0][0]
        placed = np.where(levels > 0, np.log10(np.maximum(levels, first) / first) + 0.3 * (levels[0] == 0), 0.0)
    return np.asarray(placed / (placed[-1] or 1.0))


def _ticks(low: float, high: float) -> Floats:
    """Return round numbers between two values."""
    step = 10.0 ** np.floor(np.log10((high - low) / _TICKS))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= _TICKS)
    return np.asarray(np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step)


def _axes(levels: Floats, ticks: Floats, y: Any) -> str:
    """Return the frame of a panel with round scores and the first and the last level."""
    parts = [f'<path d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}" fill="none" stroke="#777"/>']
    for tick, at in zip(ticks.tolist(), y(ticks).tolist(), strict=True):
        said = markup.as_cell(0.0 if abs(tick) < 1e-12 * np.abs(ticks).max() else tick)
        parts.append(f'<path d="M{_LEFT} {at:.1f}H{_RIGHT}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{_LEFT - 4}" y="{at + 4:.1f}" text-anchor="end">{said}</text>')
    ends = {"start": (_LEFT, levels[0]), "end": (_RIGHT, levels[-1])}
    for anchor, (at, level) in list(ends.items())[: len(levels)]:
        parts.append(f'<text x="{at}" y="{_BOTTOM + 16}" text-anchor="{anchor}">{markup.as_cell(float(level))}</text>')
    return "".join(parts)


def _path(x: Floats, y: Floats) -> str:
    """Return the line through the points that there are."""
    has = ~np.isnan(y)
    points = [f"{at:.1f} {height:.1f}" for at, height in zip(x[has].tolist(), y[has].tolist(), strict=True)]
    return f"M{points[0]}L{' '.join(points[1:]) or points[0]}" if points else ""


def _line(path: str, place: int, width: float, opacity: float = 1) -> str:
    """Return a line in the style of the algorithm at a place."""
    style = style_of(place)
    own = style.linestyle
    pattern = _DASHES[own] if isinstance(own, str) else " ".join(str(2 * length) for length in own[1])
    dashes = f' stroke-dasharray="{pattern}"' if opacity == 1 and pattern else ""
    fade = f' stroke-opacity="{opacity}"' if opacity < 1 else ""
    return f'<path d="{path}" fill="none" stroke="{style.color}" stroke-width="{width}"{dashes}{fade}/>' if path else ""
