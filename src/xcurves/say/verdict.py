"""The verdict about algorithms compared in pairs: who is best, who may be, by how much, and what would tell more.

For a reader without statistics, in at most 70 words; all numbers come from the displayed pairs of `say.pairs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf, isfinite, isnan

from xcurves.core.schema import Needed
from xcurves.say.compared_pairs import (
    Compared,
    amount_inside,
    amount_of,
    because,
    beside,
    inside_of,
    is_or_are,
    limits_of,
    rounded_amount,
    why,
)
from xcurves.say.numbers import capitalized, listed, number, pvalue, quantity, small
from xcurves.say.pairs import PairRow

MOST_WORDS = 70  # of a verdict
_MOST_NAMED = 3  # algorithms that a sentence names
MOST_BESIDE = 4  # algorithms beside a reference, of each kind, that a sentence names
_MOST_TIMES = 20  # as many things as there are: of more no number is said


def within_words(sentences: Sequence[str], leave_first: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the sentences of a verdict of at most `MOST_WORDS` words, and those that are left out for that.

    Of `leave_first` as many are left out as is needed, one after the other.
    """
    kept = list(sentences)
    for sentence in leave_first:
        if n_words(kept) <= MOST_WORDS:
            break
        if sentence in kept:
            kept.remove(sentence)
    return kept, [sentence for sentence in sentences if sentence not in kept]


def n_words(sentences: Iterable[str]) -> int:
    """Return how many words sentences have."""
    return sum(len(sentence.split()) for sentence in sentences)


def best_sentence(made: Compared) -> str:
    """Return who has the best mean, and its value; or that no best is named, and why."""
    best = made.best
    if best is None:
        return f"No pair could be compared{because(made, made.rows)}."
    value = ""
    if made.means is not None:
        value = f", {quantity(made.means[best], made.units)}"
    if made.over:
        value += f" {made.over}"
    if made.above(best):
        why = _who_is_above(made, best)
        return f"No best can be named: {small(made.among)}{best} has {made.leads}{value}, but {why}."

    equal = [beside(best, row) for row in made.own_rows if row.amount == 0 and best in row[:2]]
    if not equal:
        return f"{made.among}{best} has {made.leads}{value}."
    names = listed([best, *equal], _MOST_NAMED)
    if len(equal) == len(made.algorithms) - 1:
        return f"{made.among}{names} have the same {made.score}{value}."
    return f"{made.among}{names} have {made.leads}{value}."


def _who_is_above(made: Compared, best: str) -> str:
    """Return who is shown to be better than the one with the best mean; or the circle that such pairs form."""
    circle = _circle(made, best)
    if not circle:
        names = [row.better for row in made.above(best)]
        return f"{listed(names, _MOST_NAMED)} {is_or_are(names)} shown to be {made.better} than {best}"
    first, *others = circle
    links = [f"{first[0]} is shown to be {made.better} than {first[1]}"]
    links += [f"{better} than {other}" for better, other in others]
    return listed(links)


def _circle(made: Compared, start: str) -> list[tuple[str, str]]:
    """Return the pairs of a circle in which each is shown to be better than the next, from where `start` leads."""
    if made.may_be_best:
        return []
    walked = [start]
    while True:
        above = made.above(walked[-1])
        if not above:
            return []
        following = above[0].better
        if following in walked:
            names = [*walked[walked.index(following) :], following]
            upward = list(zip(names[1:], names, strict=False))
            return upward[::-1]
        walked.append(following)


def claim_sentences(made: Compared) -> Iterator[str]:
    """Yield who may be the best, and by how much the best is shown to be better than the nearest of the others."""
    best = made.best
    if best is None:
        return
    if made.above(best):
        if made.may_be_best:
            yield _sentence(
                made,
                f"only {_either(made.may_be_best)} may be the best.",
                made.algorithms,
            )
        return
    if len(made.algorithms) == 2:
        yield _two(made)
        return
    if all(isnan(row.p) for row in made.rows):
        reasons = because(made, made.rows)
        yield _sentence(made, f"no difference could be tested{reasons}.")
        return

    yield _sentence(made, _who_may_be_best(made, best), made.algorithms)
    untested = [row for row in made.own_rows if best in row[:2] and isnan(row.p)]
    if untested:
        yield f"Untested beside {best}: {_untested(made, best, untested)}."


def _untested(made: Compared, best: str, rows: Sequence[PairRow]) -> str:
    """Return those that are not tested beside the best, with the reasons: "a and b (they share no task)"."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        by_reason.setdefault(why(made, row), []).append(beside(best, row))
    groups = []
    for reason, names in by_reason.items():
        group = listed(names, _MOST_NAMED)
        if reason:
            group += f" ({reason})"
        groups.append(group)
    return "; ".join(groups)


def _sentence(made: Compared, words: str, names: Sequence[str] = ()) -> str:
    """Return words as a sentence that says on what they hold; a name in front keeps its letters."""
    if made.on:
        words = f"{made.on} {words}"
    # "a may be the best" begins with the name "a", "any of them" does not.
    if words.startswith(tuple(f"{name}{end}" for name in names for end in (" ", ",", ";"))):
        return words
    return capitalized(words)


def _who_may_be_best(made: Compared, best: str) -> str:
    """Return which algorithms may be the best, the one with the best mean first, and over whom it is shown to be."""
    n = len(made.algorithms)
    shown = made.shown_below(best)
    if len(shown) == n - 1:
        near = shown[0]
        amount = f"{amount_of(made, near)} {made.scale.than} {near.other}, the nearest"
        return f"it is shown to be {made.better} than all others, {amount}."

    # Nothing is known of an algorithm that was compared with none.
    known = {name for row in made.own_rows if not isnan(row.p) for name in row[:2]}
    candidates = [name for name in _best_first(made) if name in {*made.may_be_best, best} & {*known, best}]
    excluded = [name for name in _best_first(made) if name in known and name not in candidates]
    if not excluded and len(known) == n:
        return f"any of the {n} may be the best: no difference is shown."
    if not excluded:
        return f"{_either(candidates)} may be the best: no difference is shown."
    below = _say_below(made, shown, excluded)
    if len(candidates) == 1:
        return f"only {best} may be the best; {below}."
    return f"{_either(candidates)} may be the best; {below}."


def _best_first(made: Compared) -> list[str]:
    """Return the algorithms by their means, the best first; those without a mean last."""
    sign = -1
    if made.lower_is_better:
        sign = 1
    means = made.means or {}
    return sorted(made.algorithms, key=lambda name: (name != made.best, sign * means.get(name, -sign * inf)))


def _say_below(made: Compared, shown: Sequence[PairRow], excluded: Sequence[str]) -> str:
    """Return which others are shown to be worse than the best, by how much the nearest; or which are not the best."""
    if not shown:
        return f"{listed(excluded, _MOST_NAMED)} {is_or_are(excluded)} shown not to be"
    near = shown[0]
    names = [row.other for row in shown]
    said = f"{listed(names, _MOST_NAMED)} {is_or_are(names)} shown to be {made.worse}"
    if len(names) == 1:
        return f"{said} ({amount_inside(made, near)})"
    return f"{said} ({near.other}, the nearest, {amount_inside(made, near)})"


def _two(made: Compared) -> str:
    """Return what is shown of two algorithms."""
    (row,) = made.own_rows
    if isnan(row.p):
        reasons = because(made, [row])
        return _sentence(made, f"no difference could be tested{reasons}.")
    if row.amount == 0:
        return _sentence(made, "no difference is shown.")

    amount = amount_of(made, row, with_p=True)
    if row.shown:
        return _sentence(made, f"it is shown to be {made.better} than {row.other}, {amount}.")
    return _sentence(made, f"either may be the better one: {row.better} is {made.better} {amount}.")


def _either(names: Sequence[str]) -> str:
    """Return names joined by "or", some of many."""
    if len(names) > _MOST_NAMED + 1:
        return f"{', '.join(names[:_MOST_NAMED])} or {len(names) - _MOST_NAMED} others"
    if len(names) == 1:
        return names[0]
    return " or ".join([", ".join(names[:-1]), names[-1]])


def left_out_sentence(made: Compared, name: str, has: str) -> str:
    """Return how the best stands to an algorithm that the verdict is not about, on what both have.

    `has` says what the algorithm has: "7 of the 20 tasks".
    """
    best = made.best
    rows = [row for row in made.rows if {*row[:2]} == {best, name}]
    if not rows or isnan(rows[0].amount):
        return f"{name} has {has}."
    row = rows[0]
    if isnan(row.p):
        reason = why(made, row) or "no p"
        return f"{name} has {has}; there {row.better} is {made.better} by {rounded_amount(row)}: {reason}."
    if row.amount == 0:
        return f"{name} has {has}; on these {best} scores the same."
    inside = pvalue(row.p)
    if made.has_limits and (isfinite(row.low) or isfinite(row.high)):
        inside = limits_of(row)
    return f"{name} has {has}; on these {row.better} is {made.better} by {rounded_amount(row)} ({inside})."


def these_sentence(made: Compared, where: str, *, short: bool = False) -> str | None:
    """Return over how many others the best is shown to be better by another claim, such as on these very tasks.

    `short`: without the numbers of a single pair.
    """
    best = made.best
    tested = [row for row in made.own_rows if best in row[:2] and not isnan(row.p)]
    if best is None or not tested:
        return None
    above = [row.better for row in made.above(best)]
    if above and len(made.algorithms) > 2:
        return f"{where} {listed(above, _MOST_NAMED)} {is_or_are(above)} shown to be {made.better} than {best}."
    n_others = len(made.algorithms) - 1
    if n_others == 1:
        (row,) = tested
        if short and row.shown and row.better == best:
            return f"{where} {best} is shown to be {made.better}."
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


def _this_pair(made: Compared, best: str, row: PairRow) -> str:
    """Return what is shown of the only pair; the best elsewhere may be behind here."""
    is_ahead = row.better == best
    if not is_ahead and row.amount != 0:
        return f"{row.better} is {made.better} {amount_of(made, row, with_p=True)}"
    shown = "is not shown"
    if row.shown and is_ahead:
        shown = "is shown"
    return f"{best} {shown} to be {made.better} ({inside_of(made, row)})"


def next_sentence(rivals: tuple[str, str], needed: Needed) -> Iterator[str]:
    """Yield what it would take to tell two algorithms apart, where something says it."""
    takes = what_it_takes(needed)
    if not takes:
        return
    takes = f"tell {rivals[0]} from {rivals[1]} takes {takes}."
    if isnan(needed.smallest):
        yield f"To {takes}"
        return
    smallest = number(needed.smallest, 2)
    there = f"{number(needed.present)} {needed.things}"
    yield f"{there} show a difference of {smallest} or more in 8 of 10 cases; to {takes}"


def what_it_takes(needed: Needed) -> str:
    """Return how many things would tell two algorithms apart, "" where nothing says it."""
    wanted, at_least, present = needed.to_show, needed.at_least, needed.present
    if wanted > _MOST_TIMES * present:
        return f"more than {_MOST_TIMES} times as many {needed.things}"
    if isnan(wanted) and isfinite(at_least):
        return f"at least {_about(at_least)} {needed.things}"
    # So many as there are would show it most often: then nothing says what it takes.
    if wanted > present and present <= at_least < wanted:
        return f"at least {_about(at_least)} {needed.things}, about {_about(wanted)} if the difference is as seen"
    if wanted > present:
        return f"about {_about(wanted)} {needed.things} if the difference is as seen"
    return ""


def _about(n: float) -> str:
    """Return a number in two significant digits."""
    return number(float(f"{n:.2g}"))


def reference_sentence(made: Compared, reference: str, most: int = MOST_BESIDE, most_unshown: int = MOST_BESIDE) -> str:
    """Return which algorithms differ from the reference, the largest difference first.

    Of those that are higher, and of those that are lower, `most` are named, of those that are not shown to differ
    `most_unshown`.
    """
    rows = [row for row in made.rows if not isnan(row.p)]
    if not rows:
        return f"No difference to {reference} could be tested{because(made, made.rows)}."
    rows.sort(key=lambda row: (isnan(row.amount), -abs(row.amount)))
    higher = [row for row in rows if row.shown and row.side > 0]
    lower = [row for row in rows if row.shown and row.side < 0]
    unshown = [row for row in rows if row not in (*higher, *lower)]

    phrases = []
    with_p = made.has_p and (len(made.rows) == 1 or not made.has_limits)
    for group, most_named, verdict in (
        (higher, most, f"shown to be {made.scale.up.beside}"),
        (lower, most, f"shown to be {made.scale.down.beside}"),
        (unshown, most_unshown, "not shown to differ"),
    ):
        names = [f"{row.better} ({_signed(made, row, with_p=with_p)})" for row in group]
        if names:
            phrases.append(f"{listed(names, most_named)} {is_or_are(names)} {verdict}")
    untested = [row for row in made.rows if isnan(row.p)]
    if untested:
        phrases.append(f"untested: {_untested(made, reference, untested)}")
    where = f"in {made.score}"
    if made.over:
        where += f" {made.over}"
    if made.on:
        where += f", {made.on}"
    return f"Beside {reference}, {where}: {'; '.join(phrases)}."


def _signed(made: Compared, row: PairRow, *, with_p: bool) -> str:
    """Return a difference to the reference with its interval and p, as brackets have it: "7.6: 3.5 to 11.7"."""
    signed = limits_of(row, made.scale)
    if isnan(row.amount) and (isfinite(row.low) or isfinite(row.high)):
        signed = made.scale.number.format(signed)
    elif not isnan(row.amount):
        amount = made.scale.number.format(rounded_amount(row, made.scale))
        signed = f"{amount}: {signed}" if made.has_limits else amount
    if with_p:
        signed += f"; {pvalue(row.p)}"
    return signed
