"""The group-sequential test of alike tasks, from a number for each run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.driver import Group
from xcurves.core.run_checks import Context
from xcurves.kernels.engine import holm
from xcurves.kernels.moments import Floats
from xcurves.kernels.sequential_pvalues import Spending, futile, spent
from xcurves.kernels.sequential_tests import sequential_tests
from xcurves.kernels.task_plans import Look, nest

_BY_LOOK = ("pvalue", "statistic", "critical_value", "pvalue_stagewise", "difference")


class LookPlan(NamedTuple):
    """What was planned before the first look.

    Attributes
    ----------
    pairs : sequence of (int, int)
        Indices of algorithms.
    look : ndarray of int, shape (run,)
        The look before which each run was made, from 0.
    """

    pairs: NDArray[np.intp]
    look: NDArray[np.intp]
    n_looks: int
    spending: Spending
    n_resamples: int
    intervals: bool


def sequential_kernel(group: Group, *, plan: LookPlan) -> dict[str, Floats]:
    """Test every pair, given numbers of shape (task, [joined task,] algorithm, run)."""
    numbers = group.data[0]
    nested: dict[bytes, list[Look]] = {}
    found = [
        _test_pairs(each.reshape(-1, *each.shape[-2:]), name, plan, group.context, nested)
        for each, name in zip(numbers, group.names, strict=True)
    ]
    return {name: np.stack([each[name] for each in found]) for name in found[0]}


def _test_pairs(
    u: Floats, name: str, plan: LookPlan, context: Context, nested: dict[bytes, list[Look]]
) -> dict[str, Floats]:
    """Test every pair of one task, or of several joined, on numbers of shape (joined task, algorithm, run)."""
    if np.nanmax(np.abs(u), initial=0.0) > 1e145:
        raise ValueError(f"{name}scores are too large to be squared. Rescale: curves / abs(curves).max()")
    n_pairs, n_looks = len(plan.pairs), plan.n_looks
    out: dict[str, Floats] = {
        each: np.full((n_pairs, n_looks), np.nan) for each in (*_BY_LOOK, "pvalue_adjusted", "n_assignments")
    }
    out |= {each: np.zeros((n_pairs, n_looks)) for each in ("rejected", "futile")}
    out |= {"undecided": np.zeros(n_pairs), "n_runs_next": np.zeros(u.shape[1])}
    out |= {"n_runs": np.full((u.shape[1], n_looks), np.nan)}
    out |= {"difference_ci": np.full((n_pairs, n_looks, 2), np.nan)} if plan.intervals else {}
    present = ~np.isnan(u)
    if np.count_nonzero(present.any(axis=(0, 2))) < 2:
        raise ValueError(f"{name}fewer than two algorithms have runs; a comparison needs two. Add runs")
    by_look = np.stack([present[..., plan.look == k].sum(axis=-1) for k in range(n_looks)])  # look, task, algorithm
    n_done = int(np.flatnonzero(by_look.any(axis=(1, 2))).max()) + 1
    done = slice(n_done)
    out["n_runs"][:, done] = by_look.sum(axis=1).cumsum(axis=0)[done].T
    share = spent(plan.spending, n_looks)
    for pair, (a, b) in enumerate(plan.pairs):
        if not (present[:, a].any(axis=-1) & present[:, b].any(axis=-1)).any():
            continue
        in_order = sorted((a, b))  # so that the order of the algorithms changes nothing
        sizes = by_look[done][:, :, in_order]
        key = sizes.tobytes()
        looks = nested[key] = nested.get(key) or nest(sizes, plan.n_resamples, context.entropy)
        numbers, interval = u[:, in_order].swapaxes(0, 1), plan.intervals
        found = sequential_tests(numbers, plan.look, looks, np.ones(len(u)), share, context.alpha, interval=interval)
        if a > b:
            found["difference"] = -found["difference"]
        for variable in _BY_LOOK:
            out[variable][pair, done] = found[variable]
        if interval:
            ends = found["difference_ci"]
            out["difference_ci"][pair, done] = ends if a < b else -ends[:, ::-1]
        out["n_assignments"][pair, done] = [each.n_total for each in looks]
        stops = np.flatnonzero(provenance.significant(found["pvalue"], context.alpha))[:1].tolist()
        keep = np.isin(np.arange(n_looks), [*stops, n_looks - 1])
        out["pvalue_stagewise"][pair, ~keep] = np.nan
        z = np.full(n_looks, np.nan)
        z[done] = found["z"]
        out["futile"][pair] = np.nan_to_num(futile(z, plan.spending, context.alpha))
    out["pvalue_adjusted"][:] = holm(out["pvalue"].T).T
    out["rejected"][:] = provenance.significant(out["pvalue_adjusted"], context.alpha)
    out["futile"][out["rejected"] == 1] = 0
    tested = ~np.isnan(out["pvalue"][:, n_done - 1])
    out["undecided"][:] = tested & (out["rejected"][:, n_done - 1] == 0) & (n_done < n_looks)
    goes_on = [place for pair, still in zip(plan.pairs, out["undecided"], strict=True) if still for place in pair]
    batches = by_look[:n_done].sum(axis=1)
    latest = batches[n_done - 1 - (batches > 0)[::-1].argmax(axis=0), np.arange(batches.shape[1])]
    out["n_runs_next"][:] = np.isin(np.arange(len(latest)), goes_on) * latest
    return out
