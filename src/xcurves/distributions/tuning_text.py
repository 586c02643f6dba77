"""The sentences and the table of tuning curves, for readers who are not statisticians."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.schema import Statement, statements
from xcurves.say.numbers import count, ends_of, estimated, interval, joined, listed, number
from xcurves.say.result_frames import bounds, frame_of

_MOST_TASKS = 8  # with an answer of tuning curves each
_USUAL = 10  # trials that it is about, where there are as many
_SEEN = (
    "The best score seen contains selection on the noise of scores: validation scores that choose the best trial, "
    "given beside test scores, leave it out."
)
_NOTHING = "There are too few trials to say how good the best of several is."
_DRAWN = "Trials are taken for independent draws, as random search makes them."


def tuning_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm and some numbers of trials: 1, 2, 5, 10, ..., and the last."""
    trials = result["trials"].to_numpy()
    round_numbers = np.outer(10 ** np.arange(9), [1, 2, 5])
    shown = result.isel(trials=np.isin(trials, round_numbers) | (trials == trials[-1]))
    columns = {"median best": shown["best_median"]}
    if "best_median_band" in shown:
        columns |= bounds(shown["best_median_band"])
    columns["mean best"] = shown["best_mean"]
    return frame_of(columns, ["algorithm", "trials"])


def tuning_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield who is ahead after some trials, each pair, each algorithm, and what the best score seen is."""
    named = list(labels.named_tasks(result, "n_trials", ["algorithm"]))
    cautions = [_DRAWN]
    if "select" not in result.attrs:
        cautions.append(_SEEN)
    if len(named) == 1:
        answer, matches = _ahead(named[0][0])
        return statements(answer, [*matches, *_reaches(named[0][0])], cautions)
    noun = labels.task_noun(result["n_trials"], ["algorithm"])
    details = []
    if len(named) <= _MOST_TASKS:
        details = [f"{name}{_ahead(task)[0]}" for task, name in named]
    answer = _best_of_tasks([task for task, _ in named], noun)
    return statements(answer, details, cautions)


def _usual_trials(result: xr.Dataset) -> int:
    """Return which number of trials to speak of, by its index.

    It is the last up to ten of which every algorithm says enough, otherwise the first of which one does.
    """
    known = result["best_median"].notnull()
    says_enough = known.any("algorithm")
    if known.all("algorithm").any():
        says_enough = known.all("algorithm")
    few = np.flatnonzero(says_enough & (result["trials"] <= _USUAL))
    if few.size:
        return int(few[-1])
    return int(says_enough.argmax("trials"))


def _best(result: xr.Dataset, at: int) -> xr.Dataset | None:
    """Return the algorithm with the best median after the number of trials `at` an index, with all its numbers."""
    if result["best_median"].isnull().all():
        return None
    upward = result["best_median"].isel(trials=at)
    if not result.attrs.get("higher_is_better", 1):
        upward = -upward
    best = upward.fillna(-np.inf).argmax("algorithm")
    return result.isel(algorithm=int(best))


def _ahead(result: xr.Dataset) -> tuple[str, list[str]]:
    """Return whose best score seen is best after some trials and by how much; how many trials others need to match."""
    usual = _usual_trials(result)
    best = _best(result, usual)
    if best is None:
        return _NOTHING, []
    name = best["algorithm"].item()
    after = best.isel(trials=usual)
    k = count(after["trials"].item(), "trial")
    median = number(after["best_median"].item())
    if "best_median_band" in after:
        ends = ends_of(after["best_median_band"])
        median = estimated(after["best_median"].item(), *ends)
    answer = f"After {k} the best score seen has a median of {median} for {name}"

    pairs = []
    if "difference" in result:
        pairs = [pair for pair in labels.each_of(result, "pair") if name in _sides(pair)]
    # Matched is the best after half as many trials, so that others may need more and still have them.
    most = max(1, after["trials"].item() // 2)
    half = int(np.flatnonzero(result["trials"] <= most).max(initial=0))
    behind = [_how_far_behind(pair.isel(trials=usual), name) for pair in pairs]
    needed = [_trials_to_match(pair.isel(trials=half), name) for pair in pairs]
    amounts = [each for each in behind if each]
    matches = [each for each in needed if each]

    if amounts:
        answer += f", ahead of {joined(amounts, most=4)}"
    if len(pairs) == 1 and amounts and matches:  # of one pair all is one sentence
        return f"{answer}; {matches[0]}.", []
    if len(pairs) == 1 or not matches:
        return f"{answer}.", []
    return f"{answer}.", [f"{joined(matches, '; ')}."]


def _sides(pair: xr.Dataset) -> tuple[object, object]:
    """Return both algorithms of a pair."""
    return pair["algorithm_a"].item(), pair["algorithm_b"].item()


def _other_side(pair: xr.Dataset, best: object) -> object:
    """Return the algorithm of a pair that is not the best."""
    first, second = _sides(pair)
    if first == best:
        return second
    return first


def _how_far_behind(pair: xr.Dataset, best: object) -> str | None:
    """Return how far the other of a pair is behind after some trials: "A by 0.018 (0.016 to 0.02)"."""
    difference = pair["difference"].item()
    if np.isnan(difference):
        return None
    behind = f"{_other_side(pair, best)} by {number(abs(difference))}"
    if "difference_band" not in pair:
        return behind

    # The band is of the first less the second: here of the best less the other, or the reverse where low is better.
    best_is_first = pair["algorithm_a"].item() == best
    higher = bool(pair.attrs.get("higher_is_better", 1))
    low, high = ends_of(pair["difference_band"], turned=best_is_first != higher)
    limits = interval(low, high)
    if low <= 0 <= high:
        limits += ", not shown"
    return f"{behind} ({limits})"


def _trials_to_match(pair: xr.Dataset, best: object) -> str | None:
    """Return what the other of a pair needs to match the best: "A needs 31 trials (20 to 55) to match B's 5"."""
    best_is_first = pair["algorithm_a"].item() == best
    name = "trials_to_match"
    if best_is_first:
        name = "trials_to_match_reversed"
    if name not in pair:
        return None
    ends = ends_of(pair[f"{name}_ci"])
    if np.isnan(ends[0]):
        return None
    needed = pair[name].item()
    trials = f"{interval(*ends)} trials".replace("at least 1 trials", "at least 1 trial")
    if np.isfinite(needed):
        trials = f"{count(needed, 'trial')} ({interval(*ends)})"
    return f"{_other_side(pair, best)} needs {trials} to match {best}'s {number(pair['trials'].item())}"


def _reaches(result: xr.Dataset) -> Iterator[str]:
    """Yield how far the numbers of trials reach."""
    names, n_trials = result["algorithm"].to_numpy(), result["n_trials"].to_numpy()
    for n in np.unique(n_trials).tolist():
        alike = names[n_trials == n].tolist()
        whose = listed(alike)
        each = ""
        if len(alike) > 1:
            each = " each"
        if n == 0:
            yield f"No trial of {whose}: nothing can be said."
            continue
        if n == 1:
            yield f"{count(n, 'trial')} of {whose}: nothing can be said."
            continue
        reach = int(np.log(0.5) / np.log(1 - 1 / n) + 1e-9)
        yield f"{count(n, 'trial')}{each} of {whose} say how good the median best is up to {count(reach, 'trial')}."


def _best_of_tasks(tasks: list[xr.Dataset], noun: str) -> str:
    """Return in how many tasks each algorithm has the best median."""
    numbers_of_trials = set()
    n_best = Counter[str]()
    for task in tasks:
        usual = _usual_trials(task)
        best = _best(task, usual)
        if best is not None:
            numbers_of_trials.add(best["trials"].to_numpy()[usual].item())
            n_best[str(best["algorithm"].item())] += 1
    if not n_best:
        return _NOTHING
    ks = sorted(numbers_of_trials)
    after = f"{listed(ks)} trials"
    if len(ks) == 1:
        after = count(ks[0], "trial")
    counts = listed([f"{name} in {number(times)}" for name, times in n_best.items()])
    return f"After {after} the median best score seen is best of {counts} of {len(tasks)} {noun}s."
