"""The sentences and tables about differences over several tasks, for a reader who is no statistician."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import provenance
from xcurves.core.labels import each_of, named_tasks
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of, frame_of_pairs, turned_pairs
from xcurves.core.wording import (
    PairDifferences,
    count,
    ends_of,
    interval,
    joined,
    listed,
    number,
    percent,
    pvalue,
    say_against,
    say_best,
    say_floor,
    span,
    value_of_best,
)
from xcurves.kernels.moments import Floats
from xcurves.kernels.task_flips import NO_BAND, SUBSET_MEANS
from xcurves.multi_task.options import carrying_tasks, few_carry, task_spread_ratio

_SKEWED = 1.5  # skewness beyond which the interval for tasks like these holds .83 in place of .95
_FEW = 3  # pairs of which each has a sentence
_NAMED = 2  # pairs that an answer names
TASK_CLAIMS = ("fixed", "random")
_MOST_NAMED = 4  # benchmarks, or tasks, that a sentence names


def across_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield who is best over tasks, for tasks like these and for these; what cannot be shown; then pairs and ranks."""
    task, found = result.attrs["task"], list(named_tasks(result, "difference"))
    for one, name in found[:_MOST_NAMED]:
        yield from (Statement("answer", f"{name}{text}") for text in _answers_of_one(one, task))
    if len(found) > _MOST_NAMED:
        yield Statement("answer", f"And {len(found) - _MOST_NAMED} more: the table has all.")
    for one, name in found if len(found) == 1 else []:
        yield from (Statement("detail", f"{name}{text}") for text in _details_of_pairs(one, task))
    level = percent(result.attrs["confidence_level"])
    if result.sizes["pair"] > 1:
        yield Statement(
            "detail",
            f"p is adjusted over pairs (these {task}s: Holm; {task}s like these: step-down max-|T|); the {level} "
            "intervals of sentences hold for all pairs together, those of the table for each pair by itself.",
        )
    yield Statement(
        "detail",
        f"For these {task}s: had other runs been made on them. For {task}s like these: had other {task}s been drawn "
        "from where these come from; this needs differences that are symmetric about their mean.",
    )
    if "task_groups" in result.attrs:
        families = f"families of {task}s ({result.attrs['task_groups']})"
        yield Statement("detail", f"The claim for {task}s like these is about {families}: whole families are flipped.")


def _answers_of_one(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield who is best in one benchmark, by both claims; what cannot be shown; whether other measures agree."""
    alpha, n_pairs = provenance.alpha_of(one), one.sizes["pair"]
    lower = not one.attrs.get("higher_is_better", 1)
    adjusted = {claim: one["pvalue_adjusted"].sel(task_effect=claim) for claim in ("random", "fixed")}
    first = "random" if adjusted["random"].notnull().any() or adjusted["fixed"].isnull().all() else "fixed"
    on = {"random": f"on {task}s like these", "fixed": f"on these very {task}s"}
    n = span({int(each) for each in one["n_tasks"].to_numpy() if each} or {0})
    what = f"{'weighted ' * ('task_weights' in one)}mean over {n} {task}s"
    if one["difference"].isnull().all():
        nothing = f"Nothing can be said: no two algorithms have a {task} in common."
        yield "There is no mean difference, because some runs score +inf." if one["n_tasks"].any() else nothing
    elif "reference" in one.attrs and n_pairs > 1:
        yield say_against(_pairs_of_claim(one, first), alpha, what=f"{what}, {on[first]}")
    else:
        pairs = _pairs_of_claim(one, first)
        value = value_of_best(one, pairs, lower_is_better=lower)
        yield say_best(pairs, alpha, what=what, value=value, lower_is_better=lower, on=on[first])
        if first == "random" and adjusted["fixed"].notnull().any():
            yield _for_these(one, alpha, on["fixed"], lower=lower)
        elif first == "random":
            yield f"Of these very {task}s alone there is no claim: in some, an algorithm has a single run."
    yield from _claim_floors(one, task, alpha)
    if task in one.dims and few_carry(one):
        yield (
            f"The mean difference is that of {listed(carrying_tasks(one), _MOST_NAMED)}: runs differ "
            f"{number(task_spread_ratio(one).item(), 2)} times as much in one {task} as in another; normalize scores, "
            "or read the probability of scoring higher."
        )
    if n_pairs > 1 or one["difference"].notnull().all():
        yield from _disagreement(one, task, lower=lower)


def _pairs_of_claim(one: xr.Dataset, claim: str) -> PairDifferences:
    own = one.sel(task_effect=claim)
    return PairDifferences.of(own, "difference", "difference_ci_simultaneous", own["pvalue_adjusted"])


def _for_these(one: xr.Dataset, alpha: float, on: str, *, lower: bool) -> str:
    """Return over how many algorithms the best is shown to be better on these very tasks."""
    pairs = _pairs_of_claim(one, "fixed").turned() if lower else _pairs_of_claim(one, "fixed")
    leads = pairs.leads(pairs.best())
    shown = [lead for lead in leads if lead.size > 0 and provenance.significant(lead.p, alpha)]
    word = "lower" if lower else "higher"
    if len(leads) == 1:
        said = "it is shown" if shown else "it is not shown"
        return f"{on.capitalize()} {said} {word} ({interval(leads[0].low, leads[0].high)}; {pvalue(leads[0].p)})."
    of = "all" if len(shown) == len(leads) else f"{len(shown)} of"
    return f"{on.capitalize()} it is shown {word} than {of} {len(leads)} others."


def _claim_floors(one: xr.Dataset, task: str, alpha: float) -> Iterator[str]:
    """Yield which claims could not be shown, whatever the scores."""
    for claim, whom, few, more in (
        ("random", f"{task}s like these", f"{span(one['n_tasks'].to_numpy().tolist())} {task}s", f"add {task}s"),
        ("fixed", f"these very {task}s", _runs_a_side(one), "run more"),
    ):
        own = one.sel(task_effect=claim)
        least = own["pvalue_adjusted_least"].to_numpy()
        tested = np.where(np.isnan(least), np.nan, own["pvalue"].to_numpy())
        for text in say_floor(least, tested, alpha, few, more):
            yield f"For {whom}: {text[:1].lower()}{text[1:]}"


def _runs_a_side(one: xr.Dataset) -> str:
    counts = {int(n) for n in one["n_runs"].to_numpy().ravel() if n}
    return f"{span(counts or {0})} {'run' if counts == {1} else 'runs'} a side"


def _disagreement(one: xr.Dataset, task: str, *, lower: bool) -> Iterator[str]:
    """Yield that ranks or probabilities name another algorithm than the mean does, and the task that carries it."""
    pairs = _pairs_of_claim(one, "random").turned() if lower else _pairs_of_claim(one, "random")
    best, theta = pairs.best(), one["prob_greater"].to_numpy() - 0.5
    by_theta = pairs._replace(difference=-theta if lower else theta).best()
    named = {"the probability of scoring higher": by_theta}
    if one["rank_mean"].notnull().any():
        ranks = one["rank_mean"].fillna(np.inf).to_numpy()
        named = {"mean ranks": one["algorithm"].to_numpy().tolist()[int(ranks.argmin())]} | named
    others = {how: name for how, name in named.items() if name is not None and str(name) != str(best)}
    if best is None or not others:
        return
    rival = next(iter(others.values()))
    said = "; ".join(f"{how} name{'' if how.endswith('ranks') else 's'} {name}" for how, name in others.items())
    carried = _carrier(one, task, best, rival, lower=lower)
    yield f"The mean names {best}, {said}{carried}."


def _carrier(one: xr.Dataset, task: str, best: object, rival: object, *, lower: bool) -> str:
    """Return which task carries the lead of the best by the mean over another algorithm."""
    if task not in one.dims:
        return ""
    for pair in each_of(one, "pair"):
        sides = [pair["algorithm_a"].item(), pair["algorithm_b"].item()]
        if {best, rival} == set(sides):
            sign = (1 if sides[0] == best else -1) * (-1 if lower else 1)
            leads = sign * pair["task_difference"].fillna(0.0).to_numpy()
            most = int(leads.argmax())
            if leads.sum() > 0 and leads[most] >= leads.sum() / 2:
                return f": {pair[task].to_numpy()[most]} carries the lead over {rival}"
    return ""


def _details_of_pairs(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what is said of a single pair, or the ranks of many algorithms."""
    if one.sizes["pair"] == 1:
        pair = one.isel(pair=0)
        for each in (_shown_tasks, _task_spread, _chance, _share_better):
            yield from each(pair, task)
    else:
        best = one["may_be_best"].sel(task_effect="random")
        names = one["algorithm"].to_numpy()[best.to_numpy() == 1].tolist()
        if len(names) > 1 and best.sizes["algorithm"] > 2:
            yield f"On {task}s like these no algorithm is shown to be better than {listed(names)}."
        if one["rank_mean"].notnull().any():
            ranks = one["rank_mean"].sortby(one["rank_mean"])
            said = [f"{each['algorithm'].item()} {number(each.item())}" for each in ranks]
            yield f"Mean ranks over the {task}s that have all, 1 the best: {joined(said)}."
    yield from _margins(one, task)
    yield from _skewed(one, task)
    if not one["difference"].notnull().any():
        return
    for which, some, why in (
        ("No mean difference, because some runs score +inf: ", one["difference"].isnull() & (one["n_tasks"] > 0), ""),
        ("Some pairs are without ", _lacking(one, task), ", where one of the two has no run or none is finite"),
    ):
        if some.any():
            names = some[some.dims[0]].to_numpy()[some.to_numpy()].tolist()
            yield f"{which}{listed(names, _MOST_NAMED)}{why}."


def _lacking(one: xr.Dataset, task: str) -> xr.DataArray:
    """Return which tasks some pairs lack."""
    if task not in one["task_difference"].dims:
        return xr.zeros_like(one["difference"], bool)
    return one["task_difference"].isnull().any("pair") & one["n_runs"].notnull().any("algorithm")


def _margins(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield of which pairs the first is shown not to be worse by more than the margin."""
    if "margin_pvalue_adjusted" not in one:
        return
    margin = number(one.attrs["margin"])
    for claim, on in (("random", f"{task}s like these"), ("fixed", f"these {task}s")):
        p = one["margin_pvalue_adjusted"].sel(task_effect=claim)
        shown = provenance.significant(p.to_numpy(), provenance.alpha_of(one))
        sides = zip(one["algorithm_a"].to_numpy().tolist(), one["algorithm_b"].to_numpy().tolist(), shown, strict=True)
        said = [f"{a} than {b}" for a, b, marked in sides if marked] or ["no first of a pair"]
        known = p.to_numpy()[~np.isnan(p.to_numpy())]
        smallest = f" (smallest adjusted {pvalue(known.min())})" if known.size else ""
        yield f"On {on} shown not to be worse by more than {margin}: {listed(said, _MOST_NAMED)}{smallest}."


def _skewed(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield which pairs differ so skewly over tasks that the interval for tasks like these misses more often."""
    if not all(_has_all(pair, task) for pair in each_of(one, "pair")):
        return
    d = one["task_difference"].transpose("pair", task).to_numpy()
    for sign, side in ((1, "above"), (-1, "below")):
        pairs = one["pair"].to_numpy()[[sign * _skewness(row) > _SKEWED for row in d]].tolist()
        if pairs:
            yield (
                f"Differences are skewed over {task}s ({listed(pairs, _MOST_NAMED)}): the interval for {task}s like "
                f"these holds less often than it says; true means that it misses lie {side} it."
            )


def _skewness(values: Floats) -> float:
    """Return the skewness of the numbers that are known, 0 of fewer than three or of equal ones."""
    known = values[np.isfinite(values)]
    apart = known - known.mean() if known.size > 2 else np.zeros(1)
    spread = (apart**2).mean()
    return float((apart**3).mean() / spread**1.5) if spread > 0 else 0.0


def _shown_tasks(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield in how many tasks a difference is shown."""
    if not _has_all(pair, task) or pair["difference"].isnull():
        return
    sign = 1 if pair["difference"].item() >= 0 else -1
    p, d = pair["task_pvalue_adjusted"].to_numpy(), sign * pair["task_difference"].to_numpy()
    if np.isfinite(p).any():
        shown = provenance.significant(p, provenance.alpha_of(pair))
        higher, lower = (np.count_nonzero(shown & where) for where in (d > 0, d < 0))
        by = {"holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}[pair.attrs.get("correction", "holm")]
        first = pair["algorithm_a" if sign > 0 else "algorithm_b"].item()
        yield (
            f"Of {pair['n_tasks'].item()} {task}s {first} is shown higher in {higher}, lower in {lower} "
            f"({_runs_a_side(pair)}; {by} over {task}s)."
        )


def _has_all(pair: xr.Dataset, task: str) -> bool:
    """Return whether all tasks that were compared are there, not a selection of them."""
    return task in pair.dims and np.count_nonzero(pair["task_difference"].notnull()) == pair["n_tasks"].item()


def _task_spread(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield how much the true difference varies over tasks, beside how much runs do."""
    tau, p = pair["task_sd"].item(), pair["interaction_pvalue"].item()
    if tau != tau or not _has_all(pair, task):
        return
    error = np.sqrt(np.nanmean(pair["task_stderr"].to_numpy() ** 2))
    low, high = ends_of(pair["task_sd_ci"])
    varies = ""
    if p == p:
        shown = provenance.significant(p, provenance.alpha_of(pair)) and low > 0
        varies = f"; that it differs over {task}s is {'' if shown else 'not '}shown ({pvalue(p)})"
    unit = "families of " if "task_groups" in pair.attrs else ""
    yield (
        f"Over {unit}{task}s the standard deviation of the true difference is estimated at {number(tau, 2)} "
        f"({interval(low, high, 2)}); its standard error within one {task} is {number(error, 2)}{varies}."
    )


def _chance(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield the mean probability that the one scores higher than the other."""
    theta = pair["prob_greater"].item()
    if theta != theta:
        return
    first, second = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if theta < 0.5:
        first, second, theta = second, first, 1 - theta
    fixed, random = (pvalue(pair["prob_greater_pvalue"].sel(task_effect=claim).item()) for claim in ("fixed", "random"))
    yield (
        f"A run of {first} scores higher than one of {second} with probability {number(theta, 2)}, mean over {task}s "
        f"({fixed} for these, {random} for {task}s like these)."
    )


def _share_better(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield in what share of tasks the first is better."""
    share = pair["share_better"].item()
    if share == share:
        unit = "families of " if "task_groups" in pair.attrs else ""
        ends = " to ".join(number(100 * end, 2) for end in ends_of(pair["share_better_ci"]))
        yield (
            f"With so many runs {pair['algorithm_a'].item()} scores better than {pair['algorithm_b'].item()} in "
            f"{percent(share, 2)} of {unit}{task}s like these ({ends} %)."
        )


def aggregate_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield where pairs differ, the largest difference first; every pair; and what the bands mean."""
    pairs = [(name, pair) for one, name in named_tasks(result, "n_tasks") for pair in each_of(one, "pair")]
    pairs.sort(key=lambda named: -float(abs(named[1]["difference"]).max().fillna(-np.inf)))
    if len(pairs) == 1:
        return statements(pairs[0][0] + _profile_claim(pairs[0][1]), _about_bands(result))
    task = result.attrs["task"]
    said = [f"{name}{where}" for name, pair in pairs if (where := _where(pair))]
    more = f"; and {count(len(said) - _NAMED, 'more pair')}" if len(said) > _NAMED else ""
    shown = [f"{'; '.join(said[:_NAMED])}{more}"] * bool(said)
    rest = [f"{len(pairs) - len(said)} of {len(pairs)} pairs are not shown to differ at any fraction"]
    answer = f"Over {task}s, {'; '.join([*shown, *rest * (len(said) < len(pairs))])}."
    return statements(answer, _about_bands(result))


def _about_bands(result: xr.Dataset) -> Iterator[str]:
    """Yield where every pair differs, then what the bands mean."""
    for one, name in named_tasks(result, "n_tasks") if result["n_tasks"].size <= _FEW else []:
        for pair in each_of(one, "pair"):
            yield name + _profile_claim(pair)
    task = result.attrs["task"]
    yield (
        f"p and the band of a difference hold for all fractions of the budget together, and for {task}s like these; "
        f"each pair by itself. The bands of mean curves hold along the whole curve, for these {task}s."
    )
    known = result["mean_curve"].notnull()
    begun = known["budget_fraction"].to_numpy()[known.any([dim for dim in known.dims if dim != "budget_fraction"])]
    if begun.size and begun[0] > result["budget_fraction"][0]:
        begins = f"{100 * begun[0]:.0f} %"
        yield f"Below {begins} of the budget some {task} has no score: fractions before that are left out."
    method = result["band_method"].where(result["n_tasks"] > 0)
    if (method == NO_BAND).any():
        yield (
            f"Of so few {task}s or families no band of the difference holds at all fractions together; the interval "
            "at a fraction by itself is result['difference_ci']."
        )
    if (method == SUBSET_MEANS).any():
        yield (
            f"Families of {task}s are unlike in weight, or few: the band of the difference is that of subset means, at "
            "a level divided by the number of fractions."
        )
    if result["mean_curve_band"].isnull().all():
        yield f"Mean curves have no band: a {task} has a single run, or runs are too few for a finite one."


def _profile_claim(pair: xr.Dataset) -> str:
    """Return where a pair differs, with the smallest p."""
    n, smallest = count(pair["n_tasks"].item(), pair.attrs["task"]), pair["pvalue_adjusted"].min().item()
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if smallest != smallest:
        return f"{pair['pair'].item()}: nothing can be said of {n}."
    verdict = _where(pair) or f"{a} and {b} are not shown to differ at any fraction of the budget"
    return f"Over {n} {verdict} (smallest adjusted {pvalue(smallest)})."


def _where(pair: xr.Dataset) -> str:
    """Return at which fractions of the budget either of a pair scores higher; "" if at none."""
    known = pair.isel(budget_fraction=pair["pvalue_adjusted"].notnull().to_numpy())
    shown = provenance.significant(known["pvalue_adjusted"].to_numpy(), provenance.alpha_of(pair))
    d, at = known["difference"].to_numpy(), known["budget_fraction"].to_numpy()
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    return " and ".join(
        f"{first} scores higher than {second} at {_say_fractions(at, marked)} of the budget"
        for first, second, marked in ((a, b, shown & (d > 0)), (b, a, shown & (d < 0)))
        if marked.any()
    )


def _say_fractions(at: Floats, marked: Floats) -> str:
    """Return stretches of neighbouring fractions that are marked, in percent."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
    ends = [(f"{100 * at[start]:.0f}", f"{100 * at[stop - 1]:.0f}") for start, stop in edges.reshape(-1, 2).tolist()]
    return joined([f"{' to '.join(dict.fromkeys(each))} %" for each in ends])


def across_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the largest first: the difference, both intervals and p, P(X > Y), and τ."""
    size = result["difference"]
    result = turned_pairs(result, size, ["difference", "difference_ci"], ["prob_greater"])
    columns = {"difference": result["difference"]}
    for claim in result["task_effect"].to_numpy().tolist():
        own = result.sel(task_effect=claim, drop=True)
        columns |= bounds(own["difference_ci"], f"{claim}_") | {f"{claim}_p": own["pvalue_adjusted"]}
    chance = {"prob_greater": result["prob_greater"]}
    adjusted = result["prob_greater_pvalue_adjusted"]
    if "random" in adjusted["task_effect"]:
        chance["prob_greater_p"] = adjusted.sel(task_effect="random", drop=True)
    return frame_of_pairs(columns | chance | {"task_sd": result["task_sd"]}, size, result["pair_turned"])


def aggregate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair and fraction of the budget: the difference, its band and the adjusted p."""
    columns = {"difference": result["difference"], **bounds(result["difference_band"]), "p": result["pvalue_adjusted"]}
    return frame_of(columns, ["pair", "budget_fraction"])
