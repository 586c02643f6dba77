"""The sentences and the table of tuning curves, for readers who are not statisticians."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.schema import About, Statement
from xcurves.say.compared_pairs import Compared
from xcurves.say.numbers import count, counts, ends_of, estimated, interval, joined, listed, number, quantity, units_of
from xcurves.say.pairs import sides_of
from xcurves.say.result_frames import bounds, frame_of

_MOST_TASKS = 8  # that have a sentence each
_USUAL = 10  # trials that it is about, where there are as many
_SEEN = (
    "The best score seen contains selection on the noise of scores: validation scores that choose the best trial, "
    "given beside test scores, leave it out."
)
_MATCHES = ("trials_to_match", "trials_to_match_reversed")  # of the first of a pair, and of the second
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


def after_usual_trials(result: xr.Dataset) -> xr.Dataset:
    """Return a result at the number of trials that its answer is about, task by task; one algorithm makes no pair.

    It is the last up to ten of which every algorithm says enough, otherwise the first of which one does. Matched is the
    best after half as many, so that others may need more and still have them.
    """
    trials = result["trials"]
    known = result["best_median"].notnull()
    every, some = known.all("algorithm"), known.any("algorithm")
    says_enough = every.where(every.any("trials"), some)
    few = says_enough & (trials <= _USUAL)
    last = len(trials) - 1 - few.isel(trials=slice(None, None, -1)).argmax("trials")
    usual = last.where(few.any("trials"), says_enough.argmax("trials")).astype(int)
    after = result.isel(trials=usual)
    if "difference" not in result:
        none = np.array([], dtype=str)
        coords = {"pair": none, "algorithm_a": ("pair", none), "algorithm_b": ("pair", none)}
        return after.assign(
            difference=after["best_median"].isel(algorithm=[]).rename(algorithm="pair").drop_vars("pair")
        ).assign_coords(coords)
    if _MATCHES[0] not in result:
        return after
    half = (trials <= np.maximum(1, after["trials"] // 2)).sum("trials").clip(1) - 1
    matched = result.isel(trials=half)
    ends = {f"{name}_ci": matched[f"{name}_ci"].variable for name in _MATCHES}
    numbers = {name: matched[name].variable for name in _MATCHES}
    return after.assign(ends | numbers).assign(matched=matched["trials"].variable)


def best_of_trials(after: xr.Dataset) -> str:
    """Return what algorithms are compared by: "median best score of 6 trials"."""
    return f"median best score of {counts(np.unique(after['trials']).tolist(), 'trial')}"


def about(after: xr.Dataset) -> About:
    """Return all algorithms, and what is said where none can be compared: too few trials, or one algorithm."""
    if after["best_median"].isnull().all():
        return About(instead="There are too few trials to say how good the best of several is.")
    if after.sizes["algorithm"] == 1:
        return About(instead=_of_one(after))
    return About()


def _of_one(after: xr.Dataset) -> str:
    """Return how good the best of some trials of the only algorithm is."""
    median = after["best_median"].item()
    ends = (np.nan, np.nan)
    if "best_median_band" in after:
        ends = ends_of(after["best_median_band"].isel(algorithm=0))
    said = estimated(median, *ends, units_of(after["best_median"]))
    if np.isnan(ends).all():
        said = quantity(median, units_of(after["best_median"]))
    k = count(after["trials"].item(), "trial")
    return f"The best score of {k} of {after['algorithm'].item()} has a median of {said}."


def trials_that_match(after: xr.Dataset, made: Sequence[Compared]) -> Iterator[Statement]:
    """Yield how many trials others need to match the best."""
    best = made[0].best
    if best is None or _MATCHES[0] not in after:
        return
    needed = [
        _trials_to_match(pair, best, names)
        for names, pair in zip(sides_of(after), labels.each_of(after, "pair"), strict=True)
        if best in names
    ]
    known = [each for each in needed if each]
    if known:
        yield Statement("detail", f"{joined(known, '; ')}.")


def _trials_to_match(pair: xr.Dataset, best: str, names: tuple[str, str]) -> str:
    """Return what the other of a pair needs to match the best: "A needs 31 trials (20 to 55) to match the 5 of B"."""
    first, second = names
    name, other = _MATCHES[0], first
    if best == first:
        name, other = _MATCHES[1], second
    low, high = ends_of(pair[f"{name}_ci"])
    if np.isnan(low):
        return ""
    needed = pair[name].item()
    trials = f"{interval(low, high)} {'trial' if (low, high) == (1, np.inf) else 'trials'}"
    if np.isfinite(needed):
        trials = f"{count(needed, 'trial')} ({interval(low, high)})"
    return f"{other} needs {trials} to match the {number(pair['matched'].item())} of {best}"


def more_of_trials(result: xr.Dataset) -> Iterator[Statement]:
    """Yield how far the numbers of trials reach in each of a few tasks, and what the best score seen is."""
    named = list(labels.named_tasks(result, "n_trials", ["algorithm"]))
    if len(named) <= _MOST_TASKS:
        for task, name in named:
            for text in _reaches(task):
                yield Statement("detail", f"{name}{text}")
    if "difference_band_simultaneous" in result:
        yield Statement("detail", "Intervals hold for all numbers of trials together.")
    yield Statement("caution", _DRAWN)
    if "select" not in result.attrs:
        yield Statement("caution", _SEEN)


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
