import numpy as np
import pytest

from xcurves.kernels import task_intervals


def counted(shifted, delta):
    n, e, v0, v1, v2 = shifted
    return np.count_nonzero((n - e * delta) ** 2 >= delta**2 * (v0 + v1 * delta + v2 * delta**2) * (1 - 1e-10))


def draw(seed, size=300):
    """Variances are positive everywhere: (p + q δ)² + r δ² + t."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(2, size))
    r, t = rng.exponential(size=(2, size)) * 10 ** rng.uniform(-4, 0, size=(2, size))
    return task_intervals.ShiftedTasks(
        rng.normal(scale=2, size=size), rng.uniform(-1, 1, size), p * p + t, 2 * p * q, q * q + r
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_hull_is_that_of_a_dense_scan(seed):
    shifted = draw(seed)
    most = 15
    low, high = task_intervals.hull(shifted, most)
    assert low < 0 < high
    grid = np.geomspace(1e-3, 1e4, 5_000)
    accepted = np.array([counted(shifted, delta) > most for delta in np.concatenate([-grid[::-1], grid])])
    places = np.concatenate([-grid[::-1], grid])[accepted]
    assert low <= places.min() * (1 - 1e-12)
    assert high >= places.max() * (1 - 1e-12)
    for end in (low, high):
        assert counted(shifted, end * (1 - 1e-7)) > most
        assert counted(shifted, end * (1 + 1e-7)) <= most


def test_it_finds_a_piece_far_beyond_the_first():
    # v = 1 + (v1 δ + v2 δ²) with a root near 50: between, the first alone counts; around 50 the variance is small.
    zeros = np.zeros(8)
    far = task_intervals.ShiftedTasks(zeros + 2, zeros, zeros + 1.0, zeros - 0.04, zeros + 0.0004000001)
    low, high = task_intervals.hull(far, 4)
    grid = np.linspace(0, 100, 1_000_001)[1:]
    accepted = grid[(grid**2 * (1 - 0.04 * grid + 0.0004000001 * grid**2) <= 2**2)]
    assert accepted.max() > 40
    assert not ((accepted > 3) & (accepted < 40)).any()
    assert high == pytest.approx(accepted.max(), abs=2e-4)
    assert low > -3


def test_what_counts_everywhere_leaves_no_end():
    shifted = draw(0)
    always = task_intervals.ShiftedTasks(*(np.zeros(20) for _ in range(5)))._replace(e=-np.ones(20), v0=np.ones(20))
    joined = task_intervals.ShiftedTasks(*(np.concatenate(each) for each in zip(shifted, always, strict=True)))
    assert np.isinf(task_intervals.hull(joined, 19)).all()
    assert np.isfinite(task_intervals.hull(joined, 20)).all()
