"""What the documentation says of AdaStop's error rate, over fewer data sets."""

import pytest

from calibration.adastop_rates import counts
from calibration.claims import AT_MOST, fails

pytestmark = pytest.mark.slow


def test_adastop_rejects_more_often_than_its_level_and_sequential_does_not():
    pytest.importorskip("adastop")
    theirs, ours = counts(100).values()
    assert fails(0.08).allows(theirs, 100)
    assert AT_MOST.allows(ours, 100)
