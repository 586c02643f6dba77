"""Who a run is: algorithm, run and task, from where it lies and from the configuration beside its logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from xcurves.core.calls import later
from xcurves.core.known import RUN_PATH, Places, known_of
from xcurves.core.names import (
    ALGORITHM_KEYS,
    ALGORITHMS_FIRST,
    CONFIG,
    FOLD,
    OF_PLACE,
    TRIAL,
    dim_of,
    is_trial,
    join_labels,
    names_of_dim,
    rank_of,
    short_name,
    whole_numbers,
    words_of,
)
from xcurves.core.refusal import UNSAID, Cure, Refusal, Text, call, of_path
from xcurves.frames import folder_levels
from xcurves.frames.path_levels import AS_THEY_ARE, SETTINGS_ON_FOLDS, Readings, paths_of
from xcurves.frames.reading import columns_typed
from xcurves.frames.roles import is_measure, n_labels, says_data

if TYPE_CHECKING:
    from xcurves.frames import search_trials
else:
    (search_trials,) = later("xcurves.frames", "search_trials")

LABELS = ("task", "algorithm", "run", FOLD)  # of runs, in the order of columns


class Named(NamedTuple):
    """Labels of runs, one row each, how they were found, and the column of a configuration that names others."""

    labels: pd.DataFrame
    said: str
    rival: str = ""


def with_labels(frame: pd.DataFrame, typed: Iterable[Any] = ()) -> pd.DataFrame:
    """Return a frame of runs below a folder with columns of their labels in place of their paths.

    A frame is returned as it is if it has no paths, or others than its source knows, or if their column is among those
    that are `typed`. ``attrs["named_by"]`` says how labels were found.

    Raises
    ------
    ValueError
        If paths can be read in several ways, or in none.
    """
    typed = list(typed)
    known = known_of(frame)
    places = known.places
    if places is None:
        if TRIAL not in frame:
            return frame
        made, known = search_trials.settled(frame, known, typed)
        return known.told(made) if made is not frame else frame
    if RUN_PATH in columns_typed(typed):
        return frame
    if not frame[RUN_PATH].isin(places.paths).all():
        return frame
    asked_of_rows = AS_THEY_ARE
    if TRIAL in frame and TRIAL not in columns_typed(typed) and search_trials.are_settings_on_folds(frame):
        asked_of_rows = SETTINGS_ON_FOLDS
    named = _named(places, _said_by_rows(frame, places), asked_of_rows)
    number_of = {path: number for number, path in enumerate(places.paths)}
    of_rows = named.labels.iloc[frame[RUN_PATH].map(number_of).to_numpy()].set_index(frame.index)
    said_of_places = named.said
    if "task" in of_rows and _are_algorithms(of_rows["task"], frame):
        of_rows, said_of_places = of_rows.drop(columns="task"), ""
    taken = [name for name in of_rows if name in frame]
    if taken:
        raise Refusal(
            "frame",
            UNSAID,
            f"a log below {places.root!r} has a column {taken[0]!r} too",
            "Rename it in the logs, or name that level of folders otherwise as they are read",
        )
    labelled = pd.concat([of_rows, frame.drop(columns=RUN_PATH)], axis=1)
    labelled.attrs = dict(frame.attrs)
    said = "; ".join(filter(None, [said_of_places, places.said, str(frame.attrs.get("named_by", ""))]))
    if said:
        labelled.attrs["named_by"] = said
    if TRIAL in labelled:
        labelled, known = search_trials.settled(labelled, known, typed)
    return replace(known, places=None, rival=named.rival or known.rival).told(labelled)


def _said_by_rows(frame: pd.DataFrame, places: Places) -> frozenset[str]:
    """Return of algorithm and run those that a column of the rows says, in the logs of each path."""
    rows = frame.drop(columns=[RUN_PATH, *(name for name in places.settings if name in frame)])
    names = [str(name) for name in rows if rows[name].notna().all()]
    return frozenset(dim for dim in ("algorithm", "run") if any(_says(rows, name, dim) for name in names))


def _says(rows: pd.DataFrame, name: str, dim: str) -> bool:
    """Return whether a column has the whole name of a dim, and several labels."""
    is_named = rank_of(name, names_of_dim(dim)) == 0 or (dim == "run" and is_trial(name))
    are_several = n_labels(rows[name]) > 1 or name in (dim, TRIAL)  # as readers call them
    return is_named and are_several and not is_measure(rows[name]) and not says_data(rows, name)


def _are_algorithms(labels: pd.Series[Any], rows: pd.DataFrame) -> bool:
    """Return whether names of the path are others for the algorithms that rows name: one for each of several."""
    named = [str(name) for name in rows.drop(columns=RUN_PATH) if _says(rows, str(name), "algorithm")]
    pairs = [pd.DataFrame({"level": labels, "algorithm": rows[name]}).drop_duplicates() for name in named]
    return any(len(pair) > 1 and pair["level"].is_unique and pair["algorithm"].is_unique for pair in pairs)


def _named(places: Places, said: frozenset[str], readings: Readings) -> Named:
    """Return who each run is; refuse paths and configurations that do not say it."""
    parts = [tuple(filter(None, path.split("/"))) for path in places.paths]
    settings = pd.DataFrame(dict(places.settings), index=range(len(parts))).rename(columns=short_name)
    named = name_runs(parts, settings, places.root, are_files=places.are_files, of_rows=said, readings=readings)
    if named is not None:
        return named._replace(labels=named.labels.apply(whole_numbers))
    if len({len(part) for part in parts}) == 1:
        for level in zip(*parts, strict=True):
            _refuse_level(level, places.root)
    raise Refusal(
        "path",
        UNSAID,
        Text(of_path(places.root), f": paths such as {places.log!r} do not say algorithm and run"),
        Cure("Say how they are made: ", call("xcurves.readers.read", places.root, names=places.pattern)),
    )


def _refuse_level(level: Sequence[str], root: str) -> None:
    """Refuse folders that name runs, or say where or when they were, where nothing says the algorithm."""
    what = ""
    if folder_levels.are_run_names(level):
        what = "is the name of a run, and nothing says of which algorithm"
    elif folder_levels.of_place(level):
        what = "is no name of an algorithm, and nothing else says it"
    if what:
        raise Refusal(
            "path",
            UNSAID,
            Text(of_path(root), f": {level[0]!r} {what}"),
            'Put the runs of each algorithm in a folder, or beside each log config.json of {"algorithm": "ppo"}',
        )


def name_runs(
    places: Sequence[tuple[str, ...]],
    settings: pd.DataFrame,
    root: str = "logs",
    *,
    are_files: bool = False,
    of_rows: frozenset[str] = frozenset(),
    readings: Readings = AS_THEY_ARE,
) -> Named | None:
    """Return who each run is, or None if neither folders nor configurations say it.

    Parameters
    ----------
    places : sequence of tuple of str
        The names of folders, or the name of the file, that lead to each run.
    settings : DataFrame
        A row for each run, a column for each key of the configurations in which runs differ.
    root : str
        The path of all runs, for a question.
    are_files : bool
        Whether the last names are those of files.
    of_rows : frozenset of str
        The dims that rows say.
    readings : sequence of tuple
        What rows can be, as arguments and in words.

    Raises
    ------
    Doubtful
        If folders can be read in several ways.
    """
    found, of_config = _of_settings(settings)
    paths = paths_of(places, root, are_files=are_files, said=of_rows, readings=readings)
    of_folders = None
    if paths is not None:
        of_folders = folder_levels.labels_of(
            paths,
            asks_of_parts="algorithm" not in found,
            has_places=not ("run" in found and _is_named(of_config.get("algorithm", ""))),
        )
    labels, said, rival = pd.DataFrame(index=range(len(places))), "", ""
    if of_folders is not None:
        labels, said = of_folders.labels.copy(), of_folders.said
        if of_folders.names_algorithms and "algorithm" in found:
            rival = _choose_algorithm(of_folders, found, of_config)
    if set(labels) <= set(found):
        said = ""  # folders say nothing that is used
    for dim, column in found.items():
        labels[dim] = column.to_numpy()
    if "algorithm" not in {*labels, *of_rows}:
        return None
    dims = [name for name in LABELS if name in labels]
    has_runs = bool({"run", FOLD} & set(labels)) or bool(of_rows)
    if not has_runs or labels.duplicated(dims).any():
        # Two runs of one seed are told apart by where they lie.
        labels["run"] = ["/".join(place) for place in places]
        of_config.pop("run", None)
    said = "; ".join(filter(None, [", ".join(f"{dim} is {key}" for dim, key in of_config.items()), said]))
    return Named(labels[[name for name in LABELS if name in labels]], said, rival)


def _choose_algorithm(
    of_folders: folder_levels.Levels,
    found: dict[str, pd.Series[Any]],
    keys: dict[str, str],
) -> str:
    """Leave out what a configuration says of the algorithm where folders say it; return the column of another one."""
    of_level = of_folders.labels["algorithm"].reset_index(drop=True)
    of_key = found["algorithm"].reset_index(drop=True)
    if not _is_named(keys["algorithm"]):
        del found["algorithm"], keys["algorithm"]
        return ""
    pairs = pd.DataFrame({"level": of_level, "key": of_key}).drop_duplicates()
    if pairs["level"].is_unique and pairs["key"].is_unique:
        return ""
    del found["algorithm"]
    return CONFIG + keys.pop("algorithm")


def _is_named(key: str) -> bool:
    """Return whether one key of configurations says the algorithm by name."""
    words = words_of(key.removesuffix("_name"))
    return bool(words) and words[-1] in ALGORITHM_KEYS and ", " not in key


def _of_settings(
    settings: pd.DataFrame,
) -> tuple[dict[str, pd.Series[Any]], dict[str, str]]:
    """Return the labels that settings give to runs, by dim, and the keys that they are of."""
    found: dict[str, pd.Series[Any]] = {}
    keys: dict[str, str] = {}
    plain = {str(key): str(key).replace("/", "_").replace(".", "_") for key in settings}
    dims = {key: dim_of(name) for key, name in plain.items()}
    for dim in ("run", "task"):
        key = next((key for key, known in dims.items() if known == dim), None)
        if key is not None:
            found[dim], keys[dim] = settings[key].astype(str), key
    names = [str(name) for name in settings]
    shared = [key for key in names if settings[key].nunique() < len(settings)]
    usual = sorted((_rank(plain[key]), place) for place, key in enumerate(names) if dims[key] == "algorithm")
    named = [names[place] for _, place in usual]
    named = [key for key in named if key in shared and not _is_path(settings[key])]
    if named:
        found["algorithm"], keys["algorithm"] = settings[named[0]].astype(str), named[0]
        return found, keys
    # What differs between runs besides the seed.
    free = [key for key in shared if dims[key] is None and not OF_PLACE & set(words_of(key))]
    free = [key for key in free if not _is_path(settings[key])]
    if free:
        short = _short_names(free)
        joined = join_labels(settings[free].rename(columns=short), list(short.values()))
        found["algorithm"], keys["algorithm"] = joined, ", ".join(free)
    return found, keys


def _rank(key: str) -> int:
    words = words_of(key.removesuffix("_name"))
    if words and words[-1] in ALGORITHMS_FIRST:
        return ALGORITHMS_FIRST.index(words[-1])
    return len(ALGORITHMS_FIRST)


def _short_names(keys: Sequence[str]) -> dict[str, str]:
    """Return the last part of each key, or the whole key where two end alike."""
    last = [key.rpartition("/")[2] for key in keys]
    return {key: end if last.count(end) == 1 else key for key, end in zip(keys, last, strict=True)}


def _is_path(column: pd.Series[Any]) -> bool:
    return any(isinstance(value, str) and ("/" in value or "\\" in value) for value in column)
