"""Episodes of Stable-Baselines3: of training, which its Monitor logs, and of evaluations."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype

from xcurves.core.refusal import Refusal
from xcurves.readers.formats import delimited
from xcurves.readers.log_files import Run, say_cut, whole_lines
from xcurves.readers.open_files import (
    beginning,
    open_arrays,
    read_bytes,
    read_text,
)

_MONITOR = {"r": "return", "l": "episode_length", "t": "time"}
_CELLS = 4  # of a line | name | value |, cut at its bars
_EVALUATIONS = {
    "results": "return",
    "ep_lengths": "episode_length",
    "successes": "success",
}


def read_episodes(files: Sequence[Path]) -> Run:
    """Return the episodes of one run, of parallel environments in the order of time."""
    found, began, cut = zip(*map(_monitor, files), strict=True)
    rows = pd.concat(found, ignore_index=True)
    if len(files) > 1:
        rows["time"] += np.repeat(np.subtract(began, min(began)), [len(each) for each in found])
        rows = rows.sort_values("time", kind="stable", ignore_index=True)
    rows.insert(1, "episode", range(1, len(rows) + 1))
    rows.insert(2, "step", rows["episode_length"].cumsum())
    return Run(rows, "; ".join(filter(None, cut)))


def _monitor(path: Path) -> tuple[pd.DataFrame, float, str]:
    """Return the episodes of one file, the time at which it was begun, and what of it is left out."""
    lines, cut = whole_lines(read_bytes(path), path)
    header, _, table = lines.partition(b"\n")
    try:
        about = json.loads(header.removeprefix(b"#"))
        began, env = float(about["t_start"]), about.get("env_id")
        if not math.isfinite(began):
            raise ValueError
    except (ValueError, TypeError, LookupError, RecursionError):
        first = f"its first line must be a JSON header with t_start; got {header[:60].decode(errors='replace')!r}"
        raise Refusal("path", str(path), f"{path} is no Monitor log: {first}", "Remove it") from None

    if b"\n#{" in table:
        line = 2 + table[: table.index(b"\n#{") + 1].count(b"\n")
        raise Refusal(
            "path",
            str(path),
            f"{path}: line {line} is a header again: two logs in one file",
            "Make a file of each",
        )
    rows = delimited.parse(table, path, first_line=2, skipinitialspace=True)

    try:
        numbers = {column: pd.to_numeric(rows.pop(name)) for name, column in _MONITOR.items()}
        if any(column.isna().any() for column in numbers.values()):
            raise ValueError("a row lacks r, l or t")
        lengths = numbers["episode_length"]
        if not is_integer_dtype(lengths) or (lengths < 0).any() or lengths.astype(float).sum() >= 2**63:
            raise ValueError(f"lengths must be whole numbers that sum to less than 2**63; got {lengths.max()}")
    except (ValueError, KeyError) as error:
        raise Refusal(
            "path",
            str(path),
            f"{path} is no Monitor log of columns r, l, t: {error}",
            "Correct or remove it",
        ) from None
    return (
        pd.DataFrame({"env": env} | numbers | dict(rows.items()), index=rows.index),
        began,
        cut,
    )


def read_evaluations(files: Sequence[Path]) -> Run:
    """Return a row for each episode of an evaluation."""
    (path,) = files
    with open_arrays(path) as saved:
        arrays = {name: saved[name] for name in ("timesteps", *_EVALUATIONS) if name in saved}
    shapes = {name: array.shape for name, array in arrays.items()}
    steps = shapes.pop("timesteps", ())
    alike = len(set(shapes.values())) == 1 and shapes.get("results", ())[:1] == steps and len(steps) == 1
    if not alike or len(shapes["results"]) != 2:
        raise ValueError(f"arrays must have one shape (timesteps, episodes); got {shapes}")

    n_episodes = shapes["results"][1]
    rows = {
        "step": np.repeat(arrays["timesteps"], n_episodes),
        "episode": np.tile(np.arange(n_episodes), steps[0]),
    }
    for name, column in _EVALUATIONS.items():
        if name in arrays:
            rows[column] = arrays[name].ravel()
    return Run(pd.DataFrame(rows))


def read_tables(files: Sequence[Path]) -> Run:
    """Return a row for each table of a log.txt, its names as progress.csv has them: rollout/ep_rew_mean.

    stable_baselines3/common/logger.py, HumanOutputFormat: a name that ends in / stands over those indented below it.
    """
    (path,) = files
    *lines, last = read_text(path).split("\n")
    rows, row, group = list[dict[str, float]](), dict[str, float](), ""
    for line in lines:
        if line.startswith("---"):
            if row:
                rows.append(row)
            row, group = {}, ""
            continue
        cells = line.split("|")
        if len(cells) != _CELLS:
            continue
        name, value = cells[1].rstrip(), cells[2].strip()
        if name.endswith("/"):
            group = name.strip()
        elif _is_number(value):
            of_group = group if name.startswith("    ") else ""
            row[of_group + name.strip()] = float(value)
    left_out = say_cut(path, last)
    if row and not left_out:
        left_out = f"{path}: the last table is cut short and left out"
    return Run(pd.DataFrame(rows), left_out)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_table(path: Path) -> bool:
    """Return whether a log.txt is of tables, which progress.csv beside it would have with all digits."""
    lines = beginning(path, 1 << 12).decode(errors="replace").split("\n")
    of_dashes = [place for place, line in enumerate(lines) if line.startswith("---")]
    if (path.parent / "progress.csv").is_file() or not of_dashes:
        return False
    below = "".join(lines[of_dashes[0] + 1 : of_dashes[0] + 2])
    return below.count("|") == _CELLS - 1 and below.startswith("|")
