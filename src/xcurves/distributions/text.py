"""The sentences and tables of performance distributions, for readers who are not statisticians."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.pairs import (
    TURNED,
    PairRow,
    better_first,
    heading,
    most_ahead,
    rows_of,
)
from xcurves.core.run_checks import BUDGET
from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds, frame_of, frame_of_pairs
from xcurves.core.wording import (
    ends_of,
    interval,
    joined,
    number,
    percent,
    pvalue,
    span,
)

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
_SAMPLES = {
    False: "Bands and p hold for independent trials; the interval of the probability for distributions of similar "
    "spread as well: it covers less than it says if the smaller sample is the more spread one.",
    True: "All hold for independent pairs of trials.",
}
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
    return (
        "infinite (not reached within the budget)"
        if BUDGET in result.coords
        else "failed"
    )


def statistics(result: xr.Dataset) -> xr.DataArray:
    """Return the statistics of a performance distribution that it has, in the order of their intervals."""
    found = {}
    for name in result["param"].to_numpy().tolist():
        variable, *level = name.split(" ")
        values = result.get(variable)
        # the level may be left out of the result, or the only one
        if level and values is not None:
            dim = "cvar_level" if variable in ("cvar", "cvar_lower") else "threshold"
            values = values if dim in values.dims else values.expand_dims(dim)
            places = np.flatnonzero(values[dim].to_numpy() == float(level[0]))
            values = values.isel({dim: places[0]}, drop=True) if places.size else None
        if values is not None:
            found[name] = values
    joint = xr.concat(
        list(found.values()),
        "param",
        coords="minimal",
        compat="override",
        combine_attrs="drop",
    )
    return joint.assign_coords(param=list(found))


def say_statistic(result: xr.Dataset, name: str) -> str:
    """Return a statistic in words: "cvar 0.5" is the mean of the best 50 %."""
    variable, _, level = name.partition(" ")
    side = "at least" if result.attrs.get("higher_is_better", 1) else "at most"
    return _WHAT[variable].format(
        percent(1 - float(level), 6) if "cvar" in variable else f"{side} {level}"
    )


def statistic_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the means and medians, every statistic of a few groups of trials, and what the intervals are."""
    groups = (
        list(labels.named_tasks(result, "score_mean"))
        if result["score_mean"].size <= _FEW
        else []
    )
    said = [f"{name}{_described(group)}" for group, name in groups]
    if {"tolerance"} <= result.keys() & result.attrs:
        said += [f"{name}{_tolerance(group)}" for group, name in groups]
    how = f"In brackets: {100 * float(result.attrs['confidence_level']):g} % intervals, if they exist. {_how(result)}"
    without = result["score_mean"].isnull() & (result["share_infinite"] > 0)
    cautions = []
    if without.any():
        cautions.append(_NO_MEAN)
    return statements(_means(result), [*said, how], cautions)


def _described(group: xr.Dataset) -> str:
    """Return every statistic of a group of trials with its interval."""
    n, infinite = group["n_trials"].item(), group["share_infinite"].item()
    if n == 0 or group.get("n_units", group["n_trials"]).item() == 0:
        return (
            f"{n} trials, but none in a stratum: nothing can be said."
            if n
            else "no trial."
        )
    each = []
    for value in statistics(group):
        name, ends = (
            value["param"].item(),
            group["statistic_ci"].sel(param=value["param"]),
        )
        if not (infinite and np.isnan(value)):
            limits = (
                f" ({interval(*ends_of(ends), 4)})" if np.isfinite(ends).any() else ""
            )
            each.append(
                f"{say_statistic(group, name)} {number(value.item(), 4)}{limits}"
            )
    never = f", {percent(infinite)} of them {_never(group)}" if infinite else ""
    return f"{n} trials{never}: {'; '.join(each)}."


def _tolerance(group: xr.Dataset) -> str:
    """Return between which scores a share of all trials lies."""
    share, (low, high) = (
        percent(float(group.attrs["tolerance"])),
        ends_of(group["tolerance"]),
    )
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
    means, medians = (
        result[name].to_numpy().ravel() for name in ("score_mean", "score_median")
    )
    known = np.flatnonzero(~np.isnan(medians))
    if len(known) > _FEW:
        spans = [
            span(each[~np.isnan(each)].tolist(), 4) or "none"
            for each in (means, medians)
        ]
        return f"Of {len(known)} groups of trials, the means are {spans[0]}, the medians {spans[1]}."
    names = [
        re.sub(r"^algorithm '(.*)': $", r"\1 ", name)
        for name in labels.result_names(result["score_mean"])
    ]
    of_means = [
        "no mean" if np.isnan(mean) else number(mean, 4) for mean in means.tolist()
    ]
    said = [
        f"{names[group]}{of_means[group]} ({number(medians[group], 4)})"
        for group in known
    ]
    return f"Mean (and median) score: {joined(said, '; ') or 'no trial'}."


def _how(result: xr.Dataset) -> str:
    """Return what the intervals of statistics are."""
    if "simultaneous" in result.attrs:
        return _ALONG
    how, unit = result.attrs.get("interval", "exact"), result.attrs.get("unit")
    if how == "exact":
        return _HOW[how] + _pool(result)
    whole = (
        f", of whole labels of {unit!r}" if unit and unit != result.attrs["dim"] else ""
    )
    within = f", within {result.attrs['strata']}" if "strata" in result.attrs else ""
    poor = "approximate, and too short for few trials, the more so for tails."
    return f"{_HOW[how]}{whole}{within}: {poor}{_pool(result)}"


def _pool(result: xr.Dataset) -> str:
    """Return that trials along several dims are taken for independent, where the call said so."""
    dim = str(result.attrs.get("dim", "run"))
    pooled = (
        ", " in dim
        and "strata" not in result.attrs
        and result.attrs.get("unit", dim) == dim
    )
    if not pooled:
        return ""
    return f" Here all trials along {dim} are taken for independent ones of one distribution."


def comparison_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield which algorithm is likeliest to score higher, every one of a few pairs, and what the intervals are."""
    tasks = (
        labels.named_tasks(result, "prob_greater")
        if result["prob_greater"].size <= _FEW
        else []
    )
    pairs = [
        f"{name}{_compared(pair)}"
        for task, name in tasks
        for pair in labels.each_of(task, "pair")
    ]
    how = _OF_STRATA
    if "ks_statistic" in result:
        how = (
            "The band holds everywhere at once for one pair. Intervals of probabilities hold for all pairs together, "
            f"bands for each pair by itself; p is adjusted ({result.attrs.get('correction', 'holm')}). "
            f"{_SAMPLES[bool(result.attrs.get('paired', 0))]}{_pool(result)}"
        )
    return statements(_higher(result), [*pairs, how])


def _higher(result: xr.Dataset) -> str:
    """Return who is likeliest to score higher, and against whom that is shown; or in how many of all tasks one is."""
    above = result[["prob_greater", "prob_greater_ci_simultaneous"]] - 0.5
    known = above["prob_greater"].notnull()
    low, high = (
        above["prob_greater_ci_simultaneous"].sel(ci_bound=bound)
        for bound in labels.CI_BOUNDS
    )
    shown = (low > 0) | (high < 0)
    if not known.any():
        return "No pair could be compared: trials are missing."
    if known.size > known.sizes["pair"]:
        counted = f"In {int(shown.sum())} of {int(known.sum())} pairs within a {labels.task_noun(result['prob_greater'])}"
        return f"{counted} one algorithm is shown to score higher more often, for all its pairs together."
    one = above.squeeze([dim for dim in known.dims if dim != "pair"], drop=True)
    rows = rows_of(_by_probability(one, shown.to_numpy().ravel()))
    best = most_ahead(rows)
    own = [row for row in rows if best in row[:2] and not np.isnan(row.amount)]
    leads = sorted(
        (_seen_from(str(best), row) for row in own), key=lambda row: row.amount
    )
    ahead = [row for row in leads if row.shown and row.amount > 0]
    rest = [_against(row) for row in leads if row not in ahead]
    others = " and ".join(rest[:2]) + (
        f" and {len(rest) - 2} more" if len(rest) > 2 else ""
    )
    each = ", for all pairs together" if len(rows) > 1 else ""
    if not any(row.shown for row in rows):
        nothing = "No algorithm is shown to score higher more often than another"
        return f"{nothing}; the likeliest is {best}, beside {others}{each}."
    parts = []
    if len(ahead) > 2:
        near, far = _against(ahead[0]), _against(ahead[-1])
        parts.append(
            f"shown to score higher more often than {len(ahead)} of {len(leads)} others, {near} … {far}"
        )
    elif ahead:
        parts.append(
            f"shown to score higher more often than {' and '.join(map(_against, ahead))}"
        )
    if rest:
        parts.append(f"not shown to score higher more often than {others}")
    return f"{best} is the likeliest to score higher: {'; '.join(parts)}{each}."


def _by_probability(above: xr.Dataset, shown: NDArray[np.bool_]) -> xr.Dataset:
    """Return pairs as they are displayed, by how much the probability that the first scores higher is above 1/2."""
    size = above["prob_greater"]
    given = xr.Dataset(
        {"amount": size, "interval": above["prob_greater_ci_simultaneous"]},
        above.coords,
    )
    given = given.assign(p=("pair", np.where(shown, 0.0, 1.0)), shown=("pair", shown))
    return better_first(given, size, ["amount", "interval"])


def _seen_from(name: str, row: PairRow) -> PairRow:
    """Return a pair with this algorithm as the first."""
    if row.better == name:
        return row
    return PairRow(name, row.better, -row.amount, -row.high, -row.low, row.p, row.shown)


def _against(row: PairRow) -> str:
    limits = (
        f"; {interval(0.5 + row.low, 0.5 + row.high)}" if np.isfinite(row.low) else ""
    )
    return f"{row.other} (probability {number(0.5 + row.amount)}{limits})"


def _compared(pair: xr.Dataset) -> str:
    """Return what is known of one pair."""
    a, b = pair["algorithm_a"].item(), pair["algorithm_b"].item()
    if pair["prob_greater"].isnull():
        return f"{a} - {b}: nothing can be said; trials are missing."
    low, high = ends_of(pair["prob_greater_ci_simultaneous"])
    limits = f" ({number(low)} to {number(high)})" if np.isfinite(low) else ""
    said = [
        f"{a} scores higher than {b} with probability {number(pair['prob_greater'].item())}{limits}"
    ]
    shares = [pair[name].item() for name in ("share_infinite_a", "share_infinite_b")]
    if any(shares):
        said.append(
            f"{_never(pair)}: {percent(shares[0])} of {a}, {percent(shares[1])} of {b}"
        )
    if "dominance" in pair:
        said.append(_VERDICTS[pair["dominance"].item()].format(a=a, b=b))
        p = pvalue(pair["ks_pvalue_adjusted"].item())
        said.append(f"KS distance {number(pair['ks_statistic'].item())}, {p}")
    return f"{'; '.join(said)}."


def statistic_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each statistic."""
    values = statistics(result).transpose(..., "param")
    ends = bounds(result["statistic_ci"].sel(param=values["param"]))
    columns = {"value": values, **ends}
    if "algorithm" in values.dims:
        columns["mark"] = _marks(
            values, *ends.values(), higher=bool(result.attrs.get("higher_is_better", 1))
        )
    frame = frame_of(columns, ["param"]).rename_axis(index={"param": "statistic"})
    if "mark" in frame:
        frame.attrs["marks"] = frame.pop("mark").tolist()
    return frame


def _marks(
    values: xr.DataArray, low: xr.DataArray, high: xr.DataArray, *, higher: bool
) -> xr.DataArray:
    """Return which algorithm has the "best" value of each statistic, and whose intervals overlap it, a "tie"."""
    signs = {
        "score_std": 0,
        "optimality_gap": -1,
        "prob_above": 1,
        "partial_mean_above": int(higher),
    }
    names = [name.split(" ")[0] for name in values["param"].to_numpy().tolist()]
    sign = xr.DataArray(
        [signs.get(name, 1 if higher else -1) for name in names], dims="param"
    )
    upward = (values * sign.where(sign != 0)).fillna(-np.inf)
    low, high = low.fillna(-np.inf), high.fillna(np.inf)
    best = upward.argmax("algorithm")
    overlap = (low <= high.isel(algorithm=best)) & (high >= low.isel(algorithm=best))
    known = values.notnull() & (sign != 0)
    cases = [known & (upward == upward.max("algorithm")), known & overlap]
    return values.copy(
        data=np.select(
            [case.transpose(*values.dims).to_numpy() for case in cases],
            ["best", "tie"],
            "",
        )
    )


def statistic_digest(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each task and algorithm: its statistics without intervals."""
    values = statistics(result)
    columns = {"trials": result["n_trials"]}
    columns |= (
        {"at training": result["training"]} if "training" in result.coords else {}
    )
    for name in values["param"].to_numpy():
        columns[say_statistic(result, str(name))] = values.sel(param=name, drop=True)
    return frame_of(columns)


def comparison_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the clearest first."""
    size = result["prob_greater"] - 0.5
    result = better_first(
        result, size, ["dominance"], ["prob_greater", "prob_greater_ci_simultaneous"]
    )
    columns = {
        "prob_greater": result["prob_greater"],
        **bounds(result["prob_greater_ci_simultaneous"]),
    }
    if "ks_statistic" in result:
        columns |= {
            "dominance": result["dominance"],
            "KS": result["ks_statistic"],
            "p": result["ks_pvalue_adjusted"],
        }
    frame = frame_of_pairs(columns, size, result[TURNED])
    frame.attrs["interval"] = heading(result)
    return frame
