"""Tidy frames, one row per score, to labelled curves: what users call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Literal, get_args

import pandas as pd
import xarray as xr
from pandas.api.types import is_list_like

from xcurves.core import labels, provenance
from xcurves.core.known import FIND, AlignMethod, Duplicates, Find, On
from xcurves.core.labels import DIMS
from xcurves.core.names import dim_of
from xcurves.core.refusal import Cure, Missing, WrongType, give
from xcurves.core.validation import at_one_level, check_choice
from xcurves.frames.columns import (
    as_pandas,
    check_numeric,
    label_codes,
    names_of,
    with_text_names,
)
from xcurves.frames.finder import read_settled
from xcurves.frames.make_curves import curves_of, rows_said
from xcurves.frames.reading import ARGUMENTS, Reading, as_list
from xcurves.frames.roles import n_labels, numeric_columns
from xcurves.frames.run_labels import with_labels
from xcurves.frames.wide import Columns, with_joined
from xcurves.frames.wide_tables import as_rows


def to_dataarray(
    frame: pd.DataFrame | Any,
    value: str | Find = FIND,
    *,
    algorithm: str | Sequence[str] | Find | None = FIND,
    run: str | Sequence[str] | Find | None = FIND,
    training: str | Find | None = FIND,
    extra: str | Sequence[str] | Find | None = FIND,
    coords: str | Sequence[str] = (),
    levels: Literal["union", "run"] = "union",
    on: On | None = None,
    method: AlignMethod | None = None,
    tolerance: float | None = None,
    duplicates: Duplicates = "raise",
    resumed: bool = False,
    missing_scores: Literal["absent", "failed"] | None = None,
    higher_is_better: bool | None = None,
    columns: str | Mapping[str, Sequence[str]] | None = None,
) -> xr.DataArray:
    r"""Turn a tidy frame, one row per score, into curves.

    Parameters
    ----------
    frame : DataFrame
        One row per score; of pandas, or any that has ``to_pandas()`` or ``__arrow_c_stream__`` (polars needs the extra
        `polars`). ``frame.attrs["units"]`` and ``frame.attrs["long_name"]``, if present, map columns to
        units and names; strings and numbers in ``frame.attrs`` go to ``attrs``, integers of 2³¹ or more only if they
        are text.
    value : str or FIND
        Column of the scores; a row without a score is a gap, or says that the run failed: `missing_scores`. A score of
        -inf (+inf where lower is better) says so too. FIND (``xcurves.FIND``), shown as ``...``: it is found.
    algorithm, run, training : str, None or FIND
        Columns that become the dims of these names; None for no such dim, FIND for what names and contents of columns
        say: see Notes. Several columns of `algorithm` or `run`, ``["optimizer", "lr"]``, are one whose labels are
        joined: "optimizer=muon, lr=0.001". With ``training=None`` scores have no training (trials); with ``run=None``
        each algorithm has one curve, or with `coords` each row is a run.
        Where no column is called so, "row" stands for the numbers 1, 2, ... of the rows that repeat a run.
    extra : str, sequence of str or FIND
        Columns that become further dims (tasks) under their own names. None says that no column is of tasks. Where no
        column is called so, "row" stands for the numbers of the rows of a run, and "task" for what its names begin
        with: cola of cola_1.
    coords : str or sequence of str, optional
        Columns that become coordinates: of tasks where each has one label, such as the suite that `across_tasks` takes
        by ``by="suite"``; else of runs, such as the model size and the tokens of a scaling law, or the look at which a
        run was added. With ``run=None`` each combination of those of runs is a run, and each repeat of it another.
    levels : {"union", "run"}
        "union": all runs have the levels of any run, NaN where a run has no score. "run": each run keeps its own
        levels along the dim `evaluation`; use it for runs that were evaluated at different times.
    on : {"intersection", "union", "final"} or sequence of float, optional
        As in `align`: the grid that every run is brought to, before the dense array is made. Use it for runs with many
        different levels: without it, the array has every level of any run.
    method : {None, "previous", "linear", "nearest", "mean"}
        As in `align`: how a run gets a score at a level.
    tolerance : float, optional
        As in `align`, in units of training.
    duplicates : {"raise", "first", "last", "mean", "purge", "runs"}
        What to do with several rows of one run at one training level: keep the first or the last score, or take the
        mean, of rows in any order; "purge": a run began again wherever its level does not rise, and rows before at that
        level or above leave. "raise" refuses them, but for those with one meaning: equal rows, of which one is kept,
        and a run that was restarted, which is purged. It was if the level falls, but not to the first of the run, and
        then rises, while a column of time goes on. "runs": several answers of an algorithm to an item are its
        runs, also where it has one to most items, which "raise" asks.
    resumed : bool
        A run that goes back to its first training level goes on counting: 1, 2, 3, 1, 2 are 1, 2, 3, 4, 5.
    missing_scores : {None, "absent", "failed"}
        What rows without a score mean: nothing was measured there, or the run failed, which gives them a score of -inf,
        worse than every finite one (+inf where lower is better). Leaving failed runs out rewards failing. None: absent,
        but for runs that end with such rows where another run of their task has a score, which are asked.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower), or the only label of a column of metrics; higher where none does.
        Says which infinite score is a failed run, and stands in ``attrs`` if it is given.
    columns : str or mapping, optional
        Of a wide table, which columns hold scores: those of algorithms, ``"svm,tree"``, or a pattern, ``"{algorithm}"``
        (all columns of numbers that have no other use), ``"{algorithm}_seed{run}"``, ``"split{run}_test_score"``; or
        ``{"algorithm": ["svm", "tree"]}``. Each of them is a row, and `value` is the name of the scores. Rows that no
        column names are ``run="row"`` or ``extra="row"``.

    Returns
    -------
    DataArray, dims (\*extra, algorithm, run, training)
        With ``levels="run"``, dims (\*extra, algorithm, run, evaluation) with the coordinate `training` on all of them,
        both NaN after a run's last score.
        Labels in sorted order (categories in theirs), so that the order of rows does not matter; NaN where the
        frame has no score. The name is `value`; every coordinate has its column's name as ``long_name`` and, where
        given, units. `color_index` numbers the algorithms, so that selections keep their colours in pictures.
        ``attrs["history"]`` says what was dropped or chosen.

    Raises
    ------
    KeyError
        If the frame lacks a column; the message lists those it has.
    TypeError
        If `value` or `training` is not numeric.
    ValueError
        If columns can be read in several ways; if the frame is empty, if a label is missing, if a level is negative; if
        scores are repeated, or a level falls within a run, and `duplicates` is "raise"; if the levels of all runs would
        take more than ten cells for each score; and what `align` refuses.
    ImportError
        If `frame` is of polars and pyarrow is not installed.

    Warns
    -----
    UserWarning
        With `on`, as `align`; if a column that is not used differs within a run, of numbers where each has rows of its
        own from the start of training; if two runs of a task have the same score at every
        level, as copied data have;
        if the column of runs seems to hold episodes: by its name, because each run has one level, or because there are
        over 50 runs for each level.

    Notes
    -----
    Names propose what a column is, whole or by their last word (`env_steps`, `model_name`); what it holds can forbid
    it. A column that is called like a dim is that dim. Steps and clocks tell nothing apart unless they are named: a
    step that never changes within a run while scores do gives way to the order of a clock, an iteration that begins
    anew in each epoch to the epoch. Questions that all algorithms have are tasks, with their passages as
    ``task_groups``; folds of a data set are runs whose attr ``matched`` is "fold", which `analyze` compares as matched.
    Seeds are never matched. What `readers.read` knows of its columns is in ``frame.attrs["xcurves"]``. Where several
    readings fit, the error has a call for each. ``attrs["history"]`` says what was joined, made or left out.

    Examples
    --------
    >>> import pandas as pd, xcurves
    >>> frame = pd.DataFrame(
    ...     {"agent": ["sac", "sac", "td3", "td3"], "seed": 1, "step": [0, 90, 0, 200], "return": [1.0, 4.0, 2.0, 6.0]}
    ... )
    >>> names = {"algorithm": "agent", "run": "seed", "training": "step"}
    >>> frame.curves.to_dataarray("return", **names).sel(algorithm="td3").to_numpy()
    array([[ 2., nan,  6.]])
    >>> frame.curves.to_dataarray("return", **names, on=[0, 50], method="linear").sel(algorithm="td3").to_numpy()
    array([[2., 3.]])

    These names are usual, and found:

    >>> frame.curves.to_dataarray().sizes["training"]
    3

    Each run with its own levels, and the points of a scaling law:

    >>> frame.curves.to_dataarray("return", **names, levels="run").training.sel(algorithm="td3").to_numpy()
    array([[  0., 200.]])
    >>> points = pd.DataFrame({"size": [1e6, 1e7], "tokens": [2e7, 2e8], "loss": [3.9, 3.1]})
    >>> losses = points.curves.to_dataarray("loss", algorithm=None, run=None, training=None, coords=["size", "tokens"])
    >>> losses.dims, losses.tokens.dims
    (('run',), ('run',))
    """
    check_choice("duplicates", duplicates, get_args(Duplicates))
    if missing_scores is not None:
        check_choice("missing_scores", missing_scores, ("absent", "failed"))
    given = {
        "score": value,
        "algorithm": algorithm,
        "run": run,
        "training": training,
        "tasks": [] if extra is None else extra,
    }
    tidy = with_labels(with_text_names(as_pandas(frame)), [*given.values(), coords])
    kept = names_of(coords, "coords")
    options: dict[str, Any] = {
        "coords": coords,
        "levels": levels,
        "on": on,
        "method": method,
        "tolerance": tolerance,
        "duplicates": duplicates,
        "resumed": resumed,
        "missing_scores": missing_scores,
        "higher_is_better": higher_is_better,
    }
    said = _said(given, options | {"columns": columns})
    tidy, given["score"] = _long(tidy, columns, given, kept)
    reading = _reading_of(tidy, given, options | {"coords": kept}, said)
    curves = curves_of(replace(reading, given={**reading.given, **said}), **options)
    return as_found(curves, reading, [dim for dim in DIMS if given[dim] is FIND])


def _said(given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call says: columns that are not to be found, and options other than the usual."""
    said = {role: column for role, column in given.items() if column is not FIND}
    usual = signature(to_dataarray).parameters
    for name, option in options.items():
        is_usual = option is usual[name].default
        if is_list_like(option) and not isinstance(option, Mapping):
            option = list(option)
            is_usual = not option
        if not is_usual:
            said[name] = option
    return said


def _long(
    frame: pd.DataFrame,
    columns: Columns | None,
    given: Mapping[str, Any],
    kept: Sequence[str],
) -> tuple[pd.DataFrame, Any]:
    """Return a row for each score of a table, and the column of the scores, FIND of several."""
    score = given["score"]
    values = [] if score is FIND else [score]
    if columns is not None and not all(isinstance(value, str) for value in values):
        cure = Cure("Call them ", give(value="score"), ", or several: to_dataset")
        raise WrongType("value", score, "must be the name of the scores", cure)
    dims = {dim: given[dim] for dim in DIMS if given[dim] is not FIND}
    tasks = [] if given["tasks"] is FIND else names_of(given["tasks"])
    long, made = as_rows(frame, columns, values, dims, [*kept, *tasks])
    if not made:
        return long, score
    return long, made[0] if len(made) == 1 else FIND


def _reading_of(
    frame: pd.DataFrame,
    given: Mapping[str, Any],
    options: Mapping[str, Any],
    call: Mapping[str, Any],
) -> Reading:
    """Return the reading of a frame: what is given, and the rest found; a question repeats what the `call` says."""
    said = {role: column for role, column in given.items() if column is not FIND}
    if "tasks" in said:
        said["tasks"] = names_of(said["tasks"])
    kept = options["coords"]
    asked: list[Any] = []
    for column in said.values():
        if isinstance(column, list | tuple):
            asked += column
        elif column is not None:
            asked.append(column)
    complete = len(said) == len(given)
    unknown = [name for name in [*asked, *kept] if not _has(frame, name)]
    if complete or unknown or frame.columns.has_duplicates:
        return _as_named(frame, said)
    _refuse_lists(frame, said)
    _refuse_index(frame, said)
    return read_settled(frame, {**said, **options}, call)


def _refuse_index(frame: pd.DataFrame, said: Mapping[str, Any]) -> None:
    """Refuse an index that is called like what is to be found: without it, its rows would be read as repeats."""
    for name in frame.index.names:
        dim = dim_of(name)
        role = "tasks" if dim == "task" else dim
        if dim is not None and role not in said and name not in frame:
            raise Missing(
                "extra" if dim == "task" else dim,
                name,
                "is an index of the frame, and no column",
                "Make columns of the index: frame.reset_index()",
            )


def _has(frame: pd.DataFrame, name: Any) -> bool:
    """Return whether a frame has a column; what cannot be the name of one is refused later."""
    return pd.api.types.is_hashable(name) and name in frame


def _refuse_lists(frame: pd.DataFrame, said: Mapping[str, Any]) -> None:
    """Refuse columns that are given, or called like a dim, and hold lists, which are neither labels nor numbers."""
    called = {dim: dim for dim in DIMS if dim in frame and dim not in said}
    for role, columns in {**said, **called}.items():
        for name in as_list(columns):
            if n_labels(frame[name]) or not frame[name].notna().any():
                continue
            argument = ARGUMENTS[role]
            if role in ("score", "training"):
                check_numeric(argument, frame[name], [], [give(**{argument: each}) for each in numeric_columns(frame)])
            label_codes(frame[name])


def _as_named(frame: pd.DataFrame, said: Mapping[str, Any]) -> Reading:
    """Return the reading of columns as they are named, those that are not by the names of their dims."""
    named: dict[str, Any] = {dim: said.get(dim, dim if dim in frame else None) for dim in DIMS}
    for dim in ("algorithm", "run"):
        columns = named[dim]
        if isinstance(columns, list) and len(columns) > 1 and all(isinstance(name, str) for name in columns):
            named[dim], frame = with_joined(frame, columns, dim)
    return Reading(frame, score=said.get("score"), tasks=tuple(said.get("tasks", ())), **named)


def as_found(
    curves: xr.DataArray, reading: Reading, looked_for: Sequence[str], *, is_said: bool = False
) -> xr.DataArray:
    """Return curves that have each dim that was looked for: of one label, or one level, where no column is it.

    Where columns have other names than dims, or the reading is to be said, ``attrs["reading"]`` says which is which.
    """
    names = {dim: getattr(reading, dim) for dim in looked_for}
    if is_said or reading.made or any(name not in (None, dim) for dim, name in names.items()):
        made = [*reading.made, *rows_said(curves)]
        curves = curves.assign_attrs({provenance.READING: reading.as_json(list(dict.fromkeys(made)))})
    lacking = [
        dim for dim in ("algorithm", "run") if dim in looked_for and dim not in curves.dims and dim not in curves.coords
    ]
    if lacking:
        order = [dim for dim in ("algorithm", "run") if dim in (*lacking, *curves.dims)]
        curves = curves.expand_dims({dim: [0] for dim in lacking})
        curves = curves.transpose(*labels.extra_dims(curves), *order, ...)
    has_levels = "training" in curves.coords or "training" in curves.dims
    if "training" in looked_for and not has_levels:
        return at_one_level(curves)
    return curves


def no_frame_method(name: str) -> str:
    """Return the message for a method that frames do not have: the call that makes curves."""
    return f"a DataFrame has no .curves.{name}; curves have. Make them: frame.curves.to_dataarray().curves.{name}()"
