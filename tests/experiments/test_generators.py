from decimal import Decimal

import numpy as np
import pytest
import xarray as xr

from experiments import studies
from refusals import raises_other, refused
from strategies import absent, make_curves


@pytest.fixture
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(1, 6, 8)).cumsum(axis=-1))


def literally(case, curve, f):
    """The appendix of the conference paper, level by level."""
    k, r = len(curve), curve[-1] - curve[0]
    out = []
    for i, value in enumerate(curve, start=1):
        if case == "a":
            out.append(value + f * r / 80)
        elif case == "b":
            out.append(value + f * r / 100 * (k / 2 - i + 1) if i <= k / 2 else value - f * r / 100 * (i - k / 2))
        elif case == "c":
            out.append(value + f * (value - curve[0]) / 100 * (i - 1))
        else:
            out.append(value + (f * r * (i - 1) / 100 if i <= k / 2 else f * r * (k - i) / 100))
    return out


@pytest.mark.parametrize("case", "abcd")
@pytest.mark.parametrize("k", [4, 7, 8])
def test_modifications_are_those_of_the_appendix(curves, case, k):
    if case == "b" and k % 2:
        with raises_other(ValueError, match=r"case 'b' needs an.*7. Leave one out"):
            studies.modified(curves.isel(training=slice(k)), case, 3)
        return
    short = curves.isel(training=slice(k))
    expected = [literally(case, curve, 3.5) for curve in short.to_numpy()[0]]
    found = studies.modified(short, case, 3.5)
    np.testing.assert_allclose(found[0], expected, rtol=1e-13)
    assert found.attrs == short.attrs
    xr.testing.assert_identical(studies.modified(short, case, 0.0), short)


@pytest.mark.parametrize(
    ("case", "factor", "expected"),
    [("e", 1, ("case", "e")), ("a", np.nan, ("factor", np.nan, "At most 1e+140 in size"))],
)
def test_bad_modifications_are_refused(curves, case, factor, expected):
    with refused(*expected):
        studies.modified(curves, case, factor)


def rows(values):
    return {tuple(row) for row in values.reshape(-1, values.shape[-1]).tolist()}


def test_a_shuffled_draw_deals_distinct_curves_of_one_pool(curves):
    drawn = studies.resampled(50, curves=curves, n_runs=3, shuffled=True, rng=np.random.default_rng(0))
    assert drawn.dims == ("replication", "algorithm", "run", "training")
    pool = rows(curves.to_numpy())
    for data in drawn.to_numpy():
        assert rows(data) == pool  # all six, each once
    assert len({tuple(sorted(rows(data[0]))) for data in drawn.to_numpy()}) > 10


def test_with_a_modification_the_pool_has_both_and_unshuffled_each_has_its_own(curves):
    both = rows(curves.to_numpy()) | rows(studies.modified(curves, "c", 4).to_numpy())
    options = {
        "curves": curves,
        "modification": "c",
        "factor": 4,
        "rng": np.random.default_rng(0),
    }
    shuffled = studies.resampled(20, n_runs=6, shuffled=True, **options)
    assert all(rows(data) == both for data in shuffled.to_numpy())
    own = studies.resampled(20, n_runs=4, **options)
    for data in own.to_numpy():
        assert rows(data[0]) <= rows(curves.to_numpy())
        assert len(rows(data[0])) == 4
        assert rows(data[1]) <= rows(studies.modified(curves, "c", 4).to_numpy())
    stretch = studies.resampled(2, curves=curves, n_runs=6, stretch=2.0, rng=np.random.default_rng(0))
    assert all(rows(data[1]) == rows(2 * curves.to_numpy()) for data in stretch.to_numpy())


def test_every_curve_is_drawn_equally_often(curves):
    drawn = studies.resampled(6000, curves=curves, n_runs=(2, 1), shuffled=True, rng=np.random.default_rng(1))
    first = drawn.isel(training=0).to_numpy()
    counts = [(np.isclose(first, value)).sum() for value in curves.isel(training=0).to_numpy().ravel()]
    assert min(counts) > 2780  # of 3,000 expected, sd 39
    assert max(counts) < 3220
    assert bool(drawn.isel(algorithm=1, run=1).isnull().all())


def test_absent_runs_are_not_drawn_and_tasks_are_drawn_together():
    values = np.random.default_rng(0).normal(size=(2, 2, 5, 3))
    curves = absent(make_curves(values, task=["x", "y"]), [5, 3])
    drawn = studies.resampled(30, curves=curves, n_runs=3, rng=np.random.default_rng(0))
    assert drawn.dims == ("replication", "task", "algorithm", "run", "training")
    assert not bool(drawn.isnull().any())
    for data in drawn.to_numpy():
        places = [[np.argwhere((values[t, 0] == row).all(axis=1)).item() for row in data[t, 0]] for t in range(2)]
        assert places[0] == places[1]
    curves[0, 0, 0] = np.nan
    with refused("curves", "others", cure="Select one task"):
        studies.resampled(3, curves=curves, n_runs=3, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("shuffled", "n_runs", "there"),
    [
        (True, 4, "8 distinct curves; there are 6 in all"),
        (False, 7, "7 .*; there are 6 of"),
    ],
)
def test_more_curves_than_there_are_must_be_asked_for_with_replacement(curves, shuffled, n_runs, there):
    options = {
        "curves": curves,
        "n_runs": n_runs,
        "shuffled": shuffled,
        "rng": np.random.default_rng(0),
    }
    with raises_other(ValueError, match=f"n_runs asks for {there}"):
        studies.resampled(3, **options)
    assert studies.resampled(3, **options, replace=True).sizes["run"] == n_runs


def test_curves_of_several_algorithms_are_not_modified():
    curves = make_curves(np.zeros((2, 3, 4)))
    with raises_other(ValueError, match="curves to modify must be of one algorithm; got 2"):
        studies.resampled(3, curves=curves, n_runs=2, stretch=2, rng=np.random.default_rng(0))
    with raises_other(ValueError, match="n_runs must be one number or one for each of 2"):
        studies.resampled(3, curves=curves, n_runs=(2, 2, 2), rng=np.random.default_rng(0))


@pytest.mark.parametrize("correlation", [0.0, 0.7, 1.0])
def test_simulated_curves_have_the_covariance_that_is_said(correlation):
    curves = studies.autoregressive(
        40_000,
        n_runs=1,
        n_levels=4,
        correlation=correlation,
        offset=1.5,
        noise=(1, 3),
        rng=np.random.default_rng(0),
    )
    lower = np.array(
        [[correlation ** (i - j) if j <= i else 0 for j in range(4)] for i in range(4)],
        dtype=float,
    )
    expected = lower @ lower.T + 1.5**2
    for place, noise in enumerate((1, 3)):
        found = np.cov(curves.isel(algorithm=place, run=0).to_numpy().T) / noise**2
        np.testing.assert_allclose(found, expected, rtol=0.05, atol=0.05)


def test_effects_are_of_one_kind_each_and_matched_runs_share_their_part():
    quiet = {"noise": 0, "n_runs": 2, "rng": np.random.default_rng(0)}
    level = studies.autoregressive(1, algorithm_effect=3, **quiet)
    assert (level[0, 0] == 3).all()
    assert (level[0, 1] == 0).all()
    for k in (7, 8):
        shape = studies.autoregressive(1, interaction_effect=3, n_levels=k, **quiet)[0, 0]
        np.testing.assert_allclose(shape.sum("training"), 0, atol=1e-12)
        assert float(shape.std()) > 1
    shared = studies.autoregressive(5, shared=2.0, **quiet)
    np.testing.assert_array_equal(shared[:, 0], shared[:, 1])
    assert float(shared.std()) > 1


@pytest.mark.parametrize(
    "options",
    [
        {"noise": (1, 2, 3)},
        {"noise": -1},
        {"noise": Decimal(1)},
        {"offset": np.nan},
    ],
)
def test_noise_and_offsets_that_are_no_numbers_are_refused(options):
    with raises_other(ValueError, match=next(iter(options))):
        studies.autoregressive(2, **options, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("correlation", Decimal(1), "At most 1e+140 in size"),
        ("interaction_effect", "1", "At most 1e+140 in size"),
        ("n_levels", 0, "Usual: 8"),
        ("n_algorithms", 1, "Usual: 2"),
        ("n_runs", 0, "Usual: 10"),
    ],
)
def test_bad_settings_of_simulated_curves_are_refused(name, value, cure):
    with refused(name, value, cure):
        studies.autoregressive(2, **{name: value}, rng=np.random.default_rng(0))


@pytest.mark.parametrize("odd", [Decimal(2), "2", np.ones(2), np.nan])
@pytest.mark.parametrize("name", ["factor", "stretch"])
def test_what_is_no_number_modifies_nothing(curves, name, odd):
    options = {"modification": "a"} if name == "factor" else {}
    value = repr(odd) if isinstance(odd, np.ndarray) else odd
    with refused(name, value, "At most 1e+140 in size", names="must be a finite number"):
        studies.resampled(
            2,
            curves=curves,
            n_runs=2,
            **options,
            **{name: odd},
            rng=np.random.default_rng(0),
        )
