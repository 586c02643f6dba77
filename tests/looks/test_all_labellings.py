"""What a sequential p claims, counted over all labellings of the same numbers within batches."""

import itertools

import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow

NOTHING = np.nan


def labellings(batches, rng):
    """Every way to label the numbers of batches; `batches` has the runs of every algorithm in each batch.

    An array with dims (labelling, algorithm, run, training) and the look of each run.
    """
    every = [list(_deals(sizes, rng.normal(size=sum(sizes)))) for sizes in batches]
    rows = [np.concatenate(parts, axis=1) for parts in itertools.product(*every)]
    look = np.repeat(np.arange(len(batches)) + 1, [max(sizes) for sizes in batches])
    names = [f"a{i}" for i in range(len(batches[0]))]
    coords = {
        "labelling": range(len(rows)),
        "algorithm": names,
        "run": range(len(look)),
        "training": [1.0],
    }
    made = xr.DataArray(np.array(rows)[..., np.newaxis], coords, list(coords))
    return made.assign_coords(look=("run", look))


def _deals(sizes, numbers):
    """Every way to give so many of the numbers to each algorithm, shape (algorithm, run)."""
    owners = np.repeat(np.arange(len(sizes)), sizes)
    for each in sorted(set(itertools.permutations(owners.tolist()))):
        dealt = np.full((len(sizes), max(sizes)), NOTHING)
        for algorithm, n_runs in enumerate(sizes):
            dealt[algorithm, :n_runs] = numbers[np.array(each) == algorithm]
        yield dealt


def looked_at(curves, n_looks, **options):
    return xcurves.sequential(
        curves,
        n_looks=n_looks,
        n_resamples=10**5,
        **{"repeated_intervals": False, **options},
    )


def shares_at_most(p):
    """The share of labellings with a p at most as large as each."""
    return np.array([(p <= each * (1 + 1e-12)).mean() for each in p])


CASES = {
    "equal": [(2, 2), (2, 2)],
    "unequal": [(3, 2), (1, 2)],
    "single runs": [(1, 1)] * 5,
    "one algorithm only in the second": [(2, 3), (2, 0), (1, 1)],
}


@pytest.mark.plain(3)
@pytest.mark.parametrize("spending", ["square", "linear"])
@pytest.mark.parametrize("batches", CASES.values(), ids=CASES.keys())
def test_at_every_look_and_at_every_level_no_more_than_the_share_spent_is_rejected(batches, spending):
    found = looked_at(labellings(batches, np.random.default_rng(1)), len(batches), spending=spending).squeeze("pair")
    share = (np.arange(1, len(batches) + 1) / len(batches)) ** {
        "square": 2,
        "linear": 1,
    }[spending]
    p = found.pvalue.to_numpy()
    assert p[:, -1].min() < 0.2
    for k, spent in enumerate(share):
        below_1 = p[:, k] < 1  # a p of more than 1 is given as 1
        assert (shares_at_most(p[:, k])[below_1] <= p[below_1, k] * spent + 1e-12).all()
    # whoever stops where it is smallest
    assert (shares_at_most(p.min(axis=1)) <= p.min(axis=1) + 1e-12).all()


@pytest.mark.parametrize("alpha", [slow(0.1), 0.25, slow(0.6)])
@pytest.mark.parametrize("batches", CASES.values(), ids=CASES.keys())
def test_all_labellings_share_one_boundary_and_the_stagewise_p_holds_where_one_stops(batches, alpha):
    found = looked_at(
        labellings(batches, np.random.default_rng(2)),
        len(batches),
        confidence_level=1 - alpha,
        spending="linear",
    ).squeeze("pair")
    boundary = found.critical_value.to_numpy()
    finite = np.isfinite(boundary)
    assert (finite == finite[0]).all()
    np.testing.assert_allclose(boundary[:, finite[0]] - boundary[0, finite[0]], 0, atol=1e-9)
    rejected = found.rejected.to_numpy() == 1
    assert 0 < rejected[:, -1].mean() <= alpha
    with np.errstate(invalid="ignore"):
        crosses = found.statistic.to_numpy() >= boundary * (1 - 1e-9)
    np.testing.assert_array_equal(rejected, np.logical_or.accumulate(crosses & finite, axis=1))
    stops = np.where(rejected.any(axis=1), rejected.argmax(axis=1), len(batches) - 1)
    stagewise = found.pvalue_stagewise.to_numpy()[np.arange(len(stops)), stops]
    np.testing.assert_allclose(shares_at_most(stagewise), stagewise)
    np.testing.assert_array_equal(stagewise <= alpha + 1e-12, rejected[:, -1])


def test_tasks_are_dealt_each_by_itself():
    rng = np.random.default_rng(3)
    first, second = (labellings([(1, 1)] * 3, rng) for _ in "xy")
    scores = np.array([first.to_numpy()[i] for i in range(8) for _ in range(8)])
    others = 5 * np.array([second.to_numpy()[j] for _ in range(8) for j in range(8)])
    both = xr.DataArray(
        np.stack([scores, others], axis=1),
        {
            "task": ["x", "y"],
            "algorithm": first.algorithm,
            "run": first.run,
            "training": [1.0],
        },
        ["labelling", "task", "algorithm", "run", "training"],
    ).assign_coords(look=first.look)
    found = looked_at(both, 3, task="task", spending="linear").squeeze("pair")
    p = found.pvalue.to_numpy()
    assert found.n_assignments.to_numpy()[0].tolist() == [4, 16, 64]
    assert p.min() == 2 / 64
    for k in range(3):
        below_1 = p[:, k] < 1
        assert (shares_at_most(p[:, k])[below_1] <= p[below_1, k] * (k + 1) / 3 + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("shift", [slow(0.0), 2.0])
def test_intervals_of_all_looks_together_hold_the_true_shift(shift):
    """Labels are dealt, then the first algorithm's numbers are raised; the rest is the share that the level allows."""
    curves = labellings([(2, 2), (2, 2)], np.random.default_rng(4))
    found = looked_at(
        curves + shift * (curves.algorithm == "a0"),
        2,
        confidence_level=0.75,
        spending="linear",
        repeated_intervals=True,
    ).squeeze("pair")
    low, high = found.difference_ci.transpose("ci_bound", ...).to_numpy()
    with np.errstate(invalid="ignore"):
        missed = ~((low <= shift + 1e-9) & (high >= shift - 1e-9)).all(axis=1)
    assert 0 < missed.mean() <= 0.25


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.5, 0.6])
@pytest.mark.parametrize("far", [False, True], ids=["three equal", "one far away"])
def test_holm_over_pairs_holds_though_decided_algorithms_are_dropped(far, alpha):
    sizes = [(3, 3), (2, 2)] if far else [(2, 2, 2), (1, 1, 1)]
    curves = labellings(sizes, np.random.default_rng(5))
    if far:
        curves = curves.reindex(algorithm=["a0", "a1", "a2"])
        curves[:, 2, :, 0] = 100 + np.random.default_rng(6).normal(size=5)
    else:
        # the names of algorithms change no smallest p: one order of the last batch is enough
        curves = curves[::6]
    first = looked_at(curves.where(curves.look == 1), 2, confidence_level=1 - alpha, spending="linear")
    goes_on = first.n_runs_next > 0
    dropped = curves.where((curves.look == 1) | goes_on)
    second = looked_at(dropped, 2, confidence_level=1 - alpha, spending="linear")
    equal = second.pvalue_adjusted.sel(pair="a0 - a1") if far else second.pvalue_adjusted.min("pair")
    p = equal.min("look").to_numpy()
    assert (shares_at_most(p)[p < 1] <= p[p < 1] + 1e-12).all()
    assert 0 < (p <= alpha + 1e-12).mean() <= alpha
    assert bool(goes_on.all()) == (not far or alpha < 0.6)  # otherwise some are dropped
    whole = looked_at(curves, 2, confidence_level=1 - alpha, spending="linear")
    assert (whole.rejected.isel(look=1) >= second.rejected.isel(look=1)).all()
    at_first = second.rejected.isel(look=0) == 0
    np.testing.assert_array_equal(whole.pvalue.where(at_first), second.pvalue.where(at_first))


@pytest.mark.slow
def test_drawn_assignments_hold_on_average_over_seeds():
    """Six assignments at the first look, then 20 drawn ones of 36, over all labellings and many seeds."""
    curves = labellings([(2, 2), (2, 2)], np.random.default_rng(7))
    every = [
        xcurves.sequential(curves, n_looks=2, n_resamples=19, repeated_intervals=False, rng=seed).pvalue.squeeze("pair")
        for seed in range(30)
    ]
    p = np.array([each.to_numpy()[:, 1] for each in every])
    for level in (0.1, 0.2, 0.5):
        by_seed = (p <= level + 1e-12).mean(axis=1)
        assert 0 < by_seed.mean() <= level + 3 * by_seed.std(ddof=1) / 30**0.5
