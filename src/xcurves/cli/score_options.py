"""Scores of runs that failed, and scores of different tasks on one scale."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import xcurves
from xcurves.cli.options import WORST, not_found, repeats_scores
from xcurves.core import direction
from xcurves.core.labels import DIMS, extra_dims
from xcurves.core.refusal import UNSAID, Cure, Refusal, give

MINMAX = "minmax"
# names of columns
_ENDS = (("low", "high"), ("random", "human"), ("random", "expert"), ("min", "max"))


def filled(curves: xr.DataArray, options: argparse.Namespace) -> xr.DataArray:
    """Return curves, of known direction, in which runs that failed have the score that was asked for."""
    if options.fill_failed is None:
        return curves
    if options.fill_failed == WORST and repeats_scores(options):
        finite = curves.where(np.isfinite(curves))
        worst = finite.max()
        if direction.find(curves).higher:
            worst = finite.min()
        raise Refusal(
            "curves",
            UNSAID,
            f"--fill-failed {WORST} changes with later runs, and every look must repeat the scores of earlier ones",
            Cure("Give a number: ", give(fill_failed=f"{worst.item():g}")),
        )
    return xcurves.fill_failed(curves, options.fill_failed)


def normalized(curves: xr.DataArray, how: str | None) -> tuple[xr.DataArray, str]:
    """Return scores on the scale that was asked for, and the words for it."""
    if how is None:
        return curves, ""
    if how == MINMAX:
        low = curves.min(list(DIMS)).compute()
        high = curves.max(list(DIMS)).compute()
        if not direction.find(curves).higher:
            low, high = high, low
        words = "scores scaled in each task: its worst is 0, its best 1"
    else:
        low, high = _references(curves, Path(how))
        words = f"scores scaled in each task by the references in {how}"
    scaled = xcurves.normalize(curves, low=low.drop_attrs(), high=high.drop_attrs())
    named = scaled.rename(f"normalized {curves.name}")
    return named, words


def _references(curves: xr.DataArray, path: Path) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the low and the high reference of each task, of a table."""
    if not path.is_file():
        what = f"--normalize takes minmax or a table (.csv); {path} is no file"
        raise Refusal("normalize", str(path), what, "Check the path")
    table = pd.read_csv(path)
    ends = _columns_of_ends(table)
    dims = extra_dims(curves)
    if len(ends) != 2:
        raise not_found(
            "normalize",
            UNSAID,
            f"--normalize {path} must have the columns low and high",
            "low",
            table.columns,
        )
    if not dims:
        if len(table) != 1:
            raise Refusal(
                "normalize",
                str(path),
                f"--normalize {path} has {len(table)} rows for scores of one task",
                "Keep one row",
            )
        return xr.DataArray(table[ends[0]].item()), xr.DataArray(table[ends[1]].item())

    # The column of tasks is the one that has the name of a dim, or else the first of labels.
    labels = [name for name in table if name not in ends]
    if not labels:
        raise not_found(
            "normalize",
            UNSAID,
            f"--normalize {path} must have a column {dims[0]}",
            str(dims[0]),
            table.columns,
        )
    task = labels[0]
    dim = str(dims[0])
    for name in reversed(labels):
        if name in dims:
            task = name
            dim = str(name)
    low, high = (table.set_index(task)[end].rename_axis(dim).to_xarray() for end in ends)
    return low, high


def _columns_of_ends(table: pd.DataFrame) -> list[str]:
    """Return the columns of low and high references, by their usual names, or else all columns of numbers."""
    names = {str(name).strip().casefold(): str(name) for name in table}
    for low, high in _ENDS:
        if low in names and high in names:
            return [names[low], names[high]]
    return [str(name) for name in table.select_dtypes("number")]
