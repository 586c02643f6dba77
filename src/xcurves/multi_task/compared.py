"""What the verdict about one benchmark is made of: its pairs by one claim, its means, and what could not be tested."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.provenance import alpha_of, significant
from xcurves.core.refusal import give
from xcurves.core.schema import About, Claim
from xcurves.kernels.resampling.adjustments import holm
from xcurves.multi_task.answers_shown import families_of
from xcurves.multi_task.claims import claims_of, of_claim, shown_of_claim
from xcurves.multi_task.scope import Scope, scope_of
from xcurves.multi_task.task_options import GROUP, carrying_tasks
from xcurves.say.compared_pairs import Compared, Reasons, means_of, named, score_name
from xcurves.say.floors import (
    RunsOfPair,
    RunsOfPairs,
    cure_of_flips,
    cure_of_reassignments,
    cure_of_runs,
    fewest_flips,
    fewest_reassignments,
    floor_sentences,
    runs_a_side,
)
from xcurves.say.numbers import count, number, span, units_of
from xcurves.say.pairs import lower_is_better, verdict_rows


def noun_of(result: xr.Dataset) -> str:
    """Return what a task is called."""
    return labels.noun(str(result.attrs["task"]))


def with_tasks(benchmark: xr.Dataset) -> xr.Dataset:
    """Return a benchmark with its dim of tasks, where a single one was selected."""
    task = str(benchmark.attrs["task"])
    if task in benchmark["n_runs"].dims:
        return benchmark
    return benchmark.drop_vars(task, errors="ignore").expand_dims(task)


def compared(benchmark: xr.Dataset, claim: str) -> Compared:
    """Return what the verdict about one benchmark by one claim is made of."""
    part = of_claim(benchmark, claim)
    may_be_best = []
    if "may_be_best" in part:
        may_be_best = named(benchmark, part["may_be_best"])
    on = next(each.on for each in claims(benchmark) if each.label == claim)
    scope = about(part)
    return Compared(
        rows=verdict_rows(shown_of_claim(benchmark, claim)),
        algorithms=scope.algorithms,
        may_be_best=may_be_best,
        score=mean_over_tasks(benchmark),
        units=units_of(benchmark["difference"]),
        means=means_of(benchmark, "score_mean_common"),
        among=scope.among,
        over=scope.over,
        on=on,
        lower_is_better=lower_is_better(benchmark),
        has_limits=scope.has_limits,
        reasons=reasons(part),
    )


def mean_over_tasks(result: xr.Dataset) -> str:
    """Return what is compared: "mean accuracy"."""
    mean = "mean"
    if "task_weights" in result:
        mean = "weighted mean"
    return f"{mean} {score_name(result)}"


def claims(result: xr.Dataset) -> list[Claim]:
    """Return what pairs are compared for, tasks like these first."""
    noun = noun_of(result)
    words = {"random": f"on {noun}s like these", "fixed": f"on these very {noun}s"}
    return [Claim("task_effect", label, words[label]) for label in reversed(claims_of(result))]


def about(part: xr.Dataset) -> About:
    """Return which algorithms, over which tasks, the verdict on one benchmark is about."""
    benchmark, noun = with_tasks(part), noun_of(part)
    scope = scope_of(benchmark)
    names = benchmark["algorithm"].to_numpy()[scope.algorithms]
    algorithms = [str(name) for name in names.tolist()]
    n_all = int((benchmark["n_runs"] > 0).any("algorithm").sum())
    n_common = int(np.count_nonzero(scope.tasks))
    over = f"over {count(n_all, noun)}"
    if n_common < n_all:
        all_of_them = "all"
        if len(algorithms) == 2:
            all_of_them = "both"
        over = f"over the {number(n_common)} of {number(n_all)} {noun}s that {all_of_them} have"
        if "task_groups" in benchmark.attrs:
            over += ","
    if "task_groups" in benchmark.attrs:
        over += f" in {number_of_families(benchmark)[0]}"
    among = ""
    if scope.about == "full":
        among = f"Of the {len(algorithms)} algorithms that have all {number(n_all)} {noun}s, "
        over = ""
    return About(algorithms, over, among, has_limits=not carrying_tasks(part))


def no_common_tasks(benchmark: xr.Dataset) -> str | None:
    """Return that too few tasks have all algorithms for a verdict about them; None where there is one."""
    noun = noun_of(benchmark)
    has = with_tasks(benchmark)["n_runs"] > 0
    scope: Scope = scope_of(with_tasks(benchmark))
    if scope.about != "none":
        return None
    of_compared = has.isel(algorithm=has.any(_other_dims(has)).to_numpy())
    n_algorithms = of_compared.sizes["algorithm"]
    n_common = int(of_compared.all("algorithm").sum())
    which = f"No {noun} has"
    if n_common:
        which = f"Only one {noun} has"
    return f"{which} all {n_algorithms} algorithms: read pairs."


def _other_dims(has: xr.DataArray) -> list[str]:
    return [str(dim) for dim in has.dims if dim != "algorithm"]


def left_out(benchmark: xr.Dataset, made: Compared) -> Iterator[tuple[str, str]]:
    """Yield the algorithms that the verdict is not about, with how many of the tasks they have: "7 of the 20 tasks"."""
    if not made.among:
        return
    noun = noun_of(benchmark)
    has = with_tasks(benchmark)["n_runs"] > 0
    n_all = int(has.any("algorithm").sum())
    n_each = has.sum(_other_dims(has))
    for name, n in zip(
        benchmark["algorithm"].to_numpy().tolist(),
        n_each.to_numpy().tolist(),
        strict=True,
    ):
        if str(name) not in made.algorithms and n:
            yield str(name), f"{number(n)} of the {number(n_all)} {noun}s"


def sides_of(benchmark: xr.Dataset) -> list[tuple[str, str]]:
    """Return both algorithms of every pair."""
    first, second = (benchmark[side].to_numpy().astype(str).tolist() for side in ("algorithm_a", "algorithm_b"))
    return list(zip(first, second, strict=True))


def _runs_of_pairs(benchmark: xr.Dataset) -> list[RunsOfPair]:
    """Return the numbers of runs of both algorithms of every pair in every task."""
    task = str(benchmark.attrs["task"])
    n_runs = with_tasks(benchmark)["n_runs"].transpose(task, "algorithm")
    names = [str(name) for name in benchmark["algorithm"].to_numpy().tolist()]
    column = dict(zip(names, n_runs.to_numpy().astype(int).T.tolist(), strict=True))
    return [tuple(zip(column[a], column[b], strict=True)) for a, b in sides_of(benchmark)]


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


def floors(benchmark: xr.Dataset, claim: str, *, of: Compared | None = None) -> Iterator[str]:
    """Yield what is too few for a small p by one claim, with the cure; `of` the pairs of a verdict only."""
    part = of_claim(benchmark, claim)
    least = part["pvalue_adjusted_least"].to_numpy()
    # of a single task there is no p, which further tasks would give
    p = np.where(np.isnan(least), np.nan, 1.0)
    if of is not None:
        own = [{*pair} <= {*of.algorithms} for pair in sides_of(benchmark)]
        p = np.where(own, p, np.nan)
    alpha = alpha_of(benchmark)
    beyond = ~np.isnan(p) & ~significant(least, alpha)
    if not beyond.any():
        return
    if claim == "random":
        few, cure = _floor_of_flips(benchmark, beyond)
    else:
        few, cure = _floor_of_runs(benchmark)
    yield from floor_sentences(least, p, alpha, few, cure)


def _floor_of_flips(benchmark: xr.Dataset, beyond: np.ndarray) -> tuple[str, str]:
    """Return what is too few of flips, tasks or reassignments, and the cure."""
    alpha = alpha_of(benchmark)
    few, things = number_of_families(benchmark)
    part = of_claim(benchmark, "random").isel(pair=beyond)
    n_resamples = part["n_resamples"].to_numpy()
    n_families = families_of_pairs(benchmark)[beyond]
    is_exact = n_resamples == 2.0**n_families
    has_enough = n_families >= fewest_flips(alpha)
    if not is_exact.any() and has_enough.all():
        enough = fewest_reassignments(alpha)
        few = f"{span(np.unique(n_resamples).tolist())} reassignments"
        return few, f"make more: {give(n_resamples=enough)} is enough"

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
    return few, cure


def families_of_pairs(benchmark: xr.Dataset) -> np.ndarray:
    """Return how many tasks, or families of them, every pair has."""
    groups = benchmark.attrs.get("task_groups")
    if groups not in benchmark.coords:
        return np.asarray(benchmark["n_tasks"].to_numpy())
    families = np.atleast_1d(benchmark[groups].to_numpy().astype(str))
    return np.array(
        [
            len({family for family, each in zip(families, runs, strict=True) if min(each)})
            for runs in _runs_of_pairs(benchmark)
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
    if some == [1]:
        return f"1 {noun}", f"{noun}s"
    return f"{span(some)} {noun}s", f"{noun}s"


def n_families_of(benchmark: xr.Dataset, pair: int) -> int:
    """Return how many tasks, or families of them, a pair has."""
    return int(families_of_pairs(benchmark)[pair])


def units_of_claim(benchmark: xr.Dataset) -> str:
    """Return what the claim for tasks like these counts: tasks, or families of them."""
    noun = noun_of(benchmark)
    if "task_groups" in benchmark.attrs:
        return families_of(noun, str(benchmark.attrs["task_groups"]), GROUP)
    return f"{noun}s"


def _floor_of_runs(benchmark: xr.Dataset) -> tuple[str, str]:
    """Return what is too few of runs, or of their reassignments, and the cure."""
    alpha = alpha_of(benchmark)
    made = RunsOfPairs(
        sides=sides_of(benchmark),
        runs=_runs_of_pairs(benchmark),
        adjust=holm,
        paired=bool(benchmark.attrs.get("paired", 0)),
        has_reference="reference" in benchmark.attrs,
    )
    adjusted = holm(made.least())
    if significant(adjusted[~np.isnan(adjusted)], alpha).all():
        n_resamples = of_claim(benchmark, "fixed")["n_resamples"].to_numpy()
        few = f"{span(np.unique(n_resamples[n_resamples > 0]).tolist())} reassignments"
        return few, cure_of_reassignments([made], alpha, len(made.sides))
    counts = with_tasks(benchmark)["n_runs"].to_numpy().ravel().tolist()
    return runs_a_side(counts), cure_of_runs([made], alpha)
