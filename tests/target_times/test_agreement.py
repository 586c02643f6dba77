"""p and interval never disagree, whatever the claim; and what bad input gets."""

import warnings

import dask
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xcurves
from layers import slow
from lazy import refuse_to_compute
from refusals import ANY, refused
from xcurves.core.refusal import call, give

LEVELS = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
TARGETS = (None, 0.6, 0.8)
SLOW = [(1, 3, 300, 0.3), (3, 4, 3_400, 0.05)]


def drawn(rng, n_tasks, n_datasets, n_runs=4):
    """Curves of two algorithms that rise, some hardly, with noise of all sizes; some evaluations are lacking."""
    speed = rng.lognormal(0, 0.5, (n_datasets, n_tasks, 2, 1, 1))
    sd = rng.uniform(0.005, 0.3, (n_datasets, n_tasks, 2, 1, 1))
    shape = (n_datasets, n_tasks, 2, n_runs, len(LEVELS))
    noise = sd * (rng.normal(size=(*shape[:-1], 1)) + rng.normal(size=shape))
    values = 1 - np.exp(-speed * LEVELS) + noise
    values[rng.uniform(size=shape) < 0.05] = np.nan
    coords = {
        "dataset": range(n_datasets),
        "task": range(n_tasks),
        "algorithm": ["a", "b"],
        "run": range(n_runs),
        "training": LEVELS,
    }
    return xr.DataArray(values, coords, [*coords])


def disagreements(interval, pvalue, alpha):
    """Where p is small and 1 lies inside, or p is large and 1 lies outside; a bound at 1 is on either side."""
    low, high = interval.isel(ci_bound=0), interval.isel(ci_bound=1)
    known = pvalue.notnull() & low.notnull()
    inside, outside = (
        (low < 1 - 1e-9) & (high > 1 + 1e-9),
        (low > 1 + 1e-9) | (high < 1 - 1e-9),
    )
    shown = pvalue <= alpha + 1e-12
    return int((known & ((shown & inside) | (~shown & outside))).sum()), int(known.sum())


@pytest.mark.plain(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("seed", "n_tasks", "n_datasets", "alpha"),
    [
        (1, 3, 100, 0.05),
        (2, 7, 40, 0.1),
        *(pytest.param(*row, marks=pytest.mark.slow) for row in SLOW),
    ],
)
@pytest.mark.parametrize("options", [{}, {"task": "task"}])
def test_p_and_interval_agree_in_each_task_and_over_tasks(target, seed, n_tasks, n_datasets, alpha, options):
    curves = drawn(np.random.default_rng(seed), n_tasks, n_datasets)
    made = quietly(curves, target=target, confidence_level=1 - alpha, **options)
    wrong, n = disagreements(made.speedup_ci, made.pvalue, alpha)
    assert wrong == 0
    assert n > n_datasets / 3
    if options:
        assert disagreements(made.task_speedup_ci, made.task_pvalue, alpha)[0] == 0


def quietly(curves, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return xcurves.speedup(curves, reference="b", rng=0, **options)


def test_p_is_at_least_that_of_welch_at_the_last_level():
    curves = drawn(np.random.default_rng(5), 1, 100).isel(task=0, drop=True).fillna(0.5)
    made = quietly(curves)
    last = curves.isel(training=-1)
    a, b = (last.sel(algorithm=name).to_numpy() for name in "ab")
    assert (made.pvalue.squeeze("algorithm") >= stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue - 1e-12).all()


@pytest.mark.slow
def test_turning_scores_scaling_training_and_the_order_of_algorithms_and_runs_change_nothing():
    curves = drawn(np.random.default_rng(6), 2, 5)
    curves = curves.assign_coords(color_index=("algorithm", [0, 1]))
    made, turned = (
        quietly(curves, target=0.7),
        quietly(-curves, target=-0.7, higher_is_better=False),
    )
    scaled = quietly(curves.assign_coords(training=1000 * LEVELS), target=0.7)
    for name in ("speedup", "speedup_ci", "pvalue", "time"):
        xr.testing.assert_allclose(made[name], turned[name])
        xr.testing.assert_allclose(made[name] * (1000 if name == "time" else 1), scaled[name])
    other = quietly(curves.isel(algorithm=[1, 0], run=[3, 1, 0, 2]), target=0.7, task="task")
    xr.testing.assert_allclose(quietly(curves, target=0.7, task="task"), other)


@pytest.mark.plain(1)
@pytest.mark.parametrize("options", [{}, {"target": 0.7}, {"target": 0.7, "task": "task"}])
@pytest.mark.parametrize("own", [slow(False), True])
def test_lazy_curves_stay_lazy(options, own):
    curves = drawn(np.random.default_rng(8), 3, 2)
    if own:
        levels = curves.training.broadcast_like(curves).transpose(*curves.dims)
        curves = curves.drop_vars("training").rename(training="evaluation").fillna(0.5)
        curves = curves.assign_coords(training=(curves.dims, levels.data))
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = quietly(curves.chunk(dataset=1), **options)
    assert lazy.speedup.chunks is not None
    xr.testing.assert_allclose(lazy.compute(), quietly(curves, **options))


BAD = [
    ({"reference": "c"}, ("reference", "c", "They have 'a', 'b'"), "must be an algorithm of the curves"),
    ({"target": np.nan}, ("target", np.nan, "At most 1e+140 in size"), "must be a finite number"),
    ({"training_scale": "sqrt"}, ("training_scale", "sqrt"), "must be 'linear' or 'log'"),
    (
        {"task_groups": ["x", "y"]},
        ("task_groups", ANY, give(task="task")),
        "task_groups are families of tasks that are joined",
    ),
    ({"task": "tasks"}, ("task", "tasks", "Did you mean 'task'?"), "^task='tasks' is no dim of curves"),
    (
        {"task": "algorithm"},
        ("task", "'algorithm', which is that of algorithms"),
        "must be a dim of tasks",
    ),
]


@pytest.mark.parametrize(("options", "expected", "said"), BAD)
def test_bad_options_say_what_to_do(options, expected, said):
    curves = drawn(np.random.default_rng(9), 2, 1).isel(dataset=0, drop=True)
    curves.loc[{"algorithm": "b", "run": 3}] = np.nan
    with refused(*expected, names=said):
        curves.curves.speedup(**{"reference": "b", **options})


def test_levels_of_which_no_ratio_is_a_time_are_refused():
    curves = drawn(np.random.default_rng(9), 1, 1).isel(dataset=0, drop=True)
    with refused("training", "-0.5", cure="Subtract it"):
        curves.assign_coords(training=LEVELS - 1).curves.speedup(reference="b")
    with refused("training_scale", "log", cure="Leave it out: curves.where(curves.training > 0, drop=True)"):
        curves.assign_coords(training=LEVELS - 0.5).curves.speedup(reference="b", training_scale="log")
    broken = curves.copy()
    broken[0, 1, 2, 3] = np.inf
    with refused("curves", ("'b'", "2"), cure=call(".curves.fill_failed", "worst", higher_is_better=False)):
        broken.curves.speedup(reference="b")


def test_a_target_beyond_all_runs_gets_no_interval_and_one_warning():
    curves = drawn(np.random.default_rng(9), 2, 1).isel(dataset=0, drop=True)
    best = f"{curves.sel(task=0).max().item():.3g}"
    with pytest.warns(UserWarning, match=rf"no run reaches the target \(the best score is {best}\)") as caught:
        made = curves.curves.speedup(reference="b", target=9.0)
    assert len(caught) == 1
    assert made.speedup_ci.isnull().all()
    assert "no run reaches it" in made.curves.summary()
    with pytest.warns(UserWarning, match="no run reaches the target"):
        assert curves.curves.mean_time_to_target(9.0).time_ci.isnull().all()


def test_runs_that_end_early_are_counted_and_cut_the_curve():
    curves = drawn(np.random.default_rng(10), 1, 1).isel(dataset=0, task=0, drop=True).fillna(0.5)
    curves.loc[{"algorithm": "a", "run": 2, "training": slice(1.6, None)}] = np.nan
    with pytest.warns(
        UserWarning,
        match=r"a is read up to 1\.5: 1 of its 4 runs ends earlier than others",
    ):
        made = curves.curves.mean_time_to_target(0.7)
    assert made.training_last.sel(algorithm="a").item() == 1.5
    assert made.n_ended_early.values.tolist() == [1, 0]


def test_a_single_run_is_outside_the_family_and_an_unreached_level_counts_as_1():
    rng = np.random.default_rng(11)
    base = 1 - np.exp(-np.array([2.0, 1.0, 0.2, 1.5])[:, np.newaxis, np.newaxis] * LEVELS)
    values = base + rng.normal(0, 0.01, (4, 4, len(LEVELS)))
    values[3, 1:] = np.nan
    coords = {
        "algorithm": ["fast", "ref", "slow", "one"],
        "run": range(4),
        "training": LEVELS,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        made = xcurves.speedup(xr.DataArray(values, coords, [*coords]), reference="ref", target=0.8)
    fast, slow, one = (made.sel(algorithm=name) for name in ("fast", "slow", "one"))
    assert fast.pvalue_adjusted.item() == pytest.approx(2 * fast.pvalue.item())
    assert np.isnan(slow.pvalue.item())
    assert slow.speedup_ci.isel(ci_bound=1).item() < 1
    assert np.isnan(one.speedup_ci).all()


def test_curves_of_one_level_have_the_p_of_welchs_test():
    curves = drawn(np.random.default_rng(12), 1, 20, n_runs=6).isel(task=0, drop=True).fillna(0.5).isel(training=[-1])
    made = quietly(curves)
    a, b = (curves.sel(algorithm=name, training=curves.training[-1]) for name in "ab")
    p = stats.ttest_ind(a, b, axis=a.get_axis_num("run"), equal_var=False).pvalue
    np.testing.assert_allclose(made.pvalue.squeeze("algorithm"), p, rtol=1e-12)


def test_a_task_that_is_reached_at_0_bounds_nothing():
    """Better from level 0 on, a takes no time at all: no ratio, and a mean of the other tasks alone."""
    curves = drawn(np.random.default_rng(13), 8, 1).isel(dataset=0, drop=True).fillna(0.5)
    curves = curves.assign_coords(training=LEVELS - 0.5)
    curves.loc[{"task": 0, "algorithm": "a"}] += 9
    made, others = (quietly(each, task="task").squeeze("algorithm") for each in (curves, curves.isel(task=slice(1, 8))))
    assert made.n_tasks.item() == others.n_tasks.item()
    random = made.speedup_ci.sel(task_effect="random")
    np.testing.assert_array_equal(random, others.speedup_ci.sel(task_effect="random"))
    assert np.isnan(made.speedup.item()) == np.isnan(others.speedup.item())
    assert made.speedup_ci.sel(task_effect="fixed").isnull().all()
