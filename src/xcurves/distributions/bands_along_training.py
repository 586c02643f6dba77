"""Bands of statistics of performance distributions along training, for all levels together."""

from __future__ import annotations

from functools import partial

import numpy as np

from xcurves.array_types import Bools, Floats, Ints
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Cure, Refusal, call
from xcurves.distributions.descriptions import Distributions
from xcurves.kernels.distributions import bootstrap, ecdf

_FRACTIONS = 20  # of a budget, that advice names at most


def bands(group: Group, described: Distributions) -> dict[str, Floats]:
    """Return bands of the statistics of groups of trials, shape (task, training, *core)."""
    n_tasks, n_levels = group.data[0].shape[:2]
    trials = group.data[0].reshape(n_tasks, n_levels, described.shape[0], -1)
    bands = np.full((n_tasks, n_levels, described.wanted.length, 2), np.nan)
    counted = described.counted(group)
    for task, name in enumerate(group.names):
        curves = trials[task][:, counted[task]]
        if not curves.size:
            continue
        has = ~np.isnan(curves)
        known = has.any(axis=-1).all(axis=-1)
        present = has[known.argmax()]
        _check(curves, has[known], present, name)
        sizes = present.sum(axis=-1)
        # One trial shows no spread.
        if known.any() and sizes.min() > 1:
            bands[task, known] = bootstrap.statistic_bands(
                curves[known][:, present],
                sizes,
                partial(_observe, described, sizes=sizes),
                described.n_resamples,
                described.alpha,
                described.entropy,
            )
    return {"statistic_ci": bands}


def _observe(described: Distributions, samples: Floats, sizes: Ints) -> Floats:
    """Return the statistics of samples, stratum after stratum of these sizes."""
    n_trials = samples.shape[1]
    if (sizes == sizes[0]).all():
        x = np.sort(samples, axis=-1)
        n = np.full(len(x), n_trials)
        return described.wanted.observe(x, ecdf.CentredSums(x, n))
    order = np.argsort(samples, axis=-1, kind="stable")
    x = np.take_along_axis(samples, order, axis=-1)
    weight = np.repeat(n_trials / (len(sizes) * sizes), sizes)
    cumulative = np.cumsum(weight[order], axis=-1)[:, np.newaxis]
    return described.weighted.resampled(x, cumulative)[:, 0]


def _check(trials: Floats, has: Bools, present: Bools, name: str) -> None:
    """Refuse trials of a task that lack levels at which others are present, and infinite ones."""
    if (has != present).any():
        n_levels = min(_FRACTIONS, len(trials))
        raise Refusal(
            "simultaneous",
            UNSAID,
            f"{name}simultaneous='training' needs every trial at every training level; some lack levels",
            Cure(
                "Bring them to common levels: ",
                call(".curves.align", "intersection"),
                " or ",
                call(".curves.align", n_levels, relative_to="budget"),
            ),
        )
    infinite = trials[np.isinf(trials)]
    if infinite.size:
        raise Refusal(
            "simultaneous",
            UNSAID,
            f"{name}simultaneous='training' needs finite scores; some are {infinite[0]:g}",
            Cure("Leave simultaneous out, or say what failed runs count as: ", call(".curves.fill_failed", "worst")),
        )
