import dask
import numpy as np
import pytest
import xarray as xr

import xcurves
from lazy import refuse_to_compute
from oracles_distribution import statistics_of_strata
from refusals import refused
from xcurves.core.refusal import call, give
from xcurves.kernels.distributions import bootstrap
from xcurves.kernels.distributions.ecdf import CentredSums
from xcurves.kernels.distributions.summaries import Summaries

SETTINGS = {
    "dim": ("task", "run"),
    "strata": "task",
    "interval": "percentile",
    "n_resamples": 299,
    "rng": 0,
}


def make(n_tasks=6, n_runs=5, n_levels=4, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(2, n_tasks, n_runs, n_levels)).cumsum(axis=-1) + 3 * rng.normal(size=(n_tasks, 1, 1))
    dims = ("algorithm", "task", "run", "training")
    return xr.DataArray(values, {"algorithm": ["a", "b"], "training": range(n_levels)}, dims)


def banded(curves, **options):
    return xcurves.performance_cdf(curves, **{**SETTINGS, "simultaneous": "training", **options})


def test_the_band_is_that_of_a_plain_loop():
    """Enumerates nothing: draws the same signs, and takes each replicate by itself."""
    x = make(3, 4, 2).isel(algorithm=0).to_numpy()  # (task, run, level)
    n, size = 199, 12
    signs = 1 - 2.0 * np.random.default_rng(np.random.SeedSequence(7, spawn_key=(size, 3))).integers(
        0, 2, (n, 1, size), np.int8
    ).reshape(n, 3, 4, 1)
    means = x.mean(axis=1, keepdims=True)
    residual = (x - means) * np.sqrt(4 / 3)

    def iqm(values):
        return np.sort(values.reshape(-1, values.shape[-1]), axis=0)[3:-3].mean(axis=0)

    drawn = np.array([iqm(means + sign * residual) for sign in signs])
    spread = [
        np.sqrt(
            (((s * residual) - (s * residual).mean(axis=1, keepdims=True)) ** 2).sum((0, 1)) / (residual**2).sum((0, 1))
        )
        for s in signs
    ]
    sd = drawn.std(axis=0)
    largest = np.sort((np.abs(drawn - drawn.mean(axis=0)) / (sd * spread)).max(axis=1))
    half = largest[int(np.ceil(0.95 * 200)) - 1] * sd
    wanted = Summaries(np.array([0.5]), False, np.zeros(0), np.zeros(0), True)
    found = bootstrap.statistic_bands(
        x.reshape(12, 2).T,
        np.array([4, 4, 4]),
        lambda x: wanted.observe(np.sort(x), CentredSums(np.sort(x), np.full(len(x), 12))),
        n,
        0.05,
        7,
    )
    np.testing.assert_allclose(found[:, 3], np.stack([iqm(x) - half, iqm(x) + half], axis=-1), rtol=1e-10)


def test_the_band_of_unlike_strata_is_that_of_a_plain_loop():
    """Tasks weigh alike: in the IQM, and in the spread by which a replicate is measured."""
    sizes = (4, 2, 3)
    curves = make(3, 4, 2, seed=5).isel(algorithm=[0])
    curves = curves.where(xr.DataArray(np.arange(4), dims="run") < xr.DataArray(list(sizes), dims="task"))
    n = 199
    found = banded(curves, n_resamples=n, rng=7).statistic_ci.sel(param="iqm")

    entropy = 7
    signs = 1 - 2.0 * np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(9, 3))).integers(
        0, 2, (n, 1, 9), np.int8
    ).reshape(n, 9)
    x = [curves[0, task, :size].to_numpy() for task, size in enumerate(sizes)]

    def iqm(strata):
        return [statistics_of_strata([list(each[:, at]) for each in strata], [], [], 0)[3] for at in range(2)]

    means = [each.mean(axis=0) for each in x]
    residuals = [(each - mean) * np.sqrt(len(each) / (len(each) - 1)) for each, mean in zip(x, means, strict=True)]
    whole = sum((each**2).sum(axis=0) / len(each) ** 2 for each in residuals)
    drawn, spread = [], []
    for row in signs:
        of_tasks = np.split(row[:, np.newaxis], np.cumsum(sizes)[:-1])
        signed = [s * r for s, r in zip(of_tasks, residuals, strict=True)]
        drawn.append(iqm([m + s for m, s in zip(means, signed, strict=True)]))
        left = sum(((each - each.mean(axis=0)) ** 2).sum(axis=0) / len(each) ** 2 for each in signed)
        spread.append(np.sqrt(left / whole))
    drawn = np.array(drawn)
    sd = drawn.std(axis=0)
    t = np.abs(drawn - drawn.mean(axis=0)) / (sd * np.array(spread))
    half = np.sort(t.max(axis=1))[int(np.ceil(0.95 * (n + 1))) - 1] * sd
    expected = np.stack([iqm(x) - half, iqm(x) + half], axis=-1)
    np.testing.assert_allclose(found[0], expected, rtol=1e-9)


@pytest.mark.slow
def test_of_the_mean_it_is_the_band_of_the_mean_curve_but_for_its_divisor():
    """Both give residual runs random signs; here replicates are measured by their spread with divisor l."""
    curves = make(8, 5, 4)
    n = 20_000
    found = banded(curves, n_resamples=n).statistic_ci.sel(param="score_mean").transpose("algorithm", "training", ...)
    for place in range(2):
        own = bootstrap.mean_curve(curves[place].to_numpy(), n, 0.05, 1)["mean_curve_band"]
        np.testing.assert_allclose(np.diff(found[place]), np.diff(own) * np.sqrt(5 / 4), rtol=0.03)


def test_estimates_and_pointwise_intervals_are_as_without():
    curves = make()
    along = banded(curves, threshold=1.0)
    with pytest.warns(UserWarning, match="few for a bootstrap"):
        alone = xcurves.performance_cdf(curves, **SETTINGS, threshold=1.0)
    xr.testing.assert_identical(
        along.drop_vars("statistic_ci").drop_attrs(),
        alone.drop_vars("statistic_ci").drop_attrs(),
    )
    ends = along.statistic_ci
    assert ends.dims == alone.statistic_ci.dims
    assert ends.attrs["interval"] == "random signs of residual runs, simultaneous over training"
    shares = ends.sel(param=["partial_mean_above 1", "prob_above 1"])
    assert shares.isnull().all()
    rest = ends.drop_sel(param=shares.param.values)
    middle = rest.mean("ci_bound")
    np.testing.assert_allclose(middle.sel(param="iqm"), along.iqm)
    np.testing.assert_allclose(middle.sel(param="cvar_lower 0.5"), along.cvar_lower.squeeze())
    width = rest.diff("ci_bound").sel(param="score_mean")
    assert (width > alone.statistic_ci.diff("ci_bound").sel(param="score_mean")).all()
    assert "Those of a statistic hold at all training levels together" in along.curves.summary()


@pytest.mark.slow
def test_each_task_stays_by_itself_and_lazy():
    curves = xr.concat([make(seed=1), make(seed=2)], "metric")
    found = banded(curves)
    xr.testing.assert_allclose(found.isel(metric=1), banded(curves[1]))
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = banded(curves.chunk(metric=1, training=2))
    xr.testing.assert_allclose(lazy.compute(), found)


def test_levels_that_a_task_has_not_are_left_out():
    curves = make()
    curves[:, 2, :, 0] = np.nan
    with pytest.warns(UserWarning, match="no trial in a stratum"):
        found = banded(curves).statistic_ci.sel(param="iqm")
    assert found.isel(training=0).isnull().all()
    np.testing.assert_allclose(found[:, 1:], banded(curves[..., 1:]).statistic_ci.sel(param="iqm"))


def test_runs_too_few_have_no_band():
    with pytest.warns(UserWarning, match="one trial in the smallest stratum"):
        assert banded(make(n_runs=1)).statistic_ci.isnull().all()
    assert banded(make(n_tasks=1, n_runs=2)).statistic_ci.sel(param=["score_mean", "iqm"]).isnull().all()


@pytest.mark.plain(1)
@pytest.mark.parametrize("score", [0.0, 0.1, 10.82584])
def test_a_level_at_which_runs_share_a_score_is_named_and_leaves_the_others_as_they_are(
    score,
):
    """Means of equal scores round to another score."""
    curves = make(n_runs=12)
    same = curves.where(curves.training != 1, score)
    with pytest.warns(UserWarning, match="^algorithm 'a', training 1.0: all runs share a score"):
        found = banded(same)
    assert found.statistic_ci.sel(training=1).isnull().all()
    others = found.statistic_ci.drop_sel(training=1)
    assert others.notnull().all()
    alone = banded(curves.drop_sel(training=1)).statistic_ci
    np.testing.assert_allclose(others, alone)


def test_one_group_has_no_band_of_tails_and_few_runs_are_warned_of():
    curves = make(n_tasks=1, n_runs=9).isel(task=0)
    options = {"dim": "run", "strata": None}
    with pytest.warns(
        UserWarning,
        match=r"^algorithm 'a', training 0\.0: 9 runs of one group are few for a band",
    ):
        found = banded(curves, **options).statistic_ci
    assert found.sel(param=["cvar 0.5", "cvar_lower 0.5"]).isnull().all()
    assert found.sel(param=["score_mean", "iqm"]).notnull().all()
    banded(make(n_tasks=1, n_runs=10).isel(task=0), **options)


@pytest.mark.parametrize(
    ("change", "options", "value", "cure", "said"),
    [
        ({}, {"simultaneous": "task"}, "task", None, "must be 'training'"),
        ({"training": 0}, {}, "training", None, "^simultaneous='training' needs the dim 'training' "),
        ({}, {"interval": "bca"}, "training", give(interval="percentile"), "got interval='bca'"),
        ({}, {"strata": None, "unit": "task"}, "training", "Average the trials of each unit first", "got unit='task'"),
    ],
)
def test_refusals(change, options, value, cure, said):
    with refused("simultaneous", value, cure, names=said):
        banded(make().isel(change), **options)


def test_a_run_that_lacks_levels_is_refused():
    curves = make()
    curves[0, 1, 2, 3] = np.nan
    with refused("simultaneous", cure=call(".curves.align", "intersection")):
        banded(curves)
