"""Scores of different tasks on one scale."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import direction, provenance, validation
from xcurves.core.refusal import UNSAID, Refusal

Reference = float | xr.DataArray


def normalize(scores: xr.DataArray, *, low: Reference, high: Reference) -> xr.DataArray:
    r"""Scale scores so that a low reference becomes 0 and a high one 1.

    Parameters
    ----------
    scores : DataArray
        Any dims.
    low, high : float or DataArray
        Reference scores, one for all or one for each task: a DataArray with some of the dims of `scores`, labelled like
        them (a pandas Series: ``series.to_xarray()``). Where lower scores are better, `high` is the smaller one.

    Returns
    -------
    DataArray
        As `scores`, without a unit; lazy if they are. The step is recorded in ``attrs["history"]``, and in
        ``attrs["higher_is_better"]`` that higher is better from now on, unless lower was and every `high` is the
        larger.

    Raises
    ------
    TypeError
        If `scores` or a reference is of another kind.
    ValueError
        If a reference lacks a label of `scores`, is not finite, or if low and high are equal somewhere.

    Notes
    -----
    .. math:: z' = \frac{z - \mathrm{low}}{\mathrm{high} - \mathrm{low}}

    Nothing is clipped. Normalized scores of all tasks can be pooled: ``dim=("task", "run"), strata="task"``.

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> scores = xr.DataArray([[1.0, 3.0], [10.0, 30.0]], {"task": ["x", "y"]}, ("task", "run"))
    >>> high = xr.DataArray([5.0, 50.0], {"task": ["x", "y"]}, ("task",))
    >>> scores.curves.normalize(low=0.0, high=high).values.tolist()
    [[0.2, 0.6], [0.2, 0.6]]
    """
    validation.check_array("scores", scores)
    lowest, highest = (check_reference(scores, *each) for each in (("low", low), ("high", high)))
    with np.errstate(over="ignore"):
        span = highest - lowest
    _refuse(
        span == 0,
        "low and high are equal",
        "Leave the task out, or give references that differ",
    )
    _refuse(
        np.isinf(span),
        "high - low is beyond the largest number",
        "Rescale scores and references",
    )
    tiny = np.abs(span) < np.finfo(float).tiny
    _refuse(
        tiny,
        "high - low has lost digits, being below 2e-308",
        "Rescale scores and references",
    )
    normalized = ((scores - lowest) / span).transpose(*scores.dims).rename(scores.name)
    step = f"normalize(low={say_reference(low)}, high={say_reference(high)})"
    attrs = scores.attrs | {"units": "1", direction.HIGHER: _direction_of(scores, span)}
    return provenance.record(normalized.assign_attrs(attrs), step)


def _direction_of(scores: xr.DataArray, span: xr.DataArray) -> int:
    """Return 1, as a high reference is a good one; 0 where a loss is scaled so that its worst is 1."""
    stays_low = not direction.find(scores).higher and bool((span > 0).all())
    return int(not stays_low)


def check_reference(scores: xr.DataArray, name: str, given: Reference) -> xr.DataArray:
    """Return reference scores with the labels of `scores`, finite."""
    if not isinstance(given, xr.DataArray):
        return xr.DataArray(validation.check_number(name, given))
    validation.check_array(name, given)
    strange = [dim for dim in given.dims if dim not in scores.dims]
    if strange:
        raise Refusal(
            name,
            strange[0],
            f"{name} has the dim {strange[0]!r}, which scores do not have; they have {scores.dims}",
            f"Average over it: {name}.mean({strange[0]!r})",
        )
    for dim in given.dims:
        _check_labels(scores, name, given, dim)
    shared = {dim: scores[dim] for dim in given.dims if dim in scores.coords}
    aligned = given.sel(shared).astype(np.float64).reset_coords(drop=True).drop_attrs()
    _refuse(
        ~np.isfinite(aligned),
        f"{name} is not finite",
        "Give a finite reference, or leave the task out",
    )
    return aligned


def _check_labels(scores: xr.DataArray, name: str, given: xr.DataArray, dim: Hashable) -> None:
    if (dim in given.coords) != (dim in scores.coords):
        raise Refusal(
            name,
            UNSAID,
            f"{name} and scores must both have labels on {dim!r}, or neither",
            f"Add: assign_coords({dim}=...)",
        )
    if dim not in scores.coords:
        return
    lacking = [label for label in scores.indexes[dim] if label not in given.indexes[dim]]
    if lacking:
        raise Refusal(
            name,
            UNSAID,
            f"{name} has no reference for {dim} {lacking[0]!r} ({len(lacking)} lacking)",
            f"Add it to {name}",
        )
    if not given.indexes[dim].is_unique:
        raise Refusal(
            name,
            UNSAID,
            f"{name} names a label of {dim} twice",
            f"Keep one: {name}.drop_duplicates({dim!r})",
        )


def _refuse(where: Any, what: str, cure: str) -> None:
    """Refuse what holds somewhere, with the labels of the first cell."""
    cells = np.argwhere(where.to_numpy())
    if not len(cells):
        return
    first = where.isel(dict(zip(where.dims, cells[0].tolist(), strict=True)))
    name = ", ".join(f"{dim} {first[dim].item()!r}" for dim in where.dims if dim in first.coords)
    if name:
        what = f"{name}: {what}"
    raise Refusal("", UNSAID, what, cure)


def say_reference(reference: Reference) -> str:
    """Return a reference score in words: a number, or the dims that it differs along."""
    if not isinstance(reference, xr.DataArray):
        return f"{float(reference):g}"
    if reference.dims:
        return f"<by {', '.join(map(str, reference.dims))}>"
    return f"{reference.item():g}"
