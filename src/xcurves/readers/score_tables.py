"""Tables of scores without training, as searches and benchmark servers leave them: a run, a trial or a fold a row."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.core.applicability import UNKNOWN_SAMPLER
from xcurves.core.direction import HIGHER
from xcurves.core.names import CONFIG, OF_TRIAL, dim_of, join_labels, seeds_in
from xcurves.core.refusal import Cure, Refusal, give
from xcurves.readers import logs
from xcurves.readers.cells import as_numbers
from xcurves.readers.common_rung import OF_RUNG, candidates
from xcurves.readers.formats import delimited
from xcurves.readers.listing import read_by_itself
from xcurves.readers.log_files import header, parsing
from xcurves.readers.open_files import read_bytes
from xcurves.readers.optuna import sampler_of, whether_independent
from xcurves.readers.packages import CROSS_VALIDATION, CV_RESULTS, OPENML, OPTUNA_TABLE
from xcurves.readers.sklearn import with_failures
from xcurves.readers.source import Source

_SPLIT = re.compile(r"split(?P<run>\d+)_(?P<score>(?:test|train)_.+)")
_MEAN = re.compile(r"mean_(?P<score>(?:test|train)_.+)")
_SCORE = re.compile(r"(?:test|train)_")
_TIMES = ("fit_time", "score_time")
_SETTING = "param_"
_STUDY = ("study", "study_name", "sampler")
_NOTE = "system_attrs_"  # before what samplers store with trials


def _read(
    path: str | Path,
    source: Source,
    rows_of: Callable[[pd.DataFrame, Path], pd.DataFrame],
    fits: str = "",  # what rows are, where a score that is missing says that a fit failed
) -> pd.DataFrame:
    """Return the rows that are made of a table, or of those in a folder, each of which is of one algorithm."""
    path = Path(path)
    files = logs.find_logs(path, source)
    tables = []
    for file in files:
        data = read_bytes(file)
        with parsing(file, source.what):
            rows = as_numbers(delimited.parse(data, file))
        tables.append(_with_failures(rows, file, fits) if fits else rows)
        missing_end = delimited.missing_end(data, file)
        if missing_end:
            provenance.warn(missing_end)
    table = tables[0]
    if len(files) > 1:
        table = _below_each_other(tables, _names_of(files, path, source))
    with parsing(path, source.what):
        made = rows_of(table, path)
    made.attrs["source"] = f"{source.what} {logs.where(path)}"
    return made


def _with_failures(table: pd.DataFrame, file: Path, fits: str) -> pd.DataFrame:
    """Return a table in which each algorithm has the worst score there is where a fit of it failed."""
    named = _named_algorithm(table)
    if named is None:
        return with_failures(str(file), table, fits)
    parts = [with_failures(f"{file}, {name}", rows, fits) for name, rows in table.groupby(named, dropna=False)]
    return pd.concat(parts).sort_index()


def _names_of(files: Sequence[Path], root: Path, source: Source) -> list[str]:
    """Return the name of each file, or of its folder where files are called alike; refuse those of several seeds."""
    names = [file.name.partition(".")[0] for file in files]
    if len(set(names)) < len(names):
        names = [file.parent.relative_to(root).as_posix() for file in files]
    if len(set(names)) < len(names):
        names = [file.relative_to(root).as_posix() for file in files]
    if seeds_in(names) is not None:
        raise read_by_itself(root, [(file, source) for file in files])
    return names


def _below_each_other(tables: Sequence[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of several tables, with a column of the algorithm where the tables have none."""
    table = pd.concat(tables, ignore_index=True)
    if _named_algorithm(table, _STUDY) is not None:
        return table
    of_rows = np.repeat(names, [len(each) for each in tables])
    return table.drop(columns="algorithm", errors="ignore").assign(algorithm=of_rows)


def _named_algorithm(table: pd.DataFrame, also: tuple[str, ...] = ()) -> str | None:
    """Return the column that says of which algorithm, or study, a row is; None if all are of one."""
    free = [name for name in map(str, table) if not name.startswith((_SETTING, OF_TRIAL))]
    named = [name for name in free if name in also or dim_of(name) == "algorithm"]
    varied = [str(name) for name in named if len(table[name].unique()) > 1]
    return varied[0] if varied else None


def _search_rows(table: pd.DataFrame, _: Path) -> pd.DataFrame:
    """Return a row for each setting and fold of one search; for each setting of several, whose trials they are."""
    of_setting = [
        name
        for name in map(str, table)
        if name.startswith(_SETTING)
        # a parameter may be the resource of a halving search
        and not ("n_resources" in table and table[name].equals(table["n_resources"]))
    ]
    settings = [name for name in of_setting if len(table[name].unique()) > 1]
    rungs = table[[name for name in OF_RUNG if name in table]]
    labels = table[settings].set_axis([CONFIG + name.removeprefix(_SETTING) for name in settings], axis=1)
    algorithm = _named_algorithm(table)
    if algorithm is not None:
        runs = candidates(table, [algorithm, *of_setting])
        means = {match["score"]: table[name] for name in map(str, table) if (match := _MEAN.fullmatch(name))}
        made = pd.concat(
            [
                pd.DataFrame({"algorithm": table[algorithm], "run": runs, **means}),
                rungs,
                labels,
            ],
            axis=1,
        )
        # a table of results does not say how settings were chosen
        made.attrs = {"sampler": UNKNOWN_SAMPLER}
        return _with_direction(made)
    names = _names_of_settings(labels, candidates(table, of_setting))
    scores: dict[str, dict[str, Any]] = {}
    for name in map(str, table):
        match = _SPLIT.fullmatch(name)
        if match:
            scores.setdefault(match["run"], {})[match["score"]] = table[name]
    of_folds = [
        pd.concat(
            [
                pd.DataFrame({"algorithm": names, "fold": int(fold), **scored}),
                rungs,
                labels,
            ],
            axis=1,
        )
        for fold, scored in scores.items()
    ]
    return _with_direction(pd.concat(of_folds, ignore_index=True))


def _with_direction(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores of scikit-learn, of which higher is better by any name: it turns the sign of losses."""
    scores.attrs[HIGHER] = {str(name): 1 for name in scores if _SCORE.match(str(name))}
    return scores


def _names_of_settings(labels: pd.DataFrame, candidate: pd.Series[int]) -> pd.Series[Any]:
    """Return a name for each candidate: what differs between them, and its number where nothing does."""
    numbers = "setting " + (candidate + 1).astype(str)
    if labels.empty:
        return numbers
    missing = labels.isna()
    texts = labels.astype(object).mask(missing, "None")
    names = join_labels(texts, list(map(str, labels)))
    several = candidate.groupby(names).transform("nunique") > 1
    return names.where(~several, names + ", " + numbers)


def _fold_rows(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a row for each fold of cross-validations, numbered in their order: all algorithms have the same ones."""
    named = _named_algorithm(table)
    scores = [name for name in map(str, table) if _SCORE.match(name) or name in _TIMES]
    tasks = [name for name in map(str, table) if dim_of(name) == "task" and name not in scores]
    algorithms: Any = path.name.partition(".")[0]
    if named is not None:
        algorithms = table[named]
    made = table[tasks].assign(algorithm=algorithms)
    made["fold"] = made.groupby(["algorithm", *tasks], sort=False).cumcount()
    made[scores] = table[scores]
    scored = _with_direction(made)
    scored.attrs["units"] = dict.fromkeys(_TIMES, "s")
    return scored


def _trial_rows(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a row for each trial that is complete; one that failed has no score."""
    study = _named_algorithm(table, _STUDY)
    names: Any = path.name.partition(".")[0]
    if study is not None:
        names = table[study]
    state: pd.Series[str] = table["state"].astype(str).str.removeprefix("TrialState.")
    if "COMPLETE" not in set(state):
        raise Refusal(
            "path",
            str(path),
            f"{path}: no trial is complete; got {', '.join(sorted(set(state)))}",
            "Run the study on",
        )
    settings = [name for name in map(str, table) if name.startswith(OF_TRIAL)]
    every = pd.concat(
        [
            pd.DataFrame({"algorithm": names, "run": table["number"], "state": state.str.lower()}),
            table[["value", *settings]],
        ],
        axis=1,
    )
    made = every[state == "COMPLETE"].reset_index(drop=True)
    left_out = state[state != "COMPLETE"].value_counts()
    if len(left_out):
        rest = ", ".join(f"{count} {str(name).lower()}" for name, count in left_out.items())
        provenance.warn(
            f"trials without a result are left out: {rest}. In the file of the study its failed trials count"
        )
    noted = table.columns[table.notna().any()]
    sampler = sampler_of([name.removeprefix(_NOTE) for name in map(str, noted) if name.startswith(_NOTE)])
    if "sampler" in table:
        sampler = ", ".join(sorted(set(table["sampler"].astype(str))))
    n_pruned = int((state == "PRUNED").sum())
    made.attrs = {
        "sampler": sampler,
        "n_pruned": n_pruned,
        "named_by": whether_independent(sampler),
    }
    # The best of k trials is not told by those that were not pruned.
    if study is None and n_pruned and sampler != UNKNOWN_SAMPLER:
        rival = _compared_setting(made[settings])
        if rival is not None:
            made.attrs[logs.RIVAL] = rival
    return made


def _compared_setting(settings: pd.DataFrame) -> str | None:
    """Return the setting that is text and has several labels, each of two trials or more; None without just one."""
    texts = settings.select_dtypes(exclude=["number", "bool"])
    counts = {str(name): texts[name].value_counts() for name in texts}
    found = [name for name, each in counts.items() if len(each) > 1 and each.min() > 1]
    return found[0] if len(found) == 1 else None


def _evaluation_rows(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a row for each evaluation, or each of its folds, with a column for each measure."""
    table = _with_folds(table)
    task = "task_id"
    if "data_name" in table and _determines(table, "data_name", task) and _determines(table, task, "data_name"):
        task = "data_name"
    flow = "flow_id"
    if "flow_name" in table:
        flow = "flow_name"
    cells = [task, flow]
    apart = [name for name in ("run_id", "repeat", "fold") if name in table and not _determines(table, cells, name)]
    runs: Any = 0
    if apart:
        runs = table[apart].astype(str).agg("/".join, axis=1)
    made = pd.DataFrame(
        {
            "task": table[task].astype(str),
            "algorithm": table[flow].astype(str),
            "run": runs,
        }
    )
    if "function" not in table:
        return made.assign(score=table["value"])
    measured = made.assign(measure=table["function"])
    if measured.duplicated().any():
        raise Refusal(
            "path",
            str(path),
            f"{path}: a run has several values of one measure",
            Cure("Name its columns: ", give(source="table")),
        )
    keys = list(measured)
    values = table["value"].set_axis(pd.MultiIndex.from_frame(measured))
    wide = values.unstack(keys[-1]).reset_index()  # noqa: PD010  # of a Series
    return wide.rename_axis(columns=None)


def _with_folds(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each fold where a column lists their values."""
    if "values" not in table or not table["values"].notna().any():
        return table
    listed = table[table["values"].notna()].copy()
    listed["value"] = [ast.literal_eval(str(values)) for values in listed["values"]]
    listed["fold"] = [list(range(len(values))) for values in listed["value"]]
    return listed.explode(["value", "fold"], ignore_index=True).astype({"value": np.float64, "fold": np.int64})


def _determines(table: pd.DataFrame, known: str | list[str], name: str) -> bool:
    """Return whether rows with the same labels in `known` have the same one in a further column."""
    columns = [known] if isinstance(known, str) else known
    rows = table[[*columns, name]].drop_duplicates()
    return not bool(rows.duplicated(columns).any())


def read_search(path: str | Path) -> pd.DataFrame:
    """Return the scores of candidates in the results of a search of scikit-learn."""
    return _read(path, CV_RESULTS, _search_rows, "settings")


def read_trials(path: str | Path) -> pd.DataFrame:
    """Return the values of trials in a table of Optuna."""
    return _read(path, OPTUNA_TABLE, _trial_rows)


def read_evaluations(path: str | Path) -> pd.DataFrame:
    """Return the scores of flows in a list of evaluations of OpenML."""
    return _read(path, OPENML, _evaluation_rows)


def read_cross_validation(path: str | Path) -> pd.DataFrame:
    """Return the scores of folds that cross_validate of scikit-learn returned."""
    return _read(path, CROSS_VALIDATION, _fold_rows, "folds")


def has_folds_only(path: Path) -> bool:
    """Return whether no column of a table names runs, folds or levels of training: its rows are folds in order."""
    labels = [name for name in header(path) if name not in _TIMES and not _SCORE.match(name)]
    return not any(dim_of(name) in ("run", "training") or name.startswith(_SETTING) for name in labels)
