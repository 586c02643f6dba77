"""One result on the page: its answer, its pictures, its table and its sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import xarray as xr

from xcurves import kinds
from xcurves.core.refusal import Refusal
from xcurves.core.schema import ResultKind, Statement
from xcurves.reporting import markup, pictures
from xcurves.results import ask, left_out, lines_of, prepare, say_final
from xcurves.say.comparing import algorithms_of
from xcurves.say.numbers import count
from xcurves.say.pairs import MOST_LISTED
from xcurves.say.result_frames import captioned

Links = Mapping[tuple[Any, ...], str]  # the anchor of each task, by its labels

_PLACES = (
    "The algorithms, the best mean first, and between which places each is: 1 plus those shown to be better, to all "
    "less those shown to be worse."
)


@dataclass
class PagePart:
    """One result on the page, with its table; of a single task, without the dims that name it, with its pictures."""

    kind: ResultKind
    result: xr.Dataset
    is_single: bool
    table: str
    statements: list[Statement]
    views: list[str]  # that are not drawn yet

    @classmethod
    def of(cls, result: xr.Dataset, links: Links) -> PagePart:
        """Return a result of an analysis as a part of its page."""
        kind, result = prepare(result)
        dims = kind.panel_dims(result)
        is_single = prod(result.sizes[dim] for dim in dims) == 1
        if is_single:
            result = result.squeeze(dims).drop_vars(dims, errors="ignore")
            dims = kind.panel_dims(result)

        # Of many tasks the table says how many there are of each kind, where a part has such a digest.
        tabulate = kind.table
        if kind.part and kind.part.digest and not is_single:
            tabulate = kind.part.digest
        # Of many algorithms it has their places, not the pairs.
        is_of_many = result.sizes.get("pair", 1) > MOST_LISTED
        algorithms = algorithms_of(kind)
        if algorithms and is_of_many and is_single:
            tabulate = captioned(algorithms, _PLACES)
        frame = ask(kind, result, tabulate, "report")
        links_of_rows = None
        if list(frame.index.names[: len(dims)]) == list(dims):
            links_of_rows = links
        frame.attrs["interval"] = "interval"  # the caption says which
        table = markup.html_table(frame, frame.attrs["caption"], links_of_rows)

        views = []
        if is_single:
            views = [name for name, view in kind.views.items() if view.drawing.suits(result)]
        statements = list(kind.every_statement(result))
        return cls(kind, result, is_single, table, statements, views)

    @property
    def answer(self) -> str:
        """What it answers to its question."""
        return " ".join(each.text for each in self.statements if each.role == "answer")

    @property
    def opens(self) -> bool:
        """Whether it answers first: who is better, over all tasks."""
        return self.kind.name in kinds.OPENS and self.is_single

    def take_first_picture(self, *, listed_first: bool = False) -> list[str]:
        """Return the picture that opens the page, if it has one; it is not shown again.

        `listed_first`: one that lists pairs or algorithms in rows is taken before others.
        """
        defaults = [name for name in self.views if self.kind.views[name].default]
        if not defaults:
            return []
        first = defaults[0]
        if listed_first and self.opens:
            listing = (name for name in self.views if pictures.first_panel(self.kind, self.result, name).n_rows)
            first = next(listing, first)
        self.views.remove(first)
        return self._draw(first, narrow=True)

    def other_pictures(self) -> list[tuple[str, str]]:
        """Return each picture that is not drawn yet, below the first sentence of its caption."""
        titled = []
        for name in self.views:
            view = self.kind.views[name]
            if not (self.opens or view.default):
                continue
            drawn = self._draw(name)
            if drawn:
                titled.append((_first_sentence(view.caption), "".join(drawn)))
        return titled

    def body(self) -> str:
        """Return answer, pictures that are not shown above, table, then all sentences, folded."""
        blocks = []
        if "final" in self.result.attrs:
            blocks.append(markup.paragraph(say_final(self.result)))
        blocks.append(markup.paragraph(markup.without_code(self.answer)))
        blocks.append(self.cautions())
        for name in self.views:
            if self._is_shown(name):
                blocks += self._draw(name)
        blocks += [self.table, self.sentences()]

        tasks_left_out = left_out(self.result.attrs)
        if tasks_left_out:
            blocks.append(markup.paragraph("Tasks left out:"))
            blocks.append(markup.items(tasks_left_out, plain=True))
        return "".join(blocks)

    def _is_shown(self, name: str) -> bool:
        """Whether a picture is for everybody, or the part has no other that the page has not shown."""
        return self.kind.views[name].default or (self.opens and name == self.views[0])

    def cautions(self) -> str:
        """Return what must not be taken from the result."""
        texts = [each.text for each in self.statements if each.role == "caution"]
        return "".join(markup.paragraph(markup.without_code(text), "caution") for text in dict.fromkeys(texts))

    def sentences(self) -> str:
        """Return all sentences, folded."""
        lines = lines_of(self.statements)
        return markup.folded(f"In {count(len(lines), 'sentence')}", markup.items(lines))

    def _draw(self, name: str, *, narrow: bool = False) -> list[str]:
        caption = self.kind.views[name].caption
        try:
            drawn = pictures.draw(self.result, caption, name, narrow=narrow)
        except Refusal as refusal:  # no room
            return [markup.paragraph(f"Not drawn: {refusal.reason}.", "caution")]
        return figures([drawn], self.answer)


def figures(drawn: Sequence[pictures.DrawnPicture | None], answer: str) -> list[str]:
    """Return the pictures that could be drawn, the answer in their alternative texts."""
    return [markup.figure(*each, f"{each.caption} {answer}") for each in drawn if each]


def _first_sentence(caption: str | Mapping[str, str]) -> str:
    """Return the first sentence of a caption without its stop."""
    if not isinstance(caption, str):
        caption = next(iter(caption.values()))
    return re.split(r"(?<=\.) ", caption)[0].removesuffix(".")
