"""One answer for a benchmark: the difference of algorithms over all tasks; p-values of many data sets at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.core import (
    direction,
    driver,
    failed_runs,
    labels,
    provenance,
    run_checks,
    task_dims,
    validation,
)
from xcurves.core.applicability import MOST_TASKS
from xcurves.core.labels import DIMS
from xcurves.core.refusal import call
from xcurves.core.run_checks import Context, within_budget
from xcurves.core.validation import check_curves
from xcurves.core.weights import TrainingWeights, check_training_weights, run_numbers
from xcurves.kernels.over_tasks import task_effects, task_flips, task_plans
from xcurves.kernels.resampling import plans
from xcurves.multi_task import kinds, task_options
from xcurves.multi_task.claims import TASK_CLAIMS
from xcurves.multi_task.comparison import Comparison
from xcurves.multi_task.fixed_claim import MOST_DEALT, student_pvalues
from xcurves.multi_task.task_options import (
    CORRECTIONS,
    GROUP_DIM,
    TaskGroups,
    TaskWeights,
    at_common_levels,
    carrying_tasks,
    check_by,
    refuse_strangers,
    task_spread_ratio,
    warn_of_shared_runs,
)
from xcurves.multi_task.too_few import number_of_families

_BY_RANKS = "holm (fixed), step-down min-p (random)"
_BY_T = "holm (fixed), step-down max-t (random)"
_MOST_PAIRS = 300  # of which each task is tested by itself, unless tasks are many


def across_tasks(
    curves: xr.DataArray,
    *,
    task: str | Sequence[str] = "task",
    training_weights: TrainingWeights = None,
    task_weights: TaskWeights | None = None,
    task_groups: TaskGroups | None = None,
    by: str | None = None,
    paired: bool = False,
    reference: Hashable | None = None,
    higher_is_better: bool | None = None,
    margin: float | None = None,
    task_correction: Literal["holm", "benjamini-hochberg"] = "holm",
    per_task: bool | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    progress: bool | None = None,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Compare algorithms over all tasks of a benchmark: on these tasks, and on tasks like these.

    Parameters
    ----------
    curves : DataArray, dims (..., task, algorithm, run, training)
        Scores; NaN along all of `training` where an algorithm lacks a run. Every task has its own grid and runs; an
        algorithm without runs in a task takes no part in it. A score of -inf (+inf where lower is better) is a run
        that failed, and counts by its rank, worse than every finite score, as a time not reached within the budget
        does, +inf of `time_to_target`; mean differences of its pairs are NaN (see `fill_failed`).
    task : str or sequence of str, default "task"
        The dim of tasks, which may have any name if it is the only extra dim; several are joined to one. Tasks of a
        dim that is named, one run of an algorithm in each, are items: those that were not graded at all levels are
        taken at the levels that all algorithms of the item have, which a sentence says.
    training_weights : {None, "final"} or array of weights, dim (training)
        How a curve becomes a number: the mean over its task's levels, the last of them, or weights. Nonnegative
        weights are divided by their sum; those of both signs (a slope) are used as they are. Weights on a level that a
        task lacks are an error.
    task_weights : sequence or DataArray, dim (task), optional
        Positive weights, divided by their sum over the tasks that a pair of algorithms has; equal by default.
    task_groups : str, sequence or DataArray, optional
        Families of tasks that resemble each other (walker-walk, walker-run): a coordinate of the tasks, or a label
        for each. The random claim then is about families. None: the coordinate that ``attrs["task_groups"]`` of the
        tasks names, as `to_dataarray` has it of passages.
    by : str, optional
        A coordinate of the tasks, such as their suite: differences are returned for each of its groups too, on these
        very tasks. The verdict stays that over all tasks.
    paired : bool, default False
        Whether run ``j`` of a task is matched over algorithms, by seed or by data.
    reference : label, optional
        Compare every other algorithm with this one alone, "other - reference".
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    margin : float, optional
        Test too that the first of a pair is not worse than the second by more than this, in score units.
    task_correction : {"holm", "benjamini-hochberg"}
        How the p-values of single tasks are adjusted over the tasks of a pair.
    per_task : bool, optional
        Whether each task is tested by itself, and whether differences vary over tasks: `task_difference`,
        `task_difference_ci`, `task_difference_stderr`, `task_difference_quartiles`, `task_pvalue_adjusted` and
        `interaction_pvalue`. None: of up to 200 tasks and 300 pairs.
    n_resamples : int, optional
        Ceiling on the number of reassignments of each test: all distinct ones if they fit, else so many random ones.
        None: all up to a million, else 9,999.
    confidence_level : float, default 0.95
        Of each interval by itself, but of all pairs' `difference_ci_simultaneous` together.
    progress : bool, optional
        Show a tqdm bar (extra ``progress``); by default in a terminal or notebook, if the call will take more than 5 s.
        Of dask-backed curves use dask's own.
    rng : int, Generator or None
        Seed of the random reassignments.

    Returns
    -------
    Dataset
        With the extra dims of `curves` but `task` in front; `task_effect` has the claims "fixed" and "random". In score
        units: `difference` (pair), `difference_ci` and `difference_ci_simultaneous` (pair, task_effect, ci_bound),
        `task_difference` (pair, task), `task_difference_ci` (pair, task, ci_bound), `task_difference_stderr` (pair,
        task), its standard error, `task_difference_quartiles` (pair, quartile), over tasks of equal weight, `task_sd`
        (pair), the standard deviation over tasks, or families, of true differences, `task_sd_ci` (pair, ci_bound),
        `task_mean` and `task_mean_sd` (algorithm, task), mean and standard deviation of the runs, `task_mean_ci`
        (algorithm, task, ci_bound), Student's interval of that mean, of width 0 where all runs score the same,
        `score_mean` (algorithm), the weighted mean over the algorithm's own tasks, `score_mean_ci` (algorithm,
        ci_bound), its interval for tasks like these and all algorithms together, `score_mean_common` (algorithm), the
        mean over the tasks of the verdict, NaN for algorithms that it is not about, `smallest_to_show` (pair), the
        difference that so many tasks show in 8 of 10 cases, and `new_task_ci` (pair, ci_bound), the interval of the
        difference in one more task. Without unit: `pvalue`, `pvalue_adjusted`, `prob_greater_pvalue`,
        `prob_greater_pvalue_adjusted`, `pvalue_adjusted_least`, the smallest that is possible (pair, task_effect);
        `may_be_best` (algorithm, task_effect), 1 where no other algorithm is shown to be better, NaN with a
        `reference`, or if a circle of pairs over different tasks leaves none; `prob_greater`, `interaction_pvalue`,
        `tasks_to_show`, how many tasks would show such a difference in 8 of 10 cases, `tasks_at_least`, how many if it
        is the largest of `difference_ci`, NaN where it is shown, `new_task_level`, and `noise_share`, the part of the
        variance between tasks that more runs would remove (pair); `share_better` (pair), the share of tasks, or
        families, in which the first is better, ties left out, `share_better_ci` (pair, ci_bound);
        `task_pvalue_adjusted` (pair, task); `rank_mean` (algorithm), `place_ci` (algorithm, task_effect, ci_bound);
        `task_weights` (task) if given. Counts: `n_tasks` and `n_ties` (pair), `n_resamples` (pair, task_effect),
        `n_runs` (task, algorithm), `n_tasks_algorithm` (algorithm), and `n_tasks_common` of the tasks of the verdict.
        With a `margin` `margin_pvalue`, `margin_pvalue_adjusted` (Holm, over pairs) and, in score units, `margin_limit`
        (pair, task_effect), the one-sided lower limit of how much better the first is. With `by`, in score units,
        `difference_by` (pair, group), the difference over the tasks of the group, and `difference_by_ci` (pair, group,
        ci_bound), which holds on these very tasks for all pairs of all groups together; and
        `difference_by_pvalue_adjusted` (pair, group), by Holm over pairs and groups. NaN where something cannot be
        said.

    Raises
    ------
    ValueError, TypeError
        If an option is not as described; if a run lacks some of its task's levels or has the infinite score that is
        no failure; if `paired` and a task lacks a run of an algorithm.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    Warns
    -----
    UserWarning
        If two runs of a task have the same score at every level, as copied data have; if the mean difference is that of
        few tasks, in which runs differ more than ten times as much; if families are too few for the random claim.

    Notes
    -----
    With :math:`d_t` the difference of mean scores in task ``t``, :math:`v_t` its squared standard error and weights of
    sum one, :math:`\Delta = \sum_t w_t d_t`.

    *fixed*, a claim about these tasks: whole runs are dealt anew to both algorithms within every task, and

    .. math:: T_F = \Delta / \sqrt{\textstyle\sum_t w_t^2 v_t}

    is recomputed (Janssen 1997). From few and skewed runs of unlike spread it rejects too often: .11 for .05 of
    lognormal ones over ten tasks, three of three times the standard deviation v six, and *random* .09. Of pairs with
    more than 50 tasks it is :math:`t = \Delta / \sqrt V`, :math:`V = \sum_t w_t^2 v_t`, with Satterthwaite's degrees
    of freedom, and `n_resamples` is 0.
    *random*, a claim about tasks like these: the signs of whole tasks, or families, are
    flipped. It is exact for independent differences that are symmetric about 0; its interval is that of the subset
    means (Hartigan 1969). p-values of differences and of `prob_greater` are adjusted over pairs by Holm (fixed) and by
    step-down min-p (random, Westfall & Young 1993): under every flip each pair has its own p, and a flip counts against
    a pair if any pair that is not more significant has as small a p; between equal p the smaller tail of t decides.
    Intervals that hold for all ``K`` pairs together are those of a level of :math:`1 - \alpha / K`; of random claims
    ``K`` counts the pairs with tasks enough for a p of :math:`\alpha`. All flips of a pair's own tasks are evaluated
    where these are few enough, whatever tasks other pairs have; its adjusted p is not below that exact p.

    Many tasks or many pairs are on the scale of t (`pair_correction` in `attrs`: "step-down max-t"): of more than 10^8
    flips of all pairs, and of random flips where there are more than 200 families, or fewer than 20 flips per pair
    beyond the level. The step-down then is over :math:`p = 2 P(t_{F-1} > T)` of
    :math:`T = |\sum x| / \sqrt{F / (F - 1) \, (\sum x^2 - (\sum x)^2 / F)}` [7]_, and intervals hold the shifts whose
    ``T`` is not beyond the quantile of the smallest such p of all pairs under the flips. Families of unlike size may
    have no limits then; with a `reference` there are fewer pairs. Where single answers are 0 or 1, on either scale, an
    interval is the hull of this one and of that with two further tasks, in each of which one of the pair is right: else
    rare differences would be excluded too often. On the scale of t that of two algorithms that never differ takes the
    quantile of Student's t, at a level divided by ``K``. Other scores on this scale have no interval where fewer than
    six families differ.

    With :math:`x_g` the sum of :math:`w_t d_t` over a family of tasks, :math:`n_g` that of the weights, ``F`` families
    and :math:`s = \sqrt{F / (F - 1) \sum_g (x_g - n_g \Delta)^2}`, `tasks_to_show` is the least number of tasks for
    which the t-test at the level :math:`\alpha / K` has a power of .8 if the difference in standard deviations over
    tasks is :math:`|\Delta| / (s \sqrt F)`, and at least the number whose signs can reach that level; `tasks_at_least`
    is the same with the end of `difference_ci` that is farther from 0 for :math:`\Delta`. `smallest_to_show` is the
    difference, noncentrality times ``s``, of which these tasks have that power, NaN of fewer than six. `noise_share` is
    the mean of the :math:`v_t` over the variance of the :math:`d_t`, at most 1. The interaction test asks whether the
    difference varies over tasks more than runs do by chance.

    The verdict is about all algorithms, over the tasks that all have, where these are nine tenths of the tasks or more;
    else about the algorithms that have every task, if there are two; else about all, over two common tasks or more.
    `score_mean_ci` is :math:`\bar u \pm t_{F-1, 1 - \alpha / (2m)} \sqrt{F / (F - 1) \sum_g (x_g - n_g \bar u)^2}` for
    ``m`` algorithms, ``x`` sums of weighted means; where all scores are 0 or 1, or shares of a few answers, it is
    Wilson's [6]_ of :math:`\bar u (1 - \bar u) / s^2` answers, ``s`` the standard error above, of ``F`` where that is
    0. `new_task_ci` goes from the j-th smallest to the j-th largest of ``T`` differences, :math:`j = \max(1, \lfloor
    \alpha / 2 \cdot (T + 1) \rfloor)`, which holds the difference in one more exchangeable task with a probability of
    :math:`1 - 2j / (T + 1)`, `new_task_level`. It is NaN of fewer than five tasks, of fewer than four distinct
    differences, and of tasks in families.

    `task_sd_ci` is that of a variance less the mean of the :math:`v_t`, by the F distribution; where differences are
    skewed over tasks it holds the truth less often. `share_better` is the share in which the first *scored* better
    with so many runs: noise pulls it towards one half, and equal means do not make it one half. `place_ci` goes from
    1 + the number of algorithms that are shown to be better to ``m`` - the number of those that are shown to be
    worse, by the adjusted p [4]_, NaN with a `reference`, in a circle and of algorithms that the verdict is not
    about. Mean ranks of a pair depend on who else takes part, `prob_greater` does not [5]_.

    References
    ----------
    .. [1] Janssen, A. (1997). Studentized permutation tests for non-i.i.d. hypotheses and the generalized
       Behrens-Fisher problem. Stat. Probab. Lett. 36, 9-21. doi:10.1016/S0167-7152(97)00043-6
    .. [2] Hartigan, J. A. (1969). Using subsample values as typical values. J. Am. Stat. Assoc. 64, 1303-1317.
       doi:10.1080/01621459.1969.10501057
    .. [3] Westfall, P. H. & Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.
    .. [4] Mogstad, M., Romano, J. P., Shaikh, A. M. & Wilhelm, D. (2024). Inference for ranks with applications to
       mobility across neighbourhoods and academic achievement across countries. Rev. Econ. Stud. 91, 476-518.
       doi:10.1093/restud/rdad006
    .. [5] Benavoli, A., Corani, G. & Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks?
       J. Mach. Learn. Res. 17(5), 1-10.
    .. [6] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. J. Am. Stat.
       Assoc. 22, 209-212. doi:10.1080/01621459.1927.10502953
    .. [7] Romano, J. P. & Wolf, M. (2005). Stepwise multiple testing as formalized data snooping. Econometrica 73,
       1237-1282. doi:10.1111/j.1468-0262.2005.00615.x

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> rng = np.random.default_rng(0)
    >>> scores = xr.DataArray(
    ...     rng.normal(size=(8, 2, 5, 4)) + np.array([0.0, 1.0])[:, np.newaxis, np.newaxis],
    ...     dims=("task", "algorithm", "run", "training"),
    ...     coords={"task": list("abcdefgh"), "algorithm": ["old", "new"], "training": [1, 2, 3, 4]},
    ... )
    >>> answer = scores.curves.across_tasks(reference="old", rng=0)
    >>> answer.pair.item(), answer.pvalue.sel(task_effect="random").item()
    ('new - old', 0.0078125)
    """
    checked = check_curves(
        task_dims.with_training(curves, task),
        reserved=kinds.ACROSS_TASKS.reserved(),
        named=task_dims.named_dims(task),
    )
    run_checks.warn_of_copies(checked)
    checked, higher_is_better = direction.resolved(checked, higher_is_better)
    checked, dim = task_dims.check_task(checked, task)
    refuse_strangers(checked, dim)
    checked = at_common_levels(checked, dim, task)
    checked, budget = within_budget(checked, DIMS)
    weights = task_options.check_task_weights(checked, dim, task_weights)
    levels = check_training_weights(checked, training_weights)
    validation.check_choice("task_correction", task_correction, tuple(CORRECTIONS))
    groups = task_options.check_task_groups(checked, dim, task_groups)
    parts = check_by(checked, dim, by)
    core = (dim, "algorithm", "run")
    context = Context.of(checked, n_resamples, paired, confidence_level, rng, core=(*core, "training"))
    if not context.paired:
        warn_of_shared_runs(checked, dim)

    # Which end of the scores is better, and which infinite score a run has that failed or did not reach.
    sign = 1
    if not higher_is_better:
        sign = -1
    failed = failed_runs.failed_score(higher_is_better)
    if budget is not None:
        failed = np.inf
    n_pairs = len(labels.pairs_in_label_order(checked, reference))
    by_ranks = task_flips.takes_ranks(max(groups.numbers) + 1, n_pairs, n_resamples, context.alpha)
    comparison = Comparison.of(
        checked,
        context,
        dim,
        reference,
        groups,
        weights=weights or [1.0] * checked.sizes[dim],
        all_pairs=reference is None,
        sign=sign,
        failed=failed,
        margin=validation.check_margin(margin),
        task_correction=task_correction,
        per_task=_is_per_task(per_task, checked.sizes[dim], n_pairs),
        by=None if parts is None else parts.numbers.tolist(),
        by_ranks=by_ranks,
        progress=validation.check_progress(progress, "deals", lazy=driver.is_lazy(checked)),
    )
    when = []
    if margin is not None:
        when.append("margin")
    if comparison.per_task:
        when.append("per_task")
    sizes = {"pair": n_pairs}
    coords = labels.pair_coords(checked, reference) | groups.coord
    if parts is not None:
        when.append("by")
        sizes[GROUP_DIM] = len(parts.names)
        coords[GROUP_DIM] = parts.names
    if weights is not None:
        coords["task_weights"] = xr.Variable(dim, weights)
    if isinstance(levels, xr.DataArray):
        coords["training_weights"] = levels.variable
        coords["training"] = checked["training"].variable
    named_weights = None
    if isinstance(training_weights, str):
        named_weights = training_weights
    return driver.per_task(
        kinds.ACROSS_TASKS,
        comparison,
        checked,
        context=context,
        core=core,
        numbers=run_numbers(levels, ranked=True),
        sizes=sizes,
        when=when,
        attrs={
            "task": dim,
            "training_weights": named_weights,
            "task_groups": groups.name,
            "by": by,
            "paired": paired,
            "reference": reference,
            "higher_is_better": higher_is_better,
            "margin": margin,
            "task_correction": task_correction,
            "pair_correction": _BY_RANKS if by_ranks else _BY_T,
            "n_resamples": n_resamples,
        },
        coords=coords,
        warn=_warn_of_benchmarks,
    )


def _is_per_task(per_task: bool | None, n_tasks: int, n_pairs: int) -> bool:
    """Return whether each task is tested by itself."""
    if per_task is None:
        return n_tasks <= MOST_TASKS and n_pairs <= _MOST_PAIRS
    return validation.check_flag("per_task", per_task)


def _warn_of_benchmarks(result: xr.Dataset) -> None:
    """Warn once of each thing in a computed result that a reader would not expect."""
    task = result.attrs["task"]
    benchmarks = list(labels.named_tasks(result, "difference"))
    for benchmark, name in benchmarks:
        if carrying_tasks(benchmark):
            ratio = task_spread_ratio(benchmark).item()
            noun = labels.noun(task)
            provenance.warn(
                f"{name}runs differ {ratio:.0f} times as much in one {noun} as in another, so that the mean difference "
                f"is that of few. Bring scores to one scale: {call('.curves.normalize')}, or read prob_greater, which "
                "has no scale"
            )
            break

    # Benchmarks with a mean difference of which no pair has a p for tasks like these.
    known = result["difference"].notnull()
    has_p = result["pvalue_adjusted"].sel(task_effect="random").notnull()
    lacking = known.any("pair") & ~(known & has_p).any("pair")
    without = np.flatnonzero(lacking.to_numpy())
    if without.size:
        benchmark, name = benchmarks[without[0]]
        cure = f"Add {number_of_families(benchmark)[1]}"
        if benchmark["pvalue_adjusted"].sel(task_effect="fixed").notnull().any():
            cure += ", or read the claim for these tasks (fixed)"
        provenance.warn(
            f"{name}so few tasks or families that no p for tasks like these reaches {provenance.alpha_of(result):g}. "
            f"{cure}"
        )


def many_pvalues(
    curves: xr.DataArray,
    *,
    task: str,
    n_resamples: int,
    rng: validation.Rng = None,
) -> xr.DataArray:
    """Return the p-values of each data set, dims (..., pair, task_effect): `pvalue` of `across_tasks`.

    Curves have one level and all runs, two at least; other options are the defaults.
    """
    scores, core = curves.isel(training=0, drop=True), (task, "algorithm", "run")
    ordered = labels.in_label_order(scores.transpose(..., *core), core)
    # No p depends on which algorithm of a pair is named first.
    first, second = np.sort(labels.pairs_in_label_order(scores), axis=1).T
    n_tasks, _, n_runs = ordered.shape[-3:]
    lead = (*ordered.shape[:-3], len(first))
    by_algorithm = ordered.to_numpy().swapaxes(-3, -2)
    x = by_algorithm[..., first, :, :].reshape(-1, n_tasks, n_runs)
    y = by_algorithm[..., second, :, :].reshape(-1, n_tasks, n_runs)
    weights = np.full(n_tasks, 1 / n_tasks)
    entropy = validation.check_rng(rng)

    # For these tasks.
    if n_tasks > MOST_DEALT:
        fixed = student_pvalues(x, y, weights)
    else:
        deals = task_plans.plan_deals(((n_runs, n_runs),) * n_tasks, n_resamples, entropy=entropy)
        fixed = task_effects.task_effect_tests(x, y, weights, deals, (), ranks=False)["pvalue"]

    # For tasks like these.
    of_tasks, _ = task_effects.task_differences(x, y, paired=False)
    flips = plans.plan_flips(n_tasks, n_resamples, entropy)
    by_pair = (weights * of_tasks).reshape(*lead, n_tasks)
    random, _ = task_flips.pvalues(by_pair, flips, 0.05)
    values = np.stack([fixed.reshape(lead), random], axis=-1)
    coords = {dim: each for dim, each in scores.coords.items() if not set(each.dims) & set(core)}
    coords |= labels.pair_coords(scores) | {"task_effect": list(TASK_CLAIMS)}
    return xr.DataArray(values, coords, (*ordered.dims[:-3], "pair", "task_effect"))
