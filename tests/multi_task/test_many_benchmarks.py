"""The p-values of many data sets at once, against `across_tasks` of each by itself."""

from warnings import catch_warnings

import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow
from strategies import make_curves
from xcurves.kernels.over_tasks import task_flips
from xcurves.kernels.resampling import plans
from xcurves.multi_task.across_tasks import many_pvalues


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*so few tasks")
@pytest.mark.parametrize(("n_algorithms", "n_tasks"), [slow(2, 6), slow(3, 7), (3, 3)])
def test_each_data_set_has_the_pvalues_of_across_tasks(n_algorithms, n_tasks):
    values = np.random.default_rng(0).normal(size=(3, n_tasks, n_algorithms, 3, 1)).round(1)
    values[0, :2] = 1.0  # runs that do not differ
    curves = make_curves(values, replication=np.arange(3), env=[f"e{i}" for i in range(n_tasks)])
    curves = curves.isel(algorithm=slice(None, None, -1), run=[1, 2, 0])
    options = {"n_resamples": 99, "rng": 7}
    each = [xcurves.across_tasks(curves.isel(replication=[i]), task="env", **options) for i in range(3)]
    found = many_pvalues(curves, task="env", **options)
    alone = xr.concat([one["pvalue"] for one in each], "replication")
    xr.testing.assert_equal(found.drop_attrs(), alone.drop_attrs())


@pytest.mark.parametrize("n_tasks", [51, 220])
def test_many_tasks_have_the_pvalues_of_across_tasks(n_tasks):
    # by t for these tasks, and of 220 on the scale of t for tasks like these
    rng = np.random.default_rng(2)
    values = rng.normal(size=(3, n_tasks, 2, 3, 1)) + np.array([0.0, 0.15])[:, np.newaxis, np.newaxis]
    values[0] = np.repeat(values[0, :, :, :1], 3, axis=-2)  # no run differs
    curves = make_curves(values, replication=np.arange(3), env=[f"e{i}" for i in range(n_tasks)])
    found = many_pvalues(curves, task="env", n_resamples=399, rng=7)
    for number in range(3):
        with catch_warnings(action="ignore"):  # of runs that are copies
            alone = xcurves.across_tasks(curves.isel(replication=number), task="env", n_resamples=399, rng=7)["pvalue"]
        of_set = found.isel(replication=number)
        np.testing.assert_allclose(of_set.sel(task_effect="fixed"), alone.sel(task_effect="fixed"), rtol=1e-10)
        np.testing.assert_array_equal(of_set.sel(task_effect="random"), alone.sel(task_effect="random"))
    assert np.isnan(found[0].sel(task_effect="fixed")).all()
    assert found[1:].notnull().all()


def test_flips_of_several_benchmarks_are_those_of_each():
    x = np.random.default_rng(1).normal(size=(4, 3, 8))
    x[:, 1, 6:] = np.nan
    plan = plans.plan_flips(8, 99, 3)
    together = task_flips.pvalues(x, plan)
    for number, one in enumerate(x):
        for every, alone in zip(together, task_flips.pvalues(one, plan), strict=True):
            np.testing.assert_array_equal(every[number], alone)
