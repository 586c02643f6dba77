import numpy as np
import pytest

import oracles
from kernels.test_sums import design_of, random_groups
from xcurves.kernels import reassign, shuffles


def sums_by_loops(groups, orders):
    """SS of both effects after each reassignment, by the definitions."""
    curves = [curve for group in groups for curve in group]
    sizes = list(map(len, groups))
    found = []
    for order in orders:
        ss = oracles.anova_sums(oracles._split(curves, order.tolist(), sizes))
        found.append([ss["algorithm"], ss["interaction"]])
    return np.array(found).T


def shuffled(design, plan, batch=None):
    return np.concatenate(list(reassign.shuffled_sums(design, plan, batch, lambda blocks: blocks)), axis=-1)


@pytest.mark.parametrize(("sizes", "k"), [((4, 5), 3), ((3, 3, 2), 4), ((5, 5, 5), 40), ((6, 6), 100), ((4, 3), 1)])
@pytest.mark.parametrize("way", [reassign._by_members, reassign._by_pairs])
@pytest.mark.parametrize("factored", [False, True])
def test_both_ways_equal_plain_loops(sizes, k, way, factored):
    groups = random_groups(sizes, k)
    design, _ = design_of(groups, factored=factored and k < sum(sizes))
    orders = shuffles.plan_shuffles(sizes, 40, allow_exact=False).block(0)
    expected = sums_by_loops(groups, orders)
    np.testing.assert_allclose(way(design)(orders)[:, 0], expected, atol=1e-12 * design.totals.sum())


@pytest.mark.parametrize("way", [reassign._by_members, reassign._by_pairs])
@pytest.mark.parametrize("factored", [False, True])
def test_both_ways_hold_for_paired_designs(way, factored):
    groups = random_groups((4, 4, 4), 5)
    design, _ = design_of(groups, paired=True, factored=factored)
    orders = shuffles.plan_shuffles((4, 4, 4), 40, paired=True, allow_exact=False).block(0)
    expected = sums_by_loops(groups, orders)
    np.testing.assert_allclose(way(design)(orders)[:, 0], expected, atol=1e-12 * design.totals.sum())


@pytest.mark.parametrize("sizes", [(3, 3), (4, 4), (2, 5), (5, 2), (1, 6), (7, 7)])
@pytest.mark.parametrize("batch", [None, 1, 7])
def test_all_splits_are_those_of_the_plan(sizes, batch):
    design, _ = design_of(random_groups(sizes, 5))
    plan = shuffles.plan_shuffles(sizes, None)
    orders = np.concatenate(list(plan.blocks()))
    expected = reassign._by_members(design)(orders)[:, 0]
    found = shuffled(design, plan, batch)[:, 0]
    for effect in range(2):
        np.testing.assert_allclose(np.sort(found[effect]), np.sort(expected[effect]), atol=1e-12 * design.totals.max())


@pytest.mark.parametrize("batch", [1, 7, 1000, 5000])
@pytest.mark.parametrize(("sizes", "k"), [((6, 6), 4), ((4, 4, 4, 4), 50)])
def test_a_batch_bounds_the_arrays_and_changes_no_sum(batch, sizes, k):
    design, _ = design_of(random_groups(sizes, k))
    plan = shuffles.plan_shuffles(sizes, 2500, allow_exact=False)
    parts = list(reassign.shuffled_sums(design, plan, batch, lambda blocks: blocks))
    assert max(part.shape[-1] for part in parts) <= batch
    np.testing.assert_allclose(np.concatenate(parts, axis=-1), shuffled(design, plan), rtol=1e-9, atol=1e-12)


LARGE = [
    ((515, 515), False),
    ((400, 700), False),
    ((340, 350, 360), False),
    ((520, 520), True),
    ((350, 350, 350), True),
]


@pytest.mark.parametrize(("sizes", "paired"), LARGE)
@pytest.mark.parametrize("k", [1, 3])
def test_more_than_a_thousand_curves_equal_plain_loops(sizes, paired, k):
    groups = random_groups(sizes, k)
    design, _ = design_of(groups, paired=paired, factored=True)
    plan = shuffles.plan_shuffles(sizes, 3, paired=paired)
    assert plan.large
    expected = sums_by_loops(groups, np.concatenate(list(plan.blocks())))
    np.testing.assert_allclose(shuffled(design, plan)[:, 0], expected, atol=1e-12 * design.totals.sum())
    np.testing.assert_array_equal(shuffled(design, plan, batch=2), shuffled(design, plan))


@pytest.mark.parametrize(("sizes", "paired"), LARGE)
def test_more_than_a_thousand_curves_need_no_factor(sizes, paired):
    """Tasks beside each other, each as if alone, with co-moments and with a factor of them."""
    groups = [random_groups(sizes, 4, seed) for seed in range(2)]
    plan = shuffles.plan_shuffles(sizes, 20, paired=paired)
    alone = [design_of(each, paired=paired, factored=True)[0] for each in groups]
    full = [design_of(each, paired=paired)[0] for each in groups]
    together = alone[0]._replace(
        means=np.concatenate([each.means for each in alone]), comoment=np.concatenate([e.comoment for e in alone])
    )
    found = shuffled(together, plan)
    for task in range(2):
        scale = 1e-12 * alone[task].totals.max()
        np.testing.assert_allclose(found[:, task], shuffled(alone[task], plan)[:, 0], atol=scale)
        np.testing.assert_allclose(found[:, task], shuffled(full[task], plan)[:, 0], atol=1e2 * scale)
