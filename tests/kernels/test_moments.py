import numpy as np
import pytest

from xcurves.kernels.resampling import moments


def plain(curves):
    """Moments of one task's complete curves, straight from their definitions."""
    pool = curves.mean(axis=0)
    z = curves - pool
    c = z - z.mean(axis=1, keepdims=True)
    return pool.mean(), ((pool - pool.mean()) ** 2).sum(), z.mean(axis=1), c @ c.T


def measured(curves):
    """Moments of one task."""
    of_tasks = moments.measure_moments(curves[np.newaxis])
    return moments.Moments(*(each[0] for each in of_tasks))


def check(found, curves, rtol=1e-12):
    mean, ss, means, comoment = plain(curves)
    scale = np.trace(comoment)
    assert found.n_levels == curves.shape[1]
    np.testing.assert_array_equal(found.counts, curves.shape[1])
    np.testing.assert_allclose(found.level_mean, mean, rtol=rtol)
    np.testing.assert_allclose(found.level_ss, ss, rtol=rtol)
    np.testing.assert_allclose(found.means, means, atol=rtol * np.abs(means).max())
    np.testing.assert_allclose(found.comoment, comoment, atol=rtol * scale)


@pytest.mark.parametrize(("n_curves", "n_levels"), [(2, 1), (4, 8), (20, 8), (7, 501), (3, 200_000)])
def test_moments_are_what_they_are_defined_to_be(n_curves, n_levels):
    curves = np.random.default_rng(0).normal(size=(n_curves, n_levels)).cumsum(axis=1)
    check(measured(curves), curves)


def test_absent_curves_and_foreign_levels_have_no_say():
    rng = np.random.default_rng(1)
    whole = rng.normal(size=(5, 6))
    gaps = np.full((7, 9), np.nan)
    gaps[np.ix_([0, 2, 3, 5, 6], [0, 1, 3, 4, 7, 8])] = whole
    found, expected = measured(gaps), measured(whole)
    here = [0, 2, 3, 5, 6]
    assert found.n_levels == 6
    np.testing.assert_array_equal(found.counts, [6, 0, 6, 6, 0, 6, 6])
    np.testing.assert_allclose(found.level_mean, expected.level_mean)
    np.testing.assert_allclose(found.level_ss, expected.level_ss)
    np.testing.assert_allclose(found.means[here], expected.means, atol=1e-14)
    np.testing.assert_allclose(found.comoment[np.ix_(here, here)], expected.comoment, atol=1e-12)
    assert not found.comoment[[1, 4]].any()


def test_an_infinite_value_marks_its_curve():
    curves = np.ones((4, 4))
    curves[1, 2], curves[2, 0], curves[3, 1:3] = np.inf, -np.inf, [np.inf, -np.inf]
    counts = measured(curves).counts
    np.testing.assert_array_equal(counts, [4, np.inf, -np.inf, np.nan])


def test_a_task_without_values_has_no_levels():
    found = moments.measure_moments(np.full((2, 3, 4), np.nan))
    np.testing.assert_array_equal(found.n_levels, 0)
    assert np.isfinite(found.comoment).all()


@pytest.mark.parametrize("cuts", [[5], [1, 2, 3], [4, 9, 10, 11]])
def test_merged_stretches_equal_the_whole(cuts):
    curves = np.random.default_rng(2).normal(size=(3, 6, 12)) + 1e6 * np.arange(12)
    parts = [moments.pack(moments.measure_moments(part)) for part in np.split(curves, cuts, axis=-1)]
    np.testing.assert_allclose(
        moments.merge_moments(np.stack(parts, axis=-2), 6),
        moments.pack(moments.measure_moments(curves)),
        rtol=1e-12,
        atol=1e-9,
    )


def test_equal_curves_give_exact_zeros():
    found = measured(np.tile(np.linspace(0.1, 0.7, 7), (20, 1)))
    assert not found.comoment.any()
    assert not found.means.any()


def test_an_offset_of_1e9_costs_no_digit():
    scores = np.random.default_rng(3).integers(-5, 5, (8, 10)).astype(float)
    np.testing.assert_allclose(
        measured(scores + 1e9).comoment,
        measured(scores).comoment,
        atol=1e-12,
    )


def test_a_task_does_not_depend_on_its_neighbours():
    curves = np.random.default_rng(4).normal(size=(50, 6, 12))
    alone = measured(curves[17])
    for every in (curves, np.asfortranarray(curves)):
        found = moments.measure_moments(every)
        for name, values in alone._asdict().items():
            np.testing.assert_array_equal(getattr(found, name)[17], values)
