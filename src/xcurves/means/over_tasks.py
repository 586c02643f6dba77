"""The mean over tasks of mean curves, at shares of each task's budget."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import SCORE_NAME
from xcurves.kernels.intervals import satterthwaite, student
from xcurves.means.plots import MeanLine, Run, mean_lines, runs_of

_FRACTIONS = 50  # of the budget


def means_over_tasks(means: xr.Dataset, curves: xr.DataArray) -> xr.Dataset | None:
    """Return the means over tasks at per cent of each task's budget, of algorithms that all tasks have; None: of none.

    The budget of a task is the last level that all its means have; where one is not above 0 there are no shares: None.
    Fractions begin where all tasks have a score. The band is the t interval for these tasks at each fraction, its
    degrees of freedom by Satterthwaite.
    """
    lines_of, every_run = mean_lines(means), runs_of(curves, float(means.attrs["smooth"]))
    places = [place for place in range(means.sizes["algorithm"]) if all(len(lines[place].x) for lines in lines_of)]
    if not places:
        return None
    budgets = [min(lines[place].x[-1] for place in places) for lines in lines_of]
    if min(budgets) <= 0:
        return None
    starts = [max(lines[place].x[0] for place in places) for lines in lines_of]
    start = max(first / budget for first, budget in zip(starts, budgets, strict=True))
    fractions = np.linspace(0, 1, _FRACTIONS + 1)
    fractions = fractions[fractions >= start - 1e-12]
    alpha = 1 - float(means.attrs["confidence_level"])
    found = [
        _mean_over_tasks(
            [(lines[place], runs[place], fractions * budget)
             for lines, runs, budget in zip(lines_of, every_run, budgets, strict=True)],
            alpha,
        )
        for place in places
    ]  # fmt: skip
    dims = ("algorithm", "training")
    share = xr.Variable("training", 100 * fractions, {"long_name": "share of the budget of a task", "units": "%"})
    scalars = {name: coord for name, coord in means.coords.items() if coord.dims == ("algorithm",)}
    return xr.Dataset(
        {
            "mean_curve": (dims, np.array([mean for mean, _, _ in found]), means["mean_curve"].attrs),
            "mean_curve_ci": ((*dims, "ci_bound"), np.array([ends for _, ends, _ in found])),
            "n_runs": ("algorithm", [n_runs for _, _, n_runs in found]),
        },
        {name: coord.isel(algorithm=places).variable for name, coord in scalars.items()}
        | {"training": share, "ci_bound": list(CI_BOUNDS)},
        {**means.attrs, SCORE_NAME: str(curves.attrs.get("long_name", curves.name or "score")), "over": "tasks"},
    )


def _mean_over_tasks(tasks: list[tuple[MeanLine, list[Run], Floats]], alpha: float) -> tuple[Floats, Floats, int]:
    """Return the mean over tasks of one algorithm, the ends of its interval, and its number of runs."""
    means, squares, freedom = [], [], []
    for mean, every_run, at in tasks:
        means.append(np.interp(at, mean.x, mean.y))
        runs = np.array([np.interp(at, *run) for run in every_run])
        n = len(runs)
        square_error = np.full(len(at), np.nan)
        if n > 1:
            square_error = runs.var(axis=0, ddof=1) / n
        squares.append(square_error)
        freedom.append(max(n - 1, 1))
    estimate, square = np.mean(means, axis=0), np.array(squares)
    variance = square.sum(axis=0)
    of_squares = (square**2 / np.array(freedom)[:, np.newaxis]).sum(axis=0)
    # without spread the ends are the mean, whatever its degrees of freedom
    degrees = np.where(variance == 0, 1.0, satterthwaite(variance, of_squares))
    error = np.sqrt(variance) / len(tasks)
    return estimate, student(estimate, error, degrees, alpha), sum(mean.n_runs for mean, _, _ in tasks)
