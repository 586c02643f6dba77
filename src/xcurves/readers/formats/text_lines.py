"""Lines of text that say a step and numbers of it, as training scripts print them; all other lines are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core.names import EVALUATED, words_of
from xcurves.core.refusal import give
from xcurves.readers.cells import with_one_unit
from xcurves.readers.formats.package_lines import NUMBER as _NUM
from xcurves.readers.formats.package_lines import Metric, PackageLines, Said
from xcurves.readers.log_files import Run, say_cut
from xcurves.readers.open_files import HEAD, beginning

_LONGEST_SCRIPT = 1 << 24  # bytes above the first line that says a step
_LONGEST_LINE = 10_000  # characters; a longer one is no line of a log

# All that repeats is possessive (*+, ++) or bounded, so that the time is linear in a line, whoever wrote it.
_WORDS = "global_step|steps?|timesteps?|iterations?|iter|it|epochs?|episodes?|rounds?|batch|env_steps?"
_AFTER = r"[\s;|)\]}]|,(?!\d)|$"  # a number; a comma before a digit is a mark in it
_END = rf"(?={_AFTER})"
# With marks of thousands or decimals: all cells of a column say which they are.
_WRITTEN = rf"(?:[-+]?\d++(?:,\d++)++(?:\.\d++)?+(?:e[-+]?\d++)?+|{_NUM})"
# What a logger writes before: times, its level and its name.
_BEFORE = re.compile(
    r"(?:[\[(]?\d{4}[-/]\d\d[-/]\d\d(?:T\d\d:\d\d)?[^A-Za-z\[(]*+(?:Z\b)?"
    r"|[\[(]?\d\d:\d\d:\d\d[\d.,]*+[\])]?"
    r"|\[?(?:INFO|DEBUG)\b\]?(?::[\w.-]{1,80}+:|\s{1,9}+[\w.-]{1,80}+:(?=\s{1,9}(?:[A-Za-z]|-\s)))?+"
    r"|\w[\w.-]{0,80}+\s-\s(?=(?:INFO|DEBUG)\b)|[-\s:|]++)*+",
    re.IGNORECASE,
)
_SUMS_UP = re.compile(r"est iteration is:\s*$")  # of LightGBM, which prints that line again below
_PART_OF_DATA = re.compile(r"(eval|evaluation|val|valid|validation|test)\s?[:|-]\s{1,9}(?=[A-Za-z])", re.IGNORECASE)
_DONE = re.compile(r"\s*+(?:done|ended|finished|completed?)\b[\s.:,|-]*+", re.IGNORECASE)  # behind a step
_OF_MOST = r"(?:\s*+/\s*+\d++(?:,\d{3})*+)"  # 3/10,000
_STEP = re.compile(
    rf"[-\s\[(*]*+({_WORDS})\s*+(?:([:=])\s*+|(?<=\s)[\[(]?)(\d{{1,3}}(?:,\d{{3}})++|\d++){_OF_MOST}?+(?={_AFTER}|:)",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[-\s(*]*+\[(\d++)\]\s")
_NUMBERED = re.compile(r"(\d++):\s++(?=[A-Za-z_])")  # of CatBoost
# The rest of a time: 1m 10s.
_UNIT = r"([A-Za-z%]{0,20}+(?: \d{1,9}+(?:\.\d{0,9}+)?(?:ms|h|m|s)(?=[\s,;|)]|$)){0,4}+)"
_KEYED = re.compile(
    rf"(?<![A-Za-z_])([A-Za-z_][\w'./#@ -]{{0,80}}?)\s{{0,40}}+[:=]\s{{0,40}}+({_WRITTEN})(?:/\d++)?+{_UNIT}{_END}",
    re.IGNORECASE,
)
_NAKED = re.compile(
    rf"(?:^|[,;|]\s*+|\s-\s)([A-Za-z_][\w./-]*+(?: [A-Za-z_][\w./-]*+)?) ({_WRITTEN})([A-Za-z%]{{0,20}}+){_END}",
    re.I,
)
# Names and numbers in turn, and nothing else: loss 1.91 lr 0.0009 time 1.3s. Prose has other words between.
_OF_DATA = r"(?:(?:train|val|valid|validation|test|eval)\s)?+"
_PAIR = rf"[\s,;|]*+({_OF_DATA}[A-Za-z_][\w./-]{{0,80}}+)\s*+[:=]?\s*+({_WRITTEN})([A-Za-z%]{{0,20}}+){_END}"
_IN_TURN = re.compile(rf"(?:{_PAIR})++[\s,;|]*+")
_QUOTED = re.compile(
    rf"""['"]([^'"]++)['"]\s{{0,40}}+:\s{{0,40}}+['"]?({_NUM})['"]?(?=\s{{0,40}}+[,}}])""",
    re.IGNORECASE,
)
_ALONE = re.compile(r"[-\s\[(*]*+(epoch)\s++(\d++)\s*+(?:/\s*+\d++)?+\s*+:?\s*+$", re.IGNORECASE)
_OF_ALL = re.compile(r"(\d++) / \d++ (?=[A-Za-z_]\w{0,40}+ [-+.\d][^|]{0,40}+\|)")
_BAR = re.compile(r"\d++/\d++\s.*?-\s")  # of Keras, before its metrics


def begins(head: bytes, path: Path) -> bool:
    """Return whether a line of a text says a step and a number of it."""
    if b"\0" in head:
        return False
    if _says_something(head):
        return True
    # A script may stand above its lines.
    return len(head) >= HEAD and _says_something(beginning(path, _LONGEST_SCRIPT))


def read(data: bytes, path: Path) -> Run:
    """Return a row for each step; lines of one step are one row, unless one has nothing new."""
    *lines, last = data.decode(errors="replace").split("\n")
    said = dict(said_by_line(lines))
    found = {number: each for number, each in said.items() if each is not None}
    rows, units, mixed = rows_of(list(found.values()))
    rows.attrs = {"units": units, "n_lines_left_out": len(said) - len(found)}
    left_out = [_say_second_log(path, found)]
    if mixed:
        left_out.append(f"{path}: {', '.join(map(repr, mixed))} changes its unit and is left out")
    if _says_something(last.encode()):
        left_out.append(say_cut(path, last))
    return Run(rows, "; ".join(filter(None, left_out)))


def said_by_line(lines: Iterable[str]) -> Iterator[tuple[int, Said | None]]:
    """Yield the number of each line that is not blank, and what it says; None where it has no step and number."""
    epoch, of_packages, sums_up = None, PackageLines(), False
    for number, line in enumerate(lines, 1):
        is_repeated, sums_up = sums_up, _SUMS_UP.search(line) is not None
        if is_repeated:
            continue
        line = line.rstrip("\r").rpartition("\r")[2].rpartition("\b")[2].strip()
        if len(line) > _LONGEST_LINE:
            yield number, None
            continue
        said = _after_clock(line)
        alone = _ALONE.match(said)
        if alone:  # Keras says the epoch before, in a line of its own
            epoch = (alone[1], float(alone[2]))
            continue
        found = of_packages.said(line) or said_in(line, said)
        if found is None and epoch is not None and " - " in line and _BAR.match(line):
            found = _said(*epoch, _metrics(_BAR.sub("", line, count=1)))
        elif found is None and epoch is not None and _KEYED.match(said) and _IN_TURN.fullmatch(said):
            found = _said(*epoch, _metrics(said))
        if line:
            yield number, found


def _says_something(text: bytes) -> bool:
    lines = text.decode(errors="replace").split("\n")
    return any(said is not None for _, said in said_by_line(lines))


def _say_second_log(path: Path, found: Mapping[int, Said]) -> str:
    """Return at which line a log begins again, with the first step of the log and what was said of it."""
    first, last = dict[str, Said](), dict[str, float]()
    for number, said in found.items():
        begun = first.setdefault(said.word, said)
        is_back = said.step == begun.step < last.get(said.word, said.step)
        if is_back and {name for name, *_ in begun.metrics} <= {name for name, *_ in said.metrics}:
            return (
                f"{path}: line {number} begins again at {said.word} {said.step:g}, two logs in one file. "
                f"Make a file of each, or keep the last row of each step: {give(duplicates='last')}"
            )
        last[said.word] = max(said.step, last.get(said.word, said.step))
    return ""


def _after_clock(line: str) -> str:
    """Return a line without the time and level that a logger writes before."""
    match = _BEFORE.match(line)
    assert match is not None  # it matches nothing at least
    return line[match.end() :]


def said_in(line: str, after_clock: str) -> Said | None:
    """Return what a line says, None if it has no step or no number besides."""
    if line.startswith("{") and line.endswith("}"):
        return _of_dict(line)
    part = _PART_OF_DATA.match(after_clock)
    if part is None:
        return _said_behind(line, after_clock)
    found = _said_behind(line, after_clock[part.end() :])
    return None if found is None else found._replace(metrics=[_of_part(part[1], each) for each in found.metrics])


def _said_behind(line: str, after_clock: str) -> Said | None:
    """Return what a line says behind its time and the name of the data."""
    step = _STEP.match(after_clock)
    if step:
        rest = re.sub(rf"^{_OF_MOST}", "", after_clock[step.end(3) :])
        done = _DONE.match(rest)
        if done:
            rest = f": {rest[done.end() :]}"
        named = bool(step[2]) or rest.lstrip()[:1] in (":", "]", ")", ",", "|", "-")
        metrics = _metrics(rest.lstrip(" :])|,-;"), naked=not step[2]) if named else _in_turn(rest)
        return _said(step[1], float(step[3].replace(",", "")), metrics)
    of_all = _OF_ALL.match(after_clock)
    if of_all:
        rest = after_clock[of_all.end() :]
        pairs = [each for part in rest.split("|") for each in _metrics(part.strip(), True)]
        return _said("step", float(of_all[1]), pairs)
    for form, text in ((_BRACKET, after_clock), (_NUMBERED, line)):
        match = form.match(text)
        if match:
            return _said("iteration", float(match[1]), _metrics(text[match.end() :]))
    return None


def _of_part(part: str, metric: Metric) -> Metric:
    """Return a metric whose name says of which data it is."""
    name, number, unit = metric
    return (name if EVALUATED & set(words_of(name)) else f"{part} {name}", number, unit)


def _said(word: str, step: float, metrics: list[Metric]) -> Said | None:
    if not metrics:
        return None
    return Said(word, step, metrics)


def rows_of(said: list[Said]) -> tuple[pd.DataFrame, dict[str, str], list[str]]:
    """Return a row for each step, the units of columns, and which columns have none that holds for all rows."""
    rows = list[dict[str, Any]]()
    units = dict[str, set[str]]()
    for word, step, metrics in said:
        row: dict[str, Any] = {word: _plain(step)}
        for name, number, unit in metrics:
            row.setdefault(name, f"{number}{unit}" if unit else number)
            units.setdefault(name, set()).add(unit)
        # Lines of one step, such as of training and of validation, are one row unless a line has nothing new.
        if rows and rows[-1].get(word) == row[word] and not row.keys() <= rows[-1].keys():
            rows[-1] |= {name: number for name, number in row.items() if name not in rows[-1]}
        else:
            rows.append(row)
    table = pd.DataFrame(rows)
    found, mixed = dict[str, str](), list[str]()
    for name, seen in units.items():
        there = table[name].notna()
        numbers, unit = _in_one_unit([str(cell) for cell in table[name][there]], seen)
        if numbers is None:
            mixed.append(name)
            table = table.drop(columns=name)
            continue
        table[name] = pd.Series(numbers, table.index[there]).reindex(table.index)
        if unit:
            found[name] = unit
    return table, found, mixed


def _in_one_unit(cells: list[str], units: set[str]) -> tuple[Sequence[float | str] | None, str]:
    """Return cells as numbers, and their unit: that of all, or one to which all can be brought.

    Cells with commas stay text: what these mark, the cells of all runs say.
    """
    if len(units) > 1 or " " in next(iter(units)):
        return with_one_unit(cells)
    if any("," in cell for cell in cells):
        return cells, ""
    (unit,) = units
    plain = [cell.removesuffix(unit) for cell in cells]
    return [int(cell) if cell.isdecimal() else float(cell) for cell in plain], unit


def _in_turn(text: str) -> list[Metric]:
    """Return names, numbers and units of a text of these alone, of which a number has decimals; else none."""
    if not _IN_TURN.fullmatch(text):
        return []
    found: list[Metric] = re.findall(_PAIR, text)
    return found if any(not number.isdecimal() for _, number, _ in found) else []


def _metrics(text: str, naked: bool = False) -> list[Metric]:
    """Return names, numbers and units in the rest of a line; `naked` allows names without a colon behind."""
    text = text.replace("\t", " , ").replace(" - ", " , ")
    found = [(name.strip(" -'"), number, unit) for name, number, unit in _KEYED.findall(text)]
    if not found and naked:
        found = [(name.strip(), number, unit) for name, number, unit in _NAKED.findall(text)]
    return [each for each in found if each[0]]


def _of_dict(line: str) -> Said | None:
    """Return what a printed dict says, as the Trainer of Hugging Face prints them."""
    pairs = dict(_QUOTED.findall(line))
    word = next(
        (name for name in ("step", "global_step", "iter", "iteration", "epoch") if name in pairs),
        None,
    )
    if word is None or len(pairs) < 2:
        return None
    step = float(pairs.pop(word))
    return Said(word, step, [(name, number, "") for name, number in pairs.items()])


def _plain(number: float) -> float:
    return int(number) if number.is_integer() else number
