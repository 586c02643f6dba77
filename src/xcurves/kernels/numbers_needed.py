"""How many tasks, or runs, it would take to show a difference as it was seen, and which difference so many tasks show.

Powers are those of t-tests: of the differences of tasks or matched runs, one sample; of runs of two algorithms, two.
"""

from __future__ import annotations

import numpy as np
import scipy

from xcurves.array_types import Bools, Floats, Index
from xcurves.kernels.intervals import t_quantile
from xcurves.kernels.resampling.shifts import halve

POWER = 0.8
MOST = 1e6  # tasks, or runs: beyond, the number is infinite
_FEWEST = 3  # tasks of which a spread says anything
_MOST_FEWEST = 200  # runs a side, by which whole assignments reach any level
FEWEST_SHOWN = 6  # tasks whose signs can show a difference at .05
_MANY = 100  # degrees of freedom, of more of which a spread is as good as normal: powers differ by less than .0005
_QUANTILES = 400  # of the spread, where the noncentral t cannot be computed
_BY_NORMAL = 0.05  # over degrees of freedom: where the power is `POWER`, that of a normal spread differs by less


def fewest_tasks(alpha: float) -> float:
    """Return the fewest tasks whose signs can reach `alpha`."""
    # The smallest p of n signs is 2 / 2^n: n >= 1 - log2 α. Less a little, as a logarithm of a power of two rounds.
    return float(np.ceil(1 - np.log2(alpha) - 1e-9))


def fewest_runs(alpha: float) -> float:
    """Return the fewest runs of each of two algorithms whose assignments can reach `alpha`."""
    n = np.arange(2, _MOST_FEWEST)
    # An assignment and its mirror differ by the same amount: the smallest p is 2 / C(2n, n). Less a little, as above.
    least = 2 / scipy.special.binom(2 * n, n)
    return float(n[least <= alpha * (1 + 1e-9)][0])


def tasks_to_show(mean: Floats, sd: Floats, n: Floats, alpha: float) -> Floats:
    """Return the least numbers of tasks, or matched runs, for which a t-test at `alpha` has the power `POWER`.

    The power is that of the noncentral t distribution, both tails, with the mean and the standard deviation over
    tasks as they were seen in `n` tasks. No number is below the fewest tasks whose signs can reach `alpha`. NaN where
    the mean is 0 or tasks are too few, infinite beyond `MOST`.
    """
    found = _to_show(mean, sd, alpha, fewest_tasks(alpha), n_samples=1)
    return np.where(n >= _FEWEST, found, np.nan)


def runs_to_show(difference: Floats, error: Floats, sizes: tuple[int, int], alpha: float) -> Floats:
    """Return the same of runs of each of two algorithms, given the difference of means and its standard error.

    Both have the spread that gives this error in so many runs. NaN where one has a single run.
    """
    # error² = sd² (1/n_a + 1/n_b)
    sd = error / np.sqrt(sum(1 / n for n in sizes))
    found = _to_show(difference, sd, alpha, fewest_runs(alpha), n_samples=2)
    return np.where(min(sizes) >= 2, found, np.nan)


def _to_show(mean: Floats, sd: Floats, alpha: float, fewest: float, n_samples: int) -> Floats:
    """Return the least numbers in each of so many samples; NaN where the mean is 0, infinite beyond `MOST`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        effect = np.abs(mean) / sd
        # About the number by the normal distribution, which is a little too small.
        # z_{1-α/2} is to be exceeded by effect √(n / samples) with the power's probability.
        quantiles = scipy.special.ndtri(1 - alpha / 2) + scipy.special.ndtri(POWER)
        about = n_samples * quantiles**2 / effect**2
    found = np.where(about > MOST, np.inf, fewest)
    is_searched = (about > 0) & (about <= MOST)
    found[is_searched] = _least(effect[is_searched], about[is_searched], alpha, fewest, n_samples)
    found[found > MOST] = np.inf

    # A mean of 0 says nothing of a difference, unless nothing varies: then no number of them shows one.
    found[(mean == 0) & (sd > 0)] = np.nan
    found[(mean == 0) & (sd == 0)] = np.inf
    found[np.isnan(mean) | np.isnan(sd)] = np.nan
    return found


def tasks_at_least(ends: Floats, sd: Floats, n: Floats, alpha: float) -> Floats:
    """Return `tasks_to_show` of the end of an interval, (pair, 2), that is farther from 0; if infinite, the fewest."""
    furthest = np.abs(ends).max(axis=-1)
    at_furthest = tasks_to_show(furthest, sd, n, alpha)
    is_unbounded = np.isinf(furthest) & (n >= _FEWEST)
    return np.where(is_unbounded, fewest_tasks(alpha), at_furthest)


def smallest_to_show(error: Floats, n: Floats, alpha: float) -> Floats:
    """Return the differences of which `n` tasks, with such a standard error of the mean, show `POWER`.

    NaN where signs of so few tasks show nothing, or where nothing varies.
    """
    is_known = (n >= FEWEST_SHOWN) & (error > 0)
    smallest = np.full(len(n), np.nan)
    # Few numbers of tasks are distinct: the power depends on them alone, and on the difference in standard errors.
    numbers, which = np.unique(n[is_known], return_inverse=True)
    # The power falls to the other side below a difference of 0, and is 1 at twice what quantiles of t add up to.
    critical = t_quantile(alpha, numbers - 1)
    far = 2 * critical + 10
    shift, _ = halve(
        lambda at: _power(at, numbers - 1, critical) < POWER,
        np.zeros(len(numbers)),
        far,
        times=45,
    )
    smallest[is_known] = shift[which] * error[is_known]
    return smallest


def _least(effect: Floats, about: Floats, alpha: float, fewest: float, n_samples: int) -> Floats:
    """Return the least numbers with the power, at least `fewest`, up to twice those by the normal distribution."""
    low = np.maximum(fewest - 1, np.floor(about / 2))
    # With few quantiles of t are much larger than normal ones: twice as many and 20 more have the power.
    high: Floats = np.maximum(fewest, np.ceil(2 * about) + 20)

    def narrow(left: Index, middle: Floats) -> None:
        enough = _has_power(effect[left], middle, alpha, n_samples)
        high[left[enough]] = middle[enough]
        low[left[~enough]] = middle[~enough]

    # It is within two of what the quantiles of t add: a third of the numbers that bisection looks at.
    near = np.floor(about + scipy.special.ndtri(1 - alpha / 2) ** 2 / (2 * n_samples))
    for further in (2, -1):
        at = np.maximum(fewest, near + further)
        inside = np.flatnonzero((at > low) & (at < high))
        narrow(inside, at[inside])
    # Bisection of whole numbers, of those that are not yet found.
    left = np.flatnonzero(high - low > 1)
    while left.size:
        narrow(left, np.floor((low[left] + high[left]) / 2))
        left = left[high[left] - low[left] > 1]
    return high


def _has_power(effect: Floats, n: Floats, alpha: float, n_samples: int) -> Bools:
    """Return whether the two-sided t-test of `n` numbers, of each sample, has the power `POWER`.

    `effect` is the mean, or the difference of two means, in standard deviations. The power takes a hundred times as
    long as that of a normal spread, and is computed where the latter leaves it open.
    """
    shift, df, critical = _noncentral(effect, n, alpha, n_samples)
    by_normal = _power_by_normal(shift, df, critical)
    enough = by_normal >= POWER
    is_open = np.abs(by_normal - POWER) < _BY_NORMAL / df
    enough[is_open] = _power(shift[is_open], df[is_open], critical[is_open]) >= POWER
    return enough


def _noncentral(effect: Floats, n: Floats, alpha: float, n_samples: int) -> tuple[Floats, Floats, Floats]:
    """Return the shift of t, its degrees of freedom and its critical value, beyond which either tail rejects."""
    # t of a mean of `effect` standard deviations is noncentral, by effect √n, of two by effect √(n/2).
    df = n_samples * (n - 1)
    return effect * np.sqrt(n / n_samples), df, t_quantile(alpha, df)


def _power(shift: Floats, df: Floats, critical: Floats) -> Floats:
    """Return the probability that a noncentral t, shifted so much, is beyond its critical values."""
    upper = 1 - scipy.special.nctdtr(df, shift, critical)
    both = np.asarray(upper + scipy.special.nctdtr(df, shift, -critical))
    # SciPy's function is NaN at some shifts of five and more.
    unknown = ~np.isfinite(both)
    both[unknown] = _power_by_spreads(shift[unknown], df[unknown], critical[unknown])
    return both


def _power_by_spreads(shift: Floats, df: Floats, critical: Floats) -> Floats:
    """Return the power as a mean over spreads: given the spread s, in true ones, t is normal."""
    # P(Z + shift > c s) + P(Z + shift < -c s), df s² distributed as χ²: of many s is normal, else it is taken at its
    # quantiles (i + 1/2) / 400, which takes 500 times as long.
    is_many = df >= _MANY
    by_spread = np.empty(len(df))
    by_spread[is_many] = _power_by_normal(shift[is_many], df[is_many], critical[is_many])
    few = ~is_many
    by_spread[few] = _power_by_quantiles(shift[few], df[few], critical[few])
    return by_spread


def _power_by_normal(shift: Floats, df: Floats, critical: Floats) -> Floats:
    """Return the power where the spread s is normal: Z - c s has the variance 1 + c² var(s)."""
    mean = 1 - 1 / (4 * df) + 1 / (32 * df**2)
    scale = np.sqrt(1 + critical**2 * (1 - mean**2))
    upper = scipy.special.ndtr((shift - critical * mean) / scale)
    return np.asarray(upper + scipy.special.ndtr((-shift - critical * mean) / scale))


def _power_by_quantiles(shift: Floats, df: Floats, critical: Floats) -> Floats:
    """Return the power as a mean over quantiles of the spread."""
    # quantiles take long, and few numbers are distinct
    numbers, which = np.unique(df, return_inverse=True)
    each = numbers[:, np.newaxis]
    shares = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    spread = np.sqrt(2 * scipy.special.gammaincinv(each / 2, shares) / each)[which]
    limit = critical[:, np.newaxis] * spread
    by_spread = scipy.special.ndtr(shift[:, np.newaxis] - limit) + scipy.special.ndtr(-shift[:, np.newaxis] - limit)
    return np.asarray(by_spread.mean(axis=-1))
