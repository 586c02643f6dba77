"""Numbers, intervals, p-values, counts and lists as words; every sentence and picture writes them so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import isfinite, isinf, isnan, log10
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import significant
from xcurves.kernels.moments import Floats

MOST_NAMED = 12  # phrases of a list; of longer lists the rest is counted
_NOISE = 1e-15  # below it a number is the rounding error of others
_SMALL, _LARGE = 1e-4, 1e9  # numbers from there on are written with a power of ten
_EXPONENT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NO_UNIT = ("", "1", "fraction", "dimensionless")


def number(value: float, digits: int = 3) -> str:
    """Return a number in so many digits: 812, 0.0794, 12,345, 4.39 × 10¹⁰, −3, ∞; whole numbers keep all of theirs."""
    value = float(value)
    if isnan(value):
        return "unknown"
    sign, size = "−" * (value < 0), abs(value)
    if isinf(value):
        return f"{sign}∞"
    if size < _NOISE:
        return "0"
    if size == round(size) and size < _LARGE:
        return f"{sign}{size:,.0f}"
    rounded = float(f"{size:.{digits}g}") if size < 10**digits else float(round(size))
    if _SMALL <= rounded < _LARGE:
        places = max(0, digits - 1 - int(np.floor(log10(rounded))))
        said = f"{rounded:,.{places}f}"
        return sign + (said.rstrip("0").rstrip(".") if "." in said else said)
    mantissa, _, power = f"{size:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{sign}{mantissa} × 10{str(int(power)).translate(_EXPONENT)}"


def quantity(value: float, units: object = "1", digits: int = 3) -> str:
    """Return a number with its unit; shares have none."""
    return number(value, digits) + (f" {units}" if str(units) not in _NO_UNIT else "")


def percent(share: float, digits: int = 3) -> str:
    """Return a share in per cent."""
    return f"{number(round(100 * float(share), 10), digits)} %"


def interval(low: float, high: float, digits: int = 3) -> str:
    """Return an interval: "−10 to 111", "at least 3", "no limit", "no interval"."""
    low, high = float(low), float(high)
    if isnan(low) or isnan(high):
        return "no interval"
    if isfinite(low) and isfinite(high):
        return f"{number(low, digits)} to {number(high, digits)}"
    if isfinite(low):
        return f"at least {number(low, digits)}"
    return f"at most {number(high, digits)}" if isfinite(high) else "no limit"


def ends_of(bounds: xr.DataArray, *, turned: bool = False) -> tuple[float, float]:
    """Return both ends of one interval; `turned`, of the negative."""
    low, high = (float(bounds.sel(ci_bound=bound).item()) for bound in CI_BOUNDS)
    return (-high, -low) if turned else (low, high)


def pvalue(p: float, smallest: float = 0.0, n_random: int = 0, name: str = "p") -> str:
    """Return a p-value; one at the `smallest` that random reassignments can give says how many there were."""
    p = float(p)
    if isnan(p):
        return f"no {name}"
    if p < 1e-6:
        return f"{name} < 0.000001"
    said = f"{p:.3g}" if p >= _SMALL else f"{p:.7f}".rstrip("0")
    at_floor = (
        f" (the smallest that {n_random:,} reassignments can give)" if n_random and p <= smallest * 1.000001 else ""
    )
    return f"{name} = {said}{at_floor}"


def count(n: float, thing: str, things: str = "") -> str:
    """Return a number of things: "1 run", "9,999 reassignments"."""
    return f"{number(n)} {thing if n == 1 else things or thing + 's'}"


def span(values: Iterable[float], digits: int = 3) -> str:
    """Return a number, or the smallest and the largest of several."""
    ends = sorted(set(values))
    said = dict.fromkeys(number(end, digits) for end in (ends[:1] + ends[-1:]))
    return " to ".join(said)


def joined(said: Sequence[str], separator: str = ", ", most: int = MOST_NAMED) -> str:
    """Return phrases in one line, the first of many with the number of the others."""
    more = f"{separator}and {len(said) - most:,} more" if len(said) > most else ""
    return separator.join(said[:most]) + more


def listed(names: Collection[object], most: int = MOST_NAMED) -> str:
    """Return names as a list: "a, b and c", "a, b and 7 more"."""
    said = [str(name) for name in names]
    if len(said) > most:
        said = [*said[:most], f"{len(said) - most:,} more"]
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def counted(pvalues: Floats, alpha: float, what: str, things: str = "tasks") -> str:
    """Return in how many of many tests something differs."""
    known = pvalues[~np.isnan(pvalues)]
    differ = np.count_nonzero(significant(known, alpha))
    unknown = len(pvalues) - len(known)
    more = f" (nothing can be said of {unknown} more)" if unknown else ""
    return f"In {differ} of {len(known)} {things} {what} differ at the {alpha:g} level{more}."


def unadjusted_over_tasks(n_tasks: int) -> Iterator[str]:
    """If there are several tasks, yield that p is for each task by itself."""
    if n_tasks > 1:
        yield "Each task was tested by itself: p is not adjusted for the number of tasks."


def label_of(variable: xr.DataArray) -> str:
    """Return long_name, or the name, with the unit: "training (games)"; "step" in steps is "steps"."""
    name, units = str(variable.attrs.get("long_name", variable.name or "score")), units_of(variable)
    if name == units or name.endswith(f" {units}"):
        return name
    return units if units == f"{name}s" else with_units(name, variable)


def with_units(name: str, variable: xr.DataArray) -> str:
    """Return a name with the unit of a variable: "score (games)"."""
    return name if units_of(variable) in _NO_UNIT else f"{name} ({units_of(variable)})"


def units_of(variable: Any) -> str:
    """Return the unit of a variable as it stands after a number."""
    return str(variable.attrs.get("units", "1"))
