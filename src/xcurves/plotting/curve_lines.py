"""What a picture of curves shows, as plain numbers: for each panel the mean of each algorithm, its band, its runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import stdtrit

from xcurves.array_types import Floats
from xcurves.core import labels
from xcurves.core.labels import escape_controls

_MEAN = 200  # levels of a mean of runs that have their own levels
_FRACTIONS = 50  # of the budget, at which means over tasks are taken
_EVEN = 4.0  # largest ratio of steps on a linear scale


@dataclass(frozen=True)
class CurveLine:
    """The curves of one algorithm in one panel."""

    name: str
    place: int  # in the coordinate of algorithms, which gives the colour
    levels: Floats  # that all its runs have
    mean: Floats
    low: Floats  # NaN where there is no interval
    high: Floats
    n_runs: int
    runs: list[tuple[Floats, Floats]]  # levels and scores of each


@dataclass(frozen=True)
class CurvePanel:
    """All curves of one task, or the means over all tasks."""

    title: str
    lines: list[CurveLine]

    def levels(self) -> Floats:
        """Return all levels of its means, sorted."""
        found = [line.levels for line in self.lines]
        return np.unique(np.concatenate(found)) if found else np.array([])


def panels_of(curves: xr.DataArray, confidence_level: float = 0.95, smooth: float = 0.0) -> list[CurvePanel]:
    """Return a panel for each task, in C order; bands are t intervals at each level by itself.

    `smooth` is the weight of the past in a debiased exponential mean of every run, gaps kept.
    """
    dims = labels.extra_dims(curves)
    names = [escape_controls(name.removesuffix(": ")) for name in labels.task_names(curves)]
    selections: Iterator[tuple[int, ...]] = product(*(range(curves.sizes[dim]) for dim in dims))
    panels = []
    for name, places in zip(names, selections, strict=True):
        task = curves.isel(dict(zip(dims, places, strict=True)))
        lines = [line_of(part, place, confidence_level, smooth) for place, part in enumerate(_algorithms(task))]
        panels.append(CurvePanel(name, [line for line in lines if line is not None]))
    return panels


def _algorithms(task: xr.DataArray) -> list[xr.DataArray]:
    return [task.isel(algorithm=place) for place in range(task.sizes["algorithm"])]


def line_of(part: xr.DataArray, place: int, confidence_level: float, smooth: float) -> CurveLine | None:
    """Return the curves of one algorithm, dims (run, training) or (run, evaluation); None without a run."""
    training, scores = part["training"].to_numpy(), part.transpose("run", ...).to_numpy()
    levels_of = np.broadcast_to(training, scores.shape)
    present = ~np.isnan(scores).all(axis=1)
    if not present.any():
        return None
    runs = []
    for levels, run in zip(levels_of[present], scores[present], strict=True):
        known = ~np.isnan(run)
        runs.append((levels[known], smoothed(run[known], smooth)))
    levels, shared = _shared(runs, own_levels=training.ndim > 1)
    mean = shared.mean(axis=0)
    half = half_interval(shared, confidence_level)
    name = escape_controls(str(part["algorithm"].item()))
    return CurveLine(name, place, levels, mean, mean - half, mean + half, len(runs), runs)


def _shared(runs: Sequence[tuple[Floats, Floats]], *, own_levels: bool) -> tuple[Floats, Floats]:
    """Return the levels of the mean and the scores of all runs there, shape (run, level)."""
    common = runs[0][0]
    if not own_levels:
        for levels, _ in runs[1:]:
            common = np.intersect1d(common, levels, assume_unique=True)
        return common, np.array([scores[np.isin(levels, common)] for levels, scores in runs])
    # Elsewhere than between the last start and the first end, a mean would be that of fewer runs.
    low, high = max(levels[0] for levels, _ in runs), min(levels[-1] for levels, _ in runs)
    grid = np.linspace(low, high, _MEAN) if low < high else np.array([low] if low == high else [])
    return grid, np.array([np.interp(grid, *run) for run in runs])


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


def half_interval(runs: Floats, confidence_level: float) -> Floats:
    """Return half of the t interval of the mean of runs, shape (run, level), at each level; NaN of a single run."""
    n = len(runs)
    if n < 2:
        return np.full(runs.shape[1:], np.nan)
    error = runs.std(axis=0, ddof=1) / np.sqrt(n)
    return np.asarray(error * stdtrit(n - 1, 0.5 + confidence_level / 2))


def over_tasks(panels: Sequence[CurvePanel], confidence_level: float = 0.95) -> CurvePanel:
    """Return the means over tasks at per cent of each task's budget, for algorithms that all tasks have.

    The budget of a task is the last level that all its means have; fractions begin where all tasks have a score. The
    band is the t interval for these tasks at each fraction, its degrees of freedom by Satterthwaite.
    """
    named = [{line.place: line for line in panel.lines if len(line.levels)} for panel in panels]
    places = set.intersection(*map(set, named)) if named else set()
    if not places:
        return CurvePanel("", [])
    budgets = [min(lines[place].levels[-1] for place in places) for lines in named]
    start = max(
        max(lines[place].levels[0] for place in places) / budget for lines, budget in zip(named, budgets, strict=True)
    )
    fractions = np.linspace(0, 1, _FRACTIONS + 1)
    fractions = fractions[fractions >= start - 1e-12]
    lines_found = [_mean_line(place, named, budgets, fractions, confidence_level) for place in sorted(places)]
    return CurvePanel("", lines_found)


def _mean_line(
    place: int,
    named: Sequence[dict[int, CurveLine]],
    budgets: Sequence[float],
    fractions: Floats,
    confidence_level: float,
) -> CurveLine:
    """Return the mean over tasks of one algorithm."""
    means, squares, freedom = [], [], []
    for lines, budget in zip(named, budgets, strict=True):
        line = lines[place]
        at = fractions * budget
        means.append(np.interp(at, line.levels, line.mean))
        runs = np.array([np.interp(at, *run) for run in line.runs])
        n = len(runs)
        squares.append(runs.var(axis=0, ddof=1) / n if n > 1 else np.full(len(at), np.nan))
        freedom.append(max(n - 1, 1))
    n_tasks = len(named)
    mean, square = np.mean(means, axis=0), np.array(squares)
    with np.errstate(invalid="ignore", divide="ignore"):
        degrees = square.sum(axis=0) ** 2 / (square**2 / np.array(freedom)[:, np.newaxis]).sum(axis=0)
        half = np.sqrt(square.sum(axis=0)) / n_tasks * stdtrit(degrees, 0.5 + confidence_level / 2)
    half = np.where(square.sum(axis=0) == 0, 0.0, half)
    n_runs = sum(lines[place].n_runs for lines in named)
    name = named[0][place].name
    return CurveLine(name, place, 100 * fractions, mean, mean - half, mean + half, n_runs, [])


def is_uneven(levels: Floats) -> bool:
    """Return whether levels are for a log axis: none is negative, and steps differ much."""
    steps = np.diff(levels)
    return bool(steps.size and levels[0] >= 0 and steps.max() > _EVEN * steps.min())


def reduced(values: Floats, most: int) -> NDArray[np.int64]:
    """Return the indices to draw of a long curve: the lowest and the highest value of each of `most` / 2 stretches."""
    n = len(values)
    if n <= most:
        return np.arange(n)
    edges = np.linspace(0, n, most // 2 + 1).astype(int)
    kept = {0, n - 1}
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        stretch = values[start:stop]
        kept |= {start + int(np.argmin(stretch)), start + int(np.argmax(stretch))}
    return np.array(sorted(kept))


def drawn(line: CurveLine, most: int) -> CurveLine:
    """Return a line with so many levels at most."""
    kept = reduced(line.mean, most)
    runs = []
    for levels, scores in line.runs:
        own = reduced(scores, most)
        runs.append((levels[own], scores[own]))
    arrays = {name: getattr(line, name)[kept] for name in ("levels", "mean", "low", "high")}
    return replace(line, runs=runs, **arrays)


def anchors(curves: xr.DataArray) -> dict[tuple[Hashable, ...], str]:
    """Return the anchor of each task on a page, by its labels along the extra dims, in C order."""
    values = [curves[dim].to_numpy().tolist() for dim in labels.extra_dims(curves)]
    return {key: f"task-{place}" for place, key in enumerate(product(*values), 1)}
