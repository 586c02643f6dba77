"""Pieces of a page, from labels that may hold anything: all text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from xcurves.core.refusal import escape_controls
from xcurves.reporting.score_table import ScoreTable, html_rows
from xcurves.say.tables import Column, Role, columns_of

_NARROW = 4  # columns that a narrow screen shows
_NUMBER = {True: ' class="number"', False: ""}
_EQUALS = re.compile(r" = (?=[-\d])")
_CODE = re.compile(r"\w=(?=[,.;)\s]|$)|\.curves\.|\w\(\)")
_BY_OPTION = re.compile(r" with \w+=(?:'[^']*')?(?=[,.;)\s]|$)")
_DOI = re.compile(r"doi:\s*(10\.\S+[^\s.,;])")


def text(words: object) -> str:
    """Return words as text of a page."""
    return escape(escape_controls(str(words)))


def paragraph(words: str, kind: str = "") -> str:
    """Return a paragraph of text."""
    attribute = ""
    if kind:
        attribute = f' class="{kind}"'
    return f"<p{attribute}>{_sentence(words)}</p>"


def items(sentences: Iterable[str], *, plain: bool = False) -> str:
    """Return a list of sentences without code, nothing for none; `plain`, names in them are words."""
    texts = [without_code(sentence) for sentence in sentences]
    if plain:
        texts = [text_of.replace("_", " ") for text_of in texts]
    if not texts:
        return ""
    lines = "".join(f"<li>{_sentence(text_of)}</li>" for text_of in texts)
    return f"<ul>{lines}</ul>"


def without_code(words: str) -> str:
    """Return a sentence without the parts that name Python: readers of a page have none."""
    parts = re.split(r"(?<=[.:;]) ", _BY_OPTION.sub("", words))
    kept = " ".join(part for part in parts if not _CODE.search(part))
    return re.sub(r"[:;]$", ".", kept)


def _sentence(words: str) -> str:
    """Return a sentence whose equations are not broken over lines."""
    return _EQUALS.sub("\u00a0=\u00a0", text(words))


def references(entries: Iterable[str]) -> str:
    """Return a list of references, with links where there is a DOI."""
    linked = (_DOI.sub(r'<a href="https://doi.org/\1">doi:\1</a>', text(entry)) for entry in entries)
    return "<ol>" + "".join(f"<li>{entry}</li>" for entry in linked) + "</ol>"


def folded(title: str, body: str) -> str:
    """Return content that is shown when its title is clicked, nothing for none."""
    if not body:
        return ""
    return f"<details><summary>{text(title)}</summary>{body}</details>"


def section(anchor: str, title: str, body: str, *, is_open: bool = False) -> str:
    """Return a section with its heading, below which its content is folded; the anchor is never a label of the data."""
    heading = f'<h2 id="{anchor}-title">{text(title)}</h2>'
    content = f"<details><summary>{heading}</summary>\n{body}</details>"
    if is_open:
        content = f"{heading}\n{body}"
    return f'<section id="{anchor}" aria-labelledby="{anchor}-title">\n{content}\n</section>'


def figure(wide: str, narrow: str | None, caption: str, alternative: str) -> str:
    """Return a picture with its caption; a narrow screen has its own, or scrolls."""
    shown = image(wide, alternative)
    if narrow:
        shown = f'<picture><source media="(max-width: 40rem)" srcset="{escape(narrow)}">{shown}</picture>'
    else:
        shown = f'<div class="box picture" role="group" tabindex="0" aria-label="{text(caption)}">{shown}</div>'
    return f"<figure>{shown}\n<figcaption>{text(caption)}</figcaption></figure>"


def image(source: str, alternative: str) -> str:
    """Return a picture with its alternative text."""
    return f'<img src="{escape(source)}" alt="{text(alternative)}">'


def html_table(
    frame: pd.DataFrame,
    caption: str,
    links: Mapping[tuple[Any, ...], str] | None = None,
) -> str:
    """Return a table in a box of its own, which scrolls; index levels that have names are headings of rows.

    `links` has the anchors that the first heading of a row leads to, by the first labels of the row; of rows that
    follow each other and lead to the same, the first has the link.
    """
    columns = columns_of(frame)
    cells_of_columns = [_cells(column, frame) for column in columns]
    top = "".join(f'<th scope="col"{_NUMBER[column.role != "label"]}>{text(column.heading)}</th>' for column in columns)
    links = links or {}
    firsts = columns[0].texts if links else []
    n_labels = len(next(iter(links), ()))
    rows = ""
    last_anchor = None
    for place, key in enumerate(frame.index):
        cells = [cells_of_column[place] for cells_of_column in cells_of_columns]
        anchor = links.get((key if isinstance(key, tuple) else (key,))[:n_labels])
        if anchor and anchor != last_anchor:
            cells[0] = f'<th scope="row"><a href="#{anchor}">{text(firsts[place])}</a></th>'
        last_anchor = anchor
        rows += f"<tr>{''.join(cells)}</tr>\n"
    box = _box("box", len(columns))
    return (
        f'<div class="{box}" role="group" tabindex="0" aria-label="{text(caption)}"><table>\n'
        f"<caption><span>{text(caption)}</span></caption>\n"
        f"<thead><tr>{top}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>"
    )


def _cells(column: Column, frame: pd.DataFrame) -> list[str]:
    """Return the cells of a column, those of labels as headings of their rows."""
    texts = map(text, column.texts)
    if column.role == "label":
        return [f'<th scope="row">{each}</th>' for each in texts]
    values = frame[column.name]
    return [_cell(column.role, each, value) for each, value in zip(texts, values, strict=True)]


def _cell(role: Role, written: str, value: Any) -> str:
    """Return a cell, a dash for none; numbers that are written with signs or commas are sorted by their value."""
    if pd.isna(value):
        return "<td>–</td>"
    if role in ("number", "p") and isinstance(value, float) and not written.replace(".", "", 1).isdigit():
        return f'<td data-order="{value:.6g}">{written}</td>'
    return f"<td>{written}</td>"


def _box(classes: str, n_columns: int) -> str:
    """Return the classes of a box, of which a narrow screen says where there are more columns than it shows."""
    if n_columns > _NARROW:
        return f"{classes} wide"
    return classes


def score_table(table: ScoreTable, links: Sequence[str]) -> str:
    """Return the scores of tasks and algorithms in a box which scrolls; the names of tasks lead to their curves."""
    heads = "".join(f'<th scope="col" class="number">{text(head)}</th>' for head in table.heads)
    body = "\n".join(html_rows(table, table.rows, links))
    foot = "\n".join(html_rows(table, table.last))
    box = _box("box scores", 1 + len(table.heads))
    return (
        f'<div class="{box}" role="group" tabindex="0" aria-label="{text(table.caption)}"><table>\n'
        f"<caption><span>{text(table.caption)}</span></caption>\n"
        f'<thead><tr><th scope="col">{text(table.corner)}</th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n<tfoot>\n{foot}\n</tfoot></table></div>"
    )
