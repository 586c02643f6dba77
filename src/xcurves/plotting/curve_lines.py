"""What a picture of curves shows, as plain numbers: of each algorithm the mean, its band and its runs; axes and flags.

It is computed once, and matplotlib and Plotly both draw it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels
from xcurves.core.refusal import Cure, Refusal, WrongType, escape_controls, give
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.intervals import satterthwaite, student
from xcurves.plotting.look import Style, style_of, with_styles
from xcurves.say.numbers import label_of, number

BANDS = ("pointwise", "simultaneous", "sd", "se")
_LEAST_RUNS = 4  # of a band for all levels together
_MEAN = 200  # levels of a mean of runs that have their own levels
_FRACTIONS = 50  # of the budget, at which means over tasks are taken
_EVEN = 4.0  # largest ratio of steps, and of the last levels of algorithms, on a linear scale
_OVER_TASKS = "share of the budget of a task (%)"

# What a caption says of each flag of a picture.
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

    runs: bool | None = None  # whether single runs are seen; None: where there is no mean, or one run
    band: str | None = "pointwise"
    # Weight of the past in a debiased exponential mean of every run.
    smooth: float = 0.0
    confidence_level: float = 0.95
    n_resamples: int = 2_000  # of a simultaneous band
    entropy: int = 0

    def limits(self, runs: Floats) -> Floats:
        """Return the lower and upper ends of the band of runs, shape (run, level); NaN where there is none."""
        n_runs, n_levels = runs.shape
        none = np.full((2, n_levels), np.nan)
        if n_runs < 2 or n_levels == 0 or self.band is None:
            return none
        if self.band == "simultaneous":
            if n_runs < _LEAST_RUNS:
                return none
            alpha = 1 - self.confidence_level
            found = bootstrap.mean_curve(runs[np.newaxis], self.n_resamples, alpha, self.entropy)
            ends: Floats = found["mean_curve_band"].T
            if not np.isfinite(ends).all():  # too few runs for this level
                return none
            return ends
        return mean_limits(runs, self.band, self.confidence_level)


def mean_limits(runs: Floats, band: str, confidence_level: float) -> Floats:
    """Return the ends of a band of the mean of several runs, shape (run, level), each level by itself: (2, level)."""
    n_runs = len(runs)
    mean = runs.mean(axis=0)
    sd: Floats = runs.std(axis=0, ddof=1)
    error = sd / np.sqrt(n_runs)
    if band == "pointwise":
        return student(mean, error, np.array(n_runs - 1), 1 - confidence_level).T
    half = error
    if band == "sd":
        half = sd
    return np.stack([mean - half, mean + half])


@dataclass(frozen=True)
class CurveLine:
    """The curves of one algorithm in one picture."""

    name: str
    place: int  # in the coordinate of algorithms
    style: Style
    levels: Floats  # that all its runs have
    mean: Floats
    low: Floats  # NaN where there is no interval
    high: Floats
    n_runs: int
    runs: list[tuple[Floats, Floats]]  # levels and scores of each
    shows_runs: bool = False  # whether they are seen unasked
    grid: Floats | None = None  # all levels of its runs, by which the axis is scaled; None: those of the mean

    @property
    def on_axis(self) -> Floats:
        """The levels by which the axis is scaled."""
        if self.grid is None:
            return self.levels
        return self.grid

    @property
    def has_band(self) -> bool:
        """Whether any level has an interval."""
        return bool((np.isfinite(self.low) & np.isfinite(self.high)).any())


@dataclass(frozen=True)
class CurvesPicture:
    """All curves of one task, or the means over all tasks."""

    title: str
    lines: list[CurveLine]
    x_label: str = ""
    y_label: str = ""
    xscale: str = "linear"  # or "log", or "symlog": log from the first level above 0 on
    band: str = "band"  # the flag of its bands

    @property
    def flags(self) -> frozenset[str]:
        """What is to be seen, as `CURVES_CAPTION` names it."""
        found = set()
        if any(line.shows_runs for line in self.lines):
            found.add("run")
        if any(len(line.levels) for line in self.lines):
            found.add("mean")
        if any(line.has_band for line in self.lines):
            found.add(self.band)
        return frozenset(found)

    @property
    def levels(self) -> Floats:
        """All levels of its runs, or of its means where it has no runs, sorted."""
        found = [levels for line in self.lines for levels, _ in line.runs]
        if not found:
            found = [line.levels for line in self.lines]
        return np.unique(np.concatenate([np.array([]), *found]))


def pictures_of(curves: xr.DataArray, options: CurveOptions | None = None) -> list[CurvesPicture]:
    """Return a picture for each task, in C order, all with one kind of axis."""
    if options is None:
        options = CurveOptions()
    dims = labels.extra_dims(curves)
    if "algorithm_style" not in curves.coords:
        curves = with_styles(curves, {})
    of_x = label_of(curves["training"])
    flag = "band"
    if options.band not in (None, "pointwise"):
        flag = f"band {options.band}"
    pictures = []
    for name, task in zip(labels.task_names(curves), _tasks(curves, dims), strict=True):
        lines = []
        for place in range(task.sizes["algorithm"]):
            line = line_of(task.isel(algorithm=place), place, options)
            if line is not None:
                lines.append(line)
        title = escape_controls(name.removesuffix(": "))
        of_y = score_label(curves, options.smooth, of_means=any(len(line.levels) for line in lines))
        pictures.append(CurvesPicture(title, lines, of_x, of_y, band=flag))
    xscale = _shared_scale(pictures)
    return [replace(picture, xscale=xscale) for picture in pictures]


def _tasks(curves: xr.DataArray, dims: Sequence[Hashable]) -> Iterator[xr.DataArray]:
    for places in product(*(range(curves.sizes[dim]) for dim in dims)):
        yield curves.isel(dict(zip(dims, places, strict=True)))


def with_plain_names(curves: xr.DataArray) -> xr.DataArray:
    """Return curves whose algorithms have names without controls, as pages show them."""
    names = np.array(
        [escape_controls(str(name)) for name in curves["algorithm"].to_numpy().tolist()],
        dtype=object,
    )
    return with_styles(curves, {}).assign_coords(algorithm=names)


def panels_of(curves: xr.DataArray, confidence_level: float = 0.95, smooth: float = 0.0) -> list[CurvesPicture]:
    """Return a picture for each task, in C order, with t intervals at each level by itself and names of a page."""
    return pictures_of(
        with_plain_names(curves),
        CurveOptions(smooth=smooth, confidence_level=confidence_level),
    )


def score_label(curves: xr.DataArray, smooth: float, *, of_means: bool, over: str = "") -> str:
    """Return the label of the scores, which says that they are means, over what, and how runs are smoothed."""
    label = label_of(curves)
    if of_means and curves.sizes.get("run", 1) > 1 and not label.startswith("mean "):
        label = f"mean {label}"
    if over:
        label = f"{label}, over {over}"
    if smooth:
        label = f"{label}, smoothed by {number(smooth)}"
    return label


def line_of(part: xr.DataArray, place: int, options: CurveOptions) -> CurveLine | None:
    """Return the curves of one algorithm, dims (run, training) or (run, evaluation); None without a run."""
    training, scores = (
        part["training"].to_numpy(),
        part.transpose("run", ...).to_numpy(),
    )
    levels_of = np.broadcast_to(training, scores.shape)
    present = ~np.isnan(scores).all(axis=1)
    if not present.any():
        return None
    runs = []
    for levels, run in zip(levels_of[present], scores[present], strict=True):
        known = ~np.isnan(run)
        runs.append((levels[known], smoothed(run[known], options.smooth)))
    own_levels = training.ndim > 1
    levels, shared = _shared(runs, own_levels=own_levels)
    low, high = options.limits(shared)
    shows_runs = bool(options.runs)
    if options.runs is None:
        shows_runs = len(runs) == 1 or len(levels) == 0
    return CurveLine(
        name=str(part["algorithm"].item()),
        place=place,
        style=part["algorithm_style"].item() if "algorithm_style" in part.coords else style_of(place),
        levels=levels,
        mean=shared.mean(axis=0),
        low=low,
        high=high,
        n_runs=len(runs),
        runs=runs,
        shows_runs=shows_runs,
        grid=_grid(runs, own_levels=own_levels),
    )


def _grid(runs: Sequence[tuple[Floats, Floats]], *, own_levels: bool) -> Floats:
    """Return the levels by which the axis is scaled: runs with their own levels are on a linear one."""
    if own_levels:
        starts = [levels[0] for levels, _ in runs]
        ends = [levels[-1] for levels, _ in runs]
        return np.linspace(min(starts), max(ends), 3)
    return np.unique(np.concatenate([levels for levels, _ in runs]))


def _shared(runs: Sequence[tuple[Floats, Floats]], *, own_levels: bool) -> tuple[Floats, Floats]:
    """Return the levels of the mean and the scores of all runs there, shape (run, level)."""
    common = runs[0][0]
    if not own_levels:
        for levels, _ in runs[1:]:
            common = np.intersect1d(common, levels, assume_unique=True)
        return common, np.array([scores[np.isin(levels, common)] for levels, scores in runs])

    # Elsewhere than between the last start and the first end, a mean would be that of fewer runs.
    low = max(levels[0] for levels, _ in runs)
    high = min(levels[-1] for levels, _ in runs)
    grid = np.array([])
    if low < high:
        grid = np.linspace(low, high, _MEAN)
    elif low == high:
        grid = np.array([low])
    return grid, np.array([np.interp(grid, *run) for run in runs])


def check_smooth(smooth: Any) -> float:
    """Return the weight of the past in a smoothed run."""
    try:
        weight = float(smooth)
    except (TypeError, ValueError):
        raise WrongType(
            "smooth",
            smooth,
            "must be a number from 0 to below 1",
            Cure("Try ", give(smooth=0.6)),
        ) from None
    if not 0 <= weight < 1:
        raise Refusal(
            "smooth",
            smooth,
            "must be from 0 to below 1",
            Cure("Try ", give(smooth=0.6)),
        )
    return weight


def smoothed(scores: Floats, weight: float) -> Floats:
    """Return the exponential mean of the scores so far, without the pull of a start at 0.

    s_i = w s_{i-1} + (1 - w) x_i, divided by 1 - w^i.
    """
    if weight == 0:
        return scores
    mean = 0.0
    found = np.empty_like(scores, dtype=float)
    for place, score in enumerate(scores.tolist(), 1):
        mean = weight * mean + (1 - weight) * score
        found[place - 1] = mean / (1 - weight**place)
    return found


def over_tasks(pictures: Sequence[CurvesPicture], confidence_level: float = 0.95, y_label: str = "") -> CurvesPicture:
    """Return the means over tasks at per cent of each task's budget, for algorithms that all tasks have.

    The budget of a task is the last level that all its means have; fractions begin where all tasks have a score. The
    band is the t interval for these tasks at each fraction, its degrees of freedom by Satterthwaite.
    """
    lines_of = [{line.place: line for line in picture.lines if len(line.levels)} for picture in pictures]
    places = set.intersection(*map(set, lines_of)) if lines_of else set()
    if not places:
        return CurvesPicture("", [], _OVER_TASKS, y_label)
    budgets = [min(lines[place].levels[-1] for place in places) for lines in lines_of]
    starts = [max(lines[place].levels[0] for place in places) for lines in lines_of]
    start = max(first / budget for first, budget in zip(starts, budgets, strict=True))
    fractions = np.linspace(0, 1, _FRACTIONS + 1)
    fractions = fractions[fractions >= start - 1e-12]
    means = [_mean_line(place, lines_of, budgets, fractions, confidence_level) for place in sorted(places)]
    return CurvesPicture("", means, _OVER_TASKS, y_label)


def _mean_line(
    place: int,
    lines_of: Sequence[dict[int, CurveLine]],
    budgets: Sequence[float],
    fractions: Floats,
    confidence_level: float,
) -> CurveLine:
    """Return the mean over tasks of one algorithm."""
    means, squares, freedom = [], [], []
    for lines, budget in zip(lines_of, budgets, strict=True):
        line = lines[place]
        at = fractions * budget  # of this task
        means.append(np.interp(at, line.levels, line.mean))
        runs = np.array([np.interp(at, *run) for run in line.runs])
        n = len(runs)
        square_error = np.full(len(at), np.nan)
        if n > 1:
            square_error = runs.var(axis=0, ddof=1) / n
        squares.append(square_error)
        freedom.append(max(n - 1, 1))
    n_tasks = len(lines_of)
    mean, square = np.mean(means, axis=0), np.array(squares)
    variance = square.sum(axis=0)
    squares = (square**2 / np.array(freedom)[:, np.newaxis]).sum(axis=0)
    # without spread the ends are the mean, whatever its degrees of freedom
    degrees = np.where(variance == 0, 1.0, satterthwaite(variance, squares))
    error = np.sqrt(variance) / n_tasks
    low, high = student(mean, error, degrees, 1 - confidence_level).T
    n_runs = sum(lines[place].n_runs for lines in lines_of)
    first = lines_of[0][place]
    return CurveLine(
        first.name,
        place,
        first.style,
        100 * fractions,
        mean,
        low,
        high,
        n_runs,
        [],
    )


def is_uneven(levels: Floats) -> bool:
    """Return whether levels are for a log axis: none is negative, and steps differ much."""
    return bool(levels.size and levels[0] >= 0 and not _is_even(levels))


def _is_even(levels: Floats) -> bool:
    steps = np.diff(levels)
    return steps.size == 0 or bool(steps.max() <= _EVEN * steps.min())


def _shared_scale(pictures: Sequence[CurvesPicture]) -> str:
    """Return the kind of axis of all pictures: linear where the levels of every one are even."""
    drawn = [picture for picture in pictures if picture.lines]
    if not drawn or all(_is_linear(picture) for picture in drawn):
        return "linear"
    first = min(picture.levels[0] for picture in drawn)
    if first < 0:
        return "linear"
    return "symlog" if first == 0 else "log"


def _is_linear(picture: CurvesPicture) -> bool:
    grids = [line.on_axis for line in picture.lines]
    ends = [grid[-1] for grid in grids]
    return all(map(_is_even, grids)) and bool(max(ends) <= _EVEN * min(ends))


def extremes(levels: Floats, values: Floats, n_columns: int, scale: str = "linear") -> NDArray[np.int64]:
    """Return the indices to draw of a long curve: the lowest and the highest value of each column of pixels.

    `levels` are sorted; columns are equally wide on an axis of this scale.
    """
    n = len(levels)
    if n <= 2 * n_columns:
        return np.arange(n)
    column = _columns(levels, n_columns, scale)

    # Sorted by column, then by value, the first of a column is its lowest and the last its highest.
    order = np.lexsort((values, column))
    ends = np.flatnonzero(np.diff(column[order]))
    lowest = order[np.concatenate([[0], ends + 1])]
    highest = order[np.concatenate([ends, [n - 1]])]
    return np.unique(np.concatenate([[0], lowest, highest, [n - 1]]))


def _columns(levels: Floats, n_columns: int, scale: str) -> NDArray[np.int64]:
    """Return the column of pixels of each level; on a log axis, levels up to 0 are in the first."""
    at = levels
    if scale != "linear" and levels[-1] > 0:
        at = np.log(np.maximum(levels, levels[levels > 0][0]))
    width = at[-1] - at[0]
    if width == 0:
        return np.zeros(len(levels), np.int64)
    column: NDArray[np.int64] = np.floor((at - at[0]) / width * n_columns).astype(np.int64)
    return np.minimum(column, n_columns - 1)


def drawn(line: CurveLine, n_columns: int, *scales: str) -> CurveLine:
    """Return a line with the levels to draw in so many columns of pixels, on axes of each of these scales."""
    kept = _kept(line.levels, [line.mean], n_columns, scales)
    runs = []
    for levels, scores in line.runs:
        own = _kept(levels, [scores], n_columns, scales)
        runs.append((levels[own], scores[own]))
    arrays = {name: getattr(line, name)[kept] for name in ("levels", "mean", "low", "high")}
    return replace(line, runs=runs, **arrays)


def drawn_band(line: CurveLine, n_columns: int, *scales: str) -> tuple[Floats, Floats, Floats]:
    """Return the levels, the lower and the upper ends of a band to draw in so many columns of pixels.

    A column has the lowest lower end and the highest upper end, at its first level; the last one at its last.
    """
    known = np.isfinite(line.low) & np.isfinite(line.high)
    levels, low, high = line.levels[known], line.low[known], line.high[known]
    if len(levels) <= 2 * n_columns:
        return levels, low, high
    starts = {0}
    for scale in scales or ["linear"]:
        column = _columns(levels, n_columns, scale)
        starts |= set((np.flatnonzero(np.diff(column)) + 1).tolist())
    first = np.array(sorted(starts))
    at = levels[first]
    at[-1] = levels[-1]
    return at, np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)


def _kept(levels: Floats, curves: Sequence[Floats], n_columns: int, scales: Sequence[str]) -> NDArray[np.int64]:
    found = [extremes(levels, curve, n_columns, scale) for curve in curves for scale in scales or ["linear"]]
    return np.unique(np.concatenate(found))


def anchors(curves: xr.DataArray) -> dict[tuple[Hashable, ...], str]:
    """Return the anchor of each task on a page, by its labels along the extra dims, in C order."""
    values = [curves[dim].to_numpy().tolist() for dim in labels.extra_dims(curves)]
    return {key: f"task-{place}" for place, key in enumerate(product(*values), 1)}
