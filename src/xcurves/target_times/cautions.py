"""What results say of runs that end early, of targets that nobody reaches, and why a time is not estimated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.core.wording import number, quantity, units_of
from xcurves.target_times.readings import Reason

_MOST = 6  # cells of which a summary says that runs end early


def described(result: xr.Dataset, *, lazy: bool) -> xr.Dataset:
    """Say what the numbers of `reason` mean, as CF does, and warn where the result is known."""
    result["reason"].attrs["flag_meanings"] = " ".join(each.name.lower() for each in Reason)
    if not lazy:
        _warn(result)
    return result


def cells_of(result: xr.Dataset, name: str, where: xr.DataArray | None = None) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield every cell of a variable, or those where something holds, with its words: "task 'x', sac"."""
    variable = result[name]
    wanted = np.ones(variable.shape, bool) if where is None else where.to_numpy()
    for cell in np.argwhere(wanted).tolist():
        places = dict(zip(variable.dims, cell, strict=True))
        one = result.isel(places)
        words = {dim: repr(one[dim].item()) if dim in one.coords else place for dim, place in places.items()}
        said = [f"{dim} {word}" for dim, word in words.items() if dim != "algorithm"]
        yield ", ".join([*said, *[str(one["algorithm"].item())] * (not one["algorithm"].dims)]), one


def ended_early(result: xr.Dataset) -> tuple[list[str], int]:
    """Return a sentence for each of the first cells of which runs end earlier than others, and how many there are."""
    early = result["n_ended_early"] > 0
    said = []
    for words, one in islice(cells_of(result, "n_ended_early", early), _MOST):
        n, last = one["n_ended_early"].item(), quantity(one["training_last"].item(), units_of(one["training_last"]))
        ends = f"{number(n)} of its {number(one['n_runs'].item())} runs {'end' if n > 1 else 'ends'}"
        said.append(f"{words} is read up to {last}: {ends} earlier than others.")
    return said, int(early.sum())


def _warn(result: xr.Dataset) -> None:
    """Warn once of targets beyond all runs, of runs that end early, and of a reference that has been better."""
    beyond = result["reason"] == Reason.BEYOND
    for words, one in islice(cells_of(result, "reason", beyond), 1):
        more = f" (in {number(beyond.sum().item())} comparisons)" if beyond.sum() > 1 else ""
        best = quantity(one["score_best"].item(), units_of(one["score_best"]))
        provenance.warn(
            f"{words}: no run reaches the target (the best score is {best}), so that nothing is said of times{more}. "
            "Name another one"
        )
    early, n = ended_early(result)
    if early:
        more = f" (so {n - 1} more)" if n > 1 else ""
        said = early[0].removesuffix(".")
        provenance.warn(f"{said}{more}. To read further, leave out by name the runs that crashed")
    if "reference_falls" in result and (result["reference_falls"] > 0).any():
        provenance.warn(
            f"{result.attrs['reference']} has been better before its last level than there. Consider target="
        )
