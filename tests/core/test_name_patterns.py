"""Labels of names of columns and files."""

import pandas as pd
import pytest

from xcurves.core.names import whole_numbers


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        (["3", "10"], [3, 10]),
        (["999999999999999999", "0"], [10**18 - 1, 0]),
        (["1", "01"], ["1", "01"]),
        (["1", "-1"], ["1", "-1"]),
        # beyond 64 bits
        (["1", "9999999999999999999"], ["1", "9999999999999999999"]),
        (["1", "99999999999999999999"], ["1", "99999999999999999999"]),
    ],
)
def test_labels_are_whole_numbers_if_all_are(labels, kept):
    assert whole_numbers(pd.Series(labels)).tolist() == kept
