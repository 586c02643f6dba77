"""Scalars of ClearML, as `Task.get_reported_scalars` returns them, written as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core.refusal import Refusal
from xcurves.readers.formats.json_rows import parse, parsed
from xcurves.readers.log_files import Run, check_cells
from xcurves.readers.open_files import HEAD, beginning, read_text


def read_run(files: Sequence[Path]) -> Run:
    """Return a row for each step, x, with a column for each series, called title/series."""
    columns: dict[str, pd.Series[float]] = {}
    for path in files:
        for title, group in parse(read_text(path), path).items():
            for name, points in group.items():
                series = pd.Series(points["y"], points["x"], float)
                if not series.index.is_unique or f"{title}/{name}" in columns:
                    raise Refusal(
                        "path",
                        str(path),
                        f"{path} has {title}/{name} twice at one step",
                        "Remove one of them",
                    )
                columns[f"{title}/{name}"] = series
    rows = pd.DataFrame(columns).rename_axis("step").sort_index().reset_index()
    return Run(check_cells(rows, files[0]))


def is_log(path: Path) -> bool:
    """Return whether a file begins like reported scalars."""
    head = beginning(path, HEAD).lstrip()
    if not (head.startswith(b"{") and b'"x"' in head and b'"y"' in head):
        return False
    said: Any = parsed(read_text(path, errors="replace"))
    if not isinstance(said, dict):
        return False
    groups = [group for group in said.values() if isinstance(group, Mapping) and group]
    return len(groups) == len(said) and all(
        isinstance(points, Mapping) and {"x", "y"} <= set(points) for group in groups for points in group.values()
    )
