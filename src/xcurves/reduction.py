"""Curves to sufficient statistics, chunk by chunk where the curves are chunked."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.kernels import moments
from xcurves.labels import DIMS


def curve_moments(curves: xr.DataArray) -> xr.DataArray:
    """Reduce checked curves to packed moments, dims (..., moment); lazy if the curves are dask-backed.

    Chunks of extra dims stay apart; chunks along training are measured one by one and merged as a tree.
    """
    packed: xr.DataArray = xr.apply_ufunc(
        _reduce, curves, input_core_dims=[DIMS], output_core_dims=[["moment"]], dask="allowed"
    )
    return packed


def _reduce(curves: Any) -> Any:
    return _measure(curves) if isinstance(curves, np.ndarray) else _measure_chunks(curves)


def _measure(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    *lead, n_algorithms, n_runs, n_levels = curves.shape
    return moments.measure(curves.reshape(*lead, n_algorithms * n_runs, n_levels))


def _measure_chunks(curves: Any) -> Any:
    import dask.array as da

    curves = curves.rechunk({curves.ndim - 3: -1, curves.ndim - 2: -1})
    training, moment = curves.ndim - 1, curves.ndim
    n_curves = curves.shape[-3] * curves.shape[-2]
    lead = tuple(range(curves.ndim - 3))
    blockwise: Any = da.blockwise  # dask has no annotations
    parts = blockwise(
        _measure_chunk,
        (*lead, training, moment),
        curves,
        tuple(range(curves.ndim)),
        new_axes={moment: moments.packed_size(n_curves)},
        adjust_chunks={training: 1},
        concatenate=True,
        dtype=np.float64,
        meta=np.empty((0,) * (len(lead) + 2)),
    )

    combine = partial(_combine, n_curves=n_curves)
    reduce: Any = da.reduction
    return reduce(parts, chunk=_keep, combine=combine, aggregate=combine, axis=len(lead), dtype=np.float64)


def _keep(packed: NDArray[np.float64], **_: Any) -> NDArray[np.float64]:
    return packed


def _combine(packed: NDArray[np.float64], *, n_curves: int, keepdims: bool, **_: Any) -> NDArray[np.float64]:
    if packed.size == 0:  # dask asks what kind of array comes out
        return np.asarray(packed.sum(axis=-2, keepdims=keepdims))
    merged = moments.merge(packed, n_curves)
    return merged[..., np.newaxis, :] if keepdims else merged


def _measure_chunk(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    return _measure(curves)[..., np.newaxis, :]
