"""What a kind of log declares: which files are its logs, how those of a run are read, and what their columns are."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core.direction import MADE_NAME, SCORE, looks_like_score
from xcurves.core.names import NUMBERED, RUN_LABEL, is_clock, is_step
from xcurves.core.refusal import UNSAID, Cure, Piece, Refusal, give
from xcurves.readers.formats import format_of, read_records, read_rows
from xcurves.readers.log_files import Run, header, one_after_another
from xcurves.readers.open_files import beginning

# what rows are joined by, where no source says it
_STEPS = ("step", "global_step", "iteration", "iter", "epoch")
HEADLESS = "headless"  # the attr that says which file has no names of columns
_WITH_TIME = re.compile(r"tfevents\.\d{6,}")  # names of files
_SHARED = ("epoch", "iter")  # counts that files of a run may have besides


class Source(NamedTuple):
    """A kind of log. Files with rows of any format need no function: what they are called and have is enough."""

    name: str
    what: str
    logs: str  # which files, in words
    # what its files hold; the first, where their content does not say it
    formats: tuple[str, ...]

    # Which files are its logs: those for which all that is given holds.
    files: tuple[str, ...] = ()  # how their paths end, * for any text in a name
    beside: str = ""  # a file in the same folder
    # A regular expression of the names in the first line, a comma between them.
    header: str = ""
    line: str = ""  # A regular expression, linear, of how one of the lines begins.
    by_content: bool = False  # it holds one of `formats`
    is_log: Callable[[Path], bool] | None = None

    # Where they lie.
    single: bool = False  # one file holds all runs and is not looked for in folders
    # A regular expression of folders that belong to the run in the folder above.
    within: str = ""
    hidden: str = ""  # a hidden folder in which its files are
    general: bool = False  # of no package: other sources come first, and a file is a run where folders name none
    # sources whose files are often beside
    also_writes: tuple[str, ...] = ("tensorboard",)

    # How they are read: by one of these functions, or as rows of any format.
    read_all: Callable[[str | Path], pd.DataFrame] | None = None  # of a file or folder whose logs name their runs
    # of the files of one run; beside `read_all`, which is for one file then, of those in a folder
    read_run: Callable[[Sequence[Path]], Run] | None = None
    records: str = ""  # where the rows are in a value of JSON
    step: str = ""  # the column by which files and rows of a run are joined
    # first columns of files without names; the last is called like its file
    headless: tuple[str, ...] = ()
    prepared: Callable[[pd.DataFrame], pd.DataFrame] | None = None  # the rows of a file
    furthest: bool = False  # of several files, the one with the last step has all rows

    # What their columns are.
    units: Mapping[str, str] = {}
    long_names: Mapping[str, str] = {}
    value: str | None = None  # of the scores
    training: str | None = "step"
    extra: tuple[str, ...] = ()  # of tasks
    metric: str = ""  # that says which score a row has

    says: str = ""  # what is said of the scores where it is said what runs are
    example: str = ""  # what follows `xcurves` for such logs

    def has(self, path: Path) -> bool:
        """Return whether a file is a log of this source."""
        if not self.is_named(path):
            return False
        if self.beside and not (path.parent / self.beside).is_file():
            return False
        if self.header and not re.fullmatch(self.header, ",".join(header(path))):
            return False
        if self.line and not _has_line(path, self.line):
            return False
        if self.by_content and format_of(path) not in self.formats:
            return False
        return self.is_log is None or self.is_log(path)

    def is_named(self, path: Path) -> bool:
        """Return whether a file is called like a log of this source."""
        return not self.files or any(_ends_like(path, pattern) for pattern in self.files)

    def reads_whole(self, path: str | Path) -> bool:
        """Return whether one function reads a file or folder, whose logs name their runs; else each run is read."""
        return self.read_all is not None and (self.read_run is None or Path(path).is_file())

    @property
    def has_own_files(self) -> bool:
        """Whether files have any name, so that a file may be a run by itself."""
        return self.general or all(file.startswith("*.") for file in self.files)

    def measure_alike(self, logs: Sequence[Path]) -> bool:
        """Return whether logs have a metric in common, so that they are not of one run."""
        names = [{name for name in _names_in(self, log) if not (is_step(name) or is_clock(name))} for log in logs]
        return bool(set.intersection(*names))

    def home_of(self, log: Path) -> Path:
        """Return the folder of the run of a log."""
        if not self.within:
            return log.parent
        return Path(re.sub(rf"(?:^|(?<=/))(?:{self.within})$", "", log.parent.as_posix()) or ".")


def _names_in(source: Source, log: Path) -> list[str]:
    """Return the names of the columns of a log; none of a damaged one. It warns when it is read for its rows."""
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return [str(name) for name in read_files(source, [log], log.parent).rows]
    except (ValueError, OSError, EOFError, zlib.error):
        return []


def read_files(source: Source, files: Sequence[Path], root: Path) -> Run:
    """Return the rows of a run, from one file or from several that are joined by a column."""
    if source.read_run is not None:
        return source.read_run(files)

    tables, left_out = list[pd.DataFrame](), list[str]()
    for path in files:
        run = _rows_of(source, path)
        rows = run.rows
        if source.prepared is not None:
            rows = source.prepared(rows)
        tables.append(_named(rows, path, source.headless))
        if run.left_out:
            left_out.append(run.left_out)

    tables, files = one_after_another(tables, files)
    step = source.step or _step_of(tables[0])
    if source.records and any(len(rows) and step not in rows for rows in tables):
        raise ValueError("its rows have no step")
    if source.furthest and len(tables) > 1:
        tables = [
            max(
                filter(len, tables),
                key=lambda rows: (rows[step].max(), len(rows)),
                default=tables[0],
            )
        ]

    tables = _called_like_files(tables, files, step)
    merged = tables[0]
    headless = [rows.attrs[HEADLESS] for rows in tables if HEADLESS in rows.attrs]
    for place in range(1, len(tables)):
        merged = _joined(merged, tables[place], step, files[: place + 1], source, root)
    units = {name: unit for rows in tables for name, unit in rows.attrs.get("units", {}).items()}
    merged.attrs = {"units": units, **made_name(tables)}
    if headless:
        merged.attrs[HEADLESS] = headless[0]
    if step in merged:
        merged = merge_steps(merged, step)
    return Run(merged, "; ".join(left_out))


def _called_like_files(tables: Sequence[pd.DataFrame], files: Sequence[Path], step: str) -> list[pd.DataFrame]:
    """Return tables of one metric that all call alike, such as value, which is called like its file if a score is."""
    stems = [file.name.partition(".")[0] for file in files]
    metrics = [[name for name in rows if name not in (step, *_SHARED) and not is_clock(name)] for rows in tables]
    alike = len({tuple(names) for names in metrics}) == 1 and len(metrics[0]) == 1
    if len(tables) < 2 or not alike or not all(map(looks_like_score, stems)):
        return list(tables)
    clocks = [[name for name in rows if is_clock(name)] for rows in tables]
    named = [rows.rename(columns={metrics[0][0]: stem}) for rows, stem in zip(tables, stems, strict=True)]
    return [named[0], *(rows.drop(columns=times) for rows, times in zip(named[1:], clocks[1:], strict=True))]


def made_name(tables: Collection[pd.DataFrame]) -> dict[Hashable, Any]:
    """Return the attr that says that nobody named the scores of tables, if it is so of all."""
    return {MADE_NAME: SCORE} if all(MADE_NAME in rows.attrs for rows in tables) else {}


def merge_steps(rows: pd.DataFrame, step: str) -> pd.DataFrame:
    """Merge the rows of a run at one step, each of which has some of the metrics, unless a metric is there twice."""
    known = rows[rows[step].notna()]
    metrics = known.drop(columns=[name for name in (step, "epoch") if name in known])
    if known[step].is_unique or metrics.notna().all().any():
        return rows
    if (metrics.groupby(known[step]).count() > 1).any(axis=None):
        return rows
    merged = known.groupby(step, sort=False).first().reset_index()[list(rows)]
    merged.index = known.drop_duplicates(step).index
    if len(known) < len(rows):  # a row without a step stays what it is
        merged = pd.concat([merged, rows[rows[step].isna()]]).sort_index()
    merged.attrs = rows.attrs
    return merged.reset_index(drop=True)


def path_pattern(root: Path, log: Path, home: Path) -> str:
    """Return a pattern of names that the path of a log matches: its folders, or its name, are algorithm and run."""
    folders = home.relative_to(root).parts
    file = f"/{log.relative_to(home).as_posix()}"
    if folders and _WITH_TIME.search(file):
        file = ""  # of each log another one
    if len(folders) > 1:
        levels = ("{task}", "{algorithm}", "{run}")[-len(folders) :]
        above = [f"{{folder{number}}}" for number in range(1, len(folders) - 2)]
        return "/".join([*above, *levels]) + file
    if folders:
        return f"{_pattern_of_name(folders[0])}{file}"
    return _pattern_of_name(log.stem) + log.suffix


def _pattern_of_files(root: Path, log: Path) -> str:
    """Return a pattern of names that the path of a log matches whose file is called like its run."""
    folders = log.parent.relative_to(root).parts
    levels = ("{task}", "{algorithm}")[-len(folders) :] if folders else ()
    above = [f"{{folder{number}}}" for number in range(1, len(folders) - 1)]
    return "/".join([*above, *levels, f"{{run}}{log.suffix}"])


def _pattern_of_name(name: str) -> str:
    parts = NUMBERED.fullmatch(name)
    if parts is None:
        return "{algorithm}"
    return f"{{algorithm}}{name[parts.end('algorithm') : parts.start('run')]}{{run}}"


def _ends_like(path: Path, pattern: str) -> bool:
    end = "/".join(path.parts[-pattern.count("/") - 1 :]).lower()
    return fnmatch(end.removesuffix(".gz"), pattern)


def _has_line(path: Path, pattern: str) -> bool:
    """Return whether a line in the first megabyte of a file begins like this."""
    form = re.compile(pattern)
    try:
        return any(form.match(line) for line in beginning(path).decode(errors="replace").split("\n"))
    except (OSError, EOFError, zlib.error):
        return False


def _rows_of(source: Source, path: Path) -> Run:
    if source.records:
        return read_records(path, source.records)
    form = source.formats[0]
    if not source.line:  # which says the format too
        form = format_of(path) or form
    return read_rows(path, form, cut=not source.general)


def _named(rows: pd.DataFrame, path: Path, headless: Sequence[str]) -> pd.DataFrame:
    """Return rows with names for columns that have none."""
    if list(rows) != [str(number) for number in range(rows.shape[1])] or rows.empty:
        return rows
    n_counts = rows.shape[1] - 1
    counts = headless or ("epoch", "step")[-n_counts:]
    if len(counts) != n_counts:
        raise Refusal(
            "path",
            str(path),
            f"{path} has {rows.shape[1]} columns and no names",
            "Write names of columns in its first line",
        )
    metric = path.name.removesuffix(".gz").rpartition(".")[0]
    named = rows.set_axis([*counts, metric], axis=1)
    named.attrs[HEADLESS] = str(path)
    return named


def _step_of(rows: pd.DataFrame) -> str:
    """Return the column of the step, by the usual names; the first of them where there is none."""
    named = {str(name).lower(): str(name) for name in reversed(list(rows))}
    return next((named[step] for step in _STEPS if step in named), _STEPS[0])


def _joined(
    one: pd.DataFrame,
    other: pd.DataFrame,
    step: str,
    files: Sequence[Path],
    source: Source,
    root: Path,
) -> pd.DataFrame:
    """Return the rows of two files of a run, those of one step in one row."""
    first, *_, path = files
    keys = [name for name in other if name in one and name in (step, *_SHARED)]
    metrics = [name for name in other if name in one and name not in keys]
    if step not in keys or metrics:
        shares = f"no {step!r} in both"
        if metrics:
            shares = f"{str(metrics[0])[:40]!r} in both"
        names = path_pattern(root, first, source.home_of(first))
        others: list[Piece] = []
        if RUN_LABEL.fullmatch(first.stem) and RUN_LABEL.fullmatch(path.stem):
            names = _pattern_of_files(root, first)
        if "{task}/{algorithm}" in names:  # which of both is above is not said
            others = [" or ", give(names=names.replace("{task}/{algorithm}", "{algorithm}/{task}"))]
        raise Refusal(
            "path",
            UNSAID,
            f"{source.home_of(path)} holds 2 logs, {first.name} and {path.name}, {shares}: a run has one",
            Cure("Name the one that is meant, or say how names of runs are made: ", give(names=names), *others),
        )
    if one[keys].duplicated().any() or other[keys].duplicated().any():
        return pd.concat([one, other], ignore_index=True)
    return one.merge(other, how="outer", on=keys, sort=True)
