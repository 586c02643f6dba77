"""Profiles beside their peers: `pytest tests/benchmarks -m '' --benchmark-only`. Ratios: `profiles.py`."""

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
    ours = profiles.infer(usual, step_down=True)
    np.testing.assert_allclose(ours.f, f, rtol=1e-9)
    assert len(clusters) == ours.cluster.max() > 1
    for number, ((stretch,), pvalue) in enumerate(zip(clusters, pvalues, strict=True), 1):
        here = ours.cluster == number
        np.testing.assert_array_equal(np.flatnonzero(here), np.arange(1_000)[stretch])
        own = ours.cluster_pvalue.where(here, drop=True)
        np.testing.assert_allclose(own, pvalue, atol=4 * np.sqrt(2 * 0.25 / profiles.N_SHUFFLES))


@pytest.mark.parametrize("step_down", [True, False], ids=["step-down", "single-step"])
def test_xcurves_infers(usual, step_down, benchmark):
    benchmark.group = "profile m5 l10 k1,000, 1,000"
    benchmark.pedantic(profiles.infer, (usual,), {"step_down": step_down}, rounds=10, warmup_rounds=1)


def test_mne_infers(usual, benchmark):
    pytest.importorskip("mne")
    benchmark.group = "profile m5 l10 k1,000, 1,000"
    benchmark.pedantic(profiles.mne_clusters, (usual,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("work", [profiles.alone, lambda curves: curves.to_numpy().sum()], ids=["profile", "sum"])
def test_a_profile_beside_reading_once(work, benchmark):
    benchmark.group = "profile m4 l10 k1e6, no inference"
    curves = profiles.make_curves(4, 10, 1_000_000)
    benchmark.pedantic(work, (curves,), rounds=5, warmup_rounds=1)
