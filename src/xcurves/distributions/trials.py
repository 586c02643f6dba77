"""Trials, checked: which scores they may have, and how many a band needs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np

from xcurves.array_types import Floats, Ints
from xcurves.core import failed_runs, magnitudes, validation
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.kernels.distributions import ecdf


def check_trials(
    x: Floats,
    n: Ints,
    names: list[str],
    failed: Failed,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> None:
    """Refuse sorted trials, shape (group, trial), that are too large, outside the bounds, or wrongly infinite."""
    failed_runs.refuse_wrong(x, failed.score, names)
    first = ecdf.count_up_to(x, np.array([[-np.inf]]))[:, 0]
    last = ecdf.count_up_to(x, np.array([[np.inf]]), "below")[:, 0]
    some = last > first
    least, most = ecdf.value_at(x, np.stack([first + 1, last], axis=-1), n).T
    magnitudes.check_size(np.stack([least, most], axis=-1), names, "scores", 1e300)
    low, high = bounds
    never = np.zeros(len(x), bool)
    # A time that was not reached lies beyond every bound.
    if failed.is_time:
        never = (last < n) & (high < np.inf)
    outer = np.flatnonzero(never | (some & ((least < low) | (most > high))))
    if outer.size:
        group = outer[0]
        outside = most[group]
        if never[group]:
            outside = np.inf
        elif least[group] < low:
            outside = least[group]
        raise Refusal(
            "curves",
            UNSAID,
            f"{names[group]}bounds are {low:g} to {high:g}, but there is a score of {outside:g}",
            "Give bounds that contain all possible scores, or leave them out",
        )


def bounds_beside_failed(x: Floats, bounds: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return the bounds of quantiles of each row, shape (row, 1, 1), infinite where trials of it are."""
    low = np.where(np.isneginf(x).any(axis=-1), -np.inf, bounds[0])
    high = np.where(np.isposinf(x).any(axis=-1), np.inf, bounds[1])
    return low[:, np.newaxis, np.newaxis], high[:, np.newaxis, np.newaxis]


def prefixes_of(group: Group) -> list[str]:
    """Return the prefix of messages about each algorithm of each task."""
    prefixes = []
    for name in group.names:
        task = ""
        if name:
            task = f"{name.removesuffix(': ')}, "
        prefixes += [f"{task}algorithm {algorithm}: " for algorithm in group.algorithms]
    return prefixes


def difference_band(first: Floats, second: Floats) -> Floats:
    """Return the limits of differences, given those of both, shape (2, ...); of two infinite ends none."""
    with np.errstate(invalid="ignore"):
        low = first[0] - second[1]
        high = first[1] - second[0]
    low[np.isnan(low)] = -np.inf
    high[np.isnan(high)] = np.inf
    return np.stack([low, high], axis=-1)


@dataclass(frozen=True)
class Failed:
    """Which infinite score trials may have."""

    score: float
    is_time: bool  # of times that were not reached, not of failed runs

    @classmethod
    def of(cls, budget: object, *, higher: bool) -> Failed:
        """Return the score of failed runs, or inf of times that have a budget."""
        if budget is not None:
            return cls(np.inf, True)
        return cls(failed_runs.failed_score(higher), False)


def trials_needed(width: float, *, confidence_level: float = 0.95) -> int:
    r"""Return how many independent trials make the Dvoretzky-Kiefer-Wolfowitz band around a CDF this narrow.

    The band of `performance_cdf` is narrower than that in the tails, and up to a fifth wider in the middle.

    Parameters
    ----------
    width : float
        Distance of the band's upper from its lower edge, a share in (0, 1).
    confidence_level : float, default 0.95
        Of the band as a whole.

    Returns
    -------
    int
        The smallest n with :math:`2 \sqrt{\ln(2/\delta) / 2n}` at most `width`.

    Raises
    ------
    ValueError
        If `width` or `confidence_level` is not between 0 and 1.

    References
    ----------
    .. [1] Massart, P. (1990). The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality. Ann. Probab. 18,
       1269-1283. doi:10.1214/aop/1176990746

    Examples
    --------
    >>> import xcurves
    >>> xcurves.trials_needed(0.1)
    738
    """
    alpha = validation.check_confidence_level(confidence_level)
    share = validation.check_share("width", width, "0.1, a difference of probabilities")
    return ceil(2 * log(2 / alpha) / share**2)
