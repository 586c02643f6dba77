"""Why there is no estimate of a time, and what a result about times warns of."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
import xarray as xr

from xcurves.core import provenance
from xcurves.say.numbers import number, quantity, units_of

FALLS = "has been better before its last level than there: consider target="


class Reason(IntEnum):
    """Why there is no estimate."""

    ESTIMATED = 0
    NOT_REACHED_WITHIN_ITS_BUDGET = 1
    THERE_FROM_ITS_FIRST_LEVEL_ON = 2
    NOT_REACHED_BY_THE_REFERENCE_WITHIN_ITS_BUDGET = 3
    REFERENCE_IS_THERE_FROM_ITS_FIRST_LEVEL_ON = 4
    FEWER_THAN_TWO_RUNS = 5
    NO_LEVELS_IN_COMMON = 6
    NO_RUN_REACHES_IT = 7
    LAST_LEVEL_OF_THE_REFERENCE_IS_0 = 8
    NOT_COMPARED = 9

    @property
    def words(self) -> str:
        """The reason as sentences have it."""
        return self.name.lower().replace("_", " ")


def cells(result: xr.Dataset, where: xr.DataArray) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the cells where something holds with their words: "task 'x', sac"."""
    for cell in np.argwhere(where.to_numpy()).tolist():
        indices = dict(zip(where.dims, cell, strict=True))
        selected = result.isel(indices)
        words = [f"{dim} {result[dim][index].item()!r}" for dim, index in indices.items() if dim != "algorithm"]
        if not selected["algorithm"].dims:
            words.append(str(selected["algorithm"].item()))
        yield ", ".join(words), selected


def ended_early(result: xr.Dataset) -> Iterator[str]:
    """Yield where the first curve that is cut ends, and how many more are."""
    is_cut = result["n_ended_early"] > 0
    if not is_cut.any():
        return
    words, cell = next(cells(result, is_cut))
    last = quantity(cell["training_last"].item(), units_of(cell["training_last"]))
    n_ended = cell["n_ended_early"].item()
    verb = "ends"
    if n_ended > 1:
        verb = "end"
    ended = f"{number(n_ended)} of its {number(cell['n_runs'].item())} runs {verb}"
    sentence = f"{words} is read up to {last}: {ended} earlier than others"
    if is_cut.sum() > 1:
        sentence += f" (so {int(is_cut.sum()) - 1} more)"
    yield f"{sentence}."


def described(result: xr.Dataset, *, lazy: bool) -> xr.Dataset:
    """Say what the numbers of `reason` mean, as CF does; warn of what a computed result has, of each thing once."""
    result["reason"].attrs["flag_meanings"] = " ".join(reason.name.lower() for reason in Reason)
    if lazy:
        return result

    _warn_of_targets_beyond(result)
    for sentence in ended_early(result):
        cure = "To read further, leave out by name the runs that crashed"
        if "target" in result.attrs:
            cure += ", or compare time_to_target() of runs that stop at the target"
        provenance.warn(f"{sentence} {cure}")
    if "reference_falls" in result and (result["reference_falls"] > 0).any():
        provenance.warn(f"{result.attrs['reference']} {FALLS}")
    return result


def _warn_of_targets_beyond(result: xr.Dataset) -> None:
    """Warn of targets that no run reaches."""
    is_beyond = result["reason"] == Reason.NO_RUN_REACHES_IT
    if not is_beyond.any():
        return
    words, cell = next(cells(result, is_beyond))
    best = quantity(cell["score_best"].item(), units_of(cell["score_best"]))
    more = ""
    if is_beyond.sum() > 1:
        more = f" (in {int(is_beyond.sum())} comparisons)"
    provenance.warn(
        f"{words}: no run reaches the target (the best score is {best}), so that nothing is said of times{more}. "
        "Name another one"
    )
