"""Numbers, intervals, p-values, counts and lists as words, and the sentence about who is best of all pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import isfinite, isinf, isnan, log10
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import is_exact, significant

MOST_NAMED = 12  # phrases of a list; of longer lists the rest is counted
_LEAST_P = 0.001  # smaller p-values are not told apart
_MOST_DECIMALS = 6  # of a p-value near .05
_NEXT_TO_NOTHING = 1e-12  # estimates of this size, relative to their interval's
_NOISE = 1e-15  # below it a number is the rounding error of others
_SMALL, _LARGE = 1e-4, 1e9  # numbers from there on are written with a power of ten
_EXPONENT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONG, _BEYOND_PREFIXES = 10_000, 1e27  # levels between them are written with a prefix
_PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
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
    # Digits in front of the decimal point are all written.
    nearest = float(round(size))
    if size < 10**digits:
        nearest = float(f"{size:.{digits}g}")
    if _SMALL <= nearest < _LARGE:
        places = max(0, digits - 1 - int(np.floor(log10(nearest))))
        return sign + _without_trailing_zeros(f"{nearest:,.{places}f}")

    mantissa, _, power = f"{size:.{digits - 1}e}".partition("e")
    exponent = str(int(power)).translate(_EXPONENT)
    return f"{sign}{_without_trailing_zeros(mantissa)} × 10{exponent}"


def _without_trailing_zeros(digits: str) -> str:
    """Return a number as text without zeros at the end of its decimals."""
    if "." not in digits:
        return digits
    return digits.rstrip("0").rstrip(".")


def quantity(value: float, units: object = "1", digits: int = 3) -> str:
    """Return a number with its unit; shares have none."""
    return f"{number(value, digits)}{units_after(units)}"


def units_after(units: object) -> str:
    """Return a unit as it stands after a number, with the space in front of it; nothing for a share."""
    if str(units) in _NO_UNIT:
        return ""
    return f" {units}"


def percent(share: float, digits: int = 3) -> str:
    """Return a share in per cent."""
    return f"{number(round(100 * float(share), 10), digits)} %"


def decimals_of(low: float, high: float, estimate: float | None = None) -> int | None:
    """Return how many decimals an estimate and its interval have; None: three significant digits of each.

    Two significant digits of the half-width, never fewer than two of the estimate. The half-width of an interval with
    one end is the distance from there to the estimate. Negative: of tens and beyond.
    """
    ends = [float(end) for end in (low, high) if isfinite(end)]
    middle = 0.0
    if estimate is not None and isfinite(estimate):
        middle = float(estimate)
    if len(ends) == 2:
        half_width = abs(ends[1] / 2 - ends[0] / 2)
    elif len(ends) == 1 and estimate is not None and isfinite(estimate):
        half_width = abs(ends[0] - middle)
    else:
        return None
    if half_width <= _NOISE * max(map(abs, ends)) or half_width == 0:
        return None
    sizes = [half_width]
    # one that is as good as 0 has no digits of its own
    if abs(middle) > _NEXT_TO_NOTHING * half_width:
        sizes.append(abs(middle))
    return 1 - int(np.floor(log10(min(sizes)) + 1e-9))


def rounded(value: float, decimals: int | None, digits: int = 3) -> str:
    """Return a number with so many decimals; None: in so many significant digits."""
    value = float(value)
    if decimals is None or not isfinite(value):
        return number(value, digits)
    nearest = round(value, decimals) + 0.0  # no minus in front of 0
    sign = ""
    if nearest < 0:
        sign = "−"
    size = abs(nearest)
    is_tiny = 10.0**-decimals < _SMALL and size < _SMALL
    if not is_tiny and 10.0**-decimals < _LARGE:
        return f"{sign}{size:,.{max(decimals, 0)}f}"
    if size == 0:
        return "0"
    # the mantissa ends at the same decimal
    places = max(0, decimals + int(np.floor(log10(size) + 1e-9)))
    mantissa, _, power = f"{size:.{places}e}".partition("e")
    return f"{sign}{mantissa} × 10{str(int(power)).translate(_EXPONENT)}"


def interval(
    low: float, high: float, digits: int = 3, *, estimate: float | None = None, null: float | None = None
) -> str:
    """Return an interval, in as many decimals as it supports: "−9.8 to 11.1", "at least 3", "more than 0 to 16".

    Nothing is known of one without an end. Of a difference that is shown, an end at the `null` is open.
    """
    decimals = decimals_of(low, high, estimate)
    text = "".join(interval_parts(low, high, decimals, digits, estimate=estimate, null=null))
    return {"": "no interval", "unbounded": "interval unbounded"}.get(text, text)


def interval_parts(
    low: float,
    high: float,
    decimals: int | None,
    digits: int = 3,
    *,
    estimate: float | None = None,
    null: float | None = None,
) -> tuple[str, str, str]:
    """Return the lower end of an interval, what stands between, and the upper end, none where nothing is known.

    An end at the `null` was set there by a test, on that side of the estimate: it is open.
    """
    low, high = float(low), float(high)
    if isnan(low) or isnan(high):
        return "", "", ""
    lower, upper = rounded(low, decimals, digits), rounded(high, decimals, digits)
    is_above = is_below = False
    if null is not None and estimate is not None:
        is_above = low >= null and estimate > null and rounds_to_zero(low - null, decimals)
        is_below = high <= null and estimate < null and rounds_to_zero(high - null, decimals)
        lower = f"more than {null:g}" if is_above else lower
        upper = f"less than {null:g}" if is_below else upper
    if isfinite(low) and isfinite(high):
        return lower, " to ", upper
    if isfinite(low):
        return lower if is_above else f"at least {lower}", "", ""
    if isfinite(high):
        return ("", "", upper) if is_below else ("at most", " ", upper)
    return "unbounded", "", ""


def rounds_to_zero(value: float, decimals: int | None) -> bool:
    """Return whether so many decimals of a number are all 0."""
    return value == 0 or (decimals is not None and isfinite(value) and round(value, decimals) == 0)


def estimated(value: float, low: float, high: float, units: object = "1", digits: int = 3) -> str:
    """Return an estimate with its interval, with the same decimals: "7.6 (3.5 to 11.7)"."""
    estimate = rounded(value, decimals_of(low, high, value), digits)
    limits = interval(low, high, digits, estimate=value)
    return f"{estimate}{units_after(units)} ({limits})"


def ends_of(bounds: xr.DataArray, *, turned: bool = False) -> tuple[float, float]:
    """Return both ends of one interval; `turned`, of the negative."""
    low, high = (float(bounds.sel(ci_bound=bound).item()) for bound in CI_BOUNDS)
    if turned:
        return -high, -low
    return low, high


def pvalue(p: float, smallest: float = 0.0, n_random: int = 0, name: str = "p") -> str:
    """Return a p-value, "p = .023", "p < .001"; one at the `smallest` that random reassignments give says so."""
    p = float(p)
    if isnan(p):
        return f"no {name}"
    # The text of a small p has its own sign, "<".
    equals = "= "
    if p < _LEAST_P:
        equals = ""
    words = f"{name} {equals}{p_text(p)}"
    if n_random and p <= smallest * 1.000001:
        words += f" (the smallest that {n_random:,} reassignments can give)"
    return words


def p_text(p: float) -> str:
    """Return a p-value as a table has it, three decimals without the zero in front: ".023", "< .001"."""
    p = float(p)
    if isnan(p):
        return ""
    if p < _LEAST_P:
        return "< .001"
    if float(f"{p:.3f}") == 1:
        return "1"
    decimals = 3
    is_half_of_a_tenth = abs(p - 0.05) < 1e-12
    # On which side of .05 a p is must be seen.
    while not is_half_of_a_tenth and float(f"{p:.{decimals}f}") == 0.05 and decimals < _MOST_DECIMALS:
        decimals += 1
    return f"{p:.{decimals}f}".removeprefix("0")


def capitalized(text: str) -> str:
    """Return a text with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def small(text: str) -> str:
    """Return a text with a small first letter."""
    return f"{text[:1].lower()}{text[1:]}"


def count(n: float, thing: str, things: str = "") -> str:
    """Return a number of things: "1 run", "9,999 reassignments"."""
    if n == 1:
        return f"{number(n)} {thing}"
    return f"{number(n)} {things or thing + 's'}"


def span(values: Iterable[float], digits: int = 3) -> str:
    """Return a number, or the smallest and the largest of several."""
    ordered = sorted(set(values))
    # Ends that are written alike are written once.
    ends = dict.fromkeys(number(end, digits) for end in (ordered[:1] + ordered[-1:]))
    return " to ".join(ends)


def counts(values: Iterable[float], thing: str) -> str:
    """Return a number of things, or the smallest and the largest of several: "1 task", "5 to 10 tasks"."""
    numbers = span(values)
    return f"{numbers} {thing}" if numbers == "1" else f"{numbers} {thing}s"


def stretches(values: Floats, chosen: Bools, form: str = "", unit: str = "") -> list[str]:
    """Return the stretches of chosen values, "30 to 100 %", "5 %"; `form` is that of a number, if not three digits."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(int)))
    said = []
    for start, stop in edges.reshape(-1, 2).tolist():
        ends = [format(value, form) if form else number(value) for value in (values[start], values[stop - 1])]
        said.append(" to ".join(dict.fromkeys(ends)) + unit)
    return said


def joined(phrases: Sequence[str], separator: str = ", ", most: int = MOST_NAMED) -> str:
    """Return phrases in one line, the first of many with the number of the others."""
    line = separator.join(phrases[:most])
    if len(phrases) > most:
        line += f"{separator}and {len(phrases) - most:,} more"
    return line


def listed(names: Collection[object], most: int = MOST_NAMED) -> str:
    """Return names as a list: "a, b and c", "a, b and 7 more"."""
    items = [str(name) for name in names]
    if len(items) > most:
        items = [*items[:most], f"{len(items) - most:,} more"]
    if len(items) < 2:
        return "".join(items)

    between = ", "
    if any(", " in item for item in items):
        between = "; "
    return f"{between.join(items[:-1])} and {items[-1]}"


def counted(pvalues: Floats, alpha: float, what: str, things: str) -> str:
    """Return in how many of many tests something differs."""
    known = pvalues[~np.isnan(pvalues)]
    differ = np.count_nonzero(significant(known, alpha))
    unknown = len(pvalues) - len(known)
    words = f"In {differ} of {len(known)} {things} {what} differ at the {number(alpha)} level"
    if unknown:
        words += f" (nothing can be said of {unknown} more)"
    return f"{words}."


def unadjusted_over_tasks(n_tasks: int, task: str, what: str = "p is") -> Iterator[str]:
    """If there are several tasks, of this noun, yield that p is for each by itself."""
    if n_tasks > 1:
        yield f"Each {task} was tested by itself: {what} not adjusted for the number of {task}s."


def reassigned(result: xr.Dataset, what: str) -> str:
    """Return what p is the share of, with the numbers of reassignments of all tasks."""
    n_made = result["n_resamples"].to_numpy().ravel()
    exact = is_exact(result).ravel()
    some_distinct = exact & (n_made > 0)

    among = []
    if some_distinct.any():
        among.append(f"all {span(n_made[some_distinct].tolist())} distinct ones")
    if not exact.all():
        among.append(f"{span(n_made[~exact].tolist())} random ones")
    evaluated = " or ".join(among) or "none"
    return f"p is the share of reassignments of {what} with an F at least as large, among {evaluated}."


def label_of(variable: xr.DataArray) -> str:
    """Return long_name, or the name, with the unit: "training (games)"; "step" in steps is "steps"."""
    name = str(variable.attrs.get("long_name", variable.name or "score"))
    units = units_of(variable)
    if name == units or name.endswith(f" {units}"):
        return name
    if units == f"{name}s":
        return units
    return with_units(name, variable)


def with_units(name: str, variable: xr.DataArray) -> str:
    """Return a name with the unit of a variable: "score (games)"."""
    units = units_of(variable)
    if units in _NO_UNIT:
        return name
    return f"{name} ({units})"


def short_level(level: float) -> str:
    """Return a training level in few letters: 500, 20k, 1.5M."""
    if level < _LONG or level >= _BEYOND_PREFIXES:
        return f"{level:g}"
    thousands = int(log10(level) // 3)
    shown = round(level / 1000**thousands, 1)
    if shown >= 1000:  # by rounding
        thousands += 1
        shown /= 1000
    return f"{shown:g}{_PREFIXES[thousands]}"


def units_of(variable: Any) -> str:
    """Return the unit of a variable as it stands after a number."""
    return str(variable.attrs.get("units", "1"))
