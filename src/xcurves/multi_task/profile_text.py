"""The sentences about differences along the budget, over several tasks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.labels import each_of, named_tasks
from xcurves.core.schema import Statement, statements
from xcurves.core.wording import joined, pvalue
from xcurves.kernels.moments import Floats
from xcurves.kernels.task_flips import NO_BAND, SUBSET_MEANS
from xcurves.multi_task.text import named_pairs_by_size

_FEW = 3  # pairs of which each has a sentence
_NAMED = 2  # pairs that an answer names


def aggregate_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield where every pair differs, then what the bands mean."""
    for one, name in named_tasks(result, "n_tasks") if result["n_tasks"].size <= _FEW else []:
        for pair in each_of(one, "pair"):
            yield name + _profile_claim(pair)
    yield (
        "p and the band of a difference hold for all fractions of the budget together, and for tasks like these; each "
        "pair by itself. The bands of mean curves hold along the whole curve, for these tasks."
    )
    known = result["mean_curve"].notnull()
    begun = known["budget_fraction"].to_numpy()[known.any([dim for dim in known.dims if dim != "budget_fraction"])]
    if begun.size and begun[0] > result["budget_fraction"][0]:
        yield f"Below {100 * begun[0]:.0f} % of the budget some task has no score: fractions before that are left out."
    method = result["band_method"].where(result["n_tasks"] > 0)
    if (method == NO_BAND).any():
        yield (
            "Of so few tasks or families no band of the difference holds at all fractions together; the interval at a "
            "fraction by itself is result['difference_ci']."
        )
    if (method == SUBSET_MEANS).any():
        yield (
            "Families of tasks are unlike in weight, or few: the band of the difference is that of subset means, at a "
            "level divided by the number of fractions."
        )
    if result["mean_curve_band"].isnull().all():
        yield "Mean curves have no band: a task has a single run, or runs are too few for a finite one."


def aggregate_answer(result: xr.Dataset) -> str:
    """Return in one sentence where pairs differ."""
    pairs = named_pairs_by_size(result, "n_tasks")
    if len(pairs) == 1:
        return pairs[0][0] + _profile_claim(pairs[0][1])
    said = [f"{name}{where}" for name, pair in pairs if (where := _where(pair))]
    shown = [f"{joined(said, '; ', _NAMED)}{' pairs' * (len(said) > _NAMED)}"] * bool(said)
    rest = [f"{len(pairs) - len(said)} of {len(pairs)} pairs are not shown to differ at any fraction"]
    return f"Over tasks, {'; '.join([*shown, *rest * (len(said) < len(pairs))])}."


def _profile_claim(pair: xr.Dataset) -> str:
    """Return where a pair differs, with the smallest p."""
    n, smallest = pair["n_tasks"].item(), pair["pvalue_adjusted"].min().item()
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if smallest != smallest:
        return f"{pair['pair'].item()}: nothing can be said of {n} tasks."
    verdict = _where(pair) or f"{a} and {b} are not shown to differ at any fraction of the budget"
    return f"Over {n} tasks {verdict} (smallest adjusted {pvalue(smallest)})."


def _where(pair: xr.Dataset) -> str:
    """Return at which fractions of the budget either of a pair scores higher; "" if at none."""
    known = pair.isel(budget_fraction=pair["pvalue_adjusted"].notnull().to_numpy())
    shown = provenance.significant(known["pvalue_adjusted"].to_numpy(), provenance.alpha_of(pair))
    d, at = known["difference"].to_numpy(), known["budget_fraction"].to_numpy()
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    return " and ".join(
        f"{first} scores higher than {second} at {_stretches(at, marked)} of the budget"
        for first, second, marked in ((a, b, shown & (d > 0)), (b, a, shown & (d < 0)))
        if marked.any()
    )


def _stretches(at: Floats, marked: Floats) -> str:
    """Return stretches of neighbouring fractions that are marked, in percent."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
    parts = [
        f"{100 * at[start]:.0f} %" if stop - start == 1 else f"{100 * at[start]:.0f} to {100 * at[stop - 1]:.0f} %"
        for start, stop in edges.reshape(-1, 2).tolist()
    ]
    return joined(parts)


def aggregate_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield where pairs differ, every pair, and what the bands mean."""
    return statements(aggregate_answer(result), aggregate_sentences(result))
