import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import oracles
from refusals import raises_other
from xcurves.kernels.resampling import assignments, group_products, plans


def all_orders(plan):
    return group_products.orders_of(np.concatenate(list(plan.blocks())))


def groups_of(order, sizes):
    return [tuple(sorted(part.tolist())) for part in np.split(order, np.cumsum(sizes)[:-1])]


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ((7, 7), 1716),
        ((4, 4, 4), 5775),
        ((3, 3, 3, 3), 15400),
        ((10, 10), 92378),
        ((3, 3), 10),
        ((10, 7), 19448),
    ],
)
def test_number_of_distinct_assignments_is_the_papers(sizes, count):
    assert assignments.count_assignments(sizes) == count


@pytest.mark.parametrize(
    "sizes",
    [
        (3, 3),
        (2, 4),
        (2, 2, 2),
        (1, 2, 3),
        (1, 1, 2),
        (2, 2, 3),
        (1, 1, 1, 2),
        (3, 2, 2),
    ],
)
def test_exact_plan_has_every_distinct_assignment_once(sizes):
    plan = plans.plan_runs(sizes, None)
    found = Counter(frozenset(groups_of(order, sizes)) for order in all_orders(plan))
    expected = {frozenset(groups) for groups in oracles.distinct_assignments(sizes)}
    assert set(found) == expected
    assert set(found.values()) == {1}
    assert plan.n_assignments == plan.n_resamples == len(expected)


@pytest.mark.parametrize("sizes", [(3, 3), (2, 4), (2, 2, 2)])
def test_labelled_plan_has_every_labelled_assignment_once(sizes):
    plan = plans.plan_runs(sizes, None, labelled=True)
    found = Counter(tuple(groups_of(order, sizes)) for order in all_orders(plan))
    assert set(found.values()) == {1}
    assert len(found) == math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("sizes", [(6, 5), (4, 2, 2), (2, 2, 2, 2), (3, 3, 1, 1), (4, 4, 4)])
def test_blocks_that_are_not_taken_from_a_table_of_all_are_the_same(monkeypatch, sizes, labelled):
    """Such a table of 12 v 4 v 4 curves, 4.4 million assignments, would take 500 MB."""
    tabled = plans.plan_runs(sizes, None, labelled=labelled)
    monkeypatch.setattr(plans, "MEMORY", 0)
    by_block = plans.plan_runs(sizes, None, labelled=labelled)
    for number in range(tabled.n_blocks):
        np.testing.assert_array_equal(by_block.block(number), tabled.block(number))


@pytest.mark.parametrize(("m", "n_runs"), [(2, 2), (2, 5), (3, 3), (3, 4), (4, 2)])
@pytest.mark.parametrize("labelled", [False, True])
def test_exact_paired_plan_permutes_algorithms_within_runs(m, n_runs, labelled):
    sizes = (n_runs,) * m
    plan = plans.plan_runs(sizes, None, paired=True, labelled=labelled)
    orders = all_orders(plan)
    labels = np.concatenate(list(plan.blocks())).reshape(-1, m, n_runs)
    assert (np.sort(labels, axis=1) == np.arange(m)[:, np.newaxis]).all()
    found = {tuple(groups_of(order, sizes)) for order in orders}
    expected = {
        tuple(tuple(i * n_runs + j for i, j in sorted(members)) for members in assignment)
        for assignment in oracles.paired_assignments(m, n_runs)
    }
    if not labelled:
        expected = {frozenset(assignment) for assignment in expected}
        found = {frozenset(assignment) for assignment in found}
    assert found == expected
    assert len(orders) == len(expected)


def test_blocks_of_an_exact_plan_join_without_gap_or_overlap():
    plan = plans.plan_runs((8, 9), None)
    assert plan.n_blocks > 2
    orders = all_orders(plan)
    assert len({frozenset(groups_of(order, (8, 9))) for order in orders}) == 24310


@pytest.mark.parametrize(
    ("ceiling", "exact", "n"),
    [(None, True, 92378), (92378, True, 92378), (92377, False, 92377)],
)
def test_n_resamples_is_a_ceiling(ceiling, exact, n):
    plan = plans.plan_runs((10, 10), ceiling)
    assert (plan.exact, plan.n_resamples) == (exact, n)
    assert plan.n_total == n + (not exact)


def test_by_default_too_many_assignments_are_sampled():
    plan = plans.plan_runs((10, 10, 10), None)
    assert (plan.exact, plan.n_resamples) == (False, 9_999)


@pytest.mark.parametrize("paired", [False, True])
def test_a_random_block_is_the_same_in_whatever_order(paired):
    plan = plans.plan_runs((12, 12, 12), 5000, paired=paired, entropy=7)
    late = plan.block(4)
    np.testing.assert_array_equal(late, list(plan.blocks())[4])
    assert len(late) == 5000 - 4 * plans.BLOCK
    other = plans.plan_runs((12, 12, 12), 5000, paired=paired, entropy=8)
    assert (other.block(4) != late).any()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("sizes", [(3, 2, 2), (4, 3)])
def test_a_block_is_the_same_each_time(monkeypatch, exact, kept, sizes):
    monkeypatch.setattr(plans, "KEPT", 2**26 if kept else 0)
    plan = plans.plan_runs(sizes, None if exact else 50, allow_exact=exact)
    first = plan.block(0)
    with raises_other(ValueError, match="read-only"):
        first[:] = 0
    assert len(plan._kept) == kept
    np.testing.assert_array_equal(plan.block(0), first)
    assert plan.block(0).dtype == np.int8


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5), st.integers(0, 99))
def test_every_random_order_is_a_permutation(sizes, entropy):
    plan = plans.plan_runs(tuple(sizes), 50, allow_exact=False, entropy=entropy)
    labels = plan.block(0)
    for group, size in enumerate(sizes):
        np.testing.assert_array_equal(np.count_nonzero(labels == group, axis=1), size)


def check_uniform(drawn, n):
    """Chi-square of draws over all of n labelled assignments, at 1e-6."""
    found = Counter(drawn)
    assert len(found) == n
    assert stats.chisquare(list(found.values())).pvalue > 1e-6


@pytest.mark.plain(2)
@pytest.mark.parametrize("sizes", [(2, 2), (1, 3), (2, 1, 2)])
@pytest.mark.parametrize("paired", [False, True])
def test_random_assignments_are_uniform(sizes, paired):
    if paired and len(set(sizes)) > 1:
        sizes = (2, 2, 2)
    plan = plans.plan_runs(sizes, 8_000, paired=paired, allow_exact=False, entropy=3)
    drawn = (tuple(groups_of(order, sizes)) for order in all_orders(plan))
    check_uniform(drawn, assignments.count_assignments(sizes, paired=paired, labelled=True))


class Coarse:
    """A source of keys of which many are equal."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def integers(self, low, high, shape, dtype, endpoint=False):
        return self.rng.integers(0, 3, shape).astype(dtype) << dtype(16 * endpoint)


def test_ties_of_keys_at_a_boundary_are_redrawn():
    """Of several groups, and of two."""
    check_uniform(map(tuple, assignments.draw_partitions(Coarse(), 6_000, (2, 2)).tolist()), 6)
    check_uniform(
        map(
            tuple,
            assignments.draw_two_groups(Coarse(), 30_000, (2, 2), paired=False).tolist(),
        ),
        6,
    )


def test_many_curves_need_wider_keys():
    plan = plans.plan_runs((700, 700, 600), 20, entropy=1)
    labels = plan.block(0)
    np.testing.assert_array_equal(np.sort(labels, axis=1), np.tile(plan.observed, (20, 1)))


def test_labels_of_many_groups_do_not_overflow():
    plan = plans.plan_runs((1,) * 200, 3, labelled=True, entropy=1)
    np.testing.assert_array_equal(np.sort(plan.block(0), axis=1), np.tile(np.arange(200), (3, 1)))


@pytest.mark.parametrize(
    ("sizes", "paired"),
    [((2, 2), False), ((1, 3), False), ((3, 1), False), ((2, 2), True)],
)
def test_two_groups_are_uniform(sizes, paired):
    labels = assignments.draw_two_groups(np.random.default_rng(0), 40_000, sizes, paired)
    np.testing.assert_array_equal(labels.sum(axis=1), sizes[1])
    check_uniform(
        map(tuple, labels.tolist()),
        assignments.count_assignments(sizes, paired=paired, labelled=True),
    )


@pytest.mark.parametrize("paired", [False, True])
def test_labels_of_two_large_groups_are_those_of_one_draw_of_keys(paired):
    plan = plans.plan_runs((600, 600), 500, paired=paired, entropy=4)
    last = plan.n_blocks - 1
    labels = plan.block(last)
    assert len(labels) == 64
    rng = plans.generator(4, paired, 600, 600, last)
    if paired:
        drawn = rng.integers(0, 2, (64, 600), np.uint8) == 1
    else:
        drawn = rng.integers(0, 2**32, (64, 1_200), np.uint32).argsort(axis=1).argsort(axis=1) < 600
    np.testing.assert_array_equal(labels[:, : drawn.shape[1]] == 0, drawn)
    if paired:
        np.testing.assert_array_equal(labels[:, :600], 1 - labels[:, 600:])
    assert sum(map(len, plan.blocks())) == 500
    again = plans.plan_runs((600, 600), 500, paired=paired, entropy=4)
    np.testing.assert_array_equal(again.block(last), labels)


def test_seeded_labels_stay_as_they_are():
    """What a seed gives is a promise: the first random labels of each way of drawing, kept as digits."""
    found = {
        name: "".join(
            map(
                str,
                plans.plan_runs(sizes, 1, paired=paired, allow_exact=False, entropy=7).block(0)[0],
            )
        )
        for name, sizes, paired in [
            ("partitions", (4, 4, 4), False),
            ("runs", (4, 4, 4), True),
            ("two", (6, 6), False),
            ("swaps", (6, 6), True),
        ]
    }
    assert found == {
        "partitions": "010121002212",
        "runs": "210210200211",
        "two": "111001001100",
        "swaps": "011001100110",
    }
