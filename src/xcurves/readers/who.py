"""Who a run is: algorithm, run and task, from the folders of runs and from the configurations beside their logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core.name_patterns import CONFIG, join_labels
from xcurves.core.names import ALGORITHM_KEYS, ALGORITHMS_FIRST, OF_PLACE, dim_of, words_of
from xcurves.readers import folder_levels
from xcurves.readers.configs import settings_of


class Named(NamedTuple):
    """Labels of runs, one row each, with columns of what their configurations differ in; and how they were found."""

    labels: pd.DataFrame
    said: str
    rival: str = ""  # the column of a configuration that names other algorithms


def name_runs(places: Sequence[tuple[str, ...]], homes: Sequence[Path], root: str = "logs") -> Named | None:
    """Return who each run is, or None if neither folders nor configurations say it.

    Parameters
    ----------
    places : sequence of tuple of str
        The names of folders, or the name of the file, that lead to each run.
    homes : sequence of path
        The folder of each run, beside whose logs a configuration may be.
    root : str
        The path of all runs, for a question.

    Raises
    ------
    Doubtful
        If folders can be read in several ways.
    """
    settings = settings_of(homes)
    found, of_config = _of_settings(settings)
    of_folders = folder_levels.labels_of(places, root, asks_of_parts="algorithm" not in found)
    levels, said = None, ""
    if of_folders is not None:
        levels, said = of_folders.labels, of_folders.said
    if settings.empty and levels is None:
        return None
    labels = pd.DataFrame(index=range(len(places)))
    rival = ""
    if levels is not None:
        labels = levels.copy()
    if of_folders is not None and of_folders.names_algorithms and "algorithm" in found:
        rival = _choose_algorithm(of_folders, found, of_config)
    if set(labels) <= set(found):
        said = ""  # folders say nothing that is used
    for dim, column in found.items():
        labels[dim] = column.to_numpy()
    if "algorithm" not in labels:
        return None
    dims = [name for name in ("task", "algorithm", "run") if name in labels]
    if "run" not in labels or labels.duplicated(dims).any():
        # Two runs of one seed are told apart by where they lie.
        labels["run"] = ["/".join(place) for place in places]
        of_config.pop("run", None)
    said = "; ".join(filter(None, [", ".join(f"{dim} is {key}" for dim, key in of_config.items()), said]))
    order = [name for name in ("task", "algorithm", "run") if name in labels]
    told = pd.concat([labels[order], settings.add_prefix(CONFIG)], axis=1)
    return Named(told, said, rival)


def _choose_algorithm(
    of_folders: folder_levels.Levels,
    found: dict[str, pd.Series[Any]],
    keys: dict[str, str],
) -> str:
    """Leave out what a configuration says of the algorithm where folders say it; return the column of another one."""
    of_level = of_folders.labels["algorithm"].reset_index(drop=True)
    of_key = found["algorithm"].reset_index(drop=True)
    words = words_of(keys["algorithm"].removesuffix("_name"))
    is_named = bool(words) and words[-1] in ALGORITHM_KEYS and ", " not in keys["algorithm"]
    if not is_named:
        del found["algorithm"], keys["algorithm"]
        return ""
    pairs = pd.DataFrame({"level": of_level, "key": of_key}).drop_duplicates()
    if pairs["level"].is_unique and pairs["key"].is_unique:
        return ""
    del found["algorithm"]
    return CONFIG + keys.pop("algorithm")


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
