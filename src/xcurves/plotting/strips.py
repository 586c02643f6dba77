"""The picture of scores without training: a strip for each algorithm, with its runs, their mean and its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels, validation
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.validation import (
    check_curves,
    has_no_training,
    has_own_levels,
    is_without_training,
    with_training,
)
from xcurves.draw.drawn_names import drawable, list_rows, wrapped
from xcurves.kernels.one_task.level_means import band_ends
from xcurves.pictures.styles import style_in
from xcurves.plotting.facets import Room, check_dims, split
from xcurves.plotting.panels import Canvas, Cell, draw_panels, styled
from xcurves.say.numbers import label_of, short_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BANDS = ("pointwise", "sd", "se")
# that a strip can have
_OPTIONS = ("runs", "band", "xscale", "title", "confidence_level", "rng", "n_resamples")
_GOLDEN = 0.618034  # turns of it spread dots evenly, whatever their number
_DOTS, _SPREAD = -0.12, 0.5  # middle and height of the dots of a strip, in rows
_MEAN = 0.28  # where the mean stands, in rows below the middle
_ROW = 1.25  # height of a strip, in rows of text
_FAINT = 0.15  # opacity of dots where there are very many

# What a caption says of each flag of a picture.
SCORES_CAPTION = {
    "score": "Dots: the score of each run.",
    "score mean": "Diamonds: their mean.",
    "score pointwise": "Lines: the t interval of the mean.",
    "score sd": "Lines: the standard deviation of the runs.",
    "score se": "Lines: the standard error of the mean.",
}


@dataclass(frozen=True)
class Strip:
    """The scores of one algorithm, their mean and its interval; NaN where there is none."""

    name: str
    scores: Floats
    mean: float
    low: float
    high: float


def is_strip(data: xr.DataArray) -> bool:
    """Return whether an array is of single scores: it has no training, or one level of it."""
    if has_no_training(data):
        return True
    return not has_own_levels(data) and data.sizes.get("training") == 1


def plot_strips(data: xr.DataArray, canvas: Canvas, given: Mapping[str, Any]) -> Axes | NDArray[Any]:
    """Draw the scores of each algorithm in a row, in a panel for each task."""
    for name in given:
        if name not in _OPTIONS:
            raise Refusal(
                name,
                UNSAID,
                f"{name} is for curves of several training levels; these scores have one",
                "Leave it out",
            )
    band = given.get("band", "pointwise")
    if band is not None:
        band = validation.check_choice("band", band, [*BANDS])
    alpha = validation.check_confidence_level(given.get("confidence_level", 0.95))
    scale = given.get("xscale")
    if scale is not None:
        validation.check_choice("xscale", scale, ["linear", "log"])

    scores = check_curves(with_training(data)).compute()
    label = label_of(scores)
    if not is_without_training(scores):
        label = f"{label} at {label_of(scores['training'])} {short_level(scores['training'].item())}"
    scores = drawable(styled(scores, canvas)).isel(training=0)

    dims = check_dims(labels.extra_dims(scores), canvas.col, canvas.row, "scores")
    canvas.check_one({dim: scores.sizes[dim] for dim in dims})
    grid = canvas.grid(dims, [scores.sizes[dim] for dim in dims])
    room = Room(grid, _ROW * scores.sizes["algorithm"], 0, canvas.figsize)
    refusal = room.refusal("runs", dims, None, dims, "to_frame")

    def draw(panel: xr.DataArray, ax: Axes) -> None:
        draw_strips(panel, ax, band, 1 - alpha, runs=given.get("runs") is not False)
        if scale is not None:
            ax.set_xscale(scale)
        ax.set_xlabel(wrapped(label))

    cells = [Cell(panel.title, partial(draw, panel.data)) for panel in split(scores, dims)]
    return draw_panels(cells, room, canvas, refusal, title=given.get("title") or "")


def strips_of(scores: xr.DataArray, band: str | None, confidence_level: float) -> list[Strip]:
    """Return the strip of each algorithm of one task, dims (algorithm, run)."""
    found = []
    for place in range(scores.sizes["algorithm"]):
        part = scores.isel(algorithm=place)
        values = part.to_numpy()
        values = values[~np.isnan(values)]
        mean = float(values.mean()) if values.size else np.nan
        low = high = np.nan
        if band is not None and len(values) > 1:
            ends = band_ends(values[:, np.newaxis], band, 1 - confidence_level)
            low, high = ends.ravel().tolist()
        found.append(Strip(str(part["algorithm"].item()), values, mean, low, high))
    return found


def strip_flags(data: xr.DataArray, band: str = "pointwise") -> frozenset[str]:
    """Return what a picture of scores shows, as captions name it."""
    scores = check_curves(with_training(data)).compute().isel(training=0)
    dims = labels.extra_dims(scores)
    strips = [strip for panel in split(scores, dims) for strip in strips_of(panel.data, band, 0.95)]
    flags = set()
    if any(len(strip.scores) for strip in strips):
        flags |= {"score", "score mean"}
    if any(np.isfinite(strip.low) for strip in strips):
        flags.add(f"score {band}")
    return frozenset(flags)


def draw_strips(
    scores: xr.DataArray,
    ax: Axes,
    band: str | None,
    confidence_level: float,
    *,
    runs: bool,
) -> None:
    """Draw a row for each algorithm: its runs as dots, below them the mean with its interval."""
    strips = strips_of(scores, band, confidence_level)
    for row, strip in enumerate(strips):
        style = style_in(scores.isel(algorithm=row))
        n = len(strip.scores)
        if runs or not np.isfinite(strip.low):
            height = row + _DOTS + _SPREAD * ((_GOLDEN * np.arange(n)) % 1 - 0.5)
            ax.plot(strip.scores, height, "o", color=style.color, markersize=3, markeredgewidth=0,
                    alpha=max(_FAINT, min(0.6, 20 / max(n, 1))), gid="score")  # fmt: skip
        if np.isfinite(strip.low):
            ax.hlines(
                row + _MEAN,
                strip.low,
                strip.high,
                color=style.color,
                linewidth=2,
                gid=f"score {band}",
            )
        if n:
            ax.plot(strip.mean, row + _MEAN, "D", color=style.color, markersize=5, markeredgecolor="white",
                    markeredgewidth=0.6, gid="score mean")  # fmt: skip
    list_rows(ax, [strip.name for strip in strips])
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="0.9")
