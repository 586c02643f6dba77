"""Statistics of a performance distribution: of a sample, of its bootstrap resamples, and bounds from a band.

Mean, median, IQM and CVaR are means of F⁻¹ over a *span* of ranks. On the last axis: mean, median, standard deviation,
IQM, CVaR of the best and of the worst share at each level, partial means, shares, optimality gap. Some may be infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xcurves.array_types import Bools, Floats, Ints
from xcurves.kernels.distributions import ecdf

_TIE = 1e-12  # rounding of sums of weights, relative
_ROUNDING = 1e-13  # of mean squares less a squared mean, relative
# spans of ranks: these, then the upper tails at each level, then the lower ones
MEAN, MEDIAN, IQM = range(3)
_DEVIATION = 2  # place of the standard deviation among the statistics


@dataclass(frozen=True)
class Summaries:
    """Which statistics are wanted."""

    # of CVaR: at level α, the mean of the best and of the worst share 1 - α
    levels: Floats
    # CVaR as E[Z | Z >= F⁻¹(α)], with the whole of the boundary trial
    conditional: bool
    thresholds: Floats  # of partial mean and share
    targets: Floats  # of the optimality gap, one or none
    higher: bool  # whether higher scores are better
    # Whether trials have unlike weights: at the quartiles then they count in part, and none is cut off whole.
    weighted: bool = False

    @property
    def places(self) -> dict[str, slice]:
        """Where each statistic stands among all, by its name."""
        n_levels = len(self.levels)
        n_thresholds = len(self.thresholds)
        sizes = {
            "score_mean": 1,
            "score_median": 1,
            "score_std": 1,
            "iqm": 1,
            "cvar": n_levels,
            "cvar_lower": n_levels,
            "partial_mean_above": n_thresholds,
            "prob_above": n_thresholds,
            "optimality_gap": len(self.targets),
        }
        stops = np.cumsum(list(sizes.values())).tolist()
        return {name: slice(stop - size, stop) for (name, size), stop in zip(sizes.items(), stops, strict=True)}

    @property
    def length(self) -> int:
        """Number of statistics."""
        return int(self.places["optimality_gap"].stop)

    def spans(self, n: Floats) -> Floats:
        """Return the ranks between which F⁻¹ is averaged for samples of `n` trials, shape (..., span, 2)."""
        zero = np.zeros_like(n)
        half = n / 2
        # of even n both middle trials, of odd n the one
        median = (np.maximum(np.ceil(half) - 1, 0), np.floor(half) + 1)
        # whole trials are cut off, as SciPy's trim_mean and rliable do
        quarter = n / 4
        if not self.weighted:
            quarter = np.floor(quarter)
        iqm = (quarter, n - quarter)

        # A share of the boundary trial counts, but 10 (1 - 0.9) is one trial.
        cuts = [ecdf.whole(level * n, n) for level in self.levels]
        upper = [(cut, n) for cut in cuts]
        lower = [(zero, n - cut) for cut in cuts]

        spans = [(zero, n), median, iqm, *upper, *lower]
        ends = [np.stack(np.broadcast_arrays(*span), axis=-1) for span in spans]
        return np.stack(ends, axis=-2)

    def observe(self, x: Floats, sums: ecdf.CentredSums) -> Floats:
        """Return the statistics of sorted samples, shape (task, statistic); NaN of no trial."""
        n = sums.n
        size = n[:, np.newaxis]
        spans = self.spans(n.astype(float))
        if self.conditional:
            up_to = np.minimum(np.arange(1.0, x.shape[-1] + 1), size)
            spans = self._whole_boundaries(spans[:, np.newaxis], x, up_to[:, np.newaxis])[:, 0]

        means = _means_of_spans(spans, sums)
        deviations = sums.deviations()[:, np.newaxis]
        total = sums.up_to(size.astype(float))
        partial, share = self._beyond_thresholds(x, sums, total)
        gap = self._optimality_gap(x, sums, total)
        statistics = self._in_order(means, deviations, partial, share, gap)

        # `sums` have numbers in place of infinite trials: what these enter is set now.
        above = n > sums.last_finite
        reaches_above = spans[..., 1] > sums.last_finite[:, np.newaxis]
        statistics = self._with_infinity(statistics, reaches_above, above[:, np.newaxis], np.inf)
        below = sums.first_finite > 0
        reaches_below = spans[..., 0] < sums.first_finite[:, np.newaxis]
        return self._with_infinity(statistics, reaches_below, below[:, np.newaxis], -np.inf)

    def _beyond_thresholds(self, x: Floats, sums: ecdf.CentredSums, total: Floats) -> tuple[Floats, Floats]:
        """Return partial means and shares of the trials that meet thresholds, both of shape (task, threshold)."""
        size = sums.n[:, np.newaxis]
        thresholds = self.thresholds[np.newaxis]
        # Sums are of the lowest trials: of those that meet a threshold from below, or the total less those that do not.
        if self.higher:
            missed = ecdf.count_up_to(x, thresholds, "below")
            n_met = size - missed
            sum_met = total - sums.up_to(missed.astype(float))
        else:
            n_met = ecdf.count_up_to(x, thresholds, "up to")
            sum_met = sums.up_to(n_met.astype(float))
        per = _positive(sums.n)[:, np.newaxis]
        share = n_met / per
        # Σ (z - centre) over those that meet it lacks their number times the centre
        return sum_met / per + sums.centre * share, share

    def _optimality_gap(self, x: Floats, sums: ecdf.CentredSums, total: Floats) -> Floats:
        """Return how far scores are from the target on average, those beyond it counting as 0, (task, target)."""
        reached = ecdf.count_up_to(x, self.targets[np.newaxis])
        per = _positive(sums.n)[:, np.newaxis]
        of_target = sums.up_to(reached.astype(float))

        # Σ min(z, target) over all trials, or Σ max(z, target), about the centre
        target = self.targets - sums.centre
        if self.higher:
            capped = of_target + target * (per - reached)
        else:
            capped = target * reached + total - of_target
        return np.asarray(np.abs(target - capped / per))

    def _whole_boundaries(self, spans: Floats, x: Floats, cumulative: Floats) -> Floats:
        """Take all trials tied with F⁻¹(α), or with F⁻¹(1 - α) below, into the tails' spans, by resample."""
        none = np.zeros_like(cumulative[..., :1])
        padded = np.concatenate([none, cumulative], axis=-1)
        padded = np.broadcast_to(padded, (len(x), *padded.shape[1:]))
        spans = np.broadcast_to(spans, (len(x), *spans.shape[1:])).copy()
        last = x.shape[-1] - 1
        first_lower = IQM + 1 + len(self.levels)
        for span in range(IQM + 1, spans.shape[2]):
            # of upper tails the beginning moves down, of lower ones the end moves up
            is_lower = span >= first_lower
            end = int(is_lower)
            slack = _TIE * cumulative[..., -1]
            rank = np.maximum(spans[:, :, span, end] - slack, slack)
            # the trial of that rank: the first up to which so many are counted
            index = np.count_nonzero(cumulative < rank[..., np.newaxis], axis=-1)
            boundary = np.take_along_axis(x, np.minimum(index, last), axis=-1)
            tied = ecdf.count_up_to(x, boundary, "up to" if is_lower else "below")
            moved = np.take_along_axis(padded, tied[..., np.newaxis], axis=-1)
            spans[:, :, span, end] = moved[..., 0]
        return spans

    def _in_order(
        self,
        means: Floats,
        deviation: Floats,
        partial: Floats,
        share: Floats,
        gap: Floats,
    ) -> Floats:
        """Put statistics, those of spans first, into the order of `places`."""
        tails = means[..., IQM + 1 :]
        if not self.higher:
            # the best tail is the lower one, which stands second among the spans
            tails = np.roll(tails, len(self.levels), axis=-1)
        iqm = means[..., IQM : IQM + 1]
        return np.concatenate([means[..., :IQM], deviation, iqm, tails, partial, share, gap], axis=-1)

    def _with_infinity(self, statistics: Floats, tail: Bools, some: Bools, infinity: float) -> Floats:
        """Return statistics, infinite or NaN where their span or the sample has such trials (`tail`, `some`)."""
        if not some.any():
            return statistics
        # The best infinity meets every threshold, and the target at no distance; the other meets none, infinitely far.
        is_best = self.higher == (infinity > 0)
        partial = np.repeat(some & is_best, len(self.thresholds), axis=-1)
        gap = np.repeat(some & (not is_best), len(self.targets), axis=-1)
        # shares are of ranks, and finite
        none = np.zeros((*some.shape[:-1], len(self.thresholds)), bool)
        infinite = self._in_order(*(mask.astype(np.float64) for mask in (tail, some, partial, none, gap)))

        changed = np.where((infinite > 0) & ~np.isnan(statistics), infinity, statistics)
        # a gap is a distance
        gaps = self.places["optimality_gap"]
        changed[..., gaps] = np.abs(changed[..., gaps])
        # inf - inf
        deviation = changed[..., _DEVIATION]
        changed[..., _DEVIATION] = np.where(some[..., 0], np.nan, deviation)
        return changed

    def resampled(self, x: Floats, cumulative: Floats) -> Floats:
        """Return the statistics of resamples, (task, resample, statistic), of which trials are counted."""
        width = x.shape[-1]
        numbers, first, last = ecdf.finite(x, np.full(len(x), width))
        # Small scores keep their digits next to large ones.
        centre = numbers.mean(axis=-1, keepdims=True)
        centred = numbers - centre
        spans = self.spans(cumulative[..., -1])
        if self.conditional:
            # ties are the same among centred scores
            spans = self._whole_boundaries(spans, centred, cumulative)

        medians = None
        if self.weighted:
            medians, spans = _weighted_medians(centred, spans, cumulative)
        means = _resampled_means(centred, centre, spans, cumulative)
        if medians is not None:
            means[..., MEDIAN] = medians + centre
        functions = self._functions(x, centred, centred + centre)
        squares, partial, share, capped = self._resampled_functions(functions, cumulative)

        n = cumulative[..., -1:]
        mean = means[..., MEAN, np.newaxis] - centre[..., np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = squares - mean**2
            # A resample of one trial many times has no spread, but for rounding.
            varies = variance > _ROUNDING * squares
            deviation = np.sqrt(np.where(varies, variance, 0.0) * n / (n - 1))
        gap = np.abs(self.targets - capped)
        statistics = self._in_order(means, deviation, partial, share, gap)
        if (first == 0).all() and (last == width).all():
            return statistics

        n_below = _drawn_up_to(first, cumulative, len(x))
        up_to_last = _drawn_up_to(last, cumulative, len(x))
        slack = _TIE * cumulative[..., -1]
        statistics = self._with_infinity(
            statistics,
            spans[..., 1] > (up_to_last + slack)[..., np.newaxis],
            (cumulative[..., -1] > up_to_last + slack)[..., np.newaxis],
            np.inf,
        )
        return self._with_infinity(
            statistics,
            spans[..., 0] < (n_below - slack)[..., np.newaxis],
            (n_below > 0)[..., np.newaxis],
            -np.inf,
        )

    def _functions(self, x: Floats, centred: Floats, numbers: Floats) -> Floats:
        """Return the functions of trials whose means are statistics, shape (task, trial, function)."""
        # Thresholds are met by infinite trials too; what is summed has numbers for them.
        x = x[..., np.newaxis]
        numbers = numbers[..., np.newaxis]
        if self.higher:
            met = x >= self.thresholds
            capped = np.minimum(np.where(np.isneginf(x), numbers, x), self.targets)
        else:
            met = x <= self.thresholds
            capped = np.maximum(np.where(np.isposinf(x), numbers, x), self.targets)
        squares = centred[..., np.newaxis] ** 2
        return np.concatenate([squares, np.where(met, numbers, 0.0), met, capped], axis=-1)

    def _resampled_functions(self, functions: Floats, cumulative: Floats) -> list[Floats]:
        """Return means of functions over resamples, (task, resample, function): squares, partial, share, capped."""
        # With C_i the count up to trial i and n = C_last, Σ_i g_i (C_i - C_{i-1}) = g_last n - Σ_i C_i (g_{i+1} - g_i):
        # cumulative counts serve as they are, in one product of matrices.
        steps = np.diff(functions, axis=1)
        last = functions[:, np.newaxis, -1]
        means = last - (cumulative[..., :-1] @ steps) / cumulative[..., -1:]
        n_thresholds = len(self.thresholds)
        edges = np.cumsum([1, n_thresholds, n_thresholds])
        return np.split(means, edges, axis=-1)

    def bounds(self, x: Floats, sums: ecdf.CentredSums, alpha: float, low: float, high: float) -> Floats:
        """Return limits from the band of F and scores between `low` and `high`, (task, statistic, 2); else NaN."""
        upper = [(level, 1.0) for level in self.levels]
        lower = [(0.0, 1 - level) for level in self.levels]
        if self.higher:
            tails = upper + lower
        else:
            tails = lower + upper
        # shares of the distribution: mean, IQM, tails
        spans = [(0.0, 1.0), (0.25, 0.75), *tails]
        places = self.places
        of_tails = slice(places["cvar"].start, places["cvar_lower"].stop)
        of_spans = [
            places["score_mean"].start,
            places["iqm"].start,
            *range(of_tails.start, of_tails.stop),
        ]

        limits = np.full((len(x), self.length, 2), np.nan)
        for side, end in enumerate((low, high)):
            means = [_mean_in_band(x, sums, alpha, span, end, is_low=side == 0) for span in spans]
            limits[:, of_spans, side] = np.stack(means, axis=-1)
            for target in self.targets:
                limits[:, -1, side] = self._gap_in_band(x, alpha, target, end, is_low=side == 0)
        if self.conditional:
            # which trials a tail has depends on ties: no integral of F⁻¹ between shares
            limits[:, of_tails] = np.nan
        # where higher is better the lowest scores have the largest gap
        limits[:, places["optimality_gap"]].sort(axis=-1)
        return limits

    def _gap_in_band(self, x: Floats, alpha: float, target: float, end: float, *, is_low: bool) -> Floats:
        """Return the gap of the lowest scores that the band allows, or of the highest, `end` without trials."""
        # Scores are lowest where F is highest. Only one of both limits is kept: more memory takes time for many trials.
        if is_low:
            limits = ecdf.band(x.shape[1], alpha).upper
            rest = limits[0]
        else:
            limits = ecdf.band(x.shape[1], alpha).lower
            rest = 1 - limits[-1]
        if self.higher:
            short = target - x
            short_at_end = target - end
        else:
            short = x - target
            short_at_end = end - target
        return weighted_mean(np.maximum(short, 0.0), np.diff(limits), rest, max(short_at_end, 0.0))


def _means_of_spans(spans: Floats, sums: ecdf.CentredSums) -> Floats:
    """Return the means of F⁻¹ over spans of ranks, shape (task, span)."""
    up_to = sums.up_to(spans.reshape(len(spans), -1)).reshape(spans.shape)
    length = np.diff(spans, axis=-1)[..., 0]
    means = np.diff(up_to, axis=-1)[..., 0] / _positive(length) + sums.centre
    # rounding could exceed the trials
    highest = ecdf.value_at(sums.x, sums.n[:, np.newaxis], sums.n)
    clipped: Floats = np.clip(means, sums.x[:, :1], highest)
    return clipped


def _resampled_means(centred: Floats, centre: Floats, spans: Floats, cumulative: Floats) -> Floats:
    """Return the means of F⁻¹ over spans of ranks of resamples, shape (task, resample, span)."""
    # Trial i has clip(C_i) - clip(C_{i-1}) ranks in a span from low to high, C_i being the count up to it. By parts,
    #     Σ_i x_i (clip(C_i) - clip(C_{i-1})) = x_last high - x_first low - Σ_i clip(C_i) (x_{i+1} - x_i).
    inner = cumulative[..., :-1]
    steps = np.diff(centred, axis=-1)[..., np.newaxis]
    means = []
    for span in range(spans.shape[-2]):
        low = spans[..., span, :1]
        high = spans[..., span, 1:]
        if span == MEAN:
            clipped = inner  # the span has all ranks
        else:
            # half of the time of clip
            clipped = np.maximum(np.minimum(inner, high), low)
        ends = centred[:, -1:] * high[..., 0] - centred[:, :1] * low[..., 0]
        total = ends - (clipped @ steps)[..., 0]
        means.append(total / (high - low)[..., 0] + centre)
    return np.stack(means, axis=-1)


def _weighted_medians(x: Floats, spans: Floats, cumulative: Floats) -> tuple[Floats, Floats]:
    """Return medians of trials with weights, shape (task, resample), and the spans with the trials that these are of.

    Where a trial ends at half of the weight it is the mean of that trial and the next one.
    """
    total = cumulative[..., -1:]
    slack = _TIE * total
    first = np.count_nonzero(cumulative < total / 2 - slack, axis=-1)
    last = np.count_nonzero(cumulative <= total / 2 + slack, axis=-1)
    both = np.take_along_axis(x[:, np.newaxis], np.stack([first, last], axis=-1), -1)

    padded = np.concatenate([np.zeros_like(total), cumulative], axis=-1)
    ends = np.stack([first, last + 1], axis=-1)
    spans = spans.copy()
    spans[:, :, MEDIAN] = np.take_along_axis(padded, ends, axis=-1)
    return both.mean(axis=-1), spans


def _drawn_up_to(rank: Ints, cumulative: Floats, n_tasks: int) -> Floats:
    """Count the trials of each resample that are among the lowest of the sample, shape (task, resample)."""
    by_task = np.broadcast_to(cumulative, (n_tasks, *cumulative.shape[1:]))
    index = np.maximum(rank - 1, 0)[:, np.newaxis, np.newaxis]
    drawn = np.take_along_axis(by_task, index, axis=-1)[..., 0]
    return np.where(rank[:, np.newaxis] > 0, drawn, 0.0)


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
    n = x.shape[1]
    if n > ecdf.LARGEST:
        return _mean_in_dkw_band(x, sums, alpha, span, end, is_low=is_low)
    # Trial i has the shares of the span between its limit of F and that of the trial before; `end` has the rest. F⁻¹ is
    # lowest where F is highest.
    start, stop = span
    band = ecdf.band(n, alpha)
    if is_low:
        limits = np.clip(band.upper, start, stop)
        rest = limits[0] - start
    else:
        limits = np.clip(band.lower, start, stop)
        rest = stop - limits[-1]
    return weighted_mean(x, np.diff(limits), rest, end, sums.centre[:, 0])


def _mean_in_dkw_band(
    x: Floats,
    sums: ecdf.CentredSums,
    alpha: float,
    span: tuple[float, float],
    end: float,
    *,
    is_low: bool,
) -> Floats:
    """Return the same for the band F ± ε."""
    # The band is parallel to F: F⁻¹(p ∓ ε) over the span is F⁻¹ over the shifted span, what leaves 0 to 1 is at `end`.
    # Arrays of limits would take twice as long for 3,000,000 trials.
    n = x.shape[1]
    centre = sums.centre[:, 0]
    start, stop = span
    epsilon = ecdf.dkw(n, alpha)
    if is_low:
        shift = -epsilon
        rest = max(min(epsilon, stop) - start, 0.0)
    else:
        shift = epsilon
        rest = max(stop - max(1 - epsilon, start), 0.0)
    first, last = np.clip(n * (np.array(span) + shift), 0, n)
    total = np.diff(sums.up_to(np.full((len(x), 2), [first, last])))[:, 0] / n
    if rest > 0:  # 0 · inf is NaN
        total += rest * (end - centre)

    # numbers stand for infinite trials in the sums; an infinite `end` of the other sign remains
    above = (sums.last_finite < n) & (last > sums.last_finite) & (first < n)
    total[above & (total > -np.inf)] = np.inf
    below = (sums.first_finite > 0) & (first < sums.first_finite) & (last > 0)
    total[below & (total < np.inf)] = -np.inf
    return np.asarray(total / (stop - start) + centre)


def weighted_mean(x: Floats, weight: Floats, rest: float, end: float, centre: Floats | float = 0.0) -> Floats:
    """Return the mean of trials in order and of `end`, which has the weight `rest`; of opposite infinite ones `end`."""
    used = np.flatnonzero(weight > 0)
    if not used.size:
        return np.full(len(x), end)
    # infinite trials at the ends that have no weight stay out: 0 · inf is NaN
    inside = slice(used[0], used[-1] + 1)
    trials = x[:, inside]
    weights = weight[inside]
    with np.errstate(invalid="ignore"):
        # not by BLAS, which rounds by the number of tasks
        total = np.einsum("ti,i->t", trials - np.reshape(centre, (-1, 1)), weights)
        if rest > 0:
            total += rest * (end - centre)
        mean = total / (weights.sum() + rest) + centre

    # a mean lies between what it is of; rounding exceeds that
    edges = [trials[:, 0], trials[:, -1]]
    if rest > 0:
        edges.append(np.full(len(x), end))
    between = np.stack(edges)
    known = np.where(np.isnan(mean), end, mean)
    return np.clip(known, between.min(axis=0), between.max(axis=0))


def _positive(divisor: Floats | Ints) -> Floats:
    """Return a divisor, NaN where it is 0."""
    return np.where(divisor > 0, divisor, np.nan)
