"""Speed-ups as they are shown: one interval for all comparisons together, and one adjusted p."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import alpha_of, significant
from xcurves.say.numbers import decimals_of, ends_of, interval, rounded
from xcurves.say.pairs import shown_interval

DISPLAYED = "displayed_ci"


def displayed(result: xr.Dataset) -> xr.Dataset:
    """Return a result with the interval that is shown, `DISPLAYED`, and whether a difference is.

    A step-down test shows some differences whose simultaneous interval still holds 1: there the end on that side is 1.
    """
    p = result["pvalue_adjusted"]
    by_itself = result["speedup_ci"]
    low, high = (by_itself.sel(ci_bound=bound, drop=True) for bound in CI_BOUNDS)
    # where curves end first
    by_interval = (low >= 1).astype(float) - (high <= 1).astype(float)
    apart: xr.DataArray = result["speedup"] - 1
    estimated = xr.apply_ufunc(np.sign, apart).broadcast_like(p)
    direction = estimated.where(estimated.notnull(), by_interval)
    shown = significant(p, alpha_of(result)) & (direction != 0)
    together = shown_interval(direction.variable, result["speedup_ci_simultaneous"] - 1, shown.variable) + 1
    return result.assign({DISPLAYED: together, "shown": shown})


def ends_of_ratio(bounds: xr.DataArray) -> tuple[float, float]:
    """Return both ends of an interval of ratios or times, of which 0 is no limit."""
    return ends_of(without_zeros(bounds))


def without_zeros(bounds: xr.DataArray) -> xr.DataArray:
    """Return ends of intervals of ratios, of which 0 is no limit."""
    return bounds.where(bounds != 0, -np.inf)


def is_one_sided(bounds: xr.DataArray) -> bool:
    """Return whether an interval of a ratio has one end, or none."""
    low, high = ends_of_ratio(bounds)
    return bool(np.isinf(low) or np.isinf(high))


def say_ratio(ratio: float, bounds: xr.DataArray) -> str:
    """Return a ratio of times with its interval: "2.03 times as fast (1.92 to 2.14)"; what is known without one."""
    low, high = ends_of_ratio(bounds)
    limits = interval(low, high, estimate=ratio)
    if not np.isnan(ratio):
        factor = rounded(ratio, decimals_of(low, high, ratio))
        return f"{factor} times as fast ({limits})"
    if np.isfinite(low) or np.isfinite(high):
        return f"{limits} times as fast"
    return "nothing bounds how fast"
