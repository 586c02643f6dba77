"""One result on the page: its answer, its pictures, its table and its sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import kinds
from xcurves.core.refusal import Refusal
from xcurves.core.schema import ResultKind, Statement
from xcurves.reporting import markup, pictures
from xcurves.results import ask, left_out, lines_of, prepare, say_final
from xcurves.say.comparing import algorithms_of
from xcurves.say.numbers import count, interval, open_interval
from xcurves.say.pairs import MOST_LISTED
from xcurves.say.result_frames import captioned
from xcurves.say.tables import in_words

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
        frame = _with_intervals(ask(kind, result, tabulate, "report"))
        names_of_tasks = [_heading(dim) for dim in dims]
        links_of_rows = None
        if list(frame.index.names[: len(dims)]) == names_of_tasks:
            links_of_rows = links
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


def _with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with both ends of an interval in one column, headings as words."""
    is_open = "note" in frame.attrs
    estimates = np.full(len(frame), np.nan)
    texts = {}
    names = [str(name) for name in frame]
    for place, name in enumerate(names):
        if not name.endswith("lower"):
            continue
        # There an end of 0 was set by the test of the pair; several intervals may have one estimate.
        before = names[max(place - 1, 0)]
        if is_open and not before.endswith(("upper", "lower", "_p")):
            estimates = frame[before].to_numpy(float)
        ends = zip(frame[name], frame[name.replace("lower", "upper")], estimates, strict=True)
        texts[name] = [_interval_text(*each) for each in ends]
    for name, cells in texts.items():
        frame.pop(name.replace("lower", "upper"))
        frame[name] = cells
    heads = {name: in_words(str(name).replace("lower", "interval")) for name in frame}
    return frame.rename(columns=heads).rename_axis(index=_heading)


def _interval_text(low: float, high: float, estimate: float) -> Any:
    """Return an interval as text, NaN where one of its ends is."""
    if np.isnan(low) or np.isnan(high):
        return np.nan
    if np.isnan(estimate):
        return interval(low, high)
    return open_interval(low, high, estimate)


def _heading(name: Any) -> Any:
    """Return the name of a level of rows as words."""
    return name and str(name).replace("_", " ")
