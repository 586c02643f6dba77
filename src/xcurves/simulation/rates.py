"""Rates of rejections over data sets from a generator and a grid of settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from xcurves.core import validation
from xcurves.core.schema import ResultKind
from xcurves.simulation import counts
from xcurves.simulation.grid import cells_of, check_settings
from xcurves.simulation.replications import Replications, run_replications


def measure_rates(
    kind: ResultKind,
    simulation: Replications,
    n_replications: int,
    settings: Mapping[str, Sequence[Any]] | None,
    progress: bool | None,
    confidence_level: float,
) -> xr.Dataset:
    """Return the rates of rejections over the grid of settings, with their intervals."""
    error = validation.check_confidence_level(confidence_level)
    total = validation.check_total("n_replications", n_replications)
    validation.check_function("generator", simulation.generator)
    validation.check_function("test", simulation.test)
    grid = check_settings(settings)
    bar = validation.check_progress(progress, "data sets")
    counted = counts.on_grid(run_replications(simulation, cells_of(grid), total, bar), grid)
    attrs = kind.attrs(
        xr.Dataset(),
        simulation.entropy,
        confidence_level,
        n_replications=total,
        alpha=simulation.alpha,
        pvalue=simulation.pvalue,
    )
    counts.warn_of_missing(counted)
    return kind.dataset(counts.rates(counted, error), counted.coords, attrs, counted["rejected"])
