"""Intervals of scaling laws hold later runs of published suites, where a bootstrap of the runs does not."""

import numpy as np
import pytest

from calibration import scaling
from places import SHARED

HERE = all((SHARED / "data" / file).exists() for file in scaling.SUITES.values())


@pytest.mark.slow
@pytest.mark.skipif(not HERE, reason="no runs of scaling suites beside the repository")
def test_later_runs_lie_in_their_intervals():
    found = {name: each.mean(axis=0) for name, each in scaling.later_runs().items()}
    assert min(each[-1, 0] for each in found.values()) >= 0.9
    assert found["chinchilla"][0, 0] < 0.5  # the bootstrap
    assert np.less(*(found["Gadre"][i, 1] for i in (-1, -2)))  # cuts of few sizes widen
