"""Searches of hyperparameters: the trials of HpBandSter and of SMAC, in the order in which they were made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core import provenance
from xcurves.core.names import CONFIG
from xcurves.core.refusal import Refusal
from xcurves.readers.formats.json_rows import parse
from xcurves.readers.log_files import Run, check_cells, whole_lines
from xcurves.readers.open_files import read_bytes, read_text

# smac/runhistory/enumerations.py of version 2; version 1 writes the names.
_STATUS = {0: "RUNNING", 1: "SUCCESS", 2: "CRASHED", 3: "TIMEOUT", 4: "MEMORYOUT"}
_FAILED = {"CRASHED", "TIMEOUT", "MEMORYOUT", "MEMOUT", "CAPPED"}
# How the lists of older versions are ordered; the key and the value of version 1 stand in a list of their own.
_V2 = "config_id instance seed budget cost time status starttime endtime additional_info"
_KEY = "config_id instance seed budget"
_VALUE = "cost time status starttime endtime additional_info"
_VALUE_OF_OLD = "cost time status additional_info"


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{CONFIG}{name}": value for name, value in config.items()}


def read_hpbandster(files: Sequence[Path]) -> Run:
    """Return a row for each configuration and budget, in the order in which they ended; what failed has no loss."""
    (path,) = files
    configs = path.with_name("configs.json")
    known = {}
    if configs.is_file():
        known = {tuple(place): config for place, config, *_ in _json_lines(configs)}
    rows = list[dict[str, Any]]()
    whole, cut = whole_lines(read_bytes(path), path)
    for place, budget, _, result, error in map(json.loads, whole.splitlines()):
        failed = error is not None or not isinstance(result, dict)
        rows.append(
            {
                "trial_number": len(rows) + 1,
                "config_id": "/".join(map(str, place)),
                "budget": budget,
                "state": "failed" if failed else "complete",
                "loss": None if failed else float(result["loss"]),
            }
            | _settings(known.get(tuple(place), {}))
        )
    return Run(_trials(rows, path, "loss"), cut)


def _json_lines(path: Path) -> Iterator[Any]:
    for number, line in enumerate(read_text(path).splitlines(), 1):
        yield parse(line, f"{path}: line {number}")


def read_smac(files: Sequence[Path]) -> Run:
    """Return a row for each trial that ended, with its cost; what failed has none."""
    (path,) = files
    said = parse(read_text(path), path)
    rows, running = list[dict[str, Any]](), 0
    for entry in said["data"]:
        trial = _trial(entry)
        status = trial["status"]
        if isinstance(status, Mapping):
            status = status["__enum__"].rpartition(".")[2]
        status = _STATUS.get(status, status)
        if status not in _FAILED and status != "SUCCESS":
            running += 1
            continue
        cost = trial["cost"]
        if isinstance(cost, list):
            raise Refusal(
                "path",
                str(path),
                f"{path} has costs of {len(cost)} objectives; scores need one",
                "Write one of them",
            )
        row = {"trial_number": len(rows) + 1, "config_id": trial["config_id"]}
        row |= {name: trial[name] for name in ("instance", "seed", "budget") if trial.get(name) is not None}
        row["state"] = "failed" if status in _FAILED else "complete"
        row |= {
            "cost": None if status in _FAILED else float(cost),
            "time": trial["time"],
        }
        config = (said.get("configs") or {}).get(str(trial["config_id"]), {})
        rows.append(row | _settings(config))
    if running:
        provenance.warn(f"{path}: {running} trials without a result are left out")
    return Run(_trials(rows, path, "cost"))


def _trial(entry: Any) -> dict[str, Any]:
    """Return a trial by names: version 2.3 writes them, 2.0 a list, version 1 a list of key and value."""
    if isinstance(entry, dict):
        return entry
    if isinstance(entry[0], list):
        key, value = entry
        names = _VALUE if len(value) > len(_VALUE_OF_OLD.split()) else _VALUE_OF_OLD
        return dict(zip(_KEY.split(), key, strict=False)) | dict(zip(names.split(), value, strict=True))
    return dict(zip(_V2.split(), entry, strict=True))


def _trials(rows: list[dict[str, Any]], path: Path, score: str) -> pd.DataFrame:
    """Return trials as a table, without the state where all are complete, with the lowest score so far.

    That is none where trials have several budgets, instances or seeds, on which scores do not compare.
    """
    table = check_cells(pd.DataFrame(rows), path)
    kinds = [name for name in ("budget", "instance", "seed") if name in table]
    if len(table) and not any(len(table[name].unique()) > 1 for name in kinds):
        table[f"best_{score}"] = table[score].astype("float64").cummin().ffill()
    if len(table) and table["state"].eq("complete").all():
        table = table.drop(columns="state")
    return table
