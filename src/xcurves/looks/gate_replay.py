"""The race of candidates against a champion, replayed from the runs in the order in which they were made.

Scores are turned here so that high ones are better, less what they have in common; a failed run is minus infinity.
Algorithms are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import ceil, comb, floor
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Floats, Index
from xcurves.core.refusal import Cure, Refusal, Verbatim, give
from xcurves.core.run_checks import Context
from xcurves.kernels.one_task.contrasts import (
    ContrastDesign,
    contrast_tests,
    pvalues_above,
)

DECISIONS = ("dropped", "kept", "run_more", "waiting")
DROPPED, KEPT, RUN_MORE, WAITING = range(4)
LEAST_MOVED = 4  # runs of a champion that decided nothing, of which a p can be found
MOST_BY_REFRESH = 32  # runs of a champion: further ones only because a look asks for them
_EPS = np.finfo(float).eps
_ROUNDING = 64 * _EPS  # of means, relative to what is added
_LAST_DIGITS = 4 * _EPS  # of a score as it was given
_SIDES = np.array([1.0, -1.0])


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What is fixed before the first result."""

    looks: tuple[int, ...]  # numbers of runs of a candidate, ascending
    level: float
    margin: float
    start: int  # the least number of runs of the first champion
    context: Context  # the options of randomization tests
    refresh: int = 2  # a champion is run again for every so many candidates that it meets; 0: never
    share_failed: float = 0.0  # of the runs at a look, which may fail

    def may_fail(self, n_runs: int) -> int:
        """Return how many of so many runs may fail."""
        # 0.29 * 100 is 28.999999999999996
        return floor(self.share_failed * n_runs + 1e-9)

    def check_reachable(self, n_champion: int) -> None:
        """Refuse a level that no p of the last look reaches, against so many runs of a champion."""
        n_last = self.looks[-1]
        plan = self.context.plan((n_last, n_champion), labelled=True)
        if 1 / plan.n_total <= self.level + 1e-12:
            return
        reason = f"cannot be reached: of {n_last} v {n_champion} runs no p is below {1 / plan.n_total:.3g}"
        level = Verbatim(f"{self.level:g}")
        n_resamples = ceil(1 / self.level)
        if plan.n_assignments * self.level >= 1:
            cure = Cure("Try ", give(n_resamples=n_resamples))
            raise Refusal("level", level, reason, cure)

        enough = next(n for n in count(n_last) if comb(2 * n, n) * self.level >= 1)
        cure = Cure("Plan a further look: ", give(looks=(*self.looks, enough)))
        # So many runs may have more reassignments than are made: then their number counts too.
        further = self.context.plan((enough, enough), labelled=True)
        if 1 / further.n_total > self.level:
            cure = Cure(*cure, " and ", give(n_resamples=n_resamples))
        raise Refusal("level", level, reason, cure)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What is decided of one candidate, and by which runs."""

    decision: int
    champion: int  # that the candidate met
    n_runs: int = 0
    n_runs_champion: int = 0
    champion_mean: float = np.nan
    difference: float = np.nan
    difference_ci: Floats = field(default_factory=lambda: np.full(2, np.nan))
    pvalue: float = np.nan
    runs_to_make: int = 0
    runs_to_make_champion: int = 0
    n_failed: int = 0  # runs of the champion, made to run it again, that failed and were passed over
    is_copy: bool = False  # whether the candidate has the champion's scores


@dataclass(frozen=True, kw_only=True)
class Champion:
    """The algorithm that candidates meet, and the runs by which they do."""

    name: int
    runs: Floats  # without those that were passed over
    places: Index  # of these among all its runs
    n_used: int  # the first ones, which have decided something; some may not be made yet
    n_met: int = 0  # candidates since it was kept

    @classmethod
    def of(cls, name: int, runs: Floats, n_used: int) -> Champion:
        """Return a champion that has met no candidate."""
        return cls(name=name, runs=runs, places=np.arange(len(runs)), n_used=n_used)

    @property
    def audit(self) -> Floats:
        """The runs that decided nothing."""
        return self.runs[self.n_used :]

    def refuse_failed(self, n_runs: int, n_may_fail: int) -> None:
        """Refuse a champion of whose first runs too many failed."""
        failed = np.flatnonzero(np.isinf(self.runs[:n_runs]))
        if len(failed) > n_may_fail:
            raise FailedChampionError(self.name, int(self.places[failed[0]]))


class FailedChampionError(ValueError):
    """Too many runs of a champion failed that a look asks for."""

    def __init__(self, champion: int, run: int) -> None:
        super().__init__(champion, run)
        self.champion = champion
        self.run = run


class Replay(NamedTuple):
    """Every candidate in its order, the first champion, and the present one."""

    judged: list[Judged]
    first: Champion
    present: Champion


def replay(
    runs: Sequence[Floats],
    baseline: int,
    candidates: Sequence[int],
    rule: Rule,
    offset: float = 0.0,
) -> Replay:
    """Judge the candidates one after the other; `runs` has the scores of every algorithm in their order.

    `offset` is the size of what was taken off the scores, whose last digits are rounding.
    """
    first = champion = Champion.of(baseline, runs[baseline], rule.start)
    judged: list[Judged] = []
    is_open = False
    for candidate in candidates:
        # After a candidate that needs more runs all others wait.
        if is_open:
            judged.append(Judged(decision=WAITING, champion=champion.name))
            continue
        champion, n_failed = meet(champion, rule)
        latest, champion = race(runs[candidate], champion, rule, offset)
        judged.append(replace(latest, n_failed=n_failed))
        is_open = latest.decision == RUN_MORE
        if champion.name == baseline:
            first = champion
        if latest.decision == KEPT:
            champion = Champion.of(candidate, runs[candidate], latest.n_runs)
    return Replay(judged, first, champion)


def meet(champion: Champion, rule: Rule) -> tuple[Champion, int]:
    """Return a champion that meets a further candidate, by one run more where that is due, and how many runs failed.

    A champion that survived many candidates did so because its runs were lucky. Those that are added are selected by
    nothing.
    """
    met = replace(champion, n_met=champion.n_met + 1)
    is_due = rule.refresh > 0 and met.n_met % rule.refresh == 0
    if not is_due or met.n_used >= MOST_BY_REFRESH:
        return met, 0

    # The next run that did not fail takes part; if it is not made, it is asked for, and counts as used.
    has_score = np.isfinite(met.audit)
    n_failed = len(has_score)
    if has_score.any():
        n_failed = int(has_score.argmax())
    passed = slice(met.n_used, met.n_used + n_failed)
    refreshed = replace(
        met,
        runs=np.delete(met.runs, passed),
        places=np.delete(met.places, passed),
        n_used=met.n_used + 1,
    )
    return refreshed, n_failed


def race(candidate: Floats, champion: Champion, rule: Rule, offset: float = 0.0) -> tuple[Judged, Champion]:
    """Judge one candidate; return what is decided, and the champion with the runs that have decided something."""
    latest = Judged(
        decision=RUN_MORE,
        champion=champion.name,
        is_copy=is_copy(candidate, champion.runs),
    )
    for n_runs in rule.looks:
        n_champion = max(n_runs, champion.n_used)
        ours = candidate[:n_runs]
        theirs = champion.runs[:n_champion]
        # More failed runs than may fail decide by themselves: the others of the look need not be made.
        n_failed = int(np.isinf(ours).sum())
        has_failed = n_failed > rule.may_fail(n_runs)
        n_lacking = n_runs - len(ours)
        n_lacking_champion = n_champion - len(theirs)
        if (n_lacking or n_lacking_champion) and not has_failed:
            is_open = replace(
                latest,
                runs_to_make=n_lacking,
                runs_to_make_champion=n_lacking_champion,
            )
            return is_open, champion

        # The champion's runs of this look count as used even if they are not made: they would have been.
        champion = replace(champion, n_used=n_champion)
        champion.refuse_failed(n_champion, rule.may_fail(n_champion))
        filled, theirs = with_worst(ours, theirs)
        if not has_failed:
            ours = filled
        latest = _compared(latest, ours, theirs)
        if has_failed or not is_above(ours, theirs, rule.margin, offset):
            dropped = replace(latest, decision=DROPPED)
            return _last_look(dropped, ours, theirs, rule), champion

    # What is better at every look is tested after the last.
    rule.check_reachable(len(theirs))
    pvalue = pvalue_above(ours, theirs, rule)
    decision = DROPPED
    if pvalue <= rule.level + 1e-12:
        decision = KEPT
    tested = replace(latest, pvalue=pvalue, decision=decision)
    return _last_look(tested, ours, theirs, rule), champion


def with_worst(ours: Floats, theirs: Floats) -> tuple[Floats, Floats]:
    """Return the runs of both sides, failed ones as the worst of both that did not."""
    both = np.concatenate([ours, theirs])
    finite = both[np.isfinite(both)]
    if not len(finite):
        return ours, theirs
    worst = finite.min()
    return np.maximum(ours, worst), np.maximum(theirs, worst)


def _compared(judged: Judged, ours: Floats, theirs: Floats) -> Judged:
    """Return what is known of a candidate once the runs of a look are compared."""
    champion_mean = np.nan
    if len(theirs):
        champion_mean = float(theirs.mean())
    difference = -np.inf
    if not np.isinf(ours).any():
        difference = float(ours.mean()) - champion_mean
    return replace(
        judged,
        n_runs=len(ours),
        n_runs_champion=len(theirs),
        champion_mean=champion_mean,
        difference=difference,
    )


def _last_look(judged: Judged, ours: Floats, theirs: Floats, rule: Rule) -> Judged:
    """Return the same with the interval of the difference, if the last look was reached without a failed run."""
    if len(ours) < rule.looks[-1] or np.isinf(ours).any():
        return judged
    plan = rule.context.plan((len(ours), len(theirs)), labelled=True)
    tests = contrast_tests(_design(ours, theirs), plan, "two-sided", rule.context.alpha)
    return replace(judged, difference_ci=tests["estimate_ci"][0])


def is_above(ours: Floats, theirs: Floats, margin: float, offset: float = 0.0) -> bool:
    """Return whether the mean of a candidate is above that of the champion by more than a margin."""
    # The same scores in another order, or in another number, are a tie whatever the rounding of their means; so are
    # scores that differ by their last digits only.
    largest = max(np.abs(ours).max(), np.abs(theirs).max(), abs(margin))
    rounding = _ROUNDING * largest + _LAST_DIGITS * offset
    return bool(ours.mean() - theirs.mean() - margin > rounding)


def pvalue_above(ours: Floats, theirs: Floats, rule: Rule) -> float:
    """Return the one-sided p of a candidate that is better by more than the margin."""
    plan = rule.context.plan((len(ours), len(theirs)), labelled=True)
    return float(pvalues_above(_design(ours - rule.margin, theirs), plan)[0])


def pvalue_moved(audit: Floats, rule: Rule) -> float:
    """Return the two-sided p of the first half of runs against the rest; NaN of fewer than 4, or where none differs."""
    # Runs that decided something were selected: they are no half of this comparison.
    if len(audit) < LEAST_MOVED or not np.isfinite(audit).all():
        return np.nan
    some, others = np.split(audit, [len(audit) // 2])
    plan = rule.context.plan((len(some), len(others)), labelled=True)
    tests = contrast_tests(_design(some, others), plan, "two-sided", rule.context.alpha)
    return float(tests["pvalue"][0])


def _design(some: Floats, others: Floats) -> ContrastDesign:
    """Return the contrast of two groups of runs."""
    return ContrastDesign(
        np.concatenate([some, others])[np.newaxis],
        (len(some), len(others)),
        _SIDES,
        False,
    )


def is_copy(candidate: Floats, champion: Floats) -> bool:
    """Return whether a candidate has the champion's score in every run that both have."""
    both = min(len(candidate), len(champion))
    return both > 0 and bool((candidate[:both] == champion[:both]).all())
