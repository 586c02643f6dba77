"""The sentences and tables about times, speed-ups and performance profiles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.provenance import alpha_of
from xcurves.core.schema import About, Claim, Floor, Needed, Statement, statements
from xcurves.say.floors import cure_of_flips, fewest_flips, floor_sentences
from xcurves.say.numbers import count, counts, ends_of, estimated, interval, joined, listed, number, quantity, units_of
from xcurves.say.pairs import beside_reference
from xcurves.say.result_frames import bounds, frame_of
from xcurves.target_times.display import DISPLAYED, displayed, ends_of_ratio, is_one_sided, say_ratio, without_zeros
from xcurves.target_times.reasons import FALLS, Reason, cells, ended_early

_MOST = 3  # algorithms that an answer names
_LINES = 6  # further facts that a summary has
_SKEWED = (
    "Intervals of a time of 0.95 hold 0.88 to 0.90 where runs are skewed; no method sees failures that did not occur: "
    "where a run in ten fails, they and those of ratios miss in 0.3 to 0.7 of studies with 3 to 10 runs."
)
_NO_INTERVAL = "Ratios of given times have an interval over tasks only: task=."
_TOO_FLAT = "Where an interval is unbounded, curves are too flat, or runs too few or too noisy, to tell times apart."
_NO_INVERSE = (
    "The speed-up of a second algorithm over the first is not the inverse of this one: each is read at the other's "
    "last level."
)


def _sorted(result: xr.Dataset, name: str, sign: int = 1) -> list[tuple[str, xr.Dataset]]:
    """Return all cells with their words, the smallest value of a variable (times `sign`) first, unknown ones last."""
    every = cells(result, xr.ones_like(result[name], bool))
    return sorted(every, key=lambda cell: np.nan_to_num(sign * cell[1][name].item(), nan=np.inf, posinf=1e308))


def _why(cell: xr.Dataset) -> str:
    """Return why a cell has no estimate."""
    return Reason(int(cell["reason"].item())).words


def time_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield when each mean curve reaches the target."""
    phrases = []
    for name, cell in _sorted(result, "time"):
        time = cell["time"].item()
        low, high = ends_of_ratio(cell["time_ci"])
        if np.isfinite(time):
            when = estimated(time, low, high, units_of(cell["time"]))
            phrases.append(f"{name} at {when}")
        else:
            phrases.append(f"{name}: {_why(cell)} ({interval(low, high)})")
    side = "at most"
    if result.attrs.get("higher_is_better", 1):
        side = "at least"
    times = joined(phrases, "; ", max(_MOST, 7 - len(phrases)))
    answer = f"The mean score is {side} {result.attrs['target']}: {times}."
    yield from statements(answer, ended_early(result), [_SKEWED])


def pairs_of_speedups(result: xr.Dataset) -> xr.Dataset:
    """Return the speed-up of each algorithm as that of its pair with the reference."""
    names = ["speedup", "speedup_ci_simultaneous", "pvalue_adjusted", "reason", "n_tasks", "n_censored"]
    names += ["reference_time", "reference_level", "time"]
    # where there is no estimate, the displayed interval says which of the two is faster
    shown = result.assign(speedup_ci_simultaneous=displayed(result)[DISPLAYED])
    return beside_reference(shown, [name for name in names if name in result])


def claims_over_tasks(pairs: xr.Dataset) -> list[Claim]:
    """Return what speed-ups over tasks hold for; those of single tasks hold for these."""
    if not _joins_tasks(pairs):
        return [Claim()]
    task = str(pairs.attrs["task"])
    claims = {"random": f"for {task}s like these", "fixed": f"for these very {task}s"}
    effects = np.atleast_1d(pairs["task_effect"].to_numpy())
    return [Claim("task_effect", label, on) for label, on in claims.items() if label in effects]


def level_to_reach(pairs: xr.Dataset) -> str:
    """Return in which time algorithms are compared; of one task with the time that the reference takes."""
    attrs = pairs.attrs
    over = ""
    if _joins_tasks(pairs):
        over = f", geometric mean over {attrs['task']}s"
    if attrs.get("of_times"):
        return f"the given times{over}"
    level = "its last mean score"
    if "target" in attrs:
        level = str(attrs["target"])
    times = pairs["reference_time"]
    if times.size == 1 and np.isfinite(times).all():
        when = f"at {quantity(times.item(), units_of(pairs['time']))}"
        inside = f"{number(pairs['reference_level'].item())} {when}"
        if "target" in attrs:
            inside = f"which it reaches {when}"
        level += f" ({inside})"
    return f"time to {level}{over}"


def without_speedup(pairs: xr.Dataset) -> dict[frozenset[str], str]:
    """Return why pairs of one task, or benchmark, have no p, if they have none."""
    reasons = {}
    for name, pair in zip(pairs["algorithm_a"].to_numpy().tolist(), labels.each_of(pairs, "pair"), strict=True):
        reason = "the interval has no end"
        if pairs.attrs.get("of_times") and not _joins_tasks(pairs):
            reason = "given times have an interval over tasks only"
        elif "n_tasks" in pair and not pair["n_tasks"].item():
            reason = f"no {pairs.attrs['task']} says anything"
        elif "n_tasks" in pair and not pair["n_censored"].item():
            reason = f"{count(pair['n_tasks'].item(), str(pairs.attrs['task']))}, too few for an adjusted p"
        elif "n_tasks" in pair:
            n_tasks, n_censored = count(pair["n_tasks"].item(), str(pairs.attrs["task"])), pair["n_censored"].item()
            verb = "bounds" if n_censored == 1 else "bound"
            reason = f"{number(n_censored)} of {n_tasks} {verb} the ratio on one side only"
        elif pair["reason"] != Reason.ESTIMATED:
            reason = _why(pair)
        reasons[frozenset([name, str(pairs.attrs["reference"])])] = reason
    return reasons


def more_of_speedups(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what else is known of each algorithm, or of each task, and what a reader may take wrongly."""
    with_intervals = displayed(result)
    compared = _compared(with_intervals)
    if _joins_tasks(result):
        details = _details_of_joined(compared, str(result.attrs["task"]))
    else:
        details = [
            *_to_rise(with_intervals, compared),
            *_how_much_sooner(compared),
            *_only_bounded(compared),
            *_notes_on_each(with_intervals, compared),
        ]
    for text in dict.fromkeys([*details, *ended_early(result)]):
        yield Statement("detail", text)
    for text in _cautions(result):
        yield Statement("caution", text)


def _joins_tasks(result: xr.Dataset) -> bool:
    """Return whether speed-ups are over tasks."""
    return "n_censored" in result


def _compared(result: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    """Return the cells that are compared with their words, the largest speed-up first, of single tasks those shown."""
    every = _sorted(result, "speedup", -1)
    if _joins_tasks(result):
        return every
    compared = [(name, cell) for name, cell in every if cell["reason"] != Reason.NOT_COMPARED]
    return sorted(compared, key=lambda named: not named[1]["shown"])


def _details_of_joined(compared: list[tuple[str, xr.Dataset]], task: str) -> list[str]:
    """Return further facts about joined tasks, some of many."""
    facts = [f"{name}: {fact}." for name, cell in compared for fact in _of_tasks(cell, task)]
    return facts[:_LINES]


def _how_much_sooner(compared: list[tuple[str, xr.Dataset]]) -> Iterator[str]:
    """Yield how much sooner those that are shown to be faster or slower reach the level."""
    for name, cell in compared[:_MOST]:
        gain = cell["reference_time"].item() - cell["time"].item()
        amount = _amount(gain, units_of(cell["time"]))
        if cell["shown"] and amount:
            yield f"{name} reaches the level {amount}."


def _only_bounded(compared: list[tuple[str, xr.Dataset]]) -> Iterator[str]:
    """Yield what bounds the speed-ups that have no estimate and no p."""
    for name, cell in compared[:_MOST]:
        no_p = cell["speedup"].isnull() & cell["pvalue_adjusted"].isnull()
        if no_p and np.isfinite(ends_of_ratio(cell[DISPLAYED])).any():
            yield f"{name} is {say_ratio(np.nan, cell[DISPLAYED])}."


def _notes_on_each(result: xr.Dataset, compared: list[tuple[str, xr.Dataset]]) -> Iterator[str]:
    """Yield what holds for all tasks that stand by themselves."""
    if any(_is_too_flat(cell) for _, cell in compared):
        yield _TOO_FLAT
    if result.attrs.get("of_times"):
        yield _NO_INTERVAL


def _cautions(result: xr.Dataset) -> Iterator[str]:
    """Yield what a reader may take wrongly."""
    if "target" not in result.attrs and not result.attrs.get("of_times"):
        yield _NO_INVERSE
    if (result["reference_falls"] > 0).any():
        yield f"{result.attrs['reference']} {FALLS}."


def _is_too_flat(cell: xr.Dataset) -> bool:
    """Return whether an estimate stands without any limit: nothing else but slope and noise is the reason."""
    low, high = ends_of_ratio(cell[DISPLAYED])
    is_estimated = cell["reason"] == Reason.ESTIMATED
    return bool(is_estimated and np.isinf(low) and np.isinf(high))


def _to_rise(result: xr.Dataset, compared: list[tuple[str, xr.Dataset]]) -> Iterator[str]:
    """Yield the speed-ups to where the reference had most of its rise, if one to its last level is open at an end."""
    if "rise_speedup" not in result:
        return
    if not any(is_one_sided(cell[DISPLAYED]) for _, cell in compared):
        return
    phrases = []
    for name, cell in compared:
        low, high = ends_of_ratio(cell["rise_speedup_ci"])
        if np.isnan(low) and np.isnan(high):
            continue
        ratio = say_ratio(cell["rise_speedup"].item(), cell["rise_speedup_ci"])
        phrase = f"{name} {ratio}"
        if not low <= 1 <= high:
            gain = cell["rise_reference_time"].item() - cell["rise_time"].item()
            amount = _amount(gain, units_of(cell["rise_time"]))
            phrase += f", {amount}" if amount else ""
        phrases.append(phrase)
    if not phrases:
        return
    where = ""
    if result["rise_level"].size == 1:
        time = quantity(result["rise_reference_time"].item(), units_of(result["rise_time"]))
        where = f" ({number(result['rise_level'].item())} at {time})"
    ratios = joined(phrases, "; ", _LINES)
    yield f"To the level where {result.attrs['reference']} had 90 % of its rise{where}: {ratios}."


def _amount(gain: float, units: str) -> str:
    """Return how much sooner in units of training: "6,900 steps sooner"."""
    if not np.isfinite(gain) or gain == 0:
        return ""
    size = quantity(abs(gain), units)
    word = "later"
    if gain > 0:
        word = "sooner"
    if units == "1":
        return f"{word} by {size}"
    return f"{size} {word}"


def _median(cell: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the ratio in the median task, unless nothing bounds it."""
    ends = ends_of_ratio(cell["median_speedup_ci"])
    if np.isfinite(ends).any():
        ratio = say_ratio(cell["median_speedup"].item(), cell["median_speedup_ci"])
        yield f"in the median {task} {ratio}, an interval by itself"


def _of_tasks(cell: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the median task, and which tasks are bounded or say nothing."""
    if cell["speedup"].notnull():  # otherwise the answer has it
        yield from _median(cell, task)
    if task not in cell["reason"].dims:
        return
    codes = cell["reason"].to_numpy()
    names = cell[task].to_numpy()
    for reason in Reason:
        affected = names[codes == reason].tolist()
        if affected and reason not in (Reason.ESTIMATED, Reason.NOT_COMPARED):
            n_affected = count(len(affected), task)
            yield f"{reason.words} in {n_affected} ({listed(affected, 4)})"
    n_compared = int((codes != Reason.NOT_COMPARED).sum())
    n_silent = n_compared - int(cell["n_tasks"].item())
    if n_silent > 0:
        yield f"without {count(n_silent, task)} that neither reaches"


def profile_score(result: xr.Dataset) -> str:
    """Return what algorithms are compared by."""
    return f"score up to {number(result.attrs['tau_max'])} times the best"


def over_tasks(result: xr.Dataset) -> About:
    """Return over how many tasks scores are means."""
    return About(over=f"over {count(result['n_tasks'].item(), str(result.attrs['task']))}")


def too_few_tasks(result: xr.Dataset) -> Iterator[Floor]:
    """Yield that flips of so few tasks give no small p, and how many are the fewest."""
    p, n_tasks = xr.broadcast(result["pvalue_adjusted"], result["n_tasks"])
    n, task, alpha = n_tasks.to_numpy().ravel(), str(result.attrs["task"]), alpha_of(result)
    few = counts(n.tolist(), task)
    cure = cure_of_flips(alpha, f"{task}s", result.sizes["algorithm"], result.sizes["pair"])
    fewest = fewest_flips(alpha)
    needed = Needed("tasks", f"{task}s", n.min(), fewest, fewest)
    yield from floor_sentences(2.0 ** (1.0 - n), p.to_numpy().ravel(), alpha, few, cure, needed)


def more_of_profiles(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the score of each algorithm with its interval, and what a score depends on."""
    scores = []
    for name, cell in _sorted(result, "score", -1):
        ends = ends_of(cell["score_ci"].sel(task_effect="random"))
        scores.append(f"{name} {estimated(cell['score'].item(), *ends)}")
    on = f"on {result.attrs['task']}s like these, each with an interval by itself"
    yield Statement("detail", f"Scores {on}: {joined(scores, '; ')}.")
    yield Statement("caution", "A score depends on who takes part: the best of them on a task defines its unit.")


def columns_of_speedups(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return, of one task, the time and the speed-up to most of the rise, over tasks the median and their number."""
    if _joins_tasks(result):
        median = bounds(without_zeros(result["median_speedup_ci"]), "median_")
        return {"median": result["median_speedup"], **median, "tasks": result["n_tasks"]}
    reached = result["time"].where(np.isfinite(result["time"]))
    columns = {"time": result["time"], "sooner_by": result["reference_time"] - reached}
    if "rise_speedup" in result:
        rise = bounds(without_zeros(result["rise_speedup_ci"]), "speedup_90_")
        columns |= {"speedup_90": result["rise_speedup"], **rise}
    return columns


def score_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: the score, both intervals, how many tasks it solves."""
    columns = {"score": result["score"]}
    for claim in result["task_effect"].to_numpy().tolist():
        columns |= bounds(result["score_ci"].sel(task_effect=claim, drop=True), f"{claim}_")
    return frame_of(columns | {"solved": result["n_reached"]}, ["algorithm"])
