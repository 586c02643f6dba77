"""Rows in matplotlib: marks with their intervals, quartiles and points, names at the left, texts beside or below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xcurves.core.schema import Picture
from xcurves.draw.drawn_names import wrapped, write_beside, write_label
from xcurves.draw.look import letters, slot_of, width_of
from xcurves.draw.ticks import write_short
from xcurves.pictures.pair_rows import ABOVE, BELOW
from xcurves.pictures.rows import BOX, HIGH, POINTS, Mark, Row, RowsBeside, RowsPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DROPPED_FIRST = ("interval", "estimate", "p")  # where a panel that is not ours is narrow
_LEAST_LETTER = 5.5  # points
_PITCH = 1.3  # height of a line, of that of its letters
_LETTER = 0.64  # width of a letter, of its height
_MOST_BESIDE = 0.45  # of the width, for names and texts beside a panel
_SPACE, _LETTERS_APART = 7, 3  # points between two columns, and letters that this takes
_SMALL = 0.833  # of the size of letters of labels
_FEW = 24  # rows whose letters have the usual size
_THICK, _FEW_BARS = 5.0, 30  # width of thick bars in points, thinner of more
_OF_LABEL = 40  # letters in a line of the label, which has room below the columns too
# middle and half of the height of dots above marks, and where these stand, in rows
_DOTS, _HALF_OF_DOTS, _BELOW_DOTS = (-0.12, 0.25, 0.28)
_FAINT, _CLEAR, _MANY_DOTS = (0.15, 0.6, 20)  # opacity of very many dots and of few
_BAR = 0.012  # from one bracket to the next, as a share of the panel
_BESIDE = 0.08  # between pictures beside each other, as a share of the panel
_LEAST_PANEL = 60.0  # points of the width of one of them
_BESIDE_ARROW = 7.0  # points from names to the panel where an arrow stands at its edge
_TICK = 4.0  # width of a tick with its number, of the height of its letters


def draw_rows(ax: Axes, picture: RowsPicture) -> None:
    """Draw rows.

    In Axes that are not ours they take no more room than these have: of too many rows the most important ones are
    drawn, and columns are left out until the panel has half of the width.
    """
    room = _room(ax)
    if room is not None and picture.fewer is not None and len(picture.rows) > room.lines:
        picture = picture.fewer
    size = _size(ax, picture)
    if room is not None:
        size = min(size, room.letter(sum(1 + name.count("\n") for name in picture.names)))
        picture = _that_fits(picture, room, size)
    _draw_marks(ax, picture)
    _name_rows(ax, picture, size)
    label = picture.x_label
    if picture.texts_below:
        _write_below(ax, picture, size)
        headings = [column.heading for column in picture.columns if column.name == "interval"]
        label = "\n".join([label, *(f"in brackets: {heading}" for heading in headings)])
    else:
        _write_beside(ax, picture, size)
    write_label(ax.xaxis.label, label, _OF_LABEL)
    ax.set_gid("; ".join(sorted(picture.flags)))


def with_texts_below(picture: Picture, inches: float) -> Picture:
    """Return a picture for a figure of so many inches: texts stand below their rows where they would take half of it.

    Letters of names are as in a panel so wide.
    """
    if not isinstance(picture, RowsPicture) or not picture.columns:
        return picture
    size = _SMALL * float(letters(inches)["font.size"])
    n_letters = picture.letters_of_names + sum(_LETTERS_APART + each for each in picture.letters_of_columns)
    if _LETTER * size * n_letters <= 72 * inches * _MOST_BESIDE:
        return picture
    return replace(picture, texts_below=True)


def draw_rows_beside(ax: Axes, beside: RowsBeside) -> None:
    """Draw pictures of the same rows beside each other in one panel: they share names and height.

    In narrow Axes there are as many as have room, from the first on.
    """
    first = beside.pictures[0]
    size = _size(ax, first)
    room = max(width_of(ax) - _LETTER * size * first.letters_of_names, 1.0)
    n = max(1, min(len(beside.pictures), int(room / _LEAST_PANEL)))
    share = (1 - _BESIDE * (n - 1)) / n
    label = ax.xaxis.label.get_fontsize()
    ticks = ax.xaxis.get_major_ticks()[0].label1.get_fontsize()
    _name_rows(ax, first, size)
    ax.tick_params(axis="x", bottom=False, labelbottom=False)
    ax.spines["bottom"].set_visible(False)
    for place, picture in enumerate(beside.pictures[:n]):
        inner = ax.inset_axes((place * (share + _BESIDE), 0, share, 1), sharey=ax)
        inner.patch.set_visible(False)
        _draw_marks(inner, picture)
        inner.tick_params(axis="y", left=False, labelleft=False)
        inner.tick_params(axis="x", labelsize=ticks)
        if not picture.ticks:
            inner.locator_params("x", nbins=max(1, int(share * room / (_TICK * float(ticks)))))
        inner.spines["left"].set_visible(False)
        inner.set_xlabel(wrapped(picture.x_label, share * room / (_LETTER * float(label))), fontsize=label)
    ax.set_gid("; ".join(sorted(beside.flags)))


def _size(ax: Axes, picture: RowsPicture) -> float:
    """Return the size of letters of names and texts."""
    size = _SMALL * float(ax.xaxis.label.get_fontsize())
    if len(picture.rows) > _FEW:
        size *= _SMALL
    return size


def _draw_marks(ax: Axes, picture: RowsPicture) -> None:
    """Draw the marks, boxes and points of all rows, and the axis that they share."""
    if picture.scale == "log":
        ax.set_xscale("log")
    if picture.reference is not None:
        ax.axvline(picture.reference, color="0.35", linewidth=1)
    places = picture.places.tolist()
    placed = [
        (at if row.dots is None else at + _BELOW_DOTS, mark)
        for at, row in zip(places, picture.rows, strict=True)
        for mark in row.marks
    ]
    for at, row in zip(places, picture.rows, strict=True):
        _draw_spread(ax, at, row)
    for alike in _alike(placed):
        _draw_alike(ax, alike)
    if picture.limits is not None:
        ax.set_xlim(picture.limits)
    _draw_open_ends(ax, placed)
    if picture.ticks:
        low, high = ax.get_xlim()
        shown = [tick for tick in picture.ticks if low <= tick[0] <= high]
        ax.set_xticks([at for at, _ in shown], [text for _, text in shown])
        ax.minorticks_off()
    elif picture.scale == "linear":
        write_short(ax.xaxis, np.array([mark[:3] for _, mark in placed], float))
    ax.grid(axis="x", color="0.9")
    for column, bracket in enumerate(picture.brackets):
        x = 1.02 + _BAR * column
        ax.plot([x, x], [bracket.first - 0.25, bracket.last + 0.25], color="black", linewidth=2,
                solid_capstyle="butt", clip_on=False, transform=ax.get_yaxis_transform(), gid="joined")  # fmt: skip


def _draw_spread(ax: Axes, at: float, row: Row) -> None:
    """Draw the histogram of a row, the box between its quartiles with the median, and its points."""
    edges, shares = row.binned()
    if edges.size:
        ax.stairs(at - HIGH * shares, edges, baseline=at, fill=True, color="0.75", zorder=1, gid="null")
    n = len(row.points)
    if n:
        look: dict[str, Any] = {"color": "0.6", "gid": "points"}
        heights = at + POINTS * row.spread
        if row.dots is not None:
            heights = at + _DOTS + _HALF_OF_DOTS * row.spread
            opacity = max(_FAINT, min(_CLEAR, _MANY_DOTS / n))
            look = {"color": row.dots.color, "gid": "score", "alpha": opacity}
        ax.plot(row.points, heights, "o", markersize=3, markeredgewidth=0, **look)
    if row.quartiles is not None and np.isfinite(row.quartiles).all():
        low, middle, high = row.quartiles
        ax.fill_betweenx([at - BOX, at + BOX], low, high, facecolor="0.88", edgecolor="0.45", linewidth=0.8,
                         zorder=0.9, gid="box")  # fmt: skip
        ax.vlines(middle, at - BOX, at + BOX, color="0.35", linewidth=1.2)


def _alike(placed: Iterable[tuple[float, Mark]]) -> list[list[tuple[float, Mark]]]:
    """Return marks with their places, those that look the same together: an artist takes them all."""
    groups: dict[tuple[Any, ...], list[tuple[float, Mark]]] = {}
    for at, mark in placed:
        groups.setdefault((mark.style, mark.filled, mark.flag, mark.thick), []).append((at, mark))
    return list(groups.values())


def _draw_alike(ax: Axes, alike: Sequence[tuple[float, Mark]]) -> None:
    """Draw estimates of one look, and the finite part of their intervals."""
    at = np.array([place for place, _ in alike])
    value, low, high = np.array([mark[:3] for _, mark in alike], float).T
    start, stop = (np.where(np.isfinite(end), end, value) for end in (low, high))
    one = alike[0][1]
    color = one.style.color
    if one.thick:
        wide = _THICK if len(at) <= _FEW_BARS else 0.6 * _THICK
        ax.hlines(at, start, stop, color=color, linewidth=wide, gid="interval")
        alone = start == stop
        ax.scatter(start[alone], at[alone], marker="|", linewidths=1.5, s=4 * wide**2, color=color)
        return
    wide = start != stop
    if wide.any():
        ax.hlines(at[wide], start[wide], stop[wide], color=color)
    ax.plot(value, at, one.style.marker, color=color, markersize=5, gid=one.flag,
            markerfacecolor=color if one.filled else "white")  # fmt: skip


def _draw_open_ends(ax: Axes, placed: Sequence[tuple[float, Mark]]) -> None:
    """Draw a line with an arrow to the edge of the panel for each side that is unbounded."""
    limits = ax.get_xlim()  # of the finite values
    for at, mark in placed:
        if not np.isfinite(mark.value):
            continue
        for edge, arrow, end in zip(limits, "<>", (mark.low, mark.high), strict=True):
            if np.isinf(end):
                ax.hlines(at, edge, mark.value, color=mark.style.color, zorder=1.5)
                ax.scatter(edge, at, s=20, clip_on=False, gid="arrow", marker=arrow, color=mark.style.color, zorder=3)
    ax.set_xlim(limits)


def _name_rows(ax: Axes, picture: RowsPicture, size: float) -> None:
    """Name rows at the left, headings in bold; long names of pairs stand in two lines."""
    ax.set_yticks(picture.places.tolist(), picture.names, fontsize=size)
    for label, row in zip(ax.get_yticklabels(), picture.rows, strict=True):
        label.set_color(row.ink)
        if row.is_heading:
            label.set_fontweight("bold")
    ax.tick_params(axis="y", length=0)
    if any(mark.low == -np.inf for row in picture.rows for mark in row.marks):
        ax.tick_params(axis="y", pad=_BESIDE_ARROW)
    ax.spines["left"].set_visible(False)
    # The headings of columns stand in the free row on top, below a title.
    top = -1.5 if picture.columns and not picture.texts_below else -0.5
    ax.set_ylim(picture.depth + 0.5, top)


class _Room(NamedTuple):
    """How much room Axes that are not ours have, in points."""

    width: float
    height: float

    @property
    def lines(self) -> int:
        """How many lines of the smallest letters it has room for, headings of columns and the label below included."""
        return int(self.height / (_LEAST_LETTER * _PITCH)) - 5

    def letter(self, n_lines: int) -> float:
        """Return the largest letters of so many lines."""
        return max(_LEAST_LETTER, self.height / (_PITCH * (n_lines + 5)))


def _room(ax: Axes) -> _Room | None:
    """Return the room of Axes in a figure that is not ours."""
    slot = slot_of(ax)
    if slot is None:
        return None
    width, height = slot
    return _Room(72 * width, 72 * height)


def _that_fits(picture: RowsPicture, room: _Room, size: float) -> RowsPicture:
    """Return the picture with the columns that leave the panel half of the width beside the names of rows."""
    names = picture.letters_of_names * _LETTER * size
    widths = {
        column.name: _width_of(n_letters, size)
        for column, n_letters in zip(picture.columns, picture.letters_of_columns, strict=True)
    }
    for name in _DROPPED_FIRST:
        if names + sum(widths.values()) <= room.width / 2:
            break
        widths.pop(name, None)
    return picture.with_columns(widths)


def _width_of(n_letters: int, size: float) -> float:
    """Return the width of a column with the space in front of it, in points."""
    return _SPACE + _LETTER * size * n_letters


def _write_beside(ax: Axes, picture: RowsPicture, size: float) -> None:
    """Write the texts of rows at the right of the panel, in columns; headings make the room for all of a column."""
    right = 0.0
    for place, n_letters in enumerate(picture.letters_of_columns):
        right += _width_of(n_letters, size)
        write_beside(ax, picture.columns[place].heading, -1, right, size, ha="right", color="0.35")
        for at, row in zip(picture.places.tolist(), picture.rows, strict=True):
            if row.texts:
                written = write_beside(ax, row.texts[place], at, right, size, ha="right", color=row.ink)
                written.set_in_layout(False)
                _flag_open_end(written, row.texts[place])


def _write_below(ax: Axes, picture: RowsPicture, size: float) -> None:
    """Write the texts of rows in one line below the marks of each, over the line where no difference is."""
    behind = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.6}
    for at, row in zip(picture.places.tolist(), picture.rows, strict=True):
        if any(row.texts):
            written = ax.text(0, at + 0.75, picture.text_below(row), transform=ax.get_yaxis_transform(), va="center",
                              fontsize=size, color=row.ink, bbox=behind)  # fmt: skip
            # A layout would take the panel the width that the text needs; `fit_rows` has it end where the panel does.
            written.set_in_layout(False)
            _flag_open_end(written, " ".join(row.texts))


def _flag_open_end(written: Any, text: str) -> None:
    """Mark a text that has an end which a test set to 0, for captions."""
    if ABOVE in text or BELOW in text:
        written.set_gid("open end")
