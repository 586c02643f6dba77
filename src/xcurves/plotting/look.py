"""The look of all pictures: spines, grid, letters; the widths of a paper; where names stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from xcurves.array_types import Floats

WIDTH_TEXT, WIDTH_COLUMN = 5.5, 3.25  # inches of a line of text, and of a column of two
_ROUNDS = 100  # of moving names apart
LOOK: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.35",
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "0.9",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "xtick.color": "0.35",
    "xtick.labelcolor": "0.2",
    "ytick.color": "0.35",
    "ytick.labelcolor": "0.2",
}


def letters(width: float) -> dict[str, Any]:
    """Return the look with letters that suit a panel of so many inches."""
    return LOOK | {"font.size": float(np.clip(2.4 * width, 6.5, 10))}


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
