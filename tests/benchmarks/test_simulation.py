"""Simulations beside a loop over data sets, checked equal; `goals.py` times them."""

from functools import partial

import numpy as np
import pytest

import xcurves
from experiments import studies

pytestmark = pytest.mark.slow

TEST = partial(xcurves.randomized_anova, n_resamples=399)


def by_study(n):
    return studies.rejection_rates(
        studies.autoregressive,
        TEST,
        n_replications=n,
        settings={"n_runs": [20]},
        rng=0,
    ).rate[0]


def by_loop(n):
    """One call for each data set, as one would write it."""
    rng = np.random.default_rng(0)
    rejected = 0.0
    for place in range(n):
        curves = studies.autoregressive(1, n_runs=20, rng=rng)[0]
        rejected = rejected + (TEST(curves, rng=place).pvalue <= 0.05)
    return rejected / n


def test_both_find_the_level():
    for rates in (by_study(100), by_loop(100)):
        assert rates.sizes == {"effect": 2, "error_term": 3}
        # of 100 with a rate of .05
        assert 0.0 <= float(rates.min()) <= float(rates.max()) < 0.15
