import numpy as np
import pytest
from scipy import stats

import oracles
from layers import slow
from xcurves.kernels.one_task import contrasts
from xcurves.kernels.resampling import plans


def evaluate(
    groups,
    weights,
    n_resamples=None,
    alternative="two-sided",
    alpha=0.05,
    paired=False,
    entropy=0,
):
    sizes = tuple(map(len, groups))
    plan = plans.plan_runs(sizes, n_resamples, paired=paired, labelled=True, entropy=entropy)
    design = contrasts.ContrastDesign(np.concatenate(groups)[np.newaxis], sizes, np.array(weights, float), paired)
    found = contrasts.contrast_tests(design, plan, alternative, alpha)
    return {name: values[0] for name, values in found.items()}, plan


def pvalues(null, observed):
    low = np.mean([t <= observed + 1e-9 for t in null])
    high = np.mean([t >= observed - 1e-9 for t in null])
    return {
        "less": low,
        "greater": high,
        "two-sided": np.mean([abs(t) >= abs(observed) - 1e-9 for t in null]),
    }


def draw(sizes, seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(loc=rng.normal(), scale=1 + i, size=size) for i, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "weights", "paired"),
    [
        ((3, 3), (1, -1), False),
        ((2, 5), (2, -2), False),
        ((3, 2, 3), (1, -0.5, -0.5), False),
        ((5, 5), (1, -1), True),
        ((3, 3, 3), (1, -0.5, -0.5), True),
    ],
)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", slow("less")])
def test_p_is_that_of_all_relabellings(sizes, weights, paired, alternative):
    orders, as_they_are = (
        oracles.labelled_orders(sizes, paired),
        np.arange(sum(sizes))[np.newaxis],
    )
    for seed in range(2):
        groups = draw(sizes, seed)
        found, plan = evaluate(groups, weights, alternative=alternative, paired=paired)
        u = np.concatenate(groups)
        null = oracles.studentized(u, orders, sizes, weights, paired)
        (t,) = oracles.studentized(u, as_they_are, sizes, weights, paired)
        assert plan.n_assignments == len(null)
        assert found["statistic"] == pytest.approx(t)
        assert found["pvalue"] == pytest.approx(pvalues(null, t)[alternative])
        assert found["estimate"] == pytest.approx(sum(a * np.mean(g) for a, g in zip(weights, groups, strict=True)))


def test_statistics_of_two_groups_are_scipys():
    groups = draw((9, 6), 2)
    assert evaluate(groups, (1, -1), 9)[0]["statistic"] == pytest.approx(stats.ttest_ind(*groups, equal_var=False)[0])
    groups = draw((6, 6), 2)
    assert evaluate(groups, (1, -1), 9, paired=True)[0]["statistic"] == pytest.approx(stats.ttest_rel(*groups)[0])


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("weights", [(1, -1), (3, -3)])
def test_the_interval_of_random_relabellings_has_just_the_shifts_that_are_not_rejected(paired, weights):
    """That of all relabellings is tested by a scan of shifts, in test_inversion.py."""
    groups = draw((7, 7), 3)
    found, _ = evaluate(groups, weights, 400, paired=paired)
    low, high = found["estimate_ci"]
    assert low < found["estimate"] < high
    width = high - low

    def p_at(shift):
        moved = [
            groups[0] - shift / (2 * weights[0]),
            groups[1] + shift / (2 * weights[0]),
        ]
        return evaluate(moved, weights, 400, paired=paired)[0]["pvalue"]

    for end, inwards in ((low, 1), (high, -1)):
        assert p_at(end + inwards * 1e-6 * width) > 0.05
        assert p_at(end - inwards * 1e-6 * width) <= 0.05


def test_too_few_assignments_leave_the_interval_unbounded():
    three, _ = evaluate(draw((3, 3), 5), (1, -1))
    assert three["estimate_ci"].tolist() == [-np.inf, np.inf]
    at_90, _ = evaluate(draw((3, 3), 5), (1, -1), alpha=0.1)
    assert np.isfinite(at_90["estimate_ci"]).all()


def test_constant_groups():
    apart, _ = evaluate([np.full(5, 2.0), np.full(5, 1.0)], (1, -1))
    assert apart["statistic"] == np.inf
    assert apart["pvalue"] == 2 / 252
    assert np.isnan(apart["estimate_ci"]).all()  # no spread to measure by
    alike, _ = evaluate([np.full(5, 0.1), np.full(5, 0.1)], (1, -1))
    assert np.isnan(alike["statistic"])
    assert np.isnan(alike["pvalue"])
    assert np.isnan(alike["estimate_ci"]).all()


def test_an_offset_and_a_scale_leave_p_and_move_the_rest():
    groups = draw((6, 6), 6)
    plain, _ = evaluate(groups, (1, -1))
    moved, _ = evaluate([1e-12 * (group + 1e6) for group in groups], (1, -1))
    assert moved["pvalue"] == plain["pvalue"]
    np.testing.assert_allclose(moved["estimate_ci"], 1e-12 * plain["estimate_ci"], rtol=1e-6)


def one_sided_pvalues(groups, weights, shifts):
    """Return the share of relabellings with a T as large as that of the groups with positive weight less each shift."""
    sizes = [len(group) for group in groups]
    moved = np.concatenate(groups) - np.multiply.outer(shifts, np.repeat(np.array(weights) > 0, sizes))
    least = oracles.studentized(moved, np.arange(sum(sizes))[np.newaxis], sizes, weights)
    t = oracles.studentized(moved, oracles.labelled_orders(sizes), sizes, weights)
    return np.mean(t >= least - 1e-10 * (1 + abs(least)), axis=-1)


@pytest.mark.parametrize(
    ("sizes", "weights"),
    [
        ((2, 8), (1, -1)),
        slow((3, 4), (1, -1)),
        slow((4, 4), (1, -1)),
        ((2, 2, 3), (1, -0.5, -0.5)),
    ],
)
@pytest.mark.parametrize("seed", [0, slow(1)])
def test_the_margin_takes_the_largest_p_of_all_smaller_shifts(sizes, weights, seed):
    rng = np.random.default_rng(seed)
    groups = [rng.normal(0, 1 + 2 * place, size) for place, size in enumerate(sizes)]
    plan = plans.plan_runs(sizes, None, labelled=True)
    design = contrasts.ContrastDesign(np.concatenate(groups)[np.newaxis], sizes, np.array(weights, float), False)
    estimate = sum(weight * group.mean() for weight, group in zip(weights, groups, strict=True))
    shifts = np.concatenate([[0.0], np.geomspace(1e-3, 300, 160)])
    below = one_sided_pvalues(groups, weights, estimate - shifts)
    # of this shift and all that are smaller
    at_most = np.maximum.accumulate(below[::-1])[::-1]
    dips = np.flatnonzero(below < at_most)  # where p rises again
    for place in [*dips[:2], 90, 150]:
        margin = shifts[place] - estimate
        if margin < 0:
            continue
        (p,), (limit,) = contrasts.margin_tests(design, plan, margin, 0.2).values()
        if p > at_most[place] + 1e-12:  # between two shifts of the grid
            ends = place + np.argsort(below[place:-1] + below[place + 1 :])[-6:]
            finer = np.concatenate([np.linspace(shifts[end], shifts[end + 1], 50) for end in ends])
            at_most[place] = one_sided_pvalues(groups, weights, estimate - finer).max()
        assert p == pytest.approx(at_most[place])
        assert (p <= 0.2 + 1e-12) == (limit > -margin)
        assert one_sided_pvalues(groups, weights, limit + 1e-7) > 0.2
        assert not (below[shifts > estimate - limit + 1e-7] > 0.2).any()
