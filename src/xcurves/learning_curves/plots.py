"""Pictures of learning curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.axes import SHADE, Style, label_of, short_level, style_in
from xcurves.core.packing import Floats
from xcurves.core.sentences import joined
from xcurves.learning_curves.error_rates import REASONS
from xcurves.learning_curves.prediction_block import predicted_curves
from xcurves.learning_curves.text import MISSED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 200
_TICKS = 7
_EDGE: dict[str, Any] = {"markeredgecolor": "black", "markeredgewidth": 0.5}
_LONG = 14  # letters of a name beside which error and data-reliance have no room


def draw_learning_curves(fit: xr.Dataset, ax: Axes) -> None:
    """Draw mean errors and fitted curves with intervals against n^-0.5."""
    levels = fit["training"].to_numpy()[_measured(fit)]
    if not levels.size:
        ax.text(0.5, 0.5, "no errors", transform=ax.transAxes, ha="center", va="center")
        return
    right, bar = levels[0] ** -0.5, (4 * levels[-1]) ** -0.5
    x = np.linspace(min(right / 40, bar), right * 1.03, _POINTS)
    curves = predicted_curves(fit, x**-2)
    heights = []
    for style, curve, _ in _curves(fit):
        found = curves.sel(algorithm=curve["algorithm"]) if "algorithm" in curves.dims else curves
        _draw_curve(ax, x, found, style)
        errors = curve["mean_error"].sel(training=levels)
        ax.plot(levels**-0.5, errors, style.marker, color=style.color, **_EDGE)
        heights += [found["prediction"].to_numpy()[x >= bar], curve["mean_error"].to_numpy()]
    ax.axvline(bar, color="black", linewidth=0.8, linestyle="--", zorder=1)
    ax.text(bar, 0.02, " 4 times", transform=ax.get_xaxis_transform(), fontsize="small")
    ax.set_xlim(0, 1.06 * right)
    _leave_room(ax, np.concatenate(heights))
    _mark_sizes(ax, levels)
    units = fit["error_at_n"].attrs.get("units", "1")
    ax.set_ylabel("error" if units == "1" else f"error ({units})")
    ax.set_xlabel(rf"$n^{{-0.5}}$  (n: {label_of(fit['training'])})")
    _name_curves(fit, ax)


def _draw_curve(ax: Axes, x: Floats, found: xr.Dataset, style: Style) -> None:
    """Draw one fitted curve with its interval."""
    low, high = (found["prediction_ci"].sel(ci_bound=bound) for bound in labels.CI_BOUNDS)
    ax.plot(x, found["prediction"], color=style.color, linestyle=style.linestyle)
    ax.fill_between(x, low, high, color=style.color, alpha=SHADE, linewidth=0)


def _name_curves(fit: xr.Dataset, ax: Axes) -> None:
    """Name each curve by its line with its marker; where the panel stands alone, with its parameters."""
    alone = len(ax.figure.axes) == 1
    for style, curve, name in _curves(fit):
        said = name + _legend(curve, short=len(name) > _LONG) if alone else name.removesuffix(": ")
        ax.plot([], [], label=said or None, **style._asdict(), **_EDGE)


def _leave_room(ax: Axes, heights: Floats) -> None:
    """Leave room on the y axis around what is drawn."""
    low, high = np.nanmin(heights), np.nanmax(heights)
    ax.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))


def _legend(curve: xr.Dataset, *, short: bool) -> str:
    if curve["unfit"].item():
        return f"not fitted ({REASONS[int(curve['unfit'].item())]})"
    at = short_level(curve["at"].item())
    values = curve["gamma"].item(), curve["error_at_n"].item(), curve["data_reliance"].item()
    star = " *" if curve["backtest_error"] > MISSED else ""
    if short:
        return rf"$\gamma$ = {values[0]:.2f}{star}"
    return rf"$\gamma$ = {values[0]:.2f}, $e_{{{at}}}$ = {values[1]:.4g}, $\beta_{{{at}}}$ = {values[2]:.4g}{star}"


def _measured(fit: xr.Dataset) -> NDArray[np.bool_]:
    """Return which sizes have errors of any curve."""
    return np.asarray((fit["n_folds"] > 0).any([dim for dim in fit["n_folds"].dims if dim != "training"]))


def _mark_sizes(ax: Axes, levels: Floats) -> None:
    """Label the x axis with n^-0.5 and, in parentheses, n: endless data, the bar, and measured sizes that have room."""
    far = 4 * levels[-1]
    room = levels[0] ** -0.5 / _TICKS
    marks = [(0.0, r"$\infty$")]
    for size in (far, *levels[::-1]):
        if size**-0.5 - marks[-1][0] >= room:
            marks.append((size**-0.5, short_level(size)))
    if marks[-1][0] < levels[0] ** -0.5:  # the smallest size has the label
        marks = [mark for mark in marks if levels[0] ** -0.5 - mark[0] >= room]
        marks.append((levels[0] ** -0.5, short_level(levels[0])))
    ax.set_xticks([x for x, _ in marks], [f"{x:.2g}\n({n})" for x, n in marks], fontsize="small")


def draw_scatter(fit: xr.Dataset, ax: Axes) -> None:
    """Draw error against data-reliance, with intervals, a point for each fitted curve."""
    fitted = [(style, curve, name) for style, curve, name in _curves(fit) if not curve["unfit"].item()]
    for style, curve, name in fitted:
        x, y = curve["data_reliance"].item(), curve["error_at_n"].item()
        widths = [_arms(curve, "data_reliance"), _arms(curve, "error_at_n")]
        look: dict[str, Any] = {"color": style.color, "fmt": style.marker, "capsize": 3}
        ax.errorbar(x, y, xerr=widths[0], yerr=widths[1], label=name.removesuffix(": ") or None, **look)
    sizes = np.unique([curve["at"].item() for _, curve, _ in fitted])
    where = f"at n = {sizes[0]:g}" if len(sizes) == 1 else "each at its own N"
    for name, setter in (("data_reliance", ax.set_xlabel), ("error_at_n", ax.set_ylabel)):
        setter(label_of(fit[name]).replace("at the size N", where))


def _arms(curve: xr.Dataset, name: str) -> Floats:
    """Return the lengths of an error bar below and above."""
    bounds = curve["estimate_ci"].sel(param=name).to_numpy()
    return np.asarray(np.abs(bounds - curve[name].item())[:, np.newaxis])


def _curves(fit: xr.Dataset) -> Iterator[tuple[Style, xr.Dataset, str]]:
    """Yield the style of each algorithm that has errors, its curve and its name."""
    if "algorithm" not in fit.dims:
        yield style_in(fit), fit, ""
        return
    for place, label in enumerate(fit["algorithm"].to_numpy()):
        curve = fit.isel(algorithm=place)
        if curve["n_folds"].any():
            yield style_in(curve), curve, f"{label}: "


def say_curves(fit: xr.Dataset) -> str:
    """Return what the picture of learning curves shows."""
    said = [
        f"{name}error {curve['error_at_n'].item():.4g} at {curve['at'].item():g}, exponent {curve['gamma'].item():.3g}"
        for _, curve, name in _curves(fit)
    ]
    return f"Learning curves with intervals. {joined(said, '; ')}."


def say_scatter(fit: xr.Dataset) -> str:
    """Return what the picture of error against data-reliance shows."""
    said = [
        f"{name}error {curve['error_at_n'].item():.4g}, data-reliance {curve['data_reliance'].item():.4g}"
        for _, curve, name in _curves(fit)
    ]
    return f"Scatter chart of error against data-reliance. {joined(said, '; ')}."
