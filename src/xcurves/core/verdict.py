"""The verdict about algorithms compared in pairs: who is best, who may be, by how much, and what would tell more.

For a reader without statistics, in at most 70 words; all numbers come from the displayed pairs of `core.pairs`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, isnan

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.pairs import PairRow, most_ahead
from xcurves.core.provenance import SCORE_NAME, significant
from xcurves.core.wording import (
    decimals_of,
    listed,
    number,
    open_interval,
    pvalue,
    quantity,
    rounded,
)

UNTESTED = "runs are missing or do not differ at all"
MOST_WORDS = 70  # of a verdict
_MOST_NAMED = 3  # algorithms that a sentence names


@dataclass(frozen=True)
class Comparison:
    """What the verdict about one task, or one benchmark, is made of."""

    rows: Sequence[PairRow]  # the displayed pairs
    algorithms: Sequence[str]
    may_be_best: Sequence[str]  # over whom no other is shown to be better
    score: str  # as the user calls it: "mean accuracy over 16 tasks"
    units: str = "1"
    means: Mapping[str, float] = field(default_factory=dict)
    on: str = ""  # what the claim is about, "on tasks like these"
    lower_is_better: bool = False

    @property
    def better(self) -> str:
        """Return "higher", or "lower" where low scores are better."""
        if self.lower_is_better:
            return "lower"
        return "higher"

    @property
    def worse(self) -> str:
        """Return the opposite of `better`."""
        if self.lower_is_better:
            return "higher"
        return "lower"

    @property
    def best(self) -> str | None:
        """Return the algorithm with the best mean, None if no difference is known."""
        return most_ahead(self.rows)

    def over(self, name: str) -> list[PairRow]:
        """Return the pairs in which an algorithm is the better one, the nearest other first."""
        return sorted(
            (row for row in self.rows if row.better == name), key=lambda row: row.amount
        )


def score_name(result: xr.Dataset) -> str:
    """Return what the user called the scores of a result."""
    return str(result.attrs.get(SCORE_NAME, "score"))


def means_of(result: xr.Dataset, name: str) -> dict[str, float]:
    """Return the mean score of every algorithm that has one."""
    if name not in result:
        return {}
    values = result[name].to_numpy().tolist()
    labels = [str(label) for label in result["algorithm"].to_numpy().tolist()]
    return {
        label: value
        for label, value in zip(labels, values, strict=True)
        if isfinite(value)
    }


def named(result: xr.Dataset, variable: xr.DataArray) -> list[str]:
    """Return the algorithms at which a variable is 1."""
    return [
        str(label)
        for label in result["algorithm"].to_numpy()[variable.to_numpy() == 1].tolist()
    ]


def within_words(
    sentences: Sequence[str], leave_first: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the sentences of a verdict of at most `MOST_WORDS` words, and those that are left out for that.

    Of `leave_first` as many are left out as is needed, one after the other.
    """
    kept = list(sentences)
    left = []
    for sentence in leave_first:
        if sum(len(each.split()) for each in kept) <= MOST_WORDS:
            break
        if sentence in kept:
            kept.remove(sentence)
            left.append(sentence)
    return kept, left


def best_sentence(made: Comparison) -> str:
    """Return who has the best mean, and its value."""
    best = made.best
    if best is None:
        return f"No pair could be compared: {UNTESTED}."
    score = made.score
    if best in made.means:
        score += f", {quantity(made.means[best], made.units)}"
    if len(made.algorithms) > 2:
        most = {"higher": "highest", "lower": "lowest"}[made.better]
        return f"{best} has the {most} {score}."

    for row in made.rows:
        if row.amount == 0 and best in row[:2]:
            return f"{row.better} and {row.other} have the same {score}."
    return f"{best} has the {made.better} {score}."


def claim_sentences(made: Comparison) -> Iterator[str]:
    """Yield who may be the best, and by how much the best is shown to be better than the nearest of the others."""
    best = made.best
    if best is None:
        return
    if len(made.algorithms) == 2:
        yield _two(made, best)
        return
    if all(isnan(row.p) for row in made.rows):
        yield _sentence(made, f"no difference could be tested: {UNTESTED}.")
        return

    shown = [row for row in made.over(best) if row.shown]
    yield _sentence(made, _who_may_be_best(made, best, shown), made.algorithms)

    # By how much it is ahead of the nearest, unless the sentence before says so.
    of_best = [row for row in made.rows if best in row[:2]]
    if shown and len(shown) < len(of_best):
        yield f"{best} is {made.better} than {shown[0].other} by {_amount(shown[0])}."
    untested = [_beside(best, row) for row in of_best if isnan(row.p)]
    if untested:
        yield f"Untested beside {best}: {listed(untested, _MOST_NAMED)}; {UNTESTED}."


def _beside(name: str, row: PairRow) -> str:
    """Return the algorithm of a pair that is not the named one."""
    if row.better == name:
        return row.other
    return row.better


def _sentence(made: Comparison, words: str, names: Sequence[str] = ()) -> str:
    """Return words as a sentence that says on what they hold; a name in front keeps its letters."""
    if made.on:
        words = f"{made.on} {words}"
    if words.startswith(tuple(names)):
        return words
    return f"{words[:1].upper()}{words[1:]}"


def _who_may_be_best(made: Comparison, best: str, shown: Sequence[PairRow]) -> str:
    """Return which algorithms may be the best, the one with the best mean first."""
    n = len(made.algorithms)
    candidates = list(made.may_be_best)
    if len(shown) == n - 1:
        near = shown[0]
        return f"it is shown to be {made.better} than all others, by {_amount(near)} than {near.other}, the nearest."
    if len(candidates) in (0, n):
        return f"any of the {n} may be the best: no difference is shown."
    others = _others(made, candidates)
    if len(candidates) == 1:
        return f"only {candidates[0]} may be the best; {others} shown not to be."
    candidates.sort(key=lambda name: name != best)
    return f"{_either(candidates)} may be the best; {others} shown not to be."


def _others(made: Comparison, candidates: Sequence[str]) -> str:
    """Return those over whom another is shown to be better, with their verb: "the others are"."""
    excluded = dict.fromkeys(row.other for row in made.rows if row.shown)
    verb = _is_or_are(excluded)
    # of the rest nothing is known
    if len(excluded) + len(candidates) < len(made.algorithms):
        return f"{listed(excluded, _MOST_NAMED)} {verb}"
    if len(excluded) == 1:
        return f"the other {verb}"
    return f"the others {verb}"


def _is_or_are(names: Collection[str]) -> str:
    """Return the verb of so many names."""
    if len(names) == 1:
        return "is"
    return "are"


def _two(made: Comparison, best: str) -> str:
    """Return what is shown of two algorithms."""
    (row,) = made.rows
    if isnan(row.p):
        return _sentence(made, f"no difference could be tested: {UNTESTED}.")
    if row.amount == 0:
        return _sentence(made, "no difference is shown.")

    amount = f"by {_amount(row, pvalue(row.p))}"
    if row.shown:
        return _sentence(
            made, f"it is shown to be {made.better} than {row.other}, {amount}."
        )
    return _sentence(
        made, f"either may be the better one: {best} is {made.better} {amount}."
    )


def _amount(row: PairRow, *more: str) -> str:
    """Return by how much the first of a pair is better, with its interval and what else is said."""
    decimals = decimals_of(row.low, row.high, row.amount)
    inside = "; ".join([_limits(row), *more])
    return f"{rounded(row.amount, decimals)} ({inside})"


def _limits(row: PairRow) -> str:
    """Return the interval of a pair; one that is shown may have an open end."""
    if row.shown:
        return open_interval(row.low, row.high, row.amount)
    return _plain(row)


def _plain(row: PairRow) -> str:
    """Return both ends of the interval of a pair, or that it has none."""
    if isnan(row.low) or not (isfinite(row.low) or isfinite(row.high)):
        if row.low == -inf:
            return "interval unbounded"
        return "no interval"
    decimals = decimals_of(row.low, row.high, row.amount)
    return f"{rounded(row.low, decimals)} to {rounded(row.high, decimals)}"


def _either(names: Sequence[str]) -> str:
    """Return names joined by "or", some of many."""
    if len(names) > _MOST_NAMED + 1:
        return f"{', '.join(names[:_MOST_NAMED])} or {len(names) - _MOST_NAMED} others"
    return " or ".join([", ".join(names[:-1]), names[-1]])


def these_sentence(made: Comparison, where: str) -> str | None:
    """Return over how many others the best is shown to be better by another claim, such as on these very tasks."""
    best = made.best
    tested = [row for row in made.rows if best in row[:2] and not isnan(row.p)]
    if best is None or not tested:
        return None
    n_others = len(made.algorithms) - 1
    if n_others == 1:
        (row,) = tested
        return f"{where} {_this_pair(made, best, row)}."

    n_shown = len([row for row in tested if row.shown and row.better == best])
    if n_shown == 0:
        return f"{where} {best} is not shown to be {made.better} than any other."
    whom = f"{n_shown} of {n_others} others"
    if n_shown == n_others:
        whom = f"all {n_others} others"
    if n_shown == n_others == 2:
        whom = "both others"
    return f"{where} {best} is shown to be {made.better} than {whom}."


def _this_pair(made: Comparison, best: str, row: PairRow) -> str:
    """Return what is shown of the only pair; the best elsewhere may be behind here."""
    is_ahead = row.better == best
    if not is_ahead and row.amount != 0:
        return f"{row.better} is {made.better} by {_amount(row, pvalue(row.p))}"
    shown = "is not shown"
    if row.shown and is_ahead:
        shown = "is shown"
    return f"{best} {shown} to be {made.better} ({_limits(row)}; {pvalue(row.p)})"


def reference_sentences(made: Comparison, reference: str) -> Iterator[str]:
    """Yield which algorithms differ from the reference, the largest difference first."""
    rows = [row for row in made.rows if not isnan(row.p)]
    if not rows:
        yield f"Nothing can be said beside {reference}: {UNTESTED}."
        return
    rows.sort(key=lambda row: -abs(row.amount))
    higher = [row for row in rows if row.shown and row.amount > 0]
    lower = [row for row in rows if row.shown and not row.amount > 0]
    unshown = [row for row in rows if not row.shown]

    phrases = []
    for group, verdict in (
        (higher, "shown to be higher"),
        (lower, "shown to be lower"),
        (unshown, "not shown to differ"),
    ):
        names = [f"{row.better} ({_signed(row)})" for row in group]
        if names:
            verb = _is_or_are(names)
            phrases.append(f"{listed(names, _MOST_NAMED)} {verb} {verdict}")
    where = f"in {made.score}"
    if made.on:
        where += f" {made.on}"
    yield f"Beside {reference}, {where}: {'; '.join(phrases)}."


def _signed(row: PairRow) -> str:
    """Return a difference to the reference with its interval, as brackets have it: "7.6: 3.5 to 11.7"."""
    decimals = decimals_of(row.low, row.high, row.amount)
    return f"{rounded(row.amount, decimals)}: {_limits(row)}"


def floor_sentences(
    least: Floats, p: Floats, alpha: float, few: str, more: str = "run more"
) -> Iterator[str]:
    """Yield what it takes where adjusted p could not be small enough; `least` is the smallest there could be.

    `few` is what is too few, such as "5 runs a side", `more` the cure.
    """
    tested = ~np.isnan(p)
    beyond = tested & ~significant(least, alpha)
    n_tested, n_beyond = int(np.count_nonzero(tested)), int(np.count_nonzero(beyond))
    if not n_beyond:
        return
    smallest = number(least[beyond].min())
    if n_tested == 1:
        yield f"With {few} no p can be below {smallest}: {more}."
        return
    which = f"{n_beyond:,} of {n_tested:,} pairs"
    if n_beyond == n_tested:
        which = f"these {n_tested:,} pairs"
    yield (
        f"With {few} no adjusted p of {which} can be below {smallest}: compare fewer with reference=, or {more}."
    )
