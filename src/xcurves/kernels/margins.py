"""Tests of a margin, "not worse by more than so much": one-sided p-values and limits over all shifts up to it.

The p-value of a single shift need not rise with it, so the largest over all shifts up to ``-margin`` is taken.
"""

from __future__ import annotations

import numpy as np

from xcurves.kernels import contrasts, task_flips
from xcurves.kernels.contrasts import ContrastDesign, ShiftedContrast
from xcurves.kernels.engine import limits, n_rare, points_of_scan
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import FlipPlan, RunPlan, halve, in_stretches, rows_that_fit

_ROUNDS = 4  # of a search between neighbours on a grid


def margin_tests(design: ContrastDesign, plan: RunPlan, margin: float, alpha: float) -> dict[str, Floats]:
    """Test every contrast, at most ``-margin`` against more: p-values and limits, NaN where runs do not differ."""
    design, scale = contrasts.scaled(design._replace(one_side=True))

    def evaluate(some: slice) -> dict[str, Floats]:
        part = design._replace(u=design.u[some])
        estimate, error = contrasts.observed_contrast(part)
        varies = error > 0
        unit = np.where(varies, error, 1.0)
        at = (-margin / scale[some] - estimate) / unit
        shifted = contrasts.shifted_contrast(part, plan, estimate, error)
        count, distance = not_below(shifted, at, plan.n_total, n_rare(plan, alpha))
        limit = (estimate - unit * distance) * scale[some]
        pvalue = np.where(varies, count / plan.n_total, np.nan)
        return {"margin_pvalue": pvalue, "margin_limit": np.where(varies, limit, np.nan)}

    if min(design.groups[1]) < 2:
        return dict.fromkeys(("margin_pvalue", "margin_limit"), np.full(len(design.u), np.nan))
    return in_stretches(evaluate, len(design.u), rows_that_fit(80 * plan.n_resamples))


def not_below(shifted: ShiftedContrast, at: Floats, n_total: int, most: int) -> tuple[Floats, Floats]:
    """Test shifts of at most `at` standard errors: the largest count up to it, and how far down the limit lies."""
    n_tasks, n_resamples = shifted.mean.shape
    besides = n_total - n_resamples

    def counts(shift: Floats) -> Floats:
        reached = np.count_nonzero(contrasts.reaches(shifted, shift, "greater"), axis=-1)
        return np.asarray(reached + float(besides))

    test = contrasts.shift_test(shifted, contrasts.quartics(shifted), -1, True, besides, most)
    distance, _ = limits(test, np.zeros(n_tasks), scan=True)
    number = points_of_scan(n_resamples)
    best, where, step = counts(at), at.copy(), np.ones(n_tasks) / number
    for share in np.arange(1, number) / number:
        shift = at - share / (1 - share)
        found = counts(shift)
        where, step = np.where(found > best, shift, where), np.where(found > best, 1 / number / (1 - share) ** 2, step)
        best = np.maximum(best, found)
    for _ in range(_ROUNDS):
        for fraction in np.linspace(-1, 1, 9):
            shift = np.minimum(where + fraction * step, at)
            found = counts(shift)
            where, best = np.where(found > best, shift, where), np.maximum(best, found)
        step /= 4
    inside = counts(np.zeros(n_tasks)) > most
    if not inside.all():
        above, _ = halve(lambda shift: counts(shift) > most, np.full(n_tasks, 2.0), np.zeros(n_tasks))
        distance = np.where(inside, distance, -above)  # at levels of about one half
    known = np.where((best > most) & (-where > distance), -where, distance)
    below = np.isfinite(known) & (-known <= at)
    best = np.where(below, np.maximum(best, counts(np.where(below, -known, at))), best)
    return best, known


def flip_margins(x: Floats, weights: Floats, plan: FlipPlan, margin: float, alpha: float) -> tuple[Floats, Floats]:
    """Return the one-sided p of a weighted mean of at most ``-margin``, and its lower limit, shape (member,)."""
    drawn = (one for one, _ in task_flips.drawn_means(x, weights, plan))
    every = task_flips.subset_means(x, weights) if plan.exact else drawn
    found = []
    for means in every:
        n_total = len(means) + 1
        size = margin + np.abs(means[np.isfinite(means)]).max(initial=0.0)
        pvalue = (1 + np.count_nonzero(means <= task_flips.ROUNDING * size - margin)) / n_total
        rare = int(np.floor(alpha * n_total + 1e-9))
        found.append((pvalue, np.partition(means, rare - 1)[rare - 1] if rare else -np.inf))
    pvalues, limits = np.array(found).reshape(-1, 2).T
    return pvalues, limits
