import itertools

import numpy as np
import pytest
from scipy import optimize, stats

from items_reference import CASES, distance, is_close, needed, scores_of
from layers import slow
from xcurves.kernels.over_tasks import pair_members, t_scale, task_flips
from xcurves.kernels.over_tasks.sign_plans import Signs
from xcurves.kernels.resampling import batches, plans

ALPHA = 0.05


def members_of(values, present, pairs, families):
    """Return pairs of numbers in tasks of weight 1."""
    n = values.shape[1]
    return pair_members.PairMembers(values, present, pairs, families, np.ones(n), np.zeros(n))


def every_t(x, n_families):
    """Return |T| of numbers (family,) under all flips, by a plain loop, the observed one first."""
    found = []
    for signs in itertools.product((1, -1), repeat=len(x)):
        y = np.array(signs) * x
        y = y[:n_families]
        spread = y.std(ddof=1)
        if abs(y.sum()) < 1e-12 * np.abs(y).sum():
            found.append(0.0)
        elif spread < 1e-9 * np.abs(y).max():
            found.append(np.inf)
        else:
            found.append(abs(y.mean()) / (spread / np.sqrt(n_families)))
    return np.array(found)


def plain_tails(x, has):
    """Return log P(|t| > T) of every pair under all flips of all families, shape (pair, flip)."""
    n_families = has.shape[1]
    out = []
    for of_pair, here in zip(x, has, strict=True):
        f = int(here.sum())
        of_flips = []
        for signs in itertools.product((1, -1), repeat=n_families):
            y = (np.array(signs) * of_pair)[here]
            if abs(y.sum()) < 1e-12 * np.abs(y).sum():
                of_flips.append(0.0)
                continue
            t = stats.ttest_1samp(y, 0.0)
            of_flips.append(np.log(t.pvalue) if t.pvalue > 0 else -np.inf)
        assert len(of_flips) == 2**n_families
        assert f == len(y)
        out.append(of_flips)
    return np.array(out)


def plain_step_down(tails):
    """Return own and adjusted p of tails of flips, (pair, flip), the observed one first."""
    n_pairs, n_flips = tails.shape
    own = np.array([(row <= row[0] + 1e-9).mean() for row in tails])
    order = np.argsort(tails[:, 0], kind="stable")
    adjusted, largest = np.empty(n_pairs), 0.0
    for step, pair in enumerate(order):
        smallest = tails[order[step:]].min(axis=0)
        largest = max(largest, (smallest <= tails[pair, 0] + 1e-9).sum() / n_flips)
        adjusted[pair] = largest
    return own, adjusted


@pytest.mark.plain(1)
@pytest.mark.parametrize("gaps", [slow(False), True])
@pytest.mark.parametrize("whole", [False, True])
def test_all_flips_by_a_plain_loop(gaps, whole):
    rng = np.random.default_rng(3)
    n_algorithms, n_tasks = 4, 8
    values = rng.normal(size=(n_algorithms, n_tasks)) + 0.8 * np.arange(4)[:, np.newaxis]
    if whole:
        values = np.rint(2 * values)
    present = np.ones(values.shape, bool)
    if gaps:
        present[0, :1] = present[1, 2:4] = False
    values = np.where(present, values, 0.0)
    families = np.arange(n_tasks)
    pairs = np.array(list(itertools.combinations(range(n_algorithms), 2)))
    numbers = values
    if whole:
        numbers = pair_members.as_whole(values)
        assert numbers.dtype == np.float32
    members = members_of(numbers, present, pairs, families)
    sums = pair_members.totals(members, len(members.pairs))
    signs = Signs(plans.plan_flips(n_tasks, None))
    found = t_scale.flip_tests(members, sums, signs, np.ones(len(pairs), bool), ALPHA)

    a, b = pairs.T
    here = present[a] & present[b]
    x = np.where(here, values[a] - values[b], 0.0)
    tails = plain_tails(x, here)
    own, adjusted = plain_step_down(tails)
    np.testing.assert_allclose(found.pvalue, own, rtol=1e-12)
    np.testing.assert_allclose(found.pvalue_adjusted, adjusted, rtol=1e-12)
    assert np.unique(adjusted).size > 2

    # The interval holds the shifts whose T is not beyond the quantile of the smallest tails of all flips.
    smallest = np.sort(tails.min(axis=0))
    log_tail = smallest[int(ALPHA * smallest.size + 1e-9)]
    ends = t_scale.intervals(sums, found.together)
    for pair, (numbers_of_pair, is_here) in enumerate(zip(x, here, strict=True)):
        d = numbers_of_pair[is_here]
        limit = stats.t.isf(np.exp(log_tail) / 2, len(d) - 1)

        def beyond(shift, d=d, limit=limit):
            t = (d.mean() - shift) / (d.std(ddof=1) / np.sqrt(len(d)))
            # of d less the shift the sample spread is the same
            return abs(t) - limit

        low = optimize.brentq(beyond, d.mean() - 100, d.mean())
        high = optimize.brentq(beyond, d.mean(), d.mean() + 100)
        np.testing.assert_allclose(ends[pair], [low, high], rtol=2e-3)
        # so 0 is left out where the single step rejects
        single = (tails.min(axis=0) <= tails[pair, 0] + 1e-9).mean()
        assert (single <= ALPHA) == (not low <= 0 <= high)


def test_families_of_unlike_size_by_a_search():
    # x_g - n_g δ in place of x_g: T at both ends is the critical one, and beyond it outside.
    rng = np.random.default_rng(5)
    sizes = np.array([1, 2, 2, 3, 3, 4, 4, 5, 6, 9])
    families = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=(2, len(families))) + rng.normal(size=10)[families] * [
        [1],
        [0],
    ]
    pairs, present = np.array([[0, 1]]), np.ones(values.shape, bool)
    members = members_of(values, present, pairs, families)
    sums = pair_members.totals(members, len(members.pairs))
    x = np.array([(values[0] - values[1])[families == g].sum() for g in range(10)])
    n = sizes / sizes.sum()
    x /= sizes.sum()
    ratio = 0.25
    t_limit = np.sqrt(9 * ratio / (1 - ratio))
    low, high = t_scale.intervals(sums, np.array([ratio]))[0]

    def t(shift):
        y = x - n * shift
        return abs(y.sum()) / np.sqrt(10 / 9 * (y**2).sum() - y.sum() ** 2 / 9)

    assert t(low) == pytest.approx(t_limit, rel=1e-9)
    assert t(high) == pytest.approx(t_limit, rel=1e-9)
    width = high - low
    assert max(t(low + width / 10), t(high - width / 10)) < t_limit
    assert min(t(low - width / 10), t(high + width / 10)) > t_limit
    # a limit that no shift exceeds
    assert t_scale.intervals(sums, np.array([0.97])).tolist() == [[-np.inf, np.inf]]
    furthest = max(t(shift) for shift in (1e6, -1e6))
    assert furthest < np.sqrt(9 * 0.97 / 0.03)


@needed
@pytest.mark.parametrize("name", CASES)
def test_answers_of_the_reference(name):
    case = CASES[name]
    scores, answer = scores_of(case), case["answer"]
    present, pairs = ~np.isnan(scores[..., 0]), np.array(answer["pairs"])
    families = np.arange(scores.shape[1])
    if case["cluster"] is not None:
        families = np.unique(case["cluster"], return_inverse=True)[1]
    values = np.where(present, np.nan_to_num(scores).sum(axis=-1), 0.0)
    numbers = pair_members.as_whole(values)
    members = members_of(values if numbers is None else numbers, present, pairs, families)
    sums = pair_members.totals(members, len(members.pairs))
    signs = Signs(plans.plan_flips(int(families.max()) + 1, case["n_resamples"]))
    is_alone = scores.shape[-1] == 1 and case["cluster"] is None
    two_more = bool(is_alone and numbers is not None)
    found = t_scale.flip_tests(members, sums, signs, np.ones(len(pairs), bool), ALPHA, two_more=two_more)
    assert is_close(found.pvalue, answer["p"]).all()
    assert is_close(found.pvalue_adjusted, answer["p_adjusted"]).all()
    own, together = (t_scale.intervals(sums, each) for each in (found.own, found.together))
    if two_more:
        more = t_scale.with_two_more(sums)
        own, together = (
            t_scale.hull(ends, t_scale.intervals(more, ratio))
            for ends, ratio in (
                (own, found.own_of_more),
                (together, found.together_of_more),
            )
        )
    n_runs = scores.shape[-1]
    assert distance(together / n_runs, answer["ci_all"]).max() < 0.04
    # Of pairs that differ on few items the quantile jumps from one whole number to the next.
    assert (distance(own / n_runs, answer["ci_one"]) < 0.04).mean() > 0.9
    assert distance(own / n_runs, answer["ci_one"]).max() < 0.08


def test_of_one_pair_both_scales_have_the_same_p():
    # at 50 families and a single pair, with the same flips; the ends of intervals are almost the same
    rng = np.random.default_rng(11)
    for _ in range(5):
        d = rng.normal(0.3, 1.0, 50)
        plan = plans.plan_flips(50, None, entropy=int(rng.integers(2**31)))
        x = (d / 50)[np.newaxis]
        by_ranks, _ = task_flips.pvalues(x, plan, ALPHA)
        members = pair_members.OwnMembers(x, np.full(x.shape, 1 / x.shape[1]))
        sums = pair_members.totals(members, len(x))
        found = t_scale.flip_tests(members, sums, Signs(plan), np.ones(1, bool), ALPHA)
        assert found.pvalue[0] == by_ranks[0] == found.pvalue_adjusted[0]
        expected = task_flips.flip_intervals(x, np.full((1, 50), 1 / 50), plan, ALPHA)[0]
        together = t_scale.intervals(sums, found.together)
        np.testing.assert_allclose(together, t_scale.intervals(sums, found.own), rtol=1e-4)
        assert distance(together, expected).max() < 0.02


def test_two_more_items_by_a_plain_loop():
    # +1 and -1 in every pair, all flips of these too
    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, (3, 7)).astype(float)
    pairs, present = np.array([[0, 1], [0, 2], [1, 2]]), np.ones(values.shape, bool)
    members = members_of(pair_members.as_whole(values), present, pairs, np.arange(7))
    sums = pair_members.totals(members, len(members.pairs))
    found = t_scale.flip_tests(
        members,
        sums,
        Signs(plans.plan_flips(7, None)),
        np.ones(3, bool),
        0.1,
        two_more=True,
    )
    x = np.hstack([values[pairs[:, 0]] - values[pairs[:, 1]], [[1, -1]] * 3])
    largest = np.sort(np.max([every_t(each, 9) for each in x], axis=0))[::-1]
    limit = largest[int(0.1 * 2**9 + 1e-9)]
    ends = t_scale.intervals(t_scale.with_two_more(sums), found.together_of_more)
    mean, error = x.mean(axis=1), x.std(axis=1, ddof=1) / 3
    expected = mean[:, np.newaxis] + np.outer(error, [-limit, limit])
    np.testing.assert_allclose(ends, expected, rtol=1e-5)


@pytest.mark.parametrize("n_resamples", [None, 300])
def test_batches_change_nothing(monkeypatch, n_resamples):
    rng = np.random.default_rng(7)
    n_tasks = 12 if n_resamples is None else 70
    present = rng.random((6, n_tasks)) < 0.9
    values = np.where(present, rng.integers(0, 5, present.shape), 0.0)
    pairs = np.array(list(itertools.combinations(range(6), 2)))
    families = np.arange(n_tasks)

    def test():
        members = members_of(pair_members.as_whole(values), present, pairs, families)
        sums = pair_members.totals(members, len(members.pairs))
        return t_scale.flip_tests(
            members,
            sums,
            Signs(plans.plan_flips(n_tasks, n_resamples, 1)),
            np.arange(len(pairs)) != 2,
            ALPHA,
        )

    whole = test()
    assert np.isnan(whole.pvalue_adjusted).tolist() == [k == 2 for k in range(15)]
    monkeypatch.setattr(batches, "MEMORY", 20_000)
    monkeypatch.setattr(t_scale, "_SINGLE", 20_000)
    monkeypatch.setattr(t_scale, "CACHE", 10_000)
    monkeypatch.setattr(pair_members, "CACHE", 1_000)
    for name, expected, found in zip(whole._fields, whole, test(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=name)


def test_equal_and_constant_differences():
    # No difference at all: p is 1. The same one everywhere: the largest T there is.
    x = np.array([np.zeros(8), np.full(8, 0.3), [1, -1] * 4])
    members = pair_members.OwnMembers(x, np.full(x.shape, 1 / x.shape[1]))
    sums = pair_members.totals(members, len(x))
    found = t_scale.flip_tests(members, sums, Signs(plans.plan_flips(8, None)), np.ones(3, bool), ALPHA)
    np.testing.assert_array_equal(found.pvalue, [1, 2 / 2**8, 1])
    # that of the third pair is reached in two more flips, which count against the second
    np.testing.assert_array_equal(found.pvalue_adjusted, [1, 4 / 2**8, 1])


@pytest.mark.parametrize(
    ("n_families", "n_pairs", "n_resamples", "expected"),
    [
        (12, 6, None, True),
        (19, 190, None, True),  # all 2^19 flips of 190 pairs: just fewer than 10^8
        (19, 191, None, False),
        (50, 25, None, True),
        (50, 26, None, False),  # .05 * 10,000 / 26 < 20
        (200, 1, None, True),
        (201, 1, None, False),
        (20, 1, 399, True),
        (20, 2, 399, False),
        (8, 1000, 256, True),
    ],
)
def test_which_scale_a_study_takes(n_families, n_pairs, n_resamples, expected):
    assert task_flips.takes_ranks(n_families, n_pairs, n_resamples, ALPHA) is expected


def test_tails_of_unlike_pairs_are_those_of_t():
    n_families = np.array([7.0, 12.0, 60.0])
    tails = t_scale.Tails(n_families)
    for pair, f in enumerate(n_families):
        t = np.array([0.3, 1.0, 2.5, 6.0, 30.0])
        root = np.sqrt(t**2 / (f - 1 + t**2))
        expected = stats.norm.isf(stats.t.sf(t, f - 1)) ** 2
        found = tails.of(root[np.newaxis], np.array([pair]))[0]
        np.testing.assert_allclose(found, expected, rtol=5e-3)
        back = [np.sqrt(tails.ratio_at(value)[pair]) for value in found]
        np.testing.assert_allclose(back, root, rtol=1e-9)


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
def test_only_whole_numbers_are_taken_for_such(factor):
    values = np.random.default_rng(0).normal(size=(3, 8)) * factor
    assert pair_members.as_whole(values) is None
    whole = np.array([[0.0, 1.0, -7.0], [3.0, 2.0, 1e6]])
    assert pair_members.as_whole(whole * (1 + 1e-15)).tolist() == whole.tolist()
