"""Tidy frames with several columns of scores to a Dataset of curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.known import FIND, AlignMethod, Duplicates, Find, On
from xcurves.core.refusal import Cure, Refusal, Verbatim, give
from xcurves.frames.columns import (
    as_pandas,
    columns_named,
)
from xcurves.frames.to_curves import to_dataarray
from xcurves.frames.wide import of_each_value


def to_dataset(
    frame: pd.DataFrame | Any,
    values: Sequence[str],
    *,
    algorithm: str | Sequence[str] | Find | None = FIND,
    run: str | Sequence[str] | Find | None = FIND,
    training: str | Find | None = FIND,
    extra: str | Sequence[str] | Find = FIND,
    coords: str | Sequence[str] = (),
    levels: Literal["union", "run"] = "union",
    on: On | None = None,
    method: AlignMethod | None = None,
    tolerance: float | None = None,
    duplicates: Duplicates = "raise",
    resumed: bool = False,
    missing_scores: Literal["absent", "failed"] | None = None,
    higher_is_better: bool | None = None,
    columns: str | Mapping[str, str | Mapping[str, Sequence[str]]] | None = None,
) -> xr.Dataset:
    """Turn a tidy frame with several columns of scores into a Dataset of curves.

    Parameters
    ----------
    frame : DataFrame
        As for `to_dataarray`.
    values : sequence of str
        Columns of scores. A row may lack some of them.
    algorithm, run, training, extra, coords, levels, on, method, tolerance, duplicates, resumed : as of `to_dataarray`
        What they are for `to_dataarray`; with `on`, each column of scores is aligned by itself, and runs
        with levels of their own need the same rows in all columns.
    missing_scores, higher_is_better : as of `to_dataarray`
        For each column of scores.
    columns : str or mapping, optional
        Of a wide table, which columns hold which of `values`: a pattern with the part ``{value}``,
        ``"{algorithm}_{value}"``, ``"split{run}_{value}"``; or from each of `values` to what `columns` is for
        `to_dataarray`, ``{"accuracy": "acc_{algorithm}", "loss": "{algorithm} (loss)"}``.

    Returns
    -------
    Dataset
        A variable for each column of scores, as `to_dataarray` makes it, on the same labels; NaN where it has no score.

    Raises
    ------
    KeyError, TypeError, ValueError, ImportError
        As `to_dataarray`; also if `values` names no column.

    Warns
    -----
    UserWarning
        As `to_dataarray`, for each column of scores.

    Examples
    --------
    >>> import pandas as pd, xcurves
    >>> frame = pd.DataFrame(
    ...     {"algorithm": ["a", "b"], "run": 0, "training": 10, "reward": [1.0, 2.0], "success": [0.5, None]}
    ... )
    >>> curves = frame.curves.to_dataset(["reward", "success"])
    >>> curves.success.squeeze().to_numpy()
    array([0.5, nan])

    A wide table:

    >>> wide = pd.DataFrame({"fold": [0, 1], "svm_f1": [0.5, 0.6], "svm_auc": [0.7, 0.8], "tree_f1": [0.4, 0.5]})
    >>> wide.curves.to_dataset(["f1", "auc"], run="fold", training=None, columns="{algorithm}_{value}").f1.to_numpy()
    array([[0.5, 0.6],
           [0.4, 0.5]])
    """
    names = columns_named("values", values)
    if not names:
        raise Refusal(
            "values",
            Verbatim("none"),
            "must name at least one column of scores",
            Cure("Name them: ", give(values=["return"])),
        )
    make = partial(to_dataarray, algorithm=algorithm, run=run, training=training, extra=extra)
    options: dict[str, Any] = {
        "coords": coords,
        "levels": levels,
        "on": on,
        "method": method,
    }
    options |= {
        "tolerance": tolerance,
        "duplicates": duplicates,
        "resumed": resumed,
    }
    options |= {"missing_scores": missing_scores, "higher_is_better": higher_is_better}
    tidy = as_pandas(frame)
    held: dict[str, Any] = dict.fromkeys(names, (tidy, None))
    if columns is not None:
        held = of_each_value(tidy, names, columns)
    arrays = [
        # Each numbers the algorithms that it has: the merged ones are numbered anew.
        make(own, name, columns=of_own, **options).drop_vars(labels.COLOR_INDEX, errors="ignore")
        for name, (own, of_own) in held.items()
    ]
    merged = xr.merge(arrays, join="outer", compat="no_conflicts", combine_attrs="override")
    return labels.with_color_index(merged)
