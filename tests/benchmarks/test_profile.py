"""Profiles beside their peers, checked equal; `goals.py` times them."""

import numpy as np
import pytest

from benchmarks import profiles

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def usual():
    return profiles.make_curves(5, 10, 1_000)


def test_mne_finds_the_same_f_and_clusters(usual):
    pytest.importorskip("mne")
    f, clusters, pvalues = profiles.mne_clusters(usual)
    ours = profiles.infer(usual)
    np.testing.assert_allclose(ours.f, f, rtol=1e-9)
    assert len(clusters) == ours.cluster.max() > 1
    for number, ((stretch,), pvalue) in enumerate(zip(clusters, pvalues, strict=True), 1):
        here = ours.cluster == number
        np.testing.assert_array_equal(np.flatnonzero(here), np.arange(1_000)[stretch])
        own = ours.cluster_pvalue.where(here, drop=True)
        np.testing.assert_allclose(own, pvalue, atol=4 * np.sqrt(2 * 0.25 / profiles.N_SHUFFLES))
