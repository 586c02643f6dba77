"""Which values of a parameter the plain run takes, and which only that of slow tests."""

import pytest


def slow(*values):
    """Return the values of one test, which the plain run leaves out."""
    return pytest.param(*values, marks=pytest.mark.slow)


def every(n, cases):
    """Return cases, tuples of values, of which the plain run takes every n-th."""
    return [slow(*case) if place % n else pytest.param(*case) for place, case in enumerate(cases)]
