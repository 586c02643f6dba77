"""What is done for every task, wherever the tasks are: in memory or in a dask worker.

A `Job` gets the arrays of some tasks, forms groups of tasks with the same runs and equally many levels, calls the
kernel once for each `Group`, and puts what it returns at the places of the tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import run_checks
from xcurves.core.labels import DIMS
from xcurves.core.run_checks import Context
from xcurves.kernels.resampling.moments import count_levels

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Layout:
    """The dims of the variables of a task, and the sizes of these dims."""

    dims: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a variable in one task."""
        return tuple(self.sizes[dim] for dim in self.dims[name])

    def blank(self, n_tasks: int) -> dict[str, Floats]:
        """Return the variables of `n_tasks` tasks, all NaN, shape (task, ...)."""
        return {name: np.full((n_tasks, *self.shape(name)), np.nan) for name in self.dims}


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


Kernel = Callable[[Group], Mapping[str, Any]]
# Turns the curves of tasks, shape (task, algorithm, run, training), into a named tuple of arrays, the first axis task,
# with `n_levels` and `counts` of levels of each curve.
Reduction = Callable[[Floats], Any]


class RunNumbers(Protocol):
    """A reduction of the curve of each run to a number."""

    def __call__(self, curves: Floats) -> Any:
        """Return what is known of curves, as a `Reduction` does."""

    def numbers(self, group: Group) -> Floats:
        """Return the number of every curve of a group of alike tasks, shape (task, curve)."""


class AtMost(int):
    """The size of a dim that is only as long as its longest variable, where the result is not lazy."""


@dataclass(frozen=True)
class Reduce:
    """What a kernel gets in place of curves, and what is done with the variables of all tasks."""

    by: Sequence[Reduction] = ()
    # Algorithms, in the order of their labels, that are reduced together: several are the labels of the dim `pair`.
    subsets: Sequence[Sequence[int]] | None = None
    # Changes the variables of all tasks, shape (task, ...): of what needs all pairs of a task.
    finish: Callable[[dict[str, Any]], None] | None = None


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is done for every task; see `driver.per_task`."""

    name: str
    kernel: Kernel
    context: Context
    layout: Layout
    core: tuple[str, ...] = DIMS
    reduce: Reduce = field(default_factory=Reduce)
    trim: str | None = None  # the dim that is as long as its longest variable
    # variables that are 0 where there is nothing, not NaN
    integers: Mapping[str, type] = field(default_factory=dict)
    # of dims, the index of each label in the order of all
    order: Mapping[str, Indices] = field(default_factory=dict)

    @property
    def n_subsets(self) -> int:
        """Number of subsets of algorithms that are reduced, each by itself."""
        if self.reduce.subsets is None:
            return 1
        return len(self.reduce.subsets)

    @property
    def of_curves(self) -> bool:
        """Whether the data are curves, of which every run is checked, and not numbers of some other dims."""
        return set(DIMS) <= set(self.core)

    def without_names(self) -> Job:
        """Return the job without the names of tasks, of which each block of a lazy array gets its own."""
        return self.with_names([])

    def with_names(self, names: list[str]) -> Job:
        """Return the job for tasks of other names."""
        return replace(self, context=replace(self.context, names=names))

    def results(self, curves: Floats, others: Sequence[Floats], *, padded: bool = False) -> dict[str, Any]:
        """Return the variables of all tasks, given curves and what else there is of each task."""
        # Sums are rounded alike however the curves were sorted or put together.
        curves = np.ascontiguousarray(curves)
        groups, found = [], []
        for group in self._groups(curves, others):
            found.append(dict(self.kernel(group)))
            # copies of curves are held for one group at a time
            groups.append(group._replace(data=()))

        layout = self.layout
        if self.trim and not padded:
            layout = self._trimmed(self.trim, found)
        out: dict[str, Any] = {}
        for name in layout.dims:
            # Taken out, so that no variable is held twice.
            values = [each.pop(name, None) for each in found]
            out[name] = self._collect(name, layout.shape(name), groups, values)
            del values

        if self.of_curves and self.layout.dims.get("n_runs") == ("algorithm",):
            self._count_runs(out["n_runs"], groups)
        if self.reduce.finish:
            self.reduce.finish(out)
        self._reorder(out)
        return out

    def _trimmed(self, dim: str, found: Sequence[Mapping[str, Any]]) -> Layout:
        """Return the layout with a dim as long as its longest variable."""
        lengths = [
            each[name].shape[1 + dims.index(dim)]
            for each in found
            for name, dims in self.layout.dims.items()
            if dim in dims and name in each
        ]
        sizes = {**self.layout.sizes, dim: max(lengths, default=0)}
        return replace(self.layout, sizes=sizes)

    def _collect(
        self,
        name: str,
        shape: tuple[int, ...],
        groups: Sequence[Group],
        found: Sequence[Any],
    ) -> NDArray[Any]:
        """Return a variable of all tasks, given what the kernel found in each group, None where it found nothing."""
        whole = (len(self.context.names), *shape)
        dtype = np.dtype(self.integers.get(name, np.float64))
        if len(found) == 1 and not groups[0].grid.size and self.reduce.subsets is None:
            value = np.asarray(found[0])
            # One group of all tasks in their order: the variable is there already.
            fits = value.shape == whole and value.dtype == dtype
            if fits and value.flags.owndata and value.flags.writeable:
                return value

        nothing = np.nan
        if name in self.integers:
            nothing = 0
        out: NDArray[Any] = np.full(whole, nothing, dtype)
        for group, values in zip(groups, found, strict=True):
            if values is not None:
                self._put(out, self.layout.dims[name], group, np.asarray(values))
        return out

    def _put(
        self,
        out: NDArray[Any],
        dims: tuple[str, ...],
        group: Group,
        values: NDArray[Any],
    ) -> None:
        """Put the values of a group at the places of its tasks, and of its pairs or levels."""
        if "pair" in dims and self.reduce.subsets is not None:
            by_pair = np.moveaxis(out, 1 + dims.index("pair"), 1)
            by_pair[group.tasks, group.subsets] = values
        elif "training" in dims and group.grid.size:
            axis = 1 + dims.index("training")
            by_level = np.moveaxis(out, axis, 1)
            tasks = group.tasks[:, np.newaxis]
            by_level[tasks, group.grid] = np.moveaxis(values, axis, 1)
        else:
            # there may be more than is needed
            place: tuple[Any, ...] = (group.tasks, *map(slice, values.shape[1:]))
            out[place] = values

    def _count_runs(self, n_runs: NDArray[Any], groups: Sequence[Group]) -> None:
        """Fill in the numbers of runs, shape (task, algorithm)."""
        members = np.array([range(self.layout.sizes["algorithm"])])
        if self.reduce.subsets:
            members = np.array(self.reduce.subsets)
        for group in groups:
            algorithms = members[group.subsets]
            count = group.present.sum(axis=1)
            n_runs[group.tasks[:, np.newaxis], algorithms] = count

    def _reorder(self, out: dict[str, Any]) -> None:
        """Give the dims of all variables the order of the labels that was given."""
        for dim, index in self.order.items():
            for name, dims in self.layout.dims.items():
                if dim in dims:
                    out[name] = out[name].take(index, 1 + dims.index(dim))

    def _groups(self, curves: Floats, others: Sequence[Floats]) -> Iterator[Group]:
        """Yield the groups of tasks that a kernel computes together."""
        if not self.of_curves:
            yield self._one_group((curves, *others))
        elif self.reduce.by:
            numbers = [self._reduced(curves, reduction) for reduction in self.reduce.by]
            yield from self._groups_of_numbers(numbers, others)
        else:
            yield from self._groups_of_curves(curves, others)

    def _reduced(self, curves: Floats, reduction: Reduction) -> Any:
        """Return what a reduction makes of curves, arrays of which the first axis is task and subset."""
        if self.reduce.subsets is None:
            return reduction(curves)
        of_subsets = [reduction(curves[:, list(each)]) for each in self.reduce.subsets]
        first = of_subsets[0]
        # a stack would copy
        if len(of_subsets) == 1:
            return first
        parts = [np.stack(part, axis=1) for part in zip(*of_subsets, strict=True)]
        # a factor of curves of one level has no columns, from which -1 could be told
        n_reduced = len(curves) * self.n_subsets
        return first._make(part.reshape(n_reduced, *part.shape[2:]) for part in parts)

    def _one_group(self, data: tuple[Floats, ...]) -> Group:
        """Return all tasks as one group, with the data as they are."""
        n_tasks = len(data[0])
        tasks, subsets = np.arange(n_tasks), np.zeros(n_tasks, np.intp)
        no_runs, no_grid = np.ones((0, 0), bool), np.zeros((n_tasks, 0), np.intp)
        return self._group(data, tasks, subsets, no_runs, no_grid)

    def _groups_of_numbers(self, numbers: Sequence[Any], others: Sequence[Floats]) -> Iterator[Group]:
        """Yield tasks, or pairs of algorithms in tasks, with what the reductions made of their curves."""
        n_levels = numbers[0].n_levels
        present = self._check_runs(numbers[0].counts, n_levels)
        for cells in run_checks.alike(present, n_levels.ravel()):
            tasks, subsets = np.divmod(cells, self.n_subsets)
            some = list(numbers)
            if len(cells) < n_levels.size:
                some = [part._make(each[cells] for each in part) for part in numbers]
            beside = [each[tasks] for each in others]
            no_grid = np.zeros((len(tasks), 0), np.intp)
            yield self._group((*some, *beside), tasks, subsets, present[cells[0]], no_grid)

    def _groups_of_curves(self, curves: Floats, others: Sequence[Floats]) -> Iterator[Group]:
        """Yield tasks with the curves that are present, at the levels that a task has."""
        n_tasks = len(curves)
        flat = curves.reshape(n_tasks, -1, curves.shape[-1])
        in_grid = np.asarray((~np.isnan(flat)).any(axis=1))
        n_levels = in_grid.sum(axis=-1)
        present = self._check_runs(count_levels(flat), n_levels)
        for tasks in run_checks.alike(present, n_levels):
            here = present[tasks[0]]
            grid = np.nonzero(in_grid[tasks])[1].reshape(len(tasks), -1)
            some = flat
            # copied only if some of it is left out
            if not here.all() or grid.shape != in_grid.shape:
                rows = flat[np.ix_(tasks, np.flatnonzero(here))]
                some = np.take_along_axis(rows, grid[:, np.newaxis], axis=2)
            beside = [each[tasks] for each in others]
            subsets = np.zeros(len(tasks), np.intp)
            yield self._group((some, *beside), tasks, subsets, here, grid)

    def _check_runs(self, counts: NDArray[Any], n_levels: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which runs are present, shape (task and subset, algorithm, run); refuse incomplete ones.

        `counts` has the numbers of levels that the curves of each task and subset have.
        """
        by_subset = (len(self.context.names), self.n_subsets)
        counts, n_levels = counts.reshape(*by_subset, -1), n_levels.reshape(by_subset)
        checked = [
            run_checks.check_runs(
                counts[:, subset],
                n_levels[:, subset],
                self.context.names,
                self._words(subset),
                self.context.runs,
            )
            for subset in range(self.n_subsets)
        ]
        return np.stack(checked, axis=1).reshape(-1, *checked[0].shape[1:])

    def _group(
        self,
        data: tuple[Any, ...],
        tasks: Indices,
        subsets: Indices,
        present: NDArray[np.bool_],
        grid: Indices,
    ) -> Group:
        """Return some tasks as a group."""
        return Group(
            data=data,
            present=present,
            grid=grid,
            names=[self.context.names[task] for task in tasks],
            algorithms=self._words(subsets[0]),
            context=self.context,
            tasks=tasks,
            subsets=subsets,
            layout=self.layout,
        )

    def _words(self, subset: int) -> list[str]:
        """Return the algorithms of a subset as messages write them."""
        words = self.context.algorithms
        if self.reduce.subsets is None:
            return words
        return [words[member] for member in self.reduce.subsets[subset]]
