"""All pairs of algorithms over the tasks, from a score for each run: both claims, and each task by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats
from xcurves.core import failed_runs, labels, magnitudes, run_checks
from xcurves.core.jobs import Group, Indices
from xcurves.core.labels import pairs_in_label_order
from xcurves.core.run_checks import Context
from xcurves.kernels import intervals
from xcurves.kernels.one_task import contrasts
from xcurves.kernels.over_tasks import (
    family_means,
    task_effects,
    task_flips,
    task_plans,
    task_ranks,
    task_spreads,
    tasks_needed,
)
from xcurves.kernels.resampling import plans
from xcurves.kernels.resampling.adjustments import holm, may_be_best
from xcurves.kernels.resampling.engine import Progress
from xcurves.multi_task import kinds
from xcurves.multi_task.pair_scores import PairScores, make_pairs
from xcurves.multi_task.scope import scope_of_tasks
from xcurves.multi_task.task_options import CORRECTIONS

# fixed, random
OF_CLAIMS = [
    name
    for name, var in kinds.ACROSS_TASKS.variables.items()
    if "task_effect" in var.dims
]


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
            of_benchmark = {
                variable: values[number, ...] for variable, values in out.items()
            }
            of_block.fill(of_benchmark, scores, name)
        return out

    def _check_paired(self, scores: Floats, name: str) -> None:
        """Refuse tasks of a benchmark in which a run lacks an algorithm."""
        missing = np.isnan(scores.reshape(*scores.shape[:3], -1)).all(axis=-1)
        present = np.asarray(~missing)
        for task, of_task in zip(self.tasks, present, strict=True):
            run_checks.check_paired_runs(
                of_task, f"{name}{task}: ", self.context.algorithms, self.context.runs
            )

    @abstractmethod
    def fill(self, out: Mapping[str, Floats], scores: Floats, name: str) -> None:
        """Fill in the variables of one benchmark, scores of shape (task, algorithm, run, ...)."""

    def family_sums(self, values: Floats) -> Floats:
        """Sum values of tasks, shape (..., task), over families; NaN where a family has none."""
        return task_flips.family_sums(values, np.array(self.groups))

    def flips(self, families: Floats) -> tuple[NDArray[np.intp], plans.FlipPlan]:
        """Return the families that any pair has, given numbers of shape (pair, family), and a plan of their flips."""
        kept = np.flatnonzero(~np.isnan(families).all(axis=0))
        return kept, plans.plan_flips(
            len(kept), self.context.n_resamples, self.context.entropy
        )


@dataclass(frozen=True)
class Comparison(JoinedTasks):
    """What `across_tasks` says of one benchmark."""

    weights: list[float]
    all_pairs: bool
    sign: int  # of a difference in which the first is better
    failed: float  # the infinite score of runs that failed, or of times that were not reached
    margin: float | None
    task_correction: str
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
        pairs = make_pairs(
            scores, self.pairs, np.array(self.weights), paired=self.context.paired
        )
        fixed, random = (
            {each: out[each][:, claim] for each in OF_CLAIMS if each in out}
            for claim in (0, 1)
        )
        out["n_resamples"][:] = out["n_ties"][:] = 0
        out["n_tasks"][:] = pairs.here.sum(axis=-1)
        self._by_task(pairs, out)
        self._between_tasks(pairs, out)
        self._new_task(pairs, out)
        self._fixed(pairs, out, fixed)
        self._random(pairs, out, random)
        self._what_next(pairs, out, random)
        self._algorithms(scores, out)
        for claim in (fixed, random):
            if self.margin is not None:
                claim["margin_pvalue_adjusted"][:] = holm(claim["margin_pvalue"])
            if self.all_pairs:
                difference, p = self.sign * out["difference"], claim["pvalue_adjusted"]
                claim["may_be_best"][:] = may_be_best(
                    self.pairs, difference, p, scores.shape[1], self.context.alpha
                )

    def _refuse_wrong(self, scores: Floats, prefixes: list[str]) -> None:
        """Refuse the infinite score that is no failure, by task, algorithm and run."""
        if not (scores == -self.failed).any():
            return
        words = product(prefixes, self.context.algorithms, self.context.runs)
        runs = [
            f"{task}algorithm {algorithm}, run {run}: "
            for task, algorithm, run in words
        ]
        failed_runs.refuse_wrong(scores, self.failed, runs, "curves")

    def _by_task(self, pairs: PairScores, out: Mapping[str, Floats]) -> None:
        """Fill in what is known of each task by itself."""
        out["task_difference"][:] = pairs.d
        pvalues, tested = np.full(pairs.d.shape, np.nan), ~np.isnan(pairs.v)
        for (n_a, n_b), turned in product(
            np.unique(pairs.runs[tested], axis=0).tolist(), (False, True)
        ):
            alike = (pairs.runs == (n_a, n_b)).all(axis=-1) & (
                self.is_turned == turned
            )[:, np.newaxis]
            where = np.nonzero(alike & tested)
            if not where[0].size:
                continue
            groups = [pairs.x[where][:, :n_a], pairs.y[where][:, :n_b]]
            sizes, signs = (n_a, n_b), np.array([1.0, -1.0])
            if turned:
                groups, sizes, signs = groups[::-1], sizes[::-1], signs[::-1]
            design = contrasts.ContrastDesign(
                np.concatenate(groups, axis=-1), sizes, signs, self.context.paired
            )
            plan = self.context.plan(sizes, labelled=True)
            tests = contrasts.contrast_tests(
                design, plan, "two-sided", self.context.alpha
            )
            pvalues[where] = tests["pvalue"]
            out["task_difference_ci"][where] = tests["estimate_ci"]
        out["task_pvalue_adjusted"][:] = CORRECTIONS[self.task_correction](pvalues)

    def _between_tasks(self, pairs: PairScores, out: Mapping[str, Floats]) -> None:
        """Fill in how much true differences vary over tasks, or families, and in which share the first is better."""
        alpha, known = self.context.alpha, pairs.known & pairs.varies & pairs.has_errors
        size = self.family_sums(np.where(pairs.here, 1.0, np.nan))[:, self.groups]
        d, v = (self.family_sums(each) for each in (pairs.d / size, pairs.v / size**2))
        error = task_effects.uncertainty(pairs.x, pairs.y, paired=self.context.paired)
        spread = task_spreads.spread_of_truth(
            d, v, np.nansum(error / size**4, axis=-1), alpha
        )
        for name, values in zip(
            ("task_sd", "task_sd_ci", "noise_share"), spread, strict=True
        ):
            out[name][known] = values[known]
        # a family in which both failed, in unlike tasks, decides nothing
        with np.errstate(invalid="ignore"):
            of_families = self.family_sums(pairs.weights * self.sign * pairs.d_ranked)
        share, some = (
            task_spreads.share_positive(of_families, alpha),
            pairs.here.any(axis=-1),
        )
        for name, each in zip(
            ("share_better", "share_better_ci", "n_ties"), share, strict=True
        ):
            out[name][some] = each[some]

    def _new_task(self, pairs: PairScores, out: Mapping[str, Floats]) -> None:
        """Fill in between which values the difference in one more task would be; of tasks in families nothing is known."""
        size = self.family_sums(np.where(pairs.here, 1.0, np.nan))
        with np.errstate(invalid="ignore"):
            is_alone = ~(size > 1).any(axis=-1)
        some = pairs.known & is_alone
        ends, level = family_means.one_more_value(pairs.d[some], self.context.alpha)
        out["new_task_ci"][some], out["new_task_level"][some] = ends, level

    def _fixed(
        self, pairs: PairScores, out: Mapping[str, Floats], claim: Mapping[str, Floats]
    ) -> None:
        """Fill in the claim about these tasks; pairs with the same numbers of runs share their deals."""
        context = self.context
        tested = pairs.has_errors
        n_tested = int((tested & pairs.known).sum())
        alphas = (context.alpha, context.alpha / max(1, n_tested))
        for runs, turned in product(
            np.unique(pairs.runs[tested], axis=0), (False, True)
        ):
            has_runs = (pairs.runs == runs).all(axis=(1, 2))
            alike = np.flatnonzero(tested & has_runs & (self.is_turned == turned))
            if not alike.size:
                continue
            plan = task_plans.plan_deals(
                tuple((int(a), int(b)) for a, b in runs),
                context.n_resamples,
                paired=context.paired,
                is_turned=turned,
                entropy=context.entropy,
            )
            tests = task_effects.task_effect_tests(
                pairs.x[alike],
                pairs.y[alike],
                pairs.weights[alike[0]],
                plan,
                alphas,
                self.progress,
                margin=self.margin,
                sign=self.sign,
            )
            by_itself, together = tests["difference_ci"].swapaxes(0, 1)
            tests["difference_ci"] = by_itself
            tests["difference_ci_simultaneous"] = together
            tests["n_resamples"] = np.array(plan.n_resamples)
            tests["pvalue_adjusted_least"] = np.array(plan.least)
            out["interaction_pvalue"][alike] = tests["interaction_pvalue"]
            for name in tests.keys() & claim.keys():
                claim[name][alike] = tests[name]

        # Pairs without a mean difference have a p of ranks alone.
        out["interaction_pvalue"][~pairs.known] = np.nan
        for name in claim.keys() - {
            "n_resamples",
            "may_be_best",
            "prob_greater_pvalue",
        }:
            claim[name][~pairs.known] = np.nan
        for name in ("pvalue", "prob_greater_pvalue"):
            claim[f"{name}_adjusted"][:] = holm(claim[name])
        claim["pvalue_adjusted_least"][:] = holm(claim["pvalue_adjusted_least"])

    def _random(
        self, pairs: PairScores, out: Mapping[str, Floats], claim: Mapping[str, Floats]
    ) -> None:
        """Fill in the claim about tasks like these, and the estimates."""
        known, some, alpha = pairs.known, pairs.here.any(axis=-1), self.context.alpha
        out["difference"][known] = task_effects.weighted_sum(pairs.d, pairs.weights)[
            known
        ]
        if not some.any():
            return
        weights = self.family_sums(np.where(pairs.here, pairs.weights, np.nan))
        kept, plan = self.flips(weights)
        weights, x = (
            weights[:, kept],
            self.family_sums(pairs.weights * pairs.d)[:, kept],
        )
        x[~known] = np.nan
        claim["pvalue"][:], claim["pvalue_adjusted"][:] = task_flips.pvalues(
            x, plan, alpha
        )
        ends = task_flips.flip_intervals(
            x[known], weights[known], plan, alpha, self._level_of_each(pairs)
        )
        ends[:, ~pairs.varies[known]] = np.nan
        claim["difference_ci"][known], claim["difference_ci_simultaneous"][known] = ends
        if self.margin is not None:
            p, limit = task_flips.flip_margins(
                self.sign * x[known], weights[known], plan, self.margin, alpha
            )
            claim["margin_pvalue"][known] = p
            claim["margin_limit"][known] = limit

        # Each pair is flipped in the families that it has; one without a difference leaves half as many sums.
        n_families = np.count_nonzero(~np.isnan(weights), axis=-1)
        is_exact = task_flips.exact_members(weights, plan)
        n_resamples = np.where(is_exact, 2.0**n_families, plan.n_resamples)
        of_all = 2.0 ** (np.count_nonzero(x == 0, axis=-1) + 1 - n_families)
        of_random = 1 / plan.n_total
        least = np.where(is_exact, of_all, of_random)
        # several pairs are adjusted by the flips of all families
        if not plan.exact and np.count_nonzero(self._in_family(pairs)) > 1:
            least = np.maximum(least, of_random)
        claim["pvalue_adjusted_least"][:] = np.where(
            known, np.minimum(least, 1.0), np.nan
        )
        claim["n_resamples"][:] = np.where(some, n_resamples, 0)
        if not self.context.paired:
            theta = task_ranks.thetas(pairs.x, pairs.y)
            out["prob_greater"][some] = np.nansum(pairs.weights * theta, axis=-1)[some]
            both = task_flips.pvalues(
                self.family_sums(pairs.weights * (theta - 0.5))[:, kept], plan, alpha
            )
            (
                claim["prob_greater_pvalue"][:],
                claim["prob_greater_pvalue_adjusted"][:],
            ) = both

    def _in_family(self, pairs: PairScores) -> Bools:
        """Return which pairs are tested together: those with families enough for a p of the level."""
        sizes = self.family_sums(np.where(pairs.here, 1.0, np.nan))
        n_families = np.count_nonzero(~np.isnan(sizes), axis=-1)
        can_be_shown = task_flips.can_be_shown(n_families, self.context.alpha)
        return np.asarray(pairs.known & can_be_shown)

    def _level_of_each(self, pairs: PairScores) -> float:
        """Return the level of each pair for which all claims about tasks like these hold together."""
        # Pairs outside the family of tests have no limits at any level. If all are outside, more tasks would bring all
        # of them in.
        counted = self._in_family(pairs)
        if not counted.any():
            counted = pairs.known
        return self.context.alpha / max(1, int(np.count_nonzero(counted)))

    def _what_next(
        self, pairs: PairScores, out: Mapping[str, Floats], claim: Mapping[str, Floats]
    ) -> None:
        """Fill in how many tasks, or families, would show each difference, and which difference so many tasks show."""
        known, level = pairs.known, self._level_of_each(pairs)
        x, weights = (
            self.family_sums(np.where(pairs.here, each, np.nan))[known]
            for each in (pairs.weights * pairs.d, pairs.weights)
        )
        n = np.count_nonzero(~np.isnan(x), axis=-1).astype(float)
        error = family_means.error_over_families(x, weights)
        sd = error * np.sqrt(
            n
        )  # of families that weigh alike that of their differences
        out["tasks_to_show"][known] = tasks_needed.tasks_to_show(
            out["difference"][known], sd, n, level
        )
        out["smallest_to_show"][known] = tasks_needed.smallest_to_show(error, n, level)
        shown = (out["difference"] != 0) & (
            claim["pvalue_adjusted"] <= self.context.alpha + 1e-12
        )
        at_least = tasks_needed.tasks_at_least(
            claim["difference_ci"][known], sd, n, level
        )
        out["tasks_at_least"][known] = np.where(shown[known], np.nan, at_least)

    def _algorithms(self, scores: Floats, out: Mapping[str, Floats]) -> None:
        """Fill in weighted means over tasks, and mean ranks, 1 the best, with what is shown of them."""
        n_runs = np.count_nonzero(~np.isnan(scores), axis=-1)
        out["n_runs"][:] = n_runs
        means = np.nansum(scores, axis=-1) / np.where(n_runs > 0, n_runs, np.nan)
        has_mean = np.isfinite(means)
        out["task_mean"][:] = np.where(has_mean, means, np.nan)
        with np.errstate(invalid="ignore"):
            squares = np.nansum((scores - means[..., np.newaxis]) ** 2, axis=-1)
        spread = np.sqrt(squares / np.where(n_runs > 1, n_runs - 1, np.nan))
        spread = np.where(has_mean, spread, np.nan)
        out["task_mean_sd"][:] = spread
        n = np.where(n_runs > 1, n_runs, np.nan)
        ends = intervals.student(means, spread / np.sqrt(n), n - 1, self.context.alpha)
        out["task_mean_ci"][:] = ends
        self._means_over_tasks(scores, np.where(has_mean, means, np.nan), out)
        complete = n_runs.all(axis=-1)
        if not complete.any():
            return
        # Better ones count 1, equal ones and the algorithm itself a half.
        mean = means[..., np.newaxis]
        others = means[:, np.newaxis]
        is_equal = np.isclose(mean, others, rtol=1e-14, atol=0.0)
        is_better = self.sign * others > self.sign * mean
        ranks = np.where(is_equal, 0.5, is_better).sum(axis=-1) + 0.5
        ranks[~complete] = np.nan
        out["rank_mean"][:] = ranks[complete].mean(axis=0)
        by_family = self.family_sums(ranks.T)
        kept, plan = self.flips(by_family)
        pvalue, out["place_ci"][:] = task_flips.places(
            by_family[:, kept], plan, self.context.alpha
        )
        a, b = self.pairs.T
        out["rank_pvalue_adjusted"][:] = np.minimum(pvalue[a, b], pvalue[b, a])

    def _means_over_tasks(
        self, scores: Floats, means: Floats, out: Mapping[str, Floats]
    ) -> None:
        """Fill in means over each algorithm's own tasks with intervals, and over the tasks that a verdict is about."""
        has = np.asarray(~np.isnan(scores).all(axis=-1))
        out["n_tasks_algorithm"][:] = has.sum(axis=0)
        parts, shares = self._weighted(means, has)
        compared = has.any(axis=0)
        out["score_mean"][compared] = parts.sum(axis=0)[compared]

        x, weights = (
            self.family_sums(np.where(has, each, np.nan).T)[compared]
            for each in (parts, shares)
        )
        is_finite = np.isfinite(out["score_mean"][compared])
        ends = family_means.means_over_families(
            x,
            weights,
            self.context.alpha / max(1, int(is_finite.sum())),
            of_shares=family_means.are_shares(scores),
        )
        out["score_mean_ci"][compared] = np.where(
            is_finite[:, np.newaxis], ends, np.nan
        )

        scope = scope_of_tasks(has)
        out["n_tasks_common"][...] = np.count_nonzero(scope.tasks)
        parts, _ = self._weighted(means[scope.tasks], has[scope.tasks], scope.tasks)
        in_scope = scope.algorithms
        out["score_mean_common"][in_scope] = parts.sum(axis=0)[in_scope]

    def _weighted(
        self, means: Floats, has: Bools, tasks: Bools | slice = slice(None)
    ) -> tuple[Floats, Floats]:
        """Return the parts of some tasks in the mean of each algorithm, (task, algorithm), and their weights."""
        weights = np.array(self.weights)[tasks, np.newaxis] * has
        shares = weights / np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
        return np.where(has, shares * means, 0.0), shares
