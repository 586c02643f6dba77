"""The chance that the looks left show a pair, against continuations of the plan that are tested as any others."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import xcurves
from strategies import make_curves

N_STUDIES = 1000
slow = pytest.mark.slow


class State(NamedTuple):
    """Runs so far whose means and standard deviations are exactly those said, and the plan."""

    n_looks: int
    batch: tuple[int, int]  # of both algorithms
    done: int
    spending: str
    difference: float
    sd: tuple[float, float]


STATES = [
    pytest.param(State(2, (5, 5), 1, "square", 0.9, (1.0, 1.0)), id="two looks"),
    pytest.param(State(6, (5, 5), 2, "square", 0.5, (1.0, 1.0)), id="early", marks=slow),
    pytest.param(State(5, (6, 6), 3, "square", 0.45, (1.0, 2.0)), id="unlike spread", marks=slow),
    pytest.param(State(3, (4, 4), 1, "linear", 1.2, (1.0, 1.0)), id="likely", marks=slow),
    pytest.param(State(4, (10, 5), 2, "linear", 0.6, (1.0, 2.0)), id="unlike batches", marks=slow),
    pytest.param(State(8, (3, 3), 3, "square", 0.6, (1.0, 1.0)), id="small batches", marks=slow),
]


def standardized(rng, shape, mean, sd):
    """Return numbers whose mean and standard deviation along the last axis are exactly these."""
    values = rng.normal(size=shape)
    apart = values - values.mean(axis=-1, keepdims=True)
    return apart / values.std(axis=-1, ddof=1, keepdims=True) * sd + mean


def in_batches(values, size, widest):
    """Return numbers (..., batch x size) as runs, each batch filled up with absent ones."""
    batches = values.reshape(*values.shape[:-1], -1, size)
    filled = np.full((*batches.shape[:-1], widest), np.nan)
    filled[..., :size] = batches
    return filled.reshape(*values.shape[:-1], -1)


def looked_at_runs(runs, state, **options):
    """Test runs of shape (..., algorithm, run) as the state's plan says."""
    curves = make_curves(runs[..., np.newaxis], task=np.arange(len(runs)))
    look = np.repeat(np.arange(runs.shape[-1] // max(state.batch)) + 1, max(state.batch))
    curves = curves.assign_coords(look=("run", look))
    return xcurves.sequential(curves, n_looks=state.n_looks, spending=state.spending, **options)


def pasts(state, rng, n):
    """Return runs so far of `n` studies in one state: they differ in all but means and standard deviations."""
    sides = zip(state.batch, (state.difference, 0.0), state.sd, strict=True)
    runs = [
        in_batches(standardized(rng, (n, size * state.done), mean, sd), size, max(state.batch))
        for size, mean, sd in sides
    ]
    return np.stack(runs, axis=1)


def uncertain_differences(state, n, rng):
    """Return true differences as uncertain as they are after the looks of a state: SciPy's Welch interval about its
    own.
    """
    sides = zip(state.batch, state.sd, strict=True)
    n_a, n_b = (size * state.done for size in state.batch)
    v_a, v_b = (sd**2 / (size * state.done) for size, sd in sides)
    df = (v_a + v_b) ** 2 / (v_a**2 / (n_a - 1) + v_b**2 / (n_b - 1))
    return stats.t.rvs(df, loc=state.difference, scale=np.sqrt(v_a + v_b), size=n, random_state=rng)


def share_shown(state, past, differences, rng):
    """Return how often studies that go on with normal runs are shown to differ by a look left."""
    means = (np.broadcast_to(differences, len(past)), np.zeros(len(past)))
    sides = zip(state.batch, means, state.sd, strict=True)
    more = [
        in_batches(
            rng.normal(
                mean[:, np.newaxis],
                sd,
                (len(past), size * (state.n_looks - state.done)),
            ),
            size,
            max(state.batch),
        )
        for size, mean, sd in sides
    ]
    whole = np.concatenate([past, np.stack(more, axis=1)], axis=-1)
    rejected = (
        looked_at_runs(whole, state, n_resamples=999, repeated_intervals=False)["rejected"].isel(pair=0).to_numpy()
    )
    return rejected[rejected[:, state.done - 1] == 0, -1].mean()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.slow
def test_a_chance_is_that_of_simulated_continuations(state):
    rng = np.random.default_rng(7)
    past = pasts(state, rng, N_STUDIES)
    # Chances of studies in one state differ a little: spread is measured less what batches have in common.
    found = looked_at_runs(past[:40], state)["chance"].isel(pair=0, look=state.done - 1)
    assert found.std() < 0.1
    differences = uncertain_differences(state, N_STUDIES, rng)
    assert found.mean().item() == pytest.approx(share_shown(state, past, differences, rng), abs=0.05)


def levels_by_walks(n_looks, power, rng):
    """Return the level at each look at which so many simulated walks cross first as the plan's share of .05 says."""
    n_walks = 200_000
    walks = rng.normal(size=(n_walks, n_looks)).cumsum(axis=1)
    statistic = np.abs(walks) / np.sqrt(np.arange(1, n_looks + 1))
    n_crossed, levels = 0, []
    for k in range(n_looks):
        n_by_then = round(0.05 * ((k + 1) / n_looks) ** power * n_walks)
        statistic = statistic[statistic[:, k].argsort()[::-1]]
        n_new = n_by_then - n_crossed
        levels.append(2 * stats.norm.sf(statistic[n_new, k]))
        statistic, n_crossed = statistic[n_new:], n_by_then
    return levels


def share_continued(a, b, differences, batch, levels, rng):
    """Return how often continuations by normal runs are shown by some look: SciPy's test of all runs at each look."""
    n = len(differences)
    moved = (differences - (a.mean() - b.mean()))[:, np.newaxis] / 2
    sides = [
        (np.tile(a, (n, 1)), a.mean() + moved, a.std(ddof=1)),
        (np.tile(b, (n, 1)), b.mean() - moved, b.std(ddof=1)),
    ]
    is_shown = np.zeros(n, bool)
    for level in levels:
        sides = [(np.hstack([u, rng.normal(mean, sd, (n, batch))]), mean, sd) for u, mean, sd in sides]
        test = stats.ttest_ind(sides[0][0], sides[1][0], axis=1, equal_var=False)
        is_shown |= test.pvalue <= level
    return is_shown.mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_looks", "spending", "done", "difference"),
    [
        pytest.param(3, "square", 1, 0.6, id="first of three"),
        pytest.param(5, "square", 1, 0.3, id="first of five", marks=slow),
        pytest.param(5, "square", 2, 0.35, id="second of five", marks=slow),
        pytest.param(5, "square", 4, 0.2, id="fourth of five", marks=slow),
        pytest.param(4, "linear", 2, 0.5, id="linear", marks=slow),
    ],
)
def test_chances_are_those_of_a_plain_loop(n_looks, spending, done, difference):
    rng = np.random.default_rng(12)
    batch = 6
    state = State(n_looks, (batch, batch), done, spending, difference, (1.0, 1.5))
    past = pasts(state, rng, 1)
    found = looked_at_runs(past, state).isel(task=0, pair=0, look=done - 1)
    assert found["rejected"] == 0

    # Less the mean of their batch, which takes degrees of freedom: the formula for equal batches
    batches = past[0].reshape(2, done, batch)
    centred = (batches - batches.mean(axis=(0, 2), keepdims=True)).reshape(2, -1)
    scale = np.sqrt(1 - (done - 1) / (2 * (batch * done - 1)))
    deviations = (centred - centred.mean(axis=1, keepdims=True)) / scale
    a, b = deviations + np.array([[difference], [0.0]])

    levels = levels_by_walks(n_looks, {"square": 2, "linear": 1}[spending], rng)[done:]
    welch = stats.ttest_ind(a, b, equal_var=False)
    se = difference / welch.statistic
    n = 20_000
    drawn = stats.t.rvs(welch.df, difference, se, size=n, random_state=rng)
    ends = found["difference_ci_simultaneous"].to_numpy()
    cases = [drawn, *np.repeat(ends[:, np.newaxis], n, axis=1)]
    chances = [found["chance"].item(), *found["chance_at_ci"].to_numpy()]
    for differences, chance in zip(cases, chances, strict=True):
        share = 1.0  # of an endless difference: look 1 of five can reject next to nothing
        if np.isfinite(differences).all():
            share = share_continued(a, b, differences, batch, levels, rng)
        error = np.sqrt(share * (1 - share) * (1 / 2000 + 1 / n))
        # .003: the levels are of 200,000 walks
        assert chance == pytest.approx(share, abs=3.3 * error + 0.003)


def test_chances_are_unknown_while_an_algorithm_has_one_run():
    values = np.random.default_rng(1).normal(size=(2, 3, 1))
    curves = make_curves(values).curves.assign_looks(1)
    found = xcurves.sequential(curves, n_looks=6).isel(pair=0)
    assert found["chance"].notnull().to_numpy().tolist() == [False, True, True] + [False] * 3
    assert found["chance_at_ci"].isel(look=0).isnull().all()
    assert found["futile"].isel(look=0) == 0


@pytest.mark.slow
def test_a_chance_at_the_end_of_the_interval_is_that_of_a_true_difference_there():
    state = State(3, (6, 6), 2, "square", 0.4, (1.0, 1.0))
    rng = np.random.default_rng(3)
    past = pasts(state, rng, N_STUDIES)
    one = looked_at_runs(past[:1], state).isel(pair=0, look=1)
    for bound in ("lower", "upper"):
        true = one["difference_ci_simultaneous"].sel(ci_bound=bound).item()
        simulated = share_shown(state, past, true, rng)
        assert one["chance_at_ci"].sel(ci_bound=bound).item() == pytest.approx(simulated, abs=0.05)


@pytest.fixture(scope="module")
def looked_at():
    """Three algorithms, the first far above the others, the others alike, after two of four looks."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(3, 24, 1)) + np.array([3.0, 0.0, 0.05])[:, np.newaxis, np.newaxis]
    curves = make_curves(values).assign_coords(algorithm=["sac", "td3", "ddpg"]).curves.assign_looks(12)
    return xcurves.sequential(curves, n_looks=4)


def test_chances_are_of_open_pairs_with_looks_left_only(looked_at):
    is_open = (looked_at["rejected"] == 0) & (looked_at["look"] <= 2)
    assert (looked_at["chance"].notnull() == is_open).all()
    last = xcurves.sequential(curves_of_last_look(), n_looks=2)
    assert last["chance"].isel(look=1).isnull().all()
    assert (last["futile"].isel(look=1) == 0).all()


def curves_of_last_look():
    values = np.random.default_rng(0).normal(size=(2, 10, 1))
    return make_curves(values).curves.assign_looks(5)


def test_futile_takes_the_chance_alone(looked_at):
    assert (looked_at["futile"] == (looked_at["chance"] < 0.1)).all()
    rng = np.random.default_rng(9)
    values = standardized(rng, (2, 2, 6), 0.0, 1.0).reshape(2, 12, 1)
    found = xcurves.sequential(make_curves(values).curves.assign_looks(6), n_looks=5)
    after_two = found.isel(pair=0, look=1)
    assert after_two["chance"] < 0.1
    assert after_two["futile"] == 1
    # whatever it is at the better end of the interval
    assert after_two["chance_at_ci"].max() > 0.5


def test_turning_the_pair_turns_the_ends_only():
    rng = np.random.default_rng(5)
    curves = make_curves(rng.normal(size=(2, 12, 1))).curves.assign_looks(6)
    names = curves["algorithm"].to_numpy().tolist()
    one, other = (xcurves.sequential(curves, n_looks=3, reference=name) for name in names)
    assert (one["chance"].to_numpy()[0, :2] == other["chance"].to_numpy()[0, :2]).all()
    ends, turned = (each["chance_at_ci"].isel(pair=0, look=slice(2)).to_numpy() for each in (one, other))
    assert (ends == turned[:, ::-1]).all()


@pytest.mark.slow
def test_the_chance_of_one_of_many_pairs_is_judged_at_holms_next_step():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(4, 12, 1)) + np.array([0.9, 0, 0, 0])[:, np.newaxis, np.newaxis]
    curves = make_curves(values).curves.assign_looks(6)
    alone = xcurves.sequential(curves.isel(algorithm=[0, 1]), n_looks=4)
    among = xcurves.sequential(curves, n_looks=4)
    pair = alone["pair"].item()
    assert (among["chance"].sel(pair=pair) < alone["chance"].sel(pair=pair))[:2].all()


@pytest.mark.slow
def test_joined_tasks_have_chances_too():
    rng = np.random.default_rng(8)
    curves = make_curves(
        rng.normal(size=(9, 2, 8, 1)) + np.array([0.25, 0])[:, np.newaxis, np.newaxis],
        task=list("abcdefghi"),
    )
    found = xcurves.sequential(curves.curves.assign_looks(4), n_looks=3, task="task")
    chances = found["chance"].isel(pair=0, look=slice(2)).to_numpy()
    assert ((chances > 0) & (chances <= 1)).all()
    ends = found["chance_at_ci"].isel(pair=0, look=1)
    assert ends.max() > found["chance"].isel(pair=0, look=1)


def test_runs_that_do_not_vary_are_shown_by_the_next_look_or_never():
    values = np.zeros((2, 8, 1))
    curves = make_curves(values).curves.assign_looks(4)
    assert (xcurves.sequential(curves, n_looks=3)["chance"].to_numpy()[0, :2] == 0).all()
