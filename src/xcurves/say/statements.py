"""The sentences of any kind that declares a comparison: verdicts by its claims, and who is best in how many tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.schema import Claim, Comparison, Statement
from xcurves.say.claimed import Claimed, by_claim, claimed, displayed, paired_of, reasons_of, tested_claims
from xcurves.say.compared_pairs import means_of
from xcurves.say.numbers import capitalized, count, listed, small, unadjusted_over_tasks
from xcurves.say.pairs import PairRow, better_first_rows, lower_is_better, most_ahead, rows_of_tasks
from xcurves.say.verdict import (
    MOST_BESIDE,
    MOST_WORDS,
    best_sentence,
    claim_sentences,
    left_out_sentence,
    n_words,
    next_sentence,
    reference_sentence,
    these_sentence,
    within_words,
)

_MOST_BEST = 4  # algorithms of which a sentence says in how many tasks they are best


def statements_of(comparison: Comparison, result: xr.Dataset) -> Iterator[Statement]:
    """Yield who is best, who may be and by how much; what could not be shown; then what intervals and p hold for."""
    paired = paired_of(comparison, result)
    dims = [claim.dim for claim in comparison.claims(paired)]
    tasks = list(labels.named_tasks(paired, comparison.estimate, dims))
    noun = labels.task_noun(paired[comparison.estimate], dims)
    if len(tasks) == 1 or comparison.verdicts > 1:
        yield from _verdicts(comparison, tasks)
    else:
        claims = tested_claims(comparison, paired)
        if claims[0].dim not in paired[comparison.estimate].dims:
            claims = claims[:1]
        for claim in claims:
            part = by_claim(paired, claim)
            yield Statement("answer", _best_by_task(comparison, part, claim, noun))
            for floor in comparison.floor(part):
                yield Statement("answer", floor.text)
    yield from comparison.more(result)

    of_each = f" of a {noun}" if len(tasks) > 1 else ""
    for text in _holds(comparison, result, paired.sizes["pair"], of_each):
        yield Statement("detail", text)
    if comparison.verdicts == 1:
        what = "p is" if comparison.p else "intervals are"
        for text in unadjusted_over_tasks(len(tasks), noun, what):
            yield Statement("caution", text)


def _holds(comparison: Comparison, result: xr.Dataset, n_pairs: int, of_each: str) -> Iterator[str]:
    """Yield what intervals and p hold for; `of_each` is of what so many pairs are."""
    if comparison.holds is not None:
        yield from comparison.holds(result)
    elif n_pairs > 1:
        held, adjusted = "Intervals", ""
        if comparison.p:
            held = "Intervals and p"
            if "correction" in result.attrs:
                adjusted = f" (p by {result.attrs['correction'].capitalize()})"
        yield f"{held} hold for the {n_pairs} pairs{of_each} together{adjusted}."


def _verdicts(comparison: Comparison, tasks: Sequence[tuple[xr.Dataset, str]]) -> Iterator[Statement]:
    """Yield the verdict on each of the first tasks, what it has no room for, floors, and the kind's own sentences."""
    for task, name in tasks[: comparison.verdicts]:
        claims = claimed(comparison, task)
        kept, left = _verdict(comparison, claims)
        yield Statement("answer", f"{name}{' '.join(kept)}")
        for text in left:
            yield Statement("detail", f"{name}{text}")
        for other in claims[1:]:
            for floor in comparison.floor(other.part):
                yield Statement("caution", f"{name}{_for_claim(other, floor.text)}")
        for role, text in comparison.own(task, [each.made for each in claims]):
            if role == "caution" or len(tasks) == 1:
                yield Statement(role, f"{name}{text}")
    n_more = len(tasks) - comparison.verdicts
    if n_more > 0:
        yield Statement("answer", _more_in_table(n_more))


def _more_in_table(n_more: int) -> str:
    return f"And {n_more} more: the table has all."


def _for_claim(each: Claimed, text: str) -> str:
    """Return a sentence as one that holds for a claim: "For tasks like these: with 4 tasks …"."""
    if not each.claim.on:
        return text
    # "on tasks like these" is "for tasks like these"
    _, _, what = each.claim.on.partition(" ")
    return f"For {what}: {small(text)}"


def _verdict(comparison: Comparison, claims: Sequence[Claimed]) -> tuple[list[str], list[str]]:
    """Return the verdict on one task, or benchmark, and the sentences that it has no room for."""
    first, *others = claims
    about = first.about
    if about.instead:
        return [about.instead], []
    # of two algorithms with means one is the best
    if "reference" in first.part.attrs and (len(first.made.rows) > 1 or first.made.means is None):
        return _beside_reference(comparison, claims)
    if not first.made.algorithms:
        return [*about.before, _pairs_shown(first)], []
    # Where the first claim is not tested, who is best is said by the next.
    if others and not first.is_tested:
        main = others[0]
        following = [_for_claim(first, floor.text) for floor in comparison.floor(first.part)]
        of_others = []
    else:
        main = first
        following = list(_what_next(comparison, first))
    beside = [left_out_sentence(main.made, name, has) for name, has in main.about.left_out]
    if main is first:
        of_others = [text for other in others for text in _of_other(comparison, first, other, short=bool(beside))]
    best, said = best_sentence(main.made), list(claim_sentences(main.made))
    sentences = [*about.before, best, *said, *beside, *following, *of_others]
    if main is first:
        return within_words(sentences, [*beside[:0:-1], *following, *said[1:], *of_others[::-1], *beside])
    return within_words(sentences, [*beside[::-1], *said[1:], *following])


def _what_next(comparison: Comparison, each: Claimed) -> Iterator[str]:
    """Yield what is too few for a small p, or else what it takes to tell the best from its nearest rival."""
    floors = list(comparison.floor(each.part))
    if floors:
        yield floors[0].text
        return
    rivals = each.made.rivals
    needed = rivals and comparison.what_next(each.part, *rivals)
    if rivals and needed:
        yield from next_sentence(rivals, needed)


def _of_other(comparison: Comparison, first: Claimed, other: Claimed, *, short: bool) -> Iterator[str]:
    """Yield what is shown of the best by another claim, if one is named; or the verdict by it."""
    if other.is_apart:
        yield " ".join(_verdict(comparison, [other])[0])
        return
    where = capitalized(other.claim.on)
    if not other.is_tested:
        if other.about.untested:
            yield f"{where} alone there is no claim: {other.about.untested}."
    elif first.made.named_best is not None:
        shown = these_sentence(other.made, where, short=short)
        if shown:
            yield shown


def _pairs_shown(each: Claimed) -> str:
    """Return how many pairs are shown to differ, where no algorithm can be the best of all."""
    n_shown = len([row for row in each.made.rows if row.shown])
    pairs = count(len(each.made.rows), "pair")
    shown = f"{n_shown} of {pairs} are"
    if n_shown < 2:
        shown = f"{n_shown or 'none'} of {pairs} is"
    return f"{capitalized(each.claim.on)} {shown} shown to differ."


def _beside_reference(comparison: Comparison, claims: Sequence[Claimed]) -> tuple[list[str], list[str]]:
    """Return how all stand beside the reference by each claim, as many by name as a verdict has room for."""
    before = claims[0].about.before
    reference = str(claims[0].part.attrs["reference"])
    tested = [each.made for each in claims if any(not np.isnan(row.p) for row in each.made.rows)]
    after = [_for_claim(claims[0], floor.text) for floor in comparison.floor(claims[0].part)]
    if len(tested) > 1:
        after = []
    if not tested:
        return [*before, reference_sentence(claims[0].made, reference), *after], []

    # As many by name as there is room for, those first that are shown to differ; the other claims are details where
    # they would take the names of these.
    unshown = [(MOST_BESIDE, most) for most in range(MOST_BESIDE, 0, -1)]
    for n_claims, named in (
        (len(tested), unshown),
        (1, [*unshown, *((most, 1) for most in range(MOST_BESIDE, 0, -1))]),
    ):
        for most in named:
            said = [reference_sentence(made, reference, *most) for made in tested[:n_claims]]
            if n_words([*before, *said, *after]) <= MOST_WORDS:
                return [*before, *said, *after], [reference_sentence(made, reference) for made in tested[n_claims:]]
    return [*before, *said, *after], [reference_sentence(made, reference) for made in tested[1:]]


def _best_by_task(comparison: Comparison, paired: xr.Dataset, claim: Claim, noun: str) -> str:
    """Return in how many tasks each algorithm is best, and in how many that is shown by a claim."""
    shown = displayed(comparison, paired)
    dims = labels.task_dims(paired[comparison.estimate])
    n_best = Counter[str]()
    n_shown = 0
    known = [name for name in (comparison.estimate, comparison.mean) if name in paired]
    of_means = [means_of(task, comparison.mean) for task in labels.tasks_of(paired[known], comparison.estimate)]
    for rows, means in zip(rows_of_tasks(shown, dims), of_means, strict=True):
        # Others that have no run in this task are no others.
        compared_rows = [row for row in better_first_rows(rows, shown) if not np.isnan(row.amount)]
        best = _best_of(compared_rows, means, lower=lower_is_better(paired))
        if best is None:
            continue
        n_best[best] += 1
        n_shown += all(row.shown and row.better == best for row in compared_rows if best in row[:2])
    if not n_best:
        return _nothing_by_task(comparison, paired, shown, noun)

    counts = listed([f"{name} in {n}" for name, n in n_best.most_common()], _MOST_BEST)
    words = comparison.scale.up
    if lower_is_better(paired):
        words = comparison.scale.down
    others = "the other"
    if len(np.union1d(paired["algorithm_a"], paired["algorithm_b"])) > 2:
        others = "all others"
        if "reference" in paired.attrs:
            others += " that it is compared with"
    leads = words.of_all.format(noun=comparison.noun(paired))
    if "reference" in paired.attrs:
        leads = f"beside {paired.attrs['reference']}, {leads}"
    is_shown = "the best is shown" if n_shown else "is the best shown"
    on = f" {claim.on}" if claim.on else ""
    return (
        f"{capitalized(leads)} of {count(n_best.total(), noun)}: {counts}. In {n_shown or 'none'} of them, each tested "
        f"by itself, {is_shown} to be {words.beside} than {others}{on}."
    )


def _nothing_by_task(comparison: Comparison, paired: xr.Dataset, shown: xr.Dataset, noun: str) -> str:
    """Return that no pair of any task has an estimate, and why, or what is said of tasks in place of that."""
    tasks = list(labels.named_tasks(paired, comparison.estimate))
    abouts = [(name, comparison.about(task)) for task, name in tasks[:_MOST_BEST]]
    instead = [f"{name}{about.instead}" for name, about in abouts if about is not None and about.instead]
    if len(tasks) > _MOST_BEST:
        instead.append(_more_in_table(len(tasks) - _MOST_BEST))
    if len(instead) > 1:
        return " ".join(instead)
    every = dict.fromkeys(why for task, _ in tasks for why in reasons_of(comparison, task).values())
    reasons = list(filter(None, every))
    n_tested = int(shown["p"].notnull().sum())
    said = f"In no {noun} {'has any pair an estimate' if n_tested else 'could any pair be compared'}"
    if reasons:
        said += f": {'; '.join(reasons)}"
    if n_tested:
        said += f". By intervals {int(shown['shown'].sum())} of {count(n_tested, 'pair')} are shown to differ"
    return f"{said}."


def _best_of(rows: Sequence[PairRow], means: dict[str, float], *, lower: bool) -> str | None:
    """Return the algorithm with the best mean, without means the one most ahead; None if no difference is known."""
    if not rows:
        return None
    if not means:
        return most_ahead(rows)
    if lower:
        return min(means, key=lambda name: means[name])
    return max(means, key=lambda name: means[name])
