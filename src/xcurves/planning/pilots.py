"""Pilot runs drawn with replacement: data sets larger than the pilots, and other pilots that might have been run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
import xarray as xr

from xcurves.array_types import Floats, Ints
from xcurves.core import labels, provenance
from xcurves.core.refusal import Refusal, Verbatim
from xcurves.core.validation import Bar, check_curves
from xcurves.planning.replications import REPLICATION, Replications

N_SETS, N_DATASETS = 200, 10
_VALUES_AT_ONCE = 2**22
_ROUNDING = 1e-9  # of scores, within which two are one


@dataclass(frozen=True)
class PilotSets:
    """Sets of pilot runs, and data sets drawn from each with replacement: a generator."""

    means: Sequence[Floats]  # of each algorithm, (..., training)
    # the pilot runs of each algorithm less their mean, (..., run, training)
    residuals: Sequence[Floats]
    # which pilot runs of each algorithm are in each set, (set, run)
    chosen: Sequence[Ints]
    redrawn: bool  # whether sets are drawn with replacement
    n_datasets: int  # drawn from each set, 0 if all are drawn from the first
    # of data sets, without replication, algorithm, run and training
    dims: tuple[Hashable, ...]
    coords: Mapping[Hashable, Any]

    def _of_redrawn(self, n_pilots: int) -> float:
        """Return what residuals of sets that are drawn with replacement are multiplied by, 1 of the pilots as they are.

        Of n values drawn from n the variance is too small by (n - 1)/n on average.
        """
        if not self.redrawn:
            return 1.0
        return float(np.sqrt(n_pilots / (n_pilots - 1)))

    def __call__(self, n_datasets: int, *, n_runs: int, first: int = 0, rng: np.random.Generator) -> xr.DataArray:
        """Draw data sets of so many runs of each algorithm, from the sets from `first` on, in their order."""
        sets = first + np.arange(n_datasets) // (self.n_datasets or n_datasets)
        drawn = [self._draw(place, sets, n_runs, rng) for place in range(len(self.means))]
        coords = {**self.coords, "run": np.arange(n_runs)}
        return xr.DataArray(np.stack(drawn, axis=-3), coords, (REPLICATION, *self.dims, *labels.DIMS))

    def _draw(self, place: int, sets: Ints, n_runs: int, rng: np.random.Generator) -> Floats:
        """Return runs of one algorithm, shape (replication, ..., run, training)."""
        chosen = self.chosen[place]
        n_pilots = chosen.shape[1]
        # drawn runs vary too little, by (n - 1)/n in variance
        inflation = np.sqrt(n_pilots / (n_pilots - 1))
        distinct, of_dataset = np.unique(sets, return_inverse=True)
        runs = self.residuals[place][..., chosen[distinct], :] * self._of_redrawn(n_pilots)
        centre = runs.mean(axis=-2, keepdims=True)
        runs = self.means[place][..., np.newaxis, np.newaxis, :] + centre + inflation * (runs - centre)
        drawn: Floats = runs[
            ...,
            of_dataset[:, np.newaxis],
            rng.integers(n_pilots, size=(len(sets), n_runs)),
            :,
        ]
        return np.moveaxis(drawn, -3, 0)


@dataclass(frozen=True)
class TaskSets(PilotSets):
    """Sets of tasks with their pilot runs, and benchmarks of as many tasks drawn from each: means are (task, 1)."""

    tasks: Ints  # which tasks are in each set, (set, task)

    def __call__(self, n_datasets: int, *, n_runs: int, first: int = 0, rng: np.random.Generator) -> xr.DataArray:
        """Draw benchmarks of tasks like these, with so many runs of each algorithm in each task."""
        sets = first + np.arange(n_datasets) // (self.n_datasets or n_datasets)
        n_tasks = self.tasks.shape[1]
        picked = self.tasks[sets[:, np.newaxis], rng.integers(n_tasks, size=(n_datasets, n_tasks))]
        drawn = [self._draw_tasks(place, sets, picked, n_runs, rng) for place in range(len(self.means))]
        coords = {**self.coords, "run": np.arange(n_runs)}
        return xr.DataArray(np.stack(drawn, axis=-3), coords, (REPLICATION, *self.dims, *labels.DIMS))

    def _draw_tasks(
        self,
        place: int,
        sets: Ints,
        picked: Ints,
        n_runs: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Return runs of one algorithm in the tasks that are drawn, shape (replication, task, run, 1)."""
        means = self._means_of_tasks(place, sets, picked)
        chosen = self.chosen[place][sets]  # (replication, run)
        n_pilots = chosen.shape[1]
        inflation = np.sqrt(n_pilots / (n_pilots - 1))
        which = rng.integers(n_pilots, size=(*picked.shape, n_runs))
        run = chosen[np.arange(len(sets))[:, np.newaxis, np.newaxis], which]
        residuals = self.residuals[place][picked[..., np.newaxis], run, 0]
        drawn: Floats = means[..., np.newaxis] + inflation * self._of_redrawn(n_pilots) * residuals
        return drawn[..., np.newaxis]

    def _means_of_tasks(self, place: int, sets: Ints, picked: Ints) -> Floats:
        """Return means in the tasks that are drawn: drawn ones vary too little, by (T - 1)/T in variance."""
        n_tasks = self.tasks.shape[1]
        inflation = np.sqrt(n_tasks / max(n_tasks - 1, 1))
        of_redrawn = 1.0
        if self.redrawn:
            of_redrawn = inflation
        mean = self.means[place][:, 0]
        centre = mean.mean()

        # Twice: the tasks of a set are drawn from those of the study, the tasks of a data set from those of the set.
        of_set = centre + of_redrawn * (mean[self.tasks] - centre)  # (set, task)
        middle = of_set.mean(axis=1)[sets][:, np.newaxis]
        of_dataset = centre + of_redrawn * (mean[picked] - centre)
        drawn: Floats = middle + inflation * (of_dataset - middle)
        return drawn


def of_tasks_like_these(given: PilotSets) -> TaskSets:
    """Return sets of tasks that are drawn with their runs, whose means differ as without the noise of the pilots."""
    means = np.stack([mean[:, 0] for mean in given.means])  # (algorithm, task)
    noise = np.mean([each[..., 0].var(axis=1, ddof=1).mean() / each.shape[1] for each in given.residuals])
    of_algorithms, of_tasks = (
        means.mean(axis=1, keepdims=True),
        means.mean(axis=0, keepdims=True),
    )
    interaction = means - of_algorithms - of_tasks + means.mean()
    spread = (interaction**2).sum() / max((len(means) - 1) * (means.shape[1] - 1), 1)
    kept = 0.0  # the share of the interaction that is not noise of the pilots
    if spread > noise:
        kept = np.sqrt(1.0 - noise / spread)
    true = of_algorithms + of_tasks - means.mean() + kept * interaction
    return TaskSets(
        means=list(true[..., np.newaxis]),
        residuals=given.residuals,
        chosen=given.chosen,
        redrawn=given.redrawn,
        n_datasets=given.n_datasets,
        dims=given.dims,
        coords=given.coords,
        tasks=np.arange(means.shape[1])[np.newaxis],
    )


def pool_of(curves: xr.DataArray) -> tuple[xr.DataArray, Ints]:
    """Return the curves that are there, dims (..., _curve, training), and the place of the algorithm of each."""
    curves = check_curves(curves)
    present = curves.notnull().any("training")
    others = [dim for dim in present.dims if dim not in ("algorithm", "run")]
    if not bool((present.any(others) == present.all(others)).all()):
        raise Refusal(
            "curves",
            Verbatim("others"),
            "must have the same runs in every task",
            "Select one task",
        )
    flat = curves.transpose(..., *labels.DIMS).stack(_curve=("algorithm", "run"), create_index=False)
    flat = flat.drop_vars([name for name, coord in flat.coords.items() if "_curve" in coord.dims])
    flat = flat.transpose(..., "_curve", "training")
    there = np.flatnonzero(present.any(others).transpose("algorithm", "run").to_numpy())
    return flat.isel(_curve=there), there // curves.sizes["run"]


def pilots(curves: xr.DataArray) -> PilotSets:
    """Return the pilot runs as the only set."""
    pool, owners = pool_of(curves)
    names = check_curves(curves)["algorithm"].to_numpy().tolist()
    runs = [pool.to_numpy()[..., owners == i, :] for i in range(len(names))]
    means = [each.mean(axis=-2) for each in runs]
    return PilotSets(
        means=means,
        residuals=[each - mean[..., np.newaxis, :] for each, mean in zip(runs, means, strict=True)],
        chosen=[np.arange(each.shape[-2])[np.newaxis] for each in runs],
        redrawn=False,
        n_datasets=0,
        dims=pool.dims[:-2],
        coords={**pool.coords, "algorithm": names},
    )


def are_one(given: PilotSets) -> bool:
    """Whether the runs of each algorithm are those of the first, all times one number or all more by one number.

    So are ``xr.concat([a, 1.1 * a], "algorithm")`` and pilots that were raised by the difference to plan for.
    """
    first, *others = (
        mean[..., np.newaxis, :] + of_runs for mean, of_runs in zip(given.means, given.residuals, strict=True)
    )
    of_first, _ = _in_units(first)
    for each in others:
        if each.shape != first.shape:
            return False
        of_each, unit = _in_units(each)  # no square of a large score is infinite
        times = (of_each * of_first).sum() / max((of_first**2).sum(), np.finfo(float).tiny)
        shift = (each - first).mean()
        apart = [np.abs(of_each - times * of_first).max(), np.abs(each - first - shift).max() / unit]
        if min(apart) > _ROUNDING:
            return False
    return True


def _in_units(runs: Floats) -> tuple[Floats, float]:
    """Return runs in units of their largest score, and this unit."""
    unit = float(np.abs(runs).max()) or 1.0
    return runs / unit, unit


def in_fewer_levels(given: PilotSets) -> PilotSets:
    """Return pilots of no more levels than runs, of which every data set has the same moments."""
    # The ANOVA needs means of curves and products of what is left: these are turned into the space that the pilots
    # span; a rotation then gives all levels the same share of the mean.
    sizes = [each.shape[-2] for each in given.residuals]
    parts = zip(given.means, given.residuals, strict=True)
    rows = np.concatenate([np.concatenate([m[..., np.newaxis, :], r], axis=-2) for m, r in parts], axis=-2)
    n_rows, n_levels = rows.shape[-2:]
    if n_levels <= n_rows + 1 or not np.isfinite(rows).all():
        return given
    level = rows.mean(axis=-1, keepdims=True)
    basis = np.linalg.qr((rows - level).swapaxes(-1, -2))[0]
    coordinates = np.concatenate([np.sqrt(n_levels) * level, (rows - level) @ basis], axis=-1)
    turned = coordinates @ scipy.linalg.helmert(n_rows + 1, full=True)
    of_algorithms = np.split(turned, np.cumsum([1 + size for size in sizes])[:-1], axis=-2)
    return replace(
        given,
        means=[each[..., 0, :] for each in of_algorithms],
        residuals=[each[..., 1:, :] for each in of_algorithms],
        coords={name: coord for name, coord in given.coords.items() if "training" not in getattr(coord, "dims", ())}
        | {"training": np.arange(n_rows + 1.0)},
    )


def redrawn(given: PilotSets, rng: np.random.Generator, *, together: bool) -> PilotSets:
    """Return sets of pilot runs drawn with replacement; `together` the same runs of each algorithm."""
    chosen = [rng.integers(each.size, size=(N_SETS, each.size)) for each in given.chosen]
    if together:
        chosen = [chosen[0] for _ in chosen]
    if isinstance(given, TaskSets):
        n_tasks = given.tasks.shape[1]
        given = replace(given, tasks=rng.integers(n_tasks, size=(N_SETS, n_tasks)))
    return replace(given, chosen=chosen, redrawn=True, n_datasets=N_DATASETS)


def rates_of_sets(simulation: Replications, sets: PilotSets, n_runs: Sequence[int], bar: Bar) -> Floats:
    """Return how often the test rejects data sets of each set, shape (set, *dims of the p-value, n_runs)."""
    simulation = replace(simulation, generator=sets)
    n_values = sum(mean.size for mean in sets.means)  # in one run of every algorithm
    found = []
    for size in bar(n_runs):
        at_once = max(1, _VALUES_AT_ONCE // (n_values * size * sets.n_datasets))
        blocks = []
        for first in range(0, N_SETS, at_once):
            n_drawn = min(at_once, N_SETS - first) * sets.n_datasets
            blocks.append(simulation.tested({"n_runs": size, "first": first}, 0, n_drawn)[1])
        p = np.concatenate(blocks)
        p = p.reshape(N_SETS, sets.n_datasets, *p.shape[1:])
        tried = np.count_nonzero(~np.isnan(p), axis=1)
        rejected = np.count_nonzero(provenance.significant(p, simulation.alpha), axis=1)
        found.append(rejected / np.where(tried > 0, tried, np.nan))
    return np.stack(found, axis=-1)
