"""Runs of optimizers on test functions, by IOHprofiler and COCO: the best value after so many evaluations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core.refusal import UNSAID, Refusal
from xcurves.readers import logs
from xcurves.readers.formats.json_rows import parse
from xcurves.readers.log_files import check_cells, parsing
from xcurves.readers.open_files import read_text
from xcurves.readers.packages import COCO, IOH

_INFO = re.compile(r"(\w{1,40}+) = (?:'([^']*+)'|([^,\s]++))")  # of COCO
_INSTANCE = re.compile(r"(\d++):(\d++)\|")

_A_DECADE = 20  # numbers of evaluations, as COCO has them


class _Runs(NamedTuple):
    """The runs of an algorithm on a function in a file: their instances, and the file of their values."""

    algorithm: str
    task: str
    instances: list[str]
    values: Path


def _joined(path: str | Path, found: Sequence[pd.DataFrame], what: str) -> pd.DataFrame:
    if not found:
        raise Refusal("path", str(path), f"{path}: no run has a value", "Check what was logged")
    frame = check_cells(pd.concat(found, ignore_index=True), Path(path))
    frame.attrs = {
        "source": f"{what} {logs.where(path)}",
        "units": {"evaluations": "evaluations"},
    }
    return frame


def _labelled(runs: _Runs, blocks: Sequence[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the rows of each run, called after its instance, and its number where an instance has several runs."""
    if len(blocks) != len(runs.instances):
        raise Refusal(
            "path",
            UNSAID,
            f"{runs.values} has {len(blocks)} runs, and what describes it {len(runs.instances)}",
            "Copy both again",
        )
    often, seen = Counter(runs.instances), Counter[str]()
    for instance, rows in zip(runs.instances, blocks, strict=True):
        seen[instance] += 1
        run = instance
        if often[instance] > 1:
            run = f"{instance}/{seen[instance]}"
        labels = {"algorithm": runs.algorithm, "task": runs.task, "run": run}
        yield rows.assign(**labels)[[*labels, *rows]]


def _blocks(path: Path, is_header: str) -> list[list[list[str]]]:
    """Return the fields of the lines of each run in a file, which begins with a header."""
    blocks = list[list[list[str]]]()
    if not path.is_file():
        raise Refusal(
            "path", UNSAID, f"{path} is named in what describes the runs, and is not there", "Copy both again"
        )
    for line in read_text(path).splitlines():
        if line.startswith(is_header):
            blocks.append([])
        if line.strip():
            blocks[-1].append(line.replace('"', "").split())
    return blocks


def read_ioh(path: str | Path) -> pd.DataFrame:
    """Return the best value of each run of IOHprofiler so far, at 20 numbers of evaluations in each factor of ten.

    Its files have a row where a value improved, so that the best is known at every number, and one for the last
    evaluation, whose own value is not the best.
    """
    found, ends = list[pd.DataFrame](), set[bool]()
    for file in logs.find_logs(path, IOH):
        with parsing(file, IOH.what):
            said = parse(read_text(file), file)
            ends.add(bool(said["maximization"]))
            for runs in _ioh_runs(said, file):
                blocks = _blocks(runs.values, "evaluations")
                rows = [_best_so_far(block, said["maximization"]) for block in blocks]
                found += _labelled(runs, rows)
    frame = _joined(path, found, IOH.what)
    if len(ends) == 1:
        frame.attrs["higher_is_better"] = int(ends.pop())
    return frame


def _best_so_far(block: Sequence[Sequence[str]], highest: bool) -> pd.DataFrame:
    """Return the best value of a run after these numbers of evaluations, the first, the last and those between."""
    header, *lines = block
    rows = pd.DataFrame(lines, columns=list(header)).astype(float)
    at = rows["evaluations"].to_numpy(int)
    value = rows["raw_y" if "raw_y" in rows else header[1]].to_numpy()
    best = np.maximum.accumulate(value) if highest else np.minimum.accumulate(value)
    n_powers = int(_A_DECADE * np.log10(at[-1])) + 1
    powers = np.round(10 ** (np.arange(n_powers) / _A_DECADE)).astype(int)
    levels = np.union1d(powers[powers >= at[0]], at[-1])
    places = np.searchsorted(at, levels, side="right") - 1
    return pd.DataFrame({"evaluations": levels, "best_y": best[places]})


def _ioh_runs(said: dict[str, Any], path: Path) -> Iterator[_Runs]:
    name = f"f{said['function_id']} {said['function_name']}"
    for scenario in said["scenarios"]:
        yield _Runs(
            said["algorithm"]["name"],
            f"{name}, dim {scenario['dimension']}",
            [str(run["instance"]) for run in scenario["runs"]],
            path.parent / scenario["path"],
        )


def read_coco(path: str | Path) -> pd.DataFrame:
    """Return a row for each logged evaluation of COCO, with the gap of the best value so far to the optimum."""
    found = list[pd.DataFrame]()
    for file in logs.find_logs(path, COCO):
        with parsing(file, COCO.what):
            for runs in _coco_runs(read_text(file), file):
                blocks = [
                    pd.DataFrame(
                        {
                            "evaluations": [int(fields[0]) for fields in lines],
                            "gap": [float(fields[_gap_at(header)]) for fields in lines],
                        }
                    )
                    for header, *lines in _blocks(runs.values, "%")
                ]
                found += _labelled(runs, blocks)
    return _joined(path, found, COCO.what)


def _gap_at(header: Sequence[str]) -> int:
    """Return which field is the best fitness less that of the optimum; its header has bars between names."""
    names = " ".join(header).lstrip("% ").split(" | ")
    return next(place for place, name in enumerate(names) if name.startswith("best noise-free"))


def _coco_runs(text: str, path: Path) -> Iterator[_Runs]:
    """Yield what each line of data says after the line of its function; values by evaluations where there are some."""
    about = dict[str, str]()
    for line in text.splitlines():
        if line.startswith("%") or not line.strip():
            continue
        pairs = {name: text or word for name, text, word in _INFO.findall(line)}
        if "funcId" in pairs:
            about = pairs
            continue
        values, *_ = line.partition(",")
        file = path.parent / values.strip().replace("\\", "/")
        by_evaluations = file.with_suffix(".tdat")
        yield _Runs(
            about.get("algId") or about["algorithm"],
            f"f{about['funcId']}, dim {about.get('DIM') or about['dim']}",
            [instance for instance, _ in _INSTANCE.findall(line)],
            by_evaluations if by_evaluations.is_file() else file,
        )
