"""Questions of evaluations: one frame of what each model got on each item, from the logs of many evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core.names import is_passage

_LONGEST_LABEL = 60  # characters of a passage that is its own name


class Evaluation(NamedTuple):
    """The items of one log: of which model and benchmark, when it was made, and a row for each item."""

    algorithm: str
    benchmark: str
    made: str
    rows: pd.DataFrame  # item, and run where an item has several answers


def passages_of(about: Any) -> dict[str, Any]:
    """Return what is said of an item that several items may share: its passage, by the names that passages have."""
    if not isinstance(about, Mapping):
        return {}
    return {str(name): value for name, value in about.items() if is_passage(name) and isinstance(value, str | int)}


def joined(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Return the rows of all evaluations below each other.

    Items of several benchmarks are named after it, and runs of evaluations that were made several times after the time.
    """
    keys = [(each.algorithm, each.benchmark) for each in evaluations]
    several = len({benchmark for _, benchmark in keys}) > 1
    frames = list[pd.DataFrame]()
    for each, key in zip(evaluations, keys, strict=True):
        rows = each.rows.copy()
        if several:
            rows["item"] = [f"{each.benchmark}/{item}" for item in rows["item"]]
        if keys.count(key) > 1:
            again = rows["run"].astype(str).radd(" ") if "run" in rows else ""
            rows["run"] = each.made + again
        rows.insert(0, "benchmark", each.benchmark)
        rows.insert(0, "algorithm", each.algorithm)
        frames.append(rows)
    return _short_passages(pd.concat(frames, ignore_index=True))


def _short_passages(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in which a passage that is a whole text has a number in its place."""
    for name in [name for name in rows if is_passage(name)]:
        texts = rows[name]
        if texts.map(lambda text: len(str(text))).max() <= _LONGEST_LABEL:
            continue
        codes, _ = pd.factorize(texts)
        numbered = pd.Series(codes + 1, index=rows.index).map(f"{name} {{}}".format)
        rows[name] = numbered.where(texts.notna())
    return rows
