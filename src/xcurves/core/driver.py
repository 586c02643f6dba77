"""From curves to a result: the only place that knows dask, packing, chunks, absent runs and the order of labels.

A method checks its options and calls `per_task` with a kernel. The kernel gets a `Group`, tasks with the same runs and
equally many levels, and returns a dict of arrays of shape (task, ...). Where the curves are in memory this is one pass;
where they are lazy it is one `apply_ufunc`, whose output has all variables packed in one array.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import chunking, run_checks
from xcurves.core.failed_runs import N_FAILED
from xcurves.core.jobs import Job, Kernel, Reduction
from xcurves.core.labels import (
    COLOR_INDEX,
    DIMS,
    has_color_index,
    in_label_order,
    label_order,
)
from xcurves.core.layout import Layout
from xcurves.core.run_checks import Context
from xcurves.core.schema import JOINED, ResultKind
from xcurves.kernels.resampling import streams


def per_task(
    kind: ResultKind,
    kernel: Kernel,
    curves: xr.DataArray,  # dims (..., *core)
    *others: xr.DataArray,  # what else there is of each task: dims that the tasks do not have are core dims
    context: Context,
    core: Sequence[str] = DIMS,  # dims of one task
    # of dims of the result that neither the kind nor the curves have
    sizes: Mapping[str, int] | None = None,
    # the core dim of tasks that are computed together; the kind declares it as `JOINED`
    joined: str | None = None,
    when: Collection[str] = (),  # options that bring variables
    reduce: Sequence[Reduction] = (),  # what the kernel gets in place of curves
    # Algorithms, in the order of their labels, that are reduced together: several are the labels of the dim `pair`.
    subsets: Sequence[Sequence[int]] | None = None,
    # a dim that is only as long as its longest variable, where the result is not lazy
    trim: str | None = None,
    # Changes the variables of all tasks, shape (task, ...): of what needs all pairs of a task.
    finish: Callable[[dict[str, Any]], None] | None = None,
    options: Mapping[str, Any] | None = None,  # for the kernel
    attrs: Mapping[str, Any] | None = None,
    coords: Mapping[Hashable, Any] | None = None,
    # variables of the result that the method was given
    given: Mapping[str, xr.Variable] | None = None,
    units: Mapping[str, str] | None = None,  # those that depend on the call
    # what advice about incomplete runs refers to; by default the curves
    cure: xr.DataArray | None = None,
    budget: xr.DataArray | None = None,  # of times, beyond which nothing is known
    # says what a reader would not expect, of a result that is in memory
    warn: Callable[[xr.Dataset], None] | None = None,
) -> xr.Dataset:
    """Return the result of a kernel on all tasks of curves, lazy if these are.

    ``kernel(group, **options)`` returns variables, shape (task, ...); what it leaves out is NaN, or 0 of counts. With
    the core dims algorithm, run and training every run is checked to be whole or absent, tasks are grouped, and
    `n_runs` (algorithm) is filled in; with others, all tasks are one group and the data as they are.
    """
    asked = {
        name: var
        for name, var in kind.variables.items()
        if var.when is None or var.when in when
    }
    own = {JOINED: joined or JOINED}
    dims = {
        name: tuple(own.get(dim, dim) for dim in var.core)
        for name, var in asked.items()
    }
    known = {dim: len(names) for dim, names in kind.own_dims().items()} | {
        str(dim): curves.sizes[dim] for dim in core
    }
    job = Job(
        name=kind.name,
        kernel=kernel,
        finish=finish,
        options=options or {},
        context=context,
        layout=Layout(dims, known | dict(sizes or {})),
        integers={
            name: var.dtype
            for name, var in kind.variables.items()
            if np.issubdtype(var.dtype, np.integer)
        },
        core=tuple(core),
        reduce=reduce,
        subsets=subsets,
        trim=trim,
        order=label_order(curves, core),
    )
    with streams.watched() as watch:
        variables = compute(job, curves, *others, cure=cure)
    used = {dim for each in variables.values() for dim in each.dims}
    reduced = set(core) - used.intersection([joined])
    kept = {
        name: each
        for name, each in curves.coords.items()
        if name in used or reduced.isdisjoint(each.dims)
    }
    if N_FAILED in curves.coords:
        n_failed = curves.coords[N_FAILED]
        kept[N_FAILED] = n_failed.sum(
            [dim for dim in n_failed.dims if dim not in used], keep_attrs=True
        )
    if "algorithm" in used and has_color_index(curves):
        # so that pictures of the result have the colours of the curves
        kept[COLOR_INDEX] = curves.coords[COLOR_INDEX]
    described = kind.attrs(
        curves,
        context.seed_to_record(drawn=watch.drawn),
        context.confidence_level,
        **(attrs or {}),
    )
    result = kind.dataset(
        variables | dict(given or {}),
        kept | dict(coords or {}),
        described,
        curves,
        units,
    )
    if budget is not None:
        result = _within_budget(kind, result, budget)
    if warn is not None and not _any_lazy(curves, *others):
        warn(result)
    return result


def _within_budget(
    kind: ResultKind, result: xr.Dataset, budget: xr.DataArray
) -> xr.Dataset:
    """Return a result without what is not known within a budget of times, which becomes a coordinate."""
    limited = {}
    for name, var in kind.variables.items():
        if name in result and var.known is not None:
            values = result[name].where(var.known(result, budget))
            limited[name] = values.transpose(*result[name].dims)
    return result.assign(limited).assign_coords({run_checks.BUDGET: budget})


def compute(
    job: Job,
    curves: xr.DataArray,
    *others: xr.DataArray,
    cure: xr.DataArray | None = None,
) -> dict[str, xr.Variable]:
    """Return the variables of a job on curves, dims (..., *core), lazy if these are."""
    ordered, lead = in_label_order(curves, job.core), curves.dims[: -len(job.core)]
    beside = [
        _for_tasks(each, {dim: curves.sizes[dim] for dim in lead}) for each in others
    ]
    with run_checks.with_cure(curves if cure is None else cure):
        if _any_lazy(curves, *others):
            return chunking.apply(job, ordered, beside)
        shape = tuple(curves.sizes[dim] for dim in lead)
        flat = [
            each.to_numpy().reshape(-1, *each.shape[len(lead) :])
            for each in (ordered, *beside)
        ]
        reduced = [job.measure(each, flat[0], slice(None)) for each in job.reduce]
        found = job.results(reduced or flat[:1], flat[1:])
        return {
            name: xr.Variable(
                (*lead, *job.layout.dims[name]),
                values.reshape((*shape, *values.shape[1:])),
            )
            for name, values in found.items()
        }


def _for_tasks(other: xr.DataArray, tasks: Mapping[Hashable, int]) -> xr.DataArray:
    """Return numbers for each task, dims (*tasks, ...), without coordinates."""
    sizes = {
        **tasks,
        **{dim: size for dim, size in other.sizes.items() if dim not in tasks},
    }
    return xr.DataArray(other.variable.set_dims(sizes))  # type: ignore[no-untyped-call]  # of xarray


def _any_lazy(*arrays: xr.DataArray) -> bool:
    return any(map(is_lazy, arrays))


def is_lazy(array: xr.DataArray) -> bool:
    """Return whether an array has chunks; its property `chunks` takes far longer."""
    return getattr(array.data, "chunks", None) is not None
