"""What tests of laziness share."""

import numpy as np
import xarray as xr


def refuse_to_compute(graph, keys, **options):
    """Stand in for a dask scheduler, and raise when anything is computed."""
    raise AssertionError("something was computed")


ROUNDED = {  # BLAS rounds products by the shape of the matrices
    "ss_null_upper": {"rtol": 1e-14},
    "ss_null_upper_simultaneous": {"rtol": 1e-14},
    "curve_difference_band": {"rtol": 1e-13, "atol": 1e-13},
}


def assert_identical_but_for_blas(found, expected):
    """Compare results of chunks with that of the call in memory."""
    rounded = [name for name in ROUNDED if name in expected]
    xr.testing.assert_identical(found.drop_vars(rounded), expected.drop_vars(rounded))
    for name in rounded:
        assert found[name].attrs == expected[name].attrs
        np.testing.assert_allclose(found[name], expected[name], **ROUNDED[name])
