"""The sentences about differences along the budget, over several tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.labels import each_of
from xcurves.core.schema import About, Statement
from xcurves.kernels.over_tasks.task_flips import NO_BAND, SUBSET_MEANS
from xcurves.multi_task.task_options import say_levels
from xcurves.multi_task.too_few import noun_of
from xcurves.say.compared_pairs import Compared
from xcurves.say.numbers import capitalized, count, counts, joined, percent, pvalue, stretches
from xcurves.say.pairs import lower_is_better, sides_of

_FEW = 3  # pairs of which each has a sentence
_NAMED = 2  # pairs that an answer names


def untested(part: xr.Dataset) -> dict[frozenset[str], str]:
    """Return why pairs have no p, if they have none."""
    tasks = [count(n, noun_of(part)) for n in part["n_tasks"].to_numpy().tolist()]
    return {
        frozenset(sides): f"they share {n}, too few for a p" for sides, n in zip(sides_of(part), tasks, strict=True)
    }


def about(part: xr.Dataset) -> About:
    """Return over how many tasks means are, and in front where along the budget pairs differ."""
    n_tasks = {int(n) for n in part["n_tasks"].to_numpy().tolist() if n} or {0}
    over = f"over {counts(n_tasks, noun_of(part))}"
    if part["pvalue_adjusted"].isnull().all():
        return About(over=over)
    return About(before=[f"{capitalized(over)} like these, {_where_pairs_differ(part)}."])


def _where_pairs_differ(part: xr.Dataset) -> str:
    """Return where pairs differ, the largest difference first, and how many others do or do not."""
    pairs = list(each_of(part, "pair"))
    if len(pairs) == 1:
        return _of_pair(pairs[0])
    pairs.sort(key=lambda pair: -float(abs(pair["difference"]).max().fillna(-np.inf)))
    shown = [where for where in map(_where, pairs) if where]
    if not shown:
        return f"none of {len(pairs)} pairs is shown to differ at any fraction of the budget"
    parts = shown[:_NAMED]
    n_more = len(shown) - _NAMED
    if n_more > 0:
        parts.append(f"and {count(n_more, 'more pair differs', 'more pairs differ')}")
    if len(shown) < len(pairs):
        parts.append(f"{len(pairs) - len(shown)} of {len(pairs)} pairs are not shown to differ anywhere")
    return "; ".join(parts)


def each_pair(part: xr.Dataset, _: Sequence[Compared]) -> Iterator[Statement]:
    """Yield where each of a few pairs differs."""
    if 1 < part.sizes["pair"] <= _FEW:
        for pair in each_of(part, "pair"):
            yield Statement("detail", f"{_of_pair(pair)}.")


def about_bands(result: xr.Dataset) -> Iterator[str]:
    """Yield what the bands mean, where they begin, and why there is none."""
    task = noun_of(result)
    yield from say_levels(result)
    yield (
        f"p and intervals of differences hold for all fractions of all pairs together, and for {task}s like these; the "
        f"bands of mean curves along the whole curve, for these {task}s."
    )
    known = result["mean_curve"].notnull()
    begun = known["budget_fraction"].to_numpy()[known.any([dim for dim in known.dims if dim != "budget_fraction"])]
    if begun.size and begun[0] > result["budget_fraction"][0]:
        begins = percent(begun[0], 2)
        yield f"Below {begins} of the budget some {task} has no score: fractions before that are left out."
    method = result["band_method"].where(result["n_tasks"] > 0)
    if (method == NO_BAND).any():
        yield (
            f"Of so few {task}s or families no band of the difference holds at all fractions together; the interval "
            "at a fraction by itself is result['difference_ci']."
        )
    if (method == SUBSET_MEANS).any():
        yield (
            f"Families of {task}s are unlike in weight, or few: the band of the difference is that of subset means, at "
            "a level divided by the number of fractions."
        )
    if result["mean_curve_band"].isnull().all():
        yield f"Mean curves have no band: a {task} has a single run, or runs are too few for a finite one."


def _of_pair(pair: xr.Dataset) -> str:
    """Return where a pair differs, with the smallest p."""
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    smallest = pair["pvalue_adjusted"].min().item()
    if np.isnan(smallest):
        return f"nothing can be said of {a} and {b} along the budget"
    verdict = _where(pair) or f"{a} and {b} are not shown to differ at any fraction of the budget"
    return f"{verdict} (smallest adjusted {pvalue(smallest)})"


def _where(pair: xr.Dataset) -> str:
    """Return at which fractions of the budget either of a pair is better; "" if at none."""
    known = pair.isel(budget_fraction=pair["pvalue_adjusted"].notnull().to_numpy())
    alpha = provenance.alpha_of(pair)
    shown = provenance.significant(known["pvalue_adjusted"].to_numpy(), alpha)
    d = known["difference"].to_numpy()
    at = known["budget_fraction"].to_numpy()
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    # Who is better where the first of the pair scores more, and where it scores less.
    if lower_is_better(pair):
        if_more, if_less = f"{b} is lower than {a}", f"{a} is lower than {b}"
    else:
        if_more, if_less = f"{a} is higher than {b}", f"{b} is higher than {a}"
    parts = []
    for is_better, marked in ((if_more, shown & (d > 0)), (if_less, shown & (d < 0))):
        if marked.any():
            parts.append(f"{is_better} at {joined(stretches(100 * at, marked, '.0f', ' %'))} of the budget")
    return " and ".join(parts)
