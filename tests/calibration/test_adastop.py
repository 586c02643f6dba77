"""Why AdaStop rejects too often, without simulation: all labellings of the same numbers."""

from itertools import combinations

import numpy as np
import pytest
import xarray as xr

from calibration.claims import ALPHA
from calibration.group_sequential import last, sequential

N = 4


def test_of_all_labellings_adastop_rejects_more_than_its_level_and_sequential_does_not():
    adastop = pytest.importorskip("adastop")
    z = np.random.default_rng(0).normal(size=2 * N)
    labelled = np.array([[z[list(first)], np.delete(z, first)] for first in combinations(range(2 * N), N)])
    theirs = 0
    for pair in labelled:
        test = adastop.MultipleAgentsComparator(n=N, K=1, B=10_000, alpha=ALPHA, seed=0)
        test.partial_compare(dict(zip("ab", pair, strict=True)), verbose=False)
        theirs += "equal" not in test.decisions.values()
    coords = {"algorithm": ["a", "b"], "run": range(N), "training": [1.0]}
    data = xr.DataArray(labelled[..., np.newaxis], coords, ("replication", *coords))
    ours = last(sequential(data.assign_coords(look=("run", [1] * N)), 1, 0))
    assert int((ours <= ALPHA + 1e-12).sum()) <= ALPHA * len(labelled)
    assert theirs > 1.5 * ALPHA * len(labelled)  # both tails have the level of one
