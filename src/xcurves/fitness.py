"""Which curves a part of an analysis fits, and the words for why it does not fit others."""

from __future__ import annotations

import re

import numpy as np
import xarray as xr

from xcurves import labels
from xcurves.alignment import align
from xcurves.learning import error_rates
from xcurves.randomization import doors

NO_ERRORS = "scores are not called an error by their name, long_name or standard_name"


class UnfitError(Exception):
    """A part of an analysis does not fit the curves; the message says why."""


def comparable(curves: xr.DataArray, least_levels: int) -> tuple[xr.DataArray, list[str]]:
    """Return the curves of the tasks that can be compared, others absent, and why these cannot."""
    why = _why_not(curves, least_levels)
    if all(why):
        raise UnfitError(why[0] + (f" (none of {len(why)} tasks fits)" if len(why) > 1 else ""))
    if not any(why):
        return curves, []
    extra = labels.extra_dims(curves)
    fits = np.array([not reason for reason in why]).reshape([curves.sizes[dim] for dim in extra])
    return curves.where(xr.DataArray(fits, dims=extra)), [reason for reason in why if reason]


def _why_not(curves: xr.DataArray, least_levels: int) -> list[str]:
    """Return for each task why its algorithms cannot be compared, "" where they can."""
    has = curves.notnull()
    known = xr.Dataset({"of_curve": has.sum("training"), "in_grid": has.any(["algorithm", "run"]).sum("training")})
    known = known.compute()
    names, algorithms, runs = labels.task_names(curves), labels.words(curves["algorithm"]), labels.words(curves["run"])
    counts = known["of_curve"].transpose(..., "algorithm", "run").to_numpy().reshape(len(names), -1).astype(float)
    n_levels = known["in_grid"].to_numpy().reshape(len(names)).astype(float)
    words = [f"algorithm {algorithm}, run {run}" for algorithm in algorithms for run in runs]

    def why(task: int) -> str:
        one = slice(task, task + 1)
        if n_levels[task] < least_levels:
            needed = f"{n_levels[task]:.0f} training levels; this needs {least_levels}"
            return names[task] + (needed if n_levels[task] else "no run has a score")
        try:
            present = doors.check_runs(counts[one], n_levels[one], names[one], words)
            shape = (len(algorithms), len(runs))
            doors.check_groups(present.reshape(shape), names[task], algorithms, runs, paired=False)
        except ValueError as error:
            return str(error)
        return ""

    return [why(task) for task in range(len(names))]


def is_error(curves: xr.DataArray) -> bool:
    """Return whether curves are called an error, which falls as learning goes on."""
    called = (curves.name, curves.attrs.get("long_name"), curves.attrs.get("standard_name"))
    return any(re.search(r"(?<![a-z])err(or)?s?(?![a-z])", str(words).lower()) for words in called if words is not None)


def is_lower_better(curves: xr.DataArray) -> bool:
    """Return whether a low score is a good one, by what curves are called or their attrs say."""
    return not curves.attrs.get("higher_is_better", not is_error(curves))


def errors(curves: xr.DataArray) -> xr.DataArray:
    """Return curves that are called an error and have the unit of a rate."""
    if not is_error(curves):
        raise UnfitError(NO_ERRORS)
    if not error_rates.check_unit(curves, None).stated:
        raise UnfitError("errors have no units; say attrs['units'] = '%' or '1'")
    return curves


def final_scores(curves: xr.DataArray) -> xr.DataArray:
    """Return scores at the last training level that all runs of a task have, which is the coordinate `training`."""
    try:
        final = align(curves, "final").compute()
    except ValueError as error:
        raise UnfitError(str(error)) from error
    level = final["training"].where(final.notnull().any(["algorithm", "run"])).max("training")
    scores: xr.DataArray = final.max("training", keep_attrs=True)  # of the one level that the task has
    return scores.assign_coords(training=level.assign_attrs(curves["training"].attrs))


def say_level(scores: xr.DataArray) -> str:
    """Return the final level, or the range over tasks, with its units."""
    levels = scores["training"].to_numpy()
    units = str(scores["training"].attrs.get("units", "1"))
    ends = [f"{level:.12g}" for level in sorted({np.nanmin(levels), np.nanmax(levels)})]
    by_task = ", task by task: see the coordinate training" if len(ends) > 1 else ""
    return " to ".join(ends) + f" {units}" * (units not in ("1", "")) + by_task
