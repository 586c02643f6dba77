"""The table of a paper: a row for each task, a column for each algorithm, "83.1 ± 0.7", in three languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from xcurves.array_types import Floats
from xcurves.core.schema import TaskScores
from xcurves.say.numbers import decimals_of, percent, rounded, span

Spread = Literal["ci", "sd", "se"]
Mark = Literal["bold", "italic", "underline"]
SPREADS = ("ci", "sd", "se")

_FEW = 1  # decimals by which tasks may differ and still have the same
_MOST_DECIMALS = 17
MINUS = "−"
DAGGER = "†"
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "∞": r"$\infty$", "†": r"$\dagger$",
    MINUS: "$-$",
}  # fmt: skip
_LATEX_MARKS = {
    "bold": r"\textbf{%s}",
    "italic": r"\textit{%s}",
    "underline": r"\underline{%s}",
}
_MARKDOWN_MARKS = {"bold": "**%s**", "italic": "*%s*", "underline": "<u>%s</u>"}
_HTML_MARKS = {"bold": "<b>%s</b>", "italic": "<i>%s</i>", "underline": "<u>%s</u>"}
_STYLE = (
    ".scores td { text-align: right; font-variant-numeric: tabular-nums } "
    ".scores td[data-space]::after { content: attr(data-space); visibility: hidden }"
)
_FIGURE_SPACE = "\u2007"  # as wide as a digit


class Cell(NamedTuple):
    """A number, its spread if it has one, and how it is marked."""

    number: str
    spread: str = ""
    mark: Mark | None = None
    is_untold: bool = False  # runs are too few to show a difference to the best: a dagger


@dataclass(frozen=True)
class ScoreTable:
    """The table as text, before any language."""

    corner: str
    heads: list[str]
    rows: list[tuple[str, list[Cell]]]  # of tasks
    last: list[tuple[str, list[Cell]]]  # mean over tasks, mean rank
    caption: str


def score_table(
    scores: TaskScores,
    *,
    spread: Spread = "ci",
    precision: int | None = None,
    best: Mark | None = "bold",
    ties: Mark | None = "underline",
) -> ScoreTable:
    """Return the table of scores; `precision` is the number of decimals, by default what the spread supports."""
    widths = _spread_of(scores, spread)
    decimals = [precision or 0] * len(scores.tasks)
    if precision is None:
        decimals = _decimals_of_tasks(scores.mean, widths)
    rows = []
    for task, name in enumerate(scores.tasks):
        cells = []
        for algorithm in range(len(scores.algorithms)):
            mark = None
            if scores.best[task, algorithm]:
                mark = best
            elif scores.tied[task, algorithm]:
                mark = ties
            number = _written(scores.mean[task, algorithm], decimals[task])
            width = _written(widths[task, algorithm], decimals[task])
            is_untold = _has_daggers(scores, ties) and bool(scores.untold[task, algorithm])
            cells.append(Cell(number, width, mark, is_untold))
        rows.append((name, cells))
    over_tasks = max(decimals, default=0)
    means = [Cell(_written(value, over_tasks)) for value in scores.mean_over_tasks]
    ranks = [Cell(_written(value, 2)) for value in scores.rank]
    last = [("mean", means), ("mean rank", ranks)]
    if len(set(scores.n_tasks.tolist())) > 1:
        n_tasks = [Cell(str(n)) for n in scores.n_tasks.tolist()]
        last.insert(1, (f"{scores.task}s of the mean", n_tasks))
    caption = _caption(scores, spread, best, ties)
    return ScoreTable(scores.task, scores.algorithms, rows, last, caption)


def _has_daggers(scores: TaskScores, ties: Mark | None) -> bool:
    """Return whether daggers say where runs are too few: some are, and not all."""
    return ties is not None and scores.any_could and bool(scores.untold.any())


def _spread_of(scores: TaskScores, spread: Spread) -> Floats:
    """Return the half t interval, the standard deviation or the standard error of runs, shape (task, algorithm)."""
    if spread == "sd":
        return scores.sd
    if spread == "ci":
        return scores.half
    n = np.where(scores.n_runs > 1, scores.n_runs, np.nan)
    return np.asarray(scores.sd / np.sqrt(n))


def _decimals_of_tasks(mean: Floats, widths: Floats) -> list[int]:
    """Return the decimals of each row: those of its median spread, the same for all rows where they are much alike."""
    decimals = []
    for means, spreads in zip(mean, widths, strict=True):
        spread = 0.0
        known = spreads[np.isfinite(spreads) & (spreads > 0)]
        if known.size:
            spread = float(np.median(known))
        decimals.append(_decimals(means[np.isfinite(means)].tolist(), spread))
    if decimals and max(decimals) - min(decimals) <= _FEW:
        return [max(decimals)] * len(decimals)
    return decimals


def _decimals(means: Sequence[float], spread: float) -> int:
    """Return how many decimals means with a spread have; without one they have three digits of the largest."""
    supported = [decimals_of(mean - spread, mean + spread, mean) for mean in means]
    known = [decimals for decimals in supported if decimals is not None]
    largest = max(map(abs, means), default=0.0)
    if not known and largest > 0:
        known = [2 - floor(log10(largest))]
    return min(max([0, *known]), _MOST_DECIMALS)


def _written(value: float, decimals: int) -> str:
    """Return a number with so many decimals, "" for none."""
    if np.isnan(value):
        return ""
    return rounded(value, decimals)


def _plain(number: str) -> str:
    """Return a number as programs read it."""
    return number.replace(MINUS, "-").replace(",", "")


def _caption(scores: TaskScores, spread: Spread, best: Mark | None, ties: Mark | None) -> str:
    """Return what the numbers, the spread and the marks are."""
    what = {
        "ci": f"half of the {percent(scores.confidence_level)} t interval",
        "sd": "the standard deviation",
        "se": "the standard error",
    }
    runs = sorted({int(n) for n in scores.n_runs.ravel() if n > 0})
    n_runs = "no runs"
    if runs == [1]:
        n_runs = "1 run"
    elif len(runs) == 1:
        n_runs = f"{runs[0]} runs"
    elif runs:
        n_runs = f"{runs[0]} to {runs[-1]} runs"
    first = f"{scores.score[:1].upper()}{scores.score[1:]}"
    if runs and runs[-1] > 1:
        sentences = [f"{first}: mean of {n_runs} ± {what[spread]}."]
    else:
        sentences = [f"{first} of {n_runs}."]
    if best:
        sentences.append(f"{_MARKED[best]}: the best of a {scores.task}.")
    if ties:
        sentences += _say_marks(scores, ties)
    sentences.append(f"Mean rank: 1 is the best, over the {scores.task}s that have all algorithms.")
    return " ".join(sentences)


def _say_marks(scores: TaskScores, ties: Mark) -> list[str]:
    """Return what the marks of those mean that are not shown to be worse than the best, or why there are none."""
    sentences = []
    adjusted = f"by p adjusted over {scores.task}s"
    if scores.tied.any():
        sentences.append(f"{_MARKED[ties]}: not shown to be worse than the best, {adjusted}.")
    few = f"{_runs_of_untold(scores)}: too few to show a difference"
    if _has_daggers(scores, ties):
        sentences.append(f"† {few}, {adjusted}.")
    elif scores.untold.any():
        sentences.append(f"{few} in a single {scores.task}, {adjusted}.")
    if scores.compared:
        sentences.append(f"Compared with {scores.compared} alone: pairs of others have no mark.")
    return sentences


def _runs_of_untold(scores: TaskScores) -> str:
    """Return the numbers of runs that are too few, of each and the best of its task the smaller: "3 runs"."""
    of_best = np.where(scores.best, scores.n_runs, 0).max(axis=1, keepdims=True)
    smaller = np.minimum(scores.n_runs, of_best)
    runs = sorted({int(n) for n in smaller[scores.untold].tolist()})
    if runs == [1]:
        return "1 run"
    return f"{span(runs)} runs"


_MARKED = {"bold": "Bold", "italic": "Italic", "underline": "Underlined"}


def as_latex(table: ScoreTable, caption: str | None, label: str | None) -> str:
    """Return a table with the rules of booktabs, caption and label; numbers of a column are aligned."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_text(caption or table.caption)}}}",
        rf"\label{{{label or 'tab:scores'}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.heads)}}}",
        r"\toprule",
        _latex_row([_start(latex_text(table.corner)), *map(latex_text, table.heads)]),
        r"\midrule",
    ]
    widest = _widest(table)
    for name, cells in table.rows:
        shown = [_latex_cell(cell, width) for cell, width in zip(cells, widest, strict=True)]
        lines.append(_latex_row([_start(latex_text(name)), *shown]))
    lines.append(r"\midrule")
    for name, cells in table.last:
        shown = [_latex_cell(cell, width) for cell, width in zip(cells, widest, strict=True)]
        lines.append(_latex_row([name, *shown]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def latex_text(words: str) -> str:
    """Return words as text of LaTeX."""
    return "".join(_LATEX.get(letter, letter) for letter in words)


def _start(name: str) -> str:
    """Return the first cell of a row: LaTeX would read a star or bracket there as an argument of the row before."""
    return re.sub(r"^(?=\s*[*\[])", "{}", name)


def _latex_cell(cell: Cell, widest: str) -> str:
    """Return a number and its spread; what it lacks of the widest spread is empty space of that width."""
    number = latex_text(cell.number)
    if cell.mark and number:
        number = _LATEX_MARKS[cell.mark] % number
    if cell.is_untold and number:
        number += latex_text(DAGGER)
    if not widest:
        return number
    if not cell.spread:
        if not number:
            return ""
        return rf"{number}\phantom{{ $\pm$ {widest}}}"
    space = ""
    n_missing = len(widest) - len(cell.spread)
    if n_missing:
        space = rf"\phantom{{{'0' * n_missing}}}"
    return rf"{number} $\pm$ {space}{cell.spread}"


def _widest(table: ScoreTable) -> list[str]:
    """Return the longest spread of each column, "" where there is none."""
    columns = zip(*(cells for _, cells in table.rows), strict=True)
    return [max((cell.spread for cell in column), key=len, default="") for column in columns]


def as_markdown(table: ScoreTable, caption: str | None) -> str:
    """Return a table of Markdown, its caption above."""
    widest = _widest(table)
    lines = [[_markdown(table.corner), *map(_markdown, table.heads)]]
    for name, cells in [*table.rows, *table.last]:
        shown = [_markdown_cell(cell, width) for cell, width in zip(cells, widest, strict=True)]
        lines.append([_markdown(name), *shown])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    sides = [
        f":{'-' * max(widths[0], 2)}-",
        *(f"{'-' * max(width, 2)}-:" for width in widths[1:]),
    ]
    padded = [
        [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        for line in lines
    ]
    written = [f"| {' | '.join(line)} |" for line in padded]
    return "\n".join(
        [
            _markdown(caption or table.caption),
            "",
            written[0],
            f"|{'|'.join(sides)}|",
            *written[1:],
        ]
    )


def _markdown(words: str) -> str:
    return re.sub(r"[\\`*<>|$\[\]]|~~|&(?=[\w#]+;)|(?<!\w)_|_(?!\w)", r"\\\g<0>", words)


def _markdown_cell(cell: Cell, widest: str) -> str:
    number = cell.number
    if cell.mark and number:
        number = _MARKDOWN_MARKS[cell.mark] % number
    if cell.is_untold and number:
        number += DAGGER
    if cell.spread:
        number += f" ± {cell.spread.rjust(len(widest), _FIGURE_SPACE)}"
    return number


def as_html(table: ScoreTable, caption: str | None) -> str:
    """Return a table of HTML whose numbers are aligned."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    body = "\n".join(html_rows(table, table.rows))
    foot = "\n".join(html_rows(table, table.last))
    return (
        f"<style>{_STYLE}</style>\n"
        f'<table class="scores">\n<caption>{escape(caption or table.caption)}</caption>\n'
        f'<thead><tr><th scope="col">{escape(table.corner)}</th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n<tfoot>\n{foot}\n</tfoot>\n</table>"
    )


def as_csv(table: ScoreTable, spread: Spread) -> str:
    """Return the table as CSV: a column for the numbers of each algorithm and one for their spreads, ASCII minus."""
    heads = [name for head in table.heads for name in (head, f"{head} ± {spread}")]
    every = [*table.rows, *table.last]
    texts = [[_plain(text) for cell in cells for text in (cell.number, cell.spread)] for _, cells in every]
    names = pd.Index([name for name, _ in every], name=table.corner)
    frame = pd.DataFrame(texts, index=names, columns=heads)
    return frame.to_csv(lineterminator="\n")


def html_rows(table: ScoreTable, rows: list[tuple[str, list[Cell]]], links: Sequence[str] = ()) -> list[str]:
    """Return rows of a table of HTML; `links` are the anchors that their names lead to."""
    widest = _widest(table)
    made = []
    for place, (name, cells) in enumerate(rows):
        head = escape(name)
        if links:
            head = f'<a href="#{links[place]}">{head}</a>'
        shown = [_html_cell(cell, width) for cell, width in zip(cells, widest, strict=True)]
        made.append(f'<tr><th scope="row">{head}</th>{"".join(shown)}</tr>')
    return made


def _html_cell(cell: Cell, widest: str) -> str:
    number = cell.number
    if cell.mark and number:
        number = _HTML_MARKS[cell.mark] % number
    if cell.is_untold and number:
        number += DAGGER
    if cell.spread:
        order = _plain(cell.number)
        return f'<td data-order="{order}">{number} ± {cell.spread.rjust(len(widest), _FIGURE_SPACE)}</td>'
    # The width of a spread, so that numbers stand below each other.
    # It is drawn by the style of the table: what is hidden is neither read aloud nor copied.
    if widest and number:
        return f'<td data-space=" ± {widest}">{number}</td>'
    return f"<td>{number}</td>"
