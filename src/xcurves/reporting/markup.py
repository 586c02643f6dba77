"""Pieces of a page, from labels that may hold anything: all text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from xcurves.core.refusal import escape_controls
from xcurves.reporting.score_table import ScoreTable, html_rows
from xcurves.say import numbers

_NARROW = 4  # columns that a narrow screen shows
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
    heads = []
    if not isinstance(frame.index, pd.RangeIndex):
        heads = [name or "" for name in frame.index.names]
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in heads)
    top += "".join(f'<th scope="col" class="number">{text(name)}</th>' for name in frame)
    links = links or {}
    n_labels = len(next(iter(links), ()))
    rows = ""
    last_anchor = None
    values_of_rows = frame.astype(object).to_numpy().tolist()
    for key, values in zip(frame.index, values_of_rows, strict=True):
        labels: tuple[Any, ...] = ()
        if heads:
            labels = key if isinstance(key, tuple) else (key,)
        names = [text(as_cell(label)) for label in labels]
        anchor = links.get(labels[:n_labels])
        if anchor and anchor != last_anchor:
            names[0] = f'<a href="#{anchor}">{names[0]}</a>'
        last_anchor = anchor
        cells = [f'<th scope="row">{name}</th>' for name in names]
        cells += [_td(value) for value in values]
        rows += f"<tr>{''.join(cells)}</tr>\n"
    box = _box("box", len(heads) + len(frame.columns))
    return (
        f'<div class="{box}" role="group" tabindex="0" aria-label="{text(caption)}"><table>\n'
        f"<caption><span>{text(caption)}</span></caption>\n"
        f"<thead><tr>{top}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>"
    )


def _td(value: Any) -> str:
    """Return a cell; numbers that are written with signs or commas are sorted by their value."""
    cell = text(as_cell(value))
    is_number = isinstance(value, float) and not pd.isna(value)
    if is_number and not cell.replace(".", "", 1).isdigit():
        return f'<td data-order="{value:.6g}">{cell}</td>'
    return f"<td>{cell}</td>"


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


def as_cell(value: Any) -> str:
    """Return a value as it is written in a table: four digits of a number, a dash for none."""
    if pd.isna(value):
        return "–"
    if isinstance(value, float):
        return numbers.number(value, 4)
    return str(value)
