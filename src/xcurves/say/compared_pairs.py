"""What a verdict is made of: compared algorithms, their pairs and means; and amounts and reasons as text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, isnan

import xarray as xr

from xcurves.core.provenance import SCORE_NAME
from xcurves.core.scales import DIFFERENCE, Scale, Words
from xcurves.core.validation import is_without_training
from xcurves.say.numbers import decimals_of, interval, pvalue, rounded, units_after
from xcurves.say.pairs import PairRow, most_ahead

_MOST_REASONS = 3  # that a sentence has
Reasons = Mapping[frozenset[str], str]


@dataclass(frozen=True)
class Compared:
    """What the verdict about one task, or one benchmark, is made of."""

    rows: Sequence[PairRow]  # all displayed pairs
    algorithms: Sequence[str]  # those that the verdict is about
    may_be_best: Sequence[str]  # over whom no other is shown to be better
    score: str  # as the user calls it: "mean accuracy"
    units: str = "1"
    means: Mapping[str, float] | None = field(default_factory=dict)  # None: only pairs are known
    among: str = ""  # in front of who is best, where others are left out
    over: str = ""  # behind the mean, "over 16 tasks"
    on: str = ""  # what the claim is about, "on tasks like these"
    lower_is_better: bool = False
    has_limits: bool = True  # whether intervals are said
    has_p: bool = True  # whether p are said
    scale: Scale = DIFFERENCE
    reasons: Reasons = field(default_factory=dict)  # why a pair has no p

    @property
    def better(self) -> str:
        """Return "higher", or "lower" where low scores are better."""
        return self._words[0].beside

    @property
    def leads(self) -> str:
        """Return what the best of two, or of more, has: "the highest mean score"."""
        better, _ = self._words
        if len(self.algorithms) > 2:
            return better.of_all.format(noun=self.score)
        return better.of_two.format(noun=self.score)

    @property
    def worse(self) -> str:
        """Return the opposite of `better`."""
        return self._words[1].beside

    @property
    def _words(self) -> tuple[Words, Words]:
        """Return the words for better ones and for worse ones."""
        if self.lower_is_better:
            return self.scale.down, self.scale.up
        return self.scale.up, self.scale.down

    @property
    def own_rows(self) -> list[PairRow]:
        """Return the pairs of algorithms that the verdict is about."""
        own = set(self.algorithms)
        return [row for row in self.rows if row[0] in own and row[1] in own]

    @property
    def best(self) -> str | None:
        """Return the algorithm with the best mean, None if no difference is known."""
        if all(isnan(row.amount) for row in self.rows):
            return None
        if self.means is None:
            return most_ahead(self.rows)
        means = {name: self.means[name] for name in self.algorithms if name in self.means}
        if not means:
            return None
        if self.lower_is_better:
            return min(means, key=lambda name: means[name])
        return max(means, key=lambda name: means[name])

    @property
    def named_best(self) -> str | None:
        """Return the algorithm with the best mean, None where another is shown to be better."""
        best = self.best
        if best is None or self.above(best):
            return None
        return best

    @property
    def rivals(self) -> tuple[str, str] | None:
        """Return the best and the nearest that is not told apart from it; None if there is none."""
        best = self.named_best
        untold = [row for row in self.own_rows if best in row[:2] and not row.shown and not isnan(row.p)]
        if best is None or not untold:
            return None
        return best, beside(best, min(untold, key=lambda row: abs(row.amount)))

    @property
    def nearest(self) -> tuple[str, str] | None:
        """Return the same, or, where all others are shown to be worse, the best and the nearest of these."""
        best = self.named_best
        rows = [row for row in self.own_rows if best in row[:2] and not isnan(row.amount)]
        if best is None or not rows:
            return None
        return self.rivals or (best, beside(best, min(rows, key=lambda row: abs(row.amount))))

    def above(self, name: str) -> list[PairRow]:
        """Return the pairs in which another is shown to be better than an algorithm."""
        return [row for row in self.rows if row.shown and row.other == name]

    def shown_below(self, name: str) -> list[PairRow]:
        """Return the pairs in which an algorithm is shown to be better, the nearest other first."""
        rows = [row for row in self.own_rows if row.shown and row.better == name]
        return sorted(rows, key=lambda row: row.amount)


def score_name(result: xr.Dataset) -> str:
    """Return what the user called the scores of a result."""
    return str(result.attrs.get(SCORE_NAME, "score"))


def mean_score(result: xr.Dataset) -> str:
    """Return what runs are compared by: "mean accuracy over training", of scores without training "mean accuracy"."""
    over = "" if is_without_training(result) else " over training"
    return f"mean {score_name(result)}{over}"


def means_of(result: xr.Dataset, name: str) -> dict[str, float]:
    """Return the mean score of every algorithm that has one."""
    if name not in result:
        return {}
    values = result[name].to_numpy().tolist()
    labels = [str(label) for label in result["algorithm"].to_numpy().tolist()]
    return {label: value for label, value in zip(labels, values, strict=True) if isfinite(value)}


def named(result: xr.Dataset, variable: xr.DataArray) -> list[str]:
    """Return the algorithms at which a variable is 1."""
    return [str(label) for label in result["algorithm"].to_numpy()[variable.to_numpy() == 1].tolist()]


def beside(name: str, row: PairRow) -> str:
    """Return the algorithm of a pair that is not the named one."""
    if row.better == name:
        return row.other
    return row.better


def why(made: Compared, row: PairRow) -> str:
    """Return why a pair has no p, "" where that is not known."""
    return made.reasons.get(frozenset(row[:2]), "")


def because(made: Compared, rows: Iterable[PairRow]) -> str:
    """Return the reasons why pairs have no p, each once, behind a colon; "" if none is known."""
    reasons = list(dict.fromkeys(why(made, row) for row in rows if isnan(row.p)))
    known = [reason for reason in reasons if reason]
    if not known:
        return ""
    return f": {'; '.join(known[:_MOST_REASONS])}"


def is_or_are(names: Collection[str]) -> str:
    """Return the verb of so many names."""
    if len(names) == 1:
        return "is"
    return "are"


def amount_of(made: Compared, row: PairRow, *, with_p: bool = False) -> str:
    """Return by how much the first of a pair is better, with its interval, and p: "by 7.6 (3.5 to 11.7; p = .02)"."""
    size = rounded_amount(row, made.scale)
    if made.means is None:  # otherwise the mean has the unit
        size += units_after(made.units)
    amount = made.scale.by.format(size)
    inside = inside_of(made, row, with_p=with_p)
    if not inside:
        return amount
    return f"{amount} ({inside})"


def inside_of(made: Compared, row: PairRow, *, with_p: bool = True) -> str:
    """Return what stands in brackets behind an amount: its interval and p, if they are said."""
    inside = []
    if made.has_limits:
        inside.append(limits_of(row, made.scale))
    if made.has_p and (with_p or not made.has_limits):
        inside.append(pvalue(row.p))
    return "; ".join(inside)


def amount_inside(made: Compared, row: PairRow) -> str:
    """Return an amount inside of brackets: "by 7.6, more than 0 to 15.9"; without an interval its p."""
    amount = made.scale.by.format(rounded_amount(row, made.scale))
    inside = inside_of(made, row, with_p=False)
    if not inside:
        return amount
    return f"{amount}, {inside}"


def rounded_amount(row: PairRow, scale: Scale = DIFFERENCE) -> str:
    """Return the amount of a pair in the decimals that its interval supports."""
    amount, low, high = _written(row, scale)
    return rounded(amount, decimals_of(low, high, amount))


def limits_of(row: PairRow, scale: Scale = DIFFERENCE) -> str:
    """Return the interval of a pair; one that is shown may have an open end."""
    amount, low, high = _written(row, scale)
    if row.shown:
        return interval(low, high, estimate=amount, null=scale.null)
    return _plain(amount, low, high)


def _written(row: PairRow, scale: Scale) -> tuple[float, float, float]:
    """Return the amount of a pair and both ends of its interval as they are said."""
    return scale.write(row.amount), scale.write(row.low), scale.write(row.high)


def _plain(amount: float, low: float, high: float) -> str:
    """Return both ends of the interval of a pair, or that it has none."""
    if isnan(low) or not (isfinite(low) or isfinite(high)):
        if low == -inf:
            return "interval unbounded"
        return "no interval"
    return interval(low, high, estimate=amount)
