"""The null distribution of a plan: p-values, critical values and, if asked, the F ratios themselves."""

from __future__ import annotations

import numpy as np

from xcurves.kernels.moments import Floats
from xcurves.kernels.reassign import Progress, panel_width, shuffled_sums
from xcurves.kernels.shuffles import TIE, Plan
from xcurves.kernels.sums import AnovaDesign, degrees_of_freedom, effect_sums, f_ratios, shared_sums

_HELD = 2**23  # doubles of the null distribution held at once


def f_tests(
    design: AnovaDesign,
    plan: Plan,
    alpha: float,
    *,
    keep: bool = False,
    batch: int | None = None,
    progress: Progress = lambda blocks: blocks,
) -> dict[str, Floats]:
    """Compare the observed F ratios with those of every reassignment of the plan.

    Returns
    -------
    dict of ndarray, shape (task, effect, error_term)
        `pvalue`, its Monte Carlo standard error, `critical_value`; with `keep` also `pvalue_rank` and
        `null_distribution`, with shuffles as the last axis.
    """
    n_tail = int(np.floor(alpha * plan.n_total + 1e-9)) + plan.exact
    n_held = min(plan.n_resamples, 2 * n_tail + UpperTail.SLACK)
    width = max(1, min(256, panel_width(design, plan), _HELD // (4 * n_held)))
    starts = range(0, len(design.means), width)
    panels = [_evaluate(design.panel(s, s + width), plan, n_tail, keep, batch, progress) for s in starts]
    return {name: np.concatenate([np.moveaxis(panel[name], 2, 0) for panel in panels]) for name in panels[0]}


def _evaluate(
    design: AnovaDesign, plan: Plan, n_tail: int, keep: bool, batch: int | None, progress: Progress
) -> dict[str, Floats]:
    """Count on the scale of R = SS / (SS + error SS), which increases with F and stays finite.

    Two sums of squares are tied if they agree within `TIE` of the effect's total, plus, with the pooled error, the
    rounding error of the other total. A reassignment with 0 / 0 counts as a tie.
    """
    sums = effect_sums(design)
    observed = f_ratios(design, sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = shared_sums(design, sums)
        share = sums[:, np.newaxis] / shared
        slack = TIE * design.totals[:, np.newaxis] + share * np.stack(
            [design.rounding[::-1], np.zeros_like(design.rounding)], axis=1
        )
        threshold = share - slack / shared
    below = np.zeros(threshold.shape)
    tail = UpperTail(n_tail)
    kept = []
    for shuffled in shuffled_sums(design, plan, batch, progress):
        shared = shared_sums(design, shuffled)
        share = np.ones(shared.shape)
        np.divide(shuffled[:, np.newaxis], shared, out=share, where=shared > 0)
        below += np.count_nonzero(share < threshold[..., np.newaxis], axis=-1)
        tail.add(share)
        if keep:
            kept.append(f_ratios(design, shuffled))
    pvalue = np.maximum(plan.n_total - below, 1) / plan.n_total  # the observed assignment is one of them
    found = {
        "pvalue": pvalue,
        "pvalue_stderr": np.zeros_like(pvalue) if plan.exact else np.sqrt(pvalue * (1 - pvalue) / plan.n_resamples),
        "critical_value": _f_of_share(design, tail.smallest(threshold.shape)),
    }
    if keep:
        null = np.concatenate(kept, axis=-1)
        found["pvalue_rank"] = rank_pvalue(observed, null)
        found["null_distribution"] = null
    undefined = np.isnan(observed)
    for values in found.values():
        values[undefined] = np.nan
    return found


def rank_pvalue(observed: Floats, null: Floats) -> Floats:
    """Return the paper's p = (z - rank of the null value closest to the observed one) / z; the lowest rank of ties."""
    within = np.minimum(observed, null.max(axis=-1))[..., np.newaxis]
    with np.errstate(invalid="ignore"):
        distance = np.where(null == within, 0.0, np.abs(null - within))
    closest = np.take_along_axis(null, distance.argmin(axis=-1)[..., np.newaxis], axis=-1)
    rank = np.count_nonzero(null < closest, axis=-1) + 1
    return np.asarray((null.shape[-1] - rank) / null.shape[-1])


def _f_of_share(design: AnovaDesign, share: Floats) -> Floats:
    """Turn R = SS / (SS + error SS), shape (effect, error_term, task), into F."""
    df, df_error = degrees_of_freedom(design)
    rest = 1 - share
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = share / np.where(rest <= sum(design.sizes) * np.finfo(float).eps, 0.0, rest)
        return np.asarray(ratio * (df_error / df)[..., np.newaxis])


class UpperTail:
    """The largest values along the last axis of arrays that are added one after the other."""

    SLACK = 2**16  # values held beyond twice the size before the smaller are dropped

    def __init__(self, size: int) -> None:
        self.size = size
        self.parts: list[Floats] = []
        self.held = 0

    def add(self, values: Floats) -> None:
        """Add values; drop all but the largest when many more are held."""
        if self.size == 0:
            return
        self.parts.append(values)
        self.held += values.shape[-1]
        if self.held > 2 * self.size + self.SLACK:
            self.parts = [self._largest()]
            self.held = self.size

    def _largest(self) -> Floats:
        values = np.concatenate(self.parts, axis=-1)
        values.partition(values.shape[-1] - self.size, axis=-1)
        return values[..., values.shape[-1] - self.size :].copy()

    def smallest(self, shape: tuple[int, ...]) -> Floats:
        """Return the smallest of the largest values; 1 if none is kept, as no value is large enough."""
        return self._largest()[..., 0] if self.size else np.ones(shape)
