"""Curves to sufficient statistics, chunk by chunk where the curves are chunked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core.chunking import coarsen, in_memory
from xcurves.core.labels import DIMS
from xcurves.core.task_blocks import apply_block
from xcurves.kernels import moments

Subset = slice | list[int]


def apply_to_moments(
    block: Any, curves: xr.DataArray, given: xr.DataArray, subsets: Sequence[Subset] = (slice(None),)
) -> xr.DataArray:
    """Call a `Block` on moments of checked curves and, if paired, of their differences from their run's mean."""
    both = (False, True)[: 1 + block.paired]
    if in_memory(curves):
        return apply_block(_Reduced(block, subsets, both), [curves], [DIMS], block.layout.length, given)
    arrays = [curve_moments(curves, subsets, within_runs=within_runs) for within_runs in both]
    return apply_block(block, arrays, [["_subset", "_moment"]] * len(arrays), block.layout.length, given)


@dataclass(frozen=True)
class _Reduced:
    """A block function of moments as one of curves."""

    block: Callable[..., NDArray[np.float64]]
    subsets: Sequence[Subset]
    within_runs: Sequence[bool]

    def __call__(self, curves: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Reduce curves, shape (..., algorithm, run, training), and call the block."""
        return self.block(*(_reduce(curves, self.subsets, within_runs) for within_runs in self.within_runs), numbers)


def curve_moments(
    curves: xr.DataArray, subsets: Sequence[Subset] = (slice(None),), *, within_runs: bool = False
) -> xr.DataArray:
    """Reduce subsets of the algorithms of checked curves to packed moments, dims (..., _subset, _moment).

    Subsets have equally many algorithms. Each is reduced by itself: the scores of others do not reduce its precision.
    With `within_runs`, the mean over a subset's algorithms is first subtracted from every run, level by level.
    Lazy if the curves are dask-backed: chunks of extra dims stay separate, chunks along training are reduced one by
    one and merged in a tree. If there are fewer levels than curves in a subset, a factor of the co-moments takes no
    more memory than the curves, and is computed from all of training at once.
    """
    packed: xr.DataArray = xr.apply_ufunc(
        _reduce,
        curves if curves.chunks is None else coarsen(curves, DIMS),
        input_core_dims=[DIMS],
        output_core_dims=[["_subset", "_moment"]],
        dask="allowed",
        kwargs={"subsets": subsets, "within_runs": within_runs},
    )
    return packed


def _reduce(curves: Any, subsets: Sequence[Subset], within_runs: bool) -> Any:
    options: dict[str, Any] = {"subsets": subsets, "within_runs": within_runs}
    n_curves = len(range(curves.shape[-3])[subsets[0]] if isinstance(subsets[0], slice) else subsets[0])
    n_curves *= curves.shape[-2]
    options["factored"] = curves.shape[-1] < n_curves
    return _measure(curves, **options) if isinstance(curves, np.ndarray) else _measure_chunks(curves, n_curves, options)


def _measure(
    curves: NDArray[np.float64], subsets: Sequence[Subset], within_runs: bool, factored: bool
) -> NDArray[np.float64]:
    parts = (curves[..., subset, :, :] for subset in subsets)
    if within_runs:
        parts = (_less_run_means(part) for part in parts)
    flat = (part.reshape(*part.shape[:-3], -1, part.shape[-1]) for part in parts)
    return np.stack([moments.measure_moments(part, factored=factored) for part in flat], axis=-2)


def _less_run_means(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract from every run the mean over the present algorithms, level by level."""
    has = ~np.isnan(curves)
    total = np.where(has, curves, 0.0).sum(axis=-3, keepdims=True)
    with np.errstate(invalid="ignore"):  # infinite values are refused by their moments
        return np.asarray(curves - total / np.maximum(has.sum(axis=-3, keepdims=True), 1))


def _measure_chunks(curves: Any, n_curves: int, options: dict[str, Any]) -> Any:
    import dask.array as da

    training, subset, moment = curves.ndim - 1, curves.ndim, curves.ndim + 1
    whole = [training - 2, training - 1, *[training] * options["factored"]]
    curves = curves.rechunk(dict.fromkeys(whole, -1))
    size = moments.packed_size(n_curves, curves.shape[training] - 1 if options["factored"] else None)
    lead = tuple(range(curves.ndim - 3))
    blockwise: Any = da.blockwise  # dask has no annotations
    parts = blockwise(
        _measure_chunk,
        (*lead, subset, training, moment),
        curves,
        tuple(range(curves.ndim)),
        **options,
        new_axes={subset: len(options["subsets"]), moment: size},
        adjust_chunks={training: 1},
        concatenate=True,
        dtype=np.float64,
        meta=np.empty((0,) * (len(lead) + 3)),
    )
    if options["factored"]:
        return parts[(*[slice(None)] * (len(lead) + 1), 0)]
    combine = partial(_combine, n_curves=n_curves)
    reduce: Any = da.reduction
    return reduce(parts, chunk=_keep, combine=combine, aggregate=combine, axis=len(lead) + 1, dtype=np.float64)


def _keep(packed: NDArray[np.float64], **_: Any) -> NDArray[np.float64]:
    return packed


def _combine(packed: NDArray[np.float64], *, n_curves: int, keepdims: bool, **_: Any) -> NDArray[np.float64]:
    if packed.size == 0:  # dask infers the type of the output
        return np.asarray(packed.sum(axis=-2, keepdims=keepdims))
    with np.errstate(over="ignore", invalid="ignore"):  # the caller refuses huge scores
        merged = moments.merge_moments(packed, n_curves)
    return merged[..., np.newaxis, :] if keepdims else merged


def _measure_chunk(curves: NDArray[np.float64], **options: Any) -> NDArray[np.float64]:
    return _measure(curves, **options)[..., np.newaxis, :]
