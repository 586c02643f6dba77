"""Runs that may be mixed, by columns that are not used: of rows, of budgets of trials, of episodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from xcurves.core import names, provenance
from xcurves.core.direction import looks_like_score
from xcurves.core.doubts import Choice, Doubtful, asked, how_many
from xcurves.core.known import Duplicates
from xcurves.core.labels import DIMS
from xcurves.core.refusal import Text, Verbatim, give
from xcurves.frames.columns import unused_labels, unused_numbers
from xcurves.frames.reading import OF_FRAME, Doubt, Found, as_list, compared, proposal
from xcurves.frames.roles import n_labels
from xcurves.frames.wide_tables import ROW
from xcurves.kernels.ragged import Rows

_SHOWN = 3  # labels in a message
_EPISODES = re.compile(r"(?:^|[\W_])(?:eps?|episodes?|rollouts?)(?:$|[\W_])", re.IGNORECASE)
_OF_SUMS = names.names_in("avg average mean overall")  # words of labels that sum up others
_MANY = 50  # runs for each level, of at least two


class Named(NamedTuple):
    """The columns of a frame by dim, all that are used, those of further dims, and what was given by the caller."""

    dims: Mapping[str, Any]
    used: Sequence[Any]
    extra: Sequence[str]
    given: Mapping[str, Any]

    @property
    def roles(self) -> dict[str, Any]:
        """The column of each role."""
        roles = {"score": self.used[0]} | {dim: self.dims.get(dim) for dim in DIMS}
        if self.extra:
            roles["tasks"] = list(self.extra)
        return roles

    @property
    def known(self) -> dict[str, Any]:
        """The column of each role, without the score where rows that lack one count as failed."""
        if self.given.get("missing_scores") != "failed":
            return self.roles
        return {role: column for role, column in self.roles.items() if role != "score"}

    def given_columns(self, dim: str) -> list[Any]:
        """Return the columns of a dim as they are given: of labels that were joined each."""
        return as_list(self.given.get(dim)) or [self.dims[dim]]

    @property
    def keys(self) -> list[Any]:
        """The columns whose labels say which row is which."""
        return list(self.dims.values())


def is_clock(column: pd.Series[Any]) -> bool:
    """Return whether a column says when a row was written, by its name or its dtype."""
    return pd.api.types.is_datetime64_any_dtype(column) or names.is_clock(column.name)


def asks(question: str, choices: Sequence[Choice], named: Named) -> Doubtful:
    """Return the question what rows are, with the call of each reading that fits."""
    proposals = [proposal(named.given, choice) for choice in choices]
    return asked("frame", Text(OF_FRAME, question), proposals)


def choices_of(frame: pd.DataFrame, apart: Sequence[Any], named: Named) -> list[Choice]:
    """Return the readings in which columns that tell rows apart are used: as steps, tasks, runs or settings."""
    known = named.known
    if all(names.dim_of(name) == "training" for name in apart):  # within whose labels another step begins anew
        choice = {"training": apart[0], "duplicates": "last"}
        return [Choice(choice, f"{compared(frame, known)}, the last row of each {apart[0]}")]
    sums = _labels_of_sums(frame, apart)
    if sums:
        parts = [(label, frame[frame[apart[0]] == label]) for label in sums]
        return [Choice({"select": (apart[0], label)}, compared(part, known)) for label, part in parts]
    are_files = all(names.rank_of(name, names.FILES) is not None for name in apart)
    chosen: list[dict[str, Any]] = []
    if "run" not in named.dims:
        chosen.append({"run": list(apart)})
    elif are_files:  # a file holds a run or a part of one, and is no task
        chosen.append({"run": [*named.given_columns("run"), *apart]})
    if not are_files:
        chosen.append({"tasks": [*named.extra, *apart]})
        if "algorithm" in named.dims:
            chosen.append({"algorithm": [*named.given_columns("algorithm"), *apart]})
    choices = [Choice(each, compared(frame, known | each)) for each in chosen]
    if are_files or "training" in {*named.dims, *named.given}:
        return choices
    return [*_choices_of_steps(frame, apart, named, known), *choices]


def _labels_of_sums(frame: pd.DataFrame, apart: Sequence[Any]) -> list[str]:
    """Return the labels that sum up the others, as classification_report has them: accuracy, macro avg."""
    if len(apart) != 1 or is_numeric_dtype(frame[apart[0]]):
        return []
    labels = list(map(str, frame[apart[0]].dropna().unique()))
    means = [label for label in labels if _OF_SUMS & set(names.words_of(label))]
    if not means:
        return []
    return [*means, *(label for label in labels if label not in means and looks_like_score(label))]


def _choices_of_steps(frame: pd.DataFrame, apart: Sequence[Any], named: Named, known: dict[str, Any]) -> list[Choice]:
    """Return the reading in which the numbers with the most labels are steps and the other columns tasks, if any."""
    steps = [name for name in apart if is_numeric_dtype(frame[name])]
    if not steps:
        return []
    step = max(steps, key=lambda name: (frame[name].nunique(), frame[name].max()))
    rest = [name for name in apart if name != step]
    chosen: dict[str, Any] = {"training": step}
    if rest:
        chosen["tasks"] = [*named.extra, *rest]
    words = f"{compared(frame, {**known, **chosen})}, at {how_many(frame[step].nunique(), 'step')}"
    if (frame.groupby([*named.keys, *rest], observed=True)[step].diff() < 0).any():
        chosen["duplicates"] = "last"
        words += f", rows sorted by {step}"
    return [Choice(chosen, words)]


def choices_by_order(frame: pd.DataFrame, named: Named) -> list[Choice]:
    """Return the readings in which repeated rows of each run are steps, tasks or further runs, in their order."""
    known = named.known
    given: dict[str, Any] = {dim: named.given_columns(dim) for dim in named.dims if dim in ("algorithm", "run")}
    if "training" in named.dims:
        given["training"] = named.dims["training"]
    if named.extra:
        given["tasks"] = list(named.extra)
    numbers = frame.groupby(named.keys, observed=True).cumcount()
    numbered = frame.assign(**{ROW: numbers})
    choices = []
    if "training" not in {*named.dims, *named.given}:
        words = f"{compared(frame, known)}, at {how_many(int(numbers.max()) + 1, 'step')}, in the order of rows"
        choices.append(Choice(given | {"training": ROW}, words))
    if len(set(frame.groupby(named.keys, observed=True).size())) > 1:
        return choices
    tasks, run = {"tasks": [*named.extra, ROW]}, {"run": [*named.given_columns("run"), ROW]}
    choices.append(Choice(given | tasks, f"{compared(numbered, known | tasks)}, tasks in the order of rows"))
    return [*choices, Choice(given | run, compared(numbered, known | run))]


def ask_of_ends(frame: pd.DataFrame, rows: Rows, of_task: int, named: Named) -> None:
    """Ask what rows without a score are that end a run, where another run of its task has a score at their level.

    Curves of one task, `of_task` of them, have numbers that follow on each other.
    """
    is_scored = ~np.isnan(rows.score)
    if is_scored.all():
        return
    last = pd.Series(rows.level[is_scored]).groupby(rows.curve[is_scored]).max()
    after = ~is_scored & (rows.level > last.reindex(rows.curve).to_numpy())
    at = pd.MultiIndex.from_arrays([rows.curve // of_task, rows.level])
    ends = np.flatnonzero(after & at.isin(at[is_scored]))
    if not ends.size:
        return
    rows_of_ends = frame[named.keys].iloc[ends[:1]].to_numpy(dtype=object)
    row = tuple(rows_of_ends[0].tolist())  # as Python's numbers
    n_runs = len(np.unique(rows.curve[ends]))
    runs = "1 run ends"
    if n_runs > 1:
        runs = f"{n_runs:,} runs end"
    question = f"{runs} with rows without a score, where others have one, first {row}"
    choices = [
        Choice({"missing_scores": "failed"}, "they failed, worse than all others"),
        Choice({"missing_scores": "absent"}, "nothing was measured there"),
    ]
    raise asks(question, choices, named)


def ask_of_rungs(frame: pd.DataFrame, named: Named, *, are_numbered: bool) -> None:
    """Ask which trials are compared, without a column of training, of several rungs, which had unlike budgets.

    `are_numbered`: runs are rows, so that none has several budgets.
    """
    rungs = _rungs_of(frame, named.used)
    if not rungs:
        return
    rung = rungs[0]
    groups = [column for dim, column in named.dims.items() if dim != "run"]
    choices = choices_of_rungs(frame, rung, groups, named.roles, has_curves=not are_numbered)
    budgets = f"{frame[rung].nunique()} budgets, column {rung!r} ({_listed(frame[rung])})"
    raise asks(f"a reading without training pools trials of {budgets}", choices, named)


def _rungs_of(frame: pd.DataFrame, used: Sequence[Any]) -> list[str]:
    """Return the columns of several budgets of trials."""
    numeric = [str(name) for name in frame.select_dtypes("number") if name not in used]
    return [name for name in numeric if names.is_rung(name) and len(frame[name].unique()) > 1]


def telling_apart(
    every: pd.DataFrame,
    rows: NDArray[np.int64],
    curve: NDArray[np.int64],
    level: NDArray[np.float64],
    used: Sequence[Any],
) -> list[Any]:
    """Return the unused columns with whose labels the level of each run rises from row to row, none if it does not.

    `rows` are those of `every` row that are looked at. Steps and clocks are no labels, nor are names of single rows.
    """
    frame = every.iloc[rows]
    apart = [
        name
        for name in (*unused_labels(frame, used), *unused_numbers(frame, used))
        if not is_clock(frame[name]) and not names.is_step(name) and n_labels(every[name]) < len(every)
    ]
    if not apart or not _all_rise(frame, curve, level, apart):
        return []
    # names of single runs, such as jobs, tell all apart: fewer labels are kept before more
    n_of_each = {name: n_labels(every[name]) for name in apart}
    for name in sorted(apart, key=n_of_each.__getitem__)[::-1]:
        others = [other for other in apart if other != name]
        if _all_rise(frame, curve, level, others):
            apart = others
    return apart


def _all_rise(
    frame: pd.DataFrame,
    curve: NDArray[np.int64],
    level: NDArray[np.float64],
    apart: Sequence[Any],
) -> bool:
    """Return whether levels rise from row to row of each run with the same labels."""
    parts = {str(place): frame[name].to_numpy() for place, name in enumerate(apart)}
    rows = pd.DataFrame({"curve": curve, **parts})
    keys = [rows[name] for name in rows]
    before = pd.Series(level).groupby(keys, dropna=False).shift()
    return bool((before.isna() | (before < level)).all())


def say_unused(frame: pd.DataFrame, apart: Sequence[Any]) -> str:
    """Return that columns which tell rows apart are not used."""
    listed = " and ".join(f"{name!r} ({_listed(frame[name])})" for name in apart)
    if len(apart) > 1:
        return f"columns {listed} are not used"
    return f"column {listed} is not used"


def warn_of_mixed_runs(
    frame: pd.DataFrame,
    curve: NDArray[np.int64],
    level: NDArray[np.float64],
    named: Named,
    duplicates: Duplicates,
) -> None:
    """Warn of a column, not used, that has several labels in one run, each in several rows, or starts it anew."""
    texts = unused_labels(frame, named.used)
    numbers = []
    if duplicates != "mean":
        numbers = unused_numbers(frame, named.used)
    run = named.dims["run"]
    for name in [*texts, *numbers]:
        rows = pd.DataFrame({"curve": curve, "code": pd.factorize(frame[name])[0], "level": level})
        parts = rows.groupby(["curve", "code"])["level"].agg(["size", "min", "max"])
        mixed = parts[parts.index.get_level_values("curve").duplicated(keep=False)]
        if not len(mixed):
            continue
        if name in numbers:
            are_several = _starts_anew(rows, parts)
        else:
            are_several = bool((mixed["size"] > 1).all())
        if are_several:
            runs = mixed.index.unique("curve")
            provenance.warn(
                f"column {name!r} is not used and has several labels in one run "
                f"({_listed(frame.loc[curve == runs[0], name])}), in {len(runs)} runs of column {run!r}. If it is a "
                f"further dim: {give(extra=name)}; if runs of several are mixed, name a column of runs that differ"
            )
            return


def _starts_anew(rows: pd.DataFrame, parts: pd.DataFrame) -> bool:
    """Return whether each number of a column is one stretch of rows in a run, and training starts anew with it.

    Measures change from row to row, counters and schedules go on where they stopped.
    """
    by_run = rows.sort_values("curve", kind="stable")[["curve", "code"]]
    n_stretches = (by_run.diff() != 0).any(axis=1).sum()
    ends = parts[["min", "max"]].sort_values(["curve", "min"])
    before = ends.groupby("curve").shift()
    return bool(n_stretches == len(ends) and (ends["min"] < before.mean(axis=1)).any())


def _listed(column: pd.Series[Any]) -> str:
    known = column.dropna().unique().tolist()
    shown = [repr(label) for label in known[:_SHOWN]]
    if len(known) > _SHOWN:
        shown.append("...")
    return ", ".join(shown)


def warn_of_episodes(frame: pd.DataFrame, columns: Mapping[str, str], rows: Rows) -> None:
    """Warn if the run column looks like episodes; `columns` are those of the dims, `rows` are sorted by curve."""
    reason = _why(frame, columns, rows)
    if reason:
        provenance.warn(
            f"run column {columns['run']!r}: {reason}. Episodes of one run are not independent. If these are episodes, "
            f"name the column of runs, {give(run='seed')}, and average them, {give(duplicates='mean')} or "
            f"{give(on=Verbatim('[...]'), method='mean')}"
        )


def _why(frame: pd.DataFrame, columns: Mapping[str, str], rows: Rows) -> str:
    """Return why runs may be episodes: their name, one level each, or many of few levels."""
    if _EPISODES.search(str(columns["run"])):
        return "its name says episodes"
    n_curves = int(np.count_nonzero(np.diff(rows.curve, prepend=-1)))
    # a run's levels differ, so there are as many at least
    n_levels_of_run = len(rows.curve) / max(n_curves, 1)
    if n_levels_of_run > 1 and n_curves <= _MANY * n_levels_of_run:
        return ""

    groups = [column for dim, column in columns.items() if dim not in ("run", "training")]
    n_groups = len(frame[groups].drop_duplicates())
    n_levels = len(np.unique(rows.level))
    if n_levels_of_run == 1 and n_levels > 1 and n_curves > n_groups:
        return f"each of its {n_curves} runs has one training level, of {n_levels}"
    if n_levels > 1 and n_curves > _MANY * n_levels * n_groups:
        return f"it has {n_curves} runs of {n_levels} training levels"
    return ""


def choices_of_rungs(
    frame: pd.DataFrame,
    rung: str,
    groups: Sequence[str],
    known: Mapping[str, Any],
    *,
    has_curves: bool = True,
) -> list[Choice]:
    """Return the readings of trials of several budgets: all on the first, those left on the last, or as training.

    The first and the last budget are those that all algorithms and tasks, `groups`, have; `has_curves` says whether a
    trial has several.
    """
    everyone = set(frame[rung])
    if groups:
        by_group = frame[rung].groupby([frame[name] for name in groups], observed=True)
        everyone = set.intersection(*map(set, by_group.unique()))
    choices = []
    for budget in dict.fromkeys(edge(everyone) for edge in (min, max) if everyone):
        part = frame[frame[rung] == budget]
        label = budget.item() if isinstance(budget, np.generic) else budget
        choices.append(Choice({"select": (rung, label)}, f"{compared(part, known)}, on {label:g}"))
    if has_curves or not choices:
        choices.append(Choice({"training": rung}, f"{compared(frame, known)}, {rung} as training"))
    return choices


def doubt_of_rungs(found: Found) -> Doubt | None:
    """Return what to ask where trials have several budgets, the training that was found or none, and the worse stop."""
    rung = found.roles["training"]
    if "training" in found.typed or not found.runs or found.numbered:
        return None
    scored = found.scored
    if rung is None:
        rung = next(iter(_rungs_of(scored, found.used)), None)
    if rung is None or not names.is_rung(rung):
        return None
    last = scored.groupby(found.runs, observed=True)[rung].max()
    if last.nunique() < 2:
        return None
    groups = found.keys("algorithm", "tasks")
    known = found.roles | {"training": None}
    question = f"has trials that were stopped on {last.nunique()} budgets, column {rung!r}"
    return Doubt({}, tuple(choices_of_rungs(scored, rung, groups, known)), question)
