"""Claims of the intervals of a performance distribution."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import xarray as xr
from scipy import integrate, stats

import xcurves
from calibration.claims import (
    AT_MOST,
    EXACT,
    Simulation,
    fails,
    labelled,
    missed,
    near,
    outside,
)
from xcurves.kernels.distributions import ecdf

CVAR = [0.5, 0.9]
DISTRIBUTIONS = {
    "normal": stats.norm(),
    "exponential": stats.expon(),
    "accuracy": stats.beta(8, 2),
    "die": stats.randint(1, 7),
}
THRESHOLD, TARGET = 0.7, 0.9  # probabilities at which threshold and target lie
PROBABILITIES = np.array([0.02, 0.25, 0.5, 0.9])


def truth(distribution):
    """The statistics of a distribution by numerical integration of its inverse CDF, and of the functions of it."""
    target = distribution.ppf(TARGET)

    def between(low, high):
        return integrate.quad(distribution.ppf, low, high)[0] / (high - low)

    return {
        "score_mean": distribution.mean(),
        "score_median": distribution.median(),
        "score_std": distribution.std(),
        "iqm": between(0.25, 0.75),
        **{f"cvar {level:g}": between(level, 1) for level in CVAR},
        **{f"cvar_lower {level:g}": between(0, 1 - level) for level in CVAR},
        "partial_mean_above": between(THRESHOLD, 1) * (1 - THRESHOLD),
        "prob_above": 1 - THRESHOLD,
        "optimality_gap": target - between(0, TARGET) * TARGET - target * (1 - TARGET),
    }


STATISTICS = tuple(truth(DISTRIBUTIONS["normal"]))
WITH_BOUNDS = tuple(name for name in STATISTICS if name not in ("score_std", "partial_mean_above"))


def samples(n_datasets, *, distribution, n, rng):
    """Samples of n scores."""
    return labelled(
        DISTRIBUTIONS[distribution].rvs(size=(n_datasets, n), random_state=rng),
        run=np.arange(n),
    )


def exact(data, *, distribution, rng=None):
    """Exact intervals of F and F⁻¹, each worst of a few places, and the band."""
    law = DISTRIBUTIONS[distribution]
    z = law.ppf(PROBABILITIES)
    at = np.unique(z)
    found = xcurves.performance_cdf(data, scores_at=at, probabilities=PROBABILITIES)
    cdf = xr.DataArray(law.cdf(at), dims="score")
    rows = {
        f"F at its {p:g} quantile": missed(found.cdf_ci.isel(score=i), cdf[i])
        for p, i in ((0.25, np.searchsorted(at, z[1])), (0.9, len(at) - 1))
    }
    rows |= {
        f"{p:g} quantile": missed(found.score_quantile_ci.isel(probability=i), z[i])
        for i, p in enumerate(PROBABILITIES)
    }
    grid = np.unique(law.ppf(np.linspace(0.001, 0.999, 100)))
    band = xcurves.performance_cdf(data, scores_at=grid, probabilities=0.5).cdf_band
    inside = missed(band, xr.DataArray(law.cdf(grid), dims="score"))
    return rows | {"band, everywhere": inside.min("score")}


def pairs_of(n_datasets, *, distribution, n, rng):
    """Two samples of n scores of one distribution."""
    drawn = DISTRIBUTIONS[distribution].rvs(size=(n_datasets, 2, n), random_state=rng)
    return labelled(drawn.astype(float), algorithm=["a", "b"], run=np.arange(n))


def everywhere(data, *, distribution, rng=None):
    """Bands that hold everywhere at once: of F at its jumps, and of the best of 1 to 100 trials."""
    law, trials = DISTRIBUTIONS[distribution], np.arange(1, 101)
    low, high = law.support()
    x = np.sort(data.isel(algorithm=0).to_numpy())
    limits = ecdf.band(x.shape[-1], 0.05)
    # F just below each score
    below = law.cdf(x - 1) if distribution == "die" else law.cdf(x)
    beyond = (law.cdf(x) < limits.lower[1:] - 1e-12) | (below > limits.upper[:-1] + 1e-12)
    found = xcurves.tuning_curve(data, n_trials=100, bounds=(low, high)).squeeze("pair", drop=True)
    median = xr.DataArray(law.ppf(0.5 ** (1 / trials)), dims="trials")
    steps = np.linspace(low, high, 20_001 if distribution != "die" else 6)
    at = np.diff(steps) * law.cdf((steps[1:] + steps[:-1]) / 2) ** trials[:, np.newaxis]
    mean = xr.DataArray(high - at.sum(axis=-1), dims="trials")
    match = xr.DataArray(
        [trials[median.to_numpy() >= each][0] for each in median.to_numpy()],
        dims="trials",
    )
    one = found.isel(algorithm=0, drop=True)
    return {
        "F": xr.DataArray(outside(beyond.any(axis=-1)), dims="replication"),
        "median best of k, all k": missed(one.best_median_band, median).min("trials"),
        "mean best of k, all k": missed(one.best_mean_band, mean).min("trials"),
        "difference of medians, all k": missed(found.difference_band, 0.0).min("trials"),
        "trials to match, all k": missed(found.trials_to_match_ci, match).min("trials"),
        "median best of 10": missed(one.best_median_ci, median).isel(trials=9),
    }


def statistics(data, *, distribution, rows, rng=None, **options):
    """Intervals of statistics."""
    law = DISTRIBUTIONS[distribution]
    threshold, target = law.ppf([THRESHOLD, TARGET])
    found = xcurves.performance_cdf(data, cvar_level=CVAR, threshold=threshold, target=target, rng=rng, **options)
    bounds = found.statistic_ci.assign_coords(param=list(STATISTICS))
    expected = truth(law)
    return {row: missed(bounds.sel(param=row, drop=True), expected[row]) for row in rows}


def percentile_bands(data, *, distribution, rng=None):
    """Bootstrap intervals of F and F⁻¹ at a few places, and of the conditional CVaR of the paper."""
    law = DISTRIBUTIONS[distribution]
    z = law.ppf(PROBABILITIES)
    options = {
        "scores_at": z,
        "probabilities": PROBABILITIES,
        "interval": "percentile",
        "n_resamples": 199,
        "rng": rng,
    }
    found = xcurves.performance_cdf(data, **options, cvar="conditional", cvar_level=0.5)
    rows = {
        f"F at its {PROBABILITIES[i]:g} quantile": missed(found.cdf_ci.isel(score=i), law.cdf(z[i])) for i in (1, 3)
    }
    rows |= {
        f"{PROBABILITIES[i]:g} quantile": missed(found.score_quantile_ci.isel(probability=i), z[i]) for i in (1, 2, 3)
    }
    conditional = found.statistic_ci.sel(param="cvar 0.5", drop=True)
    return rows | {"cvar 0.5, conditional": missed(conditional, truth(law)["cvar 0.5"])}


def _percentile(n, claims):
    make = partial(samples, distribution="normal", n=n)
    procedure = partial(percentile_bands, distribution="normal")
    return Simulation(
        "Distribution, percentile bands",
        f"normal, n = {n}",
        make,
        procedure,
        claims,
        short=300,
    )


def _exact(distribution, n):
    rows = (
        "F at its 0.25 quantile",
        "F at its 0.9 quantile",
        *(f"{p:g} quantile" for p in PROBABILITIES),
        "band, everywhere",
    )
    make = partial(samples, distribution=distribution, n=n)
    return Simulation(
        "Distribution, exact",
        f"{distribution}, n = {n}",
        make,
        partial(exact, distribution=distribution),
        dict.fromkeys(rows, AT_MOST),
        short=500,
    )


def _everywhere(distribution, n):
    rows = (
        *(
            "F",
            "median best of k, all k",
            "mean best of k, all k",
            "difference of medians, all k",
        ),
        *("trials to match, all k", "median best of 10"),
    )
    make = partial(pairs_of, distribution=distribution, n=n)
    claims = dict.fromkeys(rows, AT_MOST) | ({} if distribution == "die" else {"F": EXACT})
    procedure = partial(everywhere, distribution=distribution)
    return Simulation(
        "Distribution, bands everywhere",
        f"{distribution}, n = {n}",
        make,
        procedure,
        claims,
        short=500,
    )


def _statistics(family, distribution, n, claims, short=1_000, **options):
    return Simulation(
        family,
        f"{distribution}, n = {n}",
        partial(samples, distribution=distribution, n=n),
        partial(statistics, distribution=distribution, rows=list(claims), **options),
        claims,
        short=short,
    )


BOOTSTRAP = {  # by the number of trials: plainly too short from ten, and for tails always
    "score_mean": {10: fails(0.06), 30: near(0.045, 0.1), 100: near(0.045, 0.08)},
    "score_median": {10: near(0.03, 0.09), 30: near(0.03, 0.08), 100: near(0.03, 0.07)},
    "score_std": {10: fails(0.12), 30: fails(0.06), 100: near(0.045, 0.17)},
    "iqm": {10: near(0.03, 0.09), 30: near(0.04, 0.08), 100: near(0.04, 0.07)},
    "cvar 0.5": {10: fails(0.08), 30: near(0.05, 0.13), 100: near(0.04, 0.09)},
    "cvar 0.9": {10: fails(0.55), 30: fails(0.2), 100: fails(0.06)},
    "cvar_lower 0.5": {
        10: near(0.07, 0.19),
        30: near(0.045, 0.11),
        100: near(0.04, 0.09),
    },
    "cvar_lower 0.9": {10: fails(0.5), 30: fails(0.15), 100: fails(0.055)},
    "partial_mean_above": {
        10: near(0.03, 0.16),
        30: near(0.04, 0.1),
        100: near(0.03, 0.09),
    },
    "prob_above": {10: near(0.01, 0.06), 30: near(0.02, 0.08), 100: near(0.02, 0.06)},
    "optimality_gap": {
        10: near(0.07, 0.13),
        30: near(0.04, 0.09),
        100: near(0.04, 0.08),
    },
}


def _bootstrap(interval, distribution, n):
    claims = {name: BOOTSTRAP[name][n] for name in STATISTICS}
    family = f"Distribution, {'BCa' if interval == 'bca' else interval} bootstrap"
    return _statistics(family, distribution, n, claims, short=500, interval=interval, n_resamples=499)


def units(n_datasets, *, rng):
    """Forty draws of hyper-parameters with five trials each, nearly equal: 200 trials are worth about forty."""
    values = rng.normal(size=(n_datasets, 40, 1)) + 0.3 * rng.normal(size=(n_datasets, 40, 5))
    return labelled(values, draw=np.arange(40), run=np.arange(5))


def of_units(data, *, rng=None):
    """The mean's interval with and without its unit."""
    options = {
        "dim": ("draw", "run"),
        "interval": "percentile",
        "n_resamples": 399,
        "rng": rng,
        "probabilities": 0.5,
    }
    return {
        f"mean, unit={unit!r}": missed(
            xcurves.performance_cdf(data, **options, unit=unit).statistic_ci.sel(param="score_mean", drop=True),
            0.0,
        )
        for unit in (("draw", "run"), "draw")
    }


def tasks(n_datasets, *, rng):
    """26 tasks that differ by three times the spread of their ten runs."""
    values = 3 * rng.normal(size=(n_datasets, 26, 1)) + rng.normal(size=(n_datasets, 26, 10))
    return labelled(values, task=np.arange(26), run=np.arange(10))


def of_a_pool(data, *, rng=None):
    """The exact interval of the median of all tasks, where all trials are taken for independent."""
    found = xcurves.performance_cdf(data, dim=("task", "run"), unit=("task", "run"), probabilities=0.5)
    return {"median, unit=('task', 'run')": missed(found.statistic_ci.sel(param="score_median", drop=True), 0.0)}


def one_group(n_datasets, *, law, n, rng):
    """Runs of one algorithm at eight levels, alike along training; of "failing" ones 15 % stay at 0."""
    shape = (n_datasets, n, 8)
    steps = {
        "exponential": rng.exponential,
        "normal": rng.normal,
        "failing": rng.normal,
    }[law](size=shape)
    values = steps.cumsum(axis=-1) / np.sqrt(np.arange(1, 9))
    if law == "failing":
        values = np.where(rng.random((n_datasets, n, 1)) < 0.15, 0.0, 10 + values)
    return labelled(values, run=np.arange(n), training=np.arange(8.0))


@cache
def truth_of_group(law):
    """Mean and IQM at each level of very many runs."""
    x = np.sort(
        one_group(1, law=law, n=400_000, rng=np.random.default_rng(0)).to_numpy()[0],
        axis=0,
    )
    return x.mean(axis=0), x[100_000:300_000].mean(axis=0)


def along_training(data, *, law, rng=None):
    """Whether bands along training from one group of runs miss anywhere."""
    options = {
        "interval": "percentile",
        "simultaneous": "training",
        "n_resamples": 199,
        "probabilities": 0.5,
    }
    ends = xcurves.performance_cdf(data, **options, rng=rng).statistic_ci.drop_vars("training")
    truth = [xr.DataArray(each, dims="training") for each in truth_of_group(law)]
    return {
        name: missed(ends.sel(param=param, drop=True), each).min("training")
        for name, param, each in zip(("mean", "IQM"), ("score_mean", "iqm"), truth, strict=True)
    }


def in_tasks(n_datasets, *, n_runs, n_tasks=26, rng):
    """Two algorithms on tasks of normal scores, so many runs each."""
    values = rng.normal(size=(n_datasets, 2, n_tasks, n_runs))
    return labelled(values, algorithm=["a", "b"], task=np.arange(n_tasks), run=np.arange(n_runs))


def of_strata(data, *, rng=None):
    """Bootstrap intervals within strata."""
    pool = {"dim": ("task", "run"), "strata": "task", "n_resamples": 199, "rng": rng}
    one = xcurves.performance_cdf(data.isel(algorithm=0), **pool, interval="percentile", probabilities=0.5)
    both = xcurves.compare_distributions(data, **pool).squeeze("pair", drop=True)
    rows = {
        name: missed(one.statistic_ci.sel(param=param, drop=True), 0.0)
        for name, param in (("mean", "score_mean"), ("IQM", "iqm"))
    }
    return rows | {"P(X > Y)": missed(both.prob_greater_ci, 0.5)}


BOOTSTRAPPED = [
    _bootstrap(interval, distribution, n)
    for interval in ("percentile", "bca")
    for distribution in ("normal", "exponential", "accuracy")
    for n in (10, 30, 100)
]
BANDS = {  # by the number of trials
    "F at its 0.25 quantile": {10: near(0.04, 0.11), 100: near(0.03, 0.09)},
    "F at its 0.9 quantile": {10: fails(0.25), 100: near(0.03, 0.12)},
    "0.25 quantile": {10: near(0.04, 0.11), 100: near(0.03, 0.09)},
    "0.5 quantile": {10: near(0.03, 0.09), 100: near(0.03, 0.09)},
    "0.9 quantile": {10: fails(0.25), 100: near(0.03, 0.12)},
    "cvar 0.5, conditional": {10: fails(0.15), 100: near(0.03, 0.12)},
}
SIMULATIONS = [
    *(_exact(distribution, n) for distribution in DISTRIBUTIONS for n in (10, 30, 100)),
    *(_everywhere(distribution, n) for distribution in ("accuracy", "die") for n in (5, 20, 100)),
    *(
        _statistics(
            "Distribution, bounds [0, 1]",
            "accuracy",
            n,
            dict.fromkeys(WITH_BOUNDS, AT_MOST),
            bounds=(0, 1),
        )
        for n in (10, 30, 100)
    ),
    *(
        _statistics(
            "Distribution, no bounds",
            "exponential",
            n,
            dict.fromkeys(WITH_BOUNDS, AT_MOST),
        )
        for n in (10, 100)
    ),
    *BOOTSTRAPPED,
    *(_percentile(n, {row: claims[n] for row, claims in BANDS.items()}) for n in (10, 100)),
    Simulation(
        "Distribution, bootstrap of units",
        "40 draws of 5 trials",
        units,
        of_units,
        {
            "mean, unit=('draw', 'run')": fails(0.3),
            "mean, unit='draw'": near(0.045, 0.09),
        },
        short=300,
    ),
    *(
        Simulation(
            "Distribution, bands along training from one group",
            f"{law}, {n} runs",
            partial(one_group, law=law, n=n),
            partial(along_training, law=law),
            claims,
            short=200,
        )
        for law, n, claims in (
            ("normal", 10, {"mean": near(0.01, 0.08), "IQM": near(0.04, 0.13)}),
            ("exponential", 10, {"mean": near(0.07, 0.18), "IQM": near(0.06, 0.18)}),
            ("failing", 10, {"mean": fails(0.15), "IQM": near(0.02, 0.1)}),
        )
    ),
    Simulation(
        "Distribution, a pool of tasks",
        "26 tasks of 10 runs, exact interval",
        tasks,
        of_a_pool,
        {"median, unit=('task', 'run')": fails(0.4)},
        short=300,
    ),
    *(
        Simulation(
            "Distribution, bootstrap in strata",
            f"26 tasks, {n} runs each",
            partial(in_tasks, n_runs=n),
            of_strata,
            claims,
            short=200,
            full=10_000,
            block=100,
        )
        for n, claims in (
            (2, {"mean": fails(0.13), "IQM": fails(0.12), "P(X > Y)": fails(0.07)}),
            (
                3,
                {"mean": fails(0.08), "IQM": fails(0.08), "P(X > Y)": near(0.05, 0.12)},
            ),
            (
                5,
                {
                    "mean": near(0.05, 0.11),
                    "IQM": near(0.05, 0.11),
                    "P(X > Y)": near(0.04, 0.09),
                },
            ),
            (
                10,
                {
                    "mean": near(0.04, 0.1),
                    "IQM": near(0.04, 0.1),
                    "P(X > Y)": near(0.04, 0.09),
                },
            ),
        )
    ),
]
