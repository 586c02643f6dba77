"""Predictions of published scaling curves hold what is aimed at: coverage, and errors beside two other fits."""

import pytest

from calibration import extrapolation

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not extrapolation.FILE.exists(),
        reason="no scaling curves beside the repository",
    ),
]


@pytest.mark.parametrize("per_octave", [1, 2, 8])
def test_intervals_hold_later_errors_and_predictions_are_as_near_as_the_best(
    per_octave,
):
    (held, _, _, own, *peers), n_curves = extrapolation.measure(per_octave)
    assert n_curves > 70
    assert held[0] >= 0.9
    assert held[1] >= 0.85
    assert (own <= 1.05 * min(peers, key=lambda each: each.sum())).all()
