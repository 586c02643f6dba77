"""What earlier looks saw: the plan, and a digest of every run, so that a later call cannot have another past."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels

PLAN = ("look", "n_looks", "spending", "task", "reference", "training_weights", "n_resamples", "rng")


def digests_of(curves: xr.DataArray, look: str) -> xr.DataArray:
    """Return a digest of the scores of every run and of its look over all tasks, 0 where it is absent.

    The digest of a run does not change when tasks, algorithms, runs or levels are added.
    """
    extra = labels.extra_dims(curves)
    salt = xr.DataArray(0)
    for dim in [*extra, "training"]:
        words = _names(curves[dim]) if dim in curves.coords else list(map(str, range(curves.sizes[dim])))
        salt = salt + xr.DataArray([crc32(f"{dim} {word}".encode("utf-8", "replace")) for word in words], dims=[dim])
    of_rows = xr.apply_ufunc(
        _digest_rows,
        curves.drop_vars(list(curves.coords)),
        salt,
        curves[look].drop_vars(list(curves[look].coords)),
        input_core_dims=[["training"], ["training"], []],
        dask="parallelized",
        output_dtypes=[np.int64],
        dask_gufunc_kwargs={"allow_rechunk": True},
    )
    summed: xr.DataArray = of_rows.sum(extra) % 2**31
    named = {dim: curves[dim] for dim in ("algorithm", "run")}
    return summed.transpose("algorithm", "run").assign_coords(named)


def _digest_rows(scores: NDArray[np.float64], salt: NDArray[np.int64], look: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the digest of each row of scores, shape (..., training): a sum over levels, so that absent ones add 0."""
    scores, salt, look = np.broadcast_arrays(scores, salt, look[..., np.newaxis])
    bits = np.ascontiguousarray(scores + 0.0, np.float64).view(np.uint64)
    mixed = (bits ^ salt.astype(np.uint64) ^ (look.astype(np.uint64) << np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)  # so that every bit counts
    kept = np.where(np.isnan(scores), np.uint64(0), mixed >> np.uint64(40))
    return np.asarray(kept.sum(axis=-1, dtype=np.uint64).astype(np.int64))


def _names(coordinate: xr.DataArray) -> list[str]:
    """Return labels as text, 1 and 1.0 alike."""
    return [label if isinstance(label, str) else f"{label:.17g}" for label in coordinate.to_numpy().tolist()]


def check_previous(
    previous: xr.Dataset | str | os.PathLike[str],
    plan: Mapping[str, Any],
    curves: xr.DataArray,
    look: str,
    digests: xr.DataArray,
) -> None:
    """Refuse curves or a plan other than those of an earlier look."""
    record = previous_record(previous)
    for name in PLAN:
        was, now = record["plan"].get(name), plan.get(name)
        if str(was) != str(now):
            raise ValueError(
                f"{name} must stay as it was at the earlier look, {was!r}; got {now!r}. "
                "A plan is made before the first look"
            )
    runs, algorithms = _names(curves["run"]), _names(curves["algorithm"])
    now = dict(zip(algorithms, digests.to_numpy().tolist(), strict=True))
    before = record["digests"]
    for algorithm in [*before, *(name for name in now if name not in before)]:
        found = dict(zip(runs, now.get(algorithm, [0] * len(runs)), strict=True))
        seen = before.get(algorithm, {})
        for run in [*seen, *(run for run in runs if run not in seen)]:
            at = curves[look].to_numpy()[runs.index(run)] if run in runs else 0
            if found.get(run, 0) != seen.get(run, 0) and (run in seen or at <= record["n_done"]):
                how = "was not there" if run not in seen else "is gone" if not found.get(run) else "differs"
                raise ValueError(
                    f"previous: run {run} of algorithm {algorithm!r} {how} at the earlier look {record['n_done']}, "
                    "which a later one must repeat. Give the runs, looks and scores that it had"
                )


def previous_record(previous: xr.Dataset | str | os.PathLike[str]) -> dict[str, Any]:
    """Return the plan, the digests and the number of looks done of an earlier result, or of the shell's JSON."""
    if isinstance(previous, xr.Dataset):
        return record_of(previous)
    if not isinstance(previous, str | os.PathLike):
        raise TypeError(f"previous must be a result or a path; got {labels.shown(previous)}. Give the earlier result")
    path = Path(previous)
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["past"]
        return {"plan": record["plan"], "n_done": int(record["n_done"]), "digests": record["digests"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"previous {str(path)!r} cannot be read as the JSON of an earlier look: {type(error).__name__}. Name the "
            "file that --json wrote"
        ) from None


def record_of(result: xr.Dataset) -> dict[str, Any]:
    """Return what a later look needs to know of this one."""
    if "run_digest" not in result:
        raise ValueError("previous must be a result of sequential with its run_digest. Give it whole")
    algorithms, runs = _names(result["algorithm"]), _names(result["run"])
    rows = result["run_digest"].transpose("algorithm", "run").to_numpy().astype(int).tolist()
    n_done = int(result["n_runs"].notnull().any([dim for dim in result["n_runs"].dims if dim != "look"]).sum())
    return {
        "plan": {name: result.attrs.get(name) for name in PLAN},
        "n_done": n_done,
        "digests": {
            algorithm: {run: digest for run, digest in zip(runs, row, strict=True) if digest}
            for algorithm, row in zip(algorithms, rows, strict=True)
        },
    }
