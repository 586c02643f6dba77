"""Delimited text: comma, tab, semicolon, pipe or blanks between fields, in UTF-8 or UTF-16."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core.names import dim_of, words_of
from xcurves.core.refusal import Refusal
from xcurves.readers.log_files import Run
from xcurves.readers.open_files import check_text

_DELIMITERS = (",", "\t", ";", "|")
_BLANKS = r"\s+"
_SAMPLE = 50  # lines
_LARGEST_ID = 2**31 - 1  # that is a number
_HEAD = 1 << 18
# Characters of a line of a table of which the delimiter is looked for.
_MOST_LONG = 2000
# below the header of a table in Markdown
_RULE = re.compile(r"\|?[\s:|-]*-[\s:|-]*\|?")
_NUMBER = re.compile(r"[-+]?(?:nan|inf(?:inity)?|(?:\d+[.,]?\d*|[.,]\d+)(?:e[-+]?\d+)?)", re.IGNORECASE)
_WITH_SPREAD = re.compile(r"\d+(?:\.\d+)?\s*%?\s*(?:±|\+/?-|\\pm)\s*\d.*")  # 98.3 ± 1.4
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
BOMS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16


class Dialect(NamedTuple):
    """How a table is written."""

    delimiter: str
    has_header: bool


_NO_DECIMALS = re.compile(r"\.0*$")


def begins(head: bytes, path: Path) -> bool:
    """Return whether a file is a table: names in its first line, and as many fields, some numbers, in the others."""
    try:
        lines = _sample(as_utf8(head, path).decode("utf-8", "replace"))
    except Refusal:
        return False
    dialect = sniff(lines)
    rows = [_fields(line, dialect.delimiter) for line in lines if not _RULE.fullmatch(line)]
    names, n_lines = _names_of_levels(rows)
    if n_lines:
        rows = [names, *rows[n_lines:]]
    if len(head) < _HEAD // 4 and len(rows) > 1 and len(rows[-1]) < len(rows[0]):
        rows = rows[:-1]  # it is being written
    if len(rows) < 2 or len(rows[0]) < 2 or {len(row) for row in rows} != {len(rows[0])}:
        return False
    if dialect.has_header and any(_NUMBER.fullmatch(name) for name in rows[0]):
        return False
    columns = list(zip(*rows[dialect.has_header :], strict=True))
    return any(all(_is_number(cell) or _WITH_SPREAD.fullmatch(cell) for cell in column) for column in columns)


def has_fields(head: bytes, path: Path) -> bool:
    """Return whether most lines of a text have several fields between commas, tabs, semicolons or pipes."""
    lines = _sample(as_utf8(head, path).decode("utf-8", "replace"))
    dialect = sniff(lines)
    several = [len(_fields(line, dialect.delimiter)) > 1 for line in lines]
    return dialect.delimiter != _BLANKS and 2 * sum(several) > len(lines)


def read(data: bytes, path: Path) -> Run:
    """Return the rows of a table; what may be missing at its end is said."""
    return Run(parse(data, path), missing_end(data, path))


def parse(data: bytes, path: Path, first_line: int = 1, **options: Any) -> pd.DataFrame:
    """Return the rows of a table, whose first line is that number of the file; columns have plain names.

    A table without a header has columns "0", "1", ...
    """
    data = as_utf8(data, path)
    check_text(data, path)
    lines = _sample(data[:_HEAD].decode("utf-8", "replace"))
    dialect = sniff(lines)
    if b"#" in data and (data.startswith(b"#") or b"\n#" in data):
        data = _without_comments(data, dialect)
    if dialect.delimiter in ("|", _BLANKS):
        data = _with_tabs(data, dialect.delimiter)
        dialect = dialect._replace(delimiter="\t")
    names, n_levels = _names_of_levels([_fields(line, dialect.delimiter) for line in lines[:3]])
    if n_levels and dialect.delimiter in _DELIMITERS:
        data = _with_names(data, names, n_levels, dialect.delimiter)
        first_line += n_levels - 1
    if not dialect.has_header:
        n_fields = len(_fields(lines[0], dialect.delimiter))
        data = dialect.delimiter.join(map(str, range(n_fields))).encode() + b"\n" + data
        first_line -= 1

    # Whatever is no number in all of its column stays the text that it is: NA, None, 1,234.
    options |= {"index_col": False, "low_memory": False, "sep": dialect.delimiter}
    options = {"keep_default_na": False, "na_values": [""], **options}
    try:
        check_fields(data, path, dialect.delimiter, first_line)
        rows = pd.DataFrame(pd.read_csv(io.BytesIO(data), **options))
    except pd.errors.EmptyDataError:
        raise Refusal("path", str(path), f"{path} is empty", "Write it again, or name another") from None
    except UnicodeDecodeError as error:
        raise Refusal(
            "path",
            str(path),
            f"{path} is no text in UTF-8: {error}",
            "Save it as UTF-8",
        ) from None

    padded = [str(name) for name in rows.columns]
    rows.columns = pd.Index([name.strip() for name in padded])
    if list(rows.columns) != padded:
        for name in rows.select_dtypes(exclude=["number", "bool"]):
            rows[name] = rows[name].map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    for name in [name for name in rows if rows[name].dtype == object]:
        # Whole numbers beyond 64 bits are names of runs.
        rows[name] = rows[name].map(lambda cell: str(cell) if type(cell) is int else cell)
    for name in rows.select_dtypes("integer"):  # such as MLflow's experiment_id, which not every archive holds
        if words_of(name)[-1:] == ["id"] and rows[name].abs().max() > _LARGEST_ID:
            rows[name] = rows[name].astype(str)
    if "dtype" in options:
        return rows
    places = [place for place, name in enumerate(rows) if _is_decimal_label(rows[name])]
    if _has_leading_zeros(data, dialect.delimiter):
        places += [place for place, name in enumerate(rows) if pd.api.types.is_integer_dtype(rows[name])]
    return _as_written(rows, places, data, options)


def _names_of_levels(rows: Sequence[Sequence[str]]) -> tuple[list[str], int]:
    """Return one name of each column, and how many first rows say them, where pandas wrote columns of two levels.

    ,ppo,ppo,sac,sac above ,0,1,0,1 are ppo/0, ppo/1, sac/0, sac/1; a third row with the names of the index alone may be
    below. No name and 0 if they are no levels.
    """
    if len(rows) < 3 or len({len(row) for row in rows[:3]}) > 1:
        return [], 0
    first, second, third = rows[:3]
    n_named = next((place for place, cell in enumerate(third) if not cell), 0)
    has_index = n_named > 0 and not any(third[n_named:])
    n_index = n_named if has_index else 1
    pairs = list(zip(first[n_index:], second[n_index:], strict=True))
    if len({name for name, _ in pairs}) == len(pairs) or len(set(pairs)) < len(pairs) or not all(map(all, pairs)):
        return [], 0
    are_labels = all(cell.isdecimal() or not _is_number(cell) for _, cell in pairs)
    if not are_labels or (second[0] and not has_index):
        return [], 0
    return [*(third[:n_index] if has_index else [""]), *map("/".join, pairs)], 2 + has_index


def _with_names(data: bytes, names: Sequence[str], n_lines: int, delimiter: str) -> bytes:
    """Return a table whose first lines are one line of names."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(names)
    return line.getvalue().encode() + data.lstrip(b"\r\n").split(b"\n", n_lines)[n_lines]


def _is_decimal_label(column: pd.Series[Any]) -> bool:
    """Return whether a column that is named like labels has numbers with decimals: versions 1.1 and 1.10, long ids."""
    return pd.api.types.is_float_dtype(column) and dim_of(column.name) in ("algorithm", "run", "task")


def _has_leading_zeros(data: bytes, delimiter: str) -> bool:
    """Return whether a field may begin with 0 and a digit."""
    # Each by itself: a search for fixed bytes takes a tenth of one for either.
    before = [b"\n", delimiter.encode()]
    if b'"' in data:
        before.append(b'"')
    if any(each + b" " in data for each in before):
        before.append(b" ")
    begins = re.match(rb"\s*0\d", data) is not None
    return begins or any(re.search(re.escape(each) + rb"0\d", data) for each in before)


def _as_written(rows: pd.DataFrame, places: Sequence[int], data: bytes, options: dict[str, Any]) -> pd.DataFrame:
    """Return rows with columns of numbers as text where two are written unlike: run ids "01" and "1"."""
    if not places:
        return rows
    places = sorted(places)
    texts = pd.read_csv(
        io.BytesIO(data),
        **options | {"dtype": str, "usecols": places, "index_col": None},
    )
    texts.columns = rows.columns[places]
    for name in texts:
        written = texts[name].str.strip()
        # 1 and 1.0 are one label.
        if written.str.replace(_NO_DECIMALS, "", regex=True).nunique() > rows[name].nunique():
            rows[name] = written
    return rows


def as_utf8(data: bytes, path: Path) -> bytes:
    """Return a text in UTF-8 without the mark that says in which encoding it was."""
    if data.startswith(BOMS):
        try:
            return data[: len(data) // 2 * 2].decode("utf-16").encode()
        except UnicodeDecodeError as error:
            raise Refusal(
                "path",
                str(path),
                f"{path} is no text in UTF-16: {error}",
                "Save it as UTF-8",
            ) from None
    return data.removeprefix(b"\xef\xbb\xbf")


def sniff(lines: Sequence[str]) -> Dialect:
    """Return how a table is written, of its first lines.

    The delimiter is the one that gives all lines as many fields as the first, at least two; of several, the first of
    comma, tab, semicolon, pipe, blanks with the most fields. Without one, it is the one that the first line has.
    """
    if not lines:
        return Dialect(",", True)
    found = {}
    for place, delimiter in enumerate((*_DELIMITERS, _BLANKS)):
        if delimiter != _BLANKS and delimiter not in lines[0]:
            continue
        sizes = [len(_fields(line, delimiter)) for line in lines if not _RULE.fullmatch(line)]
        if not sizes or sizes[0] < 2:
            continue
        alike = sum(size == sizes[0] for size in sizes)
        # Names with blanks in them, "val loss", are no two fields where something else is between fields.
        found[delimiter] = (
            alike == len(sizes) and alike > 1,
            delimiter != _BLANKS,
            alike,
            sizes[0],
            -place,
        )
    if set(found) == {_BLANKS} and not found[_BLANKS][0]:
        found = {}
    delimiter = max(found, key=lambda each: found[each], default=",")
    rows = [_fields(line, delimiter) for line in lines if not _RULE.fullmatch(line)]
    others = rows[1:]
    if delimiter == _BLANKS:  # the words of "step 1: loss 2" come again in each line of a log
        others = []
    return Dialect(delimiter, not (len(rows[0]) > 1 and _is_row(rows[0], others)))


def _is_row(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return whether a first line has no names: numbers, and beside them only words that stand below them again."""
    if not first[0] and list(first[1:]) == [str(place) for place in range(len(first) - 1)]:
        return False  # columns that pandas numbered, beside an index
    words = {place: cell for place, cell in enumerate(first) if not _is_number(cell)}
    below = [{place: row[place] for place in words if place < len(row)} for row in others]
    return len(words) < len(first) and all(
        any(row.get(place) == word for row in below) for place, word in words.items()
    )


def check_fields(data: bytes, path: Path, delimiter: str = ",", first_line: int = 1) -> None:
    """Refuse a column named twice, a header within, and a row with more or fewer fields."""
    lines = csv.reader(
        io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=""),
        delimiter=delimiter,
    )
    head = next(lines, [])
    names = [name.strip() for name in head]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise Refusal(
            "path",
            str(path),
            f"{path} has {names.count(repeated[0])} columns {repeated[0][:60]!r}",
            "Rename all but one",
        )
    odd = next((row for row in lines if row and (len(row) != len(names) or row == head)), None)
    if odd is None:
        return
    line = f"line {first_line + lines.line_num - 1}"
    if odd == head:
        raise Refusal(
            "path",
            str(path),
            f"{path}: {line} is the header again: two logs in one file",
            "Make a file of each",
        )
    fields = "fields"
    if len(odd) == 1:
        fields = "field"
    says = f"has {len(odd)} {fields} where the header names {len(names)}"
    if len(odd) < len(names) and not any(lines):
        raise Refusal(
            "path",
            str(path),
            f"{path} is cut short: its last line, {line}, {says}",
            "Write it again, or remove that line",
        )
    raise Refusal(
        "path",
        str(path),
        f"{path}: {line} {says}",
        "Correct the file: each row needs one field for each column",
    )


def missing_end(data: bytes, path: Path) -> str:
    """Return what to say of a table whose last line has no end, unless its last field is quoted."""
    if not data or data.endswith((b"\n", b"\r", b'"', b"\n\0")):
        return ""
    last = data.rpartition(b"\n")[2].decode(errors="replace")
    return f"{path}: the last line has no line end and may be cut short: {last[:60]!r}"


def _sample(text: str) -> list[str]:
    """Return the first lines that are no comment and not blank; the names of columns may stand in a comment."""
    lines = [line[:_MOST_LONG] for line in text.splitlines() if line.strip()][: 2 * _SAMPLE]
    kept = [line for line in lines if not line.startswith("#")][:_SAMPLE]
    named = _names_in_comment(
        [line for line in lines[: len(lines) - len(kept)] if line.startswith("#")],
        kept[:1],
    )
    if named:
        kept.insert(0, named)
    return kept


def _names_in_comment(comments: Sequence[str], first: Sequence[str]) -> str:
    """Return the last comment as names, if the first line is of numbers, as many as it has words."""
    if not comments or not first:
        return ""
    last = comments[-1].lstrip("# ")
    for delimiter in (*_DELIMITERS, _BLANKS):
        cells = _fields(first[0], delimiter)
        names = _fields(last, delimiter)
        if len(cells) > 1 and len(names) == len(cells) and all(map(_is_number, cells)):
            if any(map(_is_number, names)):
                return ""
            return last
    return ""


def _without_comments(data: bytes, dialect: Dialect) -> bytes:
    """Return the lines that are no comment, the names of columns first where a comment has them."""
    lines = data.splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(b"#")]
    comments = [line.decode("utf-8", "replace").strip() for line in lines[:_SAMPLE] if line.startswith(b"#")]
    first = [line.decode("utf-8", "replace") for line in kept[:1]]
    if dialect.has_header:
        named = _names_in_comment(comments, first)
        if named:
            kept.insert(0, named.encode() + b"\n")
    return b"".join(kept)


def _with_tabs(data: bytes, delimiter: str) -> bytes:
    """Return a table of pipes or blanks with tabs between its fields."""
    lines = [line for line in data.decode("utf-8").splitlines() if line.strip() and not _RULE.fullmatch(line.strip())]
    return "\n".join("\t".join(_fields(line, delimiter)) for line in lines).encode() + b"\n"


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == _BLANKS:
        return line.split()
    if delimiter == "|":
        plain = line.strip()
        if plain.startswith("|") and plain.endswith("|"):
            plain = plain[1:-1]
        return [cell.strip() for cell in plain.split("|")]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]


def _is_number(cell: str) -> bool:
    return not cell or _NUMBER.fullmatch(cell) is not None or _THOUSANDS.fullmatch(cell) is not None
