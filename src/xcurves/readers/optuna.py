"""Trials of Optuna's studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core import provenance
from xcurves.readers import sqlite
from xcurves.readers.source import Source


def trials(studies: Mapping[str, Any] | str | Path) -> pd.DataFrame:
    """Turn studies into scores, one row per finished trial.

    Parameters
    ----------
    studies : mapping, or path
        From the name of each algorithm to its study (one objective); or the file of a storage, an SQLite database or a
        journal, all of whose studies are read under their names.

    Returns
    -------
    DataFrame
        `algorithm`, `run` (the trial's number), `value`, and the parameters as ``params_lr``. They are scores of
        trials: ``to_dataarray("value", training=None)``.

    Raises
    ------
    ImportError
        If `studies` is a path and optuna is not installed.
    FileNotFoundError
        If `studies` is a path at which there is nothing.
    TypeError
        If `studies` is neither a path nor a mapping from names to studies.
    ValueError
        If a study has several objectives, if no trial is finished, or if a storage cannot be read.

    Warns
    -----
    UserWarning
        If trials failed, were pruned or still run: they are left out. Scores without pruned trials look better than the
        search was. If the last line of a journal is cut short; it is left out.

    Examples
    --------
    >>> from xcurves.readers import optuna
    >>> frame = optuna.trials({"sac": study_of_sac, "td3": study_of_td3})  # doctest: +SKIP
    """
    finished, states = [], Counter[str]()
    for name, study in _studies(studies).items():
        if len(study.directions) > 1:
            raise ValueError(f"study of {name!r} has {len(study.directions)} objectives; scores need one. Leave it out")
        for trial in study.trials:
            states[trial.state.name] += 1
            if trial.state.name == "COMPLETE":
                finished.append(_row(name, trial) | {"value": trial.value} | _params(trial))
    if not finished:
        raise ValueError(f"no trial is finished; got {dict(states)}. Run the studies on")
    if states.keys() - {"COMPLETE"}:
        rest = ", ".join(f"{count} {state.lower()}" for state, count in states.items() if state != "COMPLETE")
        provenance.warn(f"trials without a result are left out: {rest}")
    return _framed(finished)


def intermediate_values(studies: Mapping[str, Any] | str | Path) -> pd.DataFrame:
    """Turn studies into curves, one row per value that a trial reported.

    Parameters
    ----------
    studies : mapping, or path
        As for `trials`.

    Returns
    -------
    DataFrame
        `algorithm`, `run` (the trial's number), `state` (complete, pruned, ...), `step`, `value`, and the parameters as
        ``params_lr``. A pruned trial has fewer steps than others.

    Raises
    ------
    ImportError
        If `studies` is a path and optuna is not installed.
    FileNotFoundError
        If `studies` is a path at which there is nothing.
    TypeError
        If `studies` is neither a path nor a mapping from names to studies.
    ValueError
        If no trial reported a value, or if a storage cannot be read.

    Warns
    -----
    UserWarning
        If the last line of a journal is cut short; it is left out.

    Examples
    --------
    >>> from xcurves.readers import optuna
    >>> frame = optuna.intermediate_values("optuna.db")  # doctest: +SKIP
    """
    rows = [
        _row(name, trial) | {"state": trial.state.name.lower(), "step": step, "value": value} | _params(trial)
        for name, study in _studies(studies).items()
        for trial in study.trials
        for step, value in sorted(trial.intermediate_values.items())
    ]
    if not rows:
        raise ValueError("no trial reported an intermediate value (trial.report). For their results: optuna.trials")
    return _framed(rows)


def _studies(studies: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    if isinstance(studies, str | Path):
        return _stored(Path(studies))
    if not isinstance(studies, Mapping) or not all(hasattr(study, "trials") for study in studies.values()):
        raise TypeError(
            f"studies must map names of algorithms to studies; got {type(studies).__name__}. Name it: {{'sac': study}}"
        )
    return studies


def _stored(path: Path) -> dict[str, Any]:
    """Return all studies of a storage in a file."""
    try:
        import optuna
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise ImportError("readers.optuna needs optuna. Install it: pip install 'xcurves[optuna]'") from None
    if not path.exists():
        raise FileNotFoundError(f"path {str(path)!r} does not exist. Check the path")
    try:
        storage = _journal(path) if _is_journal(path) else optuna.storages.RDBStorage(f"sqlite:///{path.resolve()}")
        names = optuna.get_all_study_names(storage)
        return {name: optuna.load_study(study_name=name, storage=storage) for name in names}
    except (SQLAlchemyError, RuntimeError, ValueError, LookupError) as error:
        raise ValueError(f"Optuna cannot read {path}: {' '.join(str(error).split())}. Copy it again") from None


def _journal(path: Path) -> Any:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    last = path.read_bytes().rpartition(b"\n")[2]
    if last:
        shown = last[:60].decode(errors="replace")
        provenance.warn(f"{path}: the last line is cut short and left out: {shown!r}")
    return JournalStorage(JournalFileBackend(str(path)))


def _is_journal(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline(200).startswith(b'{"op_code":')


def _row(name: str, trial: Any) -> dict[str, Any]:
    return {"algorithm": name, "run": trial.number}


def _params(trial: Any) -> dict[str, Any]:
    return {f"params_{name}": value for name, value in trial.params.items()}


def _framed(rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    frame.attrs = {"source": f"Optuna, {len(frame[['algorithm', 'run']].drop_duplicates())} trials"}
    return frame


def _has_curves(path: Path) -> bool:
    if _is_journal(path):
        return b'"intermediate_value":' in path.read_bytes()
    return sqlite.has_rows(path, "studies", "trials", "trial_intermediate_values")


def _has_trials(path: Path) -> bool:
    return _is_journal(path) or sqlite.has_rows(path, "studies", "trials")


CURVES = Source(
    "optuna",
    "an SQLite or journal file of Optuna whose trials reported values",
    _has_curves,
    intermediate_values,
    single=True,
    value="value",
)
TRIALS = Source(
    "optuna-trials",
    "an SQLite or journal file of Optuna, for the results of trials",
    _has_trials,
    trials,
    single=True,
    value="value",
    training=None,
)
