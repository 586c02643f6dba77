"""The expected runs of a test that is looked at several times, against a plain loop over its looks."""

from functools import partial

import numpy as np
import pytest
import xarray as xr

import xcurves
from experiments import studies
from strategies import make_curves

ALPHA = 0.1


def drawn(n_datasets, *, n_runs, gap=1.5, n_algorithms=3, rng):
    values = rng.normal(size=(n_datasets, n_algorithms, n_runs, 1))
    values[:, 0] += gap
    return make_curves(values, replication=np.arange(n_datasets))


def looked(curves, rng=None):
    n_looks = curves.sizes["run"] // 4
    batches = xcurves.assign_looks(curves, 4)
    return xcurves.sequential(batches, n_looks=n_looks, n_resamples=199, repeated_intervals=False, rng=rng)


def by_hand(result, name):
    """Rejections at the last look and runs until decided, look after look."""
    rejected, runs = [], []
    for one in (result.isel(replication=i) for i in range(result.sizes["replication"])):
        shown = one[name].transpose("pair", "look").to_numpy() <= ALPHA + 1e-12
        rejected.append(shown[:, -1])
        for algorithm in one.algorithm.to_numpy():
            mine = [p for p, pair in enumerate(one.pair.to_numpy()) if str(algorithm) in pair.split(" - ")]
            taken = 0
            for k in range(shown.shape[1]):
                taken += 4
                if shown[mine, k].all():
                    break
            runs.append(taken)
    return np.mean(rejected, axis=0), np.mean(runs)


@pytest.mark.plain(1)
@pytest.mark.parametrize("pvalue", ["pvalue", "pvalue_adjusted"])
def test_power_and_expected_runs_are_those_of_a_loop_over_looks(pvalue):
    seen = []

    def test(curves, rng=None):
        seen.append(looked(curves, rng))
        return seen[-1]

    draw = partial(drawn, n_runs=12)
    found = studies.rejection_rates(draw, test, n_replications=30, alpha=ALPHA, pvalue=pvalue, rng=0)
    rate, runs = by_hand(xr.concat(seen, "replication", data_vars="minimal"), pvalue)
    assert found.rate.dims == ("pair",)
    np.testing.assert_allclose(found.rate, rate)
    assert found.expected_runs.item() == pytest.approx(runs)
    assert 4 < runs < 12
    assert studies.rates_table(found)["expected runs"].tolist() == [found.expected_runs.item()] * 3


@pytest.mark.slow
def test_a_plan_for_several_looks_names_the_most_and_the_expected_runs():
    pilots = drawn(1, n_runs=40, gap=2.0, n_algorithms=2, rng=np.random.default_rng(0)).isel(replication=0, drop=True)
    plan = pilots.curves.runs_needed(test=looked, n_runs=[8, 12, 16], n_replications=40, power=0.7, rng=0)
    assert plan.expected_runs.dims == ("n_runs",)
    assert (plan.expected_runs <= plan.n_runs).all()
    assert (plan.expected_runs > 4).all()
    needed = plan.runs_needed.item()
    taken = plan.expected_runs.sel(n_runs=needed).item()
    assert f"{needed:g} runs per algorithm at most, {taken:.3g} on average, detect" in plan.curves.summary()
    assert plan.curves.to_frame()["expected_runs"].tolist() == plan.expected_runs.to_numpy().tolist()


def test_a_test_of_one_look_has_no_expected_runs():
    test = partial(xcurves.randomized_anova, n_resamples=19)
    assert "expected_runs" not in studies.rejection_rates(
        partial(studies.autoregressive, n_runs=6), test, n_replications=2, rng=0
    )
