"""Flips of all pairs of algorithms at once on the scale of t: p, adjusted by step-down, and intervals.

Of the sums ``x`` of a pair over its ``F`` families, ``m = Σ x`` and ``Q = Σ x²``,

    T = |m| / sqrt(F / (F - 1) (Q - m² / F)),

which rises with ``r = m² / (F Q)``, T² = (F - 1) r / (1 - r); flips change m alone. Over pairs the smallest tail of t
with F - 1 degrees of freedom counts (Westfall & Young 1993; Romano & Wolf 2005, doi:10.1111/j.1468-0262.2005.00615.x).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index, Reals
from xcurves.kernels.over_tasks.pair_members import Members, PairTotals
from xcurves.kernels.over_tasks.sign_plans import Signs
from xcurves.kernels.resampling.adjustments import largest_of
from xcurves.kernels.resampling.batches import CACHE, MEMORY, rows_that_fit, stretches

_NO_SUM = 1e-12  # of Σ |x|: a sum that is a rounding error
_NO_SPREAD = 1e-15  # of Σ x²: what is left of it where all x are equal
_TIES = {
    4: 1e-6,
    8: 1e-9,
}  # relative, of statistics of so many bytes that are equal but for rounding
_KNOTS, _STEP = 2**13, 1 / 16  # of the table of tails
_SINGLE = 4 * MEMORY  # bytes of the flipped sums of columns


class FlipTests(NamedTuple):
    """What flips say of every pair, each of shape (pair,)."""

    pvalue: Floats
    pvalue_adjusted: Floats  # NaN outside the family of tests
    own: Floats  # the r that the pair's own p of the level must exceed; NaN where not asked for
    together: Floats  # the same of the smallest p of all pairs
    # with two more families, +1 and -1
    own_of_more: Floats
    together_of_more: Floats


def with_two_more(sums: PairTotals) -> PairTotals:
    """Return the totals of every pair with two further families of weight 1, of which each algorithm leads in one."""
    return sums._replace(
        n_families=sums.n_families + 2,
        squares=sums.squares + 2,
        size=sums.size + 2,
        weight=sums.weight + 2,
        weight_squares=sums.weight_squares + 2,
    )


class Tails:
    """The common scale of r of pairs with unlike numbers of families: the square of the normal deviate of the same p.

    Where all have as many, r itself has the order of p.
    """

    def __init__(self, n_families: Floats) -> None:
        self.numbers, self.which = np.unique(n_families, return_inverse=True)
        self.are_alike = len(self.numbers) < 2
        if self.are_alike:
            return
        # P(|t| > T) = I_{1-r}(ν / 2, 1 / 2), ν = F - 1. As a function of -ν log(1 - r) the squared deviate is almost a
        # straight line: tabled it takes a tenth of the time of the beta function.
        df = np.maximum(self.numbers - 1, 1.0)[:, np.newaxis]
        at: Floats = _STEP * np.arange(_KNOTS, dtype=float)
        log_tail = _log_tail(at, df)
        self.table = scipy.special.ndtri_exp(log_tail - np.log(2)) ** 2
        self.table[:, 0] = 0.0
        self.table = np.maximum.accumulate(self.table, axis=-1)

    def of(self, root: Reals, some: Index) -> Reals:
        """Return the common scale of √r, shape (pair, ...), of some pairs."""
        if self.are_alike:
            return root
        which = self.which[some][:, np.newaxis]
        r = np.minimum(np.square(root, dtype=float), 1 - _NO_SPREAD)
        at = np.log1p(-r)
        at *= -np.maximum(self.numbers[which] - 1, 1.0) / _STEP
        # the last two knots go on as a straight line
        knot = np.minimum(at.astype(np.int32), _KNOTS - 2)
        place = which * _KNOTS + knot
        at -= knot
        flat = self.table.ravel()
        low = flat[place]
        return np.asarray(low + at * (flat[place + 1] - low))

    def ratio_at(self, value: float) -> Floats:
        """Return the r of every pair at a value of the common scale."""
        if self.are_alike:
            return np.full(len(self.which), min(float(value) ** 2, 1.0))
        at = np.array([_STEP * _inverse(row, float(value)) for row in self.table])
        r = -np.expm1(-at / np.maximum(self.numbers - 1, 1.0))
        return np.asarray(r[self.which])


def _log_tail(at: Floats, df: Floats) -> Floats:
    """Return log P(|t| > T) where T² = ν (exp(at / ν) - 1)."""
    with np.errstate(divide="ignore", under="ignore"):
        log_tail = np.log(scipy.special.betainc(df / 2, 0.5, np.exp(-at / df)))
    # Beyond the range of doubles, and near it, the leading term is enough: x^(ν/2) / (ν/2 B(ν/2, 1/2)), x = exp(-at/ν).
    leading = -at / 2 - np.log(df / 2) - scipy.special.betaln(df / 2, 0.5)
    return np.asarray(np.where(log_tail < -600, leading, log_tail))


def _inverse(table: Floats, value: float) -> float:
    """Return at which knot, and part of the way to the next, an ascending table has a value."""
    knot = int(np.clip(np.searchsorted(table, value, "right") - 1, 0, len(table) - 2))
    step = table[knot + 1] - table[knot]
    if step <= 0:
        return float(knot)
    return float(knot + (value - table[knot]) / step)


def roots(sums: PairTotals) -> tuple[Floats, Floats]:
    """Return √r of every pair as observed, and what |m| is multiplied by to get it."""
    # of a pair without families, or without a difference, 0
    n_families = np.maximum(sums.n_families, 1.0)
    with np.errstate(divide="ignore"):
        unit = 1 / np.sqrt(n_families * sums.squares)
    unit = np.where(sums.squares > 0, unit, 0.0)
    size = np.abs(sums.total)
    observed = np.where(size <= _NO_SUM * sums.size, 0.0, size * unit)
    no_spread = sums.squares - sums.total**2 / n_families
    is_constant = (no_spread <= _NO_SPREAD * sums.squares) & (observed > 0)
    return np.where(is_constant, 1.0, np.minimum(observed, 1.0)), unit


def flip_tests(
    members: Members,
    sums: PairTotals,
    signs: Signs,
    tested: Bools,
    alpha: float,
    *,
    two_more: bool = False,
    limits: bool = True,
) -> FlipTests:
    """Test every pair by flips of families; those that are `tested` are one family of tests.

    `limits` asks for the pairs' own critical values; `two_more` for those with two further items, numbers +1 and -1.
    """
    return _Flips(members, sums, signs, tested, alpha, two_more, limits).tests()


class _Scaled(NamedTuple):
    """How flipped sums become statistics, and what has been seen of them."""

    tails: Tails
    unit: Floats  # of every pair
    own: Floats
    largest: Floats  # of every flip, over the pairs so far


class _Flips:
    """The flips of all pairs, from the least significant one to the most."""

    def __init__(
        self,
        members: Members,
        sums: PairTotals,
        signs: Signs,
        tested: Bools,
        alpha: float,
        two_more: bool,
        limits: bool,
    ) -> None:
        self.members, self.signs, self.tested = members, signs, tested
        self.limits = limits
        self.n_pairs = len(tested)
        self.dtype = members.columns(np.arange(min(1, self.n_pairs))).values.dtype.type
        self.tie = 1 - _TIES[np.dtype(self.dtype).itemsize]
        self.tie_of_singles = 1 - _TIES[4]
        self.n_rare = signs.n_rare(alpha)
        self.counts, self.counts_adjusted = np.zeros((2, self.n_pairs))

        observed, unit = roots(sums)
        self.plain = self._scaled(Tails(sums.n_families), unit)
        every = np.arange(self.n_pairs)
        self.observed = observed
        self.significance = self.plain.tails.of(observed[:, np.newaxis], every)[:, 0]
        self.more: list[_Scaled] = []
        self.besides: list[Reals] = []
        if two_more:
            more = with_two_more(sums)
            tails, (_, unit_of_more) = Tails(more.n_families), roots(more)
            # of all flips every one with all of the further items
            self.besides = [signs.of_two_more()]
            if signs.exact:
                self.besides = [np.full(1, each) for each in (2.0, 0.0, 0.0, -2.0)]
            self.more = [self._scaled(tails, unit_of_more) for _ in self.besides]

    def _scaled(self, tails: Tails, unit: Floats) -> _Scaled:
        return _Scaled(
            tails,
            unit,
            np.full(self.n_pairs, np.nan),
            np.zeros(self.signs.n_flips),
        )

    def tests(self) -> FlipTests:
        """Return what all flips say."""
        # the least significant of the tests first, those of no family before them
        order = np.lexsort((self.significance, self.tested))
        for block in stretches(self.n_pairs, self._pairs_in_block()):
            pairs = order[block]
            sums, first, second = self._products(pairs)
            width = rows_that_fit(3 * sums.itemsize * self.signs.n_flips, 4 * CACHE)
            for some in stretches(len(pairs), width):
                flipped = sums[first[some]]
                if second is not None:
                    flipped -= sums[second[some]]
                self._count(pairs[some], flipped)

        n_total, besides = self.signs.n_total, self.signs.plan.besides
        adjusted = np.full(self.n_pairs, np.nan)
        in_family = order[self.tested[order]][::-1]  # the most significant first
        of_tests = np.maximum.accumulate(self.counts_adjusted[in_family])
        adjusted[in_family] = (of_tests + besides) / n_total
        own_of_more, together_of_more = self._critical(self.more)
        own, together = self._critical([self.plain])
        return FlipTests(
            (self.counts + besides) / n_total,
            adjusted,
            own,
            together,
            own_of_more,
            together_of_more,
        )

    def _pairs_in_block(self) -> int:
        """Return of how many pairs the flipped sums of columns are held at once."""
        itemsize = np.dtype(self.dtype).itemsize
        n_columns = rows_that_fit(itemsize * self.signs.n_flips, _SINGLE)
        if self.members.most_columns <= n_columns:
            return max(1, self.n_pairs)
        return max(1, n_columns // 2)

    def _products(self, pairs: Index) -> tuple[Reals, Index, Index | None]:
        """Return the flipped sums of the columns of some pairs, (column, flip), and which columns these are."""
        columns, first, second = self.members.columns(pairs)
        sums = np.empty((len(columns), self.signs.n_flips), self.dtype)
        for some, signs in self.signs.batches(self.dtype):
            np.matmul(columns, signs.T, out=sums[:, some])
        return sums, first, second

    def _count(self, pairs: Index, flipped: Reals) -> None:
        """Count the flips of some pairs that reach what is observed, and keep their largest statistics."""
        for more, besides in zip(self.more, self.besides, strict=True):
            with_more = flipped + besides.astype(self.dtype)
            self._see(more, pairs, np.abs(with_more, out=with_more), count=False)
        self._see(self.plain, pairs, np.abs(flipped, out=flipped), count=True)

    def _see(self, scaled: _Scaled, pairs: Index, statistic: Reals, *, count: bool) -> None:
        """Take the sizes of flipped sums of some pairs, (pair, flip), into account; they are written over."""
        statistic *= scaled.unit[pairs, np.newaxis].astype(self.dtype)
        if count:
            least = (self.tie * self.observed[pairs]).astype(self.dtype)
            self.counts[pairs] = _n_reached(statistic, least)
        if self.limits and not self.signs.exact and self.n_rare:
            # single precision is enough for a quantile, and takes half the time
            scaled.own[pairs] = largest_of(statistic.astype(np.float32), self.n_rare)[:, 0]

        tested = self.tested[pairs]
        if not tested.any():
            return
        if not tested.all():
            pairs, statistic = pairs[tested], statistic[tested]
        values = scaled.tails.of(statistic, pairs)
        if not count:
            np.maximum(scaled.largest, values.max(axis=0), out=scaled.largest)
            return
        np.maximum(values[0], scaled.largest, out=values[0])
        _running_max(values)
        scaled.largest[:] = values[-1]
        least = (self.tie * self.significance[pairs]).astype(values.dtype)
        self.counts_adjusted[pairs] = _n_reached(values, least)

    def _critical(self, sets: list[_Scaled]) -> tuple[Floats, Floats]:
        """Return the r that must be exceeded, for a pair by itself and for all together; NaN where not asked for."""
        if not sets:
            return np.full(self.n_pairs, np.nan), np.full(self.n_pairs, np.nan)
        own = np.minimum((sets[0].own / self.tie_of_singles) ** 2, 1.0)
        largest = np.concatenate([each.largest for each in sets])
        n_rare = self.n_rare
        if len(sets) > 1:
            # of four times as many flips
            n_rare = min(4 * (self.n_rare - 1) + 1, len(largest))
        if n_rare == 0 or not self.tested.any():
            nothing = np.ones(self.n_pairs)
            return np.where(np.isnan(own), np.nan, own), nothing
        place = len(largest) - n_rare
        value = float(np.partition(largest, place)[place])
        return own, sets[0].tails.ratio_at(value / self.tie)


def _n_reached(values: Reals, least: Reals) -> Floats:
    """Return how many values, (pair, flip), are at least so large."""
    # a product with ones takes half the time of a sum of truths
    reached = (values >= least[:, np.newaxis]).astype(np.float32)
    return np.asarray(reached @ np.ones(values.shape[-1], np.float32), float)


def _running_max(values: Reals) -> None:
    """Replace values by the largest of each row and all before it."""
    # Over twice as many rows in each step: a fifth of the time of numpy's accumulate along the first axis.
    step = 1
    while step < len(values):
        np.maximum(values[step:], values[:-step], out=values[step:])
        step *= 2


def ratio_of_student(n_families: Floats, level: float) -> Floats:
    """Return the r of a two-sided test of Student's t."""
    df = np.maximum(n_families - 1, 1.0)
    t = scipy.special.stdtrit(df, 1 - level / 2)
    return np.asarray(t**2 / (t**2 + df))


def intervals(sums: PairTotals, ratio: Floats) -> Floats:
    """Return between which weighted means the statistic does not exceed a critical r, shape (pair, 2).

    Infinite where no shift is rejected that is far enough: of families of unlike size.
    """
    # With x less n δ in place of x, δ = d + e and c = F r / (1 - r): (1 + c/F) e² <= c (Q - 2 e P + e² N), of residuals
    # x - n d.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        c = sums.n_families * ratio / np.where(ratio < 1, 1 - ratio, 0.0)
        d = sums.total / sums.weight
        weight_squares = sums.weight_squares / sums.weight**2
        lean = sums.lean / sums.weight**2 - d * weight_squares
        squares = _squares_of_residuals(sums)
        curvature = 1 + c / sums.n_families - c * weight_squares
        half = np.sqrt((c * lean) ** 2 + curvature * c * squares)
        middle = d - c * lean / curvature
        ends = np.stack([middle - half / curvature, middle + half / curvature], axis=-1)
    is_bounded = np.isfinite(c) & (curvature > 0)
    ends[~is_bounded] = -np.inf, np.inf
    ends[np.isnan(ratio) | np.isnan(d)] = np.nan
    return ends


def standard_errors(sums: PairTotals) -> Floats:
    """Return the standard errors of weighted means, NaN of a single family."""
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = _squares_of_residuals(sums)
        is_rounding = squares <= _NO_SPREAD * sums.squares / sums.weight**2
        squares = np.where(is_rounding, 0.0, squares)
        variance = sums.n_families / (sums.n_families - 1) * squares
    return np.sqrt(np.where(sums.n_families > 1, variance, np.nan))


def _squares_of_residuals(sums: PairTotals) -> Floats:
    """Return the sum of squares of numbers less the weighted mean."""
    d = sums.total / sums.weight
    squares = sums.squares / sums.weight**2 - 2 * d * sums.lean / sums.weight**2
    return np.maximum(squares + d**2 * sums.weight_squares / sums.weight**2, 0.0)


def hull(some: Floats, others: Floats) -> Floats:
    """Return the hulls of two intervals each, shape (pair, 2)."""
    low = np.minimum(some[:, 0], others[:, 0])
    return np.stack([low, np.maximum(some[:, 1], others[:, 1])], axis=-1)
