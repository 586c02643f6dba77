"""The tables of a report: what was compared, and results, short ones where there are several tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves import labels, results
from xcurves.reporting import markup
from xcurves.wording import distribution, pictures

_Digest = tuple[pd.DataFrame, str]


def counts(curves: xr.DataArray) -> pd.DataFrame:
    """Return a row for each algorithm of one task."""
    squeezed = curves.squeeze(labels.extra_dims(curves), drop=True).transpose(*labels.DIMS)
    has = squeezed.notnull()
    present = has.any("training")
    absent = [[str(run) for run in curves["run"].to_numpy()[~row]] for row in present.to_numpy()]
    means = pictures.means_of_all(squeezed).isel(training=has.any(["algorithm", "run"]).to_numpy())
    last = means.isel(training=-1)
    return pd.DataFrame(
        {
            "runs": present.sum("run").to_numpy(),
            "absent runs": [", ".join(each[:8]) + ", …" * (len(each) > 8) or "none" for each in absent],
            "training levels": has.any("run").sum("training").to_numpy(),
            "mean over training": means.mean("training", skipna=False).to_numpy(),
            f"mean at {markup.number(last['training'].item())}": last.to_numpy(),
        },
        index=pd.Index([str(name) for name in curves["algorithm"].to_numpy()], name="algorithm"),
    )


def counts_by_task(curves: xr.DataArray, names: list[str]) -> pd.DataFrame:
    """Return a row for each task."""
    has = curves.transpose(..., *labels.DIMS).notnull()
    runs = has.any("training").sum("run").to_numpy().reshape(len(names), -1)
    grid = has.any(["algorithm", "run"]).to_numpy().reshape(len(names), -1)
    levels = curves["training"].to_numpy()
    (dim, *others) = labels.extra_dims(curves)
    index = pd.Index(names, name="task") if others else pd.Index(curves[dim].to_numpy(), name=dim)
    return pd.DataFrame(
        {
            "algorithms": (runs > 0).sum(axis=1),
            "runs of each": [_span(row[row > 0]) for row in runs],
            "training levels": grid.sum(axis=1),
            "first": [levels[row][0] if row.any() else np.nan for row in grid],
            "last": [levels[row][-1] if row.any() else np.nan for row in grid],
        },
        index=index,
    )


def _span(counts: NDArray[np.int64]) -> str:
    ends = sorted({int(counts.min()), int(counts.max())}) if counts.size else []
    return " to ".join(map(str, ends)) or "none"


def of_result(result: xr.Dataset, n_tasks: int) -> _Digest:
    """Return the table of a result and its caption, a short one if it has several tasks."""
    kind = labels.kind_of(result)
    if n_tasks > 1 and kind in _SHORT:
        return _SHORT[kind](result)
    frame = results.table(result)
    if kind == "performance_cdf":
        frame = frame.rename(index=lambda name: distribution.say_statistic(result, name), level="statistic")
    return frame, _CAPTIONS.get(kind, f"Result of {kind}.")


def _short_anova(result: xr.Dataset) -> _Digest:
    columns = {
        f"{symbol} {effect}{suffix}": result[name].sel(effect=effect, error_term=term, drop=True)
        for term, suffix in (("stratum", ""), ("pooled", ", pooled"))
        for effect in labels.EFFECTS
        for symbol, name in (("F", "f"), ("p", "pvalue"))
    }
    return _by_task(result, columns), (
        "Analyses of variance, a row for each task: F and p by the error of each effect itself (stratum), on which the "
        "sentences rest, then by the paper's pooled one."
    )


def _short_profile(result: xr.Dataset) -> _Digest:
    simple = result.sel(effect="simple", drop=True)
    names = {"first_significant": "first level that differs", "last_significant": "last level that differs"}
    columns = {said: result[name] for name, said in names.items() if name in result}
    half = (simple["cumulative_fraction"] >= 0.5 - 1e-12).idxmax("training")
    columns["half of the difference by"] = half.where(simple["cumulative_fraction"].notnull().any("training"))
    return _by_task(result, columns), (
        "First and last training level at which the curves are shown to differ, adjusted over levels, and the level by "
        "which half of the observed difference is gathered; a row for each task."
    )


def _short_distribution(result: xr.Dataset) -> _Digest:
    values = distribution.statistics(result)
    columns = {"trials": result["n_trials"]}
    columns |= {"at training": result["training"]} if "training" in result.coords else {}
    for name in values["param"].to_numpy():
        columns[distribution.say_statistic(result, str(name))] = values.sel(param=name, drop=True)
    return _by_task(result, columns), "Statistics of the final scores, a row for each task and algorithm."


def _by_task(result: xr.Dataset, columns: Mapping[str, xr.DataArray]) -> pd.DataFrame:
    dims = labels.task_dims(result)
    bare = {name: column.reset_coords(drop=True) for name, column in columns.items()}
    return xr.Dataset(bare).to_dataframe(dims)


_CAPTIONS = {
    "randomized_anova": "Analysis of variance. F and p are by the paper's pooled error term; F_stratum and p_stratum "
    "by the error of each effect itself, on which the sentences rest.",
    "pairwise": "Pairs of algorithms: difference of mean scores over training, its interval (not adjusted for the "
    "number of pairs), and p of level and of shape, adjusted.",
    "ss_profile": "Training levels: simple sum of squares, its share of the whole and the running share, F, p of the "
    "level by itself and adjusted over levels.",
    "fit_power_law": "Learning curves: error e_N and data-reliance beta_N at the size N, and the parameters.",
    "performance_cdf": "Statistics of the final scores with their intervals; ∞ where the runs set no limit.",
}
_SHORT: Mapping[str, Callable[[xr.Dataset], _Digest]] = {
    "randomized_anova": _short_anova,
    "ss_profile": _short_profile,
    "performance_cdf": _short_distribution,
}
