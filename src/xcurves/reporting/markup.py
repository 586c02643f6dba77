"""Pieces of a page, from labels that may hold anything: all text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from xcurves.core import wording
from xcurves.core.labels import escape_controls
from xcurves.reporting.score_table import ScoreTable, html_rows

_NARROW = 4  # columns that a narrow screen shows
_EQUALS = re.compile(r" = (?=[-\d])")
_CODE = re.compile(r"\w=(?=[,.;)\s]|$)|\.curves\.|\w\(\)")
_BY_OPTION = re.compile(r" with \w+=(?=[,.;)\s]|$)")
_DOI = re.compile(r"doi:\s*(10\.\S+[^\s.,;])")


def text(words: object) -> str:
    """Return words as text of a page."""
    return escape(escape_controls(str(words)))


def paragraph(words: str, kind: str = "") -> str:
    """Return a paragraph of text."""
    attribute = f' class="{kind}"' if kind else ""
    return f"<p{attribute}>{_sentence(words)}</p>"


def items(sentences: Iterable[str], *, plain: bool = False) -> str:
    """Return a list of sentences without code, nothing for none; `plain`, names in them are words."""
    said = map(without_code, sentences)
    lines = "".join(
        f"<li>{_sentence(each.replace('_', ' ') if plain else each)}</li>"
        for each in said
    )
    return f"<ul>{lines}</ul>" if lines else ""


def without_code(words: str) -> str:
    """Return a sentence without the parts that name Python: readers of a page have none."""
    said = " ".join(
        part
        for part in re.split(r"(?<=[.:;]) ", _BY_OPTION.sub("", words))
        if not _CODE.search(part)
    )
    return re.sub(r"[:;]$", ".", said)


def _sentence(words: str) -> str:
    """Return a sentence whose equations are not broken over lines."""
    return _EQUALS.sub("\u00a0=\u00a0", text(words))


def references(entries: Iterable[str]) -> str:
    """Return a list of references, with links where there is a DOI."""
    linked = (
        _DOI.sub(r'<a href="https://doi.org/\1">doi:\1</a>', text(entry))
        for entry in entries
    )
    return "<ol>" + "".join(f"<li>{entry}</li>" for entry in linked) + "</ol>"


def folded(title: str, body: str) -> str:
    """Return content that is shown when its title is clicked, nothing for none."""
    return f"<details><summary>{text(title)}</summary>{body}</details>" if body else ""


def section(anchor: str, title: str, body: str, *, is_open: bool = False) -> str:
    """Return a section with its heading, below which its content is folded; the anchor is never a label of the data."""
    heading = f'<h2 id="{anchor}-title">{text(title)}</h2>'
    content = (
        f"{heading}\n{body}"
        if is_open
        else f"<details><summary>{heading}</summary>\n{body}</details>"
    )
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
    named = not isinstance(frame.index, pd.RangeIndex)
    heads = [name or "" for name in frame.index.names] if named else []
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in heads)
    top += "".join(
        f'<th scope="col" class="number">{text(name)}</th>' for name in frame
    )
    n_labels = len(next(iter(links or {}), ()))
    rows = ""
    last_anchor = None
    for key, values in zip(
        frame.index, frame.astype(object).to_numpy().tolist(), strict=True
    ):
        keys: tuple[Any, ...] = ()
        if named:
            keys = key if isinstance(key, tuple) else (key,)
        names = [text(as_cell(each)) for each in keys]
        anchor = links.get(keys[:n_labels]) if links else None
        if anchor and anchor != last_anchor:
            names[0] = f'<a href="#{anchor}">{names[0]}</a>'
        last_anchor = anchor
        cells = [f'<th scope="row">{name}</th>' for name in names]
        cells += [_td(value) for value in values]
        rows += f"<tr>{''.join(cells)}</tr>\n"
    wide = " wide" if len(heads) + len(frame.columns) > _NARROW else ""
    return (
        f'<div class="box{wide}" role="group" tabindex="0" aria-label="{text(caption)}"><table>\n'
        f"<caption><span>{text(caption)}</span></caption>\n"
        f"<thead><tr>{top}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>"
    )


def _td(value: Any) -> str:
    """Return a cell; numbers that are written with signs or commas are sorted by their value."""
    said = text(as_cell(value))
    is_plain = (
        not isinstance(value, float)
        or pd.isna(value)
        or said.replace(".", "", 1).isdigit()
    )
    return (
        f"<td>{said}</td>" if is_plain else f'<td data-order="{value:.6g}">{said}</td>'
    )


def score_table(table: ScoreTable, links: Sequence[str]) -> str:
    """Return the scores of tasks and algorithms in a box which scrolls; the names of tasks lead to their curves."""
    heads = "".join(
        f'<th scope="col" class="number">{text(head)}</th>' for head in table.heads
    )
    body = "\n".join(html_rows(table, table.rows, links))
    foot = "\n".join(html_rows(table, table.last))
    wide = " wide" if len(table.heads) >= _NARROW else ""
    return (
        f'<div class="box scores{wide}" role="group" tabindex="0" aria-label="{text(table.caption)}"><table>\n'
        f"<caption><span>{text(table.caption)}</span></caption>\n"
        f'<thead><tr><th scope="col">{text(table.corner)}</th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n<tfoot>\n{foot}\n</tfoot></table></div>"
    )


def as_cell(value: Any) -> str:
    """Return a value as it is written in a table: four digits of a number, a dash for none."""
    if pd.isna(value):
        return "–"
    return wording.number(value, 4) if isinstance(value, float) else str(value)
