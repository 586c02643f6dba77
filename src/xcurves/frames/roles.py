"""Which columns of a tidy frame are algorithm, run, training, tasks and score, by the names that people use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core.direction import (
    SCORES as _SCORES,
)
from xcurves.core.direction import (
    looks_like_score,
)
from xcurves.core.labels import DIMS
from xcurves.core.names import USUAL_EXTRAS, dim_of, names_of_dim, rank_of, words_of
from xcurves.frames.wide import CONFIG, to_long, with_joined
from xcurves.frames.wide_columns import Pattern, fitting_pattern

_MEASURED = (
    {"eval", "evaluation"},
    {"episode", "episodic", "ep"},
    {"test"},
    {"val", "valid", "validation"},
)
_TRAINED = {"train", "training"}
# Words of columns that are about a score, or a part of it.
_ABOUT = (
    {
        "std",
        "sd",
        "se",
        "sem",
        "stderr",
        "var",
        "variance",
        "min",
        "max",
        "range",
        "median",
        "norm",
        "q1",
        "q2",
    }
    | {
        "count",
        "len",
        "length",
        "rank",
        "threshold",
        "target",
        "scale",
        "weight",
        "coef",
        "coefficient",
        "best",
    }
    | {
        "entropy",
        "grad",
        "pi",
        "alpha",
        "value",
        "actor",
        "critic",
        "policy",
        "time",
        "lr",
        "rate",
    }
)
_STATISTICS = _ABOUT | {"mean", "average"}
# of mean_fit_time, which is no time of training
_NO_STEP = {"mean", "std", "fit", "score"}
_FIRST_STEPS = (
    "step",
    "steps",
    "timesteps",
    "timestep",
    "interacts",
    "frames",
    "tokens",
    "iteration",
    "iter",
    "epoch",
)
_MOST_LABELS = 50
# what pandas reads as the name of an index that was written
_NO_NAME = ("Unnamed: 0", "")


class Reading(NamedTuple):
    """Which column of a frame is what.

    Attributes
    ----------
    frame : DataFrame
        The frame, with the columns that were made: algorithms of several columns, numbers of rows as runs.
    algorithm, run, training, score : str, optional
        Columns; None where there is none. ``training=None`` with nothing in `missing` are scores without training.
    tasks : tuple of str
        Columns of tasks that have several labels, or that were given.
    missing : dict
        From "algorithm", "run", "training" or "score" to the columns that it could be, for those that could not be
        told; empty where everything could.
    others : tuple of str
        Further columns that could be the score.
    said : str
        One line: ``read as algorithm = algo, run = seed, training = env_steps, task = env, score = return``.
    """

    frame: pd.DataFrame
    algorithm: str | None
    run: str | None
    training: str | None
    tasks: tuple[str, ...]
    score: str | None
    missing: dict[str, list[str]]
    others: tuple[str, ...]
    said: str


def guess_names(frame: pd.DataFrame, given: Mapping[str, Any] | None = None) -> Reading:
    """Find which columns of a tidy frame are algorithm, run, training, tasks and score.

    Parameters
    ----------
    frame : DataFrame
        One row per score.
    given : mapping, optional
        What is known: columns of "algorithm" (one, or several whose labels are joined), "run", "training", "score",
        and "tasks" (a sequence). None says that there is none, ``{"training": None}``; what is left out is guessed.

    Returns
    -------
    Reading
        The columns, what could not be told, and one line that says how the frame is read.

    Raises
    ------
    KeyError
        If a given column is not in the frame.

    Notes
    -----
    A column is recognised by its whole name, or by its last word (`env_steps`, `episodic_return`), with or without
    ``_id`` and ``_name`` (`env_id`). Of several, one that varies is taken before constants; two that both vary are not
    chosen between. The score is a single other column of numbers, or else the first in the order return, reward,
    score, accuracy, error, loss; those of evaluations before those of training.

    Examples
    --------
    >>> import pandas as pd
    >>> from xcurves.frames.roles import guess_names
    >>> frame = pd.DataFrame({"algo": ["a", "b"], "seed": 0, "env_steps": 10, "loss": [0.1, 0.2], "return": [1.0, 2.0]})
    >>> guess_names(frame).said
    'read as algorithm = algo, run = seed, training = env_steps, score = return (not loss)'
    >>> guess_names(frame, {"score": "loss"}).said
    'read as algorithm = algo, run = seed, training = env_steps, score = loss'
    """
    known = dict(given or {})
    _check_given(frame, known)
    frame, known = _joined_algorithms(frame, known)
    frame, wide = _long(frame, known)
    missing: dict[str, list[str]] = {}
    used = _columns_of(known)
    if "tasks" not in known:
        known["tasks"] = _find_tasks(frame, used)
        used += known["tasks"]
    for dim in ("algorithm", "run"):
        if dim not in known:
            known[dim], choices = _find_label(frame, dim, used, known)
            used += [known[dim]] if known[dim] is not None else []
            if choices:
                missing[dim] = choices
    if (
        known["algorithm"] is None
        and "algorithm" not in missing
        and "algorithm" not in (given or {})
    ):
        known["algorithm"] = _only_text(frame, used)
        used += _listed(known["algorithm"])
    trainings: list[str] = []
    if "training" not in known:
        trainings = _training_columns(frame, used)
        known["training"] = trainings[0] if trainings else None
        used += trainings[:1]
    others: list[str] = []
    if "score" not in known:
        known["score"], others = find_score(frame, used)
        if known["score"] is None:
            missing["score"] = others
    if trainings and known["score"] is not None:
        known["training"] = _of_score(frame, trainings, known["score"])
        if known["training"] != trainings[0]:  # rows of the other series have no score
            frame = frame[frame[known["score"]].notna()]
        frame = frame[frame[[known["training"], known["score"]]].notna().any(axis=1)]
    frame, known = _numbered_runs(frame, known, missing)
    _what_is_missing(frame, known, missing)
    return Reading(
        frame,
        known["algorithm"],
        known["run"],
        known["training"],
        tuple(known["tasks"]),
        known["score"],
        missing,
        tuple(others) if known["score"] is not None else (),
        _say(known, others) + wide,
    )


def find_score(
    frame: pd.DataFrame, used: Sequence[str]
) -> tuple[str | None, list[str]]:
    """Return the column of the scores, or None, and the others that could be it."""
    numbers = [str(name) for name in _numeric(frame) if name not in used]
    numbers = [name for name in numbers if not name.startswith(CONFIG)]
    varied = [name for name in numbers if _n_labels(frame[name]) > 1]
    if len(varied) == 1 or len(numbers) == 1:
        return (varied or numbers)[0], []
    ranked = sorted(
        (rank, place)
        for place, name in enumerate(varied)
        if (rank := _score_rank(name)) is not None
    )
    ordered = [varied[place] for _, place in ranked]
    if not ordered:
        return None, varied
    return ordered[0], ordered[1:]


def _check_given(frame: pd.DataFrame, given: Mapping[str, Any]) -> None:
    for argument in ("algorithm", "run", "training", "score", "tasks"):
        for column in _listed(given.get(argument)):
            if column not in frame:
                has = ", ".join(map(repr, list(frame.columns)[:20]))
                raise KeyError(
                    f"{argument}={column!r} is no column of the frame. It has {has}"
                )


def _joined_algorithms(
    frame: pd.DataFrame, known: dict[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the frame with a column of the algorithm that several columns are."""
    columns = _listed(known.get("algorithm"))
    if len(columns) == 1:
        known["algorithm"] = columns[0]
    if len(columns) < 2:
        return frame, known
    name, joined = with_joined(frame, columns)
    return joined, known | {"algorithm": name}


def _long(frame: pd.DataFrame, known: Mapping[str, Any]) -> tuple[pd.DataFrame, str]:
    """Return a row for each score where columns are algorithms or runs, and what is said of it; else the frame and "".

    They are taken for these where every other column names algorithms, runs, training or tasks, and none is called
    like a score or a statistic of scores. Without such columns a row is a task.
    """
    if "score" in known or "score" in frame:
        return frame, ""
    frame = _with_named_rows(frame)
    named, scores = _named_and_scores(frame, known)
    said = any(
        looks_like_score(name) or _STATISTICS & set(words_of(name)) for name in scores
    )
    free = [name for name in frame.columns if name not in _columns_of(known)]
    if len(scores) < 2 or said or len(scores) + len(named) < len(free):
        return frame, ""
    found = fitting_pattern(scores, _names_score)
    has_algorithm = "algorithm" in known or "algorithm" in named.values()
    if found is None or ("{algorithm}" in found.text) == has_algorithm:
        return frame, ""
    if "{run}" in found.text:
        return to_long(frame, "score", found.text, {}), f", columns are {found.text}"
    if "{algorithm}" not in found.text:
        return frame, ""
    how = f", columns are the algorithms: {', '.join(scores)}"
    if not named and known:
        return frame, ""
    if not named:
        frame = frame.assign(task=np.arange(1, len(frame) + 1))
        how = f", rows are the tasks{how}"
    return to_long(
        frame, "score", {"algorithm": scores}, {"algorithm": "algorithm"}
    ), how


def wide_pattern(frame: pd.DataFrame, given: Mapping[str, Any]) -> Pattern | None:
    """Return the pattern of columns that are scores of algorithms or runs, also where they bear names of metrics."""
    named, scores = _named_and_scores(frame, given)
    if len(scores) < 2 or any(_STATISTICS & set(words_of(name)) for name in scores):
        return None
    pattern = fitting_pattern(scores, _names_score)
    parts = [
        dim for dim in ("algorithm", "run") if pattern and f"{{{dim}}}" in pattern.text
    ]
    if not parts or any(dim in given or dim in named.values() for dim in parts):
        return None
    return pattern


def _named_and_scores(
    frame: pd.DataFrame, known: Mapping[str, Any]
) -> tuple[dict[str, str], list[str]]:
    """Return what columns with usual names are, and the other columns of numbers with decimals."""
    free = [name for name in frame.columns if name not in _columns_of(known)]
    kinds = {name: dim_of(name) for name in free}
    named = {name: kind for name, kind in kinds.items() if kind is not None}
    scores = [
        name
        for name in free
        if name not in named and pd.api.types.is_float_dtype(frame[name])
    ]
    return named, scores


def _names_score(name: str) -> bool:
    """Return whether words are the usual name of a score, or say of which data it is."""
    words = set(words_of(name))
    return looks_like_score(name) or any(
        words <= known for known in (*_MEASURED, _TRAINED)
    )


def _with_named_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose first column without a name, an index that was written, is the task, or is gone."""
    first = str(frame.columns[0]) if len(frame.columns) else ""
    if first not in _NO_NAME or "task" in frame:
        return frame
    column = frame[frame.columns[0]]
    if pd.api.types.is_numeric_dtype(column):
        return frame.drop(columns=frame.columns[0])
    if not column.is_unique:
        return frame
    return frame.rename(columns={frame.columns[0]: "task"})


def _numbered_runs(
    frame: pd.DataFrame, known: dict[str, Any], missing: Mapping[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the frame with rows as runs, where scores have neither runs nor training."""
    if (
        known["run"] is not None
        or "run" in missing
        or known["training"] is not None
        or "run" in frame
    ):
        return frame, known
    keys = [*_listed(known["algorithm"]), *known["tasks"]]
    if not keys or not frame.duplicated(keys).any():
        return frame, known
    return frame.assign(run=frame.groupby(keys).cumcount()), known | {"run": "run"}


def _what_is_missing(
    frame: pd.DataFrame, known: Mapping[str, Any], missing: dict[str, list[str]]
) -> None:
    """Add to `missing` what no column is named like."""
    if known["algorithm"] is None and "algorithm" not in missing:
        missing["algorithm"] = _could_be_labels(frame, _columns_of(known))
    keys = [name for name in _columns_of(known) if name != known["score"]]
    repeated = bool(keys) and bool(frame.duplicated(keys).any())
    if known["run"] is None and "run" not in missing and repeated:
        missing["run"] = _could_be_labels(frame, keys)


def _find_tasks(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return the columns of tasks that have several labels."""
    found = [
        name
        for name in _free(frame, used)
        if rank_of(name, sorted(USUAL_EXTRAS)) is not None
    ]
    return [
        name
        for name in found
        if not _is_measure(frame[name]) and _n_labels(frame[name]) > 1
    ]


def _find_label(
    frame: pd.DataFrame, dim: str, used: Sequence[str], known: Mapping[str, Any]
) -> tuple[str | None, list[str]]:
    """Return the column of algorithms or runs; or None and those between which is not chosen."""
    found = {
        name: fit
        for name in _free(frame, used)
        if (fit := rank_of(name, names_of_dim(dim))) is not None
    }
    found = {name: fit for name, fit in found.items() if not _is_measure(frame[name])}
    if dim in found:
        return dim, []
    varied = [name for name in found if _n_labels(frame[name]) > 1] or list(found)
    whole = [name for name in varied if found[name] == 0] or varied
    # Names of the same labels, such as run_id beside seed, are one.
    keys = [*_listed(known.get("algorithm")), *known.get("tasks", ())]
    apart = [
        name for name in whole[1:] if not _same_labels(frame, keys, whole[0], name)
    ]
    if apart:
        return None, whole
    return (whole[0] if whole else None), []


def _only_text(frame: pd.DataFrame, used: Sequence[str]) -> str | None:
    """Return the column of text that has a few labels, if it is the only one."""
    texts = [
        name
        for name in _could_be_labels(frame, used)
        if not pd.api.types.is_numeric_dtype(frame[name])
    ]
    return texts[0] if len(texts) == 1 else None


def _training_columns(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return the columns that may be training: steps before epochs before time."""
    known = names_of_dim("training")
    found = [
        name
        for name in _numeric(frame)
        if name not in used and rank_of(name, known) is not None
    ]
    found = [name for name in found if not _NO_STEP & set(words_of(name))]
    found = [name for name in found if _n_labels(frame[name]) > 1] or found
    return sorted(found, key=lambda name: (name != "training", _step_rank(name)))


def _of_score(frame: pd.DataFrame, trainings: Sequence[str], score: str) -> str:
    """Return the first of several columns of training that has a level wherever there is a score.

    A log of training by iterations and of validation by epochs has levels of both.
    """
    scored = frame[frame[score].notna()]
    whole = [name for name in trainings if scored[name].notna().all()]
    return (whole or trainings)[0]


def _step_rank(name: str) -> tuple[int, int]:
    last = words_of(name)[-1]
    rank = _FIRST_STEPS.index(last) if last in _FIRST_STEPS else len(_FIRST_STEPS)
    return rank, rank_of(name, names_of_dim("training")) or 0


def _score_rank(name: str) -> tuple[bool, int, int] | None:
    """Return the place of a score among others, None for a name that is of none."""
    words = set(words_of(name))
    kinds = [rank for rank, known in enumerate(_SCORES) if known & words]
    if not kinds or words & _ABOUT:
        return None
    measured = [rank for rank, known in enumerate(_MEASURED) if known & words]
    return bool(words & _TRAINED), kinds[0], min(measured, default=len(_MEASURED))


def _could_be_labels(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return unused columns of few labels."""
    found = [name for name in _free(frame, used) if not _is_measure(frame[name])]
    return [name for name in found if 1 < _n_labels(frame[name]) <= _MOST_LABELS]


def _same_labels(
    frame: pd.DataFrame, keys: Sequence[str], one: str, other: str
) -> bool:
    """Return whether two columns tell the same rows apart."""
    pairs = frame[[*keys, one, other]].drop_duplicates()
    return (
        not pairs.duplicated([*keys, one]).any()
        and not pairs.duplicated([*keys, other]).any()
    )


def _say(known: Mapping[str, Any], others: Sequence[str]) -> str:
    parts = [f"{dim} = {known[dim]}" for dim in DIMS if known.get(dim) is not None]
    parts += [f"task = {name}" for name in known["tasks"]]
    if known["training"] is None:
        parts.append("no training")
    if known["score"] is not None:
        parts.append(f"score = {known['score']}")
    if others and known["score"] is not None:
        shown = list(others[:4]) + (["..."] if others[4:] else [])
        parts[-1] += f" (not {', '.join(shown)})"
    return f"read as {', '.join(parts)}"


def _columns_of(known: Mapping[str, Any]) -> list[str]:
    return [name for argument in known for name in _listed(known[argument])]


def _listed(given: Any) -> list[str]:
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)


def _free(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    return [name for name in frame.columns if name not in used]


def _numeric(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame.select_dtypes("number") if name not in _NO_NAME]


def _is_measure(column: pd.Series[Any]) -> bool:
    """Return whether a column holds measured numbers, no labels."""
    if not pd.api.types.is_float_dtype(column):
        return False
    values = column.dropna().to_numpy(float)
    return bool((values != np.round(values)).any())


def _n_labels(column: pd.Series[Any]) -> int:
    try:
        return int(column.nunique())
    except TypeError:  # lists are no labels
        return 0
