"""Limits by inversion beside plain loops over shifts and relabellings."""

import numpy as np
import pytest

import oracles
from layers import every, slow
from xcurves.kernels.one_task import contrasts
from xcurves.kernels.resampling import plans


def kept(u, shifts, orders, sizes, weights, paired, alternative, alpha):
    """Whether the test does not reject each shift."""
    weights = np.array(weights, float)
    moved = u - np.multiply.outer(shifts, np.repeat(weights / (weights**2).sum(), sizes))
    t = oracles.studentized(moved, orders, sizes, weights, paired)
    observed = oracles.studentized(moved, np.arange(len(u))[np.newaxis], sizes, weights, paired)
    slack = 1e-11 * (1 + abs(observed))
    reached = {
        "two-sided": ~(abs(t) < abs(observed) - slack),
        "greater": ~(t < observed - slack),
        "less": ~(t > observed + slack),
    }
    return np.count_nonzero(reached[alternative], axis=-1) > np.floor(alpha * t.shape[-1] + 1e-9)


def outermost(test, estimate, error, side, fine=200):
    """Scan shifts, then narrow down: the outermost shift that is not rejected, and whether one inside is."""
    distances = np.concatenate([np.linspace(0, 12, fine), np.geomspace(12.1, 1e4, 30)])
    grid = estimate + side * error * distances
    states = test(grid)
    if states[-1]:
        return side * np.inf, not states.all()
    last = np.flatnonzero(states)[-1]
    inside, outside = grid[last], grid[last + 1]
    for _ in range(9):
        cells = np.linspace(inside, outside, 17)
        last_cell = np.flatnonzero(test(cells[:-1]))[-1]
        inside, outside = cells[last_cell], cells[last_cell + 1]
    return inside, not states[: last + 1].all()


CASES = [
    ((4, 4), (1, -1), False, 0.1),
    ((5, 5), (1, -1), False, 0.05),
    ((3, 6), (1, -1), False, 0.1),
    ((6, 4), (2, -2), False, 0.05),
    ((2, 8), (1, -1), False, 0.1),
    ((2, 2, 3), (1, -0.5, -0.5), False, 0.1),
    ((6, 6), (1, -1), True, 0.1),
    ((3, 3, 3), (1, -0.5, -0.5), True, 0.1),
]


@pytest.mark.parametrize(
    ("sizes", "weights", "paired", "alpha", "alternative"),
    every(
        4,
        [(*case, alternative) for case in CASES for alternative in ("two-sided", "less", "greater")],
    ),
)
def test_limits_equal_those_by_a_scan_of_shifts(sizes, weights, paired, alpha, alternative):
    orders = oracles.labelled_orders(sizes, paired)
    plan = plans.plan_runs(sizes, None, paired=paired, labelled=True)
    assert plan.n_assignments == len(orders)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        u = np.concatenate([rng.normal(rng.normal(), 1 + 2 * i, size) for i, size in enumerate(sizes)])
        design = contrasts.ContrastDesign(u[np.newaxis], sizes, np.array(weights, float), paired)
        found = {name: values[0] for name, values in contrasts.contrast_tests(design, plan, alternative, alpha).items()}
        error = abs(found["estimate"] / found["statistic"])

        def test(shift, u=u):
            return kept(u, shift, orders, sizes, weights, paired, alternative, alpha)

        gap = False
        for end, side, other in zip(found["estimate_ci"], (-1, 1), ("less", "greater"), strict=True):
            expected, inner = outermost(test, found["estimate"], error, side)
            gap |= inner
            if alternative == other:
                assert end == side * np.inf
            else:
                np.testing.assert_allclose(end, expected, rtol=0, atol=1e-8 * error)
        assert bool(found["estimate_ci_gap"]) >= (gap and alternative == "two-sided")


@pytest.mark.slow
def test_a_gap_is_said_where_the_accepted_set_has_one():
    """Of 2 v 8 numbers; the spread of the two is a quarter, and one data set in five has a gap."""
    sizes, alpha = (2, 8), 0.05
    orders = oracles.labelled_orders(sizes, False)
    plan = plans.plan_runs(sizes, None, labelled=True)
    rng = np.random.default_rng(5)
    u = rng.normal(size=(60, 10)) * np.repeat([0.25, 1], sizes)
    found = contrasts.contrast_tests(
        contrasts.ContrastDesign(u, sizes, np.array([1.0, -1.0]), False),
        plan,
        "two-sided",
        alpha,
    )
    scanned = []
    for row, estimate, t in zip(u, found["estimate"], found["statistic"], strict=True):

        def test(shift, row=row):
            return kept(row, shift, orders, sizes, (1, -1), False, "two-sided", alpha)

        sides = [outermost(test, estimate, abs(estimate / t), side, 1_000)[1] for side in (-1, 1)]
        scanned.append(any(sides))
    said = found["estimate_ci_gap"] == 1
    assert 3 <= np.count_nonzero(scanned) < 25
    assert said[scanned].all()  # a scan may miss a narrow gap, not the reverse
    assert np.count_nonzero(said) <= np.count_nonzero(scanned) + 2


@pytest.mark.parametrize(
    "sizes",
    [
        *[(3, 3), (5, 5), (5, 15)],
        *map(slow, [(3, 9), (4, 4), (10, 10), (4, 12)]),
    ],
)
def test_p_and_interval_never_disagree(sizes):
    rng = np.random.default_rng(sizes)
    n = 400
    spreads = rng.choice([0.25, 1, 4], (n, 2))
    u = rng.normal(size=(n, sum(sizes))) * np.repeat(spreads, sizes, axis=1)
    u[n // 2 :] = np.round(2 * u[n // 2 :])  # ties
    u += np.repeat(rng.normal(size=(n, 2)), sizes, axis=1).round()
    plan = plans.plan_runs(sizes, 2_000)
    for alpha in (0.05, 0.2):
        found = contrasts.contrast_tests(
            contrasts.ContrastDesign(u, sizes, np.array([1.0, -1.0]), False),
            plan,
            "two-sided",
            alpha,
        )
        low, high = found["estimate_ci"].T
        differs = found["pvalue"] <= alpha + 1e-12
        outside = (low > 0) | (high < 0)
        # as of runs that do not differ
        disagree = (differs != outside) & ~np.isnan(found["pvalue"]) & ~np.isnan(low)
        assert not disagree[found["estimate_ci_gap"] == 0].any()
        assert found["estimate_ci_gap"].mean() < (0.02 if plan.exact else 0.05)
