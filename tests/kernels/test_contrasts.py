import itertools
import math

import numpy as np
import pytest
from scipy import stats

from xcurves.kernels import contrasts, margins, plans


def evaluate(groups, weights, n_resamples=None, alternative="two-sided", alpha=0.05, paired=False, entropy=0):
    sizes = tuple(map(len, groups))
    plan = plans.plan_runs(sizes, n_resamples, paired=paired, labelled=True, entropy=entropy)
    design = contrasts.ContrastDesign(np.concatenate(groups)[np.newaxis], sizes, np.array(weights, float), paired)
    found = contrasts.contrast_tests(design, plan, alternative, alpha)
    return {name: values[0] for name, values in found.items()}, plan


def studentized(groups, weights):
    """T by its definition."""
    estimate = sum(a * np.mean(group) for a, group in zip(weights, groups, strict=True))
    variance = sum(a * a * np.var(group, ddof=1) / len(group) for a, group in zip(weights, groups, strict=True))
    return estimate / math.sqrt(variance)


def relabelled(groups):
    """Every labelled assignment of the numbers to groups of the same sizes."""
    pool = [float(u) for group in groups for u in group]
    sizes = list(map(len, groups))

    def split(left, sizes):
        if not sizes:
            yield []
            return
        for chosen in itertools.combinations(left, sizes[0]):
            rest = [index for index in left if index not in chosen]
            for others in split(rest, sizes[1:]):
                yield [[pool[index] for index in chosen], *others]

    return list(split(range(len(pool)), sizes))


def relabelled_within_runs(groups):
    """Every labelled assignment that permutes the groups within each run."""
    m, n_runs = len(groups), len(groups[0])
    for choice in itertools.product(itertools.permutations(range(m)), repeat=n_runs):
        yield [[groups[choice[j][i]][j] for j in range(n_runs)] for i in range(m)]


def pvalues(null, observed):
    low = np.mean([t <= observed + 1e-9 for t in null])
    high = np.mean([t >= observed - 1e-9 for t in null])
    return {"less": low, "greater": high, "two-sided": np.mean([abs(t) >= abs(observed) - 1e-9 for t in null])}


def draw(sizes, seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(loc=rng.normal(), scale=1 + i, size=size) for i, size in enumerate(sizes)]


@pytest.mark.parametrize(("sizes", "weights"), [((3, 3), (1, -1)), ((2, 5), (2, -2)), ((3, 2, 3), (1, -0.5, -0.5))])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_unpaired_equals_brute_force(sizes, weights, alternative):
    for seed in range(4):
        groups = draw(sizes, seed)
        found, plan = evaluate(groups, weights, alternative=alternative)
        t = studentized(groups, weights)
        null = [studentized(each, weights) for each in relabelled(groups)]
        assert plan.n_assignments == len(null)
        assert found["statistic"] == pytest.approx(t)
        assert found["pvalue"] == pytest.approx(pvalues(null, t)[alternative])
        assert found["estimate"] == pytest.approx(sum(a * np.mean(g) for a, g in zip(weights, groups, strict=True)))


@pytest.mark.parametrize(("m", "n_runs", "weights"), [(2, 5, (1, -1)), (3, 3, (1, -0.5, -0.5))])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_paired_equals_brute_force(m, n_runs, weights, alternative):
    groups = draw((n_runs,) * m, 1)
    found, plan = evaluate(groups, weights, alternative=alternative, paired=True)

    def t_of(each):
        return stats.ttest_1samp(np.array(weights) @ np.array(each), 0).statistic

    null = [t_of(each) for each in relabelled_within_runs(groups)]
    assert plan.n_assignments == len(null) == math.factorial(m) ** n_runs
    assert found["statistic"] == pytest.approx(t_of(groups))
    assert found["pvalue"] == pytest.approx(pvalues(null, t_of(groups))[alternative])


def test_two_groups_are_welchs_t():
    groups = draw((9, 6), 2)
    found, _ = evaluate(groups, (1, -1))
    assert found["statistic"] == pytest.approx(stats.ttest_ind(*groups, equal_var=False).statistic)


def test_three_v_three_has_twenty_labelled_assignments():
    _, plan = evaluate(draw((3, 3), 0), (1, -1))
    assert plan.n_assignments == 20


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("n_resamples", [None, 400])
@pytest.mark.parametrize("weights", [(1, -1), (3, -3)])
def test_the_interval_has_just_the_shifts_that_are_not_rejected(paired, n_resamples, weights):
    groups = draw((7, 7), 3)
    found, _ = evaluate(groups, weights, n_resamples, paired=paired)
    low, high = found["estimate_ci"]
    assert low < found["estimate"] < high
    width = high - low

    def p_at(shift):
        moved = [groups[0] - shift / (2 * weights[0]), groups[1] + shift / (2 * weights[0])]
        return evaluate(moved, weights, n_resamples, paired=paired)[0]["pvalue"]

    for end, inwards in ((low, 1), (high, -1)):
        assert p_at(end + inwards * 1e-6 * width) > 0.05
        assert p_at(end - inwards * 1e-6 * width) <= 0.05


def test_one_sided_intervals_are_half_lines_that_end_where_the_one_sided_test_does():
    groups = draw((7, 6), 4)
    greater, _ = evaluate(groups, (1, -1), alternative="greater")
    less, _ = evaluate(groups, (1, -1), alternative="less")
    assert greater["estimate_ci"][1] == np.inf
    assert less["estimate_ci"][0] == -np.inf
    for end, alternative, inwards in ((greater["estimate_ci"][0], "greater", 1), (less["estimate_ci"][1], "less", -1)):
        for step, kept in ((1e-6, True), (-1e-6, False)):
            moved = [groups[0] - end - inwards * step, groups[1]]
            assert (evaluate(moved, (1, -1), alternative=alternative)[0]["pvalue"] > 0.05) == kept


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


def one_sided_pvalue(groups, weights, shift):
    """Return the share of relabellings with a T as large as that of the groups with positive weight less a shift."""
    moved = [group - shift * (weight > 0) for group, weight in zip(groups, weights, strict=True)]
    pool, sizes = np.concatenate(moved), [len(group) for group in groups]

    def t(parts):
        estimate = sum(weight * part.mean() for weight, part in zip(weights, parts, strict=True))
        return estimate / np.sqrt(
            sum(weight**2 * part.var(ddof=1) / len(part) for weight, part in zip(weights, parts, strict=True))
        )

    orders, least, count, total = splits(range(len(pool)), sizes), t(moved), 0, 0
    for order in orders:
        count += t([pool[list(part)] for part in order]) >= least - 1e-10 * (1 + abs(least))
        total += 1
    return count / total


def splits(left, sizes):
    """Yield all ways to split places into groups of those sizes."""
    if len(sizes) == 1:
        yield [tuple(left)]
        return
    for first in itertools.combinations(left, sizes[0]):
        for rest in splits([place for place in left if place not in first], sizes[1:]):
            yield [first, *rest]


@pytest.mark.parametrize(
    ("sizes", "weights"), [((2, 8), (1, -1)), ((3, 4), (1, -1)), ((4, 4), (1, -1)), ((2, 2, 3), (1, -0.5, -0.5))]
)
@pytest.mark.parametrize("seed", range(2))
def test_the_margin_takes_the_largest_p_of_all_smaller_shifts(sizes, weights, seed):
    rng = np.random.default_rng(seed)
    groups = [rng.normal(0, 1 + 2 * place, size) for place, size in enumerate(sizes)]
    plan = plans.plan_runs(sizes, None, labelled=True)
    design = contrasts.ContrastDesign(np.concatenate(groups)[np.newaxis], sizes, np.array(weights, float), False)
    estimate = sum(weight * group.mean() for weight, group in zip(weights, groups, strict=True))
    shifts = np.concatenate([[0.0], np.geomspace(1e-3, 300, 160)])
    below = np.array([one_sided_pvalue(groups, weights, estimate - shift) for shift in shifts])
    at_most = np.maximum.accumulate(below[::-1])[::-1]  # of this shift and all that are smaller
    dips = np.flatnonzero(below < at_most)  # where p rises again
    for place in [*dips[:2], 90, 150]:
        margin = shifts[place] - estimate
        if margin < 0:
            continue
        (p,), (limit,) = margins.margin_tests(design, plan, margin, 0.2)
        if p > at_most[place] + 1e-12:  # between two shifts of the grid
            ends = place + np.argsort(below[place:-1] + below[place + 1 :])[-6:]
            finer = np.concatenate([np.linspace(shifts[end], shifts[end + 1], 50) for end in ends])
            at_most[place] = max(one_sided_pvalue(groups, weights, estimate - shift) for shift in finer)
        assert p == pytest.approx(at_most[place])
        assert (p <= 0.2 + 1e-12) == (limit > -margin)
        assert one_sided_pvalue(groups, weights, limit + 1e-7) > 0.2
        assert not (below[shifts > estimate - limit + 1e-7] > 0.2).any()
