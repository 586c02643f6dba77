import re

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_distribution as oracles
import xcurves
from lazy import refuse_to_compute
from refusals import refused
from strategies import make_scores
from xcurves.core.refusal import give


@pytest.fixture
def scores():
    """Two tasks, three algorithms; ties, missing runs, and an algorithm that one task has not."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, (2, 3, 7)).astype(float)
    values[:, 2] += 5
    scores = make_scores(values, task=["x", "y"], algorithm=["a", "b", "c"], run=np.arange(7))
    scores.loc[{"task": "y", "algorithm": "b"}] = np.nan
    scores.loc[{"task": "x", "algorithm": "a", "run": [0, 6]}] = np.nan
    return scores


def test_pairs_of_an_algorithm_without_trials_are_nan_with_one_warning(scores):
    with pytest.warns(UserWarning, match=r"^task 'y': a -.*NaN \(in 2 com"):
        result = xcurves.compare_distributions(scores)
    assert result.pair.values.tolist() == ["a - b", "a - c", "b - c"]
    assert result.algorithm_b.values.tolist() == ["b", "c", "c"]
    assert result.prob_greater.isnull().values.tolist() == [
        [False] * 3,
        [True, False, True],
    ]


def test_every_pair_has_what_loops_find(scores):
    task = scores.sel(task="x")
    result = xcurves.compare_distributions(task)
    adjusted = sorted(zip(result.ks_pvalue.values, result.ks_pvalue_adjusted.values, strict=True))
    assert all(after >= before for before, after in adjusted)
    np.testing.assert_allclose(adjusted[0][1], min(1, 3 * adjusted[0][0]))
    for pair in result.pair.values:
        here = result.sel(pair=pair)
        x, y = (
            task.sel(algorithm=here[f"algorithm_{side}"].item()).dropna("run").values.tolist() for side in ("a", "b")
        )
        np.testing.assert_allclose(here.prob_greater, oracles.prob_greater(x, y))
        np.testing.assert_allclose(here.ks_statistic, float(oracles.ks_distance(x, y)))
        np.testing.assert_allclose(here.ks_pvalue, oracles.ks_enumeration(x, y), rtol=1e-9)
        for p in (0.05, 0.5, 0.93):
            exact = oracles.decimal(p)
            difference = oracles.inverse_cdf(x, exact) - oracles.inverse_cdf(y, exact)
            np.testing.assert_allclose(here.quantile_difference.sel(probability=p), difference)


def banded(sample, p, side, bands={}):  # noqa: B006  # the rational determinant takes seconds: once for each size
    """F⁻¹(p) by the lower (side 1) or the upper limits of F, each band with half of .05; infinite outside."""
    n = len(sample)
    if n not in bands:
        bands[n] = oracles.band(n, 0.025)
    lower, upper = bands[n]
    limits, ends = (lower, [-np.inf, *sorted(sample)]) if side > 0 else (upper, [-np.inf, *sorted(sample)])
    place = next((i for i in range(n + 1) if limits[i] >= p), None)
    return np.inf if place is None else ends[place]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
@pytest.mark.slow
def test_band_and_verdict_are_those_of_a_loop_over_many_probabilities(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(rng.choice([0, 2]), rng.choice([1, 4]), 40)
    y = rng.normal(0, 1, 30)
    padded = np.full((2, 40), np.nan)
    padded[0], padded[1, :30] = x, y
    result = xcurves.compare_distributions(make_scores(padded, algorithm=["x", "y"], run=np.arange(40))).isel(pair=0)
    for p in (0.02, 0.3, 0.5, 0.71, 0.98):
        band = [banded(x, p, -1) - banded(y, p, 1), banded(x, p, 1) - banded(y, p, -1)]
        np.testing.assert_allclose(result.quantile_difference_band.sel(probability=p), band)
    fine = np.linspace(0.0005, 0.9995, 1000)
    higher = any(banded(x, p, -1) > banded(y, p, 1) for p in fine)
    lower = any(banded(x, p, 1) < banded(y, p, -1) for p in fine)
    assert result.dominance == (2 if higher and lower else higher - lower)


def test_crossing_distributions_are_told():
    rng = np.random.default_rng(0)
    values = np.stack([rng.normal(0, 5, 400), rng.normal(0, 1, 400)])
    result = xcurves.compare_distributions(make_scores(values, algorithm=["wide", "narrow"], run=np.arange(400)))
    assert result.dominance.item() == 2
    assert "each of them scores higher somewhere outside the band" in result.curves.summary()


@pytest.mark.filterwarnings("ignore:.*few for a bootstrap")
def test_strata_average_the_probability_and_leave_out_what_is_for_one_distribution(
    scores,
):
    scores = scores.drop_sel(algorithm="b")
    result = xcurves.compare_distributions(scores, dim=("task", "run"), strata="task", n_resamples=500, rng=0)
    by_task = [
        oracles.prob_greater(*(scores.sel(task=task, algorithm=name).dropna("run").values for name in "ac"))
        for task in ("x", "y")
    ]
    np.testing.assert_allclose(result.prob_greater, [np.mean(by_task)])
    intervals = {"prob_greater_ci", "prob_greater_ci_simultaneous"}
    assert set(result) == {"prob_greater", "quantile_difference"} | intervals
    assert "bootstrap within strata" in result.prob_greater_ci.attrs["interval"]


@pytest.mark.filterwarnings("ignore:.*few for a bootstrap")
@pytest.mark.parametrize("options", [{}, {"dim": ("seed", "run"), "strata": "seed"}])
def test_chunks_and_neighbours_change_nothing(options):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, (3, 2, 3, 12))
    coords = {
        "task": list("xyz"),
        "seed": [0, 1],
        "algorithm": list("abc"),
        "run": np.arange(12),
    }
    scores = make_scores(values, **coords)
    if options:
        options = {**options, "n_resamples": 99, "rng": 0}
    whole = xcurves.compare_distributions(scores, **options)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = xcurves.compare_distributions(scores.chunk(task=1, run=5), **options)
    xr.testing.assert_identical(lazy.compute(scheduler="threads"), whole)
    xr.testing.assert_identical(xcurves.compare_distributions(scores[1:2], **options), whole.isel(task=[1]))


@pytest.mark.filterwarnings("ignore:.*few for a bootstrap")
def test_several_dims_need_strata_or_units_and_both_cures_work():
    scores = strata_scores(12)
    with refused("dim", cure=give(unit=("task", "run"))) as caught:
        xcurves.compare_distributions(scores, dim=("task", "run"))
    cures = re.findall(r"((?:strata|unit|dim)=.*?)(?: if| to|$)", str(caught.value).split("Give ")[1])
    assert [cure.split("=")[0] for cure in cures] == ["strata", "unit"]
    for cure in cures:
        given = {"dim": ("task", "run"), "rng": 0} | eval(f"dict({cure})")
        assert xcurves.compare_distributions(scores, **given).prob_greater.notnull().all()


def test_a_pool_said_aloud_is_that_of_the_stacked_trials():
    scores = strata_scores(5)
    stacked = scores.stack(trial=("task", "run")).drop_vars(["task", "run", "trial"]).rename(trial="run")
    alone = xcurves.compare_distributions(stacked.assign_coords(run=np.arange(20)))
    for said in ({"strata": ()}, {"unit": ("task", "run")}):
        pooled = xcurves.compare_distributions(scores, dim=("task", "run"), **said)
        xr.testing.assert_allclose(pooled.drop_attrs(), alone.drop_attrs())
        assert "all trials along task, run are taken for independent ones" in pooled.curves.summary()


def test_units_of_several_trials_are_refused_with_a_cure_that_works():
    scores = strata_scores(5)
    with refused("unit", "('task',)", cure=give(dim=("task",))):
        xcurves.compare_distributions(scores, dim=("task", "run"), unit="task")
    assert xcurves.compare_distributions(scores.mean(["run"]), dim=("task",)).prob_greater.notnull().all()


def test_swapping_the_algorithms_mirrors_the_result(scores):
    plain = xcurves.compare_distributions(scores.sel(task="x", algorithm=["a", "c"])).isel(pair=0)
    turned = xcurves.compare_distributions(scores.sel(task="x", algorithm=["c", "a"])).isel(pair=0)
    np.testing.assert_allclose(turned.prob_greater, 1 - plain.prob_greater)
    np.testing.assert_allclose(turned.prob_greater_ci, 1 - plain.prob_greater_ci[::-1])
    np.testing.assert_allclose(turned.quantile_difference_band, -plain.quantile_difference_band[..., ::-1])
    assert turned.dominance == -plain.dominance
    assert turned.ks_pvalue == plain.ks_pvalue


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"n_resamples": 9},
            "nothing is random without strata; got n_resamples=9. Leave it out",
        ),
        (
            {"correction": "none"},
            "correction must be 'holm' or 'bonferroni'; got 'none'",
        ),
    ],
)
def test_bad_options_say_what_to_do(scores, options, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        xcurves.compare_distributions(scores, **options)
    assert str(caught.value) == message


def test_one_algorithm_is_no_comparison(scores):
    with refused("scores", cure="Add one", names="one algorithm; a comparison needs two"):
        xcurves.compare_distributions(scores.isel(algorithm=[0]))


def strata_scores(n_runs):
    values = np.random.default_rng(0).normal(size=(2, 4, n_runs))
    return make_scores(values, algorithm=["a", "b"], task=list("uvwx"), run=np.arange(n_runs))


POOL = {"dim": ("task", "run"), "strata": "task", "n_resamples": 19, "rng": 0}


def test_a_stratum_that_an_algorithm_lacks_leaves_nothing_to_say():
    scores = strata_scores(12)
    scores.loc[{"algorithm": "b", "task": "w"}] = np.nan
    said = "a - b: no trial of one of them in a stratum; the result is NaN"
    with pytest.warns(UserWarning, match="^a - b") as caught:
        result = xcurves.compare_distributions(scores, **POOL)
    assert [str(warning.message) for warning in caught] == [said]
    assert all(result[name].isnull().all() for name in result)
    assert result.n_units.values.tolist() == [0]


def test_few_trials_in_a_stratum_are_warned_of():
    with pytest.warns(UserWarning, match="^a - b: 3.*few for a bootstrap"):
        xcurves.compare_distributions(strata_scores(3), **POOL)
    with pytest.warns(UserWarning, match="^a - b: one.*spread; the interval is"):
        one = xcurves.compare_distributions(strata_scores(1), **POOL)
    assert one.prob_greater_ci.isnull().all()
    assert not one.prob_greater.isnull().any()
    xcurves.compare_distributions(strata_scores(10), **POOL)


def test_strata_are_mirrored_with_the_algorithms_and_padding_changes_nothing():
    scores = strata_scores(12)
    options = POOL | {"n_resamples": 2_000}
    plain = xcurves.compare_distributions(scores, **options).prob_greater_ci[0]
    turned = xcurves.compare_distributions(scores.isel(algorithm=[1, 0]), **options).prob_greater_ci[0]
    np.testing.assert_allclose(turned, 1 - plain[::-1], rtol=1e-12)
    padded = scores.pad(run=(0, 300)).assign_coords(run=np.arange(312))
    np.testing.assert_array_equal(xcurves.compare_distributions(padded, **options).prob_greater_ci[0], plain)


def test_intervals_of_all_pairs_are_those_of_a_level_divided_by_their_number():
    values = np.random.default_rng(5).normal(size=(3, 12)) + np.array([[0.0], [0.6], [1.5]])
    scores = make_scores(values, algorithm=list("abc"), run=range(12))
    found = xcurves.compare_distributions(scores)
    together = xcurves.compare_distributions(scores, confidence_level=1 - 0.05 / 3)
    np.testing.assert_allclose(found.prob_greater_ci_simultaneous, together.prob_greater_ci, rtol=1e-9)
    one = xcurves.compare_distributions(scores[:2])
    np.testing.assert_array_equal(one.prob_greater_ci_simultaneous, one.prob_greater_ci)
