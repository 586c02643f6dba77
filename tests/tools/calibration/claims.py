"""What is claimed of a procedure, and how the claim is measured: by the instrument of this library itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy import stats

from experiments.studies import measured_rates
from xcurves.planning.replications import Replications

ALPHA = 0.05


class Claim(NamedTuple):
    """That the true rate of rejections of a true null, or of intervals without the truth, lies between two numbers."""

    least: float
    most: float

    def allows(self, count: int, n: int) -> bool:
        """Whether a count is within the 99.9 % binomial bounds."""
        return bool(stats.binom.ppf(0.0005, n, self.least) <= count <= stats.binom.ppf(0.9995, n, self.most))

    def __str__(self) -> str:
        if self.most == 1:
            return f"not held: more than {self.least:g}"
        if self.least == self.most:
            return f"{self.least:.4g}"
        return f"at most {self.most:g}" if self.least == 0 else f"{self.least:g} to {self.most:g}"


EXACT = Claim(ALPHA, ALPHA)
AT_MOST = Claim(0.0, ALPHA)


def fails(least: float) -> Claim:
    """A procedure that is documented not to hold its level here: it must be seen to fail."""
    return Claim(least, 1.0)


def near(least: float, most: float) -> Claim:
    """A procedure that holds its level approximately."""
    return Claim(least, most)


@dataclass(frozen=True)
class Simulation:
    """Data sets, a procedure that gives a p-value for each row and data set, and what is claimed of each row.

    `short` data sets are made in the short form, `full` in the full one. A rate above `bold_above` is printed in bold,
    1: one that is no rate of errors, and one below `bold_below`, of a power. `data` is a file of published curves,
    which is no part of the repository; without it the simulation is left out.
    """

    family: str
    setting: str
    generator: Callable[..., xr.DataArray]
    procedure: Callable[..., Mapping[str, xr.DataArray]]
    claims: Mapping[str, Claim]
    short: int = 2_000
    full: int = 10_000
    block: int = 250
    data: Path | None = None
    bold_above: float = ALPHA
    bold_below: float = 0.0

    @property
    def possible(self) -> bool:
        """Whether the data that it needs are there."""
        return self.data is None or self.data.exists()

    def measure(self, n: int) -> xr.Dataset:
        """Return the rates of `n` data sets on (row), with their 99.9 % intervals."""
        test = partial(_rows, self.procedure, list(self.claims))
        replications = Replications(self.generator, test, "pvalue", ALPHA, 1998, self.block)
        with warnings.catch_warnings():
            # of few runs, exponents at the edge
            warnings.simplefilter("ignore", UserWarning)
            return measured_rates(
                replications,
                n,
                None,
                progress=False,
                confidence_level=0.999,
            )


def _rows(
    procedure: Callable[..., Mapping[str, xr.DataArray]],
    rows: list[str],
    data: xr.DataArray,
    *,
    rng: int | None = None,
) -> xr.DataArray:
    """Return the p-values of all rows as one array."""
    found = procedure(data, rng=rng)
    assert list(found) == rows, (list(found), rows)
    bare = [p.reset_coords(drop=True).drop_vars("replication", errors="ignore") for p in found.values()]
    return xr.concat(bare, "row", coords="minimal", compat="override").assign_coords(row=rows)


def missed(interval: xr.DataArray, truth: Any) -> xr.DataArray:
    """Return 0 where an interval does not hold the truth, else 1: as a p-value of the truth."""
    slack = 1e-12 * (1 + abs(truth))
    low, high = (interval.sel(ci_bound=bound, drop=True) for bound in ("lower", "upper"))
    return outside((low > truth + slack) | (high < truth - slack))


def outside(wrong: xr.DataArray) -> xr.DataArray:
    """Return 0 where something is wrong, else 1."""
    return xr.where(wrong, 0.0, 1.0)


def count_of(measured: xr.Dataset, row: str) -> tuple[int, int]:
    """Return the number of rejections and of data sets of a row."""
    one = measured.sel(row=row)
    n = one.n_replications.item()
    if n == 0:
        return 0, 0
    return round(one.rate.item() * n), n


def labelled(values: np.ndarray, **coords: Any) -> xr.DataArray:
    """Label an array whose first dim are data sets."""
    return xr.DataArray(values, coords, ("replication", *coords), name="score")
