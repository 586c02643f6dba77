"""How much sooner an algorithm reaches a score than a reference, in each task and over tasks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import prod
from typing import Any, Literal

import numpy as np
import xarray as xr

from xcurves.array_types import Floats, Index
from xcurves.core import direction, labels, task_dims, validation
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, give
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.frames.normalize import Reference, say_reference
from xcurves.kernels.resampling.adjustments import holm
from xcurves.kernels.resampling.plans import EXACT_LIMIT
from xcurves.multi_task.task_options import TaskGroups, check_task_groups
from xcurves.target_times import kinds
from xcurves.target_times.claims_over_tasks import with_claims
from xcurves.target_times.comparisons import (
    BY_DESIGN,
    DRAWN,
    Compared,
    of_given_times,
    to_last_level,
    to_target,
)
from xcurves.target_times.mean_time_to_target import curves_and_target
from xcurves.target_times.reasons import described


def speedup(
    curves: xr.DataArray,
    *,
    reference: Hashable,
    target: Reference | None = None,
    higher_is_better: bool | None = None,
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
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    training_scale : {"linear", "log"}
        Whether runs are linear in training or in its logarithm between their levels.
    task : str or sequence of str, optional
        A dim of tasks, or several, over which there is one answer, the geometric mean. None: each task by itself.
    task_groups : str, sequence or DataArray, optional
        Families of tasks that resemble each other: a coordinate of the tasks, or a label for each. None: the
        coordinate that ``attrs["task_groups"]`` of the tasks names.
    confidence_level : float, default 0.95
        Of each interval.
    rng : int, Generator or None
        Seed of random flips of tasks, where all are too many.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front and all algorithms but the reference. Ratios, above 1 where the
        algorithm is sooner: `speedup` (algorithm), `speedup_ci` (algorithm, ci_bound), by itself,
        `speedup_ci_simultaneous` (algorithm, ci_bound), for all comparisons together; `speedup_gap` (algorithm), 1
        where the interval holds ratios that are rejected. `pvalue`, `pvalue_adjusted` (algorithm), by Holm. Without
        `target`, to the level at which the reference had 90 % of its rise: `rise_speedup` (algorithm),
        `rise_speedup_ci` (algorithm, ci_bound), for all comparisons together, `rise_time` (algorithm), `rise_level`,
        `rise_reference_time`; NaN where it does not rise. In units of training: `time`,
        `training_last` (algorithm), `time_ci` (algorithm, ci_bound), `reference_time`, and with `target`
        `reference_time_ci` (ci_bound). In units of the scores: `reference_level`; `score_best` (algorithm), of any run;
        at 64 levels `mean_curve` (algorithm, evaluation), `reference_curve`, `curve_training` (evaluation).
        `reference_falls`, 1 where the reference has been better before its last level; `reason` (algorithm), why there
        is no estimate. Counts: `n_runs`, `n_ended_early` (algorithm). With `task`, intervals, `pvalue`
        and `pvalue_adjusted` have the claims along `task_effect`: "fixed", for these tasks, with p by Holm, and
        "random", for tasks like these, with p by step-down min-p over algorithms; `median_speedup` (algorithm),
        `median_speedup_ci` (algorithm, ci_bound), `n_tasks`, `n_censored` (algorithm), and of each task `task_speedup`,
        `task_pvalue`, `task_speedup_gap` (algorithm, task), `task_speedup_ci` (algorithm, task, ci_bound), beside its
        times, levels and reasons.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described; if levels are negative (or 0 and the scale "log"); if scores are
        infinite.

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
    names: tuple[str, ...] = labels.DIMS
    if of_times:
        names = ("algorithm", "run")
    curves = check_curves(
        curves,
        names,
        own_levels=not of_times,
        reserved=kinds.SPEEDUP.reserved(),
        named=task_dims.named_dims(task),
    )
    # Of given times the early ones are the good ones.
    if higher_is_better is not None or not of_times:
        curves, higher_is_better = direction.resolved(curves, higher_is_better)
    kind = kinds.EACH_SPEEDUP
    groups = None
    joined = []
    if task is not None:
        kind = kinds.SPEEDUP
        curves, task = task_dims.check_task(curves, task)
        groups = check_task_groups(curves, task, task_groups)
        joined = [task]
    elif task_groups is not None:
        raise Refusal(
            "task_groups",
            UNSAID,
            "are families of tasks that are joined",
            Cure("Name the dim of tasks: ", give(task="task")),
        )
    _check_options(curves, reference, target, of_times)

    # What is compared: given times, or the times at which mean curves reach a target or a last score.
    data, core, options = curves_and_target(
        curves,
        target,
        training_scale,
        higher=higher_is_better is not False,
        joined=joined,
    )
    compare: Callable[..., Compared] = to_target
    when = ["task"]
    if of_times:
        compare = of_given_times
    elif target is None:
        compare = to_last_level
        if not joined:
            when.append("last")

    order = np.sort(curves["algorithm"].to_numpy()).tolist()
    options |= {
        "compare": compare,
        "reference": order.index(reference),
        "families": None,
    }
    attrs: dict[str, Any] = {
        "reference": reference,
        "target": None,
        "higher_is_better": higher_is_better,
        "training_scale": training_scale,
        "of_times": of_times or None,
    }
    if target is not None:
        attrs["target"] = say_reference(target)
    coords = None
    if groups is not None:
        options["families"] = np.array(groups.numbers)
        attrs |= {"task": task, "task_groups": groups.name}
        coords = groups.coord
    result = per_task(
        kind,
        partial(speedup_kernel, **options),
        *data,
        context=Context.of(
            data[0],
            None,
            False,
            confidence_level,
            rng,
            random=_is_random(options["families"]),
            core=core,
        ),
        core=core,
        when=when,
        sizes={labels.EVALUATION: DRAWN},
        attrs=attrs,
        coords=coords,
    )
    # The reference is left out, and the colours stay those of all algorithms.
    result = labels.with_color_index(result.drop_vars("training", errors="ignore"))
    color = result[labels.COLOR_INDEX].sel(algorithm=reference, drop=True)
    result = result.drop_sel(algorithm=[reference]).assign_coords({labels.REFERENCE_COLOR: color})
    if of_times:
        result.attrs[validation.NO_TRAINING] = 1
    return described(result, lazy=is_lazy(curves))


def _check_options(
    curves: xr.DataArray,
    reference: Hashable,
    target: Reference | None,
    of_times: bool,
) -> None:
    """Refuse options that are not as described, or do not go together."""
    labels.algorithm_pairs(curves, reference)
    if reference is None:
        raise Refusal(
            "reference",
            None,
            "must be an algorithm",
            f"Name one: {curves['algorithm'].to_numpy()[0]!r}",
        )
    if of_times and target is not None:
        raise Refusal(
            "target",
            UNSAID,
            "is an option of curves; these are times, without training",
            Cure("Leave ", give(target=Verbatim("")), " out"),
        )


def _is_random(families: Index | None) -> bool:
    """Return whether the signs of more families are flipped than can all be."""
    if families is None:
        return False
    n_families = len(set(families.tolist()))
    return bool(2**n_families > EXACT_LIMIT)


def speedup_kernel(
    group: Group,
    *,
    compare: Callable[..., Compared],
    reference: int,
    families: Index | None,
    **options: Any,
) -> dict[str, Any]:
    """Compare every algorithm with the reference, in each task by itself or over the tasks of `families`."""
    n_dims = 3
    if families is None:
        n_dims = 2
    shape = group.data[0].shape[:n_dims]
    # of the reference in the task of each cell
    cells = np.arange(reference, prod(shape), shape[-1]).repeat(shape[-1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        of_cells, log_times = compare(group, cells, **options)
    variables = {name: value.reshape(*shape, *value.shape[1:]) for name, value in of_cells.items()}
    if families is None:
        variables["pvalue_adjusted"] = _adjusted(variables["pvalue"], variables["reason"])
    else:
        variables = with_claims(variables, log_times, families, group.context)

    # What is said of a task is read where the reference is.
    for name, dims in group.layout.dims.items():
        if name in variables and "algorithm" not in dims:
            variables[name] = variables[name].take(reference, n_dims - 1)
    return variables


def _adjusted(pvalue: Floats, reason: Index) -> Floats:
    """Return p-values adjusted by Holm over the algorithms of each task."""
    unknown = np.isnan(pvalue)
    # No p by design is outside the family, no p by outcome counts as 1.
    by_outcome = unknown & ~np.isin(reason, BY_DESIGN)
    adjusted = holm(np.where(by_outcome, 1.0, pvalue))
    return np.where(unknown, np.nan, adjusted)
