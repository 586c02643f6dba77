"""The short form: every claim, over fewer data sets, within 99.9 % binomial bounds."""

import numpy as np
import pytest

import xcurves
from calibration import across, chances, items
from calibration.claims import EXACT, count_of, fails
from calibration.suite import SIMULATIONS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda each: f"{each.family}: {each.setting}")
def test_claims_hold(simulation):
    if not simulation.possible:
        pytest.skip("no published curves beside the repository")
    measured = simulation.measure(simulation.short)
    found = {row: count_of(measured, row) for row in simulation.claims}
    wrong = {row: found[row] for row, claim in simulation.claims.items() if not claim.allows(*found[row])}
    assert not wrong, f"rejections of data sets, claimed {simulation.claims}: {wrong}"


def test_a_wrong_level_would_be_seen():
    assert EXACT.allows(100, 2000)
    assert not EXACT.allows(140, 2000)
    assert not EXACT.allows(65, 2000)
    assert not fails(0.1).allows(100, 2000)


def test_many_data_sets_in_one_call_of_a_kernel_give_the_numbers_of_each():
    data = across.benchmarks(3, n_tasks=10, shift=-0.5, rng=np.random.default_rng(0))
    found = xcurves.across_tasks(data, margin=0.5, n_resamples=across.ENOUGH, rng=7).isel(pair=0)
    sd, share = across.spreads_and_shares(data)
    for ends, name in ((sd, "task_sd_ci"), (share, "share_better_ci")):
        np.testing.assert_allclose(ends, found[name], rtol=1e-12)
    random = found.difference_ci.sel(task_effect="random")
    np.testing.assert_allclose(across.mean_differences(data, 7), random, rtol=1e-12)
    for claim, p in across.at_the_margin(data, margin=0.5, rng=7).items():
        assert (p.to_numpy() == found.margin_pvalue.sel(task_effect=claim).to_numpy()).all()


def test_chances_that_kernels_find_without_intervals_are_those_of_the_result():
    data = chances.studies(5, differences=None, rng=np.random.default_rng(3))
    said, shown = chances.said_and_shown(data, 7)
    found = xcurves.sequential(data, n_looks=chances.N_LOOKS, n_resamples=chances.RESAMPLES, rng=7).isel(pair=0)
    np.testing.assert_array_equal(said, found.chance[:, :-1])
    np.testing.assert_array_equal(shown, found.rejected[:, -1] == 1)


@pytest.mark.parametrize("options", [{}, {"sizes": (3,) * 40}, {"usual": 0.02}])
def test_models_of_items_are_as_far_ahead_as_is_taken_for_true(options):
    data = items.answers(800, n_items=120, n_answers=3, lead=0.4, **options, rng=np.random.default_rng(2))
    usual, clustered = options.get("usual", 0.6), "sizes" in options
    for place, lead in ((0, 0.0), (-1, 0.4)):
        one = data.isel(algorithm=place, training=0)
        errors = one.mean(["item", "run"]).std(ddof=1) / np.sqrt(800)
        assert abs(one.mean() - items.accuracy(usual, lead, clustered=clustered)) < 4 * errors
    once = data.isel(algorithm=-1, training=0).max("run").mean("item")
    if not clustered:
        assert abs(once.mean() - items.accuracy(usual, 0.4, 3)) < 4 * once.std(ddof=1) / np.sqrt(800)


def test_a_lead_on_the_same_items_is_that_of_many_answers():
    data = items.answers(400, n_items=50, n_answers=20, lead=0.3, same_items=True, rng=np.random.default_rng(2))
    shares = data.isel(training=0).mean(["item", "run"])
    apart = shares.isel(algorithm=-1) - shares.isel(algorithm=0)
    assert abs(apart.mean() - items.lead_on_these(50, 4, 0.6, 0.3)) < 4 * apart.std(ddof=1) / np.sqrt(400)


def test_claims_are_made_once():
    names = [(each.family, each.setting, row) for each in SIMULATIONS for row in each.claims]
    assert len(set(names)) == len(names)
