"""No p of a pair depends on the order in which algorithms are given; the difference only turns its sign."""

import warnings

import numpy as np
import pytest

import xcurves
from strategies import absent, make_curves

TASKS, RUNS = 14, 6  # more flips of signs and more deals than are drawn
ORDERS = ([2, 1, 0], [1, 2, 0])


def tasks(sizes):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(TASKS, 3, RUNS, 5)) + rng.normal(size=(TASKS, 3, 1, 1))
    return absent(make_curves(values, task=[f"t{i}" for i in range(TASKS)]), sizes)


CALLS = {
    "across_tasks": lambda curves: xcurves.across_tasks(curves, n_resamples=499, rng=0),
    "profile_across_tasks": lambda curves: xcurves.profile_across_tasks(curves, n_resamples=499, rng=0),
    "pairwise": lambda curves: xcurves.pairwise(curves.isel(task=[0, 1]), n_resamples=499, rng=0),
    "sequential": lambda curves: xcurves.sequential(
        curves.isel(run=slice(4), task=[0, 1]).curves.assign_looks(2),
        n_looks=2,
        n_resamples=499,
    ),
    "speedup": lambda curves: xcurves.speedup(curves, reference="a1", rng=0),
}


def by_pair(result, name):
    """Return the values of each pair, by the set of its algorithms."""
    dim = "algorithm"
    names = result["algorithm"].to_numpy().tolist()
    if "pair" in result.dims:
        dim = "pair"
        both = zip(
            result["algorithm_a"].to_numpy(),
            result["algorithm_b"].to_numpy(),
            strict=True,
        )
        names = [frozenset(map(str, pair)) for pair in both]
    values = result[name].transpose(dim, ...).to_numpy()
    return dict(zip(names, values, strict=True))


@pytest.mark.plain(4)
@pytest.mark.parametrize("sizes", [[RUNS, RUNS, RUNS], [4, 5, 6]])
@pytest.mark.parametrize("name", CALLS)
def test_no_p_depends_on_the_order(name, sizes):
    curves = tasks(sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, *found = (CALLS[name](curves.isel(algorithm=order)) for order in ([0, 1, 2], *ORDERS))
    dims = {"pair", "algorithm"}
    pvalues = [each for each in expected.data_vars if "pvalue" in each and dims & {*expected[each].dims}]
    assert pvalues
    for other in found:
        for each in pvalues:
            before, after = by_pair(expected, each), by_pair(other, each)
            assert before.keys() == after.keys()
            for pair, values in before.items():
                np.testing.assert_allclose(after[pair], values, rtol=1e-12, err_msg=f"{each} of {pair}")


def test_the_difference_turns_its_sign():
    curves = tasks([RUNS, RUNS, RUNS])
    one = CALLS["across_tasks"](curves)
    other = CALLS["across_tasks"](curves.isel(algorithm=[2, 1, 0]))
    for name in ("difference", "difference_ci", "difference_ci_simultaneous"):
        for pair, values in by_pair(one, name).items():
            found = -by_pair(other, name)[pair]
            np.testing.assert_allclose(np.sort(found, axis=None), np.sort(values, axis=None), rtol=1e-9)
