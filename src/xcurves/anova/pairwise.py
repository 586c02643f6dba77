"""All pairs of algorithms, in level and in shape."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.anova import kinds
from xcurves.anova.designs import design_of, reductions
from xcurves.array_types import Floats
from xcurves.core import direction, labels, provenance, run_checks, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.jobs import Group, Reduce
from xcurves.core.labels import in_label_order, pairs_in_label_order
from xcurves.core.run_checks import Context, as_float
from xcurves.core.validation import check_curves
from xcurves.kernels import numbers_needed
from xcurves.kernels.one_task import contrasts, level_differences
from xcurves.kernels.resampling import sums
from xcurves.kernels.resampling.adjustments import ADJUSTMENTS, may_be_best
from xcurves.say.pairs import MOST_PAIRS


def pairwise(
    curves: xr.DataArray,
    *,
    n_resamples: int | None = None,
    paired: bool = False,
    reference: Hashable | None = None,
    higher_is_better: bool | None = None,
    correction: Literal["holm", "bonferroni"] = "holm",
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Compare every pair of algorithms, in level and in shape.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, as for `randomized_anova`.
    n_resamples : int, optional
        Largest number of reassignments, as for `randomized_anova`.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms.
    reference : label, optional
        An algorithm: only its pairs are compared, "other - reference". By default all pairs are.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    correction : {"holm", "bonferroni"}
        How p-values are adjusted for the number of pairs, for each effect by itself.
    confidence_level : float, default 0.95
        Of each interval by itself, but of all pairs' `difference_ci_simultaneous` together.
    rng : int, Generator or None
        Seed of the random reassignments.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front. On (effect, pair): `pvalue_adjusted`, `pvalue` (for the algorithm
        effect from the studentized :math:`|T|`, for the interaction from F) and `f`, with the split-plot error terms.
        On (pair): `difference` of mean scores over training (first minus second, in score units), `n_resamples` and
        `n_assignments`; of at most eight pairs, on (pair, training), `curve_difference` and `curve_difference_band`
        (ci_bound), which holds for all levels of a pair; `difference_ci` and `difference_ci_simultaneous` (pair,
        ci_bound), and `difference_ci_gap`, 1 where a shift within the interval is rejected; `pvalue_adjusted_least`,
        the smallest adjusted p that these numbers of runs allow; `runs_to_show`, how many runs of each would show such
        a difference in 8 of 10 cases, and `runs_at_least`, how many if it is the largest of `difference_ci`, NaN where
        it is shown. On (algorithm): `n_runs`, `score_mean` over training,
        and `may_be_best`, 1 where no other algorithm is shown to have a better mean score, NaN with a `reference`.
        `pair` has labels ``"a - b"``, with coordinates `algorithm_a` and `algorithm_b`. NaN where an algorithm has no
        run in a task.

    Raises
    ------
    ValueError, TypeError
        As `randomized_anova`.

    Warns
    -----
    UserWarning
        If two runs of a task have the same score at every level, as copied data have.
        If no adjusted p-value can reach ``1 - confidence_level``, or the p of a pair is NaN.

    Notes
    -----
    A pair is tested on its own curves alone: shuffling all algorithms together would test that *none* differs, and
    reject equal pairs because of a third. The algorithm effect is tested by the two-sided studentized permutation test
    of `contrast`, and the interval goes from the smallest to the largest shift δ of one algorithm against the other
    that this test does not reject. So the unadjusted p is at most ``1 - confidence_level`` exactly where the interval
    excludes 0, except where `difference_ci_gap` is 1: with sizes beyond 3:1, or two runs, some shifts within it may be
    rejected. With too few assignments the interval is unbounded; where runs do not differ at all it is NaN. It assumes
    that algorithms differ by a shift; the test does not. Of skewed runs of unlike spread it rejects too often: of three
    algorithms with eight lognormal runs each, one varying four times as much, some pair in .12 for .05 after
    adjustment. Intervals that hold for all K pairs together are those of a level of :math:`1 - \alpha / K`.

    `runs_to_show` is the least number n of runs of each for which the t-test at :math:`\alpha / K` has power .8 if the
    difference is as seen and runs vary so that its standard error in these runs is that of :math:`T` (noncentral t,
    both tails; matched runs: of their differences), never less than the fewest runs of which p can be so small. With
    few runs it is very uncertain: `runs_at_least` stands beside it.

    .. math:: p_{(r)}^{adj} = \max_{s \le r} \min(1, (n_{pairs} - s + 1) p_{(s)})

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.
    .. [2] Piater, J. H. & Cohen, P. R. A randomized ANOVA procedure for comparing performance curves, Section 5.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> pairs = scores.curves.pairwise(n_resamples=999, rng=0)
    >>> pairs.pair.values.tolist()
    ['rate 0.001 - rate 0.8', 'rate 0.001 - rate 0.1', 'rate 0.8 - rate 0.1']
    >>> bool((pairs.pvalue_adjusted >= pairs.pvalue).all())
    True
    """
    with_training = validation.with_training(curves)
    scores = check_curves(with_training, levels=False, reserved=kinds.PAIRWISE.reserved())
    run_checks.warn_of_copies(scores)
    scores, higher_is_better = direction.resolved(scores, higher_is_better)
    validation.check_choice("correction", correction, tuple(ADJUSTMENTS))
    context = Context.of(scores, n_resamples, paired, confidence_level, rng)
    pairs = pairs_in_label_order(scores, reference)

    # Means of lazy curves are the same sums in any chunks.
    whole = scores
    if is_lazy(scores):
        whole = scores.chunk(dict.fromkeys(labels.DIMS, -1))
    means = whole.mean(["run", "training"]).transpose(..., "algorithm")

    # Differences along training are those of scores, which no reduction has.
    of_levels: list[xr.DataArray] = []
    when: list[str] = []
    along = None
    coords = labels.pair_coords(scores, reference)
    if 0 < len(pairs) <= MOST_PAIRS:
        of_levels.append(in_label_order(whole))
        when.append("few pairs")
        along = pairs
        coords |= {"training": with_training["training"]}

    named_reference = None
    if reference is not None:
        named_reference = str(reference)
    verdict = _OverPairs(
        adjust=ADJUSTMENTS[correction],
        pairs=pairs,
        has_reference=reference is not None,
        higher_is_better=higher_is_better,
        alpha=context.alpha,
    )
    alphas = (context.alpha, context.alpha / len(pairs))
    kernel = partial(pair_kernel, alphas=alphas, pairs=along)
    return per_task(
        kinds.PAIRWISE,
        kernel,
        scores,
        *of_levels,
        context=context,
        when=when,
        sizes={"pair": len(pairs)},
        reduce=Reduce(
            by=reductions(paired=context.paired),
            subsets=pairs.tolist(),
            finish=verdict.add,
        ),
        attrs={
            "n_resamples": n_resamples,
            "paired": paired,
            "reference": named_reference,
            "higher_is_better": higher_is_better,
            "correction": correction,
        },
        coords=coords | {"score_mean": means.variable},
        cure=with_training,
        warn=partial(_warn_pairs, context=context),
    )


def pair_kernel(group: Group, *, alphas: tuple[float, float], pairs: NDArray[np.intp] | None = None) -> dict[str, Any]:
    """Compare the two algorithms of alike pairs, along training too where `pairs` are given, before any reduction.

    Nothing where either has no runs.
    """
    context = group.context
    if not group.present.any(axis=1).all():
        return {}
    if context.paired:
        run_checks.check_groups(group.present, group.names[0], group.algorithms, context.runs, paired=True)
    # Scores, of the differences along training, stand behind the reductions.
    reduced = group
    if pairs is not None:
        reduced = group._replace(data=group.data[:-1])
    design = design_of(reduced)
    plan = context.plan(group.sizes)

    # Shapes are tested by F, of which p alone is wanted; levels by T, whose |T| ignores the sign.
    by_f = sums.f_tests(design, plan, 0.0)
    shifted = contrasts.ContrastDesign(design.means, group.sizes, np.array([1.0, -1.0]), context.paired)
    tests = {alpha: contrasts.contrast_tests(shifted, plan, "two-sided", alpha) for alpha in set(alphas)}
    by_shift, together = (tests[alpha] for alpha in alphas)
    compared = {
        "pvalue": np.stack([by_shift["pvalue"], by_f["pvalue"][:, 1, 1]], axis=-1),
        "f": sums.f_ratios(design, sums.effect_sums(design))[:, 1, :, 0].T,
        "difference": by_shift["estimate"],
        "difference_ci": by_shift["estimate_ci"],
        "difference_ci_simultaneous": together["estimate_ci"],
        "difference_ci_gap": by_shift["estimate_ci_gap"],
        "n_resamples": plan.n_resamples,
        "n_assignments": as_float(plan.n_assignments),
        **_runs_needed(by_shift, group.sizes, alphas[1], paired=context.paired),
    }
    if pairs is not None:
        compared |= _along_training(group, pairs)
    return compared


def _runs_needed(tested: dict[str, Floats], sizes: tuple[int, ...], alpha: float, *, paired: bool) -> dict[str, Floats]:
    """Return how many runs of each would show differences as they are seen, and as large as they may be."""
    difference = tested["estimate"]
    furthest = np.abs(tested["estimate_ci"]).max(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(difference / tested["statistic"])
    differences = np.stack([difference, furthest])
    if paired:
        n = np.full(len(error), sizes[0])
        by_runs = numbers_needed.tasks_to_show(differences, error * np.sqrt(n), n, alpha)
    else:
        by_runs = numbers_needed.runs_to_show(differences, error, (sizes[0], sizes[1]), alpha)
    return {"runs_to_show": by_runs[0], "runs_at_least": by_runs[1]}


def _along_training(group: Group, pairs: NDArray[np.intp]) -> dict[str, Floats]:
    """Return the differences of mean scores at every level of alike pairs, with a band for all levels of a pair."""
    tasks = np.arange(len(group.data[-1]))[:, np.newaxis]
    both = group.data[-1][tasks, pairs[group.subsets]]
    n_tasks, n_levels = len(both), both.shape[-1]

    # Alike tasks have equally many levels, each its own.
    levels = np.nonzero(np.isfinite(both).any(axis=(1, 2)))[1].reshape(n_tasks, -1)
    present = both.reshape(n_tasks, -1, n_levels)[:, group.curves]
    curves = np.take_along_axis(present, levels[:, np.newaxis], axis=2)
    plan = group.context.plan(group.sizes, work=levels.shape[1])
    along = level_differences.level_differences(curves, plan)
    bands = level_differences.bands(along, plan, group.context.alpha)

    difference = np.full((n_tasks, n_levels), np.nan)
    difference[tasks, levels] = along.difference[:, 0]
    band = np.full((n_tasks, n_levels, 2), np.nan)
    band[tasks, levels] = bands[:, 0]
    return {"curve_difference": difference, "curve_difference_band": band}


@dataclass(frozen=True, kw_only=True)
class _OverPairs:
    """What is said of all pairs of a task together."""

    adjust: Callable[[Floats], Floats]
    pairs: NDArray[np.intp]
    has_reference: bool
    higher_is_better: bool
    alpha: float

    def add(self, results: dict[str, Any]) -> None:
        """Adjust p over the pairs of every task; of all pairs, say which algorithms may be the best."""
        results["pvalue_adjusted"] = self.adjust(results["pvalue"])

        # A random p counts the observed assignment once more.
        n_resamples = results["n_resamples"]
        is_exact = n_resamples == results["n_assignments"]
        n_counted = np.where(is_exact, n_resamples, n_resamples + 1)
        with np.errstate(divide="ignore"):
            least = np.where(n_resamples > 0, 1 / n_counted, np.nan)
        results["pvalue_adjusted_least"] = self.adjust(least)

        is_shown = provenance.significant(results["pvalue_adjusted"][:, 0], self.alpha) & (results["difference"] != 0)
        results["runs_at_least"] = np.where(is_shown, np.nan, results["runs_at_least"])
        if self.has_reference:
            return

        sign = 1
        if not self.higher_is_better:
            sign = -1
        n_algorithms = results["n_runs"].shape[1]
        of_level = results["pvalue_adjusted"][:, 0]
        for task, difference in enumerate(results["difference"]):
            results["may_be_best"][task] = may_be_best(
                self.pairs, sign * difference, of_level[task], n_algorithms, self.alpha
            )


def _warn_pairs(result: xr.Dataset, context: Context) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first task."""
    n_tasks = len(context.names)
    least = provenance.values_of(result, "pvalue_adjusted_least", "pair")
    smallest = least.reshape(n_tasks, -1)
    exact = provenance.is_exact(result, "pair").ravel()
    p = provenance.values_of(result, "pvalue", "effect", "pair")
    undefined = np.isnan(p.reshape(n_tasks, 2, -1)[:, 0])
    unreachable = ~undefined & ~provenance.significant(smallest, context.alpha)

    def unreached(comparison: int) -> str:
        few = "n_resamples is so small"
        if exact[comparison]:
            few = "runs are so few"
        return f"{few} that no adjusted p reaches {context.alpha:g}"

    where = [f"{name}{pair}: " for name in context.names for pair in result["pair"].to_numpy()]
    provenance.warn_of(undefined, where, lambda _: "p is NaN: too few runs, or all scores are equal", "comparisons")
    provenance.warn_of(unreachable, where, unreached, "comparisons")
