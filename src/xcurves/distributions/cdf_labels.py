"""The coordinates of a performance distribution, what its intervals are, and its warnings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.labels import LONG_NAMES
from xcurves.distributions.kinds import BAND
from xcurves.distributions.options import as_digits
from xcurves.distributions.trials import Distributions
from xcurves.kernels.bootstrap import are_few

_POINTWISE = {
    "exact": ("exact binomial (Clopper-Pearson), pointwise", "order statistics, pointwise"),
    "limit": ("percentile bootstrap, limit of infinitely many resamples, pointwise",) * 2,
    "unit": ("percentile bootstrap of whole units, pointwise",) * 2,
}
_OF_STATISTICS = {
    "exact": "prob_above: exact binomial (Clopper-Pearson); score_median: order statistics; score_mean, iqm, cvar, "
    "cvar_lower, optimality_gap: integral of the band of the CDF between the bounds",
    "percentile": "percentile bootstrap",
    "bca": "bias-corrected and accelerated bootstrap",
}
_FEW_IN_A_BAND = 10  # runs of one group


def say_intervals(result: xr.Dataset, kernel: Distributions) -> None:
    """Describe every interval of a result in its attr `interval`."""
    of_cdf, of_quantiles = _POINTWISE["exact" if kernel.interval == "exact" else "unit" if kernel.by_unit else "limit"]
    kinds = {
        "statistic_ci": _OF_STATISTICS[kernel.interval] + " of whole units" * kernel.by_unit,
        "score_quantile_ci": of_quantiles,
        "cdf_ci": of_cdf,
        "cdf_band": BAND,
    }
    for name in kinds.keys() & result.keys():
        result[name].attrs["interval"] = kinds[name]
    provenance.add_comment(result["score_std"], "NaN where a trial is infinite: a time not reached within the budget")


def coords(kernel: Distributions, when: Collection[str]) -> dict[Hashable, Any]:
    """Return the coordinates of what was asked for: the options `when`."""
    wanted = kernel.wanted
    params = [
        *("score_mean", "score_median", "score_std", "iqm"),
        *(f"cvar {as_digits(level)}" for level in wanted.levels),
        *(f"cvar_lower {as_digits(level)}" for level in wanted.levels),
        *(f"partial_mean_above {as_digits(threshold)}" for threshold in wanted.thresholds),
        *(f"prob_above {as_digits(threshold)}" for threshold in wanted.thresholds),
        *("optimality_gap" for _ in wanted.targets),
    ]
    every = {"cvar_level": wanted.levels, "param": params, "probability": kernel.probabilities}
    every |= {"score": kernel.scores_at} if "scores_at" in when else {}
    every |= {"threshold": wanted.thresholds} if "threshold" in when else {}
    return {name: (name, values, {"long_name": LONG_NAMES[name]}) for name, values in every.items()}


def warn_of_groups(result: xr.Dataset, kernel: Distributions, names: Sequence[str], empty: Sequence[str]) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first group.

    `names` are the prefixes of messages; `empty` names a stratum without a trial for each group, where there is one.
    """
    n_trials = result["n_trials"].to_numpy().ravel()
    n_units = result.get("n_units", result["n_trials"]).to_numpy().ravel()
    medians = result["score_median"].to_numpy().ravel()
    what, where = ("unit" if kernel.by_unit else "trial"), " in the smallest stratum" * kernel.stratified

    def warn(affected: NDArray[np.bool_], say: Callable[[int], str], things: str = "groups") -> None:
        provenance.warn_of(affected, names, say, things)

    warn(n_trials == 0, lambda _: "no trial; the result is NaN")
    none = (n_trials > 0) & (n_units == 0)
    warn(none, lambda group: f"no trial in the stratum {empty[group]}; the result is NaN")
    if kernel.interval == "exact":
        return
    warn(n_units == 1, lambda _: f"one {what}{where} shows no spread; the intervals are NaN")
    if "simultaneous" not in result.attrs:
        few = (n_units > 1) & are_few(n_trials, n_units, kernel.stratified)
        said = "are few for a bootstrap: intervals are too short, the more so for tails (coverage: see performance_cdf)"
        warn(few, lambda group: f"{n_units[group]} {what}s{where} {said}")
        return
    few = (n_trials > 1) & (n_trials < _FEW_IN_A_BAND) & (not kernel.stratified)  # its replicates are no bootstrap
    band = "for a band along training, which is too narrow where scores are skewed or runs fail"
    warn(few, lambda group: f"{n_trials[group]} runs of one group are few {band}", "levels")
    alike = (n_trials > 1) & (result["score_std"] == 0).to_numpy().ravel()
    warn(alike, lambda group: f"all runs share the score {medians[group]:g}; this level has no interval", "levels")
