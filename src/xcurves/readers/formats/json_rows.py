"""JSON: an object for each line, records, columns, or metrics nested in mappings whose lists go over steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_object_dtype

from xcurves.core.direction import looks_like_score, says_higher
from xcurves.core.names import RUN_LABEL, dim_of
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.readers.formats.learning_curves import folds_of
from xcurves.readers.log_files import Run, check_cells, say_cut
from xcurves.readers.open_files import read_text

_BATCH = 50_000  # lines that are parsed together: a tenth of the memory of all


def are_lines(begin: str) -> bool:
    """Return whether the first line that is not blank is a whole object of JSON, with others behind it or alone."""
    lines = begin.split("\n")
    first = parsed(lines[0])
    if not isinstance(first, dict) or not _has_number(first):
        return False
    rest = next((line for line in lines[1:] if line.strip()), "")
    said = [name for name, _ in flat(first)]
    alone = any(looks_like_score(name) for name in said) and any(dim_of(name) == "training" for name in said)
    return rest.lstrip().startswith("{") or (not rest and alone and _rows_of(first) is None)


def is_value(begin: str, path: Path, *, whole: bool) -> bool:
    """Return whether a file is one value of JSON that has rows; its beginning may be the `whole` of it."""
    if not whole:
        begin = read_text(path, errors="replace")
    return _rows_of(parsed(begin)) is not None


def read_lines(data: bytes, path: Path) -> Run:
    """Return a row for each line, nested names joined by "/"; a last line that is not whole is left out and said."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    whole, end, cut = data.rpartition(b"\n")
    if cut.strip() and parsed(cut.decode(errors="replace")) is not None:
        whole, end, cut = data, b"", b""
    lines = [line for line in (whole + end).splitlines() if line.strip()]
    batches = [_batch(lines[start : start + _BATCH], path, start) for start in range(0, len(lines), _BATCH)]
    rows = pd.DataFrame()
    if batches:
        rows = pd.concat(batches, ignore_index=True)
    return Run(rows, say_cut(path, cut.decode(errors="replace").strip()))


def read(data: bytes, path: Path) -> Run:
    """Return the rows of one value of JSON."""
    rows = _rows_of(parse(data.decode("utf-8-sig"), path))
    if rows is None:
        raise Refusal(
            "path",
            str(path),
            f"{path} has no records and no lists of one length",
            "Remove it",
        )
    return Run(check_cells(rows, path))


def read_records(text: str, key: str, path: Path) -> pd.DataFrame:
    """Return the records that a value of JSON has under a key."""
    return pd.DataFrame(parse(text, path)[key])


class TwiceError(ValueError):
    """A key that an object of JSON has twice: of its values JSON's own readers keep the last, unsaid."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON whose keys differ."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise TwiceError(next(key for key in keys if keys.count(key) > 1))
    return made


def parse(text: str | bytes, where: object) -> Any:
    """Return a value of JSON; `where` it stands is said if one of its objects has a key twice."""
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except TwiceError as error:
        raise Refusal(
            "path",
            UNSAID,
            f"{where} has the key {str(error)!r} twice in one object",
            "Rename or remove one of them",
        ) from None


def flat(nested: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single values of nested mappings, their names joined by "/"; lists and nulls are left out."""
    for name, value in nested.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}/")
        elif isinstance(value, str | int | float):
            yield f"{prefix}{name}", value


def table_of(records: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a row for each record, nested names joined by "/"; lists and nulls are left out."""
    try:
        table = pd.json_normalize(records, sep="/")
    except OverflowError:  # of pandas 2, of an integer that no float holds
        table = pd.DataFrame([dict(flat(row)) for row in records], dtype=object)
    for name in [each for each in table if is_object_dtype(table[each])]:
        values = table[name]
        single = values.map(lambda value: not isinstance(value, list)) & values.notna()
        if not single.any():
            table = table.drop(columns=name)
        elif not single.all():
            table[name] = values.where(single)
    return table


def _batch(lines: Sequence[bytes], path: Path, start: int) -> pd.DataFrame:
    try:
        found = json.loads(b"[" + b",".join(lines) + b"]", object_pairs_hook=unique_keys)
        if len(found) != len(lines):
            raise ValueError("a line has several values")
    except ValueError:
        found = [_line(line, path, start + number) for number, line in enumerate(lines)]
    if not all(isinstance(row, dict) for row in found):
        number = next(place for place, row in enumerate(found) if not isinstance(row, dict))
        raise Refusal(
            "path",
            str(path),
            f"{path}: line {start + number + 1} is no object of JSON",
            "Remove it",
        )
    if any(isinstance(value, dict | list) or value is None for row in found for value in row.values()):
        return check_cells(table_of(found), path)
    return check_cells(pd.DataFrame(found), path)


def _line(line: bytes, path: Path, number: int) -> Any:
    try:
        return parse(line, f"{path}: line {number + 1}")
    except Refusal:
        raise
    except ValueError as error:
        raise Refusal(
            "path",
            str(path),
            f"{path}: line {number + 1} is no JSON: {error}",
            "Correct or remove it",
        ) from None


def parsed(text: str) -> Any:
    """Return a value of JSON, None of a text that is none: to see whose a file is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _has_number(row: Mapping[str, Any]) -> bool:
    """Return whether a row has a number, or says whether an answer is correct."""
    return any(_is_number(value) or (value in (True, False) and looks_like_score(name)) for name, value in flat(row))


def _rows_of(value: Any) -> pd.DataFrame | None:
    """Return the rows of a value of JSON, or None if it has none."""
    if isinstance(value, list):
        return _of_records(value)
    if not isinstance(value, dict) or not value:
        return None
    if "data" in value and isinstance(value.get("columns"), list) and isinstance(value["data"], list):
        # pandas' orient="split"
        return pd.DataFrame(value["data"], columns=value["columns"])
    rows = _of_learning_curves(value)
    if rows is None:
        rows = _of_nested(value)
    if rows is not None:
        return rows
    lists = dict(_lists(value))
    columns = {name: column for name, column in lists.items() if not any(isinstance(x, dict | list) for x in column)}
    # one list may be a setting: layers
    measured = len(columns) > 1 or any(map(looks_like_score, columns))
    if measured and len({len(column) for column in columns.values()}) == 1:
        return _of_columns(columns)
    tables = [rows for rows in map(_of_records, lists.values()) if rows is not None and len(rows)]
    if len(tables) == 1:
        return tables[0]
    inner = list(value.values())
    alike = all(isinstance(each, dict) and each for each in inner) and len({tuple(each) for each in inner}) == 1
    # pandas' orient="columns"
    if alike and all(str(key).isdecimal() for key in inner[0]):
        return pd.DataFrame({name: list(column.values()) for name, column in value.items()})
    # pandas' orient="index"
    if alike and all(str(key).isdecimal() for key in value):
        return _of_records([value[key] for key in sorted(value, key=int)])
    row = dict(flat(value))
    scores = [name for name, each in row.items() if isinstance(each, float)]
    if not lists and any(looks_like_score(name) or says_higher(name) is not None for name in scores):
        return pd.DataFrame([row])
    return None


def _of_records(value: list[Any]) -> pd.DataFrame | None:
    if not value or not all(isinstance(row, dict) for row in value) or not any(map(_has_number, value)):
        return None
    return table_of(value)


def _of_learning_curves(value: dict[str, Any]) -> pd.DataFrame | None:
    """Return the scores of folds that learning_curve of scikit-learn returns: of one algorithm, or of each by name."""
    rows = folds_of(value)
    if rows is not None:
        return rows
    tables = {name: folds_of(each) if isinstance(each, dict) else None for name, each in value.items()}
    of_each = {name: table for name, table in tables.items() if table is not None}
    if len(of_each) < len(tables):
        return None
    return pd.concat(of_each, names=["algorithm"]).reset_index(level=0).reset_index(drop=True)


def _of_nested(value: dict[str, Any]) -> pd.DataFrame | None:
    """Return metrics below two or more levels of names, of which one numbers runs, with a column for each level.

    {"ppo": {"seed0": {"return": [1, 2]}}}: the place in a list is the step. None of other values.
    """
    found = list(_metrics_below(value))
    depths = {len(keys) for keys, _ in found}
    metrics = {tuple(sorted(each)) for _, each in found}
    if len(depths) != 1 or len(metrics) != 1 or depths == {1} or not any(map(looks_like_score, *metrics)):
        return None
    levels = list(zip(*(keys for keys, _ in found), strict=True))
    of_runs = [place for place, labels in enumerate(levels) if all(map(RUN_LABEL.fullmatch, labels))]
    others = [place for place, labels in enumerate(levels) if place not in of_runs and len(set(labels)) > 1]
    if len(of_runs) != 1 or not others:
        return None
    (run,) = of_runs
    names = {run: "run", others[0]: "algorithm"}
    if len(others) > 1:
        names = {run: "run"} | {place: f"key{place + 1}" for place in others}
    if not any(isinstance(metric, list) for metric in found[0][1].values()) and _may_be_steps(levels[run]):
        names[run] = f"key{run + 1}"
    tables = []
    for keys, each in found:
        lengths = {len(metric) for metric in each.values() if isinstance(metric, list)}
        if len(lengths) > 1:
            return None
        table = pd.DataFrame(each, index=range(*lengths) if lengths else [0])
        if lengths:
            table.insert(0, "step", range(1, len(table) + 1))
        for place in sorted(names, reverse=True):
            is_number = place == run and keys[place].isdecimal()
            table.insert(0, names[place], int(keys[place]) if is_number else keys[place])
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _may_be_steps(labels: Sequence[str]) -> bool:
    """Return whether labels of runs are bare numbers at equal distances, three or more: steps are called so too."""
    known = sorted({int(label) if label.isdecimal() else -1 for label in labels})
    return len(known) > 2 and known[0] >= 0 and len({after - at for at, after in pairwise(known)}) == 1


def _metrics_below(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the innermost mappings of nested ones, of numbers or of lists of numbers, with the keys above each."""
    if not isinstance(value, dict) or not value:
        return
    inner = list(value.values())
    if all(isinstance(each, dict) for each in inner):
        for key, each in value.items():
            yield from _metrics_below(each, (*keys, key))
    elif not any(isinstance(each, dict) for each in inner) and (
        all(map(_is_number, inner)) or all(isinstance(each, list) and all(map(_is_number, each)) for each in inner)
    ):
        yield keys, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _frame(values: dict[str, list[Any]]) -> pd.DataFrame:
    """Return values as a table; pandas 2 refuses integers that no float holds, which are objects from pandas 3 on."""
    try:
        return pd.DataFrame(values)
    except OverflowError:
        return pd.DataFrame(values, dtype=object)


def _of_columns(columns: dict[str, list[Any]]) -> pd.DataFrame | None:
    """Return lists of one length as columns."""
    rows = _frame(columns)
    if not len(rows) or not len(rows.select_dtypes("number").columns):
        return None
    return rows


def _lists(nested: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, list[Any]]]:
    for name, value in nested.items():
        if isinstance(value, Mapping):
            yield from _lists(value, f"{prefix}{name}/")
        elif isinstance(value, list):
            yield f"{prefix}{name}", value
