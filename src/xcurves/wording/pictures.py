"""What pictures show, in words and numbers, for readers who do not see them; and the captions of those who do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import xarray as xr

from xcurves import labels, outcomes
from xcurves.wording.distribution import statistics
from xcurves.wording.randomization import alpha_of, tasks_of

_MANY = 12  # of which each is named
CURVES = (
    "Each run is a thin line, the mean of an algorithm's runs a thick one with markers. Bands: percentile intervals of "
    "the mean when whole runs are resampled, at each level by itself; from few runs they are too short, and tests, not "
    "bands, are for conclusions."
)
CAPTIONS = {
    "randomized_anova": "F ratios over their critical values: beyond 1 (dashed) is significant. Filled: the stratum "
    "error terms, which conclusions rest on; open: the pooled one of the paper.",
    "pairwise": "Differences of mean scores over training with their intervals; arrows have no end. Beside: p adjusted "
    "over pairs.",
    "ss_profile": "Above: share of each training level in the observed difference; grey is what chance gives, and a "
    "bar at the foot marks levels that differ. Below: running sums of the three profiles.",
    "fit_power_law": "Error against training size, so scaled that an exponent of -0.5 is a straight line. Circles are "
    "mean errors, shades intervals of the curve.",
    "performance_cdf": "Score that a share of runs does not exceed, with pointwise intervals: the steeper, the more "
    "runs differ.",
}


def curves_alternative(curves: xr.DataArray) -> str:
    """Return what the picture of the curves of one task shows."""
    n_runs = curves.notnull().any("training").sum("run")
    means = means_of_all(curves).to_numpy()
    said = []
    for place, name in enumerate(curves["algorithm"].to_numpy().tolist()):
        known = np.flatnonzero(~np.isnan(means[place]))
        if known.size:
            first, last = (f"{means[place, at]:.4g} at {curves['training'][at].item():g}" for at in known[[0, -1]])
            said.append(f"{name} ({n_runs[place].item()} runs) from {first} to {last}")
        elif n_runs[place]:
            said.append(f"{name} ({n_runs[place].item()} runs) without a level that all have")
    what = str(curves.attrs.get("long_name", curves.name or "score"))
    training = str(curves["training"].attrs.get("long_name", "training"))
    return f"Line chart of {what} against {training}. Means of runs: {_some(said)}."


def means_of_all(curves: xr.DataArray) -> xr.DataArray:
    """Return the means of the runs of one task at the levels that all of an algorithm's runs have, NaN elsewhere."""
    has = curves.notnull()
    lacking = (~has & has.any("training")).any("run")
    return curves.mean("run").where(~lacking).transpose("algorithm", "training")


def alternative(result: xr.Dataset) -> str:
    """Return what the picture of a result shows."""
    say = _ALTERNATIVES[labels.kind_of(result)]
    return " ".join(say(result))


def _anova(result: xr.Dataset) -> Iterator[str]:
    said = []
    for effect in labels.EFFECTS:
        for term in reversed(labels.ERROR_TERMS):
            test = result.sel(effect=effect, error_term=term)
            ratio = (test["f"] / test["critical_value"]).item()
            said.append(f"{effect}, {term}: {ratio:.3g} (F = {test['f'].item():.3g}, p = {test['pvalue'].item():.3g})")
    yield f"Chart of F ratios over their critical values. {_some(said)}."


def _pairs(result: xr.Dataset) -> Iterator[str]:
    said = []
    for place in range(result.sizes["pair"]):
        pair = result.isel(pair=place)
        low, high = pair["difference_ci"].to_numpy()
        p = pair["pvalue_adjusted"].sel(effect="algorithm").item()
        limits = "without limits" if np.isinf([low, high]).all() else f"{low:.4g} to {high:.4g}"
        difference = f"{pair['difference'].item():.4g} (interval {limits}), adjusted p = {p:.3g}"
        said.append(f"{pair['pair'].item()}: {difference}")
    yield f"Chart of differences of mean scores over training with intervals. {_some(said)}."


def _profile(result: xr.Dataset) -> Iterator[str]:
    fraction = result["fraction"].sel(effect="simple").dropna("training")
    if not fraction.size:
        yield "Empty chart: the mean curves are equal."
        return
    most = fraction.isel(training=int(fraction.to_numpy().argmax()))
    yield (
        f"Line chart of the share of each training level in the simple sum of squares: largest at "
        f"{most['training'].item():g} with {most.item():.3g}."
    )
    if "pvalue_adjusted" in result:
        marked = outcomes.significant(result["pvalue_adjusted"].to_numpy(), alpha_of(result))
        found = [f"{level:g}" for level in result["training"].to_numpy()[marked]]
        yield f"Marked as differing: {_some(found) or 'no level'}."


def _fit(result: xr.Dataset) -> Iterator[str]:
    said = [
        f"{name}error {curve['error_at_n'].item():.4g} at {curve['at'].item():g}, exponent {curve['gamma'].item():.3g}"
        for curve, name in zip(tasks_of(result), labels.result_names(result), strict=True)
    ]
    yield f"Learning curves with intervals. {_some(said)}."


def _cdf(result: xr.Dataset) -> Iterator[str]:
    values = statistics(result)
    said = [
        f"{name}{int(task['n_trials'].item())} runs, mean {value[0]:.4g}, median {value[1]:.4g}"
        for task, name, value in zip(
            tasks_of(result),
            labels.result_names(result),
            values.transpose(..., "param").to_numpy().reshape(-1, values.sizes["param"]),
            strict=True,
        )
    ]
    yield f"Step chart of scores by the share of runs that do not exceed them. {_some(said)}."


def _some(said: list[str]) -> str:
    return "; ".join(said[:_MANY]) + (f"; and {len(said) - _MANY} more" if len(said) > _MANY else "")


_ALTERNATIVES: Mapping[str, Callable[[xr.Dataset], Iterator[str]]] = {
    "randomized_anova": _anova,
    "pairwise": _pairs,
    "ss_profile": _profile,
    "fit_power_law": _fit,
    "performance_cdf": _cdf,
}
