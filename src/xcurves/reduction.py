"""Curves to sufficient statistics, chunk by chunk where the curves are chunked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.kernels import moments
from xcurves.labels import DIMS

Subset = slice | list[int]


def curve_moments(curves: xr.DataArray, subsets: Sequence[Subset] = (slice(None),)) -> xr.DataArray:
    """Reduce subsets of the algorithms of checked curves to packed moments, dims (..., subset, moment).

    Subsets have equally many algorithms; each is reduced by itself, so that what the others scored costs it no digit.
    Lazy if the curves are dask-backed: chunks of extra dims stay apart, chunks along training are measured one by one
    and merged as a tree.
    """
    packed: xr.DataArray = xr.apply_ufunc(
        _reduce,
        curves,
        input_core_dims=[DIMS],
        output_core_dims=[["subset", "moment"]],
        dask="allowed",
        kwargs={"subsets": subsets},
    )
    return packed


def _reduce(curves: Any, subsets: Sequence[Subset]) -> Any:
    return _measure(curves, subsets) if isinstance(curves, np.ndarray) else _measure_chunks(curves, subsets)


def _measure(curves: NDArray[np.float64], subsets: Sequence[Subset]) -> NDArray[np.float64]:
    parts = (curves[..., subset, :, :] for subset in subsets)
    flat = (part.reshape(*part.shape[:-3], -1, part.shape[-1]) for part in parts)
    return np.stack([moments.measure(part) for part in flat], axis=-2)


def _measure_chunks(curves: Any, subsets: Sequence[Subset]) -> Any:
    import dask.array as da

    curves = curves.rechunk({curves.ndim - 3: -1, curves.ndim - 2: -1})
    training, subset, moment = curves.ndim - 1, curves.ndim, curves.ndim + 1
    n_curves = len(range(curves.shape[-3])[subsets[0]] if isinstance(subsets[0], slice) else subsets[0])
    n_curves *= curves.shape[-2]
    lead = tuple(range(curves.ndim - 3))
    blockwise: Any = da.blockwise  # dask has no annotations
    parts = blockwise(
        _measure_chunk,
        (*lead, subset, training, moment),
        curves,
        tuple(range(curves.ndim)),
        subsets=subsets,
        new_axes={subset: len(subsets), moment: moments.packed_size(n_curves)},
        adjust_chunks={training: 1},
        concatenate=True,
        dtype=np.float64,
        meta=np.empty((0,) * (len(lead) + 3)),
    )
    combine = partial(_combine, n_curves=n_curves)
    reduce: Any = da.reduction
    return reduce(parts, chunk=_keep, combine=combine, aggregate=combine, axis=len(lead) + 1, dtype=np.float64)


def _keep(packed: NDArray[np.float64], **_: Any) -> NDArray[np.float64]:
    return packed


def _combine(packed: NDArray[np.float64], *, n_curves: int, keepdims: bool, **_: Any) -> NDArray[np.float64]:
    if packed.size == 0:  # dask asks what kind of array comes out
        return np.asarray(packed.sum(axis=-2, keepdims=keepdims))
    merged = moments.merge(packed, n_curves)
    return merged[..., np.newaxis, :] if keepdims else merged


def _measure_chunk(curves: NDArray[np.float64], subsets: Sequence[Subset]) -> NDArray[np.float64]:
    return _measure(curves, subsets)[..., np.newaxis, :]
