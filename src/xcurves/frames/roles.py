"""Evidence of what columns are: names propose a role, what a column holds can only forbid it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from xcurves.core.direction import SCORES, looks_like_score
from xcurves.core.names import (
    CONFIG,
    MODEL_SIZES,
    OF_ANSWERS,
    OF_TRIAL,
    STATES,
    TASKS_IN_WORDS,
    TOKENS,
    TRAINED,
    USUAL_EXTRAS,
    WITHIN_EPOCH,
    are_parts_of_data,
    confusable,
    dim_of,
    ending_of,
    is_checkpoint,
    is_clock,
    is_elapsed,
    is_epoch,
    is_fold,
    is_item,
    is_metric,
    is_part_of_data,
    is_step,
    is_trial,
    last_word,
    names_in,
    names_of_dim,
    rank_of,
    words_of,
)

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
    "iters",
    "it",
    "epoch",
)
OF_SEARCH = ("param_", OF_TRIAL)
SETTINGS = (CONFIG, *OF_SEARCH)
_MOST_LABELS = 50
_MOST_CELLS = 1_000  # of a column of text that are looked at
RESOURCES = names_in("memory mem ram rss cpu gpu power energy mb gb mib gib bytes percent")  # measured beside times
_FALLS = 0.2  # of the rows: a time that begins anew in each run falls more seldom
_FEWEST_POINTS = 3  # model sizes, and numbers of tokens, of a law
_MOST_CLOCK = 20  # values of a label of unknown name, of which most occur in one run
_OF_ONE_RUN = 0.9
_MEASURED = (
    {"eval", "evaluation"},
    {"episode", "episodic", "ep"},
    {"test"},
    {"val", "valid", "validation"},
)
# Words of columns that are about a score, or a part of it.
_ABOUT = names_in(
    "number num inner "
    "std stddev sd se sem stderr var variance min max range median norm q1 q2 count len length rank threshold target "
    "scale weight coef coefficient best entropy grad pi alpha value actor critic policy time lr rate"
)
_STATISTICS = _ABOUT | {"mean", "average"}
_TIMES = ("ms", "s", "min", "h")
UNIX = 1e8  # seconds since 1970, of which no training takes so many
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d{2}")
OF_METRIC = ("value", "result", "score")  # scores beside a column that says which metric each is
# what pandas reads as the name of an index that was written
NO_NAME = ("Unnamed: 0", "")


def is_measure(column: pd.Series[Any]) -> bool:
    """Return whether a column holds measured numbers, no labels."""
    if not pd.api.types.is_float_dtype(column):
        return False
    values = column.dropna().to_numpy(float)
    return bool((values != values.round()).any())


def is_mostly_measured(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column of no usual name has measured numbers in most cells, but text such as timeout in some."""
    column = frame[name]
    if dim_of(name) is not None or pd.api.types.is_numeric_dtype(column):
        return False
    cells = pd.Series(column.dropna().unique()[:_MOST_CELLS])
    numbers = pd.to_numeric(cells, errors="coerce")
    return 2 * int(numbers.notna().sum()) > len(cells) and is_measure(numbers)


def may_be_label(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column may tell algorithms, runs or tasks apart: no measure, no step, no clock."""
    column = frame[name]
    if pd.api.types.is_datetime64_any_dtype(column) or is_measure(column):
        return False
    if is_mostly_measured(frame, name) or is_clock(name) or is_step(name):
        return False
    return dim_of(name) != "training" or not pd.api.types.is_numeric_dtype(column)


def find_tasks(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return the columns of tasks that have several labels, items among them."""
    free = _free(frame, used)
    found = [name for name in free if is_item(name) or rank_of(name, USUAL_EXTRAS) is not None]
    found += [
        name
        for name in free
        if rank_of(name, TASKS_IN_WORDS) is not None and not pd.api.types.is_numeric_dtype(frame[name])
    ]
    found = [name for name in found if dim_of(name) in ("task", None)]
    found = [name for name in found if may_be_label(frame, name) and n_labels(frame[name]) > 1]
    found = [name for name in found if not says_data(frame, name) and not _counts_levels(frame, name)]
    # names of the same labels, such as question_id beside question, are one
    return [
        name
        for place, name in enumerate(found)
        if not any(are_alike(frame, [], other, name) for other in found[:place])
    ]


def _counts_levels(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column numbers levels of something else than the task, such as stack_level."""
    return last_word(name) == "level" and words_of(name) != ["level"] and pd.api.types.is_numeric_dtype(frame[name])


def find_folds(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return the columns of folds of a data set that have several labels; `iteration` beside `resampling` is one."""
    # Settings such as min_samples_split are no folds.
    free = [name for name in _free(frame, used) if not name.startswith(SETTINGS)]
    found = [name for name in free if is_fold(name) and may_be_label(frame, name)]
    if any("resampling" in words_of(name) for name in frame):
        found += [name for name in free if words_of(name) == ["iteration"]]
    found = [name for name in found if n_labels(frame[name]) > 1]
    return [name for name in found if not are_parts_of_data(frame[name].unique())]


def find_label(frame: pd.DataFrame, dim: str, used: Sequence[str], keys: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the column of algorithms or runs; or None and those between which is not chosen."""
    if dim in _free(frame, used) and not is_measure(frame[dim]):
        return dim, []
    found = {name: rank for name in _free(frame, used) if (rank := rank_of(name, names_of_dim(dim))) is not None}
    found = {name: rank for name, rank in found.items() if dim_of(name) == dim and _may_be_named(frame, name, rank)}
    varied = [name for name in found if n_labels(frame[name]) > 1]
    varied = varied or [name for name in found if n_labels(frame[name])]
    whole = [name for name in varied if found[name] == 0] or varied
    # Names of the same labels, such as run_id beside seed, are one.
    apart = [name for name in whole[1:] if not are_alike(frame, keys, whole[0], name)]
    if apart:
        return None, whole
    if whole:
        return whole[0], []
    return None, []


def _may_be_named(frame: pd.DataFrame, name: str, rank: int) -> bool:
    """Return whether a column may be what it is called; settings only by their whole name."""
    if says_data(frame, name):
        return False
    return may_be_label(frame, name) or (rank == 0 and are_settings(frame, name))


def says_data(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column says of which data a score is: train or test."""
    column = frame[name]
    labels = column.dropna().unique()
    if is_fold(name):
        return are_parts_of_data(labels)
    return not pd.api.types.is_numeric_dtype(column) and len(labels) > 1 and all(map(is_part_of_data, labels))


def only_text(frame: pd.DataFrame, used: Sequence[str], runs: Sequence[str]) -> str | None:
    """Return the column of text that has a few labels, if it is the only one."""
    labels = could_be_labels(frame, used, runs)
    texts = [name for name in labels if not pd.api.types.is_numeric_dtype(frame[name]) and not says_data(frame, name)]
    texts = [name for name in texts if dim_of(name) != "run"]
    if runs or len(labels) > 1:  # names of single rows name no algorithm where anything else could
        texts = [name for name in texts if n_labels(frame[name]) < len(frame)]
    return texts[0] if len(texts) == 1 else None


def could_be_labels(
    frame: pd.DataFrame, used: Sequence[str], runs: Sequence[str] = (), most: int = _MOST_LABELS
) -> list[str]:
    """Return unused columns of few labels; `runs` are the columns that tell runs apart."""
    found = [name for name in _free(frame, used) if may_be_label(frame, name) or are_settings(frame, name)]
    found = [name for name in found if 1 < n_labels(frame[name]) <= most]
    return [name for name in found if not is_clock_of_runs(frame, name, runs)]


def could_be_runs(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return unused columns that may name runs: of few labels, or of several rows each."""
    return [*could_be_labels(frame, used, most=max(_MOST_LABELS, len(frame) // 2)), *trials_in(frame, used)]


def trials_in(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return the columns of numbers of trials, which are runs where they are said to be."""
    return [name for name in _free(frame, used) if is_trial(name) and n_labels(frame[name]) > 1]


def are_settings(frame: pd.DataFrame, name: str) -> bool:
    """Return whether numbers with a point may be settings: each is in several rows, and the name is of no score."""
    column = frame[name]
    if not pd.api.types.is_float_dtype(column) or looks_like_score(name) or is_clock(name) or is_step(name):
        return False
    return bool(column.value_counts().min() > 1)


def numbers_rows(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column of numbers has another one in each row."""
    return pd.api.types.is_numeric_dtype(frame[name]) and n_labels(frame[name]) == len(frame)


def is_clock_of_runs(frame: pd.DataFrame, name: str, runs: Sequence[str]) -> bool:
    """Return whether a column of any name is a clock: of many values, most of which occur in one run only."""
    if not runs or name in runs or name in NO_NAME or n_labels(frame[name]) <= _MOST_CLOCK:
        return False
    if dim_of(name) is not None:
        return False
    pairs = frame[[*runs, name]].dropna(subset=[name]).drop_duplicates()
    n_runs = pairs.groupby(name, observed=True).size()
    return bool((n_runs == 1).mean() >= _OF_ONE_RUN)


def find_trainings(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return the columns that may be training: steps before epochs before time."""
    known = names_of_dim("training")
    free = [name for name in numeric_columns(frame) if name not in used]
    found = [name for name in free if rank_of(name, known) is not None or is_elapsed(name) or is_checkpoint(name)]
    found = [name for name in found if not (_NO_STEP | OF_ANSWERS) & set(words_of(name))]
    found = [name for name in found if n_labels(frame[name]) > 1] or found
    return sorted(found, key=lambda name: (name != "training", _step_rank(name)))


def of_score(frame: pd.DataFrame, trainings: Sequence[str], score: str) -> str:
    """Return the first of several columns of training that has a level wherever there is a score.

    A log of training by iterations and of validation by epochs has levels of both.
    """
    scored = frame[frame[score].notna()]
    whole = [name for name in trainings if scored[name].notna().all()]
    return (whole or trainings)[0]


def epochs_of(frame: pd.DataFrame, trainings: Sequence[str], training: str, keys: Sequence[str]) -> str | None:
    """Return the column of epochs if the training that was found begins anew in each of them, else None."""
    if last_word(training) not in WITHIN_EPOCH:
        return None
    epochs = [name for name in trainings if is_epoch(name)]
    if not epochs or epochs[0] == training:
        return None
    epoch = epochs[0]
    rows = frame[[*keys, epoch, training]].dropna()
    ends = rows.groupby([*keys, epoch], observed=True)[training].agg(["min", "max"])
    before = ends["max"].shift()
    if keys:
        before = ends["max"].groupby(level=list(range(len(keys)))).shift()
    later = before.notna()
    is_anew = later.any() and (ends["min"] <= before)[later].all()
    if is_anew and not rises_in_runs(rows, training, keys):  # else epochs begin anew, such as after a restart
        return epoch
    return None


def batches_of(frame: pd.DataFrame, training: str, keys: Sequence[str], used: Sequence[str]) -> str | None:
    """Return the column of batches that begin anew in each epoch, if the training that was found are epochs."""
    if not is_epoch(training) or not frame.duplicated([*keys, training]).any():
        return None
    for name in numeric_columns(frame):
        if name in used or name == training or not {"batch", "batches", "minibatch"} & set(words_of(name)):
            continue
        if frame.duplicated([*keys, name]).any() and not frame.duplicated([*keys, training, name]).any():
            return name
    return None


def is_constant_in_runs(frame: pd.DataFrame, training: str, score: str, keys: Sequence[str]) -> bool:
    """Return whether a training never changes within a run while scores do."""
    rows = frame.loc[frame[score].notna(), [*keys, training, score]]
    levels = rows[[*keys, training]].drop_duplicates()
    if levels.duplicated(list(keys)).any():
        return False
    scores = rows[[*keys, score]].drop_duplicates()
    return bool(scores.duplicated(list(keys)).any())


def constant_steps(frame: pd.DataFrame) -> list[str]:
    """Return the columns of steps that are the same in all rows."""
    names = [name for name in numeric_columns(frame) if is_step(name)]
    return [name for name in names if n_labels(frame[name]) == 1]


def clock_of_runs(frame: pd.DataFrame, used: Sequence[str], runs: Sequence[str]) -> tuple[str, pd.Series[Any]] | None:
    """Return the column of a clock that has a time of its own in each row of a run, and the order that it says.

    A clock without a known name, and one of the time of day, goes on from row to row.
    """
    free = [name for name in _free(frame, used) if n_labels(frame[name]) > 1]
    named = [name for name in free if is_clock(name) or pd.api.types.is_datetime64_any_dtype(frame[name])]
    others = [name for name in free if name not in named and is_clock_of_runs(frame, name, runs)]
    for name in [*named, *others]:
        if name in others and not rises_in_runs(frame, name, runs):
            continue
        times = seconds_of(frame[name])
        if times.isna().any() or frame.duplicated([*runs, name]).any():
            continue
        by_run = times.groupby([frame[key] for key in runs])
        has_day = pd.api.types.is_numeric_dtype(frame[name]) or not _TIME_OF_DAY.match(str(frame[name].iloc[0]))
        if has_day or (by_run.diff().dropna() > 0).all():
            return name, by_run.rank().astype("int64")
    return None


def seconds_of(column: pd.Series[Any]) -> pd.Series[float]:
    """Return a clock as numbers that grow with time, of dates in seconds since 1970; NaN where it is none."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype("float64")
    dates = pd.to_datetime(column, errors="coerce", format="mixed", utc=True)
    return (dates - pd.Timestamp(0, tz="UTC")).dt.total_seconds()


def states_of(frame: pd.DataFrame, used: Sequence[str]) -> str | None:
    """Return the column that says how runs ended, if one of its labels is known."""
    for name in _free(frame, used):
        if rank_of(name, STATES) is None or pd.api.types.is_numeric_dtype(frame[name]):
            continue
        if any(ending_of(label) is not None for label in frame[name].dropna().unique()):
            return name
    return None


def points_of(frame: pd.DataFrame) -> tuple[str, str, str | None] | None:
    """Return the columns of model sizes, tokens and algorithms, if rows are the points of scaling laws and no curves.

    Without a column of labels all points are of one law.
    """
    found = []
    for known in (MODEL_SIZES, TOKENS):
        names = [str(name) for name in numeric_columns(frame) if str(name).casefold() in known]
        if len(names) != 1 or n_labels(frame[names[0]]) < _FEWEST_POINTS:
            return None
        found += names
    others = [str(name) for name in frame.columns if name not in found]
    of_labels = [name for name in others if dim_of(name) is not None or not pd.api.types.is_numeric_dtype(frame[name])]
    of_labels = [name for name in of_labels if dim_of(name) is not None or n_labels(frame[name]) > 1]
    if not of_labels:
        return found[0], found[1], None
    if len(of_labels) > 1 or dim_of(of_labels[0]) not in (None, "algorithm"):
        return None
    return found[0], found[1], of_labels[0]


def rises_in_runs(frame: pd.DataFrame, name: str, keys: Sequence[str]) -> bool:
    """Return whether a column of numbers rises from row to row within each run; of decimals that runs share."""
    if not pd.api.types.is_numeric_dtype(frame[name]) or pd.api.types.is_bool_dtype(frame[name]):
        return False
    if is_measure(frame[name]) and (frame[name].value_counts() == 1).any():
        return False
    steps = frame[name].diff()
    if keys:
        steps = frame.groupby(list(keys), observed=True)[name].diff()
    return bool((steps.dropna() > 0).all() and steps.notna().any())


def _step_rank(name: str) -> tuple[int, int]:
    last = last_word(name)
    rank = len(_FIRST_STEPS)
    if last in _FIRST_STEPS:
        rank = _FIRST_STEPS.index(last)
    return rank, rank_of(name, names_of_dim("training")) or 0


def are_alike(frame: pd.DataFrame, keys: Sequence[str], one: str, other: str) -> bool:
    """Return whether two columns tell the same rows apart."""
    pairs = frame[[*keys, one, other]].drop_duplicates()
    return not pairs.duplicated([*keys, one]).any() and not pairs.duplicated([*keys, other]).any()


def _free(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    return [str(name) for name in frame.columns if name not in used]


def find_score(frame: pd.DataFrame, used: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the column of the scores, or None, and the others that could be it."""
    numbers = [name for name in (*numeric_columns(frame), *_outcomes(frame)) if name not in used]
    numbers = [name for name in numbers if not name.startswith(CONFIG)]
    units = frame.attrs.get("units")
    if not isinstance(units, Mapping):
        units = {}
    measured = [
        name
        for name in numbers
        if not (is_step(name) or is_clock(name) or (units.get(name) in _TIMES and not looks_like_score(name)))
    ]
    numbers = measured or numbers
    varied = [name for name in numbers if n_labels(frame[name]) > 1]
    of_metric = [name for name in varied if name.casefold() in OF_METRIC and any(map(is_metric, frame))]
    if len(of_metric) == 1:
        return of_metric[0], [name for name in varied if looks_like_score(name) and name != of_metric[0]]
    if len(varied) == 1 or len(numbers) == 1:
        return (varied or numbers)[0], []
    ranked = sorted((rank, place) for place, name in enumerate(varied) if (rank := _score_rank(name)) is not None)
    ordered = [varied[place] for _, place in ranked]
    if not ordered:
        return None, varied
    twins = [name for name in ordered if confusable([ordered[0], name]) is not None]
    if twins:
        return None, [ordered[0], *twins]
    measured = [name for name in varied if is_measure(frame[name]) and not are_settings(frame, name)]
    return ordered[0], [*ordered[1:], *(name for name in measured if name not in ordered)]


def times_of_rows(frame: pd.DataFrame, used: Sequence[str]) -> list[str]:
    """Return the columns of times in a unit that may be the score: they do not rise from row to row, elapsed_s."""
    free = [name for name in numeric_columns(frame) if name not in used and is_elapsed(name)]
    return [name for name in free if is_measure(frame[name]) and (frame[name].diff() < 0).mean() > _FALLS]


def _outcomes(frame: pd.DataFrame) -> list[str]:
    """Return the columns of True and False that are called like scores, such as `correct`."""
    return [str(name) for name in frame.select_dtypes("bool") if looks_like_score(name)]


def likeliest(names: Sequence[str]) -> list[str]:
    """Return names, those that are of scores first, in the order in which scores are taken."""

    def place(name: str) -> tuple[bool, bool, int, int]:
        rank = _score_rank(name) or (True, len(SCORES), len(_MEASURED))
        return bool(_ABOUT & set(words_of(name))), *rank

    return sorted(names, key=place)


def likeliest_columns(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return columns that could be the score, those first that are called like one or hold measured numbers."""

    def is_likely(name: str) -> bool:
        return looks_like_score(name) or (is_measure(frame[name]) and not are_settings(frame, name))

    return sorted(likeliest(names), key=lambda name: not is_likely(name))


def says_statistic(name: object) -> bool:
    """Return whether a name says that a column has a statistic of scores, or something about them."""
    return bool(_STATISTICS & set(words_of(name)))


def names_score(name: str) -> bool:
    """Return whether words are the usual name of a score, or say of which data it is."""
    words = set(words_of(name))
    return looks_like_score(name) or any(words <= known for known in (*_MEASURED, TRAINED))


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns of numbers, without an index that was written."""
    return [str(name) for name in frame.select_dtypes("number") if name not in NO_NAME]


def n_labels(column: pd.Series[Any]) -> int:
    """Return how many labels a column has, 0 of what can be none: lists, and integers that no dtype holds."""
    try:
        if column.dtype == object and pd.api.types.infer_dtype(column) == "integer":
            column = pd.to_numeric(column)
        return int(column.nunique())
    except (TypeError, NotImplementedError, OverflowError):
        return 0


def _score_rank(name: str) -> tuple[bool, int, int] | None:
    """Return the place of a score among others, None for a name that is of none."""
    words = set(words_of(name))
    kinds = [rank for rank, known in enumerate(SCORES) if known & words]
    if not kinds or words & _ABOUT - {"rate"}:  # error_rate is a score, learning_rate none
        return None
    measured = [rank for rank, known in enumerate(_MEASURED) if known & words]
    return bool(words & TRAINED), kinds[0], min(measured, default=len(_MEASURED))
