"""From curves to a result: the only place that knows dask, packing, chunks, absent runs and the order of labels.

A method checks its options and calls `per_task` with a kernel. The kernel gets a `Group`, tasks with the same runs and
equally many levels, and returns a dict of arrays of shape (task, ...). Where the curves are in memory this is one pass;
where they are lazy it is one `apply_ufunc`, whose output has all variables packed in one array.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import run_checks
from xcurves.core.failed_runs import N_FAILED
from xcurves.core.labels import (
    COLOR_INDEX,
    DIMS,
    has_color_index,
    in_label_order,
    label_order,
)
from xcurves.core.run_checks import Context, alike
from xcurves.core.schema import Layout, ResultKind
from xcurves.kernels.resampling import streams
from xcurves.kernels.resampling.moments import count_levels

Indices = NDArray[np.intp]
JOINED = "joined_task"  # in declarations, the dim of tasks that are computed together


class Group(NamedTuple):
    """Tasks with the same runs and equally many levels."""

    # What each `Reduction` made of the curves; without reductions the curves that are present at the levels of the
    # tasks, shape (task, curve, level). Then further arrays, the first axis task.
    data: tuple[Any, ...]
    present: NDArray[np.bool_]  # shape (algorithm, run)
    grid: Indices  # of the levels, shape (task, level), of curves that are not reduced
    names: list[str]  # prefixes of messages, one for each task
    algorithms: list[str]  # words, of a subset if there are several
    context: Context
    tasks: Indices
    subsets: Indices  # of algorithms, shape (task,)
    layout: Layout

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of runs of the algorithms that have runs."""
        return tuple(size for size in self.present.sum(axis=1).tolist() if size)

    @property
    def curves(self) -> Indices:
        """Indices of the curves that are present, algorithm after algorithm."""
        return np.flatnonzero(self.present)


Kernel = Callable[..., Mapping[str, Any]]
Shape = tuple[int, int, int]  # numbers of algorithms, runs and levels


class Reduction(Protocol):
    """Turns the curves of a task, of which `shape` has the sizes, into few numbers, stretch by stretch of training."""

    def whole(self, shape: Shape, /) -> bool:
        """Return whether all levels are needed at once."""

    def size(self, shape: Shape) -> int:
        """Return how many numbers there are for a task."""

    def measure(self, curves: Floats, shape: Shape, levels: slice, /) -> Floats:
        """Reduce curves, shape (..., algorithm, run, training), at some of the levels to shape (..., number)."""

    def merge(self, numbers: Floats, shape: Shape) -> Floats:
        """Merge the numbers of stretches, shape (..., stretch, number), to (..., number)."""

    def unpack(self, numbers: Floats, shape: Shape) -> Any:
        """Return a named tuple of arrays, the first axis task, with `n_levels` and `counts` of levels of each curve."""


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
    return kind.dataset(
        variables | dict(given or {}),
        kept | dict(coords or {}),
        described,
        curves,
        units,
    )


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
        if is_lazy(curves) or any(map(is_lazy, others)):
            from xcurves.core import chunking  # what only lazy arrays need

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


def is_lazy(array: xr.DataArray) -> bool:
    """Return whether an array has chunks; its property `chunks` takes far longer."""
    return getattr(array.data, "chunks", None) is not None


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is done for every task, wherever the tasks are, in memory or in a dask worker; see `per_task`."""

    name: str
    kernel: Kernel
    context: Context
    layout: Layout
    core: tuple[str, ...] = DIMS
    reduce: Sequence[Reduction] = ()
    subsets: Sequence[Sequence[int]] | None = None
    trim: str | None = None
    finish: Callable[[dict[str, Any]], None] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    # variables that are 0 where there is nothing, not NaN
    integers: Mapping[str, type] = field(default_factory=dict)
    # of dims, the index of each label in the order of all
    order: Mapping[str, Indices] = field(default_factory=dict)

    @property
    def shape(self) -> Shape:
        """Numbers of algorithms, of runs and of levels that are reduced together."""
        n_algorithms, n_runs, n_levels = (self.layout.sizes[dim] for dim in DIMS)
        return len(self.subsets[0]) if self.subsets else n_algorithms, n_runs, n_levels

    def measure(self, reduction: Reduction, curves: Floats, levels: slice) -> Floats:
        """Reduce curves, shape (..., algorithm, run, training), to shape (..., subset, number)."""
        parts = (
            [curves]
            if self.subsets is None
            else [curves[..., list(each), :, :] for each in self.subsets]
        )
        reduced = [reduction.measure(part, self.shape, levels) for part in parts]
        return (
            reduced[0][..., np.newaxis, :]
            if len(reduced) == 1
            else np.stack(reduced, axis=-2)
        )

    def results(
        self, data: Sequence[Floats], others: Sequence[Floats], *, padded: bool = False
    ) -> dict[str, Any]:
        """Return the variables of all tasks, given curves or what each reduction made of them."""
        groups, found = [], []
        for group in self._groups(data, others):
            found.append(dict(self.kernel(group, **self.options)))
            # copies of curves are held for one group at a time
            groups.append(group._replace(data=()))
        layout = self.layout
        if self.trim and not padded:
            trimmed = [
                (name, dims.index(self.trim))
                for name, dims in layout.dims.items()
                if self.trim in dims
            ]
            lengths = [
                each[name].shape[1 + axis]
                for each in found
                for name, axis in trimmed
                if name in each
            ]
            layout = replace(
                layout, sizes={**layout.sizes, self.trim: max(lengths, default=0)}
            )
        out = {}
        for name in layout.dims:
            values = [each.pop(name, None) for each in found]  # held once
            out[name] = self._collect(name, layout.shape(name), groups, values)
            del values
        if set(DIMS) <= set(self.core) and self.layout.dims.get("n_runs") == (
            "algorithm",
        ):
            members = np.array(self.subsets or [range(self.layout.sizes["algorithm"])])
            for group in groups:
                out["n_runs"][group.tasks[:, np.newaxis], members[group.subsets]] = (
                    group.present.sum(axis=1)
                )
        if self.finish:
            self.finish(out)
        for dim, index in self.order.items():
            for name, dims in self.layout.dims.items():
                out[name] = (
                    out[name].take(index, 1 + dims.index(dim))
                    if dim in dims
                    else out[name]
                )
        return out

    def _group(
        self, data: Any, tasks: Indices, subsets: Indices, present: Any, grid: Indices
    ) -> Group:
        """Return some tasks as a group."""
        names = [self.context.names[task] for task in tasks]
        return Group(
            data,
            present,
            grid,
            names,
            self._words(subsets[0]),
            self.context,
            tasks,
            subsets,
            self.layout,
        )

    def _words(self, subset: int) -> list[str]:
        """Return the algorithms of a subset as messages write them."""
        words = self.context.algorithms
        return (
            [words[member] for member in self.subsets[subset]]
            if self.subsets
            else words
        )

    def _groups(
        self, data: Sequence[Floats], others: Sequence[Floats]
    ) -> Iterator[Group]:
        """Yield tasks that a kernel computes together; of several subsets of algorithms, each by itself."""
        context, n_tasks, n_subsets = (
            self.context,
            len(data[0]),
            len(self.subsets or [0]),
        )
        if not set(DIMS) <= set(self.core):
            tasks, no_grid = np.arange(n_tasks), np.zeros((n_tasks, 0), np.intp)
            yield self._group(
                (*data, *others), tasks, tasks * 0, np.ones((0, 0), bool), no_grid
            )
            return
        if self.reduce:
            reduced = [
                reduction.unpack(each.reshape(-1, each.shape[-1]), self.shape)
                for reduction, each in zip(self.reduce, data, strict=True)
            ]
            counts, n_levels = reduced[0].counts, reduced[0].n_levels
        else:
            flat = data[0].reshape(n_tasks, -1, data[0].shape[-1])
            has = ~np.isnan(flat)
            in_grid = np.asarray(has.any(axis=1))
            counts, n_levels = count_levels(flat), in_grid.sum(axis=-1)
        counts, of_subsets = (
            counts.reshape(n_tasks, n_subsets, -1),
            n_levels.reshape(n_tasks, n_subsets),
        )
        checked = [
            run_checks.check_runs(
                counts[:, i],
                of_subsets[:, i],
                context.names,
                self._words(i),
                context.runs,
            )
            for i in range(n_subsets)
        ]
        present = np.stack(checked, axis=1).reshape(-1, *checked[0].shape[1:])
        for cells in alike(present, n_levels.ravel()):
            tasks, subsets = np.divmod(cells, n_subsets)
            more, here = [each[tasks] for each in others], present[cells[0]]
            if self.reduce:
                levels = np.zeros((len(tasks), 0), np.intp)
                is_all = len(cells) == n_levels.size
                some = (
                    reduced
                    if is_all
                    else [part._make(each[cells] for each in part) for part in reduced]
                )
            else:
                levels = np.nonzero(in_grid[tasks])[1].reshape(len(tasks), -1)
                # copied only if some of it is left out
                whole = here.all() and levels.shape == in_grid.shape
                rows = flat if whole else flat[np.ix_(tasks, np.flatnonzero(here))]
                some = [
                    rows
                    if whole
                    else np.take_along_axis(rows, levels[:, np.newaxis], axis=2)
                ]
            yield self._group((*some, *more), tasks, subsets, here, levels)

    def _collect(
        self,
        name: str,
        shape: tuple[int, ...],
        groups: Sequence[Group],
        found: Sequence[Any],
    ) -> NDArray[Any]:
        """Return a variable of all tasks, given what the kernel found in each group, None where it found nothing."""
        dims = self.layout.dims[name]
        whole = (len(self.context.names), *shape)
        dtype = np.dtype(self.integers.get(name, np.float64))
        if len(found) == 1 and not groups[0].grid.size and self.subsets is None:
            value = np.asarray(found[0])
            # One group of all tasks in their order: the variable is there already.
            if (
                (value.shape, value.dtype) == (whole, dtype)
                and value.flags.owndata
                and value.flags.writeable
            ):
                return value
        nothing = np.nan
        if name in self.integers:
            nothing = 0
        out: NDArray[Any] = np.full(whole, nothing, dtype)
        for group, each in zip(groups, found, strict=True):
            if each is None:
                continue
            value = np.asarray(each)
            if "pair" in dims and self.subsets is not None:
                np.moveaxis(out, 1 + dims.index("pair"), 1)[
                    group.tasks, group.subsets
                ] = value
            elif "training" in dims and group.grid.size:
                axis = 1 + dims.index("training")
                np.moveaxis(out, axis, 1)[group.tasks[:, np.newaxis], group.grid] = (
                    np.moveaxis(value, axis, 1)
                )
            else:
                # there may be more than is needed
                room: tuple[Any, ...] = (group.tasks, *map(slice, value.shape[1:]))
                out[room] = value
        return out

    def __call__(self, *arrays: Any) -> Floats:
        """Return the variables of a block of tasks, packed, given arrays and the names of tasks, shape (..., name)."""
        from xcurves.core import chunking

        *blocks, names = arrays
        lead = names.shape[:-1]
        flat = [each.reshape(names.size, *each.shape[len(lead) :]) for each in blocks]
        n_data = len(self.reduce) or 1
        own = replace(self, context=replace(self.context, names=names.ravel().tolist()))
        with chunking.one_blas_thread():
            return self.layout.pack(
                own.results(flat[:n_data], flat[n_data:], padded=True), lead
            )

    @property
    def __name__(self) -> str:
        """Name of the nodes in a dask graph."""
        return self.name
