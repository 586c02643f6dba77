"""Pictures of curves and of scores themselves: the mean of an algorithm's runs, a band around it, each run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance, validation
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.schema import MOST_CURVES, Picture
from xcurves.core.validation import check_curves, has_no_training, has_own_levels, with_training
from xcurves.draw.canvas import Canvas, styled
from xcurves.draw.drawn_names import drawable
from xcurves.draw.figure import Cell, draw_panels
from xcurves.draw.room import Room
from xcurves.means.kinds import CURVES_CAPTION, SCORES_CAPTION
from xcurves.means.mean_curves import mean_curves
from xcurves.means.plots import has_no_mean, pictures_of, rows_of_scores
from xcurves.pictures.curves import CurvesPicture
from xcurves.pictures.rows import RowsPicture
from xcurves.pictures.styles import with_dashes
from xcurves.plotting.facets import check_dims, names_in, split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OF_MEANS = ("band", "smooth", "n_resamples", "confidence_level", "rng")
_OF_SCORES = ("runs", "band", "xscale", "title", "confidence_level", "rng", "n_resamples")
_BANDS_OF_SCORES = ["pointwise", "sd", "se"]


def plot_curves(data: xr.DataArray, canvas: Canvas, options: Mapping[str, Any]) -> Axes | NDArray[Any]:
    """Draw curves, or scores without training, in a panel for each task, and warn of those without a mean."""
    of_scores = _are_scores(data)
    if of_scores:
        _check_options_of_scores(options)
    for name in ("xscale", "yscale"):
        if options.get(name) is not None:
            validation.check_choice(name, options[name], ["linear", "log"])
    array = check_curves(with_training(data), own_levels=True).compute()
    means = mean_curves(array, **{name: options[name] for name in _OF_MEANS if name in options})
    lacking = has_no_mean(means)
    algorithms = labels.words(array["algorithm"])
    names = [f"{task}algorithm {name}" for task in labels.task_names(array) for name in algorithms]
    array, means = drawable(styled(array, canvas)), drawable(styled(means, canvas))
    if options.get("linestyles"):
        means = with_dashes(means)

    # Too many algorithms for one panel of curves have a panel each.
    dims: list[Any] = list(labels.extra_dims(array))
    is_apart = array.sizes["algorithm"] > MOST_CURVES and canvas.ax is None and not of_scores
    if is_apart:
        dims.append("algorithm")
    dims = check_dims(dims, canvas.col, canvas.row, "scores" if of_scores else "curves")
    canvas.check_one({dim: array.sizes[dim] for dim in dims})
    pictures: Sequence[Picture]
    if of_scores:
        pictures = rows_of_scores(means, array, runs=options.get("runs"), xscale=options.get("xscale"))
    else:
        scales = {name: options.get(name) for name in ("xscale", "yscale")}
        pictures = [each.with_scales(**scales) for each in pictures_of(means, array, runs=options.get("runs"))]
    room = Room(
        canvas.grid(dims, [array.sizes[dim] for dim in dims]),
        max(picture.n_rows for picture in pictures),
        0,
        canvas.figsize,
    )
    fewer = {dim: array.sizes[dim] for dim in dims if not is_apart}
    refuse = partial(room.refusal, "runs", dims, "algorithm" if is_apart else None, fewer, "to_frame")
    cells = [
        Cell(panel.title, picture)
        for panel, picture in zip(split(array, dims), _in_panels(array, pictures, dims), strict=True)
    ]
    axes = draw_panels(
        cells,
        room,
        canvas,
        refuse,
        named=names_in(array) if is_apart else (),
        title=options.get("title") or "",
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


def _are_scores(data: Any) -> bool:
    """Return whether data are single scores: without training, or with one level of it."""
    if not isinstance(data, xr.DataArray):
        return False
    if has_no_training(data):
        return True
    return not has_own_levels(data) and data.sizes.get("training") == 1


def _check_options_of_scores(options: Mapping[str, Any]) -> None:
    """Refuse options that only curves of several levels take."""
    for name in options:
        if name not in _OF_SCORES:
            reason = f"{name} is for curves of several training levels; these scores have one"
            raise Refusal(name, UNSAID, reason, "Leave it out")
    if options.get("band") is not None:
        validation.check_choice("band", options["band"], _BANDS_OF_SCORES)


def _in_panels(curves: xr.DataArray, pictures: Sequence[Picture], dims: Sequence[Hashable]) -> list[Picture]:
    """Return what each panel along dims shows, in C order; with algorithms among them, one algorithm each."""
    of_tasks = labels.extra_dims(curves)
    every_place = product(*(range(curves.sizes[dim]) for dim in of_tasks))
    picture_of = dict(zip(every_place, pictures, strict=True))
    found = []
    for places in product(*(range(curves.sizes[dim]) for dim in dims)):
        place_of = dict(zip(dims, places, strict=True))
        picture = picture_of[tuple(place_of[dim] for dim in of_tasks)]
        if "algorithm" in place_of and isinstance(picture, CurvesPicture):
            own = [line for line in picture.lines if line.place == place_of["algorithm"]]
            picture = replace(picture, lines=own)
        found.append(picture)
    return found


def curves_caption(curves: xr.DataArray) -> str:
    """Return what a caption says of the picture of curves, or of scores without training."""
    pictures: Sequence[CurvesPicture | RowsPicture]
    if _are_scores(curves):
        array = check_curves(with_training(curves))
        caption, pictures = SCORES_CAPTION, rows_of_scores(mean_curves(array), array)
    else:
        caption, pictures = CURVES_CAPTION, pictures_of(mean_curves(curves), curves)
    flags = frozenset[str]().union(*(picture.flags for picture in pictures))
    return " ".join(sentence for flag, sentence in caption.items() if flag in flags)
