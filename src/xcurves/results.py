"""What a result says: its table and its sentences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pandas as pd
import xarray as xr

from xcurves import labels

_ROWS = {source: source.capitalize() for source in labels.SOURCES}


def table(result: xr.Dataset) -> pd.DataFrame:
    """Return the ANOVA table as printed in the paper, with the stratum error term beside it.

    Parameters
    ----------
    result : Dataset
        What `randomized_anova` returned.

    Returns
    -------
    DataFrame
        Rows Interaction, Algorithm, Training, Error, Total (for each task, if there are extra dims); columns df, SS,
        MS, F and p with the pooled error, F_stratum and p_stratum. As in the paper, training has an F but no p, since
        no reassignment of runs can change it.

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
    labels.kind_of(result)
    tests = result[["f", "pvalue"]].rename(effect="source").reindex(source=list(labels.SOURCES))
    columns = {
        "df": result["df"],
        "SS": result["ss"],
        "MS": (result["ss"] / result["df"]).where((result["source"] != "total") & (result["df"] > 0)),
        "F": tests["f"].sel(error_term="pooled", drop=True).where(result["source"] != "training", _f_training(result)),
        "p": tests["pvalue"].sel(error_term="pooled", drop=True),
        "F_stratum": tests["f"].sel(error_term="stratum", drop=True),
        "p_stratum": tests["pvalue"].sel(error_term="stratum", drop=True),
    }
    extra = [dim for dim in result["df"].dims if dim != "source"]
    frame = xr.Dataset(columns).drop_vars(_not_index(result), errors="ignore").to_dataframe([*extra, "source"])
    frame = frame.rename(index=_ROWS, level="source") if extra else frame.rename(index=_ROWS)
    frame["df"] = frame["df"].astype("Int64")
    frame.index = frame.index.set_names([*extra, None])
    return frame


def _f_training(result: xr.Dataset) -> xr.DataArray:
    mean_squares = result["ss"] / result["df"].where(result["df"] > 0)
    return mean_squares.sel(source="training", drop=True) / mean_squares.sel(source="error", drop=True)


def _not_index(result: xr.Dataset) -> list[Any]:
    return [name for name in result.coords if name not in result.indexes]


def summary(result: xr.Dataset) -> str:
    """Say in plain sentences what a randomized ANOVA found, by the stratum error terms.

    Parameters
    ----------
    result : Dataset
        What `randomized_anova` returned.

    Returns
    -------
    str
        Two sentences per task, on the algorithm effect and on the interaction, and the limits of the test.

    Raises
    ------
    ValueError
        If `result` is no result of this library.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> print(scores.curves.randomized_anova(rng=0).curves.summary()[:73])
    Algorithm effect: the algorithms' mean scores over training are not shown
    """
    labels.kind_of(result)
    return "\n".join(_sentences(result))


_CLAIMS = {
    "algorithm": ("Algorithm effect", "the algorithms' mean scores over training"),
    "interaction": ("Interaction", "the algorithms' changes of score with training"),
}
_STRATA = {
    False: {
        "algorithm": "differences between runs",
        "interaction": "changes over training of the differences between runs",
    },
    True: {"algorithm": "algorithm by run", "interaction": "algorithm by run by training"},
}


def _sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task and effect, then what holds for all."""
    strata = _STRATA[bool(result.attrs.get("paired", 0))]
    tasks, names = list(_tasks(result)), labels.task_names(result["n_levels"])
    for task, name in zip(tasks, names, strict=True):
        for effect in labels.EFFECTS:
            yield name + _claim(task, effect, strata[effect])
    yield _how(tasks)
    yield (
        "What was tested: whether scores are independent of the algorithm when whole runs are reassigned. A small p "
        "does not say which algorithm is better or by how much; a large one does not say that they are equal."
    )


def _tasks(result: xr.Dataset) -> Iterator[xr.Dataset]:
    dims = result["n_levels"].dims
    for place in product(*(range(result.sizes[dim]) for dim in dims)):
        yield result.isel(dict(zip(dims, place, strict=True)))


def _claim(task: xr.Dataset, effect: str, stratum: str) -> str:
    title, what = _CLAIMS[effect]
    test = task.sel(effect=effect, error_term="stratum")
    f, p, df_error = (test[name].item() for name in ("f", "pvalue", "error_df"))
    if p != p:
        return f"{title}: nothing can be said; F is undefined."
    alpha = labels.check_confidence_level(task.attrs["confidence_level"])
    verdict = "differ" if labels.significant(p, alpha) else "are not shown to differ"
    df = task["df"].sel(source=effect).item()
    return (
        f"{title}: {what} {verdict} at the {alpha:g} level; F({df:.0f}, {df_error:.0f}) = {f:.4g} against {stratum} "
        f"(stratum error term), p = {p:.3g}."
    )


def _how(tasks: list[xr.Dataset]) -> str:
    """Say what the p-values of all tasks are made from."""
    exact = {task["n_assignments"].item() for task in tasks if labels.is_exact(task)}
    random = {task["n_shuffles"].item() for task in tasks if not labels.is_exact(task)} - {0}
    kinds = [f"all {_span(exact)} distinct ones"] * bool(exact)
    if random:
        stderr = max(task["pvalue_stderr"].sel(error_term="stratum").max().item() for task in tasks)
        kinds.append(f"{_span(random)} random ones (standard error of p at most {stderr:.2g})")
    smallest = {labels.smallest_pvalue(task).item() for task in tasks if task["n_shuffles"] > 0}
    return (
        "p is the share of reassignments of whole runs to algorithms with an F at least as large, among "
        f"{' or '.join(kinds) or 'none'}; the smallest that it can be is {_span(smallest, '.3g') or 'undefined'}."
    )


def _span(values: set[float], form: str = ",.0f") -> str:
    ends = sorted({f"{value:{form}}": value for value in sorted(values)}.items(), key=lambda item: item[1])
    return " to ".join(said for said, _ in (ends if len(ends) < 2 else (ends[0], ends[-1])))
