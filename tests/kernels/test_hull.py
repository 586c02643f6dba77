import numpy as np
import pytest

from layers import slow
from xcurves.kernels.one_task.shifted_contrasts import ShiftedContrast, hull


def counted(shifted, delta):
    n, v0, v1, e, v2 = (each[0] if each.ndim == 2 else each for each in shifted[:5])
    return np.count_nonzero((n - e * delta) ** 2 >= delta**2 * (v0 + v1 * delta + v2 * delta**2) * (1 - 1e-10))


def draw(seed, size=300):
    """Variances are positive everywhere: (p + q δ)² + r δ² + t."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(2, size))
    r, t = rng.exponential(size=(2, size)) * 10 ** rng.uniform(-4, 0, size=(2, size))
    n, e = rng.normal(scale=2, size=size), rng.uniform(-1, 1, size)
    return of_one(n, e, p * p + t, 2 * p * q, q * q + r)


def of_one(n, e, v0, v1, v2):
    """Return one task: the contrast is n - e δ, its variance v0 + v1 δ + v2 δ²."""
    return ShiftedContrast(n[np.newaxis], v0[np.newaxis], v1[np.newaxis], e, v2, np.ones(1))


def ends(shifted, most):
    return hull(shifted, 0, [most], scan=True)[0, 0]


@pytest.mark.parametrize("seed", [0, 1, *map(slow, range(2, 8))])
def test_the_hull_is_that_of_a_dense_scan(seed):
    shifted = draw(seed)
    most = 15
    low, high = ends(shifted, most)
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
    far = of_one(zeros + 2, zeros, zeros + 1.0, zeros - 0.04, zeros + 0.0004000001)
    low, high = ends(far, 4)
    grid = np.linspace(0, 100, 1_000_001)[1:]
    accepted = grid[(grid**2 * (1 - 0.04 * grid + 0.0004000001 * grid**2) <= 2**2)]
    assert accepted.max() > 40
    assert not ((accepted > 3) & (accepted < 40)).any()
    assert high == pytest.approx(accepted.max(), abs=2e-4)
    assert low > -3


def test_what_counts_everywhere_leaves_no_end():
    shifted = draw(0)
    always = of_one(np.zeros(20), -np.ones(20), np.ones(20), np.zeros(20), np.zeros(20))
    parts = (np.concatenate(each, axis=-1) for each in zip(shifted[:5], always[:5], strict=True))
    joined = ShiftedContrast(*parts, np.ones(1))
    assert np.isinf(ends(joined, 19)).all()
    assert np.isfinite(ends(joined, 20)).all()
