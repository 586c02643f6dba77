"""Tables with a column of scores for each task, as leaderboards have: asked, with the columns that may be none."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from xcurves.core.direction import says_higher
from xcurves.core.doubts import MOST, Choice, runs_each
from xcurves.core.names import is_step, names_in, words_of
from xcurves.frames.reading import Doubt, Found, as_list, compared, either
from xcurves.frames.roles import likeliest_columns, names_score, numeric_columns, says_statistic
from xcurves.frames.unnamed import compared_as_read
from xcurves.frames.wide import to_long
from xcurves.frames.wide_columns import summary_columns
from xcurves.say.numbers import listed as in_words

_TASK, _SCORE = "task", "score"  # what the columns are called then
_FEWEST = 2
_OF_MODELS = names_in("params param parameters flops gflops tflops macs size memory vram year released")  # no scores


def doubt_of_task_columns(found: Found) -> Doubt | None:
    """Return what to ask where no column of several is the score, and each could hold the scores of a task."""
    columns = found.missing["score"]
    algorithm = found.roles.get("algorithm")
    if algorithm is None or found.unnamed is not None:
        return None
    are_metrics = any(names_score(name) or says_higher(name) is not None for name in columns)
    if are_metrics or sum(map(says_statistic, columns)) > 1:
        return None
    if "score" in found.typed or _SCORE in found.frame:
        return None
    summaries = summary_columns(columns)
    columns = [name for name in columns if name not in summaries]
    scores = [name for name in columns if pd.api.types.is_float_dtype(found.frame[name])]
    scores = [name for name in scores if not _OF_MODELS & set(words_of(name))]
    if len(scores) < _FEWEST:
        scores = columns
    if len(scores) < _FEWEST:
        return None
    steps = _steps_among(found, scores)
    if steps is not None or found.roles.get("tasks") or "tasks" in found.typed or _TASK in found.frame:
        return steps
    rest = [name for name in columns if name not in scores]
    choices = [_choice(found, scores, [*rest, *summaries])]
    if rest:
        choices.append(_choice(found, columns, summaries))
    if found.frame.duplicated(found.keys("algorithm", "tasks")).any():
        # of one run each there would be nothing to compare
        choices += [
            Choice({"score": name}, compared_as_read(found, {"score": name}))
            for name in likeliest_columns(found.frame, scores)
        ]
    question = f"does not say whether columns are tasks, or which one is the score ({either(columns)})"
    return Doubt({}, tuple(choices[:MOST]), question)


def _steps_among(found: Found, columns: Sequence[str]) -> Doubt | None:
    """Return what to ask where columns are called by the steps of training: epoch_1, epoch_2, or 100, 200."""
    matches = [re.fullmatch(r"(.*?)\d+", name) for name in columns]
    begins = {match[1] for match in matches if match}
    if not all(matches) or len(begins) > 1:
        return None
    begin = begins.pop()
    if begin and not is_step(begin):
        return None
    # those whose scores are all equal, or whole numbers, are steps too
    n_steps = sum(bool(re.fullmatch(rf"{begin}\d+", name)) for name in numeric_columns(found.frame))
    words = f"{compared(found.frame, found.roles)}, at {n_steps:,} steps"
    of_steps = Choice({"columns": f"{begin}{{training,\\d+}}"}, words)
    if begin or found.roles.get("run") is not None:
        question = f"does not say whether columns are steps of training ({either(columns)})"
        return Doubt({}, (of_steps,), question)
    compares = compared(found.frame, found.roles | {"run": None}).rpartition(", ")[0]
    of_runs = Choice({"columns": "{run,\\d+}"}, f"{compares}, {runs_each(n_steps, n_steps)}")
    question = f"does not say whether columns are runs or steps of training ({either(columns)})"
    return Doubt({}, (of_runs, of_steps), question)


def _choice(found: Found, scores: Sequence[str], without: Sequence[str]) -> Choice:
    """Return the reading in which each of some columns is a task."""
    keys = found.keys("algorithm", "run", "training", "tasks")
    long = to_long(found.frame[[*keys, *scores]], _SCORE, {_TASK: scores}, {})
    tasks = [*as_list(found.roles.get("tasks")), _TASK]
    words = compared(long, found.roles | {"score": _SCORE, "tasks": tasks})
    if without:
        words += f", without {in_words(without)}"
    free = [str(name) for name in found.frame.select_dtypes("number") if name not in keys]
    pattern = f"{{{_TASK}}}"
    if {*free} - {*scores} - {*summary_columns(free)}:
        pattern = f"{{{_TASK},{'|'.join(map(re.escape, scores))}}}"
    return Choice({"columns": pattern}, words)
