"""Times of pytest-benchmark, of which each file has the mean of some rounds, and of hyperfine, which has each run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core.refusal import Refusal
from xcurves.readers import logs
from xcurves.readers.formats.json_rows import parse
from xcurves.readers.log_files import Run, check_cells, parsing
from xcurves.readers.open_files import HEAD, beginning, read_text
from xcurves.readers.packages import PYTEST_BENCHMARK

_OBJECT = re.compile(r"UNSERIALIZABLE\[<(?:class|module|function|built-in function|bound method) '?([\w.]+)")


def read_times(path: str | Path) -> pd.DataFrame:
    """Return a row for each benchmark and file, with a column for each parameter that varies; a file is a run."""
    rows = list[dict[str, Any]]()
    files = logs.find_logs(path, PYTEST_BENCHMARK)
    for file in files:
        with parsing(file, PYTEST_BENCHMARK.what):
            rows += _times_in(parse(read_text(file), file), file)
    frame = pd.DataFrame(rows)
    varied = [name for name in frame if name in ("run", "time") or len(frame[name].astype(str).unique()) > 1]
    frame = check_cells(frame[varied], files[0])
    frame.attrs = {
        "source": f"{PYTEST_BENCHMARK.what} {logs.where(path)}",
        "units": dict(PYTEST_BENCHMARK.units),
        "named_by": "each file is a run, as the rounds of one process are not independent: time is their mean",
    }
    return frame


def _times_in(said: Mapping[str, Any], file: Path) -> list[dict[str, Any]]:
    """Return the rows of the benchmarks of a file, those of unlike names of parameters without these."""
    found: list[Mapping[str, Any]] = said["benchmarks"]
    if not found:
        raise Refusal("path", str(file), f"{file} has no benchmarks", "Remove it")
    commit = str((said.get("commit_info") or {}).get("id", ""))
    alike = len({tuple(sorted(each.get("params") or {})) for each in found}) == 1
    rows = []
    for each in found:
        params = {str(name): _label(value) for name, value in (each.get("params") or {}).items()}
        test = each["fullname"].partition("[")[0] if alike else each["fullname"]
        labels = {"build": commit, "group": each.get("group") or "", "benchmark": test} | (params if alike else {})
        rows.append({"run": file.stem} | labels | {"time": float(each["stats"]["mean"])})
    return rows


def _label(value: Any) -> Any:
    """Return a parameter, of an object the name of its function or class."""
    match = _OBJECT.match(value) if isinstance(value, str) else None
    return match[1] if match else value


def is_benchmark(path: Path) -> bool:
    """Return whether a file begins like saved results of pytest-benchmark."""
    head = beginning(path, HEAD).lstrip()
    return head.startswith(b"{") and b'"machine_info"' in head and b'"benchmarks"' in head


def read_commands(files: Sequence[Path]) -> Run:
    """Return a row for each run of each command, with its parameters; a run with another exit status has no time."""
    rows = list[dict[str, Any]]()
    for file in files:
        for each in parse(read_text(file), file)["results"]:
            codes = each.get("exit_codes") or [0] * len(each["times"])
            about = {"command": each["command"]} | (each.get("parameters") or {})
            for run, (time, code) in enumerate(zip(each["times"], codes, strict=True)):
                rows.append({"run": run} | about | {"time": time if code == 0 else None})
    return Run(check_cells(pd.DataFrame(rows), files[0]))


def is_hyperfine(path: Path) -> bool:
    """Return whether a file begins like what hyperfine exports."""
    head = beginning(path, HEAD).lstrip()
    return head.startswith(b"{") and b'"results"' in head and b'"command"' in head and b'"times"' in head
