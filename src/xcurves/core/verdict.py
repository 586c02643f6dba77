"""The verdict about algorithms compared in pairs: who is best, who may be, by how much, and what would tell more.

For a reader without statistics, in at most 70 words; all numbers come from the displayed pairs of `core.pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
        return "lower" if self.lower_is_better else "higher"

    @property
    def worse(self) -> str:
        """Return the opposite of `better`."""
        return "higher" if self.lower_is_better else "lower"

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
    said: Sequence[str], leave_first: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the sentences of a verdict of at most `MOST_WORDS` words, and those that are left out for that.

    Of `leave_first` as many are left out as is needed, one after the other.
    """
    kept, left = list(said), []
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
    several = len(made.algorithms) > 2
    most = (
        {"higher": "highest", "lower": "lowest"}[made.better]
        if several
        else made.better
    )
    equal = [row for row in made.rows if row.amount == 0 and best in row[:2]]
    value = f", {quantity(made.means[best], made.units)}" if best in made.means else ""
    if not several and equal:
        return (
            f"{equal[0].better} and {equal[0].other} have the same {made.score}{value}."
        )
    return f"{best} has the {most} {made.score}{value}."


def claim_sentences(made: Comparison) -> Iterator[str]:
    """Yield who may be the best, and by how much the best is shown to be better than the nearest of the others."""
    best = made.best
    if best is None:
        return
    if len(made.algorithms) == 2:
        yield _two(made, best)
        return
    on = f"{made.on} " if made.on else ""
    if all(isnan(row.p) for row in made.rows):
        yield _sentence(f"{on}no difference could be tested: {UNTESTED}.")
        return
    shown = [row for row in made.over(best) if row.shown]
    yield _sentence(f"{on}{_who_may_be_best(made, best, shown)}", made.algorithms)
    own = [row for row in made.rows if best in row[:2]]
    is_said = len(shown) == len(own)  # in the sentence before
    if shown and not is_said:
        yield f"{best} is {made.better} than {shown[0].other} by {_amount(shown[0])}."
    untested = [
        row.other if row.better == best else row.better for row in own if isnan(row.p)
    ]
    if untested:
        yield f"Untested beside {best}: {listed(untested, _MOST_NAMED)}; {UNTESTED}."


def _sentence(said: str, names: Sequence[str] = ()) -> str:
    """Return words as a sentence; the name of an algorithm keeps its letters."""
    if any(said.startswith(name) for name in names):
        return said
    return f"{said[:1].upper()}{said[1:]}"


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
    first = [best] if best in candidates else []
    names = first + [name for name in candidates if name != best]
    return f"{_either(names)} may be the best; {others} shown not to be."


def _others(made: Comparison, candidates: Sequence[str]) -> str:
    """Return those over whom another is shown to be better, with their verb: "the others are"."""
    excluded = dict.fromkeys(row.other for row in made.rows if row.shown)
    # of the rest nothing is known
    if len(excluded) + len(candidates) < len(made.algorithms):
        return (
            f"{listed(excluded, _MOST_NAMED)} {'is' if len(excluded) == 1 else 'are'}"
        )
    return "the other is" if len(excluded) == 1 else "the others are"


def _two(made: Comparison, best: str) -> str:
    """Return what is shown of two algorithms."""
    (row,) = made.rows
    on = f"{made.on} " if made.on else ""
    if row.amount == 0 or isnan(row.p):
        said = f"{on}no difference is shown."
        if isnan(row.p):
            said = f"{on}no difference could be tested: {UNTESTED}."
        return _sentence(said)
    said_amount = f"by {_amount(row, pvalue(row.p))}"
    if row.shown:
        said = f"{on}it is shown to be {made.better} than {row.other}, {said_amount}."
    else:
        said = (
            f"{on}either may be the better one: {best} is {made.better} {said_amount}."
        )
    return _sentence(said)


def _amount(row: PairRow, *more: str) -> str:
    """Return by how much the first of a pair is better, with its interval and what else is said."""
    decimals = decimals_of(row.low, row.high, row.amount)
    limits = open_interval(row.low, row.high, row.amount) if row.shown else _plain(row)
    inside = "; ".join([limits, *more])
    return f"{rounded(row.amount, decimals)} ({inside})"


def _plain(row: PairRow) -> str:
    decimals = decimals_of(row.low, row.high, row.amount)
    if isnan(row.low) or not (isfinite(row.low) or isfinite(row.high)):
        return "interval unbounded" if row.low == -inf else "no interval"
    ends = [rounded(end, decimals) for end in (row.low, row.high)]
    return f"{ends[0]} to {ends[1]}"


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
    shown = [row for row in tested if row.shown and row.better == best]
    n_others = len(made.algorithms) - 1
    if n_others == 1:
        (row,) = tested
        if row.better != best and row.amount != 0:
            return f"{where} {row.better} is {made.better} by {_amount(row, pvalue(row.p))}."
        verdict = (
            f"is shown to be {made.better}"
            if shown
            else f"is not shown to be {made.better}"
        )
        return f"{where} {best} {verdict} ({_limits(row)}; {pvalue(row.p)})."
    if not shown:
        return f"{where} {best} is not shown to be {made.better} than any other."
    whom = f"{len(shown)} of {n_others} others"
    if len(shown) == n_others:
        whom = "both others" if n_others == 2 else f"all {n_others} others"
    return f"{where} {best} is shown to be {made.better} than {whom}."


def _limits(row: PairRow) -> str:
    return open_interval(row.low, row.high, row.amount) if row.shown else _plain(row)


def reference_sentences(made: Comparison, reference: str) -> Iterator[str]:
    """Yield which algorithms differ from the reference, the largest difference first."""
    rows = sorted(
        (row for row in made.rows if not isnan(row.p)), key=lambda row: -abs(row.amount)
    )
    if not rows:
        yield f"Nothing can be said beside {reference}: {UNTESTED}."
        return
    groups: dict[str, list[str]] = {}
    for row in rows:
        side = "higher" if row.amount > 0 else "lower"
        verdict = f"shown to be {side}" if row.shown else "not shown to differ"
        groups.setdefault(verdict, []).append(f"{row.better} ({_signed(row)})")
    said = []
    for verdict in ("shown to be higher", "shown to be lower", "not shown to differ"):
        names = groups.get(verdict, [])
        if names:
            verb = "is" if len(names) == 1 else "are"
            said.append(f"{listed(names, _MOST_NAMED)} {verb} {verdict}")
    on = f" {made.on}" if made.on else ""
    yield f"Beside {reference}, in {made.score}{on}: {'; '.join(said)}."


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
    which = (
        f"these {n_tested:,} pairs"
        if n_beyond == n_tested
        else f"{n_beyond:,} of {n_tested:,} pairs"
    )
    yield (
        f"With {few} no adjusted p of {which} can be below {smallest}: compare fewer with reference=, or {more}."
    )
