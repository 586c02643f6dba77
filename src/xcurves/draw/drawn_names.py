"""Names in pictures: which can be drawn, in how many lines, and where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core.labels import SIDES
from xcurves.core.refusal import escape_controls
from xcurves.core.validation import Labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation, Text

_ROUNDS = 100  # of moving names apart
_LINE = 32  # letters in a line of a label
# letters of a name that fit beside a panel, and how many of a longer one's last are kept
_LONG, _KEPT = (28, 10)


def wrapped(label: str, letters: float = _LINE) -> str:
    """Return a long label in lines of so many letters, its words whole."""
    width = int(min(max(8, letters), 10**6))
    return "\n".join(fill(line, width, break_long_words=False) for line in label.split("\n"))


def write_label(text: Text, label: str, letters: float = _LINE) -> None:
    """Write a label in lines of so many letters, which `whole_label` takes back."""
    text.set_text(wrapped(label, letters))
    text.set_label(label)


def whole_label(text: Text) -> str:
    """Return a label with the line breaks of its own only, if `write_label` wrote what it says."""
    written, whole = text.get_text(), str(text.get_label())
    return whole if whole.split() == written.split() else written


def longest_line(names: Iterable[str]) -> int:
    """Return the letters of the longest line of any name."""
    return max((len(line) for name in names for line in str(name).split("\n")), default=0)


def write_beside(ax: Axes, text: str, at: float, points: float, size: float, **look: Any) -> Annotation:
    """Write a text so many points right of a panel, at a height of its data."""
    return ax.annotate(text, (1, at), (points, 0), xycoords=ax.get_yaxis_transform(), textcoords="offset points",
                       va="center", fontsize=size, annotation_clip=False, **look)  # fmt: skip


def drawable(data: Labelled) -> Labelled:
    """Return data whose names can all be drawn: short ones, no two alike, pairs of long names in two lines."""
    names_of_coords = {
        str(coord): values.to_numpy() for coord, values in data.coords.items() if values.dtype.kind in "OUT"
    }
    drawn_names = _drawn_names(names_of_coords.values())
    changed = {}
    for coord, names in names_of_coords.items():
        are_pairs = coord == "pair" and set(SIDES) <= names_of_coords.keys()
        if are_pairs and longest_line(names.flat) > _LONG:
            sides = zip(*(names_of_coords[side].flat for side in SIDES), strict=True)
            drawn = [f"{drawn_names.get(a, a)} -\n{drawn_names.get(b, b)}" for a, b in sides]
        else:
            drawn = [drawn_names.get(name, name) for name in names.ravel().tolist()]
        if drawn == names.ravel().tolist():
            continue
        values = np.empty(names.shape, dtype=object)
        values.reshape(-1)[:] = drawn
        if names.dtype.kind != "O":
            values = values.astype(str)
        # a copy of the array would copy the coordinates of all pairs with it
        changed[coord] = data[coord].variable.copy(data=values)
    data = data.assign_coords(changed)

    variables: Any = data.coords
    if isinstance(data, xr.Dataset):
        variables = data.variables
    for variable in (data, *variables.values()):
        texts = {key: _safe(value) for key, value in variable.attrs.items() if isinstance(value, str)}
        variable.attrs = {**variable.attrs, **texts}
    return data


def _drawn_names(names_of_coords: Iterable[NDArray[Any]]) -> dict[str, str]:
    """Return how each name is drawn: short, numbered where two would be alike, and safe."""
    short = {
        name: _shortened(name) for names in names_of_coords for name in names.ravel().tolist() if isinstance(name, str)
    }
    n_alike = Counter(short.values())
    drawn = {}
    for number, (name, shortened) in enumerate(short.items(), 1):
        if n_alike[shortened] > 1:
            shortened += f" ({number})"
        drawn[name] = _safe(shortened)
    return drawn


def _shortened(name: str) -> str:
    """Return a name without the middle of a long one."""
    escaped = _with_escapes(name)
    if len(escaped) <= _LONG:
        return escaped
    return f"{escaped[: _LONG - _KEPT - 1]}…{escaped[-_KEPT:]}"


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
    if not lines or lines.startswith("_"):
        return f"\u200b{lines}"
    return lines


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
