"""Scores far from zero: F is that of exact arithmetic, or the scores are refused by name with a cure that works."""

import re
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from strategies import make_curves

M, L, K = 3, 4, 6  # algorithms, runs, levels


def scores(offset):
    effects = np.arange(M)[:, np.newaxis, np.newaxis]
    return make_curves(np.random.default_rng(0).normal(size=(M, L, K)) + effects + offset)


def exact_f(curves):
    """Return F of algorithm and interaction over the pooled error, and of algorithm over runs, by exact fractions."""
    x = {place: Fraction(value) for place, value in np.ndenumerate(curves.to_numpy())}
    cells = list(product(range(M), range(K)))

    def mean(values):
        values = list(values)
        return sum(values) / len(values)

    grand = mean(x.values())
    of_algorithm = [mean(x[i, h, j] for h in range(L) for j in range(K)) for i in range(M)]
    of_level = [mean(x[i, h, j] for i in range(M) for h in range(L)) for j in range(K)]
    of_cell = {(i, j): mean(x[i, h, j] for h in range(L)) for i, j in cells}
    of_run = {(i, h): mean(x[i, h, j] for j in range(K)) for i in range(M) for h in range(L)}
    ss_algorithm = L * K * sum((each - grand) ** 2 for each in of_algorithm)
    ss_interaction = L * sum((of_cell[i, j] - of_algorithm[i] - of_level[j] + grand) ** 2 for i, j in cells)
    ss_error = sum((x[i, h, j] - of_cell[i, j]) ** 2 for i, h, j in x)
    ss_runs = K * sum((of_run[i, h] - of_algorithm[i]) ** 2 for i, h in of_run)
    error = ss_error / (M * K * (L - 1))
    algorithm = ss_algorithm / (M - 1)
    return [
        float(algorithm / error),
        float(ss_interaction / ((M - 1) * (K - 1)) / error),
        float(algorithm / (ss_runs / (M * (L - 1)))),
    ]


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e10, 1e12, 1e13, -1e13])
def test_far_from_zero_f_is_that_of_exact_arithmetic(offset):
    curves = scores(offset)
    f = xcurves.randomized_anova(curves, n_resamples=99, rng=0).f
    found = [f[0, 0].item(), f[1, 0].item(), f[0, 1].item()]
    np.testing.assert_allclose(found, exact_f(curves), rtol=1e-6)


METHODS = {
    "randomized_anova": lambda curves: xcurves.randomized_anova(curves, n_resamples=99, rng=0),
    "pairwise": lambda curves: xcurves.pairwise(curves, n_resamples=99, rng=0),
    "contrast": lambda curves: xcurves.contrast(curves, {"a0": 1, "a1": -1}, n_resamples=99, rng=0),
    "sequential": lambda curves: xcurves.sequential(curves.curves.assign_looks(2), n_looks=2, n_resamples=99),
    "mean_time_to_target": lambda curves: xcurves.mean_time_to_target(curves, curves.mean().item()),
    "performance_cdf": lambda curves: xcurves.performance_cdf(curves.isel(training=-1, drop=True), rng=0),
    "compare_distributions": lambda curves: xcurves.compare_distributions(curves.isel(training=-1, drop=True), rng=0),
    "gate": lambda curves: xcurves.gate(curves.isel(training=-1, drop=True), baseline="a0"),
}


@pytest.mark.plain(8)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("offset", [1e14, -5e14, 3e15])
def test_scores_that_differ_in_their_last_digits_are_refused_and_the_cure_works(method, offset):
    curves = scores(offset)
    call = METHODS[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with refused(
            "curves", cure="Subtract what they share", names=r"in their last digits only\. Subtract what they share: "
        ) as caught:
            call(curves)
        name, cure = re.search(r"share: (\w+) - (.*)$", str(caught.value)).groups()
        shifted = eval(f"{name} - {cure}", {name: curves})
        assert call(shifted).sizes


@pytest.mark.parametrize("method", ["across_tasks", "profile_across_tasks", "speedup"])
def test_of_tasks_each_has_its_own_scale(method):
    tasks = xr.concat([scores(0.0), scores(1e15)], "task").assign_coords(task=["near", "far"])
    options = {"reference": "a0"} if method == "speedup" else {}
    with refused(
        "curves",
        cure="Subtract what they share: curves - curves.min(['algorithm'",
        names=r"^task 'far': curves has scores of 1e\+15 that differ by",
    ) as caught:
        getattr(xcurves, method)(tasks, rng=0, **options)
    cure = re.search(r"share: (.*)$", str(caught.value))[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert getattr(xcurves, method)(eval(cure, {"curves": tasks}), rng=0, **options).sizes


def test_equal_scores_and_gaps_are_no_matter_of_scale():
    equal = scores(0.0) * 0 + 5e15
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert xcurves.pairwise(equal, n_resamples=99, rng=0).difference.isin([0, np.nan]).all()
        gaps = xr.concat([scores(0.0), scores(0.0) * np.nan], "task").assign_coords(task=["full", "none"])
        assert xcurves.pairwise(gaps, n_resamples=99, rng=0).sizes["task"] == 2


def test_the_range_is_that_of_all_scores_not_of_the_first():
    curves = scores(1e15)
    curves[:, :, -1] = 0.0  # the first scores of each dim alone look as if they were in their last digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert xcurves.pairwise(curves, n_resamples=99, rng=0).sizes


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e10, 1e12, 1e13])
def test_the_deviation_of_trials_far_from_zero_is_that_of_exact_arithmetic(offset):
    trials = make_curves(np.random.default_rng(0).normal(size=(1, 50, 1)) + offset).isel(training=0, drop=True)
    exact = [Fraction(value) for value in trials.to_numpy().ravel()]
    mean = sum(exact) / len(exact)
    expected = float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)) ** 0.5
    assert xcurves.performance_cdf(trials, rng=0).score_std.item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("high", [1e-320, 5e-324])
def test_references_whose_difference_lost_its_digits_are_refused(high):
    with refused(
        "", cure="Rescale scores and references", names=r"high - low has lost digits.*Rescale scores and references"
    ):
        xcurves.normalize(scores(0.0), low=0.0, high=high)
