"""Pictures of `across_tasks`: a forest of tasks, probabilities of pairs, curves over tasks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import provenance
from xcurves.core.labels import each_of
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.draw.drawn_names import wrapped
from xcurves.draw.look import OWN, fill_band
from xcurves.multi_task.claims import claims_of, of_claim, shown_of_claim
from xcurves.multi_task.too_few import noun_of
from xcurves.pictures.cells import CellsPicture, probability_cells
from xcurves.pictures.pair_rows import rows_of_pairs
from xcurves.pictures.rows import Mark, Row, RowsPicture, marks_of
from xcurves.pictures.styles import BLACK, Style, bounds_of, style_in
from xcurves.plotting.difference_curves import draw_pairs_along
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import with_units
from xcurves.say.pairs import (
    MOST_LISTED,
    SWAPPED,
    TURNED,
    PairRow,
    better_first,
    is_shown,
    keeps_direction,
    lower_is_better,
    most_ahead,
    pairs_by_size,
    say_open_ends,
    shown_interval,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY = "#8C8C8C"
_MOST_PAIRS = 300  # that a forest lists
_GAP = 0.3  # rows above the means over tasks
TASK_PITCH = 0.8  # height of the row of a task, of that of a pair
_BOX_PITCH, _ONLY_BOX = (1.3, 1.8)  # heights of rows with a box, and of a single one
_MOST = 105  # tasks that have a row each
_MOST_SHOWN = 12  # pairs that have bars
_MOST_BANDS = 4  # pairs whose bands are drawn over each other
_ROW = 0.055  # of the height of the panel, for a bar
_DARK = "0.25"


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
    more = "lower" if lower_is_better(result) else "higher"
    label = f"how much {more} in mean {score_name(result)}"
    if keeps_direction(result):
        label = f"difference of mean {score_name(result)}"
    label = with_units(label, result["difference"])
    return rows_of_pairs(result, displayed, f"{label}\n{which}", frozenset({f"of {claim}"}))


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
    label = f"{with_units('difference of mean scores', result['difference'])}\n{a} − {b}"
    marks = {claim: _mean_mark(pair, claim) for claim in claims_of(pair)}
    rows = rows_of_tasks(*_task_marks(pair), marks, task)
    return RowsPicture(tuple(rows), label, flags=frozenset({"task"}), pitch=TASK_PITCH)


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
    gap = _GAP
    for claim, which in (("fixed", f"these {task}s"), ("random", f"{task}s like these")):
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
    part, amount = of_claim(result, claim), result["difference"]
    shown = is_shown(part["pvalue_adjusted"], amount, provenance.alpha_of(result))
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
    flags = {f"of {claim}"}
    if say_open_ends(given):
        flags.add("open end")
    return RowsPicture(tuple(rows), label, flags=frozenset(flags), pitch=pitch)


def probabilities(result: xr.Dataset) -> CellsPicture:
    """Return the matrix of probabilities that the algorithm of the row scores higher than that of the column."""
    p = result["prob_greater_pvalue_adjusted"].sel(task_effect="random").to_numpy()
    return probability_cells(result, provenance.significant(p, provenance.alpha_of(result)))


def draw_mean_curves(result: xr.Dataset, ax: Axes) -> None:
    """Draw the mean curve of every algorithm with its band, and bars where pairs differ."""
    at = 100 * result["budget_fraction"].to_numpy()
    for place, name in enumerate(result["algorithm"].to_numpy().tolist()):
        own = result.isel(algorithm=place)
        style = style_in(own)
        fill_band(ax, at, bounds_of(own["mean_curve_band"]), style.color)
        ax.plot(
            at,
            own["mean_curve"],
            linestyle=style.linestyle,
            color=style.color,
            label=str(name),
            gid="mean",
        )
    ax.margins(x=0)
    ax.grid(axis="y", color="0.9")
    ax.set_xlabel("share of the budget (%)")
    ax.set_ylabel(wrapped(with_units(f"mean {score_name(result)} over tasks", result["mean_curve"])))
    _mark_pairs(result, at, ax)


def _mark_pairs(result: xr.Dataset, at: Floats, ax: Axes) -> None:
    """Draw a bar where a pair is shown to differ, a row for each such pair, in axes of their own below."""
    figure: Any = ax.figure
    shown = provenance.significant(result["pvalue_adjusted"].to_numpy(), provenance.alpha_of(result))
    pairs = np.flatnonzero(shown.any(axis=-1))
    if not len(pairs) or len(pairs) > _MOST_SHOWN or figure.get_gid() != OWN:
        return
    turned = better_first(result, result["difference"].mean("budget_fraction"), [])
    letters = 0.8 * float(ax.xaxis.label.get_fontsize())
    longest = max(len(str(name)) for name in turned[TURNED].to_numpy()[pairs])
    if 0.55 * letters * longest / 72 > 0.5 * figure.get_size_inches()[0]:
        return  # names of pairs would take more than half of the figure

    high = _ROW * len(pairs)
    below = ax.inset_axes((0, -high - 0.06, 1, high))
    # A bar goes half of the way to the fractions before and after.
    half = (at[-1] - at[0]) / max(len(at) - 1, 1) / 2 or 0.5
    colors = {one["algorithm"].item(): style_in(one).color for one in each_of(result, "algorithm")}
    for row, pair in enumerate(pairs):
        marked = at[shown[pair]]
        start, stop = (
            np.maximum(marked - half, at[0]),
            np.minimum(marked + half, at[-1]),
        )
        rows = np.full(len(marked), row)
        below.hlines(rows, start, stop, color=_DARK, linewidth=2.5, gid="bars")
        _name_marked_pair(below, row, turned.isel(pair=pair), colors, letters)
    below.set(xlim=ax.get_xlim(), ylim=(len(pairs) - 0.5, -0.5), yticks=[])
    below.spines["left"].set_visible(False)
    below.set_ylabel("shown", rotation=0, ha="right", va="center", fontsize=letters)
    below.tick_params(labelsize=0.9 * letters / 0.8)
    ax.tick_params(labelbottom=False)
    below.set_xlabel(ax.get_xlabel())
    ax.set_xlabel("")


def _name_marked_pair(
    below: Axes,
    row: int,
    pair: xr.Dataset,
    colors: Mapping[Any, str],
    letters: float,
) -> None:
    """Write beside a row of bars which of two is better: "● > ● SVM over decision tree"."""
    sides = [pair[side].item() for side in ("algorithm_a", "algorithm_b")]
    if pair[SWAPPED]:
        sides.reverse()
    better, other = sides
    look: dict[str, Any] = {
        "xycoords": below.get_yaxis_transform(),
        "textcoords": "offset points",
        "va": "center",
        "fontsize": letters,
    }
    below.annotate("●", (1, row), (8, 0), ha="center", color=colors[better], **look)
    below.annotate(">", (1, row), (13, 0), color=_DARK, **look)
    below.annotate("●", (1, row), (25, 0), ha="center", color=colors[other], **look)
    name = str(pair[TURNED].item())
    below.annotate(name, (1, row), (34, 0), color=_DARK, **look)


def draw_aggregate_differences(result: xr.Dataset, ax: Axes) -> None:
    """Draw the mean difference of every pair with its band; of many pairs, those of one algorithm."""
    shown = _of_one_algorithm(result, ax) if result.sizes["pair"] > _MOST_BANDS else result
    draw_pairs_along(
        shown,
        ax,
        100 * result["budget_fraction"].to_numpy(),
        "difference",
        "difference_band",
    )
    ax.set_xlabel("share of the budget (%)")


def _of_one_algorithm(result: xr.Dataset, ax: Axes) -> xr.Dataset:
    """Return the pairs of the reference, or of the algorithm that scores highest: the closest, as many as fit."""
    first, second = (result[side].to_numpy() for side in ("algorithm_a", "algorithm_b"))
    size = result["difference"].mean("budget_fraction").to_numpy()
    unknown = (np.nan, np.nan, np.nan, False)
    sides = zip(first.tolist(), second.tolist(), size.tolist(), strict=True)
    highest = most_ahead(PairRow(a, b, each, *unknown) for a, b, each in sides)
    if "reference" not in result.attrs:
        ax.set_gid("highest")
    one = result.attrs.get("reference", highest)
    own = np.flatnonzero((first == one) | (second == one))
    if len(own) > _MOST_BANDS:
        ax.patch.set_gid("closest")
    return result.isel(pair=own[np.argsort(np.abs(size[own]), kind="stable")][:_MOST_BANDS])
