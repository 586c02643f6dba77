"""The sentences about times, speed-ups and performance profiles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.schema import Statement, statements
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
from xcurves.target_times.cautions import cells_of, ended_early
from xcurves.target_times.readings import Reason

_MOST = 3  # algorithms that an answer names
_LINES = 6  # facts about tasks that a summary has
_COMPARED = 12  # comparisons that a summary lists
_WHY = {
    Reason.NOT_REACHED: "not reached within its budget",
    Reason.BETTER_FROM_FIRST: "there from its first level on",
    Reason.REFERENCE_NOT_REACHED: "not reached by the reference within its budget",
    Reason.REFERENCE_BETTER_FROM_FIRST: "the reference is there from its first level on",
    Reason.FEW_RUNS: "fewer than two runs",
    Reason.NO_LEVELS: "its runs have no levels in common",
    Reason.BEYOND: "no run reaches it",
    Reason.AT_ZERO: "the last level of the reference is 0",
    Reason.NOT_COMPARED: "not compared",
}
_SKEWED = "Intervals of a time of 0.95 hold 0.88 to 0.90 where runs are skewed; those of ratios hold theirs."
_SCOPE = (
    "A speed-up is at this level and this horizon: with a decaying learning rate a curve read early understates what a "
    "shorter schedule would have reached. Intervals hold the noise of runs, not the choice of the level."
)
_NO_INVERSE = (
    "The speed-up of a second algorithm over the first is not the inverse of this one: each is read at the other's "
    "last level."
)


def time_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield when each mean curve reaches the target."""
    said = []
    for name, one in _sorted(result, "time"):
        time, (low, high) = one["time"].item(), ends_of(one["time_ci"])
        known = f" at {quantity(time, units_of(one['time']))}" if np.isfinite(time) else f": {_why(one)}"
        said.append(f"{name}{known} ({interval(low or -np.inf, high)})")
    sign = "at least" if result.attrs.get("higher_is_better", 1) else "at most"
    answer = f"The mean score is {sign} {result.attrs['target']}: {joined(said, '; ', max(_MOST, 7 - len(said)))}."
    yield from statements(answer, [*_gaps(result, "time_gap", "Levels"), *_early(result)], [_SKEWED])


def _why(one: xr.Dataset) -> str:
    return _WHY[Reason(int(one["reason"].item()))]


def _early(result: xr.Dataset) -> list[str]:
    early, n = ended_early(result)
    return [*early, f"And {count(n - len(early), 'more curve')} are cut likewise."] if n > len(early) else early


def _gaps(result: xr.Dataset, name: str, what: str) -> list[str]:
    """Return in which intervals some values are rejected."""
    if name not in result or not (result[name] > 0).any():
        return []
    where = listed([words for words, one in cells_of(result, name) if one[name] > 0], 3)
    return [f"{what} within the interval of {where} are rejected."]


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
    answer, details = _over_tasks(result) if "median_speedup" in result else _by_task(result)
    if result.sizes.get("algorithm", 1) > 1 and details is not None:
        details.append("p is adjusted over algorithms (Holm); intervals are not.")
    falls = f"{result.attrs['reference']} has been better before its last level than there: consider target=."
    to_target = "target" in result.attrs or result.attrs.get("of_times")
    warned = [_SCOPE, *[falls] * bool((result["reference_falls"] > 0).any()), *[_NO_INVERSE] * (not to_target)]
    yield from statements(answer, [*(details or []), *_early(result)], [] if details is None else warned)


def _against(result: xr.Dataset) -> str:
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


def _by_task(result: xr.Dataset) -> tuple[str, list[str] | None]:
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
    return f"{_against(result)}: {what}.", [*details, *gaps, *unadjusted_over_tasks(n_tasks)]


def _is_shown(one: xr.Dataset, alpha: float) -> bool:
    return bool(provenance.significant(one["pvalue_adjusted"].item(), alpha))


def _comparison(one: xr.Dataset, alpha: float) -> str:
    """Return what is said of one comparison."""
    ratio, p, (low, high) = one["speedup"].item(), one["pvalue_adjusted"].item(), ends_of(one["speedup_ci"])
    if np.isnan(low):
        return f"no interval: {_why(one)}" if np.isnan(ratio) else f"{_bare(ratio)} (no interval)"
    anything = "any ratio is possible" if np.isnan(ratio) else f"{_bare(ratio)} (any ratio is possible)"
    said = anything if _is_open(one["speedup_ci"]) else ratio_words(ratio, low, high)
    said += f" ({_why(one)})" if np.isnan(ratio) else ""
    if np.isnan(p):
        return said
    return f"{said}{'' if _is_shown(one, alpha) else ', not shown to differ'}, {pvalue(p)}"


def _bare(ratio: float) -> str:
    return ratio_words(ratio, 1, 1).partition(" (")[0]


def _is_open(bounds: xr.DataArray) -> bool:
    """Return whether an interval holds every ratio."""
    return ends_of(bounds) == (0, np.inf)


def _over_tasks(result: xr.Dataset) -> tuple[str, list[str]]:
    """Return the answer and details of geometric means over tasks."""
    task, cells = result.attrs["task"], _sorted(result, "speedup", -1)
    said = joined([_claims(name, one, task) for name, one in cells], "; ", _MOST)
    details = [f"{name}: {text}." for name, one in cells for text in _of_tasks(one, task)]
    if len(details) > _LINES:
        more = f"And {len(details) - _LINES} more such facts; the table has a row for each algorithm."
        details = [*details[:_LINES], more]
    claims = (
        f"For these {task}s (fixed): had other runs been made on these very {task}s. For {task}s like these (random): "
        f"had other {task}s been drawn from where these come from."
    )
    return f"{_against(result)}, geometric mean over {task}s: {said}.", [*details, claims]


def _claims(name: str, one: xr.Dataset, task: str) -> str:
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
    why = (
        f"as {number(censored)} of {count(n, task)} {'bounds' if censored == 1 else 'bound'} the ratio on one side only"
    )
    if not _has_median(one):
        return f"{name}: no mean, {why} ({'; '.join(said)})"
    return f"{name}: {_median(one, task)}; no mean, {why}"


def _has_median(one: xr.Dataset) -> bool:
    return bool(one["median_speedup_ci"].notnull().all()) and not _is_open(one["median_speedup_ci"])


def _median(one: xr.Dataset, task: str) -> str:
    return f"in the median {task} {ratio_words(one['median_speedup'].item(), *ends_of(one['median_speedup_ci']))}"


def _of_tasks(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the median task, and which tasks are bounded or say nothing."""
    if _has_median(one) and one["speedup"].notnull():  # otherwise the answer has it
        yield _median(one, task)
    if task not in one["reason"].dims:
        return
    codes, labels = one["reason"].to_numpy(), one[task].to_numpy()
    for code, why in _WHY.items():
        mine = labels[codes == code].tolist()
        if mine and code != Reason.NOT_COMPARED:
            yield f"{why} in {count(len(mine), task)} ({listed(mine, 4)})"
    silent = int((codes != Reason.NOT_COMPARED).sum()) - int(one["n_tasks"].item())
    if silent > 0:
        yield f"without {count(silent, task)} that neither reaches"


def profile_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the scores of performance profiles, and which differences are shown for tasks like these."""
    task, p = result.attrs["task"], result["pvalue_adjusted"].to_numpy()
    scores = [
        (name, one["score"].item(), ends_of(one["score_ci"].sel(task_effect="random")))
        for name, one in _sorted(result, "score", -1)
    ]
    said = [f"{name} {number(score)} ({interval(*ends)})" for name, score, ends in scores]
    n_shown, n_pairs = int(provenance.significant(p, provenance.alpha_of(result)).sum()), int((~np.isnan(p)).sum())
    best = f"Highest score up to {number(result.attrs['tau_max'])} times the best: {joined(said[:_MOST])}"
    differ = f"{n_shown} of {count(n_pairs, 'pair')} are shown to differ on {task}s like these (p adjusted over pairs)."
    more = [f"Then {joined(said[_MOST:])}."] * (len(said) > _MOST)
    caution = "A score depends on who takes part: the best of them on a task defines its unit."
    yield from statements(f"{best}; intervals are for {task}s like these.", [differ, *more], [caution])
