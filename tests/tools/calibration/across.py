"""Claims over the tasks of a benchmark, beside what is done without them.

The procedures of others are written anew: per-task Mann-Whitney tests combined by Fisher or by Stouffer (with sign),
Wilcoxon's signed ranks over the tasks' mean differences, a z of the mean probability of improvement with its
asymptotic error, and intervals of a bootstrap of runs within tasks, as rliable makes them, of the probability of
improvement and of the difference of interquartile means, read as a test of their null.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import product

import numpy as np
import xarray as xr
from scipy import stats

import xcurves
from calibration.claims import (
    ALPHA,
    AT_MOST,
    EXACT,
    Simulation,
    fails,
    labelled,
    missed,
    near,
    outside,
)
from calibration.randomization import BLOCK
from xcurves.kernels.over_tasks import (
    family_means,
    task_effects,
    task_flips,
    task_plans,
)
from xcurves.kernels.resampling import plans

RESAMPLES = 199
# All flips of ten families, and deals enough for Holm's step over ten pairs.
ENOUGH = 1_024
BOOTSTRAPS = 299
OURS = ("fixed", "random", "P(X > Y), fixed", "P(X > Y), random")
OTHERS = (
    "Fisher",
    "Stouffer",
    "Wilcoxon",
    "pooled z",
    "bootstrap, P(X > Y)",
    "bootstrap, IQM",
)


def benchmarks(
    n_datasets,
    *,
    n_tasks=26,
    n_runs=5,
    shift=0.0,
    tau=0.0,
    turns=0.0,
    spread=1.0,
    scales=0.0,
    failing=0.0,
    skewed_runs=False,
    first_runs=None,
    rng,
):
    """Normal scores of two algorithms over tasks.

    The first is `shift` higher, by `tau` times a normal number more in each task, and by `turns` more and less in every
    other; its runs have `spread` times the sd; tasks have scales exp(`scales` normal); a share `failing` of its runs
    scores 6 lower, and the others so much higher that means are equal. `skewed_runs`: runs are exponential, of mean 0.
    The first has `first_runs`, if they are given.
    """
    size = (n_datasets, n_tasks, 2, n_runs)
    values = rng.exponential(size=size) - 1 if skewed_runs else rng.normal(size=size)
    values[:, :, 0] *= spread
    if first_runs is not None:
        values[:, :, 0, first_runs:] = np.nan
    if failing:
        values[:, :, 0] += 6 * (failing - (rng.random((n_datasets, n_tasks, n_runs)) < failing))
    apart = shift + tau * rng.normal(size=(n_datasets, n_tasks)) + turns * np.resize([1, -1], n_tasks)
    values[:, :, 0] += apart[..., np.newaxis]
    values *= np.exp(scales * rng.normal(size=(n_datasets, n_tasks, 1, 1)))
    coords = {
        "task": np.arange(n_tasks),
        "algorithm": ["a", "b"],
        "run": np.arange(n_runs),
        "training": [1.0],
    }
    return labelled(values[..., np.newaxis], **coords)


def lognormal_benchmarks(n_datasets, *, n_tasks, n_runs, spread, rng):
    """Lognormal runs less their mean, exp(1/2), of two algorithms that are equal in every task."""
    size = (n_datasets, n_tasks, 2, max(n_runs))
    values = (rng.lognormal(size=size) - np.exp(0.5)) * np.array(spread)[:, np.newaxis]
    for algorithm, number in enumerate(n_runs):
        values[:, :, algorithm, number:] = np.nan
    coords = {
        "task": np.arange(n_tasks),
        "algorithm": ["a", "b"],
        "run": np.arange(max(n_runs)),
        "training": [1.0],
    }
    return labelled(values[..., np.newaxis], **coords)


def claims_of_pairs(data, *, rng=None):
    """The p of both claims, by the kernels alone: what `across_tasks` finds besides takes nearly all of its time."""
    values = data.isel(training=0).to_numpy()
    n_tasks = values.shape[1]
    x, y = (of_algorithm[..., ~np.isnan(of_algorithm[0, 0])] for of_algorithm in np.moveaxis(values, 2, 0))
    n_runs = ((x.shape[-1], y.shape[-1]),) * n_tasks
    deals = task_plans.plan_deals(n_runs, RESAMPLES, entropy=rng)
    weights = np.full(n_tasks, 1 / n_tasks)
    fixed = task_effects.task_effect_tests(x, y, weights, deals, (), ranks=False)
    of_tasks, _ = task_effects.task_differences(x, y, paired=False)
    flips = plans.plan_flips(n_tasks, RESAMPLES, rng)
    random, _ = task_flips.pvalues(weights * of_tasks[:, np.newaxis], flips, 0.05)
    return {
        "fixed": labelled(fixed["pvalue"]),
        "random": labelled(random[:, 0]),
    }


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
    p = stats.mannwhitneyu(x, y, axis=-1, method="exact").pvalue
    yield "Fisher", stats.chi2.sf(-2 * np.log(p).sum(axis=1), 2 * p.shape[1])
    z = np.sign(greater.mean(axis=(-1, -2)) - 0.5) * stats.norm.isf(p / 2)
    yield "Stouffer", 2 * stats.norm.sf(np.abs(z.sum(axis=1)) / np.sqrt(p.shape[1]))
    yield "Wilcoxon", stats.wilcoxon(x.mean(axis=-1) - y.mean(axis=-1), axis=1).pvalue
    variance = (greater.mean(axis=-1).var(axis=-1, ddof=1) + greater.mean(axis=-2).var(axis=-1, ddof=1)) / n
    theta = greater.mean(axis=(-1, -2)) - 0.5
    with np.errstate(divide="ignore"):
        yield (
            "pooled z",
            2 * stats.norm.sf(np.abs(theta.sum(axis=1)) / np.sqrt(variance.sum(axis=1))),
        )
    generator = np.random.default_rng(rng)
    rejected = np.array([bootstrapped(*each, generator) for each in zip(x, y, strict=True)])
    yield "bootstrap, P(X > Y)", 1.0 - rejected[:, 0]
    yield "bootstrap, IQM", 1.0 - rejected[:, 1]


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


def interactions(data, *, rng=None):
    """The p of a difference that varies over tasks."""
    found = xcurves.across_tasks(data, n_resamples=RESAMPLES, rng=rng)
    return {"interaction": found.interaction_pvalue.isel(pair=0, drop=True)}


def several(n_datasets, *, n_algorithms=5, n_tasks=20, n_runs=4, tau=0.5, rng):
    """Algorithms that differ in each task, but not on average."""
    values = rng.normal(size=(n_datasets, n_tasks, n_algorithms, n_runs, 1))
    values += tau * rng.normal(size=(n_datasets, n_tasks, n_algorithms, 1, 1))
    coords = {
        "task": np.arange(n_tasks),
        "algorithm": list("abcdefgh"[:n_algorithms]),
        "run": np.arange(n_runs),
    }
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


def along(
    n_datasets,
    *,
    n_tasks=16,
    n_runs=5,
    tau=0.5,
    n_algorithms=2,
    skewed_tasks=False,
    rng,
):
    """Dependent curves of algorithms that differ in each task, but not on average; `skewed_tasks`, exponentially."""
    values = rng.normal(size=(n_datasets, n_tasks, n_algorithms, n_runs, 8))
    for level in range(1, 8):
        values[..., level] = 0.7 * values[..., level - 1] + np.sqrt(0.51) * values[..., level]
    # the first alone, by as much at all levels: the difference is skewed
    if skewed_tasks:
        apart = rng.exponential(size=(n_datasets, n_tasks, 1, 1)) - 1
        values[:, :, 0] += tau * apart
    else:
        values += tau * rng.normal(size=(n_datasets, n_tasks, n_algorithms, 1, 8))
    coords = {
        "task": np.arange(n_tasks),
        "algorithm": list("abcdefgh"[:n_algorithms]),
        "run": np.arange(n_runs),
    }
    return labelled(values, **coords, training=np.arange(1.0, 9))


def any_fraction_of_any_pair(data, *, rng=None):
    """What the profile over tasks says of several equal algorithms."""
    found = xcurves.profile_across_tasks(data, fractions=8, n_resamples=ENOUGH, rng=rng)
    both = ["pair", "budget_fraction"]
    return {
        "any fraction of any pair": found.pvalue_adjusted.min(both),
        "any fraction of any pair, unadjusted": found.pvalue.min(both),
    }


def aggregate(data, *, groups=1, sizes=None, rng=None):
    """What the profile over tasks says of equal algorithms, tasks in families of one size or of these sizes."""
    n_tasks = data.sizes["task"]
    families = np.arange(n_tasks) // groups if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    found = xcurves.profile_across_tasks(data, fractions=8, task_groups=families, n_resamples=ENOUGH, rng=rng)
    found = found.isel(pair=0, drop=True)
    beyond = missed(found.difference_band, 0.0)
    return {
        "any fraction, step-down": found.pvalue_adjusted.min("budget_fraction"),
        "any fraction, unadjusted": found.pvalue.min("budget_fraction"),
        "band of the difference": beyond.min("budget_fraction"),
        "its band without its p": outside(((beyond == 0) & (found.pvalue_adjusted > 0.05)).any("budget_fraction")),
        "interval of one fraction": missed(found.difference_ci, 0.0).isel(budget_fraction=3, drop=True),
    }


def chances(data, *, n_resamples=ENOUGH, rng=None):
    """The smallest p of the probability of scoring higher, of any pair, and any place that a tie contradicts."""
    found = xcurves.across_tasks(data, n_resamples=n_resamples, rng=rng)
    known = {
        f"any pair, {claim}{how}": found[name].sel(task_effect=claim, drop=True).min("pair")
        for claim in ("random", "fixed")
        for name, how in (
            ("prob_greater_pvalue_adjusted", ""),
            ("prob_greater_pvalue", ", unadjusted"),
        )
    }
    return known | {
        "any place, random": outside((found.place_ci.sel(task_effect="random", ci_bound="lower") > 1).any("algorithm"))
    }


def best_of(n_datasets, *, ahead, **options):
    """Five algorithms, the last so much higher on average."""
    curves = several(n_datasets, **options)
    return curves + ahead * (curves.algorithm == curves.algorithm[-1])


def left_out(data, *, ahead, rng=None):
    """Whether the best, or any that ties, is not among those that may be; and whether any pair's interval misses."""
    found = xcurves.across_tasks(data, n_resamples=ENOUGH, rng=rng)
    best = found.may_be_best.isel(algorithm=slice(None) if ahead == 0 else [-1]) == 0
    apart = -ahead * (found.algorithm_b == data.algorithm[-1].item()).drop_vars(found.pair.coords)
    missing = missed(found.difference_ci_simultaneous, apart).min("pair")
    return {
        f"{what}{claim}": p.sel(task_effect=claim, drop=True)
        for what, p in (
            ("", outside(best.any("algorithm"))),
            ("intervals of all pairs, ", missing),
        )
        for claim in ("fixed", "random")
    }


def alone(n_datasets, *, n_tasks, ahead=0.0, scales=0.0, n_algorithms=5, rng):
    """Normal scores of one run in each task, tasks of scales exp(`scales` normal); the last is `ahead` higher."""
    values = rng.normal(size=(n_datasets, n_tasks, n_algorithms, 1, 1))
    values[:, :, -1] += ahead
    values *= np.exp(scales * rng.normal(size=(n_datasets, n_tasks, 1, 1, 1)))
    coords = {
        "task": np.arange(n_tasks),
        "algorithm": list("abcdefgh"[:n_algorithms]),
        "run": [0],
    }
    return labelled(values, **coords, training=[1.0])


def largest_t(x):
    """Adjusted p by step-down over the largest |T| of all flips, x of shape (data set, pair, task)."""
    signs = np.array(list(product((1, -1), repeat=x.shape[-1])))
    sums, squares = x @ signs.T, (x**2).sum(axis=-1, keepdims=True)
    ratio = sums**2 / squares
    order = np.argsort(-ratio[..., 0], axis=-1)
    ordered = np.take_along_axis(ratio, order[..., np.newaxis], axis=1)
    largest = np.maximum.accumulate(ordered[:, ::-1], axis=1)[:, ::-1]
    by_step = np.maximum.accumulate((largest >= ordered[..., :1] - 1e-10).mean(axis=-1), axis=-1)
    adjusted = np.empty(by_step.shape)
    np.put_along_axis(adjusted, order, by_step, axis=-1)
    return adjusted


def by_flips(data, *, ahead, rng=None):
    """The adjusted p of any pair, or of one of which the second is ahead, by the smallest p and by the largest |T|."""
    scores = data.transpose("replication", "algorithm", "task", "run", "training").to_numpy()[..., 0, 0]
    first, second = np.triu_indices(scores.shape[1], 1)
    x = scores[:, first] - scores[:, second]
    flips = plans.plan_flips(x.shape[-1], None)
    known = {
        "smallest p": task_flips.pvalues(x, flips, ALPHA)[1],
        "largest T": largest_t(x),
    }
    of = np.flatnonzero(second == scores.shape[1] - 1)[:1] if ahead else slice(None)
    return {name: xr.DataArray(p[:, of].min(axis=1), dims="replication") for name, p in known.items()}


def numbers_of(data):
    """Scores of both algorithms, shape (data set, task, run), and each task's difference with its squared error.

    Many data sets then are many pairs of one call of a kernel; a test has them beside `across_tasks`.
    """
    x, y = (data.sel(algorithm=name)[..., 0].transpose("replication", "task", "run").to_numpy() for name in "ab")
    return x, y, *task_effects.task_differences(x, y, paired=False)


def interval(ends):
    """Label ends of intervals of data sets."""
    return xr.DataArray(ends, {"ci_bound": ["lower", "upper"]}, ("replication", "ci_bound"))


def spreads_and_shares(data):
    """Intervals of the standard deviation over tasks, and of the share of tasks in which the first is better."""
    x, y, d, v = numbers_of(data)
    noise = task_effects.uncertainty(x, y, paired=False).sum(axis=-1)
    _, spread, _ = family_means.spread_of_truth(d, v, noise, ALPHA)
    positive, negative = np.count_nonzero(d > 0, axis=-1), np.count_nonzero(d < 0, axis=-1)
    return interval(spread), interval(family_means.share_positive(positive, negative, ALPHA)[1])


def between(data, *, tau, spread=1.0, shift=0.5, rng=None):
    """Whether intervals miss the standard deviation over tasks, and the share of tasks in which the first is better."""
    sd, share = spreads_and_shares(data)
    true = stats.norm.cdf(shift / np.sqrt(tau**2 + (1 + spread**2) / data.sizes["run"]))
    return {
        "standard deviation over tasks": missed(sd, tau),
        "share of tasks": missed(share, true),
    }


def skewed(n_datasets, *, n_tasks, n_runs, rng):
    """Two algorithms whose differences are exponential over tasks, of mean 0 and standard deviation 2."""
    curves = benchmarks(n_datasets, n_tasks=n_tasks, n_runs=n_runs, rng=rng)
    apart = xr.DataArray(
        2 * rng.exponential(size=(n_datasets, n_tasks)) - 2,
        dims=("replication", "task"),
    )
    return curves + apart * (curves.algorithm == "a")


def mean_differences(data, rng):
    """Intervals of the mean difference for tasks like these."""
    d = numbers_of(data)[2] / data.sizes["task"]
    plan = plans.plan_flips(d.shape[1], ENOUGH, rng)
    return interval(task_flips.flip_intervals(d, np.full(d.shape, 1 / d.shape[1]), plan, ALPHA)[0])


def between_skewed(data, *, rng=None):
    """Whether intervals miss where differences are skewed over tasks, and how often that of the mean lies below."""
    mean, (sd, share) = mean_differences(data, rng), spreads_and_shares(data)
    noise = np.sqrt(2 / data.sizes["run"])
    return {
        "mean difference, random": missed(mean, 0.0),
        "all of it too low": outside(mean.sel(ci_bound="upper", drop=True) < 0),
        "standard deviation over tasks": missed(sd, 2.0),
        "share of tasks": missed(share, stats.exponnorm.sf(0, 2 / noise, loc=-2, scale=noise)),
    }


def at_the_margin(data, *, margin, rng=None):
    """The p of being worse by no more than a margin, where the first is worse by just so much."""
    x, y, d, _ = numbers_of(data)
    weights, sizes = (
        np.full(d.shape, 1 / d.shape[1]),
        ((x.shape[2], y.shape[2]),) * d.shape[1],
    )
    deals = task_plans.plan_deals(sizes, ENOUGH, entropy=rng)
    flips = plans.plan_flips(d.shape[1], ENOUGH, rng)
    fixed = task_effects.task_effect_tests(x, y, weights[0], deals, ALPHA, margin=margin)["margin_pvalue"]
    random, _ = task_flips.flip_margins(weights * d, weights, flips, margin, ALPHA)
    return {name: xr.DataArray(p, dims="replication") for name, p in (("fixed", fixed), ("random", random))}


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
    pooled = np.sort(
        curves.transpose("replication", "task", ..., "training").to_numpy().reshape(-1, 8),
        axis=0,
    )
    n = len(pooled)
    return (
        pooled.mean(axis=0),
        pooled[n // 4 : n - n // 4].mean(axis=0),
        pooled[n // 2 :].mean(axis=0),
    )


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
    known = {
        name: missed(
            found.statistic_ci.sel(param=name, drop=True),
            xr.DataArray(values, dims="training"),
        )
        for name, values in zip(names, truth, strict=True)
    }
    with_none = xcurves.profile_across_tasks(
        xr.concat([data, data.assign_coords(algorithm=["c"])], "algorithm"),
        fractions=8,
        n_resamples=RESAMPLES,
        rng=rng,
    )
    curve = with_none.mean_curve_band.isel(algorithm=0, drop=True).rename(budget_fraction="training")
    of_curve = missed(curve.drop_vars("training"), xr.DataArray(truth[0], dims="training"))
    return {
        "mean curve": of_curve.min("training"),
        "mean": known["score_mean"].min("training"),
        "IQM": known["iqm"].min("training"),
        "CVaR of the best half": known["cvar 0.5"].min("training"),
    }


def _tests(setting, claims, *, family="Across tasks", **options):
    return Simulation(
        family,
        setting,
        partial(benchmarks, **options),
        partial(all_tests, rows=list(claims)),
        claims,
        30,
        2_000,
    )


def _claims(*claims):
    return dict(zip((*OURS, *OTHERS), claims, strict=True))


def _of_failing(*claims):
    """Of the mean difference only: the probability of scoring higher is another one than one half."""
    return dict(zip((*OURS[:2], *OTHERS[2:3]), claims, strict=True))


def _of_pairs(n_tasks, scales, claims, ahead=0.0):
    words = f"five algorithms, {n_tasks} tasks" + (f" of scales exp N(0, {scales:g})" if scales else "")
    family = "Across tasks, adjusted over pairs: random claim"
    if ahead:
        family = f"{family}, power"
        words = f"{words}, one of them {ahead:g} sd higher: one of its pairs"
    generator = partial(alone, n_tasks=n_tasks, scales=scales, ahead=ahead)
    test = partial(by_flips, ahead=ahead)
    rows = dict(zip(("smallest p", "largest T"), claims, strict=True))
    return Simulation(family, words, generator, test, rows, 200, 4_000)


def aggregate_pvalues(data, *, rng=None):
    """What the profile over tasks says of equal algorithms."""
    found = aggregate(data, rng=rng)
    return {row: found[row] for row in ("any fraction, step-down",)}


ROUGHLY = near(0.03, 0.07)
SIMULATIONS = [
    *(
        Simulation(
            "Across tasks, few and unlike runs: a difference that varies over tasks",
            f"no difference, 2 v 5 runs, sd 4 v 1, {n_tasks} tasks",
            partial(benchmarks, spread=4.0, first_runs=2, n_tasks=n_tasks),
            interactions,
            {"interaction": fails(0.06)},
            60,
            4_000,
        )
        for n_tasks in (10, 26)
    ),
    *(
        Simulation(
            "Across tasks, lognormal runs of unlike spread",
            f"no difference, 3 runs of sd 3 v 6 of sd 1, {n_tasks} tasks",
            partial(lognormal_benchmarks, n_tasks=n_tasks, n_runs=(3, 6), spread=(3.0, 1.0)),
            claims_of_pairs,
            {"fixed": fails(0.07), "random": near(0.05, 0.12)},
            short=1_000,
            block=BLOCK,
        )
        for n_tasks in (10, 26)
    ),
    *(
        _tests(
            f"no difference, exponential runs, sd 3 v 1, {n_tasks} × {n_runs}",
            {"fixed": near(0.04, 0.09), "random": near(0.03, 0.06)},
            skewed_runs=True,
            spread=3.0,
            n_tasks=n_tasks,
            n_runs=n_runs,
            family="Across tasks, skewed runs",
        )
        for n_tasks, n_runs in ((10, 3), (10, 5), (26, 5))
    ),
    *(
        Simulation(
            "Across tasks, along the budget, differences that are skewed over tasks",
            f"exponential, τ = 2, {n_tasks} tasks × 5",
            partial(along, n_tasks=n_tasks, tau=2.0, skewed_tasks=True),
            aggregate_pvalues,
            {"any fraction, step-down": near(0.05, 0.1)},
            60,
            2_000,
        )
        for n_tasks in (10, 16, 26)
    ),
    _tests(
        "no difference, 26 tasks × 5",
        _claims(
            EXACT,
            EXACT,
            EXACT,
            EXACT,
            AT_MOST,
            AT_MOST,
            AT_MOST,
            near(0.04, 0.08),
            near(0.04, 0.08),
            fails(0.055),
        ),
    ),
    _tests(
        "no difference, 10 × 3",
        _claims(
            EXACT,
            EXACT,
            AT_MOST,
            AT_MOST,
            AT_MOST,
            AT_MOST,
            AT_MOST,
            near(0.04, 0.1),
            fails(0.055),
            fails(0.07),
        ),
        n_tasks=10,
        n_runs=3,
    ),
    _tests(
        "scales lognormal(0.8), spread 3 v 1, 26 × 5",
        _claims(
            *(ROUGHLY, EXACT, ROUGHLY, AT_MOST),
            *(
                near(0.03, 0.09),
                near(0.03, 0.09),
                EXACT,
                near(0.05, 0.1),
                near(0.04, 0.09),
                fails(0.055),
            ),
        ),
        spread=3.0,
        scales=0.8,
    ),
    _tests(
        "each better on half of the tasks by 2, 26 × 5",
        _claims(
            ROUGHLY,
            AT_MOST,
            ROUGHLY,
            AT_MOST,
            fails(0.9),
            AT_MOST,
            AT_MOST,
            ROUGHLY,
            near(0.03, 0.09),
            near(0, 0.12),
        ),
        turns=2.0,
    ),
    _tests(
        "tasks drawn anew, τ = 1, 26 × 5",
        _claims(
            *(fails(0.2), EXACT, fails(0.2), AT_MOST),
            *(fails(0.9), fails(0.1), AT_MOST, fails(0.1), fails(0.2), fails(0.2)),
        ),
        tau=1.0,
    ),
    _tests(
        "26 × 5",
        _of_failing(ROUGHLY, ROUGHLY, near(0.03, 0.08)),
        failing=0.1,
        family="Across tasks, a tenth of the seeds of one fails, equal means",
    ),
    _tests(
        "10 × 3",
        _of_failing(near(0.05, 0.11), near(0.04, 0.09), near(0.03, 0.09)),
        failing=0.1,
        n_tasks=10,
        n_runs=3,
        family="Across tasks, a tenth of the seeds of one fails, equal means",
    ),
    _tests(
        "a difference of 0.6 sd, τ = 1, 26 × 5",
        {"fixed": near(0.9, 0.96), "random": near(0.67, 0.75)},
        shift=0.6,
        tau=1.0,
        family="Across tasks, power",
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
            (
                "one difference, 0.6, in all of 26 tasks × 5",
                near(0.03, 0.07),
                {"shift": 0.6},
            ),
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
            "Across tasks, a difference that varies over tasks",
            setting,
            partial(benchmarks, **options),
            interactions,
            {"interaction": claim},
            60,
        )
        for setting, claim, options in (
            ("no difference, 26 × 5", EXACT, {}),
            ("one difference of 2 sd, 26 × 5", EXACT, {"shift": 2.0}),
            (
                "one difference of 2 sd, 10 × 3",
                ROUGHLY,
                {"shift": 2.0, "n_tasks": 10, "n_runs": 3},
            ),
            ("no difference, spread 3 v 1, 26 × 5", near(0.05, 0.08), {"spread": 3.0}),
        )
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
                "band of the difference": near(0.033, 0.054),
                "its band without its p": AT_MOST,
                "interval of one fraction": EXACT,
            },
            200,
        )
        for setting, n_tasks, groups in (
            ("16 tasks × 5", 16, 1),
            ("32 tasks × 5 in 16 families", 32, 2),
        )
    ),
    *(
        Simulation(
            "Across tasks, bands for these tasks",
            f"{n_tasks} tasks × {n_runs}",
            partial(on_fixed_tasks, n_tasks=n_tasks, n_runs=n_runs),
            bands,
            dict(
                zip(
                    ("mean curve", "mean", "IQM", "CVaR of the best half"),
                    claims,
                    strict=True,
                )
            ),
            short,
            2_000,
        )
        for n_tasks, n_runs, short, claims in (
            (26, 5, 20, (near(0.02, 0.07), near(0, 0.06), near(0, 0.1), near(0, 0.1))),
            (10, 5, 40, (near(0.02, 0.07), near(0, 0.06), near(0, 0.1), near(0, 0.1))),
            (10, 3, 60, (near(0.02, 0.07), near(0, 0.06), near(0, 0.1), near(0, 0.1))),
        )
    ),
    *(
        Simulation(
            "Across tasks, along the budget, families unlike in weight",
            setting,
            partial(along, n_tasks=sum(sizes)),
            partial(aggregate, sizes=sizes),
            {
                "any fraction, step-down": near(0.0, 0.07),
                "any fraction, unadjusted": fails(0.02),
                "band of the difference": AT_MOST,
                "its band without its p": AT_MOST,
                "interval of one fraction": EXACT,
            },
            200,
        )
        for setting, sizes in (
            ("families of 10 and nine of 1", (10, *[1] * 9)),
            ("families of 5, 3, 2, 2 and six of 1", (5, 3, 2, 2, *[1] * 6)),
            ("families of 20, 20 and sixty of 1", (20, 20, *[1] * 60)),
        )
    ),
    *(
        Simulation(
            "Across tasks, P(X > Y) and ranks of five algorithms",
            setting,
            partial(several, **options),
            partial(chances, n_resamples=n_resamples),
            {
                "any pair, random": near(0.04, 0.05),
                "any pair, random, unadjusted": fails(0.2),
                "any pair, fixed": fixed,
                "any pair, fixed, unadjusted": fails(0.25),
                "any place, random": near(0.03, 0.05),
            },
            30,
            1_000,
            50,
        )
        for setting, fixed, n_resamples, options in (
            (
                "no difference, 10 × 5",
                AT_MOST,
                ENOUGH,
                {"tau": 0.0, "n_tasks": 10, "n_runs": 5},
            ),
            (
                "no difference, 10 × 5, 199 reassignments",
                AT_MOST,
                199,
                {"tau": 0.0, "n_tasks": 10, "n_runs": 5},
            ),
            (
                "tasks drawn anew, τ = 1, 20 × 4",
                fails(0.3),
                ENOUGH,
                {"tau": 1.0, "n_tasks": 20, "n_runs": 4},
            ),
        )
    ),
    *(
        Simulation(
            "Across tasks, may be best: left out",
            setting,
            partial(best_of, ahead=ahead, tau=0.0, n_tasks=10, n_runs=5),
            partial(left_out, ahead=ahead),
            dict.fromkeys(
                (
                    *OURS[:2],
                    *(f"intervals of all pairs, {claim}" for claim in OURS[:2]),
                ),
                AT_MOST,
            ),
            30,
        )
        for setting, ahead in (
            ("five tied, 10 × 5", 0.0),
            ("one ahead by 0.2 sd, 10 × 5", 0.2),
        )
    ),
    *(
        Simulation(
            "Across tasks, how much and how often",
            setting,
            partial(benchmarks, shift=0.5, tau=tau, spread=spread, **options),
            partial(between, tau=tau, spread=spread),
            {"standard deviation over tasks": AT_MOST, "share of tasks": AT_MOST},
            30,
        )
        for setting, tau, spread, options in (
            ("τ = 1, 26 × 5", 1.0, 1.0, {}),
            ("τ = 1, 26 × 5, spread 3 v 1", 1.0, 3.0, {}),
            ("τ = 0.5, 10 × 4", 0.5, 1.0, {"n_tasks": 10, "n_runs": 4}),
        )
    ),
    *(
        Simulation(
            "Across tasks, differences skewed over tasks",
            f"exponential, {n_tasks} × {n_runs}",
            partial(skewed, n_tasks=n_tasks, n_runs=n_runs),
            between_skewed,
            {
                "mean difference, random": near(0.05, 0.17),
                "all of it too low": near(0.05, 0.17),
                "standard deviation over tasks": near(0.055, 0.25),
                "share of tasks": AT_MOST,
            },
            60,
        )
        for n_tasks, n_runs in ((10, 3), (16, 5), (26, 5))
    ),
    *(
        Simulation(
            "Across tasks, not worse by more than a margin",
            setting,
            partial(benchmarks, shift=-0.5, **options),
            partial(at_the_margin, margin=0.5),
            {"fixed": fixed, "random": EXACT},
            100,
            block=50,
        )
        for setting, fixed, options in (
            ("worse by the margin, 10 × 5", AT_MOST, {"n_tasks": 10}),
            (
                "worse by the margin, 10 × 5, spread 3 v 1",
                near(0.03, 0.08),
                {"n_tasks": 10, "spread": 3.0},
            ),
        )
    ),
    *(_of_pairs(n_tasks, scales, (AT_MOST, AT_MOST)) for n_tasks in (6, 8, 12) for scales in (0.0, 1.5)),
    *(
        _of_pairs(n_tasks, scales, (near(*least_p), near(*largest)), ahead=1.5)
        for n_tasks, scales, least_p, largest in (
            (6, 0.0, (0.07, 0.13), (0.07, 0.13)),
            (6, 1.5, (0.03, 0.08), (0.03, 0.08)),
            (8, 0.0, (0.2, 0.3), (0.22, 0.33)),
            (8, 1.5, (0.17, 0.26), (0.06, 0.13)),
            (12, 0.0, (0.57, 0.67), (0.57, 0.67)),
            (12, 1.5, (0.38, 0.48), (0.17, 0.26)),
        )
    ),
    Simulation(
        "Across tasks, profile over pairs",
        "five algorithms, no difference, 10 × 3",
        partial(along, n_tasks=10, n_runs=3, n_algorithms=5),
        any_fraction_of_any_pair,
        {
            "any fraction of any pair": AT_MOST,
            "any fraction of any pair, unadjusted": fails(0.3),
        },
        30,
        1_000,
    ),
]
