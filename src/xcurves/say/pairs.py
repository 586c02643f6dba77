"""Pairs of algorithms as they are shown: the better one first, by how much, with one interval and one p.

Every table, sentence and picture takes its pairs from here, so that none contradicts another. The arithmetic is on
Variables: those of one result have the same labels, which need not be aligned each time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import isnan, prod
from typing import NamedTuple

import numpy as np
import xarray as xr

from xcurves.core.direction import good_end
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import alpha_of, significant
from xcurves.say.numbers import percent

MOST_LISTED = 45  # pairs that a reader is shown; of more than 10 algorithms places
MOST_PAIRS = 8  # whose curves are compared along training
TURNED = "pair_turned"  # the coordinate with the labels of turned pairs
SWAPPED = "_swapped"
# the attr of a result whose reference stands first in every pair: "ours over X", positive where ours is better
REFERENCE_FIRST = "reference_first"
# the footnote of tables and pictures that have such ends
OPEN_ENDS = "More than 0: by the test; the level is claimed for the interval without it."

# captions of pairs in a picture where none is a heading
NAMED_PAIRS = (
    "The difference of each pair, the first less the second, with the interval for all pairs together and adjusted p."
)
OVER_TRAINING = "The score of a run is its mean over training."
ONE_PAIR = "By how much the first is better than the second, with its interval and p."
# captions of their curves
ALONG_TRAINING = "Difference of mean scores, the first less the second, along training."
IN_BAND = "where it leaves 0 the difference is shown."


class PairRow(NamedTuple):
    """One pair of algorithms as it is shown."""

    better: str  # or the one that is compared with the reference
    other: str
    amount: float  # by how much the first is better, or the difference to the reference
    low: float
    high: float
    p: float  # adjusted over pairs
    shown: bool

    @property
    def side(self) -> int:
        """Where the first is, 1 above, -1 below, 0 neither; where no amount is known, by the interval."""
        if isnan(self.amount):
            return int(self.low >= 0) - int(self.high <= 0)
        return int(self.amount > 0) - int(self.amount < 0)


def most_ahead(rows: Iterable[PairRow]) -> str | None:
    """Return the algorithm that is most ahead of the others on average, None if no difference is known."""
    leads: dict[str, list[float]] = {}
    for row in rows:
        if not isnan(row.amount):
            leads.setdefault(row.better, []).append(row.amount)
            leads.setdefault(row.other, []).append(-row.amount)
    return max(leads, key=lambda name: sum(leads[name]) / len(leads[name]), default=None)


def order(result: xr.Dataset) -> str:
    """Return how pairs stand in a table: "the better one first", unless they keep their direction."""
    if _reference_stands_first(result):
        return f"{result.attrs['reference']} first, positive where it is better"
    if keeps_direction(result):
        return "the first less the second"
    return "the better one first"


def keeps_direction(result: xr.Dataset) -> bool:
    """Return whether pairs keep their order and sign: where one is the reference, or has a margin."""
    return "reference" in result.attrs or "margin" in result.attrs


def lower_is_better(result: xr.Dataset) -> bool:
    """Return whether low scores of a result are the good ones."""
    return good_end(result) == "lower"


def between(result: xr.Dataset) -> str:
    """Return the word between the two of a pair, the better first: "over", of low scores "below"."""
    if lower_is_better(result):
        return "below"
    return "over"


def heading(result: xr.Dataset) -> str:
    """Return how an interval of several pairs is headed: "95 %, all pairs together"."""
    level = percent(result.attrs["confidence_level"], 6)
    if result.sizes.get("pair", 1) > 1:
        return f"{level}, all pairs together"
    return level


def is_shown(p: xr.Variable, estimate: xr.Variable, alpha: float) -> xr.Variable:
    """Return where a difference is shown; one of 0 is none."""
    shown: xr.Variable = significant(p, alpha) & (estimate != 0)
    return shown


def shown_interval(estimate: xr.Variable, interval: xr.DataArray, shown: xr.Variable) -> xr.Variable:
    """Return simultaneous intervals as they are displayed, dims (..., ci_bound).

    A step-down test shows some differences whose simultaneous interval still holds 0: there the end on the side of 0
    is 0, an open end ("more than 0").
    """
    low, high = _ends(interval)
    low = _where(low, ~(shown & (estimate > 0) & (low < 0)), 0.0)
    high = _where(high, ~(shown & (estimate < 0) & (high > 0)), 0.0)
    both: xr.Variable = xr.Variable.concat([low, high], dim="ci_bound")  # type: ignore[no-untyped-call]  # of xarray
    return both.transpose(..., "ci_bound")


def _where(values: xr.Variable, holds: xr.Variable, others: xr.Variable | float) -> xr.Variable:
    """Return values where something holds, others elsewhere."""
    found: xr.Variable = values.where(holds, others)  # type: ignore[no-untyped-call]  # of xarray
    return found


def _ends(interval: xr.DataArray) -> list[xr.Variable]:
    """Return the lower and the upper ends of intervals."""
    return [interval.sel(ci_bound=bound, drop=True).variable for bound in CI_BOUNDS]


def say_open_ends(*displayed: xr.Dataset) -> str:
    """Return the footnote of displayed intervals with an end that was set to 0 by the test, "" if there is none."""
    which = []
    for each in displayed:
        low, high = _ends(each["interval"])
        amount = each["amount"].variable
        if ((amount > 0) & (low == 0) & (high > 0)).any():
            which.append("more")
        if ((amount < 0) & (high == 0) & (low < 0)).any():
            which.append("less")
    if "less" not in which:
        return OPEN_ENDS if which else ""
    sides = " or ".join(dict.fromkeys(sorted(which, reverse=True)))
    return OPEN_ENDS.replace("More", sides.capitalize())


def better_first(
    result: xr.Dataset,
    size: xr.DataArray,
    signed: Sequence[str],
    shares: Sequence[str] = (),
) -> xr.Dataset:
    """Return pairs each turned so that the better one is first and its `size` positive, their labels in `TURNED`.

    The variables `signed` change their sign where `size` is negative, of `shares` what is left of 1 remains. Pairs
    stay as they are where they keep their direction, or all have their reference first.
    """
    if "pair" not in size.dims:
        return result.assign_coords({TURNED: ""})
    turns = _reference_stands_first(result) or not keeps_direction(result)
    negative, swapped = _turns(result, size.variable)

    turned = {}
    for name in {*signed, *shares} & set(result.data_vars):
        given = result.variables[name]
        mirrored = _other_end_first(given)
        if name in shares:
            of_reverse = 1 - mirrored
        else:
            of_reverse = 0 - mirrored  # no minus in front of 0
        turned[name] = _where(given, ~negative, of_reverse)

    names = xr.Variable("pair", result["pair"].to_numpy().astype(str))
    if turns:
        names = _turned_names(result, size.variable, swapped)
    return result.assign(turned | {TURNED: names, SWAPPED: swapped}).set_coords([TURNED, SWAPPED])


def _reference_stands_first(result: xr.Dataset) -> bool:
    """Return whether every pair is shown as "reference over other"; one with a margin keeps its direction."""
    return REFERENCE_FIRST in result.attrs and "reference" in result.attrs and "margin" not in result.attrs


def _turns(result: xr.Dataset, size: xr.Variable) -> tuple[xr.Variable, xr.Variable]:
    """Return which pairs change their sign, and in which the second algorithm comes first."""
    if _reference_stands_first(result):
        # They are "other - reference"; of low scores that are better, that is by how much the reference is better.
        every = size.copy(data=np.ones(size.shape, bool))
        return every & (not lower_is_better(result)), every
    turns = not keeps_direction(result)
    negative = (size < 0) & turns
    if lower_is_better(result):
        # the first of a negative difference is the better one already
        return negative, (size > 0) & turns
    return negative, negative


def _other_end_first(value: xr.Variable) -> xr.Variable:
    """Return a variable of which both ends of an interval, if it is one, have changed places."""
    if "ci_bound" not in value.dims:
        return value
    return value.isel(ci_bound=slice(None, None, -1))


def _turned_names(result: xr.Dataset, size: xr.Variable, swapped: xr.Variable) -> xr.Variable:
    """Return the names of turned pairs: "better over other", of equal ones "first and second"."""
    both = sides_of(result)
    word = between(result)
    as_given = xr.Variable("pair", [f"{a} {word} {b}" for a, b in both])
    reverse = xr.Variable("pair", [f"{b} {word} {a}" for a, b in both])
    equal = xr.Variable("pair", [f"{a} and {b}" for a, b in both])
    return _where(_where(reverse, swapped, as_given), size != 0, equal)


def _texts(labels: xr.DataArray) -> list[str]:
    """Return labels as texts."""
    return [str(label) for label in np.atleast_1d(labels.to_numpy()).tolist()]


def pairs_by_size(
    result: xr.Dataset,
    size: xr.DataArray,
    signed: Sequence[str],
    shares: Sequence[str] = (),
) -> xr.Dataset:
    """Return the pairs of one task, the better first, the largest difference in front."""
    turned = better_first(result, size, signed, shares)
    turned = turned.isel(pair=np.argsort(-np.abs(size.to_numpy()), kind="stable"))
    swapped, a, b = (turned[name].to_numpy() for name in (SWAPPED, "algorithm_a", "algorithm_b"))
    return turned.drop_vars([TURNED, SWAPPED]).assign_coords(
        algorithm_a=("pair", np.where(swapped, b, a)),
        algorithm_b=("pair", np.where(swapped, a, b)),
        pair=turned[TURNED].to_numpy(),
    )


def displayed_pairs(result: xr.Dataset, estimate: str, interval: str, p: xr.DataArray | None) -> xr.Dataset:
    """Return what is shown of pairs, dims (..., pair): `amount`, `interval` (ci_bound), `p` and `shown`.

    The better is first, as `TURNED` says; its amount is positive unless pairs keep their direction. `interval` is
    that for all pairs together, as `shown_interval` displays it. Without p those are shown whose interval leaves out
    0: their p is 0, that of the others 1.
    """
    known = result[[estimate, interval]]
    size = known.variables[estimate]
    if p is None:
        low, high = _ends(known[interval])
        of_pairs = 1.0 - _where((low > 0) | (high < 0), low.notnull() & high.notnull(), np.nan)
    else:
        of_pairs = p.variable
    shown = is_shown(of_pairs, size, alpha_of(result))
    together = shown_interval(size, known[interval], shown)
    given = xr.Dataset(
        {"amount": size, "interval": together, "p": of_pairs, "shown": shown},
        known.reset_coords(drop=True).coords,
        result.attrs,
    )
    of_pair = {name: result.variables[name] for name in ("pair", "algorithm_a", "algorithm_b")}
    return better_first(given.assign_coords(of_pair), given["amount"], ["amount", "interval"])


def beside_reference(result: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Return variables of each algorithm as those of its pair with the reference."""
    if "algorithm" not in result.dims:
        result = result.expand_dims("algorithm")
    reference = str(result.attrs["reference"])
    algorithms = _texts(result["algorithm"])
    return (
        result[list(names)]
        .rename(algorithm="pair")
        .assign_coords(
            pair=[f"{name} - {reference}" for name in algorithms],
            algorithm_a=("pair", algorithms),
            algorithm_b=("pair", [reference] * len(algorithms)),
        )
    )


def by_algorithm(displayed: xr.Dataset) -> xr.Dataset:
    """Return displayed pairs with a reference as what is said of each algorithm beside it."""
    names = displayed["algorithm_a"].to_numpy().astype(str)
    return displayed.drop_vars("pair").rename(pair="algorithm").assign_coords(algorithm=names)


def sides_of(pairs: xr.Dataset) -> list[tuple[str, str]]:
    """Return both algorithms of every pair."""
    first, second = (_texts(pairs[side]) for side in ("algorithm_a", "algorithm_b"))
    return list(zip(first, second, strict=True))


def sides_shown(displayed: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return the "first" and the "second" of each pair as it is displayed."""
    swapped = displayed[SWAPPED].reset_coords(drop=True)
    a, b = (
        xr.DataArray(np.array(_texts(displayed[side]), dtype=object), dims="pair")
        for side in ("algorithm_a", "algorithm_b")
    )
    return {"first": b.where(swapped, a), "second": a.where(swapped, b)}


def rows_of(displayed: xr.Dataset) -> list[PairRow]:
    """Return the displayed pairs of one task as rows, the largest amount first, unknown ones last."""
    return rows_of_tasks(displayed, ())[0]


def verdict_rows(displayed: xr.Dataset) -> list[PairRow]:
    """Return the displayed pairs of one task as rows with the better one first, whatever direction pairs keep.

    But several pairs with one reference stand beside it, with their signs: no best is named of them.
    """
    rows = rows_of(displayed)
    if "reference" in displayed.attrs and len(rows) > 1:
        return rows
    return better_first_rows(rows, displayed)


def better_first_rows(rows: Sequence[PairRow], displayed: xr.Dataset) -> list[PairRow]:
    """Return rows of displayed pairs, those that keep their direction turned as `better_first` turns others."""
    if not keeps_direction(displayed):
        return list(rows)
    sign = 1
    if lower_is_better(displayed):
        sign = -1
    return [_turned_row(row, swap=sign * row.amount < 0) for row in rows]


def _turned_row(row: PairRow, *, swap: bool) -> PairRow:
    """Return a row with a positive amount, its algorithms swapped or not."""
    if row.amount < 0:
        row = row._replace(amount=-row.amount, low=-row.high, high=-row.low)
    if swap:
        row = row._replace(better=row.other, other=row.better)
    return row


def rows_of_tasks(displayed: xr.Dataset, dims: Sequence[Hashable]) -> list[list[PairRow]]:
    """Return the rows of every task in C order over dims, as `rows_of` those of one."""
    sides = sides_of(displayed)
    n_pairs = len(sides)
    if not n_pairs:
        return [[] for _ in range(prod(displayed.sizes[dim] for dim in dims))]
    bounds = displayed["interval"].sel(ci_bound=list(CI_BOUNDS)).transpose(*dims, "pair", "ci_bound")
    every = [bounds.to_numpy().reshape(-1, n_pairs, 2).tolist()]
    sizes = displayed["amount"].sizes
    for name in ("amount", "p", "shown", SWAPPED):
        given = displayed.variables[name]
        whole = given.set_dims({**given.sizes, **sizes})  # type: ignore[no-untyped-call]  # of xarray
        every.append(whole.transpose(*dims, "pair").to_numpy().reshape(-1, n_pairs).tolist())
    rows_by_task = []
    for of_task in zip(*every, strict=True):
        rows = []
        for (better, other), (low, high), amount, p, shown, swapped in zip(sides, *of_task, strict=True):
            if swapped:
                better, other = other, better
            rows.append(PairRow(better, other, amount, low, high, p, bool(shown)))
        rows.sort(key=lambda row: (isnan(row.amount), -abs(row.amount)))
        rows_by_task.append(rows)
    return rows_by_task
