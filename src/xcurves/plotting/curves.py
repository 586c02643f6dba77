"""Pictures of curves themselves: the mean of an algorithm's runs, a band around it, each run where asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels, provenance, run_checks, validation
from xcurves.core.axes import LINES, MOST_CURVES, SHADE, Style, drawable, scale_training, style_in, wrapped
from xcurves.core.validation import check_curves
from xcurves.core.wording import label_of
from xcurves.kernels.distributions import bootstrap
from xcurves.plotting.curve_lines import half_interval, smoothed
from xcurves.plotting.facets import Room, check_dims, split
from xcurves.plotting.panels import Canvas, Cell, draw_panels, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_RESAMPLES = 2_000
_MOST = 10**6  # resamples
_LEAST_RUNS = 4  # of a band for all levels together
_MEAN = 200  # levels of a mean of runs that have their own levels
_MARKED = 10  # levels that have a marker each where they are uneven
_UNEVEN = 1.5  # ratio of steps on the axis
_THIN, _FAINT = 0.7, 0.12  # opacity of one or two runs, and of many
BANDS = ("pointwise", "simultaneous", "sd", "se")

CURVES_CAPTION = {
    "run": "Each run is a thin line.",
    "mean": "Thick lines: the mean of an algorithm's runs.",
    "band": "Bands: t intervals of the mean, for each level by itself. Conclude from tests, not from bands.",
    "band simultaneous": "Bands: intervals of the mean that hold at all levels together.",
    "band sd": "Bands: the standard deviation of the runs.",
    "band se": "Bands: the standard error of the mean.",
    "score": "Dots: the score of each run.",
    "score mean": "Diamonds: their mean.",
    "score pointwise": "Lines: the t interval of the mean.",
    "score sd": "Lines: the standard deviation of the runs.",
    "score se": "Lines: the standard error of the mean.",
}


@dataclass(frozen=True)
class CurveOptions:
    """What a picture of curves shows, and how."""

    runs: bool | None  # whether single runs are drawn; None: where there is no band
    band: str | None
    linestyles: bool
    xscale: str | None
    yscale: str | None
    n_resamples: int
    alpha: float
    entropy: int

    def limits(self, runs: Floats) -> Floats | None:
        """Return the lower and upper ends of the band of runs, shape (run, level); None where it has none."""
        n = len(runs)
        if n < 2 or not runs.shape[1] or self.band is None:
            return None
        if self.band == "simultaneous":
            if n < _LEAST_RUNS:
                return None
            found = bootstrap.mean_curve(runs[np.newaxis], self.n_resamples, self.alpha, self.entropy)
            ends: Floats = found["mean_curve_band"].T
            return ends if np.isfinite(ends).all() else None
        sd = runs.std(axis=0, ddof=1)
        half = {"sd": sd, "se": sd / np.sqrt(n)}.get(self.band)
        if half is None:
            half = half_interval(runs, 1 - self.alpha)
        return np.stack([runs.mean(axis=0) - half, runs.mean(axis=0) + half])


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
    options = CurveOptions(
        runs,
        None if band is None else validation.check_choice("band", band, [*BANDS]),
        bool(linestyles),
        None if xscale is None else validation.check_choice("xscale", xscale, ["linear", "log"]),
        None if yscale is None else validation.check_choice("yscale", yscale, ["linear", "log"]),
        validation.check_count("n_resamples", n_resamples, most=_MOST) or _N_RESAMPLES,
        validation.check_confidence_level(0.95 if confidence_level is None else confidence_level),
        validation.check_rng(rng),
    )
    array = check_curves(data, own_levels=True).compute()
    run_checks.check_drawable(array)
    array = drawable(styled(smoothed_runs(array, smooth), canvas.colors))
    many = ["algorithm"] * (array.sizes["algorithm"] > MOST_CURVES and canvas.ax is None)
    dims = check_dims([*labels.extra_dims(array), *many], canvas.col, canvas.row, "curves")
    room = Room(canvas.grid(dims, [array.sizes[dim] for dim in dims]), 0, 0, canvas.figsize)
    refusal = room.refusal("runs", dims, "algorithm" if many else None, [] if many else dims)
    cells = [Cell(panel.title, partial(_draw_curves, panel.data, options=options)) for panel in split(array, dims)]
    refusal += "; .curves.to_frame() has all numbers"
    axes = draw_panels(cells, room, canvas, refusal, named=array if many else None, title=title or "")
    _warn_of_no_mean(array)
    return axes


def smoothed_runs(curves: xr.DataArray, smooth: float) -> xr.DataArray:
    """Return curves of which each run is a debiased exponential mean over its levels, gaps kept."""
    if not isinstance(smooth, int | float) or not 0 <= smooth < 1:
        raise ValueError(f"smooth must be from 0 to below 1; got {labels.shown(smooth)}. Usual: smooth=0.6")
    if smooth == 0:
        return curves
    values = curves.to_numpy().astype(float)
    for index in np.ndindex(values.shape[:-1]):
        known = ~np.isnan(values[index])
        values[index][known] = smoothed(values[index][known], float(smooth))
    named = label_of(curves)
    return curves.copy(data=values).assign_attrs(long_name=f"{named}, smoothed {smooth:g}", units="")


def _draw_curves(curves: xr.DataArray, ax: Axes, options: CurveOptions) -> None:
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
    if options.xscale is not None:
        ax.set_xscale(options.xscale)
    if options.yscale is not None:
        ax.set_yscale(options.yscale)
    for place, runs in drawn.items():
        part = curves.isel(algorithm=place)
        style = style_in(part)
        if options.linestyles:
            style = style._replace(linestyle=LINES[place % len(LINES)])
        band = options.limits(runs.shared)
        if options.runs or (options.runs is None and (len(runs.lines) == 1 or not len(runs.levels))):
            _draw_runs(runs, ax, style)
        _draw_mean(runs, ax, str(part["algorithm"].item()), style, band, options.band)
    ax.grid(axis="y", color="0.9")
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


def _draw_mean(runs: DrawnRuns, ax: Axes, name: str, style: Style, band: Floats | None, kind: str | None) -> None:
    """Draw the mean and its band."""
    levels = runs.levels
    if band is not None:
        flag = "band" if kind == "pointwise" else f"band {kind}"
        shade: dict[str, Any] = {"color": style.color, "alpha": SHADE, "zorder": 2}
        ax.fill_between(levels, *band, linewidth=0, gid=flag, **shade)
        if len(levels) == 1:
            ax.vlines(levels, *band, linewidth=6, **shade)
    points = float(ax.xaxis.label.get_fontsize())
    marker = style.marker if _has_markers(levels, ax) else "none"
    look: dict[str, Any] = {**style._asdict(), "marker": marker, "linewidth": 0.18 * points, "markersize": 0.5 * points}
    look |= {"markeredgecolor": "white", "markeredgewidth": 0.5}
    ax.plot(levels, runs.shared.mean(axis=0), label=name, zorder=2.5, gid="mean", **look)


def _has_markers(levels: Floats, ax: Axes) -> bool:
    """Return whether levels are few and unevenly spaced on the axis, or only one."""
    if len(levels) == 1:
        return True
    if not 2 < len(levels) <= _MARKED:
        return False
    steps = np.diff(ax.xaxis.get_transform().transform(levels))
    return bool(steps.max() > _UNEVEN * steps.min())


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
