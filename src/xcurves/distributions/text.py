"""The sentences and tables of performance distributions, for readers who are not statisticians."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.run_checks import BUDGET
from xcurves.core.schema import Statement, statements
from xcurves.say.numbers import ends_of, estimated, joined, number, percent, pvalue, span
from xcurves.say.pairs import better_first, lower_is_better
from xcurves.say.result_frames import bounds, frame_of

_FEW = 4  # groups of trials, or pairs, of which each has a sentence
_WHAT = {
    "score_mean": "mean",
    "score_median": "median",
    "score_std": "standard deviation",
    "iqm": "IQM",
    "cvar": "mean of the best {}",
    "cvar_lower": "mean of the worst {}",
    "partial_mean_above": "partial mean of scores {}",
    "prob_above": "share of scores {}",
    "optimality_gap": "optimality gap",
}
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
_ALIKE = (
    " The labels of {strata} have unlike numbers of trials and weigh alike; in the IQM trials at the quartiles count "
    "in part."
)
_SAMPLES = (
    "Bands and p hold for independent trials; the interval of the probability for distributions of similar "
    "spread as well: it covers less than it says if the smaller sample is the more spread one."
)
_OF_STRATA = (
    "The probability is the mean over strata of that within each; its interval is a percentile bootstrap within "
    "strata, approximate, and too short for few trials. KS test and band are for one distribution, and left out."
)
_VERDICTS = {
    1: "{a} scores higher somewhere outside the band and is nowhere shown to score lower",
    -1: "{b} scores higher somewhere outside the band and is nowhere shown to score lower",
    2: "each of them scores higher somewhere outside the band: which is better depends on the probability",
    0: "nowhere does one of them score higher outside the band",
}
_NO_MEAN = (
    "Failed trials have no mean: bounds= gives the worst score there can be, as which they then count. Medians, "
    "quantiles and shares count them as worse than all others."
)


def _never(result: xr.Dataset) -> str:
    """Return what trials with an infinite score are: times, which have a budget, or failures."""
    if BUDGET in result.coords:
        return "infinite (not reached within the budget)"
    return "failed"


def statistics(result: xr.Dataset) -> xr.DataArray:
    """Return the statistics of a performance distribution that it has, in the order of their intervals."""
    by_name = {}
    for name in result["param"].to_numpy().tolist():
        values = _statistic(result, name)
        if values is not None:
            by_name[name] = values
    joint = xr.concat(list(by_name.values()), "param", coords="minimal", compat="override", combine_attrs="drop")
    return joint.assign_coords(param=list(by_name))


def _statistic(result: xr.Dataset, name: str) -> xr.DataArray | None:
    """Return the values of a statistic, of "cvar 0.5" those at the level; None if a selection left them out."""
    variable, _, level = name.partition(" ")
    if variable not in result:
        return None
    values = result[variable]
    if not level:
        return values
    dim = "threshold"
    if variable in ("cvar", "cvar_lower"):
        dim = "cvar_level"
    if dim not in values.coords:
        return None
    # A single level that was selected is a coordinate without a dim.
    at = np.flatnonzero(np.atleast_1d(values[dim].to_numpy()) == float(level))
    if not at.size:
        return None
    if dim not in values.dims:
        return values.drop_vars(dim)
    return values.isel({dim: at[0]}, drop=True)


def say_statistic(result: xr.Dataset, name: str) -> str:
    """Return a statistic in words: "cvar 0.5" is the mean of the best 50 %."""
    variable, _, level = name.partition(" ")
    if "cvar" in variable:
        return _WHAT[variable].format(percent(1 - float(level), 6))
    side = "at most"
    if result.attrs.get("higher_is_better", 1):
        side = "at least"
    return _WHAT[variable].format(f"{side} {level}")


def statistic_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the means and medians, every statistic of a few groups of trials, and what the intervals are."""
    groups: list[tuple[xr.Dataset, str]] = []
    if result["score_mean"].size <= _FEW:
        groups = list(labels.named_tasks(result, "score_mean"))
    details = [f"{name}{_described(group)}" for group, name in groups]
    if "tolerance" in result and "tolerance" in result.attrs:
        details += [f"{name}{_tolerance(group)}" for group, name in groups]
    level = percent(result.attrs["confidence_level"], 6)
    details.append(f"In brackets: {level} intervals, if they exist. {_how(result)}")
    without = result["score_mean"].isnull() & (result["share_infinite"] > 0)
    cautions = []
    if without.any():
        cautions.append(_NO_MEAN)
    if "left_out" in result.attrs:
        cautions.append(f"Left out for all algorithms, of {result.attrs['strata']}: {result.attrs['left_out']}.")
    return statements(_means(result), details, cautions)


def _described(group: xr.Dataset) -> str:
    """Return every statistic of a group of trials with its interval."""
    n = group["n_trials"].item()
    if n == 0:
        return "no trial."
    if group.get("n_units", group["n_trials"]).item() == 0:
        return f"{n} trials, but none in a stratum: nothing can be said."
    share_infinite = group["share_infinite"].item()
    values = []
    for value in statistics(group):
        # Failed trials leave some statistics without a value.
        if share_infinite and np.isnan(value):
            continue
        name = value["param"].item()
        ends = group["statistic_ci"].sel(param=name)
        said = number(value.item(), 4)
        if np.isfinite(ends).any():
            said = estimated(value.item(), *ends_of(ends), digits=4)
        values.append(f"{say_statistic(group, name)} {said}")
    never = ""
    if share_infinite:
        never = f", {percent(share_infinite)} of them {_never(group)}"
    return f"{n} trials{never}: {'; '.join(values)}."


def _tolerance(group: xr.Dataset) -> str:
    """Return between which scores a share of all trials lies."""
    share = percent(float(group.attrs["tolerance"]))
    low, high = ends_of(group["tolerance"])
    if np.isnan(low):
        needed = number(group["tolerance_n"].item())
        return f"to say between which scores {share} of all trials lie takes {needed} trials."
    sure = percent(float(group.attrs["confidence_level"]))
    return (
        f"with a confidence of {sure}, {share} of all trials, not only of these, lie between {number(low)} and "
        f"{number(high)}."
    )


def _means(result: xr.Dataset) -> str:
    """Return the mean and the median of each group of trials."""
    means = result["score_mean"].to_numpy().ravel()
    medians = result["score_median"].to_numpy().ravel()
    known = np.flatnonzero(~np.isnan(medians))
    if len(known) > _FEW:
        of_means = span(means[~np.isnan(means)].tolist(), 4) or "none"
        of_medians = span(medians[~np.isnan(medians)].tolist(), 4) or "none"
        return f"Of {len(known)} groups of trials, the means are {of_means}, the medians {of_medians}."

    names = labels.result_names(result["score_mean"])
    groups = []
    for group in known:
        # An algorithm alone needs no words around its name.
        name = re.sub(r"^algorithm '(.*)': $", r"\1 ", names[group])
        mean = "no mean"
        if not np.isnan(means[group]):
            mean = number(means[group], 4)
        groups.append(f"{name}{mean} ({number(medians[group], 4)})")
    return f"Mean (and median) score: {joined(groups, '; ') or 'no trial'}."


def _how(result: xr.Dataset) -> str:
    """Return what the intervals of statistics are."""
    if "simultaneous" in result.attrs:
        return _ALONG
    how = result.attrs.get("interval", "exact")
    if how == "exact":
        return _HOW[how] + _pool(result)
    whole, within = "", ""
    unit = result.attrs.get("unit")
    if unit and unit != result.attrs["dim"]:
        whole = f", of whole labels of {unit!r}"
    if "strata" in result.attrs:
        within = f", within {result.attrs['strata']}"
    poor = "approximate, and too short for few trials, the more so for tails."
    alike = ""
    if "strata_unlike" in result.coords and (result["strata_unlike"] == 1).any():
        alike = _ALIKE.format(strata=result.attrs["strata"])
    return f"{_HOW[how]}{whole}{within}: {poor}{alike}{_pool(result)}"


def _pool(result: xr.Dataset) -> str:
    """Return that trials along several dims are taken for independent, where the call said so."""
    dim = str(result.attrs.get("dim", "run"))
    has_units = result.attrs.get("unit", dim) != dim
    if ", " not in dim or "strata" in result.attrs or has_units:
        return ""
    return f" Here all trials along {dim} are taken for independent ones of one distribution."


def probability(pairs: xr.Dataset) -> str:
    """Return what pairs are compared by."""
    if lower_is_better(pairs):
        return "probability to score lower"
    return "probability to score higher"


def more_of_pairs(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what else is known of every one of a few pairs, and what the intervals are."""
    if result["prob_greater"].size <= _FEW:
        for task, name in labels.named_tasks(result, "prob_greater"):
            for pair in labels.each_of(task, "pair"):
                for text in _beside_the_probability(pair):
                    yield Statement("detail", f"{name}{text}")
    how = _OF_STRATA
    if "ks_statistic" in result:
        adjusted = result.attrs.get("correction", "holm").capitalize()
        how = (
            f"The band holds everywhere at once for one pair, its p is adjusted over pairs by {adjusted}. "
            f"{_SAMPLES}{_pool(result)}"
        )
    yield Statement("detail", how)


def _beside_the_probability(pair: xr.Dataset) -> Iterator[str]:
    """Yield which trials of one pair failed, and the verdict by the band of its distributions."""
    if pair["prob_greater"].isnull():
        return
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    parts = []
    share_a = pair["share_infinite_a"].item()
    share_b = pair["share_infinite_b"].item()
    if share_a or share_b:
        parts.append(f"{_never(pair)}: {percent(share_a)} of {a}, {percent(share_b)} of {b}")
    if "dominance" in pair:
        parts.append(_VERDICTS[pair["dominance"].item()].format(a=a, b=b))
        p = pvalue(pair["ks_pvalue_adjusted"].item())
        parts.append(f"KS distance {number(pair['ks_statistic'].item())}, {p}")
    if parts:
        yield f"{a} and {b}: {'; '.join(parts)}."


def statistic_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each statistic."""
    values = statistics(result).transpose(..., "param")
    ends = bounds(result["statistic_ci"].sel(param=values["param"]))
    columns = {"value": values, **ends}
    if "algorithm" in values.dims:
        columns["mark"] = _marks(values, *ends.values(), higher=bool(result.attrs.get("higher_is_better", 1)))
    frame = frame_of(columns, ["param"]).rename_axis(index={"param": "statistic"})
    if "mark" in frame:
        frame.attrs["marks"] = frame.pop("mark").tolist()
    return frame


def _marks(values: xr.DataArray, low: xr.DataArray, high: xr.DataArray, *, higher: bool) -> xr.DataArray:
    """Return which algorithm has the "best" value of each statistic, and whose intervals overlap it, a "tie"."""
    of_scores = 1
    if not higher:
        of_scores = -1
    # 0: neither end is better.
    signs = {"score_std": 0, "optimality_gap": -1, "prob_above": 1, "partial_mean_above": int(higher)}
    names = [name.split(" ")[0] for name in values["param"].to_numpy().tolist()]
    sign = xr.DataArray([signs.get(name, of_scores) for name in names], dims="param")
    upward = (values * sign.where(sign != 0)).fillna(-np.inf)
    best = upward.argmax("algorithm")

    # An end that is not known is no limit.
    lower_ends = low.fillna(-np.inf)
    upper_ends = high.fillna(np.inf)
    overlap = (lower_ends <= upper_ends.isel(algorithm=best)) & (upper_ends >= lower_ends.isel(algorithm=best))
    known = values.notnull() & (sign != 0)
    cases = [known & (upward == upward.max("algorithm")), known & overlap]
    in_order = [case.transpose(*values.dims).to_numpy() for case in cases]
    return values.copy(data=np.select(in_order, ["best", "tie"], ""))


def statistic_digest(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each task and algorithm: its statistics without intervals."""
    values = statistics(result)
    columns = {"trials": result["n_trials"]}
    if "training" in result.coords:
        columns["at training"] = result["training"]
    for name in values["param"].to_numpy():
        columns[say_statistic(result, str(name))] = values.sel(param=name, drop=True)
    return frame_of(columns)


def columns_of_bands(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return what the table has of each pair besides its probability: the verdict by the band, distance and p."""
    if "ks_statistic" not in result:
        return {}
    turned = better_first(result, result["prob_greater"] - 0.5, ["dominance"])["dominance"]
    # each of them somewhere, whatever their order
    both = abs(turned) == 2
    return {
        "dominance": abs(turned).where(both, turned),
        "KS": result["ks_statistic"],
        "p": result["ks_pvalue_adjusted"],
    }
