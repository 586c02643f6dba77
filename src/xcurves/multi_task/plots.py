"""Pictures of `across_tasks`: a forest of tasks, mean ranks, probabilities of pairs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.axes import IntervalGroup, Style, draw_intervals, list_rows, style_in
from xcurves.core.labels import each_of
from xcurves.core.matrices import MOST_ROWS, SHARES, draw_differences_of_pairs, draw_pairs, n_pair_rows
from xcurves.core.tables import pairs_by_size
from xcurves.core.wording import with_units
from xcurves.kernels.moments import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLACK = "black"
_GREY = "0.55"
_GAP = 1.6  # rows between two pairs
_BAR = 0.035  # from one bar beside the ranks to the next, as a share of the panel
_MOST = 75  # rows of tasks of several pairs
_SMALL = 24  # rows beyond which labels are small


def joined_dims(result: xr.Dataset) -> tuple[Hashable, ...]:
    """Return the dim whose tasks are joined, if they are: they share a panel."""
    return (result.attrs["task"],) if "task" in result.attrs else ()


def forest_rows(result: xr.Dataset) -> float:
    """Return how many rows the forest has."""
    if result.sizes["pair"] > MOST_ROWS or not _shows_tasks(result):
        return n_pair_rows(result)
    return 0.75 * _n_lines(result)


def _n_lines(result: xr.Dataset) -> float:
    return result.sizes["pair"] * (result.sizes.get(result.attrs["task"], 1) + 2 + _GAP)


def _shows_tasks(result: xr.Dataset) -> bool:
    return result.sizes["pair"] == 1 or _n_lines(result) <= _MOST


def draw_forest(result: xr.Dataset, ax: Axes) -> None:
    """Draw the difference in every task, sorted, and both claims; pairs stand below each other.

    Where tasks and pairs are many, pairs have a row each with both claims, or two algorithms a cell each.
    """
    if result.sizes["pair"] > MOST_ROWS:
        draw_differences_of_pairs(ax, result, result["pvalue_adjusted"].sel(task_effect="random"))
        return
    signed = ("difference", "difference_ci", "task_difference", "task_difference_ci")
    result = pairs_by_size(result, result["difference"], signed)
    if _shows_tasks(result):
        _draw_tasks(result, ax)
    else:
        _draw_claims(result, ax)


def _draw_claims(result: xr.Dataset, ax: Axes) -> None:
    """Draw both claims of every pair in its row."""
    ax.axvline(0, color="0.6", linewidth=1)
    rows = np.arange(float(result.sizes["pair"]))
    draw_intervals(ax, [_mean(result, claim, rows + shift) for claim, shift in (("fixed", -0.2), ("random", 0.2))])
    list_rows(ax, result["pair"].to_numpy().tolist())
    _label_difference(result, ax)


def _mean(pairs: xr.Dataset, claim: str, y: Floats) -> IntervalGroup:
    """Return the mean differences of pairs with the intervals of a claim: filled for these tasks, open for others."""
    value = np.atleast_1d(pairs["difference"].to_numpy())
    low, high = pairs["difference_ci"].sel(task_effect=claim).transpose("ci_bound", ...).to_numpy().reshape(2, -1)
    some = np.isfinite(value) & ~np.isnan(low)
    shape = Style(_BLACK, "-", "D")
    return IntervalGroup(
        y[some], value[some], low[some], high[some], shape, filled=claim == "fixed", flag=f"{claim} mean"
    )


def _label_difference(result: xr.Dataset, ax: Axes) -> None:
    a, b = (_one(result, name) for name in ("algorithm_a", "algorithm_b"))
    ax.set_xlabel(f"{with_units('difference of mean scores', result['difference'])}\n{a} − {b}")
    ax.grid(axis="x", alpha=0.3)


def _draw_tasks(result: xr.Dataset, ax: Axes) -> None:
    """Draw every task of every pair in a row, and both claims below."""
    if result.attrs["task"] not in result.dims:
        result = result.expand_dims(result.attrs["task"])
    ax.axvline(0, color="0.6", linewidth=1)
    several = result.sizes["pair"] > 1
    task = result.attrs["task"]
    rows: list[tuple[float, str]] = []
    groups: list[IntervalGroup] = []
    top = 0.0
    for pair in each_of(result, "pair"):
        own = pair.isel({task: _sorted_places(pair)})
        y = top + np.arange(float(own["task_difference"].size))
        groups += _intervals(ax, own, y)
        rows += zip(y, map(str, own[task].to_numpy().tolist()), strict=True)
        if several:
            ax.text(0.01, top - 0.75, str(pair["pair"].item()), va="center", fontsize="x-small", fontweight="bold",
                    transform=ax.get_yaxis_transform())  # fmt: skip
        for claim, at, which in (("fixed", 0.3, f"these {task}s"), ("random", 1.3, f"{task}s like these")):
            rows.append((top + len(y) + at, f"mean, {which}"))
            groups.append(_mean(pair, claim, np.array([top + len(y) + at])))
        top += len(y) + 1.3 + _GAP
    draw_intervals(ax, groups)
    ax.yaxis.set_gid("task")
    size = "small" if len(rows) <= _SMALL else "x-small"
    ax.set_yticks([at for at, _ in rows], [name for _, name in rows], fontsize=size)
    ax.set_ylim(top - _GAP + 0.7, -1.2 if several else -0.8)
    _label_difference(result, ax)


def _sorted_places(pair: xr.Dataset) -> NDArray[np.intp]:
    """Return the places of the tasks that a pair has, the largest difference first."""
    d = pair["task_difference"].to_numpy()
    return np.argsort(-d)[: np.count_nonzero(np.isfinite(d))]


def _one(result: xr.Dataset, name: str) -> str:
    values = set(result[name].to_numpy().tolist())
    return str(values.pop()) if len(values) == 1 else {"algorithm_a": "first", "algorithm_b": "second"}[name]


def _intervals(ax: Axes, own: xr.Dataset, y: Floats) -> list[IntervalGroup]:
    """Return the intervals of tasks; draw plus and minus a standard error where none has an end."""
    d, error = own["task_difference"].to_numpy(), own["task_stderr"].to_numpy()
    low, high = (own["task_difference_ci"].sel(ci_bound=bound).to_numpy() for bound in ("lower", "upper"))
    none = np.isnan(low) | (np.isinf(low) & np.isinf(high))
    shown = provenance.significant(own["task_pvalue_adjusted"].to_numpy(), provenance.alpha_of(own))
    rough = none & np.isfinite(error)
    if rough.any():
        ax.hlines(y[rough], (d - error)[rough], (d + error)[rough], color=_GREY, linewidth=2.2, gid="standard error")
    ax.plot(d[none], y[none], "o", color=_GREY, markersize=4)
    return [
        IntervalGroup(y[marked], d[marked], low[marked], high[marked], Style(color, "-", "o"), flag=flag)
        for marked, color, flag in ((shown & ~none, _BLACK, "shown"), (~shown & ~none, _GREY, None))
        if marked.any()
    ]


def draw_ranks(result: xr.Dataset, ax: Axes) -> None:
    """Draw mean ranks, the best on top, and bars beside that join algorithms of which no two are shown to differ."""
    order, stretches = _joined_ranks(result)
    for row, place in enumerate(order):
        style = style_in(result.isel(algorithm=place))
        ax.plot(result["rank_mean"][place], row, style.marker, color=style.color, markersize=6)
    for column, (start, stop) in enumerate(stretches):
        x = 1.03 + _BAR * column
        ax.plot([x, x], [start - 0.2, stop + 0.2], color=_BLACK, linewidth=4, solid_capstyle="butt", clip_on=False,
                transform=ax.get_yaxis_transform(), gid="joined")  # fmt: skip
    list_rows(ax, result["algorithm"].to_numpy()[order].astype(str).tolist())
    ax.set_xlabel("mean rank, 1 the best")
    ax.grid(axis="x", alpha=0.3)


def _joined_ranks(result: xr.Dataset) -> tuple[list[int], list[tuple[int, int]]]:
    """Return algorithms by rank, and the longest stretches of these of which no two are shown to differ."""
    ranks = result["rank_mean"].to_numpy()
    order = [place for place in np.argsort(ranks, kind="stable").tolist() if np.isfinite(ranks[place])]
    shown = provenance.significant(result["rank_pvalue_adjusted"].to_numpy(), provenance.alpha_of(result))
    names = result["algorithm"].to_numpy().tolist()
    sides = zip(*(result[side].to_numpy().tolist() for side in ("algorithm_a", "algorithm_b")), strict=True)
    alike = {frozenset(pair) for pair, differ in zip(sides, shown.tolist(), strict=True) if not differ}
    found: list[tuple[int, int]] = []
    for start in range(len(order)):
        stop = start
        while stop + 1 < len(order) and all(
            frozenset((names[order[stop + 1]], names[order[other]])) in alike for other in range(start, stop + 1)
        ):
            stop += 1
        if stop > start and not any(a <= start and stop <= b for a, b in found):
            found.append((start, stop))
    return order, found


def draw_improvement(result: xr.Dataset, ax: Axes) -> None:
    """Draw the matrix of probabilities that the algorithm of the row scores higher than that of the column."""
    p, shown = result["prob_greater"].to_numpy(), result["prob_greater_pvalue_adjusted"].sel(task_effect="random")
    marked = provenance.significant(shown.to_numpy(), provenance.alpha_of(result))
    draw_pairs(ax, result, p, 1 - p, marked, "probability that the first scores higher", **SHARES)
    ax.set_xlabel("than this")
    ax.set_ylabel("probability that\nthis scores higher")


def n_algorithms(result: xr.Dataset) -> float:
    """Return the number of algorithms, each a row and a column."""
    return result.sizes["algorithm"]


def several(result: xr.Dataset) -> bool:
    """Return whether there are more than two algorithms: of two the pair says all."""
    return result.sizes["algorithm"] > 2
