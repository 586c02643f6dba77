"""Profiles over many items, on the scale of t: p and intervals of all fractions of all pairs, by plain loops."""

from warnings import catch_warnings

import numpy as np
import pytest
from scipy import stats

from items import make_items

PAIRS = [(0, 1), (0, 2), (1, 2)]
FRACTIONS = [0.25, 0.5, 0.75, 1.0]


@pytest.fixture(scope="module")
def scores():
    """Three models, 300 questions, one answer at each of four checkpoints."""
    curves = make_items(300).squeeze("run", drop=True)
    curves = curves.expand_dims(run=[0], training=[1.0, 2.0, 3.0, 4.0])
    curves = curves.transpose("algorithm", "question_id", "run", "training")
    rng = np.random.default_rng(3)
    chance = 0.3 + 0.1 * np.arange(4) + np.array([0, 0.02, 0.12])[:, None, None, None]
    return curves.copy(data=(rng.random(curves.shape) < chance).astype(float))


@pytest.fixture(scope="module")
def found(scores):
    return scores.curves.profile_across_tasks(task="question_id", fractions=FRACTIONS, rng=0)


@pytest.fixture(scope="module")
def by_loops(scores):
    """Differences of every pair and fraction, their T, and T under 20,000 flips of all questions."""
    values = scores.values[:, :, 0]
    x = np.array([values[a, :, k] - values[b, :, k] for a, b in PAIRS for k in range(4)])
    rng = np.random.default_rng(11)

    def t_of(sums):
        squares = (x**2).sum(axis=1)
        return np.abs(sums) / np.sqrt(300 / 299 * (squares - sums**2 / 300))

    flipped = t_of(rng.choice([-1.0, 1.0], size=(20_000, 300)) @ x.T)
    return x, t_of(x.sum(axis=1)), flipped


def test_adjusted_p_are_those_of_step_down_over_all_fractions_of_all_pairs(found, by_loops):
    _, observed, flipped = by_loops
    order = np.argsort(-observed)
    wanted = np.empty(12)
    largest = 0.0
    for place, member in enumerate(order):
        rest = order[place:]
        share = (1 + (flipped[:, rest].max(axis=1) >= observed[member] - 1e-9).sum()) / 20_001
        largest = max(largest, share)
        wanted[member] = largest
    got = found.pvalue_adjusted.values.ravel()
    assert (np.abs(got - wanted) <= 0.004 + 0.05 * wanted).all()


def test_intervals_hold_for_all_fractions_of_all_pairs_together(found, by_loops):
    x, _, flipped = by_loops
    critical = np.quantile(flipped.max(axis=1), 0.95)
    mean = x.mean(axis=1)
    error = x.std(axis=1, ddof=1) / np.sqrt(300)
    ends = found.difference_ci_simultaneous.values.reshape(12, 2)
    width = 2 * critical * error
    np.testing.assert_allclose(found.difference.values.ravel(), mean, atol=1e-12)
    assert (np.abs(ends[:, 0] - (mean - critical * error)) <= 0.04 * width).all()
    assert (np.abs(ends[:, 1] - (mean + critical * error)) <= 0.04 * width).all()
    # by itself that of Student's t
    half = stats.t.ppf(0.975, 299) * error
    own = found.difference_ci.values.reshape(12, 2)
    assert (np.abs(own[:, 1] - (mean + half)) <= 0.08 * half).all()


def test_the_mean_over_training_is_that_of_across_tasks(found, scores):
    across = scores.curves.across_tasks(task="question_id", rng=0)
    wanted = across.pvalue_adjusted.sel(task_effect="random").values
    np.testing.assert_allclose(found.mean_pvalue_adjusted, wanted, atol=0.006)


@pytest.mark.plain(1)
@pytest.mark.parametrize(("n_items", "share"), [(14, 0.1), (150, 0.03), (400, 0.01)])
def test_rare_differences_have_the_intervals_of_across_tasks(n_items, share):
    # exact and random flips on the scale of ranks, and that of t
    rng = np.random.default_rng(5)
    base = rng.random((1, n_items)) < 0.7
    answers = np.where(rng.random((3, n_items)) < share, ~base, base).astype(float)
    assert 0 < (answers[0] != answers[1]).sum() < 20
    items = make_items(n_items).squeeze("run", drop=True).expand_dims(run=[0], training=[1.0])
    items = items.transpose("algorithm", "question_id", "run", "training").copy(data=answers[..., None, None])
    found = items.curves.profile_across_tasks(task="question_id", fractions=[1.0], rng=0)
    with catch_warnings(action="ignore"):
        across = items.curves.across_tasks(task="question_id", rng=0).sel(task_effect="random")
    for name in ("difference_ci", "difference_ci_simultaneous"):
        # whole numbers of many items are flipped in single precision there
        np.testing.assert_allclose(found[name].values[:, 0], across[name], rtol=1e-5, err_msg=name)


@pytest.mark.slow
def test_points_and_several_answers_have_no_further_items(scores):
    rng = np.random.default_rng(6)
    points = scores + rng.normal(size=scores.shape)
    found = points.curves.profile_across_tasks(task="question_id", fractions=[1.0], rng=0)
    final = points.isel(training=[-1]).curves.across_tasks(task="question_id", rng=0).sel(task_effect="random")
    np.testing.assert_allclose(found["difference_ci"].values[:, 0], final["difference_ci"], atol=1e-12)
