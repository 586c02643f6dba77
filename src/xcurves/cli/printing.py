"""What the command line prints of results: questions, answers and tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd
import xarray as xr

from xcurves.cli.options import PAIRS
from xcurves.cli.terminal import PLAIN, Terminal, as_text
from xcurves.core.schema import ResultKind
from xcurves.results import (
    left_out,
    parts_of,
    prepare,
    say_final,
    summary_of_part,
    table,
)
from xcurves.say.comparing import algorithms_of, pairs_of
from xcurves.say.numbers import count
from xcurves.say.pairs import MOST_LISTED

_MOST_ALGORITHMS = 200  # that the table of the verdict has
_LONG = 60  # rows; of longer tables the first are printed
_NEAREST = 3  # pairs that are printed where none is shown
_MOST_SHOWN = 20  # pairs that are printed where they are shown


def text_of(
    tree: xr.DataTree,
    in_full: Collection[str] = (),
    *,
    all_pairs: bool = False,
    details: bool = False,
    terminal: Terminal = PLAIN,
) -> str:
    """Return an analysis as text: the verdict with its tables first; of parts `in_full` all sentences and the table.

    `all_pairs`: the verdict has all of its pairs, not only those that are shown to differ; `details`: and all of its
    sentences. The tables of the verdict
    have bars of their intervals where the terminal has room.
    """
    parts = {name: prepare(part) for name, part in parts_of(tree).items()}
    verdict = next(
        (name for name, (kind, _) in parts.items() if kind.part and pairs_of(kind)),
        None,
    )
    paragraphs: list[str] = []
    if verdict is not None and verdict not in in_full:
        kind, result = parts.pop(verdict)
        paragraphs += [
            f"{terminal.heading(kind.question)}\n{_answer(kind, result, details=details)}",
            *_tables_of_verdict(kind, result, terminal, all_pairs=all_pairs),
        ]
    for name, (kind, result) in parts.items():
        if name in in_full:
            paragraphs += [
                f"{terminal.heading(kind.question)}\n{summary_of_part(result)}",
                _whole(table(result)),
            ]
        else:
            paragraphs.append(f"{terminal.heading(kind.question)}\n{_answer(kind, result)}")
    missing = left_out(tree.attrs)
    if missing:
        paragraphs.append("\n".join(["Left out:", *missing]))
    return "\n\n".join(paragraphs)


def _answer(kind: ResultKind, result: xr.Dataset, *, details: bool = False) -> str:
    """Return the answer, its details if asked for, what must not be taken from it, and the tasks that it is without."""
    texts = kind.by_role(result)
    answer = " ".join(texts["answer"])
    if "final" in result.attrs:
        answer = f"{say_final(result)} {answer}"
    lines = [answer, *(texts["detail"] if details else []), *texts["caution"]]

    gone = left_out(result.attrs)
    if len(gone) == 1:
        lines.append(f"Left out: {gone[0]}")
    elif gone:
        lines.append(f"Left out: {gone[0]} (and {len(gone) - 1:,} more)")
    return "\n".join(lines)


def _tables_of_verdict(kind: ResultKind, result: xr.Dataset, terminal: Terminal, *, all_pairs: bool) -> Iterator[str]:
    """Yield the table of the algorithms, and the pairs that are shown to differ; of many algorithms none or all."""
    algorithms, pairs = algorithms_of(kind), pairs_of(kind)
    if algorithms is not None:
        yield _whole(algorithms(result), _MOST_ALGORITHMS, terminal, "may_be_best")
    if pairs is None:
        return
    n_pairs = result.sizes.get("pair", 1)
    if all_pairs:
        yield _whole(pairs(result), n_pairs, terminal, "shown", origin=0.0)
    elif n_pairs > MOST_LISTED and algorithms is not None:
        yield f"All {n_pairs:,} pairs: --include {PAIRS}"
    else:
        yield _pairs(pairs(result), terminal)


def _pairs(pairs: pd.DataFrame, terminal: Terminal) -> str:
    """Return the pairs of the verdict that are shown to differ, or those that are nearest to it."""
    is_shown = pairs["shown"].to_numpy(bool)
    rows = pairs.drop(columns="shown")
    on = ""
    if "caption" in pairs.attrs:
        on = f" {pairs.attrs['caption']}"
    if "lower" not in rows:
        return f"No pair could be tested{on}:\n{_with_bars(rows.head(_NEAREST), terminal)}"
    if not is_shown.any():
        none = f"Not shown to differ{on}"
        if len(rows) > 1:
            none = f"No pair is shown to differ{on}"
        if "p" not in rows:
            return f"{none}:\n{_with_bars(rows.head(_NEAREST), terminal)}"
        if len(rows) > _NEAREST:
            none += f"; the smallest p of {len(rows)} pairs"
        nearest = rows.sort_values("p", kind="stable").head(_NEAREST)
        return f"{none}:\n{_with_bars(nearest, terminal)}"
    n_shown = int(is_shown.sum())
    first: Any = rows[is_shown].head(_MOST_SHOWN)
    lines = [f"Shown to differ{on}:", as_text(first, terminal, marked=[True] * len(first), origin=0.0)]
    rest = []
    if n_shown > _MOST_SHOWN:
        rest.append(f"{n_shown - _MOST_SHOWN} more are shown to differ")
    if n_shown < len(rows):
        rest.append(f"{count(len(rows) - n_shown, 'pair is', 'pairs are')} not shown to differ")
    if rest:
        lines.append(f"{', '.join(rest)}. All of them: --include {PAIRS}")
    return "\n".join(lines)


def _with_bars(rows: pd.DataFrame, terminal: Terminal) -> str:
    """Return pairs that are not shown to differ."""
    return as_text(rows, terminal, marked=[False] * len(rows), origin=0.0)


def _whole(
    frame: pd.DataFrame,
    most: int = _LONG,
    terminal: Terminal = PLAIN,
    mark: str = "",
    *,
    origin: float | None = None,
) -> str:
    """Return a table with all of its columns; of a long one the first rows. Rows with `mark` have bars in a colour."""
    first: Any = frame.head(most)
    marked = first[mark].astype(bool).tolist() if mark in first else [False] * len(first)
    text = as_text(first, terminal, marked=marked, origin=origin)
    if len(frame) <= most:
        return text
    return f"{text}\n... {len(frame) - most:,} more rows are in the archive of the results."
