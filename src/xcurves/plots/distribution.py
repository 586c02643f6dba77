"""Pictures of performance distributions and of comparisons of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves import labels
from xcurves.plots.axes import Family, label_of
from xcurves.wording.distribution import statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHADE = 0.2
_SPREAD = 0.6  # of the groups around the place of a statistic
_OTHER_SCALES = ("score_std", "partial_mean_above", "prob_above", "optimality_gap")


def _groups(result: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the trials of each algorithm with a colour."""
    if "algorithm" not in result["n_trials"].dims:
        yield "C0", result
        return
    for place in range(result.sizes["algorithm"]):
        yield f"C{place}", result.isel(algorithm=place)


def _finish(result: xr.Dataset, ax: Axes) -> None:
    if "algorithm" in result["n_trials"].dims:
        ax.legend(frameon=False)


def _name(group: xr.Dataset) -> str | None:
    return str(group["algorithm"].item()) if "algorithm" in group.coords else None


def _bounds(interval: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    low, high = (interval.sel(ci_bound=bound) for bound in labels.CI_BOUNDS)
    return low, high


def _limit(ax: Axes, *drawn: xr.DataArray) -> tuple[float, float]:
    """Make room on the y axis for all that is finite, and return where it ends: there ends what is infinite, too."""
    values = np.concatenate([np.ravel(each) for each in drawn])
    values = values[np.isfinite(values)]
    if values.size:
        margin = 0.05 * np.ptp(values) or 0.5
        ax.set_ylim(values.min() - margin, values.max() + margin)
    low, high = ax.get_ylim()
    return low, high


def _shade(result: xr.Dataset, what: str) -> str:
    return f"shade: {100 * float(result.attrs.get('confidence_level', 0.95)):g} %, {what}"


def _inverse_cdf(result: xr.Dataset, ax: Axes) -> None:
    result = result.sortby("probability")
    limits = _limit(ax, result["score_quantile"], result["score_quantile_ci"])
    for colour, group in _groups(result):
        low, high = (bound.clip(*limits) for bound in _bounds(group["score_quantile_ci"]))
        p = group["probability"]
        ax.fill_between(p, low, high, step="mid", color=colour, alpha=_SHADE, linewidth=0)
        ax.step(p, group["score_quantile"], where="mid", color=colour, label=_name(group))
    ax.set_xlabel(f"probability ({_shade(result, 'pointwise')})")
    ax.set_ylabel(label_of(result["score_quantile"]))
    ax.set_xlim(0, 1)
    _finish(result, ax)


def _cdf(result: xr.Dataset, ax: Axes) -> None:
    _over_scores(result, ax, above=False)
    ax.set_ylabel(f"share of trials at or below\n{_shade_of_cdf(result)}")


def _profile(result: xr.Dataset, ax: Axes) -> None:
    _over_scores(result, ax, above=True)
    ax.set_ylabel(f"share of trials above\n{_shade_of_cdf(result)}")


def _shade_of_cdf(result: xr.Dataset) -> str:
    return _shade(result, "simultaneous" if "cdf_band" in result else "pointwise")


def _over_scores(result: xr.Dataset, ax: Axes, *, above: bool) -> None:
    if "cdf" not in result:
        raise ValueError("this result has no CDF. Say where: performance_cdf(scores_at=...)")
    result = result.sortby("score")
    band = "cdf_band" if "cdf_band" in result else "cdf_ci"
    for colour, group in _groups(result):
        cdf, (low, high) = group["cdf"], _bounds(group[band])
        cdf, low, high = (1 - cdf, 1 - low, 1 - high) if above else (cdf, low, high)
        ax.fill_between(group["score"], low, high, step="post", color=colour, alpha=_SHADE, linewidth=0)
        ax.step(group["score"], cdf, where="post", color=colour, label=_name(group))
    units = str(result["score_mean"].attrs.get("units", "1"))
    ax.set_xlabel("score" if units in ("1", "") else f"score ({units})")
    ax.set_ylim(-0.02, 1.02)
    _finish(result, ax)


def _statistics(result: xr.Dataset, ax: Axes) -> None:
    values = statistics(result)
    names = [name for name in result["param"].to_numpy().tolist() if name.split(" ")[0] not in _OTHER_SCALES]
    values, intervals = values.sel(param=names), result["statistic_ci"].sel(param=names)
    groups = list(_groups(result))
    offsets = np.linspace(-0.5, 0.5, len(groups) + 2)[1:-1] * _SPREAD
    endless = []
    for offset, (colour, group) in zip(offsets, groups, strict=True):
        at = {"algorithm": group["algorithm"]} if "algorithm" in values.dims else {}
        value, (low, high) = values.sel(at), _bounds(intervals.sel(at))
        y = np.arange(len(names)) + offset
        start, stop = (bound.where(np.isfinite(bound), value).to_numpy() for bound in (low, high))
        ax.hlines(y, start, stop, color=colour)
        for side, bound in enumerate((low, high)):
            here = np.isinf(bound.to_numpy())
            endless.append((y[here], value.to_numpy()[here], side, colour))
        ax.plot(value, y, "o", color=colour, markersize=5, label=_name(group))
    limits = ax.get_xlim()
    for y, points, side, colour in endless:
        ax.hlines(y, limits[side], points, color=colour)
        ax.scatter(np.full(len(y), limits[side]), y, marker="<>"[side], s=20, color=colour, clip_on=False)
    ax.set_xlim(limits)
    ax.set_yticks(np.arange(len(names)), [name.replace("score_", "").replace("_", " ") for name in names])
    ax.invert_yaxis()
    units = str(result["score_mean"].attrs.get("units", "1"))
    ax.set_xlabel("score" if units in ("1", "") else f"score ({units})")
    ax.grid(axis="x", alpha=0.3)
    _finish(result, ax)


def _prob_greater(result: xr.Dataset, ax: Axes) -> None:
    low, high = _bounds(result["prob_greater_ci"])
    y = np.arange(result.sizes["pair"])
    ax.axvline(0.5, color="0.6", linewidth=1)
    ax.hlines(y, low, high, color="C0")
    ax.plot(result["prob_greater"], y, "o", color="C0", markersize=5)
    ax.set_yticks(y, result["pair"].to_numpy().tolist())
    ax.set_ylim(-0.5, len(y) - 0.5)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel("probability that the first scores higher")


def _quantile_difference(result: xr.Dataset, ax: Axes) -> None:
    ax.axhline(0, color="0.6", linewidth=1)
    shaded = "quantile_difference_band" in result
    drawn = ["quantile_difference", "quantile_difference_band"][: 1 + shaded]
    limits = _limit(ax, *(result[name] for name in drawn))
    for place in range(result.sizes["pair"]):
        pair = result.isel(pair=place)
        p = pair["probability"]
        if shaded:
            low, high = (bound.clip(*limits) for bound in _bounds(pair["quantile_difference_band"]))
            ax.fill_between(p, low, high, step="mid", color=f"C{place}", alpha=_SHADE, linewidth=0)
        ax.step(p, pair["quantile_difference"], where="mid", color=f"C{place}", label=str(pair["pair"].item()))
    ax.set_xlabel(f"probability ({_shade(result, 'simultaneous')})" if shaded else "probability")
    ax.set_ylabel(label_of(result["quantile_difference"]))
    ax.set_xlim(0, 1)
    ax.legend(frameon=False)


PERFORMANCE_CDF = Family(
    {"inverse_cdf": _inverse_cdf, "cdf": _cdf, "statistics": _statistics, "profile": _profile},
    ("inverse_cdf",),
    overlaid=("algorithm",),
)
COMPARE_DISTRIBUTIONS = Family(
    {"prob_greater": _prob_greater, "quantile_difference": _quantile_difference}, ("prob_greater",)
)
