"""Sums of squares of the two-way ANOVA from the moments of the curves.

Symbols as in Piater & Cohen: ``m`` algorithms, ``N`` curves, ``k`` training levels, ``l_i`` curves of algorithm
``i``. With the means ``z̄_j`` of the level-centred curves and the co-moments ``C`` of the curve-centred ones::

    SS_algorithm   = k Σ_i (Σ_{j∈i} z̄_j)² / l_i             of the total  k Σ_j z̄_j²
    SS_interaction =   Σ_i (Σ_{j,j'∈i} C_jj') / l_i          of the total  trace C

Neither total changes when whole curves change places, so a shuffle costs the same whatever ``k`` is.
Arrays over effects have the order (algorithm, interaction), over error terms (pooled, split_plot).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.kernels.engine import Progress, n_rare, pvalue_fields, squared_sums, tally
from xcurves.kernels.moments import Floats, is_factor, trace
from xcurves.kernels.plans import TIE, RunPlan, rows_that_fit

_TASKS = 64  # tested together


class AnovaDesign(NamedTuple):
    """What the shuffles need from tasks with the same number of levels and the same present runs.

    Attributes
    ----------
    means : ndarray, shape (task, N)
        Means of the level-centred curves; if paired, centred within runs too.
    comoment : ndarray, shape (task, N, N) or (task, N, r)
        Co-moments of the curve-centred curves, or a factor of these; if paired, centred within runs too.
    n_levels : int
        Number of training levels.
    sizes : tuple of int
        Number of curves of each algorithm, in the order of the curves.
    paired : bool
        Whether run ``j`` is matched over the algorithms.
    totals : ndarray, shape (effect, task)
        The total of each effect: its sum of squares plus that of its own error, the same for every assignment; 0
        where it is only rounding error of the scores.
    rest : ndarray, shape (task,)
        Further terms of the pooled error: the sums of squares of runs, if paired.
    """

    means: Floats
    comoment: Floats
    n_levels: int
    sizes: tuple[int, ...]
    paired: bool
    totals: Floats
    rest: Floats

    @property
    def rounding(self) -> Floats:
        """Effects and errors up to this are rounding errors, shape (effect, task)."""
        return np.asarray(self.means.shape[-1] * np.finfo(float).eps * self.totals)

    def panel(self, start: int, stop: int) -> AnovaDesign:
        """Return the design of some of the tasks."""
        cut = slice(start, stop)
        return self._replace(
            means=self.means[cut], comoment=self.comoment[cut], totals=self.totals[:, cut], rest=self.rest[cut]
        )


def make_design(
    means: Floats,
    comoment: Floats,
    n_levels: int,
    sizes: tuple[int, ...],
    magnitude: Floats,
    within: tuple[Floats, Floats] | None = None,
) -> AnovaDesign:
    """Find the invariants of the shuffles from the moments of the curves that are present.

    `magnitude`, shape (task,), is the sum of squares of the pool's mean curve, counted once for each curve: offsets and
    trends increase the rounding error of the scores. `within`, if paired, has the means and co-moments of the
    differences of the curves from the mean of their run, computed before anything is squared.
    """
    all_totals = _effect_totals(means, comoment, n_levels)
    rounding = 64 * np.finfo(float).eps ** 2 * (magnitude + sum(sizes) * all_totals.sum(axis=0))
    if within is not None:
        means, comoment = _centre_runs(*within, sizes)
    totals = _effect_totals(means, comoment, n_levels)
    rest = (all_totals - totals).sum(axis=0)
    rest = np.where(rest <= sum(sizes) * np.finfo(float).eps * all_totals.sum(axis=0), 0.0, rest)
    totals = np.where(totals <= rounding, 0.0, totals)
    return AnovaDesign(means, comoment, n_levels, sizes, within is not None, totals, rest)


def _effect_totals(means: Floats, comoment: Floats, n_levels: int) -> Floats:
    return np.stack([n_levels * (means**2).sum(axis=-1), trace(comoment)])


def _centre_runs(means: Floats, comoment: Floats, sizes: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Subtract the mean over algorithms from every run."""
    shape = (len(sizes), sizes[0])
    grid = means.reshape(-1, *shape)
    grid = grid - grid.mean(axis=1, keepdims=True)
    products = comoment.reshape(len(comoment), *shape, *(comoment.shape[2:] if is_factor(comoment) else shape))
    products = products - products.mean(axis=1, keepdims=True)
    if not is_factor(comoment):
        products = products - products.mean(axis=3, keepdims=True)
    return grid.reshape(means.shape), products.reshape(comoment.shape)


def effect_sums(design: AnovaDesign) -> Floats:
    """Return SS_algorithm and SS_interaction as observed, shape (effect, task)."""
    starts = np.cumsum((0, *design.sizes[:-1]))
    means = np.add.reduceat(design.means, starts, axis=-1)
    algorithm = design.n_levels * (means**2 / design.sizes).sum(axis=-1)
    interaction = (_own_products(design.comoment, starts) / design.sizes).sum(axis=-1)
    sums = np.stack([algorithm, interaction])
    return np.where(sums <= design.rounding, 0.0, sums)


def _own_products(comoment: Floats, starts: NDArray[np.int64]) -> Floats:
    """Return the products of the sums over groups of curves, which begin at `starts`, with themselves."""
    sums = np.add.reduceat(comoment, starts, axis=-2)
    if is_factor(comoment):
        return np.asarray(np.einsum("...gr,...gr->...g", sums, sums))
    return np.asarray(np.diagonal(np.add.reduceat(sums, starts, axis=-1), axis1=-2, axis2=-1))


def shared_sums(design: AnovaDesign, sums: Floats) -> Floats:
    """Return SS + error SS of every effect and error term, shape (effect, error_term, task[, shuffle]).

    With the pooled error, the sum contains the error of the other effect too.
    """
    behind = (np.newaxis,) * (sums.ndim - 2)
    own = np.broadcast_to(design.totals[(..., *behind)], sums.shape)
    other = _residuals(design, sums)[::-1]
    return np.stack([own + other + design.rest[(..., *behind)], own], axis=1)


def error_sums(design: AnovaDesign, sums: Floats) -> Floats:
    """Return the error SS of every effect and error term, shape (effect, error_term, task[, shuffle])."""
    behind = (np.newaxis,) * (sums.ndim - 2)
    own = _residuals(design, sums)
    return np.stack([own + own[::-1] + design.rest[(..., *behind)], own], axis=1)


def _residuals(design: AnovaDesign, sums: Floats) -> Floats:
    """Return the totals less the effects, shape as `sums`."""
    behind = (np.newaxis,) * (sums.ndim - 2)
    left = design.totals[(..., *behind)] - sums
    return np.where(left <= design.rounding[(..., *behind)], 0.0, left)


def degrees_of_freedom(design: AnovaDesign) -> tuple[Floats, Floats]:
    """Return the df of the effects, shape (effect, 1), and of their errors, shape (effect, error_term)."""
    n_groups, n_curves, n_levels = len(design.sizes), sum(design.sizes), design.n_levels
    between = n_groups - 1
    within = between * (design.sizes[0] - 1) if design.paired else n_curves - n_groups
    pooled = n_levels * (n_curves - n_groups)
    effect = np.array([[between], [between * (n_levels - 1)]], float)
    return effect, np.array([[pooled, within], [pooled, within * (n_levels - 1)]], float)


def _value_counts(design: AnovaDesign) -> Floats:
    """Return how many values every effect and error are of, shape (effect, error_term): scores, or means of curves."""
    n_curves, n_scores = sum(design.sizes), sum(design.sizes) * design.n_levels
    return np.array([[n_scores, n_curves], [n_scores, n_scores]], float)


def f_ratios(design: AnovaDesign, sums: Floats) -> Floats:
    """Return F = (SS / df) / (error SS / error df), shape as `error_sums`; infinite without error, 0 / 0 NaN."""
    behind = (np.newaxis,) * (sums.ndim - 1)
    df, df_error = degrees_of_freedom(design)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_square = sums[:, np.newaxis] / df[(..., *behind)]
        return np.asarray(mean_square / (error_sums(design, sums) / df_error[(..., *behind)]))


def sums_of_squares_table(design: AnovaDesign, level_ss: Floats) -> dict[str, Floats]:
    """Return the ANOVA table as observed, every array with the tasks in front.

    `level_ss` has the sum of squared deviations of the pool's mean curve, shape (task,).
    """
    effect = effect_sums(design)
    error = error_sums(design, effect)
    f = f_ratios(design, effect)
    df, df_error = degrees_of_freedom(design)
    n_curves, n_levels = sum(design.sizes), design.n_levels
    training = n_curves * level_ss
    ss = np.stack([effect[1], effect[0], training, error[0, 0], effect.sum(axis=0) + training + error[0, 0]])
    df_source = np.array([df[1, 0], df[0, 0], n_levels - 1, df_error[0, 0], n_curves * n_levels - 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        partial = effect[:, np.newaxis] / (effect[:, np.newaxis] + error)
        generalized = effect[:, np.newaxis] / (effect[:, np.newaxis] + error[:, :1])  # Olejnik & Algina, all error
        mean_square = error / df_error[..., np.newaxis]
        by_chance = df[..., np.newaxis] * mean_square  # of the effect's sum of squares
        others = (_value_counts(design) - df)[..., np.newaxis] * mean_square
        omega = (effect[:, np.newaxis] - by_chance) / (effect[:, np.newaxis] + others)
    n_tasks = len(design.means)
    return {
        "f": f.transpose(2, 0, 1),
        "ss": ss.T,
        "df": np.broadcast_to(df_source, (n_tasks, 5)),
        "error_ss": error.transpose(2, 0, 1),
        "error_df": np.broadcast_to(df_error, (n_tasks, 2, 2)),
        "eta_sq_partial": partial.transpose(2, 0, 1),
        "omega_sq_partial": omega.transpose(2, 0, 1),
        "eta_sq_generalized": np.broadcast_to(generalized, f.shape).transpose(2, 0, 1),
        "pvalue_parametric": scipy.special.fdtrc(df[..., np.newaxis], df_error[..., np.newaxis], f).transpose(2, 0, 1),
    }


def f_tests(
    design: AnovaDesign,
    plan: RunPlan,
    alpha: float,
    *,
    keep: bool = False,
    batch: int | None = None,
    progress: Progress = lambda blocks: blocks,
) -> dict[str, Floats]:
    """Compare the observed F ratios with those of every reassignment of the plan.

    Returns
    -------
    dict of ndarray, shape (task, effect, error_term)
        `pvalue`, its Monte Carlo standard error, `critical_value`; with `keep` also `pvalue_rank` and
        `null_distribution`, with reassignments as the last axis.
    """
    width = min(_TASKS, rows_that_fit(8 * 8 * n_rare(plan, alpha)))
    starts = range(0, len(design.means), width)
    panels = [_f_panel(design.panel(s, s + width), plan, alpha, keep, batch, progress) for s in starts]
    return {name: np.concatenate([np.moveaxis(panel[name], 2, 0) for panel in panels]) for name in panels[0]}


def _f_panel(
    design: AnovaDesign, plan: RunPlan, alpha: float, keep: bool, batch: int | None, progress: Progress
) -> dict[str, Floats]:
    """Count on the scale of R = SS / (SS + error SS), which increases with F and stays finite.

    Two sums of squares are tied if they agree within `TIE` of the effect's total, plus, with the pooled error, the
    rounding error of the other total. A reassignment with 0 / 0 counts as a tie.
    """
    sums = effect_sums(design)
    observed = f_ratios(design, sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = shared_sums(design, sums)
        share = sums[:, np.newaxis] / shared
        slack = TIE * design.totals[:, np.newaxis] + share * np.stack(
            [design.rounding[::-1], np.zeros_like(design.rounding)], axis=1
        )
        least = share - slack / shared
    kept: list[Floats] = []

    def shares() -> Iterator[Floats]:
        means = np.sqrt(design.n_levels) * design.means
        rank = min(sum(design.sizes), design.n_levels) - 1
        for shuffled in squared_sums(means, design.comoment, rank, plan, batch, progress):
            if keep:
                kept.append(f_ratios(design, shuffled))
            shared = shared_sums(design, shuffled)
            yield np.divide(shuffled[:, np.newaxis], shared, out=np.ones(shared.shape), where=shared > 0)

    count, critical = tally(shares(), least, plan, alpha)
    found = pvalue_fields(count, plan) | {"critical_value": _f_of_share(design, np.minimum(critical, 1.0))}
    if keep:
        null = np.concatenate(kept, axis=-1)
        found |= {"pvalue_rank": rank_pvalue(observed, null), "null_distribution": null}
    for values in found.values():
        values[np.isnan(observed)] = np.nan
    return found


def _f_of_share(design: AnovaDesign, share: Floats) -> Floats:
    """Turn R = SS / (SS + error SS), shape (effect, error_term, task), into F."""
    df, df_error = degrees_of_freedom(design)
    rest = 1 - share
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = share / np.where(rest <= sum(design.sizes) * np.finfo(float).eps, 0.0, rest)
        return np.asarray(ratio * (df_error / df)[..., np.newaxis])


def rank_pvalue(observed: Floats, null: Floats) -> Floats:
    """Return the paper's p = (z - rank of the null value closest to the observed one) / z; the lowest rank of ties."""
    within = np.minimum(observed, null.max(axis=-1))[..., np.newaxis]
    with np.errstate(invalid="ignore"):
        distance = np.where(null == within, 0.0, np.abs(null - within))
    closest = np.take_along_axis(null, distance.argmin(axis=-1)[..., np.newaxis], axis=-1)
    rank = np.count_nonzero(null < closest, axis=-1) + 1
    return np.asarray((null.shape[-1] - rank) / null.shape[-1])
