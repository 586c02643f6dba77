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
def test_both_ways_equal_plain_loops(sizes, k, way):
    groups = random_groups(sizes, k)
    design, _ = design_of(groups)
    orders = shuffles.make_plan(sizes, 40, allow_exact=False).block(0)
    expected = sums_by_loops(groups, orders)
    np.testing.assert_allclose(way(design)(orders)[:, 0], expected, atol=1e-12 * design.strata.sum())


@pytest.mark.parametrize("way", [reassign._by_members, reassign._by_pairs])
def test_both_ways_hold_for_paired_designs(way):
    groups = random_groups((4, 4, 4), 5)
    design, _ = design_of(groups, paired=True)
    orders = shuffles.make_plan((4, 4, 4), 40, paired=True, allow_exact=False).block(0)
    expected = sums_by_loops(groups, orders)
    np.testing.assert_allclose(way(design)(orders)[:, 0], expected, atol=1e-12 * design.strata.sum())


@pytest.mark.parametrize("sizes", [(3, 3), (4, 4), (2, 5), (5, 2), (1, 6), (7, 7)])
@pytest.mark.parametrize("batch", [None, 1, 7])
def test_all_splits_are_those_of_the_plan(sizes, batch):
    design, _ = design_of(random_groups(sizes, 5))
    plan = shuffles.make_plan(sizes, None)
    orders = np.concatenate(list(plan.blocks()))
    expected = reassign._by_members(design)(orders)[:, 0]
    found = shuffled(design, plan, batch)[:, 0]
    for effect in range(2):
        np.testing.assert_allclose(np.sort(found[effect]), np.sort(expected[effect]), atol=1e-12 * design.strata.max())


@pytest.mark.parametrize("batch", [1, 7, 1000, 5000])
@pytest.mark.parametrize(("sizes", "k"), [((6, 6), 4), ((4, 4, 4, 4), 50)])
def test_a_batch_bounds_the_arrays_and_changes_no_sum(batch, sizes, k):
    design, _ = design_of(random_groups(sizes, k))
    plan = shuffles.make_plan(sizes, 2500, allow_exact=False)
    parts = list(reassign.shuffled_sums(design, plan, batch, lambda blocks: blocks))
    assert max(part.shape[-1] for part in parts) <= batch
    np.testing.assert_allclose(np.concatenate(parts, axis=-1), shuffled(design, plan), rtol=1e-9, atol=1e-12)
