"""The number of every run that a gate compares, and what is wrong with runs."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, magnitudes, provenance, run_checks
from xcurves.core.driver import number_of_run
from xcurves.core.failed_runs import wrong_infinity
from xcurves.core.refusal import Cure, Text
from xcurves.core.run_checks import RunError, RunsWarning
from xcurves.core.weights import run_numbers

_DIFFERENT = 4  # different scores, of which none is the same by chance


class Runs(NamedTuple):
    """The numbers of the runs that each algorithm has made, in their order, turned so that high ones are better."""

    numbers: list[Floats]  # less what they have in common
    common: float
    offset: float  # the size of what was taken off the scores


def runs_of(
    values: xr.DataArray,
    weights: xr.DataArray | str | None,
    task: str | None,
    sign: float,
    baseline: int,
) -> Runs:
    """Return the numbers of all runs, of scores with the dims ([task,] algorithm, run[, training])."""
    numbers = numbers_of_runs(values, weights, task, sign)
    magnitudes.check_size(np.where(np.isinf(numbers), np.nan, numbers), [""], "scores")
    # Digits that all scores share would round those that differ: they are taken off before anything is added.
    common = _common_scores(values, baseline)
    differing = sign * numbers_of_runs(values - common, weights, task, sign)
    is_finite = np.isfinite(numbers)
    taken_off = sign * numbers[is_finite] - differing[is_finite]
    return Runs(
        _made_runs(differing, values),
        float(taken_off[:1].sum()),
        float(np.abs(common).max()),
    )


def _common_scores(values: xr.DataArray, baseline: int) -> xr.DataArray:
    """Return a score of each task that no later run changes: the last one of the baseline's first run that has any."""
    scores = values.isel(algorithm=baseline, drop=True)
    core = [dim for dim in ("run", "training") if dim in scores.dims]
    tasks = [dim for dim in scores.dims if dim not in core]
    by_run = scores.transpose(*tasks, *core).to_numpy()
    shape = by_run.shape[: len(tasks)]
    # Of each run the last level comes first.
    levels = by_run.reshape(*shape, scores.sizes["run"], -1)[..., ::-1]
    rows = levels.reshape(*shape, -1)
    is_finite = np.isfinite(rows)
    place = is_finite.argmax(axis=-1)[..., np.newaxis]
    first = np.take_along_axis(rows, place, axis=-1)[..., 0]
    return xr.DataArray(np.where(is_finite.any(axis=-1), first, 0.0), dims=tasks)


def numbers_of_runs(
    values: xr.DataArray,
    weights: xr.DataArray | str | None,
    task: str | None,
    sign: float,
) -> Floats:
    """Return the number of every run, shape (algorithm, run): NaN where it is absent, infinite where it failed."""
    infinite: xr.DataArray = np.isinf(values)  # type: ignore[assignment]  # numpy's stubs know no DataArray
    wrong = infinite & (sign * values > 0)
    if wrong.any():
        reason, cure = wrong_infinity(sign > 0)
        raise _run_error(wrong, values, f": {reason}", cure)
    failed_at = infinite
    if "training" in values.dims:
        failed_at = infinite.any("training")
        # A failed run need not be whole; it has no number.
        numbers = number_of_run(values.where(~failed_at), run_numbers(weights))
    else:
        numbers = values
    numbers = numbers.where(~failed_at, -sign * np.inf)
    if task is not None:
        absent = numbers.isnull()
        lacks = absent & ~absent.all(task)
        if lacks.any():
            raise _run_error(
                lacks,
                values,
                f" has no score; a run needs all of {task!r}",
                Cure("Run it there, or leave the run out"),
            )
        numbers = numbers.mean(task, skipna=False)
    return np.asarray(numbers.transpose("algorithm", "run").to_numpy())


def _run_error(which: xr.DataArray, values: xr.DataArray, what: str, cure: Cure) -> RunError:
    """Return what is wrong with the first run of a mask, named as messages do: "task 'x', algorithm 'a', run 0"."""
    dims = [dim for dim in which.dims if dim != "training"]
    cells = which
    if "training" in which.dims:
        cells = which.any("training")
    first = dict(zip(dims, np.argwhere(cells.transpose(*dims).to_numpy())[0], strict=True))
    words = [f"{dim} {labels.words(values[dim])[at]}" for dim, at in first.items()]
    algorithm = values["algorithm"].to_numpy()[first["algorithm"]]
    who = (str(algorithm), str(first["run"] + 1))
    return RunError("scores", who, Text(", ".join(words), what), cure)


def _made_runs(numbers: Floats, values: xr.DataArray) -> list[Floats]:
    """Return the numbers of the runs that each algorithm has made, in their order."""
    made = ~np.isnan(numbers)
    n_made = made.sum(axis=1)
    for algorithm, n in enumerate(n_made.tolist()):
        if made[algorithm, :n].all():
            continue
        gap = int((~made[algorithm]).argmax())
        raise run_of(
            values,
            algorithm,
            gap,
            " has no score, and later runs have: runs are in the order in which they were made",
            Cure("Give a failed one infinity, or move absent ones to the end"),
        )
    return [row[:n] for row, n in zip(numbers, n_made.tolist(), strict=True)]


def run_of(
    values: xr.DataArray,
    algorithm: int,
    run: int,
    what: str,
    cure: Cure,
    called: str = "algorithm",
) -> RunError:
    """Return what is wrong with a run of an algorithm, by its place."""
    name = str(values["algorithm"].to_numpy()[algorithm])
    word = labels.words(values["algorithm"])[algorithm]
    label = labels.words(values["run"])[run]
    named = f"run {label} of {called} {word}"
    return RunError("scores", (name, str(run + 1)), Text(named, what), cure)


def warn_of_copies(values: xr.DataArray, runs: Runs) -> None:
    """Warn of an algorithm with at most half as many different scores as runs: those that were logged twice.

    Scores that algorithms share, or of which there are few, may be the same by chance.
    """
    if "training" in values.dims:
        run_checks.warn_of_copies(values)
        return
    finite = [row[np.isfinite(row)].tolist() for row in runs.numbers]
    holders = Counter(chain.from_iterable(map(set, finite)))
    is_shared = any(n > 1 for n in holders.values())
    if is_shared or len(holders) < _DIFFERENT:
        return
    for algorithm, scores in enumerate(finite):
        n_copies = len(scores) - len(set(scores))
        if scores and 2 * n_copies >= len(scores):
            provenance.warn(_copies_of(values, runs, algorithm, n_copies))


def _copies_of(values: xr.DataArray, runs: Runs, algorithm: int, n_copies: int) -> RunsWarning:
    """Return the warning of an algorithm whose runs repeat a score."""
    row = runs.numbers[algorithm]
    of_score = Counter(row[np.isfinite(row)].tolist())
    repeated = next(score for score in row.tolist() if of_score[score] > 1)
    places = np.flatnonzero(row == repeated)[:2].tolist()
    name = str(values["algorithm"].to_numpy()[algorithm])
    first, second = (labels.words(values["run"])[place] for place in places)
    also = ""
    if n_copies > 1:
        also = f", and {n_copies} of its {len(row)} runs repeat one"
    return RunsWarning(
        f" have the same score{also}. Were data copied?",
        f"algorithm {labels.words(values['algorithm'])[algorithm]}, run {first} and run {second}",
        name,
        [str(place + 1) for place in places],
    )
