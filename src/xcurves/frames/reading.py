"""One reading: which column of a frame is what, what was made of it, what is not used, and what cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pandas as pd

from xcurves.core.direction import looks_like_score
from xcurves.core.doubts import MOST, Choice, counted, runs_each
from xcurves.core.known import Known, known_of
from xcurves.core.names import ENDED_EARLY, FINISHED, dim_of, is_clock
from xcurves.core.refusal import Missing
from xcurves.frames import roles
from xcurves.frames.items import are_matched, settle_items
from xcurves.frames.score_columns import find_score, n_labels
from xcurves.frames.wide import with_joined
from xcurves.frames.wide_tables import columns_of, listed, long_form

ROLES = ("algorithm", "run", "training", "score", "tasks")
FOLD = "fold"  # what runs are matched by
_MOST_COLUMNS = 6  # that a role could be
_RUN = "run"
TRAINING = "training"  # a column that is called like a dim is that dim


@dataclass(frozen=True)
class Doubt:
    """What could not be told of a frame, with all readings that fit."""

    unknown: Mapping[str, Sequence[str]]  # from a role to the columns that it could be
    choices: tuple[Choice, ...]
    question: str = ""  # in words, where it is no choice of columns


@dataclass(frozen=True)
class Reading:
    """Which column of a frame is what.

    Attributes
    ----------
    frame : DataFrame
        The frame, with the columns that were made: labels of several columns joined, numbers of rows as runs.
    algorithm, run, training, score : str, optional
        Columns; None where there is none.
    tasks : tuple of str
        Columns of tasks that have several labels, or that were given.
    passage : str, optional
        The column of what items belong to.
    matched : str
        "fold" where runs are the folds of a data set, "" else.
    others : tuple of str
        Further columns that could be the score.
    made : tuple of str
        What was made, joined or left out, in words.
    doubt : Doubt, optional
        What could not be told.
    apart : str
        The column that tells the runs apart that are numbered by their order, "" where none are.
    """

    frame: pd.DataFrame
    algorithm: str | None = None
    run: str | None = None
    training: str | None = None
    score: str | None = None
    tasks: tuple[str, ...] = ()
    passage: str | None = None
    matched: str = ""
    others: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    doubt: Doubt | None = None
    numbered: bool = False
    apart: str = ""
    lower_is_better: bool | None = None
    coords: tuple[str, ...] = ()  # columns that are coordinates of runs
    state: str | None = None  # the column that says which runs failed

    @property
    def missing(self) -> Mapping[str, Sequence[str]]:
        """From each role that could not be told to the columns that it could be."""
        if self.doubt is None:
            return {}
        return self.doubt.unknown

    @property
    def said(self) -> str:
        """One line: ``read as algorithm = algo, run = seed, training = env_steps, task = env, score = return``."""
        named = {
            "algorithm": self.algorithm,
            "run": self.run,
            "training": self.training,
        }
        parts = [f"{dim} = {name}" for dim, name in named.items() if name is not None]
        parts += [f"task = {name}" for name in self.tasks]
        if self.training is None:
            parts.append("no training")
        if self.score is not None:
            parts.append(f"score = {self.score}")
            if self.others:
                shown = [*self.others[:4], *["..."] * (len(self.others) > 4)]
                parts[-1] += f" (not {', '.join(shown)})"
        return "; ".join([f"read as {', '.join(parts)}", *self.made])


def read_frame(frame: pd.DataFrame, given: Mapping[str, Any] | None = None) -> Reading:
    """Find which columns of a tidy frame are algorithm, run, training, tasks and score.

    Parameters
    ----------
    frame : DataFrame
        One row per score.
    given : mapping, optional
        What is said: columns of "algorithm" and "run" (one, or several whose labels are joined), "training", "score",
        "tasks" (a sequence) and "passage". None says that there is none, ``{"training": None}``; what is left out is
        found.

    Returns
    -------
    Reading
        The columns, what was made, and what could not be told.

    Raises
    ------
    KeyError
        If a given column is not in the frame.

    Notes
    -----
    A column is recognised by its whole name, or by its last word (`env_steps`, `episodic_return`), with or without
    ``_id`` and ``_name`` (`env_id`). Of several, one that varies is taken before constants; two that both vary are not
    chosen between. Steps and clocks tell nothing apart unless they are given. Items that each algorithm has are tasks;
    folds are matched runs. The score is a single other column of numbers, or else the first in the order return,
    reward, score, accuracy, error, loss; those of evaluations before those of training.

    Examples
    --------
    >>> import pandas as pd
    >>> from xcurves.frames.reading import read_frame
    >>> frame = pd.DataFrame({"algo": ["a", "b"], "seed": 0, "env_steps": 10, "loss": [0.1, 0.2], "return": [1.0, 2.0]})
    >>> read_frame(frame).said
    'read as algorithm = algo, run = seed, training = env_steps, score = return (not loss)'
    >>> read_frame(frame, {"score": "loss"}).said
    'read as algorithm = algo, run = seed, training = env_steps, score = loss'
    """
    return _Finder(frame, dict(given or {})).reading()


@dataclass
class _Finder:
    """What is found of a frame, role by role."""

    frame: pd.DataFrame
    typed: dict[str, Any]
    roles: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    passage: str | None = None
    matched: str = ""
    numbered: bool = False
    state: str | None = None

    def reading(self) -> Reading:
        """Return the reading of the frame."""
        told = known_of(self.frame)
        self._take_given(told)
        points = self._find_points()
        if points is not None:
            return points
        self.frame, wide = long_form(self.frame, self.roles)
        self.state = roles.states_of(self.frame, self._used)
        self._find_tasks()
        self._find_runs()
        self._find_algorithm(told)
        self._settle_items()
        self._find_score(told)
        self._find_training(told)
        self._number_runs()
        self._find_missing()
        if wide:
            self.made.insert(0, wide.removeprefix(", "))
        score = self.roles.get("score")
        lower = None
        if score is not None and score == told.score:
            lower = told.lower_is_better
        return Reading(
            self.frame,
            self.roles.get("algorithm"),
            self.roles.get("run"),
            self.roles.get("training"),
            score,
            tuple(self.roles["tasks"]),
            self.passage,
            self.matched,
            tuple(self.others) if score is not None else (),
            tuple(self.made),
            self._doubt(),
            self.numbered,
            self._what_tells_apart(),
            lower,
            state=self.state,
        )

    def _find_points(self) -> Reading | None:
        """Return the reading of the points of a scaling law: losses of model sizes and tokens, each row a run."""
        found = roles.points_of(self.frame)
        said = {role for role in (*ROLES, "coords", "passage") if self.typed.get(role, []) != []}
        if found is None or said - {"score"}:
            return None
        score = self.roles.get("score")
        if score is None:
            score, _ = find_score(self.frame, list(found))
        if score is None or not looks_like_score(score):
            return None
        size, tokens = found
        named = {size: "model_size", tokens: "tokens"}
        made = f"each row is a point of a scaling law: model_size = {size}, tokens = {tokens}"
        return Reading(
            self.frame.rename(columns=named),
            score=score,
            made=(made,),
            coords=("model_size", "tokens"),
        )

    # what is said

    def _take_given(self, told: Known) -> None:
        """Take the columns that are given, those of several joined, and those that the source knows."""
        _check_given(self.frame, self.typed)
        self.roles = {role: self.typed[role] for role in ROLES if role in self.typed}
        self.passage = self.typed.get("passage")
        for role in ("algorithm", "run"):
            columns = listed(self.roles.get(role))
            if len(columns) == 1:
                self.roles[role] = columns[0]
            elif len(columns) > 1:
                self.roles[role], self.frame = with_joined(self.frame, columns)
        typed = [name for role in ("algorithm", "run") for name in listed(self.typed.get(role))]
        extra = [name for name in told.extra if name not in typed]
        if extra and "tasks" not in self.roles:
            self.roles["tasks"] = extra
        if told.score is not None and "score" not in self.roles:
            self.roles["score"] = told.score

    @property
    def _used(self) -> list[str]:
        used = columns_of(self.roles)
        for role in ("algorithm", "run"):
            used += listed(self.typed.get(role))
        used += [
            *listed(self.passage),
            *listed(self.typed.get("coords")),
            *listed(self.state),
        ]
        return used

    def _keys(self, *names: str) -> list[str]:
        return roles.keys_of(self.roles, *names)

    @property
    def _runs(self) -> list[str]:
        """The columns that tell runs apart, none if no column names runs."""
        if self.roles.get("run") is None:
            return []
        return list(dict.fromkeys(self._keys("tasks", "algorithm", "run")))

    # labels

    def _find_tasks(self) -> None:
        if "tasks" not in self.roles:
            self.roles["tasks"] = roles.find_tasks(self.frame, self._used)

    def _find_runs(self) -> None:
        """Find the runs: a column of their name, or the folds of a data set, or both joined."""
        typed = listed(self.typed.get("run"))
        folds = roles.find_folds(self.frame, [name for name in self._used if name not in typed])
        if "run" in self.roles:
            if set(folds) & set(typed):
                self.matched = FOLD
            return
        taken = [*self._used, *folds]
        run, choices = roles.find_label(self.frame, "run", taken, self._keys("algorithm", "tasks"))
        if choices:
            self.missing["run"] = choices
            self.roles["run"] = None
            return
        self.roles["run"] = run
        if len(folds) != 1:
            if len(folds) > 1:
                self.missing["run"] = folds
            return
        self.matched = FOLD
        self.roles["run"] = folds[0]
        if run is not None and n_labels(self.frame[run]) > 1:
            self.roles["run"], self.frame = with_joined(self.frame, [run, folds[0]])
            self.typed["run"] = [run, folds[0]]

    def _find_algorithm(self, told: Known) -> None:
        if "algorithm" in self.roles:
            return
        if told.rival is not None:
            self.missing["algorithm"] = ["algorithm", told.rival]
            self.roles["algorithm"] = None
            return
        found, choices = roles.find_label(self.frame, "algorithm", self._used, self._keys("tasks"))
        if choices:
            self.missing["algorithm"] = choices
        elif found is None:
            known = [*self._used, *self._constant_in_items()]
            found = roles.only_text(self.frame, known, self._keys("run"))
        self.roles["algorithm"] = found

    def _constant_in_items(self) -> tuple[str, ...]:
        return settle_items(self.frame, self.roles["tasks"], self._used, None, self.passage).constant

    def _settle_items(self) -> None:
        """Take items that each algorithm has as tasks, and say what is not used of them."""
        if "tasks" in self.typed and self.passage is None:
            return
        items = settle_items(
            self.frame,
            self.roles["tasks"],
            self._used,
            self.roles["algorithm"],
            self.passage,
        )
        self.frame, self.passage = items.frame, items.passage
        self.roles["tasks"] = items.tasks
        if items.passage is not None:
            self.made.append(f"tasks of one {items.passage} belong together")
        if items.constant:
            self.made.append(f"{', '.join(items.constant)} not used: the same in all rows of a task")
        self._constant = items.constant

    # numbers

    def _find_score(self, told: Known) -> None:
        if "score" in self.roles:
            return
        trainings = roles.find_trainings(self.frame, self._used)
        used = [*self._used, *trainings[:1], *listed(told.training)]
        if "training" in self.typed:
            used = self._used
        self.roles["score"], self.others = find_score(self.frame, used)
        if self.roles["score"] is None:
            self.missing["score"] = self.others

    def _find_training(self, told: Known) -> None:
        """Find the training that has a level wherever there is a score, and that rises within a run."""
        if "training" in self.roles:
            return
        score = self.roles["score"]
        if TRAINING in self.frame and TRAINING not in self._used:
            self.roles["training"] = TRAINING
            return
        found = roles.find_trainings(self.frame, self._used)
        if told.training is not None and told.training not in self._used:
            found = [told.training, *[name for name in found if name != told.training]]
        self.roles["training"] = found[0] if found else None
        if not found or score is None:
            return
        training = roles.of_score(self.frame, found, score)
        if training != found[0]:  # rows of the other series have no score
            self.frame = self.frame[self.frame[score].notna()]
        self.frame = self.frame[self.frame[[training, score]].notna().any(axis=1)]
        self.roles["training"] = training
        self._check_training(found, training, score)

    def _check_training(self, found: Sequence[str], training: str, score: str) -> None:
        """Take another training where the one that was found begins anew or never changes in a run."""
        scored = self.frame[self.frame[score].notna()]
        keys = self._keys("tasks", "algorithm", "run")
        if is_clock(training) and self._runs and not scored.duplicated(self._runs).any():
            self.roles["training"] = None
            return
        stuck = [name for name in roles.constant_steps(scored) if name not in self._used]
        if is_clock(training) and self._runs and stuck:
            self._order_by_clock(scored, stuck[0], keys)
            return
        epoch = roles.epochs_of(scored, found, training, keys)
        if epoch is not None:
            kept = ~scored.duplicated([*keys, epoch], keep="last")
            self.frame = scored[kept]
            self.roles["training"] = epoch
            self.made.append(f"{training} begins anew in each {epoch}: the last row of each {epoch} counts")
        elif self._runs and roles.is_constant_in_runs(scored, training, score, keys):
            self._order_by_clock(scored, training, keys)

    def _order_by_clock(self, scored: pd.DataFrame, training: str, keys: Sequence[str]) -> None:
        """Take the order of a clock as training, whose steps never change; without a clock it cannot be told."""
        used = [name for name in self._used if name not in (training, self.roles["training"])]
        clocks = [
            name
            for name in roles.clocks_in(scored, used)
            if name != training and not scored.duplicated([*keys, name]).any()
        ]
        self.roles["training"] = None
        if not clocks:
            self.missing["training"] = []
            return
        name = f"order of {clocks[0]}"
        order = scored.groupby(list(keys), observed=True)[clocks[0]].rank().astype("int64")
        self.frame = scored.assign(**{name: order})
        self.roles["training"] = name
        self.made.append(f"{training} never changes within a run: training is the order of {clocks[0]}")

    def _number_runs(self) -> None:
        """Make runs of the rows of each algorithm and task, where scores have neither runs nor training."""
        known = self.roles
        if known["run"] is not None or "run" in self.missing or "training" in self.missing:
            return
        if known["training"] is not None or _RUN in self.frame:
            return
        if "run" in self.typed:
            return
        keys = self._keys("algorithm", "tasks")
        if not keys or not self.frame.duplicated(keys).any():
            return
        self.frame = self.frame.assign(**{_RUN: self.frame.groupby(keys).cumcount()})
        known["run"] = _RUN
        self.numbered = True

    def _what_tells_apart(self) -> str:
        """Return the unused column that tells numbered runs apart and that algorithms share, "" if none does."""
        if not self.numbered:
            return ""
        keys = self._keys("algorithm", "tasks")
        for name in map(str, self.frame.columns):
            if name in self._used or n_labels(self.frame[name]) < 2 or roles.is_measure(self.frame[name]):
                continue
            is_unique = not self.frame.duplicated([*keys, name]).any()
            if is_unique and are_matched(self.frame, name, self.roles["algorithm"]):
                return name
        return ""

    # what cannot be told

    def _find_missing(self) -> None:
        """Note what no column is named like, and what tells repeated rows apart."""
        known = self.roles
        typed_none = "algorithm" in self.typed
        if known["algorithm"] is None and "algorithm" not in self.missing and not typed_none:
            used = [*self._used, *getattr(self, "_constant", ())]
            self.missing["algorithm"] = roles.could_be_labels(self.frame, used, self._keys("run"))
        keys = self._keys("tasks", "algorithm", "run", "training")
        repeated = bool(keys) and bool(self._scored().duplicated(keys).any())
        if known["run"] is None and "run" not in self.missing and repeated and "run" not in self.typed:
            self.missing["run"] = roles.could_be_labels(self.frame, self._used)

    def _scored(self) -> pd.DataFrame:
        score = self.roles.get("score")
        if score is None:
            return self.frame
        has_score: pd.Series[bool] = self.frame[score].notna()
        return self.frame[has_score]

    def _doubt(self) -> Doubt | None:
        if self.missing.get("training") == []:
            return self._doubt_of_training()
        if self.missing:
            return Doubt(dict(self.missing), tuple(self._choices()))
        return self._doubt_of_ends() or self._doubt_of_parts() or self._doubt_of_rising()

    def _doubt_of_ends(self) -> Doubt | None:
        """Return what to ask where runs were ended early: to leave them out may reward failing."""
        if self.state is None:
            return None
        ends = self.frame[self.state].astype(str).str.casefold()
        labels = sorted(self.frame[self.state][ends.isin(ENDED_EARLY)].unique())
        finished = self.frame[self.state][ends.isin(FINISHED)].unique().tolist()
        if not labels or len(finished) != 1:
            return None
        rest = self.frame[self.frame[self.state] == finished[0]]
        select = {"select": f"{self.state}={finished[0]}"}
        choices = [Choice(select, f"{compared(rest, self.roles)}, without those")]
        counts = {"missing_scores": "failed"}
        choices.append(Choice(counts, f"{compared(self.frame, self.roles)}, those failed"))
        if self.typed.get("missing_scores") == "failed":
            return None
        return Doubt({}, tuple(choices), f"has runs that were {', '.join(labels)}")

    def _doubt_of_parts(self) -> Doubt | None:
        """Return what to ask where scores of train and test stand below each other."""
        if not _repeats(self.frame, self.roles):
            return None
        for name in map(str, self.frame.columns):
            if name in self._used or not roles.says_data(self.frame, name):
                continue
            choices = []
            for label in self.frame[name].dropna().unique().tolist():
                part = self.frame[self.frame[name] == label]
                if not _repeats(part, self.roles):
                    chosen = {"select": f"{name}={label}"}
                    choices.append(Choice(chosen, compared(part, self.roles)))
            if choices:
                return Doubt(
                    {},
                    tuple(choices[:MOST]),
                    f"has scores of several data: {name}",
                )
        return None

    def _doubt_of_training(self) -> Doubt:
        """Return what to ask where a step never changes within a run and no clock says what came first."""
        kept = {
            "last": "the last row of each run",
            "mean": "the mean of the rows of each run",
        }
        known = self.roles | {"training": None}
        choices = [
            Choice(
                {"training": None, "duplicates": how},
                f"{compared(self.frame, known)}, {words}",
            )
            for how, words in kept.items()
        ]
        return Doubt(
            {},
            tuple(choices),
            "has steps that never change within a run while scores do",
        )

    def _doubt_of_rising(self) -> Doubt | None:
        """Return what to ask where whole numbers of unknown name rise within each run: steps or items."""
        known = self.roles
        if known["training"] is not None or "training" in self.typed or not self._runs:
            return None
        if "tasks" in self.typed or not _repeats(self.frame, known):
            return None
        scored = self._scored()
        for name in map(str, self.frame.columns):
            if name in self._used or dim_of(name) is not None:
                continue
            if not roles.rises_in_runs(scored, name, self._runs):
                continue
            as_steps = {"training": name}
            as_items = {"tasks": [*known["tasks"], name]}
            n_levels = scored[name].nunique()
            choices = (
                Choice(as_steps, f"{compared(self.frame, known)}, at {n_levels:,} steps"),
                Choice(as_items, compared(self.frame, known | as_items)),
            )
            return Doubt(
                {},
                choices,
                f"does not say whether {name} counts steps of training or names tasks",
            )
        return None

    def _choices(self) -> list[Choice]:
        """Return the readings that fit, each by the columns that settle it."""
        if not all(self.missing.values()):
            return []
        settled = list(self.missing)
        lists = [self.missing[role][:_MOST_COLUMNS] for role in settled]
        if "score" in settled:  # after the columns that say which run it is of
            place = settled.index("score")
            lists[place] = list(reversed(self.missing["score"][-_MOST_COLUMNS:]))
        readings = []
        for columns in product(*lists):
            if len(set(columns)) < len(columns):
                continue
            chosen = dict(zip(settled, columns, strict=True))
            known = self.roles | chosen
            readings.append(
                (
                    _repeats(self.frame, known),
                    Choice(chosen, compared(self.frame, known)),
                )
            )
        fitting = [choice for repeats, choice in readings if not repeats]
        if not fitting and settled == ["algorithm"] and "tasks" not in self.typed:
            fitting = self._choices_of_parts(lists[0])
        if not fitting and "run" in settled:
            return []  # no column tells the runs apart
        return (fitting or [choice for _, choice in readings])[:MOST]

    def _choices_of_parts(self, columns: Sequence[str]) -> list[Choice]:
        """Return the readings in which all columns are used: one is the algorithm and the others tasks, or all are."""
        tasks = self.roles["tasks"]
        every: list[dict[str, Any]] = [
            {
                "algorithm": name,
                "tasks": [*tasks, *(other for other in columns if other != name)],
            }
            for name in columns
        ]
        every.append({"algorithm": list(columns)})
        readings = [(chosen, self.roles | chosen) for chosen in every]
        return [
            Choice(chosen, compared(self.frame, known)) for chosen, known in readings if not _repeats(self.frame, known)
        ]


def compared(frame: pd.DataFrame, known: Mapping[str, Any]) -> str:
    """Return what a reading compares: how many algorithms, tasks and runs."""
    score = known.get("score")
    rows = frame
    if score is not None:
        rows = frame[frame[score].notna()]
    n_algorithms, n_tasks = 1, 1
    groups: list[str] = []
    if known.get("algorithm") is not None:
        groups += listed(known["algorithm"])
        n_algorithms = len(rows[groups].drop_duplicates())
    tasks = list(known.get("tasks") or ())
    if tasks:
        n_tasks = len(rows[tasks].drop_duplicates())
        groups += tasks
    runs = [*groups, *listed(known.get("run"))]
    counts = pd.Series([1])
    if len(runs) > len(groups):
        pairs = rows[runs].drop_duplicates()
        counts = pd.Series([len(pairs)])
        if groups:
            counts = pairs.groupby(groups, observed=True).size()
    each = runs_each(int(counts.min()), int(counts.max()))
    return f"{counted(n_algorithms, 'algorithm')}, {counted(n_tasks, 'task')}, {each}"


def _repeats(frame: pd.DataFrame, known: Mapping[str, Any]) -> bool:
    """Return whether rows with a score repeat a run at a level."""
    score = known.get("score")
    rows = frame
    if score is not None:
        rows = frame[frame[score].notna()]
    keys = roles.keys_of(known, "tasks", "algorithm", "run", "training")
    if not keys or (known.get("run") is None and known.get("training") is None):
        return False
    return bool(rows.duplicated(keys).any())


def _check_given(frame: pd.DataFrame, given: Mapping[str, Any]) -> None:
    for role in (*ROLES, "passage"):
        for column in listed(given.get(role)):
            if column not in frame:
                has = ", ".join(map(repr, list(frame.columns)[:20]))
                raise Missing(role, column, "is no column of the frame", f"It has {has}")
