"""Which scores are the good ones, and scores of different tasks on one scale."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.cli.names import not_found
from xcurves.cli.options import WORST, repeats_scores
from xcurves.core.labels import DIMS, extra_dims
from xcurves.preprocessing.failures import fill_failed
from xcurves.preprocessing.normalization import normalize
from xcurves.readers.guess import lower_is_better

MINMAX = "minmax"
# names of columns
_ENDS = (("low", "high"), ("random", "human"), ("random", "expert"), ("min", "max"))


def with_direction(
    curves: xr.DataArray, options: argparse.Namespace
) -> tuple[xr.DataArray, str]:
    """Return curves that say whether a low score is a good one, and the words for it where it was not asked for."""
    if options.lower_is_better is not None:
        return curves.assign_attrs(
            higher_is_better=int(not options.lower_is_better)
        ), ""
    if "higher_is_better" in curves.attrs:
        said = (
            ""
            if curves.attrs["higher_is_better"]
            else "lower is better, as ARCHIVE says (else: --higher-is-better)"
        )
        return curves, said
    if not lower_is_better(curves.name):
        return curves, ""
    said = f"lower is better, as the name {curves.name} says (else: --higher-is-better)"
    return curves.assign_attrs(higher_is_better=0), said


def filled(curves: xr.DataArray, options: argparse.Namespace) -> xr.DataArray:
    """Return curves, of known direction, in which runs that failed have the score that was asked for."""
    if options.fill_failed is None:
        return curves
    higher_is_better = curves.attrs.get("higher_is_better", 1) != 0
    if options.fill_failed == WORST and repeats_scores(options):
        finite = curves.where(np.isfinite(curves))
        worst = finite.min() if higher_is_better else finite.max()
        raise ValueError(
            f"--fill-failed {WORST} changes with later runs, and every look must repeat the scores of earlier ones. "
            f"Give a number: --fill-failed {worst.item():g}"
        )
    return fill_failed(curves, options.fill_failed, higher_is_better=higher_is_better)


def normalized(curves: xr.DataArray, how: str | None) -> tuple[xr.DataArray, str]:
    """Return scores on the scale that was asked for, and the words for it; after it higher is better."""
    if how is None:
        return curves, ""
    is_lower = curves.attrs.get("higher_is_better", 1) == 0
    if how == MINMAX:
        ends = (curves.min(list(DIMS)).compute(), curves.max(list(DIMS)).compute())
        low, high = (ends[1], ends[0]) if is_lower else ends
        said = "scores scaled in each task: its worst is 0, its best 1"
    else:
        low, high = _references(curves, Path(how))
        said = f"scores scaled in each task by the references in {how}"
    scaled = normalize(curves, low=low.drop_attrs(), high=high.drop_attrs())
    return scaled.rename(f"normalized {curves.name}").assign_attrs(
        higher_is_better=1
    ), said


def _references(curves: xr.DataArray, path: Path) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the low and the high reference of each task, of a table."""
    if not path.is_file():
        raise FileNotFoundError(
            f"--normalize takes minmax or a table (.csv); {path} is no file. Check the path"
        )
    table = pd.read_csv(path)
    names = {str(name).strip().casefold(): name for name in table}
    numbers = [str(name) for name in table.select_dtypes("number")]
    ends = next(
        (
            [names[low], names[high]]
            for low, high in _ENDS
            if {low, high} <= names.keys()
        ),
        numbers,
    )
    dims = extra_dims(curves)
    if len(ends) != 2:
        raise not_found(
            f"--normalize {path} must have the columns low and high",
            "low",
            table.columns,
        )
    if not dims:
        if len(table) != 1:
            raise ValueError(
                f"--normalize {path} has {len(table)} rows for scores of one task. Keep one row"
            )
        return xr.DataArray(table[ends[0]].item()), xr.DataArray(table[ends[1]].item())
    labels = [name for name in table if name not in ends]
    task = next(
        (name for name in labels if name in dims), labels[0] if labels else None
    )
    if task is None:
        raise not_found(
            f"--normalize {path} must have a column {dims[0]}",
            str(dims[0]),
            table.columns,
        )
    dim = str(task) if task in dims else str(dims[0])
    low, high = (
        table.set_index(task)[end].rename_axis(dim).to_xarray() for end in ends
    )
    return low, high
