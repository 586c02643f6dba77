"""Checks of values inside a block of tasks: whether its runs can be compared.

They run where the values are computed, in memory or in a dask worker; the messages name the task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.grid_advice import cure_incomplete

_CURE = (
    "Bring runs to common levels with .curves.align('intersection') or leave incomplete ones out with "
    ".curves.drop_incomplete()"
)


class IncompleteRunError(ValueError):
    """A run lacks levels of its task: `what` says which, and the message what works on most curves."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what}. {_CURE}")

    def __reduce__(self) -> tuple[type[IncompleteRunError], tuple[str]]:
        """Keep the message when the error is pickled."""
        return IncompleteRunError, (self.what,)


@contextmanager
def with_cure(curves: xr.DataArray) -> Iterator[None]:
    """Add advice that works on the given curves to errors about incomplete runs, if the curves are in memory."""
    try:
        yield
    except IncompleteRunError as error:
        cure = _CURE if curves.chunks is not None else cure_incomplete(curves)
        raise ValueError(f"{error.what}. {cure}") from None


def check_runs(
    counts: NDArray[np.float64], n_levels: NDArray[np.float64], names: Sequence[str], curves: Sequence[str]
) -> NDArray[np.bool_]:
    """Return which curves are present, shape (task, curve), of tasks in which every run is whole or absent.

    `counts` has the number of levels that every curve has (NaN if one is infinite), `n_levels` that of the
    task's grid, `names` and `curves` the words for tasks and curves.
    """
    for task, curve in np.argwhere(np.isnan(counts))[:1]:
        raise ValueError(
            f"{names[task]}{curves[curve]} has infinite values. Mask them as missing: curves.where(np.isfinite(curves))"
        )
    lacking = np.where(counts > 0, n_levels[:, np.newaxis] - counts, 0)
    for task, curve in np.argwhere(lacking)[:1]:
        n_incomplete = np.count_nonzero(lacking)
        more = f" ({n_incomplete} incomplete runs in all)" if n_incomplete > 1 else ""
        raise IncompleteRunError(
            f"{names[task]}{curves[curve]} lacks {lacking[task, curve]:.0f} of {n_levels[task]:.0f} training "
            f"levels{more}"
        )
    return np.asarray(counts > 0)


def check_scale(squares: NDArray[np.float64], differ: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Refuse tasks whose squares overflow, or vanish although scores differ; both of shape (task,)."""
    vanishes = (squares < 1e-280) & differ
    for task in np.flatnonzero(~np.isfinite(squares) | (squares > 1e290) | vanishes)[:1]:
        size = "small" if vanishes[task] else "large"
        raise ValueError(f"{names[task]}scores are too {size} to be squared. Rescale: curves / abs(curves).max()")


def check_size(values: NDArray[np.float64], names: Sequence[str], name: str = "curves", limit: float = 1e140) -> None:
    """Refuse tasks of which the largest value, either sign, is beyond a limit or below its inverse, but not 0.

    `values`, shape (task, ...), are NaN where there is none; `name` is that of the argument.
    """
    largest = np.nan_to_num(np.abs(values.reshape(len(names), -1)), posinf=0.0).max(axis=1, initial=0.0)
    for task in np.flatnonzero((largest > limit) | ((largest < 1 / limit) & (largest > 0)))[:1]:
        size = "large" if largest[task] > 1 else "small"
        raise ValueError(
            f"{names[task]}{name} has values too {size} to compute with, up to {largest[task]:.3g}. "
            f"Rescale: {name} / abs({name}).max()"
        )


def check_scored(curves: xr.DataArray) -> None:
    """Refuse curves without a score."""
    if not curves.notnull().any():
        raise ValueError("curves has no score at all: every value is NaN. Check the selection that made it")


def check_drawable(curves: xr.DataArray) -> None:
    """Refuse curves with values that no axis can show."""
    if np.isinf(curves).any():
        raise ValueError("curves has infinite values. Mask them as missing: curves.where(np.isfinite(curves))")
    check_largest(curves.to_numpy(), labels.task_names(curves))


def check_largest(values: NDArray[np.float64], names: Sequence[str], name: str = "curves") -> None:
    """Refuse tasks, of shape (task, ...), with finite values so large that their sums and differences overflow."""
    largest = np.nan_to_num(np.abs(values.reshape(len(names), -1)), posinf=0.0).max(axis=1, initial=0.0)
    for task in np.flatnonzero(largest > 1e300)[:1]:
        raise ValueError(f"{names[task]}{name} has values of {largest[task]:.3g}. Rescale: {name} / abs({name}).max()")


def check_groups(
    present: NDArray[np.bool_], name: str, algorithms: Sequence[str], runs: Sequence[str], *, paired: bool
) -> None:
    """Refuse a task, `present` of shape (algorithm, run), in which there is nothing to compare or no error."""
    sizes = present.sum(axis=1)
    if np.count_nonzero(sizes) < 2:
        only = algorithms[int(sizes.argmax())]
        raise ValueError(f"{name}only algorithm {only} has runs; a comparison needs two. Add one, or leave this out")
    if sizes.max() < 2:
        raise ValueError(f"{name}no algorithm has two runs; without them there is no error to compare with. Add runs")
    gaps = np.argwhere(present.any(axis=0) & ~present[sizes > 0] & paired)
    for algorithm, _ in gaps[:1]:
        where = np.flatnonzero(sizes > 0)[algorithm]
        gone = present.any(axis=0) & ~present[where]
        lacking = ", ".join(run for run, missing in zip(runs, gone, strict=True) if missing)
        raise ValueError(
            f"{name}paired=True needs every run in every algorithm; algorithm {algorithms[where]} lacks run {lacking}. "
            "Select the common runs, or use paired=False"
        )


def check_contrasted(
    present: NDArray[np.bool_], name: str, algorithms: Sequence[str], runs: Sequence[str], *, paired: bool
) -> None:
    """Refuse a task, `present` of shape (algorithm, run), in which a contrasted algorithm has too few runs."""
    sizes = present.sum(axis=1)
    for algorithm in np.flatnonzero(sizes < 2)[:1]:
        raise ValueError(
            f"{name}algorithm {algorithms[algorithm]} has too few runs ({sizes[algorithm]}); a contrast needs two of "
            "every algorithm with a weight. Add runs, or take its weight away"
        )
    check_groups(present, name, algorithms, runs, paired=paired)
