"""Run more seeds and look again: a test that may be read after every batch of runs."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Floats, Index
from xcurves.core import labels, ledger, provenance, scales, validation
from xcurves.core.driver import Group, per_task
from xcurves.core.labels import in_label_order, pairs_in_label_order
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.core.weights import TrainingWeights, check_training_weights, number_of_run
from xcurves.group_sequential.kinds import SEQUENTIAL
from xcurves.group_sequential.looks import (
    SPENDINGS,
    check_looks,
    check_previous,
    check_stored,
)
from xcurves.kernels.differences import sequential_chances
from xcurves.kernels.differences.sequential_pvalues import Spending, spent
from xcurves.kernels.differences.sequential_tests import sequential_tests
from xcurves.kernels.differences.task_plans import Look, nest
from xcurves.kernels.resampling.adjustments import holm

INTERVALS = ("difference_ci", "difference_ci_simultaneous")


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
    higher_is_better: bool = True,
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
    higher_is_better : bool, default True
        What sentences call better; changes no number.
    n_resamples : int, default 9999
        All nested assignments are evaluated while they are at most so many, then as many random ones and the observed.
    confidence_level : float, default 0.95
        1 - α: of the decisions, the boundary and the intervals.
    repeated_intervals : bool, default True
        Find intervals and the chances of the looks that are left, which takes three quarters of the time or more.
    rng : int, Generator or None, default 0
        Seed of the random assignments. With the same at every look earlier looks repeat digit for digit.

    Returns
    -------
    Dataset
        With the other extra dims of `curves` in front. On (pair, look): `pvalue`, the sequential p; `pvalue_adjusted`
        over pairs (Holm); `rejected` (0 or 1); `statistic`; `critical_value`, infinite where nothing can be rejected
        then; `pvalue_stagewise`, NaN but at the first rejection by `pvalue` and at the last look; `difference` (first
        minus second, in score units). With `repeated_intervals` also: `difference_ci` (ci_bound), the repeated interval
        of a pair by itself, NaN where the looks contradict each other; `difference_ci_simultaneous` (ci_bound), that
        for all pairs together; `chance`, how often the looks left show a pair that is open if the difference is as
        seen, and `chance_at_ci` (ci_bound), if it is at an end of the interval for all pairs together, NaN where it is
        shown or no look is left; `futile` (0 or 1). On (algorithm, look): `n_runs` so far, in all of `task`
        together; on (pair, look) `n_assignments`, those that were evaluated. On (pair): `undecided`, 1 where more runs
        are needed. On (algorithm): `n_runs_next`, the runs of its latest batch if it has an undecided pair, else 0: so
        many are run next, and at most so many for each look that is left. On (algorithm, run): `run_digest`, a number
        that changes with the scores and the look of a run, 0 where it is absent. Looks to come are NaN, flags 0. attrs
        have the plan.

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
    5): run equal ones. `pvalue` never rises; where a pair has no new runs it stays as it was, and the share of that
    look can be spent at the next. An algorithm all of whose pairs are decided needs no further runs. `pvalue_stagewise`
    is a p-value only for one who stops at the first rejection at the level α, or else at the last look. What is *not*
    controlled: more looks than planned, batches that grow, looks or runs that are left out because of a result, and
    algorithms that are added later.

    The interval goes from the smallest to the largest shift of the first algorithm that no look so far rejects. If the
    algorithms differ by a shift, the intervals of all looks together hold it in a share 1 - α of studies. Those for all
    pairs together are found at the level α over the number of pairs. After a rejection the estimate is too large on
    average, and of the studies that reject, more than a share α may have an interval that misses.

    *Chances* are shares of 2,000 continuations: normal runs with the mean and the standard deviation of each algorithm
    so far, in batches like its latest, judged by Welch's t at the levels of a normal statistic that spends the plan's
    shares, at α over the number of pairs that are not shown yet (Holm's next step). `futile` is 1 where `chance` is
    below 0.1 and the larger `chance_at_ci` below 0.5; to stop there is allowed, never needed.

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
        validation.with_training(curves), reserved=SEQUENTIAL.reserved()
    )
    n_looks, spending = _plan_of(curves, look, n_looks, spending)
    validation.check_flag("higher_is_better", higher_is_better)
    tasks, extra = [] if task is None else [task], labels.extra_dims(curves)
    if task is not None and (not isinstance(task, Hashable) or task not in extra):
        has = ", ".join(map(repr, extra)) or "none"
        raise ValueError(
            f"task must be an extra dim of curves; got {labels.shown(task)}. It has {has}"
        )
    check_looks(curves, look, n_looks)
    core = (*tasks, "algorithm", "run")
    checked_weights = check_training_weights(curves, training_weights)
    numbers = number_of_run(
        curves.drop_vars(look).transpose(..., *tasks, *labels.DIMS), checked_weights
    )
    pairs = pairs_in_label_order(curves, reference)
    result = per_task(
        SEQUENTIAL,
        sequential_kernel,
        numbers,
        context=Context.of(numbers, None, False, confidence_level, rng, core=core),
        core=core,
        sizes={"pair": len(pairs), "look": n_looks},
        when=["intervals"]
        if validation.check_flag("repeated_intervals", repeated_intervals)
        else [],
        options={
            "pairs": pairs,
            "look": in_label_order(curves[look]).to_numpy().astype(np.intp) - 1,
            "spending": spending,
            "n_resamples": validation.check_total("n_resamples", n_resamples, "9999"),
            "repeated_intervals": repeated_intervals,
        },
        attrs={
            "look": look,
            "n_looks": n_looks,
            "spending": spending,
            "task": task,
            "reference": None if reference is None else str(reference),
            "higher_is_better": higher_is_better,
            "n_resamples": int(n_resamples),
            "training_weights": ledger.name_of_weights(checked_weights),
        },
        coords={
            "look": (
                "look",
                np.arange(1, n_looks + 1),
                {"long_name": labels.LONG_NAMES["look"]},
            ),
            **labels.pair_coords(curves, reference),
        },
    )
    long_name = SEQUENTIAL.variables["run_digest"].long_name
    result = result.assign(
        run_digest=ledger.digests_of(curves, curves[look]).assign_attrs(
            long_name=long_name, units="1"
        )
    )
    if previous is not None:
        check_previous(previous, result, curves, look)
    return result


def _plan_of(
    curves: xr.DataArray, look: Hashable, n_looks: int | None, spending: Spending | None
) -> tuple[int, Spending]:
    """Return the number of looks and the spending that are given or stored with the curves, which must agree."""
    stored = (
        curves[look].attrs
        if isinstance(look, Hashable) and look in curves.coords
        else {}
    )
    given = {
        name: each
        for name, each in (("n_looks", n_looks), ("spending", spending))
        if each is not None
    }
    plan = {"spending": "square"} | stored | given
    if "n_looks" not in plan:
        raise ValueError(
            "n_looks is not given, and the curves store no plan. Plan: da.curves.assign_looks(5, n_looks=6)"
        )
    planned = validation.check_total("n_looks", plan["n_looks"], "2 to 20", most=1_000)
    validation.check_choice("spending", plan["spending"], SPENDINGS)
    check_stored(stored, given)
    return planned, plan["spending"]


def sequential_kernel(group: Group, **plan: Any) -> dict[str, Floats]:
    """Test every pair, given numbers of shape (task, [joined task,] algorithm, run)."""
    scales.check_size(group.data[0], group.names)
    nested: dict[bytes, list[Look]] = {}
    every = group.layout.blank(len(group.names))
    for place, (numbers, name) in enumerate(
        zip(group.data[0], group.names, strict=True)
    ):
        out = {variable: values[place] for variable, values in every.items()}
        _test_pairs(
            out,
            numbers.reshape(-1, *numbers.shape[-2:]),
            name,
            group.context,
            nested,
            **plan,
        )
    return every


class PairTest(NamedTuple):
    """The test of one pair, the algorithms in the order of their labels."""

    u: Floats  # numbers of both, (2, joined task, run)
    sizes: Index  # their batches, (look, joined task, 2)
    turned: bool  # whether the pair has them in the other order
    found: dict[str, Floats]  # by look

    @property
    def sign(self) -> int:
        """What differences of the pair have to be multiplied by to be those of the test."""
        return -1 if self.turned else 1


def _test_pairs(
    out: dict[str, Floats],
    u: Floats,
    name: str,
    context: Context,
    nested: dict[bytes, list[Look]],  # plans, by their numbers of runs
    *,
    pairs: Index,  # of algorithms
    look: Index,  # before which each run was made, from 0
    spending: Spending,
    n_resamples: int,
    repeated_intervals: bool,
) -> None:
    """Test every pair of one task, or of several joined, on numbers of shape (joined task, algorithm, run)."""
    alpha, n_looks, present = context.alpha, out["pvalue"].shape[1], ~np.isnan(u)
    if np.count_nonzero(present.any(axis=(0, 2))) < 2:
        raise ValueError(
            f"{name}fewer than two algorithms have runs; a comparison needs two. Add runs"
        )
    # look, task, algorithm
    by_look = np.stack([present[..., look == k].sum(axis=-1) for k in range(n_looks)])
    n_done = int(np.flatnonzero(by_look.any(axis=(1, 2))).max()) + 1
    batches = by_look[:n_done].sum(axis=1)
    out["n_runs"][:, :n_done] = batches.cumsum(axis=0).T
    meets = [by_look[:n_done, :, pair].any(axis=0).all(axis=-1).any() for pair in pairs]
    n_intervals = int(np.count_nonzero(meets)) if repeated_intervals else 0
    tests: dict[int, PairTest] = {}
    for number in np.flatnonzero(meets).tolist():
        a, b = pairs[number]
        in_order = sorted((a, b))  # so that the order of the algorithms changes nothing
        sizes = by_look[:n_done, :, in_order]
        key = sizes.tobytes()
        looks = nested[key] = nested.get(key) or nest(
            sizes, n_resamples, context.entropy
        )
        numbers = u[:, in_order].swapaxes(0, 1)
        share = spent(spending, n_looks)
        found = sequential_tests(
            numbers, look, looks, share, alpha, n_intervals=n_intervals
        )
        found["n_assignments"] = np.array([each.n_total for each in looks], float)
        tests[number] = PairTest(numbers, sizes, bool(a > b), found)
        for variable, values in _of_pair(tests[number]).items():
            if variable in out:
                out[variable][number, :n_done] = values
    first = (
        np.diff(provenance.significant(out["pvalue"], alpha).astype(int), prepend=0)
        == 1
    )
    first[:, -1] = True
    out["pvalue_stagewise"][~first] = np.nan
    out["pvalue_adjusted"][:] = holm(out["pvalue"].T).T
    out["rejected"][:] = provenance.significant(out["pvalue_adjusted"], alpha)
    if repeated_intervals:
        _add_chances(out, tests, look, spending, n_resamples, context)
    latest = n_done - 1
    open_pairs = (
        ~np.isnan(out["pvalue"][:, latest])
        & (out["rejected"][:, latest] == 0)
        & (n_done < n_looks)
    )
    out["undecided"][:] = open_pairs
    # of the latest batch of each
    sizes = batches[latest - (batches > 0)[::-1].argmax(axis=0), np.arange(u.shape[1])]
    out["n_runs_next"][:] = np.isin(np.arange(u.shape[1]), pairs[open_pairs]) * sizes


def _of_pair(test: PairTest) -> dict[str, Floats]:
    """Return what a test found, differences as the pair has them."""
    if not test.turned:
        return test.found
    mirrored = {
        name: -test.found[name][:, ::-1] for name in INTERVALS if name in test.found
    }
    return test.found | mirrored | {"difference": -test.found["difference"]}


def _add_chances(
    out: dict[str, Floats],
    tests: dict[int, PairTest],
    look: Index,
    spending: Spending,
    n_resamples: int,
    context: Context,
) -> None:
    """Say of every pair that is open after a look how often the looks left show it, and whether that is futile."""
    n_looks = out["pvalue"].shape[1]
    # Holm's next step judges the pairs that are not shown yet at the level over their number.
    n_open = np.count_nonzero(~np.isnan(out["pvalue"]) & (out["rejected"] == 0), axis=0)
    for number, test in tests.items():
        n_done = min(len(test.sizes), n_looks - 1)  # the last look leaves none
        for k in np.flatnonzero(out["rejected"][number, :n_done] == 0).tolist():
            difference, scale = test.found["difference"][k], test.found["scale"][k]
            if not np.isfinite(scale):
                continue
            seen = sequential_chances.seen_by(test.u, look, k, difference, scale)
            level = context.alpha / max(n_open[k], 1)
            left = sequential_chances.levels_left(
                seen, test.sizes[: k + 1], n_looks, spending, level, n_resamples
            )
            ends = test.sign * out["difference_ci_simultaneous"][number, k]
            chance = sequential_chances.chances(
                seen, left, [difference, *ends], context.entropy, k
            )
            out["chance"][number, k], out["chance_at_ci"][number, k] = (
                chance[0],
                chance[1:],
            )
    unlikely = out["chance"] < sequential_chances.UNLIKELY
    out["futile"][:] = unlikely & (
        out["chance_at_ci"].max(axis=-1) < sequential_chances.AT_BEST
    )
