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


def in_strata(n_runs, n_samples=2_000, n_tasks=26):
    """Coverage of the bootstrap within strata: tasks of normal scores, so many runs each."""
    rng = np.random.default_rng([n_runs, n_tasks])
    pool = {"dim": ("task", "run"), "strata": "task", "n_resamples": 999, "rng": 0}
    dims, algorithms = ("sample", "algorithm", "task", "run"), {"algorithm": ["a", "b"]}
    scores = xr.DataArray(rng.normal(size=(n_samples, 2, n_tasks, n_runs)), algorithms, dims)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ci = xcurves.performance_cdf(
            scores.isel(algorithm=0), **pool, interval="percentile", probabilities=0.5
        ).statistic_ci
        greater = xcurves.compare_distributions(scores, **pool).prob_greater_ci.squeeze("pair")
    held = {name: holds(ci.sel(param=param), 0) for name, param in (("mean", "score_mean"), ("IQM", "iqm"))}
    return held | {"prob_greater": holds(greater, 0.5)}


def of_unequal_spread(m, n, spread, n_samples=4_000):
    """Coverage of Newcombe's interval: m normal scores with this standard deviation against n with 1."""
    rng = np.random.default_rng([m, n, spread])
    values = rng.normal(size=(n_samples, 2, max(m, n))) * [[spread], [1]]
    for place, size in enumerate((m, n)):
        values[:, place, size:] = np.nan
    scores = xr.DataArray(values, {"algorithm": ["a", "b"]}, ("sample", "algorithm", "run"))
    return holds(xcurves.compare_distributions(scores).prob_greater_ci.squeeze("pair"), 0.5)


def holds(interval, expected):
    """Share of intervals that hold a value."""
    low, high = (interval.sel(ci_bound=bound) for bound in ("lower", "upper"))
    return ((low <= expected) & (high >= expected)).mean().item()


def print_table(rows):
    """Print rows, each a dict, as Markdown."""
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        said = (value if isinstance(value, int) else f"{value:.2f}".lstrip("0") for value in row.values())
        print("| " + " | ".join(map(str, said)) + " |")


def main():
    """Print Markdown: coverage in strata, with unequal spread, and of the bootstrap by size and distribution."""
    print_table([{"runs of each task": n, **in_strata(n)} for n in (2, 3, 5, 10)])
    sizes = (10, 10), (30, 30), (10, 100), (5, 50), (100, 10)
    columns = {"N(0, 1) v N(0, 1)": 1, "N(0, 10) v N(0, 1)": 10}
    print_table(
        [{"m": m, "n": n, **{name: of_unequal_spread(m, n, s) for name, s in columns.items()}} for m, n in sizes]
    )
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
