"""The coordinate that says in which batch each run was made; what earlier looks saw, which no later one changes."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, validation
from xcurves.core.validation import check_curves
from xcurves.kernels.sequential_pvalues import Spending

SPENDINGS = ("square", "linear")
_BEFORE = "A plan is made before the first look"
PLAN = ("look", "n_looks", "spending", "task", "reference", "training_weights", "n_resamples", "rng")


def assign_looks(
    curves: xr.DataArray,
    by: int | Mapping[Any, Any] | pd.Series[Any],
    *,
    n_looks: int | None = None,
    spending: Spending | None = None,
) -> xr.DataArray:
    """Say in which batch every run was made, for `sequential`.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores of all runs so far.
    by : int, mapping or Series
        So many runs of every algorithm at a time, in the order of their labels, which must be numbers; dask arrays are
        computed for it. Or the batch of every run, as a mapping or as a column of the log with the run as index,
        ``log.set_index("seed")["batch"]``: whole numbers from 1, also as text, dates, or ordered categories.
    n_looks : int, optional
        Number of looks that are planned, stored in the attrs of the coordinate with `spending` and `by` if that is a
        number. `sequential` takes it from there and refuses another one.
    spending : {"square", "linear"}, optional
        As for `sequential`.

    Returns
    -------
    DataArray
        As `curves`, with an integer coordinate `look` of `run`.

    Raises
    ------
    ValueError, TypeError
        If a run has no batch, or several, or different ones in several algorithms; if labels or batches have no order
        of their own; if the curves store another plan; if the last batch of `by` runs is not complete; if an algorithm
        has no scores of a run between others.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> looks = scores.curves.assign_looks(5, n_looks=4)
    >>> looks.look.values.tolist(), looks.look.attrs["n_looks"]
    ([1, 1, 1, 1, 1, 2, 2, 2, 2, 2], 4)
    """
    checked = check_curves(curves)
    plan: dict[str, Any] = {}
    if isinstance(by, Mapping | pd.Series):
        values = _by_column(checked, pd.Series(by))
    else:
        plan["batch_size"] = validation.check_total("by", by, "assign_looks(5); or give the batch of every run")
        values = _by_number(checked, plan["batch_size"])
    if n_looks is not None:
        plan["n_looks"] = validation.check_total("n_looks", n_looks, "2 to 20")
    if spending is not None:
        plan["spending"] = validation.check_choice("spending", spending, SPENDINGS)
    check_stored(curves["look"].attrs if "look" in curves.coords else {}, plan)
    return curves.assign_coords({"look": ("run", values, {"long_name": "number of the look"} | plan)})


def _by_column(curves: xr.DataArray, column: pd.Series[Any]) -> NDArray[np.int64]:
    """Return the numbers of batches that are whole numbers, ordered categories or dates."""
    first = column[~column.index.duplicated()]
    for run, batch in column[column.to_numpy() != first.reindex(column.index).to_numpy()][:1].items():
        raise ValueError(
            f"by has batches {first[run]} and {batch} of run {run}. Give runs of different batches different labels"
        )
    batches = first.reindex(curves["run"].to_numpy())
    lacking = batches.index[batches.isna()].tolist()
    if lacking:
        raise ValueError(f"by has no batch of run {lacking[0]!r} ({len(lacking)} in all). Add it")
    if isinstance(batches.dtype, pd.CategoricalDtype) and batches.dtype.ordered:
        return np.asarray(batches.cat.codes + 1, dtype=np.int64)
    if batches.dtype.kind == "M":
        return np.asarray(pd.factorize(batches, sort=True)[0] + 1, dtype=np.int64)
    numbers = pd.to_numeric(batches.astype(str), errors="coerce")
    for strange in batches[numbers.isna() | (numbers % 1 != 0)][:1]:
        raise ValueError(
            f"batches must be whole numbers, dates or ordered categories; got {strange!r}. Say their order: "
            "pd.Categorical(batch, ['pilot', 'main'], ordered=True)"
        )
    if numbers.min() < 1:
        raise ValueError(f"batches are numbered from 1; got {numbers.min():g}. Add {1 - numbers.min():g} to all")
    return numbers.to_numpy(np.int64)


def _by_number(curves: xr.DataArray, size: int) -> NDArray[np.int64]:
    by_run = "Give the batch of every run: assign_looks({run: batch, ...})"
    if curves["run"].dtype.kind not in "iuf":
        raise ValueError(
            f"run labels must be numbers for batches of {size}; got {labels.words(curves['run'])[0]}: texts have no "
            f"order that stays when runs are added. {by_run}"
        )
    order = np.argsort(curves["run"].to_numpy())
    scored = curves.notnull().any([dim for dim in curves.dims if dim not in ("algorithm", "run")])
    present = scored.transpose("algorithm", "run").to_numpy()[:, order]
    runs, algorithms = labels.words(curves["run"][order]), labels.words(curves["algorithm"])
    number = present.cumsum(axis=1)
    n_runs = number[:, -1:]
    for a, run in np.argwhere(~present & (number > 0) & (number < n_runs))[:1]:
        raise ValueError(
            f"run {runs[run]} of algorithm {algorithms[a]} has no score, and later runs have: did it crash? Give it "
            f"the score that a crash is worth. Or: {by_run}"
        )
    for a, _ in np.argwhere(n_runs % size)[:1]:
        over = n_runs[a, 0] % size
        raise ValueError(
            f"algorithm {algorithms[a]} has {n_runs[a, 0]} runs, the last batch {over} of {size}. Run {size - over} "
            "more, or leave them out"
        )
    looks = np.where(present, (number - 1) // size + 1, 0)
    values = looks.max(axis=0)
    for a, run in np.argwhere(present & (looks != values))[:1]:
        raise ValueError(
            f"run {runs[run]} would be in look {looks[a, run]} of algorithm {algorithms[a]}, but in look {values[run]} "
            f"of another. {by_run}"
        )
    return np.asarray(np.maximum(values, 1)[order.argsort()])


def check_stored(stored: Mapping[Any, Any], plan: Mapping[str, Any]) -> None:
    """Refuse a plan other than the one that curves store."""
    for name, value in plan.items():
        if stored.get(name, value) != value:
            raise ValueError(
                f"{name} must be {stored[name]!r}, which the curves store as planned; got {value!r}. {_BEFORE}"
            )


def check_looks(curves: xr.DataArray, look: Hashable, n_looks: int) -> None:
    """Refuse curves without a whole number from 1 to `n_looks` for every run."""
    if not isinstance(look, Hashable) or look not in curves.coords or curves[look].dims != ("run",):
        raise ValueError(
            f"look must be a coordinate of run; curves has no {labels.shown(look)} on dim 'run'. Five runs at a time: "
            "da.curves.assign_looks(5)"
        )
    values = curves[look].to_numpy()
    if values.dtype.kind not in "iu":
        raise TypeError(
            f"look must have whole numbers; got dtype {values.dtype}. "
            f"Convert: da.assign_coords({look}=da.{look}.astype(int))"
        )
    for wrong in values[(values < 1) | (values > n_looks)][:1]:
        raise ValueError(f"look must lie between 1 and n_looks={n_looks}; got {wrong}. {_BEFORE}")
    for missing in np.setdiff1d(np.arange(1, values.max()), values)[:1]:
        raise ValueError(f"look {missing} has no run, but look {values.max()} has. Give those of earlier looks too")


def digests_of(curves: xr.DataArray, look: str) -> xr.DataArray:
    """Return a digest of the scores of every run and of its look, 0 where it is absent, whatever is added later."""
    extra, salt = labels.extra_dims(curves), xr.DataArray(0)
    for dim in [*extra, "training"]:
        codes = [crc32(f"{dim} {word}".encode("utf-8", "replace")) for word in _label_words(curves[dim])]
        salt = salt + xr.DataArray(codes, dims=[dim])
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
    summed: xr.DataArray = (of_rows.sum(extra) % 2**31).transpose("algorithm", "run")
    return summed.assign_coords({dim: curves[dim] for dim in ("algorithm", "run")})


def _digest_rows(scores: NDArray[np.float64], salt: NDArray[np.int64], look: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the digest of each row of scores, shape (..., training): a sum over levels, so that absent ones add 0."""
    scores, salt, look = np.broadcast_arrays(scores, salt, look[..., np.newaxis])
    bits = np.ascontiguousarray(scores + 0.0, np.float64).view(np.uint64)
    mixed = (bits ^ salt.astype(np.uint64) ^ (look.astype(np.uint64) << np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)  # so that every bit counts
    kept = np.where(np.isnan(scores), np.uint64(0), mixed >> np.uint64(40))
    return np.asarray(kept.sum(axis=-1, dtype=np.uint64).astype(np.int64))


def _label_words(coordinate: xr.DataArray) -> list[str]:
    """Return labels as text, 1 and 1.0 alike."""
    return [label if isinstance(label, str) else f"{label:.17g}" for label in coordinate.to_numpy().tolist()]


def check_previous(
    previous: xr.Dataset | str | os.PathLike[str], result: xr.Dataset, curves: xr.DataArray, look: str
) -> None:
    """Refuse a result, and the curves that it is of, with other runs or another plan than an earlier look."""
    before = record_of(previous) if isinstance(previous, xr.Dataset) else _read(previous)
    now = _digests_by_run(result)
    for name in PLAN:
        was, given = before["plan"].get(name), result.attrs.get(name)
        if str(was) != str(given):
            raise ValueError(f"{name} must stay as it was at the earlier look, {was!r}; got {given!r}. {_BEFORE}")
    looks = dict(zip(_label_words(curves["run"]), curves[look].to_numpy().tolist(), strict=True))
    for algorithm in before["digests"] | now:
        was, found = before["digests"].get(algorithm, {}), now.get(algorithm, {})
        for run in was | found:
            if found.get(run) != was.get(run) and (run in was or looks[run] <= before["n_done"]):
                how = "was not there" if run not in was else "differs" if run in found else "is gone"
                raise ValueError(
                    f"previous: run {run} of algorithm {algorithm!r} {how} at the earlier look {before['n_done']}, "
                    "which a later one must repeat. Give the runs, looks and scores that it had"
                )


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the JSON of the shell has of an earlier look."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"previous must be a result or a path; got {labels.shown(path)}. Give the earlier result")
    try:
        record: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))["past"]
        return {"plan": record["plan"], "n_done": int(record["n_done"]), "digests": record["digests"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"previous {str(path)!r} cannot be read as the JSON of an earlier look: {type(error).__name__}. Name the "
            "file that --json wrote"
        ) from None


def record_of(result: xr.Dataset) -> dict[str, Any]:
    """Return what a later look needs to know of this one: the plan, how many looks are done, the runs."""
    if "run_digest" not in result:
        raise ValueError("previous must be a result of sequential with its run_digest. Give it whole")
    n_done = int(result["n_runs"].notnull().any([dim for dim in result["n_runs"].dims if dim != "look"]).sum())
    plan = {name: result.attrs.get(name) for name in PLAN}
    return {"plan": plan, "n_done": n_done, "digests": _digests_by_run(result)}


def _digests_by_run(result: xr.Dataset) -> dict[str, dict[str, int]]:
    """Return the digests of the runs that each algorithm has."""
    digests = result["run_digest"].transpose("algorithm", "run")
    runs, rows = _label_words(digests["run"]), digests.to_numpy().astype(int).tolist()
    return {
        algorithm: {run: digest for run, digest in zip(runs, row, strict=True) if digest}
        for algorithm, row in zip(_label_words(digests["algorithm"]), rows, strict=True)
    }
