"""How many runs a test takes that is looked at several times."""

from __future__ import annotations

import xarray as xr

from xcurves.core import provenance


def runs_until_decided(result: object, pvalue: str, alpha: float) -> xr.DataArray | None:
    """Return the runs per algorithm, each stopped once all of its pairs are decided, dims (replication, ...).

    None if the test looks once.
    """
    if not isinstance(result, xr.Dataset) or "n_runs" not in result or "look" not in result[pvalue].dims:
        return None
    p, runs = result[pvalue], result["n_runs"]
    is_open = p.notnull() & ~provenance.significant(p, alpha)
    takes_part = (runs["algorithm"] == p["algorithm_a"]) | (runs["algorithm"] == p["algorithm_b"])
    goes_on = (is_open & takes_part).any("pair").shift(look=1, fill_value=True)
    return runs.where(goes_on).max("look").mean("algorithm")
