"""Lines of text that say a step and numbers of it, as training scripts print them; all other lines are left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from xcurves.readers.log_files import Run, say_cut

_WORDS = "global_step|steps?|timesteps?|iterations?|iter|it|epochs?|episodes?|rounds?|batch|env_steps?"
_NUM = r"[-+]?(?:nan|inf|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)"
_END = r"(?=[\s,;|)\]}]|$)"
# What a logger writes before: times, its level, its name.
_BEFORE = (
    r"^(?:[\[(]?\d{4}[-/]\d\d[-/]\d\d[^A-Za-z]*|[\[(]?\d\d:\d\d:\d\d\S*\s*|\[?(?:INFO|DEBUG)\]?[\s:-]*)*[-\s\[(*]*"
)
_STEP = re.compile(rf"{_BEFORE}({_WORDS})\s*(?:([:=])\s*|\s[\[(]?)(\d+)(?:\s*/\s*\d+)?{_END[:-3]}|:|$)", re.IGNORECASE)
_BRACKET = re.compile(rf"{_BEFORE}\[(\d+)\]\s|^\[(\d+)\]\s")
_NUMBERED = re.compile(r"^(\d+):\s+(?=[A-Za-z_])")  # of CatBoost
_KEYED = re.compile(rf"([A-Za-z_][\w'./#@ -]{{0,80}}?)\s*[:=]\s*({_NUM})(?:/\d+)?([A-Za-z%]*){_END}", re.IGNORECASE)
_NAKED = re.compile(rf"(?:^|[,;|]\s*|\s-\s)([A-Za-z_][\w./-]*(?: [A-Za-z_][\w./-]*)?) ({_NUM})([A-Za-z%]*){_END}", re.I)
_QUOTED = re.compile(rf"""['"]([^'"]+)['"]\s*:\s*['"]?({_NUM})['"]?(?=\s*[,}}])""", re.IGNORECASE)
_ALONE = re.compile(rf"{_BEFORE}(epoch)\s+(\d+)\s*(?:/\s*\d+)?\s*:?\s*$", re.IGNORECASE)
_BAR = re.compile(r"^\d+/\d+\s.*?-\s")  # of Keras, before its metrics


class Said(NamedTuple):
    """What a line says: its step's word and number, and (name, number, unit) of its metrics."""

    word: str
    step: float
    metrics: list[tuple[str, str, str]]


def begins(head: bytes, path: Path) -> bool:
    """Return whether a line of a text says a step and a number of it."""
    if b"\0" in head:
        return False
    with path.open("rb") as file:
        compressed = file.read(1) == b"\x1f"
    text = head if compressed else path.read_bytes()
    return bool(found_in(text.decode(errors="replace"))[0])


def read(data: bytes, path: Path) -> Run:
    """Return a row for each step; lines of one step are one row, unless one has nothing new."""
    *lines, last = data.decode(errors="replace").split("\n")
    said, n_others = found_in("\n".join(lines))
    rows, units = rows_of(said)
    rows.attrs = {"units": units, "n_lines_left_out": n_others}
    return Run(rows, say_cut(path, last) if found_in(last)[0] else "")


def found_in(text: str) -> tuple[list[Said], int]:
    """Return what the lines of a text say, and how many say nothing."""
    said, n_others, epoch = list[Said](), 0, None
    for line in text.split("\n"):
        line = line.rstrip("\r").rpartition("\r")[2].rpartition("\b")[2].strip()
        alone = _ALONE.match(line)
        if alone:  # Keras says the epoch before, in a line of its own
            epoch = (alone[1], float(alone[2]))
            continue
        found = said_in(line)
        if found is None and epoch is not None and " - " in line and _BAR.match(line):
            metrics = _metrics(_BAR.sub("", line, count=1))
            found = Said(*epoch, metrics) if metrics else None
        if found is None:
            n_others += bool(line)
        else:
            said.append(found)
    return said, n_others


def said_in(line: str) -> Said | None:
    """Return what a line says, None if it has no step or no number besides."""
    if line.startswith("{") and line.endswith("}"):
        return _of_dict(line)
    step = _STEP.match(line)
    if step:
        rest = line[step.end(3) :]
        rest = re.sub(r"^\s*/\s*\d+", "", rest)
        named = bool(step[2]) or rest.lstrip()[:1] in (":", "]", ")", ",", "|", "-")
        metrics = _metrics(rest.lstrip(" :])|,-;"), naked=named and not step[2]) if named else []
        return Said(step[1], float(step[3]), metrics) if metrics else None
    for form in (_BRACKET, _NUMBERED):
        match = form.match(line)
        if match:
            metrics = _metrics(line[match.end() :])
            return Said("iteration", float(next(filter(None, match.groups()))), metrics) if metrics else None
    return None


def rows_of(said: list[Said]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a row for each step, and the units of columns."""
    rows, units = list[dict[str, float]](), dict[str, str]()
    for word, step, metrics in said:
        row = {word: _plain(step)}
        for name, number, unit in metrics:
            row.setdefault(name, int(number) if number.isdecimal() else float(number))
            if unit:
                units[name] = unit
        # Lines of one step, such as of training and of validation, are one row unless a line has nothing new.
        if rows and rows[-1].get(word) == row[word] and not row.keys() <= rows[-1].keys():
            rows[-1] |= {name: number for name, number in row.items() if name not in rows[-1]}
        else:
            rows.append(row)
    return pd.DataFrame(rows), units


def _metrics(text: str, naked: bool = False) -> list[tuple[str, str, str]]:
    """Return names, numbers and units in the rest of a line; `naked` allows names without a colon behind."""
    text = text.replace("\t", " , ").replace(" - ", " , ")
    found = [(name.strip(" -'"), number, unit) for name, number, unit in _KEYED.findall(text)]
    if not found and naked:
        found = [(name.strip(), number, unit) for name, number, unit in _NAKED.findall(text)]
    return [each for each in found if each[0]]


def _of_dict(line: str) -> Said | None:
    """Return what a printed dict says, as the Trainer of Hugging Face prints them."""
    pairs = dict(_QUOTED.findall(line))
    word = next((name for name in ("step", "global_step", "iter", "iteration", "epoch") if name in pairs), None)
    if word is None or len(pairs) < 2:
        return None
    step = float(pairs.pop(word))
    return Said(word, step, [(name, number, "") for name, number in pairs.items()])


def _plain(number: float) -> float:
    return int(number) if number.is_integer() else number
