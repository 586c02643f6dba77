"""Reference answers about items, from slow independent code; tests skip where they are not at hand."""

import json

import numpy as np
import pytest

from places import SHARED

FILE = SHARED / "reference" / "dev_items.json"
CASES = {case["name"]: case for case in json.loads(FILE.read_text())} if FILE.exists() else {}
needed = pytest.mark.skipif(not FILE.exists(), reason=f"no {FILE.name} beside the repository")


def scores_of(case):
    """Return scores of shape (algorithm, item, run), NaN where an algorithm lacks an item."""
    return np.array(case["scores"], float)


def is_close(found, expected):
    """Return whether p-values of two sets of random flips agree, to .004 + 5 %."""
    expected = np.array(expected)
    return np.abs(found - expected) <= 0.004 + 0.05 * expected


def distance(found, expected):
    """Return by how much of the width of expected intervals the ends of others differ."""
    expected = np.array(expected)
    return np.abs(found - expected) / np.ptp(expected, axis=-1)[:, np.newaxis]
