"""What a kind of log declares, and runs below a folder: their logs, and what names of folders or files say."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.core.validation import check_path
from xcurves.preprocessing.wide import compiled, whole_numbers
from xcurves.readers.log_files import Run, check_cells, parsing
from xcurves.readers.open_files import check_name
from xcurves.readers.who import name_runs

Key = tuple[str, Any]  # algorithm and run

FOLDERS = ("algorithm", "run")

_WITHIN_RUN = re.compile(
    r"checkpoint-\d+|scalars|vis_data|catboost_info"
)  # folders that belong to the run in the folder above
_DATED = re.compile(r"\d{8}_\d{6}")  # of MMEngine, above vis_data
_SUFFIX = re.compile(r"(?:\.csv\.gz|\.\w+)$", re.IGNORECASE)


class Source(NamedTuple):
    """A kind of log; either `read_run` or `read_all` reads it."""

    name: str
    what: str
    is_log: Callable[[Path], bool]
    read_run: Callable[[Sequence[Path]], Run] | None = None  # of logs whose folders or files name the run
    read_all: Callable[[str | Path], pd.DataFrame] | None = None  # of a file or folder whose logs name their runs
    logs: str = ""
    units: Mapping[str, str] = {}
    long_names: Mapping[str, str] = {}
    single: bool = False  # one file holds all runs and is not looked for in folders
    value: str | None = None  # the columns of the scores, of training and of tasks
    training: str | None = "step"
    extra: tuple[str, ...] = ()
    also_writes: tuple[str, ...] = ()  # sources whose files are often beside
    below: Callable[[Path], bool] | None = None  # of logs known by content, which names count below a folder
    file_names_run: bool = False  # a file is a run, where folders do not name runs
    example: str = ""  # what follows `python -m xcurves` for such logs


def files_below(root: str | Path) -> list[Path]:
    """Return all files below a folder in order, but hidden ones (save Hydra's) and links, or the file itself."""
    root = check_path(root)
    if root.is_file():
        return [root]
    if not root.exists():
        raise FileNotFoundError(f"path {str(root)!r} does not exist. Check the path")
    found = list[Path]()
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name == ".hydra" or not name.startswith(".")]
        found += [Path(place, name) for name in names if not name.startswith(".")]
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def find_logs(root: str | Path, is_log: Callable[[Path], bool], what: str) -> list[Path]:
    """Return the logs below `root` in order, or the log that it is."""
    found = [path for path in files_below(root) if is_log(path)]
    if not found:
        raise FileNotFoundError(f"path {str(root)!r} holds no {what}. Check the path")
    for path in found:
        check_name(path)
    return found


def where(root: str | Path) -> str:
    """Return where logs were found, for `attrs["source"]`."""
    return f"{'in' if Path(root).is_file() else 'below'} {Path(root).name}"


def read_each_run(
    root: str | Path, source: Source, folders: str | Sequence[str] | None = None, names: str | None = None
) -> pd.DataFrame:
    """Read the logs of every run, and put them below each other with what their folders or files say."""
    assert source.read_run is not None
    labels, groups, said = _runs(root, source, folders, names)
    kept, left_out, empty = dict[int, pd.DataFrame](), list[str](), list[str]()
    for number, files in enumerate(groups):
        with parsing(files[0], source.what):
            rows, cut = source.read_run(files)
            check_cells(rows, files[0])
        left_out += [cut] * bool(cut)
        if len(rows):
            kept[number] = rows
        else:
            place = files[0] if names and len(files) == 1 else home_of(files[0])
            empty.append(f"{place} has no rows and is left out")
    warn_first(left_out)
    if not kept:
        raise ValueError(f"path {str(root)!r}: its {source.logs} have no rows. Check what was logged")
    warn_first(empty)
    of_rows = np.repeat(list(kept), [len(rows) for rows in kept.values()])
    names_of = labels.iloc[of_rows].reset_index(drop=True)
    read = pd.concat([names_of, pd.concat(kept.values(), ignore_index=True)], axis=1)
    if not read.columns.is_unique:
        twice = read.columns[read.columns.duplicated()][0]
        raise ValueError(f"a log below {str(root)!r} has a column {twice!r} too. Name that level of folders otherwise")
    about = {"units": {**source.units}, "long_name": {**source.long_names}}
    for rows in kept.values():
        about["units"] |= rows.attrs.get("units", {})
    read.attrs = {key: told for key, told in about.items() if told} | {"source": f"{source.what} {where(root)}"}
    if said:
        read.attrs["named_by"] = said
    return read


def _runs(
    root: str | Path, source: Source, folders: str | Sequence[str] | None, names: str | None
) -> tuple[pd.DataFrame, list[list[Path]], str]:
    """Return the labels of runs, a row each, the logs of each, and how the labels were found."""
    found = find_logs(root, source.is_log, source.logs)
    if source.below is not None and not Path(root).is_file():
        found = list(filter(source.below, found)) or found
    if folders is None and names is None and Path(root).is_dir():
        places = _by_place(Path(root), found, source)
        named = name_runs(list(places), [home_of(files[0]) for files in places.values()])
        if named is not None:
            return named.labels.apply(whole_numbers), list(places.values()), named.said
    labels, groups = _by_label(root, found, folders, names)
    return pd.DataFrame(list(groups), columns=labels, dtype=str).apply(whole_numbers), list(groups.values()), ""


def _by_place(root: Path, logs: Sequence[Path], source: Source) -> dict[tuple[str, ...], list[Path]]:
    """Return the logs of each run by the folders that lead to it, and its file where files name runs."""
    places: dict[tuple[str, ...], list[Path]] = {}
    for log in logs:
        places.setdefault(home_of(log).relative_to(root).parts, []).append(log)
    shallow = all(len(place) < 2 for place in places)
    if source.file_names_run and shallow and any(len(files) > 1 for files in places.values()):
        return {(*place, _SUFFIX.sub("", log.name)): [log] for place, files in places.items() for log in files}
    return places


def warn_first(said: Sequence[str], things: str = "runs") -> None:
    """Warn once of several runs: what is said of the first, and how many there are."""
    provenance.warn_of(np.ones(len(said), bool), said, lambda _: "", things)


def only(logs: Sequence[Path]) -> Path:
    """Return the one log of a run."""
    if len(logs) > 1:
        raise ValueError(
            f"{logs[0].parent} holds {len(logs)} logs, {logs[0].name} and {logs[1].name}: a run has one. "
            f"Say how their names are made: names='{{algorithm}}_seed{{run}}{logs[0].suffix}'"
        )
    return logs[0]


def home_of(log: Path) -> Path:
    """Return the folder of the run of a log."""
    home = log.parent
    while _WITHIN_RUN.fullmatch(home.name):
        dated = home.name == "vis_data" and _DATED.fullmatch(home.parent.name)
        home = home.parent.parent if dated else home.parent
    return home


def _by_label(
    root: str | Path, logs: Sequence[Path], folders: str | Sequence[str] | None, names: str | None
) -> tuple[list[str], dict[tuple[str, ...], list[Path]]]:
    """Return the names of labels, and the logs of each run by the labels in the path of its folder or its file."""
    top = Path(root).parent if Path(root).is_file() else Path(root)
    if names is not None:
        pattern = compiled(names)
        labels = list(pattern.groupindex)
    elif Path(root).is_file():
        return [], {(): list(logs)}
    else:
        labels = [folders] if isinstance(folders, str) else list(FOLDERS if folders is None else folders)
        pattern = re.compile("/".join(["([^/]+)"] * len(labels)))
    groups: dict[tuple[str, ...], list[Path]] = {}
    strange = []
    for log in logs:
        home, file = (path.relative_to(top).as_posix() for path in (home_of(log), log))
        tried = [home.removeprefix(".")]
        if names is not None:
            tried.append(_SUFFIX.sub("", file) if names.endswith("}") else file)
        found = next((match for match in map(pattern.fullmatch, tried) if match), None)
        if found:
            groups.setdefault(found.groups(), []).append(log)
        else:
            strange.append(file)
    if strange and (names is None or not groups):
        what = f"folders={labels} are not the levels" if names is None else f"names={names!r} do not match the names"
        suffix = "" if "/" in strange[0] else Path(strange[0]).suffix  # of files that no folder names
        cure = f"Name each level, or say how names are made: names='{{algorithm}}_seed{{run}}{suffix}'"
        raise ValueError(f"{what} of folders below {str(root)!r}, such as of {strange[0]!r}. {cure}")
    if strange:
        provenance.warn(f"names={names!r}: {len(strange)} logs do not match and are left out, such as {strange[0]!r}")
    return labels, groups


def split_names(frame: pd.DataFrame, names: str | re.Pattern[str]) -> pd.DataFrame:
    """Return rows after a column for each part of their `name`."""
    pattern = compiled(names) if isinstance(names, str) else names
    parts = frame["name"].astype(str).str.extract(f"^(?:{pattern.pattern})$")
    strange = frame["name"][parts.isna().any(axis=1)]
    if len(strange):
        raise ValueError(f"names={names!r} does not match the run {strange.iloc[0]!r}. Say how runs are named")
    kept = frame.drop(columns=[name for name in parts if name in frame])
    split = pd.concat([parts.apply(whole_numbers), kept], axis=1)
    split.attrs = frame.attrs
    return split


def join_histories(
    histories: Mapping[Key, Any], read: Callable[[Key, Any], pd.DataFrame], *, of: str, example: str
) -> pd.DataFrame:
    """Return the rows of histories in memory, after `algorithm` and `run`; `of` names what the rows are."""
    if not isinstance(histories, Mapping) or not all(isinstance(key, tuple) and len(key) == 2 for key in histories):
        raise TypeError(
            f"histories must map (algorithm, run) to histories; got {type(histories).__name__}. "
            f"Name them: {{{example}}}"
        )
    frames = {key: read(key, history) for key, history in histories.items()}
    empty = [key for key, rows in frames.items() if rows.empty]
    if empty or not frames:
        raise ValueError(f"histories have no {of}{f' of {empty[0]}' if empty else ''}. Leave such runs out")
    plain = {key: rows.drop(columns=["algorithm", "run"], errors="ignore") for key, rows in frames.items()}
    return pd.concat(plain, names=["algorithm", "run"]).reset_index(level=[0, 1]).reset_index(drop=True)


def merge_steps(rows: pd.DataFrame, step: str = "step") -> pd.DataFrame:
    """Merge the rows of a run at one step, each of which has some of the metrics, unless a metric is there twice."""
    if rows[step].is_unique:
        return rows
    known = rows.drop(columns="epoch" if step != "epoch" else [], errors="ignore")
    if (known.groupby(step).count() > 1).any(axis=None):
        return rows
    merged = rows.groupby(step, sort=False, dropna=False).first().reset_index()[list(rows)]
    merged.attrs = rows.attrs
    return merged


def check_named(argument: str, given: Any, what: str, example: str) -> Mapping[str, Any]:
    """Return what is given by the names of algorithms."""
    if not isinstance(given, Mapping) or not given or not all(isinstance(name, str) for name in given):
        got = type(given).__name__
        raise TypeError(f"{argument} must map names of algorithms to {what}; got {got}. Name it: {{{example}}}")
    return given
