"""Pictures of scaling laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.axes import SHADE
from xcurves.core.wording import label_of, number
from xcurves.kernels import scaling_intervals
from xcurves.kernels.moments import Floats
from xcurves.learning_curves.scaling_answers import allocations, cost_of, known_of, laws_of
from xcurves.learning_curves.scaling_points import REASONS
from xcurves.learning_curves.scaling_text import amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 200
_BUDGETS = 6
_FARTHER = 100.0  # times the largest compute of the runs


def draw_isoflop(fit: xr.Dataset, ax: Axes) -> None:
    """Draw losses against model size, with curves of the law at equal compute, coloured by compute."""
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    fit = _one(fit)
    if _without_law(fit, ax):
        return
    n, d, loss, cost = *_runs(fit), cost_of(fit)
    flop = cost * n * d
    first, last = np.floor(np.log10(flop.min())), np.ceil(np.log10(flop.max()))
    colours = LogNorm(10**first, 10**last)
    colour_map = colormaps["viridis"]
    estimate = fit["estimate"].to_numpy()
    x = np.geomspace(n.min() / 2, n.max() * 2, _POINTS)
    for power in np.arange(first, last + 1, np.ceil((last - first + 1) / _BUDGETS)):
        budget = 10**power
        y = scaling_intervals.values(np.tile(estimate, (len(x), 1)), x, budget / cost / x)
        near = y <= loss.max() * 1.1
        ax.plot(x[near], y[near], color=colour_map(colours(budget)), label=f"{number(budget)} FLOP")
    ax.scatter(n, loss, c=flop, norm=colours, cmap=colour_map, edgecolors="black", linewidths=0.5, zorder=3)
    ax.set_xscale("log")
    ax.set_xlabel("parameters of the model")
    ax.set_ylabel(label_of(fit["loss"]))


def draw_fitted(fit: xr.Dataset, ax: Axes) -> None:
    """Draw measured against fitted losses; later runs against what earlier ones predicted for them."""
    fit = _one(fit)
    if _without_law(fit, ax):
        return
    loss = fit["loss"]
    later = fit["backtest_prediction"]
    ax.plot(fit["fitted"], loss, "o", markersize=4, label="fitted, all runs")
    ax.plot(later, loss, "x", markersize=5, label="predicted by the runs before")
    drawn = np.concatenate([fit["fitted"], later.dropna("run"), loss.dropna("run")])
    ends = np.nanmin(drawn), np.nanmax(drawn)
    ax.plot(ends, ends, color="black", linewidth=0.8)
    ax.set_xlabel("loss by the law")
    ax.set_ylabel("measured loss")


def draw_allocation(fit: xr.Dataset, ax: Axes) -> None:
    """Draw the best model size against compute with its interval; sizes of the runs as dots."""
    fit = _one(fit)
    if _without_law(fit, ax) or fit["allocation_exponent"].isnull():
        _without_law(fit, ax, "the loss depends on one of model size and tokens only")
        return
    n, d, _, cost = *_runs(fit), cost_of(fit)
    flop = cost * n * d
    budgets = fit["flop"].to_numpy() if "flop" in fit.dims else np.empty(0)
    x = np.geomspace(flop.min(), max([flop.max() * _FARTHER, *budgets]), _POINTS)
    known = known_of(*(each.to_numpy()[np.newaxis] for each in laws_of(fit)))
    found = allocations(known, provenance.alpha_of(fit), x / cost)
    (line,) = ax.plot(x, found["n_opt"][0], label="best model size")
    ax.fill_between(x, *found["n_opt_ci"][0].T, color=line.get_color(), alpha=SHADE, linewidth=0)
    ax.plot(flop, n, "o", color="grey", markersize=3, label="runs")
    ax.axvline(flop.max(), color="black", linewidth=0.8, linestyle="--")
    for budget, size in zip(budgets, fit["n_opt"].to_numpy() if budgets.size else [], strict=True):
        ax.plot(budget, size, "s", color=line.get_color())
        ax.annotate(f" {amount(size)}", (budget, size), va="top")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("compute (FLOP)")
    ax.set_ylabel("parameters of the model")


def _one(fit: xr.Dataset) -> xr.Dataset:
    """Return the one law that is drawn, without dims of one label."""
    return fit.squeeze(list(fit["backtest_error"].dims))


def _runs(fit: xr.Dataset) -> tuple[Floats, Floats, Floats]:
    """Return sizes, tokens and losses of the runs that a law has."""
    here = fit["loss"].notnull().to_numpy()
    n, d, loss = (fit[name].to_numpy()[here] for name in ("model_size", "tokens", "loss"))
    return n, d, loss


def _without_law(fit: xr.Dataset, ax: Axes, why: str = "") -> bool:
    """Say in the panel why there is nothing to draw."""
    reason = REASONS.get(int(fit["unfit"].item()), why)
    if reason:
        ax.text(0.5, 0.5, reason, transform=ax.transAxes, ha="center", va="center", wrap=True)
    return bool(reason)
