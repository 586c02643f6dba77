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


def _place(result: xr.Dataset) -> int:
    """Return the place of the number of trials to speak of: the last up to ten of which every algorithm says enough."""
    known = result["best_median"].notnull()
    some = known.all("algorithm") if known.all("algorithm").any() else known.any("algorithm")
    few = some & (result["trials"] <= _USUAL)
    places = np.flatnonzero(few if few.any() else some)
    return int(places[-1 if few.any() else 0]) if places.size else 0


def _leader(result: xr.Dataset, place: int) -> int | None:
    """Return the place of the algorithm with the best median, None if there is none."""
    values = result["best_median"].isel(trials=place).to_numpy()
    if np.isnan(values).all():
        return None
    return int(np.nanargmax(values) if result.attrs.get("higher_is_better", 1) else np.nanargmin(values))


def _answer(result: xr.Dataset) -> str:
    """Return whose best score seen is best after some trials, by how much, and how many trials another needs."""
    place = _place(result)
    best = _leader(result, place)
    if best is None:
        return "There are too few trials to say how good the best of several is."
    own = result.isel(algorithm=best, trials=place)
    limits = f" ({interval(*ends_of(own['best_median_band']))})" if "best_median_band" in own else ""
    k, value = count(own["trials"].item(), "trial"), number(own["best_median"].item())
    said = f"After {k} the best score seen has a median of {value}{limits} for {own['algorithm'].item()}"
    pairs = _with(result, best)
    ahead = joined([each for each in (_ahead(pair, best, place) for pair in pairs) if each], most=4)
    match = _to_match(pairs[0], best, place) if len(pairs) == 1 and ahead else ""
    return f"{said}{f', ahead of {ahead}' if ahead else ''}{f'; {match}' if match else ''}."


def _with(result: xr.Dataset, best: int) -> list[xr.Dataset]:
    """Return the pairs with one algorithm."""
    name = result["algorithm"].to_numpy()[best]
    pairs = labels.each_of(result, "pair") if "difference" in result else []
    return [pair for pair in pairs if name in (pair["algorithm_a"].item(), pair["algorithm_b"].item())]


def _ahead(pair: xr.Dataset, best: int, place: int) -> str:
    """Return the other one of a pair and how far it is behind: "A by 0.018 (0.016 to 0.02)"; "" if not known."""
    here = pair.isel(trials=place)
    difference = float(here["difference"].item())
    first = pair["algorithm"].to_numpy()[best] == pair["algorithm_a"].item()
    turned = first != bool(pair.attrs.get("higher_is_better", 1))
    other = here["algorithm_b" if first else "algorithm_a"].item()
    return "" if np.isnan(difference) else f"{other} by {number(abs(difference))}{_limits(here, turned=turned)}"


def _limits(here: xr.Dataset, *, turned: bool) -> str:
    """Return the band of a difference in brackets; that it holds 0 is said."""
    if "difference_band" not in here:
        return ""
    low, high = ends_of(here["difference_band"], turned=turned)
    return f" ({interval(low, high)}{', not shown' if low <= 0 <= high else ''})"


def _to_match(pair: xr.Dataset, best: int, place: int) -> str:
    """Return how many trials the other one of a pair needs: "A needs 31 trials (20 to 55) to match B's 5"."""
    algorithms = pair["algorithm"].to_numpy().tolist()
    leader, first = algorithms[best], algorithms[best] == pair["algorithm_a"].item()
    name = "trials_to_match_reversed" if first else "trials_to_match"
    half = int(np.flatnonzero(pair["trials"] <= max(1, pair["trials"].to_numpy()[place] // 2)).max(initial=0))
    if name not in pair or np.isnan(ends_of(pair[f"{name}_ci"].isel(trials=half))[0]):
        return ""
    needed, ends = pair[name].isel(trials=half).item(), interval(*ends_of(pair[f"{name}_ci"].isel(trials=half)))
    said = f"{count(needed, 'trial')} ({ends})" if np.isfinite(needed) else f"{ends} trials"
    behind = pair["algorithm_b" if first else "algorithm_a"].item()
    return f"{behind} needs {said} to match {leader}'s {number(pair['trials'].to_numpy()[half])}"


def _details(result: xr.Dataset) -> Iterator[str]:
    """Yield how many trials others need to match the best one, and how far the numbers of trials reach."""
    place = _place(result)
    best = _leader(result, place)
    matches = [_to_match(pair, best, place) for pair in _with(result, best)] if best is not None else []
    if len(matches) > 1 and any(matches):
        yield f"{joined([match for match in matches if match], '; ')}."
    names, n_trials = result["algorithm"].to_numpy().tolist(), result["n_trials"].to_numpy()
    for n in sorted(set(n_trials.tolist())):
        alike = [name for name, own in zip(names, n_trials, strict=True) if own == n]
        whose, each = listed(alike), " each" * (len(alike) > 1)
        if n < 2:
            yield f"{count(n, 'trial') if n else 'No trial'} of {whose}: nothing can be said."
            continue
        reach = int(np.log(0.5) / np.log(1 - 1 / n) + 1e-9)
        yield f"{count(n, 'trial')}{each} of {whose} say how good the median best is up to {count(reach, 'trial')}."


def _answer_of_tasks(tasks: list[xr.Dataset], noun: str) -> str:
    """Return in how many tasks each algorithm has the best median."""
    places = [_place(task) for task in tasks]
    known = [(task, place, _leader(task, place)) for task, place in zip(tasks, places, strict=True)]
    best = [(str(task["algorithm"].to_numpy()[each]), place) for task, place, each in known if each is not None]
    if not best:
        return "There are too few trials to say how good the best of several is."
    ks = sorted({int(tasks[0]["trials"].to_numpy()[place]) for _, place in best})
    tally = Counter(name for name, _ in best)
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
