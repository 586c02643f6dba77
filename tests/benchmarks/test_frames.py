"""Frames of ragged runs to curves, beside the loop over runs that people write, checked equal."""

import numpy as np
import pytest

from benchmarks import frames

pytestmark = pytest.mark.slow


def test_ragged_runs():
    frame = frames.make_frame(50)
    made = frames.by_loop(frame)
    ours = frames.by_xcurves(frame).stack(column=("algorithm", "run")).to_pandas()
    np.testing.assert_allclose(ours, made[ours.columns], rtol=1e-12, atol=1e-12)
