"""How often intervals of distributions hold the truth: `python tests/interval_coverage.py` prints a table."""

from __future__ import annotations

import warnings

import numpy as np
import xarray as xr
from scipy import integrate, stats

import xcurves

LEVELS = [0.5, 0.9]
DISTRIBUTIONS = {
    "normal": stats.norm(),
    "exponential": stats.expon(),
    "accuracy": stats.beta(8, 2),
}
THRESHOLD, TARGET = 0.7, 0.9  # probabilities at which threshold and target lie


def truth(distribution):
    """The statistics of a distribution by numerical integration of its inverse CDF, and of the functions of it."""
    threshold, target = distribution.ppf([THRESHOLD, TARGET])

    def between(low, high):
        return integrate.quad(distribution.ppf, low, high)[0] / (high - low)

    return {
        "score_mean": distribution.mean(),
        "score_median": distribution.median(),
        "score_std": distribution.std(),
        "iqm": between(0.25, 0.75),
        **{f"cvar {level:g}": between(level, 1) for level in LEVELS},
        **{f"cvar_lower {level:g}": between(0, 1 - level) for level in LEVELS},
        "partial_mean_above": between(THRESHOLD, 1) * (1 - THRESHOLD),
        "prob_above": 1 - THRESHOLD,
        "optimality_gap": target - between(0, TARGET) * TARGET - target * (1 - TARGET),
    }


def sample(distribution, n, n_samples, seed=0):
    """Samples as tasks."""
    values = distribution.rvs(size=(n_samples, n), random_state=np.random.default_rng([seed, n]))
    return xr.DataArray(values, {"task": np.arange(n_samples), "run": np.arange(n)}, ("task", "run"))


def describe(distribution, n, n_samples, **options):
    """The performance distributions of samples, without the warning that they are small."""
    threshold, target = distribution.ppf([THRESHOLD, TARGET])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return xcurves.performance_cdf(
            sample(distribution, n, n_samples), cvar_level=LEVELS, threshold=threshold, target=target, rng=0, **options
        )


def coverage(result, expected):
    """Share of samples whose interval of each statistic holds the truth."""
    bounds = result.statistic_ci.assign_coords(param=list(expected))
    wanted = xr.DataArray(list(expected.values()), {"param": list(expected)}, ("param",))
    slack = 1e-12
    held = (bounds.sel(ci_bound="lower") <= wanted + slack) & (bounds.sel(ci_bound="upper") >= wanted - slack)
    return held.mean("task").to_series()


def main():
    """Print Markdown: bootstrap coverage, 2,000 samples of each size and distribution."""
    rows = {}
    for interval in ("percentile", "bca"):
        for name, distribution in DISTRIBUTIONS.items():
            for n in (10, 30, 100):
                result = describe(distribution, n, 2_000, interval=interval, n_resamples=1_999)
                rows[interval, name, n] = coverage(result, truth(distribution))
    columns = list(next(iter(rows.values())).index)
    print("| interval | scores | n | " + " | ".join(columns) + " |")
    print("|" + "---|" * (3 + len(columns)))
    for (interval, name, n), row in rows.items():
        print(f"| {interval} | {name} | {n} | " + " | ".join(f"{value:.2f}".lstrip("0") for value in row) + " |")


if __name__ == "__main__":
    main()
