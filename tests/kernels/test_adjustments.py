import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from xcurves.kernels.resampling import adjustments


@pytest.mark.plain(1)
@pytest.mark.parametrize("method", ["holm", "bonferroni"])
def test_holm_and_bonferroni_are_those_of_statsmodels(method):
    for pvalues in (
        [0.3],
        [0.01, 0.01, 0.04],
        [1.0, 0.0, 0.2, 0.2, 0.011, 0.9],
        np.random.default_rng(0).random(8) / 9,
    ):
        expected = multipletests(pvalues, method=method)[1]
        np.testing.assert_allclose(getattr(adjustments, method)(np.array(pvalues)), expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_benjamini_hochberg_is_that_of_statsmodels(pvalues):
    found = adjustments.benjamini_hochberg(np.array(pvalues))
    np.testing.assert_allclose(found, multipletests(pvalues, method="fdr_bh")[1])


def test_missing_p_values_do_not_count():
    p = np.array([[0.01, np.nan, 0.02], [np.nan, np.nan, np.nan]])
    np.testing.assert_allclose(adjustments.holm(p), [[0.02, np.nan, 0.02], [np.nan] * 3])
    np.testing.assert_allclose(adjustments.bonferroni(p), [[0.02, np.nan, 0.04], [np.nan] * 3])
    np.testing.assert_allclose(adjustments.benjamini_hochberg(p), [[0.02, np.nan, 0.02], [np.nan] * 3])
