"""The profile of one task from chunks of its levels: what dask calls on every chunk, and how the answers are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels import clusters, levels, profiles, simultaneous
from xcurves.kernels.assignments import Assignments
from xcurves.kernels.shuffles import Plan
from xcurves.packing import Floats
from xcurves.profile.levelwise import BANDS, CURE_OF_ONE_LEVEL, LevelBlock
from xcurves.profile.nodes import Objects, boxed
from xcurves.randomization import doors
from xcurves.randomization.blockwise import as_float

PROFILE = ("ss", "fraction", "cumulative_fraction")
TESTS = ("f", "pvalue", "pvalue_adjusted", "cluster", "cluster_pvalue", *BANDS, "equivalent")
COUNTS = ("n_shuffles", "n_assignments")
INTERVALS = ("interval_pvalue", "interval_pvalue_adjusted")


class _Stretch(NamedTuple):
    """What a stretch of levels tells of a task; of the groups nothing (NaN) if runs are incomplete.

    Attributes
    ----------
    n_levels : int
        How many levels the task has in it.
    counts : ndarray, shape (algorithm * run,)
        At how many of them a run has a value; NaN if one is infinite.
    means, squares : ndarray, shape (algorithm,)
        Mean over them of the algorithm's deviation from all curves, and the sum of squares about it; NaN if absent.
    everything : float
        Sum of squares between and within algorithms.
    differ : bool
        Whether algorithms deviate at all.
    """

    n_levels: int
    counts: Floats
    means: Floats
    squares: Floats
    everything: float
    differ: bool


class _Task(NamedTuple):
    """What all levels tell of a task: its curves, in groups of `sizes`, and their sums of squares.

    Attributes
    ----------
    curves : ndarray of int, shape (curve,)
    groups : ndarray of int, shape (group,)
    sizes : tuple of int
    plan : Plan
    own : ndarray, shape (task, group)
        Deviations of the groups over all levels.
    total : ndarray, shape (task, effect)
        Sums of squares of the profiles simple, algorithm and interaction.
    everything : ndarray, shape (task,)
        Sum of squares between and within groups.
    """

    curves: NDArray[np.intp]
    groups: NDArray[np.intp]
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
    """

    start: int
    places: NDArray[np.intp]
    local: levels.Local
    f: Floats
    total: Floats
    room: Floats
    cluster: Floats
    mass: Floats


@dataclass(frozen=True)
class ChunkBlock(LevelBlock):
    """The profile of one task from chunks of levels; methods take and return blocks of dask arrays."""

    def measure_chunk(self, curves: Floats) -> Objects:
        """Measure a chunk, shape (..., algorithm, run, training)."""
        flat = curves.reshape(-1, curves.shape[-1])
        has = ~np.isnan(flat)
        counts = np.where(np.isinf(flat).any(axis=1), np.nan, has.sum(axis=1))
        present = has.any(axis=1).reshape(len(self.algorithms), len(self.runs))
        n_levels = int(np.count_nonzero(has.any(axis=0)))
        groups, sizes = _groups(present)
        means, squares = np.full((2, len(present)), np.nan)
        everything, differ = 0.0, False
        uneven = self.paired and len(set(sizes)) > 1
        if n_levels and not uneven and (counts[present.ravel()] == n_levels).all():  # others will be refused
            with np.errstate(over="ignore", invalid="ignore"):
                measured = self.measure(self._select(curves, np.flatnonzero(present))[1], sizes)
                deviations = measured.deviations[0]
                means[groups] = deviations.mean(axis=-1)
                squares[groups] = ((deviations - means[groups, np.newaxis]) ** 2).sum(axis=-1)
                everything = float(measured.simple.sum() + measured.error.sum())
            differ = bool(deviations.any())
        return boxed(_Stretch(n_levels, counts, means, squares, everything, differ), curves.ndim - 2)

    def counts(self, wholes: Objects, names: Objects) -> Floats:
        """Count reassignments, shape (..., count), of a task that is measured as a whole."""
        task = self._task(wholes.item(), names)
        found = (task.plan.n_shuffles, as_float(task.plan.n_assignments)) if task else (0, np.nan)
        return np.array(found, float).reshape(*names.shape[:-1], 2)

    def share(self, parts: Objects, wholes: Objects, names: Objects) -> Floats:
        """Return what fraction of the profiles a measured chunk has, shape (..., effect, 1)."""
        task, part = self._task(wholes.item(), names), parts.item()
        fraction = np.full((1, 3, 1), 0.0 if task else np.nan)
        if task is not None and part.n_levels:
            ss = _sums(part, task.groups, task.sizes, task.own)[..., np.newaxis]
            profiles.share(ss, task.total, task.everything, np.zeros((1, 3)), fraction, np.empty(ss.shape))
        return fraction.reshape(*names.shape[:-1], 3, 1)

    def profile(self, curves: Floats, wholes: Objects, names: Objects, before: Floats) -> Floats:
        """Profile a chunk, shape (..., algorithm, run, training), as (..., row, effect, training).

        `before`, shape (..., effect, 1), are the fractions of the chunks before.
        """
        task = self._task(wholes.item(), names)
        out = np.full((3, 3, curves.shape[-1]), np.nan)
        places, some = self._select(curves, task.curves if task else None)
        if task is not None and len(places):
            ss, fraction, cumulative = found = np.empty((3, 1, 3, len(places)))
            profiles.effects(self.measure(some, task.sizes), task.own, task.sizes, ss)
            profiles.share(ss, task.total, task.everything, before.reshape(1, 3), fraction, cumulative)
            out[..., places] = found[:, 0]
        return out.reshape(*names.shape[:-1], *out.shape)

    def survey(self, curves: Floats, wholes: Objects, names: Objects, start: NDArray[np.intp]) -> Objects:
        """Shuffle a chunk, shape (..., algorithm, run, training), to a `_Survey` and a `_Joint`.

        None if the task has no level there.
        """
        task = self._task(wholes.item(), names)
        places, some = self._select(curves, task.curves if task else None)
        found = self._survey(places, some, task, int(start[0])) if task and len(places) else None
        return boxed(found, curves.ndim - 2)

    def _survey(self, places: NDArray[np.intp], some: Floats, task: _Task, start: int) -> tuple[_Survey, _Joint]:
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
        return _Survey(start, places, local, f, total, room, cluster, mass), jointly

    def stairs(self, surveys: Objects, joints: Objects) -> Objects:
        """Return the stairs of the step-down that a chunk makes; None if there are none."""
        survey, joint = surveys.item(), joints.item()
        wanted = survey is not None and self.rules.step_down
        return boxed(levels.stairs(levels.known(survey.local.share), joint.levels) if wanted else None, surveys.ndim)

    def tests(
        self, surveys: Objects, joints: Objects, numbers: Objects, stairs: Objects, size: NDArray[np.intp]
    ) -> Floats:
        """Conclude what is tested in a chunk of `size` levels, shape (..., row, training)."""
        survey = surveys.item()
        out = np.full((len(TESTS) - (self.margin is None), int(size[0])), np.nan)
        if survey is not None:
            found = self._conclude(survey, joints.item(), numbers.item()[survey.start], stairs.item())
            out[:, survey.places] = [found[name][0] for name in TESTS[: len(out)]]
        return out.reshape(*surveys.shape[:-1], *out.shape)

    def _conclude(
        self, survey: _Survey, joint: _Joint, numbers: tuple[Floats, Floats], stairs: Floats | None
    ) -> dict[str, Floats]:
        cluster, mass = (clusters.look_up(survey.cluster, each)[np.newaxis] for each in numbers)
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
        out = np.full((len(INTERVALS), len(self.stretches)), np.nan)
        if joint is not None:
            found = levels.conclude_intervals(joint.levels, joint.plan, self.rules)
            out[:] = [found[name][0] for name in INTERVALS]
        return out.reshape(*joints.shape[:-1], *out.shape)

    def _task(self, whole: _Stretch, names: Objects) -> _Task | None:
        """Take what all levels tell of a task, if it has any curves; refuse what cannot be profiled."""
        n_levels, name = whole.n_levels, str(names.item())
        present = self.present(whole.counts, np.array([float(n_levels)]), [name])[0]
        if not n_levels:
            return None
        doors.check_groups(present, name, self.algorithms, self.runs, paired=self.paired)
        if n_levels == 1:
            raise ValueError(f"{name}there is one training level; {CURE_OF_ONE_LEVEL}")
        doors.check_scale(np.array([whole.everything]), np.array([whole.differ]), [name])
        groups, sizes = _groups(present)
        own, everything = whole.means[np.newaxis, groups], np.array([whole.everything])
        total = _sums(whole, groups, sizes, own)
        return _Task(np.flatnonzero(present), groups, sizes, self.plan(sizes, work=n_levels), own, total, everything)

    def _select(self, curves: Floats, chosen: NDArray[np.intp] | None) -> tuple[NDArray[np.intp], Floats]:
        """Return the levels of a chunk that chosen whole curves have, and these there, shape (task, curve, level)."""
        flat = curves.reshape(1, -1, curves.shape[-1])
        if chosen is None:
            return np.empty(0, np.intp), flat
        flat = flat if len(chosen) == flat.shape[1] else flat[:, chosen]
        places = np.flatnonzero(~np.isnan(flat[0, 0]))
        return places, flat if len(places) == flat.shape[2] else flat[..., places]


def _groups(present: NDArray[np.bool_]) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """Return which algorithms have runs, and how many, from whether runs are present, shape (algorithm, run)."""
    sizes = present.sum(axis=1)
    return np.flatnonzero(sizes), tuple(sizes[sizes > 0].tolist())


def _sums(part: _Stretch, groups: NDArray[np.intp], sizes: tuple[int, ...], own: Floats) -> Floats:
    return profiles.sums(part.means[np.newaxis, groups], part.squares[np.newaxis, groups], part.n_levels, own, sizes)


def merge(parts: Sequence[_Stretch]) -> _Stretch:
    """Merge stretches of levels of a task (Chan, Golub & LeVeque, doi:10.1080/00031305.1983.10483115)."""
    n_levels, counts, means, squares, everything, differ = (np.array(each) for each in zip(*parts, strict=True))
    here = n_levels > 0
    if not here.any():
        return parts[0]
    weights, means = n_levels[here], means[here]
    with np.errstate(over="ignore", invalid="ignore"):  # huge scores are refused by those who ask for the task
        mean = weights @ means / weights.sum()
        square = squares[here].sum(axis=0) + weights @ (means - mean) ** 2
    return _Stretch(int(n_levels.sum()), counts.sum(axis=0), mean, square, float(everything.sum()), bool(differ.any()))


def pick(found: Objects, *, place: int) -> Objects:
    """Return one of several objects that a chunk gave, None if it gave none."""
    return boxed(None if found.item() is None else found.item()[place], found.ndim)


def number(joints: Objects) -> Objects:
    """Return the numbers and masses of the clusters of every chunk, once for all chunks."""
    joint = joints.item()
    if joint is None:
        return boxed(None, joints.ndim)
    numbers = clusters.number(list(joint.clusters.values()))
    return boxed(dict(zip(joint.clusters, numbers, strict=True)), joints.ndim)


def join(joints: Sequence[_Joint]) -> _Joint:
    """Join what chunks that follow one another say."""
    plans, jointly, found, largest = zip(*joints, strict=True)
    return _Joint(plans[0], levels.join(jointly), reduce(or_, found), np.maximum.reduce(largest))
