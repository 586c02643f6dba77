"""The randomized ANOVA beside its peers, checked equal; `goals.py` times them."""

import warnings

import numpy as np
import pytest

from benchmarks import workloads
from benchmarks.workloads import PEERS

pytestmark = pytest.mark.slow

SCIPY_ERROR = {
    "scipy default": "pooled",
    "scipy gram": "pooled",
    "scipy means": "split_plot",
}
MODULES = {"scikit-bio": "skbio", "statsmodels": "statsmodels"}


def import_peer(peer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what the peer imports
        if peer in MODULES:
            pytest.importorskip(MODULES[peer])
        return PEERS[peer]


@pytest.fixture(params=[(2, 4, 8), (3, 4, 6), (4, 2, 25)], ids=str)
def small(request):
    return workloads.Workload("small", *request.param, n_resamples=199, n_random=199, n_tasks=2)


@pytest.fixture
def anova(small):
    return workloads.call(small)


@pytest.mark.parametrize(("peer", "error_term"), [*SCIPY_ERROR.items(), ("statsmodels", "pooled")])
def test_peer_has_the_algorithm_f(peer, error_term, small, anova):
    statistic, _ = import_peer(peer)(small.scores, 1)
    expected = anova["f"].sel(effect="algorithm", error_term=error_term)
    np.testing.assert_allclose(statistic, expected, rtol=1e-9)


@pytest.mark.parametrize(("peer", "error_term"), SCIPY_ERROR.items())
def test_scipy_has_the_exact_pvalue(peer, error_term):
    small = workloads.Workload("small", 2, 4, 8, n_resamples=None, n_random=70, n_tasks=2)
    _, pvalue = PEERS[peer](small.scores, small.n_random)
    expected = workloads.call(small)["pvalue"].sel(effect="algorithm", error_term=error_term)
    np.testing.assert_allclose(pvalue, expected, rtol=1e-12)


@pytest.mark.parametrize(("peer", "error_term"), [*SCIPY_ERROR.items(), ("scikit-bio", "pooled")])
def test_random_pvalues_are_near_ours(peer, error_term):
    # At one level there is no interaction, and PERMANOVA tests the algorithm effect.
    n_levels = 1 if peer == "scikit-bio" else 8
    small = workloads.Workload("small", 2, 6, n_levels, n_resamples=400, n_random=400)
    _, pvalue = import_peer(peer)(small.scores, small.n_random)
    ours = workloads.call(small)["pvalue"].sel(effect="algorithm", error_term=error_term)
    assert abs(pvalue.item() - ours.item()) < 0.15  # four standard errors


def test_permanova_has_the_omnibus_f(small, anova):
    statistic, _ = import_peer("scikit-bio")(small.scores, 9)
    ss, df = anova["ss"], anova["df"]
    between = ss.sel(source=["algorithm", "interaction"]).sum("source") / (small.n_algorithms - 1)
    within = ss.sel(source="error") / (df.sel(source="error") / small.n_levels)
    np.testing.assert_allclose(statistic, between / within, rtol=1e-9)
