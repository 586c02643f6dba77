"""Weights of the labels of a dim, such as the levels by which a curve becomes one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, validation
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType, shown
from xcurves.kernels.resampling.moments import count_levels

TrainingWeights = Literal["final"] | Sequence[float] | xr.DataArray | None

_SHOWN = 10  # labels that a message lists


def weights_on(curves: xr.DataArray, dim: str, given: Any, argument: str) -> xr.DataArray:
    """Return a weight for every label of a dim of curves, zero for those that a DataArray does not name."""
    if isinstance(given, xr.DataArray) and given.dims != (dim,):
        raise Refusal(
            argument,
            Verbatim(f"{given.dims}"),
            f"must have the dim {dim!r}",
            "Name labels with a DataArray of it",
        )
    known: list[Any] = curves[dim].to_numpy().tolist()
    names, values = _named_weights(given, dim, known)
    numbers = validation.numbers_of(values)
    if numbers is None:
        raise WrongType(argument, values, "must be numbers")
    if numbers.shape != (len(names),):
        things = f"{dim}s"
        if dim == "training":
            things = "levels"
        raise Refusal(
            argument,
            Verbatim(f"shape {numbers.shape}"),
            f"must have one weight for each of {len(known)} {things}",
            f"Name {things} with a DataArray of dim {dim!r}",
        )
    _check_size_of_weights(numbers, argument)

    weight_of = dict(zip(names, numbers.tolist(), strict=True))
    _check_names_of_weights(weight_of.keys() - set(known), known, dim, argument)
    if len(weight_of) < len(names):
        raise Refusal(
            argument,
            UNSAID,
            f"{argument} names a label of {dim} twice: {shown(names)}",
            "Name each once",
        )
    return xr.DataArray(
        [weight_of.get(label, 0.0) for label in known],
        {dim: curves[dim].to_numpy()},
        (dim,),
    )


def _named_weights(given: Any, dim: str, known: list[Any]) -> tuple[list[Any], Any]:
    """Return the labels that weights are for, and the weights; without labels they are for all known ones."""
    if isinstance(given, Mapping | pd.Series):
        pairs = list(given.items())
        return [name for name, _ in pairs], [weight for _, weight in pairs]
    if isinstance(given, xr.DataArray) and dim in given.coords:
        return given[dim].to_numpy().tolist(), given
    return known, given


def _check_size_of_weights(numbers: Floats, argument: str) -> None:
    """Refuse weights that cannot be computed with."""
    got = shown(numbers.tolist())
    if not np.isfinite(numbers).all():
        raise Refusal(argument, Verbatim(f"{got}"), "must be finite")
    if numbers.size and np.abs(numbers).max() > validation.LARGEST:
        raise Refusal(
            argument,
            Verbatim(f"{got}"),
            f"must be at most {validation.LARGEST:g}",
            "Divide them by the largest",
        )


def _check_names_of_weights(unknown: set[Any], known: list[Any], dim: str, argument: str) -> None:
    """Refuse weights of labels that curves do not have."""
    if not unknown:
        return
    name = next(iter(unknown))
    examples = list(labels.words(known[:_SHOWN]))
    if len(known) > _SHOWN:
        examples.append("...")
    near = ""
    if isinstance(name, str):
        near = labels.did_you_mean(name, known)
    raise Refusal(
        argument,
        name,
        f"{argument} names {name!r}, which is no {dim} of the curves",
        f"They have {', '.join(examples)}{near}",
    )


def check_training_weights(curves: xr.DataArray, given: TrainingWeights) -> xr.DataArray | str | None:
    """Return a weight for every level of curves, "final" for the last of each task, or None for equal ones.

    Weights that are not negative are divided by their sum; those of both signs (a slope) stay as they are.
    """
    if given is None or isinstance(given, str):
        if given not in (None, "final"):
            raise Refusal("training_weights", given, "must be None, 'final' or weights")
        return given
    weights = weights_on(curves, "training", given, "training_weights")
    if not weights.any():
        raise Refusal(
            "training_weights",
            weights.to_numpy().tolist(),
            "training_weights are all zero",
            "Give weight to at least one level",
        )
    if (weights < 0).any():
        return weights
    # so that no weights are too small to be added
    relative: xr.DataArray = weights / weights.max()
    return relative / relative.sum()


class RunSums(NamedTuple):
    """Curves summed over training."""

    n_levels: Floats  # of each task
    uncovered: Floats  # size of the weights on levels that the task does not have
    counts: Floats  # levels of each curve, shape (task, curve), infinite if it has a score that is refused
    sums: Floats


@dataclass(frozen=True)
class SumOfLevels:
    """Reduces every curve to its weighted sum over training."""

    weights: Floats | str | None  # of all levels, or "final"
    centred: bool = False  # subtract first, level by level, the mean over all curves: it changes no contrast
    paired: bool = False  # subtract the mean over the curves of the same run
    ranked: bool = False  # an infinite score is no error, and makes the sum infinite if it has weight

    def __call__(self, curves: Floats) -> RunSums:
        """Return the sums of curves, shape (task, algorithm, run, training)."""
        has = ~np.isnan(curves)
        in_grid = np.asarray(has.any(axis=(-3, -2)))
        finite = np.isfinite(curves)
        values = np.where(finite, curves, 0.0)
        if self.centred:
            pool = -3 if self.paired else (-3, -2)
            n = np.count_nonzero(finite, axis=pool, keepdims=True)
            values -= np.where(finite, values.sum(axis=pool, keepdims=True) / np.maximum(n, 1), 0.0)
        by, uncovered = in_grid, np.zeros(in_grid.shape[:-1])
        if isinstance(self.weights, str):
            last = in_grid.shape[-1] - 1 - in_grid[..., ::-1].argmax(axis=-1)
            by = in_grid & (np.arange(in_grid.shape[-1]) == last[..., np.newaxis])
        elif self.weights is not None:
            uncovered = (np.abs(self.weights) * ~in_grid).sum(axis=-1)
            by = np.broadcast_to(self.weights, in_grid.shape)
        if self.weights is not None:
            values *= by[..., np.newaxis, np.newaxis, :]
        # The same scores in another order make the same number: where two runs tie must not depend on rounding.
        sums = values.sum(axis=-1, dtype=None if self.centred else np.longdouble).astype(np.float64)
        counts = count_levels(curves)
        if self.ranked:
            weighted = (by != 0)[..., np.newaxis, np.newaxis, :]
            for infinity in (-np.inf, np.inf):
                sums[((curves == infinity) & weighted).any(axis=-1)] = infinity
            counts = has.sum(axis=-1).astype(np.float64)
        n_levels = in_grid.sum(axis=-1).astype(np.float64)
        n_tasks = len(curves)
        return RunSums(n_levels, uncovered, counts.reshape(n_tasks, -1), sums.reshape(n_tasks, -1))

    def numbers(self, group: Group) -> Floats:
        """Return the number of every curve of alike tasks, shape (task, curve); refuse weights on levels they lack."""
        of_curves: RunSums = group.data[0]
        refused = np.flatnonzero(of_curves.uncovered > 0)
        if refused.size:
            raise Refusal(
                "curves",
                UNSAID,
                f"{group.names[refused[0]]}training_weights gives weight to levels that no run has",
                "Give weight to the task's own training levels",
            )
        if self.weights is not None:
            return of_curves.sums
        return of_curves.sums / of_curves.n_levels[:, np.newaxis]


def run_numbers(training_weights: xr.DataArray | str | None, *, ranked: bool = False) -> SumOfLevels:
    """Return what reduces the curve of a run to its number, by weights that were checked."""
    weights: Floats | str | None
    if isinstance(training_weights, xr.DataArray):
        weights = training_weights.to_numpy()
    else:
        weights = training_weights
    return SumOfLevels(weights, ranked=ranked)
