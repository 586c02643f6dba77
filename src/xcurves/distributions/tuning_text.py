"""The table, the sentences and the pictures of tuning curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of
from xcurves.core.wording import count, ends_of, interval, joined, label_of, listed, number
from xcurves.distributions.plots import draw_lines, limit_to, say_shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TASKS = 8  # with an answer each
_USUAL = 10  # trials that the answer is about, where there are as many
_SEEN = (
    "The best score seen contains selection on the noise of scores: validation scores that choose the best trial, "
    "given beside test scores, leave it out."
)
_NOTHING = "There are too few trials to say how good the best of several is."
_DRAWN = "Trials are taken for independent draws, as random search makes them."


def tuning_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm and some numbers of trials: 1, 2, 5, 10, ..., and the last."""
    trials = result["trials"].to_numpy()
    round_numbers = {int(digit * 10.0**power) for digit in (1, 2, 5) for power in range(9)}
    shown = result.isel(trials=[place for place, k in enumerate(trials) if k in round_numbers or k == trials[-1]])
    columns = {"median best": shown["best_median"]}
    columns |= bounds(shown["best_median_band"]) if "best_median_band" in shown else {}
    return frame_of(columns | {"mean best": shown["best_mean"]}, ["algorithm", "trials"])


def tuning_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield who is ahead after some trials, each pair, each algorithm, and what the best score seen is."""
    named = list(labels.named_tasks(result, "n_trials", ["algorithm"]))
    tasks = [task for task, _ in named]
    cautions = [_DRAWN, *[_SEEN] * ("select" not in result.attrs)]
    if len(tasks) == 1:
        return statements(_answer(tasks[0]), _details(tasks[0]), cautions)
    each = [f"{name}{_answer(task)}" for task, name in named]
    noun = labels.task_noun(result["n_trials"], ["algorithm"])
    return statements(_answer_of_tasks(tasks, noun), each if len(tasks) <= _MOST_TASKS else [], cautions)


def _best(result: xr.Dataset) -> tuple[int, xr.Dataset | None]:
    """Return the number of trials to speak of, by its place, and the algorithm with the best median there, if any.

    It is the last up to ten of which every algorithm says enough, otherwise the first of which one does.
    """
    known = result["best_median"].notnull()
    some = known.all("algorithm") if known.all("algorithm").any() else known.any("algorithm")
    few = np.flatnonzero(some & (result["trials"] <= _USUAL))
    place = int(few[-1] if few.size else some.argmax("trials"))
    values = result["best_median"].isel(trials=place) * (1 if result.attrs.get("higher_is_better", 1) else -1)
    return place, result.isel(algorithm=int(values.fillna(-np.inf).argmax("algorithm"))) if some.any() else None


def _answer(result: xr.Dataset) -> str:
    """Return whose best score seen is best after some trials, by how much, and how many trials another needs."""
    place, best = _best(result)
    if best is None:
        return _NOTHING
    own = best.isel(trials=place)
    limits = f" ({interval(*ends_of(own['best_median_band']))})" if "best_median_band" in own else ""
    k, value = count(own["trials"].item(), "trial"), number(own["best_median"].item())
    said = f"After {k} the best score seen has a median of {value}{limits} for {own['algorithm'].item()}"
    others = list(_others(result, best["algorithm"].item(), place))
    ahead = joined([each for each, _ in others if each], most=4)
    match = others[0][1] if len(others) == 1 and ahead else ""
    return f"{said}{f', ahead of {ahead}' if ahead else ''}{f'; {match}' if match else ''}."


def _others(result: xr.Dataset, best: object, place: int) -> Iterator[tuple[str, str]]:
    """Yield how far each other algorithm is behind, "A by 0.018 (0.016 to 0.02)", and what it needs to match the best.

    That is "A needs 31 trials (20 to 55) to match B's 5"; "" where it is not known.
    """
    half = int(np.flatnonzero(result["trials"] <= max(1, result["trials"].to_numpy()[place] // 2)).max(initial=0))
    for pair in labels.each_of(result, "pair") if "difference" in result else ():
        sides = [pair[side].item() for side in ("algorithm_a", "algorithm_b")]
        if best not in sides:
            continue
        first, here, there = best == sides[0], pair.isel(trials=place), pair.isel(trials=half)
        difference, ahead, match = here["difference"].item(), "", ""
        if not np.isnan(difference):
            ahead = f"{sides[first]} by {number(abs(difference))}"
        if ahead and "difference_band" in here:
            turned = first != bool(result.attrs.get("higher_is_better", 1))
            low, high = ends_of(here["difference_band"], turned=turned)
            ahead += f" ({interval(low, high)}{', not shown' if low <= 0 <= high else ''})"
        name = "trials_to_match" + "_reversed" * first
        if name in pair and not np.isnan(ends_of(there[f"{name}_ci"])[0]):
            needed, ends = there[name].item(), interval(*ends_of(there[f"{name}_ci"]))
            trials = f"{count(needed, 'trial')} ({ends})" if np.isfinite(needed) else f"{ends} trials"
            match = f"{sides[first]} needs {trials} to match {best}'s {number(there['trials'].item())}"
        yield ahead, match


def _details(result: xr.Dataset) -> Iterator[str]:
    """Yield how many trials others need to match the best one, and how far the numbers of trials reach."""
    place, best = _best(result)
    others = list(_others(result, best["algorithm"].item(), place)) if best is not None else []
    matches = [match for _, match in others if match]
    if len(others) > 1 and matches:
        yield f"{joined(matches, '; ')}."
    names, n_trials = result["algorithm"].to_numpy(), result["n_trials"].to_numpy()
    for n in np.unique(n_trials).tolist():
        alike = names[n_trials == n].tolist()
        whose, each = listed(alike), " each" * (len(alike) > 1)
        if n < 2:
            yield f"{count(n, 'trial') if n else 'No trial'} of {whose}: nothing can be said."
            continue
        reach = int(np.log(0.5) / np.log(1 - 1 / n) + 1e-9)
        yield f"{count(n, 'trial')}{each} of {whose} say how good the median best is up to {count(reach, 'trial')}."


def _answer_of_tasks(tasks: list[xr.Dataset], noun: str) -> str:
    """Return in how many tasks each algorithm has the best median."""
    best = [own.isel(trials=place) for place, own in map(_best, tasks) if own is not None]
    if not best:
        return _NOTHING
    ks = sorted({own["trials"].item() for own in best})
    tally = Counter(str(own["algorithm"].item()) for own in best)
    said = listed([f"{name} in {number(times)}" for name, times in tally.items()])
    after = count(ks[0], "trial") if len(ks) == 1 else f"{listed(ks)} trials"
    return f"After {after} the median best score seen is best of {said} of {len(tasks)} {noun}s."


def draw_best(result: xr.Dataset, ax: Axes) -> None:
    """Draw the median best score against the number of trials, with the band of all numbers together."""
    names = ["best_median", "best_median_band"]
    ends = [float(end) for end in str(result.attrs.get("bounds", "inf to inf")).split(" to ")]
    drawn = [result[name] for name in names if name in result]
    limits = limit_to(ax, *(each.where(~each.isin(ends)) for each in drawn))  # shades go on to bounds, out of sight
    draw_lines(ax, result, "trials", *names, limits=limits)
    _scale(ax, result, names[1])
    ax.set_ylabel(label_of(result["best_median"]))


def draw_difference(result: xr.Dataset, ax: Axes) -> None:
    """Draw the difference of median best scores of each pair against the number of trials, with its band."""
    if "difference" not in result:
        raise ValueError("one algorithm has no difference. Give scores of two: plot('best') draws one")
    ax.axhline(0, color="0.6", linewidth=1)
    draw_lines(ax, result, "trials", "difference", "difference_band", dim="pair")
    _scale(ax, result, "difference_band")
    ax.set_ylabel(label_of(result["difference"]))


def _scale(ax: Axes, result: xr.Dataset, band: str) -> None:
    """Let the x axis be numbers of trials, on a log scale; say what is shaded, if the band is there."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    trials = result["trials"].to_numpy()
    if len(trials) > 1:
        ax.set_xlim(trials[0], trials[-1])
    ax.set_xlabel(f"trials ({say_shade(result, 'simultaneous')})" if band in result else "trials")
