"""The sentences and the table about mean curves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.labels import EVALUATION
from xcurves.core.schema import Statement, statements
from xcurves.say.numbers import estimated, joined, quantity, units_of
from xcurves.say.result_frames import columns_of_variables, frame_of

_MOST = 4  # means that an answer names
_OF_BAND = {
    "pointwise": "In parentheses: the t interval of the mean at this level by itself.",
    "simultaneous": "In parentheses: the interval of the mean, for all levels together.",
    "sd": "In parentheses: the mean less and plus the standard deviation of the runs.",
    "se": "In parentheses: the mean less and plus its standard error.",
}
_NO_TEST = "That bands are apart, or overlap, is no test: pairwise or across_tasks compare algorithms."


def last_means(result: xr.Dataset) -> pd.DataFrame:
    """Return the mean of each algorithm at its last level."""
    last = _at_last_level(result).assign(n_runs=result["n_runs"])
    if result.attrs["band"] == "none":
        last = last.drop_vars("mean_curve_ci")
    heads = {"training": "training", "mean": "mean_curve", "runs": "n_runs"}
    return frame_of(columns_of_variables(last, heads), ["algorithm"])


def mean_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the mean of each algorithm at its last level, the highest first."""
    last = _at_last_level(result)
    means = last["mean_curve"]
    cells = [last.isel(place) for place in _highest_first(means)]
    levels = {_level(cell) for cell in cells}
    lacking = int(means.isnull().sum())
    if not cells:
        answer = "No algorithm has a training level that all its runs have."
    elif len(levels) == 1:
        answer = f"Mean score at {levels.pop()}: {joined(list(map(_phrase, cells)), '; ', _MOST)}."
    else:
        phrases = [f"{_phrase(cell)} at {_level(cell)}" for cell in cells]
        answer = f"Mean score at the last level that all runs have: {joined(phrases, '; ', _MOST)}."
    details = []
    if result.attrs["band"] in _OF_BAND:
        details.append(_OF_BAND[result.attrs["band"]])
    if cells and lacking:
        details.append(f"Without a mean, because runs are absent or share no level: {lacking} of {means.size}.")
    yield from statements(answer, details, [*_levels_without_mean(result), _NO_TEST])


def _levels_without_mean(result: xr.Dataset) -> Iterator[str]:
    """Yield at how many levels no mean is known, though some run was evaluated there."""
    if EVALUATION in result.dims:
        return
    means = result["mean_curve"]
    is_known = means.notnull().any([dim for dim in means.dims if dim != "training"])
    n_levels, n_known = is_known.size, int(is_known.sum())
    if 0 < n_known < n_levels:
        yield f"{n_levels - n_known} of {n_levels} levels have no mean, as not all runs have a score there."


def _highest_first(means: xr.DataArray) -> list[dict[str, int]]:
    """Return where means are known, in each task the highest first."""
    cells = [dict(zip(map(str, means.dims), cell, strict=True)) for cell in np.argwhere(means.notnull().to_numpy())]

    def key(cell: dict[str, int]) -> tuple[object, ...]:
        task = [place for dim, place in cell.items() if dim != "algorithm"]
        return (*task, -means[cell].item())

    return sorted(cells, key=key)


def _phrase(cell: xr.Dataset) -> str:
    """Return the mean of one algorithm, as "task 'x', sac 84.9 (80 to 89) games"."""
    words = [f"{dim} {cell[dim].item()!r}" for dim in cell.coords if dim in cell.attrs["extra"]]
    words.append(str(cell["algorithm"].item()))
    low, high = cell["mean_curve_ci"].to_numpy().tolist()
    mean, units = cell["mean_curve"].item(), units_of(cell["mean_curve"])
    if np.isfinite(low):
        return f"{', '.join(words)} {estimated(mean, low, high, units)}"
    return f"{', '.join(words)} {quantity(mean, units)}"


def _level(cell: xr.Dataset) -> str:
    return quantity(cell["training"].item(), units_of(cell["training"]))


def _at_last_level(result: xr.Dataset) -> xr.Dataset:
    """Return a result at the last level of each mean, NaN without one, with its training as a variable."""
    along = "training"
    if EVALUATION in result.dims:
        along = EVALUATION
    known = result["mean_curve"].notnull()
    n_levels = result.sizes[along]
    last = n_levels - 1 - known.isel({along: slice(None, None, -1)}).argmax(along)
    training = result["training"].broadcast_like(result["mean_curve"]).where(known)
    found = result[["mean_curve", "mean_curve_ci"]].isel({along: last})
    at = training.isel({along: last}).drop_vars("training", errors="ignore").assign_attrs(result["training"].attrs)
    extra = [str(dim) for dim in result["mean_curve"].dims if dim not in ("algorithm", along)]
    return found.drop_vars("training", errors="ignore").assign(training=at).assign_attrs(extra=extra)
