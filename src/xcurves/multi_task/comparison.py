"""All pairs of algorithms over the tasks, from a score for each run: both claims, and each task by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats, Index
from xcurves.core import failed_runs, labels, magnitudes, run_checks
from xcurves.core.jobs import Group, Indices
from xcurves.core.labels import pairs_in_label_order
from xcurves.core.run_checks import Context
from xcurves.kernels import numbers_needed
from xcurves.kernels.one_task import contrasts
from xcurves.kernels.over_tasks import (
    family_means,
    task_flips,
    task_ranks,
)
from xcurves.kernels.over_tasks.family_means import places
from xcurves.kernels.over_tasks.pair_members import PairTotals
from xcurves.kernels.resampling import plans
from xcurves.kernels.resampling.adjustments import holm, may_be_best
from xcurves.kernels.resampling.batches import rows_that_fit, stretches
from xcurves.kernels.resampling.engine import Progress
from xcurves.multi_task import kinds
from xcurves.multi_task.benchmark_scores import (
    AlgorithmMeans,
    AlgorithmScores,
    PairFacts,
    PairScores,
    Scope,
    facts_of_pairs,
    make_pairs,
    scope_of_tasks,
    scores_of_algorithms,
)
from xcurves.multi_task.by_groups import ClaimsByGroup
from xcurves.multi_task.fixed_claim import FixedClaim
from xcurves.multi_task.random_claim import (
    Estimates,
    FamilyNumbers,
    RandomClaim,
    are_tested,
)
from xcurves.multi_task.task_options import CORRECTIONS

# fixed, random
OF_CLAIMS = [name for name, var in kinds.ACROSS_TASKS.variables.items() if "task_effect" in var.dims]


@dataclass(frozen=True)
class JoinedTasks(ABC):
    """What all methods over several tasks need to know."""

    context: Context  # of the block of benchmarks in which they are computed
    pairs: Indices  # of the algorithms, in the order of their labels
    tasks: list[str]  # in messages
    groups: list[int]  # the family of each task

    @classmethod
    def of(
        cls,
        curves: xr.DataArray,
        context: Context,
        task: str,
        reference: Hashable | None,
        groups: Any,
        **more: Any,
    ) -> Self:
        """Return what is known of curves with a dim of tasks in families."""
        names = [f"{task} {label}" for label in labels.words(curves[task])]
        return cls(
            replace(context, names=[]),
            pairs_in_label_order(curves, reference),
            names,
            groups.numbers,
            **more,
        )

    def __call__(self, group: Group) -> dict[str, Floats]:
        """Return the variables of benchmarks, each computed by itself, data of shape (benchmark, task, ...)."""
        of_block = replace(self, context=group.context)
        out = group.layout.blank(len(group.names))
        for number, name in enumerate(group.names):
            scores = group.data[0][number]
            if self.context.paired:
                self._check_paired(scores, name)
            of_benchmark = {variable: values[number, ...] for variable, values in out.items()}
            of_block.fill(of_benchmark, scores, name)
        return out

    def _check_paired(self, scores: Floats, name: str) -> None:
        """Refuse tasks of a benchmark in which a run lacks an algorithm."""
        missing = np.isnan(scores.reshape(*scores.shape[:3], -1)).all(axis=-1)
        present = np.asarray(~missing)
        for task, of_task in zip(self.tasks, present, strict=True):
            run_checks.check_paired_runs(of_task, f"{name}{task}: ", self.context.algorithms, self.context.runs)

    @abstractmethod
    def fill(self, out: Mapping[str, Floats], scores: Floats, name: str) -> None:
        """Fill in the variables of one benchmark, scores of shape (task, algorithm, run, ...)."""

    def family_sums(self, values: Floats) -> Floats:
        """Sum values of tasks, shape (..., task), over families; NaN where a family has none."""
        return task_flips.family_sums(values, np.array(self.groups))

    def flips(self, families: Floats) -> tuple[NDArray[np.intp], plans.FlipPlan]:
        """Return the families that any pair has, given numbers of shape (pair, family), and a plan of their flips."""
        kept = np.flatnonzero(~np.isnan(families).all(axis=0))
        return kept, plans.plan_flips(len(kept), self.context.n_resamples, self.context.entropy)


@dataclass(frozen=True)
class Comparison(JoinedTasks):
    """What `across_tasks` says of one benchmark."""

    weights: list[float]
    all_pairs: bool
    sign: int  # of a difference in which the first is better
    failed: float  # the infinite score of runs that failed, or of times that were not reached
    margin: float | None
    task_correction: str
    per_task: bool  # whether each task has its own tests
    by: list[int] | None  # the group of each task, in which differences are asked for too
    by_ranks: bool  # the scale of the claim for tasks like these: ranks of p, or t
    progress: Progress

    @property
    def is_turned(self) -> Bools:
        """Which pairs are not in the order of the labels, as the algorithms of scores are.

        They have the reassignments of those that are, so that no p depends on which algorithm is named first.
        """
        return np.asarray(self.pairs[:, 0] > self.pairs[:, 1])

    def fill(self, out: Mapping[str, Floats], scores: Floats, name: str) -> None:
        """Fill in all claims about one benchmark, scores of shape (task, algorithm, run)."""
        prefixes = [f"{name}{each}: " for each in self.tasks]
        magnitudes.check_size(scores, prefixes, limit=1e70)
        self._refuse_wrong(scores, prefixes)
        own = scores_of_algorithms(scores)
        facts = facts_of_pairs(own, self.pairs)
        claims = [{each: out[each][:, claim] for each in OF_CLAIMS if each in out} for claim in (0, 1)]
        out["n_resamples"][:] = out["n_ties"][:] = 0
        out["n_tasks"][:] = facts.n_tasks
        if facts.some.any():
            self._claims(out, claims, own, facts)

        scope = scope_of_tasks(own.present.T)
        weights, families = np.array(self.weights), np.array(self.groups)
        AlgorithmMeans(own, scope, weights, families, self.sign, self.context.alpha).fill(scores, out)
        if self.margin is not None:
            for claim in claims:
                claim["margin_pvalue_adjusted"][:] = holm(claim["margin_pvalue"])
        if self.all_pairs:
            self._who_is_best(out, own, scope)
        if self.by is not None:
            ClaimsByGroup(
                np.array(self.by),
                self.context,
                self.pairs,
                weights,
                self.sign,
                self.progress,
                self.is_turned,
            ).fill(out, scores)

    def _refuse_wrong(self, scores: Floats, prefixes: list[str]) -> None:
        """Refuse the infinite score that is no failure, by task, algorithm and run."""
        if not (scores == -self.failed).any():
            return
        words = product(prefixes, self.context.algorithms, self.context.runs)
        runs = [f"{task}algorithm {algorithm}, run {run}: " for task, algorithm, run in words]
        failed_runs.refuse_wrong(scores, self.failed, runs, "curves")

    def _claims(
        self,
        out: Mapping[str, Floats],
        claims: Sequence[Mapping[str, Floats]],
        own: AlgorithmScores,
        facts: PairFacts,
    ) -> None:
        """Fill in both claims about the pairs, and what is known of them task by task."""
        weights, families = np.array(self.weights), np.array(self.groups)
        is_single = own.n_runs.max() == 1
        is_rare = bool(
            own.are_binary and is_single and np.ptp(weights) == 0 and len(set(self.groups)) == len(self.groups)
        )
        random = RandomClaim(
            self.context,
            own,
            self.pairs,
            facts,
            families,
            weights,
            self.sign,
            self.margin,
            is_rare,
        )
        # Of single answers of 0 and 1 all follows from sums over tasks.
        is_simple = own.are_binary and is_single and not self.by_ranks
        numbers = None
        if self.per_task or not is_simple:
            numbers = self._by_pairs(out, own, facts)
        if self.by_ranks and numbers is not None:
            estimates = random.by_ranks(numbers, claims[1])
        else:
            theta = None
            if numbers is not None and len(numbers.theta):
                theta = numbers.theta
            estimates, sums = random.by_t(theta, claims[1])
            if numbers is None:
                self._shares(sums, facts, out)
        out["difference"][facts.known] = estimates.difference[facts.known]
        if own.are_binary and not self.context.paired:
            out["prob_greater"][facts.some] = 0.5 + out["difference"][facts.some] / 2
        self._what_next(estimates, facts, random, out, claims[1])
        FixedClaim(
            self.context,
            own,
            self.pairs,
            facts,
            weights,
            self.sign,
            self.margin,
            self.progress,
            self.is_turned,
        ).fill(out, claims[0], interaction=self.per_task)

    def _who_is_best(self, out: Mapping[str, Floats], own: AlgorithmScores, scope: Scope) -> None:
        """Fill in who may be the best, and between which places each algorithm is, by both claims."""
        difference = self.sign * out["difference"]
        has = np.asarray(own.present.any(axis=1))
        for claim in (0, 1):
            p, alpha = out["pvalue_adjusted"][:, claim], self.context.alpha
            out["may_be_best"][:, claim] = may_be_best(self.pairs, difference, p, len(has), alpha)
            of_claim = places(self.pairs, difference, p, has, alpha)
            of_claim[~scope.algorithms] = np.nan
            out["place_ci"][:, claim] = of_claim

    def _by_pairs(self, out: Mapping[str, Floats], own: AlgorithmScores, facts: PairFacts) -> FamilyNumbers:
        """Fill in what is known of pairs task by task, and return their numbers in families; some pairs after others.

        The differences only on the scale of ranks: on that of t there may be too many.
        """
        n_pairs, n_families = len(self.pairs), max(self.groups) + 1
        numbers = FamilyNumbers(*(np.zeros((0, n_families)) for _ in range(3)))
        if self.by_ranks:
            numbers = FamilyNumbers(*(np.full((n_pairs, n_families), np.nan) for _ in range(3)))
        elif are_tested(n_pairs, n_families) and not own.are_binary:
            numbers = numbers._replace(theta=np.full((n_pairs, n_families), np.nan))
        n_tasks, n_runs = own.runs.shape[1:]
        width = rows_that_fit(8 * n_tasks * (12 + 4 * n_runs))
        of_pairs = [name for name in out if self._has_pairs(name)]
        for some in stretches(n_pairs, width):
            pairs = make_pairs(
                own,
                self.pairs[some],
                np.array(self.weights),
                paired=self.context.paired,
            )
            part = {name: out[name][some] for name in of_pairs}
            facts.varies[some] = pairs.varies
            if self.per_task:
                self._by_task(pairs, self.is_turned[some], part)
            self._between_tasks(pairs, facts.known[some] & facts.has_errors[some], part)
            self._new_task(pairs, facts.known[some], part)
            if not self.context.paired and not (own.are_binary and not self.by_ranks):
                theta = _thetas(pairs)
                has_some = pairs.here.any(axis=-1)
                over_tasks = np.nansum(pairs.weights * theta, axis=-1)
                part["prob_greater"][has_some] = over_tasks[has_some]
                if len(numbers.theta):
                    numbers.theta[some] = self.family_sums(pairs.weights * (theta - 0.5))
            if self.by_ranks:
                in_tasks = np.where(pairs.here, pairs.weights, np.nan)
                numbers.weights[some] = self.family_sums(in_tasks)
                numbers.x[some] = self.family_sums(pairs.weights * pairs.d)
        return numbers

    @staticmethod
    def _has_pairs(name: str) -> bool:
        return "pair" in kinds.ACROSS_TASKS.variables[name].dims

    def _by_task(self, pairs: PairScores, is_turned: Bools, out: Mapping[str, Floats]) -> None:
        """Fill in what is known of each task by itself."""
        out["task_difference"][:] = pairs.d
        out["task_difference_stderr"][:] = np.sqrt(pairs.v)
        for quartiles, differences in zip(out["task_difference_quartiles"], pairs.d, strict=True):
            known = differences[np.isfinite(differences)]
            if known.size:
                quartiles[:] = np.quantile(known, [0.25, 0.5, 0.75])
        pvalues, tested = np.full(pairs.d.shape, np.nan), ~np.isnan(pairs.v)
        for (n_a, n_b), turned in product(np.unique(pairs.runs[tested], axis=0).tolist(), (False, True)):
            alike = (pairs.runs == (n_a, n_b)).all(axis=-1) & (is_turned == turned)[:, np.newaxis]
            where = np.nonzero(alike & tested)
            if not where[0].size:
                continue
            groups = [pairs.x[where][:, :n_a], pairs.y[where][:, :n_b]]
            sizes, signs = (n_a, n_b), np.array([1.0, -1.0])
            if turned:
                groups, sizes, signs = groups[::-1], sizes[::-1], signs[::-1]
            design = contrasts.ContrastDesign(np.concatenate(groups, axis=-1), sizes, signs, self.context.paired)
            plan = self.context.plan(sizes, labelled=True)
            tests = contrasts.contrast_tests(design, plan, "two-sided", self.context.alpha)
            pvalues[where] = tests["pvalue"]
            out["task_difference_ci"][where] = tests["estimate_ci"]
        out["task_pvalue_adjusted"][:] = CORRECTIONS[self.task_correction](pvalues)

    def _between_tasks(self, pairs: PairScores, has_spread: Bools, out: Mapping[str, Floats]) -> None:
        """Fill in how much true differences vary over tasks, or families, and in which share the first is better."""
        alpha, known = self.context.alpha, has_spread & pairs.varies
        if known.any():
            size = self.family_sums(np.where(pairs.here, 1.0, np.nan))[:, self.groups]
            d, v = (self.family_sums(each) for each in (pairs.d / size, pairs.v / size**2))
            spread = family_means.spread_of_truth(d, v, np.nansum(pairs.uncertainty / size**4, axis=-1), alpha)
            for name, values in zip(("task_sd", "task_sd_ci", "noise_share"), spread, strict=True):
                out[name][known] = values[known]
        # a family in which both failed, in unlike tasks, decides nothing
        with np.errstate(invalid="ignore"):
            of_families = self.family_sums(pairs.weights * self.sign * pairs.d_ranked)
        positive, negative, zero = (
            np.count_nonzero(each, axis=-1) for each in (of_families > 0, of_families < 0, of_families == 0)
        )
        some = np.asarray(pairs.here.any(axis=-1))
        self._share(positive, negative, zero, some, out)

    def _shares(self, sums: PairTotals, facts: PairFacts, out: Mapping[str, Floats]) -> None:
        """Fill in the share of tasks in which the first is better from what is known over tasks."""
        positive, negative = sums.n_positive, sums.n_negative
        zero = sums.n_families - positive - negative
        if self.sign < 0:
            positive, negative = negative, positive
        counts = [each.astype(np.intp) for each in (positive, negative, zero)]
        self._share(counts[0], counts[1], counts[2], facts.some, out)

    def _share(
        self,
        positive: Index,
        negative: Index,
        zero: Index,
        some: Bools,
        out: Mapping[str, Floats],
    ) -> None:
        share, ends = family_means.share_positive(positive, negative, self.context.alpha)
        out["share_better"][some] = share[some]
        out["share_better_ci"][some] = ends[some]
        out["n_ties"][some] = zero[some]

    def _new_task(self, pairs: PairScores, known: Bools, out: Mapping[str, Floats]) -> None:
        """Fill in between which values the difference in one more task would be; NaN of tasks in families."""
        some = known
        if len(set(self.groups)) < len(self.groups):
            size = self.family_sums(np.where(pairs.here, 1.0, np.nan))
            with np.errstate(invalid="ignore"):
                is_alone = ~(size > 1).any(axis=-1)
            some = known & is_alone
        ends, level = family_means.one_more_value(pairs.d[some], self.context.alpha)
        out["new_task_ci"][some], out["new_task_level"][some] = ends, level

    def _what_next(
        self,
        estimates: Estimates,
        facts: PairFacts,
        random: RandomClaim,
        out: Mapping[str, Floats],
        claim: Mapping[str, Floats],
    ) -> None:
        """Fill in how many tasks, or families, would show each difference, and which difference so many tasks show."""
        known = facts.known
        difference, error, n = (each[known] for each in estimates)
        level = random.level_of_each(estimates.n_families)
        # of families that weigh alike that of their differences
        sd = error * np.sqrt(n)
        out["tasks_to_show"][known] = numbers_needed.tasks_to_show(difference, sd, n, level)
        out["smallest_to_show"][known] = numbers_needed.smallest_to_show(error, n, level)
        shown = (out["difference"] != 0) & (claim["pvalue_adjusted"] <= self.context.alpha + 1e-12)
        at_least = numbers_needed.tasks_at_least(claim["difference_ci"][known], sd, n, level)
        out["tasks_at_least"][known] = np.where(shown[known], np.nan, at_least)


def _thetas(pairs: PairScores) -> Floats:
    """Return P(X > Y), ties half, of every pair in every task, NaN where a pair lacks it."""
    if pairs.own.n_runs.max() > 1:
        return task_ranks.thetas(pairs.x, pairs.y)
    # Of single runs the sign of the difference says it: a tenth of the time of a sort.
    return np.asarray((np.sign(pairs.d_ranked) + 1) / 2)
