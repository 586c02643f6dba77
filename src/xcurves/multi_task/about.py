"""What the verdict on one benchmark is about: its claims, its algorithms and tasks, and what stands in front of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from xcurves.core.schema import About, Claim
from xcurves.multi_task.answers_shown import shows_answers
from xcurves.multi_task.benchmark_scores import Scope, scope_of
from xcurves.multi_task.claims import claims_of
from xcurves.multi_task.task_options import carrying_tasks, task_spread_ratio
from xcurves.multi_task.too_few import noun_of, number_of_families, reasons, with_tasks
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import count, listed, number, span
from xcurves.say.pairs import lower_is_better

_NAMED = 2  # tasks that a verdict names
_MOST_ALIKE = 4  # algorithms that are named as all right, or all wrong


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
    """Return which algorithms, over which tasks, the verdict on one benchmark is about, and what stands around it."""
    benchmark = with_tasks(part)
    scope = scope_of(benchmark)
    carrying = carrying_tasks(part)
    algorithms = [str(name) for name in benchmark["algorithm"].to_numpy()[scope.algorithms].tolist()]
    among, left_out = "", []
    over = _over(benchmark, scope, algorithms)
    if scope.about == "full":
        n_all = number(int((benchmark["n_runs"] > 0).any("algorithm").sum()))
        among = f"Of the {len(algorithms)} algorithms that have all {n_all} {noun_of(part)}s, "
        over = ""
        left_out = list(_left_out(benchmark, algorithms))
    if "reference" in part.attrs and part.sizes["pair"] > 1:
        n_tasks = span({int(n) for n in part["n_tasks"].to_numpy() if n} or {0})
        over = f"over {n_tasks} {noun_of(part)}s"
    return About(
        algorithms,
        over,
        among,
        left_out,
        before=[*_unlike_scales(part, carrying), *_no_common_tasks(benchmark, scope)],
        instead=_nothing_compared(part),
        untested=_why_untested(part),
        has_limits=not carrying,
        heading=_of_intervals(part, carrying),
    )


def _over(benchmark: xr.Dataset, scope: Scope, algorithms: list[str]) -> str:
    """Return over which tasks a mean is taken: "over 16 tasks"."""
    noun = noun_of(benchmark)
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
    return over


def _left_out(benchmark: xr.Dataset, algorithms: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the algorithms that the verdict is not about, with how many of the tasks they have: "7 of the 20 tasks"."""
    has = benchmark["n_runs"] > 0
    n_all = int(has.any("algorithm").sum())
    n_each = has.sum(benchmark.attrs["task"]).to_numpy().tolist()
    for name, n in zip(benchmark["algorithm"].to_numpy().tolist(), n_each, strict=True):
        if str(name) not in algorithms and n:
            yield str(name), f"{number(n)} of the {number(n_all)} {noun_of(benchmark)}s"


def _no_common_tasks(benchmark: xr.Dataset, scope: Scope) -> Iterator[str]:
    """Yield that too few tasks have all algorithms for a verdict about them."""
    if scope.about != "none":
        return
    noun = noun_of(benchmark)
    has = benchmark["n_runs"] > 0
    of_compared = has.isel(algorithm=has.any(benchmark.attrs["task"]).to_numpy())
    which = f"No {noun} has"
    if of_compared.all("algorithm").any():
        which = f"Only one {noun} has"
    yield f"{which} all {of_compared.sizes['algorithm']} algorithms: read pairs."


def _nothing_compared(part: xr.Dataset) -> str:
    """Return why nothing is compared, "" where something is."""
    noun = noun_of(part)
    if part["difference"].isnull().all() and part["n_tasks"].any():
        return "There is no mean difference, because some runs have no finite score."
    if part["difference"].isnull().all():
        return f"Nothing can be said: no two algorithms have a {noun} in common."
    values = np.unique(part["task_mean"].to_numpy())
    known = values[~np.isnan(values)]
    if len(known) != 1 or not shows_answers(part):
        return ""
    how = "wrong"
    if (known[0] > 0) != lower_is_better(part):
        how = "right"
    n_tasks = int((part["n_runs"] > 0).any("algorithm").sum())
    names = listed(part["algorithm"].to_numpy().tolist(), _MOST_ALIKE)
    return f"All answers of {names} to {count(n_tasks, noun)} are {how}: nothing tells them apart."


def _why_untested(part: xr.Dataset) -> str:
    """Return why nothing is claimed for these very tasks; "" of answers, of which one to each question is no news."""
    if shows_answers(part) or part["pvalue_adjusted"].notnull().all():
        return ""
    return why_untested(part)


def why_untested(part: xr.Dataset) -> str:
    """Return why nothing is claimed for these very tasks."""
    if not any("single run" in reason for reason in reasons(part).values()):
        return "no score changed from run to run"
    if (part["n_runs"] <= 1).all():
        return f"each algorithm has a single score of a {noun_of(part)}"
    return "in some, an algorithm has a single run"


def scales_of(part: xr.Dataset) -> str:
    """Return what is to be known of intervals: for whom they hold where tasks are on unlike scales, or their unit."""
    return _of_intervals(part, carrying_tasks(part))


def _of_intervals(part: xr.Dataset, carrying: Sequence[object]) -> str:
    """Return the same, given the tasks that make the mean."""
    if carrying:
        return f", if the {noun_of(part)}s' scales count as they are"
    if shows_answers(part):
        return ", scores in %"
    return ""


def _unlike_scales(part: xr.Dataset, carrying: Sequence[object]) -> Iterator[str]:
    """Yield that scores of tasks are on unlike scales, which tasks make the mean, and who leads on one scale."""
    if part.attrs["task"] not in part.dims or not carrying:
        return
    ratio = number(task_spread_ratio(part).item(), 2)
    who = leader_on_one_scale(part)
    verb = "make"
    if len(carrying) == 1:
        verb = "makes"
    leads = ""
    if who:
        leads = f"; normalized, {who} leads"
    yield f"Scales differ {ratio}-fold between {noun_of(part)}s: {listed(carrying, _NAMED)} {verb} the mean{leads}."


def leader_on_one_scale(benchmark: xr.Dataset) -> str | None:
    """Return who leads if the means of every task are scaled to run from 0, the worst, to 1, the best.

    That is of the tasks and algorithms that the verdict is about.
    """
    task = benchmark.attrs["task"]
    scope = scope_of(benchmark)
    if scope.about == "none":
        return None
    own = benchmark.isel({task: scope.tasks, "algorithm": scope.algorithms})
    means = own["task_mean"]
    low, high = means.min("algorithm"), means.max("algorithm")
    scaled = ((means - low) / (high - low).where(high > low)).mean(task)
    if scaled.isnull().all():
        return None
    upward = scaled
    if lower_is_better(benchmark):
        upward = -scaled
    leader = int(upward.fillna(-np.inf).argmax("algorithm"))
    return str(own["algorithm"].to_numpy()[leader])
