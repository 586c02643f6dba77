"""Formats: from the bytes of a file to rows, by what the file holds and not by its name.

A format knows nothing of packages that write it; sources say which files are theirs, and what the columns are.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from xcurves.core.refusal import Refusal
from xcurves.readers.formats import arrays, delimited, json_rows, text_lines
from xcurves.readers.log_files import Run, check_cells, needed, parsing, whole_lines
from xcurves.readers.open_files import (
    HEAD,
    TooLargeError,
    beginning,
    read_bytes,
    read_text,
)

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
_ENDINGS = {
    ".csv",
    ".tsv",
    ".txt",
    ".log",
    ".out",
    ".dat",
    ".data",
    ".json",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".pq",
}
_ENDINGS |= {".npz", ".npy"}


class Format(NamedTuple):
    """A format of files: whether a beginning is of it, and the rows of a whole file."""

    name: str
    begins: Callable[[bytes, Path], bool]
    read: Callable[[bytes, Path], Run]


def _is_parquet(head: bytes, _: Path) -> bool:
    return head.startswith(b"PAR1")


def _parquet(data: bytes, path: Path) -> Run:
    needed("pyarrow", "polars", "pyarrow")
    rows = pd.read_parquet(io.BytesIO(data))
    unnamed = isinstance(rows.index, pd.RangeIndex) or rows.index.names == [None]
    if not unnamed:  # pandas' own index, of columns set as such
        rows = rows.reset_index()
    return Run(check_cells(rows, path))


class Look(NamedTuple):
    """The format to which a file is nearest, nothing if to none, and what to say of it."""

    format: str
    said: str


FORMATS = (  # in the order in which a file is compared with them
    Format("parquet", _is_parquet, _parquet),
    Format("npz", arrays.begins, arrays.read),
    Format("npy", arrays.is_one, arrays.read_one),
    Format("JSON lines", json_rows.are_lines, json_rows.read_lines),
    Format("JSON", json_rows.is_json, json_rows.read),
    Format("delimited", delimited.begins, delimited.read),
    Format("text lines", text_lines.begins, text_lines.read),
)


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
    return ending in _ENDINGS and not any(
        stem == word or stem.startswith((f"{word}_", f"{word}-")) for word in _NO_LOGS
    )


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
            f"{path} has no rows that are known: no table, JSON, parquet, npz or lines with a step",
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
