"""Names in a column that are algorithm and run in one, vit-seed0, and are cut as names of folders are."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xcurves.core.doubts import Doubtful
from xcurves.core.known import RUN_PATH
from xcurves.core.names import RUN_LABEL, dim_of, have_seeds, is_fold, whole_numbers
from xcurves.frames.reading import NAME

_FEWEST = 2  # runs of each algorithm
_MADE = frozenset(["algorithm", "run", "task"])
_NEVER = ("algorithm", NAME, RUN_PATH)  # said to be algorithms, or asked about by `names`


def cut_names(frame: pd.DataFrame, name: str) -> dict[str, pd.Series[Any]] | None:
    """Return columns algorithm, run and maybe task of the names in one; None if it names one of these alone.

    Names of runs may end in any number, others say that it is that of a seed.
    """
    if name in _NEVER or is_fold(name):
        return None
    names = frame[name].unique().tolist()
    if not all(isinstance(each, str) for each in names) or all(map(RUN_LABEL.fullmatch, names)):
        return None
    says_seeds = have_seeds(names)
    if not says_seeds and dim_of(name) != "run":
        return None
    from xcurves.frames.run_labels import name_runs  # which most frames do without

    places = [tuple(filter(None, each.split("/"))) for each in names]
    try:
        named = name_runs(places, pd.DataFrame(index=range(len(names))))
    except Doubtful:
        return None
    if named is None or not {"algorithm", "run"} <= {*named.labels} <= _MADE:
        return None
    if ({*named.labels} - {name}) & {*map(str, frame)}:
        return None
    counts = named.labels["algorithm"].value_counts()
    if counts.min() < _FEWEST or (len(counts) == 1 and not says_seeds):
        return None
    labels = named.labels.apply(whole_numbers).set_index(pd.Index(names))
    return {str(dim): frame[name].map(labels[dim]) for dim in labels}


def said_of_cut(labels: dict[str, pd.Series[Any]]) -> str:
    """Return what the first name is, in words."""
    return ", ".join(f"{dim} {label.iloc[0]}" for dim, label in labels.items())


def with_cut_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the columns that are cut from the first one of names that can be cut."""
    for name in map(str, frame.select_dtypes(["object", "string"])):
        labels = cut_names(frame, name)
        if labels is not None:
            made = frame.drop(columns=name).assign(**labels)
            made.attrs = frame.attrs
            return made
    return frame
