"""Lines that packages print in a form of their own: fairseq, OpenMMLab, llm.c, build-nanogpt and YOLOv5.

All regular expressions are linear in a line, as in `text_lines`. The forms are those of the sources cited at each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

Metric = tuple[str, str, str]  # name, number, unit


class Said(NamedTuple):
    """What a line says: its step's word and number, and (name, number, unit) of its metrics."""

    word: str
    step: float
    metrics: list[Metric]


NUMBER = r"[-+]?(?:nan|inf|(?:\d++(?:\.\d*+)?+|\.\d++)(?:e[-+]?\d++)?+)"
_ONE = re.compile(NUMBER, re.IGNORECASE)

# fairseq/logging/progress_bar.py: `print` and `log` of SimpleProgressBar and JsonProgressBar.
_FAIRSEQ = re.compile(r"(?:(?:.{0,40}?\| INFO \| (\w{1,40}+) )?\| |(?=\{))(epoch (\d++).*+|\{\"epoch\": .*\})$")
_SUBSET = re.compile(r"valid on '([^']{1,80}+)' subset")
_PIPED = re.compile(rf"(?<!\w)([A-Za-z_]\w{{0,80}}+)[ =]({NUMBER})(?=$|[ |]|,(?!\d))", re.IGNORECASE)

# mmcv/runner/hooks/logger/text.py and mmengine/runner/log_processor.py.
_MM = re.compile(
    r"(?:.{0,80}?- INFO - )?(Epoch|Iter)(?:\((\w{1,10}+)\))?+ {0,10}+\[ {0,10}+(\d++)(?:/\d++)?+\]"
    r"(?:\[ {0,10}+(\d++)(?:/(\d++))?+\])?+\s"
)
_MM_PAIR = re.compile(rf"(?<![\w./@-])([A-Za-z_][\w./@-]{{0,80}}+): ({NUMBER})(?=\s|,(?!\d)|$)", re.IGNORECASE)
_MM_CLOCKS = {"time", "data_time", "memory", "lr"}

# llm.c: llmc/logger.h; build-nanogpt: train_gpt2.py, `log_file`.
_LLMC = re.compile(rf"s:(\d++) (?=(?:tel|trl|eval|hel):{NUMBER}(?: |$))", re.IGNORECASE)
_LLMC_PAIR = re.compile(rf"([a-z]{{1,20}}+):({NUMBER})(?= |$)", re.IGNORECASE)
_NANOGPT = re.compile(rf"(\d++) (train|val|hella) ({NUMBER})$", re.IGNORECASE)
# YOLOv5: train.py, `pbar.set_description`; with a total until v5.0. A bar that is not full is of a line to come.
_YOLO = re.compile(
    rf"(\d++)/\d++\s++[\d.]++G?\s++({NUMBER})\s++({NUMBER})\s++({NUMBER})(?:\s++({NUMBER}))?"
    r"\s++\d++\s++\d++: {0,9}+100%",
    re.IGNORECASE,
)
_YOLO_LOSSES = ("box_loss", "obj_loss", "cls_loss", "total_loss")
_LOSSES = {
    "tel": "val_loss",
    "trl": "train_loss",
    "val": "val_loss",
    "train": "train_loss",
}


class PackageLines:
    """The lines of one file, of which some say where others stand."""

    def __init__(self) -> None:
        self.last = 0.0  # of training, where a validation says no step
        self.length = 0  # of an epoch

    def said(self, line: str) -> Said | None:
        """Return what a line of one of these packages says."""
        if line.startswith("s:"):
            return _of_llmc(line)
        if line[:1].isdigit() and (match := _NANOGPT.match(line)):
            name = match[2].lower()
            return Said("step", float(match[1]), [(_LOSSES.get(name, name), match[3], "")])
        last = line.rpartition("\r")[2].strip()  # of a bar that was drawn over itself
        if last[:1].isdigit() and (match := _YOLO.match(last)):
            losses = zip(_YOLO_LOSSES, match.groups()[1:], strict=True)
            return Said("epoch", float(match[1]), [(name, loss, "") for name, loss in losses if loss])
        if line.startswith(("{", "|", "2", "1")) and (match := _FAIRSEQ.match(line)):
            return _of_fairseq(match[1] or "", match[2])
        if match := _MM.match(line):
            return self._of_mm(match, line[match.end() :])
        return None

    def _of_mm(self, match: re.Match[str], rest: str) -> Said | None:
        """Return the step over all epochs; of a validation that of the training before it."""
        by, mode, first, second, length = match.groups()
        pairs = [
            (name, number, "")
            for name, number in _MM_PAIR.findall(rest)
            # "3 days" of a time; several numbers, each of which stands alone too
            if name != "eta" and not name.endswith("_copypaste")
        ]
        epoch = [("epoch", first, "")] if by == "Epoch" else []
        if mode not in (None, "train"):
            kept = [(f"{mode}/{name}", number, unit) for name, number, unit in pairs if name not in _MM_CLOCKS]
            if not kept:
                return None
            step = self.last
            if by == "Epoch" and self.length:
                step = float(first) * self.length
            return Said("step", step, [*epoch, *kept])
        if by == "Epoch":
            if not length:
                return None
            self.length = int(length)
            self.last = (float(first) - 1) * self.length + float(second)
        else:
            self.last = float(first)
        return Said("step", self.last, [*epoch, *pairs]) if pairs else None


def _of_llmc(line: str) -> Said | None:
    match = _LLMC.match(line)
    if match is None:
        return None
    found = _LLMC_PAIR.findall(line[match.end() :])
    pairs = [(_LOSSES.get(name, name), number, "") for name, number in found]
    return Said("step", float(match[1]), pairs)


def _of_fairseq(logger: str, said: str) -> Said | None:
    """Return a line of an epoch, whose names begin with its subset, or of updates within one, whose names do not."""
    if said.startswith("{"):
        found = list(_of_json(said))
        prefix = ""
    else:
        subset = _SUBSET.search(said)
        within = re.match(r"epoch \d++:", said) is not None
        prefix = "" if within else f"{subset[1] if subset else logger or 'train'}_"
        found = [(name, number) for name, number in _PIPED.findall(said) if name not in ("epoch", "on")]
        epoch = re.match(r"epoch (\d++)", said)
        if epoch:
            found.insert(0, ("epoch", str(int(epoch[1]))))
    updates = next((n for name, n in found if name.endswith("num_updates")), None)
    if updates is None:
        return None
    metrics = [
        (
            # older versions wrote the subset in the names themselves
            name if name == "epoch" or name.startswith(prefix) else f"{prefix}{name}",
            number,
            "",
        )
        for name, number in found
        if not name.endswith("num_updates")
    ]
    return Said("num_updates", float(updates), metrics)


def _of_json(said: str) -> Iterator[tuple[str, str]]:
    """Yield names and numbers of an object of JSON, whose numbers are texts."""
    try:
        found: Any = json.loads(said)
    except (ValueError, RecursionError):
        return
    for name, value in found.items():
        if isinstance(value, str | int | float) and _ONE.fullmatch(str(value)):
            yield name, str(value)
