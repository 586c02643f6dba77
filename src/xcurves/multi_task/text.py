"""The sentences and tables about differences over several tasks, for a reader who is no statistician."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.provenance import alpha_of
from xcurves.core.refusal import call
from xcurves.core.schema import Statement
from xcurves.multi_task.about import why_untested
from xcurves.multi_task.absent_runs import MANY, say_absent_runs
from xcurves.multi_task.answers_shown import shows_answers
from xcurves.multi_task.claims import of_claim
from xcurves.multi_task.group_text import group_sentences
from xcurves.multi_task.item_text import item_sentences
from xcurves.multi_task.next_tasks import could_be_seen, one_more
from xcurves.multi_task.pair_text import details_of_pair
from xcurves.multi_task.task_options import say_levels
from xcurves.multi_task.too_few import (
    families_of_pairs,
    noun_of,
    number_of_families,
    units_of_claim,
    with_tasks,
)
from xcurves.say.compared_pairs import Compared
from xcurves.say.floors import fewest_flips
from xcurves.say.numbers import capitalized, count, joined, listed, number, pvalue
from xcurves.say.pairs import TURNED, PairRow, better_first, lower_is_better, most_ahead, sides_of

_SKEWED = 1.5  # skewness beyond which the interval for tasks like these holds .83 in place of .95
_MOST_NAMED = 4  # benchmarks, or tasks, that a sentence names
_BY_TASK = "task_difference"
_MANY_TASKS, _FEW_DIFFER = 50, 20  # that all have; on which two algorithms differ
_SAME_RANK = 1e-9  # mean ranks that are equal but for rounding


def own_statements(benchmark: xr.Dataset, made: Sequence[Compared]) -> Iterator[Statement]:
    """Yield what few runs, or tasks, cannot show, and whether other measures name another; then details."""
    likes, *others = made
    for text in _cautions(benchmark, likes):
        yield Statement("caution", text)
    task = noun_of(benchmark)
    # of one answer to each question that is no news
    if shows_answers(benchmark) and all(isnan(row.p) for these in others for row in these.own_rows):
        why = why_untested(of_claim(benchmark, "fixed"))
        yield Statement("detail", f"On these very {task}s alone there is no claim: {why}.")
    for text in _details(benchmark, likes, task):
        yield Statement("detail", text)


def holds(result: xr.Dataset) -> Iterator[str]:
    """Yield what intervals and p hold for, and what the claim for tasks like these is about."""
    task = noun_of(result)
    if result.sizes["pair"] > 1:
        by = "the smallest p"
        if "max-t" in result.attrs.get("pair_correction", ""):
            by = "the largest t"
        yield (
            f"Intervals and p hold for all pairs together (p by step-down, {task}s like these by {by}, these {task}s "
            "by Holm)."
        )
    yield (
        f"For these {task}s: had other runs been made on them. For {task}s like these: had other {task}s been drawn "
        "from where these come from; this needs differences that are symmetric about their mean."
    )
    yield from say_levels(result)
    if "task_groups" in result.attrs:
        families = units_of_claim(result)
        about = f"{families} ({result.attrs['task_groups']}): whole families"
        if " of " not in families:
            about = f"{families}: all {task}s of one"
        yield f"The claim for {task}s like these is about {about} are flipped."


def _cautions(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield what few runs, or tasks, cannot show, and whether other measures name another algorithm."""
    yield from _failed(benchmark)
    yield from _intervals_without_ends(benchmark)
    yield from _few_that_differ(benchmark, likes)
    if benchmark.sizes["pair"] > 1 or benchmark["difference"].notnull().all():
        yield from _disagreement(benchmark, likes)


def _failed(benchmark: xr.Dataset) -> Iterator[str]:
    """Yield which algorithms have no mean, since runs failed, and how to say what such a run counts as."""
    tasks = str(benchmark.attrs["task"])
    has_runs = (with_tasks(benchmark)["n_runs"] > 0).any(tasks)
    without = has_runs & ~np.isfinite(benchmark["score_mean"])
    names = benchmark["algorithm"].to_numpy()[without.to_numpy()].tolist()
    if not names:
        return
    direction = {}
    if lower_is_better(benchmark):
        direction = {"higher_is_better": False}
    cure = call(".curves.fill_failed", "worst", **direction)
    yield f"Runs of {listed(names, _MOST_NAMED)} failed, so that there is no mean: say what they count as, {cure}."


def _intervals_without_ends(benchmark: xr.Dataset) -> Iterator[str]:
    """Yield that p could be small enough, but tasks are too few for intervals of all pairs together."""
    alpha, n_pairs = alpha_of(benchmark), int(benchmark["difference"].notnull().sum())
    part = of_claim(benchmark, "random")
    tested = part["pvalue_adjusted"].notnull()
    ends = part["difference_ci_simultaneous"].where(tested).transpose("pair", ...)
    without = np.isinf(ends.to_numpy()).all(axis=-1)
    if not without.any():
        return
    fewest = fewest_flips(alpha, n_pairs)
    few, things = number_of_families(benchmark.isel(pair=without))
    if int(np.max(families_of_pairs(benchmark)[without])) >= fewest:
        yield _unlike_sizes(benchmark, int(without.sum()), things)
        return
    algorithms = f"{benchmark.sizes['algorithm']} algorithms"
    yield f"With {few} intervals of {algorithms} together have no ends: add {things}: {fewest} are the fewest."


def _unlike_sizes(benchmark: xr.Dataset, n_without: int, things: str) -> str:
    """Return that families of tasks are too unlike in size for intervals, with what may give them."""
    why = f"{capitalized(things)} are of unlike size"
    if benchmark.sizes["pair"] == 1:
        return f"{why}, so that the interval has no ends: add {things}."
    cure = f"add {things}"
    if "reference" not in benchmark.attrs:
        cure = f"fewer pairs, reference=, or more {things} may have them"
    return f"{why}, so that intervals of {count(n_without, 'pair')} have no ends for all pairs together: {cure}."


def _few_that_differ(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield that the best and the nearest beside it differ on few of many tasks."""
    names = likes.nearest
    if names is None or "task_groups" in benchmark.attrs:
        return
    task = str(benchmark.attrs["task"])
    # by place: pandas does not find all labels
    algorithms = [str(name) for name in benchmark["algorithm"].to_numpy().tolist()]
    means = with_tasks(benchmark)["task_mean"].isel(algorithm=[algorithms.index(name) for name in names])
    known = means.dropna(task)
    n_differ = int((known.isel(algorithm=0) != known.isel(algorithm=1)).sum())
    if known.sizes[task] < _MANY_TASKS or n_differ >= _FEW_DIFFER:
        return
    row = next(row for row in likes.own_rows if {*row[:2]} == {*names})
    too_few = ""
    if np.isnan(row.low):
        too_few = ", too few for an interval"
    yield f"{names[0]} and {names[1]} differ on {count(n_differ, noun_of(benchmark))} only{too_few}."


def _disagreement(benchmark: xr.Dataset, likes: Compared) -> Iterator[str]:
    """Yield that ranks or probabilities name another algorithm than the mean does, and the task that carries it."""
    if "reference" in benchmark.attrs:
        return
    best = likes.named_best
    if best is None:
        return
    sign = 1
    if likes.lower_is_better:
        sign = -1

    # Who is named by each measure that names another, in words. Ranks are those of tasks that all have.
    others = {}
    if benchmark["rank_mean"].notnull().any() and not likes.among:
        ranks = benchmark["rank_mean"].fillna(np.inf)
        names = benchmark["algorithm"].to_numpy()
        if (ranks > ranks.min() + _SAME_RANK)[names.astype(str) == best].all():
            others["mean ranks name"] = str(names[int(ranks.argmin("algorithm"))])
    by_probability = most_ahead(
        row
        for row in _rows_by(benchmark, sign * (benchmark["prob_greater"] - 0.5))
        if {*row[:2]} <= {*likes.algorithms}
    )
    if by_probability is not None:
        others[f"the probability of scoring {'lower' if likes.lower_is_better else 'higher'} names"] = by_probability
    rivals = {how: name for how, name in others.items() if name != best}
    if not rivals:
        return
    first_rival = next(iter(rivals.values()))
    measures = "; ".join(f"{how} {name}" for how, name in rivals.items())
    yield f"The mean names {best}, {measures}{_carrier(benchmark, best, first_rival, sign)}."


def _rows_by(benchmark: xr.Dataset, size: xr.DataArray) -> list[PairRow]:
    """Return pairs with another size than the difference, without intervals."""
    sizes = zip(sides_of(benchmark), size.to_numpy().tolist(), strict=True)
    return [PairRow(a, b, each, np.nan, np.nan, np.nan, shown=False) for (a, b), each in sizes]


def _carrier(benchmark: xr.Dataset, best: str, rival: str, sign: int) -> str:
    """Return which task carries the lead of the best over a rival, "" if none does."""
    task = str(benchmark.attrs["task"])
    # 1 for their pair, -1 where the rival is its first, 0 for others.
    ahead = np.array([(sides == (best, rival)) - (sides == (rival, best)) for sides in sides_of(benchmark)])
    # Of very many tasks the result has no differences by task.
    if task not in benchmark.dims or not ahead.any() or _BY_TASK not in benchmark:
        return ""
    differences = benchmark[_BY_TASK].fillna(0.0) * xr.DataArray(ahead, dims="pair")
    leads = sign * differences.sum("pair").to_numpy()
    if 0 < leads.sum() <= 2 * leads.max():
        return f": {benchmark[task].to_numpy()[int(leads.argmax())]} carries the lead over {rival}"
    return ""


def _details(benchmark: xr.Dataset, likes: Compared, task: str) -> Iterator[str]:
    """Yield what is said of a single pair, or the ranks of many algorithms; margins; and what intervals do not hold."""
    if benchmark.sizes["pair"] == 1:
        yield from details_of_pair(benchmark.isel(pair=0))
    elif benchmark["rank_mean"].notnull().any():
        ranks = benchmark["rank_mean"].sortby(benchmark["rank_mean"])
        places = [f"{each['algorithm'].item()} {number(each.item())}" for each in ranks]
        yield f"Mean ranks over the {task}s that have all, 1 the best: {joined(places)}."
    if shows_answers(benchmark):
        yield from item_sentences(benchmark, likes)
    yield from group_sentences(benchmark, task)
    yield from one_more(benchmark, likes)
    yield from could_be_seen(benchmark, likes)
    if "margin_pvalue" in benchmark:
        yield from _margins(benchmark, task)
    yield from _skewed(benchmark, task)
    yield from _missing(benchmark)
    yield from say_absent_runs(benchmark, str(benchmark.attrs["task"]))


def _margins(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield which algorithms are shown not to be worse by more than the margin."""
    margin = number(benchmark.attrs["margin"])
    for claim, on in (("random", f"{task}s like these"), ("fixed", f"these {task}s")):
        p = of_claim(benchmark, claim)["margin_pvalue_adjusted"]
        shown = benchmark.isel(pair=provenance.significant(p.to_numpy(), provenance.alpha_of(benchmark)))
        pairs = [f"{a} than {b}" for a, b in sides_of(shown)]
        whom = "no first of a pair"
        if pairs:
            whom = listed(pairs, _MOST_NAMED)
        smallest = ""
        if p.notnull().any():
            smallest = f" (smallest adjusted {pvalue(p.min().item())})"
        yield f"On {on} shown not to be worse by more than {margin}: {whom}{smallest}."


def _skewed(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the pairs whose differences are skewed over tasks, the better first as in the table."""
    size = benchmark["difference"]
    dim = str(benchmark.attrs["task"])
    if _BY_TASK not in benchmark:
        return
    turned = better_first(benchmark, size, [_BY_TASK])
    d = turned[_BY_TASK]
    if dim not in d.dims or not (d.notnull().sum(dim) == benchmark["n_tasks"]).all():
        return
    apart = d - d.mean(dim)
    skewness = (apart**3).mean(dim) / (apart**2).mean(dim) ** 1.5
    names = np.atleast_1d(turned[TURNED].to_numpy())
    for is_skewed, side in (
        (skewness > _SKEWED, "above"),
        (skewness < -_SKEWED, "below"),
    ):
        pairs = names[np.atleast_1d(is_skewed.to_numpy())].tolist()
        if pairs:
            yield (
                f"Differences are skewed over {task}s ({listed(pairs, _MOST_NAMED)}): the interval for {task}s like "
                f"these holds less often than it says; true means that it misses lie {side} it."
            )


def _missing(benchmark: xr.Dataset) -> Iterator[str]:
    """Yield pairs without a mean difference, and tasks that some pairs lack."""
    known = benchmark["difference"].notnull()
    if not known.any():
        return
    pairs = _labels_where(benchmark, "pair", ~known & (benchmark["n_tasks"] > 0))
    if pairs:
        yield f"No mean difference, because some runs have no finite score: {pairs}."
    tasks = ""
    dim = str(benchmark.attrs["task"])
    # Of many tasks it is said how many each algorithm lacks.
    if benchmark.sizes.get(dim, MANY + 1) <= MANY and _BY_TASK in benchmark:
        d = benchmark[_BY_TASK]
        tasks = _labels_where(benchmark, dim, d.isnull().any("pair"))
    if tasks:
        yield f"Some pairs are without {tasks}, where one of the two has no run or none is finite."


def _labels_where(benchmark: xr.Dataset, dim: str, chosen: xr.DataArray) -> str:
    """Return the labels of a dim that are chosen, some of many; "" if none is."""
    names = benchmark[dim].to_numpy()[chosen.to_numpy()].tolist()
    if not names:
        return ""
    return listed(names, _MOST_NAMED)
