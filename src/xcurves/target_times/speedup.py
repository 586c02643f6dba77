"""How much sooner an algorithm reaches a score than a reference."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.core import labels, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.kernels.plans import EXACT_LIMIT
from xcurves.multi_task.options import TaskGroups, check_task, check_task_groups
from xcurves.preprocessing.normalization import Reference, say_reference
from xcurves.target_times.comparisons import (
    DRAWN,
    Compared,
    of_given_times,
    speedup_kernel,
    to_last_level,
    to_target,
)
from xcurves.target_times.kinds import EACH_SPEEDUP, SPEEDUP
from xcurves.target_times.mean_time_to_target import curves_and_target
from xcurves.target_times.text import described


def speedup(
    curves: xr.DataArray,
    *,
    reference: Hashable,
    target: Reference | None = None,
    higher_is_better: bool = True,
    paired: bool = False,
    test: Literal["welch", "randomization"] = "welch",
    training_scale: Literal["linear", "log"] = "linear",
    task: str | Sequence[str] | None = None,
    task_groups: TaskGroups | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Return how much sooner each algorithm reaches a score than the reference, with an interval.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training) or (..., algorithm, run, evaluation)
        Scores, NaN where a run was not evaluated. Every run is read between its own levels; none need be common
        (``to_dataarray(levels="run")``). Or times, dims (..., algorithm, run), +inf where a run did not reach its
        target, as `time_to_target` returns them: ratios of medians.
    reference : label
        The algorithm that the others are compared with.
    target : float or DataArray, optional
        Score to be reached: one for all, or one for each task. None: the mean score of the reference at the last level
        that all of its runs have.
    higher_is_better : bool, default True
        If False, low scores are good ones.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms; only without `target`.
    test : {"welch", "randomization"}
        What rejects ratios to the last level: Welch's t test, or whole runs dealt anew, which is exact with equal
        spread, skewed runs included, and needs 4 v 4 runs for intervals of 0.95.
    training_scale : {"linear", "log"}
        Whether runs are linear in training or in its logarithm between their levels.
    task : str or sequence of str, optional
        A dim of tasks, or several, over which there is one answer, the geometric mean. None: each task by itself.
    task_groups : str, sequence or DataArray, optional
        Families of tasks that resemble each other: a coordinate of the tasks, or a label for each.
    confidence_level : float, default 0.95
        Of each interval.
    rng : int, Generator or None
        Seed of random reassignments, where all are too many.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front and all algorithms but the reference. Ratios, above 1 where the
        algorithm is sooner: `speedup` (algorithm), `speedup_ci` (algorithm, ci_bound), `speedup_gap` (algorithm), 1
        where the interval holds ratios that are rejected. `pvalue`, `pvalue_adjusted` (algorithm), by Holm. In units of
        training: `time`, `training_last` (algorithm), `time_ci` (algorithm, ci_bound), `reference_time`, and with
        `target` `reference_time_ci` (ci_bound). In units of the scores: `reference_level`; `score_best` (algorithm), of
        any run; at 64 levels `mean_curve` (algorithm, evaluation), `reference_curve`, `curve_training` (evaluation).
        `reference_falls`, 1 where the reference has been better before its last level; `reason` (algorithm), why there
        is no estimate. Counts: `n_runs`, `n_ended_early`, `n_resamples` (algorithm). With `task`, `speedup_ci`,
        `pvalue` and `pvalue_adjusted` have the claims along `task_effect`: "fixed", for these tasks, and "random", for
        tasks like these; `median_speedup` (algorithm), `median_speedup_ci` (algorithm, ci_bound), `n_tasks`,
        `n_censored` (algorithm), and of each task `task_speedup`, `task_pvalue`, `task_speedup_gap` (algorithm, task),
        `task_speedup_ci` (algorithm, task, ci_bound), beside its times, levels and reasons.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described; if levels are negative (or 0 and the scale "log"); if scores are
        infinite; if `paired` and runs are lacking, or a `target` is given.

    Warns
    -----
    UserWarning
        If no run reaches the target, runs end earlier than others of their algorithm, which cuts its curve, or the
        reference has been better before its last level.

    Notes
    -----
    With mean curves :math:`\mu`, the last level ``T`` of the reference B and :math:`\mu_A(x) = \mu_B(T)`, the speed-up
    of A is :math:`r = T/x`. A ratio is rejected where

    .. math:: \frac{\bar y_A(x) - \bar y_B(T)}{\sqrt{v_A(x) + v_B(T)}}, \quad x = T / r,

    is too large for Satterthwaite's degrees of freedom; the interval is the hull of all that are not, exactly, open to
    one side where a curve ends first. With a target the limits of both log times are combined by root sum of squares
    (Zou & Donner 2008), as are those of all tasks for the claim about these tasks. The claim about tasks like these
    flips the signs of tasks' log ratios; a task in which one of the two does not reach the score bounds the mean on one
    side. With a decaying learning rate a curve that is read early understates what a shorter schedule would reach.

    References
    ----------
    .. [1] Fieller, E. C. (1954). Some problems in interval estimation. J. R. Stat. Soc. B 16, 175-185.
       doi:10.1111/j.2517-6161.1954.tb00159.x
    .. [2] Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures: A general approach.
       Stat. Med. 27, 1693-1702. doi:10.1002/sim.3095
    .. [3] Hartigan, J. A. (1969). Using subsample values as typical values. J. Am. Stat. Assoc. 64, 1303-1317.
       doi:10.1080/01621459.1969.10501057

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> slow = scores["algorithm"].to_numpy()[0]
    >>> answer = scores.curves.speedup(reference=slow, target=0.9)
    >>> answer.speedup.dims, slow in answer.algorithm
    (('algorithm',), False)
    """
    validation.check_array("curves", curves)
    of_times = "training" not in curves.dims and labels.EVALUATION not in curves.dims
    names = ("algorithm", "run") if of_times else labels.DIMS
    curves = check_curves(curves, names, own_levels=not of_times, reserved=SPEEDUP.reserved())
    groups, joined = None, []
    if task is not None:
        curves, task = check_task(curves, task)
        groups, joined = check_task_groups(curves, task, task_groups), [task]
    elif task_groups is not None:
        raise ValueError("task_groups are families of tasks that are joined. Name the dim of tasks: task='task'")
    _check_options(curves, reference, target, paired, test, of_times)
    data, core, options = curves_and_target(curves, target, training_scale, higher=higher_is_better, joined=joined)
    compare: Callable[..., Compared] = of_given_times if of_times else to_target
    if target is None and not of_times:
        compare, options = to_last_level, options | {"randomized": test == "randomization"}
    order = np.sort(curves["algorithm"].to_numpy()).tolist()
    families = None if groups is None else np.array(groups.numbers)
    needs_none = test == "welch" and (families is None or 2 ** len(set(families)) <= EXACT_LIMIT)
    result = per_task(
        SPEEDUP if joined else EACH_SPEEDUP,
        speedup_kernel,
        *data,
        context=Context.of(
            data[0], None, paired, confidence_level, 0 if rng is None and needs_none else rng, core=core
        ),
        core=core,
        joined=task,
        when=["task"],
        sizes={labels.EVALUATION: DRAWN},
        options=options | {"compare": compare, "reference": order.index(reference), "families": families},
        attrs={
            "reference": reference,
            "target": None if target is None else say_reference(target),
            "higher_is_better": higher_is_better,
            "paired": paired,
            "test": test,
            "training_scale": training_scale,
            "of_times": True if of_times else None,
            **({} if groups is None else {"task": task, "task_groups": groups.name}),
        },
        coords=None if groups is None else groups.coord,
    )
    result = result.drop_vars("training", errors="ignore").drop_sel(algorithm=[reference])
    return described(result, lazy=is_lazy(curves))


def _check_options(
    curves: xr.DataArray, reference: Hashable, target: Reference | None, paired: bool, test: str, of_times: bool
) -> None:
    labels.algorithm_pairs(curves, reference)
    if reference is None:
        raise ValueError(f"reference must be an algorithm; got None. Name one: {curves['algorithm'].to_numpy()[0]!r}")
    validation.check_flag("paired", paired)
    validation.check_choice("test", test, ("welch", "randomization"))
    for said, other in (("paired=True", paired), ("test='randomization'", test == "randomization")):
        if target is not None and other:
            raise ValueError(f"{said} has no target: two times are read at different levels. Leave target= out")
    if of_times and (target is not None or paired):
        what = "target" if target is not None else "paired"
        raise ValueError(f"{what} is an option of curves; these are times, without training. Leave {what}= out")
