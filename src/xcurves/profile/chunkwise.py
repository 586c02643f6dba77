"""The profile of curves that are too long to be in one place: chunk after chunk of levels, each task by itself.

What a chunk has to know of the others are moments of the groups, for which the curves are read once before, and what
shuffling says of the levels of every chunk, joined. No more than a few chunks of the curves are ever held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import outcomes
from xcurves.profile.chunkblock import COUNTS, INTERVALS, PROFILE, TESTS, ChunkBlock, join, merge, number, pick
from xcurves.profile.intervals import Stretches
from xcurves.profile.nodes import apply, reduce_objects


def profile(block: ChunkBlock, curves: xr.DataArray, training: pd.Index) -> dict[str, xr.Variable]:
    """Profile curves that dask holds in chunks of the levels of one task, lazily; `training` has the levels."""
    extra = curves.dims[:-3]
    names = np.array(block.names, object).reshape(*curves.shape[:-3], 1)
    block = replace(block, names=[])
    part = apply(block.measure_chunk, (*extra, "training"), curves.variable, chunks=1, dtype=object)
    whole = reduce_objects(part, merge)
    known = (whole, xr.Variable((*extra, "name"), names).chunk(dict.fromkeys(extra, 1)))
    # The curves are read anew, and not before they are measured: what was measured is not kept.
    read = xr.Variable(curves.dims, _read_again(curves.data, whole.data))
    share = apply(block.share, (*extra, "effect", "training"), part, *known, effect=3).chunk(training=-1)
    before = (share.cumsum("training") - share).chunk(training=1)
    dims = (*extra, "row", "effect", "training")
    found = _cut(apply(block.profile, dims, read, *known, before, row=len(PROFILE)), PROFILE)
    found |= _cut(apply(block.counts, (*extra, "row"), *known, row=len(COUNTS)), COUNTS)
    if len(block.stretches):
        found["interval_fraction"] = _sum_intervals(found["fraction"], block.stretches)
    if block.inference:
        found |= _test(block, read, known, _levels(training, curves.variable.chunksizes["training"]))
    return found


def _read_again(curves: Any, first: Any, axis: int = 0) -> Any:
    """Return the chunks of curves read anew, those of a task when what came `first` of it is there."""
    from dask.base import tokenize
    from dask.core import flatten
    from dask.graph_manipulation import bind

    da: Any = import_module("dask.array")  # dask has no annotations
    if axis < curves.ndim - 3:
        places = ((slice(None),) * axis + (place,) for place in range(curves.numblocks[axis]))
        tasks = [_read_again(curves.blocks[place], first.blocks[place], axis + 1) for place in places]
        return da.concatenate(tasks, axis)
    keys: Any = flatten  # as above
    graph = curves.__dask_graph__().cull(set(keys(curves.__dask_keys__())))  # of this task alone
    own = da.Array(dict(graph), curves.name, curves.chunks, meta=curves._meta)
    return bind(own, first, seed=tokenize(curves.name, first.name))


def _test(
    block: ChunkBlock, read: xr.Variable, known: tuple[xr.Variable, xr.Variable], training: Any
) -> dict[str, xr.Variable]:
    """Return what shuffling says, from the curves, what is known of the tasks, and the levels."""
    extra = read.dims[:-3]
    sizes = np.array(training.chunksizes["training"])
    start, size = (xr.Variable("training", each).chunk(1) for each in (sizes.cumsum() - sizes, sizes))
    both = apply(block.survey, (*extra, "training"), read, *known, start, chunks=1, dtype=object)
    surveys, parts = (apply(partial(pick, place=place), both.dims, both, dtype=object) for place in (0, 1))
    joints = reduce_objects(parts, join)
    numbers = apply(number, joints.dims, joints, dtype=object)
    stairs = reduce_objects(apply(block.stairs, surveys.dims, surveys, joints, dtype=object), np.maximum.reduce)
    rows = TESTS[: len(TESTS) - (block.margin is None)]
    along = (*extra, "row", "training")
    tested = apply(
        block.tests, along, surveys, joints, numbers, stairs, size, chunks=tuple(sizes.tolist()), row=len(rows)
    )
    found = _cut(tested, rows)
    marked = outcomes.significant(found["pvalue_adjusted"], block.alpha)
    # Without skipna: nanmin warns of nothing marked, and to silence it is not safe in threads.
    first = training.where(marked, np.inf).min("training", skipna=False)
    last = training.where(marked, -np.inf).max("training", skipna=False)
    found |= {"first_significant": first.where(first < np.inf), "last_significant": last.where(last > -np.inf)}
    if len(block.stretches):
        shape = {"row": len(INTERVALS), "interval": len(block.stretches)}
        found |= _cut(apply(block.intervals, (*extra, *shape), joints, **shape), INTERVALS)
    return found


def _cut(rows: xr.Variable, names: Sequence[str]) -> dict[str, xr.Variable]:
    return {name: rows.isel(row=row) for row, name in enumerate(names)}


def _sum_intervals(fraction: Any, stretches: Stretches) -> Any:
    """Sum fractions, dims (..., effect, training), in intervals, dims (..., effect, interval)."""
    pieces = (slice(*ends) for ends in zip(stretches.start.tolist(), stretches.stop.tolist(), strict=True))
    parts = [fraction.isel(training=piece).sum("training", min_count=1) for piece in pieces]
    variable: Any = xr.Variable  # xarray has not annotated all
    return variable.concat(parts, "interval").transpose(..., "effect", "interval")


def _levels(training: pd.Index, sizes: Sequence[int]) -> Any:
    """Return training levels in given chunks; a range is not written out."""
    import dask.array as da

    if isinstance(training, pd.RangeIndex):
        levels_: Any = da.arange(training.start, training.stop, training.step, chunks=(sizes,))
        return xr.Variable("training", levels_)
    return xr.Variable("training", training.to_numpy()).chunk(training=tuple(sizes))
