"""What columns, dims, keys and runs are usually called: the one table of such names, and what a name says.

Names of scores are in `direction`, which also says which end of them is better.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from xcurves.core.labels import DIMS, OF_LABELS
from xcurves.core.refusal import Refusal

CONFIG = "config/"  # before the names of columns that hold the configuration of a run
FOLD = "fold"  # the column of folds, and what runs are matched by
TRIAL = "trial_number"  # the column of trials of a search
OF_TRIAL = "params_"  # before those of the settings of a trial, as Optuna writes them
ENVIRONMENT = re.compile(r".*-v\d+", re.IGNORECASE)  # CartPole-v1; a model may be called so too
KNOWN_ENVIRONMENT = re.compile(  # of Gymnasium
    r"(?:Acrobot|Ant|BipedalWalker|Blackjack|CarRacing|CartPole|CliffWalking|FrozenLake|HalfCheetah|Hopper|Humanoid"
    r"|InvertedDoublePendulum|InvertedPendulum|LunarLander|MiniGrid|MountainCar|Pendulum|Pusher|Reacher"
    r"|Swimmer|Taxi|Walker2d|\w+NoFrameskip)\w*(?:-\w+)*-v\d+"
)
NUMBERED = re.compile(  # the words before a number need no mark before them, single letters do
    r"(?P<algorithm>.*?[^\W\d_].*?)(?:[-_., ]*(?:seed|run|rep|trial|fold)|[-_., ]+(?:[sr]|cv|split|resample)?)"
    r"[-_=. ]*(?P<run>\d+)",
    re.IGNORECASE,
)
RUN_LABEL = re.compile(r"(?:(?:seed|run|rep|trial|fold|cv|split|resample|version|s|r)[-_= ]?)?\d+", re.IGNORECASE)
_FOLD_LABEL = re.compile(r"(?:fold|cv|split|resample)[-_= ]?\d+", re.IGNORECASE)
_SEED = re.compile(r".*(?:seed|run|rep|[-_. ]s)[-_=. ]*\d+", re.IGNORECASE)
_HAS_SEED = re.compile(r".*(?:seed|run|rep|[-_. /]s)[-_=. ]*\d+(?:[-_. /].*)?", re.IGNORECASE)
_BRACES = re.compile(r"\{(\w+)(?:,((?:[^{}]|\{[\d,]+\})+))?\}")


def names_in(text: str) -> frozenset[str]:
    """Return the names of a text."""
    return frozenset(text.split())


# What dims are usually called.
SYNONYMS = {
    "algorithm": "agent agents algo algorithms algos alg approach candidate candidates classifier estimator framework "
    "learner method model optimizer policy scheme solver strategy",
    "run": "attempt attempts chain chains cv fold folds random_state repeat repetition replicate rep resample run_id "
    "run_path runs seed seeds split trial trials",
    "training": "elapsed env_step env_steps episode epoch epochs frames games gen generation generations "
    "global_step interacts it iter iters iteration iterations n_evals n_train nfe num_eval num_evals step steps time "
    "timestep timesteps tokens tokens_seen samples_seen examples_seen train_size train_sizes updates",
}
# Questions of an evaluation; and what several of them belong to.
ITEMS = names_in("doc_id item item_id question question_id sample_id prompt prompt_id instance instances")
PASSAGES = names_in("passage context paragraph document article story cluster group")
USUAL_EXTRAS = ITEMS | names_in(
    "benchmark dataset datasets env environment envs problem level metric problems task tasks workload workloads"
)
# Of tasks if the labels are texts; numbers may be counts.
TASKS_IN_WORDS = names_in("game scenario")
# Parts of one data set, which all algorithms have alike.
FOLDS = names_in("fold folds cv resample split")
_COUNTED = names_in("n num number min max samples")
TRAINED = names_in("train training")
EVALUATED = names_in("eval evaluation test val valid validation dev")
_PARTS_OF_DATA = TRAINED | EVALUATED
# Keys of configurations: those that say the algorithm by name, and those that do, the likeliest first.
ALGORITHM_KEYS = names_in("algo algorithm alg agent model method learner")
ALGORITHMS_FIRST = ("algo", "algorithm", "alg", "agent", "model", "method", "optimizer")
# Words of keys that say where and when a run was, not what it is.
OF_PLACE = names_in(
    "id uuid path dir directory folder file time date timestamp host hostname port gpu device logdir output name tag "
    "tags notes wandb pid version"
)
# Words of keys that say on what machine and of which code.
OF_MACHINE = names_in("commit sha git revision workers threads cpus slurm partition node machine platform cuda python")
# Dims, columns and coordinates whose labels name the metric.
METRICS = names_in("metric metrics metric_name measure measures tag tags criterion scorer")
# Of a run, at which amount of training; which of its trials; and when. None tells algorithms, runs or tasks apart.
TRIALS = names_in("config_id trial_number")
STEPS = TRIALS | names_in(SYNONYMS["training"]) - names_in("time elapsed episode games")
CLOCKS = names_in(
    "time timestamp timestamps date datetime clock wall wall_time walltime created_at started_at finished_at "
    "updated_at elapsed created started finished ended completed _runtime"
)
_SPANS = names_in("ms sec secs seconds mins minutes hrs hours")  # that are clocks by themselves
_UNITS_OF_TIME = _SPANS | names_in("ns us s second m min minute h hr hour total")  # at the end of a clock's name
_OF_COMPUTING = names_in("cpu gpu tpu core node machine process train training t")  # before a unit: gpu_hours
FILES = names_in("file filename file_name path log logfile log_file")
# Words before tokens of single questions and answers, which are no amount of training.
OF_ANSWERS = names_in("prompt completion input output response answer reasoning generated cached")
# The counts within an epoch.
WITHIN_EPOCH = names_in("it iter iters iteration iterations step steps batch")
# Of the points of a scaling law.
MODEL_SIZES = names_in("n params n_params num_params parameters n_parameters model_size")
TOKENS = names_in("d tokens n_tokens num_tokens training_tokens train_tokens")
# The budgets of trials, of which the worse were stopped on small ones.
RUNGS = names_in("n_resources resource resources budget rung")
# How runs ended: failed; by somebody's choice, which may hide a failure; or well.
STATES = names_in("state status outcome")
_FAILED = names_in(
    "crashed crash failed fail failure error errored exception timeout timed_out diverged oom out_of_memory memout "
    "memoryout node_fail"
)
_ENDED_EARLY = names_in("killed stopped pruned preempted preempting cancelled canceled interrupted aborted")
_FINISHED = names_in("complete completed finished success succeeded done ok running")
Ending = Literal["failed", "early", "well"]
_WORDS = re.compile(r"mAP|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+")


def words_of(name: object) -> list[str]:
    """Return the words of a name in small letters, cut at _ - / . and changes of case: `AverageEpRet`, `val/Loss`."""
    return [word.lower() for word in _WORDS.findall(str(name))]


def rank_of(name: object, known: Collection[str]) -> int | None:
    """Return 0 for a known name, 1 for one whose last word is known, None otherwise.

    A last word that says that labels name or number things, as in env_id and FoldNr, does not count.
    """
    words = words_of(name)
    named = _named(words)
    if {str(name).strip().casefold(), "_".join(words), "_".join(named)} & set(known):
        return 0
    if named and named[-1] in known:
        return 1
    return None


def _named(words: list[str]) -> list[str]:
    """Return the words of a name without one that says that labels name or number things."""
    return words[:-1] if words[-1:] and words[-1] in OF_LABELS else words


def last_word(name: object) -> str:
    """Return the last word of a name that says what it is: "epoch" of epoch_no, "" of none."""
    return "".join(_named(words_of(name))[-1:])


def names_of_dim(dim: str) -> list[str]:
    """Return the usual names of a dim, its own first."""
    return [dim, *SYNONYMS[dim].split()]


def dim_of(name: object) -> str | None:
    """Return what a column usually is by its name: a dim, "task" or None."""
    if _is_item_id(name):
        return "task"
    if _counts_folds(name):
        return None
    for dim in DIMS:
        if rank_of(name, names_of_dim(dim)) is not None:
            return dim
    if is_elapsed(name):
        return "training"
    if rank_of(name, USUAL_EXTRAS | TASKS_IN_WORDS) is not None:
        return "task"
    return None


def dims_called(names: Sequence[str], asked: Mapping[str, str | None]) -> dict[str, str]:
    """Return which dims of an array are algorithm, run and training: those that are asked for, or called like them."""
    found = {name: dim for dim, name in asked.items() if name is not None and name in names}
    recognised: dict[str, str] = {}
    for name in names:
        usual = dim_of(name)
        if usual in DIMS and usual not in {*names, *found.values(), *recognised.values()}:
            recognised[name] = str(usual)
    every = found | {name: dim for name, dim in recognised.items() if name not in found}
    return {name: dim for name, dim in every.items() if name != dim}


def is_metric(name: object) -> bool:
    """Return whether the labels of a dim or column of this name are names of metrics."""
    return str(name).lower() in METRICS


def is_step(name: object) -> bool:
    """Return whether a name is that of an amount of training."""
    return _ends_like(name, STEPS) and not OF_ANSWERS & set(words_of(name))


def is_epoch(name: object) -> bool:
    """Return whether a name is that of passes over the data."""
    return last_word(name) in ("epoch", "epochs")


def is_checkpoint(name: object) -> bool:
    """Return whether a name is that of saved states of a training, whose labels may say the step: step5000."""
    return last_word(name) in ("checkpoint", "ckpt")


def is_trial(name: object) -> bool:
    """Return whether a name is that of the number of a trial."""
    return _ends_like(name, TRIALS)


def is_rung(name: object) -> bool:
    """Return whether a name is that of budgets of trials."""
    return rank_of(name, RUNGS) is not None


def is_clock(name: object) -> bool:
    """Return whether a name is that of a time."""
    return _ends_like(name, CLOCKS) or is_elapsed(name)


def is_elapsed(name: object) -> bool:
    """Return whether a name is that of a time in a unit: time_s, elapsed_ms, minutes, gpu_hours; latency_ms is none."""
    words = words_of(name)
    clock = list(words)
    while clock and clock[-1] in _UNITS_OF_TIME:
        clock.pop()
    if len(clock) == len(words):
        return False
    if not clock:
        return words[0] in _SPANS
    return set(clock) <= _OF_COMPUTING or _ends_like("_".join(clock), CLOCKS)


def is_item(name: object) -> bool:
    """Return whether a name is that of the questions of an evaluation."""
    return _is_item_id(name) or rank_of(name, ITEMS) is not None


def ending_of(state: object) -> Ending | None:
    """Return how a run of this state ended, None where that is not known."""
    plain = re.sub(r"[-\s]+", "_", str(state).strip().casefold())
    if plain in _FAILED:
        return "failed"
    if plain in _ENDED_EARLY:
        return "early"
    if plain in _FINISHED:
        return "well"
    return None


def is_passage(name: object) -> bool:
    """Return whether a name is that of what several questions belong to."""
    return rank_of(name, PASSAGES) is not None


def is_fold(name: object) -> bool:
    """Return whether a name is that of the folds of a data set."""
    return rank_of(name, FOLDS) is not None and not _counts_folds(name)


def are_folds(labels: Iterable[str]) -> bool:
    """Return whether all labels are those of folds with a number, such as fold_0."""
    return all(map(_FOLD_LABEL.fullmatch, labels))


def _counts_folds(name: object) -> bool:
    """Return whether a name is that of a number of folds, or of how data are split: n_folds, min_samples_split."""
    return rank_of(name, FOLDS) is not None and bool(_COUNTED & set(_named(words_of(name))))


def are_parts_of_data(labels: Collection[object]) -> bool:
    """Return whether labels say of which data a score is, and are no folds: train and holdout, test-clean."""
    return any(_PARTS_OF_DATA & set(words_of(label)) for label in labels)


def is_part_of_data(label: object) -> bool:
    """Return whether a label is the name of a part of the data: train, val or test."""
    return str(label).strip().casefold() in _PARTS_OF_DATA


def confusable(names: Iterable[object]) -> tuple[str, str] | None:
    """Return the first two names that differ in case, -, _ and blanks only, None if there are none.

    Between digits such a mark counts: 1-1 is not 11.
    """
    first_with: dict[str, str] = {}
    for name in map(str, names):
        plain = re.sub(r"[-_ ]+", "-", name.casefold())
        plain = re.sub(r"(?<!\d)-|-(?!\d)", "", plain)
        first = first_with.setdefault(plain, name)
        if first != name:
            return first, name
    return None


def _is_item_id(name: object) -> bool:
    """Return whether a whole name is that of items: of sample_id without its ending it is not."""
    return "_".join(words_of(name)) in ITEMS


def _ends_like(name: object, known: Collection[str]) -> bool:
    """Return whether a whole name, its last word or its last two words are known."""
    words = words_of(name)
    whole = str(name).strip().casefold()
    endings = ("_".join(words[-2:]), "".join(words[-1:]), last_word(name))
    return whole in known or any(ending in known for ending in endings if ending)


def compiled(names: str, argument: str = "names") -> re.Pattern[str]:
    """Return the expression of a pattern: `{name}` is text without a slash, `{name,regex}` what the regex matches.

    The same part twice is equal text.
    """
    if not isinstance(names, str):
        raise _no_pattern(names, argument)
    text, *rest = _BRACES.split(names)
    made = re.escape(text)
    known = set[str]()
    for name, regex, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        if name in known and not regex:
            made += f"(?P={name})"
        else:
            made += f"(?P<{name}>{regex or '[^/]+'})"
        made += re.escape(after)
        known.add(name)
    try:
        pattern = re.compile(made)
    except re.error:
        pattern = re.compile("")
    if not pattern.groupindex or pattern.groups != len(pattern.groupindex) or "{" in "".join([text, *rest[2::3]]):
        raise _no_pattern(names, argument)
    return pattern


def _no_pattern(names: object, argument: str) -> Refusal:
    """Return the error about what is no pattern."""
    return Refusal(
        argument,
        names,
        "must be a pattern of parts in braces, such as '{algorithm}_seed{run}.csv'",
        "Correct it",
    )


def whole_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return labels as whole numbers if all are, each written in one way; otherwise as they are."""
    words = column.unique()
    decimal = all(isinstance(word, str) and word.isdecimal() and len(word) < 19 for word in words)
    # 1 and 01 are two labels.
    if decimal and len({int(word) for word in words}) == len(words):
        return column.astype(np.int64)
    return column


def join_labels(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series[Any]:
    """Return one label of several columns for each row: ``optimizer=muon, lr=0.0003``."""
    parts = [short_name(name) + "=" + _texts(frame[name]) for name in columns]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined + ", " + part
    return joined


def _texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return labels as texts, whole numbers among floats without their point; different numbers stay different."""
    digits = 16
    if column.dtype == np.float32:
        digits = 7

    def text(value: Any) -> str:
        if isinstance(value, float | np.floating):
            return f"{value:.{digits}g}"
        return str(value)

    return column.map(text)


def short_name(name: object) -> str:
    """Return the name of a column without what says that it is of a configuration."""
    return str(name).removeprefix(CONFIG)


def numbered_runs(names: Sequence[str]) -> pd.DataFrame | None:
    """Return algorithm and run, as text, of names that end in the number of a run, None if they do not: sac_seed0.

    A number without the word seed (resnet-18, resnet-34) is that of a run if the numbers of each name are 0, 1, ... or
    1, 2, ...
    """
    parts = [NUMBERED.fullmatch(name) for name in names]
    if not names or not all(parts):
        return None
    labels = pd.DataFrame([part.groupdict() for part in parts if part])
    if labels.duplicated().any():
        return None
    each = labels["run"].astype("int64").groupby(labels["algorithm"])
    are_counted = (each.min() <= 1) & (each.max() - each.min() == each.size() - 1)
    if not are_counted.all() and not all(map(_SEED.fullmatch, names)):
        return None
    return labels


def have_seeds(names: Sequence[str]) -> bool:
    """Return whether all names have a number that they call that of a run: sac_seed0, sac/s1, sac-s1_20261101."""
    return all(map(_HAS_SEED.fullmatch, names))


def seeds_in(names: Sequence[str]) -> pd.DataFrame | None:
    """Return algorithm and run of names as `numbered_runs` does, if each algorithm has two runs or more."""
    labels = numbered_runs(names)
    if labels is None or (labels["algorithm"].value_counts() < 2).any():
        return None
    return labels.assign(run=labels["run"].astype("int64"))
