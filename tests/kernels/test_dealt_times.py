from itertools import combinations, product

import numpy as np
import pytest

from layers import slow
from xcurves.kernels.resampling.plans import plan_runs
from xcurves.kernels.times import dealt_times


def count_at(runs, others):
    """In how many deals |T| is at least that of the runs at one place, by a loop."""
    pool, size = np.concatenate([runs, others]), len(runs)

    def statistic(first):
        a, b = pool[list(first)], np.delete(pool, list(first))
        spread = a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)
        return (a.mean() - b.mean()) ** 2 / spread

    observed = statistic(range(size))
    return sum(
        statistic(first) >= observed * (1 - 1e-9)
        for first in combinations(range(len(pool)), size)
    )


def count_signs(z):
    means = [abs(np.mean(z * signs)) for signs in product([-1, 1], repeat=len(z))]
    return sum(mean >= abs(z.mean()) * (1 - 1e-9) for mean in means)


def example(seed, sizes, paired):
    rng = np.random.default_rng(seed)
    u = np.linspace(0.2, 3, 6)
    runs = (
        1
        - np.exp(-rng.uniform(0.8, 1.5) * u)
        + rng.normal(0, 0.1, (sizes[0], 1))
        + rng.normal(0, 0.05, (sizes[0], 6))
    )
    others = rng.normal(0.8, 0.08, sizes[1])
    return u, runs, others, plan_runs(sizes, None, paired=paired)


def by_loops(u, runs, others, paired):
    """The share of deals that count on a grid, and the mean difference."""
    sizes = (len(runs), len(others))
    grid = np.linspace(u[0], u[-1], 151)
    on_grid = np.array([np.interp(grid, u, run) for run in runs])
    columns = range(len(grid))
    if paired:
        share = np.array(
            [count_signs(on_grid[:, k] - others) / 2 ** sizes[0] for k in columns]
        )
    else:
        n_total = len(list(combinations(range(sum(sizes)), sizes[0])))
        share = np.array([count_at(on_grid[:, k], others) / n_total for k in columns])
    return grid, share, on_grid.mean(axis=0) - others.mean()


@pytest.mark.parametrize("seed", [0, *map(slow, (1, 2, 3))])
@pytest.mark.parametrize(
    ("sizes", "paired"),
    [((3, 4), False), ((4, 4), False), ((2, 5), False), ((6, 6), True)],
)
def test_the_hull_and_p_are_those_of_loops_over_a_grid(seed, sizes, paired):
    u, runs, others, plan = example(seed, sizes, paired)
    grid, share, difference = by_loops(u, runs, others, paired)
    alpha, step = 0.2, grid[1] - grid[0]
    place = float(grid[86])
    made = dealt_times.dealt_times(u, runs, others, place, plan, alpha)
    before = share[0] if difference[0] < 0 else 1.0
    after = share[-1] if difference[-1] > 0 else 1.0
    accepted = grid[share > alpha]
    assert np.isneginf(made[0]) == (before > alpha)
    assert np.isposinf(made[1]) == (after > alpha)
    if accepted.size and np.isfinite(made[0]):
        assert accepted[0] - step <= made[0] <= accepted[0]
    if accepted.size and np.isfinite(made[1]):
        assert accepted[-1] <= made[1] <= accepted[-1] + step
    smallest = min(
        max(before, share[grid <= place].max()), max(after, share[grid >= place].max())
    )
    assert made[3] >= smallest - 1e-12
    assert made[3] <= smallest + 4 / plan.n_total  # what a loop may miss between places


def test_deals_with_one_polynomial_all_count():
    """Whole numbers: several deals reach the statistic at the same place."""
    rng = np.random.default_rng(3)
    u, others = np.arange(3.0), rng.integers(0, 6, 5).astype(float)
    runs = rng.integers(0, 5, (3, 3)) + 3.0 * u - 2
    grid, share, _ = by_loops(u, runs, others, False)
    lower, upper, _, _ = dealt_times.dealt_times(
        u, runs, others, 1.0, plan_runs((3, 5), None), 0.2
    )
    accepted = grid[share > 0.2]
    assert lower <= accepted[0]
    assert upper >= accepted[-1]


def test_random_deals_come_near_all_deals():
    u, runs, others, plan = example(1, (5, 6), False)
    some = plan_runs((5, 6), 300, entropy=3)
    assert not some.exact
    place = float(u[3])
    made, drawn = (
        dealt_times.dealt_times(u, runs, others, place, each, 0.1)
        for each in (plan, some)
    )
    assert drawn[3] == pytest.approx(made[3], abs=0.09)
    assert drawn[0] == pytest.approx(made[0], rel=0.1)
