"""What columns and rows of wide tables are: parts of their names, and those that sum up the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.direction import says_higher
from xcurves.core.names import dim_of, is_clock, words_of

_RUN = re.compile(
    r"(?P<before>.*?)(?P<word>(?<![^\W_])(?:seed|run|rep|repeat|fold|split|trial)[-_ ]?)(?P<run>\d+)(?P<after>\D.*|)",
    re.IGNORECASE,
)
_SHORT_RUN = re.compile(r"(?P<before>.+[-_. ])(?P<word>s)(?P<run>\d+)(?P<after>[-_. ].+)")  # adamw_s0_val_loss
_SEPARATORS = ("_", "/", ".", "-", " ", ":", "~")
_MOST_WORDS = 3  # of a name that are the score
IsScore = Callable[[str], bool]
_ROWS = frozenset(["average", "avg", "mean", "rank", "total", "median", "std", "overall"])
_OF_MEANS = re.compile(r"average|avg\.?|mean|mean ?(?:±|\+/-) ?(?:std|sd)", re.IGNORECASE)
_OF_SPREADS = re.compile(r"std\.?|sd|stdev|std\.? dev\.?", re.IGNORECASE)  # beside means: sd alone may be a language
_COUNTS = ([*"wtl"], [*"wdl"], ["win", "tie", "loss"], ["wins", "ties", "losses"])
_COLUMNS = frozenset(["average", "avg", "mean", "overall"])
_OF_ALL = _COLUMNS | {"score", "scores", "accuracy", "acc", "all", "tasks", "total"}  # words beside those
_MEAN_CELL = re.compile(  # with what it varies by: 81.5 ± 0.5, 81.5 (0.5), $81.5 \\pm 0.5$
    r"[\s$*]*(?P<mean>[-+]?\d+\.\d+)\s*%?\s*(?:±|\+/?-|\\pm|\()\s*\d*\.?\d+\s*%?\s*\)?[\s$*]*"
)
_ROUNDED = 0.005  # of a standard deviation: means of rounded scores
_FEWEST = 3  # rows above a mean of them


class Pattern(NamedTuple):
    """A pattern of names, and the usual names of scores in them, each once."""

    text: str
    scores: tuple[str, ...] = ()


def fitting_pattern(names: Sequence[str], is_score: IsScore) -> Pattern | None:
    """Return the pattern that all names fit: ``{algorithm}_{value}``, ``{algorithm}_seed{run}``, ``fold{run}_{value}``.

    None where there is no such pattern, or where it would fit one run or one algorithm only. `is_score` says whether
    words are the usual name of a score.
    """
    for text, levels in (("{algorithm}/{run}", r"([^/]+)/(\d+)"), ("{run}/{algorithm}", r"(\d+)/([^/]+)")):
        found = [match.groups() for name in names if (match := re.fullmatch(levels, name))]
        first, second = (set(labels) for labels in zip(*found, strict=True)) if found else (set(), set())
        if len(found) == len(names) and min(len(first), len(second)) > 1:  # of keys within keys, or headers of two rows
            return Pattern(text)
    matches, run = [match for name in names if (match := _RUN.fullmatch(name))], "{run}"
    if not matches:
        matches, run = [match for name in names if (match := _SHORT_RUN.fullmatch(name))], "{run,\\d+}"
    if len(matches) < len(names):
        return _crossed_scores(names, is_score) or _pattern_of(names, is_score)
    words = {match["word"] for match in matches}
    runs = {match["run"] for match in matches}
    before = _pattern_of([match["before"] for match in matches], is_score)
    after = _pattern_of([match["after"] for match in matches], is_score)
    if len(words) > 1 or len(runs) < 2 or before is None or after is None:
        return None
    parts = re.findall(r"\{\w+\}", before.text + after.text)
    if len(set(parts)) < len(parts):
        return None
    return Pattern(before.text + words.pop() + run + after.text, before.scores or after.scores)


def numbered_scores(names: Sequence[str], score: str) -> str | None:
    """Return the pattern of columns acc_0, acc_1, ... of which one is the score: runs, or parts of it; else None."""
    match = re.fullmatch(r"(.*[^\W\d_])([-_. ])(\d+)", score)
    if match is None:
        return None
    base = f"{match[1]}{match[2]}"
    numbers = sorted(int(each[1]) for name in names if (each := re.fullmatch(rf"{re.escape(base)}(\d+)", name)))
    if len(numbers) < 2 or numbers[0] > 1 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return f"{base}{{run,\\d+}}"


def _crossed_scores(names: Sequence[str], is_score: IsScore) -> Pattern | None:
    """Return the pattern of columns such as accuracy/svm, time/svm, accuracy/tree, time/tree; None of others."""
    parts = [tuple(name.split("/")) for name in names]
    if len(parts) < 2 or any(len(each) != 2 for each in parts):
        return None
    for place, text in enumerate(("{value}/{algorithm}", "{algorithm}/{value}")):
        scores, algorithms = (list(dict.fromkeys(each[side] for each in parts)) for side in (place, 1 - place))
        known = [is_score(score) or says_higher(score) is not None or is_clock(score) for score in scores]
        if len(algorithms) > 1 and len(parts) == len(scores) * len(algorithms) and all(known):
            return Pattern(text if len(scores) > 1 else text.replace("{value}", scores[0]), tuple(scores))
    return None


def has_scores_of_levels(pattern: Pattern | None) -> bool:
    """Return whether a pattern is of columns of two levels, one of which names scores: accuracy/svm."""
    return pattern is not None and bool(pattern.scores) and "/" in pattern.text


def has_part(pattern: str, part: str) -> bool:
    """Return whether a pattern of names has a part: {run}, or {run,...}."""
    return re.search(rf"\{{{part}[,}}]", pattern) is not None


def names_run(name: str) -> bool:
    """Return whether the name of a column says the number of a run: seed 1, fold_3."""
    return _RUN.fullmatch(name) is not None


def runs_pattern(names: Sequence[str]) -> str | None:
    """Return the pattern of names that end in 1, 2, ... (or 0, 1, ...), of each of several: ppo_1, ppo_2, td3_1, td3_2.

    An s or r may stand before the number, of seeds and runs: ppo-s1. None where numbers are no counts, as of resnet-18
    and resnet-34, or decimals.
    """
    matches = [re.fullmatch(r"(.*\w)([-_. ][sr]?)(?<!\d\.)(\d+)", name) for name in names]
    marks = {match[2] for match in matches if match}
    if not all(matches) or len(marks) != 1:
        return None
    numbers: dict[str, list[int]] = {}
    for match in matches:
        if match:
            numbers.setdefault(match[1], []).append(int(match[3]))
    counts = [sorted(each) for each in numbers.values()]
    begin = counts[0][0]
    are_counts = all(each == list(range(begin, begin + len(each))) and len(each) > 1 for each in counts)
    if len(counts) < 2 or begin > 1 or not are_counts:
        return None
    return f"{{algorithm}}{marks.pop()}{{run,\\d+}}"


def _pattern_of(texts: Sequence[str], is_score: IsScore) -> Pattern | None:
    """Return the pattern of texts without runs: the text that all are, or parts for the algorithm and the score."""
    texts = list(dict.fromkeys(texts))
    if len(texts) == 1:
        plain = texts[0].strip("".join(_SEPARATORS) + "()[]")
        return Pattern(texts[0], (plain,) if plain and is_score(plain) else ())
    if not all(texts):
        return None
    for begin in ("", *_SEPARATORS):
        for end in (" (", "", *_SEPARATORS):
            # The separators at both ends belong to none of the parts.
            inner = [text[len(begin) : len(text) - len(end)] for text in texts]
            strips = all(text.startswith(begin) and text.endswith(end) for text in texts)
            if not strips or any(word[:1] in _SEPARATORS or word[-1:] in _SEPARATORS for word in inner):
                continue
            parts = _parts_of(inner, is_score)
            return None if parts is None else Pattern(begin + parts.text + end, parts.scores)
    return None


def _parts_of(texts: Sequence[str], is_score: IsScore) -> Pattern | None:
    scored = [is_score(text) for text in texts]
    if not any(scored):
        return Pattern("{algorithm}")
    for separator in _SEPARATORS:
        for n_words in range(1, _MOST_WORDS + 1):
            split = [_cut(text, separator, n_words) for text in texts]
            found = _grid(split, is_score)
            if found:
                return Pattern(f"{{algorithm}}{separator}{found.text}", found.scores)
            split = [_cut(text, separator, -n_words) for text in texts]
            found = _grid([(rest, words) for words, rest in split], is_score)
            if found:
                return Pattern(f"{found.text}{separator}{{algorithm}}", found.scores)
    return Pattern("{value}", tuple(texts)) if all(scored) else None


def _cut(text: str, separator: str, n_words: int) -> tuple[str, str]:
    """Return a text in two: the last words, or with a negative number the first ones, and the rest."""
    words = text.split(separator)
    return separator.join(words[:-n_words]), separator.join(words[-n_words:])


def _grid(split: Sequence[tuple[str, str]], is_score: IsScore) -> Pattern | None:
    """Return the part of the score if every algorithm has every score: its text, or that of several."""
    algorithms, scores = (dict.fromkeys(pair[side] for pair in split) for side in (0, 1))
    if "" in algorithms or "" in scores or len(algorithms) < 2 or len(split) != len(algorithms) * len(scores):
        return None
    words = [word for algorithm in algorithms for word in re.split(r"[\W_]+", algorithm)]
    if any(map(is_score, words)) or not all(map(is_score, scores)):
        return None
    (text,) = scores if len(scores) == 1 else ("{value}",)
    return Pattern(text, tuple(scores))


def summary_columns(scores: Sequence[Any]) -> list[Any]:
    """Return the columns that bear the name of a summary, beside two others."""
    found = [name for name in scores if _COLUMNS & set(words_of(name)) and _OF_ALL.issuperset(words_of(name))]
    if len(scores) - len(found) < 2:
        return []
    return found


def n_rows_of_scores(frame: pd.DataFrame, scores: Sequence[Any]) -> int:
    """Return how many rows of a wide table are left without those that sum up others."""
    return len(frame) - len(_summary_rows(frame, scores))


def with_means_of_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose cells such as 81.5 ± 0.5 are their means, and say it; labels stay as they are."""
    made, first = frame.copy(), ""
    for name in frame.select_dtypes(["object", "string"]):
        cells = frame[name].dropna()
        is_label = dim_of(name) not in (None, "training")
        if is_label or cells.empty or not all(isinstance(cell, str) and _MEAN_CELL.fullmatch(cell) for cell in cells):
            continue
        made[name] = frame[name].str.extract(_MEAN_CELL)["mean"].astype(float)
        first = first or cells.iloc[0]
    if not first:
        return frame
    provenance.warn(f"cells such as {first!r} are read as means: what stands beside a mean is not used")
    return made


def without_summed_labels(frame: pd.DataFrame, typed: Collection[Any]) -> pd.DataFrame:
    """Return a table without rows whose run or task is called mean, std or ALL, beside two others; they are said.

    Columns of runs and tasks are those that are `typed` as such, and those with a usual name.
    """
    kept, left_out = frame, list[str]()
    for name in map(str, frame.select_dtypes(["object", "string"])):
        if name not in typed and dim_of(name) not in ("run", "task"):
            continue
        labels = kept[name].dropna().unique()
        sums = [label for label in labels if _sums_up(kept, name, label)]
        if sums:
            sums += [label for label in labels if _OF_SPREADS.fullmatch(str(label).strip())]
        if not sums or len(labels) - len(sums) < 2:
            continue
        left_out += map(repr, sums)
        kept = kept[~kept[name].isin(sums)].reset_index(drop=True)
        numbers = pd.to_numeric(kept[name], errors="coerce")
        if numbers.notna().all():
            kept = kept.assign(**{name: numbers})
    if not left_out:
        return frame
    provenance.warn(f"left out, as they sum up other rows: {', '.join(left_out)}")
    kept.attrs = frame.attrs
    return kept


def _sums_up(frame: pd.DataFrame, name: str, label: Any) -> bool:
    """Return whether a label is of rows that sum up the others: by its name, or called all, by their means too."""
    called = str(label).strip()
    if called.casefold() not in ("all", "overall"):
        return _OF_MEANS.fullmatch(called) is not None
    of_label = frame[name] == label
    means, others = (frame[rows].select_dtypes("float") for rows in (of_label, ~of_label))
    return bool((np.abs(means.mean() - others.mean()) <= _ROUNDED * others.std()).all()) and len(means.columns) > 0


def without_text_summaries(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without last rows such as W/T/L whose text makes text of columns of numbers; they are said."""
    texts = list(frame.select_dtypes(exclude=["number", "bool"]))
    n_rows, left_out = len(frame), list[str]()
    while n_rows > 1 and (label := _label(frame[texts].iloc[n_rows - 1].tolist())):
        n_rows -= 1
        left_out.insert(0, label)
    if not left_out:
        return frame
    kept = frame.iloc[:n_rows].copy()
    numbers = {name: pd.to_numeric(kept[name], errors="coerce") for name in texts}
    made = {name: column for name, column in numbers.items() if (column.notna() == kept[name].notna()).all()}
    made = {name: column for name, column in made.items() if column.notna().any()}
    if not made:
        return frame
    provenance.warn(f"left out, as they sum up other rows: {', '.join(left_out)}")
    for name, column in made.items():
        kept[name] = column
    kept.attrs = frame.attrs
    return kept


def without_summaries(frame: pd.DataFrame, scores: Sequence[Any]) -> pd.DataFrame:
    """Return a wide table without rows that sum up the others, by their name or their means; they are said."""
    left_out = _summary_rows(frame, scores)
    if not left_out:
        return frame
    provenance.warn(f"left out, as they sum up other rows: {', '.join(left_out.values())}")
    kept = frame.iloc[[row for row in range(len(frame)) if row not in left_out]].copy()
    for name in scores:
        kept[name] = pd.to_numeric(kept[name])
    kept.attrs = frame.attrs
    return kept


def _summary_rows(frame: pd.DataFrame, scores: Sequence[Any]) -> dict[int, str]:
    """Return what the rows that sum up the others are called: last ones, and a first one with the means of all."""
    texts = [name for name in frame.select_dtypes(exclude=["number", "bool"]) if name not in scores]
    values = frame[list(scores)].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    n_rows = len(frame)
    found: dict[int, str] = {}
    while n_rows > 1:
        label = _label(frame[texts].iloc[n_rows - 1].tolist())
        if not label and not _are_means(values[:n_rows]):
            break
        n_rows -= 1
        found = {n_rows: label or f"row {n_rows + 1}, the means of those above"} | found
    if _are_means(np.roll(values[:n_rows], -1, axis=0)):
        found = {0: "row 1, the means of those below"} | found
    return found


def _label(cells: Sequence[Any]) -> str:
    """Return the cell that names a summary, "" if none does."""
    for cell in map(str, cells):
        if words_of(cell) in _COUNTS or _ROWS & set(words_of(cell)):
            return repr(cell)
    return ""


def _are_means(values: NDArray[np.float64]) -> bool:
    """Return whether the last row of scores is the mean of the others without gaps, within rounding of its digits."""
    *above, last = values
    is_number = np.isfinite(above)
    if len(above) < _FEWEST or len(last) < 2 or not np.isfinite(last).all() or not is_number.any(axis=0).all():
        return False
    if (np.asarray(above) == above[0]).all():
        return False
    half = [0.5 * 10.0 ** -_decimals(number) for number in last]
    distance = np.abs(last - np.mean(above, axis=0, where=is_number))
    return bool((distance <= np.asarray(half) * (1 + 1e-9)).all())


def _decimals(number: float) -> int:
    """Return how many digits are written behind the point, at least one."""
    digits = repr(float(number)).partition("e")[0].partition(".")[2]
    return max(len(digits), 1)
