"""Repeats of the folds of one data set: runs that share their data, which a test takes for independent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import xarray as xr

_REPEATED = "repeats of the same folds are runs: "


def line(repeat: str, fold: str) -> str:
    """Return what a history says of runs that are the folds of each repeat."""
    return f"{_REPEATED}{repeat}, {fold}"


def columns_of(steps: Iterable[str]) -> list[str]:
    """Return the columns of repeats and of folds, by the steps that made runs of both; none if no step did."""
    for step in steps:
        _, found, columns = step.partition(_REPEATED)
        if found:
            return columns.split(", ")
    return []


def say(result: xr.Dataset) -> Iterator[str]:
    """Yield that runs of a result are repeats of the same folds, and what to do."""
    columns = columns_of(str(result.attrs.get("history", "")).split("\n"))
    if columns:
        yield (
            f"Runs are repeats of the same folds ({', '.join(columns)}): they share their data and are not "
            "independent, so that p-values are too small (Nadeau & Bengio 2003). The mean of the repeats of each fold "
            f"is one run: run='{columns[-1]}', duplicates='mean'."
        )
