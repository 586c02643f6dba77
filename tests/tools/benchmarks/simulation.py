"""Simulations, and a loop over data sets; `goals.py` times them."""

from functools import partial

import numpy as np

import xcurves
from experiments import studies

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
