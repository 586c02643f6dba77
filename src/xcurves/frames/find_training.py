"""Which column is the training: one that rises within each run, or the order of a clock."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xcurves.core.known import Known
from xcurves.core.names import is_clock
from xcurves.frames import roles
from xcurves.frames.reading import Found
from xcurves.frames.unnamed import unnamed_of

_FEWEST = 3  # rows of a run whose step is stuck
TRAINING = "training"  # a column that is called like a dim is that dim


def find_training(so_far: Found, told: Known) -> None:
    """Find the training that has a level wherever there is a score, and that rises within a run."""
    if "training" in so_far.roles:
        return
    score = so_far.roles["score"]
    if TRAINING in so_far.frame and TRAINING not in so_far.used:
        so_far.roles["training"] = TRAINING
        return
    found = roles.find_trainings(so_far.frame, so_far.used)
    if told.training is not None and told.training not in so_far.used:
        found = [told.training, *[name for name in found if name != told.training]]
    so_far.roles["training"] = found[0] if found else None
    if score is None:
        return
    if not found:
        n_rows = so_far.scored.groupby(so_far.runs, observed=True).size() if so_far.runs else pd.Series([0])
        if n_rows.median() > 1:  # a single run that was made again is no curve
            _order_by_clock(so_far, so_far.scored, "", so_far.runs)
        return
    training = roles.of_score(so_far.frame, found, score)
    if training != found[0]:  # rows of the other series have no score
        so_far.frame = so_far.frame[so_far.frame[score].notna()]
    so_far.frame = so_far.frame[so_far.frame[[training, score]].notna().any(axis=1)]
    so_far.roles["training"] = training
    _check_training(so_far, found, training, score)


def _check_training(so_far: Found, found: Sequence[str], training: str, score: str) -> None:
    """Take another training where the one that was found begins anew or never changes in a run."""
    scored = so_far.frame[so_far.frame[score].notna()]
    keys = so_far.keys("tasks", "algorithm", "run")
    if is_clock(training) and keys and not scored.duplicated(keys).any():
        so_far.roles["training"] = None
        return
    if is_clock(training) and _has_design(so_far, scored, training):
        so_far.roles["training"] = None  # what runs are is asked
        if not so_far.runs:
            so_far.inferred = so_far.inferred | {"training": None}
        return
    stuck = [name for name in roles.constant_steps(scored) if name not in so_far.used]
    if is_clock(training) and so_far.runs and (stuck or scored[training].min() > roles.UNIX):
        _order_by_clock(so_far, scored, "".join(stuck[:1]), keys)
        return
    epoch = roles.epochs_of(scored, found, training, keys)
    batch = roles.batches_of(scored, training, keys, so_far.used)
    if batch is not None:
        epoch, training = training, batch
    if epoch is not None:
        kept = ~scored.duplicated([*keys, epoch], keep="last")
        so_far.frame = scored[kept]
        so_far.roles["training"] = epoch
        so_far.made.append(f"{training} begins anew in each {epoch}: the last row of each {epoch} counts")
    elif so_far.runs and roles.is_constant_in_runs(scored, training, score, [*keys, *so_far.settings]):
        _order_by_clock(so_far, scored, training, keys)


def first_stuck_run(found: Found) -> str:
    """Return the first run whose step never changes while scores do, where no other run repeats a step; "" if none."""
    training, score = found.roles.get("training"), found.roles.get("score")
    if training is None or score is None or not found.runs:
        return ""
    by_run = found.scored.groupby(found.runs, observed=True)
    n_rows, n_levels, n_scores = by_run.size(), by_run[training].nunique(), by_run[score].nunique()
    stuck = (n_rows >= _FEWEST) & (n_levels == 1) & (n_scores > 1)
    if not stuck.any() or stuck.all() or (n_rows > n_levels)[~stuck].any():
        return ""
    label = stuck.index[stuck][0]
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _order_by_clock(so_far: Found, scored: pd.DataFrame, step: str, keys: Sequence[str]) -> None:
    """Take the order of a clock as training, where there is no step or it never changes; of none it cannot be told."""
    used = [name for name in so_far.used if name not in (step, so_far.roles["training"])]
    so_far.roles["training"] = None
    found = roles.clock_of_runs(scored, [*used, step], keys)
    if found is None:
        if step:
            so_far.missing["training"] = []
        return
    clock, order = found
    if _has_design(so_far, scored, clock):
        return
    name = f"order of {clock}"
    so_far.frame = scored.assign(**{name: order})
    so_far.roles["training"] = name
    why = f"{step} never changes within a run" if step else f"{clock} is a clock"
    so_far.made.append(f"{why}: training is the order of {clock}")


def _has_design(so_far: Found, scored: pd.DataFrame, clock: str) -> bool:
    """Return whether columns that nothing uses tell the rows of each run apart: then a clock is no training.

    Where no column names runs, those of which each label has several rows say so too, if each row has its own time.
    """
    if not so_far.runs and not scored[clock].is_unique:
        return False
    used = [*so_far.used, *so_far.others, *so_far.constant, clock]
    keys = so_far.runs or so_far.keys("tasks", "algorithm")
    found = unnamed_of(scored, used, keys) if keys else None
    return found is not None and bool(found.telling or not so_far.runs)
