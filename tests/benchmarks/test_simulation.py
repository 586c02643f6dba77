"""Simulations beside a loop over data sets, checked equal; `goals.py` times them."""

import pytest

from benchmarks import simulation

pytestmark = pytest.mark.slow


def test_both_find_the_level():
    for rates in (simulation.by_study(100), simulation.by_loop(100)):
        assert rates.sizes == {"effect": 2, "error_term": 3}
        # of 100 with a rate of .05
        assert 0.0 <= float(rates.min()) <= float(rates.max()) < 0.15
