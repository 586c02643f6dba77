"""What cannot be told of a frame, as one question with all readings that fit; a shell asks it with options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

import pandas as pd

from xcurves.core.direction import looks_like_score
from xcurves.core.doubts import Choice, Doubtful, asked
from xcurves.core.known import FIND
from xcurves.core.names import compiled, dim_of, names_of_dim, words_of
from xcurves.core.refusal import UNSAID, Cure, Refusal, Text, Words, give
from xcurves.frames.columns import cure_of_missing_run
from xcurves.frames.reading import (
    NAME,
    OF_FRAME,
    ROLES,
    THE_FRAME,
    Doubt,
    Reading,
    compared,
    proposal,
    repeats,
    unknown_words,
)
from xcurves.frames.roles import says_statistic
from xcurves.frames.wide import strange_cells, with_text
from xcurves.frames.wide_columns import fitting_pattern, runs_pattern

_MARKS = ("_seed", "-seed", "-s", "_s", "-", "_", " ", ".", "/")  # between an algorithm and a run
_WIDEST = 40  # letters of a value that a message shows
_NOTHING = {
    "algorithm": "no column could be the algorithm, with a label for each of two or more",
    "run": "rows repeat and no column tells the runs apart",
    "score": "no column of numbers could be the score",
}


def check_settled(reading: Reading, said: Mapping[str, Any]) -> None:
    """Ask what cannot be told of a reading, or say what no column can be; a question repeats what was `said`."""
    _refuse_names(reading, said)
    if reading.doubt is None:
        return
    if reading.doubt.choices:
        raise ask(reading.doubt, said)
    raise _impossible(reading, reading.doubt)


def _refuse_names(reading: Reading, given: Mapping[str, Any]) -> None:
    """Refuse names of runs, which say algorithm and run in one, as the names of algorithms."""
    said = {role for role, column in given.items() if column is not FIND}
    if not reading.has_names_of_runs or "algorithm" in said:
        return
    names = reading.frame[NAME].astype(str).unique().tolist()
    reason = Text("runs of ", THE_FRAME, f" are called {names[0]!r}")
    patterns = [f"{{algorithm}}{mark}{{run}}" for mark in _MARKS]
    fitting = next((each for each in patterns if _splits(names, each)), None)
    if fitting is not None:
        cure = Cure(Words("As the logs are read, say", "Say"), " how such names are made: ", give(names=fitting))
        raise Refusal("frame", UNSAID, reason, cure)
    shown = ", ".join([*map(repr, names[:2]), *["..."] * (len(names) > 2)])
    said_of_names = f" are called {shown}: that does not say which are of one algorithm"
    rename = "Rename them, ppo-1, ppo-2, sac-1, sac-2, in what logged them or in the file"
    known = {role: getattr(reading, role) for role in ROLES}
    if reading.doubt is not None or not reading.tasks or repeats(reading.frame, known):
        raise Refusal("frame", UNSAID, Text("runs of ", THE_FRAME, said_of_names), rename)
    question = Text("runs of ", THE_FRAME, f"{said_of_names}. {rename}, if several are")
    choice = Choice({"algorithm": NAME}, compared(reading.frame, known))
    raise asked("frame", question, [proposal({role: given[role] for role in said}, choice)])


def _splits(names: Sequence[str], pattern: str) -> bool:
    """Return whether a pattern cuts all names, into algorithms of which one has two runs or more."""
    found = [compiled(pattern).fullmatch(name) for name in names]
    algorithms = [match["algorithm"] for match in found if match]
    return len(algorithms) == len(names) > len(set(algorithms))


def ask(doubt: Doubt, given: Mapping[str, Any]) -> Doubtful:
    """Return the error that asks: each reading that fits as a call, with what it compares."""
    question = Text(THE_FRAME, f" {unknown_words(doubt)}")
    said = {role: column for role, column in given.items() if column is not FIND}
    return asked("frame", question, [proposal(said, choice) for choice in doubt.choices])


def _impossible(reading: Reading, doubt: Doubt) -> Refusal:
    """Return the error that says what no column can be, and what to do."""
    frame = reading.frame
    lacking = [role for role, columns in doubt.unknown.items() if not columns] or ["run"]
    if {"score", "algorithm"} & set(lacking):
        text = _text_among_numbers(frame)
        if text is not None:
            return text
    cure: list[Any] = ["Add one"]
    if lacking[0] == "run":
        there = [*reading.tasks, *filter(None, (reading.algorithm, reading.training))]
        cure = [Words(cure_of_missing_run(frame, "run", there, reading.score), "Add one, such as seed")]
    if "score" in lacking:
        cure.append(_nearest_text(frame))
    names = [str(name) for name in frame if pd.api.types.is_float_dtype(frame[name])]
    if lacking == ["algorithm"] and reading.training is None and not reading.tasks:  # trials of one search
        cure += [", or, if all scores are of one: ", give(algorithm=None)]
    if lacking == ["algorithm"] and len(names) > 1 and not all(map(looks_like_score, names)):
        pattern = _of_means(names) or runs_pattern(names) or "{algorithm}"
        cure += [", or, if columns are the algorithms: ", give(columns=pattern)]
    reason = Text(OF_FRAME, "; ".join(_NOTHING[role] for role in lacking))
    return Refusal("frame", UNSAID, reason, Cure(*cure))


def _of_means(names: Sequence[str]) -> str | None:
    """Return the pattern of the means of algorithms where each has a mean and a spread: ppo_mean, ppo_std."""
    found = fitting_pattern(names, says_statistic)
    if found is None or "mean" not in found.scores or "{value}" not in found.text:
        return None
    return found.text.replace("{value}", "mean")


def _text_among_numbers(frame: pd.DataFrame) -> Refusal | None:
    """Return the error about a column that would be numbers but for a few rows, None if there is none."""
    for name in frame.select_dtypes(exclude="number"):
        strange = strange_cells(frame[name])
        if 0 < len(strange) < len(frame) / 2:
            return with_text(strange)
    return None


def _nearest_text(frame: pd.DataFrame) -> str:
    """Return which column of text is nearest to a score, with one of its values, "" if none."""
    texts: list[tuple[bool, bool, str, str]] = []
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        values = frame[name].dropna().astype(str)
        strange = strange_cells(values)
        if dim_of(name) is None and len(strange):
            first = strange.iloc[0]
            begins = re.match(r"\W*\d", first) is not None
            if set(words_of(name)) & set(names_of_dim("algorithm")):  # model_a, model_b
                continue
            texts.append((looks_like_score(name), begins, str(name), first))
    if not texts:
        return ""

    # by its name first, then by values that begin as numbers do; of several the first
    _, _, name, first = max(texts, key=lambda text: text[:2])
    shown = repr(shorten(first, _WIDEST, placeholder=" ..."))
    return (
        f", or write the column {name!r} as numbers: it has text, such as {shown}. "
        "A number has a point and no unit, 0.5"
    )
