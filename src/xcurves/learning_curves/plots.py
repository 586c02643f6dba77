"""Pictures of learning curves and of scaling laws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves import kinds
from xcurves.core import labels, provenance
from xcurves.core.axes import SHADE, Style, fill_band, scale_training, short_level, style_in
from xcurves.core.wording import label_of, number, with_units
from xcurves.kernels import scaling_intervals
from xcurves.kernels.moments import Floats
from xcurves.learning_curves.curvefit import REASONS
from xcurves.learning_curves.scaling_laws import COST, LAW_REASONS, known_of, laws_of
from xcurves.learning_curves.scaling_text import ONE_SIDED, amount
from xcurves.learning_curves.text import MISSED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 200
_FARTHER = 4.0  # times the largest size: how far curves are drawn
_FARTHER_COMPUTE = 100.0  # times the largest compute of the runs
_BUDGETS = 6
_DECADE, _NARROW = 30.0, 3.0  # ratios of errors below which the axis has more ticks than powers of ten
_EDGE: dict[str, Any] = {"markeredgecolor": "black", "markeredgewidth": 0.5}
_LONG = 14  # letters of a name beside which error and data-reliance have no room


def draw_learning_curves(fit: xr.Dataset, ax: Axes) -> None:
    """Draw mean errors, fitted curves with intervals and predictions against training size, both axes logarithmic."""
    has = (fit["n_folds"] > 0).any([dim for dim in fit["n_folds"].dims if dim != "training"])
    levels = fit["training"].to_numpy()[has.to_numpy()]
    if not levels.size:
        ax.text(0.5, 0.5, "no errors", transform=ax.transAxes, ha="center", va="center")
        return
    x = np.geomspace(levels[0], _FARTHER * levels[-1], _POINTS)
    curves = kinds.function("predict")(fit, x)
    heights = []
    for style, curve, _ in _curves(fit):
        found = curves.sel(algorithm=curve["algorithm"]) if "algorithm" in curves.dims else curves
        heights += [_draw_curve(ax, x, found, curve, style), _draw_errors(ax, levels, curve, style)]
    ax.axvline(levels[-1], color="black", linewidth=0.8, linestyle=":", zorder=1)
    ax.set_yscale("log")
    _leave_room(ax, np.concatenate(heights))
    scale_training(ax, fit["training"].sel(training=levels), log=True)
    ax.set_ylabel(with_units("error", fit["error_at_n"]))
    _name_curves(fit, ax)


def _draw_curve(ax: Axes, x: Floats, found: xr.Dataset, curve: xr.Dataset, style: Style) -> Floats:
    """Draw one curve with its interval from the first size that it is fitted to, dashed beyond the last one."""
    last = x[-1] / _FARTHER
    known = x >= curve["fitted_from"].item()
    low, high = (found["prediction_ci"].sel(ci_bound=bound).to_numpy()[known] for bound in labels.CI_BOUNDS)
    fill_band(ax, x[known], low, high, style)
    for beyond, flag in ((x <= last, "fitted"), (x >= last, "predicted")):
        part = known & beyond
        if np.isfinite(found["prediction"].to_numpy()[part]).any():
            dashes = style.linestyle if flag == "fitted" else (0, (2, 2))
            ax.plot(x[part], found["prediction"][part], color=style.color, linestyle=dashes, gid=flag)
    if "prediction" in curve and "n" in curve["prediction"].dims:
        y = curve["prediction"].to_numpy()
        ends = np.abs(curve["prediction_ci"].transpose("ci_bound", "n").to_numpy() - y)
        ax.errorbar(curve["n"], y, ends, fmt="D", markersize=4, capsize=3, color=style.color, gid="asked")
    return np.asarray(found["prediction"].to_numpy()[known])


def _draw_errors(ax: Axes, levels: Floats, curve: xr.Dataset, style: Style) -> Floats:
    """Draw mean errors, open where the curve is not fitted to them."""
    errors = curve["mean_error"].sel(training=levels).to_numpy()
    used = levels >= curve["fitted_from"].item()
    ax.plot(levels[used], errors[used], style.marker, color=style.color, **_EDGE)
    out = ~used & np.isfinite(errors)
    if out.any():
        look: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": style.color, "gid": "left out"}
        ax.plot(levels[out], errors[out], style.marker, **look)
    return errors


def _name_curves(fit: xr.Dataset, ax: Axes) -> None:
    """Name each curve by its line with its marker; where the panel stands alone, with its parameters."""
    alone = len(ax.figure.axes) == 1
    for style, curve, name in _curves(fit):
        said = name + _legend(curve, short=len(name) > _LONG) if alone else name.removesuffix(": ")
        missed = "missed" if said.endswith("*") else None
        ax.plot([], [], label=said or None, gid=missed, **style._asdict(), **_EDGE)


def _leave_room(ax: Axes, heights: Floats) -> None:
    """Leave room on the y axis around what is drawn, and label it where no power of ten falls within."""
    heights = heights[heights > 0]
    if not heights.size:
        return
    low, high = heights.min(), heights.max()
    margin = max(high / low, 1.1) ** 0.1
    ax.set_ylim(low / margin, high * margin)
    if high / low < _DECADE:
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5) if high / low > _NARROW else range(1, 10)))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.3g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _legend(curve: xr.Dataset, *, short: bool) -> str:
    if curve["unfit"].item():
        return f"not fitted ({REASONS[int(curve['unfit'].item())]})"
    at = short_level(curve["at"].item())
    values = curve["gamma"].item(), curve["error_at_n"].item(), curve["data_reliance"].item()
    star = " *" if curve["backtest_error"] > MISSED else ""
    if short:
        return rf"$\gamma$ = {values[0]:.2f}{star}"
    return rf"$\gamma$ = {values[0]:.2f}, $e_{{{at}}}$ = {values[1]:.4g}, $\beta_{{{at}}}$ = {values[2]:.4g}{star}"


def draw_scatter(fit: xr.Dataset, ax: Axes) -> None:
    """Draw error against data-reliance, with intervals, a point for each fitted curve."""
    fitted = [(style, curve, name) for style, curve, name in _curves(fit) if not curve["unfit"].item()]
    for style, curve, name in fitted:
        names = ["data_reliance", "error_at_n"]
        x, y = (curve[each].item() for each in names)
        ends = curve["estimate_ci"].sel(param=names).transpose("param", "ci_bound").to_numpy()
        x_arms, y_arms = np.abs(ends - [[x], [y]])[..., np.newaxis]
        look: dict[str, Any] = {"color": style.color, "fmt": style.marker, "capsize": 3}
        ax.errorbar(x, y, xerr=x_arms, yerr=y_arms, label=name.removesuffix(": ") or None, **look)
    sizes = np.unique([curve["at"].item() for _, curve, _ in fitted])
    where = f"at n = {sizes[0]:g}" if len(sizes) == 1 else "each at its own N"
    for name, setter in (("data_reliance", ax.set_xlabel), ("error_at_n", ax.set_ylabel)):
        setter(label_of(fit[name]).replace("at the size N", where))


def _curves(fit: xr.Dataset) -> Iterator[tuple[Style, xr.Dataset, str]]:
    """Yield the style of each algorithm that has errors, its curve and its name."""
    if "algorithm" not in fit.dims:
        yield style_in(fit), fit, ""
        return
    for place, label in enumerate(fit["algorithm"].to_numpy()):
        curve = fit.isel(algorithm=place)
        if curve["n_folds"].any():
            yield style_in(curve), curve, f"{label}: "


def draw_isoflop(fit: xr.Dataset, ax: Axes) -> None:
    """Draw losses against model size, with curves of the law at equal compute, coloured by compute."""
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    fit = _one(fit)
    if _without_law(fit, ax):
        return
    n, d, loss, cost = *_runs(fit), fit.attrs[COST]
    flop = cost * n * d
    first, last = np.floor(np.log10(flop.min())), np.ceil(np.log10(flop.max()))
    colours = LogNorm(10**first, 10**last)
    colour_map = colormaps["viridis"]
    estimate = fit["estimate"].to_numpy()
    x = np.geomspace(n.min() / 2, n.max() * 2, _POINTS)
    for power in np.arange(first, last + 1, np.ceil((last - first + 1) / _BUDGETS)):
        budget = 10**power
        y = scaling_intervals.predicted_losses(estimate[np.newaxis], x, budget / cost / x)[0]
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
    if _without_law(fit, ax, ONE_SIDED if fit["allocation_exponent"].isnull() else ""):
        return
    n, d, _, cost = *_runs(fit), fit.attrs[COST]
    flop = cost * n * d
    budgets = fit["flop"].to_numpy() if "flop" in fit.dims else np.empty(0)
    x = np.geomspace(flop.min(), max([flop.max() * _FARTHER_COMPUTE, *budgets]), _POINTS)
    known = known_of(*(each.to_numpy()[np.newaxis] for each in laws_of(fit)))
    found = scaling_intervals.allocation(known, provenance.alpha_of(fit), x / cost)
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
    reason = LAW_REASONS.get(int(fit["unfit"].item()), why)
    if reason:
        ax.text(0.5, 0.5, reason, transform=ax.transAxes, ha="center", va="center", wrap=True)
    return bool(reason)
