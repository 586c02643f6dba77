"""Keep or drop: each of a stream of candidates against the champion so far."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import direction, labels, task_dims, validation
from xcurves.core.failed_runs import N_FAILED
from xcurves.core.refusal import UNSAID, Cure, Refusal, WrongType, call, give, shown
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.core.weights import TrainingWeights, check_training_weights
from xcurves.kernels.intervals import mean_interval, welch_interval
from xcurves.kernels.resampling import plans
from xcurves.looks import gate_replay, kinds, ledger
from xcurves.looks.gate_replay import FailedChampionError, Judged, Replay, Rule
from xcurves.looks.gate_runs import Runs, run_of, runs_of, warn_of_copies

_MOST_RUNS = 10_000  # of a candidate
# What a ledger without them was made by.
_BEFORE = {"refresh": 0, "share_failed": 0.0}


def gate(
    scores: xr.DataArray,
    *,
    baseline: Any,
    candidates: Sequence[Any] | None = None,
    looks: Sequence[int] = (1, 2, 4, 8),
    level: float = 0.2,
    margin: float = 0.0,
    start: int | None = None,
    refresh: int = 2,
    share_failed: float = 0.0,
    training_weights: TrainingWeights = None,
    task: str | None = None,
    higher_is_better: bool | None = None,
    previous: xr.Dataset | str | os.PathLike[str] | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = 0,
) -> xr.Dataset:
    r"""Keep or drop each of a stream of candidates, or say which runs to make first.

    Parameters
    ----------
    scores : DataArray, dims (algorithm, run), and training or a dim of tasks
        Scores of the first champion and of all candidates so far, in the order in which runs were made; runs that are
        not made are NaN at the end. A failed run is minus infinity (plus where low scores are better).
    baseline : label
        The algorithm that is the first champion.
    candidates : sequence of labels, optional
        The candidates in the order in which they are tried. By default all other algorithms, as they come.
    looks : sequence of int, default (1, 2, 4, 8)
        Numbers of runs of a candidate after which it is compared, ascending.
    level : float, default 0.2
        How often a candidate that is not better by more than `margin` may be kept. It is that of one candidate: of
        many, something is kept more often (Notes).
    margin : float, default 0.0
        By how much a candidate must be better, in score units; below 0, by how much it may be worse.
    start : int, optional
        Runs of the first champion at the first look, by default 4, or the last of `looks` if that is less.
    refresh : int, default 2
        For every so many candidates that a champion meets, it is run once more, up to 32 runs. 0: never.
    share_failed : float, default 0.0
        Share of the runs at a look that may fail. These count as the worst run of both sides.
    training_weights : {None, "final"}, sequence or DataArray with dim training, optional
        How a curve becomes a number: the mean over its task's levels, the last of them, or weights, as in `contrast`.
    task : str, optional
        Dim of tasks over which each run is averaged.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    previous : Dataset or path, optional
        An earlier result, or what the shell's ``--json`` or ``--ledger`` wrote. Other scores of its runs, another order
        of its candidates and another plan are refused.
    n_resamples : int, optional
        Largest number of reassignments of a test, as for `contrast`.
    confidence_level : float, default 0.95
        Of the intervals.
    rng : int, Generator or None, default 0
        Seed of random reassignments, where there are too many for all of them. It is fixed, unlike elsewhere, since the
        same curves must pass or fail again when a build is repeated.

    Returns
    -------
    Dataset
        On (candidate): `decision` (flags 0 dropped, 1 kept, 2 run_more, 3 waiting); `champion`, the one that it met, of
        one that waits the present one; `n_runs` and `n_runs_champion`, the first ones of each that were compared last;
        `champion_mean` of these; `difference`, candidate minus champion, and `difference_ci` (ci_bound), in score
        units, the latter NaN before the last look; `pvalue`, NaN where the mean or a failed run decided; `runs_to_make`
        and `runs_to_make_champion`; `n_failed`, the champion's runs that were made to run it again, failed and were
        passed over; `same_scores`, 1 where both have the same score in every run. On (which), for the
        first and the present champion: `n_runs_audit`, the runs that decided nothing, and `audit_mean` with
        `audit_mean_ci` (ci_bound), in score units. `progress` with `progress_ci` (ci_bound), how much better the
        present champion is than the first in these runs, in score units, positive for better; `champion_moved_pvalue`.
        On (algorithm, run): `run_digest`, a number that changes with the scores of a run, 0 where it is absent. attrs
        have the plan, and `champion`, the present one.

    Raises
    ------
    ValueError, TypeError
        If `baseline` or a candidate is no algorithm of `scores`, or is named twice; if a run lacks a task, or a run
        before others is missing; if more of a champion's runs failed than may, of those that `start` or a look asks
        for; if no p of the last look can reach `level`; if runs,
        candidates or the plan differ from those of `previous`; and as `randomized_anova`.

    Notes
    -----
    Candidates are judged one after the other. At the look of n runs, the first n runs of the candidate are compared
    with the champion's first m, the larger of n and of what it has used so far (`start` in the beginning). Where

    .. math:: \bar y_{candidate} - \bar y_{champion} \le margin

    or a run of the candidate failed, it is dropped there; after a failed run the others of its look need not be made.
    After the last look it is kept if the one-sided p of the studentized permutation test of `contrast`, of the
    candidate's runs less `margin` against the champion's, is at most `level`, else dropped. A kept candidate is the
    next champion, with the runs that it was kept for. Where runs are missing the candidate is open, and later ones
    wait. Everything is a function of the runs in their order: calling it again with more runs repeats what was decided.

    A champion that survived many candidates did so because the runs that decided were lucky. So for its 2nd, 4th, ...
    candidate, counted from its own keep, it takes part with one run more, the next in order (`refresh`). One that
    failed is passed over. The champion's first runs were selected before, which makes the test stricter, and those that
    are added are selected by nothing.

    With `share_failed` s, a candidate is dropped at a look where more than the whole part of s n of its n runs failed.
    Up to as many, failed runs of either side count as the worst run of both sides that did not fail. A champion of
    whose m runs more than s m failed is refused.

    A candidate that is not better by more than `margin` is kept with a probability of at most `level`: exactly, where
    its runs and the champion's are exchangeable but for `margin`, since dropping early only takes keeps away. Of thirty
    that do nothing, something is kept in 0.82 of streams at the level 0.2 (0.69 with ``refresh=0``, and 0.36 at the
    level 0.05). Where the shapes of the scores differ the level is not kept: of equal means a candidate with negative
    exponential scores is kept against exponential ones in 0.10 at the level 0.05, a negative lognormal against normal
    ones in 0.08, and one that is 10 standard deviations low in a tenth of its runs in 0.22. One that fails in a tenth
    of its runs is dropped in 0.60, though it is better by two standard deviations, unless `share_failed` allows it.

    Nothing is claimed about the size of a kept difference: what is kept is selected, so it is too large on average.
    `progress` is measured by runs that no decision used; its interval is Welch's. It is NaN where either champion has
    fewer than two of them, or one that failed, and 0 without an interval where nothing was kept.
    `champion_moved_pvalue` is that of the first half of these runs of the present champion against the rest, two-sided
    as `contrast`, NaN of fewer than four; ten are enough for one below 0.01. A small one says that machine, data or
    code have changed. What all scores have in common is taken off before they are compared, and a difference of
    rounding is none.

    References
    ----------
    .. [1] Maron, O. & Moore, A. W. (1994). Hoeffding races: accelerating model selection search for classification and
       function approximation. Advances in Neural Information Processing Systems (NeurIPS) 6, 59-66.
    .. [2] López-Ibáñez, M., Dubois-Lacoste, J., Pérez Cáceres, L., Birattari, M. & Stützle, T. (2016). The irace
       package: iterated racing for automatic algorithm configuration. Operations Research Perspectives 3, 43-58.
       doi:10.1016/j.orp.2016.09.002
    .. [3] Janssen, A. (1997). Studentized permutation tests for non-i.i.d. hypotheses and the generalized
       Behrens-Fisher problem. Statistics & Probability Letters 36, 9-21. doi:10.1016/S0167-7152(97)00043-6

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> noise = np.random.default_rng(3).normal(size=(3, 12))
    >>> names = {"algorithm": ["main", "no-warmup", "lr-3e-4"], "run": range(12)}
    >>> scores = xr.DataArray(noise + np.array([[0.0], [-1.0], [2.0]]), names, ["algorithm", "run"])
    >>> found = scores.curves.gate(baseline="main")
    >>> found.decision.values.tolist(), found.n_runs.values.tolist(), found.attrs["champion"]
    ([0, 1], [1, 8], 'lr-3e-4')
    """
    values, task = _check_scores(scores, task)
    names = values["algorithm"].to_numpy().tolist()
    first = _check_label("baseline", baseline, names)
    order = _check_candidates(candidates, first, names)
    scores, higher_is_better = direction.resolved(scores, higher_is_better)
    weights = _check_weights(values, training_weights)
    rule = _check_rule(
        looks,
        level,
        margin,
        start,
        refresh,
        share_failed,
        Context.of(values, n_resamples, False, confidence_level, rng),
    )

    # Numbers are turned so that high ones are better.
    sign = -1.0
    if higher_is_better:
        sign = 1.0
    runs = runs_of(values, weights, task, sign, first)
    warn_of_copies(values, runs)
    with plans.watched() as watch:
        replayed = _replayed(runs, first, order, rule, values, sign)

    label = values["algorithm"].to_numpy()
    attrs = {
        "baseline": str(names[first]),
        "looks": ", ".join(map(str, rule.looks)),
        "level": rule.level,
        "margin": rule.margin,
        "start": rule.start,
        "refresh": rule.refresh,
        "share_failed": rule.share_failed,
        "task": task,
        "higher_is_better": higher_is_better,
        "n_resamples": n_resamples,
        "training_weights": ledger.name_of_weights(weights),
    }
    digests = ledger.digests_of(values, xr.zeros_like(values["run"], dtype=np.int64))
    result = kinds.GATE.dataset(
        _variables(replayed, runs, rule, sign) | {"run_digest": digests.variable},
        {
            "candidate": label[order],
            "champion": (
                "candidate",
                label[[judged.champion for judged in replayed.judged]],
            ),
            "algorithm": values["algorithm"],
            "run": values["run"],
        },
        kinds.GATE.attrs(
            scores,
            rule.context.seed_to_record(drawn=watch.drawn),
            confidence_level,
            **attrs,
        ),
        values,
    )
    flags = {
        "flag_values": np.arange(4, dtype=np.int8),
        "flag_meanings": " ".join(gate_replay.DECISIONS),
    }
    result["decision"].attrs |= flags
    result.attrs["champion"] = str(names[replayed.present.name])
    if previous is not None:
        _check_previous(previous, result)
    return result


def _check_scores(scores: xr.DataArray, task: str | None) -> tuple[xr.DataArray, str | None]:
    """Return scores in memory, dims ([task,] algorithm, run[, training]), and the dim of tasks, if one is named."""
    core = ["algorithm", "run"]
    if isinstance(scores, xr.DataArray) and "training" in scores.dims:
        core.append("training")
    if isinstance(scores, xr.DataArray) and N_FAILED in scores.coords:
        scores = scores.drop_vars(N_FAILED)
    checked = check_curves(
        scores,
        core,
        "scores",
        reserved=kinds.GATE.reserved(),
        named=task_dims.named_dims(task),
    )
    if task is not None:
        task = task_dims.one_dim(checked, task, "scores")
    others = [dim for dim in labels.extra_dims(checked) if dim != task]
    if others:
        cure = Cure("Average over it: ", give(task=others[0]))
        if task:
            cure = Cure(f"Select one: scores.isel({others[0]}=0)")
        raise Refusal(
            "scores",
            UNSAID,
            f"scores have the dim {others[0]!r}; a decision needs one number of each run",
            cure,
        )
    if task is not None:
        core = [task, *core]
    return checked.transpose(*core).compute(), task


def _check_label(argument: str, given: Any, names: list[Any]) -> int:
    """Return the number of an algorithm that was named."""
    if not isinstance(given, Hashable) or given not in names:
        known = ", ".join(map(repr, names[:10]))
        near = ""
        if isinstance(given, str):
            near = labels.did_you_mean(given, names)
        raise Refusal(
            argument,
            given,
            "must be an algorithm of scores",
            f"They have {known}{near}",
        )
    return names.index(given)


def _check_candidates(given: Sequence[Any] | None, baseline: int, names: list[Any]) -> list[int]:
    """Return the numbers of the candidates in their order."""
    wanted: Any = given
    if given is None:
        wanted = [name for name in names if name != names[baseline]]
    elif isinstance(given, np.ndarray | xr.DataArray):
        wanted = np.atleast_1d(given).tolist()
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        raise WrongType(
            "candidates",
            given,
            "must be a list of algorithms",
            f"Try candidates=[{names[-1]!r}]",
        )
    order = [_check_label("candidates", name, names) for name in wanted]
    if not order:
        raise Refusal(
            "scores",
            UNSAID,
            f"scores have no candidate beside the baseline {names[baseline]!r}",
            "Add a run of one",
        )
    if baseline in order:
        raise Refusal(
            "candidates",
            UNSAID,
            f"candidates name the baseline {names[baseline]!r}, the first champion",
            "Leave it out",
        )
    for index, number in enumerate(order):
        if number in order[:index]:
            raise Refusal(
                "candidates",
                UNSAID,
                f"candidates name {names[number]!r} twice",
                "Name each once: what is tried again needs a label of its own",
            )
    return order


def _check_rule(
    looks: Sequence[int],
    level: float,
    margin: float,
    start: int | None,
    refresh: int,
    share_failed: float,
    context: Context,
) -> Rule:
    """Return what is fixed before the first result."""
    numbers: Any = [looks]
    if isinstance(looks, Sequence | np.ndarray) and not isinstance(looks, str):
        numbers = looks
    checked = tuple(validation.check_total("looks", number, "(1, 2, 4, 8)", most=_MOST_RUNS) for number in numbers)
    if not checked or list(checked) != sorted(set(checked)):
        raise Refusal(
            "looks",
            looks,
            "must be ascending numbers of runs",
            Cure("Try ", give(looks=(1, 2, 4, 8))),
        )
    if checked[-1] < 2:
        raise Refusal(
            "looks",
            looks,
            "must end with 2 runs or more",
            Cure("Try ", give(looks=(1, 2, 4, 8))),
        )
    if start is None:
        start = min(4, checked[-1])
    rule = Rule(
        looks=checked,
        level=validation.check_share("level", level, "0.2"),
        margin=validation.check_number("margin", margin),
        start=validation.check_total("start", start, "4", least=2, most=_MOST_RUNS),
        context=context,
        refresh=validation.check_total("refresh", refresh, "2", least=0, most=_MOST_RUNS),
        share_failed=_check_share_failed(share_failed),
    )
    rule.check_reachable(max(checked[-1], rule.start))
    return rule


def _check_share_failed(given: float) -> float:
    """Return the share of runs that may fail, of which 0 is the usual one."""
    if isinstance(given, Real) and given == 0:
        return 0.0
    return validation.check_share("share_failed", given, "0")


def _check_weights(values: xr.DataArray, given: TrainingWeights) -> xr.DataArray | str | None:
    """Return checked training weights, None where scores have no training."""
    if "training" in values.dims:
        return check_training_weights(values, given)
    if given is not None:
        raise Refusal(
            "training_weights",
            UNSAID,
            f"training_weights are for scores with the dim 'training'; got {shown(given)}",
            "Leave them out",
        )
    return None


def _replayed(
    runs: Runs,
    baseline: int,
    candidates: Sequence[int],
    rule: Rule,
    values: xr.DataArray,
    sign: float,
) -> Replay:
    """Judge the candidates; name the run of a champion that failed."""
    try:
        return gate_replay.replay(runs.numbers, baseline, candidates, rule, runs.offset)
    except FailedChampionError as error:
        fill = call("scores.curves.fill_failed", "worst", higher_is_better=False)
        if sign > 0:
            fill = call("scores.curves.fill_failed", "worst")
        why = "a champion needs a mean"
        if rule.share_failed:
            why = f"of a champion's no more than share_failed={rule.share_failed:g} may fail at a look"
        raise run_of(
            values,
            error.champion,
            error.run,
            f" failed; {why}",
            Cure("Say what failed runs count as: ", fill),
            called="champion",
        ) from None


def _variables(replayed: Replay, runs: Runs, rule: Rule, sign: float) -> dict[str, xr.Variable]:
    """Return the variables of a result; what was turned so that high is better is turned back."""
    by_candidate = {
        name: np.array([getattr(judged, name) for judged in replayed.judged])
        for name in Judged.__dataclass_fields__
        if name not in ("champion", "difference_ci", "is_copy")
    }
    by_candidate["difference"] = sign * by_candidate["difference"]
    means = by_candidate["champion_mean"] + runs.common
    by_candidate["champion_mean"] = sign * means
    by_candidate["same_scores"] = np.array([each.is_copy for each in replayed.judged])
    variables = {name: xr.Variable("candidate", values) for name, values in by_candidate.items()}
    intervals = [turned(judged.difference_ci, sign) for judged in replayed.judged]
    variables["difference_ci"] = xr.Variable(("candidate", "ci_bound"), np.array(intervals))
    return variables | _progress(replayed, runs.common, rule, sign)


def _progress(replayed: Replay, common: float, rule: Rule, sign: float) -> dict[str, xr.Variable]:
    """Return what the runs say that decided nothing: the progress, and whether the champion's scores have moved."""
    alpha = rule.context.alpha
    first, present = replayed.first, replayed.present
    # Of runs of which one failed no mean is known.
    audit = [np.where(np.isinf(champion.audit), np.nan, champion.audit) for champion in (first, present)]
    means = [mean_interval(scores, alpha) for scores in audit]
    progress, progress_ci = welch_interval(audit[1], audit[0], alpha)
    if present.name == first.name:
        progress = 0.0
        progress_ci = np.full(2, np.nan)
    elif not isfinite(progress) or min(map(len, audit)) < 2:
        progress = np.nan
    moved = gate_replay.pvalue_moved(present.audit, rule)
    mean_cis = [turned(ends + common, sign) for _, ends in means]
    return {
        "progress": xr.Variable((), progress),
        "champion_moved_pvalue": xr.Variable((), moved),
        "progress_ci": xr.Variable("ci_bound", progress_ci),
        "n_runs_audit": xr.Variable("which", [len(scores) for scores in audit]),
        "audit_mean": xr.Variable("which", [sign * (mean + common) for mean, _ in means]),
        "audit_mean_ci": xr.Variable(("which", "ci_bound"), mean_cis),
    }


def turned(ends: Floats, sign: float) -> NDArray[np.float64]:
    """Return both ends of an interval, of the negative where the sign is negative."""
    if sign > 0:
        return ends
    return -ends[::-1]


def _check_previous(previous: xr.Dataset | str | os.PathLike[str], result: xr.Dataset) -> None:
    """Refuse another past: plan, order of candidates, or runs."""
    before = ledger.check_previous(previous, ledger.of_gate)
    before = before._replace(plan=_BEFORE | before.plan)
    now = ledger.of_gate(result)
    # Candidates may be added at the end.
    order = now.plan["candidates"]
    known = str(before.plan.get("candidates"))
    if order == known or order.startswith(f"{known}, "):
        now = now._replace(plan=now.plan | {"candidates": known})
    made = {algorithm: len(runs) for algorithm, runs in before.digests.items()}
    ledger.refuse_changes(
        before,
        now,
        lambda algorithm, run: int(run) > made.get(algorithm, 0),
        "the earlier call",
    )
