"""Whether runs of algorithms are matched: those of one label, where labels are the folds of a data set.

Repeats of the folds are runs that share their data, which a test takes for independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.refusal import UNSAID, Cure, Refusal, call, give

MATCHED = "matched"  # the attr of runs that says by what they are matched
NUMBERED = "numbered"  # the attr of runs that are rows in their order: the column that tells them apart, or 1
_REPEATED = "repeats of the same folds are runs: "


def resolved(curves: xr.DataArray, paired: bool | None) -> bool:
    """Return whether runs are compared as matched: as it is given, or where their labels are folds.

    Raises
    ------
    Refusal
        If an algorithm lacks a fold, or if runs are to be matched that were numbered by the order of rows.
    """
    attrs = curves["run"].attrs if "run" in curves.coords else {}
    if paired and NUMBERED in attrs:
        cure = Cure("Leave it out: ", give(paired=False))
        if isinstance(attrs[NUMBERED], str):
            cure = Cure("Name the column that tells them apart: ", give(run=attrs[NUMBERED]))
        raise Refusal(
            "paired",
            True,
            "matches runs by their labels, but these are numbered by the order of their rows",
            cure,
        )
    is_matched = bool(attrs.get(MATCHED)) and curves.sizes.get("algorithm", 1) > 1
    if paired is None:
        paired = is_matched
    if paired and is_matched:
        _check_folds(curves, str(attrs[MATCHED]))
    return paired


def lacking(curves: xr.DataArray) -> xr.DataArray:
    """Return which runs of a task an algorithm lacks that another one has, as booleans with the dims of runs."""
    present = curves.notnull()
    if "training" in curves.dims:
        present = present.any("training")
    has_runs = present.any("run")
    return present.any("algorithm") & ~present & has_runs


def _check_folds(curves: xr.DataArray, what: str) -> None:
    """Refuse folds that an algorithm lacks."""
    dims = [*labels.extra_dims(curves), "algorithm", "run"]
    gone = lacking(curves).transpose(*dims)
    found = np.argwhere(gone.to_numpy())
    if not len(found):
        return
    names = []
    for place in found[:3]:
        of = {dim: curves[dim].to_numpy()[i] for dim, i in zip(dims, place, strict=True) if dim in curves.coords}
        task = "".join(f"{dim} {of[dim]}: " for dim in dims[:-2])
        names.append(f"{task}algorithm {of['algorithm']} lacks {what} {of['run']}")
    more = ""
    if len(found) > len(names):
        more = f"; {len(found) - len(names)} more"
    raise Refusal(
        "curves",
        UNSAID,
        f"{'; '.join(names)}{more}, and each {what} is compared with itself",
        Cure("Leave such folds out in every algorithm: ", call(".curves.drop_incomplete")),
    )


def line_of_repeats(repeat: str, fold: str) -> str:
    """Return what a history says of runs that are the folds of each repeat."""
    return f"{_REPEATED}{repeat}, {fold}"


def columns_of_repeats(steps: Iterable[str]) -> list[str]:
    """Return the columns of repeats and of folds, by the steps that made runs of both; none if no step did."""
    for step in steps:
        _, found, columns = step.partition(_REPEATED)
        if found:
            return columns.split(", ")
    return []


def say_repeats(result: xr.Dataset) -> Iterator[str]:
    """Yield that runs of a result are repeats of the same folds, and what to do."""
    columns = columns_of_repeats(str(result.attrs.get("history", "")).split("\n"))
    if columns:
        yield (
            f"Runs are repeats of the same folds ({', '.join(columns)}): they share their data and are not "
            "independent, so that p-values are too small (Nadeau & Bengio 2003). The mean of the repeats of each fold "
            f"is one run: run='{columns[-1]}', duplicates='mean'."
        )
