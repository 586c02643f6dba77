"""The sentences and tables about differences over several tasks, for a reader who is no statistician."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.floors import fewest_flips
from xcurves.core.labels import named_tasks
from xcurves.core.pairs import (
    TURNED,
    PairRow,
    better_first,
    lower_is_better,
    most_ahead,
)
from xcurves.core.provenance import alpha_of
from xcurves.core.schema import Statement
from xcurves.core.verdict import (
    MOST_WORDS,
    Comparison,
    beside,
    best_sentence,
    claim_sentences,
    left_out_sentence,
    n_words,
    reference_sentence,
    these_sentence,
    within_words,
)
from xcurves.core.wording import (
    count,
    ends_of,
    joined,
    listed,
    number,
    percent,
    pvalue,
    quantity,
    span,
)
from xcurves.multi_task.absent_runs import say_absent_runs
from xcurves.multi_task.claims import of_claim
from xcurves.multi_task.compared import (
    compared,
    families_of_pairs,
    floors,
    left_out,
    n_families_of,
    no_common_tasks,
    noun_of,
    number_of_families,
    sides_of,
    units_of_claim,
)
from xcurves.multi_task.options import carrying_tasks, task_spread_ratio
from xcurves.multi_task.pair_text import details_of_pair

_SKEWED = 1.5  # skewness beyond which the interval for tasks like these holds .83 in place of .95
_NAMED = 2  # pairs that an answer names
_MOST_BESIDE = 4  # algorithms beside a reference that an answer names, of each kind
_MOST_TIMES = 20  # as many tasks: of more no number is said
_MOST_NAMED = 4  # benchmarks, or tasks, that a sentence names


def across_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the verdict for tasks like these and the claim for these very ones; then details and cautions."""
    task = noun_of(result)
    benchmarks = list(named_tasks(result, "difference"))
    for benchmark, name in benchmarks[:_MOST_NAMED]:
        sentences, left = _verdict(benchmark)
        yield Statement("answer", f"{name}{' '.join(sentences)}")
        for text in left:
            yield Statement("detail", f"{name}{text}")
        for text in _cautions(benchmark):
            yield Statement("caution", f"{name}{text}")
    if len(benchmarks) > _MOST_NAMED:
        yield Statement(
            "answer", f"And {len(benchmarks) - _MOST_NAMED} more: the table has all."
        )
    if len(benchmarks) == 1:
        benchmark, name = benchmarks[0]
        for text in _details_of_one(benchmark, task):
            yield Statement("detail", f"{name}{text}")
    if result.sizes["pair"] > 1:
        yield Statement(
            "detail",
            f"Intervals and p hold for all pairs together (p by step-down, {task}s like these by the smallest p, these "
            f"{task}s by Holm).",
        )
    yield Statement(
        "detail",
        f"For these {task}s: had other runs been made on them. For {task}s like these: had other {task}s been drawn "
        "from where these come from; this needs differences that are symmetric about their mean.",
    )
    if "task_groups" in result.attrs:
        families = f"families of {task}s ({result.attrs['task_groups']})"
        yield Statement(
            "detail",
            f"The claim for {task}s like these is about {families}: whole families are flipped.",
        )


def _verdict(benchmark: xr.Dataset) -> tuple[list[str], list[str]]:
    """Return the verdict on one benchmark, and the sentences that it has no room for."""
    task = noun_of(benchmark)
    if benchmark["difference"].isnull().all() and benchmark["n_tasks"].any():
        return [
            "There is no mean difference, because some runs have no finite score."
        ], []
    if benchmark["difference"].isnull().all():
        return [f"Nothing can be said: no two algorithms have a {task} in common."], []
    likes = compared(benchmark, "random")
    these = compared(benchmark, "fixed")
    sentences = []
    unlike = _unlike_scales(benchmark, task)
    if unlike:
        sentences.append(unlike)
    if "reference" in benchmark.attrs and benchmark.sizes["pair"] > 1:
        return _beside_reference(benchmark, [likes, these], sentences)

    alone = no_common_tasks(benchmark)
    if alone:
        n_shown = len([row for row in likes.rows if row.shown])
        pairs = count(len(likes.rows), "pair")
        return [
            *sentences,
            alone,
            f"On {task}s like these {n_shown} of {pairs} are shown to differ.",
        ], []
    # Without a claim for tasks like these, who is best is said of these very ones.
    if not _has_claim(likes):
        following = [
            f"For {task}s like these: {_small(text)}"
            for text in floors(benchmark, "random", of=likes)
        ]
        claims = list(claim_sentences(these))
        others = list(_left_out_clauses(benchmark, these))
        sentences += [best_sentence(these), *claims, *others, *following]
        return within_words(sentences, [*others[::-1], *claims[1:]])
    claims = list(claim_sentences(likes))
    others = list(_left_out_clauses(benchmark, likes))
    following = list(_what_next(benchmark, likes))
    of_these = list(_of_these(likes, these, task, short=bool(others)))
    sentences += [best_sentence(likes), *claims, *others, *following, *of_these]
    return within_words(
        sentences, [*others[:0:-1], *following, *claims[1:], *of_these, *others]
    )


def _of_these(
    likes: Comparison, these: Comparison, task: str, *, short: bool
) -> Iterator[str]:
    """Yield what is shown of the best, if one is named, on these very tasks."""
    if not _has_claim(these):
        yield f"On these very {task}s alone there is no claim: in some, an algorithm has a single run."
    elif likes.named_best is not None:
        shown = these_sentence(these, f"On these very {task}s", short=short)
        if shown:
            yield shown


def _small(text: str) -> str:
    """Return a sentence with a small first letter."""
    return f"{text[:1].lower()}{text[1:]}"


def _has_claim(comparison: Comparison) -> bool:
    """Return whether any pair that the verdict is about was tested."""
    return any(not np.isnan(row.p) for row in comparison.own_rows)


def _beside_reference(
    benchmark: xr.Dataset, claims: Sequence[Comparison], before: list[str]
) -> tuple[list[str], list[str]]:
    """Return how all stand beside the reference by each claim, as many by name as a verdict has room for."""
    reference = str(benchmark.attrs["reference"])
    n_tasks = span({int(n) for n in benchmark["n_tasks"].to_numpy() if n} or {0})
    over = f"over {n_tasks} {noun_of(benchmark)}s"
    tested = [
        replace(made, over=over)
        for made in claims
        if any(not np.isnan(row.p) for row in made.rows)
    ]
    for most in range(_MOST_BESIDE, 0, -1):
        sentences = [reference_sentence(made, reference, most) for made in tested]
        if n_words([*before, *sentences]) <= MOST_WORDS:
            return [*before, *sentences], []
    # By name those of the first claim; what holds of the second, for these very tasks, is a detail.
    for most in range(_MOST_BESIDE, 0, -1):
        first = reference_sentence(tested[0], reference, most)
        if n_words([*before, first]) <= MOST_WORDS:
            break
    return [*before, first], sentences[1:]


def _left_out_clauses(benchmark: xr.Dataset, made: Comparison) -> Iterator[str]:
    """Yield how the best stands to each algorithm that lacks tasks, on those that both have."""
    for name, has in left_out(benchmark, made):
        yield left_out_sentence(made, name, has)


def _nearest(made: Comparison) -> tuple[str, str] | None:
    """Return the best and its nearest rival, from which it is not told apart; None if there is none."""
    best = made.named_best
    rivals = [
        row
        for row in made.own_rows
        if best in row[:2] and not row.shown and not np.isnan(row.p)
    ]
    if best is None or not rivals:
        return None
    near = min(rivals, key=lambda row: abs(row.amount))
    return best, beside(best, near)


def _place_of(benchmark: xr.Dataset, names: tuple[str, str]) -> int:
    """Return the place of a pair in a result."""
    return [{*pair} for pair in sides_of(benchmark)].index({*names})


def _what_next(benchmark: xr.Dataset, likes: Comparison) -> Iterator[str]:
    """Yield how many tasks it would take to tell the best from the nearest that may be the best too."""
    few = list(floors(benchmark, "random", of=likes))
    if few:
        yield few[0]
        return
    names = _nearest(likes)
    if names is None:
        return
    place = _place_of(benchmark, names)
    wanted = float(benchmark["tasks_to_show"].to_numpy()[place])
    at_least = float(benchmark["tasks_at_least"].to_numpy()[place])
    n = n_families_of(benchmark, place)
    unit = units_of_claim(benchmark)
    begin = f"To tell {names[0]} from {names[1]} takes"
    if wanted > _MOST_TIMES * n:
        yield f"{begin} more than {_MOST_TIMES} times as many {unit}."
    elif np.isnan(wanted) and np.isfinite(at_least):
        yield f"{begin} at least {_about(at_least)} {unit}."
    # So many as there are would show it most often: then nothing says what it takes.
    elif wanted > n and at_least < wanted:
        yield f"{begin} at least {_about(at_least)} {unit}, about {_about(wanted)} if the difference is as seen."
    elif wanted > n:
        yield f"{begin} about {_about(wanted)} {unit} if the difference is as seen."


def _about(count_of: float) -> str:
    """Return a number in two significant digits."""
    return number(float(f"{count_of:.2g}"))


def _could_be_seen(benchmark: xr.Dataset) -> Iterator[str]:
    """Yield which difference of the best and its nearest rival so many tasks show, and what more runs would bring."""
    likes = compared(benchmark, "random")
    names = _nearest(likes)
    if names is None:
        return
    place = _place_of(benchmark, names)
    smallest = float(benchmark["smallest_to_show"].to_numpy()[place])
    if np.isnan(smallest):
        return
    unit = units_of_claim(benchmark)
    size = quantity(smallest, likes.units, 2)
    n = n_families_of(benchmark, place)
    sentence = f"In 8 of 10 cases {number(n)} {unit} show a difference of {size} between {names[0]} and {names[1]}"
    share = float(benchmark["noise_share"].to_numpy()[place])
    if benchmark.sizes["pair"] > 1 and not np.isnan(share):
        sentence += f"; more runs in them would take away {percent(share, 2)} of the variance between {noun_of(benchmark)}s"
    yield f"{sentence}."


def _one_more(benchmark: xr.Dataset) -> Iterator[str]:
    """Yield between which values the difference would be in one more task: of the best and the nearest beside it."""
    likes = compared(benchmark, "random")
    best = likes.named_best
    rows = [
        row for row in likes.own_rows if best in row[:2] and not np.isnan(row.amount)
    ]
    if best is None or not rows:
        return
    near = _nearest(likes)
    if near is None:
        nearest = min(rows, key=lambda row: abs(row.amount))
        near = best, beside(best, nearest)
    place = _place_of(benchmark, near)
    level = float(benchmark["new_task_level"].to_numpy()[place])
    if np.isnan(level):
        return
    # the ends of best minus other
    is_first = sides_of(benchmark)[place][0] == best
    low, high = ends_of(benchmark["new_task_ci"].isel(pair=place), turned=not is_first)
    where = f"On one more {noun_of(benchmark)} like these {best} would be"
    yield f"{where} {_between(low, high)} than {near[1]} ({percent(level, 2)})."


def _between(low: float, high: float) -> str:
    """Return between which differences something lies: "between 3.1 lower and 14 higher"."""
    if low < 0 < high:
        return f"between {number(-low, 2)} lower and {number(high, 2)} higher"
    if high <= 0:
        return f"between {number(-high, 2)} and {number(-low, 2)} lower"
    return f"between {number(low, 2)} and {number(high, 2)} higher"


def _cautions(benchmark: xr.Dataset) -> Iterator[str]:
    """Yield what few runs, or tasks, cannot show, and whether other measures name another algorithm."""
    task = noun_of(benchmark)
    for text in floors(benchmark, "fixed"):
        yield f"For these very {task}s: {_small(text)}"
    yield from _intervals_without_ends(benchmark)
    if benchmark.sizes["pair"] > 1 or benchmark["difference"].notnull().all():
        yield from _disagreement(benchmark)


def _intervals_without_ends(benchmark: xr.Dataset) -> Iterator[str]:
    """Yield that p could be small enough, but tasks are too few for intervals of all pairs together."""
    alpha, n_pairs = alpha_of(benchmark), benchmark.sizes["pair"]
    part = of_claim(benchmark, "random")
    tested = part["pvalue_adjusted"].notnull()
    ends = part["difference_ci_simultaneous"].where(tested)
    without = np.isneginf(ends.min("ci_bound")) & np.isposinf(ends.max("ci_bound"))
    if not without.any():
        return
    fewest = fewest_flips(alpha, n_pairs)
    few, things = number_of_families(benchmark.isel(pair=without.to_numpy()))
    if int(np.max(families_of_pairs(benchmark)[without.to_numpy()])) >= fewest:
        return
    algorithms = f"{benchmark.sizes['algorithm']} algorithms"
    yield f"With {few} intervals of {algorithms} together have no ends: add {things}: {fewest} are the fewest."


def _unlike_scales(benchmark: xr.Dataset, task: str) -> str | None:
    """Return that scores of tasks are on unlike scales, which tasks make the mean, and who leads on one scale."""
    carrying = carrying_tasks(benchmark)
    if benchmark.attrs["task"] not in benchmark.dims or not carrying:
        return None
    ratio = number(task_spread_ratio(benchmark).item(), 2)
    who = leader_on_one_scale(benchmark)
    verb = "make"
    if len(carrying) == 1:
        verb = "makes"
    leads = ""
    if who:
        leads = f"; normalized, {who} leads"
    return f"Scales differ {ratio}-fold between {task}s: {listed(carrying, _NAMED)} {verb} the mean{leads}."


def leader_on_one_scale(benchmark: xr.Dataset) -> str | None:
    """Return who leads if the means of every task are scaled to run from 0, the worst, to 1, the best."""
    task = benchmark.attrs["task"]
    means = benchmark["task_mean"]
    low, high = means.min("algorithm"), means.max("algorithm")
    scaled = ((means - low) / (high - low).where(high > low)).mean(task)
    if scaled.isnull().all():
        return None
    upward = scaled
    if lower_is_better(benchmark):
        upward = -scaled
    leader = int(upward.fillna(-np.inf).argmax("algorithm"))
    return str(benchmark["algorithm"].to_numpy()[leader])


def _disagreement(benchmark: xr.Dataset) -> Iterator[str]:
    """Yield that ranks or probabilities name another algorithm than the mean does, and the task that carries it."""
    if "reference" in benchmark.attrs:
        return
    likes = compared(benchmark, "random")
    best = likes.named_best
    if best is None:
        return
    sign = 1
    if likes.lower_is_better:
        sign = -1

    # Who is named by each measure that names another, in words. Ranks are those of tasks that all have.
    others = {}
    if benchmark["rank_mean"].notnull().any() and not likes.among:
        least = int(benchmark["rank_mean"].fillna(np.inf).argmin("algorithm"))
        others["mean ranks name"] = str(benchmark["algorithm"].to_numpy()[least])
    by_probability = most_ahead(
        row
        for row in _rows_by(benchmark, sign * (benchmark["prob_greater"] - 0.5))
        if {*row[:2]} <= {*likes.algorithms}
    )
    if by_probability is not None:
        others["the probability of scoring higher names"] = by_probability
    rivals = {how: name for how, name in others.items() if name != best}
    if not rivals:
        return
    first_rival = next(iter(rivals.values()))
    measures = "; ".join(f"{how} {name}" for how, name in rivals.items())
    yield f"The mean names {best}, {measures}{_carrier(benchmark, best, first_rival, sign)}."


def _rows_by(benchmark: xr.Dataset, size: xr.DataArray) -> list[PairRow]:
    """Return pairs with another size than the difference, without intervals."""
    a, b = (
        benchmark[side].to_numpy().astype(str).tolist()
        for side in ("algorithm_a", "algorithm_b")
    )
    nothing = (np.nan, np.nan, np.nan, False)
    return [
        PairRow(first, second, each, *nothing)
        for first, second, each in zip(a, b, size.values, strict=True)
    ]


def _carrier(benchmark: xr.Dataset, best: str, rival: str, sign: int) -> str:
    """Return which task carries the lead of the best over a rival, "" if none does."""
    task = str(benchmark.attrs["task"])
    a = benchmark["algorithm_a"].to_numpy().astype(str)
    b = benchmark["algorithm_b"].to_numpy().astype(str)
    # 1 for their pair, -1 where the rival is its first, 0 for others.
    ahead = ((a == best) & (b == rival)).astype(int) - ((a == rival) & (b == best))
    if task not in benchmark.dims or not ahead.any():
        return ""
    differences = benchmark["task_difference"].fillna(0.0) * xr.DataArray(
        ahead, dims="pair"
    )
    leads = sign * differences.sum("pair").to_numpy()
    if 0 < leads.sum() <= 2 * leads.max():
        return f": {benchmark[task].to_numpy()[int(leads.argmax())]} carries the lead over {rival}"
    return ""


def _details_of_one(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what is said of a single pair, or the ranks of many algorithms; margins; and what intervals do not hold."""
    if benchmark.sizes["pair"] == 1:
        yield from details_of_pair(benchmark.isel(pair=0))
    elif benchmark["rank_mean"].notnull().any():
        ranks = benchmark["rank_mean"].sortby(benchmark["rank_mean"])
        places = [f"{each['algorithm'].item()} {number(each.item())}" for each in ranks]
        yield f"Mean ranks over the {task}s that have all, 1 the best: {joined(places)}."
    yield from _one_more(benchmark)
    yield from _could_be_seen(benchmark)
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
        shown = benchmark.isel(
            pair=provenance.significant(p.to_numpy(), provenance.alpha_of(benchmark))
        )
        sides = zip(
            shown["algorithm_a"].to_numpy().tolist(),
            shown["algorithm_b"].to_numpy().tolist(),
            strict=True,
        )
        pairs = [f"{a} than {b}" for a, b in sides]
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
    turned = better_first(benchmark, size, ["task_difference"])
    d = turned["task_difference"]
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
    d = benchmark["task_difference"]
    tasks = ""
    dim = str(benchmark.attrs["task"])
    if dim in d.dims:
        tasks = _labels_where(benchmark, dim, d.isnull().any("pair"))
    if tasks:
        yield f"Some pairs are without {tasks}, where one of the two has no run or none is finite."


def _labels_where(benchmark: xr.Dataset, dim: str, chosen: xr.DataArray) -> str:
    """Return the labels of a dim that are chosen, some of many; "" if none is."""
    names = benchmark[dim].to_numpy()[chosen.to_numpy()].tolist()
    if not names:
        return ""
    return listed(names, _MOST_NAMED)
