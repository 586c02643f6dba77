"""Items of an evaluation as tasks, in the passages that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from xcurves.core.direction import looks_like_score
from xcurves.core.names import is_item, is_passage
from xcurves.frames.roles import may_be_label, n_labels
from xcurves.frames.wide import with_joined

_FEWEST = 2  # items that algorithms share, and of a passage


class Items(NamedTuple):
    """Tasks of a frame that are items.

    Attributes
    ----------
    frame : DataFrame
        With a column of the pairs where items are counted anew in each passage.
    tasks : list of str
        The columns of tasks.
    passage : str, optional
        The column that says what an item belongs to.
    constant : tuple of str
        Columns that are the same in all rows of an item, which need not be used.
    """

    frame: pd.DataFrame
    tasks: list[str]
    passage: str | None = None
    constant: tuple[str, ...] = ()


def settle_items(
    frame: pd.DataFrame,
    tasks: Sequence[str],
    used: Sequence[str],
    algorithm: str | None,
    passage: str | None = None,
) -> Items:
    """Return what tasks are of which one is of items, and what they belong to; `passage` is a column that was named."""
    (item,) = filter(is_item, tasks)
    others = [name for name in tasks if name != item]
    if passage is None:
        passage = _passage_of(frame, item, [*used, *tasks])
    keys = [item]
    if passage is not None:
        others = [name for name in others if name != passage]
        keys = [passage, item]
    anew = [name for name in others if not _is_constant(frame, keys, name)]
    keys = [*anew, *keys]
    if not _are_shared(frame, keys, algorithm):
        return Items(frame, [name for name in tasks if name != item])
    constant = tuple(name for name in others if name not in anew)
    has_several = frame.duplicated(keys).any()
    free = [str(name) for name in frame.columns if name not in (*used, *tasks, *keys)]
    # of one row each all numbers would be constant, and scores may be by chance
    free = [
        name
        for name in free
        if not pd.api.types.is_numeric_dtype(frame[name]) or (has_several and not looks_like_score(name))
    ]
    constant += tuple(name for name in free if n_labels(frame[name]) > 1 and _is_constant(frame, keys, name))
    if passage is None:
        return Items(frame, [*anew, item], None, constant)
    if not _is_constant(frame, [*anew, item], passage):
        item, frame = with_joined(frame, [passage, item])
    return Items(frame, [*anew, item], passage, constant)


def _passage_of(frame: pd.DataFrame, item: str, used: Sequence[str]) -> str | None:
    """Return the column that says what items belong to, if most of its labels have two items or more."""
    found = [str(name) for name in frame.columns if name not in used and is_passage(name) and may_be_label(frame, name)]
    for name in found:
        n_items = frame[[name, item]].drop_duplicates().groupby(name, observed=True).size()
        if len(n_items) > 1 and (n_items >= _FEWEST).mean() > 0.5:
            return name
    return None


def _are_shared(frame: pd.DataFrame, keys: Sequence[str], algorithm: str | None) -> bool:
    """Return whether any two algorithms, or the only one, have some of the same items."""
    if algorithm is None or algorithm in keys:
        return True
    pairs = frame[[*keys, algorithm]].drop_duplicates()
    fewest = min(2, pairs[algorithm].nunique())
    shared = pairs.groupby(list(keys), observed=True).size() >= fewest
    return bool(shared.sum() >= _FEWEST)


def _is_constant(frame: pd.DataFrame, keys: Sequence[str], name: str) -> bool:
    """Return whether a column is the same in all rows with the same keys."""
    try:
        pairs = frame[[*keys, name]].drop_duplicates()
    except TypeError:  # lists are no labels
        return False
    return not bool(pairs.duplicated(list(keys)).any())
