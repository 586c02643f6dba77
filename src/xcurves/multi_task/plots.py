"""Pictures of `across_tasks`: a forest of tasks, mean ranks, probabilities of pairs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.axes import IntervalGroup, Style, draw_intervals, label_of, list_rows, style_in
from xcurves.core.matrices import MOST_ROWS, SHARES, draw_pairs, n_pair_rows
from xcurves.core.packing import Floats
from xcurves.core.sentences import joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLACK = "black"
_GREY = "0.55"
_GAP = 1.6  # rows between two pairs
_HIGH = 0.32  # of a diamond, in rows
_LINE_ROW, _NAME_ROW = 0.42, 0.6  # heights of a line that joins algorithms, and of a name
_MOST = 75  # rows of tasks of several pairs
_SMALL = 24  # rows beyond which labels are small
_LETTER, _MOST_BESIDE = 0.5, 0.36  # width of a letter of a name, of the height of a label; largest share of a side


def joined_dims(result: xr.Dataset) -> tuple[Hashable, ...]:
    """Return the dim whose tasks are joined: they share a panel."""
    return (result.attrs["task"],)


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
        _draw_matrix(result, ax)
    elif _shows_tasks(result):
        _draw_tasks(result, ax)
    else:
        _draw_claims(result, ax)


def _draw_matrix(result: xr.Dataset, ax: Axes) -> None:
    p = result["pvalue_adjusted"].sel(task_effect="random").to_numpy()
    shown, difference = provenance.significant(p, provenance.alpha_of(result)), result["difference"].to_numpy()
    draw_pairs(ax, result, difference, -difference, shown, label_of(result["difference"]))
    ax.set_ylabel("difference of mean scores: this one")
    ax.set_xlabel("less this one")


def _draw_claims(result: xr.Dataset, ax: Axes) -> None:
    """Draw both claims of every pair in its row."""
    ax.axvline(0, color="0.6", linewidth=1)
    ends = result["difference_ci"].to_numpy().ravel()
    ax.plot(ends, np.zeros(len(ends)), alpha=0)  # so that the axis reaches so far
    limits = ax.get_xlim()
    for place in range(result.sizes["pair"]):
        for claim, shift in (("fixed", -0.23), ("random", 0.23)):
            _draw_diamond(ax, result.isel(pair=place), claim, place + shift, limits, 0.6 * _HIGH, 0.7)
    ax.set_xlim(limits)
    list_rows(ax, result["pair"].to_numpy().tolist())
    _label_difference(result, ax)


def _label_difference(result: xr.Dataset, ax: Axes) -> None:
    a, b = (_one(result, name) for name in ("algorithm_a", "algorithm_b"))
    ax.set_xlabel(f"difference of mean scores{_units(result['difference'])}\n{a} − {b}")
    ax.grid(axis="x", alpha=0.3)


def _draw_tasks(result: xr.Dataset, ax: Axes) -> None:
    """Draw every task of every pair in a row, and both claims below."""
    if result.attrs["task"] not in result.dims:
        result = result.expand_dims(result.attrs["task"])
    ax.axvline(0, color="0.6", linewidth=1)
    several = result.sizes["pair"] > 1
    rows: list[tuple[float, str]] = []
    diamonds: list[tuple[xr.Dataset, str, float]] = []
    groups: list[IntervalGroup] = []
    top = 0.0
    for place in range(result.sizes["pair"]):
        pair = result.isel(pair=place)
        own = pair.isel({pair.attrs["task"]: _sorted_places(pair)})
        y = top + np.arange(float(own["task_difference"].size))
        groups += _intervals(ax, own, y)
        rows += zip(y, map(str, own[pair.attrs["task"]].to_numpy().tolist()), strict=True)
        if several:
            ax.text(0.01, top - 0.75, str(pair["pair"].item()), transform=ax.get_yaxis_transform(), fontsize="small",
                    fontweight="bold", va="center")  # fmt: skip
        for claim, which in (("fixed", "these {}s"), ("random", "{}s like these")):
            at = top + len(y) + (0.3 if claim == "fixed" else 1.3)
            rows.append((at, "mean, " + which.format(pair.attrs["task"])))
            diamonds.append((pair, claim, at))
        top += len(y) + 1.3 + _GAP
    draw_intervals(ax, groups)
    centres = [pair["difference"].item() for pair, _, _ in diamonds]
    ax.plot(centres, [at for _, _, at in diamonds], alpha=0)  # so that the axis reaches so far
    limits = ax.get_xlim()
    for pair, claim, at in diamonds:
        _draw_diamond(ax, pair, claim, at, limits)
    ax.set_xlim(limits)
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


def _units(variable: xr.DataArray) -> str:
    units = str(variable.attrs.get("units", "1"))
    return "" if units in ("", "1") else f" ({units})"


def _intervals(ax: Axes, own: xr.Dataset, y: Floats) -> list[IntervalGroup]:
    """Return the intervals of tasks; draw plus and minus a standard error where none has an end."""
    d, error = own["task_difference"].to_numpy(), own["task_stderr"].to_numpy()
    low, high = (own["task_difference_ci"].sel(ci_bound=bound).to_numpy() for bound in ("lower", "upper"))
    none = np.isnan(low) | (np.isinf(low) & np.isinf(high))
    shown = provenance.significant(own["task_pvalue_adjusted"].to_numpy(), provenance.alpha_of(own))
    rough = none & np.isfinite(error)
    ax.hlines(y[rough], (d - error)[rough], (d + error)[rough], color=_GREY, linewidth=2.2)
    ax.plot(d[none], y[none], "o", color=_GREY, markersize=4)
    return [
        IntervalGroup(y[marked], d[marked], low[marked], high[marked], Style(color, "-", "o"))
        for marked, color in ((shown & ~none, _BLACK), (~shown & ~none, _GREY))
    ]


def _draw_diamond(
    ax: Axes,
    pair: xr.Dataset,
    claim: str,
    at: float,
    limits: tuple[float, float],
    half: float = _HIGH,
    linewidth: float = 1.2,
) -> None:
    value = pair["difference"].item()
    low, high = pair["difference_ci"].sel(task_effect=claim).to_numpy()
    if not np.isfinite(value) or np.isnan(low):
        return
    low, high = max(low, limits[0]), min(high, limits[1])
    filled = claim == "fixed"
    ax.fill([low, value, high, value], [at, at - half, at, at + half], facecolor=_BLACK if filled else "white",
            edgecolor=_BLACK, linewidth=linewidth, zorder=3)  # fmt: skip


def say_forest(result: xr.Dataset) -> str:
    """Return what the forest shows."""
    said = []
    for place in range(result.sizes["pair"]):
        pair = result.isel(pair=place)
        d = pair["task_difference"].to_numpy()
        known = d[np.isfinite(d)]
        if known.size:
            said.append(
                f"{pair['pair'].item()}: differences from {known.min():.3g} to {known.max():.3g} in {known.size} "
                f"{pair.attrs['task']}s, mean {pair['difference'].item():.3g}"
            )
    return f"Forest plot. {joined(said, '; ') or 'Nothing can be compared'}."


def draw_ranks(result: xr.Dataset, ax: Axes) -> None:
    """Draw mean ranks on one axis, and lines that join algorithms of which no two are shown to differ."""
    ranks = result["rank_mean"].to_numpy()
    names, order = result["algorithm"].to_numpy().astype(str), np.argsort(ranks)[: np.count_nonzero(np.isfinite(ranks))]
    lines = _joined_ranks(result)
    left, n = (len(order) + 1) // 2, len(ranks)
    beside = _beside_ranks(ax, [f"{name} {rank:.2f}" for name, rank in zip(names, ranks, strict=True)]) * (n - 1)
    sides = 1 - beside, n + beside
    first = 0.9 + _LINE_ROW * len(lines)
    for position, place in enumerate(order.tolist()):
        better = position < left
        row = first + _NAME_ROW * (position if better else len(order) - 1 - position)
        edge = sides[0] if better else sides[1]
        color = style_in(result.isel(algorithm=place)).color
        ax.plot([ranks[place], ranks[place], edge], [0, row, row], color=color, linewidth=1.2)
        ax.annotate(f"{names[place]} {ranks[place]:.2f}", (edge, row), (0, 1.5), fontsize="small",
                    textcoords="offset points", color=color, va="bottom",
                    ha="left" if better else "right")  # fmt: skip
    for row, (low, high) in enumerate(lines):
        ends = [low - 0.01 * n, high + 0.01 * n]
        ax.plot(ends, [0.45 + _LINE_ROW * row] * 2, color=_BLACK, linewidth=4, solid_capstyle="butt")
    ax.set_xlim(sides)
    ax.set_ylim(first + _NAME_ROW * (left - 0.5), 0)
    ax.xaxis.set_ticks_position("top")
    ax.xaxis.set_label_position("top")
    ax.set_xticks(range(1, n + 1) if n <= _SMALL // 2 else np.linspace(1, n, 5).round())
    ax.set_yticks([])
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set_bounds(1, n)
    ax.set_xlabel("mean rank, 1 the best")


def _beside_ranks(ax: Axes, names: list[str]) -> float:
    """Return the room for the longest name on each side of the axis of ranks, as a multiple of its length."""
    inches = float(ax.get_window_extent().width / ax.figure.dpi)
    letters = _LETTER * float(ax.xaxis.label.get_fontsize()) / 72 * max(map(len, names))
    share = min(letters / inches, _MOST_BESIDE)
    return max(0.5, share / (1 - 2 * share))


def _joined_ranks(result: xr.Dataset) -> list[tuple[float, float]]:
    """Return ends of the longest stretches of neighbours in rank of which no two are shown to differ."""
    ranks = result["rank_mean"].to_numpy()
    order = [place for place in np.argsort(ranks).tolist() if np.isfinite(ranks[place])]
    alpha = provenance.alpha_of(result)
    p = result["pvalue_adjusted"].sel(task_effect="random").to_numpy()
    names = result["algorithm"].to_numpy().tolist()
    pairs = zip(result["algorithm_a"].to_numpy().tolist(), result["algorithm_b"].to_numpy().tolist(), p, strict=True)
    alike = {frozenset((a, b)): not provenance.significant(each, alpha) for a, b, each in pairs}
    found: list[tuple[int, int]] = []
    for start in range(len(order)):
        stop = start
        while stop + 1 < len(order) and all(
            alike.get(frozenset((names[order[stop + 1]], names[order[other]])), False)
            for other in range(start, stop + 1)
        ):
            stop += 1
        if stop > start and not any(a <= start and stop <= b for a, b in found):
            found.append((start, stop))
    return [(float(ranks[order[a]]), float(ranks[order[b]])) for a, b in found]


def say_ranks(result: xr.Dataset) -> str:
    """Return what the picture of mean ranks shows."""
    ranks = result["rank_mean"].sortby(result["rank_mean"])
    said = [f"{each['algorithm'].item()} {each.item():.2f}" for each in ranks]
    return (
        f"Mean ranks, 1 the best: {joined(said)}. Lines join {len(_joined_ranks(result))} groups not shown to differ."
    )


def draw_improvement(result: xr.Dataset, ax: Axes) -> None:
    """Draw the matrix of probabilities that the algorithm of the row scores higher than that of the column."""
    p, shown = result["prob_greater"].to_numpy(), result["prob_greater_pvalue"].sel(task_effect="fixed").to_numpy()
    marked = provenance.significant(shown, provenance.alpha_of(result))
    draw_pairs(ax, result, p, 1 - p, marked, "probability that the first scores higher", **SHARES)
    ax.set_xlabel("than this")
    ax.set_ylabel("probability that\nthis scores higher")


def n_algorithms(result: xr.Dataset) -> float:
    """Return the number of algorithms, each a row and a column."""
    return result.sizes["algorithm"]


def rank_rows(result: xr.Dataset) -> float:
    """Return how many rows the picture of mean ranks has."""
    return _NAME_ROW * 2 * (result.sizes["algorithm"] / 2 + 1) + _LINE_ROW * 2 * len(_joined_ranks(result))


def say_improvement(result: xr.Dataset) -> str:
    """Return what the matrix shows."""
    pairs = zip(result["pair"].to_numpy().tolist(), result["prob_greater"].to_numpy().tolist(), strict=True)
    said = joined([f"{pair}: {p:.2f}" for pair, p in pairs], "; ")
    return f"Matrix of probabilities that the first scores higher. {said}."
