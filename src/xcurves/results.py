"""What a result says, as a table and in sentences."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import xarray as xr

from xcurves import labels
from xcurves.wording import distribution, randomization

_ROWS = {source: source.capitalize() for source in labels.SOURCES}


def table(result: xr.Dataset) -> pd.DataFrame:
    """Return a result as a table to print.

    Parameters
    ----------
    result : Dataset
        What a method of curves returned.

    Returns
    -------
    DataFrame
        Of `randomized_anova`, the ANOVA table as in the paper: rows Interaction, Algorithm, Training, Error, Total;
        columns df, SS, MS, F and p with the pooled error, and F_stratum and p_stratum beside them. Training has an F
        but no p, since no reassignment of runs can change it. Of `pairwise`, a row for each pair: difference, its
        interval (lower, upper), and the adjusted p of both effects. Of `contrast`, one row: estimate, lower, upper, T,
        p. Of `performance_cdf`, a row for each statistic: value and interval. Of `compare_distributions`, a row for
        each pair: probability that the first scores higher, its interval, and with independent trials the verdict, the
        Kolmogorov-Smirnov distance and its adjusted p. With extra dims, so for each task.

    Raises
    ------
    ValueError
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


def summary(result: xr.Dataset) -> str:
    r"""Say in plain sentences what a result shows and what it does not.

    Parameters
    ----------
    result : Dataset
        What a method of curves returned.

    Returns
    -------
    str
        A line for each statement, of tests with the stratum error terms, then how it was got and what it can claim.

    Raises
    ------
    ValueError
        If `result` is no result of this library.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> print(scores.curves.randomized_anova(rng=0).curves.summary().split("\n")[0])
    Compared: rate 0.001 (10 runs), rate 0.8 (10 runs), rate 0.1 (10 runs), at 8 training levels.
    """
    return "\n".join(_SENTENCES[labels.kind_of(result)](result))


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
    bounds = {bound: result["difference_ci"].sel(ci_bound=bound, drop=True) for bound in labels.CI_BOUNDS}
    p = {f"p_{effect}": result["pvalue_adjusted"].sel(effect=effect, drop=True) for effect in labels.EFFECTS}
    return _frame({"difference": result["difference"], **bounds, **p}, ["pair"])


def _contrast_table(result: xr.Dataset) -> pd.DataFrame:
    bounds = {bound: result["estimate_ci"].sel(ci_bound=bound, drop=True) for bound in labels.CI_BOUNDS}
    columns = {"estimate": result["estimate"], **bounds, "T": result["statistic"], "p": result["pvalue"]}
    return _frame(columns, [])


def _statistics_table(result: xr.Dataset) -> pd.DataFrame:
    bounds = {bound: result["statistic_ci"].sel(ci_bound=bound, drop=True) for bound in labels.CI_BOUNDS}
    frame = _frame({"value": distribution.statistics(result).transpose(..., "param"), **bounds}, ["param"])
    return frame.rename_axis(index={"param": "statistic"})


def _distribution_pair_table(result: xr.Dataset) -> pd.DataFrame:
    bounds = {bound: result["prob_greater_ci"].sel(ci_bound=bound, drop=True) for bound in labels.CI_BOUNDS}
    columns = {"prob_greater": result["prob_greater"], **bounds}
    if "ks_statistic" in result:
        columns |= {"dominance": result["dominance"], "KS": result["ks_statistic"], "p": result["ks_pvalue_adjusted"]}
    return _frame(columns, ["pair"])


def _frame(columns: Mapping[str, xr.DataArray], last: list[str]) -> pd.DataFrame:
    """Join columns to a frame whose index has the extra dims, then the `last`."""
    dataset = xr.Dataset(columns)
    dataset = dataset.drop_vars([name for name in dataset.coords if name not in dataset.indexes])
    extra = [str(dim) for dim in next(iter(dataset.values())).dims if dim not in last]
    if not extra and not last:
        return pd.DataFrame({name: [column.item()] for name, column in dataset.items()})
    return dataset.to_dataframe([*extra, *last])


_TABLES = {
    "randomized_anova": _anova_table,
    "pairwise": _pair_table,
    "contrast": _contrast_table,
    "performance_cdf": _statistics_table,
    "compare_distributions": _distribution_pair_table,
}
_SENTENCES = {
    "randomized_anova": randomization.anova_sentences,
    "pairwise": randomization.pair_sentences,
    "contrast": randomization.contrast_sentences,
    "performance_cdf": distribution.statistic_sentences,
    "compare_distributions": distribution.comparison_sentences,
}
