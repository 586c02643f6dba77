"""The sentences and tables of performance distributions, for readers who are not statisticians."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels, wording
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of, frame_of_pairs, turned_pairs
from xcurves.core.wording import Lead, PairDifferences, interval, joined, number, pvalue, span
from xcurves.kernels.bootstrap import are_few
from xcurves.kernels.ecdf import Ints

_FEW = 4  # groups of trials, or pairs, of which each has a sentence
_WHAT = {
    "score_mean": "mean",
    "score_median": "median",
    "score_std": "standard deviation",
    "iqm": "IQM",
    "optimality_gap": "optimality gap",
}
_SHARES = ("cvar", "cvar_lower", "partial_mean_above", "prob_above")
_HOW = {
    "exact": "Intervals hold for independent trials of one distribution, whatever it is. Trials that share a "
    "hyper-parameter draw, a data set or a seed are not independent, and a pool of tasks is not one distribution.",
    "percentile": "Intervals are percentile bootstrap intervals",
    "bca": "Intervals are bias-corrected and accelerated bootstrap intervals",
}
_ALONG = (
    "Those of a statistic hold at all training levels together, had other runs been made: residual runs were given "
    "random signs. Intervals of F and of its inverse are pointwise."
)
_SAMPLES = {
    False: "Bands and p hold for independent trials; the interval of the probability for distributions of similar "
    "spread as well: it covers less than it says if the smaller sample is the more spread one.",
    True: "All hold for independent pairs of trials.",
}
_VERDICTS = {
    1: "{a} scores higher somewhere outside the band and is nowhere shown to score lower",
    -1: "{b} scores higher somewhere outside the band and is nowhere shown to score lower",
    2: "each of them scores higher somewhere outside the band: which is better depends on the probability",
    0: "nowhere does one of them score higher outside the band",
}


def statistics(result: xr.Dataset) -> xr.DataArray:
    """Return the statistics of a performance distribution that it has, in the order of their intervals."""
    found = {str(name): _statistic(result, str(name)) for name in result["param"].to_numpy()}
    known = {name: value for name, value in found.items() if value is not None}
    values = xr.concat(list(known.values()), "param", coords="minimal", compat="override", combine_attrs="drop")
    return values.assign_coords(param=list(known))


def _statistic(result: xr.Dataset, name: str) -> xr.DataArray | None:
    """Return a statistic by its name, "cvar 0.5"; None if its level was left out of the result."""
    variable, *at = name.split(" ")
    if not at or variable not in result:
        return result.get(variable)
    dim = "cvar_level" if variable in ("cvar", "cvar_lower") else "threshold"
    array = result[variable] if dim in result.dims else result[variable].expand_dims(dim)
    places = np.flatnonzero(array[dim].to_numpy() == float(at[0]))
    return array.isel({dim: places[0]}, drop=True) if places.size else None


def statistic_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each group of trials, then a description of the intervals."""
    values = statistics(result)
    bounds = result["statistic_ci"].sel(param=values["param"])
    dims = labels.task_dims(result["score_mean"])
    stacked = values.transpose(*dims, "param").to_numpy().reshape(-1, values.sizes["param"])
    limits = bounds.transpose(*dims, "param", "ci_bound").to_numpy().reshape(-1, values.sizes["param"], 2)
    counts = [result[name] for name in ("n_trials", "n_units" if "n_units" in result else "n_trials")]
    n_trials, n_units = (count.transpose(*dims).to_numpy().ravel() for count in counts)
    infinite = result["share_infinite"].transpose(*dims).to_numpy().ravel()
    said = [say_statistic(result, str(name)) for name in values["param"].to_numpy()]
    for group, name in enumerate(labels.result_names(result["score_mean"])):
        if n_trials[group] == 0:
            yield f"{name}no trial."
            continue
        if n_units[group] == 0:
            yield f"{name}{n_trials[group]} trials, but none in a stratum: nothing can be said."
            continue
        each = "; ".join(
            f"{what} {_interval(*numbers)}"
            for what, *numbers in zip(said, stacked[group], *limits[group].T, strict=True)
            if not (infinite[group] and np.isnan(numbers[0]))
        )
        never = f", {wording.percent(infinite[group])} of them infinite (not reached within the budget)"
        yield f"{name}{n_trials[group]} trials{never if infinite[group] else ''}: {each}."
    yield from _say_tolerance(result)
    interval = result.attrs.get("interval", "exact")
    level = 100 * float(result.attrs["confidence_level"])
    what = _ALONG if "simultaneous" in result.attrs else _say_intervals(result, interval, n_trials, n_units)
    yield f"In brackets: {level:g} % intervals, if they exist. {what}"


def _say_tolerance(result: xr.Dataset) -> Iterator[str]:
    """Yield between which scores a share of all trials lies, for each group."""
    if "tolerance" not in result or "tolerance" not in result.attrs:
        return
    share = wording.percent(float(result.attrs["tolerance"]))
    for group, name in labels.named_tasks(result, "score_mean"):
        ends = wording.ends_of(group["tolerance"])
        yield (
            f"{name}{share} of all trials, not only of these, lie between {wording.number(ends[0])} and "
            f"{wording.number(ends[1])}."
            if ends[0] == ends[0]
            else f"{name}to say between which scores {share} of all trials lie takes "
            f"{wording.number(group['tolerance_n'].item())} trials."
        )


def statistic_answer(result: xr.Dataset) -> str:
    """Return the mean and the median of each group of trials."""
    found = [result[name].to_numpy().ravel() for name in ("score_mean", "score_median")]
    names = [re.sub(r"^algorithm '(.*)': $", r"\1 ", name) for name in labels.result_names(result["score_mean"])]
    said = [
        f"{name}{number(mean, 4)} ({number(median, 4)})"
        for name, mean, median in zip(names, *(each.tolist() for each in found), strict=True)
        if mean == mean
    ]
    if len(said) > _FEW:
        means, medians = (span(set(each[~np.isnan(each)].tolist()), 4) for each in found)
        return f"Of {len(said)} groups of trials, the means are {means}, the medians {medians}."
    return f"Mean (and median) score: {joined(said, '; ') or 'no trial'}."


def say_statistic(result: xr.Dataset, name: str) -> str:
    """Return a statistic in words: "cvar 0.5" is the mean of the best 50 %."""
    variable, *at = name.split(" ")
    if variable not in _SHARES:
        return _WHAT[variable]
    higher = bool(result.attrs.get("higher_is_better", 1))
    if variable in ("cvar", "cvar_lower"):
        side = "best" if variable == "cvar" else "worst"
        return f"mean of the {side} {wording.percent(1 - float(at[0]), 6)}"
    side = "at least" if higher else "at most"
    return f"share of scores {side} {at[0]}" if variable == "prob_above" else f"partial mean of scores {side} {at[0]}"


def _interval(value: float, low: float, high: float) -> str:
    return number(value, 4) + (f" ({interval(low, high, 4)})" if np.isfinite([low, high]).any() else "")


def _say_intervals(result: xr.Dataset, interval: str, n_trials: Ints, n_units: Ints) -> str:
    if interval == "exact":
        return _HOW[interval] + _say_pool(result)
    by_unit = "unit" in result.attrs and result.attrs["unit"] != result.attrs["dim"]
    whole = f", of whole labels of {result.attrs['unit']!r}" if by_unit else ""
    within = f", within {result.attrs['strata']}" if "strata" in result.attrs else ""
    stratified, what = "strata" in result.attrs, "units" if by_unit else "trials"
    poor = n_units[(n_units > 1) & are_few(n_trials, n_units, stratified)]
    where = " in the smallest stratum" * stratified
    few = f" With {poor.min()} {what}{where} they cover less than they say, the more so for tails." if poor.size else ""
    none = f" From one{where} there are none." * bool((n_units == 1).any())
    return f"{_HOW[interval]}{whole}{within}: approximate.{few}{none}{_say_pool(result)}"


def _say_pool(result: xr.Dataset) -> str:
    """Say that trials along several dims are taken for independent, where the call said so."""
    dim = str(result.attrs.get("dim", "run"))
    pooled = ", " in dim and "strata" not in result.attrs and result.attrs.get("unit", dim) == dim
    return f" Here all trials along {dim} are taken for independent ones of one distribution." * pooled


def comparison_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task and pair, then what holds for all."""
    for task, name in labels.named_tasks(result, "prob_greater"):
        yield from (f"{name}{_compared(pair)}" for pair in labels.each_of(task, "pair"))
    if "ks_statistic" not in result:
        yield (
            "The probability is the mean over strata of that within each; its interval is a percentile bootstrap "
            "within strata, approximate."
            f"{_say_few(result)} KS test and band are for one distribution, and left out."
        )
        return
    yield (
        "The band holds everywhere at once for one pair. Intervals and bands are not adjusted for the number of pairs; "
        f"p is adjusted ({result.attrs.get('correction', 'holm')}). {_SAMPLES[bool(result.attrs.get('paired', 0))]}"
        f"{_say_pool(result)}"
    )


def comparison_answer(result: xr.Dataset) -> str:
    """Return in which pairs one scores higher more often than not, or in how many of all tasks."""
    probability = result["prob_greater"]
    low, high = (result["prob_greater_ci"].sel(ci_bound=bound) for bound in labels.CI_BOUNDS)
    shown, known = (low > 0.5) | (high < 0.5), probability.notnull()
    if not known.any():
        return "No pair could be compared: trials are missing."
    if probability.size > probability.sizes["pair"]:
        counted = f"In {int(shown.sum())} of {int(known.sum())} pairs within a {labels.task_noun(probability)}"
        return f"{counted} one algorithm is shown to score higher more often than the other, not adjusted for pairs."
    one = result.squeeze([dim for dim in probability.dims if dim != "pair"], drop=True)
    unshown = xr.DataArray(np.where(shown.to_numpy().ravel(), 0.0, 1.0), dims="pair")
    pairs = PairDifferences.of(one, "prob_greater", "prob_greater_ci", unshown)
    return say_likeliest(pairs._replace(difference=pairs.difference - 0.5, bounds=pairs.bounds - 0.5))


def say_likeliest(pairs: PairDifferences) -> str:
    """Return who is likeliest to score higher than the others, and against whom that is shown; p is 0 where it is."""
    best = pairs.best()
    leads = [lead for lead in pairs.leads(best) if not np.isnan(lead.size)]
    shown = [lead for lead in leads if lead.p == 0 and lead.size > 0]
    rest = [lead for lead in leads if lead not in shown]
    more = f" and {len(rest) - 2} more" if len(rest) > 2 else ""
    others = f"{' and '.join(map(_against, rest[:2]))}{more}"
    each = ", each pair by itself" if len(pairs.p) > 1 else ""
    if not (pairs.p == 0).any():
        nothing = "No algorithm is shown to score higher more often than another"
        return f"{nothing}; the likeliest is {best}, beside {others}{each}."
    said = [_against(lead) for lead in (shown if len(shown) < 3 else [shown[0], shown[-1]])]
    whom = " and ".join(said) if len(shown) < 3 else f"{len(shown)} of {len(leads)} others, {' … '.join(said)}"
    parts = [f"shown to score higher more often than {whom}"] * bool(shown)
    parts += [f"not shown to score higher more often than {others}"] * bool(rest)
    return f"{best} is the likeliest to score higher: {'; '.join(parts)}{each}."


def _against(lead: Lead) -> str:
    limits = f"; {interval(0.5 + lead.low, 0.5 + lead.high)}" if np.isfinite(lead.low) else ""
    return f"{lead.other} (probability {number(0.5 + lead.size)}{limits})"


def _say_few(result: xr.Dataset) -> str:
    n_units = result["n_units"].to_numpy().ravel()
    poor = n_units[(n_units > 1) & are_few(n_units, n_units, stratified=True)]
    few = f" With {poor.min()} trials in the smallest stratum it covers less than it says." if poor.size else ""
    return few + " From one trial in a stratum there is none." * bool((n_units == 1).any())


def _compared(pair: xr.Dataset) -> str:
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    low, high = pair["prob_greater_ci"].to_numpy()
    if pair["prob_greater"].isnull():
        return f"{a} - {b}: nothing can be said; trials are missing."
    limits = f" ({number(low)} to {number(high)})" * bool(np.isfinite(low))
    said = f"{a} scores higher than {b} with probability {number(pair['prob_greater'].item())}{limits}"
    shares = [pair[name].item() for name in ("share_infinite_a", "share_infinite_b")]
    if any(shares):
        infinite = f"{wording.percent(shares[0])} of {a}, {wording.percent(shares[1])} of {b}"
        said += f"; infinite (not reached within the budget): {infinite}"
    if "dominance" not in pair:
        return f"{said}."
    verdict = _VERDICTS[int(pair["dominance"].item())].format(a=a, b=b)
    distance, p = pair["ks_statistic"].item(), pair["ks_pvalue_adjusted"].item()
    return f"{said}; {verdict}; KS distance {number(distance)}, {pvalue(p)}."


def statistic_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the means and medians, every statistic of a few groups of trials, and what the intervals are."""
    *groups, how = statistic_sentences(result)
    return statements(statistic_answer(result), [*groups[: _FEW * (len(groups) <= _FEW)], how])


def comparison_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield which algorithm is likeliest to score higher, every one of a few pairs, and what the intervals are."""
    *pairs, how = comparison_sentences(result)
    return statements(comparison_answer(result), [*pairs[: _FEW * (len(pairs) <= _FEW)], how])


_NO_SIDE = ("score_std",)  # neither a high nor a low one is good


def statistic_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each statistic."""
    values = statistics(result).transpose(..., "param")
    frame = frame_of({"value": values, **bounds(result["statistic_ci"].sel(param=values["param"]))}, ["param"])
    frame = frame.rename_axis(index={"param": "statistic"})
    if "algorithm" in frame.index.names:
        frame.attrs["marks"] = _marks(result, frame)
    return frame


def _marks(result: xr.Dataset, table: pd.DataFrame) -> list[str]:
    """Return which algorithm has the "best" value of each statistic, and whose intervals overlap it, a "tie"."""
    higher = bool(result.attrs.get("higher_is_better", 1))
    groups = [name for name in table.index.names if name != "algorithm"]
    marks = np.full(len(table), "", object)
    for _, rows in table.assign(place=np.arange(len(table))).groupby(groups, sort=False, dropna=False):
        name = str(rows.index.get_level_values("statistic")[0]).split(" ")[0]
        if name in _NO_SIDE or (name == "partial_mean_above" and not higher) or rows["value"].isna().all():
            continue
        upward = name == "prob_above" or (higher and name != "optimality_gap")
        value, low, high = rows["value"].to_numpy(), rows["lower"].to_numpy(), rows["upper"].to_numpy()
        best = np.nanargmax(value) if upward else np.nanargmin(value)
        low, high = np.nan_to_num(low, nan=-np.inf, neginf=-np.inf), np.nan_to_num(high, nan=np.inf, posinf=np.inf)
        overlap = (low <= high[best]) & (high >= low[best]) & ~np.isnan(value)
        marks[rows["place"]] = np.select([value == value[best], overlap], ["best", "tie"], "")
    return marks.tolist()


def statistic_digest(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each task and algorithm: its statistics without intervals."""
    values = statistics(result)
    columns = {"trials": result["n_trials"]}
    columns |= {"at training": result["training"]} if "training" in result.coords else {}
    for name in values["param"].to_numpy():
        columns[say_statistic(result, str(name))] = values.sel(param=name, drop=True)
    return frame_of(columns)


def comparison_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the clearest first."""
    size = result["prob_greater"] - 0.5
    result = turned_pairs(result, size, ["dominance"], ["prob_greater", "prob_greater_ci"])
    columns = {"prob_greater": result["prob_greater"], **bounds(result["prob_greater_ci"])}
    if "ks_statistic" in result:
        columns |= {"dominance": result["dominance"], "KS": result["ks_statistic"], "p": result["ks_pvalue_adjusted"]}
    return frame_of_pairs(columns, size, result["pair_turned"])
