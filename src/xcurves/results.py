"""What a result says, as a table and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
import xarray as xr

from xcurves import labels
from xcurves.wording import analysis, distribution, learning, profile, randomization
from xcurves.wording import study as study_wording

_ROWS = {source: source.capitalize() for source in labels.SOURCES}


def table(result: xr.Dataset) -> pd.DataFrame:
    """Return a result as a table to print.

    Parameters
    ----------
    result : Dataset
        What a method returned.

    Returns
    -------
    DataFrame
        Of `randomized_anova`, the ANOVA table as in the paper: rows Interaction, Algorithm, Training, Error, Total;
        columns df, SS, MS, F and p with the pooled error, and F_stratum and p_stratum beside them. Training has an F
        but no p, since no reassignment of runs can change it. Of `pairwise`, a row for each pair: difference, its
        interval (lower, upper), and the adjusted p of both effects. Of `contrast`, one row: estimate, lower, upper, T,
        p. Of `ss_profile`, a row for each training level: SS, its fraction and cumulative fraction of the simple
        profile, and, as far as asked, F, p, p_adjusted and equivalent. Of `fit_power_law`, the paper's table of
        learning curves, a row for each: e_N, beta_N, gamma, alpha, eta (and delta). Of `predict`, a row for each size:
        prediction, lower, upper, change (from the size N), its bounds, extrapolated. Of `leave_one_size_out`, the table
        of the paper's Figure 2, a row for each variant: R2, the RMSE at every size, their average, p. Of
        `compare_learners`, a row for each algorithm: differences with their intervals, crossings, the data multiplier.
        Of `performance_cdf`, a row for each statistic: value and interval. Of `compare_distributions`, a row for
        each pair: probability that the first scores higher, its interval, and with independent trials the verdict, the
        Kolmogorov-Smirnov distance and its adjusted p. Of `study.type_i_error` and `study.power`, a row for each
        setting and p-value: rate, its interval, the number n of data sets. Of `runs_needed`, a row for each number of
        runs: power, its interval, and the runs needed. With extra dims, so for each task.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> result = scores.curves.randomized_anova(rng=0)
    >>> list(result.curves.table().columns)
    ['df', 'SS', 'MS', 'F', 'p', 'F_stratum', 'p_stratum']
    """
    return _TABLES[labels.kind_of(result)](result)


def summary(result: xr.Dataset | xr.DataTree) -> str:
    r"""Say in plain sentences what a result shows and what it does not.

    Parameters
    ----------
    result : Dataset or DataTree
        What a method returned, or a whole analysis.

    Returns
    -------
    str
        A line for each statement, of tests with the stratum error terms, then how it was got and what it can claim. Of
        an analysis so for each part, under a heading; then what it does not have, and why.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library, or holds none.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> print(scores.curves.randomized_anova(rng=0).curves.summary().split("\n")[0])
    Compared: rate 0.001 (10 runs), rate 0.8 (10 runs), rate 0.1 (10 runs), at 8 training levels.
    """
    if isinstance(result, xr.DataTree):
        return "\n\n".join(_paragraphs(result))
    return "\n".join(_SENTENCES[labels.kind_of(result)](result))


def summary_of_part(part: xr.Dataset) -> str:
    """Return the sentences of one part of an analysis: where its scores were taken, and which tasks it lacks, too."""
    final = [analysis.final(part)] if "final" in part.attrs else []
    left = [f"Left out: {each}" for each in analysis.left_out(part.attrs)]
    return "\n".join([*final, summary(part), *left])


def _paragraphs(tree: xr.DataTree) -> Iterator[str]:
    for part in labels.parts_of(tree).values():
        yield f"{analysis.TITLES[labels.kind_of(part)]}\n{summary_of_part(part)}"
    left = analysis.missing(tree.attrs)
    if left:
        yield "\n".join(["Not in this analysis:", *left])


def _anova_table(result: xr.Dataset) -> pd.DataFrame:
    tests = result[["f", "pvalue"]].rename(effect="source").reindex(source=list(labels.SOURCES))
    pooled, stratum = (tests.sel(error_term=term, drop=True) for term in labels.ERROR_TERMS)
    mean_square = (result["ss"] / result["df"]).where((result["source"] != "total") & (result["df"] > 0))
    f_training = mean_square / mean_square.sel(source="error", drop=True)
    columns = {
        "df": result["df"],
        "SS": result["ss"],
        "MS": mean_square,
        "F": pooled["f"].where(result["source"] != "training", f_training),
        "p": pooled["pvalue"],
        "F_stratum": stratum["f"],
        "p_stratum": stratum["pvalue"],
    }
    frame = _frame(columns, ["source"])
    frame["df"] = frame["df"].astype("Int64")
    frame = frame.rename(index=_ROWS, level="source") if frame.index.nlevels > 1 else frame.rename(index=_ROWS)
    return frame if frame.index.nlevels > 1 else frame.rename_axis(None)


def _pair_table(result: xr.Dataset) -> pd.DataFrame:
    bounds = _bounds(result["difference_ci"])
    p = {f"p_{effect}": result["pvalue_adjusted"].sel(effect=effect, drop=True) for effect in labels.EFFECTS}
    return _frame({"difference": result["difference"], **bounds, **p}, ["pair"])


def _contrast_table(result: xr.Dataset) -> pd.DataFrame:
    bounds = _bounds(result["estimate_ci"])
    columns = {"estimate": result["estimate"], **bounds, "T": result["statistic"], "p": result["pvalue"]}
    return _frame(columns, [])


def _profile_table(result: xr.Dataset) -> pd.DataFrame:
    simple = result.sel(effect="simple", drop=True)
    columns = {"SS": simple["ss"], "fraction": simple["fraction"], "cumulative": simple["cumulative_fraction"]}
    names = {"F": "f", "p": "pvalue", "p_adjusted": "pvalue_adjusted", "equivalent": "equivalent"}
    columns |= {column: simple[name] for column, name in names.items() if name in simple}
    return _frame(columns, ["training"])


def _fit_table(result: xr.Dataset) -> pd.DataFrame:
    names = {"error_at_n": "e_N", "data_reliance": "beta_N"}
    known = [name for name in ("error_at_n", "data_reliance", "gamma", "alpha", "eta", "delta") if name in result]
    return _frame({names.get(name, name): result[name] for name in known}, [])


def _prediction_table(result: xr.Dataset) -> pd.DataFrame:
    of_change = {f"change_{bound}": values for bound, values in _bounds(result["change_ci"]).items()}
    columns = {"prediction": result["prediction"], **_bounds(result["prediction_ci"]), "change": result["change"]}
    return _frame({**columns, **of_change, "extrapolated": result["extrapolated"]}, ["n"])


def _left_out_table(result: xr.Dataset) -> pd.DataFrame:
    levels = result["training"].to_numpy()
    by_size = {f"{level:g}": result["rmse"].isel(training=i, drop=True) for i, level in enumerate(levels)}
    columns = {"R2": result["r_squared"], **by_size, "avg": result["rmse"].mean("training"), "p": result["pvalue"]}
    return _frame(columns, ["variant"])


def _learner_table(result: xr.Dataset) -> pd.DataFrame:
    columns: dict[str, xr.DataArray] = {}
    for parameter in result["param"].to_numpy():
        here = result.sel(param=parameter, drop=True)
        bounds = {f"{parameter}_{bound}": values for bound, values in _bounds(here["difference_ci"]).items()}
        columns |= {str(parameter): here["difference"], **bounds}
    multiplier = {f"multiplier_{bound}": values for bound, values in _bounds(result["data_multiplier_ci"]).items()}
    crossings = {f"crossing_{i + 1}": result["crossing_size"].isel(crossing=i) for i in range(2)}
    multiplier |= {"multiplier_extrapolated": result["data_multiplier_extrapolated"]}
    return _frame({**columns, **crossings, "multiplier": result["data_multiplier"], **multiplier}, ["algorithm"])


def _bounds(interval: xr.DataArray) -> dict[str, xr.DataArray]:
    return {bound: interval.sel(ci_bound=bound, drop=True) for bound in labels.CI_BOUNDS}


def _statistics_table(result: xr.Dataset) -> pd.DataFrame:
    values = distribution.statistics(result).transpose(..., "param")
    columns = {"value": values, **_bounds(result["statistic_ci"].sel(param=values["param"]))}
    frame = _frame(columns, ["param"])
    return frame.rename_axis(index={"param": "statistic"})


def _distribution_pair_table(result: xr.Dataset) -> pd.DataFrame:
    columns = {"prob_greater": result["prob_greater"], **_bounds(result["prob_greater_ci"])}
    if "ks_statistic" in result:
        columns |= {"dominance": result["dominance"], "KS": result["ks_statistic"], "p": result["ks_pvalue_adjusted"]}
    return _frame(columns, ["pair"])


def _rate_table(result: xr.Dataset) -> pd.DataFrame:
    columns = {"rate": result["rate"], **_bounds(result["rate_ci"]), "n": result["n_replications"]}
    return _frame(columns, [])


def _plan_table(result: xr.Dataset) -> pd.DataFrame:
    bounds = _bounds(result["rate_ci"])
    columns = {"power": result["rate"], **bounds, "needed": result["runs_needed"].expand_dims(n_runs=result["n_runs"])}
    return _frame(columns, ["n_runs"])


def _frame(columns: Mapping[str, xr.DataArray], last: list[str]) -> pd.DataFrame:
    """Join columns to a frame whose index has the extra dims, then the `last`."""
    dataset = xr.Dataset(columns)
    dataset = dataset.drop_vars([name for name in dataset.coords if name not in dataset.indexes])
    # Not in the order of the dataset's dims, which an archive may change.
    extra = list(dict.fromkeys(str(dim) for column in columns.values() for dim in column.dims if dim not in last))
    if not extra and not last:
        return pd.DataFrame({name: [column.item()] for name, column in dataset.items()})
    return dataset.to_dataframe([*extra, *last])


_TABLES = {
    "randomized_anova": _anova_table,
    "pairwise": _pair_table,
    "contrast": _contrast_table,
    "ss_profile": _profile_table,
    "fit_power_law": _fit_table,
    "predict": _prediction_table,
    "leave_one_size_out": _left_out_table,
    "compare_learners": _learner_table,
    "performance_cdf": _statistics_table,
    "compare_distributions": _distribution_pair_table,
    "study": _rate_table,
    "runs_needed": _plan_table,
}
_SENTENCES = {
    "randomized_anova": randomization.anova_sentences,
    "pairwise": randomization.pair_sentences,
    "contrast": randomization.contrast_sentences,
    "ss_profile": profile.profile_sentences,
    "fit_power_law": learning.fit_sentences,
    "predict": learning.prediction_sentences,
    "leave_one_size_out": learning.left_out_sentences,
    "compare_learners": learning.learner_sentences,
    "performance_cdf": distribution.statistic_sentences,
    "compare_distributions": distribution.comparison_sentences,
    "study": study_wording.rate_sentences,
    "runs_needed": study_wording.plan_sentences,
}
