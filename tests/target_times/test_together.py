"""Intervals and p for all comparisons with the reference together, and the level of most of the rise."""

import itertools
import warnings

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xcurves

ALPHA = 0.05
NAMES = ["slow", "fast", "base", "same"]


def curves_of(rng, n_tasks=1, sd=0.04):
    """Return curves of four algorithms, two of one speed."""
    levels = np.arange(1, 13) / 12
    speed = np.array([0.7, 1.5, 1.0, 1.0])[:, np.newaxis] * rng.lognormal(0, 0.1, (n_tasks, 4, 1))
    mean = 1 - np.exp(-3 * speed * levels)
    noise = rng.normal(0, sd, (n_tasks, 4, 6, 1)) + rng.normal(0, sd / 4, (n_tasks, 4, 6, 12))
    coords = {
        "task": range(n_tasks),
        "algorithm": NAMES,
        "run": range(6),
        "training": levels,
    }
    return xr.DataArray(mean[:, :, np.newaxis] + noise, coords, list(coords))


def compared(curves, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return xcurves.speedup(curves, reference="base", rng=0, **options)


@pytest.mark.plain(1)
@pytest.mark.parametrize("options", [{}, {"target": 0.8}, {"target": 0.93}])
def test_intervals_for_all_together_are_those_at_the_level_over_their_number(options):
    curves = curves_of(np.random.default_rng(0))
    whole, wider = (compared(curves, confidence_level=level, **options) for level in (1 - ALPHA, 1 - ALPHA / 3))
    xr.testing.assert_allclose(
        whole["speedup_ci_simultaneous"],
        wider["speedup_ci"].drop_attrs(),
        check_dim_order=False,
    )
    two = compared(curves.sel(algorithm=["fast", "base"]), **options)
    np.testing.assert_allclose(two["speedup_ci_simultaneous"], two["speedup_ci"])


@pytest.mark.slow
def test_an_absent_algorithm_counts_for_nothing():
    curves = curves_of(np.random.default_rng(1))
    curves = curves.where(curves["algorithm"] != "same")
    found = compared(curves, target=0.8)
    wider = compared(curves, target=0.8, confidence_level=1 - ALPHA / 2)
    np.testing.assert_allclose(found["speedup_ci_simultaneous"], wider["speedup_ci"])


@pytest.mark.plain(1)
@pytest.mark.parametrize("target", [None, 0.8])
def test_intervals_over_tasks_are_at_the_level_over_the_number_of_algorithms(target):
    curves = curves_of(np.random.default_rng(2), n_tasks=9)
    whole = compared(curves, target=target, task="task")
    wider = compared(curves, target=target, task="task", confidence_level=1 - ALPHA / 3)
    np.testing.assert_allclose(whole["speedup_ci_simultaneous"], wider["speedup_ci"])


def min_p_of_loops(x):
    """Return adjusted p by step-down min-p over members, pairs (p, p of t) in lexicographic order: plain loops."""
    flips = [np.array(signs) for signs in itertools.product([1, -1], repeat=x.shape[1])]

    def statistic(row, signs):
        values = row * signs
        t = values.mean() / np.sqrt(row.var(ddof=0) + row.mean() ** 2 - values.mean() ** 2) * np.sqrt(len(row) - 1)
        return abs(values.sum()), 2 * stats.t.sf(abs(t), len(row) - 1)

    table = [[statistic(row, signs) for signs in flips] for row in x]
    shares = []
    for of_member in table:
        sums = np.array([size for size, _ in of_member])
        shares.append([(int((sums >= size - 1e-12).sum()), p_t) for size, p_t in of_member])
    observed = [of_member[0] for of_member in shares]
    order, adjusted, before = (
        sorted(range(len(x)), key=lambda k: observed[k]),
        [0.0] * len(x),
        0.0,
    )
    for place, k in enumerate(order):
        rest = order[place:]
        least = [min(shares[j][b] for j in rest) for b in range(len(flips))]
        n = sum(a < observed[k][0] or (a == observed[k][0] and t <= observed[k][1] * (1 + 1e-9)) for a, t in least)
        before = max(before, n / len(flips))
        adjusted[k] = before
    return adjusted


@pytest.mark.plain(1)
@pytest.mark.parametrize("seed", range(3))
def test_adjusted_p_over_tasks_is_that_of_loops_over_flips(seed):
    curves = curves_of(np.random.default_rng([3, seed]), n_tasks=7)
    found = compared(curves, target=0.8, task="task")
    logs = np.log(found["task_speedup"].transpose("algorithm", "task").to_numpy())
    np.testing.assert_allclose(found["pvalue_adjusted"].sel(task_effect="random"), min_p_of_loops(logs))


def test_with_a_task_that_bounds_the_ratio_on_one_side_adjusted_p_is_no_smaller():
    rng = np.random.default_rng(4)
    curves = curves_of(rng, n_tasks=8)
    short = curves.where((curves["task"] != 0) | (curves["algorithm"] != "slow") | (curves["training"] < 0.7))
    found = compared(short, target=0.8, task="task").sel(task_effect="random")
    assert found["n_censored"].sel(algorithm="slow") == 1
    assert (found["pvalue_adjusted"] >= found["pvalue"] - 1e-12).all()
    # later in every task
    assert found["pvalue_adjusted"].sel(algorithm="slow") <= ALPHA


def test_the_level_of_most_of_the_rise_is_a_target():
    curves = curves_of(np.random.default_rng(5)).isel(task=0, drop=True)
    found = compared(curves)
    base = curves.sel(algorithm="base").mean("run").to_numpy()
    assert found["rise_level"].item() == pytest.approx(base[0] + 0.9 * (base[-1] - base[0]))
    there = compared(curves, target=found["rise_level"].item())
    np.testing.assert_allclose(found["rise_speedup"], there["speedup"])
    np.testing.assert_allclose(found["rise_speedup_ci"], there["speedup_ci_simultaneous"])
    np.testing.assert_allclose(found["rise_time"], there["time"])
    assert found["rise_reference_time"].item() == pytest.approx(there["reference_time"].item())


@pytest.mark.slow
def test_the_level_of_most_of_the_rise_where_low_scores_are_good_and_where_nothing_rises():
    curves = curves_of(np.random.default_rng(6)).isel(task=0, drop=True)
    higher, lower = compared(curves), compared(-curves, higher_is_better=False)
    for name in ("rise_speedup", "rise_speedup_ci", "rise_time"):
        np.testing.assert_allclose(higher[name], lower[name])
    assert lower["rise_level"].item() == pytest.approx(-higher["rise_level"].item())
    falling = compared(-curves)
    assert all(falling[name].isnull().all() for name in ("rise_speedup", "rise_speedup_ci", "rise_level"))
    assert "rise_speedup" not in compared(curves, target=0.8)


@pytest.mark.plain(1)
@pytest.mark.parametrize("seed", range(4))
def test_profiles_have_intervals_for_all_pairs_together_that_leave_out_0_only_where_p_is_small(seed):
    rng = np.random.default_rng(seed)
    values = rng.lognormal(0, 0.5, (9, 3, 4)) * np.array([1.0, 1.6, 3.0])[:, np.newaxis]
    times = xr.DataArray(values, dims=("task", "algorithm", "run"), coords={"algorithm": list("abc")})
    profile = xcurves.performance_profile(times, rng=0)
    each = xcurves.performance_profile(times, confidence_level=1 - ALPHA / 3, rng=0)
    together = profile["difference_ci_simultaneous"]
    np.testing.assert_allclose(together, each["difference_ci"].sel(task_effect="random"), rtol=1e-12)
    low, high = together.transpose("ci_bound", "pair").values
    p = profile["pvalue_adjusted"].values
    assert (p[(low > 0) | (high < 0)] <= ALPHA + 1e-12).all()
    shown = {(pair["first"], pair["second"]): pair["shown"] for pair in profile.curves.to_dict()["pairs"]}
    assert sum(shown.values()) == (p <= ALPHA + 1e-12).sum() > 0
    best = str(profile["algorithm"][int(profile["score"].argmax("algorithm"))].item())
    assert profile.curves.summary().startswith(f"{best} has the highest score up to 4 times the best, ")
