"""What any kind that declares a comparison says: answer, details, cautions, its pairs and algorithms, and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.core.scales import DIFFERENCE
from xcurves.core.schema import Claim, Comparison, Needed, ResultKind, of_comparison
from xcurves.say.claimed import by_claim, compared, displayed, paired_of, part_of, tested_claims
from xcurves.say.numbers import units_of
from xcurves.say.pairs import TURNED, better_first_rows, by_algorithm, heading, rows_of_tasks
from xcurves.say.result_frames import (
    bounds,
    captioned,
    frame_of_algorithms,
    frame_of_displayed,
    frame_of_pairs,
    note_open_ends,
)
from xcurves.say.statements import statements_of


def completed(kind: ResultKind) -> ResultKind:
    """Return a kind that compares with the sentences and the table of that, where it has none of its own."""
    assert kind.comparison is not None
    statements, table = kind.statements, kind.table
    if statements is of_comparison:
        statements = partial(statements_of, kind.comparison)
    if table is of_comparison:
        table = captioned(partial(table_of, kind.comparison), kind.comparison.caption, kind.comparison.scores_caption)
    return replace(kind, statements=statements, table=table)


def pairs_of(kind: ResultKind) -> Callable[[xr.Dataset], pd.DataFrame] | None:
    """Return what makes the pairs of a kind, as its answer has them, "shown" where they are; None if it has none."""
    if kind.comparison is not None:
        return partial(_pairs, kind.comparison)
    if kind.part is not None:
        return kind.part.pairs
    return None


def algorithms_of(kind: ResultKind) -> Callable[[xr.Dataset], pd.DataFrame] | None:
    """Return what makes a row for each algorithm of a kind that compares, the best first; None if it has none."""
    if kind.part is not None and kind.part.algorithms is not None:
        return kind.part.algorithms
    if kind.comparison is not None and {"score_mean", "n_runs", "may_be_best"} <= set(kind.variables):
        return _algorithms
    return None


def needed(kind: ResultKind, result: xr.Dataset) -> Iterator[tuple[xr.Dataset, Sequence[str], Needed]]:
    """Yield each task, or benchmark, in which something could show more, with what, and of which algorithms.

    That is what p need to be small enough, and what would tell the best from the nearest that is not told apart.
    """
    comparison = kind.comparison
    if comparison is None:
        return
    paired = paired_of(comparison, result)
    claims = comparison.claims(paired)
    dims = labels.task_dims(paired[comparison.estimate], [claim.dim for claim in claims])
    verdict = tested_claims(comparison, paired)[0]
    # of all tasks at once, which is fast
    shown = displayed(comparison, by_claim(paired, verdict))
    tasks = labels.tasks_of(paired, comparison.estimate, [claim.dim for claim in claims])
    for task, rows in zip(tasks, rows_of_tasks(shown, dims), strict=True):
        part = by_claim(task, verdict)
        # Also beside a reference the better of a pair is named first.
        _, made = compared(comparison, part, verdict, better_first_rows(rows, shown))
        for floor in comparison.floor(by_claim(task, claims[0])):
            if floor.needed is not None:
                yield task, made.algorithms, floor.needed
        rivals = made.rivals
        found = rivals and comparison.what_next(part, *rivals)
        if rivals and found:
            yield task, rivals, found


def _pairs(comparison: Comparison, result: xr.Dataset) -> pd.DataFrame:
    """Return the pairs as the answer has them; attrs say by which claim, and what "difference" is."""
    part = part_of(comparison, result)
    frame = frame_of_displayed(_written(comparison, displayed(comparison, part)))
    frame.attrs |= {"interval": _heading(comparison, part), "scale": comparison.scale.name}
    frame.attrs["unit"] = units_of(part[comparison.estimate])
    on = next((claim.on for claim in comparison.claims(part) if claim.on), "")
    if on:
        frame.attrs["caption"] = on
    if not comparison.p:
        return frame.drop(columns="p", errors="ignore")
    return frame


def _algorithms(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each algorithm: its mean, the number of its runs, and whether it may be the best."""
    columns = {"mean": result["score_mean"], "runs": result["n_runs"], "may_be_best": result["may_be_best"]}
    return frame_of_algorithms(result, columns)


def table_of(comparison: Comparison, result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each pair, the better first, the largest difference in front; columns for each claim.

    Of a result that has algorithms beside their reference, and no pairs, a row is an algorithm.
    """
    paired = paired_of(comparison, result)
    every = []
    estimate = comparison.column or ("difference" if comparison.scale is DIFFERENCE else comparison.estimate)
    columns: dict[str, xr.DataArray] = {}
    for claim in _known_claims(comparison, paired):
        shown = displayed(comparison, by_claim(paired, claim))
        if "reference" in paired.attrs and "algorithm_a" not in result.coords:
            shown = by_algorithm(shown)
        written = _written(comparison, shown)
        prefix = f"{claim.label}_" if claim.label else ""
        columns.setdefault(estimate, written["amount"])
        if written["interval"].notnull().any():
            columns |= bounds(written["interval"], prefix)
        if comparison.p:
            columns[f"{prefix}p"] = shown["p"]
        every.append(shown)
    columns |= comparison.columns(result)
    names = every[0]["algorithm"] if "algorithm" in every[0].dims else every[0][TURNED]
    frame = frame_of_pairs(columns, every[0]["amount"], names)
    if any(shown["interval"].notnull().any() for shown in every):
        frame.attrs["interval"] = _heading(comparison, part_of(comparison, result))
        note_open_ends(frame, *every, null=comparison.scale.null)
    return frame


def _known_claims(comparison: Comparison, paired: xr.Dataset) -> list[Claim]:
    """Return the claims of which a table has columns: of one answer to each question nothing is known of these."""
    claims = list(comparison.claims(paired))
    return [claim for claim in claims if by_claim(paired, claim)[comparison.interval].notnull().any()] or tested_claims(
        comparison, paired
    )


def _heading(comparison: Comparison, part: xr.Dataset) -> str:
    """Return how intervals of pairs are headed: their level, and what else is to be known of them."""
    abouts = [comparison.about(task) for task in labels.tasks_of(part, comparison.estimate)]
    more = next((about.heading for about in abouts if about is not None and about.heading), "")
    return f"{heading(part)}{more}"


def _written(comparison: Comparison, shown: xr.Dataset) -> xr.Dataset:
    """Return displayed pairs with amounts and intervals as they are said."""
    write = comparison.scale.write
    return shown.assign({name: write(shown[name]) for name in ("amount", "interval")})
