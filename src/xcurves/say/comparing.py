"""What any kind that declares a comparison says: answer, details, cautions, its pairs and algorithms, and a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.direction import HIGHER
from xcurves.core.scales import DIFFERENCE
from xcurves.core.schema import About, Claim, Comparison, Needed, ResultKind, Statement, of_comparison
from xcurves.say.compared_pairs import Compared, means_of, named
from xcurves.say.numbers import count, listed, unadjusted_over_tasks, units_of
from xcurves.say.pairs import (
    TURNED,
    PairRow,
    better_first_rows,
    displayed_pairs,
    heading,
    lower_is_better,
    most_ahead,
    rows_of,
    rows_of_tasks,
    verdict_rows,
)
from xcurves.say.result_frames import (
    bounds,
    captioned,
    frame_of_algorithms,
    frame_of_displayed,
    frame_of_pairs,
    note_open_ends,
)
from xcurves.say.verdict import best_sentence, claim_sentences, next_sentence, reference_sentence, within_words

_MOST_BEST = 4  # algorithms of which a sentence says in how many tasks they are best


def completed(kind: ResultKind) -> ResultKind:
    """Return a kind that compares with the sentences and the table of that, where it has none of its own."""
    assert kind.comparison is not None
    statements, table = kind.statements, kind.table
    if statements is of_comparison:
        statements = partial(statements_of, kind.comparison)
    if table is of_comparison:
        table = captioned(partial(table_of, kind.comparison), kind.comparison.caption)
    return replace(kind, statements=statements, table=table)


def pairs_of(kind: ResultKind) -> Callable[[xr.Dataset], pd.DataFrame] | None:
    """Return what makes the pairs of a kind, as its answer has them, "shown" where they are; None if it has none."""
    if kind.part is not None and kind.part.pairs is not None:
        return kind.part.pairs
    if kind.comparison is not None:
        return partial(_pairs, kind.comparison)
    return None


def algorithms_of(kind: ResultKind) -> Callable[[xr.Dataset], pd.DataFrame] | None:
    """Return what makes a row for each algorithm of a kind that compares, the best first; None if it has none."""
    if kind.part is not None and kind.part.algorithms is not None:
        return kind.part.algorithms
    if kind.comparison is not None and {"score_mean", "n_runs", "may_be_best"} <= set(kind.variables):
        return _algorithms
    return None


def part_of(comparison: Comparison, result: xr.Dataset, claim: Claim | None = None) -> xr.Dataset:
    """Return the part of a result that the claim of the verdict, or another, is about; attrs say which end is good."""
    paired = comparison.pair(result).assign_attrs({HIGHER: int(comparison.direction(result) == "higher")})
    claim = claim or claim_of_verdict(comparison, paired)
    if claim.dim in paired.dims:
        return paired.sel({claim.dim: claim.label})
    return paired


def claim_of_verdict(comparison: Comparison, paired: xr.Dataset) -> Claim:
    """Return the claim that the verdict makes, the first of which there are p."""
    claims = comparison.claims(paired)
    for claim in claims[:-1]:
        p = paired[comparison.p]
        if claim.dim in p.dims:
            p = p.sel({claim.dim: claim.label})
        if p.notnull().any():
            return claim
    return claims[-1]


def displayed(comparison: Comparison, part: xr.Dataset) -> xr.Dataset:
    """Return the pairs of a comparison as they are shown everywhere, their amounts as the scale reads them."""
    estimate, interval = comparison.estimate, comparison.interval
    read = {name: comparison.scale.read(part[name]) for name in (estimate, interval)}
    p = None
    if comparison.p:
        p = part[comparison.p]
    return displayed_pairs(part.assign(read), estimate, interval, p)


def needed(kind: ResultKind, result: xr.Dataset) -> tuple[tuple[str, str], Needed] | None:
    """Return the best and the nearest that is not told apart from it, and what would tell them; None if nothing says.

    That is of a result of one task, or benchmark.
    """
    comparison = kind.comparison
    if comparison is None:
        return None
    part = part_of(comparison, result)
    if part[comparison.estimate].size > part.sizes["pair"]:
        return None
    (task,) = labels.tasks_of(part, comparison.estimate)
    # Also beside a reference the better of a pair is named first.
    shown = displayed(comparison, task)
    made = replace(compared(comparison, task), rows=better_first_rows(rows_of(shown), shown))
    found = made.rivals and comparison.what_next(task, *made.rivals)
    if made.rivals is None or found is None:
        return None
    return made.rivals, found


def statements_of(comparison: Comparison, result: xr.Dataset) -> Iterator[Statement]:
    """Yield who is best, who may be and by how much; what could not be shown; then what intervals and p hold for."""
    paired = part_of(comparison, result)
    noun = labels.task_noun(paired[comparison.estimate])
    n_pairs = paired.sizes["pair"]
    n_tasks = paired[comparison.estimate].size // n_pairs
    floors = list(comparison.floor(result))
    if n_tasks == 1:
        (task,) = labels.tasks_of(paired, comparison.estimate)
        # a floor says by itself what it takes
        kept, left = _verdict(comparison, task, has_next=not floors)
        claims = comparison.claims(comparison.pair(result))
        if "reference" in result.attrs and len(claims) > 1:
            kept = [_beside_reference(comparison, result, claim) for claim in claims]
        yield Statement("answer", " ".join(kept))
        for text in left:
            yield Statement("detail", text)
    else:
        yield Statement("answer", _best_by_task(comparison, paired, noun))
    for text in floors:
        yield Statement("answer", text)
    yield from comparison.more(result)

    held, adjusted, what = "Intervals", "", "intervals are"
    if comparison.p:
        held, what = "Intervals and p", "p is"
        if "correction" in result.attrs:
            adjusted = f" (p by {result.attrs['correction'].capitalize()})"
    if n_pairs > 1:
        yield Statement("detail", f"{held} hold for the {n_pairs} pairs of a {noun} together{adjusted}.")
    for text in unadjusted_over_tasks(n_tasks, noun, what):
        yield Statement("caution", text)


def compared(comparison: Comparison, part: xr.Dataset, on: str = "") -> Compared:
    """Return what the verdict about one task is made of, given the part that a claim `on` something is about."""
    shown = displayed(comparison, part)
    rows = verdict_rows(shown)
    if "reference" in part.attrs and comparison.mean not in part:
        rows = rows_of(shown)
    names = list(dict.fromkeys(name for row in rows for name in row[:2]))
    may_be_best = [name for name in names if not any(row.shown and row.other == name for row in rows)]
    if "algorithm" in part.dims:
        names = [str(label) for label in part["algorithm"].to_numpy().tolist()]
    means = None
    if comparison.mean in part:
        means = means_of(part, comparison.mean)
    if "may_be_best" in part:
        may_be_best = named(part, part["may_be_best"])
    about = comparison.about(part) or About(names)
    return Compared(
        rows=rows,
        algorithms=about.algorithms,
        may_be_best=may_be_best,
        score=comparison.noun(part),
        units=_unit(comparison, part),
        means=means,
        among=about.among,
        over=about.over,
        on=on,
        lower_is_better=lower_is_better(part),
        has_limits=about.has_limits and bool(part[comparison.interval].notnull().any()),
        has_p=bool(comparison.p),
        scale=comparison.scale,
        reasons=comparison.reasons(part),
    )


def _unit(comparison: Comparison, result: xr.Dataset) -> str:
    """Return the unit of what is compared."""
    if comparison.unit is not None:
        return comparison.unit(result)
    return units_of(result[comparison.estimate])


def _verdict(comparison: Comparison, task: xr.Dataset, *, has_next: bool) -> tuple[list[str], list[str]]:
    """Return who is best in one task, or how all others stand beside the reference; and what there is no room for."""
    made = compared(comparison, task, claim_of_verdict(comparison, task).on)
    # of two algorithms with means one is the best
    if "reference" in task.attrs and (len(made.rows) > 1 or made.means is None):
        return [reference_sentence(made, str(task.attrs["reference"]))], []
    following = []
    if has_next:
        following = list(_following(comparison, task, made))
    return within_words([best_sentence(made), *claim_sentences(made), *following], following)


def _beside_reference(comparison: Comparison, result: xr.Dataset, claim: Claim) -> str:
    """Return how all others stand beside the reference by one of several claims."""
    (part,) = labels.tasks_of(part_of(comparison, result, claim), comparison.estimate)
    return reference_sentence(compared(comparison, part, claim.on), str(result.attrs["reference"]))


def _following(comparison: Comparison, task: xr.Dataset, made: Compared) -> Iterator[str]:
    """Yield what it takes to tell the best from its nearest rival."""
    found = made.rivals and comparison.what_next(task, *made.rivals)
    if made.rivals is not None and found is not None:
        yield from next_sentence(made.rivals, found)


def _best_by_task(comparison: Comparison, paired: xr.Dataset, noun: str) -> str:
    """Return in how many tasks each algorithm is best, and in how many that is shown."""
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
        reasons = [
            why for task in labels.tasks_of(paired, comparison.estimate) for why in comparison.reasons(task).values()
        ]
        said = "; ".join(dict.fromkeys(reasons))
        if said:
            return f"In no {noun} could any pair be compared: {said}."
        return f"In no {noun} could any pair be compared."

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
    return (
        f"{leads[:1].upper()}{leads[1:]} of {count(n_best.total(), noun)}: {counts}; in "
        f"{n_shown or 'none'} of them, each tested by itself, it is shown to be {words.beside} than {others}."
    )


def _best_of(rows: Sequence[PairRow], means: dict[str, float], *, lower: bool) -> str | None:
    """Return the algorithm with the best mean, without means the one most ahead; None if no difference is known."""
    if not rows:
        return None
    if not means:
        return most_ahead(rows)
    if lower:
        return min(means, key=lambda name: means[name])
    return max(means, key=lambda name: means[name])


def _pairs(comparison: Comparison, result: xr.Dataset) -> pd.DataFrame:
    """Return the pairs as the answer has them."""
    shown = _written(comparison, displayed(comparison, part_of(comparison, result)))
    frame = frame_of_displayed(shown)
    if not comparison.p:
        return frame.drop(columns="p", errors="ignore")
    return frame


def _algorithms(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: its mean, the number of its runs, and whether it may be the best."""
    columns = {"mean": result["score_mean"], "runs": result["n_runs"], "may_be_best": result["may_be_best"]}
    return frame_of_algorithms(result, columns)


def table_of(comparison: Comparison, result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the better first, the largest difference in front."""
    shown = displayed(comparison, part_of(comparison, result))
    written = _written(comparison, shown)
    amount = "difference"
    if comparison.scale is not DIFFERENCE:
        amount = comparison.estimate
    columns = {amount: written["amount"]}
    has_limits = bool(written["interval"].notnull().any())
    if has_limits:
        columns |= bounds(written["interval"])
    if comparison.p:
        columns["p"] = shown["p"]
    columns |= comparison.columns(result)
    frame = frame_of_pairs(columns, shown["amount"], shown[TURNED])
    if has_limits:
        frame.attrs["interval"] = heading(result)
        note_open_ends(frame, shown)
    return frame


def _written(comparison: Comparison, shown: xr.Dataset) -> xr.Dataset:
    """Return displayed pairs with amounts and intervals as they are said."""
    write = comparison.scale.write
    return shown.assign({name: write(shown[name]) for name in ("amount", "interval")})
