"""Learning curves beside their peers, checked equal; `goals.py` times them."""

import warnings

import numpy as np
import pytest

from benchmarks import learning

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def errors():
    return learning.make_curves()


def quiet(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


@pytest.mark.parametrize("peer", learning.PEERS)
def test_peer_finds_the_same_curves(peer, errors):
    """γ within the grid's step, and so the curve at 400 to a few hundredths of a percent."""
    some = errors[:5]
    found = quiet(learning.PEERS[peer], some)
    weights = "uniform" if peer == "xarray curvefit" else "variance-folds"
    ours = quiet(learning.call, some, weights)
    error, gamma = (ours[name].to_numpy() for name in ("error_at_n", "gamma"))
    inside = (found[:, 2] > -0.985) & (found[:, 2] < -0.015)
    np.testing.assert_allclose(found[inside, 2], gamma[inside], atol=0.0055)
    at_n = learning.power_law(400.0, *found.T)
    np.testing.assert_allclose(at_n[inside], error[inside], atol=0.1)
    assert inside.sum() >= 4
