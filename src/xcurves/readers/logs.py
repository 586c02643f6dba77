"""Runs below a folder: their logs, and what names of folders or files say of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.core.applicability import UNKNOWN_SAMPLER
from xcurves.core.direction import HIGHER, looks_like_score
from xcurves.core.known import RUN_PATH, SAMPLER, Places
from xcurves.core.names import (
    CONFIG,
    EVALUATED,
    compiled,
    dim_of,
    is_clock,
    is_step,
    whole_numbers,
)
from xcurves.core.refusal import (
    UNSAID,
    Cure,
    Refusal,
    Text,
    give,
    of_path,
)
from xcurves.core.validation import existing_path
from xcurves.readers.cells import with_one_unit
from xcurves.readers.configs import settings_of
from xcurves.readers.formats import could_be_log
from xcurves.readers.log_files import check_cells, is_later, parsing
from xcurves.readers.open_files import check_name
from xcurves.readers.source import HEADLESS, Source, made_name, path_pattern, read_files
from xcurves.readers.which_logs import SUFFIX, by_place, evaluated, without_copies

# attrs that have the column of other algorithms, and where runs lie, until it is told
RIVAL, PLACES = "rival", "places"

_LEVELS = 2  # of folders, that say algorithm and run


def files_below(root: str | Path, *hidden: str) -> list[Path]:
    """Return all files below a folder in order, or the file itself; no links, hidden folders only of these names."""
    root = existing_path(root)
    if root.is_file():
        return [root]
    found = list[Path]()
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name in hidden or not name.startswith(".")]
        found += [Path(place, name) for name in names if not name.startswith(".")]
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def only_file(path: str | Path) -> str | Path:
    """Return the one file that lies in a folder, if there is nothing else below it; else the path as it is."""
    if not Path(path).is_dir():
        return path
    files = files_below(path)
    if len(files) == 1 and files[0].parent == Path(path):
        return files[0]
    return path


def links_out_of(root: Path, source: Source) -> list[Path]:
    """Return the links below a folder to what lies elsewhere: folders, and files that are named like logs."""
    found = list[Path]()
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        named = [name for name in names if source.is_named(Path(place, name)) and could_be_log(Path(name))]
        found += [Path(place, name) for name in (*folders, *named)]
    top = root.resolve()
    return sorted(path for path in found if path.is_symlink() and not path.resolve().is_relative_to(top))


def candidates(source: Source, files: Sequence[Path], root: str | Path) -> list[Path]:
    """Return the files below `root` that may be logs of a source, without those whose names say that they are none."""
    if source.general and source.by_content and Path(root).is_dir():
        return list(filter(could_be_log, files))
    return list(files)


def find_logs(root: str | Path, source: Source) -> list[Path]:
    """Return the logs of a source below `root` in order, or the log that it is; copies are left out, with a warning."""
    files = files_below(root, source.hidden)
    found = list(filter(source.has, candidates(source, files, root))) or list(filter(source.has, files))
    if not found:
        raise FileNotFoundError(f"{of_path(root)} holds no {source.logs}. Check the path")
    for path in found:
        check_name(path)
    if Path(root).is_dir():
        found, copies = without_copies(found, Path(root))
        warn_first(copies, "files")
    return found


def where(root: str | Path) -> str:
    """Return where logs were found, for `attrs["source"]`."""
    if Path(root).is_file():
        return f"in {Path(root).name}"
    return f"below {Path(root).name}"


class Runs(NamedTuple):
    """The runs below a folder: their labels, a row each; the logs of each; what was taken, and where they lie."""

    labels: pd.DataFrame
    files: list[list[Path]]
    said: str = ""
    places: Places | None = None  # where nobody named the labels


class RunRows(NamedTuple):
    """The rows of a run, what of its logs could not be read, and whether steps are places of rows."""

    rows: pd.DataFrame
    left_out: str = ""
    are_placed: bool = False


def read_each_run(
    root: str | Path,
    source: Source,
    folders: str | Sequence[str] | None = None,
    names: str | None = None,
) -> pd.DataFrame:
    """Read the logs of every run, and put them below each other with what their folders or files say."""
    runs = find_runs(root, source, folders, names)
    read = {number: rows_of_run(root, source, runs, number) for number in range(len(runs.files))}
    kept, empty = dict[int, pd.DataFrame](), list[str]()
    for number, run in read.items():
        if len(run.rows):
            kept[number] = run.rows
        else:
            files = runs.files[number]
            place = source.home_of(files[0])
            is_file = bool(names) or (runs.places is not None and runs.places.are_files)
            if is_file and len(files) == 1:
                place = files[0]
            empty.append(f"{place} has no rows and is left out")
    warn_first([run.left_out for run in read.values() if run.left_out])
    headless = {number: rows.attrs[HEADLESS] for number, rows in kept.items() if HEADLESS in rows.attrs}
    if len(headless) < len(kept):  # among others that have names
        empty += [f"{file} has no names of columns and is left out" for file in headless.values()]
        kept = {number: rows for number, rows in kept.items() if number not in headless}
    if not kept:
        raise Refusal(
            "path",
            UNSAID,
            Text(of_path(root), f": its {source.logs} have no rows"),
            "Check what was logged",
        )
    if Path(root).is_dir():
        empty += [f"{link} is a link and is left out" for link in links_out_of(Path(root), source)]
    warn_first(empty)
    return join_runs(root, source, runs, kept, are_placed=any(run.are_placed for run in read.values()))


def rows_of_run(root: str | Path, source: Source, runs: Runs, number: int) -> RunRows:
    """Return the rows of one of the runs below a folder."""
    files = runs.files[number]
    rows, cut = pd.DataFrame(), ""
    if len(runs.files) == 1 or any(file.stat().st_size for file in files):
        with parsing(files[0], source.what):
            rows, cut = read_files(source, files, Path(root))
            check_cells(rows, files[0])
    if source.general and _are_places(rows, files, is_run=bool({"run", RUN_PATH} & set(runs.labels))):
        return RunRows(_placed(rows), cut, are_placed=True)
    return RunRows(rows, cut)


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose step is their place."""
    return rows.assign(step=np.arange(1, len(rows) + 1))


def join_runs(
    root: str | Path, source: Source, runs: Runs, kept: dict[int, pd.DataFrame], *, are_placed: bool
) -> pd.DataFrame:
    """Return the rows of some of the runs below each other, after their labels.

    `are_placed`: the steps of some are places of rows, so that the only row of another is its first.
    """
    if are_placed:
        kept = {number: rows if "step" in rows else _placed(rows) for number, rows in kept.items()}
    units = _in_one_unit(kept)
    of_rows = np.repeat(list(kept), [len(rows) for rows in kept.values()])
    names_of = runs.labels.iloc[of_rows].reset_index(drop=True)
    read = pd.concat([names_of, pd.concat(kept.values(), ignore_index=True)], axis=1)
    if not read.columns.is_unique:
        twice = read.columns[read.columns.duplicated()][0]
        raise Refusal(
            "",
            UNSAID,
            f"a log below {str(root)!r} has a column {str(twice)[:60]!r} too",
            "Name that level of folders otherwise",
        )
    about = {"units": {**source.units}, "long_name": {**source.long_names}}
    about["units"] |= units
    about |= _said_of_all(list(kept.values()))
    read.attrs = {key: told for key, told in about.items() if told} | {"source": f"{source.what} {where(root)}"}
    read.attrs |= made_name(kept.values())
    said = [runs.said]
    if are_placed:
        said.append("step is the place of a row in its file")
    named_by = "; ".join(filter(None, [*said, source.says]))
    if named_by:
        read.attrs["named_by"] = named_by
    if runs.places is not None:
        read.attrs[PLACES] = runs.places
    return read


def _said_of_all(runs: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """Return what the attrs of runs say of their scores: which end is good, and what chose the trials of a search."""
    higher = {name: end for rows in runs for name, end in rows.attrs.get(HIGHER, {}).items()}
    samplers = {rows.attrs[SAMPLER] for rows in runs if SAMPLER in rows.attrs}
    return {HIGHER: higher, SAMPLER: ", ".join(sorted(samplers - {UNKNOWN_SAMPLER} or samplers))}


def _are_places(rows: pd.DataFrame, files: Sequence[Path], *, is_run: bool) -> bool:
    """Return whether the rows of a file are the steps of one run: numbers only, in order, without a step.

    Lists of JSON are such histories; rows of another file may be runs, unless it is that of one run.
    """
    if len(rows) < 2 or len(files) > 1:
        return False
    names = list(map(str, rows))
    has_step = any(is_step(name) or is_clock(name) or dim_of(name) for name in names)
    are_numbers = len(rows.select_dtypes(["number", "bool"]).columns) == len(names)
    is_json = re.search(r"\.(?:json|jsonl|ndjson)(?:\.gz)?$", files[0].name.lower())
    is_history = is_json and any(map(looks_like_score, names))
    return are_numbers and not has_step and bool(is_run or is_history)


def _in_one_unit(kept: dict[int, pd.DataFrame]) -> dict[str, str]:
    """Return the unit of each column, to which runs that have another one are brought; a column without is left out."""
    with_unit = {name for rows in kept.values() for name in rows.attrs.get("units", {})}
    seen: dict[str, set[str]] = {name: set() for name in with_unit}
    for rows in kept.values():
        for name in with_unit & set(rows.columns):
            if rows[name].notna().any():
                seen[name].add(rows.attrs.get("units", {}).get(name, ""))
    units = {name: next(iter(found)) for name, found in seen.items() if len(found) == 1}
    for name in seen.keys() - units.keys():
        of_one = {unit: with_one_unit([f"1{unit}"]) for unit in seen[name]}
        common = {unit for factor, unit in of_one.values() if factor}
        can_be = len(common) == 1 and all(factor for factor, _ in of_one.values())
        if not can_be:
            unlike = [unit or "none" for unit in sorted(seen[name])]
            provenance.warn(f"{name!r} has unlike units in runs, {', '.join(unlike)}, and is left out")
        for number, rows in kept.items():
            factor, _ = of_one.get(rows.attrs.get("units", {}).get(name, ""), (None, ""))
            if name in rows and can_be and factor:
                kept[number] = rows.assign(**{name: rows[name] * factor[0]})
            elif name in rows and not can_be:
                kept[number] = rows.drop(columns=name)
        if can_be:
            units[name] = common.pop()
    return {name: unit for name, unit in units.items() if unit}


def find_runs(
    root: str | Path,
    source: Source,
    folders: str | Sequence[str] | None = None,
    names: str | None = None,
) -> Runs:
    """Return the runs below a folder, or of a file."""
    found = find_logs(root, source)
    taken = ""
    if folders is None and names is None and Path(root).is_dir():
        found, taken, left_out = evaluated(found, Path(root))
        warn_first(left_out)
        return _by_themselves(Path(root), found, source, taken)
    names_of, groups = _by_label(root, source, found, folders, names)
    labels = pd.DataFrame(list(groups), columns=names_of, dtype=str).apply(whole_numbers)
    return Runs(labels, list(groups.values()), taken)


def _with_configuration(home: Path) -> Path:
    """Return the folder beside whose logs a configuration may be: above one that is called eval."""
    if home.name.casefold() in EVALUATED:
        return home.parent
    return home


def _by_themselves(root: Path, logs: Sequence[Path], source: Source, taken: str) -> Runs:
    """Return runs that nobody named: their paths, and what their configurations say."""
    places_of, are_files = by_place(root, logs, source)
    paths = ["/".join(place) for place in places_of]
    settings = settings_of([_with_configuration(source.home_of(files[0])) for files in places_of.values()])
    settings = settings.add_prefix(CONFIG)
    files = list(places_of.values())
    later = [each for several in files for each in several[1:] if is_later(each)]
    if later:
        goes_on = f"{later[0].name if len(later) == 1 else f'{len(later)} logs'} taken to go on with runs called alike"
        taken = "; ".join(filter(None, [taken, goes_on]))
    log = next((each[0] for place, each in places_of.items() if len(place) != _LEVELS), files[0][0])
    ((depth, _),) = Counter(map(len, places_of)).most_common(1)
    usual = next(each[0] for place, each in places_of.items() if len(place) == depth)
    pattern = path_pattern(root, usual, source.home_of(usual))
    values = {str(name): settings[name].tolist() for name in settings}
    places = Places(str(root), log.relative_to(root).as_posix(), pattern, paths, values, taken, are_files)
    labels = pd.concat([pd.DataFrame({RUN_PATH: paths}), settings], axis=1)
    return Runs(labels, files, places=places)


def warn_first(said: Sequence[str], things: str = "runs") -> None:
    """Warn once of several runs: what is said of the first, and how many there are."""
    provenance.warn_of(np.ones(len(said), bool), said, lambda _: "", things)


def _by_label(
    root: str | Path,
    source: Source,
    logs: Sequence[Path],
    folders: str | Sequence[str] | None,
    names: str | None,
) -> tuple[list[str], dict[tuple[str, ...], list[Path]]]:
    """Return the names of labels, and the logs of each run by the labels that `folders` or `names` find in its path."""
    top = Path(root)
    if top.is_file():
        top = top.parent
    if names is not None:
        pattern = compiled(names)
        labels = list(pattern.groupindex)
    elif Path(root).is_file():
        return [], {(): list(logs)}
    else:
        labels = [folders] if isinstance(folders, str) else list(folders or ())
        pattern = re.compile("/".join("([^/]+)" for _ in labels))
    groups: dict[tuple[str, ...], list[Path]] = {}
    strange = list[Path]()
    for log in logs:
        home, file = (path.relative_to(top).as_posix() for path in (source.home_of(log), log))
        tried = [home.removeprefix(".")]
        if names is not None:
            if names.endswith("}"):
                file = SUFFIX.sub("", file)
            tried.append(file)
        found = next((match for match in map(pattern.fullmatch, tried) if match), None)
        if found:
            groups.setdefault(found.groups(), []).append(log)
        else:
            strange.append(log)
    if strange and (names is None or not groups):
        argument, what = "names", "do not match the names"
        if names is None:
            argument, what = "folders", "are not the levels"
        log = strange[0]
        file = log.relative_to(top).as_posix()
        made = give(names=path_pattern(top, log, source.home_of(log)))
        raise Refusal(
            argument,
            names or labels,
            f"{what} of folders below {str(root)!r}, such as of {file!r}",
            Cure("Name each level, or say how names are made: ", made),
        )
    if strange:
        file = strange[0].relative_to(top).as_posix()
        provenance.warn(f"names={names!r}: {len(strange)} logs do not match and are left out, such as {file!r}")
    return labels, groups


def split_names(frame: pd.DataFrame, names: str) -> pd.DataFrame:
    """Return rows after a column for each part of their `name`."""
    parts = frame["name"].astype(str).str.extract(f"^(?:{compiled(names).pattern})$")
    strange = frame["name"][parts.isna().any(axis=1)]
    if len(strange):
        raise Refusal(
            "names",
            names,
            f"does not match the run {strange.iloc[0]!r}",
            "Say how runs are named",
        )
    kept = frame.drop(columns=[name for name in parts if name in frame])
    split = pd.concat([parts.apply(whole_numbers), kept], axis=1)
    split.attrs = frame.attrs
    return split
