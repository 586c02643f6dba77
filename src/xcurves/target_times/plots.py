"""Pictures of times, speed-ups and performance profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.core.labels import REFERENCE_COLOR
from xcurves.multi_task.plots import TASK_PITCH, rows_of_tasks
from xcurves.pictures.curves import CurvesPicture, Line, Points, Rule, Scale, Span
from xcurves.pictures.rows import Mark, Row, RowsPicture, marks_of, plain_rows
from xcurves.pictures.styles import BLACK, Style, style_of, styled_parts
from xcurves.say.numbers import label_of, number
from xcurves.target_times.display import DISPLAYED, displayed, is_one_sided

_GREY = "#8C8C8C"
_TICKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.8, 1, 1.25, 1.5, 2, 4, 8, 16)
_NEAR = 1.05  # speed-ups that need fine ticks
_GAP = 0.6  # rows above the name of an algorithm
_FINE = (0.95, 0.96, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.04, 1.05)


def against(result: xr.Dataset) -> str:
    """Return what is compared, over the picture."""
    return f"against {result.attrs['reference']}"


def times(result: xr.Dataset) -> RowsPicture:
    """Return the time of each algorithm in its row."""
    rows = []
    for style, one, name in styled_parts(result):
        low, high = one["time_ci"].to_numpy().tolist()
        is_reached = bool(np.isfinite(one["time"]))
        value, end = one["time"].item(), high
        if not is_reached:  # the curve is known to stay below to there
            value = end = one["training_last"].item()
        mark = Mark(value, low if low > 0 else -np.inf, end, style, filled=is_reached)
        rows.append(Row(name, (mark,)))
    return RowsPicture(tuple(rows), label_of(result["time"]), reference=None)


def has_curves(result: xr.Dataset) -> bool:
    """Return whether the result has mean curves, which given times have not."""
    return "mean_curve" in result and bool(result["mean_curve"].notnull().any())


def levels(result: xr.Dataset) -> CurvesPicture:
    """Return mean curves, and when each reaches the level with its interval."""
    level, last = result["reference_level"].item(), float(result["curve_training"].max())
    along = result["curve_training"].to_numpy().astype(float)
    every = list(styled_parts(result))
    of_reference = _style_of_reference(result)
    name = f"{result.attrs['reference']} (reference)"
    curves = [(name, of_reference, result["reference_curve"])]
    curves += [(label, style, one["mean_curve"]) for style, one, label in every]
    lines = [Line(label, style, along, curve.to_numpy(), flag="mean") for label, style, curve in curves]
    reached = [_Reached(name, result, "reference_", of_reference, 9, 0.15, 1.5)]
    reached += [_Reached(label, one, "", style, 5, 0.35, 1.0) for style, one, label in every]

    spans, points = [], []
    for of, one, which, style, width, opacity, size in reached:
        low, high = one[f"{which}time_ci"].to_numpy().tolist()
        if np.isfinite(low):
            spans.append(Span(level, low, min(high, last), style.color, width, opacity, of))
        points += _mark(one[f"{which}time"], level, style, size=size, of=of)
    rules = [Rule("y", level, linestyle="--")]
    if _shows_rise(result):
        rise = result["rise_level"].item()
        rules.append(Rule("y", rise, linestyle=":", said="90 % of the rise"))
        for of, one, which, style, *_ in reached:
            points += _mark(one[f"rise_{which}time"], rise, style, filled=False, size=0.8, of=of)
    x = Scale(label_of(result["time"].assign_attrs(long_name="training")))
    y = Scale(label_of(result["mean_curve"]))
    return CurvesPicture(lines, x, y, spans=spans, points=points, rules=rules)


class _Reached(NamedTuple):
    """When one algorithm or the reference, `which`, reaches a level, and how that is drawn."""

    of: str
    result: xr.Dataset
    which: str
    style: Style
    width: float
    opacity: float
    size: float


def _mark(time: xr.DataArray, level: float, style: Style, **look: Any) -> list[Points]:
    """Return the mark of a time at a level, none where it is not reached."""
    at = time.item()
    if not np.isfinite(at):
        return []
    return [Points(np.array([at]), np.array([level]), style, **look)]


def _style_of_reference(result: xr.Dataset) -> Style:
    """Return the style that the reference has beside the others in every picture."""
    if REFERENCE_COLOR not in result.coords:
        return BLACK
    return style_of(int(result[REFERENCE_COLOR].item()))


def _shows_rise(result: xr.Dataset) -> bool:
    """Return whether the level is shown where the reference had 90 % of its rise: a speed-up to its last is open."""
    if "rise_level" not in result or not np.isfinite(result["rise_level"]):
        return False
    return any(is_one_sided(one[DISPLAYED]) for _, one, _ in styled_parts(displayed(result)))


def speedups(result: xr.Dataset) -> RowsPicture:
    """Return speed-ups in rows on a logarithmic axis; over tasks each task, and both claims as diamonds."""
    label = f"speed-up over {result.attrs['reference']}"
    rows: list[Row] = []
    every = list(styled_parts(displayed(result)))
    if "task_speedup" not in result:
        for style, one, name in every:
            rows += plain_rows([name], _logs(one["speedup"], one[DISPLAYED], style))
        return RowsPicture(tuple(rows), label, ticks=_ticks_of(rows))
    for style, one, name in every:
        rows.append(Row(name, ink=style.color, is_heading=True, gap=_GAP if rows else 0.0))
        rows += _tasks_of(one)
    return RowsPicture(tuple(rows), label, ticks=_ticks_of(rows), pitch=TASK_PITCH)


def _tasks_of(one: xr.Dataset) -> list[Row]:
    """Return the tasks of an algorithm, the largest speed-up first, and below them both claims."""
    task = str(one.attrs["task"])
    own = one if task in one["task_speedup"].dims else one.expand_dims(task)
    own = own.isel({task: np.argsort(-np.nan_to_num(own["task_speedup"].to_numpy(), nan=-1), kind="stable")})
    marks = _logs(own["task_speedup"], own["task_speedup_ci"], Style(_GREY, "-", "o"))
    means = {}
    for claim in one["task_effect"].to_numpy().tolist():
        chosen = one.sel(task_effect=claim)
        (mark,) = _logs(chosen["speedup"], chosen[DISPLAYED], BLACK._replace(marker="D"))
        means[claim] = mark._replace(filled=claim == "fixed", flag=f"{claim} mean")
    return rows_of_tasks(own[task].to_numpy().tolist(), marks, means, task)


def _logs(value: xr.DataArray, bounds: xr.DataArray, style: Style) -> list[Mark]:
    """Return marks of binary logarithms; one without an estimate hangs on the end that it has."""
    marks = []
    for mark in marks_of(value, bounds, style):
        with np.errstate(divide="ignore"):
            at, low, high = np.log2(mark[:3]).tolist()
        if np.isnan(at):
            at = next((end for end in (high, low) if np.isfinite(end)), np.nan)
            mark = mark._replace(style=style._replace(marker="|"))
        marks.append(mark._replace(value=at, low=low, high=high))
    return marks


def _ticks_of(rows: Sequence[Row]) -> tuple[tuple[float, str], ...]:
    """Return ticks of factors where their logarithms stand, fine ones where all are near 1."""
    drawn = np.array([mark[:3] for row in rows for mark in row.marks])
    is_fine = np.abs(drawn[np.isfinite(drawn)]).max(initial=0) < np.log2(_NEAR)
    factors = _FINE if is_fine else _TICKS
    return tuple((float(np.log2(factor)), number(factor)) for factor in factors)


def profiles(result: xr.Dataset) -> CurvesPicture:
    """Return the share of tasks within each factor of the best, a line for each algorithm."""
    lines = []
    in_order = sorted(styled_parts(result), key=lambda each: -each[1]["score"].item())
    for place, (style, one, name) in enumerate(in_order):
        score = f" ({number(one['score'].item(), 2)})"
        tau, share = (one[each].to_numpy() for each in ("tau", "share"))
        lines.append(Line(name, style, tau, share, steps="post", place=place, more=score))
    x = Scale("time as a multiple of the best", low=1, high=float(result["tau"].max()))
    return CurvesPicture(lines, x, Scale(f"share of {result.attrs['task']}s", low=0, high=1.02))
