"""Trials of Optuna's studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.core.applicability import UNKNOWN_SAMPLER
from xcurves.core.calls import names_options
from xcurves.core.names import OF_TRIAL, seeds_in
from xcurves.core.refusal import UNSAID, Refusal, WrongType
from xcurves.readers.log_files import (
    check_cells,
)
from xcurves.readers.optuna_storages import stored_studies

__all__ = ["intermediate_values", "trials"]  # others serve declarations of sources

_MARKS = {  # the first letters, in small ones, of attributes that samplers store with trials and studies
    "grid_id": "GridSampler",
    "search_space": "GridSampler",
    "cma": "CmaEsSampler",
    "x_for_tell": "CmaEsSampler",
    "basegasampler": "NSGAIISampler",
    "nsga": "NSGAIISampler",
    "tpe": "TPESampler",
    "gp:": "GPSampler",
    "qmc": "QMCSampler",
    "botorch": "BoTorchSampler",
}


@names_options
def trials(studies: Mapping[str, Any] | str | Path) -> pd.DataFrame:
    """Turn studies into scores, one row per trial that finished or failed.

    Parameters
    ----------
    studies : mapping, or path
        From the name of each algorithm to its study (one objective); or the file of a storage, an SQLite database or a
        journal, all of whose studies are read under their names.

    Returns
    -------
    DataFrame
        `algorithm`, `run` (the trial's number), `state` (complete, fail), `value`, and the parameters as ``params_lr``.
        A trial that failed has the value -inf, or inf if its study minimizes: worse than every finite one. They are
        scores of trials: ``to_dataarray("value", training=None)``. Where names of studies are algorithm and seed
        (tpe_seed0, tpe_seed1, ...), a study is a run: `algorithm`, `run` (the seed), `trial_number` (how many trials
        ended, from 1) and `best_value`, the best value so far. ``frame.attrs["sampler"]`` is what chose the trials
        ("RandomSampler"), as the study or the notes that samplers leave in a storage say it; "unknown" where they do
        not, as after random search. ``frame.attrs["n_pruned"]`` counts pruned trials, and
        ``frame.attrs["higher_is_better"]`` is 0 where all studies minimize, 1 where all maximize.

    Raises
    ------
    ImportError, FileNotFoundError
        If `studies` is a path and optuna is not installed, or nothing is there.
    TypeError, ValueError
        If `studies` is neither a path nor a mapping from names to studies; if a study has several objectives, if no
        trial is finished, or if a storage cannot be read.

    Warns
    -----
    UserWarning
        If trials were pruned or still run: they are left out. Scores without pruned trials look better than the
        search was. If the last line of a journal is cut short; it is left out.

    Examples
    --------
    >>> from xcurves.readers import optuna
    >>> frame = optuna.trials({"sac": study_of_sac, "td3": study_of_td3})  # doctest: +SKIP
    """
    known = _studies(studies)
    for name, study in known.items():
        if len(study.directions) > 1:
            what = f"study of {name!r} has {len(study.directions)} objectives; scores need one"
            raise Refusal("path", UNSAID, f"{_place(known)}{what}", "Leave it out")
    states = Counter[str](trial.state.name for study in known.values() for trial in study.trials)
    if "COMPLETE" not in states:
        raise Refusal(
            "path",
            UNSAID,
            f"{_place(known)}no trial is finished; got {dict(states)}",
            "Run the studies on",
        )
    seeds = seeds_in(list(known))
    if seeds is not None:
        return _searches(known, seeds)
    left_out = {state: count for state, count in states.items() if state not in ("COMPLETE", "FAIL")}
    if left_out:
        rest = ", ".join(f"{count} {state.lower()}" for state, count in left_out.items())
        provenance.warn(f"trials without a result are left out: {rest}")
    finished = [
        _row(name, trial, state=trial.state.name.lower(), value=_value(study, trial))
        for name, study in known.items()
        for trial in study.trials
        if trial.state.name in ("COMPLETE", "FAIL")
    ]
    frame = _framed(finished, known)
    frame.attrs["named_by"] = whether_independent(frame.attrs["sampler"])
    return frame


def _value(study: Any, trial: Any) -> float:
    """Return the value of a trial; of one that has none a value that is worse than every finite one."""
    if trial.state.name == "COMPLETE":
        return float(trial.value)
    return np.inf if study.directions[0].name == "MINIMIZE" else -np.inf


def whether_independent(sampler: str) -> str:
    """Return what makes trials of a study runs."""
    if sampler == UNKNOWN_SAMPLER:
        return "trials of a study, independent only if its sampler is random, which no file says"
    return f"trials of a study, chosen by {sampler}"


def _searches(studies: Mapping[str, Any], seeds: pd.DataFrame) -> pd.DataFrame:
    """Return the best value so far of studies that are runs; trials that were pruned or failed are trials too."""
    frames = list[pd.DataFrame]()
    for study, (algorithm, run) in zip(studies.values(), seeds.to_numpy(), strict=True):
        ended = [trial for trial in study.trials if trial.state.name in ("COMPLETE", "FAIL", "PRUNED")]
        values = pd.Series([_value(study, trial) for trial in ended], dtype=np.float64)
        best = values.cummax()
        if study.directions[0].name == "MINIMIZE":
            best = values.cummin()
        number = range(1, len(ended) + 1)
        frames.append(pd.DataFrame({"algorithm": algorithm, "run": run, "trial_number": number, "best_value": best}))
    frame = pd.concat(frames, ignore_index=True)
    n_trials = sum(len(study.trials) for study in studies.values())
    frame.attrs = {
        "source": f"Optuna, {len(studies)} studies of {n_trials} trials",
        "named_by": "studies, whose names are algorithm and run; best_value is the best so far, "
        "trials in the order of their numbers",
    }
    _say_direction(frame, studies)
    return frame


@names_options
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
    ValueError
        If no trial reported a value; as `trials`, which also says what is refused and warned of.

    Examples
    --------
    >>> from xcurves.readers import optuna
    >>> frame = optuna.intermediate_values("optuna.db")  # doctest: +SKIP
    """
    known = _studies(studies)
    rows = [
        _row(name, trial, state=trial.state.name.lower(), step=step, value=value)
        for name, study in known.items()
        for trial in study.trials
        for step, value in sorted(trial.intermediate_values.items())
    ]
    if not rows:
        reason = f"{_place(known)}no trial reported an intermediate value (trial.report)"
        raise Refusal("path", UNSAID, reason, "For their results: optuna.trials")
    frame = _framed(rows, known)
    frame.attrs["named_by"] = whether_independent(frame.attrs["sampler"])
    return frame


def _studies(studies: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    if isinstance(studies, str | Path):
        return stored_studies(Path(studies))
    if not isinstance(studies, Mapping) or not all(hasattr(study, "trials") for study in studies.values()):
        raise WrongType(
            "studies",
            type(studies),
            "must map names of algorithms to studies",
            "Name it: {'sac': study}",
        )
    return studies


def _place(studies: Mapping[str, Any]) -> str:
    """Return the file of studies, with a colon; nothing of studies in memory."""
    return getattr(next(iter(studies.values()), None), "place", "")


def _row(name: str, trial: Any, **found: Any) -> dict[str, Any]:
    parameters = {f"{OF_TRIAL}{parameter}": value for parameter, value in trial.params.items()}
    return {"algorithm": name, "run": trial.number, **found, **parameters}


def _framed(rows: list[dict[str, Any]], studies: Mapping[str, Any]) -> pd.DataFrame:
    frame = check_cells(pd.DataFrame(rows), Path(_place(studies).removesuffix(": ") or "a study"))
    pruned = [trial for study in studies.values() for trial in study.trials if trial.state.name == "PRUNED"]
    frame.attrs = {
        "sampler": ", ".join(sorted(set(map(_sampler, studies.values())))),
        "n_pruned": len(pruned),
        "source": f"Optuna, {len(frame[['algorithm', 'run']].drop_duplicates())} trials",
    }
    _say_direction(frame, studies)
    return frame


def _say_direction(frame: pd.DataFrame, studies: Mapping[str, Any]) -> None:
    """Put into the attrs of a frame whether studies maximize."""
    directions = {study.directions[0].name for study in studies.values()}
    if directions in ({"MINIMIZE"}, {"MAXIMIZE"}):
        frame.attrs["higher_is_better"] = int(directions == {"MAXIMIZE"})
    elif len(directions) > 1:
        provenance.warn("some studies minimize and others maximize: their values cannot be compared. Read one by one")


def _sampler(study: Any) -> str:
    """Return what chose the trials of a study; no storage keeps it, but most samplers leave notes in it."""
    notes = [key for trial in study.trials[-1:] for key in trial.system_attrs]
    noted = sampler_of([*notes, *getattr(study, "system_attrs", {})])
    if noted != UNKNOWN_SAMPLER:
        return noted
    in_memory = type(getattr(study, "_storage", None)).__name__ == "InMemoryStorage"
    # `load_study` puts its default in
    return type(study.sampler).__name__ if in_memory else UNKNOWN_SAMPLER


def sampler_of(notes: Sequence[str]) -> str:
    """Return what chose trials, by the names of the attributes that were stored with them; or that it is unknown."""
    for note in notes:
        for mark, name in _MARKS.items():
            if note.casefold().startswith(mark):
                return name
    return UNKNOWN_SAMPLER
