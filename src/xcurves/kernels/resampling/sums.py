"""Sums of squares of the two-way ANOVA from the means z̄ and co-moments C of curves, as in Piater & Cohen.

``SS_algorithm = k Σ_i (Σ_{j∈i} z̄_j)² / l_i`` of ``k Σ_j z̄_j²``, ``SS_interaction = Σ_i (Σ_{j,j'∈i} C_jj') / l_i`` of
trace C: totals that no shuffle changes. Effects are (algorithm, interaction), error terms (pooled, split_plot); the
last axis of sums of squares is that of shuffles, of which there is one as observed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from xcurves.array_types import Floats
from xcurves.kernels.resampling.batches import in_stretches, rows_that_fit
from xcurves.kernels.resampling.engine import (
    Progress,
    compare_with_null,
    n_rare,
    squared_sums,
)
from xcurves.kernels.resampling.group_products import (
    squares_of_pairs,
    squares_over_groups,
)
from xcurves.kernels.resampling.moments import is_factor, trace
from xcurves.kernels.resampling.plans import TIE, RunPlan

_TASKS = 64  # tested together


class AnovaDesign(NamedTuple):
    """What the shuffles need from tasks with the same number of levels and the same present runs."""

    means: Floats  # (task, curve), of level-centred curves; if paired, centred within runs too
    comoment: Floats  # (task, curve, curve) of curve-centred curves, or a factor; paired as the means
    n_levels: int
    sizes: tuple[int, ...]  # of the groups, in the order of the curves
    paired: bool  # whether run j is matched over the algorithms
    totals: Floats  # (effect, task, 1): SS plus that of its own error; 0 where only rounding
    rest: Floats  # (task, 1): further terms of the pooled error, of runs if paired

    @property
    def rounding(self) -> Floats:
        """Effects and errors up to this are rounding errors, shape (effect, task, 1)."""
        return np.asarray(self.means.shape[-1] * np.finfo(float).eps * self.totals)

    def panel(self, some: slice) -> AnovaDesign:
        """Return the design of some of the tasks."""
        return self._replace(
            means=self.means[some],
            comoment=self.comoment[some],
            totals=self.totals[:, some],
            rest=self.rest[some],
        )


def make_design(
    means: Floats,
    comoment: Floats,
    n_levels: int,
    sizes: tuple[int, ...],
    magnitude: Floats,
    within: tuple[Floats, Floats] | None = None,
) -> AnovaDesign:
    """Find the invariants of the shuffles; `magnitude` of the scores says what rounds, `within` has centred runs."""
    all_totals = _effect_totals(means, comoment, n_levels)
    rounding = (
        64
        * np.finfo(float).eps ** 2
        * (magnitude[:, np.newaxis] + sum(sizes) * all_totals.sum(axis=0))
    )
    if within is not None:
        means, comoment = _centre_runs(*within, sizes)
    totals = _effect_totals(means, comoment, n_levels)
    rest = (all_totals - totals).sum(axis=0)
    rest = np.where(
        rest <= sum(sizes) * np.finfo(float).eps * all_totals.sum(axis=0), 0.0, rest
    )
    totals = np.where(totals <= rounding, 0.0, totals)
    return AnovaDesign(
        means, comoment, n_levels, sizes, within is not None, totals, rest
    )


def _effect_totals(means: Floats, comoment: Floats, n_levels: int) -> Floats:
    return np.stack([n_levels * (means**2).sum(axis=-1), trace(comoment)])[
        ..., np.newaxis
    ]


def _centre_runs(
    means: Floats, comoment: Floats, sizes: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """Subtract the mean over algorithms from every run."""
    shape = (len(sizes), sizes[0])
    grid = means.reshape(-1, *shape)
    grid = grid - grid.mean(axis=1, keepdims=True)
    products = comoment.reshape(
        len(comoment), *shape, *(comoment.shape[2:] if is_factor(comoment) else shape)
    )
    products = products - products.mean(axis=1, keepdims=True)
    if not is_factor(comoment):
        products = products - products.mean(axis=3, keepdims=True)
    return grid.reshape(means.shape), products.reshape(comoment.shape)


def effect_sums(design: AnovaDesign) -> Floats:
    """Return SS_algorithm and SS_interaction as observed, shape (effect, task, 1)."""
    sizes, comoment = design.sizes, design.comoment
    observed = np.repeat(np.arange(len(sizes)), sizes)[np.newaxis]
    alone = np.sqrt(design.n_levels) * design.means[:, np.newaxis]
    if is_factor(comoment):
        squares = (
            squares_over_groups(each, observed, sizes)
            for each in (alone, comoment.swapaxes(1, 2))
        )
        sums = np.stack([square.sum(axis=1) for square in squares])
    else:
        sums = squares_of_pairs(alone, comoment, observed, sizes)
    return np.where(sums <= design.rounding, 0.0, sums)


def shared_sums(design: AnovaDesign, sums: Floats) -> Floats:
    """Return SS + error SS, with the pooled error that of both effects: (effect, error_term, task, shuffle)."""
    own = np.broadcast_to(design.totals, sums.shape)
    other = _residuals(design, sums)[::-1]
    return np.stack([own + other + design.rest, own], axis=1)


def error_sums(design: AnovaDesign, sums: Floats) -> Floats:
    """Return the error SS of every effect and error term, shape (effect, error_term, task, shuffle)."""
    own = _residuals(design, sums)
    return np.stack([own + own[::-1] + design.rest, own], axis=1)


def _residuals(design: AnovaDesign, sums: Floats) -> Floats:
    """Return the totals less the effects, shape as `sums`."""
    left = design.totals - sums
    return np.where(left <= design.rounding, 0.0, left)


def degrees_of_freedom(design: AnovaDesign) -> tuple[Floats, Floats]:
    """Return the df of the effects, shape (effect, 1), and of their errors, shape (effect, error_term)."""
    n_groups, n_curves, n_levels = len(design.sizes), sum(design.sizes), design.n_levels
    between = n_groups - 1
    within = between * (design.sizes[0] - 1) if design.paired else n_curves - n_groups
    pooled = n_levels * (n_curves - n_groups)
    effect = np.array([[between], [between * (n_levels - 1)]], float)
    return effect, np.array(
        [[pooled, within], [pooled, within * (n_levels - 1)]], float
    )


def f_ratios(design: AnovaDesign, sums: Floats) -> Floats:
    """Return F = (SS / df) / (error SS / error df), shape as `error_sums`; infinite without error, 0 / 0 NaN."""
    df, df_error = (
        each[..., np.newaxis, np.newaxis] for each in degrees_of_freedom(design)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            sums[:, np.newaxis] / df / (error_sums(design, sums) / df_error)
        )


def sums_of_squares_table(design: AnovaDesign, level_ss: Floats) -> dict[str, Floats]:
    """Return the ANOVA table as observed, tasks in front; `level_ss` is that of the pool's mean curve."""
    sums = effect_sums(design)
    effect, error, f = (
        each[..., 0]
        for each in (sums, error_sums(design, sums), f_ratios(design, sums))
    )
    df, df_error = degrees_of_freedom(design)
    n_curves, n_scores = sum(design.sizes), sum(design.sizes) * design.n_levels
    # of effects and errors
    n_values = np.array([[n_scores, n_curves], [n_scores, n_scores]], float)
    training = n_curves * level_ss
    ss = np.stack(
        [
            effect[1],
            effect[0],
            training,
            error[0, 0],
            effect.sum(axis=0) + training + error[0, 0],
        ]
    )
    df_source = np.array(
        [df[1, 0], df[0, 0], design.n_levels - 1, df_error[0, 0], n_scores - 1]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        partial = effect[:, np.newaxis] / (effect[:, np.newaxis] + error)
        # Olejnik & Algina, all error
        generalized = effect[:, np.newaxis] / (effect[:, np.newaxis] + error[:, :1])
        mean_square = error / df_error[..., np.newaxis]
        by_chance = df[..., np.newaxis] * mean_square  # of the effect's sum of squares
        others = (n_values - df)[..., np.newaxis] * mean_square
        omega = (effect[:, np.newaxis] - by_chance) / (effect[:, np.newaxis] + others)
    found = {
        "f": f,
        "ss": ss,
        "df": np.broadcast_to(df_source[:, np.newaxis], ss.shape),
        "error_ss": error,
        "error_df": np.broadcast_to(df_error[..., np.newaxis], f.shape),
        "eta_sq_partial": partial,
        "omega_sq_partial": omega,
        "eta_sq_generalized": np.broadcast_to(generalized, f.shape),
        "pvalue_parametric": scipy.special.fdtrc(
            df[..., np.newaxis], df_error[..., np.newaxis], f
        ),
    }
    return {name: np.moveaxis(values, -1, 0) for name, values in found.items()}


def f_tests(
    design: AnovaDesign,
    plan: RunPlan,
    alpha: float,
    *,
    keep: bool = False,
    batch: int | None = None,
    progress: Progress = lambda blocks: blocks,
) -> dict[str, Floats]:
    """Compare the observed F with those of every reassignment: arrays of shape (task, effect, error_term)."""
    width = min(_TASKS, rows_that_fit(8 * 8 * n_rare(plan, alpha)))
    return in_stretches(
        lambda some: _f_panel(design.panel(some), plan, alpha, keep, batch, progress),
        len(design.means),
        width,
    )


def _f_panel(
    design: AnovaDesign,
    plan: RunPlan,
    alpha: float,
    keep: bool,
    batch: int | None,
    progress: Progress,
) -> dict[str, Floats]:
    """Count on the scale of R = SS / (SS + error SS), which increases with F and stays finite; 0 / 0 is a tie."""
    sums = effect_sums(design)
    observed = f_ratios(design, sums)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = shared_sums(design, sums)
        share = sums[:, np.newaxis] / shared
        slack = TIE * design.totals[:, np.newaxis] + share * np.stack(
            [design.rounding[::-1], np.zeros_like(design.rounding)], axis=1
        )
        least = (share - slack / shared)[..., 0]

    def shares() -> Iterator[Floats]:
        means = np.sqrt(design.n_levels) * design.means
        rank = min(sum(design.sizes), design.n_levels) - 1
        for shuffled in squared_sums(
            means, design.comoment, rank, plan, batch, progress
        ):
            shared = shared_sums(design, shuffled)
            yield np.divide(
                shuffled[:, np.newaxis],
                shared,
                out=np.ones(shared.shape),
                where=shared > 0,
            )

    found = compare_with_null(
        shares(), least, plan, alpha, observed, partial(_f_of_share, design), keep=keep
    )
    return {name: np.moveaxis(values, 2, 0) for name, values in found.items()}


def _f_of_share(design: AnovaDesign, share: Floats) -> Floats:
    """Turn R = SS / (SS + error SS), shape (effect, error_term, task[, shuffle]), at most 1, into F."""
    df, df_error = degrees_of_freedom(design)
    share = np.minimum(share, 1.0)
    rest = 1 - share
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = share / np.where(
            rest <= sum(design.sizes) * np.finfo(float).eps, 0.0, rest
        )
        return np.asarray(
            ratio * (df_error / df).reshape(2, 2, *[1] * (share.ndim - 2))
        )


def squared_difference(
    first: Floats, squares: Floats | None, total: Floats, sizes: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """Return the squared difference of the means of two groups, and its variance, of numbers that add up to 0.

    `first` and `squares` are sums over the first group, the latter needed of unlike sizes only; `total` is of squares.
    """
    size = np.array(sizes, float)
    by_square = 1 / (size * (size - 1))
    square = first * first
    variance = -(by_square / size).sum() * square
    variance += by_square[1] * total
    if squares is not None:
        variance += (by_square[0] - by_square[1]) * squares
    square *= (1 / size).sum() ** 2
    return square, variance
