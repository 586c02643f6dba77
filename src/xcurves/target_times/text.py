"""The sentences and tables about times, speed-ups and performance profiles."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of
from xcurves.core.wording import (
    count,
    ends_of,
    interval,
    joined,
    listed,
    number,
    pvalue,
    quantity,
    unadjusted_over_tasks,
    units_of,
)

_MOST = 3  # algorithms that an answer names
_LINES = 6  # facts about tasks, or curves that end early, that a summary has
_COMPARED = 12  # comparisons that a summary lists
_SKEWED = "Intervals of a time of 0.95 hold 0.88 to 0.90 where runs are skewed; those of ratios hold theirs."
_SCOPE = (
    "A speed-up is at this level and this horizon: with a decaying learning rate a curve read early understates what a "
    "shorter schedule would have reached. Intervals hold the noise of runs, not the choice of the level."
)
_NO_INTERVAL = "Ratios of given times have an interval over tasks only: task=."
_NO_INVERSE = (
    "The speed-up of a second algorithm over the first is not the inverse of this one: each is read at the other's "
    "last level."
)


class Reason(IntEnum):
    """Why there is no estimate, with its words."""

    words: str
    ESTIMATED = 0, "estimated"
    NOT_REACHED = 1, "not reached within its budget"
    BETTER_FROM_FIRST = 2, "there from its first level on"
    REFERENCE_NOT_REACHED = 3, "not reached by the reference within its budget"
    REFERENCE_BETTER_FROM_FIRST = 4, "the reference is there from its first level on"
    FEW_RUNS = 5, "fewer than two runs"
    NO_LEVELS = 6, "its runs have no levels in common"
    BEYOND = 7, "no run reaches it"
    AT_ZERO = 8, "the last level of the reference is 0"
    NOT_COMPARED = 9, "not compared"

    def __new__(cls, code: int, words: str) -> Self:
        """Return a reason that is its code."""
        made = int.__new__(cls, code)
        made._value_, made.words = code, words
        return made


def time_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield when each mean curve reaches the target."""
    said = []
    for name, one in _sorted(result, "time"):
        time, (low, high) = one["time"].item(), ends_of(one["time_ci"])
        known = f" at {quantity(time, units_of(one['time']))}" if np.isfinite(time) else f": {_reason_words(one)}"
        said.append(f"{name}{known} ({interval(low or -np.inf, high)})")
    sign = "at least" if result.attrs.get("higher_is_better", 1) else "at most"
    answer = f"The mean score is {sign} {result.attrs['target']}: {joined(said, '; ', max(_MOST, 7 - len(said)))}."
    yield from statements(answer, [*_gaps(result, "time_gap", "Levels"), *_early(result)], [_SKEWED])


def _reason_words(one: xr.Dataset) -> str:
    return str([*Reason][int(one["reason"].item())].words)


def _early(result: xr.Dataset) -> list[str]:
    early, n = ended_early(result)
    return [*early, f"And {count(n - len(early), 'more curve')} are cut likewise."] if n > len(early) else early


def _gaps(result: xr.Dataset, name: str, what: str) -> list[str]:
    """Return in which intervals some values are rejected."""
    where = [words for words, _ in cells_of(result, name, result[name] > 0)] if name in result else []
    return [f"{what} within the interval of {listed(where, 3)} are rejected."] * bool(where)


def _sorted(result: xr.Dataset, name: str, sign: int = 1) -> list[tuple[str, xr.Dataset]]:
    """Return the cells with their words, the smallest value of a variable (times `sign`) first, unknown ones last."""
    cells = list(cells_of(result, name))
    return [cells[place] for place in np.argsort([sign * one[name].item() for _, one in cells], kind="stable")]


def ratio_words(ratio: float, low: float, high: float) -> str:
    """Return a ratio of times with its interval: "1.27 times sooner (1.1 to 1.4)", "1.2 times as long (...)"."""
    sooner = interval(low if low > 0 else -np.inf, high)
    longer = interval(1 / high if 0 < high < np.inf else -np.inf, 1 / low if low > 0 else np.inf)
    if np.isnan(ratio):
        if low >= 1:
            return f"{sooner} times sooner"
        return f"{longer} times as long" if high <= 1 else f"a speed-up of {sooner}"
    return f"{number(ratio)} times sooner ({sooner})" if ratio >= 1 else f"{number(1 / ratio)} times as long ({longer})"


def speedup_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how much sooner each algorithm is than the reference."""
    answer, details = _over_all_tasks(result) if "median_speedup" in result else _single_tasks(result)
    if details is not None and result.attrs.get("of_times") and "median_speedup" not in result:
        details.append(_NO_INTERVAL)
    elif details is not None and result.sizes.get("algorithm", 1) > 1:
        details.append("p is adjusted over algorithms (Holm); intervals are not.")
    falls = f"{result.attrs['reference']} has been better before its last level than there: consider target=."
    to_target = "target" in result.attrs or result.attrs.get("of_times")
    warned = [_SCOPE, *[falls] * bool((result["reference_falls"] > 0).any()), *[_NO_INVERSE] * (not to_target)]
    yield from statements(answer, [*(details or []), *_early(result)], [] if details is None else warned)


def _compared_with(result: xr.Dataset) -> str:
    """Return in words with what is compared: the reference, and which score is to be reached."""
    reference, level = result.attrs["reference"], ""
    if result.attrs.get("of_times"):
        return f"Against {reference}, in the given times"
    if "target" in result.attrs:
        return f"Against {reference}, to {result.attrs['target']}"
    if result["reference_level"].size == 1:
        end = quantity(result["reference_time"].item(), units_of(result["time"]))
        level = f" ({number(result['reference_level'].item())} at {end})"
    return f"Against {reference}, to the last mean score of {reference}{level}"


def _single_tasks(result: xr.Dataset) -> tuple[str, list[str] | None]:
    """Return the answer and details of comparisons in each task by itself; of one task, those shown first."""
    alpha, n_tasks = provenance.alpha_of(result), result["speedup"].size // max(result.sizes.get("algorithm", 1), 1)
    cells = list(cells_of(result, "speedup"))
    if n_tasks == 1:
        cells = sorted(_sorted(result, "speedup", -1), key=lambda cell: not _is_shown(cell[1], alpha))
    cells = [(name, one) for name, one in cells if one["reason"].item() != Reason.NOT_COMPARED]
    if not cells:
        reference = result.attrs["reference"]
        return f"Nothing is compared with {reference}: no other algorithm has runs where it has some.", None
    said = [f"{name}: {_comparison(one, alpha)}" for name, one in cells]
    n_shown = sum(_is_shown(one, alpha) for _, one in cells)
    n_flat = sum(_is_open(one["speedup_ci"]) and one["speedup"].notnull().item() for _, one in cells)
    few = len(said) <= _MOST
    counted = f"{n_shown} of {count(len(said), 'comparison')} show a difference"
    what = joined(said, "; ", _MOST) if few or n_tasks == 1 else counted
    details = [] if few else [f"{each}." for each in said[_MOST if n_tasks == 1 else 0 : _COMPARED]]
    if n_flat:
        details.append(
            f"In {count(n_flat, 'comparison')} every time is possible: the curve is too flat or too noisy there to "
            "tell times apart."
        )
    gaps = _gaps(result, "speedup_gap", "Ratios")
    return f"{_compared_with(result)}: {what}.", [
        *details,
        *gaps,
        *unadjusted_over_tasks(n_tasks, labels.task_noun(result["speedup"])),
    ]


def _is_shown(one: xr.Dataset, alpha: float) -> bool:
    return bool(provenance.significant(one["pvalue_adjusted"].item(), alpha))


def _comparison(one: xr.Dataset, alpha: float) -> str:
    """Return what is said of one comparison."""
    ratio, p, (low, high) = one["speedup"].item(), one["pvalue_adjusted"].item(), ends_of(one["speedup_ci"])
    if np.isnan(low):
        return f"no interval: {_reason_words(one)}" if np.isnan(ratio) else f"{_bare(ratio)} (no interval)"
    anything = "any ratio is possible" if np.isnan(ratio) else f"{_bare(ratio)} (any ratio is possible)"
    said = anything if _is_open(one["speedup_ci"]) else ratio_words(ratio, low, high)
    said += f" ({_reason_words(one)})" if np.isnan(ratio) else ""
    return said if np.isnan(p) else f"{said}{', not shown to differ' * (not _is_shown(one, alpha))}, {pvalue(p)}"


def _bare(ratio: float) -> str:
    return ratio_words(ratio, 1, 1).partition(" (")[0]


def _is_open(bounds: xr.DataArray) -> bool:
    """Return whether an interval holds every ratio."""
    return ends_of(bounds) == (0, np.inf)


def _over_all_tasks(result: xr.Dataset) -> tuple[str, list[str]]:
    """Return the answer and details of geometric means over tasks."""
    task, cells = result.attrs["task"], _sorted(result, "speedup", -1)
    said = joined([_say_claims(name, one, task) for name, one in cells], "; ", _MOST)
    details = [f"{name}: {text}." for name, one in cells for text in _of_tasks(one, task)]
    if len(details) > _LINES:
        details[_LINES:] = [f"And {len(details) - _LINES} more such facts; the table has a row for each algorithm."]
    details.append(
        f"For these {task}s (fixed): had other runs been made on these very {task}s. For {task}s like these (random): "
        f"had other {task}s been drawn from where these come from."
    )
    return f"{_compared_with(result)}, geometric mean over {task}s: {said}.", details


def _say_claims(name: str, one: xr.Dataset, task: str) -> str:
    """Return both claims of one algorithm, or its median task where there is no mean."""
    n = one["n_tasks"].item()
    if not n:
        return f"{name}: no {task} says anything"
    ratio, said = one["speedup"].item(), []
    for claim, where in (("fixed", f"these {task}s"), ("random", f"{task}s like these")):
        own = one.sel(task_effect=claim) if claim in one["task_effect"] else one
        if claim in one["task_effect"] and own["speedup_ci"].notnull().all():
            words = ratio_words(ratio, *ends_of(own["speedup_ci"]))
            limits = "any ratio" if _is_open(own["speedup_ci"]) else words.partition("(")[2].removesuffix(")") or words
            said.append(f"{where}: {limits}, {pvalue(own['pvalue_adjusted'].item())}")
    if ratio == ratio:
        return f"{name} {_bare(ratio)} ({'; '.join(said)})"
    censored = one["n_censored"].item()
    bound = f"{number(censored)} of {count(n, task)} {'bounds' if censored == 1 else 'bound'}"
    why = f"no mean, as {bound} the ratio on one side only"
    median = _median(one, task)
    return f"{name}: {median}; {why}" if median else f"{name}: {why} ({'; '.join(said)})"


def _median(one: xr.Dataset, task: str) -> str:
    """Return the ratio in the median task, "" where nothing bounds it."""
    ends = one["median_speedup_ci"]
    if ends.isnull().any() or _is_open(ends):
        return ""
    return f"in the median {task} {ratio_words(one['median_speedup'].item(), *ends_of(ends))}"


def _of_tasks(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the median task, and which tasks are bounded or say nothing."""
    median = _median(one, task)
    if median and one["speedup"].notnull():  # otherwise the answer has it
        yield median
    if task not in one["reason"].dims:
        return
    codes, labels = one["reason"].to_numpy(), one[task].to_numpy()
    for reason in Reason:
        mine = labels[codes == reason].tolist()
        if mine and reason not in (Reason.ESTIMATED, Reason.NOT_COMPARED):
            yield f"{reason.words} in {count(len(mine), task)} ({listed(mine, 4)})"
    silent = int((codes != Reason.NOT_COMPARED).sum()) - int(one["n_tasks"].item())
    if silent > 0:
        yield f"without {count(silent, task)} that neither reaches"


def score_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the scores of performance profiles, and which differences are shown for tasks like these."""
    task, p = result.attrs["task"], result["pvalue_adjusted"].to_numpy()
    said = [
        f"{name} {number(one['score'].item())} ({interval(*ends_of(one['score_ci'].sel(task_effect='random')))})"
        for name, one in _sorted(result, "score", -1)
    ]
    n_shown, n_pairs = int(provenance.significant(p, provenance.alpha_of(result)).sum()), int((~np.isnan(p)).sum())
    best = f"Highest score up to {number(result.attrs['tau_max'])} times the best: {joined(said[:_MOST])}"
    differ = f"{n_shown} of {count(n_pairs, 'pair')} are shown to differ on {task}s like these (p adjusted over pairs)."
    more = [f"Then {joined(said[_MOST:])}."] * (len(said) > _MOST)
    caution = "A score depends on who takes part: the best of them on a task defines its unit."
    yield from statements(f"{best}; intervals are for {task}s like these.", [differ, *more], [caution])


def described(result: xr.Dataset, *, lazy: bool) -> xr.Dataset:
    """Say what the numbers of `reason` mean, as CF does, and warn of what a computed result has."""
    result["reason"].attrs["flag_meanings"] = " ".join(each.name.lower() for each in Reason)
    if not lazy:
        _warn_of_times(result)
    return result


def cells_of(result: xr.Dataset, name: str, where: xr.DataArray | None = None) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield every cell of a variable, or those where something holds, with its words: "task 'x', sac"."""
    variable = result[name]
    for cell in np.argwhere(np.ones(variable.shape, bool) if where is None else where.to_numpy()).tolist():
        places = dict(zip(variable.dims, cell, strict=True))
        one = result.isel(places)
        said = [f"{dim} {result[dim][place].item()!r}" for dim, place in places.items() if dim != "algorithm"]
        yield ", ".join([*said, *[str(one["algorithm"].item())] * (not one["algorithm"].dims)]), one


def ended_early(result: xr.Dataset) -> tuple[list[str], int]:
    """Return a sentence for each of the first cells of which runs end earlier than others, and how many there are."""
    early = result["n_ended_early"] > 0
    said = []
    for words, one in islice(cells_of(result, "n_ended_early", early), _LINES):
        n, last = one["n_ended_early"].item(), quantity(one["training_last"].item(), units_of(one["training_last"]))
        ends = f"{number(n)} of its {number(one['n_runs'].item())} runs {'end' if n > 1 else 'ends'}"
        said.append(f"{words} is read up to {last}: {ends} earlier than others.")
    return said, int(early.sum())


def _warn_of_times(result: xr.Dataset) -> None:
    """Warn once of targets beyond all runs, of runs that end early, and of a reference that has been better."""
    beyond = result["reason"] == Reason.BEYOND
    for words, one in islice(cells_of(result, "reason", beyond), 1):
        more = f" (in {number(beyond.sum().item())} comparisons)" * bool(beyond.sum() > 1)
        best = quantity(one["score_best"].item(), units_of(one["score_best"]))
        provenance.warn(
            f"{words}: no run reaches the target (the best score is {best}), so that nothing is said of times{more}. "
            "Name another one"
        )
    early, n = ended_early(result)
    for said in early[:1]:
        more = f" (so {n - 1} more)" if n > 1 else ""
        stopped = ", or compare time_to_target() of runs that stop at the target" * ("target" in result.attrs)
        cure = f"To read further, leave out by name the runs that crashed{stopped}"
        provenance.warn(f"{said.removesuffix('.')}{more}. {cure}")
    if "reference_falls" in result and (result["reference_falls"] > 0).any():
        provenance.warn(
            f"{result.attrs['reference']} has been better before its last level than there. Consider target="
        )


def time_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: the time and its interval."""
    return frame_of({"time": result["time"], **bounds(result["time_ci"])}, ["algorithm"])


def speedup_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: speed-up, interval, p; of one task the time, over tasks both claims."""
    columns = {"speedup": result["speedup"]}
    if "task_effect" not in result["speedup_ci"].dims:
        columns |= bounds(result["speedup_ci"]) | {"p": result["pvalue"], "p_adjusted": result["pvalue_adjusted"]}
        return frame_of(columns | {"time": result["time"]}, ["algorithm"])
    for claim in result["task_effect"].to_numpy().tolist():
        own = result.sel(task_effect=claim, drop=True)
        columns |= bounds(own["speedup_ci"], f"{claim}_") | {f"{claim}_p": own["pvalue_adjusted"]}
    columns |= {"median": result["median_speedup"], **bounds(result["median_speedup_ci"], "median_")}
    return frame_of(columns | {"tasks": result["n_tasks"]}, ["algorithm"])


def score_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: the score, both intervals, how many tasks it solves."""
    columns = {"score": result["score"]}
    for claim in result["task_effect"].to_numpy().tolist():
        columns |= bounds(result["score_ci"].sel(task_effect=claim, drop=True), f"{claim}_")
    return frame_of(columns | {"solved": result["n_reached"]}, ["algorithm"])
