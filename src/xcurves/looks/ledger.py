"""What a later look at a growing set of runs needs to know of an earlier one: the plan, and a digest of every run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32
from zlib import error as ZlibError

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.refusal import UNSAID, Cure, Refusal, Text, WrongType, shown
from xcurves.core.run_checks import RunError
from xcurves.looks.sequential_text import n_done
from xcurves.readers.formats.json_rows import TwiceError, unique_keys
from xcurves.readers.open_files import beginning

Digests = dict[str, dict[str, int]]  # of the runs that each algorithm has
BEFORE = "A plan is made before the first look"
_NEW = "was not there"
_DIGITS = ".12g"
_MOST_BYTES = 10**8  # of a file; one of a million runs has a fifth of that
_MOST_DIGEST = 2**31 - 1
_PLAN_OF_LOOKS = (
    *(
        "look",
        "n_looks",
        "spending",
        "task",
        "reference",
        "training_weights",
        "n_resamples",
        "rng",
    ),
    "confidence_level",
)
_PLAN_OF_GATE = (
    *(
        "baseline",
        "looks",
        "level",
        "margin",
        "start",
        "task",
        "training_weights",
        "higher_is_better",
    ),
    *("refresh", "share_failed"),
    *("n_resamples", "confidence_level", "rng"),
)


class Ledger(NamedTuple):
    """The plan and the runs of one look."""

    plan: dict[str, Any]
    n_done: int  # looks, or candidates
    digests: Digests

    def as_json(self) -> dict[str, Any]:
        """Return it as `read` finds it in a file, under "ledger"."""
        return self._asdict()


def of_looks(result: xr.Dataset) -> Ledger:
    """Return what a later look needs to know of this one: the plan, how many looks are done, the runs."""
    return _of(result, _PLAN_OF_LOOKS, n_done)


def of_gate(result: xr.Dataset) -> Ledger:
    """Return what a later call needs to know of this one: the plan, the candidates in their order, the runs.

    Runs are numbered by algorithm in their order, as their labels may change.
    """
    known = _of(result, _PLAN_OF_GATE, lambda each: each.sizes["candidate"])
    order = ", ".join(labels.words(result["candidate"].to_numpy()))
    numbered = {
        algorithm: {str(number): digest for number, digest in enumerate(runs.values(), 1)}
        for algorithm, runs in known.digests.items()
    }
    return known._replace(plan=known.plan | {"candidates": order}, digests=numbered)


def _of(result: xr.Dataset, plan: tuple[str, ...], n_done: Callable[[xr.Dataset], int]) -> Ledger:
    """Return the ledger of a result with its `run_digest`, given the names of the attrs that are its plan."""
    if "run_digest" not in result:
        name = result.attrs.get("xcurves_result", "a method")
        raise Refusal(
            "previous",
            UNSAID,
            f"must be a result of {name} with its run_digest",
            "Give it whole",
        )
    variable = result["run_digest"].transpose("algorithm", "run")
    runs = label_words(variable["run"])
    algorithms = label_words(variable["algorithm"])
    rows = variable.to_numpy().astype(int).tolist()

    # 0 stands for a run that is absent: no digest is 0.
    digests = {
        algorithm: {run: digest for run, digest in zip(runs, row, strict=True) if digest}
        for algorithm, row in zip(algorithms, rows, strict=True)
    }
    values = {name: result.attrs.get(name) for name in plan}
    return Ledger(values, n_done(result), digests)


def read(path: str | os.PathLike[str], argument: str = "previous") -> Ledger:
    """Return what the JSON of the shell has of an earlier look; `argument` is what messages call the path."""
    if not isinstance(path, str | os.PathLike):
        raise WrongType("previous", path, "must be a result or a path", "Give the earlier result")
    try:
        text = _text_of(Path(path))
        return _checked(json.loads(text, object_pairs_hook=unique_keys)["ledger"])
    except TwiceError as error:
        why = f"it has the key {str(error)!r} twice in one object"
    except Refusal:
        why = "it is a device, a pipe or a socket"
    except _TooLargeError:
        why = f"it has more than {_MOST_BYTES // 10**6} MB"
    except (
        OSError,
        EOFError,
        ZlibError,
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
        MemoryError,
    ) as error:
        why = type(error).__name__
    raise Refusal(
        argument,
        UNSAID,
        f"{argument} {str(path)!r} cannot be read as the JSON of an earlier look: {why}",
        "Name the file that --json wrote",
    )


class _TooLargeError(Exception):
    """A file that is larger than any ledger."""


def _text_of(path: Path) -> str:
    """Return the text of a file, of which no more is read than a ledger may have."""
    if path.is_file() and path.stat().st_size > _MOST_BYTES:
        raise _TooLargeError
    data = beginning(path, _MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise _TooLargeError
    return data.decode("utf-8-sig")


def _checked(record: Any) -> Ledger:
    """Return what was read, if all of it has the type that it was written with."""
    plan, n_done, digests = (record[name] for name in Ledger._fields)
    if not isinstance(plan, dict) or not all(isinstance(each, str | int | float | None) for each in plan.values()):
        raise TypeError("plan")
    if not _is_whole(n_done):
        raise TypeError("n_done")
    if not isinstance(digests, dict) or not all(isinstance(runs, dict) for runs in digests.values()):
        raise TypeError("digests")
    if not all(_is_whole(digest) for runs in digests.values() for digest in runs.values()):
        raise TypeError("digests")
    return Ledger(plan, n_done, digests)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def refuse_changes(
    before: Ledger,
    now: Ledger,
    may_be_new: Callable[[str, str], bool],
    when: str,
    number: str = "",
) -> None:
    """Refuse another plan, and runs that differ, are gone, or came to what was done before.

    `may_be_new` says of the names of an algorithm and of a run whether it may come later; `when` is the earlier look,
    `number` which one.
    """
    for name, given in now.plan.items():
        earlier = before.plan.get(name)
        if str(earlier) != str(given):
            raise Refusal(
                name,
                given,
                f"must stay as it was at {when}, {shown(earlier)}",
                BEFORE,
            )
    for algorithm in before.digests | now.digests:
        runs_before = before.digests.get(algorithm, {})
        runs_now = now.digests.get(algorithm, {})
        for run in runs_before | runs_now:
            change = _change_of_run(run, runs_before, runs_now)
            if change == "" or (change == _NEW and may_be_new(algorithm, run)):
                continue
            named = f"run {run} of algorithm {algorithm!r}"
            what = f" {change} at {when}{number}, which a later one must repeat"
            cure = Cure("Give the runs, looks and scores that it had")
            raise RunError("scores", (algorithm, run), Text(named, what), cure)


def _change_of_run(run: str, before: dict[str, int], now: dict[str, int]) -> str:
    """Return what is different of a run, by the digests of an algorithm's runs; nothing if it is as it was."""
    if before.get(run) == now.get(run):
        return ""
    if run not in before:
        return _NEW
    if run not in now:
        return "is gone, and was there"
    return "differs from what it was"


def label_words(coordinate: xr.DataArray) -> list[str]:
    """Return labels as text, 1 and 1.0 alike."""
    return [_label_word(label) for label in coordinate.to_numpy().tolist()]


def _label_word(label: Any) -> str:
    if isinstance(label, str):
        return label
    return f"{label:.17g}"


def name_of_weights(weights: xr.DataArray | str | None) -> str | None:
    """Return training weights as an attr: their name, or a digest of those that are given, level by level."""
    if not isinstance(weights, xr.DataArray):
        return weights
    levels = zip(
        weights["training"].to_numpy().tolist(),
        weights.to_numpy().tolist(),
        strict=True,
    )
    table = ", ".join(f"{level:{_DIGITS}}: {weight:{_DIGITS}}" for level, weight in levels if weight)
    return f"given, digest {crc32(table.encode()):08x}"


def digests_of(curves: xr.DataArray, look: xr.DataArray) -> xr.DataArray:
    """Return a digest of the scores of every run and of its look, 1 or more, whatever is added later; 0 without scores.

    Curves have the dims algorithm and run, and others; `look` is a whole number of every run.
    """
    others = [dim for dim in curves.dims if dim not in labels.ORDERED]
    salt = xr.DataArray(0)
    for dim in others:
        codes = [crc32(f"{dim} {word}".encode("utf-8", "replace")) for word in label_words(curves[dim])]
        salt = salt + xr.DataArray(codes, dims=[dim])
    # Rows along training; scores that have none are rows of one.
    scores = curves.drop_vars(list(curves.coords))
    row = "training"
    if row not in scores.dims:
        row = "_row"
        scores = scores.expand_dims(_row=1)
        salt = salt.expand_dims(_row=1)
    of_rows = xr.apply_ufunc(
        _digest_rows,
        scores,
        salt,
        look.drop_vars(list(look.coords)),
        input_core_dims=[[row], [row], []],
        dask="parallelized",
        output_dtypes=[np.int64],
        dask_gufunc_kwargs={"allow_rechunk": True},
    )
    summed = of_rows.sum([dim for dim in others if dim != row])
    # Every score adds 1 or more, so that only a run without scores has the sum 0.
    digests: xr.DataArray = (1 + summed % _MOST_DIGEST).where(summed > 0, 0)
    return digests.transpose("algorithm", "run").assign_coords({dim: curves[dim] for dim in labels.ORDERED})


def _digest_rows(scores: NDArray[np.float64], salt: NDArray[np.int64], look: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the digest of each row of scores, shape (..., training): a sum over levels, to which only scores add."""
    scores, salt, look = np.broadcast_arrays(scores, salt, look[..., np.newaxis])
    bits = np.ascontiguousarray(scores + 0.0, np.float64).view(np.uint64)
    mixed = (bits ^ salt.astype(np.uint64) ^ (look.astype(np.uint64) << np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    # so that every bit counts
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    of_scores = (mixed >> np.uint64(40)) + np.uint64(1)
    kept = np.where(np.isnan(scores), np.uint64(0), of_scores)
    return np.asarray(kept.sum(axis=-1, dtype=np.uint64).astype(np.int64))


def check_previous(
    previous: xr.Dataset | str | os.PathLike[str],
    of_result: Callable[[xr.Dataset], Ledger],
) -> Ledger:
    """Return the ledger of an earlier result, or of the file that the shell wrote of it."""
    if isinstance(previous, xr.Dataset):
        return of_result(previous)
    return read(previous)
