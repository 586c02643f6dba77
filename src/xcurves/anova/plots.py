"""Pictures of the randomized ANOVA, of pairs and of contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import xarray as xr

from xcurves.anova.text import by_welch, claims, tests_that_speak
from xcurves.core import labels, provenance
from xcurves.pictures.cells import CellsPicture, by_task, sign_cells, task_labels
from xcurves.pictures.pair_rows import flags_of_scores, label_of_pairs, rows_of_pairs
from xcurves.pictures.rows import Column, Mark, Row, RowsPicture, marks_of
from xcurves.pictures.styles import Style
from xcurves.say.numbers import label_of, number, p_text
from xcurves.say.pairs import displayed_pairs

_NAMED = 5  # algorithms that a title names
_PITCH_OF_F = 1.4  # height of a row of F ratios, of the usual one
_TICKS = [factor * 10.0**power for power in range(-3, 5) for factor in (1, 2, 5)]
_LEAST_LOW, _LEAST_HIGH = (0.45, 2.2)  # ratios that an axis reaches at least
_AROUND = (0.85, 1.2)  # of the lowest and of the highest ratio
_STYLES = {term: Style(color, "-", "D") for term, color in
           {"split_plot": "black", "pooled": "black", "welch": "#8C8C8C"}.items()}  # fmt: skip
_ERROR_TERMS = ("split_plot", "pooled")
_OF_EFFECTS = {"algorithm": Style("black", "-", "D"), "interaction": Style("black", "-", "o")}
_MARKS = {"algorithm": "\N{BLACK DIAMOND}", "interaction": "\N{WHITE CIRCLE}"}
_CALLED = {"algorithm": "level", "interaction": "shape"}


def f_ratios(result: xr.Dataset) -> RowsPicture:
    """Return F ratios over their critical values, the split-plot error term filled, on the null distributions if kept.

    Welch's statistic is there where it is the test of level.
    """
    shown = list(product(claims(result), _ERROR_TERMS))
    if by_welch(result).item():
        shown.insert(0, ("algorithm", "welch"))
    rows = []
    for effect, term in shown:
        test = result.sel(effect=effect, error_term=term)
        f, critical = test["f"].item(), test["critical_value"].item()
        has_ratio = 0 < critical < np.inf
        marks: tuple[Mark, ...] = ()
        if has_ratio and f > 0:
            marks = (Mark(f / critical, style=_STYLES[term], filled=term != "pooled", flag=term),)
        null: tuple[float, ...] = ()
        if has_ratio and "null_distribution" in test:
            ratios = test["null_distribution"].to_numpy() / critical
            null = tuple(ratios[ratios > 0].tolist())  # without padding, which is NaN
        texts = (_or_none(f, number(f)), _or_none(test["pvalue"].item(), p_text(test["pvalue"].item())))
        rows.append(Row(f"{effect}, {term.replace('_', '-')}", marks, texts, distribution=null))
    columns = (Column("f", "F"), Column("p", "p"))
    return _on_ratios(result, rows, columns, pitch=_PITCH_OF_F)


def f_ratios_of_tasks(result: xr.Dataset) -> RowsPicture:
    """Return F ratios over their critical values by the tests that speak, a row for each task."""
    spoken = list(claims(result))
    test = tests_that_speak(result).sel(effect=spoken)
    ratios = by_task(test["f"] / test["critical_value"], "effect")
    rows = []
    for name, of_task, p in zip(
        task_labels(result["f"], ["effect", "error_term"]), ratios, by_task(test["pvalue"], "effect"), strict=True
    ):
        marks = [
            Mark(ratio, style=_OF_EFFECTS[effect], filled=effect == "algorithm")
            for effect, ratio in zip(spoken, of_task.tolist(), strict=True)
            if np.isfinite(ratio) and ratio > 0
        ]
        rows.append(Row(name, tuple(marks), tuple(_or_none(each, p_text(each)) for each in p.tolist())))
    columns = tuple(Column(effect, f"{_MARKS[effect]} p") for effect in spoken)
    key = ", ".join(f"{_MARKS[effect]} {_CALLED[effect]}" for effect in spoken)
    return _on_ratios(result, rows, columns, key=key)


def _on_ratios(
    result: xr.Dataset, rows: Sequence[Row], columns: tuple[Column, ...], key: str = "", **look: Any
) -> RowsPicture:
    """Return rows on a log axis of ratios, which has plain numbers if these are not too far apart."""
    known = [mark.value for row in rows for mark in row.marks]
    known += [end for row in rows if row.distribution for end in row.binned()[0][[0, -1]].tolist()]
    low = min([_LEAST_LOW, *(_AROUND[0] * each for each in known)])
    high = max([_LEAST_HIGH, *(_AROUND[1] * each for each in known)])
    ticks: tuple[tuple[float, str], ...] = ()
    if high < 100 * low:
        ticks = tuple((tick, number(tick)) for tick in _TICKS if low <= tick <= high)
    label = f"F / critical value at the {number(provenance.alpha_of(result))} level"
    if key:
        label += f"\n{key}"
    return RowsPicture(tuple(rows), label, columns, reference=1.0, limits=(low, high), scale="log", ticks=ticks, **look)


def _or_none(value: float, text: str) -> str:
    return "none" if np.isnan(value) else text


def differences(result: xr.Dataset) -> RowsPicture:
    """Return the difference of every pair with its interval and p, grouped by the better algorithm."""
    return rows_of_pairs(result, displayed_of(result), label_of_pairs(result), flags_of_scores(result))


def displayed_of(result: xr.Dataset) -> xr.Dataset:
    """Return the pairs of a result as they are displayed, by their mean scores over training."""
    p = result["pvalue_adjusted"].sel(effect="algorithm")
    return displayed_pairs(result, "difference", "difference_ci_simultaneous", p)


def differences_of_tasks(result: xr.Dataset) -> CellsPicture:
    """Return a cell for each task and pair: which one scores higher, and whether it is shown."""
    p = result["pvalue_adjusted"].sel(effect="algorithm")
    shown = provenance.significant(by_task(p, "pair"), provenance.alpha_of(result))
    return sign_cells(result["difference"], shown)


def compared(result: xr.Dataset) -> str:
    """Return which algorithms a result compares, as a title."""
    names = result["algorithm"].to_numpy().astype(str).tolist() if "algorithm" in result.coords else []
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} algorithms"


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
