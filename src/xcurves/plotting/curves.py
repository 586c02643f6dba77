"""Pictures of curves themselves: each run thin, their mean thick, a band around it by bootstrap over whole runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.axes import SHADE, Style, label_of, scale_training, style_in, wrapped
from xcurves.core.packing import Floats
from xcurves.kernels import bootstrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_RESAMPLES = 2_000
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


def draw_curves(curves: xr.DataArray, ax: Axes, band: Band) -> None:
    """Draw the curves of one task, dims (algorithm, run, training), on one Axes."""
    here = curves.isel(training=curves.notnull().any(["algorithm", "run"]).to_numpy())
    ax.set_ylabel(wrapped(label_of(curves)))
    if not here.sizes["training"]:
        ax.set_xlabel(label_of(curves["training"]))
        ax.text(0.5, 0.5, "no runs", transform=ax.transAxes, ha="center", va="center")
        return
    training = here["training"].to_numpy()
    has = here.notnull().any("run").to_numpy()
    scale_training(ax, here["training"], [training[levels] for levels in has if levels.any()])
    for place, name in enumerate(here["algorithm"].to_numpy().tolist()):
        runs = here.isel(algorithm=place).to_numpy()
        runs = runs[~np.isnan(runs).all(axis=1)]
        if len(runs):
            style = style_in(here.isel(algorithm=place))
            _draw_runs(training, runs, ax, style)
            _draw_mean(training, runs, ax, place, str(name), style, band)
    ax.margins(x=0.02)


def _draw_runs(training: Floats, runs: Floats, ax: Axes, style: Style) -> None:
    """Draw each run through the levels that it has, up to its last one."""
    for run in runs:
        has = ~np.isnan(run)
        dot = "." if np.count_nonzero(has) == 1 else None
        alpha = max(_FAINT, min(1, 2 / len(runs)) * _THIN)
        look: dict[str, Any] = {"linewidth": 0.7, "alpha": alpha, "marker": dot, "zorder": 1.5}
        ax.plot(training[has], run[has], color=style.color, linestyle="-", **look)


def _draw_mean(training: Floats, runs: Floats, ax: Axes, place: int, name: str, style: Style, band: Band) -> None:
    """Draw the mean and its band at the levels that all runs have; elsewhere it would be the mean of fewer runs."""
    common = ~np.isnan(runs).any(axis=0)
    levels, shared = training[common], runs[:, common]
    if len(shared) > 1 and len(levels):
        low, high = band.of(shared)
        shade: dict[str, Any] = {"color": style.color, "alpha": SHADE, "zorder": 2}
        ax.fill_between(levels, low, high, linewidth=0, **shade)
        if len(levels) == 1:
            ax.vlines(levels, low, high, linewidth=6, **shade)
    ax.plot(
        levels,
        shared.mean(axis=0),
        markevery=_marked(levels, ax, place),
        label=name,
        zorder=2.5,
        **_look(style, ax.xaxis.label.get_fontsize()),
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
    has = curves.notnull()
    present = has.any("training")
    common = (has | ~present).all("run").any("training") | ~present.any("run")
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
