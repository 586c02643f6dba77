"""Which columns of a frame are algorithm, run, training, tasks and score: what its names and its contents say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from xcurves.core import matched_runs
from xcurves.core.applicability import UNKNOWN_SAMPLER
from xcurves.core.calls import later
from xcurves.core.direction import MEASURES, looks_like_score, says_higher
from xcurves.core.known import Known, known_of
from xcurves.core.names import FOLD, OF_TRIAL, dim_of, words_of
from xcurves.core.refusal import UNSAID, Cure, Refusal, Text, Words
from xcurves.frames import roles
from xcurves.frames.columns import JOINED
from xcurves.frames.find_training import find_training
from xcurves.frames.reading import ARGUMENTS, OF_FRAME, ROLES, Found, Reading, as_list, columns_typed, no_column
from xcurves.frames.roles import find_score, n_labels
from xcurves.frames.unclear import doubt_of
from xcurves.frames.wide import with_joined
from xcurves.frames.wide_columns import with_means_of_cells, without_summed_labels, without_text_summaries
from xcurves.frames.wide_tables import TASK, doubt_of_columns, long_form, tasks_in, with_named_algorithms
from xcurves.say.numbers import listed as in_words

if TYPE_CHECKING:
    from xcurves.frames import items, unnamed
else:
    items, unnamed = later("xcurves.frames", "items", "unnamed")

_RUN = "run"
_FRACTIONS, _TIMES_AS_LARGE = (0.2, 0.999), 20  # beside percentages; those of one curve have others between
_SHOWN = 4  # settings that are named


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
    >>> from xcurves.frames.finder import read_frame
    >>> frame = pd.DataFrame({"algo": ["a", "b"], "seed": 0, "env_steps": 10, "loss": [0.1, 0.2], "return": [1.0, 2.0]})
    >>> read_frame(frame).said
    'read as algorithm = algo, run = seed, training = env_steps, score = return (not loss)'
    >>> read_frame(frame, {"score": "loss"}).said
    'read as algorithm = algo, run = seed, training = env_steps, score = loss'
    """
    # Columns of lists are no labels.
    others = [name for name, dtype in frame.dtypes.items() if dtype.kind == "O"]
    unread = [name for name in others if frame[name].notna().any() and not n_labels(frame[name])]
    return _Finder(frame.drop(columns=unread), dict(given or {})).reading()


def read_settled(frame: pd.DataFrame, given: Mapping[str, Any], said: Mapping[str, Any]) -> Reading:
    """Return the reading of a frame of which all can be told; else ask, or say what no column can be.

    `given` are columns of roles and options; a question repeats what was `said`.
    """
    reading = read_frame(frame, given)
    if reading.doubt is not None or reading.has_names_of_runs:
        from xcurves.frames.questions import check_settled  # which frames without a doubt do without

        check_settled(reading, said)
    return reading


class _Finder(Found):
    """What finds the roles, one after the other."""

    def reading(self) -> Reading:
        """Return the reading of the frame."""
        given, told = self.frame, known_of(self.frame)
        self._take_given(told)
        points = self._find_points()
        if points is not None:
            return points
        self.frame = without_text_summaries(with_means_of_cells(self.frame))
        self.frame = without_summed_labels(self.frame, columns_typed([self.typed.get("run"), self.typed.get("tasks")]))
        self.frame = with_named_algorithms(self.frame)
        known = self.roles | {"coords": self.typed.get("coords")}
        doubt = doubt_of_columns(self.frame, known)
        if doubt is not None:
            return Reading(self.frame, doubt=doubt)
        self.frame, wide = long_form(self.frame, known)
        self.state = roles.states_of(self.frame, self.used)
        self._find_tasks()
        self._find_runs()
        self._find_algorithm(told)
        self._leave_out_ids_of_folds()
        self._cut_names_of_algorithms()
        self._settle_items()
        self._cut_names_of_runs()
        self._find_score(told)
        _refuse_percentages(self.frame, self.roles["score"])
        self._find_settings()
        find_training(self, told)
        self._number_runs()
        self._find_missing()
        settings = unnamed.fixed_settings(self)
        if settings:
            self.made.append(f"{in_words(settings, _SHOWN)} not used: one value for each algorithm")
        if wide:
            self.made.insert(0, wide.removeprefix(", "))
        score = self.roles.get("score")
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
            doubt_of(self, given, told),
            self.numbered,
            self.numbered_by,
            coords=tuple(as_list(self.typed.get("coords"))),
            state=self.state,
            given={role: column for role, column in self.typed.items() if role in ROLES},
        )

    def _find_points(self) -> Reading | None:
        """Return the reading of the points of a scaling law: losses of model sizes and tokens, each row a run."""
        found = roles.points_of(self.frame)
        said = {role for role in (*ROLES, "coords", "passage") if self.typed.get(role, []) != []}
        if found is None or said - {"score"}:
            return None
        score = self.roles.get("score")
        if score is None:
            score, _ = find_score(self.frame, [name for name in found if name is not None])
        if score is None or not looks_like_score(score):
            return None
        size, tokens, algorithm = found
        named = {size: "model_size", tokens: "tokens"}
        made = f"each row is a point of a scaling law: model_size = {size}, tokens = {tokens}"
        return Reading(
            self.frame.rename(columns=named),
            algorithm,
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
            columns = as_list(self.roles.get(role))
            if len(columns) == 1:
                self.roles[role] = columns[0]
            elif len(columns) > 1:
                self.roles[role], self.frame = with_joined(self.frame, columns, role)
        typed = [name for role in ("algorithm", "run") for name in as_list(self.typed.get(role))]
        extra = [name for name in told.extra if name not in typed]
        if extra and "tasks" not in self.roles:
            self.roles["tasks"] = extra
        if told.score is not None and "score" not in self.roles:
            self.roles["score"] = told.score

    # labels

    def _find_tasks(self) -> None:
        if "tasks" not in self.roles:
            self.roles["tasks"] = roles.find_tasks(self.frame, self.used)

    def _find_runs(self) -> None:
        """Find the runs: a column of their name, or the folds of a data set, or both joined."""
        typed = as_list(self.typed.get("run"))
        folds = roles.find_folds(self.frame, [name for name in self.used if name not in typed])
        if "run" in self.roles:
            if set(folds) & set(typed):
                self.matched = FOLD
                repeats = [name for name in typed if name not in folds]
                if repeats:
                    self.made.append(matched_runs.line_of_repeats(", ".join(repeats), folds[0]))
            return
        taken = [*self.used, *folds]
        run, choices = roles.find_label(self.frame, "run", taken, self.keys("algorithm", "tasks"))
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
            self.typed["run"] = self.joined = [run, folds[0]]
            self.made.append(matched_runs.line_of_repeats(run, folds[0]))

    def _leave_out_ids_of_folds(self) -> None:
        """Take folds alone as runs where what they were joined with is no repeat: each fold has a label of its own."""
        if not self.joined:
            return
        run, fold = self.joined
        pairs = self.frame[list(dict.fromkeys([*self.keys("tasks", "algorithm"), run, fold]))].drop_duplicates()
        is_repeated = pairs.drop(columns=run).duplicated().any()
        if is_repeated or pairs[[run, fold]].drop_duplicates()[run].duplicated().any():
            return
        self.roles["run"] = fold
        del self.typed["run"]
        self.made.remove(matched_runs.line_of_repeats(run, fold))
        self.made.append(f"{run} not used: each {fold} of an algorithm has one")

    def _find_algorithm(self, told: Known) -> None:
        if "algorithm" in self.roles:
            _refuse_dependent_trials(self.frame, as_list(self.typed.get("algorithm")))
            return
        if told.rival is not None:
            named = [name for name in ("algorithm", told.rival) if n_labels(self.frame[name]) > 1]
            self.missing["algorithm"] = named
            self.roles["algorithm"] = None
            return
        found, choices = roles.find_label(self.frame, "algorithm", self.used, self.keys("tasks"))
        if choices:
            self.missing["algorithm"] = choices
        elif found is None:
            known = [*self.used, *self._constant_in_items()]
            found = roles.only_text(self.frame, known, self.keys("run"))
        self.roles["algorithm"] = found

    def _cut_names_of_algorithms(self) -> None:
        """Make columns of algorithm and run of names that have both, vit-seed0, where no column is one of them."""
        algorithm, run = (self.roles[dim] for dim in ("algorithm", "run"))
        name = algorithm or run
        if name is None or None not in (algorithm, run) or self.matched:
            return
        if {"algorithm", "run"} & {*self.typed, *self.missing}:
            return
        from xcurves.frames.names_in_column import cut_names, said_of_cut  # which most frames do without

        labels = cut_names(self.frame, name)
        if labels is None or ("task" in labels and self.roles["tasks"]):
            return
        self.made.append(f"{name} {self.frame[name].iloc[0]} is {said_of_cut(labels)}")
        self.frame = self.frame.drop(columns=name).assign(**labels)
        self.roles |= {"algorithm": "algorithm", "run": "run"} | ({"tasks": ["task"]} if "task" in labels else {})

    def _constant_in_items(self) -> tuple[str, ...]:
        if len(self.items) != 1:
            return ()
        return items.settle_items(self.frame, self.roles["tasks"], self.used, None, self.passage).constant

    def _settle_items(self) -> None:
        """Take items that each algorithm has as tasks, and say what is not used of them."""
        if "tasks" in self.typed and self.passage is None:
            return
        if len(self.items) == 1:
            settled = items.settle_items(
                self.frame,
                self.roles["tasks"],
                self.used,
                self.roles["algorithm"],
                self.passage,
            )
            self.frame, self.passage, self.constant = settled.frame, settled.passage, settled.constant
            self.roles["tasks"] = settled.tasks
        if self.passage is not None:
            self.made.append(f"tasks of one {self.passage} belong together")
        if self.constant:
            self.made.append(f"{', '.join(self.constant)} not used: the same in all rows of a task")

    def _cut_names_of_runs(self) -> None:
        """Make a column of what names of runs begin with, which may be tasks, where no other column is of them."""
        run = self.roles["run"]
        if run is None or self.roles["algorithm"] is None or self.roles["tasks"] or TASK in self.frame:
            return
        if self.matched or len(as_list(self.typed.get("run"))) > 1:
            return
        tasks = tasks_in(self.frame[run])
        if tasks is not None:
            self.frame = self.frame.assign(**{TASK: tasks})
            self.cut = f"{tasks.iloc[0]!r} of {run} {self.frame[run].iloc[0]!r}"

    # numbers

    def _find_score(self, told: Known) -> None:
        if "score" in self.roles:
            return
        trainings = roles.find_trainings(self.frame, self.used)
        used = [*self.used, *trainings[:1], *as_list(told.training)]
        if "training" in self.typed:
            used = self.used
        self.roles["score"], self.others = find_score(self.frame, [*used, *self.constant])
        score = self.roles["score"]
        if score is not None and roles.RESOURCES & set(words_of(score)) and not self.others:
            times = roles.times_of_rows(self.frame, [*self.used, *as_list(told.training)])
            if times:  # one of which may be the score as well as the only other measure
                self.roles["score"], self.others = None, [*times, score]
        if self.roles["score"] is None and not self.others:
            only, _ = find_score(self.frame, [*self.used, *self.constant])
            if only is not None and says_higher(only) is not None:  # the time that solvers take
                self.roles["score"] = only
        if self.roles["score"] is None:
            self._infer_score()

    def _infer_score(self) -> None:
        """Take the only measure as the score where all other numbers could be runs or steps, which is asked."""
        measures = [name for name in self.others if roles.is_measure(self.frame[name])]
        measures = [name for name in measures if not roles.are_settings(self.frame, name)] or measures
        keys = self.keys("algorithm", "tasks", "run")
        if len(measures) == 1 and keys:
            found = unnamed.unnamed_of(self.frame, [*self.used, *measures], keys)
            numbers = {name for name in self.others if roles.numbers_rows(self.frame, name)}
            if found is not None and set(self.others) <= {*measures, *found.columns, *numbers}:
                self.inferred = {"score": measures[0]}
                self.roles |= self.inferred
                self.others = []
                return
        self.missing["score"] = self.others

    def _find_settings(self) -> None:
        """Find the columns of a grid of settings that tells rows of a run apart."""
        if "algorithm" in self.missing or self.roles["run"] is None:
            return
        steps = roles.find_trainings(self.frame, self.used)
        is_stuck = bool(steps) and n_labels(self.frame[steps[0]]) == 1
        if self.roles["algorithm"] is not None and not is_stuck:
            return  # rows that repeat are asked about later
        keys = [*self.keys("tasks", "algorithm", "run"), *steps[:1]]
        settings = unnamed.unnamed_of(self.scored, [*self.used, *self.others, *self.constant, *steps], keys)
        if settings is not None and settings.telling:
            self.settings = settings.telling[0]

    def _number_runs(self) -> None:
        """Make runs of the rows of each algorithm and task, where scores have neither runs nor training."""
        known = self.roles
        if known["run"] is not None or "run" in self.missing or "training" in self.missing:
            return
        training = known["training"]
        is_curve = training is not None and n_labels(self.scored[training]) > 1
        if is_curve or _RUN in self.frame:
            return
        if "run" in self.typed:
            return
        keys = self.keys("algorithm", "tasks")
        if not keys and "algorithm" in self.typed:  # all rows are of one
            self._take_rows_as_runs(np.arange(len(self.frame)))
            return
        rows = self.frame if self.typed.get("missing_scores") == "failed" else self.scored
        if not keys or not rows.duplicated(keys).any() or self._has_joined_answers:
            return
        used = [*self.used, *self.others, *self.constant]
        self.unnamed = unnamed.unnamed_of(self.scored, used, keys)
        if self.unnamed is not None:
            return
        unused = unnamed.unused_of(self.scored, used, keys)
        if unused:
            self.made.append(f"each row is a run, {in_words(unused)} not used")
        self._take_rows_as_runs(self.frame.groupby(keys).cumcount())
        apart = [name for name in roles.trials_in(rows, used) if not rows.duplicated([*keys, name]).any()]
        self.numbered_by = "".join(apart[:1])

    def _take_rows_as_runs(self, numbers: Any) -> None:
        self.frame = self.frame.assign(**{_RUN: numbers})
        self.roles["run"] = _RUN
        self.numbered = True

    @property
    def _has_joined_answers(self) -> bool:
        """Whether it is said that further answers to items become one."""
        return self.typed.get("duplicates") in JOINED and self.has_few_repeats

    # what cannot be told

    def _find_missing(self) -> None:
        """Note what no column is named like, and what tells repeated rows apart."""
        known = self.roles
        typed_none = "algorithm" in self.typed
        if known["algorithm"] is None and "algorithm" not in self.missing and not typed_none:
            used = [*self.used, *self.constant]
            labels = roles.could_be_labels(self.frame, used, self.keys("run"))
            labels = [name for name in labels if not roles.numbers_rows(self.frame, name)]
            labels = [name for name in labels if dim_of(name) != "run"] or labels
            labels = [name for name in labels if n_labels(self.frame[name]) < len(self.frame)] or labels
            self.missing["algorithm"] = list(dict.fromkeys([*self.settings, *labels]))
        keys = self.keys("tasks", "algorithm", "run", "training")
        repeated = bool(keys) and bool(self.scored.duplicated(keys).any())
        if self._has_joined_answers or self.unnamed is not None:
            return
        if known["run"] is None and "run" not in self.missing and repeated and "run" not in self.typed:
            labels = roles.could_be_runs(self.frame, self.used)
            groups = self.keys("algorithm", "tasks")
            self.missing["run"] = [name for name in labels if not groups or unnamed.varies(self.frame, groups, name)]


def _refuse_percentages(frame: pd.DataFrame, score: str | None) -> None:
    """Refuse an accuracy or another share that is a fraction in some rows and a percentage in others: 0.87 and 87."""
    if score is None or score not in frame or not MEASURES & set(words_of(score)):
        return
    values = frame[score]
    if not pd.api.types.is_float_dtype(values):
        return
    fractions, percentages = values[values.between(*_FRACTIONS)], values[(values > 1) & (values <= 100)]
    if len(fractions) + len(percentages) < values.notna().sum() or fractions.empty or percentages.empty:
        return
    if percentages.min() > _TIMES_AS_LARGE * fractions.max():
        what = f"has fractions and percentages, such as {fractions.iloc[0]:g} and {percentages.iloc[0]:g}"
        raise Refusal("frame", UNSAID, Text(OF_FRAME, f"the column {score} {what}"), "Write all in one unit")


def _refuse_dependent_trials(frame: pd.DataFrame, algorithm: Sequence[str]) -> None:
    """Refuse settings of a search as algorithms, where trials may have been chosen by those before."""
    settings = [name for name in algorithm if name.startswith(OF_TRIAL)]
    if not settings or frame.attrs.get("sampler") != UNKNOWN_SAMPLER:
        return
    raise Refusal(
        "algorithm",
        settings[0],
        "is a setting of trials, which are independent only if their sampler is random, and nothing says so",
        Cure(
            "If it is, say it: ",
            Words(
                "frame.attrs['sampler'] = 'RandomSampler'", "a column sampler in the table, RandomSampler in each row"
            ),
            ". Else search several times with each, and call the studies NAME_seed0, NAME_seed1, ...",
        ),
    )


def _check_given(frame: pd.DataFrame, given: Mapping[str, Any]) -> None:
    """Refuse a name that is of no column."""
    arguments = ARGUMENTS | {"passage": "task_groups", "coords": "by"}
    for role, argument in arguments.items():
        for column in as_list(given.get(role)):
            if column not in frame:
                raise no_column(argument, column, frame)
