"""The claim about tasks like these, by flips of the signs of whole tasks: on the scale of ranks of p, or of t."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Bools, Floats, Index
from xcurves.core.jobs import Indices
from xcurves.core.run_checks import Context
from xcurves.kernels.over_tasks import family_means, t_scale, task_flips
from xcurves.kernels.over_tasks.pair_members import (
    Members,
    OwnMembers,
    PairMembers,
    PairTotals,
    as_whole,
    totals,
)
from xcurves.kernels.over_tasks.sign_plans import Signs
from xcurves.kernels.resampling import plans
from xcurves.kernels.resampling.batches import rows_that_fit, stretches
from xcurves.multi_task.benchmark_scores import AlgorithmScores, PairFacts

_FEWEST_DIFFERENT = 6  # families that differ, of which t makes an interval
_MOST_PROBABILITIES = 10**7  # numbers of pairs in families, of which P(X > Y) is tested


class FamilyNumbers(NamedTuple):
    """Numbers of pairs in families, shape (pair, family), NaN where a pair lacks one."""

    x: Floats  # sums of weighted differences
    weights: Floats
    theta: Floats  # sums of weighted P(X > Y) - 1/2


class Estimates(NamedTuple):
    """What a mean difference over families is judged by, each of shape (pair,)."""

    difference: Floats
    error: Floats  # its standard error
    n_families: Floats


@dataclass(frozen=True)
class RandomClaim:
    """What flips say of all pairs of one benchmark."""

    context: Context
    own: AlgorithmScores
    pairs: Indices
    facts: PairFacts
    families: Index  # the family of each task
    weights: Floats  # of the tasks
    sign: int  # of a difference in which the first is better
    margin: float | None
    is_rare: bool  # whether items of 0 and 1 with one answer, each alike and alone, may differ in few

    def _in_family(self, n_families: Floats) -> Bools:
        """Return which pairs are tested together: those with families enough for a p of the level."""
        can_be_shown = task_flips.can_be_shown(n_families.astype(np.intp), self.context.alpha)
        return np.asarray(self.facts.known & can_be_shown)

    def level_of_each(self, n_families: Floats) -> float:
        """Return the level of each pair for which all claims about tasks like these hold together."""
        # Pairs outside the family of tests have no limits at any level. If all are outside, more tasks would bring all
        # of them in.
        counted = self._in_family(n_families)
        if not counted.any():
            counted = self.facts.known
        return self.context.alpha / max(1, int(np.count_nonzero(counted)))

    def by_ranks(self, numbers: FamilyNumbers, claim: Mapping[str, Floats]) -> Estimates:
        """Fill in the claim on the scale of ranks of p."""
        known, alpha = self.facts.known, self.context.alpha
        kept = np.flatnonzero(~np.isnan(numbers.weights).all(axis=0))
        plan = self._plan(len(kept))
        x, weights = numbers.x[:, kept].copy(), numbers.weights[:, kept]
        x[~known] = np.nan
        n_families = np.count_nonzero(~np.isnan(weights), axis=-1).astype(float)
        claim["pvalue"][:], claim["pvalue_adjusted"][:] = task_flips.pvalues(x, plan, alpha)
        levels = (alpha, self.level_of_each(n_families))
        ends = task_flips.flip_intervals(x[known], weights[known], plan, *levels)
        if self.is_rare:
            more, plan_of_more = task_flips.with_two_further(x[known], n_families[known], plan)
            with_more = task_flips.flip_intervals(*more, plan_of_more, *levels)
            ends = np.stack(list(map(t_scale.hull, ends, with_more)))
        ends[:, ~self.facts.varies[known]] = np.nan
        claim["difference_ci"][known], claim["difference_ci_simultaneous"][known] = ends
        self._margins(x, weights, plan, claim)

        n_tied = np.count_nonzero(x == 0, axis=-1)
        is_exact = task_flips.exact_members(weights, plan)
        self._resamples(n_families, n_tied, is_exact, plan, claim)
        if not self.context.paired:
            both = task_flips.pvalues(numbers.theta[:, kept], plan, alpha)
            for name, values in zip(("", "_adjusted"), both, strict=True):
                claim[f"prob_greater_pvalue{name}"][:] = values
        total = np.nan_to_num(x).sum(axis=-1)
        size = np.abs(np.nan_to_num(x)).sum(axis=-1)
        return Estimates(
            np.where(np.abs(total) <= task_flips.ROUNDING * size, 0.0, total),
            family_means.error_over_families(x, weights),
            n_families,
        )

    def _plan(self, n_families: int) -> plans.FlipPlan:
        return plans.plan_flips(n_families, self.context.n_resamples, self.context.entropy)

    def _margins(
        self,
        x: Floats,
        weights: Floats,
        plan: plans.FlipPlan,
        claim: Mapping[str, Floats],
        some: slice = slice(None),
    ) -> None:
        """Fill in that the first is not worse by the margin, where one is given, of some pairs."""
        if self.margin is None:
            return
        known = self.facts.known[some]
        if not known.any():
            return
        p, limit = task_flips.flip_margins(self.sign * x[known], weights[known], plan, self.margin, self.context.alpha)
        claim["margin_pvalue"][some][known] = p
        claim["margin_limit"][some][known] = limit

    def _resamples(
        self,
        n_families: Floats,
        n_tied: Floats | Index,
        is_exact: Bools,
        plan: plans.FlipPlan,
        claim: Mapping[str, Floats],
    ) -> None:
        """Fill in how many flips each pair has, and the smallest p that they allow."""
        # Each pair is flipped in the families that it has; one without a difference leaves half as many sums.
        n_own = np.where(is_exact, n_families, 0.0)
        n_resamples = np.where(is_exact, 2.0**n_own, plan.n_resamples)
        of_all = 2.0 ** (n_tied + 1.0 - n_families)
        of_random = 1 / plan.n_total
        least = np.where(is_exact, of_all, of_random)
        # several pairs are adjusted by the flips of all families
        if not plan.exact and np.count_nonzero(self._in_family(n_families)) > 1:
            least = np.maximum(least, of_random)
        claim["pvalue_adjusted_least"][:] = np.where(self.facts.known, np.minimum(least, 1.0), np.nan)
        claim["n_resamples"][:] = np.where(self.facts.some, n_resamples, 0)

    # On the scale of t.

    @cached_property
    def _members(self) -> tuple[PairMembers, float]:
        """The numbers of all pairs, and how many times as large they are as weighted means."""
        kept = self._used_tasks()
        present, n_runs = self.own.present[:, kept], self.own.n_runs[:, kept]
        _, families = np.unique(self.families[kept], return_inverse=True)
        usable = present & ~self.own.infinite[:, kept]
        means = np.where(usable, self.own.mean[:, kept], 0.0)
        weights = self.weights[kept]
        largest = np.abs(means).max(axis=0, initial=0.0)

        # Sums of whole numbers are exact in single precision, where tasks weigh alike and all have as many runs.
        if np.ptp(weights) == 0 and (n_runs[present] == n_runs.max()).all():
            whole = as_whole(means * n_runs.max())
            if whole is not None:
                ones = np.ones(len(weights))
                members = PairMembers(whole, present, self.pairs, families.ravel(), ones, 0 * ones)
                return members, float(n_runs.max())

        # less what all have in a task, so that differences do not round
        common = means.sum(axis=0) / np.maximum(np.count_nonzero(usable, axis=0), 1)
        centred = np.where(usable, (means - common) * weights, 0.0)
        rounding = task_flips.ROUNDING * largest * weights
        return PairMembers(centred, present, self.pairs, families.ravel(), weights, rounding), 1.0

    def _used_tasks(self) -> Bools:
        """Return the tasks that any pair has."""
        n_algorithms = len(self.own.present)
        is_pair = np.zeros((n_algorithms, n_algorithms))
        is_pair[tuple(self.pairs.T)] = 1
        present = self.own.present.astype(float)
        return np.asarray((present * (is_pair @ present)).sum(axis=0) > 0)

    def by_t(self, theta: Floats | None, claim: Mapping[str, Floats]) -> tuple[Estimates, PairTotals]:
        """Fill in the claim on the scale of t; `theta` as in `FamilyNumbers`, None where it is not tested."""
        members, unit = self._members
        known, alpha = self.facts.known, self.context.alpha
        sums = totals(members, len(self.pairs))
        n_families = sums.n_families
        tested = self._in_family(n_families)
        plan = self._plan(members.n_families)
        found = t_scale.flip_tests(members, sums, Signs(plan), tested, alpha, two_more=self.is_rare)
        is_exact = self._exact(n_families, plan)
        self._pvalues(found, members, n_families, is_exact, plan, "pvalue", claim)
        self._intervals(found, members, unit, sums, is_exact, plan, claim)
        if self.margin is not None:
            for some, x, weights in self._numbers(members, unit):
                self._margins(x, weights, plan, claim, some)
        n_different = sums.n_positive + sums.n_negative
        self._resamples(n_families, n_families - n_different, is_exact, plan, claim)

        if not self.context.paired and self.own.are_binary:
            # P(X > Y) - 1/2 is half the difference in every task
            for name in ("pvalue", "pvalue_adjusted"):
                claim[f"prob_greater_{name}"][:] = claim[name]
        elif theta is not None and not self.context.paired:
            self._probabilities(theta, plan, claim)

        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.where(np.abs(sums.total) <= task_flips.ROUNDING * sums.size, 0.0, sums.total)
            difference = total / sums.weight / unit
        return Estimates(
            np.where(known, difference, np.nan),
            t_scale.standard_errors(sums) / unit,
            n_families,
        ), sums

    def _exact(self, n_families: Floats, plan: plans.FlipPlan) -> Bools:
        """Return of which pairs all flips of their own families are evaluated."""
        numbers, which = np.unique(n_families.astype(int), return_inverse=True)
        return np.array([plan.of(n).exact for n in numbers.tolist()], bool)[which]

    def _pvalues(
        self,
        found: t_scale.FlipTests,
        members: Members,
        n_families: Floats,
        is_exact: Bools,
        plan: plans.FlipPlan,
        name: str,
        claim: Mapping[str, Floats],
    ) -> None:
        """Fill in p-values: by all flips of a pair's own families, where these are few enough."""
        pvalue, adjusted = found.pvalue.copy(), found.pvalue_adjusted
        if not plan.exact:
            for some, x, own in self._own_numbers(members, n_families, is_exact, plan):
                pvalue[some] = task_flips.pvalues(x[:, np.newaxis], own)[0][:, 0]
        pvalue[~(self.facts.known_of(name) & (n_families > 1))] = np.nan
        claim[name][:] = pvalue
        claim[f"{name}_adjusted"][:] = np.maximum(adjusted, pvalue)

    def _own_numbers(
        self,
        members: Members,
        n_families: Floats,
        is_exact: Bools,
        plan: plans.FlipPlan,
    ) -> Iterator[tuple[Index, Floats, plans.FlipPlan]]:
        """Yield the numbers of pairs in the families that they have, with the plan of these."""
        is_exact = is_exact & (n_families > 1)  # others have no p
        for n in np.unique(n_families[is_exact]).astype(int).tolist():
            alike = np.flatnonzero(is_exact & (n_families == n))
            width = rows_that_fit(16 * members.n_families)
            for each in stretches(len(alike), width):
                some = alike[each]
                x = members.numbers(some).astype(float)
                # those that a pair lacks are 0, and behind
                front = np.argsort(x == 0, axis=-1, kind="stable")[:, :n]
                yield some, np.take_along_axis(x, front, axis=-1), plan.of(n)

    def _intervals(
        self,
        found: t_scale.FlipTests,
        members: PairMembers,
        unit: float,
        sums: PairTotals,
        is_exact: Bools,
        plan: plans.FlipPlan,
        claim: Mapping[str, Floats],
    ) -> None:
        """Fill in intervals: of a pair by itself by the means of subsets, where all its flips are evaluated."""
        known, more = self.facts.known, t_scale.with_two_more(sums)
        n_different = sums.n_positive + sums.n_negative
        differ = n_different >= _FEWEST_DIFFERENT
        tested = self._in_family(sums.n_families)
        for name, ratio, ratio_of_more, level in (
            ("difference_ci", found.own, found.own_of_more, self.context.alpha),
            (
                "difference_ci_simultaneous",
                found.together,
                found.together_of_more,
                self.level_of_each(sums.n_families),
            ),
        ):
            ends = t_scale.intervals(sums, ratio)
            if self.is_rare:
                # Flips of two further items alone do not tell how far t goes by chance.
                student = t_scale.ratio_of_student(more.n_families, level)
                beyond = np.where(n_different == 0, np.fmax(ratio_of_more, student), ratio_of_more)
                ends = t_scale.hull(ends, t_scale.intervals(more, beyond))
            else:
                ends[~differ] = np.nan
            ends[~tested] = -np.inf, np.inf
            ends[~(known & self.facts.varies)] = np.nan
            claim[name][:] = ends / unit
        by_itself = claim["difference_ci"]
        exact_pairs = np.flatnonzero(is_exact & known & self.facts.varies)
        width = rows_that_fit(24 * members.n_families)
        for each in stretches(len(exact_pairs), width):
            some = exact_pairs[each]
            x, weights = self._some_numbers(members, unit, some)
            ends = task_flips.flip_intervals(x, weights, plan, self.context.alpha)[0]
            if self.is_rare:
                n = sums.n_families[some]
                numbers, of_more = task_flips.with_two_further(x, n, plan)
                with_more = task_flips.flip_intervals(*numbers, of_more, self.context.alpha)
                ends = t_scale.hull(ends, with_more[0])
            by_itself[some] = ends

    def _some_numbers(self, members: PairMembers, unit: float, some: slice | Index) -> tuple[Floats, Floats]:
        """Return weighted differences and weights of some pairs, NaN where a pair lacks a family."""
        x = members.numbers(some).astype(float)
        n = np.broadcast_to(members.weights_of(some), x.shape)
        whole = n.sum(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = np.where(n > 0, n / whole, np.nan)
            return np.where(n > 0, x / whole / unit, np.nan), weights

    def _numbers(self, members: PairMembers, unit: float) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield weighted differences and weights of all pairs, some after the other."""
        width = rows_that_fit(24 * members.n_families)
        for some in stretches(len(self.pairs), width):
            yield some, *self._some_numbers(members, unit, some)

    def _probabilities(self, theta: Floats, plan: plans.FlipPlan, claim: Mapping[str, Floats]) -> None:
        """Fill in the p of P(X > Y) from sums of weighted distances from 1/2."""
        kept = np.flatnonzero(~np.isnan(theta).all(axis=0))
        has = ~np.isnan(theta[:, kept])
        members = OwnMembers(np.nan_to_num(theta[:, kept]), has.astype(float))
        sums = totals(members, len(theta))
        n_families = sums.n_families
        can_be_shown = task_flips.can_be_shown(n_families.astype(np.intp), self.context.alpha)
        tested = np.asarray(self.facts.some & can_be_shown)
        found = t_scale.flip_tests(members, sums, Signs(plan), tested, self.context.alpha, limits=False)
        is_exact = self._exact(n_families, plan)
        self._pvalues(found, members, n_families, is_exact, plan, "prob_greater_pvalue", claim)


def are_tested(n_pairs: int, n_families: int) -> bool:
    """Return whether P(X > Y) has a p on the scale of t, where it is not half a difference."""
    return n_pairs * n_families <= _MOST_PROBABILITIES
