"""Experiments beside plain programs, checked equal; `goals.py` times them."""

import numpy as np
import pytest

from benchmarks import programs
from experiments import endgames
from plain_chess import plain_depths
from plain_pendulum import plain_episode

pytestmark = pytest.mark.slow


def test_the_peers_do_the_same(tmp_path):
    assert programs.swings()[7].item() == pytest.approx(plain_episode(7), abs=1e-6)
    assert programs.kept_trials(tmp_path).values.tolist() == programs.plain_trials()
    assert programs.learners().score.sel(algorithm="rate 0.5", run=7).item() == programs.plain_learner(0.5, 7)
    assert np.sort(endgames.depths()[endgames.depths() >= -1]).tolist() == sorted(plain_depths().values())
