"""Items that were not graded at every checkpoint: each is taken at those that all of its answers have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.driver import is_lazy
from xcurves.core.task_dims import TASK
from xcurves.say.numbers import number, span

_STEP = "checkpoints"  # what a line of a history begins with


def at_common_levels(curves: xr.DataArray, dim: str, task: object) -> xr.DataArray:
    """Return curves of items, one answer of an algorithm to each, at the levels that all algorithms of the item have.

    Only where the call names the dim as that of tasks; an algorithm that has an item at no level lacks it.
    """
    if task != dim or dim == TASK or "training" not in curves.dims or is_lazy(curves):
        return curves
    has = curves.notnull().transpose(dim, "algorithm", "run", "training", ...)
    if has.ndim > 4:
        return curves
    graded = has.to_numpy()
    answered = np.asarray(graded.any(axis=-1))
    if answered.sum(axis=-1).max(initial=0) > 1:
        return curves
    common = np.asarray((graded | ~answered[..., np.newaxis]).all(axis=(1, 2)))
    cut = np.asarray((graded & ~common[:, np.newaxis, np.newaxis]).any(axis=(1, 2, 3)))
    if not cut.any():
        return curves
    noun = labels.noun(dim)
    n_left = common[cut].sum(axis=-1)
    said = (
        f"{number(int(cut.sum()))} of {number(len(cut))} {noun}s count at {span(n_left.tolist())} of "
        f"{number(curves.sizes['training'])} levels, those that all of their answers have"
    )
    n_none = int((n_left == 0).sum())
    if n_none:
        said += f"; {number(n_none)} of them have no level in common and are left out"
    kept = xr.DataArray(common, dims=(dim, "training"))
    taken = curves.where(kept).transpose(*curves.dims).assign_attrs(curves.attrs)
    return provenance.record(taken, f"{_STEP}: {said}")


def say_levels(result: xr.Dataset) -> Iterator[str]:
    """Yield how many items count at fewer levels than there are."""
    for line in str(result.attrs.get("history", "")).split("\n"):
        who, _, what = line.partition(": ")
        if who == _STEP:
            yield f"{what}."
