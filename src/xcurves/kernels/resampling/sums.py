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

_TASKS = 64  # tested together at most, however few of their values are kept


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
    n_curves, eps = sum(sizes), np.finfo(float).eps
    all_totals = _effect_totals(means, comoment, n_levels)
    # Deviations are off by about eps times a score, and sums of their squares by eps² times that of the scores: 64 is
    # a margin.
    everything = all_totals.sum(axis=0)
    rounding = 64 * eps**2 * (magnitude[:, np.newaxis] + n_curves * everything)

    # Paired, shuffles within runs leave the sums of squares of runs, and of runs by training, as they are: those take
    # part in the pooled error only.
    if within is not None:
        means, comoment = _centre_runs(*within, sizes)
    totals = _effect_totals(means, comoment, n_levels)
    of_runs = (all_totals - totals).sum(axis=0)
    rest = np.where(of_runs <= n_curves * eps * everything, 0.0, of_runs)

    totals = np.where(totals <= rounding, 0.0, totals)
    is_paired = within is not None
    return AnovaDesign(means, comoment, n_levels, sizes, is_paired, totals, rest)


def _effect_totals(means: Floats, comoment: Floats, n_levels: int) -> Floats:
    """Return SS_algorithm and SS_interaction, each with its own error, shape (effect, task, 1)."""
    of_algorithm = n_levels * (means**2).sum(axis=-1)
    return np.stack([of_algorithm, trace(comoment)])[..., np.newaxis]


def _centre_runs(means: Floats, comoment: Floats, sizes: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Subtract the mean over algorithms from every run."""
    by_run = (len(sizes), sizes[0])
    grid = means.reshape(-1, *by_run)
    centred = grid - grid.mean(axis=1, keepdims=True)

    # A factor has curves in its rows, co-moments in rows and columns.
    if is_factor(comoment):
        rows = comoment.reshape(len(comoment), *by_run, comoment.shape[2])
        products = rows - rows.mean(axis=1, keepdims=True)
    else:
        pairs = comoment.reshape(len(comoment), *by_run, *by_run)
        products = pairs - pairs.mean(axis=1, keepdims=True)
        products = products - products.mean(axis=3, keepdims=True)
    return centred.reshape(means.shape), products.reshape(comoment.shape)


def effect_sums(design: AnovaDesign) -> Floats:
    """Return SS_algorithm and SS_interaction as observed, shape (effect, task, 1)."""
    sizes, comoment = design.sizes, design.comoment
    observed = np.repeat(np.arange(len(sizes)), sizes)[np.newaxis]
    # so that squares have the factor k of SS_algorithm
    alone = np.sqrt(design.n_levels) * design.means[:, np.newaxis]
    if is_factor(comoment):
        of_algorithm = squares_over_groups(alone, observed, sizes)
        of_levels = squares_over_groups(comoment.swapaxes(1, 2), observed, sizes)
        sums = np.stack([of_algorithm.sum(axis=1), of_levels.sum(axis=1)])
    else:
        sums = squares_of_pairs(alone, comoment, observed, sizes)
    return np.where(sums <= design.rounding, 0.0, sums)


def shared_sums(design: AnovaDesign, sums: Floats) -> Floats:
    """Return SS + error SS, with the pooled error that of both effects: (effect, error_term, task, shuffle)."""
    # SS and its own error add up to a total that no shuffle changes. The pooled error has the other effect's error too,
    # which a shuffle does change: [::-1] exchanges the two effects.
    total = np.broadcast_to(design.totals, sums.shape)
    error_of_other = _residuals(design, sums)[::-1]
    return np.stack([total + error_of_other + design.rest, total], axis=1)


def error_sums(design: AnovaDesign, sums: Floats) -> Floats:
    """Return the error SS of every effect and error term, shape (effect, error_term, task, shuffle)."""
    error = _residuals(design, sums)
    return np.stack([error + error[::-1] + design.rest, error], axis=1)


def _residuals(design: AnovaDesign, sums: Floats) -> Floats:
    """Return the totals less the effects, shape as `sums`."""
    rest = design.totals - sums
    return np.where(rest <= design.rounding, 0.0, rest)


def degrees_of_freedom(design: AnovaDesign) -> tuple[Floats, Floats]:
    """Return the df of the effects, shape (effect, 1), and of their errors, shape (effect, error_term)."""
    n_groups, n_curves, n_levels = len(design.sizes), sum(design.sizes), design.n_levels
    between = n_groups - 1
    # of runs within algorithms, or of runs by algorithms
    within = n_curves - n_groups
    if design.paired:
        within = between * (design.sizes[0] - 1)
    pooled = n_levels * (n_curves - n_groups)
    effect = np.array([[between], [between * (n_levels - 1)]], float)
    return effect, np.array([[pooled, within], [pooled, within * (n_levels - 1)]], float)


def f_ratios(design: AnovaDesign, sums: Floats) -> Floats:
    """Return F = (SS / df) / (error SS / error df), shape as `error_sums`; infinite without error, 0 / 0 NaN."""
    df, df_error = degrees_of_freedom(design)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_square = sums[:, np.newaxis] / df[..., np.newaxis, np.newaxis]
        of_error = error_sums(design, sums) / df_error[..., np.newaxis, np.newaxis]
        return np.asarray(mean_square / of_error)


def sums_of_squares_table(design: AnovaDesign, level_ss: Floats) -> dict[str, Floats]:
    """Return the ANOVA table as observed, tasks in front; `level_ss` is that of the pool's mean curve."""
    sums = effect_sums(design)
    effect = sums[..., 0]
    error = error_sums(design, sums)[..., 0]
    f = f_ratios(design, sums)[..., 0]
    df, df_error = degrees_of_freedom(design)

    # The rows of the table: interaction, algorithm, training, pooled error, and all together.
    n_curves = sum(design.sizes)
    training = n_curves * level_ss
    pooled = error[0, 0]
    everything = effect.sum(axis=0) + training + pooled
    ss = np.stack([effect[1], effect[0], training, pooled, everything])
    df_of_all = n_curves * design.n_levels - 1
    df_source = np.array([df[1, 0], df[0, 0], design.n_levels - 1, df_error[0, 0], df_of_all])

    table = {
        "f": f,
        "ss": ss,
        "df": np.broadcast_to(df_source[:, np.newaxis], ss.shape),
        "error_ss": error,
        "error_df": np.broadcast_to(df_error[..., np.newaxis], f.shape),
        **_effect_sizes(design, effect, error),
        "pvalue_parametric": scipy.special.fdtrc(df[..., np.newaxis], df_error[..., np.newaxis], f),
    }
    return {name: np.moveaxis(values, -1, 0) for name, values in table.items()}


def _effect_sizes(design: AnovaDesign, effect: Floats, error: Floats) -> dict[str, Floats]:
    """Return η² and ω² of effects, shape (effect, task), by errors, shape (effect, error_term, task)."""
    df, df_error = degrees_of_freedom(design)
    n_curves, n_scores = sum(design.sizes), sum(design.sizes) * design.n_levels
    # What an effect and its error are made of, by effect and error term: curves where the algorithm is compared with
    # runs, else scores.
    n_values = np.array([[n_scores, n_curves], [n_scores, n_scores]], float)
    effect = effect[:, np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        partial = effect / (effect + error)
        # Olejnik & Algina: all error, whatever the design
        generalized = effect / (effect + error[:, :1])
        # ω² = (SS - df MS_error) / (SS + (n - df) MS_error): less what chance alone gives to the effect
        mean_square = error / df_error[..., np.newaxis]
        by_chance = df[..., np.newaxis] * mean_square
        others = (n_values - df)[..., np.newaxis] * mean_square
        omega = (effect - by_chance) / (effect + others)
    return {
        "eta_sq_partial": partial,
        "omega_sq_partial": omega,
        "eta_sq_generalized": np.broadcast_to(generalized, error.shape),
    }


def f_tests(
    design: AnovaDesign,
    plan: RunPlan,
    alpha: float,
    *,
    keep: bool = False,
    progress: Progress = lambda blocks: blocks,
) -> dict[str, Floats]:
    """Compare the observed F with those of every reassignment: arrays of shape (task, effect, error_term)."""
    # The largest values are kept for the critical value: doubles of 2 effects by 2 error terms, up to twice as many as
    # are rare.
    width = min(_TASKS, rows_that_fit(8 * 8 * n_rare(plan, alpha)))
    return in_stretches(
        lambda some: _f_panel(design.panel(some), plan, alpha, keep, progress),
        len(design.means),
        width,
    )


def _f_panel(
    design: AnovaDesign,
    plan: RunPlan,
    alpha: float,
    keep: bool,
    progress: Progress,
) -> dict[str, Floats]:
    """Count on the scale of R = SS / (SS + error SS), which increases with F and stays finite; 0 / 0 is a tie."""
    sums = effect_sums(design)
    observed = f_ratios(design, sums)[..., 0]
    tested = compare_with_null(
        _shuffled_shares(design, plan, progress),
        _least_shares(design, sums),
        plan,
        alpha,
        observed,
        partial(_f_of_share, design),
        keep=keep,
    )
    return {name: np.moveaxis(values, 2, 0) for name, values in tested.items()}


def _least_shares(design: AnovaDesign, sums: Floats) -> Floats:
    """Return the least R that ties with the observed one, shape (effect, error_term, task)."""
    # Two SS tie within `TIE` of the total, never of a part of it that another scale makes small. Beside that the pooled
    # error has that of the other effect, in which all up to `rounding` is 0: what that changes in R = SS / (SS + error)
    # is R times it over the denominator.
    no_slack = np.zeros_like(design.rounding)
    of_denominator = np.stack([design.rounding[::-1], no_slack], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = shared_sums(design, sums)
        share = sums[:, np.newaxis] / shared
        slack = TIE * design.totals[:, np.newaxis] + share * of_denominator
        return np.asarray((share - slack / shared)[..., 0])


def _shuffled_shares(design: AnovaDesign, plan: RunPlan, progress: Progress) -> Iterator[Floats]:
    """Yield R of reassignments, shape (effect, error_term, task, shuffle); 1 where there is nothing to share."""
    means = np.sqrt(design.n_levels) * design.means
    # Numbers add up to 0 over the curves at each level, and over the levels in each curve.
    rank = min(sum(design.sizes), design.n_levels) - 1
    for shuffled in squared_sums(means, design.comoment, rank, plan, progress):
        shared = shared_sums(design, shuffled)
        ones = np.ones(shared.shape)
        yield np.divide(shuffled[:, np.newaxis], shared, out=ones, where=shared > 0)


def _f_of_share(design: AnovaDesign, share: Floats) -> Floats:
    """Turn R = SS / (SS + error SS), shape (effect, error_term, task[, shuffle]), at most 1, into F."""
    # F = (SS / df) / (error / df_error) with SS / error = R / (1 - R); infinite where 1 - R is only rounding error.
    df, df_error = degrees_of_freedom(design)
    share = np.minimum(share, 1.0)
    rest = 1 - share
    rest = np.where(rest <= sum(design.sizes) * np.finfo(float).eps, 0.0, rest)
    # An interaction at one level has no degree of freedom.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio_of_df = np.expand_dims(df_error / df, tuple(range(2, share.ndim)))
        return np.asarray(share / rest * ratio_of_df)


def squared_difference(
    first: Floats, squares: Floats | None, total: Floats, sizes: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """Return the squared difference of the means of two groups, and its variance, of numbers that add up to 0.

    `first` and `squares` are sums over the first group, the latter needed of unlike sizes only; `total` is of squares.
    """
    # With s = s_1 = -s_2 and squares q_1 + q_2 = Q: s_1 / l_1 - s_2 / l_2 = (1 / l_1 + 1 / l_2) s, and with b_g = 1 /
    # (l_g (l_g - 1)) the variance Σ_g b_g (q_g - s_g² / l_g) = (b_1 - b_2) q_1 + b_2 Q - (b_1 / l_1 + b_2 / l_2) s².
    size = np.array(sizes, float)
    b = 1 / (size * (size - 1))
    square = first * first
    variance = -(b / size).sum() * square
    variance += b[1] * total
    if squares is not None:
        variance += (b[0] - b[1]) * squares
    # in place: the squares of sums are no longer needed
    square *= (1 / size).sum() ** 2
    return square, variance
