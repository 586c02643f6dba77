"""The coordinates of a performance distribution, what its intervals are, and its warnings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import xarray as xr

from xcurves.core import provenance
from xcurves.core.labels import LONG_NAMES
from xcurves.distributions.kinds import BAND
from xcurves.distributions.options import as_digits
from xcurves.distributions.trials import DistributionBlock
from xcurves.kernels.bootstrap import are_few

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


def say_intervals(result: xr.Dataset, block: DistributionBlock) -> None:
    """Describe every interval of a result in its attr `interval`."""
    of_cdf, of_quantiles = _POINTWISE["exact" if block.interval == "exact" else "unit" if block.by_unit else "limit"]
    kinds = {
        "statistic_ci": _OF_STATISTICS[block.interval] + " of whole units" * block.by_unit,
        "score_quantile_ci": of_quantiles,
        "cdf_ci": of_cdf,
        "cdf_band": BAND,
    }
    for name in kinds.keys() & result.keys():
        result[name].attrs["interval"] = kinds[name]
    provenance.add_comment(result["score_std"], "NaN where a trial is infinite: a time never reached")


def coords(block: DistributionBlock) -> dict[Hashable, Any]:
    """Return the coordinates of what was asked for."""
    wanted = block.wanted
    params = [
        *("score_mean", "score_median", "score_std", "iqm"),
        *(f"cvar {as_digits(level)}" for level in wanted.levels),
        *(f"cvar_lower {as_digits(level)}" for level in wanted.levels),
        *(f"partial_mean_above {as_digits(threshold)}" for threshold in wanted.thresholds),
        *(f"prob_above {as_digits(threshold)}" for threshold in wanted.thresholds),
        *("optimality_gap" for _ in wanted.targets),
    ]
    every = {
        "cvar_level": wanted.levels,
        "param": params,
        "probability": block.probabilities,
        "score": block.scores_at,
        "threshold": wanted.thresholds,
    }
    used = {dim for dims in block.layout.dims.values() for dim in dims}
    return {name: (name, values, {"long_name": LONG_NAMES[name]}) for name, values in every.items() if name in used}


def warn_of_groups(result: xr.Dataset, block: DistributionBlock, empty: Sequence[str]) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first group.

    `empty` names a stratum without a trial for each group, where there is one.
    """
    n_trials = result["n_trials"].to_numpy().ravel()
    n_units = result.get("n_units", result["n_trials"]).to_numpy().ravel()
    provenance.warn_of(n_trials == 0, block.names, lambda _: "no trial; the result is NaN", "groups")
    provenance.warn_of(
        (n_trials > 0) & (n_units == 0),
        block.names,
        lambda group: f"no trial in the stratum {empty[group]}; the result is NaN",
        "groups",
    )
    if block.interval == "exact":
        return
    what, where = ("unit" if block.by_unit else "trial"), " in the smallest stratum" * block.stratified
    provenance.warn_of(
        n_units == 1, block.names, lambda _: f"one {what}{where} shows no spread; the intervals are NaN", "groups"
    )

    if "simultaneous" in result.attrs:  # its replicates are no bootstrap
        return

    def few(group: int) -> str:
        return (
            f"{n_units[group]} {what}s{where} are few for a bootstrap: intervals are too short, the more so for tails "
            "(coverage: see performance_cdf)"
        )

    provenance.warn_of((n_units > 1) & are_few(n_trials, n_units, block.stratified), block.names, few, "groups")
