"""The profile of curves that are too long to be in one place: chunk after chunk of levels, each task by itself.

What a chunk has to know of the others are moments of the curves, for which these are read once more before, and what
shuffling says of the levels of every chunk, joined. No more than a few chunks of the curves are ever held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves import outcomes
from xcurves.kernels import clusters, levels, moments, profiles, simultaneous
from xcurves.kernels.assignments import Assignments
from xcurves.kernels.shuffles import Plan
from xcurves.packing import Floats
from xcurves.profile.intervals import Stretches
from xcurves.profile.levelwise import BANDS, CURE_OF_ONE_LEVEL, LevelBlock
from xcurves.profile.nodes import Objects, apply, boxed, reduce_objects
from xcurves.randomization import doors
from xcurves.randomization.blockwise import as_float, check_moments
from xcurves.randomization.reduction import measure_chunks, merge_chunks

_PROFILE = ("ss", "fraction", "cumulative_fraction")
_TESTS = ("f", "pvalue", "pvalue_adjusted", "cluster", "cluster_pvalue", *BANDS, "equivalent")
_COUNTS = ("n_shuffles", "n_assignments")
_INTERVALS = ("interval_pvalue", "interval_pvalue_adjusted")


class _Task(NamedTuple):
    """What the moments of a task tell: its curves, in groups of `sizes`, and their sums of squares.

    Attributes
    ----------
    curves : ndarray of int, shape (curve,)
    sizes : tuple of int
    plan : Plan
    own : ndarray, shape (task, group)
        Deviations of the groups over all levels.
    total : ndarray, shape (task, effect)
        Sums of squares of the profiles simple, algorithm and interaction.
    everything : ndarray, shape (task,)
        Sum of squares of all curves.
    """

    curves: NDArray[np.intp]
    sizes: tuple[int, ...]
    plan: Plan
    own: Floats
    total: Floats
    everything: Floats


class _Joint(NamedTuple):
    """What shuffling says of chunks of levels together; of clusters with the number of the chunk's first level."""

    plan: Plan
    levels: levels.Joint
    clusters: dict[int, clusters.Ends]
    largest: Floats


class _Survey(NamedTuple):
    """What shuffling says of the levels of a chunk, of which the first has the number `start`.

    Attributes
    ----------
    places : ndarray of int, shape (level,)
        Where in the chunk the task's levels are.
    local : levels.Local
    f, total, room : ndarray, shape (task, level)
        F ratio, sum of squares, and room to the margin.
    cluster, mass : ndarray, shape (level,)
        The clusters of the chunk by itself.
    joint : _Joint
    """

    start: int
    places: NDArray[np.intp]
    local: levels.Local
    f: Floats
    total: Floats
    room: Floats
    cluster: Floats
    mass: Floats
    joint: _Joint


@dataclass(frozen=True)
class ChunkBlock(LevelBlock):
    """The profile of one task from chunks of levels; methods take and return blocks of dask arrays."""

    def counts(self, packed: Floats, names: Objects) -> Floats:
        """Count reassignments, shape (..., count), given packed moments, shape (..., 1, moment)."""
        task = self._task(packed, names)
        found = (task.plan.n_shuffles, as_float(task.plan.n_assignments)) if task else (0, np.nan)
        return np.array(found, float).reshape(*names.shape[:-1], 2)

    def share(self, part: Floats, packed: Floats, names: Objects) -> Floats:
        """Return what fraction of the profiles a chunk has, shape (..., effect, 1), given its own moments too."""
        task = self._task(packed, names)
        fraction = np.full((1, 3, 1), np.nan)
        if task is not None:
            ss = _sums(self._unpack(part), task.curves, task.sizes, task.own)[..., np.newaxis]
            profiles.share(ss, task.total, task.everything, np.zeros((1, 3)), fraction, np.empty(ss.shape))
        return fraction.reshape(*names.shape[:-1], 3, 1)

    def profile(self, curves: Floats, packed: Floats, names: Objects, before: Floats) -> Floats:
        """Profile a chunk, shape (..., algorithm, run, training), as (..., row, effect, training).

        `before`, shape (..., effect, 1), are the fractions of the chunks before.
        """
        task = self._task(packed, names)
        out = np.full((3, 3, curves.shape[-1]), np.nan)
        places, some = self._select(curves, task)
        if task is not None and len(places):
            ss, fraction, cumulative = found = np.empty((3, 1, 3, len(places)))
            profiles.effects(self.measure(some, task.sizes), task.own, task.sizes, ss)
            profiles.share(ss, task.total, task.everything, before.reshape(1, 3), fraction, cumulative)
            out[..., places] = found[:, 0]
        return out.reshape(*names.shape[:-1], *out.shape)

    def survey(self, curves: Floats, packed: Floats, names: Objects, start: NDArray[np.intp]) -> Objects:
        """Shuffle a chunk, shape (..., algorithm, run, training); None if the task has no level there."""
        task = self._task(packed, names)
        places, some = self._select(curves, task)
        found = self._survey(places, some, task, int(start[0])) if task and len(places) else None
        return boxed(found, curves.ndim - 2)

    def _survey(self, places: NDArray[np.intp], some: Floats, task: _Task, start: int) -> _Survey:
        assignments, plan = Assignments(task.plan, self.batch), task.plan
        measured = self.measure(some, task.sizes)
        simple, total = measured.simple, measured.simple + measured.error
        parts = [slice(first, first + levels.width(plan)) for first in range(0, len(places), levels.width(plan))]
        numbers = (start + places)[np.newaxis]
        local, joint = levels.survey(
            (self.design(some[..., p], task.sizes, simple[:, p], total[:, p], numbers[:, p]) for p in parts),
            assignments,
            self.rules,
        )
        cluster, mass = (each[0] for each in clusters.find(local.share, local.limit, self.df(task.sizes)))
        largest, room = np.empty((2, 1, 0))
        if self.margin is not None:
            found = [simultaneous.survey(some[..., part], assignments, self.margin) for part in parts]
            largest, room = np.max([each[0] for each in found], axis=0), np.concatenate([e[1] for e in found], axis=1)
        jointly = _Joint(plan, joint, {start: clusters.ends(cluster, mass)}, largest)
        f = self.f(measured, task.sizes)
        return _Survey(start, places, local, f, total, room, cluster, mass, jointly)

    def stairs(self, surveys: Objects, joints: Objects) -> Objects:
        """Return the stairs of the step-down that a chunk makes; None if there are none."""
        survey, joint = surveys.item(), joints.item()
        wanted = survey is not None and self.rules.step_down
        return boxed(levels.stairs(levels.known(survey.local.share), joint.levels) if wanted else None, surveys.ndim)

    def tests(self, surveys: Objects, joints: Objects, stairs: Objects, size: NDArray[np.intp]) -> Floats:
        """Conclude what is tested in a chunk of `size` levels, shape (..., row, training)."""
        survey, joint = surveys.item(), joints.item()
        out = np.full((len(_TESTS) - (self.margin is None), int(size[0])), np.nan)
        if survey is not None:
            found = self._conclude(survey, joint, stairs.item())
            out[:, survey.places] = [found[name][0] for name in _TESTS[: len(out)]]
        return out.reshape(*surveys.shape[:-1], *out.shape)

    def _conclude(self, survey: _Survey, joint: _Joint, stairs: Floats | None) -> dict[str, Floats]:
        numbers = dict(zip(joint.clusters, clusters.number(list(joint.clusters.values())), strict=True))
        cluster, mass = (clusters.look_up(survey.cluster, each)[np.newaxis] for each in numbers[survey.start])
        adjusted = levels.adjust(levels.known(survey.local.share), joint.levels, stairs)
        found = levels.conclude(survey.local, joint.levels, adjusted, mass, joint.plan, self.rules)
        differ = survey.total > 0
        for name, critical in BANDS.items():
            found[name] = np.where(differ, survey.total * found.pop(critical), np.nan)
        if self.margin is not None:
            shown = simultaneous.shown(joint.largest, survey.room, joint.plan, self.alpha)
            found["equivalent"] = np.where(differ, shown, np.nan)
        return found | {"cluster": cluster, "f": survey.f}

    def intervals(self, joints: Objects) -> Floats:
        """Conclude what is tested of intervals, shape (..., row, interval)."""
        joint = joints.item()
        out = np.full((len(_INTERVALS), len(self.stretches)), np.nan)
        if joint is not None:
            found = levels.conclude_intervals(joint.levels, joint.plan, self.rules)
            out[:] = [found[name][0] for name in _INTERVALS]
        return out.reshape(*joints.shape[:-1], *out.shape)

    def _task(self, packed: Floats, names: Objects) -> _Task | None:
        """Take what the moments of a task tell, if it has any curves; refuse what cannot be profiled."""
        part, name = self._unpack(packed), str(names.item())
        present = self.present(part.counts, part.n_levels, [name])[0]
        if not part.n_levels[0]:
            return None
        check_moments(part, [name])
        doors.check_groups(present, name, self.algorithms, self.runs, paired=self.paired)
        if part.n_levels[0] == 1:
            raise ValueError(f"{name}there is one training level; {CURE_OF_ONE_LEVEL}")
        curves, sizes = np.flatnonzero(present), tuple(size for size in present.sum(axis=1).tolist() if size)
        own = profiles.group_means(part.means[:, curves], sizes)
        everything = part.n_levels * (part.means**2).sum(axis=-1) + np.trace(part.comoment, axis1=1, axis2=2)
        plan = self.plan(sizes, work=int(part.n_levels[0]))
        return _Task(curves, sizes, plan, own, _sums(part, curves, sizes, own), everything)

    def _unpack(self, packed: Floats) -> moments.Moments:
        return moments.unpack(packed.reshape(1, -1), len(self.algorithms) * len(self.runs))

    def _select(self, curves: Floats, task: _Task | None) -> tuple[NDArray[np.intp], Floats]:
        """Return the levels of a chunk that a task has, and its curves there, shape (task, curve, level)."""
        flat = curves.reshape(1, -1, curves.shape[-1])
        if task is None:
            return np.empty(0, np.intp), flat
        flat = flat if len(task.curves) == flat.shape[1] else flat[:, task.curves]
        places = np.flatnonzero(~np.isnan(flat[0, 0]))
        return places, flat if len(places) == flat.shape[2] else flat[..., places]


def profile(block: ChunkBlock, curves: xr.DataArray, training: pd.Index) -> dict[str, xr.Variable]:
    """Profile curves that dask holds in chunks of the levels of one task, lazily; `training` has the levels."""
    from dask.graph_manipulation import bind

    extra = curves.dims[:-3]
    n_curves = curves.sizes["algorithm"] * curves.sizes["run"]
    parts = measure_chunks(curves.data, [slice(None)], False, n_curves)
    part = xr.Variable((*extra, "subset", "training", "moment"), parts)
    packed = xr.Variable((*extra, "subset", "moment"), merge_chunks(parts, n_curves))
    names = xr.Variable((*extra, "name"), np.array(block.names, object).reshape(*curves.shape[:-3], 1))
    known = (packed, names.chunk(dict.fromkeys(extra, 1)))
    # The curves are read anew, and not before the moments are there: what these are made of is not kept.
    read = xr.Variable(curves.dims, bind(curves.data, packed.data))
    block = replace(block, names=[])
    share = apply(block.share, (*extra, "effect", "training"), part, *known, effect=3).chunk(training=-1)
    before = (share.cumsum("training") - share).chunk(training=1)
    dims = (*extra, "row", "effect", "training")
    found = _cut(apply(block.profile, dims, read, *known, before, row=len(_PROFILE)), _PROFILE)
    found |= _cut(apply(block.counts, (*extra, "row"), *known, row=len(_COUNTS)), _COUNTS)
    if len(block.stretches):
        found["interval_fraction"] = _sum_intervals(found["fraction"], block.stretches)
    if block.inference:
        found |= _test(block, read, known, _levels(training, curves.chunksizes["training"]))
    return found


def _test(
    block: ChunkBlock, read: xr.Variable, known: tuple[xr.Variable, xr.Variable], training: Any
) -> dict[str, xr.Variable]:
    """Return what shuffling says, from the curves, what is known of the tasks, and the levels."""
    extra = read.dims[:-3]
    sizes = np.array(training.chunksizes["training"])
    start, size = (xr.Variable("training", each).chunk(1) for each in (sizes.cumsum() - sizes, sizes))
    surveys = apply(block.survey, (*extra, "training"), read, *known, start, chunks=1, dtype=object)
    joints = reduce_objects(apply(_joint_of, surveys.dims, surveys, dtype=object), _join)
    stairs = reduce_objects(apply(block.stairs, surveys.dims, surveys, joints, dtype=object), np.maximum.reduce)
    rows = _TESTS[: len(_TESTS) - (block.margin is None)]
    along = (*extra, "row", "training")
    tested = apply(block.tests, along, surveys, joints, stairs, size, chunks=tuple(sizes.tolist()), row=len(rows))
    found = _cut(tested, rows)
    marked = training.where(outcomes.significant(found["pvalue_adjusted"], block.alpha))
    found |= {"first_significant": marked.min("training"), "last_significant": marked.max("training")}
    if len(block.stretches):
        shape = {"row": len(_INTERVALS), "interval": len(block.stretches)}
        found |= _cut(apply(block.intervals, (*extra, *shape), joints, **shape), _INTERVALS)
    return found


def _sums(part: moments.Moments, curves: NDArray[np.intp], sizes: tuple[int, ...], own: Floats) -> Floats:
    means, comoment, _ = moments.subset(part, np.array([0]), curves)
    return profiles.sums(means, comoment, part.n_levels, own, sizes)


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


def _joint_of(surveys: Objects) -> Objects:
    survey = surveys.item()
    return boxed(None if survey is None else survey.joint, surveys.ndim)


def _join(joints: Sequence[_Joint]) -> _Joint:
    """Join what chunks that follow one another say."""
    plans, jointly, found, largest = zip(*joints, strict=True)
    return _Joint(plans[0], levels.join(jointly), reduce(or_, found), np.maximum.reduce(largest))
