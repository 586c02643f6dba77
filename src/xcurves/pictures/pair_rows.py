"""Rows of pairs: below the better algorithm of each, with the estimate, its interval and p of the table beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from xcurves.core.validation import are_means_over_training
from xcurves.pictures.rows import Column, Mark, Row, RowsPicture
from xcurves.pictures.styles import Style, styled_parts
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import decimals_of, interval_parts, p_text, rounded, with_units
from xcurves.say.pairs import PairRow, between, heading, keeps_direction, lower_is_better, most_ahead, rows_of

MOST_ROWS = 45  # pairs that have a row each; of more those of the best
ABOVE, BELOW = "> 0", "< 0"  # ends that the test set to 0
NAMES_OF_COLUMNS = ("estimate", "interval", "p")
_GREY, _INK = "#999999", "#737373"  # of pairs that are not shown to differ


def label_of_pairs(result: xr.Dataset) -> str:
    """Return the label of differences of mean scores, which stand below the better algorithm unless pairs are named."""
    label = f"how much {'lower' if lower_is_better(result) else 'higher'} in mean {score_name(result)}"
    if keeps_direction(result):
        label = f"difference of mean {score_name(result)}"
    return with_units(label, result["difference"])


def flags_of_scores(result: xr.Dataset) -> frozenset[str]:
    """Return what captions say of the score of a run."""
    return frozenset({"over training"}) if are_means_over_training(result) else frozenset()


def rows_of_pairs(
    result: xr.Dataset, displayed: xr.Dataset, x_label: str, flags: frozenset[str] = frozenset()
) -> RowsPicture:
    """Return the displayed pairs of a result, the one ahead on top; of very many those of the best algorithm only."""
    rows = rows_of(displayed)
    of_best = _of_best(rows)
    if len(rows) > MOST_ROWS:
        rows = of_best
    whole = _picture(result, displayed, rows, x_label, flags)
    if keeps_direction(displayed) or len(of_best) == len(rows):
        return whole
    said = f"{x_label}\n{len(of_best)} of {len(rows)} pairs"
    return replace(whole, fewer=_picture(result, displayed, of_best, said, flags))


def _of_best(rows: Sequence[PairRow]) -> list[PairRow]:
    """Return the pairs of the algorithm that is most ahead."""
    best = most_ahead(rows)
    return [row for row in rows if best in row[:2]]


def _picture(
    result: xr.Dataset, displayed: xr.Dataset, rows: Sequence[PairRow], x_label: str, flags: frozenset[str]
) -> RowsPicture:
    decimals = _common_decimals(rows)
    colors = _colors(result)
    made: list[Row] = []
    if keeps_direction(displayed) or len(rows) == 1:
        word = f" {between(displayed)} "
        flag = "one pair"
        if keeps_direction(displayed):
            word, flag = " − ", "named pairs"
        made = [_row(f"{row.better}{word}{row.other}", row, decimals, colors) for row in rows]
    else:
        flag = "pairs"
        for name in _from_best(rows):
            own = sorted((row for row in rows if row.better == name), key=lambda row: row.amount)
            if own:
                made.append(Row(name, ink=colors.get(name, "black"), is_heading=True))
            made += [_row(f"{between(displayed)} {row.other}", row, decimals, colors) for row in own]
    headings = ("by", heading(result).replace(" together", ""), "p")
    columns = tuple(Column(*each) for each in zip(NAMES_OF_COLUMNS, headings, strict=True))
    return RowsPicture(tuple(made), x_label, columns, flags=flags | {flag})


def _from_best(rows: Sequence[PairRow]) -> list[str]:
    """Return the algorithms of pairs, each the one that is most ahead of those that are left."""
    left = list(dict.fromkeys(name for row in rows for name in row[:2]))
    order = []
    while left:
        first = most_ahead(row for row in rows if {*row[:2]} <= {*left}) or left[0]
        order.append(first)
        left.remove(first)
    return order


def _colors(result: xr.Dataset) -> dict[str, str]:
    """Return the colour of each algorithm of a result."""
    return {name: style.color for style, _, name in styled_parts(result) if name}


def _row(name: str, row: PairRow, decimals: int | None, colors: dict[str, str]) -> Row:
    """Return the row of a pair, in the colour of the better one where it is shown."""
    color, ink, flag = _GREY, _INK, None
    if row.shown:
        color, ink, flag = colors.get(row.better, "black"), "black", "shown"
    mark = Mark(float(row.amount), float(row.low), float(row.high), Style(color, "-", "o"), row.shown, flag)
    texts = (_amount(row, decimals), _limits(row, decimals), p_text(row.p))
    return Row(name, (mark,), texts, ink=ink)


def _common_decimals(rows: Sequence[PairRow]) -> int | None:
    """Return the decimals of all numbers: as many as the narrowest interval supports."""
    own = [decimals_of(row.low, row.high, row.amount) for row in rows]
    return max((each for each in own if each is not None), default=None)


def _amount(row: PairRow, decimals: int | None) -> str:
    if np.isnan(row.amount):
        return ""
    return rounded(row.amount, decimals)


def _limits(row: PairRow, decimals: int | None) -> str:
    """Return the interval in a column: an end that a test set to 0 is "> 0"."""
    low, word, high = interval_parts(row.low, row.high, decimals)
    if row.shown and row.low == 0:
        low = ABOVE
    if row.shown and row.high == 0:
        high = BELOW
    return f"{low}{word}{high}"
