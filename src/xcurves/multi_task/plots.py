"""Pictures of `across_tasks`: a forest of tasks, probabilities of pairs, curves over tasks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, provenance
from xcurves.core.labels import each_of
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.multi_task.claims import claims_of, of_claim, shown_of_claim
from xcurves.multi_task.too_few import noun_of
from xcurves.pictures.cells import CellsPicture, probability_cells
from xcurves.pictures.curves import CurvesPicture, Line, PairBars, Scale
from xcurves.pictures.pair_curves import pair_curves
from xcurves.pictures.pair_rows import flags_of_scores, label_of_pairs, rows_of_pairs
from xcurves.pictures.rows import Mark, Row, RowsPicture, marks_of
from xcurves.pictures.styles import BLACK, Style, bounds_of, styled_parts
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import with_units
from xcurves.say.pairs import (
    MOST_LISTED,
    SWAPPED,
    TURNED,
    PairRow,
    better_first,
    between,
    is_shown,
    keeps_direction,
    lower_is_better,
    most_ahead,
    pairs_by_size,
    say_open_ends,
    shown_interval,
)

_GREY = "#8C8C8C"
_MOST_PAIRS = 300  # that a forest lists
_GAP = 0.3  # rows above the means over tasks
TASK_PITCH = 0.8  # height of the row of a task, of that of a pair
_BOX_PITCH, _ONLY_BOX = (1.3, 1.8)  # heights of rows with a box, and of a single one
_MOST = 105  # tasks that have a row each
_MOST_SHOWN = 12  # pairs that have bars
_MOST_BANDS = 4  # pairs whose bands are drawn over each other
_BUDGET = Scale("share of the budget (%)")


def joined_dims(result: xr.Dataset) -> tuple[Hashable, ...]:
    """Return the dim whose tasks are joined, if they are: they share a panel."""
    return (result.attrs["task"],) if "task" in result.attrs else ()


def _is_of_pairs(result: xr.Dataset) -> bool:
    """Return whether the forest has rows of pairs: of one pair it has tasks, unless these are very many."""
    n_tasks = result.sizes.get(str(result.attrs["task"]), 1)
    return result.sizes["pair"] > 1 or n_tasks > _MOST or "task_difference" not in result


def are_pairs_readable(result: xr.Dataset) -> bool:
    """Return whether pairs are few enough for a forest; of more algorithms the places are drawn."""
    return bool(result.sizes["pair"] <= _MOST_PAIRS)


def _displayed(result: xr.Dataset) -> xr.Dataset:
    """Return the pairs by the claim that the picture is of: tasks like these, or if it says nothing these tasks."""
    claims = claims_of(result)
    random = shown_of_claim(result, claims[-1])
    if len(claims) > 1 and random["p"].isnull().all():
        return shown_of_claim(result, claims[0]).assign_attrs(claim=claims[0])
    return random.assign_attrs(claim=claims[-1])


def forest(result: xr.Dataset) -> RowsPicture:
    """Return the pairs of several algorithms by one claim; of two the difference in every task, and both claims."""
    if not _is_of_pairs(result):
        return _forest_of_tasks(result)
    displayed = _displayed(result)
    claim = displayed.attrs["claim"]
    which = f"these {noun_of(result)}s"
    if claim == "random":
        which = f"{noun_of(result)}s like these"
    flags = flags_of_scores(result) | {f"of {claim}"}
    return rows_of_pairs(result, displayed, f"{label_of_pairs(result)}\n{which}", flags)


def _forest_of_tasks(result: xr.Dataset) -> RowsPicture:
    """Return the difference of the only pair in every task, and its means by both claims."""
    result = pairs_by_size(
        result,
        result["difference"],
        ("difference", "difference_ci", "task_difference", "task_difference_ci"),
    )
    task = result.attrs["task"]
    own = result if task in result.dims else result.expand_dims(task)
    pair = own.isel(pair=0)
    a, b = (str(pair[side].item()) for side in ("algorithm_a", "algorithm_b"))
    # the better is first: of low scores what is drawn is by how much it is below the other
    word = between(result) if lower_is_better(result) and not keeps_direction(result) else "−"
    label = f"{with_units('difference of mean scores', result['difference'])}\n{a} {word} {b}"
    marks = {claim: _mean_mark(pair, claim) for claim in claims_of(pair)}
    rows = rows_of_tasks(*_task_marks(pair), marks, task)
    return RowsPicture(tuple(rows), label, flags=flags_of_scores(result) | {"task"}, pitch=TASK_PITCH)


def _mean_mark(pair: xr.Dataset, claim: str) -> Mark | None:
    """Return the mean difference of a pair with the interval of a claim, None where it has none."""
    (mark,) = marks_of(
        pair["difference"],
        of_claim(pair, claim)["difference_ci"],
        BLACK._replace(marker="D"),
        filled=claim == "fixed",
        flag=f"{claim} mean",
    )
    if np.isfinite(mark.value) and not np.isnan(mark.low):
        return mark
    return None


def rows_of_tasks(
    tasks: Sequence[object], marks: Sequence[Mark], claims: Mapping[str, Mark | None], task: str
) -> list[Row]:
    """Return a row for every task, and below them the means of both claims."""
    rows = [Row(str(name), (mark,)) for name, mark in zip(tasks, marks, strict=True)]
    gap, noun = _GAP, labels.noun(task)
    for claim, which in (("fixed", f"these {noun}s"), ("random", f"{noun}s like these")):
        mark = claims.get(claim)
        if mark is not None:
            rows.append(Row(f"mean, {which}", (mark,), gap=gap))
            gap = 0.0
    return rows


def _task_marks(pair: xr.Dataset) -> tuple[list[object], list[Mark]]:
    """Return the tasks that a pair has, the largest difference first, with a standard error where none has an end."""
    task, d = pair.attrs["task"], pair["task_difference"].to_numpy()
    own = pair.isel({task: np.argsort(-d)[: np.count_nonzero(np.isfinite(d))]})
    shown = provenance.significant(own["task_pvalue_adjusted"].to_numpy(), provenance.alpha_of(own))
    marks = marks_of(own["task_difference"], own["task_difference_ci"], Style(_GREY, "-", "o"))
    errors = own["task_difference_stderr"].to_numpy().tolist()
    for place, (mark, error) in enumerate(zip(marks, errors, strict=True)):
        if np.isnan(mark.low) or np.isinf([mark.low, mark.high]).all():
            low, high = mark.value - error, mark.value + error
            marks[place] = mark._replace(low=low, high=high, filled=False, flag="standard error")
        elif shown[place]:
            marks[place] = mark._replace(style=BLACK, flag="shown")
    return own[task].to_numpy().tolist(), marks


def _with_shown_intervals(result: xr.Dataset, claim: str) -> xr.Dataset:
    """Return what is known of pairs by a claim, with the `amount` and `interval` that table and forest show."""
    part, amount = of_claim(result, claim), result.variables["difference"]
    shown = is_shown(part.variables["pvalue_adjusted"], amount, provenance.alpha_of(result))
    interval = shown_interval(amount, part["difference_ci_simultaneous"], shown)
    return part.assign(amount=amount, interval=interval)


def task_differences(result: xr.Dataset) -> RowsPicture:
    """Return the quartiles and the tasks of each pair's differences, and its mean; the largest mean on top."""
    if result.sizes["pair"] > MOST_LISTED:
        reason = f"more than {MOST_LISTED} pairs have no boxes here"
        raise Refusal("result", UNSAID, reason, "Select algorithms before comparing them")
    displayed = _displayed(result)
    claim = str(displayed.attrs["claim"])
    signed = ("amount", "interval", "task_difference", "task_difference_quartiles")
    given = _with_shown_intervals(result, claim)
    rows = []
    for pair in each_of(pairs_by_size(given, given["amount"], signed), "pair"):
        (mean,) = marks_of(pair["amount"], pair["interval"], BLACK._replace(marker="D"))
        lower, median, upper = np.sort(pair["task_difference_quartiles"].to_numpy()).tolist()
        tasks = pair["task_difference"].to_numpy()
        points = tuple(tasks[np.isfinite(tasks)].tolist())
        rows.append(Row(str(pair["pair"].item()), (mean,), quartiles=(lower, median, upper), points=points))
    label = with_units(f"difference of mean {score_name(result)}", result["difference"])
    pitch = _BOX_PITCH if len(rows) > 1 else _ONLY_BOX
    flags = flags_of_scores(result) | {f"of {claim}"}
    if say_open_ends(given):
        flags |= {"open end"}
    return RowsPicture(tuple(rows), label, flags=flags, pitch=pitch)


def probabilities(result: xr.Dataset) -> CellsPicture:
    """Return the matrix of probabilities that the algorithm of the row scores higher than that of the column."""
    p = result["prob_greater_pvalue_adjusted"].sel(task_effect="random").to_numpy()
    return probability_cells(result, provenance.significant(p, provenance.alpha_of(result)))


def mean_curves(result: xr.Dataset) -> CurvesPicture:
    """Return the mean curve of every algorithm with its band, and bars where pairs differ."""
    at = 100 * result["budget_fraction"].to_numpy()
    lines = []
    for place, (style, own, name) in enumerate(styled_parts(result)):
        curve = own["mean_curve"].to_numpy()
        known = np.isfinite(curve)
        low, high = bounds_of(own["mean_curve_band"])[:, known]
        lines.append(Line(name, style, at[known], curve[known], low, high, flag="mean", place=place))
    label = with_units(f"mean {score_name(result)} over tasks", result["mean_curve"])
    return CurvesPicture(lines, _BUDGET, Scale(label), below=_bars_of_pairs(result, at), ticks=at)


def _bars_of_pairs(result: xr.Dataset, at: Floats) -> list[PairBars]:
    """Return where each pair is shown to differ, those of which few are shown."""
    shown = provenance.significant(result["pvalue_adjusted"].to_numpy(), provenance.alpha_of(result))
    pairs = np.flatnonzero(shown.any(axis=-1))
    if len(pairs) > _MOST_SHOWN:
        return []
    turned = better_first(result, result["difference"].mean("budget_fraction"), [])
    colors = {name: style.color for style, _, name in styled_parts(result)}
    # A bar goes half of the way to the fractions before and after.
    half = (at[-1] - at[0]) / max(len(at) - 1, 1) / 2 or 0.5
    low, high = np.maximum(at - half, at[0]), np.minimum(at + half, at[-1])
    found = []
    for place in pairs.tolist():
        pair = turned.isel(pair=place)
        sides = [pair[side].item() for side in ("algorithm_a", "algorithm_b")]
        if pair[SWAPPED]:
            sides.reverse()
        # A panel of one algorithm has no bars.
        if not colors.keys() >= {*sides}:
            continue
        name, here = str(pair[TURNED].item()), shown[place]
        found.append(PairBars(name, (colors[sides[0]], colors[sides[1]]), low[here], high[here]))
    return found


def aggregate_differences(result: xr.Dataset) -> CurvesPicture:
    """Return the mean difference of every pair with its band; of many pairs, those of one algorithm."""
    said: frozenset[str] = frozenset()
    if result.sizes["pair"] > _MOST_BANDS:
        result, said = _of_one_algorithm(result)
    levels = 100 * result["budget_fraction"].to_numpy()
    return pair_curves(result, levels, _BUDGET, "difference", "difference_band", said)


def _of_one_algorithm(result: xr.Dataset) -> tuple[xr.Dataset, frozenset[str]]:
    """Return the pairs of the reference, or of the algorithm that scores highest, and what captions say of them.

    Of very many these are the closest.
    """
    first, second = (result[side].to_numpy() for side in ("algorithm_a", "algorithm_b"))
    size = result["difference"].mean("budget_fraction").to_numpy()
    unknown = (np.nan, np.nan, np.nan, False)
    sides = zip(first.tolist(), second.tolist(), size.tolist(), strict=True)
    highest = most_ahead(PairRow(a, b, each, *unknown) for a, b, each in sides)
    said = set()
    if "reference" not in result.attrs:
        said.add("highest")
    one = result.attrs.get("reference", highest)
    own = np.flatnonzero((first == one) | (second == one))
    if len(own) > _MOST_BANDS:
        said.add("closest")
    closest = own[np.argsort(np.abs(size[own]), kind="stable")][:_MOST_BANDS]
    return result.isel(pair=closest), frozenset(said)
