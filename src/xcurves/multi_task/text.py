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
    for one, name in benchmarks[:_MOST_NAMED]:
        said, left = _verdict(one, task)
        yield Statement("answer", f"{name}{' '.join(said)}")
        yield from (Statement("detail", f"{name}{text}") for text in left)
        yield from (
            Statement("caution", f"{name}{text}") for text in _cautions(one, task)
        )
    if len(benchmarks) > _MOST_NAMED:
        yield Statement(
            "answer", f"And {len(benchmarks) - _MOST_NAMED} more: the table has all."
        )
    if len(benchmarks) == 1:
        one, name = benchmarks[0]
        yield from (
            Statement("detail", f"{name}{text}") for text in _details_of_one(one, task)
        )
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


def _verdict(one: xr.Dataset, task: str) -> tuple[list[str], list[str]]:
    """Return the verdict on one benchmark, and the sentences that it has no room for."""
    if one["difference"].isnull().all():
        if one["n_tasks"].any():
            return [
                "There is no mean difference, because some runs have no finite score."
            ], []
        return [f"Nothing can be said: no two algorithms have a {task} in common."], []
    likes, these = (compared(one, claim, task) for claim in ("random", "fixed"))
    unlike = _unlike_scales(one, task)
    said = [unlike] if unlike else []
    if "reference" in one.attrs and one.sizes["pair"] > 1:
        for made in (likes, these):
            if any(not np.isnan(row.p) for row in made.rows):
                said += reference_sentences(made, str(one.attrs["reference"]))
        return said, []
    has_claim = any(not np.isnan(row.p) for row in likes.rows)
    made = likes if has_claim else these
    claims = list(claim_sentences(made))
    said += [best_sentence(made), *claims]
    if not has_claim:
        floors = _floors(one, "random", task)
        return [
            *said,
            *(
                f"For {task}s like these: {text[:1].lower()}{text[1:]}"
                for text in floors
            ),
        ], []
    following = list(_what_next(one, made, task))
    of_these = these_sentence(these, f"On these very {task}s")
    said += [
        *following,
        of_these
        or f"On these very {task}s alone there is no claim: in some, an algorithm has a single run.",
    ]
    return within_words(said, [*following, *claims[1:]])


def compared(one: xr.Dataset, claim: str, task: str) -> Comparison:
    """Return what the verdict about one benchmark by one claim is made of."""
    own = of_claim(one, claim)
    n_tasks = span({int(n) for n in one["n_tasks"].to_numpy() if n} or {0})
    weighted = "weighted mean" if "task_weights" in one else "mean"
    return Comparison(
        rows=rows_of(shown_of_claim(one, claim)),
        algorithms=[str(label) for label in one["algorithm"].to_numpy().tolist()],
        may_be_best=named(one, own["may_be_best"]) if "may_be_best" in own else [],
        score=f"{weighted} {score_name(one)} over {n_tasks} {task}s",
        units=units_of(one["difference"]),
        means=means_of(one, "score_mean"),
        on=f"on {task}s like these" if claim == "random" else f"on these very {task}s",
        lower_is_better=lower_is_better(one),
    )


def _what_next(one: xr.Dataset, made: Comparison, task: str) -> Iterator[str]:
    """Yield how many tasks it would take to tell the best from the nearest that may be the best too."""
    floors = list(_floors(one, "random", task))
    if floors:
        yield floors[0]
        return
    best = made.best
    rivals = [
        row
        for row in made.rows
        if best in row[:2] and not row.shown and not np.isnan(row.p)
    ]
    if not rivals:
        return
    near = min(rivals, key=lambda row: abs(row.amount))
    other = near.other if near.better == best else near.better
    of_pair = (one["algorithm_a"].astype(str) == best) & (
        one["algorithm_b"].astype(str) == other
    )
    of_pair |= (one["algorithm_a"].astype(str) == other) & (
        one["algorithm_b"].astype(str) == best
    )
    wanted = one["tasks_to_show"].where(of_pair).max().item()
    unit = _units_of_claim(one, task)
    if np.isinf(wanted):
        yield f"No number of {unit} within reach would tell {best} from {other}."
    elif not np.isnan(wanted):
        yield f"To tell {best} from {other} would take about {_about(wanted)} {unit}."


def _about(count_of: float) -> str:
    """Return a number in two significant digits."""
    return number(float(f"{count_of:.2g}"))


def _floors(one: xr.Dataset, claim: str, task: str) -> Iterator[str]:
    """Yield what is too few for a small p by one claim, with the cure."""
    own = of_claim(one, claim)
    least = own["pvalue_adjusted_least"]
    p = own["pvalue"].where(least.notnull())
    few, cure = f"{_runs_a_side(one)}", "run more"
    if claim == "random":
        few, cure = _number_of_families(one, task)
    yield from floor_sentences(
        least.to_numpy(), p.to_numpy(), provenance.alpha_of(one), few, cure
    )


def _number_of_families(one: xr.Dataset, task: str) -> tuple[str, str]:
    """Return how many tasks, or families of them, there are, and what to add."""
    groups = one.attrs.get("task_groups")
    if groups in one.coords:
        n_families = len(np.unique(one[groups].to_numpy().astype(str)))
        return count(
            n_families, f"family of {task}s", f"families of {task}s"
        ), "add families"
    return f"{span(one['n_tasks'].to_numpy().tolist())} {task}s", f"add {task}s"


def _cautions(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what few runs cannot show on these very tasks, and whether other measures name another algorithm."""
    for text in _floors(one, "fixed", task):
        yield f"For these very {task}s: {text[:1].lower()}{text[1:]}"
    if one.sizes["pair"] > 1 or one["difference"].notnull().all():
        yield from _disagreement(one, task)


def _unlike_scales(one: xr.Dataset, task: str) -> str | None:
    """Return that scores of tasks are on unlike scales, which tasks make the mean, and who leads on one scale."""
    carrying = carrying_tasks(one)
    if task not in one.dims or not carrying:
        return None
    ratio = number(task_spread_ratio(one).item(), 2)
    who = leader_on_one_scale(one)
    verb = "makes" if len(carrying) == 1 else "make"
    leads = f"; normalized, {who} leads" if who else ""
    return f"Scales differ {ratio}-fold between {task}s: {listed(carrying, _NAMED)} {verb} the mean{leads}."


def leader_on_one_scale(one: xr.Dataset) -> str | None:
    """Return who leads if the means of every task are scaled to run from 0, the worst, to 1, the best."""
    task = one.attrs["task"]
    means = one["task_mean"]
    low, high = means.min("algorithm"), means.max("algorithm")
    scaled = ((means - low) / (high - low).where(high > low)).mean(task)
    if lower_is_better(one):
        scaled = -scaled
    if scaled.isnull().all():
        return None
    return str(
        one["algorithm"].to_numpy()[int(scaled.fillna(-np.inf).argmax("algorithm"))]
    )


def _disagreement(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield that ranks or probabilities name another algorithm than the mean does, and the task that carries it."""
    likes = rows_of(shown_of_claim(one, "random"))
    best = most_ahead(likes) if "reference" not in one.attrs else None
    if best is None:
        return
    sign = -1 if lower_is_better(one) else 1
    by_theta = most_ahead(_rows_by(one, sign * (one["prob_greater"] - 0.5)))
    by_rank = None
    if one["rank_mean"].notnull().any():
        by_rank = str(
            one["algorithm"].to_numpy()[
                int(one["rank_mean"].fillna(np.inf).argmin("algorithm"))
            ]
        )
    measures = {
        "mean ranks name": by_rank,
        "the probability of scoring higher names": by_theta,
    }
    others = {
        how: name for how, name in measures.items() if name is not None and name != best
    }
    if not others:
        return
    said = "; ".join(f"{how} {name}" for how, name in others.items())
    yield f"The mean names {best}, {said}{_carrier(one, task, best, next(iter(others.values())), sign)}."


def _rows_by(one: xr.Dataset, size: xr.DataArray) -> list[PairRow]:
    """Return pairs with another size than the difference, without intervals."""
    a, b = (
        one[side].to_numpy().astype(str).tolist()
        for side in ("algorithm_a", "algorithm_b")
    )
    nothing = (np.nan, np.nan, np.nan, False)
    return [
        PairRow(first, second, each, *nothing)
        for first, second, each in zip(a, b, size.values, strict=True)
    ]


def _carrier(one: xr.Dataset, task: str, best: str, rival: str, sign: int) -> str:
    """Return which task carries the lead of the best over a rival, "" if none does."""
    a, b = (one[side].to_numpy().astype(str) for side in ("algorithm_a", "algorithm_b"))
    ahead = ((a == best) & (b == rival)).astype(int) - ((a == rival) & (b == best))
    if task not in one.dims or not ahead.any():
        return ""
    leads = (
        sign
        * (one["task_difference"].fillna(0.0) * xr.DataArray(ahead, dims="pair"))
        .sum("pair")
        .to_numpy()
    )
    if 0 < leads.sum() <= 2 * leads.max():
        return f": {one[task].to_numpy()[int(leads.argmax())]} carries the lead over {rival}"
    return ""


def _runs_a_side(one: xr.Dataset) -> str:
    counts = {int(n) for n in one["n_runs"].to_numpy().ravel() if n}
    return f"{span(counts or {0})} {'run' if counts == {1} else 'runs'} a side"


def _details_of_one(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what is said of a single pair, or the ranks of many algorithms; margins; and what intervals do not hold."""
    if one.sizes["pair"] == 1:
        yield from _details_of_pair(one.isel(pair=0), task)
    elif one["rank_mean"].notnull().any():
        ranks = one["rank_mean"].sortby(one["rank_mean"])
        places = [f"{each['algorithm'].item()} {number(each.item())}" for each in ranks]
        yield f"Mean ranks over the {task}s that have all, 1 the best: {joined(places)}."
    if "margin_pvalue" in one:
        yield from _margins(one, task)
    yield from _skewed(one, task)
    yield from _missing(one, task)
    yield from say_absent_runs(one, task)


def _margins(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield which algorithms are shown not to be worse by more than the margin."""
    margin = number(one.attrs["margin"])
    for claim, on in (("random", f"{task}s like these"), ("fixed", f"these {task}s")):
        p = of_claim(one, claim)["margin_pvalue_adjusted"]
        shown = one.isel(
            pair=provenance.significant(p.to_numpy(), provenance.alpha_of(one))
        )
        sides = zip(
            shown["algorithm_a"].to_numpy().tolist(),
            shown["algorithm_b"].to_numpy().tolist(),
            strict=True,
        )
        pairs = [f"{a} than {b}" for a, b in sides]
        whom = listed(pairs, _MOST_NAMED) if pairs else "no first of a pair"
        smallest = (
            f" (smallest adjusted {pvalue(p.min().item())})"
            if p.notnull().any()
            else ""
        )
        yield f"On {on} shown not to be worse by more than {margin}: {whom}{smallest}."


def _skewed(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the pairs whose differences are skewed over tasks."""
    d = one["task_difference"]
    if task not in d.dims or not (d.notnull().sum(task) == one["n_tasks"]).all():
        return
    apart = d - d.mean(task)
    skewness = (apart**3).mean(task) / (apart**2).mean(task) ** 1.5
    for is_skewed, side in (
        (skewness > _SKEWED, "above"),
        (skewness < -_SKEWED, "below"),
    ):
        pairs = _labels_where(one, "pair", is_skewed)
        if pairs:
            yield (
                f"Differences are skewed over {task}s ({pairs}): the interval for {task}s like these holds less often "
                f"than it says; true means that it misses lie {side} it."
            )


def _missing(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield pairs without a mean difference, and tasks that some pairs lack."""
    known = one["difference"].notnull()
    if not known.any():
        return
    pairs = _labels_where(one, "pair", ~known & (one["n_tasks"] > 0))
    if pairs:
        yield f"No mean difference, because some runs have no finite score: {pairs}."
    d = one["task_difference"]
    tasks = _labels_where(one, task, d.isnull().any("pair")) if task in d.dims else ""
    if tasks:
        yield f"Some pairs are without {tasks}, where one of the two has no run or none is finite."


def _labels_where(one: xr.Dataset, dim: str, chosen: xr.DataArray) -> str:
    """Return the labels of a dim that are chosen, some of many; "" if none is."""
    names = one[dim].to_numpy()[chosen.to_numpy()].tolist()
    return listed(names, _MOST_NAMED) if names else ""


def _details_of_pair(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield in how many tasks a difference is shown, how much it varies, and how often the better one scores higher."""
    d = pair["task_difference"]
    sign = -1 if pair["difference"] < 0 else 1
    first, second = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if sign < 0:
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
    if not np.isnan(p) and is_shown == (low > 0):
        verdict = "shown" if is_shown else "not shown"
        test = f"; that it differs over {task}s is {verdict} ({pvalue(p)})"
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
        of_first = theta if sign > 0 else 1 - theta
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
    a_is_better = (sign > 0) != lower_is_better(pair)
    better = pair["algorithm_a" if a_is_better else "algorithm_b"].item()
    other = pair["algorithm_b" if a_is_better else "algorithm_a"].item()
    if not a_is_better:
        share, low, high = 1 - share, 1 - high, 1 - low
    yield (
        f"With so many runs {better} scores better than {other} in {percent(share, 2)} of "
        f"{_units_of_claim(pair, task)} like these ({number(100 * low, 2)} to {number(100 * high, 2)} %)."
    )


def _units_of_claim(pair: xr.Dataset, task: str) -> str:
    """Return what the claim for tasks like these counts: tasks, or families of them."""
    return f"families of {task}s" if "task_groups" in pair.attrs else f"{task}s"
