"""Pictures of the randomized ANOVA, of pairs and of contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.anova.text import by_welch, claims, tests_that_speak
from xcurves.array_types import Floats
from xcurves.core import labels, provenance
from xcurves.core.validation import is_without_training
from xcurves.draw.drawn_names import list_rows
from xcurves.pictures.cells import CellsPicture, by_task, sign_cells, task_labels
from xcurves.pictures.pair_rows import rows_of_pairs
from xcurves.pictures.rows import Column, Row, RowsPicture, marks_of
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import label_of, p_text, with_units
from xcurves.say.pairs import displayed_pairs, keeps_direction, lower_is_better

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY = "#BBBBBB"
_FEW_ROWS = 24  # whose letters have the usual size
_NAMED = 5  # algorithms that a title names
_HIGH = 0.75  # of a null distribution, in rows
_BINS = 80
_TICKS = [factor * 10.0**power for power in range(-3, 5) for factor in (1, 2, 5)]
_FILLS = {"split_plot": "black", "pooled": "white", "welch": _GREY}
_ERROR_TERMS = ("split_plot", "pooled")
_MARKERS = {"algorithm": ("D", "black"), "interaction": ("o", "white")}
_CALLED = {"algorithm": "level", "interaction": "shape"}


def draw_f(result: xr.Dataset, ax: Axes) -> None:
    """Draw F ratios over their critical values, the split-plot error term filled, on the null distributions if kept.

    Welch's statistic is drawn where it is the test of level.
    """
    ax.set_xscale("log")
    ax.axvline(1, color="black", linewidth=1, linestyle="--")
    shown = list(product(claims(result), _ERROR_TERMS))
    if by_welch(result).item():
        shown.insert(0, ("algorithm", "welch"))
    values = []
    for row, (effect, term) in enumerate(shown):
        test = result.sel(effect=effect, error_term=term)
        values.append(f"{_say_symbol('F', test['f'])}, {_say_symbol('p', test['pvalue'])}")
        f, critical = test["f"].item(), test["critical_value"].item()
        if not 0 < critical < np.inf:
            continue
        if "null_distribution" in test:
            _draw_null(test["null_distribution"].to_numpy() / critical, row, ax)
        fill = _FILLS[term]
        if f > 0:
            ax.plot(f / critical, row, "D", markersize=7, markerfacecolor=fill, markeredgecolor="black", zorder=3,
                    gid=term)  # fmt: skip
    _mark_ratios(ax, result)
    list_rows(ax, [f"{effect}, {term.replace('_', '-')}" for effect, term in shown])
    ax.set_ylim(len(shown) - 0.5, -0.9)
    _write_beside(ax, values)


def _mark_ratios(ax: Axes, result: xr.Dataset) -> None:
    """Label the axis of ratios, in plain numbers if they are not too far apart."""
    ax.set_xlabel(f"F ratio / critical value at the {provenance.alpha_of(result):g} level")
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 0.45), max(high, 2.2))
    if max(high, 2.2) < 100 * min(low, 0.45):
        ax.set_xticks([tick for tick in _TICKS if min(low, 0.45) <= tick <= max(high, 2.2)])
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()


def _draw_null(ratios: Floats, row: int, ax: Axes) -> None:
    """Draw a histogram of ratios on a row, without the smallest 0.5 %."""
    ratios = ratios[ratios > 0]  # without padding, which is NaN
    if not ratios.size:
        return
    edges = np.geomspace(np.quantile(ratios, 0.005), ratios.max() * 1.0001, _BINS)
    counts, _ = np.histogram(ratios, edges)
    heights = row - _HIGH * counts / max(counts.max(), 1)
    ax.stairs(heights, edges, baseline=row, fill=True, color=_GREY, zorder=1, gid="null")


def differences(result: xr.Dataset) -> RowsPicture:
    """Return the difference of every pair with its interval and p, grouped by the better algorithm."""
    more = "lower" if lower_is_better(result) else "higher"
    label = f"how much {more} in mean {score_name(result)}"
    if keeps_direction(result):
        label = f"difference of mean {score_name(result)}"
    flags = frozenset() if is_without_training(result) else frozenset({"over training"})
    return rows_of_pairs(result, displayed_of(result), with_units(label, result["difference"]), flags)


def displayed_of(result: xr.Dataset) -> xr.Dataset:
    """Return the pairs of a result as they are displayed, by their mean scores over training."""
    p = result["pvalue_adjusted"].sel(effect="algorithm")
    return displayed_pairs(result, "difference", "difference_ci_simultaneous", p)


def differences_of_tasks(result: xr.Dataset) -> CellsPicture:
    """Return a cell for each task and pair: which one scores higher, and whether it is shown."""
    p = result["pvalue_adjusted"].sel(effect="algorithm")
    shown = provenance.significant(by_task(p, "pair"), provenance.alpha_of(result))
    return sign_cells(result["difference"], shown)


def draw_f_of_tasks(result: xr.Dataset, ax: Axes) -> None:
    """Draw F ratios over their critical values by the tests that speak, a row for each task."""
    names = task_labels(result["f"], ["effect", "error_term"])
    spoken = list(claims(result))
    test = tests_that_speak(result).sel(effect=spoken)
    ratios = by_task(test["f"] / test["critical_value"], "effect")
    p = by_task(test["pvalue"], "effect")
    ax.set_xscale("log")
    ax.axvline(1, color="black", linewidth=1, linestyle="--")
    for place, effect in enumerate(spoken):
        marker, fill = _MARKERS[effect]
        drawn = np.isfinite(ratios[:, place]) & (ratios[:, place] > 0)
        rows = np.flatnonzero(drawn)
        ax.plot(ratios[drawn, place], rows, marker, label=effect, markersize=5, linestyle="none",
                markerfacecolor=fill, markeredgecolor="black")  # fmt: skip
    _mark_ratios(ax, result)
    list_rows(ax, names)
    ax.grid(axis="y", alpha=0.3)
    of = ", ".join(_CALLED[effect] for effect in spoken)
    _write_beside(ax, [_say_pvalues(row, "2g") for row in p], f"p of {of}")


def compared(result: xr.Dataset) -> str:
    """Return which algorithms a result compares, as a title."""
    names = result["algorithm"].to_numpy().astype(str).tolist() if "algorithm" in result.coords else []
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} algorithms"


def task_rows(result: xr.Dataset) -> float:
    """Return the number of tasks, each a row."""
    return result["n_resamples"].isel({dim: 0 for dim in ("pair",) if dim in result["n_resamples"].dims}).size


def contrasts(result: xr.Dataset) -> RowsPicture:
    """Return the contrast of every task with its interval and p."""
    dims = labels.task_dims(result["estimate"])
    names = task_labels(result["estimate"], []) if dims else ["contrast"]
    marks = marks_of(result["estimate"], result["estimate_ci"])
    rows = [
        Row(name, (mark,), (p_text(p),))
        for name, mark, p in zip(names, marks, np.ravel(result["pvalue"]).tolist(), strict=True)
    ]
    return RowsPicture(tuple(rows), label_of(result["estimate"]), (Column("p", "p"),))


def _write_beside(ax: Axes, said: Sequence[str], what: str = "") -> None:
    """Write a line beside each row, and below what it is."""
    size = "small" if len(said) <= _FEW_ROWS else "x-small"
    for row, line in enumerate(said):
        ax.text(
            1.04,
            row,
            line,
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=size,
        )
    if what:
        ax.set_xlabel(f"{ax.get_xlabel()}\nbeside: {what}")


def _say_symbol(name: str, value: xr.DataArray) -> str:
    return f"{name} = {value.item():.3g}" if value == value else f"no {name}"


def _say_pvalues(values: Floats, digits: str) -> str:
    said = [f"{p:.{digits}}" if p == p else "no p" for p in values]
    return ", ".join(said) if set(said) != {"no p"} else "no p"
