"""The verdict on one benchmark, in at most 70 words: for tasks like these, then for these very ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
import xarray as xr

from xcurves.multi_task.answers_shown import shows_answers
from xcurves.multi_task.compared import (
    compared,
    floors,
    left_out,
    no_common_tasks,
    noun_of,
)
from xcurves.multi_task.next_tasks import what_next
from xcurves.multi_task.scope import scope_of
from xcurves.multi_task.task_options import carrying_tasks, task_spread_ratio
from xcurves.say.compared_pairs import Compared
from xcurves.say.numbers import count, listed, number, span
from xcurves.say.pairs import lower_is_better
from xcurves.say.verdict import (
    MOST_WORDS,
    best_sentence,
    claim_sentences,
    left_out_sentence,
    n_words,
    reference_sentence,
    these_sentence,
    within_words,
)

_MOST_BESIDE = 4  # algorithms beside a reference that an answer names, of each kind
_NAMED = 2  # tasks that a verdict names


class Claims(NamedTuple):
    """What the verdict on one benchmark is made of, by both claims."""

    likes: Compared  # for tasks like these
    these: Compared  # for these very ones

    @classmethod
    def of(cls, benchmark: xr.Dataset) -> Self:
        """Return both claims of one benchmark."""
        return cls(compared(benchmark, "random"), compared(benchmark, "fixed"))


def verdict_over_tasks(benchmark: xr.Dataset, claims_of_both: Claims) -> tuple[list[str], list[str]]:
    """Return the verdict on one benchmark, and the sentences that it has no room for."""
    task = noun_of(benchmark)
    if benchmark["difference"].isnull().all() and benchmark["n_tasks"].any():
        return ["There is no mean difference, because some runs have no finite score."], []
    if benchmark["difference"].isnull().all():
        return [f"Nothing can be said: no two algorithms have a {task} in common."], []
    alike = _all_alike(benchmark)
    if alike:
        return [alike], []
    likes, these = claims_of_both
    sentences = []
    unlike = _unlike_scales(benchmark)
    if unlike:
        sentences.append(unlike)
    if "reference" in benchmark.attrs and benchmark.sizes["pair"] > 1:
        return _beside_reference(benchmark, [likes, these], sentences)

    alone = no_common_tasks(benchmark)
    if alone:
        n_shown = len([row for row in likes.rows if row.shown])
        pairs = count(len(likes.rows), "pair")
        shown = f"none of {pairs} is"
        if n_shown == 1:
            shown = f"1 of {pairs} is"
        elif n_shown:
            shown = f"{n_shown} of {pairs} are"
        shown = f"On {task}s like these {shown} shown to differ."
        return [*sentences, alone, shown], []
    # Without a claim for tasks like these, who is best is said of these very ones.
    if not _has_claim(likes):
        following = [f"For {task}s like these: {small(text)}" for text in floors(benchmark, "random", of=likes)]
        claims = list(claim_sentences(these))
        others = list(_left_out_clauses(benchmark, these))
        sentences += [best_sentence(these), *claims, *others, *following]
        return within_words(sentences, [*others[::-1], *claims[1:], *following])
    claims = list(claim_sentences(likes))
    others = list(_left_out_clauses(benchmark, likes))
    following = list(what_next(benchmark, likes))
    of_these = list(_of_these(benchmark, likes, these, task, short=bool(others)))
    aside = []
    # That one answer to each question says nothing about these very ones is no news.
    if not _has_claim(these) and shows_answers(benchmark):
        of_these, aside = [], of_these
    sentences += [best_sentence(likes), *claims, *others, *following, *of_these]
    kept, left = within_words(sentences, [*others[:0:-1], *following, *claims[1:], *of_these, *others])
    return kept, [*left, *aside]


def _all_alike(benchmark: xr.Dataset) -> str | None:
    """Return that all answers are right, or all wrong, so that nothing is compared; None where they are not."""
    if not shows_answers(benchmark):
        return None
    values = np.unique(benchmark["task_mean"].to_numpy())
    known = values[~np.isnan(values)]
    if len(known) != 1:
        return None
    how = "wrong"
    if (known[0] > 0) != lower_is_better(benchmark):
        how = "right"
    n_tasks = int((benchmark["n_runs"] > 0).any("algorithm").sum())
    return (
        f"All answers of {listed(benchmark['algorithm'].to_numpy().tolist(), _MOST_BESIDE)} to "
        f"{count(n_tasks, noun_of(benchmark))} are {how}: nothing tells them apart."
    )


def _of_these(benchmark: xr.Dataset, likes: Compared, these: Compared, task: str, *, short: bool) -> Iterator[str]:
    """Yield what is shown of the best, if one is named, on these very tasks."""
    if not _has_claim(these):
        why = "in some, an algorithm has a single run"
        if (benchmark["n_runs"] <= 1).all():
            why = f"each algorithm has a single score of a {task}"
        if not any("single run" in reason for reason in these.reasons.values()):
            why = "no score changed from run to run"
        yield f"On these very {task}s alone there is no claim: {why}."
    elif likes.named_best is not None:
        shown = these_sentence(these, f"On these very {task}s", short=short)
        if shown:
            yield shown


def small(text: str) -> str:
    """Return a sentence with a small first letter."""
    return f"{text[:1].lower()}{text[1:]}"


def _has_claim(comparison: Compared) -> bool:
    """Return whether any pair that the verdict is about was tested."""
    return any(not np.isnan(row.p) for row in comparison.own_rows)


def _beside_reference(
    benchmark: xr.Dataset, claims: Sequence[Compared], before: list[str]
) -> tuple[list[str], list[str]]:
    """Return how all stand beside the reference by each claim, as many by name as a verdict has room for."""
    reference = str(benchmark.attrs["reference"])
    task = noun_of(benchmark)
    n_tasks = span({int(n) for n in benchmark["n_tasks"].to_numpy() if n} or {0})
    tested = [
        replace(made, over=f"over {n_tasks} {task}s")
        for made in claims
        if any(not np.isnan(row.p) for row in made.rows)
    ]
    after = [f"For {task}s like these: {small(text)}" for text in floors(benchmark, "random")][: 2 - len(tested)]
    if not tested:
        reasons = reference_sentence(claims[0], reference)
        return [*before, reasons, *after], []

    # By name those of the first claim; where there is no room the second, for these very tasks, is a detail.
    first = reference_sentence(tested[0], reference, 1)
    for most in range(_MOST_BESIDE, 0, -1):
        both = [reference_sentence(made, reference, most) for made in tested]
        if n_words([*before, *both, *after]) <= MOST_WORDS:
            return [*before, *both, *after], []
        if n_words([*before, both[0], *after]) <= MOST_WORDS:
            first = max(first, both[0], key=len)
    return [*before, first, *after], both[1:]


def _left_out_clauses(benchmark: xr.Dataset, made: Compared) -> Iterator[str]:
    """Yield how the best stands to each algorithm that lacks tasks, on those that both have."""
    for name, has in left_out(benchmark, made):
        yield left_out_sentence(made, name, has)


def _unlike_scales(benchmark: xr.Dataset) -> str | None:
    """Return that scores of tasks are on unlike scales, which tasks make the mean, and who leads on one scale."""
    carrying = carrying_tasks(benchmark)
    if benchmark.attrs["task"] not in benchmark.dims or not carrying:
        return None
    ratio = number(task_spread_ratio(benchmark).item(), 2)
    who = leader_on_one_scale(benchmark)
    verb = "make"
    if len(carrying) == 1:
        verb = "makes"
    leads = ""
    if who:
        leads = f"; normalized, {who} leads"
    return (
        f"Scales differ {ratio}-fold between {noun_of(benchmark)}s: {listed(carrying, _NAMED)} {verb} the mean{leads}."
    )


def leader_on_one_scale(benchmark: xr.Dataset) -> str | None:
    """Return who leads if the means of every task are scaled to run from 0, the worst, to 1, the best.

    That is of the tasks and algorithms that the verdict is about.
    """
    task = benchmark.attrs["task"]
    scope = scope_of(benchmark)
    if scope.about == "none":
        return None
    own = benchmark.isel({task: scope.tasks, "algorithm": scope.algorithms})
    means = own["task_mean"]
    low, high = means.min("algorithm"), means.max("algorithm")
    scaled = ((means - low) / (high - low).where(high > low)).mean(task)
    if scaled.isnull().all():
        return None
    upward = scaled
    if lower_is_better(benchmark):
        upward = -scaled
    leader = int(upward.fillna(-np.inf).argmax("algorithm"))
    return str(own["algorithm"].to_numpy()[leader])
