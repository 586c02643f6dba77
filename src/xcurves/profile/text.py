"""The sentences about profiles: where along training the curves differ, and what that does not say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance
from xcurves.core.provenance import alpha_of
from xcurves.core.sentences import unadjusted_over_tasks

_LIMITS = (
    "A level that is not named is not shown to be equal. Where the curves still differ is known with this confidence, "
    "where a difference ends is not: that takes a margin. The edges of a cluster are no estimate of onset or end."
)
_UNTESTED = "Nothing was tested: the profile is descriptive."
_LISTED = 6  # stretches of levels that a sentence lists


def profile_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield sentences for each task, then what holds for all."""
    names = labels.result_names(result["fraction"], ("training",))
    for task, name in zip(labels.tasks_of(result, "fraction", ("training",)), names, strict=True):
        here = task.isel(training=task["ss"].notnull().all("effect").to_numpy())
        if here.sizes["training"] == 0:
            yield f"{name}Nothing can be said; there are no runs."
            continue
        if "pvalue_adjusted" in task:
            yield name + _differ(here)
            yield from (name + sentence for sentence in (*_clusters(here), *_reached(here)))
        else:
            yield name + _UNTESTED
        if "interval_fraction" in task:
            yield from (name + sentence for sentence in _intervals(here))
        if "equivalent" in task:
            yield name + _equivalent(here)
    if "pvalue_adjusted" in result and "n_resamples" in result.coords:
        yield _how(result)
    if "pvalue_adjusted" in result:
        yield _LIMITS
        yield from unadjusted_over_tasks(len(names))


def _reached(task: xr.Dataset) -> Iterator[str]:
    """Yield where half of the difference is reached, less what noise adds to it, if some level is shown to differ."""
    if task["fraction"].isnull().any():
        yield "The mean curves are equal at every training level."
        return
    shares = task["fraction_corrected"].to_numpy()
    if np.isnan(task["last_significant"].item()) or np.isnan(shares).any():
        return
    cumulative = shares.cumsum()
    half, most = (_amount(task["training"].to_numpy()[np.argmax(cumulative >= share - 1e-12)]) for share in (0.5, 0.9))
    yield (
        f"Half of the difference between the curves (simple sum of squares, less what noise adds) is reached by "
        f"training {half}, nine tenths by {most}."
    )


def _differ(task: xr.Dataset) -> str:
    alpha = alpha_of(task)
    marked = np.asarray(provenance.significant(task["pvalue_adjusted"].to_numpy(), alpha))
    if not marked.any():
        return f"No training level shows a difference at the {alpha:g} level, adjusted over levels."
    return (
        f"The curves differ at {_stretches(task, marked)} (at the {alpha:g} level, adjusted over levels); "
        f"with {100 * (1 - alpha):g} % confidence they still differ at {_amount(task['last_significant'].item())}."
    )


def _clusters(task: xr.Dataset) -> Iterator[str]:
    number = task["cluster"].to_numpy()
    for each in np.unique(number[~np.isnan(number)]):
        p = task["cluster_pvalue"].to_numpy()[number == each][0]
        if provenance.significant(p, alpha_of(task)):
            stretch = _stretches(task, number == each)
            yield f"Somewhere in the stretch of {stretch} the curves differ (cluster mass, p = {p:.3g})."


def _intervals(task: xr.Dataset) -> Iterator[str]:
    for i in range(task.sizes["interval"]):
        interval = task.isel(interval=i)
        share = interval["interval_fraction"].sel(effect="simple").item()
        pvalue = interval["interval_pvalue_adjusted"].item() if "interval_pvalue" in task else np.nan
        ends = " to ".join(_amount(interval[f"interval_{side}"].item()) for side in ("left", "right"))
        if share != share:
            yield f"Interval {ends}: nothing can be said; it has no training level, or the mean curves are equal."
            continue
        p = "" if pvalue != pvalue else f", p = {pvalue:.3g} adjusted"
        yield f"Interval {ends}: {100 * share:.3g} % of the observed difference (simple sum of squares){p}."


def _equivalent(task: xr.Dataset) -> str:
    margin, within = task.attrs.get("margin"), task["equivalent"].to_numpy() == 1
    size = "the margin" if margin is None else f"{margin:g}"
    if not within.any():
        return f"No training level is shown to have all differences within ± {size}."
    return f"All differences are shown to lie within ± {size} at {_stretches(task, within)}."


def _how(result: xr.Dataset) -> str:
    counts = {
        f"{'all' if exact else ''} {n:,} {'distinct' if exact else 'random'} ones".strip()
        for n, exact in zip(result["n_resamples"].to_numpy().ravel(), provenance.is_exact(result).ravel(), strict=True)
        if n
    }
    among = " or ".join(sorted(counts))
    return f"p is the share of reassignments of whole runs with an F at least as large, among {among}."


def _stretches(task: xr.Dataset, chosen: NDArray[np.bool_]) -> str:
    """Return the chosen levels as stretches, "training 0, 500 to 2000"; of many their share and the longest."""
    levels = task["training"].to_numpy()
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(int)))
    starts, ends = edges[::2], edges[1::2]
    if len(starts) > _LISTED:
        longest = int((ends - starts).argmax())
        first, last = levels[starts[longest]], levels[ends[longest] - 1]
        share = 100 * np.count_nonzero(chosen) / len(chosen)
        return f"{share:.0f} % of the training levels (longest stretch: {_amount(first)} to {_amount(last)})"
    said = [(_amount(levels[start]), _amount(levels[end - 1])) for start, end in zip(starts, ends, strict=True)]
    return "training " + ", ".join(first if first == last else f"{first} to {last}" for first, last in said)


def _amount(level: float) -> str:
    return f"{level:.0f}" if abs(level) < 1e15 and level == round(level) else f"{level:g}"


def profile_answer(result: xr.Dataset) -> str:
    """Return where the curves of one task differ, or in how many tasks they do."""
    if "last_significant" not in result:
        return _UNTESTED
    if len(labels.result_names(result["fraction"], ("training",))) == 1:
        return next(profile_sentences(result))
    last = result["last_significant"].to_numpy().ravel()
    found = np.count_nonzero(~np.isnan(last))
    return f"In {found} of {len(last)} tasks the curves differ at some training level, adjusted over levels."


def profile_caution(result: xr.Dataset) -> Iterator[str]:
    """Yield what a profile does not say."""
    if "pvalue_adjusted" in result:
        yield _LIMITS
