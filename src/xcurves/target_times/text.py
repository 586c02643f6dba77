"""The sentences and tables about times, speed-ups and performance profiles."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import islice

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of
from xcurves.core.wording import (
    count,
    decimals_of,
    ends_of,
    estimated,
    interval,
    joined,
    listed,
    number,
    pvalue,
    quantity,
    rounded,
    unadjusted_over_tasks,
    units_of,
)
from xcurves.target_times.display import (
    DIRECTION,
    DISPLAYED,
    displayed,
    ends_of_ratio,
    heading,
    is_one_sided,
    say_limits,
    say_ratio,
)

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
_TOGETHER = "Intervals and p hold for all comparisons with the reference together; those of a median task by itself."
_FALLS = "has been better before its last level than there: consider target="


class Reason(IntEnum):
    """Why there is no estimate."""

    ESTIMATED = 0
    NOT_REACHED_WITHIN_ITS_BUDGET = 1
    THERE_FROM_ITS_FIRST_LEVEL_ON = 2
    NOT_REACHED_BY_THE_REFERENCE_WITHIN_ITS_BUDGET = 3
    REFERENCE_IS_THERE_FROM_ITS_FIRST_LEVEL_ON = 4
    FEWER_THAN_TWO_RUNS = 5
    NO_LEVELS_IN_COMMON = 6
    NO_RUN_REACHES_IT = 7
    LAST_LEVEL_OF_THE_REFERENCE_IS_0 = 8
    NOT_COMPARED = 9

    @property
    def words(self) -> str:
        """The reason as sentences have it."""
        return self.name.lower().replace("_", " ")


def _cells(result: xr.Dataset, where: xr.DataArray) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the cells where something holds with their words: "task 'x', sac"."""
    for cell in np.argwhere(where.to_numpy()).tolist():
        places = dict(zip(where.dims, cell, strict=True))
        one = result.isel(places)
        said = [
            f"{dim} {result[dim][place].item()!r}"
            for dim, place in places.items()
            if dim != "algorithm"
        ]
        if not one["algorithm"].dims:
            said.append(str(one["algorithm"].item()))
        yield ", ".join(said), one


def _sorted(
    result: xr.Dataset, name: str, sign: int = 1
) -> list[tuple[str, xr.Dataset]]:
    """Return all cells with their words, the smallest value of a variable (times `sign`) first, unknown ones last."""
    cells = _cells(result, xr.ones_like(result[name], bool))
    return sorted(
        cells,
        key=lambda cell: np.nan_to_num(
            sign * cell[1][name].item(), nan=np.inf, posinf=1e308
        ),
    )


def _why(one: xr.Dataset) -> str:
    return Reason(int(one["reason"].item())).words


def time_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield when each mean curve reaches the target."""
    said = []
    for name, one in _sorted(result, "time"):
        time, units = one["time"].item(), units_of(one["time"])
        low, high = ends_of_ratio(one["time_ci"])
        if np.isfinite(time):
            said.append(f"{name} at {estimated(time, low, high, units)}")
        else:
            said.append(f"{name}: {_why(one)} ({interval(low, high)})")
    sign = "at least" if result.attrs.get("higher_is_better", 1) else "at most"
    answer = f"The mean score is {sign} {result.attrs['target']}: {joined(said, '; ', max(_MOST, 7 - len(said)))}."
    yield from statements(answer, _ended_early(result), [_SKEWED])


def speedup_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how much sooner each algorithm is than the reference."""
    attrs, reference, joins = (
        result.attrs,
        result.attrs["reference"],
        "median_speedup" in result,
    )
    result = displayed(result)
    compared = [
        cell
        for cell in _sorted(result, "speedup", -1)
        if joins or cell[1]["reason"] != Reason.NOT_COMPARED
    ]
    if not compared:
        answer = f"Nothing is compared with {reference}: no other algorithm has runs where it has some."
        yield from statements(answer)
        return
    if joins:
        task = str(attrs["task"])
        said = [f"{name}: {_over_tasks(one, task)}" for name, one in compared]
        details = [
            f"{name}: {text}."
            for name, one in compared
            for text in _of_tasks(one, task)
        ][:_LINES]
    else:
        compared.sort(key=lambda cell: not cell[1]["shown"])
        said = [f"{name}: {_comparison(one)}" for name, one in compared]
        details = [
            *_to_rise(result, compared),
            *(f"{text}." for text in said[_MOST : _MOST + _LINES]),
        ]
        if any(_is_too_flat(one) for _, one in compared):
            details.append(_TOO_FLAT)
        if attrs.get("of_times"):
            details.append(_NO_INTERVAL)
        noun = labels.task_noun(result["speedup"], ("algorithm",))
        details += unadjusted_over_tasks(
            result["speedup"].size // result.sizes.get("algorithm", 1), noun
        )
    if result.sizes.get("algorithm", 1) > 1 and not attrs.get("of_times"):
        details.append(_TOGETHER)
    cautions = []
    if "target" not in attrs and not attrs.get("of_times"):
        cautions.append(_NO_INVERSE)
    if (result["reference_falls"] > 0).any():
        cautions.append(f"{reference} {_FALLS}.")
    mean = f", geometric mean over {attrs['task']}s" if joins else ""
    answer = f"Against {reference}{_level(result)}{mean}: {joined(said, '; ', _MOST)}."
    yield from statements(answer, [*details, *_ended_early(result)], cautions)


def _level(result: xr.Dataset) -> str:
    """Return what is to be reached, of one task with the time that the reference takes."""
    attrs, times = result.attrs, result["reference_time"]
    if attrs.get("of_times"):
        return ", in the given times"
    single = times.size == 1 and bool(np.isfinite(times).all())
    when = f"at {quantity(times.item(), units_of(result['time']))}" if single else ""
    if "target" in attrs:
        return f", to {attrs['target']}" + (
            f" (which it reaches {when})" if single else ""
        )
    level = f", to the last mean score of {attrs['reference']}"
    return level + (
        f" ({number(result['reference_level'].item())} {when})" if single else ""
    )


def _is_too_flat(one: xr.Dataset) -> bool:
    """Return whether an estimate stands without any limit: nothing else but slope and noise is the reason."""
    low, high = ends_of_ratio(one[DISPLAYED])
    return bool(one["reason"] == Reason.ESTIMATED and np.isinf(low) and np.isinf(high))


def _to_rise(
    result: xr.Dataset, compared: list[tuple[str, xr.Dataset]]
) -> Iterator[str]:
    """Yield the speed-ups to where the reference had most of its rise, if one to its last level is open at an end."""
    if "rise_speedup" not in result:
        return
    if not any(is_one_sided(one[DISPLAYED]) for _, one in compared):
        return
    said = []
    for name, one in compared:
        low, high = ends_of_ratio(one["rise_speedup_ci"])
        if np.isnan(low) and np.isnan(high):
            continue
        sooner = ""
        if not low <= 1 <= high:
            gain = one["rise_reference_time"].item() - one["rise_time"].item()
            sooner = _amount(gain, units_of(one["rise_time"]))
        said.append(
            f"{name} {say_ratio(one['rise_speedup'].item(), one['rise_speedup_ci'])}{sooner}"
        )
    if not said:
        return
    where = ""
    if result["rise_level"].size == 1:
        time = quantity(
            result["rise_reference_time"].item(), units_of(result["rise_time"])
        )
        where = f" ({number(result['rise_level'].item())} at {time})"
    yield f"To the level where {result.attrs['reference']} had 90 % of its rise{where}: {joined(said, '; ', _LINES)}."


def _amount(gain: float, units: str) -> str:
    """Return how much sooner in units of training, behind a comma: ", 6,900 steps sooner"."""
    if not np.isfinite(gain) or gain == 0:
        return ""
    word, size = ("sooner" if gain > 0 else "later"), quantity(abs(gain), units)
    return f", {size} {word}" if units != "1" else f", {word} by {size}"


def _comparison(one: xr.Dataset) -> str:
    """Return what is said of one comparison in one task."""
    is_shown, p = bool(one["shown"]), one["pvalue_adjusted"].item()
    said = say_ratio(one["speedup"].item(), one[DISPLAYED], shown=is_shown)
    if one["reason"] != Reason.ESTIMATED:
        said = f"{_why(one)}, {said}"
    if np.isnan(p):
        return said
    if not is_shown:
        return f"{said}, not shown to differ, {pvalue(p)}"
    gain = _amount(
        one["reference_time"].item() - one["time"].item(), units_of(one["time"])
    )
    word = ", sooner" if one[DIRECTION] > 0 else ", later"
    return f"{said}{gain or word}, {pvalue(p)}"


def _over_tasks(one: xr.Dataset, task: str) -> str:
    """Return both claims of one algorithm, or its median task where there is no mean."""
    n, ratio = one["n_tasks"].item(), one["speedup"].item()
    if not n:
        return f"no {task} says anything"
    said = ""
    if np.isnan(ratio):
        bound = f"{number(one['n_censored'].item())} of {count(n, task)} bound the ratio on one side only"
        said = (
            "".join(f"{text}; " for text in _median(one, task)) + f"no mean, as {bound}"
        )
    claims, decimals = [], []
    for claim, where in (
        ("fixed", f"these {task}s"),
        ("random", f"{task}s like these"),
    ):
        own = one.sel(task_effect=claim) if claim in one["task_effect"] else None
        if own is not None and own[DISPLAYED].notnull().all():
            limits = say_limits(own[DISPLAYED], ratio, shown=bool(own["shown"]))
            claims.append(f"{where}: {limits}, {pvalue(own['pvalue_adjusted'].item())}")
            decimals.append(decimals_of(*ends_of_ratio(own[DISPLAYED]), ratio))
    if not said:
        supported = [each for each in decimals if each is not None]
        said = f"{rounded(ratio, max(supported) if supported else None)} times as fast"
    return said + (f" ({'; '.join(claims)})" if claims else "")


def _median(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the ratio in the median task, unless nothing bounds it."""
    ends = ends_of_ratio(one["median_speedup_ci"])
    if np.isfinite(ends).any():
        yield f"in the median {task} {say_ratio(one['median_speedup'].item(), one['median_speedup_ci'])}"


def _of_tasks(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the median task, and which tasks are bounded or say nothing."""
    if one["speedup"].notnull():  # otherwise the answer has it
        yield from _median(one, task)
    if task in one["reason"].dims:
        codes, names = one["reason"].to_numpy(), one[task].to_numpy()
        for reason in Reason:
            mine = names[codes == reason].tolist()
            if mine and reason not in (Reason.ESTIMATED, Reason.NOT_COMPARED):
                yield f"{reason.words} in {count(len(mine), task)} ({listed(mine, 4)})"
        silent = int((codes != Reason.NOT_COMPARED).sum()) - int(one["n_tasks"].item())
        if silent > 0:
            yield f"without {count(silent, task)} that neither reaches"


def score_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the scores of performance profiles, and which differences are shown for tasks like these."""
    task, p = result.attrs["task"], result["pvalue_adjusted"].to_numpy()
    said = [
        f"{name} {estimated(one['score'].item(), *ends_of(one['score_ci'].sel(task_effect='random')))}"
        for name, one in _sorted(result, "score", -1)
    ]
    n_shown, n_pairs = (
        int(provenance.significant(p, provenance.alpha_of(result)).sum()),
        int((~np.isnan(p)).sum()),
    )
    best = f"Highest score up to {number(result.attrs['tau_max'])} times the best: {joined(said[:_MOST])}"
    verb = "is" if n_shown == 1 else "are"
    pairs = f"{n_shown} of {count(n_pairs, 'pair')} {verb} shown to differ"
    differ = f"{pairs} on {task}s like these (p adjusted over pairs)."
    details = [differ]
    if len(said) > _MOST:
        details.append(f"Then {joined(said[_MOST:])}.")
    caution = "A score depends on who takes part: the best of them on a task defines its unit."
    yield from statements(
        f"{best}; intervals are for {task}s like these.", details, [caution]
    )


def _ended_early(result: xr.Dataset) -> Iterator[str]:
    """Yield where the first curve that is cut ends, and how many more are."""
    cut = result["n_ended_early"] > 0
    for words, one in islice(_cells(result, cut), 1):
        n, last = (
            one["n_ended_early"].item(),
            quantity(one["training_last"].item(), units_of(one["training_last"])),
        )
        ends = f"{number(n)} of its {number(one['n_runs'].item())} runs {'end' if n > 1 else 'ends'}"
        sentence = f"{words} is read up to {last}: {ends} earlier than others"
        if cut.sum() > 1:
            sentence += f" (so {int(cut.sum()) - 1} more)"
        yield f"{sentence}."


def described(result: xr.Dataset, *, lazy: bool) -> xr.Dataset:
    """Say what the numbers of `reason` mean, as CF does; warn of what a computed result has, of each thing once."""
    result["reason"].attrs["flag_meanings"] = " ".join(
        each.name.lower() for each in Reason
    )
    if lazy:
        return result
    beyond = result["reason"] == Reason.NO_RUN_REACHES_IT
    for words, one in islice(_cells(result, beyond), 1):
        more = ""
        if beyond.sum() > 1:
            more = f" (in {int(beyond.sum())} comparisons)"
        best = quantity(one["score_best"].item(), units_of(one["score_best"]))
        provenance.warn(
            f"{words}: no run reaches the target (the best score is {best}), so that nothing is said of times{more}. "
            "Name another one"
        )
    for said in _ended_early(result):
        cure = "To read further, leave out by name the runs that crashed"
        if "target" in result.attrs:
            cure += ", or compare time_to_target() of runs that stop at the target"
        provenance.warn(f"{said} {cure}")
    if "reference_falls" in result and (result["reference_falls"] > 0).any():
        provenance.warn(f"{result.attrs['reference']} {_FALLS}")
    return result


def time_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: the time and its interval."""
    return frame_of(
        {"time": result["time"], **bounds(result["time_ci"])}, ["algorithm"]
    )


def speedup_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: speed-up, interval, p; of one task the time, over tasks both claims."""
    shown = displayed(result)
    columns = {"speedup": result["speedup"]}
    if "task_effect" not in result["speedup_ci"].dims:
        columns |= {**bounds(shown[DISPLAYED]), "p": result["pvalue_adjusted"]}
        reached = result["time"].where(np.isfinite(result["time"]))
        columns |= {
            "time": result["time"],
            "sooner_by": result["reference_time"] - reached,
        }
        if "rise_speedup" in result:
            columns |= {
                "speedup_90": result["rise_speedup"],
                **bounds(result["rise_speedup_ci"], "speedup_90_"),
            }
    else:
        for claim in result["task_effect"].to_numpy().tolist():
            own = shown.sel(task_effect=claim, drop=True)
            columns |= bounds(own[DISPLAYED], f"{claim}_") | {
                f"{claim}_p": own["pvalue_adjusted"]
            }
        columns |= {
            "median": result["median_speedup"],
            **bounds(result["median_speedup_ci"], "median_"),
        }
        columns["tasks"] = result["n_tasks"]
    frame = frame_of(columns, ["algorithm"])
    frame.attrs["interval"] = heading(result)
    return frame


def score_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: the score, both intervals, how many tasks it solves."""
    columns = {"score": result["score"]}
    for claim in result["task_effect"].to_numpy().tolist():
        columns |= bounds(
            result["score_ci"].sel(task_effect=claim, drop=True), f"{claim}_"
        )
    return frame_of(columns | {"solved": result["n_reached"]}, ["algorithm"])
