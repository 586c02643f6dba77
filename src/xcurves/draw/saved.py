"""Pictures as files: letters that journals can embed, the same bytes each time, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xcurves.core.atomic_write import atomic_write, check_place
from xcurves.core.refusal import Cure, Refusal, WrongType, give

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MADE = "xcurves"
# Where each format says what made it, and the time that would make equal pictures differ.
_METADATA: dict[str, dict[str, str | None]] = {
    ".pdf": {"Creator": _MADE, "CreationDate": None},
    ".png": {"Software": _MADE},
    ".svg": {"Creator": _MADE, "Date": None},
    ".eps": {"Creator": _MADE},
}
FORMATS = tuple(_METADATA)
PAGES = (".html",)
_PAGE = f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="generator" content="{_MADE}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{_MADE}</title></head>
<body>{{}}</body>
</html>
"""
_HEAD, _TAIL = 2_000, 200_000  # bytes in which the metadata stand
# Type 3 fonts, matplotlib's default, are refused by many journals; 42 is TrueType.
_LETTERS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": _MADE,
}


def check_picture(path: str | os.PathLike[str], formats: Sequence[str] = FORMATS) -> Path:
    """Return the path of a picture: its ending is one of some formats, and its place can be written."""
    try:
        target = Path(path)
    except TypeError:
        raise WrongType("save", path, "must be a path", Cure("Give ", give(save=f"figure{formats[0]}"))) from None
    if target.suffix.lower() not in formats:
        cure = Cure("Give ", give(save=f"{target.stem or 'figure'}{formats[0]}"))
        raise Refusal("save", str(path), f"must end with {', '.join(formats)}", cure)
    check_replaceable(target)
    return target


def check_replaceable(path: Path) -> None:
    """Refuse a file that xcurves did not write, and a place where nothing can be written."""
    check_place(path, is_own=_is_own)


def save_picture(figure: Figure, path: Path, *, trim: bool) -> None:
    """Write a figure to a file; `trim` cuts what is empty around it, and else it keeps its size."""
    from matplotlib import rc_context

    ending = path.suffix.lower()
    write = partial(
        figure.savefig,
        format=ending[1:],
        metadata=_METADATA[ending],
        bbox_inches="tight" if trim else None,
    )
    with rc_context(_LETTERS):
        atomic_write(path, write, is_own=_is_own)


def save_page(figure: Any, path: Path) -> None:
    """Write a figure of Plotly to a page of its own, as wide as the screen."""
    drawn = figure.to_html(full_html=False, include_mathjax=False, config={"displaylogo": False, "responsive": True})
    atomic_write(path, lambda part: part.write_text(_PAGE.format(drawn), encoding="utf-8"), is_own=_is_own)


def _is_own(path: Path) -> bool:
    """Return whether the metadata of a picture name this package; PDF has them at its end."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, path.stat().st_size - _TAIL))
        return _MADE.encode() in head + file.read()
