"""Pictures of learning curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.axes import Style, fill_band, scale_training, short_level, style_in
from xcurves.core.wording import label_of, with_units
from xcurves.kernels.moments import Floats
from xcurves.learning_curves.error_rates import REASONS
from xcurves.learning_curves.prediction_kernel import predicted_curves
from xcurves.learning_curves.text import MISSED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 200
_FARTHER = 4.0  # times the largest size: how far curves are drawn
_DECADE, _NARROW = 30.0, 3.0  # ratios of errors below which the axis has more ticks than powers of ten
_EDGE: dict[str, Any] = {"markeredgecolor": "black", "markeredgewidth": 0.5}
_LONG = 14  # letters of a name beside which error and data-reliance have no room


def draw_learning_curves(fit: xr.Dataset, ax: Axes) -> None:
    """Draw mean errors, fitted curves with intervals and predictions against training size, both axes logarithmic."""
    levels = fit["training"].to_numpy()[_measured(fit)]
    if not levels.size:
        ax.text(0.5, 0.5, "no errors", transform=ax.transAxes, ha="center", va="center")
        return
    x = np.geomspace(levels[0], _FARTHER * levels[-1], _POINTS)
    curves = predicted_curves(fit, x)
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


def _measured(fit: xr.Dataset) -> NDArray[np.bool_]:
    """Return which sizes have errors of any curve."""
    return np.asarray((fit["n_folds"] > 0).any([dim for dim in fit["n_folds"].dims if dim != "training"]))


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
