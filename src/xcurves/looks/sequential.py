"""Run more seeds and look again: a test that may be read after every batch of runs."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Bools, Floats, Index
from xcurves.core import (
    direction,
    labels,
    magnitudes,
    provenance,
    task_dims,
    validation,
)
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.labels import in_label_order, pairs_in_label_order
from xcurves.core.refusal import UNSAID, Cure, Refusal, call
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.core.weights import TrainingWeights, check_training_weights, run_numbers
from xcurves.kernels.looks import sequential_chances
from xcurves.kernels.looks.sequential_pvalues import Spending, spent
from xcurves.kernels.looks.sequential_tests import sequential_tests
from xcurves.kernels.over_tasks.task_plans import Look, nest
from xcurves.kernels.resampling.adjustments import holm
from xcurves.looks import kinds, ledger
from xcurves.looks.assign_looks import (
    SPENDINGS,
    check_looks,
    check_previous,
    check_stored,
)

INTERVALS = ("difference_ci", "difference_ci_simultaneous")
_OF_TESTS = (
    "pvalue",
    "statistic",
    "critical_value",
    "pvalue_stagewise",
    "difference",
    "n_assignments",
)


def sequential(
    curves: xr.DataArray,
    *,
    look: str = "look",
    n_looks: int | None = None,
    previous: xr.Dataset | str | os.PathLike[str] | None = None,
    spending: Spending | None = None,
    task: str | None = None,
    training_weights: TrainingWeights = None,
    reference: Hashable | None = None,
    higher_is_better: bool | None = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    repeated_intervals: bool = True,
    rng: validation.Rng = 0,
) -> xr.Dataset:
    r"""Compare algorithms after every batch of runs, and stop when it is clear.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores of all runs so far. A run that an algorithm does not have is NaN along all of `training`.
    look : str, default "look"
        Coordinate of `run` with the number of the batch, from 1, in which it was run: `assign_looks` makes it.
    n_looks : int, optional
        Number of looks that are planned, by default the one that `assign_looks` stored. Neither it nor the sizes of
        batches may depend on results.
    previous : Dataset or path, optional
        The result of an earlier look, or what the shell's ``--json`` wrote. Curves in which its runs have other scores
        or looks, and another plan, are refused.
    spending : {"square", "linear"}, optional
        Share of the level spent by look k of K: (k/K)² or k/K. By default the one that `assign_looks` stored, else
        "square".
    task : str, optional
        Dim of tasks that are tested together: the mean difference over them. By default each is tested by itself.
    training_weights : {None, "final"}, sequence or DataArray with dim training, optional
        How a curve becomes a number: the mean over its task's levels, the last of them, or weights, as in `contrast`.
    reference : label, optional
        Compare every other algorithm with this one only. By default all pairs.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does. Changes no number.
    n_resamples : int, default 9999
        All nested assignments are evaluated while they are at most so many, then as many random ones and the observed.
        It is one number, unlike elsewhere, since every look extends the assignments of the look before.
    confidence_level : float, default 0.95
        1 - α: of the decisions, the boundary and the intervals.
    repeated_intervals : bool, default True
        Find intervals and the chances of the looks that are left, which takes three quarters of the time or more.
    rng : int, Generator or None, default 0
        Seed of the random assignments. It is fixed, unlike elsewhere, since with the same at every look earlier looks
        repeat digit for digit.

    Returns
    -------
    Dataset
        With the other extra dims of `curves` in front. On (pair, look): `pvalue`, the sequential p; `pvalue_adjusted`
        over pairs (Holm); `rejected` (0 or 1); `statistic`; `critical_value`, infinite where nothing can be rejected
        then; `pvalue_stagewise`, NaN but at the first rejection by `pvalue` and at the last look; `difference` (first
        minus second, in score units). With `repeated_intervals` also: `difference_ci` (ci_bound), the repeated interval
        of a pair by itself, NaN where the looks contradict each other; `difference_ci_simultaneous` (ci_bound), that
        for all pairs together; `chance`, how often the looks left show a pair that is open, the difference as uncertain
        as it is now, and `chance_at_ci` (ci_bound), if it is at an end of the interval for all pairs together, NaN
        where it is shown, no look is left or an algorithm has one run; `futile` (0 or 1). On (algorithm, look):
        `n_runs` so far, in all of `task` together; on (pair, look) `n_assignments`, those that were evaluated. On
        (pair): `undecided`, 1 where more runs are needed. On (algorithm): `n_runs_next`, the runs of its latest batch
        if it has an undecided pair, else 0: so many are run next, and at most so many for each look that is left. On
        (algorithm, run): `run_digest`, a number that changes with the scores and the look of a run, 0 where it is
        absent. Looks to come are NaN, flags 0. attrs have the plan.

    Raises
    ------
    ValueError, TypeError
        If `look` is no coordinate of `run` with whole numbers from 1 to `n_looks`, or a look before the latest has no
        run; if the plan or the runs differ from those stored or of `previous`; and as `randomized_anova`.

    Notes
    -----
    Numbers are taken less the mean of their batch over both algorithms, and labels are dealt within batches, so that
    drift from batch to batch does no harm and no look depends on later runs. At look k, over all runs so far,

    .. math:: T_k = |\bar z_a - \bar z_b| / \sqrt{s_a^2 / n_a + s_b^2 / n_b}

    With B nested assignments and :math:`s_k` the share spent, the p-value of assignment g is
    :math:`q_k(g) = \min(q_{k-1}(g), r_k(g))`, where :math:`r_k(g)` is the least x with

    .. math:: \#\{h: q_{k-1}(h) \le x' \text{ or } T_k(h) \ge T_k(g)\} \le x' s_k B \quad \text{for every } x' \ge x

    So at most a share α of all assignments is ever rejected, for every α at once: `pvalue` may be read at any look, and
    whether to go on may depend on it. This is exact if runs of both algorithms are exchangeable within their batch (and
    task) and all assignments are evaluated, with random ones on average over seeds. With unlike spread unequal batches
    reject too often (for .05, with standard deviations 4:1, .09 at 6 v 3 runs three times, .15 at 2 v 4, 1 v 3 and 3 v
    5): run equal ones; of skewed (exponential) runs equal ones reject .10 to .11 too. `pvalue` never rises; where a
    pair has no new runs it stays as it was, and the share of that look can be spent at the next. An algorithm all of
    whose pairs are decided needs no further runs. `pvalue_stagewise` is a p-value only for one who stops at the first
    rejection at the level α, or else at the last look. What is *not* controlled: more looks than planned, batches that
    grow, looks or runs that are left out because of a result, and algorithms that are added later.

    The interval goes from the smallest to the largest shift of the first algorithm that no look so far rejects. If the
    algorithms differ by a shift, the intervals of all looks together hold it in a share 1 - α of studies. Those for all
    pairs together are found at the level α over the number of pairs. After a rejection the estimate is too large on
    average, and of the studies that reject, more than a share α may have an interval that misses.

    *Chances* are shares of 2,000 continuations: normal runs with the standard deviation of each algorithm so far, in
    batches like its latest, judged by Welch's t at the levels of a normal statistic that spends the plan's shares, at α
    over the number of pairs that are not shown yet (Holm's next step). The true difference of each continuation is
    drawn anew, from Welch's t about the difference seen; for `chance_at_ci` it is the end of the interval. `futile` is
    1 where `chance` is below 0.1; to stop there is allowed, never needed.

    References
    ----------
    .. [1] Kim, K. & DeMets, D. L. (1987). Design and analysis of group sequential tests based on the type I error
       spending rate function. Biometrika 74, 149-154. doi:10.1093/biomet/74.1.149
    .. [2] Liu, Q. & Anderson, K. M. (2008). On adaptive extensions of group sequential trials for clinical
       investigations. J. Am. Stat. Assoc. 103, 1621-1630.
    .. [3] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.
    .. [4] Ye, Y., Li, A., Liu, L. & Yao, B. (2013). A group sequential Holm procedure with multiple primary endpoints.
       Stat. Med. 32, 1112-1124.
    .. [5] Maurer, W. & Bretz, F. (2013). Multiple testing in group sequential trials using graphical approaches.
       Stat. Biopharm. Res. 5, 311-320. doi:10.1080/19466315.2013.807748

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> after_two = scores.curves.assign_looks(5, n_looks=4)
    >>> found = after_two.curves.sequential()
    >>> found.pvalue.sel(pair="rate 0.8 - rate 0.1").values.round(3).tolist()
    [1.0, 1.0, nan, nan]
    >>> found.undecided.values.tolist()
    [1, 1, 1]
    """
    curves = check_curves(
        task_dims.with_training(curves, task),
        reserved=kinds.SEQUENTIAL.reserved(),
        named=task_dims.named_dims(task),
    )
    n_looks, spending = _plan_of(curves, look, n_looks, spending)
    curves, higher_is_better = direction.resolved(curves, higher_is_better)
    tasks = _joined_tasks(curves, task)
    check_looks(curves, look, n_looks)
    core = (*tasks, "algorithm", "run")
    weights = check_training_weights(curves, training_weights)
    scores = curves.drop_vars(look).transpose(..., *tasks, *labels.DIMS)
    pairs = pairs_in_label_order(curves, reference)
    when = []
    if validation.check_flag("repeated_intervals", repeated_intervals):
        when.append("intervals")
    options: dict[str, Any] = {
        "pairs": pairs,
        "look": in_label_order(curves[look]).to_numpy().astype(np.intp) - 1,
        "spending": spending,
        "n_resamples": validation.check_total("n_resamples", n_resamples, "9999"),
        "repeated_intervals": repeated_intervals,
    }

    attrs: dict[str, Any] = {
        "look": look,
        "n_looks": n_looks,
        "spending": spending,
        "task": None,
        "reference": None,
        "higher_is_better": higher_is_better,
        "n_resamples": int(n_resamples),
        "training_weights": ledger.name_of_weights(weights),
    }
    if tasks:
        attrs["task"] = tasks[0]
    if reference is not None:
        attrs["reference"] = str(reference)
    of_looks = {"long_name": labels.LONG_NAMES["look"]}
    coords: dict[Hashable, Any] = {
        "look": ("look", np.arange(1, n_looks + 1), of_looks),
        **labels.pair_coords(curves, reference),
    }
    result = per_task(
        kinds.SEQUENTIAL,
        partial(sequential_kernel, **options),
        scores,
        context=Context.of(scores, None, False, confidence_level, rng, core=(*core, "training")),
        core=core,
        numbers=run_numbers(weights),
        sizes={"pair": len(pairs), "look": n_looks},
        when=when,
        attrs=attrs,
        coords=coords,
    )

    # A later look compares its runs with these.
    digests = ledger.digests_of(curves, curves[look])
    long_name = kinds.SEQUENTIAL.variables["run_digest"].long_name
    result["run_digest"] = digests.assign_attrs(long_name=long_name, units="1")
    if previous is not None:
        check_previous(previous, result, curves, look)
    return result


def _joined_tasks(curves: xr.DataArray, task: Any) -> list[str]:
    """Return the dim of tasks that are tested together, if there is one."""
    if task is None:
        return []
    return [task_dims.one_dim(curves, task)]


def _plan_of(
    curves: xr.DataArray, look: Hashable, n_looks: int | None, spending: Spending | None
) -> tuple[int, Spending]:
    """Return the number of looks and the spending that are given or stored with the curves, which must agree."""
    stored = {}
    if isinstance(look, Hashable) and look in curves.coords:
        stored = curves[look].attrs
    given: dict[str, Any] = {}
    if n_looks is not None:
        given["n_looks"] = n_looks
    if spending is not None:
        given["spending"] = spending
    plan = {"spending": "square"} | stored | given
    if "n_looks" not in plan:
        raise Refusal(
            "n_looks",
            UNSAID,
            "is not given, and the curves store no plan",
            Cure("Plan: ", call("da.curves.assign_looks", 5, n_looks=6)),
        )
    planned = validation.check_total("n_looks", plan["n_looks"], "2 to 20", most=1_000)
    validation.check_choice("spending", plan["spending"], SPENDINGS)
    check_stored(stored, given)
    return planned, plan["spending"]


@dataclass(frozen=True)
class Plan:
    """What was planned before the first look, and what is compared."""

    pairs: Index  # of algorithms, shape (pair, 2)
    look: Index  # before which each run was made, from 0
    n_looks: int
    spending: Spending
    n_resamples: int
    repeated_intervals: bool


class PairTest(NamedTuple):
    """The test of one pair, the algorithms in the order of their labels."""

    u: Floats  # numbers of both, (2, joined task, run)
    sizes: Index  # their batches, (look, joined task, 2)
    turned: bool  # whether the pair has them in the other order
    by_look: dict[str, Floats]

    @property
    def sign(self) -> int:
        """What differences of the pair have to be multiplied by to be those of the test."""
        if self.turned:
            return -1
        return 1

    def of_pair(self) -> dict[str, Floats]:
        """Return what the test says, differences as the pair has them."""
        if not self.turned:
            return self.by_look
        mirrored = {name: -self.by_look[name][:, ::-1] for name in INTERVALS if name in self.by_look}
        mirrored["difference"] = -self.by_look["difference"]
        return self.by_look | mirrored


def sequential_kernel(group: Group, **options: Any) -> dict[str, Floats]:
    """Test every pair, given numbers of shape (task, [joined task,] algorithm, run)."""
    magnitudes.check_size(group.data[0], group.names)
    plan = Plan(n_looks=group.layout.shape("pvalue")[1], **options)
    nested: dict[bytes, list[Look]] = {}
    out = group.layout.blank(len(group.names))
    for task, (numbers, name) in enumerate(zip(group.data[0], group.names, strict=True)):
        u = numbers.reshape(-1, *numbers.shape[-2:])
        variables = _decide_task(u, name, plan, group.context, nested)
        for variable, values in out.items():
            values[task] = variables[variable]
    return out


def _decide_task(
    u: Floats,
    name: str,
    plan: Plan,
    context: Context,
    nested: dict[bytes, list[Look]],
) -> dict[str, Any]:
    """Return the variables of one task, or of several joined, from numbers of shape (joined task, algorithm, run)."""
    counts = _count_runs(u, name, plan)
    tests = _test_pairs(u, counts, plan, context, nested)
    variables: dict[str, Any] = _by_look(tests, plan)

    # A pair is shown once its p, adjusted over pairs, is small enough.
    pvalue = variables["pvalue"]
    variables["pvalue_stagewise"][~_where_one_stops(pvalue, context.alpha)] = np.nan
    adjusted = holm(pvalue.T).T
    rejected = provenance.significant(adjusted, context.alpha)
    variables |= {"pvalue_adjusted": adjusted, "rejected": rejected}
    if plan.repeated_intervals:
        variables |= _chances(variables, tests, plan, context)

    # One that is not, though it was tested, needs more runs if a look is left.
    latest = len(counts) - 1
    undecided = ~np.isnan(pvalue[:, latest]) & ~rejected[:, latest]
    if len(counts) == plan.n_looks:
        undecided = np.zeros_like(undecided)
    return variables | {"undecided": undecided} | _runs(counts, undecided, plan)


def _count_runs(u: Floats, name: str, plan: Plan) -> Index:
    """Return the numbers of runs, shape (look, joined task, algorithm), of the looks so far."""
    present = ~np.isnan(u)
    if np.count_nonzero(present.any(axis=(0, 2))) < 2:
        raise Refusal(
            "curves",
            UNSAID,
            f"{name}fewer than two algorithms have runs; a comparison needs two",
            "Add runs",
        )
    counts = np.stack([present[..., plan.look == k].sum(axis=-1) for k in range(plan.n_looks)])
    n_done = int(np.flatnonzero(counts.any(axis=(1, 2))).max()) + 1
    return counts[:n_done]


def _test_pairs(
    u: Floats,
    counts: Index,
    plan: Plan,
    context: Context,
    nested: dict[bytes, list[Look]],
) -> dict[int, PairTest]:
    """Return the test of every pair that shares a task; `nested` has assignments by the numbers of runs."""
    meets = [counts[:, :, pair].any(axis=0).all(axis=-1).any() for pair in plan.pairs]
    n_intervals = 0
    if plan.repeated_intervals:
        n_intervals = int(np.count_nonzero(meets))
    share = spent(plan.spending, plan.n_looks)
    tests = {}
    for number in np.flatnonzero(meets).tolist():
        a, b = plan.pairs[number]
        in_order = sorted((a, b))  # so that the order of the algorithms changes nothing
        sizes = counts[:, :, in_order]
        key = sizes.tobytes()
        if key not in nested:
            nested[key] = nest(sizes, plan.n_resamples, context.entropy)
        looks = nested[key]
        u_of_pair = u[:, in_order].swapaxes(0, 1)
        by_look = sequential_tests(u_of_pair, plan.look, looks, share, context.alpha, n_intervals=n_intervals)
        by_look["n_assignments"] = np.array([look.n_total for look in looks], float)
        tests[number] = PairTest(u_of_pair, sizes, bool(a > b), by_look)
    return tests


def _by_look(tests: dict[int, PairTest], plan: Plan) -> dict[str, Floats]:
    """Return what the tests say as arrays (pair, look) and (pair, look, ci_bound), NaN where there is no test."""
    shape = (len(plan.pairs), plan.n_looks)
    variables = {name: np.full(shape, np.nan) for name in _OF_TESTS}
    if plan.repeated_intervals:
        variables |= {name: np.full((*shape, 2), np.nan) for name in INTERVALS}
    for number, test in tests.items():
        for name, values in test.of_pair().items():
            if name in variables:
                variables[name][number, : len(values)] = values
    return variables


def _where_one_stops(pvalue: Floats, alpha: float) -> Bools:
    """Return at which look each pair by itself is rejected first, and the last look."""
    is_small = provenance.significant(pvalue, alpha).astype(int)
    stops = np.diff(is_small, prepend=0) == 1
    stops[:, -1] = True
    return np.asarray(stops)


def _runs(counts: Index, undecided: Bools, plan: Plan) -> dict[str, Any]:
    """Return how many runs each algorithm has at each look, and how many it makes next."""
    batches = counts.sum(axis=1)
    n_done, n_algorithms = batches.shape
    n_runs = np.full((n_algorithms, plan.n_looks), np.nan)
    n_runs[:, :n_done] = batches.cumsum(axis=0).T

    # As many as in the latest batch of each that has any.
    algorithms = np.arange(n_algorithms)
    latest_look = n_done - 1 - (batches > 0)[::-1].argmax(axis=0)
    is_needed = np.isin(algorithms, plan.pairs[undecided])
    n_next = np.where(is_needed, batches[latest_look, algorithms], 0)
    return {"n_runs": n_runs, "n_runs_next": n_next}


def _chances(
    variables: dict[str, Any],
    tests: dict[int, PairTest],
    plan: Plan,
    context: Context,
) -> dict[str, Any]:
    """Return how often the looks left show every pair that is open after a look, and whether that is futile."""
    rejected = variables["rejected"]
    intervals = variables["difference_ci_simultaneous"]
    # Holm's next step judges the pairs that are not shown yet at the level over their number.
    is_open = ~np.isnan(variables["pvalue"]) & ~rejected
    levels = context.alpha / np.maximum(np.count_nonzero(is_open, axis=0), 1)
    chance = np.full(rejected.shape, np.nan)
    at_ends = np.full(intervals.shape, np.nan)
    for number, test in tests.items():
        n_done = min(len(test.sizes), plan.n_looks - 1)  # the last look leaves none
        for k in np.flatnonzero(~rejected[number, :n_done]).tolist():
            if np.isfinite(test.by_look["scale"][k]):
                ends = test.sign * intervals[number, k]
                of_pair = _chances_after(test, k, ends, levels[k], plan, context)
                chance[number, k] = of_pair[0]
                at_ends[number, k] = of_pair[1:]
    return {
        "chance": chance,
        "chance_at_ci": at_ends,
        "futile": chance < sequential_chances.UNLIKELY,
    }


def _chances_after(test: PairTest, k: int, ends: Floats, level: float, plan: Plan, context: Context) -> Floats:
    """Return how often the looks after look `k` show a pair: with an uncertain difference, and at both `ends`."""
    difference = test.by_look["difference"][k]
    scale = test.by_look["scale"][k]
    seen = sequential_chances.seen_by(test.u, plan.look, k, difference, scale)
    left = sequential_chances.levels_left(
        seen,
        test.sizes[: k + 1],
        plan.n_looks,
        plan.spending,
        level,
        plan.n_resamples,
    )
    return sequential_chances.chances(seen, left, ends, context.entropy, k)
