"""All pairs of algorithms over the tasks, from a score for each run: both claims, and each task by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, run_checks
from xcurves.core.driver import Group, Indices
from xcurves.core.labels import pairs_in_label_order
from xcurves.core.run_checks import Context
from xcurves.kernels import contrasts, margins, plans, task_effects, task_flips, task_plans, task_ranks
from xcurves.kernels.engine import Progress, benjamini_hochberg, holm, may_be_best
from xcurves.kernels.moments import Floats

CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}
FIXED, RANDOM = 0, 1  # places of the claims


class PairScores(NamedTuple):
    """The scores of all pairs of one benchmark, shape (pair, task, ...)."""

    x: Floats  # of the first algorithm, a task's runs in front and NaN behind
    y: Floats  # of the second
    runs: NDArray[np.int64]  # numbers of both; 0 for both where either has none
    weights: Floats  # of the tasks, of sum one in every pair, 0 where a pair lacks the task
    # Whether a run scores +inf, in `x` and `y` a number above all others of the task: ranks stand, differences do not.
    infinite: NDArray[np.bool_]
    d: Floats  # differences of means, NaN where there is none
    v: Floats  # their squared standard errors
    here: NDArray[np.bool_]  # whether the pair has the task
    known: NDArray[np.bool_]  # whether the pair has a mean difference
    # Whether anything varies, runs within a task or differences over tasks; else no interval says anything.
    varies: NDArray[np.bool_]


def make_pairs(scores: Floats, pairs: Indices, weights: Floats, *, paired: bool) -> PairScores:
    """Return the pairs of scores of shape (task, algorithm, run)."""
    present, never = ~np.isnan(scores), np.isposinf(scores)
    front = np.argsort(~present, axis=-1, kind="stable")
    if never.any():
        highest = np.where(present & ~never, scores, -np.inf).max(axis=(1, 2), keepdims=True)
        highest = np.where(np.isfinite(highest), highest, 0.0)
        scores = np.where(never, np.where(highest == 0, 1.0, highest + np.abs(highest)), scores)
    compact = np.take_along_axis(scores, front, axis=-1).swapaxes(0, 1)
    first, second = pairs.T
    counts = present.sum(axis=-1).T
    runs = np.stack([counts[first], counts[second]], axis=-1)
    runs[(runs == 0).any(axis=-1)] = 0
    here = runs[..., 0] > 0
    own = np.where(here, weights, 0.0)
    with np.errstate(invalid="ignore"):
        own = own / own.sum(axis=-1, keepdims=True)
    absent = np.where(here, 0.0, np.nan)[..., np.newaxis]
    of_algorithm = np.asarray(never.any(axis=-1)).T
    infinite = (of_algorithm[first] | of_algorithm[second]) & here
    x, y = compact[first] + absent, compact[second] + absent
    d, v = (np.where(infinite, np.nan, each) for each in task_effects.task_differences(x, y, paired=paired))
    some = np.where(here, d, np.nan)
    alike = np.all(~here | (v == 0), axis=-1) & (np.fmax.reduce(some, axis=-1) == np.fmin.reduce(some, axis=-1))
    known = here.any(axis=-1) & ~infinite.any(axis=-1)
    return PairScores(x, y, runs, own, infinite, d, v, here, known, ~alike)


@dataclass(frozen=True)
class JoinedTasks(ABC):
    """What all methods over several tasks need to know."""

    context: Context  # of the block of benchmarks in which they are computed
    pairs: Indices  # of the algorithms, in the order of their labels
    tasks: list[str]  # in messages
    groups: list[int]  # the family of each task

    @classmethod
    def of(
        cls, curves: xr.DataArray, context: Context, task: str, reference: Hashable | None, groups: Any, **more: Any
    ) -> Self:
        """Return what is known of curves with a dim of tasks in families."""
        names = [f"{task} {label}" for label in labels.words(curves[task])]
        return cls(replace(context, names=[]), pairs_in_label_order(curves, reference), names, groups.numbers, **more)

    def __call__(self, group: Group) -> dict[str, Floats]:
        """Return the variables of benchmarks, each computed by itself, data of shape (benchmark, task, ...)."""
        here = replace(self, context=group.context)
        out = group.layout.blank(len(group.names))
        for place, (scores, name) in enumerate(zip(group.data[0], group.names, strict=True)):
            here.check_matched(scores, name)
            here.fill({variable: values[place] for variable, values in out.items()}, scores, name)
        return out

    @abstractmethod
    def fill(self, out: Mapping[str, Floats], scores: Floats, name: str) -> None:
        """Fill in the variables of one benchmark, scores of shape (task, algorithm, run, ...)."""

    def check_matched(self, scores: Floats, name: str) -> None:
        """Refuse unmatched runs, scores of shape (task, algorithm, run, ...), if runs are paired."""
        if not self.context.paired:
            return
        present = np.asarray(~np.isnan(scores.reshape(*scores.shape[:3], -1)).all(axis=-1))
        for task, here in zip(self.tasks, present, strict=True):
            n_algorithms, n_runs = (np.count_nonzero(here.any(axis=axis)) for axis in (1, 0))
            if n_algorithms > 1 and n_algorithms * n_runs != here.sum():
                words = self.context.algorithms, self.context.runs
                run_checks.check_groups(here, f"{name}{task}: ", *words, paired=True)

    def family_sums(self, values: Floats) -> Floats:
        """Sum values of tasks, shape (..., task), over families; NaN where a family has none."""
        member = np.array(self.groups) == np.arange(max(self.groups) + 1)[:, np.newaxis]
        has = ~np.isnan(values) @ member.T
        return np.where(has, np.nan_to_num(values) @ member.T.astype(float), np.nan)

    def flips(self, families: Floats) -> tuple[NDArray[np.intp], plans.FlipPlan]:
        """Return the families that any pair has, given numbers of shape (pair, family), and a plan of their flips."""
        kept = np.flatnonzero(~np.isnan(families).all(axis=0))
        return kept, plans.plan_flips(len(kept), self.context.n_resamples, self.context.entropy)

    def can_be_shown(self, families: Floats) -> NDArray[np.intp]:
        """Return the pairs that have families enough for a p-value of at most alpha."""
        n = np.count_nonzero(~np.isnan(families), axis=-1)
        return np.flatnonzero((n > 1) & (2.0 ** (1 - n) <= self.context.alpha + 1e-12))


@dataclass(frozen=True)
class Comparison(JoinedTasks):
    """What `across_tasks` says of one benchmark."""

    weights: list[float]
    all_pairs: bool
    sign: int  # of a difference in which the first is better
    margin: float | None
    correction: str
    progress: Progress

    def fill(self, out: Mapping[str, Floats], scores: Floats, name: str) -> None:
        """Fill in all claims about one benchmark, scores of shape (task, algorithm, run)."""
        run_checks.check_size(scores, [f"{name}{each}: " for each in self.tasks], limit=1e70)
        pairs = make_pairs(scores, self.pairs, np.array(self.weights), paired=self.context.paired)
        out["n_resamples"][:] = out["n_ties"][:] = 0
        out["n_runs"][:] = (~np.isnan(scores)).sum(axis=-1)
        out["n_tasks"][:] = pairs.here.sum(axis=-1)
        for fill in (self._by_task, self._between_tasks, self._fixed, self._random):
            fill(pairs, out)
        self._means(scores, out)
        self._ranks(scores, out)
        for claim in (FIXED, RANDOM) if self.all_pairs else ():
            given = self.sign * out["difference"], out["pvalue_adjusted"][:, claim]
            out["may_be_best"][:, claim] = may_be_best(self.pairs, *given, scores.shape[1], self.context.alpha)

    def _by_task(self, pairs: PairScores, out: Mapping[str, Floats]) -> None:
        """Fill in what is known of each task by itself."""
        out["task_difference"][:], out["task_stderr"][:] = pairs.d, np.sqrt(pairs.v)
        pvalues = np.full(pairs.d.shape, np.nan)
        for sizes in {tuple(each) for each in pairs.runs.reshape(-1, 2).tolist() if min(each) > 1}:
            where = np.nonzero((pairs.runs == sizes).all(axis=-1) & ~pairs.infinite)
            if not where[0].size:
                continue
            u = np.concatenate([pairs.x[where][:, : sizes[0]], pairs.y[where][:, : sizes[1]]], axis=-1)
            design = contrasts.ContrastDesign(u, sizes, np.array([1.0, -1.0]), self.context.paired)
            plan = self.context.plan(sizes, labelled=True)
            found = contrasts.contrast_tests(design, plan, "two-sided", self.context.alpha)
            pvalues[where], out["task_difference_ci"][where] = found["pvalue"], found["estimate_ci"]
        out["task_pvalue_adjusted"][:] = CORRECTIONS[self.correction](pvalues)

    def _between_tasks(self, pairs: PairScores, out: Mapping[str, Floats]) -> None:
        """Fill in how much true differences vary over tasks, or families, and in which share the first is better."""
        here, known = pairs.here, pairs.known & ~np.isnan(np.where(pairs.here, pairs.v, 0.0)).any(axis=-1)
        size = self.family_sums(np.where(here, 1.0, np.nan))[:, self.groups]
        d, v = (np.where(here, each, np.nan) for each in (pairs.d / size, pairs.v / size**2))
        alpha, paired = self.context.alpha, self.context.paired
        error = np.where(here, task_effects.uncertainty(pairs.x, pairs.y, paired=paired) / size**4, 0.0)
        spread = task_flips.spread_of_truth(self.family_sums(d), self.family_sums(v), error.sum(axis=-1), alpha)
        share = task_flips.share_positive(self.family_sums(pairs.weights * self.sign * pairs.d), alpha)
        names = ("task_sd", "task_sd_ci", "share_better", "share_better_ci", "n_ties")
        for name, each in zip(names, (*spread, *share), strict=True):
            where = known & pairs.varies if name.startswith("task") else pairs.known
            out[name][where] = each[where]

    def _fixed(self, pairs: PairScores, out: Mapping[str, Floats]) -> None:
        """Fill in the claim about these tasks; pairs with the same numbers of runs share their deals."""
        several = (pairs.runs != 1).all(axis=(-2, -1)) & pairs.here.any(axis=-1)
        alphas = self.context.alpha, self.context.alpha / max(1, int((several & pairs.known).sum()))
        kinds, kind = np.unique(pairs.runs, axis=0, return_inverse=True)
        least = np.full(len(several), np.nan)
        for number, runs in enumerate(kinds):
            own = np.flatnonzero((kind.ravel() == number) & several)
            if not own.size:
                continue
            sizes = tuple((int(a), int(b)) for a, b in runs)
            n_resamples, entropy = self.context.n_resamples, self.context.entropy
            plan = task_plans.plan_deals(sizes, n_resamples, paired=self.context.paired, entropy=entropy)
            given = pairs.x[own], pairs.y[own], pairs.weights[own[0]], plan, alphas, self.progress
            found = task_effects.task_effect_tests(*given, margin=self.margin, sign=self.sign)
            known = pairs.known[own]
            found["difference_ci"], found["difference_ci_simultaneous"] = found["difference_ci"].swapaxes(0, 1)
            of_margin = ["margin_pvalue", "margin_limit"] * (self.margin is not None)
            for name in ("pvalue", "difference_ci", "difference_ci_simultaneous", *of_margin):
                out[name][own[known], FIXED] = found[name][known]
            out["interaction_pvalue"][own[known]] = found["interaction_pvalue"][known]
            out["n_resamples"][own, FIXED] = plan.n_resamples
            least[own[known]] = plan.least
            if not self.context.paired:
                out["prob_greater_pvalue"][own, FIXED] = found["prob_greater_pvalue"]
        for name in ("pvalue", "prob_greater_pvalue", *["margin_pvalue"] * (self.margin is not None)):
            out[f"{name}_adjusted"][:, FIXED] = holm(out[name][:, FIXED])
        out["pvalue_adjusted_least"][:, FIXED] = holm(least)

    def _random(self, pairs: PairScores, out: Mapping[str, Floats]) -> None:
        """Fill in the claim about tasks like these, and the estimates."""
        known, some = pairs.known, pairs.here.any(axis=-1)
        out["difference"][known] = task_effects.weighted_sum(pairs.d, pairs.weights)[known]
        if not some.any():
            return
        weights = self.family_sums(np.where(pairs.here, pairs.weights, np.nan))
        kept, plan = self.flips(weights)
        weights, x = weights[:, kept], self.family_sums(pairs.weights * pairs.d)[:, kept]
        x[~known] = np.nan
        out["pvalue"][:, RANDOM], out["pvalue_adjusted"][:, RANDOM] = task_flips.pvalues(x, plan, self.can_be_shown(x))
        ends = task_flips.flip_intervals(
            x[known], weights[known], plan, self.context.alpha, self.context.alpha / max(1, int(known.sum()))
        )
        ends[:, ~pairs.varies[known]] = np.nan
        out["difference_ci"][known, RANDOM], out["difference_ci_simultaneous"][known, RANDOM] = ends
        if self.margin is not None:
            p, limit = margins.flip_margins(self.sign * x[known], weights[known], plan, self.margin, self.context.alpha)
            out["margin_pvalue"][known, RANDOM], out["margin_limit"][known, RANDOM] = p, limit
            out["margin_pvalue_adjusted"][:, RANDOM] = holm(out["margin_pvalue"][:, RANDOM])
        n_families = np.count_nonzero(~np.isnan(weights), axis=-1)
        evaluated = 2.0**n_families if plan.exact else np.full(len(x), plan.n_resamples)
        out["n_resamples"][:, RANDOM] = np.where(some, evaluated, 0)
        alike = np.count_nonzero(x == 0, axis=-1) + 1.0
        least = 2.0 ** (alike - n_families) if plan.exact else np.full(len(x), 1 / plan.n_total)
        out["pvalue_adjusted_least"][known, RANDOM] = np.minimum(least, 1.0)[known]
        if self.context.paired:
            return
        theta = task_ranks.thetas(pairs.x, pairs.y)
        out["prob_greater"][some] = np.nansum(pairs.weights * theta, axis=-1)[some]
        from_half = self.family_sums(pairs.weights * (theta - 0.5))[:, kept]
        both = task_flips.pvalues(from_half, plan, self.can_be_shown(from_half))
        out["prob_greater_pvalue"][:, RANDOM], out["prob_greater_pvalue_adjusted"][:, RANDOM] = both

    def _means(self, scores: Floats, out: Mapping[str, Floats]) -> None:
        """Fill in the weighted mean over tasks of every algorithm that has all tasks which any has."""
        n_runs = np.count_nonzero(~np.isnan(scores), axis=-1)
        used = n_runs.any(axis=-1)
        if used.any():
            weights = np.array(self.weights)[used] / np.array(self.weights)[used].sum()
            means = np.nansum(scores[used], axis=-1) / np.where(n_runs[used] > 0, n_runs[used], np.nan)
            out["score_mean"][:] = weights @ means

    def _ranks(self, scores: Floats, out: Mapping[str, Floats]) -> None:
        """Fill in mean ranks over the tasks that have all algorithms, 1 the best, and what is shown of them."""
        present = ~np.isnan(scores)
        complete = present.any(axis=-1).all(axis=-1)
        if not complete.any():
            return
        means = np.nansum(scores[complete], axis=-1) / present[complete].sum(axis=-1)
        one, other = means[:, :, np.newaxis], means[:, np.newaxis]
        better = self.sign * other > self.sign * one
        same = np.isclose(one, other, rtol=1e-14, atol=0.0)
        ranks = np.full(scores.shape[:2], np.nan)
        ranks[complete] = np.where(same, 0.5, better).sum(axis=-1) + 0.5
        out["rank_mean"][:] = ranks[complete].mean(axis=0)
        by_family = self.family_sums(ranks.T)
        kept, plan = self.flips(by_family)
        pvalue, out["place_ci"][:] = task_flips.places(by_family[:, kept], plan, self.context.alpha)
        a, b = self.pairs.T
        out["rank_pvalue_adjusted"][:] = np.minimum(pvalue[a, b], pvalue[b, a])
