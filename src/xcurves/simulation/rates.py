"""Rates of rejections over data sets from a generator and a grid of settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import xarray as xr

from xcurves.core import labels, validation
from xcurves.core.schema import ResultKind
from xcurves.simulation import counts
from xcurves.simulation.grid import cells_of, check_settings
from xcurves.simulation.replications import Replications, run_replications


def measure_rates(
    kind: ResultKind,
    simulation: Replications,
    n_replications: int,
    settings: Mapping[str, Sequence[Any]] | None,
    block: int,
    archive: str | Path | None,
    dask: bool,
    progress: bool,
    confidence_level: float,
) -> xr.Dataset:
    """Return the rates of rejections over the grid of settings, with their intervals."""
    error = validation.check_confidence_level(confidence_level)
    total = validation.check_total("n_replications", n_replications)
    most = validation.check_total("block", block)
    validation.check_function("generator", simulation.generator)
    validation.check_function("test", simulation.test)
    grid = check_settings(settings)
    flags = {"dask": validation.check_flag("dask", dask), "progress": validation.check_flag("progress", progress)}
    counted = counts.on_grid(run_replications(simulation, cells_of(grid), total, most, archive, **flags), grid)
    attrs = kind.attrs(
        xr.Dataset(),
        simulation.entropy,
        confidence_level,
        n_replications=total,
        alpha=simulation.alpha,
        pvalue=simulation.pvalue,
        block=most,
    )
    counts.warn_of_missing(counted)
    return kind.dataset(counts.rates(counted, error), counted.coords, attrs, counted["rejected"])


def seed_of(rng: validation.Rng, archive: str | Path | None) -> int:
    """Return the seed of a simulation; one that continues from an archive needs a given one."""
    if archive is not None and not isinstance(rng, Integral):
        raise ValueError(
            f"an archive needs rng, a whole number, so that the simulation can go on; got {labels.shown(rng)}. "
            "Try rng=0"
        )
    return validation.check_rng(rng)
