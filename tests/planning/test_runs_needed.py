"""Runs needed against the power that a plain simulation finds, against SciPy's power of a t-test, and bad input."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import xcurves
from calibration.simulations import t_test
from experiments import studies
from refusals import refused
from strategies import absent, make_curves
from xcurves.core.refusal import call
from xcurves.planning import pilots as pilots_module
from xcurves.planning.pilots import are_one, redrawn
from xcurves.planning.pilots import pilots as given_pilots
from xcurves.planning.text import number_needed

QUICK = {"n_replications": 100, "rng": 0}


@pytest.fixture(scope="module")
def pilots():
    return studies.autoregressive(1, n_runs=40, algorithm_effect=4.0, rng=np.random.default_rng(0))[0]


@pytest.fixture(scope="module")
def plan(pilots):
    return xcurves.runs_needed(pilots, n_runs=[5, 10], **QUICK)


def test_power_is_that_of_a_study_of_the_same_draws(pilots, plan):
    test = partial(xcurves.randomized_anova, n_resamples=399)
    power = studies.rejection_rates(
        pilots_module.in_fewer_levels(given_pilots(pilots)),
        test,
        n_replications=100,
        settings={"n_runs": [5, 10]},
        rng=0,
    )
    xr.testing.assert_equal(plan.rate, power.rate.transpose(..., "n_runs"))
    assert plan.rate.dims == ("effect", "error_term", "n_runs")
    assert plan.runs_needed.dims == ("effect", "error_term")


@pytest.mark.slow
def test_power_for_one_level_agrees_with_that_of_a_t_test():
    """One level, normal scores, d = 1: the noncentral t distribution says what the power is."""
    rng = np.random.default_rng(1)
    curves = make_curves(rng.normal(size=(2, 4000, 1)) + np.array([1.0, 0.0])[:, None, None])
    test = partial(xcurves.randomized_anova, n_resamples=199)
    plan = xcurves.runs_needed(curves, test=test, n_runs=[8, 17, 24], n_replications=1000, rng=0)
    found = plan.rate.sel(effect="algorithm", error_term="split_plot")
    d = float(np.diff(curves.mean(["run", "training"]))[0] / curves.std("run", ddof=1).mean())
    for size, rate in zip(plan.n_runs.to_numpy(), found.to_numpy(), strict=True):
        df, shift = 2 * size - 2, d * np.sqrt(size / 2)
        critical = stats.t.ppf(0.975, df)
        expected = stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)
        low, high = stats.binom.ppf([0.0005, 0.9995], 1000, expected) / 1000
        # a randomization test's power is that of t but for 199 shuffles
        assert low - 0.015 <= rate <= high + 0.015
    assert float(plan.runs_needed.sel(effect="algorithm", error_term="split_plot")) in (
        17,
        24,
    )


def test_runs_needed_is_the_first_number_from_which_on_the_power_is_reached(pilots):
    plan = xcurves.runs_needed(pilots, n_runs=[4, 9, 16], **QUICK)
    for effect in ("algorithm", "interaction"):
        one = plan.sel(effect=effect, error_term="split_plot")
        sizes = one.n_runs.to_numpy()
        reached = [size for size in sizes if bool((one.rate.sel(n_runs=slice(size, None)) >= 0.8).all())]
        assert one.runs_needed.item() == (reached[0] if reached else np.inf)
        low, high = one.runs_needed_ci.to_numpy()
        assert low <= one.runs_needed.item() <= high
        assert low <= one.runs_needed_assured.item() <= high
    assert float(plan.runs_needed.sel(effect="algorithm", error_term="split_plot")) < 16


def test_a_selection_without_the_number_of_runs_that_is_needed_says_so(plan):
    needed = plan.runs_needed.sel(effect="algorithm", error_term="split_plot").item()
    said = plan.drop_sel(n_runs=int(needed)).curves.summary()
    assert f"{needed:g} runs per algorithm reach a power of 0.8; their rate is not in this selection" in said


@pytest.mark.slow
def test_a_plan_says_its_caveats(pilots):
    plan = xcurves.runs_needed(pilots, n_runs=[10, 20], **QUICK)
    said = plan.curves.summary()
    assert "algorithm, split_plot: " in said
    assert "pooled" not in said
    assert "drawn with replacement" in said
    assert "taken for the true one" in said
    assert "Ten pilots of each algorithm leave the number open by a factor of four or more as a rule" in said
    assert "other pilots would give 10 too)" in said
    assert plan.curves.table().index.names == ["effect", "error_term", "n_runs"]
    assert list(plan.curves.table().columns) == [
        "power",
        "lower",
        "upper",
        "needed",
        "assured",
    ]


def test_more_than_eight_times_the_pilots_are_refused_and_the_cure_works(pilots):
    few = absent(pilots, [10, 7])
    with refused("n_runs", "57", cure="Ask for fewer: n_runs=[56], or run more pilots"):
        xcurves.runs_needed(few, n_runs=[4, 57])
    with pytest.warns(UserWarning, match="an algorithm has 7 pilot runs"):
        plan = xcurves.runs_needed(few, n_runs=[56], test=t_test_of_first, **QUICK)
    assert plan.n_runs.values.tolist() == [56]


@pytest.mark.slow
def test_the_numbers_that_are_tried_go_from_those_of_the_pilots_to_eight_times_as_many(
    pilots,
):
    assert xcurves.runs_needed(pilots, **QUICK).n_runs.values.tolist() == [
        40,
        60,
        80,
        120,
        160,
        240,
        320,
    ]


@pytest.mark.slow
def test_a_difference_is_put_beside_the_pilots_of_one_and_tasks_broadcast(pilots):
    one = pilots.isel(algorithm=0, drop=True) + 20
    changed = xr.concat([one, 1.1 * one], "algorithm")
    plan = xcurves.runs_needed(changed, n_runs=[5, 20], **QUICK)
    assert plan.rate.sel(effect="algorithm", error_term="split_plot", n_runs=20) > 0.5
    both = xr.concat([pilots, pilots + 3 * pilots], "task").assign_coords(task=["x", "y"])
    tasks = xcurves.runs_needed(both, n_runs=[5, 15], **QUICK)
    assert tasks.runs_needed.dims == ("task", "effect", "error_term")
    assert "task 'x': algorithm, split_plot" in tasks.curves.summary()
    # F does not know a scale
    np.testing.assert_array_equal(tasks.rate.sel(task="x"), tasks.rate.sel(task="y"))


@pytest.mark.parametrize("of_one", ["a dim", "a label", "neither"])
def test_pilots_of_one_algorithm_are_refused_and_the_cure_works(pilots, of_one):
    curves = pilots.isel(algorithm=[0]) + 20
    if of_one != "a dim":
        curves = curves.squeeze("algorithm", drop=of_one == "neither")
    with refused("curves", "one", cure="Put the difference beside it, of 10 % here: a =") as caught:
        xcurves.runs_needed(curves, n_runs=[5], **QUICK)
    first, second = str(caught.value).split("here: ")[1].split("; ")
    space = {"curves": curves, "xr": xr}
    exec(first, space)
    planned = eval(second, space)
    np.testing.assert_allclose(planned[1], 1.1 * planned[0])
    plan = xcurves.runs_needed(planned, n_runs=[60], test=t_test_of_first, **QUICK)
    assert plan.rate.item() > 0.8


@pytest.mark.parametrize(
    ("options", "value", "cure", "kind", "said"),
    [
        ({"n_runs": 5}, "5", "Try [5]", xcurves.WrongType, "must be a list of numbers of runs"),
        ({"n_runs": [10, 5]}, "[10, 5]", "Sort them", xcurves.Refusal, "must rise"),
        ({"n_runs": [1, 5]}, 1, "Usual: 3 to 50", xcurves.Refusal, "must be at least 2"),
        ({"n_runs": [321]}, "321", "Ask for fewer: n_runs=[320]", xcurves.Refusal, "must be at most 320, eight times"),
        ({"stretch": 1.1}, 1.1, "It has test, power, ", xcurves.WrongType, "^stretch= is no option of runs_needed"),
        ({"n_runs": [None, 5]}, None, "Usual: 3 to 50", xcurves.WrongType, "must be a whole number"),
    ],
)
def test_bad_input_is_refused(pilots, options, value, cure, kind, said):
    with refused(next(iter(options)), value, cure, names=said, kind=kind):
        xcurves.runs_needed(pilots, **(QUICK | options))


def t_test_of_first(data):
    """Student's t of the first of several levels."""
    return t_test(data.isel(training=[0]))


def one_level(n_runs, difference, seed):
    values = np.random.default_rng(seed).normal(size=(2, n_runs, 1))
    return make_curves(values + np.array([difference, 0.0])[:, np.newaxis, np.newaxis])


@pytest.mark.slow
def test_other_pilots_are_those_of_a_plain_bootstrap():
    """Quantiles of the numbers that a plain loop finds, from the power of t with each set's own difference."""
    curves = one_level(12, 1.2, 3)
    sizes = [4, 6, 9, 13, 20, 30, 45]
    plan = xcurves.runs_needed(curves, test=t_test, n_runs=sizes, **QUICK)
    rng = np.random.default_rng(9)
    a, b = curves.to_numpy()[:, :, 0]
    numbers = []
    for _ in range(2_000):
        x, y = (side.mean() + np.sqrt(12 / 11) * (rng.choice(side, 12) - side.mean()) for side in (a, b))
        d = abs(x.mean() - y.mean()) / np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
        powers = [stats.nct.sf(stats.t.ppf(0.975, 2 * n - 2), 2 * n - 2, d * np.sqrt(n / 2)) for n in sizes]
        numbers.append(
            next(
                (n for n, power in zip(sizes, powers, strict=True) if power >= 0.8),
                np.inf,
            )
        )
    places = [*sizes, np.inf]
    found = [*plan.runs_needed_ci.values, plan.runs_needed_assured.item()]
    for share, number in zip((0.025, 0.975, 0.8), found, strict=True):
        low, high = (np.quantile(numbers, p, method="inverted_cdf") for p in (share - 0.02, min(share + 0.02, 1)))
        assert places.index(low) - 1 <= places.index(number) <= places.index(high) + 1


def test_drawn_runs_vary_as_new_ones_do_on_average():
    """Drawn with replacement from p pilots, the mean square of runs is that of the pilots with the divisor p - 1."""
    curves = make_curves(np.random.default_rng(2).normal(size=(2, 5, 3)))
    drawn = given_pilots(curves)(4_000, n_runs=10, rng=np.random.default_rng(0))
    assert drawn.dims == ("replication", "algorithm", "run", "training")
    np.testing.assert_allclose(drawn.mean(["replication", "run"]), curves.mean("run"), atol=0.02)
    deviations = drawn - curves.mean("run")
    np.testing.assert_allclose(
        (deviations**2).mean(["replication", "run"]),
        curves.var("run", ddof=1),
        rtol=0.03,
    )
    sets = redrawn(given_pilots(curves), np.random.default_rng(0), together=False)
    # ten data sets of one set
    second = sets(10, n_runs=4_000, first=1, rng=np.random.default_rng(0))
    for place in range(2):
        pilots = curves.isel(algorithm=place).to_numpy()
        own = pilots.mean(axis=0) + np.sqrt(5 / 4) * (pilots[sets.chosen[place][1]] - pilots.mean(axis=0))
        known = own.mean(axis=0) + np.sqrt(5 / 4) * (own - own.mean(axis=0))
        values = second.isel(algorithm=place).to_numpy().reshape(-1, 1, 3)
        assert (abs(values - known).max(axis=-1).min(axis=-1) < 1e-12).all()


@pytest.mark.parametrize(
    "change", [lambda a: 1.1 * a, lambda a: a + 3, lambda a: -2 * a, lambda a: 1e200 * a], ids="*+-e"
)
def test_pilots_beside_the_same_keep_their_difference_in_every_set(change):
    a = make_curves(np.random.default_rng(2).normal(size=(1, 6, 3)) + 20)[0]
    a = a.drop_vars("algorithm")
    curves = xr.concat([a, change(a)], "algorithm")
    given = given_pilots(curves)
    assert are_one(given)
    rng = np.random.default_rng(0)
    sets = redrawn(given, rng, together=True)
    drawn = sets(20, n_runs=3_000, rng=np.random.default_rng(0))
    means = drawn.mean("run").to_numpy()
    np.testing.assert_allclose(means[:, 1], change(means[:, 0]), rtol=0.01)
    # drawn apart, the means of six runs each differ by chance besides
    apart = redrawn(given, rng, together=False)
    means = apart(20, n_runs=3_000, rng=np.random.default_rng(0)).mean("run").to_numpy()
    assert abs(means[:, 1] / change(means[:, 0]) - 1).max() > 0.02


@pytest.mark.slow
def test_the_interval_of_a_known_difference_is_narrower_than_that_of_one_that_was_seen():
    a = make_curves(np.random.default_rng(2).normal(size=(1, 12, 1)) + 10)[0]
    a = a.drop_vars("algorithm")
    known = xr.concat([a, a + 1], "algorithm")
    moved = xr.concat([a, (a + 1).roll(run=1)], "algorithm")  # the same two samples
    options = {"test": t_test, "n_runs": [6, 12, 17, 24, 36, 48, 72, 96], **QUICK}
    narrow, wide = (xcurves.runs_needed(each, **options) for each in (known, moved))
    low, high = narrow.runs_needed_ci.values
    least, most = wide.runs_needed_ci.values
    assert (least <= low) & (high < most)
    assert narrow.runs_needed_assured < wide.runs_needed_assured


def test_runs_that_are_not_those_of_another_algorithm_are_drawn_apart(pilots):
    rng = np.random.default_rng(0)
    a = pilots[0]
    for other in (
        pilots[1],
        a + rng.normal(0, 1e-3, a.shape),
        (1.1 * a).roll(run=1),
        1.1 * a + 1,
    ):
        both = xr.concat([a.drop_vars("algorithm"), other.drop_vars("algorithm")], "algorithm")
        assert not are_one(given_pilots(both))
    assert not are_one(given_pilots(absent(pilots, [10, 7])))


def test_fewer_than_ten_pilots_are_warned_of():
    ten = one_level(10, 20.0, 0)
    with pytest.warns(UserWarning, match=r"an algorithm has 9 pilot runs; .*Run more pilots"):
        xcurves.runs_needed(ten.isel(run=slice(9)), test=t_test, n_runs=[5], **QUICK)
    plan = xcurves.runs_needed(ten, test=t_test, n_runs=[5], **QUICK)
    assert "skewed or where some runs fail" in plan.curves.summary()


@pytest.mark.filterwarnings("ignore:an algorithm has 3 pilot runs")
def test_few_pilots_are_tried_with_what_can_be_tried():
    curves = one_level(3, 20.0, 0)
    assert xcurves.runs_needed(curves, test=t_test, **QUICK).n_runs.values.tolist() == [
        3,
        5,
        6,
        9,
        12,
        18,
        24,
    ]
    assert xcurves.runs_needed(curves, test=t_test, n_runs=[5], **QUICK).runs_needed == 5
    with refused("curves", "1", cure="Run more, or select algorithms that have more"):
        xcurves.runs_needed(curves.isel(run=[0]))


def test_incomplete_pilots_are_refused(pilots):
    lacking = pilots.copy()
    lacking[0, 3, 2] = np.nan
    with refused("curves", ("'a1'", "3"), cure=call(".curves.align", "intersection")):
        xcurves.runs_needed(lacking)
    with refused("curves", ("'a1'", "3"), cure=call(".curves.fill_failed", "worst", higher_is_better=False)):
        xcurves.runs_needed(lacking.fillna(np.inf))


@pytest.mark.slow
def test_a_power_that_is_not_reached_is_warned_of(pilots):
    same = studies.autoregressive(1, n_runs=20, rng=np.random.default_rng(1))[0]
    said = r"power 0.95 is reached with none of \[5, 8\] runs. Try more: n_runs=\[160\]"
    with pytest.warns(UserWarning, match=said) as caught:
        plan = xcurves.runs_needed(same, n_runs=[5, 8], power=0.95, **QUICK)
    assert caught[0].filename == __file__
    assert bool(np.isinf(plan.runs_needed.drop_sel(error_term="welch")).all())
    assert "is not reached" in plan.curves.summary()
    cure = r"none of \[160\] runs. Run more pilots, or plan for a larger difference"
    first = same.isel(training=[0])
    with pytest.warns(UserWarning, match=cure):
        xcurves.runs_needed(first - first.mean("run"), test=t_test, n_runs=[160], power=0.95, **QUICK)


@pytest.mark.slow
def test_what_has_no_pvalue_is_never_reached(pilots):
    """At one level there is no interaction."""
    plan = xcurves.runs_needed(pilots.isel(training=[0]), n_runs=[5, 10], **QUICK).sel(effect=["interaction"])
    assert bool(plan.rate.isnull().all())
    assert bool(plan.runs_needed.isnull().all())
    assert bool(plan.runs_needed_ci.isnull().all())
    assert bool(plan.runs_needed_assured.isnull().all())
    assert "interaction, split_plot: the test gives no p-value." in plan.curves.summary()


def test_some_missing_pvalues_are_warned_of(pilots):
    def halved(data, rng=None):
        p = xcurves.randomized_anova(data, n_resamples=99, rng=rng).pvalue.sel(
            effect="algorithm", error_term="split_plot"
        )
        return p.where(np.arange(data.sizes["replication"]) % 2 == 0)

    with pytest.warns(UserWarning, match=r"p is NaN in 50 data sets, which are not counted"):
        plan = xcurves.runs_needed(pilots, test=halved, n_runs=[20], **QUICK)
    assert plan.n_replications.values.tolist() == [50]


@pytest.mark.slow
def test_dask_gives_the_same_plan(pilots, plan):
    xr.testing.assert_identical(xcurves.runs_needed(pilots.chunk(run=5), n_runs=[5, 10], **QUICK), plan)
    frame = plan.curves.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 12  # 2 effects, 3 error terms, 2 numbers of runs


def test_plans_are_drawn(plan):
    import matplotlib as mpl

    mpl.use("Agg")
    axes = plan.curves.plot()
    name, needed = number_needed(plan)
    first, said = axes.get_xlabel().split("\n")
    assert first.strip() == "runs per algorithm"
    assert said == f"{needed:g} runs reach power 0.8"
    assert [line.get_xdata()[0] for line in axes.lines if line.get_gid() == "needed"] == [needed]
    assert f"{needed:g} runs per algorithm" in plan.curves.summary()
    assert axes.get_ylabel() == "power"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:an algorithm has 5 pilot runs")
def test_many_levels_give_the_same_as_all_of_them(monkeypatch):
    """Data sets are drawn from pilots of no more levels than runs, which have the same moments."""
    noise = np.random.default_rng(2).normal(size=(2, 2, 5, 40)).cumsum(axis=-1)
    curves = make_curves(noise + np.array([0, 4.0])[:, np.newaxis, np.newaxis], task=["x", "y"])
    # draws do not depend on the number of levels
    monkeypatch.setattr(pilots_module, "_VALUES_AT_ONCE", 2**40)
    few = xcurves.runs_needed(curves, n_runs=[5], **QUICK)
    given = pilots_module.pilots(curves)
    assert pilots_module.in_fewer_levels(given).means[0].shape == (2, 13)
    monkeypatch.setattr(pilots_module, "in_fewer_levels", lambda given: given)
    xr.testing.assert_equal(xcurves.runs_needed(curves, n_runs=[5], **QUICK), few)


@pytest.mark.filterwarnings("ignore:an algorithm has 3 pilot runs")
def test_how_many_runs_a_benchmark_needs(monkeypatch):
    monkeypatch.setattr(pilots_module, "N_SETS", 3)
    monkeypatch.setattr(pilots_module, "N_DATASETS", 2)
    noise = np.random.default_rng(0).normal(size=(6, 2, 3, 4))
    curves = make_curves(noise + np.array([0, 9.0])[:, np.newaxis, np.newaxis], env=list("abcdef"))
    plan = xcurves.runs_needed(curves, test="across_tasks", n_runs=[2, 3], n_replications=4, rng=0)
    assert plan.runs_needed.dims == ("pair", "task_effect")
    assert (plan.rate == 1).all()  # nine standard deviations in each of six tasks
    assert "a0 - a1, random" in plan.curves.summary()
    with refused("test", "pairwise"):
        xcurves.runs_needed(curves, test="pairwise")
    with refused("test", "across_tasks", cure="Select along the others"):
        xcurves.runs_needed(curves.isel(env=0), test="across_tasks")
