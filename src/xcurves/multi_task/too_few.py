"""Why pairs over tasks have no p, and what is too few for a small one, with the cure that lifts it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.names import is_item
from xcurves.core.provenance import alpha_of, significant
from xcurves.core.refusal import give
from xcurves.core.schema import Floor, KindOfThings, Needed
from xcurves.kernels.resampling.adjustments import holm
from xcurves.multi_task.answers_shown import families_of
from xcurves.multi_task.benchmark_scores import scope_of
from xcurves.multi_task.task_options import GROUP
from xcurves.say.compared_pairs import Reasons
from xcurves.say.floors import (
    cure_of_flips,
    fewest_flips,
    fewest_reassignments,
    floor_of_runs,
    floor_sentences,
    runs_of_pairs,
)
from xcurves.say.numbers import count, counts, span
from xcurves.say.pairs import sides_of


def noun_of(result: xr.Dataset) -> str:
    """Return what a task is called."""
    return labels.noun(str(result.attrs["task"]))


def with_tasks(benchmark: xr.Dataset) -> xr.Dataset:
    """Return a benchmark with its dim of tasks, where a single one was selected."""
    task = str(benchmark.attrs["task"])
    if task in benchmark["n_runs"].dims:
        return benchmark
    return benchmark.drop_vars(task, errors="ignore").expand_dims(task)


def _n_tasks_of_pairs(first: xr.DataArray, second: xr.DataArray, benchmark: xr.Dataset) -> list[int]:
    """Return in how many tasks one of each pair is in `first`, the other in `second`, in either order."""
    task = str(benchmark.attrs["task"])
    one, other = (
        each.transpose("algorithm", task).to_numpy().astype(float)  # for fast products
        for each in (first, second)
    )
    both = one @ other.T
    names = [str(name) for name in benchmark["algorithm"].to_numpy().tolist()]
    place = {name: at for at, name in enumerate(names)}
    return [int(max(both[place[a], place[b]], both[place[b], place[a]])) for a, b in sides_of(benchmark)]


def reasons(benchmark: xr.Dataset) -> Reasons:
    """Return why pairs have no p by the claim of a part; nothing where all have one."""
    if benchmark["pvalue_adjusted"].notnull().all():
        return {}
    claim = str(benchmark["task_effect"].item())
    noun = noun_of(benchmark)
    few, _ = number_of_families(benchmark)
    n_runs = with_tasks(benchmark)["n_runs"]
    shared = _n_tasks_of_pairs(n_runs > 0, n_runs > 0, benchmark)
    single = _n_tasks_of_pairs(n_runs == 1, n_runs > 0, benchmark)
    is_unknown = np.isnan(benchmark["difference"].to_numpy()).tolist()
    found = {}
    for pair, n_shared, n_single, unknown in zip(sides_of(benchmark), shared, single, is_unknown, strict=True):
        if not n_shared:
            reason = f"they share no {noun}"
        elif unknown:
            reason = "some runs have no finite score"
        elif claim == "fixed" and n_single:
            reason = f"a single run in some {noun}s"
        elif claim == "fixed":
            reason = "no score changed from run to run"
        elif "task_groups" in benchmark.attrs:
            reason = f"{few}, too few for a p"
        else:
            reason = f"they share {count(n_shared, noun)}, too few for a p"
        found[frozenset(pair)] = reason
    return found


def floors(part: xr.Dataset) -> Iterator[Floor]:
    """Yield what is too few for a small p by the claim of a part, with the cure."""
    claim = str(part["task_effect"].item())
    least = part["pvalue_adjusted_least"].to_numpy()
    # of a single task there is no p, which further tasks would give
    p = np.where(np.isnan(least), np.nan, 1.0)
    if claim == "random" and "reference" not in part.attrs:
        # that of the pairs which the verdict is about
        scope = scope_of(with_tasks(part))
        own = set(part["algorithm"].to_numpy().astype(str)[scope.algorithms].tolist())
        p = np.where([{*pair} <= own for pair in sides_of(part)], p, np.nan)
    alpha = alpha_of(part)
    beyond = ~np.isnan(p) & ~significant(least, alpha)
    if not beyond.any():
        return
    if claim == "random":
        yield from floor_sentences(least, p, alpha, *_floor_of_flips(part, beyond))
        return
    every = [runs_of_pairs(with_tasks(part), holm)]
    n_resamples = part["n_resamples"].to_numpy()
    yield from floor_of_runs(every, least, p, alpha, n_resamples[n_resamples > 0], part.attrs.get("n_resamples"))


def _floor_of_flips(benchmark: xr.Dataset, beyond: np.ndarray) -> tuple[str, str, Needed | None]:
    """Return what is too few of flips, tasks or reassignments, the cure, and how many tasks are the fewest."""
    alpha = alpha_of(benchmark)
    few, things = number_of_families(benchmark)
    n_resamples = benchmark["n_resamples"].to_numpy()[beyond]
    n_families = families_of_pairs(benchmark)[beyond]
    is_exact = n_resamples == 2.0**n_families
    has_enough = n_families >= fewest_flips(alpha)
    if not is_exact.any() and has_enough.all():
        enough = fewest_reassignments(alpha)
        few = f"{span(np.unique(n_resamples).tolist())} reassignments"
        return few, f"make more: {give(n_resamples=enough)} is enough", None

    # Families whose differences add up to 0 are the same in all flips.
    is_tied = bool((has_enough & is_exact).any())
    if is_tied:
        few += ", some of which are ties,"
    cure = cure_of_flips(
        alpha,
        things,
        benchmark.sizes["algorithm"],
        max(1, int(benchmark["difference"].notnull().sum())),
        tied=is_tied,
    )
    if not is_exact.all():
        cure += "; and leave n_resamples out"
    if is_tied:
        return few, cure, None
    fewest = fewest_flips(alpha)
    return few, cure, Needed(kind_of_tasks(benchmark), things, float(n_families.min()), fewest, fewest)


def kind_of_tasks(benchmark: xr.Dataset) -> KindOfThings:
    """Return what the claim for tasks like these counts, as programs read it."""
    if "task_groups" in benchmark.attrs:
        return "families"
    if is_item(str(benchmark.attrs["task"])):
        return "items"
    return "tasks"


def families_of_pairs(benchmark: xr.Dataset) -> np.ndarray:
    """Return how many tasks, or families of them, every pair has."""
    groups = benchmark.attrs.get("task_groups")
    if groups not in benchmark.coords:
        return np.asarray(benchmark["n_tasks"].to_numpy())
    families = np.atleast_1d(benchmark[groups].to_numpy().astype(str))
    return np.array(
        [
            len({family for family, each in zip(families, runs, strict=True) if min(each)})
            for runs in runs_of_pairs(with_tasks(benchmark), holm).runs
        ]
    )


def number_of_families(benchmark: xr.Dataset) -> tuple[str, str]:
    """Return how many tasks, or families of them, pairs have, and what these are called."""
    noun = noun_of(benchmark)
    n = families_of_pairs(benchmark)
    some = sorted({int(each) for each in n if each}) or [0]
    if "task_groups" in benchmark.attrs:
        things = units_of_claim(benchmark)
        if some == [1]:
            return f"1 of {things}", things.partition(" of ")[0]
        return f"{span(some)} {things}", things.partition(" of ")[0]
    return counts(some, noun), f"{noun}s"


def n_families_of(benchmark: xr.Dataset, pair: int) -> int:
    """Return how many tasks, or families of them, a pair has."""
    return int(families_of_pairs(benchmark)[pair])


def units_of_claim(benchmark: xr.Dataset) -> str:
    """Return what the claim for tasks like these counts: tasks, or families of them."""
    noun = noun_of(benchmark)
    if "task_groups" in benchmark.attrs:
        return families_of(noun, str(benchmark.attrs["task_groups"]), GROUP)
    return f"{noun}s"
