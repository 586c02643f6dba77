import numpy as np
import pytest
from scipy import stats

from layers import slow
from xcurves.kernels.times import curve_tracks, hitting_times

SEEDS = range(12)


def ragged(rng, n_runs, n_levels=9, slope=1.0):
    """Runs that rise to about 1, each with levels of its own, padded with NaN."""
    levels = np.full((n_runs, n_levels + 1), np.nan)
    scores = levels.copy()
    for run in range(n_runs):
        n = n_levels + rng.integers(-1, 2)
        at = np.sort(rng.uniform(0.5, 3.5, n))
        levels[run, :n] = np.concatenate([[0.4], at[1:-1], [3.6 + rng.uniform()]])
        scores[run, :n] = 1 - np.exp(-slope * levels[run, :n]) + rng.normal(0, 0.08) + rng.normal(0, 0.05, n)
    return levels, scores


def at(levels, scores, x):
    """Every run at places x, shape (run, place), by the rule of three between its neighbours."""
    out = []
    for own, y in zip(levels, scores, strict=True):
        own, y = own[np.isfinite(own)], y[np.isfinite(own)]
        after = np.searchsorted(own, x).clip(1, len(own) - 1)
        out.append(y[after - 1] + (y[after] - y[after - 1]) * (x - own[after - 1]) / (own[after] - own[after - 1]))
    return np.array(out)


def example(seed):
    rng = np.random.default_rng(seed)
    levels, scores = ragged(rng, int(rng.integers(2, 6)), slope=rng.uniform(0.7, 2.0))
    others = rng.normal(rng.uniform(0.6, 0.95), rng.uniform(0.01, 0.1), int(rng.integers(2, 6)))
    return rng, levels, scores, others


def welch(levels, scores, others):
    curve = curve_tracks.curve_of_runs(levels, scores)
    spread = [others.var(ddof=1) / len(others)]
    return curve, curve_tracks.tracks([curve], [others.mean()], spread, [len(others) - 1])


@pytest.mark.parametrize("seed", SEEDS)
def test_p_along_the_curve_is_that_of_scipy(seed):
    rng, levels, scores, others = example(seed)
    curve, track = welch(levels, scores, others)
    assert curve.u[0] == 0.4
    assert curve.u[-1] == pytest.approx(np.nanmax(levels, axis=1).min())
    expected = stats.ttest_ind(
        at(levels, scores, track.u[:, 0]),
        others[:, np.newaxis],
        axis=0,
        equal_var=False,
    ).pvalue
    np.testing.assert_allclose(track.pvalues(track.d, track.v)[:, 0], expected, rtol=1e-7)
    piece = rng.integers(0, len(curve.u) - 1, 1)
    u, d, v = track.within(piece, np.array([0.37]))
    expected = stats.ttest_ind(at(levels, scores, u)[:, 0], others, equal_var=False).pvalue
    assert track.pvalues(d, v)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.plain(4)
@pytest.mark.parametrize("seed", [*SEEDS[:4], *map(slow, SEEDS[4:])])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
@pytest.mark.parametrize("test", ["welch", "t"])
def test_the_hull_is_that_of_a_dense_grid(seed, alpha, test):
    _, levels, scores, others = example(seed)
    curve, track = welch(levels, scores, others)
    if test == "t":
        track = curve_tracks.tracks([curve], [others.mean()])
    hull = curve_tracks.hull_by_pvalue(track, alpha)
    grid = np.unique(np.concatenate([np.linspace(curve.u[0], curve.u[-1], 20_000), curve.u]))
    read = at(levels, scores, grid)
    if test == "t":
        t, p = stats.ttest_1samp(read, others.mean(), axis=0)
    else:
        t, p = stats.ttest_ind(read, others[:, np.newaxis], axis=0, equal_var=False)
    accepted, step = grid[p > alpha], grid[1:] - grid[:-1]
    before, after = p[0] if t[0] < 0 else 1.0, p[-1] if t[-1] > 0 else 1.0
    assert np.isneginf(hull.lower[0]) == (before > alpha)
    assert np.isposinf(hull.upper[0]) == (after > alpha)
    if accepted.size and before <= alpha:
        assert accepted[0] - step.max() <= hull.lower[0] <= accepted[0]
    if accepted.size and after <= alpha:
        assert accepted[-1] <= hull.upper[0] <= accepted[-1] + step.max()
    # The smallest alpha that leaves a place out; p is broken where t**2 turns, at levels, and at the place.
    turns = np.isin(grid, curve.u)
    turns[1:-1] |= (np.diff(t**2)[1:] * np.diff(t**2)[:-1] <= 0) | (t[1:-1] * t[:-2] <= 0)
    for place in range(0, len(grid), len(grid) // 7):
        mine = turns | (np.arange(len(grid)) == place)
        up_to, onwards = (
            p[mine & (grid <= grid[place])].max(),
            p[mine & (grid >= grid[place])].max(),
        )
        smallest = min(max(before, up_to), max(after, onwards))
        assert curve_tracks.pvalue_of(track, grid[[place]])[0] == pytest.approx(smallest, rel=0.01)


def test_runs_with_gaps_in_a_union_grid_are_read_between_their_own_levels():
    levels = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    scores = np.array([[0.0, np.nan, 2.0, np.nan, 4.0], [np.nan, 3.0, 5.0, 7.0, np.nan], [np.nan] * 5])
    curve = curve_tracks.curve_of_runs(np.broadcast_to(levels, scores.shape), scores)
    assert curve.u.tolist() == [1.0, 2.0, 3.0]
    assert curve.runs.tolist() == [[1.0, 2.0, 3.0], [3.0, 5.0, 7.0]]
    assert curve[2:] == (3.0, 0)  # a step of the other ends at 2


def test_equal_runs_have_p_1_at_their_level_and_0_elsewhere():
    curve = curve_tracks.MeanCurve(np.arange(3.0), np.tile([0.1, 0.2, 0.3], (3, 1)), 2.0, 0)
    track = curve_tracks.tracks([curve], [0.2])
    p = track.pvalues(track.d, track.v)
    assert (p[track.d == 0] == 1).all()
    assert (p[track.d != 0] == 0).all()
    hull = curve_tracks.hull_by_pvalue(track, 0.05)
    assert [hull.lower[0], hull.upper[0]] == pytest.approx([1.0, 1.0])


@pytest.mark.plain(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_one_time_alone_has_the_interval_of_its_t_test(seed):
    """A sum of one log time, weight 1, is that time: root sum of squares of one limit is the limit."""
    rng = np.random.default_rng(seed)
    curve = curve_tracks.curve_of_runs(*ragged(rng, 5, slope=1.5))
    track = curve_tracks.tracks([curve], [0.5])
    one = hitting_times.LogTimes(track, np.zeros((1, 1), int), np.ones(1), np.zeros(1))
    (ends,), _ = one.geometric_means(np.zeros(1, int), np.zeros(1, int), 0.05)
    hull = curve_tracks.hull_by_pvalue(track, 0.05)
    np.testing.assert_allclose(ends[0], [max(hull.lower[0], 0.0), hull.upper[0]], rtol=1e-10)


@pytest.mark.plain(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_sum_of_log_times_agrees_with_its_p_at_every_level(seed):
    rng = np.random.default_rng(seed)
    curves = [
        curve_tracks.curve_of_runs(*ragged(rng, int(rng.integers(2, 6)), slope=slope)) for slope in (1, 1.1, 0.8, 1.2)
    ]
    track = curve_tracks.tracks(curves, [0.5] * 4)
    ratios = hitting_times.LogTimes(track, np.array([[0, 1], [2, 3]]), np.array([1.0, -1.0]), np.zeros(2))
    _, (p,) = ratios.geometric_means(np.arange(2), np.zeros(2, int), 0.05)
    assert 0 < p < 1
    for alpha, outside in ((p * 1.000001, True), (p * 0.999999, False)):
        ((low, high),) = ratios.geometric_means(np.arange(2), np.zeros(2, int), alpha)[0][0]
        assert bool(low > 1 or high < 1) == outside
