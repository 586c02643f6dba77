"""From curves to a result: the only place that knows dask, chunks, absent runs and the order of labels.

A method checks its options and calls `per_task` with a kernel. The kernel gets a `Group`, tasks with the same runs and
equally many levels, and returns a dict of arrays of shape (task, ...). Where the curves are in memory this is one pass;
where they are lazy it is one `apply_ufunc`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import run_checks
from xcurves.core.failed_runs import N_FAILED
from xcurves.core.jobs import AtMost, Group, Job, Kernel, Layout, Reduce, RunNumbers
from xcurves.core.labels import (
    COLOR_INDEX,
    DIMS,
    has_color_index,
    in_label_order,
    label_order,
    task_names,
)
from xcurves.core.run_checks import Context
from xcurves.core.schema import JOINED, ResultKind, Var
from xcurves.kernels.resampling import plans

_EVERY_CURVE = Reduce()


def per_task(
    kind: ResultKind,
    kernel: Kernel,
    curves: xr.DataArray,  # dims (..., *core)
    *others: xr.DataArray,  # what else there is of each task: dims that the tasks do not have are core dims
    context: Context,
    core: Sequence[str] = DIMS,  # dims of one task; the first is `JOINED` in the kind, if it declares that
    # of dims of the result that neither the kind nor the curves have
    sizes: Mapping[str, int] | None = None,
    when: Collection[str] = (),  # options that bring variables
    numbers: RunNumbers | None = None,  # makes the curves numbers of runs first, task by task; `core` is of these
    reduce: Reduce = _EVERY_CURVE,  # what the kernel gets in place of curves
    attrs: Mapping[str, Any] | None = None,
    # of the result, and variables that the method was given
    coords: Mapping[Hashable, Any] | None = None,
    units: Mapping[str, str] | None = None,  # those that depend on the call
    # what advice about incomplete runs refers to; by default the curves
    cure: xr.DataArray | None = None,
    budget: xr.DataArray | None = None,  # of times, beyond which nothing is known
    # says what a reader would not expect, of a result that is in memory
    warn: Callable[[xr.Dataset], None] | None = None,
) -> xr.Dataset:
    """Return the result of a kernel on all tasks of curves, lazy if these are.

    ``kernel(group)`` returns variables, shape (task, ...); what it leaves out is NaN, or 0 of counts. With the core
    dims algorithm, run and training every run is checked to be whole or absent, tasks are grouped, and `n_runs`
    (algorithm) is filled in; with others, all tasks are one group and the data as they are.
    """
    if numbers is not None:
        curves = number_of_run(curves, numbers, context).transpose(..., *core)
    asked = {name: var for name, var in kind.variables.items() if var.when is None or var.when in when}
    joined = _joined_dim(asked, core)
    job = Job(
        name=kind.name,
        kernel=kernel,
        context=context,
        layout=_layout_of(kind, asked, curves, core, sizes or {}, joined),
        core=tuple(core),
        reduce=reduce,
        trim=_dim_to_trim(sizes or {}),
        integers={name: var.dtype for name, var in kind.variables.items() if np.issubdtype(var.dtype, np.integer)},
        order=label_order(curves, core),
    )
    with plans.watched() as watch:
        variables = compute(job, curves, *others, cure=cure)

    beside = _kept_coords(curves, variables, set(core) - {joined})
    for name, each in (coords or {}).items():
        if name in kind.variables:
            variables[str(name)] = each
        else:
            beside[name] = each
    result = kind.dataset(
        variables,
        beside,
        kind.attrs(
            curves,
            context.seed_to_record(drawn=watch.drawn),
            context.confidence_level,
            **(attrs or {}),
        ),
        curves,
        units,
    )
    if budget is not None:
        result = _within_budget(kind, result, budget)
    if warn is not None and not _any_lazy(curves, *others):
        warn(result)
    return result


def _joined_dim(asked: Mapping[str, Var], core: Sequence[str]) -> str | None:
    """Return the core dim of tasks that are computed together, if variables have it."""
    for var in asked.values():
        if JOINED in var.core:
            return core[0]
    return None


def _layout_of(
    kind: ResultKind,
    asked: Mapping[str, Var],
    curves: xr.DataArray,
    core: Sequence[str],
    sizes: Mapping[str, int],
    joined: str | None,
) -> Layout:
    """Return the dims of the variables that are asked for in one task, and the sizes of all dims."""
    dims = {name: var.core for name, var in asked.items()}
    if joined is not None:
        dims = {name: tuple(joined if dim == JOINED else dim for dim in of_var) for name, of_var in dims.items()}
    of_kind = {dim: len(names) for dim, names in kind.own_dims().items()}
    of_curves = {str(dim): curves.sizes[dim] for dim in core}
    of_call = {dim: int(size) for dim, size in sizes.items()}
    return Layout(dims, {**of_kind, **of_curves, **of_call})


def _dim_to_trim(sizes: Mapping[str, int]) -> str | None:
    """Return the dim that may be shorter than its size, if there is one."""
    for dim, size in sizes.items():
        if isinstance(size, AtMost):
            return dim
    return None


def _kept_coords(curves: xr.DataArray, variables: Mapping[str, xr.Variable], core: set[str]) -> dict[Hashable, Any]:
    """Return the coordinates of curves that their result has: of tasks, and of core dims that its variables have."""
    used = {dim for each in variables.values() for dim in each.dims}
    kept: dict[Hashable, Any] = {
        name: each for name, each in curves.coords.items() if name in used or core.isdisjoint(each.dims)
    }
    if N_FAILED in curves.coords:
        n_failed = curves.coords[N_FAILED]
        reduced = [dim for dim in n_failed.dims if dim not in used]
        kept[N_FAILED] = n_failed.sum(reduced, keep_attrs=True)
    if "algorithm" in used and has_color_index(curves):
        # so that pictures of the result have the colours of the curves
        kept[COLOR_INDEX] = curves.coords[COLOR_INDEX]
    return kept


def _within_budget(kind: ResultKind, result: xr.Dataset, budget: xr.DataArray) -> xr.Dataset:
    """Return a result without what is not known within a budget of times, which becomes a coordinate."""
    limited = {}
    for name, var in kind.variables.items():
        if name in result and var.known is not None:
            values = result[name].where(var.known(result, budget))
            limited[name] = values.transpose(*result[name].dims)
    return result.assign(limited).assign_coords({run_checks.BUDGET: budget})


def number_of_run(curves: xr.DataArray, numbers: RunNumbers, context: Context | None = None) -> xr.DataArray:
    """Reduce every curve to a number, dims (..., algorithm, run), NaN where there is no run; lazy if the curves are."""
    return reduce_runs(
        "number_of_run",
        partial(_numbers, numbers=numbers),
        curves,
        ("algorithm", "run"),
        reduce=Reduce([numbers]),
        context=context,
    )


def _numbers(group: Group, numbers: RunNumbers) -> dict[str, Floats]:
    every = numbers.numbers(group).reshape(-1, *group.present.shape)
    return {"number_of_run": np.where(group.present, every, np.nan)}


def reduce_runs(
    name: str,
    kernel: Kernel,
    curves: xr.DataArray,
    dims: tuple[str, ...],
    *,
    sizes: Mapping[str, int] | None = None,  # of dims that the curves do not have
    reduce: Reduce = _EVERY_CURVE,  # what the kernel gets in place of curves
    context: Context | None = None,  # of the call, if it has one
) -> xr.DataArray:
    """Return what a kernel makes of the curves of every task, dims (..., *dims), lazy if these are.

    The kernel returns one variable, which it calls `name`. Its coordinates are those of the curves without training.
    """
    of_curves = {dim: curves.sizes[dim] for dim in DIMS}
    if context is None:
        context = Context.of(curves)
    job = Job(
        name=name,
        kernel=kernel,
        context=replace(context, names=task_names(curves)),
        layout=Layout({name: dims}, {**of_curves, **(sizes or {})}),
        reduce=reduce,
        order=label_order(curves),
    )
    kept = {each: coord for each, coord in curves.coords.items() if "training" not in coord.dims}
    values = compute(job, curves)[name]
    return xr.DataArray(values, kept, name=curves.name, attrs=curves.attrs)


def compute(
    job: Job,
    curves: xr.DataArray,
    *others: xr.DataArray,
    cure: xr.DataArray | None = None,
) -> dict[str, xr.Variable]:
    """Return the variables of a job on curves, dims (..., *core), lazy if these are."""
    if cure is None:
        cure = curves
    lead = curves.dims[: -len(job.core)]
    tasks = {dim: curves.sizes[dim] for dim in lead}
    ordered = in_label_order(curves, job.core)
    beside = [_for_tasks(each, tasks) for each in others]
    with run_checks.with_cure(cure):
        if _any_lazy(curves, *others):
            from xcurves.core import chunking

            return chunking.apply(job, ordered, beside)
        return _in_memory(job, ordered, beside, tasks)


def _in_memory(
    job: Job,
    curves: xr.DataArray,
    others: Sequence[xr.DataArray],
    tasks: Mapping[Hashable, int],
) -> dict[str, xr.Variable]:
    """Return the variables of a job on curves and other arrays in memory, all of dims (*tasks, ...)."""
    flat = [each.to_numpy().reshape(-1, *each.shape[len(tasks) :]) for each in (curves, *others)]
    found = job.results(flat[0], flat[1:])
    return {
        name: xr.Variable(
            (*tasks, *job.layout.dims[name]),
            values.reshape((*tasks.values(), *values.shape[1:])),
        )
        for name, values in found.items()
    }


def _for_tasks(other: xr.DataArray, tasks: Mapping[Hashable, int]) -> xr.DataArray:
    """Return numbers for each task, dims (*tasks, ...), without coordinates."""
    own = {dim: size for dim, size in other.sizes.items() if dim not in tasks}
    sizes = {**tasks, **own}
    return xr.DataArray(other.variable.set_dims(sizes))  # type: ignore[no-untyped-call]  # of xarray


def _any_lazy(*arrays: xr.DataArray) -> bool:
    return any(map(is_lazy, arrays))


def is_lazy(array: xr.DataArray) -> bool:
    """Return whether an array has chunks; its property `chunks` takes far longer."""
    return getattr(array.data, "chunks", None) is not None
