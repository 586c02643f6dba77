"""The picture of places of many algorithms: what a critical-difference diagram is for, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Bools
from xcurves.core import provenance
from xcurves.core.labels import each_of
from xcurves.multi_task.claims import claim_of_verdict, of_claim
from xcurves.pictures.pair_rows import flags_of_scores
from xcurves.pictures.rows import Bracket, Row, RowsBeside, RowsPicture, marks_of
from xcurves.pictures.styles import Style, style_in
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import with_units
from xcurves.say.pairs import lower_is_better

_BEHIND = "#B8B8B8"  # of algorithms that are shown not to be the best
_INK = "#737373"
_MANY = 30  # rows beyond which they are low
_LOW = 0.76  # height of a low row, of the usual one
_MOST_BARS = 12  # that join algorithms not shown to differ: more are a wall


def places(result: xr.Dataset) -> RowsBeside:
    """Return a row for each algorithm, the best mean on top: the interval of its place, and that of its mean beside."""
    part = of_claim(result, claim_of_verdict(result))
    order = _order(part)
    # without what each task has, which selections would copy
    own = part.drop_dims(str(result.attrs["task"]), errors="ignore").isel(algorithm=order)
    rows_of_places, rows_of_means = [], []
    of_place = marks_of(np.full(len(order), np.nan), own["place_ci"])
    of_mean = marks_of(own["score_mean"], own["score_mean_ci"])
    marks = zip(each_of(own, "algorithm"), _may_be_best(own).tolist(), of_place, of_mean, strict=True)
    for one, is_best, place, mean in marks:
        color, ink = _BEHIND, _INK
        if is_best:
            color, ink = style_in(one).color, "black"
        style = Style(color, "-", "o")
        name = str(one["algorithm"].item())
        rows_of_places.append(Row(name, (place._replace(style=style, thick=True),), ink=ink))
        rows_of_means.append(Row(name, (mean._replace(style=style),), ink=ink))
    n = len(order)
    look: dict[str, Any] = {"reference": None, "pitch": 1.0 if n <= _MANY else _LOW}
    ticks = tuple((float(place), str(place)) for place in _ticks(n))
    label = with_units(f"mean {score_name(result)}", result["score_mean"])
    brackets = _brackets(part, order)
    flags = flags_of_scores(result) | {"joined" for _ in brackets}
    return RowsBeside(
        (
            RowsPicture(tuple(rows_of_places), "place", limits=(0.5, n + 0.5), ticks=ticks, **look),
            RowsPicture(tuple(rows_of_means), label, brackets=brackets, flags=flags, **look),
        )
    )


def _order(part: xr.Dataset) -> NDArray[np.intp]:
    """Return the algorithms that have a mean, the best first; those of the verdict in front."""
    means = part["score_mean_common"].fillna(np.nan).to_numpy()
    own = part["score_mean"].to_numpy()
    sign = 1.0 if lower_is_better(part) else -1.0
    known = np.flatnonzero(np.isfinite(own))
    keys = (sign * own[known], np.nan_to_num(sign * means[known], nan=np.inf))
    return known[np.lexsort(keys)]


def _may_be_best(part: xr.Dataset) -> Bools:
    """Return which algorithms may be the best; all, where none is said to be."""
    if "may_be_best" not in part or part["may_be_best"].isnull().all():
        return np.ones(part.sizes["algorithm"], bool)
    return np.asarray(part["may_be_best"].to_numpy() == 1)


def _ticks(n: int) -> list[int]:
    """Return places that are written: the first, the last, and some between."""
    step = max(1, int(np.ceil(n / 6)))
    inner = [place for place in range(step, n, step) if n - place > step / 2]
    return sorted({1, *inner, n})


def _brackets(part: xr.Dataset, order: NDArray[np.intp]) -> tuple[Bracket, ...]:
    """Return what joins algorithms of which no two are shown to differ, if these are few."""
    stretches = joined_stretches(part, order)
    if len(order) < 3 or len(stretches) > _MOST_BARS:
        return ()
    return tuple(Bracket(*stretch) for stretch in stretches)


def joined_stretches(part: xr.Dataset, order: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the longest stretches of two or more algorithms in this order of which no two are shown to differ."""
    row_of = {name: row for row, name in enumerate(part["algorithm"].to_numpy()[order].tolist())}  # fmt: skip
    shown = provenance.significant(part["pvalue_adjusted"].to_numpy(), provenance.alpha_of(part))
    shown &= part["difference"].to_numpy() != 0
    # of each row the first below that it is shown to differ from
    ends = np.full(len(order), len(order))
    sides = zip(
        part["algorithm_a"].to_numpy()[shown].tolist(),
        part["algorithm_b"].to_numpy()[shown].tolist(),
        strict=True,
    )
    for a, b in sides:
        if a in row_of and b in row_of:
            above, below = sorted((row_of[a], row_of[b]))
            ends[above] = min(ends[above], below)
    stops = np.minimum.accumulate(ends[::-1])[::-1] - 1
    return [
        (start, int(stop))
        for start, stop in enumerate(stops)
        if stop > start and (start == 0 or stop > stops[start - 1])
    ]
