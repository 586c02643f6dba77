"""How many tasks it would take to show a difference, if it is as it was seen."""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.array_types import Floats

POWER = 0.8
MOST_TASKS = 1e6  # beyond, the number is infinite
_FEWEST = 3  # tasks of which a spread says anything


def tasks_to_show(mean: Floats, sd: Floats, n: Floats, alpha: float) -> Floats:
    """Return the least numbers of tasks for which a t-test at `alpha` has the power `POWER`.

    The power is that of the noncentral t distribution, both tails, with the mean and the standard deviation over
    tasks as they were seen in `n` tasks. No number is below the fewest tasks whose signs can reach `alpha`. NaN where
    the mean is 0 or tasks are too few, infinite beyond `MOST_TASKS`.
    """
    # The smallest p of n signs is 2 / 2^n: n >= 1 - log2 α. Less a little, as a logarithm of a power of two rounds.
    fewest = np.ceil(1 - np.log2(alpha) - 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.abs(mean) / sd
        # About the number by the normal distribution, which is a little too small.
        # z_{1-α/2} is to be exceeded by effect √n with the power's probability.
        quantiles = scipy.special.ndtri(1 - alpha / 2) + scipy.special.ndtri(POWER)
        about = quantiles**2 / effect**2
    n_tasks = np.where(about > MOST_TASKS, np.inf, fewest)
    is_searched = (about > 0) & (about <= MOST_TASKS)
    least = _least(effect[is_searched], about[is_searched], alpha)
    n_tasks[is_searched] = np.maximum(fewest, least)
    n_tasks[n_tasks > MOST_TASKS] = np.inf

    # A mean of 0 says nothing of a difference, unless no task differs: then no number of them shows one.
    n_tasks[(mean == 0) & (sd > 0)] = np.nan
    n_tasks[(mean == 0) & (sd == 0)] = np.inf
    n_tasks[~(n >= _FEWEST) | np.isnan(mean) | np.isnan(sd)] = np.nan
    return n_tasks


def _least(effect: Floats, about: Floats, alpha: float) -> Floats:
    """Return the least numbers of tasks with the power, from half to twice those by the normal distribution."""
    low = np.maximum(1.0, np.floor(about / 2))  # the power of one task is none
    # With few tasks quantiles of t are much larger than normal ones: twice as many and 20 more have the power.
    high = np.ceil(2 * about) + 20
    # Bisection of whole numbers; those that are found stay, with their upper end as the middle.
    while (high - low > 1).any():
        middle = np.where(high - low > 1, np.floor((low + high) / 2), high)
        enough = power(effect, middle, alpha) >= POWER
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return high


def power(effect: Floats, n: Floats, alpha: float) -> Floats:
    """Return the power of the two-sided t-test of `n` numbers with so large a mean, in standard deviations."""
    # t of a mean of `effect` standard deviations is noncentral, by effect √n; either tail rejects.
    critical = scipy.special.stdtrit(n - 1, 1 - alpha / 2)
    shift = effect * np.sqrt(n)
    upper = 1 - scipy.special.nctdtr(n - 1, shift, critical)
    return np.asarray(upper + scipy.special.nctdtr(n - 1, shift, -critical))
