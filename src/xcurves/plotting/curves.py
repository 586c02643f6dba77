"""Pictures of curves themselves: each run thin, their mean thick, a band around it by bootstrap over whole runs."""

from __future__ import annotations

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
from xcurves.plotting.facets import check_dims, split
from xcurves.plotting.look import Look
from xcurves.plotting.panels import Canvas, Cell, draw_cells
from xcurves.plotting.room import Room

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_RESAMPLES = 2_000
_MOST = 10**6  # resamples of a band, which are held in memory
_MEAN = 200  # levels of a mean of runs that have their own levels
_MARKED = 10  # markers along a mean
_THIN, _FAINT = 0.7, 0.12  # opacity of one or two runs, and of many


@dataclass(frozen=True)
class Band:
    """How the band around a mean is made."""

    n_resamples: int
    alpha: float
    entropy: int

    def of(self, runs: Floats) -> Floats:
        """Return the limits of the mean of whole runs, shape (2, level)."""
        design = bootstrap.BootstrapDesign((len(runs),), None, self.n_resamples, self.entropy)
        return bootstrap.mean_band(runs, design, self.alpha)


def plot_curves(
    data: xr.DataArray,
    canvas: Canvas,
    look: Look,
    n_resamples: int | None,
    confidence_level: float | None,
    rng: validation.Rng,
) -> Axes | NDArray[Any]:
    """Draw curves, in a panel for each task, and warn of those without a mean."""
    array = check_curves(data, own_levels=True).compute()
    run_checks.check_drawable(array)
    band = Band(
        validation.check_count("n_resamples", n_resamples, most=_MOST) or N_RESAMPLES,
        validation.check_confidence_level(0.95 if confidence_level is None else confidence_level),
        validation.check_rng(rng),
    )
    array = drawable(look.of(array))
    many = ["algorithm"] * (array.sizes["algorithm"] > MOST_CURVES and canvas.ax is None)
    dims = check_dims([*labels.extra_dims(array), *many], canvas.col, canvas.row, "curves")
    room = Room(canvas.grid(dims, [array.sizes[dim] for dim in dims]), 0, 0, canvas.figsize)
    size = room.size()
    if size is None and canvas.ax is None:
        refusal = room.refusal("runs", dims, "algorithm" if many else None, [] if many else dims)
        raise ValueError(f"{refusal}; .curves.to_frame() has all numbers")
    cells = [Cell(panel.title, partial(draw_curves, panel.data, band=band)) for panel in split(array, dims)]
    apart: dict[str, Any] = {"shared": "all", "named": array} if many else {}
    axes = draw_cells(cells, room.grid, size or (0, 0), canvas, **apart)
    warn_of_no_mean(array)
    return axes


def draw_curves(curves: xr.DataArray, ax: Axes, band: Band) -> None:
    """Draw the curves of one task, dims (algorithm, run, training), on one Axes."""
    ax.set_ylabel(wrapped(label_of(curves)))
    drawn = {place: Runs.of(curves.isel(algorithm=place)) for place in range(curves.sizes["algorithm"])}
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
class Runs:
    """The runs of one algorithm: the levels and scores of each, and all scores at the levels of their mean."""

    lines: list[tuple[Floats, Floats]]
    scale: Floats
    levels: Floats
    shared: Floats

    @classmethod
    def of(cls, part: xr.DataArray) -> Runs:
        """Return the runs of an array of dims (run, training) or (run, evaluation) that have a score.

        Their mean is at the levels that all have, or, where each has its own, at levels between the last start and
        the first end: elsewhere it would be the mean of fewer runs.
        """
        scores = part.to_numpy()
        scores, own = scores[~np.isnan(scores).all(axis=1)], part["training"].ndim > 1
        levels = np.broadcast_to(part["training"].to_numpy(), part.shape)[~np.isnan(part.to_numpy()).all(axis=1)]
        lines = [(level[has], run[has]) for level, run in zip(levels, scores, strict=True) for has in [~np.isnan(run)]]
        if not lines or not own:
            common = ~np.isnan(scores).any(axis=0)
            known = part["training"].to_numpy()
            return cls(lines, known[~np.isnan(scores).all(axis=0)], known[common], scores[:, common])
        low, high = max(level[0] for level, _ in lines), min(level[-1] for level, _ in lines)
        grid = np.linspace(low, high, _MEAN) if low < high else np.array([low] if low == high else [])
        scale = np.linspace(min(level[0] for level, _ in lines), max(level[-1] for level, _ in lines), 3)
        return cls(lines, scale, grid, np.array([np.interp(grid, *line) for line in lines]))


def _draw_runs(runs: Runs, ax: Axes, style: Style) -> None:
    """Draw each run through the levels that it has, up to its last one."""
    for levels, scores in runs.lines:
        dot = "." if len(levels) == 1 else None
        alpha = max(_FAINT, min(1, 2 / len(runs.lines)) * _THIN)
        look: dict[str, Any] = {"linewidth": 0.7, "alpha": alpha, "marker": dot, "zorder": 1.5, "gid": "run"}
        ax.plot(levels, scores, color=style.color, linestyle="-", **look)


def _draw_mean(runs: Runs, ax: Axes, place: int, name: str, style: Style, band: Band) -> None:
    """Draw the mean and its band."""
    levels, shared = runs.levels, runs.shared
    if len(shared) > 1 and len(levels):
        low, high = band.of(shared)
        shade: dict[str, Any] = {"color": style.color, "alpha": SHADE, "zorder": 2}
        ax.fill_between(levels, low, high, linewidth=0, gid="band", **shade)
        if len(levels) == 1:
            ax.vlines(levels, low, high, linewidth=6, **shade)
    ax.plot(
        levels,
        shared.mean(axis=0),
        markevery=_marked(levels, ax, place),
        label=name,
        zorder=2.5,
        gid="mean",
        **_look(style, float(ax.xaxis.label.get_fontsize())),
    )


def _marked(levels: Floats, ax: Axes, place: int) -> list[int]:
    """Return which levels get a marker: evenly spaced on the axis, shifted for each algorithm."""
    if len(levels) <= _MARKED:
        return list(range(len(levels)))
    x = ax.xaxis.get_transform().transform(levels)
    wanted = np.linspace(x[0], x[-1], _MARKED) + (x[-1] - x[0]) / _MARKED * (place % 4) / 4
    return sorted({int(np.abs(x - place).argmin()) for place in wanted})


def _look(style: Style, points: float) -> dict[str, Any]:
    """Return how a mean is drawn beside letters of a size."""
    look = {"linewidth": 0.18 * points, "markersize": 0.55 * points, "markeredgecolor": "white", "markeredgewidth": 0.5}
    return {**style._asdict(), **look}


def warn_of_no_mean(curves: xr.DataArray) -> None:
    """Warn once of algorithms whose runs share no level, so that no mean can be drawn."""
    has, last = curves.notnull(), str(curves.dims[-1])
    present = has.any(last)
    if last == "training":
        common = (has | ~present).all("run").any(last)
    else:
        levels = curves["training"].where(has)
        common = levels.min(last).max("run") <= levels.max(last).min("run")
    common = common | ~present.any("run")
    algorithms = labels.words(curves["algorithm"])
    names = [f"{task}algorithm {name}" for task in labels.task_names(curves) for name in algorithms]
    provenance.warn_of(
        ~common.transpose(..., "algorithm").to_numpy().ravel(),
        names,
        lambda _: (
            " has no training level that all its runs have, so no mean is drawn. Bring runs to common levels with "
            ".curves.align(...)"
        ),
        "cases",
    )
