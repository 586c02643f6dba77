"""The sentences and tables about differences over several tasks, for a reader who is no statistician."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import provenance
from xcurves.core.labels import each_of, named_tasks
from xcurves.core.pairs import TURNED, better_first, displayed_pairs, heading
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of, frame_of_pairs
from xcurves.core.wording import (
    PairDifferences,
    count,
    ends_of,
    estimated,
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
from xcurves.kernels.task_flips import NO_BAND, SUBSET_MEANS
from xcurves.multi_task.options import carrying_tasks, task_spread_ratio

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
    details = [f"{name}{text}" for one, name in found for text in _details_of_one(one, task)] if len(found) == 1 else []
    if result.sizes["pair"] > 1:
        details.append(
            f"p is adjusted over pairs (these {task}s: Holm; {task}s like these: step-down max-|T|); the "
            f"{percent(result.attrs['confidence_level'])} intervals of sentences hold for all pairs together, those of "
            "the table for each pair by itself."
        )
    details.append(
        f"For these {task}s: had other runs been made on them. For {task}s like these: had other {task}s been drawn "
        "from where these come from; this needs differences that are symmetric about their mean."
    )
    if "task_groups" in result.attrs:
        families = f"families of {task}s ({result.attrs['task_groups']})"
        details.append(f"The claim for {task}s like these is about {families}: whole families are flipped.")
    yield from (Statement("detail", text) for text in details)


def _answers_of_one(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield who is best in one benchmark, by both claims; what cannot be shown; whether other measures agree."""
    alpha, lower = provenance.alpha_of(one), not one.attrs.get("higher_is_better", 1)
    random, fixed = (_pairs_of_claim(one, claim) for claim in ("random", "fixed"))
    has_random, has_fixed = (not np.isnan(pairs.p).all() for pairs in (random, fixed))
    likes = has_random or not has_fixed
    first, on = (random, f"on {task}s like these") if likes else (fixed, f"on these very {task}s")
    n = span({int(each) for each in one["n_tasks"].to_numpy() if each} or {0})
    what = f"{'weighted ' * ('task_weights' in one)}mean over {n} {task}s"
    if np.isnan(first.difference).all():
        nothing = f"Nothing can be said: no two algorithms have a {task} in common."
        yield "There is no mean difference, because some runs score +inf." if one["n_tasks"].any() else nothing
    elif "reference" in one.attrs and one.sizes["pair"] > 1:
        yield say_against(first, alpha, what=f"{what}, {on}")
    else:
        value = value_of_best(one, first, lower_is_better=lower)
        yield say_best(first, alpha, what=what, value=value, lower_is_better=lower, on=on)
        if likes and has_fixed:
            yield _for_these(fixed.turned() if lower else fixed, alpha, task, "lower" if lower else "higher")
        elif likes:
            yield f"Of these very {task}s alone there is no claim: in some, an algorithm has a single run."
    for claim, whom, few, more in (
        ("random", f"{task}s like these", f"{span(one['n_tasks'].to_numpy().tolist())} {task}s", f"add {task}s"),
        ("fixed", f"these very {task}s", _runs_a_side(one), "run more"),
    ):
        own = one.sel(task_effect=claim)
        least = own["pvalue_adjusted_least"]
        for text in say_floor(least.to_numpy(), own["pvalue"].where(least.notnull()).to_numpy(), alpha, few, more):
            yield f"For {whom}: {text[:1].lower()}{text[1:]}"
    if task in one.dims and (carrying := carrying_tasks(one)):
        yield (
            f"The mean difference is that of {listed(carrying, _MOST_NAMED)}: runs differ "
            f"{number(task_spread_ratio(one).item(), 2)} times as much in one {task} as in another; normalize scores, "
            "or read the probability of scoring higher."
        )
    if one.sizes["pair"] > 1 or one["difference"].notnull().all():
        yield from _disagreement(one, task, random, -1 if lower else 1)


def _disagreement(one: xr.Dataset, task: str, pairs: PairDifferences, sign: int) -> Iterator[str]:
    """Yield that ranks or probabilities name another algorithm than the mean does, and the task that carries it."""
    theta = one["prob_greater"].to_numpy() - 0.5
    best, by_theta = (pairs._replace(difference=sign * each).best() for each in (pairs.difference, theta))
    place = int(one["rank_mean"].fillna(np.inf).argmin("algorithm"))
    by_rank = one["algorithm"].to_numpy().tolist()[place] if one["rank_mean"].notnull().any() else None
    named = {"mean ranks name": by_rank, "the probability of scoring higher names": by_theta}
    others = {how: name for how, name in named.items() if name is not None and str(name) != str(best)}
    if best is None or not others:
        return
    rival, carrier = next(iter(others.values())), ""
    ahead = [((a, b) == (best, rival)) - ((b, a) == (best, rival)) for a, b in zip(*pairs[:2], strict=True)]
    if task in one.dims and any(ahead):
        leads = (one["task_difference"].fillna(0.0) * xr.DataArray(ahead, dims="pair")).sum("pair").to_numpy() * sign
        if 0 < leads.sum() <= 2 * leads.max():
            carrier = f": {one[task].to_numpy()[int(leads.argmax())]} carries the lead over {rival}"
    yield f"The mean names {best}, {'; '.join(f'{how} {name}' for how, name in others.items())}{carrier}."


def claims_of(result: xr.Dataset) -> list[str]:
    """Return the claims that a result has, in their order; one that was selected counts."""
    return [str(claim) for claim in np.atleast_1d(result["task_effect"].to_numpy()).tolist()]


def of_claim(result: xr.Dataset, claim: str) -> xr.Dataset:
    """Return the part of a result that is about one claim."""
    return result.sel(task_effect=claim) if "task_effect" in result.dims else result


def shown_of_claim(result: xr.Dataset, claim: str) -> xr.Dataset:
    """Return what is shown of pairs by one claim, as `displayed_pairs` has it."""
    own = of_claim(result, claim)
    return displayed_pairs(own, "difference", "difference_ci_simultaneous", own["pvalue_adjusted"])


def _pairs_of_claim(one: xr.Dataset, claim: str) -> PairDifferences:
    own = one.sel(task_effect=claim)
    return PairDifferences.of(own, "difference", "difference_ci_simultaneous", own["pvalue_adjusted"])


def _for_these(pairs: PairDifferences, alpha: float, task: str, more: str) -> str:
    """Return over how many algorithms the best is shown to be better on these very tasks."""
    leads = pairs.leads(pairs.best())
    n_shown = sum(lead.size > 0 and bool(provenance.significant(lead.p, alpha)) for lead in leads)
    said = f"On these very {task}s it is {'not ' * (len(leads) == 1 and not n_shown)}shown {more}"
    if len(leads) == 1:
        return f"{said} ({interval(leads[0].low, leads[0].high)}; {pvalue(leads[0].p)})."
    return f"{said} than {'all' if n_shown == len(leads) else f'{n_shown} of'} {len(leads)} others."


def _runs_a_side(one: xr.Dataset) -> str:
    counts = {int(n) for n in one["n_runs"].to_numpy().ravel() if n}
    return f"{span(counts or {0})} {'run' if counts == {1} else 'runs'} a side"


def _named(one: xr.Dataset, dim: str, chosen: xr.DataArray) -> str:
    """Return the labels of a dim that are chosen, some of many; "" if none is."""
    names = one[dim].to_numpy()[chosen.to_numpy()].tolist()
    return listed(names, _MOST_NAMED) if names else ""


def _details_of_one(one: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what is said of a single pair, or the ranks of many algorithms; margins; and what intervals do not hold."""
    if one.sizes["pair"] == 1:
        yield from _details_of_pair(one.isel(pair=0), task)
    else:
        best, ranks = one["may_be_best"].sel(task_effect="random") == 1, one["rank_mean"]
        if best.sum() > 1 and best.size > 2:
            names = listed(one["algorithm"].to_numpy()[best.to_numpy()].tolist())
            yield f"On {task}s like these no algorithm is shown to be better than {names}."
        if ranks.notnull().any():
            said = [f"{each['algorithm'].item()} {number(each.item())}" for each in ranks.sortby(ranks)]
            yield f"Mean ranks over the {task}s that have all, 1 the best: {joined(said)}."
    for claim, on in [("random", f"{task}s like these"), ("fixed", f"these {task}s")] if "margin_pvalue" in one else []:
        p = one["margin_pvalue_adjusted"].sel(task_effect=claim)
        shown = one.isel(pair=provenance.significant(p.to_numpy(), provenance.alpha_of(one)))
        sides = zip(shown["algorithm_a"].to_numpy().tolist(), shown["algorithm_b"].to_numpy().tolist(), strict=True)
        said = [listed([f"{a} than {b}" for a, b in sides] or ["no first of a pair"], _MOST_NAMED)]
        said += [f"(smallest adjusted {pvalue(p.min().item())})"] * bool(p.notnull().any())
        yield f"On {on} shown not to be worse by more than {number(one.attrs['margin'])}: {' '.join(said)}."
    d = one["task_difference"]
    if task in d.dims and (d.notnull().sum(task) == one["n_tasks"]).all():
        apart = d - d.mean(task)
        skewness = (apart**3).mean(task) / (apart**2).mean(task) ** 1.5
        for skewed, side in ((skewness > _SKEWED, "above"), (skewness < -_SKEWED, "below")):
            if pairs := _named(one, "pair", skewed):
                yield (
                    f"Differences are skewed over {task}s ({pairs}): the interval for {task}s like these holds less "
                    f"often than it says; true means that it misses lie {side} it."
                )
    known = one["difference"].notnull()
    if known.any() and (pairs := _named(one, "pair", ~known & (one["n_tasks"] > 0))):
        yield f"No mean difference, because some runs score +inf: {pairs}."
    if known.any() and task in d.dims and (tasks := _named(one, task, d.isnull().any("pair"))):
        yield f"Some pairs are without {tasks}, where one of the two has no run or none is finite."


def _details_of_pair(pair: xr.Dataset, task: str) -> Iterator[str]:
    """Yield in how many tasks a difference is shown, how much it varies, and how often one scores higher."""
    alpha, d, unit = provenance.alpha_of(pair), pair["task_difference"], "families of " * ("task_groups" in pair.attrs)
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if task in pair.dims and d.notnull().sum() == pair["n_tasks"]:
        p = pair["task_pvalue_adjusted"].to_numpy()
        first, sign = (a, 1) if pair["difference"] >= 0 else (b, -1)
        if pair["difference"].notnull() and np.isfinite(p).any():
            shown = np.sign(sign * d.to_numpy()[provenance.significant(p, alpha)]).tolist()
            by = {"holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}[pair.attrs.get("correction", "holm")]
            yield (
                f"Of {pair['n_tasks'].item()} {task}s {first} is shown higher in {shown.count(1)}, lower in "
                f"{shown.count(-1)} ({_runs_a_side(pair)}; {by} over {task}s)."
            )
        if pair["task_sd"].notnull():
            interaction, (low, high) = pair["interaction_pvalue"].item(), ends_of(pair["task_sd_ci"])
            shown_or_not = "shown" if provenance.significant(interaction, alpha) and low > 0 else "not shown"
            varies = f"; that it differs over {task}s is {shown_or_not} ({pvalue(interaction)})"
            yield (
                f"Over {unit}{task}s the standard deviation of the true difference is estimated at "
                f"{estimated(pair['task_sd'].item(), low, high)}{varies if interaction == interaction else ''}."
            )
    theta, share = pair["prob_greater"].item(), pair["share_better"]
    if theta == theta:
        first, second = (b, a) if theta < 0.5 else (a, b)
        fixed, random = (pvalue(pair["prob_greater_pvalue"].sel(task_effect=claim).item()) for claim in TASK_CLAIMS)
        yield (
            f"A run of {first} scores higher than one of {second} with probability {number(max(theta, 1 - theta), 2)}, "
            f"mean over {task}s ({fixed} for these, {random} for {task}s like these)."
        )
    if share.notnull():
        ends = " to ".join(number(100 * end, 2) for end in ends_of(pair["share_better_ci"]))
        yield (
            f"With so many runs {a} scores better than {b} in {percent(share.item(), 2)} of {unit}{task}s like these "
            f"({ends} %)."
        )


def aggregate_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield where pairs differ, the largest difference first; every pair; and what the bands mean."""
    task = result.attrs["task"]
    pairs = [(name, pair) for one, name in named_tasks(result, "n_tasks") for pair in each_of(one, "pair")]
    claims = [name + _profile_claim(pair) for name, pair in pairs] if len(pairs) <= _FEW else []
    pairs.sort(key=lambda named: -float(abs(named[1]["difference"]).max().fillna(-np.inf)))
    said = [f"{name}{where}" for name, pair in pairs if (where := _where(pair))]
    rest = f"{len(pairs) - len(said)} of {len(pairs)} pairs are not shown to differ at any fraction"
    more = [f"and {count(len(said) - _NAMED, 'more pair')}"] * (len(said) > _NAMED)
    shown = [*said[:_NAMED], *more, *[rest] * (len(said) < len(pairs))]
    answer = claims[0] if len(pairs) == 1 else f"Over {task}s, {'; '.join(shown)}."
    return statements(answer, [*claims, *_about_bands(result, task)])


def _about_bands(result: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what the bands mean, where they begin, and why there is none."""
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
    said = []
    for first, second, marked in ((a, b, shown & (d > 0)), (b, a, shown & (d < 0))):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
        ends = [
            (f"{100 * at[start]:.0f}", f"{100 * at[stop - 1]:.0f}") for start, stop in edges.reshape(-1, 2).tolist()
        ]
        where = joined([f"{' to '.join(dict.fromkeys(each))} %" for each in ends])
        said += [f"{first} scores higher than {second} at {where} of the budget"] * bool(where)
    return " and ".join(said)


def across_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the better first: the difference, interval and p by both claims, P(X > Y), and τ."""
    size = result["difference"]
    turned = better_first(result, size, ["difference"], ["prob_greater"])
    columns = {"difference": turned["difference"]}
    for claim in reversed(claims_of(result)):  # that of the verdict first
        shown = shown_of_claim(result, claim)
        columns |= bounds(shown["interval"], f"{claim}_")
        columns[f"{claim}_p"] = shown["p"]
    columns["prob_greater"] = turned["prob_greater"]
    if "random" in claims_of(result):
        adjusted = of_claim(result, "random")["prob_greater_pvalue_adjusted"]
        columns["prob_greater_p"] = adjusted.reset_coords(drop=True)
    columns["task_sd"] = result["task_sd"]
    frame = frame_of_pairs(columns, size, turned[TURNED])
    frame.attrs["interval"] = heading(result)
    return frame


def aggregate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair and fraction of the budget: the difference, its band and the adjusted p."""
    columns = {"difference": result["difference"], **bounds(result["difference_band"]), "p": result["pvalue_adjusted"]}
    return frame_of(columns, ["pair", "budget_fraction"])
