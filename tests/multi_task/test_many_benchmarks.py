"""The p-values of many data sets at once, against `across_tasks` of each by itself."""

import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow
from strategies import make_curves
from xcurves.kernels.over_tasks import task_flips
from xcurves.kernels.resampling import plans
from xcurves.multi_task.across_tasks import many_pvalues


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


def test_flips_of_several_benchmarks_are_those_of_each():
    x = np.random.default_rng(1).normal(size=(4, 3, 8))
    x[:, 1, 6:] = np.nan
    plan = plans.plan_flips(8, 99, 3)
    together = task_flips.pvalues(x, plan)
    for number, one in enumerate(x):
        for every, alone in zip(together, task_flips.pvalues(one, plan), strict=True):
            np.testing.assert_array_equal(every[number], alone)
