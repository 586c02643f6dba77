"""The mean of an algorithm's runs along training, with a band."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import run_checks, validation
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.labels import EVALUATION
from xcurves.core.own_levels import scores_and_levels
from xcurves.core.refusal import Cure, Refusal, WrongType, give
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves, has_own_levels
from xcurves.kernels.one_task import level_means
from xcurves.means import kinds

BANDS = ("pointwise", "simultaneous", "sd", "se")
_N_RESAMPLES = 2_000
_MOST = 10**6  # resamples
_EVEN_LEVELS = 200  # of the mean of runs that have their own levels


def mean_curves(
    curves: xr.DataArray,
    *,
    band: str | None = "pointwise",
    smooth: float = 0.0,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Return the mean of the runs of each algorithm along training, with a band.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training) or (..., algorithm, run, evaluation)
        Scores, NaN where a run was not evaluated.
    band : {"pointwise", "simultaneous", "sd", "se"} or None
        The t interval of the mean at each level by itself; intervals that hold at all levels together, from four runs
        on; the standard deviation of the runs, or the standard error of their mean, to both sides; no band.
    smooth : float, default 0
        Weight of the past, below 1, in a debiased exponential mean of every run, before means and bands.
    n_resamples : int, optional
        Of a simultaneous band; 2,000 by default.
    confidence_level : float, default 0.95
        Of intervals.
    rng : int, Generator or None
        Seed of the resamples.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front, in the unit of scores: `mean_curve` (algorithm, training), at the
        levels that all runs of the algorithm have in the task, NaN at others, and `mean_curve_ci` (algorithm, training,
        ci_bound), the ends of the band, NaN without one. Count: `n_runs` (algorithm). Where runs have levels of their
        own, the dim is `evaluation`: 200 even levels, from the last start of the runs of an algorithm to their first
        end, are the coordinate `training` on (..., algorithm, evaluation), and runs are read on the lines between
        theirs.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, or if scores are infinite.

    Notes
    -----
    With :math:`\bar y` the mean and :math:`s` the standard deviation of ``l`` runs at a level, the ends of the
    pointwise band are those of Student's interval [1]_,

    .. math:: \bar y \pm t_{l - 1}\, s / \sqrt l.

    It holds for a level by itself: that bands are apart or overlap is no test. For a simultaneous band whole residual
    runs get random signs, and every replicate is studentized by its own standard error. A single run has no band.

    References
    ----------
    .. [1] Student (1908). The probable error of a mean. Biometrika 6, 1-25. doi:10.1093/biomet/6.1.1

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> means = scores.curves.mean_curves()
    >>> means.mean_curve.dims, bool((means.mean_curve_ci.sel(ci_bound="lower") <= means.mean_curve).all())
    (('algorithm', 'training'), True)
    """
    reserved = kinds.MEAN_CURVES.reserved() - {EVALUATION}
    curves = check_curves(curves, own_levels=True, reserved=reserved, any_offset=True)
    if band is not None:
        band = validation.check_choice("band", band, [*BANDS])
    own = has_own_levels(curves)
    training = curves["training"]
    scores, levels, core = scores_and_levels(curves)
    options = _Options(
        band,
        check_smooth(smooth),
        validation.check_count("n_resamples", n_resamples, most=_MOST) or _N_RESAMPLES,
        _EVEN_LEVELS if own else training.size,
        own,
    )
    result = per_task(
        kinds.MEAN_CURVES,
        partial(_kernel, options=options),
        scores,
        levels,
        context=Context.of(
            scores, confidence_level=confidence_level, rng=rng, random=band == "simultaneous", core=core
        ),
        core=core,
        sizes={"training": options.n_levels},
        when=("own levels",) if own else (),
        attrs={"band": band or "none", "smooth": options.smooth},
        coords={"training": ("training", np.arange(options.n_levels)) if own else training},
    )
    if not own:
        return result
    by_number = result.drop_vars("training").rename(training=EVALUATION)
    levels_of_means = by_number["level"].assign_attrs(training.attrs)
    return by_number.drop_vars("level").assign_coords(training=levels_of_means)


def check_smooth(smooth: Any) -> float:
    """Return the weight of the past in a smoothed run."""
    try:
        weight = float(smooth)
    except (TypeError, ValueError):
        raise WrongType(
            "smooth",
            smooth,
            "must be a number from 0 to below 1",
            Cure("Try ", give(smooth=0.6)),
        ) from None
    if not 0 <= weight < 1:
        raise Refusal(
            "smooth",
            smooth,
            "must be from 0 to below 1",
            Cure("Try ", give(smooth=0.6)),
        )
    return weight


@dataclass(frozen=True)
class _Options:
    """What a mean curve is made of."""

    band: str | None
    smooth: float
    n_resamples: int
    n_levels: int
    own: bool  # whether runs have levels of their own


def _kernel(group: Group, *, options: _Options) -> dict[str, Any]:
    """Return the mean curves of all algorithms in all tasks."""
    scores, levels = group.data
    run_checks.check_finite(scores, group.names)
    is_there = ~np.isnan(scores).all(axis=-1)
    runs = level_means.smoothed(scores, options.smooth)
    level = np.array(np.nan)
    if options.own:
        levels = np.broadcast_to(levels, scores.shape)
        level, runs = level_means.at_even_levels(levels, runs, options.n_levels)
    context = group.context
    mean, ends = level_means.means_with_bands(runs, options.band, context.alpha, options.n_resamples, context.entropy)
    shape = mean.shape
    return {
        "mean_curve": mean,
        "mean_curve_ci": ends,
        "level": np.broadcast_to(level, shape),
        "n_runs": is_there.sum(axis=-1),
    }
