"""What all tasks of a call share, and checks of values where they are computed, in memory or in a dask worker."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import (
    failed_runs,
    labels,
    magnitudes,
    provenance,
    short_runs,
    validation,
)
from xcurves.core.refusal import UNSAID, Call, Choices, Cure, Refusal, Text, Words, call, give
from xcurves.kernels.resampling import plans

# What makes most incomplete runs complete, where curves are not in memory.
_CURE = Cure(
    "Bring runs to common levels with ",
    call(".curves.align", "intersection"),
    " or leave incomplete ones out with ",
    call(".curves.drop_incomplete"),
)
_LEAVE_OUT = Words(
    "leave either out",
    "keep those that reach the same levels: --align START:STOP:STEP --drop-incomplete",
)
BUDGET = "budget"
LAST_LEVEL = "last training level of the run"  # the long_name of the coordinate, which tells it from other budgets
FRACTIONS = 20  # of a budget, as a rule
_DIFFERENT = 4  # different scores of runs that are not the same by chance
_DIGITS = 12  # of a score that is not the same by chance
_LARGEST_COUNT = 10_000  # of samples, in k of which an algorithm is right
_NAMED = 8  # tasks in a warning


@dataclass(frozen=True)
class Context:
    """What all tasks of a call share: the options of randomization tests, and words for messages."""

    names: list[str]  # prefixes of messages, one for each task
    algorithms: list[str]  # in the order of their labels
    runs: list[str]
    n_resamples: int | None
    paired: bool
    confidence_level: float
    alpha: float
    entropy: int
    seeded: bool = True  # whether the caller gave the seed

    @classmethod
    def of(
        cls,
        curves: xr.DataArray,
        n_resamples: int | None = None,
        paired: bool = False,
        confidence_level: float = 0.95,
        rng: validation.Rng = 0,
        *,
        least: int = 1,
        random: bool = True,
        core: Collection[Hashable] = labels.DIMS,
    ) -> Context:
        """Check the options that all randomization tests share; without `random` they leave nothing to draw."""
        words = {
            dim: labels.words(np.sort(curves.coords.variables[dim].to_numpy()))
            for dim in labels.ORDERED
            if dim in curves.dims and dim in curves.coords
        }
        return cls(
            labels.task_names(curves, core),
            words.get("algorithm", []),
            words.get("run", []),
            validation.check_count("n_resamples", n_resamples, least),
            validation.check_flag("paired", paired),
            confidence_level,
            validation.check_confidence_level(confidence_level),
            validation.check_rng(rng, random=random),
            seeded=rng is not None,
        )

    def seed_to_record(self, *, drawn: bool) -> int:
        """Return the seed that a result states: 0 where none was given and nothing was drawn."""
        if self.seeded or drawn:
            return self.entropy
        return 0

    def plan(self, sizes: tuple[int, ...], **options: Any) -> plans.RunPlan:
        """Plan the reassignments of groups of `sizes`; the last plan is kept, with the reassignments that it made."""
        asked = (sizes, *options.items())
        plan = self._plan.get(asked)
        if plan is None:
            plan = plans.plan_runs(
                sizes,
                self.n_resamples,
                paired=self.paired,
                entropy=self.entropy,
                **options,
            )
            self._plan.clear()
            self._plan[asked] = plan
        return plan

    @cached_property
    def _plan(self) -> dict[tuple[object, ...], plans.RunPlan]:
        return {}


class RunError(Refusal):
    """What is wrong with one run; who knows the run by another name can say that instead.

    The value is the pair of algorithm and run, the reason a `Text` whose first piece names the run.
    """

    @property
    def problem(self) -> str:
        """The reason, which names the run."""
        return self.reason


class RunsWarning(UserWarning):
    """The same of two runs of an algorithm."""

    def __init__(self, what: str, name: str, algorithm: str, runs: list[str]) -> None:
        super().__init__(f"{name}{what}")
        self.what = what
        self.algorithm = algorithm
        self.runs = runs


@contextmanager
def with_cure(curves: xr.DataArray) -> Iterator[None]:
    """Add advice that works on the given curves to errors about incomplete runs, if the curves are in memory."""
    try:
        yield
    except RunError as error:
        if error.cure != _CURE or curves.chunks is not None:
            raise
        argument, value, reason, _ = error.args
        raise RunError(argument, value, reason, cure_incomplete(curves)) from None


def check_runs(
    counts: NDArray[Any],
    n_levels: NDArray[Any],
    names: Sequence[str],
    algorithms: Sequence[str],
    runs: Sequence[str],
) -> NDArray[np.bool_]:
    """Return which runs are present, shape (task, algorithm, run), of tasks in which every run is whole or absent.

    `counts` has the number of levels that every run has, infinite if a score is; `n_levels` that of the grid.
    """
    counts = counts.reshape(len(names), len(algorithms), len(runs))
    infinite = np.argwhere(~np.isfinite(counts))
    if infinite.size:
        task, algorithm, run = infinite[0]
        who = (algorithms[algorithm], runs[run])
        where = f"{names[task]}algorithm {who[0]}, run {who[1]}"
        reason, cure = failed_runs.refused_infinity(counts[task, algorithm, run], counts)
        raise RunError("curves", who, Text(where, f" {reason}"), cure)
    lacking = np.where(counts > 0, n_levels[:, np.newaxis, np.newaxis] - counts, 0)
    n_incomplete = np.count_nonzero(lacking)
    if n_incomplete:
        task, algorithm, run = np.argwhere(lacking)[0]
        more = ""
        if n_incomplete > 1:
            more = f" ({n_incomplete} incomplete runs in all)"
        who = (algorithms[algorithm], runs[run])
        lacks = f" lacks {lacking[task, algorithm, run]:.0f} of {n_levels[task]:.0f} training levels{more}"
        named = f"{names[task]}algorithm {who[0]}, run {who[1]}"
        raise RunError("curves", who, Text(named, lacks), _CURE)
    return np.asarray(counts > 0)


class CopiesWarning(UserWarning):
    """Runs that seem to be copied; of data that are drawn with replacement nothing is said."""


def warn_of_copies(curves: xr.DataArray) -> None:
    """Warn of two runs of a task with the same score at every level: data that were copied.

    Curves have the dims (..., algorithm, run, training) or (..., evaluation); lazy ones are not looked at. Scores of
    few different values may be the same by chance, unless they have many digits; without training an algorithm may have
    the same score in all runs.
    """
    last = str(next(dim for dim in ("training", labels.EVALUATION) if dim in curves.dims))
    if curves.chunks is not None or validation.NO_TRAINING in curves.attrs:
        return
    curves = curves.transpose(..., "algorithm", "run", last)
    n_runs = curves.sizes["algorithm"] * curves.sizes["run"]
    by_task = curves.to_numpy().reshape(-1, n_runs, curves.sizes[last])
    copies = {}
    for task, scores in enumerate(by_task):
        pair = _first_copy(scores)
        if pair is not None:
            copies[task] = pair
    if not copies:
        return

    affected = list(copies)
    tasks = labels.task_names(curves)
    both = (labels.words(curves[dim]) for dim in ("algorithm", "run"))
    runs = [f"algorithm {algorithm}, run {run}" for algorithm, run in product(*both)]
    first, second = (runs[run] for run in copies[affected[0]])
    also = ""
    if len(affected) > 1:
        others = [tasks[task].removesuffix(": ") for task in affected[1:_NAMED]]
        if len(affected) > _NAMED:
            others.append("...")
        also = f"; the same holds in {len(affected) - 1} more tasks: {', '.join(others)}"
    same = f"{tasks[affected[0]]}{first} and {second} have the same score at every level"
    provenance.warn(CopiesWarning(f"{same}. Were data copied?{also}"))


def warn_of_copied_tasks(curves: xr.DataArray) -> None:
    """Warn of two tasks that have the same score at every level of every run: a folder that was copied."""
    if validation.NO_TRAINING in curves.attrs:
        return
    extra = labels.extra_dims(curves)
    scores = curves.transpose(*extra, ...).to_numpy()
    pair = _first_copy(scores.reshape(math.prod(scores.shape[: len(extra)]), -1))
    if pair is None:
        return
    first, second = (labels.task_names(curves)[task].removesuffix(": ") for task in pair)
    provenance.warn(CopiesWarning(f"{first} and {second} have the same score in every run. Were data copied?"))


def _first_copy(scores: Floats) -> tuple[int, int] | None:
    """Return the first two runs with the same scores, shape (run, level), that are not so by chance."""
    first_with: dict[bytes, int] = {}
    for run, levels in enumerate(scores):
        first = first_with.setdefault(levels.tobytes(), run)
        if first == run:
            continue
        scored = levels[np.isfinite(levels)]
        if len(np.unique(scored)) >= _DIFFERENT or any(map(_has_many_digits, scored.tolist())):
            return first, run
    return None


def _has_many_digits(score: float) -> bool:
    """Return whether a score has so many digits that no other is the same by chance; no fraction k/n has."""
    digits = repr(score).partition("e")[0].replace(".", "").lstrip("-0")
    if len(digits) < _DIGITS:
        return False
    fraction = Fraction(score).limit_denominator(_LARGEST_COUNT)
    return abs(float(fraction) - score) > 2 * math.ulp(score)


def check_scored(curves: xr.DataArray) -> None:
    """Refuse curves without a score."""
    if not curves.notnull().any():
        raise Refusal(
            "curves",
            UNSAID,
            "curves has no score at all: every value is NaN",
            "Check the selection that made it",
        )


def check_finite(scores: Floats, names: Sequence[str]) -> None:
    """Refuse scores, shape (task, ...), that are infinite or too large to be squared: none has a mean that is known."""
    infinite = scores[np.isinf(scores)]
    if infinite.size:
        reason, cure = failed_runs.refused_infinity(infinite[0], infinite)
        raise Refusal("curves", UNSAID, f"curves {reason}", cure)
    magnitudes.check_size(scores, names)


def check_groups(
    present: NDArray[np.bool_],
    name: str,
    algorithms: Sequence[str],
    runs: Sequence[str],
    *,
    paired: bool,
    single_runs: bool = False,
) -> None:
    """Refuse a task, `present` of shape (algorithm, run), in which there is nothing to compare or no error."""
    sizes = present.sum(axis=1)
    if np.count_nonzero(sizes) < 2:
        only = algorithms[int(sizes.argmax())]
        raise Refusal(
            "curves",
            UNSAID,
            f"{name}only algorithm {only} has runs; a comparison needs two",
            "Add runs of another algorithm",
        )
    if sizes.max() < 2 and not single_runs:
        raise Refusal(
            "curves",
            UNSAID,
            f"{name}no algorithm has two runs; without them there is no error to compare with",
            "Add runs",
        )
    if paired:
        check_paired_runs(present, name, algorithms, runs)


def check_paired_runs(
    present: NDArray[np.bool_],
    name: str,
    algorithms: Sequence[str],
    runs: Sequence[str],
) -> None:
    """Refuse a task, `present` of shape (algorithm, run), in which an algorithm with runs lacks one of another's."""
    gone = present.any(axis=0) & ~present & present.any(axis=1, keepdims=True)
    refused = np.flatnonzero(gone.any(axis=1))
    if refused.size:
        algorithm = refused[0]
        lacking = ", ".join(run for run, missing in zip(runs, gone[algorithm], strict=True) if missing)
        raise Refusal(
            "curves",
            UNSAID,
            f"{name}paired=True needs every run in every algorithm; algorithm {algorithms[algorithm]}"
            f" lacks run {lacking}",
            Cure("Select the common runs, or use ", give(paired=False)),
        )


def check_contrasted(
    present: NDArray[np.bool_],
    name: str,
    algorithms: Sequence[str],
    runs: Sequence[str],
    *,
    paired: bool,
) -> None:
    """Refuse a task, `present` of shape (algorithm, run), in which a contrasted algorithm has too few runs."""
    sizes = present.sum(axis=1)
    refused = np.flatnonzero(sizes < 2)
    if refused.size:
        algorithm = refused[0]
        raise Refusal(
            "curves",
            UNSAID,
            f"{name}algorithm {algorithms[algorithm]} has too few runs ({sizes[algorithm]}); a "
            "contrast needs two of every algorithm with a weight",
            "Add runs, or take its weight away",
        )
    check_groups(present, name, algorithms, runs, paired=paired)


def alike(present: NDArray[np.bool_], n_levels: Floats) -> list[NDArray[np.intp]]:
    """Group the tasks that have any level by number of levels and by the runs that are present."""
    pattern = np.column_stack([present.reshape(len(present), -1), n_levels])
    return [tasks for tasks in equal_rows(pattern) if n_levels[tasks[0]]]


def equal_rows(values: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return the indices of equal rows, in the order in which they come; columns may be many."""
    rows = np.ascontiguousarray(values).view(np.dtype((np.void, values.shape[1] * values.itemsize))).ravel()
    _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    return [np.flatnonzero(group == number) for number in np.argsort(first)]


def as_float(count: int) -> float:
    """Return a count as a float, infinity where it is beyond the largest."""
    return float(count) if count < 2**1000 else np.inf


def cure_incomplete(curves: xr.DataArray) -> Cure:
    """Return the calls that make the runs of every task complete; `curves` are in memory.

    Of runs that end early they stand in the order in which they keep the question: failed, cut, left out.
    """
    ends = short_runs.ends_of(curves)
    has = curves.notnull()
    if not ends.short.any():
        pieces = [*_sentence(*_suggested_for(has, curves["training"]))]
        n_levels = has.any(["algorithm", "run"]).sum("training")
        n_left = (has.any("training") & (has.sum("training") == n_levels)).sum("run")
        if ((n_left > 1) | ~has.any("training").any("run")).all():
            leave_out = call(".curves.drop_incomplete")
            pieces += [" or leave incomplete ones out with ", leave_out]
        return Cure(*pieces)

    in_grid = has.any(["algorithm", "run"])
    counted = {
        "failed": has | (in_grid & (curves["training"] > ends.failed_after(ends.short))),
        "cut": has,
        "drop": has & ~ends.short,
    }
    calls = {}
    for how in short_runs.HOW:
        if counted[how].any(["algorithm", "run"]).sum("training").max() < 2:
            continue  # it would leave no curve
        what, found = _suggested_for(counted[how], curves["training"], how)
        if found is None:
            return what
        calls[how] = Cure(found)
    (failed,) = calls["failed"].calls
    calls["failed"] = Cure(failed.then(call(".curves.fill_failed", "worst")))
    reason, cure = short_runs.ask(ends, calls, last=short_runs.LAST)
    return Choices(f"{reason}. ", *cure)


def _suggested_for(
    has: xr.DataArray,
    training: xr.DataArray,
    short: short_runs.RunsShort | None = None,
) -> tuple[Cure, Call | None]:
    """Return what brings curves with these scores to common levels, and the call for it."""
    there, in_grid = has.any("training"), has.any(["algorithm", "run"])
    n_levels = in_grid.sum("training")
    shared = ((has | ~there) & in_grid).all(["algorithm", "run"]).sum("training")
    if ((shared > 1) | (n_levels == 0)).all():
        found = call(".curves.align", "intersection", **_of_short(short))
        return Cure("Bring runs to common levels"), found
    levels = training.where(has & (n_levels > 1))
    begins, ends = (
        levels.min("training").max(["algorithm", "run"]),
        levels.max("training").min(["algorithm", "run"]),
    )
    of_run = has.sum("training")
    fewest = of_run.where(there & (n_levels > 1)).min().item()
    return _suggested(begins.to_numpy(), ends.to_numpy(), int(fewest), short=short)


def suggest(
    begins: Floats,
    ends: Floats,
    fewest: int,
    *,
    short: short_runs.RunsShort | None = None,
    frame: bool = False,
    final: bool = False,
) -> Cure:
    """Return the call that brings ragged runs to common levels; with `frame`, that of `to_dataarray`.

    All runs of a task have scores from the place at which the last begins to that at which the first ends; no run that
    takes part has less than `fewest` levels, and no more are made of them. `short` is what short runs were said to be.
    """
    what, found = _suggested(begins, ends, fewest, short=short, final=final)
    if not frame or found is None:
        return _sentence(what, found)
    if isinstance(found.arguments[0], Call):
        return _sentence(what, give(on=found.arguments[0], method="linear"))
    return Cure(*what, " with ", Words("no on= and ", ""), found)


def _sentence(what: Cure, found: Call | None) -> Cure:
    """Return a cure in a sentence; there is no call for runs that never meet."""
    if found is None:
        return what
    return Cure(*what, " with ", found)


def _suggested(
    begins: Floats,
    ends: Floats,
    fewest: int,
    *,
    short: short_runs.RunsShort | None,
    final: bool = False,
) -> tuple[Cure, Call | None]:
    """Return what brings ragged runs to common levels, and the call for it, None if nothing does."""
    begins, ends = (each[~np.isnan(each)] for each in (np.ravel(begins), np.ravel(ends)))
    for begin, end in zip(begins, ends, strict=True):
        nothing = ""
        if begin > end:
            nothing = "no level"
        elif begin == end <= 0:  # no budget, so no fractions of it
            nothing = "no other level"
        if nothing:
            apart = f"Runs that end at {end:g} share {nothing} with those that begin at {begin:g}: "
            return Cure(apart, _LEAVE_OUT), None
    low, high = begins.max().item(), ends.min().item()
    n = max(2, min(FRACTIONS, fewest))
    # Without a budget there are no fractions; in some task two at least must be in the range of all runs.
    has_fractions = (ends > 0).all() and ((1 - 1 / n) * ends >= begins).any()
    if not final and not has_fractions and low < high:
        # Levels that are given cut nothing by themselves.
        of_short = {} if short == "cut" else _of_short(short)
        levels = call("np.linspace", low, high, n)
        found = call(".curves.align", levels, method="linear", **of_short)
        return Cure("Bring runs to levels that all reach"), found
    which = "fractions"
    if final or not has_fractions:
        which, n = "the end", 1
    found = call(".curves.align", n, relative_to="budget", **_of_short(short))
    return Cure(f"Bring every task to {which} of its budget"), found


def _of_short(short: short_runs.RunsShort | None) -> dict[str, short_runs.RunsShort]:
    """Return the option that says what short runs are, if that was said."""
    if short is None:
        return {}
    return {"runs_short": short}


def within_budget(times: xr.DataArray, pooled: Collection[str]) -> tuple[xr.DataArray, xr.DataArray | None]:
    """Return times, infinite beyond the smallest budget of all runs pooled, and that budget, if there is one."""
    if BUDGET not in times.coords or times.coords[BUDGET].attrs.get("long_name") != LAST_LEVEL:
        return times, None
    own = times.coords[BUDGET].astype(np.float64)
    bare = times.drop_vars(BUDGET)
    smallest = own.drop_vars(BUDGET).broadcast_like(bare).where(bare.notnull()).min(list(pooled))
    known = bare.where(~(bare > smallest), np.inf).transpose(*times.dims).assign_attrs(times.attrs)
    return known, smallest.assign_attrs(own.attrs | {"long_name": "smallest budget of the runs"})
