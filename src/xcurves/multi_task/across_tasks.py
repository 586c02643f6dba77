"""One answer for a benchmark: the difference of algorithms over all tasks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.core import provenance, validation
from xcurves.core.progress import progress_bar
from xcurves.core.validation import check_curves
from xcurves.core.weights import TrainingWeights, check_training_weights
from xcurves.multi_task import joining, options
from xcurves.multi_task.comparison_block import CORRECTIONS, ComparisonBlock
from xcurves.multi_task.kinds import ACROSS_TASKS
from xcurves.multi_task.options import TaskGroups, TaskWeights
from xcurves.multi_task.run_scores import score_runs
from xcurves.multi_task.spreads import UNLIKE, task_spread_ratio


def across_tasks(
    curves: xr.DataArray,
    *,
    task: str = "task",
    training_weights: TrainingWeights = None,
    task_weights: TaskWeights | None = None,
    task_groups: TaskGroups | None = None,
    paired: bool = False,
    reference: Hashable | None = None,
    higher_is_better: bool = True,
    correction: Literal["holm", "benjamini-hochberg"] = "holm",
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    progress: bool = False,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Compare algorithms over all tasks of a benchmark: on these tasks, and on tasks like these.

    Parameters
    ----------
    curves : DataArray, dims (..., task, algorithm, run, training)
        Scores; NaN along all of `training` where an algorithm lacks a run. Every task has its own grid and its own
        runs; an algorithm without runs in a task takes no part in it. A score of +inf, such as a time never reached,
        counts by its rank: `rank_mean` and `prob_greater` stand, and mean differences of its pairs are NaN.
    task : str, default "task"
        The dim of tasks.
    training_weights : {None, "final"} or array of weights, dim (training)
        What makes a run one score: the mean over its task's grid, the last level of the grid, or a weighted sum of
        levels; nonnegative weights are divided by their sum over the grid.
    task_weights : sequence or DataArray, dim (task), optional
        Positive weights, divided by their sum over the tasks that a pair of algorithms has; equal by default.
    task_groups : str, sequence or DataArray, optional
        Families of tasks that resemble each other (walker-walk, walker-run): a coordinate of the tasks, or a label
        for each. The random claim then is about families.
    paired : bool, default False
        Whether run ``j`` of a task is matched over algorithms, by seed or by data.
    reference : label, optional
        Compare every other algorithm with this one alone, "other - reference".
    higher_is_better : bool, default True
        Which end of the scores has rank 1.
    correction : {"holm", "benjamini-hochberg"}
        How the p-values of single tasks are adjusted over the tasks of a pair.
    n_resamples : int, optional
        Ceiling on the number of reassignments of each test: all distinct ones if they fit, else so many random ones.
        None: all up to a million, else 9,999.
    confidence_level : float, default 0.95
        Of each interval; intervals are not adjusted for the number of pairs.
    progress : bool, default False
        Show a bar while a result in memory is computed.
    rng : int, Generator or None
        Seed of the random reassignments.

    Returns
    -------
    Dataset
        With the extra dims of `curves` but `task` in front; `task_effect` has the claims "fixed" and "random". In
        score units: `difference` (pair), `difference_ci` (pair, task_effect, ci_bound), `task_difference` (pair, task),
        `task_difference_ci` (pair, task, ci_bound), `task_stderr` (pair, task), and `task_sd` (pair), the standard
        deviation over tasks of true differences. Without unit: `pvalue`, `pvalue_adjusted`, `prob_greater_pvalue`
        (pair, task_effect), `prob_greater` (pair), `task_pvalue_adjusted` (pair, task), `interaction_pvalue` (pair),
        `rank_mean` (algorithm). Counts: `n_tasks` (pair), `n_resamples` (pair, task_effect), `n_runs` (task,
        algorithm). `task_weights` (task) if they are given. NaN where something cannot be said.

    Raises
    ------
    ValueError, TypeError
        If an option is not as described; if a run lacks some of its task's levels or has scores of -inf; if
        `paired` and a task lacks a run of an algorithm.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    Warns
    -----
    UserWarning
        If runs differ more than ten times as much in one task as in another and scores were not normalized: the
        mean difference then is that of few tasks. If no pair has families enough for the random claim.

    Notes
    -----
    With :math:`d_t` the difference of mean scores in task ``t``, :math:`v_t` its squared standard error and weights of
    sum one, :math:`\Delta = \sum_t w_t d_t`.

    *fixed*, a claim about these tasks: whole runs are dealt anew to both algorithms within every task, and

    .. math:: T_F = \Delta / \sqrt{\textstyle\sum_t w_t^2 v_t}

    is recomputed (Janssen 1997). *random*, a claim about tasks like these: the signs of whole tasks, or families, are
    flipped. It is exact for independent differences that are symmetric about 0; its interval is that of the subset
    means (Hartigan 1969). p-values are adjusted over pairs by Holm (fixed) and by step-down max-\|T\| (random,
    Westfall & Young 1993). The interaction test asks whether the difference varies over tasks more than
    runs do by chance.

    References
    ----------
    .. [1] Janssen, A. (1997). Studentized permutation tests for non-i.i.d. hypotheses and the generalized
       Behrens-Fisher problem. Stat. Probab. Lett. 36, 9-21. doi:10.1016/S0167-7152(97)00043-6
    .. [2] Hartigan, J. A. (1969). Using subsample values as typical values. J. Am. Stat. Assoc. 64, 1303-1317.
       doi:10.1080/01621459.1969.10501057
    .. [3] Westfall, P. H. & Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.

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
    curves = check_curves(curves, reserved=ACROSS_TASKS.reserved())
    task = options.check_task(curves, task)
    weights = options.check_task_weights(curves, task, task_weights)
    asked = check_training_weights(curves, training_weights)
    levels = asked if isinstance(asked, xr.DataArray) else None
    validation.check_choice("correction", correction, tuple(CORRECTIONS))
    joined = joining.Joined.of(curves, task, reference, task_groups)
    sizes = {"pair": len(joined.pairs), "task_effect": 2, "ci_bound": 2, joining.TASKS: curves.sizes[task]}
    block = ComparisonBlock(
        ACROSS_TASKS.layout(sizes | {"algorithm": curves.sizes["algorithm"]}),
        **joined.options(n_resamples, paired, confidence_level, rng),
        weights=weights or [1.0] * curves.sizes[task],
        higher_is_better=validation.check_flag("higher_is_better", higher_is_better),
        correction=correction,
        progress=progress_bar(validation.check_flag("progress", progress) and curves.chunks is None, "deals"),
    )
    scores = score_runs(joined.ordered, task, levels, final=isinstance(training_weights, str))
    packed = joining.apply(block, scores, task, block.layout.length)
    variables = joined.unpack(block.layout, packed)
    coords = {**packed.coords, **joined.coords}
    if weights is not None:
        variables["task_weights"] = xr.Variable(task, weights)
    if levels is not None:
        variables["training_weights"] = levels.variable
        coords["training"] = curves["training"].variable
    attrs = ACROSS_TASKS.attrs(
        curves,
        block.entropy,
        confidence_level,
        task=task,
        training_weights=training_weights if isinstance(training_weights, str) else None,
        task_groups=joined.groups.name,
        paired=paired,
        reference=reference,
        higher_is_better=higher_is_better,
        correction=correction,
        n_resamples=n_resamples,
    )
    result = ACROSS_TASKS.dataset(variables, coords, attrs, curves)
    if curves.chunks is None:
        _warn(result)
    return result


def _warn(result: xr.Dataset) -> None:
    """Warn once of each thing in a computed result that a reader would not expect."""
    names = ACROSS_TASKS.task_names(result.isel({result.attrs["task"]: 0}, drop=True))
    ratios = np.atleast_1d(task_spread_ratio(result)).ravel()
    for place in np.flatnonzero(ratios > UNLIKE)[:1]:
        if "normalize(" not in result.attrs["history"]:
            provenance.warn(
                f"{names[place]}runs differ {ratios[place]:.0f} times as much in one {result.attrs['task']} as in "
                "another, so that the mean difference is that of few. Bring scores to one scale: .curves.normalize(), "
                "or read prob_greater, which has no scale"
            )
    known = result["difference"].notnull()
    none = known.any("pair") & ~(known & result["pvalue_adjusted"].sel(task_effect="random").notnull()).any("pair")
    for place in np.flatnonzero(np.atleast_1d(none).ravel())[:1]:
        alpha = provenance.alpha_of(result)
        provenance.warn(
            f"{names[place]}so few tasks or families that no p for tasks like these reaches {alpha:g}. Add tasks, or "
            "read the claim for these tasks (fixed)"
        )
