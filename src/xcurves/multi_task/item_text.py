"""The sentences about answers that are right or wrong: where algorithms disagree, flips, noise of repeats."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.multi_task.too_few import noun_of, with_tasks
from xcurves.say.compared_pairs import Compared, beside
from xcurves.say.numbers import count, listed, number, percent
from xcurves.say.pairs import lower_is_better

_MOST = 10  # items that are named
_SAME = 1e-9  # shares that differ by rounding
_DECIMALS = 9


def item_sentences(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield how many items all, none or some get right, where they disagree most, flips, and the noise of repeats."""
    right = _shares_right(with_tasks(benchmark))
    noun = noun_of(benchmark)
    common = ~np.isnan(right).any(axis=1)
    if right.shape[1] < 2 or not common.any():
        return
    yield _how_many(right[common], noun)
    tasks = with_tasks(benchmark)[str(benchmark.attrs["task"])].to_numpy()
    yield from _most_apart(right[common], tasks[common].tolist(), noun)
    yield from _flips(benchmark, right, likes, noun)
    yield from _noise(benchmark, noun)


def _shares_right(benchmark: xr.Dataset) -> Floats:
    """Return the share of right answers, shape (item, algorithm); the result is shown in per cent."""
    mean = benchmark["task_mean"].transpose(str(benchmark.attrs["task"]), "algorithm")
    share: Floats = mean.to_numpy() / 100
    if lower_is_better(benchmark):
        share = 1 - share
    return share


def _how_many(right: Floats, noun: str) -> str:
    """Return how many items all algorithms, none and some get right."""
    n_all = int((right > 1 - _SAME).all(axis=1).sum())
    n_none = int((right < _SAME).all(axis=1).sum())
    who = f"All {right.shape[1]} algorithms"
    if right.shape[1] == 2:
        who = "Both algorithms"
    n_some = len(right) - n_all - n_none
    return (
        f"{who} get {number(n_all)} of {count(len(right), noun)} right, none gets {number(n_none)}, and they differ or "
        f"waver on {number(n_some)}."
    )


def _most_apart(right: Floats, items: list[object], noun: str) -> Iterator[str]:
    """Yield on which items algorithms disagree most, ten of them."""
    apart = right.var(axis=1).round(_DECIMALS)  # of those that rounding tells apart the first are named
    order = np.argsort(-apart, kind="stable")[:_MOST]
    chosen = [int(place) for place in order if apart[place] > _SAME]
    if not chosen:
        return
    # As many more disagree as much as the last that is named.
    least = apart[chosen[-1]]
    n_alike = int((apart >= least - _SAME).sum()) - len(chosen)
    more = ""
    if n_alike:
        more = f", as much as on {number(n_alike)} more"
    yield f"They disagree most on {noun}s {listed([items[place] for place in chosen])}{more}."


def _flips(benchmark: xr.Dataset, right: Floats, likes: Compared, noun: str) -> Iterator[str]:
    """Yield on how many items the best is right and the nearest beside it wrong, and the other way round."""
    best = likes.named_best
    rows = [row for row in likes.own_rows if best in row[:2]]
    if best is None or not rows:
        return
    other = beside(best, min(rows, key=lambda row: abs(row.amount)))
    names = [str(name) for name in benchmark["algorithm"].to_numpy().tolist()]
    difference = right[:, names.index(best)] - right[:, names.index(other)]
    n_better = int((difference > _SAME).sum())
    n_worse = int((difference < -_SAME).sum())
    if int(benchmark["n_runs"].max()) == 1:
        yield (
            f"{best} is right and {other} wrong on {count(n_better, noun)}, {other} right and {best} wrong on "
            f"{number(n_worse)}."
        )
    else:
        yield (f"{best} is right more often than {other} on {count(n_better, noun)}, less often on {number(n_worse)}.")


def _noise(benchmark: xr.Dataset, noun: str) -> Iterator[str]:
    """Yield which share of the variance of answers lies between repeats of an item, mean over algorithms."""
    sd, n_runs = benchmark["task_mean_sd"], benchmark["n_runs"]
    within = (sd**2).where(n_runs > 1)
    if within.isnull().all():
        return
    over = [dim for dim in within.dims if dim != "algorithm"]
    noise = within.mean(over)
    of_means = benchmark["task_mean"].where(n_runs > 1).var(over, ddof=1)
    between = (of_means - (within / n_runs).mean(over)).clip(min=0.0)
    total = noise + between
    share = (noise / total.where(total > 0)).mean("algorithm").item()
    if np.isnan(share):
        return
    yield (
        f"Of the variance of an algorithm's answers {percent(share, 2)} lies between repeats of the same {noun}, "
        f"the rest between {noun}s."
    )
