"""Numbers, intervals, p-values, counts and lists as words, and the sentence about who is best of all pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import isfinite, isinf, isnan, log10
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import is_exact, significant

MOST_NAMED = 12  # phrases of a list; of longer lists the rest is counted
_LEAST_P = 0.001  # smaller p-values are not told apart
_NOISE = 1e-15  # below it a number is the rounding error of others
_SMALL, _LARGE = 1e-4, 1e9  # numbers from there on are written with a power of ten
_EXPONENT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NO_UNIT = ("", "1", "fraction", "dimensionless")


def number(value: float, digits: int = 3) -> str:
    """Return a number in so many digits: 812, 0.0794, 12,345, 4.39 × 10¹⁰, −3, ∞; whole numbers keep all of theirs."""
    value = float(value)
    if isnan(value):
        return "unknown"
    size = abs(value)
    sign = ""
    if value < 0:
        sign = "−"
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


def decimals_of(low: float, high: float, estimate: float | None = None) -> int | None:
    """Return how many decimals an interval supports: two significant digits of its half-width; None if it has none.

    The half-width of an interval with one end is the distance from there to the estimate. Negative: of tens and beyond.
    """
    ends = [float(end) for end in (low, high) if isfinite(end)]
    if len(ends) == 1 and estimate is not None and isfinite(estimate):
        ends.append(float(estimate))
    if len(ends) < 2:
        return None
    half_width = abs(ends[1] - ends[0]) / 2
    if half_width <= _NOISE * max(map(abs, ends)) or half_width == 0:
        return None
    return 1 - int(np.floor(log10(half_width) + 1e-9))


def rounded(value: float, decimals: int | None, digits: int = 3) -> str:
    """Return a number with so many decimals; None: in so many significant digits."""
    value = float(value)
    if decimals is None or not isfinite(value):
        return number(value, digits)
    is_tiny = 10.0**-decimals < _SMALL and 0 < abs(value) < _SMALL
    if is_tiny or 10.0**-decimals >= _LARGE:
        return number(value, max(digits, 1))
    nearest = round(value, decimals) + 0.0  # no minus in front of 0
    sign = ""
    if nearest < 0:
        sign = "−"
    return f"{sign}{abs(nearest):,.{max(decimals, 0)}f}"


def interval(
    low: float, high: float, digits: int = 3, *, estimate: float | None = None
) -> str:
    """Return an interval, in as many decimals as it supports: "−9.8 to 11.1", "at least 3", "more than 0 to 16".

    One that is open at 0 says so: its end was set there by a test. Nothing is known of one without an end.
    """
    low, high = float(low), float(high)
    if isnan(low) or isnan(high):
        return "no interval"
    decimals = decimals_of(low, high, estimate)
    if isfinite(low) and isfinite(high):
        return f"{rounded(low, decimals, digits)} to {rounded(high, decimals, digits)}"
    if isfinite(low):
        return f"at least {rounded(low, decimals, digits)}"
    if isfinite(high):
        return f"at most {rounded(high, decimals, digits)}"
    return "interval unbounded"


def rounds_to_zero(value: float, decimals: int | None) -> bool:
    """Return whether so many decimals of a number are all 0."""
    return value == 0 or (
        decimals is not None and isfinite(value) and round(value, decimals) == 0
    )


def open_interval(low: float, high: float, estimate: float) -> str:
    """Return the interval of a difference that is shown; an end of 0 is open: "more than 0 to 15.9"."""
    decimals = decimals_of(low, high, estimate)
    if low >= 0 and estimate > 0 and rounds_to_zero(low, decimals):
        return (
            f"more than 0 to {rounded(high, decimals)}"
            if isfinite(high)
            else "more than 0"
        )
    if high <= 0 and estimate < 0 and rounds_to_zero(high, decimals):
        return (
            f"{rounded(low, decimals)} to less than 0"
            if isfinite(low)
            else "less than 0"
        )
    return interval(low, high, estimate=estimate)


def estimated(
    value: float, low: float, high: float, units: object = "1", digits: int = 3
) -> str:
    """Return an estimate with its interval, with the same decimals: "7.6 (3.5 to 11.7)"."""
    said = rounded(value, decimals_of(low, high, value), digits)
    unit = "" if str(units) in _NO_UNIT else f" {units}"
    return f"{said}{unit} ({interval(low, high, digits, estimate=value)})"


def ends_of(bounds: xr.DataArray, *, turned: bool = False) -> tuple[float, float]:
    """Return both ends of one interval; `turned`, of the negative."""
    low, high = (float(bounds.sel(ci_bound=bound).item()) for bound in CI_BOUNDS)
    return (-high, -low) if turned else (low, high)


def pvalue(p: float, smallest: float = 0.0, n_random: int = 0, name: str = "p") -> str:
    """Return a p-value, "p = .023", "p < .001"; one at the `smallest` that random reassignments give says so."""
    p = float(p)
    if isnan(p):
        return f"no {name}"
    said = f"{name} {p_text(p)}" if p < _LEAST_P else f"{name} = {p_text(p)}"
    if n_random and p <= smallest * 1.000001:
        return f"{said} (the smallest that {n_random:,} reassignments can give)"
    return said


def p_text(p: float) -> str:
    """Return a p-value as a table has it, three decimals without the zero in front: ".023", "< .001"."""
    p = float(p)
    if isnan(p):
        return ""
    if p < _LEAST_P:
        return "< .001"
    said = f"{p:.3f}"
    if float(said) == 1:
        return "1"
    for decimals in range(3, 7):  # on which side of .05 must be seen
        said = f"{p:.{decimals}f}"
        if float(said) != 0.05 or abs(p - 0.05) < 1e-12:
            break
    return said.removeprefix("0")


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
    between = "; " if any(", " in name for name in said) else ", "
    return " and ".join([between.join(said[:-1]), said[-1]] if len(said) > 1 else said)


def counted(pvalues: Floats, alpha: float, what: str, things: str) -> str:
    """Return in how many of many tests something differs."""
    known = pvalues[~np.isnan(pvalues)]
    differ = np.count_nonzero(significant(known, alpha))
    unknown = len(pvalues) - len(known)
    more = f" (nothing can be said of {unknown} more)" if unknown else ""
    return f"In {differ} of {len(known)} {things} {what} differ at the {alpha:g} level{more}."


def unadjusted_over_tasks(n_tasks: int, task: str) -> Iterator[str]:
    """If there are several tasks, of this noun, yield that p is for each by itself."""
    if n_tasks > 1:
        yield f"Each {task} was tested by itself: p is not adjusted for the number of {task}s."


def reassigned(result: xr.Dataset, what: str) -> str:
    """Return what p is the share of, with the numbers of reassignments of all tasks."""
    made, exact = result["n_resamples"].to_numpy().ravel(), is_exact(result).ravel()
    among = [
        f"{which} {span(made[some].tolist())} {kind}"
        for some, which, kind in (
            (exact & (made > 0), "all", "distinct ones"),
            (~exact, "", "random ones"),
        )
        if some.any()
    ]
    said = " or ".join(each.strip() for each in among) or "none"
    return f"p is the share of reassignments of {what} with an F at least as large, among {said}."


def label_of(variable: xr.DataArray) -> str:
    """Return long_name, or the name, with the unit: "training (games)"; "step" in steps is "steps"."""
    name, units = (
        str(variable.attrs.get("long_name", variable.name or "score")),
        units_of(variable),
    )
    if name == units or name.endswith(f" {units}"):
        return name
    return units if units == f"{name}s" else with_units(name, variable)


def with_units(name: str, variable: xr.DataArray) -> str:
    """Return a name with the unit of a variable: "score (games)"."""
    return name if units_of(variable) in _NO_UNIT else f"{name} ({units_of(variable)})"


def units_of(variable: Any) -> str:
    """Return the unit of a variable as it stands after a number."""
    return str(variable.attrs.get("units", "1"))
