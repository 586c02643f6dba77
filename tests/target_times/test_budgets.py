"""Times over unlike budgets: what is known of all runs together ends with the smallest budget."""

import numpy as np
import pytest
import xarray as xr

import xcurves
from strategies import make_curves


def times():
    """Runs of a stop at 200 or 500, those of b at 500: run 1 of a would have reached 5 at 300."""
    values = np.full((1, 2, 4, 5), 0.0)
    values[0, 0, [0, 1, 2, 3], [1, 4, 2, 1]] = 5
    values[0, 0, 3, 2:] = np.nan
    values[0, 1, :, 3] = 5
    curves = make_curves(values, task=["x"]).assign_coords(training=[100.0, 200, 300, 400, 500])
    return curves.curves.time_to_target(5)


def test_nothing_is_said_of_shares_beyond_the_smallest_budget():
    made = times().curves.performance_cdf(scores_at=[100, 200, 300, 500], higher_is_better=False)
    a, b = (made.sel(task="x", algorithm=name) for name in ("a0", "a1"))
    assert a.budget.item() == 200
    assert b.budget.item() == 500
    np.testing.assert_array_equal(a.cdf, [0, 0.5, np.nan, np.nan])
    np.testing.assert_array_equal(b.cdf, [0, 0, 0, 1])
    assert a.cdf_ci.sel(score=300).isnull().all()
    assert a.cdf_ci.sel(score=200).notnull().all()
    assert a.share_infinite.item() == 0.5
    assert "not reached within the budget" in made.curves.summary()


def test_pairs_are_compared_up_to_the_smallest_budget_of_both():
    pairs = times().sel(task="x", drop=True).curves.compare_distributions()
    assert pairs.budget.item() == 200
    assert pairs.prob_greater.item() == 0.25  # two of a within 200, all others tie
    assert not np.isinf(pairs.quantile_difference).any()


def test_each_task_has_its_own_budget_in_the_answer_over_tasks():
    one = times()
    other = one.copy(data=np.array([[[200.0, 500.0, 300.0, 200.0], [400.0] * 4]]))
    other = other.assign_coords(
        task=["y"],
        budget=xr.full_like(one.budget, 500.0).assign_attrs(one.budget.attrs),
    )
    both = xr.concat([one, other], "task").expand_dims(training=[1.0])
    made = xcurves.across_tasks(both.transpose("task", "algorithm", "run", "training"), rng=0, n_resamples=99)
    assert made.prob_greater.item() == pytest.approx((0.25 + 0.25) / 2)
    assert made.task_difference.sel(task="y").notnull().item()
    assert made.task_difference.sel(task="x").isnull().item()


def test_a_budget_that_is_no_last_level_changes_nothing():
    """A coordinate of one's own, say of money, has another meaning."""
    bare = times().assign_coords(budget=("run", [1.0, 2.0, 3.0, 4.0]))
    made = bare.sel(task="x", drop=True).curves.performance_cdf(scores_at=[100, 500], higher_is_better=False)
    np.testing.assert_array_equal(made.cdf.sel(algorithm="a0"), [0, 1])
