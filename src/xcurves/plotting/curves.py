"""Pictures of curves themselves: the mean of an algorithm's runs, a band around it, each run where asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels, provenance, run_checks, validation
from xcurves.core.schema import MOST_CURVES
from xcurves.core.validation import check_curves
from xcurves.plotting.curve_lines import (
    BANDS,
    CURVES_CAPTION,
    CurveLine,
    CurveOptions,
    CurvesPicture,
    check_smooth,
    drawn,
    drawn_band,
    pictures_of,
)
from xcurves.plotting.drawn_names import drawable, wrapped
from xcurves.plotting.facets import Room, check_dims, split
from xcurves.plotting.look import LINES, SHADE
from xcurves.plotting.panels import Canvas, Cell, draw_panels, styled
from xcurves.plotting.strips import is_strip, strip_flags
from xcurves.plotting.ticks import rescale, scale_training

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_RESAMPLES = 2_000
_MOST = 10**6  # resamples
_MARKED = 10  # levels that have a marker each where they are uneven
_UNEVEN = 1.5  # ratio of steps on the axis
_THIN, _FAINT = 0.7, 0.12  # opacity of one or two runs, and of many
_COLUMNS = 72  # of pixels in an inch, as many as an SVG has
_LEAST_COLUMNS, _MOST_COLUMNS = 100, 500  # more would make files large


def plot_curves(
    data: xr.DataArray,
    canvas: Canvas,
    *,
    runs: bool | None = None,
    band: str | None = "pointwise",
    smooth: float = 0.0,
    linestyles: bool | None = None,
    xscale: str | None = None,
    yscale: str | None = None,
    title: str | None = None,
    n_resamples: int | None = None,
    confidence_level: float | None = None,
    rng: validation.Rng = None,
) -> Axes | NDArray[Any]:
    """Draw curves, in a panel for each task, and warn of those without a mean."""
    if band is not None:
        band = validation.check_choice("band", band, [*BANDS])
    for name, scale in (("xscale", xscale), ("yscale", yscale)):
        if scale is not None:
            validation.check_choice(name, scale, ["linear", "log"])
    if confidence_level is None:
        confidence_level = 0.95
    alpha = validation.check_confidence_level(confidence_level)
    options = CurveOptions(
        runs=runs,
        band=band,
        smooth=check_smooth(smooth),
        confidence_level=1 - alpha,
        n_resamples=validation.check_count("n_resamples", n_resamples, most=_MOST) or _N_RESAMPLES,
        entropy=validation.check_rng(rng),
    )
    array = check_curves(data, own_levels=True).compute()
    run_checks.check_drawable(array)
    array = drawable(styled(array, canvas))

    # Too many algorithms for one panel have a panel each.
    dims: list[Any] = list(labels.extra_dims(array))
    is_apart = array.sizes["algorithm"] > MOST_CURVES and canvas.ax is None
    if is_apart:
        dims.append("algorithm")
    dims = check_dims(dims, canvas.col, canvas.row, "curves")
    room = Room(canvas.grid(dims, [array.sizes[dim] for dim in dims]), 0, 0, canvas.figsize)
    if is_apart:
        refusal = room.refusal("runs", dims, "algorithm", [], "to_frame")
    else:
        refusal = room.refusal("runs", dims, None, dims, "to_frame")

    pictures = pictures_of(array, options)
    panels = split(array, dims)
    in_panels = _in_panels(array, pictures, dims)
    draw = partial(_draw_picture, linestyles=bool(linestyles), xscale=xscale, yscale=yscale)
    cells = [Cell(panel.title, partial(draw, picture)) for panel, picture in zip(panels, in_panels, strict=True)]
    axes = draw_panels(
        cells,
        room,
        canvas,
        refusal,
        named=array if is_apart else None,
        title=title or "",
    )
    _warn_of_no_mean(array, pictures)
    return axes


def _in_panels(
    curves: xr.DataArray, pictures: Sequence[CurvesPicture], dims: Sequence[Hashable]
) -> list[CurvesPicture]:
    """Return what each panel along dims shows, in C order; with algorithms among them, one algorithm each."""
    of_tasks = labels.extra_dims(curves)
    every_place = product(*(range(curves.sizes[dim]) for dim in of_tasks))
    picture_of = dict(zip(every_place, pictures, strict=True))
    found = []
    for places in product(*(range(curves.sizes[dim]) for dim in dims)):
        place_of = dict(zip(dims, places, strict=True))
        picture = picture_of[tuple(place_of[dim] for dim in of_tasks)]
        if "algorithm" in place_of:
            own = [line for line in picture.lines if line.place == place_of["algorithm"]]
            picture = replace(picture, lines=own)
        found.append(picture)
    return found


def _draw_picture(
    picture: CurvesPicture,
    ax: Axes,
    *,
    linestyles: bool,
    xscale: str | None,
    yscale: str | None,
) -> None:
    """Draw the curves of one task on one Axes."""
    ax.set_ylabel(wrapped(picture.y_label))
    if not picture.lines:
        ax.set_xlabel(picture.x_label)
        ax.text(0.5, 0.5, "no runs", transform=ax.transAxes, ha="center", va="center")
        return
    _scale(picture, ax)
    rescale(ax, xscale, yscale)

    for line in picture.lines:
        if linestyles:
            line = replace(
                line,
                style=line.style._replace(linestyle=LINES[line.place % len(LINES)]),
            )
        if line.shows_runs:
            _draw_runs(line, ax)
        if line.has_band:
            _draw_band(line, ax, picture.band)
        _draw_mean(line, ax)
    ax.grid(axis="y", color="0.9")
    ax.margins(x=0.02)


def _scale(picture: CurvesPicture, ax: Axes) -> None:
    """Label the x axis and give it the kind that all panels have."""
    levels = picture.levels
    # that of another panel begins at 0
    if picture.xscale == "symlog" and levels[0] > 0:
        levels = np.concatenate([[0.0], levels])
    training = xr.DataArray(levels, name="training", attrs={"long_name": picture.x_label})
    if picture.xscale == "linear":
        scale_training(ax, training, [levels[-1:]])  # one level is even
    else:
        scale_training(ax, training, log=True)


def _columns(ax: Axes) -> int:
    """Return how many columns of pixels a panel has."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    return int(np.clip(_COLUMNS * inches, _LEAST_COLUMNS, _MOST_COLUMNS))


def _draw_runs(line: CurveLine, ax: Axes) -> None:
    """Draw each run through the levels that it has, up to its last one."""
    for levels, scores in drawn(line, _columns(ax), ax.get_xscale()).runs:
        look: dict[str, Any] = {"linewidth": 0.7, "linestyle": "-", "zorder": 1.5}
        look["alpha"] = max(_FAINT, min(1, 2 / line.n_runs) * _THIN)
        if len(levels) == 1:
            look["marker"] = "."
        ax.plot(levels, scores, color=line.style.color, **look)


def _draw_band(line: CurveLine, ax: Axes, flag: str) -> None:
    levels, low, high = drawn_band(line, _columns(ax), ax.get_xscale())
    shade: dict[str, Any] = {"color": line.style.color, "alpha": SHADE, "zorder": 2}
    ax.fill_between(levels, low, high, linewidth=0, gid=flag, **shade)
    if len(levels) == 1:
        ax.vlines(levels, low, high, linewidth=6, **shade)


def _draw_mean(line: CurveLine, ax: Axes) -> None:
    shown = drawn(line, _columns(ax), ax.get_xscale())
    points = float(ax.xaxis.label.get_fontsize())
    look: dict[str, Any] = {
        "color": line.style.color,
        "linestyle": line.style.linestyle,
        "zorder": 2.5,
    }
    look |= {"linewidth": 0.18 * points, "gid": "mean"}
    if _has_markers(line.levels, ax):
        look |= {"marker": line.style.marker, "markersize": 0.5 * points}
        look |= {"markeredgecolor": "white", "markeredgewidth": 0.5}
    ax.plot(shown.levels, shown.mean, label=line.name, **look)


def _has_markers(levels: Floats, ax: Axes) -> bool:
    """Return whether levels are few and unevenly spaced on the axis, or only one."""
    if len(levels) == 1:
        return True
    if not 2 < len(levels) <= _MARKED:
        return False
    steps = np.diff(ax.xaxis.get_transform().transform(levels))
    return bool(steps.max() > _UNEVEN * steps.min())


def curves_caption(curves: xr.DataArray) -> str:
    """Return what a caption says of the picture of curves, or of scores without training."""
    flags: frozenset[str] = frozenset()
    if is_strip(curves):
        flags = strip_flags(curves)
    else:
        flags = flags.union(*(picture.flags for picture in pictures_of(curves)))
    return " ".join(sentence for flag, sentence in CURVES_CAPTION.items() if flag in flags)


def _warn_of_no_mean(curves: xr.DataArray, pictures: Sequence[CurvesPicture]) -> None:
    """Warn once of algorithms whose runs share no level, so that no mean can be drawn."""
    algorithms = labels.words(curves["algorithm"])
    lacking, names = [], []
    for task, picture in zip(labels.task_names(curves), pictures, strict=True):
        without_mean = {line.place for line in picture.lines if not len(line.levels)}
        for place, name in enumerate(algorithms):
            lacking.append(place in without_mean)
            names.append(f"{task}algorithm {name}")
    provenance.warn_of(
        np.array(lacking),
        names,
        lambda _: (
            " has no training level that all its runs have, so no mean is drawn. Bring runs to common levels with "
            ".curves.align(...)"
        ),
        "cases",
    )
