"""Names in pictures: which can be drawn, in how many lines, and where they stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.labels import (
    escape_controls,
)
from xcurves.core.validation import Labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDS = 100  # of moving names apart
_LINE = 32  # letters in a line of a label
# letters of a name that fit beside a panel, and how many of a longer one's last are kept
_LONG, _KEPT = (28, 10)
_FEW_ROWS = 24  # whose names have the usual size
_PAIR_WORD = re.compile(" (over|below|-) ")
_SIDES = ("algorithm_a", "algorithm_b")


def wrapped(label: str, letters: float = _LINE) -> str:
    """Return a long label in lines of so many letters."""
    return "\n".join(
        fill(line, int(min(max(8, letters), 10**6))) for line in label.split("\n")
    )


def longest_line(names: Iterable[str]) -> int:
    """Return the letters of the longest line of any name."""
    return max(
        (len(line) for name in names for line in str(name).split("\n")), default=0
    )


def drawable(data: Labelled) -> Labelled:
    """Return data whose names can all be drawn: short ones, no two alike, pairs of long names in two lines."""
    words = {
        str(name): coord.to_numpy()
        for name, coord in data.coords.items()
        if coord.dtype.kind in "OUT"
    }
    short = {
        label: _shortened(label)
        for names in words.values()
        for label in names.ravel().tolist()
        if isinstance(label, str)
    }
    alike = {said for said, n in Counter(short.values()).items() if n > 1}
    known = {
        label: _safe(f"{said} ({place})" if said in alike else said)
        for place, (label, said) in enumerate(short.items(), 1)
    }
    for name, names in words.items():
        if (
            name == "pair"
            and set(_SIDES) <= words.keys()
            and max(map(len, map(str, names.flat)), default=0) > _LONG
        ):
            sides = zip(*(words[side].flat for side in _SIDES), strict=True)
            shown = np.array(
                [f"{known.get(a, a)} -\n{known.get(b, b)}" for a, b in sides]
            ).reshape(names.shape)
        else:
            shown = np.vectorize(
                lambda label: known.get(label, label), otypes=[object]
            )(names)
        data = data.assign_coords(
            {
                name: data[name].copy(
                    data=shown if names.dtype.kind == "O" else shown.astype(str)
                )
            }
        )
    variables: Any = data.variables if isinstance(data, xr.Dataset) else data.coords
    for variable in (data, *variables.values()):
        variable.attrs = {
            key: _safe(said) if isinstance(said, str) else said
            for key, said in variable.attrs.items()
        }
    return data


def _shortened(name: str) -> str:
    """Return a name without the middle of a long one."""
    said = _with_escapes(name)
    return (
        said if len(said) <= _LONG else f"{said[: _LONG - _KEPT - 1]}…{said[-_KEPT:]}"
    )


def _with_escapes(words: str) -> str:
    """Return words with controls as escapes; line breaks stay."""
    return "\n".join(map(escape_controls, words.split("\n")))


def _safe(words: str) -> str:
    """Return words with formulas that are none as text; a legend leaves out labels that are empty or begin with "_"."""
    lines = _with_escapes(words)
    if "$" in lines:
        try:
            from matplotlib.mathtext import MathTextParser

            MathTextParser("path").parse(lines)
        except (ImportError, ValueError):
            lines = lines.replace("$", r"\$")
    return f"\u200b{lines}" if not lines or lines.startswith("_") else lines


def list_rows(ax: Axes, names: Sequence[str]) -> None:
    """Name rows on the y axis, the first on top; long names of pairs stand in two lines."""
    if longest_line(names) > _LINE:
        names = [_PAIR_WORD.sub(r" \1\n", name, count=1) for name in names]
    ax.set_yticks(
        range(len(names)), names, fontsize="x-small" if len(names) > _FEW_ROWS else None
    )
    ax.set_ylim(len(names) - 0.5, -0.5)


def moved_apart(heights: Floats, least: float) -> Floats:
    """Return heights of names, moved as little as they must be to stand `least` from each other."""
    order = np.argsort(heights, kind="stable")
    at = np.asarray(heights, float)[order]
    for _ in range(_ROUNDS):
        missing = least - np.diff(at)
        if (missing <= 1e-6 * least).all():
            break
        shift = np.maximum(missing, 0) / 2
        at[:-1] -= shift
        at[1:] += shift
    found = np.empty_like(at)
    found[order] = at
    return found
