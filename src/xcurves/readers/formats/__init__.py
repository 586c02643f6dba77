"""Formats: from the bytes of a file to rows, by what the file holds and not by its name.

A format knows nothing of packages that write it; sources say which files are theirs, and what the columns are.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from xcurves.core.calls import later
from xcurves.core.refusal import Refusal
from xcurves.readers.formats import delimited
from xcurves.readers.log_files import Run, check_cells, needed, parsing, whole_lines
from xcurves.readers.open_files import (
    HEAD,
    TooLargeError,
    array_shapes,
    beginning,
    read_bytes,
    read_text,
)

if TYPE_CHECKING:
    from xcurves.readers.formats import arrays, json_rows, text_lines
else:
    arrays, json_rows, text_lines = later(__package__, "arrays", "json_rows", "text_lines")

_NO_LOGS = (  # how names of files begin that are no logs
    *(
        "readme",
        "license",
        "licence",
        "requirements",
        "changelog",
        "changes",
        "config",
        "args",
        "hparams",
        "params",
    ),
    *(
        "cfg",
        "hydra",
        "overrides",
        "setup",
        "environment",
        "package",
        "meta",
        "metadata",
        "model",
    ),
    *("wandb-summary", "wandb-metadata"),
)
_LONG_HEAD = 1 << 20
# what a file of a format holds
SCORES, RUN, LINES = "a row for each score", "one run", "lines with a step"


class Format(NamedTuple):
    """A format of files: whether a beginning is of it, and the rows of a whole file."""

    name: str
    begins: Callable[[bytes, Path], bool]
    read: Callable[[bytes, Path], Run]
    endings: tuple[str, ...]  # of names of such files
    holds: str = SCORES


def _is_parquet(head: bytes, _: Path) -> bool:
    return head.startswith(b"PAR1")


def _parquet(data: bytes, path: Path) -> Run:
    needed("pyarrow", "polars", "pyarrow")
    rows = pd.read_parquet(io.BytesIO(data))
    unnamed = isinstance(rows.index, pd.RangeIndex) or rows.index.names == [None]
    if not unnamed:  # pandas' own index, of columns set as such
        rows = rows.reset_index()
    return Run(check_cells(rows, path))


def _are_arrays(head: bytes, path: Path) -> bool:
    """Return whether a file is of arrays of which one is 1-D; others are scores of several algorithms."""
    return head.startswith(b"PK\x03\x04") and any(len(shape) == 1 for shape in array_shapes(path))


def _is_array(head: bytes, _: Path) -> bool:
    return head.startswith(b"\x93NUMPY")


def _are_json_lines(head: bytes, _: Path) -> bool:
    text = _text_of(head)
    return text.startswith("{") and json_rows.are_lines(text)


def _is_json(head: bytes, path: Path) -> bool:
    text = _text_of(head)
    return text.startswith(("{", "[")) and json_rows.is_value(text, path, whole=len(head) < HEAD)


def _text_of(head: bytes) -> str:
    return head.decode("utf-8-sig", "replace").lstrip()


class Look(NamedTuple):
    """The format to which a file is nearest, nothing if to none, and what to say of it."""

    format: str
    said: str


FORMATS = (  # in the order in which a file is compared with them
    Format("parquet", _is_parquet, _parquet, (".parquet", ".pq")),
    Format("npz", _are_arrays, arrays.read, (".npz",)),
    Format("npy", _is_array, arrays.read_one, (".npy",), RUN),
    Format("JSON lines", _are_json_lines, json_rows.read_lines, (".jsonl", ".ndjson")),
    Format("JSON", _is_json, json_rows.read, (".json",)),
    Format("delimited", delimited.begins, delimited.read, (".csv", ".tsv", ".dat", ".data")),
    Format("text lines", text_lines.begins, text_lines.read, (".txt", ".log", ".out"), LINES),
)


def names_of(holds: str) -> tuple[str, ...]:
    """Return the names of the formats that hold such a thing, the most usual first."""
    return tuple(each.name for each in reversed(FORMATS) if each.holds == holds)


def listed_of(holds: str) -> str:
    """Return the same as words."""
    *names, last = names_of(holds)
    return f"{', '.join(names)} or {last}" if names else last


def format_of(path: Path) -> str:
    """Return the name of the format of a file, nothing if it is of none."""
    try:
        head = beginning(path, HEAD)
        if not head.strip():
            return ""
        return next((each.name for each in FORMATS if each.begins(head, path)), "")
    except TooLargeError:
        raise
    except (
        OSError,
        EOFError,
        ValueError,
        NotImplementedError,  # of a compression that zipfile does not know
        RecursionError,
        zlib.error,
        zipfile.BadZipFile,
    ):
        return ""


def looks_like(path: Path) -> Look:
    """Return what a file that is of no format is nearest to, and what it lacks."""
    try:
        head = beginning(path, HEAD)
    except (OSError, EOFError, zlib.error):
        return Look("", "a compressed file that is damaged")
    text = head.decode("utf-8-sig", "replace").strip()
    if not text:
        return Look("", "an empty file")
    if head.startswith(b"SQLite format 3"):
        return Look("SQLite", "a database of another program, or a damaged one")
    if head.startswith(b"PK") and b"xl/" in beginning(path, _LONG_HEAD):
        return Look("", "a spreadsheet: save each sheet as CSV")
    if head.startswith(b"\x80") and path.suffix in (".pkl", ".pickle"):
        return Look("", "a pickle, which is never loaded: save its table as CSV")
    if head.startswith(b"PK"):
        return Look("npz", "a zip file without arrays, or a damaged one")
    if b"\0" in head and not head.startswith(delimited.BOMS):
        return Look("", "no text")
    if text.startswith(("{", "[")):
        if "\n{" in text:
            return Look("JSON lines", "JSON lines without a number in the first")
        return Look("JSON", "JSON without records of numbers or lists of one length")
    if delimited.has_fields(head, path):
        return Look(
            "delimited",
            "a table with rows of unlike lengths or without a column of numbers",
        )
    return Look("text lines", "text without a line such as 'step 1: loss 2.5'")


def could_be_log(path: Path) -> bool:
    """Return whether the name of a file does not say that it is a configuration, a list of packages or a text to read.

    It is for files found below a folder; one that is named is read whatever its name.
    """
    plain = path.name.lower().removesuffix(".gz")
    ending = Path(plain).suffix
    stem = plain.partition(".")[0]
    known = any(ending in each.endings for each in FORMATS)
    return known and not any(stem == word or stem.startswith((f"{word}_", f"{word}-")) for word in _NO_LOGS)


def read_rows(path: Path, name: str = "", *, cut: bool = False) -> Run:
    """Return the rows of a file of any format, or of the one that is named.

    With `cut`, the last line of a table is left out where it has no end, for it is being written.
    """
    name = name or format_of(path)
    known = {each.name: each for each in FORMATS}
    if name not in known:
        raise Refusal(
            "path",
            str(path),
            f"{path} has no rows that are known: no {listed_of(SCORES)}, no {listed_of(RUN)}, no {LINES}",
            "Remove it",
        )
    with parsing(path, name):
        data, left_out = read_bytes(path), ""
        if cut and name == "delimited" and not data.startswith(delimited.BOMS):
            data, left_out = whole_lines(data, path)
        run = known[name].read(data, path)
        return Run(run.rows, run.left_out or left_out)


def read_records(path: Path, key: str) -> Run:
    """Return the records that a file of JSON has under a key."""
    return Run(check_cells(json_rows.read_records(read_text(path), key, path), path))
