"""The sentences and tables about differences over several tasks, for a reader who is no statistician."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.labels import named_tasks
from xcurves.core.pairs import (
    PairRow,
    lower_is_better,
    most_ahead,
    rows_of,
)
from xcurves.core.schema import Statement
from xcurves.core.verdict import (
    Comparison,
    best_sentence,
    claim_sentences,
    floor_sentences,
    means_of,
    named,
    reference_sentences,
    score_name,
    these_sentence,
    within_words,
)
from xcurves.core.wording import (
    count,
    ends_of,
    estimated,
    joined,
    listed,
    number,
    percent,
    pvalue,
    span,
    units_of,
)
from xcurves.multi_task.absent_runs import say_absent_runs
from xcurves.multi_task.claims import TASK_CLAIMS, of_claim, shown_of_claim
from xcurves.multi_task.options import carrying_tasks, task_spread_ratio

_SKEWED = 1.5  # skewness beyond which the interval for tasks like these holds .83 in place of .95
_NAMED = 2  # pairs that an answer names
_MOST_NAMED = 4  # benchmarks, or tasks, that a sentence names


def across_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the verdict for tasks like these and the claim for these very ones; then details and cautions."""
    task = result.attrs["task"]
    benchmarks = list(named_tasks(result, "difference"))
    for benchmark, name in benchmarks[:_MOST_NAMED]:
        sentences, left = _verdict(benchmark, task)
        yield Statement("answer", f"{name}{' '.join(sentences)}")
        for text in left:
            yield Statement("detail", f"{name}{text}")
        for text in _cautions(benchmark, task):
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


def _verdict(benchmark: xr.Dataset, task: str) -> tuple[list[str], list[str]]:
    """Return the verdict on one benchmark, and the sentences that it has no room for."""
    if benchmark["difference"].isnull().all() and benchmark["n_tasks"].any():
        return [
            "There is no mean difference, because some runs have no finite score."
        ], []
    if benchmark["difference"].isnull().all():
        return [f"Nothing can be said: no two algorithms have a {task} in common."], []
    likes = compared(benchmark, "random", task)
    these = compared(benchmark, "fixed", task)
    sentences = []
    unlike = _unlike_scales(benchmark, task)
    if unlike:
        sentences.append(unlike)
    if "reference" in benchmark.attrs and benchmark.sizes["pair"] > 1:
        for comparison in (likes, these):
            if _has_claim(comparison):
                sentences += reference_sentences(
                    comparison, str(benchmark.attrs["reference"])
                )
        return sentences, []

    # Without a claim for tasks like these, who is best is said of these very ones.
    if not _has_claim(likes):
        sentences += [best_sentence(these), *claim_sentences(these)]
        sentences += [
            f"For {task}s like these: {text[:1].lower()}{text[1:]}"
            for text in _floors(benchmark, "random", task)
        ]
        return sentences, []
    claims = list(claim_sentences(likes))
    following = list(_what_next(benchmark, likes, task))
    of_these = these_sentence(these, f"On these very {task}s")
    if not of_these:
        of_these = f"On these very {task}s alone there is no claim: in some, an algorithm has a single run."
    sentences += [best_sentence(likes), *claims, *following, of_these]
    return within_words(sentences, [*following, *claims[1:]])


def _has_claim(comparison: Comparison) -> bool:
    """Return whether any pair was tested."""
    return any(not np.isnan(row.p) for row in comparison.rows)


def compared(benchmark: xr.Dataset, claim: str, task: str) -> Comparison:
    """Return what the verdict about one benchmark by one claim is made of."""
    part = of_claim(benchmark, claim)
    may_be_best = []
    if "may_be_best" in part:
        may_be_best = named(benchmark, part["may_be_best"])
    n_tasks = span({int(n) for n in benchmark["n_tasks"].to_numpy() if n} or {0})
    mean = "mean"
    if "task_weights" in benchmark:
        mean = "weighted mean"
    on = f"on these very {task}s"
    if claim == "random":
        on = f"on {task}s like these"
    return Comparison(
        rows=rows_of(shown_of_claim(benchmark, claim)),
        algorithms=[str(label) for label in benchmark["algorithm"].to_numpy().tolist()],
        may_be_best=may_be_best,
        score=f"{mean} {score_name(benchmark)} over {n_tasks} {task}s",
        units=units_of(benchmark["difference"]),
        means=means_of(benchmark, "score_mean"),
        on=on,
        lower_is_better=lower_is_better(benchmark),
    )


def _what_next(benchmark: xr.Dataset, likes: Comparison, task: str) -> Iterator[str]:
    """Yield how many tasks it would take to tell the best from the nearest that may be the best too."""
    floors = list(_floors(benchmark, "random", task))
    if floors:
        yield floors[0]
        return
    best = likes.best
    rivals = [
        row
        for row in likes.rows
        if best in row[:2] and not row.shown and not np.isnan(row.p)
    ]
    if not rivals:
        return
    near = min(rivals, key=lambda row: abs(row.amount))
    other = near.better
    if near.better == best:
        other = near.other
    first = benchmark["algorithm_a"].astype(str)
    second = benchmark["algorithm_b"].astype(str)
    is_pair = (first == best) & (second == other)
    is_reversed = (first == other) & (second == best)
    wanted = benchmark["tasks_to_show"].where(is_pair | is_reversed).max().item()
    unit = _units_of_claim(benchmark, task)
    if np.isinf(wanted):
        yield f"No number of {unit} within reach would tell {best} from {other}."
    elif not np.isnan(wanted):
        yield f"To tell {best} from {other} would take about {_about(wanted)} {unit}."


def _about(count_of: float) -> str:
    """Return a number in two significant digits."""
    return number(float(f"{count_of:.2g}"))


def _floors(benchmark: xr.Dataset, claim: str, task: str) -> Iterator[str]:
    """Yield what is too few for a small p by one claim, with the cure."""
    part = of_claim(benchmark, claim)
    least = part["pvalue_adjusted_least"]
    p = part["pvalue"].where(least.notnull())
    if claim == "random":
        few, cure = _number_of_families(benchmark, task)
    else:
        few, cure = _runs_a_side(benchmark), "run more"
    yield from floor_sentences(
        least.to_numpy(), p.to_numpy(), provenance.alpha_of(benchmark), few, cure
    )


def _number_of_families(benchmark: xr.Dataset, task: str) -> tuple[str, str]:
    """Return how many tasks, or families of them, there are, and what to add."""
    groups = benchmark.attrs.get("task_groups")
    if groups in benchmark.coords:
        n_families = len(np.unique(benchmark[groups].to_numpy().astype(str)))
        return count(
            n_families, f"family of {task}s", f"families of {task}s"
        ), "add families"
    return f"{span(benchmark['n_tasks'].to_numpy().tolist())} {task}s", f"add {task}s"


def _cautions(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what few runs cannot show on these very tasks, and whether other measures name another algorithm."""
    for text in _floors(benchmark, "fixed", task):
        yield f"For these very {task}s: {text[:1].lower()}{text[1:]}"
    if benchmark.sizes["pair"] > 1 or benchmark["difference"].notnull().all():
        yield from _disagreement(benchmark, task)


def _unlike_scales(benchmark: xr.Dataset, task: str) -> str | None:
    """Return that scores of tasks are on unlike scales, which tasks make the mean, and who leads on one scale."""
    carrying = carrying_tasks(benchmark)
    if task not in benchmark.dims or not carrying:
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


def _disagreement(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield that ranks or probabilities name another algorithm than the mean does, and the task that carries it."""
    if "reference" in benchmark.attrs:
        return
    best = most_ahead(rows_of(shown_of_claim(benchmark, "random")))
    if best is None:
        return
    sign = 1
    if lower_is_better(benchmark):
        sign = -1

    # Who is named by each measure that names another, in words.
    others = {}
    if benchmark["rank_mean"].notnull().any():
        least = int(benchmark["rank_mean"].fillna(np.inf).argmin("algorithm"))
        others["mean ranks name"] = str(benchmark["algorithm"].to_numpy()[least])
    by_probability = most_ahead(
        _rows_by(benchmark, sign * (benchmark["prob_greater"] - 0.5))
    )
    if by_probability is not None:
        others["the probability of scoring higher names"] = by_probability
    rivals = {how: name for how, name in others.items() if name != best}
    if not rivals:
        return
    first_rival = next(iter(rivals.values()))
    measures = "; ".join(f"{how} {name}" for how, name in rivals.items())
    yield f"The mean names {best}, {measures}{_carrier(benchmark, task, best, first_rival, sign)}."


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


def _carrier(benchmark: xr.Dataset, task: str, best: str, rival: str, sign: int) -> str:
    """Return which task carries the lead of the best over a rival, "" if none does."""
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


def _runs_a_side(benchmark: xr.Dataset) -> str:
    counts = {int(n) for n in benchmark["n_runs"].to_numpy().ravel() if n}
    if counts == {1}:
        return f"{span(counts)} run a side"
    return f"{span(counts or {0})} runs a side"


def _details_of_one(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what is said of a single pair, or the ranks of many algorithms; margins; and what intervals do not hold."""
    if benchmark.sizes["pair"] == 1:
        yield from _details_of_pair(benchmark.isel(pair=0), task)
    elif benchmark["rank_mean"].notnull().any():
        ranks = benchmark["rank_mean"].sortby(benchmark["rank_mean"])
        places = [f"{each['algorithm'].item()} {number(each.item())}" for each in ranks]
        yield f"Mean ranks over the {task}s that have all, 1 the best: {joined(places)}."
    if "margin_pvalue" in benchmark:
        yield from _margins(benchmark, task)
    yield from _skewed(benchmark, task)
    yield from _missing(benchmark, task)
    yield from say_absent_runs(benchmark, task)


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
    """Yield the pairs whose differences are skewed over tasks."""
    d = benchmark["task_difference"]
    if task not in d.dims or not (d.notnull().sum(task) == benchmark["n_tasks"]).all():
        return
    apart = d - d.mean(task)
    skewness = (apart**3).mean(task) / (apart**2).mean(task) ** 1.5
    for is_skewed, side in (
        (skewness > _SKEWED, "above"),
        (skewness < -_SKEWED, "below"),
    ):
        pairs = _labels_where(benchmark, "pair", is_skewed)
        if pairs:
            yield (
                f"Differences are skewed over {task}s ({pairs}): the interval for {task}s like these holds less often "
                f"than it says; true means that it misses lie {side} it."
            )


def _missing(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield pairs without a mean difference, and tasks that some pairs lack."""
    known = benchmark["difference"].notnull()
    if not known.any():
        return
    pairs = _labels_where(benchmark, "pair", ~known & (benchmark["n_tasks"] > 0))
    if pairs:
        yield f"No mean difference, because some runs have no finite score: {pairs}."
    d = benchmark["task_difference"]
    tasks = ""
    if task in d.dims:
        tasks = _labels_where(benchmark, task, d.isnull().any("pair"))
    if tasks:
        yield f"Some pairs are without {tasks}, where one of the two has no run or none is finite."


def _labels_where(benchmark: xr.Dataset, dim: str, chosen: xr.DataArray) -> str:
    """Return the labels of a dim that are chosen, some of many; "" if none is."""
    names = benchmark[dim].to_numpy()[chosen.to_numpy()].tolist()
    if not names:
        return ""
    return listed(names, _MOST_NAMED)


def _details_of_pair(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield in how many tasks a difference is shown, how much it varies, and how often the better one scores higher."""
    d = pair["task_difference"]
    # The one with the higher mean comes first.
    sign = 1
    first, second = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if pair["difference"] < 0:
        sign = -1
        first, second = second, first
    if task in pair.dims and d.notnull().sum() == pair["n_tasks"]:
        yield from _task_by_task(pair, task, first, sign)
        yield from _spread_over_tasks(pair, task)
    yield from _how_often(pair, task, first, second, sign)


def _task_by_task(pair: xr.Dataset, task: str, first: str, sign: int) -> Iterator[str]:
    """Yield in how many tasks an algorithm is shown to be higher, and lower."""
    p = pair["task_pvalue_adjusted"].to_numpy()
    if pair["difference"].isnull() or not np.isfinite(p).any():
        return
    shown = provenance.significant(p, provenance.alpha_of(pair))
    signs = np.sign(sign * pair["task_difference"].to_numpy()[shown]).tolist()
    by = {"holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}[
        pair.attrs.get("task_correction", "holm")
    ]
    yield (
        f"Of {pair['n_tasks'].item()} {task}s {first} is shown higher in {signs.count(1)}, lower in {signs.count(-1)} "
        f"({_runs_a_side(pair)}; {by} over {task}s)."
    )


def _spread_over_tasks(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield how much the true difference varies over tasks; a test only where it agrees with the interval."""
    if pair["task_sd"].isnull():
        return
    alpha = provenance.alpha_of(pair)
    low, high = ends_of(pair["task_sd_ci"])
    p = pair["interaction_pvalue"].item()
    is_shown = bool(provenance.significant(p, alpha))
    test = ""
    agrees = is_shown == (low > 0)
    if not np.isnan(p) and agrees and is_shown:
        test = f"; that it differs over {task}s is shown ({pvalue(p)})"
    elif not np.isnan(p) and agrees:
        test = f"; that it differs over {task}s is not shown ({pvalue(p)})"
    yield (
        f"Over {_units_of_claim(pair, task)} the standard deviation of the true difference is estimated at "
        f"{estimated(pair['task_sd'].item(), low, high)}{test}."
    )
    share = pair["noise_share"].item()
    if not np.isnan(share):
        yield f"More runs in these {task}s would take away {percent(share, 2)} of the variance between {task}s."


def _how_often(
    pair: xr.Dataset, task: str, first: str, second: str, sign: int
) -> Iterator[str]:
    """Yield how often a run of the better algorithm scores higher, and in which share of tasks it does."""
    theta = pair["prob_greater"].item()
    if not np.isnan(theta):
        of_first = theta
        if sign < 0:
            of_first = 1 - theta
        fixed, random = (
            pvalue(of_claim(pair, claim)["prob_greater_pvalue"].item())
            for claim in TASK_CLAIMS
        )
        yield (
            f"A run of {first} scores higher than one of {second} with probability {number(of_first, 2)}, mean over "
            f"{task}s ({fixed} for these, {random} for {task}s like these)."
        )
    share = pair["share_better"].item()
    if np.isnan(share):
        return
    low, high = ends_of(pair["share_better_ci"])
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if (sign > 0) != lower_is_better(pair):
        yield _share_better(pair, task, (a, b), (share, low, high))
    else:
        yield _share_better(pair, task, (b, a), (1 - share, 1 - high, 1 - low))


def _share_better(
    pair: xr.Dataset,
    task: str,
    names: tuple[str, str],
    estimate: tuple[float, float, float],
) -> str:
    """Return in which share of tasks the first of two names scores better, given the estimate and its ends."""
    share, low, high = estimate
    return (
        f"With so many runs {names[0]} scores better than {names[1]} in {percent(share, 2)} of "
        f"{_units_of_claim(pair, task)} like these ({number(100 * low, 2)} to {number(100 * high, 2)} %)."
    )


def _units_of_claim(pair: xr.Dataset, task: str) -> str:
    """Return what the claim for tasks like these counts: tasks, or families of them."""
    if "task_groups" in pair.attrs:
        return f"families of {task}s"
    return f"{task}s"
