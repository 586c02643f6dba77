"""Logs of Inspect: the scores of each sample and epoch, from .eval files or JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core import provenance
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.readers import evaluation_logs, logs
from xcurves.readers.formats.json_rows import parse
from xcurves.readers.log_files import check_cells, parsing
from xcurves.readers.open_files import beginning, open_members, read_text
from xcurves.readers.packages import INSPECT

# As `inspect_ai.scorer.value_to_float` has them.
_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class _Log(NamedTuple):
    """What a log says: its header, and its samples."""

    path: Path
    header: Mapping[str, Any]
    samples: Sequence[Mapping[str, Any]]

    @property
    def spec(self) -> Mapping[str, Any]:
        """What was evaluated."""
        spec: Mapping[str, Any] = self.header["eval"]
        return spec


def read_scores(path: str | Path) -> pd.DataFrame:
    """Return a row for each model, sample and epoch, with a column for each scorer."""
    found = list[_Log]()
    for file in logs.find_logs(path, INSPECT):
        with parsing(file, INSPECT.what):
            found.append(_read(file))
    found = _last_attempts(found)
    _say_unfinished(found)
    left_out = dict[str, str]()
    evaluations = list[evaluation_logs.Evaluation]()
    models = _named(found)
    for log, model in zip(found, models, strict=True):
        with parsing(log.path, INSPECT.what):
            rows = pd.DataFrame([_row(sample, left_out) for sample in log.samples])
        if rows.empty:
            raise Refusal("path", UNSAID, f"{log.path} has no samples", "Remove it")
        evaluations.append(evaluation_logs.Evaluation(model, log.spec["task"], log.spec["created"], rows))
    if left_out:
        name, value = next(iter(left_out.items()))
        provenance.warn(f"{len(left_out)} scores are no numbers and left out, such as {name!r} with {value[:40]!r}")
    frame = evaluation_logs.joined(evaluations)
    if frame["state"].eq("complete").all():
        frame = frame.drop(columns="state")
    about = {"algorithm", "benchmark", "item", "run", "state"}
    if not len(set(frame) - about):
        raise Refusal(
            "path",
            str(path),
            f"{path}: no sample has a score that is a number",
            "Score the logs",
        )
    frame = check_cells(frame, Path(path))
    frame.attrs["source"] = f"{INSPECT.what} {logs.where(path)}"
    return frame


def _read(path: Path) -> _Log:
    with open_members(path) as members:
        if members is None:
            said = parse(read_text(path), path)
            return _Log(path, said, said.get("samples") or [])
        if "header.json" not in members.names:
            raise Refusal(
                "path",
                str(path),
                f"{path} is of an evaluation that did not end",
                "Run it to its end, or leave it out",
            )
        header = parse(members.read("header.json"), path)
        samples = list[Mapping[str, Any]]()
        if "summaries.json" in members.names:
            samples = parse(members.read("summaries.json"), path)
        else:  # of versions that wrote none
            samples = [parse(members.read(name), path) for name in members.names if name.startswith("samples/")]
    return _Log(path, header, samples)


def _last_attempts(found: Sequence[_Log]) -> list[_Log]:
    """Return logs without those of which a later one is the retry: it has their task_id, and their samples."""
    last = dict[str, _Log]()
    for log in sorted(found, key=lambda log: str(log.spec["created"])):
        last[log.spec.get("task_id") or str(log.path)] = log
    kept = [log for log in found if log in last.values()]
    if len(kept) < len(found):
        dropped = next(log for log in found if log not in last.values())
        provenance.warn(
            f"{len(found) - len(kept)} logs are left out, a later log is their retry, such as {dropped.path.name}"
        )
    return kept


def _say_unfinished(found: Sequence[_Log]) -> None:
    """Say which evaluations did not end well: their samples may be some of all."""
    left = [log for log in found if log.header.get("status") != "success"]
    if left:
        log = left[0]
        provenance.warn(
            f"{len(left)} of {len(found)} evaluations did not end (status {log.header.get('status')}), such as "
            f"{log.path.name} with {len(log.samples)} samples"
        )


def _named(found: Sequence[_Log]) -> list[str]:
    """Return the model of each log; with its solver where one model was evaluated with several."""
    solvers = dict[str, set[str]]()
    for log in found:
        solvers.setdefault(log.spec["model"], set()).add(str(log.spec.get("solver")))
    return [
        log.spec["model"] if len(solvers[log.spec["model"]]) == 1 else f"{log.spec['model']}, {log.spec.get('solver')}"
        for log in found
    ]


def _row(sample: Mapping[str, Any], left_out: dict[str, str]) -> dict[str, Any]:
    """Return the scores of a sample; none where it failed."""
    row = {"item": sample["id"], "run": sample["epoch"]}
    row |= evaluation_logs.passages_of(sample.get("metadata"))
    row["state"] = "failed" if sample.get("error") else "complete"
    for scorer, score in (sample.get("scores") or {}).items():
        value = score["value"]
        parts = {scorer: value}
        if isinstance(value, Mapping):
            parts = {f"{scorer}/{name}": part for name, part in value.items()}
        for name, part in parts.items():
            number = _number(part)
            if number is None:
                left_out.setdefault(name, str(part))
            else:
                row[name] = number
    return row


def _number(value: Any) -> float | None:
    """Return a value as a number, as Inspect itself counts it; None where it is none."""
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    if value in _VALUES:
        return _VALUES[value]
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def is_log(path: Path) -> bool:
    """Return whether a file begins like a log of Inspect."""
    head = beginning(path, 1 << 12).lstrip()
    if head.startswith(b"PK"):
        return path.suffix == ".eval"
    return head.startswith(b"{") and b'"eval_id"' in head and b'"version"' in head
