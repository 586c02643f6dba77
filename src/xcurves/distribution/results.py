"""What a computed performance distribution is called, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from xcurves import labels, outcomes
from xcurves.distribution.options import number
from xcurves.distribution.trials import DistributionBlock
from xcurves.kernels.bootstrap import are_few
from xcurves.kernels.summaries import Summaries

_POINTWISE = {
    "exact": ("exact binomial (Clopper-Pearson), pointwise", "order statistics, pointwise"),
    "limit": ("percentile bootstrap, limit of infinitely many resamples, pointwise",) * 2,
    "unit": ("percentile bootstrap of whole units, pointwise",) * 2,
}
_OF_STATISTICS = {
    "exact": "prob_above: exact binomial (Clopper-Pearson); score_median: order statistics; score_mean, iqm, cvar, "
    "cvar_lower, optimality_gap: integral of the Dvoretzky-Kiefer-Wolfowitz-Massart band between the bounds",
    "percentile": "percentile bootstrap",
    "bca": "bias-corrected and accelerated bootstrap",
}


def variables(packed: xr.DataArray, block: DistributionBlock, scores: xr.DataArray) -> dict[str, xr.Variable]:
    """Cut the packed results into variables that say their name, unit, and what kind of interval they are."""
    found = block.layout.unpack(packed)
    pure = ("cdf", "cdf_ci", "cdf_band", "prob_above", "n_trials", "n_units")
    described = outcomes.describe(
        found,
        _long_names(block.wanted),
        scores,
        scores=[name for name in found if name not in pure],
    )
    of_cdf, of_quantiles = _POINTWISE["exact" if block.interval == "exact" else "unit" if block.by_unit else "limit"]
    kinds = {
        "statistic_ci": _OF_STATISTICS[block.interval] + " of whole units" * block.by_unit,
        "score_quantile_ci": of_quantiles,
        "cdf_ci": of_cdf,
        "cdf_band": outcomes.BAND,
    }
    for name in kinds.keys() & described.keys():
        described[name].attrs["interval"] = kinds[name]
    return described | {name: described[name].astype(np.int64) for name in {"n_units"} & described.keys()}


def _long_names(wanted: Summaries) -> dict[str, str]:
    best, worst = ("highest", "lowest") if wanted.higher else ("lowest", "highest")
    met = "at or above" if wanted.higher else "at or below"
    kind = "E[Z | beyond the quantile]" if wanted.conditional else "mean of the tail"
    return {
        "score_mean": "mean score",
        "score_median": "median score",
        "score_std": "standard deviation of scores",
        "iqm": "interquartile mean of scores",
        "cvar": f"CVaR of the {best} scores, {kind}",
        "cvar_lower": f"CVaR of the {worst} scores, {kind}",
        "statistic_ci": "confidence interval of a statistic, in its units",
        "score_quantile": "score",
        "score_quantile_ci": "confidence interval of the inverse CDF",
        "cdf": "share of trials at or below the score",
        "cdf_ci": "confidence interval of the CDF",
        "cdf_band": "confidence band of the CDF",
        "partial_mean_above": f"mean of scores {met} the threshold, others counted as 0",
        "prob_above": f"share of trials {met} the threshold",
        "optimality_gap": "mean distance to the target, none beyond it",
        "n_trials": "number of trials",
        "n_units": "number of units that are resampled, in the smallest stratum",
    }


def coords(block: DistributionBlock) -> dict[str, Any]:
    """Return the coordinates of what was asked for."""
    wanted = block.wanted
    params = [
        *("score_mean", "score_median", "score_std", "iqm"),
        *(f"cvar {number(level)}" for level in wanted.levels),
        *(f"cvar_lower {number(level)}" for level in wanted.levels),
        *(f"partial_mean_above {number(threshold)}" for threshold in wanted.thresholds),
        *(f"prob_above {number(threshold)}" for threshold in wanted.thresholds),
        *("optimality_gap" for _ in wanted.targets),
    ]
    every = {
        "cvar_level": wanted.levels,
        "param": params,
        "probability": block.probabilities,
        "ci_bound": list(labels.CI_BOUNDS),
        "score": block.scores_at,
        "threshold": wanted.thresholds,
    }
    used = {dim for dims in block.layout.dims.values() for dim in dims}
    return {name: values for name, values in every.items() if name in used}


def warn(result: xr.Dataset, block: DistributionBlock, empty: Sequence[str]) -> None:
    """Say once each what in a computed result a reader would not expect, with the first group it befell.

    `empty` names a stratum without a trial for each group, where there is one.
    """
    n_trials = result["n_trials"].to_numpy().ravel()
    n_units = result.get("n_units", result["n_trials"]).to_numpy().ravel()
    outcomes.warn_of(n_trials == 0, block.names, lambda _: "no trial; the result is NaN", "groups")
    outcomes.warn_of(
        (n_trials > 0) & (n_units == 0),
        block.names,
        lambda group: f"no trial in the stratum {empty[group]}; the result is NaN",
        "groups",
    )
    if block.interval == "exact":
        return
    what, where = ("unit" if block.by_unit else "trial"), " in the smallest stratum" * block.stratified
    outcomes.warn_of(
        n_units == 1, block.names, lambda _: f"one {what}{where} shows no spread; the intervals are NaN", "groups"
    )

    def few(group: int) -> str:
        return (
            f"{n_units[group]} {what}s{where} are few for a bootstrap: intervals are too short, the more so for tails "
            "(coverage: see performance_cdf)"
        )

    outcomes.warn_of((n_units > 1) & are_few(n_trials, n_units, block.stratified), block.names, few, "groups")
