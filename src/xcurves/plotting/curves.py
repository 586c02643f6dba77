"""Pictures of curves themselves: each run thin, their mean thick, a band around it by bootstrap over whole runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance, run_checks, validation
from xcurves.core.axes import MOST_CURVES, SHADE, Style, drawable, scale_training, style_in, wrapped
from xcurves.core.validation import check_curves
from xcurves.core.wording import label_of
from xcurves.kernels import bootstrap
from xcurves.kernels.moments import Floats
from xcurves.plotting.facets import Room, check_dims, split
from xcurves.plotting.panels import Canvas, Cell, draw_panels, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_RESAMPLES = 2_000
_MOST = 10**6  # resamples of a band, which are held in memory
_MEAN = 200  # levels of a mean of runs that have their own levels
_MARKED = 10  # markers along a mean
_THIN, _FAINT = 0.7, 0.12  # opacity of one or two runs, and of many

MeanBand = Callable[[Floats], Floats]
CURVES_CAPTION = {
    "run": "Each run is a thin line.",
    "mean": "Thick lines with markers: the mean of an algorithm's runs.",
    "band": "Bands: percentile intervals of the mean when whole runs are resampled, for each level by itself. With few "
    "runs they are too short: conclude from tests, not from bands.",
}


def _band(runs: Floats, n_resamples: int, alpha: float, entropy: int) -> Floats:
    """Return the limits of the mean of whole runs, shape (2, level)."""
    return bootstrap.mean_band(runs, bootstrap.BootstrapDesign((len(runs),), None, n_resamples, entropy), alpha)


def plot_curves(
    data: xr.DataArray,
    canvas: Canvas,
    n_resamples: int | None,
    confidence_level: float | None,
    rng: validation.Rng,
) -> Axes | NDArray[Any]:
    """Draw curves, in a panel for each task, and warn of those without a mean."""
    array = check_curves(data, own_levels=True).compute()
    run_checks.check_drawable(array)
    band = partial(
        _band,
        n_resamples=validation.check_count("n_resamples", n_resamples, most=_MOST) or _N_RESAMPLES,
        alpha=validation.check_confidence_level(0.95 if confidence_level is None else confidence_level),
        entropy=validation.check_rng(rng),
    )
    array = drawable(styled(array, canvas.colors))
    many = ["algorithm"] * (array.sizes["algorithm"] > MOST_CURVES and canvas.ax is None)
    dims = check_dims([*labels.extra_dims(array), *many], canvas.col, canvas.row, "curves")
    room = Room(canvas.grid(dims, [array.sizes[dim] for dim in dims]), 0, 0, canvas.figsize)
    refusal = room.refusal("runs", dims, "algorithm" if many else None, [] if many else dims)
    cells = [Cell(panel.title, partial(_draw_curves, panel.data, band=band)) for panel in split(array, dims)]
    refusal += "; .curves.to_frame() has all numbers"
    axes = draw_panels(cells, room, canvas, refusal, named=array if many else None)
    _warn_of_no_mean(array)
    return axes


def _draw_curves(curves: xr.DataArray, ax: Axes, band: MeanBand) -> None:
    """Draw the curves of one task, dims (algorithm, run, training), on one Axes."""
    ax.set_ylabel(wrapped(label_of(curves)))
    drawn = {place: DrawnRuns.of(curves.isel(algorithm=place)) for place in range(curves.sizes["algorithm"])}
    drawn = {place: runs for place, runs in drawn.items() if runs.lines}
    if not drawn:
        ax.set_xlabel(label_of(curves["training"]))
        ax.text(0.5, 0.5, "no runs", transform=ax.transAxes, ha="center", va="center")
        return
    known = np.unique(np.concatenate([levels for runs in drawn.values() for levels, _ in runs.lines]))
    training = xr.DataArray(known, name="training", attrs=curves["training"].attrs)
    scale_training(ax, training, [runs.scale for runs in drawn.values()])
    for place, runs in drawn.items():
        part = curves.isel(algorithm=place)
        style = style_in(part)
        _draw_runs(runs, ax, style)
        _draw_mean(runs, ax, place, str(part["algorithm"].item()), style, band)
    ax.margins(x=0.02)


@dataclass(frozen=True)
class DrawnRuns:
    """The runs of one algorithm: the levels and scores of each, and all scores at the levels of their mean."""

    lines: list[tuple[Floats, Floats]]
    scale: Floats
    levels: Floats
    shared: Floats

    @classmethod
    def of(cls, part: xr.DataArray) -> DrawnRuns:
        """Return the runs of an array of dims (run, training) or (run, evaluation) that have a score."""
        training, scores = part["training"].to_numpy(), part.to_numpy()
        present = ~np.isnan(scores).all(axis=1)
        levels, scores = np.broadcast_to(training, part.shape)[present], scores[present]
        has = ~np.isnan(scores)
        lines = [(level[known], run[known]) for level, run, known in zip(levels, scores, has, strict=True)]
        if not lines or training.ndim == 1:
            common = has.all(axis=0)
            return cls(lines, training[..., has.any(axis=0)], training[..., common], scores[:, common])
        # Elsewhere than between the last start and the first end, a mean would be that of fewer runs.
        starts, ends = np.array([level[[0, -1]] for level, _ in lines]).T
        low, high = starts.max(), ends.min()
        grid = np.linspace(low, high, _MEAN) if low < high else np.array([low] if low == high else [])
        scale = np.linspace(starts.min(), ends.max(), 3)
        return cls(lines, scale, grid, np.array([np.interp(grid, *line) for line in lines]))


def _draw_runs(runs: DrawnRuns, ax: Axes, style: Style) -> None:
    """Draw each run through the levels that it has, up to its last one."""
    for levels, scores in runs.lines:
        dot = "." if len(levels) == 1 else None
        alpha = max(_FAINT, min(1, 2 / len(runs.lines)) * _THIN)
        look: dict[str, Any] = {"linewidth": 0.7, "alpha": alpha, "marker": dot, "zorder": 1.5, "gid": "run"}
        ax.plot(levels, scores, color=style.color, linestyle="-", **look)


def _draw_mean(runs: DrawnRuns, ax: Axes, place: int, name: str, style: Style, band: MeanBand) -> None:
    """Draw the mean and its band."""
    levels, shared = runs.levels, runs.shared
    if len(shared) > 1 and len(levels):
        low, high = band(shared)
        shade: dict[str, Any] = {"color": style.color, "alpha": SHADE, "zorder": 2}
        ax.fill_between(levels, low, high, linewidth=0, gid="band", **shade)
        if len(levels) == 1:
            ax.vlines(levels, low, high, linewidth=6, **shade)
    points = float(ax.xaxis.label.get_fontsize())
    look: dict[str, Any] = {**style._asdict(), "linewidth": 0.18 * points, "markersize": 0.55 * points}
    look |= {"markeredgecolor": "white", "markeredgewidth": 0.5, "markevery": _marked(levels, ax, place)}
    ax.plot(levels, shared.mean(axis=0), label=name, zorder=2.5, gid="mean", **look)


def _marked(levels: Floats, ax: Axes, place: int) -> list[int]:
    """Return which levels get a marker: evenly spaced on the axis, shifted for each algorithm."""
    if len(levels) <= _MARKED:
        return list(range(len(levels)))
    x = ax.xaxis.get_transform().transform(levels)
    wanted = np.linspace(x[0], x[-1], _MARKED) + (x[-1] - x[0]) / _MARKED * (place % 4) / 4
    return sorted({int(np.abs(x - place).argmin()) for place in wanted})


def _warn_of_no_mean(curves: xr.DataArray) -> None:
    """Warn once of algorithms whose runs share no level, so that no mean can be drawn."""
    tasks = split(curves, list(labels.extra_dims(curves)))
    drawn = [DrawnRuns.of(one.data[place]) for one in tasks for place in range(curves.sizes["algorithm"])]
    algorithms = labels.words(curves["algorithm"])
    names = [f"{task}algorithm {name}" for task in labels.task_names(curves) for name in algorithms]
    provenance.warn_of(
        np.array([bool(runs.lines) and not len(runs.levels) for runs in drawn]),
        names,
        lambda _: (
            " has no training level that all its runs have, so no mean is drawn. Bring runs to common levels with "
            ".curves.align(...)"
        ),
        "cases",
    )


def means_of_all(curves: xr.DataArray) -> xr.DataArray:
    """Return the means of the runs of one task at the levels that all of an algorithm's runs have, NaN elsewhere."""
    has = curves.notnull()
    complete = has.any("run") & (has | ~has.any("training")).all("run")
    return curves.mean("run").where(complete).transpose("algorithm", "training")
