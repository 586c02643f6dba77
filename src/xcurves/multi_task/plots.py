"""Pictures of `across_tasks`: a forest of tasks, mean ranks, probabilities of pairs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.axes import Intervals, Style, draw_intervals, label_of, style_of
from xcurves.core.packing import Floats
from xcurves.core.sentences import joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLACK = "black"
_GREY = "0.55"
_GAP = 1.6  # rows between two pairs
_HIGH = 0.32  # of a diamond, in rows
_SMALL = 24  # rows beyond which labels are small


def joined_dims(result: xr.Dataset) -> tuple[Hashable, ...]:
    """Return the dim whose tasks are joined: they share a panel."""
    return (result.attrs["task"],)


def forest_rows(result: xr.Dataset) -> float:
    """Return how many rows the forest has."""
    return float(result.sizes["pair"] * (result.sizes[result.attrs["task"]] + 2 + _GAP) * 0.75)


def draw_forest(result: xr.Dataset, ax: Axes) -> None:
    """Draw the difference in every task, sorted, and both claims, for each pair below each other."""
    ax.axvline(0, color="0.6", linewidth=1)
    rows: list[tuple[float, str]] = []
    start = 0.0
    diamonds = []
    for place in range(result.sizes["pair"]):
        pair = result.isel(pair=place)
        own = pair.sortby("task_difference", ascending=False) if "task_difference" in pair else pair
        d = own["task_difference"].to_numpy()
        own = own.isel({result.attrs["task"]: np.isfinite(d)})
        y = start + np.arange(own["task_difference"].size)
        _draw_tasks(ax, own, y)
        rows += list(zip(y, map(str, own[result.attrs["task"]].to_numpy().tolist()), strict=True))
        last = start + len(y)
        diamonds += [(pair, "fixed", last + 0.3), (pair, "random", last + 1.3)]
        rows += [(last + 0.3, _mean_label(pair, "these")), (last + 1.3, _mean_label(pair, "like these"))]
        start = last + 1.3 + _GAP
        if result.sizes["pair"] > 1:
            ax.text(0.01, y[0] - 0.75 if len(y) else last, str(pair["pair"].item()), transform=ax.get_yaxis_transform(),
                    fontsize="small", fontweight="bold", va="center")  # fmt: skip
    limits = ax.get_xlim()
    for pair, claim, at in diamonds:
        _draw_diamond(ax, pair, claim, at, limits)
    ax.set_xlim(limits)
    size = "small" if len(rows) <= _SMALL else "x-small"
    ax.set_yticks([at for at, _ in rows], [name for _, name in rows], fontsize=size)
    ax.set_ylim(start - _GAP + 0.7, -1.2 if result.sizes["pair"] > 1 else -0.8)
    a, b = (_one(result, name) for name in ("algorithm_a", "algorithm_b"))
    ax.set_xlabel(f"difference of mean scores, {a} − {b}{_units(result['difference'])}")
    ax.grid(axis="x", alpha=0.3)


def _one(result: xr.Dataset, name: str) -> str:
    values = set(result[name].to_numpy().tolist())
    return str(values.pop()) if len(values) == 1 else {"algorithm_a": "first", "algorithm_b": "second"}[name]


def _units(variable: xr.DataArray) -> str:
    units = str(variable.attrs.get("units", "1"))
    return "" if units in ("", "1") else f" ({units})"


def _mean_label(pair: xr.Dataset, which: str) -> str:
    return f"mean, {pair.attrs['task']}s {which}" if which == "like these" else f"mean, {which} {pair.attrs['task']}s"


def _draw_tasks(ax: Axes, own: xr.Dataset, y: Floats) -> None:
    """Draw tasks with their intervals, or plus and minus a standard error where no interval has an end."""
    d, error = own["task_difference"].to_numpy(), own["task_stderr"].to_numpy()
    low, high = (own["task_difference_ci"].sel(ci_bound=bound).to_numpy() for bound in ("lower", "upper"))
    none = np.isnan(low) | (np.isinf(low) & np.isinf(high))
    shown = provenance.significant(own["task_pvalue_adjusted"].to_numpy(), provenance.alpha_of(own))
    rough = none & np.isfinite(error)
    ax.hlines(y[rough], (d - error)[rough], (d + error)[rough], color=_GREY, linewidth=2.2)
    for marked, style in ((shown & ~none, Style(_BLACK, "-", "o")), (~shown & ~none, Style(_GREY, "-", "o"))):
        draw_intervals(ax, [Intervals(y[marked], d[marked], low[marked], high[marked], style)])
    ax.plot(d[none], y[none], "o", color=_GREY, markersize=4)


def _draw_diamond(ax: Axes, pair: xr.Dataset, claim: str, at: float, limits: tuple[float, float]) -> None:
    value = pair["difference"].item()
    low, high = pair["difference_ci"].sel(task_effect=claim).to_numpy()
    if not np.isfinite(value) or np.isnan(low):
        return
    low, high = max(low, limits[0]), min(high, limits[1])
    filled = claim == "fixed"
    ax.fill([low, value, high, value], [at, at - _HIGH, at, at + _HIGH], facecolor=_BLACK if filled else "white",
            edgecolor=_BLACK, linewidth=1.2, zorder=3)  # fmt: skip


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
    order = np.argsort(ranks)
    names = result["algorithm"].to_numpy().astype(str)
    n = np.count_nonzero(np.isfinite(ranks))
    half = (n + 1) // 2
    for position, place in enumerate(order[:n]):
        side = -1 if position < half else 1
        row = 1.0 + 0.55 * (position if position < half else n - 1 - position) + 0.42 * len(_joined_ranks(result))
        edge = 0.6 if side < 0 else len(ranks) + 0.4
        color = style_of(int(place)).color
        ax.plot([ranks[place], ranks[place], edge], [0, row, row], color=color, linewidth=1.2)
        ax.text(edge + 0.05 * side, row, f"{names[place]} {ranks[place]:.2f}", color=color, va="center",
                ha="right" if side < 0 else "left", fontsize="small")  # fmt: skip
    for row, (low, high) in enumerate(_joined_ranks(result)):
        ax.plot([low - 0.04, high + 0.04], [0.45 + 0.42 * row] * 2, color=_BLACK, linewidth=4, solid_capstyle="butt")
    ax.set_xlim(1, len(ranks))
    ax.set_ylim(1.6 + 0.55 * half + 0.42 * len(_joined_ranks(result)), 0)
    ax.xaxis.set_ticks_position("top")
    ax.xaxis.set_label_position("top")
    ax.set_xticks(range(1, len(ranks) + 1))
    ax.set_yticks([])
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.set_xlabel("mean rank, 1 the best")


def _joined_ranks(result: xr.Dataset) -> list[tuple[float, float]]:
    """Return ends of the longest stretches of neighbours in rank of which no two are shown to differ."""
    ranks = result["rank_mean"].to_numpy()
    order = [place for place in np.argsort(ranks).tolist() if np.isfinite(ranks[place])]
    alpha = provenance.alpha_of(result)
    p = result["pvalue_adjusted"].sel(task_effect="random").to_numpy()
    names = result["algorithm"].to_numpy().tolist()
    pairs = zip(result["algorithm_a"].to_numpy().tolist(), result["algorithm_b"].to_numpy().tolist(), p, strict=True)
    differ = {frozenset((a, b)) for a, b, each in pairs if provenance.significant(each, alpha)}
    compared = {frozenset(pair) for pair in zip(result["algorithm_a"].to_numpy().tolist(), result["algorithm_b"].to_numpy().tolist(), strict=True)}
    found: list[tuple[int, int]] = []
    for start in range(len(order)):
        stop = start
        while stop + 1 < len(order) and all(
            frozenset((names[order[stop + 1]], names[order[other]])) in compared - differ for other in range(start, stop + 1)
        ):
            stop += 1
        if stop > start and not any(a <= start and stop <= b for a, b in found):
            found.append((start, stop))
    return [(float(ranks[order[a]]), float(ranks[order[b]])) for a, b in found]


def say_ranks(result: xr.Dataset) -> str:
    """Return what the picture of mean ranks shows."""
    ranks = result["rank_mean"].sortby(result["rank_mean"])
    said = [f"{each['algorithm'].item()} {each.item():.2f}" for each in ranks]
    return f"Mean ranks, 1 the best: {joined(said)}. Lines join {len(_joined_ranks(result))} groups not shown to differ."


def draw_prob_greater(result: xr.Dataset, ax: Axes) -> None:
    """Draw the matrix of probabilities that the algorithm of the row scores higher than that of the column."""
    names = result["algorithm"].to_numpy().tolist()
    values, shown = np.full((len(names), len(names)), np.nan), np.zeros((len(names), len(names)), bool)
    alpha = provenance.alpha_of(result)
    for place in range(result.sizes["pair"]):
        pair = result.isel(pair=place)
        a, b = (names.index(pair[name].item()) for name in ("algorithm_a", "algorithm_b"))
        values[a, b], values[b, a] = pair["prob_greater"].item(), 1 - pair["prob_greater"].item()
        p = pair["prob_greater_pvalue"].sel(task_effect="fixed").item()
        shown[a, b] = shown[b, a] = provenance.significant(p, alpha)
    image = ax.imshow(values, cmap="RdBu_r", vmin=0, vmax=1)
    size = "medium" if len(names) <= 6 else "small" if len(names) <= 10 else 4
    for row, column in np.argwhere(np.isfinite(values)):
        ax.text(column, row, f"{values[row, column]:.2f}", ha="center", va="center", fontsize=size,
                fontweight="bold" if shown[row, column] else "normal",
                color="white" if abs(values[row, column] - 0.5) > 0.33 else "black")  # fmt: skip
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize="small")
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.set_xlabel(f"scores lower ({label_of(result['prob_greater']).split(' over')[0]} over {result.attrs['task']}s)")
    ax.set_xlabel("than this")
    ax.set_ylabel("probability that this scores higher")
    ax.figure.colorbar(image, ax=ax, shrink=0.8)


def say_prob_greater(result: xr.Dataset) -> str:
    """Return what the matrix shows."""
    pairs = zip(result["pair"].to_numpy().tolist(), result["prob_greater"].to_numpy().tolist(), strict=True)
    return f"Matrix of probabilities that the first scores higher. {joined([f'{pair}: {p:.2f}' for pair, p in pairs], '; ')}."
