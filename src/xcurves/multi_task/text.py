"""The sentences about differences over several tasks, for a reader who is no statistician."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.packing import Floats
from xcurves.core.sentences import joined, span
from xcurves.multi_task.spreads import UNLIKE, run_sd, task_spread_ratio

CLAIMS_IN_WORDS = (
    "For these tasks (fixed): had other runs been made on these very tasks. For tasks like these (random): had other "
    "tasks been drawn from where these come from; it is the wider claim, and needs differences that are symmetric "
    "about their mean."
)
MOST_PAIRS = 4  # that an answer names
_MANY = 3  # pairs of which each gets one sentence
_LISTED = 40  # tasks that a summary lists
ADJUSTED = "p is adjusted for the number of pairs (fixed: Holm; random: step-down max-|T|); intervals are not."


def across_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield the answer of every pair, then what the claims mean and what they rest on."""
    task = result.attrs["task"]
    many = result["difference"].size > _MANY
    if many:
        yield across_answer(result)
    for one, name in benchmarks(result, "difference"):
        for pair in pairs_of(one):
            yield name + (_main_claim(pair, task) if many else _pair_claim(pair, task))
            yield from _left_out(pair, name, task)
        yield from _ranks(one, name)
        yield from _scales(one, name, task)
    if many:
        yield (
            f"How much one pair differs over {task}s, and in how many {task}s it is shown to: "
            f"result.sel(pair=[{result['pair'].to_numpy().tolist()[0]!r}]).curves.summary()."
        )
    if result.sizes["pair"] > 1:
        yield ADJUSTED
    yield CLAIMS_IN_WORDS
    if "task_groups" in result.attrs:
        families = result.attrs["task_groups"]
        yield f"The claim for {task}s like these is about families of {task}s ({families}): whole families are flipped."
    yield from _each_task(result, task)


def _each_task(result: xr.Dataset, task: str) -> Iterator[str]:
    """Yield a line for each task of a single pair; of many, how to get them."""
    if task not in result["task_difference"].dims or result["difference"].size > 1:
        yield f"Each {task} by itself: .curves.plot('forest'), or result['task_difference'] with interval and p."
        return
    correction = _correction(result)
    yield f"Each {task} by itself, {result['pair'].item()}, p adjusted ({correction}); also .curves.plot('forest'):"
    own = result.stack(_one=list(result["difference"].dims), create_index=False).isel(_one=0)
    known = own.isel({task: own["task_difference"].notnull().to_numpy()}).sortby("task_difference", ascending=False)
    for place in range(min(known.sizes[task], _LISTED)):
        one = known.isel({task: place})
        low, high = one["task_difference_ci"].to_numpy()
        limits = f"{_score(low)} to {_score(high)}" if np.isfinite([low, high]).all() else "without limits"
        p = one["task_pvalue_adjusted"].item()
        said = f"({limits}), p = {p:.2g}" if p == p else "(a single run)"
        yield f"{one[task].item()}: {_score(one['task_difference'].item())} {said}."
    if known.sizes[task] > _LISTED:
        yield f"And {known.sizes[task] - _LISTED} more {task}s: result['task_difference']."


def across_answer(result: xr.Dataset) -> str:
    """Return the answer in one sentence."""
    pairs = pairs_by_size(result, "difference")
    if len(pairs) == 1:
        return pairs[0][0] + _main_claim(pairs[0][1], result.attrs["task"])
    alpha = provenance.alpha_of(result)
    shown = [f"{name}{_direction(pair)}" for name, pair in pairs if _shown(pair, "random", alpha)]
    n_here = sum(_shown(pair, "fixed", alpha) for _, pair in pairs)
    level = f" ({100 * result.attrs['confidence_level']:g} % intervals)" if shown else ""
    said = f"On tasks like these, {joined(shown, '; ', MOST_PAIRS) or 'no pair is shown to differ'}{level}"
    return f"{said}: {len(shown)} of {len(pairs)} pairs; on these very {result.attrs['task']}s {n_here}."


def pairs_by_size(result: xr.Dataset, variable: str) -> list[tuple[str, xr.Dataset]]:
    """Return the pairs with the prefixes of their benchmarks, the largest difference first, unknown ones last."""
    named = [(name, pair) for one, name in benchmarks(result, variable) for pair in pairs_of(one)]
    largest = [float(abs(pair["difference"]).max()) for _, pair in named]
    return [named[place] for place in np.argsort(-np.array(largest), kind="stable")]


def benchmarks(result: xr.Dataset, variable: str) -> Iterator[tuple[xr.Dataset, str]]:
    """Yield the result of every benchmark with its prefix in messages."""
    return zip(labels.tasks_of(result, variable), labels.result_names(result[variable]), strict=True)


def pairs_of(result: xr.Dataset) -> Iterator[xr.Dataset]:
    """Yield the pairs of one benchmark."""
    return (result.isel(pair=place) for place in range(result.sizes["pair"]))


def _pair_claim(pair: xr.Dataset, task: str) -> str:
    """Return all that is said of one pair."""
    if pair["difference"].isnull():
        return " ".join([_no_claim(pair, task), *_chance(pair, task)])
    return " ".join([_main_claim(pair, task), *_by_task(pair, task), *_spread(pair, task), *_chance(pair, task)])


def _main_claim(pair: xr.Dataset, task: str) -> str:
    """Return the estimate with both claims."""
    n = pair["n_tasks"].item()
    if pair["difference"].isnull():
        return _no_claim(pair, task)
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    value = pair["difference"].item()
    first, second = (a, b) if value >= 0 else (b, a)
    fixed, random = (_interval(pair, claim, value) for claim in ("fixed", "random"))
    level = f"{100 * pair.attrs['confidence_level']:g} %"
    mean = "weighted average" if "task_weights" in pair else "average"
    here = (
        f"{level} interval {fixed}, {_p(pair, 'fixed')}"
        if pair["pvalue"].sel(task_effect="fixed").notnull()
        else f"no claim for these {task}s alone: in some, one of the two has a single run"
    )
    return (
        f"Over these {n} {task}s {first} scores {_score(abs(value))} higher than {second} on {mean} ({here}). "
        f"For {task}s like these: {random}, {_p(pair, 'random')}."
    )


def _no_claim(pair: xr.Dataset, task: str) -> str:
    """Return why there is no mean difference."""
    if pair["n_tasks"].item():
        return f"{pair['pair'].item()}: no mean difference, because some runs score +inf."
    return f"{pair['pair'].item()}: nothing can be said; they have no {task} in common."


def _interval(pair: xr.Dataset, claim: str, value: float) -> str:
    """Return an interval of the difference, turned so that the estimate is positive."""
    low, high = pair["difference_ci"].sel(task_effect=claim).to_numpy()
    low, high = (low, high) if value >= 0 else (-high, -low)
    return "without limits" if np.isinf([low, high]).all() else f"{_score(low)} to {_score(high)}"


def _score(value: float, digits: int = 3) -> str:
    """Return a difference in units of the score in so many digits; larger ones up to a million in whole numbers."""
    return f"{value:.0f}" if 10**digits - 0.5 <= abs(value) < 1e6 else f"{value:.{digits}g}"


def _p(pair: xr.Dataset, claim: str) -> str:
    adjusted, raw = (pair[name].sel(task_effect=claim).item() for name in ("pvalue_adjusted", "pvalue"))
    if adjusted == adjusted:
        return f"{'adjusted ' if adjusted != raw else ''}p = {adjusted:.2g}"
    return f"p = {raw:.2g}, which with so few can never be small enough" if raw == raw else "no p"


def _shown(pair: xr.Dataset, claim: str, alpha: float) -> bool:
    return bool(provenance.significant(pair["pvalue_adjusted"].sel(task_effect=claim).item(), alpha))


def _direction(pair: xr.Dataset) -> str:
    """Return which algorithm of a pair scores higher and by how much, with the interval for tasks like these."""
    a, b, value = pair["algorithm_a"].item(), pair["algorithm_b"].item(), pair["difference"].item()
    first, second = (a, b) if value >= 0 else (b, a)
    return f"{first} higher than {second} by {_score(abs(value))} ({_interval(pair, 'random', value)})"


def _by_task(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield in how many tasks a difference is shown, or that none can be."""
    if not _has_all(pair, task):
        return
    alpha = provenance.alpha_of(pair)
    sign = 1 if pair["difference"].item() >= 0 else -1
    p, d = pair["task_pvalue_adjusted"].to_numpy(), sign * pair["task_difference"].to_numpy()
    runs, n = _runs(pair), pair["n_tasks"].item()
    if not np.isfinite(p).any():
        return
    if _smallest(pair) > alpha:
        yield f"With {runs} and {n} {task}s no single {task} can be shown: its adjusted p cannot reach {alpha:g}."
        return
    shown = provenance.significant(p, alpha)
    higher, lower = np.count_nonzero(shown & (d > 0)), np.count_nonzero(shown & (d < 0))
    yield f"Of {n} {task}s it is shown higher in {higher}, lower in {lower} ({runs}; {_correction(pair)} over {task}s)."


def _has_all(pair: xr.Dataset, task: str) -> bool:
    """Return whether all tasks that were compared are there, not a selection of them."""
    return task in pair.dims and np.count_nonzero(pair["task_difference"].notnull()) == pair["n_tasks"].item()


def _correction(pair: xr.Dataset) -> str:
    return {"holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}[pair.attrs.get("correction", "holm")]


def _sizes(pair: xr.Dataset) -> Floats:
    """Return the numbers of runs of both algorithms in their common tasks, shape (task, 2)."""
    counts = [pair["n_runs"].sel(algorithm=pair[name].item()).to_numpy() for name in ("algorithm_a", "algorithm_b")]
    sizes = np.stack(counts, axis=-1)
    return np.asarray(sizes[sizes.min(axis=-1) > 0])


def _runs(pair: xr.Dataset) -> str:
    counts = set(_sizes(pair).ravel().tolist())
    return f"{span(counts)} {'run' if counts == {1} else 'runs'} a side"


def _smallest(pair: xr.Dataset) -> float:
    """Return the smallest adjusted p that a single task could have, were all others as clear."""
    paired, limit = bool(pair.attrs.get("paired", 0)), pair.attrs.get("n_resamples")
    own = []
    for a, b in _sizes(pair).astype(int).tolist():
        if min(a, b) > 1:
            total = 2**a if paired else comb(a + b, a)
            most = 1_000_000 if limit is None else limit
            random = 9_999 if limit is None else limit
            own.append((2 if a == b else 1) / total if total <= most else 1 / (random + 1))
    return min(1.0, min(own) * (len(own) if _correction(pair) == "Holm" else 1)) if own else np.inf


def _spread(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield how much the true difference varies over tasks, beside how much runs do."""
    tau, p = pair["task_sd"].item(), pair["interaction_pvalue"].item()
    if tau != tau or not _has_all(pair, task):
        return
    error = np.sqrt(np.nanmean(pair["task_stderr"].to_numpy() ** 2))
    varies = ""
    if p == p:
        shown = provenance.significant(p, provenance.alpha_of(pair))
        varies = f"; that it differs over {task}s is {'' if shown else 'not '}shown (p = {p:.2g})"
    yield (
        f"Over {task}s the true difference has a standard deviation of {_score(tau, 2)}, its standard error within one "
        f"{task} is {_score(error, 2)}{varies}."
    )


def _chance(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the mean probability that the one scores higher than the other."""
    theta = pair["prob_greater"].item()
    if theta != theta:
        return
    first, second = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if theta < 0.5:
        first, second, theta = second, first, 1 - theta
    p = [f"{pair['prob_greater_pvalue'].sel(task_effect=claim).item():.2g}" for claim in ("fixed", "random")]
    yield (
        f"A run of {first} scores higher than one of {second} with probability {theta:.2f}, mean over {task}s "
        f"(p = {p[0]} for these, {p[1]} for {task}s like these)."
    )


def _left_out(pair: xr.Dataset, name: str, task: str) -> Iterator[str]:
    """Yield the tasks that a pair lacks."""
    if not _has_all(pair, task):
        return
    missing = pair[task].to_numpy()[pair["task_difference"].isnull().to_numpy()]
    if missing.size and pair["difference"].notnull():
        said = joined([str(label) for label in missing.tolist()])
        of_all = f"{len(missing)} of {pair.sizes[task]} {task}s"
        yield f"{name}{pair['pair'].item()}: without {said}, where one of the two has no run ({of_all})."


def _ranks(result: xr.Dataset, name: str) -> Iterator[str]:
    """Yield the mean ranks of more than two algorithms."""
    if result.sizes["algorithm"] < 3 or result["rank_mean"].isnull().all():
        return
    ranks = result["rank_mean"].sortby(result["rank_mean"])
    said = [f"{each['algorithm'].item()} {each.item():.2f}" for each in ranks]
    yield f"{name}Mean ranks over the {result.attrs['task']}s that have all, 1 the best: {joined(said)}."


def _scales(result: xr.Dataset, name: str, task: str) -> Iterator[str]:
    """Yield a caution if runs differ much more in some tasks than in others."""
    if task not in result.dims:
        return
    ratio = task_spread_ratio(result).item()
    if ratio > UNLIKE and "normalize(" not in result.attrs.get("history", ""):
        sd = run_sd(result)
        most = sd[task].to_numpy()[int(np.nanargmax(sd.to_numpy()))]
        yield (
            f"{name}Caution: runs differ {ratio:.0f} times as much in one {task} as in another (most in {most}), so "
            "the mean difference is that of few. Normalize scores, or read the probability, which has no scale."
        )
