"""Pictures of curves themselves: the mean of an algorithm's runs, a band around it, each run where asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance, validation
from xcurves.core.schema import MOST_CURVES
from xcurves.core.validation import check_curves
from xcurves.draw.curves import draw_curves
from xcurves.draw.drawn_names import drawable
from xcurves.means.kinds import CURVES_CAPTION
from xcurves.means.mean_curves import mean_curves
from xcurves.means.plots import has_no_mean, pictures_of
from xcurves.pictures.curves import CurvesPicture
from xcurves.pictures.styles import LINES
from xcurves.plotting.facets import Room, check_dims, split
from xcurves.plotting.panels import Canvas, Cell, draw_panels, styled
from xcurves.plotting.strips import SCORES_CAPTION, is_strip, strip_flags

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    for name, scale in (("xscale", xscale), ("yscale", yscale)):
        if scale is not None:
            validation.check_choice(name, scale, ["linear", "log"])
    array = check_curves(data, own_levels=True).compute()
    options: dict[str, Any] = {"band": band, "smooth": smooth, "n_resamples": n_resamples, "rng": rng}
    if confidence_level is not None:
        options["confidence_level"] = confidence_level
    means = mean_curves(array, **options)
    lacking = has_no_mean(means)
    algorithms = labels.words(array["algorithm"])
    names = [f"{task}algorithm {name}" for task in labels.task_names(array) for name in algorithms]
    array, means = drawable(styled(array, canvas)), drawable(styled(means, canvas))

    # Too many algorithms for one panel have a panel each.
    dims: list[Any] = list(labels.extra_dims(array))
    is_apart = array.sizes["algorithm"] > MOST_CURVES and canvas.ax is None
    if is_apart:
        dims.append("algorithm")
    dims = check_dims(dims, canvas.col, canvas.row, "curves")
    canvas.check_one({dim: array.sizes[dim] for dim in dims})
    room = Room(canvas.grid(dims, [array.sizes[dim] for dim in dims]), 0, 0, canvas.figsize)
    if is_apart:
        refusal = room.refusal("runs", dims, "algorithm", [], "to_frame")
    else:
        refusal = room.refusal("runs", dims, None, dims, "to_frame")

    pictures = pictures_of(means, array, runs=runs)
    panels = split(array, dims)
    in_panels = _in_panels(array, pictures, dims)
    if linestyles:
        in_panels = list(map(_dashed, in_panels))
    in_panels = [picture.with_scales(xscale, yscale) for picture in in_panels]
    cells = [
        Cell(panel.title, partial(draw_curves, picture=picture))
        for panel, picture in zip(panels, in_panels, strict=True)
    ]
    axes = draw_panels(
        cells,
        room,
        canvas,
        refusal,
        named=array if is_apart else None,
        title=title or "",
    )
    provenance.warn_of(
        lacking,
        names,
        lambda _: (
            " has no training level that all its runs have, so no mean is drawn. Bring runs to common levels with "
            ".curves.align(...)"
        ),
        "cases",
    )
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


def _dashed(picture: CurvesPicture) -> CurvesPicture:
    """Return a picture whose lines differ in their dashes too."""
    lines = [
        replace(line, style=line.style._replace(linestyle=LINES[line.place % len(LINES)])) for line in picture.lines
    ]
    return replace(picture, lines=lines)


def curves_caption(curves: xr.DataArray) -> str:
    """Return what a caption says of the picture of curves, or of scores without training."""
    if is_strip(curves):
        caption, flags = SCORES_CAPTION, strip_flags(curves)
    else:
        pictures = pictures_of(mean_curves(curves), curves)
        caption, flags = CURVES_CAPTION, frozenset[str]().union(*(picture.flags for picture in pictures))
    return " ".join(sentence for flag, sentence in caption.items() if flag in flags)
