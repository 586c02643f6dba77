"""Studentized contrasts ``T = Σ a_i ū_i / sqrt(Σ a_i² s_i² / l_i)`` of a number of every run, by relabelling runs.

Paired, T is that of ``Σ a_i u_ij``. Right when variances differ too (Janssen 1997, doi:10.1016/S0167-7152(97)00043-6).
A shift δ moves algorithm ``i`` by ``δ a_i / Σ a²``; the interval is that of all shifts that are not rejected. A margin
is tested by the largest p of all shifts up to ``-margin``, as that of a single shift need not rise with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.kernels.resampling.batches import (
    CACHE,
    in_stretches,
    rows_that_fit,
    stretches,
)
from xcurves.kernels.resampling.bisection import halve
from xcurves.kernels.resampling.engine import (
    UpperTail,
    group_sums,
    label_batches,
    n_rare,
)
from xcurves.kernels.resampling.plans import TIE, RunPlan
from xcurves.kernels.resampling.shifts import (
    Test,
    limits,
    may_leave_gaps,
    points_of_scan,
)

Alternative = Literal["two-sided", "less", "greater"]

_EPS = np.finfo(float).eps
_ROUNDING = 64 * _EPS
_ROUNDS = 4  # of a search between neighbours on a grid
_SAME = 1e-9  # slopes as close to 1 are those of the observed assignment, or of the one with groups exchanged


class ContrastDesign(NamedTuple):
    """Numbers of curves, ordered by group, and the weights of the groups."""

    u: Floats  # (task, curve)
    sizes: tuple[int, ...]
    weights: Floats
    paired: bool
    # Whether a shift moves only the groups with positive weights.
    one_side: bool = False

    @property
    def groups(self) -> tuple[Floats, Floats]:
        """Weights and sizes of what is averaged: the groups, or the differences within runs."""
        if self.paired:
            return np.ones(1), np.array([float(self.sizes[0])])
        return self.weights, np.array(self.sizes, float)

    @property
    def linear(self) -> bool:
        """Whether ``T²`` increases with the squared contrast: two groups of one size, or two within runs."""
        return len(self.sizes) == 2 and self.sizes[0] == self.sizes[1]

    @property
    def direction(self) -> Floats:
        """What a shift by 1 adds to every curve, shape (curve,)."""
        above = np.maximum(self.weights, 0.0)
        of_group = (
            (above > 0) / above.sum()
            if self.one_side
            else self.weights / (self.weights**2).sum()
        )
        return np.repeat(of_group, self.sizes)


class ShiftedContrast(NamedTuple):
    """T of every reassignment after a shift by ``y`` standard errors: ``mean - slope y`` over the root of variance."""

    mean: Floats  # (task, reassignment); as observed -y
    variance: Floats  # plus linear y + square y²
    linear: Floats
    slope: Floats  # (reassignment,)
    square: Floats
    spread: Floats  # (task,): the variance as observed, 0 or 1


def contrast_tests(
    design: ContrastDesign, plan: RunPlan, alternative: Alternative, alpha: float
) -> dict[str, Floats]:
    """Test the contrast in every task: `estimate_ci` is infinite where no shift is rejected, its gap 1 where one is."""
    design, scale = scaled(design)
    found = in_stretches(
        lambda some: _contrast_panel(
            design._replace(u=design.u[some]), plan, alternative, alpha
        ),
        len(design.u),
        rows_that_fit(16 * plan.n_resamples),
    )
    found["estimate"] *= scale
    found["estimate_ci"] *= scale[:, np.newaxis]
    return found


def pvalues_above(design: ContrastDesign, plan: RunPlan) -> Floats:
    """Return the p of every contrast above 0, that of `contrast_tests` with "greater", without its interval."""
    # The interval takes five sixths of the time: 33 ms of 8 v 8 runs, exact; this takes 6.
    design, _ = scaled(design)
    estimate, error = observed_contrast(design)
    shifted = shifted_contrast(design, plan, estimate, error)
    at = -estimate / np.where(error > 0, error, 1.0)
    count = plan.besides + np.count_nonzero(reaches(shifted, at, "greater"), axis=-1)
    return np.where((estimate == 0) & (error == 0), np.nan, count / plan.n_total)


def scaled(design: ContrastDesign) -> tuple[ContrastDesign, Floats]:
    """Return a design of centred numbers of size one, and what its estimates are to be multiplied with."""
    scale = _power_of_two(np.abs(design.u).max(axis=-1))
    largest = _power_of_two(np.abs(design.weights).max())
    u = design.u / scale[:, np.newaxis]
    if design.paired:  # about the mean of a run
        u = u.reshape(len(u), len(design.sizes), design.sizes[0])
    u = (u - u.mean(axis=1, keepdims=True)).reshape(design.u.shape)
    return design._replace(u=u, weights=design.weights / largest), scale * largest


def _power_of_two(sizes: Floats) -> Floats:
    """Return a power of two of the size of each number, to divide by without rounding; 1 for 0."""
    return np.ldexp(1.0, np.frexp(np.where(sizes > 0, sizes, 1.0))[1])


def _contrast_panel(
    design: ContrastDesign, plan: RunPlan, alternative: Alternative, alpha: float
) -> dict[str, Floats]:
    estimate, error = observed_contrast(design)
    n_tasks, besides = len(estimate), plan.besides
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = estimate / error
    ends = np.tile([-np.inf, np.inf], (n_tasks, 1))
    gap = np.zeros(n_tasks, bool)
    found = {
        "statistic": statistic,
        "pvalue": np.full(n_tasks, np.nan),
        "estimate": estimate,
        "estimate_ci": ends,
    }
    if min(design.groups[1]) < 2:
        return found | {"estimate_ci_gap": gap.astype(float)}
    unit = np.where(error > 0, error, 1.0)
    at, most = -estimate / unit, n_rare(plan, alpha)
    sides = {"two-sided": (-1, 1), "greater": (-1,), "less": (1,)}[alternative]
    if design.linear and len(sides) == 2:
        numbers = (design.u - estimate[:, np.newaxis] * design.direction) / unit[
            :, np.newaxis
        ]
        # with groups exchanged, |N_g| is the same
        half = plan.unlabelled if plan.exact and plan.labelled else plan
        alike = plan.n_resamples // half.n_resamples
        count, *distances = _invert_linear(
            design._replace(u=numbers), half, at, besides, most, alike
        )
    else:
        shifted = shifted_contrast(design, plan, estimate, error)
        coefs = quartics(shifted)
        if len(sides) == 2:
            count = besides + np.count_nonzero(
                _polynomials(coefs, at[:, np.newaxis]) >= 0, axis=-1
            )
        else:
            count = besides + np.count_nonzero(
                reaches(shifted, at, alternative), axis=-1
            )
        distances, scan = [], may_leave_gaps(*design.groups[1].tolist())
        for side in sides:
            known = np.where(count > most, np.maximum(side * at, 0.0), 0.0)
            test = shift_test(shifted, coefs, side, len(sides) == 1, besides, most)
            furthest, gaps = limits(test, known, scan=scan)
            inner = (count <= most) & (side * at > 0) & (side * at < furthest)
            gap |= gaps | inner
            distances.append(furthest)
    found["pvalue"] = np.where(np.isnan(statistic), np.nan, count / plan.n_total)
    for side, distance in zip(sides, distances, strict=True):
        # runs that do not differ say nothing of others
        distance[(error == 0) & np.isfinite(distance)] = np.nan
        ends[:, max(side, 0)] = estimate + side * unit * distance
    return found | {"estimate_ci_gap": gap.astype(float)}


def hull(
    shifted: ShiftedContrast, besides: int, mosts: Sequence[int], *, scan: bool
) -> Floats:
    """Return the outermost shifts that are not rejected, in standard errors from the estimate: (most, task, 2)."""
    coefs = quartics(shifted)
    known = np.zeros(len(shifted.mean))
    ends = {
        most: [
            side
            * limits(
                shift_test(shifted, coefs, side, False, besides, most), known, scan=scan
            )[0]
            for side in (-1, 1)
        ]
        for most in set(mosts)
    }
    return np.asarray(np.moveaxis(np.array([ends[most] for most in mosts]), 1, -1))


def shift_test(
    shifted: ShiftedContrast,
    coefs: Floats,
    side: int,
    one_sided: bool,
    besides: int,
    most: float,
) -> Test:
    """Return the test of shifts to a side, -1 or 1, for `limits`; one-sided, contrasts must have the sign ``-side``."""
    _, n_tasks, n_resamples = coefs.shape
    flat = coefs.reshape(5, -1)

    def reaches(cells: Index | None, distance: Floats) -> NDArray[np.bool_]:
        if cells is None:
            some, mean, slope, distance = (
                coefs,
                shifted.mean,
                shifted.slope,
                distance[..., np.newaxis],
            )
        else:
            some, mean, slope = (
                flat.take(cells, axis=1),
                shifted.mean.ravel()[cells],
                shifted.slope[cells % n_resamples],
            )
        reached = _polynomials(some, side * distance) >= 0
        return (
            reached & (-side * mean + slope * distance >= 0) if one_sided else reached
        )

    return Test(reaches, (n_tasks, n_resamples), besides, most)


def _polynomials(coefs: Floats, at: Floats) -> Floats:
    """Return polynomials with coefficients in ascending order along the first axis."""
    value = coefs[-1] * at
    for coef in coefs[-2:0:-1]:
        value += coef
        value *= at
    value += coefs[0]
    return np.asarray(value)


def _invert_linear(
    design: ContrastDesign,
    plan: RunPlan,
    at: Floats,
    besides: int,
    most: int,
    alike: int,
) -> tuple[Floats, Floats, Floats]:
    """Return how many reassignments reach the observed statistic after a shift, and the distances not rejected."""
    # Of two equal groups, or two within runs, squares add up to the same in every reassignment, so that |T_g| >= |T|
    # where |N_g| >= |N|: one distance on each side. 20 tasks of 10 v 10, exact: an eightieth of the time of `limits`.
    numbers = np.concatenate([design.u, [design.direction]])
    # the sum over the second group is minus that over the first
    scale = np.subtract(*design.weights) / design.sizes[0]
    contrasts = scale * (numbers - numbers.mean(axis=-1, keepdims=True))
    upwards = (at > 0)[:, np.newaxis]
    count = np.full(len(at), float(besides))
    tails = [UpperTail((most - besides) // alike + 1) for _ in range(2)]
    for sums in group_sums(contrasts[:, np.newaxis], plan):
        mean, slope = sums[:-1, 0, 0], sums[-1, 0, 0]
        towards = mean * slope
        np.copysign(slope, towards, out=towards)  # the slope towards 0, or away from it
        size, endless = np.abs(mean), np.flatnonzero(np.abs(slope) > 1 - _SAME)
        distances = 1 - TIE - towards, np.add(1 - TIE, towards, out=towards)
        for distance, tail in zip(distances, tails, strict=True):
            np.divide(size, distance, out=distance)
            distance[:, endless] = np.inf
            tail.add(distance)
        count += alike * np.count_nonzero(
            np.where(upwards, *distances[::-1]) >= np.abs(at)[:, np.newaxis], axis=-1
        )
    below, above = (tail.smallest(at.shape) for tail in tails)
    return count, below, above


def observed_contrast(design: ContrastDesign) -> tuple[Floats, Floats]:
    """Return the contrast and its standard error, NaN where a group has one curve."""
    weights, sizes = design.groups
    if design.paired:
        groups = [
            np.einsum(
                "tgj,g->tj",
                design.u.reshape(len(design.u), -1, design.sizes[0]),
                design.weights,
            )
        ]
    else:
        groups = np.split(design.u, np.cumsum(design.sizes)[:-1], axis=-1)
    means = np.stack([group.mean(axis=-1) for group in groups], axis=-1)
    apart = [
        group - mean[:, np.newaxis] for group, mean in zip(groups, means.T, strict=True)
    ]
    squares = np.stack([(part**2).sum(axis=-1) for part in apart], axis=-1)
    squares[squares <= (_ROUNDING**2) * sizes] = 0.0
    estimate = means @ weights
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((squares / (sizes - 1)) @ (weights**2 / sizes))
    return np.where(np.abs(estimate) <= _ROUNDING, 0.0, estimate), error


def shifted_contrast(
    design: ContrastDesign, plan: RunPlan, estimate: Floats, error: Floats
) -> ShiftedContrast:
    """Sum the terms of T over every reassignment, relative to the estimate and in standard errors."""
    unit = np.where(error > 0, error, 1.0)[:, np.newaxis]
    w = (design.u - estimate[:, np.newaxis] * design.direction) / unit
    weights, sizes = design.groups
    of_mean, of_squares = weights / sizes, weights**2 / (sizes * (sizes - 1))
    of_products = of_squares / sizes
    # the sums over the second group are minus those over the first
    if not design.paired and len(sizes) == 2:
        of_mean, of_products = of_mean[:1] - of_mean[1:], of_products.sum(keepdims=True)
    parts = []
    for u, c, uu, uc, cc in (_within_runs if design.paired else _between_groups)(
        design, plan, w
    ):
        by_product = of_products[:, np.newaxis] * c
        variance = uu - np.einsum("tgs,tgs,g->ts", u, u, of_products)
        parts.append(
            [
                np.einsum("tgs,g->ts", u, of_mean),
                variance,
                -2 * (uc - np.einsum("tgs,gs->ts", u, by_product)),
                of_mean @ c,
                cc - (by_product * c).sum(axis=0),
                cc,
            ]
        )
    mean, variance, linear, slope, square, cc = (
        np.ascontiguousarray(
            # rows beside each other: twice as fast afterwards
            np.concatenate(each, axis=-1)
        )
        for each in zip(*parts, strict=True)
    )
    square[square <= 1e-13 * cc] = (
        0.0  # the observed assignment, or the one with groups exchanged
    )
    linear[:, square == 0] = 0.0
    least = of_squares.max() * (
        w.shape[-1] * _EPS * (w**2).sum(axis=-1, keepdims=True)
        + (_ROUNDING / unit) ** 2
    )
    nothing = variance <= least
    linear[nothing] = variance[nothing] = 0.0
    mean[np.abs(mean) <= 4 * _ROUNDING / unit] = 0.0
    return ShiftedContrast(mean, variance, linear, slope, square, np.sign(error))


_Sums = tuple[Floats, Floats, Floats, Floats, Floats]


def _between_groups(
    design: ContrastDesign, plan: RunPlan, w: Floats
) -> Iterator[_Sums]:
    """Yield the sums over groups of numbers and of the direction of the shift, and weighted sums of their products."""
    weights, sizes = design.groups
    n_tasks, factors = len(w), weights**2 / (sizes * (sizes - 1))
    w = w - w.mean(axis=-1, keepdims=True)
    c = design.direction - design.direction.mean()
    products = np.concatenate([w * w, w * c, [c * c]])
    fixed = factors[-1] * products.sum(axis=-1, keepdims=True)
    for sums in group_sums(np.concatenate([w, [c], products])[:, np.newaxis], plan):
        u, c, of_products = np.split(sums[:, :, 0], [n_tasks, n_tasks + 1])
        weighted = fixed + np.einsum(
            "rgs,g->rs", of_products, (factors - factors[-1])[: sums.shape[1]]
        )
        yield u, c[0], weighted[:n_tasks], weighted[n_tasks:-1], weighted[-1]


def _within_runs(design: ContrastDesign, plan: RunPlan, w: Floats) -> Iterator[_Sums]:
    """Yield the same sums of the contrasts within runs, which are one group."""
    shape = (len(design.sizes), design.sizes[0])
    grid = np.concatenate([w, [design.direction]]).reshape(-1, *shape)
    factor = 1 / (shape[1] * (shape[1] - 1))
    for _, labels in label_batches(plan, rows_that_fit(8 * grid.size, CACHE)):
        contrasts = np.einsum(
            "sgj,fgj->fsj", design.weights[labels.reshape(-1, *shape)], grid
        )
        u, c = contrasts[:-1], contrasts[-1]
        uu, uc, cc = (factor * part.sum(axis=-1) for part in (u * u, u * c, c * c))
        yield u.sum(axis=-1)[:, np.newaxis], c.sum(axis=-1)[np.newaxis], uu, uc, cc


def reaches(
    shifted: ShiftedContrast, at: Floats, alternative: Alternative
) -> NDArray[np.bool_]:
    """Return which reassignments reach the observed T after a shift, (..., task, reassignment); 0 / 0 does."""
    at = at[..., np.newaxis]
    parts = (shifted.variance, at * shifted.linear, at**2 * shifted.square)
    variance = parts[0] + parts[1] + parts[2]
    variance[variance <= _ROUNDING * (parts[0] + np.abs(parts[1]) + parts[2])] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -at / shifted.spread[:, np.newaxis]
        shuffled = (shifted.mean - at * shifted.slope) / np.sqrt(variance)
        slack = np.where(np.isinf(t), 0.0, TIE * (1 + np.abs(t)))
        return np.asarray(
            ~(shuffled > t + slack)
            if alternative == "less"
            else ~(shuffled < t - slack)
        )


def quartics(shifted: ShiftedContrast) -> Floats:
    """Return ``N_g² V - N² V_g`` of every reassignment, ties included: squared terms within `TIE` of their sum."""
    coefs = np.empty((5, *shifted.mean.shape))
    coefs[0] = shifted.mean
    coefs[0] *= (1 + TIE) * shifted.spread[:, np.newaxis]
    coefs[1] = -2 * shifted.slope
    coefs[1] *= coefs[0]
    coefs[0] *= shifted.mean
    coefs[2] = shifted.variance
    coefs[2] -= (1 + TIE) / (1 - TIE) * shifted.spread[:, np.newaxis] * shifted.slope**2
    # so that 0 / 0 and equal infinities are ties
    coefs[2] -= _ROUNDING * (shifted.spread == 0)[:, np.newaxis]
    coefs[3], coefs[4] = shifted.linear, shifted.square
    coefs[2:] *= TIE - 1
    return coefs


def margin_tests(
    design: ContrastDesign, plan: RunPlan, margin: float, alpha: float
) -> dict[str, Floats]:
    """Test every contrast, at most ``-margin`` against more: p-values and limits, NaN where runs do not differ."""
    design, scale = scaled(design._replace(one_side=True))

    def evaluate(some: slice) -> dict[str, Floats]:
        part = design._replace(u=design.u[some])
        estimate, error = observed_contrast(part)
        varies = error > 0
        unit = np.where(varies, error, 1.0)
        at = (-margin / scale[some] - estimate) / unit
        shifted = shifted_contrast(part, plan, estimate, error)
        count, distance = not_below(shifted, at, plan.n_total, n_rare(plan, alpha))
        limit = (estimate - unit * distance) * scale[some]
        pvalue = np.where(varies, count / plan.n_total, np.nan)
        return {
            "margin_pvalue": pvalue,
            "margin_limit": np.where(varies, limit, np.nan),
        }

    if min(design.groups[1]) < 2:
        return dict.fromkeys(
            ("margin_pvalue", "margin_limit"), np.full(len(design.u), np.nan)
        )
    return in_stretches(evaluate, len(design.u), rows_that_fit(80 * plan.n_resamples))


def not_below(
    shifted: ShiftedContrast, at: Floats, n_total: int, most: int
) -> tuple[Floats, Floats]:
    """Test shifts of at most `at` standard errors: the largest count up to it, and how far down the limit lies."""
    n_tasks, n_resamples = shifted.mean.shape
    besides = n_total - n_resamples

    def counts(shift: Floats) -> Floats:
        reached = np.count_nonzero(reaches(shifted, shift, "greater"), axis=-1)
        return np.asarray(reached + float(besides))

    test = shift_test(shifted, quartics(shifted), -1, True, besides, most)
    distance, _ = limits(test, np.zeros(n_tasks), scan=True)
    number = points_of_scan(n_resamples)
    shares = np.arange(number) / number
    best, share = np.full(n_tasks, -1.0), np.zeros(n_tasks)
    for some in stretches(number, rows_that_fit(64 * n_tasks * n_resamples, CACHE)):
        found = counts(at - (shares[some] / (1 - shares[some]))[:, np.newaxis])
        share = np.where(
            found.max(axis=0) > best, shares[some][found.argmax(axis=0)], share
        )
        best = np.maximum(best, found.max(axis=0))
    where, step = at - share / (1 - share), 1 / number / (1 - share) ** 2
    for _ in range(_ROUNDS):
        for fraction in np.linspace(-1, 1, 9):
            shift = np.minimum(where + fraction * step, at)
            found = counts(shift)
            where, best = np.where(found > best, shift, where), np.maximum(best, found)
        step /= 4
    inside = counts(np.zeros(n_tasks)) > most
    if not inside.all():
        above, _ = halve(
            lambda shift: counts(shift) > most, np.full(n_tasks, 2.0), np.zeros(n_tasks)
        )
        distance = np.where(inside, distance, -above)  # at levels of about one half
    known = np.where((best > most) & (-where > distance), -where, distance)
    below = np.isfinite(known) & (-known <= at)
    best = np.where(below, np.maximum(best, counts(np.where(below, -known, at))), best)
    return best, known
