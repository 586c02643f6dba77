"""Statistics of a performance distribution: of a sample, of its bootstrap resamples, and bounds from a band.

Mean, median, IQM and CVaR are means of F⁻¹ over a *span* of ranks. On the last axis: mean, median, standard deviation,
IQM, CVaR of the best and of the worst share at each level, partial means, shares, optimality gap. Some may be infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Ints
from xcurves.kernels.distributions import ecdf

_ROUNDING = 1e-13
# first spans; then the upper tails at each level, then the lower ones
MEAN, MEDIAN, IQM = range(3)
_DEVIATION = 2  # place of the standard deviation among the statistics


@dataclass(frozen=True)
class Summaries:
    """Which statistics are wanted."""

    levels: (
        Floats  # of CVaR: at level α, the mean of the best and of the worst share 1 - α
    )
    conditional: (
        bool  # CVaR as E[Z | Z >= F⁻¹(α)], with the whole of the boundary trial
    )
    thresholds: Floats  # of partial mean and share
    targets: Floats  # of the optimality gap, one or none
    higher: bool  # whether higher scores are better

    @property
    def places(self) -> dict[str, slice]:
        """Where each statistic stands among all, by its name."""
        levels, thresholds = len(self.levels), len(self.thresholds)
        names = "score_mean score_median score_std iqm cvar cvar_lower partial_mean_above prob_above optimality_gap"
        sizes = [1, 1, 1, 1, levels, levels, thresholds, thresholds, len(self.targets)]
        ends = np.cumsum(sizes).tolist()
        return {
            name: slice(end - size, end)
            for name, size, end in zip(names.split(), sizes, ends, strict=True)
        }

    @property
    def length(self) -> int:
        """Number of statistics."""
        return int(self.places["optimality_gap"].stop)

    def spans(self, n: Floats) -> Floats:
        """Return the ranks between which F⁻¹ is averaged for samples of `n` trials, shape (..., span, 2)."""
        zero, half = np.zeros_like(n), n / 2
        quarter = np.floor(n / 4)
        first = [
            (zero, n),
            (np.maximum(np.ceil(half) - 1, 0), np.floor(half) + 1),
            (quarter, n - quarter),
        ]
        cuts = [ecdf.whole(level * n, n) for level in self.levels]
        tails = [(cut, n) for cut in cuts] + [(zero, n - cut) for cut in cuts]
        return np.stack(
            [
                np.stack(np.broadcast_arrays(*span), axis=-1)
                for span in [*first, *tails]
            ],
            axis=-2,
        )

    def observe(self, x: Floats, sums: ecdf.CentredSums) -> Floats:
        """Return the statistics of sorted samples, shape (task, statistic); NaN of no trial."""
        n, centre = sums.n, sums.centre
        spans = self.spans(n.astype(float))
        if self.conditional:
            counts = np.minimum(np.arange(1.0, x.shape[-1] + 1), n[:, np.newaxis])[
                :, np.newaxis
            ]
            spans = self._whole_boundaries(spans[:, np.newaxis], x, counts)[:, 0]
        met = ecdf.count_up_to(
            x, self.thresholds[np.newaxis], "below" if self.higher else "up to"
        )
        reached = ecdf.count_up_to(x, self.targets[np.newaxis])
        x = sums.x
        most = ecdf.value_at(x, n[:, np.newaxis], n)
        both = sums.up_to(spans.reshape(len(x), -1)).reshape(spans.shape)
        below, of_target, total = (
            sums.up_to(ranks.astype(float))
            for ranks in (met, reached, n[:, np.newaxis])
        )
        per = _positive(n)[:, np.newaxis]
        means = (
            np.diff(both, axis=-1)[..., 0] / _positive(np.diff(spans, axis=-1)[..., 0])
            + centre
        )
        means = np.clip(means, x[:, :1], most)  # rounding could exceed them
        share = (n[:, np.newaxis] - met if self.higher else met) / per
        partial = (total - below if self.higher else below) / per + centre * share
        target = self.targets - centre
        capped = (
            of_target + target * (per - reached)
            if self.higher
            else target * reached + total - of_target
        )
        gap = np.abs(target - capped / per)
        found = self._in_order(
            means, sums.deviations()[:, np.newaxis], partial, share, gap
        )
        for some, tail, infinity in (
            (
                n > sums.last_finite,
                spans[..., 1] > sums.last_finite[:, np.newaxis],
                np.inf,
            ),
            (
                sums.first_finite > 0,
                spans[..., 0] < sums.first_finite[:, np.newaxis],
                -np.inf,
            ),
        ):
            found = self._with_infinity(found, tail, some[:, np.newaxis], infinity)
        return found

    def _whole_boundaries(self, spans: Floats, x: Floats, cumulative: Floats) -> Floats:
        """Take all trials tied with F⁻¹(α), or with F⁻¹(1 - α) below, into the tails' spans, by resample."""
        padded = np.concatenate(
            [np.zeros_like(cumulative[..., :1]), cumulative], axis=-1
        )
        padded = np.broadcast_to(padded, (len(x), *padded.shape[1:]))
        spans = np.broadcast_to(spans, (len(x), *spans.shape[1:])).copy()
        for span in range(IQM + 1, spans.shape[2]):
            end = int(span > IQM + len(self.levels))  # of the lower tails
            rank = np.maximum(np.ceil(spans[:, :, span, end]), 1)
            place = np.count_nonzero(cumulative < rank[..., np.newaxis], axis=-1)
            boundary = np.take_along_axis(
                x, np.minimum(place, x.shape[-1] - 1), axis=-1
            )
            tied = ecdf.count_up_to(x, boundary, "up to" if end else "below")
            spans[:, :, span, end] = np.take_along_axis(
                padded, tied[..., np.newaxis], axis=-1
            )[..., 0]
        return spans

    def _in_order(
        self,
        means: Floats,
        deviation: Floats,
        partial: Floats,
        share: Floats,
        gap: Floats,
    ) -> Floats:
        size = len(self.levels)
        tails = means[..., IQM + 1 :]
        best_first = tails if self.higher else np.roll(tails, size, axis=-1)
        return np.concatenate(
            [
                means[..., :IQM],
                deviation,
                means[..., IQM : IQM + 1],
                best_first,
                partial,
                share,
                gap,
            ],
            axis=-1,
        )

    def _with_infinity(
        self,
        found: Floats,
        tail: NDArray[np.bool_],
        some: NDArray[np.bool_],
        infinity: float,
    ) -> Floats:
        """Return statistics, infinite or NaN where their span or the sample has such trials (`tail`, `some`)."""
        if not some.any():
            return found
        none = np.zeros((*some.shape[:-1], len(self.thresholds)), bool)
        # it meets every threshold and every target
        is_best = self.higher == (infinity > 0)
        partial = np.repeat(some & is_best, len(self.thresholds), axis=-1)
        gap = np.repeat(some & (not is_best), len(self.targets), axis=-1)
        infinite = self._in_order(
            *(each.astype(np.float64) for each in (tail, some, partial, none, gap))
        )
        found = np.where((infinite > 0) & ~np.isnan(found), infinity, found)
        gaps = self.places["optimality_gap"]
        found[..., gaps] = np.abs(found[..., gaps])
        found[..., _DEVIATION] = np.where(some[..., 0], np.nan, found[..., _DEVIATION])
        return found

    def resampled(self, x: Floats, cumulative: Floats) -> Floats:
        """Return the statistics of resamples, (task, resample, statistic), of which trials are counted."""
        z = x
        x, first, last = ecdf.finite(x, np.full(len(x), x.shape[-1]))
        centre = x.mean(axis=-1, keepdims=True)
        x = x - centre
        total, inner = cumulative[..., -1], cumulative[..., :-1]
        spans = self.spans(total)
        if self.conditional:
            spans = self._whole_boundaries(spans, x, cumulative)
        step = np.diff(x, axis=-1)[..., np.newaxis]
        means = []
        for span in range(spans.shape[-2]):
            low, high = spans[..., span, :1], spans[..., span, 1:]
            # half of the time of clip
            below = inner if span == MEAN else np.maximum(np.minimum(inner, high), low)
            whole = (x[:, -1:] * high[..., 0] - x[:, :1] * low[..., 0]) - (
                below @ step
            )[..., 0]
            means.append(whole / (high - low)[..., 0] + centre)
        # with numbers for infinite ones
        z, raised = (z[..., np.newaxis], (x + centre)[..., np.newaxis])
        met = (z >= self.thresholds) if self.higher else (z <= self.thresholds)
        if self.higher:
            capped = np.minimum(np.where(np.isneginf(z), raised, z), self.targets)
        else:
            capped = np.maximum(np.where(np.isposinf(z), raised, z), self.targets)
        functions = np.concatenate(
            [x[..., np.newaxis] ** 2, np.where(met, raised, 0.0), met, capped], axis=-1
        )
        found = (
            functions[:, np.newaxis, -1]
            - (inner @ np.diff(functions, axis=1)) / total[..., np.newaxis]
        )
        edges = np.cumsum([1, len(self.thresholds), len(self.thresholds)])
        squares, partial, share, capped = np.split(found, edges, axis=-1)
        mean = means[MEAN][..., np.newaxis] - centre[..., np.newaxis]
        n = total[..., np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = squares - mean**2
            deviation = np.sqrt(
                np.where(variance > _ROUNDING * squares, variance, 0.0) * n / (n - 1)
            )
        gap = np.abs(self.targets - capped)
        statistics = self._in_order(
            np.stack(means, axis=-1), deviation, partial, share, gap
        )
        if (first == 0).all() and (last == x.shape[-1]).all():
            return statistics
        every = np.broadcast_to(cumulative, (len(x), *cumulative.shape[1:]))

        def drawn_up_to(rank: Ints) -> Floats:
            """Count the trials of each resample that are among the lowest of the sample."""
            places = np.maximum(rank - 1, 0)[:, np.newaxis, np.newaxis]
            return np.where(
                rank[:, np.newaxis] > 0,
                np.take_along_axis(every, places, axis=-1)[..., 0],
                0.0,
            )

        below, up_to = drawn_up_to(first), drawn_up_to(last)
        above = (total > up_to)[..., np.newaxis]
        statistics = self._with_infinity(
            statistics, spans[..., 1] > up_to[..., np.newaxis], above, np.inf
        )
        failed = (below > 0)[..., np.newaxis]
        return self._with_infinity(
            statistics, spans[..., 0] < below[..., np.newaxis], failed, -np.inf
        )

    def bounds(
        self, x: Floats, sums: ecdf.CentredSums, alpha: float, low: float, high: float
    ) -> Floats:
        """Return limits from the band of F and scores between `low` and `high`, (task, statistic, 2); else NaN."""
        upper, lower = (
            [(level, 1.0) for level in self.levels],
            [(0.0, 1 - level) for level in self.levels],
        )
        spans = [
            (0.0, 1.0),
            (0.25, 0.75),
            *(upper + lower if self.higher else lower + upper),
        ]
        tails = slice(self.places["cvar"].start, self.places["cvar_lower"].stop)
        places = [0, 3, *range(tails.start, tails.stop)]
        both = np.full((len(x), self.length, 2), np.nan)
        for side, end in enumerate((low, high)):
            means = [
                _mean_in_band(x, sums, alpha, span, end, is_low=side == 0)
                for span in spans
            ]
            both[:, places, side] = np.stack(means, axis=-1)
            for target in self.targets:
                limits = ecdf.band(x.shape[1], alpha)[1 - side]
                rest = limits[0] if side == 0 else 1 - limits[-1]
                beyond, most = (
                    (target - each if self.higher else each - target)
                    for each in (x, end)
                )
                both[:, -1, side] = weighted_mean(
                    np.maximum(beyond, 0.0), np.diff(limits), rest, max(most, 0.0)
                )
        if self.conditional:
            both[:, tails] = np.nan
        both[:, self.places["optimality_gap"]].sort(axis=-1)
        return both


def _mean_in_band(
    x: Floats,
    sums: ecdf.CentredSums,
    alpha: float,
    span: tuple[float, float],
    end: float,
    *,
    is_low: bool,
) -> Floats:
    """Return the mean over a span of the lowest F⁻¹ that the band allows, or of the highest, `end` without trials."""
    centre, n = sums.centre[:, 0], x.shape[1]
    start, stop = span
    if n <= ecdf.LARGEST:
        limits = np.clip(ecdf.band(n, alpha)[is_low], start, stop)
        return weighted_mean(
            x,
            np.diff(limits),
            limits[0] - start if is_low else stop - limits[-1],
            end,
            centre,
        )
    # parallel to F: arrays of limits would take twice as long for 3,000,000 trials
    epsilon = ecdf.dkw(n, alpha)
    rest = max(
        min(epsilon, stop) - start if is_low else stop - max(1 - epsilon, start), 0.0
    )
    first, last = np.clip(
        n * (np.array(span) + (-epsilon if is_low else epsilon)), 0, n
    )
    total = np.diff(sums.up_to(np.full((len(x), 2), [first, last])))[:, 0] / n
    total += rest * (end - centre) if rest else 0.0
    total[
        (sums.last_finite < n)
        & (last > sums.last_finite)
        & (first < n)
        & (total > -np.inf)
    ] = np.inf
    total[
        (sums.first_finite > 0)
        & (first < sums.first_finite)
        & (last > 0)
        & (total < np.inf)
    ] = -np.inf
    return np.asarray(total / (stop - start) + centre)


def weighted_mean(
    x: Floats, weight: Floats, rest: float, end: float, centre: Floats | float = 0.0
) -> Floats:
    """Return the mean of trials in order and of `end`, which has the weight `rest`; of opposite infinite ones `end`."""
    used = np.flatnonzero(weight > 0)
    if not used.size:
        return np.full(len(x), end)
    inside = slice(used[0], used[-1] + 1)
    own, weight = x[:, inside], weight[inside]
    with np.errstate(invalid="ignore"):
        # BLAS rounds by the number of tasks
        total = np.einsum("ti,i->t", own - np.reshape(centre, (-1, 1)), weight)
        total += rest * (end - centre) if rest > 0 else 0.0
        mean = total / (weight.sum() + rest) + centre
    edges = np.stack(
        [own[:, 0], own[:, -1], np.full(len(x), end) if rest > 0 else own[:, 0]]
    )
    # rounding exceeds them
    return np.clip(
        np.where(np.isnan(mean), end, mean), edges.min(axis=0), edges.max(axis=0)
    )


def _positive(divisor: Floats | Ints) -> Floats:
    return np.where(divisor > 0, divisor, np.nan)
