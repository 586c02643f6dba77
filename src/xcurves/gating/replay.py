"""The race of candidates against a champion, replayed from the runs in the order in which they were made.

Scores are turned here so that high ones are better; a failed run is minus infinity. Algorithms are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import ceil, comb
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Floats
from xcurves.core.run_checks import Context
from xcurves.kernels.differences.contrasts import (
    ContrastDesign,
    contrast_tests,
    pvalues_above,
)

DECISIONS = ("dropped", "kept", "run_more", "waiting")
DROPPED, KEPT, RUN_MORE, WAITING = range(4)
_ROUNDING = 64 * np.finfo(float).eps
_SIDES = np.array([1.0, -1.0])


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What is fixed before the first result."""

    looks: tuple[int, ...]  # numbers of runs of a candidate, ascending
    level: float
    margin: float
    start: int  # the least number of runs of the first champion
    context: Context  # the options of randomization tests

    def check_reachable(self, n_champion: int) -> None:
        """Refuse a level that no p of the last look reaches, against so many runs of a champion."""
        n_last = self.looks[-1]
        plan = self.context.plan((n_last, n_champion), labelled=True)
        if 1 / plan.n_total <= self.level + 1e-12:
            return
        refused = f"level={self.level:g} cannot be reached: of {n_last} v {n_champion} runs no p is below "
        refused += f"{1 / plan.n_total:.3g}"
        resamples = f"n_resamples={ceil(1 / self.level)}"
        if plan.n_assignments * self.level >= 1:
            raise ValueError(f"{refused}. Try {resamples}")

        enough = next(n for n in count(n_last) if comb(2 * n, n) * self.level >= 1)
        cure = f"looks={(*self.looks, enough)}"
        # So many runs may have more reassignments than are made: then their number counts too.
        further = self.context.plan((enough, enough), labelled=True)
        if 1 / further.n_total > self.level:
            cure += f" and {resamples}"
        raise ValueError(f"{refused}. Plan a further look: {cure}")


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
    is_copy: bool = False  # whether the candidate has the champion's scores


class Replay(NamedTuple):
    """Every candidate in its order, the present champion, and how many runs of each champion decided something."""

    judged: list[Judged]
    champion: int
    used: dict[int, int]


def replay(
    runs: Sequence[Floats], baseline: int, candidates: Sequence[int], rule: Rule
) -> Replay:
    """Judge the candidates one after the other; `runs` has the scores of every algorithm in their order."""
    champion = baseline
    used = {baseline: rule.start}
    judged: list[Judged] = []
    is_open = False
    for candidate in candidates:
        # After a candidate that needs more runs all others wait.
        if is_open:
            judged.append(Judged(decision=WAITING, champion=champion))
            continue
        latest, used[champion] = race(
            runs[candidate], runs[champion], champion, used[champion], rule
        )
        judged.append(latest)
        is_open = latest.decision == RUN_MORE
        if latest.decision == KEPT:
            champion = candidate
            used[champion] = latest.n_runs
    return Replay(judged, champion, used)


def race(
    candidate: Floats, champion: Floats, name: int, n_used: int, rule: Rule
) -> tuple[Judged, int]:
    """Judge one candidate; return what is decided, and how many of the champion's runs have decided something."""
    latest = Judged(
        decision=RUN_MORE, champion=name, is_copy=is_copy(candidate, champion)
    )
    for n_runs in rule.looks:
        n_champion = max(n_runs, n_used)
        failed = bool(np.isinf(candidate[:n_runs]).any())
        n_lacking = max(n_runs - len(candidate), 0)
        n_lacking_champion = max(n_champion - len(champion), 0)
        # A failed run decides by itself: the others of its look need not be made.
        if (n_lacking or n_lacking_champion) and not failed:
            is_open = replace(
                latest,
                runs_to_make=n_lacking,
                runs_to_make_champion=n_lacking_champion,
            )
            return is_open, n_used

        # The champion's runs of this look count as used even if they are not made: they would have been.
        n_used = n_champion
        ours = candidate[:n_runs]
        theirs = champion[:n_champion]
        latest = _compared(latest, ours, theirs)
        if failed or not is_above(ours, theirs, rule.margin):
            dropped = replace(latest, decision=DROPPED)
            return _last_look(dropped, ours, theirs, rule), n_used

    # What is better at every look is tested after the last.
    rule.check_reachable(len(theirs))
    pvalue = pvalue_above(ours, theirs, rule)
    decision = DROPPED
    if pvalue <= rule.level + 1e-12:
        decision = KEPT
    tested = replace(latest, pvalue=pvalue, decision=decision)
    return _last_look(tested, ours, theirs, rule), n_used


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


def is_above(ours: Floats, theirs: Floats, margin: float) -> bool:
    """Return whether the mean of a candidate is above that of the champion by more than a margin."""
    # The same scores in another order, or in another number, are a tie whatever the rounding of their means.
    rounding = _ROUNDING * max(np.abs(ours).max(), np.abs(theirs).max(), abs(margin))
    return bool(ours.mean() - theirs.mean() - margin > rounding)


def pvalue_above(ours: Floats, theirs: Floats, rule: Rule) -> float:
    """Return the one-sided p of a candidate that is better by more than the margin."""
    plan = rule.context.plan((len(ours), len(theirs)), labelled=True)
    return float(pvalues_above(_design(ours - rule.margin, theirs), plan)[0])


def pvalue_apart(some: Floats, others: Floats, rule: Rule) -> float:
    """Return the two-sided p of two groups of runs; NaN where one has fewer than two, or none differs."""
    if min(len(some), len(others)) < 2:
        return np.nan
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
