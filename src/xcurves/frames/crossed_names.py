"""Names of files and folders that cross two parts, such as algorithm and task: asked, as either may be the task."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from xcurves.core.doubts import Choice, Doubtful, how_many, of_paths, runs_each

_MARKS = ("__", "_", "-", ".")  # between parts of names, the longest first
_ENVIRONMENT = re.compile(r".*-v\d+", re.IGNORECASE)  # CartPole-v1
_ALGORITHM, _TASK = "{algorithm}", "{task}"


def ask_of_parts(labels: pd.DataFrame, end: str, root: str) -> None:
    """Ask which of two parts of names is the algorithm, where each label of one is with each label of the other.

    `labels` has what stands for the algorithm and the run; `end` is the pattern of names after the algorithm.
    """
    names = labels["algorithm"].astype(str)
    for mark in _MARKS:
        parts = names.str.split(mark, expand=True, regex=False)
        if parts.isna().any(axis=None) or (parts == "").any(axis=None):
            continue
        varied = [place for place in range(parts.shape[1]) if len(parts[place].unique()) > 1]
        if len(varied) != 2 or not _is_crossed(parts[varied]):
            continue
        raise _question(parts, varied, mark, labels, end, root)


def _is_crossed(parts: pd.DataFrame) -> bool:
    """Return whether each label of one column is with each of the other."""
    one, other = (parts[place].nunique() for place in parts)
    return len(parts.drop_duplicates()) == one * other


def _question(
    parts: pd.DataFrame,
    varied: Sequence[int],
    mark: str,
    labels: pd.DataFrame,
    end: str,
    root: str,
) -> Doubtful:
    """Return the question which part is the algorithm, with each reading."""
    first, second = varied
    n_runs = labels.groupby("algorithm")["run"].nunique()
    runs = runs_each(int(n_runs.min()), int(n_runs.max()))
    orders = [(first, second), (second, first)]
    if all(map(_ENVIRONMENT.fullmatch, parts[first])):
        orders.reverse()
    choices = []
    for algorithm, task in orders:
        named = [str(parts[place].iloc[0]) for place in parts]
        named[algorithm], named[task] = _ALGORITHM, _TASK
        n_algorithms, n_tasks = parts[algorithm].nunique(), parts[task].nunique()
        compares = f"{how_many(n_algorithms, 'algorithm')}, {how_many(n_tasks, 'task')}, {runs}"
        choices.append(Choice({"names": mark.join(named) + end}, compares))
    compares = f"{how_many(labels['algorithm'].nunique(), 'algorithm')}, one task, {runs}"
    choices.append(Choice({"names": _ALGORITHM + end}, compares))
    one, other = (repr(str(parts[place].iloc[0])) for place in varied)
    return of_paths(f"{root}: names do not say whether {one} or {other} is the algorithm or the task", choices, root)
