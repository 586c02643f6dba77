"""The sentences about differences along the budget, over several tasks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats
from xcurves.core import provenance
from xcurves.core.labels import each_of, named_tasks
from xcurves.core.schema import Statement, statements
from xcurves.kernels.over_tasks.task_flips import NO_BAND, SUBSET_MEANS
from xcurves.multi_task.task_options import say_levels
from xcurves.multi_task.too_few import noun_of
from xcurves.say.numbers import count, joined, pvalue
from xcurves.say.pairs import lower_is_better

_FEW = 3  # pairs of which each has a sentence
_NAMED = 2  # pairs that an answer names


def aggregate_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield where pairs differ, the largest difference first; every pair; and what the bands mean."""
    task = noun_of(result)
    pairs = [(name, pair) for benchmark, name in named_tasks(result, "n_tasks") for pair in each_of(benchmark, "pair")]
    claims = []
    if len(pairs) <= _FEW:
        claims = [name + _profile_claim(pair) for name, pair in pairs]
    details = [*claims, *say_levels(result), *_about_bands(result, task)]
    if len(pairs) == 1:
        return statements(claims[0], details[1:])
    return statements(_over_pairs(pairs, task), details)


def _over_pairs(pairs: list[tuple[str, xr.Dataset]], task: str) -> str:
    """Return where some of several pairs differ, the largest difference first, and how many others do or do not."""

    def largest(named: tuple[str, xr.Dataset]) -> float:
        return float(abs(named[1]["difference"]).max().fillna(-np.inf))

    shown = []
    for name, pair in sorted(pairs, key=lambda named: -largest(named)):
        where = _where(pair)
        if where:
            shown.append(f"{name}{where}")
    n_more = len(shown) - _NAMED
    n_rest = len(pairs) - len(shown)
    parts = shown[:_NAMED]
    if n_more == 1:
        parts.append("and 1 more pair differs")
    elif n_more > 1:
        parts.append(f"and {n_more} more pairs differ")
    if not shown:
        parts.append(f"none of {len(pairs)} pairs is shown to differ at any fraction of the budget")
    elif n_rest:
        parts.append(f"{n_rest} of {len(pairs)} pairs are not shown to differ anywhere")
    return f"Over {task}s like these, {'; '.join(parts)}."


def _about_bands(result: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what the bands mean, where they begin, and why there is none."""
    yield (
        f"p and intervals of differences hold for all fractions of all pairs together, and for {task}s like these; the "
        f"bands of mean curves along the whole curve, for these {task}s."
    )
    known = result["mean_curve"].notnull()
    begun = known["budget_fraction"].to_numpy()[known.any([dim for dim in known.dims if dim != "budget_fraction"])]
    if begun.size and begun[0] > result["budget_fraction"][0]:
        begins = f"{100 * begun[0]:.0f} %"
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


def _profile_claim(pair: xr.Dataset) -> str:
    """Return where a pair differs, with the smallest p."""
    n = count(pair["n_tasks"].item(), noun_of(pair))
    smallest = pair["pvalue_adjusted"].min().item()
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if np.isnan(smallest):
        return f"{pair['pair'].item()}: nothing can be said of {n}."
    verdict = _where(pair) or f"{a} and {b} are not shown to differ at any fraction of the budget"
    return f"Over {n} like these, {verdict} (smallest adjusted {pvalue(smallest)})."


def _where(pair: xr.Dataset) -> str:
    """Return at which fractions of the budget, or on their mean only, either of a pair is better; "" if at none."""
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
        stretches = _stretches(at, marked)
        if stretches:
            parts.append(f"{is_better} at {joined(stretches)} of the budget")
    on_mean = bool(provenance.significant(pair["mean_pvalue_adjusted"].item(), alpha))
    if parts and not on_mean:
        parts[-1] += ", not on the mean of training"
    if not parts and on_mean and len(d):
        is_better = if_less
        if d.mean() > 0:
            is_better = if_more
        parts.append(f"{is_better} on the mean of training only")
    return " and ".join(parts)


def _stretches(at: Floats, marked: Bools) -> list[str]:
    """Return the stretches of marked fractions in per cent: "30 to 100 %", "5 %"."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
    stretches = []
    for start, stop in edges.reshape(-1, 2).tolist():
        first, last = f"{100 * at[start]:.0f}", f"{100 * at[stop - 1]:.0f}"
        if first == last:
            stretches.append(f"{first} %")
        else:
            stretches.append(f"{first} to {last} %")
    return stretches
