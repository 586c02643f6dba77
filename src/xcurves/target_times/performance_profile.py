"""How often each algorithm is within a factor of the best time, and the area under that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats, Index
from xcurves.core import labels, task_dims, validation
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.labels import pairs_in_label_order
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType, shown
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.kernels.over_tasks import task_flips
from xcurves.kernels.resampling import plans
from xcurves.kernels.times import hitting_times
from xcurves.kernels.times.hitting_times import medians
from xcurves.target_times import kinds
from xcurves.target_times.comparisons import check_times

N_DRAWS = 2_000
_N_TAU = 101  # factors at which the share is given


def performance_profile(
    times: xr.DataArray,
    *,
    task: str | Sequence[str] = "task",
    tau_max: float = 4.0,
    points: int | None = None,
    gates: Mapping[Any, Any] | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Compare times over tasks by performance profiles and their area.

    Parameters
    ----------
    times : DataArray, dims (..., task, algorithm, run)
        Times to a target, +inf where it is not reached, NaN where there is no run, as `time_to_target` returns them.
        The median of its runs counts for an algorithm; one without runs does not solve a task.
    task : str or sequence of str, default "task"
        The dim of tasks, which may have any name if it is the only extra dim; several are joined to one.
    tau_max : float, default 4.0
        Factor of the best time up to which the area counts.
    points : int, optional
        Take the area by the trapezoidal rule at so many factors, as AlgoPerf does with 100. None: exactly.
    gates : mapping, optional
        The base of each held-out variant of a task. In this order, a variant is not solved where its base is not, times
        beyond `tau_max` times the best are not solved, and a base is not solved where its variant is not; the profile
        is over bases.
    confidence_level : float, default 0.95
        Of each interval.
    rng : int, Generator or None
        Seed of the draws of runs, and of the flips where these are not all evaluated.

    Returns
    -------
    Dataset
        Without unit: `score` (algorithm), `score_ci` (algorithm, task_effect, ci_bound), `share` (algorithm, tau),
        `difference`, `pvalue`, `pvalue_adjusted` (pair), `difference_ci` (pair, task_effect, ci_bound),
        `difference_ci_simultaneous` (pair, ci_bound), for tasks like these and all pairs together. Counts: `n_reached`
        (algorithm), `n_tasks`. `task_effect` has the claims "fixed", for these tasks, and "random", for tasks like
        these.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if times are negative, or if gates name a task that is not there.

    Notes
    -----
    With :math:`t_{at}` the time of algorithm ``a`` in task ``t`` of ``n``,

    .. math:: \rho_a(\tau) = \frac 1 n \left|\{t : t_{at} \le \tau \min_b t_{bt}\}\right|, \quad
              \mathrm{score}_a = \frac{1}{\tau_{\max} - 1} \int_1^{\tau_{\max}} \rho_a(\tau)\, d\tau .

    The claim about tasks like these flips the signs of tasks (subset means), p-values of differences are adjusted by
    step-down max-\|T\|; that about these tasks draws runs with replacement within task and algorithm, 2,000 times.
    With eight tasks and five studies intervals of 0.95 hold 0.97 for these tasks where runs differ by a tenth, 0.81 to
    0.89 where by three tenths, and 0.88 to 0.96 for tasks like these. The best algorithm of a task defines its unit:
    scores depend on who takes part.

    References
    ----------
    .. [1] Dolan, E. D. & Moré, J. J. (2002). Benchmarking optimization software with performance profiles.
       Mathematical Programming 91, 201-213. doi:10.1007/s101070100263
    .. [2] Dahl, G. E. et al. (2023). Benchmarking Neural Network Training Algorithms. arXiv:2306.07179

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> times = xr.DataArray(
    ...     [[[1.0, 1.0], [2.0, 2.0]], [[3.0, 3.0], [2.0, 2.0]]],
    ...     dims=("task", "algorithm", "run"),
    ...     coords={"task": ["x", "y"], "algorithm": ["a", "b"]},
    ... )
    >>> times.curves.performance_profile(rng=0).score.to_numpy().round(3)
    array([0.917, 0.833])
    """
    times = check_curves(
        times,
        ("algorithm", "run"),
        "times",
        reserved=kinds.PERFORMANCE_PROFILE.reserved(),
        named=task_dims.named_dims(task),
    )
    times, task = task_dims.check_task(times, task, "times")
    if validation.check_number("tau_max", tau_max) <= 1:
        raise Refusal("tau_max", Verbatim(f"{tau_max:g}"), "must be above 1", "Usual: 4")
    points = validation.check_count("points", points, 2, 100_000)
    bases = None
    if gates is not None:
        bases = check_gates(times[task].to_numpy().tolist(), gates, task)
    core = (task, "algorithm", "run")
    bare = times.drop_vars("budget", errors="ignore").transpose(..., *core)
    pairs = pairs_in_label_order(times)
    tau = np.linspace(1.0, float(tau_max), _N_TAU)
    return per_task(
        kinds.PERFORMANCE_PROFILE,
        partial(score_kernel, bases=bases, tau=tau, points=points, pairs=pairs),
        bare,
        context=Context.of(bare, None, False, confidence_level, rng, core=core),
        core=core,
        sizes={"tau": _N_TAU, "pair": len(pairs)},
        attrs={"task": task, "tau_max": float(tau_max), "points": points},
        coords=labels.pair_coords(times) | {"tau": ("tau", tau, {"long_name": labels.LONG_NAMES["tau"], "units": "1"})},
    )


def score_kernel(group: Group, **options: Any) -> dict[str, Any]:
    """Return the profiles of every benchmark, data of shape (benchmark, task, algorithm, run)."""
    check_times(group.data[0])
    profiles = [_profile(times, group, **options) for times in group.data[0]]
    return {name: np.stack([profile[name] for profile in profiles]) for name in profiles[0]}


def _profile(
    times: Floats,
    group: Group,
    bases: Index | None,
    tau: Floats,
    points: int | None,
    pairs: Index,
) -> dict[str, Any]:
    """Return the profile of one benchmark, its area and the differences of areas, times (task, algorithm, run)."""
    alpha = group.context.alpha
    entropy = group.context.entropy
    tau_max = float(tau[-1])
    ratios = hitting_times.ratios(medians(times), bases, tau_max)
    areas = hitting_times.contributions(ratios, tau_max, points).T  # (algorithm, task)
    n_tasks = areas.shape[1]
    first, second = pairs.T
    differences = areas[first] - areas[second]

    # For these tasks runs are drawn, for tasks like these the signs of tasks are flipped.
    drawn = hitting_times.bootstrap_scores(times, bases, tau_max, points, N_DRAWS, entropy)
    plan = plans.plan_flips(n_tasks, None, entropy)
    pvalue, adjusted = task_flips.pvalues(differences / n_tasks, plan)

    def by_flips(of_tasks: Floats, level: float, least: float) -> Floats:
        """Return intervals of means over tasks like these, which lie between `least` and 1."""
        random = task_flips.flip_intervals(of_tasks / n_tasks, np.full(of_tasks.shape, 1 / n_tasks), plan, level)[0]
        return np.asarray(np.clip(random, least, 1.0))

    def intervals(of_tasks: Floats, of_draws: Floats, least: float) -> Floats:
        """Return both intervals of means over tasks."""
        fixed = np.quantile(of_draws, [alpha / 2, 1 - alpha / 2], axis=0).T
        return np.stack([fixed, by_flips(of_tasks, alpha, least)], axis=1)

    return {
        "score": areas.mean(axis=1),
        "score_ci": intervals(areas, drawn, 0.0),
        "share": (ratios[..., np.newaxis] <= tau).mean(axis=0),
        "difference": differences.mean(axis=1),
        "difference_ci": intervals(differences, drawn[:, first] - drawn[:, second], -1.0),
        "difference_ci_simultaneous": by_flips(differences, alpha / max(1, len(pairs)), -1.0),
        "pvalue": pvalue,
        "pvalue_adjusted": adjusted,
        "n_reached": np.isfinite(ratios).sum(axis=0),
        "n_tasks": np.int64(n_tasks),
    }


def check_gates(names: list[Any], gates: Mapping[Any, Any], task: str) -> Index:
    """Return the index of the base of each task that is a variant, -1 of bases."""
    if not isinstance(gates, Mapping):
        raise WrongType("gates", gates, "must be a mapping of variants to bases")
    for name in (*gates, *gates.values()):
        if name not in names:
            raise Refusal(
                "gates",
                UNSAID,
                f"name {shown(name)}, which is no {task}",
                labels.nearest(name, names),
            )
    bases = {name: gates.get(name, name) for name in names}  # a base is its own
    for base in bases.values():
        if bases[base] != base:
            raise Refusal(
                "gates",
                UNSAID,
                f"gates: {shown(base)} is a base and a variant",
                "Name bases that are no variants",
            )
    index_of = {name: index for index, name in enumerate(names)}
    is_variant = np.array([base != name for name, base in bases.items()])
    index_of_base = np.array([index_of[base] for base in bases.values()])
    return np.where(is_variant, index_of_base, -1)
