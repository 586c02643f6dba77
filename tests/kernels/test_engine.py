import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from kernels.test_sums import design_of, random_groups
from layers import every
from xcurves.kernels.resampling import engine, group_products, moments, plans, shifts


def sums_by_loops(groups, orders):
    """SS of both effects after each reassignment, by the definitions."""
    curves = [curve for group in groups for curve in group]
    sizes = list(map(len, groups))
    found = []
    for order in orders:
        ss = oracles.anova_sums(oracles._split(curves, order.tolist(), sizes))
        found.append([ss["algorithm"], ss["interaction"]])
    return np.array(found).T


def shuffled(design, plan):
    return np.concatenate(list(parts_of(design, plan)), axis=-1)


def parts_of(design, plan):
    means = np.sqrt(design.n_levels) * design.means
    rank = min(sum(design.sizes), design.n_levels) - 1
    return engine.squared_sums(means, design.comoment, rank, plan)


def by_members(design):
    """Sums of squares from labels, by sums of features."""
    rank = min(sum(design.sizes), design.n_levels) - 1
    factor = design.comoment if moments.is_factor(design.comoment) else moments.factor_of(design.comoment, rank)
    means = np.sqrt(design.n_levels) * design.means
    features = np.concatenate([means[..., np.newaxis], factor], axis=-1).swapaxes(1, 2)

    def evaluate(labels):
        found = group_products.squares_over_groups(features, labels, design.sizes)
        return np.stack([found[:, 0], found[:, 1:].sum(axis=1)])

    return evaluate


def by_pairs(design):
    """The same with co-moments of pairs."""
    comoment = design.comoment
    products = comoment @ comoment.swapaxes(-1, -2) if moments.is_factor(comoment) else comoment

    alone = np.sqrt(design.n_levels) * design.means[:, np.newaxis]
    return lambda labels: group_products.squares_of_pairs(alone, products, labels, design.sizes)


UNPAIRED = [((4, 5), 3), ((3, 3, 2), 4), ((5, 5, 5), 40), ((6, 6), 100), ((4, 3), 1)]


@pytest.mark.plain(8)
@pytest.mark.parametrize(
    ("sizes", "k", "paired"),
    [*((*each, False) for each in UNPAIRED), ((4, 4, 4), 5, True)],
)
@pytest.mark.parametrize("way", [by_members, by_pairs])
@pytest.mark.parametrize("factored", [False, True])
def test_all_ways_equal_plain_loops(sizes, k, paired, way, factored):
    groups = random_groups(sizes, k)
    design, _ = design_of(groups, paired=paired, factored=factored and k < sum(sizes))
    labels = plans.plan_runs(sizes, 40, paired=paired, allow_exact=False).block(0)
    expected = sums_by_loops(groups, group_products.orders_of(labels))
    np.testing.assert_allclose(way(design)(labels)[:, 0], expected, atol=1e-12 * design.totals.sum())


@pytest.mark.parametrize("sizes", [(3, 3), (4, 4), (2, 5), (5, 2), (1, 6), (7, 7)])
@pytest.mark.parametrize("budget", [engine.CACHE, 1, 700])
def test_all_splits_are_those_of_the_plan(sizes, budget, monkeypatch):
    monkeypatch.setattr(engine, "CACHE", budget)
    design, _ = design_of(random_groups(sizes, 5))
    plan = plans.plan_runs(sizes, None)
    expected = by_members(design)(np.concatenate(list(plan.blocks())))[:, 0]
    found = shuffled(design, plan)[:, 0]
    for effect in range(2):
        np.testing.assert_allclose(
            np.sort(found[effect]),
            np.sort(expected[effect]),
            atol=1e-12 * design.totals.max(),
        )


# bytes of a reassignment: doubles of 12 curves, or half of 4 bytes for each of 40 pairs of curves in one group
@pytest.mark.plain(3)
@pytest.mark.parametrize("rows", [1, 7, 1000, 5000])
@pytest.mark.parametrize(("sizes", "k", "bytes_each"), [((6, 6), 4, 8 * 12), ((4, 4, 4, 4), 50, 2 * 40)])
def test_a_budget_bounds_the_arrays_and_changes_no_sum(rows, sizes, k, bytes_each, monkeypatch):
    design, _ = design_of(random_groups(sizes, k))
    plan = plans.plan_runs(sizes, 2500, allow_exact=False)
    whole = shuffled(design, plan)
    monkeypatch.setattr(engine, "CACHE", rows * bytes_each)
    parts = list(parts_of(design, plan))
    assert max(part.shape[-1] for part in parts) == min(rows, plan.rows, 2500)
    np.testing.assert_allclose(np.concatenate(parts, axis=-1), whole, rtol=1e-9, atol=1e-12)


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
    plan = plans.plan_runs(sizes, 3, paired=paired)
    assert sum(sizes) > plans.FEW
    expected = sums_by_loops(groups, group_products.orders_of(np.concatenate(list(plan.blocks()))))
    np.testing.assert_allclose(shuffled(design, plan)[:, 0], expected, atol=1e-12 * design.totals.sum())


@pytest.mark.plain(1)
@pytest.mark.parametrize(("sizes", "paired"), every(4, LARGE))
def test_more_than_a_thousand_curves_need_no_factor(sizes, paired):
    """Tasks beside each other, each as if alone, with co-moments and with a factor of them."""
    groups = [random_groups(sizes, 4, seed) for seed in range(2)]
    plan = plans.plan_runs(sizes, 20, paired=paired)
    alone = [design_of(each, paired=paired, factored=True)[0] for each in groups]
    full = [design_of(each, paired=paired)[0] for each in groups]
    together = alone[0]._replace(
        means=np.concatenate([each.means for each in alone]),
        comoment=np.concatenate([e.comoment for e in alone]),
    )
    found = shuffled(together, plan)
    for task in range(2):
        scale = 1e-12 * alone[task].totals.max()
        np.testing.assert_allclose(found[:, task], shuffled(alone[task], plan)[:, 0], atol=scale)
        np.testing.assert_allclose(found[:, task], shuffled(full[task], plan)[:, 0], atol=1e2 * scale)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(
    ("sizes", "n_resamples"),
    [((3, 4), None), ((3, 3, 2), 70), ((2,) * 7, 70), ((4, 4), None)],
)
def test_group_sums_are_those_of_plain_loops(sizes, n_resamples, paired):
    if paired and len(set(sizes)) > 1:
        sizes = (3,) * len(sizes)
    features = np.random.default_rng(0).integers(0, 9, (2, 3, sum(sizes))).astype(float)
    plan = plans.plan_runs(sizes, n_resamples, paired=paired)
    found = np.concatenate(list(engine.group_sums(features, plan)), axis=-1)
    groups = range(1 if len(sizes) == 2 else len(sizes))
    expected = [
        [[[sum(row[labels == group]) for row in task] for group in groups] for task in features]
        for block in plan.blocks()
        for labels in block
    ]
    np.testing.assert_array_equal(np.moveaxis(found, -1, 0), expected)


@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.booleans())
def test_step_down_in_batches_is_that_of_plain_loops(seed, width, ties):
    """Westfall & Young's counts, from a table whole and from some of its reassignments at a time."""
    rng = np.random.default_rng(seed)
    n_resamples = rng.integers(1, 200)
    table, observed = (
        rng.random((2, 12, n_resamples)),
        rng.random((2, 12)) * rng.random(),
    )
    if ties:
        table, observed = (table * 6).round() / 6, (observed * 6).round() / 6
    steps = engine.StepDown(observed)
    for start in range(0, n_resamples, width):
        steps.add(table[..., start : start + width])
    for task in range(2):
        reached = [
            sum(
                max(table[task, h, s] for h in range(12) if observed[task, h] <= x) >= x - 1e-10
                for s in range(n_resamples)
            )
            for x in observed[task]
        ]
        expected = [max(n for n, y in zip(reached, observed[task], strict=True) if y >= x) for x in observed[task]]
        np.testing.assert_array_equal(steps.counts[task], expected)


@given(st.integers(0, 2**32 - 1))
def test_ranks_are_those_of_a_plain_count(seed):
    rng = np.random.default_rng(seed)
    null, observed = (
        rng.integers(0, 5, (3, 7)).astype(float),
        rng.integers(0, 5, (3, 4)).astype(float),
    )
    found = engine.count_at_least(null, observed)
    np.testing.assert_array_equal(found, (null[:, np.newaxis] >= observed[..., np.newaxis]).sum(axis=-1))


def made_test(states, most):
    """A test whose reassignments, shape (task, reassignment), reach the statistic between pairs of distances."""

    flat = [cell for row in states for cell in row]
    shape = (len(states), len(states[0]))

    def reaches(cells, at):
        if cells is None:
            return np.array(
                [reaches(range(len(flat)), each) for each in at.repeat(shape[1], -1).reshape(-1, len(flat))]
            ).reshape(*at.shape, shape[1])
        return np.array(
            [any(a <= x <= b for a, b in flat[c]) for c, x in zip(cells, at, strict=True)],
            bool,
        )

    return shifts.Test(reaches, shape, 0, most)


@pytest.mark.plain(1)
@pytest.mark.parametrize("scan", [False, True])
def test_limits_are_where_the_last_needed_reassignment_stops(scan):
    ends = np.random.default_rng(0).exponential(3.0, (5, 40))
    found, gap = shifts.limits(
        made_test([[[(0, end)] for end in row] for row in ends], 7),
        np.zeros(5),
        scan=scan,
    )
    np.testing.assert_allclose(found, np.sort(ends, axis=1)[:, -8], rtol=1e-14)
    assert not gap.any()


def test_limits_find_an_outer_piece_and_say_that_there_is_a_gap():
    pieces = [
        [[(0, 1), (2, 3)], [(0, 1.5)]],
        [[(0, 1)], [(0, 1.5)]],
        [[(0, np.inf)], [(0, 2)]],
    ]
    found, gap = shifts.limits(made_test(pieces, 0), np.zeros(3), scan=True)
    np.testing.assert_allclose(found, [3, 1.5, np.inf], rtol=1e-14)
    assert gap.tolist() == [True, False, False]


def test_a_distance_known_to_be_kept_is_within_the_limits():
    pieces = [[[(0, 1), (8, 9)]]]
    assert shifts.limits(made_test(pieces, 0), np.array([8.5]), scan=False)[0] == pytest.approx(9)


def test_a_reassignment_that_stops_and_begins_within_a_bracket_is_not_missed():
    """Of two, one rejected stretch lies inside the bracket in which both ends are alike."""
    pieces = [[[(0, 1.30), (1.32, 1.31), (0, 1.33)], [(0, 1.34)]]]
    assert shifts.limits(made_test(pieces, 1), np.zeros(1), scan=False)[0] == pytest.approx(1.33)
