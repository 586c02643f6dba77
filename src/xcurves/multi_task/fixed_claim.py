"""The claim about these very tasks: by dealing runs anew within each, or of many tasks by Student's t."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index
from xcurves.core.jobs import Indices
from xcurves.core.run_checks import Context
from xcurves.kernels import intervals
from xcurves.kernels.over_tasks import task_effects, task_plans, task_ranks
from xcurves.kernels.resampling.adjustments import holm
from xcurves.kernels.resampling.batches import rows_that_fit, stretches
from xcurves.kernels.resampling.engine import Progress
from xcurves.multi_task.benchmark_scores import (
    AlgorithmScores,
    PairFacts,
    in_common,
    make_pairs,
)

MOST_DEALT = 50  # tasks, of more of which Student's t takes the place of deals


class _Errors(NamedTuple):
    """The squared standard errors of weighted means of pairs, and Σ v² / (l - 1), each of shape (pair,)."""

    variance: Floats
    squares: Floats


@dataclass(frozen=True)
class FixedClaim:
    """What is said of all pairs of one benchmark on these tasks."""

    context: Context
    own: AlgorithmScores
    pairs: Indices
    facts: PairFacts
    weights: Floats  # of the tasks
    sign: int  # of a difference in which the first is better
    margin: float | None
    progress: Progress
    is_turned: Bools  # pairs that are not in the order of the labels

    def fill(
        self,
        out: Mapping[str, Floats],
        claim: Mapping[str, Floats],
        *,
        interaction: bool,
    ) -> None:
        """Fill in the claim; `interaction` asks for the test of whether differences vary over tasks."""
        tested = self.facts.has_errors
        is_large = self.facts.n_tasks > MOST_DEALT
        dealt = np.flatnonzero(tested & (~is_large | interaction))
        if dealt.size:
            self._deal(dealt, is_large, out, claim, interaction=interaction)
        large = np.flatnonzero(tested & is_large & self.facts.known)
        if large.size:
            self._students(large, out["difference"][large], claim)

        # Pairs without a mean difference have a p of ranks alone.
        of_means = claim.keys() - {"n_resamples", "may_be_best", "place_ci"}
        for name in of_means - {"prob_greater_pvalue"}:
            claim[name][~self.facts.known] = np.nan
        for name in ("pvalue", "prob_greater_pvalue"):
            claim[f"{name}_adjusted"][:] = holm(claim[name])
        claim["pvalue_adjusted_least"][:] = holm(claim["pvalue_adjusted_least"])

    @property
    def _alphas(self) -> tuple[float, float]:
        """The levels of an interval by itself, and of all together."""
        n_tested = int((self.facts.has_errors & self.facts.known).sum())
        return self.context.alpha, self.context.alpha / max(1, n_tested)

    def _deal(
        self,
        some: Index,
        is_large: Bools,
        out: Mapping[str, Floats],
        claim: Mapping[str, Floats],
        *,
        interaction: bool,
    ) -> None:
        """Test pairs by deals; those with the same numbers of runs share theirs. Of large ones the interaction only."""
        own, context = self.own, self.context
        n_runs = own.n_runs[self.pairs[some]]
        runs = np.where((n_runs > 0).all(axis=1, keepdims=True), n_runs, 0)
        _, kinds = np.unique(runs, axis=0, return_inverse=True)
        kinds = kinds.ravel()
        for kind, turned, large in product(range(int(kinds.max()) + 1), (False, True), (False, True)):
            alike = some[(kinds == kind) & (self.is_turned[some] == turned) & (is_large[some] == large)]
            if not alike.size:
                continue
            pairs = make_pairs(own, self.pairs[alike], self.weights, paired=context.paired)
            plan = task_plans.plan_deals(
                tuple((int(a), int(b)) for a, b in pairs.runs[0]),
                context.n_resamples,
                paired=context.paired,
                is_turned=turned,
                entropy=context.entropy,
            )
            tests = task_effects.task_effect_tests(
                pairs.x,
                pairs.y,
                pairs.weights[0],
                plan,
                () if large else self._alphas,
                self.progress,
                margin=None if large else self.margin,
                sign=self.sign,
                ranks=not large,
            )
            if interaction:
                known = self.facts.known[alike]
                out["interaction_pvalue"][alike[known]] = tests["interaction_pvalue"][known]
            if large:
                continue
            by_itself, together = tests["difference_ci"].swapaxes(0, 1)
            tests["difference_ci"] = by_itself
            tests["difference_ci_simultaneous"] = together
            tests["n_resamples"] = np.array(plan.n_resamples)
            tests["pvalue_adjusted_least"] = np.array(plan.least)
            for name in tests.keys() & claim.keys():
                claim[name][alike] = tests[name]

    def _students(self, some: Index, difference: Floats, claim: Mapping[str, Floats]) -> None:
        """Test pairs of many tasks by t, with Satterthwaite's degrees of freedom."""
        errors = self._errors(some)
        tests = self._by_t(difference, errors)
        for name, values in tests.items():
            claim[name][some] = values
        if self.context.paired:
            return
        if self.own.are_binary:
            # P(X > Y) - 1/2 is half the difference in every task, and its error half of that
            claim["prob_greater_pvalue"][some] = tests["pvalue"]
            return
        width = rows_that_fit(16 * self.own.runs[0].size * self.own.runs.shape[-1])
        for each in stretches(len(some), width):
            at = some[each]
            pairs = make_pairs(self.own, self.pairs[at], self.weights, paired=False)
            theta, v, squares = task_ranks.placement_errors(pairs.x, pairs.y)
            w = pairs.weights
            distance = np.nansum(w * (theta - 0.5), axis=-1)
            of_theta = _Errors(np.nansum(w**2 * v, axis=-1), np.nansum(w**4 * squares, axis=-1))
            claim["prob_greater_pvalue"][at] = _pvalue(distance, of_theta)

    def _errors(self, some: Index) -> _Errors:
        """Return the errors of the weighted means of some pairs."""
        pairs, w, own = self.pairs[some], self.weights, self.own
        if self.context.paired:
            found = []
            width = rows_that_fit(32 * own.runs[0].size)
            for each in stretches(len(some), width):
                part = make_pairs(own, pairs[each], w, paired=True)
                of_part = (
                    np.nansum(part.weights**2 * part.v, axis=-1),
                    np.nansum(part.weights**4 * part.uncertainty, axis=-1),
                )
                found.append(of_part)
            return _Errors(*map(np.concatenate, zip(*found, strict=True)))
        whole = in_common(w * own.present, own.present, pairs)
        variance, squares = (
            in_common(np.nan_to_num(each), own.present, pairs, both_ways=True)
            for each in (w**2 * own.error, w**4 * own.error_squares)
        )
        return _Errors(variance / whole**2, squares / whole**4)

    def _by_t(self, difference: Floats, errors: _Errors) -> dict[str, Floats]:
        """Return p-values and intervals of mean differences; NaN where no run ever differs."""
        error = np.where(errors.variance > 0, np.sqrt(errors.variance), np.nan)
        df = intervals.satterthwaite(errors.variance, errors.squares)
        df = np.where(errors.variance > 0, df, 1.0)
        by_itself, together = (intervals.student(difference, error, df, alpha) for alpha in self._alphas)
        tests = {
            "pvalue": _pvalue(difference, errors),
            "difference_ci": by_itself,
            "difference_ci_simultaneous": together,
            "n_resamples": np.zeros(len(error)),
            "pvalue_adjusted_least": np.where(np.isnan(error), np.nan, 0.0),
        }
        if self.margin is not None:
            signed = self.sign * difference
            tests["margin_pvalue"] = scipy.special.stdtr(df, -(signed + self.margin) / error)
            one_sided = intervals.t_quantile(2 * self.context.alpha, df)
            tests["margin_limit"] = signed - one_sided * error
        return tests


def student_pvalues(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return the p by t of pairs that have all tasks, of runs of shape (pair, task, run) and given weights."""
    (m, mean_x, var_x), (n, mean_y, var_y) = map(task_effects.moments, (x, y))
    v_x, v_y = var_x / m, var_y / n
    errors = _Errors((v_x + v_y) @ weights**2, (v_x**2 / (m - 1) + v_y**2 / (n - 1)) @ weights**4)
    differences = task_effects.difference_of_means(mean_x, mean_y)
    return _pvalue(task_effects.weighted_sum(differences, weights), errors)


def _pvalue(difference: Floats, errors: _Errors) -> Floats:
    """Return the two-sided p of t, NaN where no run ever differs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(difference) / np.sqrt(errors.variance)
    df = intervals.satterthwaite(errors.variance, errors.squares)
    return np.asarray(np.where(errors.variance > 0, 2 * scipy.special.stdtr(df, -t), np.nan))
