"""Tables of scores without training, as searches and benchmark servers leave them: a run, a trial or a fold a row."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.core.applicability import UNKNOWN_SAMPLER
from xcurves.core.direction import HIGHER
from xcurves.core.names import CONFIG, OF_TRIAL, TRIAL, dim_of, join_labels, seeds_in
from xcurves.core.refusal import Cure, Refusal, give
from xcurves.readers import logs
from xcurves.readers.cells import as_numbers
from xcurves.readers.common_rung import OF_RUNG, candidates
from xcurves.readers.formats import delimited, json_rows
from xcurves.readers.log_files import Run, header, parsing
from xcurves.readers.open_files import beginning, read_bytes, read_text
from xcurves.readers.optuna import sampler_of, whether_independent
from xcurves.readers.packages import CROSS_VALIDATION, CV_RESULTS, OPENML, OPTUNA_TABLE
from xcurves.readers.sklearn import with_failures
from xcurves.readers.source import Source

_SPLIT = re.compile(r"split(?P<run>\d+)_(?P<score>(?:test|train)_.+)")
_MEAN = re.compile(r"mean_(?P<score>(?:test|train)_.+)")
_SCORE = re.compile(r"(?:test|train)_")
_TIMES = ("fit_time", "score_time")
_SETTING = "param_"
_KEYS = tuple(f"key{number}" for number in range(1, 10))  # above what cross_validate returned, in JSON
_STUDY = ("study", "study_name", "sampler")
_OF_OPTUNA = re.compile(
    r"(?:number|value|values_\d+|datetime_\w+|duration|state|params_.*|user_attrs_.*|system_attrs_.*)$"
)
_NOTE = "system_attrs_"  # before what samplers store with trials


def _read(
    path: str | Path,
    source: Source,
    rows_of: Callable[[pd.DataFrame, Path], pd.DataFrame],
    fits: str = "",  # what rows are, where a score that is missing says that a fit failed
) -> pd.DataFrame:
    """Return the rows that are made of a table, of one algorithm where no column says which."""
    path = Path(path)
    table, missing_end = _table(path, source, fits)
    if missing_end:
        provenance.warn(missing_end)
    with parsing(path, source.what):
        made = rows_of(table, path)
    if "algorithm" not in made and not set(_KEYS) & set(made):
        made.insert(0, "algorithm", path.name.partition(".")[0])
    made.attrs["source"] = f"{source.what} {logs.where(path)}"
    return made


def _table(file: Path, source: Source, fits: str = "") -> tuple[pd.DataFrame, str]:
    """Return the table of a file, and what to say of its end."""
    data = read_bytes(file)
    with parsing(file, source.what):
        if file.suffix == ".json":
            rows, missing_end = _lists_in(data, file), ""
        else:
            rows, missing_end = as_numbers(delimited.parse(data, file)), delimited.missing_end(data, file)
    return (_with_failures(rows, file, fits) if fits else rows), missing_end


def _lists_in(data: bytes, file: Path) -> pd.DataFrame:
    """Return the rows of results of a search, or of cross_validate: of one, or of several by the keys above it."""
    value = _as_lists(json_rows.parse(data, file))
    if _is_search(value):
        return pd.DataFrame({name: values for name, values in value.items() if name != "params"})
    found = list(_validations(value))
    depth = max(len(keys) for keys, _ in found)
    names = ["algorithm"] if depth == 1 else [f"key{number + 1}" for number in range(depth)]
    tables = []
    for keys, lists in found:
        scores = {name: values for name, values in lists.items() if _is_measure_of_folds(name, values)}
        table = pd.DataFrame(scores)
        for place, (name, key) in enumerate(zip(names, keys, strict=True)):
            table.insert(place, name, key)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _validations(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the dicts of cross_validate in a value of JSON with the keys above each; a damaged value has none."""
    if not isinstance(value, dict):
        return
    if {*_TIMES} <= value.keys() and any(_is_measure_of_folds(name, each) for name, each in value.items()):
        yield keys, value
        return
    for key, each in value.items():
        yield from _validations(each, (*keys, key))


def _is_measure_of_folds(name: str, values: Any) -> bool:
    return isinstance(values, list) and (name in _TIMES or _SCORE.match(name) is not None)


def _as_lists(value: Any) -> Any:
    """Return the columns of a table that pandas' to_json wrote, by numbers of rows, as lists; else the value."""
    if not isinstance(value, dict) or not value or not all(isinstance(each, dict) and each for each in value.values()):
        return value
    if any(list(each) != [str(row) for row in range(len(each))] for each in value.values()):
        return value
    return {name: list(each.values()) for name, each in value.items()}


def _is_search(value: Any) -> bool:
    """Return whether a value of JSON has the lists of cv_results_."""
    if not isinstance(value, dict) or not all(isinstance(each, list) for each in value.values()):
        return False
    return all(any(map(form.fullmatch, value)) for form in (_SPLIT, _MEAN))


def has_search(path: Path) -> bool:
    """Return whether a file has the results of a search, as lists of JSON."""
    if b"mean_fit_time" not in beginning(path):
        return False
    try:
        return _is_search(_as_lists(json.loads(read_text(path))))
    except (ValueError, RecursionError):
        return False


def has_validations(path: Path) -> bool:
    """Return whether a file has what cross_validate returned, as lists of JSON."""
    if _TIMES[0].encode() not in beginning(path):
        return False
    try:
        return any(True for _ in _validations(_as_lists(json.loads(read_text(path)))))
    except (ValueError, RecursionError):
        return False


def _with_failures(table: pd.DataFrame, file: Path, fits: str) -> pd.DataFrame:
    """Return a table in which each algorithm has the worst score there is where a fit of it failed."""
    named = _named_algorithm(table)
    if named is None:
        return with_failures(str(file), table, fits)
    parts = [with_failures(f"{file}, {name}", rows, fits) for name, rows in table.groupby(named, dropna=False)]
    return pd.concat(parts).sort_index()


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
    candidate = candidates(table, of_setting)
    made = _rows_of_folds(table, [rungs, labels])
    of_rows = np.tile(np.arange(len(table)), len(made) // len(table))
    made.insert(0, "algorithm", _names_of_settings(labels, candidate).to_numpy()[of_rows])
    return _with_direction(made)


def _rows_of_folds(table: pd.DataFrame, others: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return a row for each setting of a search on each fold, fold by fold."""
    scores: dict[str, dict[str, Any]] = {}
    for name in map(str, table):
        match = _SPLIT.fullmatch(name)
        if match:
            scores.setdefault(match["run"], {})[match["score"]] = table[name]
    of_folds = [
        pd.concat(
            [
                pd.DataFrame({"fold": int(fold), **scored}),
                *others,
            ],
            axis=1,
        )
        for fold, scored in scores.items()
    ]
    return pd.concat(of_folds, ignore_index=True)


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


def _fold_rows(table: pd.DataFrame, _: Path) -> pd.DataFrame:
    """Return a row for each fold of cross-validations, numbered in their order: all algorithms have the same ones."""
    named = _named_algorithm(table)
    scores = [name for name in map(str, table) if _SCORE.match(name) or name in _TIMES]
    tasks = [name for name in map(str, table) if name not in scores and (dim_of(name) == "task" or name in _KEYS)]
    made = table[tasks].copy()
    if named is not None:
        made = made.assign(algorithm=table[named])
    made["fold"] = made.groupby(list(made), sort=False).cumcount() if len(made.columns) else range(len(made))
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
        studies = _studies_in(table, study, path)
        if studies is not None:
            return studies
    _check_complete(table, path)
    state = _states(table)
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
    sampler = _sampler_in(table)
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


def _states(table: pd.DataFrame) -> pd.Series[str]:
    """Return how each trial ended."""
    states: pd.Series[str] = table["state"].astype(str).str.removeprefix("TrialState.")
    return states


def _check_complete(table: pd.DataFrame, path: Path) -> None:
    """Refuse a study of which no trial has a result."""
    states = set(_states(table))
    if "COMPLETE" not in states:
        what = f"{path}: no trial is complete; got {', '.join(sorted(states))}"
        raise Refusal("path", str(path), what, "Run the study on")


def _sampler_in(table: pd.DataFrame) -> str:
    """Return what chose the trials of a table, as a column or the notes of samplers say it."""
    if "sampler" in table:
        return ", ".join(sorted(set(table["sampler"].astype(str))))
    noted = table.columns[table.notna().any()]
    return sampler_of([name.removeprefix(_NOTE) for name in map(str, noted) if name.startswith(_NOTE)])


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


def read_search_of(files: Sequence[Path]) -> Run:
    """Return the scores of the settings of one of several searches on folds, the best setting first.

    Of a halving search their means, as not all are on all rungs.
    """
    (file,) = files
    table, missing_end = _table(file, CV_RESULTS, "settings")
    means = [name for name in map(str, table) if _MEAN.fullmatch(name)]
    settings = [name for name in map(str, table) if name.startswith(_SETTING)]
    table = table.assign(**{TRIAL: candidates(table, settings)})
    if len(table.get("n_resources", pd.Series([0])).unique()) > 1:
        rungs = [name for name in OF_RUNG if name in table]
        scores = table[means].rename(columns=lambda name: _MEAN.sub(r"\g<score>", name))
        rows = pd.concat([table[TRIAL].rename("run"), scores, table[rungs]], axis=1)
    else:
        table = table.sort_values(means[0], ascending=False, kind="stable", ignore_index=True)
        rows = _rows_of_folds(table, [table[[TRIAL]]])
    made = _with_direction(rows)
    made.attrs["sampler"] = UNKNOWN_SAMPLER  # a table of results does not say how settings were chosen
    return Run(made, missing_end)


def read_trials(path: str | Path) -> pd.DataFrame:
    """Return the values of trials in a table of Optuna."""
    return _read(path, OPTUNA_TABLE, _trial_rows)


def read_study(files: Sequence[Path]) -> Run:
    """Return the values of the trials of one of several studies."""
    (file,) = files
    table, missing_end = _table(file, OPTUNA_TABLE)
    return Run(_best_so_far(table, file), missing_end)


def _best_so_far(table: pd.DataFrame, file: Path) -> pd.DataFrame:
    """Return the values of the trials of a study, in their order, with the lowest and highest so far."""
    table = table[~_states(table).str.contains("RUNNING|WAITING")].sort_values("number")
    _check_complete(table, file)
    value = table["value"].where(_states(table) == "COMPLETE")
    made = pd.DataFrame({TRIAL: range(1, len(table) + 1), "state": _states(table).str.lower(), "value": value})
    made["lowest_value"], made["highest_value"] = value.cummin().ffill(), value.cummax().ffill()
    settings = [name for name in map(str, table) if name.startswith(OF_TRIAL)]
    made = pd.concat([made, table[settings]], axis=1).reset_index(drop=True)
    made.attrs = {"sampler": _sampler_in(table), HIGHER: {"lowest_value": 0, "highest_value": 1}}
    return made


def _studies_in(table: pd.DataFrame, study: str, file: Path) -> pd.DataFrame | None:
    """Return the best so far of each study of a table in which columns beside the trials' own tell several apart.

    None where the numbers of trials do not begin anew, or no column names runs.
    """
    cut = seeds_in(table[study].astype(str).unique().tolist())
    if cut is not None and "run" not in table:
        of_rows = pd.factorize(table[study].astype(str))[0]
        names = cut.iloc[of_rows].set_axis(table.index)
        table = table.assign(**{study: names["algorithm"], "run": names["run"]})
    labels = [name for name in map(str, table) if not _OF_OPTUNA.match(name)]
    runs = [name for name in labels if dim_of(name) == "run"]
    begins_anew = table.duplicated([study, "number"]).any() and not table.duplicated([*labels, "number"]).any()
    if len(runs) != 1 or not begins_anew:
        return None
    called = {study: "algorithm", runs[0]: "run"}
    studies = []
    for _, rows in table.groupby(labels, sort=False, dropna=False):
        whose = {called.get(name, name): rows[name].iloc[0] for name in labels}
        studies.append(_best_so_far(rows, file).assign(**whose))
    made = pd.concat(studies, ignore_index=True)
    made.attrs = studies[0].attrs | {"named_by": f"studies, told apart by {' and '.join(labels)}"}
    return made


def read_evaluations(path: str | Path) -> pd.DataFrame:
    """Return the scores of flows in a list of evaluations of OpenML."""
    return _read(path, OPENML, _evaluation_rows)


def read_cross_validation(path: str | Path) -> pd.DataFrame:
    """Return the scores of folds that cross_validate of scikit-learn returned."""
    return _read(path, CROSS_VALIDATION, _fold_rows, "folds")


def read_cross_validation_of(files: Sequence[Path]) -> Run:
    """Return the scores of folds of one of several cross-validations."""
    (file,) = files
    table, missing_end = _table(file, CROSS_VALIDATION, "folds")
    return Run(_fold_rows(table, file), missing_end)


def has_folds_only(path: Path) -> bool:
    """Return whether no column of a table names runs, folds or levels of training: its rows are folds in order."""
    labels = [name for name in header(path) if name not in _TIMES and not _SCORE.match(name)]
    return not any(dim_of(name) in ("run", "training") or name.startswith(_SETTING) for name in labels)
