"""Claims over the tasks of a benchmark, beside what is done without them.

The procedures of others are written anew: per-task Mann-Whitney tests combined by Fisher or by Stouffer (with sign),
Wilcoxon's signed ranks over the tasks' mean differences, a z of the mean probability of improvement with its
asymptotic error, and intervals of a bootstrap of runs within tasks, as rliable makes them, of the probability of
improvement and of the difference of interquartile means, read as a test of their null.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import combinations

import numpy as np
import xarray as xr
from scipy import stats

import xcurves
from calibration.claims import AT_MOST, EXACT, Simulation, fails, labelled, missed, near

RESAMPLES = 199
BOOTSTRAPS = 299
OURS = ("fixed", "random", "P(X > Y), fixed", "P(X > Y), random")
OTHERS = ("Fisher", "Stouffer", "Wilcoxon", "pooled z", "bootstrap, P(X > Y)", "bootstrap, IQM")


def benchmarks(
    n_datasets, *, n_tasks=26, n_runs=5, shift=0.0, tau=0.0, turns=0.0, spread=1.0, scales=0.0, failing=0.0, rng
):
    """Normal scores of two algorithms over tasks.

    The first is `shift` higher, by `tau` times a normal number more in each task, and by `turns` more and less in every
    other; its runs have `spread` times the sd; tasks have scales exp(`scales` normal); a share `failing` of its runs
    scores 6 lower, and the others so much higher that means are equal.
    """
    values = rng.normal(size=(n_datasets, n_tasks, 2, n_runs))
    values[:, :, 0] *= spread
    if failing:
        values[:, :, 0] += 6 * (failing - (rng.random((n_datasets, n_tasks, n_runs)) < failing))
    apart = shift + tau * rng.normal(size=(n_datasets, n_tasks)) + turns * np.resize([1, -1], n_tasks)
    values[:, :, 0] += apart[..., np.newaxis]
    values *= np.exp(scales * rng.normal(size=(n_datasets, n_tasks, 1, 1)))
    coords = {"task": np.arange(n_tasks), "algorithm": ["a", "b"], "run": np.arange(n_runs), "training": [1.0]}
    return labelled(values[..., np.newaxis], **coords)


def all_tests(data, *, rows, rng=None):
    """The p-values of this package and of others."""
    found = xcurves.across_tasks(data, n_resamples=RESAMPLES, rng=rng).isel(pair=0, drop=True)
    known = {
        f"{words}{claim}": found[name].sel(task_effect=claim, drop=True)
        for words, name in (("", "pvalue"), ("P(X > Y), ", "prob_greater_pvalue"))
        for claim in ("fixed", "random")
    }
    values = data.transpose("replication", "task", "algorithm", "run", "training").to_numpy()[..., 0]
    wanted = {name for name in OTHERS if name in rows}
    for name, p in of_others(values[:, :, 0], values[:, :, 1], rng):
        known[name] = xr.DataArray(p, dims="replication")
        if wanted <= set(known):
            break
    return {row: known[row] for row in rows}


def of_others(x, y, rng):
    """Yield the p-values of others, from scores of shape (data set, task, run)."""
    greater = (x[..., :, np.newaxis] > y[..., np.newaxis, :]).astype(float)
    n = x.shape[-1]
    places = greater.sum(axis=(-1, -2)).astype(int)
    p = mann_whitney(n)[places]
    yield "Fisher", stats.chi2.sf(-2 * np.log(p).sum(axis=1), 2 * p.shape[1])
    z = np.sign(places - n * n / 2) * stats.norm.isf(p / 2)
    yield "Stouffer", 2 * stats.norm.sf(np.abs(z.sum(axis=1)) / np.sqrt(p.shape[1]))
    yield "Wilcoxon", stats.wilcoxon(x.mean(axis=-1) - y.mean(axis=-1), axis=1).pvalue
    variance = (greater.mean(axis=-1).var(axis=-1, ddof=1) + greater.mean(axis=-2).var(axis=-1, ddof=1)) / n
    theta = greater.mean(axis=(-1, -2)) - 0.5
    with np.errstate(divide="ignore"):
        yield "pooled z", 2 * stats.norm.sf(np.abs(theta.sum(axis=1)) / np.sqrt(variance.sum(axis=1)))
    generator = np.random.default_rng(rng)
    rejected = np.array([bootstrapped(*each, generator) for each in zip(x, y, strict=True)])
    yield "bootstrap, P(X > Y)", 1.0 - rejected[:, 0]
    yield "bootstrap, IQM", 1.0 - rejected[:, 1]


@lru_cache
def mann_whitney(n):
    """Return the two-sided exact p of every number of pairs in which the first is greater, by enumeration."""
    places = np.array([sum(chosen) - n * (n - 1) // 2 for chosen in combinations(range(2 * n), n)])
    far = np.abs(places - n * n / 2)
    return np.array([(far >= abs(count - n * n / 2) - 1e-9).mean() for count in range(n * n + 1)])


def bootstrapped(x, y, generator):
    """Return whether 95 % intervals of P(X > Y) and of the difference of IQM leave out what no difference gives."""
    n_tasks, n = x.shape
    rows = np.arange(n_tasks)[:, np.newaxis]
    first, second = (each[rows, generator.integers(n, size=(BOOTSTRAPS, n_tasks, n))] for each in (x, y))
    theta = (first[..., :, np.newaxis] > second[..., np.newaxis, :]).mean(axis=(1, 2, 3)) + (
        (first[..., :, np.newaxis] == second[..., np.newaxis, :]).mean(axis=(1, 2, 3)) / 2
    )
    cut = n_tasks * n // 4
    iqm = [
        np.sort(each.reshape(BOOTSTRAPS, -1), axis=1)[:, cut : n_tasks * n - cut].mean(axis=1)
        for each in (first, second)
    ]
    ends = [np.quantile(drawn, [0.025, 0.975]) for drawn in (theta - 0.5, iqm[0] - iqm[1])]
    return [low > 0 or high < 0 for low, high in ends]


def intervals(data, *, shift=0.0, rng=None):
    """Whether intervals miss the mean difference over all tasks that there are."""
    found = xcurves.across_tasks(data, n_resamples=RESAMPLES, rng=rng).isel(pair=0, drop=True)
    return {
        claim: missed(found.difference_ci.sel(task_effect=claim, drop=True), shift) for claim in ("fixed", "random")
    }


def several(n_datasets, *, n_algorithms=5, n_tasks=20, n_runs=4, tau=0.5, rng):
    """Algorithms that differ in each task, but not on average."""
    values = rng.normal(size=(n_datasets, n_tasks, n_algorithms, n_runs, 1))
    values += tau * rng.normal(size=(n_datasets, n_tasks, n_algorithms, 1, 1))
    coords = {"task": np.arange(n_tasks), "algorithm": list("abcdefgh"[:n_algorithms]), "run": np.arange(n_runs)}
    return labelled(values, **coords, training=[1.0])


def any_pair(data, *, rng=None):
    """The smallest p of any pair."""
    found = xcurves.across_tasks(data, n_resamples=RESAMPLES, rng=rng)
    p, unadjusted = (found[name].min("pair") for name in ("pvalue_adjusted", "pvalue"))
    return {
        "any pair, random, step-down": p.sel(task_effect="random", drop=True),
        "any pair, random, unadjusted": unadjusted.sel(task_effect="random", drop=True),
        "any pair, fixed, Holm": p.sel(task_effect="fixed", drop=True),
    }


def along(n_datasets, *, n_tasks=16, n_runs=5, tau=0.5, rng):
    """Dependent curves of two algorithms that differ in each task, but not on average."""
    values = rng.normal(size=(n_datasets, n_tasks, 2, n_runs, 8))
    for level in range(1, 8):
        values[..., level] = 0.7 * values[..., level - 1] + np.sqrt(0.51) * values[..., level]
    values += tau * rng.normal(size=(n_datasets, n_tasks, 2, 1, 8))
    coords = {"task": np.arange(n_tasks), "algorithm": ["a", "b"], "run": np.arange(n_runs)}
    return labelled(values, **coords, training=np.arange(1.0, 9))


def aggregate(data, *, groups=1, rng=None):
    """What the profile over tasks says of equal algorithms."""
    families = np.arange(data.sizes["task"]) // groups
    found = xcurves.profile_across_tasks(data, fractions=8, task_groups=families, n_resamples=RESAMPLES, rng=rng)
    return {
        "any fraction, step-down": found.pvalue_adjusted.isel(pair=0, drop=True).min("budget_fraction"),
        "any fraction, unadjusted": found.pvalue.isel(pair=0, drop=True).min("budget_fraction"),
        "band of the difference": missed(found.difference_band, 0.0).isel(pair=0, drop=True).min("budget_fraction"),
    }


def on_fixed_tasks(n_datasets, *, n_tasks, n_runs, rng):
    """Dependent curves of one algorithm on the same tasks, of unlike mean and spread, in all data sets."""
    tasks = np.random.default_rng(7)
    curves = along(n_datasets, n_tasks=n_tasks, n_runs=n_runs, tau=0.0, rng=rng).isel(algorithm=[0])
    means, spreads = tasks.normal(size=n_tasks), tasks.uniform(0.25, 0.75, n_tasks)
    rise = np.linspace(0, 1, 8) * tasks.lognormal(0, 0.3, (n_tasks, 1))
    return curves * xr.DataArray(spreads, dims="task") + xr.DataArray(
        means[:, np.newaxis] + rise, dims=("task", "training")
    )


@lru_cache
def true_statistics(n_tasks):
    """Return mean, IQM and mean of the best half of very many runs of those tasks."""
    curves = on_fixed_tasks(20_000, n_tasks=n_tasks, n_runs=1, rng=np.random.default_rng(0))
    pooled = np.sort(curves.transpose("replication", "task", ..., "training").to_numpy().reshape(-1, 8), axis=0)
    n = len(pooled)
    return pooled.mean(axis=0), pooled[n // 4 : n - n // 4].mean(axis=0), pooled[n // 2 :].mean(axis=0)


def bands(data, *, rng=None):
    """Whether bands along training miss the statistics of those tasks."""
    found = xcurves.performance_cdf(
        data.isel(algorithm=0, drop=True),
        dim=("task", "run"),
        strata="task",
        interval="percentile",
        probabilities=[0.5],
        simultaneous="training",
        n_resamples=RESAMPLES,
        rng=rng,
    )
    truth = true_statistics(data.sizes["task"])
    names = ("score_mean", "iqm", "cvar 0.5")
    ends = {name: found.statistic_ci.sel(param=name, drop=True) for name in names}
    known = {
        name: missed(ends[name], xr.DataArray(values, dims="training")).where(ends[name].notnull().all("ci_bound"), 1)
        for name, values in zip(names, truth, strict=True)
    }
    with_none = xcurves.profile_across_tasks(
        xr.concat([data, data.assign_coords(algorithm=["c"])], "algorithm"), fractions=8, n_resamples=RESAMPLES, rng=rng
    )
    curve = with_none.mean_curve_band.isel(algorithm=0, drop=True).rename(budget_fraction="training")
    of_curve = missed(curve.drop_vars("training"), xr.DataArray(truth[0], dims="training"))
    return {
        "mean curve": of_curve.min("training"),
        "mean": known["score_mean"].min("training"),
        "IQM": known["iqm"].min("training"),
        "CVaR of the best half": known["cvar 0.5"].min("training"),
    }


def _tests(family, setting, claims, *, short=30, **options):
    return Simulation(
        family, setting, partial(benchmarks, **options), partial(all_tests, rows=list(claims)), claims, short, 2_000
    )


def _claims(*claims):
    return dict(zip((*OURS, *OTHERS), claims, strict=True))


def _of_failing(*claims):
    """Of the mean difference only: the probability of scoring higher is another one than one half."""
    return dict(zip((*OURS[:2], *OTHERS[2:3]), claims, strict=True))


ROUGHLY = near(0.03, 0.07)
SIMULATIONS = [
    _tests(
        "Across tasks",
        "no difference, 26 tasks × 5",
        _claims(
            EXACT, EXACT, EXACT, EXACT, AT_MOST, AT_MOST, AT_MOST, near(0.04, 0.08), near(0.04, 0.08), fails(0.055)
        ),
    ),
    _tests(
        "Across tasks",
        "no difference, 10 × 3",
        _claims(EXACT, EXACT, EXACT, EXACT, AT_MOST, AT_MOST, AT_MOST, near(0.05, 0.1), fails(0.055), fails(0.07)),
        n_tasks=10,
        n_runs=3,
    ),
    _tests(
        "Across tasks",
        "scales lognormal(0.8), spread 3 v 1, 26 × 5",
        _claims(
            *(ROUGHLY, EXACT, ROUGHLY, EXACT),
            *(near(0.03, 0.09), near(0.03, 0.09), EXACT, near(0.05, 0.1), near(0.04, 0.09), fails(0.055)),
        ),
        spread=3.0,
        scales=0.8,
    ),
    _tests(
        "Across tasks",
        "each better on half of the tasks by 2, 26 × 5",
        _claims(
            ROUGHLY, AT_MOST, ROUGHLY, AT_MOST, fails(0.9), AT_MOST, AT_MOST, ROUGHLY, near(0.03, 0.09), near(0, 0.12)
        ),
        turns=2.0,
    ),
    _tests(
        "Across tasks",
        "tasks drawn anew, τ = 1, 26 × 5",
        _claims(
            *(fails(0.2), EXACT, fails(0.2), EXACT),
            *(fails(0.9), fails(0.1), AT_MOST, fails(0.1), fails(0.2), fails(0.2)),
        ),
        tau=1.0,
    ),
    _tests(
        "Across tasks, a tenth of the seeds of one fails, equal means",
        "26 × 5",
        _of_failing(ROUGHLY, ROUGHLY, near(0.03, 0.08)),
        failing=0.1,
    ),
    _tests(
        "Across tasks, a tenth of the seeds of one fails, equal means",
        "10 × 3",
        _of_failing(near(0.05, 0.11), near(0.04, 0.09), near(0.03, 0.09)),
        failing=0.1,
        n_tasks=10,
        n_runs=3,
    ),
    _tests(
        "Across tasks, power",
        "a difference of 0.6 sd, τ = 1, 26 × 5",
        {"fixed": near(0.9, 0.96), "random": near(0.67, 0.75)},
        shift=0.6,
        tau=1.0,
    ),
    *(
        Simulation(
            "Across tasks, intervals of the mean difference",
            setting,
            partial(benchmarks, **options),
            partial(intervals, shift=options.get("shift", 0.0)),
            {"fixed": fixed, "random": near(0.03, 0.07)},
            30,
            2_000,
        )
        for setting, fixed, options in (
            ("one difference, 0.6, in all of 26 tasks × 5", near(0.03, 0.07), {"shift": 0.6}),
            (
                "one difference, 10 × 3, spread 3 v 1",
                near(0.03, 0.1),
                {"shift": 0.6, "n_tasks": 10, "n_runs": 3, "spread": 3.0},
            ),
            ("tasks drawn anew, τ = 1, 26 × 5", fails(0.2), {"shift": 0.6, "tau": 1.0}),
        )
    ),
    Simulation(
        "Across tasks, five algorithms",
        "no mean difference, τ = 0.5, 20 tasks × 4",
        several,
        any_pair,
        {
            "any pair, random, step-down": EXACT,
            "any pair, random, unadjusted": fails(0.15),
            "any pair, fixed, Holm": fails(0.1),
        },
        20,
        2_000,
    ),
    *(
        Simulation(
            "Across tasks, along the budget",
            setting,
            partial(along, n_tasks=n_tasks),
            partial(aggregate, groups=groups),
            {
                "any fraction, step-down": near(0.04, 0.07),
                "any fraction, unadjusted": fails(0.15),
                "band of the difference": claim,
            },
            200,
            2_000,
        )
        for setting, n_tasks, groups, claim in (
            ("16 tasks × 5", 16, 1, near(0.03, 0.06)),
            ("32 tasks × 5 in 16 families", 32, 2, near(0.03, 0.08)),
        )
    ),
    *(
        Simulation(
            "Across tasks, bands for these tasks",
            f"{n_tasks} {'task' if n_tasks == 1 else 'tasks'} × {n_runs}",
            partial(on_fixed_tasks, n_tasks=n_tasks, n_runs=n_runs),
            bands,
            dict(zip(("mean curve", "mean", "IQM", "CVaR of the best half"), claims, strict=True)),
            short,
            2_000,
        )
        for n_tasks, n_runs, short, claims in (
            (26, 5, 20, (near(0.02, 0.07), near(0, 0.06), near(0, 0.1), near(0, 0.1))),
            (10, 5, 40, (near(0.02, 0.07), near(0, 0.06), near(0, 0.1), near(0, 0.1))),
            (10, 3, 60, (near(0.02, 0.07), near(0, 0.06), near(0, 0.1), near(0, 0.1))),
            (1, 10, 100, (near(0.02, 0.07), near(0, 0.06), fails(0.07), fails(0.07))),
        )
    ),
]
