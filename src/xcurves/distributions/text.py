"""The sentences and tables of performance distributions, for readers who are not statisticians."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.run_checks import BUDGET
from xcurves.core.schema import Statement, statements
from xcurves.say.numbers import (
    decimals_of,
    ends_of,
    estimated,
    interval,
    joined,
    number,
    percent,
    pvalue,
    rounded,
    span,
)
from xcurves.say.pairs import (
    TURNED,
    PairRow,
    better_first,
    heading,
    lower_is_better,
    most_ahead,
    rows_of,
)
from xcurves.say.result_frames import bounds, frame_of, frame_of_pairs

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
    joint = xr.concat(
        list(by_name.values()),
        "param",
        coords="minimal",
        compat="override",
        combine_attrs="drop",
    )
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
    level = 100 * float(result.attrs["confidence_level"])
    details.append(f"In brackets: {level:g} % intervals, if they exist. {_how(result)}")
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


def comparison_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield which algorithm is likeliest to score better, every one of a few pairs, and what the intervals are."""
    details = []
    if result["prob_greater"].size <= _FEW:
        details = [
            f"{name}{_compared(pair)}"
            for task, name in labels.named_tasks(result, "prob_greater")
            for pair in labels.each_of(task, "pair")
        ]
    how = _OF_STRATA
    if "ks_statistic" in result:
        how = (
            "The band holds everywhere at once for one pair. Intervals of probabilities hold for all pairs together, "
            f"bands for each pair by itself; p is adjusted ({result.attrs.get('correction', 'holm')}). "
            f"{_SAMPLES}{_pool(result)}"
        )
    return statements(_better(result), [*details, how])


def _better(result: xr.Dataset) -> str:
    """Return who is likeliest to score better, and against whom that is shown; or in how many of all tasks one is."""
    above = result[["prob_greater", "prob_greater_ci_simultaneous"]] - 0.5
    more = "higher"
    if lower_is_better(result):
        more = "lower"
        above = -above.assign_coords(ci_bound=list(labels.CI_BOUNDS[::-1]))
    known = above["prob_greater"].notnull()
    low, high = (above["prob_greater_ci_simultaneous"].sel(ci_bound=bound) for bound in labels.CI_BOUNDS)
    shown = (low > 0) | (high < 0)
    if not known.any():
        return "No pair could be compared: trials are missing."
    if known.size > known.sizes["pair"]:
        noun = labels.task_noun(result["prob_greater"])
        return (
            f"In {int(shown.sum())} of {int(known.sum())} pairs within a {noun} one algorithm is shown to score {more} "
            "more often, for all its pairs together."
        )
    pairs = above.squeeze([dim for dim in known.dims if dim != "pair"], drop=True)
    return _likeliest(rows_of(_by_probability(pairs, shown.to_numpy().ravel())), more)


def _likeliest(rows: list[PairRow], more: str) -> str:
    """Return which algorithm of one task is likeliest to score higher, or lower, and against whom that is shown."""
    best = str(most_ahead(rows))
    of_best = [_seen_from(best, row) for row in rows if best in row[:2] and not np.isnan(row.amount)]
    leads = sorted(of_best, key=lambda row: row.amount)
    ahead = [row for row in leads if row.shown and row.amount > 0]
    rest = [_against(row) for row in leads if row not in ahead]
    others = " and ".join(rest[:2])
    if len(rest) > 2:
        others += f" and {len(rest) - 2} more"
    together = ""
    if len(rows) > 1:
        together = ", for all pairs together"
    if not any(row.shown for row in rows):
        return (
            f"No algorithm is shown to score {more} more often than another; the likeliest is {best}, beside "
            f"{others}{together}."
        )

    parts = []
    if len(ahead) > 2:
        parts.append(
            f"shown to score {more} more often than {len(ahead)} of {len(leads)} others, {_against(ahead[0])} … "
            f"{_against(ahead[-1])}"
        )
    elif ahead:
        beaten = " and ".join(_against(row) for row in ahead)
        parts.append(f"shown to score {more} more often than {beaten}")
    if rest:
        parts.append(f"not shown to score {more} more often than {others}")
    return f"{best} is the likeliest to score {more}: {'; '.join(parts)}{together}."


def _by_probability(above: xr.Dataset, shown: NDArray[np.bool_]) -> xr.Dataset:
    """Return pairs as they are displayed, by how much the probability that the first scores better is above 1/2."""
    size = above["prob_greater"]
    variables = {
        "amount": size,
        "interval": above["prob_greater_ci_simultaneous"],
        "p": ("pair", np.where(shown, 0.0, 1.0)),
        "shown": ("pair", shown),
    }
    pairs = xr.Dataset(variables, above.coords)
    return better_first(pairs, size, ["amount", "interval"])


def _seen_from(name: str, row: PairRow) -> PairRow:
    """Return a pair with this algorithm as the first."""
    if row.better == name:
        return row
    return PairRow(name, row.better, -row.amount, -row.high, -row.low, row.p, row.shown)


def _against(row: PairRow) -> str:
    probability = 0.5 + row.amount
    ends = (0.5 + row.low, 0.5 + row.high)
    said = rounded(probability, decimals_of(*ends, probability))
    if np.isfinite(row.low):
        said += f"; {interval(*ends, estimate=probability)}"
    return f"{row.other} (probability {said})"


def _compared(pair: xr.Dataset) -> str:
    """Return what is known of one pair."""
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if pair["prob_greater"].isnull():
        return f"{a} - {b}: nothing can be said; trials are missing."
    # The one that is likelier to score better is first, as in the table.
    first, second, more = a, b, "higher"
    size, (low, high) = pair["prob_greater"].item(), ends_of(pair["prob_greater_ci_simultaneous"])
    if lower_is_better(pair):
        more = "lower"
        size, low, high = 1 - size, 1 - high, 1 - low
    if size < 0.5:
        first, second = b, a
        size, low, high = 1 - size, 1 - high, 1 - low
    probability = number(size)
    if np.isfinite(low):
        probability = estimated(size, low, high)
    parts = [f"{first} scores {more} than {second} with probability {probability}"]
    share_a = pair["share_infinite_a"].item()
    share_b = pair["share_infinite_b"].item()
    if share_a or share_b:
        parts.append(f"{_never(pair)}: {percent(share_a)} of {a}, {percent(share_b)} of {b}")
    if "dominance" in pair:
        parts.append(_VERDICTS[pair["dominance"].item()].format(a=a, b=b))
        p = pvalue(pair["ks_pvalue_adjusted"].item())
        parts.append(f"KS distance {number(pair['ks_statistic'].item())}, {p}")
    return f"{'; '.join(parts)}."


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
    signs = {
        "score_std": 0,
        "optimality_gap": -1,
        "prob_above": 1,
        "partial_mean_above": int(higher),
    }
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


def comparison_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the clearest first."""
    size = result["prob_greater"] - 0.5
    shown = better_first(result, size, ["dominance"], ["prob_greater", "prob_greater_ci_simultaneous"])
    columns = {
        "prob_greater": shown["prob_greater"],
        **bounds(shown["prob_greater_ci_simultaneous"]),
    }
    if "ks_statistic" in shown:
        columns["dominance"] = shown["dominance"]
        columns["KS"] = shown["ks_statistic"]
        columns["p"] = shown["ks_pvalue_adjusted"]
    frame = frame_of_pairs(columns, size, shown[TURNED])
    frame.attrs["interval"] = heading(shown)
    return frame
