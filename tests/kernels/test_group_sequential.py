"""The group-sequential test against its definition, enumerated, and against published curves' reference answers."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import oracles_sequential
from layers import every, slow
from places import SHARED
from xcurves.kernels.looks.group_sequential import (
    centre_batches,
    normal_scale,
    studentized_terms,
)
from xcurves.kernels.looks.sequential_chances import (
    Seen,
    chances,
    nominal_levels,
)
from xcurves.kernels.looks.sequential_pvalues import (
    nested_pvalues,
    small_pvalues,
    spent,
    tie_ranks,
)
from xcurves.kernels.looks.sequential_tests import (
    Nearby,
    ShiftedRuns,
    sequential_tests,
)
from xcurves.kernels.over_tasks.task_plans import nest

REFERENCE = SHARED / "reference" / "dev_sequential.json"
HAS_REFERENCE = pytest.mark.skipif(not REFERENCE.exists(), reason="no reference data beside the repository")
CASES = json.loads(REFERENCE.read_text()) if REFERENCE.exists() else {"cases": [], "tasks_cases": []}


def arrays(batches):
    """Numbers of shape (2, task, run), the look of every run, and the sizes, of lists by look, task and side."""
    n_tasks = len(batches[0])
    columns, look = [], []
    for k, batch in enumerate(batches):
        width = max(len(side) for cell in batch for side in cell)
        column = np.full((2, n_tasks, width), np.nan)
        for t, cell in enumerate(batch):
            for i, side in enumerate(cell):
                column[i, t, : len(side)] = side
        columns.append(column)
        look += [k] * width
    sizes = np.array([[[len(a), len(b)] for a, b in batch] for batch in batches])
    return np.concatenate(columns, axis=-1), np.array(look), sizes


def evaluated(batches, share, alpha=0.05, n_resamples=10**6, interval=False):
    u, look, sizes = arrays(batches)
    looks = nest(sizes, n_resamples, 0)
    found = sequential_tests(u, look, looks, share, alpha, n_intervals=int(interval))
    return found, looks


def drawn(sizes, seed, whole=False, n_tasks=1):
    rng = np.random.default_rng(seed)
    draw = (lambda n: rng.integers(0, 4, n).astype(float)) if whole else (lambda n: rng.normal(size=n))
    return [[((draw(a) + 1).tolist(), draw(b).tolist()) for _ in range(n_tasks)] for a, b in sizes]


@pytest.mark.plain(7)
@pytest.mark.parametrize("seed", [0, slow(1)])
@pytest.mark.parametrize("whole", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize(
    ("sizes", "n_tasks"),
    [
        ([(2, 2), (2, 2)], 1),
        ([(3, 2), (1, 2)], 1),
        ([(1, 1)] * 4, 1),
        ([(3, 3), (1, 1)], 1),
        ([(1, 1)] * 3, 2),
    ],
)
@pytest.mark.parametrize("spending", ["square", "linear"])
def test_equals_the_definition_by_enumeration(sizes, n_tasks, spending, whole, seed):
    batches = drawn(sizes, seed, whole, n_tasks)
    share = spent(spending, len(sizes) + 1)
    for alpha in (0.05, 0.3):
        found, looks = evaluated(batches, share, alpha)
        for k, expected in enumerate(oracles_sequential.sequential(batches, share, alpha)):
            assert looks[k].n_total == len(expected["q"])
            assert found["statistic"][k] == pytest.approx(expected["t"], rel=1e-9, nan_ok=True)
            assert found["pvalue"][k] == pytest.approx(min(expected["q"][0], 1.0), rel=1e-9)
            assert found["critical_value"][k] == pytest.approx(expected["c"], rel=1e-9)
            assert found["pvalue_stagewise"][k] == pytest.approx(expected["stagewise"], rel=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 30))
def test_rule_equals_its_definition_on_random_ranks(seed, n, n_values):
    rng = np.random.default_rng(seed)
    before, used = np.full(n, np.inf), 0.0
    few = dict.fromkeys((0.05, 0.3, 0.9), (before, np.inf))
    for s in (1 / 9, 4 / 9, 1.0):
        t = rng.integers(0, n_values, n).astype(float)
        least = [
            oracles_sequential.least(
                lambda x, each=each, t=t, old=before: int(((old <= x) | (t >= each)).sum()),
                s * n,
                before.tolist(),
            )
            for each in t
        ]
        q = nested_pvalues(tie_ranks(t), before, s * n)
        np.testing.assert_allclose(q, np.minimum(before, least), rtol=1e-12)
        for alpha, (old, known) in few.items():
            level = alpha + 1e-12
            near = small_pvalues(
                t,
                np.where(before <= level, 0, before),
                np.inf,
                s * n,
                level,
                n,
                n,
                np.inf,
            )
            np.testing.assert_allclose(near.q, np.where(q <= level, 0, q), rtol=1e-12)
            assert near.rejected == (q[0] <= level)
            spare = n if np.isinf(known) else int(known * (s - used) * n)
            near = small_pvalues(t, old, known, s * n, level, spare, n, max(2 * alpha, 2 / (s * n)))
            expected = np.where(q <= level, 0, q)
            few[alpha] = expected, np.inf
            if near.known > level:  # else it is not known which are rejected
                np.testing.assert_allclose(near.q, np.where(q < near.known, expected, np.inf), rtol=1e-12)
                few[alpha] = near.q, near.known
        assert all((q <= x).sum() <= x * s * n + 1e-9 for x in q)
        before, used = q, s


def test_neighbours_within_rounding_are_ties_and_infinite_ones_tie():
    t = np.array([1.0, 1 + 9e-11, 1 + 18e-11, 2.0, np.inf, np.inf, 0.0])
    assert tie_ranks(t).tolist() == [1, 1, 1, 2, 3, 3, 0]


@pytest.mark.plain(1)
@pytest.mark.parametrize("sizes", [[(2, 2)] * 2, [(3, 2), (1, 2)]])
def test_ends_of_intervals_are_where_the_enumerated_decision_changes(sizes):
    alpha, share = 0.3, spent("square", len(sizes))
    for seed in range(2):
        batches = drawn(sizes, seed)
        found, _ = evaluated(batches, share, alpha, interval=True)

        def rejected(shift, k, batches=batches):
            moved = [[([value - shift for value in a], b) for a, b in batch] for batch in batches[: k + 1]]
            return oracles_sequential.sequential(moved, share, alpha)[k]["q"][0] <= alpha + 1e-12

        for k, (low, high) in enumerate(found["difference_ci"]):
            grid = np.linspace(-6, 8, 15)
            inside = [shift for shift in grid if not rejected(shift, k)]
            if np.isnan(low):
                assert not inside
                continue
            assert all(low <= shift <= high for shift in inside)
            for end, out in ((low, -1e-5), (high, 1e-5)):
                if np.isfinite(end):
                    assert not rejected(end - out / 100, k)
                    assert rejected(end + out, k)
                else:
                    assert not rejected(math.copysign(1e3, out), k)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[(5, 5)] * 4, [(3, 6), (4, 2), (1, 1), (5, 5)]], ids=["equal", "unequal"])
@pytest.mark.parametrize("n_tasks", [1, 2])
def test_ends_of_intervals_equal_those_of_plain_bisection_over_shifts(sizes, n_tasks):
    batches, share = drawn(sizes, 5, n_tasks=n_tasks), spent("square", 4)
    u, look, counts = arrays(batches)
    looks = nest(counts, 499, 0)
    found = sequential_tests(u, look, looks, share, 0.05)

    def rejected(shift, k):
        moved = u - np.array([shift, 0.0])[:, np.newaxis, np.newaxis]
        return sequential_tests(moved, look, looks, share, 0.05, n_intervals=0)["pvalue"][k] <= 0.05 + 1e-12

    before, n_ends = np.array([-1e2, 1e2]), 0
    for k, ends in enumerate(found["difference_ci"]):
        for place in np.flatnonzero(np.isfinite(ends)):
            outside, inside = (
                before[place],
                float(np.clip(found["difference"][k], *before)),
            )
            assert not rejected(inside, k)
            if not rejected(outside, k):
                assert ends[place] == outside
                continue
            while abs(outside - inside) > 1e-10:
                middle = (outside + inside) / 2
                outside, inside = (middle, inside) if rejected(middle, k) else (outside, middle)
            assert ends[place] == pytest.approx(inside, rel=0, abs=1e-9 * np.ptp(u[np.isfinite(u)]))
            n_ends += 1
        before = np.where(np.isfinite(ends), ends, before)
    assert n_ends >= 3


@pytest.mark.plain(2)
@pytest.mark.parametrize("whole", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("sizes", [[(5, 5)] * 4, [(3, 6), (4, 2), (1, 1), (5, 5)]], ids=["equal", "unequal"])
def test_assignments_that_matter_near_a_shift_decide_as_all_do(sizes, whole):
    u, look, counts = arrays(drawn(sizes, 3, whole))
    looks, share = nest(counts, 1999, 0), spent("square", 4)
    runs = centre_batches(u, look, looks)
    test = ShiftedRuns(runs, looks, studentized_terms(runs, looks), share, 0.05)
    n_rejected = 0
    for k in (2, 3):
        for low, high in ((-0.5, -0.3), (0.6, 2.0), (2.0, 2.4)):
            near, width = Nearby(test), (high - low) / 2
            near.decide(low + width, k, width)
            assert len(near.parts[k].rows) < looks[k].n_total / 2
            for shift in np.linspace(low, high, 4):
                moved = u - np.array([shift, 0.0])[:, np.newaxis, np.newaxis]
                p = sequential_tests(moved, look, looks, share, 0.05, n_intervals=0)["pvalue"][k]
                assert near.decide(shift, k, 0.0).rejected == (p <= 0.05 + 1e-12)
                n_rejected += p <= 0.05
    assert 4 <= n_rejected <= 20


def test_random_assignments_come_near_all():
    batches = drawn([(3, 3), (3, 3), (3, 3)], 2)
    share = spent("square", 3)
    every, _ = evaluated(batches, share)
    some, looks = evaluated(batches, share, n_resamples=5999)
    assert [look.exact for look in looks] == [True, True, False]
    error = math.sqrt(every["pvalue"][2] * (1 - every["pvalue"][2]) / 6000)
    assert abs(some["pvalue"][2] - every["pvalue"][2]) < 4 * error
    assert some["pvalue"][:2].tolist() == every["pvalue"][:2].tolist()


def test_labels_that_are_drawn_row_by_row_deal_the_right_numbers_evenly():
    look = nest(np.array([[[12, 15], [12, 15]]]), 4999, 1)[0]
    labels = 1 - look.cells[0].of(look.labels).swapaxes(0, 1)
    assert (labels.sum(axis=-1) == 12).all()
    assert labels[:, 0].tolist() == [[1] * 12 + [0] * 15] * 2
    assert not (labels[0] == labels[1]).all()
    assert abs(labels[:, 1:].mean(axis=(0, 1)) - 12 / 27).max() < 4 * math.sqrt(0.25 / 9998)


def test_a_look_without_new_runs_keeps_the_pvalue_and_leaves_its_share_to_the_next():
    share = spent("square", 3)
    batches = drawn([(4, 4), (3, 3)], 1)
    u, look, sizes = arrays(batches)
    sizes = np.insert(sizes, 1, 0, axis=0)
    looks = nest(sizes, 10**6, 0)
    found = sequential_tests(u, np.where(look == 1, 2, 0), looks, share, 0.05)
    plain, _ = evaluated(batches, share[[0, 2]], interval=True)
    for name in ("pvalue", "statistic", "difference", "difference_ci"):
        np.testing.assert_array_equal(found[name][[0, 2]], plain[name])
        np.testing.assert_array_equal(found[name][1], plain[name][0])


def test_scores_without_spread():
    share = spent("square", 2)
    same, _ = evaluated([[([3.0] * 3, [3.0] * 3)], [([3.0] * 3, [3.0] * 3)]], share, interval=True)
    assert same["statistic"].tolist() == [0.0, 0.0]
    assert same["pvalue"].tolist() == [1.0, 1.0]
    assert same["difference"].tolist() == [0.0, 0.0]
    apart, _ = evaluated([[([0.1 + 0.2] * 3, [0.1] * 3)], [([0.3] * 3, [0.1] * 3)]], share)
    assert apart["statistic"].tolist() == [np.inf, np.inf]
    assert apart["pvalue"][1] == pytest.approx(2 / 400)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("gap", [1e3, 1e6])
def test_the_mirrored_assignment_ties_however_far_apart_algorithms_are(offset, gap):
    rng = np.random.default_rng(0)
    batches = [
        [
            (
                (rng.normal(size=4) + offset + gap).tolist(),
                (rng.normal(size=4) + offset).tolist(),
            )
        ]
        for _ in "ab"
    ]
    found, _ = evaluated(batches, spent("square", 2))
    assert found["pvalue"].tolist() == pytest.approx([2 / (70 / 4), 2 / 4900])


def last_boundary(spending, n_looks):
    """Return the last boundary of equal looks, relative to that of a single one."""
    share = np.arange(1, n_looks + 1) / n_looks
    return stats.norm.isf(nominal_levels(spending, share, [True] * n_looks, 0.05)[-1] / 2) / stats.norm.isf(0.025)


@pytest.mark.parametrize(("spending", "first"), [("square", 0.25), ("linear", 0.5)])
def test_the_last_boundary_of_two_looks_is_that_of_the_bivariate_normal(spending, first):
    bound = stats.norm.isf(first * 0.05 / 2)
    both = stats.multivariate_normal([0, 0], [[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]])

    def excess(c):
        inside = both.cdf([bound, c]) - both.cdf([-bound, c]) - both.cdf([bound, -c]) + both.cdf([-bound, -c])
        return 1 - inside - 0.05

    expected = optimize.brentq(excess, 1.5, 3) / stats.norm.isf(0.025)
    assert last_boundary(spending, 2) == pytest.approx(expected, abs=1e-5)


def test_the_last_boundary_spends_the_level_in_simulated_walks():
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(200_000, 6)).cumsum(axis=1) / np.sqrt(np.arange(1, 7))
    walks, spent_before, n = np.abs(steps), 0, len(steps)
    for k, s in enumerate(spent("square", 6)[:-1]):
        n_new = round(0.05 * s * n) - spent_before
        order = walks[:, k].argsort()
        walks, spent_before = walks[order[: len(walks) - n_new]], spent_before + n_new
    bound = np.sort(walks[:, 5])[-(round(0.05 * n) - spent_before)]
    assert last_boundary("square", 6) == pytest.approx(bound / 1.959964, abs=0.006)
    assert last_boundary("square", 1) == pytest.approx(1)


def test_boundaries_of_unlike_looks_spend_the_level_in_simulated_walks():
    rng = np.random.default_rng(1)
    information = np.array([0.1, 0.4, 0.4, 1.0])  # nothing new at the third look
    steps = rng.normal(size=(400_000, 4)) * np.sqrt(np.diff(information, prepend=0))
    tested = [False, True, True, True]
    levels = nominal_levels("linear", information, tested, 0.05)
    assert (levels > 0).tolist() == [False, True, False, True]
    p = 2 * stats.norm.sf(np.abs(steps.cumsum(axis=1)) / np.sqrt(information))
    crossed = (p <= levels).cumsum(axis=1) > 0
    np.testing.assert_allclose(crossed[:, [1, 3]].mean(axis=0), [0.025, 0.05], atol=0.0012)


def test_scale_of_t_with_equal_batches():
    batches = drawn([(5, 5)] * 4, 0)
    u, look, sizes = arrays(batches)
    looks = nest(sizes, 99, 0)
    k = np.arange(1, 5)
    scale = normal_scale(centre_batches(u, look, looks))
    np.testing.assert_allclose(scale, np.sqrt(1 - (k - 1) / (2 * (5 * k - 1))))


def from_json(value):
    return math.nan if value is None else float(value)


def compare(found, looks, expected, name):
    for k, at in enumerate(expected):
        assert looks[k].n_total == at["B"]
        assert looks[k].exact
        assert found["pvalue"][k] == pytest.approx(at["q"], rel=1e-9)
        assert (found["pvalue"][k] <= 0.05 + 1e-12) == at["rejected"]
        assert found["statistic"][k] == pytest.approx(from_json(at[name]), rel=1e-9, nan_ok=True)
        assert found["critical_value"][k] == pytest.approx(from_json(at["c"]), rel=1e-9)
        assert round(found["pvalue_stagewise"][k] * at["B"], 6) == at["count_stagewise"]


@pytest.mark.plain(3)
@HAS_REFERENCE
@pytest.mark.parametrize(
    "case",
    every(4, zip(CASES["cases"], strict=True)),
    ids=[f"{case['case']} {case['batch_sizes']}" for case in CASES["cases"]] or None,
)
def test_pairs_equal_the_reference(case):
    bounds = np.cumsum([0, *case["batch_sizes"]])
    batches = [[(case["u_a"][start:stop], case["u_b"][start:stop])] for start, stop in itertools.pairwise(bounds)]
    found, looks = evaluated(batches, spent(case["spending"], case["K"]), interval=True)
    compare(found, looks, case["looks"], "T")
    used = [*case["u_a"][: bounds[-1]], *case["u_b"][: bounds[-1]]]
    for k, at in enumerate(case["looks"]):
        assert found["difference"][k] == pytest.approx(at["estimate"], rel=1e-9)
        expected = [from_json(end) for end in at["interval95"]]
        np.testing.assert_allclose(found["difference_ci"][k], expected, rtol=0, atol=1e-6 * np.ptp(used))


@HAS_REFERENCE
@pytest.mark.parametrize(
    "case", CASES["tasks_cases"], ids=["-".join(case["tasks"]) for case in CASES["tasks_cases"]] or None
)
def test_tasks_equal_the_reference(case):
    n = case["runs_per_look"]
    u_a, u_b = np.array(case["u_a"]), np.array(case["u_b"])
    batches = [
        [(u_a[k * n : (k + 1) * n, t].tolist(), u_b[k * n : (k + 1) * n, t].tolist()) for t in range(u_a.shape[1])]
        for k in range(case["K"])
    ]
    found, looks = evaluated(batches, spent("square", case["K"]))
    compare(found, looks, case["looks"], "T_F")


def test_a_task_that_lacks_runs_does_not_change_the_chances():
    lacking = Seen(
        difference=1.0,
        weights=np.array([1.0, 0.0]),
        n_runs=np.array([[5.0, 5.0], [0.0, 3.0]]),
        sd=np.array([[1.0, 1.2], [np.nan, 0.5]]),
        batch=np.array([[4, 4], [0, 0]]),
    )
    alone = lacking._replace(
        weights=lacking.weights[:1],
        n_runs=lacking.n_runs[:1],
        sd=lacking.sd[:1],
        batch=lacking.batch[:1],
    )
    levels, ends = np.array([0.02, 0.04]), np.array([0.5, 1.0])
    expected = chances(alone, levels, ends, entropy=1, k=1)
    assert ((expected > 0) & (expected < 1)).all()
    found = chances(lacking, levels, ends, entropy=1, k=1)
    np.testing.assert_array_equal(found, expected)
