"""All pairs of algorithms over the tasks, from a score for each run: both claims, and each task by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core import run_checks
from xcurves.core.packing import Floats
from xcurves.core.task_blocks import Block
from xcurves.kernels import contrasts, task_deals, task_effects, task_flips, task_ranks
from xcurves.kernels.adjustments import benjamini_hochberg, holm

CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}
FIXED, RANDOM = 0, 1  # places of the claims


class Pairs(NamedTuple):
    """The scores of all pairs of one benchmark.

    Attributes
    ----------
    x, y : ndarray, shape (pair, task, run)
        Of the first and of the second algorithm, a task's runs in front and NaN behind.
    runs : ndarray of int, shape (pair, task, 2)
        Numbers of runs; 0 for both where either has none.
    weights : ndarray, shape (pair, task)
        Of the tasks, of sum one in every pair, 0 where a pair lacks the task.
    infinite : ndarray of bool, shape (pair, task)
        Whether a run of either scores +inf, which `x` and `y` replace by a number above all others of the task: ranks
        stand, differences do not.
    """

    x: Floats
    y: Floats
    runs: NDArray[np.int64]
    weights: Floats
    infinite: NDArray[np.bool_]

    @property
    def here(self) -> NDArray[np.bool_]:
        """Whether the pair has the task."""
        return np.asarray(self.runs[..., 0] > 0)


def make_pairs(scores: Floats, pairs: Sequence[tuple[int, int]], weights: Floats) -> Pairs:
    """Return the pairs of scores of shape (task, algorithm, run)."""
    present, never = ~np.isnan(scores), np.isposinf(scores)
    front = np.argsort(~present, axis=-1, kind="stable")
    if never.any():
        highest = np.where(present & ~never, scores, -np.inf).max(axis=(1, 2), keepdims=True)
        scores = np.where(never, np.where(np.isfinite(highest), np.nextafter(highest, np.inf), 0.0), scores)
    compact = np.take_along_axis(scores, front, axis=-1).swapaxes(0, 1)
    first, second = np.array(pairs).T
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
    return Pairs(compact[first] + absent, compact[second] + absent, runs, own, infinite)


@dataclass(frozen=True)
class TaskBlock(Block):
    """What all methods over several tasks need to know.

    Attributes
    ----------
    pairs : list of (int, int)
        Places of the algorithms.
    tasks : list of str
        Names of tasks, for messages.
    groups : list of int
        The family of each task.
    """

    pairs: list[tuple[int, int]]
    tasks: list[str]
    groups: list[int]

    def check_matched(self, scores: Floats, name: str) -> None:
        """Refuse unmatched runs, scores of shape (task, algorithm, run, ...), if runs are paired."""
        if not self.paired:
            return
        present = np.asarray(~np.isnan(scores.reshape(*scores.shape[:3], -1)).all(axis=-1))
        for task, here in zip(self.tasks, present, strict=True):
            if np.count_nonzero(here.any(axis=1)) > 1 and here.any(axis=1).sum() * here.any(axis=0).sum() != here.sum():
                run_checks.check_groups(here, f"{name}{task}: ", self.algorithms, self.runs, paired=True)

    def family_sums(self, values: Floats) -> Floats:
        """Sum values of tasks, shape (..., task), over families; NaN where a family has none."""
        member = np.array(self.groups) == np.arange(max(self.groups) + 1)[:, np.newaxis]
        has = ~np.isnan(values) @ member.T
        return np.where(has, np.nan_to_num(values) @ member.T.astype(float), np.nan)

    def flips(self, families: Floats) -> tuple[Floats, task_flips.FlipPlan]:
        """Return the numbers of the families that any pair has, shape (pair, family), and a plan of flips."""
        kept = families[:, ~np.isnan(families).all(axis=0)]
        return kept, task_flips.plan_flips(kept.shape[1], self.n_resamples, self.entropy)

    def can_be_shown(self, families: Floats) -> NDArray[np.intp]:
        """Return the pairs that have families enough for a p-value of at most alpha."""
        n = np.count_nonzero(~np.isnan(families), axis=-1)
        return np.flatnonzero((n > 1) & (2.0 ** (1 - n) <= self.alpha + 1e-12))


@dataclass(frozen=True)
class ComparisonBlock(TaskBlock):
    """`across_tasks` in a block of what is left when the tasks are joined."""

    weights: list[float]
    higher_is_better: bool
    correction: str
    progress: Callable[..., Iterable[Any]]

    def __call__(self, scores: Floats, numbers: NDArray[np.intp]) -> Floats:
        """Compare pairs, given scores of shape (..., task, algorithm, run)."""
        out = self.layout.blank(numbers.size)
        out["n_resamples"][:] = 0
        for place, own in enumerate(scores.reshape(numbers.size, *scores.shape[-3:])):
            name = self.names[numbers.ravel()[place]]
            self.check_matched(own, name)
            run_checks.check_size(own, [f"{name}{each}: " for each in self.tasks], limit=1e70)
            pairs = make_pairs(own, self.pairs, np.array(self.weights))
            out["n_runs"][place] = (~np.isnan(own)).sum(axis=-1)
            out["n_tasks"][place] = pairs.here.sum(axis=-1)
            out["rank_mean"][place] = self._ranks(own)
            for name, values in [*self._by_task(pairs), *self._fixed(pairs), *self._random(pairs)]:
                target = out[name][place]
                target[values[0]] = values[1]
        return self.layout.pack(out, numbers.shape)

    def _ranks(self, scores: Floats) -> Floats:
        """Return mean ranks over the tasks that have all algorithms, 1 the best."""
        present = ~np.isnan(scores)
        complete = present.any(axis=-1).all(axis=-1)
        if not complete.any():
            return np.full(scores.shape[1], np.nan)
        means = np.nansum(scores[complete], axis=-1) / present[complete].sum(axis=-1)
        one, other = means[:, :, np.newaxis], means[:, np.newaxis]
        better = other > one if self.higher_is_better else other < one
        return np.asarray((better + (other == one) / 2).sum(axis=-1).mean(axis=0) + 0.5)

    def _by_task(self, pairs: Pairs) -> Iterator[tuple[str, tuple[Any, Any]]]:
        """Yield what is known of each task by itself, with its place."""
        d, v = task_effects.differences(pairs.x, pairs.y, paired=self.paired)
        d, v = (np.where(pairs.infinite, np.nan, each) for each in (d, v))
        yield "task_difference", (..., d)
        yield "task_stderr", (..., np.sqrt(v))
        known = np.where(pairs.here, 0.0, np.nan)
        count = pairs.here.sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(d, axis=-1) / count
            spread = np.nansum((d - mean[:, np.newaxis] + known) ** 2, axis=-1) / (count - 1)
            noise = np.where(pairs.here, v, 0.0).sum(axis=-1) / count
        known_all = (count > 1) & ~pairs.infinite.any(axis=-1)
        yield "task_sd", (..., np.where(known_all, np.sqrt(np.maximum(spread - noise, 0.0)), np.nan))
        pvalues = np.full(d.shape, np.nan)
        for sizes in {tuple(each) for each in pairs.runs.reshape(-1, 2).tolist() if min(each) > 1}:
            where = np.nonzero((pairs.runs == sizes).all(axis=-1) & ~pairs.infinite)
            if not where[0].size:
                continue
            u = np.concatenate([pairs.x[where][:, : sizes[0]], pairs.y[where][:, : sizes[1]]], axis=-1)
            design = contrasts.ContrastDesign(u, sizes, np.array([1.0, -1.0]), self.paired)
            found = contrasts.contrast_tests(design, self.plan(sizes, labelled=True), "two-sided", self.alpha)
            pvalues[where] = found["pvalue"]
            yield "task_difference_ci", (where, found["estimate_ci"])
        yield "task_pvalue_adjusted", (..., CORRECTIONS[self.correction](pvalues))

    def _fixed(self, pairs: Pairs) -> Iterator[tuple[str, tuple[Any, Any]]]:
        """Yield the claim about these tasks; pairs with the same numbers of runs share their deals."""
        kinds, kind = np.unique(pairs.runs, axis=0, return_inverse=True)
        adjusted = np.full(len(pairs.x), np.nan)
        for number, runs in enumerate(kinds):
            here = runs[:, 0] > 0
            if not here.any() or runs[here].min() < 2:
                continue
            own = np.flatnonzero(kind.ravel() == number)
            sizes = tuple((int(a), int(b)) for a, b in runs)
            plan = task_deals.plan_deals(sizes, self.n_resamples, paired=self.paired, entropy=self.entropy)
            given = pairs.x[own], pairs.y[own], pairs.weights[own[0]]
            found = task_effects.task_effect_tests(*given, plan, self.alpha, self.progress)
            known = ~pairs.infinite[own].any(axis=-1)
            adjusted[own] = np.where(known, found["pvalue"], np.nan)
            yield "pvalue", ((own, FIXED), adjusted[own])
            yield "difference_ci", ((own[known], FIXED), found["difference_ci"][known])
            yield "interaction_pvalue", (own[known], found["interaction_pvalue"][known])
            yield "n_resamples", ((own, FIXED), plan.n_deals)
            if not self.paired:
                yield "prob_greater_pvalue", ((own, FIXED), found["prob_greater_pvalue"])
        yield "pvalue_adjusted", ((slice(None), FIXED), holm(adjusted))

    def _random(self, pairs: Pairs) -> Iterator[tuple[str, tuple[Any, Any]]]:
        """Yield the claim about tasks like these, and the estimates."""
        d, _ = task_effects.differences(pairs.x, pairs.y, paired=self.paired)
        some = pairs.here.any(axis=-1)
        known = some & ~pairs.infinite.any(axis=-1)
        yield "difference", (..., np.where(known, np.nansum(pairs.weights * d, axis=-1), np.nan))
        if not some.any():
            return
        x, plan = self.flips(self.family_sums(pairs.weights * d))
        x[~known] = np.nan
        weights, _ = self.flips(self.family_sums(np.where(pairs.here, pairs.weights, np.nan)))
        pvalue, adjusted = task_flips.pvalues(x, plan, self.can_be_shown(x))
        yield "pvalue", ((slice(None), RANDOM), pvalue)
        yield "pvalue_adjusted", ((slice(None), RANDOM), adjusted)
        yield "difference_ci", ((known, RANDOM), task_flips.flip_intervals(x[known], weights[known], plan, self.alpha))
        n_families = np.count_nonzero(~np.isnan(weights), axis=-1)
        evaluated = 2.0**n_families if plan.exact else np.full(len(x), plan.n_flips)
        yield "n_resamples", ((slice(None), RANDOM), np.where(some, evaluated, 0))
        if self.paired:
            return
        theta = task_ranks.thetas(pairs.x, pairs.y)
        yield "prob_greater", (..., np.where(some, np.nansum(pairs.weights * theta, axis=-1), np.nan))
        from_half, _ = self.flips(self.family_sums(pairs.weights * (theta - 0.5)))
        yield "prob_greater_pvalue", ((slice(None), RANDOM), task_flips.pvalues(from_half, plan, np.empty(0, int))[0])
