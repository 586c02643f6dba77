"""Scaling laws beside their peer: the same minimum, not above that of any of its starts. `goals.py` times them."""

import numpy as np
import pytest

from benchmarks import scaling

pytestmark = pytest.mark.slow


def test_one_start_finds_what_a_grid_of_starts_finds():
    losses = scaling.runs()
    fit = scaling.call(losses, delta=scaling.DELTA)
    objective, found = scaling.from_starts(losses)
    assert len(scaling.STARTS) == 4_500
    assert fit.objective.item() <= objective * (1 + 1e-9)
    np.testing.assert_allclose(fit.objective.item(), objective, rtol=1e-3)
    np.testing.assert_allclose(fit.estimate.sel(param=["alpha", "beta"])[0], found[3:], rtol=0.02)
